/* The scheduler: pending pods to nodes, one at a time, the most important first. What fits is
 * engine/fit.h's business; this is the queue around it.
 *
 * As in kube-scheduler a pod that fits nowhere waits until something changes that could help it,
 * and then for a back-off that grows from one to ten seconds. There is no preemption. */
#include "sim/fleet/parts.h"

#include "engine/fit.h"
#include "sim/api/subresources.h"
#include "sim/fleet/fleet.h"

#define BACKOFF_FIRST SEC(1)
#define BACKOFF_MAX   SEC(10)
/* How long a pod that fits nowhere waits although nothing changes (flushUnschedulable...). */
#define FLUSH_AFTER SEC(300)
/* Of one decision and its binding: a real scheduler places a few hundred pods a second. */
#define CYCLE_MIN MSEC(1)
#define CYCLE_MAX MSEC(6)

enum place { PLACE_ACTIVE, PLACE_BACKOFF, PLACE_UNSCHEDULABLE };

struct pending {
    const char *uid; /* a pool entry */
    char *ns, *name;
    int32_t priority;
    enum place place;
    bool dead;       /* it left the queue, and its place there is not cleared yet */
    int64_t backoff; /* of the last failure */
    int64_t ready_at, failed_at;
};

struct scheduler {
    struct fleet *fleet;
    struct fit *fit;
    VEC(struct pending *) queue; /* sorted: priority, then order; with dead ones among them */
    struct htab by_uid;          /* the living */
    size_t dead;
    size_t head; /* none before it is active */
    struct alarm cycle, wake;
};

static bool is_default(const struct pod *pod) {
    return str_empty(pod->spec->scheduler) || streq(pod->spec->scheduler, "default-scheduler");
}

static bool wants_node(const struct pod *pod) {
    return str_empty(pod->node_name) && !pod->meta.deleted && is_default(pod) &&
           !str_same(pod->phase, "Succeeded") && !str_same(pod->phase, "Failed");
}

/* --- the queue --- */

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}
static uint32_t pending_hash(const void *entry) {
    return uid_hash(((const struct pending *)entry)->uid);
}
static bool pending_equal(const void *entry, const void *uid) {
    return streq(((const struct pending *)entry)->uid, uid);
}
static const struct htab_ops pending_ops = {pending_hash, pending_equal};

static struct pending *find(const struct scheduler *s, const char *uid) {
    return htab_find(&s->by_uid, uid_hash(uid), uid);
}

static void pending_free(struct scheduler *s, struct pending *p) {
    pool_unref(s->fleet->world->pool, p->uid);
    free(p->ns);
    free(p->name);
    free(p);
}

/* Its place is cleared when half of all are dead, so that a long queue is not moved for each. */
static void take_out(struct scheduler *s, struct pending *p) {
    htab_remove(&s->by_uid, uid_hash(p->uid), p->uid);
    p->dead = true;
    if (++s->dead * 2 < s->queue.len)
        return;
    size_t n = 0;
    for (size_t i = 0; i < s->queue.len; i++) {
        if (s->queue.p[i]->dead)
            pending_free(s, s->queue.p[i]);
        else
            s->queue.p[n++] = s->queue.p[i];
    }
    s->queue.len = n;
    s->dead = 0;
    s->head = 0;
}

static void put_in(struct scheduler *s, struct pending *p) {
    size_t i = s->queue.len;
    (void)vec_push(&s->queue);
    while (i > 0 && s->queue.p[i - 1]->priority < p->priority) {
        s->queue.p[i] = s->queue.p[i - 1];
        i--;
    }
    s->queue.p[i] = p;
    s->head = MIN_OF(s->head, i);
    htab_insert(&s->by_uid, p);
}

static void run_cycle(void *arg);
static void wake_up(void *arg);

static void hurry(struct scheduler *s) {
    struct fleet *f = s->fleet;
    s->head = 0;
    if (!alarm_pending(&s->cycle))
        clock_set(&f->world->clock, &s->cycle,
                  f->world->clock.now + fleet_delay(f, CYCLE_MIN, CYCLE_MAX), run_cycle, s);
}

