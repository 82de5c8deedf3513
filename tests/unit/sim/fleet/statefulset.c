/* StatefulSets: in order, with names and claims of their own. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_order(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(
        &s, 201, "POST", "/apis/apps/v1/namespaces/default/statefulsets",
        "{\"metadata\":{\"name\":\"db\"},\"spec\":{\"replicas\":3,\"serviceName\":\"db\","
        "\"selector\":{\"matchLabels\":{\"app\":\"db\"}},\"template\":{\"metadata\":{\"labels\":{"
        "\"app\":\"db\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, MSEC(300));
    assert_int_equal(
        json_array_size(
            sim_at(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL), "items")),
        1);
    /* the words of stateful_pod_control.go */
    json_t *said = sim_ask(&s, 200, "GET",
                           "/api/v1/namespaces/default/"
                           "events?fieldSelector=involvedObject.kind%3DStatefulSet",
                           NULL);
    assert_string_equal(sim_str(said, "items.0.reason"), "SuccessfulCreate");
    assert_string_equal(sim_str(said, "items.0.message"),
                        "Create Pod db-0 in StatefulSet db successful");
    sim_pass(&s, SEC(60));
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 3);
    assert_string_equal(sim_str(l, "items.0.metadata.name"), "db-0");
    assert_string_equal(sim_str(l, "items.2.spec.hostname"), "db-2");
    /* created one after the other, each when the one before was ready */
    assert_true(strcmp(sim_str(l, "items.1.metadata.creationTimestamp"),
                       sim_str(l, "items.0.status.startTime")) > 0);
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/db-1", NULL);
    sim_pass(&s, SEC(60));
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/db-1", NULL);
    assert_null(sim_at(p, "metadata.deletionTimestamp"));
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/statefulsets/db",
            "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":5}}}}");
    sim_pass(&s, SEC(120));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/statefulsets/db", NULL);
    assert_int_equal(sim_int(d, "status.updatedReplicas"), 3);
    assert_string_equal(sim_str(d, "status.currentRevision"), sim_str(d, "status.updateRevision"));
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/statefulsets/db",
            "{\"spec\":{\"replicas\":1}}");
    sim_pass(&s, SEC(120));
    l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 1);
    assert_string_equal(sim_str(l, "items.0.metadata.name"), "db-0");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
