/* Small kinds: Namespaces, Leases, PriorityClasses and EndpointSlices. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* --- Namespaces --- */

static void label_namespace(json_t *obj) {
    json_t *meta = object_at(obj, "metadata");
    const char *name = json_str(meta, "name");
    if (!str_empty(name))
        set_string(object_at(meta, "labels"), "kubernetes.io/metadata.name", name);
}

static void default_namespace(json_t *obj) {
    label_namespace(obj);
    default_string(object_at(obj, "status"), "phase", "Active");
}

static void prepare_namespace(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec"), *f;
    bool there = false;
    size_t i;
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        return;
    }
    if (c->old)
        copy_member(c->obj, c->old, "status");
    if (c->part == STRATEGY_FINALIZE)
        return;
    if (c->old) {
        copy_member(spec, json_object_get(c->old, "spec"), "finalizers");
        return;
    }
    json_object_set_new(c->obj, "status", json_pack("{s:s}", "phase", "Active"));
    json_array_foreach(json_object_get(spec, "finalizers"), i, f) there |=
        str_same(json_string_value(f), "kubernetes");
    if (!there)
        json_array_append_new(array_at(spec, "finalizers"), json_string("kubernetes"));
}

static void check_namespace_finalizers(struct field_errors *e, const struct at *root,
                                       bool by_index) {
    struct at spec = at_child(root, "spec"), list = at_child(&spec, "finalizers");
    at_each(f, &list) {
        const char *name = strna(json_string_value(f.v));
        check_name(e, by_index ? &f : &list, NULL, name, name_label_key);
        check_finalizer(e, by_index ? &f : &list, name);
    }
}

static void check_phase(struct field_errors *e, const struct at *root) {
    struct at meta = at_child(root, "metadata"), status = at_child(root, "status");
    const char *phase = at_str(&status, "phase");
    bool ending = at_has(&meta, "deletionTimestamp");
    if (!ending && !streq(phase, "Active"))
        bad_string(e, &status, "Phase", phase,
                   "may only be 'Active' if `deletionTimestamp` is empty");
    if (ending && !streq(phase, "Terminating"))
        bad_string(e, &status, "Phase", phase,
                   "may only be 'Terminating' if `deletionTimestamp` is not empty");
}

static void check_namespace(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    if (c->part == STRATEGY_MAIN) {
        check_meta(&c->errors, &meta, false, name_dns1123_label);
        check_namespace_finalizers(&c->errors, &root, false);
    }
    if (c->old)
        check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
    if (c->part == STRATEGY_STATUS)
        check_phase(&c->errors, &root);
    if (c->part == STRATEGY_FINALIZE)
        check_namespace_finalizers(&c->errors, &root, true);
}

static void finish_namespace(struct strategy_call *c) {
    label_namespace(c->obj);
}

const struct strategy_ops strategy_namespaces = {
    .defaults = default_namespace,
    .prepare = prepare_namespace,
    .check = check_namespace,
    .finish = finish_namespace,
};

/* --- Leases --- */

/* Coordinated leader election is off. */
static void prepare_lease(struct strategy_call *c) {
    static const char *const keys[] = {"strategy", "preferredHolder"};
    const json_t *old = json_object_get(c->old, "spec");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!json_object_get(old, keys[i]))
            json_object_del(json_object_get(c->obj, "spec"), keys[i]);
}

static void check_lease(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec");
    int64_t seconds = at_int(&spec, "leaseDurationSeconds");
    int64_t transitions = at_int(&spec, "leaseTransitions");
    if (c->old)
        check_meta_update_generic(&c->errors, &meta, json_object_get(c->old, "metadata"));
    else
        check_meta_generic(&c->errors, &meta, true, name_dns1123_subdomain, NULL);
    if (at_has(&spec, "leaseDurationSeconds") && seconds <= 0)
        bad_int(&c->errors, &spec, "leaseDurationSeconds", seconds, "must be greater than 0");
    if (transitions < 0)
        bad_int(&c->errors, &spec, "leaseTransitions", transitions,
                "must be greater than or equal to 0");
}

