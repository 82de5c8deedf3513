/* Tests of src/cli/drain_lines.c. What is expected was printed by kubectl 1.36.3, but for the lines
 * that are ours. */
#include "cli/drain_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define NOW SEC(1794700800) /* 2026-11-15 00:00:00 UTC */

struct said {
    struct str out, err;
};

static void tell(struct said *s, struct drain_lines *l, const struct drain_note *note) {
    s->out = s->err = STR_INIT;
    drain_lines_note(l, note, &s->out, &s->err);
}

static void expect(struct said *s, const char *out, const char *err) {
    assert_string_equal(str_get(&s->out), out);
    assert_string_equal(str_get(&s->err), err);
    str_done(&s->out);
    str_done(&s->err);
}

static void what_happens_to_nodes_and_pods(void **state) {
    (void)state;
    struct drain_node n = {.name = "w1", .phase = DRAIN_DONE};
    struct drain_pod p = {.ns = "shop", .name = "web-1"};
    struct drain_pod deleted = {.ns = "shop", .name = "web-1", .deleted = true};
    /* For no dry run, a client's and a server's. */
    const struct {
        struct drain_note note;
        const char *none, *client, *server;
    } cases[] = {
        {{.kind = NOTE_CORDONED, .node = &n},
         "node/w1 cordoned\n",
         "node/w1 cordoned (dry run)\n",
         "node/w1 cordoned (server dry run)\n"},
        {{.kind = NOTE_ALREADY_CORDONED, .node = &n},
         "node/w1 already cordoned\n",
         "node/w1 already cordoned (dry run)\n",
         "node/w1 already cordoned (server dry run)\n"},
        {{.kind = NOTE_UNCORDONED, .node = &n},
         "node/w1 uncordoned\n",
         "node/w1 uncordoned (dry run)\n",
         "node/w1 uncordoned (server dry run)\n"},
        {{.kind = NOTE_POD_EVICTING, .node = &n, .pod = &p},
         "evicting pod shop/web-1\n",
         "evicting pod shop/web-1 (dry run)\n",
         "evicting pod shop/web-1 (server dry run)\n"},
        {{.kind = NOTE_POD_DELETING, .node = &n, .pod = &deleted},
         "",
         "evicting pod shop/web-1 (dry run)\n",
         "deleting pod shop/web-1 (server dry run)\n"},
        {{.kind = NOTE_POD_GONE, .node = &n, .pod = &p}, "pod/web-1 evicted\n", "", ""},
        {{.kind = NOTE_POD_GONE, .node = &n, .pod = &deleted}, "pod/web-1 deleted\n", "", ""},
        {{.kind = NOTE_PHASE, .node = &n, .before = DRAIN_EVICTING},
         "node/w1 drained\n",
         "node/w1 drained (dry run)\n",
         "node/w1 drained (server dry run)\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct said s;
        tell(&s, &(struct drain_lines){.dry_run = DRY_RUN_NONE}, &cases[i].note);
        expect(&s, cases[i].none, "");
        tell(&s, &(struct drain_lines){.dry_run = DRY_RUN_CLIENT}, &cases[i].note);
        expect(&s, cases[i].client, "");
        tell(&s, &(struct drain_lines){.dry_run = DRY_RUN_SERVER}, &cases[i].note);
        expect(&s, cases[i].server, "");
    }
}

static void with_v2_the_start_is_told(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {.started = true};
    struct drain_pod p = {.ns = "shop", .name = "web-1"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_POD_EVICTING, .pod = &p});
    expect(&s, "pod/web-1 eviction started\nevicting pod shop/web-1\n", "");
    tell(&s, &l, &(struct drain_note){.kind = NOTE_POD_DELETING, .pod = &p});
    expect(&s, "pod/web-1 deletion started\n", "");
    l.dry_run = DRY_RUN_SERVER;
    tell(&s, &l, &(struct drain_note){.kind = NOTE_POD_EVICTING, .pod = &p});
    expect(&s, "evicting pod shop/web-1 (server dry run)\n", "");
}

