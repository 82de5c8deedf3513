/* How far a rollout is: its nodes, by what has become of their Maintenances, and which are next. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/maintenance.h"
#include "engine/rollout_internal.h"
#include "model/selector.h"
#include "model/version.h"

enum {
    NODES_MAX = 20000, /* of one rollout */
    NAME_LEN = 253,    /* of an object */
    SURE_S = 1,        /* the watch of nodes is looked at again, whether it is as far as we are */
};

char *rollout_maintenance_name(const char *rollout, const char *node) {
    char *name = xasprintf("%s-%s", rollout, node);
    size_t len = strlen(name);
    if (len <= NAME_LEN)
        return name;
    /* Cut, and told apart by what was cut off. */
    uint32_t hash = hash_bytes(name, len);
    name[NAME_LEN - 10] = 0;
    char *cut = xasprintf("%s.x%08x", name, (unsigned)hash);
    free(name);
    return cut;
}

const struct maintenance *rollout_maintenance(const struct rollouts *rs, const struct rollout *r,
                                              const char *node) {
    _cleanup_free_ char *name = rollout_maintenance_name(r->meta.name, node);
    const struct maintenance *m =
        (const struct maintenance *)store_get(rs->opts.maintenances, NULL, name);
    return m && rollout_is_of(m, r) ? m : NULL;
}

/* --- which nodes --- */

/* One that has joined since is new already. */
static bool is_selected(const struct rollout *r, const struct node *node) {
    return selector_match(r->selector, node->meta.labels) && node->meta.created <= r->meta.created;
}

static int select_nodes(const struct rollouts *rs, const struct rollout *r, struct nodeset *out,
                        struct err *err) {
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(rs->opts.cluster->nodes, &i));) {
        struct nodeset one = NODESET_INIT;
        if (!is_selected(r, (const struct node *)obj))
            continue;
        int rc = nodeset_add(&one, obj->meta.name, err);
        if (!rc)
            rc = nodeset_sum_add(&sum, &one, err);
        if (rc)
            return rc;
    }
    return nodeset_sum_take(&sum, out, err);
}

static int name_nodes(const struct rollout *r, struct nodeset *out, struct err *err) {
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    for (size_t i = 0; i < list_len(r->nodes); i++) {
        struct nodeset one = NODESET_INIT;
        int rc = nodeset_parse(r->nodes[i], NULL, NULL, &one, err);
        if (!rc)
            rc = nodeset_sum_add(&sum, &one, err);
        if (rc)
            return rc;
    }
    return nodeset_sum_take(&sum, out, err);
}

/* Its status has to hold the names of all of them, however few are next to each other. */
static int check_names(const struct nodeset *nodes, struct err *err) {
    struct nodeset_iter it = nodeset_iter(nodes);
    const char *name;
    size_t len = 0;
    while ((name = nodeset_next(&it)))
        len += strlen(name) + 1;
    nodeset_iter_done(&it);
    return len <= ROLLOUT_NAMES_MAX
               ? 0
               : err_set(err, E2BIG,
                         "the names of its nodes have %zu bytes; at most %d are possible", len,
                         ROLLOUT_NAMES_MAX);
}

/* In the order of their names, w9 before w10. */
static int find_nodes(const struct rollouts *rs, const struct rollout *r, struct nodeset *out,
                      struct err *err) {
    int rc = r->selector ? select_nodes(rs, r, out, err) : name_nodes(r, out, err);
    if (!rc && nodeset_count(out) > NODES_MAX)
        rc = err_set(err, E2BIG, "it has %llu nodes; at most %d are possible",
                     (unsigned long long)nodeset_count(out), NODES_MAX);
    return rc ? rc : check_names(out, err);
}

/* --- what has become of them --- */

static const struct begun *begun_of(const struct roll *roll, const char *node) {
    for (size_t i = 0; i < roll->begun.len; i++)
        if (streq(roll->begun.p[i].node, node))
            return &roll->begun.p[i];
    return NULL;
}

static bool was_under_way(const struct rollout *r, const char *node) {
    for (size_t i = 0; i < list_len(r->current); i++)
        if (streq(r->current[i], node))
            return true;
    return false;
}

