/* What the controller decides. */
#include "controller/core.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "controller/operate.h"
#include "controller/standing.h"

enum { STORES = 11 };

/* A store, and whose it is. */
struct ear {
    struct core *core;
    struct store *store;
};

struct core {
    struct core_opts opts;
    struct cluster cluster;
    struct core_stores stores;
    struct store *all[STORES];
    struct ear ears[STORES];
    struct policies *policies;
    struct rollouts *rollouts; /* of whoever leads, else NULL */
    struct standing *standing; /* the same */
    bool leads;
    int32_t fence; /* its term */
    bool ready;
    bool held;             /* no further operation is begun */
    char *blind;           /* why the stores may show an old picture; NULL: they do not */
    bool policies_changed; /* or the records of slots */
    VEC(char *) watched;   /* nodes whose pods were said to be, when last asked */
    size_t steps;          /* since it began anew */
    char *deposed;         /* why, to be told when nothing is under way any more */
    core_listen_fn *listen;
    void *listen_arg;
};

static void tell(const struct core *c, const struct core_event *e) {
    if (c->listen)
        c->listen(c->listen_arg, e);
}

void core_listen(struct core *c, core_listen_fn *fn, void *arg) {
    c->listen = fn;
    c->listen_arg = arg;
}

/* --- what goes out --- */

static void on_note(void *arg, const struct keeper_note *note) {
    const struct core *c = arg;
    tell(c, &(struct core_event){.what = CORE_NOTE, .note = note});
    c->opts.note(c->opts.arg, note);
}

/* Nobody replays it: whoever does asks the gates again. */
static void on_said(void *arg, const struct keeper_said *said) {
    const struct core *c = arg;
    if (c->opts.said)
        c->opts.said(c->opts.arg, said);
}

static void on_drain_note(void *arg, const struct drain_note *note) {
    const struct core *c = arg;
    tell(c, &(struct core_event){.what = CORE_DRAIN, .drain = note});
    c->opts.drain_note(c->opts.arg, note);
}

static void on_rollout_note(void *arg, const struct rollout_note *note) {
    const struct core *c = arg;
    tell(c, &(struct core_event){.what = CORE_ROLLOUT, .rollout = note});
    c->opts.rollout_note(c->opts.arg, note);
}

static void on_reply(void *arg, const struct keeper_reply *reply) {
    const struct core *c = arg;
    tell(c, &(struct core_event){.what = CORE_REPLY, .reply = reply});
    c->opts.reply(c->opts.arg, reply);
}

static void on_operate(void *arg, struct keeper *k, const struct maintenance *m) {
    const struct core *c = arg;
    (void)k;
    tell(c, &(struct core_event){.what = CORE_OPERATE, .name = m->meta.name});
    c->opts.operate(c->opts.arg, m);
}

/* Whoever is told may have it follow at once, which must not happen in the midst of a step. */
static void on_deposed(void *arg, const char *why) {
    struct core *c = arg;
    if (!c->deposed)
        c->deposed = xstrdup(why);
}

static bool on_watched(void *arg, const char *node) {
    struct core *c = arg;
    bool yes = c->opts.watched(c->opts.arg, node);
    size_t i = 0;
    while (i < c->watched.len && !streq(c->watched.p[i], node))
        i++;
    bool was = i < c->watched.len;
    if (was != yes)
        tell(c, &(struct core_event){.what = CORE_WATCHED, .name = node, .yes = yes});
    if (yes && !was) {
        *vec_push(&c->watched) = xstrdup(node);
    } else if (was && !yes) {
        free(c->watched.p[i]);
        c->watched.p[i] = c->watched.p[--c->watched.len];
    }
    return yes;
}

static bool on_owns(void *arg, const struct keeper *k, const struct maintenance *m) {
    const struct core *c = arg;
    return policies_owns(c->policies, k, m);
}

static bool on_elsewhere(void *arg, const struct keeper *k, keeper_out_fn *fn, void *fn_arg) {
    const struct core *c = arg;
    return policies_elsewhere(c->policies, k, fn, fn_arg);
}

static const char *on_unguarded(void *arg, const struct keeper *k) {
    const struct core *c = arg;
    return policies_unguarded(c->policies, k);
}

static const char *on_blind(void *arg) {
    const struct core *c = arg;
    return c->blind;
}

static const struct check_world *on_checks(void *arg) {
    const struct core *c = arg;
    return c->opts.checks ? c->opts.checks(c->opts.arg) : NULL;
}

