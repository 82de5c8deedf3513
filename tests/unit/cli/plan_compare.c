/* Tests of src/cli/plan_compare.c: a plan is made, saved and read, something happens, and it is
 * made again. What matters is told, a line each; what comes and goes by itself is not. */
#include "cli/plan_file.h"

#include "../engine/plan_site.h"

struct saved {
    struct arena arena;
    struct plan_file file;
};

static void save(struct plan_site *f, struct saved *s) {
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    plan_document(&(struct plan_shown){.plan = &f->plan, .cluster = "", .rules = ""}, &text);
    *s = (struct saved){.arena = ARENA_INIT};
    if (plan_file_parse(str_get(&text), text.len, "p.json", &s->arena, &s->file, &err))
        fail_msg("%s", err_msg(&err));
}

/* The lines that tell what has changed. */
#define assert_changes(f, s, lines)                                                                \
    do {                                                                                           \
        _cleanup_str_ struct str out_ = STR_INIT;                                                  \
        size_t n_ = plan_file_compare(&(s)->file, &(f)->plan, (f)->w.c.budgets, &out_),            \
               newlines_ = 0;                                                                      \
        for (const char *c_ = str_get(&out_); *c_; c_++)                                           \
            newlines_ += *c_ == '\n';                                                              \
        assert_string_equal(str_get(&out_), lines);                                                \
        assert_int_equal(n_, newlines_);                                                           \
    } while (0)

/* w0 with three pods of ReplicaSet web and a bare one, a budget, and room elsewhere. */
static void site(struct plan_site *f) {
    nodes(f, 3);
    f->w.opts.force = true;
    pods(f, "a", 3, "w0", "{}");
    dw_pod(&f->w, "bare", "w0", "{'metadata':{'ownerReferences':[],'labels':{'app':'x'}}}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
}

static void nothing_has_changed(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    assert_changes(f, &s, "");
    f->w.now.wall += SEC(3600);
    dw_budget(&f->w, "web", 0, 2, 2, 3); /* it breathes */
    dw_pod(&f->w, "elsewhere", "w1", "{}");
    make(f, "w0", NULL);
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
}

/* What goes at once and what waits changes with every eviction that somebody else has made. */
static void a_budget_breathes(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    nodes(f, 3);
    pods(f, "a", 2, "w0", "{}");
    dw_budget(&f->w, "web", 2, 4, 2, 4);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_GOES], 2);
    assert_int_equal(f->plan.budgets[0].needs, 2);
    save(f, &s);
    dw_budget(&f->w, "web", 1, 3, 2, 4);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.count[PLAN_WAITS], 1);
    assert_changes(f, &s, "");
    /* With fewer pods it never has what the plan needs. */
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_changes(f, &s,
                   "~ budget default/web: can do without 1 pod at a time, and the plan needs 2\n");
    /* More than it needs is no change. */
    dw_budget(&f->w, "web", 3, 5, 2, 5);
    make(f, "w0", NULL);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
}

static void a_budget_is_another(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':1},"
           "'spec':{'minAvailable':2,'selector':{'matchLabels':{'app':'web'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':1,'currentHealthy':3,"
           "'desiredHealthy':2,'expectedPods':3}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "~ budget default/web: minAvailable 2, was maxUnavailable 1\n");
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':1},"
           "'spec':{'maxUnavailable':1,'unhealthyPodEvictionPolicy':'AlwaysAllow',"
           "'selector':{'matchLabels':{'app':'web'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':1,'currentHealthy':3,"
           "'desiredHealthy':2,'expectedPods':3}}");
    make(f, "w0", NULL);
    assert_changes(f, &s,
                   "~ budget default/web: unhealthyPodEvictionPolicy AlwaysAllow, was none\n");
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':1},"
           "'spec':{'maxUnavailable':1,'selector':{'matchExpressions':[{'key':'app','operator':"
           "'In','values':['web','api']}]}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':1,'currentHealthy':3,"
           "'desiredHealthy':2,'expectedPods':3}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "~ budget default/web: selector app in (api,web), was app=web\n");
    /* The same in other words. */
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'another','generation':7},"
           "'spec':{'maxUnavailable':1,'selector':{'matchExpressions':[{'key':'app','operator':"
           "'In','values':['web']}]}},"
           "'status':{'observedGeneration':7,'disruptionsAllowed':1,'currentHealthy':3,"
           "'desiredHealthy':2,'expectedPods':3}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
}

