/* Drains: life, steps and answers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/surge_list.h"
#include "engine/surge_record.h"

enum {
    RETRY_AFTER_MAX = 600, /* seconds: what asks for more is not believed */
    SURGE_PATIENCE = 300,  /* seconds after the end in which counts are put back */
    SKEW_MIN = 2,          /* seconds that clocks may differ: a Date has no fractions */
    MINOR_PATIENCE = 10,   /* seconds after the end in which Events and conditions are written */
};

const char *drain_phase_word(enum drain_phase p) {
    static const char *const words[] = {
        [DRAIN_WAITING] = "waiting",     [DRAIN_CORDONING] = "cordoning",
        [DRAIN_CHECKING] = "checking",   [DRAIN_EVICTING] = "draining",
        [DRAIN_DETACHING] = "detaching", [DRAIN_RETURNING] = "rescheduling",
        [DRAIN_UNDOING] = "uncordoning", [DRAIN_DONE] = "drained",
        [DRAIN_REFUSED] = "refused",     [DRAIN_TIMED_OUT] = "blocked",
        [DRAIN_FAILED] = "failed",       [DRAIN_STOPPED] = "stopped",
    };
    return words[p];
}

/* --- small things that all files need --- */

/* What is due by now was looked at in this step. */
void drain_wake(struct drain *d, int64_t at) {
    int64_t *next = d->at ? &d->at->wake : &d->next;
    if (at > d->now.mono)
        *next = MIN_OF(*next, at);
}

int64_t drain_backoff(struct drain *d, unsigned tries, int64_t first, int64_t max) {
    return action_backoff(&d->random, tries, first, max);
}

int64_t drain_wish(const struct answer *a) {
    return a->retry_after > 0 ? SEC(MIN_OF(a->retry_after, (int64_t)RETRY_AFTER_MAX)) : 0;
}

int64_t drain_pause(struct drain *d, const struct answer *a, unsigned tries, int64_t first,
                    int64_t max) {
    int64_t delay = drain_backoff(d, tries, first, max), wish = drain_wish(a);
    return MAX_OF(delay, wish);
}

void drain_tell(struct drain *d, enum drain_note_kind kind, struct dnode *n, struct dpod *p,
                const char *text) {
    if (!d->note)
        return;
    struct drain_note note = {
        .kind = kind,
        .time = d->now.wall,
        .node = n   ? &n->pub
                : p ? &p->node->pub
                    : NULL,
        .pod = p ? &p->pub : NULL,
        .before = n ? n->pub.phase : DRAIN_WAITING,
        .text = strna(text),
    };
    d->note(d->arg, &note);
}

char *drain_full_name(const char *ns, const char *name) {
    return ns ? xasprintf("%s/%s", ns, name) : xstrdup(strna(name));
}

struct downer *drain_owner(struct dnode *n, const char *uid) {
    for (size_t i = 0; uid && i < n->owners.len; i++)
        if (streq(n->owners.p[i].uid, uid))
            return &n->owners.p[i];
    return NULL;
}

/* --- life --- */

static uint32_t pod_hash(const void *entry) {
    const struct dpod *p = entry;
    return hash_bytes(p->pub.uid, strlen(p->pub.uid));
}

static bool pod_equal(const void *entry, const void *uid) {
    return streq(((const struct dpod *)entry)->pub.uid, uid);
}

static uint32_t ledger_hash(const void *entry) {
    const struct ledger *l = entry;
    return hash_more(hash_bytes(l->name, strlen(l->name)), l->ns, strlen(l->ns));
}

static bool ledger_equal(const void *entry, const void *key) {
    const struct ledger *l = entry;
    const struct meta *meta = key;
    return streq(l->name, meta->name) && streq(l->ns, strna(meta->ns));
}

static uint32_t node_hash(const void *entry) {
    const struct dnode *n = entry;
    return hash_bytes(n->pub.name, strlen(n->pub.name));
}

static bool node_equal(const void *entry, const void *name) {
    return streq(((const struct dnode *)entry)->pub.name, name);
}

static const struct htab_ops node_ops = {node_hash, node_equal};
static const struct htab_ops pod_ops = {pod_hash, pod_equal};
static const struct htab_ops ledger_ops = {ledger_hash, ledger_equal};

static struct dnode *node_new(struct drain *d, const char *name) {
    struct dnode *node = xnew(struct dnode);
    node->pub.name = xstrdup(name);
    node->dirty = true;
    node->wake = INT64_MAX;
    *vec_push(&d->nodes) = node;
    if (!htab_find(&d->by_name, node_hash(node), name))
        htab_insert(&d->by_name, node);
    return node;
}

