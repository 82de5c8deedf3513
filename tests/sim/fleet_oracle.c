/* The oracle of the controller: what it knows, and its life. */
#include "fleet_oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fleet_oracle_internal.h"
#include "sim/fleet/fleet.h"

enum {
    VIOLATIONS_MAX = 5,
    IDLE_CALLS = 40, /* of a replica in ten minutes without work, beside leases and watches */
};

int64_t fo_now(const struct fleet_oracle *o) {
    return o->opts.now(o->opts.arg);
}

void fo_copy(char out[static FO_TEXT], const char *text) {
    (void)snprintf(out, FO_TEXT, "%s", strna(text));
}

void fo_set(struct fleet_oracle *o, struct since *s, bool now) {
    if (s->now)
        s->last = fo_now(o);
    s->now = now;
    if (now)
        s->last = fo_now(o);
}

bool fo_was(const struct since *s, int64_t from) {
    return s->now || (s->last && s->last >= from);
}

struct fo_node *fo_node(struct fleet_oracle *o, const char *name) {
    for (unsigned i = 0; i < FLEET_NODES; i++) {
        struct fo_node *n = &o->nodes[i];
        if (!*n->name) {
            fo_copy(n->name, name);
            n->record = xstrdup("");
        }
        if (streq(n->name, name))
            return n;
    }
    abort();
}

struct fo_hold *fo_hold(struct fo_node *n, const char *id) {
    for (size_t i = 0; i < n->holds.len; i++)
        if (streq(n->holds.p[i].id, id))
            return &n->holds.p[i];
    struct fo_hold *h = vec_push(&n->holds);
    *h = (struct fo_hold){0};
    fo_copy(h->id, id);
    return h;
}

struct fo_maintenance *fo_maintenance(struct fleet_oracle *o, const char *name) {
    for (size_t i = 0; i < o->maintenances.len; i++)
        if (streq(o->maintenances.p[i].name, name))
            return &o->maintenances.p[i];
    return NULL;
}

unsigned fo_pods_on(const struct fleet_oracle *o, const char *node, int64_t before) {
    unsigned n = 0;
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct fo_pod *p = &o->pods.p[i];
        n += !p->gone && !p->daemon && p->bound < before && streq(p->node, node);
    }
    return n;
}

/* A Maintenance that lets the node reboot by itself. */
static bool goes_by_itself(struct fleet_oracle *o, const char *by) {
    const struct fo_maintenance *m = fo_maintenance(o, by + strlen("maintenance/"));
    return m && m->by_itself;
}

void fo_judge(struct fleet_oracle *o, struct fo_node *n) {
    bool cordoned =
        n->held && n->there && n->unschedulable && strstr(n->record, n->slot.id) != NULL;
    bool same = n->held && n->there && streq(n->uid, n->slot.uid);
    bool foreign =
        n->held && str_starts(n->slot.by, "maintenance/") && !goes_by_itself(o, n->slot.by);
    bool granted =
        cordoned && same && streq(n->slot.state, "granted") && streq(n->boot, n->slot.boot);
    /* What comes to a node that was granted its slot has to leave before it goes. */
    fo_set(o, &n->drains, granted || (cordoned && streq(n->slot.state, "taken")));
    fo_set(o, &n->may_go, granted && !foreign);
    bool open = n->held && !foreign &&
                (streq(n->slot.state, "taken") || streq(n->slot.state, "drained") ||
                 streq(n->slot.state, "granted"));
    fo_set(o, &n->reported, foreign || (!open && !n->asks));
}

/* --- listening --- */

/* Of a custom resource: its text begins with that. */
static bool is_custom(const struct change *c, const char *kind) {
    _cleanup_free_ char *begin = xasprintf("{\"kind\":\"%s\",", kind);
    return str_starts(c->after->json, begin);
}

static void on_change(void *arg, struct shelf *shelf, const struct change *c) {
    struct fleet_oracle *o = arg;
    const char *resource = strna(shelf_kind(shelf)->resource);
    if (streq(resource, "nodes"))
        fo_node_changed(o, c);
    else if (streq(resource, "pods"))
        fo_pod_changed(o, c);
    else if (streq(resource, "configmaps"))
        fo_record_changed(o, c);
    else if (shelf_kind(shelf) == &kind_any && is_custom(c, "Maintenance"))
        fo_maintenance_changed(o, c);
    else if (shelf_kind(shelf) == &kind_any && is_custom(c, "Policy"))
        fo_policy_changed(o, c);
    else if (shelf_kind(shelf) == &kind_any && is_custom(c, "Rollout"))
        fo_rollout_changed(o, c);
}

static void meet(struct fleet_oracle *o, struct shelf *shelf) {
    struct snapshot *snap = shelf_snapshot(shelf);
    for (size_t i = 0; i < snap->n; i++)
        on_change(
            o, shelf,
            &(struct change){.type = CHANGE_ADDED, .time = fo_now(o), .after = snap->items[i]});
    snapshot_unref(snap);
}

