/* Rollouts and the stop of everything, as the oracle of the controller reads them: which nodes may
 * be begun, and whether all are done in the end. */
#include <stdio.h>
#include <stdlib.h>

#include "fleet_oracle_internal.h"

/* Who acts has looked after its last request was answered, or given up. */
#define LOOKED SEC(40)
/* Between the times that are written and those at which they are. */
#define SLACK SEC(3)

/* --- the stop --- */

static int64_t known(const struct fleet_oracle *o, unsigned replica, const char *resource) {
    return o->opts.known(o->opts.arg, replica, resource, "");
}

bool fo_knows_stop(const struct fleet_oracle *o, unsigned replica) {
    return o->stop_at && o->stop_at < known(o, replica, "configmaps");
}

void fo_check_stop(struct fleet_oracle *o, unsigned replica, const char *node, const char *what) {
    const struct fo_replica *r = &o->replicas[replica];
    if (o->stop_at && fo_now(o) - MAX_OF(o->stop_at, r->thawed) > LOOKED)
        fleet_oracle_blame(o, 1, "%s was %s by replica %u, and everything is stopped for %.0f s",
                           node, what, replica, (double)(fo_now(o) - o->stop_at) / 1e6);
}

/* --- which nodes --- */

static struct fo_rollout *find(struct fleet_oracle *o, const char *uid) {
    for (size_t i = 0; i < o->rollouts.len; i++)
        if (streq(o->rollouts.p[i].uid, uid))
            return &o->rollouts.p[i];
    return NULL;
}

static unsigned number_of(const char *node) {
    return (unsigned)atoi(node + 1);
}

/* One that has joined since is not among those that are chosen by labels, nor one that is gone. */
static bool has_node(const struct fo_rollout *r, const struct fo_node *n) {
    if (r->upto)
        return number_of(n->name) <= r->upto;
    bool in_pool = !*r->pool || streq(r->pool, number_of(n->name) % 2 ? "a" : "b");
    return in_pool && n->there && n->created <= r->created;
}

static const struct fo_maintenance *of_node(const struct fleet_oracle *o,
                                            const struct fo_rollout *r, const char *node) {
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        if (streq(m->rollout, r->uid) && streq(m->node, node))
            return m;
    }
    return NULL;
}

/* --- how many have failed --- */

/* At least so many were known to have. */
static unsigned failed_known(const struct fleet_oracle *o, unsigned replica,
                             const struct fo_rollout *r) {
    int64_t maintenances = known(o, replica, "maintenances"), nodes = known(o, replica, "nodes");
    unsigned n = r->upto > o->opts.plan->nodes ? r->upto - o->opts.plan->nodes : 0;
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        n += streq(m->rollout, r->uid) && m->failed_at && m->failed_at < maintenances &&
             has_node(r, fo_node((struct fleet_oracle *)o, m->node));
    }
    /* What is done stays so when its node is gone, and what has failed is counted already. */
    for (unsigned i = 0; i < FLEET_NODES && r->upto; i++) {
        const struct fo_node *node = &o->nodes[i];
        const struct fo_maintenance *m = *node->name ? of_node(o, r, node->name) : NULL;
        n += *node->name && node->gone_at && node->gone_at < nodes && has_node(r, node) &&
             (!m || (!m->there && !m->failed_at && !streq(m->phase, "Complete")));
    }
    return n;
}

/* --- what is begun --- */

static void check_soak(struct fleet_oracle *o, unsigned replica, const struct fo_rollout *r,
                       const char *node) {
    int64_t known_until = known(o, replica, "maintenances");
    if (!r->soak || o->opts.plan->skewed)
        return;
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        if (streq(m->rollout, r->uid) && streq(m->phase, "Complete") && m->since < known_until &&
            fo_now(o) - m->since < r->soak - SLACK)
            fleet_oracle_blame(o, 1, "rollout %s begins with %s, and %s was done %.0f s ago",
                               r->name, node, m->node, (double)(fo_now(o) - m->since) / 1e6);
    }
}

