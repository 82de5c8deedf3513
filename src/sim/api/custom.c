/* Serving what CustomResourceDefinitions define. */
#include "sim/api/custom.h"

#include <assert.h>

#include "sim/api/crd.h"
#include "sim/api/registry.h"
#include "sim/api/simple_path.h"
#include "sim/api/strategy_kinds.h"
#include "sim/api/subresources.h"
#include "sim/api/system_fields.h"
#include "sim/api/table.h"

/* How long the real server's controllers take to accept a definition. */
#define SETTLE_MIN MSEC(5)
#define SETTLE_MAX MSEC(25)
/* Names and conditions, then the service; and one to spare. */
enum { SETTLE_TURNS = 3 };
/* The server's mark in the Scale of an object that has no number: nobody asks for as many. */
#define NO_REPLICAS INT32_MIN

struct served {
    struct resource_info info;
    struct resource resource;
    struct api_table_kind *columns, *scale_columns;
};

/* What is known of a definition between its changes, so that a change of one costs nothing for the
 * others. */
struct standing {
    json_t *accepted; /* status.acceptedNames: what others of the group cannot have; may be NULL */
    json_t *wanted;   /* spec.names when it was refused some of them; else NULL */
    int64_t checked;  /* the generation whose schemas have been looked at; 0: none */
    bool due;         /* to be settled when the alarm rings */
    struct custom_work work;
};

/* A definition, in force once it has a crd. When it changes, another one takes over its standing
 * and the shelf, and this one is retired: answers under way still read its rows. */
struct custom {
    char *name; /* of the definition */
    struct standing standing;
    int64_t generation;    /* in force */
    struct crd *crd;       /* NULL: not yet in force */
    struct shelf *shelf;   /* NULL: not yet in force, or handed on */
    struct served *served; /* one per version of the definition */
    size_t n;
};

/* --- columns --- */

static void *compile_path(const char *text) {
    struct simple_path *p;
    return simple_path_compile(text, &p, NULL) ? NULL : p;
}
static const json_t *find_path(const void *p, const json_t *obj) {
    return simple_path_find(p, obj);
}
static void free_path(void *p) {
    simple_path_free(p);
}
static const struct api_table_paths paths = {compile_path, find_path, free_path};

static struct served *served_of(const struct resource *res) {
    return CONTAINER_OF(res, struct served, resource);
}

const struct api_table_kind *custom_columns(const struct resource *res) {
    return served_of(res)->columns;
}

const struct api_table_kind *custom_scale_columns(const struct resource *res) {
    return served_of(res)->scale_columns;
}

static const struct crd_version *version_of(const struct resource *res) {
    return &res->custom->crd->versions[res->custom_version];
}

const json_t *custom_schema(const struct resource *res) {
    const json_t *list =
        json_object_get(json_object_get(res->custom->crd->json, "spec"), "versions");
    return json_object_get(json_object_get(json_array_get(list, res->custom_version), "schema"),
                           "openAPIV3Schema");
}

const char *custom_deprecation(const struct resource *res) {
    return version_of(res)->deprecation;
}

const char *const *resource_selectable(const struct resource *res) {
    return res->custom ? version_of(res)->selectable : NULL;
}

/* --- serving --- */

/* Takes the versions out of the API; the objects stay. */
static void withdraw(struct api *a, struct custom *c) {
    size_t n = 0;
    for (size_t i = 0; i < a->resources.len; i++)
        if (a->resources.p[i]->custom != c)
            a->resources.p[n++] = a->resources.p[i];
    a->resources.len = n;
}

void custom_free(struct custom *c) {
    for (size_t i = 0; i < c->n; i++) {
        api_table_kind_free(c->served[i].columns);
        api_table_kind_free(c->served[i].scale_columns);
    }
    free(c->served);
    crd_free(c->crd);
    shelf_free(c->shelf);
    json_decref(c->standing.accepted);
    json_decref(c->standing.wanted);
    free(c->name);
    free(c);
}

/* Its place in the list, or the end. */
static size_t custom_place(const struct api *a, const char *name) {
    size_t i = 0;
    while (i < a->customs.len && !streq(a->customs.p[i]->name, name))
        i++;
    return i;
}

static struct custom *custom_find(const struct api *a, const char *name) {
    size_t i = custom_place(a, name);
    return i < a->customs.len ? a->customs.p[i] : NULL;
}

static struct custom *custom_new(const char *name) {
    struct custom *c = xnew(struct custom);
    c->name = xstrdup(name);
    return c;
}

struct custom_work custom_work(const struct api *a, const char *name) {
    const struct custom *c = custom_find(a, name);
    return c ? c->standing.work : (struct custom_work){0};
}

