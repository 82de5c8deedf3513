/* What is said of each pod and node when the drain has been played through. */
#include <stdlib.h>
#include <string.h>

#include "engine/attached.h"
#include "engine/budget.h"
#include "engine/moveout.h"
#include "engine/plan_internal.h"
#include "engine/podrole.h"
#include "engine/trouble.h"

/* The name of that pod; NULL: all are well. */
static const char *add_trouble(struct planning *g, const struct pdb *pdb, struct str *out) {
    size_t n;
    const char *name = NULL;
    const struct pod **pods = pdbs_pods(g->in->cluster->pdbs, pdb, &n);
    _cleanup_str_ struct str words = STR_INIT;
    for (size_t i = 0; i < n; i++)
        if (pod_trouble(pods[i], &words)) {
            name = pods[i]->meta.name;
            str_addf(out, "; %s %s", name, str_get(&words));
            break;
        }
    free(pods);
    return name;
}

/* How a pod or a node that was given up ended; "" of any other. */
static const char *given_up(struct planning *g, const struct ppod *p) {
    char limit[TIMEFMT_LEN];
    const struct pnode *n = &g->nodes.p[p->node];
    if (p->overdue)
        return arena_printf(g->arena, "the deadline of rule %s is %s", p->rule,
                            duration_format_limit(p->deadline, limit));
    if (n->state != PNODE_LATE)
        return "";
    if (n->overdue)
        return "its node is given up because of others, whose deadline has passed";
    return arena_printf(g->arena, "its node is given up after %s",
                        duration_format_limit(g->in->opts->timeout, limit));
}

/* --- StatefulSets that make one after the other --- */

/* The pod that is to be made first, when that fits nowhere; NULL. */
static const struct ppod *first_homeless(const struct planning *g, const struct pmember *m) {
    for (size_t i = 0; m->now == MEMBER_COMES && i < g->pods.len; i++) {
        const struct ppod *p = &g->pods.p[i];
        if (p->set && p->homeless && &p->set->members.p[p->member] == m)
            return p;
    }
    return NULL;
}

static const char *unmade_words(struct planning *g, const struct pmember *m) {
    const char *name = strna(m->pod->meta.name);
    const struct ppod *first = first_homeless(g, m);
    const char *why = first                     ? MOVEOUT_KEPT(first->unmade)
                      : m->now == MEMBER_LEAVES ? "does not get away"
                      : m->now == MEMBER_GONE   ? "is not made again"
                                                : "is not ready";
    return arena_printf(g->arena, "its replacement is made after %s, which %s", name, why);
}

static void judge_unmade(struct planning *g, struct ppod *p, const struct pmember *m) {
    const struct ppod *first = first_homeless(g, m);
    plan_judge(p, PLAN_HOMELESS, BLOCKER_NOT_RESCHEDULED, plan_full_name(g, &m->pod->meta),
               unmade_words(g, m));
    if (first && !first->unmade)
        p->pub->blocker.help = room_help(g->room, first->pod, g->arena, &p->pub->blocker.helped);
}

/* --- budgets --- */

/* The pod whose replacement does not run and so keeps what it had of the budget; NULL. */
static const struct ppod *keeper(const struct planning *g, const struct pbudget *b) {
    const struct ppod *p = b->homeless >= 0 ? &g->pods.p[b->homeless] : NULL;
    if (!p || (!p->homeless && !plan_set_keeper(g, p))) /* it found a place in the end */
        return NULL;
    return p;
}

/* The real pod, of one that came to a node which was drained later. */
static const struct ppod *original(const struct planning *g, const struct ppod *p) {
    return p->own_copy ? &g->pods.p[p->origin] : p;
}

/* Of a budget of which something is kept for ever: the one that has no room; else NULL. */
static const struct ppod *without_room(const struct planning *g, const struct ppod *keeper) {
    const struct pmember *before = keeper && !keeper->homeless ? plan_set_keeper(g, keeper) : NULL;
    return before ? first_homeless(g, before) : keeper;
}

