/* PodDisruptionBudgets. */
#include "sim/api/strategy_kinds.h"

static void prepare_budget(struct strategy_call *c) {
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
    } else if (c->old) {
        copy_member(c->obj, c->old, "status");
        meta_next_generation(
            c->obj, c->old,
            !same_value(json_object_get(c->obj, "spec"), json_object_get(c->old, "spec")));
    } else {
        json_object_set_new(c->obj, "status", json_object());
        meta_first_generation(c->obj);
    }
}

static void check_budget_spec(struct field_errors *e, const struct at *spec,
                              const json_t *old_spec) {
    static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
    struct at min = at_child(spec, "minAvailable"), max = at_child(spec, "maxUnavailable");
    struct at selector = at_child(spec, "selector");
    if (min.v && max.v)
        bad_struct(e, spec, NULL, &go_pod_disruption_budget_spec, spec->v, NULL,
                   "minAvailable and maxUnavailable cannot be both set");
    if (min.v) {
        check_int_or_percent(e, &min);
        check_at_most_100_percent(e, &min);
    }
    if (max.v) {
        check_int_or_percent(e, &max);
        check_at_most_100_percent(e, &max);
    }
    check_label_selector(e, &selector,
                         !label_selector_valid(json_object_get(old_spec, "selector")));
    if (at_has(spec, "unhealthyPodEvictionPolicy"))
        check_one_of(e, spec, "unhealthyPodEvictionPolicy", policies);
}

static bool is_reason(const char *s) {
    size_t len = strlen(s);
    for (size_t i = 0; i < len; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z');
        bool other = (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
        bool inner = s[i] == ',' || s[i] == ':';
        if (i == 0 ? !letter : !letter && !other && (!inner || i + 1 == len))
            return false;
    }
    return len > 0;
}

/* metav1.Condition. */
static void check_condition(struct field_errors *e, const struct at *c) {
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    enum { REASON_MOST = 1024, MESSAGE_MOST = 32 * 1024 };
    const char *reason = at_str(c, "reason");
    check_name(e, c, "type", at_str(c, "type"), name_label_key);
    check_one_of(e, c, "status", statuses);
    if (at_int(c, "observedGeneration") < 0)
        bad_int(e, c, "observedGeneration", at_int(c, "observedGeneration"),
                "must be greater than or equal to zero");
    if (!*at_str(c, "lastTransitionTime"))
        bad_required(e, c, "lastTransitionTime", "");
    if (!*reason)
        bad_required(e, c, "reason", "");
    else if (!is_reason(reason))
        bad_string(e, c, "reason", reason,
                   "a condition reason must start with alphabetic character, optionally followed "
                   "by a string of alphanumeric characters or '_,:', and must end with an "
                   "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                   "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                   "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    if (strlen(reason) > REASON_MOST)
        bad_too_long(e, c, "reason", REASON_MOST);
    if (strlen(at_str(c, "message")) > MESSAGE_MOST)
        bad_too_long(e, c, "message", MESSAGE_MOST);
}

static void check_budget_status(struct field_errors *e, const struct at *status) {
    static const char *const counts[] = {"disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                         "expectedPods"};
    struct at conditions = at_child(status, "conditions");
    _cleanup_json_ json_t *seen = json_object();
    at_each(c, &conditions) {
        const char *type = at_str(&c, "type");
        if (json_object_get(seen, type))
            bad_duplicate(e, &c, "type", type);
        json_object_set_new(seen, type, json_true());
        check_condition(e, &c);
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(e, status, counts[i]);
}

static void check_budget(struct strategy_call *c) {
    struct at root = at_root(c->obj), spec = at_child(&root, "spec");
    struct at status = at_child(&root, "status");
    if (c->part == STRATEGY_STATUS)
        check_budget_status(&c->errors, &status);
    else
        check_budget_spec(&c->errors, &spec, json_object_get(c->old, "spec"));
}

const struct strategy_ops strategy_budgets = {.prepare = prepare_budget, .check = check_budget};
