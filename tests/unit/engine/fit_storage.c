/* Tests of src/engine/fit_storage.c: the picture of volumes, claims and classes while they come, go
 * and change. What they mean for pods is tested in fit_volumes.c. */
#include "fit_scene.h"

#include "../support/make.h"
#include "engine/fit_internal.h"

static void class(struct scene *s, const char *name) {
    const char *interned = make_str(s->pool, name);
    fit_put_class(s->fit, &(struct fit_class){.name = interned, .waits = true});
    pool_unref(s->pool, interned);
}

static void volume(struct scene *s, const char *name, const char *class, const char *claim) {
    scene_put(s, &kind_pv, "{'metadata':{'name':'%s'},'spec':{'storageClassName':'%s'%s%s%s}}",
              name, class, *claim ? ",'claimRef':{'namespace':'d','name':'" : "", claim,
              *claim ? "'}" : "");
}

static void volumes_are_free_or_claimed(void **state) {
    struct scene *s = *state;
    volume(s, "a", "slow", "");
    volume(s, "b", "slow", "");
    volume(s, "c", "fast", "");
    assert_int_equal(fit_storage_find(s->fit, "slow")->free.len, 2);
    assert_int_equal(fit_storage_find(s->fit, "fast")->free.len, 1);
    assert_false(fit_storage_find(s->fit, "fast")->known); /* there is no such object */
    volume(s, "a", "slow", "mine");
    assert_int_equal(fit_storage_find(s->fit, "slow")->free.len, 1);
    assert_int_equal(fit_claim_find(s->fit, "d", "mine")->volumes.len, 1);
    assert_false(fit_claim_find(s->fit, "d", "mine")->known);
    volume(s, "b", "slow", "mine");
    assert_null(fit_storage_find(s->fit, "slow"));
    assert_int_equal(fit_claim_find(s->fit, "d", "mine")->volumes.len, 2);
    volume(s, "b", "fast", ""); /* given back, into another class */
    assert_int_equal(fit_storage_find(s->fit, "fast")->free.len, 2);
    fit_remove_volume(s->fit, "a");
    assert_null(fit_claim_find(s->fit, "d", "mine"));
    assert_null(fit_volume_find(s->fit, "a"));
    fit_remove_volume(s->fit, "a"); /* twice is once */
}

static void claims_are_what_was_put_last(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'c','uid':'1','annotations':{"
              "'pv.kubernetes.io/bind-completed':'yes','volume.kubernetes.io/selected-node':'n'}},"
              "'spec':{'volumeName':'v','storageClassName':'slow','volumeMode':'Block',"
              "'accessModes':['ReadWriteOncePod'],'resources':{'requests':{'storage':'2Gi'}}}}");
    const struct fit_claim *c = fit_claim_find(s->fit, "d", "c");
    assert_true(c->known && c->bound && c->once_pod && !c->lost && !c->leaving);
    assert_string_equal(c->volume, "v");
    assert_string_equal(c->node, "n");
    assert_string_equal(c->class, "slow");
    assert_string_equal(c->mode, "Block");
    assert_int_equal(c->size, INT64_C(2000) << 30);
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'c','uid':'2','annotations':{"
              "'volume.beta.kubernetes.io/storage-class':'old'}},'spec':{'storageClassName':'new'},"
              "'status':{'phase':'Lost'}}");
    c = fit_claim_find(s->fit, "d", "c");
    assert_true(c->known && !c->bound && !c->once_pod && c->lost);
    assert_string_equal(c->uid, "2");
    assert_string_equal(c->class, "old");
    assert_null(c->volume);
    assert_null(c->node);
    fit_remove_claim(s->fit, "d", "c");
    assert_null(fit_claim_find(s->fit, "d", "c"));
    fit_remove_claim(s->fit, "d", "c");
    assert_null(fit_claim_find(s->fit, "e", "c"));
}

/* Pods that use a claim keep it in mind while the object is away. */
static void users_are_counted_whatever_comes_first(void **state) {
    struct scene *s = *state;
    static const char pod[] =
        "{'metadata':{'namespace':'d','name':'%s'},'spec':{'nodeName':'n','volumes':[{'name':'v',"
        "'persistentVolumeClaim':{'claimName':'c'}}]}}";
    scene_put(s, &kind_pod, pod, "p");
    assert_null(fit_claim_find(s->fit, "d", "c")); /* its node is not known yet */
    scene_node(s, "n", "");
    assert_int_equal(fit_claim_find(s->fit, "d", "c")->users, 1);
    scene_put(s, &kind_pod, pod, "q");
    scene_put(s, &kind_pvc, "{'metadata':{'namespace':'d','name':'c'}}");
    assert_int_equal(fit_claim_find(s->fit, "d", "c")->users, 2);
    fit_remove_claim(s->fit, "d", "c");
    assert_int_equal(fit_claim_find(s->fit, "d", "c")->users, 2);
    fit_remove_pod(s->fit, "d", "p");
    fit_remove_node(s->fit, "n");
    assert_null(fit_claim_find(s->fit, "d", "c"));
    scene_node(s, "n", "");
    assert_int_equal(fit_claim_find(s->fit, "d", "c")->users, 1);
}

static void classes_come_and_go(void **state) {
    struct scene *s = *state;
    class(s, "slow");
    assert_true(fit_storage_find(s->fit, "slow")->known);
    volume(s, "a", "slow", "");
    fit_remove_class(s->fit, "slow");
    assert_false(fit_storage_find(s->fit, "slow")->known);
    assert_false(fit_storage_find(s->fit, "slow")->waits);
    class(s, "slow");
    assert_int_equal(fit_storage_find(s->fit, "slow")->free.len, 1);
    fit_remove_volume(s->fit, "a");
    assert_non_null(fit_storage_find(s->fit, "slow"));
    fit_remove_class(s->fit, "slow");
    assert_null(fit_storage_find(s->fit, "slow"));
    fit_remove_class(s->fit, "never seen");
    assert_null(fit_storage_find(s->fit, "never seen"));
}

/* What is left at the end is freed; the teardown counts. */
static void the_rest_is_given_back(void **state) {
    struct scene *s = *state;
    class(s, "slow");
    volume(s, "a", "slow", "");
    volume(s, "b", "slow", "mine");
    scene_put(s, &kind_pvc,
              "{'metadata':{'namespace':'d','name':'mine'},'spec':{'storageClassName':'slow',"
              "'selector':{'matchLabels':{'a':'b'}}}}");
    assert_int_equal(s->fit->volumes.len, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(volumes_are_free_or_claimed),
        SCENE_TEST(claims_are_what_was_put_last),
        SCENE_TEST(users_are_counted_whatever_comes_first),
        SCENE_TEST(classes_come_and_go),
        SCENE_TEST(the_rest_is_given_back),
    };
    return cmocka_run_group_tests_name("engine/fit_storage", tests, NULL, NULL);
}
