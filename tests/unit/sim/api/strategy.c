/* Tests of api/strategy: the table, and what all kinds have in common. */
#include "strategy_expect.h"

static const char *const kinds[][2] = {
    {"v1", "ConfigMap"},
    {"v1", "Event"},
    {"v1", "Namespace"},
    {"v1", "Node"},
    {"v1", "PersistentVolume"},
    {"v1", "PersistentVolumeClaim"},
    {"v1", "Pod"},
    {"v1", "PodTemplate"},
    {"v1", "Secret"},
    {"v1", "Service"},
    {"v1", "ServiceAccount"},
    {"apps/v1", "ControllerRevision"},
    {"apps/v1", "DaemonSet"},
    {"apps/v1", "Deployment"},
    {"apps/v1", "ReplicaSet"},
    {"apps/v1", "StatefulSet"},
    {"batch/v1", "Job"},
    {"coordination.k8s.io/v1", "Lease"},
    {"discovery.k8s.io/v1", "EndpointSlice"},
    {"events.k8s.io/v1", "Event"},
    {"policy/v1", "PodDisruptionBudget"},
    {"scheduling.k8s.io/v1", "PriorityClass"},
    {"storage.k8s.io/v1", "CSINode"},
    {"storage.k8s.io/v1", "StorageClass"},
    {"storage.k8s.io/v1", "VolumeAttachment"},
};

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy");
}

/* AllowCreateOnUpdate(), AllowUnconditionalUpdate(), DefaultGarbageCollectionPolicy() of
 * pkg/registry, as far as they are not what most kinds say. */
static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        _cleanup_json_ json_t *obj =
            json_pack("{s:s,s:s}", "apiVersion", kinds[i][0], "kind", kinds[i][1]);
        const struct strategy *s = expect_strategy(obj, NULL);
        assert_non_null(s);
        bool event = streq(s->kind, "Event"), job = streq(s->kind, "Job");
        assert_int_equal(s->create_on_update,
                         event || streq(s->kind, "Lease") || streq(s->kind, "Service"));
        assert_int_equal(s->unconditional_update,
                         !streq(s->kind, "PodDisruptionBudget") && !streq(s->kind, "Lease") &&
                             !streq(s->kind, "CSINode") && !streq(s->kind, "VolumeAttachment"));
        assert_int_equal(s->dependents, event ? STRATEGY_NO_GC
                                        : job ? STRATEGY_ORPHAN
                                              : STRATEGY_BACKGROUND);
    }
    assert_null(strategy_find("", "Deployment"));
    assert_null(strategy_find("apps", "Pod"));
    assert_null(strategy_find("", ""));
}

/* An object with nothing in it, and nothing in a version of it, break nothing: no answer is
 * expected but that there is one, and a refusal says why. */
