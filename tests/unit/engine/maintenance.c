/* Tests of src/engine/maintenance.c: the tables are whole, no facts make it do what must not be
 * done, and whatever happens it comes to an end that leaves nothing behind. */
#include "engine/maintenance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"

/* --- the tables --- */

static void every_state_can_be_reached_and_left(void **state) {
    (void)state;
    bool reached[MAINT_PHASES] = {[MAINT_PENDING] = true}, ends[MAINT_PHASES] = {0};
    for (unsigned i = MAINT_COMPLETE; i < MAINT_PHASES; i++)
        ends[i] = true;
    for (unsigned round = 0; round < MAINT_PHASES; round++)
        for (size_t i = 0; i < n_maint_ways; i++) {
            reached[maint_ways[i].to] |= reached[maint_ways[i].from];
            ends[maint_ways[i].from] |= ends[maint_ways[i].to];
        }
    for (unsigned i = 0; i < MAINT_PHASES; i++) {
        assert_true(reached[i]);
        assert_true(ends[i]);
        assert_true(strlen(maint_phases[i].word) && strlen(maint_phases[i].meaning));
    }
    for (size_t i = 0; i < n_maint_ways; i++)
        assert_false(maint_ended(maint_ways[i].from));
}

/* What lies beyond the grant is reached through it alone. */
static void nothing_goes_round_the_grant(void **state) {
    (void)state;
    for (size_t i = 0; i < n_maint_ways; i++) {
        const struct maint_way *w = &maint_ways[i];
        if (w->to == MAINT_GRANTED)
            assert_true(w->from == MAINT_DRAINING || w->from == MAINT_DRAINED ||
                        w->from == MAINT_UNDOING);
        if (w->to == MAINT_OPERATING)
            assert_true(w->from == MAINT_GRANTED || w->from == MAINT_HALTED);
        if (w->to == MAINT_COMPLETE)
            assert_int_equal(w->from, MAINT_SETTLING);
    }
}

static void the_graph(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    maint_dot(&out);
    assert_non_null(strstr(str_get(&out), "digraph maintenance {\n"));
    assert_non_null(strstr(str_get(&out), "  Draining [style=bold];\n"));
    assert_non_null(strstr(str_get(&out), "  Complete [style=rounded];\n"));
    assert_non_null(strstr(str_get(&out), "  Queued -> Draining [label=\"SlotTaken\"];\n"));
}

static void words_of_operations(void **state) {
    (void)state;
    assert_string_equal(operation_word(OPERATION_DRAIN), "Drain");
    assert_string_equal(operation_word(OPERATION_REMOVE), "Remove");
}

/* --- any facts --- */

static bool flip(struct prng *r) {
    return prng_range(r, 0, 2);
}

static void any_facts(struct prng *r, struct maint_facts *f, struct slot *slot) {
    *slot = (struct slot){.id = "h", .node = "w", .uid = "u"};
    slot->state = (enum slot_state)prng_range(r, 0, SLOT_STATES);
    slot->boot = slot->state == SLOT_TAKEN || (slot->state == SLOT_RETURNED && flip(r)) ? "" : "b1";
    slot->granted = slot->state > SLOT_DRAINED && *slot->boot;
    *f = (struct maint_facts){
        .operation = (enum operation)prng_range(r, 0, OPERATIONS),
        .cancelled = flip(r),
        .paused = flip(r),
        .asks = flip(r),
        .by_request = flip(r),
        .word = (enum maint_word)prng_range(r, 0, MAINT_SAYS_ABORT + 1),
        .to_cordon = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1),
        .to_operate = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1),
        .to_return = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1),
        .slot = prng_range(r, 0, 5) ? slot : NULL,
        .node_there = prng_range(r, 0, 4),
        .node_down = flip(r),
        .node_ready = flip(r),
        .node_boot = (const char *const[]){"", "b1", "b2"}[prng_range(r, 0, 3)],
        .cordoned = flip(r),
        .same_boot = flip(r),
        .hasty = flip(r),
        .doubtful = flip(r),
        .overdue = flip(r),
        .still_up = flip(r),
        .drain = (enum maint_drain)prng_range(r, 0, MAINT_DRAIN_UNCORDONED + 1),
        .work = (enum maint_work)prng_range(r, 0, MAINT_WORK_FAILED + 1),
        .again = flip(r),
        .restored = flip(r),
        .settled = flip(r),
    };
}

