/* Who gets a slot: as many as the policy lets out, those that are broken already first, then the
 * first by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/census.h"
#include "engine/keeper_internal.h"
#include "model/selector.h"

enum {
    OLD_BOOT_S = 60, /* a wish of another boot than the node's is kept so long */
    NAMES = 3,       /* of those who hold slots, in a sentence */
};

bool keeper_is_member(const struct keeper *k, const struct node *node) {
    return !k->opts.nodes || selector_match(k->opts.nodes, node->meta.labels);
}

bool keeper_is_own_id(const struct keeper *k, const char *id) {
    return census_is_own_id(k->opts.ns, k->opts.policy, id);
}

/* --- those that are out for another policy --- */

struct names {
    const char **p;
    size_t len, cap;
};

static void add_name(void *arg, const char *node) {
    *vec_push((struct names *)arg) = node;
}

static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* Sorted; false: not all of them are known. */
static bool names_elsewhere(const struct keeper *k, struct names *out) {
    bool known = !k->opts.elsewhere || k->opts.elsewhere(k->opts.arg, k, add_name, out);
    if (out->len)
        qsort(out->p, out->len, sizeof *out->p, by_name);
    return known;
}

/* As long as the names are. */
static struct census_world world_of(const struct keeper *k, const struct names *names) {
    return (struct census_world){k->opts.ns, k->opts.policy, names->p, names->len};
}

bool keeper_holds_elsewhere(const struct keeper *k, const struct node *node) {
    struct names names = VEC_INIT;
    names_elsewhere(k, &names);
    struct census_world world = world_of(k, &names);
    bool holds = census_holds_elsewhere(&world, node->meta.name);
    vec_done(&names);
    return holds;
}