static bool on_needed(void *arg, const struct maintenance *m) {
    const struct core *c = arg;
    /* All that is there is known by now: a kind that is not has no object that could need it. */
    if (c->ready && !store_synced(c->stores.rollouts))
        return false;
    return !rollout_remembers(c->stores.rollouts, m);
}

static bool on_held(void *arg) {
    const struct core *c = arg;
    return c->held;
}

static const char *on_unclear(void *arg, const struct maintenance *m) {
    const struct core *c = arg;
    return policies_unclear(c->policies, m);
}

static const char *on_unfit(void *arg, const struct maintenance *m) {
    const struct core *c = arg;
    return operators_refuse(!c->opts.no_commands, !c->opts.no_hooks, m,
                            cluster_node(&c->cluster, m->node));
}

static void on_replaced(void *arg, const struct keeper *k) {
    const struct core *c = arg;
    c->opts.replaced(c->opts.arg, k);
}

static size_t policy_of(void *arg, const struct node *node, struct rollout_policy *out) {
    const struct core *c = arg;
    const struct policy_kept *p = NULL;
    size_t n = policies_find(c->policies, node, &p);
    if (p)
        *out = (struct rollout_policy){p->rules, p->keeper};
    return n;
}

static struct keeper *keeper_at(const struct core *c, size_t i) {
    return policies_at(c->policies, i)->keeper;
}

/* What they plan by is known: the kind of Policies may come to the server after theirs. */
static bool rollouts_may(const struct core *c) {
    return c->rollouts && store_synced(c->stores.policies);
}

/* The end of whatever came in. */
static void leave(struct core *c) {
    _cleanup_free_ char *why = TAKE_PTR(c->deposed);
    int32_t fence = 0;
    if (!why)
        return;
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        const struct slots *s = keeper_at(c, i) ? keeper_slots(keeper_at(c, i)) : NULL;
        fence = s ? MAX_OF(fence, s->fence) : fence;
    }
    tell(c, &(struct core_event){.what = CORE_DEPOSED, .text = why, .fence = fence});
    c->opts.deposed(c->opts.arg, why, fence);
}

/* --- what comes in --- */

static void poke(struct core *c, const struct kind *kind, const struct object *before,
                 const struct object *after) {
    c->policies_changed |= kind == &kind_policy || kind == &kind_config_map;
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (keeper_at(c, i))
            keeper_poke(keeper_at(c, i), kind, before, after);
    if (c->rollouts)
        rollouts_poke(c->rollouts, kind, before, after);
    if (c->standing && kind != &kind_pod)
        standing_poke(c->standing);
}

static void on_changed(void *arg, const struct object *before, const struct object *after) {
    const struct ear *ear = arg;
    poke(ear->core, store_kind(ear->store), before, after);
}

static void on_store(void *arg, const struct store *s, const struct store_change *change) {
    const struct core *c = arg;
    tell(c, &(struct core_event){.what = CORE_STORE, .store = s, .change = change});
}

void core_poke(struct core *c) {
    tell(c, &(struct core_event){.what = CORE_POKE});
    poke(c, NULL, NULL, NULL);
}

void core_ready(struct core *c) {
    tell(c, &(struct core_event){.what = CORE_READY});
    c->ready = true;
    c->policies_changed = true;
}

void core_blind(struct core *c, const char *why) {
    tell(c, &(struct core_event){.what = CORE_BLIND, .text = why});
    str_replace(&c->blind, why);
    poke(c, NULL, NULL, NULL);
}

bool core_look(struct core *c) {
    if (!c->policies_changed)
        return false;
    tell(c, &(struct core_event){.what = CORE_LOOK});
    policies_look(c->policies);
    c->policies_changed = false;
    return true;
}

void core_step(struct core *c, struct now now, struct actions *out) {
    size_t from = out->list.len;
    tell(c, &(struct core_event){.what = CORE_STEP, .now = now});
    /* Another one is the first each time: they share the rate of evictions. */
    for (size_t n = policies_len(c->policies), i = 0, at = c->steps++; i < n; i++, at++)
        if (keeper_at(c, at % n) && keeper_next(keeper_at(c, at % n)) <= now.mono)
            keeper_step(keeper_at(c, at % n), now, out);
    policies_say(c->policies);
    if (rollouts_may(c) && rollouts_next(c->rollouts) <= now.mono)
        rollouts_step(c->rollouts, now, out);
    if (c->standing && standing_next(c->standing) <= now.mono)
        standing_step(c->standing, now, out);
    for (size_t i = from; i < out->list.len; i++)
        tell(c, &(struct core_event){.what = CORE_ACTION, .action = &out->list.p[i]});
    leave(c);
}

