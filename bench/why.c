/* What an answer of `slipway why NODE` costs in a large cluster, once everything is read. For `make
 * bench`.
 *
 *     why SITUATION NODES
 *
 * A cluster made by hand (fleet.h), no server. Situations: each of the thirty pods of a node waits
 * for a budget of its own, which has a Pending pod that fits no node; nothing is in the way of the
 * node's pods, and all of them find room elsewhere. Prints one line of JSON: processor time of the
 * picture of the cluster that both need, of why_node(), and what came out. */
#include <time.h>

#include "engine/waiting.h"
#include "engine/why.h"
#include "fleet.h"

enum { ROUNDS = 5 }; /* answers; the quickest counts */

static const struct kind *const more[] = {
    &kind_replica_set, &kind_stateful_set,      &kind_deployment,
    &kind_daemon_set,  &kind_namespace,         &kind_pv,
    &kind_pvc,         &kind_volume_attachment, &kind_event,
};

struct scene {
    struct drain_world w;
    struct why_world world;
    struct store *stores[ARRAY_LEN(more)];
};

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct store *store_of(struct scene *s, const struct kind *kind) {
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (more[i] == kind)
            return s->stores[i];
    return kind == &kind_node ? s->w.c.nodes : kind == &kind_pod ? s->w.c.pods : s->w.c.budgets;
}

/* Everything has been read. */
static enum known ask(void *arg, const struct why_want *want) {
    struct scene *s = arg;
    if (want->what != WHY_WANT_OBJECT)
        return KNOWN_THERE;
    return store_get(store_of(s, want->kind), want->ns, want->name) ? KNOWN_THERE : KNOWN_GONE;
}

static void put(struct scene *s, const struct kind *kind, struct object *obj) {
    store_put(store_of(s, kind), obj);
}

/* The application of one of the first node's pods: its budget allows nothing, since one of its pods
 * finds no node. */
static void block(struct scene *s, unsigned nodes, unsigned pod) {
    unsigned app = fleet_app(nodes, 0, pod), ns = app % FLEET_NAMESPACES;
    put(s, &kind_pdb,
        dw_make(&s->w, &kind_pdb,
                "{'metadata':{'namespace':'ns%u','name':'b%u','uid':'b%u','resourceVersion':"
                "'900000001'},'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'a%u'}}},"
                "'status':{'disruptionsAllowed':0,'currentHealthy':30,'desiredHealthy':30,"
                "'expectedPods':31}}",
                ns, app, app, app));
    put(s, &kind_pod,
        dw_make(&s->w, &kind_pod,
                "{'metadata':{'namespace':'ns%u','name':'new-%u','uid':'new-%u','resourceVersion':"
                "'900000002','labels':{'app':'a%u'},'creationTimestamp':'2026-01-01T00:00:00Z',"
                "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'rs%u',"
                "'uid':'rs%u','controller':true}]},'spec':{'containers':[{'name':'c','image':'app',"
                "'resources':{'requests':{'cpu':'%u','memory':'1Gi'}}}]},'status':{'phase':"
                "'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
                "'Unschedulable','message':'0/%u nodes are available: %u Insufficient cpu.'}]}}",
                ns, app, app, app, app, app, 33 + pod, nodes, nodes));
    put(s, &kind_replica_set,
        dw_make(&s->w, &kind_replica_set,
                "{'metadata':{'namespace':'ns%u','name':'rs%u','uid':'rs%u','resourceVersion':"
                "'900000003','ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':"
                "'d%u','uid':'d%u','controller':true}]},'spec':{'replicas':31}}",
                ns, app, app, app, app));
    put(s, &kind_deployment,
        dw_make(&s->w, &kind_deployment,
                "{'metadata':{'namespace':'ns%u','name':'d%u','uid':'d%u','resourceVersion':"
                "'900000004'},'spec':{'replicas':31}}",
                ns, app, app));
}

/* As who reads the whole cluster makes it (cli/why_read.c). */
static struct fit *picture(const struct scene *s) {
    struct fit *fit = fit_new(s->w.pool);
    const struct object *obj;
    size_t n;
    _cleanup_free_ const struct object **nodes = store_sorted(s->w.c.nodes, &n);
    for (size_t i = 0; i < n; i++)
        fit_put_node(fit, (const struct node *)nodes[i]);
    for (uint32_t i = 0; (obj = store_next(s->w.c.pods, &i));)
        fit_put_pod(fit, (const struct pod *)obj);
    return fit;
}

/* As cli/why_read.c keeps them. */
static struct store *keep_waiting(struct scene *s) {
    const struct object *obj;
    struct store *kept = store_new(&kind_pod, s->w.pool);
    for (uint32_t i = 0; (obj = store_next(s->w.c.pods, &i));)
        if (waiting_for_node((const struct pod *)obj))
            store_put(kept, object_copy(&kind_pod, obj));
    return kept;
}

static void scene_init(struct scene *s, unsigned nodes, bool blocked) {
    dw_init(&s->w);
    fleet_build(&s->w, nodes);
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        s->stores[i] = store_new(more[i], s->w.pool);
    for (unsigned k = 0; blocked && k < FLEET_PODS; k++)
        block(s, nodes, k);
    s->world = (struct why_world){.nodes = s->w.c.nodes,
                                  .pods = s->w.c.pods,
                                  .budgets = s->w.c.budgets,
                                  .pods_by_node = store_index(s->w.c.pods, store_key_node),
                                  .pdbs = s->w.c.pdbs,
                                  .replica_sets = store_of(s, &kind_replica_set),
                                  .stateful_sets = store_of(s, &kind_stateful_set),
                                  .deployments = store_of(s, &kind_deployment),
                                  .daemon_sets = store_of(s, &kind_daemon_set),
                                  .namespaces = store_of(s, &kind_namespace),
                                  .volumes = store_of(s, &kind_pv),
                                  .claims = store_of(s, &kind_pvc),
                                  .attachments = store_of(s, &kind_volume_attachment),
                                  .events = store_of(s, &kind_event),
                                  .ask = ask,
                                  .arg = s,
                                  .now = s->w.now.wall,
                                  .waiting = keep_waiting(s),
                                  .room = true};
}

int main(int argc, char **argv) {
    unsigned nodes = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    bool blocked = argc == 3 && streq(argv[1], "blocked");
    if (!nodes || (!blocked && !streq(argv[1], "free"))) {
        fprintf(stderr, "usage: why blocked|free NODES\n");
        return 64;
    }
    struct scene s;
    struct why why;
    struct arena arena = ARENA_INIT;
    double least = 0;
    scene_init(&s, nodes, blocked);
    double begun = cpu_seconds();
    s.world.fit = picture(&s);
    double drawn = cpu_seconds() - begun, first = 0;
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(&arena);
        begun = cpu_seconds();
        why_node(&s.world, "node-0", &arena, &why);
        double took = cpu_seconds() - begun;
        first = i ? first : took;
        least = i && least < took ? least : took;
    }
    printf("{\"situation\":\"%s\",\"nodes\":%u,\"pods\":%zu,\"picture_ms\":%.1f,\"first_ms\":%.1f,"
           "\"why_ms\":%.1f,\"links\":%zu,\"state\":\"%s\",\"summary\":\"%s\"}\n",
           argv[1], nodes, store_len(s.w.c.pods), drawn * 1e3, first * 1e3, least * 1e3,
           why.n_links, why_state_word(why.state), why.summary);
    arena_done(&arena);
    fit_free(s.world.fit);
    store_free(s.world.waiting);
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        store_free(s.stores[i]);
    dw_done(&s.w);
    return 0;
}
