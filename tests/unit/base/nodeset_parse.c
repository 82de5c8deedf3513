/* Tests of base/nodeset_parse: ClusterShell's documented examples, mistakes with their columns,
 * groups, random expressions against lists of names, hostile texts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/prng.h"
#include "base/vec.h"

/* Every name of the set with a blank between. */
static char *expanded(const struct nodeset *s) {
    struct str out = STR_INIT;
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(s);
    for (const char *name; (name = nodeset_next(&it));)
        str_addf(&out, "%s%s", out.len ? " " : "", name);
    return str_take(&out);
}

struct row {
    const char *text, *names;
};

static void check_rows(const struct row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        if (nodeset_parse(rows[i].text, NULL, NULL, &s, &err))
            fail_msg("%s", err_msg(&err));
        _cleanup_free_ char *names = expanded(&s);
        if (!streq(names, rows[i].names))
            fail_msg("%s is %s, not %s", rows[i].text, rows[i].names, names);
    }
}

/* What nodeset(1) and the library's documentation of ClusterShell 1.9 show, and what its NodeSet
 * says. */
static void as_clustershell(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"node[160-163]", "node160 node161 node162 node163"},
        {"dc[1-2]n[2-6/2]", "dc1n2 dc1n4 dc1n6 dc2n2 dc2n4 dc2n6"},
        {"node[0-3],node[4-5]", "node0 node1 node2 node3 node4 node5"},
        {"node[0-10]!node[2-10]", "node0 node1"},
        {"node[0-10]&node[8-13]", "node8 node9 node10"},
        {"node[0-4]^node[3-5]", "node0 node1 node2 node5"},
        {"a,b&b^c", "b c"},
        {"a!b!a", ""},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"n[8-11]", "n8 n9 n10 n11"},
        {"n[1,01,001]", "n1 n01 n001"},
        {"n[00-10/5]", "n00 n05 n10"},
        {"n[8-12/2]", "n8 n10 n12"},
        {"node-00[00-02]", "node-0000 node-0001 node-0002"},
        {"n0[1-3/2]", "n01 n03"},
        {"n[0-3]5", "n05 n15 n25 n35"},
        {"n[9-11]5", "n95 n105 n115"},
        {"w[1-3]007", "w1007 w2007 w3007"},
        {"n1[0-1]5", "n105 n115"},
        {"n[1-2]x,n2y!n1x", "n2x n2y"},
        {"[1-3]", "1 2 3"},
        {" a , b ", "a b"},
        {"n[ 1 - 3 , 5 ]", "n1 n2 n3 n5"},
        {"n[3,1,2,2-3]", "n1 n2 n3"},
        {"n[5]", "n5"},
        {"n[0-0]", "n0"},
        {"x[1-2]c0s[0-1]b1", "x1c0s0b1 x1c0s1b1 x2c0s0b1 x2c0s1b1"},
        {"foo[1-2]-ilo", "foo1-ilo foo2-ilo"},
        {"", ""},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void our_own(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"a,(b!b)", "a"},
        {"a!(b,c)&(a)", "a"},
        {"(a,b)!b,b", "a b"},
        {"((((a))))", "a"},
        {"( a , b )^( b , c )", "a c"},
        {"w1!(w[1-3]!w1)", "w1"},
        {"  ", ""},
        {"\ta\n", "a"},
        /* What no bracket stands in is a name. */
        {"1-3", "1-3"},
        {"w/2", "w/2"},
        {"ip-10-0-3-17.eu-west-1.compute.internal", "ip-10-0-3-17.eu-west-1.compute.internal"},
        {"n123456789012345678901234567890", "n123456789012345678901234567890"},
        {"n[999999999999999998-999999999999999999]", "n999999999999999998 n999999999999999999"},
        {"n0[1,12,012]", "n01 n012 n0012"},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *why; /* how the reason begins */
    } rows[] = {
        {"n[1", 2, "\"]\" is missing"},
        {"n[", 3, "\"]\" is missing"},
        {"n[1-", 5, "\"]\" is missing"},
        {"n1]", 3, "\"]\" without \"[\""},
        {"a,n[1-3]]", 9, "\"]\" without \"[\""},
        {"n[[1]]", 3, "a number is missing"},
        {"n[]", 3, "a number is missing"},
        {"n[1,]", 5, "a number is missing"},
        {"n[,1]", 3, "a number is missing"},
        {"n[-1]", 3, "a number is missing"},
        {"n[1-]", 5, "a number is missing"},
        {"n[1--3]", 5, "a number is missing"},
        {"n[a]", 3, "a number is missing"},
        {"n[1-3/]", 7, "a number is missing"},
        {"n[1-2-3]", 6, "in a bracket there are numbers"},
        {"n[1 2]", 5, "in a bracket there are numbers"},
        {"n[1x]", 4, "in a bracket there are numbers"},
        {"n[5-1]", 3, "the range ends before it begins"},
        {"n[1,5-1]", 5, "the range ends before it begins"},
        {"n[01-100]", 3, "with zeros in front"},
        {"n[1-010]", 3, "with zeros in front"},
        {"n[00-5]", 3, "with zeros in front"},
        {"n[1/2]", 4, "a step needs a range"},
        {"n[1-3/0]", 6, "a step is at least 1"},
        {"n[1-3/2]5", 3, "a range with a step has no digits behind"},
        {"n[1-3/1]5", 3, "a range with a step has no digits behind"},
        {"n1[9-10]", 4, "after a digit, both ends"},
        {"n[1-2][3-4]", 7, "something must stand between"},
        {"n[1-2]5[3-4]", 8, "something must stand between"},
        {"n[1234567890123456789]", 3, "a number in a range has at most 18 digits"},
        {"n[1-1234567890123456789]", 5, "a number in a range has at most 18 digits"},
        {"n1234567890123456789[1]", 2, "a number in a range has at most 18 digits"},
        {"n1234567890[123456789]", 13, "with the digits beside"},
        {"n[123456789]1234567890", 3, "with the digits beside"},
        {"a,,b", 3, "a name is missing before \",\""},
        {",a", 1, "a name is missing before \",\""},
        {"!a", 1, "a name is missing before \"!\""},
        {"a,", 3, "a name is missing at the end"},
        {"a & ", 5, "a name is missing at the end"},
        {"(a", 1, "\")\" is missing"},
        {"(a,(b)", 1, "\")\" is missing"},
        {"a)", 2, "\")\" without \"(\""},
        {")", 1, "\")\" without \"(\""},
        {"()", 2, "a name is missing before \")\""},
        {"(a,)", 4, "a name is missing before \")\""},
        {"a(b)", 2, "an operator is missing before \"(\""},
        {"(a)b", 4, "an operator is missing before \"b\""},
        {"(a)[1]", 4, "an operator is missing before \"[\""},
        {"a@b", 2, "an operator is missing before \"@\""},
        {"a b", 3, "between two names stands an operator"},
        {"w*", 2, "\"*\" is no wildcard"},
        {"?", 1, "\"?\" is no wildcard"},
        {"a;b", 2, "no node has \";\" in its name"},
        {"a\x01", 2, "no node has \"\\x01\" in its name"},
        {"\xff", 1, "no node has \"\\xff\" in its name"},
        {"a,\xc3\xa9", 3, "no node has \"\xc3\xa9\" in its name"},
        {"@g", 1, "groups are not available here"},
        {"a!@*", 3, "groups are not available here"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct nodeset s = {.n = 77};
        assert_int_equal(nodeset_parse(rows[i].text, NULL, NULL, &s, &err), -EINVAL);
        assert_int_equal(s.n, 77); /* untouched */
        _cleanup_str_ struct str want = STR_INIT;
        str_addf(&want, "\", column %d: %s", rows[i].column, rows[i].why);
        if (!str_starts(err_msg(&err), "node set \"") || !strstr(err_msg(&err), str_get(&want)))
            fail_msg("%s: %s", rows[i].text, err_msg(&err));
        /* The words need not be wanted. */
        assert_int_equal(nodeset_parse(rows[i].text, NULL, NULL, &s, NULL), -EINVAL);
    }
}

