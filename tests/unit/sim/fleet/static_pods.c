/* Static pods: names, annotations, owners and tolerations are those of pkg/kubelet's
 * config/common.go (applyDefaults) and pod/mirror_client.go (CreateMirrorPod); what becomes of a
 * deleted mirror is tryReconcileMirrorPods() of kubelet.go. */
#include "storage_cluster.h"

#include "sim/fleet/static_pods.h"

static const char etcd[] =
    "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'etcd', 'namespace': 'kube-system', "
    "'labels': {'component': 'etcd'}}, 'spec': {'hostNetwork': true, 'priorityClassName': "
    "'system-node-critical', 'containers': [{'name': 'etcd', 'image': 'i'}]}}";

static json_t *parse(const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *v = json_loads(copy, 0, NULL);
    assert_non_null(v);
    return v;
}

static void put_file(struct cluster *c, const char *node, const char *text) {
    _cleanup_json_ json_t *pod = parse(text);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    if (!machine_add_static_pod(machine_find(c->f, node), pod, &failure))
        fail_msg("%s", strna(failure.message));
}

static struct record *mirror(const struct cluster *c, const char *name) {
    return shelf_get(c->f->pods->shelf, "kube-system", name);
}

static const struct pod *mirror_pod(const struct cluster *c, const char *name) {
    const struct record *r = mirror(c, name);
    return r ? record_as(pod, r) : NULL;
}

static bool runs(const struct cluster *c, const char *name) {
    const struct pod *pod = mirror_pod(c, name);
    return pod && pod_ready(pod);
}

/* Two nodes, and etcd on the first one, ready. */
static void begin(struct cluster *c) {
    make_nodes(c, 2);
    put_file(c, "w1", etcd);
    assert_true(WITHIN(c, SEC(5), runs(c, "etcd-w1")));
}

static bool another(const struct cluster *c, const char *name, const char *uid) {
    const struct pod *pod = mirror_pod(c, name);
    return pod && !str_same(pod->meta.uid, uid) && pod_ready(pod);
}

static char *uid_of(const struct cluster *c, const char *name) {
    return xstrdup(mirror(c, name)->obj->meta.uid);
}

static char *started_at(const struct cluster *c, const char *name) {
    _cleanup_json_ json_t *obj = record_json(mirror(c, name));
    const json_t *list = json_object_get(json_object_get(obj, "status"), "containerStatuses");
    const json_t *state = json_object_get(json_array_get(list, 0), "state");
    return xstrdup(strna(json_str(json_object_get(state, "running"), "startedAt")));
}

static int64_t restarts(const struct cluster *c, const char *name) {
    _cleanup_json_ json_t *obj = record_json(mirror(c, name));
    const json_t *list = json_object_get(json_object_get(obj, "status"), "containerStatuses");
    return json_integer_value(json_object_get(json_array_get(list, 0), "restartCount"));
}

static void test_mirror(void **state) {
    struct cluster *c = *state;
    begin(c);
    const struct pod *pod = mirror_pod(c, "etcd-w1");
    const struct pair *a = pod->meta.annotations;
    assert_string_equal(map_get(a, "kubernetes.io/config.source"), "file");
    const char *hash = map_get(a, "kubernetes.io/config.hash");
    assert_int_equal(strspn(hash, "0123456789abcdef"), 32);
    assert_int_equal(strlen(hash), 32);
    assert_string_equal(map_get(a, "kubernetes.io/config.mirror"), hash);
    int64_t seen;
    const char *text = map_get(a, "kubernetes.io/config.seen");
    assert_true(time_parse(text, strlen(text), &seen));
    assert_true(seen >= START && seen <= c->clock->now);
    assert_string_equal(pod->node_name, "w1");
    assert_string_equal(map_get(pod->meta.labels, "component"), "etcd");
    _cleanup_json_ json_t *obj = record_json(mirror(c, "etcd-w1"));
    _cleanup_json_ json_t *owners =
        json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "v1", "kind", "Node", "name", "w1",
                  "uid", node_of(c, "w1")->meta.uid, "controller", 1);
    assert_true(
        json_equal(json_object_get(json_object_get(obj, "metadata"), "ownerReferences"), owners));
    _cleanup_json_ json_t *tolerations =
        json_pack("[{s:s, s:s}]", "operator", "Exists", "effect", "NoExecute");
    const json_t *spec = json_object_get(obj, "spec");
    assert_true(json_equal(json_object_get(spec, "tolerations"), tolerations));
    /* Nothing that a static pod must not have. */
    assert_null(json_object_get(spec, "serviceAccountName"));
    /* The other node has none. */
    assert_null(mirror(c, "etcd-w2"));
    put_file(c, "w2", etcd);
    assert_string_not_equal(
        map_get(mirror_pod(c, "etcd-w2")->meta.annotations, "kubernetes.io/config.hash"),
        map_get(mirror_pod(c, "etcd-w1")->meta.annotations, "kubernetes.io/config.hash"));
}