/* Its pods have gone from the nodes, and it is what it was. */
static void a_budget_without_work(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        assert_true(store_remove(f->w.c.pods, "default", name, NULL));
    }
    make(f, "w0", NULL);
    assert_int_equal(f->plan.n_budgets, 0);
    assert_changes(f, &s, "");
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':2},"
           "'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'other'}}}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "~ budget default/web: selector app=other, was app=web\n");
    arena_done(&s.arena);
}

static void a_budget_comes_or_is_gone(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    store_remove(f->w.c.budgets, "default", "web", NULL);
    make(f, "w0", NULL);
    assert_changes(f, &s, "- budget default/web (maxUnavailable 1) is gone\n");
    arena_done(&s.arena);
    save(f, &s);
    dw_budget(&f->w, "new", 1, 3, 2, 3);
    make(f, "w0", NULL);
    assert_changes(f, &s, "+ budget default/new: maxUnavailable 1\n");
    /* Whoever does not evict asks none. */
    f->w.opts.disable_eviction = true;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.n_budgets, 0);
    arena_done(&s.arena);
    save(f, &s);
    store_remove(f->w.c.budgets, "default", "new", NULL);
    make(f, "w0", NULL);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
}

/* A plan of version 1.0 has no budgets in it: nobody can tell whether they are others. */
static void a_plan_that_says_nothing_of_budgets(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    s.file.has_budgets = false;
    s.file.n_budgets = 0;
    assert_changes(f, &s, "");
    arena_done(&s.arena);
}

