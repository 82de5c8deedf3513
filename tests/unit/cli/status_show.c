/* Tests of src/cli/status_show.c: the order of the sections, the sentence, and the document. */
#include "cli/status_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"

#define NOW (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */

static const char *w1[] = {"w1"}, *w12[] = {"w1", "w2"}, *w3[] = {"w3"};
static const struct node node = {.meta = {.name = "w1"}};
static struct survey_node first = {.node = &node, .ready_reason = ""};

static const struct survey_sum_blocker blockers[] = {
    {.code = BLOCKER_PDB_NO_BUDGET,
     .object = "shop/web",
     .message = "needs 3",
     .pods = 2,
     .since = NOW - SEC(380),
     .nodes = {w12, 2}},
};
static const struct survey_sum_blocker gates[] = {
    {.code = BLOCKER_LAST_REPLICA,
     .object = "x/pvc-1",
     .message = "the only copy",
     .nodes = {w1, 1}},
};
static const struct survey_sum_wave waves[] = {
    {.holder = "cli/alice: kernel",
     .nodes = {w12, 2},
     .phases = {[NODE_BLOCKED] = 2},
     .pods_left = 7,
     .since = NOW - SEC(600)},
};
static const struct survey_sum_nodes alike[] = {
    {.ready = NODE_READY,
     .reason = "",
     .phase = NODE_BLOCKED,
     .pods = 9,
     .moves = 7,
     .nodes = {w12, 2}},
};
static const struct survey_sum_lock locks[] = {
    {.holder = "cli/alice: kernel", .since = NOW - SEC(601), .nodes = {w12, 2}},
};

static struct survey_sum everything(void) {
    return (struct survey_sum){.n = 5,
                               .phases = {[NODE_IDLE] = 3, [NODE_BLOCKED] = 2},
                               .pods_left = 7,
                               .draining = {w12, 2},
                               .blockers = blockers,
                               .n_blockers = 1,
                               .gates = gates,
                               .n_gates = 1,
                               .waves = waves,
                               .n_waves = 1,
                               .nodes = alike,
                               .n_nodes = 1,
                               .locks = locks,
                               .n_locks = 1};
}

static const struct survey survey = {.nodes = &first, .n = 1, .now = NOW};

static struct status_view view_of_sum(const struct survey_sum *sum, unsigned details) {
    return (struct status_view){
        .survey = &survey, .sum = sum, .prog = "slipway", .details = details, .now = NOW};
}

static void print(const struct survey_sum *sum, unsigned details, const struct str *rows,
                  struct str *out) {
    struct term term = {.fd = -1, .columns = 80};
    struct status_view v = view_of_sum(sum, details);
    status_text(&v, rows, &term);
    str_add(out, str_get(&term.buf));
    str_done(&term.buf);
}

/* The order of the user-experience document: headline, blockers, waves, nodes, locks, gates. */
static void the_order_of_the_sections(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct survey_sum sum = everything();
    print(&sum, DETAILS_NONE, NULL, &out);
    assert_string_equal(
        str_get(&out),
        "Draining 2 of 5 nodes, 7 pods to go: blocked, this does not end before something\n"
        "below changes. Of 5: 3 idle, 2 blocked. Every node is Ready.\n"
        "\n"
        "Blockers\n"
        "  ! PDBNoBudget shop/web on w[1-2], 2 pods, for 6m20s\n"
        "  -> slipway why w1\n"
        "\n"
        "Waves\n"
        "  HELD BY             NODES    DRAINING   WAITING   BLOCKED   DRAINED   REBOOTING   PODS "
        "LEFT   "
        "SINCE\n"
        "  cli/alice: kernel   w[1-2]   0          0         2         0         0           7     "
        "      "
        "10m\n"
        "\n"
        "Nodes\n"
        "  NODES    STATUS   PHASE     PODS   MOVE   SINCE\n"
        "  w[1-2]   Ready    Blocked   9      7      <unknown>\n"
        "\n"
        "Locks\n"
        "  HELD BY             NODES    SINCE\n"
        "  cli/alice: kernel   w[1-2]   10m\n"
        "\n"
        "Gates\n"
        "  ! LastReplica x/pvc-1 on w1\n"
        "  -> slipway why w1\n");
}

