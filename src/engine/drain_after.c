/* What a drain waits for after the last pod: volumes that detach, owners that are well again. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/podrole.h"

enum {
    OWNER_ASK_MS = 1000, /* between two looks at an owner that is not watched */
    /* So long after the last of its pods was told to go no status of an owner is believed: what has
     * changed in it may be of the pods before. */
    OWNER_HEARS_MS = 1000,
    OWNER_SETTLE = 10, /* seconds after which an owner's unchanged status is believed */
};

/* --- volumes --- */

enum use { USED, UNUSED, USE_UNKNOWN };

/* Claims of pods that stay on the node: their volumes stay, too. */
static enum use use_of(struct drain *d, struct dnode *n, const char *pv,
                       const struct lookup **unread) {
    size_t count;
    enum use use = UNUSED;
    const struct pod *const *list = cluster_pods_on(d->cluster, n->pub.name, &count);
    for (size_t i = 0; i < count; i++) {
        const struct volume *v = list[i]->spec ? list[i]->spec->volumes : NULL;
        for (size_t k = 0; k < list_len(v); k++) {
            if (!v[k].claim && !v[k].ephemeral)
                continue;
            _cleanup_free_ char *claim =
                v[k].ephemeral ? xasprintf("%s-%s", list[i]->meta.name, strna(v[k].name))
                               : xstrdup(strna(v[k].claim->claim));
            const struct lookup *l = cluster_look(d->cluster, &kind_pvc, list[i]->meta.ns, claim);
            if (l->known == KNOWN_NOT_YET) {
                *unread = l;
                use = USE_UNKNOWN;
            }
            /* What cannot be read is taken to be the one: we do not wait for ever for it. */
            if (l->known == KNOWN_NEVER)
                return USED;
            if (l->known == KNOWN_THERE && pv &&
                str_same(((const struct pvc *)l->obj)->volume_name, pv))
                return USED;
        }
    }
    return use;
}

static unsigned volumes_of_staying(struct drain *d, struct dnode *n) {
    size_t count;
    unsigned volumes = 0;
    const struct pod *const *list = cluster_pods_on(d->cluster, n->pub.name, &count);
    for (size_t i = 0; i < count; i++) {
        const struct volume *v = list[i]->spec ? list[i]->spec->volumes : NULL;
        for (size_t k = 0; k < list_len(v); k++)
            volumes += v[k].claim || v[k].ephemeral;
    }
    return volumes;
}

static bool time_is_over(struct drain *d, struct dnode *n) {
    if (n->detach_over)
        return true;
    if (!d->opts.detach_timeout)
        return false;
    int64_t due = n->phase_at + d->opts.detach_timeout;
    if (d->now.mono < due) {
        drain_wake(d, due);
        return false;
    }
    n->detach_over = true;
    drain_tell(d, NOTE_REMARK, n, NULL,
               "volumes are still attached; --volume-detach-timeout has passed, going on");
    return true;
}

/* The first by name of those that must go and have not. `*unread`: a claim that has to be read
 * before it can be said of all. */
static const struct volume_attachment *still_attached(struct drain *d, struct dnode *n,
                                                      const struct lookup **unread) {
    const struct volume_attachment *first = NULL;
    if (!d->cluster->attachments_known)
        return NULL;
    size_t count;
    const struct volume_attachment *const *list =
        cluster_attached_to(d->cluster, n->pub.name, &count);
    for (size_t i = 0; i < count; i++) {
        /* One that was never attached has nothing to lose. */
        if (!list[i]->attached || (first && strcmp(first->meta.name, list[i]->meta.name) < 0))
            continue;
        if (use_of(d, n, list[i]->pv, unread) == UNUSED)
            first = list[i];
    }
    return first;
}

/* Nobody waits silently for a server that does not answer. */
static void say_unread(struct drain *d, struct dnode *n, const struct lookup *l) {
    _cleanup_free_ char *name = drain_full_name(l->ns, l->name);
    if (l->failures)
        drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, l->kind->name, name, "it cannot be read: %s",
                         strna(l->why));
}

