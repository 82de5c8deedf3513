/* Pods that start before our eyes. */
#include "exec/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/podrole.h"
#include "kube/reflector.h"
#include "model/workload.h"

enum { FEW_NAMESPACES = 16 }; /* so many are watched one by one */
/* What comes later than that replaces nothing that has left. */
#define PLACED_WITHIN SEC(10)

/* A pod on its way. */
struct starting {
    uint32_t hash;
    char *uid;
    int64_t left;  /* when the pod that it replaces did; -1: not known */
    int64_t bound; /* when it had a node; -1: it has none */
};

struct leaving {
    uint32_t hash;
    char *workload;
    int64_t last;  /* when a pod last did */
    size_t unmade; /* pods that have left and that none has come for */
};

struct watched {
    struct starts *starts;
    char *ns; /* NULL: all */
    struct store *store;
    struct reflector *reflector;
    struct loop_timer *drop;
};

struct starts {
    struct kube_client *client;
    struct starts_opts opts;
    VEC(struct watched *) watched;
    struct htab pods;      /* struct starting, by uid */
    struct htab workloads; /* struct leaving, by name */
    uint32_t seed;
    bool all, told;
};

static uint32_t starting_hash(const void *entry) {
    return ((const struct starting *)entry)->hash;
}
static bool starting_equal(const void *entry, const void *uid) {
    return streq(((const struct starting *)entry)->uid, uid);
}
static const struct htab_ops starting_ops = {starting_hash, starting_equal};

static uint32_t leaving_hash(const void *entry) {
    return ((const struct leaving *)entry)->hash;
}
static bool leaving_equal(const void *entry, const void *name) {
    return streq(((const struct leaving *)entry)->workload, name);
}
static const struct htab_ops leaving_ops = {leaving_hash, leaving_equal};

static uint32_t hash_of(const struct starts *s, const char *text) {
    return hash_more(s->seed, text, strlen(text));
}

static int64_t now(const struct starts *s) {
    return loop_now(s->client->loop);
}

/* --- those that leave --- */

static struct leaving *leaving_of(struct starts *s, const struct pod *pod, bool make) {
    _cleanup_str_ struct str name = STR_INIT;
    workload_name(pod, &name);
    uint32_t hash = hash_of(s, str_get(&name));
    struct leaving *l = htab_find(&s->workloads, hash, str_get(&name));
    if (l || !make)
        return l;
    l = xnew(struct leaving);
    *l = (struct leaving){.hash = hash, .workload = str_take(&name)};
    htab_insert(&s->workloads, l);
    return l;
}

static void leaves(struct starts *s, const struct pod *pod) {
    struct leaving *l = leaving_of(s, pod, true);
    l->last = now(s);
    l->unmade++;
}

/* Its successor has the same name, and so comes when it is gone. */
static bool is_gone_first(const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    return o && str_same(o->kind, "StatefulSet");
}

/* --- those that come --- */

static void forget(struct starts *s, const struct pod *pod) {
    const char *uid = strna(pod->meta.uid);
    struct starting *p = htab_remove(&s->pods, hash_of(s, uid), uid);
    if (!p)
        return;
    free(p->uid);
    free(p);
}

static void comes(struct starts *s, const struct pod *pod) {
    struct leaving *l = leaving_of(s, pod, false);
    struct starting *p = xnew(struct starting);
    const char *uid = strna(pod->meta.uid);
    *p = (struct starting){.hash = hash_of(s, uid), .uid = xstrdup(uid), .left = -1, .bound = -1};
    if (l && l->unmade) {
        l->unmade--;
        p->left = now(s) - l->last < PLACED_WITHIN ? l->last : -1;
    }
    htab_insert(&s->pods, p);
}

static bool has_no_room(const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodScheduled");
    return c && str_same(c->status, "False");
}