static void no_facts_make_it_do_what_must_not_be_done(void **state) {
    (void)state;
    struct prng random = {1};
    unsigned seen[MAINT_ACT_FREE + 1] = {0};
    for (unsigned i = 0; i < 1000000; i++) {
        struct maint_facts f;
        struct slot slot;
        enum maint_phase phase = (enum maint_phase)prng_range(&random, 0, MAINT_PHASES);
        any_facts(&random, &f, &slot);
        enum maint_act act = maint_act(phase, &f);
        seen[act]++;
        switch (act) {
        case MAINT_ACT_DRAIN:
            assert_true(f.slot && slot.state == SLOT_TAKEN && !f.paused);
            break;
        case MAINT_ACT_GRANT: /* one that goes by itself has to ask */
            assert_true(f.slot && slot.state == SLOT_DRAINED && !f.paused && !f.by_request);
            break;
        case MAINT_ACT_DRAINED:
            assert_true(f.slot && slot.state == SLOT_TAKEN && !f.paused);
            assert_true(f.drain == MAINT_DRAIN_DONE && f.cordoned && f.to_operate == MAINT_PASS);
            assert_true(*f.node_boot);
            break;
        case MAINT_ACT_OPERATE:
            assert_true(f.slot && slot.state == SLOT_GRANTED && f.cordoned && f.node_there);
            assert_true(!f.paused && !f.cancelled && !f.by_request);
            assert_string_not_equal(f.node_boot, "b2"); /* not in another boot */
            assert_true(f.work == MAINT_WORK_NONE || f.again);
            break;
        case MAINT_ACT_RETURN:
            assert_true(f.slot && slot.state != SLOT_RETURNED);
            assert_true(phase == MAINT_UNDOING || phase == MAINT_UNCORDONING ||
                        phase == MAINT_SETTLING || maint_ended(phase));
            break;
        case MAINT_ACT_UNCORDON: /* follows a write of the slot */
            assert_true(!f.slot || slot.state == SLOT_RETURNED);
            break;
        case MAINT_ACT_FREE:
            assert_true(f.slot && slot.state == SLOT_RETURNED && (!f.cordoned || !f.node_there));
            break;
        default:
            break;
        }
        /* the same facts lead somewhere, and not round in circles */
        unsigned ways = 0;
        enum maint_phase end = MAINT_FAILED;
        for (const struct maint_way *w; (w = maint_next(phase, end, &f)); phase = w->to) {
            if (w->to == MAINT_UNDOING)
                end = maint_way_end(w);
            f.overdue = f.still_up = false; /* a phase that begins has its time before it */
            f.again = w->from == MAINT_HALTED && w->to == MAINT_OPERATING;
            f.hasty = w->to == MAINT_UNDOING && w->from < MAINT_GRANTED;
            assert_true(++ways < MAINT_PHASES);
        }
        if (f.paused && f.slot && slot.state == SLOT_TAKEN)
            assert_true(phase != MAINT_QUEUED);
    }
    for (unsigned i = 0; i <= MAINT_ACT_FREE; i++)
        assert_true(seen[i] > 0);
}

/* --- ways that are gone at once --- */

