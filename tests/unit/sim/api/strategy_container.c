/* Tests of api/strategy_container: containers. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_container");
}

/* A pod with these containers, and more of the spec. */
#define POD(containers, more)                                                                      \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'d'},'spec':{"             \
    "'automountServiceAccountToken':false,'containers':" containers more "}}"

static void test_none(void **state) {
    (void)state;
    expect_refused(POD("[]", ""), "Pod \"a\" is invalid: spec.containers: Required value");
    expect_refused(POD("[{}]", ""),
                   "Pod \"a\" is invalid: [spec.containers[0].name: Required value, "
                   "spec.containers[0].image: Required value]");
}

/* Init containers and regular ones share their names. */
static void test_names(void **state) {
    (void)state;
    expect_refused(POD("[{'name':'a','image':'i'},{'name':'a','image':'i'}]",
                       ",'initContainers':[{'name':'a','image':'i'}]"),
                   "Pod \"a\" is invalid: [spec.containers[1].name: Duplicate value: \"a\", "
                   "spec.initContainers[0].name: Duplicate value: \"a\"]");
}

static void test_ports(void **state) {
    (void)state;
    expect_refused(POD("[{'name':'a','image':'i','ports':[{'containerPort':65536,'name':'p'},"
                       "{'containerPort':1,'name':'p'}]}]",
                       ""),
                   "Pod \"a\" is invalid: [spec.containers[0].ports[0].containerPort: Invalid "
                   "value: 65536: must be between 1 and 65535, inclusive, "
                   "spec.containers[0].ports[1].name: Duplicate value: \"p\"]");
    expect_refused(POD("[{'name':'a','image':'i','ports':[{'containerPort':1,'hostPort':9}]},"
                       "{'name':'b','image':'i','ports':[{'containerPort':1,'hostPort':9}]}]",
                       ""),
                   "Pod \"a\" is invalid: spec.containers[1].ports[0].hostPort: Duplicate value: "
                   "\"TCP//9\"");
}

static void test_mounts(void **state) {
    (void)state;
    expect_refused(POD("[{'name':'a','image':'i','volumeMounts':[{'name':'v','mountPath':'/x'},"
                       "{'name':'none','mountPath':'/x'}]}]",
                       ",'volumes':[{'name':'v','emptyDir':{}}]"),
                   "Pod \"a\" is invalid: [spec.containers[0].volumeMounts[1].name: Not found: "
                   "\"none\", spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": "
                   "must be unique]");
}

/* Only a sidecar lives long enough for them. */
static void test_init_containers(void **state) {
    (void)state;
    expect_refused(POD("[{'name':'a','image':'i'}]",
                       ",'initContainers':[{'name':'b','image':'i','livenessProbe':{'exec':{"
                       "'command':['x']}},'lifecycle':{'preStop':{'exec':{'command':['x']}}}}]"),
                   "Pod \"a\" is invalid: [spec.initContainers[0].lifecycle: Forbidden: may not be "
                   "set for init containers without restartPolicy=Always, "
                   "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init "
                   "containers without restartPolicy=Always]");
    json_decref(expect_taken(POD("[{'name':'a','image':'i'}]",
                                 ",'initContainers':[{'name':'b','image':'i','restartPolicy':"
                                 "'Always','livenessProbe':{'exec':{'command':['x']}}}]")));
}

static void test_port_or_name(void **state) {
    static const struct {
        const char *port, *why;
    } cases[] = {
        {"{'port':80}", ""},
        {"{'port':'http'}", ""},
        {"{'port':0}", "port: Invalid value: 0: must be between 1 and 65535, inclusive"},
        {"{'port':'1'}", "port: Invalid value: \"1\": must contain at least one letter (a-z)"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_json_ json_t *v = expect_json(cases[i].port);
        struct field_errors e = {0};
        struct at at = at_root(v);
        check_port_or_name(&e, &at, "port");
        expect_errors(&e, cases[i].why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),     cmocka_unit_test(test_none),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_mounts),       cmocka_unit_test(test_init_containers),
        cmocka_unit_test(test_port_or_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
