/* A drain in a simulated cluster. */
#include "cli/rehearse_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/drain_blockers.h"
#include "cli/drain_lines.h"
#include "cli/drain_summary.h"
#include "engine/moveout.h"
#include "exec/drain_run.h"
#include "model/workload.h"
#include "sim/fleet/fleet.h"
#include "sim/pace.h"
#include "sim/transport.h"

/* How long the copy may take to come to rest before it begins: heartbeats, budgets. */
#define WARM_UP SEC(10)
/* What the controllers and the scheduler may take, once it is over, to make what was evicted and to
 * find it a place: more than the slowest that a history knows. */
#define SETTLE SEC(120)
/* What is asked one after the other before the first pod is: lists, what the server has, the
 * cordon, and that it is there. */
enum { FIRST_REQUESTS = 4 };
/* Nobody plans for longer. */
#define MOST SEC(7 * 86400)
struct run {
    struct rehearsal *out;
    struct fleet *fleet;
    struct loop *loop;
    int64_t taken;   /* wall clock: as it is in the copy, before it moves */
    int64_t begun;   /* wall clock */
    int64_t started; /* the program, since it began: then it can be that nothing moves */
    int64_t moved;   /* when something last did, since it began */
    struct drain_run *drain;
    bool over;
    char *failed; /* why it did not even begin */
};

static int64_t now_of(const struct run *r) {
    return loop_wall(r->loop) - r->begun;
}

/* -1 for times that have not come. */
static int64_t since_begin(const struct run *r, int64_t wall) {
    return wall ? MAX_OF(wall - r->begun, 0) : -1;
}

/* --- waits --- */

static struct rehearsal_wait *wait_of(struct run *r, const struct drain_blocker *b) {
    for (size_t i = 0; i < r->out->waits.len; i++) {
        struct rehearsal_wait *w = &r->out->waits.p[i];
        if (w->code == b->code && str_same(w->object, b->object) && str_same(w->kind, b->kind))
            return w;
    }
    struct rehearsal_wait *w = vec_push(&r->out->waits);
    *w = (struct rehearsal_wait){.code = b->code,
                                 .kind = xstrdup(strna(b->kind)),
                                 .object = xstrdup(strna(b->object)),
                                 .begun = since_begin(r, b->since)};
    return w;
}

static unsigned pods_waiting(const struct run *r, const struct drain_blocker *b) {
    size_t n;
    unsigned pods = 0;
    const struct drain_node *const *nodes = drain_nodes(drain_run_engine(r->drain), &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; nodes[i]->blocked_pods && k < nodes[i]->n_pods; k++)
            pods +=
                nodes[i]->pods[k]->blocked && drain_blocker_same(&nodes[i]->pods[k]->blocker, b);
    return pods;
}

/* It is told again when its words change. */
static void note_blocked(struct run *r, const struct drain_note *note) {
    const struct drain_blocker *b = note->blocker;
    struct rehearsal_wait *w = wait_of(r, b);
    bool known = false;
    for (size_t i = 0; i < w->waiting.len && !known; i++)
        known = w->waiting.p[i] == note->node;
    if (!w->waiting.len)
        w->since = since_begin(r, b->since);
    if (!known)
        *vec_push(&w->waiting) = note->node;
    w->pods = MAX_OF(w->pods, note->pod ? pods_waiting(r, b) : 0);
    str_replace(&w->message, strna(b->message));
}

static void wait_end(const struct run *r, struct rehearsal_wait *w, const void *node) {
    for (size_t i = 0; i < w->waiting.len; i++) {
        if (w->waiting.p[i] != node)
            continue;
        w->waiting.p[i] = w->waiting.p[--w->waiting.len];
        if (!w->waiting.len)
            w->waited += MAX_OF(now_of(r) - w->since, 0);
        return;
    }
}

/* A node that has ended waits for nothing. */
static void waits_end(struct run *r, const struct drain_node *node) {
    for (size_t i = 0; i < r->out->waits.len; i++)
        wait_end(r, &r->out->waits.p[i], node);
}

