/* The node lifecycle controller: Nodes whose kubelet is not heard of become Unknown, conditions
 * become taints, and the pods of a Node that is not ready are said not to be. Numbers and words are
 * those of pkg/controller/nodelifecycle with kube-controller-manager's defaults. */
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

#define MONITOR_EVERY SEC(5)
#define GRACE         SEC(50) /* --node-monitor-grace-period */
#define STARTUP_GRACE SEC(60) /* --node-startup-grace-period */
/* --node-eviction-rate 0.1: one Node of a zone in ten seconds gets a taint that evicts. */
#define EVICT_EVERY SEC(10)

/* When a Node was last heard of. */
struct health {
    char *name;
    int64_t probed;  /* our clock, when something of it last changed */
    int64_t renewed; /* its lease's */
    int64_t heard;   /* the heartbeat of its Ready condition */
};

struct zone {
    char *name;
    int64_t next; /* when it may have another evicting taint */
};

struct lifecycle {
    struct fleet *fleet;
    VEC(struct health) healths; /* sorted by name */
    VEC(struct zone) zones;
    struct queue *queue; /* Nodes whose taints need a look */
    struct alarm monitor;
};

static bool is(const char *a, const char *b) {
    return str_same(a, b);
}

/* --- taints --- */

static const struct {
    const char *type, *status, *taint;
} pressure[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready"},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable"},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"
#define TTL           "node.alpha.kubernetes.io/ttl"

static bool has_taint(const struct node *node, const char *key, const char *effect) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (is(node->taints[i].key, key) && is(node->taints[i].effect, effect))
            return true;
    return false;
}

static struct zone *zone_of(struct lifecycle *c, const struct node *node) {
    const char *region = strna(map_get(node->meta.labels, "topology.kubernetes.io/region"));
    const char *zone = strna(map_get(node->meta.labels, "topology.kubernetes.io/zone"));
    _cleanup_free_ char *name = xasprintf("%s/%s", region, zone);
    for (size_t i = 0; i < c->zones.len; i++)
        if (streq(c->zones.p[i].name, name))
            return &c->zones.p[i];
    struct zone *z = vec_push(&c->zones);
    *z = (struct zone){.name = TAKE_PTR(name)};
    return z;
}

static void add_taint(json_t *list, const char *key, const char *effect, const char *now) {
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "key", key, "effect", effect, "timeAdded", now));
}

/* Adds or takes a taint; true when that changed anything. */
static bool set_taint(json_t *list, const char *key, const char *effect, bool want,
                      const char *now) {
    size_t i;
    json_t *t;
    json_array_foreach(list, i,
                       t) if (is(json_str(t, "key"), key) && is(json_str(t, "effect"), effect)) {
        if (want)
            return false;
        json_array_remove(list, i);
        return true;
    }
    if (!want)
        return false;
    add_taint(list, key, effect, now);
    return true;
}

static const char *const same[][2] = {
    {"kubernetes.io/os", "beta.kubernetes.io/os"},
    {"kubernetes.io/arch", "beta.kubernetes.io/arch"},
};

/* Is there nothing to do for sync_taints()? So it is after nearly every heartbeat. */
static bool settled(const struct node *node) {
    for (size_t i = 0; i < ARRAY_LEN(pressure); i++) {
        const struct node_condition *cond = node_condition_find(node->conditions, pressure[i].type);
        bool on = cond && is(cond->c.status, pressure[i].status);
        if (on != has_taint(node, pressure[i].taint, "NoSchedule") ||
            (is(pressure[i].type, "Ready") &&
             on != has_taint(node, pressure[i].taint, "NoExecute")))
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        const char *label = map_get(node->meta.labels, same[i][0]);
        if (label && !is(label, strna(map_get(node->meta.labels, same[i][1]))))
            return false;
    }
    return node->unschedulable == has_taint(node, UNSCHEDULABLE, "NoSchedule") &&
           map_has(node->meta.annotations, TTL);
}

/* Labels under their old names too, and what the controller of secrets' time to live notes. */
static bool set_labels(json_t *obj) {
    bool changed = false;
    json_t *meta = meta_of(obj), *labels = json_object_get(meta, "labels");
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        json_t *is = json_object_get(labels, same[i][0]);
        if (!is || json_equal(is, json_object_get(labels, same[i][1])))
            continue;
        json_object_set(labels, same[i][1], is);
        changed = true;
    }
    json_t *notes = json_object_get(meta, "annotations");
    if (!notes) {
        notes = json_object();
        json_object_set_new(meta, "annotations", notes);
    }
    if (json_object_get(notes, TTL))
        return changed;
    json_object_set_new(notes, TTL, json_string("0"));
    return true;
}

