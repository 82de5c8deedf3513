/* Containers: regular, init and ephemeral ones. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* What containers need to know of their pod. */
struct pod_view {
    struct field_errors *e;
    const struct at *spec;
    const json_t *volumes; /* good ones by name */
    const struct pod_options *o;
    bool host_users;
    int64_t grace;
};

static void check_port_number(struct field_errors *e, const struct at *at, const char *child,
                              int64_t port) {
    if (port < 1 || port > 65535)
        bad_int(e, at, child, port, "must be between 1 and 65535, inclusive");
}

void check_port_or_name(struct field_errors *e, const struct at *at, const char *child) {
    const json_t *port = at_get(at, child);
    if (json_is_string(port))
        check_name(e, at, child, json_string_value(port), name_port);
    else
        check_port_number(e, at, child, json_integer_value(port));
}

const char *const port_protocols[] = {"SCTP", "TCP", "UDP", NULL};

static void check_ports(struct field_errors *e, const struct at *ports) {
    _cleanup_json_ json_t *names = json_object();
    at_each(port, ports) {
        const char *name = at_str(&port, "name");
        if (*name && !name_ok(name_port, name)) {
            check_name(e, &port, "name", name, name_port);
        } else if (*name) {
            if (json_object_get(names, name))
                bad_duplicate(e, &port, "name", name);
            json_object_set_new(names, name, json_true());
        }
        if (at_int(&port, "containerPort") == 0)
            bad_required(e, &port, "containerPort", "");
        else
            check_port_number(e, &port, "containerPort", at_int(&port, "containerPort"));
        if (at_int(&port, "hostPort") != 0)
            check_port_number(e, &port, "hostPort", at_int(&port, "hostPort"));
        check_enum(e, &port, "protocol", port_protocols);
    }
}

/* --- environment --- */

static void check_key_ref(struct field_errors *e, const struct at *ref) {
    check_name(e, ref, "name", at_str(ref, "name"), name_dns1123_subdomain);
    if (!*at_str(ref, "key"))
        bad_required(e, ref, "key", "");
    else
        check_name(e, ref, "key", at_str(ref, "key"), name_config_key);
}

static void check_file_ref(struct field_errors *e, const struct at *ref) {
    static const struct {
        const char *member;
        name_rule *rule;
    } members[] = {{"key", name_env_var}, {"volumeName", name_dns1123_label}};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const char *value = at_str(ref, members[i].member);
        if (!*value)
            bad_required(e, ref, members[i].member, "");
        else
            check_name(e, ref, members[i].member, value, members[i].rule);
    }
    if (!*at_str(ref, "path"))
        bad_required(e, ref, "path", "");
    else
        check_no_backsteps(e, ref, "path", at_str(ref, "path"));
}

