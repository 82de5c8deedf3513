/* Rollouts: life, steps, and the Maintenances that they make. */
#include "engine/rollout.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/approval.h"
#include "engine/maintenance.h"
#include "engine/reason.h"
#include "engine/rollout_internal.h"
#include "model/version.h"

enum {
    LABEL_LEN = 63,      /* of a label's value */
    STATUS_EVERY_S = 1,  /* what it says is written so often, at most; its phase at once */
    SEEN_WITHIN_S = 30,  /* what was made turns up in the watch, or is made again */
    RETRY_FIRST_MS = 50, /* after a write that did not succeed */
    RETRY_MAX_MS = 5000,
};

/* --- small things --- */

static void wake(struct rollouts *rs, int64_t at) {
    if (at <= rs->now.mono)
        rs->dirty = true;
    else
        rs->next = MIN_OF(rs->next, at);
}

static int64_t backoff(struct rollouts *rs, unsigned tries) {
    return rs->now.mono +
           action_backoff(&rs->random, tries, MSEC(RETRY_FIRST_MS), MSEC(RETRY_MAX_MS));
}

__attribute__((format(printf, 4, 5))) static void
tell(const struct rollouts *rs, const struct roll *roll, const char *reason, const char *fmt, ...) {
    va_list ap;
    if (!rs->opts.note)
        return;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    rs->opts.note(rs->opts.arg, &(struct rollout_note){.rollout = roll->name,
                                                       .uid = roll->uid,
                                                       .reason = reason,
                                                       .text = text,
                                                       .warning = reason_find(reason)->warning});
}

/* --- life --- */

struct rollouts *rollouts_new(const struct rollouts_opts *opts) {
    struct rollouts *rs = xnew(struct rollouts);
    rs->opts = *opts;
    rs->random.state = opts->seed;
    rs->dirty = true;
    rs->next = rs->mark_next = INT64_MAX;
    return rs;
}

static void begun_done(struct begun *b) {
    free(b->name);
    free(b->node);
    free(b->version);
}

static void roll_free(struct roll *roll) {
    for (size_t i = 0; i < roll->begun.len; i++)
        begun_done(&roll->begun.p[i]);
    vec_done(&roll->begun);
    for (size_t i = 0; i < roll->seen.len; i++)
        free(roll->seen.p[i]);
    vec_done(&roll->seen);
    rollout_turn_forget(roll);
    vec_done(&roll->ahead);
    rollout_marks_forget(roll);
    vec_done(&roll->to_come);
    vec_done(&roll->under_way);
    free(roll->name);
    free(roll->uid);
    free(roll->version);
    free(roll->told);
    free(roll);
}

void rollouts_free(struct rollouts *rs) {
    if (!rs)
        return;
    for (size_t i = 0; i < rs->list.len; i++)
        roll_free(rs->list.p[i]);
    vec_done(&rs->list);
    vec_done(&rs->aheads);
    rollout_marks_done(rs);
    free(rs);
}

static struct roll *find(const struct rollouts *rs, const char *name) {
    for (size_t i = 0; i < rs->list.len; i++)
        if (streq(rs->list.p[i]->name, name))
            return rs->list.p[i];
    return NULL;
}

static const struct rollout *object_of(const struct rollouts *rs, const struct roll *roll) {
    return (const struct rollout *)store_get(rs->opts.rollouts, NULL, roll->name);
}

/* Those whose objects are gone; another of that name has nothing of the old one. */
static void forget(struct rollouts *rs) {
    size_t kept = 0;
    for (size_t i = 0; i < rs->list.len; i++) {
        struct roll *roll = rs->list.p[i];
        const struct rollout *r = object_of(rs, roll);
        if (roll->action || (r && str_same(r->meta.uid, roll->uid)))
            rs->list.p[kept++] = roll;
        else
            roll_free(roll);
    }
    rs->list.len = kept;
}