/* The mirror goes at once and comes back at once; the containers never knew. */
static void test_deleted(void **state) {
    struct cluster *c = *state;
    begin(c);
    cluster_run(c, SEC(60));
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1"), *since = started_at(c, "etcd-w1");
    assert_int_equal(strlen(since), strlen("2026-11-15T08:00:07Z"));
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", ABSENT64);
    assert_non_null(mirror_pod(c, "etcd-w1")->meta.deleted ? c : NULL);
    assert_true(WITHIN(c, SEC(1), another(c, "etcd-w1", uid)));
    _cleanup_free_ char *after = started_at(c, "etcd-w1");
    assert_string_equal(after, since);
    assert_int_equal(restarts(c, "etcd-w1"), 0);
    assert_false(mirror_pod(c, "etcd-w1")->meta.deleted);
    /* As often as somebody likes. */
    for (int i = 0; i < 5; i++) {
        _cleanup_free_ char *old = uid_of(c, "etcd-w1");
        delete_now(c, c->f->pods, "kube-system", "etcd-w1", i % 2 ? 0 : 3600);
        assert_true(WITHIN(c, SEC(1), another(c, "etcd-w1", old)));
    }
    assert_true(STAYS(c, SEC(600), runs(c, "etcd-w1")));
}

/* One that ignores signals, or is stuck, is no different: nobody sends it any. */
static void test_deleted_stubborn(void **state) {
    struct cluster *c = *state;
    static const char *const stops[] = {"never", "stuck", "1h"};
    make_nodes(c, 1);
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        _cleanup_free_ char *text =
            xasprintf("{'metadata': {'name': 'p%zu', 'namespace': 'kube-system', 'annotations': "
                      "{'sim.slipway.dev/stop': '%s'}}, 'spec': {'containers': [{'name': 'c', "
                      "'image': 'i'}]}}",
                      i, stops[i]);
        put_file(c, "w1", text);
        _cleanup_free_ char *name = xasprintf("p%zu-w1", i);
        assert_true(WITHIN(c, SEC(5), runs(c, name)));
        _cleanup_free_ char *uid = uid_of(c, name);
        delete_now(c, c->f->pods, "kube-system", name, ABSENT64);
        assert_true(WITHIN(c, SEC(1), another(c, name, uid)));
    }
}

/* What others have written into the status is of the old mirror. */
static void test_foreign_condition(void **state) {
    struct cluster *c = *state;
    begin(c);
    _cleanup_json_ json_t *obj = record_json(mirror(c, "etcd-w1"));
    json_t *status = json_incref(json_object_get(obj, "status"));
    json_array_append_new(json_object_get(status, "conditions"),
                          json_pack("{s:s, s:s, s:s}", "type", "DisruptionTarget", "status", "True",
                                    "reason", "EvictionByEvictionAPI"));
    fleet_put_status(c->f, c->f->pods, mirror(c, "etcd-w1"), status);
    assert_non_null(condition_find(mirror_pod(c, "etcd-w1")->conditions, "DisruptionTarget"));
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1");
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", ABSENT64);
    assert_true(WITHIN(c, SEC(1), another(c, "etcd-w1", uid)));
    assert_null(condition_find(mirror_pod(c, "etcd-w1")->conditions, "DisruptionTarget"));
    assert_non_null(condition_find(mirror_pod(c, "etcd-w1")->conditions, "PodScheduled"));
}

