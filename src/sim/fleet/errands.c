/* An alarm for each errand that is under way. */
#include "sim/fleet/errands.h"

#include "base/str.h"

struct errand {
    uint32_t hash;
    struct errands *all;
    struct alarm alarm;
    char *name;
    char ns[];
};

struct errands {
    struct world *world;
    errand_fn *fn;
    void *arg;
    struct htab table;
};

struct wanted {
    const char *ns, *name;
};

static uint32_t errand_hash(const void *entry) {
    return ((const struct errand *)entry)->hash;
}
static bool errand_equal(const void *entry, const void *wanted) {
    const struct errand *e = entry;
    const struct wanted *w = wanted;
    return streq(e->name, w->name) && streq(e->ns, w->ns);
}
static const struct htab_ops errand_ops = {errand_hash, errand_equal};

static uint32_t hash_of(const struct errands *e, const struct wanted *w) {
    uint32_t h = hash_more(pool_seed(e->world->pool), w->ns, strlen(w->ns) + 1);
    return hash_more(h, w->name, strlen(w->name));
}

struct errands *errands_new(struct world *w, errand_fn *fn, void *arg) {
    struct errands *e = xnew(struct errands);
    *e = (struct errands){.world = w, .fn = fn, .arg = arg};
    htab_init(&e->table, &errand_ops);
    return e;
}

void errands_free(struct errands *e) {
    if (!e)
        return;
    struct errand *x;
    for (uint32_t i = 0; (x = htab_next(&e->table, &i));) {
        clock_stop(&e->world->clock, &x->alarm);
        free(x);
    }
    htab_done(&e->table);
    free(e);
}

static void take_out(struct errand *x) {
    htab_remove(&x->all->table, x->hash, &(struct wanted){x->ns, x->name});
}

static void done(void *arg) {
    struct errand *x = arg;
    take_out(x);
    x->all->fn(x->all->arg, x->ns, x->name);
    free(x);
}

bool errands_start(struct errands *e, const char *ns, const char *name, int64_t delay) {
    struct wanted w = {strna(ns), name};
    uint32_t hash = hash_of(e, &w);
    if (htab_find(&e->table, hash, &w))
        return false;
    size_t n = strlen(w.ns) + 1, m = strlen(name) + 1;
    struct errand *x = xcalloc(1, sizeof *x + n + m);
    x->hash = hash;
    x->all = e;
    memcpy(x->ns, w.ns, n);
    x->name = x->ns + n;
    memcpy(x->name, name, m);
    htab_insert(&e->table, x);
    clock_set(&e->world->clock, &x->alarm, e->world->clock.now + delay, done, x);
    return true;
}

bool errands_running(const struct errands *e, const char *ns, const char *name) {
    struct wanted w = {strna(ns), name};
    return htab_find(&e->table, hash_of(e, &w), &w) != NULL;
}

void errands_cancel(struct errands *e, const char *ns, const char *name) {
    struct wanted w = {strna(ns), name};
    struct errand *x = htab_find(&e->table, hash_of(e, &w), &w);
    if (!x)
        return;
    take_out(x);
    clock_stop(&e->world->clock, &x->alarm);
    free(x);
}
