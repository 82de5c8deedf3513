/* Buckets of pods, and for each pod its places in them, so that a change costs the same however
 * many there are. */
#include "sim/fleet/pod_index.h"

enum by { BY_NODE, BY_OWNER, BY_NAMESPACE, BY_ORPHANS, BY_COUNT };

struct entry;

struct bucket {
    uint32_t hash;
    enum by by;
    const char *key; /* a pool entry: the bucket holds a reference */
    VEC(struct record *) pods;
    VEC(struct entry *) entries; /* of the same pods */
};

/* A pod, by its uid (the pool's address of it). */
struct entry {
    const char *uid;
    struct bucket *bucket[BY_COUNT]; /* NULL: in none of this sort */
    size_t place[BY_COUNT];
};

struct pod_index {
    struct world *world;
    struct shelf *shelf;
    struct htab buckets, entries;
};

struct wanted {
    enum by by;
    const char *key;
};

static uint32_t bucket_hash(const void *entry) {
    return ((const struct bucket *)entry)->hash;
}
static bool bucket_equal(const void *entry, const void *wanted) {
    const struct bucket *b = entry;
    const struct wanted *w = wanted;
    return b->by == w->by && streq(b->key, w->key);
}
static const struct htab_ops bucket_ops = {bucket_hash, bucket_equal};

static uint32_t hash_of(const struct pod_index *x, enum by by, const char *key) {
    char c = (char)by;
    return hash_more(hash_more(pool_seed(x->world->pool), &c, 1), key, strlen(key));
}

/* NULL: in no bucket of this sort. */
static const char *key_of(const struct record *r, enum by by) {
    const struct pod *pod = record_as(pod, r);
    const struct owner *owner = meta_controller(&pod->meta);
    switch (by) {
    case BY_NODE:
        return pod->node_name;
    case BY_OWNER:
        return owner ? owner->uid : NULL;
    case BY_NAMESPACE:
        return pod->meta.ns;
    case BY_ORPHANS:
        return owner ? NULL : pod->meta.ns;
    default:
        return NULL;
    }
}

static struct bucket *find(const struct pod_index *x, enum by by, const char *key) {
    return htab_find(&x->buckets, hash_of(x, by, key), &(struct wanted){by, key});
}

static uint32_t address_hash(const void *p) {
    return hash_bytes(&p, sizeof p);
}
static uint32_t entry_hash(const void *entry) {
    return address_hash(((const struct entry *)entry)->uid);
}
static bool entry_equal(const void *entry, const void *uid) {
    return ((const struct entry *)entry)->uid == uid;
}
static const struct htab_ops entry_ops = {entry_hash, entry_equal};

static void enter(struct pod_index *x, enum by by, const char *key, struct entry *e,
                  struct record *r) {
    struct bucket *b = find(x, by, key);
    if (!b) {
        b = xnew(struct bucket);
        b->hash = hash_of(x, by, key);
        b->by = by;
        b->key = pool_ref(key);
        htab_insert(&x->buckets, b);
    }
    e->bucket[by] = b;
    e->place[by] = b->pods.len;
    *vec_push(&b->pods) = r;
    *vec_push(&b->entries) = e;
}

static void bucket_free(struct pod_index *x, struct bucket *b) {
    vec_done(&b->pods);
    vec_done(&b->entries);
    pool_unref(x->world->pool, b->key);
    free(b);
}

/* The last one takes its place. */
static void leave(struct pod_index *x, enum by by, struct entry *e) {
    struct bucket *b = e->bucket[by];
    size_t i = e->place[by], last = --b->pods.len;
    b->entries.len--;
    b->pods.p[i] = b->pods.p[last];
    b->entries.p[i] = b->entries.p[last];
    b->entries.p[i]->place[by] = i;
    e->bucket[by] = NULL;
    if (last)
        return;
    htab_remove(&x->buckets, b->hash, &(struct wanted){by, b->key});
    bucket_free(x, b);
}

static void changed(void *arg, const struct change *c) {
    struct pod_index *x = arg;
    const char *uid = c->after->obj->meta.uid;
    struct entry *e = htab_find(&x->entries, address_hash(uid), uid);
    if (!e) {
        e = xnew(struct entry);
        e->uid = pool_ref(uid);
        htab_insert(&x->entries, e);
    }
    for (enum by by = 0; by < BY_COUNT; by++) {
        const char *is = c->type == CHANGE_DELETED ? NULL : key_of(c->after, by);
        struct bucket *was = e->bucket[by];
        if (was && is && streq(was->key, is)) {
            was->pods.p[e->place[by]] = c->after;
            continue;
        }
        if (was)
            leave(x, by, e);
        if (is)
            enter(x, by, is, e, c->after);
    }
    if (c->type == CHANGE_DELETED) {
        htab_remove(&x->entries, address_hash(uid), uid);
        pool_unref(x->world->pool, e->uid);
        free(e);
    }
}

struct pod_index *pod_index_new(struct shelf *pods, struct world *w) {
    struct pod_index *x = xnew(struct pod_index);
    x->world = w;
    x->shelf = pods;
    htab_init(&x->buckets, &bucket_ops);
    htab_init(&x->entries, &entry_ops);
    struct snapshot *snap = shelf_snapshot(pods);
    for (size_t i = 0; i < snap->n; i++)
        changed(x, &(struct change){.type = CHANGE_ADDED, .after = snap->items[i]});
    snapshot_unref(snap);
    shelf_listen(pods, changed, x);
    return x;
}

void pod_index_free(struct pod_index *x) {
    if (!x)
        return;
    shelf_unlisten(x->shelf, changed, x);
    struct bucket *b;
    for (uint32_t i = 0; (b = htab_next(&x->buckets, &i));)
        bucket_free(x, b);
    struct entry *e;
    for (uint32_t i = 0; (e = htab_next(&x->entries, &i));) {
        pool_unref(x->world->pool, e->uid);
        free(e);
    }
    htab_done(&x->buckets);
    htab_done(&x->entries);
    free(x);
}

static struct pod_list list(const struct pod_index *x, enum by by, const char *key) {
    const struct bucket *b = find(x, by, strna(key));
    return b ? (struct pod_list){b->pods.p, b->pods.len} : (struct pod_list){NULL, 0};
}

struct pod_list pods_on_node(const struct pod_index *x, const char *node) {
    return list(x, BY_NODE, node);
}
struct pod_list pods_of_owner(const struct pod_index *x, const char *uid) {
    return list(x, BY_OWNER, uid);
}
struct pod_list pods_without_owner(const struct pod_index *x, const char *ns) {
    return list(x, BY_ORPHANS, ns);
}
struct pod_list pods_in_namespace(const struct pod_index *x, const char *ns) {
    return list(x, BY_NAMESPACE, ns);
}
