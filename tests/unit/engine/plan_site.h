/* For tests of the plan: a hand-made cluster (support/drain_world.h) with room on its nodes,
 * volumes and namespaces, a plan of it, and what to look for in the plan. Every pod takes the same
 * time, ten seconds to stop and five to start, unless the test says otherwise. */
#ifndef ENGINE_PLAN_SITE_H
#define ENGINE_PLAN_SITE_H

#include "engine/plan.h"

#include "support/drain_world.h"

struct plan_site {
    struct drain_world w;
    struct store *namespaces, *volumes, *claims, *classes, *csi_nodes, *jobs, *quotas, *accounts;
    bool no_storage; /* volumes and claims are not known */
    bool no_classes; /* StorageClasses are not */
    bool adopt;      /* as the input has it */
    bool own_times;  /* engine/durations.h, not `times` */
    struct arena arena;
    struct plan plan;
    struct pod_durations times; /* of every pod */
};

static inline int plan_setup(void **state) {
    struct plan_site *f = xnew(struct plan_site);
    dw_init(&f->w);
    f->w.c.owners_watched = true;
    f->w.c.all_pods = true;
    f->namespaces = store_new(&kind_namespace, f->w.pool);
    f->volumes = store_new(&kind_pv, f->w.pool);
    f->claims = store_new(&kind_pvc, f->w.pool);
    f->classes = store_new(&kind_storage_class, f->w.pool);
    f->csi_nodes = store_new(&kind_csi_node, f->w.pool);
    f->jobs = store_new(&kind_job, f->w.pool);
    f->quotas = store_new(&kind_resource_quota, f->w.pool);
    f->accounts = store_new(&kind_service_account, f->w.pool);
    f->times = (struct pod_durations){.stop = SEC(10), .start = SEC(5), .seen = true};
    *state = f;
    return 0;
}

static inline int plan_teardown(void **state) {
    struct plan_site *f = *state;
    arena_done(&f->arena);
    store_free(f->namespaces);
    store_free(f->volumes);
    store_free(f->claims);
    store_free(f->classes);
    store_free(f->csi_nodes);
    store_free(f->jobs);
    store_free(f->quotas);
    store_free(f->accounts);
    rules_free((struct rules *)f->w.opts.rules);
    dw_done(&f->w);
    free(f);
    return 0;
}

#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)

static inline struct pod_durations plan_site_times(void *arg, const struct pod *pod,
                                                   struct pod_durations assumed) {
    const struct plan_site *f = arg;
    (void)pod;
    assert_true(assumed.stop >= 0 && assumed.start >= 0);
    return f->times.stop < 0 ? assumed : f->times;
}

/* The plan for the nodes of these names. */
__attribute__((sentinel)) static inline void make(struct plan_site *f, ...) {
    const char *names[32], *name;
    size_t n = 0;
    va_list ap;
    va_start(ap, f);
    while ((name = va_arg(ap, const char *)))
        names[n++] = name;
    va_end(ap);
    arena_reset(&f->arena);
    plan_make(&(struct plan_input){.opts = &f->w.opts,
                                   .cluster = &f->w.c,
                                   .adopt = f->adopt,
                                   .namespaces = f->namespaces,
                                   .volumes = f->no_storage ? NULL : f->volumes,
                                   .claims = f->no_storage ? NULL : f->claims,
                                   .classes = f->no_classes ? NULL : f->classes,
                                   .csi_nodes = f->csi_nodes,
                                   .jobs = f->jobs,
                                   .quotas = f->quotas,
                                   .accounts = f->accounts,
                                   .names = names,
                                   .n_names = n,
                                   .times = f->own_times ? NULL : plan_site_times,
                                   .times_arg = f,
                                   .now = f->w.now.wall},
              &f->arena, &f->plan);
}

