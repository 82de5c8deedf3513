/* Tests of model/pdbs.c: which budgets hold which pods, while both come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/make.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/str.h"
#include "model/pdbs.h"
#include "model/selector.h"

/* The tags under which the decoders keep such blobs do not matter here, only what they release. */
static const struct field requirement_fields[] = {
    {.json = "key", .pb = 1, .kind = FIELD_STR, .off = offsetof(struct requirement, key)},
    {.json = "operator", .pb = 2, .kind = FIELD_STR, .off = offsetof(struct requirement, op)},
    {.json = "values", .pb = 3, .kind = FIELD_STRS, .off = offsetof(struct requirement, values)},
};
static const struct type type_requirement = {
    .name = "requirement",
    .size = sizeof(struct requirement),
    .n_fields = ARRAY_LEN(requirement_fields),
    .fields = requirement_fields,
};
static const struct field selector_fields[] = {
    {.json = "labels", .pb = 1, .kind = FIELD_MAP, .off = offsetof(struct label_selector, labels)},
    {.json = "exprs",
     .pb = 2,
     .kind = FIELD_LIST,
     .off = offsetof(struct label_selector, exprs),
     .type = &type_requirement},
};
static const struct type type_selector = {
    .name = "selector",
    .size = sizeof(struct label_selector),
    .n_fields = ARRAY_LEN(selector_fields),
    .fields = selector_fields,
};

struct fixture {
    struct pool *pool;
    struct store *pods, *budgets;
    struct pdbs *pdbs;
    int version;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->pods = store_new(&kind_pod, f->pool);
    f->budgets = store_new(&kind_pdb, f->pool);
    f->pdbs = pdbs_new(f->pods, f->budgets);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    pdbs_free(f->pdbs);
    store_free(f->pods);
    store_free(f->budgets);
    size_t left = pool_stats(f->pool).entries;
    pool_free(f->pool);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static void set_meta(struct fixture *f, struct meta *meta, const char *ns, const char *name) {
    char version[16];
    snprintf(version, sizeof version, "%d", ++f->version);
    meta->ns = make_str(f->pool, ns);
    meta->name = make_str(f->pool, name);
    meta->version = make_str(f->pool, version);
}

/* Takes the labels over. */
static void put_pod(struct fixture *f, const char *ns, const char *name,
                    const struct pair *labels) {
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    set_meta(f, &pod->meta, ns, name);
    pod->meta.labels = labels;
    store_put(f->pods, (struct object *)pod);
}

static void put_pdb(struct fixture *f, const char *ns, const char *name,
                    const struct label_selector *selector) {
    struct pdb *pdb = (struct pdb *)object_new(&kind_pdb);
    set_meta(f, &pdb->meta, ns, name);
    pdb->selector = selector;
    store_put(f->budgets, (struct object *)pdb);
}

static const struct label_selector *make_selector(struct fixture *f, const struct pair *labels,
                                                  const char *key, const char *op,
                                                  const char *value) {
    struct label_selector sel = {.labels = labels};
    if (key) {
        struct requirement r = {
            .key = make_str(f->pool, key),
            .op = make_str(f->pool, op),
            .values = value ? make_strs(f->pool, value, NULL) : NULL,
        };
        sel.exprs = pool_blob(f->pool, &type_requirement, &r, sizeof r);
    }
    return pool_blob(f->pool, &type_selector, &sel, sizeof sel);
}

/* "pdb1 pdb2" of a pod. */
static const char *budgets_of(struct fixture *f, const char *ns, const char *pod) {
    static char out[256];
    size_t n;
    const struct pdb *const *found =
        pdbs_of_pod(f->pdbs, (const struct pod *)store_get(f->pods, ns, pod), &n);
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "",
                 found[i]->meta.name);
    return out;
}

static const char *pods_of(struct fixture *f, const char *ns, const char *pdb) {
    static char out[256];
    size_t n;
    const struct pod **found =
        pdbs_pods(f->pdbs, (const struct pdb *)store_get(f->budgets, ns, pdb), &n);
    assert_non_null(found);
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "",
                 found[i]->meta.name);
    free(found);
    return out;
}

#define MAP(f, ...) make_map((f)->pool, __VA_ARGS__, NULL)

