/* Tests of schema/openapi: paths, operations and the index. That schemas and operations are those
 * of the real server is checked by tests/fixtures/test_schema.py, kubectl's own code by the cluster
 * tests. */
#include "sim/schema/openapi.h"

#include "schema_test.h"

static const struct openapi_resource pods = {.version = "v1",
                                             .kind = "Pod",
                                             .plural = "pods",
                                             .group = "",
                                             .namespaced = true,
                                             .has_status = true,
                                             .verbs = OPENAPI_ALL};
static const struct openapi_resource nodes = {.version = "v1",
                                              .kind = "Node",
                                              .plural = "nodes",
                                              .group = "",
                                              .has_status = true,
                                              .verbs = OPENAPI_ALL};
static const struct openapi_resource deployments = {.version = "v1",
                                                    .kind = "Deployment",
                                                    .plural = "deployments",
                                                    .group = "apps",
                                                    .namespaced = true,
                                                    .has_status = true,
                                                    .has_scale = true,
                                                    .verbs = OPENAPI_ALL};

static json_t *document(const char *group, const struct openapi_resource *resources, size_t n) {
    _cleanup_str_ struct str out = STR_INIT;
    assert_true(openapi_document(group, "v1", resources, n, &out));
    return value_of(str_get(&out));
}

/* A value by keys, or NULL; an index is a key, too. */
static json_t *get(json_t *v, const char *first, ...) {
    va_list ap;
    va_start(ap, first);
    for (const char *key = first; key && v; key = va_arg(ap, const char *))
        v = json_is_array(v) ? json_array_get(v, strtoul(key, NULL, 10)) : json_object_get(v, key);
    va_end(ap);
    return v;
}

static void keys_are(const json_t *object, const char *expected) {
    _cleanup_str_ struct str keys = STR_INIT;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
        str_addf(&keys, "%s%s", keys.len ? " " : "", key);
    assert_string_equal(str_get(&keys), expected);
}

static void paths(void **state) {
    (void)state;
    struct openapi_resource all[] = {pods, nodes, deployments};
    _cleanup_json_ json_t *core = document("", all, 3), *apps = document("apps", all, 3);
    keys_are(get(core, "paths", NULL),
             "/api/v1/namespaces/{namespace}/pods /api/v1/namespaces/{namespace}/pods/{name} "
             "/api/v1/namespaces/{namespace}/pods/{name}/status /api/v1/pods "
             "/api/v1/nodes /api/v1/nodes/{name} /api/v1/nodes/{name}/status");
    keys_are(get(apps, "paths", NULL),
             "/apis/apps/v1/namespaces/{namespace}/deployments "
             "/apis/apps/v1/namespaces/{namespace}/deployments/{name} "
             "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status "
             "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale "
             "/apis/apps/v1/deployments");
    keys_are(get(core, "paths", "/api/v1/nodes/{name}", NULL), "get put patch delete parameters");
    keys_are(get(core, "paths", "/api/v1/nodes", NULL), "get post delete parameters");
    keys_are(get(core, "paths", "/api/v1/pods", NULL), "get parameters");
}

static void verbs(void **state) {
    (void)state;
    struct openapi_resource r = nodes;
    r.verbs = OPENAPI_CREATE;
    _cleanup_json_ json_t *v = document("", &r, 1);
    keys_are(get(v, "paths", NULL), "/api/v1/nodes");
    keys_are(get(v, "paths", "/api/v1/nodes", NULL), "post parameters");
    assert_null(get(v, "components", "schemas", "io.k8s.api.core.v1.NodeList", NULL));
    assert_null(
        get(v, "components", "schemas", "io.k8s.apimachinery.pkg.apis.meta.v1.Patch", NULL));
}

static bool has_parameter(const json_t *operation, const char *name) {
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(operation, "parameters"), i,
                       p) if (streq(json_str(p, "name"), name) &&
                              streq(json_str(p, "in"), "query")) return true;
    return false;
}

