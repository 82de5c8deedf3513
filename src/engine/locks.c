/* Who holds slots, who waits, and why. */
#include "engine/locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/census.h"
#include "engine/cordon.h"
#include "engine/keeper.h"
#include "engine/own_status.h"
#include "engine/policy.h"
#include "engine/policy_status.h"
#include "engine/stop.h"
#include "engine/survey.h"
#include "engine/told.h"
#include "model/own.h"

enum {
    NAMES = 3,         /* of others in a sentence */
    BLOCKERS = 2,      /* the same, of a drain */
    CLOCKS_S = 60,     /* seconds by which clocks may differ */
    DATE_LEN = 10,     /* of "2026-11-15T08:00:00Z" */
    MINUTE_LEN = 5,    /* "08:00" */
    LEASE_SECONDS = 15 /* of a Lease that does not say */
};

/* Who holds a slot, in any record. */
struct holding {
    const struct config_map *map;
    const char *policy, *node;
};

struct holdings {
    struct holding *p;
    size_t len, cap;
};

/* What is known while one record is looked at. */
struct view_of_policy {
    const struct locks_world *w;
    struct arena *arena;
    const struct lock_policy *policy;
    const struct policy_rules *rules; /* NULL: not known, or there is none any more */
    bool gone;                        /* there is no such Policy */
    bool unguarded;                   /* it could vanish: nobody gets a slot of it */
    bool stopped;                     /* everything is paused in its namespace */
    const struct slots *slots;
    const struct config_map *map;
    const struct holdings *all;
    struct census_world census;
};

/* --- words --- */

const char *locks_clock(int64_t at, int64_t now, struct arena *arena) {
    char text[TIMEFMT_LEN], today[TIMEFMT_LEN];
    time_format(at, false, text);
    time_format(now, false, today);
    if (!strncmp(text, today, DATE_LEN))
        return arena_printf(arena, "%.*s UTC", MINUTE_LEN, text + DATE_LEN + 1);
    return arena_printf(arena, "%.*s %.*s UTC", DATE_LEN, text, MINUTE_LEN, text + DATE_LEN + 1);
}

static const char *clock_of(const struct view_of_policy *v, int64_t at) {
    return locks_clock(at, v->w->now, v->arena);
}

/* "w1, w2, w3 and 2 more" */
static const char *names_of(const char *const *names, size_t n, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < n && i < NAMES; i++)
        str_addf(&text, "%s%s", i ? ", " : "", names[i]);
    if (n > NAMES)
        str_addf(&text, " and %zu more", n - NAMES);
    return arena_strndup(arena, str_get(&text), text.len);
}

static void say(struct lock_row *row, enum lock_mood mood, const char *why) {
    row->mood = mood;
    row->why = why;
}

const char *locks_maintenance(const char *by) {
    return str_starts(strna(by), KEEPER_BY_MAINTENANCE) ? by + strlen(KEEPER_BY_MAINTENANCE) : NULL;
}

/* --- nodes --- */

static const struct node *node_of(const struct view_of_policy *v, const char *name) {
    return (const struct node *)store_get(v->w->nodes, NULL, name);
}

/* "is not Ready (KubeletNotReady) since 12:04 UTC" */
static const char *unready_text(const struct view_of_policy *v, const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    bool reason = c && !str_empty(c->c.reason);
    if (!c)
        return "has not said whether it is Ready";
    return arena_printf(v->arena, "is not Ready%s%s%s%s%s", reason ? " (" : "",
                        reason ? c->c.reason : "", reason ? ")" : "", c->c.changed ? " since " : "",
                        c->c.changed ? clock_of(v, c->c.changed) : "");
}

/* --- those who hold one --- */

/* Those first that wait for somebody's help, then by name. */
static int by_gravity(const void *a, const void *b) {
    const struct survey_blocker *x = a, *y = b;
    const struct blocker_row *rx = blocker_row(x->code), *ry = blocker_row(y->code);
    if (rx->clears_itself != ry->clears_itself)
        return rx->clears_itself ? 1 : -1;
    int c = strcmp(rx->name, ry->name);
    return c ? c : strcmp(x->object, y->object);
}

