/* PersistentVolumes. */
#include "base/timefmt.h"
#include "sim/api/strategy_kinds.h"

static const char *const access_modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                           "ReadWriteOncePod", NULL};
const char *const volume_modes[] = {"Block", "Filesystem", NULL};

void check_access_modes(struct field_errors *e, const struct at *spec) {
    struct at modes = at_child(spec, "accessModes");
    bool once_pod = false, others = false;
    at_each(mode, &modes) {
        const char *text = strna(json_string_value(mode.v));
        if (!is_one_of(text, access_modes))
            bad_unsupported(e, &modes, NULL, mode.v, access_modes);
        else if (streq(text, "ReadWriteOncePod"))
            once_pod = true;
        else
            others = true;
    }
    if (once_pod && others)
        bad_forbidden(e, &modes, NULL, "may not use ReadWriteOncePod with other access modes");
}

void add_finalizer(json_t *obj, const char *name) {
    json_t *list = array_at(object_at(obj, "metadata"), "finalizers"), *f;
    size_t i;
    json_array_foreach(list, i, f) if (str_same(json_string_value(f), name)) return;
    json_array_append_new(list, json_string(name));
}

static void default_pv(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *status = object_at(obj, "status");
    default_string(status, "phase", "Pending");
    default_string(spec, "persistentVolumeReclaimPolicy", "Retain");
    if (!json_object_get(spec, "volumeMode"))
        set_string(spec, "volumeMode", "Filesystem");
    default_resource_list(spec, "capacity");
    default_volume_source(spec);
}

static int admit_pv(struct strategy_call *c) {
    if (!c->old)
        add_finalizer(c->obj, "kubernetes.io/pv-protection");
    return 0;
}

static void set_phase_time(struct strategy_call *c, json_t *status) {
    char now[TIMEFMT_LEN];
    set_string(status, "lastPhaseTransitionTime", time_format(c->ctx->now, false, now));
}

static void prepare_pv(struct strategy_call *c) {
    const json_t *was = json_object_get(c->old, "status");
    json_t *status = object_at(c->obj, "status");
    const char *key = "lastPhaseTransitionTime";
    if (!c->old) {
        status = json_pack("{s:s}", "phase", "Pending");
        json_object_set_new(c->obj, "status", status);
        set_phase_time(c, status);
        return;
    }
    if (c->part == STRATEGY_MAIN) {
        copy_member(c->obj, c->old, "status");
        return;
    }
    copy_member(c->obj, c->old, "spec");
    const json_t *now = json_object_get(status, key), *then = json_object_get(was, key);
    if (str_same(json_str(status, "phase"), json_str(was, "phase"))) {
        if (!now)
            copy_member(status, was, key);
    } else if (!now || (then && json_equal(now, then))) {
        set_phase_time(c, status);
    }
}

static void check_secret_reference(struct field_errors *e, const struct at *ref) {
    if (!ref->v)
        return;
    if (!*at_str(ref, "name"))
        bad_required(e, ref, "name", "");
    else
        check_name(e, ref, "name", at_str(ref, "name"), name_dns1123_subdomain);
    if (!*at_str(ref, "namespace"))
        bad_required(e, ref, "namespace", "");
    else
        check_name(e, ref, "namespace", at_str(ref, "namespace"), name_dns1123_label);
}

static void check_csi_source(struct field_errors *e, const struct at *csi) {
    static const char *const refs[] = {"controllerPublishSecretRef", "controllerExpandSecretRef",
                                       "nodePublishSecretRef", "nodeExpandSecretRef"};
    check_csi_driver_name(e, csi, "driver");
    if (!*at_str(csi, "volumeHandle"))
        bad_required(e, csi, "volumeHandle", "");
    for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
        struct at ref = at_child(csi, refs[i]);
        check_secret_reference(e, &ref);
    }
}

static void check_local(struct field_errors *e, const struct at *spec) {
    struct at local = at_child(spec, "local");
    if (!*at_str(&local, "path"))
        bad_required(e, &local, "path", "");
    else
        check_no_backsteps(e, &local, "path", at_str(&local, "path"));
    if (!at_has(spec, "nodeAffinity"))
        bad_required(e, spec, "nodeAffinity", "Local volume requires node affinity");
}

/* In the server's order. */
static const char *const pv_sources[] = {"hostPath",
                                         "gcePersistentDisk",
                                         "awsElasticBlockStore",
                                         "glusterfs",
                                         "flocker",
                                         "nfs",
                                         "rbd",
                                         "quobyte",
                                         "cephfs",
                                         "iscsi",
                                         "cinder",
                                         "fc",
                                         "flexVolume",
                                         "azureFile",
                                         "vsphereVolume",
                                         "photonPersistentDisk",
                                         "portworxVolume",
                                         "azureDisk",
                                         "scaleIO",
                                         "local",
                                         "storageos",
                                         "csi",
                                         NULL};

