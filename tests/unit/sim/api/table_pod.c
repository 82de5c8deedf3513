/* Pods as `kubectl get pods` shows them. The cases are those that printPod() of Kubernetes 1.36.3
 * (pkg/printers/internalversion/printers.go) tells apart, the cells what its tests expect of them;
 * tests/cluster/test_tables.py compares hundreds more with a living server. */
#include "table_expect.h"

/* Cells: ready, status, restarts; the others are those of an empty pod. */
static void expect_pod(const char *meta, const char *spec, const char *status, const char *ready,
                       const char *reason, const char *restarts) {
    _cleanup_free_ char *object =
        xasprintf("{'metadata':{'name':'p'%s},'spec':{%s},'status':{%s}}", meta, spec, status);
    _cleanup_free_ char *cells =
        xasprintf("['p','%s','%s','%s','<unknown>','<none>','<none>','<none>','<none>']", ready,
                  reason, restarts);
    expect_cells("", "Pod", object, cells);
}

#define ONE         "'containers':[{'name':'a'}]"
#define TWO         "'containers':[{'name':'a'},{'name':'b'}]"
#define RUNNING     "{'name':'a','ready':true,'restartCount':3,'state':{'running':{}}}"
#define COMPLETED   "{'name':'b','state':{'terminated':{'exitCode':0,'reason':'Completed'}}}"
#define CRASHED     "{'name':'c','state':{'terminated':{'exitCode':1,'reason':'Crash'}}}"
#define READY       "{'type':'Ready','status':'True'}"
#define INITIALIZED "{'type':'Initialized','status':'True'}"

static void test_columns(void **state) {
    (void)state;
    expect_columns("", "Pod",
                   "Name:string:name:0|Ready:string::0|Status:string::0|Restarts:string::0|"
                   "Age:string::0|IP:string::1|Node:string::1|Nominated Node:string::1|"
                   "Readiness Gates:string::1");
}

