/* Addresses and ports of Services. */
#include "sim/api/services.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_addresses(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *path = "/api/v1/namespaces/default/services";
    json_t *a = sim_ask(&s, 201, "POST", path,
                        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"NodePort\",\"ports\":["
                        "{\"name\":\"w\",\"port\":80},{\"name\":\"x\",\"port\":81}]}}");
    json_t *b = sim_ask(&s, 201, "POST", path,
                        "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    assert_int_equal(strncmp(sim_str(a, "spec.clusterIP"), "10.96.", 6), 0);
    assert_string_not_equal(sim_str(a, "spec.clusterIP"), sim_str(b, "spec.clusterIP"));
    assert_string_equal(sim_str(a, "spec.clusterIPs.0"), sim_str(a, "spec.clusterIP"));
    assert_in_range(sim_int(a, "spec.ports.0.nodePort"), 30000, 32767);
    assert_int_not_equal(sim_int(a, "spec.ports.0.nodePort"), sim_int(a, "spec.ports.1.nodePort"));
    assert_int_equal(sim_int(b, "spec.ports.0.nodePort"), 0);
    json_t *h = sim_ask(&s, 201, "POST", path,
                        "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"clusterIP\":\"None\",\"ports\":"
                        "[{\"port\":80}]}}");
    assert_string_equal(sim_str(h, "spec.clusterIP"), "None");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
