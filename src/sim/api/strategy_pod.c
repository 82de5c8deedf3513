/* Pods and PodTemplates: what is set, and what may be changed. */
#include "sim/api/strategy_kinds.h"

#include "base/timefmt.h"

/* --- fields of features that are off --- */

static bool projects(const json_t *spec, const char *source) {
    struct at at = at_root(spec), volumes = at_child(&at, "volumes");
    at_each(volume, &volumes) {
        struct at projected = at_child(&volume, "projected");
        struct at sources = at_child(&projected, "sources");
        at_each(s, &sources) if (at_has(&s, source)) return true;
    }
    return false;
}

static void drop_projection(json_t *spec, const char *source) {
    size_t i, j;
    json_t *volume, *s;
    json_array_foreach(json_object_get(spec, "volumes"), i, volume)
        json_array_foreach(json_object_get(json_object_get(volume, "projected"), "sources"), j, s)
            json_object_del(s, source);
}

static void find_stop_signal(void *arg, const struct at *container) {
    struct at lifecycle = at_child(container, "lifecycle");
    *(bool *)arg |= at_has(&lifecycle, "stopSignal");
}

static void drop_stop_signals(json_t *spec) {
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        size_t i;
        json_t *c;
        json_array_foreach(json_object_get(spec, lists[l]), i, c) {
            json_t *lifecycle = json_object_get(c, "lifecycle");
            if (!json_object_get(lifecycle, "stopSignal"))
                continue;
            json_object_del(lifecycle, "stopSignal");
            if (!json_object_size(lifecycle))
                json_object_del(c, "lifecycle");
        }
    }
}

void drop_disabled_fields(json_t *spec, const json_t *old) {
    static const char *const projections[] = {"clusterTrustBundle", "podCertificate"};
    for (size_t i = 0; i < ARRAY_LEN(projections); i++)
        if (!projects(old, projections[i]))
            drop_projection(spec, projections[i]);
    if (!json_object_get(old, "schedulingGroup"))
        json_object_del(spec, "schedulingGroup");
    bool used = false;
    struct at at = at_root(old);
    each_container(&at, find_stop_signal, &used);
    if (!used)
        drop_stop_signals(spec);
}

/* --- creation --- */

/* Labels that a selector names by key only become part of it. */
static void merge_label_keys(json_t *term, const char *which, const char *op,
                             const json_t *labels) {
    json_t *selector = json_object_get(term, "labelSelector"), *key;
    size_t i;
    if (!selector)
        return;
    json_array_foreach(json_object_get(term, which), i, key) {
        const char *name = strna(json_string_value(key)), *value = json_str(labels, name);
        if (value)
            json_array_append_new(
                array_at(selector, "matchExpressions"),
                json_pack("{s:s, s:s, s:[s]}", "key", name, "operator", op, "values", value));
    }
}

