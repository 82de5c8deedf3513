/* The oracle: what the process asks for, and whether it may. */
#include <inttypes.h>
#include <stdio.h>

#include "oracle_internal.h"

#define SLACK MSEC(20) /* between two clocks that are the same but for rounding */

enum {
    TRIES_A_MINUTE = 14,    /* of one pod: a back-off that doubles from half a second needs 8 */
    REQUESTS_A_MINUTE = 60, /* beside those for pods: first pictures, cordons, watches that break */
    REQUESTS_A_POD = 16,
    EVENTS_A_NODE = 10,
    STATUSES_A_NODE = 6,
};

/* --- parts of a body --- */

static json_t *body_of(const struct chaos_request *req) {
    return req->body.len ? json_loadb(req->body.p, req->body.len, JSON_REJECT_DUPLICATES, NULL)
                         : NULL;
}

/* The object has no members but these. */
static bool only(const json_t *obj, const char *const *keys) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)obj, key, v) {
        const char *const *k = keys;
        while (*k && !streq(*k, key))
            k++;
        if (!*k)
            return false;
    }
    return true;
}
#define ONLY(obj, ...) only((obj), (const char *const[]){__VA_ARGS__, NULL})

static bool asks_dry_run(const struct chaos_request *req, const json_t *options) {
    const json_t *list = json_object_get(options, "dryRun");
    return strstr(req->path, "dryRun=All") ||
           (json_array_size(list) == 1 &&
            str_same(json_string_value(json_array_get(list, 0)), "All"));
}

/* --- pods --- */

/* How the process must believe the node to be, so that pods may be taken from it. */
static void check_hold(struct oracle *o, const char *what, const struct oracle_pod *p,
                       const struct oracle_node *n) {
    int64_t known = o->opts.known(o->opts.arg, "nodes", n->name);
    bool held = false;
    for (size_t i = 0; i < n->history.len; i++) {
        int64_t until = i + 1 < n->history.len ? n->history.p[i + 1].time : INT64_MAX;
        held |= until >= known && n->history.p[i].cordoned && n->history.p[i].ours;
    }
    if (!known)
        oracle_blame(o, 7, "%s of %s/%s before node %s was read", what, p->ns, p->name, n->name);
    else if (!held)
        oracle_blame(o, 3, "%s of %s/%s although node %s is not cordoned by us", what, p->ns,
                     p->name, n->name);
    if (n->cordon_told && n->cordon_served > known + SLACK)
        oracle_blame(o, 7, "%s of %s/%s before the cordon of node %s came back", what, p->ns,
                     p->name, n->name);
    if (n->lifted && n->lifted > o->begun && (n->cordon_served || n->cordon_told) &&
        n->lifted > n->cordon_served && n->lifted < known)
        oracle_blame(o, 3, "%s of %s/%s after somebody else uncordoned node %s", what, p->ns,
                     p->name, n->name);
}

/* Pods of a lower order are gone first. */
static void check_order(struct oracle *o, const struct oracle_pod *p, const struct pod *pod) {
    int order = model_order(o, pod);
    int64_t known = oracle_known_pods(o, pod->node_name);
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct oracle_pod *q = o->pods.p[i];
        const struct pod *other = record_as(pod, q->last);
        if (q == p || (q->gone && q->gone > 0) || !str_same(other->node_name, pod->node_name) ||
            !q->bound || q->bound > known || q->bound > o->begun)
            continue;
        if (oracle_fate(o, other) == FATE_GOES && !other->meta.deleted &&
            model_order(o, other) < order)
            oracle_blame(o, 2, "%s/%s (order %d) was asked to go before %s/%s (order %d)", p->ns,
                         p->name, order, q->ns, q->name, model_order(o, other));
    }
}

/* A node that has pods which need a flag is not touched at all. */
static void check_refusal(struct oracle *o, const struct oracle_pod *p, const struct pod *pod) {
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct oracle_pod *q = o->pods.p[i];
        const struct pod *other = record_as(pod, q->last);
        if (!q->gone && q->bound && q->bound < o->begun && !q->deleted &&
            str_same(other->node_name, pod->node_name) && oracle_fate(o, other) == FATE_REFUSES)
            oracle_blame(o, 2, "%s/%s was asked to go although %s/%s forbids to drain node %s",
                         p->ns, p->name, q->ns, q->name, pod->node_name);
    }
}

