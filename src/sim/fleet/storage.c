/* Indexes over pods, claims, volumes and attachments, and the rules about them. */
#include "sim/fleet/storage.h"
#include "sim/fleet/original.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

struct storage {
    struct fleet *fleet;
    struct lists pods;        /* by namespace and claim */
    struct lists volumes;     /* by namespace and claim of their claimRef */
    struct lists free;        /* volumes without one, by class */
    struct lists attachments; /* by volume */
};

static const struct storage *storage_of(const struct fleet *f) {
    for (size_t i = 0; i < f->parts.len; i++)
        if (fleet_parts[i] == &storage_part)
            return f->parts.p[i];
    return NULL;
}

struct names claim_pods(const struct fleet *f, const char *ns, const char *claim) {
    return lists_get(&storage_of(f)->pods, ns, claim);
}
struct names claim_volumes(const struct fleet *f, const char *ns, const char *claim) {
    return lists_get(&storage_of(f)->volumes, ns, claim);
}
struct names free_volumes(const struct fleet *f, const char *class) {
    return lists_get(&storage_of(f)->free, NULL, class);
}
struct names volume_attachments(const struct fleet *f, const char *pv) {
    return lists_get(&storage_of(f)->attachments, NULL, pv);
}

/* --- pods --- */

const char *volume_claim(const struct pod *pod, const struct volume *v,
                         char buf[static CLAIM_NAME_SIZE]) {
    if (v->claim)
        return strna(v->claim->claim);
    if (!v->ephemeral)
        return NULL;
    (void)snprintf(buf, CLAIM_NAME_SIZE, "%s-%s", strna(pod->meta.name), strna(v->name));
    return buf;
}

bool pod_has_claims(const struct pod *pod) {
    const struct volume *list = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(list); i++)
        if (list[i].claim || list[i].ephemeral)
            return true;
    return false;
}

static bool none_runs(const struct container_status *list) {
    for (size_t i = 0; i < list_len(list); i++)
        if (!list[i].state.terminated && !list[i].state.waiting)
            return false;
    return true;
}

bool pod_let_go(const struct pod *pod) {
    return pod_finished(pod) ||
           (pod->meta.deleted && none_runs(pod->init_containers) && none_runs(pod->containers));
}

bool pod_moved(const struct change *c) {
    const struct pod *pod = record_as(pod, c->after);
    if (!pod_has_claims(pod))
        return false;
    if (c->type != CHANGE_MODIFIED)
        return true;
    const struct pod *before = record_as(pod, c->before);
    return before->node_name != pod->node_name || pod_let_go(before) != pod_let_go(pod);
}

bool claim_is_of(const struct pvc *claim, const struct pod *pod) {
    const struct owner *owner = meta_controller(&claim->meta);
    return owner && str_same(owner->uid, pod->meta.uid);
}

/* --- claims and volumes --- */

const char *claim_class(const struct pvc *claim) {
    const char *old = map_get(claim->meta.annotations, BETA_CLASS);
    return old ? old : claim->storage_class;
}

const char *volume_class(const struct pv *volume) {
    const char *old = map_get(volume->meta.annotations, BETA_CLASS);
    return old ? old : volume->storage_class;
}

struct record *claim_volume(const struct fleet *f, const struct pvc *claim) {
    if (!str_same(claim->phase, "Bound") || str_empty(claim->volume_name))
        return NULL;
    struct record *r = shelf_get(f->pvs->shelf, NULL, claim->volume_name);
    const struct object_ref *ref = r ? record_as(pv, r)->claim : NULL;
    return ref && str_same(ref->uid, claim->meta.uid) ? r : NULL;
}

struct record *pod_volume(const struct fleet *f, const struct pod *pod, const struct volume *v) {
    char buf[CLAIM_NAME_SIZE];
    const char *name = volume_claim(pod, v, buf);
    const struct record *r = name ? shelf_get(f->pvcs->shelf, pod->meta.ns, name) : NULL;
    if (!r || (!v->claim && !claim_is_of(record_as(pvc, r), pod)))
        return NULL;
    return claim_volume(f, record_as(pvc, r));
}

bool volume_refers(const struct pv *volume, const struct pvc *claim) {
    const struct object_ref *ref = volume->claim;
    return ref && str_same(ref->name, claim->meta.name) && str_same(ref->ns, claim->meta.ns) &&
           (str_empty(ref->uid) || str_same(ref->uid, claim->meta.uid));
}

bool driver_is_ours(const struct fleet *f, const char *driver) {
    return str_same(driver, DISK_DRIVER) ||
           (f->original && original_driver_attaches(f->original, driver));
}

bool volume_is_disk(const struct fleet *f, const struct pv *volume) {
    return volume->csi && driver_is_ours(f, volume->csi->driver);
}

bool volume_is_shared(const struct pv *volume) {
    const char *const *modes = volume->access_modes;
    for (size_t i = 0; i < list_len(modes); i++)
        if (str_same(modes[i], "ReadWriteMany") || str_same(modes[i], "ReadOnlyMany"))
            return true;
    return !list_len(modes); /* nobody knows: the driver will say */
}

char *disk_name(const struct pv *volume) {
    return xasprintf("kubernetes.io/csi/%s^%s", volume->csi->driver, strna(volume->csi->handle));
}

