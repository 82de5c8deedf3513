/* PersistentVolumeClaims: their spec, which pods and StatefulSets carry, too. */
#include "sim/api/strategy_kinds.h"

#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

void default_claim_spec(json_t *spec) {
    json_t *resources = object_at(spec, "resources");
    if (!json_object_get(spec, "volumeMode"))
        set_string(spec, "volumeMode", "Filesystem");
    default_resource_list(resources, "limits");
    default_resource_list(resources, "requests");
}

void default_claim(json_t *obj) {
    json_t *status = object_at(obj, "status");
    default_claim_spec(object_at(obj, "spec"));
    default_string(status, "phase", "Pending");
    default_resource_list(status, "capacity");
    default_resource_list(status, "allocatedResources");
}

static bool is_default_class(const json_t *class) {
    return str_same(meta_annotation(class, "storageclass.kubernetes.io/is-default-class"),
                    "true") ||
           str_same(meta_annotation(class, "storageclass.beta.kubernetes.io/is-default-class"),
                    "true");
}

/* The newest class that is marked, and the first by name among those. */
static json_t *default_storage_class(struct strategy_call *c) {
    _cleanup_json_ json_t *all = c->ctx->list(c->ctx->cookie, "storageclasses");
    json_t *best = NULL, *class;
    size_t i;
    json_array_foreach(all, i, class) {
        const json_t *meta = json_object_get(class, "metadata");
        const json_t *best_meta = json_object_get(best, "metadata");
        if (!is_default_class(class))
            continue;
        int newer = strcmp(strna(json_str(meta, "creationTimestamp")),
                           strna(json_str(best_meta, "creationTimestamp")));
        if (!best || newer > 0 ||
            (newer == 0 &&
             strcmp(strna(json_str(meta, "name")), strna(json_str(best_meta, "name"))) < 0))
            best = class;
    }
    return json_incref(best);
}

static int admit_claim(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec");
    const json_t *annotations = json_object_get(json_object_get(c->obj, "metadata"), "annotations");
    if (c->old)
        return 0;
    if (!json_object_get(annotations, BETA_CLASS) && !json_object_get(spec, "storageClassName")) {
        _cleanup_json_ json_t *class = default_storage_class(c);
        if (class)
            set_string(spec, "storageClassName",
                       strna(json_str(json_object_get(class, "metadata"), "name")));
    }
    add_finalizer(c->obj, "kubernetes.io/pvc-protection");
    return 0;
}

static bool is_claim_or_snapshot(const json_t *source) {
    const char *kind = json_str(source, "kind"), *group = json_str(source, "apiGroup");
    return (str_same(kind, "PersistentVolumeClaim") && str_empty(group)) ||
           (str_same(kind, "VolumeSnapshot") && str_same(group, "snapshot.storage.k8s.io"));
}

/* Two spellings of one thing: each gets the other's value. */
static void normalize_data_sources(json_t *spec) {
    json_t *source = json_object_get(spec, "dataSource");
    json_t *ref = json_object_get(spec, "dataSourceRef");
    if (source && !ref) {
        json_object_set_new(spec, "dataSourceRef", json_deep_copy(source));
    } else if (ref && !source && str_empty(json_str(ref, "namespace"))) {
        source = json_deep_copy(ref);
        json_object_del(source, "namespace");
        json_object_set_new(spec, "dataSource", source);
    }
}

static void prepare_claim(struct strategy_call *c) {
    const json_t *old_spec = json_object_get(c->old, "spec");
    json_t *spec = object_at(c->obj, "spec");
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        return;
    }
    if (c->old)
        copy_member(c->obj, c->old, "status");
    else
        json_object_set_new(c->obj, "status", json_object());
    const json_t *ref = json_object_get(spec, "dataSourceRef");
    if (!str_empty(json_str(ref, "namespace")) && !json_object_get(old_spec, "dataSourceRef"))
        json_object_del(spec, "dataSourceRef"); /* of a feature that is off */
    if (!json_object_get(old_spec, "dataSource") && !json_object_get(old_spec, "dataSourceRef") &&
        !json_object_get(spec, "dataSourceRef") &&
        !is_claim_or_snapshot(json_object_get(spec, "dataSource")))
        json_object_del(spec, "dataSource");
    normalize_data_sources(spec);
}

