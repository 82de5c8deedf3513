/* The driver's attacher: does what VolumeAttachments ask for. By kubernetes-csi's
 * external-attacher: a call of the driver that takes longer than fifteen seconds has failed, says
 * the attachment, and is made again after a back-off, while the driver goes on in the background.
 */
#include "sim/fleet/machine.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"

#define FINALIZER ATTACHER_FINALIZER
#define NODE_ID   "csi.alpha.kubernetes.io/node-id"

/* Its own numbers: --timeout, --retry-interval-start and -max. */
#define CALL_MOST   SEC(15)
#define RETRY_FIRST SEC(1)
#define RETRY_MAX   SEC(300)

#define TAKES_MIN MSEC(500)
#define TAKES_MAX SEC(3)

#define TIMED_OUT "rpc error: code = DeadlineExceeded desc = context deadline exceeded"

enum phase {
    PHASE_NEW,
    PHASE_CALL, /* the driver is at it, until the alarm rings */
    PHASE_REST, /* between two calls, until the alarm rings */
};

/* What the driver does for one attachment. */
struct op {
    struct attacher *all;
    uint32_t hash;
    char *name;
    bool detach;
    enum phase phase;
    int64_t ready; /* when the driver will have done it; INT64_MAX: never */
    int64_t backoff;
    struct alarm alarm;
};

struct attacher {
    struct fleet *fleet;
    struct queue *queue, *volumes;
    struct htab ops;
};

static uint32_t op_hash(const void *entry) {
    return ((const struct op *)entry)->hash;
}
static bool op_equal(const void *entry, const void *name) {
    return streq(((const struct op *)entry)->name, name);
}
static const struct htab_ops op_ops = {op_hash, op_equal};

static uint32_t hash_of(const struct attacher *a, const char *name) {
    return hash_more(pool_seed(a->fleet->world->pool), name, strlen(name));
}

static struct op *op_find(const struct attacher *a, const char *name) {
    return htab_find(&a->ops, hash_of(a, name), name);
}

static struct op *op_new(struct attacher *a, const char *name) {
    struct op *op = xnew(struct op);
    op->all = a;
    op->hash = hash_of(a, name);
    op->name = xstrdup(name);
    htab_insert(&a->ops, op);
    return op;
}

static void op_free(struct op *op) {
    clock_stop(&op->all->fleet->world->clock, &op->alarm);
    free(op->name);
    free(op);
}

static void op_end(struct op *op) {
    htab_remove(&op->all->ops, op->hash, op->name);
    op_free(op);
}

/* --- the attachment --- */

static struct record *attachment_get(const struct fleet *f, const char *name) {
    return shelf_get(f->attachments->shelf, NULL, name);
}

static void save_error(struct fleet *f, const char *name, const char *key, const char *message) {
    char now[TIMEFMT_LEN];
    json_t *obj = record_json(attachment_get(f, name));
    json_t *status = json_object_get(obj, "status");
    if (!status) {
        status = json_object();
        json_object_set_new(obj, "status", status);
    }
    json_object_set_new(status, key,
                        json_pack("{s:s, s:s}", "message", message, "time",
                                  time_format(f->world->clock.now, false, now)));
    fleet_update(f, f->attachments, "status", obj, NULL);
}

static void mark_attached(struct fleet *f, const char *name) {
    json_t *obj = record_json(attachment_get(f, name));
    json_object_set_new(obj, "status", json_pack("{s:b}", "attached", 1));
    fleet_update(f, f->attachments, "status", obj, NULL);
}

/* Both objects are to stay until the disk is off the node for certain. */
static bool prepare(struct fleet *f, const char *name, struct record *volume) {
    if (!finalizer_add(f, f->pvs, volume, FINALIZER))
        return false;
    struct record *r = attachment_get(f, name);
    if (!r || !finalizer_add(f, f->attachments, r, FINALIZER))
        return false;
    r = attachment_get(f, name);
    const char *node = record_as(volume_attachment, r)->node_name;
    return str_same(map_get(r->obj->meta.annotations, NODE_ID), node) ||
           fleet_set_meta(f, f->attachments, r, "annotations", NODE_ID, node);
}

