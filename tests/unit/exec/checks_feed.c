/* What the checks decide by, read from a server. */
#include "exec/checks_feed.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WATCH_MAX = 720 }; /* seconds: no watch lasts longer, nor the pauses after it */

struct fixture {
    struct drain_site s;
    struct checks_feed *feed;
    struct checks_feed_opts opts;
    int ready, changed;
    bool etcd;
};

static void on_ready(void *arg) {
    struct fixture *f = arg;
    f->ready++;
    assert_true(checks_feed_ready(f->feed));
}

static void on_changed(void *arg) {
    ((struct fixture *)arg)->changed++;
}

static bool has_etcd(void *arg) {
    return ((struct fixture *)arg)->etcd;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 2);
    f->opts = (struct checks_feed_opts){
        .etcd = has_etcd, .ready = on_ready, .changed = on_changed, .arg = f};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    checks_feed_free(f->feed);
    drain_site_done(&f->s);
    free(f);
    return 0;
}

static void start(struct fixture *f) {
    f->feed = checks_feed_new(&f->s.client, &f->opts);
    assert_int_equal(f->ready, 0); /* from the loop */
    drain_site_pass(&f->s, SEC(2));
}

static const struct check_input *input(struct fixture *f, enum check_source_id id) {
    return &checks_feed_world(f->feed)->inputs[id];
}

static void define(struct fixture *f, const char *group, const char *version, const char *plural,
                   const char *kind) {
    _cleanup_free_ char *json = xasprintf(
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{"
        "'name':'%s.%s'},'spec':{'group':'%s','scope':'Namespaced','names':{'plural':'%s','kind':"
        "'%s'},'versions':[{'name':'%s','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
        "'type':'object','x-kubernetes-preserve-unknown-fields':true}}}]}}",
        plural, group, group, plural, kind, version);
    site_post(&f->s, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json);
    drain_site_pass(&f->s, SEC(2)); /* until it is served */
}

static void machine(struct fixture *f, const char *name) {
    _cleanup_free_ char *json =
        xasprintf("{'apiVersion':'kubevirt.io/v1','kind':'VirtualMachineInstance','metadata':{"
                  "'name':'%s'},'status':{'nodeName':'w0'}}",
                  name);
    site_post(&f->s, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances", json);
}

static void a_cluster_without_any_costs_one_request(void **state) {
    struct fixture *f = *state;
    uint64_t before = kube_fault_stats(f->s.fault)->calls;
    start(f);
    assert_int_equal(f->ready, 1);
    assert_false(checks_feed_any(f->feed));
    assert_int_equal(kube_fault_stats(f->s.fault)->calls - before, 1);
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        assert_int_equal(input(f, (enum check_source_id)i)->read, READ_ABSENT);
}

static void what_is_installed_is_read_and_watched(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    start(f);
    assert_int_equal(f->ready, 1);
    assert_true(checks_feed_any(f->feed));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 1);
    assert_int_equal(input(f, SOURCE_KUBEVIRTS)->read, READ_ABSENT); /* of the same group */
    assert_int_equal(input(f, SOURCE_ETCD_PODS)->read, READ_ABSENT); /* nobody wants them */
    assert_int_equal(store_len(checks_feed_world(f->feed)->nodes), 2);
    assert_int_equal(f->changed, 0);
    machine(f, "b");
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 2);
    assert_true(f->changed > 0);
    assert_int_equal(f->ready, 1);
}

/* A system that is installed while somebody looks, and before the first look is over nobody may
 * take it for absent. */
static void what_is_installed_later_is_found(void **state) {
    struct fixture *f = *state;
    f->opts.again = SEC(60);
    f->feed = checks_feed_new(&f->s.client, &f->opts);
    assert_true(checks_feed_world(f->feed)->unread);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    drain_site_pass(&f->s, SEC(2));
    assert_false(checks_feed_world(f->feed)->unread);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_ABSENT);
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    drain_site_pass(&f->s, SEC(130));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 1);
    assert_int_equal(input(f, SOURCE_KUBEVIRTS)->read, READ_ABSENT);
    define(f, "kubevirt.io", "v1", "kubevirts", "KubeVirt"); /* one more of a group that is there */
    drain_site_pass(&f->s, SEC(130));
    assert_int_equal(input(f, SOURCE_KUBEVIRTS)->read, READ_DONE);
    assert_int_equal(f->ready, 1);
    assert_true(f->changed > 0);
}

