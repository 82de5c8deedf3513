/* Namespaces are furnished, and emptied before they go. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_life(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"a\"}}");
    sim_pass(&s, SEC(1));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/a/serviceaccounts/default", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/a/configmaps/kube-root-ca.crt", NULL);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/a/configmaps",
            "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"x.y/z\"]}}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/a", NULL);
    sim_ask(&s, 403, "POST", "/api/v1/namespaces/a/configmaps",
            "{\"metadata\":{\"name\":\"new\"}}");
    sim_pass(&s, SEC(3));
    json_t *n = sim_ask(&s, 200, "GET", "/api/v1/namespaces/a", NULL);
    assert_string_equal(sim_str(n, "status.phase"), "Terminating");
    assert_string_equal(
        sim_str(n, "status.conditions.4.message"),
        "Some content in the namespace has finalizers remaining: x.y/z in 1 resource instances");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/a/configmaps/held",
            "{\"metadata\":{\"finalizers\":null}}");
    sim_pass(&s, SEC(3));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/a", NULL);
    sim_ask(&s, 403, "DELETE", "/api/v1/namespaces/default", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
