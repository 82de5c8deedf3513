/* Objects of custom kinds. */
#include <errno.h>

#include "crd_test.h"

static const char definition[] = CRD(CRD_VERSION(
    "v1", "true",
    ",'subresources':{'status':{},'scale':{'specReplicasPath':'.spec.n','statusReplicasPath':"
    "'.status.n','labelSelectorPath':'.status.sel'}}" CRD_SCHEMA(
        "'spec':{'type':'object','properties':{'n':{'x-kubernetes-preserve-unknown-fields':true},"
        "'c':{'type':'string','default':'red'},'any':{'x-kubernetes-preserve-unknown-fields':true}}"
        "},"
        "'status':{'type':'object','properties':{'n':{'x-kubernetes-preserve-unknown-fields':true},"
        "'sel':{'x-kubernetes-preserve-unknown-fields':true}}}")) "," CRD_VERSION("v2", "false",
                                                                                  CRD_SCHEMA(
                                                                                      "'spec':{'"
                                                                                      "type':'"
                                                                                      "object','x-"
                                                                                      "kubernetes-"
                                                                                      "preserve-"
                                                                                      "unknown-"
                                                                                      "fields':"
                                                                                      "true},"
                                                                                      "'status':{'"
                                                                                      "type':'"
                                                                                      "object','"
                                                                                      "properties':"
                                                                                      "{'x':{'type'"
                                                                                      ":'integer'}}"
                                                                                      "}")));

#define THING(rest)                                                                                \
    "{'kind':'Thing','apiVersion':'test.dev/v1','metadata':{'name':'a','namespace':'b'}" rest "}"

static json_t *decoded(const struct crd_version *v, const char *text) {
    _cleanup_json_ json_t *raw = J(text);
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *obj = NULL;
    if (crd_decode(v, raw, &obj, NULL, &err))
        fail_msg("%s", err_msg(&err));
    return obj;
}

static void test_decode(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(definition);
    const struct crd_version *v = crd_version(crd, "v1");
    _cleanup_json_ json_t *raw =
        J("{'kind':'Thing','apiVersion':'test.dev/v1','metadata':{'name':'a','odd':1,'labels':{}},"
          "'spec':{'x':1,'c':null},'extra':2}");
    json_t *obj = NULL;
    struct schema_notes notes = {0};
    assert_int_equal(crd_decode(v, raw, &obj, &notes, NULL), 0);
    assert_json(obj, "{'kind':'Thing','apiVersion':'test.dev/v1','metadata':{'name':'a'},'spec':{"
                     "'c':'red'}}");
    assert_notes(&notes, "unknown field \"metadata.odd\"\nunknown field \"extra\"\n"
                         "unknown field \"spec.x\"");
    json_decref(obj);
    static const char *const bad[] = {"5",
                                      "[]",
                                      "{'kind':5}",
                                      "{'apiVersion':{}}",
                                      "{'metadata':5}",
                                      "{'metadata':{'labels':[]}}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_json_ json_t *value = J(bad[i]);
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(crd_decode(v, value, &obj, NULL, &err), -EINVAL);
        assert_true(*err_msg(&err));
    }
}

static int64_t generation(const json_t *obj) {
    return json_integer_value(json_object_get(json_object_get(obj, "metadata"), "generation"));
}