/* --- notes --- */

static void on_note(void *arg, const struct drain_note *note) {
    struct run *r = arg;
    switch (note->kind) {
    case NOTE_BLOCKED:
        note_blocked(r, note);
        return;
    case NOTE_UNBLOCKED:
        wait_end(r, wait_of(r, note->blocker), note->node);
        return;
    case NOTE_REMARK:
        if (note->text && r->out->remarks.len < 20)
            *vec_push(&r->out->remarks) = xstrdup(note->text);
        return;
    case NOTE_PHASE:
        if (note->node && note->node->phase == DRAIN_DONE)
            waits_end(r, note->node);
        break;
    default:
        break;
    }
    r->moved = now_of(r);
}

static void on_remark(void *arg, const char *text) {
    struct run *r = arg;
    if (r->out->remarks.len < 20)
        *vec_push(&r->out->remarks) = xstrdup(text);
}

static void on_failed(void *arg, const char *what, enum kube_outcome outcome, const char *message) {
    struct run *r = arg;
    (void)outcome;
    free(r->failed);
    r->failed = xasprintf("cannot %s: %s", what, message);
}

static void on_over(void *arg) {
    struct run *r = arg;
    r->over = true;
}

/* --- budgets and pods, as the cluster shows them --- */

static void budget_see(struct run *r, const struct pdb *pdb, bool first) {
    struct rehearsal_budget *b = NULL;
    for (size_t i = 0; !first && i < r->out->budgets.len && !b; i++)
        if (streq(r->out->budgets.p[i].name, pdb->meta.name) &&
            streq(r->out->budgets.p[i].ns, strna(pdb->meta.ns)))
            b = &r->out->budgets.p[i];
    int64_t now = first ? 0 : now_of(r);
    if (!b) {
        b = vec_push(&r->out->budgets);
        *b = (struct rehearsal_budget){.ns = xstrdup(strna(pdb->meta.ns)),
                                       .name = xstrdup(pdb->meta.name),
                                       .before = pdb->allowed,
                                       .least = pdb->allowed,
                                       .expected = pdb->expected,
                                       .desired = pdb->desired,
                                       .allowed = pdb->allowed,
                                       .since = now};
        return;
    }
    if (b->allowed == 0)
        b->closed += now - b->since;
    b->since = now;
    b->allowed = pdb->allowed;
    if (pdb->allowed < b->least) {
        b->least = pdb->allowed;
        b->expected = pdb->expected;
        b->desired = pdb->desired;
    }
}

static void on_budget(void *arg, const struct change *c) {
    struct run *r = arg;
    if (c->type == CHANGE_MODIFIED &&
        record_as(pdb, c->before)->allowed != record_as(pdb, c->after)->allowed)
        budget_see(r, record_as(pdb, c->after), false);
}

static int by_room(const void *pa, const void *pb) {
    const struct rehearsal_budget *a = pa, *b = pb;
    if (a->least != b->least)
        return a->least < b->least ? -1 : 1;
    if (a->closed != b->closed)
        return a->closed > b->closed ? -1 : 1;
    int c = strcmp(a->ns, b->ns);
    return c ? c : strcmp(a->name, b->name);
}

static void budget_free(struct rehearsal_budget *b) {
    free(b->ns);
    free(b->name);
}

/* Those that did not move say nothing about this drain. */
static void budgets_end(struct run *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->out->budgets.len; i++) {
        struct rehearsal_budget *b = &r->out->budgets.p[i];
        bool waited_for = false;
        for (size_t k = 0; k < r->out->waits.len && !waited_for; k++) {
            _cleanup_free_ char *name = xasprintf("%s/%s", b->ns, b->name);
            waited_for = streq(r->out->waits.p[k].object, name) &&
                         streq(r->out->waits.p[k].kind, "PodDisruptionBudget");
        }
        if (b->allowed == 0)
            b->closed += now_of(r) - b->since;
        if (b->least < b->before || waited_for)
            r->out->budgets.p[n++] = *b;
        else
            budget_free(b);
    }
    r->out->budgets.len = n;
    if (n)
        qsort(r->out->budgets.p, n, sizeof *r->out->budgets.p, by_room);
}

