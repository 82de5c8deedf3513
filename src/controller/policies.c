/* The policies of the cluster. */
#include "controller/policies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "engine/own_status.h"
#include "engine/policy_status.h"
#include "engine/stop.h"
#include "model/selector.h"

enum { NAMES = 3 }; /* of nodes, in a sentence */

struct kept {
    struct policy_kept pub; /* first */
    char *name, *uid, *problem;
    struct policy *unusable; /* with a problem: as it is written */
    char *trouble;           /* of its record, as it was said */
    int64_t generation;
    bool ends, orphan, seen;
    bool guarded;   /* it cannot vanish */
    char *unguards; /* why it cannot be had that it cannot, a sentence; NULL: nobody knows */
};

struct policies {
    struct policies_opts opts;
    VEC(struct kept *) list; /* by name */
    bool leads;
    int32_t fence;
    uint64_t seeds;
    struct tokens tokens; /* of the evictions of all of them */
};

struct policies *policies_new(const struct policies_opts *opts) {
    struct policies *p = xnew(struct policies);
    p->opts = *opts;
    p->tokens.rate = opts->rate;
    return p;
}

static void kept_free(struct pool *pool, struct kept *k) {
    object_free(&kind_policy, pool, (struct object *)k->unusable);
    keeper_free(k->pub.keeper);
    policy_rules_free(k->pub.rules);
    free(k->name);
    free(k->uid);
    free(k->problem);
    free(k->trouble);
    free(k->unguards);
    free(k);
}

void policies_free(struct policies *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->list.len; i++)
        kept_free(p->opts.cluster->pool, p->list.p[i]);
    vec_done(&p->list);
    free(p);
}

static void keep(struct policies *p, struct kept *k) {
    const struct policy_rules *r = k->pub.rules;
    struct keeper_opts opts = p->opts.keeper;
    opts.policy = k->name;
    opts.nodes = r->selector;
    opts.max = r->ends ? (struct limit){0} : r->max;
    opts.builtin = r->builtin && !r->ends;
    opts.max_zones = r->max_zones;
    opts.down_count = r->down_count;
    opts.seed_marks = r->fleetlock;
    opts.no_clients = !r->fleetlock || r->ends;
    opts.return_timeout = r->return_timeout;
    opts.settle = r->settle;
    opts.approval = r->approval;
    if (!r->checks)
        opts.checks = NULL;
    policy_drain_opts(r, &opts.drain);
    opts.drain.tokens = &p->tokens;
    opts.seed += ++p->seeds;
    opts.drain.seed = opts.seed;
    k->pub.keeper = keeper_new(&opts, p->opts.cluster, p->opts.maps);
    if (p->leads)
        keeper_lead(k->pub.keeper, p->fence);
}

static struct kept *find(const struct policies *p, const char *name) {
    for (size_t i = 0; i < p->list.len; i++)
        if (streq(p->list.p[i]->name, name))
            return p->list.p[i];
    return NULL;
}

static void remove_at(struct policies *p, size_t i) {
    struct kept *k = p->list.p[i];
    if (k->pub.keeper)
        p->opts.replaced(p->opts.arg, k->pub.keeper);
    p->list.p[i] = p->list.p[--p->list.len];
    kept_free(p->opts.cluster->pool, k);
}

void policies_reset(struct policies *p) {
    while (p->list.len)
        remove_at(p, p->list.len - 1);
    p->leads = false;
    p->seeds = 0;
    p->tokens = (struct tokens){.rate = p->opts.rate};
}

static struct kept *add(struct policies *p, const char *name) {
    for (size_t i = 0; i < p->list.len; i++)
        if (streq(p->list.p[i]->name, name)) {
            remove_at(p, i);
            break;
        }
    struct kept *k = xnew(struct kept);
    k->name = xstrdup(name);
    k->pub.name = k->name;
    k->seen = true;
    *vec_push(&p->list) = k;
    return k;
}

static void keep_plain(struct policies *p, struct kept *k) {
    k->guarded = true;
    k->pub.rules = policy_builtin();
    k->pub.rules->name = k->name;
    k->pub.rules->ends = k->orphan;
    keep(p, k);
}

static void keep_orphan(struct policies *p, struct kept *k) {
    k->orphan = true;
    log_info(p->opts.log, "policy %s is gone, and nodes hold slots of it: they are seen to",
             k->name);
    keep_plain(p, k);
}

