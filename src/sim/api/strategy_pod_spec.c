/* The spec of a pod or of a pod template. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* --- what an older version excuses --- */

static bool affinity_has_bad_selector(const struct at *spec) {
    static const char *const kinds[] = {"podAffinity", "podAntiAffinity"};
    static const char *const selectors[] = {"labelSelector", "namespaceSelector"};
    struct at affinity = at_child(spec, "affinity");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct at a = at_child(&affinity, kinds[i]);
        struct at required = at_child(&a, "requiredDuringSchedulingIgnoredDuringExecution");
        struct at preferred = at_child(&a, "preferredDuringSchedulingIgnoredDuringExecution");
        for (size_t s = 0; s < ARRAY_LEN(selectors); s++) {
            at_each(term,
                    &required) if (!label_selector_valid(at_get(&term, selectors[s]))) return true;
            at_each(weighted, &preferred) {
                struct at term = at_child(&weighted, "podAffinityTerm");
                if (!label_selector_valid(at_get(&term, selectors[s])))
                    return true;
            }
        }
    }
    return false;
}

/* Makes `o->any_spread_selector` and `o->legacy_match_label_keys`. */
static void spread_options(const struct at *spec, struct pod_options *o) {
    struct at list = at_child(spec, "topologySpreadConstraints");
    at_each(c, &list) o->any_spread_selector |= !label_selector_valid(at_get(&c, "labelSelector"));
    struct field_errors e = {0};
    struct pod_options strict = {.any_spread_selector = true};
    _cleanup_json_ json_t *keys_only = json_pack("{s:[]}", "topologySpreadConstraints");
    at_each(c, &list) {
        json_t *copy = json_pack("{s:i,s:s,s:s}", "maxSkew", 1, "topologyKey", "k",
                                 "whenUnsatisfiable", "DoNotSchedule");
        copy_member(copy, c.v, "matchLabelKeys");
        copy_member(copy, c.v, "labelSelector");
        json_array_append_new(json_object_get(keys_only, "topologySpreadConstraints"), copy);
    }
    /* each alone: two of the same kind are another complaint */
    json_t *all = json_object_get(keys_only, "topologySpreadConstraints");
    for (size_t i = 0; i < json_array_size(all); i++) {
        _cleanup_json_ json_t *one =
            json_pack("{s:[O]}", "topologySpreadConstraints", json_array_get(all, i));
        struct at at = at_root(one);
        check_spread(&e, &at, &strict);
    }
    o->legacy_match_label_keys = e.v.len > 0;
    field_errors_done(&e);
}

static bool has_odd_huge_pages(const struct at *spec) {
    static const char *const lists[] = {"containers", "initContainers"};
    bool odd = false;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(spec, lists[i]);
        at_each(c, &list) {
            struct at resources = at_child(&c, "resources");
            struct field_errors strict = {0}, lax = {0};
            check_resources(&strict, &resources, RESOURCES_OF_CONTAINER, NULL, false);
            check_resources(&lax, &resources, RESOURCES_OF_CONTAINER, NULL, true);
            odd |= strict.v.len != lax.v.len;
            field_errors_done(&strict);
            field_errors_done(&lax);
        }
    }
    return odd;
}

static bool has_comparison_toleration(const struct at *spec) {
    struct at list = at_child(spec, "tolerations");
    at_each(t, &list) if (streq(at_str(&t, "operator"), "Lt") ||
                          streq(at_str(&t, "operator"), "Gt")) return true;
    return false;
}

static bool has_restart_for_init(const struct at *spec) {
    struct at list = at_child(spec, "initContainers");
    at_each(c, &list) {
        struct at policies = at_child(&c, "resizePolicy");
        if (streq(at_str(&c, "restartPolicy"), "Always"))
            continue;
        at_each(p,
                &policies) if (streq(at_str(&p, "restartPolicy"), "RestartContainer")) return true;
    }
    return false;
}

static bool is_deletion_cost(const char *text) {
    char *end;
    if (!(*text == '-' || streq(text, "0") || (*text >= '1' && *text <= '9')))
        return false;
    long long n = strtoll(text, &end, 10);
    return !*end && end > text && n >= INT32_MIN && n <= INT32_MAX && !streq(text, "-");
}

static void find_devices(void *arg, const struct at *container) {
    *(bool *)arg |= at_len(container, "volumeDevices") > 0;
}

