/* The StatefulSet controller: pods with names and claims of their own, made and updated in order.
 * By pkg/controller/statefulset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/selector.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/revision.h"
#include "sim/fleet/workload.h"

#define REVISION_LABEL "controller-revision-hash"

struct stateful_sets {
    struct fleet *fleet;
    struct queue *queue;
};

struct place {
    int64_t ordinal;
    struct record *r;
};

struct look {
    struct fleet *f;
    struct record *r; /* a reference */
    const struct stateful_set *s;
    const json_t *spec;
    int64_t want, first; /* spec.ordinals.start */
    struct pod_set pods;
    VEC(struct place) places;       /* the same pods, by ordinal */
    const char *update, *current;   /* names of revisions */
    const json_t *current_template; /* with a "$patch" in it, or NULL */
    int64_t again;
};

/* The number at the end of a pod's name, or -1. */
static int64_t ordinal_of(const struct stateful_set *s, const char *name) {
    size_t n = strlen(s->meta.name);
    if (strncmp(name, s->meta.name, n) != 0 || name[n] != '-' || !name[n + 1])
        return -1;
    char *end;
    long v = strtol(name + n + 1, &end, 10);
    return *end || v < 0 || name[n + 1] < '0' || name[n + 1] > '9' ? -1 : v;
}

static bool adopts(void *arg, const struct pod *pod) {
    return ordinal_of(arg, pod->meta.name) >= 0;
}

/* Where this ordinal is in the list of places, or would be. */
static size_t place_of(const struct look *l, int64_t ordinal) {
    size_t low = 0, high = l->places.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->places.p[mid].ordinal < ordinal)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct record *pod_at(const struct look *l, int64_t ordinal) {
    size_t i = place_of(l, ordinal);
    return i < l->places.len && l->places.p[i].ordinal == ordinal ? l->places.p[i].r : NULL;
}

/* Those of its pods that have come to be known. */
static void add_place(struct look *l, struct record *r) {
    int64_t ordinal = ordinal_of(l->s, r->obj->meta.name);
    size_t i = place_of(l, ordinal);
    (void)vec_push(&l->places);
    memmove(l->places.p + i + 1, l->places.p + i, (l->places.len - 1 - i) * sizeof *l->places.p);
    l->places.p[i] = (struct place){ordinal, r};
}

static const char *revision_of(const struct record *r) {
    return map_get(r->obj->meta.labels, REVISION_LABEL);
}

/* --- claims --- */

static bool create_claims(struct look *l, int64_t ordinal) {
    size_t i;
    json_t *t;
    json_array_foreach(json_object_get(l->spec, "volumeClaimTemplates"), i, t) {
        const char *base = strna(meta_str(t, "name"));
        _cleanup_free_ char *name = xasprintf("%s-%s-%" PRId64, base, l->s->meta.name, ordinal);
        if (shelf_get(l->f->pvcs->shelf, l->s->meta.ns, name))
            continue;
        json_t *labels = json_object_get(json_object_get(t, "metadata"), "labels");
        labels = labels ? json_deep_copy(labels) : json_object();
        const char *key;
        json_t *v;
        json_object_foreach(json_object_get(json_object_get(l->spec, "selector"), "matchLabels"),
                            key, v) json_object_set(labels, key, v);
        json_t *raw = json_pack("{s:{s:s, s:s, s:o}, s:o}", "metadata", "name", name, "namespace",
                                strna(l->s->meta.ns), "labels", labels, "spec",
                                json_deep_copy(json_object_get(t, "spec")));
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        struct record *made = fleet_create(l->f, l->f->pvcs, l->s->meta.ns, raw, &failure);
        if (!made) {
            fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Warning",
                        "FailedCreate",
                        "Create Claim %s for Pod %s-%" PRId64 " in StatefulSet %s failed error: %s",
                        name, l->s->meta.name, ordinal, l->s->meta.name, strna(failure.message));
            return false;
        }
        fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Normal",
                    "SuccessfulCreate",
                    "Create Claim %s Pod %s-%" PRId64 " in StatefulSet %s success", name,
                    l->s->meta.name, ordinal, l->s->meta.name);
        record_unref(made);
    }
    return true;
}

