/* The algorithm of the reboot manager that Slipway's FleetLock grew from, as its README tells it:
 * list the nodes, deny when another one is rebooting; else mark this one, list again, and let the
 * first by name go on. No lock and no compare-and-swap, and one handler for each request, so that
 * handlers run beside each other. It is not mutually exclusive, and when it went wrong nobody goes
 * on: spin refutes both. `spin -search seed.pml` shows two nodes that reboot at once, `spin -search
 * -DSTUCK seed.pml` two that deny each other for ever. */
#define NODES 2

bit rebooting[NODES]; /* the annotation */
bit gone[NODES];      /* told to reboot, and not back yet */
byte served;

inline list(mine) { /* what a handler sees: how many others are marked, and the first of all by name */
    d_step {
        byte i_ = 0;
        others = 0; first = NODES;
        do
        :: i_ < NODES ->
            if :: rebooting[i_] && i_ != mine -> others++ :: else fi;
            if :: rebooting[i_] && first == NODES -> first = i_ :: else fi;
            i_++
        :: else -> break
        od;
        i_ = 0
    }
}

proctype node(byte me) {
    byte others, first;
    bit pods = 1;
    do
    :: /* one request */
        list(me);
        if
        :: others > 0 -> skip /* denied, and asks again */
        :: else ->
            rebooting[me] = 1; /* marked, and cordoned */
            list(me);
            if
            :: first != me -> rebooting[me] = 0 /* the other one goes first */
            :: else ->
                if
                :: !pods -> break
                :: pods = 0        /* evicted, and gone by the time it looks: granted, */
                    -> break
                :: pods = 0 -> skip /* or only when it asks again */
                fi
            fi
        fi
    od;
    gone[me] = 1;
    assert(gone[0] + gone[1] <= 1);
    gone[me] = 0;
    rebooting[me] = 0; /* steady-state */
    served++
}

init {
    atomic {
        run node(0);
        run node(1)
    }
}

#ifdef STUCK
/* Two that are marked with pods left deny each other from then on. */
ltl goes_on { <> (served == NODES) }
#endif
