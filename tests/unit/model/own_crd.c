/* Tests of src/model/own_crd.c: what every definition must have. Whether servers take them is
 * tested with servers (tests/cluster/test_conformance_resources.py). */
#include "model/own_crd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"

static json_t *make(const struct kind *kind) {
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    own_crd(own_resource(kind), &w);
    json_t *crd = json_loads(str_get(&text), JSON_REJECT_DUPLICATES, NULL);
    if (!crd)
        fail_msg("no JSON: %s", str_get(&text));
    return crd;
}

static const json_t *version_of(const json_t *crd) {
    return json_array_get(json_object_get(json_object_get(crd, "spec"), "versions"), 0);
}

static const json_t *root_of(const json_t *crd) {
    return json_object_get(json_object_get(version_of(crd), "schema"), "openAPIV3Schema");
}

/* "spec.drain.rules.items.grace": properties are stepped over. */
static const json_t *schema_of(const json_t *crd, const char *path) {
    const json_t *at = root_of(crd);
    _cleanup_free_ char *copy = xstrdup(path);
    char *rest = NULL;
    for (char *step = strtok_r(copy, ".", &rest); step; step = strtok_r(NULL, ".", &rest))
        at = streq(step, "items") ? json_object_get(at, "items")
                                  : json_object_get(json_object_get(at, "properties"), step);
    if (!at)
        fail_msg("there is no %s", path);
    return at;
}

static void envelope(void **state) {
    (void)state;
    for (size_t i = 0; own_kinds[i]; i++) {
        _cleanup_json_ json_t *crd = make(own_kinds[i]);
        const json_t *spec = json_object_get(crd, "spec");
        const json_t *names = json_object_get(spec, "names");
        const json_t *version = version_of(crd);
        _cleanup_free_ char *name = xasprintf("%s.slipway.dev", own_kinds[i]->resource);
        assert_string_equal(json_str(crd, "apiVersion"), "apiextensions.k8s.io/v1");
        assert_string_equal(json_str(json_object_get(crd, "metadata"), "name"), name);
        assert_string_equal(json_str(spec, "group"), "slipway.dev");
        assert_string_equal(json_str(spec, "scope"), "Cluster");
        assert_string_equal(json_str(names, "kind"), own_kinds[i]->name);
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(names, "categories"), 0)), "slipway");
        assert_int_equal(json_array_size(json_object_get(names, "shortNames")), 1);
        assert_string_equal(json_str(version, "name"), "v1alpha1");
        assert_true(json_is_true(json_object_get(version, "served")));
        assert_true(json_is_true(json_object_get(version, "storage")));
        assert_true(
            json_is_object(json_object_get(json_object_get(version, "subresources"), "status")));
        assert_true(json_array_size(json_object_get(version, "additionalPrinterColumns")) > 4);
        assert_int_equal(json_array_size(json_object_get(root_of(crd), "required")), 1);
    }
}

/* Nothing may be anything: a field of which nothing is known is kept whatever it holds. */
static void check_schema(const json_t *schema, bool described) {
    const char *key;
    json_t *in;
    assert_true(json_str(schema, "type") ||
                json_is_true(json_object_get(schema, "x-kubernetes-int-or-string")));
    assert_true(!described || json_str(schema, "description"));
    assert_null(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
    json_object_foreach(json_object_get(schema, "properties"), key, in) {
        bool ours = !streq(key, "apiVersion") && !streq(key, "kind") && !streq(key, "metadata");
        check_schema(in, ours);
    }
    if (json_str(schema, "type") && streq(json_str(schema, "type"), "array"))
        check_schema(json_object_get(schema, "items"), true);
}

static void structural(void **state) {
    (void)state;
    for (size_t i = 0; own_kinds[i]; i++) {
        _cleanup_json_ json_t *crd = make(own_kinds[i]);
        check_schema(root_of(crd), true);
    }
}

static void bounds(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = make(&kind_policy);
    const json_t *deny = schema_of(crd, "spec.fleetlock.denyStatus");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(deny, "enum"), 0)), 404);
    assert_int_equal(json_integer_value(json_object_get(deny, "default")), 404);
    const json_t *failed = schema_of(crd, "spec.maxFailed");
    assert_int_equal(json_integer_value(json_object_get(failed, "minimum")), 0);
    assert_true(json_is_integer(json_object_get(failed, "minimum")));
    const json_t *grace = schema_of(crd, "spec.drain.rules.items.grace");
    assert_true(json_is_true(json_object_get(grace, "x-kubernetes-int-or-string")));
    assert_null(json_object_get(grace, "type"));
    assert_non_null(json_str(grace, "pattern"));
    const json_t *rules = schema_of(crd, "spec.drain.rules");
    assert_string_equal(json_str(rules, "x-kubernetes-list-type"), "map");
    assert_int_equal(json_integer_value(json_object_get(rules, "maxItems")), 1000);
    assert_string_equal(json_str(schema_of(crd, "spec.fleetlock.groups"), "x-kubernetes-list-type"),
                        "set");
    assert_null(json_object_get(schema_of(crd, "spec.maxZones"), "default"));
}

static bool has_rule(const json_t *schema, const char *cel, const char *path) {
    const json_t *rules = json_object_get(schema, "x-kubernetes-validations");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        const json_t *r = json_array_get(rules, i);
        assert_non_null(json_str(r, "message"));
        if (streq(json_str(r, "rule"), cel) && str_same(json_str(r, "fieldPath"), path))
            return true;
    }
    return false;
}

/* Where it is always there the field itself says so; else the object around it, which also sees
 * that it is added or taken away. */
static void what_is_fixed(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = make(&kind_maintenance);
    assert_true(has_rule(schema_of(crd, "spec.node"), "self == oldSelf", NULL));
    assert_true(has_rule(schema_of(crd, "spec.operation"), "self == oldSelf", NULL));
    assert_true(has_rule(schema_of(crd, "spec"),
                         "has(self.policy) == has(oldSelf.policy) && (!has(self.policy) || "
                         "self.policy == oldSelf.policy)",
                         ".policy"));
    assert_null(json_object_get(schema_of(crd, "spec.policy"), "x-kubernetes-validations"));
    assert_null(json_object_get(schema_of(crd, "spec.paused"), "x-kubernetes-validations"));
    _cleanup_json_ json_t *policy = make(&kind_policy);
    assert_true(has_rule(root_of(policy), "size(self.metadata.name) <= 239", NULL));
    /* A rule that only those who read the object can decide is none for the server. */
    assert_null(
        json_object_get(schema_of(policy, "spec.nodeSelector"), "x-kubernetes-validations"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(envelope),
        cmocka_unit_test(structural),
        cmocka_unit_test(bounds),
        cmocka_unit_test(what_is_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
