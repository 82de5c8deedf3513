/* Slipway's own client against the simulated API, in one process. */
#include "sim/transport.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

struct seen {
    int heads, dones, code, error;
    struct str text;
    struct kube_transport *t;
    struct kube_call *cancel; /* in data */
};
static void on_head(void *arg, const struct kube_head *h) {
    struct seen *s = arg;
    s->heads++;
    s->code = h->code;
    assert_true(h->api_server);
}
static int on_data(void *arg, const char *p, size_t len) {
    struct seen *s = arg;
    str_addn(&s->text, p, len);
    if (s->cancel) {
        kube_cancel(s->t, s->cancel);
        s->cancel = NULL;
    }
    return 0;
}
static void on_done(void *arg, const struct kube_done *d) {
    struct seen *s = arg;
    s->dones++;
    s->error = d->error;
}
static const struct kube_handler handler = {on_head, on_data, on_done};

static void test_calls(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct loop *loop = loop_new_virtual(SIM_START);
    struct pace *pace = pace_new(loop, s.world, 1);
    struct kube_transport *t = sim_transport_new(
        loop, s.api, pace,
        &(struct sim_transport_options){.seed = 1, .latency_min = MSEC(1), .latency_max = MSEC(5)});
    struct seen a = {.t = t}, w = {.t = t}, x = {.t = t};
    kube_start(t, &(struct kube_request){.method = "GET", .path = "/api/v1/namespaces/default"},
               &handler, &a);
    kube_start(t,
               &(struct kube_request){.method = "GET",
                                      .path = "/api/v1/namespaces?watch=1&timeoutSeconds=5"},
               &handler, &w);
    x.cancel = kube_start(t, &(struct kube_request){.method = "GET", .path = "/api/v1/namespaces"},
                          &handler, &x);
    assert_int_equal(a.heads, 0); /* never inside of kube_start() */
    loop_advance(loop, SEC(1));
    assert_int_equal(a.code, 200);
    assert_int_equal(a.dones, 1);
    assert_non_null(strstr(str_get(&a.text), "\"name\":\"default\""));
    assert_int_equal(x.dones, 0); /* cancelled in its own callback */
    assert_int_equal(w.dones, 0);
    size_t before = w.text.len;
    sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"new\"}}");
    loop_advance(loop, SEC(1));
    assert_non_null(strstr(str_get(&w.text) + before, "\"ADDED\""));
    loop_advance(loop, SEC(5));
    assert_int_equal(w.dones, 1);
    assert_int_equal(w.error, 0);
    struct seen late = {.t = t};
    kube_start(
        t,
        &(struct kube_request){.method = "GET", .path = "/api/v1/nodes?watch=1", .timeout = SEC(2)},
        &handler, &late);
    loop_advance(loop, SEC(3));
    assert_int_equal(late.error, -ETIMEDOUT);
    kube_start(t, &(struct kube_request){.method = "GET", .path = "/api/v1/nodes?watch=1"},
               &handler, &late);
    loop_advance(loop, SEC(1));
    kube_transport_free(t); /* with a call under way */
    pace_free(pace);
    loop_free(loop);
    str_done(&a.text);
    str_done(&w.text);
    str_done(&x.text);
    str_done(&late.text);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
