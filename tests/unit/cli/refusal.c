/* Tests of src/cli/refusal.c. The lines are those of kubectl 1.36.3 (StandardErrorMessage() of
 * k8s.io/kubectl/pkg/cmd/util); tests/cli holds them against the program itself. */
#include "cli/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

struct fixture {
    struct cli cli;
    struct session session;
    int err[2];
    char said[4096];
};

/* Nothing is sent, so that nobody needs to be there. */
static void start(struct fixture *f, const struct kube_config_flags *flags) {
    memset(f, 0, sizeof *f);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){.prog = "slipway", .env = getenv, .err = {.fd = f->err[1]}};
    assert_int_equal(session_open(&f->cli, &(struct connection_opts){.flags = *flags}, &f->session),
                     0);
}

static const char *said(struct fixture *f) {
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

static void end(struct fixture *f) {
    session_close(&f->session);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

static void lines(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        const char *reason, *message, *said;
    } t[] = {
        {KUBE_FORBIDDEN, "Forbidden", "nodes \"w1\" is forbidden: User \"u\" cannot get",
         "Error from server (Forbidden): nodes \"w1\" is forbidden: User \"u\" cannot get\n"},
        {KUBE_FORBIDDEN, NULL, "no", "Error from server (Forbidden): no\n"},
        {KUBE_NOT_FOUND, "NotFound", "nodes \"w9\" not found",
         "Error from server (NotFound): nodes \"w9\" not found\n"},
        {KUBE_SERVER_ERROR, "InternalError", "etcd is gone",
         "Error from server (InternalError): etcd is gone\n"},
        {KUBE_SERVER_ERROR, "ServiceUnavailable", "later",
         "Error from server (ServiceUnavailable): later\n"},
        {KUBE_THROTTLED, "TooManyRequests", "wait", "Error from server (TooManyRequests): wait\n"},
        {KUBE_TIMED_OUT, NULL, "slow", "Error from server (Timeout): slow\n"},
        {KUBE_UNREACHABLE, NULL, "cannot reach http://127.0.0.1:1: connection refused",
         "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or "
         "port?\n"},
        {KUBE_UNREACHABLE, NULL, "cannot reach the proxy http://p:3128: connection refused",
         "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or "
         "port?\ncannot reach the proxy http://p:3128: connection refused\n"},
        {KUBE_UNREACHABLE, NULL, "the name x cannot be resolved (DNS)",
         "Unable to connect to the server: the name x cannot be resolved (DNS)\n"},
        {KUBE_UNKNOWN, NULL, "no answer in time",
         "Unable to connect to the server: no answer in time\n"},
        {KUBE_NO_CREDENTIALS, NULL, "aws: not found",
         "Unable to connect to the server: getting credentials: aws: not found\n"},
        {KUBE_FORBIDDEN, "Forbidden", "\033[2J", "Error from server (Forbidden): \\x1b[2J\n"},
    };
    struct fixture f;
    start(&f, &(struct kube_config_flags){.server = "http://127.0.0.1:1/path"});
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        assert_true(refusal_say(&f.session, t[i].outcome, t[i].reason, t[i].message));
        assert_string_equal(said(&f), t[i].said);
    }
    /* All of it was kept for documents. */
    assert_non_null(strstr(f.cli.errors, "etcd is gone"));
    assert_non_null(strstr(f.cli.errors, "no answer in time"));
    end(&f);
}

static void what_kubectl_has_no_words_for(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct kube_config_flags){.server = "http://127.0.0.1:1"});
    assert_false(refusal_say(&f.session, KUBE_NOT_KUBERNETES, NULL, "<html>"));
    assert_false(refusal_say(&f.session, KUBE_SERVER_ERROR, NULL, "HTTP 502"));
    assert_string_equal(said(&f), "");
    assert_null(f.cli.errors);
    end(&f);
}

/* NewGenericServerResponse() of apimachinery; what kubectl prints was compared. */
static void answers_that_are_no_status(void **state) {
    (void)state;
    static const struct {
        struct patient p;
        const char *name, *said;
    } t[] = {
        {{.outcome = KUBE_SERVER_ERROR, .code = 500, .message = "GET /x: HTTP 500: bo\"om"},
         "w1",
         "Error from server (InternalError): an error on the server (\"bo\\\"om\") has prevented "
         "the request from succeeding (get nodes w1)\n"},
        {{.outcome = KUBE_SERVER_ERROR, .code = 502, .message = "GET /x: HTTP 502"},
         NULL,
         "Error from server (InternalError): an error on the server (\"\") has prevented the "
         "request from succeeding (get nodes)\n"},
        {{.outcome = KUBE_SERVER_ERROR, .code = 503, .message = "GET /x: HTTP 503: down"},
         NULL,
         "Error from server (ServiceUnavailable): the server is currently unable to handle the "
         "request (get nodes)\nGET /x: HTTP 503: down\n"},
        {{.outcome = KUBE_FORBIDDEN, .code = 403, .message = "GET /x: HTTP 403: no"},
         "w1",
         "Error from server (Forbidden): no (get nodes w1)\n"},
        {{.outcome = KUBE_SERVER_ERROR, .code = 500, .message = "odd", .reason = ""},
         "w1",
         "Error from server: odd\n"},
        {{.outcome = KUBE_SERVER_ERROR, .code = 500, .message = "m", .reason = "InternalError"},
         "w1",
         "Error from server (InternalError): m\n"},
    };
    struct fixture f;
    start(&f, &(struct kube_config_flags){.server = "http://127.0.0.1:1"});
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        assert_true(refusal_of_request(&f.session, &t[i].p, "get", "nodes", t[i].name));
        assert_string_equal(said(&f), t[i].said);
    }
    struct patient page = {.outcome = KUBE_NOT_KUBERNETES, .code = 404, .message = "HTTP 404: x"};
    assert_false(refusal_of_request(&f.session, &page, "get", "nodes", NULL));
    struct patient none = {.outcome = KUBE_UNREACHABLE, .message = "nobody there"};
    assert_false(refusal_of_request(&f.session, &none, "get", "nodes", NULL));
    assert_string_equal(said(&f), "");
    end(&f);
}