static void check_grace(struct oracle *o, const char *what, const struct oracle_pod *p,
                        const struct plan_rule *rule, const json_t *options, bool forced) {
    const json_t *v = json_object_get(options, "gracePeriodSeconds");
    int64_t grace = v ? json_integer_value(v) : -1;
    /* A rule knows the class of the pod, the flag does not. */
    int64_t wanted = rule && rule->grace >= 0 ? rule->grace : o->plan->grace;
    if (forced && grace == 0)
        return;
    if (grace != wanted)
        oracle_blame(o, 2, "%s of %s/%s with grace %" PRId64 ", %" PRId64 " was asked for", what,
                     p->ns, p->name, grace, wanted);
}

static void take_token(struct oracle *o, const char *what, const struct oracle_pod *p) {
    if (o->plan->rate <= 0)
        return;
    double full = MAX_OF(o->plan->rate, 1.0);
    int64_t now = oracle_now(o);
    if (o->tokens < -0.5)
        o->tokens = full;
    else
        o->tokens = MIN_OF(full, o->tokens + (double)(now - o->tokens_at) / 1e6 * o->plan->rate);
    o->tokens_at = now;
    o->tokens -= 1;
    if (o->tokens < -0.01) {
        oracle_blame(o, 8, "%s of %s/%s is more than %g a second", what, p->ns, p->name,
                     o->plan->rate);
        o->tokens = 0;
    }
}

/* How often, and not before the server wants to hear of it again. */
static void check_pace(struct oracle *o, const char *what, struct oracle_pod *p, bool force) {
    int64_t now = oracle_now(o);
    unsigned lately = 0;
    if (p->not_before > now + SLACK && !force)
        oracle_blame(o, 8, "%s of %s/%s %.1f s before the Retry-After has passed", what, p->ns,
                     p->name, (double)(p->not_before - now) / 1e6);
    p->recent[p->tries++ % ARRAY_LEN(p->recent)] = now;
    for (unsigned i = 0; i < MIN_OF(p->tries, (unsigned)ARRAY_LEN(p->recent)); i++)
        lately += now - p->recent[i] < SEC(60);
    if (lately > TRIES_A_MINUTE)
        oracle_blame(o, 8, "%s/%s was asked to go %u times within a minute", p->ns, p->name,
                     lately);
}

static void check_removal(struct oracle *o, const struct chaos_request *req) {
    bool evicts = req->kind == CHAOS_EVICT;
    const char *what = evicts ? "eviction" : "deletion";
    int64_t now = oracle_now(o);
    _cleanup_json_ json_t *body = body_of(req);
    const json_t *options = evicts ? json_object_get(body, "deleteOptions") : body;
    const char *uid = json_str(json_object_get(options, "preconditions"), "uid");
    if (str_empty(uid)) {
        oracle_blame(o, 2, "%s of %s/%s without its UID", what, strna(req->target.ns),
                     strna(req->target.name));
        return;
    }
    struct oracle_pod *p = oracle_pod_by_uid(o, uid);
    if (!p || !str_same(p->ns, req->target.ns) || !str_same(p->name, req->target.name)) {
        oracle_blame(o, 2, "%s of %s/%s with a UID that is not its own", what,
                     strna(req->target.ns), strna(req->target.name));
        return;
    }
    if (o->plan->dry_run && !asks_dry_run(req, options))
        oracle_blame(o, 2, "%s of %s/%s in earnest during a dry run", what, p->ns, p->name);
    const struct pod *pod = record_as(pod, p->last);
    struct oracle_node *n = oracle_node(o, pod->node_name);
    if (!n || !oracle_is_target(o, pod->node_name)) {
        oracle_blame(o, 2, "%s of %s/%s, which is on %s", what, p->ns, p->name,
                     str_empty(pod->node_name) ? "no node" : pod->node_name);
        return;
    }
    const struct plan_rule *rule = model_rule(o, pod);
    /* Its turn cannot have come before all of these. */
    int64_t at_work = now - MAX_OF(MAX_OF(o->begun, n->cordon_served), p->bound);
    bool may_delete = o->plan->disable_eviction ||
                      (rule && rule->delete_after >= 0 && at_work + SLACK >= rule->delete_after);
    bool may_force = rule && rule->force_after >= 0 && at_work + SLACK >= rule->force_after;
    const json_t *grace = json_object_get(options, "gracePeriodSeconds");
    bool force = !evicts && grace && json_integer_value(grace) == 0 && o->plan->grace != 0;
    if (!evicts && !may_delete && !may_force)
        oracle_blame(o, 2, "%s/%s was deleted instead of evicted, which nobody asked for", p->ns,
                     p->name);
    if (force && !may_force)
        oracle_blame(o, 2, "%s/%s was deleted by force, which nobody asked for", p->ns, p->name);
    check_grace(o, what, p, rule, options, may_force);
    switch (oracle_fate(o, pod)) {
    case FATE_GOES:
        break;
    case FATE_STAYS:
        oracle_blame(o, 2, "%s of %s/%s, which has to stay", what, p->ns, p->name);
        break;
    case FATE_REFUSES:
        oracle_blame(o, 2, "%s of %s/%s, which needs a flag that was not given", what, p->ns,
                     p->name);
        break;
    case FATE_WAITS:
        oracle_blame(o, 2, "%s of %s/%s, which has to be waited for", what, p->ns, p->name);
        break;
    }
    if (!o->plan->dry_run)
        check_hold(o, what, p, n);
    if (!o->plan->dry_run) /* what would have gone is still there */
        check_order(o, p, pod);
    check_refusal(o, p, pod);
    if (o->stopped)
        oracle_blame(o, 3, "%s of %s/%s after the drain was stopped", what, p->ns, p->name);
    if (evicts && p->deleted && p->deleted < oracle_known_pods(o, pod->node_name))
        oracle_blame(o, 8, "%s of %s/%s, which is known to be terminating", what, p->ns, p->name);
    if (p->gone && p->gone < oracle_known_pods(o, pod->node_name))
        oracle_blame(o, 7, "%s of %s/%s, which is known to be gone", what, p->ns, p->name);
    if (p->under_way++)
        oracle_blame(o, 8, "%s of %s/%s while another one is under way", what, p->ns, p->name);
    take_token(o, what, p);
    check_pace(o, what, p, force);
    if (!p->first_try)
        p->first_try = now;
    p->last_try = now;
}

