/* The controller that has volumes attached to the nodes whose pods use them, and detached
 * elsewhere. By pkg/controller/volume/attachdetach: what pods want is compared with what is known
 * to be attached, detachments go first, and a volume that its node still has mounted is left there
 * unless the node is out of service, or has not been well for six minutes. */
#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"

#define CONTROLLER "attachdetach-controller"

#define LOOP_PERIOD    MSEC(100) /* ReconcilerLoopPeriod */
#define UNMOUNT_MOST   SEC(360)  /* ReconcilerMaxWaitForUnmountDuration */
#define OPERATION_MOST SEC(120)  /* csiTimeout: of waiting for the driver */
#define RETRY_FIRST    MSEC(500) /* exponentialbackoff */
#define RETRY_MAX      SEC(122)

#define OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

enum operation { OP_NONE, OP_ATTACH, OP_DETACH };

/* A volume and a node. */
struct link {
    struct disk *disk;
    char *node;
    char name[ATTACHMENT_NAME_SIZE];
    bool wanted;    /* a pod on the node uses it */
    bool known;     /* it may be attached there: something was begun that was not undone */
    bool confirmed; /* it is */
    bool mounted;   /* says the node, or nobody has said otherwise */
    bool told;      /* its pods know that another node has it */
    enum operation op;
    int64_t op_end;    /* when the operation has taken too long */
    int64_t detach_at; /* since when it should be detached; 0: it should not */
    int64_t retry_at, backoff;
};

/* A volume that is wanted or attached somewhere. */
struct disk {
    uint32_t hash;
    char *pv;
    char *name; /* as Nodes call it */
    VEC(struct link *) links;
};

struct attach {
    struct fleet *fleet;
    struct queue *queue; /* of volumes */
    struct htab disks;
    struct lists by_node; /* volumes */
};

/* --- disks and links --- */

static uint32_t disk_hash(const void *entry) {
    return ((const struct disk *)entry)->hash;
}
static bool disk_equal(const void *entry, const void *pv) {
    return streq(((const struct disk *)entry)->pv, pv);
}
static const struct htab_ops disk_ops = {disk_hash, disk_equal};

static uint32_t hash_of(const struct attach *a, const char *pv) {
    return hash_more(pool_seed(a->fleet->world->pool), pv, strlen(pv));
}

static struct disk *disk_find(const struct attach *a, const char *pv) {
    return htab_find(&a->disks, hash_of(a, pv), pv);
}

static struct disk *disk_get(struct attach *a, const struct pv *pv) {
    struct disk *d = disk_find(a, pv->meta.name);
    if (d)
        return d;
    d = xnew(struct disk);
    d->hash = hash_of(a, pv->meta.name);
    d->pv = xstrdup(pv->meta.name);
    d->name = disk_name(pv);
    htab_insert(&a->disks, d);
    return d;
}

static struct link *link_find(const struct disk *d, const char *node) {
    for (size_t i = 0; d && i < d->links.len; i++)
        if (streq(d->links.p[i]->node, node))
            return d->links.p[i];
    return NULL;
}

static struct link *link_get(struct attach *a, const struct pv *pv, const char *node) {
    struct disk *d = disk_get(a, pv);
    struct link *l = link_find(d, node);
    if (l)
        return l;
    l = xnew(struct link);
    l->disk = d;
    l->node = xstrdup(node);
    attachment_name(pv, node, l->name);
    *vec_push(&d->links) = l;
    lists_add(&a->by_node, NULL, node, d->pv);
    return l;
}

static void link_free(struct link *l) {
    free(l->node);
    free(l);
}

static void disk_free(struct disk *d) {
    for (size_t i = 0; i < d->links.len; i++)
        link_free(d->links.p[i]);
    vec_done(&d->links);
    free(d->pv);
    free(d->name);
    free(d);
}

/* Forgets what is neither wanted nor there. */
static void prune(struct attach *a, struct disk *d) {
    size_t n = 0;
    for (size_t i = 0; i < d->links.len; i++) {
        struct link *l = d->links.p[i];
        if (l->wanted || l->known || l->op) {
            d->links.p[n++] = l;
            continue;
        }
        lists_remove(&a->by_node, NULL, l->node, d->pv);
        link_free(l);
    }
    d->links.len = n;
    if (!n) {
        htab_remove(&a->disks, d->hash, d->pv);
        disk_free(d);
    }
}

