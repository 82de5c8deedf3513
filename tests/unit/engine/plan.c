/* Tests of src/engine/plan.c: the verdicts. Time is in plan_play.c, room in plan_room.c, what came
 * out in plan_tell.c. */
#include "plan_site.h"

#define DB "{'apiVersion':'apps/v1','kind':'StatefulSet','name':'db','uid':'db','controller':true}"

#include "model/selector.h"

/* As the drain does it: one pod that needs a flag, and the node is left alone as a whole. */
static void a_node_is_refused_as_a_whole(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_BARE_POD);
    assert_string_equal(pod_of(f, "a")->blocker.object, "default/bare");
    assert_true(pod_of(f, "a")->follows);
    assert_false(pod_of(f, "bare")->follows);
    assert_verdict(f, "b", PLAN_GOES); /* nothing of the budget is spent on a */
    f->w.opts.force = true;
    make(f, "w0", "w1", NULL);
    assert_int_equal(f->plan.count[PLAN_NEVER], 0);
}

/* Only its object is left. */
static void what_has_finished_is_gone_at_once(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "job", "w0", "{'status':{'phase':'Succeeded'}}");
    f->times.stop = -1; /* as assumed */
    make(f, "w0", NULL);
    assert_verdict(f, "job", PLAN_GOES);
    assert_int_equal(f->plan.makespan, 0);
}

/* The successor of one that terminates is among the pods already, but a StatefulSet waits with it
 * until the name is free. In a namespace that goes nobody can make any. */
static void what_terminates_has_its_successor(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    node(f, "w0", 110); /* and nowhere else to go */
    time_format(f->w.now.wall + SEC(25), false, when);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'deletionTimestamp':'%s'}}", when);
    dw_pod(&f->w, "b", "w0",
           "{'metadata':{'deletionTimestamp':'%s','ownerReferences':[{'apiVersion':'apps/v1',"
           "'kind':'StatefulSet','name':'db','uid':'db','controller':true}]}}",
           when);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_verdict(f, "b", PLAN_HOMELESS);
    add(f, &kind_namespace,
        "{'metadata':{'name':'default','resourceVersion':'1'},'status':{'phase':'Terminating'}}");
    make(f, "w0", NULL);
    assert_verdict(f, "b", PLAN_GOES);
}

/* Nobody knows who takes it off, and when. Its budget gets its disruption back all the same. */
static void a_finalizer_keeps_the_node(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'finalizers':['example.com/upload']}}");
    dw_pod(&f->w, "b", "w0", "{}");
    dw_pod(&f->w, "job", "w1", "{'metadata':{'finalizers':['batch.kubernetes.io/job-tracking']}}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_FINALIZER_STUCK);
    assert_string_equal(pod_of(f, "a")->blocker.object, "default/a");
    assert_says(f, "a",
                "it has the finalizer example.com/upload: a drain waits until that is taken off");
    assert_int_equal(pod_of(f, "a")->evicted, 0);
    assert_int_equal(pod_of(f, "a")->gone, PLAN_NO_TIME);
    assert_int_equal(pod_of(f, "b")->evicted, SEC(5));
    assert_verdict(f, "b", PLAN_WAITS);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_WAITS); /* for b */
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    /* one that terminates already, and whose time is not over yet */
    char when[TIMEFMT_LEN];
    dw_pod(&f->w, "a", "w0", "{'metadata':{'deletionTimestamp':'%s','finalizers':['x/y']}}",
           time_format(f->w.now.wall + SEC(5), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_FINALIZER_STUCK);
}

