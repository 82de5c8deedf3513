/* What policies say of FleetLock clients. */
#include "controller/clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Ids of applications, each once. */
struct apps {
    VEC(struct machine_id) v;
    bool names;
};

static void add(struct apps *a, const struct machine_id *id) {
    for (size_t i = 0; i < a->v.len; i++)
        if (!memcmp(&a->v.p[i], id, sizeof *id))
            return;
    *vec_push(&a->v) = *id;
}

static void add_options(struct apps *a, const struct roster_options *o) {
    struct machine_id zincati;
    machine_id_parse(MACHINE_ID_ZINCATI, &zincati);
    if (!o->apps)
        add(a, &zincati);
    for (size_t i = 0; o->apps && i < o->n_apps; i++)
        add(a, &o->apps[i]);
    a->names |= o->names;
}

static void add_policy(struct apps *a, const struct policy_rules *rules) {
    const struct policy_fleetlock *f = rules->source ? rules->source->fleetlock : NULL;
    struct machine_id id;
    if (!f)
        return;
    for (size_t i = 0; i < list_len(f->app_ids); i++)
        if (machine_id_parse(f->app_ids[i], &id))
            add(a, &id);
    a->names |= f->node_names == 1;
}

static struct roster_options options_of(const struct apps *a) {
    return (struct roster_options){a->v.p, a->v.len, a->names};
}

void clients_learn(struct roster *r, const struct policies *policies,
                   const struct roster_options *builtin) {
    struct apps all = {0};
    add_options(&all, builtin);
    for (size_t i = 0; i < policies_len(policies); i++)
        if (policies_at(policies, i)->rules)
            add_policy(&all, policies_at(policies, i)->rules);
    struct roster_options opts = options_of(&all);
    roster_use(r, &opts);
    vec_done(&all.v);
}

bool clients_may_use(const struct policy_rules *rules, const struct roster_options *builtin,
                     const struct node *node, const char *id) {
    struct apps own = {0};
    if (rules->builtin)
        add_options(&own, builtin);
    else
        add_policy(&own, rules);
    vec_reserve(&own.v, 1); /* none of them is not the same as the usual one */
    struct roster_options opts = options_of(&own);
    bool may = roster_is_id(&opts, node, id);
    vec_done(&own.v);
    return may;
}

struct fleetlock_terms clients_terms(const struct policy_rules *rules,
                                     const struct fleetlock_terms *builtin) {
    static const enum fleetlock_check checks[] = {[CALLER_OFF] = FLEETLOCK_CHECK_OFF,
                                                  [CALLER_REPORT] = FLEETLOCK_CHECK_REPORT,
                                                  [CALLER_ENFORCE] = FLEETLOCK_CHECK_ENFORCE};
    if (rules->builtin)
        return *builtin;
    return (struct fleetlock_terms){checks[rules->caller], rules->rate};
}
