/* Tests of src/engine/why_trouble.c. The reasons are the kubelet's (pkg/kubelet/images/types.go,
 * pkg/kubelet/container/sync_result.go, pkg/kubelet/events/event.go). */
#include "engine/why.h"

#include "why_scene.h"

#define STATUS(container)                                                                          \
    "'phase':'Running'," UNREADY ",'containerStatuses':[{'name':'c'," container "}]"

/* The one cause of a budget that lacks these pods. */
static const struct why_link *why_not(struct scene *s, const char *status) {
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2", status);
    scene_budget(s, "web", "'maxUnavailable':1", 2, 1, 1);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->object, "x/web-2");
    return l;
}

static void a_crash_loop(void **state) {
    const struct why_link *l =
        why_not(*state, STATUS("'restartCount':6,'state':{'waiting':{'reason':'CrashLoopBackOff',"
                               "'message':'back-off 2m40s restarting'}},'lastState':{'terminated':{"
                               "'exitCode':137,'reason':'OOMKilled'}}"));
    assert_string_equal(l->causes[0]->text, "container c crashes again and again: 6 restarts, last "
                                            "exit code 137 (OOMKilled)");
    assert_int_equal(l->causes[0]->since, NOW - SEC(600));
    assert_string_equal(l->remedies[0].command, "kubectl -n x logs web-2 -c c --previous");
}

/* Between two crashes it runs: that is no other trouble. */
static void a_crash_loop_that_runs_just_now(void **state) {
    const struct why_link *l =
        why_not(*state, STATUS("'restartCount':2,'ready':false,'state':{'running':{}},'lastState':{"
                               "'terminated':{'exitCode':1,'reason':'Error'}}"));
    assert_string_equal(l->causes[0]->text,
                        "container c crashes again and again: 2 restarts, last exit code 1");
}

static void an_image(void **state) {
    const struct why_link *l =
        why_not(*state, STATUS("'restartCount':0,'state':{'waiting':{'reason':'ImagePullBackOff',"
                               "'message':'not found'}}"));
    assert_string_equal(l->causes[0]->text,
                        "image example.com/a:1 cannot be pulled: ImagePullBackOff, not found");
    assert_non_null(remedy_of(l, "registry"));
    assert_null(remedy_of(l, "scale"));
}

static void a_missing_secret(void **state) {
    const struct why_link *l = why_not(
        *state, STATUS("'restartCount':0,'state':{'waiting':{'reason':'CreateContainerConfigError',"
                       "'message':'secret s not found'}}"));
    assert_contains(l->causes[0]->text, "container c cannot be made: CreateContainerConfigError, ");
    assert_non_null(remedy_of(l, "kubectl -n x describe pod web-2"));
}

static void a_probe(void **state) {
    struct scene *s = *state;
    scene_add(
        s, &kind_event,
        "{'metadata':{'namespace':'x','name':'e1'},'involvedObject':{'kind':'Pod','namespace':"
        "'x','name':'web-2','uid':'u-web-2'},'reason':'Unhealthy','message':'Readiness probe "
        "failed: 503','lastTimestamp':'2026-11-15T07:59:00Z'}");
    /* older, and of an earlier pod of that name */
    scene_add(
        s, &kind_event,
        "{'metadata':{'namespace':'x','name':'e2'},'involvedObject':{'kind':'Pod','namespace':"
        "'x','name':'web-2','uid':'u-web-2'},'reason':'Unhealthy','message':'old',"
        "'lastTimestamp':'2026-11-15T07:50:00Z'}");
    scene_add(
        s, &kind_event,
        "{'metadata':{'namespace':'x','name':'e3'},'involvedObject':{'kind':'Pod','namespace':"
        "'x','name':'web-2','uid':'other'},'reason':'Unhealthy','message':'another',"
        "'lastTimestamp':'2026-11-15T07:59:59Z'}");
    const struct why_link *l =
        why_not(s, STATUS("'restartCount':0,'ready':false,'state':{'running':{}}"));
    assert_string_equal(l->causes[0]->text, "runs but is not ready: Readiness probe failed: 503");
}

