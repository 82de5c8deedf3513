/* Events go an hour after their last change. */
#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void make(struct sim_site *s, const char *name) {
    _cleanup_free_ char *body = xasprintf(
        "{\"metadata\":{\"name\":\"%s\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":"
        "\"default\",\"name\":\"p\"},\"reason\":\"R\",\"message\":\"m\",\"type\":\"Normal\"}",
        name);
    sim_ask(s, 201, "POST", "/api/v1/namespaces/default/events", body);
}

static void check(struct sim_site *s, const char *name, int code) {
    _cleanup_free_ char *path = xasprintf("/api/v1/namespaces/default/events/%s", name);
    sim_ask(s, code, "GET", path, NULL);
}

static void test_expiry(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    make(&s, "a");
    sim_pass(&s, SEC(1800));
    make(&s, "b");
    make(&s, "c");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/events/a", "{\"count\":2}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/events/c", NULL);
    make(&s, "c"); /* another one of the same name */
    sim_pass(&s, SEC(1801));
    check(&s, "a", 200); /* older than an hour, but it was changed */
    make(&s, "d");
    sim_pass(&s, SEC(1800));
    check(&s, "a", 404);
    check(&s, "b", 404);
    check(&s, "c", 404);
    check(&s, "d", 200);
    /* nothing is left behind when there is nothing to do for a while */
    sim_pass(&s, SEC(7200));
    check(&s, "d", 404);
    make(&s, "e");
    sim_pass(&s, SEC(3599));
    check(&s, "e", 200);
    sim_pass(&s, SEC(2));
    check(&s, "e", 404);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expiry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
