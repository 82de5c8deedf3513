/* Jobs. */
#include <inttypes.h>

#include "sim/api/gotext.h"
#include "sim/api/strategy_kinds.h"

#define JOB_NAME   "batch.kubernetes.io/job-name"
#define JOB_UID    "batch.kubernetes.io/controller-uid"
#define LEGACY_UID "controller-uid"

static void default_job(json_t *obj) {
    json_t *spec = object_at(obj, "spec"), *meta = object_at(obj, "metadata"), *rule, *pattern;
    json_t *tmpl = object_at(spec, "template");
    json_t *policy = json_object_get(spec, "podFailurePolicy");
    size_t i, j;
    if (!json_object_get(spec, "completions") && !json_object_get(spec, "parallelism"))
        set_int(spec, "completions", 1);
    default_int(spec, "parallelism", 1);
    default_int(spec, "backoffLimit",
                json_object_get(spec, "backoffLimitPerIndex") ? INT32_MAX : 6);
    json_t *labels = json_object_get(json_object_get(tmpl, "metadata"), "labels");
    /* one map for both, as in the server: labels that the template gets later are the Job's, too */
    if (labels && !json_object_size(json_object_get(meta, "labels")))
        json_object_set(meta, "labels", labels);
    if (!json_object_get(spec, "completionMode"))
        set_string(spec, "completionMode", "NonIndexed");
    default_bool(spec, "suspend", false);
    if (!json_object_get(spec, "podReplacementPolicy"))
        set_string(spec, "podReplacementPolicy", policy ? "Failed" : "TerminatingOrFailed");
    default_bool(spec, "manualSelector", false);
    json_array_foreach(json_object_get(policy, "rules"), i, rule)
        json_array_foreach(json_object_get(rule, "onPodConditions"), j, pattern)
            default_string(pattern, "status", "True");
    default_pod_template(tmpl);
}

/* Pods are known by the job's uid, unless the user has seen to it. */
static void generate_selector(json_t *obj) {
    const json_t *meta = json_object_get(obj, "metadata");
    json_t *spec = object_at(obj, "spec");
    json_t *labels = object_at(object_at(object_at(spec, "template"), "metadata"), "labels");
    const char *name = strna(json_str(meta, "name")), *uid = strna(json_str(meta, "uid"));
    const char *pairs[][2] = {
        {"job-name", name}, {JOB_NAME, name}, {LEGACY_UID, uid}, {JOB_UID, uid}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (!json_object_get(labels, pairs[i][0]))
            set_string(labels, pairs[i][0], pairs[i][1]);
    _cleanup_json_ json_t *sorted = go_sorted(labels); /* messages show them */
    json_object_clear(labels);
    json_object_update(labels, sorted);
    json_t *match = object_at(object_at(spec, "selector"), "matchLabels");
    if (!json_object_get(match, JOB_UID))
        set_string(match, JOB_UID, uid);
}

static void prepare_job(struct strategy_call *c) {
    const json_t *old_spec = json_object_get(c->old, "spec");
    json_t *spec = object_at(c->obj, "spec");
    if (c->part == STRATEGY_STATUS) {
        copy_member(c->obj, c->old, "spec");
        return;
    }
    if (!c->old) {
        if (!json_is_true(json_object_get(spec, "manualSelector")))
            generate_selector(c->obj);
        json_object_set_new(c->obj, "status", json_object());
        meta_first_generation(c->obj);
    }
    drop_disabled_fields(object_at(object_at(spec, "template"), "spec"),
                         json_object_get(json_object_get(old_spec, "template"), "spec"));
    if (c->old) {
        copy_member(c->obj, c->old, "status");
        meta_next_generation(c->obj, c->old, !same_value(spec, old_spec));
    }
}

/* --- the spec --- */

enum {
    PARALLELISM_MOST = 100000,
    COMPLETIONS_SOFT = 100000,
    MANY = 10000, /* parallelism and failed indexes where there are more completions */
};

static void check_indexed(struct field_errors *e, const struct at *spec) {
    int64_t parallelism = at_int(spec, "parallelism"), most = at_int(spec, "maxFailedIndexes");
    int64_t completions = at_int(spec, "completions");
    bool has_completions = at_has(spec, "completions"), has_most = at_has(spec, "maxFailedIndexes");
    if (!has_completions)
        bad_required(e, spec, "completions", "when completion mode is Indexed");
    if (parallelism > PARALLELISM_MOST)
        bad_int(e, spec, "parallelism", parallelism,
                "must be less than or equal to %d when completion mode is Indexed",
                PARALLELISM_MOST);
    if (has_completions && has_most && most > completions)
        bad_int(e, spec, "maxFailedIndexes", most, "must be less than or equal to completions");
    if (most > PARALLELISM_MOST)
        bad_int(e, spec, "maxFailedIndexes", most, "must be less than or equal to %d",
                PARALLELISM_MOST);
    if (completions <= COMPLETIONS_SOFT || !at_has(spec, "backoffLimitPerIndex"))
        return;
    if (!has_most)
        bad_required(e, spec, "maxFailedIndexes",
                     "must be specified when completions is above 100000");
    if (parallelism > MANY)
        bad_int(e, spec, "parallelism", parallelism,
                "must be less than or equal to %d when completions are above %d and used with "
                "backoff limit per index",
                MANY, COMPLETIONS_SOFT);
    if (most > MANY)
        bad_int(e, spec, "maxFailedIndexes", most,
                "must be less than or equal to %d when completions are above %d and used with "
                "backoff limit per index",
                MANY, COMPLETIONS_SOFT);
}

static bool is_http_path(const char *p) {
    for (const char *c = p; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr("/-._~%!$&'()*+,;=:", *c)))
            return false;
    return *p;
}