/* Nobody is made to wait in the queue whom a slot could not be meant for. */
static void check_room(struct fleet_oracle *o, unsigned replica, const struct fo_rollout *r,
                       const char *node) {
    unsigned policy = fo_policy_of(o, node), under_way = 0;
    int64_t known_until = known(o, replica, "maintenances");
    unsigned limit = fo_limit(o, policy, known(o, replica, "policies"));
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        under_way += streq(m->rollout, r->uid) && m->there && !m->ended && m->made < known_until &&
                     fo_policy_of(o, m->node) == policy && !streq(m->node, node) &&
                     fo_node(o, m->node)->there;
    }
    if (under_way >= limit)
        fleet_oracle_blame(o, 1, "rollout %s begins with %s, and has %u of %u under way", r->name,
                           node, under_way, limit);
}

static void check_brakes(struct fleet_oracle *o, unsigned replica, const struct fo_rollout *r,
                         const char *node) {
    int64_t rollouts = known(o, replica, "rollouts");
    unsigned failed = failed_known(o, replica, r);
    if (failed > r->max_failed)
        fleet_oracle_blame(o, 1, "rollout %s begins with %s, and %u have failed of %u that may",
                           r->name, node, failed, r->max_failed);
    if (r->paused_at && r->paused_at < rollouts)
        fleet_oracle_blame(o, 1, "rollout %s begins with %s, and is paused", r->name, node);
    if (r->gone_at && r->gone_at < rollouts)
        fleet_oracle_blame(o, 1, "rollout %s begins with %s, and was deleted", r->name, node);
    if (fo_knows_stop(o, replica))
        fleet_oracle_blame(o, 1, "rollout %s begins with %s, and everything is stopped", r->name,
                           node);
}

void fo_begins(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = json_loadb(req->body.p, req->body.len, 0, NULL);
    const json_t *spec = json_object_get(body, "spec"),
                 *owners = json_object_get(json_object_get(body, "metadata"), "ownerReferences");
    const char *node = strna(json_str(spec, "node"));
    const struct fo_rollout *r = find(o, strna(json_str(json_array_get(owners, 0), "uid")));
    if (!r) {
        fleet_oracle_blame(o, 7, "replica %u makes a Maintenance of %s for no rollout", replica,
                           node);
        return;
    }
    const struct fo_node *n = fo_node(o, node);
    const struct fo_maintenance *m = of_node(o, r, node);
    if (!has_node(r, n) || !streq(fo_operation(strna(json_str(spec, "operation"))), r->operation))
        fleet_oracle_blame(o, 7, "rollout %s does not want that of %s", r->name, node);
    if (m && m->there && m->made < known(o, replica, "maintenances"))
        fleet_oracle_blame(o, 4, "rollout %s begins with %s a second time", r->name, node);
    if (m && streq(m->phase, "Complete"))
        fleet_oracle_blame(o, 4, "rollout %s begins with %s again, which was done", r->name, node);
    check_brakes(o, replica, r, node);
    check_soak(o, replica, r, node);
    check_room(o, replica, r, node);
}

/* --- what is said of them --- */

/* Every node of it is done, one way or the other. */
static void check_complete(struct fleet_oracle *o, const struct fo_rollout *r) {
    for (unsigned i = 0; i < FLEET_NODES; i++) {
        const struct fo_node *n = &o->nodes[i];
        if (!*n->name || !n->there || !has_node(r, n))
            continue;
        const struct fo_maintenance *m = of_node(o, r, n->name);
        if (!m || (!m->ended && m->there)) /* one that is gone was taken away by force */
            fleet_oracle_blame(o, 4, "rollout %s is Complete, and %s is not done", r->name,
                               n->name);
    }
}

