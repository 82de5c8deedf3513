/* Tests of base/vec.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"

static void test_push(void **state) {
    (void)state;
    VEC(int) v = VEC_INIT;
    for (int i = 0; i < 1000; i++)
        *vec_push(&v) = i;
    assert_int_equal(v.len, 1000);
    assert_in_range(v.cap, 1000, 2000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.p[i], i);
    vec_done(&v);
    assert_null(v.p);
    assert_int_equal(v.len, 0);
    vec_done(&v);
}

static void test_structs(void **state) {
    (void)state;
    struct pair {
        const char *name;
        int value;
    };
    VEC(struct pair) v = VEC_INIT;
    *vec_push(&v) = (struct pair){"a", 1};
    struct pair *b = vec_push(&v);
    *b = (struct pair){.name = "b"};
    b->value = 2;
    assert_string_equal(v.p[0].name, "a");
    assert_int_equal(v.p[1].value, 2);
    vec_done(&v);
}

static void test_reserve(void **state) {
    (void)state;
    VEC(int) v = VEC_INIT;
    vec_reserve(&v, 0);
    assert_null(v.p);
    *vec_push(&v) = 1;
    vec_reserve(&v, 100);
    assert_true(v.cap >= 101);
    const int *p = v.p;
    for (int i = 0; i < 100; i++)
        *vec_push(&v) = i;
    assert_ptr_equal(v.p, p);
    assert_int_equal(v.p[0], 1);
    assert_int_equal(v.len, 101);
    vec_done(&v);
}

static void test_usable_after_done(void **state) {
    (void)state;
    VEC(char) v = VEC_INIT;
    *vec_push(&v) = 'a';
    vec_done(&v);
    *vec_push(&v) = 'b';
    assert_int_equal(v.len, 1);
    assert_int_equal(v.p[0], 'b');
    vec_done(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_usable_after_done),
    };
    return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
