/* StorageClasses, VolumeAttachments and CSINodes. */
#include "sim/api/strategy_kinds.h"

enum { PARAMETERS_MOST = 512, PARAMETERS_BYTES = 256 << 10 };

static size_t map_bytes(const json_t *map) {
    size_t size = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value) size += strlen(key) + json_string_length(value);
    return size;
}

/* --- StorageClasses --- */

static void default_class(json_t *obj) {
    if (!json_object_get(obj, "reclaimPolicy"))
        set_string(obj, "reclaimPolicy", "Delete");
    if (!json_object_get(obj, "volumeBindingMode"))
        set_string(obj, "volumeBindingMode", "Immediate");
}

static void check_parameters(struct field_errors *e, const struct at *root) {
    struct at parameters = at_child(root, "parameters");
    if (json_object_size(parameters.v) > PARAMETERS_MOST) {
        bad_too_long(e, &parameters, NULL, PARAMETERS_MOST);
        return;
    }
    if (at_has(&parameters, ""))
        bad_string(e, &parameters, NULL, "", "field can not be empty.");
    if (map_bytes(parameters.v) > PARAMETERS_BYTES)
        bad_too_long(e, &parameters, NULL, PARAMETERS_BYTES);
}

/* A term of allowedTopologies as a set of sets, to compare it. */
static json_t *term_as_sets(const struct at *term) {
    json_t *sets = json_object();
    struct at list = at_child(term, "matchLabelExpressions");
    at_each(r, &list) {
        struct at values = at_child(&r, "values");
        json_t *set = json_object();
        at_each(v, &values) json_object_set_new(set, strna(json_string_value(v.v)), json_true());
        json_object_set_new(sets, at_str(&r, "key"), set);
    }
    return sets;
}

static void check_topologies(struct field_errors *e, const struct at *root) {
    struct at terms = at_child(root, "allowedTopologies");
    _cleanup_json_ json_t *seen = json_array();
    /* the server begins with as many empty terms as there are terms: none may be empty */
    for (size_t i = 0; i < json_array_size(terms.v); i++)
        json_array_append_new(seen, json_object());
    at_each(term, &terms) {
        struct at list = at_child(&term, "matchLabelExpressions");
        _cleanup_json_ json_t *keys = json_object();
        at_each(r, &list) {
            struct at values = at_child(&r, "values");
            const char *key = at_str(&r, "key");
            _cleanup_json_ json_t *known = json_object();
            if (!json_array_size(values.v))
                bad_required(e, &values, NULL, "");
            at_each(v, &values) {
                if (seen_before(known, v.v))
                    bad_duplicate(e, &v, NULL, strna(json_string_value(v.v)));
            }
            check_name(e, &r, "key", key, name_label_key);
            if (json_object_get(keys, key))
                bad_duplicate(e, &r, "key", key);
            json_object_set_new(keys, key, json_true());
        }
        json_t *sets = term_as_sets(&term);
        for (size_t i = 0; i < json_array_size(seen); i++)
            if (json_equal(json_array_get(seen, i), sets))
                bad_duplicate(e, &list, NULL, "");
        json_array_append_new(seen, sets);
    }
}

static void check_class(struct strategy_call *c) {
    static const char *const policies[] = {"Delete", "Retain", NULL};
    static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy",
                                        "volumeBindingMode"};
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    const char *provisioner = at_str(&root, "provisioner");
    _cleanup_free_ char *lower = xstrdup(provisioner);
    for (char *p = lower; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    check_meta(e, &meta, false, name_dns1123_subdomain);
    if (!*provisioner)
        bad_required(e, &root, "provisioner", "");
    else
        check_name(e, &root, "provisioner", lower, name_label_key);
    check_parameters(e, &root);
    if (*at_str(&root, "reclaimPolicy"))
        check_one_of(e, &root, "reclaimPolicy", policies);
    check_one_of(e, &root, "volumeBindingMode", modes);
    check_topologies(e, &root);
    if (!c->old)
        return;
    check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        struct at at = at_child(&root, fixed[i]);
        check_immutable(e, &at, json_object_get(c->old, fixed[i]), NULL);
    }
}

const struct strategy_ops strategy_storage_classes = {.defaults = default_class,
                                                      .check = check_class};

/* --- VolumeAttachments --- */

static void default_attachment(json_t *obj) {
    json_t *source = json_object_get(json_object_get(obj, "spec"), "source");
    json_t *in_line = json_object_get(source, "inlineVolumeSpec");
    if (!in_line)
        return;
    default_resource_list(in_line, "capacity");
    default_volume_source(in_line);
}

