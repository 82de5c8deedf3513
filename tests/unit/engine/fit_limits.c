/* Tests of src/engine/fit_limits.c. The rules are those of the plugin NodeVolumeLimits of
 * kube-scheduler v1.36 (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go). */
#include "fit_scene.h"

#define TOO_MANY          "node(s) exceed max volume count"
#define USES(claim)       "{'name':'" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define POD_WITH(volumes) POD("", "'volumes':[" volumes "]")

static void csi_node(struct scene *s, const char *node, const char *drivers) {
    scene_put(s, &kind_csi_node, "{'metadata':{'name':'%s'},'spec':{'drivers':[%s]}}", node,
              drivers);
}

static void limit(struct scene *s, const char *node, int most) {
    _cleanup_free_ char *driver =
        xasprintf("{'name':'other','nodeID':'x'},{'name':'ebs','nodeID':'x','allocatable':{'count':"
                  "%d}}",
                  most);
    csi_node(s, node, driver);
}

/* A claim that is bound to a volume of its name. */
static void bound(struct scene *s, const char *name, const char *driver, const char *handle) {
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'%s','annotations':{"
              "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'%s'}}",
              name, name);
    scene_put(s, &kind_pv,
              "{'metadata':{'name':'%s'},'spec':{'csi':{'driver':'%s','volumeHandle':'%s'},"
              "'claimRef':{'namespace':'d','name':'%s'}}}",
              name, driver, handle, name);
}

static void user(struct scene *s, const char *name, const char *node, const char *volumes) {
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'%s','uid':'%s'},'spec':{'nodeName':'%s',"
              "'volumes':[%s]}}",
              name, name, node, volumes);
}

static void attached(struct scene *s, const char *name, const char *node, const char *pv) {
    scene_put(s, &kind_volume_attachment,
              "{'metadata':{'name':'%s'},'spec':{'attacher':'ebs','nodeName':'%s','source':{"
              "'persistentVolumeName':'%s'}}}",
              name, node, pv);
}

static void class(struct scene *s, const char *name, const char *provisioner) {
    const char *n = pool_str(s->pool, name, strlen(name));
    const char *p = pool_str(s->pool, provisioner, strlen(provisioner));
    fit_put_class(s->fit, &(struct fit_class){
                              .name = n, .waits = true, .provisions = true, .provisioner = p});
    pool_unref(s->pool, n);
    pool_unref(s->pool, p);
}

static void volumes_of_a_driver_are_counted(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    bound(s, "a", "ebs", "1");
    bound(s, "b", "ebs", "2");
    bound(s, "c", "ebs", "3");
    bound(s, "o", "other", "1");
    user(s, "p", "n", USES("a"));
    assert_fits(s, "n", POD_WITH(USES("b"))); /* no limit is known */
    limit(s, "n", 2);
    assert_fits(s, "n", POD_WITH(USES("b")));
    assert_why(s, "n", POD_WITH(USES("b") "," USES("c")), TOO_MANY);
    limit(s, "n", 1);
    assert_why(s, "n", POD_WITH(USES("b")), TOO_MANY);
    assert_fits(s, "n", POD_WITH(USES("o"))); /* of another driver, which has no limit */
    assert_fits(s, "n", POD_WITH(""));
    assert_fits(s, "n", POD_WITH(USES("a"))); /* is there already */
    limit(s, "n", 0);
    assert_fits(s, "n", POD_WITH(USES("a")));
    assert_why(s, "n", POD_WITH(USES("b")), TOO_MANY);
    csi_node(s, "n", "{'name':'ebs','nodeID':'x'}");
    assert_fits(s, "n", POD_WITH(USES("b") "," USES("c")));
    limit(s, "n", 1);
    fit_remove_csi_node(s->fit, "n");
    assert_fits(s, "n", POD_WITH(USES("b")));
}

/* It comes and goes with the pods that use it, whoever that is. */
static void a_volume_counts_once(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    limit(s, "n", 2);
    bound(s, "a", "ebs", "1");
    bound(s, "a2", "ebs", "1"); /* the same disk by another name */
    bound(s, "b", "ebs", "2");
    bound(s, "c", "ebs", "3");
    user(s, "p", "n", USES("a"));
    user(s, "q", "n", USES("a") "," USES("a2"));
    assert_fits(s, "n", POD_WITH(USES("b")));
    user(s, "r", "n", USES("b"));
    assert_why(s, "n", POD_WITH(USES("c")), TOO_MANY);
    fit_remove_pod(s->fit, "d", "p");
    assert_why(s, "n", POD_WITH(USES("c")), TOO_MANY);
    fit_remove_pod(s->fit, "d", "q");
    assert_fits(s, "n", POD_WITH(USES("c")));
}

