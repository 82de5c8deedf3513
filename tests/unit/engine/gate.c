/* Tests of src/engine/gate.c: what gates answer, and which of several answers counts. */
#include "engine/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct check_finding finding(const char *node, enum check_verdict verdict, unsigned when) {
    return (struct check_finding){.check = check_find("longhorn"),
                                  .verdict = verdict,
                                  .when = when,
                                  .code = BLOCKER_LAST_REPLICA,
                                  .node = node,
                                  .ns = "longhorn-system",
                                  .name = "pvc-1",
                                  .evidence = "its only replica is here",
                                  .hint = "add one elsewhere"};
}

/* One finding about w1, asked at a step. */
static enum maint_gate asked(enum check_verdict verdict, unsigned when, enum check_when at,
                             bool operates) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct check_finding f = finding("w1", verdict, when);
    struct checks found = {.list = &f, .n = 1};
    struct gate_answer answer;
    struct gate_question q = {.at = at, .node = "w1", .operates = operates, .checks = &found};
    enum maint_gate said = gates_ask(&q, &arena, &answer);
    assert_int_equal(said, answer.verdict);
    return said;
}

static void a_check_counts_at_its_own_step(void **state) {
    (void)state;
    const unsigned drained = CHECK_OPERATION, first = CHECK_CORDON;
    assert_int_equal(asked(CHECK_WAIT, first, CHECK_CORDON, true), MAINT_WAIT);
    assert_int_equal(asked(CHECK_DENY, first, CHECK_CORDON, true), MAINT_DENY);
    assert_int_equal(asked(CHECK_PASS, first, CHECK_CORDON, true), MAINT_PASS);
    assert_int_equal(asked(CHECK_DENY, first, CHECK_OPERATION, true), MAINT_PASS);
    assert_int_equal(asked(CHECK_WAIT, drained, CHECK_OPERATION, true), MAINT_WAIT);
    assert_int_equal(asked(CHECK_WAIT, CHECK_RETURN, CHECK_RETURN, true), MAINT_WAIT);
}

/* A drain ends some of what is waited for, and nothing of what is denied. */
static void no_slot_for_what_is_denied_afterwards(void **state) {
    (void)state;
    assert_int_equal(asked(CHECK_DENY, CHECK_OPERATION, CHECK_CORDON, true), MAINT_DENY);
    assert_int_equal(asked(CHECK_WAIT, CHECK_OPERATION, CHECK_CORDON, true), MAINT_PASS);
    assert_int_equal(asked(CHECK_DENY, CHECK_OPERATION, CHECK_CORDON, false), MAINT_PASS);
    assert_int_equal(asked(CHECK_DENY, CHECK_OPERATION, CHECK_OPERATION, false), MAINT_PASS);
}

/* What nobody could carry out gets no slot, whatever the checks say. */
static void no_slot_for_what_nobody_could_carry_out(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct gate_answer answer;
    struct gate_question q = {.at = CHECK_CORDON,
                              .node = "w1",
                              .operates = true,
                              .approval = true,
                              .subject = "maintenance/m1",
                              .unfit = "commands are not allowed"};
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_DENY);
    assert_int_equal(answer.code, BLOCKER_EXECUTOR_REFUSED);
    assert_string_equal(answer.object, "maintenance/m1");
    assert_string_equal(answer.message, "commands are not allowed");
    q.at = CHECK_OPERATION; /* it is too late by then */
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
}

static void the_answer_has_the_evidence_of_the_check(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct check_finding f = finding("w1", CHECK_DENY, CHECK_CORDON);
    struct checks found = {.list = &f, .n = 1};
    struct gate_answer answer;
    struct gate_question q = {.at = CHECK_CORDON, .node = "w1", .operates = true, .checks = &found};
    gates_ask(&q, &arena, &answer);
    assert_int_equal(answer.code, BLOCKER_LAST_REPLICA);
    assert_string_equal(answer.object, "longhorn-system/pvc-1");
    assert_string_equal(answer.message, "longhorn: its only replica is here; add one elsewhere; to "
                                        "do it all the same: spec.skipChecks of the policy");
    q.node = "w2";
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
    assert_string_equal(answer.message, "");
    q.checks = NULL;
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
}

static void approval_is_waited_for_where_it_is_wanted(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct gate_answer answer;
    struct gate_question q = {
        .at = CHECK_CORDON, .node = "w1", .approval = true, .subject = "maintenance/m1"};
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_WAIT);
    assert_int_equal(answer.code, BLOCKER_APPROVAL_NEEDED);
    assert_non_null(strstr(answer.message, "'slipway approve maintenance/m1'"));
    q.approved = "alice";
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
    q.approved = NULL;
    q.at = CHECK_OPERATION; /* it was, or it had no slot */
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
}

static void a_denial_counts_more_than_a_wait(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct check_finding f = finding("w1", CHECK_DENY, CHECK_CORDON);
    struct checks found = {.list = &f, .n = 1};
    struct gate_answer answer;
    struct gate_question q = {.at = CHECK_CORDON, .node = "w1", .checks = &found, .approval = true};
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_DENY);
    assert_int_equal(answer.code, BLOCKER_LAST_REPLICA);
    f.verdict = CHECK_WAIT; /* of two that wait the first of the table */
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_WAIT);
    assert_int_equal(answer.code, BLOCKER_LAST_REPLICA);
}

static void every_gate_has_a_name_and_a_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < n_gates; i++) {
        const struct gate *g = &gates_table[i];
        assert_true(g->when && g->ask);
        assert_int_equal(g->meaning[strlen(g->meaning) - 1], '.');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(g->name, gates_table[j].name);
    }
}

static size_t row_of(const char *name) {
    for (size_t i = 0; i < n_gates; i++)
        if (streq(gates_table[i].name, name))
            return i;
    fail_msg("there is no gate %s", name);
    return 0;
}

/* Also of those that others have outdone, and only of those that were asked. */
static void what_each_gate_has_said(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct check_finding f = finding("w1", CHECK_DENY, CHECK_CORDON);
    struct checks found = {.list = &f, .n = 1};
    struct gate_answer answer;
    struct gate_question q = {
        .at = CHECK_CORDON, .node = "w1", .operates = true, .checks = &found, .approval = true};
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_DENY);
    assert_int_equal(answer.each.asked, (1u << n_gates) - 1);
    assert_int_equal(answer.each.verdicts[row_of("checks")], MAINT_DENY);
    assert_int_equal(answer.each.verdicts[row_of("approval")], MAINT_WAIT);
    assert_int_equal(answer.each.verdicts[row_of("cordon")], MAINT_PASS);
    q.at = CHECK_RETURN;
    assert_int_equal(gates_ask(&q, &arena, &answer), MAINT_PASS);
    assert_int_equal(answer.each.asked, 1u << row_of("checks"));
    assert_string_equal(gate_word(MAINT_PASS), "pass");
    assert_string_equal(gate_word(MAINT_WAIT), "wait");
    assert_string_equal(gate_word(MAINT_DENY), "deny");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_counts_at_its_own_step),
        cmocka_unit_test(no_slot_for_what_is_denied_afterwards),
        cmocka_unit_test(no_slot_for_what_nobody_could_carry_out),
        cmocka_unit_test(the_answer_has_the_evidence_of_the_check),
        cmocka_unit_test(approval_is_waited_for_where_it_is_wanted),
        cmocka_unit_test(a_denial_counts_more_than_a_wait),
        cmocka_unit_test(every_gate_has_a_name_and_a_sentence),
        cmocka_unit_test(what_each_gate_has_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
