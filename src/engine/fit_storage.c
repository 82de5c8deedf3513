/* The picture of the storage: volumes, claims and storage classes, and which pods use which claim.
 */
#include <string.h>

#include "engine/fit_internal.h"

static const char class_annotation[] = "volume.beta.kubernetes.io/storage-class";

struct name {
    const char *ns, *name;
};

static uint32_t claim_hash(const void *entry) {
    return ((const struct fit_claim *)entry)->hash;
}

static bool claim_equal(const void *entry, const void *key_) {
    const struct fit_claim *c = entry;
    const struct name *key = key_;
    return str_same(c->name, key->name) && str_same(c->ns, key->ns);
}

static uint32_t volume_hash(const void *entry) {
    return ((const struct fit_volume *)entry)->hash;
}

static bool volume_equal(const void *entry, const void *key) {
    return str_same(((const struct fit_volume *)entry)->name, key);
}

static uint32_t storage_hash(const void *entry) {
    return ((const struct fit_storage *)entry)->hash;
}

static bool storage_equal(const void *entry, const void *key) {
    return str_same(((const struct fit_storage *)entry)->name, key);
}

void fit_storage_init(struct fit *f) {
    static const struct htab_ops claim_ops = {claim_hash, claim_equal};
    static const struct htab_ops volume_ops = {volume_hash, volume_equal};
    static const struct htab_ops storage_ops = {storage_hash, storage_equal};
    htab_init(&f->claims, &claim_ops);
    htab_init(&f->volumes, &volume_ops);
    htab_init(&f->storages, &storage_ops);
}

static const char *intern(struct fit *f, const char *s) {
    return pool_str(f->pool, strna(s), strlen(strna(s)));
}

/* The class in the annotation of old goes before the one in the spec. A new reference. */
static const char *class_of(struct fit *f, const struct meta *meta, const char *class) {
    const char *old = map_get(meta->annotations, class_annotation);
    return old ? intern(f, old) : pool_ref(class);
}

/* --- classes --- */

const struct fit_storage *fit_storage_find(const struct fit *f, const char *name) {
    return htab_find(&f->storages, fit_hash_name(f, NULL, name), strna(name));
}

static struct fit_storage *storage_get(struct fit *f, const char *name) {
    uint32_t hash = fit_hash_name(f, NULL, name);
    struct fit_storage *s = htab_find(&f->storages, hash, strna(name));
    if (s)
        return s;
    s = xnew(struct fit_storage);
    s->name = intern(f, name);
    s->hash = hash;
    htab_insert(&f->storages, s);
    return s;
}

static void storage_put(struct fit *f, struct fit_storage *s) {
    if (s->known || s->free.len)
        return;
    htab_remove(&f->storages, s->hash, strna(s->name));
    pool_unref(f->pool, s->name);
    vec_done(&s->free);
    free(s);
}

void fit_put_class(struct fit *f, const struct fit_class *class) {
    struct fit_storage *s = storage_get(f, class->name);
    pool_ref(class->topologies);
    pool_unref(f->pool, s->topologies);
    s->topologies = class->topologies;
    const char *driver = intern(f, fit_driver_of(class->provisioner));
    pool_unref(f->pool, s->driver);
    s->driver = driver;
    s->waits = class->waits;
    s->provisions = class->provisions;
    s->known = true;
}

void fit_remove_class(struct fit *f, const char *name) {
    struct fit_storage *s = storage_get(f, name);
    pool_unref(f->pool, s->topologies);
    pool_unref(f->pool, s->driver);
    s->topologies = NULL;
    s->driver = NULL;
    s->known = s->waits = s->provisions = false;
    storage_put(f, s);
}

/* --- claims --- */

struct fit_claim *fit_claim_find(const struct fit *f, const char *ns, const char *name) {
    struct name key = {ns, name};
    return htab_find(&f->claims, fit_hash_name(f, ns, name), &key);
}

static struct fit_claim *claim_get(struct fit *f, const char *ns, const char *name) {
    struct fit_claim *c = fit_claim_find(f, ns, name);
    if (c)
        return c;
    c = xnew(struct fit_claim);
    c->ns = intern(f, ns);
    c->name = intern(f, name);
    c->hash = fit_hash_name(f, ns, name);
    htab_insert(&f->claims, c);
    return c;
}

static void claim_put(struct fit *f, struct fit_claim *c) {
    struct name key = {c->ns, c->name};
    if (c->known || c->users || c->volumes.len)
        return;
    htab_remove(&f->claims, c->hash, &key);
    pool_unref(f->pool, c->ns);
    pool_unref(f->pool, c->name);
    vec_done(&c->volumes);
    free(c);
}

static void claim_clear(struct fit *f, struct fit_claim *c) {
    const void *refs[] = {c->uid,  c->class,  c->volume,       c->mode,
                          c->node, c->owners, c->access_modes, c->selector};
    for (size_t i = 0; i < ARRAY_LEN(refs); i++)
        pool_unref(f->pool, refs[i]);
    *c = (struct fit_claim){
        .ns = c->ns, .name = c->name, .hash = c->hash, .users = c->users, .volumes = c->volumes};
}

static bool has_mode(const char *const *modes, const char *mode) {
    for (size_t i = 0; i < list_len(modes); i++)
        if (str_same(modes[i], mode))
            return true;
    return false;
}