/* The first time at which a waiting pod may be tried again. */
static void set_wake(struct scheduler *s) {
    struct clock *c = &s->fleet->world->clock;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < s->queue.len; i++) {
        const struct pending *p = s->queue.p[i];
        if (p->dead)
            continue;
        int64_t at = p->place == PLACE_BACKOFF         ? p->ready_at
                     : p->place == PLACE_UNSCHEDULABLE ? p->failed_at + FLUSH_AFTER
                                                       : INT64_MAX;
        first = MIN_OF(first, at);
    }
    if (first == INT64_MAX)
        clock_stop(c, &s->wake);
    else if (!alarm_pending(&s->wake) || s->wake.due != first)
        clock_set(c, &s->wake, first, wake_up, s);
}

static void wake_up(void *arg) {
    struct scheduler *s = arg;
    int64_t now = s->fleet->world->clock.now;
    bool any = false;
    for (size_t i = 0; i < s->queue.len; i++) {
        struct pending *p = s->queue.p[i];
        if (p->dead)
            continue;
        if ((p->place == PLACE_BACKOFF && p->ready_at <= now) ||
            (p->place == PLACE_UNSCHEDULABLE && p->failed_at + FLUSH_AFTER <= now)) {
            p->place = PLACE_ACTIVE;
            any = true;
        }
    }
    if (any)
        hurry(s);
    set_wake(s);
}

/* Something changed that may help those who fit nowhere. */
static void reconsider(struct scheduler *s) {
    int64_t now = s->fleet->world->clock.now;
    bool any = false, waiting = false;
    for (size_t i = 0; i < s->queue.len; i++) {
        struct pending *p = s->queue.p[i];
        if (p->dead || p->place != PLACE_UNSCHEDULABLE)
            continue;
        if (p->ready_at > now) {
            p->place = PLACE_BACKOFF;
            waiting = true;
        } else {
            p->place = PLACE_ACTIVE;
            any = true;
        }
    }
    if (any)
        hurry(s);
    if (waiting)
        set_wake(s);
}

/* --- a decision --- */

static void tell_unschedulable(struct scheduler *s, struct record *r, const char *why) {
    struct fleet *f = s->fleet;
    const struct pod *pod = record_as(pod, r);
    bool gated = list_len(pod->spec->gates) > 0;
    _cleanup_json_ json_t *obj = record_json(r);
    pod_add_condition(obj, "PodScheduled", "False", gated ? "SchedulingGated" : "Unschedulable",
                      gated ? "Scheduling is blocked due to non-empty scheduling gates" : why,
                      f->world->clock.now);
    json_t *status = json_incref(json_object_get(obj, "status"));
    r = fleet_put_status(f, f->pods, r, status);
    if (!gated)
        fleet_event(f, "default-scheduler", f->pods, r, "Warning", "FailedScheduling", "%s", why);
}

/* Claims that waited for their pod are told where it goes: the volume controller does the rest. */
static void bind_claims(struct scheduler *s, const struct pod *pod, const char *node) {
    struct fleet *f = s->fleet;
    size_t n;
    const struct fit_binding *list = fit_bindings(s->fit, pod, node, &n);
    struct {
        char *claim, *volume;
    } todo[16];
    n = MIN_OF(n, ARRAY_LEN(todo));
    for (size_t i = 0; i < n; i++) { /* the list is valid until the first change */
        todo[i].claim = xstrdup(list[i].claim);
        todo[i].volume = list[i].volume ? xstrdup(list[i].volume) : NULL;
    }
    for (size_t i = 0; i < n; i++) {
        struct record *pvc = shelf_get(f->pvcs->shelf, pod->meta.ns, todo[i].claim);
        if (pvc && !todo[i].volume) {
            fleet_set_meta(f, f->pvcs, pvc, "annotations", "volume.kubernetes.io/selected-node",
                           node);
        } else if (pvc) {
            struct record *pv = shelf_get(f->pvs->shelf, NULL, todo[i].volume);
            if (pv) {
                json_t *obj = record_json(pv);
                json_object_set_new(json_object_get(obj, "spec"), "claimRef",
                                    json_pack("{s:s, s:s, s:s, s:s, s:s}", "kind",
                                              "PersistentVolumeClaim", "apiVersion", "v1",
                                              "namespace", pod->meta.ns, "name", todo[i].claim,
                                              "uid", pvc->obj->meta.uid));
                fleet_update(f, f->pvs, NULL, obj, NULL);
            }
        }
        free(todo[i].claim);
        free(todo[i].volume);
    }
}