/* The node that has the disk already, where only one may. */
static const char *holder(const struct fleet *f, const struct volume_attachment *a,
                          const struct pv *pv) {
    struct names list = volume_attachments(f, a->pv);
    for (size_t i = 0; !volume_is_shared(pv) && i < list.len; i++) {
        const struct record *r = attachment_get(f, list.p[i]);
        const struct volume_attachment *other = record_as(volume_attachment, r);
        if (other->attached && !str_same(other->node_name, a->node_name))
            return other->node_name;
    }
    return NULL;
}

/* --- calls --- */

static void call(struct op *op);

static void rested(void *arg) {
    struct op *op = arg;
    op->phase = PHASE_NEW;
    queue_add(op->all->queue, NULL, op->name);
}

static void fail_call(struct op *op, const char *message) {
    struct fleet *f = op->all->fleet;
    op->phase = PHASE_REST;
    op->backoff = op->backoff ? MIN_OF(op->backoff * 2, RETRY_MAX) : RETRY_FIRST;
    clock_set(&f->world->clock, &op->alarm, f->world->clock.now + op->backoff, rested, op);
    save_error(f, op->name, op->detach ? "detachError" : "attachError", message);
}

static void called(void *arg) {
    struct op *op = arg;
    struct fleet *f = op->all->fleet;
    struct record *r = attachment_get(f, op->name);
    if (!r) {
        op_end(op);
        return;
    }
    if (op->ready > f->world->clock.now) {
        fail_call(op, TIMED_OUT);
        return;
    }
    if (op->detach) {
        op_end(op);
        finalizer_remove(f, f->attachments, r, FINALIZER);
        return;
    }
    const struct volume_attachment *a = record_as(volume_attachment, r);
    const struct record *volume = shelf_get(f->pvs->shelf, NULL, strna(a->pv));
    const char *other = volume ? holder(f, a, record_as(pv, volume)) : NULL;
    if (other) {
        _cleanup_free_ char *why =
            xasprintf("rpc error: code = FailedPrecondition desc = disk %s is attached to node %s",
                      strna(record_as(pv, volume)->csi->handle), other);
        fail_call(op, why);
        return;
    }
    _cleanup_free_ char *name = xstrdup(op->name);
    op_end(op);
    mark_attached(f, name);
}

static void call(struct op *op) {
    struct fleet *f = op->all->fleet;
    const struct volume_attachment *a = record_as(volume_attachment, attachment_get(f, op->name));
    const struct record *r = shelf_get(f->pvs->shelf, NULL, strna(a->pv));
    int64_t now = f->world->clock.now;
    if (!op->ready || op->ready == INT64_MAX) {
        const struct pair *own = map_has(a->meta.annotations, SIM_ANNOTATION "detach")
                                     ? a->meta.annotations /* of one that was stuck elsewhere */
                                 : r ? r->obj->meta.annotations
                                     : NULL;
        int64_t takes =
            machine_delay(f, own, r ? class_annotations(f, volume_class(record_as(pv, r))) : NULL,
                          op->detach ? "detach" : "attach", TAKES_MIN, TAKES_MAX, NULL);
        op->ready = takes == INT64_MAX ? INT64_MAX : now + takes;
    }
    op->phase = PHASE_CALL;
    clock_set(&f->world->clock, &op->alarm, MIN_OF(MAX_OF(op->ready, now), now + CALL_MOST), called,
              op);
}

/* What the attachment asks for, unless that is under way. */
static bool sync(void *arg, const char *none, const char *name) {
    struct attacher *all = arg;
    struct fleet *f = all->fleet;
    (void)none;
    struct record *r = attachment_get(f, name);
    struct op *op = op_find(all, name);
    const struct volume_attachment *a = r ? record_as(volume_attachment, r) : NULL;
    bool detach = a && a->meta.deleted;
    if (!a || (detach ? !finalizer_has(&a->meta, FINALIZER) : a->attached)) {
        if (op)
            op_end(op);
        return true;
    }
    if (op && op->detach != detach) {
        op_end(op);
        op = NULL;
    }
    if (!op) {
        op = op_new(all, name);
        op->detach = detach;
    }
    if (op->phase != PHASE_NEW)
        return true;
    struct record *volume = shelf_get(f->pvs->shelf, NULL, strna(a->pv));
    if (!volume || !volume_is_disk(f, record_as(pv, volume))) {
        _cleanup_free_ char *why =
            volume ? xstrdup("pv spec contained non-csi source that was not migrated")
                   : xasprintf("persistentvolume \"%s\" not found", strna(a->pv));
        fail_call(op, why);
    } else if (!detach && volume->obj->meta.deleted) {
        _cleanup_free_ char *why =
            xasprintf("PersistentVolume \"%s\" is marked for deletion", a->pv);
        fail_call(op, why);
    } else if (detach || prepare(f, name, volume)) {
        call(op);
    } else {
        return false;
    }
    return true;
}