static void end_budget(struct planning *g, struct pbudget *b, const struct ppod *keeper) {
    _cleanup_str_ struct str words = STR_INIT;
    const struct ppod *homeless = without_room(g, keeper);
    str_add(&words, plan_budget_words(g, b));
    b->end_pod = keeper ? original(g, keeper)->pod->meta.name : add_trouble(g, b->pdb, &words);
    if (keeper && keeper->homeless)
        str_addf(&words, "; the replacement of %s %s", b->end_pod, MOVEOUT_KEPT(keeper->unmade));
    else if (keeper)
        str_addf(&words, "; of %s %s", b->end_pod, unmade_words(g, plan_set_keeper(g, keeper)));
    b->luck = homeless && !g->tries ? plan_luck(g, b, homeless) : 0; /* else that has been seen */
    if (b->luck)
        str_add(&words, MOVEOUT_BY_CHANCE);
    b->end_words = arena_strndup(g->arena, str_get(&words), words.len);
    if (!homeless)
        return;
    if (homeless->unmade) {
        b->end_help = homeless->unmade->text;
        return;
    }
    bool whole;
    const char *help = room_help(g->room, original(g, homeless)->pod, g->arena, &whole);
    int32_t waiting = plan_still_waiting(g, b);
    if (str_empty(help))
        help = waiting > 1 ? "add nodes" : "add a node";
    else if (waiting > 1 && !whole) /* each that goes then needs a place as well */
        help = arena_printf(g->arena, "%s for the first of %d", help, 1 + waiting);
    b->end_help = arena_printf(g->arena, "until there is room for the replacement: %s", help);
}

/* Whether it may get away all the same. Pods are told node by node; each node may have all the
 * luck that there is. */
static bool is_lucky(struct pbudget *b, const struct ppod *p) {
    if (b->told_node != p->node)
        b->told = 0;
    b->told_node = p->node;
    return b->told++ < b->luck;
}

/* A pod that was still waiting at the end. */
static void end_waiting(struct planning *g, struct ppod *p) {
    struct pbudget *b = p->budget >= 0 ? g->budgets.p[p->budget] : NULL;
    const char *late = given_up(g, p);
    if (!b) {
        plan_judge(p, PLAN_UNSURE, BLOCKER_MAX_UNAVAILABLE, "", "its turn does not come");
        return;
    }
    const struct guard *guard = guard_of(b->pdb, p->pod);
    if (guard) { /* what its numbers come to is not what becomes of it */
        plan_judge_guard(p, guard, b->name);
        return;
    }
    const struct ppod *kept = keeper(g, b);
    if (!b->end_words)
        end_budget(g, b, kept);
    plan_judge(p, without_room(g, kept) && !is_lucky(b, p) ? PLAN_NEVER : PLAN_UNSURE,
               BLOCKER_PDB_NO_BUDGET, b->name,
               *late ? arena_printf(g->arena, "%s; %s", b->end_words, late) : b->end_words);
    p->pub->blocker.help = b->end_help;
    p->pub->blocker.pod = b->end_pod;
}

/* What keeps nodes from their turn at the end: places, or zones when there are places left. */
static enum blocker_code turn_code(const struct planning *g) {
    unsigned out = 0;
    for (size_t i = 0; i < g->nodes.len; i++)
        out += g->nodes.p[i].state == PNODE_OUT;
    return g->in->opts->max_zones && out < g->limit ? BLOCKER_MAX_ZONES : BLOCKER_MAX_UNAVAILABLE;
}

/* Its turn had not come when somebody before it did not get through. */
static void end_queued(struct planning *g, struct ppod *p) {
    const struct pnode *n = &g->nodes.p[p->node];
    plan_judge(p, PLAN_UNSURE, n->state == PNODE_WAITS ? turn_code(g) : BLOCKER_MAX_UNAVAILABLE,
               n->pub->name,
               n->state == PNODE_WAITS  ? "its node does not get its turn: others keep theirs"
               : n->state == PNODE_LATE ? given_up(g, p)
                                        : "pods that go before it do not");
}

/* Nobody needs to look for room then. A volume of a zone moves within that, and what it finds there
 * or not is room. */
