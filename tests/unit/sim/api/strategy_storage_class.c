/* Tests of api/strategy_storage_class: StorageClasses, VolumeAttachments, CSINodes. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_storage_class");
}

#define CLASS(more)                                                                                \
    "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'c'},"             \
    "'provisioner':'x.io/p'" more "}"

static void test_class(void **state) {
    _cleanup_json_ json_t *class = expect_taken(CLASS(""));
    (void)state;
    expect_member(class, "reclaimPolicy", "'Delete'");
    expect_member(class, "volumeBindingMode", "'Immediate'");
    expect_change_refused(class, STRATEGY_MAIN, "{'provisioner':'y'}",
                          "StorageClass.storage.k8s.io \"c\" is invalid: provisioner: Invalid "
                          "value: \"y\": field is immutable");
    expect_refused(CLASS(",'reclaimPolicy':'Recycle'"),
                   "StorageClass.storage.k8s.io \"c\" is invalid: reclaimPolicy: Unsupported "
                   "value: \"Recycle\": supported values: \"Delete\", \"Retain\"");
}

static void test_topologies(void **state) {
    (void)state;
    expect_refused(CLASS(",'allowedTopologies':[{'matchLabelExpressions':[{'key':'z',"
                         "'values':['a','a']}]}]"),
                   "StorageClass.storage.k8s.io \"c\" is invalid: "
                   "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "
                   "\"a\"");
}

static void test_csi_node(void **state) {
    _cleanup_json_ json_t *node = expect_taken(
        "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n'},'spec':{"
        "'drivers':[{'name':'x.io','nodeID':'1','topologyKeys':null}]}}");
    (void)state;
    json_decref(expect_change_taken(node, STRATEGY_MAIN, "{'spec':{'drivers':[]}}"));
    expect_refused("{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n'},"
                   "'spec':{'drivers':[{'name':'x.io','nodeID':'1'},{'name':'x.io','nodeID':"
                   "'2'}]}}",
                   "CSINode.storage.k8s.io \"n\" is invalid: spec.drivers[1].name: Duplicate "
                   "value: \"x.io\"");
}

static void test_attachment(void **state) {
    _cleanup_json_ json_t *a = expect_taken(
        "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'name':'a'},"
        "'spec':{'attacher':'x.io','nodeName':'n','source':{'persistentVolumeName':'v'}},"
        "'status':{'attached':true}}");
    (void)state;
    expect_member(a, "status/attached", "false");
    _cleanup_json_ json_t *attached =
        expect_change_taken(a, STRATEGY_STATUS, "{'status':{'attached':true}}");
    expect_member(attached, "status/attached", "true");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),   cmocka_unit_test(test_class),
        cmocka_unit_test(test_topologies), cmocka_unit_test(test_csi_node),
        cmocka_unit_test(test_attachment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
