/* The disruption controller: what a PodDisruptionBudget allows, by pkg/controller/disruption. */
#include <assert.h>

#include "model/selector.h"
#include "sim/api/custom.h"
#include "sim/api/subresources.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/status_text.h"
#include "sim/fleet/workload.h"

#define DELETION_TIMEOUT  SEC(120) /* an eviction that has not come to pass by then is forgotten */
#define CONDITION_TIMEOUT SEC(120) /* the same for a pod's DisruptionTarget */

struct disruption {
    struct fleet *fleet;
    struct queue *queue, *stale;
};

/* --- how many pods there should be --- */

struct scale {
    const char *uid;
    int64_t n;
};

/* The scale of whatever controls a pod; false with the reason when there is no telling. */
static bool scale_of(struct fleet *f, const char *ns, const struct owner *o, struct scale *out,
                     char **why) {
    if (str_same(o->kind, "ReplicaSet")) {
        const struct record *r = shelf_get(f->replica_sets->shelf, ns, o->name);
        if (!r || !str_same(r->obj->meta.uid, o->uid))
            return false;
        const struct replica_set *rs = record_as(replica_set, r);
        const struct owner *d = meta_controller(&rs->meta);
        if (d && str_same(d->kind, "Deployment")) {
            const struct record *dr = shelf_get(f->deployments->shelf, ns, d->name);
            if (dr && str_same(dr->obj->meta.uid, d->uid)) {
                const struct deployment *dep = record_as(deployment, dr);
                *out = (struct scale){d->uid, dep->replicas == ABSENT32 ? 1 : dep->replicas};
                return true;
            }
        }
        *out = (struct scale){o->uid, rs->replicas == ABSENT32 ? 1 : rs->replicas};
        return true;
    }
    if (str_same(o->kind, "StatefulSet")) {
        const struct record *r = shelf_get(f->stateful_sets->shelf, ns, o->name);
        if (!r || !str_same(r->obj->meta.uid, o->uid))
            return false;
        const struct stateful_set *s = record_as(stateful_set, r);
        *out = (struct scale){o->uid, s->replicas == ABSENT32 ? 1 : s->replicas};
        return true;
    }
    const struct resource *res =
        api_resource_of_kind(f->api, strna(o->api_version), strna(o->kind));
    if (!res) {
        *why = xasprintf("no matches for kind \"%s\" in version \"%s\"", strna(o->kind),
                         strna(o->api_version));
        return false;
    }
    if (!res->info->has_scale) {
        *why = *res->info->group
                   ? xasprintf("%s.%s does not implement the scale subresource", res->info->plural,
                               res->info->group)
                   : xasprintf("%s does not implement the scale subresource", res->info->plural);
        return false;
    }
    const struct record *r = shelf_get(res->shelf, ns, o->name);
    if (!r || !str_same(r->obj->meta.uid, o->uid) || !res->custom)
        return false;
    _cleanup_json_ json_t *obj = record_json(r), *scale = NULL;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    if (custom_scale(res, obj, &scale, &failure)) {
        *why = xstrdup(strna(failure.message));
        return false;
    }
    *out = (struct scale){
        o->uid, json_integer_value(json_object_get(json_object_get(scale, "spec"), "replicas"))};
    return true;
}

struct count {
    int64_t expected, desired, healthy;
    bool unmanaged;
};

static bool expected_scale(struct fleet *f, const struct pod_set *pods, struct count *out,
                           char **why) {
    VEC(struct scale) seen = VEC_INIT;
    bool ok = true;
    const struct owner *last = NULL; /* equal lists of owners have one address */
    for (size_t i = 0; i < pods->v.len && ok; i++) {
        const struct meta *m = &pods->v.p[i]->obj->meta;
        const struct owner *o = meta_controller(m);
        if (!o) {
            out->unmanaged = true;
            continue;
        }
        if (o == last)
            continue;
        last = o;
        struct scale s;
        ok = scale_of(f, m->ns, o, &s, why);
        if (!ok) {
            if (!*why)
                *why = xasprintf("found no controllers for pod \"%s\"", m->name);
            break;
        }
        bool known = false;
        for (size_t k = 0; k < seen.len && !known; k++)
            known = streq(seen.p[k].uid, s.uid);
        if (!known)
            *vec_push(&seen) = s;
    }
    for (size_t i = 0; i < seen.len; i++)
        out->expected += seen.p[i].n;
    vec_done(&seen);
    return ok;
}

/* In a copy of another cluster, where some controllers are not known: what was expected there,
 * unless that could not be told either. */
static bool expected_there(const struct fleet *f, const struct pdb *pdb, struct count *out) {
    const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
    if (!f->original || pdb->expected <= 0 || (c && str_same(c->reason, "SyncFailed")))
        return false;
    out->expected = pdb->expected;
    return true;
}

