/* Tests of model/selector: what matches, what is refused and why, and the notation of -l. What is
 * expected was compared with k8s.io/apimachinery pkg/labels and component-helpers nodeaffinity. */
#include "model/selector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support/make.h"
#include "base/mem.h"

/* Nothing is given back before the pool goes: lists here have no table. */
static void keep(struct pool *pool, const void *type, const void *data, size_t len) {
    (void)pool;
    (void)type;
    (void)data;
    (void)len;
}

static int setup(void **state) {
    *state = pool_new(keep);
    return 0;
}

static int teardown(void **state) {
    pool_free(*state);
    return 0;
}

static const char tag; /* of lists of requirements and terms */

static const char *const *values_of(struct pool *pool, const char *text) {
    const char *items[MAKE_MAX];
    size_t n = 0;
    if (!text)
        return NULL;
    for (const char *s = text;; s++) {
        size_t len = strcspn(s, "|");
        items[n++] = pool_str(pool, s, len);
        s += len;
        if (!*s)
            break;
    }
    return pool_blob(pool, &type_strs, items, n * sizeof items[0]);
}

/* Values are separated by "|"; NULL: none, "": one, the empty one. */
static struct requirement req(struct pool *pool, const char *key, const char *op,
                              const char *values) {
    return (struct requirement){make_str(pool, key), make_str(pool, op), values_of(pool, values)};
}

static const struct requirement *reqs(struct pool *pool, const struct requirement *items,
                                      size_t n) {
    return pool_blob(pool, &tag, items, n * sizeof *items);
}

#define REQS(pool, ...)                                                                            \
    reqs(pool, (const struct requirement[]){__VA_ARGS__},                                          \
         sizeof((const struct requirement[]){__VA_ARGS__}) / sizeof(struct requirement))

static void check_fails(int rc, const struct err *err, const char *message) {
    assert_int_equal(rc, -EINVAL);
    assert_int_equal(err->code, EINVAL);
    assert_string_equal(err_msg(err), message);
}

/* --- requirements --- */

static void operators(void **state) {
    struct pool *pool = *state;
    const struct pair *labels =
        make_map(pool, "a", "b", "empty", "", "n", "10", "x.io/y", "z", NULL);
    const struct {
        const char *key, *op, *values;
        bool match;
    } cases[] = {
        {"a", "In", "b", true},
        {"a", "In", "x|b|y", true},
        {"a", "In", "x|y", false},
        {"a", "In", "", false},
        {"none", "In", "b", false},
        {"none", "In", "", false},
        {"empty", "In", "", true},
        {"empty", "In", "a|", true},
        {"x.io/y", "In", "z", true},
        {"a", "NotIn", "b", false},
        {"a", "NotIn", "x|b", false},
        {"a", "NotIn", "x", true},
        {"none", "NotIn", "b", true},
        {"none", "NotIn", "", true},
        {"empty", "NotIn", "", false},
        {"a", "Exists", NULL, true},
        {"empty", "Exists", NULL, true},
        {"none", "Exists", NULL, false},
        {"a", "DoesNotExist", NULL, false},
        {"empty", "DoesNotExist", NULL, false},
        {"none", "DoesNotExist", NULL, true},
        {"n", "Gt", "9", true},
        {"n", "Gt", "10", false},
        {"n", "Gt", "0009", true},
        {"n", "Lt", "11", true},
        {"n", "Lt", "10", false},
        {"n", "Lt", "9223372036854775807", true},
        {"a", "Gt", "1", false},
        {"empty", "Gt", "1", false},
        {"none", "Gt", "1", false},
        {"none", "Lt", "1", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct requirement r = req(pool, cases[i].key, cases[i].op, cases[i].values);
        if (requirement_match(&r, labels) != cases[i].match)
            fail_msg("%s %s %s", cases[i].key, cases[i].op, strna(cases[i].values));
        assert_int_equal(requirement_check(&r, NULL), 0);
    }
    struct requirement r = req(pool, "a", "NotIn", "b");
    assert_true(requirement_match(&r, NULL));
    r = req(pool, "a", "In", "b");
    assert_false(requirement_match(&r, NULL));
}

/* Labels of a node are not ours to check: a number may look like anything. */
static void numbers_of_labels(void **state) {
    struct pool *pool = *state;
    const struct {
        const char *value;
        bool more_than_5;
    } cases[] = {
        {"6", true},    {"+6", true},
        {"-6", false},  {"6.0", false},
        {"6x", false},  {" 6", false},
        {"0x6", false}, {"6_0", false},
        {"-", false},   {"9223372036854775807", true},
        {"+", false},   {"9223372036854775808", false},
        {"006", true},  {"-9223372036854775808", false},
    };
    struct requirement r = req(pool, "n", "Gt", "5"), l = req(pool, "n", "Lt", "5");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct pair *labels = make_map(pool, "n", cases[i].value, NULL);
        if (requirement_match(&r, labels) != cases[i].more_than_5)
            fail_msg("\"%s\" > 5", cases[i].value);
    }
    assert_true(requirement_match(&l, make_map(pool, "n", "-9223372036854775808", NULL)));
    assert_false(requirement_match(&l, make_map(pool, "n", "-9223372036854775809", NULL)));
}

