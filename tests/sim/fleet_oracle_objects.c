/* Nodes, pods and Maintenances, as the oracle of the controller reads them. */
#include <stdlib.h>

#include "fleet_oracle_internal.h"

/* --- Nodes --- */

static const char *cordon_record(const struct node *node) {
    for (size_t i = 0; i < list_len(node->meta.annotations); i++)
        if (streq(node->meta.annotations[i].key, "slipway.dev/cordon"))
            return strna(node->meta.annotations[i].value);
    return "";
}

static bool is_ready(const struct node *node) {
    for (size_t i = 0; i < list_len(node->conditions); i++)
        if (str_same(node->conditions[i].c.type, "Ready"))
            return str_same(node->conditions[i].c.status, "True");
    return false;
}

/* A replica has changed who may be scheduled on it. */
static void check_cordon(struct fleet_oracle *o, struct fo_node *n, const struct node *node,
                         int64_t before) {
    const char *record = cordon_record(node);
    bool good = false;
    for (size_t i = 0; i < n->holds.len; i++) {
        const struct fo_hold *h = &n->holds.p[i];
        if (node->unschedulable)
            good |= strstr(record, h->id) && fo_was(&h->taken, before);
        else
            good |= strstr(n->record, h->id) && fo_was(&h->over, before);
    }
    if (!good)
        fleet_oracle_blame(o, 7,
                           "replica %u has %s %s for no holding that was so since it has read it",
                           o->actor, node->unschedulable ? "cordoned" : "uncordoned", n->name);
    if (!node->unschedulable && n->people && !n->murky)
        fleet_oracle_blame(o, 3, "replica %u has uncordoned %s, which people had cordoned",
                           o->actor, n->name);
}

/* A holder that is new in the record of a node that is cordoned already. */
static void look_at_cordon(struct fleet_oracle *o, struct fo_node *n, const struct node *node,
                           int64_t before) {
    if (o->actor < FLEET_REPLICAS && node->unschedulable != n->unschedulable)
        check_cordon(o, n, node, before);
    if (o->actor != FO_PEOPLE || node->unschedulable == n->unschedulable)
        return;
    n->people = node->unschedulable;
    n->murky |= node->unschedulable && strstr(n->record, "slot:");
}

static bool is_command(const struct node *node) {
    for (size_t i = 0; i < list_len(node->meta.annotations); i++)
        if (streq(node->meta.annotations[i].key, "sim.slipway.dev/do"))
            return true;
    return false;
}

/* The reboot command of a replica has arrived. */
static void check_command(struct fleet_oracle *o, struct fo_node *n) {
    const char *by = n->slot.by;
    struct fo_maintenance *m = n->held && str_starts(by, "maintenance/")
                                   ? fo_maintenance(o, by + strlen("maintenance/"))
                                   : NULL;
    if (!m && n->unlocked && fo_now(o) - n->unlocked < SEC(100))
        return; /* it was on its way when people let the slot go */
    if (!m) {
        fleet_oracle_blame(o, 7, "replica %u has commanded %s, which holds no slot for that",
                           o->actor, n->name);
        return;
    }
    if (++m->commands > 1 + m->retries)
        fleet_oracle_blame(o, 4, "%s was commanded %u times for maintenance %s", n->name,
                           m->commands, m->name);
    if (!streq(n->slot.state, "granted") && !n->unlocked)
        fleet_oracle_blame(o, 7, "%s was commanded while its slot was %s", n->name, n->slot.state);
    else if (!streq(n->boot, n->slot.boot))
        fleet_oracle_blame(o, 4, "%s was commanded again after it had rebooted", n->name);
    /* What was bound to it while the command was on its way could not hold it back, whatever its
     * sender has heard since: it is judged by what that knew when it was sent. */
    const struct fo_write *w = o->replicas[o->actor].serving;
    if (fo_pods_on(o, n->name, w->pods[n - o->nodes]))
        fleet_oracle_blame(o, 6, "%s was commanded with pods on it", n->name);
    fo_check_stop(o, o->actor, n->name, "commanded");
}

static void other_node(struct fo_node *n) {
    n->people = n->murky = n->back = n->unschedulable = false;
    n->boots++;
    str_replace(&n->record, "");
}

static bool is_to_come(const struct node *node) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (streq(node->taints[i].key, "slipway.dev/next"))
            return true;
    return false;
}

