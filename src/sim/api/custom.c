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

struct served {
    struct resource_info info;
    struct resource resource;
    struct api_table_kind *columns, *scale_columns;
};

/* A definition in force. When it changes, another one takes over the shelf, and this one is
 * retired: answers under way still read its rows. */
struct custom {
    char *name; /* of the definition */
    int64_t generation;
    struct crd *crd;
    struct shelf *shelf;   /* NULL: handed on */
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
    free(c->name);
    free(c);
}

static struct custom *custom_find(struct api *a, const char *name) {
    for (size_t i = 0; i < a->customs.len; i++)
        if (streq(a->customs.p[i]->name, name))
            return a->customs.p[i];
    return NULL;
}

/* Takes it out of the API; what still reads it may go on. */
static void retire(struct api *a, struct custom *c) {
    watches_close(a, c->shelf);
    withdraw(a, c);
    for (size_t i = 0; i < a->customs.len; i++)
        if (a->customs.p[i] == c) {
            memmove(a->customs.p + i, a->customs.p + i + 1,
                    (--a->customs.len - i) * sizeof(struct custom *));
            break;
        }
    *vec_push(&a->retired) = c;
}

static void serve(struct api *a, const json_t *definition) {
    const char *name = strna(meta_str(definition, "name"));
    int64_t generation = meta_int(definition, "generation", 0);
    struct custom *old = custom_find(a, name);
    if (old && old->generation == generation)
        return;
    struct field_errors e = {0};
    struct crd *crd;
    if (crd_accept(definition, &crd, &e)) { /* it was validated before it was stored */
        field_errors_done(&e);
        return;
    }
    struct custom *c = xnew(struct custom);
    c->name = xstrdup(name);
    c->generation = generation;
    if (old) {
        retire(a, old);
        c->shelf = TAKE_PTR(old->shelf);
    } else {
        c->shelf = shelf_new(a->world, &kind_any);
    }
    *vec_push(&a->customs) = c;
    c->crd = crd;
    c->n = crd->n_versions;
    c->served = xcalloc(c->n, sizeof *c->served);
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

static void forget(struct api *a, const char *name) {
    struct custom *c = custom_find(a, name);
    if (c)
        retire(a, c);
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
    if (c && shelf_len(c->shelf)) {
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

static void settle_one(struct api *a, struct record *r) {
    if (r->obj->meta.deleted) {
        clean_up(a, r);
        return;
    }
    _cleanup_json_ json_t *obj = record_json(r);
    struct snapshot *snap = shelf_snapshot(a->crds->shelf);
    json_t **others = xcalloc(snap->n, sizeof *others);
    size_t n = 0;
    for (size_t i = 0; i < snap->n; i++)
        if (snap->items[i] != r)
            others[n++] = record_json(snap->items[i]);
    snapshot_unref(snap);
    if (crd_settle(obj, (const json_t *const *)others, n, a->world->clock.now))
        store_definition(a, obj);
    else if (crd_condition(obj, "Established"))
        serve(a, obj);
    for (size_t i = 0; i < n; i++)
        json_decref(others[i]);
    free(others);
}

static void settle(void *arg) {
    struct api *a = arg;
    struct snapshot *snap = shelf_snapshot(a->crds->shelf);
    bool waiting = false;
    for (size_t i = 0; i < snap->n; i++) {
        const struct meta *m = &snap->items[i]->obj->meta;
        struct record *now = shelf_get(a->crds->shelf, NULL, m->name);
        if (now)
            settle_one(a, now);
        now = shelf_get(a->crds->shelf, NULL, m->name);
        waiting = waiting || (now && now->obj->meta.deleted);
    }
    snapshot_unref(snap);
    if (waiting && !alarm_pending(&a->settle))
        clock_set(&a->world->clock, &a->settle, a->world->clock.now + SEC(1), settle, a);
}

void custom_changed(struct api *a, const struct change *change) {
    if (change->type == CHANGE_DELETED) {
        forget(a, change->after->obj->meta.name);
        return;
    }
    int64_t wait = prng_range(&a->world->random, SETTLE_MIN, SETTLE_MAX);
    if (!alarm_pending(&a->settle) || a->settle.due > a->world->clock.now + wait)
        clock_set(&a->world->clock, &a->settle, a->world->clock.now + wait, settle, a);
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

int custom_scale(const struct resource *res, const json_t *obj, json_t **out, struct failure *f) {
    struct crd_scale s;
    _cleanup_err_ struct err err = ERR_INIT;
    if (crd_object_scale(version_of(res), obj, &s, &err))
        return fail(f, 500, "InternalError", "Internal error occurred: %s", err_msg(&err));
    if (!s.has_replicas)
        return fail(f, 500, "InternalError",
                    "Internal error occurred: the spec replicas field \"%s\" does not exist",
                    version_of(res)->spec_replicas);
    json_t *meta = json_pack("{s:s, s:s, s:s, s:s}", "name", strna(meta_str(obj, "name")), "uid",
                             strna(meta_str(obj, "uid")), "resourceVersion",
                             strna(meta_str(obj, "resourceVersion")), "creationTimestamp",
                             strna(meta_str(obj, "creationTimestamp")));
    if (meta_str(obj, "namespace"))
        json_object_set_new(meta, "namespace", json_string(meta_str(obj, "namespace")));
    *out =
        json_pack("{s:s, s:s, s:o, s:{}, s:{s:I}}", "kind", "Scale", "apiVersion", "autoscaling/v1",
                  "metadata", meta, "spec", "status", "replicas", (json_int_t)s.status_replicas);
    if (s.replicas)
        json_object_set_new(json_object_get(*out, "spec"), "replicas", json_integer(s.replicas));
    if (*s.selector)
        json_object_set_new(json_object_get(*out, "status"), "selector", json_string(s.selector));
    return 0;
}

int custom_set_scale(const struct resource *res, json_t *obj, int64_t replicas, struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
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
