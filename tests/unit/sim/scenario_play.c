/* Playing scenarios: nodes, copies, mistakes that only the API sees, events at their times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/fleet/fleet.h"
#include "sim/fleet/workload.h"
#include "sim/scenario_internal.h"

#include <cmocka.h>

#define START INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

struct play {
    struct scenario *scenario;
    struct sim *sim;
    struct fleet *f;
    struct clock *clock;
    VEC(char *) troubles;
};

static void play_done(struct play *p) {
    scenario_stop(p->scenario);
    sim_free(p->sim);
    scenario_free(p->scenario);
    for (size_t i = 0; i < p->troubles.len; i++)
        free(p->troubles.p[i]);
    vec_done(&p->troubles);
}
#define _cleanup_play_ __attribute__((cleanup(play_done)))

/* Up to scenario_begin(), whose result it returns. */
static int try_begin(struct play *p, const char *text, size_t nodes, struct err *err) {
    *p = (struct play){0};
    if (scenario_parse("f.yaml", text, strlen(text), &p->scenario, err))
        fail_msg("%s", err_msg(err));
    p->sim = sim_new(&(struct sim_options){.seed = 5, .start = START, .speed = 1});
    p->f = sim_fleet(p->sim);
    p->clock = &sim_world(p->sim)->clock;
    return scenario_begin(p->scenario, p->sim, nodes, err);
}

static void begin(struct play *p, const char *text, size_t nodes) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (try_begin(p, text, nodes, &err))
        fail_msg("%s", err_msg(&err));
}

static void trouble(void *arg, const char *text) {
    struct play *p = arg;
    *vec_push(&p->troubles) = xstrdup(text);
}

static void pass(struct play *p, int64_t usec) {
    clock_run(p->clock, p->clock->now + usec);
}

static const struct node *node(const struct play *p, const char *name) {
    const struct record *r = shelf_get(p->f->nodes->shelf, NULL, name);
    return r ? record_as(node, r) : NULL;
}

static const char *boot_of(const struct play *p, const char *name) {
    return machine_find(p->f, name)->boot_id;
}

static json_t *object(struct resource *res, const char *ns, const char *name) {
    const struct record *r = shelf_get(res->shelf, ns, name);
    assert_non_null(r);
    return record_json(r);
}

static struct resource *config_maps(const struct play *p) {
    return api_resource(p->f->api, "", "v1", "configmaps");
}

/* --- nodes --- */

static void test_nodes(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes:\n"
          "- {name: 'n[08-10]-x', roles: [worker, fast], labels: {a: b}, region: r}\n"
          "- name: w\n"
          "  count: 4\n"
          "  zones: [a, b, c]\n"
          "  cpu: 4\n"
          "  memory: 8Gi\n"
          "  pods: 20\n"
          "  storage: 7Gi\n"
          "  annotations: {sim.slipway.dev/boot: 7s}\n"
          "  taints: [{key: k, value: v, effect: NoSchedule}]\n"
          "  unschedulable: true\n",
          0);
    assert_int_equal(sim_node_count(p.sim), 7);
    static const char *const names[] = {"n08-x", "n09-x", "n10-x", "w1", "w2", "w3", "w4"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct node *n = node(&p, names[i]);
        assert_non_null(n);
        assert_string_equal(map_get(n->meta.labels, "kubernetes.io/hostname"), names[i]);
        const struct node_condition *ready = node_condition_find(n->conditions, "Ready");
        assert_true(ready && str_same(ready->c.status, "True"));
    }
    const struct pair *labels = node(&p, "n08-x")->meta.labels;
    assert_true(map_has(labels, "node-role.kubernetes.io/worker"));
    assert_true(map_has(labels, "node-role.kubernetes.io/fast"));
    assert_string_equal(map_get(labels, "topology.kubernetes.io/region"), "r");
    assert_string_equal(map_get(labels, "a"), "b");
    assert_false(map_has(labels, "topology.kubernetes.io/zone"));
    static const char *const zones[] = {"a", "b", "c", "a"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(
            map_get(node(&p, names[3 + i])->meta.labels, "topology.kubernetes.io/zone"), zones[i]);
    _cleanup_json_ json_t *w = object(p.f->nodes, NULL, "w1");
    const json_t *status = json_object_get(w, "status"), *spec = json_object_get(w, "spec");
    static const char *const sums[] = {"capacity", "allocatable"};
    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        const json_t *sum = json_object_get(status, sums[i]);
        assert_string_equal(json_str(sum, "cpu"), "4");
        assert_string_equal(json_str(sum, "memory"), "8Gi");
        assert_string_equal(json_str(sum, "pods"), "20");
        assert_string_equal(json_str(sum, "ephemeral-storage"), "7Gi");
    }
    assert_true(json_is_true(json_object_get(spec, "unschedulable")));
    assert_string_equal(json_str(json_array_get(json_object_get(spec, "taints"), 0), "key"), "k");
    assert_string_equal(map_get(node(&p, "w1")->meta.annotations, "sim.slipway.dev/boot"), "7s");
}