const struct pv *plan_local_volume(const struct planning *g, const struct pod *pod) {
    const struct plan_input *in = g->in;
    for (size_t i = 0; in->claims && in->volumes && pod->spec && i < list_len(pod->spec->volumes);
         i++) {
        const struct volume *v = &pod->spec->volumes[i];
        const struct pvc *c =
            v->claim ? (const struct pvc *)store_get(in->claims, pod->meta.ns, v->claim->claim)
                     : NULL;
        const struct pv *pv =
            c ? (const struct pv *)store_get(in->volumes, NULL, strna(c->volume_name)) : NULL;
        if (pv && volume_is_local(pv))
            return pv;
    }
    return NULL;
}

static void judge_homeless(struct planning *g, struct ppod *p, const char *name) {
    if (p->unmade) {
        plan_judge(p, PLAN_HOMELESS, p->unmade->code,
                   arena_printf(g->arena, "%s/%s", p->unmade->ns, p->unmade->name),
                   p->unmade->text);
        p->pub->blocker.help = p->unmade->help;
        return;
    }
    if (guard_is_on_disk(p->pod)) {
        plan_judge(p, PLAN_HOMELESS, BLOCKER_LOCAL_PV, name, GUARD_ON_DISK);
        return;
    }
    const struct pv *pv = plan_local_volume(g, p->pod);
    const char *why = room_why(g->room, p->pod, g->arena);
    if (pv)
        why = arena_printf(g->arena, "its volume %s is on this node alone; %s", pv->meta.name, why);
    plan_judge(p, PLAN_HOMELESS, pv ? BLOCKER_LOCAL_PV : BLOCKER_NO_ROOM, name, why);
    if (!pv)
        p->pub->blocker.help = room_help(g->room, p->pod, g->arena, &p->pub->blocker.helped);
}

/* It leaves, but not in the time that its node has. */
static bool is_too_slow(const struct planning *g, const struct ppod *p) {
    const struct pnode *n = &g->nodes.p[p->node];
    return p->overdue || (n->state == PNODE_LATE && g->in->opts->timeout > 0 &&
                          p->gone - n->begins >= g->in->opts->timeout);
}

static void judge_slow(struct planning *g, struct ppod *p) {
    char needs[TIMEFMT_LEN], first[TIMEFMT_LEN];
    int64_t waits = p->evicted - (p->overdue ? p->first : g->nodes.p[p->node].begins);
    const char *begins =
        waits > 0 ? arena_printf(g->arena, "goes after %s, ", duration_format_limit(waits, first))
                  : "";
    plan_judge(p, PLAN_UNSURE, BLOCKER_TERMINATING_STUCK, plan_full_name(g, &p->pod->meta),
               arena_printf(g->arena, "it %s%s %s to stop%s, and %s", begins,
                            p->leaves_at >= 0 ? "has" : "may need",
                            duration_format_limit(p->gone - p->evicted, needs),
                            p->leaves_at >= 0 ? ""
                            : p->d.stop_seen  ? " (as in earlier drains)"
                                              : " (assumed)",
                            given_up(g, p)));
    p->pub->blocker.help = p->overdue ? "give it more time: `deadline` of the rule"
                                      : "give the drain more time: --timeout";
}

/* It waits for its second replica still. */
static void judge_raised(struct planning *g, struct ppod *p) {
    const char *late = given_up(g, p);
    const char *why =
        !p->homeless ? "is not ready in time"
        : p->unmade  ? arena_printf(g->arena, "is not made: %s", p->unmade->text)
                     : arena_printf(g->arena, "fits nowhere: %s",
                                    moveout_words(g->arena, room_why(g->room, p->pod, g->arena)));
    plan_judge(p, p->homeless && g->tries && !*late ? PLAN_NEVER : PLAN_UNSURE,
               BLOCKER_SURGE_PENDING, plan_full_name(g, &p->pod->meta),
               arena_printf(g->arena, "with --surge a second replica comes first, which %s%s%s",
                            why, *late ? "; " : "", late));
    if (p->homeless)
        p->pub->blocker.help =
            p->unmade ? p->unmade->help : room_help(g->room, p->pod, g->arena, NULL);
    p->pub->back = PLAN_NO_TIME;
    p->pub->to = NULL;
}

