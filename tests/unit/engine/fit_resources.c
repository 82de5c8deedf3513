/* Tests of src/engine/fit_resources.c. Expected requests are those of Kubernetes' own
 * component-helpers/resource/helpers_test.go; scores those of the tests of NodeResourcesFit and
 * NodeResourcesBalancedAllocation. */
#include "fit_scene.h"

#include "engine/fit_internal.h"

#define REQ(list)      "'resources':{'requests':{" list "}}"
#define C(list)        "{'name':'c'," REQ(list) "}"
#define SIDECAR(list)  "{'name':'s','restartPolicy':'Always'," REQ(list) "}"
#define CPU(n)         "'cpu':'" n "'"
#define CONTAINERS(l)  "'containers':[" l "]"
#define INIT(l)        "'initContainers':[" l "]"
#define STATUS(has, l) "{'name':'c','resources':{'requests':{" has "}}" l "}"

static void load(struct scene *s, const char *json, bool status, struct fit_load *out) {
    const struct pod *pod = scene_pod(s, json);
    fit_load_of(fit_spec(pod->spec), status ? pod : NULL, out);
}

static void requests_add_up(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *spec;
        int64_t cpu, memory;
    } rows[] = {
        {"", 0, 0},
        {CONTAINERS("{'name':'c','resources':{'limits':{'cpu':'9'}}}"), 0, 0},
        {CONTAINERS(C("'cpu':'1','memory':'5'") "," C("'cpu':'4','memory':'12'")), 5000, 17},
        /* init containers run one after the other, before the rest */
        {INIT(C(CPU("4"))) "," CONTAINERS(C(CPU("1"))), 4000, 0},
        {INIT(C(CPU("2"))) "," CONTAINERS(C(CPU("2")) "," C(CPU("3"))), 5000, 0},
        {INIT(C("'cpu':'1','memory':'5'") "," C("'cpu':'40','memory':'120'")) "," CONTAINERS(
             C("'cpu':'1','memory':'5'") "," C("'cpu':'4','memory':'12'")),
         40000, 120},
        /* each resource by itself: the example in the source of NodeResourcesFit */
        {INIT(C("'cpu':'2','memory':'1G'") "," C("'cpu':'2','memory':'3G'")) "," CONTAINERS(
             C("'cpu':'2','memory':'1G'") "," C("'cpu':'1','memory':'1G'")),
         3000, 3000000000},
        {"'overhead':{'cpu':'5','memory':'5'}", 5000, 5},
        {"'overhead':{'cpu':'5','memory':'5'}," CONTAINERS(C("'cpu':'1','memory':'10'")), 6000, 15},
        /* sidecars go on running beside everything after them */
        {INIT(SIDECAR(CPU("1"))) "," CONTAINERS(C(CPU("1"))), 2000, 0},
        {INIT(C(CPU("5")) "," SIDECAR(CPU("1")) "," SIDECAR(CPU("2")) "," SIDECAR(
             CPU("3"))) "," CONTAINERS(C(CPU("1"))),
         7000, 0},
        {INIT(C(CPU("5")) "," SIDECAR(CPU("1")) "," SIDECAR(CPU("2")) "," C(CPU("5")) "," SIDECAR(
             CPU("3"))) "," CONTAINERS(C(CPU("1"))),
         8000, 0},
        {INIT(SIDECAR(CPU("10")) "," C(CPU("200"))) "," CONTAINERS(C(CPU("100"))), 210000, 0},
        /* what the pod as a whole asks for takes the place of what its containers do */
        {"'resources':{'requests':{'memory':'15Mi','cpu':'18m'}}," CONTAINERS(
             C("'memory':'12Mi','cpu':'2m'")),
         18, 15 << 20},
        {"'resources':{'requests':{'memory':'2'}}," CONTAINERS(C(CPU("2m"))), 2, 2},
        {"'resources':{'requests':{'memory':'2'}},'overhead':{'memory':'3'}", 0, 5},
        /* thousandths of a byte are rounded up once, after the sum */
        {CONTAINERS(C("'memory':'1500m'") "," C("'memory':'1500m'")), 0, 3},
        {CONTAINERS(C("'memory':'1100m'") "," C("'memory':'1100m'")), 0, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fit_load l;
        _cleanup_free_ char *pod = xasprintf(POD("", "%s"), rows[i].spec);
        load(s, pod, false, &l);
        if (l.amounts.cpu != rows[i].cpu || l.amounts.memory != rows[i].memory)
            fail_msg("row %zu: %lld, %lld", i, (long long)l.amounts.cpu,
                     (long long)l.amounts.memory);
        fit_load_done(&l);
    }
}

