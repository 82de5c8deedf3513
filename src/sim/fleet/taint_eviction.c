/* The taint eviction controller: pods go from Nodes with a NoExecute taint that they do not
 * tolerate, at once or when the time that they tolerate it for is over. */
#include "sim/api/subresources.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

/* A pod that is tolerated for a time: counted from when its taints were first seen. */
struct waiting {
    const char *uid; /* a pool entry */
    int64_t since;
};

struct evictions {
    struct fleet *fleet;
    struct queue *queue;
    struct htab waiting;
};

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}
static uint32_t waiting_hash(const void *entry) {
    return uid_hash(((const struct waiting *)entry)->uid);
}
static bool waiting_equal(const void *entry, const void *uid) {
    return streq(((const struct waiting *)entry)->uid, uid);
}
static const struct htab_ops waiting_ops = {waiting_hash, waiting_equal};

static int64_t since(struct evictions *c, const char *uid) {
    struct waiting *w = htab_find(&c->waiting, uid_hash(uid), uid);
    if (!w) {
        w = xnew(struct waiting);
        w->uid = pool_ref(uid);
        w->since = c->fleet->world->clock.now;
        htab_insert(&c->waiting, w);
    }
    return w->since;
}

static void waiting_free(struct evictions *c, struct waiting *w) {
    pool_unref(c->fleet->world->pool, w->uid);
    free(w);
}

static void forget(struct evictions *c, const char *uid) {
    struct waiting *w = htab_remove(&c->waiting, uid_hash(uid), uid);
    if (w)
        waiting_free(c, w);
}

static bool tolerates(const struct toleration *t, const struct taint *taint) {
    if (!str_empty(t->effect) && !str_same(t->effect, taint->effect))
        return false;
    if (!str_empty(t->key) && !str_same(t->key, taint->key))
        return false;
    if (str_same(t->op, "Exists"))
        return true;
    return !str_empty(t->key) && str_same(t->value, taint->value);
}

/* How long the pod may stay under this taint, counted from when it was added: -1 for ever. */
static int64_t stay(const struct pod *pod, const struct taint *taint) {
    int64_t least = -1;
    bool any = false;
    for (size_t i = 0; i < list_len(pod->spec->tolerations); i++) {
        const struct toleration *t = &pod->spec->tolerations[i];
        if (!tolerates(t, taint))
            continue;
        any = true;
        if (t->seconds == ABSENT64)
            continue;
        int64_t n = MAX_OF(t->seconds, 0);
        if (least < 0 || n < least)
            least = n;
    }
    return any ? least : 0;
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct evictions *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->pods->shelf, ns, name);
    if (!r)
        return true;
    const struct pod *pod = record_as(pod, r);
    if (pod->meta.deleted || str_empty(pod->node_name))
        return true;
    const struct record *nr = shelf_get(f->nodes->shelf, NULL, pod->node_name);
    if (!nr)
        return true;
    const struct node *node = record_as(node, nr);
    int64_t now = f->world->clock.now, due = INT64_MAX;
    for (size_t i = 0; i < list_len(node->taints); i++) {
        const struct taint *t = &node->taints[i];
        if (!str_same(t->effect, "NoExecute"))
            continue;
        int64_t n = clock_go_seconds(stay(pod, t));
        if (n >= 0)
            due = MIN_OF(due, n ? since(c, pod->meta.uid) + n : now);
    }
    if (due == INT64_MAX) {
        forget(c, pod->meta.uid);
        return true;
    }
    if (due > now) {
        queue_add_after(c->queue, ns, name, due - now);
        return true;
    }
    fleet_event(f, "taint-eviction-controller", f->pods, r, "Normal", "TaintManagerEviction",
                "Marking for deletion Pod %s/%s", ns, name);
    if (!pod_finished(pod)) {
        _cleanup_json_ json_t *obj = record_json(r);
        pod_add_condition(obj, "DisruptionTarget", "True", "DeletionByTaintManager",
                          "Taint manager: deleting due to NoExecute taint", now);
        fleet_put_status(f, f->pods, r, json_incref(json_object_get(obj, "status")));
    }
    fleet_delete(f, f->pods, ns, name, NULL);
    return true;
}

static void pod_changed(void *arg, const struct change *change) {
    struct evictions *c = arg;
    const struct pod *pod = record_as(pod, change->after);
    if (change->type == CHANGE_DELETED)
        forget(c, pod->meta.uid);
    if (change->type == CHANGE_DELETED || pod->meta.deleted || str_empty(pod->node_name))
        return;
    const struct pod *was = change->before ? record_as(pod, change->before) : NULL;
    if (was && was->node_name == pod->node_name && was->spec == pod->spec)
        return;
    queue_add(c->queue, pod->meta.ns, pod->meta.name);
}

static void node_changed(void *arg, const struct change *change) {
    struct evictions *c = arg;
    const struct node *node = record_as(node, change->after);
    const struct node *was = change->before ? record_as(node, change->before) : NULL;
    if (change->type == CHANGE_DELETED || (was && was->taints == node->taints))
        return;
    struct pod_list on = pods_on_node(c->fleet->pod_index, node->meta.name);
    for (size_t i = 0; i < on.len; i++)
        queue_add(c->queue, on.p[i]->obj->meta.ns, on.p[i]->obj->meta.name);
}

static void *start(struct fleet *f) {
    struct evictions *c = xnew(struct evictions);
    c->fleet = f;
    htab_init(&c->waiting, &waiting_ops);
    c->queue = queue_new(f->world, MSEC(5), MSEC(50), sync, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    shelf_listen(f->nodes->shelf, node_changed, c);
    return c;
}

static void stop(void *part) {
    struct evictions *c = part;
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    shelf_unlisten(c->fleet->nodes->shelf, node_changed, c);
    queue_free(c->queue);
    struct waiting *w;
    for (uint32_t i = 0; (w = htab_next(&c->waiting, &i));)
        waiting_free(c, w);
    htab_done(&c->waiting);
    free(c);
}

const struct part taint_eviction_part = {"taint-eviction-controller", start, stop};
