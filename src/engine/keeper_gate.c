/* What the gates (engine/gate.h) say to those who wait for a slot, who are about to be granted
 * theirs, and who are back.
 *
 * The checks are asked about all of them at once, and again when something has changed. What they
 * have found is kept for as long, since an open gate is good only beside those that were out then:
 * whoever takes a slot shuts it for the others. */
#include <stdlib.h>
#include <string.h>

#include "engine/keeper_internal.h"

enum {
    LOOK_MIN_S = 1,  /* between two looks at what changes all the time */
    LOOK_MAX_S = 10, /* and at what changes with time alone, while a gate is shut */
};

void keeper_gates_done(struct keeper *k) {
    arena_done(&k->look.arena);
    vec_done(&k->look.going);
    vec_done(&k->look.out);
    vec_done(&k->look.back);
    k->look = (struct gate_look){0};
}

void keeper_gates_stale(struct keeper *k) {
    if (!k->look.made)
        return;
    k->look.due = MIN_OF(k->look.due, k->look.at + SEC(LOOK_MIN_S));
    keeper_wake(k, k->look.due);
}

void keeper_checks_changed(struct keeper *k) {
    if (k->drain)
        drain_checks_changed(k->drain);
    keeper_gates_stale(k);
    keeper_stir(k);
}

/* --- who is asked about --- */

static bool is_back(const struct slot *slot) {
    return slot->state == SLOT_RETURNED && slot->granted;
}

static void gather(const struct keeper *k, const struct slots *s, struct gate_look *l) {
    for (size_t i = 0; i < s->waiting.len; i++)
        *vec_push(&l->going) = s->waiting.p[i].node;
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        const char *node = keeper_upkeep_waits(k, k->upkeeps.p[i]);
        if (node)
            *vec_push(&l->going) = node;
    }
    for (size_t i = 0; i < s->list.len; i++)
        if (is_back(&s->list.p[i])) {
            *vec_push(&l->back) = s->list.p[i].node;
        } else {
            *vec_push(&l->out) = s->list.p[i].node;
            *vec_push(&l->going) = s->list.p[i].node;
        }
}

static bool same_names(const struct gate_names *a, const struct gate_names *b) {
    if (a->len != b->len)
        return false;
    for (size_t i = 0; i < a->len; i++)
        if (!streq(a->p[i], b->p[i]))
            return false;
    return true;
}

/* --- asking the checks --- */

static void keep_names(struct gate_names *names, struct arena *arena) {
    for (size_t i = 0; i < names->len; i++)
        names->p[i] = arena_strndup(arena, names->p[i], strlen(names->p[i]));
}

static const char *kept(struct arena *arena, const char *s) {
    return s ? arena_strndup(arena, s, strlen(s)) : NULL;
}

/* What does not pass, with texts of our own: those of the stores end with the next change. */
static void keep_findings(struct gate_look *l, const struct checks *found) {
    size_t n = 0;
    while (n < found->n && found->list[n].verdict != CHECK_PASS)
        n++;
    struct check_finding *list = arena_alloc(&l->arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        list[i] = found->list[i];
        list[i].node = kept(&l->arena, list[i].node);
        list[i].ns = kept(&l->arena, list[i].ns);
        list[i].name = kept(&l->arena, list[i].name);
        list[i].evidence = kept(&l->arena, list[i].evidence);
        list[i].hint = kept(&l->arena, list[i].hint);
    }
    l->found = (struct checks){.list = list, .n = n};
}

static void run(struct keeper *k, struct gate_look *l) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct gate_names out = VEC_INIT;
    struct checks found;
    size_t n_held;
    const char *const *held = checks_held(k->cluster->nodes, &arena, &n_held);
    for (size_t i = 0; i < l->out.len; i++)
        *vec_push(&out) = l->out.p[i];
    for (size_t i = 0; i < n_held; i++) /* also of other policies, and of the command line */
        *vec_push(&out) = held[i];
    checks_run(k->checks,
               &(struct check_request){.going = l->going.p,
                                       .n_going = l->going.len,
                                       .alone = true,
                                       .out = out.p,
                                       .n_out = out.len,
                                       .back = l->back.p,
                                       .n_back = l->back.len,
                                       .skip = k->opts.drain.skip_checks,
                                       .now = k->now.wall + k->opts.drain.skew},
               &arena, &found);
    keep_findings(l, &found);
    vec_done(&out);
}

