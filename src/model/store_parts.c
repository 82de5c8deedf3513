/* Several parts in one store: each is replaced and moves on by itself. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/store.h"
#include "model/store_internal.h"
#include "model/version.h"

/* --- scopes --- */

static bool same_scope(struct store_scope a, struct store_scope b) {
    return a.has == b.has && a.arg == b.arg;
}

static bool scope_has(struct store_scope scope, const struct object *obj) {
    return !scope.has || scope.has(obj, scope.arg);
}

bool store_part_has(const struct store_part *p, const struct object *obj) {
    return scope_has(p->scope, obj);
}

struct store_part *store_part_of(const struct store *s, const struct object *obj) {
    for (size_t i = 0; i < s->parts.len; i++)
        if (store_part_has(s->parts.p[i], obj))
            return s->parts.p[i];
    return NULL;
}

static struct store_part *find_part(const struct store *s, struct store_scope scope) {
    for (size_t i = 0; i < s->parts.len; i++)
        if (same_scope(s->parts.p[i]->scope, scope))
            return s->parts.p[i];
    return NULL;
}

struct store_part *store_part(struct store *s, struct store_scope scope) {
    struct store_part *p = find_part(s, scope);
    if (!p) {
        store_tell(s, &(struct store_change){.op = STORE_PART, .scope = scope});
        p = xnew(struct store_part);
        p->store = s;
        p->scope = scope;
        p->history = s->history;
        *vec_push(&s->parts) = p;
    }
    return p;
}

bool store_part_synced(const struct store_part *p) {
    return p->synced;
}

const char *store_part_version(const struct store_part *p) {
    return p->version;
}

static void set_version(struct store_part *p, const char *version) {
    struct pool *pool = p->store->pool;
    const char *v = version ? pool_str(pool, version, strlen(version)) : NULL;
    pool_unref(pool, p->version);
    p->version = v;
}

void store_part_set_version(struct store_part *p, const char *version) {
    store_tell(p->store,
               &(struct store_change){.op = STORE_VERSION, .scope = p->scope, .version = version});
    set_version(p, version);
}

const char *store_scope_version(const struct store *s, struct store_scope scope) {
    const struct store_part *p = find_part(s, scope);
    return p ? p->version : NULL;
}

bool store_scope_synced(const struct store *s, struct store_scope scope) {
    const struct store_part *p = find_part(s, scope);
    return p && p->synced;
}

bool store_synced(const struct store *s) {
    for (size_t i = 0; i < s->parts.len; i++)
        if (!s->parts.p[i]->synced)
            return false;
    return s->parts.len > 0;
}

const char *store_version(const struct store *s) {
    const char *newest = NULL;
    for (size_t i = 0; i < s->parts.len; i++)
        if (!newest || version_compare(s->parts.p[i]->version, newest) > 0)
            newest = s->parts.p[i]->version;
    return newest;
}

bool store_all_passed(const struct store *s, const char *version) {
    for (size_t i = 0; i < s->parts.len; i++)
        if (version_compare(s->parts.p[i]->version, version) < 0)
            return false;
    return s->parts.len > 0;
}

static void part_free(struct store_part *p) {
    pool_unref(p->store->pool, p->version);
    free(p);
}

void store_parts_done(struct store *s) {
    for (size_t i = 0; i < s->parts.len; i++)
        part_free(s->parts.p[i]);
    vec_done(&s->parts);
}

/* --- objects --- */

const struct object *store_part_get(const struct store_part *p, const char *ns, const char *name) {
    const struct object *obj = store_find_name(p->store, ns, name);
    return obj && store_part_has(p, obj) ? obj : NULL;
}

bool store_part_put(struct store_part *p, struct object *obj) {
    struct store *s = p->store;
    if (obj->meta.name && store_part_has(p, obj))
        return store_put_in(s, p, obj);
    /* It has left the part, which the removal tells. */
    bool left = store_part_remove(p, obj->meta.ns, obj->meta.name, obj->meta.version);
    object_free(s->kind, s->pool, obj);
    return left;
}

/* What moves from one part to another is deleted here and added there under the same version, and
 * the latter may come first: so only what is still here is removed. */
bool store_part_remove(struct store_part *p, const char *ns, const char *name,
                       const char *version) {
    return store_part_get(p, ns, name) && store_remove(p->store, ns, name, version);
}

/* --- replacing --- */

/* Removes what is in the scope and not of that epoch; 0 is nobody's: nobody looks at it any more,
 * and whoever does so again finds it as it was. */
static void sweep(struct store *s, struct store_scope scope, uint32_t epoch) {
    VEC(struct object *) gone = VEC_INIT;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->objects, &i));) {
        struct object *obj = e;
        if ((!epoch || obj->meta.store_epoch != epoch) && scope_has(scope, obj))
            *vec_push(&gone) = obj;
    }
    for (size_t i = 0; i < gone.len; i++)
        store_drop(s, gone.p[i], epoch ? NULL : gone.p[i]->meta.version);
    vec_done(&gone);
}

void store_part_begin(struct store_part *p) {
    store_tell(p->store, &(struct store_change){.op = STORE_BEGIN, .scope = p->scope});
    p->epoch = ++p->store->epoch;
}

/* The part has noticed a restore, or has caught up with one that another has noticed. */
static void enter_history(struct store_part *p) {
    struct store *s = p->store;
    bool first = p->history == s->history;
    s->history += first;
    p->history = s->history;
    p->rewind = false;
    /* Made in a history that no longer exists: their versions may never come. */
    store_forget_writes(p);
    store_forget_gone(s);
    for (size_t i = 0; first && i < s->parts.len; i++) {
        struct store_part *other = s->parts.p[i];
        if (other != p && other->restored)
            other->restored(other->arg);
    }
}

void store_part_end(struct store_part *p, const char *version) {
    store_tell(p->store,
               &(struct store_change){.op = STORE_END, .scope = p->scope, .version = version});
    sweep(p->store, p->scope, p->epoch);
    set_version(p, version);
    p->synced = true;
    if (p->rewind)
        enter_history(p);
}

void store_part_on_restored(struct store_part *p, void (*fn)(void *arg), void *arg) {
    p->restored = fn;
    p->arg = arg;
}

void store_part_rewind(struct store_part *p) {
    store_tell(p->store, &(struct store_change){.op = STORE_REWIND, .scope = p->scope});
    p->rewind = true;
}

void store_drop_scope(struct store *s, struct store_scope scope) {
    store_tell(s, &(struct store_change){.op = STORE_DROP, .scope = scope});
    sweep(s, scope, 0);
    for (size_t i = 0; i < s->parts.len; i++) {
        struct store_part *p = s->parts.p[i];
        if (!same_scope(p->scope, scope))
            continue;
        s->parts.p[i] = s->parts.p[--s->parts.len];
        store_barrier_forget_part(p);
        part_free(p);
        return;
    }
}

/* --- the whole store as one part --- */

static struct store_part *whole(struct store *s) {
    return store_part(s, (struct store_scope){0});
}

void store_set_version(struct store *s, const char *version) {
    store_part_set_version(whole(s), version);
}

void store_replace_begin(struct store *s) {
    store_part_begin(whole(s));
}

void store_replace_end(struct store *s, const char *version) {
    store_part_end(whole(s), version);
}

void store_rewind(struct store *s) {
    store_part_rewind(whole(s));
}
