/* Slots by name in a hash table; their order in a vector that is sorted when somebody asks; the
 * history in a ring. */
#include "sim/shelf.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/world.h"

/* A name that exists or did a moment ago: it leaves the vector when that is put in order next. */
struct slot {
    uint32_t hash;
    bool listed; /* in `order` or `fresh` */
    struct record *record;
    char *ns, *name; /* of a dead slot they outlive the record */
};

struct listener {
    shelf_listener *fn;
    void *arg;
};

struct shelf {
    struct world *world;
    const struct kind *kind;
    struct htab slots;
    size_t len;
    VEC(struct slot *) order; /* sorted, with dead slots among them */
    VEC(struct slot *) fresh; /* not sorted in yet */
    size_t dead;
    VEC(struct listener) listeners;
    struct snapshot *current;
    struct change *ring; /* capacity is a power of two */
    uint64_t first, end, cap;
    uint64_t known; /* what followed this version is known */
    size_t bytes;
};

/* --- slots --- */

struct slot_key {
    const char *ns, *name;
};

/* Names come from outside: nobody should be able to choose colliding ones. */
static uint32_t key_hash(const struct shelf *s, const char *ns, const char *name) {
    uint32_t seed = pool_seed(s->world->pool);
    return hash_more(hash_more(seed, strna(ns), strlen(strna(ns)) + 1), name, strlen(name));
}
static uint32_t slot_hash(const void *entry) {
    return ((const struct slot *)entry)->hash;
}
static bool slot_equal(const void *entry, const void *key) {
    const struct slot *s = entry;
    const struct slot_key *k = key;
    return streq(s->name, k->name) && streq(s->ns, strna(k->ns));
}
static const struct htab_ops slot_ops = {slot_hash, slot_equal};

static int key_compare(const char *ns, const char *name, const struct slot *s) {
    int c = strcmp(strna(ns), s->ns);
    return c ? c : strcmp(name, s->name);
}

static int slot_order(const void *a, const void *b) {
    const struct slot *const *x = a, *const *y = b;
    return key_compare((*x)->ns, (*x)->name, *y);
}

static void slot_free(struct slot *s) {
    record_unref(s->record);
    free(s->ns);
    free(s->name);
    free(s);
}

struct shelf *shelf_new(struct world *w, const struct kind *kind) {
    struct shelf *s = xnew(struct shelf);
    s->world = w;
    s->kind = kind;
    s->known = w->version;
    htab_init(&s->slots, &slot_ops);
    return s;
}

static void ring_drop(struct shelf *s) {
    struct change *c = &s->ring[s->first++ & (s->cap - 1)];
    s->known = c->after->version;
    s->bytes -= c->after->len;
    record_unref(c->before);
    record_unref(c->after);
}

void shelf_compact(struct shelf *s) {
    while (s->first < s->end)
        ring_drop(s);
    s->known = s->world->version;
}

void shelf_free(struct shelf *s) {
    if (!s)
        return;
    shelf_compact(s);
    free(s->ring);
    snapshot_unref(s->current);
    for (size_t i = 0; i < s->order.len; i++)
        slot_free(s->order.p[i]);
    for (size_t i = 0; i < s->fresh.len; i++)
        slot_free(s->fresh.p[i]);
    vec_done(&s->order);
    vec_done(&s->fresh);
    vec_done(&s->listeners);
    htab_done(&s->slots);
    free(s);
}

const struct kind *shelf_kind(const struct shelf *s) {
    return s->kind;
}

size_t shelf_len(const struct shelf *s) {
    return s->len;
}

static struct slot *find(const struct shelf *s, const char *ns, const char *name) {
    return htab_find(&s->slots, key_hash(s, ns, name), &(struct slot_key){ns, name});
}

struct record *shelf_get(const struct shelf *s, const char *ns, const char *name) {
    const struct slot *slot = find(s, ns, name);
    return slot ? slot->record : NULL;
}

/* --- changes --- */

