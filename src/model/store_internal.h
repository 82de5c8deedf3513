/* What the files of the store (store*.c) share. */
#ifndef MODEL_STORE_INTERNAL_H
#define MODEL_STORE_INTERNAL_H

#include "model/store.h"

enum { STORE_LISTENERS_MAX = 8, STORE_INDEXES_MAX = 4 };

struct store_index {
    store_key_fn *key;
    struct htab buckets;
};

/* The objects of one scope. */
struct store_part {
    struct store *store;
    struct store_scope scope;
    uint32_t epoch; /* of the replace under way, or of the last one; no other part has it */
    bool synced, rewind;
    uint32_t history;    /* that it is of: those before the last restore are over */
    const char *version; /* pool entry */
    void (*restored)(void *arg);
    void *arg;
};

struct store {
    const struct kind *kind;
    struct pool *pool;
    struct htab objects;
    uint32_t seed;    /* of the hashes of names, which others choose */
    uint32_t epoch;   /* the last that a part was given */
    uint32_t history; /* restores that were noticed */
    VEC(struct store_part *) parts;
    struct {
        store_changed_fn *fn;
        void *arg;
    } listeners[STORE_LISTENERS_MAX];
    unsigned n_listeners;
    store_tap_fn *tap;
    void *tap_arg;
    struct store_index indexes[STORE_INDEXES_MAX];
    unsigned n_indexes;
    struct htab written, gone; /* of store_barrier.c */
    uint32_t written_limit, gone_limit;
};

/* --- store.c --- */

/* The key of objects, writes and what is gone. */
struct store_name {
    const char *ns, *name;
};
uint32_t store_name_hash(const struct store *s, const char *ns, const char *name);
struct object *store_find_name(const struct store *s, const char *ns, const char *name);
/* `p` is NULL when the object is in no part. */
bool store_put_in(struct store *s, const struct store_part *p, struct object *obj);
/* `version` is that of the deletion. Without one, all that is known is that this state is over: the
 * object may have moved to another part long before it was missed here. */
void store_drop(struct store *s, struct object *obj, const char *version);

/* The same but for what the store itself notes in it. */
bool store_same(const struct kind *kind, const struct object *a, const struct object *b);

/* --- store_tap.c --- */

void store_tell(const struct store *s, const struct store_change *change);

/* --- store_parts.c --- */

bool store_part_has(const struct store_part *p, const struct object *obj);
/* NULL: in none. */
struct store_part *store_part_of(const struct store *s, const struct object *obj);
/* Every part has come as far as that. */
bool store_all_passed(const struct store *s, const char *version);
void store_parts_done(struct store *s);

/* --- store_barrier.c --- */

void store_barrier_init(struct store *s);
void store_barrier_done(struct store *s);
/* The part is about to be freed. */
void store_barrier_forget_part(const struct store_part *p);
/* Forgets the writes that wait for this part. */
void store_forget_writes(struct store_part *p);
/* States of that name before `version` are over (`same`: and that one itself), also for parts that
 * are behind. */
void store_note_gone(struct store *s, const char *ns, const char *name, const char *version,
                     bool same);
/* So it was noted about this state. */
bool store_is_over(struct store *s, const struct object *obj);
/* The writes that have not been seen yet, as changes. */
void store_tell_writes(const struct store *s, store_tap_fn *fn, void *arg);
void store_forget_gone(struct store *s);

#endif