/* "PDBNoBudget shop/web: needs 2, has 2; 1 more"; NULL: nothing is known. */
static const char *told_text(const struct view_of_policy *v, const struct node *node,
                             const struct slot *slot, bool *stuck) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct survey_blocker *told;
    size_t n = v->w->events ? survey_told(v->w->events, node, slot->since, v->arena, &told) : 0;
    if (!n)
        return NULL;
    struct survey_blocker *list = arena_alloc(v->arena, n * sizeof *list);
    memcpy(list, told, n * sizeof *list);
    qsort(list, n, sizeof *list, by_gravity);
    *stuck = !blocker_row(list[0].code)->clears_itself;
    for (size_t i = 0; i < n && i < BLOCKERS; i++)
        str_addf(&text, "%s%s%s%s: %s", i ? "; " : "", blocker_row(list[i].code)->name,
                 *list[i].object ? " " : "", list[i].object, list[i].message);
    if (n > BLOCKERS)
        str_addf(&text, "; and %zu more", n - BLOCKERS);
    return arena_strndup(v->arena, str_get(&text), text.len);
}

/* "LastReplica longhorn-system/pvc-1: longhorn: ..." */
static const char *gate_text(const struct view_of_policy *v, const struct slot_wait *wait) {
    return arena_printf(v->arena, "%s%s%s: %s", wait->code, *wait->object ? " " : "", wait->object,
                        wait->message);
}

/* A code of a later release is taken for one that ends by itself. */
static enum lock_mood gate_mood(const struct slot_wait *wait) {
    enum blocker_code code = blocker_find(wait->code);
    return code == BLOCKER_CODES || blocker_row(code)->clears_itself ? LOCK_WAITS : LOCK_STUCK;
}

/* NULL: it is held for none, or that is not known. */
static const struct maintenance *maintenance_of(const struct view_of_policy *v,
                                                const struct slot *slot) {
    const char *name = locks_maintenance(slot->by);
    return name && v->w->maintenances
               ? (const struct maintenance *)store_get(v->w->maintenances, NULL, name)
               : NULL;
}

/* Its Maintenance says what its drain waits for sooner than Events do. */
static const char *blocker_text(const struct view_of_policy *v, const struct maintenance *m,
                                bool *stuck) {
    bool drains = m && maint_phase_find(m->phase) == MAINT_DRAINING;
    const struct own_blocker *b = drains ? m->blocker : NULL;
    enum blocker_code code = b && !str_empty(b->code) ? blocker_find(b->code) : BLOCKER_CODES;
    if (code == BLOCKER_CODES)
        return NULL;
    *stuck = !blocker_row(code)->clears_itself;
    return arena_printf(v->arena, "%s%s%s: %s", b->code, str_empty(b->object) ? "" : " ",
                        strna(b->object), strna(b->message));
}

/* Marked by the seed's manager, and not begun with by us. */
static bool is_left_by_seed(const struct view_of_policy *v, const struct slot *slot) {
    const struct node *node = node_of(v, slot->node);
    return slot->state == SLOT_TAKEN && node && node->unschedulable &&
           str_same(map_get(node->meta.annotations, SEED_MARK), SEED_REBOOTING) &&
           !map_has(node->meta.annotations, CORDON_ANNOTATION);
}

/* Of those that were taken over from it, those that have no room yet: they go in the order of their
 * names, when those that are begun with are back. */
static const char *taken_over_text(const struct view_of_policy *v, const struct slot *slot) {
    const struct slots *s = v->slots;
    const char **names = arena_alloc(v->arena, (s->list.len + 1) * sizeof *names);
    size_t n = 0;
    if (!is_left_by_seed(v, slot) || !v->policy->limited)
        return NULL;
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *one = &s->list.p[i];
        if (!streq(one->node, slot->node) &&
            (!is_left_by_seed(v, one) || strcmp(one->node, slot->node) < 0))
            names[n++] = one->node;
    }
    if (n < v->policy->limit)
        return NULL;
    return arena_printf(v->arena, "was cordoned by another manager, and waits to be drained: %s%s",
                        n ? "first comes back " : "the policy lets no node out",
                        n ? names_of(names, n, v->arena) : "");
}

