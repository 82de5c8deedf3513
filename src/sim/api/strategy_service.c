/* Services. The addresses and ports themselves come from the caller (struct strategy_context). */
#include <ctype.h>
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* --- what its type means --- */

static bool is_type(const json_t *spec, const char *type) {
    return str_same(json_str(spec, "type"), type);
}

static bool needs_cluster_ip(const json_t *spec) {
    return !is_type(spec, "ExternalName");
}

static bool needs_node_port(const json_t *spec) {
    return is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");
}

static bool is_local(const json_t *spec) {
    return str_same(json_str(spec, "externalTrafficPolicy"), "Local");
}

static bool needs_health_port(const json_t *spec) {
    return is_type(spec, "LoadBalancer") && is_local(spec);
}

static bool is_external(const json_t *spec) {
    return needs_node_port(spec) ||
           (is_type(spec, "ClusterIP") && json_array_size(json_object_get(spec, "externalIPs")));
}

static const char *first_ip(const json_t *spec) {
    return strna(json_string_value(json_array_get(json_object_get(spec, "clusterIPs"), 0)));
}

static bool is_headless(const json_t *spec) {
    return json_array_size(json_object_get(spec, "clusterIPs")) == 1 &&
           streq(first_ip(spec), "None");
}

static bool same_members(const json_t *a, const json_t *b, const char *key) {
    return same_value(json_object_get(a, key), json_object_get(b, key));
}

/* --- defaults --- */

static void default_service(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *item;
    size_t i;
    default_string(spec, "sessionAffinity", "None");
    if (str_same(json_str(spec, "sessionAffinity"), "None"))
        json_object_del(spec, "sessionAffinityConfig");
    if (str_same(json_str(spec, "sessionAffinity"), "ClientIP")) {
        const json_t *ip =
            json_object_get(json_object_get(spec, "sessionAffinityConfig"), "clientIP");
        if (!json_object_get(ip, "timeoutSeconds"))
            json_object_set_new(spec, "sessionAffinityConfig",
                                json_pack("{s:{s:i}}", "clientIP", "timeoutSeconds", 10800));
    }
    default_string(spec, "type", "ClusterIP");
    json_array_foreach(json_object_get(spec, "ports"), i, item) {
        const json_t *target = json_object_get(item, "targetPort");
        default_string(item, "protocol", "TCP");
        if (json_is_string(target) ? !json_string_length(target) : !json_integer_value(target))
            set_int(item, "targetPort", json_integer_value(json_object_get(item, "port")));
    }
    if (is_external(spec))
        default_string(spec, "externalTrafficPolicy", "Cluster");
    if (!json_object_get(spec, "internalTrafficPolicy") &&
        (needs_node_port(spec) || is_type(spec, "ClusterIP")))
        set_string(spec, "internalTrafficPolicy", "Cluster");
    if (!is_type(spec, "LoadBalancer"))
        return;
    default_bool(spec, "allocateLoadBalancerNodePorts", true);
    json_array_foreach(
        json_object_get(json_object_get(json_object_get(obj, "status"), "loadBalancer"), "ingress"),
        i, item) if (!str_empty(json_str(item, "ip")) && !json_object_get(item, "ipMode"))
        set_string(item, "ipMode", "VIP");
}

/* --- before allocation --- */

/* A client that does not know what was allocated does not give it up. */
static void keep_allocated(json_t *spec, const json_t *old) {
    bool ports = needs_node_port(spec) && needs_node_port(old);
    json_t *port, *other;
    size_t i, j;
    if (needs_cluster_ip(spec) && needs_cluster_ip(old)) {
        if (str_empty(json_str(spec, "clusterIP")))
            copy_member(spec, old, "clusterIP");
        if (!json_array_size(json_object_get(spec, "clusterIPs")))
            copy_member(spec, old, "clusterIPs");
    }
    const json_t *old_ports = json_object_get(old, "ports");
    json_t *new_ports = json_object_get(spec, "ports");
    json_array_foreach(ports ? new_ports : NULL, i, port) {
        int64_t had = 0;
        bool used = false;
        if (json_integer_value(json_object_get(port, "nodePort")))
            continue;
        json_array_foreach((json_t *)old_ports, j,
                           other) if (str_same(json_str(other, "name"), json_str(port, "name")))
            had = json_integer_value(json_object_get(other, "nodePort"));
        json_array_foreach(new_ports, j, other) used |=
            had && json_integer_value(json_object_get(other, "nodePort")) == had;
        if (had && !used)
            set_int(port, "nodePort", had);
    }
    if (needs_health_port(spec) && needs_health_port(old) &&
        !json_integer_value(json_object_get(spec, "healthCheckNodePort")))
        copy_member(spec, old, "healthCheckNodePort");
}

