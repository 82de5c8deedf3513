/* Seeds shared out to processes, so that one that dies of its seed takes no other with it.
 *
 *     PROGRAM [--seeds N] [--first SEED] [--jobs N] [--stop-after N] [--trace] [--table]
 *
 * A seed that fails prints what was broken and the command that plays it again. */
#ifndef TESTS_SIM_WORKERS_H
#define TESTS_SIM_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workers {
    const char *program;
    uint64_t first, seeds;
    unsigned jobs, stop_after;
    bool trace, table;
    /* Plays a seed, and returns what was broken, to be freed, or NULL. What is counted is added to
     * `share`, of which each process has its own, all zero at first. */
    char *(*play)(const struct workers *w, uint64_t seed, void *share);
    size_t share; /* bytes */
};

/* How it went. */
struct worked {
    uint64_t done, failed;
    double seconds;
    void *shares; /* one after the other, `jobs` of them */
};

/* Reads the options of the command line; ends the program with 64 where they are wrong. */
void workers_options(struct workers *w, int argc, char **argv);
void workers_run(const struct workers *w, struct worked *out);

#endif