/* Also when no pod uses it any more; and then once more if this pod does. */
static void what_is_attached_counts(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    scene_node(s, "m", "");
    limit(s, "n", 2);
    bound(s, "a", "ebs", "1");
    bound(s, "b", "ebs", "2");
    user(s, "p", "n", USES("a"));
    attached(s, "x", "n", "a");
    attached(s, "y", "n", "gone"); /* nobody knows what that is */
    assert_fits(s, "n", POD_WITH(USES("b")));
    bound(s, "c", "ebs", "3");
    attached(s, "z", "n", "c");
    attached(s, "z2", "n", "c");
    assert_why(s, "n", POD_WITH(USES("b")), TOO_MANY);
    assert_why(s, "n", POD_WITH(USES("c")), TOO_MANY);
    limit(s, "n", 3);
    assert_fits(s, "n", POD_WITH(USES("b")));
    assert_fits(s, "n", POD_WITH(USES("c")));
    limit(s, "n", 2);
    attached(s, "z", "m", "c");
    fit_remove_attachment(s->fit, "z2");
    assert_fits(s, "n", POD_WITH(USES("b")));
    fit_remove_attachment(s->fit, "none");
    fit_remove_node(s->fit, "m"); /* what is attached to it is known still */
    fit_remove_attachment(s->fit, "z");
}

/* By the provisioner of its class, which may have another name than the driver. */
static void a_volume_that_has_yet_to_be_made(void **state) {
    struct scene *s = *state;
    static const char claim[] = "{'metadata':{'namespace':'d','name':'%s'},'spec':{"
                                "'storageClassName':'%s'}}";
    scene_node(s, "n", "");
    csi_node(s, "n",
             "{'name':'ebs','allocatable':{'count':1}},{'name':'ebs.csi.aws.com','allocatable':{"
             "'count':1}}");
    class(s, "late", "ebs");
    class(s, "old", "kubernetes.io/aws-ebs");
    static const char *const names[] = {"a", "b", "e", "f"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        scene_put(s, &kind_pvc, claim, names[i], i < 2 ? "late" : "old");
    assert_fits(s, "n", POD_WITH(USES("a")));
    assert_why(s, "n", POD_WITH(USES("a") "," USES("b")), TOO_MANY);
    user(s, "p", "n", USES("a"));
    assert_why(s, "n", POD_WITH(USES("b")), TOO_MANY);
    assert_fits(s, "n", POD_WITH(USES("e")));
    assert_why(s, "n", POD_WITH(USES("e") "," USES("f")), TOO_MANY);
}

static void claims_of_ephemeral_volumes_count(void **state) {
    struct scene *s = *state;
    scene_node(s, "n", "");
    limit(s, "n", 1);
    class(s, "late", "ebs");
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'p-e'},'spec':{'storageClassName':'late'}}");
    bound(s, "a", "ebs", "1");
    user(s, "p", "n", "{'name':'e','ephemeral':{}}");
    assert_why(s, "n", POD_WITH(USES("a")), TOO_MANY);
}

/* Evicting the user of a volume makes room, unless that is still attached. */
static void who_would_be_evicted(void **state) {
    struct scene *s = *state;
    static const char important[] =
        POD("", "'priority':9,'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'b'}}]");
    scene_node(s, "n", "");
    limit(s, "n", 1);
    bound(s, "a", "ebs", "1");
    bound(s, "b", "ebs", "2");
    user(s, "p", "n", USES("a"));
    assert_string_equal(scene_explain(s, important),
                        "0/1 nodes are available: 1 node(s) exceed max volume count.");
    attached(s, "x", "n", "a");
    assert_string_equal(scene_explain(s, important),
                        "0/1 nodes are available: 1 node(s) exceed max volume count. no new claims "
                        "to deallocate, preemption: 0/1 nodes are available: 1 node(s) exceed max "
                        "volume count.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(volumes_of_a_driver_are_counted),   SCENE_TEST(a_volume_counts_once),
        SCENE_TEST(what_is_attached_counts),           SCENE_TEST(a_volume_that_has_yet_to_be_made),
        SCENE_TEST(claims_of_ephemeral_volumes_count), SCENE_TEST(who_would_be_evicted),
    };
    return cmocka_run_group_tests_name("engine/fit_limits", tests, NULL, NULL);
}
