/* Nodes, and the TaintNodesByCondition plug-in. */
#include "sim/api/strategy_kinds.h"

/* podCIDR is the first of podCIDRs; where they differ, podCIDR decides. */
static void default_node(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *status = json_object_get(obj, "status");
    const char *one = json_str(spec, "podCIDR");
    const char *first = json_string_value(json_array_get(json_object_get(spec, "podCIDRs"), 0));
    if (!str_empty(one) && !str_same(one, first))
        json_object_set_new(spec, "podCIDRs", json_pack("[s]", one));
    else if (str_empty(one) && !str_empty(first))
        set_string(spec, "podCIDR", first);
    const json_t *capacity = json_object_get(status, "capacity");
    if (capacity && !json_object_get(status, "allocatable"))
        json_object_set_new(status, "allocatable", json_copy((json_t *)capacity));
    default_resource_list(status, "capacity");
    default_resource_list(status, "allocatable");
}

/* A new node takes nothing until it is known to be ready. */
static int admit_node(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec"), *taint;
    size_t i;
    if (c->old)
        return 0;
    json_array_foreach(
        json_object_get(spec, "taints"), i,
        taint) if (str_same(json_str(taint, "key"), "node.kubernetes.io/not-ready") &&
                   str_same(json_str(taint, "effect"), "NoSchedule")) return 0;
    json_array_append_new(
        array_at(spec, "taints"),
        json_pack("{s:s, s:s}", "key", "node.kubernetes.io/not-ready", "effect", "NoSchedule"));
    return 0;
}

static void prepare_node(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec"), *status = object_at(c->obj, "status");
    const json_t *old_spec = json_object_get(c->old, "spec");
    const json_t *old_status = json_object_get(c->old, "status");
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        if (!json_object_get(old_status, "config"))
            json_object_del(status, "config");
        return;
    }
    if (!json_object_get(old_spec, "configSource"))
        json_object_del(spec, "configSource");
    if (c->old)
        copy_member(c->obj, c->old, "status");
    else
        json_object_del(status, "config");
}

static void check_taints(struct field_errors *e, const struct at *taints) {
    _cleanup_json_ json_t *seen = json_object();
    at_each(taint, taints) {
        const char *key = at_str(&taint, "key"), *value = at_str(&taint, "value");
        _cleanup_free_ char *pair = xasprintf("%s:%s", key, at_str(&taint, "effect"));
        _cleanup_problems_ struct problems p = PROBLEMS_INIT;
        check_name(e, &taint, "key", key, name_label_key);
        name_label_value(value, &p);
        _cleanup_free_ char *why = problems_join(&p, ";");
        if (p.v.len)
            bad_string(e, &taint, "value", value, "%s", why);
        if (!*at_str(&taint, "effect"))
            bad_required(e, &taint, "effect", "");
        else
            check_taint_effect(e, &taint);
        if (json_object_get(seen, pair)) {
            _cleanup_json_ json_t *shown = gotype_value(&go_taint, taint.v, NULL);
            _cleanup_str_ struct str path = STR_INIT;
            at_path(&taint, NULL, &path);
            field_error(e, FIELD_DUPLICATE, str_get(&path), shown,
                        "taints must be unique by key and effect pair");
        }
        json_object_set_new(seen, pair, json_true());
    }
}

static void check_node_resources(struct field_errors *e, const struct at *status) {
    static const char *const lists[] = {"capacity", "allocatable"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(status, lists[i]);
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)list.v, name, value) {
            struct at at = at_child(&list, name);
            check_quantity(e, &at, name, value);
        }
    }
}

static bool is_feature_name(const char *s) {
    if (!(*s >= 'A' && *s <= 'Z'))
        return false;
    for (const char *p = s; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        bool after_slash = p > s && p[-1] == '/';
        if (*p == '/' ? after_slash || !p[1] : !letter && (after_slash || *p < '0' || *p > '9'))
            return false;
    }
    return true;
}

