/* Tests of src/controller/policies.c: which policies there are, and what is kept for each. */
#include "controller/policies.h"

#include "support/keeper_world.h"

struct fixture {
    struct pool *pool;
    struct cluster cluster;
    struct store *maps, *policies;
    struct policies *p;
    struct log log;
    unsigned replaced;
    int version;
};

static void on_reply(void *arg, const struct keeper_reply *reply) {
    (void)arg, (void)reply;
}

static void on_replaced(void *arg, const struct keeper *k) {
    assert_non_null(k);
    ((struct fixture *)arg)->replaced++;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    cluster_init(&f->cluster, f->pool);
    f->maps = store_new(&kind_config_map, f->pool);
    f->policies = store_new(&kind_policy, f->pool);
    f->p = policies_new(&(struct policies_opts){
        .keeper = {.ns = KW_NS, .forget = SEC(1800), .reply = on_reply},
        .cluster = &f->cluster,
        .maps = f->maps,
        .policies = f->policies,
        .log = &f->log,
        .replaced = on_replaced,
        .arg = f,
    });
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    policies_free(f->p);
    store_free(f->maps);
    store_free(f->policies);
    cluster_done(&f->cluster);
    assert_int_equal(pool_stats(f->pool).entries, 0);
    pool_free(f->pool);
    free(f);
    return 0;
}

#define POLICIES_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

__attribute__((format(printf, 3, 4))) static void put(struct fixture *f, struct store *s,
                                                      const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                        json_sprintf("%d", ++f->version));
    assert_true(store_put(s, kw_decode(f->pool, store_kind(s), doc)));
    json_decref(doc);
}

static void policy(struct fixture *f, const char *name, int generation, const char *pool) {
    put(f, f->policies,
        "{'metadata':{'name':'%s','uid':'uid-%s','generation':%d},'spec':{'nodeSelector':"
        "{'matchLabels':{'pool':'%s'}},'maxUnavailable':2}}",
        name, name, generation, pool);
}

static void record(struct fixture *f, const char *name, const char *slots) {
    put(f, f->maps,
        "{'metadata':{'namespace':'" KW_NS "','name':'slipway-slots-%s','labels':{'" SLOTS_LABEL
        "':'%s'}},'data':{'slots':'%s'}}",
        name, name, slots);
}

#define ONE_SLOT                                                                                   \
    "{\\\"v\\\":1,\\\"fence\\\":1,\\\"slots\\\":[{\\\"id\\\":\\\"h\\\",\\\"node\\\":\\\"w1\\\","   \
    "\\\"uid\\\":\\\"u\\\",\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"fleetlock\\\","         \
    "\\\"state\\\":\\\"taken\\\",\\\"since\\\":\\\"2026-11-15T08:00:00Z\\\"}]}"
#define NO_SLOT "{\\\"v\\\":1,\\\"fence\\\":1,\\\"slots\\\":[]}"

/* "a b!": their names, those with a problem marked. Valid until the next call. */
static const char *names(const struct fixture *f) {
    static char text[128];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < policies_len(f->p); i++) {
        const struct policy_kept *k = policies_at(f->p, i);
        assert_int_equal(k->problem == NULL, k->keeper != NULL);
        assert_int_equal(k->problem == NULL, k->rules != NULL);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", i ? " " : "", k->name,
                               k->problem ? "!" : "");
    }
    return text;
}

static size_t policies_of(struct fixture *f, const char *pool, const char **first) {
    put(f, f->cluster.nodes, "{'metadata':{'name':'n-%s','labels':{'pool':'%s'}}}", pool, pool);
    _cleanup_free_ char *name = xasprintf("n-%s", pool);
    const struct policy_kept *k;
    size_t n = policies_find(f->p, cluster_node(&f->cluster, name), &k);
    *first = k ? k->name : "";
    return n;
}

