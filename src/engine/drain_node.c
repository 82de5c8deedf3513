/* The phases of a node that is drained. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/podrole.h"
#include "engine/told.h"

enum {
    CORDON_RETRY_MS = 100, /* after a conflict: somebody else wrote to the node */
    CORDON_RETRY_MAX = 10,
    FRESH_MS = 200,
    WRITING_MAX = 16,    /* nodes that are written to at a time */
    CONTENDED_AFTER = 5, /* tries until we say so */
    NEVER_AFTER = 30,    /* seconds until a node is given up whose pods can never go */
    UNDO_FOR = 300,      /* seconds at least that taking the cordon back is tried */
    UNSURE_FOR = 10,     /* seconds in which a write whose answer was lost shows, if it was made */
};

#define REASON_IN_PROGRESS "SlipwayDrain" /* of the condition DrainInProgress */

/* --- transitions --- */

/* Nodes that are looked at may wait for the last of those that are being cordoned with them. */
static void count_cordons(struct drain *d, struct dnode *n, enum drain_phase before,
                          enum drain_phase after) {
    if (after == DRAIN_CORDONING)
        n->batch->cordoning++;
    if (before != DRAIN_CORDONING || --n->batch->cordoning)
        return;
    for (size_t i = 0; i < d->nodes.len; i++)
        d->nodes.p[i]->dirty |=
            d->nodes.p[i]->batch == n->batch && d->nodes.p[i]->pub.phase == DRAIN_CHECKING;
}

void drain_node_enter(struct drain *d, struct dnode *n, enum drain_phase phase) {
    enum drain_phase before = n->pub.phase;
    drain_node_unblock(d, n);
    n->pub.phase = phase;
    count_cordons(d, n, before, phase);
    n->pub.since = d->now.wall;
    n->phase_at = d->now.mono;
    n->tries = 0;
    n->not_before = 0;
    n->dirty = true;
    if (drain_ended(phase)) {
        n->pub.ended = d->now.wall;
        d->room = d->checks_ended = true;
    }
    if (!d->note)
        return;
    struct drain_note note = {.kind = NOTE_PHASE,
                              .time = d->now.wall,
                              .node = &n->pub,
                              .before = before,
                              .text = strna(n->error)};
    d->note(d->arg, &note);
}

static const char *s_of(unsigned n) {
    return n == 1 ? "" : "s";
}

static bool is_left(const struct drain_pod *p) {
    return p->state != DRAIN_POD_STAYS && p->state != DRAIN_POD_GONE;
}

static bool has_failed(const struct drain_pod *p) {
    return p->state == DRAIN_POD_FAILED;
}

static bool is_not_tried(const struct drain_pod *p) {
    return is_left(p) && !has_failed(p);
}

/* Pods by name, and what they wait for. */
char *drain_pod_names(const struct dnode *n, bool wanted(const struct drain_pod *p)) {
    _cleanup_str_ struct str text = STR_INIT;
    unsigned left = 0;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct drain_pod *p = &n->pods.p[i]->pub;
        if (!wanted(p) || left++ >= 3)
            continue;
        _cleanup_free_ char *name = drain_full_name(p->ns, p->name);
        str_addf(&text, "%s%s", left > 1 ? ", " : "", name);
        if (!p->blocked)
            continue;
        bool other = *p->blocker.object &&
                     !(streq(p->blocker.object, name) && str_same(p->blocker.kind, "Pod"));
        str_addf(&text, " (%s%s%s)", blocker_row(p->blocker.code)->name, other ? " " : "",
                 other ? p->blocker.object : "");
    }
    if (left > 3)
        str_addf(&text, " and %u more", left - 3);
    return str_take(&text);
}

/* What is still there, in a sentence. */
static char *remaining(const struct dnode *n) {
    return drain_pod_names(n, is_left);
}

