/* The DaemonSet controller: one pod on every Node that should have one. By pkg/controller/daemon.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/selector.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/revision.h"
#include "sim/fleet/workload.h"

#define REVISION_LABEL "controller-revision-hash"

/* What daemons tolerate of their own accord. */
static const struct {
    const char *key, *effect;
    bool host_network;
} tolerated[] = {
    {"node.kubernetes.io/not-ready", "NoExecute", false},
    {"node.kubernetes.io/unreachable", "NoExecute", false},
    {"node.kubernetes.io/disk-pressure", "NoSchedule", false},
    {"node.kubernetes.io/memory-pressure", "NoSchedule", false},
    {"node.kubernetes.io/pid-pressure", "NoSchedule", false},
    {"node.kubernetes.io/unschedulable", "NoSchedule", false},
    {"node.kubernetes.io/network-unavailable", "NoSchedule", true},
};

struct daemon_sets {
    struct fleet *fleet;
    struct queue *queue;
};

struct look {
    struct fleet *f;
    struct record *r; /* a reference */
    const struct daemon_set *d;
    const json_t *spec;
    const char *hash;
    struct pod_set pods;
    struct snapshot *nodes;
    int64_t again;
};

/* --- where --- */

static bool tolerates(const struct daemon_set *d, const struct taint *t) {
    const struct pod_spec *spec = &d->template->spec;
    for (size_t i = 0; i < ARRAY_LEN(tolerated); i++)
        if (str_same(t->key, tolerated[i].key) && str_same(t->effect, tolerated[i].effect) &&
            (!tolerated[i].host_network || spec->host_network))
            return true;
    for (size_t i = 0; i < list_len(spec->tolerations); i++) {
        const struct toleration *x = &spec->tolerations[i];
        if ((str_empty(x->effect) || str_same(x->effect, t->effect)) &&
            (str_empty(x->key) || str_same(x->key, t->key)) &&
            (str_same(x->op, "Exists") || (!str_empty(x->key) && str_same(x->value, t->value))))
            return true;
    }
    return false;
}

/* Should it run there, and may what runs there stay? */
static void should_run(const struct daemon_set *d, const struct node *node, bool *run, bool *stay) {
    const struct pod_spec *spec = &d->template->spec;
    *run = *stay = false;
    if (!str_empty(spec->node_name) && !str_same(spec->node_name, node->meta.name))
        return;
    if (!labels_contain(node->meta.labels, spec->node_selector))
        return;
    const struct node_affinity *a = spec->affinity ? spec->affinity->node : NULL;
    if (a && a->required && !node_selector_match(a->required, &node->meta))
        return;
    *run = *stay = true;
    for (size_t i = 0; i < list_len(node->taints); i++) {
        const struct taint *t = &node->taints[i];
        if (tolerates(d, t))
            continue;
        if (str_same(t->effect, "NoExecute"))
            *run = *stay = false;
        else if (str_same(t->effect, "NoSchedule"))
            *run = false;
    }
}

/* The node that a daemon pod is on or meant for. */
static const char *node_of(const struct pod *pod) {
    if (!str_empty(pod->node_name))
        return pod->node_name;
    const struct node_affinity *a = pod->spec->affinity ? pod->spec->affinity->node : NULL;
    const struct node_selector *s = a ? a->required : NULL;
    for (size_t i = 0; s && i < list_len(s->terms); i++)
        for (size_t k = 0; k < list_len(s->terms[i].fields); k++) {
            const struct requirement *q = &s->terms[i].fields[k];
            if (str_same(q->key, "metadata.name") && list_len(q->values) == 1)
                return q->values[0];
        }
    return NULL;
}

/* --- pods --- */

static void aim(json_t *spec, const char *node) {
    json_t *term =
        json_pack("{s:s, s:s, s:[s]}", "key", "metadata.name", "operator", "In", "values", node);
    json_t *affinity = json_object_get(spec, "affinity");
    affinity = affinity ? json_deep_copy(affinity) : json_object();
    json_t *na = json_object_get(affinity, "nodeAffinity");
    na = na ? json_deep_copy(na) : json_object();
    json_t *required = json_object_get(na, "requiredDuringSchedulingIgnoredDuringExecution");
    json_t *terms = json_object_get(required, "nodeSelectorTerms");
    if (!json_array_size(terms)) {
        terms = json_pack("[{s:[o]}]", "matchFields", term);
    } else {
        /* The real one replaces matchFields and keeps matchExpressions. */
        terms = json_deep_copy(terms);
        size_t i;
        json_t *t;
        json_array_foreach(terms, i, t)
            json_object_set_new(t, "matchFields", json_pack("[O]", term));
        json_decref(term);
    }
    json_object_set_new(na, "requiredDuringSchedulingIgnoredDuringExecution",
                        json_pack("{s:o}", "nodeSelectorTerms", terms));
    json_object_set_new(affinity, "nodeAffinity", na);
    json_object_set_new(spec, "affinity", affinity);
}

