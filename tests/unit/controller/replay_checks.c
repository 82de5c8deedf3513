/* Tests of src/controller/replay_checks.c: the world of the checks, as a recording tells it. */
#include "controller/replay_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

struct fixture {
    struct pool *pool;
    struct store *nodes;
    struct replay_checks *c;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->nodes = store_new(&kind_node, f->pool);
    f->c = replay_checks_new(f->pool, f->nodes);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    replay_checks_free(f->c);
    store_free(f->nodes);
    assert_int_equal(pool_stats(f->pool).entries, 0);
    pool_free(f->pool);
    free(f);
    return 0;
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const struct check_input *input(struct fixture *f, enum check_source_id source) {
    return &replay_checks_world(f->c)->inputs[source];
}

/* As it was in the controller: nobody takes it for a cluster without any of the systems. */
static void at_first_nothing_was_read(void **state) {
    struct fixture *f = *state;
    assert_true(replay_checks_world(f->c)->unread);
    assert_ptr_equal(replay_checks_world(f->c)->nodes, f->nodes);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_string_equal(input(f, SOURCE_VMIS)->why, "it has not been read yet");
    assert_int_equal(input(f, SOURCE_STATEFUL_SETS)->read, READ_ABSENT); /* nobody wants them */
    replay_checks_told(f->c);
    assert_false(replay_checks_world(f->c)->unread);
}

static void it_is_what_was_told_last(void **state) {
    struct fixture *f = *state;
    char why[] = "forbidden";
    replay_checks_input(f->c, SOURCE_VMIS, READ_FAILED, why);
    why[0] = 'x'; /* the line that it was in is gone */
    assert_string_equal(input(f, SOURCE_VMIS)->why, "forbidden");
    assert_null(input(f, SOURCE_VMIS)->store);
    replay_checks_input(f->c, SOURCE_VMIS, READ_DONE, NULL);
    assert_null(input(f, SOURCE_VMIS)->why);
    assert_ptr_equal(input(f, SOURCE_VMIS)->store, replay_checks_store(f->c, SOURCE_VMIS));
    assert_ptr_equal(store_kind(input(f, SOURCE_VMIS)->store), &kind_vmi);
    replay_checks_input(f->c, SOURCE_VMIS, READ_ABSENT, NULL);
    assert_null(input(f, SOURCE_VMIS)->store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORLD_TEST(at_first_nothing_was_read),
        WORLD_TEST(it_is_what_was_told_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
