/* Tests of sim/api/patch_strategic: what Kubernetes' documents promise of strategic merge patches,
 * and what its library does with others. Every row was compared with it. */
#include "patch_check.h"

/* Rows are: the object, the patch, the result; of a Pod unless the test says otherwise. */
struct row {
    const char *current, *patch, *result;
};

static void all_give(const struct row *rows, size_t n, const struct schema *schema) {
    for (size_t i = 0; i < n; i++)
        patch_gives((struct patch){.kind = PATCH_STRATEGIC, .schema = schema}, rows[i].current,
                    rows[i].patch, rows[i].result);
}

static void test_mappings(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'metadata':{'labels':{'a':'1','b':'2'}}}",
         "{'metadata':{'labels':{'a':'3','b':null,'c':'4'},'name':'x'}}",
         "{'metadata':{'labels':{'a':'3','c':'4'},'name':'x'}}"},
        {"{'spec':{'hostNetwork':true}}", "{}", "{'spec':{'hostNetwork':true}}"},
        {"{'spec':{'hostNetwork':true}}", "null", "{'spec':{'hostNetwork':true}}"},
        {"{'spec':{'hostNetwork':true}}", "{'spec':null,'status':null}", "{}"},
        /* nulls and directives do not get in with what is new */
        {"{}", "{'spec':{'nodeName':null,'affinity':{'nodeAffinity':null}}}",
         "{'spec':{'affinity':{}}}"},
        {"{}", "{'spec':{'affinity':{'$patch':'replace','nodeAffinity':{}},'nodeName':'n'}}",
         "{'spec':{'nodeName':'n'}}"},
        {"{}", "{'spec':{'$patch':'replace','nodeName':'n'}}", "{}"},
        /* another type takes the place of what there was */
        {"{'spec':{'nodeName':'a'}}", "{'spec':{'nodeName':{'x':null,'y':1}}}",
         "{'spec':{'nodeName':{'y':1}}}"},
        {"{'metadata':{'creationTimestamp':null}}", "{'metadata':{'creationTimestamp':'x'}}",
         "{'metadata':{'creationTimestamp':'x'}}"},
        /* $patch of a mapping */
        {"{'metadata':{'labels':{'a':'1','b':'2'}}}",
         "{'metadata':{'labels':{'$patch':'replace','c':'3'}}}",
         "{'metadata':{'labels':{'c':'3'}}}"},
        {"{'metadata':{'labels':{'a':'1','b':'2'}}}",
         "{'metadata':{'labels':{'$patch':'delete','c':'3'}}}", "{'metadata':{'labels':{}}}"},
        {"{'metadata':{'name':'a'}}", "{'$patch':'replace','spec':{'nodeName':null}}",
         "{'spec':{'nodeName':null}}"},
        {"{'metadata':{'name':'a'}}", "{'$patch':'delete'}", "{}"},
        /* fields that the type does not have */
        {"{}", "{'nope':{'a':1}}", "{'nope':{'a':1}}"},
    };
    all_give(rows, ARRAY_LEN(rows), NULL);
}

static void test_lists_by_key(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'1'}]}}",
         "{'spec':{'containers':[{'name':'b','image':'2'},{'name':'c','image':'2'}]}}",
         "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'},{'name':'c',"
         "'image':'2'}]}}"},
        /* the patch's order wins */
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}"},
        /* in lists of items of lists, by other keys */
        {"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'x'}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP'},{"
         "'containerPort':81}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'x','protocol':"
         "'TCP'},{'containerPort':81}]}]}}"},
        {"{'status':{'conditions':[{'type':'Ready','status':'True','lastProbeTime':null}]}}",
         "{'status':{'conditions':[{'type':'Ready','status':'False'},{'type':'X','status':'True'}]}"
         "}",
         "{'status':{'conditions':[{'type':'Ready','status':'False','lastProbeTime':null},{'type':"
         "'X','status':'True'}]}}"},
        /* $patch of an item, and of the list */
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'a','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'b'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'z','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'$patch':'replace'},{'name':'c'}]}}",
         "{'spec':{'containers':[{'name':'c'}]}}"},
        {"{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'$patch':'replace'}]}}",
         "{'spec':{'containers':[]}}"},
        {"{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[]}}",
         "{'spec':{'containers':[{'name':'a'}]}}"},
        /* two items of the patch with one key meet in one */
        {"{'spec':{'containers':[]}}",
         "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'a','tty':true}]}}",
         "{'spec':{'containers':[{'name':'a','image':'1','tty':true}]}}"},
        /* what is appended to a list comes as it is, nulls and all */
        {"{'spec':{'containers':[{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'b','image':null}]}}",
         "{'spec':{'containers':[{'name':'b','image':null},{'name':'a'}]}}"},
        /* but not with the list */
        {"{}", "{'spec':{'containers':[{'name':'b','image':null},{'name':'c','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'b'}]}}"},
        /* without a merge strategy a list is replaced */
        {"{'spec':{'tolerations':[{'key':'a'},{'key':'b'}]}}",
         "{'spec':{'tolerations':[{'key':'c','$patch':'x'}]}}",
         "{'spec':{'tolerations':[{'key':'c','$patch':'x'}]}}"},
    };
    all_give(rows, ARRAY_LEN(rows), NULL);
}