static void check_value_from(struct field_errors *e, const struct at *var) {
    static const char *const fields[] = {"metadata.name",
                                         "metadata.namespace",
                                         "metadata.uid",
                                         "spec.nodeName",
                                         "spec.serviceAccountName",
                                         "status.hostIP",
                                         "status.hostIPs",
                                         "status.podIP",
                                         "status.podIPs",
                                         NULL};
    struct at from = at_child(var, "valueFrom");
    if (!from.v)
        return;
    struct at field = at_child(&from, "fieldRef"), resource = at_child(&from, "resourceFieldRef");
    struct at map = at_child(&from, "configMapKeyRef"), secret = at_child(&from, "secretKeyRef");
    struct at file = at_child(&from, "fileKeyRef");
    if (field.v)
        check_field_selector(e, &field, fields);
    if (resource.v)
        check_resource_selector(e, &resource, false);
    if (map.v)
        check_key_ref(e, &map);
    if (secret.v)
        check_key_ref(e, &secret);
    if (file.v)
        check_file_ref(e, &file);
    int n = !!field.v + !!resource.v + !!map.v + !!secret.v + !!file.v;
    if (n == 0)
        bad_string(e, &from, NULL, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
    else if (*at_str(var, "value"))
        bad_string(e, &from, NULL, "", "may not be specified when `value` is not empty");
    else if (n > 1)
        bad_string(e, &from, NULL, "", "may not have more than one field specified at a time");
}

static void check_env(struct field_errors *e, const struct at *env) {
    at_each(var, env) {
        if (!*at_str(&var, "name"))
            bad_required(e, &var, "name", "");
        else
            check_name(e, &var, "name", at_str(&var, "name"), name_env_var);
        check_value_from(e, &var);
    }
}

static void check_env_source(struct field_errors *e, const struct at *ref) {
    const char *name = at_str(ref, "name");
    if (!*name) {
        bad_required(e, ref, "name", "");
        return;
    }
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_prefix(name_dns1123_subdomain, name, &p);
    for (size_t i = 0; i < p.v.len; i++)
        bad_string(e, ref, "name", name, "%s", p.v.p[i]);
}

static void check_env_from(struct field_errors *e, const struct at *list) {
    at_each(from, list) {
        struct at map = at_child(&from, "configMapRef"), secret = at_child(&from, "secretRef");
        if (*at_str(&from, "prefix"))
            check_name(e, &from, "prefix", at_str(&from, "prefix"), name_env_var);
        if (map.v)
            check_env_source(e, &map);
        if (secret.v)
            check_env_source(e, &secret);
        if (!map.v && !secret.v)
            bad_string(e, list, NULL, "", "must specify one of: `configMapRef` or `secretRef`");
        else if (map.v && secret.v)
            bad_string(e, list, NULL, "", "may not have more than one field specified at a time");
    }
}

/* --- mounts --- */

static bool any_has(const json_t *list, const char *key, const char *value) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i,
                       item) if (str_same(json_str(item, key), value)) return true;
    return false;
}

static void check_propagation(struct field_errors *e, const struct at *mounts,
                              const struct at *mount, bool privileged) {
    static const char *const modes[] = {"Bidirectional", "HostToContainer", "None", NULL};
    const char *mode = at_str(mount, "mountPropagation");
    if (!at_has(mount, "mountPropagation"))
        return;
    if (!is_one_of(mode, modes))
        bad_unsupported(e, mounts, "mountPropagation", at_get(mount, "mountPropagation"), modes);
    if (streq(mode, "Bidirectional") && !privileged)
        bad_forbidden(e, mounts, "mountPropagation",
                      "Bidirectional mount propagation is available only to privileged containers");
}

static void check_recursive_read_only(struct field_errors *e, const struct at *mounts,
                                      const struct at *mount) {
    static const char *const modes[] = {"Disabled", "Enabled", "IfPossible", NULL};
    const char *mode = at_str(mount, "recursiveReadOnly"), *key = "recursiveReadOnly";
    const char *propagation = at_str(mount, "mountPropagation");
    if (!at_has(mount, key) || streq(mode, "Disabled"))
        return;
    if (!is_one_of(mode, modes)) {
        bad_unsupported(e, mounts, key, at_get(mount, key), modes);
        return;
    }
    if (!at_bool(mount, "readOnly"))
        bad_forbidden(e, mounts, key, "may only be specified when readOnly is true");
    if (*propagation && !streq(propagation, "None"))
        bad_forbidden(e, mounts, key,
                      "may only be specified when mountPropagation is None or not specified");
}