/* --nodes is the size of the first group, or of the one that says so; and goes on beyond the
 * brackets. */
static void test_count(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t nodes, want;
        const char *last;
    } rows[] = {
        {"description: a\nnodes: [{name: a, count: 2}, {name: b, count: 3}]\n", 0, 5, "b3"},
        {"description: a\nnodes: [{name: a, count: 2}, {name: b, count: 3}]\n", 7, 10, "a7"},
        {"description: a\nnodes: [{name: a, count: 2}, {name: b, count: 3, default: true}]\n", 7, 9,
         "b7"},
        {"description: a\nnodes: [{name: 'a[9-10]'}]\n", 0, 2, "a10"},
        {"description: a\nnodes: [{name: 'a[09-10]'}]\n", 120, 120, "a128"},
        {"description: a\nnodes: [{name: a, count: 0}]\n", 0, 0, NULL},
        {"description: a\nnodes: [{name: a, count: 0}]\n", 1, 1, "a1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_play_ struct play p;
        begin(&p, rows[i].text, rows[i].nodes);
        assert_int_equal(sim_node_count(p.sim), rows[i].want);
        assert_true(!rows[i].last || node(&p, rows[i].last));
    }
}

static void test_static_pods(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(
        &p,
        "description: a\n"
        "nodes:\n"
        "- name: cp\n"
        "  count: 2\n"
        "  staticPods:\n"
        "  - {metadata: {name: etcd, namespace: kube-system}, spec: {containers: [{name: c, image: "
        "i}]}}\n"
        "- {name: w}\n",
        0);
    assert_int_equal(shelf_len(p.f->pods->shelf), 2);
    for (int i = 1; i <= 2; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "etcd-cp%d", i);
        const struct record *r = shelf_get(p.f->pods->shelf, "kube-system", name);
        assert_non_null(r);
        assert_true(pod_ready(record_as(pod, r)));
    }
}

/* --- objects --- */

