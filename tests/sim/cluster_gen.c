/* Random clusters: what a plan's drain finds. */
#include "cluster_gen.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "draw.h"
#include "sim/fleet/machine.h"

#define START    SEC(1794700800)
#define AT_START "2026-11-15T00:00:00Z"
/* Before the cordon as it is: that one is somebody else's. */
#define LONG_AGO "2026-11-14T00:00:00Z"

/* --- talking to the cluster --- */

int cluster_ask(struct sim *sim, const char *method, const char *path, const char *body) {
    struct api_request req = {
        .method = method,
        .target = path,
        .content_type =
            streq(method, "PATCH") ? "application/merge-patch+json" : "application/json",
        .body = view_of(body),
    };
    struct api_reply reply = {0};
    api_serve(sim_api(sim), &req, &reply);
    int code = reply.code;
    if (code >= 300 && getenv("SOAK_TRACE"))
        fprintf(stderr, "%s %s: %d %s\n", method, path, code, str_get(&reply.body));
    api_reply_done(&reply);
    return code;
}

static void create(struct sim *sim, const char *path, const struct str *body) {
    int code = cluster_ask(sim, "POST", path, str_get(body));
    if (code != 201) {
        fprintf(stderr, "the generator made something that the API refuses (%d): POST %s %s\n",
                code, path, str_get(body));
        abort();
    }
}

/* --- the cluster --- */

struct gen {
    struct prng r;
    const struct plan *plan;
    struct sim *sim;
    int workloads;
    bool storage;
};

static void add_nodes(struct gen *g) {
    for (unsigned i = 1; i <= g->plan->nodes; i++) {
        _cleanup_str_ struct str s = STR_INIT;
        str_addf(&s,
                 "{\"metadata\":{\"name\":\"w%u\",\"labels\":{\"kubernetes.io/hostname\":\"w%u\"",
                 i, i);
        if (g->plan->max_zones)
            str_addf(&s, ",\"topology.kubernetes.io/zone\":\"%c\"", "abc"[i % 3]);
        str_add(&s, "},\"annotations\":{\"sim.slipway.dev/machine\":\"\"");
        bool cordoned = false, target = false;
        char name[16];
        (void)snprintf(name, sizeof name, "w%u", i);
        for (size_t k = 0; k < g->plan->targets.len; k++)
            target |= streq(g->plan->targets.p[k], name);
        if (!target && g->plan->benign) {
            /* somewhere the pods must be able to go */
        } else if (chance(&g->r, 8)) {
            cordoned = true;
        } else if (chance(&g->r, 8)) {
            cordoned = true;
            str_addf(&s,
                     ",\"slipway.dev/cordon\":\"{\\\"v\\\":1,\\\"before\\\":%s,\\\"holders\\\":[{"
                     "\\\"id\\\":\\\"ops/alice\\\",\\\"by\\\":\\\"alice\\\",\\\"reason\\\":"
                     "\\\"disk\\\",\\\"since\\\":\\\"%s\\\"}]}\"",
                     chance(&g->r, 30) ? "true" : "false", i % 4 ? AT_START : LONG_AGO);
        } else if (!g->plan->benign && chance(&g->r, 2)) {
            cordoned = true;
            str_add(&s, ",\"slipway.dev/cordon\":\"{\\\"v\\\":2,\\\"keepers\\\":[1]}\"");
        }
        str_addf(&s, "}},\"spec\":{%s}}", cordoned ? "\"unschedulable\":true" : "");
        create(g->sim, "/api/v1/nodes", &s);
    }
    struct clock *clock = &sim_world(g->sim)->clock;
    clock_run(clock, clock->now + SEC(2));
}

static void add_static_pods(struct gen *g) {
    for (unsigned i = 1; i <= g->plan->nodes; i++) {
        if (!chance(&g->r, 20))
            continue;
        char name[16];
        (void)snprintf(name, sizeof name, "w%u", i);
        struct machine *m = machine_find(sim_fleet(g->sim), name);
        _cleanup_json_ json_t *pod = json_loads(
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"etcd\",\"namespace\":"
            "\"kube-system\",\"labels\":{\"app\":\"etcd\"}},\"spec\":{\"containers\":[{\"name\":"
            "\"etcd\",\"image\":\"example.com/etcd:1\"}],\"volumes\":[{\"name\":\"d\","
            "\"emptyDir\":{}}]}}",
            0, NULL);
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        if (m)
            (void)machine_add_static_pod(m, pod, &failure);
    }
}

