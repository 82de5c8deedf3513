/* OpenAPI v2: the rules are those of apiextensions-apiserver's pkg/controller/openapi/v2 and of
 * kube-openapi's handler; the numbers of the protobuf form are in gnostic's OpenAPIv2.proto. */
#include "sim/api/openapi_v2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

static json_t *read_json(const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *v = json_loads(copy, 0, NULL);
    assert_non_null(v);
    return v;
}

static void test_negotiate(void **state) {
    (void)state;
    static const struct {
        const char *accept, *type;
    } rows[] = {
        {NULL, "application/json"},
        {"", "application/json"},
        {"*/*", "application/json"},
        {"application/*", "application/json"},
        {"application/json;q=0.5", "application/json"},
        {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", PROTOBUF},
        {PROTOBUF, PROTOBUF},
        {"text/plain;a=b, " PROTOBUF "; q=1", PROTOBUF},
        {"application/jsonx", NULL},
        {"text/html", NULL},
        {",;,", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *type = openapi_v2_negotiate(rows[i].accept);
        if (rows[i].type)
            assert_string_equal(type, rows[i].type);
        else
            assert_null(type);
    }
}

/* The definitions of one custom resource and of ConfigMaps. */
static json_t *definitions(const char *schema) {
    _cleanup_json_ json_t *custom = read_json(schema);
    struct openapi_resource resources[] = {
        {"", "v1", "ConfigMap", "configmaps", true, false, false, OPENAPI_ALL, NULL},
        {"example.com", "v1", "Ship", "ships", true, false, false, OPENAPI_ALL, custom},
    };
    _cleanup_str_ struct str out = STR_INIT;
    openapi_v2_document(resources, 2, "application/json", &out);
    _cleanup_json_ json_t *v = json_loads(str_get(&out), 0, NULL);
    assert_non_null(v);
    assert_string_equal(json_str(v, "swagger"), "2.0");
    return json_incref(json_object_get(v, "definitions"));
}

static void expect_ship(const char *schema, const char *expected) {
    _cleanup_json_ json_t *all = definitions(schema), *want = read_json(expected);
    json_t *ship = json_object_get(all, "com.example.v1.Ship");
    assert_non_null(ship);
    json_t *spec = json_object_get(json_object_get(ship, "properties"), "spec");
    if (!json_equal(spec, want)) {
        _cleanup_free_ char *got = json_dumps(spec, 0);
        fail_msg("%s is not %s", got, expected);
    }
}

static void test_built_in(void **state) {
    (void)state;
    _cleanup_json_ json_t *all = definitions("{'type':'object'}");
    _cleanup_json_ json_t *want = read_json(
        "{'type':'object','properties':{"
        "'apiVersion':{'type':'string'},'binaryData':{'type':'object','additionalProperties':{"
        "'format':'byte','type':'string'}},'data':{'type':'object','additionalProperties':{'type':"
        "'string'}},'immutable':{'type':'boolean'},'kind':{'type':'string'},'metadata':{'$ref':"
        "'#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}},"
        "'x-kubernetes-group-version-kind':[{'group':'','kind':'ConfigMap','version':'v1'}]}");
    assert_true(json_equal(json_object_get(all, "io.k8s.api.core.v1.ConfigMap"), want));
    /* the options of deletions are of both groups */
    const json_t *options =
        json_object_get(all, "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
    assert_int_equal(json_array_size(json_object_get(options, "x-kubernetes-group-version-kind")),
                     2);
}

static void test_custom(void **state) {
    (void)state;
    expect_ship("{'type':'object','properties':{'spec':{'type':'integer','default':3,'maximum':5,"
                "'anyOf':[{'minimum':1}]}}}",
                "{'type':'integer','maximum':5}");
    expect_ship("{'type':'object','properties':{'spec':{'type':'object','required':['a','b'],"
                "'properties':{'a':{'type':'string','nullable':true},'b':{'type':'array','items':"
                "{'type':'string'}}}}}}",
                "{'type':'object','required':['b'],'properties':{'a':{},'b':{'type':'array',"
                "'items':{'type':'string'}}}}");
    expect_ship("{'type':'object','properties':{'spec':{'type':'object','required':['a'],"
                "'x-kubernetes-preserve-unknown-fields':true,'properties':{'a':{'type':'string'}}"
                "}}}",
                "{'required':['a'],'x-kubernetes-preserve-unknown-fields':true}");
    expect_ship("{'type':'object','properties':{'spec':{'type':'object',"
                "'additionalProperties':true}}}",
                "{'type':'object','additionalProperties':true}");
    expect_ship("{'type':'object','properties':{'spec':{'type':'object','properties':{},"
                "'x-kubernetes-embedded-resource':true}}}",
                "{'type':'object','x-kubernetes-embedded-resource':true,'properties':{"
                "'apiVersion':{'type':'string'},'kind':{'type':'string'},'metadata':{'$ref':"
                "'#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}}}");
    /* A schema that allows anything at its root tells nothing else. */
    _cleanup_json_ json_t *all =
        definitions("{'type':'object','x-kubernetes-preserve-unknown-fields':true,"
                    "'properties':{'spec':{'type':'string'}}}");
    _cleanup_json_ json_t *want =
        read_json("{'type':'object','x-kubernetes-group-version-kind':[{'group':'example.com',"
                  "'kind':'Ship','version':'v1'}]}");
    assert_true(json_equal(json_object_get(all, "com.example.v1.Ship"), want));
}

/* The bytes of an entry of the definitions, written by hand. */
static void test_protobuf(void **state) {
    (void)state;
    _cleanup_json_ json_t *custom =
        read_json("{'type':'object','properties':{'a':{'type':'number','maximum':1.5,'minLength':"
                  "300,'enum':[1]},'m':{'type':'object','additionalProperties':true}}}");
    struct openapi_resource ship = {"x.y", "v1", "S", "ss", false, false, false, 0, custom};
    _cleanup_str_ struct str out = STR_INIT;
    openapi_v2_document(&ship, 1, PROTOBUF, &out);
    static const char head[] = "\x0a\x03"
                               "2.0\x12\x19\x0a\x0aKubernetes\x12\x0bunversioned\x42\x00\x4a";
    assert_memory_equal(out.p, head, sizeof head - 1);
    /* "a": Schema 7 maximum, 12 minLength, 20 enum (yaml "1\n"), 22 type */
    static const char a[] = "\x0a\x01\x61\x12\x1e\x39\x00\x00\x00\x00\x00\x00\xf8\x3f\x60\xac\x02"
                            "\xa2\x01\x04\x12\x02\x31\x0a\xb2\x01\x08\x0a\x06number";
    assert_non_null(memmem(out.p, out.len, a, sizeof a - 1));
    /* "m": 21 additionalProperties, which is a boolean, 22 type */
    static const char m[] = "\x0a\x01m\x12\x10\xaa\x01\x02\x10\x01\xb2\x01\x08\x0a\x06object";
    assert_non_null(memmem(out.p, out.len, m, sizeof m - 1));
    static const char kind[] = "x-kubernetes-group-version-kind\x12";
    assert_non_null(memmem(out.p, out.len, kind, sizeof kind - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_negotiate),
        cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_custom),
        cmocka_unit_test(test_protobuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
