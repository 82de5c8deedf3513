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

static void make_maps(struct sim_site *s, const char *names) {
    for (const char *n = names; *n; n++) {
        char body[64];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"%c\"}}", *n);
        sim_ask(s, 201, "POST", "/api/v1/namespaces/kube-public/configmaps", body);
    }
}

#define MAPS "/api/v1/namespaces/kube-public/configmaps"

/* A collection is deleted by the options of a list. */
static void test_collection_goes_on(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    make_maps(&s, "abcdef");
    json_t *e = sim_ask(&s, 400, "DELETE", MAPS "?continue=%21%21", NULL);
    assert_string_equal(sim_str(e, "message"), "invalid continue token: continue key is not valid: "
                                               "illegal base64 data at input byte 0");
    e = sim_ask(&s, 400, "DELETE", MAPS "?resourceVersion=abc", NULL);
    assert_string_equal(sim_str(e, "message"),
                        "invalid resource version: resourceVersion: Invalid value: \"abc\": "
                        "strconv.ParseUint: parsing \"abc\": invalid syntax");
    sim_ask(&s, 504, "DELETE", MAPS "?resourceVersion=999999999", NULL);
    json_t *l = sim_ask(&s, 200, "GET", MAPS "?limit=2", NULL);
    char path[512];
    (void)snprintf(path, sizeof path, MAPS "?continue=%s&resourceVersion=%s",
                   sim_str(l, "metadata.continue"), sim_str(l, "metadata.resourceVersion"));
    e = sim_ask(&s, 400, "DELETE", path, NULL);
    assert_string_equal(sim_str(e, "message"),
                        "specifying resource version is not allowed when using continue");
    (void)snprintf(path, sizeof path, MAPS "?limit=2&continue=%s", sim_str(l, "metadata.continue"));
    for (int i = 0; i < 2; i++) { /* the second time of what has gone, as it was */
        json_t *d = sim_ask(&s, 200, "DELETE", path, NULL);
        assert_int_equal(json_array_size(sim_at(d, "items")), 2);
        assert_string_equal(sim_str(d, "items.0.metadata.name"), "c");
        assert_string_equal(sim_str(d, "items.1.metadata.name"), "d");
        assert_int_equal(sim_int(d, "metadata.remainingItemCount"), 2);
    }
    l = sim_ask(&s, 200, "GET", MAPS, NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 4);
    assert_string_equal(sim_str(l, "items.2.metadata.name"), "e");
    sim_site_done(&s);
}

/* resourceVersion and uid in a query are preconditions as well. */
static void test_preconditions_in_the_query(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    make_maps(&s, "ab");
    json_t *a = sim_ask(&s, 200, "GET", MAPS "/a", NULL);
    json_t *e = sim_ask(&s, 409, "DELETE", MAPS "?resourceVersion=0", NULL);
    assert_non_null(strstr(sim_str(e, "message"), "the ResourceVersion in the precondition (0)"));
    sim_ask(&s, 409, "DELETE", MAPS "/a?resourceVersion=1", NULL);
    sim_ask(&s, 409, "DELETE", MAPS "/a?uid=x", NULL);
    char path[256];
    (void)snprintf(path, sizeof path, MAPS "/a?resourceVersion=%s",
                   sim_str(a, "metadata.resourceVersion"));
    sim_ask(&s, 200, "DELETE", path, NULL);
    /* beside a body they are not looked at */
    sim_ask(&s, 200, "DELETE", MAPS "/b?resourceVersion=1", "{}");
    sim_site_done(&s);
}

