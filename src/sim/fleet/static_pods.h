/* Static pods: what a kubelet runs from files on the disk of its machine, told by nobody, and the
 * mirror pods that it creates so that the API shows them. By pkg/kubelet (config/common.go,
 * pod/mirror_client.go, tryReconcileMirrorPods()):
 *
 *  - A mirror is called POD-NODE, belongs to its Node, tolerates every NoExecute taint, and has the
 *    annotations kubernetes.io/config.{source,hash,seen,mirror}.
 *  - Deleting a mirror deletes nothing else: it goes at once, whatever its grace period, while its
 *    containers run on, and the kubelet creates it again, with another uid and the same status.
 *  - A kubelet that is down or hangs creates nothing; it does when it is back.
 *
 * The files are not in the API, so they are lost with the machine, that is with the Node. One thing
 * is different: a mirror that somebody else creates, which a kubelet would delete because there is
 * no file, is adopted as if there were one, so that the pods of a real cluster can be loaded. */
#ifndef SIM_FLEET_STATIC_PODS_H
#define SIM_FLEET_STATIC_PODS_H

#include "sim/fleet/machine.h"

struct static_pods;

struct static_pods *static_pods_new(struct fleet *f);
void static_pods_free(struct static_pods *s); /* takes NULL */

/* Puts a file on the machine's disk: a Pod as a person would write it. The mirror is there when it
 * returns. False when the API refuses it (a kubelet would only log that); then there is no file. */
bool static_pods_add(struct static_pods *s, struct machine *m, const json_t *pod,
                     struct failure *failure);
/* The machine runs (again): mirrors that are missing are created. */
void static_pods_resume(struct static_pods *s, struct machine *m);
/* The machine is gone, and its disk with it. */
void static_pods_forget(struct static_pods *s, struct machine *m);

bool pod_is_mirror(const struct pod *pod);

#endif