static void ways_back_are_gone_at_once(void **state) {
    const struct maint_way *ways[MAINT_WAYS_MAX];
    struct slot slot = {.state = SLOT_GRANTED, .granted = 1, .boot = "one"};
    struct maint_facts f = {.operation = OPERATION_REBOOT,
                            .slot = &slot,
                            .node_there = true,
                            .node_ready = true,
                            .node_boot = "two",
                            .cordoned = true,
                            .work = MAINT_WORK_DONE,
                            .restored = true};
    (void)state;
    assert_int_equal(maint_ways_on(MAINT_OPERATING, MAINT_FAILED, &f, ways), 3);
    assert_int_equal(ways[0]->to, MAINT_RETURNING);
    assert_int_equal(ways[2]->to, MAINT_UNCORDONING);
    f.restored = false;
    assert_int_equal(maint_ways_on(MAINT_OPERATING, MAINT_FAILED, &f, ways), 2);
    assert_int_equal(ways[1]->to, MAINT_RESTORING);
    f.node_ready = false;
    f.overdue = true; /* that was of the operation: coming back has its own time */
    assert_int_equal(maint_ways_on(MAINT_OPERATING, MAINT_FAILED, &f, ways), 1);
    assert_int_equal(ways[0]->to, MAINT_RETURNING);
    assert_int_equal(maint_ways_on(MAINT_RETURNING, MAINT_FAILED, &f, ways), 1);
    assert_int_equal(ways[0]->to, MAINT_HALTED);
    /* Before the disruptive step each is written by itself. */
    f = (struct maint_facts){.operation = OPERATION_REBOOT,
                             .slot = &slot,
                             .node_there = true,
                             .node_boot = "one",
                             .work = MAINT_WORK_BEGUN,
                             .asks = true};
    assert_int_equal(maint_ways_on(MAINT_DRAINING, MAINT_FAILED, &f, ways), 1);
    assert_int_equal(ways[0]->to, MAINT_GRANTED);
    assert_int_equal(maint_ways_on(MAINT_GRANTED, MAINT_FAILED, &f, ways), 1);
    assert_int_equal(ways[0]->to, MAINT_OPERATING);
    assert_int_equal(maint_ways_on(MAINT_HALTED, MAINT_FAILED, &f, ways), 0);
}

/* --- lives --- */

struct life {
    struct maint_facts f;
    struct slot slot;
    char boot[8];
    unsigned boots;
    bool wished, told, out; /* it waits for a slot; its client was told to go; it is down */
    unsigned operated, granted, boots_of_grant;
    enum maint_phase phase, end;
};

static void reboot(struct life *l) {
    snprintf(l->boot, sizeof l->boot, "b%u", ++l->boots);
    l->f.node_boot = l->boot;
}

static void write_slot(struct life *l, enum slot_state state) {
    l->slot.state = state;
    l->f.slot = &l->slot;
}

static void carry_out(struct life *l, enum maint_act act) {
    static char granted_to[8];
    switch (act) {
    case MAINT_ACT_ASK:
        l->wished = true;
        break;
    case MAINT_ACT_WITHDRAW:
        l->wished = false;
        break;
    case MAINT_ACT_DRAIN:
        l->f.cordoned = true;
        if (l->f.drain == MAINT_DRAIN_NONE)
            l->f.drain = MAINT_DRAIN_AT_WORK;
        break;
    case MAINT_ACT_DRAINED:
        snprintf(granted_to, sizeof granted_to, "%s", l->boot);
        l->slot.boot = granted_to;
        l->boots_of_grant = l->boots;
        write_slot(l, SLOT_DRAINED);
        break;
    case MAINT_ACT_DRAIN_AGAIN:
        assert_int_equal(l->slot.state, SLOT_DRAINED);
        l->slot.boot = "";
        write_slot(l, SLOT_TAKEN);
        break;
    case MAINT_ACT_GRANT:
        assert_int_equal(l->f.drain, MAINT_DRAIN_DONE);
        l->granted++;
        l->slot.granted = 1;
        write_slot(l, SLOT_GRANTED);
        break;
    case MAINT_ACT_OPERATE:
        assert_int_equal(l->boots, l->boots_of_grant);
        l->operated++;
        l->f.work = MAINT_WORK_BEGUN;
        l->f.word = MAINT_SAYS_NOTHING;
        l->f.again = false;
        break;
    case MAINT_ACT_RETURN:
        write_slot(l, SLOT_RETURNED);
        break;
    case MAINT_ACT_UNCORDON:
        l->f.cordoned = false;
        break;
    case MAINT_ACT_FREE:
        l->f.slot = NULL;
        break;
    case MAINT_ACT_NONE:
        break;
    }
}

