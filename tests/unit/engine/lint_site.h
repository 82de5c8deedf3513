/* A small cluster for the tests of lint: objects from JSON with single quotes, and its report. */
#ifndef LINT_SITE_H
#define LINT_SITE_H

#include "support/world.h"

#include "base/arena.h"
#include "base/str.h"
#include "engine/lint.h"

#define SITE_NOW (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */

struct site {
    struct world w;
    struct store *replica_sets, *deployments, *stateful_sets, *volumes, *claims, *classes,
        *csi_nodes, *namespaces, *jobs, *quotas, *accounts, *attachments;
    struct arena arena;
    struct lint lint;
    bool room;
    bool no_volumes; /* they may not be read */
};

static inline void site_init(struct site *s) {
    *s = (struct site){.arena = ARENA_INIT};
    world_init(&s->w);
    s->replica_sets = store_new(&kind_replica_set, s->w.pool);
    s->deployments = store_new(&kind_deployment, s->w.pool);
    s->stateful_sets = store_new(&kind_stateful_set, s->w.pool);
    s->volumes = store_new(&kind_pv, s->w.pool);
    s->claims = store_new(&kind_pvc, s->w.pool);
    s->csi_nodes = store_new(&kind_csi_node, s->w.pool);
    s->classes = store_new(&kind_storage_class, s->w.pool);
    s->namespaces = store_new(&kind_namespace, s->w.pool);
    s->jobs = store_new(&kind_job, s->w.pool);
    s->quotas = store_new(&kind_resource_quota, s->w.pool);
    s->accounts = store_new(&kind_service_account, s->w.pool);
    s->attachments = store_new(&kind_volume_attachment, s->w.pool);
}

static inline void site_done(struct site *s) {
    store_free(s->replica_sets);
    store_free(s->deployments);
    store_free(s->stateful_sets);
    store_free(s->volumes);
    store_free(s->claims);
    store_free(s->classes);
    store_free(s->csi_nodes);
    store_free(s->namespaces);
    store_free(s->jobs);
    store_free(s->quotas);
    store_free(s->accounts);
    store_free(s->attachments);
    arena_done(&s->arena);
    world_done(&s->w);
}

static inline struct store *site_store(struct site *s, const struct kind *kind) {
    return kind == &kind_node                ? s->w.nodes
           : kind == &kind_pod               ? s->w.pods
           : kind == &kind_pdb               ? s->w.budgets
           : kind == &kind_replica_set       ? s->replica_sets
           : kind == &kind_deployment        ? s->deployments
           : kind == &kind_stateful_set      ? s->stateful_sets
           : kind == &kind_pv                ? s->volumes
           : kind == &kind_pvc               ? s->claims
           : kind == &kind_storage_class     ? s->classes
           : kind == &kind_csi_node          ? s->csi_nodes
           : kind == &kind_job               ? s->jobs
           : kind == &kind_resource_quota    ? s->quotas
           : kind == &kind_service_account   ? s->accounts
           : kind == &kind_volume_attachment ? s->attachments
                                             : s->namespaces;
}

static inline void site_put(struct site *s, const struct kind *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static inline void site_put(struct site *s, const struct kind *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(kind);
    struct codec codec;
    struct err err = ERR_INIT;
    codec_init(&codec, s->w.pool);
    memset(obj, 0, kind->type->size);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    assert_true(store_put(site_store(s, kind), obj));
}

static inline void site_node(struct site *s, const char *name) {
    site_put(s, &kind_node,
             "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s'}},'status':{"
             "'allocatable':{'cpu':'4','memory':'8Gi','pods':'110'},'conditions':[{'type':'Ready',"
             "'status':'True'}]}}",
             name, name);
}

/* A pod of namespace x with the label app=APP; `more` goes into its spec (a comma first). */
static inline void site_pod(struct site *s, const char *name, const char *node, const char *app,
                            const char *owner, bool ready, const char *more) {
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s','labels':{'app':'%s'}%s},'spec':{"
             "'nodeName':'%s','containers':[{'name':'c'}]%s},'status':{'phase':'Running',"
             "'conditions':[{'type':'Ready','status':'%s'}]}}",
             name, app, owner, node, more, ready ? "True" : "False");
}

