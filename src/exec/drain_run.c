/* Runs a drain against an API server. */
#include "exec/drain_run.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "exec/calls.h"
#include "exec/checks_feed.h"
#include "exec/getter.h"
#include "kube/reflector.h"

enum {
    FEW_NODES = 16, /* so many are watched one by one; more are read as a whole */
    TRIES = 4,      /* of a first picture that may come later */
    PATIENCE = 30,  /* seconds that a server may ask us to wait for it */
    POLL = 3,       /* seconds between two lists where watching is forbidden */
};

/* What a feed is for the drain. */
enum need {
    NEED,    /* without it nothing can be done */
    BUDGETS, /* can be done without, blindly */
    VOLUMES,
    OWNERS,
    PEERS, /* only to explain more */
};

struct feed {
    struct drain_run *run;
    const struct kind *kind;
    enum need need;
    char *selector, *name; /* name: of the node */
    struct peers *peers;   /* what it fills, or NULL */
    struct reflector *reflector;
    struct getter *getter; /* instead */
    struct loop_timer *later;
    bool getting;
    bool polling; /* said */
    unsigned problems;
    bool ready; /* synced, or given up */
    bool troubled;
};

struct drain_run {
    struct kube_client *client;
    struct drain_run_opts opts;
    VEC(char *) names;
    struct cluster cluster;
    VEC(struct feed *) feeds;
    struct checks_feed *checks;
    struct starts *starts;
    struct drain *drain;
    struct actions actions;
    struct loop_timer *timer;
    struct calls *calls;
    bool failed, over;
    unsigned n_troubled; /* feeds that cannot watch at the moment */
    char *stop;          /* asked for before the engine was there */
};

static struct now now(const struct drain_run *r) {
    return (struct now){loop_now(r->client->loop), loop_wall(r->client->loop)};
}

static void soon(struct drain_run *r) {
    loop_timer_set(r->timer, 0);
}

static void remark(struct drain_run *r, const char *text) {
    if (r->opts.remark)
        r->opts.remark(r->opts.arg, text);
}

/* --- carrying out --- */

static void on_answer(void *arg, uint64_t action, const struct answer *answer) {
    struct drain_run *r = arg;
    drain_answer(r->drain, action, answer, now(r));
    soon(r);
}

/* A watch shows it by itself. */
static void on_wrote(void *arg, const char *node) {
    struct drain_run *r = arg;
    for (size_t i = 0; i < r->feeds.len; i++) {
        const struct feed *f = r->feeds.p[i];
        if (f->kind != &kind_node || (f->name && !streq(f->name, node)))
            continue;
        if (f->reflector)
            reflector_hurry(f->reflector);
        if (f->getter)
            getter_hurry(f->getter);
    }
}

static bool is_on_node(const struct object *obj, const void *arg) {
    return str_same(((const struct pod *)obj)->node_name, arg);
}

/* The part of the store that the pods of this node are. */
static struct store_scope scope_of(void *arg, const char *node) {
    const struct drain_run *r = arg;
    for (size_t i = 0; i < r->feeds.len; i++) {
        const struct feed *f = r->feeds.p[i];
        if (f->kind == &kind_pod && f->name && str_same(f->name, node))
            return (struct store_scope){is_on_node, f->name};
    }
    return (struct store_scope){0};
}

static void feed_peers(struct drain_run *r);

static void on_timer(void *arg) {
    struct drain_run *r = arg;
    if (!r->drain || r->over)
        return;
    actions_reset(&r->actions);
    drain_step(r->drain, now(r), &r->actions);
    for (size_t i = 0; i < r->actions.list.len; i++)
        calls_add(r->calls, &r->actions.list.p[i]);
    feed_peers(r);
    if (drain_over(r->drain)) {
        r->over = true;
        if (r->opts.over)
            r->opts.over(r->opts.arg);
        return;
    }
    int64_t next = drain_next(r->drain);
    if (next != INT64_MAX)
        loop_timer_set(r->timer, next - loop_now(r->client->loop));
}

/* --- reading --- */