static void invalid_requirements(void **state) {
    struct pool *pool = *state;
    const struct {
        const char *key, *op, *values, *message;
    } cases[] = {
        {"a", "Equals", "b",
         "operator \"Equals\" of key \"a\" is none of In, NotIn, Exists, DoesNotExist, Gt, Lt"},
        {"a", NULL, "b",
         "operator \"\" of key \"a\" is none of In, NotIn, Exists, DoesNotExist, Gt, Lt"},
        {"a", "in", "b",
         "operator \"in\" of key \"a\" is none of In, NotIn, Exists, DoesNotExist, Gt, Lt"},
        {"a", "In", NULL, "In of key \"a\" needs values"},
        {"none", "NotIn", NULL, "NotIn of key \"none\" needs values"},
        {"a", "Exists", "b", "Exists of key \"a\" takes no values"},
        {"none", "DoesNotExist", "b", "DoesNotExist of key \"none\" takes no values"},
        {"n", "Gt", NULL, "Gt of key \"n\" needs one whole number"},
        {"n", "Gt", "1|2", "Gt of key \"n\" needs one whole number"},
        {"n", "Lt", "many", "Lt of key \"n\" needs one whole number"},
        {"n", "Gt", "9223372036854775808", "Gt of key \"n\" needs one whole number"},
        {"n", "Gt", "-5",
         "\"-5\" is no label value: it must be letters, digits, \"-\", \"_\" and \".\", and begin "
         "and end with a letter or digit"},
        {"a", "NotIn", "ok|not ok",
         "\"not ok\" is no label value: it must be letters, digits, \"-\", \"_\" and \".\", and "
         "begin and end with a letter or digit"},
        {NULL, "DoesNotExist", NULL, "\"\" is no label key: it is empty"},
        {"/a", "DoesNotExist", NULL,
         "\"/a\" is no label key: the prefix before its \"/\" must be a DNS name: a-z, 0-9, \"-\" "
         "and \".\""},
    };
    const struct pair *labels = make_map(pool, "a", "b", "n", "10", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct requirement r = req(pool, cases[i].key, cases[i].op, cases[i].values);
        assert_false(requirement_match(&r, labels));
        check_fails(requirement_check(&r, &err), &err, cases[i].message);
        assert_int_equal(requirement_check(&r, NULL), -EINVAL);
    }
}

static void lists(void **state) {
    struct pool *pool = *state;
    const struct pair *labels = make_map(pool, "a", "b", "c", "d", NULL);
    assert_true(requirements_match(NULL, labels));
    assert_true(requirements_match(NULL, NULL));
    assert_true(requirements_match(
        REQS(pool, req(pool, "a", "In", "b"), req(pool, "c", "Exists", NULL)), labels));
    assert_false(requirements_match(
        REQS(pool, req(pool, "a", "In", "b"), req(pool, "c", "In", "x")), labels));
    assert_false(requirements_match(
        REQS(pool, req(pool, "a", "In", "b"), req(pool, "c", "Is", "d")), labels));
}

/* --- what labels may look like --- */

