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

/* Whoever is past the cordon does not ask again what gates it. */
static unsigned gates_ahead(enum why_stage stage) {
    return stage == WHY_BEFORE ? CHECK_CORDON | CHECK_OPERATION : CHECK_OPERATION;
}

/* What denies the operation alone lets a drain end; once it has, nothing more may be done. */
static bool blocks(const struct check_finding *f, enum why_stage stage) {
    return stage == WHY_DRAINED || f->verdict == CHECK_WAIT ||
           f->when & gates_ahead(stage) & CHECK_CORDON;
}

static const char *text_of(const struct making *m, const struct check_finding *f,
                           enum why_stage stage) {
    bool end = !(f->when & gates_ahead(stage) & CHECK_CORDON);
    if (stage == WHY_BEFORE && end && f->verdict == CHECK_WAIT)
        return arena_printf(m->arena, WHY_AT_THE_END ": %s: %s", f->check->name, f->evidence);
    return arena_printf(m->arena, "%s: %s%s", f->check->name, f->evidence,
                        stage == WHY_DRAINED ? "; it is drained, but nothing more may be done to it"
                        : end && f->verdict == CHECK_DENY
                            ? "; it can be drained, but nothing more may be done to it"
                            : "");
}

static const char *object_of(const struct making *m, const struct check_finding *f) {
    return !f->name           ? ""
           : str_empty(f->ns) ? f->name
                              : arena_printf(m->arena, "%s/%s", f->ns, f->name);
}

/* Its budget, which has the same name, has said it already (engine/guard.h). */
static bool is_told(const struct making *m, const struct check_finding *f) {
    const char *object = object_of(m, f);
    for (size_t i = 0; *object && i < m->links.len; i++) {
        const struct why_link *l = m->links.p[i];
        if (l->code == (int)f->code && streq(l->kind, kind_pdb.name) && streq(l->object, object))
            return true;
    }
    return false;
}

static void add_remedies(struct making *m, struct why_link *l, const struct check_finding *f,
                         enum why_stage stage) {
    if (f->hint)
        why_link_remedy(m, l, WHY_RISK_NONE, f->hint, NULL, NULL);
    if (stage == WHY_DRAINED)
        return; /* there is no drain left that could do without it */
    why_link_remedy(m, l, WHY_RISK_DATA,
                    arena_printf(m->arena, "drain it without asking %s", f->check->title),
                    arena_printf(m->arena, "slipway drain %s --skip-check %s --reason \"$WHY\"",
                                 why_shell(m, m->node->meta.name), f->check->name),
                    f->code == BLOCKER_LAST_REPLICA ? "the data on it may be lost"
                                                    : "what it guards may stop, or be lost");
}

struct why_gates why_look_at_checks(struct making *m, enum why_stage stage) {
    struct checks found;
    if (!m->w->checks)
        return (struct why_gates){0};
    ask(m, &found);
    for (size_t i = 0; i < found.n; i++) {
        const struct check_finding *f = &found.list[i];
        if (f->verdict == CHECK_PASS || !(f->when & gates_ahead(stage)) || is_told(m, f))
            continue;
        struct why_link *l =
            why_link_new(m, f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : (int)f->code,
                         strna(f->kind), object_of(m, f), text_of(m, f, stage));
        l->blocks = blocks(f, stage);
        if (l->blocks && f->verdict == CHECK_DENY)
            l->severity =
                SEVERITY_ERROR; /* of one code both are said, and a plan tells them apart */
        add_remedies(m, l, f, stage);
        *vec_push(&m->links) = l;
    }
    const char *node = m->node->meta.name;
    const struct check_finding *end = check_worst_finding(&found, node, CHECK_OPERATION);
    return (struct why_gates){
        .begin = stage == WHY_BEFORE ? check_worst_finding(&found, node, CHECK_CORDON) : NULL,
        .end = end && (end->verdict == CHECK_WAIT || stage == WHY_DRAINED) ? end : NULL,
    };
}