static void merge_affinity(json_t *affinity, const json_t *labels) {
    size_t i;
    json_t *term;
    json_array_foreach(json_object_get(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
                       i, term) {
        json_t *inner = json_object_get(term, "podAffinityTerm");
        merge_label_keys(inner, "matchLabelKeys", "In", labels);
        merge_label_keys(inner, "mismatchLabelKeys", "NotIn", labels);
    }
    json_array_foreach(json_object_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                       i, term) {
        merge_label_keys(term, "matchLabelKeys", "In", labels);
        merge_label_keys(term, "mismatchLabelKeys", "NotIn", labels);
    }
}

#define APP_ARMOR "container.apparmor.security.beta.kubernetes.io/"

/* An old annotation becomes the field. */
static void take_app_armor(json_t *container, const json_t *annotations, const json_t *of_pod) {
    _cleanup_free_ char *key = xasprintf(APP_ARMOR "%s", strna(json_str(container, "name")));
    const char *text = json_str(annotations, key);
    json_t *context = json_object_get(container, "securityContext");
    if (!text || json_object_get(context, "appArmorProfile"))
        return;
    _cleanup_json_ json_t *profile = NULL;
    if (streq(text, "runtime/default"))
        profile = json_pack("{s:s}", "type", "RuntimeDefault");
    else if (streq(text, "unconfined"))
        profile = json_pack("{s:s}", "type", "Unconfined");
    else if (str_starts(text, "localhost/") && text[strlen("localhost/")])
        profile = json_pack("{s:s, s:s}", "type", "Localhost", "localhostProfile",
                            text + strlen("localhost/"));
    if (profile && !(of_pod && json_equal(profile, of_pod)))
        json_object_set(object_at(container, "securityContext"), "appArmorProfile", profile);
}

static void prepare_new_pod(struct strategy_call *c) {
    json_t *pod = c->obj, *spec = object_at(pod, "spec"), *item;
    const json_t *meta = json_object_get(pod, "metadata");
    const json_t *labels = json_object_get(meta, "labels");
    size_t i;
    meta_first_generation(pod);
    json_t *status = json_pack("{s:s, s:s}", "phase", "Pending", "qosClass", pod_qos(pod));
    json_object_set_new(pod, "status", status);
    drop_disabled_fields(spec, NULL);
    if (json_array_size(json_object_get(spec, "schedulingGates"))) {
        char now[TIMEFMT_LEN];
        json_array_append_new(array_at(status, "conditions"),
                              json_pack("{s:s, s:s, s:n, s:s, s:s, s:s}", "type", "PodScheduled",
                                        "status", "False", "lastProbeTime", "lastTransitionTime",
                                        time_format(c->ctx->now, false, now), "reason",
                                        "SchedulingGated", "message",
                                        "Scheduling is blocked due to non-empty scheduling gates"));
    }
    json_t *affinity = json_object_get(spec, "affinity");
    merge_affinity(json_object_get(affinity, "podAffinity"), labels);
    merge_affinity(json_object_get(affinity, "podAntiAffinity"), labels);
    json_array_foreach(json_object_get(spec, "topologySpreadConstraints"), i, item)
        merge_label_keys(item, "matchLabelKeys", "In", labels);
    if (str_same(json_str(json_object_get(spec, "os"), "name"), "windows"))
        return;
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    const json_t *of_pod =
        json_object_get(json_object_get(spec, "securityContext"), "appArmorProfile");
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, item)
            take_app_armor(item, json_object_get(meta, "annotations"), of_pod);
}

static void prepare_pod(struct strategy_call *c) {
    if (!c->old) {
        prepare_new_pod(c);
    } else if (c->part == STRATEGY_STATUS) {
        prepare_pod_status(c->obj, c->old);
    } else {
        const json_t *old_spec = json_object_get(c->old, "spec");
        json_t *spec = object_at(c->obj, "spec");
        copy_member(c->obj, c->old, "status");
        drop_disabled_fields(spec, old_spec);
        meta_next_generation(c->obj, c->old, !same_value(spec, old_spec));
    }
}

/* --- validation --- */

static void check_meta_and_spec(struct field_errors *e, const struct at *pod,
                                const struct pod_options *o) {
    static const char *const lists[] = {"containers", "initContainers"};
    struct at meta = at_child(pod, "metadata"), spec = at_child(pod, "spec");
    struct at annotations = at_child(&meta, "annotations"), volumes = at_child(&spec, "volumes");
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_pod_annotations(e, &annotations, &spec, o);
    check_pod_spec(e, &spec, &meta, o);
    if (!*at_str(&spec, "serviceAccountName"))
        at_each(volume, &volumes) {
            struct at projected = at_child(&volume, "projected");
            struct at sources = at_child(&projected, "sources");
            at_each(source, &sources) if (at_has(&source, "serviceAccountToken"))
                bad_forbidden(e, &source, "serviceAccountToken",
                              "must not be specified when serviceAccountName is not set");
        }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(&spec, lists[i]);
        at_each(c, &list) check_image_blanks(e, &c, at_str(&c, "image"));
    }
}