static void decide(struct scheduler *s, struct pending *p) {
    struct fleet *f = s->fleet;
    struct record *r = record_ref(shelf_get(f->pods->shelf, p->ns, p->name));
    const struct pod *pod = record_as(pod, r);
    const char *node =
        list_len(pod->spec->gates) ? NULL : fit_place(s->fit, pod, prng_next(&f->world->random));
    if (node) {
        _cleanup_free_ char *name = xstrdup(node);
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        bind_claims(s, pod, name);
        struct record *now = shelf_get(f->pods->shelf, p->ns, p->name);
        take_out(s, p);
        if (pod_bind(f->api, now, name, &failure) == 0)
            fleet_event(f, "default-scheduler", f->pods, r, "Normal", "Scheduled",
                        "Successfully assigned %s/%s to %s", pod->meta.ns, pod->meta.name, name);
    } else {
        _cleanup_str_ struct str why = STR_INIT;
        fit_explain(s->fit, pod, &why);
        p->place = PLACE_UNSCHEDULABLE;
        p->failed_at = f->world->clock.now;
        p->backoff = p->backoff ? MIN_OF(p->backoff * 2, BACKOFF_MAX) : BACKOFF_FIRST;
        p->ready_at = p->failed_at + p->backoff;
        tell_unschedulable(s, r, str_get(&why));
        set_wake(s);
    }
    record_unref(r);
}

static struct pending *next_active(struct scheduler *s) {
    for (; s->head < s->queue.len; s->head++)
        if (!s->queue.p[s->head]->dead && s->queue.p[s->head]->place == PLACE_ACTIVE)
            return s->queue.p[s->head];
    return NULL;
}

static void run_cycle(void *arg) {
    struct scheduler *s = arg;
    struct pending *p = next_active(s);
    if (p)
        decide(s, p);
    if (next_active(s)) {
        size_t head = s->head;
        hurry(s);
        s->head = head;
    }
}

/* --- listening --- */

static void pod_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pod *pod = record_as(pod, c->after);
    struct pending *p = find(s, pod->meta.uid);
    if (c->type == CHANGE_DELETED) {
        fit_remove_pod(s->fit, pod->meta.ns, pod->meta.name);
        if (p)
            take_out(s, p);
        if (pod->node_name)
            reconsider(s);
        return;
    }
    fit_put_pod(s->fit, pod);
    if (!wants_node(pod)) {
        if (p)
            take_out(s, p);
        /* A pod that begins or ends somewhere, or whose labels change, may make room or company. */
        const struct pod *before = c->before ? record_as(pod, c->before) : NULL;
        if (!before || before->node_name != pod->node_name || before->phase != pod->phase ||
            before->meta.labels != pod->meta.labels)
            reconsider(s);
        return;
    }
    if (p) {
        /* Gates taken away, labels or tolerations added: try again. */
        const struct pod *before = c->before ? record_as(pod, c->before) : NULL;
        if (before && before->spec != pod->spec && p->place == PLACE_UNSCHEDULABLE) {
            p->place = PLACE_ACTIVE;
            hurry(s);
        }
        return;
    }
    p = xnew(struct pending);
    p->uid = pool_ref(pod->meta.uid);
    p->ns = xstrdup(strna(pod->meta.ns));
    p->name = xstrdup(pod->meta.name);
    p->priority = pod->spec->priority == ABSENT32 ? 0 : pod->spec->priority;
    put_in(s, p);
    hurry(s);
}

