/* What is so when somebody looks at /metrics. */
#include "controller/gauges.h"

#include <stdlib.h>
#include <string.h>

#include "base/procstat.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/locks.h"
#include "engine/survey.h"

static double seconds(int64_t usec) {
    return (double)usec / (double)USEC_PER_SEC;
}

/* --- a policy --- */

/* Blockers of one policy by code, and its nodes by phase. */
struct counts {
    unsigned blocked[BLOCKER_CODES];
    unsigned phases[MAINT_PHASES], idle;
};

static void set_blocked(struct metrics *m, struct counts *n, const char *policy, const char *node,
                        enum blocker_code code, int64_t since) {
    const char *name = blocker_row(code)->name;
    n->blocked[code]++;
    METRIC_SET(m, METRIC_NODE_BLOCKED, 1, policy, node, name);
    if (since)
        METRIC_SET(m, METRIC_NODE_BLOCKED_START, seconds(since), policy, node, name);
}

static void set_phase(struct metrics *m, struct counts *n, const char *policy, const char *node,
                      enum maint_phase phase, int64_t since) {
    n->phases[phase]++;
    METRIC_SET(m, METRIC_NODE_PHASE, 1, policy, node, maint_phases[phase].word);
    if (since)
        METRIC_SET(m, METRIC_NODE_PHASE_START, seconds(since), policy, node);
}

/* The phase that is written in its Maintenance; NULL: it has none. */
static const struct maintenance *object_of(const struct gauges_world *w, const char *by) {
    const char *name = locks_maintenance(by);
    return name ? (const struct maintenance *)store_get(w->maintenances, NULL, name) : NULL;
}

static void set_holder(struct metrics *m, const struct gauges_world *w, struct counts *n,
                       const struct policy_kept *p, const struct slot *slot) {
    const struct maintenance *object = object_of(w, slot->by);
    const struct drain_blocker *b = keeper_blocker(p->keeper, slot->node);
    struct maint_seen seen = maint_seen(slot, cluster_node(w->cluster, slot->node));
    if (object)
        seen = (struct maint_seen){maint_phase_find(object->phase), object->since};
    METRIC_SET(m, METRIC_SLOT_HOLDER, 1, p->name, slot->node, slot->by,
               slot_state_word(slot->state));
    METRIC_SET(m, METRIC_SLOT_START, seconds(slot->since), p->name, slot->node);
    set_phase(m, n, p->name, slot->node, seen.phase, seen.since);
    /* What it says itself counts when nobody else says something, and it needs somebody. */
    const struct own_blocker *own = object && !b ? object->blocker : NULL;
    enum blocker_code code = own ? blocker_find(strna(own->code)) : BLOCKER_CODES;
    enum blocker_code gate = slot->wait.code ? blocker_find(slot->wait.code) : BLOCKER_CODES;
    if (b)
        set_blocked(m, n, p->name, slot->node, b->code, b->since);
    else if (gate != BLOCKER_CODES)
        set_blocked(m, n, p->name, slot->node, gate, slot->wait.since);
    else if (code != BLOCKER_CODES && !blocker_row(code)->clears_itself)
        set_blocked(m, n, p->name, slot->node, code, own->since);
}

/* One that waits for a slot: there may be none, a gate may be shut, or both. */
static void set_wish(struct metrics *m, const struct gauges_world *w, struct counts *n,
                     const struct policy_kept *p, const struct slot_wish *wish) {
    const struct maintenance *object = object_of(w, wish->by);
    const struct slot_wait *wait = wish->wait.code ? &wish->wait : NULL;
    enum blocker_code full = keeper_wish_blocker(p->keeper, wish);
    enum blocker_code gate = wait ? blocker_find(wait->code) : BLOCKER_CODES;
    struct maint_seen seen = {wait ? MAINT_PENDING : MAINT_QUEUED,
                              wait ? wait->since : wish->since};
    if (object)
        seen = (struct maint_seen){maint_phase_find(object->phase), object->since};
    set_phase(m, n, p->name, wish->node, seen.phase, seen.since);
    if (gate != BLOCKER_CODES)
        set_blocked(m, n, p->name, wish->node, gate, wait->since);
    if (full != BLOCKER_CODES && full != gate)
        set_blocked(m, n, p->name, wish->node, full, wish->since);
}