static void check_new_pod(struct strategy_call *c) {
    struct at pod = at_root(c->obj), spec = at_child(&pod, "spec");
    struct pod_options o = pod_options(NULL, NULL, true);
    check_meta_and_spec(&c->errors, &pod, &o);
    if (at_len(&spec, "ephemeralContainers"))
        bad_forbidden(&c->errors, &spec, "ephemeralContainers", "cannot be set on create");
    if (*at_str(&spec, "nodeName") && at_len(&spec, "schedulingGates"))
        bad_forbidden(&c->errors, &spec, "nodeName",
                      "cannot be set until all schedulingGates have been cleared");
    check_profile_annotations(
        &c->errors, json_object_get(json_object_get(c->obj, "metadata"), "annotations"), &spec);
}

/* Annotations that say what cannot change. */
static void check_annotation_changes(struct field_errors *e, const struct at *annotations,
                                     const json_t *old, const struct at *spec,
                                     const struct pod_options *o) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)old, key, value) {
        const json_t *now = at_get(annotations, key);
        struct at at = at_key(annotations, key);
        if (now && json_equal(now, value))
            continue;
        if (str_starts(key, APP_ARMOR))
            bad_forbidden(e, &at, NULL, "may not remove or update AppArmor annotations");
        if (streq(key, "kubernetes.io/config.mirror"))
            bad_forbidden(e, &at, NULL, "may not remove or update mirror pod annotation");
    }
    json_object_foreach((json_t *)annotations->v, key, value) {
        struct at at = at_key(annotations, key);
        if (json_object_get(old, key))
            continue;
        if (str_starts(key, APP_ARMOR))
            bad_forbidden(e, &at, NULL, "may not add AppArmor annotations");
        if (streq(key, "kubernetes.io/config.mirror"))
            bad_forbidden(e, &at, NULL, "may not add mirror pod annotation");
    }
    check_pod_annotations(e, annotations, spec, o);
}

/* false: the rest makes no sense. */
static bool check_container_changes(struct field_errors *e, const struct at *spec,
                                    const json_t *old, const char *which) {
    struct at list = at_child(spec, which);
    if (json_array_size(list.v) != json_array_size(json_object_get(old, which))) {
        bad_forbidden(e, &list, NULL, "pod updates may not add or remove containers");
        return false;
    }
    at_each(c, &list) {
        const char *image = at_str(&c, "image");
        if (!*image)
            bad_required(e, &c, "image", "");
        check_image_blanks(e, &c, image);
    }
    return true;
}

static bool check_deadline_change(struct field_errors *e, const struct at *spec,
                                  const json_t *old) {
    const char *key = "activeDeadlineSeconds";
    const json_t *was = json_object_get(old, key);
    int64_t now = at_int(spec, key);
    if (!at_has(spec, key)) {
        if (was)
            bad_value(e, spec, key, NULL, "must not update from a positive integer to nil value");
        return true;
    }
    if (now < 0 || now > INT32_MAX)
        bad_int(e, spec, key, now, "must be between 0 and %d, inclusive", INT32_MAX);
    else if (was && json_integer_value(was) < now)
        bad_int(e, spec, key, now, "must be less than or equal to previous value");
    else
        return true;
    return false;
}

static bool same_toleration(const json_t *a, const json_t *b) {
    _cleanup_json_ json_t *x = json_copy((json_t *)a), *y = json_copy((json_t *)b);
    json_object_del(x, "tolerationSeconds");
    json_object_del(y, "tolerationSeconds");
    return json_equal(x, y);
}

static void check_toleration_changes(struct field_errors *e, const struct at *spec,
                                     const json_t *old, const struct pod_options *o) {
    struct at list = at_child(spec, "tolerations");
    size_t i;
    json_t *was;
    json_array_foreach(json_object_get(old, "tolerations"), i, was) {
        bool found = false;
        at_each(t, &list) found |= same_toleration(t.v, was);
        if (!found) {
            bad_forbidden(e, &list, NULL,
                          "existing toleration can not be modified except its tolerationSeconds");
            return;
        }
    }
    check_tolerations(e, &list, o);
}