static void test_prepare(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(definition);
    const struct crd_version *v = crd_version(crd, "v1"), *plain = crd_version(crd, "v2");
    _cleanup_json_ json_t *obj = decoded(v, THING(",'spec':{'n':1},'status':{'n':1}"));
    _cleanup_json_ json_t *loose = decoded(plain, THING(",'status':{'x':1}"));
    crd_object_prepare_create(v, obj);
    assert_null(json_object_get(obj, "status"));
    assert_int_equal(generation(obj), 1);
    crd_object_prepare_create(plain, loose); /* no subresource: its status is its own */
    assert_json(json_object_get(loose, "status"), "{'x':1}");

    json_object_set_new(obj, "status", J("{'n':7}"));
    _cleanup_json_ json_t *same = decoded(v, THING(",'spec':{'n':1},'status':{'n':9}")),
                          *spec = decoded(v, THING(",'spec':{'n':2}")),
                          *status = decoded(v, THING(",'spec':{'n':3},'status':{'n':9}"));
    crd_object_prepare_update(v, CRD_MAIN, same, obj);
    assert_int_equal(generation(same), 1);
    assert_json(json_object_get(same, "status"), "{'n':7}");
    crd_object_prepare_update(v, CRD_MAIN, spec, obj);
    assert_int_equal(generation(spec), 2);
    assert_json(json_object_get(spec, "status"), "{'n':7}");
    json_object_set_new(json_object_get(status, "metadata"), "labels", J("{'x':'y'}"));
    json_object_set_new(json_object_get(status, "metadata"), "managedFields", J("[{}]"));
    crd_object_prepare_update(v, CRD_STATUS, status, obj);
    assert_int_equal(generation(status), 1);
    assert_json(json_object_get(status, "status"), "{'n':9}");
    assert_json(json_object_get(status, "spec"), "{'n':1,'c':'red'}");
    assert_null(json_object_get(json_object_get(status, "metadata"), "labels"));
    assert_json(json_object_get(json_object_get(status, "metadata"), "managedFields"), "[{}]");
    /* without the subresource a status counts */
    _cleanup_json_ json_t *other = decoded(plain, THING(",'status':{'x':2}"));
    crd_object_prepare_update(plain, CRD_MAIN, other, loose);
    assert_int_equal(generation(other), 2);
}

static void test_validate(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(definition);
    const struct crd_version *v = crd_version(crd, "v1");
    struct field_errors e = {0};
    _cleanup_json_ json_t *good = decoded(v, THING(",'spec':{'n':1}"));
    crd_object_validate_create(v, good, &e);
    assert_errors(&e, "");
    _cleanup_json_ json_t *kind = J("{'kind':'Other','apiVersion':'test.dev/v2','spec':5}");
    crd_object_validate_create(v, kind, &e); /* then nothing else is looked at */
    assert_errors(&e, "kind: Invalid value: \"Other\": must be Thing\n"
                      "apiVersion: Invalid value: \"test.dev/v2\": must be test.dev/v1");
    _cleanup_json_ json_t *scale =
        decoded(v, THING(",'spec':{'n':-1,'c':5},'status':{'n':3000000000,"
                         "'sel':[1,{'b':null,'a':1.5}]}"));
    crd_object_validate_create(v, scale, &e);
    assert_errors(&e, "spec.c: Invalid value: \"integer\": spec.c in body must be of type string: "
                      "\"integer\"\n"
                      ".spec.n: Invalid value: -1: should be a non-negative integer\n"
                      ".status.n: Invalid value: 3000000000: should be less than or equal to "
                      "2147483647\n"
                      ".status.sel: Invalid value: \"\": .status.sel accessor error: [1 map[a:1.5 "
                      "b:<nil>]] is of the type []interface {}, expected string");
    _cleanup_json_ json_t *name =
        decoded(v, "{'kind':'Thing','apiVersion':'test.dev/v1','metadata':{"
                   "'name':'A'}}");
    crd_object_validate_create(v, name, &e);
    _cleanup_free_ char *text = errors_take(&e);
    assert_true(str_starts(text, "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 "
                                 "subdomain must consist of"));
    assert_true(str_ends(text, "\nmetadata.namespace: Required value"));
}

static void test_validate_update(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(definition);
    const struct crd_version *v = crd_version(crd, "v1");
    struct field_errors e = {0};
    _cleanup_json_ json_t *old = decoded(v, THING(",'spec':{'n':'x'}")), *new = json_deep_copy(old);
    json_object_set_new(json_object_get(new, "metadata"), "name", json_string("other"));
    crd_object_validate_update(v, CRD_MAIN, new, old, &e);
    assert_errors(&e, "metadata.resourceVersion: Invalid value: \"\": must be specified for an "
                      "update\n"
                      "metadata.name: Invalid value: \"other\": field is immutable\n"
                      ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, "
                      "expected int64");
    json_object_set_new(json_object_get(old, "metadata"), "resourceVersion", json_string("1"));
    crd_object_validate_update(v, CRD_STATUS, old, old, &e); /* its spec is not looked at */
    assert_errors(&e, "");
}