/* --- pods --- */

static void add_claims(struct look *l, json_t *pod, int64_t ordinal) {
    json_t *spec = json_object_get(pod, "spec");
    json_t *old = json_object_get(spec, "volumes"), *volumes = json_array(), *v, *t;
    size_t i;
    json_array_foreach(json_object_get(l->spec, "volumeClaimTemplates"), i, t) {
        const char *base = strna(meta_str(t, "name"));
        json_array_append_new(
            volumes, json_pack("{s:s, s:{s:o}}", "name", base, "persistentVolumeClaim", "claimName",
                               json_sprintf("%s-%s-%" PRId64, base, l->s->meta.name, ordinal)));
    }
    json_array_foreach(old, i, v) {
        bool replaced = false;
        size_t k;
        json_array_foreach(json_object_get(l->spec, "volumeClaimTemplates"), k, t) replaced =
            replaced || str_same(meta_str(t, "name"), json_str(v, "name"));
        if (!replaced)
            json_array_append(volumes, v);
    }
    if (json_array_size(volumes))
        json_object_set_new(spec, "volumes", volumes);
    else
        json_decref(volumes);
}

static bool create_pod(struct look *l, int64_t ordinal, bool updated) {
    if (!create_claims(l, ordinal))
        return false;
    const json_t *template = updated || !l->current_template ? json_object_get(l->spec, "template")
                                                             : l->current_template;
    _cleanup_free_ char *name = xasprintf("%s-%" PRId64, l->s->meta.name, ordinal);
    json_t *raw = workload_pod(template, l->f->stateful_sets, l->r, name, NULL);
    json_t *labels = json_object_get(meta_of(raw), "labels");
    json_object_set_new(labels, "statefulset.kubernetes.io/pod-name", json_string(name));
    json_object_set_new(labels, "apps.kubernetes.io/pod-index", json_sprintf("%" PRId64, ordinal));
    json_object_set_new(labels, REVISION_LABEL, json_string(updated ? l->update : l->current));
    json_t *spec = json_object_get(raw, "spec");
    json_object_del(spec, "$patch");
    json_object_set_new(spec, "hostname", json_string(name));
    if (!str_empty(l->s->service))
        json_object_set_new(spec, "subdomain", json_string(l->s->service));
    add_claims(l, raw, ordinal);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct record *pod = fleet_create(l->f, l->f->pods, l->s->meta.ns, raw, &failure);
    if (!pod) {
        fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Warning",
                    "FailedCreate", "Create Pod %s in StatefulSet %s failed error: %s", name,
                    l->s->meta.name, strna(failure.message));
        return false;
    }
    fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Normal",
                "SuccessfulCreate", "Create Pod %s in StatefulSet %s successful", name,
                l->s->meta.name);
    *vec_push(&l->pods.v) = pod;
    add_place(l, pod);
    return true;
}

static void delete_pod(struct look *l, struct record *pod) {
    const struct meta *m = &pod->obj->meta;
    if (fleet_delete(l->f, l->f->pods, m->ns, m->name, NULL))
        fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Normal",
                    "SuccessfulDelete", "Delete Pod %s in StatefulSet %s successful", m->name,
                    l->s->meta.name);
}

static bool available(struct look *l, const struct record *r) {
    return pod_available(record_as(pod, r), l->s->min_ready_seconds, l->f->world->clock.now,
                         &l->again);
}

/* One step of the order: false when the rest has to wait. */
static bool step(struct look *l, int64_t ordinal, bool parallel, int64_t partition) {
    struct record *r = pod_at(l, ordinal);
    const struct pod *pod = r ? record_as(pod, r) : NULL;
    if (pod && pod_finished(pod)) {
        if (!pod->meta.deleted) {
            fleet_event(l->f, "statefulset-controller", l->f->stateful_sets, l->r, "Warning",
                        "RecreatingFailedPod", "StatefulSet %s/%s is recreating failed Pod %s",
                        strna(l->s->meta.ns), l->s->meta.name, pod->meta.name);
            delete_pod(l, r);
        }
        return parallel;
    }
    if (!pod) {
        bool updated =
            !l->current || str_same(l->current, l->update) || ordinal - l->first >= partition;
        create_pod(l, ordinal, updated);
        return parallel;
    }
    if (pod->meta.deleted)
        return parallel;
    if (!available(l, r))
        return parallel;
    return true;
}