const struct strategy_ops strategy_leases = {.prepare = prepare_lease, .check = check_lease};

/* --- PriorityClasses --- */

enum { HIGHEST_USER_PRIORITY = 1000000000, SYSTEM_CRITICAL = 2000000000 };

static void default_priority_class(json_t *obj) {
    if (!json_object_get(obj, "preemptionPolicy"))
        set_string(obj, "preemptionPolicy", "PreemptLowerPriority");
}

static void prepare_priority_class(struct strategy_call *c) {
    if (!c->old)
        meta_first_generation(c->obj);
}

static void check_system_class(struct field_errors *e, const struct at *root, const char *name) {
    static const struct {
        const char *name;
        int64_t value;
    } known[] = {{"system-node-critical", SYSTEM_CRITICAL + 1000},
                 {"system-cluster-critical", SYSTEM_CRITICAL}};
    _cleanup_free_ char *why = xasprintf("%s is not a known system priority class", name);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!streq(known[i].name, name))
            continue;
        free(why);
        why = NULL;
        if (at_int(root, "value") != known[i].value)
            why = xasprintf("value of %s PriorityClass must be %" PRId64, name, known[i].value);
        else if (at_bool(root, "globalDefault"))
            why = xasprintf("globalDefault of %s PriorityClass must be false", name);
    }
    if (why)
        bad_forbidden(
            e, root, "metadata.name",
            "priority class names with 'system-' prefix are reserved for system use only. "
            "error: %s",
            why);
}

static void check_priority_class(struct strategy_call *c) {
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    const char *name = at_str(&meta, "name");
    if (c->old) {
        struct at policy = at_child(&root, "preemptionPolicy");
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
        if (at_int(&root, "value") != json_integer_value(json_object_get(c->old, "value")))
            bad_forbidden(e, &root, "value", "may not be changed in an update.");
        check_immutable(e, &policy, json_object_get(c->old, "preemptionPolicy"), NULL);
        return;
    }
    check_meta(e, &meta, false, name_dns1123_subdomain);
    if (str_starts(name, "system-"))
        check_system_class(e, &root, name);
    else if (at_int(&root, "value") > HIGHEST_USER_PRIORITY)
        bad_forbidden(e, &root, "value", "maximum allowed value of a user defined priority is %d",
                      HIGHEST_USER_PRIORITY);
    if (at_has(&root, "preemptionPolicy"))
        check_enum(e, &root, "preemptionPolicy", policies);
}

/* There is one default, at most. */
static int admit_priority_class(struct strategy_call *c) {
    const char *name = json_str(json_object_get(c->obj, "metadata"), "name");
    if (!json_is_true(json_object_get(c->obj, "globalDefault")))
        return 0;
    _cleanup_json_ json_t *all = c->ctx->list(c->ctx->cookie, "priorityclasses");
    const json_t *best = NULL;
    json_t *class;
    size_t i;
    json_array_foreach(
        all, i, class) if (json_is_true(json_object_get(class, "globalDefault")) &&
                           (!best || json_integer_value(json_object_get(best, "value")) >
                                         json_integer_value(json_object_get(class, "value"))))
        best = class;
    const char *other = json_str(json_object_get(best, "metadata"), "name");
    if (!best || (c->old && str_same(other, name)))
        return 0;
    return strategy_forbid(
        c, "PriorityClass %s is already marked as default. Only one default can exist", other);
}

const struct strategy_ops strategy_priority_classes = {
    .defaults = default_priority_class,
    .prepare = prepare_priority_class,
    .check = check_priority_class,
    .admit_after = admit_priority_class,
};

/* --- EndpointSlices --- */

static void default_slice(json_t *obj) {
    size_t i;
    json_t *port;
    json_array_foreach(json_object_get(obj, "ports"), i, port) {
        if (!json_object_get(port, "name"))
            set_string(port, "name", "");
        if (!json_object_get(port, "protocol"))
            set_string(port, "protocol", "TCP");
    }
}

