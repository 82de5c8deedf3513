/* Volumes of pods. */
#include "sim/api/strategy_kinds.h"

/* --- paths --- */

bool path_has_backsteps(const char *path) {
    for (;;) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.')
            return true;
        if (!path[len])
            return false;
        path += len + 1;
    }
}

void check_no_backsteps(struct field_errors *e, const struct at *at, const char *child,
                        const char *path) {
    if (path_has_backsteps(path))
        bad_string(e, at, child, path, "must not contain '..'");
}

void check_relative_path(struct field_errors *e, const struct at *at, const char *child,
                         const char *path) {
    if (*path == '/')
        bad_string(e, at, child, path, "must be a relative path");
    check_no_backsteps(e, at, child, path);
}

/* Names that begin with ".." are the kubelet's. */
static void check_file_path(struct field_errors *e, const struct at *at, const char *child,
                            const char *path) {
    check_relative_path(e, at, child, path);
    if (str_starts(path, "..") && !str_starts(path, "../"))
        bad_string(e, at, child, path, "must not start with '..'");
}

static void check_mode(struct field_errors *e, const struct at *at, const char *child) {
    int64_t mode = at_int(at, child);
    if (mode < 0 || mode > 0777)
        bad_int(e, at, child, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

/* --- what files are made of --- */

static bool split_subscript(const char *path, char **name, char **subscript) {
    const char *open = strstr(path, "['");
    if (!str_ends(path, "']") || !open || open == path || strlen(open) < 4)
        return false;
    *name = xstrndup(path, (size_t)(open - path));
    *subscript = xstrndup(open + 2, strlen(open) - 4);
    return true;
}

void check_field_selector(struct field_errors *e, const struct at *at, const char *const *fields) {
    static const char *const known[] = {
        "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
        "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
        "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
        "status.podIP",         "status.podIPs",   "spec.host",          NULL};
    const char *version = at_str(at, "apiVersion"), *path = at_str(at, "fieldPath");
    _cleanup_free_ char *name = NULL, *subscript = NULL;
    if (!*version) {
        bad_required(e, at, "apiVersion", "");
        return;
    }
    if (!*path) {
        bad_required(e, at, "fieldPath", "");
        return;
    }
    if (!streq(version, "v1")) {
        bad_string(e, at, "fieldPath", path,
                   "error converting fieldPath: unsupported pod version: %s", version);
        return;
    }
    if (split_subscript(path, &name, &subscript)) {
        if (streq(name, "metadata.annotations")) {
            for (char *c = subscript; *c; c++)
                if (*c >= 'A' && *c <= 'Z')
                    *c = (char)(*c - 'A' + 'a');
            check_name(e, at, NULL, subscript, name_label_key);
        } else if (streq(name, "metadata.labels")) {
            check_name(e, at, NULL, subscript, name_label_key);
        } else {
            bad_string(e, at, "fieldPath", path,
                       "error converting fieldPath: field label does not support subscript: %s",
                       path);
        }
        return;
    }
    if (!is_one_of(path, known)) {
        bad_string(e, at, "fieldPath", path,
                   "error converting fieldPath: field label not supported: %s", path);
        return;
    }
    if (streq(path, "spec.host"))
        path = "spec.nodeName";
    if (!is_one_of(path, fields)) {
        _cleanup_json_ json_t *shown = json_string(path);
        bad_unsupported(e, at, "fieldPath", shown, fields);
    }
}

static bool is_huge_page_selector(const char *resource) {
    return str_starts(resource, "requests.hugepages-") || str_starts(resource, "limits.hugepages-");
}

static void check_divisor(struct field_errors *e, const struct at *at, const char *resource) {
    static const char *const sizes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
                                        "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};
    static const char *const cpus[] = {"1m", "1", NULL};
    const json_t *divisor = at_get(at, "divisor");
    const char *text = strna(json_string_value(divisor)), *of = strchr(resource, '.');
    if (quantity_of(divisor) == 0 || !of)
        return;
    of++;
    bool cpu = streq(of, "cpu");
    const char *name = streq(of, "memory")               ? "memory"
                       : streq(of, "ephemeral-storage")  ? "local ephemeral storage"
                       : is_huge_page_selector(resource) ? "hugepages"
                                                         : NULL;
    if (cpu && !is_one_of(text, cpus))
        bad_string(e, at, "divisor", resource,
                   "only divisor's values 1m and 1 are supported with the cpu resource");
    else if (name && !is_one_of(text, sizes))
        bad_string(e, at, "divisor", resource,
                   "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
                   "are supported with the %s resource",
                   name);
}

void check_resource_selector(struct field_errors *e, const struct at *at, bool volume) {
    static const char *const resources[] = {"limits.cpu",
                                            "limits.ephemeral-storage",
                                            "limits.memory",
                                            "requests.cpu",
                                            "requests.ephemeral-storage",
                                            "requests.memory",
                                            NULL};
    const char *resource = at_str(at, "resource");
    if (volume && !*at_str(at, "containerName"))
        bad_required(e, at, "containerName", "");
    else if (!*resource)
        bad_required(e, at, "resource", "");
    else if (!is_one_of(resource, resources) && !is_huge_page_selector(resource))
        bad_unsupported(e, at, "resource", at_get(at, "resource"), resources);
    check_divisor(e, at, resource);
}

static void check_key_to_path(struct field_errors *e, const struct at *item) {
    if (!*at_str(item, "key"))
        bad_required(e, item, "key", "");
    if (!*at_str(item, "path"))
        bad_required(e, item, "path", "");
    check_file_path(e, item, "path", at_str(item, "path"));
    check_mode(e, item, "mode");
}

/* `at` is where the server says it is: not at the file. */
static void check_downward_file(struct field_errors *e, const struct at *at, const json_t *file) {
    static const char *const fields[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                         "metadata.namespace",   "metadata.uid",    NULL};
    struct at f = {.up = at->up, .key = at->key, .index = at->index, .v = file};
    struct at field = at_child(&f, "fieldRef"), resource = at_child(&f, "resourceFieldRef");
    if (!*at_str(&f, "path"))
        bad_required(e, &f, "path", "");
    check_file_path(e, &f, "path", at_str(&f, "path"));
    if (field.v) {
        check_field_selector(e, &field, fields);
        if (resource.v)
            bad_string(e, &f, NULL, "resource",
                       "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource.v) {
        check_resource_selector(e, &resource, true);
    } else {
        bad_required(e, &f, NULL, "one of fieldRef and resourceFieldRef is required");
    }
    check_mode(e, &f, "mode");
}

/* --- projected volumes --- */

struct projection {
    struct field_errors *e;
    const struct at *volume; /* at projected */
    json_t *paths;           /* seen so far */
};

static void check_new_path(struct projection *p, const char *path, const char *shown) {
    if (json_object_get(p->paths, path))
        bad_string(p->e, p->volume, NULL, shown, "conflicting duplicate paths");
    json_object_set_new(p->paths, path, json_true());
}

static void check_keys_source(struct projection *p, const struct at *at) {
    struct at items = at_child(at, "items");
    if (!*at_str(at, "name"))
        bad_required(p->e, at, "name", "");
    at_each(item, &items) {
        check_key_to_path(p->e, &item);
        if (*at_str(&item, "path"))
            check_new_path(p, at_str(&item, "path"), at_str(at, "name"));
    }
}

static void check_token_source(struct projection *p, const struct at *at, bool any_path) {
    int64_t seconds = at_int(at, "expirationSeconds");
    const char *path = at_str(at, "path");
    if (seconds < 600)
        bad_int(p->e, at, "expirationSeconds", seconds,
                "may not specify a duration less than 10 minutes");
    if (seconds > INT64_C(1) << 32)
        bad_int(p->e, at, "expirationSeconds", seconds,
                "may not specify a duration larger than 2^32 seconds");
    if (!*path)
        bad_required(p->e, p->volume, "path", "");
    else if (!any_path)
        check_file_path(p->e, p->volume, "path", path);
}

static void check_projected(struct field_errors *e, const struct at *at, bool any_token_path) {
    _cleanup_json_ json_t *paths = json_object();
    struct projection p = {e, at, paths};
    struct at sources = at_child(at, "sources");
    check_mode(e, at, "defaultMode");
    at_each(source, &sources) {
        struct at secret = at_child(&source, "secret"), map = at_child(&source, "configMap");
        struct at down = at_child(&source, "downwardAPI");
        struct at token = at_child(&source, "serviceAccountToken");
        if (secret.v)
            check_keys_source(&p, &secret);
        if (map.v)
            check_keys_source(&p, &map);
        struct at files = at_child(&down, "items");
        at_each(file, &files) {
            const char *path = at_str(&file, "path");
            check_downward_file(e, &down, file.v);
            if (*path)
                check_new_path(&p, path, path);
        }
        if (token.v)
            check_token_source(&p, &token, any_token_path);
        if (json_object_size(source.v) > 1)
            bad_forbidden(e, &source, NULL, "may not specify more than 1 volume type per source");
    }
}

/* --- sources --- */

void check_host_path(struct field_errors *e, const struct at *at) {
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL};
    const char *path = at_str(at, "path");
    if (!*path) {
        bad_required(e, at, "path", "");
        return;
    }
    check_no_backsteps(e, at, "path", path);
    check_one_of(e, at, "type", types);
}

static void check_keys_volume(struct field_errors *e, const struct at *at, const char *name) {
    struct at items = at_child(at, "items");
    if (!*at_str(at, name))
        bad_required(e, at, name, "");
    check_mode(e, at, "defaultMode");
    at_each(item, &items) check_key_to_path(e, &item);
}

void check_pull_policy(struct field_errors *e, const struct at *at, const char *child) {
    static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
    check_enum(e, at, child, policies);
}

static void check_ephemeral(struct field_errors *e, const struct at *at, const struct at *meta,
                            const char *volume, const struct at *at_volume) {
    struct at tmpl = at_child(at, "volumeClaimTemplate");
    if (!tmpl.v) {
        bad_required(e, at, "volumeClaimTemplate", "");
    } else {
        struct at m = at_child(&tmpl, "metadata"), spec = at_child(&tmpl, "spec");
        struct at annotations = at_child(&m, "annotations"), labels = at_child(&m, "labels");
        check_annotations(e, &annotations);
        check_labels(e, &labels);
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)m.v, key,
                            value) if (!streq(key, "annotations") && !streq(key, "labels"))
            bad_forbidden(e, &m, key, "cannot be set");
        check_claim_spec(e, &spec, NULL);
    }
    const char *pod = meta ? at_str(meta, "name") : "";
    if (!*pod || !*volume)
        return;
    _cleanup_free_ char *claim = xasprintf("%s-%s", pod, volume);
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_dns1123_subdomain(claim, &p);
    for (size_t i = 0; i < p.v.len; i++)
        bad_string(e, at_volume, "name", volume, "PVC name \"%s\": %s", claim, p.v.p[i]);
}