bool drain_volumes_gone(struct drain *d, struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    if (time_is_over(d, n))
        return true;
    const struct lookup *unread = NULL;
    bool listed = !n->had_volumes || !d->cluster->attachments_known ||
                  drain_confirm(d, n, &n->volumes_list, &kind_volume_attachment);
    const struct volume_attachment *va = still_attached(d, n, &unread);
    if (va) {
        drain_node_block(d, n, BLOCKER_VOLUME_ATTACHED, "VolumeAttachment", va->meta.name,
                         "volume %s is still attached%s%s", strna(va->pv),
                         va->detach_error ? ": " : "",
                         va->detach_error ? strna(va->detach_error->message) : "");
        return false;
    }
    if (unread) {
        say_unread(d, n, unread);
        return false;
    }
    if (!listed) {
        drain_confirm_block(d, n, &n->volumes_list, &kind_volume_attachment);
        return false;
    }
    size_t in_use = list_len(node->volumes_in_use);
    if (in_use > volumes_of_staying(d, n)) {
        drain_node_block(d, n, BLOCKER_VOLUME_ATTACHED, "Node", n->pub.name,
                         "the kubelet still uses %zu volumes, %s for instance", in_use,
                         node->volumes_in_use[0]);
        return false;
    }
    return true;
}

/* --- owners --- */

/* The kind of an owner that says how many of its pods are available; NULL: none. */
static const struct kind *kind_of(const struct downer *o) {
    if (!str_same(o->api_version, "apps/v1"))
        return NULL;
    return str_same(o->kind, "ReplicaSet")    ? &kind_replica_set
           : str_same(o->kind, "StatefulSet") ? &kind_stateful_set
                                              : NULL;
}

static void health_of(const struct kind *kind, const struct object *obj, int32_t *wanted,
                      int32_t *available) {
    if (kind == &kind_replica_set) {
        const struct replica_set *r = (const struct replica_set *)obj;
        *wanted = r->replicas == ABSENT32 ? 1 : r->replicas;
        *available = r->observed_generation >= r->meta.generation ? r->available : -1;
    } else {
        const struct stateful_set *s = (const struct stateful_set *)obj;
        *wanted = s->replicas == ABSENT32 ? 1 : s->replicas;
        /* Those that are available may be on their way out; those of a revision are not. */
        bool rolling = !str_same(s->current_revision, s->update_revision);
        int32_t stay = rolling ? s->current + s->updated : s->updated;
        *available = s->observed_generation >= s->meta.generation ? MIN_OF(s->available, stay) : -1;
    }
}

/* What is known of it now; nobody waits for more. */
static void keep_version(struct drain *d, struct downer *o) {
    const struct kind *kind = kind_of(o);
    const struct object *obj = kind ? cluster_peek(d->cluster, kind, o->ns, o->name) : NULL;
    str_replace(&o->version, obj ? obj->meta.version : NULL);
}

void drain_owner_comes(struct drain *d, const struct downer *o) {
    const struct kind *kind = kind_of(o);
    if (kind && d->opts.wait_rescheduled)
        cluster_refresh(d->cluster, kind, o->ns, o->name);
}

void drain_owner_loses(struct drain *d, struct downer *o) {
    keep_version(d, o);
    o->lost = d->now.mono;
}

/* It was asked for when its pods were found, and the answer may come after the eviction's: whatever
 * it says, the status that tells of the replacement is a later one. */
bool drain_owners_unseen(const struct dnode *n) {
    for (size_t i = 0; i < n->owners.len; i++)
        if (n->owners.p[i].evicted && !n->owners.p[i].version && kind_of(&n->owners.p[i]))
            return true;
    return false;
}

void drain_owners_see(struct drain *d, struct dnode *n) {
    for (size_t i = 0; d->opts.wait_rescheduled && i < n->owners.len; i++)
        if (n->owners.p[i].evicted && !n->owners.p[i].version)
            keep_version(d, &n->owners.p[i]);
}

void drain_owner_left(struct drain *d, struct downer *o) {
    o->left = d->now.mono;
    o->asked = false;
    if (!str_same(o->kind, "StatefulSet"))
        return;
    /* The successor has its name, and cannot exist before. */
    if (d->cluster->owners_watched)
        keep_version(d, o);
    else
        mem_clear(&o->version);
}

/* Asks for an owner that nobody watches, now and then. */
static void ask(struct drain *d, struct dnode *n, const struct kind *kind, struct downer *o) {
    if (d->cluster->owners_watched || (o->asked && d->now.mono < n->not_before))
        return;
    cluster_refresh(d->cluster, kind, o->ns, o->name);
    o->asked = true;
    n->not_before = d->now.mono + MSEC(OWNER_ASK_MS);
}

/* Pods of it that other nodes have told to go later than this one. Its replicas are alike: those
 * that are missing are these, first of all, and the nodes wait for them that they left last. As
 * many as are missing are always waited for, and no node waits for ever because others go on. */