static void pods_that_are_not_waited_for(void **state) {
    (void)state;
    struct said s;
    struct drain_pod p = {.ns = "shop", .name = "web-1"};
    tell(&s, &(struct drain_lines){.skip_wait = 30},
         &(struct drain_note){.kind = NOTE_POD_SKIPPED_WAIT, .pod = &p});
    expect(&s, "pod \"web-1\" has DeletionTimestamp older than 30 seconds, skipping\n", "");
}

static void warnings_and_refusals(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {0};
    struct drain_node n = {
        .name = "w1",
        .phase = DRAIN_REFUSED,
        .error = "cannot delete Pods that declare no controller (use --force to override): "
                 "default/bare"};
    tell(&s, &l,
         &(struct drain_note){.kind = NOTE_WARNINGS,
                              .node = &n,
                              .text = "ignoring DaemonSet-managed Pods: kube-system/agent-x"});
    expect(&s, "", "Warning: ignoring DaemonSet-managed Pods: kube-system/agent-x\n");
    tell(&s, &l, &(struct drain_note){.kind = NOTE_CORDON_FAILED, .node = &n, .text = "no"});
    expect(&s, "", "error: unable to cordon node \"w1\": no\n");
    tell(&s, &l, &(struct drain_note){.kind = NOTE_PHASE, .node = &n, .before = DRAIN_CHECKING});
    expect(&s, "",
           "error: unable to drain node \"w1\" due to error: cannot delete Pods that declare no "
           "controller (use --force to override): default/bare, continuing command...\n");
}

static void only_ends_are_told_of_phases(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {0};
    static const enum drain_phase phases[] = {DRAIN_WAITING,  DRAIN_CORDONING, DRAIN_CHECKING,
                                              DRAIN_EVICTING, DRAIN_DETACHING, DRAIN_RETURNING,
                                              DRAIN_UNDOING,  DRAIN_STOPPED};
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        struct drain_node n = {.name = "w1", .phase = phases[i]};
        tell(&s, &l, &(struct drain_note){.kind = NOTE_PHASE, .node = &n});
        expect(&s, "", "");
    }
}

static void what_remains_is_listed_with_reason_and_since(void **state) {
    (void)state;
    struct said s;
    struct drain_pod blocked = {.ns = "shop",
                                .name = "web-1",
                                .state = DRAIN_POD_BLOCKED,
                                .blocked = true,
                                .blocker = {.code = BLOCKER_PDB_NO_BUDGET,
                                            .kind = "PodDisruptionBudget",
                                            .object = "shop/web",
                                            .message = "needs 3 healthy pods, has 3",
                                            .since = NOW - SEC(380)},
                                .first_try = NOW - SEC(400)};
    struct drain_pod leaving = {.ns = "db",
                                .name = "pg-0",
                                .state = DRAIN_POD_LEAVING,
                                .first_try = NOW - SEC(45),
                                .accepted = NOW - SEC(45)};
    struct drain_pod queued = {.ns = "db", .name = "pg-1", .state = DRAIN_POD_QUEUED};
    struct drain_pod gone = {.ns = "db", .name = "pg-2", .state = DRAIN_POD_GONE};
    struct drain_pod stays = {.ns = "kube-system", .name = "agent", .state = DRAIN_POD_STAYS};
    struct drain_pod *pods[] = {&queued, &leaving, &gone, &stays, &blocked};
    struct drain_node n = {.name = "w1",
                           .phase = DRAIN_TIMED_OUT,
                           .error = "not drained within 10m",
                           .pods = pods,
                           .n_pods = ARRAY_LEN(pods)};
    tell(&s, &(struct drain_lines){0},
         &(struct drain_note){.kind = NOTE_PHASE, .node = &n, .time = NOW});
    assert_string_equal(str_get(&s.out), "");
    const char *err = str_get(&s.err);
    assert_true(str_starts(err, "There are pending pods in node \"w1\" when an error occurred: not "
                                "drained within 10m\n"));
    assert_non_null(strstr(err, "\nshop/web-1  PDBNoBudget shop/web: needs 3 healthy pods, has 3  "
                                "6m20s\n"));
    assert_non_null(strstr(err, "\ndb/pg-0  is terminating  45s\n"));
    assert_non_null(strstr(err, "\ndb/pg-1  "));
    assert_non_null(strstr(err, "  -\n"));
    assert_null(strstr(err, "pg-2"));
    assert_null(strstr(err, "agent"));
    assert_true(str_ends(err, "\nerror: unable to drain node \"w1\" due to error: not drained "
                              "within 10m, continuing command...\n"));
    str_done(&s.out);
    str_done(&s.err);
}