void check_csi_driver_name(struct field_errors *e, const struct at *at, const char *child) {
    const char *name = at_str(at, child);
    if (!*name) {
        bad_required(e, at, child, "");
        return;
    }
    if (strlen(name) > 63)
        bad_too_long(e, at, child, 63);
    _cleanup_free_ char *lower = xstrdup(name);
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_dns1123_subdomain(lower, &p);
    for (size_t i = 0; i < p.v.len; i++)
        bad_string(e, at, child, name, "%s", p.v.p[i]);
}

static void check_csi(struct field_errors *e, const struct at *at) {
    struct at secret = at_child(at, "nodePublishSecretRef");
    const char *name = at_str(&secret, "name");
    check_csi_driver_name(e, at, "driver");
    if (secret.v && !*name)
        bad_required(e, &secret, "name", "");
    else if (secret.v)
        check_name(e, at, "name", name, name_dns1123_subdomain);
}

/* The server's order; the second name is the one it uses when there is another source already. */
static const struct {
    const char *source, *doubled;
} sources[] = {
    {"emptyDir", NULL},
    {"hostPath", NULL},
    {"gitRepo", NULL},
    {"gcePersistentDisk", NULL},
    {"awsElasticBlockStore", NULL},
    {"secret", NULL},
    {"nfs", NULL},
    {"iscsi", NULL},
    {"glusterfs", NULL},
    {"flocker", NULL},
    {"persistentVolumeClaim", NULL},
    {"rbd", NULL},
    {"cinder", NULL},
    {"cephfs", "cephFS"},
    {"quobyte", NULL},
    {"downwardAPI", "downwarAPI"},
    {"fc", NULL},
    {"flexVolume", NULL},
    {"configMap", NULL},
    {"azureFile", NULL},
    {"vsphereVolume", NULL},
    {"photonPersistentDisk", NULL},
    {"portworxVolume", NULL},
    {"azureDisk", NULL},
    {"storageos", NULL},
    {"projected", NULL},
    {"scaleIO", NULL},
    {"csi", NULL},
    {"ephemeral", NULL},
    {"image", NULL},
};

