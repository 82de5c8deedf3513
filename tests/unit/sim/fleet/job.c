/* Jobs: completions, failures, back-off, deadlines, time to live. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A template whose pods end after two seconds with this code. */
#define QUICK                                                                                      \
    "\"template\":{\"metadata\":{\"annotations\":{\"sim.slipway.dev/"                              \
    "run\":\"2s\",\"sim.slipway.dev/"                                                              \
    "exit\":\"%d\"}},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"                      \
    "\"name\":\"c\",\"image\":\"i\"}]}}"

static void test_ends(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    char template[512], body[1024];
    (void)snprintf(template, sizeof template, QUICK, 0);
    (void)snprintf(
        body, sizeof body,
        "{\"metadata\":{\"name\":\"good\"},\"spec\":{\"completions\":4,\"parallelism\":2,%s}}",
        template);
    sim_ask(&s, 201, "POST", "/apis/batch/v1/namespaces/default/jobs", body);
    (void)snprintf(
        body, sizeof body,
        "{\"metadata\":{\"name\":\"indexed\"},\"spec\":{\"completions\":3,\"parallelism\":3,"
        "\"completionMode\":\"Indexed\",\"ttlSecondsAfterFinished\":30,%s}}",
        template);
    sim_ask(&s, 201, "POST", "/apis/batch/v1/namespaces/default/jobs", body);
    (void)snprintf(template, sizeof template, QUICK, 3);
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"bad\"},\"spec\":{\"backoffLimit\":1,%s}}", template);
    sim_ask(&s, 201, "POST", "/apis/batch/v1/namespaces/default/jobs", body);
    sim_pass(&s, SEC(25));
    json_t *i = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/indexed", NULL);
    assert_string_equal(sim_str(i, "status.completedIndexes"), "0-2");
    sim_pass(&s, SEC(60));
    json_t *g = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/good", NULL);
    assert_int_equal(sim_int(g, "status.succeeded"), 4);
    assert_string_equal(sim_str(g, "status.conditions.1.type"), "Complete");
    json_t *b = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/bad", NULL);
    assert_int_equal(sim_int(b, "status.failed"), 2);
    assert_string_equal(sim_str(b, "status.conditions.1.type"), "Failed");
    assert_string_equal(sim_str(b, "status.conditions.1.reason"), "BackoffLimitExceeded");
    sim_ask(&s, 404, "GET", "/apis/batch/v1/namespaces/default/jobs/indexed",
            NULL); /* its time is over */
    sim_site_done(&s);
}

#define DAY                                                                                        \
    "\"template\":{\"metadata\":{\"annotations\":{\"sim.slipway.dev/run\":\"24h\"}},\"spec\":{"    \
    "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static void make_job(struct sim_site *s, const char *name, const char *spec) {
    char body[1024];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s" DAY "}}", name,
                   spec);
    sim_ask(s, 201, "POST", "/apis/batch/v1/namespaces/default/jobs", body);
}

/* A time.Duration goes round: that one is over before it has begun. */
static void test_deadline(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    make_job(&s, "hour", "\"activeDeadlineSeconds\":3600,");
    make_job(&s, "ages", "\"activeDeadlineSeconds\":1000000000000000000,");
    sim_pass(&s, SEC(60));
    json_t *j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/ages", NULL);
    assert_string_equal(sim_str(j, "status.conditions.0.reason"), "DeadlineExceeded");
    j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/hour", NULL);
    assert_null(sim_at(j, "status.conditions.0"));
    sim_pass(&s, SEC(3600));
    j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/hour", NULL);
    assert_string_equal(sim_str(j, "status.conditions.0.reason"), "DeadlineExceeded");
    sim_site_done(&s);
}

static void evict_all(struct sim_site *s) {
    json_t *list = sim_ask(s, 200, "GET", "/api/v1/namespaces/default/pods", NULL), *pod;
    size_t i;
    list = json_deep_copy(list);
    json_array_foreach(json_object_get(list, "items"), i, pod) {
        char path[256], body[256];
        const char *name = sim_str(pod, "metadata.name");
        (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s/eviction", name);
        (void)snprintf(body, sizeof body,
                       "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
                       "\"%s\"}}",
                       name);
        sim_ask(s, 201, "POST", path, body);
    }
    json_decref(list);
}

#define ON_DISRUPTION(action)                                                                      \
    "\"podFailurePolicy\":{\"rules\":[{\"action\":\"" action "\",\"onPodConditions\":[{\"type\":"  \
    "\"DisruptionTarget\",\"status\":\"True\"}]}]},"

/* Evicted pods are counted, ignored, or the end of their Job, as its policy says. */
static void test_policies(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    make_job(&s, "counts", "\"backoffLimit\":1,");
    make_job(&s, "strict", ON_DISRUPTION("FailJob"));
    make_job(&s, "patient", "\"backoffLimit\":0," ON_DISRUPTION("Ignore"));
    make_job(&s, "once", "\"backoffLimit\":0,");
    sim_pass(&s, SEC(20));
    evict_all(&s);
    sim_pass(&s, SEC(60));
    json_t *j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/counts", NULL);
    assert_int_equal(sim_int(j, "status.failed"), 1);
    assert_int_equal(sim_int(j, "status.active"), 1);
    j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/patient", NULL);
    assert_null(json_object_get(json_object_get(j, "status"), "failed"));
    assert_int_equal(sim_int(j, "status.active"), 1);
    j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/once", NULL);
    assert_string_equal(sim_str(j, "status.conditions.1.type"), "Failed");
    assert_string_equal(sim_str(j, "status.conditions.1.reason"), "BackoffLimitExceeded");
    j = sim_ask(&s, 200, "GET", "/apis/batch/v1/namespaces/default/jobs/strict", NULL);
    assert_string_equal(sim_str(j, "status.conditions.1.type"), "Failed");
    assert_string_equal(sim_str(j, "status.conditions.1.reason"), "PodFailurePolicy");
    assert_non_null(strstr(sim_str(j, "status.conditions.1.message"),
                           " has condition DisruptionTarget matching FailJob rule at index 0"));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
