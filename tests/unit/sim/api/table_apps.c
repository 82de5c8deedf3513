/* Workloads, revisions and budgets, as Kubernetes' printers show them. */
#include "table_expect.h"

#define TEMPLATE                                                                                   \
    "'template':{'spec':{'containers':[{'name':'a','image':'i:1'},{'name':'b','image':'k:2'}]}}"
#define SELECTOR "'selector':{'matchLabels':{'app':'x'}}"
#define WIDE     "'a,b','i:1,k:2'"

static void test_columns(void **state) {
    (void)state;
#define TAIL "|Containers:string::1|Images:string::1|Selector:string::1"
    expect_columns("apps", "ReplicaSet",
                   "Name:string:name:0|Desired:integer::0|Current:integer::0|Ready:integer::0|"
                   "Age:string::0" TAIL);
    expect_columns("apps", "DaemonSet",
                   "Name:string:name:0|Desired:integer::0|Current:integer::0|Ready:integer::0|"
                   "Up-to-date:integer::0|Available:integer::0|Node Selector:string::0|"
                   "Age:string::0" TAIL);
    expect_columns("apps", "StatefulSet",
                   "Name:string:name:0|Ready:string::0|Age:string::0|Containers:string::1|"
                   "Images:string::1");
    expect_columns("apps", "Deployment",
                   "Name:string:name:0|Ready:string::0|Up-to-date:string::0|Available:string::0|"
                   "Age:string::0" TAIL);
    expect_columns("batch", "Job",
                   "Name:string:name:0|Status:string::0|Completions:string::0|Duration:string::0|"
                   "Age:string::0" TAIL);
    expect_columns("apps", "ControllerRevision",
                   "Name:string:name:0|Controller:string::0|Revision:string::0|Age:string::0");
    expect_columns("policy", "PodDisruptionBudget",
                   "Name:string:name:0|Min Available:string::0|Max Unavailable:string::0|"
                   "Allowed Disruptions:integer::0|Age:string::0");
    expect_columns("autoscaling", "Scale",
                   "Name:string::0|Desired:integer::0|Available:integer::0|Age:string::0");
}