/* --- nodes --- */

static void check_node_patch(struct oracle *o, const struct chaos_request *req) {
    const char *name = strna(req->target.name);
    _cleanup_json_ json_t *body = body_of(req);
    const json_t *meta = json_object_get(body, "metadata"), *spec = json_object_get(body, "spec");
    if (!oracle_is_target(o, name))
        oracle_blame(o, 3, "node %s was written, which is not being drained", name);
    if (!ONLY(body, "metadata", "spec", "kind", "apiVersion") ||
        !ONLY(meta, "annotations", "resourceVersion", "uid", "name") ||
        !ONLY(json_object_get(meta, "annotations"), "slipway.dev/cordon") ||
        !ONLY(spec, "unschedulable", "taints"))
        oracle_blame(o, 3, "node %s: more than the cordon is written: %.*s", name,
                     (int)MIN_OF(req->body.len, (size_t)200), req->body.p);
    if (!o->plan->avoid_next && json_object_get(spec, "taints"))
        oracle_blame(o, 3, "node %s: its taints are written, which nobody asked for", name);
    size_t i;
    const json_t *taint;
    json_array_foreach(json_object_get(spec, "taints"), i, taint) {
        if (o->stopped && str_same(json_str(taint, "key"), "slipway.dev/next"))
            oracle_blame(o, 3, "node %s is marked after the drain was stopped", name);
    }
    if (!json_str(meta, "resourceVersion"))
        oracle_blame(o, 7, "node %s is written without comparing its version", name);
    if (o->plan->dry_run && !asks_dry_run(req, NULL))
        oracle_blame(o, 2, "node %s is cordoned in earnest during a dry run", name);
    if (o->opts.pending(o->opts.arg, req->kind, NULL, name) > 1)
        oracle_blame(o, 8, "node %s is written while another write is under way", name);
}

bool oracle_is_cordon(const struct chaos_request *req) {
    _cleanup_json_ json_t *body = body_of(req);
    return json_object_get(json_object_get(body, "spec"), "unschedulable") != NULL;
}

static void check_status_patch(struct oracle *o, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = body_of(req);
    const json_t *status = json_object_get(body, "status");
    const json_t *conditions = json_object_get(status, "conditions");
    bool fine = ONLY(body, "status") && ONLY(status, "conditions");
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const char *type = strna(json_str(json_array_get(conditions, i), "type"));
        fine &= streq(type, "Drained") || streq(type, "DrainInProgress");
    }
    if (!fine || !oracle_is_target(o, req->target.name))
        oracle_blame(o, 3, "the status of node %s is written: %.*s", strna(req->target.name),
                     (int)MIN_OF(req->body.len, (size_t)200), req->body.p);
    if (!o->plan->keep_record || o->plan->dry_run)
        oracle_blame(o, 8, "a condition was written although none was wanted");
}