static char **find_seen(struct roll *roll, const char *node) {
    for (size_t i = 0; i < roll->seen.len; i++)
        if (streq(roll->seen.p[i], node))
            return &roll->seen.p[i];
    return NULL;
}

/* Whether we have seen it under way, and it is gone. */
static bool is_missed(struct roll *roll, const char *node, const struct maintenance *m,
                      bool retry) {
    char **seen = find_seen(roll, node);
    bool under_way = m && !maint_ended(maint_phase_find(m->phase));
    if (under_way && !seen) {
        *vec_push(&roll->seen) = xstrdup(node);
    } else if (seen && !under_way && (m || retry)) { /* it has ended, or is begun anew */
        free(*seen);
        *seen = roll->seen.p[--roll->seen.len];
        seen = NULL;
    }
    return seen && !m;
}

/* We have seen everything that there was when its status was written. */
static bool is_seen(const struct rollouts *rs, const struct rollout *r) {
    const char *seen = store_version(rs->opts.maintenances);
    return seen && version_compare(seen, r->meta.version) >= 0;
}

/* That it has failed is told already, and that the node is not there is sure: so it stays when the
 * node turns up, until somebody wants it tried again. */
static bool is_given_up(struct rollouts *rs, const struct rollout *r) {
    const char *seen = store_version(rs->opts.cluster->nodes);
    if (!str_same(r->phase, "Failed"))
        return false;
    if (seen && version_compare(seen, r->meta.version) >= 0)
        return true;
    rs->next = MIN_OF(rs->next, rs->now.mono + SEC(SURE_S));
    return false;
}

static bool needs_help(const struct maintenance *m) {
    enum blocker_code code = blocker_find(strna(m->blocker->code));
    return code != BLOCKER_CODES && !blocker_row(code)->clears_itself;
}

static void count_maintenance(struct rollout_survey *s, const struct maintenance *m) {
    enum maint_phase phase = maint_phase_find(m->phase);
    if (phase == MAINT_COMPLETE) {
        s->counts.complete++;
        if (!s->last || m->since >= s->last_done)
            s->last = m->node;
        s->last_done = MAX_OF(s->last_done, m->since);
        return;
    }
    bool halted = phase == MAINT_HALTED, ended = maint_ended(phase);
    if (ended && m->meta.deleted && s->retry) {
        s->counts.waiting++; /* about to be gone, and then begun again */
        return;
    }
    if (halted || ended) {
        s->counts.failed++;
        *vec_push(&s->failed) = m->node;
    }
    if (!s->gated && phase == MAINT_PENDING && m->blocker && !str_empty(m->blocker->code))
        s->gated = m;
    if (!ended && m->blocker && (!s->waits || (!needs_help(s->waits) && needs_help(m))))
        s->waits = m;
    if (!ended) {
        s->counts.current += !halted;
        *vec_push(&s->current) = m->node;
    }
}

/* The strictest of the policies of its nodes. */
static void take_rules(struct rollout_survey *s, const struct policy_rules *rules) {
    s->max_failed = s->ruled ? MIN_OF(s->max_failed, rules->max_failed) : rules->max_failed;
    s->ruled = true;
    s->soak = MAX_OF(s->soak, rules->soak);
}

static void add_next(const struct rollouts *rs, const struct rollout *r, struct rollout_survey *s,
                     const struct node *node, size_t rank) {
    _cleanup_free_ char *name = rollout_maintenance_name(r->meta.name, node->meta.name);
    const struct object *other = store_get(rs->opts.maintenances, NULL, name);
    struct rollout_policy p = {0};
    size_t n = rs->opts.policy(rs->opts.arg, node, &p);
    if (n == 1 && r->policy && !streq(p.rules->name, r->policy))
        n = 0;
    s->counts.waiting++;
    if (n != 1) {
        if (!s->unclear) {
            s->unclear = node->meta.name;
            s->unclear_policies = n;
        }
        return;
    }
    if (other) {
        if (!s->taken)
            s->taken = (const struct maintenance *)other;
        return;
    }
    *vec_push(&s->next) = (struct survey_node){
        .node = node,
        .rules = p.rules,
        .keeper = p.keeper,
        .broken = !node_is_ready(node),
        .control_plane = node_is_control_plane(node),
        .zone = p.rules->max_zones ? node_zone(node) : "",
        .rank = rank,
    };
}

