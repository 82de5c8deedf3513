/* Tests of src/controller/feeds.c: the picture of a simulated cluster. */
#include "controller/feeds.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/jsonw.h"
#include "engine/keeper.h"
#include "model/own.h"
#include "model/own_crd.h"
#include "model/own_fields.h"
#include "support/make.h"

struct fixture {
    struct drain_site s;
    struct cluster cluster;
    struct store *maps, *policies, *maintenances, *rollouts;
    struct feeds *feeds;
    struct feeds_opts opts;
    unsigned synced, nodes, pods, config_maps, told;
    char *blind;
};

static void on_changed(void *arg, const struct kind *kind, const struct object *before,
                       const struct object *after) {
    struct fixture *f = arg;
    assert_true(before || after);
    f->nodes += kind == &kind_node;
    f->pods += kind == &kind_pod;
    f->config_maps += kind == &kind_config_map;
}

static void on_synced(void *arg) {
    ((struct fixture *)arg)->synced++;
}

static void on_blind(void *arg, const char *why) {
    struct fixture *f = arg;
    f->told++;
    str_replace(&f->blind, why);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 3);
    cluster_init(&f->cluster, f->s.client.pool);
    f->maps = store_new(&kind_config_map, f->s.client.pool);
    f->policies = store_new(&kind_policy, f->s.client.pool);
    f->maintenances = store_new(&kind_maintenance, f->s.client.pool);
    f->rollouts = store_new(&kind_rollout, f->s.client.pool);
    f->opts = (struct feeds_opts){.cluster = &f->cluster,
                                  .maps = f->maps,
                                  .policies = f->policies,
                                  .maintenances = f->maintenances,
                                  .rollouts = f->rollouts,
                                  .ns = "default",
                                  .maps_selector = SLOTS_LABEL,
                                  .log = &f->s.log,
                                  .seed = 1,
                                  .changed = on_changed,
                                  .synced = on_synced,
                                  .blind = on_blind,
                                  .arg = f};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    feeds_free(f->feeds);
    store_free(f->maps);
    store_free(f->policies);
    store_free(f->maintenances);
    store_free(f->rollouts);
    cluster_done(&f->cluster);
    drain_site_done(&f->s);
    free(f->blind);
    free(f);
    return 0;
}

#define FEEDS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void start(struct fixture *f) {
    f->feeds = feeds_new(&f->s.client, &f->opts);
    assert_false(feeds_ready(f->feeds)); /* from the loop */
    assert_ptr_equal(feeds_missing(f->feeds), &kind_node);
    drain_site_pass(&f->s, SEC(2));
    assert_true(feeds_ready(f->feeds));
}

static size_t pods_on(const struct fixture *f, const char *node) {
    size_t n;
    cluster_pods_on(&f->cluster, node, &n);
    return n;
}

static void add_pods(void *arg, const struct kind *kind, uint64_t restarts) {
    if (kind == &kind_pod)
        *(uint64_t *)arg += restarts;
}

static void everything_is_known_but_pods(void **state) {
    struct fixture *f = *state;
    site_pod(&f->s, "a", "w0", NULL);
    site_budget(&f->s, "a", "'maxUnavailable':1");
    start(f);
    assert_true(f->synced >= 4);
    assert_int_equal(store_len(f->cluster.nodes), 3);
    assert_int_equal(f->nodes, 3);
    assert_int_equal(store_len(f->cluster.budgets), 1);
    assert_int_equal(store_len(f->cluster.pods), 0); /* nobody works on any node */
    assert_int_equal(f->pods, 0);
    assert_int_equal(store_len(f->cluster.deployments), 0);
}

static void what_changes_is_told(void **state) {
    struct fixture *f = *state;
    start(f);
    unsigned before = f->nodes;
    site_patch(&f->s, "/api/v1/nodes/w1", "{'spec':{'unschedulable':true}}");
    drain_site_pass(&f->s, SEC(1));
    assert_true(f->nodes > before);
    assert_true(cluster_node(&f->cluster, "w1")->unschedulable);
}