static void check_source(struct field_errors *e, const struct at *volume, const char *source,
                         const struct at *meta, const struct pod_options *o) {
    const char *name = at_str(volume, "name");
    struct at at = at_child(volume, source);
    if (streq(source, "emptyDir")) {
        if (quantity_of(at_get(&at, "sizeLimit")) < 0)
            bad_forbidden(e, &at, "sizeLimit", "SizeLimit field must be a valid resource quantity");
    } else if (streq(source, "hostPath")) {
        check_host_path(e, &at);
    } else if (streq(source, "secret")) {
        check_keys_volume(e, &at, "secretName");
    } else if (streq(source, "configMap")) {
        check_keys_volume(e, &at, "name");
    } else if (streq(source, "persistentVolumeClaim")) {
        if (!*at_str(&at, "claimName"))
            bad_required(e, &at, "claimName", "");
    } else if (streq(source, "downwardAPI")) {
        struct at items = at_child(&at, "items");
        check_mode(e, &at, "defaultMode");
        at_each(file, &items) check_downward_file(e, &at, file.v);
    } else if (streq(source, "projected")) {
        check_projected(e, &at, o->any_token_path);
    } else if (streq(source, "csi")) {
        check_csi(e, &at);
    } else if (streq(source, "ephemeral")) {
        check_ephemeral(e, &at, meta, name, volume);
    } else if (streq(source, "image")) {
        if (o->is_pod && !*at_str(&at, "reference"))
            bad_required(e, &at, "reference", "");
        check_pull_policy(e, &at, "pullPolicy");
    } else {
        check_foreign_source(e, volume, source, &(struct volume_place){name, false});
    }
}