static bool sync_taints(void *arg, const char *none, const char *name) {
    struct lifecycle *c = arg;
    struct fleet *f = c->fleet;
    (void)none;
    struct record *r = shelf_get(f->nodes->shelf, NULL, name);
    if (!r)
        return true;
    const struct node *node = record_as(node, r);
    if (settled(node))
        return true;
    int64_t now = f->world->clock.now;
    char text[TIMEFMT_LEN];
    time_format(now, false, text);
    json_t *obj = record_json(r);
    json_t *spec = json_object_get(obj, "spec");
    json_t *old = json_object_get(spec, "taints"), *list = old ? json_deep_copy(old) : json_array();
    bool changed = false;
    for (size_t i = 0; i < ARRAY_LEN(pressure); i++) {
        const struct node_condition *cond = node_condition_find(node->conditions, pressure[i].type);
        bool on = cond && is(cond->c.status, pressure[i].status);
        changed = set_taint(list, pressure[i].taint, "NoSchedule", on, text) || changed;
        if (!is(pressure[i].type, "Ready"))
            continue;
        /* Taints that evict are given out slowly, and taken away at once. */
        if (on && !has_taint(node, pressure[i].taint, "NoExecute")) {
            struct zone *z = zone_of(c, node);
            if (z->next > now) {
                queue_add_after(c->queue, NULL, name, z->next - now);
                continue;
            }
            z->next = now + EVICT_EVERY;
        }
        changed = set_taint(list, pressure[i].taint, "NoExecute", on, text) || changed;
    }
    changed = set_taint(list, UNSCHEDULABLE, "NoSchedule", node->unschedulable, text) || changed;
    changed = set_labels(obj) || changed;
    if (!changed) {
        json_decref(list);
        json_decref(obj);
        return true;
    }
    if (json_array_size(list))
        json_object_set_new(spec, "taints", list);
    else {
        json_object_del(spec, "taints");
        json_decref(list);
    }
    return fleet_update(f, f->nodes, NULL, obj, NULL);
}

/* --- heartbeats --- */

static struct health *health_of(struct lifecycle *c, const char *name, bool *fresh) {
    size_t low = 0, high = c->healths.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(c->healths.p[mid].name, name);
        if (order == 0) {
            *fresh = false;
            return &c->healths.p[mid];
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    (void)vec_push(&c->healths);
    memmove(c->healths.p + low + 1, c->healths.p + low,
            (c->healths.len - 1 - low) * sizeof *c->healths.p);
    c->healths.p[low] = (struct health){.name = xstrdup(name)};
    *fresh = true;
    return &c->healths.p[low];
}

static void forget(struct lifecycle *c, const char *name) {
    for (size_t i = 0; i < c->healths.len; i++)
        if (streq(c->healths.p[i].name, name)) {
            free(c->healths.p[i].name);
            memmove(c->healths.p + i, c->healths.p + i + 1,
                    (--c->healths.len - i) * sizeof *c->healths.p);
            return;
        }
}

static void pods_not_ready(struct fleet *f, const char *node) {
    struct pod_set pods = {0};
    struct pod_list on = pods_on_node(f->pod_index, node);
    for (size_t i = 0; i < on.len; i++)
        *vec_push(&pods.v) = record_ref(on.p[i]);
    for (size_t i = 0; i < pods.v.len; i++) {
        struct record *r = pods.v.p[i];
        if (!pod_ready(record_as(pod, r)))
            continue;
        _cleanup_json_ json_t *obj = record_json(r);
        json_t *status = json_object_get(obj, "status"), *cond;
        size_t k;
        char now[TIMEFMT_LEN];
        json_array_foreach(json_object_get(status, "conditions"), k,
                           cond) if (is(json_str(cond, "type"), "Ready")) {
            json_object_set_new(cond, "status", json_string("False"));
            json_object_set_new(cond, "lastTransitionTime",
                                json_string(time_format(f->world->clock.now, false, now)));
        }
        r = fleet_put_status(f, f->pods, r, json_incref(status));
        fleet_event(f, "node-controller", f->pods, r, "Warning", "NodeNotReady",
                    "Node is not ready");
    }
    pod_set_done(&pods);
}

/* Nobody has heard of it: nothing is known. */
static void set_unknown(struct lifecycle *c, struct record *r) {
    struct fleet *f = c->fleet;
    const struct node *node = record_as(node, r);
    static const char *const types[] = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
    char now[TIMEFMT_LEN], heard[TIMEFMT_LEN], created[TIMEFMT_LEN];
    time_format(f->world->clock.now, false, now);
    time_format(node->meta.created, false, created);
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *old = json_object_get(obj, "status");
    json_t *s = old ? json_deep_copy(old) : json_object();
    json_t *list = json_object_get(s, "conditions");
    if (!list) {
        list = json_array();
        json_object_set_new(s, "conditions", list);
    }
    const struct node_condition *ready = node_condition_find(node->conditions, "Ready");
    bool was_ready = ready && is(ready->c.status, "True");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct node_condition *was = node_condition_find(node->conditions, types[i]);
        if (was && is(was->c.status, "Unknown"))
            continue;
        json_t *v = json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:s}", "type", types[i], "status", "Unknown",
            "lastHeartbeatTime", was ? time_format(was->heartbeat, false, heard) : created,
            "lastTransitionTime", now, "reason",
            was ? "NodeStatusUnknown" : "NodeStatusNeverUpdated", "message",
            was ? "Kubelet stopped posting node status." : "Kubelet never posted node status.");
        size_t k;
        json_t *item;
        bool found = false;
        json_array_foreach(list, k, item) if (is(json_str(item, "type"), types[i])) {
            json_array_set_new(list, k, v);
            found = true;
            break;
        }
        if (!found)
            json_array_append_new(list, v);
    }
    r = fleet_put_status(f, f->nodes, r, s);
    if (was_ready) {
        fleet_event(f, "node-controller", f->nodes, r, "Normal", "NodeNotReady",
                    "Node %s status is now: NodeNotReady", r->obj->meta.name);
        _cleanup_free_ char *name = xstrdup(r->obj->meta.name);
        pods_not_ready(f, name);
    }
}

