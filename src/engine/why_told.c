/* What drains have told of a node and its pods, and nobody finds by looking at objects. */
#include <stdlib.h>
#include <string.h>

#include "engine/podrole.h"
#include "engine/reason.h"
#include "engine/told.h"
#include "engine/why_internal.h"

/* What is only known to who tries: our own look at the cluster would not find it. */
static bool only_told(enum blocker_code code) {
    switch (code) {
    case BLOCKER_ADMISSION_DENIED:
    case BLOCKER_EVICTION_IN_PROGRESS:
    case BLOCKER_PDB_BROKEN:
    case BLOCKER_FORBIDDEN:
    case BLOCKER_SERVER_TROUBLE:
    case BLOCKER_RETURNS:
    case BLOCKER_SURGE_PENDING:
    case BLOCKER_NOT_RESCHEDULED:
    case BLOCKER_CORDON_CONTENDED:
    case BLOCKER_LAST_REPLICA:
    case BLOCKER_QUORUM_AT_RISK:
    case BLOCKER_STORAGE_NOT_OK:
    case BLOCKER_PRIMARY_ON_NODE:
    case BLOCKER_NOT_MIGRATABLE:
    case BLOCKER_CHECK_UNKNOWN:
        return true;
    default:
        return false;
    }
}

/* --- Events --- */

typedef VEC(struct told) told_list;

static int compare_told(const void *a, const void *b) {
    const struct told *x = a, *y = b;
    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return strcmp(x->message, y->message);
}

