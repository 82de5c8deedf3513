/* The status that definitions get. */
#include "crd_test.h"

#include "base/timefmt.h"

#define GOOD CRD(CRD_VERSION("v1", "true", ",'schema':{'openAPIV3Schema':{'type':'object'}}"))

static const json_t *condition(const json_t *crd, const char *type) {
    const json_t *list = json_object_get(json_object_get(crd, "status"), "conditions");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_str(json_array_get(list, i), "type"), type))
            return json_array_get(list, i);
    return NULL;
}

static void test_settle(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    assert_false(crd_condition(crd, "Established"));
    assert_true(crd_settle(crd, NULL, 0, SEC(1)));
    const json_t *status = json_object_get(crd, "status");
    assert_json(json_object_get(status, "acceptedNames"),
                "{'plural':'things','singular':'thing','kind':'Thing','listKind':'ThingList'}");
    assert_json(json_object_get(status, "conditions"),
                "[{'type':'NamesAccepted','status':'True','reason':'NoConflicts','message':"
                "'no conflicts found','lastTransitionTime':'1970-01-01T00:00:01Z'},{'type':"
                "'Established','status':'True','reason':'InitialNamesAccepted','message':"
                "'the initial names have been accepted','lastTransitionTime':"
                "'1970-01-01T00:00:01Z'}]");
    assert_true(crd_condition(crd, "Established"));
    assert_false(crd_settle(crd, NULL, 0, SEC(2)));
}

static void test_conflicts(void **state) {
    (void)state;
    _cleanup_json_ json_t *first = crd_new(GOOD), *second = crd_new(GOOD);
    crd_settle(first, NULL, 0, 1);
    const json_t *others[] = {json_object_get(json_object_get(first, "status"), "acceptedNames")};
    json_t *names = json_object_get(json_object_get(second, "spec"), "names");
    json_object_set_new(names, "plural", json_string("others"));
    json_object_set_new(names, "singular", json_string("other"));
    json_object_set_new(names, "listKind", json_string("OtherList"));
    json_object_set_new(names, "shortNames", J("['thing','ok','things']"));
    assert_true(crd_settle(second, others, 1, 1));
    const json_t *c = condition(second, "NamesAccepted");
    assert_string_equal(json_str(c, "status"), "False");
    assert_string_equal(json_str(c, "reason"), "KindConflict"); /* the last one tells */
    assert_string_equal(json_str(c, "message"), "\"Thing\" is already in use");
    c = condition(second, "Established");
    assert_string_equal(json_str(c, "reason"), "NotAccepted");
    assert_json(json_object_get(json_object_get(second, "status"), "acceptedNames"),
                "{'plural':'others','singular':'other','listKind':'OtherList','kind':''}");
    /* the kind is given up: the short names remain */
    json_object_set_new(names, "kind", json_string("Other"));
    assert_true(crd_settle(second, others, 1, SEC(5)));
    c = condition(second, "NamesAccepted");
    assert_string_equal(json_str(c, "reason"), "ShortNamesConflict");
    assert_string_equal(json_str(c, "message"),
                        "[\"thing\" is already in use, \"things\" is already in use]");
    json_object_set_new(names, "shortNames", J("['ok']"));
    assert_true(crd_settle(second, others, 1, SEC(7)));
    assert_true(crd_condition(second, "NamesAccepted") && crd_condition(second, "Established"));
    assert_string_equal(json_str(condition(second, "NamesAccepted"), "lastTransitionTime"),
                        "1970-01-01T00:00:07Z");
    /* one of its own names in another role is taken, as the server's controller counts it in */
    const json_t *own[] = {
        json_deep_copy(json_object_get(json_object_get(second, "status"), "acceptedNames"))};
    json_object_set_new(names, "singular", json_string("others"));
    assert_true(crd_settle(second, own, 1, SEC(8)));
    assert_string_equal(json_str(condition(second, "NamesAccepted"), "reason"), "SingularConflict");
    assert_true(crd_condition(second, "Established"));
    json_decref((json_t *)own[0]);
}

static void test_schemas(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    json_t *version = json_array_get(json_object_get(json_object_get(crd, "spec"), "versions"), 0);
    json_object_set_new(version, "schema", J("{'openAPIV3Schema':{'properties':{'a':{}}}}"));
    crd_settle_schemas(crd, 1);
    const json_t *c = condition(crd, "NonStructuralSchema");
    assert_string_equal(json_str(c, "status"), "True");
    assert_string_equal(json_str(c, "reason"), "Violations");
    assert_string_equal(json_str(c, "message"),
                        "[spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required "
                        "value: must not be empty for specified object fields, "
                        "spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be "
                        "empty at the root]");
    json_object_set_new(version, "schema", J("{'openAPIV3Schema':{'type':'object'}}"));
    assert_true(crd_settle_schemas(crd, 1));
    assert_false(crd_settle_schemas(crd, 1));
    assert_null(condition(crd, "NonStructuralSchema"));
}

static void test_approval(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    json_object_set_new(json_object_get(crd, "spec"), "group", json_string("x.kubernetes.io"));
    json_object_set_new(json_object_get(crd, "metadata"), "annotations",
                        J("{'api-approved.kubernetes.io':'https://x.y/z'}"));
    crd_settle(crd, NULL, 0, 1);
    const json_t *c = condition(crd, "KubernetesAPIApprovalPolicyConformant");
    assert_string_equal(json_str(c, "status"), "True");
    assert_string_equal(json_str(c, "reason"), "ApprovedAnnotation");
    assert_string_equal(json_str(c, "message"), "approved in https://x.y/z");
}

static void test_terminate(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = crd_new(GOOD);
    crd_terminate(crd, 1);
    crd_terminate(crd, 1);
    assert_json(json_object_get(json_object_get(crd, "metadata"), "finalizers"),
                "['customresourcecleanup.apiextensions.k8s.io']");
    assert_true(crd_condition(crd, "Terminating"));
    assert_string_equal(json_str(condition(crd, "Terminating"), "reason"),
                        "InstanceDeletionPending");
    /* In the order of the canonical form, which the encoder of protobuf counts on. */
    _cleanup_free_ char *text = json_dumps(condition(crd, "Terminating"), JSON_COMPACT);
    assert_true(str_starts(text, "{\"type\":\"Terminating\",\"status\":\"True\","
                                 "\"lastTransitionTime\":\"1970-01-01T00:00:00Z\",\"reason\":"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settle),    cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_schemas),   cmocka_unit_test(test_approval),
        cmocka_unit_test(test_terminate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
