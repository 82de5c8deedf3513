/* Which pods a drain touches. */
#include "engine/filter.h"

#include "base/timefmt.h"
#include "engine/podrole.h"
#include "model/selector.h"

/* kubectl's texts: scripts look for them. */
#define DAEMON_FATAL    "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
#define DAEMON_WARNING  "ignoring DaemonSet-managed Pods"
#define STORAGE_FATAL   "Pods with local storage (use --delete-emptydir-data to override)"
#define STORAGE_WARNING "deleting Pods with local storage"
#define BARE_FATAL      "Pods that declare no controller (use --force to override)"
#define BARE_WARNING    "deleting Pods that declare no controller"

#define MIRROR_ANNOTATION "kubernetes.io/config.mirror"

bool filter_selects(const struct drain_opts *opts, const struct pod *pod) {
    return requirements_match(opts->pod_selector, pod->meta.labels);
}

static struct filter verdict(enum filter_verdict v, const char *why) {
    return (struct filter){.verdict = v, .why = why};
}

static struct filter refuse(const char *why, enum blocker_code code) {
    return (struct filter){.verdict = FILTER_REFUSED, .why = why, .code = code};
}

static struct filter daemon_filter(const struct drain_opts *opts, struct cluster *cluster,
                                   const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    if (!owner || !str_same(owner->kind, "DaemonSet") || pod_finished(pod))
        return verdict(FILTER_GO, NULL);
    /* Of other groups (OpenKruise) nobody can tell whether the owner is still there. */
    if (str_same(owner->api_version, "apps/v1") && owner->name) {
        const struct lookup *l = cluster_look(cluster, &kind_daemon_set, pod->meta.ns, owner->name);
        switch (l->known) {
        case KNOWN_NOT_YET:
            return verdict(FILTER_UNKNOWN, NULL);
        case KNOWN_GONE:
            return opts->force ? verdict(FILTER_GO, l->why) : refuse(l->why, BLOCKER_BARE_POD);
        case KNOWN_NEVER:
            return refuse(l->why, BLOCKER_FORBIDDEN);
        case KNOWN_THERE:
            break;
        }
    }
    return opts->ignore_daemonsets ? verdict(FILTER_STAYS, DAEMON_WARNING)
                                   : refuse(DAEMON_FATAL, BLOCKER_DAEMON_POD);
}

static bool skipped(const struct drain_opts *opts, int64_t now, const struct pod *pod) {
    return opts->skip_wait > 0 && pod->meta.deleted &&
           now - pod->meta.deleted > SEC(opts->skip_wait);
}

bool filter_must_go(const struct drain_opts *opts, int64_t now, const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    struct rule_verdict rule;
    if (pod_finished(pod) || !filter_selects(opts, pod) || skipped(opts, now, pod) ||
        map_has(pod->meta.annotations, MIRROR_ANNOTATION))
        return false;
    if (owner && str_same(owner->kind, "DaemonSet") && opts->ignore_daemonsets)
        return false;
    rules_apply(opts->rules, pod, &rule);
    return rule.action != RULE_SKIP;
}

struct filter filter_pod(const struct drain_opts *opts, struct cluster *cluster, int64_t now,
                         const struct pod *pod) {
    if (skipped(opts, now, pod))
        return verdict(FILTER_STAYS, NULL);
    struct filter f = daemon_filter(opts, cluster, pod);
    if (f.verdict != FILTER_GO)
        return f;
    if (map_has(pod->meta.annotations, MIRROR_ANNOTATION))
        return verdict(FILTER_STAYS, NULL);
    if (pod_finished(pod))
        return f;
    if (pod_has_local_data(pod)) {
        if (!opts->delete_emptydir)
            return refuse(STORAGE_FATAL, BLOCKER_LOCAL_STORAGE);
        f.why = STORAGE_WARNING;
    }
    if (!meta_controller(&pod->meta)) {
        if (!opts->force)
            return refuse(BARE_FATAL, BLOCKER_BARE_POD);
        f.why = BARE_WARNING;
    }
    return f;
}

enum known filter_pinned(struct cluster *cluster, const struct pod *pod, const char *node,
                         bool replica_sets) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || !str_same(o->api_version, "apps/v1") || !o->name)
        return KNOWN_NEVER;
    bool stateful = str_same(o->kind, "StatefulSet");
    if (!stateful && (!replica_sets || !str_same(o->kind, "ReplicaSet")))
        return KNOWN_NEVER;
    const struct lookup *l = cluster_look(
        cluster, stateful ? &kind_stateful_set : &kind_replica_set, pod->meta.ns, o->name);
    if (l->known != KNOWN_THERE)
        return l->known;
    const struct stateful_set *s = (const struct stateful_set *)l->obj;
    const struct replica_set *r = (const struct replica_set *)l->obj;
    const struct pod_template *template = stateful ? s->template : r->template;
    const char *named = template ? template->spec.node_name : NULL;
    bool same = str_same(l->obj->meta.uid, o->uid);
    return same && str_same(named, node) ? KNOWN_THERE : KNOWN_GONE;
}
