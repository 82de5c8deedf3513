/* What a step of a drain costs, and how that grows with the nodes. For `make bench`.
 *
 *     steps SITUATION NODES
 *
 * A cluster made by hand with that many nodes, thirty pods on each and a budget for every thirty
 * pods, all of it being drained; no server and no loop. The situations (which[] below): nothing is
 * in the way but the rate of evictions; every pod waits for its budget; a hundred nodes may be on
 * their way out at once; the nodes are not cordoned yet (in the others an earlier run has).
 *
 * Prints one line of JSON, all of it processor time: the first step; the cordons, each written and
 * seen by itself; what a simulated second takes with every request answered at once; then, with the
 * time standing still, the medians of one event each: from the changed object in hand (or the
 * answer) until the executor could sleep again. "pod" is one of another node each time, "same"
 * always one; "step" is the part of the former that is not spent on telling the drain. */
#include <time.h>

#include "support/drain_world.h"

enum {
    PODS = 30, /* of a node, and of a budget */
    NAMESPACES = 50,
    RATE = 20,         /* evictions a second: the default of the command line */
    SECONDS = 5,       /* simulated; blockers are told of after three */
    EVENTS = 101,      /* of each kind, or as many as */
    EVENTS_LEAST = 11, /* these, when they take more than */
    EVENTS_SPEND = 2,  /* seconds */
};

struct situation {
    const char *name;
    int allowed; /* disruptions of each budget */
    unsigned max_unavailable;
    bool open; /* the nodes are not cordoned yet */
};

static const struct situation which[] = {
    {"free", PODS, 0, false},
    {"blocked", 0, 0, false},
    {"limited", PODS, 100, false},
    {"open", PODS, 0, true},
};

/* A cordon under way. */
struct cordon_call {
    uint64_t id;
    unsigned node;
};

struct bench {
    struct drain_world world;
    const struct situation *situation;
    unsigned nodes, apps;
    unsigned long version;
    size_t notes;
    VEC(uint64_t) evictions; /* under way */
    VEC(struct cordon_call) cordons;
};

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- the cluster --- */

/* Cordoned by an earlier run, so that the first step comes as far as the evictions, or not yet. */
static struct object *make_node(struct bench *b, unsigned i, bool cordoned) {
    if (!cordoned)
        return dw_make(&b->world, &kind_node,
                       "{'metadata':{'name':'node-%u','uid':'n%u','resourceVersion':'%lu'},"
                       "'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
                       i, i, ++b->version);
    return dw_make(
        &b->world, &kind_node,
        "{'metadata':{'name':'node-%u','uid':'n%u','resourceVersion':'%lu',"
        "'labels':{'topology.kubernetes.io/zone':'z%u'},'annotations':{'slipway.dev/cordon':"
        "'{\\'v\\':1,\\'before\\':false,\\'holders\\':[{\\'id\\':\\'cli/test\\'}]}'}},"
        "'spec':{'unschedulable':true},"
        "'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
        i, i, ++b->version, i % 3);
}

/* The pods of a budget are spread over the nodes, as a Deployment's are. */
static unsigned app_of(const struct bench *b, unsigned node, unsigned k) {
    return (node * 7 + k * 13) % b->apps;
}

static struct object *make_pod(struct bench *b, unsigned node, unsigned k) {
    unsigned app = app_of(b, node, k);
    unsigned long version = ++b->version;
    return dw_make(&b->world, &kind_pod,
                   "{'metadata':{'namespace':'ns%u','name':'pod-%u-%u','uid':'u-%u-%u',"
                   "'resourceVersion':'%lu','labels':{'app':'a%u'},'annotations':{'seen':'%lu'},"
                   "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'rs%u',"
                   "'uid':'rs%u','controller':true}]},"
                   "'spec':{'nodeName':'node-%u','terminationGracePeriodSeconds':30},"
                   "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}",
                   app % NAMESPACES, node, k, node, k, version, app, version, app, app, node);
}

