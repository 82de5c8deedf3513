/* The status that a kubelet reports of a pod. */
#ifndef SIM_FLEET_POD_STATUS_H
#define SIM_FLEET_POD_STATUS_H

#include "sim/fleet/fleet.h"

enum pod_stage {
    POD_STARTING, /* ContainerCreating */
    POD_RUNNING,  /* not ready yet */
    POD_READY,
    POD_EXITED,  /* all containers have ended: Succeeded or Failed by `exit_code` */
    POD_CRASHED, /* one has ended and will be started again: CrashLoopBackOff */
};

struct pod_report {
    enum pod_stage stage;
    int exit_code;      /* of POD_EXITED and POD_CRASHED */
    bool restarted;     /* a container was started once more */
    const char *reason; /* of the containers' end; NULL: "Completed" or "Error" by exit_code */
    const char *host_ip, *pod_ip;
    int64_t now;
};

/* A new status from the old one, appended as canonical text. What others write there (conditions
 * that are not the kubelet's, qosClass, nominatedNodeName) is kept. */
void pod_status(struct codec *c, const struct record *pod, const struct pod_report *report,
                struct str *out);

#endif
