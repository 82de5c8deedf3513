/* What storage systems, databases and quorums say (engine/checks.h): to nodes that want to begin,
 * and to those that are empty.
 *
 * Each node that waits has a gate. It is free when the node could go together with all others that
 * wait, so that nothing that is decided here shuts it again; open when it could go beside those
 * that are out now, until the next one begins; else shut, with the finding as its blocker. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/drain_internal.h"

enum {
    LOOK_MIN = 1,  /* seconds between two looks at what changes all the time */
    LOOK_MAX = 10, /* and at what changes with time alone */
};

struct names {
    const char **p;
    size_t len, cap;
};

/* Of `waiting` those that are `held` are out of service, or about to be, since before we came. */
struct look {
    struct arena arena;
    struct names waiting, held, out, back;
    struct checks found;
};

static bool is_back(const struct drain *d, const struct dnode *n) {
    return d->opts.uncordon_when_done && n->pub.phase == DRAIN_DONE && n->released;
}

/* Our own nodes by their phases; others by who holds them. */
static void gather(struct drain *d, struct look *l) {
    size_t held = 0;
    const char *const *names = checks_held(d->opts.checks->nodes, &l->arena, &held);
    for (size_t i = 0; i < d->nodes.len; i++)
        d->nodes.p[i]->out_before = false;
    for (size_t i = 0; i < held; i++) {
        struct dnode *n = drain_find_node(d, names[i]);
        if (!n || (drain_ended(n->pub.phase) && !is_back(d, n)))
            *vec_push(&l->out) = names[i];
        else if (n->pub.phase == DRAIN_WAITING) {
            n->out_before = true;
            *vec_push(&l->held) = names[i];
        }
    }
    for (size_t i = 0; i < d->nodes.len; i++) {
        const struct dnode *n = d->nodes.p[i];
        if (n->pub.phase == DRAIN_WAITING)
            *vec_push(&l->waiting) = n->pub.name;
        else if (!drain_ended(n->pub.phase))
            *vec_push(&l->out) = n->pub.name;
        else if (is_back(d, n))
            *vec_push(&l->back) = n->pub.name;
    }
}

static void look_done(struct look *l) {
    vec_done(&l->waiting);
    vec_done(&l->held);
    vec_done(&l->out);
    vec_done(&l->back);
    arena_done(&l->arena);
}

static void run(struct drain *d, struct look *l, const struct names *going, bool alone,
                const struct names *out) {
    checks_run(d->opts.checks,
               &(struct check_request){.going = going->p,
                                       .n_going = going->len,
                                       .alone = alone,
                                       .out = out->p,
                                       .n_out = out->len,
                                       .back = l->back.p,
                                       .n_back = l->back.len,
                                       .skip = d->opts.skip_checks,
                                       .now = d->opts.checks_now ? d->opts.checks_now
                                                                 : drain_server_now(d)},
               &l->arena, &l->found);
}

static void block(struct drain *d, struct dnode *n, const struct check_finding *f) {
    _cleanup_free_ char *object = f->name ? drain_full_name(f->ns, f->name) : xstrdup("");
    drain_node_block(d, n, f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code,
                     f->name ? f->kind : "", object, "%s: %s", f->check->name, f->evidence);
}

/* --- before the cordon --- */

static void refuse(struct drain *d, struct dnode *n, const struct check_finding *f) {
    n->pub.denied = true;
    n->pub.code = f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code;
    drain_node_end(d, n, DRAIN_REFUSED,
                   "%s: %s%s%s (to do it all the same: --skip-check %s --reason WHY)",
                   f->check->name, f->evidence, str_empty(f->hint) ? "" : "; ", strna(f->hint),
                   f->check->name);
}

static void shut(struct drain *d, struct dnode *n, const struct check_finding *f) {
    if (d->opts.dry_run != DRY_RUN_NONE) {
        drain_node_end(d, n, DRAIN_TIMED_OUT, "it would have to wait: %s: %s", f->check->name,
                       f->evidence);
        return;
    }
    n->gate = GATE_SHUT;
    n->pub.gated = true;
    if (d->opts.timeout && !n->deadline) {
        n->deadline = d->now.mono + d->opts.timeout;
        n->pub.deadline = d->now.wall + d->opts.timeout;
    }
    n->dirty = n->touched = true;
    block(d, n, f);
}

static void open_gate(struct drain *d, struct dnode *n, enum gate gate) {
    if (n->gate == GATE_SHUT) {
        n->deadline = n->pub.deadline = 0;
        n->touched = true;
        drain_node_unblock(d, n);
    }
    n->pub.gated = false;
    n->gate = gate;
}