static void test_objects(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes: [{name: w, count: 5}]\n"
          "objects:\n"
          "- {apiVersion: v1, kind: Namespace, metadata: {name: 'team-{n}'}, copies: nodes/2}\n"
          "- apiVersion: v1\n"
          "  kind: ConfigMap\n"
          "  copies: nodes/2\n"
          "  metadata: {name: c, namespace: 'team-{n}', labels: {n: 'a{n}b{n}'}}\n"
          "  data: {plain: 'n', one: '{n}'}\n"
          "- {apiVersion: v1, kind: ConfigMap, metadata: {name: here}}\n"
          "- apiVersion: apiextensions.k8s.io/v1\n"
          "  kind: CustomResourceDefinition\n"
          "  metadata: {name: ships.example.com}\n"
          "  spec:\n"
          "    group: example.com\n"
          "    scope: Cluster\n"
          "    names: {plural: ships, singular: ship, kind: Ship, listKind: ShipList}\n"
          "    versions:\n"
          "    - name: v1\n"
          "      served: true\n"
          "      storage: true\n"
          "      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, "
          "properties: {mast: {type: integer}}}}}}\n"
          "- {apiVersion: example.com/v1, kind: Ship, metadata: {name: 's{n}'}, spec: {mast: 3}, "
          "copies: 2}\n"
          "- apiVersion: apps/v1\n"
          "  kind: Deployment\n"
          "  metadata: {name: web}\n"
          "  spec:\n"
          "    replicas: 4\n"
          "    selector: {matchLabels: {app: web}}\n"
          "    template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "
          "i}]}}\n",
          0);
    for (int i = 1; i <= 3; i++) {
        char ns[16], twice[16], one[2] = {(char)('0' + i), 0};
        (void)snprintf(ns, sizeof ns, "team-%d", i);
        (void)snprintf(twice, sizeof twice, "a%db%d", i, i);
        _cleanup_json_ json_t *c = object(config_maps(&p), ns, "c");
        const json_t *labels = json_object_get(json_object_get(c, "metadata"), "labels");
        assert_string_equal(json_str(labels, "n"), twice);
        assert_string_equal(json_str(json_object_get(c, "data"), "one"), one);
        assert_string_equal(json_str(json_object_get(c, "data"), "plain"), "n");
        assert_null(json_object_get(c, "copies"));
    }
    assert_null(shelf_get(p.f->namespaces->shelf, NULL, "team-4"));
    assert_non_null(shelf_get(config_maps(&p)->shelf, "default", "here"));
    const struct resource *ships = api_resource(p.f->api, "example.com", "v1", "ships");
    assert_non_null(shelf_get(ships->shelf, NULL, "s2"));
    assert_null(shelf_get(ships->shelf, NULL, "s3"));
    /* It came to rest. */
    _cleanup_json_ json_t *web = object(p.f->deployments, "default", "web");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(web, "status"), "readyReplicas")), 4);
}

/* A status in the file is taken over, where nobody else would write it. */
static void test_status(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "objects:\n"
          "- apiVersion: v1\n"
          "  kind: Node\n"
          "  metadata: {name: ghost}\n"
          "  status: {nodeInfo: {bootID: abc, machineID: '', systemUUID: '', kernelVersion: '', "
          "osImage: '', containerRuntimeVersion: '', kubeletVersion: '', kubeProxyVersion: '', "
          "operatingSystem: '', architecture: ''}}\n",
          0);
    _cleanup_json_ json_t *n = object(p.f->nodes, NULL, "ghost");
    const json_t *info = json_object_get(json_object_get(n, "status"), "nodeInfo");
    assert_string_equal(json_str(info, "bootID"), "abc");
}

/* --- mistakes that only show when it begins --- */

/* The same in an event; what the API refuses there is refused. */
static void test_status_later(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\nnodes: [{name: w}]\nevents:\n"
          "- {after: 1s, apply: {apiVersion: v1, kind: Node, metadata: {name: w1}, status: "
          "{phase: Running}}}\n"
          "- {after: 2s, apply: {apiVersion: v1, kind: Node, metadata: {name: w1}, status: "
          "{phase: Terminated, addresses: [&a {type: Hostname, address: w}, *a]}}}\n",
          0);
    scenario_play(p.scenario, trouble, &p);
    pass(&p, SEC(10));
    _cleanup_json_ json_t *n = object(p.f->nodes, NULL, "w1");
    assert_string_equal(json_str(json_object_get(n, "status"), "phase"), "Running");
    assert_int_equal(p.troubles.len, 1);
    assert_true(str_starts(p.troubles.p[0], "f.yaml:5:"));
    assert_non_null(strstr(p.troubles.p[0], ": Node \"w1\" was refused: "));
}