static void on_pod(void *arg, const struct change *c) {
    struct run *r = arg;
    r->out->moved += c->type != CHANGE_MODIFIED;
}

/* --- the result --- */

static void take_pod(const struct run *r, const struct drain_pod *p, struct rehearsal_node *out) {
    if (p->state == DRAIN_POD_STAYS)
        return;
    struct rehearsal_pod *to = vec_push(&out->pods);
    *to = (struct rehearsal_pod){
        .ns = xstrdup(strna(p->ns)),
        .name = xstrdup(strna(p->name)),
        .owner = xstrdup(strna(p->owner)),
        .state = p->state,
        .late = p->late,
        .asked = since_begin(r, p->first_try),
        .gone = since_begin(r, p->gone),
        .code = -1,
    };
    if (!drain_pod_remains(p))
        return;
    _cleanup_str_ struct str why = STR_INIT;
    drain_remains_text(p, &why);
    to->why = str_take(&why);
    to->code = p->blocked                      ? (int)p->blocker.code
               : p->state == DRAIN_POD_REFUSED ? (int)p->code
                                               : -1;
    out->left++;
}

static int by_begin(const void *pa, const void *pb) {
    const struct rehearsal_node *a = pa, *b = pb;
    int64_t x = a->began < 0 ? INT64_MAX : a->began, y = b->began < 0 ? INT64_MAX : b->began;
    if (x != y)
        return x < y ? -1 : 1;
    x = a->ended < 0 ? INT64_MAX : a->ended, y = b->ended < 0 ? INT64_MAX : b->ended;
    return x != y ? (x < y ? -1 : 1) : strcmp(a->name, b->name);
}

static void take_result(struct run *r) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(drain_run_engine(r->drain), &n);
    for (size_t i = 0; i < n; i++) {
        struct rehearsal_node *to = vec_push(&r->out->nodes);
        *to = (struct rehearsal_node){
            .name = xstrdup(nodes[i]->name),
            .phase = nodes[i]->phase,
            .began = since_begin(r, nodes[i]->started),
            .ended = since_begin(r, nodes[i]->ended),
            .total = nodes[i]->total,
            .emptied = nodes[i]->phase == DRAIN_DETACHING,
            .error = str_empty(nodes[i]->error) ? NULL : xstrdup(nodes[i]->error),
            .code = nodes[i]->denied ? (int)nodes[i]->code : -1,
        };
        for (size_t k = 0; k < nodes[i]->n_pods; k++)
            take_pod(r, nodes[i]->pods[k], to);
    }
    if (n)
        qsort(r->out->nodes.p, n, sizeof *r->out->nodes.p, by_begin);
    for (size_t i = 0; i < r->out->waits.len; i++) {
        struct rehearsal_wait *w = &r->out->waits.p[i];
        w->open = w->waiting.len > 0;
        if (w->open)
            w->waited += MAX_OF(now_of(r) - w->since, 0);
    }
    budgets_end(r);
    r->out->took = r->out->halted ? r->moved : now_of(r);
    r->out->code = r->out->halted ? EXIT_BLOCKED : (int)drain_exit_code(nodes, n);
}

/* --- what has no place in the end --- */

static void add_pending(struct rehearsal *out, const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodScheduled");
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_str_ struct str name = STR_INIT;
    workload_name(pod, &name);
    for (size_t i = 0; i < out->pending.len; i++)
        if (streq(out->pending.p[i].workload, str_get(&name))) {
            out->pending.p[i].pods++;
            return;
        }
    *vec_push(&out->pending) = (struct rehearsal_pending){
        .workload = str_take(&name),
        .example = xstrdup(pod->meta.name),
        .why = xstrdup(c ? moveout_words(&arena, strna(c->message)) : ""),
        .pods = 1,
    };
}

/* The condition is there from the moment on that no pod is made any more; it is called Failed when
 * the last one has gone. */