/* A node that has come back is not well yet: nobody goes. */
static bool look_back(struct drain *d, struct look *l) {
    const struct check_finding *back = NULL;
    for (size_t i = 0; i < l->back.len && !back; i++)
        back = check_worst_finding(&l->found, l->back.p[i], CHECK_RETURN);
    for (size_t i = 0; back && i < l->waiting.len; i++)
        shut(d, drain_find_node(d, l->waiting.p[i]), back);
    return back;
}

/* Together with all that wait; until something changes nothing that begins is in its way. */
static void look_together(struct drain *d, struct look *l) {
    for (size_t i = 0; i < l->waiting.len; i++) {
        struct dnode *n = drain_find_node(d, l->waiting.p[i]);
        if (check_worst(&l->found, n->pub.name, CHECK_CORDON) == CHECK_PASS)
            open_gate(d, n, GATE_FREE);
        else
            n->gate = n->gate == GATE_SHUT ? GATE_SHUT : GATE_UNKNOWN;
    }
}

/* Those of `names` that could go if each were the only one are waited for: it is the others that
 * have to come back. The rest is refused. */
static void judge_denied(struct drain *d, struct look *l, const struct names *names) {
    const struct checks beside = l->found;
    struct checks by_itself = beside;
    if (names->len && l->out.len) {
        run(d, l, names, true, &(struct names)VEC_INIT);
        by_itself = l->found;
    }
    for (size_t i = 0; i < names->len; i++) {
        struct dnode *n = drain_find_node(d, names->p[i]);
        const struct check_finding *f = check_worst_finding(&beside, n->pub.name, CHECK_CORDON);
        if (check_worst(&by_itself, n->pub.name, CHECK_CORDON) == CHECK_DENY)
            refuse(d, n, f);
        else
            shut(d, n, f);
    }
}

/* Each by itself, beside those that are out. */
static void look_alone(struct drain *d, struct look *l, const struct names *names) {
    struct names denied = VEC_INIT;
    if (names->len)
        run(d, l, names, true, &l->out);
    for (size_t i = 0; i < names->len; i++) {
        struct dnode *n = drain_find_node(d, names->p[i]);
        const struct check_finding *f = check_worst_finding(&l->found, n->pub.name, CHECK_CORDON);
        if (!f)
            open_gate(d, n, GATE_OPEN);
        else if (f->verdict == CHECK_DENY)
            *vec_push(&denied) = n->pub.name;
        else
            shut(d, n, f);
    }
    judge_denied(d, l, &denied);
    vec_done(&denied);
}

/* Those that are out already, of an earlier run or because somebody has cordoned them, first; to
 * the others they are out of service. */
static void look_at_rest(struct drain *d, struct look *l) {
    struct names first = VEC_INIT, rest = VEC_INIT;
    for (size_t i = 0; i < l->waiting.len; i++) {
        struct dnode *n = drain_find_node(d, l->waiting.p[i]);
        if (n->gate == GATE_FREE)
            continue;
        if (!cluster_node(d->cluster, n->pub.name))
            open_gate(d, n, GATE_OPEN); /* it is gone: that is said when it begins */
        else if (n->out_before)
            *vec_push(&first) = n->pub.name;
        else
            *vec_push(&rest) = n->pub.name;
    }
    look_alone(d, l, &first);
    for (size_t i = 0; i < l->held.len; i++)
        *vec_push(&l->out) = l->held.p[i];
    look_alone(d, l, &rest);
    vec_done(&first);
    vec_done(&rest);
}

bool drain_checks_due(struct drain *d) {
    if (!d->opts.checks || !d->checks_look)
        return false;
    drain_wake(d, d->checks_look);
    return d->checks_look <= d->now.mono;
}

void drain_checks_changed(struct drain *d) {
    if (!d->opts.checks)
        return;
    d->checks_stale = d->any_dirty = true;
    for (size_t i = 0; i < d->nodes.len; i++)
        d->nodes.p[i]->dirty |= d->nodes.p[i]->pub.phase == DRAIN_DETACHING;
    int64_t soonest = d->checks_at + SEC(LOOK_MIN);
    if (!d->checks_look || d->checks_look > soonest)
        d->checks_look = soonest;
}

static bool is_unknown(const struct drain *d) {
    for (size_t i = 0; i < d->nodes.len; i++)
        if (d->nodes.p[i]->pub.phase == DRAIN_WAITING && d->nodes.p[i]->gate == GATE_UNKNOWN)
            return true;
    return false;
}