/* Takes it out of the API, not out of the list; what still reads it may go on. */
static void retire(struct api *a, struct custom *c) {
    watches_close(a, c->shelf);
    withdraw(a, c);
    *vec_push(&a->retired) = c;
}

/* As the server decides whether to serve it anew. */
static bool in_force(const struct custom *c, const json_t *definition) {
    return c->crd && c->generation == meta_int(definition, "generation", 0) &&
           json_equal(json_object_get(json_object_get(c->crd->json, "status"), "acceptedNames"),
                      json_object_get(json_object_get(definition, "status"), "acceptedNames"));
}

static void serve(struct api *a, const json_t *definition) {
    size_t place = custom_place(a, strna(meta_str(definition, "name")));
    struct custom *c = a->customs.p[place];
    if (in_force(c, definition))
        return;
    struct field_errors e = {0};
    struct crd *crd;
    c->standing.work.compiled++;
    if (crd_accept(definition, &crd, &e)) { /* it was validated before it was stored */
        field_errors_done(&e);
        return;
    }
    if (c->crd) {
        struct custom *old = c;
        retire(a, old);
        c = custom_new(old->name);
        c->standing = old->standing;
        old->standing = (struct standing){0};
        c->shelf = TAKE_PTR(old->shelf);
        a->customs.p[place] = c;
    } else {
        c->shelf = shelf_new(a->world, &kind_any);
    }
    c->generation = meta_int(definition, "generation", 0);
    c->crd = crd;
    c->n = crd->n_versions;
    c->served = xcalloc(c->n, sizeof *c->served);
    const char *stored = "";
    for (size_t i = 0; i < c->n; i++)
        if (crd->versions[i].storage && crd->versions[i].served)
            stored = crd->versions[i].name;
    for (size_t i = 0; i < c->n; i++) {
        const struct crd_version *v = &crd->versions[i];
        struct served *s = &c->served[i];
        s->info = (struct resource_info){
            .group = crd->group,
            .version = v->name,
            .kind = crd->kind,
            .list_kind = crd->list_kind,
            .plural = crd->plural,
            .singular = crd->singular,
            .short_names = crd->short_names,
            .categories = crd->categories,
            .namespaced = crd->namespaced,
            .has_status = v->has_status,
            .has_scale = v->has_scale,
            .custom = true,
            .stored = stored,
            .verbs = VERBS_ALL,
        };
        s->resource = (struct resource){
            .info = &s->info, .shelf = c->shelf, .custom = c, .custom_version = i};
        s->columns = api_table_custom(v->columns, &paths);
        s->scale_columns = api_table_custom_scale(&paths);
        if (v->served)
            *vec_push(&a->resources) = &s->resource;
    }
}

/* --- the controllers of definitions --- */

static void store_definition(struct api *a, json_t *obj) {
    json_t *sorted = NULL;
    int rc = schema_canonical(a->crds->schema, obj, &sorted, NULL, NULL);
    assert(rc == 0);
    (void)rc;
    meta_order(sorted);
    (void)shelf_put(a->crds->shelf, sorted, NULL);
    json_decref(sorted);
}

/* Its objects go first, then it. */
static void clean_up(struct api *a, struct record *r) {
    struct custom *c = custom_find(a, r->obj->meta.name);
    if (c && c->shelf && shelf_len(c->shelf)) {
        struct snapshot *snap = shelf_snapshot(c->shelf);
        struct resource *res = &c->served[0].resource;
        for (size_t i = 0; i < snap->n; i++) {
            const struct meta *m = &snap->items[i]->obj->meta;
            struct write w = {
                .api = a, .res = res, .ns = m->ns, .name = m->name, .sub = NULL, .dry_run = false};
            struct delete_options o = DELETE_OPTIONS_INIT;
            _cleanup_failure_ struct failure f = FAILURE_INIT;
            struct record *out = NULL;
            bool gone;
            if (!m->deleted && registry_delete(&w, &o, &out, &gone, &f) == 0)
                record_unref(out);
        }
        snapshot_unref(snap);
        if (shelf_len(c->shelf)) /* finalizers hold some of them */
            return;
    }
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i, v) if (str_same(json_string_value(v), CRD_FINALIZER)) {
        json_array_remove(list, i);
        break;
    }
    struct write w = {.api = a,
                      .res = a->crds,
                      .ns = NULL,
                      .name = r->obj->meta.name,
                      .sub = NULL,
                      .dry_run = false};
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct record *out = NULL;
    bool created;
    if (registry_update(&w, &obj, &out, &created, &f) == 0)
        record_unref(out);
    json_decref(obj);
}

