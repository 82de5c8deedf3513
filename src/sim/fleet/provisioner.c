/* The driver's provisioner: makes disks for claims of its classes, and deletes those that were
 * released. By kubernetes-csi's external-provisioner, which every driver brings along; the driver
 * behind it only ever says yes. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/fleet/errands.h"
#include "sim/fleet/machine.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"

#define FINALIZER "external-provisioner.volume.kubernetes.io/finalizer"
#define ZONE      "topology.kubernetes.io/zone"

#define TAKES_MIN MSEC(200)
#define TAKES_MAX SEC(2)
/* How often a disk that is still attached is tried again; its detachment is heard of besides. */
#define RETRY SEC(15)

struct provisioner {
    struct fleet *fleet;
    struct queue *claims, *volumes;
    struct errands *making, *deleting;
};

/* --- making --- */

/* In a copy of another cluster somebody is there for the claims of all provisioners. */
static bool makes_disks(const struct fleet *f, const char *provisioner) {
    return str_same(provisioner, DISK_DRIVER) ||
           (f->original && !str_empty(provisioner) &&
            !streq(provisioner, "kubernetes.io/no-provisioner"));
}

/* The class of a claim that wants a disk now, parsed; NULL when it does not. */
static json_t *wanted_class(const struct fleet *f, const struct pvc *pvc) {
    const struct pair *annotations = pvc->meta.annotations;
    const char *provisioner = map_get(annotations, ANN_PROVISIONER);
    if (!provisioner)
        provisioner = map_get(annotations, ANN_OLD_PROVISIONER);
    const struct record *class = class_find(f, claim_class(pvc));
    if (!makes_disks(f, provisioner) || !class || !str_empty(pvc->volume_name))
        return NULL;
    json_t *obj = record_json(class);
    if (makes_disks(f, json_str(obj, "provisioner")) &&
        (!str_same(json_str(obj, "volumeBindingMode"), "WaitForFirstConsumer") ||
         !str_empty(map_get(annotations, ANN_SELECTED_NODE))))
        return obj;
    json_decref(obj);
    return NULL;
}

static char *volume_name(const struct pvc *pvc) {
    return xasprintf("pvc-%s", pvc->meta.uid);
}

static bool sync_claim(void *arg, const char *ns, const char *name) {
    struct provisioner *p = arg;
    struct fleet *f = p->fleet;
    const struct record *r = shelf_get(f->pvcs->shelf, ns, name);
    const struct pvc *pvc = r ? record_as(pvc, r) : NULL;
    _cleanup_json_ json_t *class = pvc ? wanted_class(f, pvc) : NULL;
    if (!class) {
        errands_cancel(p->making, ns, name);
        return true;
    }
    _cleanup_free_ char *volume = volume_name(pvc);
    if (errands_running(p->making, ns, name) || shelf_get(f->pvs->shelf, NULL, volume))
        return true;
    fleet_event(f, DISK_DRIVER, f->pvcs, r, "Normal", "Provisioning",
                "External provisioner is provisioning volume for claim \"%s/%s\"", ns, name);
    int64_t takes = machine_delay(f, class_annotations(f, claim_class(pvc)), NULL, "provision",
                                  TAKES_MIN, TAKES_MAX, NULL);
    if (takes != INT64_MAX)
        errands_start(p->making, ns, name, takes);
    return true;
}

/* Whole bytes with the largest binary suffix that they have. */
static json_t *bytes_text(int64_t milli) {
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    int64_t bytes = milli / 1000 + (milli % 1000 > 0);
    size_t i = 0;
    for (; bytes && bytes % 1024 == 0 && i + 1 < ARRAY_LEN(suffixes); i++)
        bytes /= 1024;
    char buf[32];
    (void)snprintf(buf, sizeof buf, "%" PRId64 "%s", bytes, suffixes[i]);
    return json_string(buf);
}

/* Where the disk can be reached from: the zone of the node that it is for, or what the class
 * allows. NULL: everywhere. */
static json_t *disk_topology(const struct fleet *f, const json_t *class, const char *node) {
    const struct record *r = str_empty(node) ? NULL : shelf_get(f->nodes->shelf, NULL, node);
    const char *zone = r ? map_get(r->obj->meta.labels, ZONE) : NULL;
    json_t *terms = json_array(), *term, *expr;
    size_t i, k;
    if (!str_empty(zone))
        json_array_append_new(terms, json_pack("{s:[{s:s, s:s, s:[s]}]}", "matchExpressions", "key",
                                               ZONE, "operator", "In", "values", zone));
    else if (!r)
        json_array_foreach(json_object_get(class, "allowedTopologies"), i, term) {
            json_t *list = json_array();
            json_array_foreach(json_object_get(term, "matchLabelExpressions"), k, expr)
                json_array_append_new(
                    list, json_pack("{s:s, s:s, s:O}", "key", strna(json_str(expr, "key")),
                                    "operator", "In", "values", json_object_get(expr, "values")));
            json_array_append_new(terms, json_pack("{s:o}", "matchExpressions", list));
        }
    if (json_array_size(terms))
        return json_pack("{s:{s:o}}", "required", "nodeSelectorTerms", terms);
    json_decref(terms);
    return NULL;
}

