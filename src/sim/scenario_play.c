/* Making a cluster of a scenario, and letting its events happen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "sim/api/patch.h"
#include "sim/api/rules.h"
#include "sim/fleet/fleet.h"
#include "sim/scenario_internal.h"

/* --- what is wrong, and where --- */

/* Where the field that a server's message names ("spec.containers[0].image") stands in a value of
 * the document: as far as the path can be followed there, from `pos` on. Keys of maps may have dots
 * in them: the longest key that fits counts. */
static struct yaml_pos field_pos(const struct yaml_doc *doc, const json_t *v, struct yaml_pos pos,
                                 const char *path) {
    while (*path) {
        if (*path == '[') {
            char *end;
            size_t i = strtoul(path + 1, &end, 10);
            if (*end != ']' || !json_array_get(v, i))
                return pos;
            pos = yaml_item_pos(doc, v, i);
            v = json_array_get(v, i);
            path = end + 1;
        } else {
            path += *path == '.';
            const char *key, *found = NULL;
            json_t *item;
            json_object_foreach((json_t *)v, key, item) {
                size_t n = strlen(key);
                if (str_starts(path, key) && strchr(".[", path[n]) && (!found || n > strlen(found)))
                    found = key;
            }
            if (!found)
                return pos;
            pos = yaml_key_pos(doc, v, found);
            v = json_object_get(v, found);
            path += strlen(found);
        }
    }
    return pos;
}

/* `doc_value` is what stands in the file, at `pos`. */
static int refused(const struct scenario *s, const json_t *doc_value, struct yaml_pos pos,
                   const char *what, const char *name, const struct failure *failure,
                   struct err *err) {
    const char *field = failure->causes.len ? failure->causes.p[0].field : NULL;
    return yaml_err(s->doc, field_pos(s->doc, doc_value, pos, strna(field)), err,
                    "%s \"%s\" was refused: %s", what, name, strna(failure->message));
}

/* Fields that nobody knows are dropped by the API, as from any client; here they are mistakes. */
static int check_fields(const struct scenario *s, struct resource *res, const json_t *raw,
                        const json_t *doc_value, struct yaml_pos pos, struct err *err) {
    struct schema_notes notes = {0};
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *decoded = NULL;
    int rc = 0;
    if (!rules_decode(sim_api(s->sim), res, raw, &decoded, &notes, &failure) && notes.texts.len) {
        const char *text = notes.texts.p[0]; /* unknown field "spec.foo" */
        const char *quote = strchr(text, '"');
        _cleanup_free_ char *path =
            quote ? xstrndup(quote + 1, strcspn(quote + 1, "\"")) : xstrdup("");
        rc = yaml_err(s->doc, field_pos(s->doc, doc_value, pos, path), err, "%s in %s \"%s\"", text,
                      res->info->kind, strna(meta_str(raw, "name")));
    }
    schema_notes_done(&notes);
    return rc;
}

/* --- nodes --- */

/* The n-th of a group, from 0. */
static char *node_name(const struct node_group *g, int64_t n) {
    return xasprintf("%.*s%0*" PRId64 "%s", (int)g->prefix, g->name, g->digits, g->first + n,
                     g->suffix);
}

static json_t *copy_or_new(const json_t *v) {
    return v ? json_deep_copy(v) : json_object();
}