static void taken(const struct view_of_policy *v, const struct node *node, struct lock_row *row) {
    const struct slot *slot = row->slot;
    const struct maintenance *m = maintenance_of(v, slot);
    const struct node_condition *c = node_condition_find(node->conditions, "DrainInProgress");
    bool stuck = false;
    struct cordon cordon;
    cordon_of(node, v->arena, &cordon);
    if (cordon.owner == CORDON_UNREADABLE) {
        say(row, LOCK_STUCK,
            arena_printf(v->arena,
                         "cannot be cordoned: its annotation " CORDON_ANNOTATION
                         " cannot be read: %s",
                         strna(cordon.problem)));
        return;
    }
    if (slot->wait.code && !v->stopped) {
        say(row, gate_mood(&slot->wait),
            arena_printf(v->arena, "holds a slot, and waits: %s", gate_text(v, &slot->wait)));
        return;
    }
    const char *over = v->stopped ? NULL : taken_over_text(v, slot);
    if (over) {
        say(row, LOCK_WAITS, over);
        return;
    }
    if (!node->unschedulable || !cordon_names(node, slot->id)) {
        say(row, v->stopped ? LOCK_WAITS : LOCK_GOES_ON,
            v->stopped ? "everything is paused: it is not drained"
                       : "is about to be cordoned and drained");
        return;
    }
    if (m && m->paused == 1) {
        say(row, LOCK_WAITS,
            arena_printf(v->arena,
                         "Maintenance %s is paused: its drain evicts no pod until 'slipway resume "
                         "maintenance/%s'",
                         m->meta.name, m->meta.name));
        return;
    }
    if (c && str_same(c->c.reason, TOLD_ENDED) && c->c.changed >= slot->since) {
        say(row, LOCK_STUCK,
            arena_printf(v->arena, "its drain has ended: %s; it is begun again after a minute",
                         str_empty(c->c.message) ? "why is not known" : c->c.message));
        return;
    }
    if (v->stopped) {
        say(row, LOCK_WAITS, "everything is paused: its drain evicts no pod");
        return;
    }
    const char *told = told_text(v, node, slot, &stuck);
    if (!told)
        told = blocker_text(v, m, &stuck);
    say(row, stuck ? LOCK_STUCK : LOCK_GOES_ON,
        arena_printf(v->arena, "is being drained%s%s", told ? ": " : "", told ? told : ""));
}

static void drained(const struct view_of_policy *v, const struct node *node, struct lock_row *row) {
    const struct slot *slot = row->slot;
    const char *maintenance = locks_maintenance(slot->by);
    int64_t due = MAX_OF(slot->since, slot->asked) + KEEPER_UNCLAIMED;
    /* What it asked before it got its slot is not in the record any more. */
    bool asked = slot->asked && slot->asked != slot->since;
    if (!streq(slot->boot, keeper_boot(node)))
        say(row, LOCK_GOES_ON, "has rebooted since it was drained: it is about to be put back");
    else if (!node->unschedulable || !cordon_names(node, slot->id))
        say(row, LOCK_GOES_ON,
            "somebody has uncordoned it since it was drained: it is about to be put back");
    else if (v->stopped)
        say(row, LOCK_WAITS, "is drained, and everything is paused: it is not told that it may go");
    else if (slot->wait.code)
        say(row, gate_mood(&slot->wait),
            arena_printf(v->arena, "is drained, and may not go yet: %s",
                         gate_text(v, &slot->wait)));
    else if (maintenance)
        say(row, LOCK_GOES_ON,
            arena_printf(v->arena, "is drained: the %s of Maintenance %s is about to begin",
                         slot->operation, maintenance));
    else if (slot->unsure)
        say(row, LOCK_WAITS,
            "may have been told to go before its record was lost: waits for its reboot, its "
            "report that it is steady, or its question");
    else
        say(row, LOCK_WAITS,
            arena_printf(v->arena,
                         "is drained, and told that it may go when it asks%s%s: put back at %s if "
                         "it does not",
                         asked ? ", as it last did at " : "", asked ? clock_of(v, slot->asked) : "",
                         clock_of(v, due)));
}