static struct census take_census(const struct keeper *k, const struct slots *s) {
    struct census c = {0};
    struct names names = VEC_INIT;
    const struct object *obj;
    c.unsure = !names_elsewhere(k, &names);
    struct census_world world = world_of(k, &names);
    for (uint32_t i = 0; (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        bool member = keeper_is_member(k, node), control = node_is_control_plane(node);
        c.members += member;
        if ((!member && !control) || slots_holder(s, node->meta.name))
            continue;
        enum census_as as = census_as(&world, node);
        if (as == CENSUS_ELSEWHERE) {
            c.elsewhere += member;
            c.control_elsewhere += control;
        } else if (as == CENSUS_DOWN) {
            c.down += member;
            c.control_down += control;
        }
    }
    vec_done(&names);
    return c;
}

/* Of one without a slot of this policy. */
static enum census_as counted_as(const struct keeper *k, const struct node *node) {
    struct names names = VEC_INIT;
    names_elsewhere(k, &names);
    struct census_world world = world_of(k, &names);
    enum census_as as = census_as(&world, node);
    vec_done(&names);
    return as;
}

/* It holds one now, or would. */
static void count_taken(struct census *c, const struct node *node, enum census_as as) {
    bool control = node_is_control_plane(node);
    if (as == CENSUS_ELSEWHERE) {
        c->elsewhere -= c->elsewhere > 0;
        c->control_elsewhere -= control && c->control_elsewhere > 0;
    } else if (as == CENSUS_DOWN) {
        c->down -= c->down > 0;
        c->control_down -= control && c->control_down > 0;
    }
}

/* Of the record as it is. */
static const struct census *census_of(struct keeper *k) {
    if (!k->census_known)
        k->census = take_census(k, &k->record.slots);
    k->census_known = true;
    return &k->census;
}

size_t keeper_limit(struct keeper *k) {
    return census_limit(&k->opts.max, census_of(k)->members);
}

size_t keeper_down(struct keeper *k) {
    return k->opts.down_count ? census_of(k)->down : 0;
}

size_t keeper_elsewhere(struct keeper *k) {
    return census_of(k)->elsewhere;
}

static const char *zone_of(const struct node *node) {
    return node ? node_zone(node) : "";
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

/* Members of the control plane go one at a time, whatever the policy says, or the policies. `rest`:
 * without the node itself. */
static bool control_plane_waits(const struct keeper *k, const struct slots *s,
                                const struct census *rest, const struct node *node) {
    if (!node_is_control_plane(node))
        return false;
    if (rest->control_down || rest->control_elsewhere)
        return true;
    for (size_t i = 0; i < s->list.len; i++) {
        const struct node *other = cluster_node(k->cluster, s->list.p[i].node);
        if (other && node_is_control_plane(other))
            return true;
    }
    return false;
}

static bool is_full(const struct keeper *k, const struct slots *s, const struct census *rest) {
    size_t down = k->opts.down_count ? rest->down : 0;
    return s->list.len + rest->elsewhere + down >= census_limit(&k->opts.max, rest->members);
}

/* What is out itself, or down, makes nothing worse. */
static struct census without(const struct keeper *k, const struct census *c,
                             const struct node *node) {
    struct census rest = *c;
    count_taken(&rest, node, counted_as(k, node));
    return rest;
}

static bool may_take(const struct keeper *k, const struct slots *s, const struct census *c,
                     const struct node *node) {
    struct census rest = without(k, c, node);
    return !is_full(k, s, &rest) && !zone_full(k, s, node) &&
           !control_plane_waits(k, s, &rest, node);
}

static const char *unguarded_by(const struct keeper *k) {
    return k->opts.unguarded ? k->opts.unguarded(k->opts.arg, k) : NULL;
}

const char *keeper_blind(const struct keeper *k) {
    return k->opts.blind ? k->opts.blind(k->opts.arg) : NULL;
}

const char *keeper_unguarded(const struct keeper *k) {
    const char *why = unguarded_by(k);
    return why ? why : k->none.trouble;
}

bool keeper_has_room(struct keeper *k, const char *name) {
    const struct node *node = cluster_node(k->cluster, name);
    const struct census *c = census_of(k);
    if (!node)
        return !is_full(k, &k->record.slots, c);
    return may_take(k, &k->record.slots, c, node) && !keeper_holds_elsewhere(k, node);
}

/* "2 of 2 slots of policy p are held: w1, w2; 1 node is down, and takes one" */
static void add_full(struct keeper *k, struct str *text) {
    const struct slots *s = &k->record.slots;
    size_t down = keeper_down(k), elsewhere = keeper_elsewhere(k);
    if (!keeper_limit(k)) {
        str_addf(text,
                 "policy %s lets no node out: it is being deleted, or its maxUnavailable is 0",
                 k->opts.policy);
        return;
    }
    str_addf(text, "%zu of %zu slots of policy %s are held", s->list.len, keeper_limit(k),
             k->opts.policy);
    for (size_t i = 0; i < s->list.len && i < NAMES; i++)
        str_addf(text, "%s%s", i ? ", " : ": ", s->list.p[i].node);
    if (elsewhere)
        str_addf(text, "; %zu %s out for another policy, and %s", elsewhere,
                 elsewhere == 1 ? "node is" : "nodes are",
                 elsewhere == 1 ? "takes one" : "take as many");
    if (down)
        str_addf(text, "; %zu %s down, and %s", down, down == 1 ? "node is" : "nodes are",
                 down == 1 ? "takes one" : "take as many");
}

bool keeper_is_counted_out(struct keeper *k, const char *name) {
    const struct node *node = cluster_node(k->cluster, name);
    struct census rest = *census_of(k);
    if (node)
        rest = without(k, &rest, node);
    return (!node || !keeper_holds_elsewhere(k, node)) && is_full(k, &k->record.slots, &rest);
}

enum blocker_code keeper_full(struct keeper *k, const struct node *node, struct str *text) {
    const struct slots *s = &k->record.slots;
    const struct census rest = without(k, census_of(k), node);
    const char *unguarded = keeper_unguarded(k), *blind = keeper_blind(k);
    if (unguarded || blind) {
        str_add(text, unguarded ? unguarded : blind);
        return unguarded ? BLOCKER_POLICY_UNCLEAR : BLOCKER_SERVER_TROUBLE;
    }
    if (keeper_holds_elsewhere(k, node)) {
        str_addf(text, "node %s is out of service for another policy itself", node->meta.name);
        return BLOCKER_NODE_TAKEN;
    }
    if (is_full(k, s, &rest)) {
        add_full(k, text);
        return BLOCKER_MAX_UNAVAILABLE;
    }
    if (zone_full(k, s, node)) {
        str_addf(text, "nodes of %u %s are out, which is as many as policy %s lets out at once",
                 k->opts.max_zones, k->opts.max_zones == 1 ? "zone" : "zones", k->opts.policy);
        return BLOCKER_MAX_ZONES;
    }
    if (control_plane_waits(k, s, &rest, node)) {
        str_add(text, "of the control plane one goes at a time, and another is out or down");
        return BLOCKER_MAX_UNAVAILABLE;
    }
    return BLOCKER_CODES;
}

/* That it passes is good as long as nobody else takes a slot. */
static bool gates_open(struct keeper *k, const struct slots *s, const struct slot_wish *wish,
                       struct arena *arena) {
    struct gate_answer answer;
    keeper_gates_look(k, s);
    return keeper_gate(k, &(struct gate_who){wish->node, wish->operation, wish->by}, CHECK_CORDON,
                       arena, &answer) == MAINT_PASS;
}

bool keeper_take_as(struct keeper *k, struct slots *s, const char *id, const struct slot_wish *wish,
                    const struct node *node, struct arena *arena) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct slot slot = {.id = id,
                        .node = node->meta.name,
                        .uid = strna(node->meta.uid),
                        .operation = wish->operation,
                        .by = wish->by,
                        .since = k->now.wall};
    if (!slots_take(s, &slot, SIZE_MAX, arena, &err))
        return true;
    keeper_tell(k,
                (struct keeper_note){.node = node->meta.name,
                                     .by = wish->by,
                                     .operation = wish->operation,
                                     .reason = REASON_SLOT_REFUSED,
                                     .warning = true},
                "gets no slot: %s", err_msg(&err));
    return false;
}

static void take(struct keeper *k, struct slots *s, const struct slot_wish *wish,
                 const struct node *node, struct arena *arena) {
    _cleanup_free_ char *id = xasprintf("slot:%s/%s:%016llx", k->opts.ns, k->opts.policy,
                                        (unsigned long long)prng_next(&k->random));
    (void)keeper_take_as(k, s, id, wish, node, arena);
}

/* --- what the seed's manager was doing --- */

bool keeper_is_left_by_seed(const struct keeper *k, const struct node *node) {
    return k->opts.seed_marks && node->unschedulable &&
           str_same(map_get(node->meta.annotations, SEED_MARK), SEED_REBOOTING) &&
           !map_has(node->meta.annotations, CORDON_ANNOTATION);
}

/* It goes on: they are out of service, and count, however many they are. False: they do not yet,
 * and nobody else gets a slot before. */
static bool take_over(struct keeper *k, struct slots *s, struct arena *arena, bool *changed) {
    const struct object *obj;
    struct names left = VEC_INIT;
    for (uint32_t i = 0; k->opts.seed_marks && (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        if (keeper_is_left_by_seed(k, node) && !slots_holder(s, node->meta.name) &&
            keeper_is_member(k, node) && !keeper_holds_elsewhere(k, node) &&
            store_fresh(k->cluster->nodes, NULL, node->meta.name))
            add_name(&left, node->meta.name);
    }
    if (left.len) /* where a store has them depends on chance */
        qsort(left.p, left.len, sizeof *left.p, by_name);
    bool may = !left.len || keeper_builtin_holds(k, left.p[0]);
    *changed = may && left.len;
    for (size_t i = 0; may && i < left.len; i++) {
        struct slot_wish wish = {.node = left.p[i],
                                 .operation = operation_word(OPERATION_REBOOT),
                                 .by = SLOTS_BY_CLIENT};
        take(k, s, &wish, cluster_node(k->cluster, left.p[i]), arena);
    }
    vec_done(&left);
    return may;
}

bool keeper_is_taken_over(const struct keeper *k, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, slot->node);
    return slot->state == SLOT_TAKEN && node && keeper_is_left_by_seed(k, node);
}

/* Beside those that are begun, and those of its own kind that come first. */
bool keeper_may_begin(const struct keeper *k, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, slot->node);
    const struct slots *s = &k->record.slots;
    struct slots rest = SLOTS_INIT;
    if (!node || !keeper_is_taken_over(k, slot))
        return true;
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *one = &s->list.p[i];
        if (!keeper_is_taken_over(k, one) || strcmp(one->node, slot->node) < 0)
            *vec_push(&rest.list) = *one;
    }
    struct census c = take_census(k, &rest);
    bool may = !c.unsure && !keeper_blind(k) && may_take(k, &rest, &c, node);
    slots_done(&rest);
    return may;
}

