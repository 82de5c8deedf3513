/* Forms of answers. */
#include "sim/api/print.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_forms(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *t = sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps",
                           "application/json;as=Table;v=v1;g=meta.k8s.io", NULL, NULL);
    assert_string_equal(sim_str(t, "kind"), "Table");
    assert_string_equal(sim_str(t, "rows.0.cells.0"), "a");
    json_t *p =
        sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps",
                   "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", NULL, NULL);
    assert_string_equal(sim_str(p, "items.2.metadata.name"), "c");
    assert_null(sim_at(p, "items.2.data"));
    sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/a", "application/yaml", NULL,
               NULL);
    assert_non_null(strstr(sim_text(&s), "kind: ConfigMap\n"));
    /* lists in protobuf: the magic, the kind, all three names */
    sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps",
               "application/vnd.kubernetes.protobuf", NULL, NULL);
    assert_memory_equal(s.last.body.p, "k8s", 4);
    assert_non_null(memmem(s.last.body.p, s.last.body.len, "ConfigMapList", 13));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