static void long_texts_are_quoted_in_part(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT;
    struct nodeset s;
    for (int i = 0; i < 1000; i++)
        str_addf(&text, "w%d,", i);
    size_t column = text.len + 2;
    str_add(&text, "x*");
    for (int i = 0; i < 1000; i++)
        str_addf(&text, ",w%d", i);
    assert_int_equal(nodeset_parse(str_get(&text), NULL, NULL, &s, &err), -EINVAL);
    assert_true(strlen(err_msg(&err)) < 250);
    assert_non_null(strstr(err_msg(&err), "w999,x*,w0,"));
    char place[40];
    snprintf(place, sizeof place, "...\", column %zu: ", column);
    assert_non_null(strstr(err_msg(&err), place));
}

/* ---- groups ---- */

struct asked {
    struct str calls;
    int rc;
};

/* Three nodes in every group, with the group's name. */
static int resolve(void *arg, const char *source, const char *group, struct nodeset *out,
                   struct err *err) {
    struct asked *asked = arg;
    str_addf(&asked->calls, "[%s|%s]", source ? source : "", group);
    if (asked->rc)
        return err_set(err, -asked->rc, "there is no group %s", group);
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%s-[1-3]", streq(group, "*") ? "all" : group);
    return nodeset_parse(str_get(&text), NULL, NULL, out, err);
}

