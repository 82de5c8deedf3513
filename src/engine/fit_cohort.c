/* What pods have in common: shapes and cohorts, made once and shared. */
#include <assert.h>
#include <string.h>

#include "engine/fit_internal.h"

enum { IDLE_SPARE = 64 }; /* cohorts without pods that are not worth a look */

/* --- shapes --- */

const struct pod_spec *fit_spec(const struct pod_spec *spec) {
    static const struct pod_spec empty = {.grace = ABSENT64, .priority = ABSENT32};
    return spec ? spec : &empty;
}

static uint32_t shape_hash(const void *entry) {
    return ((const struct fit_shape *)entry)->hash;
}

static bool shape_equal(const void *entry, const void *key) {
    return ((const struct fit_shape *)entry)->spec == *(const struct pod_spec *const *)key;
}

static const struct htab_ops shape_ops = {shape_hash, shape_equal};

static struct fit_shape *shape_get(struct fit *f, const struct pod_spec *spec) {
    uint32_t hash = hash_bytes(&spec, sizeof spec);
    struct fit_shape *s = htab_find(&f->shapes, hash, &spec);
    if (!s) {
        s = xnew(struct fit_shape);
        s->spec = pool_ref(spec);
        s->hash = hash;
        spec = fit_spec(spec);
        fit_load_of(spec, NULL, &s->load);
        fit_shape_scores(s);
        fit_ports_of(spec, &s->ports);
        s->priority = spec->priority == ABSENT32 ? 0 : spec->priority;
        for (size_t i = 0; i < list_len(spec->volumes); i++)
            s->claims |= spec->volumes[i].claim || spec->volumes[i].ephemeral;
        htab_insert(&f->shapes, s);
    }
    s->refs++;
    return s;
}

static void shape_put(struct fit *f, struct fit_shape *s) {
    if (--s->refs)
        return;
    htab_remove(&f->shapes, s->hash, &s->spec);
    pool_unref(f->pool, s->spec);
    fit_load_done(&s->load);
    vec_done(&s->ports);
    free(s);
}

/* --- cohorts --- */

struct key {
    const char *ns;
    const struct pair *labels;
    const char *owner;
    const struct pod_spec *spec;
    uint64_t hash; /* of the others: most that are met on the way need no further look */
};

static uint32_t cohort_hash(const void *entry) {
    return ((const struct fit_cohort *)entry)->hash;
}

static bool cohort_equal(const void *entry, const void *key_) {
    const struct fit_cohort *c = entry;
    const struct key *key = key_;
    return c->hash == key->hash && c->shape->spec == key->spec && c->group->labels == key->labels &&
           c->group->owner == key->owner && c->group->space->name == key->ns;
}

static const struct htab_ops cohort_ops = {cohort_hash, cohort_equal};

void fit_cohorts_init(struct fit *f) {
    htab_init(&f->shapes, &shape_ops);
    htab_init(&f->cohorts, &cohort_ops);
}

/* The controllers whose pods are spread by default. The real scheduler takes the selector of the
 * controller and of the services in front of it; the pods that these select are, but for strays,
 * the pods of the same controller. */
static const char *spread_owner(const struct pod *pod) {
    static const struct {
        const char *kind, *version;
    } rows[] = {
        {"ReplicaSet", "apps/v1"},
        {"StatefulSet", "apps/v1"},
        {"ReplicationController", "v1"},
    };
    const struct owner *owner = meta_controller(&pod->meta);
    for (size_t i = 0; owner && i < ARRAY_LEN(rows); i++)
        if (str_same(owner->kind, rows[i].kind) && str_same(owner->api_version, rows[i].version))
            return owner->uid;
    return NULL;
}

static void hold(struct fit *f, struct fit_cohort *c, enum fit_role role, const void *list,
                 size_t n) {
    for (size_t i = 0; i < MIN_OF(n, (size_t)FIT_LIST_MAX); i++)
        *vec_push(&c->held) = fit_rule_get(f, role, list, i, c->group);
}

static void hold_terms(struct fit *f, struct fit_cohort *c) {
    const struct affinity *a = fit_spec(c->shape->spec)->affinity;
    const struct pod_affinity *with = a ? a->pod : NULL, *without = a ? a->anti : NULL;
    if (with) {
        hold(f, c, FIT_ROLE_AFFINITY, with->required, list_len(with->required));
        hold(f, c, FIT_ROLE_PREFER, with->preferred, list_len(with->preferred));
    }
    if (without) {
        hold(f, c, FIT_ROLE_ANTI, without->required, list_len(without->required));
        hold(f, c, FIT_ROLE_AVOID, without->preferred, list_len(without->preferred));
    }
}

static void constraints_done(struct fit *f, fit_constraints *list) {
    for (size_t i = 0; i < list->len; i++) {
        fit_rule_put(f, list->p[i].rule);
        fit_topo_put(f, list->p[i].topo);
    }
    vec_done(list);
}