static void test_simple(void **state) {
    struct fixture *f = *state;
    put_pod(f, "a", "web-2", MAP(f, "app", "web"));
    put_pod(f, "a", "web-1", MAP(f, "app", "web"));
    put_pod(f, "a", "db-1", MAP(f, "app", "db"));
    put_pod(f, "b", "web-1", MAP(f, "app", "web"));
    put_pod(f, "a", "bare", NULL);
    assert_string_equal(budgets_of(f, "a", "web-1"), "");
    put_pdb(f, "a", "web", make_selector(f, MAP(f, "app", "web"), NULL, NULL, NULL));
    assert_string_equal(budgets_of(f, "a", "web-1"), "web");
    assert_string_equal(budgets_of(f, "a", "web-2"), "web");
    assert_string_equal(budgets_of(f, "a", "db-1"), "");
    assert_string_equal(budgets_of(f, "b", "web-1"), "");
    assert_string_equal(budgets_of(f, "a", "bare"), "");
    assert_string_equal(pods_of(f, "a", "web"), "web-1 web-2");
}

/* Two budgets for one pod: the eviction API refuses that, so both must be named, in order. */
static void test_overlap(void **state) {
    struct fixture *f = *state;
    put_pod(f, "a", "web-1", MAP(f, "app", "web", "tier", "front"));
    put_pdb(f, "a", "web", make_selector(f, MAP(f, "app", "web"), NULL, NULL, NULL));
    put_pdb(f, "a", "all", make_selector(f, NULL, NULL, NULL, NULL)); /* {} selects everything */
    put_pdb(f, "a", "front", make_selector(f, NULL, "tier", "In", "front"));
    put_pdb(f, "a", "none", NULL); /* no selector selects nothing */
    put_pdb(f, "a", "bad", make_selector(f, NULL, "tier", "Near", "front"));
    put_pdb(f, "b", "other", make_selector(f, NULL, NULL, NULL, NULL));
    assert_string_equal(budgets_of(f, "a", "web-1"), "all front web");
    assert_string_equal(pods_of(f, "a", "all"), "web-1");
    assert_string_equal(pods_of(f, "a", "none"), "");
    assert_string_equal(pods_of(f, "a", "bad"), "");
    assert_string_equal(pods_of(f, "b", "other"), "");
}

static void test_changes(void **state) {
    struct fixture *f = *state;
    put_pod(f, "a", "p", MAP(f, "app", "web"));
    put_pdb(f, "a", "x", make_selector(f, MAP(f, "app", "web"), NULL, NULL, NULL));
    assert_string_equal(budgets_of(f, "a", "p"), "x");
    /* A new object with the same selector: the answer is the new one, the old one is freed. */
    put_pdb(f, "a", "x", make_selector(f, MAP(f, "app", "web"), NULL, NULL, NULL));
    assert_string_equal(budgets_of(f, "a", "p"), "x");
    put_pdb(f, "a", "x", make_selector(f, MAP(f, "app", "db"), NULL, NULL, NULL));
    assert_string_equal(budgets_of(f, "a", "p"), "");
    put_pod(f, "a", "p", MAP(f, "app", "db"));
    assert_string_equal(budgets_of(f, "a", "p"), "x");
    assert_string_equal(pods_of(f, "a", "x"), "p");
    store_remove(f->budgets, "a", "x", NULL);
    assert_string_equal(budgets_of(f, "a", "p"), "");
    put_pdb(f, "a", "y", make_selector(f, NULL, "app", "Exists", NULL));
    assert_string_equal(budgets_of(f, "a", "p"), "y");
    store_remove(f->pods, "a", "p", NULL);
    assert_string_equal(pods_of(f, "a", "y"), "");
}

/* A pod that is in no store (the template of one that does not exist yet) can be asked about. */
static void test_foreign_pod(void **state) {
    struct fixture *f = *state;
    put_pdb(f, "a", "x", make_selector(f, MAP(f, "app", "web"), NULL, NULL, NULL));
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    set_meta(f, &pod->meta, "a", "future");
    pod->meta.labels = MAP(f, "app", "web");
    size_t n;
    pdbs_of_pod(f->pdbs, pod, &n);
    assert_int_equal(n, 1);
    object_free(&kind_pod, f->pool, (struct object *)pod);
    /* What was matched for it may be remembered after it is gone. */
    put_pod(f, "a", "now", MAP(f, "app", "web"));
    assert_string_equal(budgets_of(f, "a", "now"), "x");
}

/* --- against matching each pod with each budget --- */

enum { PODS = 40, PDBS = 8 };

static const char *ns_name(int64_t i) {
    return i ? "a" : "b";
}

