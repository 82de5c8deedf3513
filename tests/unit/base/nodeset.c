/* Tests of base/nodeset: names, algebra against plain lists of names, order, limits. */
#include "base/nodeset.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"

static void add(struct nodeset *s, const char *name) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (nodeset_add(s, name, &err))
        fail_msg("%s", err_msg(&err));
}

static void names(void **state) {
    (void)state;
    static const char *const good[] = {
        "w1",
        "a",
        "0",
        "ip-10-0-3-17.eu-west-1.compute.internal",
        "gke-pool-1a2b3c4d-x7k2",
        "node/w001",
        "a_b",
        "A",
        "123456789012345678",
        "1234567890123456789012345678901234567890",
        "...",
        "-",
    };
    static const char *const bad[] = {"",    " ",   "a b",  "a,b",   "a!",       "a&b", "^",
                                      "(a)", "a)",  "a[1]", "]",     "@a",       "a@b", "a*",
                                      "a?",  "a\n", "\x01", "a\x7f", "\xc3\xa9", "a\"", "a\\"};
    char longest[NODESET_NAME_MAX + 2];
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        assert_true(nodeset_valid_name(good[i]));
        assert_false(nodeset_contains(&s, good[i]));
        add(&s, good[i]);
        assert_true(nodeset_contains(&s, good[i]));
        assert_int_equal(nodeset_count(&s), 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct nodeset s = NODESET_INIT;
        assert_false(nodeset_valid_name(bad[i]));
        assert_int_equal(nodeset_add(&s, bad[i], &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "is no name of a node"));
        assert_false(nodeset_contains(&s, bad[i]));
        assert_true(nodeset_empty(&s));
    }
    for (int digits = 0; digits < 2; digits++) {
        memset(longest, digits ? '7' : 'a', sizeof longest);
        longest[NODESET_NAME_MAX + 1] = '\0';
        assert_false(nodeset_valid_name(longest));
        longest[NODESET_NAME_MAX] = '\0';
        assert_true(nodeset_valid_name(longest));
    }
    /* As many numbers as there can be. */
    for (size_t i = 0; i < NODESET_NAME_MAX; i++)
        longest[i] = i % 2 ? 'a' : '1';
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    add(&s, longest);
    assert_true(nodeset_contains(&s, longest));
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(&s);
    assert_string_equal(nodeset_next(&it), longest);
    assert_null(nodeset_next(&it));
}

static void zeros_count(void **state) {
    (void)state;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    add(&s, "w01");
    assert_true(nodeset_contains(&s, "w01"));
    assert_false(nodeset_contains(&s, "w1"));
    assert_false(nodeset_contains(&s, "w001"));
    assert_false(nodeset_contains(&s, "w"));
    assert_false(nodeset_contains(&s, "w01x"));
    assert_false(nodeset_contains(&s, "v01"));
}

/* The order is ClusterShell's: NodeSet("b1,a10,a9,a09,a,a-1,ab") goes through them like this. */
static void order(void **state) {
    (void)state;
    static const char *const given[] = {"b1", "a10", "a9", "a09", "a", "a-1", "ab", "a9", "a100"};
    static const char *const want[] = {"a", "a9", "a09", "a10", "a100", "a-1", "ab", "b1"};
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        add(&s, given[i]);
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(&s);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(nodeset_next(&it), want[i]);
    assert_null(nodeset_next(&it));
    assert_null(nodeset_next(&it));
    char **all;
    size_t n;
    assert_int_equal(nodeset_expand(&s, &all, &n, NULL), 0);
    assert_int_equal(n, ARRAY_LEN(want));
    for (size_t i = 0; i < n; i++)
        assert_string_equal(all[i], want[i]);
    assert_null(all[n]);
    free(all);
}

static void left_in_the_middle(void **state) {
    (void)state;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    add(&s, "a1b2");
    add(&s, "a1b3");
    struct nodeset_iter it = nodeset_iter(&s);
    assert_string_equal(nodeset_next(&it), "a1b2");
    nodeset_iter_done(&it); /* the leak checker looks on */
}

