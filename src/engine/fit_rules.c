/* Which pods meet which rules, and how many in each topology domain. See fit_internal.h for the
 * words. */
#include <assert.h>
#include <string.h>

#include "engine/fit_internal.h"
#include "model/selector.h"

enum { NAMED_MAX = 64 }; /* namespaces that a rule is kept with; one that names more is wide */

/* --- topology keys --- */

static uint32_t topo_hash(const void *entry) {
    return ((const struct fit_topo *)entry)->hash;
}

static bool topo_equal(const void *entry, const void *key) {
    return ((const struct fit_topo *)entry)->key == *(const char *const *)key;
}

/* All empty values are one. */
static const char *label_value(const struct fit_node *node, const char *key) {
    static const char empty[] = "";
    const char *value = map_get(node->meta.labels, strna(key));
    return value && !*value ? empty : value;
}

const char *fit_topo_value(const struct fit_topo *t, const struct fit_node *node) {
    return t->slot < FIT_TOPO_SLOTS ? node->values[t->slot] : label_value(node, t->key);
}

void fit_topo_fill(const struct fit *f, struct fit_node *node) {
    for (size_t i = 0; i < FIT_TOPO_SLOTS; i++)
        node->values[i] = f->slots[i] ? label_value(node, f->slots[i]->key) : NULL;
}

struct fit_topo *fit_topo_get(struct fit *f, const char *key) {
    uint32_t hash = hash_bytes(&key, sizeof key);
    struct fit_topo *t = htab_find(&f->topos, hash, &key);
    if (!t) {
        t = xnew(struct fit_topo);
        t->key = pool_ref(key);
        t->hash = hash;
        while (t->slot < FIT_TOPO_SLOTS && f->slots[t->slot])
            t->slot++;
        if (t->slot < FIT_TOPO_SLOTS) {
            f->slots[t->slot] = t;
            for (size_t i = 0; i < f->nodes.len; i++)
                f->nodes.p[i]->values[t->slot] = label_value(f->nodes.p[i], key);
        }
        htab_insert(&f->topos, t);
    }
    t->refs++;
    return t;
}

void fit_topo_put(struct fit *f, struct fit_topo *t) {
    if (--t->refs)
        return;
    if (t->slot < FIT_TOPO_SLOTS)
        f->slots[t->slot] = NULL;
    htab_remove(&f->topos, t->hash, &t->key);
    pool_unref(f->pool, t->key);
    free(t);
}

/* --- what a rule says --- */

static size_t term_count(const struct fit_rule_key *k) {
    if (k->role == FIT_ROLE_SPREAD || k->role == FIT_ROLE_OWNER)
        return 0;
    return k->role == FIT_ROLE_ALL ? list_len((const struct pod_term *)k->subject) : 1;
}

static const struct pod_term *term_at(const struct fit_rule_key *k, size_t i) {
    if (k->role == FIT_ROLE_PREFER || k->role == FIT_ROLE_AVOID)
        return &((const struct weighted_pod_term *)k->subject)[k->index].term;
    return &((const struct pod_term *)k->subject)[k->index + i];
}

static const struct spread *spread_of(const struct fit_rule_key *k) {
    return &((const struct spread *)k->subject)[k->index];
}

/* The API server writes matchLabelKeys and mismatchLabelKeys into the selector of a new pod; in
 * what is only a template they are still to be read. */
static bool merged(const struct label_selector *sel, const char *key, const char *op) {
    for (size_t i = 0; sel && i < list_len(sel->exprs); i++)
        if (str_same(sel->exprs[i].key, key) && str_same(sel->exprs[i].op, op))
            return true;
    return false;
}

static bool all_merged(const struct label_selector *sel, const char *const *keys, const char *op) {
    for (size_t i = 0; i < list_len(keys); i++)
        if (!merged(sel, keys[i], op))
            return false;
    return true;
}

