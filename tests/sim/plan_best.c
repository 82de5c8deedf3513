/* How good is the order of a plan? Small random clusters: the plan's time beside the best of all
 * orders, found by trying every one of them that could be better: node by node, and no further
 * where what has been chosen takes as long already.
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

enum { NODES_MAX = 8, APPS_MAX = 5, PODS_MAX = 5 /* of a node */ };

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
        for (int64_t k = draw(i, 0, PODS_MAX); k > 0; k--) {
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

/* Of the first n nodes, in this order when that is wanted; `out` is the whole of it. */
static int64_t plan(struct instance *i, const char *const *names, unsigned n, bool in_order,
                    struct arena *arena, struct plan *out) {
    i->w.opts.in_order = in_order;
    plan_make(&(struct plan_input){.opts = &i->w.opts,
                                   .cluster = &i->w.c,
                                   .names = names,
                                   .n_names = n,
                                   .times = times,
                                   .times_arg = i,
                                   .now = i->w.now.wall},
              arena, out);
    if (out->makespan == PLAN_NO_TIME)
        fail_msg("a plan that ends has none");
    if (out->makespan < out->bounds[out->binds].least)
        fail_msg("faster than possible: %lld < %lld", (long long)out->makespan,
                 (long long)out->bounds[out->binds].least);
    return out->makespan;
}

/* --- the best of all orders --- */

struct search {
    struct instance *i;
    const char *order[NODES_MAX]; /* the first of them are chosen */
    bool used[NODES_MAX];
    unsigned like[NODES_MAX];   /* the first node with the same pods: one of them is as good */
    int64_t least[NODES_MAX];   /* how long each takes at best */
    int64_t best, never_better; /* nobody is faster than that */
    size_t plays;
};

/* Of the orders that begin so, which take as long as the plan of these alone does, or longer: what
 * comes later does not make way for what was before it. Each of the others begins when a place is
 * free, takes what it takes at best, and all places together have to do all of them. */
static int64_t bound(const struct search *s, const struct plan *chosen, unsigned n) {
    unsigned limit = s->i->w.opts.max_unavailable.value;
    int64_t free_at[NODES_MAX] = {0}, longest = 0, sum = 0;
    for (unsigned k = 0; k < n; k++) { /* the places are free when the last of these end */
        int64_t ends = chosen->nodes[k].ends;
        for (unsigned l = 0; l < limit; l++)
            if (ends > free_at[l]) {
                int64_t swap = free_at[l];
                free_at[l] = ends;
                ends = swap;
            }
    }
    for (unsigned k = 0; k < s->i->nodes; k++)
        if (!s->used[k]) {
            longest = MAX_OF(longest, s->least[k]);
            sum += s->least[k];
        }
    for (unsigned l = 0; l < limit; l++)
        sum += free_at[l];
    int64_t least = MAX_OF(chosen->makespan, free_at[limit - 1] + longest);
    return MAX_OF(least, sum / limit);
}

static void search(struct search *s, unsigned n) {
    bool tried[NODES_MAX] = {false};
    for (unsigned k = 0; k < s->i->nodes && s->best > s->never_better; k++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct plan p;
        if (s->used[k] || tried[s->like[k]])
            continue;
        tried[s->like[k]] = s->used[k] = true;
        s->order[n] = s->i->names[k];
        int64_t took = plan(s->i, s->order, n + 1, true, &arena, &p);
        s->plays++;
        if (n + 1 == s->i->nodes)
            s->best = MIN_OF(s->best, took);
        else if (bound(s, &p, n + 1) < s->best)
            search(s, n + 1);
        s->used[k] = false;
    }
}

static int compare_apps(const void *a, const void *b) {
    return *(const char *)a - *(const char *)b;
}

/* The apps of its pods, one letter each. */
static void apps_of(const struct plan_node *n, char *out) {
    for (size_t k = 0; k < n->n_pods; k++)
        out[k] = map_get(n->pods[k].pod->meta.labels, "app")[1];
    qsort(out, n->n_pods, 1, compare_apps);
    out[n->n_pods] = 0;
}

static int64_t best_of(struct instance *i, const struct plan *own, size_t *plays) {
    struct search s = {
        .i = i, .best = own->makespan, .never_better = own->bounds[own->binds].least};
    char apps[NODES_MAX][PODS_MAX + 1];
    for (size_t k = 0; k < own->n; k++) {
        unsigned number = (unsigned)(own->nodes[k].name[1] - '0');
        s.least[number] = own->nodes[k].least;
        apps_of(&own->nodes[k], apps[number]);
    }
    for (unsigned k = 0; k < i->nodes; k++)
        for (s.like[k] = 0; strcmp(apps[s.like[k]], apps[k]) != 0;)
            s.like[k]++;
    search(&s, 0);
    *plays += s.plays;
    return s.best;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"seeds", required_argument, NULL, 's'},
                                            {"first", required_argument, NULL, 'f'},
                                            {"nodes", required_argument, NULL, 'n'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {0}};
    uint64_t seeds = 100, first = 1, good = 0;
    size_t plays = 0;
    unsigned most = NODES_MAX;
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
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct plan own;
        make(&i, seed, most);
        int64_t took = plan(&i, i.names, i.nodes, false, &arena, &own);
        int64_t least = own.bounds[own.binds].least, best = best_of(&i, &own, &plays);
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
    printf("%llu of %llu plans within a tenth of the best order, the worst %.2f times as long; %zu "
           "orders and beginnings of orders tried\n",
           (unsigned long long)good, (unsigned long long)seeds, worst, plays);
    return good * 100 >= seeds * 95 ? 0 : 1;
}