/* A pod that is being resized takes the largest of what is wanted, agreed and given. */
static void a_resize_under_way_takes_the_larger(void **state) {
    struct scene *s = *state;
    static const struct {
        const char *wants, *status, *conditions;
        int64_t cpu;
    } rows[] = {
        {CPU("4"), STATUS(CPU("2"), ""), "", 4000},
        {CPU("1"), STATUS(CPU("2"), ""), "", 2000},
        {CPU("4"), STATUS(CPU("2"), ""), "{'type':'PodResizePending','reason':'Infeasible'}", 2000},
        {CPU("6"), STATUS(CPU("2"), ",'allocatedResources':{'cpu':'4'}"),
         "{'type':'PodResizePending','reason':'Infeasible'}", 4000},
        {CPU("6"), STATUS(CPU("2"), ",'allocatedResources':{'cpu':'4'}"),
         "{'type':'PodResizePending','reason':'Deferred'}", 6000},
        /* without resources in the status, what was agreed is not looked at */
        {CPU("1"), "{'name':'c','allocatedResources':{'cpu':'4'}}", "", 1000},
        {CPU("1"), "{'name':'other','resources':{'requests':{'cpu':'4'}}}", "", 1000},
        {"", STATUS(CPU("2"), ""), "", 2000},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fit_load l;
        _cleanup_free_ char *pod = xasprintf(
            "{'spec':{" CONTAINERS("{'name':'c'," REQ("%s") "}") "},'status':{'conditions':[%s],"
                                                                 "'containerStatuses':[%s]}}",
            rows[i].wants, rows[i].conditions, rows[i].status);
        load(s, pod, true, &l);
        assert_int_equal(l.amounts.cpu, rows[i].cpu);
        fit_load_done(&l);
        load(s, pod, false, &l); /* a new pod is judged by its spec */
        const struct pod *asked = (const struct pod *)s->asked;
        assert_true(l.amounts.cpu == rows[i].cpu || fit_load_differs(fit_spec(asked->spec), asked));
        fit_load_done(&l);
    }
    /* of init containers only sidecars are resized */
    const char *both = "{'spec':{" INIT(C(CPU("1"))) "},'status':{'initContainerStatuses':[" STATUS(
        CPU("2"), "") "]}}";
    struct fit_load l;
    load(s, both, true, &l);
    assert_int_equal(l.amounts.cpu, 1000);
    fit_load_done(&l);
    /* a kubelet that reports what it was told says nothing new */
    const struct pod *same =
        scene_pod(s, "{'spec':{" CONTAINERS(C(CPU("1"))) "},'status':{'containerStatuses':[" STATUS(
                         CPU("1"), ",'allocatedResources':{'cpu':'1'}") "]}}");
    assert_false(fit_load_differs(same->spec, same));
}

/* What it is reported to have is what its node has less. */
static void a_resize_counts_on_the_node(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'4','pods':'9'}}}");
    static const char running[] =
        "{'metadata':{'namespace':'d','name':'p','uid':'p'},'spec':{'nodeName':'n'," CONTAINERS(
            C(CPU("1"))) "},'status':{'containerStatuses':[" STATUS(CPU("%s"), "") "]}}";
    const char *two = POD("", CONTAINERS(C(CPU("2"))));
    scene_put(s, &kind_pod, running, "1");
    assert_fits(s, "n", two);
    scene_put(s, &kind_pod, running, "3");
    assert_why(s, "n", two, "Insufficient cpu");
    scene_put(s, &kind_pod, running, "2");
    assert_fits(s, "n", two);
    fit_remove_pod(s->fit, "d", "p");
    assert_int_equal(fit_node_find(s->fit, "n")->used.amounts.cpu, 0);
}