/* A kubelet that is not there deletes and creates nothing. */
static void test_machine_down(void **state) {
    struct cluster *c = *state;
    begin(c);
    struct machine *m = machine_find(c->f, "w1");
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1");
    machine_off(m);
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", ABSENT64);
    assert_true(
        STAYS(c, SEC(600),
              mirror_pod(c, "etcd-w1") && str_same(mirror_pod(c, "etcd-w1")->meta.uid, uid)));
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", 0);
    assert_true(STAYS(c, SEC(600), !mirror_pod(c, "etcd-w1")));
    machine_on(m);
    assert_true(WITHIN(c, SEC(5), another(c, "etcd-w1", uid)));
    /* The containers were started anew: later than the machine was. */
    _cleanup_free_ char *since = started_at(c, "etcd-w1");
    int64_t when;
    assert_true(time_parse(since, strlen(since), &when));
    assert_true(when > START + SEC(1200));
}

static void test_machine_hangs(void **state) {
    struct cluster *c = *state;
    begin(c);
    struct machine *m = machine_find(c->f, "w1");
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1"), *since = started_at(c, "etcd-w1");
    machine_hang(m);
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", 0);
    assert_true(STAYS(c, SEC(20), !mirror_pod(c, "etcd-w1")));
    machine_on(m);
    assert_true(WITHIN(c, SEC(5), another(c, "etcd-w1", uid)));
    /* They ran on. */
    _cleanup_free_ char *after = started_at(c, "etcd-w1");
    assert_string_equal(after, since);
}

/* A reboot keeps the mirror: its containers are restarted. */
static void test_reboot(void **state) {
    struct cluster *c = *state;
    begin(c);
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1");
    machine_reboot(machine_find(c->f, "w1"));
    assert_true(WITHIN(c, SEC(120), restarts(c, "etcd-w1") == 1 && runs(c, "etcd-w1")));
    assert_string_equal(mirror(c, "etcd-w1")->obj->meta.uid, uid);
}

/* With the Node the machine is gone, and its files with it. */
static void test_node_deleted(void **state) {
    struct cluster *c = *state;
    begin(c);
    delete_now(c, c->f->nodes, NULL, "w1", ABSENT64);
    assert_true(WITHIN(c, SEC(300), !mirror_pod(c, "etcd-w1")));
    assert_true(STAYS(c, SEC(600), !mirror_pod(c, "etcd-w1")));
    make_node(c, "w1", NULL);
    assert_true(STAYS(c, SEC(60), !mirror_pod(c, "etcd-w1")));
    put_file(c, "w1", etcd);
    assert_true(WITHIN(c, SEC(5), runs(c, "etcd-w1")));
}

/* One that came through the API, as from a cluster that was loaded. */
static void test_adopted(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make(c, c->f->pods, "kube-system",
         "{'metadata': {'name': 'proxy-w1', 'namespace': 'kube-system', 'labels': {'a': 'b'}, "
         "'annotations': {'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': "
         "'abc', 'kubernetes.io/config.source': 'file'}}, 'spec': {'nodeName': 'w1', 'containers': "
         "[{'name': 'c', 'image': 'i'}]}}");
    assert_true(WITHIN(c, SEC(5), runs(c, "proxy-w1")));
    _cleanup_free_ char *uid = uid_of(c, "proxy-w1");
    delete_now(c, c->f->pods, "kube-system", "proxy-w1", ABSENT64);
    assert_true(WITHIN(c, SEC(1), another(c, "proxy-w1", uid)));
    const struct pod *pod = mirror_pod(c, "proxy-w1");
    assert_string_equal(map_get(pod->meta.annotations, "kubernetes.io/config.mirror"), "abc");
    assert_string_equal(map_get(pod->meta.labels, "a"), "b");
    assert_int_equal(list_len(pod->meta.owners), 1);
    assert_string_equal(pod->meta.owners[0].kind, "Node");
    assert_string_equal(pod->meta.owners[0].uid, node_of(c, "w1")->meta.uid);
}

/* A pod of the same name, that is none of the kubelet's: as long as it is there, there can be no
 * mirror. One that claims to be the mirror, but of another file, is deleted. */
