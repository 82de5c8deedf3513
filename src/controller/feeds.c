/* The controller's picture of the cluster. */
#include "controller/feeds.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "kube/reflector.h"
#include "model/own_fields.h"

enum {
    SAID_EVERY = 60, /* seconds between two lines about the same trouble */
    POLL = 3,        /* seconds between two lists where watching is forbidden */
    BLIND_S = 10,    /* that a watch may be broken: longer than another server takes to be found,
                      * less than Kubernetes itself needs to see that a node is down (40) */
    /* A definition that was deleted may be about to be installed anew, and slots wait for that: one
     * small request so often, for so long. */
    LOOK_S = 5,
    LOOK_FOR_S = 600,
};

struct feed {
    struct feeds *feeds;
    const struct kind *kind;
    struct store *store;
    char *node, *selector; /* of the pods of one node */
    struct reflector *reflector;
    bool ready;
    bool optional;     /* a cluster may do without, */
    bool absent;       /* and does */
    bool defined;      /* it was there once */
    int64_t absent_at; /* monotonic: since when the server knows no such kind; 0: it does */
    int64_t said;      /* monotonic: the last line about it */
    /* Of one that is broken: since when, monotonic, and why it was at first. */
    int64_t broken_at; /* 0: it is not */
    char *broken;
};

struct feeds {
    struct kube_client *client;
    struct feeds_opts opts;
    VEC(struct feed *) list;
    uint64_t seeds;
    uint64_t pods_restarts;   /* of those that are not watched any more */
    struct loop_timer *timer; /* when the next one has been broken for too long */
    struct loop_timer *look;  /* for one that was deleted */
    char *blind;              /* as it was told */
};

/* --- what is broken --- */

/* Of the first in the list, so that it is told once, and not again for each that follows. */
static void look_for_blind(void *arg) {
    struct feeds *f = arg;
    _cleanup_free_ char *why = NULL;
    int64_t now = loop_now(f->client->loop), next = INT64_MAX;
    for (size_t i = 0; i < f->list.len; i++) {
        const struct feed *one = f->list.p[i];
        int64_t due = one->broken_at + SEC(BLIND_S);
        if (one->node || !one->broken_at)
            continue;
        if (due > now)
            next = MIN_OF(next, due);
        else if (!why)
            why = xasprintf("%s cannot be watched, so that what is known of them may be old: %s",
                            one->kind->resource, one->broken);
    }
    if (next != INT64_MAX)
        loop_timer_set(f->timer, next - now);
    if (str_same(why, f->blind))
        return;
    str_replace(&f->blind, why);
    f->opts.blind(f->opts.arg, f->blind);
}

static void set_broken(struct feed *f, const char *why) {
    if (!f->broken_at == !why)
        return;
    f->broken_at = why ? loop_now(f->feeds->client->loop) : 0;
    str_replace(&f->broken, why);
    look_for_blind(f->feeds);
}

void feeds_retry(struct feeds *f) {
    for (size_t i = 0; i < f->list.len; i++)
        if (f->list.p[i]->absent)
            reflector_retry(f->list.p[i]->reflector);
}

static void tell_synced(struct feed *f) {
    f->ready = true;
    f->feeds->opts.synced(f->feeds->opts.arg);
}

/* Who installs one of them installs all: the others need not be waited for. */
static void is_there(struct feed *f) {
    bool anew = f->optional && (f->absent || !f->defined);
    f->absent = false;
    f->absent_at = 0;
    f->defined = true;
    if (anew)
        feeds_retry(f->feeds);
}

static void on_synced(void *arg) {
    struct feed *f = arg;
    is_there(f);
    tell_synced(f);
}

/* One is enough, as they are installed together. */
static void look_for_absent(void *arg) {
    struct feeds *f = arg;
    int64_t now = loop_now(f->client->loop);
    for (size_t i = 0; i < f->list.len; i++) {
        const struct feed *one = f->list.p[i];
        if (!one->absent || !one->defined || now - one->absent_at > SEC(LOOK_FOR_S))
            continue;
        reflector_look(one->reflector);
        loop_timer_set(f->look, SEC(LOOK_S));
        return;
    }
}

/* Somebody has deleted the definition, and with it all there was of that kind: who has missed the
 * ends of the objects would know them for ever. One server may not have read the definitions yet:
 * that is over within moments. */