void drain_gates(struct drain *d) {
    bool is_shut = false;
    if (!d->opts.checks)
        return;
    bool all = d->checks_stale || drain_checks_due(d);
    if (!all && !d->checks_ended && !is_unknown(d))
        return;
    struct look l = {.arena = ARENA_INIT};
    gather(d, &l);
    /* One that has ended makes nothing worse: those that are free stay so. */
    if (all)
        run(d, &l, &l.waiting, false, &l.out);
    else if (d->checks_ended && l.back.len)
        run(d, &l, &(struct names)VEC_INIT, false, &l.out);
    if (!look_back(d, &l)) {
        if (all)
            look_together(d, &l);
        look_at_rest(d, &l);
    }
    look_done(&l);
    d->checks_stale = d->checks_ended = false;
    d->checks_at = d->now.mono;
    for (size_t i = 0; i < d->nodes.len; i++)
        is_shut = is_shut ||
                  (d->nodes.p[i]->pub.phase == DRAIN_WAITING && d->nodes.p[i]->gate == GATE_SHUT);
    d->checks_look = is_shut ? d->now.mono + SEC(LOOK_MAX) : 0;
    drain_wake(d, d->checks_look);
}

bool drain_gate_open(const struct drain *d, const struct dnode *n) {
    return !d->opts.checks || n->gate == GATE_OPEN || n->gate == GATE_FREE;
}

void drain_gate_used(struct drain *d) {
    for (size_t i = 0; i < d->nodes.len; i++)
        if (d->nodes.p[i]->gate == GATE_OPEN)
            d->nodes.p[i]->gate = GATE_UNKNOWN;
}

/* --- when it is empty --- */

/* What is said to all nodes of ours that are out, for as long as nothing can change. */
struct operation {
    struct look look;
    struct names asked;
};

static bool is_asked(const struct operation *o, const struct dnode *n) {
    for (size_t i = 0; i < o->asked.len; i++)
        if (o->asked.p[i] == n->pub.name)
            return true;
    return false;
}

static const struct checks *look_at_empty(struct drain *d, const struct dnode *n) {
    if (d->operation && !is_asked(d->operation, n))
        drain_checks_forget(d); /* it has begun since */
    if (!d->operation) {
        struct operation *o = d->operation = xnew(struct operation);
        o->look.arena = (struct arena)ARENA_INIT;
        gather(d, &o->look);
        for (size_t i = 0; i < d->nodes.len; i++)
            if (d->nodes.p[i]->pub.phase != DRAIN_WAITING && !drain_ended(d->nodes.p[i]->pub.phase))
                *vec_push(&o->asked) = d->nodes.p[i]->pub.name;
        run(d, &o->look, &o->asked, true, &o->look.out);
    }
    return &d->operation->look.found;
}

void drain_checks_forget(struct drain *d) {
    if (!d->operation)
        return;
    look_done(&d->operation->look);
    vec_done(&d->operation->asked);
    free(d->operation);
    d->operation = NULL;
}

/* A drain ends the things that it waits for here. What it cannot end is for whoever comes next. */
bool drain_may_operate(struct drain *d, struct dnode *n) {
    if (!d->opts.checks)
        return true;
    if (n->checks_at > d->now.mono) {
        drain_wake(d, n->checks_at);
        return false;
    }
    const struct check_finding *f =
        check_worst_finding(look_at_empty(d, n), n->pub.name, CHECK_OPERATION);
    if (f && f->verdict == CHECK_WAIT) {
        /* All at the same moments, so that one look is enough for many. */
        n->checks_at = (d->now.mono / SEC(LOOK_MIN) + 1) * SEC(LOOK_MIN);
        drain_wake(d, d->now.mono + SEC(LOOK_MAX));
        block(d, n, f);
        return false;
    }
    if (f) {
        _cleanup_free_ char *text =
            xasprintf("it is drained, but nothing more may be done to it: "
                      "%s: %s%s%s",
                      f->check->name, f->evidence, str_empty(f->hint) ? "" : "; ", strna(f->hint));
        drain_tell(d, NOTE_REMARK, n, NULL, text);
    }
    return true;
}

void drain_checks_skipped(struct drain *d, struct dnode *n) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < n_checks; i++)
        if (d->opts.skip_checks & 1u << i)
            str_addf(&text, "%s%s",
                     text.len ? ", " : "checks that were not asked: ", checks_table[i].name);
    if (!text.len)
        return;
    str_addf(&text, "; reason: %s", strna(drain_holder(d, n)->reason));
    if (!d->told_skipped)
        drain_tell(d, NOTE_REMARK, NULL, NULL, str_get(&text));
    d->told_skipped = true;
    drain_record_event(d, n, true, REASON_CHECKS_SKIPPED, str_get(&text));
}