static bool same_ips(const json_t *a, const json_t *b) {
    return same_members(a, b, "clusterIPs");
}

/* clusterIP and clusterIPs[0] are one. */
static void normalize_ips(json_t *spec, const json_t *old) {
    const char *ip = strna(json_str(spec, "clusterIP"));
    const char *was = strna(json_str(old, "clusterIP"));
    json_t *ips = json_object_get(spec, "clusterIPs");
    if (!old) {
        if (*ip && !json_array_size(ips))
            json_object_set_new(spec, "clusterIPs", json_pack("[s]", ip));
        return;
    }
    if (json_array_size(json_object_get(old, "clusterIPs")) && !json_array_size(ips) &&
        streq(ip, was))
        copy_member(spec, old, "clusterIPs");
    if (streq(ip, was) || !same_ips(spec, old))
        return;
    if (*was && !*ip)
        json_object_del(spec, "clusterIPs");
    else
        json_object_set_new(spec, "clusterIPs", json_pack("[s]", ip));
}

static void check_cluster_ips(struct field_errors *e, const struct at *spec, const json_t *old);

/* One of two goes when the policy wants one and the client did not touch the list. */
static void keep_first(json_t *spec, const json_t *old, const char *key) {
    json_t *list = json_object_get(spec, key);
    if (json_array_size(list) > 1 && same_members(spec, old, key))
        json_array_remove(list, 1);
}

static bool has_fewer(const json_t *spec, const json_t *old, const char *key) {
    size_t n = json_array_size(json_object_get(spec, key));
    return n && n < json_array_size(json_object_get(old, key));
}

/* The simulated cluster has IPv4 alone. */
static int init_families(struct strategy_call *c) {
    const json_t *old = json_object_get(c->old, "spec");
    json_t *spec = object_at(c->obj, "spec"), *families;
    struct at root = at_root(c->obj), at = at_child(&root, "spec");
    bool single, headless_free = str_same(json_str(spec, "clusterIP"), "None") &&
                                 !json_object_size(json_object_get(spec, "selector"));
    if (!needs_cluster_ip(spec))
        return 0;
    if (!json_object_get(spec, "ipFamilyPolicy")) {
        if (json_object_get(old, "ipFamilyPolicy"))
            copy_member(spec, old, "ipFamilyPolicy");
        else
            set_string(spec, "ipFamilyPolicy", headless_free ? "RequireDualStack" : "SingleStack");
    }
    check_cluster_ips(&c->errors, &at, old);
    if (strategy_refuse(c) < 0)
        return -1;
    single = str_same(json_str(spec, "ipFamilyPolicy"), "SingleStack");
    const json_t *policy = json_object_get(spec, "ipFamilyPolicy");
    if (old && single) {
        keep_first(spec, old, "clusterIPs");
        keep_first(spec, old, "ipFamilies");
    } else if (old) {
        if (has_fewer(spec, old, "clusterIPs"))
            bad_value(&c->errors, &at, "ipFamilyPolicy", policy,
                      "must be 'SingleStack' to release the secondary cluster IP");
        if (has_fewer(spec, old, "ipFamilies"))
            bad_value(&c->errors, &at, "ipFamilyPolicy", policy,
                      "must be 'SingleStack' to release the secondary IP family");
    }
    if (single && json_array_size(json_object_get(spec, "clusterIPs")) == 2)
        bad_value(&c->errors, &at, "ipFamilyPolicy", policy,
                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are "
                  "specified");
    if (single && json_array_size(json_object_get(spec, "ipFamilies")) == 2)
        bad_value(&c->errors, &at, "ipFamilyPolicy", policy,
                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
                  "specified");
    struct at ips = at_child(&at, "clusterIPs");
    at_each(ip, &ips) {
        const char *text = strna(json_string_value(ip.v));
        if (streq(text, "None") || ip.index < at_len(&at, "ipFamilies"))
            continue;
        if (address_family(text) == ADDRESS_V6)
            bad_value(&c->errors, &ip, NULL, ips.v, "IPv6 is not configured on this cluster");
        else
            json_array_append_new(array_at(spec, "ipFamilies"), json_string("IPv4"));
    }
    if (strategy_refuse(c) < 0)
        return -1;
    families = array_at(spec, "ipFamilies");
    if (headless_free) {
        if (!json_array_size(families))
            json_array_append_new(families, json_string("IPv4"));
        if (json_array_size(families) < 2 && !single) {
            bool v4 = str_same(json_string_value(json_array_get(families, 0)), "IPv4");
            json_array_append_new(families, json_string(v4 ? "IPv6" : "IPv4"));
        }
        return 0;
    }
    if (str_same(json_str(spec, "ipFamilyPolicy"), "RequireDualStack"))
        bad_value(&c->errors, &at, "ipFamilyPolicy", policy,
                  "this cluster is not configured for dual-stack services");
    struct at list = at_child(&at, "ipFamilies");
    at_each(family, &list) if (!str_same(json_string_value(family.v), "IPv4"))
        bad_value(&c->errors, &family, NULL, family.v, "not configured on this cluster");
    if (strategy_refuse(c) < 0)
        return -1;
    if (!json_array_size(families))
        json_array_append_new(families, json_string("IPv4"));
    return 0;
}