static void test_nothing(void **state) {
    static const char *const bodies[] = {
        "{}",
        "{'metadata':{'name':'a','namespace':'d'}}",
        "{'metadata':{'name':'a','namespace':'d'},'spec':{},'status':{}}",
        "{'metadata':{'name':'a','namespace':'d'},'spec':{'template':{}},'status':{}}",
        "{'metadata':{'name':'a'},'spec':{'template':{'spec':{'containers':[{}]}}}}",
        "{'metadata':{'name':'a'},'spec':{'containers':[{}],'volumes':[{}],'ports':[{}]}}",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        for (size_t b = 0; b < ARRAY_LEN(bodies); b++)
            for (int part = -1; part <= STRATEGY_FINALIZE; part++) {
                _cleanup_json_ json_t *sent = expect_json(bodies[b]), *old = json_deep_copy(sent);
                _cleanup_failure_ struct failure f = FAILURE_INIT;
                _cleanup_err_ struct err err = ERR_INIT;
                const struct schema *schema;
                json_object_set_new(sent, "apiVersion", json_string(kinds[i][0]));
                json_object_set_new(sent, "kind", json_string(kinds[i][1]));
                _cleanup_json_ json_t *decoded = NULL;
                expect_strategy(sent, &schema);
                if (schema_canonical(schema, sent, &decoded, NULL, &err) < 0)
                    continue; /* of another shape */
                _cleanup_json_ json_t *done = expect_way(sent, part < 0 ? NULL : old,
                                                         part < 0 ? STRATEGY_MAIN : part, "[]", &f);
                assert_int_equal(!done, f.code != 0);
                assert_true(done || (f.message && *f.message));
            }
}

static void test_versions(void **state) {
    _cleanup_json_ json_t *lease = expect_taken("{'apiVersion':'coordination.k8s.io/v1','kind':"
                                                "'Lease','metadata':{'name':'a','namespace':'d'}}");
    _cleanup_json_ json_t *map = expect_taken(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d'}}");
    (void)state;
    expect_change_refused(lease, STRATEGY_MAIN, "{'metadata':{'resourceVersion':null}}",
                          "leases.coordination.k8s.io \"a\" is invalid: metadata.resourceVersion: "
                          "Invalid value: 0: must be specified for an update");
    expect_change_refused(map, STRATEGY_MAIN, "{'metadata':{'resourceVersion':'6'}}",
                          "Operation cannot be fulfilled on configmaps \"a\": the object has been "
                          "modified; please apply your changes to the latest version and try "
                          "again");
    _cleanup_json_ json_t *now =
        expect_change_taken(map, STRATEGY_MAIN, "{'metadata':{'resourceVersion':null}}");
    expect_member(now, "metadata/resourceVersion", "'7'");
}

/* What the client says about these has no effect on creation, and is what it was after that. */
static void test_system_fields(void **state) {
    _cleanup_json_ json_t *map = expect_taken(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d','uid':'x',"
        "'creationTimestamp':'2001-01-01T00:00:00Z','deletionTimestamp':'2001-01-01T00:00:00Z',"
        "'deletionGracePeriodSeconds':3}}");
    const char *uid = json_str(json_object_get(map, "metadata"), "uid");
    (void)state;
    expect_member(map, "metadata/creationTimestamp", "'2027-01-15T08:00:00Z'");
    expect_member(map, "metadata/deletionTimestamp", NULL);
    expect_member(map, "metadata/deletionGracePeriodSeconds", NULL);
    assert_true(expect_is_uuid(uid));
    assert_int_equal(uid[14], '4');
    assert_non_null(strchr("89ab", uid[19]));
    _cleanup_json_ json_t *now = expect_change_taken(
        map, STRATEGY_MAIN, "{'metadata':{'uid':null,'creationTimestamp':'2001-01-01T00:00:00Z'}}");
    expect_equal("metadata", json_object_get(now, "metadata"), json_object_get(map, "metadata"));
}

static void test_generated_names(void **state) {
    _cleanup_json_ json_t *one = expect_taken("{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                              "'generateName':'a-','namespace':'d'}}");
    _cleanup_json_ json_t *same = expect_taken("{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                               "'generateName':'a-','namespace':'d'}}");
    const char *name = json_str(json_object_get(one, "metadata"), "name");
    (void)state;
    assert_true(str_starts(name, "a-"));
    assert_int_equal(strlen(name), 7);
    assert_int_equal(strspn(name + 2, "bcdfghjklmnpqrstvwxz2456789"), 5);
    assert_string_equal(name, json_str(json_object_get(same, "metadata"), "name"));
}

static void test_owners(void **state) {
    _cleanup_json_ json_t *map =
        expect_taken("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'d',"
                     "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'},"
                     "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'2'},"
                     "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'}]}}");
    (void)state;
    expect_member(map, "metadata/ownerReferences",
                  "[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'},"
                  "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'2'}]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),      cmocka_unit_test(test_table),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_versions),
        cmocka_unit_test(test_system_fields), cmocka_unit_test(test_generated_names),
        cmocka_unit_test(test_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