static void check_pv_source(struct field_errors *e, const struct at *spec, const char *name) {
    bool found = false;
    for (size_t i = 0; pv_sources[i]; i++) {
        const char *source = pv_sources[i];
        struct at at = at_child(spec, source);
        if (!at.v)
            continue;
        if (found && !streq(source, "flexVolume"))
            bad_forbidden(e, spec, streq(source, "cephfs") ? "cephFS" : source,
                          "may not specify more than 1 volume type");
        else if (streq(source, "hostPath"))
            check_host_path(e, &at);
        else if (streq(source, "local"))
            check_local(e, spec);
        else if (streq(source, "csi"))
            check_csi_source(e, &at);
        else
            check_foreign_source(e, spec, source, &(struct volume_place){name, true});
        found = true;
    }
    if (!found)
        bad_required(e, spec, NULL, "must specify a volume type");
}

static void check_pv_capacity(struct field_errors *e, const struct at *spec) {
    static const char *const storage[] = {"storage", NULL};
    struct at capacity = at_child(spec, "capacity");
    const char *name;
    json_t *value;
    if (!json_object_size(capacity.v))
        bad_required(e, &capacity, NULL, "");
    if (!at_has(&capacity, "storage") || json_object_size(capacity.v) > 1) {
        _cleanup_json_ json_t *none = json_null();
        bad_unsupported(e, &capacity, NULL, capacity.v ? capacity.v : none, storage);
    }
    json_object_foreach((json_t *)capacity.v, name, value) {
        struct at at = at_key(&capacity, name);
        int64_t milli = quantity_of(value);
        if (milli < 0)
            bad_int(e, &at, NULL, milli / 1000, "must be a valid resource quantity");
        if (milli <= 0)
            bad_string(e, &at, NULL, strna(json_string_value(value)), "must be greater than zero");
    }
}

static bool is_root_path(const char *path) {
    return *path == '/' && path[strspn(path, "/.")] == '\0' && !strstr(path, "...");
}

/* `in_line`: as an attachment names a volume that has no object. */
static void check_pv_spec(struct field_errors *e, const struct at *spec, const char *name,
                          bool in_line, bool any_affinity) {
    static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
    struct at affinity = at_child(spec, "nodeAffinity"), csi = at_child(spec, "csi");
    struct at required = at_child(&affinity, "required"), host = at_child(spec, "hostPath");
    const char *class = at_str(spec, "storageClassName");
    const char *policy = at_str(spec, "persistentVolumeReclaimPolicy");
    const char *attributes = at_str(spec, "volumeAttributesClassName");
    if (in_line) {
        if (at_has(spec, "claimRef"))
            bad_forbidden(e, spec, "claimRef",
                          "may not be specified in the context of inline volumes");
        if (at_len(spec, "capacity"))
            bad_forbidden(e, spec, "capacity",
                          "may not be specified in the context of inline volumes");
        if (!csi.v)
            bad_required(e, &csi, NULL, "has to be specified in the context of inline volumes");
    }
    if (!at_len(spec, "accessModes"))
        bad_required(e, spec, "accessModes", "");
    check_access_modes(e, spec);
    if (!in_line)
        check_pv_capacity(e, spec);
    if (*policy && in_line && !streq(policy, "Retain"))
        bad_forbidden(e, spec, "persistentVolumeReclaimPolicy",
                      "may only be Retain in the context of inline volumes");
    else if (*policy && !in_line)
        check_one_of(e, spec, "persistentVolumeReclaimPolicy", policies);
    if (affinity.v && in_line)
        bad_forbidden(e, &affinity, NULL, "may not be specified in the context of inline volumes");
    else if (affinity.v && required.v)
        check_node_selector(e, &required, any_affinity);
    else if (affinity.v)
        bad_required(e, &required, NULL, "must specify required node constraints");
    check_pv_source(e, spec, name);
    if (host.v && is_root_path(at_str(&host, "path")) && streq(policy, "Recycle"))
        bad_forbidden(e, spec, "persistentVolumeReclaimPolicy",
                      "may not be 'recycle' for a hostPath mount of '/'");
    if (*class && in_line)
        bad_forbidden(e, spec, "storageClassName",
                      "may not be specified in the context of inline volumes");
    else if (*class)
        check_name(e, spec, "storageClassName", class, name_dns1123_subdomain);
    if (at_has(spec, "volumeMode") && in_line && !streq(at_str(spec, "volumeMode"), "Filesystem"))
        bad_forbidden(e, spec, "volumeMode",
                      "may not specify volumeMode other than Filesystem in the context of inline "
                      "volumes");
    else if (at_has(spec, "volumeMode") && !in_line)
        check_one_of(e, spec, "volumeMode", volume_modes);
    if (!at_has(spec, "volumeAttributesClassName") || in_line)
        return;
    if (!*attributes)
        bad_required(e, spec, "volumeAttributesClassName", "an empty string is disallowed");
    else
        check_name(e, spec, "volumeAttributesClassName", attributes, name_dns1123_subdomain);
    if (!csi.v)
        bad_required(e, &csi, NULL, "has to be specified when using volumeAttributesClassName");
}

void check_inline_volume(struct field_errors *e, const struct at *spec) {
    check_pv_spec(e, spec, "", true, false);
}

