/* The controller that binds claims to volumes, and takes volumes back. By
 * pkg/controller/volume/persistentvolume: both sides of a binding are written one after the other,
 * volume first, and every state in between is one from which the next look goes on. */
#include "sim/fleet/volumes.h"

#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"
#include "sim/fleet/volume_match.h"
#include "sim/fleet/workload.h"

#define CONTROLLER "persistentvolume-controller"
#define HOST_PATH  "kubernetes.io/host-path"

/* PVClaimBinderSyncPeriod. Claims that wait are looked at so often: nobody tells them of a volume.
 */
#define RESYNC SEC(15)

struct volumes {
    struct fleet *fleet;
    struct queue *claims, *volumes;
};

static struct record *claim_get(const struct fleet *f, const char *ns, const char *name) {
    return shelf_get(f->pvcs->shelf, ns, name);
}
static struct record *volume_get(const struct fleet *f, const char *name) {
    return shelf_get(f->pvs->shelf, NULL, name);
}

static json_t *annotations_of(json_t *obj) {
    json_t *map = json_object_get(meta_of(obj), "annotations");
    if (!map) {
        map = json_object();
        json_object_set_new(meta_of(obj), "annotations", map);
    }
    return map;
}

/* --- phases --- */

static bool set_volume_phase(struct fleet *f, const char *name, const char *phase,
                             const char *message) {
    struct record *r = volume_get(f, name);
    if (!r || str_same(record_as(pv, r)->phase, phase))
        return r != NULL;
    json_t *obj = record_json(r);
    json_t *status = json_object_get(obj, "status");
    json_object_set_new(status, "phase", json_string(phase));
    if (message)
        json_object_set_new(status, "message", json_string(message));
    else
        json_object_del(status, "message");
    return fleet_update(f, f->pvs, "status", obj, NULL);
}

/* A volume that cannot be taken back. */
static void fail_volume(struct fleet *f, const char *name, const char *reason,
                        const char *message) {
    struct record *r = volume_get(f, name);
    if (!r || str_same(record_as(pv, r)->phase, "Failed"))
        return;
    if (set_volume_phase(f, name, "Failed", message))
        fleet_event(f, CONTROLLER, f->pvs, volume_get(f, name), "Warning", reason, "%s", message);
}

/* With what the volume has, or without when there is none. */
static bool set_claim_phase(struct fleet *f, const char *ns, const char *name, const char *phase,
                            const struct record *volume) {
    struct record *r = claim_get(f, ns, name);
    if (!r)
        return false;
    bool changes = !str_same(record_as(pvc, r)->phase, phase);
    json_t *obj = record_json(r);
    json_t *status = json_object_get(obj, "status");
    _cleanup_json_ json_t *was = json_deep_copy(status);
    json_object_set_new(status, "phase", json_string(phase));
    if (volume) {
        _cleanup_json_ json_t *pv = record_json(volume);
        const json_t *spec = json_object_get(pv, "spec");
        json_object_set(status, "accessModes", json_object_get(spec, "accessModes"));
        /* Later a difference may be meant: a file system that is smaller than its disk. */
        if (changes)
            json_object_set(status, "capacity", json_object_get(spec, "capacity"));
        json_t *attributes = json_object_get(spec, "volumeAttributesClassName");
        if (changes && attributes)
            json_object_set(status, "currentVolumeAttributesClassName", attributes);
    } else {
        json_object_del(status, "accessModes");
        json_object_del(status, "capacity");
        json_object_del(status, "currentVolumeAttributesClassName");
    }
    if (!json_equal(status, was))
        return fleet_update(f, f->pvcs, "status", obj, NULL);
    json_decref(obj);
    return true;
}

static bool lose_claim(struct fleet *f, const struct record *claim, const char *reason,
                       const char *message) {
    const struct meta *m = &claim->obj->meta;
    if (str_same(record_as(pvc, claim)->phase, "Lost"))
        return true;
    if (!set_claim_phase(f, m->ns, m->name, "Lost", NULL))
        return false;
    fleet_event(f, CONTROLLER, f->pvcs, claim_get(f, m->ns, m->name), "Warning", reason, "%s",
                message);
    return true;
}

/* --- binding --- */

