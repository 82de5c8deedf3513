/* Tests of kube/exec_plugin: what a plugin is told, what it may answer, how it may fail. */
#include "kube/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/jsonw.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "pair.h"
#include "scratch.h"

#define V1 "client.authentication.k8s.io/v1"

static char *no_args[] = {NULL};

static struct kube_exec exec_of(const char *command) {
    return (struct kube_exec){.command = (char *)(uintptr_t)command,
                              .args = no_args,
                              .api_version = (char *)(uintptr_t)V1,
                              .interactive = KUBE_EXEC_NEVER};
}

/* --- what it is told --- */

static void info(void **state) {
    struct kube_exec x = exec_of("p");
    struct kube_config c = {.server = (char *)(uintptr_t) "https://h", .exec = &x};
    char *text = NULL;
    assert_int_equal(exec_plugin_info(&c, false, &text, NULL), 0);
    assert_string_equal(text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                              "\",\"spec\":{\"interactive\":false}}");
    free(text);
    x.api_version = (char *)(uintptr_t)(V1 "beta1");
    assert_int_equal(exec_plugin_info(&c, true, &text, NULL), 0);
    assert_string_equal(text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                              "beta1\",\"spec\":{\"interactive\":true}}");
    free(text);
    x.provide_cluster_info = true;
    c.tls_server_name = (char *)(uintptr_t) "n";
    c.proxy_url = (char *)(uintptr_t) "http://p";
    c.disable_compression = true;
    c.ca.file = xstrdup(scratch_put(state, "ca", "CA"));
    x.cluster_config = (char *)(uintptr_t) "{\"a\":[1]}";
    assert_int_equal(exec_plugin_info(&c, false, &text, NULL), 0);
    assert_string_equal(
        text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "beta1\",\"spec\":{\"cluster\":{"
              "\"server\":\"https://h\",\"tls-server-name\":\"n\",\"certificate-authority-data\":"
              "\"Q0E=\",\"proxy-url\":\"http://p\",\"disable-compression\":true,\"config\":{\"a\":"
              "[1]}},\"interactive\":false}}");
    free(text);
    text = NULL;
    unlink(c.ca.file);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(exec_plugin_info(&c, false, &text, &err), -ENOENT);
    assert_string_equal(err_msg(&err),
                        scratch_expand(state, "cannot tell the credential plugin about the "
                                              "cluster: DIR/ca: No such file or directory"));
    assert_null(text);
    free(c.ca.file);
    c.ca = (struct kube_pem){.data = (char *)(uintptr_t) "PEM"};
    c.insecure = true;
    x.cluster_config = NULL;
    assert_int_equal(exec_plugin_info(&c, false, &text, NULL), 0);
    assert_non_null(strstr(text, "\"insecure-skip-tls-verify\":true,"
                                 "\"certificate-authority-data\":\"UEVN\""));
    assert_null(strstr(text, "config\""));
    free(text);
}

/* --- what it says --- */

#define HEAD "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\""

static void good_answers(void **state) {
    (void)state;
    struct kube_exec x = exec_of("p");
    struct exec_cred c = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    static const char text[] = HEAD ",\"spec\":{\"x\":1},\"status\":{\"token\":\"abc\",\"new\":[],"
                                    "\"expirationTimestamp\":\"2030-01-02T03:04:05Z\"}}\n";
    assert_int_equal(exec_plugin_parse(&x, text, sizeof text - 1, &c, &err), 0);
    assert_string_equal(c.token, "abc");
    assert_null(c.cert_pem);
    char when[TIMEFMT_LEN];
    assert_string_equal(time_format(c.expires, false, when), "2030-01-02T03:04:05Z");
    exec_cred_done(&c);
    assert_null(c.token);
    static const char nulls[] =
        HEAD ",\"status\":{\"token\":\"abc\",\"clientKeyData\":null,\"clientCertificateData\":\"\","
             "\"expirationTimestamp\":null}}";
    assert_int_equal(exec_plugin_parse(&x, nulls, sizeof nulls - 1, &c, &err), 0);
    assert_int_equal(c.expires, 0);
    exec_cred_done(&c);
    static const char yaml[] = "apiVersion: " V1 "\nkind: ExecCredential\nstatus:\n  token: abc\n";
    assert_int_equal(exec_plugin_parse(&x, yaml, sizeof yaml - 1, &c, &err), 0);
    assert_string_equal(c.token, "abc");
    exec_cred_done(&c);
}

