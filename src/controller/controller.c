/* The controller. */
#include "controller/controller.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "controller/core.h"
#include "controller/desk.h"
#include "controller/election.h"
#include "controller/feeds.h"
#include "controller/gauges.h"
#include "controller/health.h"
#include "controller/operate.h"
#include "controller/others.h"
#include "controller/recorder.h"
#include "controller/rivals_feed.h"
#include "controller/tally.h"
#include "controller/teller.h"
#include "exec/calls.h"
#include "exec/checks_feed.h"

enum {
    DISCOVER_S = 60, /* systems that the checks know may be installed at any time */
    WARN_S = 60,     /* between two lines about records that cannot be written */
    CHECKS = 4,      /* of whether it is ready */
    FAREWELL_S = 5,  /* in which it is written how the last operation has ended */
};

struct controller {
    struct kube_client *client;
    struct controller_opts opts;
    struct core *core;
    struct recorder *recorder; /* NULL: nothing is recorded */
    struct feeds *feeds;
    struct calls *calls;
    struct actions actions;
    uint64_t events; /* that were sent: their numbers are their own */
    struct loop_timer *timer;
    struct election *election;
    struct teller *teller;
    struct others others;
    struct rivals_feed *rivals; /* of whoever leads, else NULL */
    struct operators *operators;
    struct checks_feed *checks; /* of whoever leads, where a policy asks them; else NULL */
    struct desk *desk;
    struct metrics *metrics; /* NULL: nobody looks */
    struct health *health;
    struct health_check ready[CHECKS + 1]; /* the last one has no name */
    char *refused;                         /* why readyz says no, the last time */
    int64_t warn_at;  /* monotonic: of records that cannot be written, not before */
    loop_fn *stopped; /* NULL: it is not to end */
    void *stopped_arg;
    struct loop_timer *farewell; /* by then it ends, whatever is under way */
    size_t under_way;            /* requests of the core */
};

/* Of Events: what the engine decides does not depend on how many of them were sent. */
#define EVENT_NUMBERS (UINT64_C(1) << 63)

static struct now now(const struct controller *c) {
    return (struct now){loop_now(c->client->loop), loop_wall(c->client->loop)};
}

static void soon(struct controller *c) {
    loop_timer_set(c->timer, 0);
}

/* --- steps --- */

static void unwatch_idle(void *arg, const char *node) {
    const struct controller *c = arg;
    if (!core_needs_pods(c->core, node))
        feeds_unwatch(c->feeds, node);
}

static void watch_ahead(void *arg, const char *node) {
    const struct controller *c = arg;
    feeds_watch(c->feeds, node);
}

/* The pods of those that hold a slot are watched, and of a few that come next in a rollout. */
static void watch_pods(struct controller *c) {
    for (size_t i = 0; i < policies_len(core_policies(c->core)); i++) {
        const struct keeper *k = policies_at(core_policies(c->core), i)->keeper;
        const struct slots *s = k ? keeper_slots(k) : NULL;
        for (size_t j = 0; s && j < s->list.len; j++)
            if (keeper_needs_pods(k, s->list.p[j].node))
                feeds_watch(c->feeds, s->list.p[j].node);
    }
    core_each_ahead(c->core, watch_ahead, c);
    feeds_each(c->feeds, unwatch_idle, c);
}

static void warn_refused(struct controller *c) {
    int64_t at = loop_now(c->client->loop);
    bool said = false;
    for (size_t i = 0; at >= c->warn_at && i < policies_len(core_policies(c->core)); i++) {
        _cleanup_free_ char *refusal = policies_refusal(policies_at(core_policies(c->core), i));
        if (refusal)
            log_warn(c->opts.log, "%s", refusal);
        said |= refusal != NULL;
    }
    if (said)
        c->warn_at = at + SEC(WARN_S);
}

static void look_at_policies(struct controller *c) {
    if (core_look(c->core))
        desk_learn(c->desk);
}

static void stop_leading(struct controller *c);
static void watch_others(struct controller *c);

