/* The controller. */
#include "controller/controller.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "controller/feeds.h"
#include "controller/operate.h"
#include "controller/policies.h"
#include "exec/calls.h"
#include "fleetlock/roster.h"
#include "fleetlock/server.h"
#include "kube/leader.h"

enum {
    DENY_STATUS = 404, /* as the seed has it */
};

/* Somebody who waits for a reply. */
struct asking {
    uint64_t ticket;
    char *node;
    enum keeper_question question;
    int deny_status;
    const struct keeper *keeper; /* NULL: it has to be asked anew */
};

struct controller {
    struct kube_client *client;
    struct controller_opts opts;
    struct cluster cluster;
    struct store *maps, *policy_store, *maintenances;
    struct feeds *feeds;
    struct calls *calls;
    struct actions actions;
    struct loop_timer *timer;
    struct leader *leader;
    struct policies *policies;
    struct operators *operators;
    VEC(struct asking) asking;
    struct roster *roster;
    struct fleetlock_server *fleetlock;
    struct httpd *http;
    struct httpd_listener *http_listener;
    bool ready;
    bool policies_changed; /* or the records of slots */
};

static struct now now(const struct controller *c) {
    return (struct now){loop_now(c->client->loop), loop_wall(c->client->loop)};
}

static void soon(struct controller *c) {
    loop_timer_set(c->timer, 0);
}

/* --- steps --- */

static bool is_worked_on(const struct controller *c, const char *node) {
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = policies_at(c->policies, i)->keeper;
        struct drain *drain = k ? keeper_drain(k) : NULL;
        if (k && (keeper_needs_pods(k, node) || (drain && drain_node(drain, node))))
            return true;
    }
    return false;
}

static void unwatch_idle(void *arg, const char *node) {
    struct controller *c = arg;
    if (!is_worked_on(c, node))
        feeds_unwatch(c->feeds, node);
}

/* The pods of those that hold a slot are watched, of nobody else. */
static void watch_pods(struct controller *c) {
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        const struct keeper *k = policies_at(c->policies, i)->keeper;
        const struct slots *s = k ? keeper_slots(k) : NULL;
        for (size_t j = 0; s && j < s->list.len; j++)
            if (keeper_needs_pods(k, s->list.p[j].node))
                feeds_watch(c->feeds, s->list.p[j].node);
    }
    feeds_each(c->feeds, unwatch_idle, c);
}

static int64_t next_step(const struct controller *c) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        const struct keeper *k = policies_at(c->policies, i)->keeper;
        if (k)
            next = MIN_OF(next, keeper_next(k));
    }
    return next;
}

static void ask_again(struct controller *c);

static void on_timer(void *arg) {
    struct controller *c = arg;
    if (!c->ready)
        return;
    if (c->policies_changed)
        policies_look(c->policies);
    c->policies_changed = false;
    ask_again(c);
    actions_reset(&c->actions);
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = policies_at(c->policies, i)->keeper;
        if (k && keeper_next(k) <= loop_now(c->client->loop))
            keeper_step(k, now(c), &c->actions);
    }
    for (size_t i = 0; i < c->actions.list.len; i++)
        calls_add(c->calls, &c->actions.list.p[i]);
    watch_pods(c);
    int64_t next = next_step(c);
    if (next != INT64_MAX)
        loop_timer_set(c->timer, next - loop_now(c->client->loop));
}

static void on_answer(void *arg, uint64_t action, const struct answer *answer) {
    struct controller *c = arg;
    bool shared = cluster_read_of(&c->cluster, action); /* somebody else may have wanted it, too */
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = policies_at(c->policies, i)->keeper;
        if (k && keeper_answer(k, action, answer, now(c)) && !shared)
            break;
        if (k && shared)
            keeper_poke(k, NULL, NULL, NULL);
    }
    soon(c);
}

static void on_wrote(void *arg, const char *node) {
    (void)arg, (void)node; /* the watch tells */
}

static struct store_scope scope_of(void *arg, const char *node) {
    const struct controller *c = arg;
    return feeds_scope(c->feeds, node);
}

/* --- what is new --- */

static void on_changed(void *arg, const struct kind *kind, const struct object *before,
                       const struct object *after) {
    struct controller *c = arg;
    c->policies_changed |= kind == &kind_policy || kind == &kind_config_map;
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        struct keeper *k = policies_at(c->policies, i)->keeper;
        if (k)
            keeper_poke(k, kind, before, after);
    }
    if (c->ready && (c->policies_changed || next_step(c) <= loop_now(c->client->loop)))
        soon(c);
}

