/* Metadata that belongs to the server. */
#include "sim/api/system_fields.h"

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
    _cleanup_json_ json_t *obj = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "generateName", "a-",
                                           "uid", "made up", "deletionTimestamp", "x");
    system_fields_create(s.world, obj);
    assert_int_equal(strlen(sim_str(obj, "metadata.name")), 7);
    assert_int_equal(strlen(sim_str(obj, "metadata.uid")), UUID_LEN);
    assert_null(sim_at(obj, "metadata.deletionTimestamp"));
    assert_string_equal(sim_str(obj, "metadata.creationTimestamp"), "2026-11-15T00:00:00Z");
    json_object_set_new(json_object_get(obj, "metadata"), "resourceVersion", json_string("5"));
    json_object_set_new(json_object_get(obj, "metadata"), "generation", json_integer(3));
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *next =
        json_pack("{s:{s:s, s:i}}", "metadata", "resourceVersion", "5", "generation", 99);
    assert_int_equal(system_fields_update(s.api->pods, next, obj, false, &f), 0);
    assert_string_equal(sim_str(next, "metadata.uid"), sim_str(obj, "metadata.uid"));
    assert_int_equal(sim_int(next, "metadata.generation"), 3);
    json_object_set_new(json_object_get(next, "metadata"), "resourceVersion", json_string("4"));
    assert_int_equal(system_fields_update(s.api->pods, next, obj, false, &f), -1);
    assert_int_equal(f.code, 409);
    json_object_del(json_object_get(next, "metadata"), "resourceVersion");
    assert_int_equal(system_fields_update(s.api->pods, next, obj, false, &f), -1);
    assert_int_equal(f.code, 422);
    assert_int_equal(system_fields_update(s.api->pods, next, obj, true, &f), 0);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
