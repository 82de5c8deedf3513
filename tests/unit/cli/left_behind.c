/* Tests of src/cli/left_behind.c. */
#include "cli/left_behind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define NOW SEC(1794729600) /* 2026-11-15T08:00:00Z */

static void assert_words(const struct survey_sum_left *l, const char *text, const char *command) {
    _cleanup_str_ struct str words = STR_INIT, run = STR_INIT;
    left_text(l, NOW, &words);
    left_command(l, "slipway", &run);
    assert_string_equal(str_get(&words), text);
    assert_string_equal(str_get(&run), command);
}

static void a_mark(void **state) {
    const char *names[] = {"w2", "w3"};
    struct survey_sum_left l = {.what = LEFT_MARK, .holder = "", .nodes = {names, 2}};
    (void)state;
    assert_words(&l,
                 "w[2-3] have the mark slipway.dev/next: a drain that has not begun with them yet "
                 "keeps it, and one that was killed leaves it",
                 "slipway uncordon 'w[2-3]'");
    l.nodes.len = 1;
    assert_words(&l,
                 "w2 has the mark slipway.dev/next: a drain that has not begun with it yet keeps "
                 "it, and one that was killed leaves it",
                 "slipway uncordon w2");
    assert_string_equal(left_word(&l), "mark");
}

static void a_drain(void **state) {
    const char *names[] = {"w1"};
    struct survey_sum_left l = {.what = LEFT_DRAIN,
                                .holder = "night: kernel",
                                .since = NOW - SEC(7200),
                                .nodes = {names, 1}};
    (void)state;
    assert_words(&l, "w1: nothing was heard of its drain (night: kernel) for 120m",
                 "slipway uncordon w1 --any-holder");
    assert_string_equal(left_word(&l), "drain");
}

/* The command has them all, the sentence not. */
static void many_nodes(void **state) {
    const char *names[] = {"a.example.com/b", "berlin-rack-one-machine-eleven",
                           "copenhagen-rack-two-machine-nine", "dublin"};
    struct survey_sum_left l = {.what = LEFT_MARK, .holder = "", .nodes = {names, 4}};
    _cleanup_str_ struct str words = STR_INIT, run = STR_INIT;
    (void)state;
    left_text(&l, NOW, &words);
    assert_non_null(strstr(str_get(&words), " and 3 more have the mark"));
    left_command(&l, "slipway", &run);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_non_null(strstr(str_get(&run), names[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark),
        cmocka_unit_test(a_drain),
        cmocka_unit_test(many_nodes),
    };
    return cmocka_run_group_tests_name("cli/left_behind", tests, NULL, NULL);
}