static void record_end(struct drain *d, struct dnode *n, enum drain_phase phase) {
    _cleanup_free_ char *left = phase == DRAIN_TIMED_OUT ? remaining(n) : xstrdup("");
    _cleanup_free_ char *why =
        xasprintf("%s%s%s", strna(n->error), *left ? "; still there: " : "", left);
    if (phase == DRAIN_DONE) {
        drain_record_condition(d, n, false, true, "SlipwayDrained",
                               "all pods that can go are gone");
        drain_record_event(d, n, false, REASON_DRAINED, "all pods that can go are gone");
        return;
    }
    if (n->marked)
        drain_record_condition(d, n, false, false, TOLD_ENDED, why);
    if (phase == DRAIN_TIMED_OUT)
        drain_record_event(d, n, true, REASON_DRAIN_TIMED_OUT, why);
    else if (phase == DRAIN_FAILED || phase == DRAIN_REFUSED)
        drain_record_event(d, n, true, REASON_DRAIN_FAILED, why);
    else if (n->marked)
        drain_record_event(d, n, false, REASON_DRAIN_STOPPED, why);
}

/* Nothing can be written while an answer is handled: then it is done in the next step. */
void drain_node_record(struct drain *d, struct dnode *n) {
    if (!n->record_due || !d->out)
        return;
    n->record_due = false;
    record_end(d, n, n->after_undo);
    /* Pods that stay after all need no second replica. */
    for (size_t i = 0; i < n->pods.len; i++)
        drain_pod_needs_none(d, n->pods.p[i]);
}

static void tell_cordon(struct drain *d, struct dnode *n, bool already);

/* It ends before the watch has shown our cordon: the node is cordoned all the same, or may be. */
static void tell_late_cordon(struct drain *d, struct dnode *n) {
    if (n->pub.phase != DRAIN_CORDONING || !n->wrote || n->told_cordon)
        return;
    if (n->written)
        tell_cordon(d, n, false);
    else if (n->unsure)
        n->pub.cordoned_by_us = true;
}

void drain_node_end(struct drain *d, struct dnode *n, enum drain_phase phase, const char *fmt,
                    ...) {
    va_list ap;
    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap);
    va_end(ap);
    free(n->error);
    n->error = text;
    n->pub.error = *text ? text : NULL;
    tell_late_cordon(d, n);
    bool abort = phase != DRAIN_DONE && d->opts.uncordon_on_abort;
    bool rolling = phase == DRAIN_DONE && d->opts.uncordon_when_done && n->held;
    bool undo = n->took && (abort || rolling);
    if (rolling && !n->took)
        drain_tell(d, NOTE_REMARK, n, NULL,
                   "it stays cordoned: it was, before this drain; 'slipway uncordon' lifts it");
    n->after_undo = phase;
    n->pub.emptied = phase == DRAIN_DONE;
    n->record_due = true;
    drain_node_record(d, n);
    if (undo && d->opts.dry_run == DRY_RUN_NONE) {
        n->deadline = d->now.mono + MAX_OF(d->opts.timeout, SEC(UNDO_FOR));
        drain_node_enter(d, n, DRAIN_UNDOING);
        return;
    }
    drain_node_enter(d, n, phase);
}

/* --- the cordon --- */

/* A drain of an earlier run was at it and did not come to its end: what that took is ours to give
 * back. A cordon that somebody asked for by itself is not. */
static bool was_interrupted(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "DrainInProgress");
    return c && str_same(c->c.status, "True") && str_same(c->c.reason, REASON_IN_PROGRESS);
}

const char *drain_unended(const struct node *node, struct arena *arena) {
    struct cordon c;
    char since[TIMEFMT_LEN];
    if (!node->unschedulable || !was_interrupted(node))
        return NULL;
    cordon_of(node, arena, &c);
    const char *holder = cordon_text(&c, arena);
    int64_t when = node_condition_find(node->conditions, "DrainInProgress")->c.changed;
    return arena_printf(arena,
                        "another drain of it%s%s is still at work, or was killed; it is held by %s",
                        when ? ", begun at " : "", when ? time_format(when, false, since) : "",
                        *holder ? holder : "somebody");
}

/* `judge`: a record of an earlier cordon does not count. */
static bool is_holder(const struct drain *d, const struct dnode *n, const struct node *node,
                      bool judge) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    if (judge && !was_interrupted(node))
        cordon_judge(node, drain_server_now(d), &c);
    if (c.earlier)
        return false;
    for (size_t i = 0; i < c.n_holders; i++)
        if (streq(c.holders[i].id, strna(drain_holder(d, n)->id)))
            return true;
    return false;
}

static bool are_holder(const struct drain *d, const struct dnode *n, const struct node *node) {
    return is_holder(d, n, node, false);
}

