/* Starting the parts, and what they do with the API. */
#include "sim/fleet/fleet.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/api/rules.h"
#include "sim/fleet/original.h"
#include "sim/fleet/pod_index.h"
#include "sim/schema/text.h"

struct fleet *fleet_new(struct api *a, bool parts, const char *ca) {
    struct fleet *f = xnew(struct fleet);
    f->ca = ca;
    f->world = a->world;
    f->api = a;
    const struct {
        struct resource **slot;
        const char *group, *plural;
    } wanted[] = {
        {&f->nodes, "", "nodes"},
        {&f->pods, "", "pods"},
        {&f->namespaces, "", "namespaces"},
        {&f->leases, "coordination.k8s.io", "leases"},
        {&f->events, "", "events"},
        {&f->deployments, "apps", "deployments"},
        {&f->replica_sets, "apps", "replicasets"},
        {&f->stateful_sets, "apps", "statefulsets"},
        {&f->daemon_sets, "apps", "daemonsets"},
        {&f->jobs, "batch", "jobs"},
        {&f->revisions, "apps", "controllerrevisions"},
        {&f->pdbs, "policy", "poddisruptionbudgets"},
        {&f->pvs, "", "persistentvolumes"},
        {&f->pvcs, "", "persistentvolumeclaims"},
        {&f->attachments, "storage.k8s.io", "volumeattachments"},
        {&f->storage_classes, "storage.k8s.io", "storageclasses"},
        {&f->csi_nodes, "storage.k8s.io", "csinodes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        *wanted[i].slot = api_resource(a, wanted[i].group, "v1", wanted[i].plural);
        assert(*wanted[i].slot);
    }
    f->pod_index = pod_index_new(f->pods->shelf, f->world);
    for (size_t i = 0; parts && fleet_parts[i]; i++)
        *vec_push(&f->parts) = fleet_parts[i]->start(f);
    return f;
}

void fleet_free(struct fleet *f) {
    if (!f)
        return;
    for (size_t i = f->parts.len; i-- > 0;)
        fleet_parts[i]->free(f->parts.p[i]);
    vec_done(&f->parts);
    pod_index_free(f->pod_index);
    original_free(f->original);
    free(f);
}

int64_t fleet_delay(struct fleet *f, int64_t min, int64_t max) {
    return prng_range(&f->world->random, min, max + 1);
}

static void set_type(const struct resource *res, json_t *obj) {
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, res->info->group, res->info->version);
    json_object_set_new(obj, "kind", json_string(res->info->kind));
    json_object_set_new(obj, "apiVersion", json_string(str_get(&gv)));
}

struct record *fleet_create(struct fleet *f, struct resource *res, const char *ns, json_t *raw,
                            struct failure *failure) {
    struct failure own = FAILURE_INIT;
    struct failure *fail_ = failure ? failure : &own;
    struct write w = {.api = f->api, .res = res, .ns = ns};
    struct record *r = NULL;
    json_t *obj = NULL;
    set_type(res, raw);
    if (rules_decode(f->api, res, raw, &obj, NULL, fail_) || registry_create(&w, &obj, &r, fail_))
        r = NULL;
    json_decref(raw);
    json_decref(obj);
    failure_done(&own);
    return r;
}

bool fleet_update(struct fleet *f, struct resource *res, const char *sub, json_t *obj,
                  struct failure *failure) {
    struct failure own = FAILURE_INIT;
    struct failure *fail_ = failure ? failure : &own;
    struct record *r = NULL;
    json_t *decoded = NULL;
    bool created, ok = false;
    set_type(res, obj);
    if (!rules_decode(f->api, res, obj, &decoded, NULL, fail_)) {
        /* Copies: the update may replace the value. */
        _cleanup_free_ char *ns = xstrdup(strna(meta_str(obj, "namespace")));
        _cleanup_free_ char *name = xstrdup(strna(meta_str(obj, "name")));
        struct write w = {.api = f->api,
                          .res = res,
                          .ns = *ns ? ns : NULL,
                          .name = name,
                          .sub = sub,
                          .dry_run = false};
        ok = registry_update(&w, &decoded, &r, &created, fail_) == 0;
        record_unref(r);
    }
    json_decref(decoded);
    json_decref(obj);
    failure_done(&own);
    return ok;
}

