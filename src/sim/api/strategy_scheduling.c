/* Where a pod may run: node selectors, affinity, tolerations, spread. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* --- taints and tolerations --- */

void check_taint_effect(struct field_errors *e, const struct at *at) {
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    check_one_of(e, at, "effect", effects);
}

static void check_toleration(struct field_errors *e, const struct at *t, bool comparisons) {
    static const char *const operators[] = {"Equal", "Exists", NULL};
    static const char *const all_operators[] = {"Equal", "Exists", "Lt", "Gt", NULL};
    const char *key = at_str(t, "key"), *op = at_str(t, "operator"), *value = at_str(t, "value");
    if (*key)
        check_name(e, t, "key", key, name_label_key);
    if (!*key && !streq(op, "Exists"))
        bad_string(e, t, "operator", op,
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
    if (at_has(t, "tolerationSeconds") && !streq(at_str(t, "effect"), "NoExecute"))
        bad_string(e, t, "effect", at_str(t, "effect"),
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (!*op || streq(op, "Equal")) {
        _cleanup_problems_ struct problems p = PROBLEMS_INIT;
        name_label_value(value, &p);
        _cleanup_free_ char *why = problems_join(&p, ";");
        if (p.v.len)
            bad_string(e, t, "operator", value, "%s", why);
    } else if (streq(op, "Exists")) {
        if (*value)
            bad_string(e, t, "operator", value, "value must be empty when `operator` is 'Exists'");
    } else if (streq(op, "Lt") || streq(op, "Gt")) {
        if (!comparisons)
            bad_unsupported(e, t, "operator", at_get(t, "operator"), all_operators);
    } else {
        bad_unsupported(e, t, "operator", at_get(t, "operator"), operators);
    }
    if (*at_str(t, "effect"))
        check_taint_effect(e, t);
}

void check_tolerations(struct field_errors *e, const struct at *tolerations,
                       const struct pod_options *o) {
    at_each(t, tolerations) check_toleration(e, &t, o->comparison_tolerations);
}

/* --- node affinity --- */

static void check_node_requirement(struct field_errors *e, const struct at *r, bool any_value) {
    const char *op = at_str(r, "operator");
    size_t n = at_len(r, "values");
    struct at values = at_child(r, "values");
    if (streq(op, "In") || streq(op, "NotIn")) {
        if (n == 0)
            bad_required(e, r, "values", "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (streq(op, "Exists") || streq(op, "DoesNotExist")) {
        if (n > 0)
            bad_forbidden(e, r, "values",
                          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (streq(op, "Gt") || streq(op, "Lt")) {
        if (n != 1)
            bad_required(e, r, "values",
                         "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        bad_string(e, r, "operator", op, "not a valid selector operator");
    }
    check_name(e, r, "key", at_str(r, "key"), name_label_key);
    if (!any_value)
        at_each(value, &values)
            check_name(e, &value, NULL, strna(json_string_value(value.v)), name_label_value);
}

static void check_node_field(struct field_errors *e, const struct at *r) {
    const char *op = at_str(r, "operator"), *key = at_str(r, "key");
    struct at values = at_child(r, "values");
    if (!streq(op, "In") && !streq(op, "NotIn"))
        bad_string(e, r, "operator", op, "not a valid selector operator");
    else if (at_len(r, "values") != 1)
        bad_required(e, r, "values",
                     "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                     "selector");
    if (!streq(key, "metadata.name")) {
        bad_string(e, r, "key", key, "not a valid field selector key");
        return;
    }
    at_each(value, &values)
        check_name(e, &value, NULL, strna(json_string_value(value.v)), name_dns1123_subdomain);
}

static void check_node_term(struct field_errors *e, const struct at *term, bool any_value) {
    struct at labels = at_child(term, "matchExpressions"), fields = at_child(term, "matchFields");
    at_each(r, &labels) check_node_requirement(e, &r, any_value);
    at_each(r, &fields) check_node_field(e, &r);
}

void check_node_selector(struct field_errors *e, const struct at *selector, bool any_value) {
    struct at terms = at_child(selector, "nodeSelectorTerms");
    if (!json_array_size(terms.v))
        bad_required(e, &terms, NULL, "must have at least one node selector term");
    at_each(term, &terms) check_node_term(e, &term, any_value);
}

bool node_selector_has_bad_value(const json_t *selector) {
    struct at at = at_root(selector), terms = at_child(&at, "nodeSelectorTerms");
    at_each(term, &terms) if (label_selector_has_bad_value(term.v)) return true;
    return false;
}

static void check_weight(struct field_errors *e, const struct at *term) {
    int64_t weight = at_int(term, "weight");
    if (weight <= 0 || weight > 100)
        bad_int(e, term, "weight", weight, "must be in the range 1-100");
}

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void check_node_affinity(struct field_errors *e, const struct at *affinity, bool any_value) {
    struct at required = at_child(affinity, REQUIRED), preferred = at_child(affinity, PREFERRED);
    if (required.v)
        check_node_selector(e, &required, any_value);
    at_each(term, &preferred) {
        struct at preference = at_child(&term, "preference");
        check_weight(e, &term);
        check_node_term(e, &preference, true);
    }
}

/* --- pod affinity --- */

static void check_label_keys(struct field_errors *e, const struct at *term, const char *which) {
    struct at keys = at_child(term, which);
    if (!json_array_size(keys.v))
        return;
    if (!at_has(term, "labelSelector")) {
        bad_forbidden(e, &keys, NULL, "must not be specified when labelSelector is not set");
        return;
    }
    at_each(key, &keys) check_name(e, &key, NULL, strna(json_string_value(key.v)), name_label_key);
}

static ssize_t index_of(const json_t *list, const char *text) {
    for (size_t i = json_array_size(list); i-- > 0;)
        if (str_same(json_string_value(json_array_get(list, i)), text))
            return (ssize_t)i;
    return -1;
}

/* matchLabelKeys are merged into the selector when a pod is created: a key that stands in the
 * selector twice was there before. */
static void check_match_label_keys(struct field_errors *e, const struct at *term) {
    const json_t *match = at_get(term, "matchLabelKeys");
    const json_t *mismatch = at_get(term, "mismatchLabelKeys");
    struct at selector = at_child(term, "labelSelector");
    struct at labels = at_child(&selector, "matchLabels");
    struct at expressions = at_child(&selector, "matchExpressions");
    check_label_keys(e, term, "matchLabelKeys");
    check_label_keys(e, term, "mismatchLabelKeys");
    _cleanup_json_ json_t *seen = json_object();
    json_object_update(seen, (json_t *)labels.v);
    at_each(r, &expressions) {
        const char *key = at_str(&r, "key");
        ssize_t i = index_of(match, key);
        if (i >= 0 && json_object_get(seen, key)) {
            struct at at = at_index(term, (size_t)i);
            bad_string(e, &at, NULL, key, "exists in both matchLabelKeys and labelSelector");
        }
        json_object_set_new(seen, key, json_true());
    }
    struct at keys = at_child(term, "matchLabelKeys");
    at_each(key, &keys) {
        const char *text = strna(json_string_value(key.v));
        if (index_of(mismatch, text) >= 0)
            bad_string(e, &key, NULL, text, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

static void check_affinity_term(struct field_errors *e, const struct at *term, bool any_value) {
    struct at selector = at_child(term, "labelSelector");
    struct at namespaces = at_child(term, "namespaces");
    struct at ns_selector = at_child(term, "namespaceSelector");
    check_label_selector(e, &selector, any_value);
    check_label_selector(e, &ns_selector, any_value);
    at_each(ns, &namespaces)
        check_name(e, term, "namespace", strna(json_string_value(ns.v)), name_dns1123_label);
    check_match_label_keys(e, term);
    if (!*at_str(term, "topologyKey"))
        bad_required(e, term, "topologyKey", "can not be empty");
    check_name(e, term, "topologyKey", at_str(term, "topologyKey"), name_label_key);
}

static void check_pod_affinity(struct field_errors *e, const struct at *affinity, bool any_value) {
    struct at required = at_child(affinity, REQUIRED), preferred = at_child(affinity, PREFERRED);
    at_each(term, &required) check_affinity_term(e, &term, any_value);
    at_each(weighted, &preferred) {
        struct at term = at_child(&weighted, "podAffinityTerm");
        check_weight(e, &weighted);
        check_affinity_term(e, &term, any_value);
    }
}

void check_affinity(struct field_errors *e, const struct at *spec, const struct pod_options *o) {
    struct at affinity = at_child(spec, "affinity"), node = at_child(&affinity, "nodeAffinity");
    struct at with = at_child(&affinity, "podAffinity");
    struct at apart = at_child(&affinity, "podAntiAffinity");
    check_node_affinity(e, &node, o->any_node_affinity_value);
    check_pod_affinity(e, &with, o->any_selector_value);
    check_pod_affinity(e, &apart, o->any_selector_value);
}

/* --- topology spread --- */

static bool selector_has_key(const struct at *selector, const char *key) {
    struct at expressions = at_child(selector, "matchExpressions");
    if (json_object_get(at_get(selector, "matchLabels"), key))
        return true;
    at_each(r, &expressions) if (streq(at_str(&r, "key"), key)) return true;
    return false;
}

/* The rule before keys were merged into the selector, for pods that are older. */
static void check_legacy_keys(struct field_errors *e, const struct at *constraint) {
    struct at keys = at_child(constraint, "matchLabelKeys");
    struct at selector = at_child(constraint, "labelSelector");
    if (!json_array_size(keys.v))
        return;
    if (!selector.v)
        bad_forbidden(e, &keys, NULL, "must not be specified when labelSelector is not set");
    at_each(key, &keys) {
        const char *text = strna(json_string_value(key.v));
        check_name(e, &key, NULL, text, name_label_key);
        if (selector_has_key(&selector, text))
            bad_string(e, &key, NULL, text, "exists in both matchLabelKeys and labelSelector");
    }
}

/* "{topologyKey, whenUnsatisfiable}" */
static char *spread_pair(const struct at *c) {
    return xasprintf("{%s, %s}", at_str(c, "topologyKey"), at_str(c, "whenUnsatisfiable"));
}

/* Which constraints come again later. There may be as many as a body holds, so each is looked at
 * once. */
static bool *find_repeated(const struct at *all) {
    size_t n = json_array_size(all->v);
    bool *repeated = xcalloc(n + 1, sizeof *repeated);
    _cleanup_json_ json_t *later = json_object();
    while (n-- > 0) {
        struct at one = at_index(all, n);
        _cleanup_free_ char *pair = spread_pair(&one);
        repeated[n] = json_object_get(later, pair) != NULL;
        json_object_set_new_nocheck(later, pair, json_true());
    }
    return repeated;
}

static void check_positive(struct field_errors *e, const struct at *at, const char *child) {
    if (at_int(at, child) <= 0)
        bad_int(e, at, child, at_int(at, child), "must be greater than zero");
}

void check_spread(struct field_errors *e, const struct at *spec, const struct pod_options *o) {
    static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
    static const char *const policies[] = {"Honor", "Ignore", NULL};
    static const char *const policy_keys[] = {"nodeAffinityPolicy", "nodeTaintsPolicy"};
    struct at list = at_child(spec, "topologySpreadConstraints");
    _cleanup_free_ bool *repeated = find_repeated(&list);
    at_each(c, &list) {
        const char *when = at_str(&c, "whenUnsatisfiable");
        check_positive(e, &c, "maxSkew");
        if (!*at_str(&c, "topologyKey"))
            bad_required(e, &c, "topologyKey", "can not be empty");
        check_one_of(e, &c, "whenUnsatisfiable", actions);
        if (repeated[c.index]) {
            _cleanup_free_ char *pair = spread_pair(&c);
            bad_duplicate(e, &c, "{topologyKey, whenUnsatisfiable}", pair);
        }
        if (at_has(&c, "minDomains")) {
            check_positive(e, &c, "minDomains");
            if (!streq(when, "DoNotSchedule"))
                bad_int(e, &c, "minDomains", at_int(&c, "minDomains"),
                        "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %s", when);
        }
        for (size_t i = 0; i < ARRAY_LEN(policy_keys); i++)
            if (at_has(&c, policy_keys[i]))
                check_one_of(e, &c, policy_keys[i], policies);
        if (o->legacy_match_label_keys)
            check_legacy_keys(e, &c);
        else
            check_match_label_keys(e, &c);
        struct at selector = at_child(&c, "labelSelector");
        if (!o->any_spread_selector)
            check_label_selector(e, &selector, false);
    }
}
