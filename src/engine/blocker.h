/* Blockers: the stable, coded reasons why something waits or would wait. One table from which
 * messages, help and documentation are made; a code never changes its meaning. */
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
    BLOCKER_LOCAL_STORAGE,
    BLOCKER_TERMINATING_STUCK,
    BLOCKER_NODE_NOT_READY,
    BLOCKER_CODES,
};

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_ERROR };

struct blocker_row {
    const char *name; /* "PDBNoBudget" */
    enum severity severity;
    bool clears_itself; /* else somebody must do something */
    const char *meaning;
    const char *hint; /* what to do */
};

const struct blocker_row *blocker_row(enum blocker_code code);

#endif