struct drain *drain_new(const struct drain_opts *opts, struct cluster *cluster,
                        const char *const *names, size_t n, drain_note_fn *note, void *arg) {
    struct drain *d = xnew(struct drain);
    d->opts = *opts;
    d->cluster = cluster;
    d->note = note;
    d->arg = arg;
    d->random.state = opts->seed;
    if (opts->skew > SEC(SKEW_MIN) || opts->skew < -SEC(SKEW_MIN))
        d->skew = opts->skew;
    d->own_tokens.rate = opts->rate;
    d->tokens = opts->tokens ? opts->tokens : &d->own_tokens;
    d->any_dirty = d->room = d->checks_stale = true;
    if (!opts->rules)
        d->opts.rules = d->own_rules = rules_new();
    htab_init(&d->by_name, &node_ops);
    htab_init(&d->pods, &pod_ops);
    drain_requests_init(d);
    budget_owners_init(&d->budget_owners, cluster->pdbs, budget_look_cluster, cluster);
    htab_init(&d->ledgers, &ledger_ops);
    if (opts->surge && opts->dry_run == DRY_RUN_NONE)
        d->surge = surge_new(cluster, opts->holder.id, &cluster->actions);
    for (size_t i = 0; i < n; i++)
        node_new(d, names[i]);
    return d;
}

static void node_free(struct dnode *n) {
    for (size_t i = 0; i < n->pods.len; i++)
        drain_pod_free(n->pods.p[i]);
    for (size_t i = 0; i < n->groups.len; i++)
        free(n->groups.p[i].object);
    for (size_t i = 0; i < n->owners.len; i++) {
        struct downer *o = &n->owners.p[i];
        free(o->api_version);
        free(o->kind);
        free(o->ns);
        free(o->name);
        free(o->uid);
        free(o->version);
    }
    vec_done(&n->pods);
    vec_done(&n->groups);
    vec_done(&n->owners);
    vec_done(&n->waits);
    free((char *)n->pub.name);
    free((char *)n->holder.id);
    free((char *)n->holder.by);
    free((char *)n->holder.reason);
    free(n->dropped);
    free(n->uid);
    free((char *)n->pub.blocker.object);
    free((char *)n->pub.blocker.message);
    free(n->condition);
    free(n->condition_sent);
    free(n->pods_list.why);
    free(n->volumes_list.why);
    free(n->error);
    free(n);
}

void drain_free(struct drain *d) {
    if (!d)
        return;
    for (size_t i = 0; i < d->nodes.len; i++)
        node_free(d->nodes.p[i]);
    vec_done(&d->nodes);
    for (size_t i = 0; i < d->batches.len; i++)
        free(d->batches.p[i]);
    vec_done(&d->batches);
    htab_done(&d->by_name);
    drain_requests_done(d);
    budget_owners_done(&d->budget_owners);
    drain_budgets_done(d);
    htab_done(&d->ledgers);
    htab_done(&d->pods);
    surge_free(d->surge);
    rules_free(d->own_rules);
    free(d->stopped);
    free(d);
}

/* --- nodes that come and go --- */

const struct cordon_holder *drain_holder(const struct drain *d, const struct dnode *n) {
    return n->holder.id ? &n->holder : &d->opts.holder;
}

bool drain_add(struct drain *d, const char *name, const struct cordon_holder *holder) {
    if (drain_find_node(d, name))
        return false;
    struct dnode *n = node_new(d, name);
    n->holder = (struct cordon_holder){
        .id = xstrdup(holder->id),
        .by = xstrdup(strna(holder->by)),
        .reason = xstrdup(strna(holder->reason)),
        .since = holder->since,
    };
    d->any_dirty = d->room = d->checks_stale = true;
    d->ended_at = 0;
    return true;
}

void drain_drop(struct drain *d, const char *name, const char *why) {
    struct dnode *n = drain_find_node(d, name);
    if (!n || n->dropped)
        return;
    n->dropped = xstrdup(why);
    n->dirty = d->any_dirty = d->room = true;
}

const struct drain_node *drain_node(struct drain *d, const char *name) {
    const struct dnode *n = drain_find_node(d, name);
    return n ? &n->pub : NULL;
}

/* Nothing of it is under way any more. */
static bool can_go(const struct dnode *n) {
    return n->dropped && drain_ended(n->pub.phase) && !n->requests && !n->record_due &&
           !n->condition;
}

