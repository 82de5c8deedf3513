/* The seeded soak: random clusters, random drains, a network that does harm, an oracle.
 *
 * How it is called: workers.h. `--trace` tells everything that happened. At the end: how many
 * failed, and what was covered. Exit status 0 when no seed failed. */
#include "soak.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "workers.h"

enum {
    TWIN_EVERY = 8, /* of the clusters without trouble, every so many is drained undisturbed, too */
    WANTED = 100,   /* of each fault at each kind of write, in a long run */
};

/* What is counted. */
struct share {
    uint64_t kills, stops, events, requests, twins, simulated;
    struct chaos_counts counts;
};

static bool depends_on_time(enum drain_phase p) {
    return p == DRAIN_TIMED_OUT || p == DRAIN_REFUSED;
}

/* The same without faults must end the same way. */
static char *twin(uint64_t seed, const struct soak_result *bad, struct share *s) {
    static struct chaos_counts unused;
    struct soak_result good;
    soak_run(seed, &(struct soak_options){.calm = true, .counts = &unused}, &good);
    s->twins++;
    char *what = NULL;
    if (good.violations) {
        what = xasprintf("undisturbed: %s", good.violations);
    } else if (good.n_nodes == bad->n_nodes) {
        for (size_t i = 0; i < good.n_nodes && !what; i++)
            /* A timeout is of its time, and so is a refusal: the pod in question may finish. */
            if (good.phases[i] != bad->phases[i] && !depends_on_time(good.phases[i]) &&
                !depends_on_time(bad->phases[i]))
                what = xasprintf(
                    "promise 4: node %zu of the targets ended as %s, undisturbed as %s", i,
                    drain_phase_word(bad->phases[i]), drain_phase_word(good.phases[i]));
    }
    free(good.violations);
    return what;
}

static char *play(const struct workers *w, uint64_t seed, void *share) {
    struct share *s = share;
    struct soak_result result;
    soak_run(seed, &(struct soak_options){.trace = w->trace, .counts = &s->counts}, &result);
    if (!result.violations && result.benign && result.n_nodes && seed % TWIN_EVERY == 0)
        result.violations = twin(seed, &result, s);
    if (w->trace)
        fprintf(stderr, "digest %016" PRIx64 ", %" PRIu64 " requests, %.1f simulated seconds\n",
                result.digest, result.requests, (double)result.took / 1e6);
    s->kills += result.kills;
    s->stops += result.stops;
    s->events += result.events;
    s->requests += result.requests;
    s->simulated += (uint64_t)result.took / 1000000;
    return result.violations;
}

int main(int argc, char **argv) {
    struct workers w = {.play = play, .share = sizeof(struct share)};
    struct worked worked;
    struct share sum = {0};
    workers_options(&w, argc, argv);
    workers_run(&w, &worked);
    for (unsigned j = 0; j < w.jobs; j++) {
        const struct share *s = (const struct share *)worked.shares + j;
        sum.kills += s->kills;
        sum.stops += s->stops;
        sum.events += s->events;
        sum.requests += s->requests;
        sum.twins += s->twins;
        sum.simulated += s->simulated;
        chaos_counts_add(&sum.counts, &s->counts);
    }
    if (w.table)
        (void)chaos_table(&sum.counts, WANTED);
    printf("%" PRIu64 " seeds, %" PRIu64 " failed; %" PRIu64 " requests, %" PRIu64
           " processes killed, %" PRIu64 " stopped, %" PRIu64 " events, %" PRIu64
           " undisturbed twins, %.1f simulated hours in %.1f s\n",
           worked.done, worked.failed, sum.requests, sum.kills, sum.stops, sum.events, sum.twins,
           (double)sum.simulated / 3600, worked.seconds);
    return worked.failed ? 1 : 0;
}
