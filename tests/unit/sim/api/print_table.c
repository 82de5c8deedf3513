/* Tables through the API. */
#include "sim/api/print.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_watch(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?watch=1",
               "application/json;as=Table;v=v1;g=meta.k8s.io", NULL, NULL);
    assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_WAIT);
    /* the columns come once */
    const char *first = strstr(str_get(&s.last.body), "\"columnDefinitions\":[{");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"columnDefinitions\":[{"));
    json_t *e =
        sim_ask_as(&s, 400, "GET", "/api/v1/namespaces/default/configmaps/a?includeObject=Nope",
                   "application/json;as=Table;v=v1;g=meta.k8s.io", NULL, NULL);
    assert_string_equal(sim_str(e, "reason"), "BadRequest");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
