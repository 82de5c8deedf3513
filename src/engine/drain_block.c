/* Why pods and nodes wait: blockers begin, last and end; each tells once. */
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/drain_internal.h"

enum {
    TELL_AFTER = 3,     /* seconds until a note tells of what ends by itself: most ends before */
    RECORD_AFTER = 60,  /* the same for an Event; one that only somebody's help ends is told soon */
    REPEAT_AFTER = 600, /* the Event of a wait before the cordon: `status` doubts a drain that it
                           has not heard of for a quarter of an hour */
};

static void tell_blocker(struct drain *d, enum drain_note_kind kind, struct dnode *n,
                         struct dpod *p, const struct drain_blocker *b) {
    if (!d->note)
        return;
    struct drain_note note = {.kind = kind,
                              .time = d->now.wall,
                              .node = &n->pub,
                              .pod = p ? &p->pub : NULL,
                              .blocker = b,
                              .before = n->pub.phase,
                              .text = strna(b->message)};
    d->note(d->arg, &note);
}

static bool same(const struct drain_blocker *b, enum blocker_code code, const char *object) {
    return b->code == code && str_same(b->object, object);
}

/* True when it is another one than before. */
__attribute__((format(printf, 7, 0))) static bool set(struct drain *d, struct drain_blocker *b,
                                                      bool on, enum blocker_code code,
                                                      const char *kind, const char *object,
                                                      const char *fmt, va_list ap) {
    char *message = xvasprintf(fmt, ap);
    bool new = !on || !same(b, code, object);
    free((char *)b->message);
    if (new) {
        free((char *)b->object);
        *b = (struct drain_blocker){
            .code = code, .kind = kind, .object = xstrdup(object), .since = d->now.wall};
    }
    b->message = message;
    return new;
}

/* It may well be over in a moment. */
static bool passes(const struct drain_blocker *b) {
    return blocker_row(b->code)->clears_itself;
}

/* --- pods --- */

static struct dgroup *group_of(struct dnode *n, const struct drain_blocker *b) {
    for (size_t i = 0; i < n->groups.len; i++)
        if (n->groups.p[i].code == b->code && streq(n->groups.p[i].object, b->object))
            return &n->groups.p[i];
    return NULL;
}

static void group_join(struct drain *d, struct dpod *p) {
    struct dnode *n = p->node;
    struct dgroup *g = group_of(n, &p->pub.blocker);
    if (!g) {
        g = vec_push(&n->groups);
        *g = (struct dgroup){.code = p->pub.blocker.code, .object = xstrdup(p->pub.blocker.object)};
    }
    if (!g->count++) {
        g->since = d->now.mono;
        g->told = g->told_more = false;
    }
    if (!g->told && !passes(&p->pub.blocker)) {
        g->told = true;
        tell_blocker(d, NOTE_BLOCKED, n, p, &p->pub.blocker);
    }
}

static void group_leave(struct drain *d, struct dpod *p) {
    struct dgroup *g = group_of(p->node, &p->pub.blocker);
    if (g && !--g->count && g->told)
        tell_blocker(d, NOTE_UNBLOCKED, p->node, p, &p->pub.blocker);
}

/* What keeps a budget's other pods is known some seconds later: that is worth a second line. */
static void tell_more(struct drain *d, struct dpod *p) {
    struct dgroup *g = group_of(p->node, &p->pub.blocker);
    if (!p->explained || !p->explained->causes || !g || !g->told || g->told_more ||
        g->code != BLOCKER_PDB_NO_BUDGET)
        return;
    g->told_more = true;
    tell_blocker(d, NOTE_BLOCKED, p->node, p, &p->pub.blocker);
}

/* What has no owner has no replicas that could be raised. */
static const char *hint_for(enum blocker_code code, const struct drain_pod *p) {
    return code == BLOCKER_PDB_UNSATISFIABLE && str_empty(p->owner) ? BLOCKER_BARE_BUDGET_HINT
                                                                    : NULL;
}

void drain_pod_block(struct drain *d, struct dpod *p, enum blocker_code code, const char *kind,
                     const char *object, const char *fmt, ...) {
    va_list ap;
    struct drain_blocker *b = &p->pub.blocker;
    bool was = p->pub.blocked;
    if (was && !same(b, code, object)) {
        p->pub.blocked = false;
        p->node->pub.blocked_pods--;
        group_leave(d, p);
        was = false;
    }
    va_start(ap, fmt);
    set(d, b, was, code, kind, object, fmt, ap);
    va_end(ap);
    b->hint = hint_for(code, &p->pub);
    if (!was && p->since)
        b->since = p->since;
    if (was)
        tell_more(d, p);
    if (!was) {
        p->pub.blocked = true;
        p->node->pub.blocked_pods++;
        group_join(d, p);
    }
}

