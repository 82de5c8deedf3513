/* The table of checks and of what they read; running them. */
#include "engine/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/cordon.h"

/* --- tables --- */

const struct check_source check_sources[CHECK_SOURCES] = {
    [SOURCE_LONGHORN_VOLUMES] = {.word = "longhorn-volumes", .kind = &kind_longhorn_volume},
    [SOURCE_LONGHORN_REPLICAS] = {.word = "longhorn-replicas", .kind = &kind_longhorn_replica},
    [SOURCE_LONGHORN_ENGINES] = {.word = "longhorn-engines", .kind = &kind_longhorn_engine},
    [SOURCE_LONGHORN_NODES] = {.word = "longhorn-nodes", .kind = &kind_longhorn_node},
    [SOURCE_LONGHORN_MANAGERS] = {.word = "longhorn-managers", .kind = &kind_longhorn_manager},
    [SOURCE_LONGHORN_SETTINGS] = {.word = "longhorn-settings",
                                  .kind = &kind_longhorn_setting,
                                  .fields = "metadata.name=node-drain-policy"},
    [SOURCE_CEPH_CLUSTERS] = {.word = "ceph-clusters", .kind = &kind_ceph_cluster},
    [SOURCE_CEPH_BLOCK_POOLS] = {.word = "ceph-block-pools", .kind = &kind_ceph_block_pool},
    [SOURCE_CEPH_FILESYSTEMS] = {.word = "ceph-filesystems", .kind = &kind_ceph_filesystem},
    [SOURCE_CEPH_OBJECT_STORES] = {.word = "ceph-object-stores", .kind = &kind_ceph_object_store},
    [SOURCE_ROOK_STATES] = {.word = "rook-states",
                            .kind = &kind_rook_state,
                            .fields = "metadata.name=" ROOK_STATE_NAME},
    [SOURCE_CEPH_PODS] = {.word = "ceph-pods",
                          .kind = &kind_pod,
                          .labels = "app in (rook-ceph-mon,rook-ceph-osd)"},
    [SOURCE_VMIS] = {.word = "kubevirt-machines", .kind = &kind_vmi},
    [SOURCE_KUBEVIRTS] = {.word = "kubevirts", .kind = &kind_kubevirt},
    [SOURCE_CNPG_CLUSTERS] = {.word = "cnpg-clusters", .kind = &kind_cnpg_cluster},
    [SOURCE_CNPG_PODS] = {.word = "cnpg-pods", .kind = &kind_pod, .labels = "cnpg.io/cluster"},
    [SOURCE_POSTGRESQLS] = {.word = "zalando-clusters", .kind = &kind_postgresql},
    [SOURCE_POSTGRESQL_PODS] = {.word = "zalando-pods",
                                .kind = &kind_pod,
                                .labels = "application=spilo"},
    [SOURCE_ETCD_CLUSTERS] = {.word = "etcd-operator-clusters", .kind = &kind_etcd_cluster},
    [SOURCE_ETCD_MEMBERS] = {.word = "etcd-operator-members", .kind = &kind_etcd_member},
    [SOURCE_ETCD_CLUSTER_PODS] = {.word = "etcd-operator-pods",
                                  .kind = &kind_pod,
                                  .labels = "controller"},
    [SOURCE_ETCD_PODS] = {.word = "etcd-pods",
                          .kind = &kind_pod,
                          .ns = "kube-system",
                          .labels = "component=etcd"},
    [SOURCE_STATEFUL_SETS] = {.word = "statefulsets", .kind = &kind_stateful_set},
    [SOURCE_STATEFUL_PODS] = {.word = "statefulset-pods",
                              .kind = &kind_pod,
                              .labels = "statefulset.kubernetes.io/pod-name"},
    [SOURCE_BUDGETS] = {.word = "budgets", .kind = &kind_pdb},
};