static const struct pair *random_labels(struct fixture *f, struct prng *prng) {
    static const char *const values[] = {"u", "v", "w"};
    const char *x = values[prng_range(prng, 0, 3)], *y = values[prng_range(prng, 0, 3)];
    switch (prng_range(prng, 0, 4)) {
    case 0:
        return NULL;
    case 1:
        return MAP(f, "x", x);
    case 2:
        return MAP(f, "y", y);
    default:
        return MAP(f, "x", x, "y", y);
    }
}

static const struct label_selector *random_selector(struct fixture *f, struct prng *prng) {
    static const char *const ops[] = {"In", "NotIn", "Exists", "DoesNotExist", "Wrong"};
    const char *op = ops[prng_range(prng, 0, 5)];
    bool value = op[0] == 'I' || op[0] == 'N' || !prng_range(prng, 0, 10);
    switch (prng_range(prng, 0, 4)) {
    case 0:
        return NULL;
    case 1:
        return make_selector(f, random_labels(f, prng), NULL, NULL, NULL);
    default:
        return make_selector(f, prng_range(prng, 0, 2) ? NULL : random_labels(f, prng),
                             prng_range(prng, 0, 2) ? "x" : "y", op, value ? "v" : NULL);
    }
}

static bool holds(const struct pdb *pdb, const struct pod *pod) {
    return str_same(pdb->meta.ns, pod->meta.ns) && pdb->selector &&
           selector_match(pdb->selector, pod->meta.labels);
}

static void compare_pod(struct fixture *f, const struct pod *pod) {
    size_t n, expected = 0;
    const struct pdb *const *found = pdbs_of_pod(f->pdbs, pod, &n);
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(f->budgets, &i));)
        expected += holds((const struct pdb *)obj, pod);
    assert_int_equal(n, expected);
    for (size_t i = 0; i < n; i++) {
        assert_true(holds(found[i], pod));
        assert_ptr_equal(store_get(f->budgets, found[i]->meta.ns, found[i]->meta.name), found[i]);
        if (i)
            assert_true(strcmp(found[i - 1]->meta.name, found[i]->meta.name) < 0);
    }
}

static void compare_pdb(struct fixture *f, const struct pdb *pdb) {
    size_t n, expected = 0;
    const struct pod **found = pdbs_pods(f->pdbs, pdb, &n);
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(f->pods, &i));)
        expected += holds(pdb, (const struct pod *)obj);
    assert_int_equal(n, expected);
    for (size_t i = 0; i < n; i++) {
        assert_true(holds(pdb, found[i]));
        if (i)
            assert_true(strcmp(found[i - 1]->meta.name, found[i]->meta.name) < 0);
    }
    free(found);
}

static void test_random(void **state) {
    struct fixture *f = *state;
    struct prng prng = {7};
    const struct object *obj;
    for (int round = 0; round < 3000; round++) {
        char name[16];
        bool budget = !prng_range(&prng, 0, 5);
        const char *ns = ns_name(prng_range(&prng, 0, 2));
        snprintf(name, sizeof name, "o%d", (int)prng_range(&prng, 0, budget ? PDBS : PODS));
        if (!prng_range(&prng, 0, 4))
            store_remove(budget ? f->budgets : f->pods, ns, name, NULL);
        else if (budget)
            put_pdb(f, ns, name, random_selector(f, &prng));
        else
            put_pod(f, ns, name, random_labels(f, &prng));
        if (round % 3)
            continue;
        for (uint32_t i = 0; (obj = store_next(f->pods, &i));)
            compare_pod(f, (const struct pod *)obj);
        for (uint32_t i = 0; (obj = store_next(f->budgets, &i));)
            compare_pdb(f, (const struct pdb *)obj);
    }
}

/* Jobs give each pod a label of its own. Without any change of a budget, what was matched for pods
 * that are long gone must still be forgotten. */
static void test_bounded(void **state) {
    struct fixture *f = *state;
    char name[32];
    put_pdb(f, "a", "x", make_selector(f, NULL, "job", "Exists", NULL));
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "job-%d", i);
        put_pod(f, "a", name, MAP(f, "job", name));
        assert_string_equal(budgets_of(f, "a", name), "x");
        if (i >= 10) {
            snprintf(name, sizeof name, "job-%d", i - 10);
            store_remove(f->pods, "a", name, NULL);
        }
    }
    assert_in_range(pool_stats(f->pool).entries, 1, 500);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(simple), TEST(overlap), TEST(changes), TEST(foreign_pod), TEST(random), TEST(bounded),
    };
    return cmocka_run_group_tests_name("model/pdbs", tests, NULL, NULL);
}