/* However much of it there is. */
static void test_status_large(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT;
    str_add(&text,
            "description: a\nnodes: [{name: w}]\nevents:\n"
            "- {after: 3s, apply: {apiVersion: v1, kind: Node, metadata: {name: w1}, status: "
            "{conditions: [");
    for (int i = 0; i < 300000; i++)
        str_addf(&text, "%s{type: a%d, status: x}", i ? "," : "", i);
    str_add(&text, "]}}}\n");
    _cleanup_play_ struct play p;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_not_equal(try_begin(&p, str_get(&text), 0, &err), 0);
    assert_true(str_starts(err_msg(&err), "f.yaml:4:3: Node \"w1\" was refused: "));
}

#define DOGS                                                                                       \
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "      \
    "dogs.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: dogs, "      \
    "kind: "                                                                                       \
    "Dog}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "   \
    "object, properties: {spec: {type: object, properties: {name: {type: string}}}}}}}]}}"

static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t nodes;
        const char *says;
    } bad[] = {
        {"description: a\n", 3, "f.yaml:1:1: the scenario has no group of nodes"},
        {"description: a\nnodes:\n- {name: v}\n- {name: W}\n", 0,
         "f.yaml:4:3: node \"W1\" was refused: Node \"W1\" is invalid: metadata.name: "},
        {"description: a\nnodes:\n- {name: w}\n- {name: w}\n", 0,
         "f.yaml:4:3: node \"w1\" was refused: nodes \"w1\" already exists"},
        {"description: a\nnodes:\n- {name: w, memory: lots}\n", 0,
         "f.yaml:3:3: node \"w1\" was refused: "},
        {"description: a\nnodes:\n- {name: w, labels: {a: true}}\n", 0,
         "f.yaml:3:3: node \"w1\" was refused: "},
        {"description: a\nnodes:\n- name: w\n  staticPods:\n  - metadata: {name: p}\n    spec:\n"
         "      containers:\n      - image: i\n",
         0, "f.yaml:8:9: static pod \"p\" was refused: "},
        {"description: a\nnodes:\n- name: w\n  staticPods: [x]\n", 0,
         "f.yaml:4:16: a static pod must be a mapping"},
        {"description: a\nnodes:\n- name: w\n  staticPods: [{spec: {}}]\n", 0,
         "f.yaml:4:16: the static pod has no metadata.name"},
        {"description: a\nnodes:\n- name: w\n  staticPods:\n  - metadata: {name: p}\n    spec:\n"
         "      contaners: []\n",
         0, "f.yaml:7:7: unknown field \"spec.contaners\" in Pod \"p\""},
        {"description: a\nobjects:\n- {apiVersion: v1, kind: Pood, metadata: {name: a}}\n", 0,
         "f.yaml:3:20: there is no kind \"Pood\" in \"v1\""},
        {"description: a\nobjects:\n- {apiVersion: apps/v1, kind: Pod, metadata: {name: a}}\n", 0,
         "f.yaml:3:25: there is no kind \"Pod\" in \"apps/v1\""},
        {"description: a\nobjects:\n- {apiVersion: authorization.k8s.io/v1, kind: "
         "SelfSubjectAccessReview, metadata: {name: a}}\n",
         0, "f.yaml:3:41: there is no kind \"SelfSubjectAccessReview\""},
        {"description: a\nobjects:\n- apiVersion: apps/v1\n  kind: Deployment\n"
         "  metadata: {name: a}\n  spec:\n    replcas: 3\n",
         0, "f.yaml:7:5: unknown field \"spec.replcas\" in Deployment \"a\""},
        {"description: a\nobjects:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n"
         "    containers:\n    - {name: a, image: i}\n    - {name: A, image: i}\n",
         0,
         "f.yaml:9:8: Pod \"a\" was refused: Pod \"a\" is invalid: spec.containers[1].name: "
         "Invalid "
         "value: \"A\": "},
        {"description: a\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n"
         "    name: a\n    labels:\n      example.com/a.b: ok\n      example.com/a: 'not ok'\n",
         0, "f.yaml:7:5: ConfigMap \"a\" was refused: "},
        {"description: a\nobjects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: "
         "7}\n",
         0, "f.yaml:3:3: ConfigMap \"a\" was refused: "},
        {"description: a\nobjects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, "
         "namespace: no}}\n",
         0, "f.yaml:3:3: ConfigMap \"a\" was refused: namespaces \"no\" not found"},
        {"description: a\nobjects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, "
         "copies: "
         "2}\n",
         0, "f.yaml:3:3: ConfigMap \"a\" was refused: configmaps \"a\" already exists"},
        {"description: a\nnodes: [{name: w, count: 3}]\nevents:\n- after: 1s\n  node: w33\n"
         "  do: reboot\n",
         0, "f.yaml:5:9: \"w33\" is no valid node here; did you mean \"w3\"?"},
        {"description: a\nnodes: [{name: w, count: 3}]\nevents:\n- after: 1s\n  node: w3\n"
         "  do: reboot\n",
         2, "f.yaml:5:9: \"w3\" is no valid node here; did you mean \"w1\"?"},
        {"description: a\nevents:\n- {after: 4h, delete: {kind: Nonsense, name: nobody}}\n", 0,
         "f.yaml:3:24: there is no kind \"Nonsense\" in \"v1\""},
        {"description: a\nevents:\n- {after: 5h, apply: {apiVersion: v2, kind: Pod, metadata: "
         "{name: a}}}\n",
         0, "f.yaml:3:39: there is no kind \"Pod\" in \"v2\""},
        {"description: a\nevents:\n- after: 5h\n  apply:\n    apiVersion: apps/v1\n"
         "    kind: Deployment\n    metadata: {name: a}\n    spec:\n      replcas: 3\n",
         0, "f.yaml:9:7: unknown field \"spec.replcas\" in Deployment \"a\""},
        {"description: a\nevents:\n- {after: 5h, apply: {apiVersion: v1, kind: ConfigMap, "
         "metadata: {name: a}, data: 7}}\n",
         0, "f.yaml:3:3: ConfigMap \"a\" was refused: "},
        {"description: a\nnodes: [{name: w}]\nevents:\n- {after: 2s, apply: {apiVersion: v1, kind: "
         "Node, metadata: {name: w1}, status: {phase: 7}}}\n",
         0, "f.yaml:4:3: Node \"w1\" was refused: "},
        /* its definition comes too late, or is of another version */
        {"description: a\nevents:\n"
         "- {after: 1h, apply: {apiVersion: example.com/v1, kind: Dog, metadata: {name: a}}}\n"
         "- {after: 2h, apply: " DOGS "}\n",
         0, "f.yaml:3:51: there is no kind \"Dog\" in \"example.com/v1\""},
        {"description: a\nevents:\n"
         "- {after: 1h, apply: " DOGS "}\n"
         "- {after: 2h, delete: {apiVersion: example.com/v2, kind: Dog, name: a}}\n",
         0, "f.yaml:4:52: there is no kind \"Dog\" in \"example.com/v2\""},
        {"description: a\nobjects:\n- " DOGS "\nevents:\n"
         "- {after: 1h, apply: {apiVersion: example.com/v1, kind: Dog, metadata: {name: a}, spec: "
         "{nmae: x}}}\n",
         0, "f.yaml:5:90: unknown field \"spec.nmae\" in Dog \"a\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_play_ struct play p;
        _cleanup_err_ struct err err = ERR_INIT;
        if (!try_begin(&p, bad[i].text, bad[i].nodes, &err))
            fail_msg("this was taken:\n%s", bad[i].text);
        if (!str_starts(err_msg(&err), bad[i].says))
            fail_msg("of\n%s\"%s\" was said, not \"%s\"", bad[i].text, err_msg(&err), bad[i].says);
    }
}