static void forget_dropped(struct drain *d) {
    size_t kept = 0;
    for (size_t i = 0; i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        if (!can_go(n)) {
            d->nodes.p[kept++] = n;
            continue;
        }
        for (size_t k = 0; k < n->pods.len; k++) {
            const char *uid = n->pods.p[k]->pub.uid;
            htab_remove(&d->pods, hash_bytes(uid, strlen(uid)), uid);
        }
        htab_remove(&d->by_name, node_hash(n), n->pub.name);
        node_free(n);
    }
    d->nodes.len = kept;
}

/* --- what is new --- */

struct dnode *drain_find_node(struct drain *d, const char *name) {
    return name ? htab_find(&d->by_name, hash_bytes(name, strlen(name)), name) : NULL;
}

static void dirty(struct drain *d, struct dnode *n) {
    if (n)
        n->dirty = d->any_dirty = true;
}

static void all_dirty(struct drain *d) {
    for (size_t i = 0; i < d->nodes.len; i++)
        d->nodes.p[i]->dirty = true;
    d->any_dirty = d->room = d->surge_stirred = true;
}

/* What was read, or an owner: for nodes that miss something, or wait until their owners are well.
 * `uid`: of the owner, NULL when it may be any. */
static void readers_dirty(struct drain *d, const char *uid) {
    for (size_t i = 0; i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        bool waits = n->pub.phase == DRAIN_RETURNING && (!uid || drain_owner(n, uid));
        bool unseen =
            n->pub.phase == DRAIN_EVICTING && d->opts.wait_rescheduled && drain_owners_unseen(n);
        if (n->unread || waits || unseen)
            n->dirty = true;
    }
    d->any_dirty = d->surge_stirred = true;
}

void drain_poke(struct drain *d, const struct kind *kind, const struct object *before,
                const struct object *after) {
    const struct object *obj = after ? after : before;
    if (kind == &kind_pod && obj) {
        /* Another pod may have got the name of one that was here. */
        if (before)
            dirty(d, drain_find_node(d, ((const struct pod *)before)->node_name));
        dirty(d, drain_find_node(d, ((const struct pod *)obj)->node_name));
    } else if (kind == &kind_node && obj) {
        dirty(d, drain_find_node(d, obj->meta.name));
        d->room |= drain_zone_differs((const struct node *)before, (const struct node *)after);
    } else if (kind == &kind_pdb && obj) {
        drain_budget_changed(d, (const struct pdb *)before, (const struct pdb *)after);
        d->any_dirty = true;
    } else if (kind == &kind_volume_attachment && obj) {
        if (before)
            dirty(d, drain_find_node(d, ((const struct volume_attachment *)before)->node_name));
        dirty(d, drain_find_node(d, ((const struct volume_attachment *)obj)->node_name));
    } else if (obj && (kind == &kind_replica_set || kind == &kind_stateful_set ||
                       kind == &kind_deployment)) {
        readers_dirty(d, obj->meta.uid);
    } else {
        all_dirty(d);
    }
}

/* --- steps --- */

static void send_reads(struct drain *d) {
    struct lookup *l;
    VEC(struct lookup *) later = VEC_INIT;
    while ((l = cluster_next_wanted(d->cluster))) {
        if (l->not_before > d->now.mono) {
            drain_wake(d, l->not_before);
            *vec_push(&later) = l;
            continue;
        }
        cluster_reading(d->cluster, l,
                        actions_add(d->out, &d->cluster->actions,
                                    &(struct action){.verb = ACTION_READ,
                                                     .kind = l->kind,
                                                     .ns = l->ns,
                                                     .name = l->name,
                                                     .grace = -1}));
    }
    for (size_t i = 0; i < later.len; i++)
        cluster_want(d->cluster, later.p[i]);
    vec_done(&later);
}

/* What an earlier run had begun for a pod of one of our nodes goes on; what others have raised is
 * theirs. For a node whose turn has not come it goes back first: a pod of a node that is at work
 * may need the same Deployment. */
static void surge_adopt(struct drain *d, const struct deployment *deployment) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct surge_record record;
    if (surge_record_of(deployment, &arena, &record) != SURGE_MARKED)
        return;
    const struct dnode *n = drain_find_node(d, record.node);
    if (!n)
        return;
    surge_resume(d->surge, deployment, d->now, d->out);
    if (n->pub.phase == DRAIN_WAITING)
        surge_left(d->surge, record.pod, d->now, d->out);
}