static void look_at(struct policies *p, const struct policy *policy) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct kept *k = find(p, policy->meta.name);
    bool guarded = own_has_finalizer(&policy->meta, POLICY_FINALIZER);
    if (k && str_same(k->uid, policy->meta.uid) && k->generation == policy->meta.generation &&
        k->ends == (policy->meta.deleted != 0)) {
        k->seen = true;
        if (guarded && !k->guarded && k->pub.keeper)
            log_info(p->opts.log, "policy %s: is in force", k->name);
        k->guarded = guarded;
        return;
    }
    k = add(p, policy->meta.name);
    k->uid = xstrdup(strna(policy->meta.uid));
    k->generation = policy->meta.generation;
    k->ends = policy->meta.deleted;
    k->guarded = guarded;
    if (policy->unread)
        err_set(&err, EINVAL, "%s", policy->unread);
    if (policy->unread || policy_rules_read(policy, p->opts.cluster->pool, &k->pub.rules, &err)) {
        if (k->ends) { /* nobody mends it any more, and its slots are to be given back */
            keep_orphan(p, k);
            return;
        }
        k->unusable = (struct policy *)object_copy(&kind_policy, (const struct object *)policy);
        k->problem = xstrdup(err_msg(&err));
        k->pub.problem = k->problem;
        log_warn(p->opts.log, "policy %s cannot be used: %s", k->name, k->problem);
        return;
    }
    log_info(p->opts.log, "policy %s: %s", k->name,
             k->ends   ? "is being deleted"
             : guarded ? "is in force"
                       : "is read, and in force when its finalizer is written");
    keep(p, k);
}

/* Without an object: the built-in one, or what is left of one that is gone. */
static void add_plain(struct policies *p, const char *name, bool orphan) {
    struct kept *k = find(p, name);
    if (k && !k->uid && k->orphan == orphan) {
        k->seen = true;
        return;
    }
    k = add(p, name);
    if (orphan)
        keep_orphan(p, k);
    else
        keep_plain(p, k);
}

static bool is_empty(const struct config_map *map) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct slots s;
    const char *text = map_get(map->data, SLOTS_KEY);
    if (slots_parse(view_of(strna(text)), &arena, &s, &err))
        return false;
    bool empty = !s.list.len && !s.waiting.len;
    slots_done(&s);
    return empty;
}

static void look_at_orphans(struct policies *p) {
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(p->opts.maps, &n);
    for (size_t i = 0; i < n; i++) {
        const struct config_map *map = (const struct config_map *)all[i];
        const char *name = keeper_policy_of(map);
        const struct kept *k = find(p, name);
        if (!stop_is(map) && (!k || !k->seen) && !is_empty(map))
            add_plain(p, name, true);
    }
}

static int by_name(const void *a, const void *b) {
    const struct kept *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

void policies_look(struct policies *p) {
    size_t n;
    /* In the order of their names: the same cluster gives the same course of things. */
    _cleanup_free_ const struct object **all = store_sorted(p->opts.policies, &n);
    for (size_t i = 0; i < p->list.len; i++)
        p->list.p[i]->seen = false;
    for (size_t i = 0; i < n; i++)
        look_at(p, (const struct policy *)all[i]);
    if (!store_len(p->opts.policies))
        add_plain(p, "default", false);
    look_at_orphans(p);
    for (size_t i = p->list.len; i-- > 0;)
        if (!p->list.p[i]->seen)
            remove_at(p, i);
    if (p->list.len)
        qsort(p->list.p, p->list.len, sizeof *p->list.p, by_name);
}

size_t policies_len(const struct policies *p) {
    return p->list.len;
}

const struct policy_kept *policies_at(const struct policies *p, size_t i) {
    return &p->list.p[i]->pub;
}

/* Which nodes one has that could not be read, or whose selector makes no sense, nobody knows: any.
 */
static bool may_have(const struct policy *unusable, const struct node *node) {
    return unusable->unread || !unusable->selector || selector_check(unusable->selector, NULL) ||
           selector_match(unusable->selector, node->meta.labels);
}

const struct policy_kept *policies_unusable(const struct policies *p, const struct node *node) {
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->unusable && may_have(p->list.p[i]->unusable, node))
            return &p->list.p[i]->pub;
    return NULL;
}

