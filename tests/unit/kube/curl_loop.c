/* Tests of kube/curl_loop: transfers on the event loop, ended in every way. */
#include "kube/curl_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "support/calls.h"
#include "support/server.h"

enum { MANY = 20 };

struct fixture {
    struct loop *loop;
    struct curl_loop *cl;
    struct server *server;
    char *url;
    int done, after;
    CURLcode last;
    bool inside_data, inside_after, free_after;
    size_t bytes;
};

static void answer(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)arg;
    if (streq(req->path, "/wait") && !server_await(c, 1))
        return;
    server_reply(c, 200, NULL, "hello");
}

static void on_done(void *arg, CURL *easy, CURLcode result) {
    struct fixture *f = arg;
    f->done++;
    f->last = result;
    curl_loop_remove(f->cl, easy);
    curl_easy_cleanup(easy);
}

static void on_after(void *arg) {
    struct fixture *f = arg;
    f->after++;
    f->inside_after |= curl_loop_inside(f->cl);
    if (f->free_after && f->done) {
        curl_loop_free(f->cl);
        f->cl = NULL;
    }
}

static const struct curl_loop_events events = {on_done, on_after};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (loop_new(&f->loop, NULL) < 0 || curl_loop_new(f->loop, &events, f, &f->cl, NULL) < 0)
        return -1;
    f->server = server_start(&(struct server_options){.handle = answer, .arg = f});
    f->url = server_url(f->server, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    curl_loop_free(f->cl);
    server_stop(f->server);
    loop_free(f->loop);
    free(f->url);
    free(f);
    curl_global_cleanup();
    return 0;
}

static size_t on_data(char *p, size_t one, size_t len, void *arg) {
    (void)p;
    (void)one;
    struct fixture *f = arg;
    f->inside_data |= curl_loop_inside(f->cl);
    f->bytes += len;
    return len;
}

static CURL *transfer(struct fixture *f, const char *path) {
    CURL *easy = curl_easy_init();
    _cleanup_free_ char *url = xasprintf("%s%s", f->url, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, f);
    assert_int_equal(curl_loop_add(f->cl, easy, NULL), 0);
    return easy;
}

static bool one_done(void *arg) {
    struct fixture *f = arg;
    return f->done == 1;
}

static bool many_done(void *arg) {
    struct fixture *f = arg;
    return f->done == MANY;
}

static bool has_request(void *arg) {
    struct fixture *f = arg;
    return server_requests(f->server) == 1;
}

static void one(void **state) {
    struct fixture *f = *state;
    transfer(f, "/");
    assert_int_equal(f->done, 0);
    run_until(f->loop, one_done, f);
    assert_int_equal(f->last, CURLE_OK);
    assert_int_equal(f->bytes, 5);
    assert_true(f->inside_data);
    assert_false(f->inside_after);
    assert_true(f->after > 0);
}

/* Nothing keeps the loop alive afterwards: no socket, no timer. */
static void ends(void **state) {
    struct fixture *f = *state;
    transfer(f, "/");
    loop_run(f->loop);
    assert_int_equal(f->done, 1);
}

static void many(void **state) {
    struct fixture *f = *state;
    curl_multi_setopt(curl_loop_multi(f->cl), CURLMOPT_MAX_HOST_CONNECTIONS, 3L);
    for (int i = 0; i < MANY; i++)
        transfer(f, "/");
    run_until(f->loop, many_done, f);
    assert_int_equal(f->bytes, MANY * 5);
    assert_true(server_connections(f->server) <= 3);
}

static void removed(void **state) {
    struct fixture *f = *state;
    CURL *before = transfer(f, "/");
    curl_loop_remove(f->cl, before);
    curl_easy_cleanup(before);
    CURL *during = transfer(f, "/wait");
    run_until(f->loop, has_request, f);
    curl_loop_remove(f->cl, during);
    curl_easy_cleanup(during);
    server_step(f->server);
    loop_run(f->loop);
    assert_int_equal(f->done, 0);
    transfer(f, "/");
    run_until(f->loop, one_done, f);
    assert_int_equal(f->last, CURLE_OK);
}

static void freed_after(void **state) {
    struct fixture *f = *state;
    f->free_after = true;
    transfer(f, "/");
    run_until(f->loop, one_done, f);
    assert_null(f->cl);
}

static void idle_connection_dropped(void **state) {
    struct fixture *f = *state;
    transfer(f, "/");
    loop_run(f->loop);
    server_drop(f->server);
    transfer(f, "/");
    loop_run(f->loop);
    assert_int_equal(f->done, 2);
    assert_int_equal(f->last, CURLE_OK);
    assert_int_equal(server_connections(f->server), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one, setup, teardown),
        cmocka_unit_test_setup_teardown(ends, setup, teardown),
        cmocka_unit_test_setup_teardown(many, setup, teardown),
        cmocka_unit_test_setup_teardown(removed, setup, teardown),
        cmocka_unit_test_setup_teardown(freed_after, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_connection_dropped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
