/* Tests of src/exec/calls.c: so many at a time, and all of them answered. */
#include "exec/calls.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 200 };

struct fixture {
    struct drain_site s;
    struct cluster cluster;
    struct calls *calls;
    uint64_t answered[MANY];
    size_t n;
    enum kube_outcome outcome; /* of the last */
    const char *wrote;         /* the node */
    enum action_verb ended[MANY];
    size_t n_ended;
};

static void on_answer(void *arg, uint64_t action, const struct answer *a) {
    struct fixture *f = arg;
    assert_true(f->n < MANY);
    f->answered[f->n++] = action;
    f->outcome = a->outcome;
}

/* Before anybody else is told. */
static void on_ended(void *arg, const struct action *action, const struct answer *a) {
    struct fixture *f = arg;
    (void)a;
    assert_true(f->n_ended < MANY && f->n_ended >= f->n);
    f->ended[f->n_ended++] = action->verb;
}

static void on_wrote(void *arg, const char *node) {
    struct fixture *f = arg;
    f->wrote = node;
    assert_false(store_fresh(f->cluster.nodes, NULL, node)); /* the barrier is up by then */
}

static struct store_scope whole(void *arg, const char *node) {
    (void)arg, (void)node;
    return (struct store_scope){0};
}

static void begin(struct fixture *f) {
    *f = (struct fixture){0};
    drain_site_init(&f->s, 3);
    cluster_init(&f->cluster, f->s.client.pool);
    f->calls = calls_new(&(struct calls_opts){.client = &f->s.client,
                                              .cluster = &f->cluster,
                                              .scope = whole,
                                              .wrote = on_wrote,
                                              .answer = on_answer,
                                              .ended = on_ended,
                                              .arg = f});
}

static void done(struct fixture *f) {
    calls_free(f->calls);
    cluster_done(&f->cluster);
    drain_site_done(&f->s);
}

/* Of what a drain asks for, one of each sort. */
static const struct {
    struct action action;
    unsigned most;
} sorts[] = {
    {{.verb = ACTION_EVICT, .kind = &kind_pod, .ns = "default", .name = "x", .uid = "u"}, 100},
    {{.verb = ACTION_DELETE, .kind = &kind_pod, .ns = "default", .name = "x", .uid = "u"}, 100},
    {{.verb = ACTION_PATCH, .kind = &kind_node, .name = "w0", .body = "{}"}, 100},
    {{.verb = ACTION_READ, .kind = &kind_daemon_set, .ns = "default", .name = "x"}, 16},
    {{.verb = ACTION_CONFIRM, .kind = &kind_pod, .name = "w0"}, 4},
    {{.verb = ACTION_CONFIRM, .kind = &kind_volume_attachment, .name = "w0"}, 1},
    {{.verb = ACTION_CREATE,
      .kind = &kind_event,
      .ns = "default",
      .name = "e",
      .body = "{}",
      .minor = true},
     4},
};

static void add(struct fixture *f, size_t sort, uint64_t id) {
    struct action a = sorts[sort].action;
    a.id = id;
    a.grace = -1;
    calls_add(f->calls, &a);
}

static uint64_t started(const struct fixture *f) {
    return kube_fault_stats(f->s.fault)->calls;
}

/* The server is silent: no more than its share of a sort is under way, and every sort has its own.
 * Ended in the middle, nothing is told and nothing is lost. */
static void so_many_at_a_time(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    kube_fault_add(f.s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL});
    for (size_t sort = 0; sort < sizeof sorts / sizeof *sorts; sort++) {
        uint64_t before = started(&f);
        for (uint64_t i = 0; i < 100; i++)
            add(&f, sort, 1 + sort * 100 + i);
        drain_site_pass(&f.s, SEC(1));
        assert_int_equal(started(&f) - before, sorts[sort].most);
    }
    assert_int_equal(f.n, 0);
    done(&f);
}

/* However many wait, each is answered once. */
static void all_are_answered(void **state) {
    (void)state;
    for (size_t sort = 0; sort < sizeof sorts / sizeof *sorts; sort++) {
        struct fixture f;
        begin(&f);
        for (uint64_t i = 0; i < 100; i++)
            add(&f, sort, 1 + i);
        drain_site_pass(&f.s, SEC(60));
        assert_int_equal(f.n, 100);
        assert_int_equal(f.n_ended, 100);
        assert_int_equal(f.ended[99], sorts[sort].action.verb);
        bool seen[101] = {0};
        for (size_t i = 0; i < f.n; i++) {
            assert_in_range(f.answered[i], 1, 100);
            assert_false(seen[f.answered[i]]);
            seen[f.answered[i]] = true;
        }
        done(&f);
    }
}

/* One list that begins after they asked does for all who wait. */
static void one_list_of_volumes_serves_all(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    uint64_t before = started(&f);
    for (uint64_t i = 0; i < 50; i++)
        add(&f, 5, 1 + i);
    assert_int_equal(f.n, 0);
    drain_site_pass(&f.s, SEC(5));
    assert_int_equal(f.n, 50);
    assert_int_equal(f.outcome, KUBE_OK);
    /* The first began when nobody else was there; the rest share the second. */
    assert_int_equal(started(&f) - before, 2);
    done(&f);
}

/* What nobody waits for has its time from when it is sent, not from when it was asked for. */
static void time_runs_from_the_sending(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    kube_fault_add(f.s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL, .delay = SEC(4)});
    for (uint64_t i = 0; i < 12; i++)
        add(&f, 6, 1 + i);
    drain_site_pass(&f.s, SEC(3));
    assert_int_equal(f.n, 0);
    drain_site_pass(&f.s, SEC(12));
    assert_int_equal(f.n, 12);
    assert_int_not_equal(f.outcome, KUBE_UNKNOWN); /* an answer, after three times four seconds */
    done(&f);
}

/* Until the watch shows what was written, the node in the store is old. */
static void a_write_is_noted(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_true(store_fresh(f.cluster.nodes, NULL, "w0"));
    calls_add(f.calls, &(struct action){.id = 1,
                                        .verb = ACTION_PATCH,
                                        .kind = &kind_node,
                                        .name = "w0",
                                        .body = "{\"spec\":{\"unschedulable\":true}}"});
    drain_site_pass(&f.s, SEC(1));
    assert_int_equal(f.n, 1);
    assert_int_equal(f.outcome, KUBE_OK);
    assert_non_null(f.wrote);
    assert_false(store_fresh(f.cluster.nodes, NULL, "w0"));
    assert_true(store_fresh(f.cluster.nodes, NULL, "w1"));
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_at_a_time),
        cmocka_unit_test(all_are_answered),
        cmocka_unit_test(one_list_of_volumes_serves_all),
        cmocka_unit_test(time_runs_from_the_sending),
        cmocka_unit_test(a_write_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
