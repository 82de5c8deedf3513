/* The check of Rook Ceph: healthy before, one failure domain at a time, monitors in the majority,
 * healthy again after.
 *
 * The failure domain is the one that Rook itself guards (getMinimumFailureDomain): the lowest CRUSH
 * level that a pool of the namespace wants its copies apart by. Where the pools cannot be read it
 * is the host, which allows least. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/check_internal.h"
#include "engine/podrole.h"

enum {
    /* Seconds. Rook asks Ceph every minute; after ten without news its word is worth nothing. */
    HEALTH_AGE = 600,
};

/* From the lowest to the highest, as Rook orders them. */
static const char *const levels[] = {"host", "chassis", "rack",       "row",  "pdu",
                                     "pod",  "room",    "datacenter", "zone", "region"};

struct ceph {
    struct check_run *r;
    const struct ceph_cluster *c;
    const char *what;     /* "Ceph rook-ceph/rook-ceph" */
    const char *level;    /* of the failure domain */
    const char *label;    /* of OSD pods that tells their domain */
    const char *draining; /* the domain that Rook lets drain, or NULL */
    const struct pod **osds, **mons;
    size_t n_osds, n_mons;
};

/* What Ceph's health means for a maintenance. */
struct health {
    const char *problem; /* NULL: none */
    enum blocker_code code;
    bool severe; /* also in the middle of a drain */
    bool osds;   /* it is that OSDs are down, with what follows from that, and nothing else */
};

/* --- reading --- */

static void lower(size_t *min, bool *matched, const struct ceph_pool *pool) {
    for (size_t i = 0; i < *min; i++)
        if (str_same(pool->failure_domain, levels[i])) {
            *min = i;
            *matched = true;
        }
}

static const char *lowest_level(const struct check_run *r, const char *ns) {
    static const enum check_source_id sources[] = {SOURCE_CEPH_BLOCK_POOLS, SOURCE_CEPH_FILESYSTEMS,
                                                   SOURCE_CEPH_OBJECT_STORES};
    size_t min = ARRAY_LEN(levels) - 1;
    bool matched = false;
    for (size_t s = 0; s < ARRAY_LEN(sources); s++) {
        const struct store *store = run_store(r, sources[s]);
        const struct object *obj;
        if (!store && r->world->inputs[sources[s]].read == READ_FAILED)
            return levels[0];
        for (uint32_t i = 0; store && (obj = store_next(store, &i));) {
            const struct ceph_pools *p = (const struct ceph_pools *)obj;
            if (!str_same(p->meta.ns, ns))
                continue;
            if (sources[s] == SOURCE_CEPH_BLOCK_POOLS) {
                lower(&min, &matched, &p->block);
                continue;
            }
            lower(&min, &matched, &p->metadata);
            lower(&min, &matched, &p->data);
            for (size_t k = 0; k < list_len(p->list); k++)
                lower(&min, &matched, &p->list[k]);
        }
    }
    return matched ? levels[min] : levels[0];
}

static void load(struct ceph *ceph) {
    struct check_run *r = ceph->r;
    const char *ns = ceph->c->meta.ns;
    size_t n = 0;
    const struct pod **mons = run_pods(r, SOURCE_CEPH_PODS, ns, "app", "rook-ceph-mon", &n);
    ceph->osds = run_pods(r, SOURCE_CEPH_PODS, ns, "app", "rook-ceph-osd", &ceph->n_osds);
    ceph->mons = mons;
    for (size_t i = 0; i < n; i++) /* canaries only try whether a monitor would fit somewhere */
        if (!map_has(mons[i]->meta.labels, "mon_canary"))
            mons[ceph->n_mons++] = mons[i];
    ceph->what = run_printf(r, "Ceph %s/%s", strna(ns), ceph->c->meta.name);
    ceph->level = lowest_level(r, ns);
    ceph->label = run_printf(r, "topology-location-%s", ceph->level);
    const struct store *states = run_store(r, SOURCE_ROOK_STATES);
    const struct object *obj = states ? store_get(states, ns, ROOK_STATE_NAME) : NULL;
    const char *draining =
        obj ? map_get(((const struct rook_state *)obj)->data, "draining-failure-domain") : NULL;
    ceph->draining = str_empty(draining) ? NULL : draining;
}