static int begin_service(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec");
    const json_t *old = json_object_get(c->old, "spec");
    if (c->old)
        keep_allocated(spec, old);
    normalize_ips(spec, old);
    if (init_families(c) < 0)
        return -1;
    if (!c->ctx->allocate)
        return 0;
    return c->ctx->allocate(c->ctx->cookie, c->obj, c->old, c->f);
}

/* --- preparation --- */

static bool ports_within(const json_t *spec, const json_t *old) {
    size_t i, j;
    json_t *port, *other;
    json_array_foreach(json_object_get(spec, "ports"), i, port) {
        int64_t n = json_integer_value(json_object_get(port, "nodePort"));
        bool found = n == 0;
        json_array_foreach(json_object_get(old, "ports"), j, other) found |=
            json_integer_value(json_object_get(other, "nodePort")) == n;
        if (!found)
            return false;
    }
    return true;
}

/* What another type of Service cannot have goes, unless the client changed it, too. */
static void drop_dependent(json_t *obj, const json_t *old_obj) {
    json_t *spec = object_at(obj, "spec"), *port;
    const json_t *old = json_object_get(old_obj, "spec");
    size_t i;
    if (needs_cluster_ip(old) && !needs_cluster_ip(spec)) {
        if (same_members(spec, old, "clusterIP") && same_ips(spec, old)) {
            json_object_del(spec, "clusterIP");
            json_object_del(spec, "clusterIPs");
        }
        if (same_members(spec, old, "ipFamilies"))
            json_object_del(spec, "ipFamilies");
        if (same_members(spec, old, "ipFamilyPolicy"))
            json_object_del(spec, "ipFamilyPolicy");
    }
    if (needs_node_port(old) && !needs_node_port(spec) && ports_within(spec, old))
        json_array_foreach(json_object_get(spec, "ports"), i, port)
            json_object_del(port, "nodePort");
    if (needs_health_port(old) && !needs_health_port(spec) &&
        same_members(spec, old, "healthCheckNodePort"))
        json_object_del(spec, "healthCheckNodePort");
    if (is_type(old, "LoadBalancer") && !is_type(spec, "LoadBalancer")) {
        if (json_object_get(spec, "allocateLoadBalancerNodePorts") &&
            same_members(spec, old, "allocateLoadBalancerNodePorts"))
            json_object_del(spec, "allocateLoadBalancerNodePorts");
        if (same_members(spec, old, "loadBalancerClass"))
            json_object_del(spec, "loadBalancerClass");
    }
    if (is_external(old) && !is_external(spec) && same_members(spec, old, "externalTrafficPolicy"))
        json_object_del(spec, "externalTrafficPolicy");
    if (!is_type(spec, "LoadBalancer"))
        json_object_set_new(object_at(obj, "status"), "loadBalancer", json_object());
}

static void prepare_service(struct strategy_call *c) {
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
    } else if (c->old) {
        copy_member(c->obj, c->old, "status");
        drop_dependent(c->obj, c->old);
    } else {
        json_object_set_new(c->obj, "status", json_pack("{s:{}}", "loadBalancer"));
    }
}

/* --- validation --- */