static bool bind_volume(struct fleet *f, struct record *volume, const struct pvc *pvc) {
    const struct pv *pv = record_as(pv, volume);
    bool reserved = volume_refers(pv, pvc);
    bool whole = reserved && pv->claim && str_same(pv->claim->uid, pvc->meta.uid);
    bool marked = reserved || map_has(pv->meta.annotations, ANN_BOUND_BY_US);
    if (whole && marked)
        return true;
    json_t *obj = record_json(volume);
    if (!whole)
        json_object_set_new(json_object_get(obj, "spec"), "claimRef",
                            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "kind",
                                      "PersistentVolumeClaim", "apiVersion", "v1", "namespace",
                                      pvc->meta.ns, "name", pvc->meta.name, "uid", pvc->meta.uid,
                                      "resourceVersion", pvc->meta.version));
    if (!marked)
        json_object_set_new(annotations_of(obj), ANN_BOUND_BY_US, json_string("yes"));
    return fleet_update(f, f->pvs, NULL, obj, NULL);
}

static bool bind_claim(struct fleet *f, struct record *claim, const char *volume) {
    const struct pvc *pvc = record_as(pvc, claim);
    bool named = str_same(pvc->volume_name, volume);
    if (named && map_has(pvc->meta.annotations, ANN_BIND_COMPLETED))
        return true;
    json_t *obj = record_json(claim);
    json_t *annotations = annotations_of(obj);
    if (!named) {
        json_object_set_new(json_object_get(obj, "spec"), "volumeName", json_string(volume));
        if (!json_object_get(annotations, ANN_BOUND_BY_US))
            json_object_set_new(annotations, ANN_BOUND_BY_US, json_string("yes"));
    }
    if (!json_object_get(annotations, ANN_BIND_COMPLETED))
        json_object_set_new(annotations, ANN_BIND_COMPLETED, json_string("yes"));
    return fleet_update(f, f->pvcs, NULL, obj, NULL);
}

static bool bind(struct fleet *f, struct record *volume, struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    _cleanup_free_ char *name = xstrdup(volume->obj->meta.name);
    if (!bind_volume(f, volume, pvc) || !set_volume_phase(f, name, "Bound", NULL) ||
        !bind_claim(f, claim, name))
        return false;
    const struct record *bound = volume_get(f, name);
    return bound && set_claim_phase(f, pvc->meta.ns, pvc->meta.name, "Bound", bound);
}

/* Two volumes were bound to one claim: this is the one that is let go. */
static bool unbind(struct fleet *f, const char *name) {
    struct record *r = volume_get(f, name);
    json_t *obj = record_json(r);
    json_t *spec = json_object_get(obj, "spec");
    if (map_has(r->obj->meta.annotations, ANN_BOUND_BY_US)) {
        json_object_del(spec, "claimRef");
        json_object_del(annotations_of(obj), ANN_BOUND_BY_US);
    } else { /* reserved by a human: it stays so */
        json_object_del(json_object_get(spec, "claimRef"), "uid");
    }
    return fleet_update(f, f->pvs, NULL, obj, NULL) && set_volume_phase(f, name, "Available", NULL);
}

/* --- claims without a volume --- */

static bool class_waits(const struct fleet *f, const char *class) {
    const struct record *r = class_find(f, class);
    if (!r)
        return false;
    _cleanup_json_ json_t *obj = record_json(r);
    return str_same(json_str(obj, "volumeBindingMode"), "WaitForFirstConsumer");
}

/* The newest class that is marked, and the first by name among those. */
static const char *default_class(const struct snapshot *classes) {
    const struct meta *best = NULL;
    for (size_t i = 0; i < classes->n; i++) {
        const struct meta *m = &classes->items[i]->obj->meta;
        if (!str_same(map_get(m->annotations, "storageclass.kubernetes.io/is-default-class"),
                      "true") &&
            !str_same(map_get(m->annotations, "storageclass.beta.kubernetes.io/is-default-class"),
                      "true"))
            continue;
        if (!best || m->created > best->created)
            best = m;
    }
    return best ? best->name : NULL;
}

/* A claim that was there before there was a default class gets it now. */
static bool give_class(struct fleet *f, const struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    if (claim_class(pvc))
        return false;
    struct snapshot *classes = shelf_snapshot(f->storage_classes->shelf);
    const char *class = default_class(classes);
    json_t *obj = class ? record_json(claim) : NULL;
    json_t *spec = json_object_get(obj, "spec");
    bool given = false;
    if (spec && !json_object_get(spec, "storageClassName")) { /* "" asks for none */
        json_object_set_new(spec, "storageClassName", json_string(class));
        given = fleet_update(f, f->pvcs, NULL, obj, NULL);
    } else {
        json_decref(obj);
    }
    snapshot_unref(classes);
    return given;
}

