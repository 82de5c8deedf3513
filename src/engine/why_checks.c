/* What storage systems, databases and quorums say (engine/checks.h) to the drain of a node: links
 * for the findings that stand in the way. */
#include "engine/why_internal.h"

/* Nodes that somebody else holds are out of service. */
static void ask(struct making *m, struct checks *found) {
    size_t held = 0, n = 0;
    const char *const *all = checks_held(m->w->checks->nodes, m->arena, &held);
    const char **out = arena_alloc(m->arena, (held + 1) * sizeof *out);
    for (size_t i = 0; i < held; i++)
        if (!str_same(all[i], m->node->meta.name))
            out[n++] = all[i];
    checks_run(m->w->checks,
               &(struct check_request){.going = (const char *const[]){m->node->meta.name},
                                       .n_going = 1,
                                       .out = out,
                                       .n_out = n,
                                       .now = m->w->now},
               m->arena, found);
}

/* What a drain ends is in nobody's way before it has begun; what only forbids the operation is not
 * in the way of the drain. */
static bool stands_in_the_way(const struct making *m, const struct check_finding *f) {
    if (f->verdict == CHECK_PASS || !(f->when & (CHECK_CORDON | CHECK_OPERATION)))
        return false;
    return f->when & CHECK_CORDON || f->verdict == CHECK_DENY || m->node->unschedulable;
}

static void add_remedies(struct making *m, struct why_link *l, const struct check_finding *f) {
    if (f->hint)
        why_link_remedy(m, l, WHY_RISK_NONE, f->hint, NULL, NULL);
    why_link_remedy(m, l, WHY_RISK_DATA,
                    arena_printf(m->arena, "drain it without asking %s", f->check->title),
                    arena_printf(m->arena, "slipway drain %s --skip-check %s --reason WHY",
                                 why_shell(m, m->node->meta.name), f->check->name),
                    f->code == BLOCKER_LAST_REPLICA ? "the data on it may be lost"
                                                    : "what it guards may stop, or be lost");
}

const struct check_finding *why_look_at_checks(struct making *m) {
    struct checks found;
    if (!m->w->checks)
        return NULL;
    ask(m, &found);
    for (size_t i = 0; i < found.n; i++) {
        const struct check_finding *f = &found.list[i];
        if (!stands_in_the_way(m, f))
            continue;
        struct why_link *l = why_link_new(
            m, f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : (int)f->code, strna(f->kind),
            !f->name           ? ""
            : str_empty(f->ns) ? f->name
                               : arena_printf(m->arena, "%s/%s", f->ns, f->name),
            arena_printf(m->arena, "%s: %s%s", f->check->name, f->evidence,
                         f->when & CHECK_CORDON || m->node->unschedulable
                             ? ""
                             : "; it can be drained, but nothing more may be done to it"));
        l->blocks = f->when & CHECK_CORDON || f->verdict == CHECK_WAIT;
        add_remedies(m, l, f);
        *vec_push(&m->links) = l;
    }
    return check_worst_finding(&found, m->node->meta.name, CHECK_CORDON);
}