static json_t *node_object(const struct node_group *g, int64_t n, const char *name) {
    json_t *labels = copy_or_new(g->labels), *annotations = copy_or_new(g->annotations);
    json_object_set_new(labels, "kubernetes.io/hostname", json_string(name));
    json_object_set_new(labels, "kubernetes.io/os", json_string("linux"));
    json_object_set_new(labels, "kubernetes.io/arch", json_string("amd64"));
    size_t zones = 0;
    while (g->zones && g->zones[zones])
        zones++;
    if (zones)
        json_object_set_new(labels, "topology.kubernetes.io/zone",
                            json_string(g->zones[(size_t)n % zones]));
    if (g->region)
        json_object_set_new(labels, "topology.kubernetes.io/region", json_string(g->region));
    for (size_t i = 0; g->roles && g->roles[i]; i++) {
        _cleanup_free_ char *key = xasprintf("node-role.kubernetes.io/%s", g->roles[i]);
        json_object_set_new(labels, key, json_string(""));
    }
    json_object_set_new(annotations, SIM_ANNOTATION "machine", json_string(""));
    json_t *spec = json_object();
    if (g->taints)
        json_object_set_new(spec, "taints", json_deep_copy(g->taints));
    if (g->unschedulable)
        json_object_set_new(spec, "unschedulable", json_true());
    json_t *capacity =
        json_pack("{s:o, s:s, s:s, s:o}", "cpu", json_sprintf("%" PRId64, g->cpu), "memory",
                  g->memory ? g->memory : "32Gi", "ephemeral-storage",
                  g->storage ? g->storage : "100Gi", "pods", json_sprintf("%" PRId64, g->pods));
    return json_pack("{s:{s:s, s:o, s:o}, s:o, s:{s:o, s:O}}", "metadata", "name", name, "labels",
                     labels, "annotations", annotations, "spec", spec, "status", "capacity",
                     capacity, "allocatable", capacity);
}

static int create_static_pods(struct scenario *s, const struct node_group *g, const char *node,
                              struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    struct machine *m = machine_find(f, node);
    for (size_t i = 0; m && i < json_array_size(g->static_pods); i++) {
        const json_t *pod = json_array_get(g->static_pods, i);
        struct yaml_pos pos = yaml_item_pos(s->doc, g->static_pods, i);
        if (!json_is_object(pod))
            return yaml_err(s->doc, pos, err, "a static pod must be a mapping, not %s",
                            json_type_words(pod));
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        const char *name = strna(meta_str(pod, "name"));
        if (!*name)
            return yaml_err(s->doc, pos, err, "the static pod has no metadata.name");
        int rc = check_fields(s, f->pods, pod, pod, pos, err);
        if (rc)
            return rc;
        if (!machine_add_static_pod(m, pod, &failure))
            return refused(s, pod, pos, "static pod", name, &failure, err);
    }
    return 0;
}

