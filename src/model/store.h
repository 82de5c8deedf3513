/* The objects of one kind that a watch keeps current: the cache on the client's side, the world on
 * the engine's. A pure container: nothing here does I/O.
 *
 * Objects are found by namespace and name, and through indexes (pods by node, pods by their
 * labels). The store owns its objects and keeps one per name; it never goes back in time: an object
 * that is older than the one it has is dropped.
 *
 * A complete listing is a replace: store_replace_begin(), store_put() for each object that exists,
 * store_replace_end() removes the others and makes the store synced. When the listing breaks off
 * there is no end, nothing is removed, and the next begin starts over. store_rewind() is for the
 * one case in which time does go back: the server's data was restored from a backup.
 *
 * Several may fill one store, each its own part (the pods of node a, the pods of node b): a scope
 * tells which objects those are, and scopes have no object in common. Each part is replaced and
 * moves on by itself, with its own version; store_part_put() and its kin change nothing outside
 * their part. A name that turns up in another part (a StatefulSet's pod on another node) is there
 * once: where it is newest, also when one part hears of it long after the other. Who knows of no
 * parts uses the plain functions: they treat the whole store as one part.
 *
 * Read your writes: after a successful write, tell store_wrote() the version that the server
 * returned; store_fresh() is false until the store has seen that version. Decide nothing about an
 * object before. Seen is a version when the object itself has it or a later one, or when the part
 * that the object is in has come that far: how far the other parts are says nothing about it. Of an
 * object that is in no part (it is gone, or nobody looks at it), all parts must have come that far.
 */
#ifndef MODEL_STORE_H
#define MODEL_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/htab.h"
#include "base/vec.h"
#include "model/object.h"

struct store;

/* Called after each change: `before` is NULL for a new object, `after` for a removed one; `before`
 * is freed afterwards. */
typedef void store_changed_fn(void *arg, const struct object *before, const struct object *after);

/* What an object is indexed under: two pool entries, compared by address. Both NULL: not in the
 * index. */
struct store_key {
    const void *a, *b;
};
typedef struct store_key store_key_fn(const struct object *obj);

/* Which objects are a part: those for which `has` is true. Same function and argument, same part;
 * no function: all objects. The argument must live as long as the part. */
struct store_scope {
    bool (*has)(const struct object *obj, const void *arg);
    const void *arg;
};

struct store *store_new(const struct kind *kind, struct pool *pool);
void store_free(struct store *s);

const struct kind *store_kind(const struct store *s);
struct pool *store_pool(const struct store *s);
size_t store_len(const struct store *s);
/* Every part is complete, or was once; false when there is none yet. */
bool store_synced(const struct store *s);
/* The resourceVersion up to which the store is current; NULL before the first. Of several parts,
 * the newest: not all need to be that far. */
const char *store_version(const struct store *s);
void store_set_version(struct store *s, const char *version);

/* At most 8 listeners; they stay for the life of the store. */
void store_listen(struct store *s, store_changed_fn *fn, void *arg);

/* Takes the object over. Returns true when it changed the store. */
bool store_put(struct store *s, struct object *obj);
/* What the watch reported as deleted; `version` is that of the deletion, NULL when unknown. A newer
 * object of the same name stays. */
bool store_remove(struct store *s, const char *ns, const char *name, const char *version);

void store_replace_begin(struct store *s);
void store_replace_end(struct store *s, const char *version);
/* Up to the next store_replace_end(), objects that are older than ours replace them. */
void store_rewind(struct store *s);

/* --- parts --- */

struct store_part;

/* The part of that scope; it becomes one with the first call, and is not complete then. */
struct store_part *store_part(struct store *s, struct store_scope scope);
/* Complete at least once; false for a scope that is no part. */
bool store_scope_synced(const struct store *s, struct store_scope scope);
/* Of that part; NULL for a scope that is none. */
const char *store_scope_version(const struct store *s, struct store_scope scope);
/* Removes the objects of the scope, and the part: nobody looks at them any more. Whoever fills it
 * has been freed before. */
void store_drop_scope(struct store *s, struct store_scope scope);

bool store_part_synced(const struct store_part *p);
/* The resourceVersion up to which this part is current; NULL before the first. */
const char *store_part_version(const struct store_part *p);
void store_part_set_version(struct store_part *p, const char *version);
/* NULL also when the object is in another part. */
const struct object *store_part_get(const struct store_part *p, const char *ns, const char *name);
/* As the plain ones. An object outside the scope is one that has left it. */
bool store_part_put(struct store_part *p, struct object *obj);
bool store_part_remove(struct store_part *p, const char *ns, const char *name, const char *version);
void store_part_begin(struct store_part *p);
void store_part_end(struct store_part *p, const char *version);
void store_part_rewind(struct store_part *p);
/* `fn` is called when another part has gone back in time: this one has to be replaced in the same
 * way, since what was put into it may have been held against objects that never were. It must not
 * change the store. NULL: nobody is told. */
void store_part_on_restored(struct store_part *p, void (*fn)(void *arg), void *arg);

/* --- reading --- */

/* ns is NULL for cluster-scoped objects. */
const struct object *store_get(const struct store *s, const char *ns, const char *name);
/* for (uint32_t i = 0; (obj = store_next(s, &i));) in no particular order. */
const struct object *store_next(const struct store *s, uint32_t *i);
/* All objects sorted by namespace and name; free() the array. */
const struct object **store_sorted(const struct store *s, size_t *n);

/* Adds an index over what is and will be there; returns its number (0, 1, ...; at most 4). */
unsigned store_index(struct store *s, store_key_fn *key);
/* The objects under a key, in no particular order; valid until the store changes. */
const struct object *const *store_find(const struct store *s, unsigned index, struct store_key key,
                                       size_t *n);
/* for (uint32_t i = 0; store_next_key(s, index, &i, &key);): every key that has objects. */
bool store_next_key(const struct store *s, unsigned index, uint32_t *i, struct store_key *key);

/* The barrier. A version that is none (the answer had no object) sets up nothing. */
void store_wrote(struct store *s, const char *ns, const char *name, const char *version);
bool store_fresh(const struct store *s, const char *ns, const char *name);

/* --- telling everything --- */

/* A change of what the store knows, in the terms of the functions above. */
enum store_op {
    STORE_PUT,     /* obj, into the part of that scope, if it is one */
    STORE_SAME,    /* ns, name: the same, of an object as it is there already */
    STORE_REMOVE,  /* ns, name, version */
    STORE_PART,    /* becomes one */
    STORE_BEGIN,   /* a replace of the part */
    STORE_END,     /* version */
    STORE_REWIND,  /* the part */
    STORE_VERSION, /* version of the part */
    STORE_DROP,    /* the scope */
    STORE_WROTE,   /* ns, name, version */
};

struct store_change {
    enum store_op op;
    struct store_scope scope; /* of all but REMOVE and WROTE */
    const struct object *obj;
    const char *ns, *name, *version;
};
typedef void store_tap_fn(void *arg, const struct store *s, const struct store_change *change);

/* One who hears of every change before it is made, so that another store of the kind to which he
 * does the same (store_apply()) is always as this one. NULL: nobody. */
void store_tap(struct store *s, store_tap_fn *fn, void *arg);
/* What makes an empty store one like this, but for what it remembers of objects that are gone. */
void store_retell(const struct store *s, store_tap_fn *fn, void *arg);
/* The object is copied. */
void store_apply(struct store *s, const struct store_change *change);

/* Keys for store_index(): pods by node; VolumeAttachments by node; objects by namespace and label
 * set. */
store_key_fn store_key_node, store_key_attached, store_key_labels;

#endif