/* What kubectl looks for to decide on server-side validation and dry run: on every patch. */
static void kubectl_parameters(void **state) {
    (void)state;
    static const char *const all[] = {"/api/v1/nodes/{name}", "/api/v1/nodes/{name}/status"};
    _cleanup_json_ json_t *v = document("", &nodes, 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        json_t *patch = get(v, "paths", all[i], "patch", NULL);
        assert_true(has_parameter(patch, "fieldValidation"));
        assert_true(has_parameter(patch, "dryRun"));
        assert_string_equal(json_str(patch, "x-kubernetes-action"), "patch");
        _cleanup_free_ char *gvk =
            text_of(json_incref(get(patch, "x-kubernetes-group-version-kind", NULL)));
        assert_string_equal(gvk, "{\"group\":\"\",\"kind\":\"Node\",\"version\":\"v1\"}");
        assert_non_null(
            get(patch, "requestBody", "content", "application/strategic-merge-patch+json", NULL));
        assert_null(get(patch, "requestBody", "content", "application/apply-patch+yaml", NULL));
    }
    assert_true(has_parameter(get(v, "paths", "/api/v1/nodes/{name}", "delete", NULL), "dryRun"));
    assert_false(
        has_parameter(get(v, "paths", "/api/v1/nodes/{name}", "get", NULL), "fieldValidation"));
}

static void scale(void **state) {
    (void)state;
    _cleanup_json_ json_t *v = document("apps", &deployments, 1);
    json_t *put = get(v, "paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
                      "put", NULL);
    assert_string_equal(json_str(get(put, "x-kubernetes-group-version-kind", NULL), "kind"),
                        "Scale");
    assert_non_null(get(v, "components", "schemas", "io.k8s.api.autoscaling.v1.Scale", NULL));
}

static void custom_resources(void **state) {
    (void)state;
    _cleanup_json_ json_t *schema = value_of("{\"type\":\"object\",\"properties\":{\"spec\":{}}}");
    struct openapi_resource r = {.group = "slipway.dev",
                                 .version = "v1",
                                 .kind = "Policy",
                                 .plural = "policies",
                                 .verbs = OPENAPI_ALL,
                                 .custom = schema};
    _cleanup_json_ json_t *v = document("slipway.dev", &r, 1);
    json_t *patch = get(v, "paths", "/apis/slipway.dev/v1/policies/{name}", "patch", NULL);
    keys_are(get(patch, "requestBody", "content", NULL),
             "application/json-patch+json application/merge-patch+json");
    assert_true(has_parameter(patch, "fieldValidation"));
    assert_string_equal(
        json_str(get(v, "paths", "/apis/slipway.dev/v1/policies", "get", "responses", "200",
                     "content", "application/json", "schema", NULL),
                 "$ref"),
        "#/components/schemas/dev.slipway.v1.PolicyList");
}

static void nothing(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    assert_false(openapi_document("apps", "v1", &pods, 1, &out));
    assert_false(openapi_document("", "v2", &pods, 1, &out));
    assert_false(openapi_document("", "v1", NULL, 0, &out));
    assert_int_equal(out.len, 0);
    openapi_index(NULL, 0, &out);
    assert_string_equal(str_get(&out), "{\"paths\":{}}");
}

static char *url(const struct openapi_resource *resources, size_t n, const char *path) {
    _cleanup_str_ struct str out = STR_INIT;
    openapi_index(resources, n, &out);
    _cleanup_json_ json_t *v = value_of(str_get(&out));
    return xstrdup(strna(json_str(get(v, "paths", path, NULL), "serverRelativeURL")));
}

/* One entry for each group and version, and a hash that tells contents apart. */
static void hashes(void **state) {
    (void)state;
    struct openapi_resource all[] = {pods, deployments, nodes};
    _cleanup_str_ struct str out = STR_INIT;
    openapi_index(all, 3, &out);
    _cleanup_json_ json_t *v = value_of(str_get(&out));
    keys_are(get(v, "paths", NULL), "api/v1 apis/apps/v1");
    _cleanup_free_ char *both = url(all, 3, "api/v1"), *again = url(all, 3, "api/v1"),
                        *one = url(all, 2, "api/v1"), *apps = url(all, 3, "apis/apps/v1"),
                        *same_apps = url(all, 2, "apis/apps/v1");
    assert_true(str_starts(both, "/openapi/v3/api/v1?hash="));
    assert_true(str_starts(apps, "/openapi/v3/apis/apps/v1?hash="));
    assert_string_equal(both, again);
    assert_string_not_equal(both, one);
    assert_string_equal(apps, same_apps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(verbs),
        cmocka_unit_test(kubectl_parameters),
        cmocka_unit_test(scale),
        cmocka_unit_test(custom_resources),
        cmocka_unit_test(nothing),
        cmocka_unit_test(hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