static void surge_begin(struct drain *d) {
    size_t n;
    if (!d->surge || d->surge_begun)
        return;
    d->surge_begun = d->surge_stirred = true;
    const struct object **all = store_sorted(d->cluster->deployments, &n);
    for (size_t i = 0; i < n; i++)
        if (map_has(all[i]->meta.labels, SURGE_MARK))
            surge_adopt(d, (const struct deployment *)all[i]);
    free(all);
}

/* What cannot be put back is said, and not waited for: its record stays on the Deployment. */
static void surge_give_up(struct drain *d) {
    struct surge_item item;
    int64_t due = d->surge_ended_at + SEC(SURGE_PATIENCE);
    drain_wake(d, due);
    for (size_t i = 0; d->now.mono < due && surge_list(d->surge, &i, &item);)
        if (!item.refused)
            return;
    d->surge_given_up = true;
    for (size_t i = 0; surge_list(d->surge, &i, &item);) {
        _cleanup_free_ char *text = xasprintf("Deployment %s/%s keeps its second replica: %s",
                                              item.ns, item.name, strna(item.why));
        drain_tell(d, NOTE_REMARK, NULL, NULL, text);
    }
}

/* Nothing more will be evicted: every Deployment gets its count back. */
static void surge_end(struct drain *d) {
    if (!d->surge || d->surge_given_up)
        return;
    if (d->surge_ended) {
        if (!surge_over(d->surge))
            surge_give_up(d);
        return;
    }
    for (size_t i = 0; !d->stopped && i < d->nodes.len; i++)
        if (!drain_ended(d->nodes.p[i]->pub.phase) && d->nodes.p[i]->pub.phase != DRAIN_UNDOING)
            return;
    /* A pod that is being evicted may be the one of two that stays, if the count falls now. */
    if (d->asking)
        return;
    d->surge_ended = true;
    d->surge_ended_at = d->now.mono;
    surge_abort(d->surge, d->now, d->out);
}

/* One node is looked at: what it waits for wakes it. */
static void look_at(struct drain *d, struct dnode *n) {
    uint64_t misses = d->cluster->misses;
    d->at = n;
    d->cluster->troubled = NULL;
    n->queued = false;
    n->wake = INT64_MAX;
    drain_node_step(d, n);
    if (!drain_ended(n->pub.phase)) {
        drain_wake(d, n->deadline);
        drain_wake(d, n->not_before);
    }
    n->unread = misses != d->cluster->misses;
    n->act = n->touched = true;
    d->at = NULL;
}

static bool is_dirty(const struct drain *d) {
    for (size_t i = 0; i < d->nodes.len; i++)
        if (d->nodes.p[i]->dirty)
            return true;
    return false;
}

/* Nodes that others wait for may be behind them. */
static void settle(struct drain *d) {
    do {
        for (size_t i = 0; i < d->nodes.len; i++)
            if (d->nodes.p[i]->dirty)
                look_at(d, d->nodes.p[i]);
    } while (is_dirty(d));
}

/* What became due since the last step. */
static void wake_nodes(struct drain *d) {
    for (size_t i = 0; i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        n->dirty |= n->wake <= d->now.mono;
        n->act |= n->surging && d->surge_stirred;
    }
}

/* Deployments have news, or are due. */
static void surge_look(struct drain *d) {
    surge_begin(d);
    if (d->surge && d->surge_stirred)
        surge_step(d->surge, d->now, d->out);
    d->surge_stirred = false;
}

static void finish(struct drain *d, struct dnode *n) {
    if (n->touched) {
        d->at = n;
        drain_blockers_step(d, n);
        drain_node_record(d, n);
        drain_record_step(d, n);
        d->at = NULL;
        n->touched = false;
    }
    drain_wake(d, n->wake);
}

/* What nobody waits for is waited for a little when all nodes have ended. */
static void note_end(struct drain *d) {
    for (size_t i = 0; !d->ended_at && i < d->nodes.len; i++)
        if (!drain_ended(d->nodes.p[i]->pub.phase))
            return;
    if (!d->ended_at)
        d->ended_at = d->now.mono;
    if (d->minors)
        drain_wake(d, d->ended_at + SEC(MINOR_PATIENCE));
}

