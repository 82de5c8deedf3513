/* Tests of src/controller/handover.c: to whom the lease is given, and when it is not. */
#include "controller/handover.h"

#include <stdlib.h>

#include "base/timefmt.h"
#include "support/keeper_world.h"
#include "support/script_transport.h"

struct fixture {
    struct loop *loop;
    struct pool *pool;
    struct script *script;
    struct kube_client client;
    struct handover *h;
    int code;
    const char *pods; /* items of the server's answer */
    unsigned given, decided;
};

static void on_request(void *arg, struct script_call *call) {
    const struct fixture *f = arg;
    _cleanup_free_ char *body =
        f->code == 200
            ? xasprintf("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[%s]}", f->pods)
            : xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                        "\"message\":\"no\",\"code\":%d}",
                        f->code);
    script_reply(call, f->code, "application/json", body);
}

static bool stays(void *arg, const char *node) {
    (void)arg;
    return !streq(node, "leaving");
}

static void on_give(void *arg) {
    ((struct fixture *)arg)->given++;
}

static void on_decided(void *arg) {
    ((struct fixture *)arg)->decided++;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->loop = loop_new_virtual(0);
    f->pool = pool_new(type_drop);
    f->script = script_new(f->loop, on_request, f);
    f->code = 200;
    f->pods = "";
    f->client = (struct kube_client){
        .transport = script_transport(f->script), .loop = f->loop, .pool = f->pool};
    f->h = handover_new(&f->client, &(struct handover_opts){.ns = "slipway-system",
                                                            .pod = "own",
                                                            .stays = stays,
                                                            .give = on_give,
                                                            .decided = on_decided,
                                                            .arg = f});
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    handover_free(f->h);
    kube_transport_free(f->client.transport);
    loop_free(f->loop);
    pool_free(f->pool);
    free(f);
    return 0;
}

#define POD(name, node, ready)                                                                     \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"nodeName\":\"" node "\"},\"status\":{"      \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define OWN POD("own", "w1", "True")

static void a_node_that_it_does_not_run_on(void **state) {
    struct fixture *f = *state;
    assert_true(handover_may_drain(f->h, "w2", false));
    assert_int_equal(script_len(f->script), 0);
}

static void it_is_given_to_one_that_is_ready_elsewhere(void **state) {
    struct fixture *f = *state;
    f->pods = OWN "," POD("other", "w2", "True");
    assert_false(handover_may_drain(f->h, "w1", true));
    assert_false(handover_may_drain(f->h, "w1", true)); /* it is asked once */
    loop_advance(f->loop, SEC(1));
    assert_int_equal(script_len(f->script), 1);
    assert_string_equal(script_last(f->script)->path,
                        "/api/v1/namespaces/slipway-system/pods?labelSelector=slipway.dev%2F"
                        "controller");
    assert_int_equal(f->given, 1);
    assert_int_equal(f->decided, 0);
    assert_false(handover_may_drain(f->h, "w1", true)); /* that is another's now */
}

static void nobody_else_could_lead(void **state) {
    static const char *const pods[] = {
        OWN,
        OWN "," POD("other", "w2", "False"),
        OWN "," POD("other", "w1", "True"),
        OWN "," POD("other", "leaving", "True"),
        OWN ",{\"metadata\":{\"name\":\"other\"},\"spec\":{}}",
        OWN ",{\"metadata\":{\"name\":\"other\",\"deletionTimestamp\":\"2026-11-15T08:00:00Z\"},"
            "\"spec\":{\"nodeName\":\"w2\"},\"status\":{\"conditions\":[{\"type\":\"Ready\","
            "\"status\":\"True\"}]}}",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
        f->pods = pods[i];
        handover_reset(f->h);
        assert_false(handover_may_drain(f->h, "w1", true));
        loop_advance(f->loop, SEC(1));
        assert_int_equal(f->decided, i + 1);
        assert_int_equal(f->given, 0);
        assert_true(handover_may_drain(f->h, "w1", true));
    }
}

static void a_list_that_fails_is_asked_for_again(void **state) {
    struct fixture *f = *state;
    f->code = 503;
    assert_false(handover_may_drain(f->h, "w1", true));
    loop_advance(f->loop, SEC(10));
    assert_false(handover_may_drain(f->h, "w1", true));
    assert_int_equal(f->given + f->decided, 0);
    assert_in_range(script_len(f->script), 2, 5);
    f->code = 200;
    f->pods = OWN "," POD("other", "w2", "True");
    loop_advance(f->loop, SEC(10));
    assert_int_equal(f->given, 1);
}

static void one_that_may_not_list_goes_on(void **state) {
    struct fixture *f = *state;
    f->code = 403;
    assert_false(handover_may_drain(f->h, "w1", true));
    loop_advance(f->loop, SEC(1));
    assert_int_equal(f->decided, 1);
    assert_true(handover_may_drain(f->h, "w1", true));
}

int main(void) {
#define HANDOVER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        HANDOVER_TEST(a_node_that_it_does_not_run_on),
        HANDOVER_TEST(it_is_given_to_one_that_is_ready_elsewhere),
        HANDOVER_TEST(nobody_else_could_lead),
        HANDOVER_TEST(a_list_that_fails_is_asked_for_again),
        HANDOVER_TEST(one_that_may_not_list_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