static void on_synced(void *arg) {
    struct controller *c = arg;
    if (!c->ready && feeds_ready(c->feeds)) {
        c->ready = true;
        c->policies_changed = true;
        log_info(c->opts.log, "the cluster is known: %zu nodes", store_len(c->cluster.nodes));
    }
    if (c->ready)
        on_changed(c, NULL, NULL, NULL);
}

static void on_started(void *arg, int32_t fence) {
    struct controller *c = arg;
    log_info(c->opts.log, "leads, in term %d", fence);
    policies_lead(c->policies, fence);
    soon(c);
}

static void on_stopped(void *arg, const char *why) {
    struct controller *c = arg;
    log_warn(c->opts.log, "leads no longer: %s", why);
    policies_follow(c->policies);
    soon(c);
}

/* Either another one leads, which the Lease will tell; or the Lease was deleted, and ours is the
 * first term of a new one. */
static void on_deposed(void *arg, const char *why) {
    struct controller *c = arg;
    log_warn(c->opts.log, "does nothing more as a leader in this term: %s", why);
    for (size_t i = 0; i < policies_len(c->policies); i++) {
        const struct keeper *k = policies_at(c->policies, i)->keeper;
        const struct slots *s = k ? keeper_slots(k) : NULL;
        if (s && leader_is(c->leader))
            leader_raise(c->leader, s->fence);
    }
}

static void on_note(void *arg, const struct keeper_note *note) {
    const struct controller *c = arg;
    log_at(c->opts.log, note->warning ? LOG_WARN : LOG_INFO, "node %s %s (%s)", note->node,
           note->text, note->reason);
}

static void on_drain_note(void *arg, const struct drain_note *note) {
    const struct controller *c = arg;
    if (note->kind == NOTE_BLOCKED && note->blocker)
        log_info(c->opts.log, "node %s waits: %s %s: %s", note->node ? note->node->name : "",
                 blocker_row(note->blocker->code)->name, note->blocker->object,
                 note->blocker->message);
    else if (note->kind == NOTE_PHASE)
        log_debug(c->opts.log, "node %s: %s%s%s", note->node->name,
                  drain_phase_word(note->node->phase), note->node->error ? ": " : "",
                  strna(note->node->error));
}

static bool is_watched(void *arg, const char *node) {
    const struct controller *c = arg;
    return feeds_knows(c->feeds, node);
}

/* --- maintenances --- */

/* The keeper of the policy that has the node. Of a node that is not there, or that is no policy's,
 * somebody has to say so: the first one. */
static bool on_owns(void *arg, const struct keeper *k, const struct maintenance *m) {
    const struct controller *c = arg;
    const struct node *node = cluster_node(&c->cluster, m->node);
    const struct policy_kept *p = NULL;
    size_t n = node ? policies_find(c->policies, node, &p) : 0;
    if (!n && policies_len(c->policies))
        p = policies_at(c->policies, 0);
    return n <= 1 && p && p->keeper == k;
}

static void on_operate(void *arg, struct keeper *k, const struct maintenance *m) {
    const struct controller *c = arg;
    (void)k;
    operators_begin(c->operators, m);
}

static void on_operated(void *arg, const char *maintenance, const char *failure) {
    struct controller *c = arg;
    if (failure)
        log_warn(c->opts.log, "maintenance %s: %s", maintenance, failure);
    for (size_t i = 0; i < policies_len(c->policies); i++)
        if (policies_at(c->policies, i)->keeper)
            keeper_operated(policies_at(c->policies, i)->keeper, maintenance, failure);
    soon(c);
}

/* --- FleetLock --- */

static void on_reply(void *arg, const struct keeper_reply *reply) {
    static const enum fleetlock_kind words[] = {
        [KEEPER_GO] = FLEETLOCK_OK,
        [KEEPER_NOTED] = FLEETLOCK_OK,
        [KEEPER_FULL] = FLEETLOCK_SLOTS_FULL,
        [KEEPER_DRAINING] = FLEETLOCK_DRAINING,
        [KEEPER_BLOCKED] = FLEETLOCK_BLOCKED,
        [KEEPER_UNREADY] = FLEETLOCK_NOT_READY,
        [KEEPER_TROUBLE] = FLEETLOCK_UNAVAILABLE,
    };
    struct controller *c = arg;
    for (size_t i = 0; i < c->asking.len; i++) {
        struct asking a = c->asking.p[i];
        if (a.ticket != reply->ticket)
            continue;
        c->asking.p[i] = c->asking.p[--c->asking.len];
        free(a.node);
        fleetlock_server_reply(c->fleetlock, reply->ticket,
                               &(struct fleetlock_reply){words[reply->say], reply->text},
                               a.deny_status);
        return;
    }
}

