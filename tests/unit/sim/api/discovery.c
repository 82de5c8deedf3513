/* Discovery documents. What is expected was answered by a 1.36.3 API server with these resources
 * (tests/cluster/test_tables.py compares all built-in ones with a living server). */
#include "sim/api/discovery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct resource_info widget_v1 = {
    .group = "b.example.com",
    .version = "v1",
    .kind = "Widget",
    .list_kind = "WidgetList",
    .plural = "widgets",
    .singular = "widget",
    .short_names = NAMES("wd", "a"),
    .categories = NAMES("all", "zoo"),
    .namespaced = true,
    .has_status = true,
    .has_scale = true,
    .custom = true,
    .verbs = VERBS_ALL,
};
static const struct resource_info widget_v1beta1 = {
    .group = "b.example.com",
    .version = "v1beta1",
    .kind = "Widget",
    .list_kind = "WidgetList",
    .plural = "widgets",
    .singular = "widget",
    .namespaced = true,
    .custom = true,
    .verbs = VERB_DELETE | VERB_DELETECOLLECTION | VERB_GET | VERB_LIST | VERB_WATCH,
};
static const struct resource_info widget_v2alpha1 = {
    .group = "b.example.com",
    .version = "v2alpha1",
    .kind = "Widget",
    .list_kind = "WidgetList",
    .plural = "widgets",
    .singular = "widget",
    .namespaced = true,
    .custom = true,
    .verbs = VERBS_ALL,
};
static const struct resource_info thing = {
    .group = "a.example.com",
    .version = "v1beta1",
    .kind = "Thing",
    .list_kind = "ThingList",
    .plural = "things",
    .singular = "thing",
    .custom = true,
    .verbs = VERBS_ALL,
};

/* In no order; pods are among the last of their group. */
static struct discovery some(void) {
    static const struct resource_info *rows[8];
    rows[0] = &widget_v2alpha1;
    rows[1] = resource_find("", "v1", "pods");
    rows[2] = &thing;
    rows[3] = resource_find("policy", "v1", "poddisruptionbudgets");
    rows[4] = &widget_v1;
    rows[5] = resource_find("", "v1", "configmaps");
    rows[6] = &widget_v1beta1;
    rows[7] = resource_find("authorization.k8s.io", "v1", "selfsubjectaccessreviews");
    return (struct discovery){rows, 8};
}

/* `document` has ' for ". */
static void expect(const struct str *out, const char *document) {
    _cleanup_free_ char *copy = xstrdup(document);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    assert_string_equal(str_get(out), copy);
}

static void test_core(void **state) {
    (void)state;
    struct discovery d = some(), none = {NULL, 0};
    _cleanup_str_ struct str out = STR_INIT;
    discovery_core(&d, "127.0.0.1:6443", &out);
    expect(&out, "{'kind':'APIVersions','versions':['v1'],'serverAddressByClientCIDRs':[{"
                 "'clientCIDR':'0.0.0.0/0','serverAddress':'127.0.0.1:6443'}]}");
    str_reset(&out);
    discovery_core(&none, NULL, &out);
    expect(&out, "{'kind':'APIVersions','versions':[],'serverAddressByClientCIDRs':[]}");
}

/* Built-in groups first. Then the custom ones: by the names of the objects that register their
 * versions, and so "v1.b.example.com" goes before "v1beta1.a.example.com". */
static void test_groups(void **state) {
    (void)state;
    struct discovery d = some(), none = {NULL, 0};
    _cleanup_str_ struct str out = STR_INIT;
    discovery_groups(&d, &out);
    expect(&out,
           "{'kind':'APIGroupList','apiVersion':'v1','groups':["
           "{'name':'policy','versions':[{'groupVersion':'policy/v1','version':'v1'}],"
           "'preferredVersion':{'groupVersion':'policy/v1','version':'v1'}},"
           "{'name':'authorization.k8s.io','versions':[{'groupVersion':'authorization.k8s.io/v1',"
           "'version':'v1'}],'preferredVersion':{'groupVersion':'authorization.k8s.io/v1',"
           "'version':'v1'}},"
           "{'name':'b.example.com','versions':["
           "{'groupVersion':'b.example.com/v1','version':'v1'},"
           "{'groupVersion':'b.example.com/v1beta1','version':'v1beta1'},"
           "{'groupVersion':'b.example.com/v2alpha1','version':'v2alpha1'}],"
           "'preferredVersion':{'groupVersion':'b.example.com/v1','version':'v1'}},"
           "{'name':'a.example.com','versions':[{'groupVersion':'a.example.com/v1beta1',"
           "'version':'v1beta1'}],'preferredVersion':{'groupVersion':'a.example.com/v1beta1',"
           "'version':'v1beta1'}}]}");
    str_reset(&out);
    discovery_groups(&none, &out);
    expect(&out, "{'kind':'APIGroupList','apiVersion':'v1','groups':[]}");
}