/* Who is in the record beside us; NULL: nobody. */
static const char *other_holder(const struct drain *d, const struct dnode *n,
                                const struct node *node, struct arena *arena) {
    struct cordon c;
    cordon_of(node, arena, &c);
    cordon_judge(node, drain_server_now(d), &c);
    for (size_t i = 0; c.owner == CORDON_SLIPWAY && !c.earlier && i < c.n_holders; i++) {
        const struct cordon one = {
            .owner = CORDON_SLIPWAY, .holders = &c.holders[i], .n_holders = 1};
        if (!streq(c.holders[i].id, strna(drain_holder(d, n)->id)))
            return cordon_text(&one, arena);
    }
    return NULL;
}

/* Whoever drains a node beside somebody else wants to know: one that has begun before, one that
 * comes to it later, or one that has written the same record at the same moment. */
static void tell_other(struct drain *d, struct dnode *n, const struct node *node) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    if (n->told_other)
        return;
    const char *text = n->marked ? NULL : drain_unended(node, &arena);
    const char *holder = text ? NULL : other_holder(d, n, node, &arena);
    bool beaten = n->wrote && !n->written && !n->unsure && node->unschedulable;
    if (holder)
        text =
            arena_printf(&arena, "it is held by %s as well, who may be draining it, too", holder);
    else if (!text && beaten && are_holder(d, n, node))
        text = arena_printf(&arena,
                            "another process has cordoned it as %s at the same moment, and may be "
                            "draining it, too",
                            strna(drain_holder(d, n)->id));
    if (!text)
        return;
    n->told_other = true;
    drain_tell(d, NOTE_REMARK, n, NULL, text);
}

static bool was_cordoned_before(const struct node *node) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    return c.before;
}

static void write_node(struct drain *d, struct dnode *n, const struct str *patch) {
    n->action = drain_request(d,
                              &(struct action){.verb = ACTION_PATCH,
                                               .kind = &kind_node,
                                               .name = n->pub.name,
                                               .body = str_get(patch),
                                               .grace = -1,
                                               .dry_run = d->opts.dry_run == DRY_RUN_SERVER},
                              n, NULL, NULL);
}

static void tell_cordon(struct drain *d, struct dnode *n, bool already) {
    if (n->told_cordon)
        return;
    n->told_cordon = true;
    n->pub.was_cordoned = already;
    n->pub.cordoned_by_us = !already;
    drain_tell(d, already ? NOTE_ALREADY_CORDONED : NOTE_CORDONED, n, NULL, NULL);
    if (already)
        return;
    const struct cordon_holder *h = drain_holder(d, n);
    _cleanup_free_ char *text =
        xasprintf("cordoned by %s%s%s", str_empty(h->by) ? strna(h->id) : h->by,
                  str_empty(h->reason) ? "" : ": ", strna(h->reason));
    drain_record_event(d, n, false, REASON_CORDONED, text);
}

/* Our own write has come back. */
static bool is_fresh(struct drain *d, struct dnode *n) {
    if (store_fresh(d->cluster->nodes, NULL, n->pub.name))
        return true;
    drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, "Node", n->pub.name,
                     "it was written; the watch has not shown it yet");
    /* Something else than a change of the node may tell, a new list for instance. */
    drain_wake(d, d->now.mono + MSEC(FRESH_MS));
    return false;
}

/* Writes are not queued elsewhere: what was decided may not be so when its turn comes. */
static bool must_queue(struct drain *d, struct dnode *n) {
    n->queued = d->writing >= WRITING_MAX;
    return n->queued;
}

bool drain_writes_next(struct drain *d) {
    unsigned room = d->writing < WRITING_MAX ? WRITING_MAX - d->writing : 0, woken = 0;
    for (size_t i = 0; woken < room && i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        woken += n->queued;
        n->dirty |= n->queued;
        n->queued = false;
    }
    return woken > 0;
}

/* Whoever cordons it has done so, and takes it back. */
static void begin_held(struct drain *d, struct dnode *n) {
    n->held = n->told_cordon = n->pub.cordoned_by_us = true;
    drain_node_enter(d, n, DRAIN_CHECKING);
}

