/* The workload that a pod belongs to, by a name that stays when its pods and ReplicaSets come and
 * go: "default/Deployment/web". What was seen of one pod is then known of those that replace it.
 *
 * Nothing but the names of the pod and its controller is looked at, so that everybody who knows
 * these comes to the same result: a ReplicaSet whose name ends in a hash as Deployments make them
 * is one of a Deployment, a Job whose name ends in a minute is one of a CronJob. A pod without a
 * controller, and one that mirrors a file on its Node, is its own workload: "default/Pod/p". */
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#include "base/str.h"
#include "model/object.h"

/* Appends it. */
void workload_name(const struct pod *pod, struct str *out);
/* The same by words; `kind` and `name` are those of the controller, NULL or "" when there is none.
 */
void workload_name_of(const char *ns, const char *pod, const char *kind, const char *name,
                      struct str *out);

#endif
