/* The objects of one kind, by name and by indexes. */
#include "model/store.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/store_internal.h"
#include "model/version.h"

/* The objects under one key of an index. */
struct bucket {
    struct store_key key;
    VEC(const struct object *) objects;
};

/* --- hashing --- */

uint32_t store_name_hash(const struct store *s, const char *ns, const char *name) {
    uint32_t h = hash_more(s->seed, name, strlen(name));
    return str_empty(ns) ? h : hash_more(h, ns, strlen(ns));
}

static uint32_t object_hash(const void *entry) {
    return ((const struct object *)entry)->meta.store_hash;
}

static bool object_equal(const void *entry, const void *key_) {
    const struct object *obj = entry;
    const struct store_name *key = key_;
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

static const struct htab_ops object_ops = {object_hash, object_equal};
static const struct htab_ops bucket_ops = {bucket_hash, bucket_equal};

/* --- life cycle --- */

struct store *store_new(const struct kind *kind, struct pool *pool) {
    struct store *s = xnew(struct store);
    s->kind = kind;
    s->pool = pool;
    s->seed = pool_seed(pool);
    htab_init(&s->objects, &object_ops);
    store_barrier_init(s);
    return s;
}

static void bucket_free(struct bucket *b) {
    vec_done(&b->objects);
    free(b);
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
    store_barrier_done(s);
    store_parts_done(s);
    htab_done(&s->objects);
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

void store_listen(struct store *s, store_changed_fn *fn, void *arg) {
    assert(s->n_listeners < STORE_LISTENERS_MAX);
    s->listeners[s->n_listeners].fn = fn;
    s->listeners[s->n_listeners++].arg = arg;
}

static void notify(struct store *s, const struct object *before, const struct object *after) {
    for (unsigned i = 0; i < s->n_listeners; i++)
        s->listeners[i].fn(s->listeners[i].arg, before, after);
}

/* --- indexes --- */

static void index_add(struct store_index *ix, const struct object *obj) {
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

static void index_remove(struct store_index *ix, const struct object *obj) {
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
static void index_update(struct store_index *ix, const struct object *before,
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
    assert(s->n_indexes < STORE_INDEXES_MAX);
    struct store_index *ix = &s->indexes[s->n_indexes];
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

struct store_key store_key_attached(const struct object *obj) {
    return (struct store_key){((const struct volume_attachment *)obj)->node_name, NULL};
}

struct store_key store_key_labels(const struct object *obj) {
    return (struct store_key){obj->meta.ns, obj->meta.labels};
}

/* --- changes --- */

bool store_same(const struct kind *kind, const struct object *a, const struct object *b) {
    size_t from = offsetof(struct meta, store_hash), to = sizeof(struct meta);
    return !memcmp(a, b, from) &&
           !memcmp((const char *)a + to, (const char *)b + to, kind->type->size - to);
}

/* After a restore older objects are taken, but not in place of those of a part that is of the new
 * history already. */
static bool takes_older(const struct store_part *p, const struct object *old) {
    if (!p || !p->rewind)
        return false;
    const struct store_part *other =
        old && !store_part_has(p, old) ? store_part_of(p->store, old) : NULL;
    return !other || other->history <= p->history;
}

bool store_put_in(struct store *s, const struct store_part *p, struct object *obj) {
    struct store_name key = {obj->meta.ns, obj->meta.name};
    uint32_t hash = store_name_hash(s, key.ns, key.name);
    obj->meta.store_hash = hash;
    obj->meta.store_epoch = p ? p->epoch : 0;
    struct object *old = htab_find(&s->objects, hash, &key);
    bool is_same = old && store_same(s->kind, old, obj);
    store_tell(s, &(struct store_change){.op = is_same ? STORE_SAME : STORE_PUT,
                                         .scope = p ? p->scope : (struct store_scope){0},
                                         .obj = obj,
                                         .ns = key.ns,
                                         .name = key.name});
    bool ours = old && p && store_part_has(p, old);
    bool older = old && version_compare(obj->meta.version, old->meta.version) < 0;
    bool over = older || store_is_over(s, obj);
    if ((over && !takes_older(p, old)) || is_same) {
        if (ours)
            old->meta.store_epoch = p->epoch;
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

bool store_put(struct store *s, struct object *obj) {
    if (!obj->meta.name) { /* hostile or broken: nothing could find it */
        object_free(s->kind, s->pool, obj);
        return false;
    }
    return store_put_in(s, store_part_of(s, obj), obj);
}

void store_drop(struct store *s, struct object *obj, const char *version) {
    bool undated = !version_valid(version);
    store_note_gone(s, obj->meta.ns, obj->meta.name, undated ? obj->meta.version : version,
                    undated);
    struct store_name key = {obj->meta.ns, obj->meta.name};
    htab_remove(&s->objects, obj->meta.store_hash, &key);
    for (unsigned i = 0; i < s->n_indexes; i++)
        index_remove(&s->indexes[i], obj);
    notify(s, obj, NULL);
    object_free(s->kind, s->pool, obj);
}

bool store_remove(struct store *s, const char *ns, const char *name, const char *version) {
    struct object *obj = store_find_name(s, ns, name);
    if (!obj || (version && version_compare(version, obj->meta.version) < 0))
        return false;
    store_tell(
        s, &(struct store_change){.op = STORE_REMOVE, .ns = ns, .name = name, .version = version});
    store_drop(s, obj, version);
    return true;
}

/* --- reading --- */

struct object *store_find_name(const struct store *s, const char *ns, const char *name) {
    struct store_name key = {ns, name};
    return name ? htab_find(&s->objects, store_name_hash(s, ns, name), &key) : NULL;
}

const struct object *store_get(const struct store *s, const char *ns, const char *name) {
    return store_find_name(s, ns, name);
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