static void cordon(struct drain *d, struct dnode *n, const struct node *node) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    if (n->action || n->mark_action) /* of two writes one would fail */
        return;
    if (!is_fresh(d, n))
        return;
    if (d->opts.cordoned) {
        if (node->unschedulable && are_holder(d, n, node))
            begin_held(d, n);
        return;
    }
    if (n->not_before > d->now.mono)
        return;
    tell_other(d, n, node);
    struct cordon_holder holder = *drain_holder(d, n);
    holder.since = drain_server_now(d); /* the taint's time, which it is compared with, is, too */
    enum cordon_change change = cordon_take(node, &holder, &patch, &err);
    /* Once is enough, whatever became of the words of the reason on the way. */
    if (change == CORDON_WRITE && n->written && node->unschedulable && are_holder(d, n, node))
        change = CORDON_NOTHING;
    /* It was ours, and is seen not to be: whoever did that does not want it. */
    if (change == CORDON_WRITE && n->written && !node->unschedulable &&
        d->opts.dry_run == DRY_RUN_NONE) {
        drain_node_end(d, n, DRAIN_FAILED,
                       "somebody uncordoned the node at once: nothing is evicted");
        return;
    }
    switch (change) {
    case CORDON_REFUSED:
        drain_tell(d, NOTE_CORDON_FAILED, n, NULL, err_msg(&err));
        drain_node_end(d, n, DRAIN_FAILED, "cannot cordon: %s", err_msg(&err));
        return;
    case CORDON_NOTHING:
        /* Ours already: from this run, or from an earlier one that goes on now. */
        n->held = true;
        n->took = n->took || was_interrupted(node);
        tell_cordon(d, n, !n->wrote);
        n->pub.cordoned_by_us = !was_cordoned_before(node);
        drain_node_enter(d, n, DRAIN_CHECKING);
        return;
    case CORDON_WRITE:
        break;
    }
    if (node->unschedulable && !n->wrote)
        tell_cordon(d, n, true);
    if (d->opts.dry_run == DRY_RUN_CLIENT) {
        tell_cordon(d, n, false);
        drain_node_enter(d, n, DRAIN_CHECKING);
        return;
    }
    if (must_queue(d, n))
        return;
    n->wrote = n->wrote || !node->unschedulable;
    n->took = n->took || !node->unschedulable || !is_holder(d, n, node, true);
    write_node(d, n, &patch);
}

static void retry(struct drain *d, struct dnode *n, const struct answer *a, const char *what) {
    n->not_before =
        d->now.mono + drain_pause(d, a, ++n->tries, MSEC(CORDON_RETRY_MS), SEC(CORDON_RETRY_MAX));
    if (a->outcome == KUBE_DENIED)
        drain_node_block(d, n, BLOCKER_ADMISSION_DENIED, "Node", n->pub.name, "cannot %s: %s", what,
                         a->message);
    else if (a->outcome != KUBE_CONFLICT)
        drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, "Node", n->pub.name, "cannot %s: %s", what,
                         a->message);
    else if (n->tries >= CONTENDED_AFTER)
        drain_node_block(d, n, BLOCKER_CORDON_CONTENDED, "Node", n->pub.name,
                         "cannot %s: others write to the node all the time (%u tries)", what,
                         n->tries);
}

void drain_node_answer(struct drain *d, struct dnode *n, const struct answer *a) {
    bool undo = n->pub.phase == DRAIN_UNDOING;
    const char *what = undo ? "uncordon" : "cordon";
    bool passes = kube_outcome_row(a->outcome)->retry || a->outcome == KUBE_CONFLICT ||
                  (a->outcome == KUBE_UNAUTHORIZED && ++n->unauthorized < UNAUTHORIZED_MAX);
    if (drain_ended(n->pub.phase))
        return;
    if (a->outcome == KUBE_UNKNOWN) {
        n->unsure = d->now.mono + SEC(UNSURE_FOR);
        n->released = n->released || undo; /* it may have been carried out */
    }
    if (a->outcome == KUBE_OK) {
        n->tries = n->unauthorized = 0;
        n->not_before = 0;
        n->written = true;
        n->released = n->released || undo;
        if (!undo)
            n->cordoned_at = a->date ? a->date : d->now.wall;
        if (d->opts.dry_run == DRY_RUN_SERVER && !undo) {
            tell_cordon(d, n, false);
            drain_node_enter(d, n, DRAIN_CHECKING);
        }
        return;
    }
    if (passes) {
        retry(d, n, a, what);
        return;
    }
    n->pub.access = a->outcome == KUBE_FORBIDDEN || a->outcome == KUBE_UNAUTHORIZED ||
                    a->outcome == KUBE_NO_CREDENTIALS;
    if (undo) {
        drain_tell(d, NOTE_REMARK, n, NULL, a->message);
        n->held = false;
        drain_node_enter(d, n, n->after_undo);
        return;
    }
    drain_tell(d, NOTE_CORDON_FAILED, n, NULL, a->message);
    drain_node_end(d, n, DRAIN_FAILED, "cannot cordon: %s", a->message);
}