/* Who wants it rebooted; one that is being put back has been, or is not to be any more. */
static void set_reboot(struct metrics *m, const struct slot *slot, const struct slot_wish *wish) {
    const char *reboot = operation_word(OPERATION_REBOOT);
    bool holds = slot && slot->state != SLOT_RETURNED && streq(slot->operation, reboot);
    bool waits = wish && streq(wish->operation, reboot);
    if (holds)
        METRIC_SET(m, METRIC_NODE_REBOOT_REQUIRED, 1, slot->node,
                   locks_maintenance(slot->by) ? "maintenance" : "fleetlock");
    if (waits)
        METRIC_SET(m, METRIC_NODE_REBOOT_REQUIRED, 1, wish->node,
                   locks_maintenance(wish->by) ? "maintenance" : "fleetlock");
}

static void set_marked(struct metrics *m, const struct store *nodes) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(nodes, &i));)
        if (survey_is_marked((const struct node *)obj))
            METRIC_SET(m, METRIC_NODE_REBOOT_REQUIRED, 1, obj->meta.name, "mark");
}

static void set_idle(struct metrics *m, const struct gauges_world *w, struct counts *n,
                     const struct policy_kept *p, const struct slots *s) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(w->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        if (!policy_has_node(p->rules, node))
            continue;
        const struct slot *slot = slots_holder(s, node->meta.name);
        const struct slot_wish *wish = slots_waits(s, node->meta.name);
        bool reboots = (slot && streq(slot->operation, operation_word(OPERATION_REBOOT))) ||
                       (wish && streq(wish->operation, operation_word(OPERATION_REBOOT)));
        n->idle += !slot && !wish;
        set_reboot(m, slot, wish);
        METRIC_SET(m, METRIC_KURED_REBOOT_REQUIRED, reboots, node->meta.name);
    }
}

/* Groups of FleetLock are what others count by. */
static void set_groups(struct metrics *m, const struct policy_kept *p, size_t limit, size_t held) {
    const char *const own[] = {p->name};
    bool named = list_len(p->rules->groups);
    const char *const *groups = named ? p->rules->groups : own;
    size_t n = named ? list_len(p->rules->groups) : 1;
    for (size_t i = 0; p->rules->fleetlock && i < n; i++) {
        METRIC_SET(m, METRIC_AIRLOCK_CONFIG_SLOTS, (double)limit, groups[i]);
        METRIC_SET(m, METRIC_AIRLOCK_SLOTS, (double)limit, groups[i]);
        METRIC_SET(m, METRIC_AIRLOCK_HOLDERS, (double)held, groups[i]);
        METRIC_SET(m, METRIC_FLEETLOCK_STATE, held >= limit, groups[i]);
    }
}

static void set_said(void *arg, const struct keeper_said *said) {
    double value = said->verdict == MAINT_PASS ? 1 : said->verdict == MAINT_WAIT ? 0 : -1;
    METRIC_SET(arg, METRIC_GATE_STATUS, value, said->policy, said->node, said->by, said->gate);
}