#define DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

struct pod_options pod_options(const json_t *old_spec, const json_t *old_meta, bool is_pod) {
    struct pod_options o = {.is_pod = is_pod};
    if (!old_spec)
        return o;
    struct at spec = at_root(old_spec), affinity = at_child(&spec, "affinity");
    struct at node = at_child(&affinity, "nodeAffinity");
    const char *cost = json_str(json_object_get(old_meta, "annotations"), DELETION_COST);
    bool own_users = at_has(&spec, "hostUsers") && !at_bool(&spec, "hostUsers");
    o.any_selector_value = affinity_has_bad_selector(&spec);
    o.any_node_affinity_value = node_selector_has_bad_value(
        at_get(&node, "requiredDuringSchedulingIgnoredDuringExecution"));
    spread_options(&spec, &o);
    o.any_huge_pages = has_odd_huge_pages(&spec);
    struct at context = at_child(&spec, "securityContext");
    o.any_selinux_change = at_has(&context, "seLinuxChangePolicy");
    o.any_host_sysctl = pod_has_host_sysctl(old_spec);
    o.any_deletion_cost = cost && !is_deletion_cost(cost);
    o.user_namespace_host_network = own_users && at_bool(&spec, "hostNetwork");
    each_container(&spec, find_devices, &o.user_namespace_devices);
    o.user_namespace_devices &= own_users;
    o.restart_container_init = has_restart_for_init(&spec);
    o.comparison_tolerations = has_comparison_toleration(&spec);
    return o;
}

/* --- parts of the spec --- */