static void test_group(void **state) {
    (void)state;
    struct discovery d = some();
    _cleanup_str_ struct str out = STR_INIT;
    assert_true(discovery_group(&d, "policy", &out));
    expect(&out, "{'kind':'APIGroup','apiVersion':'v1','name':'policy','versions':[{"
                 "'groupVersion':'policy/v1','version':'v1'}],'preferredVersion':{"
                 "'groupVersion':'policy/v1','version':'v1'}}");
    str_reset(&out);
    assert_false(discovery_group(&d, "", &out));
    assert_false(discovery_group(&d, "apps", &out));
    assert_false(discovery_group(&d, "example.com", &out));
    assert_int_equal(out.len, 0);
}

/* What verbs there are: of built-in resources, of custom ones, of subresources. */
#define ALL "'verbs':['create','delete','deletecollection','get','list','patch','update','watch']"
#define CUSTOM                                                                                     \
    "'verbs':['delete','deletecollection','get','list','patch','create','update','watch']"
#define PART "'verbs':['get','patch','update']"

static void test_resources(void **state) {
    (void)state;
    struct discovery d = some();
    _cleanup_str_ struct str out = STR_INIT;
    assert_true(discovery_resources(&d, "", "v1", &out));
    expect(&out,
           "{'kind':'APIResourceList','groupVersion':'v1','resources':["
           "{'name':'configmaps','singularName':'configmap','namespaced':true,"
           "'kind':'ConfigMap'," ALL ",'shortNames':['cm'],'storageVersionHash':'qFsyl6wFWjQ='},"
           "{'name':'pods','singularName':'pod','namespaced':true,'kind':'Pod'," ALL
           ",'shortNames':['po'],'categories':['all'],'storageVersionHash':'xPOwRZ+Yhw8='},"
           "{'name':'pods/binding','singularName':'','namespaced':true,'kind':'Binding',"
           "'verbs':['create']},"
           "{'name':'pods/eviction','singularName':'','namespaced':true,'group':'policy',"
           "'version':'v1','kind':'Eviction','verbs':['create']},"
           "{'name':'pods/status','singularName':'','namespaced':true,'kind':'Pod'," PART "}]}");
    str_reset(&out);
    assert_true(discovery_resources(&d, "b.example.com", "v1", &out));
    expect(&out, "{'kind':'APIResourceList','apiVersion':'v1','groupVersion':'b.example.com/v1',"
                 "'resources':[{'name':'widgets','singularName':'widget','namespaced':true,"
                 "'kind':'Widget'," CUSTOM ",'shortNames':['wd','a'],'categories':['all','zoo'],"
                 "'storageVersionHash':'c+ufeAyjVs8='},"
                 "{'name':'widgets/status','singularName':'','namespaced':true,"
                 "'kind':'Widget'," PART "},"
                 "{'name':'widgets/scale','singularName':'','namespaced':true,"
                 "'group':'autoscaling','version':'v1','kind':'Scale'," PART "}]}");
    str_reset(&out);
    assert_false(discovery_resources(&d, "", "v2", &out));
    assert_false(discovery_resources(&d, "apps", "v1", &out));
    assert_false(discovery_resources(&d, "b.example.com", "v3", &out));
    assert_false(discovery_resources(&d, "b.example.com", "", &out));
    assert_int_equal(out.len, 0);
}

static void test_aggregated_core(void **state) {
    (void)state;
    struct discovery d = some(), none = {NULL, 0};
    _cleanup_str_ struct str out = STR_INIT;
    discovery_aggregated(&d, true, &out);
    expect(&out,
           "{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2','metadata':{},"
           "'items':[{'metadata':{},'versions':[{'version':'v1','resources':["
           "{'resource':'configmaps','responseKind':{'group':'','version':'','kind':'ConfigMap'},"
           "'scope':'Namespaced','singularResource':'configmap'," ALL ",'shortNames':['cm']},"
           "{'resource':'pods','responseKind':{'group':'','version':'','kind':'Pod'},"
           "'scope':'Namespaced','singularResource':'pod'," ALL ",'shortNames':['po'],"
           "'categories':['all'],'subresources':["
           "{'subresource':'binding','responseKind':{'group':'','version':'','kind':'Binding'},"
           "'verbs':['create']},"
           "{'subresource':'eviction','responseKind':{'group':'policy','version':'v1',"
           "'kind':'Eviction'},'verbs':['create']},"
           "{'subresource':'status','responseKind':{'group':'','version':'','kind':'Pod'}," PART
           "}]}],'freshness':'Current'}]}]}");
    str_reset(&out);
    discovery_aggregated(&none, true, &out);
    expect(&out, "{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2',"
                 "'metadata':{},'items':[]}");
}