/* --- Nodes --- */

static struct record *node_get(const struct fleet *f, const char *name) {
    return shelf_get(f->nodes->shelf, NULL, name);
}

static bool is_ready(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    return c && str_same(c->c.status, "True");
}

static bool is_out_of_service(const struct node *node) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].key, OUT_OF_SERVICE))
            return true;
    return false;
}

static bool is_in_use(const struct node *node, const char *disk) {
    for (size_t i = 0; i < list_len(node->volumes_in_use); i++)
        if (str_same(node->volumes_in_use[i], disk))
            return true;
    return false;
}

static bool is_reported(const struct node *node, const char *disk) {
    for (size_t i = 0; i < list_len(node->volumes_attached); i++)
        if (str_same(node->volumes_attached[i].name, disk))
            return true;
    return false;
}

/* Says in the Node's status that the volume is attached, or no longer: the kubelet goes by it. */
static void report(struct fleet *f, const struct link *l, bool attached) {
    const char *disk = l->disk->name;
    struct record *r = node_get(f, l->node);
    if (!r || is_reported(record_as(node, r), disk) == attached)
        return;
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *status = json_deep_copy(json_object_get(obj, "status"));
    json_t *list = json_object_get(status, "volumesAttached"), *kept = json_array(), *v;
    size_t i;
    json_array_foreach(list, i, v) if (!str_same(json_str(v, "name"), disk))
        json_array_append(kept, v);
    if (attached)
        json_array_append_new(kept, json_pack("{s:s, s:s}", "name", disk, "devicePath", ""));
    if (json_array_size(kept))
        json_object_set(status, "volumesAttached", kept);
    else
        json_object_del(status, "volumesAttached");
    json_decref(kept);
    fleet_put_status(f, f->nodes, r, status);
}

/* --- pods --- */

/* The pods of a volume that has a claim: for (size_t i = 0; (pod = user(...)); i++). Only those
 * that still need it and are on a node. */
static const struct record *user(const struct fleet *f, const struct object_ref *claim, size_t *i) {
    struct names pods = claim_pods(f, claim->ns, claim->name);
    while (*i < pods.len) {
        const struct record *r = shelf_get(f->pods->shelf, claim->ns, pods.p[(*i)++]);
        const struct pod *pod = record_as(pod, r);
        if (!str_empty(pod->node_name) && !pod_let_go(pod))
            return r;
    }
    return NULL;
}

static void tell_pods(struct fleet *f, const struct object_ref *claim, const char *node,
                      const char *type, const char *reason, const char *message) {
    const struct record *r;
    for (size_t i = 0; (r = user(f, claim, &i));)
        if (streq(record_as(pod, r)->node_name, node))
            fleet_event(f, CONTROLLER, f->pods, r, type, reason, "%s", message);
}

/* --- what an operation has come to --- */

static void give_up(struct link *l, int64_t now) {
    l->op = OP_NONE;
    if (!l->known)
        l->mounted = true; /* until proven otherwise */
    l->known = true;
    l->confirmed = false;
    l->backoff = l->backoff ? MIN_OF(l->backoff * 2, RETRY_MAX) : RETRY_FIRST;
    l->retry_at = now + l->backoff;
}

static void see_attached(struct fleet *f, struct link *l, const struct pv *pv,
                         const struct volume_attachment *va) {
    int64_t now = f->world->clock.now;
    _cleanup_free_ char *why = NULL;
    if (va && va->meta.deleted)
        why = xstrdup("volume attachment is being deleted");
    else if (va && va->attached)
        why = NULL;
    else if (va && va->attach_error)
        why = xstrdup(strna(va->attach_error->message));
    else if (now >= l->op_end)
        why = xasprintf(
            "timed out waiting for external-attacher of %s CSI driver to attach volume %s",
            pv ? pv->csi->driver : DISK_DRIVER, pv ? strna(pv->csi->handle) : "");
    else
        return;
    const struct object_ref *claim = pv ? pv->claim : NULL;
    _cleanup_free_ char *message =
        why ? xasprintf("AttachVolume.Attach failed for volume \"%s\" : %s", l->disk->pv, why)
            : xasprintf("AttachVolume.Attach succeeded for volume \"%s\" ", l->disk->pv);
    if (why) {
        give_up(l, now);
    } else {
        l->op = OP_NONE;
        l->mounted = !l->known || l->mounted;
        l->known = l->confirmed = true;
        l->backoff = l->retry_at = 0;
        report(f, l, true);
    }
    if (claim)
        tell_pods(f, claim, l->node, why ? "Warning" : "Normal",
                  why ? "FailedAttachVolume" : "SuccessfulAttachVolume", message);
}

