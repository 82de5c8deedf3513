/* The queue of a scheduler. */
#include "engine/fit_queue.h"

#include <assert.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/fit.h"
#include "engine/podrole.h"

enum {
    /* The defaults of kube-scheduler, in seconds. */
    BACKOFF_FIRST = 1,
    BACKOFF_MAX = 10,
    ASIDE_MAX = 300,
};

/* What a pod waits for. */
enum place {
    ACTIVE,  /* its turn */
    BACKOFF, /* the end of its back-off, or that nobody else wants a turn */
    DELAYED, /* the end of its back-off */
    ASIDE,   /* an event */
    GATED,   /* its gates */
    TAKEN,   /* the scheduler has it */
    PLACES
};

struct waiting {
    const char *ns, *name, *uid;
    const struct pair *labels;
    const struct pod_spec *spec;
    uint32_t hash;
    enum place place;
    int32_t priority;
    uint32_t failures;
    uint32_t interests; /* events that would help */
    uint32_t missed;    /* events since it was taken */
    int64_t since;      /* when it came, or came back */
    int64_t backoff;    /* when that ends */
    uint64_t number;    /* of its coming: tells apart what came at the same time */
    size_t at;          /* in the list of its place */
};

typedef VEC(struct waiting *) list;

struct fit_queue {
    struct pool *pool;
    uint32_t seed;
    struct htab pods;
    list places[PLACES]; /* the first three are heaps */
    uint64_t numbers;
};

/* --- names --- */

struct name {
    const char *ns, *name;
};

static uint32_t name_hash(const struct fit_queue *q, const char *ns, const char *name) {
    return hash_more(hash_more(q->seed, strna(name), strlen(strna(name))), strna(ns),
                     strlen(strna(ns)));
}

static uint32_t waiting_hash(const void *entry) {
    return ((const struct waiting *)entry)->hash;
}

static bool waiting_equal(const void *entry, const void *key_) {
    const struct waiting *w = entry;
    const struct name *key = key_;
    return str_same(w->name, key->name) && str_same(w->ns, key->ns);
}

static const struct htab_ops waiting_ops = {waiting_hash, waiting_equal};

static struct waiting *find(const struct fit_queue *q, const char *ns, const char *name) {
    struct name key = {ns, name};
    return htab_find(&q->pods, name_hash(q, ns, name), &key);
}

/* --- order --- */

/* More important first, then who came first. */
static bool before(const struct waiting *a, const struct waiting *b) {
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->since != b->since ? a->since < b->since : a->number < b->number;
}

/* Back-offs end with whole seconds, so that those that end together are in order. */
static bool ends_before(const struct waiting *a, const struct waiting *b) {
    int64_t x = a->backoff / SEC(1), y = b->backoff / SEC(1);
    return x != y ? x < y : before(a, b);
}

typedef bool order_fn(const struct waiting *a, const struct waiting *b);

static void heap_set(list *h, size_t i, struct waiting *w) {
    h->p[i] = w;
    w->at = i;
}

static void heap_up(list *h, size_t i, order_fn *first) {
    struct waiting *w = h->p[i];
    for (; i && first(w, h->p[(i - 1) / 2]); i = (i - 1) / 2)
        heap_set(h, i, h->p[(i - 1) / 2]);
    heap_set(h, i, w);
}

static void heap_down(list *h, size_t i, order_fn *first) {
    struct waiting *w = h->p[i];
    for (size_t child; (child = 2 * i + 1) < h->len; i = child) {
        if (child + 1 < h->len && first(h->p[child + 1], h->p[child]))
            child++;
        if (!first(h->p[child], w))
            break;
        heap_set(h, i, h->p[child]);
    }
    heap_set(h, i, w);
}

static void heap_push(list *h, struct waiting *w, order_fn *first) {
    *vec_push(h) = w;
    heap_up(h, h->len - 1, first);
}

static void heap_drop(list *h, struct waiting *w, order_fn *first) {
    struct waiting *last = h->p[--h->len];
    if (last == w)
        return;
    heap_set(h, w->at, last);
    heap_up(h, last->at, first);
    heap_down(h, last->at, first);
}

/* --- places: the one way from one to another --- */

static order_fn *const orders[PLACES] = {
    [ACTIVE] = before, [BACKOFF] = ends_before, [DELAYED] = ends_before};

static void leave(struct fit_queue *q, struct waiting *w) {
    list *l = &q->places[w->place];
    if (orders[w->place]) {
        heap_drop(l, w, orders[w->place]);
        return;
    }
    struct waiting *last = l->p[--l->len];
    heap_set(l, w->at, last);
}

static void enter(struct fit_queue *q, struct waiting *w, enum place place) {
    list *l = &q->places[place];
    w->place = place;
    if (orders[place]) {
        heap_push(l, w, orders[place]);
        return;
    }
    *vec_push(l) = w;
    w->at = l->len - 1;
}