/* Another world, to which everything is done that is told. */
struct copy {
    struct fixture *f;
    struct check_input inputs[CHECK_SOURCES];
    struct store *stores[CHECK_SOURCES];
    unsigned changes;
};

static void copy_store(void *arg, enum check_source_id source, const struct store *s,
                       const struct store_change *change) {
    struct copy *c = arg;
    c->changes++;
    if (!c->stores[source])
        c->stores[source] = store_new(store_kind(s), store_pool(s));
    store_apply(c->stores[source], change);
}

static void copy_input(void *arg, enum check_source_id source, const struct check_input *in) {
    ((struct copy *)arg)->inputs[source] = *in;
}

static void copy_is_told(void *arg) {
    (void)arg;
}

static void copy_begin(struct copy *c) {
    struct check_world w;
    check_world_begin(&w, 0, false);
    memcpy(c->inputs, w.inputs, sizeof c->inputs);
}

static void copy_done(struct copy *c) {
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        store_free(c->stores[i]);
    *c = (struct copy){0};
}

static char *printed(const struct kind *kind, const struct object *obj) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    object_print(kind, &w, obj);
    return str_take(&out);
}

static void assert_same_store(const struct store *a, const struct store *b) {
    size_t n, m;
    _cleanup_free_ const struct object **x = store_sorted(a, &n), **y = store_sorted(b, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *one = printed(store_kind(a), x[i]);
        _cleanup_free_ char *other = printed(store_kind(b), y[i]);
        assert_string_equal(one, other);
    }
    assert_int_equal(store_synced(a), store_synced(b));
    assert_true(str_same(store_version(a), store_version(b)));
}

static void assert_copied(const struct copy *c, const struct checks_feed *feed) {
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        const struct check_input *in = &checks_feed_world(feed)->inputs[i];
        assert_int_equal(c->inputs[i].read, in->read);
        assert_true(str_same(c->inputs[i].why, in->why));
        if (in->read == READ_DONE)
            assert_same_store(in->store, c->stores[i]);
    }
}

/* Whoever keeps what is told has what was read, from the beginning or from any time on. */
static void all_that_is_read_can_be_kept(void **state) {
    struct fixture *f = *state;
    struct copy c = {0};
    copy_begin(&c);
    f->opts = (struct checks_feed_opts){.again = SEC(60),
                                        .ready = copy_is_told,
                                        .store = copy_store,
                                        .input = copy_input,
                                        .arg = &c};
    f->feed = checks_feed_new(&f->s.client, &f->opts);
    assert_copied(&c, f->feed);
    for (int at = 0; at < 40; at++) {
        if (at == 4)
            define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
        if (at == 5)
            machine(f, "a");
        if (at == 14)
            machine(f, "b");
        if (at == 16)
            sim_ask(&f->s.sim, 200, "DELETE",
                    "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/a", NULL);
        if (at == 18) { /* one that looks from now on */
            copy_done(&c);
            copy_begin(&c);
            checks_feed_retell(f->feed);
        }
        if (at == 20)
            sim_ask(&f->s.sim, 200, "DELETE",
                    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                    "virtualmachineinstances.kubevirt.io",
                    NULL);
        drain_site_pass(&f->s, at < 20 ? SEC(10) : SEC(60));
        assert_copied(&c, f->feed);
        if (at == 17 || at == 18)
            assert_int_equal(store_len(c.stores[SOURCE_VMIS]), 1);
    }
    assert_int_equal(c.inputs[SOURCE_VMIS].read, READ_ABSENT);
    assert_true(c.changes > 0);
    copy_done(&c);
}

static void once_is_not_watched(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    f->opts.once = true;
    start(f);
    assert_int_equal(f->ready, 1);
    machine(f, "a");
    drain_site_pass(&f->s, SEC(30));
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 0);
    assert_int_equal(f->changed, 0);
}

static void the_callers_nodes_are_used(void **state) {
    struct fixture *f = *state;
    struct store *nodes = store_new(&kind_node, f->s.client.pool);
    f->opts.nodes = nodes;
    f->etcd = true;
    start(f);
    assert_ptr_equal(checks_feed_world(f->feed)->nodes, nodes);
    assert_int_equal(input(f, SOURCE_ETCD_PODS)->read, READ_DONE);
    checks_feed_free(f->feed);
    f->feed = NULL;
    store_free(nodes);
}

