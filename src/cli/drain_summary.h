/* The end of a drain: what was done, what remains and why, and what to do next. Pure. */
#ifndef CLI_DRAIN_SUMMARY_H
#define CLI_DRAIN_SUMMARY_H

#include "base/str.h"
#include "cli/drain_line.h"
#include "engine/drain.h"

struct drain_totals {
    unsigned nodes;
    unsigned of[DRAIN_STOPPED + 1]; /* nodes, by phase */
    unsigned evicted, deleted;      /* pods that are gone, by what we did */
    unsigned vanished;              /* pods that are gone by themselves */
    unsigned skipped;               /* not waited for */
    unsigned remaining;             /* pods that shall go and are not gone */
    unsigned leaving;               /* of these: they were asked, and are on their way out */
    int64_t median;                 /* of the nodes that are done; 0 when none */
};
void drain_totals_take(const struct drain_node *const *nodes, size_t n, struct drain_totals *out);

/* A pod that shall go and is not gone. */
bool drain_pod_remains(const struct drain_pod *p);
/* Why it is not gone: "PDBNoBudget web/frontend: needs 3 ...", "is terminating". Raw. */
void drain_remains_text(const struct drain_pod *p, struct str *out);
/* Since when, wall clock; 0: not known. */
int64_t drain_remains_since(const struct drain_pod *p);

struct drain_summary {
    const struct drain_node *const *nodes;
    size_t n;
    int64_t now, started;
    const char *undo;  /* the command that undoes it, without the nodes */
    const char *again; /* the command that goes on with it; NULL: it is said in words */
    const struct drain_node *const *released; /* uncordoned again, as notes told */
    size_t n_released;
    bool dry_run;
};
/* The pods that remain on one node, as the summary has them. */
void drain_summary_pods(const struct drain_node *n, int64_t now, const struct screen *s,
                        struct str *out);
/* Appends it. Lines are not cut: it is there to stay. The rows of the screen do not matter. */
void drain_summary_text(const struct drain_summary *m, const struct screen *s, struct str *out);

#endif
