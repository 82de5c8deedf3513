/* What a drain would do with a pod, by what it is. */
#ifndef ENGINE_PODROLE_H
#define ENGINE_PODROLE_H

#include <stdbool.h>

#include "model/object.h"

enum pod_role {
    POD_MOVES,    /* evicted, comes back elsewhere */
    POD_BARE,     /* evicted only by force: nothing brings it back */
    POD_DAEMON,   /* stays: its DaemonSet would put it back at once */
    POD_MIRROR,   /* stays: the kubelet runs it from a file */
    POD_FINISHED, /* done already: deleted without asking any budget */
    POD_LEAVING,  /* terminating already */
};

/* A DaemonSet of any API group counts (OpenKruise has its own). */
enum pod_role pod_role(const struct pod *pod);
/* Has emptyDir volumes and still runs. */
bool pod_has_local_data(const struct pod *pod);
bool pod_ready(const struct pod *pod);
bool pod_finished(const struct pod *pod);
/* Would be scheduled onto a node that is cordoned. */
bool pod_tolerates_cordon(const struct pod *pod);

#endif
