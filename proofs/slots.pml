/* The slot protocol, for spin: `spin -search slots.pml`; proofs/README.md says what it is.
 *
 * What is modelled
 *  - The slot object, changed by compare-and-swap only. A resourceVersion is a bit for each leader
 *    that has read the object: the bit is set by a read and cleared by anybody's write, so that a
 *    write succeeds just when nothing has changed since its read. That is what the server does,
 *    without a counter that grows.
 *  - Node objects, with the same bits: what they are cordoned for, pods, whether they are up, and
 *    their boot.
 *  - LEADERS processes that may lead. The lease goes from one to another at any moment, and the one
 *    who has lost it does not know (it was frozen, its clock runs slowly): it goes on with what it
 *    has read, at any later time. A crash at any moment makes it forget everything. All its reads
 *    may be as old as you like by the time it acts: a cache that lags is the same.
 *  - A client on every node, which asks, may be told to go, goes then or renounces, comes back
 *    with another boot, and reports. Any replica answers it, so the answering has no state.
 *
 * What is checked, in every state
 *  - at most SLOTS nodes hold a slot, and at most SLOTS may be down: told to go, or down already;
 *  - nobody is told to go, or goes, whose node has pods or is not cordoned for it.
 *
 * The variants, each of which spin must refute, show that the model can tell: BLIND_GRANT (a grant
 * that is no compare-and-swap), CACHED_REPLY (a repeated answer from a cache), EAGER_RELEASE (a
 * granted slot is freed by time), BLIND_UNCORDON, UNSURE (a Node is changed for a slot that was
 * looked at before the Node was), FORGOTTEN_REPORT (steady-state is answered, and not written),
 * UNLISTED (it is answered without a look at the pods: one that tolerates everything came late). */
#ifndef NODES
#define NODES 2
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef LEADERS
#define LEADERS 2
#endif
#ifndef TERMS
#define TERMS 2 /* how often the lease changes hands */
#endif
#ifndef TAKES
#define TAKES 2 /* how often the first node may get a slot; the others once */
#endif
#ifndef BOOTS
#define BOOTS 1 /* how often a node may go */
#endif

#define NOTHING  0
#define TAKEN    1
#define DRAINED  2 /* it may be granted when the client asks, or let go */
#define GRANTED  3
#define STEADY   4 /* the client has reported steady-state; no answer grants anything any more */
#define RETURNED 5

/* --- the slot object --- */
typedef slot_t {
    byte state;
    byte id;   /* of the holding: another one each time */
    byte boot; /* when it was drained */
    bit wish;  /* it waits */
}
slot_t slots[NODES];
byte fence; /* the term of the leader that has adopted it last */
bit fresh[LEADERS];

/* --- the nodes --- */
typedef node_t {
    byte cordon; /* the holding that it is cordoned for; 0: not cordoned */
    bit pods, up;
    byte boot;
    bit seen[LEADERS]; /* not changed since that leader read it */
    bit told;   /* the client has a 200 of this boot and may go at any time */
    bit wants;  /* the client has a request that is not served */
    bit reports; /* the client has to report steady-state */
}
node_t nodes[NODES];

byte term; /* of the lease */
bit late;  /* the pod that comes to the first node although it is cordoned has come */

inline slots_changed() {
    d_step { byte k_ = 0; do :: k_ < LEADERS -> fresh[k_] = 0; k_++ :: else -> break od; k_ = 0 }
}
inline node_changed(n) {
    d_step { byte j_ = 0; do :: j_ < LEADERS -> nodes[n].seen[j_] = 0; j_++ :: else -> break od; j_ = 0 }
}

inline check() {
    d_step {
        byte i_ = 0, held_ = 0, out_ = 0;
        do
        :: i_ < NODES ->
            if :: slots[i_].state != NOTHING -> held_++ :: else fi;
            if :: nodes[i_].told || !nodes[i_].up -> out_++ :: else fi;
            i_++
        :: else -> break
        od;
        assert(held_ <= SLOTS);
        assert(out_ <= SLOTS);
        i_ = 0; held_ = 0; out_ = 0
    }
}

/* --- who may lead --- */

/* What a leader is about to do. Between any two of its steps the others may do anything. */
#define LOOK      1 /* it has read the slots, and turns to the node */
#define TAKE      2 /* it has decided; of a Node's change also: */
#define DROP      3
#define CORDON    4
#define EVICT     5
#define EMPTY     6
#define RETURN    7
#define UNCORDON  8
#define FREE      9
#define AGAIN     10
#define SURE      16 /* and it has read the slots again since it read the Node */

inline forget(who) {
    fresh[who] = 0; nodes[n].seen[who] = 0; intent = 0; state = 0; boot = 0; id = 0; n = 0
}

/* A compare-and-swap of the slots. */
#ifdef BLIND_GRANT
#define UNCHANGED (fresh[me] || intent == EMPTY)
#else
#define UNCHANGED (fresh[me])
#endif
/* And of the Node. */
#ifdef BLIND_UNCORDON
#define NODE_UNCHANGED (nodes[n].seen[me] || intent == UNCORDON + SURE)
#else
#define NODE_UNCHANGED (nodes[n].seen[me])
#endif