int64_t core_next(const struct core *c) {
    int64_t next = c->ready && c->policies_changed ? 0 : INT64_MAX;
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (keeper_at(c, i))
            next = MIN_OF(next, keeper_next(keeper_at(c, i)));
    if (c->standing)
        next = MIN_OF(next, standing_next(c->standing));
    return rollouts_may(c) ? MIN_OF(next, rollouts_next(c->rollouts)) : next;
}

void core_answer(struct core *c, uint64_t action, const struct answer *answer, struct now now) {
    bool shared = cluster_read_of(&c->cluster, action); /* somebody else may have wanted it, too */
    tell(
        c,
        &(struct core_event){
            .what = CORE_ANSWER, .id = action, .answer = answer, .pool = c->opts.pool, .now = now});
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = keeper_at(c, i);
        if (k && keeper_answer(k, action, answer, now) && !shared)
            break;
        if (k && shared)
            keeper_poke(k, NULL, NULL, NULL);
    }
    if (c->rollouts)
        rollouts_answer(c->rollouts, action, answer, now);
    if (c->standing)
        standing_answer(c->standing, action, answer, now);
    /* Whoever has asked leads no longer: nobody else would ever read it again. */
    if (cluster_read_of(&c->cluster, action))
        cluster_read_done(&c->cluster, action, answer->outcome, answer->message, answer->obj);
    leave(c);
}

void core_ask(struct core *c, uint64_t ticket, const char *name, enum keeper_question question,
              struct now now) {
    const struct policy_kept *p = policies_asked(c->policies, name);
    tell(c, &(struct core_event){
                .what = CORE_ASK, .id = ticket, .name = name, .question = question, .now = now});
    if (p)
        keeper_ask(p->keeper, ticket, name, question, now);
    leave(c);
}

void core_cancel(struct core *c, uint64_t ticket) {
    tell(c, &(struct core_event){.what = CORE_CANCEL, .id = ticket});
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (keeper_at(c, i))
            keeper_cancel(keeper_at(c, i), ticket);
}

void core_operated(struct core *c, const char *maintenance, const char *failure) {
    tell(c, &(struct core_event){.what = CORE_OPERATED, .name = maintenance, .text = failure});
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (keeper_at(c, i))
            keeper_operated(keeper_at(c, i), maintenance, failure);
    leave(c);
}

/* --- who leads --- */

static void end_lead(struct core *c) {
    rollouts_free(c->rollouts);
    c->rollouts = NULL;
    standing_free(c->standing);
    c->standing = NULL;
}

static void begin_lead(struct core *c) {
    policies_lead(c->policies, c->fence);
    c->rollouts = rollouts_new(&(struct rollouts_opts){.cluster = &c->cluster,
                                                       .rollouts = c->stores.rollouts,
                                                       .maintenances = c->stores.maintenances,
                                                       .policy = policy_of,
                                                       .maps = c->stores.maps,
                                                       .ns = c->opts.ns,
                                                       .note = on_rollout_note,
                                                       .watched = on_watched,
                                                       .arg = c,
                                                       .seed = c->opts.seed});
    c->standing = standing_new(&(struct standing_opts){.policies = c->policies,
                                                       .cluster = &c->cluster,
                                                       .policy_store = c->stores.policies,
                                                       .ids = &c->cluster.actions,
                                                       .log = c->opts.log});
}

void core_checks_changed(struct core *c) {
    /* Whether or not a check says something else now, who waits is looked at again. */
    tell(c, &(struct core_event){.what = CORE_CHECKS});
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (policies_at(c->policies, i)->keeper)
            keeper_checks_changed(policies_at(c->policies, i)->keeper);
}

void core_check_store(struct core *c, enum check_source_id source, const struct store *s,
                      const struct store_change *change) {
    tell(c, &(struct core_event){
                .what = CORE_CHECK_STORE, .source = source, .store = s, .change = change});
}

void core_check_input(struct core *c, enum check_source_id source, const struct check_input *in) {
    tell(c, &(struct core_event){.what = CORE_CHECK_INPUT, .source = source, .input = in});
}

void core_lead(struct core *c, int32_t fence) {
    tell(c, &(struct core_event){.what = CORE_LEAD, .fence = fence});
    end_lead(c);
    c->leads = true;
    c->fence = fence;
    begin_lead(c);
}

void core_follow(struct core *c) {
    tell(c, &(struct core_event){.what = CORE_FOLLOW});
    c->leads = false;
    policies_follow(c->policies);
    end_lead(c);
}

bool core_needs_pods(const struct core *c, const char *node) {
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = policies_at(c->policies, i)->keeper;
        struct drain *drain = k ? keeper_drain(k) : NULL;
        if (k && (keeper_needs_pods(k, node) || (drain && drain_node(drain, node))))
            return true;
    }
    return c->rollouts && rollouts_needs_pods(c->rollouts, node);
}

