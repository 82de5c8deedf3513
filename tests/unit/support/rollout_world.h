/* Rollouts on the hand-made server of support/keeper_world.h: replica 0 leads. */
#ifndef SUPPORT_ROLLOUT_WORLD_H
#define SUPPORT_ROLLOUT_WORLD_H

#include "support/keeper_world.h"

/* `spec`: members after the operation, or "". */
static inline void rw_rollout(struct kw *w, const char *name, const char *spec) {
    kw_put(w, &kind_rollout,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':1,'creationTimestamp':"
           "'2026-11-15T08:00:00Z'},'spec':{'operation':'Reboot','executor':{'exec':{'command':"
           "['true']}}%s}}",
           name, name, spec);
}

static inline json_t *rw_doc(struct kw *w, const char *name) {
    return kw_doc(w, &kind_rollout, NULL, name);
}

static inline const char *rw_phase(struct kw *w, const char *name) {
    return dw_str(rw_doc(w, name), "status.phase");
}

static inline const char *rw_blocker(struct kw *w, const char *name) {
    return dw_str(rw_doc(w, name), "status.blocker.code");
}

static inline int rw_count(struct kw *w, const char *name, const char *what) {
    _cleanup_free_ char *path = xasprintf("status.counts.%s", what);
    return (int)json_integer_value(dw_at(rw_doc(w, name), path));
}

/* The phase of the Maintenance of a node; "" when there is none. */
static inline const char *rw_node(struct kw *w, const char *rollout, const char *node) {
    _cleanup_free_ char *name = rollout_maintenance_name(rollout, node);
    json_t *doc = kw_doc(w, &kind_maintenance, NULL, name);
    return doc ? dw_str(doc, "status.phase") : "";
}

static inline void rw_start(struct kw *w) {
    for (unsigned i = 0; i < w->n; i++)
        kw_begin(w, i);
    keeper_lead(w->r[0].k, 1);
    kw_lead_rollouts(w, 0);
}

/* Machines that were told to reboot do. Whether there was one. */
static inline bool rw_machines(struct kw *w) {
    const char *key;
    json_t *doc;
    char node[64] = "";
    json_object_foreach(w->docs, key, doc) {
        if (!str_starts(key, "maintenances/") || !streq(dw_str(doc, "status.phase"), "Operating"))
            continue;
        const char *name = dw_str(doc, "spec.node");
        _cleanup_free_ char *line = xasprintf("%s\n", dw_str(doc, "metadata.name"));
        if (!dw_count(&w->operated, line))
            continue;
        json_t *machine = kw_doc(w, &kind_node, NULL, name);
        if (streq(dw_str(machine, "status.nodeInfo.bootID"), "boot-1"))
            snprintf(node, sizeof node, "%s", name);
    }
    if (!*node)
        return false;
    kw_reboot(w, node, 2);
    return true;
}

/* How many of them are out of service. */
static inline unsigned rw_out(struct kw *w) {
    unsigned n = 0;
    const char *key;
    json_t *doc;
    json_object_foreach(w->docs, key, doc) n +=
        str_starts(key, "nodes/") && json_is_true(dw_at(doc, "spec.unschedulable"));
    return n;
}

#endif