static bool has_named(const json_t *list, const char *name) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i,
                       item) if (str_same(json_str(item, "name"), name)) return true;
    return false;
}

static void check_gate_changes(struct field_errors *e, const struct at *spec, const json_t *old) {
    struct at gates = at_child(spec, "schedulingGates");
    at_each(gate,
            &gates) if (!has_named(json_object_get(old, "schedulingGates"), at_str(&gate, "name")))
        bad_forbidden(e, &gate, "name",
                      "only deletion is allowed, but found new scheduling gate '%s'",
                      at_str(&gate, "name"));
}

/* Only more requirements, never others. */
static bool term_only_grew(const json_t *now, const json_t *old) {
    static const char *const lists[] = {"matchExpressions", "matchFields"};
    size_t had = 0, has = 0;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const json_t *a = json_object_get(old, lists[l]), *b = json_object_get(now, lists[l]);
        had += json_array_size(a);
        has += json_array_size(b);
        if (json_array_size(b) < json_array_size(a))
            return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!same_value(json_array_get(a, i), json_array_get(b, i)))
                return false;
    }
    return had || !has;
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static void check_gated_affinity(struct field_errors *e, const struct at *spec,
                                 const json_t *old_affinity) {
    struct at affinity = at_child(spec, "affinity"), node = at_child(&affinity, "nodeAffinity");
    struct at required = at_child(&node, REQUIRED);
    struct at terms = at_child(&required, "nodeSelectorTerms");
    const json_t *had =
        json_object_get(json_object_get(json_object_get(old_affinity, "nodeAffinity"), REQUIRED),
                        "nodeSelectorTerms");
    if (json_array_size(had) && json_array_size(had) != json_array_size(terms.v)) {
        _cleanup_json_ json_t *shown = gotype_list(&go_node_selector_term, terms.v);
        bad_value(e, &terms, NULL, shown,
                  "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    for (size_t i = 0; i < json_array_size(had); i++) {
        struct at term = at_index(&terms, i);
        if (!term_only_grew(term.v, json_array_get(had, i)))
            bad_struct(e, &term, NULL, &go_node_selector_term, term.v, NULL,
                       "only additions are allowed (no mutations or deletions)");
    }
}

/* A pod that waits at its gates may still be told where to go, only more narrowly. */
static void check_gated_changes(struct field_errors *e, const struct at *spec, const json_t *old,
                                json_t *munged) {
    const json_t *had = json_object_get(old, "nodeSelector");
    struct at now = at_child(spec, "nodeSelector");
    if (!same_value(now.v, had)) {
        const char *key;
        json_t *value;
        bool lost = false;
        json_object_foreach((json_t *)had, key, value) {
            const json_t *v = at_get(&now, key);
            lost |= !v || !json_equal(v, value);
        }
        if (lost)
            bad_value(e, &now, NULL, now.v,
                      "only additions to spec.nodeSelector are allowed (no mutations or "
                      "deletions)");
        copy_member(munged, old, "nodeSelector");
    }
    const json_t *old_affinity = json_object_get(old, "affinity");
    const json_t *old_node = json_object_get(old_affinity, "nodeAffinity");
    json_t *affinity = json_object_get(munged, "affinity");
    if (same_value(json_object_get(affinity, "nodeAffinity"), old_node))
        return;
    check_gated_affinity(e, spec, old_affinity);
    if (!affinity && old_node)
        json_object_set_new(munged, "affinity",
                            json_pack("{s:O}", "nodeAffinity", (json_t *)old_node));
    else if (affinity && !old_affinity && !json_object_get(affinity, "podAffinity") &&
             !json_object_get(affinity, "podAntiAffinity"))
        json_object_del(munged, "affinity");
    else if (affinity)
        copy_member(affinity, old_affinity, "nodeAffinity");
}

/* What must not have changed: the new spec with all that may differ put back. */
static json_t *munged_spec(const struct at *spec, const json_t *old) {
    static const char *const lists[] = {"containers", "initContainers"};
    static const char *const kept[] = {"activeDeadlineSeconds", "schedulingGates", "tolerations"};
    json_t *munged = json_deep_copy(spec->v), *c;
    size_t i;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(munged, lists[l]), i, c)
            copy_member(c, json_array_get(json_object_get(old, lists[l]), i), "image");
    for (i = 0; i < ARRAY_LEN(kept); i++)
        copy_member(munged, old, kept[i]);
    return munged;
}