/* --- events --- */

static const char six[] = "description: a\n"
                          "nodes: [{name: w, count: 3, annotations: {sim.slipway.dev/boot: 10s}}]\n"
                          "events:\n"
                          "- {after: 30s, node: w1, do: reboot}\n"
                          "- {after: 60s, node: w2, do: 'off'}\n"
                          "- {after: 90s, node: w2, do: 'on'}\n"
                          "- {after: 120s, node: w3, do: hang}\n";

/* On the jumping clock, to the microsecond; and not before they are asked for. */
static void test_machines(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p, six, 0);
    pass(&p, SEC(600)); /* until somebody comes */
    _cleanup_free_ char *boot1 = xstrdup(boot_of(&p, "w1")), *boot2 = xstrdup(boot_of(&p, "w2")),
                        *boot3 = xstrdup(boot_of(&p, "w3"));
    assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_UP);
    scenario_play(p.scenario, trouble, &p);
    int64_t zero = p.clock->now;
    clock_run(p.clock, zero + SEC(30) - 1);
    assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_UP);
    clock_run(p.clock, zero + SEC(30));
    assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_DOWN);
    clock_run(p.clock, zero + SEC(40));
    assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_UP);
    assert_string_not_equal(boot_of(&p, "w1"), boot1);
    clock_run(p.clock, zero + SEC(60) - 1);
    assert_int_equal(machine_find(p.f, "w2")->state, MACHINE_UP);
    clock_run(p.clock, zero + SEC(60));
    assert_int_equal(machine_find(p.f, "w2")->state, MACHINE_DOWN);
    clock_run(p.clock, zero + SEC(90));
    assert_int_equal(machine_find(p.f, "w2")->state, MACHINE_UP);
    assert_string_not_equal(boot_of(&p, "w2"), boot2);
    clock_run(p.clock, zero + SEC(120) - 1);
    assert_int_equal(machine_find(p.f, "w3")->state, MACHINE_UP);
    clock_run(p.clock, zero + SEC(86400));
    assert_int_equal(machine_find(p.f, "w3")->state, MACHINE_HUNG);
    assert_string_equal(boot_of(&p, "w3"), boot3);
    assert_int_equal(p.troubles.len, 0);
}

