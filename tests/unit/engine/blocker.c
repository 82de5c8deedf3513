/* Tests of src/engine/blocker.c. */
#include "engine/blocker.h"

#include "support/world.h"

static void every_code_has_a_full_row_and_a_name_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        assert_non_null(row->name);
        assert_true(row->name[0] >= 'A' && row->name[0] <= 'Z');
        assert_true(strlen(row->meaning) > 10 && strlen(row->hint) > 10);
        assert_true(row->meaning[strlen(row->meaning) - 1] != '.');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(row->name, blocker_row((enum blocker_code)j)->name);
    }
}

/* Scripts and alerts match them: words without blanks, of a length that fits a column. */
static void names_are_words(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const char *name = blocker_row((enum blocker_code)i)->name;
        assert_in_range(strlen(name), 4, 24);
        for (const char *c = name; *c; c++)
            if (!((*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z')))
                fail_msg("%s", name);
    }
}

/* Both are put into sentences: "NAME OBJECT: meaning; hint". */
static void texts_are_parts_of_sentences(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        const char *texts[] = {row->meaning, row->hint, row->ends};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            assert_non_null(texts[k]);
            size_t len = strlen(texts[k]);
            assert_true(texts[k][0] >= 'a' && texts[k][0] <= 'z');
            assert_null(strpbrk(texts[k], "\n\t"));
            assert_null(strstr(texts[k], "  "));
            assert_true(texts[k][len - 1] != '.' && texts[k][len - 1] != ' ');
        }
        assert_string_not_equal(row->meaning, row->hint);
        assert_string_not_equal(row->meaning, row->ends);
        assert_string_not_equal(row->hint, row->ends);
    }
}

/* An error is what somebody must do something about; what is only to be known ends by itself. */
static void severity_goes_with_what_must_be_done(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        if (row->severity == SEVERITY_ERROR)
            assert_false(row->clears_itself);
        if (row->severity == SEVERITY_INFO)
            assert_true(row->clears_itself);
    }
}

/* What is refused for good must not look as if waiting were of any use. */
static void those_that_never_end_by_themselves(void **state) {
    (void)state;
    static const enum blocker_code lasting[] = {
        BLOCKER_MULTIPLE_PDBS, BLOCKER_PDB_UNSATISFIABLE, BLOCKER_PDB_SYNC_FAILED,
        BLOCKER_BARE_POD,      BLOCKER_LOCAL_STORAGE,     BLOCKER_FORBIDDEN,
        BLOCKER_PINNED,        BLOCKER_NODE_UNREACHABLE,  BLOCKER_DAEMON_POD,
    };
    for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
        assert_false(blocker_row(lasting[i])->clears_itself);
    assert_true(blocker_row(BLOCKER_PDB_NO_BUDGET)->clears_itself);
    assert_true(blocker_row(BLOCKER_EVICTION_IN_PROGRESS)->clears_itself);
    assert_true(blocker_row(BLOCKER_SERVER_TROUBLE)->clears_itself);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_full_row_and_a_name_of_its_own),
        cmocka_unit_test(names_are_words),
        cmocka_unit_test(texts_are_parts_of_sentences),
        cmocka_unit_test(severity_goes_with_what_must_be_done),
        cmocka_unit_test(those_that_never_end_by_themselves),
    };
    return cmocka_run_group_tests_name("engine/blocker", tests, NULL, NULL);
}