static void pods_come_and_go(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    /* Its controller has made another: nothing has changed. */
    store_remove(f->w.c.pods, "default", "a1", NULL);
    dw_pod(&f->w, "a9", "w0", "{}");
    dw_edit_pod(&f->w, "a0", "{'metadata':{'uid':'made-again'}}"); /* as a StatefulSet does */
    dw_pod(&f->w, "job-x", "w0",
           "{'metadata':{'labels':{'app':'x'},'ownerReferences':[{'kind':'Job','name':'j',"
           "'apiVersion':'batch/v1','uid':'j','controller':true}]}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "");
    /* Nor is one more or one less of a workload that the plan knows; a bare one is nobody's. */
    dw_pod(&f->w, "b0", "w0", "{}");
    dw_edit_pod(&f->w, "bare", "{'metadata':{'uid':'another'}}");
    make(f, "w0", NULL);
    assert_changes(f, &s, "~ pod default/bare on w0 is another one\n");
    store_remove(f->w.c.pods, "default", "b0", NULL);
    store_remove(f->w.c.pods, "default", "a9", NULL);
    store_remove(f->w.c.pods, "default", "bare", NULL);
    make(f, "w0", NULL);
    assert_changes(f, &s, "- pod default/bare on w0 is gone\n");
    arena_done(&s.arena);
}

/* A pod of the ReplicaSet, StatefulSet or Job of this name. */
static void workload_pod(struct plan_site *f, const char *pod, const char *node, const char *kind,
                         const char *owner) {
    _cleanup_free_ char *text =
        xasprintf("{'metadata':{'labels':{'app':'%s'},'ownerReferences':[{'kind':'%s','name':'%s',"
                  "'apiVersion':'%s/v1','uid':'%s','controller':true}]}}",
                  owner, kind, owner, streq(kind, "Job") ? "batch" : "apps", owner);
    dw_pod(&f->w, pod, node, "%s", text);
}

/* Other ReplicaSets, other names, other nodes: the Deployment is the same. */
static void a_deployment_was_restarted(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    nodes(f, 3);
    workload_pod(f, "shop-a", "w0", "ReplicaSet", "shop-7c9d8b5f4d");
    workload_pod(f, "shop-b", "w1", "ReplicaSet", "shop-7c9d8b5f4d");
    workload_pod(f, "cron-a", "w0", "Job", "cron-29876543");
    make(f, "w0", "w1", NULL);
    save(f, &s);
    store_remove(f->w.c.pods, "default", "shop-a", NULL);
    store_remove(f->w.c.pods, "default", "shop-b", NULL);
    store_remove(f->w.c.pods, "default", "cron-a", NULL);
    workload_pod(f, "shop-c", "w1", "ReplicaSet", "shop-5595d46b54");
    workload_pod(f, "shop-d", "w1", "ReplicaSet", "shop-5595d46b54");
    workload_pod(f, "cron-b", "w1", "Job", "cron-29876544");
    make(f, "w0", "w1", NULL);
    assert_changes(f, &s, "");
    /* Of another workload the plan says nothing. */
    workload_pod(f, "shop2-c", "w1", "ReplicaSet", "shop2-5595d46b54");
    make(f, "w0", "w1", NULL);
    assert_changes(f, &s, "+ pod default/shop2-c on w1: goes\n");
    /* A pod of that name that is another's. */
    workload_pod(f, "shop-a", "w0", "ReplicaSet", "shop2-5595d46b54");
    dw_edit_pod(&f->w, "shop-a", "{'metadata':{'uid':'new'}}");
    store_remove(f->w.c.pods, "default", "shop2-c", NULL);
    make(f, "w0", "w1", NULL);
    assert_changes(f, &s, "~ pod default/shop-a on w0 is another one\n");
    arena_done(&s.arena);
}

#define HELD "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}"

/* Of how many pods of a workload something is in the way counts, on whichever node they are. */
static void what_is_in_the_way_of_a_workload(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    nodes(f, 3);
    workload_pod(f, "shop-a", "w0", "ReplicaSet", "shop-7c9d8b5f4d");
    workload_pod(f, "shop-b", "w1", "ReplicaSet", "shop-7c9d8b5f4d");
    dw_edit_pod(&f->w, "shop-a", HELD);
    make(f, "w0", "w1", NULL);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 1);
    save(f, &s);
    store_remove(f->w.c.pods, "default", "shop-a", NULL);
    store_remove(f->w.c.pods, "default", "shop-b", NULL);
    workload_pod(f, "shop-c", "w0", "ReplicaSet", "shop-5595d46b54");
    workload_pod(f, "shop-d", "w1", "ReplicaSet", "shop-5595d46b54");
    dw_edit_pod(&f->w, "shop-d", HELD);
    make(f, "w0", "w1", NULL);
    assert_changes(f, &s, "");
    dw_edit_pod(&f->w, "shop-c", HELD);
    make(f, "w0", "w1", NULL);
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out), 1);
    assert_non_null(strstr(str_get(&out), "+ pod default/shop-"));
    assert_non_null(strstr(str_get(&out), ": unsure (DoNotDisrupt "));
    /* One less that stayed is what the plan did not say either. */
    store_remove(f->w.c.pods, "default", "shop-c", NULL);
    store_remove(f->w.c.pods, "default", "shop-d", NULL);
    make(f, "w0", "w1", NULL);
    assert_changes(f, &s, "- pod default/shop-a on w0 is gone\n");
    arena_done(&s.arena);
}

/* Whether y goes is chance where x and a want one place: when there is none it does not go, and
 * nobody has relied on it. */
static void nobody_relies_on_chance(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'labels':{'app':'rival'}}}");
    pods(f, "x", 2, "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_UNSURE);
    save(f, &s);
    node(f, "w1", 0);
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_NEVER);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
    save(f, &s);
    node(f, "w1", 1);
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_UNSURE);
    assert_changes(f, &s, "");
    arena_done(&s.arena);
    node(f, "w1", 110); /* what was certain is relied on */
    make(f, "w0", NULL);
    assert_verdict(f, "x1", PLAN_WAITS);
    save(f, &s);
    node(f, "w1", 1);
    make(f, "w0", NULL);
    _cleanup_str_ struct str out = STR_INIT;
    assert_true(plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out) > 0);
    assert_non_null(strstr(str_get(&out), "x1 on w0: unsure, was waits"));
    arena_done(&s.arena);
}