static void check_mounts(const struct pod_view *pod, const struct at *container) {
    struct field_errors *e = pod->e;
    struct at mounts = at_child(container, "volumeMounts");
    struct at context = at_child(container, "securityContext");
    const json_t *devices = at_get(container, "volumeDevices");
    _cleanup_json_ json_t *paths = json_object();
    at_each(mount, &mounts) {
        const char *name = at_str(&mount, "name"), *path = at_str(&mount, "mountPath");
        const char *sub = at_str(&mount, "subPath"), *expr = at_str(&mount, "subPathExpr");
        if (!*name)
            bad_required(e, &mount, "name", "");
        if (!json_object_get(pod->volumes, name))
            bad_not_found(e, &mount, "name", name);
        if (!*path)
            bad_required(e, &mount, "mountPath", "");
        if (json_object_get(paths, path))
            bad_string(e, &mount, "mountPath", path, "must be unique");
        json_object_set_new(paths, path, json_true());
        if (any_has(devices, "name", name))
            bad_string(e, &mount, "name", name, "must not already exist in volumeDevices");
        if (any_has(devices, "devicePath", path))
            bad_string(e, &mount, "mountPath", path,
                       "must not already exist as a path in volumeDevices");
        if (*sub)
            check_relative_path(e, &mounts, "subPath", sub);
        if (*expr && *sub)
            bad_string(e, &mount, "subPathExpr", expr,
                       "subPathExpr and subPath are mutually exclusive");
        if (*expr)
            check_relative_path(e, &mounts, "subPathExpr", expr);
        check_propagation(e, &mounts, &mount, at_bool(&context, "privileged"));
        check_recursive_read_only(e, &mounts, &mount);
    }
}

static void check_devices(const struct pod_view *pod, const struct at *container) {
    struct field_errors *e = pod->e;
    struct at devices = at_child(container, "volumeDevices");
    const json_t *mounts = at_get(container, "volumeMounts");
    _cleanup_json_ json_t *names = json_object(), *paths = json_object();
    at_each(device, &devices) {
        const char *name = at_str(&device, "name"), *path = at_str(&device, "devicePath");
        const json_t *volume = json_object_get(pod->volumes, name);
        if (!*name)
            bad_required(e, &device, "name", "");
        if (json_object_get(names, name))
            bad_string(e, &device, "name", name, "must be unique");
        if (volume && !json_object_get(volume, "persistentVolumeClaim") &&
            !json_object_get(volume, "ephemeral"))
            bad_string(e, &device, "name", name,
                       "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                       "block mode");
        if (!volume)
            bad_not_found(e, &device, "name", name);
        if (!*path)
            bad_required(e, &device, "devicePath", "");
        if (json_object_get(paths, path))
            bad_string(e, &device, "devicePath", path, "must be unique");
        if (path_has_backsteps(path))
            bad_string(e, &device, "devicePath", path, "can not contain backsteps ('..')");
        else
            json_object_set_new(paths, path, json_true());
        if (any_has(mounts, "name", name))
            bad_string(e, &device, "name", name, "must not already exist in volumeMounts");
        if (any_has(mounts, "mountPath", path))
            bad_string(e, &device, "devicePath", path,
                       "must not already exist as a path in volumeMounts");
        if (*name)
            json_object_set_new(names, name, json_true());
    }
}

/* --- probes and hooks --- */

static void check_http_get(struct field_errors *e, const struct at *get) {
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};
    struct at headers = at_child(get, "httpHeaders");
    if (!*at_str(get, "path"))
        bad_required(e, get, "path", "");
    check_port_or_name(e, get, "port");
    check_one_of(e, get, "scheme", schemes);
    at_each(header, &headers)
        check_name(e, &headers, NULL, at_str(&header, "name"), name_http_header);
}

static void check_handler(const struct pod_view *pod, const struct at *handler, bool probe) {
    static const char *const kinds[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
    struct field_errors *e = pod->e;
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct at action = at_child(handler, kinds[i]);
        if (!action.v || streq(kinds[i], probe ? "sleep" : "grpc"))
            continue;
        if (found) {
            bad_forbidden(e, &action, NULL, "may not specify more than 1 handler type");
            continue;
        }
        found = true;
        if (streq(kinds[i], "exec")) {
            if (!at_len(&action, "command"))
                bad_required(e, &action, "command", "");
        } else if (streq(kinds[i], "httpGet")) {
            check_http_get(e, &action);
        } else if (streq(kinds[i], "sleep")) {
            int64_t n = at_int(&action, "seconds");
            if (n < 0 || n > pod->grace)
                bad_int(e, &action, NULL, n,
                        "must be non-negative and less than terminationGracePeriodSeconds "
                        "(%" PRId64 ")",
                        pod->grace);
        } else {
            check_port_or_name(e, &action, "port");
        }
    }
    if (!found)
        bad_required(e, handler, NULL, "must specify a handler type");
}