/* Of all the ConfigMaps there are only those with the label are wanted. */
static void only_config_maps_of_slots(void **state) {
    struct fixture *f = *state;
    start(f);
    assert_int_equal(store_len(f->maps), 0); /* kube-root-ca.crt is there */
    site_post(&f->s, "/api/v1/namespaces/default/configmaps",
              "{'metadata':{'name':'other'},'data':{'a':'b'}}");
    site_post(&f->s, "/api/v1/namespaces/default/configmaps",
              "{'metadata':{'name':'slipway-slots-default','labels':{'slipway.dev/slots':"
              "'default'}},'data':{'slots':''}}");
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(store_len(f->maps), 1);
    assert_int_equal(f->config_maps, 1);
    assert_non_null(store_get(f->maps, "default", "slipway-slots-default"));
}

static void the_pods_of_nodes_that_are_worked_on(void **state) {
    struct fixture *f = *state;
    site_pod(&f->s, "a", "w0", NULL);
    site_pod(&f->s, "b", "w1", NULL);
    start(f);
    feeds_watch(f->feeds, "w0");
    feeds_watch(f->feeds, "w0"); /* once is enough */
    assert_false(feeds_knows(f->feeds, "w0"));
    unsigned synced = f->synced;
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(f->synced, synced + 1);
    assert_true(feeds_knows(f->feeds, "w0"));
    assert_false(feeds_knows(f->feeds, "w1"));
    assert_int_equal(pods_on(f, "w0"), 1);
    assert_int_equal(pods_on(f, "w1"), 0);
    assert_true(feeds_scope(f->feeds, "w0").has != NULL);
    assert_true(feeds_scope(f->feeds, "w1").has == NULL);
    assert_true(store_scope_synced(f->cluster.pods, feeds_scope(f->feeds, "w0")));
    site_pod(&f->s, "c", "w0", NULL);
    site_pod(&f->s, "d", "w1", NULL);
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(pods_on(f, "w0"), 2);
    assert_int_equal(store_len(f->cluster.pods), 2);
}

/* A node without pods is known to have none, and that is another thing than not to be known. */
static void a_node_without_pods_is_known(void **state) {
    struct fixture *f = *state;
    start(f);
    feeds_watch(f->feeds, "w2");
    drain_site_pass(&f->s, SEC(1));
    assert_true(feeds_knows(f->feeds, "w2"));
}

static void what_is_not_watched_any_more_is_forgotten(void **state) {
    struct fixture *f = *state;
    site_pod(&f->s, "a", "w0", NULL);
    site_pod(&f->s, "b", "w1", NULL);
    start(f);
    feeds_watch(f->feeds, "w0");
    feeds_watch(f->feeds, "w1");
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(store_len(f->cluster.pods), 2);
    feeds_unwatch(f->feeds, "w0");
    feeds_unwatch(f->feeds, "w9");
    assert_false(feeds_knows(f->feeds, "w0"));
    assert_int_equal(pods_on(f, "w0"), 0);
    assert_int_equal(pods_on(f, "w1"), 1);
    assert_true(feeds_ready(f->feeds));
    site_pod(&f->s, "c", "w0", NULL);
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(pods_on(f, "w0"), 0);
    feeds_watch(f->feeds, "w0"); /* and again */
    assert_false(feeds_knows(f->feeds, "w0"));
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(pods_on(f, "w0"), 2);
}

/* Servers end watches now and then; a count never goes down. */
static void restarts_are_counted(void **state) {
    struct fixture *f = *state;
    uint64_t before = 0, watched = 0, after = 0;
    start(f);
    assert_null(feeds_missing(f->feeds));
    feeds_watch(f->feeds, "w0");
    drain_site_pass(&f->s, SEC(1));
    feeds_restarts(f->feeds, add_pods, &before);
    assert_int_equal(before, 0);
    drain_site_pass(&f->s, SEC(3 * 3600));
    feeds_restarts(f->feeds, add_pods, &watched);
    assert_true(watched > 0);
    feeds_unwatch(f->feeds, "w0");
    feeds_restarts(f->feeds, add_pods, &after);
    assert_int_equal(after, watched);
}

struct visit {
    struct feeds *feeds;
    struct str seen;
    bool all;
};

static void unwatch(void *arg, const char *node) {
    struct visit *v = arg;
    str_addf(&v->seen, "%s ", node);
    if (v->all || streq(node, "w1"))
        feeds_unwatch(v->feeds, node);
}

