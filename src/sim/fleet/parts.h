/* The parts of the fleet, one file each: see fleet.h for what a part is, parts.c for their order.
 */
#ifndef SIM_FLEET_PARTS_H
#define SIM_FLEET_PARTS_H

struct part;

extern const struct part machines_part;       /* machine.c, worker.c: kubelets */
extern const struct part scheduler_part;      /* scheduler.c */
extern const struct part replica_sets_part;   /* replicaset.c */
extern const struct part deployments_part;    /* deployment.c */
extern const struct part stateful_sets_part;  /* statefulset.c */
extern const struct part daemon_sets_part;    /* daemonset.c */
extern const struct part jobs_part;           /* job.c */
extern const struct part disruption_part;     /* disruption.c */
extern const struct part namespaces_part;     /* namespace.c */
extern const struct part garbage_part;        /* garbage.c */
extern const struct part node_lifecycle_part; /* node_lifecycle.c */
extern const struct part taint_eviction_part; /* taint_eviction.c */
extern const struct part pod_gc_part;         /* pod_gc.c */
extern const struct part event_expiry_part;   /* event_expiry.c */
extern const struct part storage_part;        /* storage.c: indexes for those below */
extern const struct part volumes_part;        /* volumes.c */
extern const struct part protection_part;     /* protection.c */
extern const struct part ephemeral_part;      /* ephemeral.c */
extern const struct part provisioner_part;    /* provisioner.c */
extern const struct part attach_part;         /* attach.c */
extern const struct part attacher_part;       /* attacher.c */
extern const struct part mounts_part;         /* mounts.c */
extern const struct part strangers_part;      /* stranger.c: of copies of other clusters */

#endif
