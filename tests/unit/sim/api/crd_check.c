/* Which definitions are valid. */
#include "crd_test.h"

#define OBJECT ",'schema':{'openAPIV3Schema':{'type':'object'}}"
#define GOOD   CRD(CRD_VERSION("v1", "true", OBJECT))
#define LABEL_WORDS                                                                                \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "   \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "           \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

static void check(const char *text, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *crd = crd_new(text);
    crd_validate_create(crd, &e);
    assert_errors(&e, wanted);
}

/* A good one, with a member of its spec replaced. */
static void check_spec(const char *key, const char *value, const char *wanted) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    json_object_set_new(json_object_get(crd, "spec"), key, J(value));
    crd_validate_create(crd, &e);
    assert_errors(&e, wanted);
}

static void test_spec(void **state) {
    (void)state;
    check(GOOD, "");
    check_spec("scope", "'Global'",
               "spec.scope: Unsupported value: \"Global\": supported values: "
               "\"Cluster\", \"Namespaced\"");
    check_spec("scope", "''", "spec.scope: Required value");
    check_spec("group", "'plain'",
               "metadata.name: Invalid value: \"things.test.dev\": must be "
               "spec.names.plural+\".\"+spec.group\n"
               "spec.group: Invalid value: \"plain\": should be a domain with at least one dot");
    check_spec("names",
               "{'plural':'things','kind':'Thing','singular':'thing','listKind':'Thing',"
               "'shortNames':['X']}",
               "spec.names.shortNames[0]: Invalid value: \"X\": " LABEL_WORDS "\n"
               "spec.names.listKind: Invalid value: \"Thing\": kind and listKind may not be the "
               "same");
    check_spec("preserveUnknownFields", "true",
               "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
               "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
}

static void test_versions(void **state) {
    (void)state;
    check(CRD(CRD_VERSION("V1", "true", OBJECT)),
          "spec.versions[0].name: Invalid value: \"V1\": " LABEL_WORDS "\n"
          "spec.version: Invalid value: \"V1\": " LABEL_WORDS);
    check(CRD(CRD_VERSION("v1", "true", OBJECT) "," CRD_VERSION("v1", "true", OBJECT)),
          "spec.versions: Invalid value: "
#define DUMPED                                                                                     \
    "{\"Name\":\"v1\",\"Served\":true,\"Storage\":true,\"Deprecated\":false,"                      \
    "\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,"                           \
    "\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}"
          "[" DUMPED "," DUMPED "]: must contain unique version names\n"
          "spec.versions: Invalid value: [" DUMPED "," DUMPED
          "]: must have exactly one version marked as storage version");
    check(
        CRD(CRD_VERSION("v1", "true", ",'deprecationWarning':'x'" OBJECT)),
        "spec.versions[0].deprecationWarning: Invalid value: \"x\": can only be set for deprecated "
        "versions");
    check(CRD(CRD_VERSION("v1", "true",
                          ",'deprecated':true,'deprecationWarning':'a<\\u200bb'" OBJECT)),
          "spec.versions[0].deprecationWarning: Invalid value: \"a\\u003c\xe2\x80\x8b"
          "b\": must only contain printable UTF-8 characters; non-printable character found at "
          "index 2");
}

/* What all versions have the same is told of as the server holds it. */
static void test_where_schemas_stand(void **state) {
    (void)state;
#define BAD ",'schema':{'openAPIV3Schema':{'type':'object','properties':{'a':{}}}}"
    check(
        CRD(CRD_VERSION("v1", "true", BAD)),
        "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for "
        "specified object fields");
    check(CRD(CRD_VERSION("v1", "true", OBJECT) "," CRD_VERSION("v2", "false", BAD)),
          "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be "
          "empty for specified object fields");
}

static void test_subresources_and_columns(void **state) {
    (void)state;
    check(
        CRD(CRD_VERSION("v1", "true",
                        ",'subresources':{'scale':{'specReplicasPath':'.status.n',"
                        "'statusReplicasPath':'n','labelSelectorPath':'.x'}}" OBJECT)),
        "spec.subresources.scale.specReplicasPath: Invalid value: \".status.n\": should be a json "
        "path under .spec\n"
        "spec.subresources.scale.statusReplicasPath: Invalid value: \"n\": must be a simple json "
        "path starting with .\n"
        "spec.subresources.scale.labelSelectorPath: Invalid value: \".x\": should be a json path "
        "under either .spec or .status");
    check(CRD(CRD_VERSION("v1", "true",
                          ",'additionalPrinterColumns':[{'name':'','type':'text','jsonPath':'x',"
                          "'format':'odd'}]" OBJECT)),
          "spec.additionalPrinterColumns[0].name: Required value\n"
          "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of "
          "boolean,date,integer,number,string\n"
          "spec.additionalPrinterColumns[0].format: Invalid value: \"odd\": must be one of "
          "byte,date,date-time,double,float,int32,int64,password\n"
          "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json "
          "path starting with .");
}

static void test_selectable(void **state) {
    (void)state;
#define SELECTABLE(list)                                                                           \
    CRD(CRD_VERSION("v1", "true",                                                                  \
                    ",'selectableFields':[" list "]" CRD_SCHEMA(                                   \
                        "'spec':{'type':'object','properties':{'s':{'type':'string'}}},"           \
                        "'metadata':{'type':'object','properties':{'name':{'type':'string'}}}")))
    check(SELECTABLE("{'jsonPath':'.spec.s'}"), "");
    check(SELECTABLE("{'jsonPath':'.spec.s'},{'jsonPath':'.spec.s'},{'jsonPath':'.spec'},"
                     "{'jsonPath':'.metadata.name'},{'jsonPath':'.x'}"),
          "spec.selectableFields[1].jsonPath: Duplicate value: \".spec.s\"\n"
          "spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a field of "
          "type string, boolean or integer. Enum string fields and strings with formats are "
          "allowed.\n"
          "spec.selectableFields[3].jsonPath: Invalid value: \".metadata.name\": must not point to "
          "fields in metadata\n"
          "spec.selectableFields[4].jsonPath: Invalid value: \".x\": is an invalid path: does not "
          "refer to a valid field");
}

static void test_conversion(void **state) {
    (void)state;
    check_spec(
        "conversion", "{'strategy':'Magic'}",
        "spec.conversion.strategy: Unsupported value: \"Magic\": supported values: \"None\", "
        "\"Webhook\"");
    /* our own limit, in our own words */
    check_spec(
        "conversion", "{'strategy':'Webhook','webhook':{}}",
        "spec.conversion.strategy: Invalid value: \"Webhook\": this simulated server calls no "
        "webhooks: use None, with which versions differ by apiVersion alone");
}

static void test_approval(void **state) {
    (void)state;
    struct field_errors e = {0};
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    json_t *meta = json_object_get(crd, "metadata");
    json_object_set_new(json_object_get(crd, "spec"), "group", json_string("x.k8s.io"));
    json_object_set_new(meta, "name", json_string("things.x.k8s.io"));
    crd_validate_create(crd, &e);
    assert_errors(&e, "metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
                      "groups must have approval annotation \"api-approved.kubernetes.io\", see "
                      "https://github.com/kubernetes/enhancements/pull/1111");
    json_object_set_new(meta, "annotations", J("{'api-approved.kubernetes.io':'unapproved'}"));
    crd_validate_create(crd, &e);
    assert_errors(&e, "");
}

static void test_update(void **state) {
    (void)state;
    struct field_errors e = {0};
    _cleanup_json_ json_t *old = crd_new(GOOD);
    json_object_set_new(json_object_get(old, "metadata"), "resourceVersion", json_string("1"));
    crd_settle(old, NULL, 0, 1);
    _cleanup_json_ json_t *new = json_deep_copy(old);
    crd_validate_update(new, old, &e);
    assert_errors(&e, "");
    json_t *spec = json_object_get(new, "spec");
    json_object_set_new(spec, "scope", json_string("Cluster"));
    json_object_set_new(json_object_get(spec, "names"), "plural", json_string("others"));
    json_object_set_new(json_array_get(json_object_get(spec, "versions"), 0), "name",
                        json_string("v2"));
    crd_validate_update(new, old, &e);
    assert_errors(
        &e, "spec.scope: Invalid value: \"Cluster\": field is immutable\n"
            "spec.names.plural: Invalid value: \"others\": field is immutable\n"
            "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version v2\n"
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was "
            "previously a storage version, and must remain in spec.versions until a storage "
            "migration ensures no data remains persisted in v1 and removes v1 from "
            "status.storedVersions");
    json_object_set_new(json_object_get(new, "metadata"), "uid", json_string("x"));
    crd_validate_status(new, old, &e);
    assert_errors(&e, "metadata.uid: Invalid value: \"x\": field is immutable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_where_schemas_stand),
        cmocka_unit_test(test_subresources_and_columns),
        cmocka_unit_test(test_selectable),
        cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_approval),
        cmocka_unit_test(test_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
