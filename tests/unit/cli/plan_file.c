/* Tests of src/cli/plan_file.c: saved plans are read strictly. How they are compared:
 * plan_compare.c; what the verbs make of it: tests/cli/test_plan.py. */
#include "cli/plan_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct fixture {
    struct arena arena;
    struct plan_file file;
    struct err err;
};

static int setup(void **state) {
    *state = xnew(struct fixture);
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    err_done(&f->err);
    free(f);
    return 0;
}

static int parse(struct fixture *f, const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return plan_file_parse(copy, strlen(copy), "p.json", &f->arena, &f->file, &f->err);
}

#define HEAD                                                                                       \
    "{'schema':'slipway.plan/1.0','id':'x','operation':'drain','made':'then','flags':['--force']," \
    "'nodes':["
#define NODE(pods) "{'name':'w1','uid':'n1','verdict':'goes','pods':[" pods "]}"
#define POD(name, uid, verdict)                                                                    \
    "{'namespace':'a','name':'" name "','uid':'" uid "','verdict':'" verdict "'}"

static void a_plan_is_read(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, HEAD NODE(POD("p", "u1", "goes") "," POD("q", "u2", "stays")) "]}"),
                     0);
    assert_int_equal(f->file.n, 1);
    assert_string_equal(f->file.nodes[0].name, "w1");
    assert_int_equal(f->file.nodes[0].n_pods, 2);
    assert_string_equal(f->file.nodes[0].pods[1].uid, "u2");
    assert_int_equal(f->file.n_words, 1);
    assert_string_equal(f->file.words[0], "--force");
}

/* What the plan rests on beside pods. A plan of version 1.0 says nothing of budgets. */
static void budgets_and_findings_are_read(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, HEAD "]}"), 0);
    assert_false(f->file.has_budgets);
    assert_int_equal(
        parse(f, HEAD "{'name':'w1','uid':'n1','pods':[],'checks':[{'check':'longhorn','verdict':"
                      "'deny'}]}],'budgets':[{'name':'a/b','rule':'minAvailable 2','selector':"
                      "'app=b','unhealthyPodEvictionPolicy':'AlwaysAllow','spare':3,'needs':2}]}"),
        0);
    assert_int_equal(f->file.nodes[0].n_findings, 1);
    assert_string_equal(f->file.nodes[0].findings[0].verdict, "deny");
    assert_true(f->file.has_budgets);
    assert_int_equal(f->file.n_budgets, 1);
    assert_string_equal(f->file.budgets[0].rule, "minAvailable 2");
    assert_string_equal(f->file.budgets[0].selector, "app=b");
    assert_string_equal(f->file.budgets[0].unhealthy, "AlwaysAllow");
    assert_int_equal(f->file.budgets[0].needs, 2);
}

/* What is newer is refused, never misread; a file may come from anywhere. */
static void what_is_no_plan_is_refused(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "p.json:1:0: "},
        {"[1]", "this is no plan"},
        {"{'schema':'slipway.status/1.0'}", "its schema is \"slipway.status/1.0\""},
        {"{'schema':'slipway.plan/2.0','flags':[],'nodes':[]}", "does not know"},
        {"{'schema':'slipway.plan/1.0','operation':'drain','nodes':[]}", "no nodes or no flags"},
        {"{'schema':'slipway.plan/1.0','operation':'drain','flags':[],'nodes':{}}",
         "no nodes or no flags"},
        {"{'schema':'slipway.plan/1.0','operation':'drain','flags':['w9'],'nodes':[]}",
         "no nodes or no flags"},
        {"{'schema':'slipway.plan/1.0','operation':'drain','flags':['--'],'nodes':[]}",
         "no nodes or no flags"},
        {"{'schema':'slipway.plan/1.0','operation':'drain','flags':[7],'nodes':[]}",
         "no nodes or no flags"},
        {"{'schema':'slipway.plan/1.0','operation':'reboot','flags':[],'nodes':[]}",
         "a plan to reboot is nothing that this program can carry out"},
        {HEAD "{'name':'w1'}]}", "node 1 of the plan is not complete"},
        {HEAD NODE("{'name':'p'}") "]}", "node 1 of the plan is not complete"},
        {HEAD "{'name':'w1','uid':'n1','pods':[],'checks':[{}]}]}",
         "node 1 of the plan is not complete"},
        {HEAD "],'budgets':[{'rule':'maxUnavailable 1'}]}", "the budgets of the plan are not"},
        {HEAD "],'budgets':7}", "the budgets of the plan are not complete"},
        {HEAD "7]}", "node 1 of the plan is not complete"},
        {"{'schema':'slipway.plan/1.0','schema':'x'}", "duplicate"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(f, cases[i].text), -EINVAL);
        if (!strstr(err_msg(&f->err), cases[i].message))
            fail_msg("%s: %s", cases[i].text, err_msg(&f->err));
    }
}

/* The digest is of what it says, not of how it is laid out. */
static void what_was_edited_is_noticed(void **state) {
    struct fixture *f = *state;
    char digest[17];
    json_t *doc =
        json_loads("{\"schema\":\"slipway.plan/1.0\",\"operation\":\"drain\",\"flags\":[],"
                   "\"nodes\":[],\"mostAtOnce\":1.50}",
                   0, NULL);
    plan_digest(doc, digest);
    json_object_set_new(doc, "digest", json_string(digest));
    for (int round = 0; round < 3; round++) {
        if (round == 2)
            json_object_set_new(doc, "mostAtOnce", json_real(1.25));
        _cleanup_free_ char *text = json_dumps(doc, round ? JSON_INDENT(3) : JSON_SORT_KEYS);
        assert_int_equal(parse(f, text), 0);
        assert_int_equal(f->file.edited, round == 2);
    }
    json_decref(doc);
    assert_int_equal(parse(f, HEAD "]}"), 0); /* whoever takes the digest out has edited it, too */
    assert_true(f->file.edited);
}

/* A name with a line's end in it does not look like a change of its own. */
static void a_line_is_one_line(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, HEAD NODE(POD("p\\n- node w9\\u001b", "u1", "goes")) "]}"), 0);
    assert_string_equal(f->file.nodes[0].pods[0].name, "p?- node w9?");
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_plan_is_read),
        FILE_TEST(budgets_and_findings_are_read),
        FILE_TEST(what_is_no_plan_is_refused),
        FILE_TEST(what_was_edited_is_noticed),
        FILE_TEST(a_line_is_one_line),
    };
    return cmocka_run_group_tests_name("cli/plan_file", tests, NULL, NULL);
}
