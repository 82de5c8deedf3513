/* Several rehearsals of one drain on one copy of a cluster. The copy is put up once; each run has
 * it for itself in a child of this process, which the kernel gives the same memory until it writes
 * to it. As many run at once as there are processors. */
#ifndef CLI_REHEARSE_MANY_H
#define CLI_REHEARSE_MANY_H

#include "cli/rehearse_run.h"
#include "sim/fleet/habits.h"

struct rehearse_many {
    struct sim *sim; /* is not changed */
    struct habits *habits;
    struct rehearse_opts opts; /* its seed is that of the first run; each has the next */
    size_t runs;
    void (*told)(void *arg, size_t done); /* after each; may be NULL */
    void *arg;
};

/* What the runs have drawn: the most of any. */
struct rehearse_drawn {
    struct habits_basis start, stop;
};

/* Fills `out`, room for all of them, in the order of their seeds. On failure there is nothing in it
 * to free. */
int rehearse_many(const struct rehearse_many *m, struct rehearsal *out,
                  struct rehearse_drawn *drawn, struct err *err);

#endif
