/* Tests of controller/standing.c: when it is written. What is, is engine/policy_status.c's. */
#include "controller/standing.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/keeper_world.h"

struct fixture {
    struct pool *pool;
    struct cluster cluster;
    struct store *maps, *policy_store;
    struct policies *policies;
    struct standing *standing;
    struct actions out;
    struct now now;
    struct log log;
    int version;
};

static void on_reply(void *arg, const struct keeper_reply *reply) {
    (void)arg, (void)reply;
}

static void on_replaced(void *arg, const struct keeper *k) {
    (void)arg, (void)k;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->now = (struct now){SEC(1000), SEC(1794729600)};
    f->log = (struct log){.level = LOG_ERROR, .fd = -1};
    cluster_init(&f->cluster, f->pool);
    f->maps = store_new(&kind_config_map, f->pool);
    f->policy_store = store_new(&kind_policy, f->pool);
    f->policies = policies_new(&(struct policies_opts){
        .keeper = {.ns = KW_NS, .forget = SEC(1800), .reply = on_reply},
        .cluster = &f->cluster,
        .maps = f->maps,
        .policies = f->policy_store,
        .log = &f->log,
        .replaced = on_replaced,
        .arg = f,
    });
    f->standing = standing_new(&(struct standing_opts){.policies = f->policies,
                                                       .cluster = &f->cluster,
                                                       .policy_store = f->policy_store,
                                                       .ids = &f->cluster.actions,
                                                       .log = &f->log});
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    standing_free(f->standing);
    policies_free(f->policies);
    store_free(f->maps);
    store_free(f->policy_store);
    cluster_done(&f->cluster);
    actions_done(&f->out);
    pool_free(f->pool);
    free(f);
    return 0;
}

/* As dw_vjson(). */
__attribute__((format(printf, 1, 2))) static json_t *json_of(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    return doc;
}

/* With a mistake in it or without: that alone is to be written, slots are not known here. */
static struct object *policy(struct fixture *f, bool bad) {
    json_t *doc = json_of("{'metadata':{'name':'p','uid':'u','generation':1,'resourceVersion':"
                          "'%d'},'spec':{'nodeSelector':{},'maxUnavailable':'%s'}}",
                          ++f->version, bad ? "many" : "50%");
    struct object *obj = kw_decode(f->pool, &kind_policy, doc);
    json_decref(doc);
    return obj;
}

static size_t step(struct fixture *f) {
    actions_reset(&f->out);
    policies_look(f->policies);
    standing_poke(f->standing);
    if (standing_next(f->standing) <= f->now.mono)
        standing_step(f->standing, f->now, &f->out);
    return f->out.list.len;
}

static void one_at_a_time_and_not_too_often(void **state) {
    struct fixture *f = *state;
    store_put(f->policy_store, policy(f, true));
    assert_int_equal(step(f), 1);
    assert_string_equal(f->out.list.p[0].subresource, "status");
    uint64_t id = f->out.list.p[0].id;
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 0); /* it is under way */
    assert_false(standing_answer(f->standing, id + 1, &(struct answer){0}, f->now));
    assert_true(standing_answer(f->standing, id,
                                &(struct answer){.outcome = KUBE_CONFLICT, .message = ""}, f->now));
    assert_int_equal(step(f), 0); /* it has just looked */
    f->now.mono = standing_next(f->standing);
    assert_true(f->now.mono <= SEC(1010) + STANDING_EVERY);
    assert_int_equal(step(f), 1);
}

/* What was written has to come back first: what is in the store is older. */
static void after_ones_own_write(void **state) {
    struct fixture *f = *state;
    store_put(f->policy_store, policy(f, true));
    assert_int_equal(step(f), 1);
    f->version = 10;
    struct object *written = policy(f, true);
    standing_answer(f->standing, f->out.list.p[0].id,
                    &(struct answer){.outcome = KUBE_OK, .message = "", .obj = written}, f->now);
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 0);
    store_put(f->policy_store, written);
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 1); /* this server has kept nothing of it */
}

static void one_that_may_not(void **state) {
    struct fixture *f = *state;
    store_put(f->policy_store, policy(f, true));
    assert_int_equal(step(f), 1);
    standing_answer(f->standing, f->out.list.p[0].id,
                    &(struct answer){.outcome = KUBE_FORBIDDEN, .message = "no"}, f->now);
    f->now.mono += SEC(30);
    assert_int_equal(step(f), 0);
    f->now.mono += SEC(40);
    assert_int_equal(step(f), 1);
}

