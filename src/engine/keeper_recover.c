/* A record that was deleted while nobody led, alone or with the namespace that it was in. Whoever
 * leads then finds no holder, and nodes that are cordoned for one: some may have been told to go,
 * and go. They are no orphans, and their slots are not free; what Nodes and Maintenances tell is
 * put into the record again. */
#include <stdlib.h>
#include <string.h>

#include "engine/census.h"
#include "engine/keeper_internal.h"

static void tell(struct keeper *k, const struct slot_wish *wish, const char *until) {
    keeper_tell(k,
                (struct keeper_note){.node = wish->node,
                                     .by = wish->by,
                                     .operation = wish->operation,
                                     .reason = REASON_RECORD_LOST,
                                     .warning = true},
                "is cordoned for a slot of policy %s, and somebody has deleted the ConfigMap %s "
                "that said how far it was: it holds one again until %s",
                k->opts.policy, k->map, until);
}

/* As after the grant in that boot. */
static void grant(const struct keeper *k, struct slots *s, const char *id, const char *boot,
                  struct arena *arena) {
    (void)slots_drained(s, id, boot, k->now.wall, arena, NULL);
    (void)slots_grant(s, id, k->now.wall, NULL);
}

/* --- Maintenances --- */

/* By its object, which knows how far it is. One that is settling is in service, and one that is
 * being undone, or drained, was not told anything that could not be taken back. */
static bool recover_maintenance(struct keeper *k, struct slots *s, const struct maintenance *m,
                                struct arena *arena) {
    const struct node *node = m->node ? cluster_node(k->cluster, m->node) : NULL;
    enum maint_phase phase = keeper_phase(m);
    bool holds = phase >= MAINT_DRAINING && phase != MAINT_SETTLING && !maint_ended(phase);
    if (!holds || !node || str_empty(m->slot) || !keeper_is_own_id(k, m->slot) ||
        keeper_holds_elsewhere(k, node))
        return false;
    struct slot_wish wish = {.node = node->meta.name,
                             .operation = strna(m->operation),
                             .by = arena_printf(arena, KEEPER_BY_MAINTENANCE "%s", m->meta.name)};
    if (!keeper_take_as(k, s, m->slot, &wish, node, arena))
        return false;
    bool told = phase != MAINT_DRAINING && phase != MAINT_DRAINED && phase != MAINT_UNDOING;
    if (told)
        grant(k, s, m->slot, str_empty(m->boot_before) ? keeper_boot(node) : m->boot_before, arena);
    tell(k, &wish, "its Maintenance is over");
    return true;
}

static bool recover_maintenances(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = false;
    size_t n = 0;
    if (!k->opts.maintenances)
        return false;
    _cleanup_free_ const struct object **all = store_sorted(k->opts.maintenances, &n);
    for (size_t i = 0; i < n; i++)
        changed |= recover_maintenance(k, s, (const struct maintenance *)all[i], arena);
    return changed;
}

/* --- those that only a cordon tells of --- */

static const struct cordon_holder *holder_of(const struct keeper *k, const struct node *node,
                                             struct arena *arena) {
    struct cordon c;
    if (!census_cordon(node, arena, &c))
        return NULL;
    for (size_t i = 0; i < c.n_holders; i++)
        if (keeper_is_own_id(k, c.holders[i].id))
            return &c.holders[i];
    return NULL;
}

/* It is free when it is up in another boot, or for a while in this one, and nobody is told to go by
 * that slot. */
static void take_for_gone(const struct keeper *k, struct slots *s, const char *id,
                          const struct node *node, struct arena *arena) {
    grant(k, s, id, keeper_boot(node), arena);
    (void)slots_report(s, node->meta.name, k->now.wall);
}

/* Who was told to go may be on its way, and counts. It is not known any more who was. A client
 * whose node has rebooted since it was cordoned is back when it is Ready. One whose node is up in
 * that boot is drained again, and asks, or reports; it is not forgotten by time. A node that is not
 * up is taken for one that went, as is one whose Maintenance is gone. */
static bool recover_cordon(struct keeper *k, struct slots *s, const struct node *node,
                           struct arena *arena) {
    const struct cordon_holder *h = holder_of(k, node, arena);
    bool client = h && streq(h->by, SLOTS_BY_CLIENT);
    const char *name = h && str_starts(h->by, KEEPER_BY_MAINTENANCE)
                           ? h->by + strlen(KEEPER_BY_MAINTENANCE)
                           : NULL;
    bool left = name && !(k->opts.maintenances && store_get(k->opts.maintenances, NULL, name));
    if ((!client && !left) || slots_holder(s, node->meta.name) || keeper_holds_elsewhere(k, node))
        return false;
    struct slot_wish wish = {
        .node = node->meta.name, .operation = operation_word(OPERATION_REBOOT), .by = h->by};
    if (!keeper_take_as(k, s, h->id, &wish, node, arena))
        return false;
    if (client && !str_empty(h->boot) && !streq(h->boot, keeper_boot(node))) {
        grant(k, s, h->id, h->boot, arena);
        tell(k, &wish, "it is Ready: it has rebooted since");
        return true;
    }
    if (client && node_is_ready(node)) {
        (void)slots_doubt(s, h->id, keeper_boot(node), arena, NULL);
        tell(k, &wish, "its client asks or reports, it reboots, or somebody lets it go");
        return true;
    }
    take_for_gone(k, s, h->id, node, arena);
    tell(k, &wish, "it is up again, in a new boot, or for some minutes in the old one");
    return true;
}

bool keeper_recover_later(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = false;
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *slot = &s->list.p[i];
        const struct node *node = slot->unsure ? cluster_node(k->cluster, slot->node) : NULL;
        bool other = node && !streq(slot->boot, keeper_boot(node));
        if (!node || (!other && node_is_ready(node)) || slot->state >= SLOT_GRANTED ||
            !streq(strna(node->meta.uid), slot->uid))
            continue;
        (void)slots_gate(s, slot->node, NULL, arena); /* it has gone, whatever a gate says */
        if (other)
            grant(k, s, slot->id, slot->boot, arena);
        else
            take_for_gone(k, s, slot->id, node, arena);
        changed = true;
    }
    return changed;
}

bool keeper_is_to_recover(const struct keeper *k, const struct node *node) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    return keeper_is_anew(&k->record.slots) && holder_of(k, node, &arena);
}

bool keeper_recover(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = recover_maintenances(k, s, arena);
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(k->cluster->nodes, &n);
    for (size_t i = 0; i < n; i++)
        changed |= recover_cordon(k, s, (const struct node *)all[i], arena);
    return changed;
}
