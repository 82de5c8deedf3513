/* Tests of src/engine/why.c. */
#include "engine/why.h"

#include "engine/why_internal.h"
#include "why_scene.h"

static void words_are_stable(void **state) {
    (void)state;
    assert_string_equal(why_risk_word(WHY_RISK_NONE), "none");
    assert_string_equal(why_risk_word(WHY_RISK_LOW), "low");
    assert_string_equal(why_risk_word(WHY_RISK_SERVICE), "service");
    assert_string_equal(why_risk_word(WHY_RISK_DATA), "data");
    assert_string_equal(why_state_word(WHY_FREE), "free");
    assert_string_equal(why_state_word(WHY_WAITS), "waits");
    assert_string_equal(why_state_word(WHY_BLOCKED), "blocked");
}

static void remedies_are_in_the_order_of_their_risk(void **state) {
    struct scene *s = *state;
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    struct why_link *l = why_link_new(&m, BLOCKER_BARE_POD, "Pod", "x/a", "text");
    why_link_remedy(&m, l, WHY_RISK_DATA, "d", NULL, "lost");
    why_link_remedy(&m, l, WHY_RISK_NONE, "n1", NULL, NULL);
    why_link_remedy(&m, l, WHY_RISK_SERVICE, "s", "cmd", "down");
    why_link_remedy(&m, l, WHY_RISK_NONE, "n2", NULL, NULL);
    why_link_remedy(&m, l, WHY_RISK_SERVICE, "s", "cmd", "twice is once");
    static const char *const want[] = {"n1", "n2", "s", "d"};
    assert_int_equal(l->n_remedies, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(l->remedies[i].text, want[i]);
    assert_string_equal(l->remedies[0].command, "");
    assert_string_equal(l->remedies[0].cost, "");
    why_end(&m);
}

static void causes_are_worst_first(void **state) {
    struct scene *s = *state;
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    struct why_link *l = why_link_new(&m, BLOCKER_PDB_NO_BUDGET, "", "", "");
    static const enum severity given[] = {SEVERITY_INFO, SEVERITY_ERROR, SEVERITY_WARN,
                                          SEVERITY_ERROR};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        struct why_link *c = why_link_new(&m, WHY_NO_CODE, "", names[i], "");
        c->severity = given[i];
        why_link_cause(&m, l, c);
    }
    static const char *const want[] = {"b", "d", "c", "a"};
    assert_int_equal(l->n_causes, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(l->causes[i]->object, want[i]);
    why_end(&m);
}

static void links_are_worst_first(void **state) {
    struct scene *s = *state;
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    static const struct {
        int code;
        const char *object;
        unsigned pods;
        bool blocks;
    } given[] = {
        {BLOCKER_PDB_NO_BUDGET, "x/b", 1, true}, {BLOCKER_RETURNS, "x/r", 9, false},
        {BLOCKER_BARE_POD, "x/c", 5, true},      {BLOCKER_PDB_NO_BUDGET, "x/a", 1, true},
        {BLOCKER_MULTIPLE_PDBS, "x/m", 1, true}, {BLOCKER_PDB_NO_BUDGET, "x/z", 3, true},
        {BLOCKER_PINNED, "x/p", 7, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        struct why_link *l = why_link_new(&m, given[i].code, "", given[i].object, "");
        l->pods = given[i].pods;
        l->blocks = given[i].blocks;
        *vec_push(&m.links) = l;
    }
    why_end(&m);
    static const char *const want[] = {"x/m", "x/p", "x/z", "x/a", "x/b", "x/c", "x/r"};
    assert_int_equal(s->why.n_links, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(s->why.links[i]->object, want[i]);
    assert_int_equal(s->why.state, WHY_BLOCKED);
}

static enum why_state state_of(struct scene *s, int code, bool blocks) {
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    struct why_link *l = why_link_new(&m, code, "", "", "");
    l->blocks = blocks;
    *vec_push(&m.links) = l;
    why_end(&m);
    return s->why.state;
}

static void the_state_is_that_of_what_blocks(void **state) {
    struct scene *s = *state;
    assert_int_equal(state_of(s, BLOCKER_PDB_NO_BUDGET, true), WHY_WAITS);
    assert_int_equal(state_of(s, BLOCKER_BARE_POD, true), WHY_BLOCKED);
    assert_int_equal(state_of(s, BLOCKER_BARE_POD, false), WHY_FREE);
    assert_int_equal(state_of(s, WHY_NO_CODE, true), WHY_BLOCKED);
}

/* What we print is pasted into a shell by somebody who trusts us; names come from the cluster. */
static void words_for_a_shell_are_quoted(void **state) {
    struct scene *s = *state;
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    static const char *const cases[][2] = {
        {"web-7c9d.x_y", "web-7c9d.x_y"},
        {"", "''"},
        {"a b", "'a b'"},
        {"$(reboot)", "'$(reboot)'"},
        {"it's", "'it'\\''s'"},
        {"a;b", "'a;b'"},
        {"a\nb", "'a\nb'"},
        {"*", "'*'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(why_shell(&m, cases[i][0]), cases[i][1]);
    why_end(&m);
}

static void what_is_not_there_yet_is_asked_for(void **state) {
    struct scene *s = *state;
    s->unread = "nodes";
    const struct why *why = scene_why(s, "n1");
    assert_false(why->complete);
    assert_false(why->found);
    assert_string_equal(str_get(&s->asked), "nodes  n1 \n");
}

static void what_is_gone_is_not_found(void **state) {
    struct scene *s = *state;
    const struct why *why = scene_why(s, "n1");
    assert_true(why->complete);
    assert_false(why->found);
    assert_int_equal(why->n_links, 0);
}

static void what_may_not_be_read_is_named_once(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_pod(s, "b", "b", "n1", POD_WELL);
    s->forbidden = "replicasets namespaces";
    const struct why *why = scene_why(s, "n1");
    assert_true(why->complete);
    assert_int_equal(why->n_unread, 2);
    assert_string_equal(why->unread[0], "namespaces");
    assert_string_equal(why->unread[1], "replicasets");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_stable),
        SCENE_TEST(remedies_are_in_the_order_of_their_risk),
        SCENE_TEST(causes_are_worst_first),
        SCENE_TEST(links_are_worst_first),
        SCENE_TEST(the_state_is_that_of_what_blocks),
        SCENE_TEST(words_for_a_shell_are_quoted),
        SCENE_TEST(what_is_not_there_yet_is_asked_for),
        SCENE_TEST(what_is_gone_is_not_found),
        SCENE_TEST(what_may_not_be_read_is_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