static int by_ordinal_down(const void *a, const void *b, void *arg) {
    const struct stateful_set *s = arg;
    int64_t x = ordinal_of(s, (*(struct record *const *)a)->obj->meta.name),
            y = ordinal_of(s, (*(struct record *const *)b)->obj->meta.name);
    return x > y ? -1 : x < y;
}

/* Those beyond the wanted number go, the last first; each waits until all before it are well. */
static bool condemn(struct look *l, bool parallel) {
    bool all_well = true;
    for (int64_t i = l->first; i < l->first + l->want; i++) {
        struct record *r = pod_at(l, i);
        all_well = all_well && r && pod_active(record_as(pod, r)) && pod_ready(record_as(pod, r));
    }
    qsort_r(l->pods.v.p, l->pods.v.len, sizeof *l->pods.v.p, by_ordinal_down, (void *)l->s);
    for (size_t i = 0; i < l->pods.v.len; i++) {
        struct record *r = l->pods.v.p[i];
        int64_t n = ordinal_of(l->s, r->obj->meta.name);
        if (n >= l->first && n < l->first + l->want)
            continue;
        const struct pod *pod = record_as(pod, r);
        if (pod->meta.deleted) {
            if (!parallel)
                return false;
            continue;
        }
        if (!parallel && !all_well && pod_ready(pod))
            return false;
        delete_pod(l, r);
        if (!parallel)
            return false;
    }
    return true;
}

/* Pods of an older template are replaced, the last first, one at a time. */
static void update(struct look *l) {
    const json_t *strategy = json_object_get(l->spec, "updateStrategy");
    if (str_same(json_str(strategy, "type"), "OnDelete"))
        return;
    const json_t *rolling = json_object_get(strategy, "rollingUpdate");
    int64_t partition = json_integer_value(json_object_get(rolling, "partition"));
    for (int64_t i = l->first + l->want - 1; i >= l->first + partition; i--) {
        struct record *r = pod_at(l, i);
        if (!r)
            return;
        const struct pod *pod = record_as(pod, r);
        if (!str_same(revision_of(r), l->update) && !pod->meta.deleted) {
            delete_pod(l, r);
            return;
        }
        if (pod->meta.deleted || !pod_ready(pod) || !available(l, r))
            return;
    }
}

static void work(struct look *l) {
    bool parallel = str_same(l->s->pod_management, "Parallel");
    const json_t *strategy = json_object_get(l->spec, "updateStrategy");
    int64_t partition = json_integer_value(
        json_object_get(json_object_get(strategy, "rollingUpdate"), "partition"));
    for (int64_t i = l->first; i < l->first + l->want; i++)
        if (!step(l, i, parallel, partition))
            return;
    if (!condemn(l, parallel))
        return;
    update(l);
}

/* --- status --- */