static void what_waits_is_told_once(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {0};
    struct drain_node n = {.name = "w1"};
    struct drain_pod p = {.ns = "shop", .name = "web-1"};
    struct drain_blocker b = {.code = BLOCKER_PDB_NO_BUDGET,
                              .object = "shop/web",
                              .message = "needs 3 healthy pods, has 3"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &n, .pod = &p, .blocker = &b});
    expect(&s, "", "pod shop/web-1 waits: PDBNoBudget shop/web: needs 3 healthy pods, has 3\n");
    tell(&s, &l,
         &(struct drain_note){.kind = NOTE_UNBLOCKED, .node = &n, .pod = &p, .blocker = &b});
    expect(&s, "", "");
    b.code = BLOCKER_VOLUME_ATTACHED;
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &n, .blocker = &b});
    assert_true(str_starts(str_get(&s.err), "node w1 waits: "));
    str_done(&s.err);
    /* Where waiting is of no use, what is. */
    b = (struct drain_blocker){
        .code = BLOCKER_MULTIPLE_PDBS, .object = "shop/web-1", .message = "a and b select it"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &n, .pod = &p, .blocker = &b});
    expect(
        &s, "",
        "pod shop/web-1 waits: MultiplePDBs: a and b select it; change the selectors so that one "
        "PodDisruptionBudget is left for the pod\n");
    /* What passes by itself waits as well. */
    b = (struct drain_blocker){.code = BLOCKER_RATE_LIMITED, .object = "", .message = "too many"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &n, .pod = &p, .blocker = &b});
    expect(&s, "", "pod shop/web-1 waits: RateLimited: too many\n");
    /* Who is read about is named once in a line. */
    b = (struct drain_blocker){
        .code = BLOCKER_JOB_RUNNING, .object = "shop/web-1", .message = "it shall finish"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &n, .pod = &p, .blocker = &b});
    expect(&s, "", "pod shop/web-1 waits: JobRunning: it shall finish\n");
}

/* Forty nodes that wait for the same room are one piece of news. */
static void that_nodes_wait_for_their_turn_is_told_once(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {0};
    struct drain_node a = {.name = "w1"}, c = {.name = "w2"};
    struct drain_blocker b = {
        .code = BLOCKER_MAX_UNAVAILABLE, .object = "", .message = "3 of 3 nodes are out"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &a, .blocker = &b});
    expect(&s, "", "node w1 waits: MaxUnavailableReached: 3 of 3 nodes are out\n");
    tell(&s, &l, &(struct drain_note){.kind = NOTE_BLOCKED, .node = &c, .blocker = &b});
    expect(&s, "", "");
}

static void the_rest_says_what_it_is_about(void **state) {
    (void)state;
    struct said s;
    struct drain_lines l = {0};
    struct drain_node n = {.name = "w1"};
    struct drain_pod p = {.ns = "shop", .name = "web-1"};
    tell(&s, &l, &(struct drain_note){.kind = NOTE_REMARK, .text = "hello"});
    expect(&s, "", "hello\n");
    tell(&s, &l, &(struct drain_note){.kind = NOTE_REMARK, .node = &n, .text = "hello"});
    expect(&s, "", "node w1: hello\n");
    tell(&s, &l,
         &(struct drain_note){.kind = NOTE_SURGE, .node = &n, .pod = &p, .text = "scaled to 2"});
    expect(&s, "", "pod shop/web-1: scaled to 2\n");
    tell(&s, &l,
         &(struct drain_note){
             .kind = NOTE_POD_LATE, .node = &n, .pod = &p, .text = "spec.nodeName"});
    expect(&s, "", "pod shop/web-1 came to node w1 after the cordon: spec.nodeName\n");
}

