/* All parts of the fleet, in the order in which they hear of a change. */
#include "sim/fleet/parts.h"

#include "sim/fleet/fleet.h"

const struct part *const fleet_parts[] = {
    &machines_part,      &scheduler_part,    &replica_sets_part,   &deployments_part,
    &stateful_sets_part, &daemon_sets_part,  &jobs_part,           &disruption_part,
    &namespaces_part,    &garbage_part,      &node_lifecycle_part, &taint_eviction_part,
    &pod_gc_part,        &event_expiry_part, &storage_part,        &volumes_part,
    &protection_part,    &ephemeral_part,    &provisioner_part,    &attach_part,
    &attacher_part,      &mounts_part,       &strangers_part,      NULL,
};