/* "was told at 12:03 UTC that it may go" */
static const char *granted_text(const struct view_of_policy *v, const struct slot *slot) {
    const char *maintenance = locks_maintenance(slot->by);
    const char *at = slot->granted ? clock_of(v, slot->granted) : NULL;
    if (maintenance)
        return arena_printf(v->arena, "is ready for the %s of Maintenance %s%s%s", slot->operation,
                            maintenance, at ? " since " : "", strna(at));
    return arena_printf(v->arena, "was told%s%s that it may go", at ? " at " : "", strna(at));
}

static void granted(const struct view_of_policy *v, const struct node *node, struct lock_row *row) {
    const struct slot *slot = row->slot;
    const char *told = granted_text(v, slot);
    bool ready = node_is_ready(node);
    if (!streq(slot->boot, keeper_boot(node)))
        say(row, ready ? LOCK_GOES_ON : LOCK_WAITS,
            ready ? "has rebooted and is Ready: it is about to be put back"
                  : arena_printf(v->arena, "has rebooted, and %s: put back when it is",
                                 unready_text(v, node)));
    else if (!ready)
        say(row, LOCK_WAITS,
            arena_printf(v->arena, "%s, and %s: waits for it to come back", told,
                         unready_text(v, node)));
    else
        say(row, LOCK_WAITS,
            arena_printf(v->arena, "%s: waits for %s%s", told,
                         locks_maintenance(slot->by)
                             ? "its end"
                             : "its reboot, or its report that it is steady",
                         node->unschedulable ? "" : "; somebody has uncordoned it since"));
}

static void steady(const struct view_of_policy *v, const struct node *node, struct lock_row *row) {
    const struct slot *slot = row->slot;
    int64_t due = slot->steady + KEEPER_SAME_BOOT;
    if (!node_is_ready(node))
        say(row, LOCK_WAITS,
            arena_printf(v->arena, "has reported that it is steady, and %s: put back when it is",
                         unready_text(v, node)));
    else if (!streq(slot->boot, keeper_boot(node)))
        say(row, LOCK_GOES_ON, "has rebooted and reported: it is about to be put back");
    else
        say(row, LOCK_GOES_ON,
            due > v->w->now
                ? arena_printf(v->arena, "has reported at %s without a reboot: free at %s",
                               clock_of(v, slot->steady), clock_of(v, due))
                : arena_printf(v->arena,
                               "has reported at %s without a reboot: free when whoever leads has "
                               "seen it stay up for 5 minutes, and its kubelet is heard of then",
                               clock_of(v, slot->steady)));
}

static void returned(const struct view_of_policy *v, const struct node *node,
                     struct lock_row *row) {
    if (row->slot->wait.code) {
        say(row, gate_mood(&row->slot->wait),
            arena_printf(v->arena, "is put back, and keeps its slot: %s",
                         gate_text(v, &row->slot->wait)));
        return;
    }
    say(row, LOCK_GOES_ON,
        cordon_names(node, row->slot->id) ? "is let go: it is about to be uncordoned"
                                          : "is put back: the slot is about to be free");
}

/* It goes on when somebody says how, and not before. */
static bool halted(const struct view_of_policy *v, struct lock_row *row) {
    const struct maintenance *m = maintenance_of(v, row->slot);
    const char *name = m ? m->meta.name : "";
    if (!m || maint_phase_find(m->phase) != MAINT_HALTED)
        return false;
    const char *said = m->blocker ? m->blocker->message : NULL, *word = NULL;
    bool heard = m->meta.deleted || (!maintenance_word(m, &word, NULL) && word);
    if (heard) {
        say(row, LOCK_WAITS,
            arena_printf(v->arena,
                         "Maintenance %s is Halted since %s (%s%s%s), and %s: that is "
                         "heard when its node is Ready",
                         name, clock_of(v, m->since), strna(m->phase_reason),
                         str_empty(said) ? "" : ": ", strna(said),
                         m->meta.deleted ? "was deleted"
                                         : arena_printf(v->arena, "somebody has said '%s'", word)));
        return true;
    }
    say(row, LOCK_STUCK,
        arena_printf(v->arena,
                     "Maintenance %s is Halted since %s (%s%s%s): 'slipway retry', skip or abort "
                     "maintenance/%s",
                     name, clock_of(v, m->since), strna(m->phase_reason),
                     str_empty(said) ? "" : ": ", strna(said), name));
    return true;
}