/* A definition is named after its plural and its group. */
static const char *group_of(const char *name) {
    return strna(strchr(name, '.'));
}

/* The names that its group has, its own among them: the server too refuses to give it one of them
 * in another role. To be freed; the names belong to the definitions. */
static const json_t **taken_names(const struct api *a, const struct custom *c, size_t *n) {
    const json_t **taken = xcalloc(a->customs.len, sizeof *taken);
    *n = 0;
    for (size_t i = 0; i < a->customs.len; i++) {
        const struct custom *other = a->customs.p[i];
        if (other->standing.accepted && streq(group_of(other->name), group_of(c->name)))
            taken[(*n)++] = other->standing.accepted;
    }
    return taken;
}

static void settle_one(struct api *a, struct custom *c, struct record *r) {
    if (r->obj->meta.deleted) {
        clean_up(a, r);
        return;
    }
    _cleanup_json_ json_t *obj = record_json(r);
    bool changed = false;
    c->standing.work.settled++;
    /* Schemas stay the same while the generation does: the server's controller looks no further,
     * either. */
    int64_t generation = meta_int(obj, "generation", 0);
    if (c->standing.checked != generation) {
        c->standing.checked = generation;
        c->standing.work.checked++;
        changed = crd_settle_schemas(obj, a->world->clock.now);
    }
    size_t n;
    const json_t **taken = taken_names(a, c, &n);
    changed |= crd_settle(obj, taken, n, a->world->clock.now);
    free(taken);
    json_t *names = json_object_get(json_object_get(obj, "spec"), "names");
    json_decref(c->standing.wanted);
    c->standing.wanted =
        json_equal(names, json_object_get(json_object_get(obj, "status"), "acceptedNames"))
            ? NULL
            : json_incref(names);
    if (changed)
        store_definition(a, obj);
    else if (crd_condition(obj, "Established"))
        serve(a, obj);
}

/* Settling one may change the list: those that are due are looked up by name, one after the other,
 * in the order in which they were created. */
static void settle(void *arg) {
    struct api *a = arg;
    VEC(char *) due = VEC_INIT;
    for (size_t i = 0; i < a->customs.len; i++)
        if (a->customs.p[i]->standing.due) {
            a->customs.p[i]->standing.due = false;
            *vec_push(&due) = xstrdup(a->customs.p[i]->name);
        }
    bool waiting = false;
    for (size_t i = 0; i < due.len; i++) {
        struct record *now = shelf_get(a->crds->shelf, NULL, due.p[i]);
        struct custom *c = custom_find(a, due.p[i]);
        if (now && c)
            settle_one(a, c, now);
        now = shelf_get(a->crds->shelf, NULL, due.p[i]);
        if (now && now->obj->meta.deleted && (c = custom_find(a, due.p[i])))
            waiting = c->standing.due = true; /* its objects are not gone */
        free(due.p[i]);
    }
    vec_done(&due);
    if (waiting && !alarm_pending(&a->settle))
        clock_set(&a->world->clock, &a->settle, a->world->clock.now + SEC(1), settle, a);
}

/* Accepting a definition changes it, which is seen to in its turn; one whose objects are not gone
 * is never settled. */
void custom_settle(struct api *a) {
    for (int i = 0; i < SETTLE_TURNS && alarm_pending(&a->settle); i++) {
        clock_stop(&a->world->clock, &a->settle);
        settle(a);
    }
}

static void settle_soon(struct api *a) {
    int64_t wait = prng_range(&a->world->random, SETTLE_MIN, SETTLE_MAX);
    if (!alarm_pending(&a->settle) || a->settle.due > a->world->clock.now + wait)
        clock_set(&a->world->clock, &a->settle, a->world->clock.now + wait, settle, a);
}

