/* Tests of src/engine/slots.c: what may follow what, how many at most, and hostile records. */
#include "engine/slots.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/timefmt.h"

#define T0 SEC(1763280000) /* 2025-11-16T08:00:00Z */

struct fixture {
    struct slots s;
    struct arena arena;
    struct err err;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.s = SLOTS_INIT, .arena = ARENA_INIT, .err = ERR_INIT};
}

static void done(struct fixture *f) {
    slots_done(&f->s);
    arena_done(&f->arena);
    err_done(&f->err);
}

static int ask(struct fixture *f, const char *node, int64_t at) {
    struct slot_wish w = {
        .node = node, .operation = "Reboot", .by = "fleetlock", .since = at, .asked = at};
    return slots_ask(&f->s, &w, SEC(60), &f->arena);
}

static int take(struct fixture *f, const char *node, const char *id, size_t limit) {
    struct slot slot = {
        .id = id, .node = node, .uid = "u1", .operation = "Reboot", .by = "fleetlock", .since = T0};
    return slots_take(&f->s, &slot, limit, &f->arena, &f->err);
}

static const char *text(struct fixture *f) {
    _cleanup_str_ struct str out = STR_INIT;
    slots_write(&f->s, &out);
    return arena_strndup(&f->arena, str_get(&out), out.len);
}

static void the_record_as_the_header_shows_it(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    const char *record =
        "{\"v\":1,\"fence\":7,\"slots\":[{\"id\":\"h1\",\"node\":\"w1\",\"uid\":\"u1\","
        "\"operation\":\"Reboot\",\"by\":\"fleetlock\",\"state\":\"granted\","
        "\"boot\":\"b1\",\"since\":\"2025-11-16T08:00:00Z\","
        "\"asked\":\"2025-11-16T08:00:30Z\",\"drained\":\"2025-11-16T08:00:45Z\","
        "\"granted\":\"2025-11-16T08:01:00Z\"}],"
        "\"waiting\":[{\"node\":\"w2\",\"operation\":\"Reboot\",\"by\":\"fleetlock\","
        "\"since\":\"2025-11-16T08:00:00Z\",\"asked\":\"2025-11-16T08:02:00Z\"}]}";
    assert_int_equal(slots_parse(view_of(record), &f.arena, &f.s, &f.err), 0);
    const struct slot *s = slots_holder(&f.s, "w1");
    assert_non_null(s);
    assert_int_equal(s->state, SLOT_GRANTED);
    assert_int_equal(s->drained, T0 + SEC(45));
    assert_int_equal(s->granted, T0 + SEC(60));
    assert_int_equal(s->asked, T0 + SEC(30));
    assert_int_equal(f.s.fence, 7);
    assert_int_equal(slots_waits(&f.s, "w2")->asked, T0 + SEC(120));
    assert_null(slots_holder(&f.s, "w2"));
    assert_null(slots_waits(&f.s, "w1"));
    assert_string_equal(text(&f), record);
    done(&f);
}

