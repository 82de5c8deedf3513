/* Where the pods of each node would go if that node alone were drained, and which budgets that
 * would leave dry. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/budget.h"
#include "engine/lint_internal.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/rules.h"

enum {
    /* Questions about a node, in pods that fit nowhere: a cluster that is full and large would take
     * minutes. Those of nodes that come after are not asked. */
    QUESTIONS_MAX = 8000000,
    /* Workloads whose reasons are told in the scheduler's words: each takes as long as asking every
     * node, with all rules. */
    EXPLAINED_MAX = 64,
    /* Pods times nodes up to which the scheduler's place is looked for rather than any: as in a
     * plan (engine/plan_room.c), of all nodes. */
    CAREFUL_MAX = 4000000,
};

struct room {
    struct linting *l;
    struct moveout_stores stores;
    struct moveout out;
    bool careful; /* the cluster is small: the scheduler's place is looked for in any case */
    size_t explained;
    VEC(const struct pod *) pods; /* of the node at hand */
};

/* What the drain leaves alone, and what nobody makes again, needs no place. */
static bool will_look(struct room *r, const struct pod *pod, const struct rule_verdict *rule) {
    struct lint_owner owner;
    if (pod_role(pod) != POD_MOVES || !pod->spec || rule->action == RULE_SKIP ||
        lint_terminating(r->l, pod))
        return false;
    lint_owner_of(r->l, pod, &owner);
    if (!owner.pinned && moveout_unread(&r->stores, pod))
        lint_note(r->l, LINT_UNREAD, owner.key, pod, NULL, 0);
    return !owner.pinned && moveout_judged(&r->stores, pod) && !lint_doubt(r->l, pod);
}

/* What something else keeps from going needs its place when that is mended, and until then takes
 * none away from others. */
static void add(struct room *r, const struct pod *pod) {
    struct rule_verdict rule;
    size_t n;
    rules_apply(r->l->rules, pod, &rule);
    if (!will_look(r, pod, &rule))
        return;
    const struct pdb *const *pdbs = pdbs_of_pod(r->l->in->pdbs, pod, &n);
    bool goes = budget_for_pod(pod, pdbs, n, &r->l->budget_owners) == BUDGET_ALLOWS &&
                rule.action != RULE_HOLD && rule.action != RULE_WAIT;
    struct moveout_pod *added =
        moveout_add(&r->out, pod, goes ? moveout_budget(pod, pdbs, n) : NULL);
    added->last = !goes;
    added->unmade = lint_is_unmade(r->l, pod);
}

static void note_homeless(struct room *r, const struct moveout_pod *p) {
    struct lint_owner owner;
    if (lint_on_disk(r->l, p->pod)) /* it is known for that already */
        return;
    lint_owner_of(r->l, p->pod, &owner);
    struct bucket *b = lint_note(r->l, LINT_NO_ROOM, owner.key, p->pod, NULL, 0);
    if (b->why)
        return;
    if (r->explained++ >= EXPLAINED_MAX) {
        b->why = "no other node fits its pods";
        r->l->unexplained++;
        return;
    }
    struct pod next = moveout_successor(p->pod);
    _cleanup_str_ struct str why = STR_INIT;
    fit_explain(r->out.fit, &next, &why);
    b->why = moveout_words(r->l->arena, str_get(&why));
}

static struct bucket *note_budget(struct room *r, enum lint_cause cause,
                                  const struct moveout_pod *p) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(r->l->in->pdbs, p->pod, &n);
    return lint_note(r->l, cause, p->budget, p->pod, pdbs, n);
}

static void note_dry(struct room *r, const struct moveout_pod *p) {
    struct bucket *b = note_budget(r, p->lucky ? LINT_CHANCE : LINT_DRY, p);
    const struct moveout_pod *keeper = moveout_keeper(&r->out, p->budget);
    if ((!b->why || b->luck) && keeper) {
        b->why = strna(keeper->pod->meta.name);
        b->unmade = keeper->unmade;
        b->luck = false;
    }
}