static bool has_claims(const struct pod *pod) {
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++)
        if (pod->spec->volumes[i].claim || pod->spec->volumes[i].ephemeral)
            return true;
    return false;
}

static bool is_unknown(const struct ppod *p) {
    return moveout_placed_by_other(p->pod) || p->doubt;
}

/* A pod of the budget that went before this one, and of whose replacement nobody knows whether it
 * runs: so nobody knows either whether the budget gets back what it took. */
static const struct ppod *unknown_before(const struct planning *g, const struct ppod *p) {
    const struct pbudget *b = g->budgets.p[p->budget];
    for (size_t i = 0; i < b->all.len; i++) {
        const struct ppod *o = &g->pods.p[b->all.p[i]];
        if (o != p && o->back != BACK_NEVER && !o->unmade && o->evicted >= 0 &&
            o->evicted < p->evicted && is_unknown(o))
            return o;
    }
    return NULL;
}

static const char *unknown_why(const struct planning *g, const struct ppod *p) {
    return moveout_placed_by_other(p->pod)
               ? arena_printf(g->arena, "scheduler %s places it", p->pod->spec->scheduler)
               : p->doubt;
}

static void judge_waited(struct planning *g, struct ppod *p) {
    struct pbudget *b = g->budgets.p[p->budget];
    const struct ppod *o = unknown_before(g, p);
    plan_judge(p, o ? PLAN_UNSURE : PLAN_WAITS, BLOCKER_PDB_NO_BUDGET, b->name,
               plan_budget_words(g, b));
    if (!o)
        return;
    p->pub->blocker.message =
        arena_printf(g->arena,
                     "%s; whether the replacement of %s runs, and gives back what it took, is not "
                     "known: %s",
                     p->pub->blocker.message, strna(o->pod->meta.name), unknown_why(g, o));
    p->pub->evicted = p->pub->gone = p->pub->back = PLAN_NO_TIME;
}

static void judge_surged(struct planning *g, struct ppod *p) {
    bool unknown = is_unknown(p);
    plan_judge(p, unknown ? PLAN_UNSURE : PLAN_WAITS, BLOCKER_SURGE_PENDING,
               plan_full_name(g, &p->pod->meta),
               unknown ? arena_printf(g->arena,
                                      "with --surge a second replica comes first, and whether "
                                      "there is room for it is not known: %s",
                                      unknown_why(g, p))
                       : "with --surge a second replica comes first");
    if (unknown)
        p->pub->evicted = p->pub->gone = p->pub->back = PLAN_NO_TIME;
}

static void tell_pod(struct planning *g, struct ppod *p) {
    struct plan_pod *pub = p->pub;
    pub->evicted = p->evicted;
    pub->gone = p->gone;
    pub->back = p->returned;
    pub->to = p->to;
    g->out->assumed += !p->d.seen;
    g->out->stops_seen += p->d.stop_seen;
    g->out->stops_assumed += !p->d.stop_seen;
    g->out->attached += has_claims(p->pod);
    if (p->unsure)
        return;
    if (p->leaves_at >= 0 && g->nodes.p[p->node].pub->finding) {
        pub->gone = p->leaves_at; /* nobody has to do anything for that */
    } else if (p->state == PPOD_WAITS && p->raised && !p->there) {
        judge_raised(g, p);
    } else if (p->state == PPOD_WAITS) {
        end_waiting(g, p);
    } else if (p->state == PPOD_LEAVING && p->finalizer) {
        plan_judge(p, PLAN_UNSURE, BLOCKER_FINALIZER_STUCK, plan_full_name(g, &p->pod->meta),
                   arena_printf(g->arena, PLAN_FINALIZER, p->finalizer));
    } else if (p->state != PPOD_GONE) {
        end_queued(g, p);
    } else if (is_too_slow(g, p)) {
        judge_slow(g, p);
    } else if (plan_set_keeper(g, p)) {
        judge_unmade(g, p, plan_set_keeper(g, p));
    } else if (p->homeless) {
        judge_homeless(g, p, plan_full_name(g, &p->pod->meta));
    } else if (p->waited && !p->rated) {
        judge_waited(g, p);
    } else if (p->raised) {
        judge_surged(g, p);
    }
}