struct record *fleet_put_status(struct fleet *f, struct resource *res, struct record *r,
                                json_t *status) {
    _cleanup_str_ struct str text = STR_INIT;
    struct view was = {r->json + r->status_at, r->status_len};
    text_value(status, &text);
    if (view_eq((struct view){str_get(&text), text.len}, was)) {
        json_decref(status);
        return r;
    }
    json_t *obj = json_pack("{s:{}, s:o}", "metadata", "status", status), *canonical = NULL;
    int rc = schema_canonical(res->schema, obj, &canonical, NULL, NULL);
    assert(rc == 0);
    (void)rc;
    str_reset(&text);
    text_value(json_object_get(canonical, "status"), &text);
    json_decref(obj);
    json_decref(canonical);
    return fleet_put_status_text(f, res, r, &text);
}

struct record *fleet_put_status_text(struct fleet *f, struct resource *res, struct record *r,
                                     const struct str *status) {
    (void)f;
    struct view now = {str_get(status), status->len}, was = {r->json + r->status_at, r->status_len};
    if (view_eq(now, was))
        return r;
    struct record *next = shelf_put_status(res->shelf, r, now, NULL);
    assert(next); /* what a part makes is smaller than any limit */
    return next;
}

bool fleet_delete(struct fleet *f, struct resource *res, const char *ns, const char *name,
                  const struct delete_options *o) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct write w = {
        .api = f->api, .res = res, .ns = ns, .name = name, .sub = NULL, .dry_run = false};
    struct delete_options none = DELETE_OPTIONS_INIT;
    struct record *r;
    bool gone;
    if (registry_delete(&w, o ? o : &none, &r, &gone, &failure))
        return false;
    record_unref(r);
    return true;
}

bool fleet_set_meta(struct fleet *f, struct resource *res, struct record *r, const char *map,
                    const char *key, const char *value) {
    json_t *obj = record_json(r);
    json_t *pairs = json_object_get(meta_of(obj), map);
    if (!pairs) {
        pairs = json_object();
        json_object_set_new(meta_of(obj), map, pairs);
    }
    if (value)
        json_object_set_new(pairs, key, json_string(value));
    else
        json_object_del(pairs, key);
    return fleet_update(f, res, NULL, obj, NULL);
}

void status_set_number(json_t *status, const char *key, int64_t n) {
    if (n)
        json_object_set_new(status, key, json_integer(n));
    else
        json_object_del(status, key);
}

/* --- events --- */

#define EVENT_WINDOW SEC(600) /* client-go's correlator */

void fleet_event(struct fleet *f, const char *component, const struct resource *res,
                 const struct record *about, const char *type, const char *reason, const char *fmt,
                 ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *message = xvasprintf(fmt, ap);
    va_end(ap);
    const struct meta *m = &about->obj->meta;
    const char *ns = m->ns ? m->ns : "default";
    char now[TIMEFMT_LEN];
    time_format(f->world->clock.now, false, now);
    /* One name for one story, so that repetitions find their first telling. */
    uint32_t h = hash_bytes(reason, strlen(reason));
    h = hash_more(h, message, strlen(message));
    h = hash_more(h, component, strlen(component));
    _cleanup_free_ char *name =
        xasprintf("%.200s.%016" PRIx64, m->name,
                  (uint64_t)hash_bytes(strna(m->uid), strlen(strna(m->uid))) << 32 | h);
    struct record *known = shelf_get(f->events->shelf, ns, name);
    if (known) {
        const struct kube_event *e = record_as(kube_event, known);
        json_t *obj = record_json(known);
        bool recent = e->last > f->world->clock.now - EVENT_WINDOW;
        json_object_set_new(obj, "count", json_integer(recent ? e->count + 1 : 1));
        json_object_set_new(obj, "lastTimestamp", json_string(now));
        if (!recent)
            json_object_set_new(obj, "firstTimestamp", json_string(now));
        fleet_update(f, f->events, NULL, obj, NULL);
        return;
    }
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, res->info->group, res->info->version);
    json_t *raw = json_pack(
        "{s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:i, "
        "s:s, s:s}",
        "metadata", "name", name, "namespace", ns, "involvedObject", "kind", res->info->kind,
        "apiVersion", str_get(&gv), "namespace", strna(m->ns), "name", m->name, "uid",
        strna(m->uid), "resourceVersion", strna(m->version), "type", type, "reason", reason,
        "message", message, "source", "component", component, "firstTimestamp", now,
        "lastTimestamp", now, "count", 1, "reportingComponent", component, "reportingInstance", "");
    record_unref(fleet_create(f, f->events, ns, raw, NULL));
}

json_t *fleet_owner(const struct resource *res, const struct record *owner) {
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, res->info->group, res->info->version);
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", str_get(&gv), "kind",
                     res->info->kind, "name", owner->obj->meta.name, "uid", owner->obj->meta.uid,
                     "controller", 1, "blockOwnerDeletion", 1);
}
