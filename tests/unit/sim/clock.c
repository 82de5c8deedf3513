/* Alarms ring in order, whatever is set, stopped and freed meanwhile. */
#include "sim/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/str.h"

struct bell {
    struct alarm alarm;
    struct clock *clock;
    struct str *log;
    char name;
    int64_t again;      /* rings once more after this */
    struct bell *stops; /* another one that it stops */
    bool frees;
};

static void ring(void *arg) {
    struct bell *b = arg;
    str_addf(b->log, "%c%d ", b->name, (int)b->clock->now);
    if (b->stops)
        clock_stop(b->clock, &b->stops->alarm);
    if (b->again) {
        int64_t delay = b->again;
        b->again = 0;
        clock_set(b->clock, &b->alarm, b->clock->now + delay, ring, b);
    }
    if (b->frees)
        free(b);
}

static void test_order(void **state) {
    (void)state;
    _cleanup_str_ struct str log = STR_INIT;
    struct clock c;
    clock_init(&c, 100);
    struct bell bells[5];
    for (int i = 0; i < 5; i++)
        bells[i] = (struct bell){.clock = &c, .log = &log, .name = (char)('a' + i)};
    assert_true(clock_next(&c) == INT64_MAX);
    clock_set(&c, &bells[0].alarm, 130, ring, &bells[0]);
    clock_set(&c, &bells[1].alarm, 120, ring, &bells[1]);
    clock_set(&c, &bells[2].alarm, 130, ring, &bells[2]);
    clock_set(&c, &bells[3].alarm, 50, ring, &bells[3]); /* has passed: now */
    assert_int_equal(clock_next(&c), 100);
    clock_run(&c, 119);
    assert_string_equal(str_get(&log), "d100 ");
    assert_int_equal(c.now, 119);
    clock_set(&c, &bells[0].alarm, 130, ring, &bells[0]); /* again: behind c now */
    clock_run(&c, 200);
    assert_string_equal(str_get(&log), "d100 b120 c130 a130 ");
    assert_int_equal(c.now, 200);
    assert_int_equal(c.rung, 4);
    clock_run(&c, 10); /* never back */
    assert_int_equal(c.now, 200);
    clock_done(&c);
}

static void test_inside(void **state) {
    (void)state;
    _cleanup_str_ struct str log = STR_INIT;
    struct clock c;
    clock_init(&c, 0);
    struct bell a = {.clock = &c, .log = &log, .name = 'a', .again = 5};
    struct bell b = {.clock = &c, .log = &log, .name = 'b'};
    a.stops = &b;
    struct bell *x = xnew(struct bell);
    *x = (struct bell){.clock = &c, .log = &log, .name = 'x', .frees = true};
    clock_set(&c, &a.alarm, 10, ring, &a);
    clock_set(&c, &b.alarm, 10, ring, &b);
    clock_set(&c, &x->alarm, 11, ring, x);
    clock_run(&c, 100);
    assert_string_equal(str_get(&log), "a10 x11 a15 ");
    assert_false(alarm_pending(&a.alarm));
    clock_done(&c);
}

/* Against a plain sorted search, with random settings and stops. */
static struct {
    int64_t due[64], last_due;
    uint64_t set_at[64], sets, last_set;
    size_t rung;
} model;
static void check_ring(void *arg) {
    size_t i = (size_t)(uintptr_t)arg;
    assert_true(model.due[i] >= 0);
    for (size_t j = 0; j < 64; j++) /* none that should have come first */
        if (model.due[j] >= 0 && j != i)
            assert_true(model.due[j] > model.due[i] ||
                        (model.due[j] == model.due[i] && model.set_at[j] > model.set_at[i]));
    model.due[i] = -1;
    model.rung++;
}

static void test_random(void **state) {
    (void)state;
    struct prng r = {7};
    struct clock c;
    clock_init(&c, 0);
    struct alarm alarms[64] = {0};
    for (size_t i = 0; i < 64; i++)
        model.due[i] = -1;
    for (int n = 0; n < 200000; n++) {
        size_t i = (size_t)prng_range(&r, 0, 64);
        switch (prng_range(&r, 0, 4)) {
        case 0:
        case 1:
            model.due[i] = c.now + prng_range(&r, 0, 20);
            model.set_at[i] = model.sets++;
            clock_set(&c, &alarms[i], model.due[i], check_ring, (void *)(uintptr_t)i);
            break;
        case 2:
            model.due[i] = -1;
            clock_stop(&c, &alarms[i]);
            break;
        default:
            clock_step(&c, c.now + prng_range(&r, 0, 5));
        }
        assert_int_equal(alarm_pending(&alarms[i]), model.due[i] >= 0);
    }
    assert_true(model.rung > 10000);
    clock_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