size_t policies_find(const struct policies *p, const struct node *node,
                     const struct policy_kept **out) {
    size_t n = 0;
    *out = NULL;
    if (policies_unusable(p, node))
        return 0;
    for (size_t i = 0; i < p->list.len; i++) {
        const struct kept *k = p->list.p[i];
        if (k->orphan || !k->pub.rules || !policy_has_node(k->pub.rules, node))
            continue;
        if (!n++)
            *out = &k->pub;
    }
    return n;
}

/* The first of the others that has it. */
static const struct policy_kept *also_of(const struct policies *p, const struct policy_kept *one,
                                         const struct node *node) {
    for (size_t i = 0; i < p->list.len; i++) {
        const struct kept *k = p->list.p[i];
        if (&k->pub != one && !k->orphan && k->pub.rules && policy_has_node(k->pub.rules, node))
            return &k->pub;
    }
    return NULL;
}

char *policies_shared(const struct policies *p, const struct policy_kept *one) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct policy_kept *first = NULL;
    size_t n = 0, all = 0;
    if (p->list.len < 2 || !one->rules)
        return NULL;
    _cleanup_free_ const struct object **nodes = store_sorted(p->opts.cluster->nodes, &all);
    for (size_t i = 0; i < all; i++) {
        const struct node *node = (const struct node *)nodes[i];
        const struct policy_kept *other =
            policy_has_node(one->rules, node) ? also_of(p, one, node) : NULL;
        if (!other)
            continue;
        first = first ? first : other;
        if (n++ < NAMES)
            str_addf(&text, "%s%s", n > 1 ? ", " : "", node->meta.name);
    }
    if (!n)
        return NULL;
    if (n > NAMES)
        str_addf(&text, " and %zu more", n - NAMES);
    return xasprintf("policy %s has nodes of it, too, and nobody decides for them: %s", first->name,
                     str_get(&text));
}

static const struct slot *slot_of(const struct kept *k, const char *node) {
    const struct slots *s = k->pub.keeper ? keeper_slots(k->pub.keeper) : NULL;
    return s ? slots_holder(s, node) : NULL;
}

const struct slot *policies_slot(const struct policies *p, const char *node) {
    const struct slot *found = NULL;
    for (size_t i = 0; i < p->list.len && !found; i++)
        found = slot_of(p->list.p[i], node);
    return found;
}

const struct policy_kept *policies_holding(const struct policies *p, const char *node) {
    for (size_t i = 0; i < p->list.len; i++)
        if (slot_of(p->list.p[i], node))
            return &p->list.p[i]->pub;
    return NULL;
}

const struct policy_kept *policies_asked(const struct policies *p, const char *name) {
    const struct node *node = cluster_node(p->opts.cluster, name);
    const struct policy_kept *found = policies_holding(p, name);
    if (found)
        return found;
    return node && policies_find(p, node, &found) == 1 ? found : NULL;
}

bool policies_slots_known(const struct policies *p) {
    for (size_t i = 0; i < p->list.len; i++) {
        const struct keeper *k = p->list.p[i]->pub.keeper;
        if (k && !keeper_slots(k) && !keeper_trouble(k))
            return false;
    }
    return true;
}

bool policies_slots_sure(const struct policies *p) {
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->pub.keeper && !keeper_slots(p->list.p[i]->pub.keeper))
            return false;
    return true;
}

/* Whoever leads writes it: only there it is known what is in the way. */
static const char *unguarded(const struct kept *k) {
    if (k->guarded)
        return NULL;
    return k->unguards ? k->unguards
                       : "the policy has no finalizer yet, and could vanish: if that lasts, the "
                         "log of the controller that leads says why";
}

const char *policies_unguarded(const struct policies *p, const struct keeper *k) {
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->pub.keeper == k)
            return unguarded(p->list.p[i]);
    return NULL;
}

void policies_finalizer_refused(struct policies *p, const char *name, const char *why) {
    struct kept *k = find(p, name);
    if (!k)
        return;
    free(k->unguards);
    k->unguards = why ? xasprintf("the policy has no finalizer, and could vanish: the finalizer "
                                  "cannot be written: %s",
                                  why)
                      : NULL;
}

const char *policies_idle(const struct policies *p, const struct policy_kept *one) {
    if (!one->keeper)
        return one->problem;
    const char *trouble = keeper_trouble(one->keeper);
    return trouble ? trouble : policies_unguarded(p, one->keeper);
}