void fo_node_changed(struct fleet_oracle *o, const struct change *c) {
    const struct node *node = record_as(node, c->after);
    struct fo_node *n = fo_node(o, node->meta.name);
    int64_t before = n->changed;
    if (c->type == CHANGE_ADDED || !streq(n->uid, strna(node->meta.uid)))
        other_node(n);
    if (c->type == CHANGE_DELETED) {
        n->there = false;
        n->gone_at = fo_now(o);
        n->down_at = 0;
        fo_judge(o, n);
        fo_judge_room(o);
        return;
    }
    n->there = true;
    n->gone_at = 0;
    n->created = node->meta.created;
    fo_copy(n->uid, node->meta.uid);
    if (c->type == CHANGE_ADDED)
        n->people = node->unschedulable;
    else
        look_at_cordon(o, n, node, before);
    if (o->actor < FLEET_REPLICAS && is_command(node))
        check_command(o, n);
    if (!streq(n->boot, strna(node->info.boot_id))) {
        n->boots++;
        n->back = false;
    }
    fo_copy(n->boot, node->info.boot_id);
    n->ready = is_ready(node);
    n->back |= n->ready;
    if (n->ready || !n->down_at)
        n->down_at = n->ready ? 0 : fo_now(o);
    n->unschedulable = node->unschedulable;
    n->to_come = is_to_come(node);
    str_replace(&n->record, cordon_record(node));
    n->changed = fo_now(o);
    fo_judge(o, n);
    fo_judge_room(o);
}

/* --- pods --- */

static bool is_daemon(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->meta.owners); i++)
        if (str_same(pod->meta.owners[i].kind, "DaemonSet"))
            return true;
    return false;
}

void fo_pod_changed(struct fleet_oracle *o, const struct change *c) {
    const struct pod *pod = record_as(pod, c->after);
    if (str_empty(pod->node_name))
        return;
    struct fo_pod *p = NULL;
    for (size_t i = o->pods.len; i-- > 0 && !p;)
        if (streq(o->pods.p[i].uid, strna(pod->meta.uid)))
            p = &o->pods.p[i];
    if (!p) {
        p = vec_push(&o->pods);
        *p = (struct fo_pod){.bound = fo_now(o), .daemon = is_daemon(pod)};
        fo_copy(p->uid, pod->meta.uid);
        fo_copy(p->node, pod->node_name);
    }
    p->gone = c->type == CHANGE_DELETED;
    p->gone_at = p->gone ? fo_now(o) : 0;
}

/* --- Maintenances --- */

static bool is_end(const char *phase) {
    return streq(phase, "Complete") || streq(phase, "Failed") || streq(phase, "Cancelled");
}

const char *fo_operation(const char *word) {
    return streq(word, "Reboot") ? "Reboot" : streq(word, "Shutdown") ? "Shutdown" : "Drain";
}

static void check_phase(struct fleet_oracle *o, struct fo_maintenance *m, const char *phase,
                        const char *reason) {
    const struct fo_node *n = fo_node(o, m->node);
    if (m->ended)
        fleet_oracle_blame(o, 4, "maintenance %s was %s, and is %s", m->name, m->phase, phase);
    if (o->actor >= FLEET_REPLICAS)
        fleet_oracle_blame(o, 7, "maintenance %s has become %s by nobody", m->name, phase);
    if (streq(phase, "Complete") && m->by_machine && !m->words && n->boots <= m->boots)
        fleet_oracle_blame(o, 4, "maintenance %s is Complete, and %s has not rebooted", m->name,
                           m->node);
    if (o->seen.phase)
        o->seen.phase(
            o->seen.arg,
            &(struct fleet_way){m->name, m->node, *m->phase ? m->phase : "Pending", phase, reason});
}

static bool has_finalizer(const json_t *meta) {
    size_t i;
    const json_t *one;
    json_array_foreach(
        json_object_get(meta, "finalizers"), i,
        one) if (str_same(json_string_value(one), "slipway.dev/maintenance")) return true;
    return false;
}

/* One that is new, maybe under the name of an earlier one that is gone. */
static struct fo_maintenance *meet(struct fleet_oracle *o, const json_t *obj, const char *name) {
    const json_t *spec = json_object_get(obj, "spec"),
                 *owners = json_object_get(json_object_get(obj, "metadata"), "ownerReferences");
    const char *rollout = strna(json_str(json_array_get(owners, 0), "uid"));
    struct fo_maintenance *m = fo_maintenance(o, name);
    if (!m)
        *(m = vec_push(&o->maintenances)) = (struct fo_maintenance){0};
    /* A rollout commands a node once, whatever becomes of the objects that it makes. */
    bool same = *rollout && streq(m->rollout, rollout);
    *m = (struct fo_maintenance){.since = fo_now(o),
                                 .made = fo_now(o),
                                 .commands = same ? m->commands : 0,
                                 .retries = same ? m->retries : 0};
    fo_copy(m->name, name);
    fo_copy(m->rollout, rollout);
    fo_copy(m->node, json_str(spec, "node"));
    m->operation = fo_operation(strna(json_str(spec, "operation")));
    m->by_machine = json_object_get(json_object_get(spec, "executor"), "sim");
    m->by_itself = json_object_get(json_object_get(spec, "executor"), "fleetlock");
    const struct fo_node *n = fo_node(o, m->node);
    /* What was done for an earlier one of its name, whose slot it has, is done for it. */
    bool goes_on = n->held && str_starts(n->slot.by, "maintenance/") &&
                   streq(n->slot.by + strlen("maintenance/"), name) && n->slot.granted &&
                   !streq(n->boot, n->slot.boot);
    m->boots = n->boots - goes_on;
    return m;
}