static void a_holding_from_its_beginning_to_its_end(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(ask(&f, "w1", T0), 0);
    assert_int_equal(ask(&f, "w1", T0 + SEC(59)), 1);
    assert_int_equal(ask(&f, "w1", T0 + SEC(60)), 0);
    assert_int_equal(slots_waits(&f.s, "w1")->since, T0);
    assert_int_equal(take(&f, "w1", "h1", 1), 0);
    assert_null(slots_waits(&f.s, "w1"));
    assert_int_equal(ask(&f, "w1", T0), 1); /* it asks on, and holds one */
    assert_false(slots_may_go(&f.s, "w1", "u1", "b1"));
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), -EINVAL); /* with pods on it */
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 1);
    assert_int_equal(slots_drained(&f.s, "h1", "b2", T0, &f.arena, &f.err), -EINVAL);
    assert_int_equal(slots_holder(&f.s, "w1")->drained, T0);
    assert_int_equal(slots_drain_again(&f.s, "h1", &f.err), 0); /* a pod has come */
    assert_int_equal(slots_holder(&f.s, "w1")->drained, 0);
    assert_int_equal(slots_drain_again(&f.s, "h1", &f.err), 1);
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), -EINVAL);
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
    assert_false(slots_may_go(&f.s, "w1", "u1", "b1")); /* nobody was told yet */
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), 0);
    assert_int_equal(slots_grant(&f.s, "h1", T0 + SEC(1), &f.err), 1);
    assert_int_equal(slots_drain_again(&f.s, "h1", &f.err), -EINVAL); /* it may have gone */
    assert_int_equal(slots_drain_again(&f.s, "h9", &f.err), -ENOENT);
    assert_int_equal(slots_holder(&f.s, "w1")->granted, T0);
    assert_int_equal(ask(&f, "w1", T0 + SEC(600)), 1);
    assert_true(slots_may_go(&f.s, "w1", "u1", "b1"));
    assert_false(slots_may_go(&f.s, "w1", "u1", "b2")); /* it has been away */
    assert_false(slots_may_go(&f.s, "w1", "u2", "b1")); /* another node of that name */
    assert_false(slots_may_go(&f.s, "w1", "u1", ""));
    assert_int_equal(slots_free(&f.s, "h1", &f.err), -EINVAL);
    assert_int_equal(slots_report(&f.s, "w1", T0), 0);
    assert_false(slots_may_go(&f.s, "w1", "u1", "b1")); /* the old grant is over, */
    assert_int_equal(ask(&f, "w1", T0), 0);             /* and what it asks now is another matter */
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), -EINVAL);
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), -EINVAL);
    assert_int_equal(slots_return(&f.s, "h1", &f.err), 0);
    assert_int_equal(slots_return(&f.s, "h1", &f.err), 1);
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), -EINVAL);
    assert_int_equal(slots_free(&f.s, "h1", &f.err), 0);
    assert_int_equal(slots_free(&f.s, "h1", &f.err), -ENOENT);
    assert_int_equal(f.s.list.len, 0);
    assert_non_null(slots_waits(&f.s, "w1"));
    done(&f);
}

static void one_who_was_granted_nothing_reports(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(slots_report(&f.s, "w1", T0), 1);
    assert_int_equal(take(&f, "w1", "h1", 1), 0);
    assert_int_equal(slots_drained(&f.s, "h1", "", T0, &f.arena, &f.err), -EINVAL);
    assert_int_equal(slots_report(&f.s, "w1", T0), 0);
    assert_int_equal(slots_holder(&f.s, "w1")->state, SLOT_RETURNED); /* let go at once */
    assert_int_equal(slots_holder(&f.s, "w1")->steady, T0);
    assert_int_equal(slots_report(&f.s, "w1", T0 + SEC(1)), 1);
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), -EINVAL);
    assert_int_equal(slots_free(&f.s, "h1", &f.err), 0);
    assert_int_equal(take(&f, "w1", "h2", 1), 0);
    assert_int_equal(slots_drained(&f.s, "h2", "b1", T0, &f.arena, &f.err), 0);
    assert_int_equal(slots_report(&f.s, "w1", T0), 0);
    assert_int_equal(slots_holder(&f.s, "w1")->state, SLOT_RETURNED);
    done(&f);
}

/* What it would get later, nobody would come for. */
static void whoever_reports_waits_no_longer(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(ask(&f, "w1", T0), 0);
    assert_int_equal(ask(&f, "w2", T0), 0);
    assert_int_equal(slots_report(&f.s, "w1", T0), 0);
    assert_int_equal(slots_report(&f.s, "w1", T0), 1);
    assert_null(slots_waits(&f.s, "w1"));
    assert_non_null(slots_waits(&f.s, "w2"));
    done(&f);
}