static void check_cluster_ips(struct field_errors *e, const struct at *spec, const json_t *old) {
    static const char *const families[] = {"IPv4", "IPv6", NULL};
    static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
                                           NULL};
    struct at ips = at_child(spec, "clusterIPs"), family_list = at_child(spec, "ipFamilies");
    size_t n = json_array_size(ips.v);
    const char *ip = at_str(spec, "clusterIP");
    bool bad = false;
    if (streq(at_str(spec, "type"), "ExternalName"))
        return;
    if (*ip && n == 0)
        bad_required(e, &ips, NULL, "");
    else if (*ip && !streq(first_ip(spec->v), ip))
        bad_value(e, &ips, NULL, ips.v, "first value must match `clusterIP`");
    else if (!*ip && n)
        bad_value(e, &ips, NULL, ips.v, "must be empty when `clusterIP` is not specified");
    _cleanup_json_ json_t *seen = json_object();
    at_each(family, &family_list) {
        const char *name = strna(json_string_value(family.v));
        if (!is_one_of(name, families))
            bad_unsupported(e, &family, NULL, family.v, families);
        if (seen_before(seen, family.v))
            bad_duplicate(e, &family, NULL, name);
    }
    if (at_has(spec, "ipFamilyPolicy"))
        check_one_of(e, spec, "ipFamilyPolicy", policies);
    at_each(at, &ips) {
        const char *text = strna(json_string_value(at.v));
        size_t before = e->v.len;
        if (at.index == 0 && streq(text, "None")) {
            if (n > 1) {
                bad = true;
                bad_value(e, &ips, NULL, ips.v, "'None' must be the first and only value");
            }
            continue;
        }
        check_ip(e, &at, text, json_object_get(old, "clusterIPs"), NULL);
        bad |= e->v.len != before;
    }
    if (n > 2)
        bad_value(e, &ips, NULL, ips.v, "may only hold up to 2 values");
    if (bad)
        return;
    if (n > 1 && !addresses_are_dual(ips.v, NULL))
        bad_value(e, &ips, NULL, ips.v, "may specify no more than one IP for each IP family");
    if (is_headless(spec->v))
        return;
    at_each(at, &ips) {
        const char *text = strna(json_string_value(at.v));
        const char *want = json_string_value(json_array_get(family_list.v, at.index));
        bool v6 = address_family(text) == ADDRESS_V6;
        if (want && streq(want, "IPv4") && v6)
            bad_string(e, &at, NULL, text,
                       "expected an IPv4 value as indicated by `ipFamilies[%zu]`", at.index);
        if (want && streq(want, "IPv6") && !v6)
            bad_string(e, &at, NULL, text,
                       "expected an IPv6 value as indicated by `ipFamilies[%zu]`", at.index);
    }
}

static void check_ports(struct field_errors *e, const struct at *spec) {
    struct at ports = at_child(spec, "ports");
    _cleanup_json_ json_t *names = json_object();
    at_each(port, &ports) {
        const char *name = at_str(&port, "name");
        int64_t n = at_int(&port, "port");
        if (json_array_size(ports.v) > 1 && !*name) {
            bad_required(e, &port, "name", "");
        } else if (*name) {
            check_name(e, &port, "name", name, name_dns1123_label);
            if (json_object_get(names, name))
                bad_duplicate(e, &port, "name", name);
            json_object_set_new(names, name, json_true());
        }
        if (n < 1 || n > 65535)
            bad_int(e, &port, "port", n, "must be between 1 and 65535, inclusive");
        check_enum(e, &port, "protocol", port_protocols);
        check_port_or_name(e, &port, "targetPort");
        if (at_has(&port, "appProtocol"))
            check_name(e, &port, "appProtocol", at_str(&port, "appProtocol"), name_label_key);
    }
}

