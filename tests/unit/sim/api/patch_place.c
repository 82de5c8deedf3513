/* Tests of sim/api/patch_place: the fields of Kubernetes' types and how they are merged. The
 * messages are apimachinery's. */
#include "patch_check.h"

/* Goes down a path of fields; the last of them in `strategy`. */
static struct place walk(const char *kind, const char *path, struct strategy *strategy) {
    _cleanup_free_ char *copy = xstrdup(path);
    const struct schema *s = schema_find(streq(kind, "Deployment") ? "apps" : "", "v1", kind);
    struct place at = place_root(s);
    char *rest = copy, *part;
    while ((part = strsep(&rest, "."))) {
        size_t len = strlen(part);
        bool items = len > 2 && streq(part + len - 2, "[]");
        if (items)
            part[len - 2] = '\0';
        _cleanup_err_ struct err err = ERR_INIT;
        struct place next;
        if (items ? place_items(at, part, &next, strategy, &err)
                  : place_field(at, part, &next, strategy, &err))
            fail_msg("%s: %s", path, err_msg(&err));
        at = next;
    }
    return at;
}

static void test_fields(void **state) {
    (void)state;
    static const struct {
        const char *kind, *path, *go, *under, *name;
        bool merge, replace;
        const char *merge_key;
    } rows[] = {
        {"Pod", "metadata", "struct", "struct", "ObjectMeta", false, false, ""},
        {"Pod", "metadata.labels", "map", "map", NULL, false, false, ""},
        {"Pod", "metadata.finalizers[]", "string", "string", NULL, true, false, ""},
        {"Pod", "metadata.finalizers", "slice", "slice", NULL, true, false, ""},
        {"Pod", "metadata.creationTimestamp", "struct", "struct", "Time", false, false, ""},
        {"Pod", "metadata.deletionTimestamp", "ptr", "struct", "Time", false, false, ""},
        {"Pod", "spec.containers[]", "struct", "struct", "Container", true, false, "name"},
        {"Pod", "spec.containers[].ports[]", "struct", "struct", "ContainerPort", true, false,
         "containerPort"},
        {"Pod", "spec.containers[].securityContext", "ptr", "struct", "SecurityContext", false,
         false, ""},
        {"Pod", "spec.volumes[]", "struct", "struct", "Volume", true, false, "name"},
        /* through what is inlined there */
        {"Pod", "spec.volumes[].configMap", "ptr", "struct", "ConfigMapVolumeSource", false, false,
         ""},
        {"Pod", "spec.tolerations[]", "struct", "struct", "Toleration", false, false, ""},
        {"Service", "spec.ports[]", "struct", "struct", "ServicePort", true, false, "port"},
        {"Deployment", "spec.strategy", "struct", "struct", "DeploymentStrategy", false, false, ""},
        {"Deployment", "spec.replicas", "ptr", "int32", NULL, false, false, ""},
        /* a pointer to no list is taken for one */
        {"Deployment", "spec.replicas[]", "int32", "int32", NULL, false, false, ""},
        {"Deployment", "spec.strategy.rollingUpdate.maxSurge", "ptr", "struct", "IntOrString",
         false, false, ""},
        /* without regard to case, when nothing is called so exactly */
        {"Pod", "SPEC.Containers[]", "struct", "struct", "Container", true, false, "name"},
        {"Pod", "\xc5\xbfpec.TOLERATION\xc5\xbf[]", "struct", "struct", "Toleration", false, false,
         ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strategy strategy;
        struct place at = walk(rows[i].kind, rows[i].path, &strategy);
        assert_string_equal(at.kind, rows[i].go);
        assert_string_equal(at.under, rows[i].under);
        if (rows[i].name)
            assert_string_equal(at.name, rows[i].name);
        assert_int_equal(strategy.merge, rows[i].merge);
        assert_int_equal(strategy.replace, rows[i].replace);
        assert_string_equal(strategy.merge_key, rows[i].merge_key);
    }
}

static void refused(const char *kind, const char *path, const char *key, bool items,
                    const char *why) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct strategy strategy;
    struct place next,
        at = *path ? walk(kind, path, &strategy) : place_root(schema_find("", "v1", kind));
    int rc = items ? place_items(at, key, &next, &strategy, &err)
                   : place_field(at, key, &next, &strategy, &err);
    assert_int_equal(rc, -PATCH_BROKEN);
    assert_string_equal(err_msg(&err), why);
}

static void test_errors(void **state) {
    (void)state;
    refused("Pod", "", "foo", false,
            "unable to find api field in struct Pod for the json field \"foo\"");
    refused("Pod", "spec", "a\"\n", true,
            "unable to find api field in struct PodSpec for the json field \"a\\\"\\n\"");
    refused("Pod", "metadata.labels", "a", false,
            "merging an object in json but data type is not struct, instead is: map");
    refused("Pod", "metadata.finalizers", "a", false,
            "merging an object in json but data type is not struct, instead is: slice");
    refused("Deployment", "spec.replicas", "a", false,
            "merging an object in json but data type is not struct, instead is: int32");
    refused("Pod", "metadata.creationTimestamp", "a", false,
            "unable to find api field in struct Time for the json field \"a\"");
    refused("Pod", "spec", "nodeSelector", true, "expected slice or array type, but got: struct");
    refused("Pod", "spec.securityContext", "fsGroupChangePolicyX", true,
            "unable to find api field in struct PodSecurityContext for the json field "
            "\"fsGroupChangePolicyX\"");
    refused("Pod", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
            "nodeSelectorTermsX", true,
            "unable to find api field in struct NodeSelector for the json field "
            "\"nodeSelectorTermsX\"");
    refused("Deployment", "spec.strategy.rollingUpdate", "a", true,
            "unable to find api field in struct RollingUpdateDeployment for the json field \"a\"");
    /* the type of the struct around it, not that of the field */
    refused("Deployment", "spec.selector", "matchLabels", true,
            "expected slice or array type, but got: ptr");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