const struct check checks_table[] = {
    {.name = "longhorn",
     .title = "Longhorn",
     .meaning =
         "every volume with a healthy replica on the node has another one on a node that stays in "
         "service, and is not being rebuilt; volumes detach and Longhorn lets go of its instance "
         "manager before the node is operated on; volumes are healthy again before the next node",
     .reads = {{SOURCE_LONGHORN_VOLUMES, NEED_ALWAYS},
               {SOURCE_LONGHORN_REPLICAS, NEED_ALWAYS},
               {SOURCE_LONGHORN_MANAGERS, NEED_ALWAYS},
               {SOURCE_LONGHORN_SETTINGS, NEED_ALWAYS},
               {SOURCE_LONGHORN_ENGINES, NEED_IF_THERE},
               {SOURCE_LONGHORN_NODES, NEED_IF_THERE},
               {SOURCE_BUDGETS, NEED_IF_THERE}},
     .n_reads = 7,
     .run = check_longhorn},
    {.name = "rook-ceph",
     .title = "Rook Ceph",
     .meaning =
         "Ceph is healthy, OSDs of one failure domain at a time are down (a whole rack may go "
         "together), and a majority of the monitors stays",
     .reads = {{SOURCE_CEPH_CLUSTERS, NEED_ALWAYS},
               {SOURCE_CEPH_PODS, NEED_ALWAYS},
               {SOURCE_ROOK_STATES, NEED_IF_THERE},
               {SOURCE_CEPH_BLOCK_POOLS, NEED_NOT},
               {SOURCE_CEPH_FILESYSTEMS, NEED_NOT},
               {SOURCE_CEPH_OBJECT_STORES, NEED_NOT}},
     .n_reads = 6,
     .run = check_rook},
    {.name = "kubevirt",
     .title = "KubeVirt",
     .meaning =
         "virtual machines that may only leave by live migration can be migrated; those that do "
         "have left before the node is operated on",
     .reads = {{SOURCE_VMIS, NEED_ALWAYS}, {SOURCE_KUBEVIRTS, NEED_NOT}},
     .n_reads = 2,
     .run = check_kubevirt},
    {.name = "cnpg",
     .title = "CloudNativePG",
     .meaning = "every PostgreSQL cluster with an instance on the node is complete and has a ready "
                "instance elsewhere; its primary has moved before the node is operated on",
     .reads = {{SOURCE_CNPG_CLUSTERS, NEED_ALWAYS}, {SOURCE_CNPG_PODS, NEED_ALWAYS}},
     .n_reads = 2,
     .run = check_cnpg},
    {.name = "zalando",
     .title = "Zalando postgres-operator",
     .meaning =
         "every PostgreSQL cluster with a pod on the node runs, is complete and has a ready pod "
         "elsewhere; its master has moved before the node is operated on",
     .reads = {{SOURCE_POSTGRESQLS, NEED_ALWAYS}, {SOURCE_POSTGRESQL_PODS, NEED_ALWAYS}},
     .n_reads = 2,
     .run = check_zalando},
    {.name = "etcd-operator",
     .title = "etcd-operator",
     .meaning =
         "a majority of the voting members of every EtcdCluster stays healthy, none is being "
         "replaced and no learner waits to be promoted",
     .reads = {{SOURCE_ETCD_CLUSTERS, NEED_ALWAYS},
               {SOURCE_ETCD_CLUSTER_PODS, NEED_ALWAYS},
               {SOURCE_ETCD_MEMBERS, NEED_IF_THERE}},
     .n_reads = 3,
     .run = check_etcd_operator},
    {.name = "etcd",
     .title = "control-plane etcd",
     .meaning =
         "a majority of the control plane's etcd members stays Ready. A drain does not stop them, "
         "since they are static pods, but what follows it does",
     .reads = {{SOURCE_ETCD_PODS, NEED_ALWAYS}},
     .n_reads = 1,
     .by_objects = true,
     .run = check_etcd},
    {.name = "statefulset",
     .title = "StatefulSets",
     .meaning = "a remark, never a reason to wait: a StatefulSet of three and more pods that no "
                "PodDisruptionBudget guards would lose its majority",
     .reads = {{SOURCE_STATEFUL_SETS, NEED_NOT},
               {SOURCE_STATEFUL_PODS, NEED_NOT},
               {SOURCE_BUDGETS, NEED_NOT}},
     .n_reads = 3,
     .by_objects = true,
     .run = check_stateful_set},
};
const size_t n_checks = ARRAY_LEN(checks_table);

const struct check *check_find(const char *name) {
    for (size_t i = 0; i < n_checks; i++)
        if (streq(checks_table[i].name, name))
            return &checks_table[i];
    return NULL;
}

const char *check_verdict_name(enum check_verdict verdict) {
    static const char *const names[] = {
        [CHECK_PASS] = "pass", [CHECK_WAIT] = "wait", [CHECK_DENY] = "deny"};
    return names[verdict];
}

bool check_wanted(size_t check, unsigned skip, bool remarks) {
    const struct check *c = &checks_table[check];
    bool only_remarks = true;
    for (unsigned k = 0; k < c->n_reads; k++)
        only_remarks = only_remarks && c->reads[k].need == NEED_NOT;
    return !(skip & 1u << check) && (remarks || !only_remarks);
}

bool check_source_wanted(enum check_source_id source, unsigned skip, bool remarks) {
    for (size_t i = 0; i < n_checks; i++)
        for (unsigned k = 0; k < checks_table[i].n_reads; k++)
            if (checks_table[i].reads[k].source == source && check_wanted(i, skip, remarks))
                return true;
    return false;
}

void check_world_begin(struct check_world *w, unsigned skip, bool remarks) {
    w->unread = true;
    for (unsigned i = 0; i < CHECK_SOURCES; i++)
        w->inputs[i] =
            check_source_wanted(i, skip, remarks)
                ? (struct check_input){.read = READ_FAILED, .why = "it has not been read yet"}
                : (struct check_input){.read = READ_ABSENT};
}

