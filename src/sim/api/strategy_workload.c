/* Deployments, ReplicaSets, StatefulSets, DaemonSets and ControllerRevisions. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

/* --- what they share --- */

static struct pod_options template_options(const json_t *old_spec) {
    const json_t *tmpl = json_object_get(old_spec, "template");
    return pod_options(json_object_get(tmpl, "spec"), json_object_get(tmpl, "metadata"), false);
}

static void prepare_workload(struct strategy_call *c, bool annotations_count) {
    const json_t *old_spec = json_object_get(c->old, "spec");
    json_t *spec = object_at(c->obj, "spec");
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        return;
    }
    drop_disabled_fields(object_at(object_at(spec, "template"), "spec"),
                         json_object_get(json_object_get(old_spec, "template"), "spec"));
    if (!c->old) {
        json_object_set_new(c->obj, "status", json_object());
        meta_first_generation(c->obj);
        return;
    }
    copy_member(c->obj, c->old, "status");
    bool changed = !same_value(spec, old_spec);
    if (annotations_count)
        changed |= !same_value(json_object_get(json_object_get(c->obj, "metadata"), "annotations"),
                               json_object_get(json_object_get(c->old, "metadata"), "annotations"));
    meta_next_generation(c->obj, c->old, changed);
}

static void check_workload_meta(struct strategy_call *c, const struct at *meta, name_rule *rule) {
    if (c->old)
        check_meta_update(&c->errors, meta, json_object_get(c->old, "metadata"));
    else
        check_meta(&c->errors, meta, true, rule);
}

/* An empty selector is refused in the words of deployments by ReplicaSets, too. */
static void check_selector(struct field_errors *e, const struct at *spec, const char *kind) {
    struct at selector = at_child(spec, "selector");
    if (!selector.v) {
        bad_required(e, &selector, NULL, "");
        return;
    }
    check_label_selector(e, &selector, false);
    if (at_len(&selector, "matchLabels") + at_len(&selector, "matchExpressions") == 0)
        bad_value(e, &selector, NULL, selector.v, "empty selector is invalid for %s", kind);
}

/* Complains when the template's pods would not be selected. An empty selector has had its
 * complaint. */
static void check_selected(struct field_errors *e, const struct at *spec) {
    struct at selector = at_child(spec, "selector"), tmpl = at_child(spec, "template");
    struct at meta = at_child(&tmpl, "metadata");
    const json_t *labels = at_get(&meta, "labels");
    if (!label_selector_matches(selector.v, labels))
        bad_value(e, &tmpl, "metadata.labels", labels,
                  "`selector` does not match template `labels`");
}

static void check_always_restarts(struct field_errors *e, const struct at *tmpl, const char *kind) {
    static const char *const always[] = {"Always", NULL};
    struct at spec = at_child(tmpl, "spec");
    check_one_of(e, &spec, "restartPolicy", always);
    if (at_has(&spec, "activeDeadlineSeconds"))
        bad_forbidden(e, &spec, "activeDeadlineSeconds",
                      "activeDeadlineSeconds in %s is not Supported", kind);
}

/* A selector that selects nothing at all (none) is not empty: no template matches it. */
static bool is_empty_selector(const json_t *selector) {
    return selector && json_object_size(selector) == 0;
}

static void check_replica_template(struct field_errors *e, const struct at *spec,
                                   const struct pod_options *o) {
    struct at selector = at_child(spec, "selector"), tmpl = at_child(spec, "template");
    if (selector.v && !label_selector_valid(selector.v)) {
        bad_value(e, &selector, NULL, selector.v, "invalid label selector");
        return;
    }
    if (!is_empty_selector(selector.v))
        check_selected(e, spec);
    check_pod_template(e, &tmpl, o);
    check_always_restarts(e, &tmpl, "ReplicaSet");
}

static void check_selector_kept(struct strategy_call *c, const struct at *spec) {
    struct at selector = at_child(spec, "selector");
    check_immutable(&c->errors, &selector,
                    json_object_get(json_object_get(c->old, "spec"), "selector"), NULL);
}

