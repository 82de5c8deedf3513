/* What can be mended only when all objects of a copy are there. */
#include <stdlib.h>

#include "sim/api/rules.h"
#include "sim/fleet/revision.h"
#include "sim/fleet/workload.h"
#include "sim/restore_internal.h"

/* Each record of a shelf, which may change meanwhile. */
#define each_record(r, res)                                                                        \
    struct snapshot *snap_ = shelf_snapshot((res)->shelf);                                         \
    for (size_t i_ = 0; i_ < snap_->n || (snapshot_unref(snap_), 0); i_++)                         \
        for (struct record * (r) = snap_->items[i_]; (r); (r) = NULL)

/* An object that was not copied: made of what must be known of it. */
static void make(struct restore *r, const char *group, const char *plural, json_t *raw) {
    struct resource *res = api_resource(r->fleet->api, group, "v1", plural);
    _cleanup_json_ json_t *value = raw;
    (void)value; /* it is given back at the end */
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    json_t *obj = NULL;
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, group, "v1");
    json_object_set_new(raw, "kind", json_string(res->info->kind));
    json_object_set_new(raw, "apiVersion", json_string(str_get(&gv)));
    if (!shelf_get(res->shelf, meta_str(raw, "namespace"), meta_str(raw, "name")) &&
        !rules_decode(r->fleet->api, res, raw, &obj, NULL, &failure))
        (void)restore_put(r, res, obj, NULL);
}

static int by_name(const void *a, const void *b) {
    const struct restore_need *x = *(struct restore_need *const *)a,
                              *y = *(struct restore_need *const *)b;
    int c = strcmp(x->ns, y->ns);
    return c ? c : strcmp(x->name, y->name);
}

/* In an order that is the same every time: uids are drawn for them. */
static struct restore_need **sorted(const struct htab *t) {
    struct restore_need **list = xcalloc((size_t)t->len + 1, sizeof *list), *n;
    size_t len = 0;
    for (uint32_t i = 0; (n = htab_next(t, &i));)
        list[len++] = n;
    qsort(list, len, sizeof(struct restore_need *), by_name);
    return list;
}

static void make_needs(struct restore *r) {
    _cleanup_free_ struct restore_need **accounts = sorted(&r->accounts);
    _cleanup_free_ struct restore_need **classes = sorted(&r->classes);
    for (size_t i = 0; accounts[i]; i++) {
        make(r, "", "namespaces", json_pack("{s:{s:s}}", "metadata", "name", accounts[i]->ns));
        make(r, "", "serviceaccounts",
             json_pack("{s:{s:s, s:s}, s:b}", "metadata", "name", accounts[i]->name, "namespace",
                       accounts[i]->ns, "automountServiceAccountToken", 0));
    }
    for (size_t i = 0; classes[i]; i++)
        make(r, "scheduling.k8s.io", "priorityclasses",
             json_pack("{s:{s:s}, s:I}", "metadata", "name", classes[i]->name, "value",
                       (json_int_t)classes[i]->value));
}

/* --- owners --- */

static bool is_there(const struct fleet *f, const struct meta *m, const struct owner *o) {
    const struct resource *res =
        api_resource_of_kind(f->api, strna(o->api_version), strna(o->kind));
    /* Of a custom one the controller is not here, though it is. */
    if (!res || !res->shelf || res->custom || str_empty(o->name))
        return false;
    const struct record *r = shelf_get(res->shelf, res->info->namespaced ? m->ns : NULL, o->name);
    return r && str_same(r->obj->meta.uid, o->uid);
}

static void note_strangers(struct restore *r) {
    struct fleet *f = r->fleet;
    for (size_t i = 0; i < f->api->resources.len; i++) {
        struct resource *res = f->api->resources.p[i];
        if (!res->shelf)
            continue;
        each_record(record, res) {
            const struct meta *m = &record->obj->meta;
            for (size_t k = 0; k < list_len(m->owners); k++)
                if (!is_there(f, m, &m->owners[k]))
                    original_add_stranger(f->original, m->owners[k].uid);
        }
    }
}

/* --- revisions --- */

/* The newest revision is what the controller made of this very template: without it all pods would
 * seem to be of an older one, and be replaced. */
static void set_template(struct restore *r, struct record *revision, const json_t *template) {
    json_t *copy = json_deep_copy(template), *obj = record_json(revision);
    json_object_set_new(copy, "$patch", json_string("replace"));
    json_object_set_new(obj, "data", json_pack("{s:{s:o}}", "spec", "template", copy));
    (void)restore_put(r, r->fleet->revisions, obj, NULL);
}