static void test_containers(void **state) {
    (void)state;
    static const struct {
        const char *spec, *status, *ready, *reason, *restarts;
    } rows[] = {
        {"", "", "0/0", "", "0"},
        {TWO, "'phase':'Pending'", "0/2", "Pending", "0"},
        {TWO, "'phase':'Failed','reason':'Evicted'", "0/2", "Evicted", "0"},
        /* Gated by the scheduler, whatever else is said. */
        {ONE,
         "'phase':'Pending','reason':'Other','conditions':[{'type':'PodScheduled',"
         "'status':'False','reason':'SchedulingGated'}]",
         "0/1", "SchedulingGated", "0"},
        {ONE, "'phase':'Pending','conditions':[{'type':'Ready','reason':'SchedulingGated'}]", "0/1",
         "Pending", "0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_pod("", rows[i].spec, rows[i].status, rows[i].ready, rows[i].reason,
                   rows[i].restarts);
}

static void test_container_statuses(void **state) {
    (void)state;
    static const struct {
        const char *statuses, *ready, *reason, *restarts;
    } rows[] = {
        {RUNNING ",{'restartCount':3}", "1/2", "Running", "6"},
        /* A state with a reason wins over the phase, the first container over the others. */
        {"{'state':{'waiting':{'reason':'A'}}},{'state':{'waiting':{'reason':'B'}}}", "0/2", "A",
         "0"},
        {RUNNING ",{'state':{'waiting':{'reason':'B'}}}", "1/2", "B", "3"},
        {"{'ready':true,'state':{'waiting':{}}}", "0/2", "Running", "0"},
        {"{'ready':true,'state':{}}", "0/2", "Running", "0"},
        {"{'ready':true,'state':{'running':null}}", "0/2", "Running", "0"},
        {"{'ready':false,'state':{'running':{}}}", "0/2", "Running", "0"},
        {"{'restartCount':-1}", "0/2", "Running", "-1"},
        /* How a container ended. */
        {"{'state':{'terminated':{'exitCode':7}}}", "0/2", "ExitCode:7", "0"},
        {"{'state':{'terminated':{'exitCode':0}}}", "0/2", "ExitCode:0", "0"},
        {"{'state':{'terminated':{'exitCode':137,'signal':9}}}", "0/2", "Signal:9", "0"},
        {"{'state':{'terminated':{'exitCode':137,'signal':9,'reason':'OOMKilled'}}}", "0/2",
         "OOMKilled", "0"},
        /* Completed, but not all of it. */
        {COMPLETED, "0/2", "Completed", "0"},
        {COMPLETED "," RUNNING, "1/2", "NotReady", "3"},
        {COMPLETED "," RUNNING "],'conditions':[" READY, "1/2", "Running", "3"},
        {COMPLETED "," RUNNING "],'conditions':[{'type':'Ready','status':'False'}," READY, "1/2",
         "Running", "3"},
        {COMPLETED "," CRASHED "," RUNNING, "1/2", "Crash", "3"},
        {COMPLETED "," CRASHED "," RUNNING "],'conditions':[" READY, "1/2", "Running", "3"},
        {CRASHED "," COMPLETED "," RUNNING, "1/2", "Crash", "3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *status =
            xasprintf("'phase':'Running','containerStatuses':[%s]", rows[i].statuses);
        expect_pod("", TWO, status, rows[i].ready, rows[i].reason, rows[i].restarts);
    }
}

#define INIT1   ONE ",'initContainers':[{'name':'i'}]"
#define INIT2   ONE ",'initContainers':[{'name':'i'},{'name':'k'}]"
#define SIDECAR ONE ",'initContainers':[{'name':'i','restartPolicy':'Always'}]"
#define MIXED   ONE ",'initContainers':[{'name':'i'},{'name':'s','restartPolicy':'Always'}]"
#define I_DONE  "{'name':'i','restartCount':2,'state':{'terminated':{'exitCode':0}}}"
#define K_DONE  "{'name':'k','restartCount':2,'state':{'terminated':{'exitCode':0}}}"

static void test_init_containers(void **state) {
    (void)state;
    static const struct {
        const char *spec, *inits, *others, *ready, *reason, *restarts;
    } rows[] = {
        {INIT1, "{'name':'i','restartCount':3,'state':{}}", "", "0/1", "Init:0/1", "3"},
        {INIT2, "{'name':'i','state':{'running':{}}},{'name':'k'}", "", "0/1", "Init:0/2", "0"},
        {INIT2, I_DONE ",{'name':'k','restartCount':1}", "", "0/1", "Init:1/2", "3"},
        {INIT1, "{'name':'i','state':{'waiting':{'reason':'PodInitializing'}}}", "", "0/1",
         "Init:0/1", "0"},
        {INIT1, "{'name':'i','state':{'waiting':{'reason':'ErrImagePull'}}}", "", "0/1",
         "Init:ErrImagePull", "0"},
        {INIT1, "{'name':'i','state':{'waiting':{}}}", "", "0/1", "Init:0/1", "0"},
        {INIT1, "{'name':'i','state':{'terminated':{'exitCode':5}}}", "", "0/1", "Init:ExitCode:5",
         "0"},
        {INIT1, "{'name':'i','state':{'terminated':{'exitCode':5,'signal':15}}}", "", "0/1",
         "Init:Signal:15", "0"},
        {INIT1, "{'name':'i','state':{'terminated':{'exitCode':5,'reason':'Error'}}}", "", "0/1",
         "Init:Error", "0"},
        /* Done: only the containers' restarts count. */
        {INIT2, I_DONE "," K_DONE, RUNNING, "1/1", "Running", "3"},
        /* Once initialized, the containers are looked at although a status lags behind. */
        {INIT1, "{'name':'i','restartCount':9}", RUNNING "],'conditions':[" INITIALIZED, "1/1",
         "Init:0/1", "3"},
        {INIT1, "{'name':'i','restartCount':9}",
         RUNNING "],'conditions':[{'type':'Initialized','status':'False'}," INITIALIZED, "0/1",
         "Init:0/1", "9"},
        /* Sidecars count among the containers. */
        {SIDECAR, "", "", "0/2", "Running", "0"},
        {SIDECAR, "{'name':'i','started':false,'restartCount':1,'state':{'running':{}}}", "", "0/2",
         "Init:0/1", "1"},
        {SIDECAR, "{'name':'i','started':true,'ready':true,'restartCount':4}", RUNNING, "2/2",
         "Running", "7"},
        {SIDECAR, "{'name':'i','started':true,'restartCount':4}", RUNNING, "1/2", "Running", "7"},
        {SIDECAR, "{'name':'i','state':{'terminated':{'exitCode':3}}}", "", "0/2",
         "Init:ExitCode:3", "0"},
        {SIDECAR, "{'name':'i','started':true,'state':{'terminated':{'exitCode':3}}}", "", "0/2",
         "Running", "0"},
        /* Of a status without its container nothing is known. */
        {SIDECAR, "{'name':'x','started':true,'ready':true,'state':{'running':{}}}", "", "0/2",
         "Init:0/1", "0"},
        /* In another order than the spec. */
        {MIXED, "{'name':'s','started':true,'ready':true,'restartCount':1}," I_DONE, RUNNING, "2/2",
         "Running", "4"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *status =
            xasprintf("'phase':'Running','initContainerStatuses':[%s],'containerStatuses':[%s]",
                      rows[i].inits, rows[i].others);
        expect_pod("", rows[i].spec, status, rows[i].ready, rows[i].reason, rows[i].restarts);
    }
}

/* A container that was started that often, and ended last then. */
static char *restarted(int count, const char *time) {
    return xasprintf("{'name':'i','restartCount':%d,'lastState':{'terminated':{'exitCode':1,"
                     "'finishedAt':%s}}}",
                     count, time);
}

static void test_restarts(void **state) {
    (void)state;
    static const struct {
        int count;
        const char *time;
        int count2;
        const char *time2, *restarts;
    } rows[] = {
        {3, "'2026-11-15T07:59:50Z'", 0, "null", "3 (10s ago)"},
        {3, "'2026-11-15T07:54:30Z'", 4, "'2026-11-15T07:56:00Z'", "7 (4m ago)"},
        {3, "'2026-11-10T08:00:00Z'", 6, "'2026-11-05T08:00:00Z'", "9 (5d ago)"},
        {1, "'2026-11-15T08:00:05Z'", 0, "null", "1 (<invalid> ago)"},
        {1, "'2026-11-15T08:00:01Z'", 0, "null", "1 (0s ago)"},
        /* No restarts: no time either. */
        {0, "'2026-11-15T07:59:50Z'", 0, "null", "0"},
        {2, "null", 1, "'0001-01-01T00:00:00Z'", "3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *one = restarted(rows[i].count, rows[i].time);
        _cleanup_free_ char *two = restarted(rows[i].count2, rows[i].time2);
        _cleanup_free_ char *status =
            xasprintf("'phase':'Running','containerStatuses':[%s,%s]", one, two);
        expect_pod("", TWO, status, "0/2", "Running", rows[i].restarts);
    }
}

/* While a pod is initialized, those of its init containers count; then only those of sidecars. */
static void test_restarts_of_init_containers(void **state) {
    (void)state;
    static const struct {
        const char *spec, *also, *ready, *reason, *restarts;
    } rows[] = {
        {INIT1, "", "0/1", "Init:0/1", "3 (10s ago)"},
        {INIT1, "'state':{'terminated':{'exitCode':0}},", "0/1", "Running", "1 (80s ago)"},
        {SIDECAR, "'started':true,", "0/2", "Running", "4 (10s ago)"},
        {SIDECAR, "", "0/2", "Init:0/1", "3 (10s ago)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *init = restarted(3, "'2026-11-15T07:59:50Z'");
        _cleanup_free_ char *main = restarted(1, "'2026-11-15T07:58:40Z'");
        _cleanup_free_ char *status =
            xasprintf("'phase':'Running','initContainerStatuses':[{%s%s],'containerStatuses':[%s]",
                      rows[i].also, init + 1, main);
        expect_pod("", rows[i].spec, status, rows[i].ready, rows[i].reason, rows[i].restarts);
    }
}

static void test_deletion(void **state) {
    (void)state;
    static const char gone[] = ",'deletionTimestamp':'2026-11-15T08:00:30Z'";
    expect_pod(gone, ONE, "'phase':'Running'", "0/1", "Terminating", "0");
    expect_pod(gone, ONE, "'phase':'Pending','reason':'Other'", "0/1", "Terminating", "0");
    expect_pod(gone, ONE, "'phase':'Running','reason':'NodeLost'", "0/1", "Unknown", "0");
    expect_pod(gone, ONE, "'phase':'Succeeded'", "0/1", "Succeeded", "0");
    expect_pod(gone, ONE, "'phase':'Failed','reason':'Evicted'", "0/1", "Evicted", "0");
    expect_pod(gone, ONE, "'phase':'Failed','reason':'NodeLost'", "0/1", "Unknown", "0");
    expect_pod("", ONE, "'phase':'Running','reason':'NodeLost'", "0/1", "NodeLost", "0");
    expect_pod(",'deletionTimestamp':null", ONE, "'phase':'Running'", "0/1", "Running", "0");
}

static void test_wide(void **state) {
    (void)state;
    static const struct {
        const char *spec, *status, *cells;
    } rows[] = {
        {"'nodeName':'n1'", "'podIP':'10.0.0.1','nominatedNodeName':'n2'",
         "'10.0.0.1','n1','n2','<none>'"},
        {"", "'podIPs':[{'ip':'fd00::1'},{'ip':'10.0.0.1'}]",
         "'fd00::1','<none>','<none>','<none>'"},
        {"", "'podIP':'10.0.0.9','podIPs':[{'ip':'fd00::1'}]",
         "'10.0.0.9','<none>','<none>','<none>'"},
        {"'readinessGates':[]", "", "'<none>','<none>','<none>','<none>'"},
        {"'readinessGates':[{'conditionType':'a'},{'conditionType':'b'},{'conditionType':'c'}]",
         "'conditions':[{'type':'a','status':'True'},{'type':'b','status':'False'},"
         "{'type':'b','status':'True'},{'type':'z','status':'True'}]",
         "'<none>','<none>','<none>','1/3'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'p','creationTimestamp':'2026-11-15T05:00:00Z'},"
                      "'spec':{%s},'status':{%s}}",
                      rows[i].spec, rows[i].status);
        _cleanup_free_ char *cells = xasprintf("['p','0/0','','0','3h',%s]", rows[i].cells);
        expect_cells("", "Pod", object, cells);
    }
}

static void test_conditions(void **state) {
    (void)state;
    static const struct {
        const char *phase, *conditions;
    } rows[] = {
        {"Succeeded", "[{'type':'Completed','status':'True','reason':'Succeeded','message':"
                      "'The pod has completed successfully.'}]"},
        {"Failed", "[{'type':'Completed','status':'True','reason':'Failed','message':"
                   "'The pod failed.'}]"},
        {"Running", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct api_table_options options = {.version = "v1", .now = time_now()};
        _cleanup_free_ char *object = xasprintf("{'status':{'phase':'%s'}}", rows[i].phase);
        _cleanup_json_ json_t *table = table_of(api_table_find("", "Pod"), object, &options);
        const json_t *conditions = json_object_get(row_of(table), "conditions");
        if (rows[i].conditions)
            expect_json(conditions, rows[i].conditions);
        else
            assert_null(conditions);
    }
}

/* Numbers that no kubelet writes: no overflow, one row. */
static void test_huge_numbers(void **state) {
    (void)state;
    struct api_table_options options = {.version = "v1", .now = time_now()};
    _cleanup_json_ json_t *table =
        table_of(api_table_find("", "Pod"),
                 "{'status':{'containerStatuses':[{'restartCount':9223372036854775807},"
                 "{'restartCount':9223372036854775807,'state':{'terminated':{"
                 "'exitCode':-9223372036854775808,'signal':0}}}]}}",
                 &options);
    expect_json(json_array_get(json_object_get(row_of(table), "cells"), 2),
                "'ExitCode:-9223372036854775808'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_containers),
        cmocka_unit_test(test_container_statuses),
        cmocka_unit_test(test_init_containers),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_restarts_of_init_containers),
        cmocka_unit_test(test_deletion),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_huge_numbers),
    };
    return cmocka_run_group_tests_name("table_pod", tests, NULL, NULL);
}
