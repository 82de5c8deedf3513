/* The table of the kinds, and the way of an object through its steps. */
#include "sim/api/strategy.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/timefmt.h"
#include "sim/api/strategy_kinds.h"

/* clang-format off */
static const struct strategy strategies[] = {
    /* group, kind, plural, namespaced, status, unconditional, create on update, dependents */
    {"", "ConfigMap", "configmaps", true, false, true, false, STRATEGY_BACKGROUND, &strategy_config_maps},
    {"", "Event", "events", true, false, true, true, STRATEGY_NO_GC, &strategy_core_events},
    {"", "Namespace", "namespaces", false, true, true, false, STRATEGY_BACKGROUND, &strategy_namespaces},
    {"", "Node", "nodes", false, true, true, false, STRATEGY_BACKGROUND, &strategy_nodes},
    {"", "PersistentVolume", "persistentvolumes", false, true, true, false, STRATEGY_BACKGROUND, &strategy_volumes},
    {"", "PersistentVolumeClaim", "persistentvolumeclaims", true, true, true, false, STRATEGY_BACKGROUND, &strategy_claims},
    {"", "Pod", "pods", true, true, true, false, STRATEGY_BACKGROUND, &strategy_pods},
    {"", "PodTemplate", "podtemplates", true, false, true, false, STRATEGY_BACKGROUND, &strategy_pod_templates},
    {"", "Secret", "secrets", true, false, true, false, STRATEGY_BACKGROUND, &strategy_secrets},
    {"", "Service", "services", true, true, true, true, STRATEGY_BACKGROUND, &strategy_services},
    {"", "ServiceAccount", "serviceaccounts", true, false, true, false, STRATEGY_BACKGROUND, &strategy_service_accounts},
    {"apps", "ControllerRevision", "controllerrevisions", true, false, true, false, STRATEGY_BACKGROUND, &strategy_controller_revisions},
    {"apps", "DaemonSet", "daemonsets", true, true, true, false, STRATEGY_BACKGROUND, &strategy_daemon_sets},
    {"apps", "Deployment", "deployments", true, true, true, false, STRATEGY_BACKGROUND, &strategy_deployments},
    {"apps", "ReplicaSet", "replicasets", true, true, true, false, STRATEGY_BACKGROUND, &strategy_replica_sets},
    {"apps", "StatefulSet", "statefulsets", true, true, true, false, STRATEGY_BACKGROUND, &strategy_stateful_sets},
    {"batch", "Job", "jobs", true, true, true, false, STRATEGY_ORPHAN, &strategy_jobs},
    {"coordination.k8s.io", "Lease", "leases", true, false, false, true, STRATEGY_BACKGROUND, &strategy_leases},
    {"discovery.k8s.io", "EndpointSlice", "endpointslices", true, false, true, false, STRATEGY_BACKGROUND, &strategy_endpoint_slices},
    {"events.k8s.io", "Event", "events", true, false, true, true, STRATEGY_NO_GC, &strategy_events},
    {"policy", "PodDisruptionBudget", "poddisruptionbudgets", true, true, false, false, STRATEGY_BACKGROUND, &strategy_budgets},
    {"scheduling.k8s.io", "PriorityClass", "priorityclasses", false, false, true, false, STRATEGY_BACKGROUND, &strategy_priority_classes},
    {"storage.k8s.io", "CSINode", "csinodes", false, false, false, false, STRATEGY_BACKGROUND, &strategy_csi_nodes},
    {"storage.k8s.io", "StorageClass", "storageclasses", false, false, true, false, STRATEGY_BACKGROUND, &strategy_storage_classes},
    {"storage.k8s.io", "VolumeAttachment", "volumeattachments", false, true, false, false, STRATEGY_BACKGROUND, &strategy_attachments},
};
/* clang-format on */

const struct strategy *strategy_find(const char *group, const char *kind) {
    for (size_t i = 0; i < ARRAY_LEN(strategies); i++)
        if (streq(strategies[i].kind, kind) && streq(strategies[i].group, group))
            return &strategies[i];
    return NULL;
}