static void add_tolerations(json_t *spec, bool host_network) {
    json_t *list = json_object_get(spec, "tolerations");
    if (!list) {
        list = json_array();
        json_object_set_new(spec, "tolerations", list);
    }
    for (size_t i = 0; i < ARRAY_LEN(tolerated); i++)
        if (!tolerated[i].host_network || host_network)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s}", "key", tolerated[i].key, "operator",
                                            "Exists", "effect", tolerated[i].effect));
}

static bool create_pod(struct look *l, const char *node) {
    const json_t *template = json_object_get(l->spec, "template");
    _cleanup_free_ char *prefix = xasprintf("%s-", l->d->meta.name);
    json_t *raw = workload_pod(template, l->f->daemon_sets, l->r, NULL, prefix);
    json_t *labels = json_object_get(meta_of(raw), "labels");
    const char *generation =
        map_get(l->d->meta.annotations, "deprecated.daemonset.template.generation");
    json_object_set_new(labels, "pod-template-generation",
                        json_string(generation ? generation : "1"));
    json_object_set_new(labels, REVISION_LABEL, json_string(l->hash));
    json_t *spec = json_object_get(raw, "spec");
    aim(spec, node);
    add_tolerations(spec, l->d->template->spec.host_network);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct record *pod = fleet_create(l->f, l->f->pods, l->d->meta.ns, raw, &failure);
    if (!pod) {
        fleet_event(l->f, "daemonset-controller", l->f->daemon_sets, l->r, "Warning",
                    "FailedCreate", "Error creating: %s", strna(failure.message));
        return false;
    }
    fleet_event(l->f, "daemonset-controller", l->f->daemon_sets, l->r, "Normal", "SuccessfulCreate",
                "Created pod: %s", pod->obj->meta.name);
    record_unref(pod);
    return true;
}

static void delete_pod(struct look *l, const struct record *pod) {
    const struct meta *m = &pod->obj->meta;
    if (!m->deleted && fleet_delete(l->f, l->f->pods, m->ns, m->name, NULL))
        fleet_event(l->f, "daemonset-controller", l->f->daemon_sets, l->r, "Normal",
                    "SuccessfulDelete", "Deleted pod: %s", m->name);
}

/* Pods by the node that they are meant for: names are pool entries, so their addresses tell them
 * apart. */
struct placed {
    const char *node;
    size_t i; /* in the list that they come from */
    struct record *r;
};
struct placement {
    struct placed *p;
    size_t n;
};

static int by_node(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    if (x->node != y->node)
        return (uintptr_t)x->node < (uintptr_t)y->node ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

static struct placement place(struct record *const *pods, size_t n) {
    struct placement out = {xcalloc(n ? n : 1, sizeof *out.p), n};
    for (size_t i = 0; i < n; i++)
        out.p[i] = (struct placed){node_of(record_as(pod, pods[i])), i, pods[i]};
    qsort(out.p, n, sizeof *out.p, by_node);
    return out;
}
static void placement_done(struct placement *p) {
    free(p->p);
}
#define _cleanup_placement_ __attribute__((cleanup(placement_done)))

/* The pods meant for one node, in the order of the list. */
static struct placement pods_for(const struct placement *all, const char *node) {
    size_t low = 0, high = all->n, n = 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if ((uintptr_t)all->p[mid].node < (uintptr_t)node)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + n < all->n && all->p[low + n].node == node)
        n++;
    return (struct placement){all->p + low, n};
}