static void without_any_there_is_the_built_in_one(void **state) {
    struct fixture *f = *state;
    const char *first;
    policies_look(f->p);
    policies_look(f->p);
    assert_string_equal(names(f), "default");
    assert_true(policies_at(f->p, 0)->rules->builtin);
    assert_int_equal(policies_of(f, "x", &first), 1);
    assert_string_equal(first, "default");
    policy(f, "b", 1, "b");
    policies_look(f->p);
    assert_string_equal(names(f), "b"); /* whoever writes one means what it says */
    assert_int_equal(f->replaced, 1);
    store_remove(f->policies, NULL, "b", "1000");
    policies_look(f->p);
    assert_string_equal(names(f), "default");
}

static void one_that_has_not_changed_keeps_its_keeper(void **state) {
    struct fixture *f = *state;
    policy(f, "b", 1, "b");
    policy(f, "a", 1, "a");
    policies_look(f->p);
    assert_string_equal(names(f), "a b");
    const struct keeper *a = policies_at(f->p, 0)->keeper, *b = policies_at(f->p, 1)->keeper;
    policy(f, "a", 1, "a"); /* its status was written */
    policies_look(f->p);
    assert_ptr_equal(policies_at(f->p, 0)->keeper, a);
    assert_int_equal(f->replaced, 0);
    policy(f, "a", 2, "c");
    policies_look(f->p);
    assert_int_equal(f->replaced, 1);
    assert_ptr_equal(policies_at(f->p, 1)->keeper, b);
    const char *first;
    assert_int_equal(policies_of(f, "c", &first), 1);
    assert_string_equal(first, "a");
    assert_int_equal(policies_of(f, "a", &first), 0);
}

static void a_node_of_several(void **state) {
    struct fixture *f = *state;
    const char *first;
    policy(f, "b", 1, "x");
    policy(f, "a", 1, "x");
    policies_look(f->p);
    assert_int_equal(policies_of(f, "x", &first), 2);
    assert_string_equal(first, "a");
}

static void one_that_cannot_be_used_has_a_problem(void **state) {
    struct fixture *f = *state;
    put(f, f->policies,
        "{'metadata':{'name':'a','uid':'u','generation':1},'spec':{'nodeSelector':{},"
        "'maxUnavailable':'many'}}");
    policies_look(f->p);
    assert_string_equal(names(f), "a!");
    assert_non_null(strstr(policies_at(f->p, 0)->problem, "spec.maxUnavailable"));
    policies_lead(f->p, 3);
    policies_follow(f->p);
    policy(f, "a", 2, "a");
    policies_look(f->p);
    assert_string_equal(names(f), "a");
}

/* Its slots are seen to until nobody holds one; nobody gets one, and no node is of it. */
static void what_is_left_of_one_that_is_gone(void **state) {
    struct fixture *f = *state;
    const char *first;
    policy(f, "a", 1, "a");
    record(f, "a", NO_SLOT);
    record(f, "old", ONE_SLOT);
    record(f, "older", NO_SLOT);
    policies_look(f->p);
    assert_string_equal(names(f), "a old");
    assert_true(policies_at(f->p, 1)->rules->ends);
    assert_int_equal(keeper_limit(policies_at(f->p, 1)->keeper), 0);
    assert_int_equal(policies_of(f, "a", &first), 1);
    record(f, "old", NO_SLOT);
    policies_look(f->p);
    assert_string_equal(names(f), "a");
}

static void all_of_them_lead_or_none(void **state) {
    struct fixture *f = *state;
    policy(f, "a", 1, "a");
    policies_look(f->p);
    assert_null(keeper_drain(policies_at(f->p, 0)->keeper));
    policies_lead(f->p, 3);
    policy(f, "b", 1, "b"); /* also one that comes later */
    policies_look(f->p);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(keeper_drain(policies_at(f->p, i)->keeper));
    policies_follow(f->p);
    for (size_t i = 0; i < 2; i++)
        assert_null(keeper_drain(policies_at(f->p, i)->keeper));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        POLICIES_TEST(without_any_there_is_the_built_in_one),
        POLICIES_TEST(one_that_has_not_changed_keeps_its_keeper),
        POLICIES_TEST(a_node_of_several),
        POLICIES_TEST(one_that_cannot_be_used_has_a_problem),
        POLICIES_TEST(what_is_left_of_one_that_is_gone),
        POLICIES_TEST(all_of_them_lead_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