static void the_empty_set(void **state) {
    (void)state;
    struct nodeset none = NODESET_INIT, copy;
    char **all;
    size_t n;
    assert_true(nodeset_empty(&none));
    assert_int_equal(nodeset_count(&none), 0);
    assert_false(nodeset_contains(&none, "a"));
    assert_int_equal(nodeset_expand(&none, &all, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_null(all[0]);
    free(all);
    nodeset_copy(&none, &copy);
    assert_true(nodeset_equal(&none, &copy));
    for (int op = NODESET_UNION; op <= NODESET_XOR; op++) {
        assert_int_equal(nodeset_combine(&none, (enum nodeset_op)op, &copy, NULL), 0);
        assert_true(nodeset_empty(&none));
    }
    nodeset_done(&none);
    nodeset_done(&none);
}

/* ---- against lists ---- */

/* All names there are in this small world: three patterns, padded and not. */
enum { WORLD = 48 };
static const char *world_name(int i, char buf[32]) {
    if (i < 12)
        snprintf(buf, 32, "n%d", i);
    else if (i < 24)
        snprintf(buf, 32, "n%03d", i - 12);
    else if (i < 40)
        snprintf(buf, 32, "r%d-s%d", (i - 24) / 4, (i - 24) % 4);
    else
        snprintf(buf, 32, "%c", 'a' + i - 40);
    return buf;
}

static void random_set(struct prng *r, bool bits[WORLD], struct nodeset *out) {
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    int percent = (int)prng_range(r, 0, 101);
    for (int i = 0; i < WORLD; i++) {
        char buf[32];
        struct nodeset one = NODESET_INIT;
        bits[i] = prng_range(r, 0, 100) < percent;
        if (!bits[i])
            continue;
        add(&one, world_name(i, buf));
        assert_int_equal(nodeset_sum_add(&sum, &one, NULL), 0);
        assert_true(nodeset_empty(&one));
    }
    assert_int_equal(nodeset_sum_take(&sum, out, NULL), 0);
}

static void check_set(const struct nodeset *s, const bool bits[WORLD]) {
    uint64_t count = 0;
    for (int i = 0; i < WORLD; i++) {
        char buf[32];
        assert_int_equal(nodeset_contains(s, world_name(i, buf)), bits[i]);
        count += bits[i];
    }
    assert_int_equal(nodeset_count(s), count);
    uint64_t seen = 0;
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(s);
    for (const char *name; (name = nodeset_next(&it)); seen++)
        assert_true(nodeset_contains(s, name));
    assert_int_equal(seen, count);
}

static void algebra(void **state) {
    (void)state;
    struct prng r = {.state = 11};
    for (int round = 0; round < 400; round++) {
        bool a[WORLD], b[WORLD], want[WORLD];
        _cleanup_nodeset_ struct nodeset x = NODESET_INIT, y = NODESET_INIT, copy = NODESET_INIT;
        random_set(&r, a, &x);
        random_set(&r, b, &y);
        check_set(&x, a);
        nodeset_copy(&x, &copy);
        int op = round % 4;
        for (int i = 0; i < WORLD; i++)
            want[i] = op == NODESET_UNION          ? a[i] || b[i]
                      : op == NODESET_DIFFERENCE   ? a[i] && !b[i]
                      : op == NODESET_INTERSECTION ? a[i] && b[i]
                                                   : a[i] != b[i];
        assert_int_equal(nodeset_combine(&x, (enum nodeset_op)op, &y, NULL), 0);
        check_set(&x, want);
        check_set(&y, b); /* the other one stays */
        check_set(&copy, a);
        assert_int_equal(nodeset_equal(&copy, &y), !memcmp(a, b, sizeof a));
    }
}

static void with_itself(void **state) {
    (void)state;
    static const uint64_t counts[] = {2, 0, 2, 0};
    for (int op = NODESET_UNION; op <= NODESET_XOR; op++) {
        _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
        add(&s, "a1");
        add(&s, "b");
        assert_int_equal(nodeset_combine(&s, (enum nodeset_op)op, &s, NULL), 0);
        assert_int_equal(nodeset_count(&s), counts[op]);
    }
}

static void wrappers(void **state) {
    (void)state;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT, a = NODESET_INIT, b = NODESET_INIT;
    add(&a, "a");
    add(&b, "b");
    assert_int_equal(nodeset_union(&s, &a, NULL) | nodeset_union(&s, &b, NULL), 0);
    assert_int_equal(nodeset_count(&s), 2);
    assert_int_equal(nodeset_xor(&s, &a, NULL), 0);
    assert_true(nodeset_equal(&s, &b));
    assert_int_equal(nodeset_intersection(&s, &b, NULL), 0);
    assert_true(nodeset_equal(&s, &b));
    assert_int_equal(nodeset_difference(&s, &b, NULL), 0);
    assert_true(nodeset_empty(&s));
}

/* ---- many ---- */

static void many_names(void **state) {
    (void)state;
    struct prng r = {.state = 3};
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    enum { N = 20000, RANGE = 30000 };
    bool *in = xcalloc(RANGE, sizeof *in);
    uint64_t count = 0;
    char name[32];
    for (int i = 0; i < N; i++) {
        struct nodeset one = NODESET_INIT;
        int v = (int)prng_range(&r, 0, RANGE);
        count += !in[v];
        in[v] = true;
        snprintf(name, sizeof name, "rack%d-node%03d", v / 1000, v % 1000);
        add(&one, name);
        assert_int_equal(nodeset_sum_add(&sum, &one, NULL), 0);
    }
    assert_int_equal(nodeset_sum_take(&sum, &s, NULL), 0);
    assert_int_equal(nodeset_count(&s), count);
    for (int v = 0; v < RANGE; v++) {
        snprintf(name, sizeof name, "rack%d-node%03d", v / 1000, v % 1000);
        assert_int_equal(nodeset_contains(&s, name), in[v]);
    }
    free(in);
}

static void sums_begin_anew(void **state) {
    (void)state;
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    for (int round = 0; round < 3; round++) {
        _cleanup_nodeset_ struct nodeset out = NODESET_INIT;
        for (int i = 0; i <= round; i++) {
            struct nodeset one = NODESET_INIT;
            char name[2] = {(char)('a' + i), 0};
            add(&one, name);
            assert_int_equal(nodeset_sum_add(&sum, &one, NULL), 0);
        }
        assert_int_equal(nodeset_sum_take(&sum, &out, NULL), 0);
        assert_int_equal(nodeset_count(&out), round + 1);
    }
}

static void expansion_is_limited(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT, more = NODESET_INIT;
    char **all = NULL;
    size_t n = 7;
    assert_int_equal(nodeset_parse("n[0-999999]", NULL, NULL, &s, &err), 0);
    assert_int_equal(nodeset_expand(&s, &all, &n, &err), 0);
    assert_int_equal(n, NODESET_EXPAND_MAX);
    assert_string_equal(all[0], "n0");
    assert_string_equal(all[n - 1], "n999999");
    mem_clear(&all);
    add(&s, "a");
    assert_int_equal(nodeset_expand(&s, &all, &n, &err), -EFBIG);
    assert_null(all);
    assert_string_equal(err_msg(&err), "the set has 1000001 names, and at most 1000000 can be "
                                       "written out: is a range too long?");
    assert_int_equal(nodeset_parse("a[0-999999999999999999]b[0-99]", NULL, NULL, &more, &err), 0);
    assert_int_equal(nodeset_count(&more), UINT64_MAX);
    assert_int_equal(nodeset_expand(&more, &all, &n, &err), -EFBIG);
    assert_non_null(strstr(err_msg(&err), "at least 18446744073709551615 names"));
    assert_true(nodeset_contains(&more, "a123456789b42"));
    assert_false(nodeset_contains(&more, "a123456789b042"));
}

/* What fails leaves the set as it was. */
static void too_complicated(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT, other = NODESET_INIT;
    assert_int_equal(nodeset_parse("a[0-1399998/2]", NULL, NULL, &s, &err), 0);
    assert_int_equal(nodeset_parse("b[0-1399998/2]", NULL, NULL, &other, &err), 0);
    assert_int_equal(nodeset_union(&s, &other, &err), -EFBIG);
    assert_non_null(strstr(err_msg(&err), "too complicated"));
    assert_int_equal(nodeset_count(&s), 700000);
    assert_int_equal(nodeset_difference(&s, &other, &err), 0);
    assert_int_equal(nodeset_count(&s), 700000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(zeros_count),
        cmocka_unit_test(order),
        cmocka_unit_test(left_in_the_middle),
        cmocka_unit_test(the_empty_set),
        cmocka_unit_test(algebra),
        cmocka_unit_test(with_itself),
        cmocka_unit_test(wrappers),
        cmocka_unit_test(many_names),
        cmocka_unit_test(sums_begin_anew),
        cmocka_unit_test(expansion_is_limited),
        cmocka_unit_test(too_complicated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