/* No two ports with the same number (or node port) and protocol. */
static void check_port_numbers(struct field_errors *e, const struct at *spec) {
    struct at ports = at_child(spec, "ports");
    _cleanup_json_ json_t *used = json_object(), *node_used = json_object();
    if (streq(at_str(spec, "type"), "ClusterIP"))
        at_each(port, &ports) if (at_int(&port, "nodePort"))
            bad_forbidden(e, &port, "nodePort", "may not be used when `type` is 'ClusterIP'");
    at_each(port, &ports) {
        _cleanup_free_ char *key =
            xasprintf("%s/%" PRId64, at_str(&port, "protocol"), at_int(&port, "nodePort"));
        if (!at_int(&port, "nodePort"))
            continue;
        if (json_object_get(node_used, key)) {
            _cleanup_str_ struct str path = STR_INIT;
            at_path(&port, "nodePort", &path);
            field_error(e, FIELD_DUPLICATE, str_get(&path), at_get(&port, "nodePort"), "%s", "");
        }
        json_object_set_new(node_used, key, json_true());
    }
    at_each(port, &ports) {
        _cleanup_free_ char *key =
            xasprintf("%s/%" PRId64, at_str(&port, "protocol"), at_int(&port, "port"));
        if (json_object_get(used, key)) {
            _cleanup_json_ json_t *plain =
                json_pack("{s:s, s:I}", "protocol", at_str(&port, "protocol"), "port",
                          (json_int_t)at_int(&port, "port"));
            _cleanup_json_ json_t *shown = gotype_value(&go_service_port, plain, NULL);
            _cleanup_str_ struct str path = STR_INIT;
            at_path(&port, NULL, &path);
            field_error(e, FIELD_DUPLICATE, str_get(&path), shown, "%s", "");
        }
        json_object_set_new(used, key, json_true());
    }
}

static void check_session_affinity(struct field_errors *e, const struct at *spec) {
    static const char *const kinds[] = {"ClientIP", "None", NULL};
    enum { SECONDS_MOST = 86400 };
    const char *kind = at_str(spec, "sessionAffinity");
    struct at config = at_child(spec, "sessionAffinityConfig"), ip = at_child(&config, "clientIP");
    check_enum(e, spec, "sessionAffinity", kinds);
    if (streq(kind, "None") && config.v)
        bad_forbidden(e, &config, NULL, "must not be set when session affinity is None");
    int64_t seconds = at_int(&ip, "timeoutSeconds");
    if (streq(kind, "ClientIP") && (seconds <= 0 || seconds > SECONDS_MOST))
        bad_int(e, &ip, "timeoutSeconds", seconds, "must be greater than 0 and less than %d",
                SECONDS_MOST);
}

static void check_external_name(struct field_errors *e, const struct at *spec) {
    static const char *const not_for_it[] = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    _cleanup_free_ char *name = xstrdup(at_str(spec, "externalName"));
    for (size_t i = 0; i < ARRAY_LEN(not_for_it); i++)
        if (at_has(spec, not_for_it[i]))
            bad_forbidden(e, spec, not_for_it[i], "may not be set for ExternalName services");
    if (str_ends(name, "."))
        name[strlen(name) - 1] = '\0';
    if (*name)
        check_name(e, spec, "externalName", name, name_dns1123_subdomain);
    else
        bad_required(e, spec, "externalName", "");
}

/* An address that packets can be sent to. */
static void check_external_ips(struct field_errors *e, const struct at *spec, const json_t *old) {
    struct at ips = at_child(spec, "externalIPs");
    at_each(ip, &ips) {
        const char *text = strna(json_string_value(ip.v));
        size_t before = e->v.len;
        check_ip(e, &ip, text, json_object_get(old, "externalIPs"), NULL);
        if (e->v.len == before)
            check_endpoint_ip(e, &ip, text);
    }
}

static char *trimmed(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    size_t len = strlen(text);
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return xstrndup(text, len);
}

static void check_source_ranges(struct field_errors *e, const struct at *spec, const json_t *old) {
    struct at ranges = at_child(spec, "loadBalancerSourceRanges");
    struct at shown = at_named(spec, "LoadBalancerSourceRanges", ranges.v);
    if (!json_array_size(ranges.v))
        return;
    if (!streq(at_str(spec, "type"), "LoadBalancer"))
        bad_forbidden(e, &shown, NULL, "may only be used when `type` is 'LoadBalancer'");
    at_each(range, &shown) {
        _cleanup_free_ char *text = trimmed(strna(json_string_value(range.v)));
        check_cidr(e, &range, text, json_object_get(old, "loadBalancerSourceRanges"));
    }
}

static void check_load_balancer_class(struct field_errors *e, const struct at *spec) {
    if (!at_has(spec, "loadBalancerClass"))
        return;
    if (streq(at_str(spec, "type"), "LoadBalancer"))
        check_name(e, spec, "loadBalancerClass", at_str(spec, "loadBalancerClass"), name_label_key);
    else
        bad_forbidden(e, spec, "loadBalancerClass",
                      "may only be used when `type` is 'LoadBalancer'");
}