static int32_t lost_later(const struct drain *d, const struct dnode *n, const struct downer *o) {
    int32_t later = 0;
    bool after = false;
    for (size_t i = 0; i < d->nodes.len; i++) {
        struct dnode *other = d->nodes.p[i];
        after |= other == n;
        if (other == n || drain_ended(other->pub.phase))
            continue;
        const struct downer *its = drain_owner(other, o->uid);
        if (its && its->evicted && (its->lost > o->lost || (its->lost == o->lost && after)))
            later += (int32_t)its->evicted;
    }
    return later;
}

/* Whether the successor of a pod can only run on the very node that the pod has left, which takes
 * no pods now. False while that is not known: it is looked at again when it was read. */
static bool is_homebound(struct drain *d, const struct dpod *p) {
    bool bound = p->one_node;
    for (size_t i = 0; !bound && i < p->claims.len; i++) {
        const struct lookup *l = cluster_look(d->cluster, &kind_pvc, p->pub.ns, p->claims.p[i]);
        const struct pvc *claim = l->known == KNOWN_THERE ? (const struct pvc *)l->obj : NULL;
        if (!claim || str_empty(claim->volume_name))
            continue;
        l = cluster_look(d->cluster, &kind_pv, NULL, claim->volume_name);
        bound = l->known == KNOWN_THERE && volume_is_local((const struct pv *)l->obj);
    }
    return bound;
}

/* Of the pods that this owner has lost here. */
static int32_t count_homebound(struct drain *d, const struct dnode *n, const struct downer *o) {
    int32_t count = 0;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct dpod *p = n->pods.p[i];
        if (p->lost && str_same(p->owner_uid, o->uid))
            count += is_homebound(d, p);
    }
    return count;
}

static void say_unwell(struct drain *d, struct dnode *n, const struct downer *o, int32_t wanted,
                       int32_t available) {
    _cleanup_free_ char *name = drain_full_name(o->ns, o->name);
    if (available >= wanted)
        drain_node_block(d, n, BLOCKER_NOT_RESCHEDULED, o->kind, name,
                         "its status is not of after the eviction yet");
    else
        drain_node_block(d, n, BLOCKER_NOT_RESCHEDULED, o->kind, name,
                         "%d of %d replicas are available", MAX_OF(available, 0), wanted);
}

/* Well again: all replicas available but those that others have taken and those that can only come
 * back here, in a status that was written after its pod left. With `says` the node waits for it. */
static bool is_well(struct drain *d, struct dnode *n, struct downer *o, bool says) {
    const struct kind *kind = kind_of(o);
    if (!o->evicted || !kind)
        return true;
    const struct lookup *l = cluster_look(d->cluster, kind, o->ns, o->name);
    _cleanup_free_ char *name = drain_full_name(o->ns, o->name);
    if (l->known == KNOWN_NOT_YET) {
        if (l->failures && says)
            drain_node_block(d, n, BLOCKER_NOT_RESCHEDULED, o->kind, name,
                             "how it is cannot be read: %s", strna(l->why));
        return false;
    }
    if (l->known != KNOWN_THERE || !str_same(l->obj->meta.uid, o->uid))
        return true; /* gone, or not to be had: nothing to wait for */
    /* What was read before is asked for again before it is believed. */
    bool current =
        d->cluster->owners_watched || (o->asked && !l->wanted && !l->action && !l->failures);
    if (!o->version && current)
        o->version = xstrdup(strna(l->obj->meta.version));
    bool stateful = kind == &kind_stateful_set; /* makes the next when the last has gone */
    int64_t heard = stateful ? 0 : o->lost + MSEC(OWNER_HEARS_MS);
    bool other = o->version && !streq(o->version, l->obj->meta.version);
    bool news = (other && d->now.mono >= heard) || d->now.mono - o->left > SEC(OWNER_SETTLE);
    int32_t wanted, available;
    health_of(kind, l->obj, &wanted, &available);
    if (current && news && available >= 0 &&
        (available >= wanted || available + lost_later(d, n, o) >= wanted ||
         available + lost_later(d, n, o) + count_homebound(d, n, o) >= wanted))
        return true;
    bool reading = !current && !l->failures;
    ask(d, n, kind, o);
    drain_wake(d, d->now.mono < heard ? heard : o->left + SEC(OWNER_SETTLE) + 1);
    if (!reading && says) /* that takes a moment, and what was known is old */
        say_unwell(d, n, o, wanted, available);
    return false;
}

/* All are looked at, so that those that have to be read are read at the same time; the first that
 * is not well is what the node waits for. */
bool drain_owners_well(struct drain *d, struct dnode *n) {
    bool well = true;
    for (size_t i = 0; i < n->owners.len; i++)
        well &= is_well(d, n, &n->owners.p[i], well);
    return well;
}