/* A key that the pod itself has no label for says nothing. */
static bool keys_hold(const struct label_selector *sel, const char *const *keys, const char *op,
                      const struct pair *own, const struct pair *labels) {
    bool in = streq(op, "In");
    for (size_t i = 0; i < list_len(keys); i++) {
        const char *mine = map_get(own, strna(keys[i])), *theirs;
        if (!mine || merged(sel, keys[i], op))
            continue;
        theirs = map_get(labels, strna(keys[i]));
        if ((theirs && streq(mine, theirs)) != in)
            return false;
    }
    return true;
}

static bool keys_say_something(const char *const *keys, const struct pair *own) {
    for (size_t i = 0; i < list_len(keys); i++)
        if (map_has(own, strna(keys[i])))
            return true;
    return false;
}

static bool term_selects(const struct pod_term *t, const struct pair *own,
                         const struct pair *labels) {
    return selector_match(t->selector, labels) &&
           keys_hold(t->selector, t->match_keys, "In", own, labels) &&
           keys_hold(t->selector, t->mismatch_keys, "NotIn", own, labels);
}

static bool term_names(const struct pod_term *t, const char *own_ns, const char *ns) {
    if (!t->namespaces && !t->ns_selector)
        return own_ns == ns;
    for (size_t i = 0; i < list_len(t->namespaces); i++)
        if (t->namespaces[i] == ns)
            return true;
    return false;
}

/* Whether a term that other pods hold is about a new pod of this namespace. */
static bool term_looks_back(const struct pod_term *t, const char *own_ns,
                            const struct fit_space *space) {
    return term_names(t, own_ns, space->name) || selector_match(t->ns_selector, space->labels);
}

/* Whose pods the term of a new pod is about: the namespaces that its selector finds are listed once
 * and added to those that it names. In v1.36 the selector itself is then not put away, but asked
 * again without labels; one of NotIn or DoesNotExist alone therefore holds for every namespace. */
static bool term_looks_at(const struct pod_term *t, const char *own_ns,
                          const struct fit_space *space) {
    return term_looks_back(t, own_ns, space) || selector_match(t->ns_selector, NULL);
}

/* Selects everybody, and for that reason counts nobody. */
static bool spread_is_empty(const struct fit_rule_key *k) {
    const struct spread *s = spread_of(k);
    return s->selector && !list_len(s->selector->labels) && !list_len(s->selector->exprs) &&
           !keys_say_something(s->match_keys, k->labels);
}

static bool spread_selects(const struct fit_rule_key *k, const struct pair *labels) {
    const struct spread *s = spread_of(k);
    return selector_match(s->selector, labels) &&
           keys_hold(s->selector, s->match_keys, "In", k->labels, labels);
}

static void rule_meets(const struct fit_rule *r, const struct fit_group *g, bool *forward,
                       bool *reverse) {
    const struct fit_rule_key *k = &r->key;
    *forward = *reverse = false;
    if (k->role == FIT_ROLE_OWNER) {
        *forward = g->owner == k->subject;
        return;
    }
    if (k->role == FIT_ROLE_SPREAD) {
        *forward = !spread_is_empty(k) && spread_selects(k, g->labels);
        return;
    }
    bool all = true, back = k->role != FIT_ROLE_ALL;
    for (size_t i = 0; (all || back) && i < term_count(k); i++) {
        const struct pod_term *t = term_at(k, i);
        bool selects = term_selects(t, k->labels, g->labels);
        all = all && selects && term_looks_at(t, k->ns, g->space);
        back = back && selects && term_looks_back(t, k->ns, g->space);
    }
    *forward = all;
    *reverse = back;
}

bool fit_rule_self(const struct fit_rule *r, const struct fit_group *own) {
    bool forward, reverse;
    if (r->key.role == FIT_ROLE_SPREAD)
        return spread_selects(&r->key, own->labels);
    rule_meets(r, own, &forward, &reverse);
    return forward;
}

/* --- links between rules and groups --- */

static void link_make(struct fit_rule *r, struct fit_group *g) {
    bool forward, reverse;
    rule_meets(r, g, &forward, &reverse);
    if (!forward && !reverse)
        return;
    *vec_push(&g->links) = (struct fit_link){r, (uint32_t)r->members.len, forward, reverse};
    *vec_push(&r->members) = (struct fit_member){g, (uint32_t)g->links.len - 1};
}