/* --- health --- */

/* Ceph's own names (https://docs.ceph.com/en/latest/rados/operations/health-checks): of flags that
 * a maintenance itself sets; and of OSDs that are down, with what follows from that. What is in
 * neither list, also what a later Ceph will report, is a fault of its own. */
static const char flags_of_map[] = "OSDMAP_FLAGS", flags_of_osds[] = "OSD_FLAGS";
static const char *const osd_codes[] = {
    "OSD_DOWN",      "OSD_HOST_DOWN",    "OSD_CHASSIS_DOWN",    "OSD_RACK_DOWN",
    "OSD_ROW_DOWN",  "OSD_PDU_DOWN",     "OSD_POD_DOWN",        "OSD_ROOM_DOWN",
    "OSD_ZONE_DOWN", "OSD_REGION_DOWN",  "OSD_DATACENTER_DOWN", "OSD_ROOT_DOWN",
    "PG_DEGRADED",   "OBJECT_MISPLACED",
};

static bool is_osd_code(const char *code) {
    for (size_t i = 0; i < ARRAY_LEN(osd_codes); i++)
        if (streq(code, osd_codes[i]))
            return true;
    return false;
}

/* Flags that keep data where it is while an OSD is away; not those that stop the cluster. */
static bool is_harmless(const char *code, const char *message) {
    if (streq(code, flags_of_osds))
        return true;
    return streq(code, flags_of_map) && message && strstr(message, "noout") &&
           !strstr(message, "pause") && !strstr(message, "noup") && !strstr(message, "nodown");
}

/* What Ceph complains of, but for flags that do no harm. */
struct complaints {
    struct check_list codes;
    const char *message; /* of the first of them that has one */
    bool flags;          /* harmless ones are set */
    bool osds;           /* all of the codes are of OSDs that are down */
};

static struct complaints read_complaints(const struct ceph *ceph) {
    struct check_run *r = ceph->r;
    struct complaints all = {.osds = true};
    const char *text = ceph->c->details;
    _cleanup_json_ json_t *details = text ? json_loads(text, 0, NULL) : NULL;
    const char *code;
    json_t *said;
    json_object_foreach(details, code, said) {
        const char *message = json_str(said, "message");
        if (is_harmless(code, message)) {
            all.flags = true;
            continue;
        }
        all.osds = all.osds && is_osd_code(code);
        check_list_add(&all.codes, run_printf(r, "%s", code));
        if (!all.message && !str_empty(message))
            all.message = run_printf(r, "%s", message);
    }
    return all;
}

static struct health unknown_health(const char *why) {
    return (struct health){.problem = why, .code = BLOCKER_CHECK_UNKNOWN, .severe = true};
}

static struct health judge_health(const struct ceph *ceph) {
    const struct ceph_cluster *c = ceph->c;
    struct check_run *r = ceph->r;
    int64_t checked = 0;
    char buf[TIMEFMT_LEN];
    if (str_empty(c->health))
        return unknown_health(
            run_printf(r, "%s does not report its health (status.ceph.health)", ceph->what));
    if (!c->last_checked || !time_parse(c->last_checked, strlen(c->last_checked), &checked))
        return unknown_health(run_printf(r,
                                         "%s does not say when its health was last looked at "
                                         "(status.ceph.lastChecked)",
                                         ceph->what));
    if (r->now - checked > SEC(HEALTH_AGE))
        return unknown_health(
            run_printf(r, "the health of %s was last looked at %s ago: does Rook's operator run?",
                       ceph->what, duration_format(r->now - checked, buf)));
    if (checked - r->now > SEC(HEALTH_AGE))
        return unknown_health(
            run_printf(r,
                       "the health of %s was last looked at in the future, %s: whose clock is "
                       "wrong?",
                       ceph->what, c->last_checked));
    if (streq(c->health, "HEALTH_OK"))
        return (struct health){0};
    bool warns = streq(c->health, "HEALTH_WARN");
    struct complaints all = read_complaints(ceph);
    if (warns && !all.codes.n && all.flags)
        return (struct health){0};
    return (struct health){
        .problem = run_printf(r, "%s is %s: %s%s%s%s", ceph->what, c->health,
                              all.codes.n ? run_list(r, &all.codes) : "it does not say why",
                              all.message ? " (" : "", strna(all.message), all.message ? ")" : ""),
        .code = BLOCKER_STORAGE_NOT_OK,
        .severe = !warns,
        .osds = warns && all.codes.n && all.osds,
    };
}