static void check_mount_option(struct field_errors *e, const struct at *meta,
                               const struct at *spec) {
    static const char *const can[] = {"gcePersistentDisk",
                                      "awsElasticBlockStore",
                                      "glusterfs",
                                      "nfs",
                                      "rbd",
                                      "quobyte",
                                      "iscsi",
                                      "cinder",
                                      "cephfs",
                                      "azureFile",
                                      "vsphereVolume",
                                      "azureDisk",
                                      "photonPersistentDisk"};
    struct at annotations = at_child(meta, "annotations");
    for (size_t i = 0; i < ARRAY_LEN(can); i++)
        if (at_has(spec, can[i]))
            return;
    if (at_has(&annotations, "volume.beta.kubernetes.io/mount-options"))
        bad_forbidden(e, &annotations, "volume.beta.kubernetes.io/mount-options",
                      "may not specify mount options for this volume type");
}

static json_t *source_of(const json_t *spec) {
    json_t *source = json_object();
    for (size_t i = 0; pv_sources[i]; i++)
        if (json_object_get(spec, pv_sources[i]))
            copy_member(source, spec, pv_sources[i]);
    return source;
}

/* The name that an old label has today; "" when it is none of those. */
static const char *new_label(const char *old) {
    static const char *const renamed[][2] = {
        {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"}};
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (streq(old, renamed[i][0]))
            return renamed[i][1];
    return "";
}

/* The old affinity with those labels renamed that are so in the new one: that much may change. (An
 * empty key passes, too, as it does there.) */
static json_t *with_new_labels(const json_t *old, const json_t *now) {
    json_t *copy = json_deep_copy(old), *term, *r;
    const json_t *terms = json_object_get(json_object_get(now, "required"), "nodeSelectorTerms");
    size_t i, j;
    json_array_foreach(json_object_get(json_object_get(copy, "required"), "nodeSelectorTerms"), i,
                       term) json_array_foreach(json_object_get(term, "matchExpressions"), j, r) {
        const json_t *other =
            json_array_get(json_object_get(json_array_get(terms, i), "matchExpressions"), j);
        const char *key = json_str(other, "key");
        if (key && streq(new_label(strna(json_str(r, "key"))), key))
            set_string(r, "key", key);
    }
    return copy;
}

static void check_pv_changes(struct field_errors *e, const struct at *root, const json_t *old) {
    const json_t *old_spec = json_object_get(old, "spec");
    struct at spec = at_child(root, "spec");
    _cleanup_json_ json_t *was = source_of(old_spec), *now = source_of(spec.v);
    json_t *csi = json_object_get(now, "csi"), *old_csi = json_object_get(was, "csi");
    if (csi && old_csi && !json_object_get(old_csi, "controllerExpandSecretRef"))
        json_object_del(csi, "controllerExpandSecretRef");
    if (!same_value(now, was)) {
        _cleanup_str_ struct str diff = STR_INIT;
        gotype_diff(&go_persistent_volume_source, was, now, &diff);
        bad_forbidden(e, &spec, "persistentvolumesource",
                      "spec.persistentvolumesource is immutable after creation\n%s",
                      str_get(&diff));
    }
    struct at mode = at_named(root, "volumeMode", at_get(&spec, "volumeMode"));
    check_immutable(e, &mode, json_object_get(old_spec, "volumeMode"), NULL);
    const json_t *old_affinity = json_object_get(old_spec, "nodeAffinity");
    struct at affinity = at_named(root, "nodeAffinity", at_get(&spec, "nodeAffinity"));
    if (old_affinity && !same_value(affinity.v, old_affinity)) {
        _cleanup_json_ json_t *renamed = with_new_labels(old_affinity, affinity.v);
        if (!same_value(affinity.v, renamed))
            bad_struct(e, &affinity, NULL, &go_volume_node_affinity, affinity.v, NULL,
                       "field is immutable, except for updating from beta label to GA");
    }
    if (json_object_get(old_spec, "volumeAttributesClassName") &&
        !at_has(&spec, "volumeAttributesClassName"))
        bad_forbidden(e, &spec, "volumeAttributesClassName",
                      "update from non-nil value to nil is forbidden");
}

static void check_pv(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec");
    const json_t *old_affinity = json_object_get(json_object_get(c->old, "spec"), "nodeAffinity");
    bool any_affinity = node_selector_has_bad_value(json_object_get(old_affinity, "required"));
    if (c->part == STRATEGY_STATUS) {
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
        return;
    }
    /* on updates the server does this twice */
    for (int i = 0; i < (c->old ? 2 : 1); i++) {
        check_meta(e, &meta, false, name_dns1123_subdomain);
        check_pv_spec(e, &spec, at_str(&meta, "name"), false, any_affinity);
        if (i == 0)
            check_mount_option(e, &meta, &spec);
    }
    if (c->old)
        check_pv_changes(e, &root, c->old);
}

const struct strategy_ops strategy_volumes = {
    .defaults = default_pv,
    .admit = admit_pv,
    .prepare = prepare_pv,
    .check = check_pv,
};