/* What others do, at random. */
static void happen(struct life *l, struct prng *r, bool calm) {
    struct maint_facts *f = &l->f;
    if (l->wished && !f->slot && flip(r)) {
        l->slot.boot = "";
        l->slot.granted = 0;
        write_slot(l, SLOT_TAKEN);
        l->wished = false;
    }
    if (f->drain == MAINT_DRAIN_AT_WORK && flip(r))
        f->drain =
            calm || prng_range(r, 0, 8)
                ? MAINT_DRAIN_DONE
                : (enum maint_drain)prng_range(r, MAINT_DRAIN_REFUSED, MAINT_DRAIN_UNCORDONED + 1);
    /* A pod comes. */
    if (f->slot && l->slot.state == SLOT_DRAINED && f->drain == MAINT_DRAIN_DONE &&
        !prng_range(r, 0, 8))
        f->drain = MAINT_DRAIN_AT_WORK;
    /* Its client asks. */
    if (f->by_request && f->asks && f->slot && l->slot.state == SLOT_DRAINED && f->cordoned &&
        f->drain == MAINT_DRAIN_DONE && streq(l->slot.boot, l->boot) && flip(r)) {
        l->granted++;
        l->slot.granted = 1;
        write_slot(l, SLOT_GRANTED);
    }
    if (f->by_request && !l->out && f->slot && l->slot.state == SLOT_GRANTED && f->cordoned &&
        streq(l->slot.boot, l->boot))
        l->told = true;
    /* It reports, and goes all the same, or does not. */
    if (l->told && f->slot && l->slot.state == SLOT_GRANTED && !prng_range(r, 0, 8)) {
        write_slot(l, SLOT_STEADY);
        l->told = flip(r);
    }
    f->same_boot = !l->told && !l->out && flip(r);
    bool goes = (f->by_request && l->told) || f->work == MAINT_WORK_BEGUN;
    if (goes && !l->out && flip(r)) {
        l->out = true;
        l->told = false;
        f->node_ready = false;
        f->node_down = true;
    } else if (l->out && flip(r)) {
        l->out = false;
        f->node_ready = true;
        f->node_down = false;
        reboot(l);
        if (f->work == MAINT_WORK_BEGUN)
            f->work = MAINT_WORK_DONE;
    } else if (f->work == MAINT_WORK_BEGUN && !l->out && !calm && !prng_range(r, 0, 4)) {
        f->work = MAINT_WORK_FAILED;
    }
    /* It takes too long, or nothing comes of it: only where nothing takes the node down any more.
     */
    bool goes_down = l->told || l->out || f->work == MAINT_WORK_BEGUN;
    f->overdue = (l->out || !goes_down) && !prng_range(r, 0, 20);
    f->still_up = !goes_down && f->node_ready && flip(r);
    f->doubtful = !calm && flip(r);
    bool words = l->phase == MAINT_HALTED || l->phase == MAINT_OPERATING;
    if (words && flip(r))
        f->word = (enum maint_word)prng_range(r, MAINT_SAYS_RETRY, MAINT_SAYS_ABORT + 1);
    if (!calm) {
        f->to_cordon = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1);
        f->to_operate = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1);
        f->to_return = (enum maint_gate)prng_range(r, 0, MAINT_DENY + 1);
        f->paused = !prng_range(r, 0, 4);
        f->cancelled |= !prng_range(r, 0, 40);
        if (f->by_request && !prng_range(r, 0, 40))
            f->asks = false;
        /* Whoever led has crashed. A client that was served asks no more. */
        if (!prng_range(r, 0, 20) && f->by_request)
            l->phase = l->granted && !f->slot ? MAINT_COMPLETE : maint_resume(f->slot);
    } else {
        f->to_cordon = f->to_operate = f->to_return = MAINT_PASS;
        f->paused = false;
    }
    f->restored |= flip(r);
    f->settled |= flip(r);
}

