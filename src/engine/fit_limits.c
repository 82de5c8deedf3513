/* How many volumes a CSI driver can attach to a node (NodeVolumeLimits): those of the pods that are
 * there, each once, and what is attached beside these. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_internal.h"

/* --- the picture --- */

static uint32_t attachment_hash(const void *entry) {
    return ((const struct fit_attachment *)entry)->hash;
}

static bool attachment_equal(const void *entry, const void *key) {
    return str_same(((const struct fit_attachment *)entry)->name, key);
}

void fit_limits_init(struct fit *f) {
    static const struct htab_ops ops = {attachment_hash, attachment_equal};
    htab_init(&f->attachments, &ops);
}

static void set_drivers(struct fit *f, const char *name, const struct csi_node_driver *drivers) {
    struct fit_node *n = fit_node_get(f, name);
    pool_ref(drivers);
    pool_unref(f->pool, n->drivers);
    n->drivers = drivers;
    n->limited = false;
    for (size_t i = 0; i < list_len(drivers); i++)
        n->limited |= drivers[i].count != ABSENT32;
    fit_node_put(f, n);
}

void fit_put_csi_node(struct fit *f, const struct csi_node *node) {
    if (node->meta.name)
        set_drivers(f, node->meta.name, node->drivers);
}

void fit_remove_csi_node(struct fit *f, const char *name) {
    set_drivers(f, name, NULL);
}

void fit_remove_attachment(struct fit *f, const char *name) {
    struct fit_attachment *a =
        htab_find(&f->attachments, fit_hash_name(f, NULL, name), strna(name));
    if (!a)
        return;
    struct fit_node *n = a->node;
    fit_vec_drop(&n->attached, a->node_at);
    if (a->node_at < n->attached.len)
        n->attached.p[a->node_at]->node_at = a->node_at;
    htab_remove(&f->attachments, a->hash, a->name);
    pool_unref(f->pool, a->name);
    pool_unref(f->pool, a->driver);
    pool_unref(f->pool, a->volume);
    free(a);
    fit_node_put(f, n);
}

void fit_put_attachment(struct fit *f, const struct volume_attachment *va) {
    const char *name = va->meta.name;
    if (!name)
        return;
    const struct fit_attachment *old =
        htab_find(&f->attachments, fit_hash_name(f, NULL, name), name);
    if (old && old->driver == va->attacher && old->volume == va->pv &&
        str_same(old->node->meta.name, va->node_name))
        return;
    struct fit_attachment *a = xnew(struct fit_attachment);
    a->name = pool_ref(name);
    a->driver = pool_ref(va->attacher);
    a->volume = pool_ref(va->pv);
    fit_remove_attachment(f, name); /* what the two have in common has a reference by now */
    if (str_empty(va->node_name) || str_empty(va->attacher) || str_empty(va->pv)) {
        pool_unref(f->pool, a->name);
        pool_unref(f->pool, a->driver);
        pool_unref(f->pool, a->volume);
        free(a);
        return;
    }
    a->hash = fit_hash_name(f, NULL, name);
    a->node = fit_node_get(f, va->node_name);
    a->node_at = (uint32_t)a->node->attached.len;
    *vec_push(&a->node->attached) = a;
    htab_insert(&f->attachments, a);
}

void fit_limits_done(struct fit *f) {
    _cleanup_free_ void **all = fit_entries(&f->attachments);
    for (size_t i = 0; all[i]; i++)
        fit_remove_attachment(f, ((struct fit_attachment *)all[i])->name);
    _cleanup_free_ void **nodes = fit_entries(&f->names);
    for (size_t i = 0; nodes[i]; i++)
        fit_remove_csi_node(f, ((struct fit_node *)nodes[i])->meta.name);
    htab_done(&f->attachments);
    vec_done(&f->handles);
}

/* --- volumes --- */

/* Provisioners from before CSI, which the scheduler takes for the drivers that do their work (the
 * plugins of k8s.io/csi-translation-lib that isCSIMigrationOn() knows). */
