/* Tests of api/strategy_event: Events and their two faces. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_event");
}

static void test_faces(void **state) {
    _cleanup_json_ json_t *event = expect_json(
        "{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'a'},'note':'text',"
        "'regarding':{'name':'p'},'reportingController':'c','reportingInstance':'i','type':'Normal'"
        ","
        "'deprecatedCount':3,'deprecatedSource':{'host':'h'},'deprecatedFirstTimestamp':'1',"
        "'deprecatedLastTimestamp':'2','action':'act','reason':'r','related':{'name':'q'}}");
    _cleanup_json_ json_t *core = strategy_event_to_core(event);
    _cleanup_json_ json_t *want =
        expect_json("{'metadata':{'name':'a'},'message':'text','involvedObject':{'name':'p'},"
                    "'reportingComponent':'c','reportingInstance':'i','type':'Normal','count':3,"
                    "'source':{'host':'h'},'firstTimestamp':'1','lastTimestamp':'2','action':'act',"
                    "'reason':'r','related':{'name':'q'}}");
    (void)state;
    expect_equal("core", core, want);
    _cleanup_json_ json_t *back = strategy_event_from_core(core);
    json_object_del(event, "apiVersion");
    json_object_del(event, "kind");
    expect_equal("back", back, event);
}

/* Nothing of the input is shared: what is stored does not change with it. */
static void test_copies(void **state) {
    _cleanup_json_ json_t *event = expect_json("{'metadata':{'name':'a'}}");
    _cleanup_json_ json_t *core = strategy_event_to_core(event);
    (void)state;
    json_object_set_new(json_object_get(event, "metadata"), "name", json_string("b"));
    expect_member(core, "metadata/name", "'a'");
}

static void test_namespaces(void **state) {
    (void)state;
    expect_refused("{'apiVersion':'v1','kind':'Event','metadata':{'name':'a','namespace':'d'},"
                   "'involvedObject':{'kind':'Pod','namespace':'other','name':'p'}}",
                   "Event \"a\" is invalid: involvedObject.namespace: Invalid value: \"other\": "
                   "does not match event.namespace");
    json_decref(
        expect_taken("{'apiVersion':'v1','kind':'Event','metadata':{'name':'a',"
                     "'namespace':'default'},'involvedObject':{'kind':'Node','name':'n'}}"));
}

static void test_new_face_is_strict(void **state) {
    _cleanup_json_ json_t *sent = expect_json(
        "{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'a','namespace':'d'},"
        "'regarding':{'kind':'Pod','namespace':'d','name':'p'},'type':'Odd','deprecatedCount':1}");
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done = expect_way(sent, NULL, STRATEGY_MAIN, EXPECT_WORLD, &f);
    (void)state;
    assert_null(done);
    assert_string_equal(f.message,
                        "Event \"a\" is invalid: [eventTime: Required value, type: Invalid value: "
                        "\"\": has invalid value: Odd, count: Invalid value: \"\": needs to be "
                        "unset]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_new_face_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