/* Those that are broken already, which makes nothing worse; where zones count one zone after the
 * other; the control plane last. */
static int by_turn(const void *a, const void *b) {
    const struct survey_node *x = a, *y = b;
    if (x->control_plane != y->control_plane)
        return x->control_plane - y->control_plane;
    if (x->broken != y->broken)
        return y->broken - x->broken;
    int zones = strcmp(x->zone, y->zone);
    return zones ? zones : (x->rank > y->rank) - (x->rank < y->rank);
}

static void look_at(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                    struct rollout_survey *s, const char *name, size_t rank) {
    const struct node *node = cluster_node(rs->opts.cluster, name);
    const struct maintenance *m = rollout_maintenance(rs, r, name);
    struct rollout_policy p = {0};
    const struct begun *begun = begun_of(roll, name);
    bool missed = is_missed(roll, name, m, s->retry) && !begun;
    bool lost = missed || (!m && !begun && !s->retry && was_under_way(r, name));
    s->counts.total++;
    if (node && rs->opts.policy(rs->opts.arg, node, &p) == 1)
        take_rules(s, p.rules);
    /* Somebody has taken it away by force, and nobody knows how far it was. */
    if (lost && (missed || is_seen(rs, r)) && !nodeset_contains(&s->done, name))
        (void)nodeset_add(&s->given_up, name, &s->problem);
    bool complete = m && maint_phase_find(m->phase) == MAINT_COMPLETE;
    bool done = !complete && nodeset_contains(&s->done, name); /* and its object is gone, or new */
    if (done) {
        s->counts.complete++;
    } else if (m) {
        count_maintenance(s, m);
    } else if (node && nodeset_contains(&s->given_up, name)) {
        s->counts.failed++;
        *vec_push(&s->failed) = node->meta.name;
    } else if (begun || (lost && !missed && !is_seen(rs, r))) {
        s->counts.current++;
        /* Only what was certainly made is missed when it is gone. */
        if (node && (!begun || begun->version))
            *vec_push(&s->current) = node->meta.name;
    } else if (node) {
        add_next(rs, r, s, node, rank);
    } else {
        s->counts.failed++;
        *vec_push(&s->missing) = xstrdup(name);
        if (is_given_up(rs, r))
            (void)nodeset_add(&s->given_up, name, &s->problem);
    }
}

void rollout_survey(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                    struct rollout_survey *out) {
    *out = (struct rollout_survey){.problem = ERR_INIT,
                                   .nodes = NODESET_INIT,
                                   .done = NODESET_INIT,
                                   .given_up = NODESET_INIT,
                                   .last_done = r->last_done};
    if (rollout_recall(rs, r, out, &out->problem) || find_nodes(rs, r, &out->nodes, &out->problem))
        return;
    struct nodeset_iter it = nodeset_iter(&out->nodes);
    const char *name;
    for (size_t rank = 0; (name = nodeset_next(&it)); rank++)
        look_at(rs, roll, r, out, name, rank);
    nodeset_iter_done(&it);
    if (out->next.len)
        qsort(out->next.p, out->next.len, sizeof *out->next.p, by_turn);
    if (r->max_failed != ABSENT32)
        out->max_failed = (unsigned)MAX_OF(r->max_failed, 0);
    if (r->soak)
        out->soak = policy_duration(r->soak);
}

void rollout_survey_done(struct rollout_survey *s) {
    for (size_t i = 0; i < s->missing.len; i++)
        free(s->missing.p[i]);
    vec_done(&s->missing);
    vec_done(&s->current);
    vec_done(&s->failed);
    vec_done(&s->next);
    nodeset_done(&s->nodes);
    nodeset_done(&s->done);
    nodeset_done(&s->given_up);
    err_done(&s->problem);
}