static void check_load_balancer(struct field_errors *e, const struct at *spec) {
    if (at_has(spec, "allocateLoadBalancerNodePorts") &&
        !streq(at_str(spec, "type"), "LoadBalancer"))
        bad_forbidden(e, spec, "allocateLoadBalancerNodePorts",
                      "may only be used when `type` is 'LoadBalancer'");
    check_load_balancer_class(e, spec);
}

static void check_traffic(struct field_errors *e, const struct at *spec) {
    static const char *const policies[] = {"Cluster", "Local", NULL};
    static const char *const distributions[] = {"PreferClose", "PreferSameZone", "PreferSameNode",
                                                NULL};
    const char *policy = at_str(spec, "externalTrafficPolicy");
    int64_t health = at_int(spec, "healthCheckNodePort");
    if (!is_external(spec->v)) {
        if (*policy)
            bad_string(e, spec, "externalTrafficPolicy", policy,
                       "may only be set for externally-accessible services");
    } else {
        check_enum(e, spec, "externalTrafficPolicy", policies);
    }
    if (!needs_health_port(spec->v)) {
        if (health)
            bad_int(e, spec, "healthCheckNodePort", health,
                    "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                    "'Local'");
    } else if (!health) {
        bad_required(e, spec, "healthCheckNodePort", "");
    } else if (health < 1 || health > 65535) {
        bad_int(e, spec, "healthCheckNodePort", health, "must be between 1 and 65535, inclusive");
    }
    if (at_has(spec, "internalTrafficPolicy"))
        check_one_of(e, spec, "internalTrafficPolicy", policies);
    if (at_has(spec, "trafficDistribution"))
        check_one_of(e, spec, "trafficDistribution", distributions);
}

static void check_whole_service(struct field_errors *e, const struct at *root, const json_t *old) {
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                        NULL};
    struct at spec = at_child(root, "spec"), selector = at_child(&spec, "selector");
    struct at ips = at_child(&spec, "clusterIPs"), first = at_index(&ips, 0);
    const char *type = at_str(&spec, "type");
    bool headless = is_headless(spec.v);
    if (!at_len(&spec, "ports") && !headless && !streq(type, "ExternalName"))
        bad_required(e, &spec, "ports", "");
    if (headless && needs_node_port(spec.v))
        bad_string(e, &first, NULL, "None", "may not be set to 'None' for %s services", type);
    if (streq(type, "ExternalName"))
        check_external_name(e, &spec);
    check_ports(e, &spec);
    check_labels(e, &selector);
    check_session_affinity(e, &spec);
    check_cluster_ips(e, &spec, old);
    check_external_ips(e, &spec, old);
    check_enum(e, &spec, "type", types);
    check_port_numbers(e, &spec);
    check_source_ranges(e, &spec, old);
    check_load_balancer(e, &spec);
    check_traffic(e, &spec);
}

/* --- changes --- */

static void check_ip_changes(struct field_errors *e, const struct at *spec, const json_t *old) {
    struct at ips = at_child(spec, "clusterIPs"), first = at_index(&ips, 0);
    const json_t *was = json_object_get(old, "clusterIPs");
    size_t n = json_array_size(ips.v), had = json_array_size(was);
    const json_t *policy = at_get(spec, "ipFamilyPolicy");
    if (!needs_cluster_ip(spec->v) || !needs_cluster_ip(old) ||
        (is_headless(spec->v) && is_headless(old)))
        return;
    bool same_first = had && n && json_equal(json_array_get(was, 0), json_array_get(ips.v, 0));
    if (had == n) {
        at_each(ip, &ips) if (!json_equal(ip.v, json_array_get(was, ip.index)))
            bad_value(e, &ip, NULL, ips.v, "may not change once set");
        return;
    }
    if (had > n && n == 0)
        bad_value(e, &first, NULL, ips.v, "primary clusterIP can not be unset");
    if (had && n && !same_first)
        bad_value(e, &first, NULL, ips.v, "may not change once set");
    if (had > n && n == 1 && !str_same(json_string_value(policy), "SingleStack"))
        bad_value(e, spec, "ipFamilyPolicy", policy,
                  "must be set to 'SingleStack' when releasing the secondary clusterIP");
}