static void what_is_skipped_is_not_read(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    f->opts.skip = 1u << (check_find("kubevirt") - checks_table);
    start(f);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_ABSENT);
    assert_false(checks_feed_any(f->feed));
}

/* Whoever made a copy says what could not be read of the cluster: in the copy it is not absent. */
static void what_is_known_to_be_unread_is_told(void **state) {
    struct fixture *f = *state;
    const char *unread[CHECK_SOURCES] = {
        [SOURCE_VMIS] = "forbidden", [SOURCE_LONGHORN_SETTINGS] = "discovery: forbidden"};
    define(f, "kubevirt.io", "v1", "kubevirts", "KubeVirt");
    f->opts.unread = unread;
    f->opts.skip = 1u << (check_find("longhorn") - checks_table);
    start(f);
    assert_int_equal(f->ready, 1);
    assert_true(checks_feed_any(f->feed));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_string_equal(input(f, SOURCE_VMIS)->why, "forbidden");
    assert_int_equal(input(f, SOURCE_KUBEVIRTS)->read, READ_DONE);
    assert_int_equal(input(f, SOURCE_LONGHORN_SETTINGS)->read, READ_ABSENT); /* not wanted */
}

/* Remarks are for those who ask for them. */
static void what_only_remarks_is_read_on_request(void **state) {
    struct fixture *f = *state;
    f->opts.remarks = true;
    start(f);
    assert_int_equal(input(f, SOURCE_STATEFUL_SETS)->read, READ_DONE);
    assert_int_equal(input(f, SOURCE_BUDGETS)->read, READ_DONE);
}

static void another_version_is_not_taken_for_absent(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1alpha3", "virtualmachineinstances", "VirtualMachineInstance");
    start(f);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_string_equal(input(f, SOURCE_VMIS)->why,
                        "the server does not have it as kubevirt.io/v1");
    assert_true(checks_feed_any(f->feed));
}

static void forbidden_is_not_taken_for_absent(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                         .path = "/virtualmachineinstances",
                                                         .code = 403});
    start(f);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_non_null(input(f, SOURCE_VMIS)->why);
}

/* Which object it is, and which field of it: somebody has to go and mend it. The others are judged
 * all the same. */
static void an_object_of_another_shape_is_named(void **state) {
    struct fixture *f = *state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct checks found;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    _cleanup_free_ char *odd =
        xstrdup("{'apiVersion':'kubevirt.io/v1','kind':'VirtualMachineInstance','metadata':{"
                "'name':'odd'},'status':{'nodeName':'w0','migrationState':{'completed':'maybe'}}}");
    site_post(&f->s, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances", odd);
    f->opts.once = true;
    start(f);
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 2);
    const char *going[] = {"w0"};
    checks_run(checks_feed_world(f->feed), &(struct check_request){.going = going, .n_going = 1},
               &arena, &found);
    assert_int_equal(check_worst(&found, "w0", CHECK_CORDON), CHECK_WAIT);
    assert_int_equal(found.n, 2);
    assert_string_equal(found.list[0].name, "a");
    assert_string_equal(found.list[1].name, "odd");
    assert_int_equal(found.list[1].code, BLOCKER_CHECK_UNKNOWN);
    assert_string_equal(found.list[1].evidence,
                        "cannot read VirtualMachineInstance default/odd: "
                        "status.migrationState.completed: expected true or false, found a string");
}

/* Nothing can be said of any system without the nodes. */
static void without_nodes_nothing_is_known(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(
        f->s.fault,
        &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .path = "/api/v1/nodes", .code = 403});
    start(f);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_non_null(strstr(input(f, SOURCE_VMIS)->why, "nodes: "));
}

/* What passes is tried again. */
static void a_busy_server_is_asked_again(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault,
                   &(struct kube_fault_rule){
                       .kind = KUBE_FAULT_STATUS, .path = "/apis", .code = 503, .count = 3});
    start(f);
    drain_site_pass(&f->s, SEC(20));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
}

