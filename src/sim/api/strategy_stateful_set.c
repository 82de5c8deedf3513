/* StatefulSets. */
#include "sim/api/strategy_kinds.h"

static void default_stateful_set(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *strategy = object_at(spec, "updateStrategy"), *claim;
    default_string(spec, "podManagementPolicy", "OrderedReady");
    if (str_empty(json_str(strategy, "type"))) {
        set_string(strategy, "type", "RollingUpdate");
        object_at(strategy, "rollingUpdate");
    }
    json_t *rolling = json_object_get(strategy, "rollingUpdate");
    if (rolling)
        default_int(rolling, "partition", 0);
    json_t *retention = object_at(spec, "persistentVolumeClaimRetentionPolicy");
    default_string(retention, "whenDeleted", "Retain");
    default_string(retention, "whenScaled", "Retain");
    default_int(spec, "replicas", 1);
    default_int(spec, "revisionHistoryLimit", 10);
    default_pod_template(object_at(spec, "template"));
    size_t i;
    json_array_foreach(json_object_get(spec, "volumeClaimTemplates"), i, claim) {
        set_string(claim, "apiVersion", "v1");
        set_string(claim, "kind", "PersistentVolumeClaim");
        default_claim(claim);
    }
}

static void prepare_stateful_set(struct strategy_call *c) {
    const json_t *old_spec = json_object_get(c->old, "spec");
    json_t *spec = object_at(c->obj, "spec");
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        return;
    }
    json_t *rolling = json_object_get(json_object_get(spec, "updateStrategy"), "rollingUpdate");
    const json_t *old_rolling =
        json_object_get(json_object_get(old_spec, "updateStrategy"), "rollingUpdate");
    if (!json_object_get(old_rolling, "maxUnavailable"))
        json_object_del(rolling, "maxUnavailable"); /* of a feature that is off */
    drop_disabled_fields(object_at(object_at(spec, "template"), "spec"),
                         json_object_get(json_object_get(old_spec, "template"), "spec"));
    if (!c->old) {
        json_object_set_new(c->obj, "status", json_object());
        meta_first_generation(c->obj);
    } else {
        copy_member(c->obj, c->old, "status");
        meta_next_generation(c->obj, c->old, !same_value(spec, old_spec));
    }
}

static void check_update_strategy(struct field_errors *e, const struct at *spec) {
    struct at strategy = at_child(spec, "updateStrategy");
    struct at rolling = at_child(&strategy, "rollingUpdate");
    struct at unavailable = at_child(&rolling, "maxUnavailable");
    const char *type = at_str(&strategy, "type");
    if (!*type) {
        bad_required(e, &strategy, NULL, "");
    } else if (streq(type, "OnDelete")) {
        if (rolling.v) {
            _cleanup_json_ json_t *shown =
                gotype_value(&go_stateful_set_update_strategy, strategy.v, NULL);
            bad_value(e, &rolling, NULL, json_object_get(shown, "RollingUpdate"),
                      "only allowed for updateStrategy 'RollingUpdate'");
        }
    } else if (streq(type, "RollingUpdate")) {
        check_not_negative(e, &rolling, "partition");
        if (!unavailable.v)
            return;
        check_int_or_percent(e, &unavailable);
        if (int_or_percent(unavailable.v) == 0)
            bad_value(e, &unavailable, NULL, unavailable.v, "cannot be 0");
        check_at_most_100_percent(e, &unavailable);
    } else {
        bad_struct(e, &strategy, NULL, &go_stateful_set_update_strategy, strategy.v, NULL,
                   "must be 'RollingUpdate' or 'OnDelete'");
    }
}

static void check_selector(struct field_errors *e, const struct at *spec) {
    struct at selector = at_child(spec, "selector");
    if (!selector.v) {
        bad_required(e, &selector, NULL, "");
        return;
    }
    check_label_selector(e, &selector, false);
    if (at_len(&selector, "matchLabels") + at_len(&selector, "matchExpressions") == 0)
        bad_value(e, &selector, NULL, selector.v, "empty selector is invalid for statefulset");
}

