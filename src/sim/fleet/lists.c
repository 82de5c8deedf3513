/* A hash table of small arrays. An array that becomes empty goes. */
#include "sim/fleet/lists.h"

#include "base/vec.h"

struct list {
    uint32_t hash;
    const char *a, *b; /* pool entries, NULL when empty */
    VEC(const char *) names;
};

struct wanted {
    const char *a, *b;
};

static uint32_t list_hash(const void *entry) {
    return ((const struct list *)entry)->hash;
}
static bool list_equal(const void *entry, const void *wanted) {
    const struct list *x = entry;
    const struct wanted *w = wanted;
    return str_same(x->a, w->a) && str_same(x->b, w->b);
}
static const struct htab_ops list_ops = {list_hash, list_equal};

static uint32_t hash_of(const struct lists *l, const char *a, const char *b) {
    uint32_t h = hash_more(pool_seed(l->pool), strna(a), strlen(strna(a)) + 1);
    return hash_more(h, strna(b), strlen(strna(b)));
}

static struct list *find(const struct lists *l, const char *a, const char *b) {
    return htab_find(&l->table, hash_of(l, a, b), &(struct wanted){a, b});
}

static void list_free(struct lists *l, struct list *x) {
    for (size_t i = 0; i < x->names.len; i++)
        pool_unref(l->pool, x->names.p[i]);
    vec_done(&x->names);
    pool_unref(l->pool, x->a);
    pool_unref(l->pool, x->b);
    free(x);
}

void lists_init(struct lists *l, struct pool *pool) {
    l->pool = pool;
    htab_init(&l->table, &list_ops);
}

void lists_done(struct lists *l) {
    struct list *x;
    for (uint32_t i = 0; (x = htab_next(&l->table, &i));)
        list_free(l, x);
    htab_done(&l->table);
}

void lists_add(struct lists *l, const char *a, const char *b, const char *name) {
    struct list *x = find(l, a, b);
    if (!x) {
        x = xnew(struct list);
        x->hash = hash_of(l, a, b);
        x->a = pool_str(l->pool, strna(a), strlen(strna(a)));
        x->b = pool_str(l->pool, strna(b), strlen(strna(b)));
        htab_insert(&l->table, x);
    }
    *vec_push(&x->names) = pool_str(l->pool, name, strlen(name));
}

void lists_remove(struct lists *l, const char *a, const char *b, const char *name) {
    struct list *x = find(l, a, b);
    for (size_t i = 0; x && i < x->names.len; i++) {
        if (!streq(x->names.p[i], name))
            continue;
        pool_unref(l->pool, x->names.p[i]);
        x->names.len--;
        memmove(x->names.p + i, x->names.p + i + 1, (x->names.len - i) * sizeof *x->names.p);
        break;
    }
    if (x && !x->names.len) {
        htab_remove(&l->table, x->hash, &(struct wanted){a, b});
        list_free(l, x);
    }
}

struct names lists_get(const struct lists *l, const char *a, const char *b) {
    const struct list *x = find(l, a, b);
    return x ? (struct names){x->names.p, x->names.len} : (struct names){NULL, 0};
}
