/* From the file of a snapshot to a simulated cluster. */
#ifndef CLI_SNAPSHOT_LOAD_H
#define CLI_SNAPSHOT_LOAD_H

#include "cli/snapshot_file.h"
#include "sim/fleet/habits.h"
#include "sim/sim.h"

/* What of the file is not in the cluster. */
struct snapshot_gaps {
    size_t unknown;  /* objects of kinds that are not simulated */
    size_t invalid;  /* objects that no server would have stored, */
    char first[256]; /* and what is wrong with the first of them */
};

/* Makes a cluster of all that is in the file, from its beginning; its clock stands where it was
 * taken (`opts->start` is not used). Custom resources that could not be read then cannot be read in
 * the copy either: they are not what the cluster does not have. The habits must outlive it; with
 * `learn` they are told what the objects say. `gaps` may be NULL. */
int snapshot_load(struct snapshot_reader *r, const struct sim_options *opts, struct habits *habits,
                  bool learn, struct sim **out, struct snapshot_gaps *gaps, struct err *err);

#endif