static void check(struct lifecycle *c, struct record *r) {
    struct fleet *f = c->fleet;
    const struct node *node = record_as(node, r);
    int64_t now = f->world->clock.now;
    bool fresh;
    struct health *h = health_of(c, node->meta.name, &fresh);
    const struct node_condition *ready = node_condition_find(node->conditions, "Ready");
    const struct record *lease_record =
        shelf_get(f->leases->shelf, "kube-node-lease", node->meta.name);
    int64_t renewed = lease_record ? record_as(lease, lease_record)->renewed : 0;
    int64_t heard = ready && !is(ready->c.status, "Unknown") ? ready->heartbeat : 0;
    if (fresh) {
        h->probed = ready ? now : node->meta.created;
        h->renewed = renewed;
        h->heard = heard;
    }
    if (renewed > h->renewed || heard > h->heard) {
        h->probed = now;
        h->renewed = MAX_OF(renewed, h->renewed);
        h->heard = MAX_OF(heard, h->heard);
    }
    int64_t grace = ready ? GRACE : STARTUP_GRACE;
    if (now > h->probed + grace && !(ready && is(ready->c.status, "Unknown")))
        set_unknown(c, r);
}

static void monitor(void *arg) {
    struct lifecycle *c = arg;
    struct fleet *f = c->fleet;
    struct snapshot *snap = shelf_snapshot(f->nodes->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        struct record *now = shelf_get(f->nodes->shelf, NULL, snap->items[i]->obj->meta.name);
        if (now)
            check(c, now);
    }
    snapshot_unref(snap);
    clock_set(&f->world->clock, &c->monitor, f->world->clock.now + MONITOR_EVERY, monitor, c);
}

static void node_changed(void *arg, const struct change *change) {
    struct lifecycle *c = arg;
    const struct node *node = record_as(node, change->after);
    if (change->type == CHANGE_DELETED) {
        forget(c, node->meta.name);
        return;
    }
    const struct node *was = change->before ? record_as(node, change->before) : NULL;
    if (was) {
        const struct node_condition *a = node_condition_find(was->conditions, "Ready"),
                                    *b = node_condition_find(node->conditions, "Ready");
        /* The kubelet itself may say that it is not ready. */
        if (a && b && is(a->c.status, "True") && is(b->c.status, "False"))
            pods_not_ready(c->fleet, node->meta.name);
    }
    /* Heartbeats alone change no taint. */
    if (!was || was->unschedulable != node->unschedulable || was->taints != node->taints ||
        was->conditions != node->conditions || was->meta.labels != node->meta.labels)
        queue_add(c->queue, NULL, node->meta.name);
}

static void *start(struct fleet *f) {
    struct lifecycle *c = xnew(struct lifecycle);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(5), MSEC(50), sync_taints, c);
    shelf_listen(f->nodes->shelf, node_changed, c);
    clock_set(&f->world->clock, &c->monitor, f->world->clock.now + MONITOR_EVERY, monitor, c);
    return c;
}

static void stop(void *part) {
    struct lifecycle *c = part;
    shelf_unlisten(c->fleet->nodes->shelf, node_changed, c);
    clock_stop(&c->fleet->world->clock, &c->monitor);
    queue_free(c->queue);
    for (size_t i = 0; i < c->healths.len; i++)
        free(c->healths.p[i].name);
    for (size_t i = 0; i < c->zones.len; i++)
        free(c->zones.p[i].name);
    vec_done(&c->healths);
    vec_done(&c->zones);
    free(c);
}

const struct part node_lifecycle_part = {"node-lifecycle-controller", start, stop};
