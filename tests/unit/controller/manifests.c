/* Tests of src/controller/manifests.c: what must be so whatever the names are. Whether servers take
 * the objects and the account can do its work is tested with a server
 * (tests/cluster/test_install.py), and the whole text is compared with the files in the tree
 * (tests/cli/test_manifests.py). */
#include "controller/manifests.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"

enum { ALL = PART_RBAC | PART_CRDS | PART_CONTROLLER | PART_FLOW_SCHEMA };

static json_t *make(enum manifest_form form, unsigned parts) {
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *list = NULL;
    int rc = manifests_make(
        &(struct manifest_opts){
            .form = form, .parts = parts, .ns = "test-ns", .image = "test-image:1", .replicas = 3},
        &list, &err);
    if (rc)
        fail_msg("%s", err_msg(&err));
    return list;
}

static const json_t *find(const json_t *list, const char *kind) {
    size_t i;
    json_t *object;
    json_array_foreach(list, i, object) if (streq(json_str(object, "kind"), kind)) return object;
    fail_msg("there is no %s", kind);
    return NULL;
}

/* Nothing that should have been put in is left, and nothing is missing. */
static void assert_filled(const json_t *value) {
    const char *text = json_string_value(value), *key;
    size_t i;
    json_t *member;
    assert_non_null(value);
    if (text && text[0] == '$')
        fail_msg("%s was left", text);
    json_array_foreach(value, i, member) assert_filled(member);
    json_object_foreach((json_t *)value, key, member) assert_filled(member);
}

static void all_is_filled_in(void **state) {
    (void)state;
    for (int form = 0; form < FORM_COUNT; form++) {
        _cleanup_json_ json_t *list = make((enum manifest_form)form, ALL);
        size_t i;
        json_t *object;
        assert_true(json_array_size(list) > 10);
        json_array_foreach(list, i, object) {
            assert_non_null(json_str(object, "apiVersion"));
            assert_non_null(json_str(object, "kind"));
            assert_non_null(json_str(json_object_get(object, "metadata"), "name"));
            /* Their descriptions are full of such texts; they are not made from a template. */
            if (!streq(json_str(object, "kind"), "CustomResourceDefinition"))
                assert_filled(object);
        }
    }
}

static void values(void **state) {
    (void)state;
    _cleanup_json_ json_t *list = make(FORM_SLIPWAY, ALL);
    const json_t *spec = json_object_get(find(list, "Deployment"), "spec");
    const json_t *pod = json_object_get(json_object_get(spec, "template"), "spec");
    const json_t *container = json_array_get(json_object_get(pod, "containers"), 0);
    assert_int_equal(json_integer_value(json_object_get(spec, "replicas")), 3);
    assert_string_equal(json_str(container, "image"), "test-image:1");
    assert_string_equal(json_str(pod, "serviceAccountName"), "slipway-controller");
    assert_string_equal(json_str(json_object_get(find(list, "Namespace"), "metadata"), "name"),
                        "test-ns");
    assert_string_equal(json_str(json_object_get(find(list, "Service"), "metadata"), "name"),
                        "slipway-fleetlock");
}

static bool may(const json_t *role, const char *resource, const char *verb) {
    size_t i, k;
    json_t *rule, *has;
    json_array_foreach(json_object_get(role, "rules"), i, rule) {
        const json_t *resources = json_object_get(rule, "resources");
        if (!streq(json_string_value(json_array_get(resources, 0)), resource))
            continue;
        json_array_foreach(json_object_get(rule, "verbs"), k,
                           has) if (streq(json_string_value(has), verb)) return true;
    }
    return false;
}

/* Policies are obeyed by both, where the definitions are; but only the form that has them deletes.
 */
static void forms(void **state) {
    (void)state;
    _cleanup_json_ json_t *own = make(FORM_SLIPWAY, ALL);
    _cleanup_json_ json_t *seed = make(FORM_REBOOT_MANAGER, ALL);
    const json_t *more = find(own, "ClusterRole"), *less = find(seed, "ClusterRole");
    assert_true(may(more, "pods", "delete"));
    assert_false(may(less, "pods", "delete"));
    assert_true(may(less, "pods", "watch"));
    assert_true(may(less, "pods/eviction", "create"));
    assert_true(may(more, "maintenances/status", "patch"));
    assert_true(may(less, "policies", "patch"));
    assert_true(may(less, "maintenances/status", "patch"));
    size_t i;
    json_t *object;
    json_array_foreach(seed, i, object)
        assert_string_not_equal(json_str(object, "kind"), "CustomResourceDefinition");
    assert_non_null(find(own, "CustomResourceDefinition"));
}

static void parts(void **state) {
    (void)state;
    size_t sum = 0;
    for (unsigned part = PART_RBAC; part <= PART_FLOW_SCHEMA; part *= 2) {
        _cleanup_json_ json_t *list = make(FORM_SLIPWAY, part);
        assert_true(json_array_size(list) > 0);
        sum += json_array_size(list);
    }
    _cleanup_json_ json_t *all = make(FORM_SLIPWAY, ALL);
    assert_int_equal(json_array_size(all), sum);
    _cleanup_json_ json_t *none = make(FORM_REBOOT_MANAGER, PART_CRDS);
    assert_int_equal(json_array_size(none), 0);
}

static void assert_taken(const char *ns, const char *image, const char *why) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *list = NULL;
    int rc = manifests_make(
        &(struct manifest_opts){.parts = PART_RBAC, .ns = ns, .image = image, .replicas = 1}, &list,
        &err);
    assert_int_equal(rc, why ? -EINVAL : 0);
    if (why)
        assert_non_null(strstr(err_msg(&err), why));
}

static void names_that_cannot_be(void **state) {
    (void)state;
    static const char *const namespaces[] = {"", "-a", "a-", "A", "a.b", "a b", "a/b", "$name"};
    static const char *const images[] = {"", "a b", "-a", "/a", "a:", "a@", "a/", "a\n", "$name"};
    static const char *const good[] = {"a", "localhost/a:1", "r.example:5000/b/c@sha256:00ff",
                                       "A_b"};
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        assert_taken(namespaces[i], "a", "cannot be the name of a namespace");
    for (size_t i = 0; i < ARRAY_LEN(images); i++)
        assert_taken("a", images[i], "cannot be the name of an image");
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_taken("a-1", good[i], NULL);
    char longest[65] = "";
    memset(longest, 'a', 63);
    assert_taken(longest, "a", NULL);
    longest[63] = 'a';
    assert_taken(longest, "a", "namespace");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_filled_in),
        cmocka_unit_test(values),
        cmocka_unit_test(forms),
        cmocka_unit_test(parts),
        cmocka_unit_test(names_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
