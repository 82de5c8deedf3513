/* Tests of sim/api/patch: the answers. What is expected was read off a kube-apiserver 1.36.3. */
#include "patch_check.h"

struct expected {
    int code;
    const char *reason, *message;
    bool details;
};

#define UNFIT "the server rejected our request due to an error in our request"
#define PANIC "This request caused apiserver to panic. Look in the logs for details."

static void answers(struct patch patch, const char *body, struct expected want) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_json_ json_t *live = js("{'data':{'a':'b'},'metadata':{'finalizers':['x']},"
                                     "'spec':{'containers':[{'name':'p'}]}}");
    _cleanup_json_ json_t *with = js(body), *out = NULL;
    patch.body = with;
    check_schema(&patch);
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, NULL), -1);
    assert_string_equal(failure.message, want.message);
    assert_string_equal(failure.reason, want.reason);
    assert_int_equal(failure.code, want.code);
    assert_int_equal(failure.details, want.details);
    assert_null(out);
}

static void test_malformed(void **state) {
    (void)state;
    struct patch json = {.kind = PATCH_JSON}, merge = {.kind = PATCH_MERGE};
    struct patch strategic = {.kind = PATCH_STRATEGIC};
    struct patch loose_json = {.kind = PATCH_JSON, .unchecked = true};
    struct patch loose_merge = {.kind = PATCH_MERGE, .unchecked = true};
    const struct {
        struct patch patch;
        const char *body, *message;
    } rows[] = {
        {json, "{'op':'test'}",
         "error decoding patch: json: cannot unmarshal object into Go value of type "
         "[]handlers.jsonPatchOp"},
        {loose_json, "{'op':'test'}",
         "json: cannot unmarshal object into Go value of type jsonpatch.Patch"},
        {json, "[{'op':5}]",
         "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op "
         "of type string"},
        {json, "[{'op':'add','path':['x'],'value':1}]",
         "error decoding patch: json: cannot unmarshal array into Go struct field "
         "jsonPatchOp.path of type string"},
        {json, "[5]",
         "error decoding patch: json: cannot unmarshal number into Go value of type "
         "handlers.jsonPatchOp"},
        {merge, "[1]",
         "error decoding patch: json: cannot unmarshal array into Go value of type "
         "map[string]interface {}"},
        {merge, "null", "Invalid JSON Patch"},
        {loose_merge, "5", "Invalid JSON Patch"},
        {strategic, "[1]",
         "json: cannot unmarshal array into Go value of type map[string]interface {}"},
        {strategic, "{'spec':{'$retainKeys':5}}", "invalid patch format of retainKeys"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        answers(rows[i].patch, rows[i].body,
                (struct expected){400, "BadRequest", rows[i].message, false});
}

static void test_unfit(void **state) {
    (void)state;
    struct patch json = {.kind = PATCH_JSON}, strategic = {.kind = PATCH_STRATEGIC};
    struct expected unfit = {422, "Invalid", UNFIT, true};
    answers(json, "[{'op':'test','path':'/data/a','value':'c'}]", unfit);
    answers(json, "[{'op':'remove','path':'/data/c'}]", unfit);
    answers(json, "[{'op':'nope','path':'/x'}]", unfit);
    answers(
        strategic, "{'metadata':{'ownerReferences':[[1]],'$setElementOrder/ownerReferences':[]}}",
        (struct expected){
            500, "", "expected a map[string]interface {}, but received a []interface {}", false});
    answers(strategic, "{'metadata':{'finalizers':[['x']]}}",
            (struct expected){500, "", "list element types are not identical: [[x] [[x]]]", false});
}

static void test_too_large(void **state) {
    (void)state;
    struct patch json = {.kind = PATCH_JSON};
    _cleanup_str_ struct str body = STR_INIT;
    str_add(&body, "[");
    for (int i = 0; i < PATCH_MAX_OPERATIONS; i++)
        str_add(&body, "{'op':'test','path':'/data/a','value':'b'},");
    str_add(&body, "{'op':'test','path':'/data/a','value':'b'}]");
    answers(json, str_get(&body),
            (struct expected){413, "RequestEntityTooLarge",
                              "Request entity too large: The allowed maximum operations in a JSON "
                              "patch is 10000, got 10001",
                              false});
}

/* Errors that the server did not think of are its own. */
static void test_broken(void **state) {
    (void)state;
    struct patch strategic = {.kind = PATCH_STRATEGIC};
    static const char *const rows[][2] = {
        {"{'metadata':{'finalizers':[null]}}",
         "list element types are not identical: [[x] [<nil>]]"},
        {"{'spec':{'containers':[{'image':'x','n':1.5,'m':null}]}}",
         "map: map[image:x m:<nil> n:1.5] does not contain declared merge key: name"},
        {"{'spec':{'$patch':5,'b':['x',{'c':true}]}}",
         "unknown patch type: %!s(int64=5) in map: map[$patch:5 b:[x map[c:true]]]"},
        {"{'spec':{'$setElementOrder/foo':[]}}",
         "unable to find api field in struct PodSpec for the json field \"foo\""},
        {"{'spec':{'$setElementOrder/containers':[{'name':'zz'}],'containers':[{'name':'p','image':"
         "'y'}]}}",
         "The order in patch list:\n[map[image:y name:p]]\n doesn't match $setElementOrder list:\n"
         "[map[name:zz]]\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        answers(strategic, rows[i][0], (struct expected){500, "", rows[i][1], false});
}

static void test_crash(void **state) {
    (void)state;
    struct expected panic = {500, "", PANIC, false};
    answers((struct patch){.kind = PATCH_JSON}, "[{'op':'test','path':''}]", panic);
    answers((struct patch){.kind = PATCH_STRATEGIC}, "{'spec':{'$retainKeys':[{}]}}", panic);
}

/* What is there of a failure is gone before the next one, and success leaves it alone. */
static void test_failure_is_reused(void **state) {
    (void)state;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err why = ERR_INIT;
    _cleanup_json_ json_t *live = js("{}"), *bad = js("[{'op':'x'}]"), *worse = js("5"),
                          *out = NULL;
    struct patch patch = {.kind = PATCH_JSON, .body = bad};
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, &why), -1);
    assert_string_equal(err_msg(&why), "Unexpected kind: x");
    assert_true(failure.details);
    patch.body = worse;
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, &why), -1);
    assert_int_equal(failure.code, 400);
    assert_false(failure.details);
    assert_string_equal(err_msg(&why), failure.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_unfit),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_broken),
        cmocka_unit_test(test_crash),     cmocka_unit_test(test_failure_is_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
