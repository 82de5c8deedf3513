/* Tests of base/nodeset_fold: known texts, and that whatever is folded parses back to the same
 * names. */
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

/* Names with blanks between them -> folded text. */
static void check_fold(const char *names, const char *want) {
    _cleanup_free_ char *copy = xstrdup(names);
    _cleanup_str_ struct str out = STR_INIT;
    VEC(const char *) list = VEC_INIT;
    char *save = NULL;
    for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save))
        *vec_push(&list) = name;
    nodeset_fold(list.p, list.len, &out);
    assert_string_equal(str_get(&out), want);
    vec_done(&list);
}

/* As NodeSet of ClusterShell 1.9 folds them. */
static void as_clustershell(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"a", "a"},
        {"node3 node6 node1 node2 node7 node5", "node[1-3,5-7]"},
        {"dc1n2 dc2n2 dc1n1 dc2n1", "dc[1-2]n[1-2]"},
        {"w1 w1 w1", "w1"},
        {"w1 w3", "w[1,3]"},
        {"w1 w2", "w[1-2]"},
        {"n8 n9 n10 n11", "n[8-11]"},
        {"n08 n09 n10 n11", "n[08-11]"},
        {"n9 n09 n10", "n[9,09-10]"},
        {"n1 n01 n001", "n[1,01,001]"},
        {"n99 n100 n101", "n[99-101]"},
        {"n099 n100 n101", "n[099-101]"},
        {"n98 n99 n0100", "n[98-99,0100]"},
        {"n0 n1", "n[0-1]"},
        {"n00 n0 n1", "n[0-1,00]"},
        {"a9 a10 a b1 a09", "a,a[9,09-10],b1"},
        {"x1y1 x1y2 x2y1", "x1y[1-2],x2y1"},
        {"foo1-ilo foo2-ilo foo1", "foo1,foo[1-2]-ilo"},
        {"ip-10-0-3-17.eu-west-1.compute.internal ip-10-0-3-18.eu-west-1.compute.internal "
         "ip-10-0-4-18.eu-west-1.compute.internal",
         "ip-10-0-3-[17-18].eu-west-1.compute.internal,ip-10-0-4-18.eu-west-1.compute.internal"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_fold(rows[i][0], rows[i][1]);
}

static void several_numbers(void **state) {
    (void)state;
    /* Rows that are the same are put together, whether they are neighbours or not. */
    check_fold("r1n1 r1n2 r2n5 r3n1 r3n2", "r[1,3]n[1-2],r2n5");
    /* Zones and instances: only what varies is in brackets. */
    check_fold("gke-a1-pool-7-x1 gke-a1-pool-7-x2", "gke-a1-pool-7-x[1-2]");
    check_fold("a1b1c1 a1b1c2 a1b2c1 a1b2c2 a2b1c1 a2b1c2 a2b2c1 a2b2c2", "a[1-2]b[1-2]c[1-2]");
    /* A corner is missing: exact all the same. */
    check_fold("a1b1c1 a1b1c2 a1b2c1 a1b2c2 a2b1c1 a2b1c2 a2b2c1",
               "a1b[1-2]c[1-2],a2b1c[1-2],a2b2c1");
    /* Too many digits for a number: text. */
    check_fold("x1234567890123456789-1 x1234567890123456789-2", "x1234567890123456789-[1-2]");
    check_fold("n123456789012345678 n123456789012345679",
               "n[123456789012345678-123456789012345679]");
}

static void strangers_come_last(void **state) {
    (void)state;
    static const char *const names[] = {"b c", "w2", "a,b", "w1", "", "x\033[31m", "a,b", "w[1]"};
    _cleanup_str_ struct str out = STR_INIT;
    str_add(&out, "nodes: ");
    nodeset_fold(names, ARRAY_LEN(names), &out);
    assert_string_equal(str_get(&out), "nodes: w[1-2],,a,b,b c,w[1],x\\x1b[31m");
}

static void appends(void **state) {
    (void)state;
    static const char *const names[] = {"w2", "w1"};
    _cleanup_str_ struct str out = STR_INIT;
    str_add(&out, "one: ");
    nodeset_fold(names, 2, &out);
    str_add(&out, ", none: ");
    nodeset_fold(NULL, 0, &out);
    str_add(&out, "; two: ");
    nodeset_fold(names, 1, &out);
    assert_string_equal(str_get(&out), "one: w[1-2], none: ; two: w2");
}