void core_each_ahead(const struct core *c, void (*fn)(void *arg, const char *node), void *arg) {
    if (c->rollouts)
        rollouts_each_ahead(c->rollouts, fn, arg);
}

bool core_owes(const struct core *c) {
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        const struct keeper *k = policies_at(c->policies, i)->keeper;
        if (k && keeper_owes(k))
            return true;
    }
    return false;
}

void core_hold(struct core *c) {
    tell(c, &(struct core_event){.what = CORE_HOLD});
    c->held = true;
}

/* --- life --- */

static void make_policies(struct core *c) {
    c->policies = policies_new(&(struct policies_opts){
        .keeper = {.ns = c->opts.ns,
                   .forget = KEEPER_FORGET,
                   .unclaimed = KEEPER_UNCLAIMED,
                   .same_boot = KEEPER_SAME_BOOT,
                   .drain_note = on_drain_note,
                   .note = on_note,
                   .said = on_said,
                   .reply = on_reply,
                   .deposed = on_deposed,
                   .watched = on_watched,
                   .maintenances = c->stores.maintenances,
                   .elsewhere = on_elsewhere,
                   .unguarded = on_unguarded,
                   .blind = on_blind,
                   .owns = on_owns,
                   .operate = on_operate,
                   .needed = on_needed,
                   .held = on_held,
                   .unclear = on_unclear,
                   .unfit = on_unfit,
                   .checks = on_checks,
                   .arg = c,
                   .seed = c->opts.seed},
        .cluster = &c->cluster,
        .maps = c->stores.maps,
        .policies = c->stores.policies,
        .rate = c->opts.rate,
        .log = c->opts.log,
        .replaced = on_replaced,
        .arg = c,
    });
}

static void forget_watched(struct core *c) {
    for (size_t i = 0; i < c->watched.len; i++)
        free(c->watched.p[i]);
    vec_done(&c->watched);
}

static void forget(struct core *c) {
    end_lead(c);
    forget_watched(c);
    free(c->deposed);
    c->deposed = NULL;
    c->steps = 0;
}

struct core *core_new(const struct core_opts *opts) {
    struct core *c = xnew(struct core);
    c->opts = *opts;
    cluster_init(&c->cluster, opts->pool);
    c->stores = (struct core_stores){.maps = store_new(&kind_config_map, opts->pool),
                                     .policies = store_new(&kind_policy, opts->pool),
                                     .maintenances = store_new(&kind_maintenance, opts->pool),
                                     .rollouts = store_new(&kind_rollout, opts->pool)};
    struct store *all[STORES] = {
        c->cluster.nodes,       c->cluster.pods,         c->cluster.budgets,
        c->cluster.attachments, c->cluster.replica_sets, c->cluster.stateful_sets,
        c->cluster.deployments, c->stores.maps,          c->stores.policies,
        c->stores.maintenances, c->stores.rollouts};
    for (size_t i = 0; i < STORES; i++) {
        c->all[i] = all[i];
        c->ears[i] = (struct ear){c, all[i]};
        store_listen(all[i], on_changed, &c->ears[i]);
        store_tap(all[i], on_store, c);
    }
    make_policies(c);
    return c;
}

void core_free(struct core *c) {
    if (!c)
        return;
    forget(c);
    policies_free(c->policies);
    store_free(c->stores.maps);
    store_free(c->stores.policies);
    store_free(c->stores.maintenances);
    store_free(c->stores.rollouts);
    cluster_done(&c->cluster);
    free(c->blind);
    free(c);
}

void core_restart(struct core *c) {
    forget(c);
    policies_reset(c->policies);
    cluster_forget(&c->cluster);
    c->policies_changed = true;
    tell(c, &(struct core_event){.what = CORE_BEGIN});
    if (c->leads)
        begin_lead(c);
}

/* --- what it knows --- */

struct cluster *core_cluster(struct core *c) {
    return &c->cluster;
}

const struct core_stores *core_stores(const struct core *c) {
    return &c->stores;
}

const struct policies *core_policies(const struct core *c) {
    return c->policies;
}

bool core_is_ready(const struct core *c) {
    return c->ready;
}

const char *core_is_blind(const struct core *c) {
    return c->blind;
}

bool core_leads(const struct core *c, int32_t *fence) {
    *fence = c->fence;
    return c->leads;
}

struct store *const *core_all_stores(const struct core *c, size_t *n) {
    *n = STORES;
    return c->all;
}