static void look_at_slot(const struct view_of_policy *v, struct lock_row *row) {
    const struct node *node = node_of(v, row->node);
    if (!node || !streq(strna(node->meta.uid), row->slot->uid)) {
        say(row, LOCK_GOES_ON,
            node ? "the node that holds it is gone, and another has its name: it is about to be "
                   "free"
                 : "its node is gone: it is about to be free");
        return;
    }
    if (halted(v, row))
        return;
    switch (row->slot->state) {
    case SLOT_TAKEN:
        taken(v, node, row);
        return;
    case SLOT_DRAINED:
        drained(v, node, row);
        return;
    case SLOT_GRANTED:
        granted(v, node, row);
        return;
    case SLOT_STEADY:
        steady(v, node, row);
        return;
    default:
        returned(v, node, row);
    }
}

/* Who does not know that it is held. */
static void look_for_rival(const struct view_of_policy *v, struct lock_row *row) {
    const struct node *node = node_of(v, row->node);
    const struct rival_row *rival = node ? rival_at_work(&v->w->rivals, node, v->w->now) : NULL;
    if (!rival)
        return;
    row->why = arena_printf(v->arena, "%s; and %s %s", row->why, rival->name, rival->doing);
    if (row->mood == LOCK_GOES_ON)
        row->mood = LOCK_WAITS;
}

/* --- those who wait --- */

static bool has_node(const struct view_of_policy *v, const struct node *node) {
    return !v->rules || policy_has_node(v->rules, node);
}

/* A record of the same Slipway; those of others are known by the cordons of their nodes. */
static bool is_of_another(const struct view_of_policy *v, const struct holding *h) {
    return h->map != v->map && str_same(h->map->meta.ns, v->map->meta.ns);
}

/* The policy that it holds a slot of, other than this one; NULL: none. */
static const char *elsewhere(const struct view_of_policy *v, const char *node) {
    for (size_t i = 0; i < v->all->len; i++)
        if (is_of_another(v, &v->all->p[i]) && streq(v->all->p[i].node, node))
            return v->all->p[i].policy;
    return NULL;
}

/* Nodes of the policy without a slot of it, but for the one that asks, that take slots: they are
 * out for another one, or else down. */
static size_t out_without(const struct view_of_policy *v, const struct node *who, bool other,
                          const char ***names) {
    VEC(const char *) list = VEC_INIT;
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(v->w->nodes, &n);
    for (size_t i = 0; v->rules && (other || v->rules->down_count) && i < n; i++) {
        const struct node *node = (const struct node *)all[i];
        if (node == who || !has_node(v, node) || slots_holder(v->slots, node->meta.name))
            continue;
        if (census_as(&v->census, node) == (other ? CENSUS_ELSEWHERE : CENSUS_DOWN))
            *vec_push(&list) = node->meta.name;
    }
    size_t found = list.len;
    *names = arena_alloc(v->arena, (found + 1) * sizeof **names);
    if (found)
        memcpy((void *)*names, (const void *)list.p, found * sizeof **names);
    vec_done(&list);
    return found;
}