/* Takes our hold back. */
static void undo(struct drain *d, struct dnode *n, const struct node *node) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    bool stays = false;
    if (n->action)
        return;
    if (d->now.mono >= n->deadline) {
        drain_tell(d, NOTE_REMARK, n, NULL,
                   "the cordon could not be taken back: it stays cordoned");
        drain_node_enter(d, n, n->after_undo);
        return;
    }
    if (n->not_before > d->now.mono || !is_fresh(d, n))
        return;
    bool ours = node && are_holder(d, n, node);
    if (node && !ours && n->unsure > d->now.mono) {
        drain_wake(d, n->unsure); /* what we wrote without an answer may still come */
        return;
    }
    if (!ours ||
        cordon_release(node, drain_holder(d, n)->id, false, &patch, &stays, &err) != CORDON_WRITE) {
        n->held = false;
        if (node && node->unschedulable)
            drain_tell(d, NOTE_REMARK, n, NULL,
                       "it stays cordoned: others hold it, or somebody had cordoned it before; "
                       "'slipway uncordon' says who");
        if (node && !node->unschedulable && n->released) {
            n->pub.cordoned_by_us = false;
            drain_tell(d, NOTE_UNCORDONED, n, NULL, NULL);
            drain_record_event(d, n, false, REASON_UNCORDONED, "");
            if (n->after_undo == DRAIN_DONE)
                drain_record_condition(d, n, false, false, "SlipwayUncordoned", "in service again");
        }
        drain_node_enter(d, n, n->after_undo);
        return;
    }
    if (!must_queue(d, n))
        write_node(d, n, &patch);
}

/* --- emptying --- */

/* It was looked at, and nothing is against it. */
static void begin(struct drain *d, struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    if (node) /* the last look before the condition is ours, too */
        tell_other(d, n, node);
    n->marked = true;
    const struct cordon_holder *h = drain_holder(d, n);
    _cleanup_free_ char *who =
        xasprintf("is being drained by %s%s%s", str_empty(h->by) ? strna(h->id) : h->by,
                  str_empty(h->reason) ? "" : ": ", strna(h->reason));
    drain_record_condition(d, n, true, false, REASON_IN_PROGRESS, who);
    _cleanup_free_ char *text =
        xasprintf("%u pod%s to go, %u to stay", n->pub.total, s_of(n->pub.total), n->pub.stays);
    drain_record_event(d, n, false, REASON_DRAIN_STARTED, text);
    if (d->opts.timeout) {
        n->deadline = d->now.mono + d->opts.timeout;
        n->pub.deadline = d->now.wall + d->opts.timeout;
    }
    drain_node_enter(d, n, DRAIN_EVICTING);
}

/* Of the pods that failed: those of a higher order are not begun. */
static int32_t failed_order(const struct dnode *n) {
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; i < n->pods.len; i++)
        if (n->pods.p[i]->pub.state == DRAIN_POD_FAILED)
            lowest = MIN_OF(lowest, n->pods.p[i]->rule.order);
    return lowest;
}

/* What has to go and has neither gone nor failed. */
static unsigned open_pods(const struct drain *d, const struct dnode *n) {
    unsigned open = 0;
    int32_t last = failed_order(n);
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct dpod *p = n->pods.p[i];
        bool over = p->pub.state == DRAIN_POD_STAYS || p->pub.state == DRAIN_POD_GONE ||
                    p->pub.state == DRAIN_POD_FAILED;
        over = over || drain_pod_answered(d, p) ||
               (p->pub.state == DRAIN_POD_QUEUED && p->rule.order > last);
        open += !over || p->action;
    }
    return open;
}