static int compare_nodes(const void *a, const void *b) {
    const struct pnode *x = *(const struct pnode *const *)a, *y = *(const struct pnode *const *)b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return strcmp(x->pub->name, y->pub->name);
}

/* As they begin: who carries it out keeps that order, and of several that begin at the same moment
 * only the one that was taken first may have made way for the next. Those that never begin come
 * last. */
static void sort_nodes(struct planning *g) {
    size_t n = g->nodes.len;
    const struct pnode **order = xcalloc(n + 1, sizeof *order);
    struct plan_node *sorted = arena_alloc(g->arena, (n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        order[i] = &g->nodes.p[i];
    qsort(order, n, sizeof *order, compare_nodes);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *order[i]->pub;
    g->out->nodes = sorted;
    free(order);
}

/* That a successor which had to go once more finds no room is told of the pod. That it does not get
 * away again is nothing to the pod, which has gone: the node that it came to is not done. */
static void tell_successor(struct planning *g, const struct ppod *p) {
    struct plan_pod *pub = g->pods.p[p->origin].pub;
    struct ppod as = *p;
    as.pub = pub;
    if (p->state != PPOD_GONE || pub->verdict >= PLAN_HOMELESS)
        return;
    if (plan_set_keeper(g, p))
        judge_unmade(g, &as, plan_set_keeper(g, p));
    else if (p->homeless)
        judge_homeless(g, &as, plan_full_name(g, &pub->pod->meta));
    else
        return;
    pub->back = PLAN_NO_TIME;
    pub->to = NULL;
}

/* --- nodes --- */

void plan_blame(struct pnode *n, enum plan_verdict verdict, struct plan_blocker why) {
    n->pub->blocker = why;
    n->pub->itself = verdict;
    n->ends = PLAN_NO_TIME;
}

const struct plan_pod *plan_worst(const struct pnode *n) {
    static const struct plan_pod none = {.verdict = PLAN_STAYS};
    const struct plan_pod *worst = &none;
    for (size_t k = 0; k < n->pub->n_pods; k++)
        if (n->pub->pods[k].verdict > worst->verdict)
            worst = &n->pub->pods[k];
    return worst;
}

/* No pod of the node says why it is not done: one that came later does, or its turn. */
static void tell_stuck(struct planning *g, struct pnode *n) {
    struct plan_pod said = {.verdict = PLAN_GOES};
    for (size_t i = n->own; i < n->pods.len && said.verdict < PLAN_UNSURE; i++) {
        struct ppod as = g->pods.p[n->pods.p[i]];
        as.pub = &said;
        if (as.state == PPOD_WAITS)
            end_waiting(g, &as);
        else if (as.state != PPOD_GONE)
            end_queued(g, &as);
        else if (is_too_slow(g, &as))
            judge_slow(g, &as);
        if (said.verdict < PLAN_UNSURE)
            continue;
        said.blocker.message =
            arena_printf(g->arena, "the replacement of %s comes here and does not get away: %s",
                         original(g, &as)->pod->meta.name, said.blocker.message);
    }
    if (said.verdict < PLAN_UNSURE)
        said.blocker = (struct plan_blocker){
            .code = n->state == PNODE_WAITS ? turn_code(g) : BLOCKER_MAX_UNAVAILABLE,
            .object = "",
            .message = n->state == PNODE_WAITS ? "its turn does not come: others keep theirs"
                                               : "it is not done in the time that it has",
            .help = ""};
    plan_blame(n, PLAN_UNSURE, said.blocker); /* it may as well go elsewhere */
}

/* Replacements of which nobody has looked whether there is room: what is not known is not well. */
static void tell_unread(struct planning *g, struct pnode *n) {
    const struct ppod *first = NULL;
    size_t pods = 0;
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (!p->copy || p->to || p->homeless || !room_unread(g->room, p->pod))
            continue;
        first = first ? first : p;
        pods++;
    }
    if (!first)
        return;
    plan_blame(n, PLAN_UNSURE,
               (struct plan_blocker){
                   .code = BLOCKER_FORBIDDEN,
                   .object = plan_full_name(g, &first->pod->meta),
                   .message = arena_printf(g->arena, MOVEOUT_UNREAD, pods, pods == 1 ? "" : "s"),
                   .help = MOVEOUT_UNREAD_HELP});
}

static const struct pv *volume_of(void *arg, const char *name) {
    return (const struct pv *)store_get(arg, NULL, name);
}

/* What a drain waits for when the last pod has gone, and is there now: volumes that do not get off
 * the node, what a check has against calling it drained. */
static void tell_the_end(struct planning *g, struct pnode *n) {
    const struct plan_input *in = g->in;
    const struct check_finding *f = n->pub->n_later ? n->pub->later[0] : NULL;
    struct attached left = {0};
    size_t count = 0, pods = 0;
    if (f && f->verdict == CHECK_WAIT) {
        plan_blame(n, PLAN_UNSURE,
                   (struct plan_blocker){
                       .code = f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code,
                       .object = plan_finding_object(g, f),
                       .message = arena_printf(g->arena, PLAN_AT_THE_END ": %s: %s", f->check->name,
                                               strna(f->evidence)),
                       .help = strna(f->hint)});
        return;
    }
    if (!in->cluster->attachments_known || !in->volumes || in->opts->detach_timeout)
        return;
    const struct pod *const *on = cluster_pods_on(in->cluster, n->pub->name, &pods);
    const struct volume_attachment *const *list =
        cluster_attached_to(in->cluster, n->pub->name, &count);
    for (size_t i = 0; i < count; i++)
        if (attached_is_stuck(list[i], n->pub->node, g->begun_at))
            attached_add(&left, list[i], on, pods, volume_of, (void *)in->volumes);
    if (!left.first)
        return;
    _cleanup_str_ struct str words = STR_INIT;
    attached_explain(&left, &words);
    plan_blame(n, PLAN_UNSURE,
               (struct plan_blocker){
                   .code = BLOCKER_VOLUME_ATTACHED,
                   .object = strna(left.first->meta.name),
                   .message = arena_printf(g->arena, PLAN_AT_THE_END ": %s", str_get(&words)),
                   .help = blocker_row(BLOCKER_VOLUME_ATTACHED)->hint});
}

/* Pods of which nobody knows where they go, for one of the two reasons: the first of them, or NULL.
 */
static const struct ppod *unknown_of(const struct planning *g, const struct pnode *n, bool other,
                                     size_t *pods) {
    const struct ppod *first = NULL;
    *pods = 0;
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (p->back == BACK_NEVER || p->unmade || !is_unknown(p) ||
            moveout_placed_by_other(p->pod) != other)
            continue;
        first = first ? first : p;
        ++*pods;
    }
    return first;
}

