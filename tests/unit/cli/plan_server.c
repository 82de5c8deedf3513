/* Tests of src/cli/plan_server.c: what an answer of the server makes of a pod. That it is asked,
 * and as a dry run: tests/cli/test_plan.py. */
#include "cli/plan_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void answers_and_verdicts(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        enum plan_verdict goes, waits; /* what becomes of a pod that was planned so */
        enum blocker_code code;
    } cases[] = {
        {KUBE_OK, PLAN_VERDICTS, PLAN_VERDICTS, 0},
        {KUBE_NOT_FOUND, PLAN_VERDICTS, PLAN_VERDICTS, 0},
        {KUBE_CONFLICT, PLAN_VERDICTS, PLAN_VERDICTS, 0},
        {KUBE_PDB_NO_BUDGET, PLAN_WAITS, PLAN_VERDICTS, BLOCKER_PDB_NO_BUDGET},
        {KUBE_PDB_MULTIPLE, PLAN_NEVER, PLAN_NEVER, BLOCKER_MULTIPLE_PDBS},
        {KUBE_PDB_BROKEN, PLAN_NEVER, PLAN_NEVER, BLOCKER_PDB_BROKEN},
        {KUBE_DENIED, PLAN_NEVER, PLAN_NEVER, BLOCKER_ADMISSION_DENIED},
        {KUBE_FORBIDDEN, PLAN_NEVER, PLAN_NEVER, BLOCKER_FORBIDDEN},
        {KUBE_NOT_YET, PLAN_UNSURE, PLAN_UNSURE, BLOCKER_EVICTION_IN_PROGRESS},
        {KUBE_NS_TERMINATING, PLAN_UNSURE, PLAN_UNSURE, BLOCKER_NAMESPACE_TERMINATING},
        {KUBE_SERVER_ERROR, PLAN_UNSURE, PLAN_UNSURE, BLOCKER_SERVER_TROUBLE},
        {KUBE_UNKNOWN, PLAN_UNSURE, PLAN_UNSURE, BLOCKER_SERVER_TROUBLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum blocker_code code = BLOCKER_CODES;
        assert_int_equal(plan_server_verdict(PLAN_GOES, cases[i].outcome, &code), cases[i].goes);
        if (cases[i].goes != PLAN_VERDICTS)
            assert_int_equal(code, cases[i].code);
        assert_int_equal(plan_server_verdict(PLAN_WAITS, cases[i].outcome, &code), cases[i].waits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_verdicts),
    };
    return cmocka_run_group_tests_name("cli/plan_server", tests, NULL, NULL);
}