/* One that allows nothing could: one of its pods is not well at the moment. */
static struct object *make_budget(struct bench *b, unsigned app) {
    int allowed = b->situation->allowed, most = MAX_OF(allowed, 1), desired = PODS - most;
    return dw_make(&b->world, &kind_pdb,
                   "{'metadata':{'namespace':'ns%u','name':'b%u','uid':'b%u','generation':1,"
                   "'resourceVersion':'%lu'},'spec':{'maxUnavailable':%d,"
                   "'selector':{'matchLabels':{'app':'a%u'}}},'status':{'observedGeneration':1,"
                   "'disruptionsAllowed':%d,'currentHealthy':%d,'desiredHealthy':%d,"
                   "'expectedPods':%d}}",
                   app % NAMESPACES, app, app, ++b->version, most, app, allowed, desired + allowed,
                   desired, PODS);
}

static void count_note(void *arg, const struct drain_note *note) {
    (void)note;
    ++*(size_t *)arg;
}

static void build(struct bench *b) {
    struct drain_world *w = &b->world;
    dw_init(w);
    b->apps = b->nodes;
    for (unsigned i = 0; i < b->nodes; i++) {
        store_put(w->c.nodes, make_node(b, i, !b->situation->open));
        store_put(w->c.budgets, make_budget(b, i));
        for (unsigned k = 0; k < PODS; k++)
            store_put(w->c.pods, make_pod(b, i, k));
    }
    w->c.all_pods = w->c.budgets_known = true;
    w->opts.rate = RATE;
    w->opts.max_unavailable.value = b->situation->max_unavailable;
    w->opts.keep_record = true;
    char **names = xcalloc(b->nodes, sizeof *names);
    for (unsigned i = 0; i < b->nodes; i++)
        names[i] = xasprintf("node-%u", i);
    w->d = drain_new(&w->opts, &w->c, (const char *const *)names, b->nodes, count_note, &b->notes);
    for (unsigned i = 0; i < b->nodes; i++)
        free(names[i]);
    free(names);
}

/* --- the drain --- */

/* One turn of the executor; its seconds. */
static double turn(struct bench *b) {
    struct drain_world *w = &b->world;
    actions_reset(&w->out);
    double begun = cpu_seconds();
    drain_step(w->d, w->now, &w->out);
    bool over = drain_over(w->d);
    int64_t next = drain_next(w->d);
    double took = cpu_seconds() - begun;
    if (over || next <= w->now.mono)
        fail_msg("the drain %s", over ? "has ended too early" : "wants to be called again at once");
    return took;
}

static double answer(struct bench *b, uint64_t id, enum kube_outcome outcome) {
    struct drain_world *w = &b->world;
    double begun = cpu_seconds();
    bool ours = drain_answer(
        w->d, id, &(struct answer){.outcome = outcome, .message = "", .retry_after = -1}, w->now);
    double took = cpu_seconds() - begun;
    if (!ours)
        fail_msg("nobody waits for the answer to action %llu", (unsigned long long)id);
    return took;
}

/* Answers what the last turn wanted, but for the evictions, which are kept; seconds of the drain.
 */
static double serve(struct bench *b) {
    double took = 0;
    for (size_t i = 0; i < b->world.out.list.len; i++) {
        const struct action *a = &b->world.out.list.p[i];
        if (a->verb == ACTION_EVICT && b->situation->allowed)
            *vec_push(&b->evictions) = a->id;
        else if (a->verb == ACTION_EVICT)
            took += answer(b, a->id, KUBE_PDB_NO_BUDGET);
        else if (a->minor || a->verb == ACTION_CONFIRM)
            took += answer(b, a->id, KUBE_OK);
        else if (a->verb == ACTION_PATCH && a->kind == &kind_node)
            *vec_push(&b->cordons) =
                (struct cordon_call){a->id, (unsigned)strtoul(a->name + strlen("node-"), NULL, 10)};
        else
            fail_msg("an action of verb %d for %s was not expected", (int)a->verb, a->name);
    }
    actions_reset(&b->world.out);
    return took;
}

/* The clock jumps to what the drain asks for, as long as that is not later than `usec` from now. */
static double pass(struct bench *b, int64_t usec) {
    struct drain_world *w = &b->world;
    int64_t end = w->now.mono + usec, next;
    double took = 0;
    while ((next = drain_next(w->d)) <= end) {
        w->now.wall += MAX_OF(next - w->now.mono, 0);
        w->now.mono = MAX_OF(next, w->now.mono);
        took += turn(b) + serve(b);
    }
    w->now.wall += end - w->now.mono;
    w->now.mono = end;
    return took;
}

