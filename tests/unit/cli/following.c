/* Tests of src/cli/following.c: what is said of each, and how it ends. What users see of it is in
 * tests/cli/test_reboot.py. */
#include "cli/following.h"

#include "support/own_sample.h"

static void how_a_maintenance_ends(void **state) {
    struct own_sample *f = *state;
    static const struct {
        const char *phase;
        int code;
    } cases[] = {{"", -1},
                 {"Draining", -1},
                 {"Undoing", -1},
                 {"Halted", EXIT_BLOCKED},
                 {"Complete", EXIT_DONE},
                 {"Failed", EXIT_FAILED},
                 {"Cancelled", EXIT_FAILED}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_free_ char *name = xasprintf("m%zu", i);
        struct own_target t = own_sample_maintenance(f, name, cases[i].phase, NULL, false);
        assert_int_equal(following_code(t.kind, t.obj), cases[i].code);
    }
}

static void how_a_rollout_ends(void **state) {
    (void)state;
    static const struct {
        const char *phase, *reason;
        int failed, code;
    } cases[] = {{NULL, NULL, 0, -1},
                 {"Progressing", "Progressing", 1, -1},
                 {"Paused", "Paused", 0, -1},
                 {"Complete", "AllDone", 0, EXIT_DONE},
                 {"Complete", "SomeFailed", 1, EXIT_PARTIAL},
                 {"Failed", "TooManyFailed", 1, EXIT_BLOCKED},
                 {"Failed", "NoNodes", 0, EXIT_FAILED}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rollout r = {.phase = cases[i].phase,
                            .phase_reason = cases[i].reason,
                            .counts = {.failed = cases[i].failed}};
        assert_int_equal(following_code(&kind_rollout, (const struct object *)&r), cases[i].code);
    }
}

static void what_is_said(void **state) {
    (void)state;
    const struct own_blocker b = {
        .code = "PDBNoBudget", .object = "shop/web", .message = "needs 2, has 2"};
    struct maintenance m = {.node = "w1", .phase = "Draining", .blocker = &b};
    struct rollout r = {.meta = {.name = "kernel"},
                        .phase = "Progressing",
                        .counts = {.total = 3, .waiting = 1, .current = 1, .complete = 1}};
    _cleanup_str_ struct str text = STR_INIT;
    following_maintenance(&m, &text);
    assert_string_equal(str_get(&text), "w1 Draining: PDBNoBudget shop/web: needs 2, has 2");
    str_reset(&text);
    m = (struct maintenance){.node = "w1", .meta = {.deleted = 1}};
    following_maintenance(&m, &text);
    assert_string_equal(str_get(&text), "w1 Pending (cancelled)");
    str_reset(&text);
    following_rollout(&r, &text);
    assert_string_equal(str_get(&text),
                        "kernel Progressing: 1 of 3 nodes done, 1 under way, 1 waiting, 0 failed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        OWN_TEST(how_a_maintenance_ends),
        cmocka_unit_test(how_a_rollout_ends),
        cmocka_unit_test(what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