static void test_scale(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(definition);
    const struct crd_version *v = crd_version(crd, "v1");
    struct crd_scale scale;
    _cleanup_json_ json_t *obj = J("{'spec':{'n':3},'status':{'n':2,'sel':'a=b'}}"),
                          *none = J("{}"), *bad = J("{'spec':{'n':'x'}}"), *odd = J("{'spec':5}");
    assert_int_equal(crd_object_scale(v, obj, &scale, NULL), 0);
    assert_true(scale.has_replicas && scale.replicas == 3 && scale.status_replicas == 2);
    assert_string_equal(scale.selector, "a=b");
    assert_int_equal(crd_object_scale(v, none, &scale, NULL), 0);
    assert_true(!scale.has_replicas && !scale.replicas);
    assert_string_equal(scale.selector, "");
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(crd_object_scale(v, bad, &scale, &err), -EINVAL);
    assert_string_equal(err_msg(&err),
                        ".spec.n accessor error: x is of the type string, expected int64");
    assert_int_equal(crd_object_scale(v, odd, &scale, &err), -EINVAL);
    assert_string_equal(
        err_msg(&err),
        ".spec.n accessor error: 5 is of the type int64, expected map[string]interface{}");

    assert_int_equal(crd_object_set_replicas(v, obj, 9, NULL), 0);
    assert_int_equal(crd_object_set_replicas(v, none, 9, NULL), 0);
    assert_json(none, "{'spec':{'n':9}}");
    assert_json(json_object_get(obj, "spec"), "{'n':9}");
    assert_int_equal(crd_object_set_replicas(v, odd, 9, &err), -EINVAL);
    assert_string_equal(err_msg(&err),
                        "value cannot be set because .spec is not a map[string]interface{}");
}

static void test_settle(void **state) {
    (void)state;
    _cleanup_json_ json_t *obj =
        J("{'metadata':{'z':1,'a':2},'spec':{'z':1.0,'a':[2.5,1e3,{'y':-0.0,'x':1e30}]}}");
    crd_object_settle(obj);
    char *text = json_dumps(obj, JSON_COMPACT);
    assert_string_equal(text,
                        "{\"metadata\":{\"z\":1,\"a\":2},\"spec\":{\"a\":[2.5,1000,{\"x\":1e30,"
                        "\"y\":0}],\"z\":1}}");
    free(text);
    _cleanup_json_ json_t *crd = J("{'spec':{'b':2.0,'a':1}}");
    crd_store(crd);
    text = json_dumps(crd, JSON_COMPACT);
    assert_string_equal(text, "{\"spec\":{\"b\":2,\"a\":1}}");
    free(text);
}

static void test_fields(void **state) {
    (void)state;
    _cleanup_json_ json_t *obj = J("{'spec':{'s':'x','b':true,'n':5,'none':null}}");
    static const char *const cases[][2] = {{".spec.s", "x"},
                                           {".spec.b", "true"},
                                           {".spec.n", "5"},
                                           {".spec.none", ""},
                                           {".spec.zzz", ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        crd_object_field(obj, cases[i][0], &out);
        assert_string_equal(str_get(&out), cases[i][1]);
    }
}

static void test_warnings(void **state) {
    (void)state;
    _cleanup_json_ json_t *obj = J("{'metadata':{'finalizers':['x','a.b','a.b/c','orphan','x']}}"),
                          *old = J("{'metadata':{'finalizers':['x']}}");
    struct schema_notes notes = {0};
    crd_object_warnings(obj, old, &notes);
    assert_notes(&notes, "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name "
                         "including a path (/) to avoid accidental conflicts with other finalizer "
                         "writers");
    crd_object_warnings(old, NULL, &notes);
    assert_notes(&notes, "metadata.finalizers: \"x\": prefer a domain-qualified finalizer name to "
                         "avoid accidental conflicts with other finalizer writers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),   cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_validate), cmocka_unit_test(test_validate_update),
        cmocka_unit_test(test_scale),    cmocka_unit_test(test_settle),
        cmocka_unit_test(test_fields),   cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
