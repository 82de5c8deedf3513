/* The scheduler: pending pods to nodes, one at a time, the most important first. What fits is
 * engine/fit.h's business, and whose turn it is engine/fit_queue.h's; this carries it out. There is
 * no preemption. */
#include "sim/fleet/parts.h"

#include "engine/fit.h"
#include "engine/fit_queue.h"
#include "engine/podrole.h"
#include "sim/api/subresources.h"
#include "sim/fleet/fleet.h"

/* Of one decision and its binding: a real scheduler places a few hundred pods a second. */
#define CYCLE_MIN MSEC(1)
#define CYCLE_MAX MSEC(6)

struct scheduler {
    struct fleet *fleet;
    struct fit *fit;
    struct fit_queue *queue;
    struct alarm cycle;
    bool busy; /* in a turn: the next follows at once */
};

static void run_cycle(void *arg);

/* Sets the alarm for the next turn. */
static void hurry(struct scheduler *s) {
    struct fleet *f = s->fleet;
    struct clock *c = &f->world->clock;
    int64_t due = fit_queue_due(s->queue, c->now);
    int64_t lag = s->busy ? 0 : world_lag(f->world, f->world->lag);
    int64_t longest = CYCLE_MAX + (s->busy ? 0 : f->world->lag * 3 / 2);
    if (due == INT64_MAX)
        clock_stop(c, &s->cycle);
    else if (!alarm_pending(&s->cycle) || s->cycle.due > MAX_OF(due, c->now + longest))
        clock_set(c, &s->cycle, MAX_OF(due, c->now + lag + fleet_delay(f, CYCLE_MIN, CYCLE_MAX)),
                  run_cycle, s);
}

static void tell(struct scheduler *s, unsigned event) {
    fit_queue_event(s->queue, event, s->fleet->world->clock.now);
    hurry(s);
}

/* --- a decision --- */

static void tell_unschedulable(struct scheduler *s, struct record *r, const char *why) {
    struct fleet *f = s->fleet;
    _cleanup_json_ json_t *obj = record_json(r);
    pod_add_condition(obj, "PodScheduled", "False", "Unschedulable", why, f->world->clock.now);
    json_t *status = json_incref(json_object_get(obj, "status"));
    r = fleet_put_status(f, f->pods, r, status);
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
                json_t *obj = record_json(pv), *meta = meta_of(obj);
                if (!json_object_get(meta, "annotations"))
                    json_object_set_new(meta, "annotations", json_object());
                json_object_set_new(json_object_get(meta, "annotations"),
                                    "pv.kubernetes.io/bound-by-controller", json_string("yes"));
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

static void decide(struct scheduler *s, const struct fit_turn *turn) {
    struct fleet *f = s->fleet;
    struct record *r = shelf_get(f->pods->shelf, turn->ns, turn->name);
    if (!r || !str_same(r->obj->meta.uid, turn->uid)) {
        fit_queue_remove(s->queue, turn->ns, turn->name);
        return;
    }
    record_ref(r);
    const struct pod *pod = record_as(pod, r);
    const struct meta *m = &pod->meta;
    const char *node = fit_place(s->fit, pod, prng_next(&f->world->random));
    if (node) {
        _cleanup_free_ char *name = xstrdup(node);
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        bind_claims(s, pod, name);
        struct record *now = shelf_get(f->pods->shelf, m->ns, m->name);
        if (now && pod_bind(f->api, now, name, &failure) == 0)
            fleet_event(f, "default-scheduler", f->pods, r, "Normal", "Scheduled",
                        "Successfully assigned %s/%s to %s", m->ns, m->name, name);
        else
            fit_queue_failed(s->queue, m->ns, m->name, 0, f->world->clock.now);
    } else {
        _cleanup_str_ struct str why = STR_INIT;
        fit_explain(s->fit, pod, &why);
        fit_queue_failed(s->queue, m->ns, m->name, fit_codes(s->fit), f->world->clock.now);
        tell_unschedulable(s, r, str_get(&why));
    }
    record_unref(r);
}

static void run_cycle(void *arg) {
    struct scheduler *s = arg;
    struct fit_turn turn;
    s->busy = true;
    if (fit_queue_next(s->queue, s->fleet->world->clock.now, &turn))
        decide(s, &turn);
    hurry(s);
    s->busy = false;
}

/* --- listening --- */

static bool is_ours(const struct scheduler *s, const struct pod *pod) {
    return s->fleet->original || str_empty(pod->spec->scheduler) ||
           streq(pod->spec->scheduler, "default-scheduler");
}

static void pod_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pod *pod = record_as(pod, c->after);
    const struct pod *before = c->before ? record_as(pod, c->before) : NULL;
    if (c->type == CHANGE_DELETED) {
        fit_remove_pod(s->fit, pod->meta.ns, pod->meta.name);
        fit_queue_remove(s->queue, pod->meta.ns, pod->meta.name);
        if (pod->node_name)
            tell(s, FIT_EVENT_POD_GONE);
        return;
    }
    fit_put_pod(s->fit, pod);
    if (is_ours(s, pod))
        fit_queue_put(s->queue, pod, s->fleet->world->clock.now);
    if (str_empty(pod->node_name)) {
        hurry(s);
        return;
    }
    /* A pod that begins or ends somewhere, or whose labels change, may make room or company. */
    if (pod_finished(pod) && before && !pod_finished(before))
        tell(s, FIT_EVENT_POD_GONE);
    else if (!before || before->node_name != pod->node_name ||
             before->meta.labels != pod->meta.labels)
        tell(s, FIT_EVENT_POD_HERE);
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
    tell(s, FIT_EVENT_NODE);
}

