/* Claims that live and die with one pod: made from the templates in the pod's own volumes. By
 * pkg/controller/volume/ephemeral; when the pod goes, the garbage collector takes its claims. */
#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"

#define CONTROLLER "ephemeral_volume"

struct ephemeral {
    struct fleet *fleet;
    struct queue *queue;
};

/* Makes the claim unless there is one. False when that did not work; then `why` says so. */
static bool make_claim(struct fleet *f, const struct record *pod, const json_t *volume,
                       struct str *why) {
    const struct meta *m = &pod->obj->meta;
    const json_t *template =
        json_object_get(json_object_get(volume, "ephemeral"), "volumeClaimTemplate");
    _cleanup_free_ char *name = xasprintf("%s-%s", m->name, strna(json_str(volume, "name")));
    const struct record *known = shelf_get(f->pvcs->shelf, m->ns, name);
    if (known) {
        if (claim_is_of(record_as(pvc, known), record_as(pod, pod)))
            return true;
        str_addf(why, "PVC %s/%s was not created for pod %s/%s (pod is not owner)", m->ns, name,
                 m->ns, m->name);
        return false;
    }
    json_t *meta = json_pack("{s:s, s:s, s:[o]}", "name", name, "namespace", m->ns,
                             "ownerReferences", fleet_owner(f->pods, pod));
    static const char *const maps[] = {"annotations", "labels"};
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        json_t *map = json_object_get(json_object_get(template, "metadata"), maps[i]);
        if (map)
            json_object_set(meta, maps[i], map);
    }
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct record *made = fleet_create(
        f, f->pvcs, m->ns,
        json_pack("{s:o, s:O}", "metadata", meta, "spec", json_object_get(template, "spec")),
        &failure);
    if (!made)
        str_addf(why, "create PVC %s: %s", name, strna(failure.message));
    record_unref(made);
    return made != NULL;
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct ephemeral *e = arg;
    struct fleet *f = e->fleet;
    struct record *r = shelf_get(f->pods->shelf, ns, name);
    if (!r || r->obj->meta.deleted)
        return true;
    record_ref(r);
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *volume;
    size_t i;
    bool ok = true;
    json_array_foreach(json_object_get(json_object_get(obj, "spec"), "volumes"), i, volume) {
        _cleanup_str_ struct str why = STR_INIT;
        if (!json_object_get(volume, "ephemeral") || make_claim(f, r, volume, &why))
            continue;
        fleet_event(f, CONTROLLER, f->pods, r, "Warning", "FailedBinding",
                    "ephemeral volume %s: %s", strna(json_str(volume, "name")), str_get(&why));
        ok = false;
        break;
    }
    record_unref(r);
    return ok;
}

static void ask(struct ephemeral *e, const struct pod *pod) {
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++) {
        if (pod->spec->volumes[i].ephemeral && !pod->meta.deleted) {
            queue_add(e->queue, pod->meta.ns, pod->meta.name);
            return;
        }
    }
}

static void pod_changed(void *arg, const struct change *c) {
    if (c->type == CHANGE_ADDED)
        ask(arg, record_as(pod, c->after));
}

/* Somebody deleted one that is needed. */
static void claim_changed(void *arg, const struct change *c) {
    struct ephemeral *e = arg;
    const struct meta *m = &c->after->obj->meta;
    if (c->type != CHANGE_DELETED)
        return;
    struct names pods = claim_pods(e->fleet, m->ns, m->name);
    for (size_t i = 0; i < pods.len; i++)
        ask(e, record_as(pod, shelf_get(e->fleet->pods->shelf, m->ns, pods.p[i])));
}

static void *start(struct fleet *f) {
    struct ephemeral *e = xnew(struct ephemeral);
    e->fleet = f;
    e->queue = queue_new(f->world, MSEC(5), MSEC(50), sync, e);
    shelf_listen(f->pods->shelf, pod_changed, e);
    shelf_listen(f->pvcs->shelf, claim_changed, e);
    return e;
}

static void stop(void *part) {
    struct ephemeral *e = part;
    shelf_unlisten(e->fleet->pods->shelf, pod_changed, e);
    shelf_unlisten(e->fleet->pvcs->shelf, claim_changed, e);
    queue_free(e->queue);
    free(e);
}

const struct part ephemeral_part = {CONTROLLER, start, stop};