static void check_volume(struct field_errors *e, const struct at *volume, const struct at *meta,
                         const struct pod_options *o) {
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const char *source = sources[i].source;
        if (!at_has(volume, source))
            continue;
        if (found)
            bad_forbidden(e, volume, sources[i].doubled ? sources[i].doubled : source,
                          "may not specify more than 1 volume type");
        else
            check_source(e, volume, source, meta, o);
        found = true;
        struct at at = at_child(volume, source);
        if (streq(source, "iscsi") && at_has(&at, "initiatorName") &&
            strlen(at_str(volume, "name")) + 1 + strlen(at_str(&at, "targetPortal")) > 64)
            bad_string(e, volume, "name", at_str(volume, "name"), "%s", VOLUME_ISCSI_TOO_LONG);
    }
    if (!found)
        bad_required(e, volume, NULL, "must specify a volume type");
}

/* Claims that the pod's ephemeral volumes make. */
static bool makes_claim(const struct at *volumes, const struct at *meta, const char *claim) {
    const char *pod = meta ? at_str(meta, "name") : "";
    if (!*pod)
        return false;
    at_each(volume, volumes) {
        _cleanup_free_ char *made = xasprintf("%s-%s", pod, at_str(&volume, "name"));
        if (at_has(&volume, "ephemeral") && streq(made, claim))
            return true;
    }
    return false;
}

json_t *check_volumes(struct field_errors *e, const struct at *volumes, const struct at *meta,
                      const struct pod_options *o) {
    json_t *good = json_object();
    at_each(volume, volumes) {
        const char *name = at_str(&volume, "name");
        size_t before = e->v.len;
        check_volume(e, &volume, meta, o);
        if (!*name)
            bad_required(e, &volume, "name", "");
        else
            check_name(e, &volume, "name", name, name_dns1123_label);
        if (json_object_get(good, name))
            bad_duplicate(e, &volume, "name", name);
        if (e->v.len == before)
            json_object_set(good, name, (json_t *)volume.v);
        struct at claim = at_child(&volume, "persistentVolumeClaim");
        const char *claim_name = at_str(&claim, "claimName");
        if (claim.v && makes_claim(volumes, meta, claim_name))
            bad_string(e, &claim, "claimName", claim_name,
                       "must not reference a PVC that gets created for an ephemeral volume");
    }
    return good;
}
