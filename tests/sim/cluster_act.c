/* What happens to a cluster while it is drained, by somebody else's hand: the plan's events. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cluster_gen.h"
#include "sim/fleet/machine.h"

/* The pick-th pod of all. */
static const struct pod *some_pod(struct sim *sim, unsigned which) {
    struct shelf *shelf = sim_fleet(sim)->pods->shelf;
    if (!shelf_len(shelf))
        return NULL;
    struct snapshot *snap = shelf_snapshot(shelf);
    const struct pod *pod = record_as(pod, snap->items[which % snap->n]);
    snapshot_unref(snap);
    return pod;
}

static void patch_node(struct sim *sim, const char *node, const char *body) {
    _cleanup_free_ char *path = xasprintf("/api/v1/nodes/%s", node);
    (void)cluster_ask(sim, "PATCH", path, body);
}

/* Somebody's `slipway cordon`: a holder more in the record, by the rules of the record. */
static void hold(struct sim *sim, const char *node) {
    struct record *r = shelf_get(sim_fleet(sim)->nodes->shelf, NULL, node);
    if (!r)
        return;
    _cleanup_json_ json_t *obj = record_json(r);
    const char *text = json_str(json_object_get(json_object_get(obj, "metadata"), "annotations"),
                                "slipway.dev/cordon");
    bool cordoned = json_is_true(json_object_get(json_object_get(obj, "spec"), "unschedulable"));
    _cleanup_json_ json_t *rec = text ? json_loads(text, 0, NULL) : NULL;
    if (text && (!rec || json_integer_value(json_object_get(rec, "v")) != 1))
        return;
    for (size_t i = 0; i < json_array_size(json_object_get(rec, "holders")); i++)
        if (str_same(json_str(json_array_get(json_object_get(rec, "holders"), i), "id"), "ops/bob"))
            return;
    if (!rec)
        rec = json_pack("{s:i,s:b,s:[]}", "v", 1, "before", cordoned, "holders");
    json_array_append_new(json_object_get(rec, "holders"),
                          json_pack("{s:s,s:s,s:s,s:s}", "id", "ops/bob", "by", "bob", "reason",
                                    "cables", "since", "2026-11-15T00:00:00Z"));
    _cleanup_free_ char *record = json_dumps(rec, JSON_COMPACT);
    _cleanup_json_ json_t *patch =
        json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations", "slipway.dev/cordon", record,
                  "spec", "unschedulable", 1);
    _cleanup_free_ char *body = json_dumps(patch, JSON_COMPACT);
    patch_node(sim, node, body);
}

static void late_pod(struct sim *sim, const char *node, bool pinned, unsigned number) {
    _cleanup_str_ struct str s = STR_INIT;
    str_addf(&s,
             "{\"metadata\":{\"name\":\"late-%u\",\"labels\":{\"app\":\"late\"}},\"spec\":{"
             "\"terminationGracePeriodSeconds\":3,\"containers\":[{\"name\":\"c\",\"image\":"
             "\"example.com/l:1\"}],\"tolerations\":[{\"operator\":\"Exists\"}],%s\"%s\"%s}}",
             number,
             pinned ? "\"nodeName\":" : "\"nodeSelector\":{\"kubernetes.io/hostname\":", node,
             pinned ? "" : "}");
    (void)cluster_ask(sim, "POST", "/api/v1/namespaces/c/pods", str_get(&s));
}

static void scale(struct sim *sim, unsigned which) {
    struct snapshot *snap = shelf_snapshot(sim_fleet(sim)->deployments->shelf);
    if (snap->n) {
        const struct deployment *d = record_as(deployment, snap->items[which % snap->n]);
        _cleanup_free_ char *path =
            xasprintf("/apis/apps/v1/namespaces/%s/deployments/%s", d->meta.ns, d->meta.name);
        char body[64];
        (void)snprintf(body, sizeof body, "{\"spec\":{\"replicas\":%d}}", d->replicas + 1);
        /* Of one whose count is Slipway's business for a moment only Slipway's view would be
         * judged. */
        bool marked = false;
        for (size_t i = 0; i < list_len(d->meta.labels); i++)
            marked |= streq(d->meta.labels[i].key, "slipway.dev/surge");
        if (!marked)
            (void)cluster_ask(sim, "PATCH", path, body);
    }
    snapshot_unref(snap);
}

