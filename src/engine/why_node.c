/* Why a node is not drained, or what a drain of it would meet. */
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "engine/podrole.h"
#include "engine/told.h"
#include "engine/why_internal.h"

/* --- who is at it --- */

static bool is_true(const struct node *node, const char *type, int64_t *since) {
    const struct node_condition *c = node_condition_find(node->conditions, type);
    bool yes = c && str_same(c->c.status, "True");
    if (yes && since)
        *since = c->c.changed;
    return yes;
}

static void look_at_holders(struct making *m) {
    struct cordon cordon;
    cordon_of(m->node, m->arena, &cordon);
    cordon_judge(m->node, m->w->now, &cordon);
    m->out->held_by = cordon_text(&cordon, m->arena);
    m->out->draining =
        m->node->unschedulable && is_true(m->node, "DrainInProgress", &m->out->draining_since);
}

/* A node that answers but says that it is not well; one that does not answer is told of with its
 * pods. */
static void look_at_health(struct making *m) {
    const struct node_condition *c = node_condition_find(m->node->conditions, "Ready");
    if (!c || !str_same(c->c.status, "False"))
        return;
    struct why_link *l =
        why_link_new(m, BLOCKER_NODE_NOT_READY, kind_node.name, m->node->meta.name,
                     arena_printf(m->arena, "the node is not Ready%s%s: its pods may not stop",
                                  str_empty(c->c.message) ? "" : ", ", strna(c->c.message)));
    l->since = c->c.changed;
    l->blocks = false;
    why_link_remedy(
        m, l, WHY_RISK_NONE, "look at the kubelet of the node",
        arena_printf(m->arena, "kubectl describe node %s", why_shell(m, m->node->meta.name)), NULL);
    *vec_push(&m->links) = l;
}

/* --- the sentence --- */

/* Pods that do not get away, or may not. */
static unsigned held(const struct why_counts *c) {
    return c->never + c->flag + c->wait + c->chance;
}

/* "2 of its 9 pods need a flag, 1 can never go, 3 wait". */
static void add_counts(const struct why_counts *c, bool now, struct str *out) {
    const struct {
        unsigned n;
        const char *one, *more;
        const char *which, *all; /* when it is so of all pods */
    } parts[] = {
        {c->flag, "needs a flag", "need a flag", "all", "need a flag"},
        {c->never, "can never go", "can never go", "none", "can ever go"},
        {c->chance, "goes only with luck", "go only with luck", "all", "go only with luck"},
        {c->wait, now ? "waits" : "cannot go now", now ? "wait" : "cannot go now",
         now ? "all" : "none", now ? "wait" : "can go now"},
    };
    unsigned pods = c->moves + c->leaving, told = 0;
    if (pods == 1) {
        size_t first = 0;
        while (!parts[first].n && first + 1 < ARRAY_LEN(parts))
            first++;
        str_addf(out, "its one pod %s", parts[first].one);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!parts[i].n)
            continue;
        if (parts[i].n == pods) {
            str_addf(out, "%s of its %u pods %s", parts[i].which, pods, parts[i].all);
            return;
        }
        str_addf(out, "%s%u ", told ? ", " : "", parts[i].n);
        if (!told++)
            str_addf(out, "of its %u pods ", pods);
        str_add(out, parts[i].n == 1 ? parts[i].one : parts[i].more);
    }
}

static void say_draining(struct making *m, const struct why_counts *c,
                         const struct check_finding *end, struct str *out) {
    char age[TIMEFMT_LEN];
    unsigned left = c->moves + c->leaving;
    str_add(out, "being drained");
    if (m->out->draining_since)
        str_addf(out, " for %s", duration_format(m->w->now - m->out->draining_since, age));
    if (*m->out->held_by)
        str_addf(out, " (%s)", m->out->held_by);
    str_add(out, ": ");
    if (m->out->no_pods)
        str_add(out, "which of its pods are left is not known");
    else if (held(c))
        add_counts(c, true, out);
    else if (left)
        str_addf(out, "%u pod%s to go, nothing holds %s up", left, left == 1 ? " has" : "s have",
                 left == 1 ? "it" : "them");
    else
        str_addf(out, "its pods are gone%s%s", end ? ", it waits for " : "",
                 end ? end->check->title : "");
}

