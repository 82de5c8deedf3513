/* Tests of src/engine/plan_checks.c: what storage and quorums say becomes part of the plan. The
 * verdicts themselves are the checks' own tests' (check_*.c); here machines that cannot move stand
 * for what is denied, and the members of an etcd for what only a few nodes may be lost of. */
#include "plan_site.h"

static struct check_world world;
static struct store *machines;

static int setup(void **state) {
    plan_setup(state);
    struct plan_site *f = *state;
    machines = store_new(&kind_vmi, f->w.pool);
    world = (struct check_world){.nodes = f->w.c.nodes};
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = machines};
    world.inputs[SOURCE_ETCD_PODS] = (struct check_input){.read = READ_DONE, .store = f->w.c.pods};
    f->w.opts.checks = &world;
    return 0;
}

static int teardown(void **state) {
    store_free(machines);
    return plan_teardown(state);
}

#define CHECKS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A virtual machine that must be migrated away. */
static void put_machine(struct plan_site *f, const char *name, const char *where, bool can) {
    json_t *doc = json_pack("{s:{s:s,s:s,s:o},s:{s:s},s:{s:s,s:s,s:[{s:s,s:s,s:s}]}}", "metadata",
                            "namespace", "x", "name", name, "resourceVersion",
                            json_sprintf("%d", (int)++f->w.version), "spec", "evictionStrategy",
                            "LiveMigrate", "status", "nodeName", where, "phase", "Running",
                            "conditions", "type", "LiveMigratable", "status",
                            can ? "True" : "False", "message", "no shared disk");
    store_put(machines, dw_decode(&f->w, &kind_vmi, doc));
    json_decref(doc);
}

/* One that cannot be. */
static void machine(struct plan_site *f, const char *name, const char *where) {
    put_machine(f, name, where, false);
}

static void member(struct plan_site *f, const char *where, bool ready) {
    dw_put(&f->w, &kind_pod,
           "{'metadata':{'namespace':'kube-system','name':'etcd-%s','uid':'etcd-%s','labels':{"
           "'component':'etcd'},'annotations':{'kubernetes.io/config.mirror':'x'}},"
           "'spec':{'nodeName':'%s'},'status':{'phase':'Running','conditions':[{'type':'Ready',"
           "'status':'%s'}]}}",
           where, where, where, ready ? "True" : "False");
}

/* Three nodes with a member and a pod each, and one more for what is evicted. */
static void quorum(struct plan_site *f) {
    nodes(f, 4);
    for (int i = 0; i < 3; i++) {
        char name[8] = {'w', (char)('0' + i), 0}, pod[8] = {'a', (char)('0' + i), 0};
        member(f, name, true);
        dw_pod(&f->w, pod, name, "{}");
    }
}

static void a_denied_node_is_not_begun(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    machine(f, "vm", "w0");
    make(f, "w0", "w1", NULL);
    const struct plan_node *denied = node_of(f, "w0"), *other = node_of(f, "w1");
    assert_non_null(denied->finding);
    assert_string_equal(denied->finding->check->name, "kubevirt");
    assert_int_equal(denied->n_findings, 1);
    assert_ptr_equal(denied->findings[0], denied->finding);
    assert_int_equal(denied->verdict, PLAN_NEVER);
    assert_int_equal(denied->begins, PLAN_NO_TIME);
    assert_int_equal(denied->ends, PLAN_NO_TIME);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_int_equal(pod_of(f, "a")->blocker.code, denied->finding->code);
    assert_string_equal(pod_of(f, "a")->blocker.object, "x/vm");
    assert_says(f, "a", "its node may not be cordoned: kubevirt: ");
    assert_says(f, "a", "no shared disk");
    assert_int_equal(pod_of(f, "a")->evicted, PLAN_NO_TIME);
    /* The other goes, and to neither of them does anything come that would have to go again. */
    assert_null(other->finding);
    assert_int_equal(other->ends, SEC(10));
    assert_verdict(f, "b", PLAN_GOES);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(f->plan.drained, SEC(10));
}