static void on_change_of(struct drain_run *r, const struct kind *kind, const struct object *before,
                         const struct object *after) {
    if (!r->drain)
        return;
    drain_poke(r->drain, kind, before, after);
    if (!drain_next(r->drain)) /* most of what happens elsewhere is nothing to us */
        soon(r);
}

#define CHANGE_OF(what)                                                                            \
    static void on_##what(void *arg, const struct object *before, const struct object *after) {    \
        on_change_of(arg, &kind_##what, before, after);                                            \
    }
CHANGE_OF(node)
CHANGE_OF(pod)
CHANGE_OF(pdb)
CHANGE_OF(volume_attachment)
CHANGE_OF(replica_set)
CHANGE_OF(stateful_set)
CHANGE_OF(deployment)

static void fail(struct drain_run *r, const char *what, enum kube_outcome outcome,
                 const char *message) {
    if (r->failed)
        return;
    r->failed = r->over = true;
    if (r->opts.failed)
        r->opts.failed(r->opts.arg, what, outcome, message);
}

static void forget_name(struct drain_run *r, size_t i) {
    free(r->names.p[i]);
    memmove(&r->names.p[i], &r->names.p[i + 1], (--r->names.len - i) * sizeof *r->names.p);
}

/* --- storage and quorums --- */

/* The members of a control plane's etcd are static pods: those of our nodes are known. */
static bool has_etcd(void *arg) {
    struct drain_run *r = arg;
    for (size_t i = 0; i < r->names.len; i++) {
        size_t n;
        const struct pod *const *pods = cluster_pods_on(&r->cluster, r->names.p[i], &n);
        for (size_t k = 0; k < n; k++)
            if (check_is_etcd(pods[k]))
                return true;
    }
    return false;
}

static void begin(struct drain_run *r);

static void on_checks_ready(void *arg) {
    struct drain_run *r = arg;
    if (r->failed || r->drain)
        return;
    if (checks_feed_any(r->checks))
        r->opts.drain.checks = checks_feed_world(r->checks);
    begin(r);
}

static void on_checks_changed(void *arg) {
    struct drain_run *r = arg;
    if (!r->drain)
        return;
    drain_checks_changed(r->drain);
    soon(r);
}

static void feed_checks(struct drain_run *r) {
    bool all = r->cluster.all_pods; /* and nodes */
    r->checks = checks_feed_new(r->client,
                                &(struct checks_feed_opts){.etcd = has_etcd,
                                                           .skip = r->opts.drain.skip_checks,
                                                           .nodes = all ? r->cluster.nodes : NULL,
                                                           .page = r->opts.page,
                                                           .seed = r->opts.seed,
                                                           .unread = r->opts.checks_unread,
                                                           .ready = on_checks_ready,
                                                           .changed = on_checks_changed,
                                                           .arg = r});
}

/* --- those that come elsewhere --- */

static void on_started(void *arg, const struct start_seen *start) {
    struct drain_run *r = arg;
    r->opts.started(r->opts.arg, start);
}

static void on_starts_remark(void *arg, const char *text) {
    remark(arg, text);
}

/* They come in the namespaces of those that go. */
static void look_at_starts(struct drain_run *r) {
    r->starts = starts_new(r->client, &(struct starts_opts){.page = r->opts.page,
                                                            .seed = r->opts.seed,
                                                            .seen = on_started,
                                                            .remark = on_starts_remark,
                                                            .arg = r});
    if (r->cluster.all_pods) {
        starts_listen(r->starts, r->cluster.pods);
        return;
    }
    for (size_t i = 0; i < r->names.len; i++) {
        size_t n;
        const struct pod *const *pods = cluster_pods_on(&r->cluster, r->names.p[i], &n);
        for (size_t k = 0; k < n; k++)
            starts_watch(r->starts, pods[k]->meta.ns);
    }
}

static void start(struct drain_run *r) {
    if (r->opts.started && r->opts.drain.dry_run == DRY_RUN_NONE)
        look_at_starts(r);
    r->drain = drain_new(&r->opts.drain, &r->cluster, (const char *const *)r->names.p, r->names.len,
                         r->opts.note, r->opts.arg);
    if (r->stop)
        drain_stop(r->drain, r->stop);
    soon(r);
}

