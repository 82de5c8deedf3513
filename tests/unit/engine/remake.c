/* Tests of src/engine/remake.c. */
#include "engine/remake.h"

#include "lint_site.h"

#define JOB(name)                                                                                  \
    ",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'" name "','uid':'j-" name   \
    "','controller':true}]"
#define RS                                                                                         \
    ",'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web-1',"              \
    "'uid':'u','controller':true}]"

struct desk {
    struct site s;
    struct remake_stores stores;
    struct remake r;
    struct remade out;
};

static int begin(void **state) {
    struct desk *d = xnew(struct desk);
    site_init(&d->s);
    d->stores = (struct remake_stores){.jobs = d->s.jobs,
                                       .accounts = d->s.accounts,
                                       .replica_sets = d->s.replica_sets,
                                       .stateful_sets = d->s.stateful_sets};
    d->r = (struct remake)REMAKE_INIT(&d->s.arena, remake_look, &d->stores);
    *state = d;
    return 0;
}

static int end(void **state) {
    struct desk *d = *state;
    remake_done(&d->r);
    site_done(&d->s);
    free(d);
    return 0;
}

static void job(struct desk *d, const char *name, const char *spec, const char *status) {
    site_put(&d->s, &kind_job,
             "{'metadata':{'namespace':'x','name':'%s'},'spec':{%s},'status':{%s}}", name, spec,
             status);
}

/* "": it is made again. */
static void expect(struct desk *d, const char *pod, const char *text) {
    const struct pod *p = (const struct pod *)store_get(d->s.w.pods, "x", pod);
    assert_non_null(p);
    bool unmade = remake_judge(&d->r, p, &d->out);
    if (unmade != (*text != '\0'))
        fail_msg("%s: %s", pod, unmade ? d->out.text : "is made again");
    if (unmade)
        assert_string_equal(d->out.text, text);
}

/* Of one that was just judged, when all were. */
static void expect_rest(struct desk *d, const char *pod, const char *text) {
    const struct pod *p = (const struct pod *)store_get(d->s.w.pods, "x", pod);
    bool said = remake_judge_rest(&d->r, p, &d->out);
    assert_int_equal(said, *text != '\0');
    if (said)
        assert_string_equal(d->out.text, text);
}

static void one_failure_too_many(void **state) {
    struct desk *d = *state;
    job(d, "a", "'backoffLimit':0", "");
    job(d, "b", "'backoffLimit':2", "'failed':2");
    job(d, "c", "'backoffLimit':1", "");
    site_pod(&d->s, "a-1", "w1", "a", JOB("a"), true, "");
    site_pod(&d->s, "b-1", "w1", "b", JOB("b"), true, "");
    site_pod(&d->s, "c-1", "w1", "c", JOB("c"), true, "");
    site_pod(&d->s, "c-2", "w1", "c", JOB("c"), true, "");
    expect(d, "a-1", "evicting it makes Job a fail for good: backoffLimit 0");
    assert_int_equal(d->out.code, BLOCKER_JOB_WOULD_FAIL);
    assert_int_equal(d->out.limit, 1);
    assert_string_equal(d->out.name, "a");
    expect(d, "b-1", "evicting it makes Job b fail for good: backoffLimit 2, 2 pods have failed");
    /* those that go together count together, and not with what goes another time */
    expect(d, "c-1", "");
    expect(d, "c-2", "evicting it makes Job c fail for good: backoffLimit 1, 1 goes before it");
    assert_int_equal(d->out.limit, 2);
    remake_again(&d->r);
    expect(d, "c-2", "");
}

static void what_the_policy_says(void **state) {
    struct desk *d = *state;
    job(d, "a",
        "'podFailurePolicy':{'rules':[{'action':'FailJob','onPodConditions':[{'type':"
        "'DisruptionTarget'}]}]}",
        "");
    job(d, "b",
        "'backoffLimit':0,'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':[{"
        "'type':'DisruptionTarget'}]}]}",
        "");
    site_pod(&d->s, "a-1", "w1", "a", JOB("a"), true, "");
    site_pod(&d->s, "b-1", "w1", "b", JOB("b"), true, "");
    expect(d, "a-1",
           "evicting it makes Job a fail for good: rule 1 of its podFailurePolicy says FailJob");
    assert_int_equal(d->out.limit, 0); /* no number helps */
    expect(d, "b-1", "");
    d->r.how = JOB_POD_DELETED; /* without the condition nothing is ignored */
    expect(d, "a-1", "");
    expect(d, "b-1", "evicting it makes Job b fail for good: backoffLimit 0");
}