static void test_sets(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['c','a']}}",
         "{'metadata':{'finalizers':['c','a','b']}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b','x']}}",
         "{'metadata':{'finalizers':['a','c']}}"},
        {"{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a'],'finalizers':['c']}}",
         "{'metadata':{'finalizers':['c','b']}}"},
        {"{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':null}}", "{'metadata':{}}"},
        /* there is nothing to delete from */
        {"{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
         "{'metadata':{}}"},
        {"{'metadata':{'name':'a'}}", "{'metadata':{'$deleteFromPrimitiveList/name':['a']}}",
         "{'metadata':{'name':'a'}}"},
        /* whatever the strategy of the list is */
        {"{'spec':{'containers':[{'name':'a','args':['x','y','x']}]}}",
         "{'spec':{'containers':[{'name':'a','$deleteFromPrimitiveList/args':['x']}]}}",
         "{'spec':{'containers':[{'name':'a','args':['y']}]}}"},
    };
    all_give(rows, ARRAY_LEN(rows), NULL);
}

static void test_set_element_order(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'n'},{'name':'a'}],'containers':[{'name':"
         "'n'}]}}",
         "{'spec':{'containers':[{'name':'n'},{'name':'a'},{'name':'b'}]}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$setElementOrder/finalizers':['c','a'],"
         "'$deleteFromPrimitiveList/finalizers':['b']}}",
         "{'metadata':{'finalizers':['c','a']}}"},
        /* an item that takes the room of a deleted one counts as live */
        {"{'spec':{'imagePullSecrets':[{'name':'d'},{'name':'a'}]}}",
         "{'spec':{'$setElementOrder/imagePullSecrets':[{'name':'n'}],'imagePullSecrets':[{'name':"
         "'n'},{'$patch':'delete','name':'d'}]}}",
         "{'spec':{'imagePullSecrets':[{'name':'a'},{'name':'n'}]}}"},
        /* a list that was not there */
        {"{'spec':{}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':"
         "'b'},{'name':'a','image':null},{'name':'x','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'a','image':null}]}}"},
        {"{'spec':{}}",
         "{'spec':{'$setElementOrder/"
         "containers':[],'containers':[{'name':'x','$patch':'delete'}]}}",
         "{'spec':{'containers':[]}}"},
        {"{'spec':{}}", "{'spec':{'$setElementOrder/containers':[{'name':'b'}]}}", "{'spec':{}}"},
        {"{'spec':{}}", "{'spec':{'$setElementOrder/CONTAINERS':[]}}", "{'spec':{}}"},
    };
    all_give(rows, ARRAY_LEN(rows), NULL);
}

static void test_retain_keys(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}}",
         "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
         "{'spec':{'strategy':{'type':'Recreate'}}}"},
        /* null need not be listed */
        {"{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}}",
         "{'spec':{'strategy':{'$retainKeys':['type',5,null],'rollingUpdate':null}}}",
         "{'spec':{'strategy':{'type':'RollingUpdate'}}}"},
        {"{'spec':{'template':{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}}}",
         "{'spec':{'template':{'spec':{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v',"
         "'hostPath':{'path':'/'}}]}}}}",
         "{'spec':{'template':{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/'}}]}}}}"},
    };
    all_give(rows, ARRAY_LEN(rows), schema_find("apps", "v1", "Deployment"));
}

/* patchStrategy=replace: a mapping that is never merged. */
static void test_replaced_field(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"{'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
         "{'spec':{'selector':{'matchLabels':{'c':null}}}}",
         "{'spec':{'selector':{'matchLabels':{'c':null}}}}"},
    };
    all_give(rows, ARRAY_LEN(rows), schema_find("policy", "v1", "PodDisruptionBudget"));
}

