/* Tests of cli/verbs: what must hold for the row of every verb. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/topics.h"
#include "cli/verb.h"

static void finding(void **state) {
    (void)state;
    assert_string_equal(verb_find("version")->name, "version");
    assert_non_null(verb_find("__complete"));
    assert_null(verb_find("versio"));
    assert_null(verb_find(""));
    assert_string_equal(verb_suggest("versoin"), "version");
    assert_string_equal(verb_suggest("Help"), "help");
    assert_null(verb_suggest("__complet")); /* hidden */
    assert_null(verb_suggest("zzz"));
}

static void names_are_unique(void **state) {
    (void)state;
    for (size_t i = 0; verbs[i]; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(verbs[i]->name, verbs[j]->name);
}

static void rows_are_complete(void **state) {
    (void)state;
    for (size_t i = 0; verbs[i]; i++) {
        const struct verb *v = verbs[i];
        assert_non_null(v->run);
        assert_non_null(v->summary);
        assert_non_null(v->text);
        assert_true(v->max_args == 0 || v->args);
        assert_true(v->max_args < 0 || v->min_args <= v->max_args);
        assert_true(v->arg_hint != HINT_WORDS || v->arg_words);
        if (v->hidden) {
            assert_false(v->common);
            continue;
        }
        assert_true(strlen(v->summary) <= 60);
        assert_true(isupper((unsigned char)v->summary[0]));
        assert_false(str_ends(v->summary, "."));
        for (size_t e = 0; e < VERB_EXAMPLES; e++) {
            assert_non_null(v->examples[e].what);
            assert_true(str_starts(v->examples[e].line, v->name));
        }
        for (size_t s = 0; v->see_also && v->see_also[s]; s++)
            assert_true(verb_find(v->see_also[s]) || topic_find(v->see_also[s]));
    }
}

static void no_verb_has_a_topics_name(void **state) {
    (void)state;
    for (size_t i = 0; i < n_topics; i++)
        assert_null(verb_find(topics[i].name));
}

static void check_option(const struct option *o) {
    if (!o->help || !*o->help)
        fail_msg("--%s has no help", o->name);
    if (str_ends(o->help, "."))
        fail_msg("--%s: help ends with a full stop", o->name);
    if (o->bare_unless && (!o->implied || o->arg || o->letter))
        fail_msg("--%s: the bare flag has a value", o->name);
    if (o->kind != OPTION_FLAG && !o->bare_unless && !o->arg)
        fail_msg("--%s: its value has no name", o->name);
    if (o->kind == OPTION_ENUM && !o->words)
        fail_msg("--%s has no words", o->name);
    if (o->kind == OPTION_INT && o->max <= o->min)
        fail_msg("--%s has no range", o->name);
    if (o->kind == OPTION_PARSED && !o->parse)
        fail_msg("--%s has no parser", o->name);
}

/* In a verb every long name and every letter means one thing, and fields lie in its struct. */
static bool connects(const struct verb *v) {
    for (const struct verb_options *o = v->options; o && o->group; o++)
        if (o->group == &connection_options)
            return true;
    return false;
}

static void options_do_not_collide(void **state) {
    (void)state;
    for (size_t i = 0; verbs[i]; i++) {
        struct option_set set;
        verb_option_set(verbs[i], NULL, NULL, &set);
        verb_accept_connection(verbs[i], NULL, &set);
        bool letters[256] = {false};
        for (size_t g = 0; g < set.n; g++)
            for (const struct option *o = set.items[g].group->rows; o->name; o++) {
                check_option(o);
                /* what is accepted and dropped may have a meaning of its own: sim --kubeconfig */
                bool dropped = set.items[g].group == &connection_options && !connects(verbs[i]);
                if (!dropped && !o->bare_unless &&
                    options_find(&set, o->name, strlen(o->name), NULL) != o)
                    fail_msg("%s: --%s is there twice", verbs[i]->name, o->name);
                if (o->letter && letters[(unsigned char)o->letter])
                    fail_msg("%s: -%c is there twice", verbs[i]->name, o->letter);
                letters[(unsigned char)o->letter] = true;
            }
        for (const struct verb_options *o = verbs[i]->options; o && o->group; o++)
            assert_true(o->base < verbs[i]->opts_size);
    }
}

/* The connection flags of a verb that does not show them: dropped, or where it wants them. */
static void connections_that_are_not_shown(void **state) {
    struct {
        int other;
        struct connection_opts connection;
    } opts = {0};
    size_t at = offsetof(typeof(opts), connection);
    struct verb verb = {.name = "x", .opts_size = sizeof opts};
    (void)state;
    for (int wants = 0; wants < 2; wants++) {
        struct option_set set = {0};
        verb.connection = wants ? at : 0;
        verb_accept_connection(&verb, &opts, &set);
        assert_int_equal(set.n, 1);
        assert_ptr_equal(set.items[0].base, wants ? &opts.connection : NULL);
    }
    for (size_t i = 0; verbs[i]; i++)
        assert_true(!verbs[i]->connection ||
                    verbs[i]->connection + sizeof(struct connection_opts) <= verbs[i]->opts_size);
}

static void shared_options_do_not_collide(void **state) {
    (void)state;
    struct general_opts general;
    struct shared_opts shared;
    struct option_set set;
    verb_shared_set(&general, &shared, &set);
    for (size_t g = 0; g < set.n; g++)
        for (const struct option *o = set.items[g].group->rows; o->name; o++)
            assert_ptr_equal(options_find(&set, o->name, strlen(o->name), NULL), o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(no_verb_has_a_topics_name),
        cmocka_unit_test(options_do_not_collide),
        cmocka_unit_test(connections_that_are_not_shown),
        cmocka_unit_test(shared_options_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
