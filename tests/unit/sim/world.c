/* Uuids, the log and the listeners. */
#include "sim/world.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int heard, logged;
static void on_change(void *arg, struct shelf *shelf, const struct change *c) {
    (void)arg, (void)shelf, (void)c;
    heard++;
}
static void on_log(void *arg, const struct kind *kind, const struct change *c) {
    (void)arg, (void)c;
    assert_ptr_equal(kind, &kind_any);
    logged++;
}

static void test_world(void **state) {
    (void)state;
    struct world *a = world_new(5, SIM_START), *b = world_new(5, SIM_START),
                 *c = world_new(6, SIM_START);
    char x[UUID_LEN + 1], y[UUID_LEN + 1], z[UUID_LEN + 1];
    assert_string_equal(world_uuid(a, x), world_uuid(b, y));
    assert_string_not_equal(x, world_uuid(c, z));
    assert_int_equal(x[14], '4'); /* version 4, variant 1 */
    assert_non_null(strchr("89ab", x[19]));
    struct shelf *s = shelf_new(a, &kind_any);
    world_listen(a, on_change, NULL);
    a->log = on_log;
    _cleanup_json_ json_t *v = json_pack("{s:{s:s, s:s}}", "metadata", "name", "x", "uid", "u");
    shelf_put(s, v, NULL);
    world_unlisten(a, on_change, NULL);
    shelf_put(s, v, NULL);
    assert_int_equal(heard, 1);
    assert_int_equal(logged, 2);
    assert_int_equal(a->changes, 2);
    shelf_free(s);
    world_free(a);
    world_free(b);
    world_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