/* --- failure domains --- */

static const char *domain(const struct ceph *ceph, const struct pod *osd) {
    return map_get(osd->meta.labels, ceph->label);
}

/* The domains whose OSDs would be down: of nodes that go or are out, and of OSDs that have lost
 * their node to somebody who is out. */
static struct check_list domains_down(const struct ceph *ceph) {
    struct check_list down = {0};
    const char **seen = arena_alloc(ceph->r->arena, (ceph->n_osds + 1) * sizeof *seen);
    for (size_t i = 0; i < ceph->n_osds; i++) {
        const struct pod *osd = ceph->osds[i];
        bool homeless = ceph->r->out.n && !osd->node_name;
        const char *name = domain(ceph, osd);
        if (!name || !(homeless || run_lost(ceph->r, osd->node_name)))
            continue;
        size_t k = 0;
        while (k < down.n && !streq(seen[k], name))
            k++;
        if (k < down.n)
            continue;
        seen[k] = name;
        check_list_add(&down, name);
    }
    return down;
}

static struct check_finding *find(const struct ceph *ceph, const char *node,
                                  enum check_verdict verdict, unsigned when, enum blocker_code code,
                                  const char *evidence) {
    return run_find(ceph->r, node, verdict, when, code, &kind_ceph_cluster, &ceph->c->meta,
                    evidence);
}

/* Every OSD that is down is of this failure domain. No placement group has a second copy there: who
 * goes to mend it makes nothing worse. */
static bool own_fault(const struct ceph *ceph, const char *mine) {
    bool any = false;
    for (size_t i = 0; mine && i < ceph->n_osds; i++) {
        if (pod_ready(ceph->osds[i]))
            continue;
        any = true;
        if (!str_same(domain(ceph, ceph->osds[i]), mine))
            return false;
    }
    return any;
}

static void judge_osds(const struct ceph *ceph, const struct check_list *down,
                       const struct health *health, const char *node) {
    struct check_run *r = ceph->r;
    size_t here = 0;
    const char *mine = NULL, *lost = NULL;
    for (size_t i = 0; i < ceph->n_osds; i++) {
        const struct pod *osd = ceph->osds[i];
        if (!str_same(osd->node_name, node))
            continue;
        here++;
        if (domain(ceph, osd))
            mine = domain(ceph, osd);
        else
            lost = osd->meta.name;
    }
    if (!here)
        return;
    const unsigned both = CHECK_CORDON | CHECK_OPERATION;
    if (lost)
        find(ceph, node, CHECK_WAIT, both, BLOCKER_CHECK_UNKNOWN,
             run_printf(r, "OSD pod %s has no label %s, so that its failure domain is not known",
                        lost, ceph->label));
    if (down->n > 1) {
        struct check_finding *f =
            find(ceph, node, CHECK_WAIT, both, BLOCKER_STORAGE_NOT_OK,
                 run_printf(r, "OSDs of %zu failure domains (%s) would be down together: %s",
                            down->n, ceph->level, run_list(r, down)));
        f->hint = run_printf(r, "one %s at a time: nodes of the same %s may go together",
                             ceph->level, ceph->level);
        f->ends = run_printf(r, "no node of another %s is out of service", ceph->level);
    }
    bool own = ceph->draining && mine && streq(ceph->draining, mine);
    if (ceph->draining && !own) {
        struct check_finding *f = find(
            ceph, node, CHECK_WAIT, both, BLOCKER_STORAGE_NOT_OK,
            run_printf(r, "Rook lets failure domain %s drain, and no other; this node is of %s",
                       ceph->draining, mine ? mine : "an unknown one"));
        f->ends = "Rook has reset draining-failure-domain: all placement groups are clean again";
    } else if (health->problem && health->osds && own_fault(ceph, mine)) {
        run_remark(r, node, CHECK_CORDON, health->code, &kind_ceph_cluster, &ceph->c->meta,
                   run_printf(r, "%s; the OSDs that are down are of this failure domain, %s",
                              health->problem, mine));
    } else if (health->problem && (!own || health->severe)) {
        find(ceph, node, CHECK_WAIT, health->severe ? both : CHECK_CORDON, health->code,
             health->problem)
            ->ends = "status.ceph.health of the CephCluster is HEALTH_OK";
    }
    run_pass(r, node,
             run_printf(r, "%s is %s; %zu OSD%s of failure domain %s would be down", ceph->what,
                        strna(ceph->c->health), here, plural(here), strna(mine)));
}