/* The template as its pods will look: with a volume for each claim, and without the names that the
 * controller gives. */
static json_t *effective_template(const struct at *spec) {
    json_t *tmpl = json_deep_copy(at_get(spec, "template"));
    json_t *pod = object_at(tmpl, "spec"), *volumes = json_array(), *volume;
    struct at claims = at_child(spec, "volumeClaimTemplates");
    _cleanup_json_ json_t *names = json_object();
    json_object_del(pod, "hostname");
    json_object_del(pod, "subdomain");
    at_each(claim, &claims) {
        struct at meta = at_child(&claim, "metadata");
        const char *name = at_str(&meta, "name");
        if (!json_object_get(names, name))
            json_array_append_new(volumes, json_pack("{s:s, s:{s:s}}", "name", name,
                                                     "persistentVolumeClaim", "claimName", name));
        json_object_set_new(names, name, json_true());
    }
    size_t i;
    json_array_foreach(json_object_get(pod, "volumes"), i,
                       volume) if (!json_object_get(names, strna(json_str(volume, "name"))))
        json_array_append(volumes, volume);
    json_object_set_new(pod, "volumes", volumes);
    return tmpl;
}

struct set_options {
    struct pod_options pod;
    bool any_service_name, skip_template, skip_claims;
};

static void check_set_template(struct field_errors *e, const struct at *spec,
                               const struct set_options *o) {
    struct at selector = at_child(spec, "selector");
    if (selector.v && !label_selector_valid(selector.v)) {
        bad_value(e, &selector, NULL, selector.v, "%s", "");
        return;
    }
    _cleanup_json_ json_t *effective = effective_template(spec);
    struct at tmpl = at_named(spec, "template", effective), meta = at_child(&tmpl, "metadata");
    struct at pod = at_child(&tmpl, "spec");
    const json_t *template_labels = at_get(&meta, "labels");
    bool empty = selector.v && json_object_size(selector.v) == 0;
    if (!empty && !label_selector_matches(selector.v, template_labels))
        bad_value(e, &tmpl, "metadata.labels", template_labels,
                  "`selector` does not match template `labels`");
    if (!o->skip_template)
        check_pod_template(e, &tmpl, &o->pod);
    struct at labels = at_named(&tmpl, "labels", template_labels);
    struct at annotations = at_named(&tmpl, "annotations", at_get(&meta, "annotations"));
    check_labels(e, &labels);
    check_annotations(e, &annotations);
    check_pod_annotations(e, &annotations, &pod, &o->pod);
}

static void check_set_spec(struct field_errors *e, const struct at *spec,
                           const struct set_options *o) {
    static const char *const retain[] = {"Retain", "Delete", NULL};
    static const char *const always[] = {"Always", NULL};
    const char *policy = at_str(spec, "podManagementPolicy");
    struct at retention = at_child(spec, "persistentVolumeClaimRetentionPolicy");
    struct at claims = at_child(spec, "volumeClaimTemplates");
    struct at tmpl = at_child(spec, "template"), pod = at_child(&tmpl, "spec");
    struct at ordinals = at_child(spec, "ordinals");
    if (!*policy)
        bad_required(e, spec, "podManagementPolicy", "");
    else if (!streq(policy, "OrderedReady") && !streq(policy, "Parallel"))
        bad_string(e, spec, "podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'");
    check_update_strategy(e, spec);
    if (retention.v) {
        check_one_of(e, &retention, "whenDeleted", retain);
        check_one_of(e, &retention, "whenScaled", retain);
    }
    if (!o->skip_claims)
        at_each(claim, &claims) {
            struct at claim_spec = at_child(&claim, "spec");
            check_claim_spec(e, &claim_spec, NULL);
        }
    check_not_negative(e, spec, "replicas");
    check_not_negative(e, spec, "minReadySeconds");
    check_not_negative(e, &ordinals, "start");
    if (!o->any_service_name && *at_str(spec, "serviceName"))
        check_name(e, spec, "serviceName", at_str(spec, "serviceName"), name_dns1123_label);
    check_selector(e, spec);
    check_set_template(e, spec, o);
    check_one_of(e, &pod, "restartPolicy", always);
    if (at_has(&pod, "activeDeadlineSeconds"))
        bad_forbidden(e, &pod, "activeDeadlineSeconds",
                      "activeDeadlineSeconds in StatefulSet is not Supported");
}