/* All that it needs is there: the engine begins. */
static void begin(struct drain_run *r) {
    for (size_t i = r->names.len; i-- > 0;) {
        if (cluster_node(&r->cluster, r->names.p[i]))
            continue;
        _cleanup_free_ char *text = xasprintf("nodes \"%s\" not found", r->names.p[i]);
        if (!r->opts.selected || r->names.len == 1) {
            fail(r, "", KUBE_NOT_FOUND, text);
            return;
        }
        /* Nobody asked for it by name: it was deleted since it was selected. */
        remark(r, text);
        forget_name(r, i);
    }
    if (r->opts.checks && !r->checks && !r->stop)
        feed_checks(r);
    /* Whoever is told to stop begins nothing that a check would have to agree to. */
    if (!r->checks || checks_feed_ready(r->checks) || r->stop)
        start(r);
}

static void feed_ready(struct feed *f) {
    struct drain_run *r = f->run;
    f->ready = true;
    if (r->drain || r->failed)
        return;
    for (size_t i = 0; i < r->feeds.len; i++)
        if (!r->feeds.p[i]->ready)
            return;
    begin(r);
}

static void on_synced(void *arg) {
    feed_ready(arg);
}

static void on_drop(void *arg) {
    struct feed *f = arg;
    reflector_free(f->reflector);
    f->reflector = NULL;
}

/* It cannot be had: what we do without it. */
static void do_without(struct feed *f, const char *message) {
    static const char *const consequences[] = {
        [BUDGETS] = "evictions are tried blindly",
        [VOLUMES] = "volumes that detach are not waited for",
        [OWNERS] = "owners are read one by one",
        [PEERS] = "less can be said about what is waited for",
    };
    struct drain_run *r = f->run;
    /* Of budgets an old picture is worse than none: the server decides. */
    if (f->ready && (f->need != BUDGETS || !r->cluster.budgets_known))
        return;
    if (f->need == BUDGETS)
        r->cluster.budgets_known = false;
    if (f->need == VOLUMES)
        r->cluster.attachments_known = false;
    if (f->need == OWNERS)
        r->cluster.owners_watched = false;
    bool asks_nobody = f->need == BUDGETS && r->opts.drain.dry_run == DRY_RUN_CLIENT;
    _cleanup_free_ char *text =
        xasprintf("cannot list %s: %s; %s", f->kind->resource, message,
                  asks_nobody ? "what they do not allow is not known" : consequences[f->need]);
    remark(r, text);
    /* What is refused is not asked for again. A reflector cannot be freed in its own callback. */
    f->later = loop_timer_new(r->client->loop, on_drop, f);
    loop_timer_set(f->later, 0);
    feed_ready(f);
    on_change_of(r, NULL, NULL, NULL);
}

static void get_instead(struct feed *f, const char *message);

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct feed *f = arg;
    struct drain_run *r = f->run;
    if (r->failed)
        return;
    f->problems++;
    bool denied = outcome == KUBE_FORBIDDEN || outcome == KUBE_NOT_FOUND;
    if (f->need == PEERS && !f->ready && !denied)
        return; /* it is only there to explain more; the reflector goes on by itself */
    if (outcome == KUBE_FORBIDDEN && f->kind == &kind_node && f->name && !f->ready) {
        get_instead(f, message);
        return;
    }
    if (denied && f->need != NEED) {
        do_without(f, message);
        return;
    }
    if (f->ready) {
        /* One line for an outage, however many watches it concerns. */
        if (!f->troubled && !r->n_troubled++) {
            _cleanup_free_ char *text =
                xasprintf("cannot watch %s: %s; trying again", f->kind->resource, message);
            remark(r, text);
        }
        f->troubled = true;
        return;
    }
    bool too_late = (outcome == KUBE_UNKNOWN && r->client->timeout) || retry_in > SEC(PATIENCE);
    bool passes = kube_outcome_row(outcome)->retry && outcome != KUBE_UNREACHABLE && !too_late;
    if (!passes || f->problems >= TRIES) {
        _cleanup_free_ char *what = xasprintf("list %s", f->kind->resource);
        fail(r, what, outcome, message);
        return;
    }
    _cleanup_free_ char *text =
        xasprintf("cannot list %s: %s; trying again in %.1f s", f->kind->resource, message,
                  (double)retry_in / USEC_PER_SEC);
    remark(r, text);
}