static void check_probe(const struct pod_view *pod, const struct at *container, const char *which) {
    static const char *const numbers[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                          "successThreshold", "failureThreshold"};
    struct at probe = at_child(container, which);
    if (!probe.v)
        return;
    check_handler(pod, &probe, true);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        check_not_negative(pod->e, &probe, numbers[i]);
    int64_t grace = at_int(&probe, "terminationGracePeriodSeconds");
    bool has_grace = at_has(&probe, "terminationGracePeriodSeconds");
    if (has_grace && grace <= 0)
        bad_int(pod->e, &probe, "terminationGracePeriodSeconds", grace, "must be greater than 0");
    if (streq(which, "readinessProbe")) {
        if (has_grace)
            bad_int(pod->e, &probe, "terminationGracePeriodSeconds", grace,
                    "must not be set for readinessProbes");
    } else if (at_int(&probe, "successThreshold") != 1) {
        bad_int(pod->e, &probe, "successThreshold", at_int(&probe, "successThreshold"),
                "must be 1");
    }
}

static void check_lifecycle(const struct pod_view *pod, const struct at *container) {
    struct at lifecycle = at_child(container, "lifecycle");
    struct at start = at_child(&lifecycle, "postStart"), stop = at_child(&lifecycle, "preStop");
    if (start.v)
        check_handler(pod, &start, false);
    if (stop.v)
        check_handler(pod, &stop, false);
}

static void check_probes(const struct pod_view *pod, const struct at *container) {
    check_lifecycle(pod, container);
    check_probe(pod, container, "livenessProbe");
    check_probe(pod, container, "readinessProbe");
    check_probe(pod, container, "startupProbe");
}

/* --- the rest --- */