#define SITE_OWNER_OF(api, kind, name)                                                             \
    ",'ownerReferences':[{'apiVersion':'" api "','kind':'" kind "','name':'" name                  \
    "','uid':'uid-" name "','controller':true}]"
#define SITE_OWNER(kind, name) SITE_OWNER_OF("apps/v1", kind, name)

/* Deployment NAME, and its ReplicaSet NAME-1. */
static inline void site_deployment(struct site *s, const char *name, int replicas,
                                   const char *spec) {
    site_put(s, &kind_deployment,
             "{'metadata':{'namespace':'x','name':'%s','uid':'d-%s'},'spec':{'replicas':%d,"
             "'template':{'spec':{%s}}}}",
             name, name, replicas, spec);
    site_put(s, &kind_replica_set,
             "{'metadata':{'namespace':'x','name':'%s-1','uid':'uid-%s-1','ownerReferences':[{"
             "'apiVersion':'apps/v1','kind':'Deployment','name':'%s','uid':'d-%s','controller':"
             "true}]},'spec':{'replicas':%d,'template':{'spec':{%s}}}}",
             name, name, name, name, replicas, spec);
}

/* Budget NAME of namespace x on app=NAME; `spec` and `status` are their members. */
static inline void site_budget(struct site *s, const char *name, const char *spec,
                               const char *status) {
    site_put(s, &kind_pdb,
             "{'metadata':{'namespace':'x','name':'%s'},'spec':{%s,'selector':{'matchLabels':{"
             "'app':'%s'}}},'status':{%s}}",
             name, spec, name, status);
}

static inline const struct lint *site_lint(struct site *s) {
    arena_done(&s->arena);
    struct lint_input in = {.nodes = s->w.nodes,
                            .pods = s->w.pods,
                            .budgets = s->w.budgets,
                            .pdbs = s->w.pdbs,
                            .pods_by_node = s->w.by_node,
                            .replica_sets = s->replica_sets,
                            .deployments = s->deployments,
                            .stateful_sets = s->stateful_sets,
                            .volumes = s->no_volumes ? NULL : s->volumes,
                            .claims = s->no_volumes ? NULL : s->claims,
                            .classes = s->classes,
                            .csi_nodes = s->csi_nodes,
                            .namespaces = s->namespaces,
                            .jobs = s->jobs,
                            .quotas = s->quotas,
                            .attachments = s->attachments,
                            .accounts = s->accounts,
                            .pool = s->room ? s->w.pool : NULL,
                            .now = SITE_NOW};
    lint_make(&in, &s->arena, &s->lint);
    return &s->lint;
}

/* NULL when there is none of this cause. */
static inline const struct lint_group *site_group(const struct lint *l, enum lint_cause cause) {
    for (size_t i = 0; i < l->n; i++)
        if (l->groups[i].cause == cause)
            return &l->groups[i];
    return NULL;
}

/* The only finding of its cause. */
static inline const struct lint_finding *site_only(const struct lint *l, enum lint_cause cause) {
    const struct lint_group *g = site_group(l, cause);
    if (!g)
        fail_msg("no %s", lint_row(cause)->name);
    assert_int_equal(g->n, 1);
    return &g->findings[0];
}

static inline void assert_fix(const struct lint_finding *f, size_t i, enum why_risk risk,
                              const char *command) {
    assert_true(i < f->n_fixes);
    assert_string_equal(f->fixes[i].command, command);
    assert_int_equal(f->fixes[i].risk, risk);
    assert_true(*f->fixes[i].text != '\0');
    assert_true(risk == WHY_RISK_NONE || *f->fixes[i].cost != '\0');
}

#endif
