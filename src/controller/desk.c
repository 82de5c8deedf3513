/* Where FleetLock clients are served. */
#include "controller/desk.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "controller/clients.h"
#include "controller/https.h"
#include "fleetlock/roster.h"

enum {
    DENY_STATUS = 404, /* as the seed has it */
};

/* Somebody who waits for a reply. */
struct asking {
    uint64_t ticket;
    char *node, *peer;
    enum keeper_question question;
    int deny_status;
    const struct keeper *keeper; /* NULL: it has to be asked anew */
    int64_t since;               /* monotonic */
};

struct desk {
    struct loop *loop;
    struct desk_opts opts;
    VEC(struct asking) asking;
    struct roster *roster;
    struct fleetlock_server *server;
    struct https *https;
};

static struct now now(const struct desk *d) {
    return (struct now){loop_now(d->loop), loop_wall(d->loop)};
}

/* --- answers --- */

static void answer(struct desk *d, uint64_t ticket, const struct fleetlock_reply *reply,
                   int deny_status) {
    _cleanup_str_ struct str body = STR_INIT;
    if (d->server)
        fleetlock_server_reply(d->server, ticket, reply, deny_status);
    else
        d->opts.reply(d->opts.arg, ticket, reply->kind, fleetlock_write(reply, deny_status, &body));
}

/* Out of the list; its texts are the caller's. False: there is none. */
static bool take(struct desk *d, uint64_t ticket, struct asking *out) {
    for (size_t i = 0; i < d->asking.len; i++)
        if (d->asking.p[i].ticket == ticket) {
            *out = d->asking.p[i];
            d->asking.p[i] = d->asking.p[--d->asking.len];
            return true;
        }
    return false;
}

static void asking_done(struct asking *a) {
    free(a->node);
    free(a->peer);
}

void desk_reply(struct desk *d, const struct keeper_reply *reply) {
    static const enum fleetlock_kind words[] = {
        [KEEPER_GO] = FLEETLOCK_OK,
        [KEEPER_NOTED] = FLEETLOCK_OK,
        [KEEPER_FULL] = FLEETLOCK_SLOTS_FULL,
        [KEEPER_DRAINING] = FLEETLOCK_DRAINING,
        [KEEPER_BLOCKED] = FLEETLOCK_BLOCKED,
        [KEEPER_UNREADY] = FLEETLOCK_NOT_READY,
        [KEEPER_TROUBLE] = FLEETLOCK_UNAVAILABLE,
    };
    struct asking a;
    if (!take(d, reply->ticket, &a))
        return;
    bool goes = a.question == KEEPER_MAY_GO;
    teller_reply(d->opts.teller,
                 &(struct teller_reply){.api = goes ? FLEETLOCK_PRE_REBOOT : FLEETLOCK_STEADY_STATE,
                                        .peer = a.peer,
                                        .node = a.node,
                                        .reply = reply,
                                        .took = loop_now(d->loop) - a.since});
    asking_done(&a);
    answer(d, reply->ticket, &(struct fleetlock_reply){words[reply->say], reply->text},
           a.deny_status);
}

static void on_gone(void *arg, uint64_t ticket) {
    struct desk *d = arg;
    struct asking a;
    d->opts.gone(d->opts.arg, ticket);
    if (take(d, ticket, &a))
        asking_done(&a);
}

static void on_answered(void *arg, enum fleetlock_api api, enum fleetlock_kind kind, int status) {
    const struct desk *d = arg;
    teller_answered(d->opts.teller, api, kind, status);
}

/* --- questions --- */

static const struct policy_kept *refuse(struct fleetlock_reply *reply, enum fleetlock_kind kind,
                                        const char *why) {
    *reply = (struct fleetlock_reply){kind, why};
    return NULL;
}

/* The policy that decides for the node, if there is one: of one that holds a slot it is the one
 * that has given it, whatever labels say by now. NULL: that is the reply. */
static const struct policy_kept *policy_of(const struct desk *d, const char *name,
                                           const struct node *node, struct fleetlock_reply *reply) {
    const struct policy_kept *p = policies_holding(d->opts.policies, name);
    if (p)
        return p;
    size_t n = node ? policies_find(d->opts.policies, node, &p) : 0;
    if (n == 1)
        return p;
    if (node && policies_unusable(d->opts.policies, node))
        return refuse(reply, FLEETLOCK_UNAVAILABLE,
                      "a policy that cannot be used has this node, or may have it");
    return n ? refuse(reply, FLEETLOCK_AMBIGUOUS_NODE,
                      "several policies have this node: it must be one")
             : refuse(reply, FLEETLOCK_GROUP_MISMATCH, "no policy that can be used has this node");
}

