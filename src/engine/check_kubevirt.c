/* The check of KubeVirt: how each virtual machine would leave the node.
 *
 * KubeVirt's webhook on evictions decides by the eviction strategy: None lets the pod be evicted,
 * which stops the machine; LiveMigrate refuses until the machine was migrated, for ever when it
 * cannot be; LiveMigrateIfPossible does either; External leaves it to somebody else. */
#include "base/str.h"
#include "engine/check_internal.h"

/* The cluster's default, which the KubeVirt object can set; NULL: not known. Of several, which
 * KubeVirt does not allow, always the same one. */
static const char *default_strategy(struct check_run *r) {
    struct check_objects all = run_sorted(r, SOURCE_KUBEVIRTS);
    if (!run_store(r, SOURCE_KUBEVIRTS))
        return NULL;
    for (size_t i = 0; i < all.n; i++) {
        const struct kubevirt *k = (const struct kubevirt *)all.p[i];
        if (!k->meta.deleted && !str_empty(k->strategy))
            return k->strategy;
    }
    return "None";
}

static struct check_finding *find(struct check_run *r, const struct vmi *vmi, const char *node,
                                  enum check_verdict verdict, unsigned when, enum blocker_code code,
                                  const char *evidence) {
    return run_find(r, node, verdict, when, code, &kind_vmi, &vmi->meta, evidence);
}

static void tell_migration(struct check_run *r, const struct vmi *vmi, const char *name) {
    const struct vmi_migration *m = vmi->migration;
    bool from_here = m && str_same(m->source_node, vmi->node_name);
    struct check_finding *f;
    if (from_here && m->failed)
        f = find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_OPERATION, BLOCKER_EVICTION_IN_PROGRESS,
                 run_printf(r, "%s has to migrate; the last attempt failed: %s", name,
                            str_empty(m->failure) ? "it does not say why" : m->failure));
    else if (from_here && !m->completed)
        f = find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_OPERATION, BLOCKER_EVICTION_IN_PROGRESS,
                 run_printf(r, "%s is migrating to node %s", name,
                            str_empty(m->target_node) ? "that is not chosen yet" : m->target_node));
    else
        f = find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_OPERATION, BLOCKER_EVICTION_IN_PROGRESS,
                 run_printf(r, "%s runs here and leaves by live migration when the node is drained",
                            name));
    f->hint = "nothing: KubeVirt migrates it when its pod is to be evicted, a few at a time";
    f->ends = run_printf(r, "%s does not run on the node any more", name);
}

/* LiveMigrate and LiveMigrateIfPossible. */
static void judge_migration(struct check_run *r, const struct vmi *vmi, const char *name,
                            bool must) {
    const struct foreign_condition *c = foreign_condition(vmi->conditions, "LiveMigratable");
    if (!c || (!str_same(c->status, "True") && !str_same(c->status, "False"))) {
        find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION,
             BLOCKER_CHECK_UNKNOWN,
             run_printf(r,
                        "%s does not say yet whether it can be migrated (condition "
                        "LiveMigratable)",
                        name))
            ->ends = run_printf(r, "its condition LiveMigratable is True or False");
        return;
    }
    if (str_same(c->status, "True")) {
        tell_migration(r, vmi, name);
        return;
    }
    const char *why = !str_empty(c->message)  ? c->message
                      : !str_empty(c->reason) ? c->reason
                                              : "it does not say why";
    if (must)
        find(r, vmi, vmi->node_name, CHECK_DENY, CHECK_CORDON | CHECK_OPERATION,
             BLOCKER_NOT_MIGRATABLE,
             run_printf(r, "%s must leave by live migration (LiveMigrate) and cannot: %s", name,
                        why));
    else
        run_remark(r, vmi->node_name, CHECK_OPERATION, BLOCKER_NOT_MIGRATABLE, &kind_vmi,
                   &vmi->meta,
                   run_printf(r,
                              "%s cannot be migrated and is stopped by the drain "
                              "(LiveMigrateIfPossible): %s",
                              name, why));
}

static void judge(struct check_run *r, const struct vmi *vmi, const char *standard) {
    const char *strategy = str_empty(vmi->strategy) ? standard : vmi->strategy;
    const char *name = run_printf(r, "virtual machine %s/%s", strna(vmi->meta.ns), vmi->meta.name);
    if (!strategy) {
        find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION,
             BLOCKER_CHECK_UNKNOWN,
             run_printf(r,
                        "%s has no evictionStrategy, and the cluster's default (kubevirts."
                        "kubevirt.io) cannot be read",
                        name));
    } else if (streq(strategy, "LiveMigrate")) {
        judge_migration(r, vmi, name, true);
    } else if (streq(strategy, "LiveMigrateIfPossible")) {
        judge_migration(r, vmi, name, false);
    } else if (streq(strategy, "External")) {
        struct check_finding *f =
            find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_OPERATION, BLOCKER_EVICTION_IN_PROGRESS,
                 run_printf(r, "%s is moved by somebody else (External)", name));
        f->hint = "look at whoever manages the virtual machine if it does not move: KubeVirt only "
                  "tells it to";
        f->ends = run_printf(r, "%s does not run on the node any more", name);
    } else if (streq(strategy, "None")) {
        run_remark(r, vmi->node_name, CHECK_OPERATION, BLOCKER_NOT_MIGRATABLE, &kind_vmi,
                   &vmi->meta,
                   run_printf(r, "%s is stopped by the drain (evictionStrategy None)", name));
    } else {
        find(r, vmi, vmi->node_name, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION,
             BLOCKER_CHECK_UNKNOWN,
             run_printf(r, "%s has the evictionStrategy %s, which this check does not know", name,
                        strategy));
    }
}

/* A machine that arrives while its new node is cordoned would have to leave again at once. */
static void judge_arrival(struct check_run *r, const struct vmi *vmi) {
    const struct vmi_migration *m = vmi->migration;
    if (!m || m->completed || m->failed || !run_asked(r, m->target_node) ||
        str_same(m->target_node, vmi->node_name))
        return;
    find(r, vmi, m->target_node, CHECK_WAIT, CHECK_CORDON, BLOCKER_EVICTION_IN_PROGRESS,
         run_printf(r, "virtual machine %s/%s is migrating to this node", strna(vmi->meta.ns),
                    vmi->meta.name))
        ->ends = "the migration has ended";
}

void check_kubevirt(struct check_run *r) {
    struct check_objects vmis = run_sorted(r, SOURCE_VMIS);
    const char *standard = default_strategy(r);
    for (size_t i = 0; i < vmis.n; i++) {
        const struct vmi *vmi = (const struct vmi *)vmis.p[i];
        if (str_same(vmi->phase, "Succeeded") || str_same(vmi->phase, "Failed"))
            continue;
        judge_arrival(r, vmi);
        if (run_asked(r, vmi->node_name))
            judge(r, vmi, standard);
    }
    for (size_t i = 0; i < r->going.n; i++)
        run_pass(r, r->going.p[i], "no virtual machine stands in the way");
}