static void link_drop(struct fit_group *g, uint32_t at) {
    struct fit_rule *r = g->links.p[at].rule;
    uint32_t member = g->links.p[at].at;
    fit_vec_drop(&r->members, member);
    if (member < r->members.len) {
        struct fit_member *moved = &r->members.p[member];
        moved->group->links.p[moved->at].at = member;
    }
    fit_vec_drop(&g->links, at);
    if (at < g->links.len)
        g->links.p[at].rule->members.p[g->links.p[at].at].at = at;
}

/* --- namespaces --- */

static uint32_t space_hash(const void *entry) {
    return ((const struct fit_space *)entry)->hash;
}

static bool space_equal(const void *entry, const void *key) {
    return str_same(((const struct fit_space *)entry)->name, key);
}

struct fit_space *fit_space_get(struct fit *f, const char *name) {
    uint32_t hash = fit_hash_name(f, NULL, name);
    struct fit_space *s = htab_find(&f->spaces, hash, strna(name));
    if (s)
        return s;
    s = xnew(struct fit_space);
    s->name = pool_str(f->pool, strna(name), strlen(strna(name)));
    s->hash = hash;
    htab_insert(&f->spaces, s);
    return s;
}

void fit_space_put(struct fit *f, struct fit_space *s) {
    if (s->known || s->groups.len || s->rules.len)
        return;
    htab_remove(&f->spaces, s->hash, strna(s->name));
    pool_unref(f->pool, s->labels);
    pool_unref(f->pool, s->name);
    vec_done(&s->groups);
    vec_done(&s->rules);
    free(s);
}

static void group_count(struct fit_group *g, int sign) {
    for (size_t i = 0; i < g->pods.len; i++)
        if (g->pods.p[i]->at->known)
            fit_rules_count(g->pods.p[i], sign);
}

void fit_space_set(struct fit *f, struct fit_space *s, bool known, const struct pair *labels) {
    if (s->known == known && s->labels == labels)
        return;
    for (size_t i = 0; i < s->groups.len; i++) {
        struct fit_group *g = s->groups.p[i];
        group_count(g, -1);
        for (uint32_t k = (uint32_t)g->links.len; k-- > 0;)
            if (g->links.p[k].rule->wide)
                link_drop(g, k);
    }
    pool_ref(labels);
    pool_unref(f->pool, s->labels);
    s->labels = labels;
    s->known = known;
    for (size_t i = 0; i < s->groups.len; i++) {
        for (size_t k = 0; k < f->wide.len; k++)
            link_make(f->wide.p[k], s->groups.p[i]);
        group_count(s->groups.p[i], 1);
    }
}

/* --- groups --- */

struct group_key {
    const char *ns;
    const struct pair *labels;
    const char *owner;
};

static uint32_t group_hash(const void *entry) {
    return ((const struct fit_group *)entry)->hash;
}

static bool group_equal(const void *entry, const void *key_) {
    const struct fit_group *g = entry;
    const struct group_key *key = key_;
    return g->labels == key->labels && g->owner == key->owner && g->space->name == key->ns;
}

struct fit_group *fit_group_get(struct fit *f, const char *ns, const struct pair *labels,
                                const char *owner) {
    struct group_key key = {ns, labels, owner};
    uint32_t hash = hash_bytes(&key, sizeof key);
    struct fit_group *g = htab_find(&f->groups, hash, &key);
    if (!g) {
        g = xnew(struct fit_group);
        g->space = fit_space_get(f, ns);
        g->labels = pool_ref(labels);
        g->owner = pool_ref(owner);
        g->hash = hash;
        g->space_at = (uint32_t)g->space->groups.len;
        *vec_push(&g->space->groups) = g;
        htab_insert(&f->groups, g);
        for (size_t i = 0; i < g->space->rules.len; i++)
            link_make(g->space->rules.p[i], g);
        for (size_t i = 0; i < f->wide.len; i++)
            link_make(f->wide.p[i], g);
    }
    g->refs++;
    return g;
}

