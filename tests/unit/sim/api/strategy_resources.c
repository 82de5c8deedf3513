/* Tests of api/strategy_resources: resources of containers and pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_resources");
}

#define REQUESTS(r, l) "{'name':'c','resources':{'requests':{" r "},'limits':{" l "}}}"
#define NONE           "{'name':'n'}"

/* TestGetPodQOS() of pkg/apis/core/v1/helper/qos. */
static void test_qos(void **state) {
    static const struct {
        const char *spec, *qos;
    } cases[] = {
        {"'containers':[" REQUESTS("'cpu':'100m','memory':'100Mi'",
                                   "'cpu':'100m','memory':'100Mi'") "]",
         "Guaranteed"},
        {"'containers':[" REQUESTS("'cpu':'100m','memory':'100Mi'",
                                   "'cpu':'0.1','memory':'104857600'") "]",
         "Guaranteed"},
        {"'containers':[" NONE "]", "BestEffort"},
        {"'containers':[" NONE "," REQUESTS("'cpu':'1'", "'cpu':'2'") "]", "Burstable"},
        {"'containers':[" NONE
         "," REQUESTS("'cpu':'10m','memory':'100Mi'", "'cpu':'10m','memory':'100Mi'") "]",
         "Burstable"},
        {"'containers':[" REQUESTS("'memory':'100Mi'", "'memory':'100Mi'") "]", "Burstable"},
        {"'containers':[" REQUESTS("'cpu':'100m','memory':'100Mi'", "") "]", "Burstable"},
        {"'containers':[" REQUESTS("'cpu':'0','memory':'0'", "'cpu':'100m','memory':'200Mi'") "]",
         "Burstable"},
        {"'containers':[" REQUESTS("'hugepages-2Mi':'1Gi','cpu':'0','memory':'0'",
                                   "'hugepages-2Mi':'1Gi','cpu':'0','memory':'0'") "]",
         "BestEffort"},
        {"'containers':[" NONE "],'initContainers':[" REQUESTS("'cpu':'10m'", "'cpu':'100m'") "]",
         "Burstable"},
        {"'containers':[" NONE "],'resources':{'requests':{'cpu':'10m','memory':'100Mi'},"
         "'limits':{'cpu':'10m','memory':'100Mi'}}",
         "Guaranteed"},
        {"'containers':[" REQUESTS(
             "'cpu':'5m','memory':'10Mi'",
             "'cpu':'5m','memory':'10Mi'") "],"
                                           "'resources':{'requests':{'cpu':'10m','memory':'10Mi'},"
                                           "'limits':{'cpu':'20m','memory':'50Mi'}}",
         "Burstable"},
        {"'containers':[]", "BestEffort"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_free_ char *text = xasprintf("{'spec':{%s}}", cases[i].spec);
        _cleanup_json_ json_t *pod = expect_json(text);
        if (!streq(pod_qos(pod), cases[i].qos))
            fail_msg("%s: %s", text, pod_qos(pod));
    }
}

static void expect_resources(const char *resources, const char *text) {
    _cleanup_json_ json_t *v = expect_json(resources);
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_named(&root, "resources", v);
    check_resources(&e, &at, RESOURCES_OF_CONTAINER, NULL, false);
    expect_errors(&e, text);
}

static void test_rules(void **state) {
    (void)state;
    expect_resources("{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}", "");
    expect_resources("{'limits':{'cpu':'1'},'requests':{'cpu':'1001m'}}",
                     "resources.requests: Invalid value: \"1001m\": must be less than or equal to "
                     "cpu limit of 1");
    expect_resources("{'limits':{'x.io/gpu':'2'},'requests':{'x.io/gpu':'1'}}",
                     "resources.requests: Invalid value: \"1\": must be equal to x.io/gpu limit of "
                     "2");
    expect_resources("{'limits':{'x.io/gpu':'500m'},'requests':{'x.io/gpu':'500m'}}",
                     "resources.limits[x.io/gpu]: Invalid value: \"500m\": must be an integer\n"
                     "resources.requests[x.io/gpu]: Invalid value: \"500m\": must be an integer");
    expect_resources("{'limits':{'memory':'-1'}}",
                     "resources.limits[memory]: Invalid value: \"-1\": must be greater than or "
                     "equal to 0");
    expect_resources("{'requests':{'x.io/gpu':'1'}}",
                     "resources.limits: Required value: Limit must be set for non overcommitable "
                     "resources");
}

static void test_huge_pages(void **state) {
    (void)state;
    assert_true(is_huge_page_resource("hugepages-2Mi"));
    assert_false(is_huge_page_resource("memory"));
    assert_false(is_huge_page_resource(""));
    expect_resources("{'limits':{'hugepages-2Mi':'4Mi'},'requests':{'hugepages-2Mi':'4Mi'}}",
                     "resources: Forbidden: HugePages require cpu or memory");
}

static void test_totals(void **state) {
    _cleanup_json_ json_t *spec = expect_json(
        "{'containers':[{'resources':{'requests':{'cpu':'500m'}}},{'resources':{'requests':{"
        "'cpu':'1','memory':'1Gi'}}}],'initContainers':[{'resources':{'requests':{'cpu':'2'}}}]}");
    _cleanup_json_ json_t *total = pod_containers_total(spec, "requests");
    const json_t *cpu = json_object_get(total, "cpu");
    (void)state;
    assert_int_equal(quantity_of(cpu), 2000); /* the largest of the init containers */
    assert_int_equal(quantity_of(json_object_get(total, "memory")), INT64_C(1000) << 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_qos),
        cmocka_unit_test(test_rules),    cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