static void put_status(struct look *l, struct record *update_revision) {
    struct fleet *f = l->f;
    struct record *r = shelf_get(f->stateful_sets->shelf, l->s->meta.ns, l->s->meta.name);
    if (!r)
        return;
    int64_t n = 0, ready = 0, current = 0, updated = 0, ok = 0;
    struct pod_list mine = pods_of_owner(f->pod_index, l->s->meta.uid);
    for (size_t i = 0; i < mine.len; i++) {
        const struct pod *pod = record_as(pod, mine.p[i]);
        if (ordinal_of(l->s, pod->meta.name) < 0)
            continue;
        if (!pod_finished(pod))
            n++;
        if (str_same(pod->phase, "Running") && pod_ready(pod) && !pod->meta.deleted) {
            ready++;
            ok += pod_available(pod, l->s->min_ready_seconds, f->world->clock.now, &l->again);
        }
        if (pod_finished(pod) || pod->meta.deleted)
            continue;
        const char *rev = revision_of(mine.p[i]);
        updated += str_same(rev, l->update);
        current += str_same(rev, l->current);
    }
    const char *now_current = l->current;
    /* The update is over when all are of the new revision. */
    if (updated == n && ready == n && n == l->want) {
        now_current = l->update;
        current = updated;
    }
    json_t *s = record_status(r);
    status_set_number(s, "observedGeneration", l->s->meta.generation);
    json_object_set_new(s, "replicas", json_integer(n));
    status_set_number(s, "readyReplicas", ready);
    status_set_number(s, "currentReplicas", current);
    status_set_number(s, "updatedReplicas", updated);
    json_object_set_new(s, "availableReplicas", json_integer(ok));
    json_object_set_new(s, "collisionCount", json_integer(0));
    json_object_set_new(s, "currentRevision", json_string(now_current));
    json_object_set_new(s, "updateRevision", json_string(update_revision->obj->meta.name));
    fleet_put_status(f, f->stateful_sets, r, s);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct stateful_sets *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->stateful_sets->shelf, ns, name);
    if (!r)
        return true;
    struct look l = {
        .f = f, .r = record_ref(r), .s = record_as(stateful_set, r), .again = INT64_MAX};
    l.spec = record_spec(r);
    l.want = l.s->replicas == ABSENT32 ? 1 : l.s->replicas;
    l.first = json_integer_value(json_object_get(json_object_get(l.spec, "ordinals"), "start"));
    struct record *revision =
        revision_current(f, f->stateful_sets, r, json_object_get(l.spec, "template"));
    struct record *current = NULL;
    bool ok = revision != NULL;
    if (ok) {
        l.update = revision->obj->meta.name;
        l.current = str_empty(l.s->current_revision) ? l.update : l.s->current_revision;
        if ((current = shelf_get(f->revisions->shelf, ns, l.current)))
            l.current_template = revision_template(record_ref(current));
        workload_claim(f, f->stateful_sets, r, l.s->selector, adopts, (void *)l.s, &l.pods);
        for (size_t i = 0; i < l.pods.v.len; i++)
            add_place(&l, l.pods.v.p[i]);
        if (!l.s->meta.deleted)
            work(&l);
        put_status(&l, revision);
        const json_t *limit = json_object_get(l.spec, "revisionHistoryLimit");
        struct revisions all = {0};
        revisions_of(f, r, &all);
        const char *keep[] = {l.update, l.current, NULL};
        revisions_trim(f, &all, limit ? json_integer_value(limit) : 10, keep);
        revisions_done(&all);
    }
    if (l.again != INT64_MAX)
        queue_add_after(c->queue, ns, name, l.again);
    record_unref(revision);
    pod_set_done(&l.pods);
    vec_done(&l.places);
    record_unref(current);
    record_unref(l.r);
    return ok;
}

static void set_changed(void *arg, const struct change *change) {
    struct stateful_sets *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

static void pod_changed(void *arg, const struct change *change) {
    struct stateful_sets *c = arg;
    const struct meta *m = &change->after->obj->meta;
    const struct owner *o = meta_controller(m);
    if (!o && change->before)
        o = meta_controller(&change->before->obj->meta);
    if (o) {
        if (str_same(o->kind, "StatefulSet"))
            queue_add(c->queue, m->ns, o->name);
        return;
    }
    struct snapshot *snap = shelf_snapshot(c->fleet->stateful_sets->shelf);
    for (size_t i = snapshot_seek(snap, m->ns, ""); i < snap->n; i++) {
        const struct stateful_set *s = record_as(stateful_set, snap->items[i]);
        if (!str_same(s->meta.ns, m->ns))
            break;
        if (selector_match(s->selector, m->labels) && ordinal_of(s, m->name) >= 0)
            queue_add(c->queue, m->ns, s->meta.name);
    }
    snapshot_unref(snap);
}

static void *start(struct fleet *f) {
    struct stateful_sets *c = xnew(struct stateful_sets);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(1), MSEC(10), sync, c);
    shelf_listen(f->stateful_sets->shelf, set_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    return c;
}

static void stop(void *part) {
    struct stateful_sets *c = part;
    shelf_unlisten(c->fleet->stateful_sets->shelf, set_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part stateful_sets_part = {"statefulset-controller", start, stop};