/* The end of an orderly stop: what was begun is over, and that is written. */
static void leave(struct controller *c) {
    loop_fn *done = c->stopped;
    if (!done || operators_busy(c->operators))
        return;
    c->stopped = NULL;
    loop_timer_stop(c->farewell);
    stop_leading(c);
    election_resign(c->election, done, c->stopped_arg);
}

static void on_farewell(void *arg) {
    leave(arg);
}

static void on_timer(void *arg) {
    struct controller *c = arg;
    if (!core_is_ready(c->core))
        return;
    if (!c->stopped && recorder_wants_restart(c->recorder))
        core_restart(c->core);
    look_at_policies(c);
    watch_others(c);
    actions_reset(&c->actions);
    int64_t began = loop_now(c->client->loop);
    core_step(c->core, now(c), &c->actions);
    tally_turn(c->metrics, loop_now(c->client->loop) - began);
    desk_again(c->desk); /* after that: what is new has looked at its record by then */
    c->under_way += c->actions.list.len;
    for (size_t i = 0; i < c->actions.list.len; i++)
        calls_add(c->calls, &c->actions.list.p[i]);
    watch_pods(c);
    warn_refused(c);
    int64_t next = MIN_OF(core_next(c->core), desk_next(c->desk));
    if (c->stopped && !c->under_way && !core_owes(c->core) && next > loop_now(c->client->loop)) {
        leave(c);
        return;
    }
    if (next != INT64_MAX)
        loop_timer_set(c->timer, MAX_OF(next - loop_now(c->client->loop), 0));
}

static void on_answer(void *arg, uint64_t action, const struct answer *answer) {
    struct controller *c = arg;
    if (action >= EVENT_NUMBERS)
        return;
    c->under_way--;
    core_answer(c->core, action, answer, now(c));
    soon(c);
}

static void on_ended(void *arg, const struct action *action, const struct answer *answer) {
    const struct controller *c = arg;
    if (action->verb == ACTION_CONFIRM && action->kind == &kind_policy &&
        (answer->outcome == KUBE_OK || answer->outcome == KUBE_EXISTS))
        feeds_retry(c->feeds);
    teller_action(c->teller, action, answer);
}

static void on_seen(void *arg, const struct kube_seen *seen) {
    const struct controller *c = arg;
    teller_request(c->teller, seen);
}

static void on_wrote(void *arg, const char *node) {
    (void)arg, (void)node; /* the watch tells */
}

static struct store_scope scope_of(void *arg, const char *node) {
    const struct controller *c = arg;
    return feeds_scope(c->feeds, node);
}

/* --- what is told --- */

static void on_note(void *arg, const struct keeper_note *note) {
    const struct controller *c = arg;
    teller_note(c->teller, note);
}

static void on_said(void *arg, const struct keeper_said *said) {
    const struct controller *c = arg;
    teller_said(c->teller, said);
}

static void on_drain_note(void *arg, const struct drain_note *note) {
    const struct controller *c = arg;
    teller_drain_note(c->teller, note);
}

static void on_rollout_note(void *arg, const struct rollout_note *note) {
    const struct controller *c = arg;
    teller_rollout_note(c->teller, note);
}

static void on_others(void *arg, const char *node, const char *reason, const char *text) {
    const struct controller *c = arg;
    teller_node(c->teller, node, reason, text, election_leads(c->election));
}

static void send_event(void *arg, const struct action *action) {
    struct controller *c = arg;
    struct action numbered = *action;
    numbered.id = EVENT_NUMBERS + ++c->events;
    calls_add(c->calls, &numbered);
}

/* --- what is new --- */

static void on_changed(void *arg, const struct kind *kind, const struct object *before,
                       const struct object *after) {
    struct controller *c = arg;
    if (kind == &kind_node && after)
        others_node(&c->others, (const struct node *)before, (const struct node *)after,
                    now(c).wall);
    if (core_is_ready(c->core) && core_next(c->core) <= loop_now(c->client->loop))
        soon(c);
}

