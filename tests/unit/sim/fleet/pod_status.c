/* What a kubelet reports. */
#include "sim/fleet/pod_status.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A report about a pod that the API knows; the new status is stored. */
static json_t *report(struct sim_site *s, struct pod_report r) {
    struct record *pod = shelf_get(s->fleet->pods->shelf, "default", "p");
    _cleanup_str_ struct str out = STR_INIT;
    pod_status(&s->world->codec, pod, &r, &out);
    fleet_put_status_text(s->fleet, s->fleet->pods, pod, &out);
    return sim_ask(s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
}

static const json_t *condition(const json_t *pod, const char *type) {
    size_t i;
    json_t *c;
    json_array_foreach(sim_at(pod, "status.conditions"), i,
                       c) if (!strcmp(sim_str(c, "type"), type)) return c;
    return NULL;
}

static void test_stages(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
            "\"c\","
            "\"image\":\"i<1>\"}],\"initContainers\":[{\"name\":\"i\",\"image\":\"x\"}]}}");
    struct pod_report r = {
        .stage = POD_RUNNING, .now = SIM_START, .host_ip = "1.2.3.4", .pod_ip = "5.6.7.8"};
    json_t *p = report(&s, r);
    assert_string_equal(sim_str(p, "status.phase"), "Running");
    assert_string_equal(sim_str(p, "status.podIPs.0.ip"), "5.6.7.8");
    assert_string_equal(sim_str(p, "status.hostIP"), "1.2.3.4");
    assert_string_equal(sim_str(p, "status.qosClass"), "BestEffort"); /* the server's own */
    assert_string_equal(sim_str(p, "status.initContainerStatuses.0.state.terminated.reason"),
                        "Completed");
    assert_string_equal(sim_str(p, "status.containerStatuses.0.image"), "i<1>");
    assert_string_equal(sim_str(condition(p, "Ready"), "reason"), "ContainersNotReady");
    assert_string_equal(sim_str(condition(p, "Ready"), "message"),
                        "containers with unready status: [c]");
    /* ready; what was true before is as old as it was, and what others wrote stays */
    sim_ask_as(
        &s, 200, "PATCH", "/api/v1/namespaces/default/pods/p/status", NULL,
        "application/strategic-merge-patch+json",
        "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}}");
    r.stage = POD_READY;
    r.now += SEC(5);
    p = report(&s, r);
    assert_string_equal(sim_str(condition(p, "Ready"), "status"), "True");
    assert_string_equal(sim_str(condition(p, "Ready"), "lastTransitionTime"),
                        "2026-11-15T00:00:05Z");
    assert_null(json_object_get(condition(p, "Ready"), "message"));
    assert_string_equal(sim_str(condition(p, "Initialized"), "lastTransitionTime"),
                        "2026-11-15T00:00:00Z");
    assert_string_equal(sim_str(condition(p, "DisruptionTarget"), "status"), "True");
    assert_string_equal(sim_str(p, "status.containerStatuses.0.state.running.startedAt"),
                        "2026-11-15T00:00:00Z");
    assert_true(json_is_true(sim_at(p, "status.containerStatuses.0.ready")));
    /* the power went, and came back */
    r.stage = POD_RUNNING;
    r.restarted = true;
    r.now += SEC(60);
    p = report(&s, r);
    assert_int_equal(sim_int(p, "status.containerStatuses.0.restartCount"), 1);
    assert_int_equal(sim_int(p, "status.initContainerStatuses.0.restartCount"), 0);
    assert_int_equal(sim_int(p, "status.containerStatuses.0.lastState.terminated.exitCode"), 255);
    assert_string_equal(sim_str(p, "status.containerStatuses.0.lastState.terminated.startedAt"),
                        "2026-11-15T00:00:00Z");
    assert_string_equal(sim_str(p, "status.containerStatuses.0.state.running.startedAt"),
                        "2026-11-15T00:01:05Z");
    assert_string_equal(sim_str(condition(p, "Ready"), "status"), "False");
    /* a crash, and the run after it: its end is remembered */
    r = (struct pod_report){.stage = POD_CRASHED, .exit_code = 3, .now = r.now + SEC(1)};
    p = report(&s, r);
    assert_string_equal(sim_str(p, "status.containerStatuses.0.state.waiting.reason"),
                        "CrashLoopBackOff");
    assert_int_equal(sim_int(p, "status.containerStatuses.0.lastState.terminated.exitCode"), 3);
    assert_string_equal(sim_str(p, "status.podIP"), "5.6.7.8");
    r = (struct pod_report){.stage = POD_RUNNING, .restarted = true, .now = r.now + SEC(10)};
    p = report(&s, r);
    assert_int_equal(sim_int(p, "status.containerStatuses.0.restartCount"), 2);
    assert_int_equal(sim_int(p, "status.containerStatuses.0.lastState.terminated.exitCode"), 3);
    /* the end */
    r = (struct pod_report){.stage = POD_EXITED, .now = r.now + SEC(1)};
    p = report(&s, r);
    assert_string_equal(sim_str(p, "status.phase"), "Succeeded");
    assert_string_equal(sim_str(condition(p, "Initialized"), "reason"), "PodCompleted");
    assert_string_equal(sim_str(condition(p, "Ready"), "reason"), "PodCompleted");
    assert_string_equal(sim_str(p, "status.containerStatuses.0.state.terminated.reason"),
                        "Completed");
    sim_site_done(&s);
}

/* As kubelet_pods.go makes them, although the scheduler's was there first. */
static void test_order(void **state) {
    (void)state;
    static const char *const order[] = {"DisruptionTarget", "PodReadyToStartContainers",
                                        "Initialized",      "Ready",
                                        "ContainersReady",  "PodScheduled"};
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
            "\"c\",\"image\":\"i\"}]}}");
    sim_ask_as(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/p/status", NULL,
               "application/merge-patch+json",
               "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\","
               "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"},{\"type\":\"DisruptionTarget\","
               "\"status\":\"True\"}]}}");
    for (int times = 0; times < 2; times++) {
        json_t *p = report(&s, (struct pod_report){.stage = POD_READY, .now = SIM_START});
        const json_t *list = sim_at(p, "status.conditions");
        assert_int_equal(json_array_size(list), 6);
        for (size_t i = 0; i < 6; i++)
            assert_string_equal(sim_str(json_array_get(list, i), "type"), order[i]);
        assert_string_equal(sim_str(p, "status.conditions.5.lastTransitionTime"),
                            "2026-01-02T03:04:05Z");
    }
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