const char *attachment_name(const struct pv *volume, const char *node,
                            char buf[static ATTACHMENT_NAME_SIZE]) {
    _cleanup_free_ char *text =
        xasprintf("%s%s%s", strna(volume->csi->handle), volume->csi->driver, node);
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!EVP_Digest(text, strlen(text), hash, &n, EVP_sha256(), NULL))
        abort(); /* only when there is no memory */
    size_t at = (size_t)snprintf(buf, ATTACHMENT_NAME_SIZE, "csi-");
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(buf + at, ATTACHMENT_NAME_SIZE - at, "%02x", hash[i]);
    return buf;
}

struct record *class_find(const struct fleet *f, const char *name) {
    return str_empty(name) ? NULL : shelf_get(f->storage_classes->shelf, NULL, name);
}

const struct pair *class_annotations(const struct fleet *f, const char *name) {
    const struct record *r = class_find(f, name);
    return r ? r->obj->meta.annotations : NULL;
}

/* --- writing --- */

bool finalizer_has(const struct meta *m, const char *name) {
    for (size_t i = 0; i < list_len(m->finalizers); i++)
        if (str_same(m->finalizers[i], name))
            return true;
    return false;
}

bool finalizer_add(struct fleet *f, struct resource *res, struct record *r, const char *name) {
    if (finalizer_has(&r->obj->meta, name))
        return true;
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "finalizers");
    if (!list) {
        list = json_array();
        json_object_set_new(meta_of(obj), "finalizers", list);
    }
    json_array_append_new(list, json_string(name));
    return fleet_update(f, res, NULL, obj, NULL);
}

void finalizer_remove(struct fleet *f, struct resource *res, struct record *r, const char *name) {
    if (!finalizer_has(&r->obj->meta, name))
        return;
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i, v) {
        if (str_same(json_string_value(v), name)) {
            json_array_remove(list, i);
            break;
        }
    }
    fleet_update(f, res, NULL, obj, NULL);
}

/* --- the indexes --- */

/* A pod may have a claim under two names. */
static bool named_before(const struct pod *pod, size_t n, const char *claim) {
    for (size_t i = 0; i < n; i++) {
        char buf[CLAIM_NAME_SIZE];
        if (str_same(volume_claim(pod, &pod->spec->volumes[i], buf), claim))
            return true;
    }
    return false;
}

static void pod_changed(void *arg, const struct change *c) {
    struct storage *s = arg;
    const struct pod *pod = record_as(pod, c->after);
    /* The volumes of a pod never change. */
    if (c->type == CHANGE_MODIFIED || !pod->spec)
        return;
    for (size_t i = 0; i < list_len(pod->spec->volumes); i++) {
        char buf[CLAIM_NAME_SIZE];
        const char *claim = volume_claim(pod, &pod->spec->volumes[i], buf);
        if (!claim || named_before(pod, i, claim))
            continue;
        if (c->type == CHANGE_DELETED)
            lists_remove(&s->pods, pod->meta.ns, claim, pod->meta.name);
        else
            lists_add(&s->pods, pod->meta.ns, claim, pod->meta.name);
    }
}

static void volume_changed(void *arg, const struct change *c) {
    struct storage *s = arg;
    const struct pv *was = c->before ? record_as(pv, c->before) : NULL;
    const struct pv *now = c->type == CHANGE_DELETED ? NULL : record_as(pv, c->after);
    /* Equal values of one pool have one address. */
    if (was && now && was->claim == now->claim && was->storage_class == now->storage_class &&
        was->meta.annotations == now->meta.annotations)
        return;
    if (was && was->claim)
        lists_remove(&s->volumes, was->claim->ns, was->claim->name, was->meta.name);
    else if (was)
        lists_remove(&s->free, NULL, volume_class(was), was->meta.name);
    if (now && now->claim)
        lists_add(&s->volumes, now->claim->ns, now->claim->name, now->meta.name);
    else if (now)
        lists_add(&s->free, NULL, volume_class(now), now->meta.name);
}

static void attachment_changed(void *arg, const struct change *c) {
    struct storage *s = arg;
    const struct volume_attachment *a = record_as(volume_attachment, c->after);
    if (c->type == CHANGE_DELETED)
        lists_remove(&s->attachments, NULL, a->pv, a->meta.name);
    else if (c->type == CHANGE_ADDED)
        lists_add(&s->attachments, NULL, a->pv, a->meta.name);
}

static void *start(struct fleet *f) {
    struct storage *s = xnew(struct storage);
    s->fleet = f;
    lists_init(&s->pods, f->world->pool);
    lists_init(&s->volumes, f->world->pool);
    lists_init(&s->free, f->world->pool);
    lists_init(&s->attachments, f->world->pool);
    shelf_listen(f->pods->shelf, pod_changed, s);
    shelf_listen(f->pvs->shelf, volume_changed, s);
    shelf_listen(f->attachments->shelf, attachment_changed, s);
    return s;
}

static void stop(void *part) {
    struct storage *s = part;
    struct fleet *f = s->fleet;
    shelf_unlisten(f->pods->shelf, pod_changed, s);
    shelf_unlisten(f->pvs->shelf, volume_changed, s);
    shelf_unlisten(f->attachments->shelf, attachment_changed, s);
    lists_done(&s->pods);
    lists_done(&s->volumes);
    lists_done(&s->free);
    lists_done(&s->attachments);
    free(s);
}

const struct part storage_part = {"storage", start, stop};
