/* The objects of one kind, by name and by indexes. */
#include "model/store.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/version.h"

enum {
    LISTENERS_MAX = 8,
    INDEXES_MAX = 4,
    WRITTEN_MIN = 64, /* writes to remember before it is worth looking which were seen */
};

/* The objects under one key of an index. */
struct bucket {
    struct store_key key;
    VEC(const struct object *) objects;
};

struct index {
    store_key_fn *key;
    struct htab buckets;
};

/* A write whose effect has not been seen yet. */
struct written {
    char *ns, *name, *version;
    uint32_t hash;
};

struct store {
    const struct kind *kind;
    struct pool *pool;
    struct htab objects;
    uint32_t seed;  /* of the hashes of names, which others choose */
    uint32_t epoch; /* of the replace under way, or of the last one */
    bool synced, rewind;
    const char *version; /* pool entry */
    struct {
        store_changed_fn *fn;
        void *arg;
    } listeners[LISTENERS_MAX];
    unsigned n_listeners;
    struct index indexes[INDEXES_MAX];
    unsigned n_indexes;
    struct htab written;
    uint32_t written_limit;
};

/* --- hashing --- */

struct name {
    const char *ns, *name;
};

static uint32_t name_hash(const struct store *s, const char *ns, const char *name) {
    uint32_t h = hash_more(s->seed, name, strlen(name));
    return str_empty(ns) ? h : hash_more(h, ns, strlen(ns));
}

static uint32_t object_hash(const void *entry) {
    return ((const struct object *)entry)->meta.store_hash;
}

static bool object_equal(const void *entry, const void *key_) {
    const struct object *obj = entry;
    const struct name *key = key_;
    return str_same(obj->meta.name, key->name) && str_same(obj->meta.ns, key->ns);
}

static uint32_t key_hash(struct store_key key) {
    return hash_bytes(&key, sizeof key);
}

static uint32_t bucket_hash(const void *entry) {
    return key_hash(((const struct bucket *)entry)->key);
}

static bool bucket_equal(const void *entry, const void *key_) {
    const struct bucket *b = entry;
    const struct store_key *key = key_;
    return b->key.a == key->a && b->key.b == key->b;
}

static uint32_t written_hash(const void *entry) {
    return ((const struct written *)entry)->hash;
}

static bool written_equal(const void *entry, const void *key_) {
    const struct written *w = entry;
    const struct name *key = key_;
    return streq(w->name, key->name) && str_same(w->ns, key->ns);
}

static const struct htab_ops object_ops = {object_hash, object_equal};
static const struct htab_ops bucket_ops = {bucket_hash, bucket_equal};
static const struct htab_ops written_ops = {written_hash, written_equal};

/* --- life cycle --- */

struct store *store_new(const struct kind *kind, struct pool *pool) {
    struct store *s = xnew(struct store);
    s->kind = kind;
    s->pool = pool;
    s->seed = pool_seed(pool);
    htab_init(&s->objects, &object_ops);
    htab_init(&s->written, &written_ops);
    return s;
}

static void bucket_free(struct bucket *b) {
    vec_done(&b->objects);
    free(b);
}

static void written_free(struct written *w) {
    if (!w)
        return;
    free(w->ns);
    free(w->name);
    free(w->version);
    free(w);
}

static void forget_writes(struct store *s) {
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->written, &i));)
        written_free(e);
    htab_done(&s->written);
}

void store_free(struct store *s) {
    if (!s)
        return;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->objects, &i));)
        object_free(s->kind, s->pool, e);
    for (unsigned n = 0; n < s->n_indexes; n++) {
        for (uint32_t i = 0; (e = htab_next(&s->indexes[n].buckets, &i));)
            bucket_free(e);
        htab_done(&s->indexes[n].buckets);
    }
    forget_writes(s);
    htab_done(&s->objects);
    pool_unref(s->pool, s->version);
    free(s);
}

const struct kind *store_kind(const struct store *s) {
    return s->kind;
}

struct pool *store_pool(const struct store *s) {
    return s->pool;
}

size_t store_len(const struct store *s) {
    return s->objects.len;
}

bool store_synced(const struct store *s) {
    return s->synced;
}

const char *store_version(const struct store *s) {
    return s->version;
}

void store_set_version(struct store *s, const char *version) {
    const char *v = version ? pool_str(s->pool, version, strlen(version)) : NULL;
    pool_unref(s->pool, s->version);
    s->version = v;
}