static void certificates(void **state) {
    (void)state;
    struct kube_exec x = exec_of("p");
    struct exec_cred c = {0};
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    _cleanup_err_ struct err err = ERR_INIT;
    const char *until[] = {"", ",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"",
                           ",\"expirationTimestamp\":\"2222-01-01T00:00:00Z\""};
    for (int i = 0; i < 4; i++) {
        _cleanup_str_ struct str s = STR_INIT;
        str_add(&s, HEAD ",\"status\":{\"clientCertificateData\":");
        json_quote(&s, a.cert, strlen(a.cert));
        str_add(&s, ",\"clientKeyData\":");
        json_quote(&s, i < 3 ? a.key : b.key, strlen(i < 3 ? a.key : b.key));
        str_addf(&s, "%s}}", until[i % 3]);
        int ret = exec_plugin_parse(&x, str_get(&s), s.len, &c, &err);
        if (i == 3) {
            assert_int_equal(ret, -EPROTO);
            assert_string_equal(err_msg(&err),
                                "the credential plugin p gave a certificate that cannot be used: "
                                "the client key does not belong to the client certificate");
            break;
        }
        assert_int_equal(ret, 0);
        assert_string_equal(c.cert_pem, a.cert);
        assert_string_equal(c.key_pem, a.key);
        assert_null(c.token);
        /* What ends first counts: what the plugin says, or the certificate itself. */
        char when[TIMEFMT_LEN];
        bool own = i != 1;
        assert_int_equal(str_starts(time_format(c.expires, false, when), "2020-01-01"), !own);
        assert_true(!own || c.expires < SEC(time(NULL) + 3601));
        exec_cred_done(&c);
    }
    pair_done(&a);
    pair_done(&b);
}

static void bad_answers(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } t[] = {
        {"", "the credential plugin p printed nothing"},
        {"\n", "the credential plugin p did not print an ExecCredential but null"},
        {"token", "the credential plugin p did not print an ExecCredential but a string"},
        {"[]", "the credential plugin p did not print an ExecCredential but a list"},
        {"{\"a\":", "the credential plugin p did not print an ExecCredential: its output:2:1: did "
                    "not find expected node content (while parsing a flow node)"},
        {"{}", "the credential plugin p did not print an ExecCredential (kind is nothing)"},
        {"{\"kind\":\"Pod\"}",
         "the credential plugin p did not print an ExecCredential (kind is Pod)"},
        {"{\"kind\":\"ExecCredential\"}",
         "the credential plugin p answers with apiVersion nothing where the kubeconfig says " V1
         ": let the two agree"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "beta1\"}",
         "the credential plugin p answers with apiVersion " V1 "beta1 where the kubeconfig says " V1
         ": let the two agree"},
        {HEAD "}", "the credential plugin p printed an ExecCredential without a status"},
        {HEAD ",\"status\":null}",
         "the credential plugin p printed an ExecCredential without a status"},
        {HEAD ",\"status\":{}}", "the credential plugin p gave neither a token nor a certificate"},
        {HEAD ",\"status\":{\"token\":7}}",
         "the credential plugin p gave token as a number instead of a string"},
        {HEAD ",\"status\":{\"token\":\"a\\nb\"}}",
         "the credential plugin p gave a token with a blank or a control character in it"},
        {HEAD ",\"status\":{\"clientCertificateData\":\"x\"}}",
         "the credential plugin p gave a certificate without its key"},
        {HEAD ",\"status\":{\"token\":\"t\",\"clientKeyData\":\"x\"}}",
         "the credential plugin p gave a key without its certificate"},
        {HEAD ",\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}",
         "the credential plugin p gave the expirationTimestamp \"soon\", which is no time"},
        {HEAD ",\"status\":{\"token\":\"t\",\"expirationTimestamp\":5}}",
         "the credential plugin p gave expirationTimestamp as a number instead of a string"},
        {HEAD ",\"status\":{\"clientKeyData\":\"x\",\"clientCertificateData\":\"y\"}}",
         "the credential plugin p gave a certificate that cannot be used: the client certificate "
         "is "
         "not a PEM certificate"},
    };
    struct kube_exec x = exec_of("p");
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct exec_cred c = {0};
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(exec_plugin_parse(&x, t[i].text, strlen(t[i].text), &c, &err), -EPROTO);
        assert_string_equal(err_msg(&err), t[i].why);
        assert_null(c.token);
    }
}

