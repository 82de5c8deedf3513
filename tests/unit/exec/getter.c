/* An object that is read again and again. */
#include "exec/getter.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct drain_site s;
    struct store *nodes;
    struct getter *getter;
    int synced, problems;
    enum kube_outcome outcome;
};

static void on_synced(void *arg) {
    ((struct fixture *)arg)->synced++;
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message) {
    struct fixture *f = arg;
    assert_non_null(message);
    f->problems++;
    f->outcome = outcome;
}

static bool is_named(const struct object *obj, const void *arg) {
    return str_same(obj->meta.name, arg);
}

static void begin(struct fixture *f, const char *name) {
    *f = (struct fixture){0};
    drain_site_init(&f->s, 2);
    f->nodes = store_new(&kind_node, f->s.client.pool);
    f->getter = getter_new(&f->s.client, f->nodes,
                           &(struct getter_opts){.name = name,
                                                 .scope = {is_named, name},
                                                 .interval = SEC(3),
                                                 .synced = on_synced,
                                                 .problem = on_problem,
                                                 .arg = f});
    assert_int_equal(f->synced, 0); /* from the loop */
    drain_site_pass(&f->s, SEC(1));
}

static void done(struct fixture *f) {
    getter_free(f->getter);
    store_free(f->nodes);
    drain_site_done(&f->s);
}

static const struct node *node(struct fixture *f) {
    return (const struct node *)store_get(f->nodes, NULL, "w0");
}

static void changes_are_seen_after_a_while(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "w0");
    assert_int_equal(f.synced, 1);
    assert_true(store_synced(f.nodes));
    assert_non_null(node(&f));
    assert_false(node(&f)->unschedulable);
    site_patch(&f.s, "/api/v1/nodes/w0", "{'spec':{'unschedulable':true}}");
    drain_site_pass(&f.s, SEC(4));
    assert_true(node(&f)->unschedulable);
    assert_int_equal(f.synced, 1); /* told once */
    sim_ask(&f.s.sim, 200, "DELETE", "/api/v1/nodes/w0", NULL);
    drain_site_pass(&f.s, SEC(4));
    assert_null(node(&f));
    done(&f);
}

/* Read at once, also when the read that is under way began before. */
static void it_can_be_read_sooner(void **state) {
    (void)state;
    for (int under_way = 0; under_way < 2; under_way++) {
        struct fixture f;
        begin(&f, "w0");
        if (under_way) {
            kube_fault_add(f.s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                                .delay = MSEC(200),
                                                                .count = 1});
            drain_site_pass(&f.s, MSEC(2050));
        }
        site_patch(&f.s, "/api/v1/nodes/w0", "{'spec':{'unschedulable':true}}");
        assert_false(node(&f)->unschedulable);
        getter_hurry(f.getter);
        drain_site_pass(&f.s, MSEC(400));
        assert_true(node(&f)->unschedulable);
        done(&f);
    }
}

static void one_that_does_not_exist_is_known_not_to(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "w9");
    assert_int_equal(f.synced, 1);
    assert_int_equal(store_len(f.nodes), 0);
    done(&f);
}

static void trouble_is_told_and_passes(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "w0");
    size_t rule = kube_fault_add(f.s.fault,
                                 &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .code = 403});
    drain_site_pass(&f.s, SEC(7));
    assert_int_equal(kube_fault_fired(f.s.fault, rule), 2);
    assert_int_equal(f.problems, 2);
    assert_int_equal(f.outcome, KUBE_FORBIDDEN);
    assert_non_null(node(&f)); /* what was known stays */
    kube_fault_clear(f.s.fault);
    drain_site_pass(&f.s, SEC(4));
    assert_int_equal(f.problems, 2);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_seen_after_a_while),
        cmocka_unit_test(it_can_be_read_sooner),
        cmocka_unit_test(one_that_does_not_exist_is_known_not_to),
        cmocka_unit_test(trouble_is_told_and_passes),
    };
    return cmocka_run_group_tests_name("exec/getter", tests, NULL, NULL);
}
