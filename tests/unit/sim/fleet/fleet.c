/* What the parts do with the API. */
#include "sim/fleet/fleet.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_hands(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct fleet *f = s.fleet;
    struct record *r =
        fleet_create(f, f->nodes, NULL, json_pack("{s:{s:s}}", "metadata", "name", "n"), NULL);
    assert_non_null(r);
    _cleanup_failure_ struct failure why = FAILURE_INIT;
    assert_null(
        fleet_create(f, f->nodes, NULL, json_pack("{s:{s:s}}", "metadata", "name", "n"), &why));
    assert_int_equal(why.code, 409);
    assert_true(fleet_set_meta(f, f->nodes, r, "labels", "a", "b"));
    struct record *now = shelf_get(f->nodes->shelf, NULL, "n");
    assert_string_equal(map_get(now->obj->meta.labels, "a"), "b");
    assert_false(fleet_update(f, f->nodes, NULL, record_json(r), NULL)); /* an old version */
    record_unref(r);
    /* the same status twice is one write */
    now = fleet_put_status(f, f->nodes, now, json_pack("{s:s}", "phase", "Running"));
    uint64_t version = s.world->version;
    now = fleet_put_status(f, f->nodes, now, json_pack("{s:s}", "phase", "Running"));
    assert_int_equal(s.world->version, version);
    fleet_event(f, "test", f->nodes, now, "Normal", "Why", "because %d", 7);
    fleet_event(f, "test", f->nodes, now, "Normal", "Why", "because %d", 7);
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/events", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 1);
    assert_int_equal(sim_int(l, "items.0.count"), 2);
    assert_string_equal(sim_str(l, "items.0.message"), "because 7");
    assert_true(fleet_delete(f, f->nodes, NULL, "n", NULL));
    assert_false(fleet_delete(f, f->nodes, NULL, "n", NULL));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