static void check_features(struct field_errors *e, const struct at *status) {
    struct at list = at_child(status, "declaredFeatures");
    at_each(feature, &list) {
        const char *name = strna(json_string_value(feature.v));
        if (strlen(name) > 253)
            bad_string(e, &feature, NULL, name,
                       "invalid feature name \"%s\": must be no more than 253 characters", name);
        else if (!is_feature_name(name))
            bad_string(e, &feature, NULL, name,
                       "invalid feature name \"%s\": must start with an UpperCamelCase segment, "
                       "with subsequent segments separated by '/' (e.g., MyFeature or "
                       "MyFeature/mySubFeature), and contain only alphanumeric characters and "
                       "slashes",
                       name);
        struct at next = at_index(&list, feature.index + 1);
        const char *follows = json_string_value(next.v);
        if (follows && streq(name, follows))
            bad_duplicate(e, &next, NULL, follows);
        else if (follows && strcmp(name, follows) > 0)
            bad_string(e, &next, NULL, follows, "list must be sorted alphabetically");
    }
}

static void check_pod_cidrs(struct field_errors *e, const struct at *spec) {
    struct at cidrs = at_child(spec, "podCIDRs");
    at_each(cidr, &cidrs) check_cidr(e, &cidr, strna(json_string_value(cidr.v)), NULL);
    check_dual_stack(e, &cidrs, NULL, NULL);
}

static void check_whole_node(struct field_errors *e, const struct at *node) {
    struct at meta = at_child(node, "metadata"), spec = at_child(node, "spec");
    struct at status = at_child(node, "status"), info = at_child(&status, "nodeInfo");
    struct at swap = at_child(&info, "swap");
    /* the paths of taints and swap are the server's */
    struct at taints = at_named(&meta, "taints", at_get(&spec, "taints"));
    check_meta(e, &meta, false, name_dns1123_subdomain);
    check_taints(e, &taints);
    check_node_resources(e, &status);
    if (at_has(&swap, "capacity") && at_int(&swap, "capacity") <= 0)
        bad_int(e, &meta, "nodeSwapStatus.capacity", at_int(&swap, "capacity"),
                "must be greater than zero");
    check_features(e, &status);
    check_pod_cidrs(e, &spec);
}

static void check_addresses(struct field_errors *e, const struct at *status) {
    struct at list = at_child(status, "addresses");
    _cleanup_json_ json_t *seen = json_object();
    at_each(address, &list) {
        if (!seen_before(seen, address.v))
            continue;
        _cleanup_json_ json_t *shown = gotype_value(&go_node_address, address.v, NULL);
        _cleanup_str_ struct str path = STR_INIT;
        at_path(&address, NULL, &path);
        field_error(e, FIELD_DUPLICATE, str_get(&path), shown, "%s", "");
    }
}

static void check_cidrs_kept(struct field_errors *e, const struct at *spec, const json_t *old) {
    const json_t *was = json_object_get(old, "podCIDRs"), *now = at_get(spec, "podCIDRs");
    size_t n = json_array_size(was), different = 0;
    if (n == 0)
        return;
    if (n != json_array_size(now))
        different = 1;
    else
        for (size_t i = 0; i < n; i++)
            different += !json_equal(json_array_get(was, i), json_array_get(now, i));
    for (size_t i = 0; i < different; i++)
        bad_forbidden(e, spec, "podCIDRs",
                      "node updates may not change podCIDR except from \"\" to valid");
}

static void check_node_changes(struct field_errors *e, const struct at *node, const json_t *old) {
    struct at meta = at_child(node, "metadata"), spec = at_child(node, "spec");
    struct at status = at_child(node, "status");
    struct at taints = at_named(&meta, "taints", at_get(&spec, "taints"));
    const json_t *old_spec = json_object_get(old, "spec");
    const char *provider = json_str(old_spec, "providerID");
    check_meta_update(e, &meta, json_object_get(old, "metadata"));
    check_node_resources(e, &status);
    check_features(e, &status);
    check_addresses(e, &status);
    check_cidrs_kept(e, &spec, old_spec);
    if (!str_empty(provider) && !streq(provider, at_str(&spec, "providerID")))
        bad_forbidden(e, &spec, "providerID",
                      "node updates may not change providerID except from \"\" to valid");
    check_taints(e, &taints);
    if (!str_same(json_str(old_spec, "externalID"), at_str(&spec, "externalID")))
        bad_forbidden(e, &spec, "externalID", "may not be updated");
}

static void check_node(struct strategy_call *c) {
    struct at node = at_root(c->obj);
    if (c->part == STRATEGY_MAIN)
        check_whole_node(&c->errors, &node);
    if (c->old)
        check_node_changes(&c->errors, &node, c->old);
}

const struct strategy_ops strategy_nodes = {
    .defaults = default_node,
    .admit = admit_node,
    .prepare = prepare_node,
    .check = check_node,
};