static void check_managed_by(struct field_errors *e, const struct at *spec) {
    const char *text = at_str(spec, "managedBy"), *slash = strchr(text, '/');
    if (!at_has(spec, "managedBy"))
        return;
    if (!*text) {
        bad_required(e, spec, "managedBy", "");
    } else if (!slash || slash == text || !slash[1]) {
        bad_string(e, spec, "managedBy", text,
                   "must be a domain-prefixed path (such as \"acme.io/foo\")");
    } else {
        _cleanup_free_ char *host = xstrndup(text, (size_t)(slash - text));
        check_name(e, spec, "managedBy", host, name_dns1123_subdomain);
        if (!is_http_path(slash + 1))
            bad_string(e, spec, "managedBy", slash + 1,
                       "Invalid path (regex used for validation is "
                       "'[A-Za-z0-9/\\-._~%%!$&'()*+,;=:]+')");
    }
    if (strlen(text) > 63)
        bad_too_long(e, spec, "managedBy", 63);
}

static void check_restart_policy(struct field_errors *e, const struct at *spec,
                                 const struct at *tmpl) {
    static const char *const policies[] = {"OnFailure", "Never", NULL};
    struct at pod = at_child(tmpl, "spec");
    const char *policy = at_str(&pod, "restartPolicy");
    if (!*policy || streq(policy, "Always"))
        bad_required(e, &pod, "restartPolicy", "valid values: \"OnFailure\", \"Never\"");
    else if (!is_one_of(policy, policies))
        bad_unsupported(e, &pod, "restartPolicy", at_get(&pod, "restartPolicy"), policies);
    else if (at_has(spec, "podFailurePolicy") && !streq(policy, "Never"))
        bad_string(e, &pod, "restartPolicy", policy,
                   "only \"Never\" is supported when podFailurePolicy is specified");
}

