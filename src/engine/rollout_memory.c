/* What a rollout remembers of its nodes when their Maintenances are gone: which were done, and
 * which were given up. */
#include "engine/maintenance.h"
#include "engine/rollout_internal.h"

bool rollout_is_of(const struct maintenance *m, const struct rollout *r) {
    bool owned = false;
    for (size_t i = 0; i < list_len(m->meta.owners); i++)
        owned = owned || str_same(m->meta.owners[i].uid, r->meta.uid);
    if (!owned)
        return false;
    _cleanup_free_ char *name = rollout_maintenance_name(r->meta.name, strna(m->node));
    return streq(name, m->meta.name);
}

static const char *retry_of(const struct rollout *r) {
    const char *said = map_get(r->meta.annotations, OWN_RETRY_ANNOTATION);
    return str_empty(said) || str_same(said, r->retried) ? NULL : said;
}

static int add(struct nodeset_sum *sum, const char *node, struct err *err) {
    _cleanup_nodeset_ struct nodeset one = NODESET_INIT;
    int rc = nodeset_add(&one, node, err);
    return rc ? rc : nodeset_sum_add(sum, &one, err);
}

struct recall {
    struct nodeset_sum done, given_up, under_way;
};

static int take(const struct maintenance *m, struct rollout_survey *s, struct recall *c,
                struct err *err) {
    enum maint_phase phase = maint_phase_find(m->phase);
    if (!maint_ended(phase))
        return add(&c->under_way, m->node, err);
    if (phase == MAINT_COMPLETE)
        return nodeset_contains(&s->done, m->node) ? 0 : add(&c->done, m->node, err);
    if (s->retry && m->meta.deleted) {
        s->retry_waits = true;
        return 0;
    }
    return nodeset_contains(&s->given_up, m->node) ? 0 : add(&c->given_up, m->node, err);
}

static int combine(struct nodeset *s, enum nodeset_op op, struct nodeset_sum *sum,
                   struct err *err) {
    _cleanup_nodeset_ struct nodeset other = NODESET_INIT;
    int rc = nodeset_sum_take(sum, &other, err);
    return rc || nodeset_empty(&other) ? rc : nodeset_combine(s, op, &other, err);
}

static int read_all(const struct rollouts *rs, const struct rollout *r, struct rollout_survey *s,
                    struct recall *c, struct err *err) {
    const struct object *obj;
    int rc = 0;
    for (uint32_t i = 0; !rc && (obj = store_next(rs->opts.maintenances, &i));) {
        const struct maintenance *m = (const struct maintenance *)obj;
        if (rollout_is_of(m, r))
            rc = take(m, s, c, err);
    }
    if (!rc)
        rc = combine(&s->done, NODESET_UNION, &c->done, err);
    if (!rc)
        rc = combine(&s->given_up, NODESET_UNION, &c->given_up, err);
    if (!rc)
        rc = combine(&s->given_up, NODESET_DIFFERENCE, &c->under_way, err);
    return rc ? rc : nodeset_difference(&s->given_up, &s->done, err);
}

int rollout_recall(const struct rollouts *rs, const struct rollout *r, struct rollout_survey *s,
                   struct err *err) {
    struct recall c = {0};
    s->retry = retry_of(r);
    int rc = nodeset_parse(strna(r->done_nodes), NULL, NULL, &s->done, err);
    if (!rc && !s->retry)
        rc = nodeset_parse(strna(r->failed_nodes), NULL, NULL, &s->given_up, err);
    s->unreadable = rc;
    if (!rc)
        rc = read_all(rs, r, s, &c, err);
    nodeset_sum_done(&c.done);
    nodeset_sum_done(&c.given_up);
    nodeset_sum_done(&c.under_way);
    return rc;
}

/* --- what has ended --- */

static const struct rollout *rollout_of(const struct store *rollouts, const struct maintenance *m) {
    for (size_t i = 0; i < list_len(m->meta.owners); i++) {
        const struct owner *o = &m->meta.owners[i];
        const struct object *obj =
            str_same(o->kind, kind_rollout.name) ? store_get(rollouts, NULL, strna(o->name)) : NULL;
        if (obj && str_same(obj->meta.uid, o->uid))
            return (const struct rollout *)obj;
    }
    return NULL;
}

bool rollout_remembers(const struct store *rollouts, const struct maintenance *m) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset names = NODESET_INIT;
    if (!list_len(m->meta.owners))
        return true;
    if (!store_synced(rollouts))
        return false;
    const struct rollout *r = rollout_of(rollouts, m);
    if (!r || r->meta.deleted || str_same(r->phase, "Complete") || !rollout_is_of(m, r))
        return true;
    bool complete = maint_phase_find(m->phase) == MAINT_COMPLETE;
    if (!complete && m->meta.deleted && retry_of(r))
        return true;
    /* One that cannot be read begins nothing, and keeps nobody. */
    return nodeset_parse(strna(complete ? r->done_nodes : r->failed_nodes), NULL, NULL, &names,
                         &err) ||
           nodeset_contains(&names, m->node);
}
