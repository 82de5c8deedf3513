/* Tests of src/cli/lags.c. */
#include "cli/lags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void note(struct lags *l, const char *drain, int64_t answer, int64_t place, int64_t turn) {
    lags_note(l, drain, &(struct lags_seen){answer, place, turn, -1});
}

static void test_nothing_known(void **state) {
    (void)state;
    struct lags_basis b = lags_basis(NULL);
    assert_int_equal(b.drains, 0);
    assert_int_equal(b.answer[0], LAGS_LEAST);
    assert_int_equal(b.answer[1], LAGS_MOST);
    int64_t least = INT64_MAX, most = 0;
    unsigned small = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct lags_drawn d = lags_draw(NULL, seed);
        assert_int_equal(d.step, 0);
        least = d.answer < least ? d.answer : least;
        most = d.answer > most ? d.answer : most;
        small += d.answer < MSEC(89); /* the middle of both by magnitude */
    }
    assert_in_range(least, LAGS_LEAST, LAGS_LEAST + MSEC(2));
    assert_in_range(most, LAGS_MOST - MSEC(20), LAGS_MOST);
    assert_in_range(small, 430, 570);
}

/* A run is as slow as one of the drains was, not as a mixture of them. */
static void test_as_one_of_them(void **state) {
    (void)state;
    struct lags l = {0};
    for (int i = 0; i < 20; i++) {
        note(&l, "quick", MSEC(10), MSEC(20), -1);
        note(&l, "slow", MSEC(100), -1, -1);
        note(&l, "slow", -1, MSEC(600), -1);
    }
    note(&l, "quick", SEC(9), SEC(9), -1); /* one that hung */
    note(&l, "none", -1, -1, -1);          /* an older slipway's */
    struct lags_basis b = lags_basis(&l);
    assert_int_equal(b.drains, 2);
    assert_int_equal(b.answer[0], MSEC(10));
    assert_int_equal(b.answer[1], MSEC(100));
    assert_int_equal(b.step[0], MSEC(10));
    assert_int_equal(b.step[1], MSEC(300));
    /* The two are in the proportion that one of them had, and from 3/4 to six times of it. */
    unsigned slow = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct lags_drawn d = lags_draw(&l, seed);
        bool is_slow = d.step > d.answer * 2;
        slow += is_slow;
        assert_in_range(d.answer, MSEC(is_slow ? 100 : 10) * 3 / 4, MSEC(is_slow ? 100 : 10) * 6);
        assert_in_range(d.step, d.answer * (is_slow ? 3 : 1) - 3, d.answer * (is_slow ? 3 : 1) + 3);
    }
    assert_in_range(slow, 150, 250);
    lags_done(&l);
}

/* What one of the two is not known of goes by the other; only the last drains count. */
static void test_gaps(void **state) {
    (void)state;
    struct lags l = {0};
    char name[16];
    note(&l, "first", SEC(5), SEC(5), -1);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        note(&l, name, i % 2 ? MSEC(30) : -1, i % 2 ? -1 : MSEC(80), -1);
    }
    struct lags_basis b = lags_basis(&l);
    assert_int_equal(b.drains, 64);
    assert_int_equal(b.answer[0], MSEC(30));
    assert_int_equal(b.answer[1], MSEC(40));
    assert_int_equal(b.step[0], MSEC(30));
    assert_int_equal(b.step[1], MSEC(40));
    lags_done(&l);
}

/* The look at a budget is what is left of a turn without its own request; a step, where none is
 * known. */
static void test_budget(void **state) {
    (void)state;
    struct lags l = {0};
    note(&l, "a", MSEC(50), MSEC(40), MSEC(350));
    note(&l, "b", MSEC(50), MSEC(60), -1);
    note(&l, "c", MSEC(50), MSEC(60), MSEC(20));
    struct lags_basis b = lags_basis(&l);
    assert_int_equal(b.drains, 3);
    assert_int_equal(b.budget[0], 0);
    assert_int_equal(b.budget[1], MSEC(300));
    int64_t most = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
        most = MAX_OF(most, lags_draw(&l, seed).budget);
    assert_in_range(most, MSEC(1500), MSEC(1800));
    lags_done(&l);
}

/* Many requests at once are answered later than those that come one by one, which are what a drain
 * waits for. */
static void test_at_once(void **state) {
    (void)state;
    struct lags l = {0};
    for (int i = 0; i < 10; i++)
        note(&l, "a", MSEC(400), -1, -1);
    note(&l, "a", MSEC(20), -1, MSEC(120));
    note(&l, "a", MSEC(20), -1, MSEC(120));
    assert_int_equal(lags_basis(&l).answer[1], MSEC(400)); /* two may be chance */
    note(&l, "a", MSEC(20), -1, MSEC(120));
    assert_int_equal(lags_basis(&l).answer[1], MSEC(20));
    assert_int_equal(lags_basis(&l).budget[1], MSEC(100));
    lags_done(&l);
}

/* How long a drain takes to begin is known from those that did. */
static void test_begin(void **state) {
    (void)state;
    struct lags l = {0};
    note(&l, "a", MSEC(50), -1, -1);
    assert_int_equal(lags_draw(&l, 1).begin, 0);
    lags_note(&l, "b", &(struct lags_seen){MSEC(50), -1, -1, SEC(2)});
    struct lags_basis b = lags_basis(&l);
    assert_int_equal(b.begin[0], 0);
    assert_int_equal(b.begin[1], SEC(2));
    assert_true(b.times[0] == 0.75 && b.times[1] == 6);
    assert_true(lags_basis(NULL).times[0] == 1 && lags_basis(NULL).times[1] == 1);
    int64_t most = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
        most = MAX_OF(most, lags_draw(&l, seed).begin);
    assert_in_range(most, SEC(10), SEC(12));
    lags_done(&l);
}

/* One that was busy when it was seen is not taken to be six times as busy. */
static void test_busy(void **state) {
    (void)state;
    struct lags l = {0};
    note(&l, "busy", MSEC(200), MSEC(100), -1);
    assert_true(lags_basis(&l).times[1] == 2);
    note(&l, "worse", MSEC(1000), MSEC(100), -1);
    assert_true(lags_basis(&l).times[1] == 2);
    for (uint64_t seed = 0; seed < 200; seed++) {
        int64_t answer = lags_draw(&l, seed).answer;
        assert_true(answer >= MSEC(150) && answer <= MSEC(1250));
        assert_true(answer <= MSEC(400) || answer >= MSEC(750));
    }
    note(&l, "quiet", MSEC(20), MSEC(100), -1);
    assert_true(lags_basis(&l).times[1] == 6);
    lags_done(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_as_one_of_them),
        cmocka_unit_test(test_gaps),          cmocka_unit_test(test_budget),
        cmocka_unit_test(test_at_once),       cmocka_unit_test(test_begin),
        cmocka_unit_test(test_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
