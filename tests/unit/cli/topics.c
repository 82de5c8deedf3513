/* Tests of cli/topics: only what exists is claimed. */
#include "cli/topics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/groups.h"
#include "cli/verb.h"
#include "engine/blocker.h"

static void finding(void **state) {
    (void)state;
    assert_string_equal(topic_find("exit-codes")->name, "exit-codes");
    assert_non_null(topic_find("environment"));
    assert_non_null(topic_find("output"));
    assert_null(topic_find("nothing"));
}

static void exit_codes_of_verbs(void **state) {
    (void)state;
    static const enum exit_code exits[] = {EXIT_BLOCKED, EXIT_ACCESS, EXIT_DONE};
    const struct verb v = {.name = "x", .exits = exits}, plain = {.name = "y"};
    assert_true(exit_is_used_by(EXIT_BLOCKED, &v));
    assert_true(exit_is_used_by(EXIT_ACCESS, &v));
    assert_false(exit_is_used_by(EXIT_REFUSED, &v));
    assert_false(exit_is_used_by(EXIT_BLOCKED, &plain));
    /* These every verb has. */
    assert_true(exit_is_used_by(EXIT_DONE, &plain));
    assert_true(exit_is_used_by(EXIT_FAILED, &plain));
    assert_true(exit_is_used_by(EXIT_USAGE, &plain));
    assert_true(exit_is_used_by(EXIT_SIGPIPE, &plain));
}

static void exit_codes_listed(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    topic_find("exit-codes")->list("slipway", &s);
    assert_non_null(strstr(str_get(&s), "   64   Usage error"));
    for (size_t i = 0; i < n_exit_rows; i++)
        assert_int_equal(exit_is_used(exit_rows[i].code),
                         strstr(str_get(&s), exit_rows[i].meaning) != NULL);
}

static void blockers_listed(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    topic_find("blockers")->list("slipway", &s);
    for (int i = 0; i < BLOCKER_CODES; i++)
        assert_non_null(strstr(str_get(&s), blocker_row((enum blocker_code)i)->name));
    assert_non_null(
        strstr(str_get(&s), "\n  PDBNoBudget\n      The PodDisruptionBudget allows no"));
}

struct seen {
    VEC(const char *) names;
    bool color, kubeconfig;
};

static void note(void *arg, const struct env_row *row) {
    struct seen *seen = arg;
    for (size_t i = 0; i < seen->names.len; i++)
        assert_string_not_equal(seen->names.p[i], row->name);
    *vec_push(&seen->names) = row->name;
    assert_true((row->flag != NULL) != (row->about != NULL));
    if (streq(row->name, "SLIPWAY_COLOR"))
        seen->color = streq(row->flag, "color");
    if (streq(row->name, "KUBECONFIG"))
        seen->kubeconfig = true;
}

static void variables_are_listed_once(void **state) {
    (void)state;
    struct seen seen = {.names = VEC_INIT};
    env_each(note, &seen);
    assert_true(seen.color && seen.kubeconfig);
    vec_done(&seen.names);
}

static void variables_of_every_verb(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    topic_find("environment")->list("slipway", &s);
    for (size_t i = 0; verbs[i]; i++)
        for (const struct verb_options *g = verbs[i]->options; g && g->group; g++)
            for (const struct option *o = g->group->rows; o->name; o++)
                if (o->env && !strstr(str_get(&s), o->env))
                    fail_msg("%s is not listed", o->env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding),
        cmocka_unit_test(exit_codes_of_verbs),
        cmocka_unit_test(exit_codes_listed),
        cmocka_unit_test(blockers_listed),
        cmocka_unit_test(variables_are_listed_once),
        cmocka_unit_test(variables_of_every_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