static void say_homeless(struct making *m, const struct why_counts *c, unsigned pods,
                         struct str *out) {
    if (pods == 1)
        str_add(out, "a drain would leave its one pod without a node");
    else if (c->homeless == pods)
        str_addf(out, "a drain would leave all of its %u pods without a node", pods);
    else
        str_addf(out, "a drain would leave %u of its %u pods without a node", c->homeless, pods);
    str_add(out, c->luck ? ", and whether it ends is chance" : "");
    if (!m->w->room && c->homeless < pods)
        str_addf(out, "; whether the other%s find%s room is looked at with --room",
                 pods - c->homeless == 1 ? "" : "s", pods - c->homeless == 1 ? "s" : "");
}

static void say_unmade(struct making *m, const struct why_counts *c, unsigned pods,
                       struct str *out) {
    str_add(out, "a drain would end, but ");
    if (pods == 1)
        str_add(out, "its one pod is not made again");
    else if (c->unmade == pods)
        str_addf(out, "none of its %u pods is made again", pods);
    else
        str_addf(out, "%u of its %u pods %s not made again", c->unmade, pods,
                 c->unmade == 1 ? "is" : "are");
    if (!m->w->room && c->unmade < pods)
        str_addf(out, "; whether the other%s find%s room is looked at with --room",
                 pods - c->unmade == 1 ? "" : "s", pods - c->unmade == 1 ? "s" : "");
}

static void say_future(struct making *m, const struct why_counts *c, const struct why_gates *gates,
                       struct str *out) {
    const struct check_finding *f = gates->begin;
    unsigned pods = c->moves + c->leaving;
    if (m->node->unschedulable)
        str_addf(out, "cordoned (%s); ", m->out->held_by);
    if (f) {
        str_addf(out, "a drain would %s %s",
                 f->verdict == CHECK_DENY ? "be refused because of" : "wait for", f->check->title);
        if (m->out->no_pods)
            str_add(out, "; what else it would meet is not known: its pods cannot be read");
        if (!held(c))
            return;
        str_add(out, "; ");
        add_counts(c, false, out);
        return;
    }
    if (m->out->no_pods)
        str_add(out, "what a drain would meet is not known: its pods cannot be read");
    else if (!pods && m->node->unschedulable)
        str_add(out, "nothing is left to move");
    else if (!pods)
        str_add(out, "a drain has nothing to move");
    else if (!held(c) && c->homeless)
        say_homeless(m, c, pods, out);
    else if (!held(c) && c->unmade)
        say_unmade(m, c, pods, out);
    else if (!held(c) && m->no_budgets)
        str_addf(out,
                 "nothing forbids a drain as far as could be read: %u pod%s to move, and whether "
                 "budgets let %s go is not known",
                 pods, pods == 1 ? "" : "s", pods == 1 ? "it" : "them");
    else if (!held(c) && c->unknown)
        str_addf(out,
                 "nothing forbids a drain as far as could be read: %u pod%s to move, and whether "
                 "there is room for %s is not known",
                 pods, pods == 1 ? "" : "s", pods == 1 ? "it" : "all of them");
    else if (!held(c))
        /* Without room a drain may well not end: replacements that stay Pending use up budgets. */
        str_addf(out, "nothing forbids a drain: %u pod%s to move%s%s%s", pods, pods == 1 ? "" : "s",
                 m->w->room ? "" : ", if ",
                 m->w->room  ? ""
                 : pods == 1 ? "it finds"
                             : "they find",
                 m->w->room ? "" : " room (--room looks for it)");
    else {
        str_addf(out, "a drain %s: ",
                 c->flag     ? "would be refused" /* as a whole, before anything is touched */
                 : c->never  ? "would never end"
                 : c->chance ? "may not end"
                             : "would wait");
        add_counts(c, false, out);
    }
    if (gates->end)
        str_addf(out, "; at its end it would wait for %s", gates->end->check->title);
    else if (gates->volume && !m->node->unschedulable)
        str_add(out, "; at its end it would wait for a volume that is still attached");
}