static void see_detached(struct fleet *f, struct link *l, const struct volume_attachment *va) {
    if (!va) {
        l->op = OP_NONE;
        l->known = l->confirmed = l->mounted = false;
        l->detach_at = l->retry_at = l->backoff = 0;
    } else if (va->detach_error || f->world->clock.now >= l->op_end) {
        give_up(l, f->world->clock.now);
    }
}

static void see(struct fleet *f, struct link *l, const struct pv *pv) {
    const struct record *r = shelf_get(f->attachments->shelf, NULL, l->name);
    const struct volume_attachment *va = r ? record_as(volume_attachment, r) : NULL;
    if (l->op == OP_ATTACH) {
        see_attached(f, l, pv, va);
    } else if (l->op == OP_DETACH) {
        see_detached(f, l, va);
    } else if (l->confirmed && (!va || !va->attached)) {
        /* Somebody took it away. */
        l->known = l->confirmed = l->mounted = false;
        report(f, l, false);
    }
}

/* --- what to do --- */

/* For one node alone there is one operation at a time. */
static bool is_busy(const struct link *l, bool shared) {
    const struct disk *d = l->disk;
    for (size_t i = 0; i < d->links.len; i++)
        if (d->links.p[i]->op && (d->links.p[i] == l || !shared))
            return true;
    return false;
}

static void begin(struct fleet *f, struct link *l, enum operation op) {
    l->op = op;
    l->op_end = f->world->clock.now + OPERATION_MOST;
}

static void detach(struct fleet *f, struct link *l, bool shared) {
    int64_t now = f->world->clock.now;
    if (is_busy(l, shared) || now < l->retry_at)
        return;
    if (!l->detach_at)
        l->detach_at = now;
    const struct record *r = node_get(f, l->node);
    const struct node *node = r ? record_as(node, r) : NULL;
    bool force = !(node && is_ready(node)) && now - l->detach_at > UNMOUNT_MOST;
    if (l->mounted && !force && !(node && is_out_of_service(node)))
        return;
    report(f, l, false);
    begin(f, l, OP_DETACH);
    if (shelf_get(f->attachments->shelf, NULL, l->name))
        fleet_delete(f, f->attachments, NULL, l->name, NULL);
    see(f, l, NULL);
}

/* The nodes that the volume is on, when it should come to another. */
static bool is_elsewhere(const struct link *l) {
    const struct disk *d = l->disk;
    for (size_t i = 0; i < d->links.len; i++)
        if (d->links.p[i] != l && d->links.p[i]->confirmed)
            return true;
    return false;
}

static void tell_elsewhere(struct fleet *f, struct link *l, const struct pv *pv) {
    if (!pv)
        return;
    _cleanup_str_ struct str pods = STR_INIT, message = STR_INIT;
    const struct record *r;
    for (size_t i = 0; (r = user(f, pv->claim, &i));) {
        const struct link *other = link_find(l->disk, record_as(pod, r)->node_name);
        if (other && other != l && other->confirmed)
            str_addf(&pods, "%s%s", pods.len ? ", " : "", r->obj->meta.name);
    }
    str_addf(&message, "Multi-Attach error for volume \"%s\" ", l->disk->pv);
    if (pods.len)
        str_addf(&message, "Volume is already used by pod(s) %s", str_get(&pods));
    else
        str_add(&message, "Volume is already exclusively attached to one node and can't be "
                          "attached to another");
    tell_pods(f, pv->claim, l->node, "Warning", "FailedAttachVolume", str_get(&message));
    l->told = true;
}