static void judge_back(const struct ceph *ceph, const struct health *health, const char *node) {
    struct check_run *r = ceph->r;
    struct check_list missing = {0};
    size_t here = 0;
    for (size_t i = 0; i < ceph->n_osds; i++) {
        const struct pod *osd = ceph->osds[i];
        if (osd->node_name && !str_same(osd->node_name, node))
            continue;
        here++;
        if (!pod_ready(osd))
            check_list_add(&missing, osd->meta.name);
    }
    if (!here)
        return;
    if (missing.n)
        find(ceph, node, CHECK_WAIT, CHECK_RETURN, BLOCKER_STORAGE_NOT_OK,
             run_printf(r, "%zu OSD%s not running yet: %s", missing.n,
                        missing.n == 1 ? " is" : "s are", run_list(r, &missing)))
            ->ends = "all OSDs of the node are Ready";
    if (health->problem)
        find(ceph, node, CHECK_WAIT, CHECK_RETURN, health->code, health->problem)->ends =
            "status.ceph.health of the CephCluster is HEALTH_OK";
    else if (ceph->draining)
        find(ceph, node, CHECK_WAIT, CHECK_RETURN, BLOCKER_STORAGE_NOT_OK,
             run_printf(r, "Rook still lets failure domain %s drain", ceph->draining))
            ->ends = "Rook has reset draining-failure-domain: all placement groups are clean again";
    run_pass(r, node,
             run_printf(r, "%s is %s, %zu OSD%s of the node %s", ceph->what, strna(ceph->c->health),
                        here, plural(here), here == 1 ? "runs" : "run"));
}

/* --- monitors --- */

static void judge_mons(const struct ceph *ceph) {
    struct check_member *members =
        arena_alloc(ceph->r->arena, (ceph->n_mons + 1) * sizeof *members);
    for (size_t i = 0; i < ceph->n_mons; i++)
        members[i] = (struct check_member){ceph->mons[i]->meta.name, ceph->mons[i]->node_name,
                                           pod_ready(ceph->mons[i])};
    size_t wanted = ceph->c->mons > 0 ? (size_t)ceph->c->mons : 0;
    struct check_group g = {
        .kind = &kind_ceph_cluster,
        .object = &ceph->c->meta,
        .what = run_printf(ceph->r, "the monitor quorum of %s", ceph->what),
        .members = members,
        .n = ceph->n_mons,
        .total = MAX_OF(wanted, ceph->n_mons),
        .wait_when = CHECK_CORDON | CHECK_OPERATION,
        .deny_when = CHECK_CORDON | CHECK_OPERATION,
    };
    run_quorum(ceph->r, &g);
}

void check_rook(struct check_run *r) {
    struct check_objects clusters = run_sorted(r, SOURCE_CEPH_CLUSTERS);
    const char *node;
    for (size_t i = 0; i < clusters.n; i++) {
        struct ceph ceph = {.r = r, .c = (const struct ceph_cluster *)clusters.p[i]};
        if (ceph.c->external) /* none of its daemons run here */
            continue;
        load(&ceph);
        struct health health = judge_health(&ceph);
        struct check_list down = domains_down(&ceph);
        for (size_t k = 0; (node = run_next(r, &k));) {
            if (r->alone)
                down = domains_down(&ceph);
            judge_osds(&ceph, &down, &health, node);
        }
        for (size_t k = 0; k < r->back.n; k++)
            judge_back(&ceph, &health, r->back.p[k]);
        judge_mons(&ceph);
    }
}
