/* The world's clock on the loop's. */
#include "sim/pace.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct bell {
    struct alarm alarm;
    struct loop *loop;
    int64_t rang;
};
static void ring(void *arg) {
    struct bell *b = arg;
    b->rang = loop_now(b->loop);
    loop_stop(b->loop);
}

static void run_at(double speed, int64_t expected) {
    struct loop *loop = loop_new_virtual(SIM_START);
    struct world *w = world_new(1, SIM_START);
    struct bell b = {.loop = loop};
    clock_set(&w->clock, &b.alarm, SIM_START + SEC(60), ring, &b);
    struct pace *p = pace_new(loop, w, speed);
    int64_t start = loop_now(loop);
    loop_run(loop);
    assert_in_range(b.rang - start, expected, expected + 2);
    assert_true(w->clock.now >= SIM_START + SEC(60));
    pace_free(p);
    world_free(w);
    loop_free(loop);
}

static void test_speeds(void **state) {
    (void)state;
    run_at(1, SEC(60));
    run_at(60, SEC(1));
    run_at(0, 0); /* jumps */
}

/* An alarm that comes again and again, and takes longer than its time: no clock could keep up. */
struct mill {
    struct alarm alarm;
    struct world *world;
    struct loop *loop;
    uint64_t turns;
};
static void grind(void *arg) {
    struct mill *m = arg;
    m->turns++;
    int64_t until = loop_now(m->loop) + 100; /* microseconds of real work for one of the world's */
    while (loop_now(m->loop) < until)
        ;
    clock_set(&m->world->clock, &m->alarm, m->world->clock.now + 1, grind, m);
}
static void stop(void *arg) {
    loop_stop(arg);
}

/* A speed that is too high for the world: the loop still gets its turns. */
static void test_overload(void **state) {
    (void)state;
    struct loop *loop = NULL;
    assert_int_equal(loop_new(&loop, NULL), 0);
    struct world *w = world_new(1, SIM_START);
    struct mill m = {.world = w, .loop = loop};
    clock_set(&w->clock, &m.alarm, SIM_START + 1, grind, &m);
    struct pace *p = pace_new(loop, w, 1e6);
    struct loop_timer *end = loop_timer_new(loop, stop, loop);
    loop_timer_set(end, MSEC(50));
    loop_run(loop); /* and comes back */
    uint64_t before = m.turns;
    pace_catch_up(p);
    assert_true(m.turns - before < 1000); /* about fifty fit in its time */
    assert_true(m.turns > before);
    loop_timer_free(end);
    pace_free(p);
    world_free(w);
    loop_free(loop);
}

/* The time is the world's, whatever the loop's clock says. */
static void test_time(void **state) {
    (void)state;
    struct loop *loop = loop_new_virtual(SIM_START);
    struct world *w = world_new(1, SIM_START);
    struct pace *p = pace_new(loop, w, 60);
    assert_int_equal(pace_time(p), SIM_START);
    loop_advance(loop, SEC(10));
    pace_catch_up(p);
    assert_int_equal(pace_time(p), SIM_START + SEC(600));
    pace_free(p);
    world_free(w);
    loop_free(loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_overload),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