static void what_is_missing_is_named(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'2','memory':'2Gi','pods':"
              "'3','ephemeral-storage':'1Gi','example.com/gpu':'2','hugepages-2Mi':'4Mi'}}}");
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'p'},'spec':{'nodeName':'n'," CONTAINERS(
                  C("'cpu':'1','memory':'1Gi','example.com/gpu':'1','hugepages-2Mi':'2Mi',"
                    "'ephemeral-storage':'512Mi'")) "}}");
    static const struct {
        const char *wants, *why;
    } rows[] = {
        {"", ""},
        {CPU("1"), ""},
        {CPU("1001m"), "Insufficient cpu"},
        /* more than an empty node has: no use in evicting anybody */
        {CPU("2001m"), "!Insufficient cpu"},
        {"'memory':'1Gi'", ""},
        {"'memory':'1073741825'", "Insufficient memory"},
        {"'ephemeral-storage':'513Mi'", "Insufficient ephemeral-storage"},
        {"'example.com/gpu':'2'", "Insufficient example.com/gpu"},
        {"'example.com/gpu':'3'", "!Insufficient example.com/gpu"},
        {"'example.com/none':'1'", "!Insufficient example.com/none"},
        {"'example.com/none':'0'", ""},
        {"'hugepages-2Mi':'4Mi'", "Insufficient hugepages-2Mi"},
        {"'hugepages-1Gi':'1Gi'", "!Insufficient hugepages-1Gi"},
        {"'attachable-volumes-x':'1'", "!Insufficient attachable-volumes-x"},
        {"'x.kubernetes.io/y':'1'", "!Insufficient x.kubernetes.io/y"},
        /* these are no resources of a node */
        {"'storage':'1'", ""},
        {"'requests.example.com/gpu':'9'", ""},
        {"'-.com/gpu':'9'", ""},
        {"'cpu':'1500m','memory':'3Gi'", "!Insufficient cpu; Insufficient memory"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *pod = xasprintf(POD("", CONTAINERS(C("%s"))), rows[i].wants);
        if (!streq(scene_why(s, "n", pod), rows[i].why))
            fail_msg("row %zu: %s", i, str_get(&s->text));
    }
}

static void there_is_room_for_so_many_pods(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node, "{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'2'}}}");
    scene_put(s, &kind_node, "{'metadata':{'name':'none'}}");
    scene_pods(s, 1, "n", "");
    assert_fits(s, "n", POD("", ""));
    scene_pods(s, 1, "n", "");
    assert_why(s, "n", POD("", ""), "Too many pods");
    assert_why(s, "n", POD("", CONTAINERS(C(CPU("1")))), "!Too many pods; Insufficient cpu");
    assert_why(s, "none", POD("", ""), "Too many pods");
}

/* Sums that do not fit 64 bits wrap around and come back; nothing else breaks. */
static void absurd_amounts_do_no_harm(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'1','memory':"
              "'9223372036854775807','example.com/x':'9e18','pods':'9e18'}}}");
    for (int i = 0; i < 5; i++)
        scene_put(s, &kind_pod,
                  "{'metadata':{'namespace':'d','name':'p%d'},'spec':{'nodeName':'n'," CONTAINERS(
                      C("'cpu':'9e18','memory':'9e18','example.com/x':'9e18'") "," C(
                          "'cpu':'9e18','memory':'9e18','example.com/x':'9e18'")) "}}",
                  i);
    scene_why(s, "n", POD("", CONTAINERS(C(CPU("1")))));
    scene_scores(s, POD("", CONTAINERS(C(CPU("1")))));
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        fit_remove_pod(s->fit, "d", name);
    }
    assert_fits(s, "n", POD("", CONTAINERS(C(CPU("1")))));
    assert_int_equal(fit_node_find(s->fit, "n")->used.amounts.scalars.len, 0);
}

/* --- scores --- */

struct pair_of_nodes {
    const char *room[2], *used[2], *wants;
    int64_t score[2];
};

static void check_scores(struct scene *s, const struct pair_of_nodes *rows, size_t n,
                         int64_t (*score)(const struct fit_shape *, const struct fit_node *)) {
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            scene_put(s, &kind_node, "{'metadata':{'name':'n%d'},'status':{'allocatable':{%s}}}", k,
                      rows[i].room[k]);
            scene_put(
                s, &kind_pod,
                "{'metadata':{'namespace':'d','name':'p%d'},'spec':{'nodeName':'n%d'," CONTAINERS(
                    "%s") "}}",
                k, k, rows[i].used[k]);
        }
        _cleanup_free_ char *pod = xasprintf(POD("", CONTAINERS("%s")), rows[i].wants);
        const struct fit_shape *shape = fit_cohort_get(s->fit, scene_pod(s, pod))->shape;
        for (int k = 0; k < 2; k++) {
            int64_t got = score(shape, fit_node_find(s->fit, k ? "n1" : "n0"));
            if (got != rows[i].score[k])
                fail_msg("row %zu, node %d: %lld", i, k, (long long)got);
        }
    }
}

#define CM(cpu, memory) C("'cpu':'" cpu "','memory':'" memory "'")