void strategy_default(const struct strategy *s, json_t *obj) {
    if (s->ops->defaults)
        s->ops->defaults(obj);
}

int strategy_forbid(struct strategy_call *c, const char *fmt, ...) {
    const json_t *meta = json_object_get(c->obj, "metadata");
    const char *name = json_str(meta, "name"), *base = json_str(meta, "generateName");
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *why = xvasprintf(fmt, ap);
    va_end(ap);
    return fail_forbidden(c->f, c->s->group, c->s->plural,
                          !str_empty(name)   ? name
                          : !str_empty(base) ? base
                                             : "Unknown",
                          "%s", why);
}

int strategy_refuse(struct strategy_call *c) {
    const char *name = json_str(json_object_get(c->obj, "metadata"), "name");
    /* inside, the server has one kind of Event */
    const char *group = c->s->ops == &strategy_events ? "" : c->s->group;
    int rc = 0;
    if (c->errors.v.len)
        rc = fail_invalid(c->f, group, c->s->kind, strna(name), &c->errors);
    field_errors_done(&c->errors);
    return rc;
}

static void make_uid(json_t *meta, struct prng *random) {
    uint64_t a = prng_next(random), b = prng_next(random);
    char uid[40];
    /* a version 4 UUID of the standard variant */
    snprintf(uid, sizeof uid, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
             (unsigned)(0x8000 | (b >> 48 & 0x3fff)), b & 0xffffffffffff);
    set_string(meta, "uid", uid);
}

static void fill_system_fields(struct strategy_call *c) {
    json_t *meta = object_at(c->obj, "metadata");
    char now[TIMEFMT_LEN];
    set_string(meta, "creationTimestamp", time_format(c->ctx->now, false, now));
    make_uid(meta, c->ctx->random);
    const char *base = json_str(meta, "generateName");
    if (!str_empty(base) && str_empty(json_str(meta, "name"))) {
        _cleanup_free_ char *name = name_generate(base, c->ctx->random);
        set_string(meta, "name", name);
    }
}