static void groups(void **state) {
    (void)state;
    static const struct {
        const char *text, *calls, *names;
    } rows[] = {
        {"@gpu", "[|gpu]", "gpu-1 gpu-2 gpu-3"},
        {"@*", "[|*]", "all-1 all-2 all-3"},
        {"@rack:*!all-2", "[rack|*]", "all-1 all-3"},
        {"@slurm:big,a", "[slurm|big]", "a big-1 big-2 big-3"},
        {"a,@b!b-[1-2]", "[|b]", "a b-3"},
        {"@c[1-3/2]&c1-1", "[|c1][|c3]", "c1-1"},
        {"(@a)!@a", "[|a][|a]", ""},
        {"@run:7:failed!x", "[run|7:failed]", "7:failed-1 7:failed-2 7:failed-3"},
        {"@label:topology.kubernetes.io/zone=a&x", "[label|topology.kubernetes.io/zone=a]", ""},
        {"@src[1-2]:g1&x", "[src1|g1][src2|g1]", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        struct asked asked = {.calls = STR_INIT};
        if (nodeset_parse(rows[i].text, resolve, &asked, &s, &err))
            fail_msg("%s", err_msg(&err));
        _cleanup_free_ char *names = expanded(&s);
        assert_string_equal(str_get(&asked.calls), rows[i].calls);
        assert_string_equal(names, rows[i].names);
        str_done(&asked.calls);
    }
}

static void wrong_groups(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"a,@", "column 3: a group is @NAME or @SOURCE:NAME"},
        {"@@x", "column 1: a group is @NAME or @SOURCE:NAME"},
        {"@:x", "column 1: a group is @NAME or @SOURCE:NAME"},
        {"@x:", "column 1: a group is @NAME or @SOURCE:NAME"},
        {"@!a", "column 1: a group is @NAME or @SOURCE:NAME"},
        {"@gp*", "column 4: \"*\" is no wildcard"},
        {"@*x", "column 3: an operator is missing before \"x\""},
        {"@r[1-1001]", "column 1: more than 1000 groups at once"},
        {"@r[1-", "column 6: \"]\" is missing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct asked asked = {.calls = STR_INIT};
        struct nodeset s;
        assert_int_equal(nodeset_parse(rows[i].text, resolve, &asked, &s, &err), -EINVAL);
        if (!strstr(err_msg(&err), rows[i].why))
            fail_msg("%s: %s", rows[i].text, err_msg(&err));
        str_done(&asked.calls);
    }
    _cleanup_err_ struct err err = ERR_INIT;
    struct asked asked = {.calls = STR_INIT, .rc = -ENOENT};
    struct nodeset s;
    assert_int_equal(nodeset_parse("a,@gone", resolve, &asked, &s, &err), -ENOENT);
    assert_string_equal(err_msg(&err), "node set \"a,@gone\", column 3: there is no group gone");
    str_done(&asked.calls);
}