static void loosen(struct sim *sim, unsigned which) {
    struct snapshot *snap = shelf_snapshot(sim_fleet(sim)->pdbs->shelf);
    if (snap->n) {
        const struct meta *m = &snap->items[which % snap->n]->obj->meta;
        _cleanup_free_ char *path =
            xasprintf("/apis/policy/v1/namespaces/%s/poddisruptionbudgets/%s", m->ns, m->name);
        (void)cluster_ask(sim, "PATCH", path,
                          "{\"spec\":{\"minAvailable\":null,\"maxUnavailable\":2}}");
    }
    snapshot_unref(snap);
}

/* What kept pods back is taken away. */
static void release(struct sim *sim) {
    struct snapshot *snap = shelf_snapshot(sim_fleet(sim)->pods->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct meta *m = &snap->items[i]->obj->meta;
        _cleanup_free_ char *path = xasprintf("/api/v1/namespaces/%s/pods/%s", m->ns, m->name);
        (void)cluster_ask(sim, "PATCH", path,
                          "{\"metadata\":{\"finalizers\":null,\"annotations\":{"
                          "\"karpenter.sh/do-not-disrupt\":null,"
                          "\"cluster-autoscaler.kubernetes.io/safe-to-evict\":null}}}");
    }
    snapshot_unref(snap);
}

void cluster_act(struct sim *sim, const struct plan *p, const struct plan_event *e) {
    const char *target = p->targets.p[e->pick % p->targets.len];
    char any[16];
    (void)snprintf(any, sizeof any, "w%u", e->pick % p->nodes + 1);
    switch (e->act) {
    case ACT_UNCORDON:
        patch_node(sim, target, "{\"spec\":{\"unschedulable\":null}}");
        break;
    case ACT_UNCORDON_CLEANLY:
        patch_node(sim, target,
                   "{\"metadata\":{\"annotations\":{\"slipway.dev/cordon\":null}},\"spec\":{"
                   "\"unschedulable\":null}}");
        break;
    case ACT_CORDON: {
        /* Of one that is cordoned already, kubectl writes nothing. */
        struct record *r = shelf_get(sim_fleet(sim)->nodes->shelf, NULL, any);
        /* At least one node stays open, or nothing could go anywhere. */
        unsigned open = 0;
        for (unsigned i = 1; i <= p->nodes; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "w%u", i);
            bool is_target = false;
            for (size_t k = 0; k < p->targets.len; k++)
                is_target |= streq(p->targets.p[k], name);
            struct record *n = shelf_get(sim_fleet(sim)->nodes->shelf, NULL, name);
            open += !is_target && n && !record_as(node, n)->unschedulable && !streq(name, any);
        }
        if (r && !record_as(node, r)->unschedulable && open)
            patch_node(sim, any, "{\"spec\":{\"unschedulable\":true}}");
        break;
    }
    case ACT_HOLD:
        hold(sim, target);
        break;
    case ACT_TOUCH_NODE: {
        char body[80];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"annotations\":{\"touched\":\"%u-%" PRId64 "\"}}}", e->pick,
                       e->after);
        patch_node(sim, target, body);
        break;
    }
    case ACT_LATE_POD:
    case ACT_LATE_TOLERANT:
        late_pod(sim, target, e->act == ACT_LATE_POD, e->pick);
        break;
    case ACT_DELETE_POD: {
        const struct pod *pod = some_pod(sim, e->pick);
        if (pod) {
            _cleanup_free_ char *path =
                xasprintf("/api/v1/namespaces/%s/pods/%s", pod->meta.ns, pod->meta.name);
            (void)cluster_ask(sim, "DELETE", path, NULL);
        }
        break;
    }
    case ACT_SCALE:
        scale(sim, e->pick);
        break;
    case ACT_BUDGET:
        loosen(sim, e->pick);
        break;
    case ACT_HANG:
    case ACT_WAKE: {
        struct machine *m = machine_find(sim_fleet(sim), any);
        if (m && e->act == ACT_HANG)
            machine_hang(m);
        else if (m)
            machine_on(m);
        break;
    }
    case ACT_COMPACT:
        sim_compact(sim);
        break;
    case ACT_RELEASE:
        release(sim);
        break;
    case ACT_KILL:
    case ACT_STOP:
    case ACTS:
        break;
    }
}
