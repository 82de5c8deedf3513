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

#define BOATS "/apis/example.com/v1/namespaces/default/boats"

static void boats(struct sim_site *s, int code, const char *method, const char *path,
                  const char *subresources) {
    _cleanup_free_ char *body = xasprintf(
        "{\"metadata\":{\"name\":\"boats.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":"
        "\"Namespaced\",\"names\":{\"plural\":\"boats\",\"kind\":\"Boat\"},\"versions\":[{\"name\":"
        "\"v1\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
        "\"properties\":{\"spec\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"
        "true},"
        "\"status\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}}%s}]}}",
        subresources);
    _cleanup_free_ char *target =
        xasprintf("/apis/apiextensions.k8s.io/v1/customresourcedefinitions%s", path);
    sim_ask(s, code, method, target, body);
    sim_pass(s, SEC(1));
}

/* Objects from before there was a scale: without a number, or with something else in its place. The
 * words are those of a kube-apiserver v1.36.3. */
static void test_custom_without(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    boats(&s, 201, "POST", "", "");
    sim_ask(&s, 201, "POST", BOATS,
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Boat\",\"metadata\":{\"name\":\"b\"}}");
    sim_ask(&s, 201, "POST", BOATS,
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Boat\",\"metadata\":{\"name\":\"a\"},"
            "\"spec\":{\"replicas\":\"x\"}}");
    boats(&s, 200, "PATCH", "/boats.example.com",
          ",\"subresources\":{\"scale\":{\"specReplicasPath\":\".spec.replicas\","
          "\"statusReplicasPath\":\".status.replicas\"}}");
    json_t *e = sim_ask(&s, 500, "GET", BOATS "/b/scale", NULL);
    assert_string_equal(sim_str(e, "message"), "Internal error occurred: the spec replicas field "
                                               "\".spec.replicas\" does not exist");
    assert_string_equal(sim_str(e, "reason"), "InternalError");
    assert_int_equal(json_array_size(sim_at(e, "details.causes")), 1);
    assert_string_equal(sim_str(e, "details.causes.0.message"),
                        "the spec replicas field \".spec.replicas\" does not exist");
    assert_null(sim_at(e, "details.causes.0.reason"));
    e = sim_ask(&s, 400, "PATCH", BOATS "/b/scale", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    assert_string_equal(sim_str(e, "message"),
                        "the spec replicas field \".spec.replicas\" cannot be empty");
    e = sim_ask(&s, 400, "PUT", BOATS "/b/scale",
                "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"replicas\":-2147483648}}");
    assert_string_equal(sim_str(e, "message"),
                        "the spec replicas field \".spec.replicas\" cannot be empty");
    json_t *x = sim_ask(&s, 200, "PATCH", BOATS "/b/scale", "{\"spec\":{\"replicas\":2}}");
    assert_int_equal(sim_int(x, "spec.replicas"), 2);
    assert_int_equal(sim_int(sim_ask(&s, 200, "GET", BOATS "/b", NULL), "spec.replicas"), 2);
    static const struct {
        const char *method, *body;
    } asked[] = {
        {"GET", NULL},
        {"PATCH", "{\"spec\":{\"replicas\":2}}"},
        {"PUT", "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":2}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        e = sim_ask(&s, 500, asked[i].method, BOATS "/a/scale", asked[i].body);
        assert_string_equal(sim_str(e, "message"),
                            ".spec.replicas accessor error: x is of the type "
                            "string, expected int64");
        assert_null(sim_at(e, "reason"));
        assert_null(sim_at(e, "details"));
    }
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_custom),
        cmocka_unit_test(test_custom_without),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
