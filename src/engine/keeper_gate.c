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

static void look_done(struct keeper *k) {
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
    look_done(k);
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

enum maint_gate keeper_gate_ask(const struct keeper *k, const struct gate_who *who,
                                enum check_when at, struct arena *arena, struct gate_answer *out) {
    const struct maintenance *m = maintenance_of(k, who->by);
    if (is_unread(k)) {
        *out = (struct gate_answer){.verdict = MAINT_WAIT,
                                    .code = BLOCKER_CHECK_UNKNOWN,
                                    .object = "",
                                    .message =
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

/* --- what they have said --- */

static void memory_done(struct gate_memory *m) {
    free(m->node);
    free(m->by);
}

void keeper_gates_forget(struct keeper *k) {
    look_done(k);
    for (size_t i = 0; i < k->said.len; i++)
        memory_done(&k->said.p[i]);
    vec_done(&k->said);
}

static struct gate_memory *memory_of(struct keeper *k, const struct gate_who *who) {
    for (size_t i = 0; i < k->said.len; i++)
        if (streq(k->said.p[i].node, who->node) && streq(k->said.p[i].by, strna(who->by)))
            return &k->said.p[i];
    struct gate_memory *m = vec_push(&k->said);
    *m = (struct gate_memory){.node = xstrdup(who->node), .by = xstrdup(strna(who->by))};
    return m;
}

static struct keeper_said said_of(const struct keeper *k, const struct gate_memory *m, size_t gate,
                                  int64_t shut) {
    return (struct keeper_said){.policy = k->opts.policy,
                                .node = m->node,
                                .by = m->by,
                                .gate = gates_table[gate].name,
                                .verdict = m->each.verdicts[gate],
                                .shut = shut};
}

static int64_t shut_for(const struct keeper *k, const struct gate_memory *m, size_t gate) {
    return m->shut_at[gate] ? MAX_OF(k->now.wall - m->shut_at[gate], INT64_C(0)) : 0;
}

/* Of those that were asked. */
static void remember(struct keeper *k, const struct gate_who *who, enum check_when at,
                     const struct gate_each *each) {
    struct gate_memory *m = k->leads && each->asked ? memory_of(k, who) : NULL;
    bool anew = m && m->at != at;
    if (anew)
        *m = (struct gate_memory){.node = m->node, .by = m->by, .at = at};
    for (size_t i = 0; m && i < n_gates; i++) {
        if (!(each->asked & 1u << i))
            continue;
        bool news = anew || m->each.verdicts[i] != each->verdicts[i];
        m->each.asked |= 1u << i;
        m->each.verdicts[i] = each->verdicts[i];
        struct keeper_said said = said_of(k, m, i, shut_for(k, m, i));
        if (said.verdict == MAINT_PASS)
            m->shut_at[i] = 0;
        else if (!m->shut_at[i])
            m->shut_at[i] = k->now.wall;
        if (news && k->opts.said)
            k->opts.said(k->opts.arg, &said);
    }
}

enum maint_gate keeper_gate(struct keeper *k, const struct gate_who *who, enum check_when at,
                            struct arena *arena, struct gate_answer *out) {
    keeper_gate_ask(k, who, at, arena, out);
    remember(k, who, at, &out->each);
    return out->verdict;
}

void keeper_each_said(const struct keeper *k, keeper_said_fn *fn, void *arg) {
    for (size_t i = 0; i < k->said.len; i++)
        for (size_t j = 0; j < n_gates; j++)
            if (k->said.p[i].each.asked & 1u << j) {
                struct keeper_said said =
                    said_of(k, &k->said.p[i], j, shut_for(k, &k->said.p[i], j));
                fn(arg, &said);
            }
}

/* Whether it is still about to take that step. */
static bool stands_there(const struct keeper *k, const struct slots *s,
                         const struct gate_memory *m) {
    const struct slot *slot = slots_holder(s, m->node);
    const struct slot_wish *wish = slots_waits(s, m->node);
    if (slot && streq(slot->by, m->by))
        return m->at == (keeper_is_taken_over(k, slot) ? CHECK_CORDON
                         : is_back(slot)               ? CHECK_RETURN
                         : slot->state < SLOT_GRANTED || !keeper_has_begun(k, slot)
                             ? CHECK_OPERATION
                             : 0);
    if (m->at != CHECK_CORDON)
        return false;
    if (wish && streq(wish->by, m->by))
        return true;
    for (size_t i = 0; i < k->upkeeps.len; i++)
        if (str_starts(m->by, KEEPER_BY_MAINTENANCE) &&
            streq(m->by + strlen(KEEPER_BY_MAINTENANCE), k->upkeeps.p[i]->name))
            return str_same(keeper_upkeep_waits(k, k->upkeeps.p[i]), m->node);
    return false;
}

static void forget_gone(struct keeper *k, const struct slots *s) {
    size_t kept = 0;
    for (size_t i = 0; i < k->said.len; i++)
        if (stands_there(k, s, &k->said.p[i]))
            k->said.p[kept++] = k->said.p[i];
        else
            memory_done(&k->said.p[i]);
    k->said.len = kept;
}

/* --- what is written of it --- */

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
        if (answer.verdict == MAINT_PASS)
            (void)keeper_hold_waits(k, slot, arena, &answer);
        say(k, s, slot->node, &answer, arena, &changed);
    }
    for (size_t i = 0; i < s->waiting.len; i++) {
        const struct slot_wish *wish = &s->waiting.p[i];
        struct gate_answer answer = {.verdict = MAINT_PASS};
        if (slots_holder(s, wish->node))
            continue; /* that of its last time is being put back */
        keeper_gate(k, &(struct gate_who){wish->node, wish->operation, wish->by}, CHECK_CORDON,
                    arena, &answer);
        if (answer.verdict == MAINT_PASS && keeper_blind(k))
            answer = (struct gate_answer){.verdict = MAINT_WAIT,
                                          .code = BLOCKER_SERVER_TROUBLE,
                                          .object = "",
                                          .message = keeper_blind(k)};
        say(k, s, wish->node, &answer, arena, &changed);
    }
    forget_gone(k, s);
    return changed;
}