static void add_failed(struct run *r, const struct job *job) {
    const struct condition *c = condition_find(job->conditions, "FailureTarget");
    /* in whole seconds */
    if (!c || !str_same(c->status, "True") || c->changed <= r->begun - USEC_PER_SEC)
        return;
    *vec_push(&r->out->pending) = (struct rehearsal_pending){
        .workload = xasprintf("%s/Job/%s", strna(job->meta.ns), strna(job->meta.name)),
        .example = xstrdup(""),
        .why = xstrdup(strna(c->message)),
    };
}

static int by_workload(const void *pa, const void *pb) {
    const struct rehearsal_pending *a = pa, *b = pb;
    return strcmp(a->workload, b->workload);
}

/* Made since the drain began, and still without a node after the scheduler has had its time. What
 * had none before is not the drain's doing. */
static void take_pending(struct run *r) {
    loop_advance(r->loop, SETTLE);
    struct snapshot *snap = shelf_snapshot(r->fleet->pods->shelf);
    for (size_t i = 0; i < snap->n; i++) {
        const struct pod *pod = record_as(pod, snap->items[i]);
        /* created is in whole seconds */
        if (str_empty(pod->node_name) && !pod->meta.deleted &&
            pod->meta.created > r->begun - USEC_PER_SEC)
            add_pending(r->out, pod);
    }
    snapshot_unref(snap);
    snap = shelf_snapshot(r->fleet->jobs->shelf);
    for (size_t i = 0; i < snap->n; i++)
        add_failed(r, record_as(job, snap->items[i]));
    snapshot_unref(snap);
    if (r->out->pending.len)
        qsort(r->out->pending.p, r->out->pending.len, sizeof *r->out->pending.p, by_workload);
}

/* It came to a halt before there was anything to drain: its nodes are as they were. */
static void take_nothing(struct run *r, const struct rehearse_opts *opts) {
    for (size_t i = 0; i < opts->n_names; i++)
        *vec_push(&r->out->nodes) = (struct rehearsal_node){.name = xstrdup(opts->names[i]),
                                                            .phase = DRAIN_WAITING,
                                                            .began = -1,
                                                            .ended = -1,
                                                            .code = -1};
    r->out->took = r->moved;
    r->out->code = EXIT_BLOCKED;
}

/* --- the course of it --- */

/* Until it is over, or nothing moves any more. */
static void play(struct run *r) {
    int64_t next;
    while (!r->over && !r->failed && (next = loop_next(r->loop)) >= 0) {
        loop_advance(r->loop, next);
        if (now_of(r) - r->moved > REHEARSAL_HALT || now_of(r) - r->started > MOST) {
            r->out->halted = true;
            return;
        }
    }
    r->out->halted = !r->over;
}

static void warm_up(struct run *r) {
    struct shelf *pods = r->fleet->pods->shelf;
    shelf_listen(pods, on_pod, r);
    loop_advance(r->loop, WARM_UP);
    shelf_unlisten(pods, on_pod, r);
}

static void see_budgets(struct run *r) {
    struct snapshot *snap = shelf_snapshot(r->fleet->pdbs->shelf);
    for (size_t i = 0; i < snap->n; i++)
        budget_see(r, record_as(pdb, snap->items[i]), true);
    snapshot_unref(snap);
    shelf_listen(r->fleet->pdbs->shelf, on_budget, r);
}

/* A program has to be started, to find its server and to read much at once, which is answered later
 * than what it asks one by one: what is more than its first requests take here. */
static int64_t slow_start(const struct lags_drawn *lags) {
    return MAX_OF(lags->begin - FIRST_REQUESTS * lags->answer, 0);
}