static void check_set_changes(struct strategy_call *c, const struct at *spec) {
    static const char *const mutable[] = {"replicas",
                                          "template",
                                          "updateStrategy",
                                          "minReadySeconds",
                                          "ordinals",
                                          "revisionHistoryLimit",
                                          "persistentVolumeClaimRetentionPolicy"};
    const json_t *old = json_object_get(c->old, "spec");
    _cleanup_json_ json_t *clone = json_copy((json_t *)spec->v);
    for (size_t i = 0; i < ARRAY_LEN(mutable); i++)
        copy_member(clone, old, mutable[i]);
    if (!same_value(clone, old))
        bad_forbidden(&c->errors, spec, NULL,
                      "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                      "'template', 'updateStrategy', 'revisionHistoryLimit', "
                      "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

static void check_set_status(struct field_errors *e, const struct at *status, const json_t *old) {
    static const char *const counts[] = {
        "replicas",          "readyReplicas",      "currentReplicas", "updatedReplicas",
        "availableReplicas", "observedGeneration", "collisionCount"};
    static const char *const parts[] = {"readyReplicas", "currentReplicas", "updatedReplicas",
                                        "availableReplicas"};
    const json_t *was = json_object_get(old, "collisionCount");
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(e, status, counts[i]);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (at_int(status, parts[i]) > at_int(status, "replicas"))
            bad_int(e, status, parts[i], at_int(status, parts[i]),
                    "cannot be greater than status.replicas");
    if (at_int(status, "availableReplicas") > at_int(status, "readyReplicas"))
        bad_int(e, status, "availableReplicas", at_int(status, "availableReplicas"),
                "cannot be greater than status.readyReplicas");
    int64_t now = at_int(status, "collisionCount");
    if (was && (!at_has(status, "collisionCount") || now < json_integer_value(was)))
        bad_int(e, status, "collisionCount", now, "cannot be decremented");
}

static void check_stateful_set(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    const json_t *old_meta = json_object_get(c->old, "metadata");
    const json_t *old = json_object_get(c->old, "spec");
    if (c->part == STRATEGY_STATUS) {
        check_set_status(&c->errors, &status, json_object_get(c->old, "status"));
        check_meta_update(&c->errors, &meta, old_meta);
        return;
    }
    const json_t *old_tmpl = json_object_get(old, "template");
    struct set_options o = {.pod = pod_options(json_object_get(old_tmpl, "spec"),
                                               json_object_get(old_tmpl, "metadata"), false)};
    if (!c->old) {
        check_meta(&c->errors, &meta, true, name_dns1123_label);
        check_set_spec(&c->errors, &spec, &o);
        return;
    }
    struct field_errors old_errors = {0};
    struct at old_at = at_root(old);
    check_meta_update(&c->errors, &meta, old_meta);
    o.any_service_name = o.skip_claims = true;
    check_set_spec(&old_errors, &old_at, &o);
    o.skip_template = old_errors.v.len > 0;
    field_errors_done(&old_errors);
    check_set_spec(&c->errors, &spec, &o);
    check_set_changes(c, &spec);
}

const struct strategy_ops strategy_stateful_sets = {
    .defaults = default_stateful_set,
    .prepare = prepare_stateful_set,
    .check = check_stateful_set,
};