/* The API refuses every eviction of this pod, and no rule does anything else about it. */
static bool never_goes(const struct dpod *p) {
    return p->pub.state == DRAIN_POD_BLOCKED && p->pub.blocker.code == BLOCKER_MULTIPLE_PDBS &&
           drain_only_asked(p);
}

/* Nothing is left but pods that can never go: nobody waits for ever for that, with a timeout or
 * without. For a while, in case that somebody mends it. */
static bool is_hopeless(struct drain *d, struct dnode *n) {
    unsigned never = 0;
    int64_t due = 0;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct dpod *p = n->pods.p[i];
        bool open =
            p->action || (p->pub.state != DRAIN_POD_STAYS && p->pub.state != DRAIN_POD_GONE &&
                          p->pub.state != DRAIN_POD_FAILED);
        if (open && !never_goes(p))
            return false;
        if (open)
            due = MAX_OF(due, p->first + SEC(NEVER_AFTER));
        never += open;
    }
    drain_wake(d, due);
    if (!never || d->now.mono < due)
        return false;
    _cleanup_free_ char *left = remaining(n);
    drain_node_end(d, n, DRAIN_TIMED_OUT, "%u pod%s can never be evicted: %s", never, s_of(never),
                   left);
    return true;
}

static bool is_late(struct drain *d, struct dnode *n) {
    if (!n->deadline || d->now.mono < n->deadline)
        return false;
    char limit[TIMEFMT_LEN];
    drain_node_end(d, n, DRAIN_TIMED_OUT, "global timeout reached: %s%s%s",
                   duration_format_go(d->opts.timeout, limit), n->pub.blocked ? ": " : "",
                   n->pub.blocked ? n->pub.blocker.message : "");
    return true;
}

/* Whether the cordon that everything rests on is still ours. */
static bool lost_hold(struct drain *d, struct dnode *n, const struct node *node) {
    if (d->opts.dry_run != DRY_RUN_NONE || !store_fresh(d->cluster->nodes, NULL, n->pub.name))
        return false;
    if (!node->unschedulable)
        drain_node_end(d, n, DRAIN_FAILED,
                       "somebody uncordoned the node during the drain: nothing more is evicted");
    else if (!are_holder(d, n, node))
        drain_node_end(d, n, DRAIN_FAILED,
                       "somebody took our hold off the node during the drain: nothing more is "
                       "evicted");
    else {
        tell_other(d, n, node);
        return false;
    }
    return true;
}

/* Pods were given up. That of all of them a blocker was the cause for longer than their rules bear
 * is what a timeout is. */
static void end_with_failures(struct drain *d, struct dnode *n) {
    const char *first = NULL;
    bool late = true;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct dpod *p = n->pods.p[i];
        if (!has_failed(&p->pub))
            continue;
        first = first ? first : p->pub.error;
        late = late && p->outlasted;
    }
    _cleanup_free_ char *failed = drain_pod_names(n, has_failed),
                        *rest = drain_pod_names(n, is_not_tried);
    drain_node_end(d, n, late ? DRAIN_TIMED_OUT : DRAIN_FAILED,
                   "%u pod%s could not be evicted (%s): %s%s%s", n->pub.failed, s_of(n->pub.failed),
                   failed, strna(first), *rest ? "; not tried: " : "", rest);
}

static void evict(struct drain *d, struct dnode *n) {
    bool confirmed = drain_confirm(d, n, &n->pods_list, &kind_pod);
    drain_owners_see(d, n);
    drain_pods_look(d, n);
    if (is_late(d, n) || is_hopeless(d, n))
        return;
    if (!drain_all_known(d, n)) {
        drain_block_by_reads(d, n);
        return;
    }
    if (open_pods(d, n)) {
        drain_node_unblock(d, n); /* its pods say what they wait for */
        return;
    }
    if (!confirmed) {
        drain_confirm_block(d, n, &n->pods_list, &kind_pod);
        return;
    }
    drain_node_unblock(d, n);
    unsigned blocked = 0;
    for (size_t i = 0; i < n->pods.len; i++)
        blocked += n->pods.p[i]->pub.state == DRAIN_POD_BLOCKED;
    if (n->pub.failed) {
        end_with_failures(d, n);
    } else if (blocked) {
        _cleanup_free_ char *left = remaining(n);
        drain_node_end(d, n, DRAIN_TIMED_OUT, "%u pod%s would be refused now: %s", blocked,
                       s_of(blocked), left);
    } else if (d->opts.dry_run != DRY_RUN_NONE) {
        drain_node_end(d, n, DRAIN_DONE, "%s", "");
    } else {
        drain_node_enter(d, n, DRAIN_DETACHING);
    }
}

