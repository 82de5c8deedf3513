/* Requests of replicas, and what they answer their clients, as the oracle of the controller judges
 * them. */
#include <stdio.h>
#include <stdlib.h>

#include "fleet_oracle_internal.h"

#define PATIENCE SEC(1) /* for an answer */

enum {
    /* Requests of one replica in a second, for each node. One that is asked for and commanded
     * within that second takes some 45: five phases with an Event or two each, three writes of the
     * record with a read before each, the Node and its conditions, its pods. */
    STORM = 60,
    TRIES = 40, /* of a request that fails, in ten seconds */
};

/* --- requests --- */

static void count(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    struct fo_replica *r = &o->replicas[replica];
    int64_t second = fo_now(o) / SEC(1);
    r->in_second = second == r->second ? r->in_second + 1 : 1;
    r->second = second;
    if (r->in_second == STORM * o->opts.plan->nodes)
        fleet_oracle_blame(o, 8, "replica %u has sent %u requests within a second, the last: %s %s",
                           replica, r->in_second, req->method, req->path);
    bool lease = str_same(req->target.resource, "leases");
    if (o->idle && !lease && req->kind != CHAOS_WATCH && req->kind != CHAOS_LIST)
        r->idle_calls++;
}

/* However many policies it has: one second's worth at once, and then so many in a second. */
static void take_token(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    struct fo_replica *r = &o->replicas[replica];
    double rate = o->opts.plan->rate, come = (double)(fo_now(o) - r->tokens_at) / 1e6 * rate;
    r->tokens = r->evicts ? MIN_OF(rate, r->tokens + come) : rate;
    r->evicts = true;
    r->tokens_at = fo_now(o);
    r->tokens -= 1;
    if (r->tokens > -0.01)
        return;
    fleet_oracle_blame(o, 8, "replica %u evicts %s, which is more than %.0f in a second", replica,
                       req->target.name, rate);
    r->tokens = 0;
}

static void check_eviction(struct fleet_oracle *o, unsigned replica,
                           const struct chaos_request *req) {
    _cleanup_json_ json_t *body = json_loadb(req->body.p, req->body.len, 0, NULL);
    const char *uid =
        json_str(json_object_get(json_object_get(body, "deleteOptions"), "preconditions"), "uid");
    if (!uid) {
        fleet_oracle_blame(o, 2, "replica %u evicts %s without its UID", replica, req->target.name);
        return;
    }
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct fo_pod *p = &o->pods.p[i];
        if (!streq(p->uid, uid))
            continue;
        if (p->daemon)
            fleet_oracle_blame(o, 2, "replica %u evicts %s of a DaemonSet", replica,
                               req->target.name);
        /* By the record that it knows: what was written to it a moment ago has yet to come. */
        int64_t seen = o->opts.known(o->opts.arg, replica, "configmaps", "");
        if (!fo_was(&fo_node(o, p->node)->drains, MIN_OF(p->bound, seen)))
            fleet_oracle_blame(o, 2, "replica %u evicts %s, and %s is not being drained", replica,
                               req->target.name, p->node);
        if (fo_knows_stop(o, replica))
            fleet_oracle_blame(o, 1, "replica %u evicts %s, and knows that everything is stopped",
                               replica, req->target.name);
        return;
    }
    fleet_oracle_blame(o, 2, "replica %u evicts %s, which was on no node", replica,
                       req->target.name);
}

/* A compare-and-swap, or a command. */
static void check_patch(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = json_loadb(req->body.p, req->body.len, 0, NULL);
    const json_t *meta = json_object_get(body, "metadata");
    if (json_is_array(body))
        return; /* a command: fo_node_changed() */
    if (streq(req->method, "PATCH") && !json_str(meta, "resourceVersion"))
        fleet_oracle_blame(o, 7, "replica %u patches %s without comparing", replica, req->path);
}

static void remember(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    const struct fleet_oracle_options *opts = &o->opts;
    struct fo_write *w = vec_push(&o->writes);
    *w = (struct fo_write){
        .replica = replica, .number = req->number, .stopped = fo_knows_stop(o, replica)};
    int64_t policies = opts->known(opts->arg, replica, "policies", "");
    for (unsigned i = 0; i < FLEET_POLICIES; i++)
        w->limit[i] = fo_limit(o, i, policies);
    int64_t nodes = opts->known(opts->arg, replica, "nodes", "");
    for (unsigned i = 0; i < FLEET_NODES; i++)
        w->down[i] = o->nodes[i].down_at && o->nodes[i].down_at < nodes;
    for (unsigned i = 0; i < FLEET_NODES; i++)
        if (*o->nodes[i].name)
            w->pods[i] = opts->known(opts->arg, replica, "pods", o->nodes[i].name);
}

void fleet_oracle_sent(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    count(o, replica, req);
    switch (req->kind) {
    case CHAOS_EVICT:
        take_token(o, replica, req);
        check_eviction(o, replica, req);
        break;
    case CHAOS_DELETE_POD:
        fleet_oracle_blame(o, 2, "replica %u deletes %s", replica, req->path);
        break;
    case CHAOS_PATCH_SLOTS:
        remember(o, replica, req);
        check_patch(o, replica, req);
        break;
    case CHAOS_PATCH_MAINTENANCE:
        if (streq(req->method, "POST"))
            fo_begins(o, replica, req);
        else
            fo_check_blocker(o, replica, req);
        check_patch(o, replica, req);
        break;
    case CHAOS_PATCH_NODE:
        remember(o, replica, req);
        check_patch(o, replica, req);
        break;
    case CHAOS_OTHER:
    case CHAOS_PATCH_OTHER:
        if (strstr(req->path, "/namespaces/default/events/"))
            break;                                                  /* one that is counted up */
        if (strstr(req->path, "/slipway.dev/v1alpha1/policies/") || /* its status, its finalizer */
            strstr(req->path, "/slipway.dev/v1alpha1/rollouts/")) {
            check_patch(o, replica, req);
            break;
        }
        fleet_oracle_blame(o, 2, "%s %s is nothing that a controller does", req->method, req->path);
        break;
    default:
        break;
    }
}

