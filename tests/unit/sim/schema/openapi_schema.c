/* Tests of schema/openapi_schema: types, references, patch rules. */
#include "sim/schema/openapi_schema.h"

#include "schema_test.h"

static json_t *schemas(const struct openapi_resource *resources, size_t n) {
    _cleanup_str_ struct str out = STR_INIT;
    const struct openapi_resource *pointers[4];
    struct jsonw w;
    assert_true(n <= ARRAY_LEN(pointers));
    for (size_t i = 0; i < n; i++)
        pointers[i] = &resources[i];
    jsonw_init(&w, &out, false);
    openapi_schemas(&w, pointers, n);
    return value_of(str_get(&out));
}

static const struct openapi_resource pods = {
    .group = "", .version = "v1", .kind = "Pod", .plural = "pods", .verbs = OPENAPI_ALL};

#define CORE      "io.k8s.api.core.v1."
#define META      "io.k8s.apimachinery.pkg.apis.meta.v1."
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"

static void property_is(const json_t *all, const char *type, const char *name,
                        const char *expected) {
    json_t *p = json_object_get(json_object_get(json_object_get(all, type), "properties"), name);
    if (!p)
        fail_msg("%s has no property %s", type, name);
    _cleanup_free_ char *text = text_of(json_incref(p));
    assert_string_equal(text, expected);
}