void fit_cohort_free(struct fit *f, struct fit_cohort *c) {
    struct key key = {c->group->space->name, c->group->labels, c->group->owner, c->shape->spec,
                      c->hash};
    assert(!c->pods);
    if (f->ask.cohort == c)
        f->ask.cohort = NULL;
    htab_remove(&f->cohorts, c->hash, &key);
    f->idle--;
    for (size_t i = 0; i < c->held.len; i++)
        fit_rule_put(f, c->held.p[i]);
    vec_done(&c->held);
    if (c->all)
        fit_rule_put(f, c->all);
    constraints_done(f, &c->hard);
    constraints_done(f, &c->soft);
    fit_group_put(f, c->group);
    shape_put(f, c->shape);
    free(c);
}

/* Specs and labels come and go; what no pod has any more must not pile up. */
static void sweep(struct fit *f) {
    if (f->idle <= f->cohorts.len / 2 + IDLE_SPARE)
        return;
    _cleanup_free_ void **list = fit_entries(&f->cohorts);
    for (size_t i = 0; list[i]; i++)
        if (!((struct fit_cohort *)list[i])->pods)
            fit_cohort_free(f, list[i]);
}

struct fit_cohort *fit_cohort_get(struct fit *f, const struct pod *pod) {
    struct key key = {pod->meta.ns, pod->meta.labels, spread_owner(pod), pod->spec, 0};
    key.hash = hash_bytes(&key, offsetof(struct key, hash));
    if (f->ask.cohort && cohort_equal(f->ask.cohort, &key)) /* it was just asked about */
        return f->ask.cohort;
    struct fit_cohort *c = htab_find(&f->cohorts, (uint32_t)key.hash, &key);
    if (c)
        return c;
    sweep(f);
    c = xnew(struct fit_cohort);
    c->hash = (uint32_t)key.hash;
    c->shape = shape_get(f, key.spec);
    c->group = fit_group_get(f, key.ns, key.labels, key.owner);
    hold_terms(f, c);
    htab_insert(&f->cohorts, c);
    f->idle++;
    return c;
}

/* --- what questions need --- */

static void add_constraint(struct fit *f, struct fit_cohort *c, size_t i) {
    const struct spread *list = fit_spec(c->shape->spec)->spread, *s = &list[i];
    bool hard = str_same(s->when, "DoNotSchedule");
    if (!hard && !str_same(s->when, "ScheduleAnyway"))
        return;
    struct fit_rule *rule = fit_rule_get(f, FIT_ROLE_SPREAD, list, i, c->group);
    *vec_push(hard ? &c->hard : &c->soft) = (struct fit_constraint){
        .topo = fit_topo_get(f, s->topology_key),
        .rule = rule,
        .max_skew = s->max_skew,
        .min_domains = s->min_domains == ABSENT32 ? 1 : s->min_domains,
        .by_affinity = !s->affinity_policy || streq(s->affinity_policy, "Honor"),
        .by_taints = str_same(s->taints_policy, "Honor"),
        .self = fit_rule_self(rule, c->group),
    };
    fit_rule_count(rule);
}

/* systemDefaultConstraints of the real scheduler. */
static void add_default_constraints(struct fit *f, struct fit_cohort *c) {
    const struct {
        const char *key;
        int32_t max_skew;
    } rows[] = {{f->hostname, 3}, {f->zone, 5}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fit_rule *rule = fit_rule_get(f, FIT_ROLE_OWNER, c->group->owner, 0, c->group);
        *vec_push(&c->soft) = (struct fit_constraint){
            .topo = fit_topo_get(f, rows[i].key),
            .rule = rule,
            .max_skew = rows[i].max_skew,
            .min_domains = 1,
            .by_affinity = true,
        };
        fit_rule_count(rule);
    }
    c->soft_default = true;
}

void fit_cohort_ask(struct fit *f, struct fit_cohort *c) {
    const struct pod_spec *spec = fit_spec(c->shape->spec);
    const struct pod_affinity *with = spec->affinity ? spec->affinity->pod : NULL;
    if (c->asked)
        return;
    c->asked = true;
    if (with && list_len(with->required)) {
        c->all = fit_rule_get(f, FIT_ROLE_ALL, with->required, 0, c->group);
        c->all_self = fit_rule_self(c->all, c->group);
        fit_rule_count(c->all);
    }
    for (size_t i = 0; i < c->held.len; i++)
        if (c->held.p[i]->key.role != FIT_ROLE_AFFINITY)
            fit_rule_count(c->held.p[i]);
    for (size_t i = 0; i < list_len(spec->spread); i++)
        add_constraint(f, c, i);
    if (!list_len(spec->spread) && c->group->owner)
        add_default_constraints(f, c);
}