static void remember_change(struct shelf *s, struct change change) {
    if (s->end - s->first == s->cap) {
        uint64_t cap = s->cap ? s->cap * 2 : 16;
        struct change *ring = xcalloc(cap, sizeof *ring);
        for (uint64_t i = s->first; i < s->end; i++)
            ring[i & (cap - 1)] = s->ring[i & (s->cap - 1)];
        free(s->ring);
        s->ring = ring;
        s->cap = cap;
    }
    s->ring[s->end++ & (s->cap - 1)] = change;
    s->bytes += change.after->len;
    while (s->end - s->first > 1 &&
           (s->bytes > SHELF_HISTORY_BYTES ||
            s->ring[s->first & (s->cap - 1)].time < s->world->clock.now - SHELF_MEMORY))
        ring_drop(s);
}

/* Takes over the references of both records. */
static void tell(struct shelf *s, enum change_type type, struct record *before,
                 struct record *after) {
    snapshot_unref(s->current);
    s->current = NULL;
    struct change change = {type, s->world->clock.now, before, after};
    remember_change(s, change);
    /* A listener's own changes may push this one out of the history. */
    if (before)
        record_ref(before);
    record_ref(after);
    world_note(s->world, s, &change);
    for (size_t i = 0; i < s->listeners.len; i++)
        s->listeners.p[i].fn(s->listeners.p[i].arg, &change);
    record_unref(before);
    record_unref(after);
}

static struct record *place(struct shelf *s, struct record *r) {
    const struct meta *m = &r->obj->meta;
    struct slot *slot = find(s, m->ns, m->name);
    if (!slot) {
        slot = xnew(struct slot);
        slot->hash = key_hash(s, m->ns, m->name);
        slot->ns = xstrdup(strna(m->ns));
        slot->name = xstrdup(m->name);
        htab_insert(&s->slots, slot);
        *vec_push(&s->fresh) = slot;
    } else if (!slot->record) {
        s->dead--;
    }
    struct record *before = slot->record;
    slot->record = r;
    s->world->stored += r->len - (uint64_t)(before ? before->len : 0);
    s->len += !before;
    tell(s, before ? CHANGE_MODIFIED : CHANGE_ADDED, before, record_ref(r));
    return r;
}

struct record *shelf_put(struct shelf *s, json_t *value, struct err *err) {
    struct world *w = s->world;
    struct record *r = record_of(&w->codec, s->kind, value, w->version + 1, err);
    if (!r)
        return NULL;
    w->version++;
    return place(s, r);
}

struct record *shelf_put_status(struct shelf *s, struct record *old, struct view status,
                                struct err *err) {
    struct world *w = s->world;
    struct record *r = record_with_status(&w->codec, old, status, w->version + 1, err);
    if (!r)
        return NULL;
    w->version++;
    return place(s, r);
}

struct record *shelf_splice(struct shelf *s, struct record *old, size_t at, size_t len,
                            struct view text, struct err *err) {
    struct world *w = s->world;
    struct record *r = record_splice(&w->codec, old, at, len, text, w->version + 1, err);
    if (!r)
        return NULL;
    w->version++;
    return place(s, r);
}

void shelf_remove(struct shelf *s, struct record *r) {
    struct slot *slot = find(s, r->obj->meta.ns, r->obj->meta.name);
    assert(slot && slot->record == r);
    /* What decoded once does so again. */
    struct record *last =
        record_with_status(&s->world->codec, r, (struct view){0}, ++s->world->version, NULL);
    assert(last);
    slot->record = NULL;
    s->world->stored -= r->len;
    s->len--;
    s->dead++;
    tell(s, CHANGE_DELETED, r, last);
}

void shelf_listen(struct shelf *s, shelf_listener *fn, void *arg) {
    *vec_push(&s->listeners) = (struct listener){fn, arg};
}

void shelf_unlisten(struct shelf *s, shelf_listener *fn, void *arg) {
    size_t n = 0;
    for (size_t i = 0; i < s->listeners.len; i++)
        if (s->listeners.p[i].fn != fn || s->listeners.p[i].arg != arg)
            s->listeners.p[n++] = s->listeners.p[i];
    s->listeners.len = n;
}

/* --- snapshots --- */

