/* Tests of src/engine/tokens.c: the bucket. */
#include "engine/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/timefmt.h"

/* How many are had from then on, one after the other. */
static unsigned take_all(struct tokens *p, int64_t now, int64_t *next) {
    unsigned n = 0;
    while (n < 1000 && tokens_take(p, now, next))
        n++;
    return n;
}

static void a_second_at_once_and_then_at_the_rate(void **state) {
    struct tokens p = {.rate = 4};
    int64_t next = 0, now = SEC(100);
    (void)state;
    assert_int_equal(take_all(&p, now, &next), 4);
    assert_in_range(next - now, MSEC(250), MSEC(250) + 2);
    assert_int_equal(take_all(&p, next - 10, &next), 0);
    assert_int_equal(take_all(&p, next, &next), 1);
    assert_int_equal(take_all(&p, now + SEC(1), &next), 3);
}

static void pauses_are_not_saved_up(void **state) {
    struct tokens p = {.rate = 4};
    int64_t next;
    (void)state;
    assert_int_equal(take_all(&p, SEC(1), &next), 4);
    assert_int_equal(take_all(&p, SEC(3600), &next), 4);
}

static void less_than_one_a_second(void **state) {
    struct tokens p = {.rate = 0.1};
    int64_t next;
    (void)state;
    assert_int_equal(take_all(&p, 0, &next), 1);
    assert_in_range(next, SEC(10), SEC(10) + 2);
    assert_int_equal(take_all(&p, next, &next), 1);
}

static void without_a_rate_there_is_no_limit(void **state) {
    struct tokens p = {0};
    int64_t next = 7;
    (void)state;
    assert_int_equal(take_all(&p, 0, &next), 1000);
    assert_int_equal(next, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_at_once_and_then_at_the_rate),
        cmocka_unit_test(pauses_are_not_saved_up),
        cmocka_unit_test(less_than_one_a_second),
        cmocka_unit_test(without_a_rate_there_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
