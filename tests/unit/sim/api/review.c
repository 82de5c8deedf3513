/* Reviews and bindings. */
#include "sim/api/subresources.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_access(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    json_t *r =
        sim_ask(&s, 201, "POST", path,
                "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}");
    assert_true(json_is_true(sim_at(r, "status.allowed")));
    json_t *e = sim_ask(&s, 422, "POST", path, "{\"spec\":{}}");
    assert_non_null(strstr(sim_str(e, "message"), "exactly one of"));
    sim_ask(&s, 405, "GET", path, NULL);
    sim_site_done(&s);
}

static void test_binding(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}]}}");
    const char *bind =
        "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods/p/binding", bind);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "spec.nodeName"), "n1");
    sim_ask(&s, 409, "POST", "/api/v1/namespaces/default/pods/p/binding", bind);
    sim_site_done(&s);
}

static void test_refused_bindings(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *path = "/api/v1/namespaces/default/pods/p/binding";
    sim_ask(&s, 201, "POST", "/api/v1/nodes",
            "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"topology.kubernetes.io/zone\":\"z\","
            "\"other\":\"x\"}}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}],"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    json_t *e = sim_ask(&s, 500, "POST", path, "{\"metadata\":{\"name\":\"p\"},\"target\":{}}");
    assert_string_equal(sim_str(e, "message"), "target.name: Required value");
    sim_ask(&s, 400, "POST", path, "{\"metadata\":{\"name\":\"q\"},\"target\":{\"name\":\"n1\"}}");
    const char *bind =
        "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    e = sim_ask(&s, 409, "POST", path, bind);
    assert_non_null(strstr(sim_str(e, "message"), "pod p has non-empty .spec.schedulingGates"));
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/p",
            "{\"spec\":{\"schedulingGates\":null}}");
    sim_ask(&s, 201, "POST", path, bind);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    const json_t *labels = sim_at(p, "metadata.labels");
    assert_int_equal(json_object_size(labels), 1);
    assert_string_equal(json_string_value(json_object_get(labels, "topology.kubernetes.io/zone")),
                        "z");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_refused_bindings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