static void check_counts(struct field_errors *e, const struct at *status, const char *const *keys) {
    for (size_t i = 0; keys[i]; i++)
        check_not_negative(e, status, keys[i]);
}

static void check_at_most(struct field_errors *e, const struct at *status, const char *key,
                          const char *most, const char *words) {
    if (at_int(status, key) > at_int(status, most))
        bad_int(e, status, key, at_int(status, key), "cannot be greater than %s", words);
}

static void check_collision_count(struct field_errors *e, const struct at *status,
                                  const json_t *old) {
    const json_t *was = json_object_get(old, "collisionCount");
    int64_t now = at_int(status, "collisionCount");
    if (was && (!at_has(status, "collisionCount") || now < json_integer_value(was)))
        bad_int(e, status, "collisionCount", now, "cannot be decremented");
}

/* --- Deployments --- */

static void default_deployment(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *strategy = object_at(spec, "strategy");
    default_int(spec, "replicas", 1);
    default_string(strategy, "type", "RollingUpdate");
    if (str_same(json_str(strategy, "type"), "RollingUpdate")) {
        json_t *rolling = object_at(strategy, "rollingUpdate");
        if (!json_object_get(rolling, "maxUnavailable"))
            set_string(rolling, "maxUnavailable", "25%");
        if (!json_object_get(rolling, "maxSurge"))
            set_string(rolling, "maxSurge", "25%");
    }
    default_int(spec, "revisionHistoryLimit", 10);
    default_int(spec, "progressDeadlineSeconds", 600);
    default_pod_template(object_at(spec, "template"));
}

static void prepare_deployment(struct strategy_call *c) {
    prepare_workload(c, true);
    if (c->part == STRATEGY_STATUS)
        copy_member(object_at(c->obj, "metadata"), json_object_get(c->old, "metadata"), "labels");
}

static void check_deployment_strategy(struct field_errors *e, const struct at *spec) {
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
    struct at strategy = at_child(spec, "strategy");
    struct at rolling = at_child(&strategy, "rollingUpdate");
    struct at unavailable = at_child(&rolling, "maxUnavailable");
    struct at surge = at_child(&rolling, "maxSurge");
    const char *type = at_str(&strategy, "type");
    if (streq(type, "Recreate")) {
        if (rolling.v)
            bad_forbidden(e, &rolling, NULL,
                          "may not be specified when strategy `type` is 'Recreate'");
    } else if (streq(type, "RollingUpdate")) {
        check_int_or_percent(e, &unavailable);
        check_int_or_percent(e, &surge);
        if (int_or_percent(unavailable.v) == 0 && int_or_percent(surge.v) == 0)
            bad_value(e, &unavailable, NULL, unavailable.v, "may not be 0 when `maxSurge` is 0");
        check_at_most_100_percent(e, &unavailable);
    } else {
        _cleanup_json_ json_t *shown = gotype_value(&go_deployment_strategy, strategy.v, NULL);
        bad_unsupported(e, &strategy, NULL, shown, types);
    }
}

static void check_deployment_spec(struct field_errors *e, const struct at *spec,
                                  const struct pod_options *o) {
    check_not_negative(e, spec, "replicas");
    check_selector(e, spec, "deployment");
    check_replica_template(e, spec, o);
    check_deployment_strategy(e, spec);
    check_not_negative(e, spec, "minReadySeconds");
    check_not_negative(e, spec, "revisionHistoryLimit");
    check_not_negative(e, spec, "progressDeadlineSeconds");
    int64_t deadline = at_int(spec, "progressDeadlineSeconds");
    if (at_has(spec, "progressDeadlineSeconds") && deadline <= at_int(spec, "minReadySeconds"))
        bad_int(e, spec, "progressDeadlineSeconds", deadline,
                "must be greater than minReadySeconds");
}