/* One pod on each node that should have one. */
static bool manage(struct look *l) {
    bool ok = true;
    _cleanup_placement_ struct placement all = place(l->pods.v.p, l->pods.v.len);
    for (size_t i = 0; i < l->nodes->n; i++) {
        const struct node *node = record_as(node, l->nodes->items[i]);
        bool run, stay;
        should_run(l->d, node, &run, &stay);
        struct placement here = pods_for(&all, node->meta.name);
        size_t alive = 0;
        for (size_t k = 0; k < here.n; k++) {
            const struct pod *pod = record_as(pod, here.p[k].r);
            if (pod->meta.deleted) {
                alive++; /* its name is free only when it has gone */
                continue;
            }
            bool extra = stay && !pod_finished(pod) && alive++;
            if (!stay || extra) {
                delete_pod(l, here.p[k].r);
            } else if (pod_finished(pod)) {
                fleet_event(l->f, "daemonset-controller", l->f->daemon_sets, l->r, "Warning",
                            "FailedDaemonPod",
                            "Found failed daemon pod %s/%s on node %s, will try to kill it",
                            strna(pod->meta.ns), pod->meta.name, node->meta.name);
                delete_pod(l, here.p[k].r);
            }
        }
        if (run && !here.n)
            ok = create_pod(l, node->meta.name) && ok;
    }
    /* Pods of nodes that are gone. */
    for (size_t i = 0; i < l->pods.v.len; i++) {
        const struct pod *pod = record_as(pod, l->pods.v.p[i]);
        const char *node = node_of(pod);
        if (node && str_empty(pod->node_name) && !shelf_get(l->f->nodes->shelf, NULL, node))
            delete_pod(l, l->pods.v.p[i]);
    }
    return ok;
}

static bool up(struct look *l, const struct pod *pod) {
    return pod_active(pod) &&
           pod_available(pod, l->d->min_ready_seconds, l->f->world->clock.now, &l->again);
}

/* Old pods are replaced as fast as maxUnavailable allows; those that do not work anyway at once. */
static void update(struct look *l, int64_t desired) {
    const json_t *strategy = json_object_get(l->spec, "updateStrategy");
    if (str_same(json_str(strategy, "type"), "OnDelete"))
        return;
    const json_t *max =
        json_object_get(json_object_get(strategy, "rollingUpdate"), "maxUnavailable");
    int64_t allowed = 1;
    if (json_is_integer(max))
        allowed = json_integer_value(max);
    else if (json_is_string(max))
        allowed = (strtol(json_string_value(max), NULL, 10) * desired + 99) / 100;
    int64_t unavailable = 0;
    _cleanup_placement_ struct placement all = place(l->pods.v.p, l->pods.v.len);
    for (size_t i = 0; i < l->nodes->n; i++) {
        const struct node *node = record_as(node, l->nodes->items[i]);
        bool run, stay, any = false;
        should_run(l->d, node, &run, &stay);
        if (!run)
            continue;
        struct placement here = pods_for(&all, node->meta.name);
        for (size_t k = 0; k < here.n && !any; k++)
            any = up(l, record_as(pod, here.p[k].r));
        unavailable += !any;
    }
    for (size_t i = 0; i < l->pods.v.len; i++) {
        const struct pod *pod = record_as(pod, l->pods.v.p[i]);
        if (str_same(map_get(pod->meta.labels, REVISION_LABEL), l->hash) || !pod_active(pod))
            continue;
        if (!up(l, pod)) {
            delete_pod(l, l->pods.v.p[i]);
        } else if (unavailable < allowed) {
            unavailable++;
            delete_pod(l, l->pods.v.p[i]);
        }
    }
}

/* --- status --- */