/* That a holder still asks is written now and then, as long as it has not been told to go. */
static void a_holder_that_asks_on(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(take(&f, "w1", "h1", 1), 0);
    assert_int_equal(slots_holder(&f.s, "w1")->asked, T0);
    assert_int_equal(ask(&f, "w1", T0 + SEC(59)), 1);
    assert_int_equal(ask(&f, "w1", T0 + SEC(60)), 0);
    assert_int_equal(slots_holder(&f.s, "w1")->asked, T0 + SEC(60));
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
    assert_int_equal(ask(&f, "w1", T0 + SEC(120)), 0);
    assert_int_equal(slots_holder(&f.s, "w1")->asked, T0 + SEC(120));
    assert_null(slots_waits(&f.s, "w1"));
    done(&f);
}

/* Nobody knows whether it was granted, in a record that was lost: it may be, now, and its report is
 * that of one that was. */
static void one_that_may_have_been_granted(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct fixture f;
        begin(&f);
        assert_int_equal(slots_doubt(&f.s, "h1", "b1", &f.arena, &f.err), -ENOENT);
        assert_int_equal(take(&f, "w1", "h1", 1), 0);
        assert_int_equal(slots_doubt(&f.s, "h1", "b1", &f.arena, &f.err), 0);
        assert_int_equal(slots_doubt(&f.s, "h1", "b1", &f.arena, &f.err), 1);
        const char *record = text(&f);
        assert_non_null(strstr(record, "\"unsure\":true"));
        slots_done(&f.s);
        assert_int_equal(slots_parse(view_of(record), &f.arena, &f.s, &f.err), 0);
        assert_true(f.s.list.p[0].unsure);
        if (how) {
            assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
            assert_int_equal(slots_drain_again(&f.s, "h1", &f.err), 0);
            assert_string_equal(f.s.list.p[0].boot, "b1");
        }
        if (how == 2) {
            assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
            assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), 0);
            assert_int_equal(slots_doubt(&f.s, "h1", "b1", &f.arena, &f.err), 1);
        } else {
            assert_int_equal(slots_report(&f.s, "w1", T0), 0);
            assert_int_equal(f.s.list.p[0].state, SLOT_STEADY);
            assert_true(f.s.list.p[0].granted > 0);
        }
        assert_false(f.s.list.p[0].unsure);
        done(&f);
    }
}

static void never_more_than_the_limit(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(take(&f, "w2", "h2", 2), 0);
    assert_int_equal(take(&f, "w1", "h1", 2), 0);
    assert_int_equal(take(&f, "w3", "h3", 2), -EBUSY);
    assert_string_equal(err_msg(&f.err), "all 2 slots are held");
    assert_int_equal(take(&f, "w1", "h4", 5), -EBUSY);
    assert_string_equal(err_msg(&f.err), "node w1 holds a slot already");
    assert_int_equal(take(&f, "w3", "h3", 1), -EBUSY); /* a limit that was lowered */
    assert_int_equal(f.s.list.len, 2);
    assert_string_equal(f.s.list.p[0].node, "w1");
    done(&f);
}

/* A gate that is shut is written beside the one who waits, and nothing is granted against it. */
static void a_gate_keeps_the_grant(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    struct slot_wait wait = {"LastReplica", "x/pvc", "longhorn: it is here", T0};
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 1); /* nobody is there */
    ask(&f, "w1", T0);
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 0);
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 1);
    wait.since = T0 + SEC(9); /* the same, in other words: since when it was */
    wait.message = "longhorn: it is still here";
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 0);
    assert_non_null(strstr(text(&f), "\"wait\":{\"code\":\"LastReplica\",\"object\":\"x/pvc\","
                                     "\"message\":\"longhorn: it is still here\",\"since\":"
                                     "\"2025-11-16T08:00:00Z\"}"));
    take(&f, "w1", "h", 1); /* it has passed that one */
    assert_null(strstr(text(&f), "wait\":{"));
    assert_int_equal(slots_drained(&f.s, "h", "boot-1", T0, &f.arena, &f.err), 0);
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 0);
    assert_int_equal(slots_grant(&f.s, "h", T0, &f.err), -EBUSY);
    assert_non_null(strstr(err_msg(&f.err), "LastReplica"));
    assert_int_equal(slots_gate(&f.s, "w1", NULL, &f.arena), 0);
    assert_int_equal(slots_grant(&f.s, "h", T0, &f.err), 0);
    done(&f);
}

