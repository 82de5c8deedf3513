/* Tests of controller/events.c. */
#include "controller/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/reason.h"

struct fixture {
    struct events *events;
    struct str sent; /* "create Node/w1 SlotTaken" and so on, a line each */
    char *name;      /* of the last */
    unsigned dropped;
    struct now now;
};

static const char *text_at(const json_t *doc, const char *key) {
    return strna(json_string_value(json_object_get(doc, key)));
}

static void on_send(void *arg, const struct action *a) {
    struct fixture *f = arg;
    _cleanup_json_ json_t *doc = json_loads(a->body, 0, NULL);
    assert_non_null(doc);
    assert_true(a->minor && a->kind == &kind_event && streq(a->ns, "default"));
    if (a->verb == ACTION_PATCH) {
        assert_string_equal(a->name, f->name);
        str_addf(&f->sent, "again %lld\n",
                 (long long)json_integer_value(json_object_get(doc, "count")));
        return;
    }
    const json_t *about = json_object_get(doc, "involvedObject");
    str_replace(&f->name, a->name);
    str_addf(&f->sent, "%s/%s/%s %s %s\n", text_at(about, "kind"), text_at(about, "name"),
             text_at(about, "uid"), text_at(doc, "type"), text_at(doc, "reason"));
}

static void on_dropped(void *arg) {
    ((struct fixture *)arg)->dropped++;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->now = (struct now){SEC(1000), SEC(1794729600)};
    f->events = events_new(
        &(struct events_opts){.by = "me", .send = on_send, .dropped = on_dropped, .arg = f});
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    events_free(f->events);
    str_done(&f->sent);
    free(f->name);
    free(f);
    return 0;
}

static void pass(struct fixture *f, int64_t usec) {
    f->now.mono += usec;
    f->now.wall += usec;
}

static void tell(struct fixture *f, const char *maintenance, const char *reason, bool warning) {
    struct keeper_note n = {.policy = "p",
                            .node = "w1",
                            .maintenance = maintenance,
                            .reason = reason,
                            .text = "does something",
                            .warning = warning};
    events_note(f->events, &n, maintenance ? "uid-m" : "", f->now);
}

static void where_they_are(void **state) {
    struct fixture *f = *state;
    tell(f, NULL, REASON_SLOT_TAKEN, false);
    tell(f, NULL, REASON_DRAINED, false); /* the drain has told that */
    tell(f, "m1", "OperationBegun", false);
    tell(f, "m1", "OperationFailed", true);
    assert_string_equal(str_get(&f->sent), "Node/w1/w1 Normal SlotTaken\n"
                                           "Maintenance/m1/uid-m Normal OperationBegun\n"
                                           "Maintenance/m1/uid-m Warning OperationFailed\n"
                                           "Node/w1/w1 Warning OperationFailed\n");
    str_reset(&f->sent);
    struct keeper_note n = {
        .node = "w1", .maintenance = "gone", .reason = "NodeGone", .text = "x", .warning = true};
    events_note(f->events, &n, "", f->now); /* its object is not known any more */
    assert_string_equal(str_get(&f->sent), "Node/w1/w1 Warning NodeGone\n");
}

static void the_same_again(void **state) {
    struct fixture *f = *state;
    tell(f, NULL, REASON_GRANTED, false);
    pass(f, SEC(60));
    tell(f, NULL, REASON_GRANTED, false);
    pass(f, EVENTS_SAME - SEC(1)); /* since the last one */
    tell(f, NULL, REASON_GRANTED, false);
    pass(f, EVENTS_SAME + SEC(1));
    tell(f, NULL, REASON_GRANTED, false);
    assert_string_equal(str_get(&f->sent),
                        "Node/w1/w1 Normal Granted\nagain 2\nagain 3\nNode/w1/w1 Normal Granted\n");
}

/* A storm is told of in part; then it goes on. */
static void so_many_at_a_time(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < EVENTS_BURST + 7; i++)
        tell(f, NULL, REASON_GRANTED, false);
    assert_int_equal(f->dropped, 7);
    pass(f, SEC(2));
    for (int i = 0; i < 2 * EVENTS_RATE + 1; i++)
        tell(f, NULL, REASON_GRANTED, false);
    assert_int_equal(f->dropped, 8);
}

/* More different ones than are remembered: the oldest is forgotten, nothing else. */
static void many_different_ones(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 300; i++) {
        _cleanup_free_ char *node = xasprintf("n%d", i);
        struct keeper_note n = {.node = node, .reason = REASON_STEADY, .text = "x"};
        events_note(f->events, &n, "", f->now);
        pass(f, SEC(1));
    }
    str_reset(&f->sent);
    struct keeper_note n = {.node = "n299", .reason = REASON_STEADY, .text = "x"};
    events_note(f->events, &n, "", f->now);
    assert_string_equal(str_get(&f->sent), "again 2\n");
    n.node = "n1";
    events_note(f->events, &n, "", f->now);
    assert_string_equal(str_get(&f->sent), "again 2\nNode/n1/n1 Normal Steady\n");
}

int main(void) {
#define EVENTS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EVENTS_TEST(where_they_are),
        EVENTS_TEST(the_same_again),
        EVENTS_TEST(so_many_at_a_time),
        EVENTS_TEST(many_different_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