/* --- runs --- */

struct seen {
    struct loop *loop;
    int calls;
    char *token, *err;
    int code;
};

static void on_cred(void *arg, struct exec_cred *cred, const struct err *err) {
    struct seen *s = arg;
    s->calls++;
    assert_true(!cred != !err);
    if (cred) {
        s->token = cred->token;
        cred->token = NULL; /* taken */
    } else {
        s->err = xstrdup(err_msg(err));
        s->code = err->code;
    }
    loop_stop(s->loop);
}

/* Runs it to its end, or to the failure of its start. What was logged goes to `logged`. */
static void run_at(enum log_level level, const struct kube_exec *x, struct seen *s,
                   struct str *logged) {
    struct kube_config c = {.server = (char *)(uintptr_t) "https://h",
                            .exec = (struct kube_exec *)(uintptr_t)x};
    int fd = memfd_create("log", MFD_CLOEXEC);
    struct log log = {.level = level, .fd = fd};
    _cleanup_err_ struct err err = ERR_INIT;
    *s = (struct seen){0};
    assert_int_equal(loop_new(&s->loop, NULL), 0);
    struct exec_run *r;
    if (exec_plugin_ops.start(s->loop, &c, &log, on_cred, s, &r, &err) < 0) {
        s->err = xstrdup(err_msg(&err));
        s->code = err.code;
    } else {
        assert_int_equal(s->calls, 0);
        loop_run(s->loop);
        assert_int_equal(s->calls, 1);
    }
    char buf[32768];
    ssize_t n = pread(fd, buf, sizeof buf, 0);
    assert_true(n >= 0 && (size_t)n < sizeof buf);
    if (logged)
        str_addn(logged, buf, (size_t)n);
    close(fd);
    loop_free(s->loop);
}

static void run(const struct kube_exec *x, struct seen *s, struct str *logged) {
    run_at(LOG_INFO, x, s, logged);
}

static void seen_done(struct seen *s) {
    free(s->token);
    free(s->err);
}

#define PRINT_TOKEN(token) "echo '" HEAD ",\"status\":{\"token\":\"'" token "'\"}}'\n"

static void runs(void **state) {
    const char *path =
        scratch_script(state, "p",
                       "#!/bin/sh\ntest \"$(cat)\" = '' || exit 3\n" /* nothing on standard input */
                       "case \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) ;; *) exit "
                       "4;; esac\n" PRINT_TOKEN("$1-$A-$B"));
    static char *args[] = {(char *)(uintptr_t) "arg", NULL};
    struct kube_exec_env env[] = {
        {(char *)(uintptr_t) "A", (char *)(uintptr_t) "env"},
        {(char *)(uintptr_t) "KUBERNETES_EXEC_INFO", (char *)(uintptr_t) "overridden"}};
    struct kube_exec x = exec_of(path);
    x.args = args;
    x.env = env;
    x.n_env = 2;
    setenv("B", "ours", 1);
    struct seen s;
    run(&x, &s, NULL);
    assert_null(s.err);
    assert_string_equal(s.token, "arg-env-ours");
    seen_done(&s);
}