static bool is_named(const struct object *obj, const void *arg) {
    return str_same(obj->meta.name, arg);
}

static void on_polling(void *arg, const char *message) {
    struct feed *f = arg;
    struct drain_run *r = f->run;
    /* One line for a kind, however many nodes are watched one by one. */
    for (size_t i = 0; i < r->feeds.len; i++)
        if (r->feeds.p[i]->polling && r->feeds.p[i]->kind == f->kind)
            return;
    f->polling = true;
    _cleanup_free_ char *text = xasprintf("may not watch %s, reading them every %d s instead: %s",
                                          f->kind->resource, POLL, message);
    remark(r, text);
}

static void on_recovered(void *arg) {
    struct feed *f = arg;
    if (!f->troubled)
        return;
    f->troubled = false;
    if (!--f->run->n_troubled)
        remark(f->run, "watching works again");
}

/* --- nodes that may be read by name alone --- */

static void on_get_problem(void *arg, enum kube_outcome outcome, const char *message) {
    struct feed *f = arg;
    f->getting = true;
    on_problem(f, outcome, message, SEC(POLL));
}

static void on_get_later(void *arg) {
    struct feed *f = arg;
    reflector_free(f->reflector);
    f->reflector = NULL;
    f->getter = getter_new(f->run->client, f->run->cluster.nodes,
                           &(struct getter_opts){.name = f->name,
                                                 .scope = {is_named, f->name},
                                                 .interval = SEC(POLL),
                                                 .synced = on_synced,
                                                 .problem = on_get_problem,
                                                 .arg = f});
}

/* kubectl drain reads nodes by name and needs no more permission than that. */
static void get_instead(struct feed *f, const char *message) {
    if (f->getting) {
        fail(f->run, "get nodes", KUBE_FORBIDDEN, message);
        return;
    }
    f->getting = true;
    on_polling(f, message);
    f->later = loop_timer_new(f->run->client->loop, on_get_later, f);
    loop_timer_set(f->later, 0); /* a reflector cannot be freed in its own callback */
}

static struct feed *feed_new(struct drain_run *r, const struct kind *kind, enum need need) {
    struct feed *f = xnew(struct feed);
    f->run = r;
    f->kind = kind;
    f->need = need;
    *vec_push(&r->feeds) = f;
    return f;
}

static void feed_start(struct feed *f, struct store *store, struct reflector_options opts) {
    struct drain_run *r = f->run;
    opts.page = r->opts.page;
    opts.seed = r->opts.seed + r->feeds.len;
    opts.synced = on_synced;
    opts.problem = on_problem;
    opts.recovered = on_recovered;
    opts.poll = SEC(POLL);
    opts.polling = on_polling;
    opts.arg = f;
    f->reflector = reflector_new(r->client, store, &opts);
}

/* `node`: only of this one. */
static void feed(struct drain_run *r, struct store *store, enum need need, const char *node) {
    const struct kind *kind = store_kind(store);
    struct feed *f = feed_new(r, kind, need);
    struct reflector_options opts = {0};
    if (node) {
        f->name = xstrdup(node);
        f->selector =
            xasprintf("%s=%s", kind == &kind_pod ? "spec.nodeName" : "metadata.name", node);
        opts.field_selector = f->selector;
        opts.scope = (struct store_scope){kind == &kind_pod ? is_on_node : is_named, f->name};
    }
    feed_start(f, store, opts);
}

static void on_peer(void *arg, const struct object *before, const struct object *after) {
    (void)before, (void)after;
    on_change_of(arg, NULL, NULL, NULL);
}

static void feed_free(struct feed *f) {
    reflector_free(f->reflector);
    getter_free(f->getter);
    loop_timer_free(f->later);
    free(f->selector);
    free(f->name);
    free(f);
}

