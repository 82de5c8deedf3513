/* What people and programs are told about rehearsals. Pure. */
#ifndef CLI_REHEARSE_VIEW_H
#define CLI_REHEARSE_VIEW_H

#include "base/str.h"
#include "cli/drain_line.h"
#include "cli/rehearse_assumed.h"
#include "cli/rehearse_sum.h"
#include "cli/snapshot_load.h"
#include "sim/fleet/habits.h"

#define REHEARSAL_SCHEMA "slipway.rehearsal/1.1"

/* What it rests on. */
struct rehearse_basis {
    const char *source; /* "cluster" or the name of a file */
    int64_t taken;      /* when the cluster was read */
    size_t nodes, pods; /* of the copy */
    size_t observed;    /* in earlier drains: stops and starts of pods, */
    size_t ups;         /* and starts alone */
    struct habits_basis start, stop;
    struct lags_basis lags;
    struct snapshot_gaps gaps;
    const struct rehearse_assumed *assumed; /* what comes in the place of which pods */
    size_t n_assumed;
    const json_t *unread; /* a list of {resource, why}: what could not be read; may be NULL */
};

/* The name of the check that was waited for; NULL: it was none. */
const char *rehearse_check(const struct rehearsal_wait *w);

/* No line is wider than the screen, or 80 columns where there is none, unless a single word is. */
void rehearse_text(const struct rehearse_sum *sum, const struct rehearse_basis *basis,
                   const struct screen *s, struct str *out);
/* An indented document. */
void rehearse_json(const struct rehearse_sum *sum, const struct rehearsal *runs,
                   const struct rehearse_basis *basis, struct str *out);

#endif