/* With room for so many pods, and the hostname that the scheduler spreads by. */
static inline void node(struct plan_site *f, const char *name, int pods) {
    dw_put(&f->w, &kind_node,
           "{'metadata':{'name':'%s','uid':'uid-%s','labels':{'kubernetes.io/hostname':'%s'}},"
           "'spec':{},'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'%d'},"
           "'conditions':[{'type':'Ready','status':'True'}]}}",
           name, name, name, pods);
}

/* w0, w1, ... */
static inline void nodes(struct plan_site *f, int n) {
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        node(f, name, 110);
    }
}

/* a0, a1, ...: all alike. `more` is as in dw_pod(), without any %. */
static inline void pods(struct plan_site *f, const char *prefix, int n, const char *where,
                        const char *more) {
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        dw_pod(&f->w, name, where, "%s", more);
    }
}

/* A budget of one disruption at a time and three pods, over app=LABEL. */
static inline void budget_of(struct plan_site *f, const char *name, const char *label, int allowed,
                             int healthy, int desired, int expected) {
    dw_put(&f->w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'%s','uid':'uid-%s','generation':1},"
           "'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'%s'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':%d,'currentHealthy':%d,"
           "'desiredHealthy':%d,'expectedPods':%d}}",
           name, name, label, allowed, healthy, desired, expected);
}

/* A Namespace, a PersistentVolume, a PersistentVolumeClaim, a StorageClass, a CSINode, a Job, a
 * ResourceQuota. */
static inline void add(struct plan_site *f, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    store_put(kind == &kind_pv               ? f->volumes
              : kind == &kind_pvc            ? f->claims
              : kind == &kind_storage_class  ? f->classes
              : kind == &kind_csi_node       ? f->csi_nodes
              : kind == &kind_job            ? f->jobs
              : kind == &kind_resource_quota ? f->quotas
                                             : f->namespaces,
              dw_decode(&f->w, kind, doc));
    json_decref(doc);
}

/* Rules of a file that has these lines below `rules:`. */
static inline void rules_are(struct plan_site *f, const char *lines) {
    _cleanup_free_ char *text =
        xasprintf("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n%s", lines);
    _cleanup_err_ struct err err = ERR_INIT;
    struct rules *rules = NULL;
    if (rules_parse(text, strlen(text), "rules", &rules, &err))
        fail_msg("%s", err_msg(&err));
    rules_free((struct rules *)f->w.opts.rules);
    f->w.opts.rules = rules;
}

static inline const struct plan_pod *pod_of(const struct plan_site *f, const char *name) {
    for (size_t i = 0; i < f->plan.n; i++)
        for (size_t k = 0; k < f->plan.nodes[i].n_pods; k++)
            if (streq(f->plan.nodes[i].pods[k].pod->meta.name, name))
                return &f->plan.nodes[i].pods[k];
    fail_msg("no pod %s in the plan", name);
    return NULL;
}

static inline const struct plan_node *node_of(const struct plan_site *f, const char *name) {
    for (size_t i = 0; i < f->plan.n; i++)
        if (streq(f->plan.nodes[i].name, name))
            return &f->plan.nodes[i];
    fail_msg("no node %s in the plan", name);
    return NULL;
}

#define assert_verdict(f, which, wanted_)                                                          \
    assert_string_equal(plan_verdict_word(pod_of(f, which)->verdict), plan_verdict_word(wanted_))
#define assert_code(f, which, code_)                                                               \
    assert_string_equal(blocker_row(pod_of(f, which)->blocker.code)->name, blocker_row(code_)->name)
#define assert_says(f, which, piece)                                                               \
    do {                                                                                           \
        if (!strstr(pod_of(f, which)->blocker.message, piece))                                     \
            fail_msg("'%s' is not in '%s'", piece, pod_of(f, which)->blocker.message);             \
    } while (0)
/* Its bound, to the second. */
#define assert_bound(f, term, seconds) assert_int_equal((f)->plan.bounds[term].least, SEC(seconds))

#endif
