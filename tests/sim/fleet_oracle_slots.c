/* Records of slots and policies, as the oracle of the controller reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "fleet_oracle_internal.h"

#define SAME_BOOT                                                                                  \
    SEC(300) /* by the clock of the one that leads, from when it has seen the report */

static const char *const states[] = {"taken", "drained", "granted", "steady", "returned"};

static int rank(const char *state) {
    for (unsigned i = 0; i < ARRAY_LEN(states); i++)
        if (streq(states[i], state))
            return (int)i;
    return -1;
}

/* --- limits --- */

static unsigned index_of(const struct fleet_plan *p, const char *policy) {
    for (unsigned i = 0; i < p->policies; i++)
        if (streq(p->policy[i].name, policy))
            return i;
    return 0;
}

/* As many as the policy has ever allowed since that time. */
unsigned fo_limit(const struct fleet_oracle *o, unsigned policy, int64_t known) {
    const struct fleet_plan *p = o->opts.plan;
    unsigned most = 0, members = 0;
    for (unsigned i = 0; i < p->nodes; i++)
        members += p->policies < 2 || i % 2 == policy;
    for (size_t i = 0; i < o->limits[policy].len; i++) {
        const struct fo_limit *l = &o->limits[policy].p[i];
        bool over = i + 1 < o->limits[policy].len && o->limits[policy].p[i + 1].at < known;
        if (!over)
            most = MAX_OF(most, l->value);
    }
    if (p->policies && p->policy[policy].percent)
        most = MAX_OF(members * most / 100, 1u);
    return most;
}

void fo_policy_changed(struct fleet_oracle *o, const struct change *c) {
    _cleanup_json_ json_t *obj = record_json(c->after);
    const json_t *max = json_object_get(json_object_get(obj, "spec"), "maxUnavailable");
    const char *text = json_string_value(max);
    unsigned policy = index_of(o->opts.plan, strna(c->after->obj->meta.name));
    unsigned value = text ? (unsigned)atoi(text) : (unsigned)json_integer_value(max);
    *vec_push(&o->limits[policy]) = (struct fo_limit){fo_now(o), value};
    fo_judge_room(o);
}

/* --- room --- */

unsigned fo_policy_of(const struct fleet_oracle *o, const char *node) {
    return o->opts.plan->policies < 2 ? 0 : (unsigned)(atoi(node + 1) - 1) % 2;
}

/* The built-in policy does as the seed's manager did. */
static bool down_counts(const struct fleet_oracle *o) {
    return o->opts.plan->policies;
}

/* As many as the policy allows now, of the nodes that there are. */
static unsigned limit_now(const struct fleet_oracle *o, unsigned policy) {
    unsigned members = 0, value = o->limits[policy].p[o->limits[policy].len - 1].value;
    for (unsigned i = 0; i < FLEET_NODES; i++)
        members += o->nodes[i].there && fo_policy_of(o, o->nodes[i].name) == policy;
    if (!o->opts.plan->policies || !o->opts.plan->policy[policy].percent)
        return value;
    return MAX_OF(members * value / 100, 1u);
}

static unsigned zone_of(const struct fo_node *n) {
    return (unsigned)(atoi(n->name + 1) - 1) % 3;
}

/* A slot for this one would be in one zone too many. */
static bool zones_full(const struct fleet_oracle *o, const struct fo_node *n, unsigned policy) {
    const struct fleet_plan *p = o->opts.plan;
    unsigned zones = 0, in_use = 0;
    for (unsigned i = 0; i < FLEET_NODES; i++)
        if (o->nodes[i].held && fo_policy_of(o, o->nodes[i].name) == policy)
            zones |= 1u << zone_of(&o->nodes[i]);
    if (!p->policies || !p->policy[policy].max_zones || zones & 1u << zone_of(n))
        return false;
    for (; zones; zones &= zones - 1)
        in_use++;
    return in_use >= p->policy[policy].max_zones;
}

void fo_judge_room(struct fleet_oracle *o) {
    for (unsigned i = 0; i < FLEET_NODES; i++) {
        struct fo_node *n = &o->nodes[i];
        unsigned policy = fo_policy_of(o, n->name), out = 0;
        for (unsigned j = 0; j < FLEET_NODES && *n->name; j++) {
            const struct fo_node *other = &o->nodes[j];
            bool there = *other->name && fo_policy_of(o, other->name) == policy && i != j;
            out += there && (other->held || (down_counts(o) && other->there && !other->ready));
        }
        if (*n->name)
            fo_set(o, &n->no_room,
                   n->held || out >= limit_now(o, policy) || zones_full(o, n, policy));
    }
}

/* --- one holding --- */

static void read_slot(const json_t *one, struct fo_slot *out) {
    *out = (struct fo_slot){0};
    fo_copy(out->id, json_str(one, "id"));
    fo_copy(out->node, json_str(one, "node"));
    fo_copy(out->uid, json_str(one, "uid"));
    fo_copy(out->by, json_str(one, "by"));
    fo_copy(out->boot, json_str(one, "boot"));
    (void)snprintf(out->state, sizeof out->state, "%s", strna(json_str(one, "state")));
    out->granted = json_str(one, "granted") != NULL;
}