static void on_synced(void *arg) {
    struct controller *c = arg;
    if (!core_is_ready(c->core) && feeds_ready(c->feeds)) {
        core_ready(c->core);
        log_info(c->opts.log, "the cluster is known: %zu nodes",
                 store_len(core_cluster(c->core)->nodes));
    }
    if (core_is_ready(c->core)) {
        core_poke(c->core);
        soon(c);
    }
}

static void on_blind(void *arg, const char *why) {
    struct controller *c = arg;
    if (why)
        log_warn(c->opts.log, "nobody gets a slot: %s", why);
    else
        log_info(c->opts.log, "slots are given again: everything can be watched");
    core_blind(c->core, why);
    soon(c);
}

/* --- others --- */

static void on_lock_changed(void *arg, const struct object *before, const struct object *after) {
    const struct controller *c = arg;
    if (after)
        others_lock(&c->others, (const struct kured_lock *)before, (const struct kured_lock *)after,
                    now(c).wall);
}

static void on_rival_changed(void *arg, const struct object *before, const struct object *after) {
    const struct controller *c = arg;
    if (after)
        others_pod(&c->others, (const struct pod *)before, (const struct pod *)after);
}

/* When the nodes are known: locks of nodes that are not there are nobody's business. */
static void watch_others(struct controller *c) {
    int32_t fence;
    if (c->rivals || !core_is_ready(c->core) || !core_leads(c->core, &fence))
        return;
    c->rivals =
        rivals_feed_new(c->client, &(struct rivals_feed_opts){.log = c->opts.log,
                                                              .seed = c->opts.seed,
                                                              .lock_changed = on_lock_changed,
                                                              .pod_changed = on_rival_changed,
                                                              .arg = c});
    c->others.signs = rivals_feed_signs(c->rivals);
}

static void unwatch_others(struct controller *c) {
    c->others.signs = (struct rival_signs){0};
    rivals_feed_free(c->rivals);
    c->rivals = NULL;
}

/* --- who leads --- */

static void on_checks(void *arg) {
    struct controller *c = arg;
    core_checks_changed(c->core);
    soon(c);
}

/* Only the recorder wants to know: the engine sees them in the world. */
static void on_check_store(void *arg, enum check_source_id source, const struct store *s,
                           const struct store_change *change) {
    const struct controller *c = arg;
    core_check_store(c->core, source, s, change);
}

static void on_check_input(void *arg, enum check_source_id source, const struct check_input *in) {
    const struct controller *c = arg;
    core_check_input(c->core, source, in);
}

static void retell_checks(void *arg) {
    const struct controller *c = arg;
    if (!c->checks)
        return;
    checks_feed_retell(c->checks);
    if (!checks_feed_world(c->checks)->unread)
        core_checks_changed(c->core);
}

/* Read as long as this one leads, from the first time that somebody wants it. */
static const struct check_world *on_checks_wanted(void *arg) {
    struct controller *c = arg;
    if (!c->checks)
        c->checks = checks_feed_new(
            c->client, &(struct checks_feed_opts){.nodes = core_cluster(c->core)->nodes,
                                                  .again = SEC(DISCOVER_S),
                                                  .seed = c->opts.seed,
                                                  .ready = on_checks,
                                                  .changed = on_checks,
                                                  .store = c->recorder ? on_check_store : NULL,
                                                  .input = c->recorder ? on_check_input : NULL,
                                                  .arg = c});
    return checks_feed_world(c->checks);
}

static void stop_leading(struct controller *c) {
    core_follow(c->core);
    checks_feed_free(c->checks);
    c->checks = NULL;
    unwatch_others(c);
}

static void on_lead(void *arg, int32_t fence) {
    struct controller *c = arg;
    core_lead(c->core, fence);
    soon(c);
}

static void on_follow(void *arg) {
    struct controller *c = arg;
    stop_leading(c);
    soon(c);
}

/* Either another one leads, which the Lease will tell; or the Lease was deleted, and ours is the
 * first term of a new one. */