static json_t *new_volume(const struct fleet *f, const struct record *claim, const json_t *class) {
    const struct pvc *pvc = record_as(pvc, claim);
    _cleanup_json_ json_t *obj = record_json(claim);
    json_t *asked = json_object_get(obj, "spec");
    _cleanup_free_ char *name = volume_name(pvc);
    char handle[UUID_LEN + 1];
    world_uuid(f->world, handle);
    json_t *csi = json_pack("{s:s, s:s, s:{s:s}}", "driver", DISK_DRIVER, "volumeHandle", handle,
                            "volumeAttributes", "storage.kubernetes.io/csiProvisionerIdentity",
                            "sim-" DISK_DRIVER);
    if (!str_same(pvc->volume_mode, "Block"))
        json_object_set_new(csi, "fsType", json_string("ext4"));
    json_t *spec =
        json_pack("{s:{s:o}, s:o, s:s, s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "capacity", "storage",
                  bytes_text(map_qty(pvc->resources.requests, "storage")), "csi", csi,
                  "storageClassName", strna(claim_class(pvc)), "claimRef", "kind",
                  "PersistentVolumeClaim", "apiVersion", "v1", "namespace", pvc->meta.ns, "name",
                  pvc->meta.name, "uid", pvc->meta.uid, "resourceVersion", pvc->meta.version);
    static const struct {
        const char *from, *to;
        bool of_class;
    } copies[] = {
        {"accessModes", "accessModes", false},
        {"volumeMode", "volumeMode", false},
        {"volumeAttributesClassName", "volumeAttributesClassName", false},
        {"mountOptions", "mountOptions", true},
        {"reclaimPolicy", "persistentVolumeReclaimPolicy", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        json_t *v = json_object_get(copies[i].of_class ? class : asked, copies[i].from);
        if (v)
            json_object_set(spec, copies[i].to, v);
    }
    json_t *where = disk_topology(f, class, map_get(pvc->meta.annotations, ANN_SELECTED_NODE));
    if (where)
        json_object_set_new(spec, "nodeAffinity", where);
    return json_pack("{s:{s:s, s:{s:s, s:s, s:s}, s:[s]}, s:o}", "metadata", "name", name,
                     "annotations", ANN_PROVISIONED_BY, DISK_DRIVER,
                     "volume.kubernetes.io/provisioner-deletion-secret-name", "",
                     "volume.kubernetes.io/provisioner-deletion-secret-namespace", "", "finalizers",
                     FINALIZER, "spec", spec);
}

static void made(void *arg, const char *ns, const char *name) {
    struct provisioner *p = arg;
    struct fleet *f = p->fleet;
    struct record *r = shelf_get(f->pvcs->shelf, ns, name);
    const struct pvc *pvc = r ? record_as(pvc, r) : NULL;
    _cleanup_json_ json_t *class = pvc ? wanted_class(f, pvc) : NULL;
    if (!class)
        return;
    record_ref(r);
    const char *node = map_get(pvc->meta.annotations, ANN_SELECTED_NODE);
    if (!str_empty(node) && !shelf_get(f->nodes->shelf, NULL, node)) {
        /* The scheduler has to choose again. */
        fleet_event(f, DISK_DRIVER, f->pvcs, r, "Warning", "ProvisioningFailed",
                    "node \"%s\" not found", node);
        fleet_set_meta(f, f->pvcs, r, "annotations", ANN_SELECTED_NODE, NULL);
    } else {
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        struct record *volume = fleet_create(f, f->pvs, NULL, new_volume(f, r, class), &failure);
        if (volume) {
            fleet_event(f, DISK_DRIVER, f->pvcs, r, "Normal", "ProvisioningSucceeded",
                        "Successfully provisioned volume %s", volume->obj->meta.name);
        } else {
            fleet_event(f, DISK_DRIVER, f->pvcs, r, "Warning", "ProvisioningFailed",
                        "Error creating provisioned PV object for claim %s/%s: %s. Deleting the "
                        "volume.",
                        ns, name, strna(failure.message));
            queue_add_after(p->claims, ns, name, RETRY);
        }
        record_unref(volume);
    }
    record_unref(r);
}

/* --- deleting --- */

static bool is_ours(const struct pv *pv) {
    const char *by = map_get(pv->meta.annotations, ANN_PROVISIONED_BY);
    return pv->csi && (by ? streq(by, DISK_DRIVER) : str_same(pv->csi->driver, DISK_DRIVER));
}

static bool should_delete(const struct pv *pv) {
    return is_ours(pv) && str_same(pv->phase, "Released") && str_same(pv->reclaim, "Delete") &&
           !(pv->meta.deleted && !finalizer_has(&pv->meta, FINALIZER));
}

/* A volume that will be deleted is not to vanish before its disk. */
static bool keep_finalizer(struct fleet *f, struct record *r) {
    const struct pv *pv = record_as(pv, r);
    if (!str_same(pv->reclaim, "Delete"))
        finalizer_remove(f, f->pvs, r, FINALIZER);
    else if (!pv->meta.deleted && str_same(pv->phase, "Bound"))
        return finalizer_add(f, f->pvs, r, FINALIZER);
    return true;
}

static bool sync_volume(void *arg, const char *none, const char *name) {
    struct provisioner *p = arg;
    struct fleet *f = p->fleet;
    (void)none;
    struct record *r = shelf_get(f->pvs->shelf, NULL, name);
    if (!r || !is_ours(record_as(pv, r)))
        return true;
    if (!keep_finalizer(f, r))
        return false;
    r = shelf_get(f->pvs->shelf, NULL, name);
    if (r && should_delete(record_as(pv, r)))
        errands_start(p->deleting, NULL, name, fleet_delay(f, TAKES_MIN, TAKES_MAX));
    return true;
}

static void deleted(void *arg, const char *none, const char *name) {
    struct provisioner *p = arg;
    struct fleet *f = p->fleet;
    (void)none;
    struct record *r = shelf_get(f->pvs->shelf, NULL, name);
    if (!r || !should_delete(record_as(pv, r)))
        return;
    struct names attached = volume_attachments(f, name);
    if (attached.len) {
        const struct record *a = shelf_get(f->attachments->shelf, NULL, attached.p[0]);
        fleet_event(f, DISK_DRIVER, f->pvs, r, "Warning", "VolumeFailedDelete",
                    "persistentvolume %s is still attached to node %s", name,
                    strna(record_as(volume_attachment, a)->node_name));
        queue_add_after(p->volumes, NULL, name, RETRY);
        return;
    }
    fleet_delete(f, f->pvs, NULL, name, NULL);
    r = shelf_get(f->pvs->shelf, NULL, name);
    if (r)
        finalizer_remove(f, f->pvs, r, FINALIZER);
}

/* --- listening --- */

static void claim_changed(void *arg, const struct change *c) {
    struct provisioner *p = arg;
    const struct meta *m = &c->after->obj->meta;
    if (map_has(m->annotations, ANN_PROVISIONER) || map_has(m->annotations, ANN_OLD_PROVISIONER))
        queue_add(p->claims, m->ns, m->name);
}

static void volume_changed(void *arg, const struct change *c) {
    struct provisioner *p = arg;
    const struct pv *pv = record_as(pv, c->after);
    if (c->type != CHANGE_DELETED && is_ours(pv))
        queue_add(p->volumes, NULL, pv->meta.name);
}

static void attachment_changed(void *arg, const struct change *c) {
    struct provisioner *p = arg;
    const struct volume_attachment *a = record_as(volume_attachment, c->after);
    if (c->type == CHANGE_DELETED && !str_empty(a->pv))
        queue_add(p->volumes, NULL, a->pv);
}

/* Claims may have waited for the class, or for another annotation. */
static void class_changed(void *arg, const struct change *c) {
    struct provisioner *p = arg;
    struct fleet *f = p->fleet;
    if (c->type == CHANGE_DELETED)
        return;
    struct snapshot *snap = shelf_snapshot(f->pvcs->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct pvc *pvc = record_as(pvc, snap->items[i]);
        if (str_empty(pvc->volume_name) && str_same(claim_class(pvc), c->after->obj->meta.name))
            queue_add(p->claims, pvc->meta.ns, pvc->meta.name);
    }
    snapshot_unref(snap);
}

static void *start(struct fleet *f) {
    struct provisioner *p = xnew(struct provisioner);
    p->fleet = f;
    p->claims = queue_new(f->world, MSEC(5), MSEC(50), sync_claim, p);
    p->volumes = queue_new(f->world, MSEC(5), MSEC(50), sync_volume, p);
    p->making = errands_new(f->world, made, p);
    p->deleting = errands_new(f->world, deleted, p);
    shelf_listen(f->pvcs->shelf, claim_changed, p);
    shelf_listen(f->pvs->shelf, volume_changed, p);
    shelf_listen(f->attachments->shelf, attachment_changed, p);
    shelf_listen(f->storage_classes->shelf, class_changed, p);
    return p;
}

static void stop(void *part) {
    struct provisioner *p = part;
    struct fleet *f = p->fleet;
    shelf_unlisten(f->pvcs->shelf, claim_changed, p);
    shelf_unlisten(f->pvs->shelf, volume_changed, p);
    shelf_unlisten(f->attachments->shelf, attachment_changed, p);
    shelf_unlisten(f->storage_classes->shelf, class_changed, p);
    queue_free(p->claims);
    queue_free(p->volumes);
    errands_free(p->making);
    errands_free(p->deleting);
    free(p);
}

const struct part provisioner_part = {DISK_DRIVER, start, stop};