void drain_step(struct drain *d, struct now now, struct actions *out) {
    d->now = now;
    d->out = out;
    d->next = INT64_MAX;
    budget_owners_forget(&d->budget_owners);
    d->surge_stirred |= d->surge_due <= now.mono;
    wake_nodes(d);
    drain_admit(d);
    surge_look(d);
    /* A node that ended makes room for another, which may come as far as its pods; a pod that was
     * the last obstacle may be gone. Each turn moves a node to a later phase or a pod to another
     * state, so this ends. */
    do {
        settle(d);
        drain_pods_act(d);
        drain_admit(d);
    } while (is_dirty(d) || drain_writes_next(d));
    for (size_t i = 0; i < d->nodes.len; i++)
        finish(d, d->nodes.p[i]);
    forget_dropped(d);
    surge_end(d);
    drain_marks_step(d);
    drain_checks_forget(d);
    note_end(d);
    send_reads(d);
    if (d->surge) {
        d->surge_due = surge_next(d->surge);
        /* What became of one in this step, another may have waited for. */
        drain_wake(d, d->surge_stirred ? now.mono + 1 : d->surge_due);
    }
    d->any_dirty = false;
    d->out = NULL;
}

int64_t drain_next(const struct drain *d) {
    return d->any_dirty ? 0 : d->next;
}

/* --- answers --- */

/* When it is read again, if this passes; a few refusals of the credentials do. */
static enum kube_outcome read_again(struct drain *d, struct lookup *l, const struct answer *a) {
    bool unauthorized = a->outcome == KUBE_UNAUTHORIZED && l->failures < UNAUTHORIZED_MAX;
    bool passes = unauthorized || kube_outcome_row(a->outcome)->retry;
    l->failures = passes ? l->failures + 1 : 0;
    l->not_before = 0;
    if (passes)
        l->not_before = d->now.mono + drain_pause(d, a, l->failures, MSEC(200), SEC(10));
    return unauthorized ? KUBE_SERVER_ERROR : a->outcome;
}

static bool read_answer(struct drain *d, uint64_t action, const struct answer *a) {
    struct lookup *l = cluster_read_of(d->cluster, action);
    return l && cluster_read_done(d->cluster, action, read_again(d, l, a), a->message, a->obj);
}

/* The server's clock and ours: times in objects are the server's. */
static void note_skew(struct drain *d, int64_t date) {
    int64_t skew = date - d->now.wall, before = d->skew;
    if (!date)
        return;
    d->skew = skew > SEC(SKEW_MIN) || skew < -SEC(SKEW_MIN) ? skew : 0;
    if (d->skew - before > SEC(SKEW_MIN) || before - d->skew > SEC(SKEW_MIN))
        all_dirty(d); /* what is due by that clock is due at another time */
}

int64_t drain_server_now(const struct drain *d) {
    return d->now.wall + d->skew;
}

static void answer_request(struct drain *d, const struct request *r, const struct answer *a) {
    if (r->minor) {
        if (!drain_mark_answer(d, r, a))
            drain_record_answer(d, r, a);
    } else if (r->confirm) {
        drain_confirm_answer(d, r->confirm, a);
    } else if (r->pod) {
        drain_pod_answer(d, r->pod, a);
    } else {
        r->node->action = 0;
        drain_node_answer(d, r->node, a);
    }
    dirty(d, r->node);
}

bool drain_answer(struct drain *d, uint64_t action, const struct answer *a, struct now now) {
    struct request r;
    d->now = now;
    if (!action)
        return false;
    note_skew(d, a->date);
    if (drain_request_take(d, action, &r)) {
        answer_request(d, &r, a);
        return true;
    }
    if ((d->surge && surge_answer(d->surge, action, a, now)) || read_answer(d, action, a)) {
        readers_dirty(d, NULL);
        return true;
    }
    return false;
}

void drain_stop(struct drain *d, const char *why) {
    if (d->stopped)
        return;
    d->stopped = xstrdup(why);
    all_dirty(d);
}

bool drain_over(const struct drain *d) {
    bool patient = !d->ended_at || d->now.mono < d->ended_at + SEC(MINOR_PATIENCE);
    for (size_t i = 0; i < d->nodes.len; i++) {
        const struct dnode *n = d->nodes.p[i];
        if (!drain_ended(n->pub.phase) || n->action || n->record_due ||
            (patient && (n->condition || drain_mark_left(d, n))))
            return false;
    }
    return !d->asking && (!d->minors || !patient) &&
           (!d->surge || d->surge_given_up || surge_over(d->surge));
}

/* --- reading --- */

const struct drain_node *const *drain_nodes(const struct drain *d, size_t *n) {
    *n = d->nodes.len;
    /* struct dnode begins with its struct drain_node */
    return (const struct drain_node *const *)d->nodes.p;
}
