/* Tests of src/controller/hook.c, against a real server on loopback. */
#include "controller/hook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "support/server.h"

struct fixture {
    struct loop *loop;
    struct hooks *hooks;
    struct server *server;
    int code;
    const char *headers, *body;
    unsigned ends;
    char *failure;
};

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    const struct fixture *f = arg;
    (void)req;
    if (!f->code)
        server_reset(c);
    else
        server_reply(c, f->code, f->headers, f->body);
}

static void on_end(void *arg, const char *failure) {
    struct fixture *f = arg;
    f->ends++;
    f->failure = failure ? xstrdup(failure) : NULL;
    loop_stop(f->loop);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(loop_new(&f->loop, &err), 0);
    assert_int_equal(hooks_new(f->loop, &f->hooks, &err), 0);
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->code = 200;
    f->body = "";
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    hooks_free(f->hooks);
    server_stop(f->server);
    loop_free(f->loop);
    free(f->failure);
    free(f);
    return 0;
}

static struct hook *start(struct fixture *f, const char *path) {
    _cleanup_free_ char *base = server_url(f->server, NULL), *url = xasprintf("%s%s", base, path);
    _cleanup_err_ struct err err = ERR_INIT;
    struct hook *x = NULL;
    assert_int_equal(hook_start(f->hooks, url, "{\"a\":1}", on_end, f, &x, &err), 0);
    assert_int_equal(f->ends, 0);
    return x;
}

static const char *end_of(struct fixture *f) {
    loop_run(f->loop);
    assert_int_equal(f->ends, 1);
    return f->failure;
}

static void the_document_is_posted(void **state) {
    struct fixture *f = *state;
    start(f, "/x?y=z");
    assert_null(end_of(f));
    const struct server_request *req = server_request(f->server, 0);
    assert_string_equal(req->method, "POST");
    assert_string_equal(req->path, "/x?y=z");
    assert_string_equal(req->body, "{\"a\":1}");
    _cleanup_free_ char *type = server_header(req, "Content-Type");
    assert_string_equal(type, "application/json");
}

static void whatever_is_not_2xx_is_a_failure(void **state) {
    struct fixture *f = *state;
    f->code = 409;
    f->body = "busy\n\033[31m";
    start(f, "/");
    assert_true(str_starts(end_of(f), "the hook has answered 409: busy"));
    assert_null(strchr(f->failure, '\033'));
}

/* Not followed: nothing else is asked. */
static void a_redirect_is_a_failure(void **state) {
    struct fixture *f = *state;
    f->code = 307;
    f->headers = "Location: /elsewhere\r\n";
    start(f, "/");
    assert_string_equal(end_of(f), "the hook has answered 307");
    assert_int_equal(server_requests(f->server), 1);
}

static void one_that_hangs_up_is_a_failure(void **state) {
    struct fixture *f = *state;
    f->code = 0;
    start(f, "/");
    assert_true(str_starts(end_of(f), "the hook cannot be reached: "));
}

static void other_protocols_are_none(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct hook *x = NULL;
    assert_int_equal(hook_start(f->hooks, "file:///etc/passwd", "{}", on_end, f, &x, &err), 0);
    assert_true(str_starts(end_of(f), "the hook cannot be reached: "));
}

static void a_long_answer_does_no_harm(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *body = xmalloc(1 << 20);
    memset(body, 'x', (1 << 20) - 1);
    body[(1 << 20) - 1] = '\0';
    f->code = 500;
    f->body = body;
    start(f, "/");
    assert_true(strlen(end_of(f)) < 1000);
}

static void a_cancelled_one_says_nothing(void **state) {
    struct fixture *f = *state;
    hook_cancel(start(f, "/"));
    start(f, "/");
    assert_null(end_of(f));
    hook_cancel(NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_document_is_posted),       TEST(whatever_is_not_2xx_is_a_failure),
        TEST(a_redirect_is_a_failure),      TEST(one_that_hangs_up_is_a_failure),
        TEST(other_protocols_are_none),     TEST(a_long_answer_does_no_harm),
        TEST(a_cancelled_one_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
