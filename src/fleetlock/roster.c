/* The ids of nodes. */
#include "fleetlock/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

struct entry {
    uint32_t hash;
    VEC(char *) nodes; /* sorted; rarely more than one */
    char id[];
};

struct roster {
    const struct store *store;
    struct htab ids;
    uint32_t seed;
    struct roster_options opts;
    struct machine_id *apps; /* of the options: a copy */
};

static uint32_t entry_hash(const void *entry) {
    return ((const struct entry *)entry)->hash;
}

static bool entry_equal(const void *entry, const void *key) {
    return streq(((const struct entry *)entry)->id, key);
}

static const struct htab_ops entry_ops = {entry_hash, entry_equal};

/* Machine ids, and what is made of them, have several notations: they are one id. Others are what
 * they are. */
static const char *canonical(const char *id, char buf[static MACHINE_ID_TEXT]) {
    struct machine_id parsed;
    if (!machine_id_parse(id, &parsed))
        return id;
    machine_id_format(&parsed, buf);
    return buf;
}

/* In our own notation. */
static struct entry *find(const struct roster *r, const char *id, uint32_t *hash) {
    *hash = hash_more(r->seed, id, strlen(id));
    return htab_find(&r->ids, *hash, id);
}

/* Where the node is among those of the entry, or would be. */
static size_t place(const struct entry *e, const char *node, bool *there) {
    size_t i = 0;
    while (i < e->nodes.len && strcmp(e->nodes.p[i], node) < 0)
        i++;
    *there = i < e->nodes.len && streq(e->nodes.p[i], node);
    return i;
}

static void add(void *arg, const char *any, const char *node) {
    struct roster *r = arg;
    uint32_t hash;
    bool there = false;
    char buf[MACHINE_ID_TEXT];
    const char *id = canonical(any, buf);
    struct entry *e = find(r, id, &hash);
    if (!e) {
        size_t len = strlen(id) + 1;
        e = xcalloc(1, sizeof *e + len);
        e->hash = hash;
        memcpy(e->id, id, len);
        htab_insert(&r->ids, e);
    }
    size_t i = place(e, node, &there);
    if (there)
        return;
    (void)vec_push(&e->nodes);
    memmove(&e->nodes.p[i + 1], &e->nodes.p[i], (e->nodes.len - 1 - i) * sizeof *e->nodes.p);
    e->nodes.p[i] = xstrdup(node);
}

static void entry_free(struct entry *e) {
    for (size_t i = 0; i < e->nodes.len; i++)
        free(e->nodes.p[i]);
    vec_done(&e->nodes);
    free(e);
}

static void drop(void *arg, const char *any, const char *node) {
    struct roster *r = arg;
    uint32_t hash;
    bool there = false;
    char buf[MACHINE_ID_TEXT];
    const char *id = canonical(any, buf);
    struct entry *e = find(r, id, &hash);
    size_t i = e ? place(e, node, &there) : 0;
    if (!there)
        return;
    free(e->nodes.p[i]);
    memmove(&e->nodes.p[i], &e->nodes.p[i + 1], (e->nodes.len - 1 - i) * sizeof *e->nodes.p);
    if (--e->nodes.len)
        return;
    htab_remove(&r->ids, hash, id);
    entry_free(e);
}

typedef void each_fn(void *arg, const char *id, const char *node);

/* All ids of the node, some of them maybe twice. */
static void each(const struct roster_options *opts, const struct node *node, each_fn *fn,
                 void *arg) {
    const char *name = node->meta.name, *machine = node->info.machine_id;
    struct machine_id id, derived, zincati;
    char text[MACHINE_ID_TEXT];
    const struct machine_id *apps = opts->apps ? opts->apps : &zincati;
    if (opts->names)
        fn(arg, name, name);
    if (str_empty(machine))
        return;
    fn(arg, machine, name);
    if (!machine_id_parse(machine, &id))
        return;
    machine_id_parse(MACHINE_ID_ZINCATI, &zincati);
    for (size_t i = 0; i < (opts->apps ? opts->n_apps : 1); i++) {
        machine_id_derive(&id, &apps[i], &derived);
        machine_id_format(&derived, text);
        fn(arg, text, name);
    }
}

struct wanted {
    const char *id; /* in our own notation */
    bool found;
};

static void compare(void *arg, const char *id, const char *node) {
    struct wanted *w = arg;
    char buf[MACHINE_ID_TEXT];
    (void)node;
    w->found |= streq(canonical(id, buf), w->id);
}

bool roster_is_id(const struct roster_options *opts, const struct node *node, const char *id) {
    char buf[MACHINE_ID_TEXT];
    struct wanted w = {.id = canonical(id, buf)};
    each(opts, node, compare, &w);
    return w.found;
}

static void changed(void *arg, const struct object *before, const struct object *after) {
    struct roster *r = arg;
    const struct node *old = (const struct node *)before, *new = (const struct node *)after;
    if (old && new &&str_same(old->info.machine_id, new->info.machine_id))
        return;
    if (old)
        each(&r->opts, old, drop, r);
    if (new)
        each(&r->opts, new, add, r);
}

static void clear(struct roster *r) {
    struct entry *e;
    for (uint32_t i = 0; (e = htab_next(&r->ids, &i));)
        entry_free(e);
    htab_done(&r->ids);
}

static void fill(struct roster *r, const struct roster_options *opts) {
    const struct object *obj;
    size_t len = opts->apps ? opts->n_apps * sizeof *opts->apps : 0;
    free(r->apps);
    r->apps = opts->apps ? xmalloc(MAX_OF(len, (size_t)1)) : NULL;
    if (len)
        memcpy(r->apps, opts->apps, len);
    r->opts = (struct roster_options){r->apps, opts->n_apps, opts->names};
    htab_init(&r->ids, &entry_ops);
    for (uint32_t i = 0; (obj = store_next(r->store, &i));)
        each(&r->opts, (const struct node *)obj, add, r);
}

static bool is_same(const struct roster_options *a, const struct roster_options *b) {
    if (a->names != b->names || !a->apps != !b->apps)
        return false;
    return !a->apps ||
           (a->n_apps == b->n_apps && !memcmp(a->apps, b->apps, a->n_apps * sizeof *a->apps));
}

void roster_use(struct roster *r, const struct roster_options *opts) {
    if (is_same(&r->opts, opts))
        return;
    clear(r);
    fill(r, opts);
}

struct roster *roster_new(struct store *nodes, const struct roster_options *opts) {
    struct roster *r = xnew(struct roster);
    r->store = nodes;
    r->seed = hash_seed();
    fill(r, opts);
    store_listen(nodes, changed, r);
    return r;
}

void roster_free(struct roster *r) {
    if (!r)
        return;
    clear(r);
    free(r->apps);
    free(r);
}

size_t roster_find(const struct roster *r, const char *id, const char **node) {
    uint32_t hash;
    char buf[MACHINE_ID_TEXT];
    const struct entry *e = find(r, canonical(id, buf), &hash);
    *node = e ? e->nodes.p[0] : NULL;
    return e ? e->nodes.len : 0;
}
