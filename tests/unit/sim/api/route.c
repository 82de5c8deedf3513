/* From paths to resources. */
#include "sim/api/route.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_paths(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const struct {
        const char *target;
        enum route route;
        const char *ns, *name, *sub;
    } rows[] = {
        {"/api/v1/pods", ROUTE_RESOURCE, "", "", ""},
        {"/api/v1/namespaces/a/pods", ROUTE_RESOURCE, "a", "", ""},
        {"/api/v1/namespaces/a/pods/p", ROUTE_RESOURCE, "a", "p", ""},
        {"/api/v1/namespaces/a/pods/p/eviction?x=y", ROUTE_RESOURCE, "a", "p", "eviction"},
        {"/api/v1/namespaces/a", ROUTE_RESOURCE, "", "a", ""},
        {"/api/v1/namespaces/a/status", ROUTE_RESOURCE, "", "a", "status"},
        {"/api/v1/namespaces/a/finalize", ROUTE_RESOURCE, "", "a", "finalize"},
        {"/apis/apps/v1/namespaces/a%2Db/deployments/d/scale", ROUTE_RESOURCE, "a-b", "d", "scale"},
        {"/api/v1/namespaces/a/pods/p/nope", ROUTE_UNKNOWN, "a", "p", "nope"},
        {"/api/v1/namespaces/a/nodes", ROUTE_UNKNOWN, "a", "", ""},
        {"/api/v2", ROUTE_UNKNOWN, "", "", ""},
        {"/apis/nope.example.com/v1/x", ROUTE_NONE, "", "", ""},
        {"/api", ROUTE_LEGACY, "", "", ""},
        {"/apis", ROUTE_GROUPS, "", "", ""},
        {"/apis/apps", ROUTE_GROUP, "", "", ""},
        {"/apis/apps/v1", ROUTE_RESOURCES, "", "", ""},
        {"/openapi/v3", ROUTE_OPENAPI, "", "", ""},
        {"/openapi/v3/apis/apps/v1", ROUTE_OPENAPI_GROUP, "", "", ""},
        {"/version", ROUTE_VERSION, "", "", ""},
        {"/readyz/ping", ROUTE_HEALTH, "", "", ""},
        /* escapes are undone first: a slash is a slash */
        {"/api/v1/namespaces/a/pods/p%2Fstatus", ROUTE_RESOURCE, "a", "p", "status"},
        {"/api/v1/namespaces/a%2Fpods%2F", ROUTE_RESOURCE, "a", "", ""},
        {"/%61pi/v1/pods", ROUTE_RESOURCE, "", "", ""},
        {"/api/v1/namespaces/a/pods/%2e%2e", ROUTE_RESOURCE, "a", "..", ""},
        {"/api/v1/namespaces/a/pods/p%00", ROUTE_NONE, "", "", ""},
        {"/api/v1/namespaces/a/pods/%zz", ROUTE_NONE, "", "", ""},
        /* slashes at the end, and nothing between two */
        {"/api/v1/pods/", ROUTE_RESOURCE, "", "", ""},
        {"/api/v1//", ROUTE_RESOURCES, "", "", ""},
        {"/api/v1/namespaces//pods", ROUTE_RESOURCE, "", "", ""},
        {"/healthz/", ROUTE_NONE, "", "", ""},
        {"/", ROUTE_ROOT, "", "", ""},
        {"/index.html", ROUTE_ROOT, "", "", ""},
        {"/version/x", ROUTE_UNKNOWN, "", "", ""},
        {"/api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", ROUTE_UNKNOWN, "", "", ""},
        {"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", ROUTE_NONE, "", "", ""},
        {"api", ROUTE_NONE, "", "", ""},
        {"", ROUTE_NONE, "", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct api_request req = {.target = rows[i].target};
        struct call c = {.api = s.api, .req = &req};
        struct path path;
        route_parse(&c, &path);
        assert_int_equal(path.route, rows[i].route);
        assert_string_equal(strna(c.ns), rows[i].ns);
        assert_string_equal(strna(c.name), rows[i].name);
        assert_string_equal(strna(c.sub), rows[i].sub);
        arena_done(&c.arena);
    }
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