static void move(struct fit_queue *q, struct waiting *w, enum place place) {
    leave(q, w);
    enter(q, w, place);
}

static void come_back(struct fit_queue *q, struct waiting *w, int64_t now) {
    move(q, w, w->backoff > now ? BACKOFF : ACTIVE);
}

/* --- pods --- */

static void waiting_free(struct fit_queue *q, struct waiting *w) {
    struct name key = {w->ns, w->name};
    leave(q, w);
    htab_remove(&q->pods, w->hash, &key);
    pool_unref(q->pool, w->ns);
    pool_unref(q->pool, w->name);
    pool_unref(q->pool, w->uid);
    pool_unref(q->pool, w->labels);
    pool_unref(q->pool, w->spec);
    free(w);
}

static struct waiting *waiting_new(struct fit_queue *q, const struct pod *pod, int64_t now) {
    struct waiting *w = xnew(struct waiting);
    w->ns = pool_ref(pod->meta.ns);
    w->name = pool_ref(pod->meta.name);
    w->uid = pool_ref(pod->meta.uid);
    w->hash = name_hash(q, w->ns, w->name);
    w->since = now;
    w->number = q->numbers++;
    htab_insert(&q->pods, w);
    return w;
}

static bool is_gated(const struct pod *pod) {
    return pod->spec && list_len(pod->spec->gates);
}

static void set_wishes(struct fit_queue *q, struct waiting *w, const struct pod *pod) {
    pool_ref(pod->meta.labels);
    pool_ref(pod->spec);
    pool_unref(q->pool, w->labels);
    pool_unref(q->pool, w->spec);
    w->labels = pod->meta.labels;
    w->spec = pod->spec;
    w->priority = pod->spec && pod->spec->priority != ABSENT32 ? pod->spec->priority : 0;
}

void fit_queue_put(struct fit_queue *q, const struct pod *pod, int64_t now) {
    struct waiting *w = find(q, pod->meta.ns, pod->meta.name);
    bool over = pod->node_name || pod->meta.deleted || pod_finished(pod) || !pod->meta.name;
    if (w && (over || !str_same(w->uid, pod->meta.uid))) {
        waiting_free(q, w);
        w = NULL;
    }
    if (over)
        return;
    if (!w) {
        w = waiting_new(q, pod, now);
        set_wishes(q, w, pod);
        enter(q, w, is_gated(pod) ? GATED : ACTIVE);
        return;
    }
    if (w->labels == pod->meta.labels && w->spec == pod->spec)
        return;
    enum place place = w->place;
    leave(q, w);
    set_wishes(q, w, pod);
    if (place == GATED)
        enter(q, w, is_gated(pod) ? GATED : ACTIVE);
    else if (place == ASIDE)
        enter(q, w, w->backoff > now ? BACKOFF : ACTIVE);
    else
        enter(q, w, place);
    w->missed = UINT32_MAX;
}

void fit_queue_remove(struct fit_queue *q, const char *ns, const char *name) {
    struct waiting *w = find(q, ns, name);
    if (w)
        waiting_free(q, w);
}

/* --- turns --- */

/* Those whose time has come take their place among the others. */
static void flush(struct fit_queue *q, int64_t now) {
    list *aside = &q->places[ASIDE];
    for (enum place p = BACKOFF; p <= DELAYED; p++)
        while (q->places[p].len && q->places[p].p[0]->backoff / SEC(1) < now / SEC(1))
            move(q, q->places[p].p[0], ACTIVE);
    for (size_t i = aside->len; i-- > 0;)
        if (now - aside->p[i]->since > SEC(ASIDE_MAX))
            come_back(q, aside->p[i], now);
}

bool fit_queue_next(struct fit_queue *q, int64_t now, struct fit_turn *out) {
    flush(q, now);
    const list *l = &q->places[q->places[ACTIVE].len ? ACTIVE : BACKOFF];
    if (!l->len)
        return false;
    struct waiting *w = l->p[0];
    w->missed = 0;
    move(q, w, TAKEN);
    *out = (struct fit_turn){w->ns, w->name, w->uid};
    return true;
}