static void live(uint64_t seed, unsigned ends[MAINT_PHASES]) {
    struct prng random = {seed};
    struct life l = {
        .f = {.operation = OPERATION_REBOOT, .asks = true, .node_there = true, .node_ready = true},
        .slot = {.id = "h", .node = "w", .uid = "u", .boot = ""},
        .phase = MAINT_PENDING,
        .end = MAINT_FAILED,
    };
    l.f.by_request = flip(&random);
    reboot(&l);
    unsigned stormy = (unsigned)prng_range(&random, 0, 200), i;
    for (i = 0; i < stormy + 400 && !maint_ended(l.phase); i++) {
        const struct maint_way *w;
        happen(&l, &random, i >= stormy);
        while ((w = maint_next(l.phase, l.end, &l.f))) {
            if (w->to == MAINT_UNDOING)
                l.end = maint_way_end(w);
            l.f.again = w->from == MAINT_HALTED && w->to == MAINT_OPERATING && !l.f.by_request;
            l.f.overdue = l.f.still_up = false;
            l.phase = w->to;
        }
        carry_out(&l, maint_act(l.phase, &l.f));
        /* nobody but a holder is cordoned, or down */
        assert_true(l.f.slot || !l.f.cordoned || maint_ended(l.phase) || l.phase == MAINT_UNDOING);
        assert_true(!l.out || (l.f.slot && l.slot.state != SLOT_TAKEN));
    }
    assert_true(maint_ended(l.phase));
    ends[l.phase]++;
    assert_null(l.f.slot);
    assert_false(l.f.cordoned);
    if (l.phase == MAINT_COMPLETE)
        assert_true(l.granted >= 1);
}

static void every_life_ends_and_leaves_nothing_behind(void **state) {
    (void)state;
    unsigned ends[MAINT_PHASES] = {0};
    for (uint64_t seed = 1; seed <= 20000; seed++)
        live(seed, ends);
    assert_true(ends[MAINT_COMPLETE] > 1000);
    assert_true(ends[MAINT_CANCELLED] > 1000);
    assert_true(ends[MAINT_FAILED] > 100);
}

/* A machine that was shut down is off, which is what was wanted: it is waited for until somebody
 * has switched it on again. Whoever has run a command cannot tell that a machine reboots. */
static void only_the_node_says_that_it_was_rebooted(void **state) {
    (void)state;
    struct slot slot = {
        .id = "h", .node = "w", .uid = "u", .boot = "b1", .state = SLOT_GRANTED, .granted = 1};
    struct maint_facts f = {.operation = OPERATION_SHUTDOWN,
                            .asks = true,
                            .slot = &slot,
                            .node_there = true,
                            .node_ready = true,
                            .node_boot = "b1",
                            .cordoned = true,
                            .work = MAINT_WORK_DONE};
    assert_null(maint_next(MAINT_OPERATING, MAINT_FAILED, &f)); /* it is still up */
    f.node_ready = false;
    f.node_down = true;
    const struct maint_way *way = maint_next(MAINT_OPERATING, MAINT_FAILED, &f);
    assert_int_equal(way->to, MAINT_RETURNING);
    assert_null(maint_next(MAINT_RETURNING, MAINT_FAILED, &f));
    f.operation = OPERATION_REBOOT; /* one that does not come back is to fail in time */
    assert_null(maint_next(MAINT_OPERATING, MAINT_FAILED, &f));
    f.operation = OPERATION_UPGRADE;
    assert_int_equal(maint_next(MAINT_OPERATING, MAINT_FAILED, &f)->to, MAINT_RETURNING);
}

/* A gate that shuts between the grant and the operation keeps it. */
static void nothing_is_operated_on_past_a_gate(void **state) {
    (void)state;
    struct slot slot = {.id = "h", .boot = "b1", .state = SLOT_GRANTED, .granted = 1};
    struct maint_facts f = {.operation = OPERATION_REBOOT,
                            .slot = &slot,
                            .node_there = true,
                            .node_ready = true,
                            .node_boot = "b1",
                            .cordoned = true};
    assert_int_equal(maint_act(MAINT_GRANTED, &f), MAINT_ACT_OPERATE);
    f.to_operate = MAINT_WAIT;
    assert_int_equal(maint_act(MAINT_GRANTED, &f), MAINT_ACT_NONE);
}