/* Whoever wrote it: that somebody waits is never read as that nobody does. */
static void a_gate_that_cannot_be_read_keeps_it_as_well(void **state) {
    (void)state;
    static const char *const waits[] = {"{}", "7", "{\"code\":1}", "{\"code\":\"FromTomorrow\"}"};
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        struct fixture f;
        begin(&f);
        _cleanup_free_ char *record = xasprintf(
            "{\"v\":1,\"fence\":1,\"slots\":[{\"id\":\"h\",\"node\":\"w1\",\"uid\":\"u\","
            "\"operation\":\"Reboot\",\"by\":\"fleetlock\",\"state\":\"drained\",\"boot\":\"b\","
            "\"wait\":%s}]}",
            waits[i]);
        assert_int_equal(slots_parse(view_of(record), &f.arena, &f.s, &f.err), 0);
        assert_int_equal(slots_grant(&f.s, "h", T0, &f.err), -EBUSY);
        done(&f);
    }
}

/* Of a long sentence as much as fits, in whole characters. */
static void a_gate_has_no_endless_words(void **state) {
    (void)state;
    struct fixture f;
    struct slots back;
    char words[2001];
    begin(&f);
    ask(&f, "w1", T0);
    for (size_t i = 0; i + 2 < sizeof words; i += 2)
        memcpy(words + i, "\xc3\xa9", 2);
    words[1] = words[0] = 'x'; /* so that the cut is within one */
    words[2] = 'y';
    words[3] = 'z';
    words[2000] = '\0';
    struct slot_wait wait = {"QuorumAtRisk", "", words, T0};
    assert_int_equal(slots_gate(&f.s, "w1", &wait, &f.arena), 0);
    assert_int_equal(slots_parse(view_of(text(&f)), &f.arena, &back, &f.err), 0);
    assert_string_equal(back.waiting.p[0].wait.message, f.s.waiting.p[0].wait.message);
    assert_true(strlen(back.waiting.p[0].wait.message) > 250);
    slots_done(&back);
    done(&f);
}

static void a_later_leader_stays(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(slots_adopt(&f.s, 3, &f.err), 0);
    assert_int_equal(slots_adopt(&f.s, 3, &f.err), 1);
    assert_int_equal(slots_adopt(&f.s, 2, &f.err), -ESTALE);
    assert_int_equal(f.s.fence, 3);
    done(&f);
}

static void who_asks_no_more_waits_no_more(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(ask(&f, "w3", T0), 0);
    assert_int_equal(ask(&f, "w1", T0 + SEC(10)), 0);
    assert_int_equal(ask(&f, "w2", T0 + SEC(20)), 0);
    assert_string_equal(f.s.waiting.p[0].node, "w1"); /* by name: the first goes next */
    assert_int_equal(slots_forget(&f.s, T0), 1);
    assert_int_equal(slots_forget(&f.s, T0 + SEC(15)), 0);
    assert_int_equal(f.s.waiting.len, 1);
    assert_non_null(slots_waits(&f.s, "w2"));
    done(&f);
}

static void one_may_wait_no_longer(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(ask(&f, "w1", T0), 0);
    assert_int_equal(ask(&f, "w2", T0), 0);
    assert_int_equal(ask(&f, "w3", T0), 0);
    assert_int_equal(slots_withdraw(&f.s, "w2"), 0);
    assert_int_equal(slots_withdraw(&f.s, "w2"), 1);
    assert_int_equal(f.s.waiting.len, 2);
    assert_non_null(slots_waits(&f.s, "w1"));
    assert_non_null(slots_waits(&f.s, "w3"));
    done(&f);
}