static void what_never_goes_says_why(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "data", "w0", "{'spec':{'volumes':[{'name':'d','emptyDir':{}}]}}");
    dw_pod(&f->w, "held", "w0",
           "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(&f->w, "twice", "w0", "{'metadata':{'labels':{'app':'two'}}}");
    dw_pod(&f->w, "web", "w0", "{}");
    dw_budget(&f->w, "zero", 0, 3, 3, 3);
    for (int i = 0; i < 2; i++)
        dw_put(&f->w, &kind_pdb,
               "{'metadata':{'namespace':'default','name':'two-%d','uid':'two-%d'},'spec':"
               "{'maxUnavailable':1,'selector':{'matchLabels':{'app':'two'}}},"
               "'status':{'disruptionsAllowed':1,'currentHealthy':3,'desiredHealthy':2,"
               "'expectedPods':3}}",
               i, i);
    make(f, "w0", NULL);
    static const struct {
        const char *name;
        enum blocker_code code;
        enum plan_verdict verdict;
    } wanted[] = {{"bare", BLOCKER_BARE_POD, PLAN_NEVER},
                  {"data", BLOCKER_LOCAL_STORAGE, PLAN_NEVER},
                  {"held", BLOCKER_DO_NOT_DISRUPT, PLAN_UNSURE}, /* it may finish */
                  {"twice", BLOCKER_MULTIPLE_PDBS, PLAN_NEVER},
                  {"web", BLOCKER_PDB_UNSATISFIABLE, PLAN_NEVER}};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_verdict(f, wanted[i].name, wanted[i].verdict);
        assert_code(f, wanted[i].name, wanted[i].code);
        assert_int_equal(pod_of(f, wanted[i].name)->evicted, PLAN_NO_TIME);
        assert_true(strlen(pod_of(f, wanted[i].name)->blocker.message) > 5);
    }
    /* Who takes the mark off is told of the next thing in its way. */
    assert_says(f, "held", "besides, the budget default/zero never lets it go: maxUnavailable 1,");
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.count[PLAN_NEVER], 4);
    assert_int_equal(f->plan.count[PLAN_UNSURE], 1);
}

static void the_flags_of_the_drain_count(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "data", "w0", "{'spec':{'volumes':[{'name':'d','emptyDir':{}}]}}");
    dw_budget(&f->w, "web", 0, 3, 3, 3);
    f->w.opts.force = f->w.opts.delete_emptydir = f->w.opts.disable_eviction = true;
    make(f, "w0", NULL);
    assert_verdict(f, "bare", PLAN_GOES);
    assert_verdict(f, "data", PLAN_GOES);
    assert_null(pod_of(f, "bare")->to);
    assert_int_equal(f->plan.makespan, SEC(10));
}

/* Unhealthy pods that are not ours: when they are well again nobody can tell. */
static void a_budget_that_waits_for_others_is_not_sure(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_pod(&f->w, "a0", "w0", "{}");
    dw_pod(&f->w, "a1", "w1",
           "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'False'}],"
           "'containerStatuses':[{'name':'app','restartCount':6,'state':{'waiting':{'reason':"
           "'CrashLoopBackOff'}}}]}}");
    dw_budget(&f->w, "web", 0, 1, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "a0", PLAN_UNSURE);
    assert_code(f, "a0", BLOCKER_PDB_NO_BUDGET);
    assert_non_null(strstr(pod_of(f, "a0")->blocker.message, "CrashLoopBackOff"));
}

/* One that somebody has just evicted is made again when it is gone: its budget only breathes. */
static void a_budget_that_waits_for_one_to_be_made_again(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_pod(&f->w, "db-0", "w0", "{'metadata':{'ownerReferences':[" DB "]}}");
    dw_pod(&f->w, "db-1", "w1",
           "{'metadata':{'deletionTimestamp':'%s','ownerReferences':[" DB "]}}",
           time_format(f->w.now.wall + SEC(20), false, when));
    dw_budget(&f->w, "web", 0, 1, 1, 2);
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_WAITS);
    assert_true(pod_of(f, "db-0")->evicted >= SEC(20));
    /* But not when something keeps it. */
    dw_pod(&f->w, "db-1", "w1",
           "{'metadata':{'deletionTimestamp':'%s','ownerReferences':[" DB "]}}",
           time_format(f->w.now.wall - SEC(600), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_UNSURE);
}