static void label_keys(void **state) {
    (void)state;
    char long_name[65], long_key[320], longest_prefix[254];
    memset(long_name, 'n', 64);
    long_name[64] = 0;
    memset(longest_prefix, 'p', 253);
    longest_prefix[253] = 0;
    static const char *const good[] = {"a",     "A",    "0",    "a-b_c.D", "x/a",   "a.b-c.d/E_f",
                                       "0.1/2", "a--b", "a..b", "in",      "x--y/a"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_null(label_key_problem(view_of(good[i])));
    assert_null(label_key_problem((struct view){long_name, 63}));
    snprintf(long_key, sizeof long_key, "%s/a", longest_prefix);
    assert_null(label_key_problem(view_of(long_key)));

    static const char letters[] = "it must be letters, digits, \"-\", \"_\" and \".\", and begin "
                                  "and end with a letter or digit",
                      dns[] = "the prefix before its \"/\" must be a DNS name: a-z, 0-9, \"-\" and "
                              "\".\"";
    const struct {
        const char *key, *problem;
    } bad[] = {
        {"", "it is empty"},
        {"x/", "there is nothing after its \"/\""},
        {"/a", dns},
        {"/", dns},
        {"a/b/c", "it has more than one \"/\""},
        {"-a", letters},
        {"a-", letters},
        {".a", letters},
        {"a_", letters},
        {"a b", letters},
        {"x/-", letters},
        {"\xc3\xa9", letters},
        {"X/a", dns},
        {"x_y/a", dns},
        {"-x/a", dns},
        {"x-/a", dns},
        {".x/a", dns},
        {"x./a", dns},
        {"x..y/a", dns},
        {"x.-y/a", dns},
        {"x-.y/a", dns},
        {long_name, "its name is longer than 63 characters"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *problem = label_key_problem(view_of(bad[i].key));
        assert_non_null(problem);
        assert_string_equal(problem, bad[i].problem);
    }
    snprintf(long_key, sizeof long_key, "%sp/a", longest_prefix);
    assert_string_equal(label_key_problem(view_of(long_key)),
                        "the prefix before its \"/\" is longer than 253 characters");
}

static void label_values(void **state) {
    (void)state;
    char text[65];
    memset(text, 'v', 64);
    text[64] = 0;
    assert_null(label_value_problem(view_of("")));
    assert_null(label_value_problem(view_of("a")));
    assert_null(label_value_problem(view_of("a-b_c.D")));
    assert_null(label_value_problem((struct view){text, 63}));
    assert_string_equal(label_value_problem(view_of(text)), "it is longer than 63 characters");
    static const char *const bad[] = {"-", "-a", "a-", "a/b", "a b", " ", "a,b", "\xc3\xa9", "a\n"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_string_equal(label_value_problem(view_of(bad[i])),
                            "it must be letters, digits, \"-\", \"_\" and \".\", and begin and end "
                            "with a letter or digit");
}

/* --- selectors of objects --- */

static void everything_and_nothing(void **state) {
    struct pool *pool = *state;
    const struct label_selector empty = {0};
    const struct pair *labels = make_map(pool, "a", "b", NULL);
    assert_true(selector_match(&empty, labels));
    assert_true(selector_match(&empty, NULL));
    assert_false(selector_match(NULL, labels));
    assert_false(selector_match(NULL, NULL));
    assert_int_equal(selector_check(&empty, NULL), 0);
    assert_int_equal(selector_check(NULL, NULL), 0);
}

static void match_labels(void **state) {
    struct pool *pool = *state;
    const struct label_selector sel = {make_map(pool, "a", "b", "c", "", NULL), NULL};
    assert_true(selector_match(&sel, make_map(pool, "a", "b", "c", "", NULL)));
    assert_true(selector_match(&sel, make_map(pool, "a", "b", "c", "", "d", "e", NULL)));
    assert_false(selector_match(&sel, make_map(pool, "a", "b", NULL)));
    assert_false(selector_match(&sel, make_map(pool, "a", "b", "c", "d", NULL)));
    assert_false(selector_match(&sel, make_map(pool, "a", "B", "c", "", NULL)));
    assert_false(selector_match(&sel, NULL));
}

static void match_expressions(void **state) {
    struct pool *pool = *state;
    const struct label_selector sel = {
        make_map(pool, "app", "web", NULL),
        REQS(pool, req(pool, "tier", "In", "front|back"),
             req(pool, "canary", "DoesNotExist", NULL)),
    };
    assert_true(selector_match(&sel, make_map(pool, "app", "web", "tier", "back", NULL)));
    assert_false(selector_match(&sel, make_map(pool, "app", "web", "tier", "middle", NULL)));
    assert_false(selector_match(&sel, make_map(pool, "tier", "back", NULL)));
    assert_false(
        selector_match(&sel, make_map(pool, "app", "web", "canary", "", "tier", "back", NULL)));
}

/* One invalid part, and the whole selector matches nothing, even what the rest would match. */
static void invalid_selectors(void **state) {
    struct pool *pool = *state;
    const struct pair *labels = make_map(pool, "a", "b", "bad value", "x y", NULL);
    const struct {
        struct label_selector sel;
        const char *message;
    } cases[] = {
        {{NULL, REQS(pool, req(pool, "a", "In", "b"), req(pool, "a", "Has", "b"))},
         "matchExpressions[1]: operator \"Has\" of key \"a\" is none of In, NotIn, Exists, "
         "DoesNotExist, Gt, Lt"},
        {{NULL, REQS(pool, req(pool, "a", "Gt", "1"))},
         "matchExpressions[0]: operator \"Gt\" of key \"a\" is none of In, NotIn, Exists, "
         "DoesNotExist"},
        {{NULL, REQS(pool, req(pool, "z", "NotIn", NULL))},
         "matchExpressions[0]: NotIn of key \"z\" needs values"},
        {{make_map(pool, "bad value", "x y", NULL), NULL},
         "matchLabels: \"bad value\" is no label key: it must be letters, digits, \"-\", \"_\" and "
         "\".\", and begin and end with a letter or digit"},
        {{make_map(pool, "a", "x y", NULL), NULL},
         "matchLabels: \"x y\" is no label value: it must be letters, digits, \"-\", \"_\" and "
         "\".\", and begin and end with a letter or digit"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_false(selector_match(&cases[i].sel, labels));
        check_fails(selector_check(&cases[i].sel, &err), &err, cases[i].message);
        assert_int_equal(selector_check(&cases[i].sel, NULL), -EINVAL);
    }
}

static void node_selector_map(void **state) {
    struct pool *pool = *state;
    const struct pair *labels = make_map(pool, "disk", "ssd", "zone", "a", NULL);
    assert_true(labels_contain(labels, NULL));
    assert_true(labels_contain(NULL, NULL));
    assert_true(labels_contain(labels, make_map(pool, "disk", "ssd", NULL)));
    assert_false(labels_contain(labels, make_map(pool, "disk", "hdd", NULL)));
    assert_false(labels_contain(labels, make_map(pool, "cpu", "", NULL)));
    assert_false(labels_contain(NULL, make_map(pool, "disk", "ssd", NULL)));
}

/* --- node affinity --- */

static struct node_term term(const struct requirement *exprs, const struct requirement *fields) {
    return (struct node_term){exprs, fields};
}

static void node_terms(void **state) {
    struct pool *pool = *state;
    const struct meta node = {.name = make_str(pool, "n1"),
                              .labels = make_map(pool, "cores", "8", "zone", "a", NULL)};
    const struct requirement *in_zone = REQS(pool, req(pool, "zone", "In", "a|b")),
                             *few = REQS(pool, req(pool, "cores", "Lt", "8")),
                             *is_n1 = REQS(pool, req(pool, "metadata.name", "In", "n1")),
                             *not_n1 = REQS(pool, req(pool, "metadata.name", "NotIn", "n1")),
                             *not_n2 = REQS(pool, req(pool, "metadata.name", "NotIn", "n2"));
    struct node_term t = {0};
    assert_false(node_term_match(&t, &node));
    t = term(in_zone, NULL);
    assert_true(node_term_match(&t, &node));
    t = term(few, NULL);
    assert_false(node_term_match(&t, &node));
    t = term(NULL, is_n1);
    assert_true(node_term_match(&t, &node));
    t = term(in_zone, is_n1);
    assert_true(node_term_match(&t, &node));
    t = term(few, is_n1);
    assert_false(node_term_match(&t, &node));
    t = term(in_zone, not_n1);
    assert_false(node_term_match(&t, &node));
    t = term(NULL, not_n2);
    assert_true(node_term_match(&t, &node));
    /* Another field is as if it were empty. */
    t = term(NULL, REQS(pool, req(pool, "spec.podCIDR", "In", "10.0.0.0")));
    assert_false(node_term_match(&t, &node));
    t = term(NULL, REQS(pool, req(pool, "spec.podCIDR", "NotIn", "10.0.0.0")));
    assert_true(node_term_match(&t, &node));
    /* The name is no label, and a node name need not be a label value. */
    t = term(REQS(pool, req(pool, "metadata.name", "In", "n1")), NULL);
    assert_false(node_term_match(&t, &node));
    t = term(NULL, REQS(pool, req(pool, "metadata.name", "NotIn", "x y")));
    assert_true(node_term_match(&t, &node));
}

static void invalid_terms(void **state) {
    struct pool *pool = *state;
    const struct meta node = {.name = make_str(pool, "n1"), .labels = NULL};
    const struct {
        struct node_term term;
        const char *message;
    } cases[] = {
        {{REQS(pool, req(pool, "a", "NotIn", "b"), req(pool, "a", "Near", "b")), NULL},
         "nodeSelectorTerms[1]: matchExpressions[1]: operator \"Near\" of key \"a\" is none of In, "
         "NotIn, Exists, DoesNotExist, Gt, Lt"},
        {{NULL, REQS(pool, req(pool, "metadata.name", "Exists", NULL))},
         "nodeSelectorTerms[1]: matchFields[0]: operator \"Exists\" of field \"metadata.name\" is "
         "none of In, NotIn"},
        {{NULL, REQS(pool, req(pool, "metadata.name", "In", "n1|n2"))},
         "nodeSelectorTerms[1]: matchFields[0]: In of field \"metadata.name\" needs one value"},
        {{NULL, REQS(pool, req(pool, "metadata.name", "NotIn", NULL))},
         "nodeSelectorTerms[1]: matchFields[0]: NotIn of field \"metadata.name\" needs one value"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct node_term terms[] = {term(NULL, NULL), cases[i].term};
        const struct node_selector sel = {pool_blob(pool, &tag, terms, sizeof terms)};
        _cleanup_err_ struct err err = ERR_INIT;
        assert_false(node_term_match(&cases[i].term, &node));
        assert_false(node_selector_match(&sel, &node));
        check_fails(node_selector_check(&sel, &err), &err, cases[i].message);
        assert_int_equal(node_selector_check(&sel, NULL), -EINVAL);
    }
}

/* Terms are alternatives: a broken one leaves the others as they are. */
static void node_selectors(void **state) {
    struct pool *pool = *state;
    const struct meta node = {.name = make_str(pool, "n1"),
                              .labels = make_map(pool, "zone", "b", NULL)};
    const struct node_term terms[] = {
        term(REQS(pool, req(pool, "zone", "Near", "b")), NULL),
        term(REQS(pool, req(pool, "zone", "In", "a")), NULL),
        term(REQS(pool, req(pool, "zone", "In", "b")), NULL),
    };
    struct node_selector sel = {pool_blob(pool, &tag, terms, sizeof terms)};
    assert_true(node_selector_match(&sel, &node));
    sel.terms = pool_blob(pool, &tag, terms, 2 * sizeof terms[0]);
    assert_false(node_selector_match(&sel, &node));
    sel.terms = NULL;
    assert_false(node_selector_match(&sel, &node));
    assert_false(node_selector_match(NULL, &node));
    assert_int_equal(node_selector_check(&sel, NULL), 0);
    assert_int_equal(node_selector_check(NULL, NULL), 0);
}

/* --- what is typed --- */

static void normal_form(void **state) {
    (void)state;
    static const struct {
        const char *text, *normal;
    } cases[] = {
        {"", ""},
        {"  \t\n", ""},
        {"a=b", "a=b"},
        {"a==b", "a=b"},
        {" a = b ", "a=b"},
        {"a in (b)", "a=b"},
        {"a in(b)", "a=b"},
        {"a!=b", "a!=b"},
        {"a notin (b)", "a!=b"},
        {"a", "a"},
        {"!a", "!a"},
        {"! a", "!a"},
        {"a=", "a="},
        {"a=,b", "a=,b"},
        {"a!=", "a!="},
        {"a in ()", "a="},
        {"a in (,)", "a="},
        {"a in (b,)", "a in (,b)"},
        {"a in (,b)", "a in (,b)"},
        {"a in (c,,b)", "a in (,b,c)"},
        {"a in ( c , b , c )", "a in (b,c)"},
        {"a notin (z,y)", "a notin (y,z)"},
        {"a>1", "a>1"},
        {"a<007", "a<007"},
        {"a > 1 , b", "a>1,b"},
        {"b,a", "a,b"},
        {"a,a", "a"},
        {"a=c,a=b", "a=b,a=c"},
        {"a,a=b,a!=c,!a,a<5,a>1", "a=b,a!=c,a,!a,a>1,a<5"},
        {"a in (b,c),a in (b)", "a=b,a in (b,c)"},
        {"in=notin", "in=notin"},
        {"in in (in,notin)", "in in (in,notin)"},
        {"notin notin (in)", "notin!=in"},
        {"in", "in"},
        {"!notin,in", "in,!notin"},
        {"x.io/y=z", "x.io/y=z"},
        {"a=b,c!=d,e in (x,y),f notin (z),g,!h", "a=b,c!=d,e in (x,y),f!=z,g,!h"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_selector_ struct selector s = {0}, again = {0};
        _cleanup_str_ struct str text = STR_INIT, twice = STR_INIT;
        _cleanup_err_ struct err err = ERR_INIT;
        if (selector_parse(cases[i].text, &s, &err))
            fail_msg("%s", err_msg(&err));
        requirements_print(&text, s.list);
        assert_string_equal(str_get(&text), cases[i].normal);
        assert_int_equal(selector_parse(str_get(&text), &again, NULL), 0);
        requirements_print(&twice, again.list);
        assert_string_equal(str_get(&twice), cases[i].normal);
    }
}

static void typed_matches(void **state) {
    struct pool *pool = *state;
    const struct pair *labels = make_map(pool, "a", "b", "empty", "", "n", "7", NULL);
    static const struct {
        const char *text;
        bool match;
    } cases[] = {
        {"", true},
        {"a=b", true},
        {"a=b,n", true},
        {"a=b,!n", false},
        {"a=b,a=c", false},
        {"a in (b,c)", true},
        {"a notin (b,c)", false},
        {"z notin (b,c)", true},
        {"z!=b", true},
        {"!z", true},
        {"empty", true},
        {"empty=", true},
        {"z=", false},
        {"empty in (x,)", true},
        {"n>6,n<8", true},
        {"n>7", false},
        {"a>6", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_selector_ struct selector s = {0};
        assert_int_equal(selector_parse(cases[i].text, &s, NULL), 0);
        if (requirements_match(s.list, labels) != cases[i].match)
            fail_msg("%s", cases[i].text);
    }
}

#define LETTERS                                                                                    \
    "it must be letters, digits, \"-\", \"_\" and \".\", and begin and end with a letter or digit"

static void typed_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,", "label selector \"a,\" ends too early: expected a label key"},
        {",a", "label selector \",a\", character 1: expected a label key, not \",\""},
        {"a,,b", "label selector \"a,,b\", character 3: expected a label key, not \",\""},
        {"a=b c=d",
         "label selector \"a=b c=d\", character 5: expected \",\" or the end, not \"c\""},
        {"a b", "label selector \"a b\", character 3: expected \",\", =, !=, in, notin, > or <, "
                "not \"b\""},
        {"!", "label selector \"!\" ends too early: expected a label key"},
        {"!!a", "label selector \"!!a\", character 2: expected a label key, not \"!\""},
        {"!a=b", "label selector \"!a=b\", character 3: expected \",\" or the end, not \"=\""},
        {"a===b", "label selector \"a===b\", character 4: expected a value, not \"=\""},
        {"a=(b)", "label selector \"a=(b)\", character 3: expected a value, not \"(\""},
        {"a in b", "label selector \"a in b\", character 6: expected \"(\" and the values, not "
                   "\"b\""},
        {"a in", "label selector \"a in\" ends too early: expected \"(\" and the values"},
        {"a in (b", "label selector \"a in (b\" ends too early: expected \",\" or \")\""},
        {"a in (b c)", "label selector \"a in (b c)\", character 9: expected \",\" or \")\", not "
                       "\"c\""},
        {"a in (b=c)", "label selector \"a in (b=c)\", character 8: expected \",\" or \")\", not "
                       "\"=\""},
        {"a in (b))", "label selector \"a in (b))\", character 9: expected \",\" or the end, not "
                      "\")\""},
        {"a>x", "label selector \"a>x\", character 3: \"x\" is no whole number"},
        {"a>", "label selector \"a>\", character 3: \"\" is no whole number"},
        {"a<9223372036854775808", "label selector \"a<9223372036854775808\", character 3: "
                                  "\"9223372036854775808\" is no whole number"},
        {"a>-1", "label selector \"a>-1\", character 3: \"-1\" is no label value: " LETTERS},
        {"a=b/c", "label selector \"a=b/c\", character 3: \"b/c\" is no label value: " LETTERS},
        {"a in (b,-)",
         "label selector \"a in (b,-)\", character 9: \"-\" is no label value: " LETTERS},
        {"a,b/c/d=e",
         "label selector \"a,b/c/d=e\", character 3: \"b/c/d\" is no label key: it has "
         "more than one \"/\""},
        {"X/a=b", "label selector \"X/a=b\", character 1: \"X/a\" is no label key: the prefix "
                  "before its \"/\" must be a DNS name: a-z, 0-9, \"-\" and \".\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector s = {(void *)1, (void *)2};
        _cleanup_err_ struct err err = ERR_INIT;
        check_fails(selector_parse(cases[i].text, &s, &err), &err, cases[i].message);
        assert_ptr_equal(s.pool, (void *)1);
        assert_ptr_equal(s.list, (void *)2);
        assert_int_equal(selector_parse(cases[i].text, &s, NULL), -EINVAL);
    }
}

/* Long input: many requirements, many values. */
static void large(void **state) {
    struct pool *pool = *state;
    enum { N = 5000 };
    _cleanup_str_ struct str text = STR_INIT, back = STR_INIT;
    _cleanup_selector_ struct selector s = {0};
    str_add(&text, "v in (");
    for (int i = N - 1; i >= 0; i--)
        str_addf(&text, "x%05d%s", i, i ? "," : ")");
    for (int i = N - 1; i >= 0; i--)
        str_addf(&text, ",k%05d!=x", i);
    assert_int_equal(selector_parse(str_get(&text), &s, NULL), 0);
    assert_int_equal(list_len(s.list), N + 1);
    assert_int_equal(list_len(s.list[N].values), N);
    assert_true(requirements_match(s.list, make_map(pool, "k00007", "y", "v", "x04999", NULL)));
    assert_false(requirements_match(s.list, make_map(pool, "k00007", "x", "v", "x04999", NULL)));
    requirements_print(&back, s.list);
    assert_int_equal(back.len, text.len);
}

/* Printing takes what no parser would make: selectors of objects may be invalid. */
static void print_invalid(void **state) {
    struct pool *pool = *state;
    _cleanup_str_ struct str text = STR_INIT;
    requirements_print(&text, REQS(pool, req(pool, "a", "Near", "b|c"), req(pool, NULL, NULL, NULL),
                                   req(pool, "x", "In", NULL)));
    assert_string_equal(str_get(&text), "a Near (b,c),  (),x in ()");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(operators),
        T(numbers_of_labels),
        T(invalid_requirements),
        T(lists),
        T(label_keys),
        T(label_values),
        T(everything_and_nothing),
        T(match_labels),
        T(match_expressions),
        T(invalid_selectors),
        T(node_selector_map),
        T(node_terms),
        T(invalid_terms),
        T(node_selectors),
        T(normal_form),
        T(typed_matches),
        T(typed_errors),
        T(large),
        T(print_invalid),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