static void prepare_attachment(struct strategy_call *c) {
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        meta_reset_for_status(c->obj, c->old);
    } else if (c->old) {
        copy_member(c->obj, c->old, "status");
    } else {
        json_object_set_new(c->obj, "status", json_object());
    }
}

static void check_volume_error(struct field_errors *e, const struct at *status, const char *key) {
    enum { MESSAGE_MOST = 1024 };
    struct at error = at_child(status, key);
    if (strlen(at_str(&error, "message")) > MESSAGE_MOST)
        bad_too_long(e, &error, "message", PARAMETERS_BYTES); /* the server's number */
    if (at_int(&error, "errorCode") < 0)
        bad_int(e, &error, "errorCode", at_int(&error, "errorCode"),
                "must be between 0 and %d, inclusive", INT32_MAX);
}

static void check_attachment(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    struct at source = at_child(&spec, "source"),
              metadata = at_child(&status, "attachmentMetadata");
    struct at in_line = at_child(&source, "inlineVolumeSpec");
    const char *volume = at_str(&source, "persistentVolumeName");
    bool named = at_has(&source, "persistentVolumeName");
    check_meta(e, &meta, false, name_dns1123_subdomain);
    check_csi_driver_name(e, &spec, "attacher");
    if (!in_line.v && !named)
        bad_required(e, &source, NULL,
                     "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    else if (in_line.v && named)
        bad_forbidden(e, &source, NULL,
                      "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    else if (named && !*volume)
        bad_required(e, &source, "persistentVolumeName",
                     "must specify non empty persistentVolumeName");
    else if (in_line.v)
        check_inline_volume(e, &in_line);
    check_name(e, &spec, "nodeName", at_str(&spec, "nodeName"), name_dns1123_subdomain);
    if (map_bytes(metadata.v) > PARAMETERS_BYTES)
        bad_too_long(e, &metadata, NULL, PARAMETERS_BYTES);
    check_volume_error(e, &status, "attachError");
    check_volume_error(e, &status, "detachError");
    if (named)
        check_name(e, &spec, "source.persistentVolumeName", volume, name_dns1123_subdomain);
    if (c->old)
        check_immutable(e, &spec, json_object_get(c->old, "spec"), &go_volume_attachment_spec);
}

const struct strategy_ops strategy_attachments = {
    .defaults = default_attachment, .prepare = prepare_attachment, .check = check_attachment};

/* --- CSINodes --- */

static void check_driver(struct field_errors *e, const struct at *driver, json_t *names) {
    enum { NODE_ID_MOST = 256 };
    const char *name = at_str(driver, "name"), *id = at_str(driver, "nodeID");
    struct at allocatable = at_child(driver, "allocatable");
    struct at keys = at_child(driver, "topologyKeys");
    check_csi_driver_name(e, driver, "name");
    if (!*id)
        bad_required(e, driver, "nodeID", "");
    if (strlen(id) > NODE_ID_MOST)
        bad_string(e, driver, "nodeID", id, "must be %d characters or less", NODE_ID_MOST);
    check_not_negative(e, &allocatable, "count");
    if (json_object_get(names, name))
        bad_duplicate(e, driver, "name", name);
    json_object_set_new(names, name, json_true());
    _cleanup_json_ json_t *seen = json_object();
    at_each(key, &keys) {
        const char *text = strna(json_string_value(key.v));
        if (!*text)
            bad_required(e, driver, NULL, "");
        if (seen_before(seen, key.v))
            bad_duplicate(e, driver, NULL, text);
        check_name(e, driver, NULL, text, name_label_key);
    }
}

/* What a driver said of a node stays, but for how many volumes it can have. */
static void check_driver_kept(struct field_errors *e, const struct at *drivers,
                              const struct at *driver, const json_t *old_list) {
    size_t i;
    json_t *old;
    json_array_foreach((json_t *)old_list, i, old) {
        if (!str_same(json_str(old, "name"), at_str(driver, "name")))
            continue;
        _cleanup_json_ json_t *was = json_copy(old), *now = json_copy((json_t *)driver->v);
        json_object_del(was, "allocatable");
        json_object_del(now, "allocatable");
        if (!same_value(was, now))
            bad_struct(e, drivers, NULL, &go_csi_node_driver, now, NULL, "field is immutable");
    }
}

static void check_csi_node(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), drivers = at_child(&spec, "drivers");
    const json_t *old_list = json_object_get(json_object_get(c->old, "spec"), "drivers");
    _cleanup_json_ json_t *names = json_object();
    check_meta(e, &meta, false, name_dns1123_subdomain);
    at_each(driver, &drivers) check_driver(e, &driver, names);
    at_each(driver, &drivers) check_driver_kept(e, &drivers, &driver, old_list);
}

const struct strategy_ops strategy_csi_nodes = {.check = check_csi_node};