static void details(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT, rows = STR_INIT;
    struct survey_sum sum = everything();
    str_add(&rows, "NAME   STATUS\nw1     Ready\n");
    print(&sum, DETAILS_ALL, &rows, &out);
    assert_non_null(strstr(str_get(&out), "  ! PDBNoBudget shop/web on w[1-2], 2 pods, for 6m20s\n"
                                          "    needs 3\n"
                                          "    wait until its pods are healthy again"));
    assert_non_null(strstr(str_get(&out), "\nNodes\n  NAME   STATUS\n  w1     Ready\n\nLocks\n"));
}

/* A few of many, and how to see the others. */
static void many_blockers(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct survey_sum_blocker many[9];
    struct survey_sum sum = everything();
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = blockers[0];
    sum.blockers = many;
    sum.n_blockers = ARRAY_LEN(many);
    print(&sum, DETAILS_NONE, NULL, &out);
    assert_non_null(strstr(str_get(&out), "  and 4 more: slipway status --details=health\n"));
    str_reset(&out);
    print(&sum, DETAILS_HEALTH, NULL, &out);
    assert_null(strstr(str_get(&out), "and 4 more"));
}

static void sentence(const struct survey_sum *sum, const char *want) {
    _cleanup_str_ struct str out = STR_INIT;
    struct status_view v = view_of_sum(sum, 0);
    status_headline(&v, &out);
    assert_string_equal(str_get(&out), want);
}

static void headlines(void **state) {
    (void)state;
    struct survey_sum s = {.n = 5, .phases = {[NODE_IDLE] = 5}};
    sentence(&s, "All idle: 5 nodes. Every node is Ready.");
    s.unready = 1;
    sentence(&s, "All idle: 5 nodes. 1 node is not Ready.");
    s = (struct survey_sum){.n = 3, .phases = {[NODE_IDLE] = 1, [NODE_CORDONED] = 2}};
    sentence(&s, "Nothing is being drained; 2 of 3 nodes are cordoned. Of 3: 1 idle, 2 cordoned. "
                 "Every node is Ready.");
    s = (struct survey_sum){.n = 2, .phases = {[NODE_IDLE] = 1, [NODE_DRAINED] = 1}};
    sentence(&s, "Nothing is being drained; 1 of 2 nodes is drained and out of service. Of 2: 1 "
                 "idle, 1 drained. Every node is Ready.");
    s = (struct survey_sum){.n = 2,
                            .phases = {[NODE_IDLE] = 1, [NODE_DRAINING] = 1},
                            .draining = {w1, 1},
                            .pods_left = 1};
    sentence(&s, "Draining 1 of 2 nodes, 1 pod to go: nothing is in the way. Of 2: 1 idle, 1 "
                 "draining. Every node is Ready.");
    s = (struct survey_sum){.n = 2,
                            .phases = {[NODE_BLOCKED] = 1, [NODE_DRAINING] = 1},
                            .draining = {w12, 2},
                            .pods_left = 4};
    sentence(&s, "Draining 2 of 2 nodes, 4 pods to go: 1 of them is blocked, and not done before "
                 "something below changes. Of 2: 1 draining, 1 blocked. Every node is Ready.");
    s.phases[NODE_BLOCKED] = 0, s.phases[NODE_WAITING] = 1;
    sentence(&s, "Draining 2 of 2 nodes, 4 pods to go: 1 of them is waiting, which may well end by "
                 "itself. Of 2: 1 draining, 1 waiting. Every node is Ready.");
    s.phases[NODE_DRAINING] = 0, s.phases[NODE_WAITING] = 2;
    sentence(&s, "Draining 2 of 2 nodes, 4 pods to go: waiting, which may well end by itself. Of "
                 "2: 2 waiting. Every node is Ready.");
    s = (struct survey_sum){.n = 2, .phases = {[NODE_IDLE] = 1, [NODE_REBOOTING] = 1}};
    sentence(&s, "Rebooting 1 of 2 nodes. Of 2: 1 idle, 1 rebooting. Every node is Ready.");
}