static void drain(struct run *r, struct kube_client *client, const struct rehearse_opts *opts,
                  const struct lags_drawn *lags) {
    struct drain_run_opts o = {
        .drain = *opts->drain,
        .names = opts->names,
        .n_names = opts->n_names,
        .checks = opts->drain->skip_checks != (1u << n_checks) - 1,
        .checks_unread = opts->unread,
        .selected = opts->selected,
        .seed = opts->seed,
        .note = on_note,
        .remark = on_remark,
        .failed = on_failed,
        .over = on_over,
        .arg = r,
    };
    o.drain.seed = opts->seed;
    o.drain.checks_now = r->taken;
    o.drain.holder.since = loop_wall(r->loop);
    r->begun = loop_wall(r->loop);
    see_budgets(r);
    loop_advance(r->loop, slow_start(lags));
    r->started = r->moved = now_of(r);
    r->drain = drain_run_new(client, &o);
    play(r);
    if (!r->failed && drain_run_engine(r->drain))
        take_result(r);
    else if (!r->failed)
        take_nothing(r, opts);
    shelf_unlisten(r->fleet->pdbs->shelf, on_budget, r);
    drain_run_free(r->drain);
    if (!r->failed)
        take_pending(r);
}

size_t rehearse_source(const char *resource) {
    const char *dot = strchr(resource, '.');
    for (size_t i = 0; dot && i < CHECK_SOURCES; i++) {
        const struct kind *k = check_sources[i].kind;
        if (strchr(k->group, '.') && streq(dot + 1, k->group) &&
            strlen(k->resource) == (size_t)(dot - resource) && str_starts(resource, k->resource))
            return i;
    }
    return CHECK_SOURCES;
}

int rehearse_run(struct sim *s, const struct rehearse_opts *opts, struct rehearsal *out,
                 struct err *err) {
    struct world *world = sim_world(s);
    struct lags_drawn lags = lags_draw(opts->lags, opts->seed);
    struct run r = {.out = out, .fleet = sim_fleet(s), .taken = world->clock.now};
    *out = (struct rehearsal){.seed = opts->seed};
    r.loop = loop_new_virtual(world->clock.now);
    world->lag = lags.step;
    world->budget_lag = lags.budget;
    struct pace *pace = pace_new(r.loop, world, 1);
    struct kube_client client = {
        .transport =
            sim_transport_new(r.loop, sim_api(s), pace,
                              &(struct sim_transport_options){.seed = opts->seed,
                                                              .latency_min = lags.answer / 2,
                                                              .latency_max = lags.answer * 3 / 2}),
        .loop = r.loop,
        .pool = pool_new(type_drop),
    };
    warm_up(&r);
    drain(&r, &client, opts, &lags);
    kube_transport_free(client.transport);
    pool_free(client.pool);
    pace_free(pace);
    loop_free(r.loop);
    int rc = r.failed ? err_set(err, EIO, "%s", r.failed) : 0;
    free(r.failed);
    if (rc)
        rehearsal_done(out);
    return rc;
}

void rehearsal_done(struct rehearsal *r) {
    for (size_t i = 0; i < r->nodes.len; i++) {
        struct rehearsal_node *n = &r->nodes.p[i];
        for (size_t k = 0; k < n->pods.len; k++) {
            free(n->pods.p[k].ns);
            free(n->pods.p[k].name);
            free(n->pods.p[k].owner);
            free(n->pods.p[k].why);
        }
        vec_done(&n->pods);
        free(n->name);
        free(n->error);
    }
    for (size_t i = 0; i < r->waits.len; i++) {
        free(r->waits.p[i].kind);
        free(r->waits.p[i].object);
        free(r->waits.p[i].message);
        vec_done(&r->waits.p[i].waiting);
    }
    for (size_t i = 0; i < r->budgets.len; i++)
        budget_free(&r->budgets.p[i]);
    for (size_t i = 0; i < r->pending.len; i++) {
        free(r->pending.p[i].workload);
        free(r->pending.p[i].example);
        free(r->pending.p[i].why);
    }
    vec_done(&r->pending);
    for (size_t i = 0; i < r->remarks.len; i++)
        free(r->remarks.p[i]);
    vec_done(&r->nodes);
    vec_done(&r->waits);
    vec_done(&r->budgets);
    vec_done(&r->remarks);
}