static const char *reason_of(enum maint_phase phase, const struct maint_facts *f) {
    const struct maint_way *w = maint_next(phase, MAINT_FAILED, f);
    return w ? w->reason : "";
}

/* The time that a node has to come back, and what ends the wait before. */
static void nobody_waits_for_ever(void **state) {
    (void)state;
    struct slot slot = {.id = "h", .boot = "b1", .state = SLOT_GRANTED, .granted = 1};
    struct maint_facts f = {.operation = OPERATION_REBOOT,
                            .asks = true,
                            .slot = &slot,
                            .node_there = true,
                            .node_ready = true,
                            .node_boot = "b1",
                            .cordoned = true,
                            .work = MAINT_WORK_BEGUN,
                            .still_up = true};
    assert_string_equal(reason_of(MAINT_OPERATING, &f), ""); /* it may be about to go */
    f.work = MAINT_WORK_DONE;
    assert_string_equal(reason_of(MAINT_OPERATING, &f), "StillUp");
    f.again = true;
    assert_string_equal(reason_of(MAINT_OPERATING, &f), "");
    f.again = f.still_up = false;
    assert_string_equal(reason_of(MAINT_OPERATING, &f), ""); /* on the heels of the command */
    f.overdue = true;
    assert_string_equal(reason_of(MAINT_OPERATING, &f), "NotBack");
    f.node_boot = "b2"; /* it has rebooted, and does not become Ready */
    f.node_ready = false;
    f.node_down = true;
    assert_string_equal(reason_of(MAINT_OPERATING, &f), "OperationDone");
    assert_string_equal(reason_of(MAINT_RETURNING, &f), "NotBack");
    assert_string_equal(reason_of(MAINT_HALTED, &f), ""); /* and stays so until it is */
    f.word = MAINT_SAYS_ABORT;                            /* nobody knows what it is doing */
    assert_string_equal(reason_of(MAINT_HALTED, &f), "");
    f.node_ready = true;
    f.node_down = false;
    assert_string_equal(reason_of(MAINT_HALTED, &f), "Skipped");
    f = (struct maint_facts){.operation = OPERATION_SHUTDOWN,
                             .slot = &slot,
                             .node_there = true,
                             .node_down = true,
                             .node_boot = "b1",
                             .overdue = true};
    assert_string_equal(reason_of(MAINT_RETURNING, &f), ""); /* off, as was wanted */
}

/* What somebody wants of one that is under way is done only where the node stays up. */
static void words_to_one_that_is_under_way(void **state) {
    (void)state;
    struct slot slot = {.id = "h", .boot = "b1", .state = SLOT_GRANTED, .granted = 1};
    for (unsigned word = MAINT_SAYS_RETRY; word <= MAINT_SAYS_ABORT + 1; word++) {
        struct maint_facts f = {.operation = OPERATION_REBOOT,
                                .asks = true,
                                .slot = &slot,
                                .node_there = true,
                                .node_ready = true,
                                .node_boot = "b1",
                                .cordoned = true,
                                .work = MAINT_WORK_BEGUN};
        if (word > MAINT_SAYS_ABORT)
            f.cancelled = true;
        else
            f.word = (enum maint_word)word;
        assert_string_equal(reason_of(MAINT_OPERATING, &f), "");
        assert_int_equal(maint_act(MAINT_OPERATING, &f), MAINT_ACT_NONE);
        f.still_up = true;
        assert_string_equal(reason_of(MAINT_OPERATING, &f), "StillUp");
        f.by_request = true; /* whoever goes by itself may still do so */
        assert_string_equal(reason_of(MAINT_OPERATING, &f), "");
    }
}