/* With nothing going on: what waits for a reboot, and what to do next. */
static void nothing_going_on(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct survey_sum s = {.n = 5, .phases = {[NODE_IDLE] = 5}};
    print(&s, 0, NULL, &out);
    assert_string_equal(str_get(&out), "All idle: 5 nodes. Every node is Ready.\n"
                                       "\nNext: slipway plan drain w1\n");
    str_reset(&out);
    s.reboot = (struct survey_names){w3, 1};
    s.blockers = blockers;
    s.n_blockers = 1;
    print(&s, 0, NULL, &out);
    assert_string_equal(str_get(&out), "All idle: 5 nodes. Every node is Ready.\n"
                                       "\nBlockers, should one of these be drained\n"
                                       "  ! PDBNoBudget shop/web on w[1-2], 2 pods, for 6m20s\n"
                                       "  -> slipway why w1\n"
                                       "\n1 node needs a reboot: w3\n"
                                       "\nNext: slipway doctor --pdbs\n");
}

/* What comes from a cluster cannot speak to the terminal. */
static void hostile_names(void **state) {
    (void)state;
    static const char *bad[] = {"a\x1b[31m", "b\n", "c"};
    static const struct node evil = {.meta = {.name = "a\x1b[31m"}};
    struct survey_node sn = {.node = &evil, .ready_reason = ""};
    struct survey_sum_blocker b = blockers[0];
    struct survey_sum_lock l = locks[0];
    struct survey_sum s = everything();
    struct term term = {.fd = -1};
    b.object = "x\x1b]0;y\x07";
    b.nodes = (struct survey_names){bad, 3};
    l.holder = "h\x1b[2J";
    s.blockers = &b;
    s.locks = &l;
    s.draining.len = 0;
    s.reboot = (struct survey_names){bad, 3};
    struct status_view v = {.survey = &(struct survey){.nodes = &sn, .n = 1, .now = NOW},
                            .sum = &s,
                            .prog = "slipway",
                            .now = NOW};
    status_text(&v, NULL, &term);
    for (size_t i = 0; i < term.buf.len; i++)
        assert_true(term.buf.p[i] == '\n' || (unsigned char)term.buf.p[i] >= ' ');
    str_done(&term.buf);
}

static void the_document(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    struct survey_sum sum = everything();
    struct status_view v = view_of_sum(&sum, 0);
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    status_write_sum(&w, &v);
    jsonw_kbegin(&w, "items", '[');
    status_write_node(&w, &first, &arena);
    jsonw_end(&w);
    jsonw_end(&w);
    _cleanup_json_ json_t *doc = json_loads(str_get(&out), 0, NULL);
    assert_non_null(doc);
    const json_t *wave = json_array_get(json_object_get(doc, "waves"), 0);
    assert_int_equal(json_integer_value(json_object_get(wave, "blocked")), 2);
    assert_string_equal(json_str(wave, "since"), "2026-11-15T07:50:00Z");
    const json_t *gate = json_array_get(json_object_get(doc, "gates"), 0);
    assert_string_equal(json_str(gate, "code"), "LastReplica");
    const json_t *b = json_array_get(json_object_get(doc, "blockers"), 0);
    assert_int_equal(json_array_size(json_object_get(b, "nodes")), 2);
    assert_string_equal(json_str(json_array_get(json_object_get(doc, "items"), 0), "phase"),
                        "Idle");
    assert_non_null(json_str(doc, "summary"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_the_sections),
        cmocka_unit_test(details),
        cmocka_unit_test(many_blockers),
        cmocka_unit_test(headlines),
        cmocka_unit_test(nothing_going_on),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(the_document),
    };
    return cmocka_run_group_tests_name("cli/status_show", tests, NULL, NULL);
}