/* Where revisions could not be read: the label that most pods of the set have. */
static const char *hash_of_pods(const struct fleet *f, const char *uid) {
    struct pod_list pods = pods_of_owner(f->pod_index, uid);
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < pods.len; i++) {
        const char *hash = map_get(pods.p[i]->obj->meta.labels, "controller-revision-hash");
        size_t n = 0;
        for (size_t k = 0; hash && k < pods.len; k++)
            n += map_get(pods.p[k]->obj->meta.labels, "controller-revision-hash") == hash;
        if (n > most) {
            most = n;
            best = hash;
        }
    }
    return best;
}

static void make_revision(struct restore *r, struct resource *res, const struct record *owner) {
    const struct meta *m = &owner->obj->meta;
    const char *hash = hash_of_pods(r->fleet, m->uid);
    if (!hash)
        return;
    bool daemon = res == r->fleet->daemon_sets;
    /* Of a StatefulSet the label of its pods is the whole name. */
    _cleanup_free_ char *name = daemon ? xasprintf("%s-%s", m->name, hash) : xstrdup(hash);
    make(r, "apps", "controllerrevisions",
         json_pack("{s:{s:s, s:s, s:{s:s}, s:[o]}, s:i}", "metadata", "name", name, "namespace",
                   strna(m->ns), "labels",
                   daemon ? "controller-revision-hash" : "controller.kubernetes.io/hash", hash,
                   "ownerReferences", fleet_owner(res, owner), "revision", 1));
}

static void mend_revisions(struct restore *r, struct resource *res) {
    struct fleet *f = r->fleet;
    each_record(owner, res) {
        struct revisions all = {0};
        revisions_of(f, owner, &all);
        if (!all.v.len) {
            make_revision(r, res, owner);
            revisions_of(f, owner, &all);
        }
        const json_t *template = json_object_get(record_spec(owner), "template");
        if (all.v.len && template)
            set_template(r, all.v.p[all.v.len - 1], template);
        revisions_done(&all);
    }
}

/* --- overheads --- */

/* Admission gives pods the overhead of their RuntimeClass, which is not copied: those that are
 * there show it, and the templates get it for those that come. */
static void set_overheads(struct restore *r, struct resource *res, const json_t *overheads) {
    each_record(owner, res) {
        const json_t *spec =
            json_object_get(json_object_get(record_spec(owner), "template"), "spec");
        const char *class = json_str(spec, "runtimeClassName");
        json_t *overhead = class ? json_object_get(overheads, class) : NULL;
        if (!overhead || json_object_get(spec, "overhead"))
            continue;
        json_t *obj = record_json(owner);
        json_t *made =
            json_object_get(json_object_get(json_object_get(obj, "spec"), "template"), "spec");
        json_object_set_new(made, "overhead", json_deep_copy(overhead));
        (void)restore_put(r, res, obj, NULL);
    }
}

static void mend_overheads(struct restore *r) {
    struct fleet *f = r->fleet;
    _cleanup_json_ json_t *overheads = json_object();
    each_record(record, f->pods) {
        const struct pod *pod = record_as(pod, record);
        if (!pod->spec || !list_len(pod->spec->overhead))
            continue;
        const json_t *spec = record_spec(record);
        const char *class = json_str(spec, "runtimeClassName");
        json_t *overhead = json_object_get(spec, "overhead");
        if (class && overhead)
            json_object_set_new(overheads, class, json_deep_copy(overhead));
    }
    struct resource *const all[] = {f->deployments, f->replica_sets, f->stateful_sets,
                                    f->daemon_sets, f->jobs};
    for (size_t i = 0; i < ARRAY_LEN(all) && json_object_size(overheads); i++)
        set_overheads(r, all[i], overheads);
}

/* --- machines --- */

static void mend_machines(struct restore *r) {
    struct fleet *f = r->fleet;
    each_record(record, f->nodes) {
        const struct node *node = record_as(node, record);
        const struct node_condition *ready = node_condition_find(node->conditions, "Ready");
        struct machine *m = machine_find(f, node->meta.name);
        if (!m || !ready || str_same(ready->c.status, "True"))
            continue;
        if (str_same(ready->c.status, "Unknown"))
            machine_off(m);
        else
            m->sick = true;
    }
}

void restore_end(struct restore *r) {
    restore_learn_end(r);
    make_needs(r);
    note_strangers(r);
    mend_overheads(r);
    mend_revisions(r, r->fleet->daemon_sets);
    mend_revisions(r, r->fleet->stateful_sets);
    mend_machines(r);
    sim_compact(r->sim);
}