static void wipe_system_fields(json_t *obj) {
    static const char *const keys[] = {"creationTimestamp", "uid", "deletionTimestamp",
                                       "deletionGracePeriodSeconds", "selfLink"};
    json_t *meta = object_at(obj, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        json_object_del(meta, keys[i]);
}

static void drop_namespace(const struct strategy *s, json_t *obj) {
    if (!s->namespaced)
        json_object_del(object_at(obj, "metadata"), "namespace");
}

/* The same owner twice is one owner. */
static void drop_double_owners(json_t *obj) {
    json_t *owners = json_object_get(json_object_get(obj, "metadata"), "ownerReferences");
    if (json_array_size(owners) < 2)
        return;
    _cleanup_json_ json_t *seen = json_object(), *once = json_array();
    size_t i;
    json_t *owner;
    json_array_foreach(owners, i, owner) {
        if (!seen_before(seen, owner))
            json_array_append(once, owner);
    }
    json_array_clear(owners);
    json_array_extend(owners, once);
}

/* Is this the update that takes the last finalizer from an object that waits for nothing else? It
 * is deleted instead of stored, and answered as it was sent (deleteWithoutFinalizers in apiserver's
 * pkg/registry/generic/registry/store.go). */
static bool goes(const json_t *obj) {
    const json_t *meta = json_object_get(obj, "metadata");
    return json_object_get(meta, "deletionTimestamp") &&
           json_integer_value(json_object_get(meta, "deletionGracePeriodSeconds")) == 0 &&
           json_array_size(json_object_get(meta, "finalizers")) == 0;
}

static int finish(struct strategy_call *c) {
    const struct strategy_ops *ops = c->s->ops;
    if (ops->finish)
        ops->finish(c);
    if (c->part == STRATEGY_MAIN && ops->admit_after && ops->admit_after(c) < 0)
        return -1;
    /* what the server answers it has read back from its store, and reading sets defaults again:
     * that is how a Job gets the labels that its template got on the way */
    if (!goes(c->obj))
        strategy_default(c->s, c->obj);
    return 0;
}

int strategy_create(const struct strategy *s, const struct strategy_context *ctx, json_t *obj,
                    struct failure *f) {
    const struct strategy_ops *ops = s->ops;
    struct strategy_call c = {.s = s, .ctx = ctx, .obj = obj, .f = f};
    wipe_system_fields(obj);
    drop_namespace(s, obj);
    drop_double_owners(obj);
    if (ops->admit && ops->admit(&c) < 0)
        return -1;
    fill_system_fields(&c);
    if (ops->begin && ops->begin(&c) < 0)
        return -1;
    if (ops->prepare)
        ops->prepare(&c);
    if (ops->check)
        ops->check(&c);
    if (strategy_refuse(&c) < 0)
        return -1;
    struct at root = at_root(obj), meta = at_child(&root, "metadata");
    check_meta_generic(&c.errors, &meta, s->namespaced, name_path_segment,
                       name_path_segment_prefix);
    if (strategy_refuse(&c) < 0)
        return -1;
    return finish(&c);
}

static int check_version(struct strategy_call *c, json_t *meta, const json_t *old_meta) {
    const char *version = json_str(meta, "resourceVersion");
    const char *current = json_str(old_meta, "resourceVersion");
    const char *name = strna(json_str(old_meta, "name"));
    bool none = str_empty(version) || streq(version, "0");
    if (none && c->s->unconditional_update) {
        copy_member(meta, old_meta, "resourceVersion");
        return 0;
    }
    if (none) {
        field_error_shown(&c->errors, FIELD_INVALID, "metadata.resourceVersion", "0",
                          "must be specified for an update");
        /* here the server names the resource where it names the kind elsewhere */
        fail_invalid(c->f, c->s->group, c->s->plural, name, &c->errors);
        field_errors_done(&c->errors);
        return -1;
    }
    if (!str_same(version, current))
        return fail_conflict(c->f, c->s->group, c->s->plural, name,
                             "the object has been modified; please apply your changes to the "
                             "latest version and try again");
    return 0;
}

/* What no update can change. */
static void keep_system_fields(json_t *meta, const json_t *old) {
    if (str_empty(json_str(meta, "uid")))
        copy_member(meta, old, "uid");
    if (json_object_get(old, "creationTimestamp"))
        copy_member(meta, old, "creationTimestamp");
    if (json_object_get(old, "deletionTimestamp"))
        copy_member(meta, old, "deletionTimestamp");
    if (!json_object_get(meta, "deletionGracePeriodSeconds"))
        copy_member(meta, old, "deletionGracePeriodSeconds");
}

int strategy_update(const struct strategy *s, const struct strategy_context *ctx,
                    enum strategy_part part, json_t *obj, const json_t *old, struct failure *f) {
    const struct strategy_ops *ops = s->ops;
    struct strategy_call c = {.s = s, .ctx = ctx, .part = part, .obj = obj, .old = old, .f = f};
    json_t *meta = object_at(obj, "metadata");
    const json_t *old_meta = json_object_get(old, "metadata");
    drop_namespace(s, obj);
    drop_double_owners(obj);
    if (part == STRATEGY_MAIN && ops->admit && ops->admit(&c) < 0)
        return -1;
    if (check_version(&c, meta, old_meta) < 0)
        return -1;
    if (part == STRATEGY_MAIN && ops->begin && ops->begin(&c) < 0)
        return -1;
    copy_member(meta, old_meta, "generation");
    if (ops->prepare)
        ops->prepare(&c);
    keep_system_fields(meta, old_meta);
    struct at root = at_root(obj), at_meta = at_child(&root, "metadata");
    check_meta_generic(&c.errors, &at_meta, s->namespaced, name_path_segment,
                       name_path_segment_prefix);
    check_meta_update_generic(&c.errors, &at_meta, old_meta);
    if (ops->check)
        ops->check(&c);
    if (strategy_refuse(&c) < 0)
        return -1;
    return finish(&c);
}
