/* Pods of nodes that are gone. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_collected(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n2\"}}");
    sim_pass(&s, SEC(10));
    sim_ask(&s, 200, "DELETE", "/api/v1/nodes/n1", NULL);
    sim_pass(&s, SEC(30));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL); /* it may come back */
    sim_pass(&s, SEC(60));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/q", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
