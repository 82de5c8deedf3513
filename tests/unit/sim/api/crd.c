/* Definitions: defaults, generations, the compiled form. */
#include "crd_test.h"

static const char two[] = CRD(CRD_VERSION(
    "v1beta1", "false",
    ",'deprecated':true" CRD_SCHEMA(
        "'spec':{'type':'object'}")) "," CRD_VERSION("v1", "true",
                                                     ",'subresources':{'status':{},'scale':{'"
                                                     "specReplicasPath':'.spec.n','"
                                                     "statusReplicasPath':"
                                                     "'.status.n'}},'additionalPrinterColumns':[{'"
                                                     "name':'N','type':'integer','jsonPath':'.spec."
                                                     "n'}],"
                                                     "'selectableFields':[{'jsonPath':'.spec.color'"
                                                     "}]" CRD_SCHEMA(
                                                         "'spec':{'type':'object','properties':{'"
                                                         "color':{'type':'string'}}}")));

static void test_defaults(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = J(two);
    crd_default(crd);
    const json_t *spec = json_object_get(crd, "spec");
    assert_json(json_object_get(spec, "names"), "{'plural':'things','kind':'Thing','singular':"
                                                "'thing','listKind':'ThingList'}");
    assert_json(json_object_get(spec, "conversion"), "{'strategy':'None'}");
    _cleanup_json_ json_t *before = json_deep_copy(crd);
    crd_default(crd);
    assert_true(json_equal(before, crd));
    _cleanup_json_ json_t *empty = json_object();
    crd_default(empty); /* nothing to go by */
    assert_int_equal(json_object_size(json_object_get(empty, "spec")), 0);
}

static int64_t generation(const json_t *crd) {
    return json_integer_value(json_object_get(json_object_get(crd, "metadata"), "generation"));
}

static void test_prepare(void **state) {
    (void)state;
    _cleanup_json_ json_t *old = crd_new(two);
    assert_int_equal(generation(old), 1);
    assert_json(json_object_get(json_object_get(old, "status"), "storedVersions"), "['v1']");
    _cleanup_json_ json_t *new = json_deep_copy(old);
    json_object_set_new(new, "status", J("{'storedVersions':['x']}"));
    json_object_set_new(json_object_get(new, "metadata"), "generation", json_integer(9));
    crd_prepare_update(new, old);
    assert_int_equal(generation(new), 1);
    assert_true(json_equal(json_object_get(new, "status"), json_object_get(old, "status")));
    /* another version takes over the storage */
    json_t *versions = json_object_get(json_object_get(new, "spec"), "versions");
    json_object_set_new(json_array_get(versions, 0), "storage", json_true());
    json_object_set_new(json_array_get(versions, 1), "storage", json_false());
    crd_prepare_update(new, old);
    assert_int_equal(generation(new), 2);
    assert_json(json_object_get(json_object_get(new, "status"), "storedVersions"),
                "['v1','v1beta1']");
    crd_prepare_status(new, old);
    assert_true(json_equal(json_object_get(new, "spec"), json_object_get(old, "spec")));
}

static void test_accept(void **state) {
    (void)state;
    _cleanup_crd_ struct crd *crd = crd_serve(two);
    assert_string_equal(crd->name, "things.test.dev");
    assert_string_equal(crd->group, "test.dev");
    assert_string_equal(crd->plural, "things");
    assert_string_equal(crd->singular, "thing");
    assert_string_equal(crd->list_kind, "ThingList");
    assert_true(crd->namespaced && crd->n_versions == 2 && !crd->short_names && !crd->categories);
    const struct crd_version *old = crd_version(crd, "v1beta1"), *v = crd_version(crd, "v1");
    assert_null(crd_version(crd, "v2"));
    assert_true(v->storage && v->served && v->has_status && v->has_scale && v->schema);
    assert_string_equal(v->spec_replicas, ".spec.n");
    assert_null(v->label_selector);
    assert_null(v->deprecation);
    assert_int_equal(json_array_size(v->columns), 1);
    assert_string_equal(v->selectable[0], ".spec.color");
    assert_null(v->selectable[1]);
    assert_true(!old->storage && !old->has_status && !old->selectable && !old->columns);
    assert_string_equal(old->deprecation,
                        "test.dev/v1beta1 Thing is deprecated; use test.dev/v1 Thing");
    crd_free(NULL);
}

static void test_accept_refuses(void **state) {
    (void)state;
    struct field_errors e = {0};
    struct crd *crd = NULL;
    _cleanup_json_ json_t *json = crd_new(CRD(CRD_VERSION("v1", "true", "")));
    assert_true(crd_accept(json, &crd, &e) < 0);
    assert_null(crd);
    assert_errors(&e, "spec.versions[0].schema.openAPIV3Schema: Required value");
    _cleanup_json_ json_t *empty = json_object();
    assert_true(crd_accept(empty, &crd, &e) < 0);
    assert_true(e.v.len > 5);
    field_errors_done(&e);
}

/* A default that was right as a float and is stored as an integer. */
static void test_accept_stored(void **state) {
    (void)state;
    struct field_errors e = {0};
    _cleanup_json_ json_t *json = crd_new(CRD(CRD_VERSION(
        "v1", "true", CRD_SCHEMA("'a':{'type':'number','multipleOf':0.5,'default':2.0}"))));
    crd_validate_create(json, &e);
    assert_errors(&e, "");
    crd_store(json);
    crd_validate_create(json, &e);
    assert_errors(&e, "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: 0: "
                      "factor MultipleOf declared for  must be positive: 0");
    _cleanup_crd_ struct crd *crd = NULL;
    assert_int_equal(crd_accept(json, &crd, &e), 0);
    _cleanup_json_ json_t *obj = json_object();
    structural_default(crd->versions[0].schema, obj);
    assert_json(obj, "{'a':2}");
}

static void test_ranks(void **state) {
    (void)state;
    static const char *const order[] = {"v10",     "v2",      "v1",       "v2beta1",
                                        "v1beta2", "v1beta1", "v3alpha1", "v1alpha2",
                                        "bar",     "foo1",    "v1x"};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (size_t k = 0; k < ARRAY_LEN(order); k++) {
            int rank = crd_compare_versions(order[i], order[k]);
            assert_true(i < k ? rank > 0 : i > k ? rank < 0 : rank == 0);
        }
}

static void test_warnings(void **state) {
    (void)state;
    _cleanup_json_ json_t *crd = crd_new(
        CRD(CRD_VERSION("v1", "true",
                        CRD_SCHEMA("'a':{'type':'string','format':'odd'},'b':{'type':'string',"
                                   "'format':'date'}"))));
    struct schema_notes notes = {0};
    crd_warnings(crd, NULL, &notes);
    assert_notes(&notes, "unrecognized format \"odd\"");
    crd_warnings(crd, crd, &notes);
    assert_notes(&notes, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_accept),        cmocka_unit_test(test_accept_refuses),
        cmocka_unit_test(test_accept_stored), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