static void on_deposed(void *arg, const char *why, int32_t fence) {
    const struct controller *c = arg;
    log_warn(c->opts.log, "does nothing more as a leader in this term: %s", why);
    election_raise(c->election, fence);
}

/* Whether a drain of it may begin. */
static bool is_watched(void *arg, const char *node) {
    const struct controller *c = arg;
    return feeds_knows(c->feeds, node) && election_may_drain(c->election, node);
}

static void on_decided(void *arg) {
    struct controller *c = arg;
    core_poke(c->core);
    soon(c);
}

/* --- maintenances --- */

static void on_operate(void *arg, const struct maintenance *m) {
    const struct controller *c = arg;
    teller_operate(c->teller, m);
    operators_begin(c->operators, m);
}

static void on_operated(void *arg, const char *maintenance, const char *failure) {
    struct controller *c = arg;
    if (failure)
        log_warn(c->opts.log, "maintenance %s: %s", maintenance, failure);
    teller_operated(c->teller, maintenance, failure);
    core_operated(c->core, maintenance, failure);
    if (c->stopped && !operators_busy(c->operators))
        loop_timer_set(c->farewell, SEC(FAREWELL_S));
    soon(c);
}

/* --- FleetLock --- */

static bool is_ready(void *arg) {
    const struct controller *c = arg;
    return core_is_ready(c->core);
}

static const char *on_problem(void *arg) {
    const struct controller *c = arg;
    const char *barred = election_barred(c->election);
    return barred ? barred : election_problem(c->election);
}

static void on_look(void *arg) {
    look_at_policies(arg);
}

static void on_ask(void *arg, uint64_t ticket, const char *node, enum keeper_question question,
                   struct now at) {
    struct controller *c = arg;
    core_ask(c->core, ticket, node, question, at);
    soon(c);
}

static void on_gone(void *arg, uint64_t ticket) {
    const struct controller *c = arg;
    core_cancel(c->core, ticket);
}

static void on_reply(void *arg, const struct keeper_reply *reply) {
    const struct controller *c = arg;
    desk_reply(c->desk, reply);
}

static void on_replaced(void *arg, const struct keeper *k) {
    const struct controller *c = arg;
    desk_replaced(c->desk, k);
}

static void on_answered(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status) {
    const struct controller *c = arg;
    c->opts.reply(c->opts.arg, ticket, kind, status);
}

void controller_ask(struct controller *c, const struct fleetlock_question *q) {
    desk_ask(c->desk, q);
}

static int make_desk(struct controller *c, struct err *err) {
    return desk_new(c->client,
                    &(struct desk_opts){.http = c->opts.fleetlock,
                                        .https = c->opts.https,
                                        .cert = c->opts.cert,
                                        .key = c->opts.key,
                                        .ns = c->opts.ns,
                                        .service = c->opts.service,
                                        .terms = c->opts.terms,
                                        .address_rate = c->opts.address_rate,
                                        .ids = c->opts.ids,
                                        .cluster = core_cluster(c->core),
                                        .policies = core_policies(c->core),
                                        .teller = c->teller,
                                        .log = c->opts.log,
                                        .seed = c->opts.seed,
                                        .ready = is_ready,
                                        .problem = on_problem,
                                        .look = on_look,
                                        .ask = on_ask,
                                        .gone = on_gone,
                                        .reply = on_answered,
                                        .arg = c},
                    &c->desk, err);
}

/* --- health and metrics --- */

static const char *caches_problem(void *arg) {
    const struct controller *c = arg;
    return core_is_ready(c->core) ? core_is_blind(c->core) : "the cluster is not known yet";
}

/* One that cannot read it cannot lead, nor know that another one does. */
static const char *lease_problem(void *arg) {
    const struct controller *c = arg;
    return election_problem(c->election);
}

/* As long as one policy can be served this replica is of use, and clients of the others are to hear
 * what is the matter. */
static const char *records_problem(void *arg) {
    struct controller *c = arg;
    free(c->refused);
    c->refused = policies_refused(core_policies(c->core));
    return c->refused;
}