static void a_node_without_pods_is_denied_too(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    machine(f, "vm", "w0");
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
    assert_int_equal(node_of(f, "w0")->begins, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_GOES);
    assert_int_equal(node_of(f, "w1")->ends, 0);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
}

/* What the server says to one of its pods does not make the check agree. */
static void a_correction_does_not_lift_it(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    machine(f, "vm", "w0");
    make(f, "w0", NULL);
    struct plan_node *n = &f->plan.nodes[0];
    plan_correct(&f->plan, n, &n->pods[0], PLAN_GOES, (struct plan_blocker){0});
    assert_int_equal(n->verdict, PLAN_NEVER);
}

/* Of three members one is sick: no other can be missed until it is well. */
static void a_waiting_node_is_unsure(void **state) {
    struct plan_site *f = *state;
    quorum(f);
    member(f, "w2", false);
    make(f, "w0", NULL);
    assert_non_null(node_of(f, "w0")->finding);
    assert_int_equal(node_of(f, "w0")->finding->verdict, CHECK_WAIT);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_verdict(f, "a0", PLAN_UNSURE);
    assert_code(f, "a0", BLOCKER_QUORUM_AT_RISK);
    assert_says(f, "a0", "its node may not be cordoned: etcd: ");
    assert_int_equal(node_of(f, "w0")->begins, PLAN_NO_TIME);
    make(f, "w2", NULL); /* the sick one may go */
    assert_null(node_of(f, "w2")->finding);
    assert_verdict(f, "a2", PLAN_GOES);
}

/* Nobody puts a node back while the others are drained: the first goes, and the other waits for
 * somebody. */
static void of_a_quorum_only_so_many_go(void **state) {
    struct plan_site *f = *state;
    quorum(f);
    make(f, "w0", "w1", "w3", NULL);
    assert_null(node_of(f, "w0")->finding);
    assert_null(node_of(f, "w3")->finding);
    assert_verdict(f, "a0", PLAN_GOES);
    assert_verdict(f, "a1", PLAN_UNSURE);
    assert_code(f, "a1", BLOCKER_QUORUM_AT_RISK);
    assert_int_equal(node_of(f, "w1")->begins, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w0")->begins, 0);
}

/* Each comes back when it is done: one after the other, and who has no member beside them. */
static void with_nodes_that_come_back_all_go_in_turns(void **state) {
    struct plan_site *f = *state;
    quorum(f);
    dw_pod(&f->w, "b", "w3", "{}");
    f->w.opts.uncordon_when_done = true;
    make(f, "w0", "w1", "w2", "w3", NULL);
    assert_int_equal(f->plan.count[PLAN_UNSURE] + f->plan.count[PLAN_NEVER], 0);
    assert_int_not_equal(f->plan.makespan, PLAN_NO_TIME);
    static const char *const names[] = {"w0", "w1", "w2"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            const struct plan_node *a = node_of(f, names[i]), *b = node_of(f, names[k]);
            assert_null(a->finding);
            if (i != k) /* apart in time */
                assert_true(a->ends <= b->begins || b->ends <= a->begins);
        }
    assert_int_equal(node_of(f, "w3")->begins, 0);
    assert_true(f->plan.most_at_once == 2);
}

/* One that is out already counts, though nobody drains it now. */
static void who_is_held_already_counts(void **state) {
    struct plan_site *f = *state;
    quorum(f);
    dw_patch(&f->w, &kind_node, NULL, "w2",
             json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations", CORDON_ANNOTATION,
                       "{\"v\":1,\"before\":false,\"holders\":[{\"id\":\"x\",\"by\":\"ann\","
                       "\"reason\":\"disk\",\"since\":\"2026-01-01T00:00:00Z\"}]}",
                       "spec", "unschedulable", 1));
    dw_show(&f->w, &kind_node, NULL, "w2");
    make(f, "w0", NULL);
    assert_verdict(f, "a0", PLAN_UNSURE);
    make(f, "w2", NULL); /* it is the plan's own */
    assert_verdict(f, "a2", PLAN_GOES);
}