static bool expected_of(struct fleet *f, const struct pdb *pdb, const struct pod_set *pods,
                        struct count *out, char **why) {
    return expected_scale(f, pods, out, why) || expected_there(f, pdb, out);
}

static bool expected_count(struct fleet *f, const struct pdb *pdb, const struct pod_set *pods,
                           struct count *out, char **why) {
    if (pdb->max_unavailable.set) {
        if (!expected_of(f, pdb, pods, out, why))
            return false;
        out->desired =
            MAX_OF(out->expected - intstr_of(&pdb->max_unavailable, out->expected, true), 0);
    } else if (pdb->min_available.set && !pdb->min_available.is_str) {
        out->desired = pdb->min_available.val;
        out->expected = (int64_t)pods->v.len;
    } else if (pdb->min_available.set) {
        if (!expected_of(f, pdb, pods, out, why))
            return false;
        out->desired = intstr_of(&pdb->min_available, out->expected, true);
    }
    return true;
}

/* --- a budget --- */

static void find_pods(struct fleet *f, const struct pdb *pdb, struct pod_set *out) {
    struct pod_list all = pods_in_namespace(f->pod_index, pdb->meta.ns);
    struct matcher match = {.selector = pdb->selector};
    for (size_t i = 0; i < all.len; i++)
        if (matcher_match(&match, all.p[i]->obj->meta.labels))
            *vec_push(&out->v) = record_ref(all.p[i]);
}

/* The evictions that were granted and have not come to pass yet; NULL when there are none. */
static json_t *disrupted(struct fleet *f, const struct pdb *pdb, const struct pod_set *pods,
                         int64_t *again) {
    json_t *out = NULL;
    int64_t now = f->world->clock.now;
    /* In the order of their names, as maps are written. */
    for (size_t k = 0; k < list_len(pdb->disrupted); k++) {
        size_t i = 0;
        while (i < pods->v.len && !str_same(pods->v.p[i]->obj->meta.name, pdb->disrupted[k].key))
            i++;
        if (i == pods->v.len || pods->v.p[i]->obj->meta.deleted)
            continue;
        int64_t until = pdb->disrupted[k].time + DELETION_TIMEOUT;
        if (until < now) {
            fleet_event(f, "controllermanager", f->pods, pods->v.p[i], "Warning", "NotDeleted",
                        "Pod was expected by PDB %s/%s to be deleted but it wasn't", pdb->meta.ns,
                        pdb->meta.ns);
            continue;
        }
        *again = MIN_OF(*again, until - now + SEC(1));
        char text[TIMEFMT_LEN];
        if (!out)
            out = json_object();
        json_object_set_new(out, pdb->disrupted[k].key,
                            json_string(time_format(pdb->disrupted[k].time, false, text)));
    }
    return out;
}

static void set_failed(json_t *status, const char *why, int64_t now) {
    int64_t generation = json_integer_value(json_object_get(status, "observedGeneration"));
    pdb_set_condition(status, now, generation, false);
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(status, "conditions"), i,
                       c) if (str_same(json_str(c, "type"), "DisruptionAllowed")) {
        json_object_set_new(c, "reason", json_string("SyncFailed"));
        json_object_set_new(c, "message", json_string(why));
    }
    json_object_set_new(status, "disruptionsAllowed", json_integer(0));
}

/* Is the condition what pdb_set_condition() would make of it? */
static bool condition_stands(const struct pdb *pdb, bool sufficient) {
    const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
    return c && str_same(c->status, sufficient ? "True" : "False") &&
           str_same(c->reason, sufficient ? "SufficientPods" : "InsufficientPods") &&
           str_empty(c->message) && pdb->observed_generation == pdb->meta.generation;
}