void fo_maintenance_changed(struct fleet_oracle *o, const struct change *c) {
    _cleanup_json_ json_t *obj = record_json(c->after);
    const json_t *status = json_object_get(obj, "status"),
                 *blocker = json_object_get(status, "blocker");
    const char *phase = strna(json_str(status, "phase"));
    struct fo_maintenance *m = fo_maintenance(o, c->after->obj->meta.name);
    if (!m || c->type == CHANGE_ADDED)
        m = meet(o, obj, c->after->obj->meta.name);
    if (*phase && !streq(phase, m->phase)) {
        check_phase(o, m, phase, strna(json_str(status, "reason")));
        (void)snprintf(m->phase, sizeof m->phase, "%s", phase);
        m->since = fo_now(o);
    }
    m->there = c->type != CHANGE_DELETED;
    m->deleted = c->after->obj->meta.deleted;
    m->ended = is_end(m->phase);
    m->operated |= streq(m->phase, "Operating");
    m->finalizer = has_finalizer(json_object_get(obj, "metadata"));
    if (json_is_object(blocker) && o->seen.blocker)
        o->seen.blocker(o->seen.arg, strna(json_str(blocker, "code")));
    m->blocked = json_is_object(blocker);
    if (m->blocked || !m->silent_at)
        m->silent_at = m->blocked ? 0 : fo_now(o);
    bool given_up = m->ended && !streq(m->phase, "Complete");
    bool failed = given_up || (m->there && streq(m->phase, "Halted"));
    if (!failed || !m->failed.now)
        m->failed_at = failed ? fo_now(o) : 0;
    fo_set(o, &m->failed, failed);
}

/* --- why they wait --- */

void fo_check_blocker(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req) {
    _cleanup_json_ json_t *body = json_loadb(req->body.p, req->body.len, 0, NULL);
    const char *code =
        json_str(json_object_get(json_object_get(body, "status"), "blocker"), "code");
    const struct fo_maintenance *m = fo_maintenance(o, strna(req->target.name));
    if (!m || !str_same(code, "MaxUnavailableReached"))
        return;
    static const char *const looked_at[] = {"configmaps", "nodes", "policies"};
    int64_t since = fo_now(o);
    for (size_t i = 0; i < ARRAY_LEN(looked_at); i++)
        since = MIN_OF(since, o->opts.known(o->opts.arg, replica, looked_at[i], ""));
    if (!fo_was(&fo_node(o, m->node)->no_room, since))
        fleet_oracle_blame(o, 5, "maintenance %s is said to wait for a slot, and one was free",
                           m->name);
}

/* Since when somebody runs who could say something; INT64_MAX: all are frozen. */
static int64_t awake_since(const struct fleet_oracle *o) {
    int64_t since = INT64_MAX;
    for (unsigned i = 0; i < o->opts.plan->replicas; i++)
        if (!o->replicas[i].frozen)
            since = MIN_OF(since, o->replicas[i].thawed);
    return since;
}

void fo_check_silence(struct fleet_oracle *o) {
    int64_t awake = awake_since(o);
    if (awake == INT64_MAX || fo_now(o) < o->begun + o->opts.plan->faults_end + SEC(200) || o->idle)
        return;
    for (size_t i = 0; i < o->maintenances.len; i++) {
        const struct fo_maintenance *m = &o->maintenances.p[i];
        bool waits = m->there && !m->deleted &&
                     (!*m->phase || streq(m->phase, "Pending") || streq(m->phase, "Queued"));
        int64_t since = MAX_OF(MAX_OF(m->silent_at, m->since), awake);
        if (waits && m->silent_at && fo_now(o) - since > SEC(120))
            fleet_oracle_blame(o, 5, "maintenance %s is %s for %.0f s, and does not say why",
                               m->name, *m->phase ? m->phase : "new",
                               (double)(fo_now(o) - m->since) / 1e6);
    }
}

void fleet_oracle_word(struct fleet_oracle *o, const char *maintenance, bool retry) {
    struct fo_maintenance *m = fo_maintenance(o, maintenance);
    m->words++;
    m->retries += retry;
}