static const struct fo_maintenance *maintenance_of(struct fleet_oracle *o, const char *by) {
    return str_starts(by, "maintenance/") ? fo_maintenance(o, by + strlen("maintenance/")) : NULL;
}

/* A holding that was granted is let go: is its node back, or is there another good reason? */
static void check_release(struct fleet_oracle *o, const struct fo_node *n,
                          const struct fo_slot *s) {
    const struct fo_maintenance *m = maintenance_of(o, s->by);
    bool gone = !n->there || !streq(n->uid, s->uid);
    bool rebooted = !gone && !streq(n->boot, s->boot);
    bool said = str_starts(s->by, "maintenance/") && (!m || !m->there || m->deleted || m->words);
    bool same_boot = n->steady && fo_now(o) - n->steady >= SAME_BOOT;
    /* Somebody has put it back into service before anything was begun; and may have cordoned it
     * since. */
    bool lifted =
        m && !m->operated && !m->by_itself && (!n->unschedulable || streq(m->phase, "Undoing"));
    if (!s->granted || o->actor == FO_PEOPLE || gone || said || same_boot || lifted)
        return;
    if (!rebooted)
        fleet_oracle_blame(o, 4, "the slot of %s was let go, and the node has not rebooted",
                           n->name);
    else if (!n->back)
        fleet_oracle_blame(o, 4, "the slot of %s was let go, and the node is not back yet",
                           n->name);
}

/* At some time since then: they have come late, or were not known of. */
static bool had_pods(const struct fleet_oracle *o, const char *node, int64_t since) {
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct fo_pod *p = &o->pods.p[i];
        if (!p->daemon && streq(p->node, node) && (!p->gone || p->gone_at >= since))
            return true;
    }
    return false;
}

static void check_step(struct fleet_oracle *o, struct fo_node *n, const struct fo_slot *was,
                       const struct fo_slot *is, const struct fo_write *w) {
    int from = rank(was->state), to = rank(is->state);
    if (streq(was->state, is->state))
        return;
    bool late = streq(was->state, "drained") && streq(is->state, "taken") &&
                had_pods(o, n->name, n->drained);
    if (to < from && !late)
        fleet_oracle_blame(o, 4, "the slot of %s went from %s back to %s", n->name, was->state,
                           is->state);
    if (streq(is->state, "drained"))
        n->drained = fo_now(o);
    if (streq(is->state, "drained") && w) {
        unsigned node = (unsigned)(n - o->nodes);
        if (fo_pods_on(o, n->name, w->pods[node]))
            fleet_oracle_blame(o, 6, "%s was written to be drained, and has pods on it", n->name);
    }
    if (streq(is->state, "granted") && from < rank("drained"))
        fleet_oracle_blame(o, 6, "%s was granted its slot before it was drained", n->name);
    if (streq(is->state, "granted") && w)
        fo_check_stop(o, w->replica, n->name, "granted its slot");
    if (streq(is->state, "steady"))
        n->steady = fo_now(o);
    if (streq(is->state, "returned"))
        check_release(o, n, was);
}

static void tell(const struct fleet_oracle *o, const struct fo_node *n, const char *from,
                 const char *to) {
    if (o->seen.slot && !streq(from, to))
        o->seen.slot(o->seen.arg, n->name, from, to);
}

static const json_t *find(const json_t *list, const char *node) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) if (streq(strna(json_str(one, "node")), node)) return one;
    return NULL;
}

/* Nodes that are down, and hold no slot by this record. */
static size_t down_in(const struct fleet_oracle *o, unsigned policy, const json_t *list,
                      const struct fo_write *w) {
    size_t n = 0;
    for (unsigned i = 0; i < FLEET_NODES && down_counts(o); i++)
        n += *o->nodes[i].name && w->down[i] && o->nodes[i].there &&
             fo_policy_of(o, o->nodes[i].name) == policy && !find(list, o->nodes[i].name);
    return n;
}

static void check_taken(struct fleet_oracle *o, unsigned policy, const json_t *list,
                        const char *node, const struct fo_write *w) {
    size_t n = json_array_size(list), down = w ? down_in(o, policy, list, w) : 0;
    if (w && n > w->limit[policy])
        fleet_oracle_blame(o, 1, "%s has got slot %zu of %u", node, n, w->limit[policy]);
    else if (w && n + down > w->limit[policy])
        fleet_oracle_blame(o, 1, "%s has got slot %zu of %u, and %zu nodes are down", node, n,
                           w->limit[policy], down);
    if (w && w->stopped)
        fleet_oracle_blame(o, 1, "%s has got a slot of one who knew that everything is stopped",
                           node);
}

/* --- the record --- */