/* The cordons are written, one after the other, and each is seen at once. */
static double cordon(struct bench *b) {
    struct drain_world *w = &b->world;
    double took = serve(b);
    for (size_t i = 0; i < b->cordons.len; i++) {
        struct object *node = make_node(b, b->cordons.p[i].node, true);
        double begun = cpu_seconds();
        store_wrote(w->c.nodes, NULL, node->meta.name, node->meta.version);
        store_put(w->c.nodes, node);
        took += cpu_seconds() - begun;
        took += answer(b, b->cordons.p[i].id, KUBE_OK);
        took += turn(b) + serve(b);
    }
    return took;
}

/* --- events --- */

struct sample {
    double event, step; /* seconds */
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare);
    return n ? values[n / 2] : 0;
}

static struct sample put(struct bench *b, struct store *store, struct object *obj) {
    double begun = cpu_seconds();
    store_put(store, obj);
    double told = cpu_seconds() - begun, step = turn(b);
    serve(b);
    return (struct sample){told + step, step};
}

/* The i-th of nodes that are at work. */
static unsigned node_at_work(const struct bench *b, unsigned i) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(b->world.d, &n);
    for (unsigned k = i * 7919 % b->nodes;; k = (k + 1) % b->nodes)
        if (nodes[k]->phase == DRAIN_EVICTING)
            return k;
}

/* The last of the pods: it is not among the first to be evicted. */
static struct sample pod_event(struct bench *b, unsigned i) {
    return put(b, b->world.c.pods, make_pod(b, node_at_work(b, i), PODS - 1));
}

/* Always the same one: what is left when nothing has to come from memory far away. */
static struct sample same_event(struct bench *b, unsigned i) {
    (void)i;
    return pod_event(b, 0);
}

static struct sample budget_event(struct bench *b, unsigned i) {
    return put(b, b->world.c.budgets, make_budget(b, i * 7919 % b->apps));
}

/* An eviction is granted. */
static struct sample answer_event(struct bench *b, unsigned i) {
    double told = answer(b, b->evictions.p[i], KUBE_OK), step = turn(b);
    serve(b);
    return (struct sample){told + step, step};
}

/* Medians; `most` events. */
static struct sample events(struct bench *b, struct sample (*one)(struct bench *, unsigned),
                            size_t most) {
    double all[EVENTS], steps[EVENTS], spent = 0;
    unsigned n = 0;
    while (n < MIN_OF(most, (size_t)EVENTS) && (n < EVENTS_LEAST || spent < EVENTS_SPEND)) {
        struct sample s = one(b, n);
        all[n] = s.event;
        steps[n++] = s.step;
        spent += s.event;
    }
    return (struct sample){median(all, n), median(steps, n)};
}

int main(int argc, char **argv) {
    struct bench b = {.nodes = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0};
    for (size_t i = 0; argc == 3 && i < sizeof which / sizeof *which; i++)
        if (streq(which[i].name, argv[1]))
            b.situation = &which[i];
    if (!b.situation || !b.nodes) {
        fprintf(stderr, "usage: steps free|blocked|limited|open NODES\n");
        return 64;
    }
    build(&b);
    double first = turn(&b), cordoned = cordon(&b), passed = pass(&b, SEC(SECONDS));
    size_t asked = b.evictions.len;
    struct sample pod = events(&b, pod_event, EVENTS);
    struct sample same = events(&b, same_event, EVENTS);
    struct sample budget = events(&b, budget_event, EVENTS);
    struct sample granted = events(&b, answer_event, asked);
    printf(
        "{\"situation\":\"%s\",\"nodes\":%u,\"first_ms\":%.2f,\"cordon_ms\":%.2f,\"second_ms\":%."
        "3f,"
        "\"pod_us\":%.2f,\"step_us\":%.2f,\"same_us\":%.2f,\"budget_us\":%.2f,\"answer_us\":%.2f,"
        "\"evictions\":%zu,\"notes\":%zu}\n",
        b.situation->name, b.nodes, first * 1e3, cordoned * 1e3, passed / SECONDS * 1e3,
        pod.event * 1e6, pod.step * 1e6, same.event * 1e6, budget.event * 1e6, granted.event * 1e6,
        asked, b.notes);
    vec_done(&b.evictions);
    vec_done(&b.cordons);
    dw_done(&b.world);
    return 0;
}
