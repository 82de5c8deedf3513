/* Tests of src/cli/not_in_force.c: which Policies nobody obeys, and what is said of each. */
#include "cli/not_in_force.h"

#include "support/keeper_world.h"

#define NOW SEC(1794830700) /* 2026-11-16T12:05:00Z */

struct fixture {
    struct pool *pool;
    struct store *policies;
    struct arena arena;
    struct idle_policies idle;
};

static int begin(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->policies = store_new(&kind_policy, f->pool);
    f->arena = ARENA_INIT;
    *state = f;
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    store_free(f->policies);
    pool_free(f->pool);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *name, const char *created, const char *more) {
    _cleanup_free_ char *text =
        xasprintf("{'metadata':{'name':'%s','uid':'%s','resourceVersion':'1','generation':2,"
                  "'creationTimestamp':'2026-11-16T%sZ'%s}",
                  name, name, created, more);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    assert_true(store_put(f->policies, kw_decode(f->pool, &kind_policy, doc)));
    json_decref(doc);
    not_in_force_take(f->policies, "slipway", NOW, &f->arena, &f->idle);
}

#define FINALIZER ",'finalizers':['slipway.dev/policy']"
#define READY(status, reason, generation)                                                          \
    "},'status':{'conditions':[{'type':'Ready','status':'" status "','reason':'" reason            \
    "','message':'because','observedGeneration':" generation "}]}"

static void says(struct fixture *f, size_t n, const char *text) {
    _cleanup_str_ struct str out = STR_INIT;
    assert_int_equal(f->idle.n, n);
    not_in_force_text(&f->idle.rows[n - 1], &out);
    assert_string_equal(str_get(&out), text);
}

static void those_that_nobody_obeys(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    put(f, "a", "12:00:00", "}");
    says(f, 1,
         "Policy a is not in force, and nobody gets a slot of it: it has no finalizer "
         "slipway.dev/policy, which the controller writes first: either none runs, or its account "
         "may not write to Policies; look at 'slipway locks' and the controller's log, and apply "
         "the manifests of this version again ('slipway install --dry-run=client -o yaml', or "
         "kubernetes/deployment.yaml)");
    put(f, "b", "12:00:00", FINALIZER READY("False", "Invalid", "2"));
    says(f, 2,
         "Policy b is not in force, and nobody gets a slot of it: because; mend what is named");
    put(f, "c", "12:00:00", FINALIZER READY("False", "NodesShared", "2"));
    says(f, 3,
         "Policy c is not in force for all of its nodes: because; change the node selectors so "
         "that each node has one Policy");
    put(f, "d", "12:00:00", READY("False", "NoFinalizer", "2"));
    says(f, 4,
         "Policy d is not in force, and nobody gets a slot of it: because; look at 'slipway locks' "
         "and the controller's log, and apply the manifests of this version again ('slipway "
         "install --dry-run=client -o yaml', or kubernetes/deployment.yaml)");
    f->idle.n = 1;
    f->idle.rows++; /* the second */
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    not_in_force_write(&w, &f->idle);
    jsonw_end(&w);
    assert_string_equal(str_get(&out),
                        "{\"notInForce\":[{\"name\":\"b\",\"reason\":\"Invalid\",\"message\":"
                        "\"because\",\"hint\":\"mend what is named\"}]}");
}

static void the_others(void **state) {
    struct fixture *f = *state;
    put(f, "good", "12:00:00", FINALIZER READY("True", "InForce", "2"));
    put(f, "new", "12:04:30", "}");
    put(f, "mended", "12:00:00", FINALIZER READY("False", "Invalid", "1"));
    put(f, "leaving", "12:00:00",
        ",'deletionTimestamp':'2026-11-16T12:03:00Z'" READY("False", "Deleting", "2"));
    assert_int_equal(f->idle.n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_that_nobody_obeys, begin, end),
        cmocka_unit_test_setup_teardown(the_others, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
