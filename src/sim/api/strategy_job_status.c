/* The status of Jobs, as their controller writes it. */
#include "base/timefmt.h"
#include "sim/api/strategy_kinds.h"

static bool changed(const struct at *status, const json_t *old, const char *key) {
    return !same_value(at_get(status, key), json_object_get(old, key));
}

static bool flipped(struct strategy_call *c, const char *condition) {
    return job_has_condition(c->obj, condition, "True") !=
           job_has_condition(c->old, condition, "True");
}

static bool is_finished(const json_t *job) {
    return job_has_condition(job, "Complete", "True") || job_has_condition(job, "Failed", "True");
}

static int64_t time_of(const json_t *text) {
    int64_t usec = 0;
    const char *s = json_string_value(text);
    if (s)
        time_parse(s, strlen(s), &usec);
    return usec;
}

static void check_conditions_of_job(struct strategy_call *c, const struct at *status) {
    struct field_errors *e = &c->errors;
    bool complete = job_has_condition(c->obj, "Complete", "True");
    bool failed = job_has_condition(c->obj, "Failed", "True");
    bool target = job_has_condition(c->obj, "FailureTarget", "True");
    bool met = job_has_condition(c->obj, "SuccessCriteriaMet", "True");
    bool complete_flipped = flipped(c, "Complete"), failed_flipped = flipped(c, "Failed");
    const json_t *was = json_object_get(c->old, "status");
    bool time_changed = changed(status, was, "completionTime");
    bool start_changed = changed(status, was, "startTime");
    const json_t *done = at_get(status, "completionTime"), *start = at_get(status, "startTime");
    if ((complete_flipped || failed_flipped) && complete && failed)
        bad_omitted(e, status, "conditions", "cannot set Complete=True and Failed=true conditions");
    if ((complete_flipped || flipped(c, "FailureTarget")) && complete && target)
        bad_omitted(e, status, "conditions",
                    "cannot set Complete=True and FailureTarget=true conditions");
    if ((complete_flipped || time_changed) && done && !complete)
        bad_value(e, status, "completionTime", done,
                  "cannot set completionTime when there is no Complete=True condition");
    if ((complete_flipped || time_changed) && !done && complete)
        bad_required(e, status, "completionTime", "completionTime is required for Complete jobs");
    if ((start_changed || time_changed) && start && done && time_of(done) < time_of(start))
        bad_value(e, status, "completionTime", done, "must be equal to or after `startTime`");
    if ((failed_flipped || changed(status, was, "failedIndexes")) && failed && !target)
        bad_omitted(e, status, "conditions",
                    "cannot set Failed=True condition without the FailureTarget=true condition");
    if ((complete_flipped || flipped(c, "SuccessCriteriaMet")) && complete && !met)
        bad_omitted(
            e, status, "conditions",
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
}

static void check_finished_job(struct strategy_call *c, const struct at *status) {
    struct field_errors *e = &c->errors;
    const json_t *was = json_object_get(c->old, "status"), *spec = json_object_get(c->obj, "spec");
    bool finished = is_finished(c->obj), flip = finished != is_finished(c->old);
    struct at pods = at_child(status, "uncountedTerminatedPods");
    bool empty_suspended = json_is_true(json_object_get(spec, "suspend")) &&
                           json_object_get(spec, "completions") &&
                           json_integer_value(json_object_get(spec, "completions")) == 0;
    if (!finished)
        return;
    if ((flip || changed(status, was, "active")) && at_int(status, "active") > 0)
        bad_int(e, status, "active", at_int(status, "active"),
                "active>0 is invalid for finished job");
    if ((flip || changed(status, was, "startTime")) && !empty_suspended &&
        !at_has(status, "startTime"))
        bad_required(e, status, "startTime", "startTime is required for finished job");
    if ((flip || changed(status, was, "uncountedTerminatedPods")) &&
        at_len(&pods, "succeeded") + at_len(&pods, "failed") > 0)
        bad_struct(e, &pods, NULL, &go_uncounted_terminated_pods, pods.v, NULL,
                   "must be empty for finished job");
}

static void check_indexes(struct strategy_call *c, const struct at *status) {
    struct field_errors *e = &c->errors;
    const json_t *was = json_object_get(c->old, "status"), *spec = json_object_get(c->obj, "spec");
    const json_t *completions = json_object_get(spec, "completions");
    bool indexed = str_same(json_str(spec, "completionMode"), "Indexed");
    bool per_index = json_object_get(spec, "backoffLimitPerIndex");
    const char *done = at_str(status, "completedIndexes"), *bad = at_str(status, "failedIndexes");
    bool done_changed = changed(status, was, "completedIndexes");
    bool bad_changed = changed(status, was, "failedIndexes"),
         has_bad = at_has(status, "failedIndexes");
    _cleanup_str_ struct str why = STR_INIT, why_bad = STR_INIT;
    if (done_changed && completions &&
        count_indexes(done, json_integer_value(completions), &why) < 0)
        bad_string(e, status, "completedIndexes", done, "error parsing completedIndexes: %s",
                   str_get(&why));
    if (bad_changed && completions && per_index && has_bad &&
        count_indexes(bad, json_integer_value(completions), &why_bad) < 0)
        bad_string(e, status, "failedIndexes", bad, "error parsing failedIndexes: %s",
                   str_get(&why_bad));
    if (done_changed && *done && !indexed)
        bad_string(e, status, "completedIndexes", done,
                   "cannot set non-empty completedIndexes when non-indexed completion mode");
    if (bad_changed && has_bad && !per_index)
        bad_string(e, status, "failedIndexes", bad,
                   "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
}

void check_job_status(struct strategy_call *c, const struct at *status) {
    static const char *const counts[] = {"active", "succeeded", "failed", "ready", "terminating"};
    static const char *const lasting[] = {"Failed", "Complete", "FailureTarget"};
    struct field_errors *e = &c->errors;
    const json_t *was = json_object_get(c->old, "status"), *spec = json_object_get(c->obj, "spec");
    bool met = job_has_condition(c->obj, "SuccessCriteriaMet", "True");
    bool indexed = str_same(json_str(spec, "completionMode"), "Indexed");
    bool elastic = indexed && same_value(json_object_get(spec, "completions"),
                                         json_object_get(spec, "parallelism"));
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(e, status, counts[i]);
    check_conditions_of_job(c, status);
    check_finished_job(c, status);
    check_indexes(c, status);
    if ((is_finished(c->obj) != is_finished(c->old) || changed(status, was, "terminating")) &&
        is_finished(c->obj) && at_int(status, "terminating") > 0)
        bad_int(e, status, "terminating", at_int(status, "terminating"),
                "terminating>0 is invalid for finished job");
    if ((changed(status, was, "ready") || changed(status, was, "active")) &&
        at_has(status, "ready") && at_int(status, "ready") > at_int(status, "active"))
        bad_int(e, status, "ready", at_int(status, "ready"),
                "cannot set more ready pods than active");
    if (met && job_has_condition(c->obj, "Failed", "True"))
        bad_omitted(e, status, "conditions",
                    "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (met && job_has_condition(c->obj, "FailureTarget", "True"))
        bad_omitted(e, status, "conditions",
                    "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    if (json_object_get(spec, "successPolicy") && !met &&
        job_has_condition(c->obj, "Complete", "True"))
        bad_omitted(e, status, "conditions",
                    "cannot set Complete=True for Job with SuccessPolicy unless "
                    "SuccessCriteriaMet=True");
    for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
        if (job_has_condition(c->old, lasting[i], "True") &&
            !job_has_condition(c->obj, lasting[i], "True")) {
            _cleanup_free_ char *detail =
                xasprintf("cannot disable the terminal %s=True condition", lasting[i]);
            bad_omitted(e, status, "conditions", detail);
        }
    if (at_int(status, "failed") < json_integer_value(json_object_get(was, "failed")))
        bad_int(e, status, "failed", at_int(status, "failed"),
                "cannot decrease the failed counter");
    if (!elastic &&
        at_int(status, "succeeded") < json_integer_value(json_object_get(was, "succeeded")))
        bad_int(e, status, "succeeded", at_int(status, "succeeded"),
                "cannot decrease the succeeded counter");
    const json_t *done = at_get(status, "completionTime");
    const json_t *old_done = json_object_get(was, "completionTime");
    if (done && old_done && !json_equal(done, old_done))
        bad_value(e, status, "completionTime", done, "field is immutable");
    bool resuming = job_has_condition(c->old, "Suspended", "True") &&
                    job_has_condition(c->obj, "Suspended", "False");
    if (changed(status, was, "startTime") && !resuming && json_object_get(was, "startTime") &&
        !json_is_true(json_object_get(spec, "suspend")))
        bad_value(e, status, "startTime", at_get(status, "startTime"),
                  "field is immutable for unsuspended job once set");
    if (job_has_condition(c->old, "SuccessCriteriaMet", "True") && !met)
        bad_omitted(e, status, "conditions",
                    "cannot disable the SuccessCriteriaMet=True condition");
    if (job_has_condition(c->old, "Complete", "True") &&
        !job_has_condition(c->old, "SuccessCriteriaMet", "True") && met)
        bad_omitted(e, status, "conditions",
                    "cannot set SuccessCriteriaMet=True for Job already has Complete=true "
                    "conditions");
}
