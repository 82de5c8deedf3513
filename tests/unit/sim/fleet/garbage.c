/* Garbage: background, foreground, orphans. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_ways(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    char body[512];
    static const char *const ways[] = {"Background", "Foreground", "Orphan"};
    for (size_t i = 0; i < 3; i++) {
        json_t *o = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
                            "{\"metadata\":{\"name\":\"owner\"}}");
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":"
                       "\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%s\","
                       "\"blockOwnerDeletion\":true}]}}",
                       sim_str(o, "metadata.uid"));
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
        sim_pass(&s, SEC(1));
        (void)snprintf(body, sizeof body, "{\"propagationPolicy\":\"%s\"}", ways[i]);
        sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/owner", body);
        sim_ask(&s, i ? 200 : 404, "GET", "/api/v1/namespaces/default/configmaps/owner",
                NULL); /* it waits, or it does not */
        sim_pass(&s, SEC(2));
        sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/owner", NULL);
        json_t *c = sim_ask(&s, i == 2 ? 200 : 404, "GET",
                            "/api/v1/namespaces/default/configmaps/child", NULL);
        if (i == 2) {
            assert_int_equal(json_array_size(sim_at(c, "metadata.ownerReferences")), 0);
            sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/child", NULL);
        }
    }
    /* an owner that never was */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"lost\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
            "\"ConfigMap\",\"name\":\"no\",\"uid\":\"no\"}]}}");
    sim_pass(&s, SEC(1));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/lost", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
