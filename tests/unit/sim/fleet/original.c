/* Tests of src/sim/fleet/original.c. */
#include "sim/fleet/original.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_sets(void **state) {
    (void)state;
    struct habits *h = habits_new();
    struct original *o = original_new(h);
    assert_ptr_equal(original_habits(o), h);
    assert_false(original_is_stranger(o, "u1"));
    assert_false(original_is_stranger(o, NULL));
    for (int i = 0; i < 1000; i++) {
        char uid[16];
        (void)snprintf(uid, sizeof uid, "u%d", i);
        original_add_stranger(o, uid);
        original_add_stranger(o, uid); /* once */
    }
    original_add_stranger(o, "");
    original_add_stranger(o, NULL);
    assert_true(original_is_stranger(o, "u999"));
    assert_false(original_is_stranger(o, "u1000"));
    assert_false(original_is_stranger(o, ""));
    /* a driver attaches unless it is known not to */
    assert_true(original_driver_attaches(o, "ebs.csi.aws.com"));
    original_add_detached_driver(o, "nfs.csi.k8s.io");
    assert_false(original_driver_attaches(o, "nfs.csi.k8s.io"));
    assert_true(original_driver_attaches(o, "ebs.csi.aws.com"));
    assert_false(original_driver_attaches(o, NULL));
    assert_false(original_driver_attaches(o, ""));
    original_free(o);
    original_free(NULL);
    habits_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
