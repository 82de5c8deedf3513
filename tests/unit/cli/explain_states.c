/* Tests of src/cli/explain_states.c: every state and every way is told, within the width. */
#include "cli/explain_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/maintenance.h"

static void everything_is_told(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    explain_states(&out, 10000); /* nothing is broken */
    for (unsigned i = 0; i < MAINT_PHASES; i++) {
        _cleanup_free_ char *line =
            xasprintf("\n%s: %s\n", maint_phases[i].word, maint_phases[i].meaning);
        assert_non_null(strstr(str_get(&out), line));
    }
    for (size_t i = 0; i < n_maint_ways; i++) {
        const struct maint_way *w = &maint_ways[i];
        _cleanup_free_ char *line =
            xasprintf("    -> %s, %s: %s\n", maint_phases[w->to].word, w->reason, w->meaning);
        assert_non_null(strstr(str_get(&out), line));
    }
    for (size_t i = 0; i < n_slot_ways; i++)
        assert_non_null(strstr(str_get(&out), slot_ways[i].meaning));
}

static void it_keeps_to_the_width(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    explain_states(&out, 60);
    for (const char *p = str_get(&out); *p;) {
        size_t len = strcspn(p, "\n");
        assert_true(len <= 60);
        p += len + (p[len] == '\n');
    }
}

static void both_graphs(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    explain_states_dot(&out);
    assert_int_equal(strncmp(str_get(&out), "digraph maintenance {\n", 22), 0);
    assert_non_null(strstr(str_get(&out), "}\ndigraph slot {\n"));
    assert_non_null(strstr(str_get(&out), "  drained -> granted;\n"));
    assert_non_null(strstr(str_get(&out), "  returned -> none;\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_told),
        cmocka_unit_test(it_keeps_to_the_width),
        cmocka_unit_test(both_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
