/* Every part starts, and ends without leaving anything behind. */
#include "sim/fleet/parts.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_parts(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    size_t n = 0;
    while (fleet_parts[n]) {
        assert_non_null(fleet_parts[n]->name);
        for (size_t i = 0; i < n; i++)
            assert_ptr_not_equal(fleet_parts[i], fleet_parts[n]);
        n++;
    }
    assert_int_equal(s.fleet->parts.len, n);
    sim_pass(&s, SEC(3600)); /* an hour of an empty cluster */
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