static void failures(void **state) {
    static const struct {
        const char *script, *err;
        int code;
    } t[] = {
        {"echo; echo '  you must log in first' >&2; echo more >&2; exit 255",
         "the credential plugin DIR/p failed with exit status 255: you must log in first", EPROTO},
        {"exit 1", "the credential plugin DIR/p failed with exit status 1", EPROTO},
        {"printf '\\033[31mred' >&2; exit 1",
         "the credential plugin DIR/p failed with exit status 1: \\x1b[31mred", EPROTO},
        {"kill -SEGV $$", "the credential plugin DIR/p was ended by signal 11 (Segmentation fault)",
         EPROTO},
        {"exec yes", "the credential plugin DIR/p printed more than 1048576 bytes", EFBIG},
        {"echo hello", "the credential plugin DIR/p did not print an ExecCredential but a string",
         EPROTO},
        {"exit 0", "the credential plugin DIR/p printed nothing", EPROTO},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        _cleanup_free_ char *script = xasprintf("#!/bin/sh\n%s\n", t[i].script);
        struct kube_exec x = exec_of(scratch_script(state, "p", script));
        struct seen s;
        run_at(LOG_ERROR, &x, &s, NULL);
        assert_string_equal(s.err, scratch_expand(state, t[i].err));
        assert_int_equal(s.code, t[i].code);
        seen_done(&s);
    }
}

static void cannot_start(void **state) {
    struct seen s;
    struct kube_exec x = exec_of("no-such-plugin");
    run(&x, &s, NULL);
    assert_string_equal(s.err,
                        "the credential plugin no-such-plugin is not installed (not in PATH)");
    assert_int_equal(s.code, ENOENT);
    seen_done(&s);
    x.install_hint = (char *)(uintptr_t) "\n Get it:\n\n  apt install \033[1mplugin\n";
    run(&x, &s, NULL);
    assert_string_equal(s.err,
                        "the credential plugin no-such-plugin is not installed (not in PATH):"
                        " Get it: apt install \\x1b[1mplugin");
    seen_done(&s);
    x = exec_of(scratch_path(state, "nix"));
    run(&x, &s, NULL);
    assert_string_equal(s.err,
                        scratch_expand(state, "the credential plugin DIR/nix does not exist"));
    seen_done(&s);
    x = exec_of(scratch_put(state, "p", "#!/bin/sh\n"));
    run(&x, &s, NULL);
    assert_string_equal(
        s.err, scratch_expand(state, "the credential plugin DIR/p cannot run: Permission denied"));
    seen_done(&s);
    x = exec_of(scratch_script(state, "p", "#!/nonexistent/python\n"));
    run(&x, &s, NULL);
    assert_string_equal(s.err,
                        scratch_expand(state, "the credential plugin DIR/p cannot run: the "
                                              "interpreter that its first line names does not "
                                              "exist"));
    seen_done(&s);
}

static void info_too_long(void **state) {
    (void)state;
    struct kube_exec x = exec_of("true");
    x.provide_cluster_info = true;
    char *big = xmalloc(200001);
    memset(big, 'x', 200000);
    big[200000] = '\0';
    struct kube_config c = {.server = (char *)(uintptr_t) "https://h", .exec = &x, .ca.data = big};
    struct loop *loop;
    assert_int_equal(loop_new(&loop, NULL), 0);
    struct exec_run *r = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(exec_plugin_ops.start(loop, &c, NULL, on_cred, NULL, &r, &err), -E2BIG);
    assert_non_null(strstr(err_msg(&err), "(provideClusterInfo) is too long"));
    loop_free(loop);
    free(big);
}

