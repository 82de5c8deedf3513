/* Tests of src/engine/why_room.c. The scheduler's words are those of kube-scheduler v1.36
 * (pkg/scheduler/framework/types.go, FitError). */
#include "engine/why.h"

#include "engine/why_internal.h"
#include "why_scene.h"

#define SAID(text)                                                                                 \
    "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"            \
    "'Unschedulable','message':'" text "','lastTransitionTime':'2026-11-15T07:59:00Z'}]"

static void node(struct scene *s, const char *name, const char *cpu, const char *spec) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'spec':{%s},'status':{'allocatable':{'cpu':'%s',"
                  "'memory':'8Gi','pods':'110'}," READY "}}",
                  name, spec, cpu);
    scene_add(s, &kind_node, json);
}

static void the_second_half_is_left_out(void **state) {
    struct scene *s = *state;
    struct making m;
    why_begin(&m, &s->world, &s->arena, &s->why);
    assert_string_equal(
        why_scheduler_text(&m, "0/3 nodes are available: 3 Insufficient cpu. no new claims to "
                               "deallocate, preemption: 0/3 nodes are available."),
        "0/3 nodes are available: 3 Insufficient cpu");
    /* before 1.34 */
    assert_string_equal(why_scheduler_text(&m, "0/1 nodes are available: 1 Too many pods. "
                                               "preemption: 0/1 nodes are available."),
                        "0/1 nodes are available: 1 Too many pods");
    assert_string_equal(why_scheduler_text(&m, "something else."), "something else");
    assert_string_equal(why_scheduler_text(&m, ""), "");
    assert_string_equal(why_scheduler_text(&m, "..."), "");
    why_end(&m);
}

/* Each pod asks for one CPU. n1 has 500m left, n2 200m: n1 is nearer. */
static void the_nearest_node_is_named(void **state) {
    struct scene *s = *state;
    node(s, "n1", "2500m", "");
    node(s, "n2", "1200m", "");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_pod(s, "b", "a", "n1", POD_WELL);
    scene_pod(s, "c", "a", "n2", POD_WELL);
    scene_pod(s, "p", "p", "", SAID("0/2 nodes are available: 2 Insufficient cpu."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_string_equal(l->text, "Pending: 0/2 nodes are available: 2 Insufficient cpu");
    assert_int_equal(l->since, NOW - SEC(60));
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->text,
                        "2 nodes are too full; the nearest is n1: 500m cpu more would do");
    assert_string_equal(l->remedies[0].text, "add a node, or free 500m cpu on n1");
}

static void a_cordon_keeps_it_out(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "'unschedulable':true");
    node(s, "n2", "500m", "");
    scene_pod(s, "p", "p", "",
              SAID("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(cause_of(l, "node n1 would take it if it were not cordoned"));
    const struct why_remedy *r = remedy_of(l, "slipway uncordon n1");
    assert_non_null(r);
    assert_string_equal(r->cost, "cordoned by somebody else");
    /* asking has not changed the picture */
    assert_non_null(cause_of(scene_why_pod(s, "p")->links[0], "node n1 would take it"));
}

/* A node with another taint would not take it, cordoned or not. */
static void a_cordon_that_is_not_the_reason(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "'unschedulable':true,'taints':[{'key':'gpu','effect':'NoSchedule'}]");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 node(s) were unschedulable."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_null(cause_of(l, "if it were not cordoned"));
    assert_null(remedy_of(l, "uncordon"));
}

static void the_cluster_has_changed_since(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(cause_of(l, "node n1 has room for it now"));
}

static void another_reason_than_the_scheduler_saw(void **state) {
    struct scene *s = *state;
    node(s, "n1", "500m", "");
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Too many pods."));
    scene_room(s);
    const struct why_link *l = scene_why_pod(s, "p")->links[0];
    assert_non_null(
        cause_of(l, "as the cluster is now: 0/1 nodes are available: 1 Insufficient cpu"));
}

/* A pod for which all nodes are asked costs time: of many the first few are enough. */
static void not_every_pod_asks_all_nodes(void **state) {
    struct scene *s = *state;
    char name[8];
    size_t judged = 0;
    node(s, "n1", "9500m", "");
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "a%d", i);
        scene_deployment(s, name, 2);
        scene_budget(s, name, "'maxUnavailable':1", 2, 1, 1);
        scene_pod(s, name, name, "n1", POD_WELL);
        snprintf(name, sizeof name, "p%d", i);
        _cleanup_free_ char *app = xasprintf("a%d", i);
        scene_pod(s, name, app, "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    }
    scene_room(s);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 9);
    for (size_t i = 0; i < why->n_links; i++) {
        const struct why_link *pending = cause_of(why->links[i], "1 Insufficient cpu");
        assert_non_null(pending);
        judged += cause_of(pending, "500m cpu more would do") != NULL;
    }
    assert_int_equal(judged, 4);
}

