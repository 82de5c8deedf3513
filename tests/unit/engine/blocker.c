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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_full_row_and_a_name_of_its_own),
    };
    return cmocka_run_group_tests_name("engine/blocker", tests, NULL, NULL);
}