void fit_put_claim(struct fit *f, const struct pvc *pvc) {
    if (!pvc->meta.name)
        return;
    struct fit_claim *c = claim_get(f, pvc->meta.ns, pvc->meta.name), old = *c;
    c->uid = pool_ref(pvc->meta.uid);
    c->class = class_of(f, &pvc->meta, pvc->storage_class);
    c->volume = pool_ref(pvc->volume_name);
    c->mode = pool_ref(pvc->volume_mode);
    c->node = intern(f, map_get(pvc->meta.annotations, "volume.kubernetes.io/selected-node"));
    c->owners = pool_ref(pvc->meta.owners);
    c->access_modes = pool_ref(pvc->access_modes);
    c->selector = pool_ref(pvc->selector);
    c->size = map_qty(pvc->resources.requests, "storage");
    c->bound =
        pvc->volume_name && map_has(pvc->meta.annotations, "pv.kubernetes.io/bind-completed");
    c->lost = str_same(pvc->phase, "Lost");
    c->leaving = pvc->meta.deleted;
    c->once_pod = has_mode(pvc->access_modes, "ReadWriteOncePod");
    c->known = true;
    claim_clear(f, &old);
}

void fit_remove_claim(struct fit *f, const char *ns, const char *name) {
    struct fit_claim *c = fit_claim_find(f, ns, name);
    if (!c)
        return;
    claim_clear(f, c);
    claim_put(f, c);
}

void fit_claims_use(struct fit *f, const char *ns, const struct pod_spec *spec, int sign) {
    const struct volume *list = fit_spec(spec)->volumes;
    for (size_t i = 0; i < list_len(list); i++) {
        if (!list[i].claim)
            continue;
        struct fit_claim *c = claim_get(f, ns, list[i].claim->claim);
        c->users += (uint32_t)sign;
        claim_put(f, c);
    }
}

/* --- volumes --- */

const struct fit_volume *fit_volume_find(const struct fit *f, const char *name) {
    return htab_find(&f->volumes, fit_hash_name(f, NULL, name), strna(name));
}

static void forget(fit_volumes *list, const struct fit_volume *v) {
    for (size_t i = 0; i < list->len; i++) {
        if (list->p[i] == v) {
            fit_vec_drop(list, i);
            return;
        }
    }
}

static void volume_unlink(struct fit *f, struct fit_volume *v) {
    if (v->claim) {
        forget(&v->claim->volumes, v);
        claim_put(f, v->claim);
    }
    if (v->storage) {
        forget(&v->storage->free, v);
        storage_put(f, v->storage);
    }
    v->claim = NULL;
    v->storage = NULL;
}

static void volume_link(struct fit *f, struct fit_volume *v) {
    if (v->ref) {
        v->claim = claim_get(f, v->ref->ns, v->ref->name);
        *vec_push(&v->claim->volumes) = v;
    } else {
        v->storage = storage_get(f, v->class);
        *vec_push(&v->storage->free) = v;
    }
}

static void volume_release(struct fit *f, const struct fit_volume *v) {
    const void *refs[] = {v->class,        v->mode,     v->phase, v->labels,
                          v->access_modes, v->affinity, v->ref,   v->csi};
    for (size_t i = 0; i < ARRAY_LEN(refs); i++)
        pool_unref(f->pool, refs[i]);
}

void fit_put_volume(struct fit *f, const struct pv *pv) {
    const char *name = pv->meta.name;
    if (!name)
        return;
    uint32_t hash = fit_hash_name(f, NULL, name);
    struct fit_volume *v = htab_find(&f->volumes, hash, name), old = {0};
    if (v) {
        old = *v;
        volume_unlink(f, v);
    } else {
        v = xnew(struct fit_volume);
        v->name = pool_ref(name);
        v->hash = hash;
        htab_insert(&f->volumes, v);
    }
    v->class = class_of(f, &pv->meta, pv->storage_class);
    v->mode = pool_ref(pv->volume_mode);
    v->phase = pool_ref(pv->phase);
    v->labels = pool_ref(pv->meta.labels);
    v->access_modes = pool_ref(pv->access_modes);
    v->affinity = pool_ref(pv->affinity);
    v->ref = pool_ref(pv->claim);
    v->csi = pool_ref(pv->csi);
    v->size = map_qty(pv->capacity, "storage");
    v->leaving = pv->meta.deleted;
    volume_link(f, v);
    volume_release(f, &old);
}

void fit_remove_volume(struct fit *f, const char *name) {
    struct fit_volume *v = htab_find(&f->volumes, fit_hash_name(f, NULL, name), strna(name));
    if (!v)
        return;
    volume_unlink(f, v);
    htab_remove(&f->volumes, v->hash, v->name);
    volume_release(f, v);
    pool_unref(f->pool, v->name);
    free(v);
}

/* --- life cycle --- */

void fit_storage_done(struct fit *f) {
    _cleanup_free_ void **volumes = fit_entries(&f->volumes);
    for (size_t i = 0; volumes[i]; i++)
        fit_remove_volume(f, ((struct fit_volume *)volumes[i])->name);
    _cleanup_free_ void **claims = fit_entries(&f->claims);
    for (size_t i = 0; claims[i]; i++)
        fit_remove_claim(f, ((struct fit_claim *)claims[i])->ns,
                         ((struct fit_claim *)claims[i])->name);
    _cleanup_free_ void **storages = fit_entries(&f->storages);
    for (size_t i = 0; storages[i]; i++)
        fit_remove_class(f, ((struct fit_storage *)storages[i])->name);
    htab_done(&f->volumes);
    htab_done(&f->claims);
    htab_done(&f->storages);
}
