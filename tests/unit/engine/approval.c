/* Tests of src/engine/approval.c: who has approved, and of what. */
#include "engine/approval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/make.h"

#define AT INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

struct site {
    struct pool *pool;
    struct arena arena;
    struct node node;
};

static int setup(void **state) {
    struct site *s = xnew(struct site);
    s->pool = pool_new(type_drop);
    s->arena = (struct arena)ARENA_INIT;
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct site *s = *state;
    pool_unref(s->pool, s->node.meta.annotations);
    pool_free(s->pool);
    arena_done(&s->arena);
    free(s);
    return 0;
}

static void annotate(struct site *s, const char *text) {
    pool_unref(s->pool, s->node.meta.annotations);
    s->node.meta.annotations = make_map(s->pool, APPROVAL_ANNOTATION, text, NULL);
}

static void it_says_who_and_when(void **state) {
    struct site *s = *state;
    assert_null(approval_of_object(&s->node.meta, &s->arena));
    annotate(s, approval_write("alice", AT, NULL, &s->arena));
    assert_string_equal(approval_of_object(&s->node.meta, &s->arena),
                        "alice at 2026-11-15T08:00:00Z");
}

static void of_a_node_it_is_spent_with_its_boot(void **state) {
    struct site *s = *state;
    annotate(s, approval_write("alice", AT, "boot-1", &s->arena));
    assert_non_null(approval_of_node(&s->node, "boot-1", &s->arena));
    assert_null(approval_of_node(&s->node, "boot-2", &s->arena));
    assert_null(approval_of_node(NULL, "boot-1", &s->arena));
    annotate(s, approval_write("alice", AT, NULL, &s->arena));
    assert_null(approval_of_node(&s->node, "boot-1", &s->arena)); /* it does not say of which */
}

static void what_cannot_be_read_approves_of_nothing(void **state) {
    static const char *const texts[] = {
        "",
        "yes",
        "true",
        "{}",
        "[1]",
        "{\"by\":\"alice\"}",
        "{\"v\":2,\"by\":\"alice\"}",
        "{\"v\":\"1\",\"by\":\"alice\"}",
        "{\"v\":1}",
        "{\"v\":1,\"by\":\"\"}",
        "{\"v\":1,\"by\":7}",
        "{\"v\":1,\"v\":1,\"by\":\"alice\"}",
    };
    struct site *s = *state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        annotate(s, texts[i]);
        assert_null(approval_of_object(&s->node.meta, &s->arena));
    }
    annotate(s, "{\"v\":1,\"by\":\"alice\"}"); /* the time is for people */
    assert_string_equal(approval_of_object(&s->node.meta, &s->arena), "alice");
}

#define SITE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        SITE_TEST(it_says_who_and_when),
        SITE_TEST(of_a_node_it_is_spent_with_its_boot),
        SITE_TEST(what_cannot_be_read_approves_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