void fit_group_put(struct fit *f, struct fit_group *g) {
    struct fit_space *space = g->space;
    struct group_key key = {space->name, g->labels, g->owner};
    if (--g->refs)
        return;
    assert(!g->pods.len);
    while (g->links.len)
        link_drop(g, (uint32_t)g->links.len - 1);
    htab_remove(&f->groups, g->hash, &key);
    fit_vec_drop(&space->groups, g->space_at);
    if (g->space_at < space->groups.len)
        space->groups.p[g->space_at]->space_at = g->space_at;
    fit_space_put(f, space);
    pool_unref(f->pool, g->labels);
    pool_unref(f->pool, g->owner);
    vec_done(&g->pods);
    vec_done(&g->links);
    free(g);
}

/* --- rules --- */

static uint32_t rule_hash(const void *entry) {
    return ((const struct fit_rule *)entry)->hash;
}

static bool rule_equal(const void *entry, const void *key) {
    return !memcmp(&((const struct fit_rule *)entry)->key, key, sizeof(struct fit_rule_key));
}

void fit_rules_init(struct fit *f) {
    static const struct htab_ops topo_ops = {topo_hash, topo_equal};
    static const struct htab_ops space_ops = {space_hash, space_equal};
    static const struct htab_ops group_ops = {group_hash, group_equal};
    static const struct htab_ops rule_ops = {rule_hash, rule_equal};
    htab_init(&f->topos, &topo_ops);
    htab_init(&f->spaces, &space_ops);
    htab_init(&f->groups, &group_ops);
    htab_init(&f->rules, &rule_ops);
}

/* Rules that say the same are one; namespace and labels of the pod are a part of what is said only
 * where they matter. */
static struct fit_rule_key rule_key(enum fit_role role, const void *subject, size_t index,
                                    const struct fit_group *own) {
    struct fit_rule_key k = {.subject = subject, .index = (uint32_t)index, .role = role};
    bool ns = role == FIT_ROLE_SPREAD || role == FIT_ROLE_OWNER, labels = false;
    for (size_t i = 0; i < term_count(&k); i++) {
        const struct pod_term *t = term_at(&k, i);
        ns = ns || (!t->namespaces && !t->ns_selector);
        labels = labels || !all_merged(t->selector, t->match_keys, "In") ||
                 !all_merged(t->selector, t->mismatch_keys, "NotIn");
    }
    if (role == FIT_ROLE_SPREAD)
        labels = !all_merged(spread_of(&k)->selector, spread_of(&k)->match_keys, "In");
    k.ns = ns ? own->space->name : NULL;
    k.labels = labels ? own->labels : NULL;
    return k;
}

/* Where the first term looks is where groups that meet all terms can be. */
static void rule_register(struct fit *f, struct fit_rule *r) {
    const struct pod_term *t = term_count(&r->key) ? term_at(&r->key, 0) : NULL;
    r->wide = t && (t->ns_selector || list_len(t->namespaces) > NAMED_MAX);
    if (r->wide) {
        struct fit_group *g;
        *vec_push(&f->wide) = r;
        for (uint32_t i = 0; (g = htab_next(&f->groups, &i));)
            link_make(r, g);
        return;
    }
    size_t n = t && t->namespaces ? list_len(t->namespaces) : 1;
    for (size_t i = 0; i < n; i++) {
        struct fit_space *s = fit_space_get(f, t && t->namespaces ? t->namespaces[i] : r->key.ns);
        if (s->rules.len && s->rules.p[s->rules.len - 1] == r)
            continue; /* named twice */
        *vec_push(&s->rules) = r;
        for (size_t k = 0; k < s->groups.len; k++)
            link_make(r, s->groups.p[k]);
    }
}

static void forget_rule(struct fit_rule **list, size_t *len, const struct fit_rule *r) {
    for (size_t i = 0; i < *len; i++) {
        if (list[i] == r) {
            list[i] = list[--*len];
            return;
        }
    }
}

