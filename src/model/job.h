/* What the Job controller makes of a pod that ended: by its pod failure policy, by the number of
 * failures that it may have. As pkg/controller/job does it, for those who foresee it and for those
 * who do it. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model/object.h"

/* The number of its index of an Indexed Job, and how many pods of that index failed before it. */
#define JOB_INDEX          "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"

enum job_action {
    JOB_COUNT,      /* it counts as a failure, as without a policy */
    JOB_IGNORE,     /* it does not */
    JOB_FAIL,       /* the Job fails because of it */
    JOB_FAIL_INDEX, /* its index does */
};

/* How the pod that is judged ends. */
enum job_end {
    JOB_POD_ENDED,   /* it has: as it says itself */
    JOB_POD_DELETED, /* what if it were: its containers get a signal, and end by it */
    JOB_POD_EVICTED, /* what if it were: it gets the condition DisruptionTarget as well */
};

/* What the policy says of a pod that failed, by its conditions and how its containers ended.
 * `*rule`, which may be NULL, is the number of the rule, or -1: none matches. */
enum job_action job_judge_pod(const struct job *job, const struct pod *pod, enum job_end how,
                              int *rule);
/* Failures that it may have, beyond which it fails; INT32_MAX: each index has its own. */
int32_t job_limit(const struct job *job);
/* Complete or failed, or about to be: nothing is made for it any more. */
bool job_is_over(const struct job *job);
/* How many pods of the index of this one have failed before. */
int32_t job_index_failures(const struct pod *pod);
/* How many of its indexes have failed for good. */
int64_t job_failed_indexes(const struct job *job);
/* The controller waits until a pod has ended before it counts and replaces it. */
bool job_waits_for_end(const struct job *job);

#endif