/* Which events each rule can be changed by. */
static uint32_t interests_of(uint32_t codes) {
    enum {
        PODS = FIT_EVENT_POD_HERE | FIT_EVENT_POD_GONE,
        ROOM = FIT_EVENT_NODE | FIT_EVENT_POD_GONE,
    };
    static const uint8_t rows[FIT_CODES] = {
        [FIT_NO_NODE] = FIT_EVENT_NODE,
        [FIT_POD] = FIT_EVENT_STORAGE,
        [FIT_NOT_ASKED] = FIT_EVENT_NODE,
        [FIT_UNSCHEDULABLE] = FIT_EVENT_NODE,
        [FIT_NODE_NAME] = FIT_EVENT_NODE,
        [FIT_TAINT] = FIT_EVENT_NODE,
        [FIT_NODE_AFFINITY] = FIT_EVENT_NODE,
        [FIT_PORTS] = ROOM,
        [FIT_PODS] = ROOM,
        [FIT_RESOURCE] = ROOM,
        [FIT_CLAIM_USE] = ROOM | FIT_EVENT_STORAGE,
        [FIT_VOLUME_COUNT] = FIT_EVENT_POD_GONE | FIT_EVENT_STORAGE | FIT_EVENT_ATTACHED,
        [FIT_VOLUME_NODE] = FIT_EVENT_NODE | FIT_EVENT_STORAGE,
        [FIT_VOLUME_NONE] = FIT_EVENT_NODE | FIT_EVENT_STORAGE,
        [FIT_VOLUME_GONE] = FIT_EVENT_NODE | FIT_EVENT_STORAGE,
        [FIT_VOLUME_ZONE] = FIT_EVENT_NODE | FIT_EVENT_STORAGE,
        [FIT_SPREAD_LABEL] = FIT_EVENT_NODE,
        [FIT_SPREAD] = FIT_EVENT_NODE | PODS,
        [FIT_AFFINITY] = FIT_EVENT_NODE | PODS | FIT_EVENT_NAMESPACE,
        [FIT_ANTI_AFFINITY] = FIT_EVENT_NODE | PODS | FIT_EVENT_NAMESPACE,
        [FIT_ANTI_AFFINITY_OF_OTHERS] = FIT_EVENT_NODE | PODS | FIT_EVENT_NAMESPACE,
    };
    uint32_t events = 0;
    for (unsigned i = 0; i < FIT_CODES; i++)
        if (codes & (1u << i))
            events |= rows[i];
    return events;
}

static int64_t backoff_of(uint32_t failures) {
    int64_t seconds = BACKOFF_FIRST;
    while (--failures && seconds < BACKOFF_MAX)
        seconds *= 2;
    return SEC(MIN_OF(seconds, BACKOFF_MAX));
}

void fit_queue_failed(struct fit_queue *q, const char *ns, const char *name, uint32_t codes,
                      int64_t now) {
    struct waiting *w = find(q, ns, name);
    if (!w || w->place != TAKEN)
        return;
    if (w->failures < UINT32_MAX)
        w->failures++;
    w->since = now;
    w->number = q->numbers++;
    w->backoff = now + backoff_of(w->failures);
    w->interests = interests_of(codes);
    if (codes && (w->interests & w->missed))
        come_back(q, w, now);
    else
        move(q, w, codes ? ASIDE : DELAYED);
}

void fit_queue_event(struct fit_queue *q, unsigned events, int64_t now) {
    const list *aside = &q->places[ASIDE], *taken = &q->places[TAKEN];
    for (size_t i = 0; i < taken->len; i++)
        taken->p[i]->missed |= events;
    /* from the end: who leaves the list is replaced by one that was looked at */
    for (size_t i = aside->len; i-- > 0;)
        if (aside->p[i]->interests & events)
            come_back(q, aside->p[i], now);
}

int64_t fit_queue_due(const struct fit_queue *q, int64_t now) {
    const list *aside = &q->places[ASIDE], *delayed = &q->places[DELAYED];
    int64_t due = INT64_MAX;
    if (q->places[ACTIVE].len || q->places[BACKOFF].len)
        return now;
    if (delayed->len) /* it ends with the second that it ends in */
        due = (delayed->p[0]->backoff / SEC(1) + 1) * SEC(1);
    for (size_t i = 0; i < aside->len; i++)
        due = MIN_OF(due, aside->p[i]->since + SEC(ASIDE_MAX) + 1);
    return MAX_OF(due, now);
}

size_t fit_queue_len(const struct fit_queue *q) {
    return q->pods.len;
}

/* --- life cycle --- */

struct fit_queue *fit_queue_new(struct pool *pool) {
    struct fit_queue *q = xnew(struct fit_queue);
    q->pool = pool;
    q->seed = pool_seed(pool);
    htab_init(&q->pods, &waiting_ops);
    return q;
}

void fit_queue_free(struct fit_queue *q) {
    struct waiting *w;
    if (!q)
        return;
    VEC(struct waiting *) all = VEC_INIT;
    for (uint32_t i = 0; (w = htab_next(&q->pods, &i));)
        *vec_push(&all) = w;
    for (size_t i = 0; i < all.len; i++)
        waiting_free(q, all.p[i]);
    vec_done(&all);
    htab_done(&q->pods);
    for (size_t i = 0; i < PLACES; i++)
        vec_done(&q->places[i]);
    free(q);
}