static void whose_credentials_are_refused(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct kube_config_flags){.server = "https://127.0.0.1:1", .token = "secret"});
    assert_true(refusal_say(&f.session, KUBE_UNAUTHORIZED, "Unauthorized", "Unauthorized"));
    static const char first[] = "error: You must be logged in to the server (Unauthorized)\n"
                                "https://127.0.0.1:1 does not accept the credentials of ";
    assert_ptr_equal(strstr(said(&f), first), f.said);
    assert_null(strstr(f.said, "secret"));
    end(&f);
}

static void a_password_that_nobody_looks_at(void **state) {
    (void)state;
    struct fixture f;
    start(&f, &(struct kube_config_flags){
                  .server = "https://127.0.0.1:1", .username = "u", .password = "secret"});
    assert_true(refusal_say(&f.session, KUBE_FORBIDDEN, "Forbidden",
                            "User \"system:anonymous\" cannot get"));
    assert_non_null(strstr(said(&f), "https://127.0.0.1:1 takes no username and password"));
    assert_ptr_equal(strstr(f.said, "Error from server (Forbidden): User \"system:anonymous\""),
                     f.said);
    assert_null(strstr(f.said, "secret"));
    end(&f);
}

static void configurations(void **state) {
    (void)state;
    static const struct {
        struct kube_config_flags flags;
        const char *message, *said;
    } t[] = {
        {{.context = "nope"},
         "context \"nope\" does not exist; there is: \"a\"",
         "error: context \"nope\" does not exist\nthere is: \"a\"\n"},
        {{.cluster = "nope"},
         "cluster \"nope\" does not exist; there are: \"a\", \"b\"",
         "error: cluster \"nope\" does not exist\nthere are: \"a\", \"b\"\n"},
        {{.user = "nope"},
         "user \"nope\" does not exist: there is no kubeconfig",
         "error: auth info \"nope\" does not exist\nthere is no kubeconfig\n"},
        {{.kubeconfig = "/nonexistent/config"},
         "cannot read the kubeconfig: /nonexistent/config: No such file or directory",
         "error: stat /nonexistent/config: no such file or directory\ncannot read the kubeconfig: "
         "/nonexistent/config: No such file or directory\n"},
        {{.insecure = true, .certificate_authority = "ca"},
         "--insecure-skip-tls-verify and --certificate-authority exclude each other",
         "error: specifying a root certificates file with the insecure flag is not allowed\n"
         "--insecure-skip-tls-verify and --certificate-authority exclude each other\n"},
        {{.insecure = true, .certificate_authority = "ca"},
         "something else",
         "error: something else\n"},
        {{.client_key = "k"},
         "unable to read client-cert /n for jo due to open /n: no such file or directory",
         "error: unable to read client-cert /n for jo due to open /n: no such file or "
         "directory\n"},
        {{.client_key = "k"},
         "unable to read client-cert /n for jo due to a; unable to read client-key /n for jo due "
         "to b; f:1:2: ours; and more",
         "Error in configuration: \n"
         "* unable to read client-cert /n for jo due to a\n"
         "* unable to read client-key /n for jo due to b\n"
         "f:1:2: ours; and more\n"},
        {{.token = "t"},
         "more than one authentication method found for jo; found [token basicAuth], only one is "
         "allowed; --token and --username exclude each other",
         "error: more than one authentication method found for jo; found [token basicAuth], only "
         "one is allowed\n--token and --username exclude each other\n"},
        {{.certificate_authority = "ca"},
         "certificate-authority ca holds no valid PEM certificate",
         "error: unable to load root certificates: unable to parse bytes as PEM block\n"
         "certificate-authority ca holds no valid PEM certificate\n"},
        {{.kubeconfig = "/dev/null"},
         "/dev/null names no cluster",
         "error: /dev/null names no cluster\n"},
    };
    struct fixture f;
    start(&f, &(struct kube_config_flags){.server = "http://127.0.0.1:1"});
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct err err = ERR_INIT;
        err_set(&err, EINVAL, "%s", t[i].message);
        assert_int_equal(refusal_of_config(&f.cli, &t[i].flags, &err), EXIT_USAGE);
        assert_string_equal(said(&f), t[i].said);
        err_done(&err);
    }
    end(&f);
}

int main(void) {
    setenv("KUBECONFIG", "/dev/null", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(what_kubectl_has_no_words_for),
        cmocka_unit_test(answers_that_are_no_status),
        cmocka_unit_test(whose_credentials_are_refused),
        cmocka_unit_test(a_password_that_nobody_looks_at),
        cmocka_unit_test(configurations),
    };
    return cmocka_run_group_tests_name("cli/refusal", tests, NULL, NULL);
}
