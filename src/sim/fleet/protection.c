/* Protection of what is used: a claim that is deleted stays until no pod uses it, a volume until it
 * is not bound. Both have a finalizer from their first moment; here it is taken away. By
 * pkg/controller/volume/pvcprotection and pvprotection. */
#include "sim/fleet/parts.h"
#include "sim/fleet/storage.h"

#define CLAIM_FINALIZER  "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

struct protection {
    struct fleet *fleet;
    struct queue *claims, *volumes;
};

/* The kubelet is done with it, or somebody deleted it by force. */
static bool shut_down(const struct pod *pod) {
    return pod->meta.deleted && pod->meta.deletion_grace == 0;
}

/* A pod that was not scheduled will not start with a claim that is being deleted. One that was
 * counts even when it has ended: as long as it is there, its claim is. */
static bool uses(const struct pod *pod, const struct pvc *claim) {
    if (str_empty(pod->node_name))
        return false;
    for (size_t i = 0; i < list_len(pod->spec->volumes); i++) {
        const struct volume *v = &pod->spec->volumes[i];
        char buf[CLAIM_NAME_SIZE];
        if (!str_same(volume_claim(pod, v, buf), claim->meta.name))
            continue;
        if (v->claim || (!shut_down(pod) && claim_is_of(claim, pod)))
            return true;
    }
    return false;
}

static bool is_used(const struct fleet *f, const struct pvc *claim) {
    struct names pods = claim_pods(f, claim->meta.ns, claim->meta.name);
    for (size_t i = 0; i < pods.len; i++) {
        const struct record *r = shelf_get(f->pods->shelf, claim->meta.ns, pods.p[i]);
        if (uses(record_as(pod, r), claim))
            return true;
    }
    return false;
}

static bool sync_claim(void *arg, const char *ns, const char *name) {
    struct protection *p = arg;
    struct fleet *f = p->fleet;
    struct record *r = shelf_get(f->pvcs->shelf, ns, name);
    if (!r)
        return true;
    if (!r->obj->meta.deleted)
        return finalizer_add(f, f->pvcs, r, CLAIM_FINALIZER);
    if (!is_used(f, record_as(pvc, r)))
        finalizer_remove(f, f->pvcs, r, CLAIM_FINALIZER);
    return true;
}

static bool sync_volume(void *arg, const char *none, const char *name) {
    struct protection *p = arg;
    struct fleet *f = p->fleet;
    (void)none;
    struct record *r = shelf_get(f->pvs->shelf, NULL, name);
    if (!r)
        return true;
    if (!r->obj->meta.deleted)
        return finalizer_add(f, f->pvs, r, VOLUME_FINALIZER);
    if (!str_same(record_as(pv, r)->phase, "Bound"))
        finalizer_remove(f, f->pvs, r, VOLUME_FINALIZER);
    return true;
}

/* Deleted and still protected, or the other way round. */
static bool needs_look(const struct meta *m, const char *finalizer) {
    return (m->deleted != 0) == finalizer_has(m, finalizer);
}

static void claim_changed(void *arg, const struct change *c) {
    struct protection *p = arg;
    const struct meta *m = &c->after->obj->meta;
    if (c->type != CHANGE_DELETED && needs_look(m, CLAIM_FINALIZER))
        queue_add(p->claims, m->ns, m->name);
}

static void volume_changed(void *arg, const struct change *c) {
    struct protection *p = arg;
    const struct meta *m = &c->after->obj->meta;
    if (c->type != CHANGE_DELETED && needs_look(m, VOLUME_FINALIZER))
        queue_add(p->volumes, NULL, m->name);
}

static void pod_changed(void *arg, const struct change *c) {
    struct protection *p = arg;
    struct fleet *f = p->fleet;
    const struct pod *pod = record_as(pod, c->after);
    if (c->type != CHANGE_DELETED && !shut_down(pod))
        return;
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++) {
        char buf[CLAIM_NAME_SIZE];
        const char *claim = volume_claim(pod, &pod->spec->volumes[i], buf);
        const struct record *r = claim ? shelf_get(f->pvcs->shelf, pod->meta.ns, claim) : NULL;
        if (r && r->obj->meta.deleted)
            queue_add(p->claims, pod->meta.ns, claim);
    }
}

static void *start(struct fleet *f) {
    struct protection *p = xnew(struct protection);
    p->fleet = f;
    p->claims = queue_new(f->world, MSEC(5), MSEC(50), sync_claim, p);
    p->volumes = queue_new(f->world, MSEC(5), MSEC(50), sync_volume, p);
    shelf_listen(f->pvcs->shelf, claim_changed, p);
    shelf_listen(f->pvs->shelf, volume_changed, p);
    shelf_listen(f->pods->shelf, pod_changed, p);
    return p;
}

static void stop(void *part) {
    struct protection *p = part;
    struct fleet *f = p->fleet;
    shelf_unlisten(f->pvcs->shelf, claim_changed, p);
    shelf_unlisten(f->pvs->shelf, volume_changed, p);
    shelf_unlisten(f->pods->shelf, pod_changed, p);
    queue_free(p->claims);
    queue_free(p->volumes);
    free(p);
}

const struct part protection_part = {"pvc-protection-controller", start, stop};