static void check_deployment_status(struct field_errors *e, const struct at *status,
                                    const json_t *old) {
    static const char *const counts[] = {
        "observedGeneration",  "replicas",          "updatedReplicas",
        "readyReplicas",       "availableReplicas", "unavailableReplicas",
        "terminatingReplicas", "collisionCount",    NULL};
    check_counts(e, status, counts);
    check_at_most(e, status, "updatedReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "readyReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "availableReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "availableReplicas", "readyReplicas", "readyReplicas");
    check_collision_count(e, status, old);
}

static void check_deployment(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    check_workload_meta(c, &meta, name_dns1123_subdomain);
    if (c->part == STRATEGY_STATUS) {
        check_deployment_status(&c->errors, &status, json_object_get(c->old, "status"));
        return;
    }
    struct pod_options o = template_options(json_object_get(c->old, "spec"));
    check_deployment_spec(&c->errors, &spec, &o);
    if (c->old)
        check_selector_kept(c, &spec);
}

const struct strategy_ops strategy_deployments = {
    .defaults = default_deployment,
    .prepare = prepare_deployment,
    .check = check_deployment,
};

/* --- ReplicaSets --- */

static void default_replica_set(json_t *obj) {
    json_t *spec = object_at(obj, "spec");
    default_int(spec, "replicas", 1);
    default_pod_template(object_at(spec, "template"));
}

static void prepare_replica_set(struct strategy_call *c) {
    prepare_workload(c, false);
}

static void check_replica_set_status(struct field_errors *e, const struct at *status) {
    static const char *const counts[] = {"replicas",
                                         "fullyLabeledReplicas",
                                         "readyReplicas",
                                         "availableReplicas",
                                         "observedGeneration",
                                         "terminatingReplicas",
                                         NULL};
    check_counts(e, status, counts);
    check_at_most(e, status, "fullyLabeledReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "readyReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "availableReplicas", "replicas", "status.replicas");
    check_at_most(e, status, "availableReplicas", "readyReplicas", "readyReplicas");
}

static void check_replica_set(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    check_workload_meta(c, &meta, name_dns1123_subdomain);
    if (c->part == STRATEGY_STATUS) {
        check_replica_set_status(&c->errors, &status);
        return;
    }
    struct pod_options o = template_options(json_object_get(c->old, "spec"));
    check_not_negative(&c->errors, &spec, "replicas");
    check_not_negative(&c->errors, &spec, "minReadySeconds");
    check_selector(&c->errors, &spec, "deployment");
    check_replica_template(&c->errors, &spec, &o);
    if (c->old)
        check_selector_kept(c, &spec);
}

const struct strategy_ops strategy_replica_sets = {
    .defaults = default_replica_set,
    .prepare = prepare_replica_set,
    .check = check_replica_set,
};

/* --- DaemonSets --- */

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void default_daemon_set(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *strategy = object_at(spec, "updateStrategy");
    default_string(strategy, "type", "RollingUpdate");
    if (str_same(json_str(strategy, "type"), "RollingUpdate")) {
        json_t *rolling = object_at(strategy, "rollingUpdate");
        default_int(rolling, "maxUnavailable", 1);
        default_int(rolling, "maxSurge", 0);
    }
    default_int(spec, "revisionHistoryLimit", 10);
    default_pod_template(object_at(spec, "template"));
}

static void set_template_generation(json_t *obj, int64_t n) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    set_string(object_at(object_at(obj, "metadata"), "annotations"), TEMPLATE_GENERATION, text);
}

static void prepare_daemon_set(struct strategy_call *c) {
    int64_t was = strtoll(meta_annotation(c->old ? c->old : c->obj, TEMPLATE_GENERATION), NULL, 10);
    prepare_workload(c, false);
    if (c->part == STRATEGY_STATUS) {
        set_template_generation(c->obj, was);
        return;
    }
    if (!c->old) {
        set_template_generation(c->obj, was < 1 ? 1 : was);
        return;
    }
    bool changed = !same_value(json_object_get(json_object_get(c->obj, "spec"), "template"),
                               json_object_get(json_object_get(c->old, "spec"), "template"));
    set_template_generation(c->obj, changed && was < INT64_MAX ? was + 1 : was);
}