static void what_terminates_is_waited_for(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    char when[TIMEFMT_LEN];
    dw_pod(&f->w, "soon", "w0", "{'metadata':{'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall + SEC(25), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "soon", PLAN_GOES);
    assert_int_equal(f->plan.makespan, SEC(25));
    dw_pod(&f->w, "stuck", "w0",
           "{'metadata':{'deletionTimestamp':'%s','finalizers':['example.com/guard']}}",
           time_format(f->w.now.wall - SEC(300), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "stuck", PLAN_UNSURE);
    assert_code(f, "stuck", BLOCKER_FINALIZER_STUCK);
}

static void daemon_pods_stay(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    dw_put(&f->w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    cluster_look(&f->w.c, &kind_daemon_set, "default", "agent");
    dw_pod(&f->w, "d", "w0", "{'metadata':{" DW_OWNER("example.com/v1", "DaemonSet", "agent") "}}");
    make(f, "w0", NULL);
    assert_verdict(f, "d", PLAN_STAYS);
    assert_int_equal(f->plan.makespan, 0);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
}

static void names_that_do_not_exist_are_left_out(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    make(f, "w0", "w0", "w9", NULL);
    assert_int_equal(f->plan.n, 1);
    make(f, NULL);
    assert_int_equal(f->plan.n, 0);
    assert_int_equal(f->plan.makespan, 0);
}

/* A StatefulSet whose template names the node would put its pod back there for ever; one that names
 * another node, or none, does not. */
static void what_is_pinned_never_goes(void **state) {
    struct plan_site *f = *state;
    static const struct {
        const char *template;
        enum plan_verdict verdict;
    } cases[] = {
        {"'nodeName':'w0',", PLAN_NEVER}, {"'nodeName':'w1',", PLAN_GOES}, {"", PLAN_GOES}};
    nodes(f, 2);
    dw_pod(&f->w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        dw_put(&f->w, &kind_stateful_set,
               "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},'spec':{'template':"
               "{'spec':{%s'containers':[{'name':'db'}]}}}}",
               cases[i].template);
        make(f, "w0", NULL);
        assert_verdict(f, "db-0", cases[i].verdict);
    }
    dw_edit_stateful_set(&f->w, "db", "{'spec':{'template':{'spec':{'nodeName':'w0'}}}}");
    make(f, "w0", NULL);
    assert_code(f, "db-0", BLOCKER_PINNED);
    assert_string_equal(pod_of(f, "db-0")->blocker.object, "default/db-0");
    assert_string_equal(pod_of(f, "db-0")->blocker.message,
                        "StatefulSet db declares spec.nodeName w0");
    /* another StatefulSet of that name: it says nothing about this pod */
    dw_edit_stateful_set(&f->w, "db", "{'metadata':{'uid':'other'}}");
    make(f, "w0", NULL);
    assert_verdict(f, "db-0", PLAN_GOES);
}

static void a_namespace_that_is_deleted_takes_its_pods_with_it(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    add(f, &kind_namespace, "{'metadata':{'name':'default'},'status':{'phase':'Active'}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    add(f, &kind_namespace, "{'metadata':{'name':'default'},'status':{'phase':'Terminating'}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_NAMESPACE_TERMINATING);
    assert_string_equal(pod_of(f, "a")->blocker.object, "default");
}

/* NotReady is bad, but it answers; Unknown is what the node lifecycle controller writes when the
 * kubelet is not heard of. */
static void nobody_knows_about_a_node_that_does_not_answer(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_edit_node(&f->w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    dw_edit_node(&f->w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_NODE_UNREACHABLE);
    assert_string_equal(pod_of(f, "a")->blocker.object, "w0");
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    /* and what was asked to go long ago has not stopped for all that anybody knows */
    char when[TIMEFMT_LEN];
    dw_pod(&f->w, "b", "w0", "{'metadata':{'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall - SEC(600), false, when));
    make(f, "w0", NULL);
    assert_code(f, "b", BLOCKER_NODE_UNREACHABLE);
}

/* It should be gone, and is not: nobody can tell how long the node takes. */
static void what_does_not_stop_has_no_time(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{'metadata':{'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall - SEC(61), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_TERMINATING_STUCK);
    assert_int_equal(pod_of(f, "a")->gone, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
}

/* The scheduler may choose the node that it has just left, and has no other choice when it asks for
 * that one. Once it has finished it does not come back. */
static void what_tolerates_the_cordon_may_come_back(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{'spec':{'tolerations':[{'operator':'Exists'}]}}");
    dw_pod(&f->w, "b", "w1",
           "{'spec':{'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}"
           "],'nodeSelector':{'kubernetes.io/hostname':'w1'}}}");
    dw_pod(&f->w, "done", "w2",
           "{'spec':{'tolerations':[{'operator':'Exists'}]},'status':{'phase':'Succeeded'}}");
    make(f, "w0", "w1", "w2", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_RETURNS);
    assert_verdict(f, "b", PLAN_NEVER);
    assert_code(f, "b", BLOCKER_RETURNS);
    assert_verdict(f, "done", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_null(pod_of(f, "a")->to);
}

/* canIgnorePDB() and unhealthyPodEvictionPolicy of registry/core/pod/storage/eviction.go: a pod
 * that is not ready goes past its budget with AlwaysAllow, or when enough others are healthy. */
static void what_is_not_ready_may_go_past_its_budget(void **state) {
    struct plan_site *f = *state;
    static const struct {
        int healthy, desired;
        const char *policy;
        enum plan_verdict verdict;
    } cases[] = {{1, 2, "AlwaysAllow", PLAN_GOES},
                 {1, 2, "IfHealthyBudget", PLAN_UNSURE},
                 {2, 2, "IfHealthyBudget", PLAN_GOES}};
    nodes(f, 2);
    dw_pod(&f->w, "sick", "w0",
           "{'status':{'conditions':[{'type':'Ready','status':'False'}],'phase':'Running'}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        dw_budget(&f->w, "web", 0, cases[i].healthy, cases[i].desired, 3);
        dw_edit_budget(&f->w, "web", "{'spec':{'unhealthyPodEvictionPolicy':'%s'}}",
                       cases[i].policy);
        make(f, "w0", NULL);
        assert_verdict(f, "sick", cases[i].verdict);
    }
}

/* It has no replicas that could be raised. */
static void a_bare_pod_under_a_budget(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_budget(&f->w, "web", 0, 1, 1, 1);
    f->w.opts.force = true;
    make(f, "w0", NULL);
    assert_code(f, "bare", BLOCKER_PDB_UNSATISFIABLE);
    assert_string_equal(pod_of(f, "bare")->blocker.help, BLOCKER_BARE_BUDGET_HINT);
}

/* Numbers of an older generation: the server refuses evictions until the controller has looked. */
static void a_budget_that_was_not_looked_at_is_not_called_hopeless(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_budget(&f->w, "web", 0, 0, 0, 0);
    dw_edit_budget(&f->w, "web", "{'metadata':{'generation':2}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
    assert_code(f, "a", BLOCKER_PDB_NO_BUDGET);
    assert_says(f, "a", "not processed by its controller yet");
    /* but maxUnavailable 0 is hopeless whoever looks */
    dw_edit_budget(&f->w, "web", "{'spec':{'maxUnavailable':0}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_PDB_UNSATISFIABLE);
}

static void a_budget_that_cannot_be_computed_says_so(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_budget(&f->w, "web", 0, 0, 0, 0);
    dw_edit_budget(&f->w, "web",
                   "{'status':{'conditions':[{'type':'DisruptionAllowed','status':'False','reason':"
                   "'SyncFailed','message':'found no controllers for pod a'}]}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_code(f, "a", BLOCKER_PDB_SYNC_FAILED);
    assert_says(f, "a", "found no controllers for pod a");
}

static void budgets_that_may_not_be_read_are_not_guessed_at(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_budget(&f->w, "web", 0, 3, 3, 3);
    f->w.c.budgets_known = false;
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
}

static void only_what_the_selector_selects(void **state) {
    struct plan_site *f = *state;
    struct selector selector;
    nodes(f, 2);
    dw_pod(&f->w, "mine", "w0", "{}");
    dw_pod(&f->w, "other", "w0", "{'metadata':{'labels':{'app':'other'},'ownerReferences':null}}");
    assert_int_equal(selector_parse("app=web", &selector, NULL), 0);
    f->w.opts.pod_selector = selector.list;
    make(f, "w0", NULL);
    assert_int_equal(node_of(f, "w0")->n_pods, 1);
    assert_verdict(f, "mine", PLAN_GOES);
    assert_int_equal(f->plan.makespan, SEC(10));
    selector_done(&selector);
}

static void rules_skip_and_wait(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "batch", "w0", "{'metadata':{'labels':{'app':'batch'}}}");
    dw_pod(&f->w, "done", "w0",
           "{'metadata':{'labels':{'app':'batch'}},'status':{'phase':'Succeeded'}}");
    dw_pod(&f->w, "left", "w0", "{'metadata':{'labels':{'app':'left'}}}");
    dw_pod(&f->w, "web", "w0", "{}");
    rules_are(f, "- {name: jobs, match: {labels: {matchLabels: {app: batch}}}, action: wait}\n"
                 "- {name: agents, match: {labels: {matchLabels: {app: left}}}, action: skip}\n");
    make(f, "w0", NULL);
    assert_verdict(f, "batch", PLAN_UNSURE);
    assert_code(f, "batch", BLOCKER_JOB_RUNNING);
    assert_says(f, "batch", "jobs");
    assert_verdict(f, "done", PLAN_GOES);
    assert_verdict(f, "left", PLAN_STAYS);
    assert_string_equal(pod_of(f, "left")->why, "skipping Pods by rule agents");
    assert_verdict(f, "web", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    static const size_t counts[PLAN_VERDICTS] = {
        [PLAN_STAYS] = 1, [PLAN_GOES] = 2, [PLAN_UNSURE] = 1};
    assert_memory_equal(f->plan.count, counts, sizeof counts);
    assert_memory_equal(node_of(f, "w0")->count, counts, sizeof counts);
}

static void mirror_pods_stay_and_finished_ones_go(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(
        &f->w, "etcd", "w0",
        "{'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'},'ownerReferences':null}}");
    dw_pod(&f->w, "over", "w0",
           "{'metadata':{'ownerReferences':null},'status':{'phase':'Failed'},"
           "'spec':{'volumes':[{'name':'d','emptyDir':{}}]}}");
    dw_budget(&f->w, "web", 0, 3, 3, 3);
    make(f, "w0", NULL);
    assert_verdict(f, "etcd", PLAN_STAYS);
    /* no flag is wanted, no budget asked, and nothing takes its place */
    assert_verdict(f, "over", PLAN_GOES);
    assert_null(pod_of(f, "over")->to);
    assert_int_equal(pod_of(f, "over")->back, PLAN_NO_TIME);
}

/* Without the flag a DaemonSet's pods are in the way; those of a DaemonSet that is gone are, too.
 */
static void daemon_pods_are_refused_without_the_flag(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "d", "w0", "{'metadata':{" DW_OWNER("example.com/v1", "DaemonSet", "agent") "}}");
    f->w.opts.ignore_daemonsets = false;
    make(f, "w0", NULL);
    assert_verdict(f, "d", PLAN_NEVER);
    assert_code(f, "d", BLOCKER_DAEMON_POD);
}

/* The worst of its pods' is the node's; counts add up. */
static void verdicts_add_up(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 3, "w0", "{}");
    dw_pod(&f->w, "bare", "w1", DW_BARE);
    dw_pod(&f->w, "free", "w1", "{'metadata':{'labels':{'app':'free'}}}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_WAITS);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_NEVER);
    size_t all = 0;
    for (int v = 0; v < PLAN_VERDICTS; v++) {
        assert_int_equal(f->plan.count[v], node_of(f, "w0")->count[v] + node_of(f, "w1")->count[v]);
        all += f->plan.count[v];
        assert_true(*plan_verdict_word((enum plan_verdict)v));
    }
    assert_int_equal(all, 5);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    assert_int_equal(f->plan.drained, SEC(20));
}

/* Two go, and the Job may lose one: none of them is made again. */
static void a_job_that_fails_makes_none(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "j") "}}");
    dw_pod(&f->w, "b", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "j") "}}");
    dw_pod(&f->w, "c", "w1", "{'metadata':{" DW_OWNER("batch/v1", "Job", "j") "}}");
    add(f, &kind_job,
        "{'metadata':{'namespace':'default','name':'j'},'spec':{'backoffLimit':1},'status':{"
        "'active':3}}");
    make(f, "w1", NULL);
    assert_verdict(f, "c", PLAN_GOES);
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_HOMELESS);
    assert_code(f, "a", BLOCKER_JOB_WOULD_FAIL);
    assert_says(f, "a", "it fails for good when b is evicted as well");
    assert_null(pod_of(f, "a")->to);
    assert_verdict(f, "b", PLAN_HOMELESS);
    assert_says(f, "b", "1 pod of it that is not evicted ends then");
}

/* Pods of a node that nothing goes from are no failures. */
static void a_node_that_is_refused_fails_no_job(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    f->w.opts.force = false;
    dw_pod(&f->w, "a", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "j") "}}");
    dw_pod(&f->w, "b", "w1", "{'metadata':{" DW_OWNER("batch/v1", "Job", "j") "}}");
    dw_pod(&f->w, "bare", "w0", "{'metadata':{'ownerReferences':null}}");
    add(f, &kind_job, "{'metadata':{'namespace':'default','name':'j'},'spec':{'backoffLimit':1}}");
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_NEVER);
    assert_verdict(f, "b", PLAN_GOES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(a_node_is_refused_as_a_whole),
        PLAN_TEST(what_has_finished_is_gone_at_once),
        PLAN_TEST(what_terminates_has_its_successor),
        PLAN_TEST(a_finalizer_keeps_the_node),
        PLAN_TEST(what_never_goes_says_why),
        PLAN_TEST(the_flags_of_the_drain_count),
        PLAN_TEST(a_budget_that_waits_for_others_is_not_sure),
        PLAN_TEST(a_budget_that_waits_for_one_to_be_made_again),
        PLAN_TEST(what_terminates_is_waited_for),
        PLAN_TEST(daemon_pods_stay),
        PLAN_TEST(names_that_do_not_exist_are_left_out),
        PLAN_TEST(what_is_pinned_never_goes),
        PLAN_TEST(what_does_not_stop_has_no_time),
        PLAN_TEST(what_tolerates_the_cordon_may_come_back),
        PLAN_TEST(a_namespace_that_is_deleted_takes_its_pods_with_it),
        PLAN_TEST(nobody_knows_about_a_node_that_does_not_answer),
        PLAN_TEST(what_is_not_ready_may_go_past_its_budget),
        PLAN_TEST(a_bare_pod_under_a_budget),
        PLAN_TEST(a_budget_that_was_not_looked_at_is_not_called_hopeless),
        PLAN_TEST(a_budget_that_cannot_be_computed_says_so),
        PLAN_TEST(budgets_that_may_not_be_read_are_not_guessed_at),
        PLAN_TEST(only_what_the_selector_selects),
        PLAN_TEST(rules_skip_and_wait),
        PLAN_TEST(mirror_pods_stay_and_finished_ones_go),
        PLAN_TEST(daemon_pods_are_refused_without_the_flag),
        PLAN_TEST(verdicts_add_up),
        PLAN_TEST(a_job_that_fails_makes_none),
        PLAN_TEST(a_node_that_is_refused_fails_no_job),
    };
    return cmocka_run_group_tests_name("engine/plan", tests, NULL, NULL);
}