/* Numbers that no sane cluster has are no undefined behaviour (the sanitizers look). */
static void absurd_quantities(void **state) {
    static const char *const sizes[] = {
        "9223372036854775807", "-9223372036854775808", "8Ei", "-1", "0", "1e18"};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            struct scene *s;
            scene_setup((void **)&s);
            _cleanup_free_ char *json = xasprintf("{'metadata':{'name':'n1'},'status':{'"
                                                  "allocatable':{'cpu':'%s','memory':'%s','pods':"
                                                  "'%s','example.com/gpu':'%s'}}}",
                                                  sizes[i], sizes[i], sizes[i], sizes[i]);
            scene_add(s, &kind_node, json);
            static const char *const names[] = {"a", "b", "p"};
            for (size_t n = 0; n < ARRAY_LEN(names); n++) {
                _cleanup_free_ char *pod = xasprintf(
                    "{'metadata':{'namespace':'x','name':'%s'},'spec':{%s'containers':[{'name':'c',"
                    "'resources':{'requests':{'cpu':'%s','memory':'%s','example.com/gpu':'%s'}}}]},"
                    "'status':{" SAID("no") "}}",
                    names[n], n < 2 ? "'nodeName':'n1'," : "", sizes[k], sizes[k], sizes[k]);
                scene_add(s, &kind_pod, pod);
            }
            scene_room(s);
            assert_true(scene_why_pod(s, "p")->complete);
            assert_int_equal(scene_teardown((void **)&s), 0);
        }
    (void)state;
}

static void bytes_are_rounded_up(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'4','memory':'1Gi','pods':"
              "'9'}}}");
    scene_add(
        s, &kind_pod,
        "{'metadata':{'namespace':'x','name':'p'},'spec':{'containers':[{'name':'c','resources'"
        ":{'requests':{'memory':'1183842305'}}}]},'status':{" SAID("no") "}}");
    scene_room(s);
    /* 1183842305 - 1073741824 = 110100481 bytes, which is 105 Mi and one byte */
    assert_non_null(cause_of(scene_why_pod(s, "p")->links[0], "n1: 106Mi memory more would do"));
}

static void gates_are_somebody_elses(void **state) {
    struct scene *s = *state;
    scene_pod(s, "p", "p", "",
              "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
              "'SchedulingGated'}]");
    assert_contains(scene_why_pod(s, "p")->links[0]->text, "scheduling gates");
    assert_null(strstr(str_get(&s->asked), "room"));
}

/* Without the whole cluster the scheduler's message still is an answer. */
static void what_may_not_be_read_is_done_without(void **state) {
    struct scene *s = *state;
    scene_pod(s, "p", "p", "", SAID("0/1 nodes are available: 1 Insufficient cpu."));
    s->forbidden = "room";
    const struct why *why = scene_why_pod(s, "p");
    assert_true(why->complete);
    assert_contains(why->links[0]->text, "1 Insufficient cpu");
    assert_int_equal(why->links[0]->n_causes, 0);
    assert_string_equal(why->unread[0], "pods");
}

static void pods_of_a_node_that_find_no_room(void **state) {
    struct scene *s = *state;
    node(s, "n1", "4", "");
    node(s, "n2", "2500m", "");
    scene_pod(s, "a", "a", "n1", POD_WELL);
    scene_pod(s, "b", "a", "n1", POD_WELL);
    scene_pod(s, "c", "a", "n1", POD_WELL);
    scene_pod(s, "d", "a", "n2", POD_WELL);
    scene_room(s);
    assert_int_equal(scene_why(s, "n1")->n_links, 0); /* nobody has asked for it */
    s->world.room = true;
    for (int i = 0; i < 2; i++) { /* the picture is as it was before */
        const struct why *why = scene_why(s, "n1");
        assert_string_equal(why->summary, "a drain would leave 2 of its 3 pods without a node");
        assert_int_equal(why->state, WHY_BLOCKED);
        assert_int_equal(why->links[0]->pods, 2);
        assert_string_equal(why->links[0]->example, "x/b");
        assert_contains(
            why->links[0]->text,
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable");
        assert_non_null(cause_of(why->links[0], "the nearest is n2: 500m cpu more would do"));
    }
    assert_int_equal(scene_why(s, "n2")->n_links, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_second_half_is_left_out),
        SCENE_TEST(the_nearest_node_is_named),
        SCENE_TEST(a_cordon_keeps_it_out),
        SCENE_TEST(a_cordon_that_is_not_the_reason),
        SCENE_TEST(the_cluster_has_changed_since),
        SCENE_TEST(another_reason_than_the_scheduler_saw),
        SCENE_TEST(not_every_pod_asks_all_nodes),
        cmocka_unit_test(absurd_quantities),
        SCENE_TEST(bytes_are_rounded_up),
        SCENE_TEST(gates_are_somebody_elses),
        SCENE_TEST(what_may_not_be_read_is_done_without),
        SCENE_TEST(pods_of_a_node_that_find_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
