/* The garbage collector: what belongs to nobody any more goes; what belongs to something that is
 * being deleted goes before it (foreground) or is let go (orphan). By
 * pkg/controller/garbagecollector, but level-driven on an index of owners instead of a graph. */
#include "sim/fleet/original.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

struct dependent {
    struct shelf *shelf;
    const char *ns, *name, *uid; /* pool entries, with references */
};

/* All that names one uid as its owner. */
struct owned {
    const char *uid; /* a pool entry */
    VEC(struct dependent) list;
};

struct garbage {
    struct fleet *fleet;
    struct htab by_owner;
    struct queue *dependents, *owners; /* keys: "RESOURCE NUMBER" in ns, see key_of() */
};

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}
static uint32_t owned_hash(const void *entry) {
    return uid_hash(((const struct owned *)entry)->uid);
}
static bool owned_equal(const void *entry, const void *uid) {
    return streq(((const struct owned *)entry)->uid, uid);
}
static const struct htab_ops owned_ops = {owned_hash, owned_equal};

static struct resource *resource_of(const struct fleet *f, const struct shelf *shelf) {
    for (size_t i = 0; i < f->api->resources.len; i++)
        if (f->api->resources.p[i]->shelf == shelf)
            return f->api->resources.p[i];
    return NULL;
}

/* --- the index --- */

static void enter(struct garbage *g, const char *uid, struct shelf *shelf, const struct meta *m) {
    struct owned *o = htab_find(&g->by_owner, uid_hash(uid), uid);
    if (!o) {
        o = xnew(struct owned);
        o->uid = pool_ref(uid);
        htab_insert(&g->by_owner, o);
    }
    *vec_push(&o->list) = (struct dependent){shelf, m->ns ? pool_ref(m->ns) : NULL,
                                             pool_ref(m->name), pool_ref(m->uid)};
}

static void dependent_done(struct garbage *g, struct dependent *d) {
    struct pool *pool = g->fleet->world->pool;
    pool_unref(pool, d->ns);
    pool_unref(pool, d->name);
    pool_unref(pool, d->uid);
}

static void owned_free(struct garbage *g, struct owned *o) {
    for (size_t i = 0; i < o->list.len; i++)
        dependent_done(g, &o->list.p[i]);
    vec_done(&o->list);
    pool_unref(g->fleet->world->pool, o->uid);
    free(o);
}

static void leave(struct garbage *g, const char *uid, const struct shelf *shelf,
                  const struct meta *m) {
    struct owned *o = htab_find(&g->by_owner, uid_hash(uid), uid);
    for (size_t i = 0; o && i < o->list.len; i++) {
        struct dependent *d = &o->list.p[i];
        if (d->shelf != shelf || d->uid != m->uid)
            continue;
        dependent_done(g, d);
        *d = o->list.p[--o->list.len];
        break;
    }
    if (o && !o->list.len) {
        htab_remove(&g->by_owner, uid_hash(uid), uid);
        owned_free(g, o);
    }
}

/* --- keys: where an object is, as two words of a queue --- */

static void ask(struct queue *q, const struct fleet *f, const struct shelf *shelf, const char *ns,
                const char *name) {
    const struct resource *res = resource_of(f, shelf);
    if (!res)
        return;
    _cleanup_free_ char *key = xasprintf("%s/%s %s", res->info->group, res->info->plural, name);
    queue_add(q, ns, key);
}

/* The object that a key names. */
static struct record *object_of(const struct fleet *f, const char *ns, const char *key,
                                struct resource **res) {
    const char *slash = strchr(key, '/'), *blank = strchr(key, ' ');
    for (size_t i = 0; i < f->api->resources.len; i++) {
        struct resource *r = f->api->resources.p[i];
        size_t g = strlen(r->info->group), p = strlen(r->info->plural);
        if (g != (size_t)(slash - key) || p != (size_t)(blank - slash - 1) ||
            memcmp(r->info->group, key, g) != 0 || memcmp(r->info->plural, slash + 1, p) != 0)
            continue;
        *res = r;
        return r->shelf ? shelf_get(r->shelf, ns, blank + 1) : NULL;
    }
    return NULL;
}

/* --- a dependent --- */

enum owner_state { OWNER_SOLID, OWNER_ABSENT, OWNER_WAITING, OWNER_ODD };

static bool has_finalizer(const struct meta *m, const char *name) {
    for (size_t i = 0; i < list_len(m->finalizers); i++)
        if (str_same(m->finalizers[i], name))
            return true;
    return false;
}