static void forget_all(struct feed *f) {
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(f->store, &n);
    log_warn(f->feeds->opts.log,
             "the kind %s is not defined any more: the %zu that were known of it are forgotten",
             f->kind->name, n);
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *name = xstrdup(all[i]->meta.name);
        (void)store_remove(f->store, NULL, name, NULL);
    }
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct feed *f = arg;
    int64_t now = loop_now(f->feeds->client->loop);
    (void)retry_in;
    /* What it knew is of an earlier definition: the kind is there again. */
    if (f->absent && outcome == KUBE_EXPIRED) {
        is_there(f);
        reflector_retry(f->reflector);
        return;
    }
    f->absent = f->optional && outcome == KUBE_NOT_FOUND;
    if (!f->absent)
        f->absent_at = 0;
    else if (!f->absent_at)
        f->absent_at = now;
    if (f->absent && !loop_timer_pending(f->feeds->look))
        loop_timer_set(f->feeds->look, SEC(LOOK_S));
    if (f->absent && store_len(f->store) && now - f->absent_at >= SEC(BLIND_S))
        forget_all(f);
    if (f->absent && !store_len(f->store)) {
        set_broken(f, NULL);
        if (!f->ready)
            tell_synced(f);
        return;
    }
    set_broken(f, message);
    if (f->said && now - f->said < SEC(SAID_EVERY))
        return;
    f->said = now;
    log_warn(f->feeds->opts.log, "cannot watch %s: %s; trying again", f->kind->resource, message);
}

static void on_recovered(void *arg) {
    struct feed *f = arg;
    is_there(f);
    if (f->said)
        log_info(f->feeds->opts.log, "watching %s works again", f->kind->resource);
    f->said = 0;
    set_broken(f, NULL);
}

static void on_unread(void *arg, const char *name, const char *why) {
    const struct feed *f = arg;
    log_warn(f->feeds->opts.log, "%s %s is not obeyed: %s", f->kind->name, name, why);
}

static struct feed *add(struct feeds *feeds, struct store *store, struct reflector_options opts,
                        struct feed *f) {
    f->feeds = feeds;
    f->kind = store_kind(store);
    f->store = store;
    /* People write these: one that makes no sense must not hide the others. */
    if (own_resource(f->kind))
        opts.unread = on_unread;
    opts.seed = feeds->opts.seed + ++feeds->seeds;
    opts.poll = SEC(POLL);
    opts.synced = on_synced;
    opts.problem = on_problem;
    opts.recovered = on_recovered;
    opts.arg = f;
    *vec_push(&feeds->list) = f;
    f->reflector = reflector_new(feeds->client, store, &opts);
    return f;
}

static void add_all(struct feeds *feeds, struct store *store) {
    add(feeds, store, (struct reflector_options){0}, xnew(struct feed));
}

static void add_optional(struct feeds *feeds, struct store *store) {
    struct feed *f = xnew(struct feed);
    f->optional = true;
    add(feeds, store, (struct reflector_options){0}, f);
}

#define CHANGE_OF(what)                                                                            \
    static void on_##what(void *arg, const struct object *before, const struct object *after) {    \
        struct feeds *f = arg;                                                                     \
        f->opts.changed(f->opts.arg, &kind_##what, before, after);                                 \
    }
CHANGE_OF(node)
CHANGE_OF(pod)
CHANGE_OF(pdb)
CHANGE_OF(volume_attachment)
CHANGE_OF(replica_set)
CHANGE_OF(stateful_set)
CHANGE_OF(deployment)
CHANGE_OF(config_map)
CHANGE_OF(policy)
CHANGE_OF(maintenance)
CHANGE_OF(rollout)

struct feeds *feeds_new(struct kube_client *client, const struct feeds_opts *opts) {
    struct feeds *f = xnew(struct feeds);
    struct cluster *c = opts->cluster;
    f->client = client;
    f->opts = *opts;
    f->timer = loop_timer_new(client->loop, look_for_blind, f);
    f->look = loop_timer_new(client->loop, look_for_absent, f);
    store_listen(c->nodes, on_node, f);
    store_listen(c->pods, on_pod, f);
    store_listen(c->budgets, on_pdb, f);
    store_listen(c->attachments, on_volume_attachment, f);
    store_listen(c->replica_sets, on_replica_set, f);
    store_listen(c->stateful_sets, on_stateful_set, f);
    store_listen(c->deployments, on_deployment, f);
    store_listen(opts->maps, on_config_map, f);
    store_listen(opts->policies, on_policy, f);
    store_listen(opts->maintenances, on_maintenance, f);
    store_listen(opts->rollouts, on_rollout, f);
    add_all(f, c->nodes);
    add_all(f, c->budgets);
    add_all(f, c->attachments);
    add(f, opts->maps,
        (struct reflector_options){.ns = opts->ns, .label_selector = opts->maps_selector},
        xnew(struct feed));
    add_optional(f, opts->policies);
    add_optional(f, opts->maintenances);
    add_optional(f, opts->rollouts);
    if (opts->owners) {
        c->owners_watched = true;
        add_all(f, c->replica_sets);
        add_all(f, c->stateful_sets);
        add_all(f, c->deployments);
    }
    return f;
}

