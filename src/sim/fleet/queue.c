/* Keys with an alarm each. */
#include "sim/fleet/queue.h"

#include <string.h>

/* client-go's default: 5 ms doubling up to 1000 s; the real queues also share a bucket of 10 per
 * second, which only matters to storms. */
#define BACKOFF_FIRST MSEC(5)
#define BACKOFF_MAX   SEC(1000)

struct key {
    uint32_t hash;
    int64_t backoff; /* what the next failure will wait; 0: none yet */
    bool waiting;    /* its alarm is set */
    struct queue *queue;
    struct alarm alarm;
    char *name;
    char ns[];
};

struct queue {
    struct world *world;
    int64_t min, max;
    const int64_t *lag;
    queue_fn *fn;
    void *arg;
    struct htab keys;
    size_t waiting;
};

struct wanted {
    const char *ns, *name;
};

static uint32_t key_hash(const void *entry) {
    return ((const struct key *)entry)->hash;
}
static bool key_equal(const void *entry, const void *wanted) {
    const struct key *k = entry;
    const struct wanted *w = wanted;
    return streq(k->name, w->name) && streq(k->ns, w->ns);
}
static const struct htab_ops key_ops = {key_hash, key_equal};

struct queue *queue_new(struct world *w, int64_t min, int64_t max, queue_fn *fn, void *arg) {
    struct queue *q = xnew(struct queue);
    *q = (struct queue){.world = w, .min = min, .max = max, .lag = &w->lag, .fn = fn, .arg = arg};
    htab_init(&q->keys, &key_ops);
    return q;
}

void queue_free(struct queue *q) {
    if (!q)
        return;
    struct key *k;
    for (uint32_t i = 0; (k = htab_next(&q->keys, &i));) {
        clock_stop(&q->world->clock, &k->alarm);
        free(k);
    }
    htab_done(&q->keys);
    free(q);
}

void queue_lag(struct queue *q, const int64_t *lag) {
    q->lag = lag;
}

size_t queue_len(const struct queue *q) {
    return q->waiting;
}

static void forget(struct queue *q, struct key *k) {
    htab_remove(&q->keys, k->hash, &(struct wanted){k->ns, k->name});
    free(k);
}

static void turn(void *arg) {
    struct key *k = arg;
    struct queue *q = k->queue;
    k->waiting = false;
    q->waiting--;
    if (q->fn(q->arg, k->ns, k->name)) {
        k->backoff = 0;
        if (!k->waiting) /* it may have been added again meanwhile */
            forget(q, k);
        return;
    }
    k->backoff = k->backoff ? MIN_OF(k->backoff * 2, BACKOFF_MAX) : BACKOFF_FIRST;
    queue_add_after(q, k->ns, k->name, k->backoff);
}

void queue_add_after(struct queue *q, const char *ns, const char *name, int64_t delay) {
    struct wanted wanted = {strna(ns), name};
    uint32_t hash = hash_more(pool_seed(q->world->pool), wanted.ns, strlen(wanted.ns) + 1);
    hash = hash_more(hash, name, strlen(name));
    struct key *k = htab_find(&q->keys, hash, &wanted);
    if (!k) {
        size_t n = strlen(wanted.ns) + 1, m = strlen(name) + 1;
        k = xcalloc(1, sizeof *k + n + m);
        k->queue = q;
        k->hash = hash;
        memcpy(k->ns, wanted.ns, n);
        k->name = k->ns + n;
        memcpy(k->name, name, m);
        htab_insert(&q->keys, k);
    }
    int64_t due = q->world->clock.now + delay + world_lag(q->world, *q->lag) +
                  prng_range(&q->world->random, q->min, q->max + 1);
    if (k->waiting && k->alarm.due <= due)
        return;
    if (!k->waiting)
        q->waiting++;
    k->waiting = true;
    clock_set(&q->world->clock, &k->alarm, due, turn, k);
}

void queue_add(struct queue *q, const char *ns, const char *name) {
    queue_add_after(q, ns, name, 0);
}