proctype leader(byte me) {
    byte mine = 0;    /* the term it believes to lead */
    bit adopted = 0;
    byte n;           /* the node it has turned to */
    byte intent = 0;
    byte state, boot, id; /* what it has read of the slots; `boot` is then the node's */

end:
    do
    /* The lease is somebody's, or somebody's again after a crash: what it knew is gone. One who has
     * crashed for good is one who does nothing more, which every process may do anywhere. */
    :: atomic { term < TERMS -> term++; mine = term; adopted = 0; forget(me) }

    /* Before anything else a new leader changes the object, so that whoever led before it fails. */
    :: atomic { mine != 0 && !adopted ->
        if
        :: fence < mine -> fence = mine; adopted = 1; slots_changed()
        :: else -> mine = 0 /* a later one has been here */
        fi }

    /* It reads the slots, and turns to a node. */
    :: atomic { adopted && intent == 0 ->
        if
        :: fence > mine -> mine = 0; adopted = 0
        :: else ->
            select(n : 0 .. NODES - 1);
            state = 0; boot = 0;
            do
            :: boot < NODES -> if :: slots[boot].state != NOTHING -> state++ :: else fi; boot++
            :: else -> break
            od;
            boot = (state < SLOTS -> 1 : 0); /* whether there is one left */
            state = slots[n].state;
            if
            :: state == NOTHING && slots[n].wish && boot && slots[n].id < (n == 0 -> TAKES : 1) -> intent = TAKE
            :: state == NOTHING && slots[n].wish -> intent = DROP /* it waits no longer */
            :: state == TAKEN || state == DRAINED -> intent = RETURN /* it has asked no more, and was granted nothing */
            :: state != NOTHING || nodes[n].cordon -> intent = LOOK
            :: else
            fi;
            if
            :: intent == 0 -> forget(me)
            :: intent == LOOK -> fresh[me] = 1; boot = slots[n].boot; id = slots[n].id
            :: else -> fresh[me] = 1; state = 0; boot = 0
            fi
        fi }

    /* It reads the node. */
    :: atomic { intent == LOOK ->
        if
        /* A cordon of an earlier holding is not this one's: taking it over changes the Node. */
        :: state == TAKEN && nodes[n].cordon != id && nodes[n].up -> intent = CORDON
        :: state == TAKEN && nodes[n].cordon == id && nodes[n].pods -> intent = EVICT
        :: state == TAKEN && nodes[n].cordon == id && !nodes[n].pods && nodes[n].up -> intent = EMPTY
        :: state == DRAINED && nodes[n].pods -> intent = AGAIN
        :: state == GRANTED && nodes[n].cordon == id && nodes[n].pods -> intent = EVICT
        :: state == GRANTED && nodes[n].up && nodes[n].boot != boot -> intent = RETURN
        :: state == STEADY && nodes[n].up -> intent = RETURN /* back, or it has renounced */
#ifdef FORGOTTEN_REPORT
        :: state == GRANTED && nodes[n].up && !nodes[n].told && !nodes[n].wants -> intent = RETURN
#endif
#ifdef EAGER_RELEASE
        :: state == GRANTED -> intent = RETURN
#endif
        :: state == RETURNED && nodes[n].cordon -> intent = UNCORDON
        :: state == RETURNED && !nodes[n].cordon -> intent = FREE
        /* The cordon of one who was frozen before it came, and had lost its slot meanwhile. */
        :: state == NOTHING && nodes[n].cordon -> intent = UNCORDON
        :: else
        fi;
        if
        :: intent == LOOK -> forget(me)
        :: else ->
            boot = (intent == EMPTY -> nodes[n].boot : 0); state = 0;
            /* Of a cordon that is lifted: whose it is. */
            id = (intent == CORDON -> id : (intent == UNCORDON -> nodes[n].cordon : 0));
            nodes[n].seen[me] = (intent == CORDON || intent == UNCORDON -> 1 : 0)
        fi }

    /* Before it changes a Node it looks at the slots again, after it has read the Node: whatever is
     * done for a later holder makes another resourceVersion of it. Other slots may have changed;
     * this holding must still be what it was read to be. */
    :: atomic { intent == CORDON || intent == UNCORDON ->
        fresh[me] = 0;
#ifdef UNSURE
        intent = intent + SURE
#else
        if
        :: intent == CORDON && slots[n].state == TAKEN && slots[n].id == id -> intent = CORDON + SURE
        :: intent == UNCORDON && (slots[n].id != id || slots[n].state == RETURNED || slots[n].state == NOTHING) ->
            intent = UNCORDON + SURE; id = 0
        :: else -> forget(me)
        fi
#endif
        }

    :: atomic { intent == TAKE -> if :: UNCHANGED -> slots[n].state = TAKEN; slots[n].id++; slots[n].wish = 0; slots_changed()
                                     :: else fi; forget(me); check() }
    :: atomic { intent == DROP -> if :: UNCHANGED -> slots[n].wish = 0; slots_changed()
                                     :: else fi; forget(me) }
    :: atomic { intent == CORDON + SURE -> if :: NODE_UNCHANGED -> nodes[n].cordon = id; node_changed(n)
                                              :: else fi; forget(me) }
    /* Also by one who leads no longer: budgets guard the pods. */
    :: atomic { intent == EVICT -> if :: nodes[n].pods -> nodes[n].pods = 0; node_changed(n)
                                      :: else fi; forget(me) }
    :: atomic { intent == EMPTY -> if :: UNCHANGED -> slots[n].state = DRAINED; slots[n].boot = boot; slots_changed()
                                      :: else fi; forget(me); check() }
    :: atomic { intent == AGAIN -> if :: UNCHANGED -> slots[n].state = TAKEN; slots[n].boot = 0; slots_changed()
                                      :: else fi; forget(me) }
    :: atomic { intent == RETURN -> if :: UNCHANGED -> slots[n].state = RETURNED; slots[n].boot = 0; slots_changed()
                                       :: else fi; forget(me) }
    :: atomic { intent == UNCORDON + SURE -> if :: NODE_UNCHANGED -> nodes[n].cordon = 0; node_changed(n)
                                                :: else fi; forget(me) }
    :: atomic { intent == FREE -> if :: UNCHANGED -> slots[n].state = NOTHING; slots_changed()
                                     :: else fi; forget(me) }
    od
}

