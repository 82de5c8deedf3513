/* Tests of src/engine/blocker.c. */
#include "engine/blocker.h"

#include "support/world.h"

#include "base/str.h"

static void every_code_has_a_full_row_and_is_found_by_name(void **state) {
    (void)state;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        assert_non_null(row->name);
        assert_true(row->name[0] >= 'A' && row->name[0] <= 'Z');
        assert_true(strlen(row->meaning) > 10 && strlen(row->hint) > 10);
        assert_true(row->meaning[strlen(row->meaning) - 1] != '.');
        assert_int_equal(blocker_find(row->name), i);
    }
    assert_int_equal(blocker_find("NoSuchThing"), -1);
    assert_int_equal(blocker_find("pdbnobudget"), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_full_row_and_is_found_by_name),
    };
    return cmocka_run_group_tests_name("engine/blocker", tests, NULL, NULL);
}
