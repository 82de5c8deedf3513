/* Tests of engine/reason.c. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/maintenance.h"
#include "engine/reason.h"

static void each_is_one_word_and_there_once(void **state) {
    (void)state;
    for (size_t i = 0; i < n_reason_rows; i++) {
        const struct reason_row *row = &reason_rows[i];
        assert_ptr_equal(reason_find(row->name), row);
        assert_true(isupper((unsigned char)row->name[0]));
        for (const char *p = row->name; *p; p++)
            assert_true(isalpha((unsigned char)*p));
        assert_true(row->places == (row->places & (ON_NODE | ON_MAINTENANCE | ON_ROLLOUT)) &&
                    row->places);
        assert_int_equal(row->meaning[strlen(row->meaning) - 1], '.');
    }
    assert_null(reason_find("None"));
}

/* One that has no row would be in Events, and in no page. */
static void every_way_has_a_row(void **state) {
    (void)state;
    for (size_t i = 0; i < n_maint_ways; i++) {
        const struct reason_row *row = reason_find(maint_ways[i].reason);
        if (!row)
            print_error("%s has no row\n", maint_ways[i].reason);
        assert_non_null(row);
        assert_true(row->places & ON_MAINTENANCE);
    }
}

/* Rollouts and what becomes of them: the reasons of conditions are those of Events. */
static void rollouts_have_rows(void **state) {
    (void)state;
    static const char *const all[] = {
        REASON_NODE_BEGUN,  REASON_NODE_NOT_BEGUN, REASON_NODE_DONE, REASON_PROGRESSING,
        REASON_PAUSED,      REASON_ALL_PAUSED,     REASON_TOO_MANY,  REASON_ALL_DONE,
        REASON_SOME_FAILED, REASON_NO_NODES,       REASON_BAD_NODES,
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_int_equal(reason_find(all[i])->places, ON_ROLLOUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_one_word_and_there_once),
        cmocka_unit_test(every_way_has_a_row),
        cmocka_unit_test(rollouts_have_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