/* ---- against lists ---- */

struct list {
    VEC(char *) names;
};

static bool list_has(const struct list *l, const char *name) {
    for (size_t i = 0; i < l->names.len; i++)
        if (streq(l->names.p[i], name))
            return true;
    return false;
}

static void list_add(struct list *l, const char *name) {
    if (!list_has(l, name))
        *vec_push(&l->names) = xstrdup(name);
}

static void list_done(struct list *l) {
    for (size_t i = 0; i < l->names.len; i++)
        free(l->names.p[i]);
    vec_done(&l->names);
}

static void list_apply(struct list *a, char op, const struct list *b) {
    struct list out = {.names = VEC_INIT};
    for (size_t i = 0; i < a->names.len; i++)
        if (op == ',' || list_has(b, a->names.p[i]) == (op == '&'))
            list_add(&out, a->names.p[i]);
    for (size_t i = 0; (op == ',' || op == '^') && i < b->names.len; i++)
        if (op == ',' || !list_has(a, b->names.p[i]))
            list_add(&out, b->names.p[i]);
    list_done(a);
    *a = out;
}

/* A bracket with numbers below 13, and the numbers as written. */
static void random_bracket(struct prng *r, struct str *text, struct list *numbers) {
    int items = (int)prng_range(r, 1, 4);
    str_addc(text, '[');
    for (int i = 0; i < items; i++) {
        int from = (int)prng_range(r, 0, 13), to = (int)prng_range(r, from, 14);
        int step = prng_range(r, 0, 3) ? 1 : (int)prng_range(r, 1, 4);
        int width = (int)prng_range(r, 0, 3);
        if (width == 1 && prng_range(r, 0, 2))
            to = from;
        str_addf(text, "%s%0*d", i ? "," : "", width, from);
        if (to > from || !prng_range(r, 0, 4)) {
            str_addf(text, "-%0*d", width, to);
            if (step > 1)
                str_addf(text, "/%d", step);
        } else
            to = from;
        for (int v = from; v <= to; v += step) {
            char digits[16];
            snprintf(digits, sizeof digits, "%0*d", width, v);
            list_add(numbers, digits);
        }
    }
    str_addc(text, ']');
}

static void random_pattern(struct prng *r, struct str *text, struct list *names) {
    static const char *const words[] = {"n", "m-", "n.x"};
    const char *word = words[prng_range(r, 0, 3)];
    struct list a = {.names = VEC_INIT}, b = {.names = VEC_INIT};
    str_add(text, word);
    int numbers = (int)prng_range(r, 0, 3);
    list_add(&b, "");
    if (numbers == 0)
        list_add(&a, "");
    if (numbers > 0)
        random_bracket(r, text, &a);
    if (numbers > 1) {
        str_add(text, "z");
        list_done(&b);
        random_bracket(r, text, &b);
    }
    for (size_t i = 0; i < a.names.len; i++)
        for (size_t j = 0; j < b.names.len; j++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s%s%s", word, a.names.p[i], numbers > 1 ? "z" : "",
                     b.names.p[j]);
            list_add(names, name);
        }
    list_done(&a);
    list_done(&b);
}

static void random_set(struct prng *r, int depth, struct str *text, struct list *names) {
    int terms = (int)prng_range(r, 1, 5);
    for (int i = 0; i < terms; i++) {
        static const char ops[] = ",,!&^";
        char op = i ? ops[prng_range(r, 0, 5)] : ',';
        struct list more = {.names = VEC_INIT};
        if (i)
            str_addf(text, prng_range(r, 0, 4) ? "%c" : " %c ", op);
        if (depth && !prng_range(r, 0, 3)) {
            str_addc(text, '(');
            random_set(r, depth - 1, text, &more);
            str_addc(text, ')');
        } else
            random_pattern(r, text, &more);
        list_apply(names, op, &more);
        list_done(&more);
    }
}