static void foreign_text_stays_on_its_line(void **state) {
    (void)state;
    struct said s;
    struct drain_node n = {.name = "w1", .phase = DRAIN_FAILED, .error = "a\nb\033[2J%s%n"};
    tell(&s, &(struct drain_lines){0}, &(struct drain_note){.kind = NOTE_PHASE, .node = &n});
    const char *err = str_get(&s.err);
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
    assert_null(strchr(err, '\033'));
    assert_non_null(strstr(err, "%s%n"));
    str_done(&s.out);
    str_done(&s.err);
}

/* --- the end --- */

static void nodes_that_are_left(void **state) {
    (void)state;
    struct drain_node a = {.name = "w1", .phase = DRAIN_REFUSED, .error = "cannot delete x"};
    struct drain_node b = {.name = "w2", .phase = DRAIN_DONE};
    struct drain_node c = {.name = "w3", .phase = DRAIN_TIMED_OUT, .error = "too late"};
    const struct drain_node *all[] = {&a, &b, &c};
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_end(all, 3, &err);
    assert_string_equal(str_get(&err), "There are pending nodes to be drained:\n w1\n w3\n"
                                       "cannot delete x\ntoo late\n");
    str_reset(&err);
    drain_lines_end(&all[1], 1, &err);
    assert_string_equal(str_get(&err), "");
}

static void an_error_of_several_parts(void **state) {
    (void)state;
    struct drain_node a = {.name = "w1",
                           .phase = DRAIN_REFUSED,
                           .error = "[cannot delete A: x, y, cannot delete B: z]"};
    struct drain_node b = {.name = "w2", .phase = DRAIN_REFUSED, .error = "cannot delete C: [c]"};
    const struct drain_node *all[] = {&a, &b};
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_end(all, 1, &err);
    assert_string_equal(str_get(&err), "There are pending nodes to be drained:\n w1\n"
                                       "cannot delete A: x, y\ncannot delete B: z\n");
    str_reset(&err);
    drain_lines_end(all, 2, &err);
    assert_string_equal(str_get(&err), "There are pending nodes to be drained:\n w1\n w2\n"
                                       "[cannot delete A: x, y, cannot delete B: z]\n"
                                       "cannot delete C: [c]\n");
}

static void after_an_interruption(void **state) {
    (void)state;
    struct drain_pod gone = {.state = DRAIN_POD_GONE, .first_try = NOW};
    struct drain_pod left = {.state = DRAIN_POD_BLOCKED};
    struct drain_pod *pods[] = {&gone, &left};
    struct drain_node a = {
        .name = "w1", .phase = DRAIN_STOPPED, .cordoned_by_us = true, .pods = pods, .n_pods = 2};
    struct drain_node b = {.name = "w2", .phase = DRAIN_DONE, .cordoned_by_us = true};
    struct drain_node c = {.name = "w3", .phase = DRAIN_STOPPED};
    const struct drain_node *all[] = {&a, &b, &c};
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_stopped(all, 3, "slipway uncordon", "slipway drain w1 w2 w3", &err);
    assert_string_equal(str_get(&err), "Stopped: 1 of 3 nodes drained, 1 pod evicted, 1 left\n"
                                       "To go on:  slipway drain w1 w2 w3\n"
                                       "To undo:   slipway uncordon 'w[1-2]'\n");
    str_reset(&err);
    drain_lines_stopped(&all[2], 1, "slipway uncordon", "slipway drain w3", &err);
    assert_string_equal(str_get(&err), "Stopped: 0 of 1 node drained, 0 pods evicted, 0 left\n"
                                       "To go on:  slipway drain w3\n");
    str_reset(&err);
    a.cordoned_by_us = false; /* uncordoned again */
    drain_lines_stopped(all, 3, "slipway uncordon", "slipway drain w1 w2 w3", &err);
    assert_true(str_ends(str_get(&err), "\nTo undo:   slipway uncordon w2\n"));
}

