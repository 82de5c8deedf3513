/* ReplicaSets keep their number. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_numbers(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/replicasets",
            "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":"
            "{\"app\":\"r\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"r\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_pass(&s, SEC(20));
    json_t *r = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/replicasets/r", NULL);
    assert_int_equal(sim_int(r, "status.readyReplicas"), 3);
    assert_int_equal(sim_int(r, "status.observedGeneration"), 1);
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL);
    char path[256];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s",
                   sim_str(l, "items.0.metadata.name"));
    sim_ask(&s, 200, "DELETE", path, NULL);
    sim_pass(&s, SEC(20));
    assert_int_equal(
        json_array_size(
            sim_at(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL), "items")),
        3);
    sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/replicasets/r",
            "{\"spec\":{\"replicas\":1}}");
    sim_pass(&s, SEC(40));
    assert_int_equal(
        json_array_size(
            sim_at(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods", NULL), "items")),
        1);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