static void random_expressions(void **state) {
    (void)state;
    struct prng r = {.state = 42};
    for (int round = 0; round < 600; round++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str text = STR_INIT;
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        struct list want = {.names = VEC_INIT};
        random_set(&r, 2, &text, &want);
        if (nodeset_parse(str_get(&text), NULL, NULL, &s, &err))
            fail_msg("%s", err_msg(&err));
        if (nodeset_count(&s) != want.names.len)
            fail_msg("%s: not %zu names", str_get(&text), want.names.len);
        for (size_t i = 0; i < want.names.len; i++)
            if (!nodeset_contains(&s, want.names.p[i]))
                fail_msg("%s lacks %s", str_get(&text), want.names.p[i]);
        list_done(&want);
    }
}

/* ---- hostile texts ---- */

static void nesting_is_limited(void **state) {
    (void)state;
    for (int deep = NODESET_NESTED_MAX; deep <= 100000; deep += 100000 - NODESET_NESTED_MAX) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str text = STR_INIT;
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        for (int i = 0; i < deep; i++)
            str_addc(&text, '(');
        str_addc(&text, 'a');
        for (int i = 0; i < deep; i++)
            str_addc(&text, ')');
        int rc = nodeset_parse(str_get(&text), NULL, NULL, &s, &err);
        assert_int_equal(rc, deep > NODESET_NESTED_MAX ? -EINVAL : 0);
        assert_true(!rc || strstr(err_msg(&err), "column 65: more than 64 parentheses"));
    }
}

static void names_are_not_too_long(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    for (int i = 0; i < NODESET_NAME_MAX - 3; i++)
        str_addc(&text, 'a');
    str_add(&text, "[1-999]");
    assert_int_equal(nodeset_parse(str_get(&text), NULL, NULL, &s, &err), 0);
    assert_int_equal(nodeset_count(&s), 999);
    str_add(&text, "b");
    struct nodeset none;
    assert_int_equal(nodeset_parse(str_get(&text), NULL, NULL, &none, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "column 1: a name of a node has at most 253"));
}

/* Short texts that are a lot of work: they end, and soon. */
static void work_is_bounded(void **state) {
    (void)state;
    static const char *const refused[] = {
        "n[0-99999999999/2]",
        "n[0-9999999]5",
        "a[0-1999998/2],b1,b[0-1999998/2]",
        "a[0-199998/2]b[0-199998/2]",
        "a[0-1998/2]b[0-1998/2]^a[1-1999/2]b[1-1999/2]",
        "a[0-99999]b[0-199998/2]^a[0-199998/2]b[0-99999]",
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct nodeset s;
        assert_int_equal(nodeset_parse(refused[i], NULL, NULL, &s, &err), -EFBIG);
        assert_true(str_starts(err_msg(&err), "node set \""));
        assert_non_null(strstr(err_msg(&err), "more than 1000000 separate"));
    }
    /* Nothing comes of any of these, but each is work. */
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT;
    struct nodeset s;
    str_add(&text, "a1");
    for (int i = 0; i < 5000; i++)
        str_addf(&text, "&%c[0-1999998/2]", "bcdefg"[i % 6]);
    assert_int_equal(nodeset_parse(str_get(&text), NULL, NULL, &s, &err), -EFBIG);
}

static void huge_sets_are_cheap(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    assert_int_equal(
        nodeset_parse("n[0-999999999999]!n[5-7]&n[1-99999999999]", NULL, NULL, &s, &err), 0);
    assert_int_equal(nodeset_count(&s), UINT64_C(99999999999) - 3);
    assert_false(nodeset_contains(&s, "n6"));
    assert_true(nodeset_contains(&s, "n99999999999"));
    assert_false(nodeset_contains(&s, "n0"));
}

static void a_long_list(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    for (int i = 0; i < 100000; i++)
        str_addf(&text, "%sw%dx[1-2]", i ? "," : "", i * 7919 % 100000);
    assert_int_equal(nodeset_parse(str_get(&text), NULL, NULL, &s, &err), 0);
    assert_int_equal(nodeset_count(&s), 200000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_clustershell),
        cmocka_unit_test(our_own),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(long_texts_are_quoted_in_part),
        cmocka_unit_test(groups),
        cmocka_unit_test(wrong_groups),
        cmocka_unit_test(random_expressions),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(names_are_not_too_long),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(huge_sets_are_cheap),
        cmocka_unit_test(a_long_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