/* It says that too many have failed, and at some time since it has looked they had. */
static void check_failed(struct fleet_oracle *o, const struct fo_rollout *r) {
    int64_t since = known(o, o->actor, "maintenances") - LOOKED;
    unsigned n = r->upto > o->opts.plan->nodes ? r->upto - o->opts.plan->nodes : 0;
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        n += streq(m->rollout, r->uid) &&
             (fo_was(&m->failed, since) || (!m->there && !m->ended)); /* the latter: by force */
    }
    for (unsigned i = 0; i < FLEET_NODES && r->upto; i++)
        n += *o->nodes[i].name && (!o->nodes[i].there || o->nodes[i].created >= since);
    if (n <= r->max_failed)
        fleet_oracle_blame(o, 5, "rollout %s says that too many have failed, and %u have of %u",
                           r->name, n, r->max_failed);
}

static void meet(struct fleet_oracle *o, const struct change *c, const json_t *obj) {
    struct fo_rollout *r = vec_push(&o->rollouts);
    const json_t *spec = json_object_get(obj, "spec"),
                 *labels = json_object_get(json_object_get(spec, "nodeSelector"), "matchLabels");
    const char *names = json_string_value(json_array_get(json_object_get(spec, "nodes"), 0)),
               *soak = json_str(spec, "soak");
    *r = (struct fo_rollout){.there = true, .created = c->after->obj->meta.created};
    fo_copy(r->name, c->after->obj->meta.name);
    fo_copy(r->uid, c->after->obj->meta.uid);
    (void)snprintf(r->pool, sizeof r->pool, "%s", strna(json_str(labels, "pool")));
    (void)snprintf(r->policy, sizeof r->policy, "%s", strna(json_str(spec, "policy")));
    r->upto = names ? (unsigned)atoi(names + strlen("w[1-")) : 0;
    r->operation = fo_operation(strna(json_str(spec, "operation")));
    r->max_failed = (unsigned)json_integer_value(json_object_get(spec, "maxFailed"));
    r->soak = soak ? SEC(atoi(soak)) : 0;
}

static void look_at_status(struct fleet_oracle *o, struct fo_rollout *r, const json_t *status) {
    const char *phase = strna(json_str(status, "phase")),
               *reason = strna(json_str(status, "reason")),
               *blocker = strna(json_str(json_object_get(status, "blocker"), "code"));
    bool news = !streq(reason, r->reason);
    if (streq(r->phase, "Complete") && !streq(phase, "Complete"))
        fleet_oracle_blame(o, 4, "rollout %s was Complete, and is %s", r->name, phase);
    (void)snprintf(r->phase, sizeof r->phase, "%s", phase);
    (void)snprintf(r->reason, sizeof r->reason, "%s", reason);
    (void)snprintf(r->blocker, sizeof r->blocker, "%s", blocker);
    if (!news || !*reason)
        return;
    if (o->actor >= FLEET_REPLICAS)
        fleet_oracle_blame(o, 7, "rollout %s has become %s by nobody", r->name, phase);
    else if (streq(reason, "TooManyFailed"))
        check_failed(o, r);
    if (streq(phase, "Complete"))
        check_complete(o, r);
    if (o->seen.rollout)
        o->seen.rollout(o->seen.arg, reason);
}

void fo_rollout_changed(struct fleet_oracle *o, const struct change *c) {
    _cleanup_json_ json_t *obj = record_json(c->after);
    struct fo_rollout *r = find(o, strna(c->after->obj->meta.uid));
    if (!r) {
        meet(o, c, obj);
        return;
    }
    bool paused = json_is_true(json_object_get(json_object_get(obj, "spec"), "paused"));
    r->there = c->type != CHANGE_DELETED;
    if ((!r->there || c->after->obj->meta.deleted) && !r->gone_at)
        r->gone_at = fo_now(o);
    if (!paused)
        r->paused_at = 0;
    else if (!r->paused_at)
        r->paused_at = fo_now(o);
    look_at_status(o, r, json_object_get(obj, "status"));
}

const char *fo_rollout_left(const struct fo_rollout *r) {
    if (!r->there || streq(r->phase, "Complete"))
        return NULL;
    if (r->gone_at)
        return "is being deleted";
    if (streq(r->phase, "Failed") || streq(r->blocker, "PolicyUnclear"))
        return NULL; /* and says why */
    return *r->phase ? *r->blocker ? r->blocker : r->phase : "is new";
}