/* A document that says no version is read as none of any version. */
static void test_patched_root(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    make_maps(&s, "c");
#define ROOT(value) "[{\"op\":\"replace\",\"path\":\"\",\"value\":" value "}]"
    static const char *const bodies[] = {ROOT("{\"metadata\":{\"name\":\"q\"}}"),
                                         ROOT("{\"metadata\":{\"name\":\"c\"}}"), ROOT("{}")};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        json_t *e = sim_ask(&s, 400, "PATCH", MAPS "/c", bodies[i]);
        assert_string_equal(sim_str(e, "message"),
                            "the name of the object (c based on URL) was undeterminable: name must "
                            "be provided");
        assert_int_equal(s.last.warnings.len, i < 2);
        if (i < 2)
            assert_string_equal(s.last.warnings.p[0], "unknown field \"metadata\"");
    }
    json_t *e = sim_ask(&s, 422, "PATCH", MAPS "/c", ROOT("{\"kind\":\"Other\"}"));
    assert_string_equal(sim_str(e, "details.causes.0.message"),
                        "Invalid value: \"{\\\"kind\\\":\\\"Other\\\"}\": no kind \"Other\" is "
                        "registered for the internal version of group \"\" in scheme "
                        "\"pkg/runtime/scheme.go:111\"");
    e = sim_ask(&s, 422, "PATCH", MAPS "/c", ROOT("{\"kind\":7}"));
    assert_non_null(strstr(sim_str(e, "message"), "couldn't get version/kind; json parse error"));
    e = sim_ask(&s, 422, "PATCH", MAPS "/c?fieldValidation=Strict", ROOT("{\"x\":1}"));
    assert_string_equal(sim_str(e, "details.causes.0.message"),
                        "Invalid value: \"{\\\"x\\\":1}\": strict decoding error: unknown field "
                        "\"x\"");
    /* the members of metadata are known there, at the top */
    json_t *named =
        sim_ask(&s, 200, "PATCH", MAPS "/c", ROOT("{\"name\":\"c\",\"labels\":{\"a\":\"b\"}}"));
    assert_string_equal(sim_str(named, "metadata.labels.a"), "b");
    json_t *c = sim_ask(&s, 200, "PATCH", MAPS "/c",
                        ROOT("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                             "\"c\"},\"data\":{\"a\":\"b\"}}"));
    assert_string_equal(sim_str(c, "data.a"), "b");
    sim_site_done(&s);
}

static void test_system_priority_classes(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"
    json_t *e = sim_ask(&s, 403, "DELETE", CLASSES "/system-node-critical", NULL);
    assert_string_equal(sim_str(e, "message"),
                        "priorityclasses.scheduling.k8s.io \"system-node-critical\" is forbidden: "
                        "this is a system priority class and cannot be deleted");
    sim_ask(&s, 403, "DELETE", CLASSES "/system-cluster-critical?dryRun=All", NULL);
    sim_ask(&s, 200, "GET", CLASSES "/system-node-critical", NULL);
    sim_ask(&s, 201, "POST", CLASSES, "{\"metadata\":{\"name\":\"mine\"},\"value\":1}");
    sim_ask(&s, 200, "DELETE", CLASSES "/mine", NULL);
    sim_ask(&s, 200, "DELETE", CLASSES, NULL); /* nobody looks at their names here */
    sim_ask(&s, 404, "GET", CLASSES "/system-node-critical", NULL);
    sim_site_done(&s);
}

static void test_self_link(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *body = "{\"metadata\":{\"name\":\"a\",\"selfLink\":\"/x\"}}";
    json_t *a = sim_ask(&s, 201, "POST", MAPS, body);
    assert_null(sim_at(a, "metadata.selfLink"));
    a = sim_ask(&s, 200, "PUT", MAPS "/a", body);
    assert_null(sim_at(a, "metadata.selfLink"));
    a = sim_ask(&s, 200, "PATCH", MAPS "/a", "{\"metadata\":{\"selfLink\":\"/x\"}}");
    assert_null(sim_at(a, "metadata.selfLink"));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collection_goes_on),
        cmocka_unit_test(test_preconditions_in_the_query),
        cmocka_unit_test(test_patched_root),
        cmocka_unit_test(test_system_priority_classes),
        cmocka_unit_test(test_self_link),
        cmocka_unit_test(test_part_of_a_collection),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_collection),
        cmocka_unit_test(test_refused_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