/* --- a node and its client --- */

/* Whoever answers lists the pods first. */
#ifdef UNLISTED
#define LISTED_EMPTY 1
#else
#define LISTED_EMPTY (!nodes[n].pods)
#endif
proctype client(byte n) {
    byte boots = 0;
    byte state, boot, id; /* what the answering replica has read */
#ifdef CACHED_REPLY
    byte cache_boot = 0, cache_id = 0;
#endif
end:
    do
    :: atomic { nodes[n].up && !nodes[n].wants && !nodes[n].told && !nodes[n].reports && boots < BOOTS ->
        nodes[n].wants = 1 }

    /* pre-reboot: the replica reads the slots from the quorum, */
    :: nodes[n].up && (nodes[n].wants || nodes[n].told) ->
        atomic {
#ifdef CACHED_REPLY
        if
        :: cache_id -> state = GRANTED; boot = cache_boot; id = cache_id
        :: state = slots[n].state; boot = slots[n].boot; id = slots[n].id;
            if :: state == GRANTED -> cache_id = id; cache_boot = boot :: else fi
        fi
#else
        state = slots[n].state; boot = slots[n].boot; id = slots[n].id
#endif
        }
        if
        :: state == GRANTED ->
            /* then the Node, and answers. An answer reaches only the boot that has asked. */
            atomic {
                if
                :: nodes[n].cordon == id && nodes[n].boot == boot && LISTED_EMPTY ->
                    assert(!nodes[n].pods);
                    nodes[n].told = 1; nodes[n].wants = 0; check()
                :: else
                fi
            }
        :: state == DRAINED && nodes[n].wants -> /* or writes the grant, for the one who asks at this moment */
            atomic { if :: slots[n].state == DRAINED && slots[n].id == id -> slots[n].state = GRANTED; slots_changed() :: else fi }
        :: state == NOTHING && nodes[n].wants && !nodes[n].told -> /* or notes that it waits */
            atomic { if :: slots[n].state == NOTHING && !slots[n].wish -> slots[n].wish = 1; slots_changed() :: else fi }
        :: else
        fi;
        atomic { state = 0; boot = 0; id = 0 }

    /* It goes, once, */
    :: atomic { nodes[n].told && nodes[n].up ->
        assert(!nodes[n].pods);
        assert(nodes[n].cordon);
        nodes[n].up = 0; nodes[n].told = 0; boots++; node_changed(n); check() }
    /* or renounces; */
    :: atomic { nodes[n].told && nodes[n].up -> nodes[n].told = 0; nodes[n].reports = 1 }
    /* and comes back, reports, */
    :: atomic { !nodes[n].up -> nodes[n].up = 1; nodes[n].boot++; nodes[n].reports = 1; node_changed(n) }
    /* and is answered when that is written. */
    :: atomic { nodes[n].up && nodes[n].reports ->
#ifndef FORGOTTEN_REPORT
        if
        :: slots[n].state == GRANTED -> slots[n].state = STEADY; slots_changed()
        :: slots[n].state == TAKEN || slots[n].state == DRAINED -> slots[n].state = RETURNED; slots[n].boot = 0; slots_changed()
        :: else
        fi;
#endif
        nodes[n].reports = 0 }

    /* The scheduler puts pods on nodes that are not cordoned. */
    :: atomic { nodes[n].up && !nodes[n].cordon && !nodes[n].pods -> nodes[n].pods = 1; node_changed(n) }
    /* And one on a node that is, before it is told to go: after that nobody can help it. */
    :: atomic { n == 0 && !late && nodes[n].up && nodes[n].cordon && !nodes[n].pods && !nodes[n].told ->
        late = 1; nodes[n].pods = 1 }
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < NODES -> nodes[i].up = 1; nodes[i].pods = 1; run client(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < LEADERS -> run leader(i); i++
        :: else -> break
        od;
        i = 0
    }
}
