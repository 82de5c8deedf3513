/* Errands: one at a time for each object. */
#include "sim/fleet/errands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"

struct bench {
    struct world *world;
    struct errands *errands;
    struct str log;
    int again; /* how often an errand starts itself once more */
};

static void done(void *arg, const char *ns, const char *name) {
    struct bench *b = arg;
    assert_false(errands_running(b->errands, ns, name));
    str_addf(&b->log, "%s/%s@%d ", ns, name, (int)b->world->clock.now);
    if (b->again-- > 0)
        assert_true(errands_start(b->errands, ns, name, 5));
}

static int setup(void **state) {
    struct bench *b = xnew(struct bench);
    b->world = world_new(1, 100);
    b->errands = errands_new(b->world, done, b);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    errands_free(b->errands);
    errands_free(NULL);
    world_free(b->world);
    str_done(&b->log);
    free(b);
    return 0;
}

static void test_errands(void **state) {
    struct bench *b = *state;
    assert_true(errands_start(b->errands, "ns", "a", 30));
    assert_true(errands_start(b->errands, NULL, "a", 10));
    assert_true(errands_start(b->errands, "ns", "b", 20));
    assert_false(errands_start(b->errands, "ns", "a", 1)); /* under way: as it was */
    assert_false(errands_start(b->errands, "", "a", 1));
    assert_true(errands_running(b->errands, "ns", "a"));
    assert_false(errands_running(b->errands, "n", "sa"));
    errands_cancel(b->errands, "ns", "b");
    errands_cancel(b->errands, "ns", "not there");
    assert_false(errands_running(b->errands, "ns", "b"));
    clock_run(&b->world->clock, 129);
    assert_string_equal(str_get(&b->log), "/a@110 ");
    clock_run(&b->world->clock, 1000);
    assert_string_equal(str_get(&b->log), "/a@110 ns/a@130 ");
    assert_true(clock_next(&b->world->clock) == INT64_MAX);
}

static void test_again(void **state) {
    struct bench *b = *state;
    b->again = 2;
    assert_true(errands_start(b->errands, "n", "x", 0));
    clock_run(&b->world->clock, 200);
    assert_string_equal(str_get(&b->log), "n/x@100 n/x@105 n/x@110 ");
}

/* Those that are under way go with the rest. */
static void test_under_way(void **state) {
    struct bench *b = *state;
    for (int i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "e%d", i);
        assert_true(errands_start(b->errands, NULL, name, i));
    }
    errands_free(b->errands);
    b->errands = NULL;
    clock_run(&b->world->clock, 1000);
    assert_string_equal(str_get(&b->log), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_errands, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_under_way, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
