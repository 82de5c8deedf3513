/* How much a simulated cluster costs: plays a scenario in process, the clock jumping from event to
 * event. For `make bench`.
 *
 *     sim SCENARIO NODES SEED HOURS
 *
 * Prints one line of JSON: what happened in the simulated hours after the cluster had come to rest
 * (alarms of the clock, changes of objects), the processor time that it took, and the memory that
 * the cluster takes. An alarm is the event of the simulator: something that happens by itself at
 * its time, be it a heartbeat, a container that starts or a controller that looks at an object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/timefmt.h"
#include "sim/fleet/fleet.h"
#include "sim/scenario.h"

#define START (INT64_C(1767225600) * SEC(1)) /* 2026-01-01T00:00:00Z */

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* On its own, so that a profiler can be told to look at nothing else. */
static __attribute__((noinline)) double play(struct clock *clock, int64_t hours_us) {
    double begun = cpu_seconds();
    clock_run(clock, clock->now + hours_us);
    return cpu_seconds() - begun;
}

static void trouble(void *arg, const char *text) {
    *(bool *)arg = true;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: sim SCENARIO NODES SEED HOURS\n");
        return 64;
    }
    _cleanup_err_ struct err err = ERR_INIT;
    struct scenario *scenario = NULL;
    struct sim *sim = sim_new(
        &(struct sim_options){.seed = strtoull(argv[3], NULL, 10), .start = START, .speed = 0});
    double begun = cpu_seconds();
    if (scenario_load(argv[1], &scenario, &err) ||
        scenario_begin(scenario, sim, strtoul(argv[2], NULL, 10), &err)) {
        fprintf(stderr, "%s\n", err_msg(&err));
        return 1;
    }
    double built = cpu_seconds() - begun;
    bool failed = false;
    scenario_play(scenario, trouble, &failed);
    struct world *world = sim_world(sim);
    uint64_t rung = world->clock.rung, changes = world->changes;
    double ran = play(&world->clock, (int64_t)(strtod(argv[4], NULL) * 3600) * SEC(1));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"nodes\":%zu,\"pods\":%zu,\"build_cpu_s\":%.3f,\"cpu_s\":%.3f,\"events\":%llu,"
           "\"changes\":%llu,\"peak_rss_kb\":%ld}\n",
           shelf_len(sim_fleet(sim)->nodes->shelf), shelf_len(sim_fleet(sim)->pods->shelf), built,
           ran, (unsigned long long)(world->clock.rung - rung),
           (unsigned long long)(world->changes - changes), usage.ru_maxrss);
    scenario_stop(scenario);
    sim_free(sim);
    scenario_free(scenario);
    return failed;
}
