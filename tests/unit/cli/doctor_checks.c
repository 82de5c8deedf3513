/* Tests of src/cli/doctor_checks.c. */
#include "cli/doctor_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static struct check_finding finding(const char *check, enum check_verdict verdict, unsigned when,
                                    const char *node, const char *evidence) {
    return (struct check_finding){.check = check_find(check),
                                  .verdict = verdict,
                                  .when = when,
                                  .code = BLOCKER_LAST_REPLICA,
                                  .node = node,
                                  .kind = "Volume",
                                  .ns = "longhorn-system",
                                  .name = "pvc-1",
                                  .evidence = evidence};
}

static void equal_findings_are_one(void **state) {
    struct check_state states[32] = {0};
    struct check_finding list[] = {
        finding("longhorn", CHECK_DENY, CHECK_CORDON, "w1", "the only replica"),
        finding("longhorn", CHECK_DENY, CHECK_CORDON, "w3", "the only replica"),
        finding("longhorn", CHECK_DENY, CHECK_CORDON, "w3", "another"),
        finding("rook-ceph", CHECK_DENY, CHECK_OPERATION, "w2", "not after the drain"),
        finding("rook-ceph", CHECK_WAIT, CHECK_OPERATION, "w2", "a drain ends it"),
        finding("rook-ceph", CHECK_PASS, CHECK_CORDON, "w2", "well"),
    };
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct doctor_checks out;
    (void)state;
    assert_true(n_checks <= ARRAY_LEN(states));
    for (size_t i = 0; i < n_checks; i++)
        if (streq(checks_table[i].name, "longhorn") || streq(checks_table[i].name, "rook-ceph") ||
            streq(checks_table[i].name, "kubevirt"))
            states[i].presence = CHECK_INSTALLED;
    struct checks found = {.list = list, .n = ARRAY_LEN(list), .states = states};
    doctor_checks_fold(&found, &arena, &out);
    assert_int_equal(out.n, 4);
    assert_int_equal(out.list[0].n_nodes, 2);
    assert_string_equal(out.list[0].nodes[1], "w3");
    assert_string_equal(out.list[0].finding->evidence, "the only replica");
    assert_true(doctor_check_blocks(&out.list[0]));
    assert_int_equal(out.list[1].n_nodes, 1);
    assert_string_equal(out.list[2].finding->evidence, "not after the drain");
    assert_false(doctor_check_blocks(&out.list[2]));
    /* a drain does not get past its end before that is over */
    assert_string_equal(out.list[3].finding->evidence, "a drain ends it");
    assert_true(doctor_check_blocks(&out.list[3]) && doctor_check_ends(&out.list[3]));
    assert_false(doctor_check_ends(&out.list[0]));
    /* what is there and has nothing against it; what is not there is not spoken of */
    assert_string_equal(out.quiet, "KubeVirt");
}

static void nothing_found(void **state) {
    struct check_state states[32] = {0};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct doctor_checks out;
    (void)state;
    doctor_checks_fold(&(struct checks){.states = states}, &arena, &out);
    assert_int_equal(out.n, 0);
    assert_string_equal(out.quiet, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_findings_are_one),
        cmocka_unit_test(nothing_found),
    };
    return cmocka_run_group_tests_name("cli/doctor_checks", tests, NULL, NULL);
}
