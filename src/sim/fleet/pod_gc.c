/* Pod garbage: pods of Nodes that do not exist any more, and pods that were deleted before they got
 * a Node. By pkg/controller/podgc, which looks every twenty seconds. */
#include "sim/api/subresources.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

#define LOOK_EVERY SEC(20)
#define QUARANTINE SEC(40) /* a Node must have been away for so long */

struct missing {
    char *node;
    int64_t since;
    bool seen; /* in this look */
};

struct pod_gc {
    struct fleet *fleet;
    VEC(struct missing) missing;
    struct alarm alarm;
};

static struct missing *missing_of(struct pod_gc *c, const char *node) {
    for (size_t i = 0; i < c->missing.len; i++)
        if (streq(c->missing.p[i].node, node))
            return &c->missing.p[i];
    struct missing *m = vec_push(&c->missing);
    *m = (struct missing){.node = xstrdup(node), .since = c->fleet->world->clock.now};
    return m;
}

static void collect(struct fleet *f, struct record *r, const char *why) {
    const struct pod *pod = record_as(pod, r);
    _cleanup_free_ char *ns = xstrdup(strna(pod->meta.ns)), *name = xstrdup(pod->meta.name);
    if (!pod_finished(pod)) {
        _cleanup_json_ json_t *obj = record_json(r);
        json_object_set_new(json_object_get(obj, "status"), "phase", json_string("Failed"));
        if (why)
            pod_add_condition(obj, "DisruptionTarget", "True", "DeletionByPodGC", why,
                              f->world->clock.now);
        fleet_put_status(f, f->pods, r, json_incref(json_object_get(obj, "status")));
    }
    struct delete_options o = DELETE_OPTIONS_INIT;
    o.grace = 0;
    fleet_delete(f, f->pods, ns, name, &o);
}

static void look(void *arg) {
    struct pod_gc *c = arg;
    struct fleet *f = c->fleet;
    int64_t now = f->world->clock.now;
    for (size_t i = 0; i < c->missing.len; i++)
        c->missing.p[i].seen = false;
    struct snapshot *snap = shelf_snapshot(f->pods->shelf);
    const char *there[64] = {NULL}; /* names of nodes that exist: one address for each name */
    for (size_t i = 0; i < snap->n; i++) {
        const struct pod *pod = record_as(pod, snap->items[i]);
        bool unbound = str_empty(pod->node_name);
        const char **seen = &there[((uintptr_t)pod->node_name >> 4) % ARRAY_LEN(there)];
        if (unbound ? !pod->meta.deleted : *seen == pod->node_name)
            continue;
        if (!unbound && shelf_get(f->nodes->shelf, NULL, pod->node_name)) {
            *seen = pod->node_name;
            continue;
        }
        struct record *r = shelf_get(f->pods->shelf, pod->meta.ns, pod->meta.name);
        if (!r)
            continue;
        if (unbound) {
            collect(f, r, NULL);
            continue;
        }
        struct missing *m = missing_of(c, pod->node_name);
        m->seen = true;
        if (now - m->since >= QUARANTINE)
            collect(f, r, "PodGC: node no longer exists");
    }
    snapshot_unref(snap);
    size_t n = 0;
    for (size_t i = 0; i < c->missing.len; i++) {
        if (c->missing.p[i].seen)
            c->missing.p[n++] = c->missing.p[i];
        else
            free(c->missing.p[i].node);
    }
    c->missing.len = n;
    clock_set(&f->world->clock, &c->alarm, now + LOOK_EVERY, look, c);
}

static void *start(struct fleet *f) {
    struct pod_gc *c = xnew(struct pod_gc);
    c->fleet = f;
    clock_set(&f->world->clock, &c->alarm, f->world->clock.now + LOOK_EVERY, look, c);
    return c;
}

static void stop(void *part) {
    struct pod_gc *c = part;
    clock_stop(&c->fleet->world->clock, &c->alarm);
    for (size_t i = 0; i < c->missing.len; i++)
        free(c->missing.p[i].node);
    vec_done(&c->missing);
    free(c);
}

const struct part pod_gc_part = {"pod-garbage-collector-controller", start, stop};