static const char *full_text(const struct view_of_policy *v, const struct node *who) {
    const struct slots *s = v->slots;
    const char **names = arena_alloc(v->arena, (s->list.len + 1) * sizeof *names), **down, **other;
    size_t n_down = out_without(v, who, false, &down), limit = v->policy->limit;
    size_t n_other = out_without(v, who, true, &other);
    for (size_t i = 0; i < s->list.len; i++)
        names[i] = s->list.p[i].node;
    const char *holders = names_of(names, s->list.len, v->arena);
    if (!v->policy->limited)
        return s->list.len ? arena_printf(v->arena, "others hold slots: %s", holders) : NULL;
    if (!limit)
        return "the policy lets no node out";
    const char *slots =
        limit == 1 ? "the only slot" : arena_printf(v->arena, "all %zu slots", limit);
    if (s->list.len >= limit)
        return arena_printf(v->arena, "%s %s %s: %s", s->list.len == 1 ? "another" : "others",
                            s->list.len == 1 ? "holds" : "hold", slots, holders);
    if (s->list.len + n_other + n_down < limit)
        return NULL;
    if (n_other)
        return arena_printf(v->arena,
                            "nodes that are out for another policy count for %s: %s%s%s%s%s", slots,
                            names_of(other, n_other, v->arena), n_down ? "; down: " : "",
                            n_down ? names_of(down, n_down, v->arena) : "",
                            s->list.len ? "; held by " : "", holders);
    return arena_printf(v->arena, "nodes that are down count for %s: %s%s%s", slots,
                        names_of(down, n_down, v->arena), s->list.len ? "; held by " : "", holders);
}

/* The control plane goes one at a time, whatever the policy says, or the policies. */
static const char *control_plane_text(const struct view_of_policy *v, const struct node *who) {
    size_t n = 0;
    const char *out = NULL;
    if (!node_is_control_plane(who))
        return NULL;
    _cleanup_free_ const struct object **all = store_sorted(v->w->nodes, &n);
    for (size_t i = 0; i < n && !out; i++) {
        const struct node *node = (const struct node *)all[i];
        if (node != who && node_is_control_plane(node) &&
            (slots_holder(v->slots, node->meta.name) || census_as(&v->census, node) != CENSUS_IN))
            out = node->meta.name;
    }
    return out ? arena_printf(v->arena,
                              "of the control plane one goes at a time, and %s is out or down", out)
               : NULL;
}

static const char *zone_of(const struct node *node) {
    return node ? node_zone(node) : "";
}

static const char *zone_text(const struct view_of_policy *v, const struct node *who) {
    const char **zones = arena_alloc(v->arena, (v->slots->list.len + 1) * sizeof *zones);
    size_t n = 0;
    if (!v->rules || !v->rules->max_zones)
        return NULL;
    for (size_t i = 0; i < v->slots->list.len; i++) {
        const char *zone = zone_of(node_of(v, v->slots->list.p[i].node));
        bool known = false;
        if (streq(zone, zone_of(who)))
            return NULL;
        for (size_t j = 0; j < n; j++)
            known = known || streq(zones[j], zone);
        if (!known)
            zones[n++] = zone;
    }
    return n >= v->rules->max_zones
               ? arena_printf(v->arena, "nodes of as many zones as may be are out: %s",
                              names_of(zones, n, v->arena))
               : NULL;
}

/* What it waits for beside that, or when that is over, as far as somebody has to see to it. */
static const char *with_gate(const struct view_of_policy *v, struct lock_row *row,
                             const char *why) {
    const struct slot_wait *wait = &row->wish->wait;
    if (!why) {
        row->mood = gate_mood(wait);
        return gate_text(v, wait);
    }
    return gate_mood(wait) == LOCK_STUCK
               ? arena_printf(v->arena, "%s; and %s", why, gate_text(v, wait))
               : why;
}

static const char *unguarded_text(const struct view_of_policy *v, struct lock_row *row) {
    row->mood = LOCK_STUCK;
    return arena_printf(v->arena,
                        "policy %s has no finalizer, without which nobody gets a slot of it: the "
                        "log of the controller that leads says why",
                        v->policy->name);
}