static void set_policy(struct metrics *m, const struct gauges_world *w,
                       const struct policy_kept *p) {
    struct counts n = {0};
    METRIC_SET(m, METRIC_POLICY_USABLE, !policies_idle(w->policies, p), p->name);
    const struct slots *s = p->keeper ? keeper_slots(p->keeper) : NULL;
    if (!s)
        return;
    size_t limit = keeper_limit(p->keeper);
    METRIC_SET(m, METRIC_SLOTS, (double)limit, p->name);
    METRIC_SET(m, METRIC_SLOTS_HELD, (double)s->list.len, p->name);
    METRIC_SET(m, METRIC_SLOTS_WAITING, (double)s->waiting.len, p->name);
    set_groups(m, p, limit, s->list.len);
    for (size_t i = 0; i < s->list.len; i++)
        set_holder(m, w, &n, p, &s->list.p[i]);
    for (size_t i = 0; i < s->waiting.len; i++)
        if (!slots_holder(s, s->waiting.p[i].node))
            set_wish(m, w, &n, p, &s->waiting.p[i]);
    keeper_each_said(p->keeper, set_said, m);
    set_idle(m, w, &n, p, s);
    METRIC_SET(m, METRIC_NODES, n.idle, p->name, "Idle");
    for (unsigned i = 0; i < MAINT_PHASES; i++)
        if (n.phases[i])
            METRIC_SET(m, METRIC_NODES, n.phases[i], p->name, maint_phases[i].word);
    for (unsigned i = 0; i < BLOCKER_CODES; i++)
        if (n.blocked[i])
            METRIC_SET(m, METRIC_BLOCKED_NODES, n.blocked[i], p->name,
                       blocker_row((enum blocker_code)i)->name);
}

/* --- maintenances --- */

static void set_maintenances(struct metrics *m, const struct store *store) {
    unsigned n[OPERATIONS][MAINT_PHASES] = {0};
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(store, &i));) {
        const struct maintenance *one = (const struct maintenance *)obj;
        enum operation op = operation_find(one->operation);
        if (op < OPERATIONS)
            n[op][maint_phase_find(one->phase)]++;
    }
    for (unsigned i = 0; i < OPERATIONS; i++)
        for (unsigned j = 0; j < MAINT_PHASES; j++)
            if (n[i][j])
                METRIC_SET(m, METRIC_MAINTENANCES, n[i][j], operation_word((enum operation)i),
                           maint_phases[j].word);
}

/* --- rollouts --- */

static void set_rollout(struct metrics *m, const struct rollout *r) {
    if (r->meta.created)
        METRIC_SET(m, METRIC_ROLLOUT_START, seconds(r->meta.created), r->meta.name);
    const struct {
        const char *state;
        int32_t n;
    } counts[] = {{"waiting", r->counts.waiting},
                  {"current", r->counts.current},
                  {"complete", r->counts.complete},
                  {"failed", r->counts.failed}};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        METRIC_SET(m, METRIC_ROLLOUT_NODES, counts[i].n, r->meta.name, counts[i].state);
}

static bool is_over(const struct rollout *r) {
    return str_same(r->phase, "Complete") || str_same(r->phase, "Failed");
}

/* A phase that was written is counted once for each operation: there are few of both. */
static void set_rollouts(struct metrics *m, const struct store *store) {
    const struct object *obj, *other;
    for (uint32_t i = 0; (obj = store_next(store, &i));) {
        const struct rollout *r = (const struct rollout *)obj;
        unsigned before = 0, all = 0;
        bool passed = false;
        for (uint32_t k = 0; (other = store_next(store, &k));) {
            const struct rollout *o = (const struct rollout *)other;
            passed |= o == r;
            if (!str_same(o->operation, r->operation) || !str_same(o->phase, r->phase))
                continue;
            all++;
            before += !passed;
        }
        if (!before)
            METRIC_SET(m, METRIC_ROLLOUTS, all, strna(r->operation), strna(r->phase));
        if (!is_over(r))
            set_rollout(m, r);
    }
}

/* --- others --- */

struct at_work {
    const char *node, *rival;
};

struct others_found {
    VEC(struct at_work) list;
    const struct store *nodes;
};

/* Locks and pods may name nodes that are gone. */
static void find_rival(void *arg, const char *node, const struct rival_row *rival) {
    struct others_found *f = arg;
    const struct object *obj = store_get(f->nodes, NULL, node);
    if (obj)
        *vec_push(&f->list) = (struct at_work){obj->meta.name, rival->name};
}

