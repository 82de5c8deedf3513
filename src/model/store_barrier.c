/* What a store remembers of versions: the writes of ours that it has not seen yet, and the objects
 * that one part has removed while another is behind. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/store.h"
#include "model/store_internal.h"
#include "model/version.h"

enum {
    WRITTEN_MIN = 64, /* writes to remember before it is worth looking which were seen */
    GONE_MIN = 64,    /* the same of objects that are gone */
    GONE_MAX = 65536, /* when a part never gets on */
};

/* A write whose effect has not been seen yet. */
struct written {
    char *ns, *name, *version;
    uint32_t hash;
    const struct store_part *part; /* that the object was in then; NULL: in none */
};

/* An object that one part has removed while another is behind: what that one still brings of it is
 * over. */
struct gone {
    char *ns, *name, *version; /* anything older is over */
    bool same;                 /* and that version itself */
    uint32_t hash;
};

static uint32_t written_hash(const void *entry) {
    return ((const struct written *)entry)->hash;
}

static bool written_equal(const void *entry, const void *key_) {
    const struct written *w = entry;
    const struct store_name *key = key_;
    return streq(w->name, key->name) && str_same(w->ns, key->ns);
}

static uint32_t gone_hash(const void *entry) {
    return ((const struct gone *)entry)->hash;
}

static bool gone_equal(const void *entry, const void *key_) {
    const struct gone *g = entry;
    const struct store_name *key = key_;
    return streq(g->name, key->name) && str_same(g->ns, key->ns);
}

static const struct htab_ops written_ops = {written_hash, written_equal};
static const struct htab_ops gone_ops = {gone_hash, gone_equal};

/* --- life cycle --- */

void store_barrier_init(struct store *s) {
    htab_init(&s->written, &written_ops);
    htab_init(&s->gone, &gone_ops);
}

static void written_free(struct written *w) {
    if (!w)
        return;
    free(w->ns);
    free(w->name);
    free(w->version);
    free(w);
}

static void gone_free(struct gone *g) {
    if (!g)
        return;
    free(g->ns);
    free(g->name);
    free(g->version);
    free(g);
}

void store_forget_gone(struct store *s) {
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->gone, &i));)
        gone_free(e);
    htab_done(&s->gone);
}

void store_barrier_done(struct store *s) {
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->written, &i));)
        written_free(e);
    htab_done(&s->written);
    store_forget_gone(s);
}

void store_barrier_forget_part(const struct store_part *p) {
    void *e;
    for (uint32_t i = 0; (e = htab_next(&p->store->written, &i));) {
        struct written *w = e;
        if (w->part == p)
            w->part = NULL;
    }
}

/* --- what is gone --- */

static void prune_gone(struct store *s) {
    VEC(struct gone *) over = VEC_INIT;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->gone, &i));)
        if (store_all_passed(s, ((struct gone *)e)->version))
            *vec_push(&over) = e;
    for (size_t i = 0; i < over.len; i++) {
        struct store_name key = {over.p[i]->ns, over.p[i]->name};
        gone_free(htab_remove(&s->gone, over.p[i]->hash, &key));
    }
    vec_done(&over);
    if (s->gone.len >= GONE_MAX)
        store_forget_gone(s);
    s->gone_limit = MAX_OF(2 * s->gone.len, (uint32_t)GONE_MIN);
}

void store_note_gone(struct store *s, const char *ns, const char *name, const char *version,
                     bool same) {
    if (s->parts.len < 2 || !version_valid(version) || store_all_passed(s, version))
        return;
    struct store_name key = {ns, name};
    uint32_t hash = store_name_hash(s, ns, name);
    const struct gone *known = htab_find(&s->gone, hash, &key);
    int c = known ? version_compare(version, known->version) : 1;
    if (c < 0 || (c == 0 && known->same))
        return;
    gone_free(htab_remove(&s->gone, hash, &key));
    if (s->gone.len >= s->gone_limit)
        prune_gone(s);
    struct gone *g = xnew(struct gone);
    g->ns = ns ? xstrdup(ns) : NULL;
    g->name = xstrdup(name);
    g->version = xstrdup(version);
    g->same = same;
    g->hash = hash;
    htab_insert(&s->gone, g);
}

