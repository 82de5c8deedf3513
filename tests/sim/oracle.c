/* The oracle: what it knows of the world, and what it found broken. */
#include "oracle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "oracle_internal.h"

enum { VIOLATIONS_MAX = 8 };

void oracle_blame(struct oracle *o, int promise, const char *fmt, ...) {
    if (o->violations.len >= VIOLATIONS_MAX)
        return;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *what = xvasprintf(fmt, ap);
    va_end(ap);
    *vec_push(&o->violations) =
        xasprintf("promise %d: %s (process %u, %.3f s after its start)", promise, what, o->process,
                  (double)(oracle_now(o) - o->begun) / 1e6);
}

size_t oracle_n_violations(const struct oracle *o) {
    return o->violations.len;
}
const char *oracle_violation(const struct oracle *o, size_t i) {
    return o->violations.p[i];
}

int64_t oracle_now(const struct oracle *o) {
    return o->opts.now(o->opts.arg);
}
int64_t oracle_begun(const struct oracle *o) {
    return o->begun;
}
int64_t oracle_known_pods(const struct oracle *o, const char *node) {
    return o->opts.known(o->opts.arg, "pods", node);
}

/* --- tables --- */

struct oracle_pod *oracle_pod_by_uid(struct oracle *o, const char *uid) {
    for (size_t i = o->pods.len; i-- > 0;)
        if (streq(o->pods.p[i]->uid, uid))
            return o->pods.p[i];
    return NULL;
}

const struct oracle_pod *const *oracle_pods(const struct oracle *o, size_t *n) {
    *n = o->pods.len;
    return (const struct oracle_pod *const *)o->pods.p;
}

struct oracle_node *oracle_node(const struct oracle *o, const char *name) {
    for (size_t i = 0; name && i < o->nodes.len; i++)
        if (streq(o->nodes.p[i]->name, name))
            return o->nodes.p[i];
    return NULL;
}

bool oracle_is_target(const struct oracle *o, const char *node) {
    for (size_t i = 0; i < o->plan->targets.len; i++)
        if (str_same(o->plan->targets.p[i], node))
            return true;
    return false;
}

bool oracle_lifted(const struct oracle *o, const char *node) {
    const struct oracle_node *n = oracle_node(o, node);
    return n && n->lifted;
}
bool oracle_foreign_record(const struct oracle *o, const char *node) {
    const struct oracle_node *n = oracle_node(o, node);
    return n && n->foreign_record;
}
bool oracle_condition(const struct oracle *o, const char *node, const char *type, bool on) {
    const struct oracle_node *n = oracle_node(o, node);
    const struct node_condition *c =
        n && n->last ? node_condition_find(record_as(node, n->last)->conditions, type) : NULL;
    return c && streq(strna(c->c.status), on ? "True" : "False");
}
const char *oracle_attachment(const struct oracle *o, const char *node, int64_t before) {
    for (size_t i = 0; i < o->attachments.len; i++) {
        const struct record *r = o->attachments.p[i].last;
        if (r && o->attachments.p[i].changed < before &&
            str_same(record_as(volume_attachment, r)->node_name, node))
            return r->obj->meta.name;
    }
    return NULL;
}
bool oracle_overwritten(const struct oracle *o, const char *node) {
    const struct oracle_node *n = oracle_node(o, node);
    return n && n->overwritten;
}
bool oracle_cordoned(const struct oracle *o, const char *node) {
    const struct oracle_node *n = oracle_node(o, node);
    return n && n->last && record_as(node, n->last)->unschedulable;
}
bool oracle_stopped(const struct oracle *o) {
    return o->stopped;
}
bool oracle_node_exists(const struct oracle *o, const char *node) {
    const struct oracle_node *n = oracle_node(o, node);
    return n && n->last;
}

static void replace(struct record **slot, struct record *with) {
    struct record *old = *slot;
    *slot = with ? record_ref(with) : NULL;
    record_unref(old);
}

/* --- changes of the world --- */

static void pod_changed(struct oracle *o, struct record *after, bool removed) {
    const struct pod *pod = record_as(pod, after);
    struct oracle_pod *p = oracle_pod_by_uid(o, strna(pod->meta.uid));
    if (!p) {
        p = xnew(struct oracle_pod);
        p->uid = xstrdup(strna(pod->meta.uid));
        p->ns = xstrdup(strna(pod->meta.ns));
        p->name = xstrdup(strna(pod->meta.name));
        p->born = oracle_now(o);
        *vec_push(&o->pods) = p;
    }
    bool was_deleted = p->deleted;
    replace(&p->last, after);
    if (pod->node_name && !p->bound)
        p->bound = oracle_now(o);
    if (pod->meta.deleted && !p->deleted)
        p->deleted = oracle_now(o);
    if (removed && !p->gone)
        p->gone = oracle_now(o);
    if (o->serving && !was_deleted && (p->deleted || p->gone)) {
        p->ours = true;
        if (p != o->victim)
            oracle_blame(o, 2, "%s of %s/%s took away %s/%s (%s)", o->serving->method,
                         strna(o->serving->target.ns), strna(o->serving->target.name), p->ns,
                         p->name, p->uid);
    }
}