/* By name here; custom kinds say their group; a definition that is going away cannot be written to.
 */
static void test_aggregated_groups(void **state) {
    (void)state;
    const struct resource_info *rows[] = {&widget_v1, &widget_v1beta1, &thing};
    struct discovery d = {rows, ARRAY_LEN(rows)};
    _cleanup_str_ struct str out = STR_INIT;
    discovery_aggregated(&d, false, &out);
    expect(
        &out,
        "{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2','metadata':{},"
        "'items':[{'metadata':{'name':'a.example.com'},'versions':[{'version':'v1beta1',"
        "'resources':[{'resource':'things','responseKind':{'group':'a.example.com',"
        "'version':'v1beta1','kind':'Thing'},'scope':'Cluster','singularResource':'thing'," CUSTOM
        "}],'freshness':'Current'}]},"
        "{'metadata':{'name':'b.example.com'},'versions':[{'version':'v1','resources':[{"
        "'resource':'widgets','responseKind':{'group':'b.example.com','version':'v1',"
        "'kind':'Widget'},'scope':'Namespaced','singularResource':'widget'," CUSTOM
        ",'shortNames':['wd','a'],'categories':['all','zoo'],'subresources':["
        "{'subresource':'status','responseKind':{'group':'b.example.com','version':'v1',"
        "'kind':'Widget'}," PART "},"
        "{'subresource':'scale','responseKind':{'group':'autoscaling','version':'v1',"
        "'kind':'Scale'}," PART "}]}],'freshness':'Current'},"
        "{'version':'v1beta1','resources':[{'resource':'widgets','responseKind':{"
        "'group':'b.example.com','version':'v1beta1','kind':'Widget'},'scope':'Namespaced',"
        "'singularResource':'widget','verbs':['delete','deletecollection','get','list','watch']"
        "}],'freshness':'Current'}]}]}");
}

/* A definition in a group that is built in does not change the group's place. */
static void test_custom_in_built_in_group(void **state) {
    (void)state;
    struct resource_info odd = thing;
    odd.group = "policy";
    const struct resource_info *rows[] = {&odd, &thing,
                                          resource_find("policy", "v1", "poddisruptionbudgets")};
    struct discovery d = {rows, 3};
    _cleanup_str_ struct str out = STR_INIT;
    discovery_groups(&d, &out);
    const char *policy = strstr(str_get(&out), "{\"name\":\"policy\"");
    const char *custom = strstr(str_get(&out), "{\"name\":\"a.example.com\"");
    assert_true(policy && custom && policy < custom);
    assert_non_null(strstr(policy, "\"preferredVersion\":{\"groupVersion\":\"policy/v1\""));
}

/* As apimachinery's pkg/version tests have it: stable before beta before alpha, newer first, then
 * what has no such form, by its name. */
static void test_versions(void **state) {
    (void)state;
    static const char *const order[] = {"v10",
                                        "v2",
                                        "v1",
                                        "v12beta2",
                                        "v12beta1",
                                        "v3beta1",
                                        "v12alpha1",
                                        "v11alpha2",
                                        "v1alpha10",
                                        "v1alpha2",
                                        "foo1",
                                        "foo10",
                                        "v",
                                        "v1beta",
                                        "v1beta1x",
                                        "v1gamma1",
                                        "v99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (size_t k = 0; k < ARRAY_LEN(order); k++) {
            int seen = discovery_compare_versions(order[i], order[k]);
            assert_int_equal((seen > 0) - (seen < 0), (i > k) - (i < k));
        }
}

static void test_version(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    discovery_version(&out);
    _cleanup_json_ json_t *document = json_loads(str_get(&out), 0, NULL);
    assert_string_equal(json_str(document, "major"), "1");
    assert_string_equal(json_str(document, "minor"), "36");
    assert_string_equal(json_str(document, "gitVersion"), "v1.36.3+slipway-sim");
    assert_int_equal(json_object_size(document), 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_aggregated_core),
        cmocka_unit_test(test_aggregated_groups),
        cmocka_unit_test(test_custom_in_built_in_group),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests_name("discovery", tests, NULL, NULL);
}
