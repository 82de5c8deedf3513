/* Tests of src/cli/rehearse_pack.c. */
#include "cli/rehearse_pack.h"
#include "rehearse_sample.h"

static void test_round_trip(void **state) {
    (void)state;
    struct rehearsal a, b;
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    sample_bad(&a, 77);
    a.moved = 3;
    *vec_push(&a.remarks) = xstrdup("a remark");
    *vec_push(&a.pending) = (struct rehearsal_pending){xstrdup("x/Deployment/a"), xstrdup("a-1"),
                                                       xstrdup("0/3 nodes are available"), 2};
    a.nodes.p[0].error = xstrdup("an error");
    a.nodes.p[0].code = BLOCKER_CHECK_UNKNOWN;
    rehearsal_pack(&a, &first);
    assert_true(rehearsal_unpack((struct view){first.p, first.len}, &b));
    assert_int_equal(b.seed, 77);
    assert_int_equal(b.took, SEC(5));
    assert_true(b.halted);
    assert_int_equal(b.code, EXIT_BLOCKED);
    assert_int_equal(b.nodes.len, 2);
    assert_string_equal(b.nodes.p[0].error, "an error");
    assert_null(b.nodes.p[1].error);
    assert_int_equal(b.nodes.p[0].code, BLOCKER_CHECK_UNKNOWN);
    assert_int_equal(b.nodes.p[1].code, -1);
    assert_string_equal(b.nodes.p[1].pods.p[1].why, "PDBUnsatisfiable shop/db: never");
    assert_int_equal(b.nodes.p[1].pods.p[1].code, BLOCKER_PDB_UNSATISFIABLE);
    assert_null(b.nodes.p[1].pods.p[0].why);
    assert_true(b.waits.p[0].open);
    assert_int_equal(b.budgets.p[1].before, 4);
    assert_string_equal(b.remarks.p[0], "a remark");
    assert_string_equal(b.pending.p[0].workload, "x/Deployment/a");
    assert_string_equal(b.pending.p[0].why, "0/3 nodes are available");
    assert_int_equal(b.pending.p[0].pods, 2);
    rehearsal_pack(&b, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.p, second.p, first.len);
    rehearsal_done(&a);
    rehearsal_done(&b);
}

/* Bytes that are not whole, or others, are refused and leave nothing behind. */
static void test_damaged(void **state) {
    (void)state;
    struct rehearsal a, b;
    _cleanup_str_ struct str all = STR_INIT;
    sample_bad(&a, 1);
    rehearsal_pack(&a, &all);
    for (size_t n = 0; n < all.len; n++)
        assert_false(rehearsal_unpack((struct view){all.p, n}, &b));
    str_addc(&all, 'x');
    assert_false(rehearsal_unpack((struct view){all.p, all.len}, &b));
    all.len--;
    for (size_t i = 0; i < all.len; i++) {
        all.p[i] = (char)(all.p[i] ^ 0xff);
        if (rehearsal_unpack((struct view){all.p, all.len}, &b))
            rehearsal_done(&b);
        all.p[i] = (char)(all.p[i] ^ 0xff);
    }
    rehearsal_done(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