/* What was told of the node since then and not taken back, the oldest first. */
static void read_events(struct making *m, int64_t since, told_list *out) {
    const struct object *obj;
    struct told told;
    if (!why_has(m, &(struct why_want){
                        .what = WHY_WANT_EVENTS, .kind = &kind_node, .name = m->node->meta.name}))
        return;
    for (uint32_t i = 0; (obj = store_next(m->w->events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        if (told_about(e, m->node, REASON_DRAIN_BLOCKED) && told_last(e) >= since &&
            told_parse(e, &told) && !told_over(m->w->events, m->node, &told))
            *vec_push(out) = told;
    }
    if (out->len)
        qsort(out->p, out->len, sizeof out->p[0], compare_told);
}

static struct why_link *add_told(struct making *m, const struct told *t) {
    struct why_link *l =
        why_link_new(m, (int)t->code, "", arena_strndup(m->arena, t->object.p, t->object.len),
                     arena_printf(m->arena, "%s", t->message));
    l->since = t->since;
    why_link_remedy(m, l, WHY_RISK_NONE, blocker_row(t->code)->hint, NULL, NULL);
    *vec_push(&m->links) = l;
    return l;
}

static bool is_of(struct making *m, const struct told *t, const struct pod *pod) {
    return view_eq(t->object, view_of(why_name(m, &pod->meta)));
}

static bool is_held(const struct making *m, const struct pod *pod) {
    for (size_t i = 0; i < m->held.len; i++)
        if (m->held.p[i] == pod)
            return true;
    return false;
}

/* A pod that waits, and of which that was not known yet. */
static void count(struct making *m, const struct pod *pod, struct why_counts *counts) {
    enum pod_role role = pod_role(pod);
    if ((role != POD_MOVES && role != POD_BARE) || is_held(m, pod))
        return;
    *vec_push(&m->held) = pod;
    counts->wait++;
}

static void use_event(struct making *m, const struct told *t, const struct pod *const *pods,
                      size_t n, struct why_counts *counts) {
    struct why_link *found = NULL;
    for (size_t i = 0; i < m->links.len; i++) {
        struct why_link *l = m->links.p[i];
        bool same = l->code == (int)t->code &&
                    (!*l->object || view_eq(t->object, view_of(l->object)) || only_told(t->code));
        if (same)
            found = l;
    }
    if (!found && !only_told(t->code))
        return; /* we have looked, and it is so no longer */
    for (size_t i = 0; i < n && only_told(t->code); i++)
        if (is_of(m, t, pods[i]))
            count(m, pods[i], counts);
    if (!found) {
        add_told(m, t);
        return;
    }
    if (!found->since || t->since < found->since)
        found->since = t->since;
    found->blocks = true; /* what was only a danger has come about */
    found->severity = blocker_row(t->code)->severity;
}

/* --- how it ended --- */

/* In the words of who has refused it, as long as the Event is there. */
static void add_refusal(struct making *m, struct why_link *l, const struct pod *pod) {
    told_list list = VEC_INIT;
    read_events(m, pod->meta.created, &list);
    for (size_t i = list.len; i > 0; i--) {
        const struct told *t = &list.p[i - 1];
        if (t->code != BLOCKER_ADMISSION_DENIED || !is_of(m, t, pod))
            continue;
        struct why_link *cause =
            why_link_new(m, WHY_NO_CODE, kind_pod.name, why_name(m, &pod->meta),
                         arena_printf(m->arena, "%s", t->message));
        cause->blocks = false;
        why_link_cause(m, l, cause);
        break;
    }
    vec_done(&list);
}

static void look_at_end(struct making *m, const struct condition *end,
                        const struct pod *const *pods, size_t n, struct why_counts *counts) {
    /* That somebody was refused who is gone by now is of no matter. */
    bool denied = m->out->no_pods && told_denied(end);
    const struct pod *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (told_denied_pod(end, pods[i])) {
            denied = true;
            first = first ? first : pods[i];
            count(m, pods[i], counts);
        }
    struct why_link *l = why_link_new(
        m, denied ? (int)BLOCKER_ADMISSION_DENIED : WHY_NO_CODE, kind_node.name, m->node->meta.name,
        arena_printf(m->arena, "the last drain did not get through: %s", end->message));
    l->since = end->changed;
    l->blocks = denied;
    l->severity = SEVERITY_WARN;
    if (denied)
        why_link_remedy(m, l, WHY_RISK_NONE, blocker_row(BLOCKER_ADMISSION_DENIED)->hint, NULL,
                        NULL);
    if (first)
        add_refusal(m, l, first);
    *vec_push(&m->links) = l;
}

void why_look_at_told(struct making *m, enum why_stage stage, const struct pod *const *pods,
                      size_t n, struct why_counts *counts) {
    told_list list = VEC_INIT;
    const struct condition *end = stage == WHY_BEFORE ? told_end(m->node) : NULL;
    if (m->out->draining)
        read_events(m, m->out->draining_since, &list); /* of this drain, not of an earlier one */
    for (size_t i = 0; i < list.len; i++)
        use_event(m, &list.p[i], pods, n, counts);
    vec_done(&list);
    if (end)
        look_at_end(m, end, pods, n, counts);
}

/* --- a pod --- */

void why_look_at_told_pod(struct making *m, const struct pod *pod, struct why_counts *counts) {
    const struct node_condition *c =
        m->node ? node_condition_find(m->node->conditions, "DrainInProgress") : NULL;
    const struct condition *end = m->node ? told_end(m->node) : NULL;
    bool draining = c && m->node->unschedulable && str_same(c->c.status, "True");
    bool named = end && told_denied_pod(end, pod), said = false;
    told_list list = VEC_INIT;
    /* A drain names no more than three of the pods that are left; each has its Event for a while.
     */
    if (draining || (end && told_denied(end)))
        read_events(m, draining ? c->c.changed : pod->meta.created, &list);
    for (size_t i = list.len; i > 0 && !said; i--) {
        const struct told *t = &list.p[i - 1]; /* the last word counts */
        if (!is_of(m, t, pod) || !only_told(t->code) ||
            (!draining && t->code != BLOCKER_ADMISSION_DENIED))
            continue;
        add_told(m, t);
        said = true;
    }
    vec_done(&list);
    if (named && !said)
        add_told(m, &(struct told){.code = BLOCKER_ADMISSION_DENIED,
                                   .object = view_of(why_name(m, &pod->meta)),
                                   .message = arena_printf(m->arena,
                                                           "the last drain of %s did not get "
                                                           "through: %s",
                                                           m->node->meta.name, end->message),
                                   .since = end->changed});
    if (named || said)
        count(m, pod, counts);
}