static void check_resize_policy(const struct pod_view *pod, const struct at *container) {
    static const char *const resources[] = {"cpu", "memory", NULL};
    static const char *const policies[] = {"NotRequired", "RestartContainer", NULL};
    struct at list = at_child(container, "resizePolicy");
    bool never = streq(at_str(pod->spec, "restartPolicy"), "Never");
    _cleanup_json_ json_t *seen = json_object();
    at_each(policy, &list) {
        const char *resource = at_str(&policy, "resourceName");
        const char *restart = at_str(&policy, "restartPolicy");
        if (json_object_get(seen, resource))
            bad_duplicate(pod->e, &policy, NULL, resource);
        json_object_set_new(seen, resource, json_true());
        if (!*resource)
            bad_required(pod->e, &list, NULL, "");
        else if (!is_one_of(resource, resources))
            bad_unsupported(pod->e, &list, NULL, at_get(&policy, "resourceName"), resources);
        if (!*restart)
            bad_required(pod->e, &list, NULL, "");
        else if (!is_one_of(restart, policies))
            bad_unsupported(pod->e, &list, NULL, at_get(&policy, "restartPolicy"), policies);
        if (never && !streq(restart, "NotRequired"))
            bad_string(pod->e, &list, NULL, restart,
                       "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
}

static void check_restart_rules(struct field_errors *e, const struct at *container, bool init) {
    static const char *const policies[] = {"Always", "Never", "OnFailure", NULL};
    static const char *const actions[] = {"Restart", "RestartAllContainers", NULL};
    static const char *const operators[] = {"In", "NotIn", NULL};
    struct at rules = at_child(container, "restartPolicyRules");
    size_t n = json_array_size(rules.v);
    if (!at_has(container, "restartPolicy")) {
        if (n == 0)
            return;
        bad_required(e, container, "restartPolicy",
                     "must specify restartPolicy when restart rules are used");
        if (init)
            return;
    } else {
        check_one_of(e, container, "restartPolicy", policies);
    }
    if (n > 20)
        bad_too_many(e, container, "restartPolicyRules", n, 20);
    at_each(rule, &rules) {
        struct at codes = at_child(&rule, "exitCodes");
        check_one_of(e, &rule, "action", actions);
        if (!codes.v) {
            bad_required(e, &rule, "exitCodes", "must be specified");
            continue;
        }
        check_one_of(e, &codes, "operator", operators);
        if (at_len(&codes, "values") > 255)
            bad_too_many(e, &codes, "values", at_len(&codes, "values"), 255);
    }
}

static void check_common(const struct pod_view *pod, const struct at *c) {
    static const char *const policies[] = {"File", "FallbackToLogsOnError", NULL};
    struct field_errors *e = pod->e;
    if (!*at_str(c, "name"))
        bad_required(e, c, "name", "");
    else
        check_name(e, c, "name", at_str(c, "name"), name_dns1123_label);
    if (!*at_str(c, "image"))
        bad_required(e, c, "image", "");
    check_enum(e, c, "terminationMessagePolicy", policies);
    struct at ports = at_child(c, "ports"), env = at_child(c, "env");
    struct at env_from = at_child(c, "envFrom"), resources = at_child(c, "resources");
    struct at context = at_child(c, "securityContext");
    check_ports(e, &ports);
    check_env(e, &env);
    check_env_from(e, &env_from);
    check_mounts(pod, c);
    check_devices(pod, c);
    check_pull_policy(e, c, "imagePullPolicy");
    check_resources(e, &resources, RESOURCES_OF_CONTAINER, at_get(pod->spec, "resourceClaims"),
                    pod->o->any_huge_pages);
    check_resize_policy(pod, c);
    check_container_security(e, &context, pod->host_users);
}

/* One address, protocol and port of the host once. `at` is where complaints are made: the server
 * looks at init containers one by one, and calls each of them the first. */
static void check_host_ports(struct field_errors *e, const struct at *at, const json_t *container,
                             json_t *used) {
    struct at c = *at;
    c.v = container;
    struct at ports = at_child(&c, "ports");
    at_each(port, &ports) {
        if (at_int(&port, "hostPort") == 0)
            continue;
        _cleanup_free_ char *key = xasprintf("%s/%s/%" PRId64, at_str(&port, "protocol"),
                                             at_str(&port, "hostIP"), at_int(&port, "hostPort"));
        if (json_object_get(used, key))
            bad_duplicate(e, &port, "hostPort", key);
        json_object_set_new(used, key, json_true());
    }
}

static void check_regular(const struct pod_view *pod) {
    struct at list = at_child(pod->spec, "containers");
    _cleanup_json_ json_t *names = json_object(), *used = json_object();
    if (!json_array_size(list.v)) {
        bad_required(pod->e, &list, NULL, "");
        return;
    }
    at_each(c, &list) {
        const char *name = at_str(&c, "name");
        check_common(pod, &c);
        if (json_object_get(names, name))
            bad_duplicate(pod->e, &c, "name", name);
        json_object_set_new(names, name, json_true());
        check_probes(pod, &c);
        check_restart_rules(pod->e, &c, false);
    }
    at_each(c, &list) check_host_ports(pod->e, &c, c.v, used);
}

static void check_init(const struct pod_view *pod) {
    static const char *const only_sidecars[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                                "startupProbe"};
    struct field_errors *e = pod->e;
    struct at list = at_child(pod->spec, "initContainers");
    struct at regular = at_child(pod->spec, "containers");
    _cleanup_json_ json_t *names = json_object();
    at_each(c, &regular) json_object_set_new(names, at_str(&c, "name"), json_true());
    at_each(c, &list) {
        const char *name = at_str(&c, "name");
        bool sidecar = streq(at_str(&c, "restartPolicy"), "Always");
        check_common(pod, &c);
        check_restart_rules(e, &c, true);
        if (json_object_get(names, name))
            bad_duplicate(e, &c, "name", name);
        else if (*name)
            json_object_set_new(names, name, json_true());
        _cleanup_json_ json_t *used = json_object();
        struct at first = at_index(&list, 0);
        check_host_ports(e, &first, c.v, used);
        if (sidecar)
            check_probes(pod, &c);
        for (size_t i = 0; !sidecar && i < ARRAY_LEN(only_sidecars); i++)
            if (at_has(&c, only_sidecars[i]))
                bad_forbidden(e, &c, only_sidecars[i],
                              "may not be set for init containers without restartPolicy=Always");
        struct at resize = at_child(&c, "resizePolicy");
        if (!sidecar && !pod->o->restart_container_init)
            at_each(policy,
                    &resize) if (streq(at_str(&policy, "restartPolicy"), "RestartContainer"))
                bad_string(e, &policy, "restartPolicy", "RestartContainer",
                           "must not be set to 'RestartContainer' for non-sidecar "
                           "initContainers");
    }
}

static void check_ephemeral(const struct pod_view *pod) {
    static const char *const not_for_them[] = {
        "ports",         "resources",      "resizePolicy", "restartPolicy", "restartPolicyRules",
        "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"};
    struct field_errors *e = pod->e;
    struct at list = at_child(pod->spec, "ephemeralContainers");
    const json_t *regular = at_get(pod->spec, "containers");
    const json_t *init = at_get(pod->spec, "initContainers");
    _cleanup_json_ json_t *names = json_object();
    at_each(c, &list) {
        const char *name = at_str(&c, "name"), *target = at_str(&c, "targetContainerName");
        const char *image = at_str(&c, "image");
        check_common(pod, &c);
        check_image_blanks(e, &c, image);
        if (json_object_get(names, name) || any_has(regular, "name", name) ||
            any_has(init, "name", name))
            bad_duplicate(e, &c, "name", name);
        json_object_set_new(names, name, json_true());
        if (*target && !any_has(regular, "name", target) && !any_has(init, "name", target))
            bad_not_found(e, &c, "targetContainerName", target);
        for (size_t i = 0; i < ARRAY_LEN(not_for_them); i++)
            if (at_len(&c, not_for_them[i]) || json_is_string(at_get(&c, not_for_them[i])))
                bad_forbidden(e, &c, not_for_them[i], "cannot be set for an Ephemeral Container");
        struct at mounts = at_child(&c, "volumeMounts");
        at_each(mount, &mounts) {
            if (*at_str(&mount, "subPath"))
                bad_forbidden(e, &mount, "subPath", "cannot be set for an Ephemeral Container");
            if (*at_str(&mount, "subPathExpr"))
                bad_forbidden(e, &mount, "subPathExpr", "cannot be set for an Ephemeral Container");
        }
    }
}

void check_image_blanks(struct field_errors *e, const struct at *container, const char *image) {
    size_t len = strlen(image);
    static const char blanks[] = " \t\n\v\f\r";
    if (len && (strchr(blanks, image[0]) || strchr(blanks, image[len - 1])))
        bad_string(e, container, "image", image, "must not have leading or trailing whitespace");
}

void check_containers(struct field_errors *e, const struct at *spec, const json_t *volumes,
                      const struct pod_options *o) {
    struct pod_view pod = {.e = e, .spec = spec, .volumes = volumes, .o = o};
    pod.host_users = !at_has(spec, "hostUsers") || at_bool(spec, "hostUsers");
    pod.grace = at_int(spec, "terminationGracePeriodSeconds");
    check_regular(&pod);
    check_init(&pod);
    check_ephemeral(&pod);
}
