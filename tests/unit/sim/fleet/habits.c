/* Tests of src/sim/fleet/habits.c. */
#include "sim/fleet/habits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct pod_spec spec = {.grace = 60};
static const struct pod web = {.meta = {.ns = "ns", .name = "web"}, .spec = &spec};
static const struct pod other = {.meta = {.ns = "ns", .name = "other"}, .spec = &spec};
#define WEB "ns/Pod/web"

/* Draws a thousand times: the least, the most and the mean. */
static void draw(struct habits *h, int64_t *least, int64_t *most, int64_t *mean) {
    *least = INT64_MAX;
    *most = *mean = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t v = habits_draw(h, &web, HABIT_STOP);
        *least = v < *least ? v : *least;
        *most = v > *most ? v : *most;
        *mean += v / 1000;
    }
}

/* Seen were the quarters of what is from 8 to 20 seconds: what is drawn goes from end to end, in
 * each run around another mean, since three say little about that: it is off by the deviation of
 * the three (2.45 s) over the root of their number. */
static void test_seen(void **state) {
    (void)state;
    struct habits *h = habits_new();
    enum { RUNS = 400 };
    double all = 0, squares = 0;
    habits_note(h, WEB, HABIT_STOP, SEC(11));
    habits_note(h, WEB, HABIT_STOP, SEC(17));
    habits_note(h, WEB, HABIT_STOP, SEC(14));
    assert_int_equal(habits_median(h, WEB, HABIT_STOP), SEC(14));
    for (uint64_t run = 0; run < RUNS; run++) {
        int64_t least, most, mean;
        habits_begin(h, run);
        draw(h, &least, &most, &mean);
        assert_in_range(most - least, SEC(9), SEC(12));
        assert_in_range(mean, MSEC(10500), MSEC(17500));
        all += (double)mean / 1e6 / RUNS;
        squares += (double)mean / 1e6 * ((double)mean / 1e6) / RUNS;
    }
    assert_true(all > 13.7 && all < 14.3);
    double variance = squares - all * all; /* 2 s^2 */
    assert_true(variance > 1.6 && variance < 2.4);
    struct habits_basis b = habits_basis(h, HABIT_STOP);
    assert_int_equal(b.workloads, 1);
    assert_int_equal(b.assumed, 0);
    assert_true(b.others);
    assert_false(habits_basis(h, HABIT_START).others);
    habits_free(h);
}

/* Of many the mean is well known. */
static void test_well_known(void **state) {
    (void)state;
    struct habits *h = habits_new();
    for (int i = 0; i < 200; i++)
        habits_note(h, WEB, HABIT_STOP, SEC(8) + i * MSEC(60));
    for (uint64_t run = 0; run < 100; run++) {
        int64_t least, most, mean;
        habits_begin(h, run);
        draw(h, &least, &most, &mean);
        assert_in_range(mean, SEC(13), SEC(15)); /* 14 s, give or take a quarter: four times that */
    }
    habits_free(h);
}

/* Never below nothing, however far apart two observations are. */
static void test_far_apart(void **state) {
    (void)state;
    struct habits *h = habits_new();
    int64_t least, most, mean;
    habits_note(h, WEB, HABIT_STOP, SEC(1));
    habits_note(h, WEB, HABIT_STOP, SEC(9));
    habits_begin(h, 1);
    draw(h, &least, &most, &mean);
    assert_true(least >= MSEC(500) && most <= SEC(21));
    habits_free(h);
}

static void test_one_observation(void **state) {
    (void)state;
    struct habits *h = habits_new();
    habits_note(h, WEB, HABIT_START, SEC(10));
    habits_begin(h, 3);
    for (int i = 0; i < 100; i++)
        assert_in_range(habits_draw(h, &web, HABIT_START), SEC(9), SEC(11));
    habits_free(h);
}

static void test_outliers(void **state) {
    (void)state;
    struct habits *h = habits_new();
    for (int i = 0; i < 10; i++)
        habits_note(h, WEB, HABIT_READY, SEC(2));
    habits_note(h, WEB, HABIT_READY, SEC(3600)); /* it was lost, and came back */
    habits_note(h, WEB, HABIT_READY, SEC(-5));   /* clocks */
    habits_note(h, WEB, HABIT_READY, HABITS_MOST + 1);
    habits_begin(h, 1);
    for (int i = 0; i < 200; i++)
        assert_int_equal(habits_draw(h, &web, HABIT_READY), SEC(2));
    habits_free(h);
}

/* Only so much is kept, and the new pushes out the old. */
static void test_many(void **state) {
    (void)state;
    struct habits *h = habits_new();
    for (int i = 0; i < 5000; i++)
        habits_note(h, WEB, HABIT_STOP, i < 4000 ? SEC(1) : SEC(3));
    assert_int_equal(habits_median(h, WEB, HABIT_STOP), SEC(3));
    habits_free(h);
}

/* Nothing was seen: one time for a workload in a run, another in the next, never beyond the grace.
 */
