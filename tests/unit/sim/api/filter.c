/* Selectors of lists and watches. */
#include "sim/api/filter.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_fields(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/nodes",
            "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"unschedulable\":true}}");
    sim_ask(&s, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n2\"}}");
    static const struct {
        const char *selector;
        const char *name; /* NULL: none */
    } rows[] = {
        {"spec.unschedulable%3Dtrue", "n1"}, {"spec.unschedulable%3Dfalse", "n2"},
        {"metadata.name%3Dn2", "n2"},        {"metadata.name!%3Dn2", "n1"},
        {"metadata.name%3Dnone", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char target[128];
        (void)snprintf(target, sizeof target, "/api/v1/nodes?fieldSelector=%s", rows[i].selector);
        json_t *l = sim_ask(&s, 200, "GET", target, NULL);
        assert_int_equal(json_array_size(sim_at(l, "items")), rows[i].name != NULL);
        if (rows[i].name)
            assert_string_equal(sim_str(l, "items.0.metadata.name"), rows[i].name);
    }
    json_t *e = sim_ask(&s, 400, "GET", "/api/v1/nodes?fieldSelector=spec.x%3D1", NULL);
    assert_string_equal(sim_str(e, "message"), "field label not supported: spec.x");
    e = sim_ask(&s, 400, "GET", "/api/v1/nodes?fieldSelector=nonsense", NULL);
    assert_non_null(strstr(sim_str(e, "message"), "can't understand"));
    sim_site_done(&s);
}

/* parseSelector() and UnescapeValue() in apimachinery's pkg/fields/selector.go. */
static void test_words(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\"}}");
    static const char *const everything[] = {"%3D", "!%3D", "%3D%3D", ",",
                                             "%3D,metadata.name%3Dn1"};
    for (size_t i = 0; i < ARRAY_LEN(everything); i++) {
        char target[128];
        (void)snprintf(target, sizeof target, "/api/v1/nodes?fieldSelector=%s", everything[i]);
        json_t *l = sim_ask(&s, 200, "GET", target, NULL);
        assert_int_equal(json_array_size(sim_at(l, "items")), 1);
    }
    static const char *const refused[][2] = {
        {"%3Dx", "field label not supported: "},
        {"metadata.name%3Da%3Db", "invalid field selector: unescaped character in value: 61"},
        {"metadata.name%3Da%5Cb", "invalid field selector: invalid escape sequence: \\b"},
        {"metadata.name%3Da%5C", "invalid field selector: invalid escape sequence: \\"},
        {"x%3D1,a%3D1", "field label not supported: a"},
        {"x,metadata.name%3D%5C1", "invalid field selector: invalid escape sequence: \\1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char target[128];
        (void)snprintf(target, sizeof target, "/api/v1/nodes?fieldSelector=%s", refused[i][0]);
        json_t *e = sim_ask(&s, 400, "GET", target, NULL);
        assert_string_equal(sim_str(e, "message"), refused[i][1]);
    }
    sim_ask(&s, 200, "GET", "/api/v1/nodes?fieldSelector=metadata.name%3Da%5C,b%5C%3D%5C%5C", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