static void check_data_source(struct field_errors *e, const struct at *source, bool any_group,
                              bool is_ref) {
    const char *kind = at_str(source, "kind"), *group = at_str(source, "apiGroup");
    if (!source->v)
        return;
    if (!*at_str(source, "name"))
        bad_required(e, source, "name", "");
    if (!*kind)
        bad_required(e, source, "kind", "");
    if (!*group && !streq(kind, "PersistentVolumeClaim"))
        bad_string(e, source, NULL, kind,
                   "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (*group && !any_group)
        check_name(e, source, "apiGroup", group, name_dns1123_subdomain);
    if (is_ref && *at_str(source, "namespace"))
        check_name(e, source, "namespace", at_str(source, "namespace"), name_dns1123_label);
}

static bool same_source(const struct at *source, const struct at *ref) {
    return at_has(source, "apiGroup") == at_has(ref, "apiGroup") &&
           streq(at_str(source, "apiGroup"), at_str(ref, "apiGroup")) &&
           streq(at_str(source, "kind"), at_str(ref, "kind")) &&
           streq(at_str(source, "name"), at_str(ref, "name"));
}

void check_claim_spec(struct field_errors *e, const struct at *spec, const json_t *old_spec) {
    struct at selector = at_child(spec, "selector"), resources = at_child(spec, "resources");
    struct at requests = at_child(&resources, "requests");
    struct at at_storage = at_key(&resources, "storage");
    struct at source = at_child(spec, "dataSource"), ref = at_child(spec, "dataSourceRef");
    const json_t *storage = at_get(&requests, "storage");
    bool any_group = json_object_get(json_object_get(old_spec, "dataSource"), "apiGroup") ||
                     json_object_get(json_object_get(old_spec, "dataSourceRef"), "apiGroup");
    if (!at_len(spec, "accessModes"))
        bad_required(e, spec, "accessModes", "at least 1 access mode is required");
    check_label_selector(e, &selector,
                         !label_selector_valid(json_object_get(old_spec, "selector")));
    check_access_modes(e, spec);
    if (!storage)
        bad_required(e, &at_storage, NULL, "");
    else if (quantity_of(storage) <= 0)
        bad_string(e, &at_storage, NULL, strna(json_string_value(storage)),
                   "must be greater than zero");
    if (*at_str(spec, "storageClassName"))
        check_name(e, spec, "storageClassName", at_str(spec, "storageClassName"),
                   name_dns1123_subdomain);
    if (at_has(spec, "volumeMode"))
        check_one_of(e, spec, "volumeMode", volume_modes);
    check_data_source(e, &source, any_group, false);
    check_data_source(e, &ref, any_group, true);
    const char *why = source.v && *at_str(&ref, "namespace")
                          ? "may not be specified when dataSourceRef.namespace is specified"
                      : source.v && ref.v && !same_source(&source, &ref)
                          ? "must match dataSourceRef"
                          : NULL;
    if (why) {
        /* the value that the server shows here is a path of its own, whose JSON is empty */
        _cleanup_json_ json_t *empty = json_object();
        bad_value(e, spec, NULL, empty, "%s", why);
    }
    if (*at_str(spec, "volumeAttributesClassName"))
        check_name(e, spec, "volumeAttributesClassName", at_str(spec, "volumeAttributesClassName"),
                   name_dns1123_subdomain);
}

static bool upgrades_from_annotation(const struct at *meta, const json_t *old,
                                     const struct at *spec) {
    struct at annotations = at_child(meta, "annotations");
    const json_t *had = json_object_get(
        json_object_get(json_object_get(old, "metadata"), "annotations"), BETA_CLASS);
    const json_t *has = at_get(&annotations, BETA_CLASS);
    const json_t *class = at_get(spec, "storageClassName");
    return had && !json_object_get(json_object_get(old, "spec"), "storageClassName") && class &&
           json_equal(class, had) && (!has || json_equal(has, had));
}

static bool upgrades_from_nothing(const json_t *old, const struct at *spec) {
    const json_t *had = json_object_get(
        json_object_get(json_object_get(old, "metadata"), "annotations"), BETA_CLASS);
    const json_t *class = at_get(spec, "storageClassName");
    return class && !json_object_get(json_object_get(old, "spec"), "storageClassName") &&
           (!had || json_equal(class, had));
}

static void check_claim_changes(struct field_errors *e, const struct at *root, const json_t *old) {
    struct at meta = at_child(root, "metadata"), spec = at_child(root, "spec");
    struct at status = at_child(root, "status");
    const json_t *old_spec = json_object_get(old, "spec");
    const json_t *old_status = json_object_get(old, "status");
    bool bound = streq(at_str(&status, "phase"), "Bound");
    _cleanup_json_ json_t *now = json_deep_copy(spec.v), *was = json_deep_copy(old_spec);
    normalize_data_sources(was);
    if (str_empty(json_str(was, "volumeName")))
        copy_member(was, now, "volumeName");
    if (upgrades_from_annotation(&meta, old, &spec)) {
        json_object_del(now, "storageClassName");
    } else {
        struct at annotations = at_child(&meta, "annotations");
        const char *class = at_str(&annotations, BETA_CLASS);
        if (!streq(class, meta_annotation(old, BETA_CLASS)))
            bad_string(e, &annotations, BETA_CLASS, class, "field is immutable");
        if (upgrades_from_nothing(old, &spec))
            copy_member(now, was, "storageClassName");
    }
    const json_t *old_requests =
        json_object_get(json_object_get(old_spec, "resources"), "requests");
    json_t *requests = json_object_get(json_object_get(now, "resources"), "requests");
    const json_t *wants = json_object_get(
        json_object_get(json_object_get(spec.v, "resources"), "requests"), "storage");
    const json_t *wanted = json_object_get(old_requests, "storage");
    if (bound && requests && wanted)
        copy_member(requests, old_requests, "storage");
    if (bound)
        copy_member(now, was, "volumeAttributesClassName");
    if (!same_value(now, was)) {
        _cleanup_str_ struct str diff = STR_INIT;
        gotype_diff(&go_persistent_volume_claim_spec, was, now, &diff);
        bad_forbidden(e, &spec, NULL,
                      "spec is immutable after creation except resources.requests and "
                      "volumeAttributesClassName for bound claims\n%s",
                      str_get(&diff));
    }
    const json_t *has = json_object_get(json_object_get(old_status, "capacity"), "storage");
    if (quantity_of(wants) < quantity_of(wanted) && quantity_of(wants) <= quantity_of(has))
        bad_forbidden(e, &spec, "resources.requests.storage",
                      "field can not be less than status.capacity");
    struct at mode = at_named(root, "volumeMode", at_get(&spec, "volumeMode"));
    check_immutable(e, &mode, json_object_get(old_spec, "volumeMode"), NULL);
    if (json_object_get(old_status, "currentVolumeAttributesClassName") &&
        !same_value(at_get(&spec, "volumeAttributesClassName"),
                    json_object_get(old_spec, "volumeAttributesClassName"))) {
        if (!at_has(&spec, "volumeAttributesClassName"))
            bad_forbidden(e, &spec, "volumeAttributesClassName",
                          "update to nil is forbidden when "
                          "status.currentVolumeAttributesClassName is not nil");
        else if (!*at_str(&spec, "volumeAttributesClassName"))
            bad_forbidden(e, &spec, "volumeAttributesClassName",
                          "update to empty string is forbidden when "
                          "status.currentVolumeAttributesClassName is not nil");
    }
}

static void check_claim_status(struct field_errors *e, const struct at *root) {
    struct at status = at_child(root, "status"), capacity = at_child(&status, "capacity");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)capacity.v, name, value) {
        struct at at = at_key(&capacity, name);
        if (quantity_of(value) < 0)
            bad_int(e, &at, NULL, quantity_of(value) / 1000, "must be a valid resource quantity");
    }
}

