/* The seeded soak of the controller: replicas that die and freeze, FleetLock clients, maintenances
 * and people, on a simulated cluster and a network that does harm, watched by an oracle.
 *
 * How it is called: workers.h. At the end: how many failed, and what was reached. Exit status 0
 * when no seed failed; with `--table` in a run of ENOUGH seeds or more everything that can be
 * reached must have been, too. */
#include "fleet_soak.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "workers.h"

enum {
    ENOUGH = 2000, /* seeds in which everything is reached */
    WANTED = 20,   /* of each fault at each kind of write, in such a run */
};

struct share {
    uint64_t requests, kills, freezes, events, questions, grants, simulated;
    struct chaos_counts counts;
    struct fleet_cover cover;
};

static char *play(const struct workers *w, uint64_t seed, void *share) {
    struct share *s = share;
    struct fleet_soak_result result;
    fleet_soak_run(
        seed,
        &(struct fleet_soak_options){.trace = w->trace, .counts = &s->counts, .cover = &s->cover},
        &result);
    if (w->trace)
        fprintf(stderr,
                "digest %016" PRIx64 ", %" PRIu64 " requests, %" PRIu64 " simulated seconds\n",
                result.digest, result.requests, result.simulated);
    s->requests += result.requests;
    s->kills += result.kills;
    s->freezes += result.freezes;
    s->events += result.events;
    s->questions += result.questions;
    s->grants += result.grants;
    s->simulated += result.simulated;
    return result.violations;
}

static void add(struct share *to, const struct share *from) {
    to->requests += from->requests;
    to->kills += from->kills;
    to->freezes += from->freezes;
    to->events += from->events;
    to->questions += from->questions;
    to->grants += from->grants;
    to->simulated += from->simulated;
    chaos_counts_add(&to->counts, &from->counts);
    fleet_cover_add(&to->cover, &from->cover);
}

int main(int argc, char **argv) {
    struct workers w = {.play = play, .share = sizeof(struct share)};
    struct worked worked;
    static struct share sum;
    bool complete = true;
    workers_options(&w, argc, argv);
    workers_run(&w, &worked);
    for (unsigned j = 0; j < w.jobs; j++)
        add(&sum, (const struct share *)worked.shares + j);
    if (w.table) {
        complete = chaos_table(&sum.counts, WANTED);
        complete &= fleet_cover_table(&sum.cover);
    }
    printf("%" PRIu64 " seeds, %" PRIu64 " failed; %" PRIu64 " requests, %" PRIu64
           " replicas killed, %" PRIu64 " frozen, %" PRIu64 " events, %" PRIu64
           " questions, %" PRIu64 " grants, %.1f simulated hours in %.1f s\n",
           worked.done, worked.failed, sum.requests, sum.kills, sum.freezes, sum.events,
           sum.questions, sum.grants, (double)sum.simulated / 3600, worked.seconds);
    return worked.failed || (!complete && w.seeds >= ENOUGH) ? 1 : 0;
}