/* It has asked in this boot; one that asked before it has what it wanted. Whoever has written that
 * may have been frozen meanwhile. */
static bool is_of_now(const struct slot_wish *wish, const struct node *node) {
    return str_empty(wish->boot) || streq(wish->boot, keeper_boot(node));
}

/* Of a client that nobody hears here any more: where it asks next, it is heard again. */
static bool is_unheard(const struct keeper *k, const struct slot_wish *wish,
                       const struct node *node) {
    return streq(wish->by, SLOTS_BY_CLIENT) && (k->opts.no_clients || !keeper_is_member(k, node));
}

/* Wishes of nodes that are there no more, or of an earlier boot; but our picture may be late. */
static bool forget_gone(struct keeper *k, struct slots *s) {
    size_t kept = 0, had = s->waiting.len;
    for (size_t i = 0; i < had; i++) {
        const struct slot_wish *wish = &s->waiting.p[i];
        const struct node *node = cluster_node(k->cluster, wish->node);
        bool old = node && !is_of_now(wish, node);
        int64_t due = wish->asked + SEC(OLD_BOOT_S);
        if (!node || is_unheard(k, wish, node) || (old && k->now.wall >= due))
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
    if (!store_synced(k->cluster->nodes) || k->stopped)
        return changed;
    changed |= forget_gone(k, s);
    struct census c = take_census(k, s);
    bool taken = false;
    /* Who is down, in which zone, and of what control plane: an old picture does not tell. */
    if (c.unsure || keeper_blind(k) || unguarded_by(k) || !take_over(k, s, arena, &taken))
        return changed;
    if (taken) {
        c = take_census(k, s);
        changed = true;
    }
    for (int broken = 1; broken >= 0; broken--)
        for (size_t i = 0; i < s->waiting.len;) {
            const struct slot_wish wish = s->waiting.p[i];
            const struct node *node = cluster_node(k->cluster, wish.node);
            if (node_is_ready(node) == (broken != 0) || slots_holder(s, wish.node) ||
                !keeper_is_member(k, node) || !is_of_now(&wish, node) ||
                !may_take(k, s, &c, node) || keeper_holds_elsewhere(k, node) ||
                !gates_open(k, s, &wish, arena)) {
                i++;
                continue;
            }
            if (!keeper_builtin_holds(k, wish.node))
                return changed; /* nobody comes before it */
            enum census_as as = counted_as(k, node);
            take(k, s, &wish, node, arena); /* its wish ends: the next one is at i */
            count_taken(&c, node, as);
            changed = true;
        }
    return changed;
}

/* --- looking ahead --- */

struct keeper_ahead {
    const struct keeper *k;
    struct slots slots;
    struct census census;
};

struct keeper_ahead *keeper_ahead_new(struct keeper *k) {
    const struct slots *s = keeper_slots(k);
    if (!s)
        return NULL;
    struct keeper_ahead *a = xnew(struct keeper_ahead);
    a->k = k;
    a->census = *census_of(k);
    for (size_t i = 0; i < s->list.len; i++)
        *vec_push(&a->slots.list) = s->list.p[i];
    return a;
}

void keeper_ahead_free(struct keeper_ahead *a) {
    if (!a)
        return;
    slots_done(&a->slots);
    free(a);
}

void keeper_ahead_count(struct keeper_ahead *a, const struct node *node) {
    for (size_t i = 0; i < a->slots.list.len; i++)
        if (streq(a->slots.list.p[i].node, node->meta.name))
            return;
    *vec_push(&a->slots.list) = (struct slot){.node = node->meta.name};
    count_taken(&a->census, node, counted_as(a->k, node));
}

bool keeper_ahead_may(const struct keeper_ahead *a, const struct node *node) {
    return keeper_is_member(a->k, node) && may_take(a->k, &a->slots, &a->census, node);
}

void keeper_ahead_each(const struct keeper_ahead *a, keeper_out_fn *fn, void *arg) {
    for (size_t i = 0; i < a->slots.list.len; i++)
        fn(arg, a->slots.list.p[i].node);
}