static bool is_ready(void *arg) {
    const struct controller *c = arg;
    return c->ready;
}

/* The policy that decides for the node; NULL: that is the reply. */
static const struct policy_kept *policy_for(struct controller *c, const char *name,
                                            const char *group, struct fleetlock_reply *reply) {
    const struct policy_kept *p = NULL;
    const struct node *node = cluster_node(&c->cluster, name);
    size_t n = node ? policies_find(c->policies, node, &p) : 0;
    if (!n)
        *reply = (struct fleetlock_reply){FLEETLOCK_GROUP_MISMATCH,
                                          "no policy that can be used has this node"};
    else if (n > 1)
        *reply = (struct fleetlock_reply){FLEETLOCK_AMBIGUOUS_NODE,
                                          "several policies have this node: it must be one"};
    else if (!p->rules->fleetlock)
        *reply = (struct fleetlock_reply){FLEETLOCK_GROUP_MISMATCH,
                                          "the policy of this node has no fleetlock"};
    else if (!policy_has_group(p->rules, group))
        *reply = (struct fleetlock_reply){FLEETLOCK_GROUP_MISMATCH,
                                          "the policy of this node does not have that group"};
    else
        return p;
    return NULL;
}

static void on_ask(void *arg, const struct fleetlock_question *q) {
    struct controller *c = arg;
    struct fleetlock_reply reply;
    if (c->policies_changed)
        policies_look(c->policies);
    const struct policy_kept *p = policy_for(c, q->node, q->group, &reply);
    if (!p) {
        fleetlock_server_reply(c->fleetlock, q->ticket, &reply, DENY_STATUS);
        return;
    }
    struct asking a = {.ticket = q->ticket,
                       .node = xstrdup(q->node),
                       .question = q->api == FLEETLOCK_PRE_REBOOT ? KEEPER_MAY_GO : KEEPER_STEADY,
                       .deny_status = p->rules->deny_status,
                       .keeper = p->keeper};
    *vec_push(&c->asking) = a;
    keeper_ask(p->keeper, q->ticket, a.node, a.question, now(c));
    soon(c);
}

static void on_replaced(void *arg, const struct keeper *k) {
    struct controller *c = arg;
    for (size_t i = 0; i < c->asking.len; i++)
        if (c->asking.p[i].keeper == k)
            c->asking.p[i].keeper = NULL;
}

/* Those whose policy was changed while they waited. */
static void ask_again(struct controller *c) {
    for (size_t i = 0; i < c->asking.len;) {
        struct asking *a = &c->asking.p[i++];
        const struct node *node = a->keeper ? NULL : cluster_node(&c->cluster, a->node);
        const struct policy_kept *p = NULL;
        if (a->keeper)
            continue;
        if (node && policies_find(c->policies, node, &p) == 1) {
            a->keeper = p->keeper;
            keeper_ask(p->keeper, a->ticket, a->node, a->question, now(c));
            continue;
        }
        on_reply(c, &(struct keeper_reply){a->ticket, KEEPER_TROUBLE,
                                           "the policies have changed: please ask again"});
        i--;
    }
}

static int serve_fleetlock(struct controller *c, struct err *err) {
    if (!c->opts.fleetlock)
        return 0;
    c->roster = roster_new(c->cluster.nodes, &(struct roster_options){0});
    int rc = fleetlock_server_new(c->client->loop,
                                  &(struct fleetlock_server_opts){.roster = c->roster,
                                                                  .log = c->opts.log,
                                                                  .ready = is_ready,
                                                                  .ask = on_ask,
                                                                  .deny_status = DENY_STATUS,
                                                                  .arg = c},
                                  &c->fleetlock, err);
    return rc ? rc : fleetlock_server_listen(c->fleetlock, c->opts.fleetlock, c->opts.tls, err);
}

/* --- health --- */