static void namespace_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct ns *ns = record_as(ns, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_namespace(s->fit, ns->meta.name);
    else
        fit_put_namespace(s->fit, ns);
    tell(s, FIT_EVENT_NAMESPACE);
}

static void volume_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pv *pv = record_as(pv, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_volume(s->fit, pv->meta.name);
    else
        fit_put_volume(s->fit, pv);
    tell(s, FIT_EVENT_STORAGE);
}

static void claim_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct pvc *pvc = record_as(pvc, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_claim(s->fit, pvc->meta.ns, pvc->meta.name);
    else
        fit_put_claim(s->fit, pvc);
    tell(s, FIT_EVENT_STORAGE);
}

static void class_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct storage_class *class = record_as(storage_class, c->after);
    if (c->type == CHANGE_DELETED) {
        fit_remove_class(s->fit, class->meta.name);
        return;
    }
    fit_put_class(s->fit,
                  &(struct fit_class){
                      .name = class->meta.name,
                      .waits = str_same(class->binding_mode, "WaitForFirstConsumer"),
                      .provisions = !str_same(class->provisioner, "kubernetes.io/no-provisioner"),
                      .provisioner = class->provisioner,
                      .topologies = class->topologies,
                  });
    tell(s, FIT_EVENT_STORAGE);
}

static void csi_node_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct csi_node *node = record_as(csi_node, c->after);
    if (c->type == CHANGE_DELETED)
        fit_remove_csi_node(s->fit, node->meta.name);
    else
        fit_put_csi_node(s->fit, node);
    tell(s, FIT_EVENT_ATTACHED);
}

static void attachment_changed(void *arg, const struct change *c) {
    struct scheduler *s = arg;
    const struct volume_attachment *va = record_as(volume_attachment, c->after);
    if (c->type == CHANGE_DELETED) {
        fit_remove_attachment(s->fit, va->meta.name);
        tell(s, FIT_EVENT_ATTACHED);
    } else {
        fit_put_attachment(s->fit, va);
    }
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
    {offsetof(struct fleet, csi_nodes), csi_node_changed},
    {offsetof(struct fleet, attachments), attachment_changed},
    {offsetof(struct fleet, pods), pod_changed},
};

static struct shelf *ear_shelf(struct fleet *f, size_t i) {
    return (*(struct resource **)((char *)f + ears[i].resource))->shelf;
}

static void *start(struct fleet *f) {
    struct scheduler *s = xnew(struct scheduler);
    s->fleet = f;
    s->fit = fit_new(f->world->pool);
    s->queue = fit_queue_new(f->world->pool);
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
    fit_queue_free(s->queue);
    fit_free(s->fit);
    free(s);
}

const struct part scheduler_part = {"default-scheduler", start, stop};