static void check_changed_pod(struct strategy_call *c) {
    struct field_errors *e = &c->errors;
    const json_t *old_meta = json_object_get(c->old, "metadata");
    const json_t *old = json_object_get(c->old, "spec");
    struct at pod = at_root(c->obj), meta = at_child(&pod, "metadata");
    struct at spec = at_child(&pod, "spec"), annotations = at_child(&meta, "annotations");
    struct pod_options o = pod_options(old, old_meta, true);
    check_meta_update(e, &meta, old_meta);
    check_meta_and_spec(e, &pod, &o);
    check_annotation_changes(e, &annotations, json_object_get(old_meta, "annotations"), &spec, &o);
    if (!check_container_changes(e, &spec, old, "containers") ||
        !check_container_changes(e, &spec, old, "initContainers") ||
        !check_deadline_change(e, &spec, old))
        return;
    check_toleration_changes(e, &spec, old, &o);
    check_gate_changes(e, &spec, old);
    if (same_value(spec.v, old))
        return;
    _cleanup_json_ json_t *munged = munged_spec(&spec, old);
    if (json_array_size(json_object_get(old, "schedulingGates")))
        check_gated_changes(e, &spec, old, munged);
    if (same_value(munged, old))
        return;
    _cleanup_str_ struct str diff = STR_INIT;
    gotype_diff(&go_pod_spec, old, munged, &diff);
    bad_forbidden(
        e, &spec, NULL,
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)\n%s",
        str_get(&diff));
}

static void check_pod(struct strategy_call *c) {
    if (!c->old) {
        check_new_pod(c);
    } else if (c->part == STRATEGY_MAIN) {
        check_changed_pod(c);
    } else {
        const json_t *old_meta = json_object_get(c->old, "metadata");
        struct at pod = at_root(c->obj), meta = at_child(&pod, "metadata");
        struct at annotations = at_child(&meta, "annotations"), spec = at_child(&pod, "spec");
        struct pod_options o = pod_options(json_object_get(c->old, "spec"), old_meta, true);
        check_meta_update(&c->errors, &meta, old_meta);
        check_annotation_changes(&c->errors, &annotations, json_object_get(old_meta, "annotations"),
                                 &spec, &o);
        check_pod_status(&c->errors, &pod, c->old);
    }
}

const struct strategy_ops strategy_pods = {
    .defaults = default_pod,
    .admit = admit_pod,
    .prepare = prepare_pod,
    .check = check_pod,
    .admit_after = admit_pod_after,
};

/* --- PodTemplates --- */

static void default_template_object(json_t *obj) {
    default_pod_template(object_at(obj, "template"));
}

static void prepare_template(struct strategy_call *c) {
    json_t *tmpl = object_at(c->obj, "template");
    const json_t *old = json_object_get(c->old, "template");
    drop_disabled_fields(object_at(tmpl, "spec"), json_object_get(old, "spec"));
    if (!c->old)
        meta_first_generation(c->obj);
    else
        meta_next_generation(c->obj, c->old, !same_value(tmpl, old));
}

static void check_template_object(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at tmpl = at_child(&root, "template");
    const json_t *old = json_object_get(c->old, "template");
    struct pod_options o =
        pod_options(json_object_get(old, "spec"), json_object_get(old, "metadata"), false);
    if (c->old)
        check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
    else
        check_meta(&c->errors, &meta, true, name_dns1123_subdomain);
    check_pod_template(&c->errors, &tmpl, &o);
}

const struct strategy_ops strategy_pod_templates = {
    .defaults = default_template_object,
    .prepare = prepare_template,
    .check = check_template_object,
};