static void standard_error_is_logged(void **state) {
    struct kube_exec x = exec_of(scratch_script(state, "p",
                                                "#!/bin/sh\nprintf 'open http://x\\nand wait' >&2\n"
                                                "echo >&2\n" PRINT_TOKEN("t")));
    struct seen s;
    _cleanup_str_ struct str logged = STR_INIT;
    run(&x, &s, &logged);
    assert_string_equal(s.token, "t");
    assert_non_null(strstr(str_get(&logged), "/p: open http://x\n"));
    assert_non_null(strstr(str_get(&logged), "/p: and wait\n"));
    seen_done(&s);
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* In the log, and so not in the message as well. */
static void standard_error_is_shown_once(void **state) {
    struct kube_exec x =
        exec_of(scratch_script(state, "p", "#!/bin/sh\necho 'log in first' >&2\nexit 3\n"));
    struct seen s;
    _cleanup_str_ struct str logged = STR_INIT;
    run(&x, &s, &logged);
    assert_string_equal(
        s.err, scratch_expand(state, "the credential plugin DIR/p failed with exit status 3"));
    assert_int_equal(count(str_get(&logged), "log in first"), 1);
    seen_done(&s);
}

static void a_flood_is_cut(void **state) {
    struct kube_exec x = exec_of(
        scratch_script(state, "p", "#!/bin/sh\nyes spam | head -n 100000 >&2\n" PRINT_TOKEN("t")));
    struct seen s;
    _cleanup_str_ struct str logged = STR_INIT;
    run(&x, &s, &logged);
    assert_string_equal(s.token, "t");
    assert_int_equal(count(str_get(&logged), "/p: spam\n"), 50);
    assert_int_equal(count(str_get(&logged), "/p: more than 50 lines; the rest is not shown\n"), 1);
    assert_int_equal(count(str_get(&logged), "\n"), 51);
    seen_done(&s);
}

static void no_terminal(void **state) {
    struct kube_exec x = exec_of(scratch_script(
        state, "p",
        "#!/bin/sh\ncase \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) " PRINT_TOKEN(
            "no") ";; esac\n"));
    int saved = dup(0), null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    close(null);
    struct seen s;
    x.interactive = KUBE_EXEC_ALWAYS;
    run(&x, &s, NULL);
    assert_string_equal(s.err,
                        scratch_expand(state, "the credential plugin DIR/p must be able to ask "
                                              "(interactiveMode is Always), but standard input is "
                                              "no terminal"));
    assert_int_equal(s.code, ENOTTY);
    seen_done(&s);
    x.interactive = KUBE_EXEC_IF_AVAILABLE;
    run(&x, &s, NULL);
    assert_string_equal(s.token, "no");
    seen_done(&s);
    dup2(saved, 0);
    close(saved);
}

static void a_terminal(void **state) {
    struct kube_exec x = exec_of(scratch_script(
        state, "p",
        "#!/bin/sh\ncase \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":true'*) ;; *) exit "
        "3;; esac\nread answer\n" PRINT_TOKEN("$answer")));
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master) | unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY), saved = dup(0);
    assert_true(slave >= 0);
    dup2(slave, 0);
    close(slave);
    static const int modes[] = {KUBE_EXEC_IF_AVAILABLE, KUBE_EXEC_ALWAYS};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct seen s;
        assert_int_equal(write(master, "typed\n", 6), 6);
        x.interactive = (typeof(x.interactive))modes[i];
        run(&x, &s, NULL);
        assert_null(s.err);
        assert_string_equal(s.token, "typed");
        seen_done(&s);
    }
    struct seen s;
    x.interactive = KUBE_EXEC_NEVER;
    run(&x, &s, NULL);
    assert_non_null(strstr(s.err, "exit status 3"));
    seen_done(&s);
    dup2(saved, 0);
    close(saved);
    close(master);
}

static void cancelled(void **state) {
    struct kube_exec x = exec_of(scratch_script(state, "p", "#!/bin/sh\nsleep 1000\n"));
    struct kube_config c = {.server = (char *)(uintptr_t) "https://h", .exec = &x};
    struct loop *loop;
    struct exec_run *r;
    struct seen s = {0};
    assert_int_equal(loop_new(&loop, NULL), 0);
    assert_int_equal(exec_plugin_ops.start(loop, &c, NULL, on_cred, &s, &r, NULL), 0);
    exec_plugin_ops.cancel(r);
    exec_plugin_ops.cancel(NULL);
    loop_run(loop); /* nothing left to wait for */
    assert_int_equal(s.calls, 0);
    loop_free(loop);
}

#define T(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(info),
        T(good_answers),
        T(certificates),
        T(bad_answers),
        T(runs),
        T(failures),
        T(cannot_start),
        T(info_too_long),
        T(standard_error_is_logged),
        T(standard_error_is_shown_once),
        T(a_flood_is_cut),
        T(no_terminal),
        T(a_terminal),
        T(cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
