/* Tests of src/engine/action.c. */
#include "engine/action.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void texts_are_copied_and_numbers_count_up(void **state) {
    (void)state;
    struct actions a = ACTIONS_INIT;
    uint64_t ids = 41;
    char ns[] = "default", name[] = "web-1", uid[] = "u1", sub[] = "status", body[] = "{\"a\":1}";
    uint64_t first = actions_add(&a, &ids,
                                 &(struct action){.id = 7, /* not the caller's to choose */
                                                  .verb = ACTION_PATCH,
                                                  .kind = &kind_pod,
                                                  .ns = ns,
                                                  .name = name,
                                                  .uid = uid,
                                                  .subresource = sub,
                                                  .body = body,
                                                  .grace = 30,
                                                  .strategic = true,
                                                  .dry_run = true,
                                                  .minor = true});
    uint64_t second = actions_add(
        &a, &ids, &(struct action){.verb = ACTION_READ, .kind = &kind_node, .name = "w0"});
    memset(ns, 'x', sizeof ns - 1);
    memset(name, 'x', sizeof name - 1);
    memset(uid, 'x', sizeof uid - 1);
    memset(sub, 'x', sizeof sub - 1);
    memset(body, 'x', sizeof body - 1);
    assert_int_equal(first, 42);
    assert_int_equal(second, 43);
    assert_int_equal(ids, 43);
    assert_int_equal(a.list.len, 2);
    const struct action *x = &a.list.p[0], *y = &a.list.p[1];
    assert_int_equal(x->id, 42);
    assert_int_equal(x->verb, ACTION_PATCH);
    assert_ptr_equal(x->kind, &kind_pod);
    assert_string_equal(x->ns, "default");
    assert_string_equal(x->name, "web-1");
    assert_string_equal(x->uid, "u1");
    assert_string_equal(x->subresource, "status");
    assert_string_equal(x->body, "{\"a\":1}");
    assert_int_equal(x->grace, 30);
    assert_true(x->strategic && x->dry_run && x->minor);
    assert_null(y->ns);
    assert_null(y->uid);
    assert_null(y->subresource);
    assert_null(y->body);
    actions_done(&a);
}

/* Earlier ones stay where they are while more come. */
static void many_actions(void **state) {
    (void)state;
    struct actions a = ACTIONS_INIT;
    uint64_t ids = 0;
    char *big = xmalloc(100001);
    memset(big, 'b', 100000);
    big[100000] = '\0';
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 2000; i++) {
            char name[16];
            snprintf(name, sizeof name, "p%u", i);
            actions_add(&a, &ids, &(struct action){.kind = &kind_pod, .name = name});
        }
        actions_add(&a, &ids, &(struct action){.kind = &kind_node, .name = "w0", .body = big});
        for (unsigned i = 0; i < 2000; i++) {
            char name[16];
            snprintf(name, sizeof name, "p%u", i);
            assert_string_equal(a.list.p[i].name, name);
            assert_int_equal(a.list.p[i].id, round * 2001 + i + 1);
        }
        assert_string_equal(a.list.p[2000].body, big);
        actions_reset(&a); /* the numbers go on: an answer finds only its own */
        assert_int_equal(a.list.len, 0);
    }
    free(big);
    actions_done(&a);
}

static void nothing_was_ever_wanted(void **state) {
    (void)state;
    struct actions a = ACTIONS_INIT;
    actions_reset(&a);
    actions_done(&a);
    assert_int_equal(a.list.len, 0);
}

/* Twice as long each time, never longer than the most and half of it, and not the same for all. */
static void a_failed_request_waits_longer_each_time(void **state) {
    (void)state;
    struct prng random = {.state = 7};
    bool differs = false;
    for (unsigned tries = 1; tries < 100; tries++) {
        int64_t least = tries < 4 ? INT64_C(100) << (tries - 1) : 700;
        int64_t one = action_backoff(&random, tries, 100, 700),
                other = action_backoff(&random, tries, 100, 700);
        assert_in_range(one, least, least + least / 2);
        assert_in_range(other, least, least + least / 2);
        differs |= one != other;
    }
    assert_true(differs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_copied_and_numbers_count_up),
        cmocka_unit_test(many_actions),
        cmocka_unit_test(nothing_was_ever_wanted),
        cmocka_unit_test(a_failed_request_waits_longer_each_time),
    };
    return cmocka_run_group_tests_name("engine/action", tests, NULL, NULL);
}