static void check_claim(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec");
    if (c->old)
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
    if (c->part == STRATEGY_STATUS) {
        check_claim_status(e, &root);
        return;
    }
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_claim_spec(e, &spec, json_object_get(c->old, "spec"));
    if (c->old)
        check_claim_changes(e, &root, c->old);
}

/* PersistentVolumeClaimResize. */
static int admit_resize(struct strategy_call *c) {
    const json_t *now = json_object_get(
        json_object_get(json_object_get(json_object_get(c->obj, "spec"), "resources"), "requests"),
        "storage");
    const json_t *was = json_object_get(
        json_object_get(json_object_get(json_object_get(c->old, "spec"), "resources"), "requests"),
        "storage");
    const char *class = json_str(json_object_get(c->obj, "spec"), "storageClassName");
    const char *beta = meta_annotation(c->obj, BETA_CLASS);
    if (!c->old || quantity_of(now) <= quantity_of(was))
        return 0;
    if (!str_same(json_str(json_object_get(c->old, "status"), "phase"), "Bound"))
        return strategy_forbid(c, "Only bound persistent volume claims can be expanded");
    if (*beta)
        class = beta;
    _cleanup_json_ json_t *found =
        str_empty(class) ? NULL : c->ctx->get(c->ctx->cookie, "storageclasses", "", class);
    if (json_is_true(json_object_get(found, "allowVolumeExpansion")))
        return 0;
    return strategy_forbid(c, "only dynamically provisioned pvc can be resized and the "
                              "storageclass that provisions the pvc must support resize");
}

const struct strategy_ops strategy_claims = {
    .defaults = default_claim,
    .admit = admit_claim,
    .prepare = prepare_claim,
    .check = check_claim,
    .admit_after = admit_resize,
};