void fleet_oracle_serving(struct fleet_oracle *o, unsigned replica,
                          const struct chaos_request *req) {
    o->actor = replica;
    o->replicas[replica].serving = NULL;
    for (size_t i = o->writes.len; i-- > 0;)
        if (o->writes.p[i].replica == replica && o->writes.p[i].number == req->number)
            o->replicas[replica].serving = &o->writes.p[i];
}

void fleet_oracle_served(struct fleet_oracle *o) {
    o->actor = FO_NOBODY;
}

static struct fo_tries *tries_of(struct fo_replica *r, const struct chaos_request *req) {
    char what[FO_TEXT];
    size_t len = strlen(req->path), most = FO_TEXT - 10;
    (void)snprintf(what, sizeof what, "%s %s", req->method,
                   req->path + (len > most ? len - most : 0));
    for (size_t i = 0; i < r->tries.len; i++)
        if (streq(r->tries.p[i].what, what))
            return &r->tries.p[i];
    struct fo_tries *t = vec_push(&r->tries);
    *t = (struct fo_tries){0};
    fo_copy(t->what, what);
    return t;
}

void fleet_oracle_told(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req,
                       int code) {
    struct fo_tries *t = tries_of(&o->replicas[replica], req);
    if (code && code < 500) {
        t->n = 0;
    } else if (!t->n || fo_now(o) - t->since > SEC(10)) {
        t->n = 1;
        t->since = fo_now(o);
    } else if (++t->n == TRIES) {
        fleet_oracle_blame(o, 8, "replica %u has tried %s %u times in %.0f s, in vain", replica,
                           t->what, t->n, (double)(fo_now(o) - t->since) / 1e6);
    }
}

/* --- answers --- */

/* A question that a replica which is well has not answered. */
static void check_open(struct fleet_oracle *o) {
    for (size_t i = 0; i < o->tickets.len; i++) {
        const struct fo_ticket *t = &o->tickets.p[i];
        const struct fo_replica *r = &o->replicas[t->replica];
        if (!r->frozen && fo_now(o) - MAX_OF(t->at, r->thawed) > 2 * PATIENCE)
            fleet_oracle_blame(o, 5, "replica %u has not answered %s", t->replica, t->node);
    }
}

void fleet_oracle_asked(struct fleet_oracle *o, unsigned replica, uint64_t ticket, const char *node,
                        bool steady) {
    check_open(o);
    struct fo_ticket *t = vec_push(&o->tickets);
    *t = (struct fo_ticket){.id = ticket, .replica = replica, .steady = steady, .at = fo_now(o)};
    fo_copy(t->node, node);
}

static void check_grant(struct fleet_oracle *o, const struct fo_ticket *t) {
    const struct fo_node *n = fo_node(o, t->node);
    if (!fo_was(&n->may_go, t->at))
        fleet_oracle_blame(
            o, 6, "%s was told to go by replica %u, and at no time since it asked was that so",
            t->node, t->replica);
    else if (fo_pods_on(o, t->node, t->at) && !n->murky)
        fleet_oracle_blame(o, 6, "%s was told to go with pods on it", t->node);
}

void fleet_oracle_replied(struct fleet_oracle *o, uint64_t ticket, enum fleetlock_kind kind,
                          int status) {
    size_t i = 0;
    while (i < o->tickets.len && o->tickets.p[i].id != ticket)
        i++;
    if (i == o->tickets.len) {
        fleet_oracle_blame(o, 6, "an answer to nobody, or the second one");
        return;
    }
    struct fo_ticket t = o->tickets.p[i];
    o->tickets.p[i] = o->tickets.p[--o->tickets.len];
    const struct fo_replica *r = &o->replicas[t.replica];
    if ((status >= 200 && status < 400) != (kind == FLEETLOCK_OK) || status < 200)
        fleet_oracle_blame(o, 6, "an answer of the kind %u has the status %d", kind, status);
    if (fo_now(o) - MAX_OF(t.at, r->thawed) > PATIENCE)
        fleet_oracle_blame(o, 5, "%s has waited %.1f s for an answer of replica %u", t.node,
                           (double)(fo_now(o) - t.at) / 1e6, t.replica);
    if (kind != FLEETLOCK_OK)
        return;
    if (!t.steady)
        check_grant(o, &t);
    else if (!fo_was(&fo_node(o, t.node)->reported, t.at))
        fleet_oracle_blame(o, 4, "the report of %s was confirmed, and was never written", t.node);
}

void fleet_oracle_died(struct fleet_oracle *o, unsigned replica) {
    for (size_t i = 0; i < o->tickets.len;)
        if (o->tickets.p[i].replica == replica)
            o->tickets.p[i] = o->tickets.p[--o->tickets.len];
        else
            i++;
    o->replicas[replica].frozen = o->replicas[replica].evicts = false;
}
