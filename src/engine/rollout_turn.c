/* Whose turn it is in a rollout: of the next few in their order the node that is least in the way
 * of those that are out already (engine/contention.h).
 *
 * For that the pods of a few nodes have to be known before it is their turn. Nobody waits long for
 * them; and where nodes go one at a time, or all that are left at once, nobody looks. */
#include <stdlib.h>
#include <string.h>

#include "engine/maintenance.h"
#include "engine/rollout_internal.h"

enum {
    CANDIDATES = 32,      /* looked at for one turn, and whose pods are known ahead of it */
    LOOK_WITHIN_MS = 1000 /* their pods are known by then, or they go as they come */
};

/* --- nodes whose pods are to be known --- */

void rollout_turn_forget(struct roll *roll) {
    for (size_t i = 0; i < roll->ahead.len; i++)
        free(roll->ahead.p[i]);
    roll->ahead.len = 0;
}

static bool is_ahead(const struct roll *roll, const char *node) {
    for (size_t i = 0; i < roll->ahead.len; i++)
        if (streq(roll->ahead.p[i], node))
            return true;
    return false;
}

bool rollouts_needs_pods(const struct rollouts *rs, const char *node) {
    for (size_t i = 0; i < rs->list.len; i++)
        if (is_ahead(rs->list.p[i], node))
            return true;
    return false;
}

void rollouts_each_ahead(const struct rollouts *rs, void (*fn)(void *arg, const char *node),
                         void *arg) {
    for (size_t i = 0; i < rs->list.len; i++)
        for (size_t j = 0; j < rs->list.p[i]->ahead.len; j++)
            fn(arg, rs->list.p[i]->ahead.p[j]);
}

static void add_ahead(struct roll *roll, const char *node) {
    if (!is_ahead(roll, node))
        *vec_push(&roll->ahead) = xstrdup(node);
}

/* Those that were begun and hold no slot yet stay known: they are drained in a moment. */
static void keep_begun(const struct rollouts *rs, struct roll *roll, const struct rollout *r,
                       const struct rollout_survey *s) {
    for (size_t i = 0; i < roll->begun.len; i++)
        add_ahead(roll, roll->begun.p[i].node);
    for (size_t i = 0; i < s->current.len; i++) {
        const struct maintenance *m = rollout_maintenance(rs, r, s->current.p[i]);
        if (m && maint_phase_find(m->phase) <= MAINT_QUEUED)
            add_ahead(roll, s->current.p[i]);
    }
}

/* Whether it matters who of them is next. */
static bool is_choice(const struct rollouts *rs, const struct rollout_survey *s,
                      const struct survey_node *n) {
    return rs->opts.watched && s->next.len > 1 && keeper_limit(n->keeper) > 1;
}

void rollout_turn_look(const struct rollouts *rs, struct roll *roll, const struct rollout *r,
                       const struct rollout_survey *s, bool begins) {
    size_t seen = 0;
    rollout_turn_forget(roll);
    keep_begun(rs, roll, r, s);
    for (size_t i = 0; begins && i < s->next.len && seen < CANDIDATES; i++)
        if (!s->next.p[i].begun && is_choice(rs, s, &s->next.p[i])) {
            add_ahead(roll, s->next.p[i].node->meta.name);
            seen++;
        }
}

/* --- choosing --- */

/* Who of these is first is nobody's concern but ours. */
static bool same_turn(const struct survey_node *a, const struct survey_node *b) {
    return a->keeper == b->keeper && a->broken == b->broken &&
           a->control_plane == b->control_plane && streq(a->zone, b->zone);
}

static void count_out(void *arg, const char *node) {
    contention_add(arg, node);
}

/* What is out, and what was begun, of all policies whose nodes are next. */
static void count_all_out(struct rollouts *rs, struct rollout_turn *t) {
    if (t->counted)
        return;
    t->counted = true;
    for (size_t i = 0; i < rs->aheads.len; i++)
        if (rs->aheads.p[i].ahead)
            keeper_ahead_each(rs->aheads.p[i].ahead, count_out, &t->out);
}

void rollout_turn_init(struct rollout_turn *t, const struct rollouts *rs) {
    *t = (struct rollout_turn){0};
    contention_init(&t->out, rs->opts.cluster, NULL);
}

void rollout_turn_done(struct rollout_turn *t) {
    contention_done(&t->out);
}

void rollout_turn_taken(struct rollout_turn *t, struct survey_node *n) {
    n->begun = true;
    if (t->counted)
        contention_add(&t->out, n->node->meta.name);
}

struct survey_node *rollout_turn_next(struct rollouts *rs, struct roll *roll,
                                      struct rollout_survey *s, struct rollout_turn *t) {
    struct survey_node *first = NULL, *best = NULL;
    size_t seen = 0;
    unsigned least = 0;
    bool unknown = false;
    for (size_t i = 0; i < s->next.len && seen < CANDIDATES; i++) {
        struct survey_node *n = &s->next.p[i];
        if (n->begun || n->full)
            continue;
        if (first && !same_turn(first, n))
            break;
        if (!rollout_has_slot(rs, n)) {
            n->full = true;
            continue;
        }
        if (!first)
            first = n;
        if (!is_choice(rs, s, n))
            return n;
        seen++;
        if (!rs->opts.watched(rs->opts.arg, n->node->meta.name)) {
            unknown = true;
            continue;
        }
        count_all_out(rs, t);
        unsigned c = contention_of(&t->out, n->node->meta.name, true);
        if (!best || c < least) {
            best = n;
            least = c;
        }
        if (!least)
            break; /* the first in order that is in nobody's way */
    }
    if (!first)
        return NULL;
    if (!unknown || (best && !least)) {
        roll->look_since = 0;
        return best;
    }
    if (!roll->look_since)
        roll->look_since = rs->now.mono;
    int64_t due = roll->look_since + MSEC(LOOK_WITHIN_MS);
    t->until = rs->now.mono < due ? due : 0;
    return t->until ? NULL : best ? best : first;
}