/* Whatever may be cordoned by now, and by nobody else before us. */
static void an_end_without_waiting(void **state) {
    (void)state;
    struct drain_node nodes[] = {
        {.name = "w1", .phase = DRAIN_EVICTING, .cordoned_by_us = true},
        {.name = "w2", .phase = DRAIN_CORDONING},
        {.name = "w3", .phase = DRAIN_CORDONING, .was_cordoned = true},
        {.name = "w4", .phase = DRAIN_UNDOING, .cordoned_by_us = true},
        {.name = "w5", .phase = DRAIN_STOPPED}, /* uncordoned again */
        {.name = "w6", .phase = DRAIN_DONE, .cordoned_by_us = true},
        {.name = "w7", .phase = DRAIN_WAITING},
    };
    const struct drain_node *all[ARRAY_LEN(nodes)];
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        all[i] = &nodes[i];
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_at_once(all, ARRAY_LEN(nodes), false, "slipway uncordon --context x", &err);
    assert_string_equal(str_get(&err), "ended at once: up to 4 nodes are still cordoned; to undo: "
                                       "slipway uncordon --context x 'w[1-2,4,6]'\n");
    str_reset(&err);
    drain_lines_at_once(all, ARRAY_LEN(nodes), true, "slipway uncordon", &err);
    assert_string_equal(str_get(&err), "ended at once: up to 5 nodes are still cordoned; to undo: "
                                       "slipway uncordon 'w[1-2,4,6-7]'\n");
    str_reset(&err);
    drain_lines_at_once(all, 1, false, "slipway uncordon", &err);
    assert_string_equal(str_get(&err), "ended at once: up to 1 node is still cordoned; to undo: "
                                       "slipway uncordon w1\n");
    str_reset(&err);
    drain_lines_at_once(&all[6], 1, false, "slipway uncordon", &err);
    assert_string_equal(str_get(&err), "ended at once: no node is left cordoned by it\n");
}

static void pods_are_deleted_or_evicted(void **state) {
    (void)state;
    struct drain_pod evicted = {.state = DRAIN_POD_GONE, .first_try = NOW};
    struct drain_pod deleted = {.state = DRAIN_POD_GONE, .first_try = NOW, .deleted = true};
    struct drain_pod *pods[] = {&deleted, &deleted, &evicted};
    struct drain_node n = {.name = "w1", .phase = DRAIN_STOPPED, .pods = pods, .n_pods = 2};
    const struct drain_node *all[] = {&n};
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_stopped(all, 1, "", "again", &err);
    assert_string_equal(str_get(&err), "Stopped: 0 of 1 node drained, 2 pods deleted, 0 left\n"
                                       "To go on:  again\n");
    n.n_pods = 3;
    str_reset(&err);
    drain_lines_stopped(all, 1, "", "again", &err);
    assert_string_equal(str_get(&err), "Stopped: 0 of 1 node drained, 1 pod evicted, 2 deleted, "
                                       "0 left\nTo go on:  again\n");
}

/* kubectl 1.36.3 with a user that may not list pods. */
static void nothing_could_be_begun(void **state) {
    (void)state;
    static const char *const names[] = {"node-0", "node-1"};
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_refused(names, 2, "pods is forbidden", &err);
    assert_string_equal(str_get(&err),
                        "error: unable to drain node \"node-0\" due to error: pods is forbidden, "
                        "continuing command...\n"
                        "error: unable to drain node \"node-1\" due to error: pods is forbidden, "
                        "continuing command...\n"
                        "There are pending nodes to be drained:\n node-0\n node-1\n"
                        "pods is forbidden\npods is forbidden\n");
    str_reset(&err);
    drain_lines_refused(names, 1, "pods is forbidden", &err);
    assert_string_equal(str_get(&err),
                        "error: unable to drain node \"node-0\" due to error: pods is forbidden, "
                        "continuing command...\n"
                        "There are pending nodes to be drained:\n node-0\n");
}