static void look_at_wish(const struct view_of_policy *v, struct lock_row *row) {
    const struct node *node = node_of(v, row->node);
    const struct slot *own = slots_holder(v->slots, row->node);
    const char *why = NULL;
    row->mood = LOCK_WAITS;
    if (!node)
        why = "its node is gone: it is about to be forgotten";
    else if (own)
        why = "the slot of its last time is being put back";
    else if (v->gone)
        why = arena_printf(v->arena, "there is no policy %s any more: nobody gets a slot of it",
                           v->policy->name);
    else if (v->rules && v->rules->ends)
        why =
            arena_printf(v->arena, "policy %s is being deleted: nobody gets a slot of it any more",
                         v->policy->name);
    else if (!has_node(v, node))
        why = arena_printf(v->arena, "policy %s has not got the node any more", v->policy->name);
    else if (elsewhere(v, row->wish->node))
        why = arena_printf(v->arena, "the node is out for policy %s itself",
                           elsewhere(v, row->wish->node));
    if (!why && v->stopped)
        why = "everything is paused: nobody gets a slot";
    if (!why && v->unguarded)
        why = unguarded_text(v, row);
    if (!why)
        why = full_text(v, node);
    if (!why)
        why = control_plane_text(v, node);
    if (!why)
        why = zone_text(v, node);
    if (row->wish->wait.code && node)
        why = with_gate(v, row, why);
    if (why && !locks_maintenance(row->wish->by) &&
        v->w->now > row->wish->asked + KEEPER_FORGET / 2)
        why = arena_printf(v->arena, "%s; it last asked at %s, and is forgotten at %s", why,
                           clock_of(v, row->wish->asked),
                           clock_of(v, row->wish->asked + KEEPER_FORGET));
    if (!why) {
        row->mood = LOCK_GOES_ON;
        why = v->policy->limited ? "a slot is free: it is about to get it"
                                 : "it is about to get a slot, if one is free";
    }
    row->why = why;
}

/* --- policies --- */

static size_t limit_of(const struct view_of_policy *v) {
    const struct object *obj;
    size_t members = 0;
    if (v->rules->ends)
        return 0;
    for (uint32_t i = 0; (obj = store_next(v->w->nodes, &i));)
        members += has_node(v, (const struct node *)obj);
    return census_limit(&v->rules->max, members);
}

/* The rules that bind it, to be freed; NULL: not known. Without any Policy there is the built-in
 * one. */
static struct policy_rules *rules_of(const struct locks_world *w, const char *name, bool *gone) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct policy_rules *rules = NULL;
    *gone = false;
    if (!w->policies)
        return NULL;
    const struct policy *p = (const struct policy *)store_get(w->policies, NULL, name);
    if (p)
        return policy_rules_read(p, store_pool(w->policies), &rules, &err) ? NULL : rules;
    if (!store_len(w->policies) && streq(name, "default"))
        return policy_builtin();
    *gone = true;
    return NULL;
}

static bool is_unguarded(const struct locks_world *w, const char *name) {
    const struct object *p = w->policies ? store_get(w->policies, NULL, name) : NULL;
    return p && !own_has_finalizer(&p->meta, POLICY_FINALIZER);
}

struct rows {
    VEC(struct lock_row) list;
};

static struct lock_row *add_row(struct rows *rows, const struct lock_policy *p, const char *node,
                                const char *state) {
    struct lock_row *row = vec_push(&rows->list);
    *row = (struct lock_row){.policy = p, .node = node, .state = state};
    return row;
}

static void look_at_record(struct view_of_policy *v, struct rows *rows) {
    const struct slots *s = v->slots;
    for (size_t i = 0; i < s->list.len; i++) {
        struct slot *slot = arena_new(v->arena, struct slot);
        *slot = s->list.p[i];
        struct lock_row *row = add_row(rows, v->policy, slot->node, slot_state_word(slot->state));
        row->slot = slot;
        look_at_slot(v, row);
        look_for_rival(v, row);
    }
    for (size_t i = 0; i < s->waiting.len; i++) {
        struct slot_wish *wish = arena_new(v->arena, struct slot_wish);
        *wish = s->waiting.p[i];
        struct lock_row *row = add_row(rows, v->policy, wish->node, "waits");
        row->wish = wish;
        look_at_wish(v, row);
        look_for_rival(v, row);
    }
}

static void add_holdings(const struct config_map *map, struct holdings *all, struct arena *arena) {
    struct slots s;
    if (slots_parse(view_of(strna(map_get(map->data, SLOTS_KEY))), arena, &s, NULL))
        return;
    for (size_t i = 0; i < s.list.len; i++)
        *vec_push(all) = (struct holding){map, keeper_policy_of(map), s.list.p[i].node};
    slots_done(&s);
}

