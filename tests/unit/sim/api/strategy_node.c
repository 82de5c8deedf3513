/* Tests of api/strategy_node: Nodes. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_node");
}

#define NODE(more) "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}" more "}"

/* TaintNodesByCondition. */
static void test_new_node(void **state) {
    _cleanup_json_ json_t *node = expect_taken(NODE(",'spec':{'unschedulable':true}"));
    (void)state;
    expect_member(node, "spec/taints",
                  "[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]");
    _cleanup_json_ json_t *same = expect_taken(
        NODE(",'spec':{'taints':[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]}"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(same, "spec"), "taints")), 1);
}

static void test_taints(void **state) {
    (void)state;
    expect_refused(NODE(",'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'a','value':"
                        "'v','effect':'NoSchedule'}]}"),
                   "Node \"n\" is invalid: metadata.taints[1]: Duplicate value: "
                   "{\"Key\":\"a\",\"Value\":\"v\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: "
                   "taints must be unique by key and effect pair");
    expect_refused(NODE(",'spec':{'taints':[{'key':'a'}]}"),
                   "Node \"n\" is invalid: metadata.taints[0].effect: Required value");
}

/* Cordoning through the main resource; the kubelet's part through the other. */
static void test_parts(void **state) {
    _cleanup_json_ json_t *node = expect_taken(NODE(",'status':{'capacity':{'pods':'3'}}"));
    (void)state;
    expect_member(node, "status/capacity/pods", "'3'");
    _cleanup_json_ json_t *spec = expect_change_taken(
        node, STRATEGY_MAIN, "{'spec':{'unschedulable':true},'status':{'capacity':{'pods':'9'}}}");
    expect_member(spec, "spec/unschedulable", "true");
    expect_member(spec, "status/capacity/pods", "'3'");
    _cleanup_json_ json_t *status =
        expect_change_taken(node, STRATEGY_STATUS,
                            "{'spec':{'unschedulable':true},'status':{'capacity':{'pods':'9'}}}");
    expect_member(status, "spec/unschedulable", NULL);
    expect_member(status, "status/capacity/pods", "'9'");
}

static void test_fixed(void **state) {
    _cleanup_json_ json_t *node =
        expect_taken(NODE(",'spec':{'podCIDR':'10.1.0.0/24','providerID':'a://b'}"));
    (void)state;
    expect_member(node, "spec/podCIDRs", "['10.1.0.0/24']");
    expect_change_refused(node, STRATEGY_MAIN, "{'spec':{'providerID':'c://d'}}",
                          "Node \"n\" is invalid: spec.providerID: Forbidden: node updates may not "
                          "change providerID except from \"\" to valid");
}

static void test_addresses(void **state) {
    _cleanup_json_ json_t *node = expect_taken(NODE(""));
    (void)state;
    expect_change_refused(node, STRATEGY_STATUS,
                          "{'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.1'},"
                          "{'type':'InternalIP','address':'10.0.0.1'}]}}",
                          "Node \"n\" is invalid: status.addresses[1]: Duplicate value: "
                          "{\"Type\":\"InternalIP\",\"Address\":\"10.0.0.1\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_new_node),
        cmocka_unit_test(test_taints),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_fixed),    cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