static void attach(struct fleet *f, struct link *l, const struct pv *pv) {
    bool shared = volume_is_shared(pv);
    if (is_busy(l, shared))
        return;
    if (l->confirmed) {
        l->detach_at = 0;
        report(f, l, true); /* a Node that came back has lost it */
        return;
    }
    if (!shared && is_elsewhere(l)) {
        if (!l->told)
            tell_elsewhere(f, l, pv);
        return;
    }
    if (f->world->clock.now < l->retry_at)
        return;
    begin(f, l, OP_ATTACH);
    if (!shelf_get(f->attachments->shelf, NULL, l->name))
        record_unref(fleet_create(f, f->attachments, NULL,
                                  json_pack("{s:{s:s}, s:{s:s, s:s, s:{s:s}}}", "metadata", "name",
                                            l->name, "spec", "attacher",
                                            pv ? pv->csi->driver : DISK_DRIVER, "nodeName", l->node,
                                            "source", "persistentVolumeName", l->disk->pv),
                                  NULL));
    see(f, l, pv);
}

/* Which nodes want the volume. */
static void mark_wanted(struct attach *a, const struct pv *pv, const char *name) {
    struct fleet *f = a->fleet;
    struct disk *d = disk_find(a, name);
    for (size_t i = 0; d && i < d->links.len; i++)
        d->links.p[i]->wanted = false;
    const struct record *claim = pv && pv->claim && volume_is_disk(f, pv)
                                     ? shelf_get(f->pvcs->shelf, pv->claim->ns, pv->claim->name)
                                     : NULL;
    if (claim) {
        const struct record *bound = claim_volume(f, record_as(pvc, claim));
        if (!bound || !streq(bound->obj->meta.name, name))
            claim = NULL;
    }
    const struct record *r;
    for (size_t i = 0; claim && (r = user(f, pv->claim, &i));) {
        const char *node = record_as(pod, r)->node_name;
        /* A node that is not known (any more) gets nothing new. */
        if (node_get(f, node) || link_find(disk_find(a, name), node))
            link_get(a, pv, node)->wanted = true;
    }
    d = disk_find(a, name);
    for (size_t i = 0; d && i < d->links.len; i++)
        if (!d->links.p[i]->wanted)
            d->links.p[i]->told = false;
}

/* When the volume must be looked at again although nothing changes. */
static int64_t next_look(const struct fleet *f, const struct disk *d) {
    int64_t next = INT64_MAX, now = f->world->clock.now;
    for (size_t i = 0; i < d->links.len; i++) {
        const struct link *l = d->links.p[i];
        if (l->op)
            next = MIN_OF(next, l->op_end);
        else if (l->retry_at > now)
            next = MIN_OF(next, l->retry_at);
        if (l->detach_at && !l->wanted && l->mounted && now <= l->detach_at + UNMOUNT_MOST)
            next = MIN_OF(next, l->detach_at + UNMOUNT_MOST + 1);
    }
    return next;
}

static bool sync(void *arg, const char *none, const char *name) {
    struct attach *a = arg;
    struct fleet *f = a->fleet;
    (void)none;
    struct record *r = shelf_get(f->pvs->shelf, NULL, name);
    if (r)
        record_ref(r);
    const struct pv *pv = r ? record_as(pv, r) : NULL;
    mark_wanted(a, pv, name);
    struct disk *d = disk_find(a, name);
    bool shared = pv && volume_is_shared(pv);
    for (size_t i = 0; d && i < d->links.len; i++)
        see(f, d->links.p[i], pv);
    for (size_t i = 0; d && i < d->links.len; i++)
        if (d->links.p[i]->known && !d->links.p[i]->wanted)
            detach(f, d->links.p[i], shared);
    for (size_t i = 0; d && i < d->links.len; i++)
        if (d->links.p[i]->wanted)
            attach(f, d->links.p[i], pv);
    int64_t next = d ? next_look(f, d) : INT64_MAX;
    if (next != INT64_MAX)
        queue_add_after(a->queue, NULL, name, MAX_OF(next - f->world->clock.now, 0));
    if (d)
        prune(a, d);
    if (r)
        record_unref(r);
    return true;
}

/* --- listening --- */

static void pod_changed(void *arg, const struct change *c) {
    struct attach *a = arg;
    struct fleet *f = a->fleet;
    const struct pod *pod = record_as(pod, c->after);
    if (str_empty(pod->node_name) || !pod_moved(c))
        return;
    for (size_t i = 0; i < list_len(pod->spec->volumes); i++) {
        char buf[CLAIM_NAME_SIZE];
        const char *claim = volume_claim(pod, &pod->spec->volumes[i], buf);
        const struct record *r = claim ? shelf_get(f->pvcs->shelf, pod->meta.ns, claim) : NULL;
        const char *volume = r ? record_as(pvc, r)->volume_name : NULL;
        struct names known = claim ? claim_volumes(f, pod->meta.ns, claim) : (struct names){0};
        if (volume)
            queue_add(a->queue, NULL, volume);
        else /* a claim that went before its pod */
            for (size_t k = 0; k < known.len; k++)
                queue_add(a->queue, NULL, known.p[k]);
    }
}