static void hostile_records(void **state) {
    (void)state;
    static const struct {
        const char *record;
        int code;
        const char *message;
    } cases[] = {
        {"x", -EINVAL, "this is no record of slots"},
        {"[]", -EINVAL, "this is no record of slots"},
        {"{\"v\":\"1\"}", -EINVAL, "this is no record of slots"},
        {"{\"v\":2,\"fence\":1,\"slots\":[]}", -ENOTSUP,
         "the record of slots is of version 2, this program knows version 1"},
        {"{\"v\":1,\"slots\":[]}", -EINVAL, "the record of slots cannot be used: it has no fence"},
        {"{\"v\":1,\"fence\":-1,\"slots\":[]}", -EINVAL,
         "the record of slots cannot be used: it has no fence"},
        {"{\"v\":1,\"fence\":4294967296,\"slots\":[]}", -EINVAL,
         "the record of slots cannot be used: it has no fence"},
        {"{\"v\":1,\"fence\":1}", -EINVAL,
         "the record of slots cannot be used: it has no list of slots"},
        {"{\"v\":1,\"fence\":1,\"slots\":[1]}", -EINVAL,
         "the record of slots cannot be used: a slot does not say who holds it"},
#define SLOT(node, more)                                                                           \
    "{\"id\":\"h\",\"node\":\"" node                                                               \
    "\",\"uid\":\"u\",\"operation\":\"Reboot\",\"by\":\"x\"," more "}"
        {"{\"v\":1,\"fence\":1,\"slots\":[" SLOT("w", "\"state\":\"new\"") "]}", -EINVAL,
         "the record of slots cannot be used: a slot is in a state that is not known"},
        {"{\"v\":1,\"fence\":1,\"slots\":[" SLOT("w", "\"state\":\"granted\"") "]}", -EINVAL,
         "the record of slots cannot be used: a slot is drained in no boot"},
        {"{\"v\":1,\"fence\":1,\"slots\":[" SLOT("w", "\"state\":\"taken\",\"since\":5") "]}",
         -EINVAL, "the record of slots cannot be used: a slot has a time that is none"},
        {"{\"v\":1,\"fence\":1,\"slots\":[" SLOT("w", "\"state\":\"taken\"") "," SLOT(
             "w", "\"state\":\"taken\"") "]}",
         -EINVAL, "the record of slots cannot be used: a node holds two slots"},
        {"{\"v\":1,\"fence\":1,\"slots\":[],\"waiting\":[{\"node\":\"w\"}]}", -EINVAL,
         "the record of slots cannot be used: it does not say who waits"},
        {"{\"v\":1,\"v\":1,\"fence\":1,\"slots\":[]}", -EINVAL, "this is no record of slots"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        begin(&f);
        assert_int_equal(slots_parse(view_of(cases[i].record), &f.arena, &f.s, &f.err),
                         cases[i].code);
        assert_string_equal(err_msg(&f.err), cases[i].message);
        assert_int_equal(f.s.list.len + f.s.waiting.len, 0);
        done(&f);
    }
    struct fixture f;
    begin(&f);
    assert_int_equal(slots_parse(view_of(""), &f.arena, &f.s, &f.err), 0);
    assert_int_equal(f.s.fence, 0);
    done(&f);
}

/* What was written is read as the same, whatever was done before. */
static void random_changes_survive_writing_and_reading(void **state) {
    (void)state;
    static const char *const nodes[] = {"a", "b", "c", "d", "e"};
    struct prng random = {7};
    struct fixture f;
    begin(&f);
    unsigned granted = 0, freed = 0;
    for (unsigned i = 0; i < 20000; i++) {
        const char *node = nodes[prng_range(&random, 0, 5)];
        const struct slot *slot = slots_holder(&f.s, node);
        const char *id = slot ? slot->id : "none";
        int64_t now = T0 + SEC(i);
        switch (prng_range(&random, 0, 10)) {
        case 0:
            ask(&f, node, now);
            break;
        case 1:
        case 7:
            take(&f, node, arena_printf(&f.arena, "h%u", i), 3);
            break;
        case 2:
        case 8:
            granted += slots_grant(&f.s, id, now, &f.err) == 0;
            break;
        case 5:
        case 6:
            slots_drained(&f.s, id, "b", T0, &f.arena, &f.err);
            break;
        case 3:
            slots_report(&f.s, node, now);
            break;
        case 4:
            slots_return(&f.s, id, &f.err);
            break;
        default:
            freed += slots_free(&f.s, id, &f.err) == 0;
        }
        assert_true(f.s.list.len <= 3);
        const char *before = text(&f);
        struct slots again;
        assert_int_equal(slots_parse(view_of(before), &f.arena, &again, &f.err), 0);
        slots_done(&f.s);
        f.s = again;
        assert_string_equal(text(&f), before);
    }
    assert_true(granted > 100 && freed > 100);
    done(&f);
}

/* What the functions do is what the table says. */
static void no_holding_goes_another_way(void **state) {
    (void)state;
    for (unsigned from = 0; from < SLOT_STATES; from++) {
        struct slot slot = {.id = "s1",
                            .node = "w1",
                            .uid = "u",
                            .operation = "Reboot",
                            .by = SLOTS_BY_CLIENT,
                            .state = (enum slot_state)from,
                            .boot = from > SLOT_TAKEN ? "b1" : ""};
        for (unsigned act = 0; act < 5; act++) {
            _cleanup_arena_ struct arena arena = ARENA_INIT;
            struct slots s = SLOTS_INIT;
            *vec_push(&s.list) = slot;
            int rc = act == 0   ? slots_drained(&s, "s1", "b1", T0, &arena, NULL)
                     : act == 1 ? slots_grant(&s, "s1", 1, NULL)
                     : act == 2 ? slots_return(&s, "s1", NULL)
                     : act == 3 ? slots_free(&s, "s1", NULL)
                                : slots_report(&s, "w1", 1);
            unsigned to = s.list.len ? s.list.p[0].state : SLOT_STATES;
            assert_int_equal(rc == 0, to != from);
            if (to != from)
                assert_true(slot_can((enum slot_state)from, (enum slot_state)to));
            slots_done(&s);
        }
    }
    assert_true(slot_can(SLOT_STATES, SLOT_TAKEN));
    assert_false(slot_can(SLOT_TAKEN, SLOT_GRANTED));
}

/* What is written can be read, however long its name. */
static void the_longest_name(void **state) {
    (void)state;
    struct fixture f;
    struct slots again = SLOTS_INIT;
    char by[12 + 253 + 1] = "maintenance/", node[253 + 1] = "";
    memset(by + 12, 'm', 253);
    memset(node, 'n', 253);
    begin(&f);
    struct slot slot = {
        .id = "h1", .node = node, .uid = "u1", .operation = "Drain", .by = by, .since = T0};
    assert_int_equal(slots_take(&f.s, &slot, 1, &f.arena, &f.err), 0);
    assert_int_equal(slots_parse(view_of(text(&f)), &f.arena, &again, &f.err), 0);
    assert_string_equal(again.list.p[0].by, by);
    slots_done(&again);
    done(&f);
}

/* A newer release has added members; what this one changes beside them stays as it was. */
static void what_a_newer_release_has_added_is_kept(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    const char *record =
        "{\"v\":1,\"fence\":7,\"slots\":[{\"id\":\"h1\",\"node\":\"w1\",\"uid\":\"u1\","
        "\"operation\":\"Reboot\",\"by\":\"fleetlock\",\"state\":\"taken\","
        "\"since\":\"2025-11-16T08:00:00Z\",\"zone\":{\"name\":\"a\"}}],"
        "\"waiting\":[{\"node\":\"w2\",\"operation\":\"Reboot\",\"by\":\"fleetlock\","
        "\"since\":\"2025-11-16T08:00:00Z\",\"asked\":\"2025-11-16T08:00:00Z\","
        "\"urgent\":true}],\"epoch\":3}";
    assert_int_equal(slots_parse(view_of(record), &f.arena, &f.s, &f.err), 0);
    assert_string_equal(text(&f), record);
    assert_int_equal(slots_adopt(&f.s, 8, &f.err), 0);
    assert_int_equal(slots_drained(&f.s, "h1", "b1", T0, &f.arena, &f.err), 0);
    assert_int_equal(slots_grant(&f.s, "h1", T0, &f.err), 0);
    assert_int_equal(ask(&f, "w2", T0 + SEC(3600)), 0);
    assert_int_equal(take(&f, "w3", "h3", 5), 0);
    const char *after = text(&f);
    assert_non_null(
        strstr(after, "\"granted\":\"2025-11-16T08:00:00Z\",\"zone\":{\"name\":\"a\"}}"));
    assert_non_null(strstr(after, "\"asked\":\"2025-11-16T09:00:00Z\",\"urgent\":true}"));
    assert_non_null(strstr(after, "],\"epoch\":3}"));
    assert_int_equal(slots_return(&f.s, "h1", &f.err), 0);
    assert_int_equal(slots_free(&f.s, "h1", &f.err), 0);
    assert_null(strstr(text(&f), "zone")); /* it was that slot's */
    done(&f);
}

/* However many wait, and whatever their gates say: those who hold find room in the object. */
static void only_so_many_are_written_who_wait(void **state) {
    (void)state;
    struct fixture f = {.s = SLOTS_INIT};
    char name[256], text[2048];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = SLOTS_WAITING * 2; i-- > 0;) {
        (void)snprintf(name, sizeof name, "w%0251d", i);
        assert_int_equal(ask(&f, name, T0), 0);
        const struct slot_wait wait = {.code = "GateShut", .object = text, .message = text};
        assert_int_equal(slots_gate(&f.s, name, &wait, &f.arena), 0);
    }
    assert_int_equal(f.s.waiting.len, SLOTS_WAITING);
    assert_string_equal(f.s.waiting.p[SLOTS_WAITING - 1].node + 252 - 4, "0399");
    assert_int_equal(ask(&f, name, T0), 1);
    (void)snprintf(name, sizeof name, "w%0251d", SLOTS_WAITING);
    assert_int_equal(ask(&f, name, T0), 1); /* it asks again */
    assert_null(slots_waits(&f.s, name));
    _cleanup_str_ struct str json = STR_INIT;
    slots_write(&f.s, &json);
    assert_true(json.len < 600 << 10);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_so_many_are_written_who_wait),
        cmocka_unit_test(the_record_as_the_header_shows_it),
        cmocka_unit_test(the_longest_name),
        cmocka_unit_test(what_a_newer_release_has_added_is_kept),
        cmocka_unit_test(a_holding_from_its_beginning_to_its_end),
        cmocka_unit_test(no_holding_goes_another_way),
        cmocka_unit_test(one_who_was_granted_nothing_reports),
        cmocka_unit_test(whoever_reports_waits_no_longer),
        cmocka_unit_test(a_holder_that_asks_on),
        cmocka_unit_test(one_that_may_have_been_granted),
        cmocka_unit_test(never_more_than_the_limit),
        cmocka_unit_test(a_gate_keeps_the_grant),
        cmocka_unit_test(a_gate_that_cannot_be_read_keeps_it_as_well),
        cmocka_unit_test(a_gate_has_no_endless_words),
        cmocka_unit_test(a_later_leader_stays),
        cmocka_unit_test(who_asks_no_more_waits_no_more),
        cmocka_unit_test(one_may_wait_no_longer),
        cmocka_unit_test(hostile_records),
        cmocka_unit_test(random_changes_survive_writing_and_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
