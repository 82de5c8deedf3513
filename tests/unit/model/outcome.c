/* Tests of model/outcome.c: the table of outcomes is complete and says what can be waited for. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/outcome.h"

/* The last one; the compiler complains below when there is another. */
enum { LAST = KUBE_NO_CREDENTIALS };

/* Every outcome has a row; names are words for scripts, and unique. */
static void test_rows(void **state) {
    (void)state;
    for (int i = KUBE_OK; i <= LAST; i++) {
        const struct kube_outcome_row *row = kube_outcome_row((enum kube_outcome)i);
        assert_non_null(row->name);
        assert_non_null(row->meaning);
        assert_true(isupper((unsigned char)row->name[0]));
        for (const char *p = row->name; *p; p++)
            assert_true(isalnum((unsigned char)*p));
        assert_true(strlen(row->meaning) > 3);
        assert_true(row->meaning[strlen(row->meaning) - 1] != '.');
        for (int k = KUBE_OK; k < i; k++) {
            const struct kube_outcome_row *other = kube_outcome_row((enum kube_outcome)k);
            assert_string_not_equal(row->name, other->name);
            assert_string_not_equal(row->meaning, other->meaning);
        }
    }
}

/* What passes by itself. Written out for each, so that nobody adds one without thinking of it. */
static bool passes(enum kube_outcome outcome) {
    switch (outcome) {
    case KUBE_OK:
    case KUBE_NOT_FOUND:
    case KUBE_CONFLICT: /* another request is needed, not the same */
    case KUBE_EXISTS:
    case KUBE_INVALID:
    case KUBE_UNSUPPORTED:
    case KUBE_UNAUTHORIZED:
    case KUBE_FORBIDDEN:
    case KUBE_PDB_MULTIPLE:
    case KUBE_EXPIRED:
    case KUBE_NOT_KUBERNETES:
    case KUBE_NO_CREDENTIALS:
        return false;
    case KUBE_DENIED: /* webhooks guard what goes on now: a switchover, a backup */
    case KUBE_NS_TERMINATING:
    case KUBE_PDB_NO_BUDGET:
    case KUBE_PDB_NOT_OBSERVED:
    case KUBE_PDB_BROKEN: /* its controller mends it */
    case KUBE_NOT_YET:
    case KUBE_THROTTLED:
    case KUBE_TOO_NEW:
    case KUBE_TIMED_OUT:
    case KUBE_SERVER_ERROR:
    case KUBE_UNREACHABLE:
    case KUBE_UNKNOWN:
        return true;
    }
    fail_msg("outcome %d is not in the test", (int)outcome);
    return false;
}

static void test_retry(void **state) {
    (void)state;
    for (int i = KUBE_OK; i <= LAST; i++)
        assert_int_equal(kube_outcome_row((enum kube_outcome)i)->retry,
                         passes((enum kube_outcome)i));
}

/* Scripts and the simulator's users know them. */
static void test_names(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        const char *name;
    } rows[] = {
        {KUBE_OK, "OK"},
        {KUBE_NOT_FOUND, "NotFound"},
        {KUBE_CONFLICT, "Conflict"},
        {KUBE_EXISTS, "AlreadyExists"},
        {KUBE_UNAUTHORIZED, "Unauthorized"},
        {KUBE_FORBIDDEN, "Forbidden"},
        {KUBE_DENIED, "Denied"},
        {KUBE_PDB_NO_BUDGET, "PDBNoBudget"},
        {KUBE_PDB_MULTIPLE, "MultiplePDBs"},
        {KUBE_NOT_YET, "NotYet"},
        {KUBE_UNREACHABLE, "Unreachable"},
        {KUBE_UNKNOWN, "Unknown"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(kube_outcome_row(rows[i].outcome)->name, rows[i].name);
}

/* What waits for an answer no longer: not for what the server refused, or failed at. */
static void test_silent(void **state) {
    (void)state;
    for (int i = KUBE_OK; i <= LAST; i++)
        assert_int_equal(kube_outcome_silent((enum kube_outcome)i),
                         i == KUBE_UNKNOWN || i == KUBE_UNREACHABLE || i == KUBE_TIMED_OUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("model/outcome", tests, NULL, NULL);
}
