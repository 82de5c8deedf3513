/* Blockers: the stable, coded reasons why something waits or would wait. One table from which
 * messages, help and documentation (docs/blockers.md) are made; a code never changes its meaning.
 */
#ifndef ENGINE_BLOCKER_H
#define ENGINE_BLOCKER_H

#include <stdbool.h>
#include <stddef.h>

enum blocker_code {
    BLOCKER_MULTIPLE_PDBS,
    BLOCKER_PDB_UNSATISFIABLE,
    BLOCKER_PDB_SYNC_FAILED,
    BLOCKER_PDB_NO_BUDGET,
    BLOCKER_BARE_POD,
    BLOCKER_DAEMON_POD,
    BLOCKER_LOCAL_STORAGE,
    BLOCKER_LOCAL_PV,
    BLOCKER_NO_ROOM,
    BLOCKER_TERMINATING_STUCK,
    BLOCKER_NODE_NOT_READY,
    BLOCKER_FINALIZER_STUCK,
    BLOCKER_NODE_UNREACHABLE,
    BLOCKER_VOLUME_ATTACHED,
    BLOCKER_NAMESPACE_TERMINATING,
    BLOCKER_ADMISSION_DENIED,
    BLOCKER_EVICTION_IN_PROGRESS,
    BLOCKER_PDB_BROKEN,
    BLOCKER_FORBIDDEN,
    BLOCKER_SERVER_TROUBLE,
    BLOCKER_RATE_LIMITED,
    BLOCKER_PINNED,
    BLOCKER_RETURNS,
    BLOCKER_DO_NOT_DISRUPT,
    BLOCKER_JOB_RUNNING,
    BLOCKER_JOB_WOULD_FAIL,
    BLOCKER_REPLACEMENT_REFUSED,
    BLOCKER_OTHER_SCHEDULER,
    BLOCKER_ROOM_UNKNOWN,
    BLOCKER_SURGE_PENDING,
    BLOCKER_NOT_RESCHEDULED,
    BLOCKER_MAX_UNAVAILABLE,
    BLOCKER_MAX_ZONES,
    BLOCKER_NODE_TAKEN,
    BLOCKER_CORDON_CONTENDED,
    BLOCKER_LAST_REPLICA,
    BLOCKER_QUORUM_AT_RISK,
    BLOCKER_STORAGE_NOT_OK,
    BLOCKER_PRIMARY_ON_NODE,
    BLOCKER_NOT_MIGRATABLE,
    BLOCKER_CHECK_UNKNOWN,
    BLOCKER_MANUAL_HOLD,
    BLOCKER_SOAK_TIME,
    BLOCKER_TOO_MANY_FAILED,
    BLOCKER_POLICY_UNCLEAR,
    BLOCKER_NAME_TAKEN,
    BLOCKER_APPROVAL_NEEDED,
    BLOCKER_RECORD_UNREADABLE,
    BLOCKER_CLIENT_AWAITED,
    BLOCKER_NODE_AWAITED,
    BLOCKER_NOT_BACK,
    BLOCKER_OPERATION_FAILED,
    BLOCKER_CORDON_FAILED,
    BLOCKER_EXECUTOR_REFUSED,
    BLOCKER_CODES,
};

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_ERROR };

struct blocker_row {
    const char *name; /* "PDBNoBudget" */
    enum severity severity;
    bool clears_itself; /* else somebody must do something */
    const char *meaning;
    const char *hint; /* what to do */
    const char *ends; /* what must be seen for the wait to be over */
};

const struct blocker_row *blocker_row(enum blocker_code code);
/* By its name; BLOCKER_CODES: there is none. */
enum blocker_code blocker_find(const char *name);
/* Whether a node waits for others that were before it. */
bool blocker_is_turn(enum blocker_code code);

/* What to do about BLOCKER_PDB_UNSATISFIABLE where the pod has no owner, and so no replicas that
 * could be raised. */
#define BLOCKER_BARE_BUDGET_HINT "delete the pod, or let the budget allow at least one disruption"

#endif