/* A volume that is deleted and attached nowhere may go. */
static bool sync_volume(void *arg, const char *none, const char *name) {
    struct attacher *all = arg;
    struct fleet *f = all->fleet;
    (void)none;
    struct record *r = shelf_get(f->pvs->shelf, NULL, name);
    if (r && r->obj->meta.deleted && !volume_attachments(f, name).len)
        finalizer_remove(f, f->pvs, r, FINALIZER);
    return true;
}

/* --- listening --- */

static void attachment_changed(void *arg, const struct change *c) {
    struct attacher *all = arg;
    const struct volume_attachment *a = record_as(volume_attachment, c->after);
    if (!driver_is_ours(all->fleet, a->attacher))
        return;
    queue_add(all->queue, NULL, a->meta.name);
    if (c->type == CHANGE_DELETED && !str_empty(a->pv))
        queue_add(all->volumes, NULL, a->pv);
}

/* What would never have ended may do so now: the annotations say how long it takes. */
static void wake(struct attacher *all, const char *volume) {
    struct names list = volume_attachments(all->fleet, volume);
    for (size_t i = 0; i < list.len; i++) {
        struct op *op = op_find(all, list.p[i]);
        if (!op || op->ready != INT64_MAX || op->phase == PHASE_NEW)
            continue;
        clock_stop(&all->fleet->world->clock, &op->alarm);
        op->phase = PHASE_NEW;
        queue_add(all->queue, NULL, op->name);
    }
}

static void volume_changed(void *arg, const struct change *c) {
    struct attacher *all = arg;
    const struct meta *m = &c->after->obj->meta;
    if (c->type == CHANGE_DELETED)
        return;
    if (c->before && c->before->obj->meta.annotations != m->annotations)
        wake(all, m->name);
    if (m->deleted && finalizer_has(m, FINALIZER))
        queue_add(all->volumes, NULL, m->name);
}

static void class_changed(void *arg, const struct change *c) {
    struct attacher *all = arg;
    struct fleet *f = all->fleet;
    if (!c->before || c->before->obj->meta.annotations == c->after->obj->meta.annotations)
        return;
    struct snapshot *snap = shelf_snapshot(f->attachments->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct volume_attachment *a = record_as(volume_attachment, snap->items[i]);
        const struct record *r = shelf_get(f->pvs->shelf, NULL, strna(a->pv));
        if (r && str_same(volume_class(record_as(pv, r)), c->after->obj->meta.name))
            wake(all, a->pv);
    }
    snapshot_unref(snap);
}

static void *start(struct fleet *f) {
    struct attacher *all = xnew(struct attacher);
    all->fleet = f;
    htab_init(&all->ops, &op_ops);
    all->queue = queue_new(f->world, MSEC(5), MSEC(50), sync, all);
    all->volumes = queue_new(f->world, MSEC(5), MSEC(50), sync_volume, all);
    shelf_listen(f->attachments->shelf, attachment_changed, all);
    shelf_listen(f->pvs->shelf, volume_changed, all);
    shelf_listen(f->storage_classes->shelf, class_changed, all);
    return all;
}

static void stop(void *part) {
    struct attacher *all = part;
    struct fleet *f = all->fleet;
    shelf_unlisten(f->attachments->shelf, attachment_changed, all);
    shelf_unlisten(f->pvs->shelf, volume_changed, all);
    shelf_unlisten(f->storage_classes->shelf, class_changed, all);
    queue_free(all->queue);
    queue_free(all->volumes);
    struct op *op;
    for (uint32_t i = 0; (op = htab_next(&all->ops, &i));)
        op_free(op);
    htab_done(&all->ops);
    free(all);
}

const struct part attacher_part = {"external-attacher", start, stop};
