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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
