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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