static const char *https_problem(void *arg) {
    const struct controller *c = arg;
    return desk_https_problem(c->desk);
}

/* Where FleetLock is served over HTTP as well its clients go on while there is no certificate. */
static void list_checks(struct controller *c) {
    struct health_check *check = c->ready;
    *check++ = (struct health_check){.name = "caches", .problem = caches_problem};
    *check++ = (struct health_check){.name = "lease", .problem = lease_problem};
    *check++ = (struct health_check){.name = "records", .problem = records_problem};
    if (c->opts.https)
        *check++ = (struct health_check){
            .name = "https", .problem = https_problem, .minor = c->opts.fleetlock != NULL};
}

static void take_gauges(void *arg) {
    const struct controller *c = arg;
    gauges_take(c->metrics,
                &(struct gauges_world){.policies = core_policies(c->core),
                                       .cluster = core_cluster(c->core),
                                       .maps = core_stores(c->core)->maps,
                                       .policy_store = core_stores(c->core)->policies,
                                       .maintenances = core_stores(c->core)->maintenances,
                                       .rollouts = core_stores(c->core)->rollouts,
                                       .feeds = c->feeds,
                                       .rivals = c->others.signs,
                                       .now = now(c).wall,
                                       .commit = strna(c->opts.commit),
                                       .leads = election_leads(c->election)});
}

static int serve_health(struct controller *c, struct err *err) {
    if (!c->opts.http)
        return 0;
    c->metrics = metrics_new(c->opts.compat);
    list_checks(c);
    return health_new(c->client->loop, c->opts.http,
                      &(struct health_opts){.checks = c->ready,
                                            .metrics = c->metrics,
                                            .gauges = take_gauges,
                                            .log = c->opts.log,
                                            .arg = c},
                      &c->health, err);
}

/* --- life --- */

static void make_core(struct controller *c) {
    c->core = core_new(&(struct core_opts){.ns = c->opts.ns,
                                           .pool = c->client->pool,
                                           .log = c->opts.log,
                                           .seed = c->opts.seed,
                                           .note = on_note,
                                           .said = on_said,
                                           .drain_note = on_drain_note,
                                           .rollout_note = on_rollout_note,
                                           .reply = on_reply,
                                           .operate = on_operate,
                                           .replaced = on_replaced,
                                           .deposed = on_deposed,
                                           .watched = is_watched,
                                           .checks = on_checks_wanted,
                                           .no_commands = !c->opts.commands,
                                           .no_hooks = !c->opts.hooks,
                                           .rate = c->opts.rate,
                                           .arg = c});
}

static int make_recorder(struct controller *c, struct err *err) {
    if (!c->opts.record)
        return 0;
    return recorder_new(c->core,
                        &(struct recorder_opts){.path = c->opts.record,
                                                .max = c->opts.record_max,
                                                .build = c->opts.commit,
                                                .identity = c->opts.identity,
                                                .ns = c->opts.ns,
                                                .seed = c->opts.seed,
                                                .no_commands = !c->opts.commands,
                                                .no_hooks = !c->opts.hooks,
                                                .rate = c->opts.rate,
                                                .loop = c->client->loop,
                                                .log = c->opts.log,
                                                .retell = retell_checks,
                                                .arg = c},
                        &c->recorder, err);
}

static int make_teller(struct controller *c, struct err *err) {
    int rc = teller_new(&(struct teller_opts){.loop = c->client->loop,
                                              .log = c->opts.log,
                                              .metrics = c->metrics,
                                              .audit = c->opts.audit,
                                              .identity = c->opts.identity,
                                              .policies = core_policies(c->core),
                                              .maintenances = core_stores(c->core)->maintenances,
                                              .send = send_event,
                                              .arg = c},
                        &c->teller, err);
    if (!rc && c->metrics) {
        c->client->seen = on_seen;
        c->client->seen_arg = c;
    }
    return rc;
}