/* The first one that can be used: of a node that is not there, or that has not exactly one policy,
 * somebody has to say so. */
static const struct policy_kept *spokesman(const struct policies *p) {
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->pub.keeper)
            return &p->list.p[i]->pub;
    return NULL;
}

bool policies_owns(const struct policies *p, const struct keeper *k, const struct maintenance *m) {
    bool known = true; /* of all, that they have no slot for it */
    for (size_t i = 0; i < p->list.len; i++) {
        const struct keeper *one = p->list.p[i]->pub.keeper;
        if (one && keeper_holds_for(one, m))
            return one == k;
        known &= !one || keeper_slots(one);
    }
    const struct node *node = cluster_node(p->opts.cluster, m->node);
    const struct policy_kept *owner = NULL;
    if (node && policies_find(p, node, &owner) == 1)
        return owner->keeper == k;
    owner = spokesman(p);
    return owner && owner->keeper == k && known;
}

const char *policies_unclear(const struct policies *p, const struct maintenance *m) {
    const struct node *node = cluster_node(p->opts.cluster, m->node);
    const struct policy_kept *owner = NULL;
    if (!node)
        return NULL; /* another matter */
    /* Their kind may have come to the server after that of Maintenances. */
    if (!store_synced(p->opts.policies))
        return "the Policies have not been read yet";
    size_t n = policies_find(p, node, &owner);
    if (policies_unusable(p, node))
        return "a policy that cannot be used has its node, or may have it";
    if (n != 1)
        return n ? "more than one policy has its node" : "no policy has its node";
    const struct kept *own = m->policy ? find(p, m->policy) : NULL;
    if (m->policy && (!own || own->orphan))
        return "there is no such Policy as its spec.policy names";
    return !m->policy || streq(m->policy, owner->name) ? NULL
                                                       : "another policy than its own has its node";
}

char *policies_refusal(const struct policy_kept *one) {
    const char *why = one->keeper ? keeper_refused(one->keeper) : NULL,
               *trouble = one->keeper ? keeper_trouble(one->keeper) : NULL;
    if (!why && !trouble)
        return NULL;
    return xasprintf("nobody gets a slot of policy %s: %s%s", one->name,
                     why ? "" : "its record cannot be read: ", why ? why : trouble);
}

char *policies_refused(const struct policies *p) {
    _cleanup_free_ char *first = NULL;
    for (size_t i = 0; i < p->list.len; i++) {
        const struct policy_kept *one = &p->list.p[i]->pub;
        _cleanup_free_ char *refusal = policies_refusal(one);
        if (one->keeper && !refusal)
            return NULL;
        if (!first)
            first = TAKE_PTR(refusal);
    }
    return TAKE_PTR(first);
}

void policies_say(struct policies *p) {
    for (size_t i = 0; i < p->list.len; i++) {
        struct kept *k = p->list.p[i];
        const char *trouble = k->pub.keeper ? keeper_trouble(k->pub.keeper) : NULL;
        if (str_same(trouble, k->trouble))
            continue;
        if (trouble)
            log_warn(p->opts.log,
                     "policy %s: its record of slots (ConfigMap " SLOTS_MAP "%s) cannot be read: "
                     "%s; nothing is done for its nodes until it can be",
                     k->name, k->name, trouble);
        else
            log_info(p->opts.log, "policy %s: its record of slots can be read again", k->name);
        str_replace(&k->trouble, trouble);
    }
}

bool policies_elsewhere(const struct policies *p, const struct keeper *k, keeper_out_fn *fn,
                        void *arg) {
    bool known = true;
    for (size_t i = 0; i < p->list.len; i++) {
        const struct keeper *one = p->list.p[i]->pub.keeper;
        if (one && one != k)
            known &= keeper_each_out(one, fn, arg);
    }
    return known;
}

void policies_lead(struct policies *p, int32_t fence) {
    p->leads = true;
    p->fence = fence;
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->pub.keeper)
            keeper_lead(p->list.p[i]->pub.keeper, fence);
}

void policies_follow(struct policies *p) {
    p->leads = false;
    for (size_t i = 0; i < p->list.len; i++) {
        mem_clear(&p->list.p[i]->unguards);
        if (p->list.p[i]->pub.keeper)
            keeper_follow(p->list.p[i]->pub.keeper);
    }
}