struct fleet_oracle *fleet_oracle_new(const struct fleet_oracle_options *opts) {
    struct fleet_oracle *o = xnew(struct fleet_oracle);
    o->opts = *opts;
    o->world = sim_world(opts->sim);
    o->actor = FO_NOBODY;
    o->begun = fo_now(o);
    for (unsigned i = 0; i < opts->plan->policies; i++)
        *vec_push(&o->limits[i]) = (struct fo_limit){0, opts->plan->policy[i].max};
    *vec_push(&o->limits[0]) = (struct fo_limit){0, 1}; /* the built-in one */
    if (opts->plan->policies)
        o->limits[0].len--;
    meet(o, sim_fleet(opts->sim)->nodes->shelf);
    meet(o, sim_fleet(opts->sim)->pods->shelf);
    world_listen(o->world, on_change, o);
    return o;
}

void fleet_oracle_free(struct fleet_oracle *o) {
    if (!o)
        return;
    world_unlisten(o->world, on_change, o);
    for (unsigned i = 0; i < FLEET_NODES; i++) {
        vec_done(&o->nodes[i].holds);
        free(o->nodes[i].record);
    }
    for (unsigned i = 0; i < FLEET_POLICIES; i++)
        vec_done(&o->limits[i]);
    for (unsigned i = 0; i < FLEET_REPLICAS; i++)
        vec_done(&o->replicas[i].tries);
    vec_done(&o->pods);
    vec_done(&o->maintenances);
    vec_done(&o->rollouts);
    vec_done(&o->tickets);
    vec_done(&o->writes);
    for (size_t i = 0; i < o->violations.len; i++)
        free(o->violations.p[i]);
    vec_done(&o->violations);
    free(o->unfinished);
    free(o);
}

void fleet_oracle_people(struct fleet_oracle *o, bool at_work) {
    o->actor = at_work ? FO_PEOPLE : FO_NOBODY;
}

void fleet_oracle_froze(struct fleet_oracle *o, unsigned replica) {
    o->replicas[replica].frozen = true;
}

void fleet_oracle_thawed(struct fleet_oracle *o, unsigned replica) {
    o->replicas[replica].frozen = false;
    o->replicas[replica].thawed = fo_now(o);
}

void fleet_oracle_tell(struct fleet_oracle *o, const struct fleet_seen *seen) {
    o->seen = *seen;
}

/* --- the end --- */

/* What is left of our work on a Node. */
static const char *left_on(const struct fo_node *n) {
    if (n->held)
        return "holds a slot";
    if (n->waits)
        return "waits for a slot";
    if (!n->there || n->murky)
        return NULL;
    if (strstr(n->record, "slot:"))
        return "has a cordon record of a slot";
    if (n->to_come)
        return "has the mark of a rollout that is to come to it";
    if (n->unschedulable != n->people)
        return n->people ? "was cordoned by people, and is not any more"
                         : "is cordoned, and nobody has done it";
    return NULL;
}

const char *fleet_oracle_unfinished(struct fleet_oracle *o) {
    free(o->unfinished);
    o->unfinished = NULL;
    fo_check_silence(o);
    for (unsigned i = 0; i < FLEET_NODES && !o->unfinished; i++) {
        const char *left = *o->nodes[i].name ? left_on(&o->nodes[i]) : NULL;
        if (left)
            o->unfinished = xasprintf("node %s %s", o->nodes[i].name, left);
    }
    for (size_t i = 0; i < o->maintenances.len && !o->unfinished; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        if (m->there && (!m->ended || m->finalizer))
            o->unfinished =
                xasprintf("maintenance %s of node %s is %s%s", m->name, m->node,
                          *m->phase ? m->phase : "new", m->finalizer ? ", with its finalizer" : "");
    }
    for (size_t i = 0; i < o->rollouts.len && !o->unfinished; i++) {
        const char *left = fo_rollout_left(&o->rollouts.p[i]);
        if (left)
            o->unfinished = xasprintf("rollout %s %s", o->rollouts.p[i].name, left);
    }
    return o->unfinished;
}

void fleet_oracle_idle(struct fleet_oracle *o) {
    o->idle = true;
}

void fleet_oracle_end(struct fleet_oracle *o) {
    const char *left = fleet_oracle_unfinished(o);
    if (left)
        fleet_oracle_blame(o, 4, "when everything was over, %s", left);
    for (unsigned i = 0; i < o->opts.plan->replicas; i++)
        if (o->replicas[i].idle_calls > IDLE_CALLS)
            fleet_oracle_blame(o, 8,
                               "replica %u has sent %u requests while there was nothing to do", i,
                               o->replicas[i].idle_calls);
}

void fleet_oracle_blame(struct fleet_oracle *o, int promise, const char *fmt, ...) {
    va_list ap;
    if (o->violations.len >= VIOLATIONS_MAX)
        return;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    *vec_push(&o->violations) = xasprintf("promise %d: %s", promise, text);
}

size_t fleet_oracle_n_violations(const struct fleet_oracle *o) {
    return o->violations.len;
}

const char *fleet_oracle_violation(const struct fleet_oracle *o, size_t i) {
    return o->violations.p[i];
}
