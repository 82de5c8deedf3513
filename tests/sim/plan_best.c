/* How good is the order of a plan? Small random clusters: the plan's time beside the best of all
 * orders, found by trying every one of them.
 *
 *     plan-best [--seeds N] [--first SEED] [--nodes MOST] [--verbose]
 *
 * Prints how many plans are within a tenth of the best, and the worst; status 0 when that is so for
 * 95 of 100. */
#include <getopt.h>
#include <stdio.h>

#include "base/prng.h"
#include "engine/plan.h"
#include "support/drain_world.h"

enum { NODES_MAX = 8, APPS_MAX = 5 };

struct instance {
    struct drain_world w;
    struct prng random;
    unsigned nodes, apps;
    struct pod_durations times[APPS_MAX];
    const char *names[NODES_MAX];
};

static int64_t draw(struct instance *i, int64_t from, int64_t to) {
    return prng_range(&i->random, from, to + 1);
}

static struct pod_durations times(void *arg, const struct pod *pod, struct pod_durations assumed) {
    const struct instance *i = arg;
    const char *app = map_get(pod->meta.labels, "app");
    (void)assumed;
    return i->times[app[1] - '0'];
}

static void make(struct instance *i, uint64_t seed, unsigned most) {
    static const char *const names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
    unsigned counts[APPS_MAX] = {0}, pods = 0;
    i->random.state = seed;
    dw_init(&i->w);
    i->w.c.owners_watched = i->w.c.all_pods = true;
    i->w.opts.rate = 0;
    i->nodes = (unsigned)draw(i, 2, most);
    i->apps = (unsigned)draw(i, 1, APPS_MAX);
    i->w.opts.max_unavailable.value = (unsigned)draw(i, 1, i->nodes - 1);
    /* What is evicted goes to a node that is not drained: its room is for all of them. */
    dw_put(&i->w, &kind_node,
           "{'metadata':{'name':'rest','uid':'rest'},'status':{'allocatable':{'pods':'1000'},"
           "'conditions':[{'type':'Ready','status':'True'}]}}");
    for (unsigned n = 0; n < i->nodes; n++) {
        i->names[n] = names[n];
        dw_put(&i->w, &kind_node,
               "{'metadata':{'name':'%s','uid':'%s'},'status':{'conditions':[{'type':'Ready',"
               "'status':'True'}]}}",
               names[n], names[n]);
        for (int64_t k = draw(i, 0, 5); k > 0; k--) {
            unsigned app = (unsigned)draw(i, 0, i->apps - 1);
            char name[16];
            snprintf(name, sizeof name, "p%u", pods++);
            dw_pod(&i->w, name, names[n], "{'metadata':{'labels':{'app':'a%u'}}}", app);
            counts[app]++;
        }
    }
    for (unsigned a = 0; a < i->apps; a++) {
        int expected = (int)counts[a] + (int)draw(i, 0, 2), allowed = (int)draw(i, 1, 3);
        i->times[a] = (struct pod_durations){
            .stop = SEC(draw(i, 1, 30)), .start = SEC(draw(i, 1, 60)), .seen = true};
        if (draw(i, 0, 3)) /* some have none */
            dw_put(&i->w, &kind_pdb,
                   "{'metadata':{'namespace':'default','name':'b%u','uid':'b%u'},'spec':"
                   "{'maxUnavailable':%d,'selector':{'matchLabels':{'app':'a%u'}}},'status':"
                   "{'disruptionsAllowed':%d,'currentHealthy':%d,'desiredHealthy':%d,"
                   "'expectedPods':%d}}",
                   a, a, allowed, a, allowed, expected + allowed, expected, expected + allowed);
    }
}

static int64_t plan(struct instance *i, bool in_order, int64_t *least) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct plan p;
    i->w.opts.in_order = in_order;
    plan_make(&(struct plan_input){.opts = &i->w.opts,
                                   .cluster = &i->w.c,
                                   .names = i->names,
                                   .n_names = i->nodes,
                                   .times = times,
                                   .times_arg = i,
                                   .now = i->w.now.wall},
              &arena, &p);
    if (p.makespan == PLAN_NO_TIME)
        fail_msg("a plan that ends has none");
    *least = p.bounds[p.binds].least;
    if (p.makespan < *least)
        fail_msg("faster than possible: %lld < %lld", (long long)p.makespan, (long long)*least);
    return p.makespan;
}

/* Heap's algorithm: every order once. */
static void best_of(struct instance *i, unsigned n, int64_t *best) {
    int64_t least;
    if (n <= 1) {
        int64_t took = plan(i, true, &least);
        *best = MIN_OF(*best, took);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        best_of(i, n - 1, best);
        unsigned other = n % 2 ? 0 : k;
        const char *swap = i->names[other];
        i->names[other] = i->names[n - 1];
        i->names[n - 1] = swap;
    }
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"seeds", required_argument, NULL, 's'},
                                            {"first", required_argument, NULL, 'f'},
                                            {"nodes", required_argument, NULL, 'n'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {0}};
    uint64_t seeds = 100, first = 1, good = 0;
    unsigned most = 6;
    bool verbose = false;
    double worst = 1;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 's')
            seeds = strtoull(optarg, NULL, 10);
        else if (o == 'f')
            first = strtoull(optarg, NULL, 10);
        else if (o == 'n')
            most = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'v')
            verbose = true;
        else
            return 64;
    }
    if (most < 2 || most > NODES_MAX)
        return 64;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct instance i = {0};
        int64_t least, best = INT64_MAX;
        make(&i, seed, most);
        int64_t took = plan(&i, false, &least);
        best_of(&i, i.nodes, &best);
        double ratio = best ? (double)took / (double)best : 1;
        good += ratio <= 1.1;
        worst = MAX_OF(worst, ratio);
        if (verbose || ratio > 1.1)
            printf("seed %llu: %u nodes, %u at a time: %.0f s, best %.0f s, least %.0f s\n",
                   (unsigned long long)seed, i.nodes, i.w.opts.max_unavailable.value,
                   (double)took / USEC_PER_SEC, (double)best / USEC_PER_SEC,
                   (double)least / USEC_PER_SEC);
        dw_done(&i.w);
    }
    printf("%llu of %llu plans within a tenth of the best order, the worst %.2f times as long\n",
           (unsigned long long)good, (unsigned long long)seeds, worst);
    return good * 100 >= seeds * 95 ? 0 : 1;
}
