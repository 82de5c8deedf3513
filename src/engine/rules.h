/* Drain rules: what shall happen to which class of pods. From a file (--rules) or a Policy, and the
 * marks that other tools leave on pods.
 *
 *     apiVersion: slipway.dev/v1alpha1
 *     kind: DrainRules
 *     marks: honour            # or ignore: safe-to-evict, do-not-disrupt, cluster.x-k8s.io/drain
 *     rules:                   # the first that matches a pod is its rule
 *       - name: databases
 *         match:
 *           namespaces: [db, 'prod-*']
 *           labels: {matchLabels: {...}, matchExpressions: [...]}
 *           owners: [StatefulSet]            # kind of the controller; Bare for none
 *           priority: {min: 1000, max: 2000} # of the pod
 *         order: 10            # lower ones must be gone before higher ones begin; default 0
 *         action: evict        # or skip, or wait (for its completion)
 *         grace: 30s
 *         deadline: 10m        # from the first try; then it is reported as an error
 *         escalate:            # only here: nothing is deleted or forced without being written
 *           - {after: 5m, to: delete}
 *           - {after: 10m, to: force}
 *
 * Reading is strict: unknown keys are errors with the nearest right one, and their place. */
#ifndef ENGINE_RULES_H
#define ENGINE_RULES_H

#include <stdint.h>

#include "base/err.h"
#include "model/object.h"

struct rules;

enum rule_action { RULE_EVICT, RULE_SKIP, RULE_WAIT, RULE_HOLD };
/* RULE_HOLD comes from foreign marks alone: not evicted, waited for until the mark or the pod goes.
 */

/* What the rules say about a pod. Texts are the rules'. */
struct rule_verdict {
    enum rule_action action;
    const char *name; /* of the rule; the mark, for those; "" for none */
    int32_t order;
    int64_t grace;        /* seconds, negative: not said */
    int64_t deadline;     /* microseconds, 0: none */
    int64_t delete_after; /* microseconds from the first try, -1: never */
    int64_t force_after;  /* the same */
};

/* Of the pods of our own controller, by which they know each other. They go last of a node's pods,
 * whatever the rules say, so that whoever drains the node is there until the end. */
#define RULES_OWN_LABEL         "slipway.dev/controller"
#define RULES_OWN_LABEL_ENCODED "slipway.dev%2Fcontroller"

/* The built-in ones: everything is evicted in order 0, marks are honoured. */
struct rules *rules_new(void);
/* From a file's text (YAML or JSON); `name` is for messages ("rules.yaml:3:5: ..."). */
int rules_parse(const char *text, size_t len, const char *name, struct rules **out,
                struct err *err);
void rules_free(struct rules *r);

void rules_apply(const struct rules *r, const struct pod *pod, struct rule_verdict *out);

#endif
