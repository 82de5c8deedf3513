/* What a drain would do with a pod, by what it is. */
#ifndef ENGINE_PODROLE_H
#define ENGINE_PODROLE_H

#include <stdbool.h>

#include "base/str.h"
#include "model/object.h"
#include "model/store.h"

enum pod_role {
    POD_MOVES,    /* evicted, comes back elsewhere */
    POD_BARE,     /* evicted only by force: nothing brings it back */
    POD_DAEMON,   /* stays: its DaemonSet would put it back at once */
    POD_MIRROR,   /* stays: the kubelet runs it from a file */
    POD_FINISHED, /* done already: deleted without asking any budget */
    POD_LEAVING,  /* terminating already */
};

/* Seconds after the end of its grace period that a pod is called stuck: kubelets report within 10.
 * A copy keeps such pods, too. */
enum { POD_STUCK_AFTER = 60 };

/* A DaemonSet of any API group counts (OpenKruise has its own). */
enum pod_role pod_role(const struct pod *pod);
/* Has emptyDir volumes and still runs. */
bool pod_has_local_data(const struct pod *pod);
bool pod_ready(const struct pod *pod);
bool pod_finished(const struct pod *pod);
/* Would be scheduled onto a node that is cordoned. */
bool pod_tolerates_cordon(const struct pod *pod);
/* The first finalizer that not Kubernetes itself takes off, or NULL. */
const char *pod_finalizer(const struct pod *pod);
/* Evicted, it is made anew and may be put on the cordoned node again. */
bool pod_may_return(const struct pod *pod);
/* Its selector or affinity names one node alone. */
bool pod_wants_one_node(const struct pod *pod);
/* The node that its template names in spec.nodeName, or NULL: none, or its owner is not in the
 * stores (which may be NULL). */
const char *pod_pinned_to(const struct pod *pod, const struct store *replica_sets,
                          const struct store *stateful_sets);
/* The finalizers of a pod that not Kubernetes itself takes off, separated by commas; "" when there
 * are none. */
void pod_foreign_finalizers(const struct pod *pod, struct str *out);
/* It does not answer: its condition Ready is Unknown. */
bool node_is_lost(const struct node *node);
/* "it does not answer (NodeStatusUnknown): last heard of at 2026-11-15T08:00:00Z, or soon after".
 * Its condition was changed later, by somebody who had waited for it; its lease may be newer. */
void node_lost_explain(const struct node *node, struct str *out);
/* The data is on the disk of one node and nowhere else. That of a zone, be there one node in it, is
 * not. */
bool volume_is_local(const struct pv *pv);
/* Of its node affinity: it is on disks of nodes that are named, one or several, and not in a zone.
 */
bool volume_names_nodes(const struct node_selector *sel);
/* By namespace and name, for arrays of pointers to pods. */
int pod_compare(const void *a, const void *b);

#endif
