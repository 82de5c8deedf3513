/* Pods leave tainted nodes, each in its time. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_times(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"now\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":["
            "{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"later\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\",\"tolerations\":"
            "[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
            "\"tolerationSeconds\":60}]}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"stays\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\",\"tolerations\":"
            "[{\"key\":\"k\",\"operator\":\"Exists\"}]}}");
    /* more than 64 bits of nanoseconds: less than nothing, which is for ever */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"ages\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\",\"tolerations\":"
            "[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
            "\"tolerationSeconds\":9223372036854775807}]}}");
    sim_pass(&s, SEC(10));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}");
    sim_pass(&s, SEC(20));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/ages", NULL);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/now", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/later", NULL);
    sim_pass(&s, SEC(60));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/later", NULL);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/stays", NULL);
    assert_null(sim_at(p, "metadata.deletionTimestamp"));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