static void test_stop(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p, six, 0);
    scenario_play(p.scenario, trouble, &p);
    pass(&p, SEC(29));
    scenario_stop(p.scenario);
    pass(&p, SEC(600));
    for (int i = 1; i <= 3; i++) {
        char name[] = {'w', (char)('0' + i), 0};
        assert_int_equal(machine_find(p.f, name)->state, MACHINE_UP);
    }
}

/* Again and again, counted from the first time. */
static void test_every(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes: [{name: w, count: 2}]\n"
          "events:\n"
          "- {after: 10s, every: 1m, node: w1, do: hang}\n"
          "- {after: 40s, every: 1m, node: w1, do: 'on'}\n",
          0);
    scenario_play(p.scenario, NULL, NULL);
    int64_t zero = p.clock->now;
    for (int i = 0; i < 50; i++) {
        clock_run(p.clock, zero + SEC(60 * i + 10) - 1);
        assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_UP);
        clock_run(p.clock, zero + SEC(60 * i + 10));
        assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_HUNG);
        clock_run(p.clock, zero + SEC(60 * i + 40));
        assert_int_equal(machine_find(p.f, "w1")->state, MACHINE_UP);
    }
    assert_int_equal(machine_find(p.f, "w2")->state, MACHINE_UP);
}

/* `any` is one of them, by chance, and not always the same. */
static void test_any(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes: [{name: w, count: 8}]\n"
          "events: [{after: 1s, every: 1s, node: any, do: 'off'}]\n",
          0);
    scenario_play(p.scenario, NULL, NULL);
    size_t down = 0;
    for (int turn = 1; turn <= 200; turn++) {
        pass(&p, SEC(1));
        size_t now = 0;
        for (int i = 1; i <= 8; i++) {
            char name[] = {'w', (char)('0' + i), 0};
            now += machine_find(p.f, name)->state == MACHINE_DOWN;
        }
        assert_true(now >= down && now <= down + 1 && now >= 1);
        down = now;
    }
    assert_int_equal(down, 8);
}