/* A server that is away for good: unknown, not absent. What needs no discovery is read. */
static void silence_is_not_taken_for_absent(void **state) {
    struct fixture *f = *state;
    f->etcd = true;
    kube_fault_add(f->s.fault,
                   &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL, .path = "/apis"});
    f->feed = checks_feed_new(&f->s.client, &f->opts);
    drain_site_pass(&f->s, SEC(29));
    assert_int_equal(f->ready, 0);
    drain_site_pass(&f->s, SEC(3));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_LONGHORN_VOLUMES)->read, READ_FAILED);
    assert_non_null(strstr(input(f, SOURCE_LONGHORN_VOLUMES)->why, "discovery: "));
    assert_int_equal(input(f, SOURCE_ETCD_PODS)->read, READ_DONE);
    assert_int_equal(store_len(checks_feed_world(f->feed)->nodes), 2);
}

/* Whoever waits because of it goes on when the server answers. */
static void discovery_that_fails_is_tried_again(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){
                                   .kind = KUBE_FAULT_STATUS, .path = "/apis", .code = 403});
    start(f);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_int_equal(input(f, SOURCE_CNPG_CLUSTERS)->read, READ_FAILED);
    assert_non_null(strstr(input(f, SOURCE_VMIS)->why, "discovery: "));
    assert_non_null(checks_feed_world(f->feed)->nodes); /* somebody is going to look at them */
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    kube_fault_clear(f->s.fault);
    f->changed = 0;
    drain_site_pass(&f->s, SEC(15));
    assert_true(f->changed > 0);
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(input(f, SOURCE_CNPG_CLUSTERS)->read, READ_ABSENT);
}

/* Refused first, then no answer at all: it is asked once more all the same. */
static void discovery_that_stalls_later_is_tried_again(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault,
                   &(struct kube_fault_rule){
                       .kind = KUBE_FAULT_STATUS, .path = "/apis", .code = 403, .count = 1});
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){
                                   .kind = KUBE_FAULT_STALL, .path = "/apis", .count = 1});
    start(f);
    assert_int_equal(f->ready, 1);
    drain_site_pass(&f->s, SEC(30));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    drain_site_pass(&f->s, SEC(30));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
}

/* The groups are known, the resources of one are not. */
static void half_of_discovery_is_tried_again(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                         .path = "/apis/kubevirt.io/v1",
                                                         .code = 503,
                                                         .count = 5});
    start(f);
    drain_site_pass(&f->s, SEC(8));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_int_equal(input(f, SOURCE_CNPG_CLUSTERS)->read, READ_ABSENT);
    drain_site_pass(&f->s, SEC(20));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
}

/* Something between us and the server that answers, but not what was asked. */
static void garbage_is_not_taken_for_absent(void **state) {
    static const char *const answers[] = {
        "<html>log in first</html>",
        "[]",
        "{}",
        "{\"kind\":\"APIGroupList\",\"groups\":{}}",
        "{\"kind\":\"APIGroupList\",\"groups\":[",
        "",
    };
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        f->ready = 0;
        kube_fault_clear(f->s.fault);
        kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                             .path = "/apis",
                                                             .code = 200,
                                                             .body = answers[i]});
        f->opts.once = i % 2;
        start(f);
        drain_site_pass(&f->s, SEC(20));
        assert_int_equal(f->ready, 1);
        assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
        assert_non_null(strstr(input(f, SOURCE_VMIS)->why, "discovery: "));
        checks_feed_free(f->feed);
        f->feed = NULL;
    }
}

/* A kind is deleted, with its objects: it is over with that system. And made again. */
static void a_kind_that_is_deleted_is_absent(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    start(f);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    f->changed = 0;
    sim_ask(&f->s.sim, 200, "DELETE",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
            "virtualmachineinstances.kubevirt.io",
            NULL);
    drain_site_pass(&f->s, SEC(WATCH_MAX));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_ABSENT);
    assert_true(f->changed > 0);
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "b");
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 1);
}

/* What cannot be read at the beginning, and can later. */
static void a_permission_that_comes_later_is_noticed(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                         .path = "/virtualmachineinstances",
                                                         .code = 403});
    start(f);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    kube_fault_clear(f->s.fault);
    f->changed = 0;
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_null(input(f, SOURCE_VMIS)->why);
    assert_true(f->changed > 0);
    assert_int_equal(f->ready, 1);
}

static void nodes_that_come_later_make_all_known(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    kube_fault_add(
        f->s.fault,
        &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .path = "/api/v1/nodes", .code = 403});
    start(f);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
}

