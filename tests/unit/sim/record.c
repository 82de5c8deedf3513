/* Texts of objects. */
#include "sim/record.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_splice(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    _cleanup_json_ json_t *v =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "kind", "Pod", "apiVersion", "v1",
                  "metadata", "name", "p", "uid", "u", "status", "phase", "Pending");
    struct record *a = record_of(&s.world->codec, &kind_pod, v, 7, NULL);
    assert_string_equal(a->json,
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\","
                        "\"uid\":\"u\",\"resourceVersion\":\"7\"},\"status\":{\"phase\":"
                        "\"Pending\"}}");
    assert_string_equal(record_as(pod, a)->phase, "Pending");
    struct record *b =
        record_with_status(&s.world->codec, a, VIEW("{\"phase\":\"Running\"}"), 1234, NULL);
    assert_string_equal(record_as(pod, b)->phase, "Running");
    assert_string_equal(b->obj->meta.version, "1234");
    assert_int_equal(b->version, 1234);
    /* the old one is as it was */
    assert_string_equal(record_as(pod, a)->phase, "Pending");
    struct record *c = record_with_status(&s.world->codec, b, (struct view){0}, 9, NULL);
    assert_string_equal(record_as(pod, c)->phase, "Running");
    _cleanup_json_ json_t *back = record_json(c);
    assert_string_equal(sim_str(back, "metadata.resourceVersion"), "9");
    record_unref(a);
    record_unref(b);
    record_unref(c);
    sim_site_done(&s);
}

static void test_refused(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    /* what does not decode is no record */
    _cleanup_json_ json_t *v =
        json_pack("{s:{s:s}, s:{s:i}}", "metadata", "name", "p", "status", "phase", 7);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_null(record_of(&s.world->codec, &kind_pod, v, 7, &err));
    assert_non_null(err.msg);
    record_unref(NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splice),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