/* --- running --- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct check_names sort_names(struct arena *arena, const char *const *names, size_t n) {
    struct check_names out = {arena_alloc(arena, n * sizeof *names), 0};
    const char **all = arena_alloc(arena, n * sizeof *names);
    if (n)
        memcpy(all, names, n * sizeof *names);
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 0; i < n; i++)
        if (!i || !streq(all[i], all[i - 1]))
            out.p[out.n++] = all[i];
    return out;
}

/* What a check reads and cannot; NULL when it has all it needs. */
static const char *unreadable(struct check_run *r) {
    for (unsigned i = 0; i < r->check->n_reads; i++) {
        const struct check_reading *reading = &r->check->reads[i];
        const struct check_input *in = &r->world->inputs[reading->source];
        const struct kind *kind = check_sources[reading->source].kind;
        if (reading->need == NEED_NOT || in->read == READ_DONE ||
            (reading->need == NEED_IF_THERE && in->read == READ_ABSENT))
            continue;
        const char *dot = *kind->group ? "." : "";
        if (in->read == READ_ABSENT)
            return run_printf(r, "the server has no %s%s%s, although %s is installed",
                              kind->resource, dot, kind->group, r->check->title);
        return run_printf(r, "%s%s%s cannot be read: %s", kind->resource, dot, kind->group,
                          str_empty(in->why) ? "nobody says why" : in->why);
    }
    return NULL;
}

static void tell_unreadable(struct check_run *r, const struct check_names *nodes, unsigned when,
                            const char *why) {
    for (size_t i = 0; i < nodes->n; i++)
        run_find(r, nodes->p[i], CHECK_WAIT, when, BLOCKER_CHECK_UNKNOWN, NULL, NULL, why);
}

static void run_one(struct check_run *r, bool skip, struct check_state *state) {
    const struct check_input *first = &r->world->inputs[r->check->reads[0].source];
    if (first->read == READ_DONE)
        state->objects = store_len(first->store);
    if (first->read == READ_ABSENT ||
        (r->check->by_objects && first->read == READ_DONE && !state->objects)) {
        state->presence = CHECK_NOT_INSTALLED;
        return;
    }
    if (skip) {
        state->presence = CHECK_SKIPPED;
        return;
    }
    const char *why = unreadable(r);
    state->presence = why || first->read == READ_FAILED ? CHECK_UNREADABLE : CHECK_INSTALLED;
    if (why) {
        tell_unreadable(r, &r->going, CHECK_CORDON | CHECK_OPERATION, why);
        tell_unreadable(r, &r->back, CHECK_RETURN, why);
    } else if (state->presence == CHECK_INSTALLED) {
        r->check->run(r);
        run_tell_unread(r);
        run_settle(r);
    }
}

static int compare_findings(const void *a, const void *b) {
    const struct check_finding *x = a, *y = b;
    int c = (int)y->verdict - (int)x->verdict;
    if (!c)
        c = strcmp(strna(x->node), strna(y->node));
    if (!c)
        c = x->check < y->check ? -1 : x->check > y->check;
    if (!c)
        c = strcmp(strna(x->ns), strna(y->ns));
    if (!c)
        c = strcmp(strna(x->name), strna(y->name));
    if (!c)
        c = (int)x->when - (int)y->when;
    return c ? c : strcmp(x->evidence, y->evidence);
}

void checks_run(const struct check_world *world, const struct check_request *req,
                struct arena *arena, struct checks *out) {
    struct check_run r = {.world = world, .arena = arena, .now = req->now, .alone = req->alone};
    struct check_state *states = arena_alloc(arena, n_checks * sizeof *states);
    r.going = sort_names(arena, req->going, req->n_going);
    r.out = sort_names(arena, req->out, req->n_out);
    r.back = sort_names(arena, req->back, req->n_back);
    for (size_t i = 0; i < n_checks; i++) {
        r.check = &checks_table[i];
        r.from = r.findings.len;
        run_one(&r, req->skip >> i & 1, &states[i]);
    }
    struct check_finding *list = arena_alloc(arena, r.findings.len * sizeof *list);
    if (r.findings.len)
        memcpy(list, r.findings.p, r.findings.len * sizeof *list);
    qsort(list, r.findings.len, sizeof *list, compare_findings);
    *out = (struct checks){.list = list, .n = r.findings.len, .states = states};
    vec_done(&r.findings);
}

const char *const *checks_held(const struct store *nodes, struct arena *arena, size_t *n) {
    const char **held = arena_alloc(arena, (nodes ? store_len(nodes) + 1 : 1) * sizeof *held);
    const struct object *obj;
    *n = 0;
    for (uint32_t i = 0; nodes && (obj = store_next(nodes, &i));) {
        struct cordon cordon;
        cordon_of((const struct node *)obj, arena, &cordon);
        if (cordon.owner == CORDON_SLIPWAY)
            held[(*n)++] = obj->meta.name;
    }
    return held;
}

const struct check_finding *check_worst_finding(const struct checks *c, const char *node,
                                                enum check_when when) {
    const struct check_finding *worst = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_finding *f = &c->list[i];
        if (f->when & when && f->verdict > (worst ? worst->verdict : CHECK_PASS) &&
            (!node || str_same(f->node, node)))
            worst = f;
    }
    return worst;
}

enum check_verdict check_worst(const struct checks *c, const char *node, enum check_when when) {
    const struct check_finding *worst = check_worst_finding(c, node, when);
    return worst ? worst->verdict : CHECK_PASS;
}