/* The annotations that say how long things take. */
static void add_pace(struct gen *g, struct str *s, int64_t *grace) {
    struct prng *r = &g->r;
    *grace = pick(r, 1, 30);
    if (chance(r, 30))
        str_addf(s, ",\"sim.slipway.dev/start\":\"1s-%ds\"", (int)pick(r, 2, 6));
    if (chance(r, 20))
        str_addf(s, ",\"sim.slipway.dev/ready\":\"1s-%ds\"", (int)pick(r, 2, 8));
    if (chance(r, 30))
        str_addf(s, ",\"sim.slipway.dev/stop\":\"1s-%ds\"", (int)pick(r, 2, 20));
    else if (chance(r, 10))
        str_add(s, ",\"sim.slipway.dev/stop\":\"never\"");
    if (g->plan->benign)
        return;
    if (chance(r, 4))
        str_add(s, ",\"sim.slipway.dev/stop\":\"stuck\"");
    if (chance(r, 6))
        str_add(s, ",\"sim.slipway.dev/ready\":\"never\"");
    else if (chance(r, 5))
        str_add(s, ",\"sim.slipway.dev/run\":\"3s-9s\",\"sim.slipway.dev/exit\":\"1\"");
}

static void add_marks(struct gen *g, struct str *s) {
    if (g->plan->benign)
        return;
    if (chance(&g->r, 5))
        str_add(s, ",\"karpenter.sh/do-not-disrupt\":\"true\"");
    else if (chance(&g->r, 5))
        str_add(s, ",\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\"");
}

/* A pod's metadata (without name) and spec. */
static void add_template(struct gen *g, struct str *s, const char *app, const char *node,
                         const char *restart, bool volume) {
    struct prng *r = &g->r;
    int64_t grace;
    str_addf(s, "\"labels\":{\"app\":\"%s\"%s},\"annotations\":{\"x\":\"y\"", app,
             chance(r, 30) ? ",\"tier\":\"x\"" : "");
    add_pace(g, s, &grace);
    add_marks(g, s);
    str_addf(s, "}%s},\"spec\":{\"terminationGracePeriodSeconds\":%" PRId64,
             !g->plan->benign && chance(r, 8) ? ",\"finalizers\":[\"example.com/hold\"]" : "",
             grace);
    if (node)
        str_addf(s, ",\"nodeName\":\"%s\"", node);
    if (restart)
        str_addf(s, ",\"restartPolicy\":\"%s\"", restart);
    str_addf(s,
             ",\"containers\":[{\"name\":\"c\",\"image\":\"example.com/%s:1\",\"resources\":{"
             "\"requests\":{\"cpu\":\"10m\"}}%s}]",
             app, volume ? ",\"volumeMounts\":[{\"name\":\"data\",\"mountPath\":\"/d\"}]" : "");
    if (chance(r, 15))
        str_add(s, ",\"volumes\":[{\"name\":\"tmp\",\"emptyDir\":{}}]");
    str_add(s, "}");
}

static void add_budget(struct gen *g, const char *ns, const char *app, int replicas) {
    struct prng *r = &g->r;
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_free_ char *path = xasprintf("/apis/policy/v1/namespaces/%s/poddisruptionbudgets", ns);
    str_addf(&s, "{\"metadata\":{\"name\":\"%s-%d\"},\"spec\":{", app, (int)pick(r, 0, 9999));
    bool never = !g->plan->benign && chance(r, 15);
    switch (pick(r, 0, 3)) {
    case 0:
        str_addf(&s, "\"minAvailable\":%d", never ? replicas : (int)pick(r, 0, replicas - 1));
        break;
    case 1:
        /* Rounded up: of n pods, n - 1 of 100 percent are n. */
        str_addf(&s, "\"minAvailable\":\"%d%%\"",
                 never          ? 100
                 : replicas > 1 ? (int)pick(r, 0, 100 * (replicas - 1) / replicas)
                                : 0);
        break;
    case 2:
        str_addf(&s, "\"maxUnavailable\":%d", never ? 0 : (int)pick(r, 1, replicas));
        break;
    default:
        str_addf(&s, "\"maxUnavailable\":\"%d%%\"", never ? 0 : (int)pick(r, 1, 100));
        break;
    }
    if (chance(r, 25))
        str_addf(&s, ",\"unhealthyPodEvictionPolicy\":\"%s\"",
                 chance(r, 70) ? "AlwaysAllow" : "IfHealthyBudget");
    if (chance(r, 15))
        str_addf(&s,
                 ",\"selector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
                 "\"values\":[\"%s\",\"nobody\"]}]}",
                 app);
    else
        str_addf(&s, ",\"selector\":{\"matchLabels\":{\"app\":\"%s\"}}", app);
    str_add(&s, "}}");
    create(g->sim, path, &s);
}