static void check_family_changes(struct field_errors *e, const struct at *spec, const json_t *old) {
    struct at families = at_child(spec, "ipFamilies"), first = at_index(&families, 0);
    const json_t *was = json_object_get(old, "ipFamilies"), *ips = at_get(spec, "clusterIPs");
    size_t n = json_array_size(families.v), had = json_array_size(was);
    const json_t *policy = at_get(spec, "ipFamilyPolicy");
    if (!needs_cluster_ip(spec->v) || !needs_cluster_ip(old) || is_headless(spec->v) ||
        is_headless(old))
        return;
    bool other_first =
        had && n && !json_equal(json_array_get(was, 0), json_array_get(families.v, 0));
    if (had == n) {
        at_each(family, &families) if (!json_equal(family.v, json_array_get(was, family.index)))
            bad_value(e, &first, NULL, families.v, "may not change once set");
        return;
    }
    if (had > n && !json_array_size(ips))
        bad_value(e, &first, NULL, families.v, "primary ipFamily can not be unset");
    if (other_first)
        bad_value(e, &first, NULL, ips, "may not change once set");
    if (had > n && n == 1 && !str_same(json_string_value(policy), "SingleStack"))
        bad_value(e, spec, "ipFamilyPolicy", policy,
                  "must be set to 'SingleStack' when releasing the secondary ipFamily");
}

static void check_service_changes(struct field_errors *e, const struct at *root,
                                  const json_t *old_obj) {
    struct at spec = at_child(root, "spec");
    const json_t *old = json_object_get(old_obj, "spec");
    check_ip_changes(e, &spec, old);
    check_family_changes(e, &spec, old);
    if (is_type(old, "LoadBalancer") && is_type(spec.v, "LoadBalancer") &&
        !same_members(spec.v, old, "loadBalancerClass"))
        bad_value(e, &spec, "loadBalancerClass", at_get(&spec, "loadBalancerClass"),
                  "may not change once set");
    check_load_balancer_class(e, &spec);
    if (needs_health_port(spec.v) && needs_health_port(old) &&
        !same_members(spec.v, old, "healthCheckNodePort"))
        bad_forbidden(e, &spec, "healthCheckNodePort", "field is immutable");
}

static void check_service_status(struct field_errors *e, const struct at *root, const json_t *old) {
    static const char *const modes[] = {"Proxy", "VIP", NULL};
    struct at spec = at_child(root, "spec"), status = at_child(root, "status");
    struct at balancer = at_child(&status, "loadBalancer"), list = at_child(&balancer, "ingress");
    const json_t *old_list =
        json_object_get(json_object_get(json_object_get(old, "status"), "loadBalancer"), "ingress");
    if (!is_type(spec.v, "LoadBalancer") && json_array_size(list.v)) {
        bad_forbidden(e, &list, NULL, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    at_each(ingress, &list) {
        const char *ip = at_str(&ingress, "ip"), *host = at_str(&ingress, "hostname");
        struct at at_ip = at_child(&ingress, "ip");
        if (*ip)
            check_ip(e, &at_ip, ip, old_list, "ip");
        if (!at_has(&ingress, "ipMode")) {
            if (*ip)
                bad_required(e, &ingress, "ipMode", "must be specified when `ip` is set");
        } else if (!*ip) {
            bad_forbidden(e, &ingress, "ipMode", "may not be specified when `ip` is not set");
        } else {
            check_one_of(e, &ingress, "ipMode", modes);
        }
        if (!*host)
            continue;
        check_name(e, &ingress, "hostname", host, name_dns1123_subdomain);
        if (address_family(host) != ADDRESS_NONE)
            bad_string(e, &ingress, "hostname", host, "must be a DNS name, not an IP address");
    }
}

static void check_service(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    const json_t *old_spec = json_object_get(c->old, "spec");
    if (c->old)
        check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
    else
        check_meta(&c->errors, &meta, true, name_dns1123_label);
    if (c->part == STRATEGY_STATUS) {
        check_service_status(&c->errors, &root, c->old);
        return;
    }
    if (c->old)
        check_service_changes(&c->errors, &root, c->old);
    check_whole_service(&c->errors, &root, old_spec);
}

/* Nothing inside of the cluster goes to an external name. */
static void finish_service(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec");
    if (is_type(spec, "ExternalName"))
        json_object_del(spec, "internalTrafficPolicy");
}

const struct strategy_ops strategy_services = {
    .defaults = default_service,
    .begin = begin_service,
    .prepare = prepare_service,
    .check = check_service,
    .finish = finish_service,
};