static void test_errors(void **state) {
    (void)state;
    static const char current[] =
        "{'metadata':{'finalizers':['a'],'labels':{'a':'b'},'ownerReferences':[{'uid':'u'}]},"
        "'spec':{'containers':[{'name':'a'}],'tolerations':[{'key':'k'}],'nodeName':'n'}}";
    static const struct {
        const char *patch;
        int code;
        const char *why;
    } rows[] = {
        {"{'spec':{'$patch':'merge'}}", 500, "unknown patch type: merge in map: map[$patch:merge]"},
        {"{'spec':{'$patch':null}}", 500,
         "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"},
        {"{'spec':{'containers':[{'$patch':'merge','name':'a'}]}}", 500,
         "merging lists cannot yet be specified in the patch"},
        {"{'spec':{'containers':[{'$patch':'x','name':'a'}]}}", 500,
         "unknown patch type: x in map: map[$patch:x name:a]"},
        {"{'spec':{'containers':[{'$patch':'delete'}]}}", 500,
         "map: map[$patch:delete] does not contain declared merge key: name"},
        {"{'spec':{'containers':[{'image':'a'}]}}", 500,
         "map: map[image:a] does not contain declared merge key: name"},
        {"{'spec':{'containers':['a']}}", 500,
         "list element types are not identical: [[map[name:a]] [a]]"},
        {"{'metadata':{'$deleteFromPrimitiveList':['a']}}", 400,
         "invalid patch format of primitive list"},
        {"{'metadata':{'$setElementOrder':['a']}}", 400,
         "invalid patch format of setElementOrder list"},
        {"{'metadata':{'$setElementOrderX/a':['a']}}", 400,
         "invalid patch format of setElementOrder list"},
        {"{'metadata':{'$setElementOrder/finalizers':'a'}}", 500,
         "expected a []interface {}, but received a string"},
        {"{'spec':{'$setElementOrder/nodeName':[]}}", 500,
         "expected a []interface {}, but received a string"},
        {"{'metadata':{'$setElementOrder/finalizers':[],'finalizers':{}}}", 500,
         "expected a []interface {}, but received a map[string]interface {}"},
        {"{'metadata':{'$setElementOrder/nope':[]}}", 500,
         "unable to find api field in struct ObjectMeta for the json field \"nope\""},
        {"{'spec':{'$setElementOrder/containers':['a']}}", 500, "value for key 0 is not a map"},
        {"{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':"
         "'a'},{'name':'b'}]}}",
         500,
         "The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder "
         "list:\n[map[name:b] map[name:a]]\n"},
        {"{'spec':{'tolerations':[],'$setElementOrder/tolerations':[]}}", 500,
         "map: map[key:k] does not contain declared merge key: "},
        {"{'spec':{'$deleteFromPrimitiveList/tolerations':[{'key':'k'}]}}", 500,
         "cannot merge lists without merge key for struct"},
        {"{'metadata':{'$retainKeys':['labels'],'name':'x'}}", 400,
         "invalid patch format of retainKeys"},
        {"{'metadata':{'$retainKeys':'labels'}}", 400, "invalid patch format of retainKeys"},
        {"{'metadata':{'ownerReferences':[{'uid':{}},{'uid':{}}]}}", 500,
         "runtime error: comparing uncomparable type map[string]interface {}"},
        {"{'spec':{'$setElementOrder/tolerations':[{'key':'k'}]}}", 500,
         "runtime error: hash of unhashable type map[string]interface {}"},
        {"{'metadata':{'$retainKeys':[['labels']]}}", 500,
         "runtime error: hash of unhashable type []interface {}"},
        {"5", 400, "json: cannot unmarshal number into Go value of type map[string]interface {}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        patch_refused((struct patch){.kind = PATCH_STRATEGIC}, current, rows[i].patch, rows[i].code,
                      rows[i].why);
    patch_refused((struct patch){.kind = PATCH_STRATEGIC}, "{'metadata':{'finalizers':[]}}",
                  "{'metadata':{'finalizers':[['a']]}}", 422, "lists of lists are not supported");
    patch_refused((struct patch){.kind = PATCH_STRATEGIC}, "{'metadata':{'finalizers':[]}}",
                  "{'metadata':{'finalizers':[null]}}", 500,
                  "runtime error: invalid memory address or nil pointer dereference");
}

/* 30,000 items meet 30,000: a search for each would take minutes. */
static void test_long_lists(void **state) {
    (void)state;
    enum { N = 30000 };
    _cleanup_json_ json_t *live = js("{'spec':{'containers':[]}}");
    _cleanup_json_ json_t *body = js("{'spec':{'$setElementOrder/containers':[],'containers':[]}}");
    json_t *spec = json_object_get(body, "spec");
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        json_array_append_new(json_object_get(json_object_get(live, "spec"), "containers"),
                              json_pack("{s:s}", "name", name));
        snprintf(name, sizeof name, "c%d", (N - i) * 2);
        json_array_append_new(json_object_get(spec, "containers"),
                              json_pack("{s:s,s:b}", "name", name, "tty", true));
        json_array_append_new(json_object_get(spec, "$setElementOrder/containers"),
                              json_pack("{s:s}", "name", name));
        snprintf(name, sizeof name, "c%d", i * 3);
        json_array_append_new(json_object_get(spec, "containers"),
                              json_pack("{s:s,s:s}", "name", name, "$patch", "delete"));
    }
    struct patch patch = {
        .kind = PATCH_STRATEGIC, .body = body, .schema = schema_find("", "v1", "Pod")};
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *out = NULL;
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), 0);
    /* the live ones that no third deletes, and those that the patch brings, without what is both */
    const json_t *all = json_object_get(json_object_get(out, "spec"), "containers");
    size_t left = N - N / 3, shared = N / 2 - 1 - (N / 6 - 1);
    assert_int_equal(json_array_size(all), left + N - shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mappings),    cmocka_unit_test(test_lists_by_key),
        cmocka_unit_test(test_sets),        cmocka_unit_test(test_set_element_order),
        cmocka_unit_test(test_retain_keys), cmocka_unit_test(test_replaced_field),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