static void prepare_slice(struct strategy_call *c) {
    size_t i;
    json_t *endpoint;
    json_array_foreach(json_object_get(c->obj, "endpoints"), i, endpoint)
        json_object_del(endpoint, "deprecatedTopology");
    if (!c->old) {
        meta_first_generation(c->obj);
        return;
    }
    static const char *const keys[] = {"addressType", "endpoints", "ports"};
    bool changed = !same_value(json_object_get(json_object_get(c->obj, "metadata"), "labels"),
                               json_object_get(json_object_get(c->old, "metadata"), "labels"));
    for (i = 0; i < ARRAY_LEN(keys); i++)
        changed |= !same_value(json_object_get(c->obj, keys[i]), json_object_get(c->old, keys[i]));
    meta_next_generation(c->obj, c->old, changed);
}

static void check_endpoint_addresses(struct field_errors *e, const struct at *endpoint,
                                     const char *type) {
    enum { ADDRESSES_MOST = 100 };
    struct at addresses = at_child(endpoint, "addresses");
    size_t n = json_array_size(addresses.v);
    enum address_family want = streq(type, "IPv4")   ? ADDRESS_V4
                               : streq(type, "IPv6") ? ADDRESS_V6
                                                     : ADDRESS_NONE;
    if (n == 0)
        bad_required(e, &addresses, NULL, "must contain at least 1 address");
    else if (n > ADDRESSES_MOST)
        bad_too_many(e, &addresses, NULL, n, ADDRESSES_MOST);
    at_each(address, &addresses) {
        const char *text = strna(json_string_value(address.v));
        size_t before = e->v.len;
        if (want == ADDRESS_NONE) {
            if (streq(type, "FQDN"))
                check_name(e, &address, NULL, text, name_dns1123_subdomain);
            continue;
        }
        check_ip(e, &address, text, NULL, NULL);
        if (e->v.len != before)
            continue;
        if (address_family(text) != want)
            bad_string(e, &addresses, NULL, text, "must be an %s address", type);
        check_endpoint_ip(e, &address, text);
    }
}

static void check_slice(struct strategy_call *c) {
    static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
    enum { ENDPOINTS_MOST = 1000 };
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at ports = at_child(&root, "ports"), endpoints = at_child(&root, "endpoints");
    struct at type = at_child(&root, "addressType");
    size_t n = json_array_size(endpoints.v);
    _cleanup_json_ json_t *names = json_object();
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_enum(e, &root, "addressType", types);
    at_each(port, &ports) {
        const char *name = at_str(&port, "name");
        if (*name)
            check_name(e, &port, "name", name, name_dns1123_label);
        if (json_object_get(names, name))
            bad_duplicate(e, &port, "name", name);
        json_object_set_new(names, name, json_true());
        check_one_of(e, &port, "protocol", port_protocols);
        if (at_has(&port, "appProtocol"))
            check_name(e, &port, "appProtocol", at_str(&port, "appProtocol"), name_label_key);
    }
    if (n > ENDPOINTS_MOST)
        bad_too_many(e, &endpoints, NULL, n, ENDPOINTS_MOST);
    else if (!same_value(endpoints.v, json_object_get(c->old, "endpoints")))
        at_each(endpoint, &endpoints) {
            check_endpoint_addresses(e, &endpoint, at_str(&root, "addressType"));
            if (at_has(&endpoint, "nodeName"))
                check_name(e, &endpoint, "nodeName", at_str(&endpoint, "nodeName"),
                           name_dns1123_subdomain);
            if (at_has(&endpoint, "hostname"))
                check_name(e, &endpoint, "hostname", at_str(&endpoint, "hostname"),
                           name_dns1123_label);
        }
    if (c->old)
        check_immutable(e, &type, json_object_get(c->old, "addressType"), NULL);
}

const struct strategy_ops strategy_endpoint_slices = {
    .defaults = default_slice,
    .prepare = prepare_slice,
    .check = check_slice,
};