void drain_pod_unblock(struct drain *d, struct dpod *p) {
    if (!p->pub.blocked)
        return;
    p->pub.blocked = false;
    p->node->pub.blocked_pods--;
    group_leave(d, p);
}

/* --- nodes --- */

void drain_node_block(struct drain *d, struct dnode *n, enum blocker_code code, const char *kind,
                      const char *object, const char *fmt, ...) {
    va_list ap;
    struct drain_blocker *b = &n->pub.blocker;
    if (n->pub.blocked && !same(b, code, object))
        drain_node_unblock(d, n);
    va_start(ap, fmt);
    bool new = set(d, b, n->pub.blocked, code, kind, object, fmt, ap);
    va_end(ap);
    n->pub.blocked = true;
    if (new) {
        n->blocked_at = d->now.mono;
        n->told_blocked = !passes(b);
    }
    if (new && n->told_blocked)
        tell_blocker(d, NOTE_BLOCKED, n, NULL, b);
}

void drain_node_unblock(struct drain *d, struct dnode *n) {
    if (!n->pub.blocked)
        return;
    n->pub.blocked = false;
    if (n->told_blocked)
        tell_blocker(d, NOTE_UNBLOCKED, n, NULL, &n->pub.blocker);
    n->told_blocked = false;
}

/* --- what lasts --- */

static struct dpod *example(const struct dnode *n, const struct dgroup *g) {
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct drain_pod *p = &n->pods.p[i]->pub;
        if (p->blocked && p->blocker.code == g->code && streq(p->blocker.object, g->object))
            return n->pods.p[i];
    }
    return NULL;
}

static void record(struct drain *d, struct dnode *n, const struct drain_blocker *b) {
    _cleanup_free_ char *text =
        xasprintf("%s %s: %s", blocker_row(b->code)->name, strna(b->object), strna(b->message));
    drain_record_event(d, n, true, REASON_DRAIN_BLOCKED, text);
}

/* It has lasted long enough. */
static bool ripe(struct drain *d, int64_t since, int64_t seconds) {
    int64_t due = since + SEC(seconds);
    drain_wake(d, due);
    return d->now.mono >= due;
}

/* What does not end by itself is not waited for: whoever reads Events, as `locks` does, says what
 * others see by looking. */
static int64_t record_after(enum blocker_code code) {
    return blocker_row(code)->clears_itself ? RECORD_AFTER : TELL_AFTER;
}

static void group_step(struct drain *d, struct dnode *n, struct dgroup *g) {
    struct dpod *p = g->count ? example(n, g) : NULL;
    if (p && !g->told && ripe(d, g->since, TELL_AFTER)) {
        g->told = true;
        tell_blocker(d, NOTE_BLOCKED, n, p, &p->pub.blocker);
    }
    if (p && !g->recorded && ripe(d, g->since, record_after(g->code))) {
        g->recorded = true;
        record(d, n, &p->pub.blocker);
    } else if (!p && g->recorded) {
        g->recorded = false;
        drain_record_event(d, n, false, REASON_DRAIN_UNBLOCKED, blocker_row(g->code)->name);
    }
}

void drain_blockers_step(struct drain *d, struct dnode *n) {
    if (drain_ended(n->pub.phase))
        return;
    for (size_t i = 0; i < n->groups.len; i++)
        group_step(d, n, &n->groups.p[i]);
    if (n->pub.blocked && !n->told_blocked && ripe(d, n->blocked_at, TELL_AFTER)) {
        n->told_blocked = true;
        tell_blocker(d, NOTE_BLOCKED, n, NULL, &n->pub.blocker);
    }
    if (n->pub.phase == DRAIN_WAITING && !n->pub.gated && !n->recorded)
        return; /* nothing is wrong with it */
    /* Before its cordon nothing else on the node tells that a drain is at work, and waits: it is
     * said soon, and again, so that whoever looks can tell a drain that waits from one that was
     * killed. */
    bool gated = n->pub.phase == DRAIN_WAITING && n->pub.gated;
    bool again = gated && n->recorded && n->pub.blocked && ripe(d, n->recorded_at, REPEAT_AFTER);
    if (n->pub.blocked &&
        (again || (!n->recorded && ripe(d, n->blocked_at,
                                        gated ? TELL_AFTER : record_after(n->pub.blocker.code))))) {
        n->recorded = true;
        n->recorded_at = d->now.mono;
        record(d, n, &n->pub.blocker);
    } else if (!n->pub.blocked && n->recorded) {
        n->recorded = false;
        drain_record_event(d, n, false, REASON_DRAIN_UNBLOCKED,
                           blocker_row(n->pub.blocker.code)->name);
    }
}