static const char *holder_id(const json_t *holder) {
    return strna(json_str(holder, "id"));
}

/* A write of ours to the node's cordon: what may it do? */
static void check_cordon(struct oracle *o, const struct record *before,
                         const struct record *after) {
    const struct node *a = record_as(node, before), *b = record_as(node, after);
    const char *name = b->meta.name;
    struct cordon_record old, new;
    cordon_record_read(before, &old);
    cordon_record_read(after, &new);
    /* Whoever uncordoned the node without touching the record has ended what it says, also when it
     * was cordoned again later. */
    if (old.readable && (!a->unschedulable || old.earlier))
        json_array_clear(old.holders);
    if (old.there && !old.readable)
        oracle_blame(o, 3,
                     "the record on node %s is one that we do not understand, and was written "
                     "all the same",
                     name);
    if (new.there && !new.readable)
        oracle_blame(o, 3, "the record on node %s is not one that anybody understands", name);
    /* Whoever else holds it stays, with every word. */
    for (size_t i = 0; old.readable && i < json_array_size(old.holders); i++) {
        const json_t *h = json_array_get(old.holders, i);
        if (streq(holder_id(h), PLAN_HOLDER))
            continue;
        bool kept = false;
        for (size_t k = 0; new.readable &&k < json_array_size(new.holders); k++)
            kept |= json_equal(h, json_array_get(new.holders, k));
        if (!kept)
            oracle_blame(o, 3, "holder %s of node %s was removed or changed", holder_id(h), name);
    }
    for (size_t k = 0; new.readable &&k < json_array_size(new.holders); k++) {
        const char *id = holder_id(json_array_get(new.holders, k));
        unsigned same = 0;
        for (size_t i = 0; i < json_array_size(new.holders); i++)
            same += streq(id, holder_id(json_array_get(new.holders, i)));
        if (same > 1)
            oracle_blame(o, 3, "holder %s is in the record of node %s %u times", id, name, same);
    }
    bool before_should =
        old.readable && json_array_size(old.holders) ? old.before : a->unschedulable;
    if (new.readable && json_array_size(new.holders) && new.before != before_should)
        oracle_blame(o, 3, "the record of node %s says before=%d, and it was %d", name, new.before,
                     before_should);
    if (!a->unschedulable && b->unschedulable && !cordon_record_has(&new, PLAN_HOLDER))
        oracle_blame(o, 3, "node %s was cordoned without our name in the record", name);
    if (a->unschedulable && !b->unschedulable) {
        bool alone = old.readable && json_array_size(old.holders) == 1 &&
                     cordon_record_has(&old, PLAN_HOLDER);
        if (!alone || old.before)
            oracle_blame(o, 3, "node %s was uncordoned, which %s", name,
                         old.before ? "was cordoned before us" : "others hold cordoned");
        if (!o->plan->uncordon_on_abort && !o->plan->uncordon_when_done)
            oracle_blame(o, 3, "node %s was uncordoned, which nobody asked for", name);
        if (new.there)
            oracle_blame(o, 3, "node %s was uncordoned and its record left behind", name);
    }
    cordon_record_done(&old);
    cordon_record_done(&new);
}

#define NEXT_MARK "slipway.dev/next"

/* The node's taints but for the mark of those whose turn is still to come. */
static json_t *other_taints(const struct record *node, bool *marked) {
    json_t *doc = json_loads(node->json, 0, NULL), *others = json_array(), *taint;
    size_t i;
    *marked = false;
    json_array_foreach(json_object_get(json_object_get(doc, "spec"), "taints"), i, taint) {
        bool mark = str_same(json_str(taint, "key"), NEXT_MARK);
        *marked |= mark && str_same(json_str(taint, "effect"), "PreferNoSchedule");
        if (!mark)
            json_array_append(others, taint);
    }
    json_decref(doc);
    return others;
}