static void test_assumed_stop(void **state) {
    (void)state;
    struct habits *h = habits_new();
    int64_t first = 0, low = INT64_MAX, high = 0;
    for (uint64_t run = 0; run < 200; run++) {
        habits_begin(h, run);
        int64_t a = habits_draw(h, &web, HABIT_STOP), b = habits_draw(h, &web, HABIT_STOP);
        first = run ? first : a;
        assert_true(a >= MSEC(900) && a <= ASSUMED_STOP * 11 / 10);
        assert_true(a < b * 5 / 4 && b < a * 5 / 4); /* alike */
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    assert_true(low < SEC(2) && high > SEC(9));
    assert_int_equal(habits_basis(h, HABIT_STOP).assumed, 1);
    /* the same seed, the same time */
    habits_begin(h, 0);
    assert_int_equal(habits_draw(h, &web, HABIT_STOP), first);
    /* a pod that must go at once */
    static const struct pod_spec hasty = {.grace = 0};
    const struct pod quick = {.meta = {.ns = "ns", .name = "quick"}, .spec = &hasty};
    assert_int_equal(habits_draw(h, &quick, HABIT_STOP), 0);
    habits_free(h);
}

/* Others were seen: one of their times for a workload in a run, but not beyond its grace. */
static void test_assumed_from_others(void **state) {
    (void)state;
    struct habits *h = habits_new();
    static const struct pod_spec brief = {.grace = 4};
    const struct pod hasty = {.meta = {.ns = "ns", .name = "hasty"}, .spec = &brief};
    int64_t low = INT64_MAX, high = 0;
    for (int i = 0; i < 20; i++)
        habits_note(h, WEB, HABIT_STOP, SEC(5) + i * MSEC(250));
    for (uint64_t run = 0; run < 200; run++) {
        habits_begin(h, run);
        int64_t a = habits_draw(h, &other, HABIT_STOP), b = habits_draw(h, &other, HABIT_STOP);
        assert_true(a < b * 5 / 4 && b < a * 5 / 4); /* alike */
        low = a < low ? a : low;
        high = a > high ? a : high;
        assert_true(habits_draw(h, &hasty, HABIT_STOP) <= MSEC(4400));
    }
    assert_true(low > SEC(3) && low < SEC(6));
    assert_true(high > SEC(9) && high < SEC(13));
    struct habits_basis b = habits_basis(h, HABIT_STOP);
    assert_int_equal(b.workloads, 2);
    assert_int_equal(b.assumed, 2);
    assert_true(b.others);
    habits_free(h);
}

static void test_others_and_none(void **state) {
    (void)state;
    struct habits *h = habits_new();
    habits_begin(h, 1);
    for (int i = 0; i < 50; i++) {
        assert_in_range(habits_draw(h, &other, HABIT_START), SEC(1), SEC(5));
        assert_in_range(habits_draw(h, &other, HABIT_READY), 0, SEC(5));
    }
    habits_note(h, WEB, HABIT_START, SEC(40));
    assert_in_range(habits_draw(h, &other, HABIT_START), SEC(36), SEC(44));
    assert_int_equal(habits_basis(h, HABIT_START).assumed, 1);
    assert_int_equal(habits_median(h, "nobody", HABIT_START), -1);
    habits_free(h);
}

/* What drains have seen from binding to ready counts more than two halves; but one alone does not,
 * where those are known. */
static void test_up(void **state) {
    (void)state;
    struct habits *h = habits_new();
    habits_note(h, WEB, HABIT_START, SEC(40));
    habits_note(h, WEB, HABIT_READY, SEC(40));
    habits_note(h, WEB, HABIT_UP, SEC(5));
    habits_note(h, WEB, HABIT_UP, SEC(5));
    habits_begin(h, 1);
    assert_in_range(habits_draw(h, &web, HABIT_START), SEC(36), SEC(44));
    assert_in_range(habits_draw(h, &web, HABIT_READY), SEC(36), SEC(44));
    habits_note(h, WEB, HABIT_UP, SEC(5));
    assert_in_range(habits_draw(h, &web, HABIT_START), MSEC(4500), MSEC(5500));
    assert_int_equal(habits_draw(h, &web, HABIT_READY), 0);
    assert_int_equal(habits_basis(h, HABIT_READY).assumed, 0);
    habits_free(h);
}

/* Where nothing else is known: of the workload, and then of any. */
static void test_ups_alone(void **state) {
    (void)state;
    struct habits *h = habits_new();
    habits_note(h, WEB, HABIT_UP, SEC(50));
    habits_begin(h, 1);
    assert_in_range(habits_draw(h, &web, HABIT_START), SEC(45), SEC(55));
    assert_int_equal(habits_draw(h, &web, HABIT_READY), 0);
    assert_in_range(habits_draw(h, &other, HABIT_START), SEC(45), SEC(55));
    assert_int_equal(habits_draw(h, &other, HABIT_READY), 0);
    assert_int_equal(habits_basis(h, HABIT_START).assumed, 1);
    assert_true(habits_basis(h, HABIT_START).others);
    habits_free(h);
}

static void test_never_ready(void **state) {
    (void)state;
    struct habits *h = habits_new();
    habits_begin(h, 1);
    habits_note_state(h, WEB, false);
    assert_true(habits_draw(h, &web, HABIT_READY) == INT64_MAX);
    assert_true(habits_draw(h, &web, HABIT_START) < INT64_MAX);
    habits_note_state(h, WEB, true); /* one of them is: so others can be */
    assert_true(habits_draw(h, &web, HABIT_READY) < INT64_MAX);
    habits_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_well_known),
        cmocka_unit_test(test_assumed_from_others),
        cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_one_observation),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_assumed_stop),
        cmocka_unit_test(test_others_and_none),
        cmocka_unit_test(test_up),
        cmocka_unit_test(test_ups_alone),
        cmocka_unit_test(test_never_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