static int by_node(const void *a, const void *b) {
    const struct at_work *x = a, *y = b;
    int c = strcmp(x->node, y->node);
    return c ? c : strcmp(x->rival, y->rival);
}

/* Who shows in several ways that he is at work does so once. */
static void set_rivals(struct metrics *m, const struct gauges_world *w) {
    struct others_found f = {.nodes = w->cluster->nodes};
    const struct rival_row *rival;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(f.nodes, &i));)
        if ((rival = rival_on_node((const struct node *)obj)))
            find_rival(&f, obj->meta.name, rival);
    for (uint32_t i = 0; w->rivals.locks && (obj = store_next(w->rivals.locks, &i));)
        rival_locks((const struct kured_lock *)obj, w->now, find_rival, &f);
    for (uint32_t i = 0; w->rivals.pods && (obj = store_next(w->rivals.pods, &i));)
        if ((rival = rival_of_pod((const struct pod *)obj)))
            find_rival(&f, strna(((const struct pod *)obj)->node_name), rival);
    if (f.list.len)
        qsort(f.list.p, f.list.len, sizeof *f.list.p, by_node);
    for (size_t i = 0; i < f.list.len; i++)
        if (!i || by_node(&f.list.p[i - 1], &f.list.p[i]))
            METRIC_SET(m, METRIC_RIVAL, 1, f.list.p[i].node, f.list.p[i].rival);
    vec_done(&f.list);
}

/* --- the program --- */

static void set_restarts(void *arg, const struct kind *kind, uint64_t restarts) {
    METRIC_RAISE(arg, METRIC_WATCH_RESTARTS, (double)restarts, kind->resource);
}

static void set_cache(struct metrics *m, const struct gauges_world *w) {
    const struct store *stores[] = {w->cluster->nodes,       w->cluster->pods, w->cluster->budgets,
                                    w->cluster->attachments, w->maps,          w->policy_store,
                                    w->maintenances};
    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        METRIC_SET(m, METRIC_CACHE_OBJECTS, (double)store_len(stores[i]),
                   store_kind(stores[i])->resource);
    feeds_restarts(w->feeds, set_restarts, m);
}

static void set_process(struct metrics *m) {
    struct procstat p;
    procstat_read(&p);
    if (p.cpu >= 0)
        metrics_raise(m, METRIC_PROCESS_CPU, p.cpu, NULL);
    if (p.memory >= 0)
        metrics_set(m, METRIC_PROCESS_MEMORY, (double)p.memory, NULL);
    if (p.fds >= 0)
        metrics_set(m, METRIC_PROCESS_FDS, (double)p.fds, NULL);
    if (p.max_fds >= 0)
        metrics_set(m, METRIC_PROCESS_MAX_FDS, (double)p.max_fds, NULL);
    if (p.start >= 0)
        metrics_set(m, METRIC_PROCESS_START, p.start, NULL);
}

void gauges_take(struct metrics *m, const struct gauges_world *w) {
    size_t groups = 0;
    metrics_forget_gauges(m);
    METRIC_SET(m, METRIC_BUILD_INFO, 1, SLIPWAY_VERSION, w->commit);
    metrics_set(m, METRIC_LEADER, w->leads, NULL);
    for (size_t i = 0; i < policies_len(w->policies); i++) {
        const struct policy_kept *p = policies_at(w->policies, i);
        set_policy(m, w, p);
        if (p->rules && p->rules->fleetlock)
            groups += MAX_OF(list_len(p->rules->groups), (size_t)1);
    }
    metrics_set(m, METRIC_AIRLOCK_GROUPS, (double)groups, NULL);
    set_marked(m, w->cluster->nodes);
    set_maintenances(m, w->maintenances);
    set_rollouts(m, w->rollouts);
    set_rivals(m, w);
    set_cache(m, w);
    set_process(m);
}
