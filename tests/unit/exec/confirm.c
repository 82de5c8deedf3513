/* One list of a node's pods: the store is brought up to it, and nothing newer is lost. */
#include "exec/confirm.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/own.h"

struct fixture {
    struct drain_site s;
    struct cluster cluster;
    struct store *pods; /* of it */
    struct confirm *confirm;
    int calls;
    enum kube_outcome outcome;
};

static void on_done(void *arg, enum kube_outcome outcome, const char *message) {
    struct fixture *f = arg;
    assert_non_null(message);
    f->calls++;
    f->outcome = outcome;
    confirm_free(f->confirm);
    f->confirm = NULL;
}

static void begin(struct fixture *f) {
    *f = (struct fixture){0};
    drain_site_init(&f->s, 2);
    cluster_init(&f->cluster, f->s.client.pool);
    f->pods = f->cluster.pods;
}

static void ask(struct fixture *f) {
    f->calls = 0;
    f->confirm =
        confirm_new(&f->s.client, &f->cluster, (struct store_scope){0}, "w0", 0, on_done, f);
    drain_site_pass(&f->s, SEC(2));
}

static void done(struct fixture *f) {
    confirm_free(f->confirm);
    cluster_done(&f->cluster);
    drain_site_done(&f->s);
}

static void what_was_not_known_comes_in(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    site_pod(&f.s, "here", "w0", NULL);
    site_pod(&f.s, "there", "w1", NULL);
    ask(&f);
    assert_int_equal(f.calls, 1);
    assert_int_equal(f.outcome, KUBE_OK);
    assert_int_equal(store_len(f.pods), 1);
    assert_non_null(store_get(f.pods, "default", "here"));
    done(&f);
}

static bool is_on_w1(const struct object *obj, const void *arg) {
    (void)arg;
    return streq(strna(((const struct pod *)obj)->node_name), "w1");
}

/* Nobody watches its pods: what is watched of others stays complete. */
static void of_a_node_that_is_not_watched(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    struct store_part *other = store_part(f.pods, (struct store_scope){is_on_w1, NULL});
    store_part_begin(other);
    store_part_end(other, "99999999");
    site_pod(&f.s, "here", "w0", NULL);
    ask(&f);
    assert_int_equal(f.outcome, KUBE_OK);
    assert_non_null(store_get(f.pods, "default", "here"));
    assert_true(store_synced(f.pods));
    done(&f);
}

/* A pod as a watch would have brought it. */
static void put(struct fixture *f, const char *name, const char *node, const char *version) {
    struct pool *pool = f->s.client.pool;
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.name = pool_str(pool, name, strlen(name));
    pod->meta.ns = pool_str(pool, "default", 7);
    pod->meta.version = pool_str(pool, version, strlen(version));
    pod->node_name = pool_str(pool, node, strlen(node));
    store_put(f->pods, (struct object *)pod);
}

static void what_is_gone_goes_and_what_is_newer_stays(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    put(&f, "old", "w0", "1");
    put(&f, "new", "w0", "99999999");
    put(&f, "elsewhere", "w1", "1");
    ask(&f);
    assert_int_equal(f.outcome, KUBE_OK);
    assert_null(store_get(f.pods, "default", "old"));
    assert_non_null(store_get(f.pods, "default", "new"));
    assert_non_null(store_get(f.pods, "default", "elsewhere"));
    done(&f);
}

/* The watch was faster: what it has removed does not come back. */
static void an_older_list_changes_nothing(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    site_pod(&f.s, "gone", "w0", NULL);
    store_set_version(f.pods, "99999999");
    ask(&f);
    assert_int_equal(f.calls, 1);
    assert_int_equal(f.outcome, KUBE_OK);
    assert_int_equal(store_len(f.pods), 0);
    done(&f);
}

static void trouble_is_told_once(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    kube_fault_add(f.s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .code = 503});
    ask(&f);
    drain_site_pass(&f.s, SEC(60));
    assert_int_equal(f.calls, 1);
    assert_int_equal(f.outcome, KUBE_SERVER_ERROR);
    kube_fault_clear(f.s.fault);
    /* freed before it ends, nothing is told */
    f.calls = 0;
    f.confirm = confirm_new(&f.s.client, &f.cluster, (struct store_scope){0}, "w0", 0, on_done, &f);
    confirm_free(f.confirm);
    f.confirm = NULL;
    drain_site_pass(&f.s, SEC(2));
    assert_int_equal(f.calls, 0);
    done(&f);
}

static void count(struct fixture *f, const struct kind *kind) {
    f->calls = 0;
    f->confirm = confirm_new_none(&f->s.client, kind, 1, on_done, f);
    drain_site_pass(&f->s, SEC(2));
    assert_int_equal(f->calls, 1);
}

static void whether_there_is_any(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    count(&f, &kind_policy);
    assert_int_equal(f.outcome, KUBE_NOT_FOUND); /* the server does not have them */
    count(&f, &kind_pdb);
    assert_int_equal(f.outcome, KUBE_OK);
    site_budget(&f.s, "a", "'maxUnavailable':1");
    count(&f, &kind_pdb);
    assert_int_equal(f.outcome, KUBE_EXISTS);
    assert_int_equal(store_len(f.cluster.budgets), 0);
    kube_fault_add(f.s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .code = 503});
    count(&f, &kind_pdb);
    assert_int_equal(f.outcome, KUBE_SERVER_ERROR);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_known_comes_in),
        cmocka_unit_test(what_is_gone_goes_and_what_is_newer_stays),
        cmocka_unit_test(of_a_node_that_is_not_watched),
        cmocka_unit_test(an_older_list_changes_nothing),
        cmocka_unit_test(trouble_is_told_once),
        cmocka_unit_test(whether_there_is_any),
    };
    return cmocka_run_group_tests_name("exec/confirm", tests, NULL, NULL);
}