static void what_cannot_go_is_told(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    f->w.opts.force = false;
    make(f, "w0", NULL);
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out), 4);
    assert_non_null(strstr(str_get(&out), "~ pod default/bare on w0: never, was goes (BarePod "));
    arena_done(&s.arena);
}

static void nodes_that_are_gone_or_others(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    site(f);
    save(f, &s);
    assert_false(plan_file_foreign(&s.file, &f->plan));
    dw_edit_node(&f->w, "w0", "{'metadata':{'uid':'reinstalled'}}");
    make(f, "w0", NULL);
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out), 1);
    assert_string_equal(str_get(&out), "~ node w0 is another one\n");
    assert_true(plan_file_foreign(&s.file, &f->plan));
    store_remove(f->w.c.nodes, NULL, "w0", NULL);
    make(f, "w0", NULL);
    str_reset(&out);
    plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out);
    assert_true(str_starts(str_get(&out), "- node w0 is gone\n"));
    assert_true(plan_file_foreign(&s.file, &f->plan));
    arena_done(&s.arena);
}

/* A virtual machine that must be migrated away, and cannot be: its check denies the cordon. */
static void machine(struct plan_site *f, struct store *machines) {
    json_t *doc = json_pack("{s:{s:s,s:s,s:s},s:{s:s},s:{s:s,s:s,s:[{s:s,s:s,s:s}]}}", "metadata",
                            "namespace", "x", "name", "vm", "resourceVersion", "1", "spec",
                            "evictionStrategy", "LiveMigrate", "status", "nodeName", "w0", "phase",
                            "Running", "conditions", "type", "LiveMigratable", "status", "False",
                            "message", "no shared disk");
    store_put(machines, dw_decode(&f->w, &kind_vmi, doc));
    json_decref(doc);
}

/* A line for the node, not one for each of its pods. */
static void a_check_that_objects_is_told_of_the_node(void **state) {
    struct plan_site *f = *state;
    struct saved s;
    struct store *machines = store_new(&kind_vmi, f->w.pool);
    struct check_world world = {.nodes = f->w.c.nodes};
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = machines};
    f->w.opts.checks = &world;
    site(f);
    save(f, &s);
    machine(f, machines);
    make(f, "w0", NULL);
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(plan_file_compare(&s.file, &f->plan, f->w.c.budgets, &out), 1);
    assert_true(str_starts(str_get(&out), "~ node w0: check kubevirt says deny, said pass ("));
    arena_done(&s.arena);
    save(f, &s);
    assert_changes(f, &s, "");
    store_remove(machines, "x", "vm", NULL);
    make(f, "w0", NULL);
    assert_changes(f, &s, "~ node w0: check kubevirt says pass, said deny\n");
    arena_done(&s.arena);
    f->w.opts.checks = NULL;
    store_free(machines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(nothing_has_changed),
        PLAN_TEST(a_budget_breathes),
        PLAN_TEST(a_budget_is_another),
        PLAN_TEST(a_budget_without_work),
        PLAN_TEST(a_budget_comes_or_is_gone),
        PLAN_TEST(a_plan_that_says_nothing_of_budgets),
        PLAN_TEST(pods_come_and_go),
        PLAN_TEST(a_deployment_was_restarted),
        PLAN_TEST(what_is_in_the_way_of_a_workload),
        PLAN_TEST(nobody_relies_on_chance),
        PLAN_TEST(what_cannot_go_is_told),
        PLAN_TEST(nodes_that_are_gone_or_others),
        PLAN_TEST(a_check_that_objects_is_told_of_the_node),
    };
    return cmocka_run_group_tests_name("cli/plan_compare", tests, NULL, NULL);
}