static const struct policy_kept *hears_wish(const struct desk *d, const struct policy_kept *p,
                                            const struct node *node,
                                            const struct fleetlock_question *q,
                                            struct fleetlock_reply *reply) {
    if (!p->rules->fleetlock)
        return refuse(reply, FLEETLOCK_GROUP_MISMATCH, "the policy of this node has no fleetlock");
    if (!policy_has_group(p->rules, q->group))
        return refuse(reply, FLEETLOCK_GROUP_MISMATCH,
                      "the policy of this node does not have that group");
    if (node && !clients_may_use(p->rules, &d->opts.ids, node, q->id))
        return refuse(reply, FLEETLOCK_UNKNOWN_NODE,
                      "the policy of the node does not know it by this id");
    return p;
}

/* Whoever holds nothing has nothing to report, and its client looks for no update before that was
 * taken: it is, whatever its policy says of such clients. */
static const struct policy_kept *hears_report(const struct desk *d, const struct policy_kept *p,
                                              const struct fleetlock_question *q,
                                              struct fleetlock_reply *reply) {
    bool holds = policies_holding(d->opts.policies, q->node);
    if (p && holds)
        return p;
    if (p ? !policies_slots_known(d->opts.policies) : !policies_slots_sure(d->opts.policies))
        return refuse(reply, FLEETLOCK_UNAVAILABLE,
                      "who holds a slot cannot be read at the moment");
    if (p && p->rules->fleetlock)
        return p;
    return refuse(reply, FLEETLOCK_OK,
                  p ? "it holds no slot" : "no policy decides for the node: it holds no slot");
}

/* NULL: that is the reply. */
static const struct policy_kept *policy_for(const struct desk *d,
                                            const struct fleetlock_question *q,
                                            struct fleetlock_reply *reply) {
    const struct node *node = cluster_node(d->opts.cluster, q->node);
    const struct policy_kept *p = policy_of(d, q->node, node, reply);
    if (!p && !node) /* gone since it was found, or made again and not known yet */
        return refuse(reply, FLEETLOCK_UNKNOWN_NODE, "there is no such node");
    if (q->api == FLEETLOCK_STEADY_STATE)
        return hears_report(d, p, q, reply);
    return p ? hears_wish(d, p, node, q, reply) : NULL;
}

static struct fleetlock_terms on_terms(void *arg, const struct node *node) {
    const struct desk *d = arg;
    const struct policy_kept *p = NULL;
    return policies_find(d->opts.policies, node, &p) == 1 ? clients_terms(p->rules, &d->opts.terms)
                                                          : d->opts.terms;
}

static void on_ask(void *arg, const struct fleetlock_question *q) {
    struct desk *d = arg;
    struct fleetlock_reply reply = {FLEETLOCK_GROUP_MISMATCH, "no policy has this node"};
    d->opts.look(d->opts.arg);
    const struct policy_kept *p = policy_for(d, q, &reply);
    const char *problem = q->api == FLEETLOCK_PRE_REBOOT ? d->opts.problem(d->opts.arg) : NULL;
    if (p && problem) {
        reply = (struct fleetlock_reply){FLEETLOCK_UNAVAILABLE, problem};
        p = NULL;
    }
    if (!p) {
        answer(d, q->ticket, &reply, DENY_STATUS);
        return;
    }
    struct asking a = {.ticket = q->ticket,
                       .node = xstrdup(q->node),
                       .peer = xstrdup(strna(q->peer)),
                       .question = q->api == FLEETLOCK_PRE_REBOOT ? KEEPER_MAY_GO : KEEPER_STEADY,
                       .deny_status = p->rules->deny_status,
                       .keeper = p->keeper,
                       .since = loop_now(d->loop)};
    *vec_push(&d->asking) = a;
    d->opts.ask(d->opts.arg, q->ticket, q->node, a.question, now(d));
}

void desk_ask(struct desk *d, const struct fleetlock_question *q) {
    if (d->opts.ready(d->opts.arg))
        on_ask(d, q);
    else
        answer(d, q->ticket,
               &(struct fleetlock_reply){FLEETLOCK_UNAVAILABLE, "the cluster is not known yet"},
               DENY_STATUS);
}