static void check_job_spec(struct field_errors *e, const struct at *spec,
                           const struct pod_options *o, bool any_value) {
    static const char *const counts[] = {"parallelism",
                                         "completions",
                                         "activeDeadlineSeconds",
                                         "backoffLimit",
                                         "ttlSecondsAfterFinished",
                                         "backoffLimitPerIndex",
                                         "maxFailedIndexes"};
    static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
    static const char *const replacements[] = {"Failed", "TerminatingOrFailed", NULL};
    static const char *const failed_only[] = {"Failed", NULL};
    const char *mode = at_str(spec, "completionMode");
    struct at tmpl = at_child(spec, "template"), selector = at_child(spec, "selector");
    struct at meta = at_child(&tmpl, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(e, spec, counts[i]);
    if (at_has(spec, "maxFailedIndexes") && !at_has(spec, "backoffLimitPerIndex"))
        bad_required(e, spec, "backoffLimitPerIndex", "when maxFailedIndexes is specified");
    check_managed_by(e, spec);
    if (at_has(spec, "completionMode"))
        check_one_of(e, spec, "completionMode", modes);
    if (streq(mode, "Indexed"))
        check_indexed(e, spec);
    if (!at_has(spec, "completionMode") || streq(mode, "NonIndexed")) {
        if (at_has(spec, "backoffLimitPerIndex"))
            bad_int(e, spec, "backoffLimitPerIndex", at_int(spec, "backoffLimitPerIndex"),
                    "requires indexed completion mode");
        if (at_has(spec, "maxFailedIndexes"))
            bad_int(e, spec, "maxFailedIndexes", at_int(spec, "maxFailedIndexes"),
                    "requires indexed completion mode");
    }
    check_failure_policy(e, spec);
    check_success_policy(e, spec, streq(mode, "Indexed"));
    if (at_has(spec, "podReplacementPolicy"))
        check_one_of(e, spec, "podReplacementPolicy",
                     at_has(spec, "podFailurePolicy") ? failed_only : replacements);
    check_pod_template(e, &tmpl, o);
    check_restart_policy(e, spec, &tmpl);
    if (!selector.v)
        bad_required(e, &selector, NULL, "");
    else
        check_label_selector(e, &selector, any_value);
    if (label_selector_valid(selector.v) &&
        !label_selector_matches(selector.v, at_get(&meta, "labels")))
        bad_value(e, &meta, "labels", at_get(&meta, "labels"),
                  "`selector` does not match template `labels`");
}

static void check_label_is(struct field_errors *e, const struct at *meta, const char *key,
                           const char *want) {
    struct at labels = at_child(meta, "labels"), label = at_key(&labels, key);
    _cleanup_free_ char *detail = xasprintf("must be '%s'", want);
    if (!label.v)
        bad_required(e, &label, NULL, detail);
    else if (!str_same(json_string_value(label.v), want))
        bad_value(e, &label, NULL, labels.v, "%s", detail);
}

static void check_generated_selector(struct field_errors *e, const struct at *job, bool prefixed) {
    struct at meta = at_child(job, "metadata"), spec = at_child(job, "spec");
    struct at tmpl = at_child(&spec, "template"), pod_meta = at_child(&tmpl, "metadata");
    struct at selector = at_child(&spec, "selector");
    const char *name = at_str(&meta, "name"), *uid = at_str(&meta, "uid");
    if (at_bool(&spec, "manualSelector") || !selector.v)
        return;
    check_label_is(e, &pod_meta, LEGACY_UID, uid);
    check_label_is(e, &pod_meta, "job-name", name);
    _cleanup_json_ json_t *expected = json_pack("{s:s, s:s}", LEGACY_UID, uid, "job-name", name);
    if (prefixed) {
        check_label_is(e, &pod_meta, JOB_UID, uid);
        check_label_is(e, &pod_meta, JOB_NAME, name);
        set_string(expected, JOB_UID, uid);
        set_string(expected, JOB_NAME, name);
    }
    if (label_selector_valid(selector.v) && !label_selector_matches(selector.v, expected))
        bad_value(e, &selector, NULL, selector.v, "`selector` not auto-generated");
}

static void check_whole_job(struct field_errors *e, const struct at *job,
                            const struct pod_options *o, bool prefixed, bool any_value) {
    struct at meta = at_child(job, "metadata"), spec = at_child(job, "spec");
    int64_t completions = at_int(&spec, "completions");
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_generated_selector(e, job, prefixed);
    check_job_spec(e, &spec, o, any_value);
    if (!streq(at_str(&spec, "completionMode"), "Indexed") || completions <= 0)
        return;
    _cleanup_free_ char *last = xasprintf("%s-%" PRId64, at_str(&meta, "name"), completions - 1);
    if (!name_ok(name_dns1123_label, last))
        bad_string(e, &meta, "name", at_str(&meta, "name"),
                   "will not able to create pod with invalid DNS label: %s", last);
}

/* --- changes --- */

static void check_completions_change(struct field_errors *e, const struct at *spec,
                                     const json_t *old) {
    struct at completions = at_child(spec, "completions");
    const json_t *was = json_object_get(old, "completions");
    if (!streq(at_str(spec, "completionMode"), "Indexed"))
        check_immutable(e, &completions, was, NULL);
    else if (!same_value(completions.v, was) && completions.v &&
             at_int(spec, "completions") != at_int(spec, "parallelism"))
        bad_value(e, &completions, NULL, completions.v,
                  "can only be modified in tandem with spec.parallelism");
}

/* A job that does not run yet may still be told where its pods shall go. */
static void forgive_scheduling(json_t *old, const json_t *now) {
    static const char *const keys[] = {"nodeSelector", "tolerations", "schedulingGates"};
    static const char *const meta_keys[] = {"annotations", "labels"};
    json_t *old_pod = object_at(old, "spec"), *old_meta = object_at(old, "metadata");
    const json_t *pod = json_object_get(now, "spec");
    json_t *old_affinity = json_object_get(old_pod, "affinity");
    const json_t *affinity = json_object_get(pod, "affinity");
    if (affinity && !old_affinity) {
        const json_t *node = json_object_get(affinity, "nodeAffinity");
        old_affinity = object_at(old_pod, "affinity");
        if (node)
            json_object_set(old_affinity, "nodeAffinity", (json_t *)node);
    } else if (old_affinity) {
        copy_member(old_affinity, affinity, "nodeAffinity");
        if (!affinity && !json_object_size(old_affinity))
            json_object_del(old_pod, "affinity");
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        copy_member(old_pod, pod, keys[i]);
    for (size_t i = 0; i < ARRAY_LEN(meta_keys); i++)
        copy_member(old_meta, json_object_get(now, "metadata"), meta_keys[i]);
}

static void forgive_resources(json_t *old_pod, const json_t *pod) {
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const json_t *now = json_object_get(pod, lists[l]);
        json_t *old = json_object_get(old_pod, lists[l]), *c;
        size_t i;
        if (json_array_size(now) != json_array_size(old))
            continue;
        json_array_foreach(
            old, i, c) if (str_same(json_str(c, "name"), json_str(json_array_get(now, i), "name")))
            copy_member(c, json_array_get(now, i), "resources");
    }
}

bool job_has_condition(const json_t *job, const char *type, const char *status) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(json_object_get(job, "status"), "conditions"), i,
                       c) if (str_same(json_str(c, "type"), type) &&
                              str_same(json_str(c, "status"), status)) return true;
    return false;
}

