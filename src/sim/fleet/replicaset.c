/* The ReplicaSet controller: as many pods as wanted, no more and no less. */
#include "sim/fleet/parts.h"

#include "model/selector.h"
#include "sim/fleet/status_text.h"
#include "sim/fleet/workload.h"
#include "sim/schema/text_read.h"

enum { BURST = 500 }; /* BurstReplicas: pods made or deleted in one go */

struct replica_sets {
    struct fleet *fleet;
    struct queue *queue;
};

/* Creates up to `n`; false when one was refused. */
static bool create_pods(struct fleet *f, struct record *rs, int64_t n, char **why) {
    const json_t *template = json_object_get(record_spec(rs), "template");
    _cleanup_free_ char *prefix = xasprintf("%s-", rs->obj->meta.name);
    for (int64_t i = 0; i < n && i < BURST; i++) {
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        struct record *pod =
            fleet_create(f, f->pods, rs->obj->meta.ns,
                         workload_pod(template, f->replica_sets, rs, NULL, prefix), &failure);
        if (!pod) {
            *why = xstrdup(strna(failure.message));
            fleet_event(f, "replicaset-controller", f->replica_sets, rs, "Warning", "FailedCreate",
                        "Error creating: %s", strna(failure.message));
            return false;
        }
        fleet_event(f, "replicaset-controller", f->replica_sets, rs, "Normal", "SuccessfulCreate",
                    "Created pod: %s", pod->obj->meta.name);
        record_unref(pod);
    }
    return true;
}

static void delete_pods(struct fleet *f, const struct record *rs, struct pod_set *pods, int64_t n) {
    pod_set_rank(pods, f->world->clock.now);
    for (int64_t i = 0; i < n && i < BURST && i < (int64_t)pods->v.len; i++) {
        const struct meta *m = &pods->v.p[i]->obj->meta;
        if (fleet_delete(f, f->pods, m->ns, m->name, NULL))
            fleet_event(f, "replicaset-controller", f->replica_sets, rs, "Normal",
                        "SuccessfulDelete", "Deleted pod: %s", m->name);
    }
}

/* The condition ReplicaFailure comes and goes with refused creations. The list, changed, or NULL
 * when it stays as it is. */
static json_t *conditions_with(struct view old, const char *why, int64_t now) {
    bool failed = old.len && memmem(old.p, old.len, "\"ReplicaFailure\"", 16) != NULL;
    if (failed == (why != NULL))
        return NULL;
    json_t *list = NULL, *c;
    if (!old.len || text_read(old, NULL, &list, NULL))
        list = json_array();
    if (why) {
        char text[TIMEFMT_LEN];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "ReplicaFailure",
                                              "status", "True", "lastTransitionTime",
                                              time_format(now, false, text), "reason",
                                              "FailedCreate", "message", why));
        return list;
    }
    for (size_t i = json_array_size(list); i-- > 0;)
        if ((c = json_array_get(list, i)) && str_same(json_str(c, "type"), "ReplicaFailure"))
            json_array_remove(list, i);
    return list;
}