void desk_replaced(struct desk *d, const struct keeper *k) {
    for (size_t i = 0; i < d->asking.len; i++)
        if (d->asking.p[i].keeper == k)
            d->asking.p[i].keeper = NULL;
}

/* However often it is asked on, nobody waits longer for that. */
static struct now asked_at(const struct desk *d, const struct asking *a) {
    struct now at = now(d);
    at.wall -= at.mono - a->since;
    at.mono = a->since;
    return at;
}

void desk_again(struct desk *d) {
    for (size_t i = 0; i < d->asking.len;) {
        struct asking *a = &d->asking.p[i++];
        if (a->keeper)
            continue;
        const struct policy_kept *p = policies_asked(d->opts.policies, a->node);
        /* One who reports, and holds a slot of a policy that is gone, is to be heard by that
         * one. */
        bool unknown = a->question == KEEPER_STEADY && !policies_slots_known(d->opts.policies);
        if (unknown && loop_now(d->loop) < a->since + KEEPER_PATIENCE)
            continue;
        if (unknown)
            p = NULL;
        if (p) {
            a->keeper = p->keeper;
            d->opts.ask(d->opts.arg, a->ticket, a->node, a->question, asked_at(d, a));
            continue;
        }
        desk_reply(d, &(struct keeper_reply){a->ticket, KEEPER_TROUBLE,
                                             "the policies have changed: please ask again"});
        i--;
    }
}

int64_t desk_next(const struct desk *d) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < d->asking.len; i++)
        if (!d->asking.p[i].keeper)
            next = MIN_OF(next, d->asking.p[i].since + KEEPER_PATIENCE);
    return next;
}

/* --- life --- */

static bool is_ready(void *arg) {
    const struct desk *d = arg;
    return d->opts.ready(d->opts.arg);
}

void desk_learn(struct desk *d) {
    if (d->roster)
        clients_learn(d->roster, d->opts.policies, &d->opts.ids);
}

static int listen_https(struct desk *d, struct kube_client *client, struct err *err) {
    return https_new(client, d->server,
                     &(struct https_opts){.address = d->opts.https,
                                          .cert = d->opts.cert,
                                          .key = d->opts.key,
                                          .ns = d->opts.ns,
                                          .service = d->opts.service,
                                          .log = d->opts.log,
                                          .seed = d->opts.seed},
                     &d->https, err);
}

static int serve(struct desk *d, struct kube_client *client, struct err *err) {
    if (!d->opts.http && !d->opts.https)
        return 0;
    d->roster = roster_new(d->opts.cluster->nodes, &d->opts.ids);
    int rc =
        fleetlock_server_new(client->loop,
                             &(struct fleetlock_server_opts){.roster = d->roster,
                                                             .nodes = d->opts.cluster->nodes,
                                                             .terms = on_terms,
                                                             .log = d->opts.log,
                                                             .ready = is_ready,
                                                             .ask = on_ask,
                                                             .gone = on_gone,
                                                             .answered = on_answered,
                                                             .deny_status = DENY_STATUS,
                                                             .address_rate = d->opts.address_rate,
                                                             .arg = d},
                             &d->server, err);
    if (!rc && d->opts.http)
        rc = fleetlock_server_listen(d->server, d->opts.http, NULL, NULL, err);
    if (!rc && d->opts.https)
        rc = listen_https(d, client, err);
    return rc;
}

int desk_new(struct kube_client *client, const struct desk_opts *opts, struct desk **out,
             struct err *err) {
    struct desk *d = xnew(struct desk);
    d->loop = client->loop;
    d->opts = *opts;
    int rc = serve(d, client, err);
    if (rc) {
        desk_free(d);
        return rc;
    }
    *out = d;
    return 0;
}

void desk_free(struct desk *d) {
    if (!d)
        return;
    https_free(d->https);
    fleetlock_server_free(d->server);
    for (size_t i = 0; i < d->asking.len; i++)
        asking_done(&d->asking.p[i]);
    vec_done(&d->asking);
    roster_free(d->roster);
    free(d);
}

const char *desk_https_problem(const struct desk *d) {
    return d->https ? https_problem(d->https) : NULL;
}

const char *desk_address(const struct desk *d) {
    return d->server ? fleetlock_server_address(d->server) : "";
}