void store_listen(struct store *s, store_changed_fn *fn, void *arg) {
    assert(s->n_listeners < LISTENERS_MAX);
    s->listeners[s->n_listeners].fn = fn;
    s->listeners[s->n_listeners++].arg = arg;
}

static void notify(struct store *s, const struct object *before, const struct object *after) {
    for (unsigned i = 0; i < s->n_listeners; i++)
        s->listeners[i].fn(s->listeners[i].arg, before, after);
}

/* --- indexes --- */

static void index_add(struct index *ix, const struct object *obj) {
    struct store_key key = ix->key(obj);
    if (!key.a && !key.b)
        return;
    struct bucket *b = htab_find(&ix->buckets, key_hash(key), &key);
    if (!b) {
        b = xnew(struct bucket);
        b->key = key;
        htab_insert(&ix->buckets, b);
    }
    *vec_push(&b->objects) = obj;
}

static void index_remove(struct index *ix, const struct object *obj) {
    struct store_key key = ix->key(obj);
    struct bucket *b = htab_find(&ix->buckets, key_hash(key), &key);
    if (!b)
        return;
    for (size_t i = 0; i < b->objects.len; i++) {
        if (b->objects.p[i] == obj) {
            b->objects.p[i] = b->objects.p[--b->objects.len];
            break;
        }
    }
    if (!b->objects.len) {
        htab_remove(&ix->buckets, key_hash(key), &key);
        bucket_free(b);
    }
}

/* An update mostly leaves an object under its key: then only the pointer changes. */
static void index_update(struct index *ix, const struct object *before,
                         const struct object *after) {
    struct store_key old = ix->key(before), new = ix->key(after);
    struct bucket *b = NULL;
    if (old.a == new.a && old.b == new.b)
        b = htab_find(&ix->buckets, key_hash(old), &old);
    for (size_t i = 0; b && i < b->objects.len; i++) {
        if (b->objects.p[i] == before) {
            b->objects.p[i] = after;
            return;
        }
    }
    index_remove(ix, before);
    index_add(ix, after);
}

unsigned store_index(struct store *s, store_key_fn *key) {
    assert(s->n_indexes < INDEXES_MAX);
    struct index *ix = &s->indexes[s->n_indexes];
    ix->key = key;
    htab_init(&ix->buckets, &bucket_ops);
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->objects, &i));)
        index_add(ix, e);
    return s->n_indexes++;
}

const struct object *const *store_find(const struct store *s, unsigned index, struct store_key key,
                                       size_t *n) {
    assert(index < s->n_indexes);
    const struct bucket *b = htab_find(&s->indexes[index].buckets, key_hash(key), &key);
    *n = b ? b->objects.len : 0;
    return b ? b->objects.p : NULL;
}

bool store_next_key(const struct store *s, unsigned index, uint32_t *i, struct store_key *key) {
    assert(index < s->n_indexes);
    const struct bucket *b = htab_next(&s->indexes[index].buckets, i);
    if (b)
        *key = b->key;
    return b != NULL;
}

struct store_key store_key_node(const struct object *obj) {
    return (struct store_key){((const struct pod *)obj)->node_name, NULL};
}

struct store_key store_key_labels(const struct object *obj) {
    return (struct store_key){obj->meta.ns, obj->meta.labels};
}

/* --- changes --- */

/* The same but for what the store itself notes in it. */
static bool same(const struct kind *kind, const struct object *a, const struct object *b) {
    size_t from = offsetof(struct meta, store_hash), to = sizeof(struct meta);
    return !memcmp(a, b, from) &&
           !memcmp((const char *)a + to, (const char *)b + to, kind->type->size - to);
}

bool store_put(struct store *s, struct object *obj) {
    if (!obj->meta.name) { /* hostile or broken: nothing could find it */
        object_free(s->kind, s->pool, obj);
        return false;
    }
    struct name key = {obj->meta.ns, obj->meta.name};
    uint32_t hash = name_hash(s, key.ns, key.name);
    obj->meta.store_hash = hash;
    obj->meta.store_epoch = s->epoch;
    struct object *old = htab_find(&s->objects, hash, &key);
    bool older = old && version_compare(obj->meta.version, old->meta.version) < 0;
    if ((older && !s->rewind) || (old && same(s->kind, old, obj))) {
        old->meta.store_epoch = s->epoch;
        object_free(s->kind, s->pool, obj);
        return false;
    }
    if (old)
        htab_remove(&s->objects, hash, &key);
    htab_insert(&s->objects, obj);
    for (unsigned i = 0; i < s->n_indexes; i++) {
        if (old)
            index_update(&s->indexes[i], old, obj);
        else
            index_add(&s->indexes[i], obj);
    }
    notify(s, old, obj);
    object_free(s->kind, s->pool, old);
    return true;
}

