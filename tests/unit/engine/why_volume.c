/* Tests of src/engine/why_volume.c. */
#include "engine/why.h"

#include "why_scene.h"

#define CORDONED                                                                                   \
    "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'volumesInUse':['v'],"      \
    "'conditions':[{'type':'Ready','status':'True'}]}}"

static void pv(struct scene *s, const char *name, const char *claim) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'spec':{'claimRef':{'namespace':'x','name':'%s'}}}",
                  name, claim);
    scene_add(s, &kind_pv, json);
}

static void attached(struct scene *s, const char *name, const char *pv, const char *node,
                     const char *status) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s','deletionTimestamp':'2026-11-15T07:55:00Z'},'spec':{"
                  "'nodeName':'%s','source':{'persistentVolumeName':'%s'}},'status':{'attached':"
                  "true%s}}",
                  name, node, pv, status);
    scene_add(s, &kind_volume_attachment, json);
}

static void user(struct scene *s, const char *name, const char *node, const char *claim) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'namespace':'x','name':'%s'," OWNED(
                      "StatefulSet", "db") "},'spec':{"
                                           "'nodeName':'%s','volumes':[{'name':'d','"
                                           "persistentVolumeClaim':{'claimName':'%s'}}]},"
                                           "'status':{'phase':'Pending','containerStatuses':[{'"
                                           "name':'c','state':{'waiting':{"
                                           "'reason':'ContainerCreating'}}}]}}",
                  name, node, claim);
    scene_add(s, &kind_pod, json);
}

static void volumes_that_nobody_uses_are_in_the_way(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, CORDONED);
    pv(s, "pv1", "c1");
    pv(s, "pv2", "c2");
    pv(s, "pv3", "c3");
    attached(s, "va1", "pv1", "n1", ",'detachError':{'message':'device is busy'}");
    attached(s, "va2", "pv2", "n1", "");
    attached(s, "va3", "pv3", "n2", ""); /* another node's */
    const struct why *why = scene_why(s, "n1");
    const struct why_link *l = link_of(why, BLOCKER_VOLUME_ATTACHED);
    assert_int_equal(why->state, WHY_WAITS);
    assert_string_equal(l->object, "pv1");
    assert_contains(l->text, "2 volumes are still attached");
    assert_contains(l->text, "device is busy");
    assert_int_equal(l->since, NOW - SEC(300));
    assert_non_null(remedy_of(l, "kubectl describe volumeattachment va1"));
    assert_int_equal(remedy_of(l, "--volume-detach-timeout")->risk, WHY_RISK_DATA);
}

static void volumes_that_are_used_are_not(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, CORDONED);
    pv(s, "pv1", "c1");
    attached(s, "va1", "pv1", "n1", "");
    user(s, "db-0", "n1", "c1");
    const struct why *why = scene_why(s, "n1");
    for (size_t i = 0; i < why->n_links; i++)
        assert_int_not_equal(why->links[i]->code, BLOCKER_VOLUME_ATTACHED);
}

/* As a plan says it of the node. */
static void a_drain_would_wait_for_them_at_its_end(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    pv(s, "pv1", "c1");
    attached(s, "va1", "pv1", "n1", "");
    const struct why *why = scene_why(s, "n1");
    assert_string_equal(why->summary, "a drain has nothing to move; at its end it would wait for a "
                                      "volume that is still attached");
    assert_contains(link_of(why, BLOCKER_VOLUME_ATTACHED)->text,
                    "when its pods are gone the drain waits: 1 volume is still attached");
    assert_int_equal(why->state, WHY_WAITS);
}

/* Of a node in service: it may well be detached before a drain comes to its end. */
static void what_was_only_just_left_is_nobodys_business(void **state) {
    struct scene *s = *state;
    scene_node(s, "n1");
    pv(s, "pv1", "c1");
    scene_add(s, &kind_volume_attachment,
              "{'metadata':{'name':'va1'},'spec':{'nodeName':'n1','source':{"
              "'persistentVolumeName':'pv1'}},'status':{'attached':true}}");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 0);
    assert_int_equal(why->state, WHY_FREE);
}

static void a_pod_waits_for_a_volume_of_another_node(void **state) {
    struct scene *s = *state;
    scene_node(s, "n2");
    pv(s, "pv1", "c1");
    scene_add(s, &kind_pvc,
              "{'metadata':{'namespace':'x','name':'c1'},'spec':{'volumeName':'pv1'}}");
    attached(s, "va1", "pv1", "n1", "");
    user(s, "db-0", "n2", "c1");
    scene_add(s, &kind_event,
              "{'metadata':{'namespace':'x','name':'e'},'involvedObject':{'kind':'Pod','namespace':"
              "'x','name':'db-0'},'reason':'FailedAttachVolume','message':'Multi-Attach error',"
              "'lastTimestamp':'2026-11-15T07:59:00Z'}");
    const struct why_link *l = scene_why_pod(s, "db-0")->links[0];
    const struct why_link *c = cause_of(l, "still attached to node n1");
    assert_non_null(c);
    assert_string_equal(c->object, "pv1");
    assert_int_equal(c->code, BLOCKER_VOLUME_ATTACHED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(volumes_that_nobody_uses_are_in_the_way),
        SCENE_TEST(volumes_that_are_used_are_not),
        SCENE_TEST(a_drain_would_wait_for_them_at_its_end),
        SCENE_TEST(what_was_only_just_left_is_nobodys_business),
        SCENE_TEST(a_pod_waits_for_a_volume_of_another_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