/* Nothing is in the way of the drain: only that nobody knows where they go is to be said; unless it
 * waits for them. */
static void tell_unknown(struct planning *g, struct pnode *n) {
    size_t pods;
    const struct ppod *other = unknown_of(g, n, true, &pods);
    const struct ppod *first = other ? other : unknown_of(g, n, false, &pods);
    if (!first || n->pub->blocker.message)
        return;
    const char *s = pods == 1 ? "" : "s";
    n->pub->blocker = (struct plan_blocker){
        .code = other ? BLOCKER_OTHER_SCHEDULER : BLOCKER_ROOM_UNKNOWN,
        .object = plan_full_name(g, &first->pod->meta),
        .message = other
                       ? arena_printf(g->arena, MOVEOUT_OTHER, pods, s, first->pod->spec->scheduler)
                       : arena_printf(g->arena, MOVEOUT_BEYOND, pods, s, first->doubt),
        .help = ""};
    if (g->in->opts->wait_rescheduled)
        plan_blame(n, PLAN_UNSURE, n->pub->blocker);
}

/* With --wait-rescheduled: its pods have gone, and it is not done. */
static bool tell_unreturned(struct planning *g, struct pnode *n) {
    const struct ppod *p = n->left || !n->own ? NULL : plan_awaits(g, n);
    struct plan_blocker why;
    if (plan_unwell(g, n, &why)) {
        plan_blame(n, PLAN_UNSURE, why);
        return true;
    }
    if (!p || n->ends != PLAN_NO_TIME || n->state == PNODE_WAITS)
        return false;
    const char *late = given_up(g, p);
    const struct pmember *before = plan_set_keeper(g, p);
    const char *why_not = before ? arena_printf(g->arena, "does not: %s", unmade_words(g, before))
                          : p->homeless ? MOVEOUT_KEPT(p->unmade)
                                        : "does not in time";
    const struct plan_pod *pub = original(g, p)->pub;
    bool said = pub && pub->verdict == PLAN_HOMELESS;
    plan_blame(
        n, PLAN_UNSURE,
        (struct plan_blocker){.code = BLOCKER_NOT_RESCHEDULED,
                              .object = plan_full_name(g, &original(g, p)->pod->meta),
                              .message = arena_printf(
                                  g->arena,
                                  "with --wait-rescheduled it is drained when the replacement "
                                  "of %s runs, which %s%s%s",
                                  original(g, p)->pod->meta.name, why_not, *late ? "; " : "", late),
                              .help = said ? pub->blocker.help : ""});
    return true;
}

