/* The seam between requests and the rules of kinds. */
#include "sim/api/rules.h"

#include "sim/api/custom.h"
#include "sim/api/registry.h"
#include "sim/api/services.h"
#include "sim/api/strategy.h"

static const struct strategy *strategy_of(const struct resource *res) {
    return strategy_find(res->info->group, res->info->kind);
}

/* Brings it into canonical form again after defaults and system fields were added. */
static int recanonical(const struct resource *res, json_t **obj, struct failure *f) {
    json_t *out;
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(res->schema, *obj, &out, NULL, &err))
        return fail(f, 500, "InternalError", "Internal error occurred: %s", err_msg(&err));
    json_decref(*obj);
    *obj = out;
    return 0;
}

int rules_decode(struct api *a, const struct resource *res, const json_t *raw, json_t **out,
                 struct schema_notes *notes, struct failure *f) {
    if (res->custom)
        return custom_decode(res, raw, out, notes, f);
    if (res == a->crds)
        return definition_decode(res, raw, out, notes, f);
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(res->schema, raw, out, notes, &err))
        return fail_bad_request(f, "%s in version \"%s\" cannot be handled as a %s: %s",
                                res->info->kind, res->info->version, res->info->kind,
                                err_msg(&err));
    strategy_default(strategy_of(res), *out);
    return 0;
}

/* --- what strategies ask of the world --- */

static const struct {
    const char *plural, *group;
} asked[] = {
    {"serviceaccounts", ""},
    {"nodes", ""},
    {"priorityclasses", "scheduling.k8s.io"},
    {"storageclasses", "storage.k8s.io"},
};

static struct shelf *shelf_of(const struct api *a, const char *plural) {
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        if (streq(asked[i].plural, plural)) {
            const struct resource *r = api_resource(a, asked[i].group, "v1", plural);
            return r ? r->shelf : NULL;
        }
    return NULL;
}

static json_t *get(void *cookie, const char *plural, const char *ns, const char *name) {
    struct shelf *s = shelf_of(cookie, plural);
    const struct record *r = s ? shelf_get(s, ns, name) : NULL;
    return r ? record_json(r) : NULL;
}

static json_t *list(void *cookie, const char *plural) {
    json_t *out = json_array();
    struct shelf *s = shelf_of(cookie, plural);
    if (!s)
        return out;
    struct snapshot *snap = shelf_snapshot(s);
    for (size_t i = 0; i < snap->n; i++)
        json_array_append_new(out, record_json(snap->items[i]));
    snapshot_unref(snap);
    return out;
}

static int allocate(void *cookie, json_t *service, const json_t *old, struct failure *f) {
    return services_allocate(cookie, service, old, f);
}

static struct strategy_context context(struct api *a) {
    return (struct strategy_context){
        .now = a->world->clock.now,
        .random = &a->world->random,
        .cookie = a,
        .get = get,
        .list = list,
        .allocate = allocate,
    };
}

/* The PodTopologyLabels admission plug-in: a pod has its node's zone and region. */
void rules_topology_labels(struct api *a, const char *node, json_t *labels) {
    static const char *const keys[] = {"topology.kubernetes.io/region",
                                       "topology.kubernetes.io/zone"};
    _cleanup_json_ json_t *found = str_empty(node) ? NULL : get(a, "nodes", NULL, node);
    const json_t *have = json_object_get(json_object_get(found, "metadata"), "labels");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(have, keys[i]))
            json_object_set(labels, keys[i], json_object_get(have, keys[i]));
}

static void label_pod(struct api *a, json_t *pod) {
    const char *node = json_str(json_object_get(pod, "spec"), "nodeName");
    json_t *labels = json_object_get(meta_of(pod), "labels");
    _cleanup_json_ json_t *more = json_object();
    rules_topology_labels(a, node, more);
    if (json_is_object(labels))
        json_object_update(labels, more);
    else if (json_object_size(more))
        json_object_set(meta_of(pod), "labels", more);
}

/* A service that its status creates gets no addresses: the server's allocators hang on the main
 * resource alone. */
static int check_unallocated(const json_t *obj, struct failure *f) {
    const json_t *spec = json_object_get(obj, "spec");
    if (str_empty(json_str(spec, "clusterIP")) ||
        json_array_size(json_object_get(spec, "clusterIPs")))
        return 0;
    struct field_errors e = {0};
    field_error(&e, FIELD_REQUIRED, "spec.clusterIPs", NULL, "%s", "");
    fail_invalid(f, "", "Service", strna(meta_str(obj, "name")), &e);
    field_errors_done(&e);
    return -1;
}

int rules_create(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                 struct failure *f) {
    if (res->custom)
        return custom_create(a, res, obj, f);
    if (res == a->crds)
        return definition_create(a, res, *obj, f) ? -1 : recanonical(res, obj, f);
    struct strategy_context ctx = context(a);
    if (res == a->pods)
        label_pod(a, *obj);
    bool bare = sub && streq(res->info->kind, "Service");
    if (bare) {
        ctx.allocate = NULL;
        if (check_unallocated(*obj, f))
            return -1;
    }
    if (strategy_create(strategy_of(res), &ctx, *obj, f))
        return -1;
    if (bare) { /* nor families: those come with the addresses */
        json_object_del(json_object_get(*obj, "spec"), "ipFamilies");
        json_object_del(json_object_get(*obj, "spec"), "ipFamilyPolicy");
    }
    return recanonical(res, obj, f);
}

static enum strategy_part part_of(const char *sub) {
    return !sub                     ? STRATEGY_MAIN
           : streq(sub, "finalize") ? STRATEGY_FINALIZE
           : streq(sub, "status")   ? STRATEGY_STATUS
                                    : STRATEGY_MAIN;
}

int rules_check(struct api *a, const struct resource *res, const char *sub, const json_t *obj,
                struct failure *f) {
    struct strategy_context ctx = context(a);
    _cleanup_json_ json_t *same = json_deep_copy(obj);
    return strategy_update(strategy_of(res), &ctx, part_of(sub), same, obj, f);
}

int rules_update(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                 const json_t *old, struct failure *f) {
    if (res->custom)
        return custom_update(a, res, sub, obj, old, f);
    if (res == a->crds)
        return definition_update(a, res, sub, *obj, old, f) ? -1 : recanonical(res, obj, f);
    struct strategy_context ctx = context(a);
    if (strategy_update(strategy_of(res), &ctx, part_of(sub), *obj, old, f))
        return -1;
    return recanonical(res, obj, f);
}

bool rules_create_on_update(const struct resource *res) {
    const struct strategy *s = res->custom ? NULL : strategy_of(res);
    return s && s->create_on_update;
}

bool rules_collects_garbage(const struct resource *res) {
    const struct strategy *s = res->custom ? NULL : strategy_of(res);
    return !s || s->dependents != STRATEGY_NO_GC;
}

bool rules_orphans(const struct resource *res) {
    const struct strategy *s = res->custom ? NULL : strategy_of(res);
    return s && s->dependents == STRATEGY_ORPHAN;
}

bool rules_return_deleted(const struct resource *res) {
    static const char *const kinds_[] = {
        "Pod",
        "Service",
        "ServiceAccount",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Namespace",
        "StorageClass",
        "VolumeAttachment",
        "CSINode",
    };
    if (res->custom)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds_); i++)
        if (streq(kinds_[i], res->info->kind))
            return true;
    return false;
}
