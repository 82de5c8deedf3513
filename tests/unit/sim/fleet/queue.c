/* Queues of keys. */
#include "sim/fleet/queue.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct str seen;
static struct queue *queue;
static int failures;
static bool look(void *arg, const char *ns, const char *name) {
    struct world *w = arg;
    str_addf(&seen, "%s/%s@%d ", ns, name, (int)((w->clock.now - SIM_START) / USEC_PER_MSEC));
    if (failures > 0) {
        failures--;
        return false;
    }
    return true;
}

static void test_turns(void **state) {
    (void)state;
    struct world *w = world_new(1, SIM_START);
    queue = queue_new(w, MSEC(10), MSEC(10), look, w);
    queue_add(queue, "a", "x");
    queue_add(queue, "a", "x"); /* once */
    queue_add_after(queue, NULL, "y", MSEC(100));
    queue_add(queue, NULL, "y"); /* the earlier one holds */
    assert_int_equal(queue_len(queue), 2);
    clock_run(&w->clock, SIM_START + SEC(1));
    assert_string_equal(str_get(&seen), "a/x@10 /y@10 ");
    str_reset(&seen);
    failures = 3; /* 5, 10, 20 ms of back-off, and its own delay */
    queue_add(queue, "a", "x");
    clock_run(&w->clock, SIM_START + SEC(2));
    assert_string_equal(str_get(&seen), "a/x@1010 a/x@1025 a/x@1045 a/x@1075 ");
    queue_add(queue, "never", "looked at");
    queue_free(queue);
    str_done(&seen);
    world_free(w);
}

/* On a control plane that is busy each key waits longer, one beside the other. */
static void test_lag(void **state) {
    (void)state;
    struct world *w = world_new(1, SIM_START);
    static const int64_t own = SEC(60);
    w->lag = SEC(2);
    for (int i = 0; i < 2; i++) {
        char name[8];
        int64_t begun = w->clock.now;
        queue = queue_new(w, MSEC(10), MSEC(10), look, w);
        if (i)
            queue_lag(queue, &own);
        for (int k = 0; k < 50; k++) {
            (void)snprintf(name, sizeof name, "%d", k);
            queue_add(queue, NULL, name);
        }
        int64_t lag = i ? own : w->lag;
        clock_run(&w->clock, begun + MSEC(9) + lag / 2);
        assert_int_equal(queue_len(queue), 50);
        clock_run(&w->clock, begun + MSEC(11) + lag * 3 / 2);
        assert_int_equal(queue_len(queue), 0);
        queue_free(queue);
    }
    str_done(&seen);
    world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
