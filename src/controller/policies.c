/* The policies of the cluster. */
#include "controller/policies.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct kept {
    struct policy_kept pub; /* first */
    char *name, *uid, *problem;
    int64_t generation;
    bool ends, orphan, seen;
};

struct policies {
    struct policies_opts opts;
    VEC(struct kept *) list; /* by name */
    bool leads;
    int32_t fence;
    uint64_t seeds;
};

struct policies *policies_new(const struct policies_opts *opts) {
    struct policies *p = xnew(struct policies);
    p->opts = *opts;
    return p;
}

static void kept_free(struct kept *k) {
    keeper_free(k->pub.keeper);
    policy_rules_free(k->pub.rules);
    free(k->name);
    free(k->uid);
    free(k->problem);
    free(k);
}

void policies_free(struct policies *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->list.len; i++)
        kept_free(p->list.p[i]);
    vec_done(&p->list);
    free(p);
}

static void keep(struct policies *p, struct kept *k) {
    const struct policy_rules *r = k->pub.rules;
    struct keeper_opts opts = p->opts.keeper;
    opts.policy = k->name;
    opts.nodes = r->selector;
    opts.max = r->ends ? (struct limit){0} : r->max;
    opts.max_zones = r->max_zones;
    opts.down_count = r->down_count;
    opts.seed_marks = r->fleetlock;
    policy_drain_opts(r, &opts.drain);
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
    kept_free(k);
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

static void look_at(struct policies *p, const struct policy *policy) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct kept *k = find(p, policy->meta.name);
    if (k && str_same(k->uid, policy->meta.uid) && k->generation == policy->meta.generation &&
        k->ends == (policy->meta.deleted != 0)) {
        k->seen = true;
        return;
    }
    k = add(p, policy->meta.name);
    k->uid = xstrdup(strna(policy->meta.uid));
    k->generation = policy->meta.generation;
    k->ends = policy->meta.deleted;
    if (policy_rules_read(policy, p->opts.cluster->pool, &k->pub.rules, &err)) {
        k->problem = xstrdup(err_msg(&err));
        k->pub.problem = k->problem;
        log_warn(p->opts.log, "policy %s cannot be used: %s", k->name, k->problem);
        return;
    }
    log_info(p->opts.log, "policy %s: %s", k->name, k->ends ? "is being deleted" : "is in force");
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
    k->orphan = orphan;
    k->pub.rules = policy_builtin();
    k->pub.rules->name = k->name;
    k->pub.rules->ends = orphan;
    if (orphan)
        log_info(p->opts.log, "policy %s is gone, and nodes hold slots of it: they are seen to",
                 name);
    keep(p, k);
}

static bool is_empty(const struct config_map *map) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct slots s;
    const char *text = map_get(map->data, SLOTS_KEY);
    if (slots_parse(view_of(strna(text)), &arena, &s, &err))
        return false;
    bool empty = !s.list.len;
    slots_done(&s);
    return empty;
}

static void look_at_orphans(struct policies *p) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(p->opts.maps, &i));) {
        const char *name = map_get(obj->meta.labels, SLOTS_LABEL);
        const struct kept *k = name ? find(p, name) : NULL;
        if (name && (!k || !k->seen) && !is_empty((const struct config_map *)obj))
            add_plain(p, name, true);
    }
}

static int by_name(const void *a, const void *b) {
    const struct kept *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

void policies_look(struct policies *p) {
    const struct object *obj;
    for (size_t i = 0; i < p->list.len; i++)
        p->list.p[i]->seen = false;
    for (uint32_t i = 0; (obj = store_next(p->opts.policies, &i));)
        look_at(p, (const struct policy *)obj);
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

size_t policies_find(const struct policies *p, const struct node *node,
                     const struct policy_kept **out) {
    size_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < p->list.len; i++) {
        const struct kept *k = p->list.p[i];
        if (k->orphan || !k->pub.rules || !policy_has_node(k->pub.rules, node))
            continue;
        if (!n++)
            *out = &k->pub;
    }
    return n;
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
    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.p[i]->pub.keeper)
            keeper_follow(p->list.p[i]->pub.keeper);
}