static void node_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct node *node = record_as(node, c->after);
    if (c->type == CHANGE_DELETED) {
        fit_remove_node(s->fit, node->meta.name);
        return;
    }
    const struct node *before = c->before ? record_as(node, c->before) : NULL;
    /* Heartbeats change nothing that matters here; equal values of one pool have one address. */
    if (before && before->unschedulable == node->unschedulable && before->taints == node->taints &&
        before->allocatable == node->allocatable && before->meta.labels == node->meta.labels)
        return;
    fit_put_node(s->fit, node);
    reconsider(s);
}

static void namespace_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct ns *ns = record_as(ns, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_namespace(s->fit, ns->meta.name);
    else
        fit_put_namespace(s->fit, ns);
    reconsider(s);
}

static void volume_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pv *pv = record_as(pv, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_volume(s->fit, pv->meta.name);
    else
        fit_put_volume(s->fit, pv);
    reconsider(s);
}

static void claim_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pvc *pvc = record_as(pvc, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_claim(s->fit, pvc->meta.ns, pvc->meta.name);
    else
        fit_put_claim(s->fit, pvc);
    reconsider(s);
}

/* A StorageClass has no table: what matters is read from its text. */
static void class_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct meta *m = &c->after->obj->meta;
    if (c->type == CHANGE_DELETED) {
        fit_remove_class(s->fit, m->name);
        return;
    }
    _cleanup_json_ json_t *obj = record_json(c->after);
    struct fit_class class = {
        .name = m->name,
        .waits = str_same(json_str(obj, "volumeBindingMode"), "WaitForFirstConsumer"),
        .provisions = !str_same(json_str(obj, "provisioner"), "kubernetes.io/no-provisioner"),
    };
    fit_put_class(s->fit, &class);
    reconsider(s);
}

static const struct {
    size_t resource; /* offset in struct fleet */
    shelf_listener *fn;
} ears[] = {
    {offsetof(struct fleet, nodes), node_changed},
    {offsetof(struct fleet, namespaces), namespace_changed},
    {offsetof(struct fleet, pvs), volume_changed},
    {offsetof(struct fleet, pvcs), claim_changed},
    {offsetof(struct fleet, storage_classes), class_changed},
    {offsetof(struct fleet, pods), pod_changed},
};

static struct shelf *ear_shelf(struct fleet *f, size_t i) {
    return (*(struct resource **)((char *)f + ears[i].resource))->shelf;
}

static void *start(struct fleet *f) {
    struct scheduler *s = xnew(struct scheduler);
    s->fleet = f;
    s->fit = fit_new(f->world->pool);
    htab_init(&s->by_uid, &pending_ops);
    for (size_t i = 0; i < ARRAY_LEN(ears); i++) {
        struct snapshot *snap = shelf_snapshot(ear_shelf(f, i));
        for (size_t k = 0; k < snap->n; k++)
            ears[i].fn(s, &(struct change){.type = CHANGE_ADDED, .after = snap->items[k]});
        snapshot_unref(snap);
        shelf_listen(ear_shelf(f, i), ears[i].fn, s);
    }
    return s;
}

static void stop(void *part) {
    struct scheduler *s = part;
    struct fleet *f = s->fleet;
    for (size_t i = 0; i < ARRAY_LEN(ears); i++)
        shelf_unlisten(ear_shelf(f, i), ears[i].fn, s);
    clock_stop(&f->world->clock, &s->cycle);
    clock_stop(&f->world->clock, &s->wake);
    for (size_t i = 0; i < s->queue.len; i++)
        pending_free(s, s->queue.p[i]);
    vec_done(&s->queue);
    htab_done(&s->by_uid);
    fit_free(s->fit);
    free(s);
}

const struct part scheduler_part = {"default-scheduler", start, stop};
