/* The ids of nodes. */
#include "fleetlock/roster.h"

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
    struct htab ids;
    uint32_t seed;
    bool names;
    size_t n_apps;
    struct machine_id apps[];
};

static uint32_t entry_hash(const void *entry) {
    return ((const struct entry *)entry)->hash;
}

static bool entry_equal(const void *entry, const void *key) {
    return streq(((const struct entry *)entry)->id, key);
}

static const struct htab_ops entry_ops = {entry_hash, entry_equal};

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

static void add(struct roster *r, const char *id, const char *node) {
    uint32_t hash;
    bool there = false;
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

static void drop(struct roster *r, const char *id, const char *node) {
    uint32_t hash;
    bool there = false;
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

typedef void each_fn(struct roster *r, const char *id, const char *node);

/* All ids of the node, some of them maybe twice. */
static void each(struct roster *r, const struct node *node, each_fn *fn) {
    const char *name = node->meta.name, *machine = node->info.machine_id;
    struct machine_id id, derived;
    char text[MACHINE_ID_TEXT];
    if (r->names)
        fn(r, name, name);
    if (str_empty(machine))
        return;
    fn(r, machine, name);
    if (!machine_id_parse(machine, &id))
        return;
    machine_id_format(&id, text);
    fn(r, text, name);
    for (size_t i = 0; i < r->n_apps; i++) {
        machine_id_derive(&id, &r->apps[i], &derived);
        machine_id_format(&derived, text);
        fn(r, text, name);
    }
}

static void changed(void *arg, const struct object *before, const struct object *after) {
    const struct node *old = (const struct node *)before, *new = (const struct node *)after;
    if (old && new &&str_same(old->info.machine_id, new->info.machine_id))
        return;
    if (old)
        each(arg, old, drop);
    if (new)
        each(arg, new, add);
}

struct roster *roster_new(struct store *nodes, const struct roster_options *opts) {
    size_t n = opts->apps ? opts->n_apps : 1;
    struct roster *r = xcalloc(1, sizeof *r + n * sizeof *r->apps);
    const struct object *obj;
    r->names = opts->names;
    r->n_apps = n;
    r->seed = hash_seed();
    if (opts->apps)
        memcpy(r->apps, opts->apps, n * sizeof *r->apps);
    else
        machine_id_parse(MACHINE_ID_ZINCATI, &r->apps[0]);
    htab_init(&r->ids, &entry_ops);
    for (uint32_t i = 0; (obj = store_next(nodes, &i));)
        each(r, (const struct node *)obj, add);
    store_listen(nodes, changed, r);
    return r;
}

void roster_free(struct roster *r) {
    struct entry *e;
    if (!r)
        return;
    for (uint32_t i = 0; (e = htab_next(&r->ids, &i));)
        entry_free(e);
    htab_done(&r->ids);
    free(r);
}

size_t roster_find(const struct roster *r, const char *id, const char **node) {
    uint32_t hash;
    char text[MACHINE_ID_TEXT];
    struct machine_id parsed;
    const struct entry *e = find(r, id, &hash);
    if (!e && machine_id_parse(id, &parsed)) { /* in another notation */
        machine_id_format(&parsed, text);
        e = find(r, text, &hash);
    }
    *node = e ? e->nodes.p[0] : NULL;
    return e ? e->nodes.len : 0;
}