static int make_election(struct controller *c, struct err *err) {
    return election_new(c->client,
                        &(struct election_opts){.ns = c->opts.ns,
                                                .identity = c->opts.identity,
                                                .pod = c->opts.pod,
                                                .cluster = core_cluster(c->core),
                                                .log = c->opts.log,
                                                .seed = c->opts.seed,
                                                .lead = on_lead,
                                                .follow = on_follow,
                                                .decided = on_decided,
                                                .arg = c},
                        &c->election, err);
}

static void make_feeds(struct controller *c) {
    c->feeds = feeds_new(c->client,
                         &(struct feeds_opts){.cluster = core_cluster(c->core),
                                              .maps = core_stores(c->core)->maps,
                                              .policies = core_stores(c->core)->policies,
                                              .maintenances = core_stores(c->core)->maintenances,
                                              .rollouts = core_stores(c->core)->rollouts,
                                              .ns = c->opts.ns,
                                              .maps_selector = SLOTS_LABEL,
                                              .log = c->opts.log,
                                              .seed = c->opts.seed,
                                              .changed = on_changed,
                                              .synced = on_synced,
                                              .blind = on_blind,
                                              .arg = c});
}

int controller_new(struct kube_client *client, const struct controller_opts *opts,
                   struct controller **out, struct err *err) {
    struct controller *c = xnew(struct controller);
    c->client = client;
    c->opts = *opts;
    c->actions = ACTIONS_INIT;
    c->timer = loop_timer_new(client->loop, on_timer, c);
    c->farewell = loop_timer_new(client->loop, on_farewell, c);
    c->operators = operators_new(client, &(struct operators_opts){.commands = opts->commands,
                                                                  .hooks = opts->hooks,
                                                                  .log = opts->log,
                                                                  .ended = on_operated,
                                                                  .arg = c});
    make_core(c);
    make_feeds(c);
    c->calls = calls_new(&(struct calls_opts){.client = client,
                                              .cluster = core_cluster(c->core),
                                              .scope = scope_of,
                                              .wrote = on_wrote,
                                              .answer = on_answer,
                                              .ended = on_ended,
                                              .arg = c});
    c->others = (struct others){.policies = core_policies(c->core),
                                .nodes = core_cluster(c->core)->nodes,
                                .tell = on_others,
                                .arg = c};
    int rc = make_recorder(c, err);
    if (!rc)
        rc = serve_health(c, err);
    if (!rc)
        rc = make_teller(c, err);
    if (!rc)
        rc = make_desk(c, err);
    if (!rc)
        rc = make_election(c, err);
    if (rc) {
        controller_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

void controller_free(struct controller *c) {
    if (!c)
        return;
    election_free(c->election);
    desk_free(c->desk);
    health_free(c->health);
    calls_free(c->calls);
    feeds_free(c->feeds);
    operators_free(c->operators);
    recorder_free(c->recorder);
    core_free(c->core);
    checks_feed_free(c->checks);
    rivals_feed_free(c->rivals);
    loop_timer_free(c->timer);
    loop_timer_free(c->farewell);
    if (c->metrics) {
        c->client->seen = NULL;
        metrics_free(c->metrics);
    }
    teller_free(c->teller);
    actions_done(&c->actions);
    free(c->refused);
    free(c);
}

const char *controller_fleetlock_address(const struct controller *c) {
    return desk_address(c->desk);
}

const char *controller_http_address(const struct controller *c) {
    return c->health ? health_address(c->health) : "";
}

void controller_reopen(struct controller *c) {
    teller_reopen(c->teller);
}

int64_t controller_stop(struct controller *c, loop_fn *done, void *arg) {
    size_t busy = operators_busy(c->operators);
    c->stopped = done;
    c->stopped_arg = arg;
    if (!busy) {
        leave(c);
        return 0;
    }
    log_info(c->opts.log, "ends when what it has begun is over: %zu operation%s", busy,
             busy == 1 ? "" : "s");
    core_hold(c->core);
    return SEC(OPERATE_WITHIN_S + FAREWELL_S);
}