static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* What the keeper of the policy counts by. */
static void begin_census(struct view_of_policy *v) {
    size_t n = 0;
    const char **names = arena_alloc(v->arena, (v->all->len + 1) * sizeof *names);
    for (size_t i = 0; i < v->all->len; i++)
        if (is_of_another(v, &v->all->p[i]))
            names[n++] = v->all->p[i].node;
    qsort(names, n, sizeof *names, by_name);
    v->census = (struct census_world){strna(v->policy->ns), v->policy->name, names, n};
}

static void look_at_map(const struct locks_world *w, const struct config_map *map,
                        const struct holdings *all, struct lock_policy *p, struct rows *rows,
                        struct arena *arena) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct slots s;
    *p = (struct lock_policy){
        .name = keeper_policy_of(map), .ns = map->meta.ns, .map = map->meta.name};
    int rc = slots_parse(view_of(strna(map_get(map->data, SLOTS_KEY))), arena, &s, &err);
    if (rc) {
        p->problem = arena_printf(arena, "%s", err_msg(&err));
        struct lock_row *row = add_row(rows, p, "", "unreadable");
        say(row, LOCK_STUCK,
            arena_printf(arena, "ConfigMap %s/%s: %s; %s", strna(p->ns), p->map, p->problem,
                         rc == -ENOTSUP ? "a newer release wrote it: use that one"
                                        : "nobody gets a slot of it until it is mended"));
        return;
    }
    struct view_of_policy v = {.w = w,
                               .arena = arena,
                               .policy = p,
                               .slots = &s,
                               .map = map,
                               .all = all,
                               .stopped = store_get(w->maps, p->ns, STOP_MAP)};
    struct policy_rules *rules = rules_of(w, p->name, &v.gone);
    v.rules = rules;
    begin_census(&v);
    v.unguarded = is_unguarded(w, p->name);
    p->held = s.list.len;
    p->waiting = s.waiting.len;
    p->limited = rules || v.gone;
    p->limit = rules ? limit_of(&v) : 0;
    look_at_record(&v, rows);
    policy_rules_free(rules);
    slots_done(&s);
}

static int by_policy(const void *a, const void *b) {
    const struct object *x = *(const struct object *const *)a,
                        *y = *(const struct object *const *)b;
    int c = strcmp(keeper_policy_of((const struct config_map *)x),
                   keeper_policy_of((const struct config_map *)y));
    if (!c)
        c = strcmp(strna(x->meta.ns), strna(y->meta.ns));
    return c ? c : strcmp(x->meta.name, y->meta.name);
}

void locks_take(const struct locks_world *w, struct arena *arena, struct locks *out) {
    struct rows rows = {0};
    size_t n = 0;
    _cleanup_free_ const struct object **maps = store_sorted(w->maps, &n);
    *out = (struct locks){.policies = arena_alloc(arena, (n + 1) * sizeof *out->policies)};
    if (n)
        qsort(maps, n, sizeof(struct object *), by_policy);
    struct holdings all = {0};
    for (size_t i = 0; i < n; i++)
        if (!stop_is((const struct config_map *)maps[i]))
            add_holdings((const struct config_map *)maps[i], &all, arena);
    for (size_t i = 0; i < n; i++) {
        const struct config_map *map = (const struct config_map *)maps[i];
        if (!stop_is(map))
            look_at_map(w, map, &all, &out->policies[out->n_policies++], &rows, arena);
    }
    out->n = rows.list.len;
    out->rows = arena_alloc(arena, (out->n + 1) * sizeof *out->rows);
    if (out->n)
        memcpy(out->rows, rows.list.p, out->n * sizeof *out->rows);
    vec_done(&rows.list);
    vec_done(&all);
}

bool locks_drains(const struct locks *l) {
    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].slot && l->rows[i].slot->state == SLOT_TAKEN)
            return true;
    return false;
}

bool locks_leads(const struct lease *lease, int64_t now) {
    int64_t lasts = lease->duration == ABSENT32 ? LEASE_SECONDS : lease->duration;
    return !str_empty(lease->holder) && lease->renewed + SEC(lasts + CLOCKS_S) > now;
}