/* Where a store has them depends on chance. */
static int by_name(const void *a, const void *b) {
    const struct roll *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void take_in(struct rollouts *rs) {
    const struct object *obj;
    bool more = false;
    forget(rs);
    for (uint32_t i = 0; (obj = store_next(rs->opts.rollouts, &i));) {
        if (find(rs, obj->meta.name))
            continue;
        struct roll *roll = xnew(struct roll);
        roll->name = xstrdup(obj->meta.name);
        roll->uid = xstrdup(strna(obj->meta.uid));
        roll->done = -1;
        *vec_push(&rs->list) = roll;
        more = true;
    }
    if (more)
        qsort(rs->list.p, rs->list.len, sizeof *rs->list.p, by_name);
}

/* --- slots --- */

static void count(struct rollouts *rs, struct ahead *a, const char *name) {
    const struct node *node = cluster_node(rs->opts.cluster, name);
    struct rollout_policy p;
    if (node && rs->opts.policy(rs->opts.arg, node, &p) == 1 && p.keeper == a->keeper)
        keeper_ahead_count(a->ahead, node);
}

/* What is held, and what those will hold that were begun already, by whomever. */
static struct ahead *ahead_of(struct rollouts *rs, struct keeper *keeper) {
    const struct object *obj;
    for (size_t i = 0; i < rs->aheads.len; i++)
        if (rs->aheads.p[i].keeper == keeper)
            return &rs->aheads.p[i];
    struct ahead *a = vec_push(&rs->aheads);
    *a = (struct ahead){keeper, keeper_ahead_new(keeper)};
    if (!a->ahead)
        return a;
    for (uint32_t i = 0; (obj = store_next(rs->opts.maintenances, &i));)
        if (!maint_ended(maint_phase_find(((const struct maintenance *)obj)->phase)))
            count(rs, a, ((const struct maintenance *)obj)->node);
    for (size_t i = 0; i < rs->list.len; i++)
        for (size_t j = 0; j < rs->list.p[i]->begun.len; j++)
            count(rs, a, rs->list.p[i]->begun.p[j].node);
    return a;
}

bool rollout_has_slot(struct rollouts *rs, const struct survey_node *n) {
    const struct ahead *a = ahead_of(rs, n->keeper);
    return a->ahead && keeper_ahead_may(a->ahead, n->node);
}

static void aheads_done(struct rollouts *rs) {
    for (size_t i = 0; i < rs->aheads.len; i++)
        keeper_ahead_free(rs->aheads.p[i].ahead);
    rs->aheads.len = 0;
}

/* --- making Maintenances --- */

static void write_executor(struct jsonw *w, const struct own_executor *e) {
    if (!e)
        return;
    jsonw_kbegin(w, "executor", '{');
    if (e->fleetlock || e->sim) {
        jsonw_kbegin(w, e->fleetlock ? "fleetlock" : "sim", '{');
        jsonw_end(w);
    }
    if (e->exec) {
        jsonw_kbegin(w, "exec", '{');
        jsonw_kbegin(w, "command", '[');
        for (size_t i = 0; i < list_len(e->exec->command); i++)
            jsonw_str(w, strna(e->exec->command[i])); /* one that is empty is an argument, too */
        jsonw_end(w);
        jsonw_end(w);
    }
    if (e->http) {
        jsonw_kbegin(w, "http", '{');
        jsonw_kstr(w, "url", strna(e->http->url));
        jsonw_end(w);
    }
    jsonw_end(w);
}

/* With its rollout for its owner: when that is deleted, so is this, which cancels it; and with the
 * finalizer that the keeper would put on it first of all. */
static void write_meta(struct jsonw *w, const struct rollout *r, const char *name) {
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kstr(w, "name", name);
    if (strlen(r->meta.name) <= LABEL_LEN) {
        jsonw_kbegin(w, "labels", '{');
        jsonw_kstr(w, ROLLOUT_LABEL, r->meta.name);
        jsonw_end(w);
    }
    const char *approved = map_get(r->meta.annotations, APPROVAL_ANNOTATION);
    if (approved) {
        jsonw_kbegin(w, "annotations", '{');
        jsonw_kstr(w, APPROVAL_ANNOTATION, approved);
        jsonw_end(w);
    }
    jsonw_kbegin(w, "finalizers", '[');
    jsonw_str(w, KEEPER_FINALIZER);
    jsonw_end(w);
    jsonw_kbegin(w, "ownerReferences", '[');
    jsonw_begin(w, '{');
    jsonw_kstr(w, "apiVersion", OWN_API_VERSION);
    jsonw_kstr(w, "kind", kind_rollout.name);
    jsonw_kstr(w, "name", r->meta.name);
    jsonw_kstr(w, "uid", strna(r->meta.uid));
    jsonw_kbool(w, "controller", true);
    jsonw_end(w);
    jsonw_end(w);
    jsonw_end(w);
}

static void begin(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                  const struct node *node) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    char *name = rollout_maintenance_name(r->meta.name, node->meta.name);
    jsonw_init(&w, &body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", OWN_API_VERSION);
    jsonw_kstr(&w, "kind", kind_maintenance.name);
    write_meta(&w, r, name);
    jsonw_kbegin(&w, "spec", '{');
    jsonw_kstr(&w, "node", node->meta.name);
    jsonw_kstr(&w, "operation", strna(r->operation));
    jsonw_kopt(&w, "policy", r->policy);
    jsonw_kopt(&w, "reason", r->reason);
    write_executor(&w, r->executor);
    jsonw_end(&w);
    jsonw_end(&w);
    uint64_t action = actions_add(rs->out, &rs->opts.cluster->actions,
                                  &(struct action){.verb = ACTION_CREATE,
                                                   .kind = &kind_maintenance,
                                                   .name = name,
                                                   .body = str_get(&body),
                                                   .grace = -1});
    *vec_push(&roll->begun) = (struct begun){
        .name = name, .node = xstrdup(node->meta.name), .action = action, .since = rs->now.mono};
}

/* As many as there are slots for. Whether all that wait were begun. */
static bool begin_next(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                       struct rollout_survey *s) {
    struct rollout_turn turn;
    struct survey_node *n;
    bool all = true;
    if (roll->not_before > rs->now.mono) {
        wake(rs, roll->not_before);
        return false;
    }
    rollout_turn_init(&turn, rs);
    while ((n = rollout_turn_next(rs, roll, s, &turn))) {
        keeper_ahead_count(ahead_of(rs, n->keeper)->ahead, n->node);
        rollout_turn_taken(&turn, n);
        begin(rs, roll, r, n->node);
        tell(rs, roll, REASON_NODE_BEGUN, "begins with node %s", n->node->meta.name);
    }
    roll->looking = turn.until;
    if (turn.until)
        wake(rs, turn.until);
    rollout_turn_done(&turn);
    for (size_t i = 0; i < s->next.len; i++)
        all &= s->next.p[i].begun;
    return all;
}

/* Those that the watch has brought, or should have. */
static void see_begun(struct rollouts *rs, struct roll *roll) {
    size_t kept = 0;
    for (size_t i = 0; i < roll->begun.len; i++) {
        struct begun *b = &roll->begun.p[i];
        bool there = store_get(rs->opts.maintenances, NULL, b->name);
        bool passed = b->version && store_version(rs->opts.maintenances) &&
                      version_compare(store_version(rs->opts.maintenances), b->version) >= 0;
        int64_t due = b->since + SEC(SEEN_WITHIN_S);
        if (b->action || (!there && !passed && due > rs->now.mono)) {
            if (!b->action)
                wake(rs, due);
            roll->begun.p[kept++] = *b;
        } else {
            begun_done(b);
        }
    }
    roll->begun.len = kept;
}

/* --- steps --- */

static void write_status(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                         const struct rollout_survey *s, const struct rollout_verdict *v,
                         bool must) {
    _cleanup_str_ struct str body = STR_INIT;
    bool urgent;
    if (!rollout_status(rs, r, s, v, &body, &urgent) && !must)
        return;
    int64_t at = MAX_OF(roll->not_before, urgent || must ? 0 : roll->status_at);
    if (at > rs->now.mono) {
        wake(rs, at);
        return;
    }
    roll->status_at = rs->now.mono + SEC(STATUS_EVERY_S);
    roll->action = actions_add(rs->out, &rs->opts.cluster->actions,
                               &(struct action){.verb = ACTION_PATCH,
                                                .kind = &kind_rollout,
                                                .name = roll->name,
                                                .subresource = "status",
                                                .body = str_get(&body),
                                                .grace = -1});
    if (urgent && !str_same(roll->told, v->reason)) {
        str_replace(&roll->told, v->reason);
        tell(rs, roll, v->reason, "is %s: %s", v->phase, str_get(&v->message));
    }
}

/* Whoever leads next does not know which of them were told: it begins with those that come. */
static void tell_done(struct rollouts *rs, struct roll *roll, const struct rollout_survey *s) {
    int32_t before = roll->done, more = s->counts.complete - before - 1;
    roll->done = s->counts.complete;
    if (before < 0 || more < 0 || !s->last)
        return;
    _cleanup_free_ char *others = more ? xasprintf(" and %d more", more) : xstrdup("");
    tell(rs, roll, REASON_NODE_DONE, "is done with node %s%s: %d of %d are", s->last, others,
         s->counts.complete, s->counts.total);
}

static void step(struct rollouts *rs, struct roll *roll, const struct rollout *r) {
    struct rollout_survey s;
    struct rollout_verdict v;
    if (r->meta.deleted || str_same(r->phase, "Complete")) {
        rollout_turn_forget(roll);
        rollout_marks_forget(roll);
        roll->placed = true;
        return;
    }
    see_begun(rs, roll);
    rollout_survey(rs, roll, r, &s);
    tell_done(rs, roll, &s);
    rollout_judge(rs, r, &s, &v);
    /* Whoever takes over may know an old status, and that a Maintenance is gone already which only
     * a newer one remembers. What is written succeeds with the newest. */
    bool unsure = v.begins && s.next.len && !roll->sure;
    if (v.begins && !unsure && begin_next(rs, roll, r, &s))
        v.waits = v.waits && !blocker_is_turn(v.wait.code);
    rollout_turn_look(rs, roll, r, &s, v.begins);
    if (!v.begins || (!unsure && !roll->looking))
        rollout_marks_place(roll, &s, &v);
    if (v.until)
        wake(rs, rs->now.mono + (v.until - rs->now.wall));
    write_status(rs, roll, r, &s, &v, unsure);
    rollout_verdict_done(&v);
    rollout_survey_done(&s);
}

static void step_all(struct rollouts *rs) {
    take_in(rs);
    for (size_t i = 0; i < rs->list.len; i++) {
        struct roll *roll = rs->list.p[i];
        const struct rollout *r = object_of(rs, roll);
        if (r && !roll->action && version_compare(r->meta.version, roll->version) >= 0)
            step(rs, roll, r);
    }
    aheads_done(rs);
}

void rollouts_step(struct rollouts *rs, struct now now, struct actions *out) {
    rs->now = now;
    rs->out = out;
    bool due = rs->dirty || rs->next <= now.mono; /* or there are only marks to write */
    if (due) {
        rs->dirty = false;
        rs->next = INT64_MAX;
    }
    if (store_synced(rs->opts.rollouts) && store_synced(rs->opts.maintenances) &&
        store_synced(rs->opts.cluster->nodes)) {
        if (due)
            step_all(rs);
        rollout_marks_step(rs);
    }
    rs->out = NULL;
}

static bool pairs_differ(const struct pair *a, const struct pair *b) {
    size_t n = list_len(a);
    if (n != list_len(b))
        return true;
    for (size_t i = 0; i < n; i++)
        if (!map_has(b, a[i].key) || !str_same(map_get(b, a[i].key), a[i].value))
            return true;
    return false;
}

/* Kubelets write all the time; little of that decides whose turn it is. */
static bool node_differs(const struct node *a, const struct node *b) {
    return !a || !b || !str_same(a->meta.uid, b->meta.uid) ||
           node_is_ready(a) != node_is_ready(b) || pairs_differ(a->meta.labels, b->meta.labels);
}

/* What it waits for is its own matter. */
static bool maintenance_differs(const struct maintenance *a, const struct maintenance *b) {
    return !a || !b || !str_same(a->meta.uid, b->meta.uid) || !str_same(a->phase, b->phase) ||
           !a->meta.deleted != !b->meta.deleted;
}

void rollouts_poke(struct rollouts *rs, const struct kind *kind, const struct object *before,
                   const struct object *after) {
    if (kind == &kind_node)
        rs->dirty |= node_differs((const struct node *)before, (const struct node *)after);
    else if (kind == &kind_maintenance)
        rs->dirty |= maintenance_differs((const struct maintenance *)before,
                                         (const struct maintenance *)after);
    else if (!kind || kind == &kind_rollout || kind == &kind_config_map || kind == &kind_policy)
        rs->dirty = true;
}

int64_t rollouts_next(const struct rollouts *rs) {
    return rs->dirty ? 0 : MIN_OF(rs->next, rs->mark_next);
}

/* --- answers --- */

static void begun_answer(struct rollouts *rs, struct roll *roll, size_t i, const struct answer *a) {
    struct begun *b = &roll->begun.p[i];
    b->action = 0;
    b->since = rs->now.mono;
    if (a->outcome == KUBE_OK && a->obj) {
        roll->tries = 0;
        str_replace(&b->version, a->obj->meta.version);
        return;
    }
    if (a->outcome == KUBE_EXISTS)
        return; /* the watch will bring it */
    tell(rs, roll, REASON_NODE_NOT_BEGUN, "could not begin with node %s: %s", b->node, a->message);
    roll->not_before = backoff(rs, ++roll->tries);
    begun_done(b);
    roll->begun.p[i] = roll->begun.p[--roll->begun.len];
}

bool rollouts_answer(struct rollouts *rs, uint64_t action, const struct answer *a, struct now now) {
    rs->now = now;
    if (rollout_marks_answer(rs, action, a))
        return true;
    for (size_t i = 0; i < rs->list.len; i++) {
        struct roll *roll = rs->list.p[i];
        if (roll->action == action) {
            roll->action = 0;
            if (a->outcome == KUBE_OK && a->obj) {
                str_replace(&roll->version, a->obj->meta.version);
                roll->sure = true;
            } else {
                roll->not_before = backoff(rs, ++roll->tries);
            }
            rs->dirty = true;
            return true;
        }
        for (size_t j = 0; j < roll->begun.len; j++)
            if (roll->begun.p[j].action == action) {
                begun_answer(rs, roll, j, a);
                rs->dirty = true;
                return true;
            }
    }
    return false;
}