/* ---- there and back ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the text are exactly those of the list. */
static void check_back(char **names, size_t n) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT, again = STR_INIT;
    _cleanup_nodeset_ struct nodeset s = NODESET_INIT;
    _cleanup_free_ char **back = NULL;
    size_t n_back, distinct = 0;
    nodeset_fold((const char *const *)names, n, &text);
    if (nodeset_parse(str_get(&text), NULL, NULL, &s, &err))
        fail_msg("%s", err_msg(&err));
    nodeset_print(&s, &again);
    assert_string_equal(str_get(&text), str_get(&again));
    assert_int_equal(nodeset_expand(&s, &back, &n_back, &err), 0);
    qsort(names, n, sizeof *names, by_text);
    qsort(back, n_back, sizeof *back, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i && streq(names[i], names[i - 1]))
            continue;
        if (distinct >= n_back || !streq(names[i], back[distinct]))
            fail_msg("%s: %s is wrong or missing", str_get(&text), names[i]);
        distinct++;
    }
    assert_int_equal(distinct, n_back);
}

/* Any characters of a DNS subdomain, with many digits. */
static char *random_subdomain(struct prng *r) {
    static const char some[] = "0019ab-.", all[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    bool few = prng_range(r, 0, 4);
    size_t len = (size_t)prng_range(r, 1, few ? 8 : 40);
    char *name = xcalloc(len + 1, 1);
    for (size_t i = 0; i < len; i++)
        name[i] = few ? some[prng_range(r, 0, 8)] : all[prng_range(r, 0, 38)];
    return name;
}

/* What clusters are called by. */
static char *random_node(struct prng *r, int kind) {
    int a = (int)prng_range(r, 0, 4), b = (int)prng_range(r, 0, 12), c = (int)prng_range(r, 0, 3);
    switch (kind) {
    case 0:
        return xasprintf("ip-10-0-%d-%d.eu-west-%d.compute.internal", a, b, c);
    case 1:
        return xasprintf("w%03d", b);
    case 2:
        return xasprintf("x%dc%ds%db%dn%d", 3000 + a, c, b, a % 2, b % 4);
    case 3:
        return xasprintf("w%0*d", c + 1, b);
    default:
        return xasprintf("gke-pool-%d-%x-%x", a, b, (unsigned)prng_range(r, 0, 400));
    }
}

static void there_and_back(void **state) {
    (void)state;
    struct prng r = {.state = 99};
    for (int round = 0; round < 1500; round++) {
        int kind = (int)prng_range(&r, 0, 9);
        size_t n = (size_t)prng_range(&r, 1, 60);
        char **names = xcalloc(n, sizeof *names);
        for (size_t i = 0; i < n; i++)
            names[i] = kind > 4 ? random_subdomain(&r) : random_node(&r, kind);
        check_back(names, n);
        for (size_t i = 0; i < n; i++)
            free(names[i]);
        free(names);
    }
}

/* A list in any order folds to the same text, once or twice in it. */
static void order_does_not_matter(void **state) {
    (void)state;
    struct prng r = {.state = 8};
    for (int round = 0; round < 100; round++) {
        _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
        char *made[20];
        const char *names[40];
        for (size_t i = 0; i < 20; i++)
            names[i] = names[20 + i] = made[i] = random_node(&r, round % 5);
        nodeset_fold(names, 20, &first);
        for (size_t i = 39; i > 0; i--) {
            size_t j = (size_t)prng_range(&r, 0, (int64_t)i + 1);
            const char *swap = names[i];
            names[i] = names[j];
            names[j] = swap;
        }
        nodeset_fold(names, 40, &second);
        assert_string_equal(str_get(&first), str_get(&second));
        for (size_t i = 0; i < 20; i++)
            free(made[i]);
    }
}

static void a_large_fleet(void **state) {
    (void)state;
    enum { N = 150000 };
    char **names = xcalloc(N, sizeof *names);
    for (int i = 0; i < N; i++)
        names[i] = xasprintf("nid%06d", N - i);
    check_back(names, N);
    _cleanup_str_ struct str out = STR_INIT;
    nodeset_fold((const char *const *)names, 5000, &out);
    assert_string_equal(str_get(&out), "nid[000001-005000]"); /* sorted by check_back() */
    for (int i = 0; i < N; i++)
        free(names[i]);
    free(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_clustershell),     cmocka_unit_test(several_numbers),
        cmocka_unit_test(strangers_come_last), cmocka_unit_test(appends),
        cmocka_unit_test(there_and_back),      cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(a_large_fleet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
