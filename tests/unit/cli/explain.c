/* Tests of src/cli/explain.c. */
#include "cli/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "cli/text.h"

/* A code that was added to the engine's table and not here fails this test. */
static void every_code_has_a_row(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const char *name = blocker_row((enum blocker_code)i)->name;
        if (!explain_words[i] || !streq(explain_words[i], name))
            fail_msg("explain_words has \"%s\" in the place of %s", strna(explain_words[i]), name);
        if (strlen(explain_found((enum blocker_code)i)) < 20)
            fail_msg("nothing says how %s is found", name);
        assert_int_equal(explain_find(name), i);
    }
    assert_string_equal(explain_words[BLOCKER_CODES], EXPLAIN_STATES);
    assert_null(explain_words[BLOCKER_CODES + 1]);
    assert_int_equal(explain_find(EXPLAIN_STATES), BLOCKER_CODES);
}

static void texts_are_halves_of_sentences(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const char *text = explain_found((enum blocker_code)i);
        assert_false(str_ends(text, "."));
        assert_null(strstr(text, "  "));
        assert_int_not_equal(text[0], ' ');
    }
}

static void unknown_codes_are_none(void **state) {
    (void)state;
    assert_int_equal(explain_find("PDBNoBudge"), BLOCKER_CODES);
    assert_int_equal(explain_find(""), BLOCKER_CODES);
}

static void assert_narrow(const char *text) {
    while (*text) {
        const char *end = strchr(text, '\n');
        assert_non_null(end);
        _cleanup_str_ struct str line = STR_INIT;
        str_addn(&line, text, (size_t)(end - text));
        if (utf8_width(str_get(&line)) > TEXT_WIDTH || str_ends(str_get(&line), " "))
            fail_msg("\"%s\"", str_get(&line));
        text = end + 1;
    }
}

static void all_that_is_known_is_told(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        _cleanup_str_ struct str out = STR_INIT;
        explain_print(&out, (enum blocker_code)i, TEXT_WIDTH);
        const char *text = str_get(&out);
        assert_true(str_starts(text, blocker_row((enum blocker_code)i)->name));
        static const char *const parts[] = {"\nWhat it means\n", "\nHow it is found\n",
                                            "\nWhat to do\n", "\nWhat ends it\n"};
        for (size_t k = 0; k < 4; k++)
            assert_non_null(strstr(text, parts[k]));
        assert_narrow(text);
    }
    _cleanup_str_ struct str out = STR_INIT;
    explain_list(&out, TEXT_WIDTH);
    assert_narrow(str_get(&out));
}

static void narrow_terminals(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    explain_list(&out, 40);
    explain_print(&out, BLOCKER_PDB_UNSATISFIABLE, 40);
    assert_non_null(strstr(str_get(&out), "\nBarePod\n    the pod has no controller"));
    /* A field's name keeps its case. */
    assert_non_null(strstr(str_get(&out), "\n    maxUnavailable is 0 or minAvailable"));
    for (const char *p = str_get(&out); *p; p += strcspn(p, "\n") + 1)
        assert_true(strcspn(p, "\n") <= 40);
}

static void severities_are_words(void **state) {
    (void)state;
    _cleanup_str_ struct str never = STR_INIT, passes = STR_INIT;
    assert_string_equal(explain_severity(SEVERITY_INFO), "info");
    assert_string_equal(explain_severity(SEVERITY_ERROR), "error");
    explain_print(&never, BLOCKER_PDB_UNSATISFIABLE, TEXT_WIDTH);
    explain_print(&passes, BLOCKER_PDB_NO_BUDGET, TEXT_WIDTH);
    assert_true(str_starts(str_get(&never), "PDBUnsatisfiable (error: will not pass by itself)\n"));
    assert_true(str_starts(str_get(&passes), "PDBNoBudget (warn: may pass by itself)\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_row),   cmocka_unit_test(texts_are_halves_of_sentences),
        cmocka_unit_test(unknown_codes_are_none), cmocka_unit_test(all_that_is_known_is_told),
        cmocka_unit_test(narrow_terminals),       cmocka_unit_test(severities_are_words),
    };
    return cmocka_run_group_tests_name("cli/explain", tests, NULL, NULL);
}