static void exit_codes(void **state) {
    (void)state;
    static const struct {
        enum drain_phase a, b;
        bool access; /* of b */
        enum exit_code code;
    } cases[] = {
        {DRAIN_DONE, DRAIN_DONE, false, EXIT_DONE},
        {DRAIN_DONE, DRAIN_REFUSED, false, EXIT_PARTIAL},
        {DRAIN_TIMED_OUT, DRAIN_DONE, false, EXIT_BLOCKED},
        {DRAIN_DONE, DRAIN_TIMED_OUT, false, EXIT_BLOCKED},
        {DRAIN_DONE, DRAIN_STOPPED, false, EXIT_PARTIAL},
        {DRAIN_DONE, DRAIN_FAILED, true, EXIT_PARTIAL},
        {DRAIN_TIMED_OUT, DRAIN_TIMED_OUT, false, EXIT_BLOCKED},
        {DRAIN_TIMED_OUT, DRAIN_REFUSED, false, EXIT_FAILED},
        {DRAIN_TIMED_OUT, DRAIN_FAILED, true, EXIT_ACCESS},
        {DRAIN_REFUSED, DRAIN_FAILED, false, EXIT_FAILED},
        {DRAIN_FAILED, DRAIN_FAILED, false, EXIT_FAILED},
        {DRAIN_STOPPED, DRAIN_STOPPED, false, EXIT_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_node a = {.phase = cases[i].a};
        struct drain_node b = {.phase = cases[i].b, .access = cases[i].access};
        const struct drain_node *all[] = {&a, &b};
        assert_int_equal(drain_exit_code(all, 2), cases[i].code);
    }
}

/* A status of its own: somebody has to change something, or to consent. */
static void denied_by_a_check(void **state) {
    (void)state;
    static const struct {
        enum drain_phase other;
        bool denied, access; /* of the other one */
        enum exit_code code;
    } cases[] = {
        {DRAIN_REFUSED, true, false, EXIT_REFUSED},    {DRAIN_REFUSED, false, false, EXIT_REFUSED},
        {DRAIN_TIMED_OUT, false, false, EXIT_REFUSED}, {DRAIN_FAILED, false, false, EXIT_REFUSED},
        {DRAIN_STOPPED, false, false, EXIT_REFUSED},   {DRAIN_FAILED, false, true, EXIT_ACCESS},
        {DRAIN_DONE, false, false, EXIT_PARTIAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_node a = {.phase = DRAIN_REFUSED, .denied = true};
        struct drain_node b = {
            .phase = cases[i].other, .denied = cases[i].denied, .access = cases[i].access};
        const struct drain_node *all[] = {&a, &b}, *turned[] = {&b, &a};
        assert_int_equal(drain_exit_code(all, 1), EXIT_REFUSED);
        assert_int_equal(drain_exit_code(all, 2), cases[i].code);
        assert_int_equal(drain_exit_code(turned, 2), cases[i].code);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happens_to_nodes_and_pods),
        cmocka_unit_test(with_v2_the_start_is_told),
        cmocka_unit_test(pods_that_are_not_waited_for),
        cmocka_unit_test(warnings_and_refusals),
        cmocka_unit_test(only_ends_are_told_of_phases),
        cmocka_unit_test(what_remains_is_listed_with_reason_and_since),
        cmocka_unit_test(what_waits_is_told_once),
        cmocka_unit_test(that_nodes_wait_for_their_turn_is_told_once),
        cmocka_unit_test(the_rest_says_what_it_is_about),
        cmocka_unit_test(foreign_text_stays_on_its_line),
        cmocka_unit_test(nodes_that_are_left),
        cmocka_unit_test(an_error_of_several_parts),
        cmocka_unit_test(after_an_interruption),
        cmocka_unit_test(an_end_without_waiting),
        cmocka_unit_test(pods_are_deleted_or_evicted),
        cmocka_unit_test(nothing_could_be_begun),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(denied_by_a_check),
    };
    return cmocka_run_group_tests_name("cli/drain_lines", tests, NULL, NULL);
}