static void check_event(struct oracle *o, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = body_of(req);
    const char *name = json_str(json_object_get(body, "involvedObject"), "name");
    if (!o->plan->keep_record || o->plan->dry_run)
        oracle_blame(o, 8, "an Event was written although none was wanted");
    struct oracle_node *n = oracle_node(o, name);
    unsigned pods = 0; /* each may have its blocker */
    for (size_t i = 0; n && i < o->pods.len; i++)
        pods += str_same(record_as(pod, o->pods.p[i]->last)->node_name, n->name) &&
                (!o->pods.p[i]->gone || o->pods.p[i]->gone > o->begun);
    if (n && ++n->events > EVENTS_A_NODE + pods)
        oracle_blame(o, 8, "%u Events about node %s", n->events, n->name);
}

/* The count of a Deployment, by surge alone. */
static void check_other_patch(struct oracle *o, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = body_of(req);
    const json_t *meta = json_object_get(body, "metadata");
    if (!o->plan->surge || !str_same(req->target.resource, "deployments") || o->plan->dry_run) {
        oracle_blame(o, 2, "%s %s was written", strna(req->target.resource),
                     strna(req->target.name));
        return;
    }
    if (!ONLY(body, "metadata", "spec") || !ONLY(json_object_get(body, "spec"), "replicas"))
        oracle_blame(o, 2, "Deployment %s: more than its count is written: %.*s",
                     strna(req->target.name), (int)MIN_OF(req->body.len, (size_t)200), req->body.p);
    if (!json_str(meta, "resourceVersion"))
        oracle_blame(o, 7, "Deployment %s is written without comparing its version",
                     strna(req->target.name));
}

/* --- all of them --- */

/* How many requests there are at all. */
static void check_storm(struct oracle *o, const struct chaos_request *req) {
    int64_t now = oracle_now(o);
    size_t old = 0, pods = 0;
    if (o->plan->no_watch && req->kind == CHAOS_LIST)
        return; /* it may not watch, so it must ask */
    *vec_push(&o->sends) = now;
    while (old < o->sends.len && now - o->sends.p[old] > SEC(60))
        old++;
    memmove(o->sends.p, o->sends.p + old, (o->sends.len - old) * sizeof *o->sends.p);
    o->sends.len -= old;
    for (size_t i = 0; i < o->pods.len; i++)
        pods += (!o->pods.p[i]->gone || o->pods.p[i]->gone > now - SEC(60)) &&
                oracle_is_target(o, record_as(pod, o->pods.p[i]->last)->node_name);
    size_t most = REQUESTS_A_MINUTE * (1 + o->plan->targets.len) + REQUESTS_A_POD * pods;
    if (o->sends.len > most) {
        oracle_blame(o, 8, "%zu requests within a minute, for %zu pods; the last is %s %s",
                     o->sends.len, pods, req->method, req->path);
        o->sends.len = 0;
    }
}

void oracle_sent(struct oracle *o, const struct chaos_request *req) {
    check_storm(o, req);
    switch (req->kind) {
    case CHAOS_EVICT:
    case CHAOS_DELETE_POD:
        check_removal(o, req);
        break;
    case CHAOS_PATCH_NODE:
        check_node_patch(o, req);
        break;
    case CHAOS_PATCH_STATUS:
        check_status_patch(o, req);
        break;
    case CHAOS_EVENT:
        check_event(o, req);
        break;
    case CHAOS_PATCH_OTHER:
        check_other_patch(o, req);
        break;
    case CHAOS_PATCH_SLOTS:
    case CHAOS_PATCH_MAINTENANCE:
    case CHAOS_LEASE:
    case CHAOS_OTHER:
        if (!str_same(req->target.resource, "selfsubjectaccessreviews"))
            oracle_blame(o, 2, "%s %s is nothing that a drain does", req->method, req->path);
        break;
    case CHAOS_GET:
    case CHAOS_LIST:
    case CHAOS_WATCH:
    case CHAOS_KINDS:
        break;
    }
}