static void feed_free(struct feed *f) {
    reflector_free(f->reflector);
    free(f->node);
    free(f->selector);
    free(f->broken);
    free(f);
}

void feeds_free(struct feeds *f) {
    if (!f)
        return;
    for (size_t i = 0; i < f->list.len; i++)
        feed_free(f->list.p[i]);
    vec_done(&f->list);
    loop_timer_free(f->timer);
    loop_timer_free(f->look);
    free(f->blind);
    free(f);
}

const struct kind *feeds_missing(const struct feeds *f) {
    for (size_t i = 0; i < f->list.len; i++)
        if (!f->list.p[i]->node && !f->list.p[i]->ready)
            return f->list.p[i]->kind;
    return NULL;
}

bool feeds_ready(const struct feeds *f) {
    return !feeds_missing(f);
}

/* The first one is none. */
static uint64_t restarts_of(const struct feed *f) {
    struct reflector_stats stats = reflector_stats(f->reflector);
    return stats.relists + (stats.watches ? stats.watches - 1 : 0);
}

void feeds_restarts(const struct feeds *f,
                    void (*fn)(void *arg, const struct kind *kind, uint64_t restarts), void *arg) {
    uint64_t pods = f->pods_restarts;
    for (size_t i = 0; i < f->list.len; i++)
        if (f->list.p[i]->node)
            pods += restarts_of(f->list.p[i]);
        else
            fn(arg, f->list.p[i]->kind, restarts_of(f->list.p[i]));
    fn(arg, &kind_pod, pods);
}

/* --- the pods of a node --- */

static bool is_on_node(const struct object *obj, const void *arg) {
    return str_same(((const struct pod *)obj)->node_name, arg);
}

static struct feed *find(const struct feeds *f, const char *node) {
    for (size_t i = 0; i < f->list.len; i++)
        if (f->list.p[i]->node && streq(f->list.p[i]->node, node))
            return f->list.p[i];
    return NULL;
}

void feeds_watch(struct feeds *f, const char *node) {
    if (find(f, node))
        return;
    struct feed *one = xnew(struct feed);
    one->node = xstrdup(node);
    one->selector = xasprintf("spec.nodeName=%s", node);
    add(f, f->opts.cluster->pods,
        (struct reflector_options){.field_selector = one->selector,
                                   .scope = {is_on_node, one->node}},
        one);
}

void feeds_unwatch(struct feeds *f, const char *node) {
    for (size_t i = 0; i < f->list.len; i++) {
        struct feed *one = f->list.p[i];
        if (!one->node || !streq(one->node, node))
            continue;
        f->list.p[i] = f->list.p[--f->list.len];
        f->pods_restarts += restarts_of(one);
        reflector_free(one->reflector);
        one->reflector = NULL;
        store_drop_scope(f->opts.cluster->pods, (struct store_scope){is_on_node, one->node});
        feed_free(one);
        return;
    }
}

bool feeds_knows(const struct feeds *f, const char *node) {
    const struct feed *one = find(f, node);
    return one && one->ready;
}

void feeds_each(struct feeds *f, void (*fn)(void *arg, const char *node), void *arg) {
    for (size_t i = f->list.len; i-- > 0;) {
        struct feed *one = i < f->list.len ? f->list.p[i] : NULL;
        if (!one || !one->node)
            continue;
        _cleanup_free_ char *name = xstrdup(one->node);
        fn(arg, name);
    }
}

struct store_scope feeds_scope(const struct feeds *f, const char *node) {
    const struct feed *one = find(f, node);
    return one ? (struct store_scope){is_on_node, one->node} : (struct store_scope){0};
}