static void put_status(struct look *l) {
    struct fleet *f = l->f;
    struct record *r = shelf_get(f->daemon_sets->shelf, l->d->meta.ns, l->d->meta.name);
    if (!r)
        return;
    int64_t desired = 0, current = 0, wrong = 0, ready = 0, updated = 0, ok = 0;
    struct pod_list mine = pods_of_owner(f->pod_index, l->d->meta.uid);
    _cleanup_placement_ struct placement all = place(mine.p, mine.len);
    for (size_t i = 0; i < l->nodes->n; i++) {
        const struct node *node = record_as(node, l->nodes->items[i]);
        bool run, stay;
        should_run(l->d, node, &run, &stay);
        struct placement here = pods_for(&all, node->meta.name);
        const struct record *first = here.n ? here.p[0].r : NULL;
        if (!run) {
            wrong += first != NULL;
            continue;
        }
        desired++;
        if (!first)
            continue;
        const struct pod *pod = record_as(pod, first);
        current++;
        if (pod_ready(pod)) {
            ready++;
            ok += pod_available(pod, l->d->min_ready_seconds, f->world->clock.now, &l->again);
        }
        updated += str_same(map_get(pod->meta.labels, REVISION_LABEL), l->hash);
    }
    json_t *s = record_status(r);
    json_object_set_new(s, "currentNumberScheduled", json_integer(current));
    json_object_set_new(s, "numberMisscheduled", json_integer(wrong));
    json_object_set_new(s, "desiredNumberScheduled", json_integer(desired));
    json_object_set_new(s, "numberReady", json_integer(ready));
    status_set_number(s, "updatedNumberScheduled", updated);
    status_set_number(s, "numberAvailable", ok);
    status_set_number(s, "numberUnavailable", desired - ok);
    status_set_number(s, "observedGeneration", l->d->meta.generation);
    fleet_put_status(f, f->daemon_sets, r, s);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct daemon_sets *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->daemon_sets->shelf, ns, name);
    if (!r || !record_as(daemon_set, r)->template)
        return true;
    struct look l = {.f = f, .r = record_ref(r), .d = record_as(daemon_set, r), .again = INT64_MAX};
    l.spec = record_spec(r);
    struct record *revision =
        revision_current(f, f->daemon_sets, r, json_object_get(l.spec, "template"));
    bool ok = revision != NULL;
    if (ok) {
        l.hash = strna(map_get(revision->obj->meta.labels, REVISION_LABEL));
        l.nodes = shelf_snapshot(f->nodes->shelf);
        workload_claim(f, f->daemon_sets, r, l.d->selector, NULL, NULL, &l.pods);
        if (!l.d->meta.deleted) {
            ok = manage(&l);
            int64_t desired = 0;
            for (size_t i = 0; i < l.nodes->n; i++) {
                bool run, stay;
                should_run(l.d, record_as(node, l.nodes->items[i]), &run, &stay);
                desired += run;
            }
            update(&l, desired);
        }
        put_status(&l);
        snapshot_unref(l.nodes);
        const json_t *limit = json_object_get(l.spec, "revisionHistoryLimit");
        struct revisions all = {0};
        revisions_of(f, r, &all);
        const char *keep[] = {revision->obj->meta.name, NULL};
        revisions_trim(f, &all, limit ? json_integer_value(limit) : 10, keep);
        revisions_done(&all);
    }
    if (l.again != INT64_MAX)
        queue_add_after(c->queue, ns, name, l.again);
    record_unref(revision);
    pod_set_done(&l.pods);
    record_unref(l.r);
    return ok;
}

static void set_changed(void *arg, const struct change *change) {
    struct daemon_sets *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

static void pod_changed(void *arg, const struct change *change) {
    struct daemon_sets *c = arg;
    const struct meta *m = &change->after->obj->meta;
    const struct owner *o = meta_controller(m);
    if (!o && change->before)
        o = meta_controller(&change->before->obj->meta);
    if (o && str_same(o->kind, "DaemonSet"))
        queue_add(c->queue, m->ns, o->name);
}

/* A node that comes, goes or changes in what matters concerns all of them. */
static void node_changed(void *arg, const struct change *change) {
    struct daemon_sets *c = arg;
    if (change->type == CHANGE_MODIFIED) {
        const struct node *a = record_as(node, change->before), *b = record_as(node, change->after);
        if (a->taints == b->taints && a->meta.labels == b->meta.labels &&
            a->unschedulable == b->unschedulable)
            return;
    }
    struct snapshot *snap = shelf_snapshot(c->fleet->daemon_sets->shelf);
    for (size_t i = 0; i < snap->n; i++)
        queue_add(c->queue, snap->items[i]->obj->meta.ns, snap->items[i]->obj->meta.name);
    snapshot_unref(snap);
}

static void *start(struct fleet *f) {
    struct daemon_sets *c = xnew(struct daemon_sets);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(1), MSEC(10), sync, c);
    shelf_listen(f->daemon_sets->shelf, set_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    shelf_listen(f->nodes->shelf, node_changed, c);
    return c;
}

static void stop(void *part) {
    struct daemon_sets *c = part;
    shelf_unlisten(c->fleet->daemon_sets->shelf, set_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    shelf_unlisten(c->fleet->nodes->shelf, node_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part daemon_sets_part = {"daemonset-controller", start, stop};