static void a_volume_that_is_attached_elsewhere(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_event,
              "{'metadata':{'namespace':'x','name':'e'},'involvedObject':{'kind':'Pod','namespace':"
              "'x','name':'web-2'},'reason':'FailedAttachVolume','message':'Multi-Attach error',"
              "'eventTime':'2026-11-15T07:59:00.000000Z'}");
    const struct why_link *l =
        why_not(s, "'phase':'Pending'," UNREADY ",'containerStatuses':[{'name':'c','state':{"
                   "'waiting':{'reason':'ContainerCreating'}}}]");
    assert_string_equal(l->causes[0]->text,
                        "cannot start on n2: FailedAttachVolume: Multi-Attach error");
    assert_int_equal(l->causes[0]->severity, SEVERITY_WARN);
    assert_non_null(remedy_of(l, "kubectl -n x describe pod web-2"));
}

static void a_node_that_does_not_answer(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n3'},'status':{'conditions':[{'type':'Ready','status':"
              "'Unknown'}]}}");
    scene_node(s, "n1");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n3", "'phase':'Running'," UNREADY);
    scene_budget(s, "web", "'minAvailable':1", 2, 1, 1);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(l->causes[0]->text, "its node n3 does not answer");
    assert_int_equal(l->causes[0]->code, BLOCKER_NODE_UNREACHABLE);
    assert_string_equal(l->remedies[0].command, "slipway why node/n3");
    /* a replica more is made on a node that does answer */
    assert_non_null(remedy_of(l, "scale deployment web --replicas=3"));
}

static void a_pod_that_leaves(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "web", 2);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_add(s, &kind_pod,
              "{'metadata':{'namespace':'x','name':'web-2','labels':{'app':'web'},"
              "'deletionTimestamp':'2026-11-15T08:00:10Z'," OWNED(
                  "ReplicaSet", "web-1") "},'spec':{'nodeName':'n2'}," RUNNING "}");
    scene_budget(s, "web", "'maxUnavailable':1", 2, 1, 1);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    assert_contains(l->causes[0]->text, "terminating");
    assert_string_equal(l->remedies[0].text, "wait until they are ready");
}

/* The counts of restarts differ, and some wait while others run: one trouble, one line. */
static void the_same_trouble_is_one_line(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_node(s, "n2");
    scene_deployment(s, "web", 4);
    scene_pod(s, "web-1", "web", "n1", POD_WELL);
    scene_pod(s, "web-2", "web", "n2",
              STATUS("'restartCount':6,'state':{'waiting':{'reason':'CrashLoopBackOff'}}"));
    scene_pod(s, "web-3", "web", "n2", STATUS("'restartCount':3,'state':{'running':{}}"));
    scene_pod(s, "web-4", "web", "n2",
              STATUS("'restartCount':0,'state':{'waiting':{'reason':'ErrImagePull'}}"));
    scene_budget(s, "web", "'maxUnavailable':1", 4, 1, 3);
    const struct why_link *l = link_of(scene_why(s, "n1"), BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(l->n_causes, 2);
    assert_int_equal(l->causes[0]->pods, 2);
    assert_string_equal(l->causes[0]->object, "x/web-2");
    assert_int_equal(l->causes[1]->pods, 1);
}

/* Whatever a kubelet writes: it is cut where a character ends. */
static void long_messages_are_cut(void **state) {
    struct str status = STR_INIT;
    str_add(&status,
            "'phase':'Running'," UNREADY ",'containerStatuses':[{'name':'c','restartCount':"
            "0,'state':{'waiting':{'reason':'ErrImagePull','message':'x");
    for (int i = 0; i < 2000; i++)
        str_add(&status, "\xc3\xa4");
    str_add(&status, "'}}}]");
    const struct why_link *l = why_not(*state, str_get(&status));
    const char *text = l->causes[0]->text;
    assert_in_range(strlen(text), 200, 400);
    assert_string_equal(text + strlen(text) - 5, "\xc3\xa4...");
    str_done(&status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(a_crash_loop),
        SCENE_TEST(a_crash_loop_that_runs_just_now),
        SCENE_TEST(an_image),
        SCENE_TEST(a_missing_secret),
        SCENE_TEST(a_probe),
        SCENE_TEST(a_volume_that_is_attached_elsewhere),
        SCENE_TEST(a_node_that_does_not_answer),
        SCENE_TEST(a_pod_that_leaves),
        SCENE_TEST(the_same_trouble_is_one_line),
        SCENE_TEST(long_messages_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