/* Sorts the fresh slots in and drops the dead ones. */
static void put_in_order(struct shelf *s) {
    if (!s->fresh.len && !s->dead)
        return;
    if (s->fresh.len)
        qsort(s->fresh.p, s->fresh.len, sizeof *s->fresh.p, slot_order);
    VEC(struct slot *) merged = VEC_INIT;
    size_t i = 0, j = 0;
    while (i < s->order.len || j < s->fresh.len) {
        struct slot *slot;
        if (j == s->fresh.len ||
            (i < s->order.len && slot_order(&s->order.p[i], &s->fresh.p[j]) < 0))
            slot = s->order.p[i++];
        else
            slot = s->fresh.p[j++];
        if (slot->record) {
            *vec_push(&merged) = slot;
        } else {
            htab_remove(&s->slots, slot->hash, &(struct slot_key){slot->ns, slot->name});
            slot_free(slot);
        }
    }
    vec_done(&s->order);
    vec_done(&s->fresh);
    s->order.p = merged.p;
    s->order.len = merged.len;
    s->order.cap = merged.cap;
    s->dead = 0;
}

struct snapshot *shelf_snapshot(struct shelf *s) {
    if (!s->current) {
        put_in_order(s);
        struct snapshot *snap = xmalloc(sizeof *snap + s->order.len * sizeof(struct record *));
        *snap = (struct snapshot){.refs = 1, .version = s->world->version, .n = s->order.len};
        for (size_t i = 0; i < s->order.len; i++)
            snap->items[i] = record_ref(s->order.p[i]->record);
        s->current = snap;
    }
    /* Other resources may have changed since; this one is the same. */
    if (s->current->refs == 1)
        s->current->version = s->world->version;
    s->current->refs++;
    return s->current;
}

void snapshot_unref(struct snapshot *snap) {
    if (!snap || --snap->refs)
        return;
    for (size_t i = 0; i < snap->n; i++)
        record_unref(snap->items[i]);
    free(snap);
}

size_t snapshot_seek(const struct snapshot *snap, const char *ns, const char *name) {
    size_t low = 0, high = snap->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        assert(snap->items[mid]);
        const struct meta *m = &snap->items[mid]->obj->meta;
        int c = strcmp(strna(m->ns), strna(ns));
        if (!c)
            c = strcmp(m->name, strna(name));
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* --- history --- */

uint64_t shelf_first(const struct shelf *s) {
    return s->first;
}

uint64_t shelf_end(const struct shelf *s) {
    return s->end;
}

const struct change *shelf_change(const struct shelf *s, uint64_t position) {
    assert(position >= s->first && position < s->end);
    return &s->ring[position & (s->cap - 1)];
}

bool shelf_position(const struct shelf *s, uint64_t version, uint64_t *position) {
    if (version < s->known)
        return false;
    uint64_t low = s->first, high = s->end;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (shelf_change(s, mid)->after->version <= version)
            low = mid + 1;
        else
            high = mid;
    }
    *position = low;
    return true;
}

/* The present with the changes since then undone, the last one first. */
struct snapshot *shelf_snapshot_at(struct shelf *s, uint64_t version) {
    uint64_t position;
    if (!shelf_position(s, version, &position))
        return NULL;
    if (position == s->end) {
        struct snapshot *now = shelf_snapshot(s);
        if (now->version == version)
            return now;
        snapshot_unref(now);
    }
    struct snapshot *now = shelf_snapshot(s);
    /* Each change that is undone adds one object at most. */
    struct snapshot *snap =
        xmalloc(sizeof *snap + (now->n + (size_t)(s->end - position)) * sizeof(struct record *));
    *snap = (struct snapshot){.refs = 1, .version = version, .n = now->n};
    for (size_t i = 0; i < now->n; i++)
        snap->items[i] = record_ref(now->items[i]);
    snapshot_unref(now);
    for (uint64_t i = s->end; i-- > position;) {
        const struct change *c = shelf_change(s, i);
        const struct meta *m = &c->after->obj->meta;
        size_t at = snapshot_seek(snap, m->ns, m->name);
        struct record **item = &snap->items[at];
        size_t behind = snap->n - at;
        if (c->type == CHANGE_DELETED) {
            memmove(item + 1, item, behind * sizeof(struct record *));
            *item = record_ref(c->before);
            snap->n++;
        } else {
            record_unref(*item);
            if (c->type == CHANGE_ADDED) {
                memmove(item, item + 1, (behind - 1) * sizeof(struct record *));
                snap->n--;
            } else {
                *item = record_ref(c->before);
            }
        }
    }
    return snap;
}
