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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