void keeper_gates_look(struct keeper *k, const struct slots *s) {
    struct gate_look l = {.arena = ARENA_INIT};
    if (!k->checks || k->checks->unread)
        return;
    gather(k, s, &l);
    bool same = k->look.made && same_names(&l.going, &k->look.going) &&
                same_names(&l.out, &k->look.out) && same_names(&l.back, &k->look.back);
    if (same && k->look.due > k->now.mono) {
        if (k->look.due != INT64_MAX)
            keeper_wake(k, k->look.due);
        vec_done(&l.going);
        vec_done(&l.out);
        vec_done(&l.back);
        return;
    }
    keep_names(&l.going, &l.arena);
    keep_names(&l.out, &l.arena);
    keep_names(&l.back, &l.arena);
    run(k, &l);
    l.made = true;
    l.at = k->now.mono;
    l.due = l.found.n ? l.at + SEC(LOOK_MAX_S) : INT64_MAX;
    keeper_gates_done(k);
    k->look = l;
    if (l.found.n)
        keeper_wake(k, l.due);
}

/* --- what they say --- */

/* Just now whoever leads has begun to: nobody goes on, and nothing is said about it. */
static bool is_unread(const struct keeper *k) {
    return k->checks && k->checks->unread;
}

static const struct maintenance *maintenance_of(const struct keeper *k, const char *by) {
    const char *name =
        str_starts(by, KEEPER_BY_MAINTENANCE) ? by + strlen(KEEPER_BY_MAINTENANCE) : NULL;
    return name && k->opts.maintenances
               ? (const struct maintenance *)store_get(k->opts.maintenances, NULL, name)
               : NULL;
}

const char *keeper_approval(const struct keeper *k, const char *node, const char *by,
                            struct arena *arena) {
    const struct node *there = cluster_node(k->cluster, node);
    const struct maintenance *m = maintenance_of(k, by);
    return m ? approval_of_object(&m->meta, arena)
             : approval_of_node(there, there ? keeper_boot(there) : "", arena);
}

enum maint_gate keeper_gate(const struct keeper *k, const struct gate_who *who, enum check_when at,
                            struct arena *arena, struct gate_answer *out) {
    const struct maintenance *m = maintenance_of(k, who->by);
    if (is_unread(k)) {
        *out = (struct gate_answer){MAINT_WAIT, BLOCKER_CHECK_UNKNOWN, "",
                                    "storage systems and quorums have not been looked at yet"};
        return MAINT_WAIT;
    }
    struct gate_question q = {
        .at = at,
        .node = who->node,
        .operates = !str_same(who->operation, operation_word(OPERATION_DRAIN)),
        .checks = k->checks ? &k->look.found : NULL,
        .approval = k->opts.approval,
        .approved = k->opts.approval ? keeper_approval(k, who->node, who->by, arena) : NULL,
        .there = cluster_node(k->cluster, who->node),
        .subject = m ? arena_printf(arena, "maintenance/%s", m->meta.name)
                     : arena_printf(arena, "node/%s", who->node),
        .unfit = m && k->opts.unfit ? k->opts.unfit(k->opts.arg, m) : NULL,
    };
    return gates_ask(&q, arena, out);
}

static void say(struct keeper *k, struct slots *s, const char *node, const struct gate_answer *a,
                struct arena *arena, bool *changed) {
    struct slot_wait wait = {.since = k->now.wall};
    if (a->verdict != MAINT_PASS) {
        wait.code = blocker_row(a->code)->name;
        wait.object = a->object;
        wait.message = a->message;
    }
    *changed |= !slots_gate(s, node, wait.code ? &wait : NULL, arena);
}

/* Of a slot only at the step that it is about to take. */
static enum check_when step_of(const struct keeper *k, const struct slot *slot) {
    if (keeper_is_taken_over(k, slot))
        return CHECK_CORDON;
    if (slot->state == SLOT_DRAINED)
        return CHECK_OPERATION;
    return is_back(slot) ? CHECK_RETURN : 0;
}

bool keeper_gates_change(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = false;
    if (is_unread(k))
        return false;
    keeper_gates_look(k, s);
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *slot = &s->list.p[i];
        struct gate_answer answer = {.verdict = MAINT_PASS};
        enum check_when step = step_of(k, slot);
        if (step)
            keeper_gate(k, &(struct gate_who){slot->node, slot->operation, slot->by}, step, arena,
                        &answer);
        say(k, s, slot->node, &answer, arena, &changed);
    }
    for (size_t i = 0; i < s->waiting.len; i++) {
        const struct slot_wish *wish = &s->waiting.p[i];
        struct gate_answer answer = {.verdict = MAINT_PASS};
        if (slots_holder(s, wish->node))
            continue; /* that of its last time is being put back */
        keeper_gate(k, &(struct gate_who){wish->node, wish->operation, wish->by}, CHECK_CORDON,
                    arena, &answer);
        say(k, s, wish->node, &answer, arena, &changed);
    }
    return changed;
}
