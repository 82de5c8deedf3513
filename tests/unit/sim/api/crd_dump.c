/* Versions as Go prints them. */
#include "crd_test.h"
#include "sim/api/crd_internal.h"

static void check(const char *text, const char *wanted) {
    _cleanup_json_ json_t *crd = J(text);
    struct crd_view v = crd_view(crd);
    _cleanup_str_ struct str out = STR_INIT;
    crd_dump_versions(&out, &v);
    assert_string_equal(str_get(&out), wanted);
}

static void test_versions(void **state) {
    (void)state;
    check("{'spec':{}}", "null");
    check("{'spec':{'versions':[]}}", "[]");
    /* what both have is not theirs; what differs is */
    check(
        "{'spec':{'versions':[{'name':'a','served':true,'storage':false,'subresources':{'status':{}"
        "}},{'name':'b','deprecated':true,'deprecationWarning':'w','subresources':{'status':{}},"
        "'selectableFields':[{'jsonPath':'.x'}],'additionalPrinterColumns':[{'name':'N','type':"
        "'string','jsonPath':'.y'}]}]}}",
        "[{\"Name\":\"a\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,"
        "\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,"
        "\"AdditionalPrinterColumns\":null,\"SelectableFields\":null},{\"Name\":\"b\",\"Served\":"
        "false,\"Storage\":false,\"Deprecated\":true,\"DeprecationWarning\":\"w\",\"Schema\":null,"
        "\"Subresources\":null,\"AdditionalPrinterColumns\":[{\"Name\":\"N\",\"Type\":\"string\","
        "\"Format\":\"\",\"Description\":\"\",\"Priority\":0,\"JSONPath\":\".y\"}],"
        "\"SelectableFields\":[{\"JSONPath\":\".x\"}]}]");
}

static void test_subresources(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd =
        J("{'spec':{'versions':[{'name':'a','schema':{}},{'name':'b','subresources':{'scale':{"
          "'specReplicasPath':'.s'}},'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
    struct crd_view v = crd_view(crd);
    _cleanup_str_ struct str out = STR_INIT;
    crd_dump_versions(&out, &v);
    assert_non_null(strstr(str_get(&out), "\"Schema\":{\"OpenAPIV3Schema\":null}"));
    assert_non_null(strstr(str_get(&out), "\"Schema\":{\"OpenAPIV3Schema\":{\"ID\":\"\","));
    assert_non_null(strstr(
        str_get(&out), "\"Subresources\":{\"Status\":null,\"Scale\":{\"SpecReplicasPath\":\".s\","
                       "\"StatusReplicasPath\":\"\",\"LabelSelectorPath\":null}}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_subresources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
