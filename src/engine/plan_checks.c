/* What storage systems, databases and quorums say (engine/checks.h) to the nodes of a plan.
 *
 * Each node is asked about by itself first, beside those that are out already: what is in its way
 * then stays there. Nodes that could go alone but not all together are told apart by whether a node
 * that is done comes back: if it does, they go one after the other; if not, those go that can be
 * out together, and the others wait for them. */
#include "base/mem.h"
#include "engine/plan_internal.h"

enum { PASSES_MAX = 64 }; /* looks for nodes that can be out together; who is left over waits */

struct names {
    const char **p;
    size_t len, cap;
};

static void run(const struct planning *g, const struct names *going, bool alone,
                const struct names *out, struct checks *found) {
    checks_run(g->in->opts->checks,
               &(struct check_request){.going = going->p,
                                       .n_going = going->len,
                                       .alone = alone,
                                       .out = out->p,
                                       .n_out = out->len,
                                       .skip = g->in->opts->skip_checks,
                                       .now = g->begun_at},
               g->arena, found);
}

/* Nodes that somebody holds, but for those of the plan. */
static void held(const struct planning *g, struct names *out) {
    size_t n = 0;
    const char *const *all = checks_held(g->in->opts->checks->nodes, g->arena, &n);
    for (size_t i = 0; i < n; i++)
        if (!plan_node_find(g, all[i]))
            *vec_push(out) = all[i];
}

/* What stands in the way of the node's cordon. */
static bool objects(const struct check_finding *f) {
    return f->verdict != CHECK_PASS && f->when & CHECK_CORDON;
}

/* Each finding is looked at once, however many nodes there are. */
static void keep(struct planning *g, const struct checks *found) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < found->n; i++) {
            const struct check_finding *f = &found->list[i];
            struct pnode *n = objects(f) ? plan_node_find(g, f->node) : NULL;
            if (!n)
                continue;
            struct plan_node *pub = n->pub;
            if (!pass) {
                n->objections++;
                continue;
            }
            const struct check_finding **list = (const struct check_finding **)pub->findings;
            if (!list)
                pub->findings = list = arena_alloc(g->arena, n->objections * sizeof *list);
            list[pub->n_findings++] = f;
            pub->finding = pub->findings[0]; /* they come with the worst first */
        }
}

/* What a drain waits for when the last pod has gone: some of it ends because of the drain, and
 * nobody can tell when. And what nothing but the drain may be done against. */
static void keep_later(struct planning *g, const struct checks *found) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < found->n; i++) {
            const struct check_finding *f = &found->list[i];
            bool later =
                f->verdict != CHECK_PASS && !(f->when & CHECK_CORDON) && f->when & CHECK_OPERATION;
            struct pnode *n = later ? plan_node_find(g, f->node) : NULL;
            if (!n)
                continue;
            if (!pass) {
                n->later++;
                continue;
            }
            const struct check_finding **list = (const struct check_finding **)n->pub->later;
            if (!list)
                n->pub->later = list = arena_alloc(g->arena, n->later * sizeof *list);
            list[n->pub->n_later++] = f;
        }
}

/* In the order in which they are given: the first goes, and each that can go beside those before
 * it. */
static void choose(struct planning *g, const struct names *rest, const struct checks *together,
                   struct names *out) {
    for (size_t i = 0; i < rest->len; i++) {
        const char *name = rest->p[i];
        struct checks found = *together;
        if (i < PASSES_MAX)
            run(g, &(struct names){&name, 1, 1}, true, out, &found);
        const struct check_finding *worst = check_worst_finding(&found, name, CHECK_CORDON);
        keep(g, i < PASSES_MAX ? &found : &(struct checks){.list = worst, .n = 1});
        if (!plan_node_find(g, name)->pub->finding)
            *vec_push(out) = name;
    }
}

void plan_checks(struct planning *g) {
    struct names all = VEC_INIT, rest = VEC_INIT, out = VEC_INIT;
    struct checks alone, together;
    if (!g->in->opts->checks)
        return;
    held(g, &out);
    for (size_t i = 0; i < g->nodes.len; i++)
        *vec_push(&all) = g->nodes.p[i].pub->name;
    run(g, &all, true, &out, &alone);
    run(g, &all, false, &out, &together);
    keep(g, &alone);
    keep_later(g, &alone);
    for (size_t i = 0; i < g->nodes.len; i++) {
        struct pnode *n = &g->nodes.p[i];
        bool crowded =
            !n->pub->finding && check_worst(&together, n->pub->name, CHECK_CORDON) != CHECK_PASS;
        n->exclusive = crowded && g->in->opts->uncordon_when_done;
        if (crowded && !n->exclusive)
            *vec_push(&rest) = n->pub->name;
    }
    choose(g, &rest, &together, &out);
    vec_done(&all);
    vec_done(&rest);
    vec_done(&out);
}