/* Nothing is kept, as it was played. */
static void note_luck(struct room *r) {
    const struct pod *winner, *loser;
    for (size_t i = 0; i < r->out.left.len; i++) {
        const struct pdb *budget = r->out.left.p[i].budget;
        if (!moveout_chance(&r->out, budget, &winner, &loser))
            continue;
        for (size_t k = 0; k < r->out.pods.len; k++) {
            const struct moveout_pod *p = &r->out.pods.p[k];
            if (p->budget != budget || !p->waited)
                continue;
            struct bucket *b = note_budget(r, LINT_CHANCE, p);
            if (b->why)
                continue;
            b->why = arena_printf(r->l->arena, MOVEOUT_LUCK, strna(winner->meta.name),
                                  strna(loser->meta.name));
            b->luck = true;
        }
        return; /* one is enough to say that it is chance, as in a plan */
    }
}

static size_t count(const struct room *r, enum moveout_end end) {
    size_t n = 0;
    for (size_t i = 0; i < r->out.pods.len; i++)
        n += r->out.pods.p[i].end == end;
    return n;
}

/* The first place that fits is not the scheduler's: what finds none so is looked at as a plan of
 * the node does it. Where all nodes are looked at so there is nothing to be done. */
static void play(struct room *r, const struct node *node) {
    moveout_play(&r->out, node);
    if (r->careful || !(count(r, MOVEOUT_HOMELESS) + count(r, MOVEOUT_STAYS)))
        return;
    moveout_rewind(&r->out);
    r->out.careful = true;
    moveout_play(&r->out, node);
    r->out.careful = false;
}

static void look_at_node(struct room *r, const struct node *node) {
    size_t n;
    const struct object *const *pods = store_find(r->l->in->pods, r->l->in->pods_by_node,
                                                  (struct store_key){node->meta.name, NULL}, &n);
    r->pods.len = 0;
    for (size_t i = 0; i < n; i++)
        *vec_push(&r->pods) = (const struct pod *)pods[i];
    /* Who comes first decides who is left without: the same each time. */
    if (n)
        qsort(r->pods.p, n, sizeof r->pods.p[0], pod_compare);
    for (size_t i = 0; i < n; i++)
        add(r, r->pods.p[i]);
    if (!r->out.pods.len)
        return;
    play(r, node);
    for (size_t i = 0; i < r->out.pods.len; i++) {
        const struct moveout_pod *p = &r->out.pods.p[i];
        if (p->end == MOVEOUT_HOMELESS && !p->unmade)
            note_homeless(r, p);
        else if (p->end == MOVEOUT_STAYS)
            note_dry(r, p);
    }
    if (!count(r, MOVEOUT_STAYS) && count(r, MOVEOUT_HOMELESS))
        note_luck(r);
    moveout_undo(&r->out);
}

void lint_look_for_room(struct linting *l) {
    const struct lint_input *in = l->in;
    struct room r = {.l = l,
                     .stores = {.nodes = in->nodes,
                                .pods = in->pods,
                                .namespaces = in->namespaces,
                                .volumes = in->volumes,
                                .claims = in->claims,
                                .classes = in->classes,
                                .csi_nodes = in->csi_nodes,
                                .attachments = in->attachments,
                                .now = in->now}};
    size_t n;
    r.out = (struct moveout){.fit = fit_new(in->pool),
                             .stores = &r.stores,
                             .least_priority = moveout_least_priority(in->pods)};
    r.careful = r.out.careful = store_len(in->pods) * store_len(in->nodes) <= CAREFUL_MAX;
    l->rough = !r.careful;
    moveout_fill(r.out.fit, &r.stores);
    moveout_wait(&r.out, in->pods);
    /* By name: which nodes are asked first goes by their order, and a store has none. */
    _cleanup_free_ const struct object **nodes = store_sorted(in->nodes, &n);
    for (size_t i = 0; i < n && r.out.questions < QUESTIONS_MAX; i++) {
        look_at_node(&r, (const struct node *)nodes[i]);
        l->roomed++;
    }
    vec_done(&r.pods);
    moveout_done(&r.out);
    fit_free(r.out.fit);
}