static void claim_changed(void *arg, const struct change *c) {
    struct attach *a = arg;
    const struct pvc *pvc = record_as(pvc, c->after);
    if (!str_empty(pvc->volume_name))
        queue_add(a->queue, NULL, pvc->volume_name);
}

static void volume_changed(void *arg, const struct change *c) {
    struct attach *a = arg;
    const struct pv *pv = record_as(pv, c->after);
    if (volume_is_disk(a->fleet, pv))
        queue_add(a->queue, NULL, pv->meta.name);
}

/* One that was there before us, as in a cluster that was loaded. */
static void adopt(struct attach *a, const struct volume_attachment *va) {
    struct fleet *f = a->fleet;
    const struct record *r = shelf_get(f->pvs->shelf, NULL, va->pv);
    const struct pv *pv = r ? record_as(pv, r) : NULL;
    char name[ATTACHMENT_NAME_SIZE];
    if (!pv || !volume_is_disk(f, pv) || link_find(disk_find(a, va->pv), va->node_name) ||
        !streq(attachment_name(pv, va->node_name, name), va->meta.name))
        return;
    struct link *l = link_get(a, pv, va->node_name);
    l->known = l->mounted = true;
    l->confirmed = va->attached;
}

static void attachment_changed(void *arg, const struct change *c) {
    struct attach *a = arg;
    const struct volume_attachment *va = record_as(volume_attachment, c->after);
    if (!driver_is_ours(a->fleet, va->attacher) || str_empty(va->pv))
        return;
    if (c->type == CHANGE_ADDED)
        adopt(a, va);
    queue_add(a->queue, NULL, va->pv);
}

static void node_changed(void *arg, const struct change *c) {
    struct attach *a = arg;
    const char *name = c->after->obj->meta.name;
    struct names volumes = lists_get(&a->by_node, NULL, name);
    /* Of a Node that is gone the last word counts. */
    const struct record *r = c->type == CHANGE_DELETED ? c->after : node_get(a->fleet, name);
    if (!volumes.len || !r)
        return;
    const struct node *node = record_as(node, r);
    const struct node *before = c->before ? record_as(node, c->before) : NULL;
    bool matters = c->type != CHANGE_MODIFIED || !before || before->taints != node->taints ||
                   is_ready(before) != is_ready(node);
    for (size_t i = 0; i < volumes.len; i++) {
        struct link *l = link_find(disk_find(a, volumes.p[i]), name);
        bool mounted = is_in_use(node, l->disk->name);
        if (matters || mounted != l->mounted)
            queue_add(a->queue, NULL, volumes.p[i]);
        l->mounted = mounted;
    }
}

static void *start(struct fleet *f) {
    struct attach *a = xnew(struct attach);
    a->fleet = f;
    htab_init(&a->disks, &disk_ops);
    lists_init(&a->by_node, f->world->pool);
    a->queue = queue_new(f->world, 0, LOOP_PERIOD, sync, a);
    shelf_listen(f->pods->shelf, pod_changed, a);
    shelf_listen(f->pvcs->shelf, claim_changed, a);
    shelf_listen(f->pvs->shelf, volume_changed, a);
    shelf_listen(f->attachments->shelf, attachment_changed, a);
    shelf_listen(f->nodes->shelf, node_changed, a);
    return a;
}

static void stop(void *part) {
    struct attach *a = part;
    struct fleet *f = a->fleet;
    shelf_unlisten(f->pods->shelf, pod_changed, a);
    shelf_unlisten(f->pvcs->shelf, claim_changed, a);
    shelf_unlisten(f->pvs->shelf, volume_changed, a);
    shelf_unlisten(f->attachments->shelf, attachment_changed, a);
    shelf_unlisten(f->nodes->shelf, node_changed, a);
    queue_free(a->queue);
    struct disk *d;
    for (uint32_t i = 0; (d = htab_next(&a->disks, &i));)
        disk_free(d);
    htab_done(&a->disks);
    lists_done(&a->by_node);
    free(a);
}

const struct part attach_part = {CONTROLLER, start, stop};