static enum owner_state owner_state(const struct fleet *f, const char *ns, const struct owner *o) {
    const struct resource *res =
        api_resource_of_kind(f->api, strna(o->api_version), strna(o->kind));
    /* A kind that is not served (yet) says nothing; nor does one that cannot own this. */
    if (!res || !res->shelf || (res->info->namespaced && str_empty(ns)) ||
        (f->original && original_is_stranger(f->original, o->uid)))
        return OWNER_ODD;
    const struct record *r = shelf_get(res->shelf, res->info->namespaced ? ns : NULL, o->name);
    if (!r || !str_same(r->obj->meta.uid, o->uid))
        return OWNER_ABSENT;
    return r->obj->meta.deleted && has_finalizer(&r->obj->meta, "foregroundDeletion")
               ? OWNER_WAITING
               : OWNER_SOLID;
}

static void drop_owners(struct fleet *f, struct resource *res, struct record *r, const char *ns,
                        enum owner_state gone) {
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "ownerReferences"), *kept = json_array(), *o;
    const struct meta *m = &r->obj->meta;
    size_t i;
    json_array_foreach(list, i, o) {
        enum owner_state s =
            i < list_len(m->owners) ? owner_state(f, ns, &m->owners[i]) : OWNER_ODD;
        if (s != OWNER_ABSENT && s != gone)
            json_array_append(kept, o);
    }
    json_object_set_new(meta_of(obj), "ownerReferences", kept);
    fleet_update(f, res, NULL, obj, NULL);
}

static bool sync_dependent(void *arg, const char *ns, const char *key) {
    struct garbage *g = arg;
    struct fleet *f = g->fleet;
    struct resource *res = NULL;
    struct record *r = object_of(f, ns, key, &res);
    if (!r || r->obj->meta.deleted || !list_len(r->obj->meta.owners))
        return true;
    const struct meta *m = &r->obj->meta;
    size_t n[OWNER_ODD + 1] = {0};
    for (size_t i = 0; i < list_len(m->owners); i++)
        n[owner_state(f, ns, &m->owners[i])]++;
    if (n[OWNER_SOLID] || n[OWNER_ODD]) {
        if (n[OWNER_SOLID] && (n[OWNER_ABSENT] || n[OWNER_WAITING]))
            drop_owners(f, res, r, ns, OWNER_WAITING);
        return true;
    }
    if (!n[OWNER_ABSENT] && !n[OWNER_WAITING])
        return true;
    /* As its own finalizers ask for; before an owner that waits, its dependents go first too. */
    const struct owned *own = htab_find(&g->by_owner, uid_hash(m->uid), m->uid);
    struct delete_options o = DELETE_OPTIONS_INIT;
    o.uid = m->uid;
    o.propagation =
        has_finalizer(m, "orphan") ? "Orphan"
        : has_finalizer(m, "foregroundDeletion") || (n[OWNER_WAITING] && own && own->list.len)
            ? "Foreground"
            : "Background";
    fleet_delete(f, res, ns, m->name, &o);
    return true;
}

/* --- an owner that waits --- */

static void remove_finalizer(struct fleet *f, struct resource *res, struct record *r,
                             const char *name) {
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i, v) if (str_same(json_string_value(v), name)) {
        json_array_remove(list, i);
        break;
    }
    fleet_update(f, res, NULL, obj, NULL);
}

static void let_go(struct fleet *f, const struct dependent *d, const char *uid) {
    struct record *r = shelf_get(d->shelf, d->ns, d->name);
    struct resource *res = resource_of(f, d->shelf);
    if (!r || !res)
        return;
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "ownerReferences"), *kept = json_array(), *o;
    size_t i;
    json_array_foreach(list, i, o) if (!str_same(json_str(o, "uid"), uid))
        json_array_append(kept, o);
    json_object_set_new(meta_of(obj), "ownerReferences", kept);
    fleet_update(f, res, NULL, obj, NULL);
}

/* Does the dependent keep its owner from going? */
static bool blocks(const struct dependent *d, const char *uid) {
    const struct record *r = shelf_get(d->shelf, d->ns, d->name);
    if (!r)
        return false;
    _cleanup_json_ json_t *obj = record_json(r);
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(meta_of(obj), "ownerReferences"), i,
                       o) if (str_same(json_str(o, "uid"), uid) &&
                              json_is_true(json_object_get(o, "blockOwnerDeletion"))) return true;
    return false;
}