static void tell_waiting(struct fleet *f, const struct record *claim) {
    const struct meta *m = &claim->obj->meta;
    struct names pods = claim_pods(f, m->ns, m->name);
    _cleanup_str_ struct str list = STR_INIT;
    size_t n = 0;
    for (size_t i = 0; i < pods.len; i++) {
        const struct record *r = shelf_get(f->pods->shelf, m->ns, pods.p[i]);
        const struct pod *pod = record_as(pod, r);
        if (!pod_let_go(pod) && str_empty(pod->node_name))
            str_addf(&list, "%s%s", n++ ? "," : "", pod->meta.name);
    }
    if (n)
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Normal", "WaitForPodScheduled",
                    "waiting for pod%s %s to be scheduled", n > 1 ? "s" : "", str_get(&list));
    else
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Normal", "WaitForFirstConsumer",
                    "waiting for first consumer to be created before binding");
}

/* Provisioners that once were part of Kubernetes, and the drivers that took over. */
static const char *migrated(const char *provisioner) {
    static const char *const rows[][2] = {
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
        {"kubernetes.io/azure-file", "file.csi.azure.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
        {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
        {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (streq(provisioner, rows[i][0]))
            return rows[i][1];
    return provisioner;
}

/* Why the controller itself cannot do what is asked of it, or NULL: somebody else will. */
static char *cannot_provision(const char *provisioner) {
    if (!str_starts(provisioner, "kubernetes.io/"))
        return NULL;
    if (streq(provisioner, HOST_PATH))
        return xasprintf("Failed to create provisioner: provisioning in volume plugin \"%s\" is "
                         "disabled",
                         provisioner);
    if (streq(provisioner, "kubernetes.io/nfs"))
        return xstrdup("no provisionable volume plugin matched");
    return xasprintf("no volume plugin matched name: %s", provisioner);
}

/* Asks whoever serves the claim's class for a volume. */
static bool provision(struct fleet *f, struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    const struct record *class = class_find(f, claim_class(pvc));
    if (!class) {
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Warning", "ProvisioningFailed",
                    "storageclass.storage.k8s.io \"%s\" not found", claim_class(pvc));
        return true;
    }
    _cleanup_json_ json_t *spec = record_json(class);
    const char *provisioner = migrated(strna(json_str(spec, "provisioner")));
    _cleanup_free_ char *why = cannot_provision(provisioner);
    /* The one that it has of its own says no later than those that it does not have. */
    if ((!why || streq(provisioner, HOST_PATH)) &&
        !str_same(map_get(pvc->meta.annotations, ANN_PROVISIONER), provisioner)) {
        json_t *obj = record_json(claim);
        json_object_set_new(annotations_of(obj), ANN_OLD_PROVISIONER, json_string(provisioner));
        json_object_set_new(annotations_of(obj), ANN_PROVISIONER, json_string(provisioner));
        if (!fleet_update(f, f->pvcs, NULL, obj, NULL))
            return false;
    }
    if (why) {
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Warning", "ProvisioningFailed", "%s", why);
        return true;
    }
    struct record *now = claim_get(f, pvc->meta.ns, pvc->meta.name);
    if (now)
        fleet_event(f, CONTROLLER, f->pvcs, now, "Normal", "ExternalProvisioning",
                    "Waiting for a volume to be created either by the external provisioner '%s' or "
                    "manually by the system administrator. If volume creation is delayed, please "
                    "verify that the provisioner is running and correctly registered.",
                    provisioner);
    return true;
}

static bool sync_any_volume(struct fleet *f, struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    bool waits = class_waits(f, claim_class(pvc));
    struct record *volume = volume_match(f, claim, waits);
    if (volume)
        return bind(f, volume, claim);
    if (give_class(f, claim))
        return true; /* the change brings it back */
    if (waits && !map_has(pvc->meta.annotations, ANN_SELECTED_NODE))
        tell_waiting(f, claim);
    else if (!str_empty(claim_class(pvc)))
        return provision(f, claim);
    else
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Normal", "FailedBinding",
                    "no persistent volumes available for this claim and no storage class is set");
    return set_claim_phase(f, pvc->meta.ns, pvc->meta.name, "Pending", NULL);
}

static bool sync_this_volume(struct fleet *f, struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    struct record *volume = volume_get(f, pvc->volume_name);
    const struct pv *pv = volume ? record_as(pv, volume) : NULL;
    if (pv && volume_refers(pv, pvc))
        return bind(f, volume, claim);
    if (pv && !pv->claim) {
        _cleanup_str_ struct str buf = STR_INIT;
        const char *why = volume_mismatch(volume, claim, &buf);
        if (!why)
            return bind(f, volume, claim);
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Warning", "VolumeMismatch",
                    "Cannot bind to requested volume \"%s\": %s", pv->meta.name, why);
    } else if (pv) {
        fleet_event(f, CONTROLLER, f->pvcs, claim, "Warning", "FailedBinding",
                    "volume \"%s\" already bound to a different claim.", pv->meta.name);
    }
    return set_claim_phase(f, pvc->meta.ns, pvc->meta.name, "Pending", NULL);
}

static bool sync_bound_claim(struct fleet *f, struct record *claim) {
    const struct pvc *pvc = record_as(pvc, claim);
    if (str_empty(pvc->volume_name))
        return lose_claim(f, claim, "ClaimLost",
                          "Bound claim has lost reference to PersistentVolume. Data on the volume "
                          "is lost!");
    struct record *volume = volume_get(f, pvc->volume_name);
    if (!volume)
        return lose_claim(f, claim, "ClaimLost",
                          "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    const struct object_ref *ref = record_as(pv, volume)->claim;
    if (ref && !str_same(ref->uid, pvc->meta.uid))
        return lose_claim(f, claim, "ClaimMisbound",
                          "Two claims are bound to the same volume, this one is bound "
                          "incorrectly");
    return bind(f, volume, claim);
}

static bool sync_claim(void *arg, const char *ns, const char *name) {
    struct volumes *v = arg;
    struct fleet *f = v->fleet;
    struct record *r = claim_get(f, ns, name);
    if (!r)
        return true;
    record_ref(r);
    const struct pvc *pvc = record_as(pvc, r);
    bool ok = map_has(pvc->meta.annotations, ANN_BIND_COMPLETED) ? sync_bound_claim(f, r)
              : str_empty(pvc->volume_name)                      ? sync_any_volume(f, r)
                                                                 : sync_this_volume(f, r);
    record_unref(r);
    r = claim_get(f, ns, name);
    if (ok && r && !map_has(r->obj->meta.annotations, ANN_BIND_COMPLETED))
        queue_add_after(v->claims, ns, name, RESYNC);
    return ok;
}

/* --- volumes --- */

/* What the controller has of its own to delete volumes with: HostPath's, for tests. NULL: none is
 * needed, or the volume is gone; else why it is not. */
static char *delete_volume(struct fleet *f, const struct record *r) {
    const struct pv *pv = record_as(pv, r);
    const char *by = map_get(pv->meta.annotations, ANN_PROVISIONED_BY);
    if ((!str_empty(by) && !str_starts(by, "kubernetes.io/")) || pv->csi)
        return NULL; /* its driver's business */
    _cleanup_json_ json_t *obj = record_json(r);
    const json_t *spec = json_object_get(obj, "spec");
    if (!pv->host_path)
        return xasprintf("error getting deleter volume plugin for volume \"%s\": no %svolume "
                         "plugin matched",
                         pv->meta.name, json_object_get(spec, "nfs") ? "deletable " : "");
    const char *path = strna(json_str(json_object_get(spec, "hostPath"), "path"));
    const char *tmp = strstr(path, "/tmp/");
    if (!tmp || !tmp[strlen("/tmp/")])
        return xasprintf("host_path deleter only supports /tmp/.+ but received provided %s", path);
    fleet_delete(f, f->pvs, NULL, pv->meta.name, NULL);
    return NULL;
}

static void reclaim(struct fleet *f, const char *name) {
    struct record *r = volume_get(f, name);
    const struct pv *pv = r ? record_as(pv, r) : NULL;
    if (!pv || str_same(pv->reclaim, "Retain"))
        return;
    if (str_same(pv->reclaim, "Recycle")) {
        _cleanup_json_ json_t *obj = record_json(r);
        if (!pv->host_path && !json_object_get(json_object_get(obj, "spec"), "nfs"))
            fail_volume(f, name, "VolumeFailedRecycle", "No recycler plugin found for the volume!");
        return;
    }
    _cleanup_free_ char *why = delete_volume(f, r);
    if (why)
        fail_volume(f, name, "VolumeFailedDelete", why);
}

static bool release(struct fleet *f, const char *name) {
    const char *phase = record_as(pv, volume_get(f, name))->phase;
    if (!str_same(phase, "Released") && !str_same(phase, "Failed") &&
        !set_volume_phase(f, name, "Released", NULL))
        return false;
    reclaim(f, name);
    return true;
}

/* The claim that the volume is for has none yet: the claim's turn will bind it. */
static void hurry_claim(struct volumes *v, const struct record *volume,
                        const struct record *claim) {
    struct fleet *f = v->fleet;
    const struct meta *m = &claim->obj->meta;
    if (volume_same_mode(record_as(pv, volume), record_as(pvc, claim))) {
        queue_add(v->claims, m->ns, m->name);
        return;
    }
    fleet_event(f, CONTROLLER, f->pvs, volume, "Warning", "VolumeMismatch",
                "Cannot bind PersistentVolume to requested PersistentVolumeClaim \"%s\" due to "
                "incompatible volumeMode.",
                m->name);
    fleet_event(f, CONTROLLER, f->pvcs, claim, "Warning", "VolumeMismatch",
                "Cannot bind PersistentVolume \"%s\" to requested PersistentVolumeClaim due to "
                "incompatible volumeMode.",
                volume->obj->meta.name);
}

static bool sync_volume(void *arg, const char *none, const char *name) {
    struct volumes *v = arg;
    struct fleet *f = v->fleet;
    (void)none;
    struct record *r = volume_get(f, name);
    if (!r)
        return true;
    const struct pv *pv = record_as(pv, r);
    const struct object_ref *ref = pv->claim;
    if (!ref || str_empty(ref->uid))
        return set_volume_phase(f, name, "Available", NULL);
    const struct record *claim = claim_get(f, ref->ns, ref->name);
    const struct pvc *pvc = claim ? record_as(pvc, claim) : NULL;
    if (!pvc || !str_same(pvc->meta.uid, ref->uid))
        return release(f, name);
    if (str_empty(pvc->volume_name)) {
        hurry_claim(v, r, claim);
        return true;
    }
    if (str_same(pvc->volume_name, name))
        return set_volume_phase(f, name, "Bound", NULL);
    /* The claim has another one. */
    if (map_has(pv->meta.annotations, ANN_PROVISIONED_BY) && str_same(pv->reclaim, "Delete"))
        return release(f, name);
    return unbind(f, name);
}

/* --- listening --- */

static void claim_changed(void *arg, const struct change *c) {
    struct volumes *v = arg;
    const struct pvc *pvc = record_as(pvc, c->after);
    if (c->type != CHANGE_DELETED)
        queue_add(v->claims, pvc->meta.ns, pvc->meta.name);
    else if (!str_empty(pvc->volume_name))
        queue_add(v->volumes, NULL, pvc->volume_name);
    else /* one that was made for it meanwhile */
        for (struct names n = claim_volumes(v->fleet, pvc->meta.ns, pvc->meta.name); n.len; n.len--)
            queue_add(v->volumes, NULL, n.p[n.len - 1]);
}

static void volume_changed(void *arg, const struct change *c) {
    struct volumes *v = arg;
    const struct pv *pv = record_as(pv, c->after);
    if (c->type != CHANGE_DELETED)
        queue_add(v->volumes, NULL, pv->meta.name);
    else if (pv->claim)
        queue_add(v->claims, pv->claim->ns, pv->claim->name);
}

static void *start(struct fleet *f) {
    struct volumes *v = xnew(struct volumes);
    v->fleet = f;
    v->claims = queue_new(f->world, MSEC(5), MSEC(50), sync_claim, v);
    v->volumes = queue_new(f->world, MSEC(5), MSEC(50), sync_volume, v);
    shelf_listen(f->pvcs->shelf, claim_changed, v);
    shelf_listen(f->pvs->shelf, volume_changed, v);
    return v;
}

static void stop(void *part) {
    struct volumes *v = part;
    shelf_unlisten(v->fleet->pvcs->shelf, claim_changed, v);
    shelf_unlisten(v->fleet->pvs->shelf, volume_changed, v);
    queue_free(v->claims);
    queue_free(v->volumes);
    free(v);
}

const struct part volumes_part = {CONTROLLER, start, stop};