static void rule_unregister(struct fit *f, struct fit_rule *r) {
    const struct pod_term *t = term_count(&r->key) ? term_at(&r->key, 0) : NULL;
    while (r->members.len) {
        struct fit_member *last = &r->members.p[r->members.len - 1];
        link_drop(last->group, last->at);
    }
    if (r->wide) {
        forget_rule(f->wide.p, &f->wide.len, r);
        return;
    }
    size_t n = t && t->namespaces ? list_len(t->namespaces) : 1;
    for (size_t i = 0; i < n; i++) {
        struct fit_space *s = fit_space_get(f, t && t->namespaces ? t->namespaces[i] : r->key.ns);
        forget_rule(s->rules.p, &s->rules.len, r);
        fit_space_put(f, s);
    }
}

static int32_t rule_weight(const struct fit_rule_key *k) {
    if (k->role != FIT_ROLE_PREFER && k->role != FIT_ROLE_AVOID)
        return 1; /* hardPodAffinityWeight */
    return ((const struct weighted_pod_term *)k->subject)[k->index].weight;
}

struct fit_rule *fit_rule_get(struct fit *f, enum fit_role role, const void *subject, size_t index,
                              const struct fit_group *own) {
    struct fit_rule_key key = rule_key(role, subject, index, own);
    uint32_t hash = hash_bytes(&key, sizeof key);
    struct fit_rule *r = htab_find(&f->rules, hash, &key);
    if (!r) {
        size_t terms = term_count(&key);
        r = xnew(struct fit_rule);
        r->key = key;
        pool_ref(key.subject);
        pool_ref(key.ns);
        pool_ref(key.labels);
        r->hash = hash;
        r->weight = rule_weight(&key);
        r->n_tallies = terms ? (uint32_t)terms : 1;
        r->tallies = xcalloc(r->n_tallies, sizeof *r->tallies);
        for (size_t i = 0; i < terms; i++)
            r->tallies[i].topo = fit_topo_get(f, term_at(&key, i)->topology_key);
        htab_insert(&f->rules, r);
        rule_register(f, r);
    }
    r->refs++;
    return r;
}

void fit_rule_put(struct fit *f, struct fit_rule *r) {
    if (--r->refs)
        return;
    rule_unregister(f, r);
    htab_remove(&f->rules, r->hash, &r->key);
    for (uint32_t i = 0; i < r->n_tallies; i++) {
        if (r->tallies[i].topo)
            fit_topo_put(f, r->tallies[i].topo);
        fit_counts_done(&r->tallies[i].matched);
    }
    fit_counts_done(&r->held);
    free(r->tallies);
    pool_unref(f->pool, r->key.subject);
    pool_unref(f->pool, r->key.ns);
    pool_unref(f->pool, r->key.labels);
    vec_done(&r->members);
    free(r);
}

/* --- counting --- */

static void rule_add(struct fit_rule *r, const struct fit_pod *p, int sign) {
    /* Spreading looks at what will be there: not at pods on their way out. */
    if (p->leaving && (r->key.role == FIT_ROLE_SPREAD || r->key.role == FIT_ROLE_OWNER))
        return;
    for (uint32_t i = 0; i < r->n_tallies; i++) {
        struct fit_tally *t = &r->tallies[i];
        const void *where = t->topo ? (const void *)fit_topo_value(t->topo, p->at) : p->at;
        if (where)
            fit_counts_add(&t->matched, where, sign);
    }
}

void fit_rule_count(struct fit_rule *r) {
    if (r->counting)
        return;
    r->counting = true;
    for (size_t i = 0; i < r->members.len; i++) {
        const struct fit_group *g = r->members.p[i].group;
        if (!g->links.p[r->members.p[i].at].forward)
            continue;
        for (size_t k = 0; k < g->pods.len; k++)
            if (g->pods.p[k]->at->known)
                rule_add(r, g->pods.p[k], 1);
    }
}

void fit_rules_count(struct fit_pod *p, int sign) {
    const struct fit_group *g = p->cohort->group;
    for (size_t i = 0; i < g->links.len; i++)
        if (g->links.p[i].forward && g->links.p[i].rule->counting)
            rule_add(g->links.p[i].rule, p, sign);
    for (size_t i = 0; i < p->cohort->held.len; i++) {
        struct fit_rule *r = p->cohort->held.p[i];
        const char *where = fit_topo_value(r->tallies[0].topo, p->at);
        if (where)
            fit_counts_add(&r->held, where, sign);
    }
}