static void test_delete_and_apply(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes: [{name: w}]\n"
          "objects:\n"
          "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {keep: me}}, data: {x: "
          "'1', y: '2'}}\n"
          "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
          "events:\n"
          "- {after: 10s, delete: {kind: ConfigMap, name: b}}\n"
          "- {after: 20s, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "
          "'9', y: null}}}\n"
          "- {after: 30s, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: "
          "kube-system}}}\n"
          "- {after: 40s, apply: {apiVersion: v1, kind: Node, metadata: {name: w1}, spec: "
          "{unschedulable: true}}}\n"
          "- {after: 50s, delete: {apiVersion: coordination.k8s.io/v1, kind: Lease, namespace: "
          "kube-node-lease, name: w1}}\n",
          0);
    scenario_play(p.scenario, trouble, &p);
    pass(&p, SEC(9));
    assert_non_null(shelf_get(config_maps(&p)->shelf, "default", "b"));
    pass(&p, SEC(1));
    assert_null(shelf_get(config_maps(&p)->shelf, "default", "b"));
    pass(&p, SEC(10));
    _cleanup_json_ json_t *a = object(config_maps(&p), "default", "a");
    _cleanup_json_ json_t *data = json_pack("{s:s}", "x", "9");
    assert_true(json_equal(json_object_get(a, "data"), data));
    assert_string_equal(json_str(json_object_get(json_object_get(a, "metadata"), "labels"), "keep"),
                        "me");
    assert_null(shelf_get(config_maps(&p)->shelf, "kube-system", "c"));
    pass(&p, SEC(10));
    assert_non_null(shelf_get(config_maps(&p)->shelf, "kube-system", "c"));
    pass(&p, SEC(10));
    assert_true(node(&p, "w1")->unschedulable);
    assert_true(map_has(node(&p, "w1")->meta.labels, "kubernetes.io/hostname"));
    uint64_t version = shelf_get(p.f->leases->shelf, "kube-node-lease", "w1")->version;
    pass(&p, SEC(10));
    const struct record *lease = shelf_get(p.f->leases->shelf, "kube-node-lease", "w1");
    assert_true(!lease || lease->version != version);
    assert_int_equal(p.troubles.len, 0);
}

/* Kinds that are defined when their turn comes are none to complain about before. */
static void test_custom_kinds(void **state) {
    (void)state;
    static const char *const texts[] = {
        "description: a\n"
        "objects:\n"
        "- " DOGS "\n"
        "events:\n"
        "- {after: 20s, apply: {apiVersion: example.com/v1, kind: Dog, metadata: {name: a}}}\n"
        "- {after: 40s, delete: {apiVersion: example.com/v1, kind: Dog, name: a}}\n",
        "description: a\n"
        "events:\n"
        "- {after: 20s, apply: {apiVersion: example.com/v1, kind: Dog, metadata: {name: a}}}\n"
        "- {after: 40s, delete: {apiVersion: example.com/v1, kind: Dog, name: a}}\n"
        "- {after: 10s, apply: " DOGS "}\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        _cleanup_play_ struct play p;
        begin(&p, texts[i], 0);
        scenario_play(p.scenario, trouble, &p);
        pass(&p, SEC(30));
        const struct resource *dogs = api_resource(p.f->api, "example.com", "v1", "dogs");
        assert_non_null(dogs);
        assert_non_null(shelf_get(dogs->shelf, "default", "a"));
        pass(&p, SEC(30));
        assert_null(shelf_get(dogs->shelf, "default", "a"));
        assert_int_equal(p.troubles.len, 0);
    }
}