static void add_replicated(struct gen *g, const char *ns, const char *app, bool stateful) {
    struct prng *r = &g->r;
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_free_ char *path =
        xasprintf("/apis/apps/v1/namespaces/%s/%s", ns, stateful ? "statefulsets" : "deployments");
    int replicas = chance(r, g->plan->surge ? 75 : 25) ? 1 : (int)pick(r, 2, stateful ? 4 : 7);
    bool volume = stateful && g->storage;
    str_addf(&s,
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"replicas\":%d,%s\"selector\":{"
             "\"matchLabels\":{\"app\":\"%s\"}},\"template\":{\"metadata\":{",
             app, replicas,
             !stateful       ? ""
             : chance(r, 50) ? "\"serviceName\":\"s\",\"podManagementPolicy\":\"Parallel\","
                             : "\"serviceName\":\"s\",",
             app);
    add_template(g, &s, app, NULL, NULL, volume);
    str_add(&s, "}");
    if (volume)
        str_add(&s, ",\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"},\"spec\":{"
                    "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":"
                    "\"1Gi\"}}}}]");
    str_add(&s, "}}");
    create(g->sim, path, &s);
    if (chance(r, 70))
        add_budget(g, ns, app, replicas);
    if (!g->plan->benign && chance(r, 5))
        add_budget(g, ns, app, replicas);
}

static void add_daemons(struct gen *g, const char *ns, const char *app) {
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_free_ char *path = xasprintf("/apis/apps/v1/namespaces/%s/daemonsets", ns);
    str_addf(&s,
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":"
             "\"%s\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"%s\"}},\"spec\":{"
             "\"tolerations\":[{\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"c\","
             "\"image\":\"example.com/ds:1\"}],\"volumes\":[{\"name\":\"e\",\"emptyDir\":{}}]}}}}",
             app, app, app);
    create(g->sim, path, &s);
    if (chance(&g->r, 10))
        add_budget(g, ns, app, 3);
}

static void add_job(struct gen *g, const char *ns, const char *app) {
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_free_ char *path = xasprintf("/apis/batch/v1/namespaces/%s/jobs", ns);
    int n = (int)pick(&g->r, 1, 3);
    str_addf(&s,
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"parallelism\":%d,\"completions\":%d,"
             "\"template\":{\"metadata\":{\"labels\":{\"app\":\"%s\"},\"annotations\":{"
             "\"sim.slipway.dev/run\":\"%ds-%ds\"}},\"spec\":{\"restartPolicy\":\"Never\","
             "\"containers\":[{\"name\":\"c\",\"image\":\"example.com/job:1\"}]}}}}",
             app, n, n + 1, app, (int)pick(&g->r, 1, 30), (int)pick(&g->r, 30, 200));
    create(g->sim, path, &s);
}

static void add_bare(struct gen *g, const char *ns, const char *app) {
    _cleanup_str_ struct str s = STR_INIT;
    _cleanup_free_ char *path = xasprintf("/api/v1/namespaces/%s/pods", ns);
    int n = (int)pick(&g->r, 1, 2);
    for (int i = 0; i < n; i++) {
        str_reset(&s);
        str_addf(&s, "{\"metadata\":{\"name\":\"%s-%d\",", app, i);
        char node[16];
        (void)snprintf(node, sizeof node, "w%d", (int)pick(&g->r, 1, g->plan->nodes));
        /* Some of them have finished. */
        add_template(g, &s, app, chance(&g->r, 60) ? node : NULL,
                     chance(&g->r, 30) ? "Never" : NULL, false);
        str_add(&s, "}");
        create(g->sim, path, &s);
    }
    /* What is gone does not come back: such a budget can stop a drain for ever. */
    if (!g->plan->benign && chance(&g->r, 20))
        add_budget(g, ns, app, n);
}