static void put_status(struct fleet *f, struct record *r, const struct count *n, json_t *evicted) {
    const struct pdb *pdb = record_as(pdb, r);
    int64_t allowed = n->expected > 0 ? MAX_OF(n->healthy - n->desired, 0) : 0;
    _cleanup_str_ struct str out = STR_INIT;
    str_addc(&out, '{');
    member_count(&out, "observedGeneration", pdb->meta.generation);
    if (evicted)
        member_value(&out, "disruptedPods", evicted);
    member_number(&out, "disruptionsAllowed", allowed);
    member_number(&out, "currentHealthy", n->healthy);
    member_number(&out, "desiredHealthy", n->desired);
    member_number(&out, "expectedPods", n->expected);
    if (condition_stands(pdb, allowed > 0)) {
        member_raw(&out, "conditions", record_status_member(&f->world->codec, r, "conditions"));
    } else {
        _cleanup_json_ json_t *old = record_status(r);
        pdb_set_condition(old, f->world->clock.now, pdb->meta.generation, allowed > 0);
        member_value(&out, "conditions", json_object_get(old, "conditions"));
    }
    str_addc(&out, '}');
    fleet_put_status_text(f, f->pdbs, r, &out);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct disruption *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->pdbs->shelf, ns, name);
    if (!r)
        return true;
    const struct pdb *pdb = record_as(pdb, r);
    int64_t now = f->world->clock.now, again = INT64_MAX;
    _cleanup_pod_set_ struct pod_set pods = {0};
    find_pods(f, pdb, &pods);
    record_ref(r);
    if (!pods.v.len)
        fleet_event(f, "controllermanager", f->pdbs, r, "Normal", "NoPods",
                    "No matching pods found");
    struct count n = {0};
    _cleanup_free_ char *why = NULL;
    bool ok = expected_count(f, pdb, &pods, &n, &why);
    if (!ok) {
        fleet_event(f, "controllermanager", f->pdbs, r, "Warning",
                    "CalculateExpectedPodCountFailed",
                    "Failed to calculate the number of expected pods: %s", why);
        json_t *status = record_status(r);
        set_failed(status, why, now);
        fleet_put_status(f, f->pdbs, r, status);
    } else {
        _cleanup_json_ json_t *evicted = disrupted(f, pdb, &pods, &again);
        for (size_t i = 0; i < pods.v.len; i++) {
            const struct pod *pod = record_as(pod, pods.v.p[i]);
            n.healthy += !pod->meta.deleted && (pod_marks(pods.v.p[i]) & MARK_READY) &&
                         !(evicted && json_object_get(evicted, pod->meta.name));
        }
        put_status(f, r, &n, evicted);
        if (n.unmanaged)
            fleet_event(
                f, "controllermanager", f->pdbs, r, "Warning", "UnmanagedPods",
                "Pods selected by this PodDisruptionBudget were found to be unmanaged. As a "
                "result, the status of the PDB cannot be calculated correctly, which may "
                "result in undefined behavior. To account for these pods please set "
                "\".spec.minAvailable\" field of the PDB to an integer value.");
    }
    record_unref(r);
    if (again != INT64_MAX)
        queue_add_after(c->queue, ns, name, again);
    return ok;
}

/* --- pods whose eviction came to nothing --- */

static bool sync_stale(void *arg, const char *ns, const char *name) {
    struct disruption *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->pods->shelf, ns, name);
    if (!r)
        return true;
    const struct pod *pod = record_as(pod, r);
    const struct condition *t = condition_find(pod->conditions, "DisruptionTarget");
    if (!t || !str_same(t->status, "True") || pod->meta.deleted || pod_finished(pod))
        return true;
    int64_t left = t->changed + CONDITION_TIMEOUT - f->world->clock.now;
    if (left > 0) {
        queue_add_after(c->stale, ns, name, left);
        return true;
    }
    _cleanup_json_ json_t *obj = record_json(r);
    pod_add_condition(obj, "DisruptionTarget", "False", NULL, NULL, f->world->clock.now);
    fleet_put_status(f, f->pods, r, json_incref(json_object_get(obj, "status")));
    return true;
}

/* --- listening --- */

static void pdb_changed(void *arg, const struct change *change) {
    struct disruption *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

/* Wakes the budgets that select such a pod. */
static void wake(struct disruption *c, const char *ns, const struct pair *labels) {
    struct snapshot *snap = shelf_snapshot(c->fleet->pdbs->shelf);
    for (size_t i = snapshot_seek(snap, ns, ""); i < snap->n; i++) {
        const struct pdb *pdb = record_as(pdb, snap->items[i]);
        if (!str_same(pdb->meta.ns, ns))
            break;
        if (selector_match(pdb->selector, labels))
            queue_add(c->queue, ns, pdb->meta.name);
    }
    snapshot_unref(snap);
}

static void pod_changed(void *arg, const struct change *change) {
    struct disruption *c = arg;
    const struct pod *pod = record_as(pod, change->after);
    if (change->before && change->before->obj->meta.labels != pod->meta.labels)
        wake(c, pod->meta.ns, change->before->obj->meta.labels);
    wake(c, pod->meta.ns, pod->meta.labels);
    const struct condition *t = condition_find(pod->conditions, "DisruptionTarget");
    if (change->type != CHANGE_DELETED && t && str_same(t->status, "True") && !pod->meta.deleted)
        queue_add_after(c->stale, pod->meta.ns, pod->meta.name, CONDITION_TIMEOUT);
}

static void *start(struct fleet *f) {
    struct disruption *c = xnew(struct disruption);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(1), MSEC(20), sync, c);
    queue_lag(c->queue, &f->world->budget_lag);
    c->stale = queue_new(f->world, MSEC(1), MSEC(20), sync_stale, c);
    shelf_listen(f->pdbs->shelf, pdb_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    return c;
}

static void stop(void *part) {
    struct disruption *c = part;
    shelf_unlisten(c->fleet->pdbs->shelf, pdb_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    queue_free(c->queue);
    queue_free(c->stale);
    free(c);
}

const struct part disruption_part = {"disruption-controller", start, stop};
