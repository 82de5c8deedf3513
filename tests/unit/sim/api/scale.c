/* The scale subresource. */
#include "sim/api/subresources.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

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
    /* the columns of pkg/printers/internalversion */
    json_t *t = sim_ask_as(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d/scale",
                           TABLE, NULL, NULL);
    assert_string_equal(sim_str(t, "kind"), "Table");
    assert_string_equal(sim_str(t, "columnDefinitions.1.name"), "Desired");
    assert_string_equal(sim_str(t, "columnDefinitions.2.name"), "Available");
    assert_string_equal(sim_str(t, "rows.0.cells.0"), "d");
    assert_int_equal(sim_int(t, "rows.0.cells.1"), 5);
    sim_ask_as(&s, 400, "GET",
               "/apis/apps/v1/namespaces/default/deployments/d/scale?includeObject=Some", TABLE,
               NULL, NULL);
    sim_site_done(&s);
}

/* Of a custom object it is the schema that knows which numbers are good: the words are those of a
 * kube-apiserver v1.36.3. */
static void test_custom(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(
        &s, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "{\"metadata\":{\"name\":\"boats.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"boats\",\"kind\":\"Boat\"},"
        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
        "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
        "\"properties\":{\"masts\":{\"type\":\"integer\",\"minimum\":0}}},\"status\":{\"type\":"
        "\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"}}}}}},\"subresources\":{"
        "\"scale\":{\"specReplicasPath\":\".spec.masts\",\"statusReplicasPath\":"
        "\".status.replicas\"}}}]}}");
    sim_pass(&s, SEC(1));
    sim_ask(&s, 201, "POST", "/apis/example.com/v1/namespaces/default/boats",
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Boat\",\"metadata\":{\"name\":\"b\"},"
            "\"spec\":{\"masts\":1}}");
    json_t *e = sim_ask(&s, 422, "PATCH", "/apis/example.com/v1/namespaces/default/boats/b/scale",
                        "{\"spec\":{\"replicas\":-1}}");
    assert_string_equal(sim_str(e, "details.kind"), "Boat");
    assert_non_null(strstr(sim_str(e, "message"),
                           ".spec.masts: Invalid value: -1: should be a non-negative integer"));
    json_t *x = sim_ask(&s, 200, "PATCH", "/apis/example.com/v1/namespaces/default/boats/b/scale",
                        "{\"spec\":{\"replicas\":2}}");
    assert_int_equal(sim_int(x, "spec.replicas"), 2);
    json_t *t = sim_ask_as(&s, 200, "GET", "/apis/example.com/v1/namespaces/default/boats/b/scale",
                           TABLE, NULL, NULL);
    assert_string_equal(sim_str(t, "rows.0.cells.0"), "b");
    assert_int_equal(sim_int(t, "rows.0.cells.1"), 2);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_custom),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