static void what_is_skipped_is_not_asked(void **state) {
    struct plan_site *f = *state;
    quorum(f);
    machine(f, "vm", "w0");
    f->w.opts.skip_checks =
        1u << (check_find("kubevirt") - checks_table) | 1u << (check_find("etcd") - checks_table);
    make(f, "w0", "w1", NULL);
    assert_null(node_of(f, "w0")->finding);
    assert_int_equal(f->plan.makespan, SEC(10));
    f->w.opts.skip_checks = 1u << (check_find("etcd") - checks_table);
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a0", PLAN_NEVER);
    assert_verdict(f, "a1", PLAN_GOES);
    f->w.opts.checks = NULL; /* nobody asks */
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a0", PLAN_GOES);
}

/* It may be cordoned, which begins the migration; it is not drained before that is over. */
static void what_gates_the_end_is_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    put_machine(f, "vm", "w0", true);
    make(f, "w0", "w1", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_null(n->finding);
    assert_int_equal(n->verdict, PLAN_UNSURE);
    assert_int_equal(n->ends, PLAN_NO_TIME);
    assert_string_equal(n->blocker.object, "x/vm");
    assert_non_null(strstr(n->blocker.message, PLAN_AT_THE_END ": kubevirt: "));
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(pod_of(f, "a")->gone, SEC(10));
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_not_equal(node_of(f, "w1")->ends, PLAN_NO_TIME);
    f->w.opts.skip_checks = 1u << (check_find("kubevirt") - checks_table);
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
}

/* All of it, not the first alone. */
static void everything_that_gates_the_end_is_there(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    put_machine(f, "a", "w0", true);
    put_machine(f, "b", "w0", true);
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->n_later, 2);
    assert_string_equal(node_of(f, "w0")->later[0]->check->name, "kubevirt");
    assert_int_equal(node_of(f, "w0")->n_findings, 0);
}

/* Nothing keeps a drain of the only member, but nothing more may be done to its node. */
static void what_is_denied_to_the_operation_is_there(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    member(f, "w0", true);
    make(f, "w0", NULL);
    const struct plan_node *n = node_of(f, "w0");
    assert_null(n->finding);
    assert_null(n->blocker.message);
    assert_int_equal(n->n_later, 1);
    assert_int_equal(n->later[0]->verdict, CHECK_DENY);
    assert_string_equal(n->later[0]->check->name, "etcd");
    assert_int_not_equal(n->ends, PLAN_NO_TIME);
}

/* It is on its way already, whoever may cordon the node. */
static void what_terminates_goes_all_the_same(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'deletionTimestamp':'2100-01-01T00:00:00Z'}}");
    f->w.now.wall = INT64_C(4102444795000000); /* five seconds before */
    machine(f, "vm", "w0");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(pod_of(f, "a")->gone, SEC(5));
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_NEVER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CHECKS_TEST(a_denied_node_is_not_begun),
        CHECKS_TEST(a_node_without_pods_is_denied_too),
        CHECKS_TEST(a_correction_does_not_lift_it),
        CHECKS_TEST(a_waiting_node_is_unsure),
        CHECKS_TEST(of_a_quorum_only_so_many_go),
        CHECKS_TEST(with_nodes_that_come_back_all_go_in_turns),
        CHECKS_TEST(who_is_held_already_counts),
        CHECKS_TEST(what_is_skipped_is_not_asked),
        CHECKS_TEST(what_gates_the_end_is_told),
        CHECKS_TEST(everything_that_gates_the_end_is_there),
        CHECKS_TEST(what_is_denied_to_the_operation_is_there),
        CHECKS_TEST(what_terminates_goes_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