static void check_resource_claims(struct field_errors *e, const struct at *spec,
                                  const struct at *meta) {
    struct at list = at_child(spec, "resourceClaims");
    struct at annotations = meta ? at_child(meta, "annotations") : at_root(NULL);
    _cleanup_json_ json_t *seen = json_object();
    at_each(claim, &list) {
        const char *name = at_str(&claim, "name");
        bool by_name = at_has(&claim, "resourceClaimName");
        bool by_template = at_has(&claim, "resourceClaimTemplateName");
        if (at_has(&annotations, "kubernetes.io/config.mirror")) {
            struct at root = at_root(NULL), nowhere = at_key(&root, "");
            bad_forbidden(e, &nowhere, NULL, "static pods do not support resource claims");
            continue;
        }
        if (!*name) {
            bad_required(e, &claim, "name", "");
        } else if (json_object_get(seen, name)) {
            bad_duplicate(e, &claim, "name", name);
        } else {
            check_name(e, &claim, "name", name, name_dns1123_label);
            json_object_set_new(seen, name, json_true());
        }
        if (by_name && by_template)
            bad_struct(e, &claim, NULL, &go_pod_resource_claim, claim.v, NULL,
                       "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                       "specified");
        if (!by_name && !by_template)
            bad_struct(e, &claim, NULL, &go_pod_resource_claim, claim.v, NULL,
                       "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
        if (by_name)
            check_name(e, &claim, "resourceClaimName", at_str(&claim, "resourceClaimName"),
                       name_dns1123_subdomain);
        if (by_template)
            check_name(e, &claim, "resourceClaimTemplateName",
                       at_str(&claim, "resourceClaimTemplateName"), name_dns1123_subdomain);
    }
}

/* What the pod asks for as a whole covers what its containers ask for. */
static void check_pod_totals(struct field_errors *e, const struct at *spec) {
    struct at resources = at_child(spec, "resources"), requests = at_child(&resources, "requests");
    struct at limits = at_child(&resources, "limits"), containers = at_child(spec, "containers");
    _cleanup_json_ json_t *all_requests = pod_containers_total(spec->v, "requests");
    _cleanup_json_ json_t *all_limits = pod_containers_total(spec->v, "limits");
    const char *name;
    json_t *value;
    json_object_foreach(all_requests, name, value) {
        struct at at = at_key(&requests, name);
        if (at.v && quantity_of(value) > quantity_of(at.v))
            bad_string(e, &at, NULL, strna(json_string_value(at.v)),
                       "must be greater than or equal to aggregate container requests of %s",
                       json_string_value(value));
    }
    json_object_foreach(all_limits, name, value) {
        struct at at = at_key(&limits, name);
        if (is_huge_page_resource(name) && at.v && quantity_of(value) > quantity_of(at.v))
            bad_string(e, &at, NULL, strna(json_string_value(at.v)),
                       "must be greater than or equal to aggregate container limits of %s",
                       json_string_value(value));
    }
    at_each(c, &containers) {
        struct at own = at_child(&c, "resources"), own_limits = at_child(&own, "limits");
        json_object_foreach((json_t *)own_limits.v, name, value) {
            const json_t *most = at_get(&limits, name);
            if (!most || quantity_of(value) <= quantity_of(most))
                continue;
            /* the path is the server's */
            struct at list = at_child(&resources, "containers"), at = at_index(&list, c.index);
            struct at key = at_key(&at, name);
            bad_string(e, &key, "limits", strna(json_string_value(value)),
                       "must be less than or equal to pod limits of %s", json_string_value(most));
        }
    }
}

static void check_pod_resources(struct field_errors *e, const struct at *spec,
                                const struct pod_options *o) {
    struct at resources = at_child(spec, "resources"), os = at_child(spec, "os");
    if (!resources.v)
        return;
    if (streq(at_str(&os, "name"), "windows")) {
        bad_forbidden(e, &resources, NULL, "may not be set for a windows pod");
        return;
    }
    if (at_has(&resources, "claims"))
        bad_forbidden(e, &resources, "claims", "claims may not be set for Resources at pod-level");
    check_resources(e, &resources, RESOURCES_OF_POD, at_get(spec, "resourceClaims"),
                    o->any_huge_pages);
    check_pod_totals(e, spec);
}

static void check_host_network(struct field_errors *e, const struct at *spec,
                               const struct pod_options *o) {
    struct at containers = at_child(spec, "containers");
    if (!at_bool(spec, "hostNetwork"))
        return;
    at_each(c, &containers) {
        struct at ports = at_child(&c, "ports");
        at_each(port, &ports) {
            int64_t host = at_int(&port, "hostPort");
            if ((o->is_pod || host) && host != at_int(&port, "containerPort"))
                bad_int(e, &port, "hostPort", host,
                        "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void check_dns_config(struct field_errors *e, const struct at *spec) {
    enum { SERVERS = 3, SEARCHES = 32, SEARCH_CHARS = 2048 };
    struct at dns = at_child(spec, "dnsConfig"), servers = at_child(&dns, "nameservers");
    struct at searches = at_child(&dns, "searches"), options = at_child(&dns, "options");
    size_t n = json_array_size(searches.v), chars = n ? n - 1 : 0;
    if (streq(at_str(spec, "dnsPolicy"), "None")) {
        if (!dns.v) {
            bad_required(e, &dns, NULL, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if (!json_array_size(servers.v)) {
            bad_required(e, &servers, NULL,
                         "must provide at least one DNS nameserver when `dnsPolicy` is None");
            return;
        }
    }
    if (json_array_size(servers.v) > SERVERS)
        bad_value(e, &servers, NULL, servers.v, "must not have more than %d nameservers", SERVERS);
    at_each(server, &servers) check_ip(e, &server, strna(json_string_value(server.v)), NULL, NULL);
    if (n > SEARCHES)
        bad_value(e, &searches, NULL, searches.v, "must not have more than %d search paths",
                  SEARCHES);
    at_each(search, &searches) chars += json_string_length(search.v);
    if (chars > SEARCH_CHARS)
        bad_value(e, &searches, NULL, searches.v,
                  "must not have more than %d characters (including spaces) in the search list",
                  SEARCH_CHARS);
    at_each(search, &searches) {
        _cleanup_free_ char *text = xstrdup(strna(json_string_value(search.v)));
        if (streq(text, "."))
            continue;
        if (str_ends(text, "."))
            text[strlen(text) - 1] = '\0';
        check_name(e, &search, NULL, text, name_dns1123_subdomain_underscore);
    }
    at_each(option, &options) if (!*at_str(&option, "name"))
        bad_required(e, &option, NULL, "must not be empty");
}

static void check_gates(struct field_errors *e, const struct at *spec) {
    struct at readiness = at_child(spec, "readinessGates");
    struct at scheduling = at_child(spec, "schedulingGates");
    _cleanup_json_ json_t *seen = json_object();
    at_each(gate, &readiness)
        check_name(e, &gate, "conditionType", at_str(&gate, "conditionType"), name_label_key);
    at_each(gate, &scheduling) {
        const char *name = at_str(&gate, "name");
        check_name(e, &gate, NULL, name, name_label_key);
        if (json_object_get(seen, name))
            bad_duplicate(e, &gate, NULL, name);
        json_object_set_new(seen, name, json_true());
    }
}

static void forbid_devices(void *arg, const struct at *container) {
    if (at_len(container, "volumeDevices"))
        bad_forbidden(arg, container, "volumeDevices", "when `hostUsers` is false");
}

static void check_host_users(struct field_errors *e, const struct at *spec,
                             const struct pod_options *o) {
    if (!at_has(spec, "hostUsers") || at_bool(spec, "hostUsers"))
        return;
    if (!o->user_namespace_host_network && at_bool(spec, "hostNetwork"))
        bad_forbidden(e, spec, "hostNetwork", "when `hostUsers` is false");
    if (at_bool(spec, "hostPID"))
        bad_forbidden(e, spec, "HostPID", "when `hostUsers` is false");
    if (at_bool(spec, "hostIPC"))
        bad_forbidden(e, spec, "HostIPC", "when `hostUsers` is false");
    if (!o->user_namespace_devices)
        each_container(spec, forbid_devices, e);
}

static void check_hostname_override(struct field_errors *e, const struct at *spec) {
    const char *name = at_str(spec, "hostnameOverride"), *key = "hostnameOverride";
    if (!at_has(spec, key))
        return;
    if (at_bool(spec, "setHostnameAsFQDN"))
        bad_forbidden(e, spec, key, "may not be specified when setHostnameAsFQDN is true");
    if (at_bool(spec, "hostNetwork"))
        bad_forbidden(e, spec, key, "may not be specified when hostNetwork is true");
    if (strlen(name) > 64)
        bad_too_long(e, spec, key, 64);
    check_name(e, spec, key, name, name_dns1123_subdomain);
}

static void check_names(struct field_errors *e, const struct at *spec) {
    int64_t deadline = at_int(spec, "activeDeadlineSeconds");
    if (*at_str(spec, "serviceAccountName"))
        check_name(e, spec, "serviceAccountName", at_str(spec, "serviceAccountName"),
                   name_dns1123_subdomain);
    if (*at_str(spec, "nodeName"))
        check_name(e, spec, "nodeName", at_str(spec, "nodeName"), name_dns1123_subdomain);
    if (at_has(spec, "activeDeadlineSeconds") && (deadline < 1 || deadline > INT32_MAX))
        bad_int(e, spec, "activeDeadlineSeconds", deadline, "must be between 1 and %d, inclusive",
                INT32_MAX);
    if (*at_str(spec, "hostname"))
        check_name(e, spec, "hostname", at_str(spec, "hostname"), name_dns1123_label);
    if (*at_str(spec, "subdomain"))
        check_name(e, spec, "subdomain", at_str(spec, "subdomain"), name_dns1123_label);
}

static void check_host_aliases(struct field_errors *e, const struct at *spec) {
    struct at list = at_child(spec, "hostAliases");
    at_each(alias, &list) {
        struct at ip = at_child(&alias, "ip"), names = at_child(&alias, "hostnames");
        check_ip(e, &ip, at_str(&alias, "ip"), NULL, NULL);
        at_each(name, &names)
            check_name(e, &name, NULL, strna(json_string_value(name.v)), name_dns1123_subdomain);
    }
}

struct file_refs {
    struct field_errors *e;
    const struct at *volumes;
};

static void check_file_refs(void *arg, const struct at *container) {
    struct file_refs *f = arg;
    struct at env = at_child(container, "env");
    at_each(var, &env) {
        struct at from = at_child(&var, "valueFrom"), ref = at_child(&from, "fileKeyRef");
        const char *name = at_str(&ref, "volumeName");
        const json_t *found = NULL;
        if (!ref.v)
            continue;
        at_each(volume, f->volumes) if (streq(at_str(&volume, "name"), name)) found = volume.v;
        if (!found)
            bad_not_found(f->e, &ref, "volumeName", name);
        else if (!json_object_get(found, "emptyDir"))
            bad_string(f->e, &ref, "volumeName", name,
                       "referenced volume must be of type emptyDir");
    }
}

void check_pod_spec(struct field_errors *e, const struct at *spec, const struct at *meta,
                    const struct pod_options *o) {
    static const char *const restarts[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None",
                                      NULL};
    static const char *const preemption[] = {"PreemptLowerPriority", "Never", NULL};
    struct at volumes = at_child(spec, "volumes"), node_labels = at_child(spec, "nodeSelector");
    struct at tolerations = at_child(spec, "tolerations");
    _cleanup_json_ json_t *good = check_volumes(e, &volumes, meta, o);
    check_resource_claims(e, spec, meta);
    check_containers(e, spec, good, o);
    check_pod_resources(e, spec, o);
    check_host_network(e, spec, o);
    check_enum(e, spec, "restartPolicy", restarts);
    check_enum(e, spec, "dnsPolicy", dns);
    check_labels(e, &node_labels);
    check_pod_security(e, spec, o);
    check_affinity(e, spec, o);
    check_dns_config(e, spec);
    check_gates(e, spec);
    check_spread(e, spec, o);
    check_windows_host_process(e, spec);
    check_host_users(e, spec, o);
    check_hostname_override(e, spec);
    check_names(e, spec);
    check_tolerations(e, &tolerations, o);
    check_host_aliases(e, spec);
    if (*at_str(spec, "priorityClassName"))
        check_name(e, spec, "priorityClassName", at_str(spec, "priorityClassName"),
                   name_dns1123_subdomain);
    if (at_has(spec, "runtimeClassName"))
        check_name(e, spec, "runtimeClassName", at_str(spec, "runtimeClassName"),
                   name_dns1123_subdomain);
    if (at_has(spec, "preemptionPolicy"))
        check_enum(e, spec, "preemptionPolicy", preemption);
    if (at_has(spec, "overhead")) {
        _cleanup_json_ json_t *as_limits = json_pack("{s:O}", "limits", at_get(spec, "overhead"));
        struct at overhead = at_named(spec, "overhead", as_limits);
        check_resources(e, &overhead, RESOURCES_OF_CONTAINER, NULL, o->any_huge_pages);
    }
    check_os(e, spec);
    struct file_refs refs = {e, &volumes};
    each_container(spec, check_file_refs, &refs);
}

/* --- annotations about the spec --- */

#define SECCOMP_POD       "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR         "container.apparmor.security.beta.kubernetes.io/"

static void check_seccomp_text(struct field_errors *e, const struct at *annotations,
                               const char *key, const char *value) {
    static const char *const plain[] = {"runtime/default", "docker/default", "unconfined", NULL};
    if (is_one_of(value, plain))
        return;
    if (str_starts(value, "localhost/"))
        check_relative_path(e, annotations, key, value + strlen("localhost/"));
    else
        bad_string(e, annotations, key, value, "must be a valid seccomp profile");
}

static bool spec_has_container(const struct at *spec, const char *name) {
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(spec, lists[i]);
        at_each(c, &list) if (streq(at_str(&c, "name"), name)) return true;
    }
    return false;
}

static void check_app_armor_text(struct field_errors *e, const struct at *annotations,
                                 const char *key, const char *value, const struct at *spec) {
    struct at at = at_key(annotations, key);
    const char *container = key + strlen(APP_ARMOR);
    if (!spec_has_container(spec, container))
        bad_string(e, &at, NULL, container, "container not found");
    if (*value && !streq(value, "runtime/default") && !streq(value, "unconfined") &&
        !str_starts(value, "localhost/"))
        bad_string(e, &at, NULL, value, "invalid AppArmor profile name: \"%s\"", value);
}

void check_pod_annotations(struct field_errors *e, const struct at *annotations,
                           const struct at *spec, const struct pod_options *o) {
    struct at mirror = at_key(annotations, "kubernetes.io/config.mirror");
    struct at cost = at_key(annotations, DELETION_COST);
    const char *key;
    json_t *value;
    if (mirror.v && !*at_str(spec, "nodeName"))
        bad_string(e, &mirror, NULL, json_string_value(mirror.v),
                   "must set spec.nodeName if mirror pod annotation is set");
    if (cost.v && !o->any_deletion_cost && !is_deletion_cost(json_string_value(cost.v)))
        bad_string(e, &cost, NULL, json_string_value(cost.v), "must be a 32bit integer");
    if (at_has(annotations, SECCOMP_POD))
        check_seccomp_text(e, annotations, SECCOMP_POD, at_str(annotations, SECCOMP_POD));
    json_object_foreach((json_t *)annotations->v, key,
                        value) if (str_starts(key, SECCOMP_CONTAINER))
        check_seccomp_text(e, annotations, key, strna(json_string_value(value)));
    json_object_foreach((json_t *)annotations->v, key, value) if (str_starts(key, APP_ARMOR))
        check_app_armor_text(e, annotations, key, strna(json_string_value(value)), spec);
}

/* A profile that both an annotation and a field name must be the same. */
static void check_profile_match(struct field_errors *e, const char *annotation,
                                const struct at *profile, const struct at *path, const char *what) {
    const char *type = at_str(profile, "type"), *local = at_str(profile, "localhostProfile");
    bool seccomp = streq(what, "seccomp");
    bool matches = true;
    if (streq(type, "Unconfined"))
        matches = streq(annotation, "unconfined");
    else if (streq(type, "RuntimeDefault"))
        matches = streq(annotation, "runtime/default") ||
                  (seccomp && streq(annotation, "docker/default"));
    else if (streq(type, "Localhost"))
        matches = str_starts(annotation, "localhost/");
    if (!matches)
        bad_forbidden(e, path, "type", "%s type in annotation and field must match", what);
    else if (streq(type, "Localhost") && (!at_has(profile, "localhostProfile") ||
                                          !streq(annotation + strlen("localhost/"), local)))
        bad_forbidden(e, path, "localhostProfile", "%s profile in annotation and field must match",
                      what);
}

struct profiles {
    struct field_errors *e;
    const json_t *annotations;
    struct at pod_armor;
};

static void check_container_seccomp(void *arg, const struct at *container) {
    struct profiles *p = arg;
    struct at context = at_child(container, "securityContext");
    struct at profile = at_child(&context, "seccompProfile");
    _cleanup_free_ char *key = xasprintf(SECCOMP_CONTAINER "%s", at_str(container, "name"));
    const char *annotation = json_str(p->annotations, key);
    if (profile.v && annotation)
        check_profile_match(p->e, annotation, &profile, &profile, "seccomp");
}

static void check_container_armor(void *arg, const struct at *container) {
    struct profiles *p = arg;
    struct at context = at_child(container, "securityContext");
    struct at profile = at_child(&context, "appArmorProfile");
    _cleanup_free_ char *key = xasprintf(APP_ARMOR "%s", at_str(container, "name"));
    const char *annotation = json_str(p->annotations, key);
    const struct at *used = profile.v ? &profile : &p->pod_armor;
    if (used->v && annotation)
        check_profile_match(p->e, annotation, used, &profile, "apparmor");
}

void check_profile_annotations(struct field_errors *e, const json_t *annotations,
                               const struct at *spec) {
    struct at context = at_child(spec, "securityContext"), os = at_child(spec, "os");
    struct at seccomp = at_child(&context, "seccompProfile");
    struct profiles p = {e, annotations, at_child(&context, "appArmorProfile")};
    const char *annotation = json_str(annotations, SECCOMP_POD);
    if (seccomp.v && annotation)
        check_profile_match(e, annotation, &seccomp, &seccomp, "seccomp");
    each_container(spec, check_container_seccomp, &p);
    if (!streq(at_str(&os, "name"), "windows"))
        each_container(spec, check_container_armor, &p);
}

void check_pod_template(struct field_errors *e, const struct at *tmpl,
                        const struct pod_options *o) {
    struct at meta = at_child(tmpl, "metadata"), spec = at_child(tmpl, "spec");
    /* the paths leave metadata out */
    struct at labels = at_named(tmpl, "labels", at_get(&meta, "labels"));
    struct at annotations = at_named(tmpl, "annotations", at_get(&meta, "annotations"));
    check_labels(e, &labels);
    check_annotations(e, &annotations);
    check_pod_annotations(e, &annotations, &spec, o);
    check_pod_spec(e, &spec, NULL, o);
    check_profile_annotations(e, annotations.v, &spec);
    if (at_len(&spec, "ephemeralContainers"))
        bad_forbidden(e, &spec, "ephemeralContainers",
                      "ephemeral containers not allowed in pod template");
}