static void each_of_them_may_be_let_go(void **state) {
    struct fixture *f = *state;
    start(f);
    struct visit v = {.feeds = f->feeds};
    feeds_each(f->feeds, unwatch, &v);
    assert_string_equal(str_get(&v.seen), "");
    feeds_watch(f->feeds, "w0");
    feeds_watch(f->feeds, "w1");
    feeds_watch(f->feeds, "w2");
    drain_site_pass(&f->s, SEC(1));
    feeds_each(f->feeds, unwatch, &v);
    for (unsigned i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%u ", i);
        assert_non_null(strstr(str_get(&v.seen), name)); /* also those beside one that went */
    }
    assert_int_equal(v.seen.len, strlen("w0 w1 w2 "));
    assert_false(feeds_knows(f->feeds, "w1"));
    assert_true(feeds_knows(f->feeds, "w0") && feeds_knows(f->feeds, "w2"));
    v.all = true;
    str_reset(&v.seen);
    feeds_each(f->feeds, unwatch, &v);
    assert_int_equal(v.seen.len, strlen("w0 w2 "));
    assert_true(feeds_ready(f->feeds));
    str_done(&v.seen);
}

static void owners_when_they_are_wanted(void **state) {
    struct fixture *f = *state;
    f->opts.owners = true;
    site_deployment(&f->s, "web", 2);
    drain_site_pass(&f->s, SEC(2));
    start(f);
    assert_true(f->cluster.owners_watched);
    assert_int_equal(store_len(f->cluster.deployments), 1);
    assert_int_equal(store_len(f->cluster.replica_sets), 1);
}

/* What cannot be read is tried again for as long as it takes. */
static void a_server_that_is_away_for_a_while(void **state) {
    struct fixture *f = *state;
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE});
    f->feeds = feeds_new(&f->s.client, &f->opts);
    drain_site_pass(&f->s, SEC(300));
    assert_false(feeds_ready(f->feeds));
    assert_int_equal(f->synced, 0);
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_true(feeds_ready(f->feeds));
    assert_int_equal(store_len(f->cluster.nodes), 3);
}

/* For hours: servers end watches, and nothing else happens. */
static void a_watch_in_which_nothing_happens_is_no_broken_one(void **state) {
    struct fixture *f = *state;
    start(f);
    drain_site_pass(&f->s, SEC(6 * 3600));
    assert_int_equal(f->told, 0);
}

/* The calls of that path come to nothing, from now on, and the watches that stand end. */
static void refuse(struct fixture *f, const char *path) {
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE, .path = path});
    drain_site_pass(&f->s, SEC(700)); /* a watch lasts 300 to 600 s */
}

static void a_watch_that_is_broken_is_told(void **state) {
    struct fixture *f = *state;
    start(f);
    refuse(f, "/api/v1/nodes?");
    assert_int_equal(f->told, 1); /* once, however often it is tried */
    assert_true(str_starts(f->blind,
                           "nodes cannot be watched, so that what is known of them may be old: "));
    assert_true(feeds_ready(f->feeds)); /* there is a picture, if an old one */
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(60) + SEC(6));
    assert_int_equal(f->told, 2); /* though nothing has happened to any node */
    assert_null(f->blind);
    drain_site_pass(&f->s, SEC(3600));
    assert_int_equal(f->told, 2);
}

/* One server ends, and another takes over. */
static void a_watch_that_is_broken_for_a_moment_is_not(void **state) {
    struct fixture *f = *state;
    start(f);
    kube_fault_add(
        f->s.fault,
        &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE, .path = "/api/v1/nodes?", .count = 2});
    drain_site_pass(&f->s, SEC(700));
    assert_int_equal(kube_fault_fired(f->s.fault, 0), 2);
    assert_int_equal(f->told, 0);
}

/* They are of one node that has its slot: before it is told to go they are listed. */
static void the_pods_of_a_node_are_another_matter(void **state) {
    struct fixture *f = *state;
    start(f);
    feeds_watch(f->feeds, "w0");
    drain_site_pass(&f->s, SEC(1));
    refuse(f, "/api/v1/pods?");
    assert_true(kube_fault_fired(f->s.fault, 0) > 3);
    assert_int_equal(f->told, 0);
}

/* Nor what a cluster may do without, as long as there was none of it. */
static void what_is_not_installed_is_not_broken(void **state) {
    struct fixture *f = *state;
    start(f);
    drain_site_pass(&f->s, SEC(700));
    assert_int_equal(f->told, 0);
    refuse(f, "/maintenances?");
    assert_int_equal(f->told, 1);
    assert_true(str_starts(f->blind, "maintenances cannot be watched"));
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(f->told, 2);
    assert_null(f->blind);
}