/* Budgets whose controller may not have caught up with what happened a moment ago. */
static bool behind(const struct oracle *o, const struct oracle_object *budget) {
    int64_t now = oracle_now(o);
    if (now - budget->changed < SEC(2))
        return true;
    const struct pdb *pdb = record_as(pdb, budget->last);
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct oracle_pod *p = o->pods.p[i];
        const struct pod *pod = record_as(pod, p->last);
        if (!model_selects(pdb, pod))
            continue;
        const struct condition *ready = condition_find(pod->conditions, "Ready");
        if (now - p->born < SEC(2) || (ready && now - ready->changed < SEC(2)) ||
            (p->deleted && !p->ours && now - p->deleted < SEC(2)) ||
            (p->gone && !p->ours && now - p->gone < SEC(2)))
            return true;
    }
    for (size_t i = 0; i < o->deployments.len; i++)
        if (now - o->deployments.p[i].changed < SEC(2))
            return true;
    return false;
}

void oracle_serving(struct oracle *o, const struct chaos_request *req) {
    o->serving = req;
    o->victim = NULL;
    o->victim_counts = false;
    mem_clear(&o->breach);
    struct oracle_node *n = oracle_node(o, req->target.name);
    if (req->kind == CHAOS_PATCH_STATUS && n && req->process + 1 != o->process)
        n->overwritten = true;
    if (req->kind != CHAOS_EVICT && req->kind != CHAOS_DELETE_POD)
        return;
    for (size_t i = 0; i < o->pods.len; i++) {
        struct oracle_pod *p = o->pods.p[i];
        if (!p->gone && str_same(p->ns, req->target.ns) && str_same(p->name, req->target.name))
            o->victim = p;
    }
    if (!o->victim)
        return;
    const struct pod *pod = record_as(pod, o->victim->last);
    o->victim_counts = model_ready(pod) && !pod->meta.deleted && str_same(pod->phase, "Running");
    for (size_t i = 0; o->victim_counts && i < o->budgets.len; i++) {
        const struct oracle_object *b = &o->budgets.p[i];
        const struct pdb *pdb = b->last ? record_as(pdb, b->last) : NULL;
        int64_t healthy, desired;
        if (!pdb || !model_selects(pdb, pod) || behind(o, b) ||
            !model_budget(o, pdb, &healthy, &desired))
            continue;
        if (healthy - 1 < desired) {
            free(o->breach);
            o->breach = xasprintf("budget %s/%s has %" PRId64 " healthy pods and wants %" PRId64,
                                  pdb->meta.ns, pdb->meta.name, healthy, desired);
        }
    }
}

void oracle_served(struct oracle *o, const struct chaos_request *req, int code) {
    o->serving = NULL;
    bool allowed = o->plan->disable_eviction || o->plan->dry_run;
    if (o->victim && req->kind == CHAOS_DELETE_POD) {
        const struct plan_rule *r = model_rule(o, record_as(pod, o->victim->last));
        allowed |= r && (r->delete_after >= 0 || r->force_after >= 0);
    }
    if (o->victim && o->breach && code / 100 == 2 && !allowed)
        oracle_blame(o, 2, "%s of %s/%s although %s",
                     req->kind == CHAOS_EVICT ? "eviction" : "deletion", o->victim->ns,
                     o->victim->name, o->breach);
    o->victim = NULL;
}

void oracle_told(struct oracle *o, const struct chaos_request *req, int code, int64_t retry_after) {
    struct oracle_node *n = oracle_node(o, req->target.name);
    if (req->kind == CHAOS_PATCH_NODE && n && code / 100 == 2 && oracle_is_cordon(req))
        n->cordon_told = oracle_now(o);
    /* What did not succeed may be written again. */
    if (req->kind == CHAOS_PATCH_STATUS && n && code / 100 == 2 && ++n->statuses > STATUSES_A_NODE)
        oracle_blame(o, 8, "the conditions of node %s were written %u times", n->name, n->statuses);
    if (req->kind != CHAOS_EVICT && req->kind != CHAOS_DELETE_POD)
        return;
    _cleanup_json_ json_t *body = body_of(req);
    const json_t *options =
        req->kind == CHAOS_EVICT ? json_object_get(body, "deleteOptions") : body;
    const char *uid = json_str(json_object_get(options, "preconditions"), "uid");
    struct oracle_pod *p = uid ? oracle_pod_by_uid(o, uid) : NULL;
    if (!p)
        return;
    if (p->under_way)
        p->under_way--;
    if (code / 100 == 2)
        p->accepted = oracle_now(o);
    if (code == 429 && retry_after > 0)
        p->not_before = oracle_now(o) + SEC(retry_after);
}