static void check_daemon_set_strategy(struct field_errors *e, const struct at *spec) {
    static const char *const types[] = {"RollingUpdate", "OnDelete", NULL};
    struct at strategy = at_child(spec, "updateStrategy");
    struct at rolling = at_child(&strategy, "rollingUpdate");
    struct at unavailable = at_child(&rolling, "maxUnavailable");
    struct at surge = at_child(&rolling, "maxSurge");
    const char *type = at_str(&strategy, "type");
    if (streq(type, "OnDelete"))
        return;
    if (!streq(type, "RollingUpdate")) {
        _cleanup_json_ json_t *shown =
            gotype_value(&go_daemon_set_update_strategy, strategy.v, NULL);
        bad_unsupported(e, &strategy, NULL, shown, types);
        return;
    }
    check_int_or_percent(e, &unavailable);
    check_int_or_percent(e, &surge);
    check_at_most_100_percent(e, &unavailable);
    check_at_most_100_percent(e, &surge);
    bool some = int_or_percent(unavailable.v) != 0, more = int_or_percent(surge.v) != 0;
    if (some && more)
        bad_value(e, &surge, NULL, surge.v, "may not be set when maxUnavailable is non-zero");
    else if (!some && !more)
        bad_required(e, &unavailable, NULL, "cannot be 0 when maxSurge is 0");
}

static void check_daemon_set_spec(struct field_errors *e, const struct at *spec,
                                  const struct pod_options *o, bool any_value) {
    struct at selector = at_child(spec, "selector"), tmpl = at_child(spec, "template");
    check_label_selector(e, &selector, any_value);
    if (label_selector_valid(selector.v))
        check_selected(e, spec);
    if (selector.v && json_object_size(selector.v) == 0)
        bad_value(e, &selector, NULL, selector.v, "empty selector is invalid for daemonset");
    check_pod_template(e, &tmpl, o);
    check_always_restarts(e, &tmpl, "DaemonSet");
    check_not_negative(e, spec, "minReadySeconds");
    check_daemon_set_strategy(e, spec);
    check_not_negative(e, spec, "revisionHistoryLimit");
}

static void check_daemon_set(struct strategy_call *c) {
    static const char *const counts[] = {"currentNumberScheduled", "numberMisscheduled",
                                         "desiredNumberScheduled", "numberReady",
                                         "observedGeneration",     "updatedNumberScheduled",
                                         "numberAvailable",        "numberUnavailable",
                                         "collisionCount",         NULL};
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    const json_t *old_spec = json_object_get(c->old, "spec");
    check_workload_meta(c, &meta, name_dns1123_subdomain);
    if (c->part == STRATEGY_STATUS) {
        check_counts(&c->errors, &status, counts);
        check_collision_count(&c->errors, &status, json_object_get(c->old, "status"));
        return;
    }
    struct pod_options o = template_options(old_spec);
    bool any_value =
        o.any_selector_value || label_selector_has_bad_value(json_object_get(old_spec, "selector"));
    if (c->old)
        check_selector_kept(c, &spec);
    check_daemon_set_spec(&c->errors, &spec, &o, any_value);
}

const struct strategy_ops strategy_daemon_sets = {
    .defaults = default_daemon_set,
    .prepare = prepare_daemon_set,
    .check = check_daemon_set,
};

/* --- ControllerRevisions --- */

static void check_revision(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at data = at_child(&root, "data");
    if (c->old)
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_not_negative(e, &root, "revision");
    if (c->old)
        check_immutable(e, &data, json_object_get(c->old, "data"), NULL);
    else if (!data.v)
        bad_required(e, &data, NULL, "data is mandatory");
    else if (!json_is_object(data.v))
        bad_required(e, &data, NULL, "data must be a valid JSON object");
}

const struct strategy_ops strategy_controller_revisions = {.check = check_revision};