static void drop_peers(struct drain_run *r, struct peers *p) {
    for (size_t i = 0; i < r->feeds.len; i++) {
        struct feed *f = r->feeds.p[i];
        if (f->peers != p)
            continue;
        r->n_troubled -= f->troubled;
        feed_free(f);
        r->feeds.p[i] = r->feeds.p[--r->feeds.len];
        break;
    }
    cluster_drop_peers(&r->cluster, p);
}

/* Budgets that have not allowed anything for a while: why? */
static void feed_peers(struct drain_run *r) {
    for (struct peers *p; (p = cluster_idle_peers(&r->cluster, now(r).mono));)
        drop_peers(r, p);
    for (struct peers *p; (p = cluster_next_peers(&r->cluster));) {
        p->started = true;
        store_listen(p->pods, on_peer, r);
        struct feed *f = feed_new(r, &kind_pod, PEERS);
        f->peers = p;
        feed_start(f, p->pods,
                   (struct reflector_options){.ns = p->ns, .label_selector = p->selector});
    }
}

static void feed_all(struct drain_run *r) {
    struct cluster *c = &r->cluster;
    bool few = r->names.len <= FEW_NODES;
    for (size_t i = 0; few && i < r->names.len; i++) {
        feed(r, c->nodes, NEED, r->names.p[i]);
        feed(r, c->pods, NEED, r->names.p[i]);
    }
    c->all_pods = !few;
    if (!few) {
        feed(r, c->nodes, NEED, NULL);
        feed(r, c->pods, NEED, NULL);
    }
    feed(r, c->budgets, BUDGETS, NULL);
    if (r->opts.drain.dry_run != DRY_RUN_CLIENT)
        feed(r, c->attachments, VOLUMES, NULL);
    if (r->opts.drain.wait_rescheduled || r->opts.drain.surge) {
        c->owners_watched = true;
        feed(r, c->replica_sets, OWNERS, NULL);
        feed(r, c->stateful_sets, OWNERS, NULL);
        feed(r, c->deployments, OWNERS, NULL);
    }
}

/* --- life --- */

struct drain_run *drain_run_new(struct kube_client *client, const struct drain_run_opts *opts) {
    struct drain_run *r = xnew(struct drain_run);
    r->client = client;
    r->opts = *opts;
    r->actions = ACTIONS_INIT;
    for (size_t i = 0; i < opts->n_names; i++)
        *vec_push(&r->names) = xstrdup(opts->names[i]);
    cluster_init(&r->cluster, client->pool);
    r->timer = loop_timer_new(client->loop, on_timer, r);
    r->calls = calls_new(&(struct calls_opts){.client = client,
                                              .cluster = &r->cluster,
                                              .page = opts->page,
                                              .scope = scope_of,
                                              .wrote = on_wrote,
                                              .answer = on_answer,
                                              .arg = r});
    store_listen(r->cluster.nodes, on_node, r);
    store_listen(r->cluster.pods, on_pod, r);
    store_listen(r->cluster.budgets, on_pdb, r);
    store_listen(r->cluster.attachments, on_volume_attachment, r);
    store_listen(r->cluster.replica_sets, on_replica_set, r);
    store_listen(r->cluster.stateful_sets, on_stateful_set, r);
    store_listen(r->cluster.deployments, on_deployment, r);
    feed_all(r);
    return r;
}

void drain_run_free(struct drain_run *r) {
    if (!r)
        return;
    calls_free(r->calls);
    for (size_t i = 0; i < r->feeds.len; i++)
        feed_free(r->feeds.p[i]);
    vec_done(&r->feeds);
    drain_free(r->drain);
    starts_free(r->starts);
    checks_feed_free(r->checks);
    cluster_done(&r->cluster);
    actions_done(&r->actions);
    loop_timer_free(r->timer);
    for (size_t i = 0; i < r->names.len; i++)
        free(r->names.p[i]);
    vec_done(&r->names);
    free(r->stop);
    free(r);
}

struct drain *drain_run_engine(struct drain_run *r) {
    return r->drain;
}

void drain_run_stop(struct drain_run *r, const char *why) {
    if (r->drain) {
        drain_stop(r->drain, why);
        soon(r);
    } else {
        str_replace(&r->stop, why);
        if (r->checks && !r->failed)
            start(r);
    }
}