static void test_name_taken(void **state) {
    struct cluster *c = *state;
    begin(c);
    struct machine *m = machine_find(c->f, "w1");
    machine_hang(m);
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", 0);
    make(c, c->f->pods, "kube-system",
         "{'metadata': {'name': 'etcd-w1', 'namespace': 'kube-system'}, 'spec': {'nodeName': 'w2', "
         "'containers': [{'name': 'c', 'image': 'i'}]}}");
    machine_on(m);
    assert_true(STAYS(c, SEC(120), !pod_is_mirror(mirror_pod(c, "etcd-w1"))));
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", 0);
    assert_true(WITHIN(c, SEC(5), runs(c, "etcd-w1") && pod_is_mirror(mirror_pod(c, "etcd-w1"))));
    _cleanup_free_ char *hash =
        xstrdup(map_get(mirror_pod(c, "etcd-w1")->meta.annotations, "kubernetes.io/config.mirror"));
    machine_hang(m);
    delete_now(c, c->f->pods, "kube-system", "etcd-w1", 0);
    make(c, c->f->pods, "kube-system",
         "{'metadata': {'name': 'etcd-w1', 'namespace': 'kube-system', 'annotations': "
         "{'kubernetes.io/config.mirror': 'other'}}, 'spec': {'nodeName': 'w1', 'containers': "
         "[{'name': 'c', 'image': 'i'}]}}");
    machine_on(m);
    assert_true(
        WITHIN(c, SEC(5),
               mirror(c, "etcd-w1") && str_same(map_get(mirror_pod(c, "etcd-w1")->meta.annotations,
                                                        "kubernetes.io/config.mirror"),
                                                hash)));
    assert_string_equal(mirror_pod(c, "etcd-w1")->spec->host_network ? "etcd" : "", "etcd");
}

/* What the API refuses is no file. */
static void test_refused(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{'metadata': {'name': 'p'}, 'spec': {'containers': []}}", "spec.containers"},
        {"{'metadata': {'name': 'p'}}", "spec.containers"},
        {"{'metadata': {'name': 'P!'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}",
         "metadata.name"},
        {"{'metadata': {'name': 'p', 'namespace': 'nowhere'}, 'spec': {'containers': [{'name': "
         "'c', 'image': 'i'}]}}",
         "nowhere"},
        {"{'metadata': {'name': 'p'}, 'spec': {'serviceAccountName': 'x', 'containers': [{'name': "
         "'c', 'image': 'i'}]}}",
         "a mirror pod may not reference service accounts"},
        {"{'metadata': 7, 'spec': 8}", ""},
        {"{}", ""},
    };
    size_t pods = shelf_len(c->f->pods->shelf);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_json_ json_t *pod = parse(bad[i].text);
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        assert_false(machine_add_static_pod(machine_find(c->f, "w1"), pod, &failure));
        assert_non_null(strstr(strna(failure.message), bad[i].says));
    }
    cluster_run(c, SEC(60));
    assert_int_equal(shelf_len(c->f->pods->shelf), pods);
    /* The same file twice. */
    put_file(c, "w1", etcd);
    _cleanup_json_ json_t *pod = parse(etcd);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    assert_false(machine_add_static_pod(machine_find(c->f, "w1"), pod, &failure));
    assert_string_equal(failure.reason, "AlreadyExists");
    assert_true(WITHIN(c, SEC(5), runs(c, "etcd-w1")));
}

/* Taints that drive everything else away do not drive these. */
static void test_tolerates(void **state) {
    struct cluster *c = *state;
    begin(c);
    json_t *obj = record_json(shelf_get(c->f->nodes->shelf, NULL, "w1"));
    json_object_set_new(json_object_get(obj, "spec"), "taints",
                        json_pack("[{s:s, s:s}]", "key", "gone", "effect", "NoExecute"));
    assert_true(fleet_update(c->f, c->f->nodes, NULL, obj, NULL));
    _cleanup_free_ char *uid = uid_of(c, "etcd-w1");
    assert_true(STAYS(c, SEC(600), str_same(mirror(c, "etcd-w1")->obj->meta.uid, uid)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mirror, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_deleted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_deleted_stubborn, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_foreign_condition, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_machine_down, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_machine_hangs, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_reboot, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_node_deleted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_adopted, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_name_taken, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_refused, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_tolerates, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
