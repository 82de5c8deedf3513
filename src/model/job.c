/* What the Job controller makes of a pod that ended. */
#include "model/job.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

enum {
    LIMIT_USUAL = 6, /* the API server's own */
    BY_SIGNAL = 143, /* how a container ends that does nothing about SIGTERM */
};

static bool has_value(const int32_t *values, int32_t code) {
    for (size_t i = 0; i < list_len(values); i++)
        if (values[i] == code)
            return true;
    return false;
}

static int32_t exit_code(const struct container_state *state, enum job_end how) {
    if (state->terminated)
        return state->terminated->exit_code;
    return how != JOB_POD_ENDED && state->running ? BY_SIGNAL : 0;
}

/* One that has ended well matches nothing. */
static bool match_containers(const struct exit_codes *c, const struct container_status *list,
                             enum job_end how) {
    bool in = str_same(c->op, "In");
    for (size_t i = 0; i < list_len(list); i++) {
        int32_t code = exit_code(&list[i].state, how);
        bool meant = str_empty(c->container) || str_same(list[i].name, c->container);
        if (meant && code && has_value(c->values, code) == in)
            return true;
    }
    return false;
}

static bool match_conditions(const struct condition_pattern *patterns, const struct pod *pod,
                             enum job_end how) {
    for (size_t i = 0; i < list_len(patterns); i++) {
        const char *type = strna(patterns[i].type);
        const struct condition *c = condition_find(pod->conditions, type);
        const char *wanted = str_empty(patterns[i].status) ? "True" : patterns[i].status;
        const char *status = how == JOB_POD_EVICTED && streq(type, "DisruptionTarget") ? "True"
                             : c                                                       ? c->status
                                                                                       : NULL;
        if (str_same(status, wanted))
            return true;
    }
    return false;
}

static bool match_rule(const struct failure_rule *rule, const struct pod *pod, enum job_end how) {
    if (rule->codes)
        return match_containers(rule->codes, pod->containers, how) ||
               match_containers(rule->codes, pod->init_containers, how);
    return match_conditions(rule->conditions, pod, how);
}

enum job_action job_judge_pod(const struct job *job, const struct pod *pod, enum job_end how,
                              int *rule) {
    static const struct {
        const char *word;
        enum job_action action;
    } words[] = {{"Ignore", JOB_IGNORE}, {"FailJob", JOB_FAIL}, {"FailIndex", JOB_FAIL_INDEX}};
    const struct failure_rule *rules = job->policy ? job->policy->rules : NULL;
    if (rule)
        *rule = -1;
    for (size_t i = 0; i < list_len(rules); i++) {
        if (!match_rule(&rules[i], pod, how))
            continue;
        if (rule)
            *rule = (int)i;
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            if (str_same(rules[i].action, words[k].word))
                return words[k].action;
        return JOB_COUNT;
    }
    return JOB_COUNT;
}

int32_t job_limit(const struct job *job) {
    if (job->backoff_limit != ABSENT32)
        return job->backoff_limit;
    return job->index_limit == ABSENT32 ? LIMIT_USUAL : INT32_MAX;
}

bool job_is_over(const struct job *job) {
    static const char *const types[] = {"Complete", "Failed", "SuccessCriteriaMet",
                                        "FailureTarget"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct condition *c = condition_find(job->conditions, types[i]);
        if (c && str_same(c->status, "True"))
            return true;
    }
    return false;
}

int32_t job_index_failures(const struct pod *pod) {
    const char *text = map_get(pod->meta.annotations, JOB_INDEX_FAILURES);
    return text ? (int32_t)strtol(text, NULL, 10) : 0;
}

int64_t job_failed_indexes(const struct job *job) {
    const char *at = strna(job->failed_indexes);
    int64_t count = 0;
    while (*at >= '0' && *at <= '9') {
        char *end;
        int64_t first = strtoll(at, &end, 10), last = first;
        if (*end == '-')
            last = strtoll(end + 1, &end, 10);
        if (first > INT32_MAX || last > INT32_MAX || last < first)
            break;
        count += last - first + 1;
        at = *end == ',' ? end + 1 : "";
    }
    return count;
}

bool job_waits_for_end(const struct job *job) {
    if (!str_empty(job->replacement_policy))
        return streq(job->replacement_policy, "Failed");
    return job->policy != NULL;
}
