/* Patches and collections. */
#include "sim/api/api.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_patches(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":"
            "{\"app\":\"x\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_ask_as(&s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", NULL,
               "application/strategic-merge-patch+json",
               "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"}"
               ",{\"name\":\"e\",\"image\":\"k\"}]}}}}");
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
    assert_int_equal(json_array_size(sim_at(d, "spec.template.spec.containers")), 2);
    sim_ask(
        &s, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
        "[{\"op\":\"test\",\"path\":\"/spec/"
        "replicas\",\"value\":3},{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4}]");
    sim_ask(&s, 422, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
            "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3}]");
    json_t *e = sim_ask_as(&s, 415, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", NULL,
                           "application/apply-patch+yaml", "{}");
    assert_non_null(strstr(sim_str(e, "message"), "server-side apply is not simulated"));
    e = sim_ask(&s, 422, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d",
                "{\"spec\":{\"replicas\":\"x\"}}");
    assert_string_equal(sim_str(e, "details.causes.0.field"), "patch");
    sim_ask(&s, 404, "PATCH", "/apis/apps/v1/namespaces/default/deployments/none", "{}");
    sim_site_done(&s);
}

static void test_collection(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "DELETE",
                        "/api/v1/namespaces/default/configmaps?labelSelector=n%20in%20(a,b)", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 2);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/a", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/c", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