/* A write of ours may put the mark on and take it off; all other taints are not ours. */
static void check_taints(struct oracle *o, const struct record *before,
                         const struct record *after) {
    bool was, is;
    _cleanup_json_ json_t *old = other_taints(before, &was), *new = other_taints(after, &is);
    const struct node *node = record_as(node, after);
    if (!json_equal(old, new))
        oracle_blame(o, 3, "taints of node %s that are not ours were changed", node->meta.name);
    if (is && node->unschedulable && (!was || !record_as(node, before)->unschedulable))
        oracle_blame(o, 3, "node %s is marked as one to come, and is cordoned", node->meta.name);
}

void oracle_end_marks(struct oracle *o) {
    for (size_t i = 0; i < o->nodes.len; i++)
        if (o->nodes.p[i]->last && strstr(o->nodes.p[i]->last->json, NEXT_MARK) &&
            oracle_is_target(o, o->nodes.p[i]->name))
            oracle_blame(o, 4, "node %s still has the mark of those whose turn is to come",
                         o->nodes.p[i]->name);
}

static void node_changed(struct oracle *o, struct record *before, struct record *after,
                         bool removed) {
    const struct node *node = record_as(node, after);
    struct oracle_node *n = oracle_node(o, node->meta.name);
    if (!n) {
        n = xnew(struct oracle_node);
        n->name = xstrdup(node->meta.name);
        *vec_push(&o->nodes) = n;
    }
    replace(&n->last, removed ? NULL : after);
    if (o->serving && before && !removed && o->serving->kind == CHAOS_PATCH_NODE)
        check_taints(o, before, after);
    /* Most changes are heartbeats. */
    if (before && !removed && node->unschedulable == record_as(node, before)->unschedulable &&
        !strstr(before->json, "slipway.dev/cordon") && !strstr(after->json, "slipway.dev/cordon"))
        return;
    struct cordon_record record;
    cordon_record_read(after, &record);
    n->foreign_record |= record.there && !record.readable;
    *vec_push(&n->history) = (struct node_state){
        .time = oracle_now(o),
        .cordoned = !removed && node->unschedulable,
        .ours = cordon_record_has(&record, PLAN_HOLDER),
    };
    cordon_record_done(&record);
    if (!before || removed)
        return;
    if (o->serving && o->serving->kind == CHAOS_PATCH_NODE && oracle_is_cordon(o->serving))
        check_cordon(o, before, after);
    if (o->serving) {
        if (node->unschedulable && o->serving->kind == CHAOS_PATCH_NODE &&
            o->serving->process + 1 == o->process)
            n->cordon_served = oracle_now(o);
    } else if (record_as(node, before)->unschedulable && !node->unschedulable) {
        n->lifted = oracle_now(o);
    }
}

static void object_changed(struct oracle_object *list, size_t n, struct record *after, bool removed,
                           int64_t now) {
    for (size_t i = 0; i < n; i++) {
        struct oracle_object *x = &list[i];
        if (!x->last || !str_same(x->last->obj->meta.uid, after->obj->meta.uid))
            continue;
        if (removed || x->last->obj->meta.generation != after->obj->meta.generation)
            x->changed = now;
        replace(&x->last, removed ? NULL : after);
        return;
    }
}

/* What a Deployment shall have when nothing of ours is on it any more. */
static void expect_count(struct oracle *o, const struct record *after) {
    const struct deployment *d = record_as(deployment, after);
    struct oracle_count *c = NULL;
    for (size_t i = 0; i < o->counts.len && !c; i++)
        if (streq(o->counts.p[i].uid, strna(d->meta.uid)))
            c = &o->counts.p[i];
    if (!c) {
        c = vec_push(&o->counts);
        *c = (struct oracle_count){xstrdup(strna(d->meta.uid)), d->replicas, d->meta.generation};
    }
    /* Its status changes all the time. */
    if (d->meta.generation != c->generation && !strstr(after->json, "slipway.dev/surge"))
        c->replicas = d->replicas;
    c->generation = d->meta.generation;
}

void oracle_end_counts(struct oracle *o) {
    for (size_t i = 0; i < o->deployments.len; i++) {
        const struct record *r = o->deployments.p[i].last;
        if (!r)
            continue;
        const struct deployment *d = record_as(deployment, r);
        if (strstr(r->json, "slipway.dev/surge"))
            oracle_blame(o, 4, "Deployment %s/%s still has the mark of a surge", d->meta.ns,
                         d->meta.name);
        for (size_t k = 0; k < o->counts.len; k++)
            if (streq(o->counts.p[k].uid, strna(d->meta.uid)) &&
                o->counts.p[k].replicas != d->replicas)
                oracle_blame(o, 4, "Deployment %s/%s had %d replicas and has %d", d->meta.ns,
                             d->meta.name, o->counts.p[k].replicas, d->replicas);
    }
}