bool store_is_over(struct store *s, const struct object *obj) {
    struct store_name key = {obj->meta.ns, obj->meta.name};
    const struct gone *g = htab_find(&s->gone, obj->meta.store_hash, &key);
    if (!g)
        return false;
    int c = version_compare(obj->meta.version, g->version);
    if (c < 0 || (c == 0 && g->same))
        return true;
    gone_free(htab_remove(&s->gone, obj->meta.store_hash, &key));
    return false;
}

/* --- what was written --- */

/* The part that has to come as far as the write, or NULL: all of them. */
static const struct store_part *part_of_write(const struct store *s, const struct written *w) {
    const struct object *obj = store_find_name(s, w->ns, w->name);
    const struct store_part *p = obj ? store_part_of(s, obj) : NULL;
    return p ? p : w->part;
}

static bool has_seen(const struct store *s, const struct written *w) {
    const struct object *obj = store_find_name(s, w->ns, w->name);
    if (obj && version_compare(obj->meta.version, w->version) >= 0)
        return true;
    const struct store_part *p = part_of_write(s, w);
    return p ? version_compare(p->version, w->version) >= 0 : store_all_passed(s, w->version);
}

/* What was called seen must not be unseen by a part that is behind. */
static void forget_written(struct store *s, const struct written *w) {
    struct store_name key = {w->ns, w->name};
    if (!store_find_name(s, w->ns, w->name))
        store_note_gone(s, w->ns, w->name, w->version, false);
    written_free(htab_remove(&s->written, w->hash, &key));
}

/* Those for which `fn` is true. */
static void forget_if(struct store *s,
                      bool (*fn)(const struct store *, const struct written *,
                                 const struct store_part *),
                      const struct store_part *p) {
    VEC(struct written *) gone = VEC_INIT;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&s->written, &i));)
        if (fn(s, e, p))
            *vec_push(&gone) = e;
    for (size_t i = 0; i < gone.len; i++)
        forget_written(s, gone.p[i]);
    vec_done(&gone);
}

static bool was_seen(const struct store *s, const struct written *w, const struct store_part *p) {
    (void)p;
    return has_seen(s, w);
}

static bool waits_for(const struct store *s, const struct written *w, const struct store_part *p) {
    const struct store_part *own = part_of_write(s, w);
    return !own || own == p;
}

void store_forget_writes(struct store_part *p) {
    forget_if(p->store, waits_for, p);
}

/* Nobody may ever ask about some of them again (pods that were evicted). */
static void prune_written(struct store *s) {
    forget_if(s, was_seen, NULL);
    s->written_limit = MAX_OF(2 * s->written.len, (uint32_t)WRITTEN_MIN);
}

void store_wrote(struct store *s, const char *ns, const char *name, const char *version) {
    struct store_name key = {ns, name};
    if (!version_valid(version))
        return;
    store_tell(
        s, &(struct store_change){.op = STORE_WROTE, .ns = ns, .name = name, .version = version});
    const struct object *obj = store_find_name(s, ns, name);
    struct written *w = htab_find(&s->written, store_name_hash(s, ns, name), &key);
    if (w) {
        if (version_compare(version, w->version) <= 0)
            return;
        str_replace(&w->version, version);
        w->part = obj ? store_part_of(s, obj) : NULL;
        return;
    }
    if (s->written.len >= s->written_limit)
        prune_written(s);
    w = xnew(struct written);
    w->ns = ns ? xstrdup(ns) : NULL;
    w->name = xstrdup(name);
    w->version = xstrdup(version);
    w->hash = store_name_hash(s, ns, name);
    w->part = obj ? store_part_of(s, obj) : NULL;
    htab_insert(&s->written, w);
}

bool store_fresh(const struct store *s, const char *ns, const char *name) {
    struct store_name key = {ns, name};
    const struct written *w = htab_find(&s->written, store_name_hash(s, ns, name), &key);
    if (!w)
        return true;
    if (!has_seen(s, w))
        return false;
    /* Forgetting it is no change that anybody could observe. */
    forget_written((struct store *)s, w);
    return true;
}

void store_tell_writes(const struct store *s, store_tap_fn *fn, void *arg) {
    const void *e;
    for (uint32_t i = 0; (e = htab_next(&s->written, &i));) {
        const struct written *w = e;
        fn(arg, s,
           &(struct store_change){
               .op = STORE_WROTE, .ns = w->ns, .name = w->name, .version = w->version});
    }
}