static void test_workloads(void **state) {
    (void)state;
    static const struct {
        const char *kind, *object, *cells;
    } rows[] = {
        {"ReplicaSet",
         "{'metadata':{'name':'r'},'spec':{'replicas':5," TEMPLATE "," SELECTOR "},"
         "'status':{'replicas':4,'readyReplicas':3}}",
         "['r',5,4,3,'<unknown>'," WIDE ",'app=x']"},
        {"ReplicaSet", "{'spec':{'replicas':0}}", "['',0,0,0,'<unknown>','','','<none>']"},
        {"ReplicaSet", "{'spec':{'selector':{'matchLabels':{'-':'x'}}}}",
         "['',0,0,0,'<unknown>','','','<error>']"},
        {"DaemonSet",
         "{'metadata':{'name':'d'},'spec':{'template':{'spec':{'nodeSelector':{'b':'2','a':'1'},"
         "'containers':[{'name':'a','image':'i'}]}}," SELECTOR "},'status':{"
         "'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,"
         "'updatedNumberScheduled':2,'numberAvailable':1}}",
         "['d',5,4,3,2,1,'a=1,b=2','<unknown>','a','i','app=x']"},
        {"DaemonSet", "{}", "['',0,0,0,0,0,'<none>','<unknown>','','','<none>']"},
        {"StatefulSet",
         "{'metadata':{'name':'s'},'spec':{'replicas':5," TEMPLATE "},"
         "'status':{'replicas':4,'readyReplicas':3}}",
         "['s','3/5','<unknown>'," WIDE "]"},
        {"Deployment",
         "{'metadata':{'name':'d','creationTimestamp':'2026-11-15T07:59:00Z'},'spec':{"
         "'replicas':5," TEMPLATE "," SELECTOR "},'status':{'replicas':10,'updatedReplicas':2,"
         "'readyReplicas':3,'availableReplicas':1}}",
         "['d','3/5',2,1,'60s'," WIDE ",'app=x']"},
        {"Deployment", "{}", "['','0/0',0,0,'<unknown>','','','']"},
        {"Deployment", "{'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'?'}]}}}",
         "['','0/0',0,0,'<unknown>','','','<invalid>']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cells("apps", rows[i].kind, rows[i].object, rows[i].cells);
}

static void expect_job(const char *meta, const char *spec, const char *status, const char *cells) {
    _cleanup_free_ char *object =
        xasprintf("{'metadata':{'name':'j'%s},'spec':{%s},'status':{%s}}", meta, spec, status);
    _cleanup_free_ char *all = xasprintf("['j',%s,'<unknown>','','','<none>']", cells);
    expect_cells("batch", "Job", object, all);
}

#define IS(type) "{'type':'" type "','status':'True'}"

static void test_job(void **state) {
    (void)state;
    expect_job("", "'completions':2", "'succeeded':1", "'Running','1/2',''");
    expect_job("", "'completions':0,'parallelism':5", "", "'Running','0/0',''");
    expect_job("", "", "", "'Running','0/1',''");
    expect_job("", "'parallelism':1", "'succeeded':1", "'Running','1/1',''");
    expect_job("", "'parallelism':20", "'succeeded':3", "'Running','3/1 of 20',''");
    expect_job("", "'completions':null,'parallelism':0", "", "'Running','0/1',''");
    /* How long. */
    expect_job("", "", "'startTime':'2026-11-15T07:40:00Z'", "'Running','0/1','20m'");
    expect_job("", "", "'startTime':'2026-11-15T07:40:00Z','completionTime':'2026-11-15T07:40:30Z'",
               "'Running','0/1','30s'");
    expect_job("", "", "'completionTime':'2026-11-15T07:40:30Z'", "'Running','0/1',''");
    expect_job("", "", "'startTime':'2026-11-15T07:40:30Z','completionTime':'2026-11-15T07:40:00Z'",
               "'Running','0/1','<invalid>'");
    /* What it is: what ended it first, then its deletion. */
    static const char gone[] = ",'deletionTimestamp':'2026-11-15T08:00:30Z'";
    expect_job("", "", "'conditions':[" IS("Complete") "]", "'Complete','0/1',''");
    expect_job("", "", "'conditions':[" IS("SuccessCriteriaMet") "," IS("Complete") "]",
               "'Complete','0/1',''");
    expect_job("", "", "'conditions':[" IS("FailureTarget") "," IS("Failed") "]",
               "'Failed','0/1',''");
    expect_job("", "", "'conditions':[" IS("FailureTarget") "," IS("Suspended") "]",
               "'Suspended','0/1',''");
    expect_job("", "", "'conditions':[" IS("SuccessCriteriaMet") "]",
               "'SuccessCriteriaMet','0/1',''");
    expect_job("", "", "'conditions':[" IS("SuccessCriteriaMet") "," IS("FailureTarget") "]",
               "'FailureTarget','0/1',''");
    expect_job("", "", "'conditions':[{'type':'Complete','status':'False'}]", "'Running','0/1',''");
    expect_job("", "", "'conditions':[{'type':'Complete','status':'False'}," IS("Complete") "]",
               "'Running','0/1',''");
    expect_job(gone, "", "", "'Terminating','0/1',''");
    expect_job(gone, "", "'conditions':[" IS("Suspended") "]", "'Terminating','0/1',''");
    expect_job(gone, "", "'conditions':[" IS("Failed") "]", "'Failed','0/1',''");
}

static void test_revision(void **state) {
    (void)state;
    static const struct {
        const char *owners, *controller;
    } rows[] = {
        {"[]", "<none>"},
        {"[{'apiVersion':'apps/v1','kind':'DaemonSet','name':'Web','controller':false}]", "<none>"},
        {"[{'apiVersion':'apps/v1','kind':'DaemonSet','name':'Web'}]", "<none>"},
        {"[{'apiVersion':'v1','kind':'Pod','name':'first'},"
         "{'apiVersion':'apps/v1','kind':'DaemonSet','name':'Web','controller':true}]",
         "daemonset.apps/Web"},
        {"[{'apiVersion':'v1','kind':'Pod','name':'p','controller':true}]", "pod/p"},
        {"[{'apiVersion':'x.Dev/v1','kind':'FooBar','name':'p','controller':true}]",
         "foobar.x.dev/p"},
        {"[{'apiVersion':'v1','kind':'','name':'p','controller':true}]", "p"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object = xasprintf(
            "{'metadata':{'name':'r','ownerReferences':%s},'revision':12}", rows[i].owners);
        _cleanup_free_ char *cells = xasprintf("['r','%s',12,'<unknown>']", rows[i].controller);
        expect_cells("apps", "ControllerRevision", object, cells);
    }
}

static void test_budget(void **state) {
    (void)state;
    static const struct {
        const char *spec, *cells;
    } rows[] = {
        {"'minAvailable':22", "'22','N/A'"},
        {"'maxUnavailable':'33%'", "'N/A','33%'"},
        {"'maxUnavailable':0", "'N/A','0'"},
        {"", "'N/A','N/A'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'b'},'spec':{%s},'status':{'disruptionsAllowed':5}}",
                      rows[i].spec);
        _cleanup_free_ char *cells = xasprintf("['b',%s,5,'<unknown>']", rows[i].cells);
        expect_cells("policy", "PodDisruptionBudget", object, cells);
    }
}

static void test_scale(void **state) {
    (void)state;
    expect_cells("autoscaling", "Scale",
                 "{'metadata':{'name':'s'},'spec':{'replicas':2},'status':{'replicas':1}}",
                 "['s',2,1,'<unknown>']");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_job),     cmocka_unit_test(test_revision),
        cmocka_unit_test(test_budget),  cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests_name("table_apps", tests, NULL, NULL);
}