/* What was read and is not kept current any more is not believed for ever. */
static void a_watch_that_breaks_for_long_is_unknown(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    start(f);
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                         .path = "/virtualmachineinstances",
                                                         .code = 503});
    drain_site_pass(&f->s, SEC(200)); /* the watch that is there goes on */
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    drain_site_pass(&f->s, SEC(WATCH_MAX));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    kube_fault_clear(f->s.fault);
    machine(f, "b");
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 2);
}

/* A watch that brings nothing, not even its first picture: nobody waits for it for ever, and it is
 * read all the same. */
static void a_watch_that_stalls_is_unknown_at_first(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    machine(f, "a");
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                         .path = "/virtualmachineinstances?watch",
                                                         .count = 1});
    start(f);
    assert_int_equal(f->ready, 0);
    drain_site_pass(&f->s, SEC(30));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_FAILED);
    assert_string_equal(input(f, SOURCE_VMIS)->why, "no answer in time");
    drain_site_pass(&f->s, SEC(200));
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    assert_int_equal(store_len(input(f, SOURCE_VMIS)->store), 1);
    assert_true(f->changed > 0);
}

/* What is there comes in the wrong shape. */
static void objects_that_make_no_sense_are_unknown(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    site_post(&f->s, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances",
              "{'apiVersion':'kubevirt.io/v1','kind':'VirtualMachineInstance','metadata':{'name':"
              "'odd'},'status':[1,{'nodeName':7}]}");
    start(f);
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_VMIS)->read, READ_DONE);
    const char *going[] = {"w0"};
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct checks found;
    checks_run(checks_feed_world(f->feed), &(struct check_request){.going = going, .n_going = 1},
               &arena, &found);
    const struct check_finding *worst = check_worst_finding(&found, "w0", CHECK_CORDON);
    assert_non_null(worst);
    assert_string_equal(worst->evidence, "cannot read VirtualMachineInstance default/odd: status: "
                                         "expected an object, found a list");
}

/* One of a kind without which a check takes the worst for granted must not be left out. */
static void one_that_only_informs_hides_the_rest(void **state) {
    struct fixture *f = *state;
    define(f, "kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance");
    define(f, "kubevirt.io", "v1", "kubevirts", "KubeVirt");
    site_post(&f->s, "/apis/kubevirt.io/v1/namespaces/default/kubevirts",
              "{'apiVersion':'kubevirt.io/v1','kind':'KubeVirt','metadata':{'name':'odd'},'spec':{"
              "'configuration':7}}");
    start(f);
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(f->ready, 1);
    assert_int_equal(input(f, SOURCE_KUBEVIRTS)->read, READ_FAILED);
}

#define FEED_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        FEED_TEST(a_cluster_without_any_costs_one_request),
        FEED_TEST(what_is_installed_is_read_and_watched),
        FEED_TEST(what_is_installed_later_is_found),
        FEED_TEST(all_that_is_read_can_be_kept),
        FEED_TEST(once_is_not_watched),
        FEED_TEST(the_callers_nodes_are_used),
        FEED_TEST(what_is_skipped_is_not_read),
        FEED_TEST(what_is_known_to_be_unread_is_told),
        FEED_TEST(what_only_remarks_is_read_on_request),
        FEED_TEST(another_version_is_not_taken_for_absent),
        FEED_TEST(forbidden_is_not_taken_for_absent),
        FEED_TEST(an_object_of_another_shape_is_named),
        FEED_TEST(without_nodes_nothing_is_known),
        FEED_TEST(a_busy_server_is_asked_again),
        FEED_TEST(silence_is_not_taken_for_absent),
        FEED_TEST(discovery_that_fails_is_tried_again),
        FEED_TEST(discovery_that_stalls_later_is_tried_again),
        FEED_TEST(half_of_discovery_is_tried_again),
        FEED_TEST(garbage_is_not_taken_for_absent),
        FEED_TEST(a_kind_that_is_deleted_is_absent),
        FEED_TEST(a_permission_that_comes_later_is_noticed),
        FEED_TEST(nodes_that_come_later_make_all_known),
        FEED_TEST(a_watch_that_breaks_for_long_is_unknown),
        FEED_TEST(a_watch_that_stalls_is_unknown_at_first),
        FEED_TEST(objects_that_make_no_sense_are_unknown),
        FEED_TEST(one_that_only_informs_hides_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