static enum why_stage stage_of(const struct making *m, const struct why_counts *c) {
    if (m->out->draining)
        return WHY_DRAINING;
    bool over = m->node->unschedulable && is_true(m->node, "Drained", NULL);
    return over && !c->moves && !c->leaving ? WHY_DRAINED : WHY_BEFORE;
}

static void summarize(struct making *m, const struct why_counts *c, enum why_stage stage,
                      const struct why_gates *gates) {
    _cleanup_str_ struct str text = STR_INIT;
    if (stage == WHY_DRAINING)
        say_draining(m, c, gates->end, &text);
    else if (stage == WHY_DRAINED)
        str_addf(&text, "drained and cordoned (%s)%s%s%s", m->out->held_by, gates->end ? "; " : "",
                 gates->end ? gates->end->check->title : "", gates->end ? " is against more" : "");
    else {
        say_future(m, c, gates, &text);
        str_add(&text, told_end(m->node) ? "; the last drain did not get through" : "");
    }
    m->out->summary = why_text(m, &text);
    m->out->pods = c->moves + c->leaving;
    m->out->stays = c->stays;
}

/* --- all of it --- */

/* Without pods or budgets there is still the rest to tell; but nobody knows that it is all. */
static void look_at_unread(struct making *m, const struct why_counts *c, enum why_stage stage) {
    if (m->out->no_pods)
        why_unread_link(m, &kind_pod, "the pods of the node cannot be listed",
                        "give the permission to list pods")
            ->blocks = stage != WHY_DRAINED;
    else if (m->no_budgets && c->moves)
        why_unread_link(m, &kind_pdb, WHY_NO_BUDGETS, WHY_NO_BUDGETS_HELP);
}

static void look_at_node(struct making *m) {
    const struct why_want pods = {
        .what = WHY_WANT_NODE_PODS, .kind = &kind_pod, .name = m->node->meta.name};
    struct why_counts counts = {0};
    size_t n;
    look_at_holders(m);
    /* Both are asked for before anything else is looked at: they are read together. */
    bool there = why_has_or_cannot(m, &pods, &m->out->no_pods);
    const struct why_want budgets = {.what = WHY_WANT_BUDGETS, .kind = &kind_pdb};
    if (!why_has_or_cannot(m, &budgets, &m->no_budgets) || !there)
        return;
    const struct object *const *found = store_find(
        m->w->pods, m->w->pods_by_node, (struct store_key){m->node->meta.name, NULL}, &n);
    _cleanup_free_ const struct pod **list = xcalloc(n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = (const struct pod *)found[i];
    if (n)
        qsort(list, n, sizeof *list, pod_compare);
    look_at_health(m);
    why_look_at_pods(m, list, n, &counts);
    /* Without the pods every volume would look like one that nobody uses. */
    bool volume = !m->out->no_pods && why_look_at_volumes(m, list, n);
    if (m->w->room && !m->out->draining)
        why_look_for_room(m, list, n, &counts);
    enum why_stage stage = stage_of(m, &counts);
    struct why_gates gates = why_look_at_checks(m, stage);
    gates.volume = volume;
    look_at_unread(m, &counts, stage);
    why_look_at_told(m, stage, list, n, &counts);
    summarize(m, &counts, stage, &gates);
}

void why_node(const struct why_world *w, const char *name, struct arena *arena, struct why *out) {
    struct making m;
    why_begin(&m, w, arena, out);
    m.node = why_look(&m, &kind_node, NULL, name, NULL);
    out->kind = kind_node.name;
    out->name = arena_printf(arena, "%s", name);
    out->found = m.node != NULL;
    if (m.node)
        look_at_node(&m);
    why_end(&m);
}