static int create_group(struct scenario *s, size_t i, int64_t count, struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    const struct node_group *g = &s->groups.p[i];
    for (int64_t n = 0; n < count; n++) {
        _cleanup_free_ char *name = node_name(g, n);
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        struct record *r = fleet_create(f, f->nodes, NULL, node_object(g, n, name), &failure);
        if (!r)
            return refused(s, json_array_get(s->nodes, i), yaml_item_pos(s->doc, s->nodes, i),
                           "node", name, &failure, err);
        record_unref(r);
        int rc = create_static_pods(s, g, name, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int create_nodes(struct scenario *s, size_t wanted, struct err *err) {
    const struct node_group *main_group = scenario_main_group(s);
    if (wanted && !main_group)
        return yaml_err(s->doc, yaml_root_pos(s->doc), err,
                        "the scenario has no group of nodes whose number --nodes could be");
    int rc = 0;
    for (size_t i = 0; i < s->groups.len && !rc; i++) {
        const struct node_group *g = &s->groups.p[i];
        rc = create_group(s, i, g == main_group && wanted ? (int64_t)wanted : g->count, err);
    }
    return rc;
}

/* --- objects --- */

/* Replaces {n} in every string of a value. */
static json_t *numbered(const json_t *v, int64_t n) {
    if (json_is_object(v)) {
        json_t *out = json_object(), *item;
        const char *key;
        json_object_foreach((json_t *)v, key, item)
            json_object_set_new(out, key, numbered(item, n));
        return out;
    }
    if (json_is_array(v)) {
        json_t *out = json_array();
        for (size_t i = 0; i < json_array_size(v); i++)
            json_array_append_new(out, numbered(json_array_get(v, i), n));
        return out;
    }
    const char *text = json_string_value(v);
    if (!text || !strstr(text, "{n}"))
        return json_copy((json_t *)v);
    _cleanup_str_ struct str out = STR_INIT;
    for (const char *at; (at = strstr(text, "{n}")); text = at + 3) {
        str_addn(&out, text, (size_t)(at - text));
        str_addf(&out, "%" PRId64, n);
    }
    str_add(&out, text);
    return json_string(str_get(&out));
}

/* Exactly this version. What is not stored (access reviews) cannot be part of a cluster. */
static struct resource *find_kind(struct fleet *f, const char *version, const char *kind) {
    struct resource *res = api_resource_of_kind(f->api, version, kind);
    if (!res || !res->shelf)
        return NULL;
    _cleanup_str_ struct str served = STR_INIT;
    group_version_add(&served, res->info->group, res->info->version);
    return streq(str_get(&served), version) ? res : NULL;
}

static struct resource *resource_of(struct fleet *f, const json_t *obj) {
    return find_kind(f, json_str(obj, "apiVersion"), json_str(obj, "kind"));
}

static int no_kind(const struct scenario *s, const json_t *doc_value, struct yaml_pos pos,
                   const char *version, const char *kind, struct err *err) {
    return yaml_err(s->doc, field_pos(s->doc, doc_value, pos, "kind"), err,
                    "there is no kind \"%s\" in \"%s\"; a custom one needs its "
                    "CustomResourceDefinition before it",
                    kind, version);
}

static const char *namespace_of(const struct resource *res, const char *ns) {
    return !res->info->namespaced ? NULL : str_empty(ns) ? "default" : ns;
}

/* A status that comes with the object is written after it, by a second request, as from a
 * controller. */
static bool put_status(struct fleet *f, struct resource *res, const char *ns, const char *name,
                       const json_t *status, struct failure *failure) {
    const struct record *r = shelf_get(res->shelf, ns, name);
    if (!r || !status || !res->info->has_status)
        return true;
    json_t *obj = record_json(r);
    json_object_set_new(obj, "status", json_deep_copy(status));
    return fleet_update(f, res, "status", obj, failure);
}

static int create_object(struct scenario *s, const json_t *doc_value, struct yaml_pos pos,
                         int64_t n, struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    _cleanup_json_ json_t *raw = numbered(doc_value, n);
    json_object_del(raw, "copies");
    struct resource *res = resource_of(f, raw);
    if (!res)
        return no_kind(s, doc_value, pos, json_str(raw, "apiVersion"), json_str(raw, "kind"), err);
    int rc = n == 1 ? check_fields(s, res, raw, doc_value, pos, err) : 0;
    if (rc)
        return rc;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    const char *ns = namespace_of(res, meta_str(raw, "namespace"));
    struct record *r = fleet_create(f, res, ns, json_deep_copy(raw), &failure);
    bool good =
        r && put_status(f, res, ns, r->obj->meta.name, json_object_get(raw, "status"), &failure);
    record_unref(r);
    return good ? 0
                : refused(s, doc_value, pos, res->info->kind, strna(meta_str(raw, "name")),
                          &failure, err);
}

static int create_objects(struct scenario *s, struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    size_t nodes = sim_node_count(s->sim);
    for (size_t i = 0; i < json_array_size(s->objects); i++) {
        const json_t *doc_value = json_array_get(s->objects, i);
        struct yaml_pos pos = yaml_item_pos(s->doc, s->objects, i);
        int64_t copies;
        int rc = scenario_copies(s, doc_value, nodes, &copies, err);
        for (int64_t n = 1; n <= copies && !rc; n++)
            rc = create_object(s, doc_value, pos, n, err);
        if (rc)
            return rc;
        /* Definitions and namespaces need a moment before they can be used. */
        const struct resource *res = resource_of(f, doc_value);
        if (res && (res == f->api->crds || res == f->namespaces))
            clock_run(&f->world->clock, f->world->clock.now + SEC(1));
    }
    return 0;
}

/* --- events --- */

static struct machine *pick(struct fleet *f, const char *name) {
    if (!streq(name, "any"))
        return machine_find(f, name);
    struct snapshot *snap = shelf_snapshot(f->nodes->shelf);
    struct machine *m = NULL;
    if (snap->n)
        m = machine_find(
            f, snap->items[prng_range(&f->world->random, 0, (int64_t)snap->n)]->obj->meta.name);
    snapshot_unref(snap);
    return m;
}

static int apply(struct scenario_event *e, struct err *err) {
    struct scenario *s = e->scenario;
    struct fleet *f = sim_fleet(s->sim);
    struct resource *res = resource_of(f, e->apply);
    if (!res)
        return no_kind(s, e->apply, e->pos, json_str(e->apply, "apiVersion"),
                       json_str(e->apply, "kind"), err);
    const char *ns = namespace_of(res, meta_str(e->apply, "namespace"));
    const char *name = strna(meta_str(e->apply, "name"));
    const json_t *status = json_object_get(e->apply, "status");
    struct record *r = shelf_get(res->shelf, ns, name);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *merged = NULL;
    bool good;
    if (r) {
        struct patch patch = {.kind = PATCH_MERGE, .body = e->apply};
        _cleanup_json_ json_t *current = record_json(r);
        good = !patch_apply(&patch, current, &merged, NULL, &failure, NULL) &&
               fleet_update(f, res, NULL, json_deep_copy(merged), &failure);
        status = status ? json_object_get(merged, "status") : NULL;
    } else {
        r = fleet_create(f, res, ns, json_deep_copy(e->apply), &failure);
        good = r != NULL;
        record_unref(r);
    }
    if (!good || !put_status(f, res, ns, name, status, &failure))
        return refused(s, e->apply, e->pos, res->info->kind, name, &failure, err);
    return 0;
}

static int delete_object(struct scenario_event *e, struct err *err) {
    struct scenario *s = e->scenario;
    struct fleet *f = sim_fleet(s->sim);
    const char *version = e->gone.version ? e->gone.version : "v1";
    struct resource *res = find_kind(f, version, e->gone.kind);
    if (!res)
        return no_kind(s, e->delete_map, e->pos, version, e->gone.kind, err);
    if (!fleet_delete(f, res, namespace_of(res, e->gone.ns), e->gone.name, NULL))
        return yaml_err(s->doc, e->pos, err, "%s \"%s\" could not be deleted: there is none",
                        e->gone.kind, e->gone.name);
    return 0;
}

static void happen(void *arg) {
    struct scenario_event *e = arg;
    struct scenario *s = e->scenario;
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = 0;
    if (e->every)
        clock_set(&sim_world(s->sim)->clock, &e->alarm, e->alarm.due + e->every, happen, e);
    if (e->deed) {
        struct machine *m = pick(sim_fleet(s->sim), e->node);
        if (m)
            e->deed->fn(m);
        else
            rc = yaml_err(s->doc, e->pos, &err, "nothing happens to node \"%s\": it is gone",
                          e->node);
    } else {
        rc = e->apply ? apply(e, &err) : delete_object(e, &err);
    }
    if (rc && s->trouble)
        s->trouble(s->trouble_arg, err_msg(&err));
}

/* An event that comes before this one applies the definition of the kind. */
static bool defined_before(const struct scenario *s, const struct scenario_event *e,
                           const char *version, const char *kind) {
    for (size_t i = 0; i < s->list.len; i++) {
        const struct scenario_event *other = &s->list.p[i];
        if (!str_same(json_str(other->apply, "kind"), "CustomResourceDefinition") ||
            (other->after > e->after && !e->every))
            continue;
        const json_t *spec = json_object_get(other->apply, "spec");
        const json_t *versions = json_object_get(spec, "versions");
        bool same = str_same(json_str(json_object_get(spec, "names"), "kind"), kind);
        for (size_t k = 0; k < json_array_size(versions) && same; k++) {
            _cleanup_free_ char *served =
                xasprintf("%s/%s", strna(json_str(spec, "group")),
                          strna(json_str(json_array_get(versions, k), "name")));
            if (streq(served, version))
                return true;
        }
    }
    return false;
}

/* What an event applies may be a part of an object, but that must be of the right form. */
static int check_apply(const struct scenario *s, const struct scenario_event *e,
                       struct resource *res, struct err *err) {
    _cleanup_json_ json_t *empty = json_object(), *raw = NULL, *decoded = NULL;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct schema_notes notes = {0};
    struct patch patch = {.kind = PATCH_MERGE, .body = e->apply}; /* without what it takes away */
    bool good = !patch_apply(&patch, empty, &raw, NULL, &failure, NULL) &&
                !rules_decode(sim_api(s->sim), res, raw, &decoded, &notes, &failure);
    schema_notes_done(&notes);
    return good ? check_fields(s, res, e->apply, e->apply, e->pos, err)
                : refused(s, e->apply, e->pos, res->info->kind, strna(meta_str(e->apply, "name")),
                          &failure, err);
}

static int check_object_event(const struct scenario *s, const struct scenario_event *e,
                              struct err *err) {
    const json_t *doc_value = e->apply ? e->apply : e->delete_map;
    const char *version = e->apply          ? json_str(e->apply, "apiVersion")
                          : e->gone.version ? e->gone.version
                                            : "v1";
    const char *kind = e->apply ? json_str(e->apply, "kind") : e->gone.kind;
    struct resource *res = find_kind(sim_fleet(s->sim), version, kind);
    if (!res)
        return defined_before(s, e, version, kind)
                   ? 0
                   : no_kind(s, doc_value, e->pos, version, kind, err);
    return e->apply ? check_apply(s, e, res, err) : 0;
}

/* Before it begins, so that a slip is not found out hours later. */
static int check_events(const struct scenario *s, struct err *err) {
    struct snapshot *snap = shelf_snapshot(sim_fleet(s->sim)->nodes->shelf);
    VEC(const char *) names = VEC_INIT;
    for (size_t i = 0; i < snap->n; i++)
        *vec_push(&names) = snap->items[i]->obj->meta.name;
    int rc = 0;
    for (size_t i = 0; i < s->list.len && !rc; i++) {
        const struct scenario_event *e = &s->list.p[i];
        bool known = !e->node || streq(e->node, "any");
        for (size_t k = 0; k < names.len && !known; k++)
            known = streq(names.p[k], e->node);
        if (!known)
            rc = yaml_bad_word(s->doc, yaml_value_pos(s->doc, json_array_get(s->events, i), "node"),
                               "node here", e->node, names.p, names.len, err);
        else if (!e->deed)
            rc = check_object_event(s, e, err);
    }
    vec_done(&names);
    snapshot_unref(snap);
    return rc;
}

/* All machines are up, and nothing keeps pods from them that they were not born with. */
static bool nodes_are_ready(struct sim *sim) {
    struct fleet *f = sim_fleet(sim);
    struct snapshot *snap = shelf_snapshot(f->nodes->shelf);
    bool ready = true;
    for (size_t i = 0; i < snap->n && ready; i++) {
        const struct node *node = record_as(node, snap->items[i]);
        if (!machine_find(f, node->meta.name))
            continue;
        const struct node_condition *c = node_condition_find(node->conditions, "Ready");
        ready = c && str_same(c->c.status, "True");
        for (size_t k = 0; k < list_len(node->taints) && ready; k++)
            ready = !str_same(node->taints[k].key, "node.kubernetes.io/not-ready");
    }
    snapshot_unref(snap);
    return ready;
}

int scenario_begin(struct scenario *s, struct sim *sim, size_t nodes, struct err *err) {
    s->sim = sim;
    struct clock *clock = &sim_world(sim)->clock;
    int rc = create_nodes(s, nodes, err);
    if (rc)
        return rc;
    /* Pods that come before all nodes are there would crowd on the first. */
    for (int i = 0; i < 60 && !nodes_are_ready(sim); i++)
        clock_run(clock, clock->now + SEC(1));
    rc = create_objects(s, err);
    if (!rc)
        rc = check_events(s, err);
    if (!rc)
        (void)sim_settle(sim, s->settle);
    return rc;
}

void scenario_play(struct scenario *s, scenario_trouble_fn *trouble, void *arg) {
    struct clock *clock = &sim_world(s->sim)->clock;
    s->trouble = trouble;
    s->trouble_arg = arg;
    sim_compact(s->sim);
    for (size_t i = 0; i < s->list.len; i++) {
        struct scenario_event *e = &s->list.p[i];
        clock_set(clock, &e->alarm, clock->now + e->after, happen, e);
    }
}

void scenario_stop(struct scenario *s) {
    for (size_t i = 0; s && s->sim && i < s->list.len; i++)
        clock_stop(&sim_world(s->sim)->clock, &s->list.p[i].alarm);
}