static void look_at_node(struct fleet_oracle *o, struct fo_node *n, const json_t *record,
                         unsigned policy, const struct fo_write *w) {
    const json_t *list = json_object_get(record, "slots"), *one = find(list, n->name);
    struct fo_slot is = {0};
    bool same = false;
    if (one) {
        read_slot(one, &is);
        same = n->held && streq(is.id, n->slot.id);
    }
    if (n->held && !same) {
        struct fo_hold *h = fo_hold(n, n->slot.id);
        fo_set(o, &h->taken, false);
        fo_set(o, &h->over, true);
        bool cordoned = n->there && n->unschedulable && strstr(n->record, n->slot.id);
        if (!streq(n->slot.state, "returned") && (!o->lenient || cordoned))
            check_release(o, n, &n->slot);
        tell(o, n, n->slot.state, "");
    }
    if (one) {
        struct fo_hold *h = fo_hold(n, is.id);
        fo_set(o, &h->taken, streq(is.state, "taken"));
        fo_set(o, &h->over, streq(is.state, "returned"));
        tell(o, n, same ? n->slot.state : "", is.state);
        if (same && !o->lenient)
            check_step(o, n, &n->slot, &is, w);
        else if (!same)
            check_taken(o, policy, list, n->name, w);
    }
    if (same && o->actor == FO_PEOPLE && !streq(is.state, n->slot.state))
        n->unlocked = fo_now(o);
    if (!same)
        n->steady = 0;
    n->held = one != NULL;
    n->slot = is;
    const json_t *wish = find(json_object_get(record, "waiting"), n->name);
    n->waits = wish != NULL;
    n->asks = wish && str_same(json_str(wish, "by"), "fleetlock");
    fo_judge(o, n);
}

static void check_zones(struct fleet_oracle *o, const json_t *record, unsigned policy) {
    const struct fleet_plan *p = o->opts.plan;
    unsigned zones = 0, n = 0;
    size_t i;
    const json_t *one;
    if (!p->policies || !p->policy[policy].max_zones)
        return;
    json_array_foreach(json_object_get(record, "slots"), i, one) {
        const char *node = strna(json_str(one, "node"));
        zones |= 1u << ((unsigned)(atoi(node + 1) - 1) % 3);
    }
    for (; zones; zones &= zones - 1)
        n++;
    if (n > p->policy[policy].max_zones)
        fleet_oracle_blame(o, 1, "nodes of %u zones hold slots, and may be of %u", n,
                           p->policy[policy].max_zones);
}

void fo_record_changed(struct fleet_oracle *o, const struct change *c) {
    const struct config_map *map = record_as(config_map, c->after);
    const char *text = NULL, *policy_name = "";
    if (streq(map->meta.name, "slipway-pause"))
        o->stop_at = c->type == CHANGE_DELETED ? 0 : o->stop_at ? o->stop_at : fo_now(o);
    for (size_t i = 0; i < list_len(map->meta.labels); i++)
        if (streq(map->meta.labels[i].key, "slipway.dev/slots"))
            policy_name = strna(map->meta.labels[i].value);
    if (!*policy_name)
        return;
    for (size_t i = 0; i < list_len(map->data); i++)
        if (streq(map->data[i].key, "slots"))
            text = map->data[i].value;
    _cleanup_json_ json_t *record = json_loads(strna(text), 0, NULL);
    unsigned policy = index_of(o->opts.plan, policy_name);
    const struct fo_write *w = o->actor < FLEET_REPLICAS ? o->replicas[o->actor].serving : NULL;
    bool none = c->type == CHANGE_DELETED || json_integer_value(json_object_get(record, "v")) != 1;
    if (none && o->actor == FO_PEOPLE) { /* who held a slot holds it still */
        o->lost[policy] = true;
        return;
    }
    if (none) {
        fleet_oracle_blame(o, 1, "the record of policy %s is gone, or is none", policy_name);
        return;
    }
    int64_t fence = json_integer_value(json_object_get(record, "fence"));
    if (o->lost[policy] && (!fence || fence < o->fence[policy]) &&
        !json_array_size(json_object_get(record, "slots")))
        return; /* of a replica that does not lead: whoever does makes it good */
    /* Whoever has led all the time knows what it was; the next one what cordons and Maintenances
     * tell: how far somebody was may be lost, but not that it was out. */
    o->lenient = o->lost[policy];
    o->lost[policy] = false;
    if (fence < o->fence[policy] && !o->lenient)
        fleet_oracle_blame(o, 7, "the term of policy %s went from %lld back to %lld", policy_name,
                           (long long)o->fence[policy], (long long)fence);
    o->fence[policy] = fence;
    for (unsigned i = 0; i < FLEET_NODES; i++)
        if (*o->nodes[i].name && fo_policy_of(o, o->nodes[i].name) == policy)
            look_at_node(o, &o->nodes[i], record, policy, w);
    o->lenient = false;
    check_zones(o, record, policy);
    fo_judge_room(o);
}