/* After the pods: late ones send it back. */
static bool came_again(struct drain *d, struct dnode *n) {
    drain_pods_look(d, n);
    if (open_pods(d, n)) {
        drain_node_enter(d, n, DRAIN_EVICTING);
        return true;
    }
    if (drain_all_known(d, n))
        return false;
    drain_block_by_reads(d, n); /* one that has to be looked up first may have to go, too */
    return true;
}

static void stop(struct drain *d, struct dnode *n) {
    bool began = n->pub.phase > DRAIN_WAITING;
    _cleanup_free_ char *left = remaining(n);
    drain_node_end(d, n, DRAIN_STOPPED, "%s%s%s", n->dropped ? n->dropped : d->stopped,
                   !began  ? ": not begun"
                   : *left ? "; still there: "
                           : "",
                   began ? left : "");
}

static void step_once(struct drain *d, struct dnode *n, const struct node *node) {
    switch (n->pub.phase) {
    case DRAIN_WAITING:
        if (n->gate == GATE_SHUT)
            is_late(d, n);
        break;
    case DRAIN_CORDONING:
        if (n->action || !is_late(d, n))
            cordon(d, n, node);
        break;
    case DRAIN_CHECKING:
        if (!lost_hold(d, n, node) && !is_late(d, n))
            if (drain_node_look(d, n))
                begin(d, n);
        break;
    case DRAIN_EVICTING:
        if (!lost_hold(d, n, node))
            evict(d, n);
        break;
    case DRAIN_DETACHING:
        if (lost_hold(d, n, node) || came_again(d, n) || is_late(d, n))
            break;
        if (!drain_volumes_gone(d, n))
            break;
        if (n->may_return > d->now.mono) {
            drain_wake(d, n->may_return);
            break;
        }
        if (!drain_may_operate(d, n))
            break;
        if (d->opts.wait_rescheduled)
            drain_node_enter(d, n, DRAIN_RETURNING);
        else
            drain_node_end(d, n, DRAIN_DONE, "%s", "");
        break;
    case DRAIN_RETURNING:
        if (lost_hold(d, n, node) || came_again(d, n) || is_late(d, n))
            break;
        if (drain_owners_well(d, n))
            drain_node_end(d, n, DRAIN_DONE, "%s", "");
        break;
    case DRAIN_UNDOING:
        undo(d, n, node);
        break;
    default:
        break;
    }
}

/* NULL when it is gone, also when another one has its name now: that is none of ours. */
static const struct node *same_node(const struct drain *d, struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    if (!node || n->pub.phase == DRAIN_WAITING)
        return node;
    if (!n->uid)
        n->uid = xstrdup(strna(node->meta.uid));
    return str_same(n->uid, strna(node->meta.uid)) ? node : NULL;
}

void drain_node_step(struct drain *d, struct dnode *n) {
    for (;;) {
        enum drain_phase phase = n->pub.phase;
        n->dirty = false;
        if (drain_ended(phase))
            return;
        const struct node *node = same_node(d, n);
        if ((d->stopped || n->dropped) && phase != DRAIN_UNDOING) {
            if (n->asking || n->action)
                return; /* their answers come first, so that what is said is true */
            stop(d, n);
        } else if (!node && phase != DRAIN_WAITING && phase != DRAIN_UNDOING) {
            n->pub.cordoned_by_us = n->wrote = n->took = false; /* nothing is left to undo */
            drain_node_end(d, n, DRAIN_FAILED, "%s",
                           phase == DRAIN_CORDONING ? "there is no such node"
                                                    : "the node was deleted during the drain");
        } else {
            step_once(d, n, node);
        }
        if (n->pub.phase == phase)
            return;
    }
}
