/* Who gets a slot: as many as the policy lets out, those that are broken already first, then the
 * first by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/keeper_internal.h"
#include "model/selector.h"

#define ZONE_LABEL     "topology.kubernetes.io/zone"
#define CONTROL_PLANE  "node-role.kubernetes.io/control-plane"
#define CONTROL_PLANE2 "node-role.kubernetes.io/master"

enum { OLD_BOOT_S = 60 }; /* a wish of another boot than the node's is kept so long */

bool keeper_is_member(const struct keeper *k, const struct node *node) {
    return !k->opts.nodes || selector_match(k->opts.nodes, node->meta.labels);
}

static bool is_control_plane(const struct node *node) {
    return map_has(node->meta.labels, CONTROL_PLANE) || map_has(node->meta.labels, CONTROL_PLANE2);
}

static struct census take_census(const struct keeper *k, const struct slots *s) {
    struct census c = {0};
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        if (!keeper_is_member(k, node))
            continue;
        c.members++;
        if (keeper_node_ready(node) || slots_holder(s, node->meta.name))
            continue;
        c.down++;
        c.control_down += is_control_plane(node);
    }
    return c;
}

static size_t limit_of(const struct keeper *k, size_t members) {
    const struct limit *max = &k->opts.max;
    if (!max->percent)
        return max->value;
    size_t share = members * max->value / 100;
    return share || !max->value ? share : 1;
}

/* Of the record as it is. */
static const struct census *census_of(struct keeper *k) {
    if (!k->census_known)
        k->census = take_census(k, &k->record.slots);
    k->census_known = true;
    return &k->census;
}

size_t keeper_limit(struct keeper *k) {
    return limit_of(k, census_of(k)->members);
}

bool keeper_has_room(struct keeper *k) {
    size_t down = k->opts.down_count ? census_of(k)->down : 0;
    return k->record.slots.list.len + down < keeper_limit(k);
}

static const char *zone_of(const struct node *node) {
    return node ? strna(map_get(node->meta.labels, ZONE_LABEL)) : "";
}

/* Whether a slot for this one would be in one zone too many. */
static bool zone_full(const struct keeper *k, const struct slots *s, const struct node *node) {
    size_t zones = 0;
    for (size_t i = 0; k->opts.max_zones && i < s->list.len; i++) {
        const char *zone = zone_of(cluster_node(k->cluster, s->list.p[i].node));
        bool first = true;
        if (streq(zone, zone_of(node)))
            return false;
        for (size_t j = 0; first && j < i; j++)
            first = !streq(zone, zone_of(cluster_node(k->cluster, s->list.p[j].node)));
        zones += first;
    }
    return k->opts.max_zones && zones >= k->opts.max_zones;
}

/* Members of the control plane go one at a time, whatever the policy says. */
static bool control_plane_waits(const struct keeper *k, const struct slots *s,
                                const struct census *c, const struct node *node) {
    if (!is_control_plane(node))
        return false;
    if (c->control_down > (keeper_node_ready(node) ? 0u : 1u))
        return true;
    for (size_t i = 0; i < s->list.len; i++) {
        const struct node *other = cluster_node(k->cluster, s->list.p[i].node);
        if (other && is_control_plane(other))
            return true;
    }
    return false;
}

static bool may_take(const struct keeper *k, const struct slots *s, const struct census *c,
                     const struct node *node) {
    /* What is down itself makes nothing worse. */
    size_t down = k->opts.down_count ? c->down - !keeper_node_ready(node) : 0;
    return s->list.len + down < limit_of(k, c->members) && !zone_full(k, s, node) &&
           !control_plane_waits(k, s, c, node);
}

static void take(struct keeper *k, struct slots *s, const struct slot_wish *wish,
                 const struct node *node, size_t limit, struct arena *arena) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *id =
        xasprintf("slot:%s:%016llx", k->opts.policy, (unsigned long long)prng_next(&k->random));
    struct slot slot = {.id = id,
                        .node = node->meta.name,
                        .uid = strna(node->meta.uid),
                        .operation = wish->operation,
                        .by = wish->by,
                        .since = k->now.wall};
    if (slots_take(s, &slot, limit, arena, &err) < 0)
        keeper_tell(k, node->meta.name, true, "SlotRefused", "%s", err_msg(&err));
}

/* A cluster that the seed's manager has worked on: what it was doing goes on. */
static bool take_over(struct keeper *k, struct slots *s, struct arena *arena) {
    const struct object *obj;
    bool changed = false;
    for (uint32_t i = 0; k->opts.seed_marks && (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        if (!str_same(map_get(node->meta.annotations, SEED_MARK), SEED_REBOOTING) ||
            slots_holder(s, node->meta.name) || !keeper_is_member(k, node) ||
            map_has(node->meta.annotations, CORDON_ANNOTATION) ||
            !store_fresh(k->cluster->nodes, NULL, node->meta.name))
            continue;
        struct slot_wish wish = {.node = node->meta.name,
                                 .operation = operation_word(OPERATION_REBOOT),
                                 .by = "fleetlock"};
        take(k, s, &wish, node, SIZE_MAX, arena);
        changed = true;
    }
    return changed;
}

/* It has asked in this boot; one that asked before it has what it wanted. Whoever has written that
 * may have been frozen meanwhile. */
static bool is_of_now(const struct slot_wish *wish, const struct node *node) {
    return str_empty(wish->boot) || streq(wish->boot, keeper_boot(node));
}

/* Wishes of nodes that are there no more, or of an earlier boot; but our picture may be late. */
static bool forget_gone(struct keeper *k, struct slots *s) {
    size_t kept = 0, had = s->waiting.len;
    for (size_t i = 0; i < had; i++) {
        const struct slot_wish *wish = &s->waiting.p[i];
        const struct node *node = cluster_node(k->cluster, wish->node);
        bool old = node && !is_of_now(wish, node);
        int64_t due = wish->asked + SEC(OLD_BOOT_S);
        if (!node || (old && k->now.wall >= due))
            continue;
        if (old)
            keeper_wake(k, k->now.mono + (due - k->now.wall));
        s->waiting.p[kept++] = *wish;
    }
    s->waiting.len = kept;
    return kept < had;
}

bool keeper_give(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = !slots_forget(s, k->now.wall - k->opts.forget);
    for (size_t i = 0; i < s->waiting.len; i++)
        keeper_wake(k, k->now.mono + s->waiting.p[i].asked + k->opts.forget + SEC(1) - k->now.wall);
    if (!store_synced(k->cluster->nodes))
        return changed;
    changed |= forget_gone(k, s);
    changed |= take_over(k, s, arena);
    struct census c = take_census(k, s);
    for (int broken = 1; broken >= 0; broken--)
        for (size_t i = 0; i < s->waiting.len;) {
            const struct slot_wish wish = s->waiting.p[i];
            const struct node *node = cluster_node(k->cluster, wish.node);
            if (keeper_node_ready(node) == (broken != 0) || slots_holder(s, wish.node) ||
                !keeper_is_member(k, node) || !is_of_now(&wish, node) ||
                !may_take(k, s, &c, node)) {
                i++;
                continue;
            }
            take(k, s, &wish, node, SIZE_MAX, arena); /* its wish ends: the next one is at i */
            c.down -= broken != 0;                    /* it holds a slot now */
            c.control_down -= broken && is_control_plane(node);
            changed = true;
        }
    return changed;
}
