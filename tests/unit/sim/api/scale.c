/* The scale subresource. */
#include "sim/api/subresources.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_scale(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":"
            "{\"app\":\"x\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    json_t *x =
        sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d/scale", NULL);
    assert_string_equal(sim_str(x, "kind"), "Scale");
    assert_int_equal(sim_int(x, "spec.replicas"), 3);
    assert_string_equal(sim_str(x, "status.selector"), "app=x");
    x = sim_ask(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale",
                "{\"spec\":{\"replicas\":5}}");
    assert_int_equal(sim_int(x, "spec.replicas"), 5);
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(sim_int(d, "spec.replicas"), 5);
    assert_int_equal(sim_int(d, "metadata.generation"), 2);
    sim_ask(&s, 422, "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":-1}}");
    sim_ask(&s, 400, "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
            "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"replicas\":1}}");
    sim_ask(&s, 409, "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
            "{\"metadata\":{\"name\":\"d\",\"resourceVersion\":\"1\"},\"spec\":{\"replicas\":1}}");
    sim_ask(&s, 404, "GET", "/apis/apps/v1/namespaces/default/deployments/none/scale", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
