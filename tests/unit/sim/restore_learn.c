/* Tests of src/sim/restore_learn.c: how long pods take to start, from whole seconds in their
 * status. */
#include "copy_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/prng.h"

#define BOUND  (SIM_START - SEC(3600))
#define DB     "default/StatefulSet/db"
#define STARTS 64

static struct copy_site site(void) {
    struct copy_site c;
    copy_begin(&c, SIM_START);
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = copy_put(&c,
                      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"w1\"},"
                      "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                      &err);
    assert_int_equal(rc, 0);
    return c;
}

/* A pod of the set, bound and started at these times, ready at the third ("" for none). */
static void put_at(struct copy_site *c, int number, const char *bound, const char *started,
                   const char *ready, int restarts) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *json = xasprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"db-%d\",\"namespace\":"
        "\"default\",\"uid\":\"u-%d\",\"ownerReferences\":[{\"apiVersion\":\"apps/"
        "v1\",\"kind\":\"StatefulSet\",\"name\":\"db\",\"uid\":\"s\",\"controller\":true}]},"
        "\"spec\":{\"nodeName\":\"w1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},"
        "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
        "\"True\",\"lastTransitionTime\":\"%s\"},{\"type\":\"Ready\",\"status\":\"%s\","
        "\"lastTransitionTime\":\"%s\"}],\"containerStatuses\":[{\"name\":\"c\",\"image\":\"i\","
        "\"imageID\":\"\",\"ready\":true,\"restartCount\":%d,\"state\":{\"running\":{\"startedAt\":"
        "\"%s\"}}}]}}",
        number, number, bound, *ready ? "True" : "False", *ready ? ready : started, restarts,
        started);
    if (copy_put(c, json, &err))
        fail_msg("%s", err_msg(&err));
}

/* The same with times since BOUND that no status can hold: it has whole seconds. */
static void put(struct copy_site *c, int number, int64_t bound, int64_t started, int64_t ready) {
    char a[TIMEFMT_LEN], b[TIMEFMT_LEN], d[TIMEFMT_LEN];
    put_at(c, number, time_format(BOUND + bound, false, a), time_format(BOUND + started, false, b),
           time_format(BOUND + ready, false, d), 0);
}

struct drawn {
    int64_t least, most, mean;
    double variance;
};

static struct drawn draw(struct copy_site *c, enum habit habit) {
    struct drawn d = {.least = INT64_MAX};
    const struct record *r = shelf_get(c->to.fleet->pods->shelf, "default", "db-0");
    assert_non_null(r);
    double squares = 0;
    enum { N = 2000, RUNS = 20 };
    for (int i = 0; i < N; i++) {
        if (i % (N / RUNS) == 0)
            habits_begin(c->habits, (uint64_t)i);
        int64_t v = habits_draw(c->habits, record_as(pod, r), habit);
        d.least = MIN_OF(d.least, v);
        d.most = MAX_OF(d.most, v);
        d.mean += v / N;
        squares += (double)v / 1e6 * ((double)v / 1e6) / N;
    }
    d.variance = squares - (double)d.mean / 1e6 * ((double)d.mean / 1e6);
    return d;
}

static void test_one(void **state) {
    (void)state;
    struct copy_site c = site();
    put(&c, 0, 0, SEC(3), SEC(5));
    copy_end(&c);
    assert_int_equal(habits_median(c.habits, DB, HABIT_START), SEC(3));
    assert_int_equal(habits_median(c.habits, DB, HABIT_READY), SEC(2));
    copy_done(&c);
}

/* Each takes 2.5 s; the status says two or three. */
static void test_steady(void **state) {
    (void)state;
    struct copy_site c = site();
    struct prng random = {3};
    for (int i = 0; i < STARTS; i++) {
        int64_t bound = SEC(i) + prng_range(&random, 0, SEC(1));
        put(&c, i, bound, bound + MSEC(2500), bound + MSEC(2500));
    }
    copy_end(&c);
    struct drawn d = draw(&c, HABIT_START);
    assert_in_range(d.mean, MSEC(2350), MSEC(2650));
    assert_in_range(d.most - d.least, 0, MSEC(250));
    assert_int_equal(draw(&c, HABIT_READY).most, 0);
    copy_done(&c);
}

/* Each takes something from two to six seconds: a variance of 4/3, and 1/6 more is seen. */
static void test_spread(void **state) {
    (void)state;
    struct copy_site c = site();
    struct prng random = {4};
    for (int i = 0; i < 4 * STARTS; i++) {
        int64_t bound = SEC(i) + prng_range(&random, 0, SEC(1));
        int64_t started = bound + prng_range(&random, SEC(2), SEC(6));
        put(&c, i, bound, started, started + SEC(1));
    }
    copy_end(&c);
    struct drawn d = draw(&c, HABIT_START);
    assert_in_range(d.mean, MSEC(3700), MSEC(4300));
    assert_true(d.variance > 1.15 && d.variance < 1.45);
    assert_int_equal(draw(&c, HABIT_READY).least, SEC(1));
    copy_done(&c);
}

/* A readiness that was lost, and came back an hour later, does not pull the others along. */
static void test_far_off(void **state) {
    (void)state;
    struct copy_site c = site();
    for (int i = 0; i < 9; i++)
        put(&c, i, 0, SEC(2), SEC(4));
    put(&c, 9, 0, SEC(2), SEC(3000));
    copy_end(&c);
    struct drawn d = draw(&c, HABIT_READY);
    assert_in_range(d.least, MSEC(1990), MSEC(2010));
    assert_in_range(d.most, MSEC(1990), MSEC(2010));
    copy_done(&c);
}

/* What says nothing about a start. */
static void test_nothing(void **state) {
    (void)state;
    struct copy_site c = site();
    put_at(&c, 0, "2026-11-14T23:00:00Z", "2026-11-14T23:00:03Z", "", 0); /* not ready */
    put_at(&c, 1, "2026-11-14T23:00:00Z", "2026-11-14T23:00:03Z", "2026-11-14T23:00:04Z", 2);
    put_at(&c, 2, "2026-11-14T23:00:05Z", "2026-11-14T23:00:03Z", "2026-11-14T23:00:04Z", 0);
    copy_end(&c);
    assert_int_equal(habits_median(c.habits, DB, HABIT_START), -1);
    assert_int_equal(habits_median(c.habits, DB, HABIT_READY), -1);
    copy_done(&c);
}

/* A copy that is given up before its end tells nobody, and leaves nothing behind. */
static void test_given_up(void **state) {
    (void)state;
    struct copy_site c = site();
    put(&c, 0, 0, SEC(3), SEC(5));
    assert_int_equal(habits_median(c.habits, DB, HABIT_START), -1);
    copy_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_steady),
        cmocka_unit_test(test_spread),  cmocka_unit_test(test_far_off),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