static void on_http(void *arg, struct exchange *x) {
    const struct controller *c = arg;
    const char *path = exchange_path(x), *text = "not found\n";
    int code = 404;
    if (streq(path, "/healthz")) {
        code = 200;
        text = "ok\n";
    } else if (streq(path, "/readyz")) {
        code = c->ready ? 200 : 503;
        text = c->ready ? "ok\n" : "the cluster is not known yet\n";
    }
    exchange_reply(x, &(struct http_reply){.code = code}, text, strlen(text));
}

static int serve_http(struct controller *c, struct err *err) {
    if (!c->opts.http)
        return 0;
    int rc = httpd_new(c->client->loop,
                       &(struct httpd_options){.handle = on_http, .arg = c, .log = c->opts.log},
                       &c->http, err);
    return rc ? rc : httpd_listen(c->http, c->opts.http, NULL, &c->http_listener, err);
}

/* --- life --- */

static void make_policies(struct controller *c) {
    c->policies = policies_new(&(struct policies_opts){
        .keeper = {.ns = c->opts.ns,
                   .forget = KEEPER_FORGET,
                   .same_boot = KEEPER_SAME_BOOT,
                   .drain_note = on_drain_note,
                   .note = on_note,
                   .reply = on_reply,
                   .deposed = on_deposed,
                   .watched = is_watched,
                   .maintenances = c->maintenances,
                   .owns = on_owns,
                   .operate = on_operate,
                   .arg = c,
                   .seed = c->opts.seed},
        .cluster = &c->cluster,
        .maps = c->maps,
        .policies = c->policy_store,
        .log = c->opts.log,
        .replaced = on_replaced,
        .arg = c,
    });
}

int controller_new(struct kube_client *client, const struct controller_opts *opts,
                   struct controller **out, struct err *err) {
    struct controller *c = xnew(struct controller);
    c->client = client;
    c->opts = *opts;
    c->actions = ACTIONS_INIT;
    cluster_init(&c->cluster, client->pool);
    c->maps = store_new(&kind_config_map, client->pool);
    c->policy_store = store_new(&kind_policy, client->pool);
    c->maintenances = store_new(&kind_maintenance, client->pool);
    c->timer = loop_timer_new(client->loop, on_timer, c);
    c->operators = operators_new(
        client, &(struct operators_opts){
                    .commands = opts->commands, .log = opts->log, .ended = on_operated, .arg = c});
    make_policies(c);
    c->feeds = feeds_new(client, &(struct feeds_opts){.cluster = &c->cluster,
                                                      .maps = c->maps,
                                                      .policies = c->policy_store,
                                                      .maintenances = c->maintenances,
                                                      .ns = opts->ns,
                                                      .maps_selector = SLOTS_LABEL,
                                                      .log = opts->log,
                                                      .seed = opts->seed,
                                                      .changed = on_changed,
                                                      .synced = on_synced,
                                                      .arg = c});
    c->calls = calls_new(&(struct calls_opts){.client = client,
                                              .cluster = &c->cluster,
                                              .scope = scope_of,
                                              .wrote = on_wrote,
                                              .answer = on_answer,
                                              .arg = c});
    int rc = serve_fleetlock(c, err);
    if (!rc)
        rc = serve_http(c, err);
    if (!rc)
        rc = leader_new(client,
                        &(struct leader_options){.ns = opts->ns,
                                                 .name = KEEPER_LEASE,
                                                 .identity = opts->identity,
                                                 .seed = opts->seed,
                                                 .started = on_started,
                                                 .stopped = on_stopped,
                                                 .arg = c},
                        &c->leader, err);
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
    leader_free(c->leader);
    fleetlock_server_free(c->fleetlock);
    httpd_free(c->http);
    calls_free(c->calls);
    feeds_free(c->feeds);
    operators_free(c->operators);
    policies_free(c->policies);
    for (size_t i = 0; i < c->asking.len; i++)
        free(c->asking.p[i].node);
    vec_done(&c->asking);
    roster_free(c->roster);
    loop_timer_free(c->timer);
    store_free(c->maps);
    store_free(c->policy_store);
    store_free(c->maintenances);
    cluster_done(&c->cluster);
    actions_done(&c->actions);
    free(c);
}

const char *controller_fleetlock_address(const struct controller *c) {
    return c->fleetlock ? fleetlock_server_address(c->fleetlock) : "";
}

const char *controller_http_address(const struct controller *c) {
    return c->http_listener ? httpd_listener_address(c->http_listener) : "";
}

void controller_stop(struct controller *c, loop_fn *done, void *arg) {
    policies_follow(c->policies);
    leader_resign(c->leader, done, arg);
}
