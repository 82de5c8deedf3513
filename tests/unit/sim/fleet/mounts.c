/* Kubelets: which volumes they say they use, and which pods they can start. */
#include "sim/fleet/volumes.h"

#include "storage_cluster.h"

static void make_with(struct cluster *c, const char *name, const char *volumes) {
    make(c, c->f->pods, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'containers': [{'name': "
         "'c', 'image': 'i'}], 'volumes': [%s]}}",
         name, volumes);
}

static bool is_starting(const struct cluster *c, const char *name) {
    const struct pod *pod = pod_of(c, name);
    return pod->node_name && str_same(pod->phase, "Pending");
}

static void test_needs_nothing(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_with(c, "p", "{'name': 'e', 'emptyDir': {}}, {'name': 'h', 'hostPath': {'path': '/x'}}");
    assert_true(WITHIN(c, SEC(5), is_ready(c, "p")));
    assert_int_equal(list_len(node_of(c, "w1")->volumes_in_use), 0);
    assert_null(event_about(c, "p", "FailedMount"));
}

static void test_config(void **state) {
    struct cluster *c = *state;
    struct resource *configs = api_resource(c->f->api, "", "v1", "configmaps");
    struct resource *secrets = api_resource(c->f->api, "", "v1", "secrets");
    make_nodes(c, 1);
    static const struct {
        const char *name, *volumes, *said;
    } rows[] = {
        {"cm", "{'name': 'v', 'configMap': {'name': 'conf'}}",
         "MountVolume.SetUp failed for volume \"v\" : configmap \"conf\" not found"},
        {"sec", "{'name': 'v', 'secret': {'secretName': 'pass'}}",
         "MountVolume.SetUp failed for volume \"v\" : secret \"pass\" not found"},
        {"pcm",
         "{'name': 'v', 'projected': {'sources': [{'downwardAPI': {}}, {'configMap': {'name': "
         "'conf'}}]}}",
         "MountVolume.SetUp failed for volume \"v\" : configmap \"conf\" not found"},
        {"psec", "{'name': 'v', 'projected': {'sources': [{'secret': {'name': 'pass'}}]}}",
         "MountVolume.SetUp failed for volume \"v\" : secret \"pass\" not found"},
        {"opt",
         "{'name': 'v', 'configMap': {'name': 'conf', 'optional': true}}, {'name': 'w', 'secret': "
         "{'secretName': 'pass', 'optional': true}}, {'name': 'x', 'projected': {'sources': "
         "[{'secret': {'name': 'pass', 'optional': true}}]}}",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        make_with(c, rows[i].name, rows[i].volumes);
    cluster_run(c, SEC(60));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!rows[i].said) {
            assert_true(is_ready(c, rows[i].name));
            continue;
        }
        assert_true(is_starting(c, rows[i].name));
        assert_string_equal(event_about(c, rows[i].name, "FailedMount"), rows[i].said);
    }
    /* In another namespace they help nobody. */
    make(c, configs, "kube-system",
         "{'metadata': {'name': 'conf', 'namespace': 'kube-system'}, 'data': {'a': 'b'}}");
    assert_true(STAYS(c, SEC(60), is_starting(c, "cm")));
    make(c, configs, "default",
         "{'metadata': {'name': 'conf', 'namespace': 'default'}, 'data': {'a': 'b'}}");
    make(c, secrets, "default",
         "{'metadata': {'name': 'pass', 'namespace': 'default'}, 'stringData': {'a': 'b'}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(WITHIN(c, SEC(5), is_ready(c, rows[i].name)));
}

/* Nobody is told every second: 0.5 s, 1 s, 2 s, ... up to two minutes. */
static void test_complains_seldom(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_with(c, "p", "{'name': 'v', 'configMap': {'name': 'conf'}}");
    assert_true(WITHIN(c, SEC(10), event_about(c, "p", "FailedMount")));
    cluster_run(c, SEC(62));
    assert_in_range(event_count(c, "p", "FailedMount"), 6, 8);
    cluster_run(c, SEC(500));
    assert_in_range(event_count(c, "p", "FailedMount"), 9, 13);
}

/* A pod that somebody put on a node by hand, with a claim that is not ready. */
static void test_claims(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_claim(c, "unbound", "", "");
    make_pod(c, "p", "unbound", "w1", "");
    make_pod(c, "q", "missing", "w1", "");
    cluster_run(c, SEC(30));
    assert_true(is_starting(c, "p") && is_starting(c, "q"));
    assert_string_equal(event_about(c, "p", "FailedMount"),
                        "Unable to attach or mount volumes: unmounted volumes=[data], unattached "
                        "volumes=[], failed to process volumes=[data]: error processing PVC "
                        "default/unbound: PVC is not bound");
    assert_string_equal(event_about(c, "q", "FailedMount"),
                        "Unable to attach or mount volumes: unmounted volumes=[data], unattached "
                        "volumes=[], failed to process volumes=[data]: error processing PVC "
                        "default/missing: failed to fetch PVC from API server: "
                        "persistentvolumeclaims \"missing\" not found");
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': 'v'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': "
         "['ReadWriteOnce'], 'hostPath': {'path': '/x'}}}");
    assert_true(WITHIN(c, SEC(20), is_ready(c, "p")));
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "missing", "fast", "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "q")));
}

/* A pod whose volume is on its way is told nothing. */
static void test_quiet(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "late", "WaitForFirstConsumer", "");
    make_claim(c, "a", "late", "");
    make_pod(c, "p", "a", NULL, "");
    assert_true(WITHIN(c, SEC(40), is_ready(c, "p")));
    assert_null(event_about(c, "p", "FailedMount"));
}

/* The kubelet looks every ten seconds, and starts nothing before it has said that it uses it. */
static void test_in_use(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    make_claim(c, "b", "fast", "");
    assert_true(WITHIN(c, SEC(10), claim_is(c, "a", "Bound") && claim_is(c, "b", "Bound")));
    make_pod(c, "p", "a", NULL, "");
    make_pod(c, "q", "a", NULL, "");
    make_pod(c, "r", "b", NULL, "");
    const char *a = claim_of(c, "a")->volume_name, *b = claim_of(c, "b")->volume_name;
    assert_true(WITHIN(c, SEC(11), is_in_use(c, a, "w1") && is_in_use(c, b, "w1")));
    assert_true(WITHIN(c, SEC(20), is_ready(c, "p") && is_ready(c, "q") && is_ready(c, "r")));
    /* Two pods, one volume; and in order. */
    const struct node *node = node_of(c, "w1");
    assert_int_equal(list_len(node->volumes_in_use), 2);
    assert_true(strcmp(node->volumes_in_use[0], node->volumes_in_use[1]) < 0);
    delete_now(c, c->f->pods, "default", "p", ABSENT64);
    assert_true(STAYS(c, SEC(30), is_in_use(c, a, "w1")));
    delete_now(c, c->f->pods, "default", "q", ABSENT64);
    assert_true(WITHIN(c, SEC(5), !pod_of(c, "q")));
    assert_true(is_in_use(c, a, "w1"));
    assert_true(WITHIN(c, SEC(11), !is_in_use(c, a, "w1")));
    assert_true(is_in_use(c, b, "w1"));
}

/* A machine without power says nothing; when it is back, what is so then. */
static void test_power(void **state) {
    struct cluster *c = *state;
    make_nodes(c, 1);
    make_class(c, "fast", "Immediate", "");
    make_claim(c, "a", "fast", "");
    make_claim(c, "b", "fast", "");
    make_pod(c, "p", "a", NULL, "");
    make_pod(c, "q", "b", NULL, "");
    assert_true(WITHIN(c, SEC(60), is_ready(c, "p") && is_ready(c, "q")));
    const char *a = claim_of(c, "a")->volume_name, *b = claim_of(c, "b")->volume_name;
    machine_off(machine_find(c->f, "w1"));
    delete_now(c, c->f->pods, "default", "p", 0);
    assert_true(STAYS(c, SEC(120), is_in_use(c, a, "w1") && is_in_use(c, b, "w1")));
    machine_on(machine_find(c->f, "w1"));
    assert_true(WITHIN(c, SEC(21), !is_in_use(c, a, "w1")));
    assert_true(is_in_use(c, b, "w1"));
    assert_true(WITHIN(c, SEC(30), is_ready(c, "q")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_needs_nothing, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_config, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_complains_seldom, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_claims, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_quiet, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_in_use, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_power, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