/* Calls for every name in a spec.names or status.acceptedNames; true when one call says so. */
static bool any_name(const json_t *names, bool (*fn)(json_t *set, const char *name), json_t *set) {
    static const char *const keys[] = {"plural", "singular", "kind", "listKind"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (fn(set, strna(json_str(names, keys[i]))))
            return true;
    const json_t *shorts = json_object_get(names, "shortNames");
    for (size_t i = 0; i < json_array_size(shorts); i++)
        if (fn(set, strna(json_string_value(json_array_get(shorts, i)))))
            return true;
    return false;
}
static bool name_add(json_t *set, const char *name) {
    if (*name)
        json_object_set_new(set, name, json_true());
    return false;
}
static bool name_drop(json_t *set, const char *name) {
    json_object_del(set, name);
    return false;
}
static bool name_has(json_t *set, const char *name) {
    return json_object_get(set, name);
}

/* A definition had the names `before` and has `after` now (NULL: none): those of its group that
 * were refused one it has given up try again. False when there are none. */
static bool wake(struct api *a, const char *name, const json_t *before, const json_t *after) {
    _cleanup_json_ json_t *released = json_object();
    any_name(before, name_add, released);
    any_name(after, name_drop, released);
    bool any = false;
    for (size_t i = 0; i < a->customs.len && json_object_size(released); i++) {
        struct custom *c = a->customs.p[i];
        if (c->standing.wanted && streq(group_of(c->name), group_of(name)) &&
            any_name(c->standing.wanted, name_has, released))
            any = c->standing.due = true;
    }
    return any;
}

static void definition_gone(struct api *a, const char *name) {
    size_t place = custom_place(a, name);
    if (place == a->customs.len)
        return;
    struct custom *c = a->customs.p[place];
    memmove(a->customs.p + place, a->customs.p + place + 1,
            (--a->customs.len - place) * sizeof *a->customs.p);
    if (wake(a, name, c->standing.accepted, NULL))
        settle_soon(a);
    if (c->crd)
        retire(a, c);
    else
        custom_free(c);
}

void custom_changed(struct api *a, const struct change *change) {
    const char *name = change->after->obj->meta.name;
    if (change->type == CHANGE_DELETED) {
        definition_gone(a, name);
        return;
    }
    struct custom *c = custom_find(a, name);
    if (!c)
        c = *vec_push(&a->customs) = custom_new(name);
    struct view text = record_status_member(&a->world->codec, change->after, "acceptedNames");
    _cleanup_json_ json_t *before = c->standing.accepted;
    c->standing.accepted = json_loadb(strna(text.p), text.len, 0, NULL);
    wake(a, name, before, c->standing.accepted);
    c->standing.due = true;
    settle_soon(a);
}

/* --- objects --- */

int custom_decode(const struct resource *res, const json_t *raw, json_t **out,
                  struct schema_notes *notes, struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (crd_decode(version_of(res), raw, out, notes, &err))
        return fail_bad_request(f, "%s in version \"%s\" cannot be handled as a %s: %s",
                                res->info->kind, res->info->version, res->info->kind,
                                err_msg(&err));
    return 0;
}

static int refuse(const struct resource *res, const json_t *obj, struct field_errors *e,
                  struct failure *f) {
    int rc = 0;
    if (e->v.len)
        rc = fail_invalid(f, res->info->group, strna(json_str(obj, "kind")),
                          strna(meta_str(obj, "name")), e);
    field_errors_done(e);
    return rc;
}

/* kind, apiVersion and metadata first, as records want it; stored in the storage version. */
static void arrange(const struct resource *res, json_t **obj) {
    const struct crd *crd = res->custom->crd;
    json_t *sorted = json_object();
    const struct crd_version *storage = &crd->versions[0];
    for (size_t i = 0; i < crd->n_versions; i++)
        if (crd->versions[i].storage)
            storage = &crd->versions[i];
    json_object_set_new(sorted, "kind", json_string(crd->kind));
    json_object_set_new(sorted, "apiVersion", json_sprintf("%s/%s", crd->group, storage->name));
    json_object_set(sorted, "metadata", json_object_get(*obj, "metadata"));
    const char *key;
    json_t *v;
    json_object_foreach(*obj, key, v) if (!json_object_get(sorted, key))
        json_object_set(sorted, key, v);
    json_decref(*obj);
    *obj = sorted;
    crd_object_settle(*obj);
}

int custom_create(struct api *a, const struct resource *res, json_t **obj, struct failure *f) {
    const struct crd_version *v = version_of(res);
    const struct record *definition = shelf_get(a->crds->shelf, NULL, res->custom->name);
    if (definition && definition->obj->meta.deleted)
        return fail_forbidden(f, res->info->group, res->info->plural, strna(meta_str(*obj, "name")),
                              "create not allowed while custom resource definition is terminating");
    system_fields_create(a->world, *obj);
    crd_object_prepare_create(v, *obj);
    struct field_errors e = {0};
    crd_object_validate_create(v, *obj, &e);
    if (refuse(res, *obj, &e, f))
        return -1;
    arrange(res, obj);
    return 0;
}

int custom_update(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                  const json_t *old, struct failure *f) {
    (void)a;
    const struct crd_version *v = version_of(res);
    enum crd_part part = sub && streq(sub, "status") ? CRD_STATUS : CRD_MAIN;
    /* In the version of the request. */
    _cleanup_json_ json_t *was = json_deep_copy(old);
    resource_relabel(res, was);
    if (system_fields_update(res, *obj, was, false, f))
        return -1;
    crd_object_prepare_update(v, part, *obj, was);
    struct field_errors e = {0};
    /* The handler looks at the metadata, and the strategy does so again: both complain. */
    struct at root = at_root(*obj), meta = at_child(&root, "metadata");
    check_meta_generic(&e, &meta, res->info->namespaced, name_path_segment,
                       name_path_segment_prefix);
    check_meta_update_generic(&e, &meta, json_object_get(was, "metadata"));
    crd_object_validate_update(v, part, *obj, was, &e);
    if (refuse(res, *obj, &e, f))
        return -1;
    arrange(res, obj);
    return 0;
}

static int scale_of(const struct resource *res, const json_t *obj, bool to_change, json_t **out,
                    struct failure *f) {
    struct crd_scale s;
    _cleanup_err_ struct err err = ERR_INIT;
    if (crd_object_scale(version_of(res), obj, &s, &err))
        return fail(f, 500, "", "%s", err_msg(&err));
    if (!s.has_replicas && !to_change) { /* as apimachinery's NewInternalError() */
        _cleanup_free_ char *why = xasprintf("the spec replicas field \"%s\" does not exist",
                                             version_of(res)->spec_replicas);
        fail(f, 500, "InternalError", "Internal error occurred: %s", why);
        failure_cause(f, "", why, "");
        return -1;
    }
    if (!s.has_replicas)
        s.replicas = NO_REPLICAS;
    json_t *meta = json_pack("{s:s}", "name", strna(meta_str(obj, "name")));
    static const char *const keys[] = {"namespace", "uid", "resourceVersion", "creationTimestamp"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (meta_str(obj, keys[i]))
            json_object_set_new(meta, keys[i], json_string(meta_str(obj, keys[i])));
    *out =
        json_pack("{s:s, s:s, s:o, s:{}, s:{s:I}}", "kind", "Scale", "apiVersion", "autoscaling/v1",
                  "metadata", meta, "spec", "status", "replicas", (json_int_t)s.status_replicas);
    if (s.replicas)
        json_object_set_new(json_object_get(*out, "spec"), "replicas", json_integer(s.replicas));
    if (*s.selector)
        json_object_set_new(json_object_get(*out, "status"), "selector", json_string(s.selector));
    return 0;
}

int custom_scale(const struct resource *res, const json_t *obj, json_t **out, struct failure *f) {
    return scale_of(res, obj, false, out, f);
}

int custom_scale_to_change(const struct resource *res, const json_t *obj, json_t **out,
                           struct failure *f) {
    return scale_of(res, obj, true, out, f);
}

int custom_set_scale(const struct resource *res, json_t *obj, int64_t replicas, struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (replicas == NO_REPLICAS)
        return fail_bad_request(f, "the spec replicas field \"%s\" cannot be empty",
                                version_of(res)->spec_replicas);
    if (crd_object_set_replicas(version_of(res), obj, replicas, &err))
        return fail_bad_request(f, "%s", err_msg(&err));
    return 0;
}

/* --- the definitions themselves --- */

int definition_decode(const struct resource *res, const json_t *raw, json_t **out,
                      struct schema_notes *notes, struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(res->schema, raw, out, notes, &err))
        return fail_bad_request(f, "%s in version \"%s\" cannot be handled as a %s: %s",
                                res->info->kind, res->info->version, res->info->kind,
                                err_msg(&err));
    crd_default(*out);
    return 0;
}

int definition_create(struct api *a, const struct resource *res, json_t *obj, struct failure *f) {
    system_fields_create(a->world, obj);
    crd_prepare_create(obj);
    struct field_errors e = {0};
    crd_validate_create(obj, &e);
    if (refuse(res, obj, &e, f))
        return -1;
    crd_store(obj);
    return 0;
}

int definition_update(struct api *a, const struct resource *res, const char *sub, json_t *obj,
                      const json_t *old, struct failure *f) {
    (void)a;
    struct field_errors e = {0};
    if (system_fields_update(res, obj, old, false, f))
        return -1;
    if (sub) {
        crd_prepare_status(obj, old);
        crd_validate_status(obj, old, &e);
    } else {
        crd_prepare_update(obj, old);
        crd_validate_update(obj, old, &e);
    }
    if (refuse(res, obj, &e, f))
        return -1;
    crd_store(obj);
    return 0;
}

void definition_terminate(json_t *obj, int64_t now) {
    crd_terminate(obj, now);
}