/* Whatever is shown of a node comes from here: its verdict is the worst of what is said of its
 * pods, of its checks and of itself; it has an end if and only if that is not worse than being
 * without room; and then the words are there that say why. */
static void tell_node(struct planning *g, struct pnode *n) {
    struct plan_node *pub = n->pub;
    enum plan_verdict verdict = MAX_OF(pub->itself, plan_finding_verdict(pub->finding));
    verdict = MAX_OF(verdict, plan_worst(n)->verdict);
    if (verdict < PLAN_UNSURE && g->in->opts->wait_rescheduled && tell_unreturned(g, n))
        verdict = pub->itself;
    else if (verdict < PLAN_UNSURE && n->ends == PLAN_NO_TIME)
        tell_stuck(g, n);
    else if (verdict < PLAN_UNSURE)
        tell_unread(g, n);
    if (!pub->blocker.message && !pub->finding)
        tell_the_end(g, n);
    tell_unknown(g, n);
    pub->verdict = MAX_OF(verdict, pub->itself);
    if (pub->verdict >= PLAN_UNSURE)
        n->ends = PLAN_NO_TIME;
    pub->begins = n->begins;
    pub->ends = n->ends;
    for (size_t k = 0; k < pub->n_pods; k++)
        pub->count[pub->pods[k].verdict]++;
}

static void add_up(struct planning *g) {
    struct plan *out = g->out;
    bool all = true;
    for (size_t i = 0; i < g->nodes.len; i++) {
        const struct plan_node *n = g->nodes.p[i].pub;
        for (int v = 0; v < PLAN_VERDICTS; v++)
            out->count[v] += n->count[v];
        all &= n->ends != PLAN_NO_TIME;
        out->drained = MAX_OF(out->drained, n->ends);
    }
    out->makespan = all ? out->drained : PLAN_NO_TIME;
    out->most_at_once = g->most;
}

void plan_tell(struct planning *g) {
    plan_luck_begin(g);
    for (size_t i = 0; i < g->own_pods; i++)
        tell_pod(g, &g->pods.p[i]);
    for (size_t i = g->own_pods; i < g->pods.len; i++)
        tell_successor(g, &g->pods.p[i]);
    plan_tell_luck(g);
    for (size_t i = 0; i < g->nodes.len; i++)
        tell_node(g, &g->nodes.p[i]);
    add_up(g);
    plan_luck_end(g);
    sort_nodes(g);
}