static void the_emptier_the_better(void **state) {
    static const struct pair_of_nodes rows[] = {
        {{"'cpu':'4000','memory':'10000'", "'cpu':'6000','memory':'10000'"},
         {"", ""},
         CM("1000", "2000") "," CM("2000", "3000"),
         {37, 50}},
        {{"'cpu':'10000','memory':'20000'", "'cpu':'10000','memory':'20000'"},
         {CM("3000", "0"), CM("3000", "5000")},
         CM("1000", "2000") "," CM("2000", "3000"),
         {57, 45}},
        {{"'cpu':'10000','memory':'20000'", "'cpu':'10000','memory':'50000'"},
         {CM("3000", "0"), CM("3000", "5000")},
         CM("1000", "2000") "," CM("2000", "3000"),
         {57, 60}},
        /* more than there is: nothing is left of it */
        {{"'cpu':'4000','memory':'10000'", "'cpu':'4000','memory':'10000'"},
         {CM("3000", "0"), CM("3000", "5000")},
         CM("3000", "0"),
         {50, 25}},
        {{"", ""}, {"", ""}, CM("3000", "0"), {0, 0}},
    };
    check_scores(*state, rows, ARRAY_LEN(rows), fit_score_least);
}

static void what_asks_for_nothing_is_guessed(void **state) {
    struct scene *s = *state;
    struct fit_load l;
    load(s, POD("", CONTAINERS(C("") "," C(CPU("1")))), false, &l);
    assert_int_equal(l.amounts.cpu, 1000);
    assert_int_equal(l.some_cpu, 1100);
    assert_int_equal(l.some_memory, 2 * 200 * 1024 * 1024);
    fit_load_done(&l);
    /* asking for zero is asking */
    load(s, POD("", CONTAINERS(CM("0", "0"))), false, &l);
    assert_int_equal(l.some_cpu, 0);
    assert_int_equal(l.some_memory, 0);
    fit_load_done(&l);
    /* what the pod as a whole says is no guess; what it leaves out is */
    load(s, POD("", "'resources':{'requests':{'cpu':'1'}}," CONTAINERS(C("") "," C(""))), false,
         &l);
    assert_int_equal(l.some_cpu, 1000);
    assert_int_equal(l.some_memory, 2 * 200 * 1024 * 1024);
    fit_load_done(&l);
    const struct fit_shape *shape =
        fit_cohort_get(
            s->fit,
            scene_pod(s, POD("", "'resources':{'requests':{'cpu':'1'}}," CONTAINERS(C("")))))
            ->shape;
    assert_int_equal(shape->score_cpu, 100); /* LeastAllocated does not see it */
}

static void the_more_even_the_better(void **state) {
    static const struct pair_of_nodes rows[] = {
        {{"'cpu':'4','memory':'10000'", "'cpu':'6','memory':'10000'"},
         {"", ""},
         CM("1", "2000") "," CM("2", "3000"),
         {68, 75}},
        {{"'cpu':'10','memory':'20000'", "'cpu':'10','memory':'20000'"},
         {CM("3", "0"), CM("3", "5000")},
         CM("1", "2000") "," CM("2", "3000"),
         {73, 74}},
        {{"'cpu':'10','memory':'20000'", "'cpu':'10','memory':'50000'"},
         {CM("3", "0"), CM("3", "5000")},
         CM("1", "2000") "," CM("2", "3000"),
         {73, 70}},
        {{"'cpu':'3','memory':'5000'", "'cpu':'3','memory':'5000'"},
         {CM("3", "0"), ""},
         C("'memory':'5000'"),
         {100, 50}},
        {{"'cpu':'6','memory':'10000'", "'cpu':'6','memory':'10000'"},
         {CM("3", "0"), CM("3", "5000")},
         C(CPU("3")),
         {62, 62}},
        /* a pod that asks for nothing is not scored at all */
        {{"'cpu':'6','memory':'10000'", "'cpu':'6','memory':'10000'"},
         {CM("3", "0"), CM("3", "5000")},
         C(""),
         {0, 0}},
    };
    check_scores(*state, rows, ARRAY_LEN(rows), fit_score_balanced);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(requests_add_up),
        SCENE_TEST(a_resize_under_way_takes_the_larger),
        SCENE_TEST(a_resize_counts_on_the_node),
        SCENE_TEST(what_is_missing_is_named),
        SCENE_TEST(there_is_room_for_so_many_pods),
        SCENE_TEST(absurd_amounts_do_no_harm),
        SCENE_TEST(the_emptier_the_better),
        SCENE_TEST(what_asks_for_nothing_is_guessed),
        SCENE_TEST(the_more_even_the_better),
    };
    return cmocka_run_group_tests_name("engine/fit_resources", tests, NULL, NULL);
}
