/* What a plan of a large cluster costs, and how good it is. For `make bench`.
 *
 *     plan SITUATION NODES
 *
 * A cluster made by hand (fleet.h), no server. Situations: half of the nodes are drained at once;
 * all of them are, a hundred at a time and uncordoned again, as an upgrade does it; all of them are
 * and nothing fits anywhere. Prints one line of JSON: processor time of plan_make(), the memory
 * that it took at most beyond what the cluster takes, and what came out. */
#include <sys/resource.h>
#include <time.h>

#include "engine/plan.h"
#include "fleet.h"

enum { RATE = 20 };

static const struct situation {
    const char *name;
    unsigned share; /* of the nodes: one in so many is drained */
    unsigned at_once;
    bool uncordon;
} which[] = {{"half", 2, 0, false}, {"rolling", 1, 100, true}, {"all", 1, 0, false}};

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The most that was ever in memory, kB. */
static long peak(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

int main(int argc, char **argv) {
    const struct situation *s = NULL;
    unsigned nodes = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; argc == 3 && i < ARRAY_LEN(which); i++)
        if (streq(which[i].name, argv[1]))
            s = &which[i];
    if (!s || !nodes) {
        fprintf(stderr, "usage: plan half|rolling|all NODES\n");
        return 64;
    }
    struct drain_world w;
    dw_init(&w);
    fleet_build(&w, nodes);
    w.opts.rate = RATE;
    w.opts.avoid_next = true; /* as the command line has it */
    w.opts.max_unavailable.value = s->at_once;
    w.opts.uncordon_when_done = s->uncordon;
    const char **names = xcalloc(nodes, sizeof *names);
    size_t n = 0;
    for (unsigned i = 0; i < nodes; i += s->share)
        names[n++] = xasprintf("node-%u", i);
    struct arena arena = ARENA_INIT;
    struct plan plan;
    long before = peak();
    double begun = cpu_seconds();
    plan_make(
        &(struct plan_input){
            .opts = &w.opts, .cluster = &w.c, .names = names, .n_names = n, .now = w.now.wall},
        &arena, &plan);
    double took = cpu_seconds() - begun;
    printf("{\"situation\":\"%s\",\"nodes\":%u,\"pods\":%zu,\"plan_ms\":%.1f,\"memory_mb\":%.1f,"
           "\"seconds\":%.1f,\"least\":%.1f,\"goes\":%zu,\"waits\":%zu,\"homeless\":%zu,"
           "\"never\":%zu}\n",
           s->name, nodes, store_len(w.c.pods), took * 1e3, (double)(peak() - before) / 1024,
           (double)plan.drained / USEC_PER_SEC,
           (double)plan.bounds[plan.binds].least / USEC_PER_SEC, plan.count[PLAN_GOES],
           plan.count[PLAN_WAITS], plan.count[PLAN_HOMELESS], plan.count[PLAN_NEVER]);
    for (size_t i = 0; i < n; i++)
        free((char *)names[i]);
    free(names);
    arena_done(&arena);
    dw_done(&w);
    return 0;
}