static void put_status(struct replica_sets *c, struct record *r, const struct pod_set *active,
                       int64_t terminating, const char *why) {
    struct fleet *f = c->fleet;
    const struct replica_set *rs = record_as(replica_set, r);
    int64_t labeled = 0, ready = 0, available = 0, again = INT64_MAX;
    struct label_selector template = {.labels = rs->template ? rs->template->labels : NULL};
    struct matcher full = {.selector = &template};
    for (size_t i = 0; i < active->v.len; i++) {
        const struct pod *pod = record_as(pod, active->v.p[i]);
        labeled += matcher_match(&full, pod->meta.labels);
        if (!(pod_marks(active->v.p[i]) & MARK_READY))
            continue;
        ready++;
        available += rs->min_ready_seconds <= 0 ||
                     pod_available(pod, rs->min_ready_seconds, f->world->clock.now, &again);
    }
    struct view old = record_status_member(&f->world->codec, r, "conditions");
    _cleanup_json_ json_t *conditions = conditions_with(old, why, f->world->clock.now);
    _cleanup_str_ struct str out = STR_INIT;
    str_addc(&out, '{');
    member_number(&out, "replicas", (int64_t)active->v.len);
    member_count(&out, "fullyLabeledReplicas", labeled);
    member_count(&out, "readyReplicas", ready);
    member_count(&out, "availableReplicas", available);
    member_number(&out, "terminatingReplicas", terminating);
    member_count(&out, "observedGeneration", rs->meta.generation);
    if (!conditions)
        member_raw(&out, "conditions", old);
    else if (json_array_size(conditions))
        member_value(&out, "conditions", conditions);
    str_addc(&out, '}');
    fleet_put_status_text(f, f->replica_sets, r, &out);
    if (again != INT64_MAX)
        queue_add_after(c->queue, rs->meta.ns, rs->meta.name, again);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct replica_sets *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->replica_sets->shelf, ns, name);
    if (!r)
        return true;
    record_ref(r);
    const struct replica_set *rs = record_as(replica_set, r);
    _cleanup_pod_set_ struct pod_set mine = {0};
    struct pod_set active = {0};
    workload_claim(f, f->replica_sets, r, rs->selector, NULL, NULL, &mine);
    int64_t terminating = 0;
    vec_reserve(&active.v, mine.v.len);
    for (size_t i = 0; i < mine.v.len; i++) {
        const struct pod *pod = record_as(pod, mine.v.p[i]);
        if (pod_marks(mine.v.p[i]) & MARK_ACTIVE)
            *vec_push(&active.v) = mine.v.p[i];
        else
            terminating += pod->meta.deleted && !pod_finished(pod);
    }
    _cleanup_free_ char *why = NULL;
    int64_t want = rs->replicas == ABSENT32 ? 1 : rs->replicas;
    int64_t have = (int64_t)active.v.len;
    bool ok = true;
    if (!rs->meta.deleted) {
        if (have < want)
            ok = create_pods(f, r, want - have, &why);
        else if (have > want)
            delete_pods(f, r, &active, have - want);
    }
    struct record *now = shelf_get(f->replica_sets->shelf, ns, name);
    if (now)
        put_status(c, now, &active, terminating, why);
    /* What one go did not manage. */
    if (want - have > BURST || have - want > BURST)
        queue_add(c->queue, ns, name);
    vec_done(&active.v);
    record_unref(r);
    return ok;
}

static void set_changed(void *arg, const struct change *change) {
    struct replica_sets *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

/* Wakes the set that the pod belongs to, or those that might adopt it. */
static void wake(struct replica_sets *c, const struct record *r) {
    const struct pod *pod = record_as(pod, r);
    const struct owner *o = meta_controller(&pod->meta);
    if (o) {
        if (str_same(o->kind, "ReplicaSet"))
            queue_add(c->queue, pod->meta.ns, o->name);
        return;
    }
    struct snapshot *snap = shelf_snapshot(c->fleet->replica_sets->shelf);
    for (size_t i = snapshot_seek(snap, pod->meta.ns, ""); i < snap->n; i++) {
        const struct replica_set *rs = record_as(replica_set, snap->items[i]);
        if (!str_same(rs->meta.ns, pod->meta.ns))
            break;
        if (selector_match(rs->selector, pod->meta.labels))
            queue_add(c->queue, rs->meta.ns, rs->meta.name);
    }
    snapshot_unref(snap);
}

static void pod_changed(void *arg, const struct change *change) {
    if (change->before &&
        controller_uid(&change->before->obj->meta) != controller_uid(&change->after->obj->meta))
        wake(arg, change->before);
    wake(arg, change->after);
}

static void *start(struct fleet *f) {
    struct replica_sets *c = xnew(struct replica_sets);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(1), MSEC(4), sync, c);
    shelf_listen(f->replica_sets->shelf, set_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    return c;
}

static void stop(void *part) {
    struct replica_sets *c = part;
    shelf_unlisten(c->fleet->replica_sets->shelf, set_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part replica_sets_part = {"replicaset-controller", start, stop};