/* What the log has got; freed by the caller. */
static char *logged(const struct fixture *f) {
    char text[4096];
    ssize_t n = pread(f->log.fd, text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return xstrdup(text);
}

static unsigned count(const char *text, const char *words) {
    unsigned n = 0;
    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

/* Without a finalizer nobody gets a slot: whoever asks is told what the server says, and the log
 * has it by its name, again after a while. */
static void a_finalizer_that_may_not_be_written(void **state) {
    struct fixture *f = *state;
    f->log = (struct log){.level = LOG_WARN, .fd = memfd_create("log", 0)};
    store_put(f->policy_store, policy(f, false));
    assert_int_equal(step(f), 1);
    assert_null(f->out.list.p[0].subresource);
    const struct keeper *k = policies_at(f->policies, 0)->keeper;
    assert_null(strstr(policies_unguarded(f->policies, k), "may not"));
    for (int i = 0; i < 12; i++) {
        standing_answer(f->standing, f->out.list.p[0].id,
                        &(struct answer){.outcome = KUBE_FORBIDDEN, .message = "you may not"},
                        f->now);
        assert_string_equal(policies_unguarded(f->policies, k),
                            "the policy has no finalizer, and could vanish: the finalizer cannot "
                            "be written: you may not");
        f->now.mono += SEC(70);
        assert_int_equal(step(f), 1);
    }
    _cleanup_free_ char *said = logged(f);
    close(f->log.fd);
    assert_int_equal(count(said, "the finalizer of policy p cannot be written, and nobody gets a "
                                 "slot of it: you may not"),
                     2);
    assert_int_equal(count(said, "status"), 0);
    f->log = (struct log){.level = LOG_ERROR, .fd = -1};
    standing_answer(f->standing, f->out.list.p[0].id,
                    &(struct answer){.outcome = KUBE_OK,
                                     .message = "",
                                     .obj = store_get(f->policy_store, NULL, "p")},
                    f->now);
    assert_null(strstr(policies_unguarded(f->policies, k), "may not"));
}

/* What may be written says why it is not in force; and what cannot be is tried again, each apart.
 */
static void its_status_says_that_it_has_none(void **state) {
    struct fixture *f = *state;
    const struct answer no = {.outcome = KUBE_FORBIDDEN, .message = "you may not"};
    store_put(f->policy_store, policy(f, false));
    assert_int_equal(step(f), 1);
    standing_answer(f->standing, f->out.list.p[0].id, &no, f->now);
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 1);
    assert_string_equal(f->out.list.p[0].subresource, "status");
    assert_non_null(strstr(
        f->out.list.p[0].body,
        "\"status\":\"False\",\"reason\":\"NoFinalizer\",\"message\":"
        "\"its finalizer, without which nobody gets a slot, cannot be written: you may not\""));
    standing_answer(f->standing, f->out.list.p[0].id, &no, f->now);
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 0); /* neither is tried again at once */
    f->now.mono += SEC(45);
    assert_int_equal(step(f), 1);
    assert_null(f->out.list.p[0].subresource);
    standing_answer(f->standing, f->out.list.p[0].id,
                    &(struct answer){.outcome = KUBE_OK,
                                     .message = "",
                                     .obj = store_get(f->policy_store, NULL, "p")},
                    f->now);
    json_t *doc = json_of("{'metadata':{'name':'p','uid':'u','generation':1,'resourceVersion':'%d',"
                          "'finalizers':['slipway.dev/policy']},'spec':{'nodeSelector':{},"
                          "'maxUnavailable':1}}",
                          ++f->version);
    store_put(f->policy_store, kw_decode(f->pool, &kind_policy, doc));
    json_decref(doc);
    f->now.mono += SEC(70);
    assert_int_equal(step(f), 1);
    assert_non_null(strstr(f->out.list.p[0].body, "InForce"));
}

/* One that is edited is kept anew, and one that leads no longer does not know it any more. */
static void a_refusal_outlives_an_edit(void **state) {
    struct fixture *f = *state;
    store_put(f->policy_store, policy(f, false));
    assert_int_equal(step(f), 1);
    standing_answer(f->standing, f->out.list.p[0].id,
                    &(struct answer){.outcome = KUBE_FORBIDDEN, .message = "you may not"}, f->now);
    struct object *edited = policy(f, false);
    edited->meta.generation = 2;
    store_put(f->policy_store, edited);
    f->now.mono += SEC(10);
    assert_int_equal(step(f), 1);
    assert_string_equal(f->out.list.p[0].subresource,
                        "status"); /* the finalizer is not tried yet */
    const struct keeper *k = policies_at(f->policies, 0)->keeper;
    assert_non_null(strstr(policies_unguarded(f->policies, k), "you may not"));
    policies_follow(f->policies);
    assert_null(strstr(policies_unguarded(f->policies, k), "you may not"));
}

/* One that cannot be read says so, once: that it does may be what cannot be read of it. */
static void one_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        json_t *doc = json_of("{'metadata':{'name':'p','uid':'u','generation':1,'resourceVersion':"
                              "'%d'},'unread':'number out of range'}",
                              ++f->version);
        store_put(f->policy_store, kw_decode(f->pool, &kind_policy, doc));
        json_decref(doc);
        f->now.mono += SEC(100);
        assert_int_equal(step(f), i < 2);
        if (i == 2)
            break;
        assert_non_null(strstr(f->out.list.p[0].body, "number out of range"));
        standing_answer(
            f->standing, f->out.list.p[0].id,
            &(struct answer){.outcome = i ? KUBE_NOT_KUBERNETES : KUBE_CONFLICT, .message = ""},
            f->now);
    }
}

/* The built-in policy has no object, and one whose object is gone has none any more. */
static void none_without_an_object(void **state) {
    struct fixture *f = *state;
    assert_int_equal(step(f), 0);
    assert_int_equal(policies_len(f->policies), 1);
}

int main(void) {
#define STANDING_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        STANDING_TEST(one_at_a_time_and_not_too_often),
        STANDING_TEST(after_ones_own_write),
        STANDING_TEST(one_that_may_not),
        STANDING_TEST(a_finalizer_that_may_not_be_written),
        STANDING_TEST(its_status_says_that_it_has_none),
        STANDING_TEST(a_refusal_outlives_an_edit),
        STANDING_TEST(one_that_cannot_be_read),
        STANDING_TEST(none_without_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