/* What cannot happen is said, with the place of the event, and nothing breaks. */
static void test_troubles(void **state) {
    (void)state;
    _cleanup_play_ struct play p;
    begin(&p,
          "description: a\n"
          "nodes: [{name: w, count: 2}]\n"
          "events:\n"
          "- {after: 1s, delete: {kind: Node, name: w1}}\n"
          "- {after: 2s, node: w1, do: reboot}\n"
          "- {after: 3s, delete: {kind: Pod, name: nobody}}\n"
          "- after: 6s\n"
          "  apply:\n"
          "    apiVersion: v1\n"
          "    kind: Pod\n"
          "    metadata: {name: a}\n"
          "    spec: {containers: []}\n"
          "- {after: 7s, apply: {apiVersion: v1, kind: Node, metadata: {name: w2}, spec: {taints: "
          "[{key: '!', effect: NoSchedule}]}}}\n",
          0);
    scenario_play(p.scenario, trouble, &p);
    pass(&p, SEC(60));
    static const char *const says[] = {
        "f.yaml:5:3: nothing happens to node \"w1\": it is gone",
        "f.yaml:6:3: Pod \"nobody\" could not be deleted: there is none",
        "f.yaml:12:12: Pod \"a\" was refused: Pod \"a\" is invalid: spec.containers: ",
        "f.yaml:13:51: Node \"w2\" was refused: Node \"w2\" is invalid: metadata.taints[0].key: ",
    };
    for (size_t i = 0; i < p.troubles.len && i < ARRAY_LEN(says); i++)
        if (!str_starts(p.troubles.p[i], says[i]))
            fail_msg("\"%s\", not \"%s\"", p.troubles.p[i], says[i]);
    assert_int_equal(p.troubles.len, ARRAY_LEN(says));
}

/* --- all of it --- */

static void gather(void *arg, const struct kind *kind, const struct change *c) {
    struct str *log = arg;
    str_addf(log, "%s %d %lld ", kind->name, (int)c->type, (long long)c->time);
    str_addn(log, c->after->json, c->after->len);
    str_addc(log, '\n');
}

static void record_run(const char *name, uint64_t seed, struct str *log) {
    struct scenario *s;
    _cleanup_err_ struct err err = ERR_INIT;
    if (scenario_load(name, &s, &err))
        fail_msg("%s", err_msg(&err));
    struct sim *sim = sim_new(&(struct sim_options){.seed = seed, .start = START, .speed = 1});
    struct world *w = sim_world(sim);
    w->log = gather;
    w->log_arg = log;
    /* The large one is as good when it is small. */
    if (scenario_begin(s, sim, streq(name, "big") ? 10 : 0, &err))
        fail_msg("%s", err_msg(&err));
    scenario_play(s, NULL, NULL);
    clock_run(&w->clock, w->clock.now + SEC(200));
    scenario_stop(s);
    sim_free(sim);
    scenario_free(s);
}

static bool same(const struct str *a, const struct str *b) {
    return view_eq((struct view){str_get(a), a->len}, (struct view){str_get(b), b->len});
}

/* Each of the built-in ones begins, comes to life, and is the same to the byte in a second run. */
static void test_built_in(void **state) {
    (void)state;
    for (size_t i = 0; i < scenario_n_rows; i++) {
        _cleanup_str_ struct str first = STR_INIT, second = STR_INIT, other = STR_INIT;
        const char *name = scenario_rows[i].name;
        record_run(name, 1, &first);
        record_run(name, 1, &second);
        if (!same(&first, &second))
            fail_msg("two runs of %s with the same seed differ", name);
        record_run(name, 2, &other);
        /* Where nothing happens there is no chance. */
        if (first.len && same(&first, &other))
            fail_msg("%s is the same with another seed", name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_static_pods),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_status_later),
        cmocka_unit_test(test_status_large),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_every),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_delete_and_apply),
        cmocka_unit_test(test_custom_kinds),
        cmocka_unit_test(test_troubles),
        cmocka_unit_test(test_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