static void properties(void **state) {
    (void)state;
    _cleanup_json_ json_t *all = schemas(&pods, 1);
    static const struct {
        const char *type, *name, *expected;
    } rows[] = {
        {CORE "Pod", "kind", "{\"type\":\"string\"}"},
        {CORE "Pod", "spec", "{\"allOf\":[" REF(CORE "PodSpec") "],\"default\":{}}"},
        {CORE "PodSpec", "affinity", "{\"allOf\":[" REF(CORE "Affinity") "]}"},
        {CORE "PodSpec", "containers",
         "{\"type\":\"array\",\"items\":{\"allOf\":[" REF(
             CORE "Container") "],\"default\":{}},"
                               "\"x-kubernetes-patch-merge-key\":\"name\",\"x-kubernetes-patch-"
                               "strategy\":\"merge\"}"},
        {CORE "PodSpec", "volumes",
         "{\"type\":\"array\",\"items\":{\"allOf\":[" REF(
             CORE "Volume") "],\"default\":{}},"
                            "\"x-kubernetes-patch-merge-key\":\"name\","
                            "\"x-kubernetes-patch-strategy\":\"merge,retainKeys\"}"},
        {CORE "PodSpec", "nodeSelector",
         "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\",\"default\":\"\"}}"},
        {CORE "PodSpec", "overhead",
         "{\"type\":\"object\",\"additionalProperties\":{\"allOf\":[" REF(
             "io.k8s.apimachinery.pkg.api.resource.Quantity") "]}}"},
        {CORE "PodSpec", "priority", "{\"format\":\"int32\",\"type\":\"integer\"}"},
        {CORE "PodSpec", "hostNetwork", "{\"type\":\"boolean\"}"},
        {CORE "Container", "name", "{\"type\":\"string\",\"default\":\"\"}"},
        {CORE "ContainerPort", "containerPort",
         "{\"format\":\"int32\",\"type\":\"integer\",\"default\":0}"},
        {CORE "Volume", "emptyDir", "{\"allOf\":[" REF(CORE "EmptyDirVolumeSource") "]}"},
        {META "ObjectMeta", "creationTimestamp", "{\"allOf\":[" REF(META "Time") "]}"},
        {META "ManagedFieldsEntry", "fieldsV1", "{\"allOf\":[" REF(META "FieldsV1") "]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        property_is(all, rows[i].type, rows[i].name, rows[i].expected);
}

/* Whatever is referred to is there; and what is there is an object with a type or a known small
 * one. */
static void check_refs(const json_t *all, const json_t *v, size_t *n) {
    const char *key;
    json_t *member;
    size_t i;
    const char *ref = json_str(v, "$ref");
    if (ref) {
        assert_true(str_starts(ref, "#/components/schemas/"));
        if (!json_object_get(all, ref + strlen("#/components/schemas/")))
            fail_msg("%s is not there", ref);
        ++*n;
    }
    json_object_foreach((json_t *)v, key, member) check_refs(all, member, n);
    json_array_foreach(v, i, member) check_refs(all, member, n);
}

static void references(void **state) {
    (void)state;
    struct openapi_resource crds = {.group = "apiextensions.k8s.io",
                                    .version = "v1",
                                    .kind = "CustomResourceDefinition",
                                    .plural = "customresourcedefinitions",
                                    .verbs = OPENAPI_ALL,
                                    .has_scale = true};
    _cleanup_json_ json_t *a = schemas(&pods, 1), *b = schemas(&crds, 1);
    size_t n = 0;
    check_refs(a, a, &n);
    check_refs(b, b, &n);
    assert_true(n > 200);
}

static void required_and_kinds(void **state) {
    (void)state;
    _cleanup_json_ json_t *all = schemas(&pods, 1);
    _cleanup_free_ char *required = text_of(
        json_incref(json_object_get(json_object_get(all, META "OwnerReference"), "required")));
    assert_string_equal(required, "[\"apiVersion\",\"kind\",\"name\",\"uid\"]");
    assert_null(json_object_get(json_object_get(all, META "ObjectMeta"), "required"));
    _cleanup_free_ char *kinds = text_of(json_incref(
        json_object_get(json_object_get(all, CORE "Pod"), "x-kubernetes-group-version-kind")));
    assert_string_equal(kinds, "[{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}]");
    _cleanup_free_ char *list = text_of(json_incref(
        json_object_get(json_object_get(all, CORE "PodList"), "x-kubernetes-group-version-kind")));
    assert_string_equal(list, "[{\"group\":\"\",\"kind\":\"PodList\",\"version\":\"v1\"}]");
    assert_null(
        json_object_get(json_object_get(all, CORE "PodSpec"), "x-kubernetes-group-version-kind"));
}

static void custom(void **state) {
    (void)state;
    _cleanup_json_ json_t *schema =
        value_of("{\"properties\":{\"metadata\":{\"type\":\"object\"},"
                 "\"spec\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}");
    _cleanup_json_ json_t *before = json_deep_copy(schema), *odd = json_null();
    struct openapi_resource rows[] = {
        {.group = "a.b.example.com",
         .version = "v1alpha1",
         .kind = "Thing",
         .plural = "things",
         .verbs = OPENAPI_ALL,
         .custom = schema},
        {.group = "a.b.example.com",
         .version = "v1alpha1",
         .kind = "Odd",
         .plural = "odds",
         .verbs = OPENAPI_GET,
         .custom = odd},
    };
    _cleanup_json_ json_t *all = schemas(rows, 2);
    property_is(all, "com.example.b.a.v1alpha1.Thing", "metadata",
                "{\"allOf\":[" REF(META "ObjectMeta") "]}");
    property_is(all, "com.example.b.a.v1alpha1.Thing", "spec",
                "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}");
    property_is(all, "com.example.b.a.v1alpha1.Odd", "kind", "{\"type\":\"string\"}");
    assert_non_null(json_object_get(all, "com.example.b.a.v1alpha1.ThingList"));
    assert_null(json_object_get(all, "com.example.b.a.v1alpha1.OddList"));
    assert_true(json_equal(schema, before));
    size_t n = 0;
    check_refs(all, all, &n);
}

static void names(void **state) {
    (void)state;
    struct openapi_resource unknown = {.group = "", .version = "v9", .kind = "Thing"};
    _cleanup_free_ char *pod = openapi_type_name(&pods), *list = openapi_list_name(&pods),
                        *thing = openapi_type_name(&unknown);
    assert_string_equal(pod, CORE "Pod");
    assert_string_equal(list, CORE "PodList");
    assert_string_equal(thing, "v9.Thing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),
        cmocka_unit_test(references),
        cmocka_unit_test(required_and_kinds),
        cmocka_unit_test(custom),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
