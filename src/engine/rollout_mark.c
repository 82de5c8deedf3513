/* Nodes that rollouts come to later are marked (engine/next_mark.h), so that pods move once. Nobody
 * waits for the marks, and nothing fails because they cannot be written.
 *
 * Which are to be marked follows from the Rollouts, and a mark says that it is a rollout's: whoever
 * leads next takes off what is not wanted any more. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/next_mark.h"
#include "engine/rollout_internal.h"

enum {
    MARKING_MAX = 8,     /* that are written at a time; when half of them are, others follow */
    MARK_RETRY_MS = 200, /* what has not come back from the watch, or met somebody else's write */
    MARK_REFUSED_S = 60, /* who may not write them need not try often */
    MARK_RETRY_MAX_S = 10,
};

/* --- which --- */

void rollout_marks_forget(struct roll *roll) {
    for (size_t i = 0; i < roll->to_come.len; i++)
        free(roll->to_come.p[i]);
    for (size_t i = 0; i < roll->under_way.len; i++)
        free(roll->under_way.p[i]);
    roll->to_come.len = roll->under_way.len = 0;
}

/* One that waits for somebody to approve of it, or is paused, may do so for days. */
static bool goes_on(const struct rollout_verdict *v) {
    return streq(v->phase, "Progressing") && !(v->waits && v->wait.code == BLOCKER_APPROVAL_NEEDED);
}

void rollout_marks_place(struct roll *roll, const struct rollout_survey *s,
                         const struct rollout_verdict *v) {
    rollout_marks_forget(roll);
    roll->placed = true;
    for (size_t i = 0; i < s->current.len; i++)
        *vec_push(&roll->under_way) = xstrdup(s->current.p[i]);
    for (size_t i = 0; i < roll->begun.len; i++)
        *vec_push(&roll->under_way) = xstrdup(roll->begun.p[i].node);
    for (size_t i = 0; goes_on(v) && i < s->next.len; i++)
        if (!s->next.p[i].begun)
            *vec_push(&roll->to_come) = xstrdup(s->next.p[i].node->meta.name);
}

/* --- writing them --- */

static bool is_being_marked(const struct rollouts *rs, const char *node) {
    for (size_t i = 0; i < rs->marking.len; i++)
        if (streq(rs->marking.p[i].node, node))
            return true;
    return false;
}

/* False: nothing more can be written now. */
static bool write_mark(struct rollouts *rs, const struct node *node, const char *whose) {
    _cleanup_str_ struct str patch = STR_INIT;
    if (is_being_marked(rs, node->meta.name))
        return true;
    if (!store_fresh(rs->opts.cluster->nodes, NULL, node->meta.name)) {
        rs->mark_next = rs->now.mono + MSEC(MARK_RETRY_MS);
        return true;
    }
    if (rs->marking.len >= MARKING_MAX)
        return false;
    next_mark_patch(node, whose, &patch);
    *vec_push(&rs->marking) =
        (struct marking){.action = actions_add(rs->out, &rs->opts.cluster->actions,
                                               &(struct action){.verb = ACTION_PATCH,
                                                                .kind = &kind_node,
                                                                .name = node->meta.name,
                                                                .body = str_get(&patch),
                                                                .grace = -1}),
                         .node = xstrdup(node->meta.name),
                         .on = whose};
    return true;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is a rollout's, and of a node that none comes to any more. */
static void take_off(struct rollouts *rs) {
    VEC(const char *) kept = {0};
    const struct object *obj;
    bool more = true;
    for (size_t i = 0; i < rs->list.len; i++) {
        const struct roll *roll = rs->list.p[i];
        for (size_t j = 0; j < roll->to_come.len; j++)
            *vec_push(&kept) = roll->to_come.p[j];
        for (size_t j = 0; j < roll->under_way.len; j++)
            *vec_push(&kept) = roll->under_way.p[j];
    }
    if (kept.len)
        qsort(kept.p, kept.len, sizeof *kept.p, by_text);
    for (uint32_t i = 0; more && (obj = store_next(rs->opts.cluster->nodes, &i));)
        if (next_marked_by((const struct node *)obj, NEXT_OF_ROLLOUT) &&
            !(kept.len && bsearch(&obj->meta.name, kept.p, kept.len, sizeof *kept.p, by_text)))
            more = write_mark(rs, (const struct node *)obj, NULL);
    vec_done(&kept);
}

/* True: all that could be were written. */
static bool put_on(struct rollouts *rs, const struct roll *roll) {
    for (size_t i = 0; i < roll->to_come.len; i++) {
        const struct node *node = cluster_node(rs->opts.cluster, roll->to_come.p[i]);
        if (node && !node->unschedulable && !next_marked(node) &&
            !write_mark(rs, node, NEXT_OF_ROLLOUT))
            return false;
    }
    return true;
}

void rollout_marks_step(struct rollouts *rs) {
    bool placed = true, more = true;
    rs->mark_next = rs->mark_at > rs->now.mono ? rs->mark_at : INT64_MAX;
    if (rs->mark_next != INT64_MAX || rs->marking.len > MARKING_MAX / 2)
        return;
    for (size_t i = 0; i < rs->list.len; i++)
        placed &= rs->list.p[i]->placed;
    for (size_t i = 0; more && i < rs->list.len; i++)
        more = put_on(rs, rs->list.p[i]);
    if (placed && more)
        take_off(rs);
}

/* What an admission webhook has undone would be wanted again at once, and for ever. */
static bool is_as_wanted(const struct marking *m, const struct answer *a) {
    return a->outcome == KUBE_NOT_FOUND ||
           (a->outcome == KUBE_OK && a->obj && next_marked((const struct node *)a->obj) == m->on);
}

bool rollout_marks_answer(struct rollouts *rs, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < rs->marking.len; i++) {
        if (rs->marking.p[i].action != action)
            continue;
        bool wanted = is_as_wanted(&rs->marking.p[i], a);
        free(rs->marking.p[i].node);
        rs->marking.p[i] = rs->marking.p[--rs->marking.len];
        rs->mark_next = 0;
        if (wanted)
            rs->mark_tries = 0;
        else if (kube_outcome_row(a->outcome)->retry || a->outcome == KUBE_CONFLICT)
            rs->mark_at = rs->now.mono + action_backoff(&rs->random, ++rs->mark_tries,
                                                        MSEC(MARK_RETRY_MS), SEC(MARK_RETRY_MAX_S));
        else
            rs->mark_at = rs->now.mono + SEC(MARK_REFUSED_S);
        return true;
    }
    return false;
}

void rollout_marks_done(struct rollouts *rs) {
    for (size_t i = 0; i < rs->marking.len; i++)
        free(rs->marking.p[i].node);
    vec_done(&rs->marking);
}