static void look(struct starts *s, const struct pod *pod, bool is_new) {
    const char *uid = strna(pod->meta.uid);
    struct starting *p = htab_find(&s->pods, hash_of(s, uid), uid);
    bool placed = !str_empty(pod->node_name);
    if (!p && !placed && is_new) {
        comes(s, pod);
        p = htab_find(&s->pods, hash_of(s, uid), uid);
    }
    if (!p)
        return;
    if (has_no_room(pod))
        p->left = -1;
    if (placed && p->bound < 0)
        p->bound = now(s);
    if (!placed || !pod_ready(pod))
        return;
    struct start_seen seen = {
        .pod = pod, .up = now(s) - p->bound, .place = p->left >= 0 ? p->bound - p->left : -1};
    s->opts.seen(s->opts.arg, &seen);
    forget(s, pod);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct starts *s = arg;
    const struct pod *was = (const struct pod *)before, *is = (const struct pod *)after;
    bool other = was && (!is || !str_same(was->meta.uid, is->meta.uid));
    if (other) {
        forget(s, was);
        if (is_gone_first(was))
            leaves(s, was);
        was = NULL;
    }
    if (!is)
        return;
    if (!is->meta.deleted) {
        look(s, is, !was);
        return;
    }
    forget(s, is);
    if (was && !was->meta.deleted && !is_gone_first(is))
        leaves(s, is);
}

/* --- reading --- */

static void watched_free(struct watched *w) {
    reflector_free(w->reflector);
    loop_timer_free(w->drop);
    store_free(w->store);
    free(w->ns);
    free(w);
}

static void on_drop(void *arg) {
    struct watched *w = arg;
    reflector_free(w->reflector);
    w->reflector = NULL;
}

/* What may not be read is not asked for again. A reflector cannot be freed in its own callback. */
static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct watched *w = arg;
    struct starts *s = w->starts;
    (void)retry_in;
    if (outcome != KUBE_FORBIDDEN && outcome != KUBE_NOT_FOUND)
        return;
    loop_timer_set(w->drop, 0);
    if (s->told || !s->opts.remark)
        return;
    s->told = true;
    _cleanup_free_ char *text =
        xasprintf("cannot watch pods%s%s: %s; how long those that come take to start is not seen",
                  w->ns ? " of namespace " : "", strna(w->ns), message);
    s->opts.remark(s->opts.arg, text);
}

/* What is in the first picture has not come before our eyes. */
static void on_synced(void *arg) {
    struct watched *w = arg;
    store_listen(w->store, on_change, w->starts);
}

static void watch(struct starts *s, const char *ns) {
    struct watched *w = xnew(struct watched);
    *w = (struct watched){.starts = s, .ns = ns ? xstrdup(ns) : NULL};
    *vec_push(&s->watched) = w;
    w->store = store_new(&kind_pod, s->client->pool);
    w->drop = loop_timer_new(s->client->loop, on_drop, w);
    w->reflector = reflector_new(s->client, w->store,
                                 &(struct reflector_options){.ns = w->ns,
                                                             .page = s->opts.page,
                                                             .seed = s->opts.seed + s->watched.len,
                                                             .synced = on_synced,
                                                             .problem = on_problem,
                                                             .arg = w});
}

void starts_watch(struct starts *s, const char *ns) {
    bool known = s->all;
    for (size_t i = 0; i < s->watched.len && !known; i++)
        known = str_same(s->watched.p[i]->ns, ns);
    if (known)
        return;
    s->all = s->watched.len == FEW_NAMESPACES;
    for (; s->all && s->watched.len; s->watched.len--)
        watched_free(s->watched.p[s->watched.len - 1]);
    watch(s, s->all ? NULL : ns);
}

void starts_listen(struct starts *s, struct store *pods) {
    s->all = true;
    store_listen(pods, on_change, s);
}

/* --- life --- */

struct starts *starts_new(struct kube_client *client, const struct starts_opts *opts) {
    struct starts *s = xnew(struct starts);
    *s = (struct starts){.client = client, .opts = *opts, .seed = hash_seed()};
    htab_init(&s->pods, &starting_ops);
    htab_init(&s->workloads, &leaving_ops);
    return s;
}

void starts_free(struct starts *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->watched.len; i++)
        watched_free(s->watched.p[i]);
    vec_done(&s->watched);
    struct starting *p;
    for (uint32_t i = 0; (p = htab_next(&s->pods, &i));) {
        free(p->uid);
        free(p);
    }
    htab_done(&s->pods);
    struct leaving *l;
    for (uint32_t i = 0; (l = htab_next(&s->workloads, &i));) {
        free(l->workload);
        free(l);
    }
    htab_done(&s->workloads);
    free(s);
}