/* A client that reports at once, of one that was cancelled: its node has not been away. */
static void a_node_that_is_not_believed_has_not_gone(void **state) {
    (void)state;
    struct slot slot = {.id = "h", .boot = "b1", .state = SLOT_STEADY, .granted = 1};
    struct maint_facts f = {.operation = OPERATION_REBOOT,
                            .by_request = true,
                            .cancelled = true,
                            .slot = &slot,
                            .node_there = true,
                            .node_boot = "b1",
                            .cordoned = true};
    assert_string_equal(reason_of(MAINT_GRANTED, &f), "");
    f.node_ready = f.same_boot = true;
    assert_string_equal(reason_of(MAINT_GRANTED, &f), "SameBoot");
}

/* --- what is seen of one without an object --- */

/* What it refers to is the test's. */
static void drop_nothing(struct pool *pool, const void *tag, const void *data, size_t len) {
    (void)pool, (void)tag, (void)data, (void)len;
}

static void what_is_seen_of_a_client(void **state) {
    (void)state;
    struct pool *pool = pool_new(drop_nothing);
    static const struct {
        enum slot_state slot;
        const char *ready, *boot; /* of its node; NULL: it is gone */
        enum maint_phase phase;
        int64_t since;
    } cases[] = {
        {SLOT_TAKEN, "True", "b1", MAINT_DRAINING, 1},
        {SLOT_DRAINED, "True", "b1", MAINT_DRAINED, 2},
        {SLOT_DRAINED, "Unknown", "b1", MAINT_DRAINED, 2}, /* nobody has let it go */
        {SLOT_GRANTED, "True", "b1", MAINT_GRANTED, 3},
        {SLOT_GRANTED, "True", "", MAINT_GRANTED, 3}, /* it does not say */
        {SLOT_GRANTED, "Unknown", "b1", MAINT_OPERATING, 7},
        {SLOT_GRANTED, "False", "b1", MAINT_OPERATING, 7},
        {SLOT_GRANTED, "False", "b2", MAINT_OPERATING, 3},
        {SLOT_GRANTED, "True", "b2", MAINT_OPERATING, 3},
        {SLOT_GRANTED, NULL, NULL, MAINT_OPERATING, 3},
        {SLOT_STEADY, "True", "b2", MAINT_RETURNING, 4},
        {SLOT_RETURNED, "True", "b2", MAINT_UNCORDONING, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct slot slot = {.uid = "u",
                                  .boot = "b1",
                                  .state = cases[i].slot,
                                  .since = 1,
                                  .drained = 2,
                                  .granted = 3,
                                  .steady = 4};
        const struct node_condition ready = {
            .c = {.type = "Ready", .status = cases[i].ready, .changed = 7}};
        const struct node node = {.meta.uid = "u",
                                  .info.boot_id = cases[i].boot,
                                  .conditions = pool_blob(pool, &ready, &ready, sizeof ready)};
        const struct maint_seen seen = maint_seen(&slot, cases[i].ready ? &node : NULL);
        assert_string_equal(maint_phases[seen.phase].word, maint_phases[cases[i].phase].word);
        assert_int_equal(seen.since, cases[i].since);
        pool_unref(pool, node.conditions);
    }
    pool_free(pool);
    const struct slot undone = {.state = SLOT_RETURNED, .drained = 2};
    assert_int_equal(maint_seen(&undone, NULL).phase, MAINT_UNDOING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_of_a_client),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(words_to_one_that_is_under_way),
        cmocka_unit_test(a_node_that_is_not_believed_has_not_gone),
        cmocka_unit_test(only_the_node_says_that_it_was_rebooted),
        cmocka_unit_test(nothing_is_operated_on_past_a_gate),
        cmocka_unit_test(every_state_can_be_reached_and_left),
        cmocka_unit_test(nothing_goes_round_the_grant),
        cmocka_unit_test(the_graph),
        cmocka_unit_test(words_of_operations),
        cmocka_unit_test(no_facts_make_it_do_what_must_not_be_done),
        cmocka_unit_test(ways_back_are_gone_at_once),
        cmocka_unit_test(every_life_ends_and_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