static bool sync_owner(void *arg, const char *ns, const char *key) {
    struct garbage *g = arg;
    struct fleet *f = g->fleet;
    struct resource *res = NULL;
    struct record *r = object_of(f, ns, key, &res);
    if (!r || !r->obj->meta.deleted)
        return true;
    const char *uid = r->obj->meta.uid;
    const struct owned *own = htab_find(&g->by_owner, uid_hash(uid), uid);
    /* A copy: what is done below changes the index. */
    VEC(struct dependent) list = VEC_INIT;
    for (size_t i = 0; own && i < own->list.len; i++)
        *vec_push(&list) = own->list.p[i];
    bool orphan = has_finalizer(&r->obj->meta, "orphan");
    bool foreground = has_finalizer(&r->obj->meta, "foregroundDeletion");
    size_t blocking = 0;
    _cleanup_free_ char *id = xstrdup(uid);
    for (size_t i = 0; i < list.len; i++) {
        pool_ref(list.p[i].name);
        if (list.p[i].ns)
            pool_ref(list.p[i].ns);
    }
    for (size_t i = 0; i < list.len; i++) {
        if (orphan) {
            let_go(f, &list.p[i], id);
        } else if (foreground) {
            blocking += blocks(&list.p[i], id);
            ask(g->dependents, f, list.p[i].shelf, list.p[i].ns, list.p[i].name);
        }
    }
    for (size_t i = 0; i < list.len; i++) {
        pool_unref(f->world->pool, list.p[i].name);
        pool_unref(f->world->pool, list.p[i].ns);
    }
    vec_done(&list);
    r = object_of(f, ns, key, &res);
    if (r && orphan)
        remove_finalizer(f, res, r, "orphan");
    else if (r && foreground && !blocking)
        remove_finalizer(f, res, r, "foregroundDeletion");
    return true;
}

/* --- listening --- */

static void changed(void *arg, struct shelf *shelf, const struct change *c) {
    struct garbage *g = arg;
    struct fleet *f = g->fleet;
    const struct meta *m = &c->after->obj->meta;
    const struct meta *was = c->before ? &c->before->obj->meta : NULL;
    const struct owner *before = was ? was->owners : NULL;
    const struct owner *after = c->type == CHANGE_DELETED ? NULL : m->owners;
    if (before != after) { /* equal lists of one pool have one address */
        for (size_t i = 0; i < list_len(before); i++) {
            leave(g, before[i].uid, shelf, was);
            /* An owner that waits for its dependents may be done. */
            const struct resource *res =
                api_resource_of_kind(f->api, strna(before[i].api_version), strna(before[i].kind));
            if (res && res->shelf)
                ask(g->owners, f, res->shelf, res->info->namespaced ? was->ns : NULL,
                    before[i].name);
        }
        for (size_t i = 0; i < list_len(after); i++)
            enter(g, after[i].uid, shelf, m);
        if (list_len(after))
            ask(g->dependents, f, shelf, m->ns, m->name);
    }
    if (c->type == CHANGE_DELETED) {
        const struct owned *own = htab_find(&g->by_owner, uid_hash(m->uid), m->uid);
        for (size_t i = 0; own && i < own->list.len; i++)
            ask(g->dependents, f, own->list.p[i].shelf, own->list.p[i].ns, own->list.p[i].name);
        return;
    }
    if (m->deleted && list_len(m->finalizers) &&
        (has_finalizer(m, "orphan") || has_finalizer(m, "foregroundDeletion")))
        ask(g->owners, f, shelf, m->ns, m->name);
}

static void *start(struct fleet *f) {
    struct garbage *g = xnew(struct garbage);
    g->fleet = f;
    htab_init(&g->by_owner, &owned_ops);
    g->dependents = queue_new(f->world, MSEC(5), MSEC(50), sync_dependent, g);
    g->owners = queue_new(f->world, MSEC(5), MSEC(50), sync_owner, g);
    world_listen(f->world, changed, g);
    return g;
}

static void stop(void *part) {
    struct garbage *g = part;
    world_unlisten(g->fleet->world, changed, g);
    queue_free(g->dependents);
    queue_free(g->owners);
    struct owned *o;
    for (uint32_t i = 0; (o = htab_next(&g->by_owner, &i));)
        owned_free(g, o);
    htab_done(&g->by_owner);
    free(g);
}

const struct part garbage_part = {"garbage-collector-controller", start, stop};