static void changed(void *arg, struct shelf *shelf, const struct change *c) {
    struct oracle *o = arg;
    const struct kind *kind = shelf_kind(shelf);
    bool removed = c->type == CHANGE_DELETED;
    if (o->serving && o->plan->dry_run)
        oracle_blame(o, 2, "a dry run changed %s %s", kind->name, strna(c->after->obj->meta.name));
    if (kind == &kind_pod) {
        pod_changed(o, c->after, removed);
        return;
    }
    if (kind == &kind_node) {
        node_changed(o, c->before, c->after, removed);
        return;
    }
    if (kind == &kind_deployment && !o->serving && !removed)
        expect_count(o, c->after);
#define TABLE(k, field)                                                                            \
    if (kind == &(k)) {                                                                            \
        if (!c->before)                                                                            \
            *vec_push(&o->field) = (struct oracle_object){record_ref(c->after), oracle_now(o)};    \
        else                                                                                       \
            object_changed(o->field.p, o->field.len, c->after, removed, oracle_now(o));            \
    }
    TABLE(kind_pdb, budgets)
    TABLE(kind_replica_set, replica_sets)
    TABLE(kind_stateful_set, stateful_sets)
    TABLE(kind_deployment, deployments)
    TABLE(kind_daemon_set, daemon_sets)
    TABLE(kind_volume_attachment, attachments)
#undef TABLE
}

void oracle_meet(struct oracle *o, struct shelf *shelf) {
    struct snapshot *snap = shelf_snapshot(shelf);
    for (size_t i = 0; i < snap->n; i++) {
        struct change c = {.type = CHANGE_ADDED, .after = snap->items[i]};
        changed(o, shelf, &c);
    }
    snapshot_unref(snap);
}

/* --- life --- */

struct oracle *oracle_new(const struct oracle_options *opts) {
    struct oracle *o = xnew(struct oracle);
    o->opts = *opts;
    o->plan = opts->plan;
    _cleanup_err_ struct err err = ERR_INIT;
    if (selector_parse(opts->plan->selector, &o->selector, &err)) {
        fprintf(stderr, "%s\n", err_msg(&err));
        abort();
    }
    world_listen(opts->world, changed, o);
    return o;
}

static void objects_done(struct oracle_object *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        record_unref(list[i].last);
    free(list);
}

void oracle_free(struct oracle *o) {
    if (!o)
        return;
    world_unlisten(o->opts.world, changed, o);
    for (size_t i = 0; i < o->pods.len; i++) {
        struct oracle_pod *p = o->pods.p[i];
        record_unref(p->last);
        free(p->uid);
        free(p->ns);
        free(p->name);
        free(p);
    }
    for (size_t i = 0; i < o->nodes.len; i++) {
        struct oracle_node *n = o->nodes.p[i];
        record_unref(n->last);
        vec_done(&n->history);
        free(n->name);
        free(n);
    }
    objects_done(o->budgets.p, o->budgets.len);
    objects_done(o->replica_sets.p, o->replica_sets.len);
    objects_done(o->stateful_sets.p, o->stateful_sets.len);
    objects_done(o->deployments.p, o->deployments.len);
    objects_done(o->daemon_sets.p, o->daemon_sets.len);
    objects_done(o->attachments.p, o->attachments.len);
    for (size_t i = 0; i < o->counts.len; i++)
        free(o->counts.p[i].uid);
    vec_done(&o->counts);
    for (size_t i = 0; i < o->violations.len; i++)
        free(o->violations.p[i]);
    vec_done(&o->pods);
    vec_done(&o->nodes);
    vec_done(&o->violations);
    vec_done(&o->sends);
    selector_done(&o->selector);
    free(o->breach);
    free(o);
}

void oracle_begin(struct oracle *o) {
    o->begun = oracle_now(o);
    o->stopped = false;
    o->process++;
    o->tokens = -1;
    o->sends.len = 0;
    for (size_t i = 0; i < o->pods.len; i++) {
        struct oracle_pod *p = o->pods.p[i];
        p->first_try = p->last_try = p->not_before = p->accepted = 0;
        p->tries = p->under_way = 0;
    }
    for (size_t i = 0; i < o->nodes.len; i++) {
        struct oracle_node *n = o->nodes.p[i];
        n->lifted = n->cordon_served = n->cordon_told = 0;
        n->events = n->statuses = 0;
        n->overwritten = false;
    }
}

void oracle_stop(struct oracle *o) {
    o->stopped = true;
}