/* As if the ends of its objects had been missed. */
static void a_definition_that_is_deleted(void **state) {
    struct fixture *f = *state;
    start(f);
    struct object *lost = object_new(&kind_rollout);
    lost->meta.name = make_str(f->s.client.pool, "r1");
    lost->meta.version = make_str(f->s.client.pool, "7");
    store_put(f->rollouts, lost);
    assert_int_equal(store_len(f->rollouts), 1);
    drain_site_pass(&f->s, SEC(300));
    assert_int_equal(store_len(f->rollouts), 0);
    assert_null(f->blind);
    assert_true(feeds_ready(f->feeds));
}

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static void define(struct fixture *f) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        sim_ask(&f->s.sim, 201, "POST", DEFINITIONS, str_get(&json));
    }
    drain_site_pass(&f->s, SEC(1));
}

static void undefine(struct fixture *f) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_free_ char *path = xasprintf(DEFINITIONS "/%s.slipway.dev", r->kind->resource);
        sim_ask(&f->s.sim, 200, "DELETE", path, NULL);
    }
}

static void post(struct fixture *f, const char *plural, const char *kind, const char *spec) {
    _cleanup_free_ char *path = xasprintf("/apis/slipway.dev/v1alpha1/%s", plural);
    _cleanup_free_ char *json = xasprintf(
        "{'apiVersion':'slipway.dev/v1alpha1','kind':'%s','metadata':{'name':'x'},'spec':{%s}}",
        kind, spec);
    site_post(&f->s, path, json);
}

/* Slots wait for them: not for as long as a watch that has failed so often would pause. */
static void definitions_that_are_installed_anew(void **state) {
    struct fixture *f = *state;
    define(f);
    start(f);
    for (int64_t away = 20; away < 600; away += 83) {
        undefine(f);
        uint64_t calls = kube_fault_stats(f->s.fault)->calls;
        drain_site_pass(&f->s, SEC(away));
        calls = kube_fault_stats(f->s.fault)->calls - calls;
        assert_true(calls < 40 + (uint64_t)away / 2); /* at the beginning each tries some times */
        define(f);
        post(f, "policies", "Policy", "'nodeSelector':{},'maxUnavailable':1");
        post(f, "maintenances", "Maintenance", "'node':'w0','operation':'Drain'");
        post(f, "rollouts", "Rollout", "'operation':'Drain','nodes':['w0']");
        drain_site_pass(&f->s, SEC(8));
        assert_int_equal(store_len(f->policies), 1);
        assert_int_equal(store_len(f->maintenances), 1);
        assert_int_equal(store_len(f->rollouts), 1);
        assert_null(f->blind);
    }
}

/* Who has never had them is not asked for them all the time. */
static void what_was_never_installed(void **state) {
    struct fixture *f = *state;
    start(f);
    drain_site_pass(&f->s, SEC(120));
    uint64_t calls = kube_fault_stats(f->s.fault)->calls;
    drain_site_pass(&f->s, SEC(600));
    assert_true(kube_fault_stats(f->s.fault)->calls - calls < 80);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FEEDS_TEST(everything_is_known_but_pods),
        FEEDS_TEST(what_changes_is_told),
        FEEDS_TEST(only_config_maps_of_slots),
        FEEDS_TEST(the_pods_of_nodes_that_are_worked_on),
        FEEDS_TEST(a_node_without_pods_is_known),
        FEEDS_TEST(what_is_not_watched_any_more_is_forgotten),
        FEEDS_TEST(restarts_are_counted),
        FEEDS_TEST(each_of_them_may_be_let_go),
        FEEDS_TEST(owners_when_they_are_wanted),
        FEEDS_TEST(a_server_that_is_away_for_a_while),
        FEEDS_TEST(a_watch_in_which_nothing_happens_is_no_broken_one),
        FEEDS_TEST(a_watch_that_is_broken_is_told),
        FEEDS_TEST(a_watch_that_is_broken_for_a_moment_is_not),
        FEEDS_TEST(the_pods_of_a_node_are_another_matter),
        FEEDS_TEST(what_is_not_installed_is_not_broken),
        FEEDS_TEST(a_definition_that_is_deleted),
        FEEDS_TEST(definitions_that_are_installed_anew),
        FEEDS_TEST(what_was_never_installed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