/* Of another group: OpenKruise has its own DaemonSets. */
static void add_foreign_daemon(struct gen *g) {
    _cleanup_str_ struct str s = STR_INIT;
    str_addf(&s,
             "{\"metadata\":{\"name\":\"kruise\",\"labels\":{\"app\":\"kruise\"},"
             "\"ownerReferences\":[{\"apiVersion\":\"apps.kruise.io/v1alpha1\",\"kind\":"
             "\"DaemonSet\",\"name\":\"k\",\"uid\":\"00000000-0000-4000-8000-000000000001\","
             "\"controller\":true}]},\"spec\":{\"nodeName\":\"%s\",\"tolerations\":[{\"operator\":"
             "\"Exists\"}],\"containers\":[{\"name\":\"c\",\"image\":\"example.com/k:1\"}]}}",
             g->plan->targets.p[0]);
    create(g->sim, "/api/v1/namespaces/c/pods", &s);
}

static void add_storage(struct gen *g) {
    struct str s = STR_INIT;
    str_addf(&s,
             "{\"metadata\":{\"name\":\"disk\",\"annotations\":{"
             "\"storageclass.kubernetes.io/is-default-class\":\"true\","
             "\"sim.slipway.dev/provision\":\"1s-2s\",\"sim.slipway.dev/attach\":\"1s-3s\","
             "\"sim.slipway.dev/detach\":\"%s\"}},\"provisioner\":\"disk.sim.slipway.dev\","
             "\"volumeBindingMode\":\"WaitForFirstConsumer\"}",
             !g->plan->benign && chance(&g->r, 10) ? "never" : "2s-15s");
    create(g->sim, "/apis/storage.k8s.io/v1/storageclasses", &s);
    str_done(&s);
    g->storage = true;
}

static void add_namespaces(struct gen *g) {
    for (size_t i = 0; i < ARRAY_LEN(plan_namespaces); i++) {
        struct str s = STR_INIT;
        str_addf(&s, "{\"metadata\":{\"name\":\"%s\"}}", plan_namespaces[i]);
        create(g->sim, "/api/v1/namespaces", &s);
        str_done(&s);
    }
    struct clock *clock = &sim_world(g->sim)->clock;
    clock_run(clock, clock->now + SEC(1)); /* their service accounts */
}

/* A namespace that was deleted and cannot end, because its pods have finalizers or stop slowly. */
static void add_terminating(struct gen *g) {
    (void)cluster_ask(g->sim, "DELETE", "/api/v1/namespaces/b", NULL);
}

struct sim *cluster_gen(uint64_t seed, struct plan *plan) {
    plan_draw(seed, plan);
    struct gen g = {
        .r = {seed * 0xd1342543de82ef95u + 7},
        .plan = plan,
        .sim = sim_new(&(struct sim_options){.seed = seed, .start = START, .speed = 1}),
    };
    add_nodes(&g);
    add_namespaces(&g);
    add_static_pods(&g);
    if (chance(&g.r, 25) && !plan->max_zones) /* volumes stay in their zone */
        add_storage(&g);
    int n = (int)pick(&g.r, 2, 9);
    for (int i = 0; i < n; i++) {
        char app[16];
        (void)snprintf(app, sizeof app, "app-%d", i);
        const char *ns = one_of(&g.r, plan_namespaces);
        int what = (int)pick(&g.r, 0, 99);
        if (what < 50)
            add_replicated(&g, ns, app, false);
        else if (what < 68)
            add_replicated(&g, ns, app, true);
        else if (what < 80)
            add_daemons(&g, ns, app);
        else if (what < 88)
            add_job(&g, ns, app);
        else
            add_bare(&g, ns, app);
    }
    if (chance(&g.r, 5))
        add_foreign_daemon(&g);
    (void)sim_settle(g.sim, SEC(120));
    if (!plan->benign && chance(&g.r, 10))
        add_terminating(&g);
    return g.sim;
}