static void an_index_of_its_own(void **state) {
    struct desk *d = *state;
    job(d, "a", "'backoffLimitPerIndex':1,'completionMode':'Indexed'", "'failed':40");
    site_put(&d->s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'a-1','annotations':{'" JOB_INDEX_FAILURES
             "':'1','" JOB_INDEX "':'7'}" JOB("a") "},'spec':{'nodeName':'w1'},'status':{"
                                                   "'phase':'Running'}}");
    site_pod(&d->s, "a-2", "w1", "a", JOB("a"), true, "");
    expect(d, "a-2", "");
    expect(
        d, "a-1",
        "evicting it makes index 7 of Job a fail for good, and the Job when the others are done: "
        "backoffLimitPerIndex 1");
}

static void index_pod(struct desk *d, const char *name, const char *index) {
    site_put(&d->s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s','annotations':{'" JOB_INDEX
             "':'%s'}" JOB("a") "},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}",
             name, index);
}

/* One index more than may fail, and the Job does not wait for the others. */
static void one_index_too_many(void **state) {
    struct desk *d = *state;
    job(d, "a", "'backoffLimitPerIndex':0,'maxFailedIndexes':3,'completionMode':'Indexed'",
        "'failed':2,'failedIndexes':'3-4','active':5");
    index_pod(d, "a-1", "1");
    index_pod(d, "a-2", "2");
    expect(d, "a-1",
           "evicting it makes index 1 of Job a fail for good, and the Job when the others are "
           "done: backoffLimitPerIndex 0");
    expect(d, "a-2",
           "evicting it makes Job a fail for good: index 2 fails (backoffLimitPerIndex 0), and "
           "maxFailedIndexes is 3");
    assert_int_equal(d->out.limit, 0);
    expect_rest(d, "a-2",
                "evicting it makes Job a fail for good: index 2 fails (backoffLimitPerIndex 0), "
                "and maxFailedIndexes is 3; 3 pods of it that are not evicted end then");
}

/* Who went before is not made again either, when the Job fails because of the next. */
static void the_others_of_a_job_that_fails(void **state) {
    struct desk *d = *state;
    job(d, "c", "'backoffLimit':1", "'active':4");
    site_pod(&d->s, "c-1", "w1", "c", JOB("c"), true, "");
    site_pod(&d->s, "c-2", "w1", "c", JOB("c"), true, "");
    site_pod(&d->s, "c-3", "w1", "c", JOB("c"), true, "");
    expect(d, "c-1", "");
    expect_rest(d, "c-1", ""); /* by itself */
    expect(d, "c-2", "evicting it makes Job c fail for good: backoffLimit 1, 1 goes before it");
    expect_rest(d, "c-2",
                "evicting it makes Job c fail for good: backoffLimit 1, 1 goes before it; 2 pods "
                "of it that are not evicted end then");
    expect(d, "c-3", "evicting it makes Job c fail for good: backoffLimit 1, 2 go before it");
    d->out = (struct remade){.end = REMAKE_WELL};
    expect_rest(d, "c-1",
                "Job c makes it no more: it fails for good when c-2 is evicted as well: "
                "backoffLimit 1, 1 goes before it; 1 pod of it that is not evicted ends then");
    assert_int_equal(d->out.code, BLOCKER_JOB_WOULD_FAIL);
    assert_int_equal(d->out.limit, 3);
}

static void jobs_that_nothing_is_said_of(void **state) {
    struct desk *d = *state;
    job(d, "done", "'backoffLimit':0", "'conditions':[{'type':'Complete','status':'True'}]");
    job(d, "asleep", "'backoffLimit':0,'suspend':true", "");
    job(d, "other", "'backoffLimit':0,'managedBy':'example.com/queue'", "");
    job(d, "own", "'backoffLimit':0,'managedBy':'kubernetes.io/job-controller'", "");
    site_pod(&d->s, "done-1", "w1", "a", JOB("done"), true, "");
    site_pod(&d->s, "asleep-1", "w1", "a", JOB("asleep"), true, "");
    site_pod(&d->s, "other-1", "w1", "a", JOB("other"), true, "");
    site_pod(&d->s, "own-1", "w1", "a", JOB("own"), true, "");
    site_pod(&d->s, "gone-1", "w1", "a", JOB("gone"), true, "");
    expect(d, "done-1", "");
    expect(d, "asleep-1", "");
    expect(d, "other-1", "");
    expect(d, "own-1", "evicting it makes Job own fail for good: backoffLimit 0");
    expect(d, "gone-1", "");
}

#define DELETED(name, uid, more)                                                                   \
    "{'metadata':{'namespace':'x','name':'" name "','uid':'" uid                                   \
    "','deletionTimestamp':'2026-11-15T07:00:00Z','finalizers':['" more "']}}"

/* Whatever its deletion waits for: its controller makes nothing for it any more. */
static void an_owner_that_is_being_deleted(void **state) {
    struct desk *d = *state;
    site_put(&d->s, &kind_replica_set, DELETED("web-1", "u", "example.com/keep"));
    site_put(&d->s, &kind_stateful_set, DELETED("db", "uid-db", "foregroundDeletion"));
    site_put(&d->s, &kind_stateful_set, DELETED("new", "uid-other", "foregroundDeletion"));
    site_put(&d->s, &kind_job, DELETED("j", "j-j", "foregroundDeletion"));
    site_pod(&d->s, "a", "w1", "a", RS, true, "");
    site_pod(&d->s, "b", "w1", "a", SITE_OWNER("StatefulSet", "db"), true, "");
    site_pod(&d->s, "c", "w1", "a", JOB("j"), true, "");
    site_pod(&d->s, "other", "w1", "a", SITE_OWNER("StatefulSet", "new"), true, "");
    site_pod(&d->s, "foreign", "w1", "a",
             SITE_OWNER_OF("apps.kruise.io/v1beta1", "StatefulSet", "db"), true, "");
    expect(d, "a",
           "no replacement is made: its ReplicaSet web-1 is being deleted (finalizer "
           "example.com/keep)");
    assert_int_equal(d->out.code, BLOCKER_REPLACEMENT_REFUSED);
    assert_string_equal(d->out.name, "web-1");
    assert_non_null(strstr(d->out.help, "let the deletion of ReplicaSet web-1 end"));
    expect(d, "b",
           "no replacement is made: its StatefulSet db is being deleted (finalizer "
           "foregroundDeletion)");
    expect(d, "c",
           "no replacement is made: its Job j is being deleted (finalizer foregroundDeletion)");
    expect(d, "other", "");   /* one of its name is not its own */
    expect(d, "foreign", ""); /* nor is one of another group */
    d->stores.replica_sets = NULL;
    expect(d, "a", "");
}

static void an_account_that_is_gone(void **state) {
    struct desk *d = *state;
    site_put(&d->s, &kind_service_account, "{'metadata':{'namespace':'x','name':'there'}}");
    site_put(&d->s, &kind_service_account, "{'metadata':{'namespace':'y','name':'gone'}}");
    site_pod(&d->s, "a", "w1", "a", RS, true, ",'serviceAccountName':'there'");
    site_pod(&d->s, "b", "w1", "a", RS, true, ",'serviceAccountName':'gone'");
    site_pod(&d->s, "bare", "w1", "a", "", true, ",'serviceAccountName':'gone'");
    expect(d, "a", "");
    expect(d, "b", "no replacement can be made: its ServiceAccount gone is gone");
    assert_int_equal(d->out.code, BLOCKER_REPLACEMENT_REFUSED);
    expect(d, "bare", "");     /* nobody makes it again in any case */
    d->stores.accounts = NULL; /* what cannot be read is taken to be well */
    expect(d, "b", "");
}

static void quota(struct desk *d, const char *name, const char *hard, const char *used,
                  const char *more) {
    site_put(
        &d->s, &kind_resource_quota,
        "{'metadata':{'namespace':'x','name':'%s'},'spec':{'hard':{%s}%s},'status':{'used':{%s}}}",
        name, hard, more, used);
}

/* Two too many: the replacement of the third has the place that the others gave back. */
static void a_quota_below_its_use(void **state) {
    struct desk *d = *state;
    quota(d, "few", "'pods':'3'", "'pods':'5'", "");
    site_pod(&d->s, "a", "w1", "a", RS, true, "");
    site_pod(&d->s, "b", "w1", "a", RS, true, "");
    site_pod(&d->s, "c", "w1", "a", RS, true, "");
    remake_quotas(&d->r, d->s.quotas, NULL);
    expect(d, "a", "no replacement can be made: ResourceQuota few allows 3 pods, and 5 are used");
    assert_string_equal(d->out.resource, "pods");
    expect(d, "b", "no replacement can be made: ResourceQuota few allows 3 pods, and 5 are used");
    expect(d, "c", "");
}

/* A quota that is used up lets the replacement in when the pod is gone; one of another namespace,
 * one for some pods only and one of what the pod does not ask for have nothing to do with it. */
static void quotas_that_keep_nobody(void **state) {
    struct desk *d = *state;
    quota(d, "used-up", "'pods':'3'", "'pods':'3'", "");
    quota(d, "some", "'pods':'1'", "'pods':'3'", ",'scopes':['BestEffort']");
    quota(d, "disk", "'limits.ephemeral-storage':'1Gi','requests.storage':'1'",
          "'limits.ephemeral-storage':'2Gi','requests.storage':'9'", "");
    site_put(&d->s, &kind_resource_quota,
             "{'metadata':{'namespace':'y','name':'far'},'spec':{'hard':{'pods':'0'}},'status':{"
             "'used':{'pods':'1'}}}");
    site_pod(&d->s, "a", "w1", "a", RS, true, "");
    remake_quotas(&d->r, d->s.quotas, NULL);
    expect(d, "a", "");
}

static void what_a_pod_asks_for_counts(void **state) {
    struct desk *d = *state;
    quota(d, "cpu", "'requests.cpu':'1'", "'requests.cpu':'1500m'", "");
    quota(d, "limits", "'limits.memory':'1Gi'", "'limits.memory':'2Gi'", "");
    site_put(&d->s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'a'" RS
             "},'spec':{'nodeName':'w1','containers':[{"
             "'name':'c','resources':{'requests':{'cpu':'250m'},'limits':{'memory':'0'}}}]},'"
             "status':{'phase':'Running'}}");
    site_put(&d->s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'b'" RS
             "},'spec':{'nodeName':'w1','containers':[{"
             "'name':'c','resources':{'requests':{'cpu':'0'},'limits':{'memory':'1Gi'}}}]},'status'"
             ":{'phase':'Running'}}");
    remake_quotas(&d->r, d->s.quotas, "x");
    expect(
        d, "a",
        "no replacement can be made: ResourceQuota cpu allows 1 requests.cpu, and 1500m are used");
    expect(d, "b",
           "no replacement can be made: ResourceQuota limits allows 1073741824 limits.memory, and "
           "2147483648 are used");
}

static void pod_with(struct desk *d, const char *name, const char *spec) {
    site_put(&d->s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s'" RS
             "},'spec':{'nodeName':'w1',%s},'status':{'phase':'Running'}}",
             name, spec);
}

/* A quota that counts cpu or memory lets in only what says of each container how much it is. */
static void what_a_quota_demands(void **state) {
    struct desk *d = *state;
    quota(d, "q", "'limits.cpu':'9','requests.memory':'9Gi','requests.ephemeral-storage':'9Gi'",
          "'limits.cpu':'1','requests.memory':'1Gi'", "");
    quota(d, "some", "'limits.memory':'9'", "", ",'scopes':['NotTerminating']");
    pod_with(d, "bare", "'containers':[{'name':'c'}]");
    pod_with(
        d, "half",
        "'containers':[{'name':'c','resources':{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}}]");
    pod_with(d, "init",
             "'containers':[{'name':'c','resources':{'limits':{'cpu':'1','memory':'1'}}}],"
             "'initContainers':[{'name':'i','resources':{'requests':{'cpu':'1','memory':'1'}}}]");
    pod_with(d, "well",
             "'containers':[{'name':'c','resources':{'limits':{'cpu':'0','memory':'1'}}}]");
    pod_with(d, "whole", "'resources':{'limits':{'cpu':'1'}},'containers':[{'name':'c'}]");
    expect(d, "bare", "");
    remake_quotas(&d->r, d->s.quotas, NULL);
    expect(d, "bare",
           "no replacement can be made, unless a LimitRange adds it: ResourceQuota q demands "
           "limits.cpu, which container c does not set");
    assert_int_equal(d->out.code, BLOCKER_REPLACEMENT_REFUSED);
    assert_string_equal(d->out.help, "set limits.cpu in the template of its owner");
    expect(d, "half",
           "no replacement can be made, unless a LimitRange adds it: ResourceQuota q demands "
           "requests.memory, which container c does not set");
    expect(d, "init",
           "no replacement can be made, unless a LimitRange adds it: ResourceQuota q demands "
           "limits.cpu, which container i does not set");
    expect(d, "well", "");
    expect(d, "whole", "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_failure_too_many),
        TEST(what_the_policy_says),
        TEST(an_index_of_its_own),
        TEST(jobs_that_nothing_is_said_of),
        TEST(one_index_too_many),
        TEST(the_others_of_a_job_that_fails),
        TEST(an_owner_that_is_being_deleted),
        TEST(an_account_that_is_gone),
        TEST(a_quota_below_its_use),
        TEST(quotas_that_keep_nobody),
        TEST(what_a_pod_asks_for_counts),
        TEST(what_a_quota_demands),
    };
    return cmocka_run_group_tests_name("remake", tests, NULL, NULL);
}
