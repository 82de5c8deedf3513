/* Tests of src/engine/plan_surge.c: a second replica first. */
#include "plan_site.h"

/* The pod a on w0 is the only one of the Deployment web; w0 and w1 have room. */
static void only_one(struct plan_site *f) {
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_put(&f->w, &kind_replica_set,
           "{'metadata':{'namespace':'default','name':'web','uid':'rs-web',"
           "'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'web','uid':"
           "'uid-d','controller':true}]},'spec':{'replicas':1}}");
    dw_put(&f->w, &kind_deployment,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-d'},'spec':{'replicas':1}}");
    f->w.opts.surge = true;
}

/* All of one pod must stay, as the owner of the budget wrote it. */
static void budget_asks(struct plan_site *f, const char *rule) {
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':1},"
           "'spec':{%s,'selector':{'matchLabels':{'app':'web'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':1,"
           "'desiredHealthy':1,'expectedPods':1}}",
           rule);
}

static void the_second_one_is_ready_before_the_first_goes(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    assert_int_equal(pod_of(f, "a")->back, SEC(5));
    assert_int_equal(pod_of(f, "a")->evicted, SEC(5));
    assert_int_equal(pod_of(f, "a")->gone, SEC(15));
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(f->plan.makespan, SEC(15));
    f->w.opts.surge = false;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
}

/* Nobody knows whether the second one gets what it asks for. */
static void a_second_one_with_devices_is_not_sure(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    dw_edit_pod(&f->w, "a", "{'spec':{'resourceClaims':[{'name':'gpu'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    assert_says(f, "a", "whether there is room for it is not known: the devices of ResourceClaims");
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
}

/* What never allows one of one allows one of two, unless it asks for all. */
static void a_budget_counts_the_second_one(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    budget_asks(f, "'minAvailable':1");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_int_equal(node_of(f, "w0")->ends, SEC(15));
    assert_int_equal(f->plan.budgets[0].needs, 0);
    budget_asks(f, "'minAvailable':'50%'");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    budget_asks(f, "'minAvailable':'100%'");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_PDB_UNSATISFIABLE);
    budget_asks(f, "'minAvailable':2");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    f->w.opts.surge = false;
    budget_asks(f, "'minAvailable':1");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
}

/* The count goes back: the budget has no more than before for the next one. */
static void what_a_budget_gains_it_loses_again(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    node(f, "w2", 110);
    dw_pod(&f->w, "b", "w2", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "other") "}}");
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'web','uid':'uid-web','generation':1},"
           "'spec':{'minAvailable':2,'selector':{'matchLabels':{'app':'web'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':2,"
           "'desiredHealthy':2,'expectedPods':2}}");
    make(f, "w0", "w2", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_verdict(f, "b", PLAN_NEVER);
}

static void without_room_for_two_it_does_not_go(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    dw_edit_node(&f->w, "w1", "{'spec':{'unschedulable':true}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    assert_says(f, "a", "a second replica comes first, which fits nowhere: 0/2 nodes");
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    rules_are(f, "- {name: r, match: {namespaces: ['*']}, escalate: [{after: 1m, to: delete}]}\n");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS); /* the rule does not wait for it */
    assert_int_equal(pod_of(f, "a")->evicted, SEC(60));
}

/* The quota counts both: one that is used up lets a replacement in, and no second one. */
static void without_a_quota_for_two_it_does_not_go(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    add(f, &kind_resource_quota,
        "{'metadata':{'namespace':'default','name':'few'},'spec':{'hard':{'pods':'3'}},"
        "'status':{'used':{'pods':'3'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    assert_says(f, "a",
                "a second replica comes first, which is not made: ResourceQuota few allows 3 pods, "
                "3 are used, and it takes 1 more");
    assert_string_equal(pod_of(f, "a")->blocker.help,
                        "raise ResourceQuota few, use less of it, or do without --surge");
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    f->w.opts.surge = false;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    f->w.opts.surge = true;
    rules_are(f, "- {name: r, match: {namespaces: ['*']}, escalate: [{after: 1m, to: delete}]}\n");
    make(f, "w0", NULL);
    assert_true(pod_of(f, "a")->verdict < PLAN_HOMELESS);
    rules_are(f, "  []\n");
    add(f, &kind_resource_quota,
        "{'metadata':{'namespace':'default','name':'few'},'spec':{'hard':{'pods':'4'}},"
        "'status':{'used':{'pods':'3'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
}

/* It has not gone, and has nothing of the budget that another waits for. */
static void who_waits_for_a_second_one_keeps_no_budget(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    dw_edit_node(&f->w, "w1", "{'spec':{'unschedulable':true}}");
    dw_pod(&f->w, "b", "w0", "{'metadata':{" DW_OWNER("apps/v1", "ReplicaSet", "other") "}}");
    budget_of(f, "web", "web", 0, 1, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_verdict(f, "b", PLAN_UNSURE); /* its siblings may be well again */
    assert_code(f, "b", BLOCKER_PDB_NO_BUDGET);
}

static void a_node_that_is_given_up_before_is_told(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    f->w.opts.timeout = SEC(3);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    assert_says(f, "a", "which is not ready in time; its node is given up after 3s");
}

/* As drains do: who wants one after the other gets no second one, nor does who serves nobody. */
static void others_go_as_they_are(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    dw_edit(&f->w, &kind_deployment, "default", "web", "{'spec':{'strategy':{'type':'Recreate'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    dw_edit(&f->w, &kind_deployment, "default", "web", "{'spec':{'strategy':null,'replicas':2}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    dw_edit(&f->w, &kind_deployment, "default", "web", "{'spec':{'replicas':1}}");
    dw_edit_pod(&f->w, "a", "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    dw_edit_pod(&f->w, "a", "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    f->w.opts.disable_eviction = true;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
}

static void what_a_drain_would_not_know_is_unsure(void **state) {
    struct plan_site *f = *state;
    only_one(f);
    f->w.c.owners_watched = false;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_SURGE_PENDING);
    f->w.c.owners_watched = true;
    dw_edit(&f->w, &kind_deployment, "default", "web",
            "{'metadata':{'labels':{'slipway.dev/surge':'true'},'annotations':{'slipway.dev/surge':"
            "'{\\\"v\\\":1,\\\"replicas\\\":1,\\\"node\\\":\\\"w9\\\",\\\"pod\\\":\\\"uid-x\\\","
            "\\\"by\\\":\\\"cli/bob\\\"}'}}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_says(f, "a", "somebody else has raised its Deployment");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(the_second_one_is_ready_before_the_first_goes),
        PLAN_TEST(a_second_one_with_devices_is_not_sure),
        PLAN_TEST(a_budget_counts_the_second_one),
        PLAN_TEST(what_a_budget_gains_it_loses_again),
        PLAN_TEST(without_room_for_two_it_does_not_go),
        PLAN_TEST(without_a_quota_for_two_it_does_not_go),
        PLAN_TEST(who_waits_for_a_second_one_keeps_no_budget),
        PLAN_TEST(a_node_that_is_given_up_before_is_told),
        PLAN_TEST(others_go_as_they_are),
        PLAN_TEST(what_a_drain_would_not_know_is_unsure),
    };
    return cmocka_run_group_tests_name("engine/plan_surge", tests, NULL, NULL);
}