static void check_template_change(struct field_errors *e, const struct at *spec,
                                  const json_t *old_job) {
    const json_t *old = json_object_get(old_job, "spec");
    const json_t *status = json_object_get(old_job, "status");
    bool suspended = json_is_true(json_object_get(old, "suspend"));
    bool open = suspended &&
                (!json_object_get(status, "startTime") ||
                 job_has_condition(old_job, "Suspended", "True")) &&
                !json_integer_value(json_object_get(status, "active"));
    struct at tmpl = at_child(spec, "template");
    _cleanup_json_ json_t *old_tmpl = json_deep_copy(json_object_get(old, "template"));
    if (open)
        forgive_scheduling(old_tmpl, tmpl.v);
    if (!open) {
        check_immutable(e, &tmpl, old_tmpl, &go_pod_template_spec);
        return;
    }
    struct at pod = at_child(&tmpl, "spec");
    forgive_resources(object_at(old_tmpl, "spec"), pod.v);
    check_immutable(e, &pod, json_object_get(old_tmpl, "spec"), &go_pod_spec);
}

static void check_job_change(struct strategy_call *c, const struct at *spec,
                             const struct pod_options *o, bool any_value) {
    static const struct {
        const char *key;
        const struct gotype *type;
    } fixed[] = {{"completionMode", NULL},
                 {"podFailurePolicy", &go_pod_failure_policy},
                 {"backoffLimitPerIndex", NULL},
                 {"managedBy", NULL},
                 {"successPolicy", &go_success_policy}};
    const json_t *old = json_object_get(c->old, "spec");
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at selector = at_child(spec, "selector");
    check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
    check_job_spec(&c->errors, spec, o, any_value);
    check_completions_change(&c->errors, spec, old);
    check_immutable(&c->errors, &selector, json_object_get(old, "selector"), NULL);
    check_template_change(&c->errors, spec, c->old);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        struct at at = at_child(spec, fixed[i].key);
        check_immutable(&c->errors, &at, json_object_get(old, fixed[i].key), fixed[i].type);
    }
}

static void check_job(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at spec = at_child(&root, "spec"), status = at_child(&root, "status");
    const json_t *old = json_object_get(c->old, "spec");
    const json_t *old_tmpl = json_object_get(old, "template");
    const json_t *old_tmpl_meta = json_object_get(old_tmpl, "metadata");
    if (c->part == STRATEGY_STATUS) {
        check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
        check_job_status(c, &status);
        return;
    }
    const json_t *old_labels = json_object_get(old_tmpl_meta, "labels");
    bool prefixed =
        !c->old || (json_object_get(old_labels, JOB_NAME) && json_object_get(old_labels, JOB_UID));
    struct pod_options o = pod_options(json_object_get(old_tmpl, "spec"), old_tmpl_meta, false);
    bool any_value =
        o.any_selector_value || label_selector_has_bad_value(json_object_get(old, "selector"));
    check_whole_job(&c->errors, &root, &o, prefixed, any_value);
    if (c->old)
        check_job_change(c, &spec, &o, any_value);
}

const struct strategy_ops strategy_jobs = {
    .defaults = default_job,
    .prepare = prepare_job,
    .check = check_job,
};