const char *fit_driver_of(const char *provisioner) {
    static const char *const moved[][2] = {
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
        {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
    };
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (str_same(provisioner, moved[i][0]))
            return moved[i][1];
    return provisioner;
}

/* A volume that has yet to be made is one more, and known by its claim. */
static struct fit_handle handle_of(const struct fit *f, const struct fit_claim *c) {
    const struct fit_volume *v = c->volume ? fit_volume_find(f, c->volume) : NULL;
    if (v)
        return v->csi ? (struct fit_handle){v->csi->driver, v->csi->handle}
                      : (struct fit_handle){0};
    const struct fit_storage *s = str_empty(c->class) ? NULL : fit_storage_find(f, c->class);
    return s && s->known ? (struct fit_handle){s->driver, c} : (struct fit_handle){0};
}

static void add(fit_handles *to, struct fit_handle h) {
    if (!str_empty(h.driver) && h.volume)
        *vec_push(to) = h;
}

static void add_volumes(const struct fit *f, const char *ns, const char *pod,
                        const struct pod_spec *spec, fit_handles *to) {
    const struct volume *list = fit_spec(spec)->volumes;
    for (size_t i = 0; i < list_len(list); i++) {
        _cleanup_free_ char *own = !list[i].claim && list[i].ephemeral
                                       ? xasprintf("%s-%s", strna(pod), strna(list[i].name))
                                       : NULL;
        const char *name = list[i].claim ? strna(list[i].claim->claim) : own;
        const struct fit_claim *c = name ? fit_claim_find(f, ns, name) : NULL;
        if (c && c->known)
            add(to, handle_of(f, c));
    }
}

static int compare(const void *a, const void *b) {
    const struct fit_handle *x = a, *y = b;
    if (x->driver != y->driver)
        return (uintptr_t)x->driver < (uintptr_t)y->driver ? -1 : 1;
    if (x->volume != y->volume)
        return (uintptr_t)x->volume < (uintptr_t)y->volume ? -1 : 1;
    return 0;
}

/* Equal ones have equal addresses: each once. */
static void make_set(fit_handles *all) {
    size_t n = 0;
    if (all->len > 1)
        qsort(all->p, all->len, sizeof all->p[0], compare);
    for (size_t i = 0; i < all->len; i++)
        if (!n || compare(&all->p[n - 1], &all->p[i]))
            all->p[n++] = all->p[i];
    all->len = n;
}

static bool has(const struct fit_handle *set, size_t n, const struct fit_handle *h) {
    return n && bsearch(h, set, n, sizeof *set, compare);
}

void fit_ask_limits(struct fit *f, struct fit_ask *ask) {
    ask->handles.len = 0;
    add_volumes(f, ask->pod->meta.ns, ask->pod->meta.name, ask->spec, &ask->handles);
    make_set(&ask->handles);
}

/* --- whether a node will do --- */

/* What the node's pods use, as a set; then, behind it, what is attached and none of them uses. */
static size_t collect(struct fit *f, const struct fit_node *node) {
    fit_handles *all = &f->handles;
    all->len = 0;
    for (size_t i = 0; i < node->claimants.len; i++) {
        const struct fit_pod *p = node->claimants.p[i];
        add_volumes(f, p->ns, p->name, p->cohort->shape->spec, all);
    }
    make_set(all);
    size_t n = all->len;
    for (size_t i = 0; i < node->attached.len; i++) {
        const struct fit_attachment *a = node->attached.p[i];
        const struct fit_volume *v = fit_volume_find(f, a->volume);
        struct fit_handle h = {a->driver, v && v->csi ? v->csi->handle : NULL};
        bool twice = has(all->p, n, &h);
        for (size_t k = n; !twice && k < all->len; k++)
            twice = !compare(&all->p[k], &h);
        if (!twice)
            add(all, h);
    }
    return n;
}

static int64_t count(const struct fit_handle *list, size_t n, const char *driver) {
    int64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += list[i].driver == driver;
    return all;
}

bool fit_check_limits(struct fit *f, struct fit_ask *ask, const struct fit_node *node) {
    if (!ask->handles.len || !node->limited)
        return true;
    size_t used = collect(f, node);
    for (size_t i = 0; i < list_len(node->drivers); i++) {
        const struct csi_node_driver *d = &node->drivers[i];
        int64_t more = 0;
        if (d->count == ABSENT32)
            continue;
        /* What is attached and used by no pod counts twice when the pod has it: as it does there.
         */
        for (size_t k = 0; k < ask->handles.len; k++)
            more +=
                ask->handles.p[k].driver == d->name && !has(f->handles.p, used, &ask->handles.p[k]);
        if (more && count(f->handles.p, f->handles.len, d->name) + more > d->count)
            return fit_no(ask, FIT_VOLUME_COUNT, NULL);
    }
    return true;
}
