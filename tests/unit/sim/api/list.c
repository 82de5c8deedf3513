/* Lists: pages, tokens, versions. */
#include "sim/api/api.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_pages(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?limit=2", NULL);
    assert_string_equal(sim_str(l, "kind"), "ConfigMapList");
    assert_int_equal(json_array_size(sim_at(l, "items")), 2);
    assert_int_equal(sim_int(l, "metadata.remainingItemCount"), 1);
    assert_null(sim_at(l, "items.0.kind")); /* typed lists do not repeat it */
    char next[512];
    (void)snprintf(next, sizeof next, "/api/v1/namespaces/default/configmaps?limit=2&continue=%s",
                   sim_str(l, "metadata.continue"));
    /* what comes in between is not seen */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"bb\"}}");
    json_t *rest = sim_ask(&s, 200, "GET", next, NULL);
    assert_int_equal(json_array_size(sim_at(rest, "items")), 1);
    assert_string_equal(sim_str(rest, "items.0.metadata.name"), "c");
    assert_string_equal(sim_str(rest, "metadata.resourceVersion"),
                        sim_str(l, "metadata.resourceVersion"));
    assert_null(sim_at(rest, "metadata.continue"));
    sim_ask(&s, 400, "GET", "/api/v1/namespaces/default/configmaps?continue=nonsense", NULL);
    sim_site_done(&s);
}

static void test_versions(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps", NULL);
    char old[256];
    (void)snprintf(
        old, sizeof old,
        "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=%s",
        sim_str(l, "metadata.resourceVersion"));
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/a", NULL);
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/b",
            "{\"data\":{\"x\":\"y\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"d\"}}");
    json_t *then = sim_ask(&s, 200, "GET", old, NULL);
    assert_true(json_equal(l, then)); /* exactly as it was */
    sim_compact(s.sim);
    json_t *gone = sim_ask(&s, 410, "GET", old, NULL);
    assert_string_equal(sim_str(gone, "reason"), "Expired");
    json_t *future = sim_ask(&s, 504, "GET",
                             "/api/v1/namespaces/default/configmaps?resourceVersion=999999", NULL);
    assert_int_equal(sim_int(future, "details.retryAfterSeconds"), 1);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
