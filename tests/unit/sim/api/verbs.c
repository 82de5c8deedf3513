/* Patches and collections. */
#include "sim/api/api.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_patches(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":"
            "{\"app\":\"x\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_ask_as(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", NULL,
               "application/strategic-merge-patch+json",
               "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"}"
               ",{\"name\":\"e\",\"image\":\"k\"}]}}}}");
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(json_array_size(sim_at(d, "spec.template.spec.containers")), 2);
    sim_ask(
        &s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
        "[{\"op\":\"test\",\"path\":\"/spec/"
        "replicas\",\"value\":3},{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4}]");
    sim_ask(&s, 422, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3}]");
    json_t *e = sim_ask_as(&s, 415, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", NULL,
                           "application/apply-patch+yaml", "{}");
    assert_non_null(strstr(sim_str(e, "message"), "server-side apply is not simulated"));
    e = sim_ask(&s, 422, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
                "{\"spec\":{\"replicas\":\"x\"}}");
    assert_string_equal(sim_str(e, "details.causes.0.field"), "patch");
    sim_ask(&s, 404, "PATCH", "/apis/apps/v1/namespaces/default/deployments/none", "{}");
    sim_site_done(&s);
}

static void test_collection(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "DELETE",
                        "/api/v1/namespaces/default/configmaps?labelSelector=n%20in%20(a,b)", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 2);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/a", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/c", NULL);
    sim_site_done(&s);
}

/* The words are those of a kube-apiserver v1.36.3. */
static void test_refused_patches(void **state) {
    (void)state;
    static const struct {
        const char *query, *type, *body;
        int code;
        const char *message;
    } rows[] = {
        {"", "strategic-merge", "{\"kind\":7}", 422,
         " \"\" is invalid: patch: Invalid value: \"map[kind:7]\": cannot convert int64 to string"},
        {"", "strategic-merge", "{\"data\":{\"a\":true}}", 422,
         " \"\" is invalid: patch: Invalid value: \"map[data:map[a:true]]\": unrecognized type: "
         "string"},
        {"", "strategic-merge", "{\"data\":7}", 422,
         " \"\" is invalid: patch: Invalid value: \"map[data:7]\": cannot restore map from int64"},
        {"", "strategic-merge", "{\"metadata\":7}", 422,
         " \"\" is invalid: patch: Invalid value: \"map[metadata:7]\": cannot restore struct from: "
         "int64"},
        {"?fieldValidation=Strict", "strategic-merge",
         "{\"data\":{\"a\":\"1\",\"a\":\"2\"},\"x\":1}", 422,
         " \"\" is invalid: patch: Invalid value: \"map[data:map[a:2] x:1]\": strict decoding "
         "error: duplicate field \"data.a\", unknown field \"x\""},
        {"", "strategic-merge", "{\"a\"}", 400, "invalid character '}' after object key"},
        {"", "json", "{", 400, "error decoding patch: unexpected end of JSON input"},
        {"?fieldValidation=Ignore", "json", "{", 400, "unexpected end of JSON input"},
        {"?fieldValidation=Ignore", "merge", "{", 400, "Invalid JSON Patch"},
        {"?fieldValidation=Ignore", "merge", "[]", 422,
         " \"\" is invalid: patch: Invalid value: \"[]\": couldn't get version/kind; json parse "
         "error: "
         "json: cannot unmarshal array into Go value of type struct { APIVersion string "
         "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"},
    };
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"b\"}}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128], type[64];
        (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/configmaps/c%s",
                       rows[i].query);
        (void)snprintf(type, sizeof type, "application/%s-patch+json", rows[i].type);
        json_t *e = sim_ask_as(&s, rows[i].code, "PATCH", path, NULL, type, rows[i].body);
        assert_string_equal(sim_str(e, "message"), rows[i].message);
    }
    /* nobody looks at the kind in a strategic patch */
    sim_ask_as(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/c", NULL,
               "application/strategic-merge-patch+json", "{\"kind\":\"Other\"}");
    sim_site_done(&s);
}

/* Some of a collection: whether what follows would be selected nobody looks. */
static void test_part_of_a_collection(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/kube-public/configmaps", body);
    }
    json_t *l =
        sim_ask(&s, 200, "DELETE",
                "/api/v1/namespaces/kube-public/configmaps?limit=1&labelSelector=n%3Da", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 1);
    assert_non_null(sim_str(l, "metadata.continue"));
    assert_null(sim_at(l, "metadata.remainingItemCount"));
    l = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/kube-public/configmaps?limit=1", NULL);
    assert_int_equal(sim_int(l, "metadata.remainingItemCount"), 1);
    l = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/kube-public/configmaps?limit=1", NULL);
    assert_null(sim_at(l, "metadata.continue"));
    assert_null(sim_at(l, "metadata.remainingItemCount"));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_part_of_a_collection),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_collection),
        cmocka_unit_test(test_refused_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