static void drop(struct store *s, struct object *obj) {
    struct name key = {obj->meta.ns, obj->meta.name};
    htab_remove(&s->objects, obj->meta.store_hash, &key);
    for (unsigned i = 0; i < s->n_indexes; i++)
        index_remove(&s->indexes[i], obj);
    notify(s, obj, NULL);
    object_free(s->kind, s->pool, obj);
}

bool store_remove(struct store *s, const char *ns, const char *name, const char *version) {
    struct name key = {ns, name};
    struct object *obj = name ? htab_find(&s->objects, name_hash(s, ns, name), &key) : NULL;
    if (!obj || (version && version_compare(version, obj->meta.version) < 0))
        return false;
    drop(s, obj);
    return true;
}

void store_replace_begin(struct store *s) {
    s->epoch++;
}

void store_replace_end(struct store *s, const char *version) {
    VEC(struct object *) gone = VEC_INIT;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->objects, &i));)
        if (((struct object *)e)->meta.store_epoch != s->epoch)
            *vec_push(&gone) = e;
    for (size_t i = 0; i < gone.len; i++)
        drop(s, gone.p[i]);
    vec_done(&gone);
    store_set_version(s, version);
    s->synced = true;
    if (s->rewind)
        forget_writes(
            s); /* made in a history that no longer exists: their versions may never come */
    s->rewind = false;
}

void store_rewind(struct store *s) {
    s->rewind = true;
}

/* --- reading --- */

const struct object *store_get(const struct store *s, const char *ns, const char *name) {
    struct name key = {ns, name};
    return name ? htab_find(&s->objects, name_hash(s, ns, name), &key) : NULL;
}

const struct object *store_next(const struct store *s, uint32_t *i) {
    return htab_next(&s->objects, i);
}

static int compare_names(const void *a, const void *b) {
    const struct object *x = *(const struct object *const *)a;
    const struct object *y = *(const struct object *const *)b;
    int c = strcmp(strna(x->meta.ns), strna(y->meta.ns));
    return c ? c : strcmp(x->meta.name, y->meta.name);
}

const struct object **store_sorted(const struct store *s, size_t *n) {
    const struct object **all = xcalloc(s->objects.len, sizeof *all);
    size_t len = 0;
    const void *e;
    for (uint32_t i = 0; (e = htab_next(&s->objects, &i));)
        all[len++] = e;
    qsort(all, len, sizeof *all, compare_names);
    *n = len;
    return all;
}

/* --- the barrier --- */

static bool has_seen(const struct store *s, const struct written *w) {
    const struct object *obj = store_get(s, w->ns, w->name);
    return version_compare(s->version, w->version) >= 0 ||
           (obj && version_compare(obj->meta.version, w->version) >= 0);
}

static void forget_written(struct store *s, const struct written *w) {
    struct name key = {w->ns, w->name};
    written_free(htab_remove(&s->written, w->hash, &key));
}

/* Nobody may ever ask about some of them again (pods that were evicted). */
static void prune_written(struct store *s) {
    VEC(struct written *) seen = VEC_INIT;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->written, &i));)
        if (has_seen(s, e))
            *vec_push(&seen) = e;
    for (size_t i = 0; i < seen.len; i++)
        forget_written(s, seen.p[i]);
    vec_done(&seen);
    s->written_limit = MAX_OF(2 * s->written.len, (uint32_t)WRITTEN_MIN);
}

void store_wrote(struct store *s, const char *ns, const char *name, const char *version) {
    struct name key = {ns, name};
    if (!version_valid(version))
        return;
    struct written *w = htab_find(&s->written, name_hash(s, ns, name), &key);
    if (w) {
        if (version_compare(version, w->version) > 0)
            str_replace(&w->version, version);
        return;
    }
    if (s->written.len >= s->written_limit)
        prune_written(s);
    w = xnew(struct written);
    w->ns = ns ? xstrdup(ns) : NULL;
    w->name = xstrdup(name);
    w->version = xstrdup(version);
    w->hash = name_hash(s, ns, name);
    htab_insert(&s->written, w);
}

bool store_fresh(const struct store *s, const char *ns, const char *name) {
    struct name key = {ns, name};
    const struct written *w = htab_find(&s->written, name_hash(s, ns, name), &key);
    if (!w)
        return true;
    if (!has_seen(s, w))
        return false;
    /* Forgetting it is no change that anybody could observe. */
    forget_written((struct store *)s, w);
    return true;
}
