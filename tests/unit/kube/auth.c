/* Tests of kube/auth: every source of credentials, their renewal, and what happens when the server
 * refuses them. Time is virtual except where a real plugin runs. */
#include "kube/auth.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "kube/exec_plugin.h"
#include "pair.h"
#include "scratch.h"

#define START SEC(1800000000) /* wall clock of the virtual loop */

static char *text(const char *s) {
    return (char *)(uintptr_t)s;
}

/* --- a caller --- */

struct seen {
    int calls;
    char *authorization, *cert, *key, *err;
    uint64_t generation;
    int code;
};

static void on_auth(void *arg, const struct kube_credentials *cred, const struct err *err) {
    struct seen *s = arg;
    assert_true(!cred != !err);
    s->calls++;
    str_replace(&s->authorization, cred ? cred->authorization : NULL);
    str_replace(&s->cert, cred ? cred->cert_pem : NULL);
    str_replace(&s->key, cred ? cred->key_pem : NULL);
    str_replace(&s->err, err ? err_msg(err) : NULL);
    s->generation = cred ? cred->generation : 0;
    s->code = err ? err->code : 0;
}

static void seen_done(struct seen *s) {
    free(s->authorization);
    free(s->cert);
    free(s->key);
    free(s->err);
    *s = (struct seen){0};
}

/* Asks once and runs what is due now. */
static void ask(struct loop *loop, struct kube_auth *auth, struct seen *s) {
    int before = s->calls;
    kube_auth_get(auth, on_auth, s);
    assert_int_equal(s->calls, before); /* never inside the call */
    loop_advance(loop, 0);
    assert_int_equal(s->calls, before + 1);
}

/* --- fixed credentials --- */

static void fixed(void **state) {
    (void)state;
    static const struct {
        struct kube_config config;
        const char *authorization;
    } t[] = {
        {{0}, NULL},
        {{.token = (char *)(uintptr_t) "abc"}, "Bearer abc"},
        {{.username = (char *)(uintptr_t) "Aladdin", .password = (char *)(uintptr_t) "open sesame"},
         "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct loop *loop = loop_new_virtual(START);
        struct kube_auth *auth = kube_auth_new(loop, &t[i].config, NULL);
        struct seen s = {0};
        ask(loop, auth, &s);
        assert_null(s.err);
        assert_true(str_same(s.authorization, t[i].authorization));
        assert_null(s.cert);
        assert_int_not_equal(s.generation, 0);
        /* No hope. */
        assert_false(kube_auth_reject(auth, s.generation));
        uint64_t generation = s.generation;
        loop_advance(loop, SEC(100000));
        ask(loop, auth, &s);
        assert_int_equal(s.generation, generation);
        seen_done(&s);
        kube_auth_free(auth);
        loop_free(loop);
    }
    kube_auth_free(NULL);
}

static void fixed_certificate(void **state) {
    (void)state;
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    struct kube_config c = {.cert.data = a.cert, .key.data = a.key, .token = text("t")};
    struct loop *loop = loop_new_virtual(START);
    struct kube_auth *auth = kube_auth_new(loop, &c, NULL);
    struct seen s = {0};
    assert_int_equal(kube_auth_check(auth, NULL), 0);
    ask(loop, auth, &s);
    assert_string_equal(s.cert, a.cert);
    assert_string_equal(s.key, a.key);
    assert_string_equal(s.authorization, "Bearer t");
    assert_false(kube_auth_reject(auth, s.generation));
    kube_auth_free(auth);
    c.key.data = b.key;
    auth = kube_auth_new(loop, &c, NULL);
    assert_int_equal(kube_auth_check(auth, NULL), -EINVAL);
    ask(loop, auth, &s);
    assert_string_equal(s.err, "the client key does not belong to the client certificate");
    assert_int_equal(s.code, EINVAL);
    kube_auth_free(auth);
    loop_free(loop);
    seen_done(&s);
    pair_done(&a);
    pair_done(&b);
}

/* --- files --- */

static void token_file(void **state) {
    _cleanup_free_ char *path = xstrdup(scratch_put(state, "token", "one\n"));
    struct kube_config c = {.token_file = path};
    struct loop *loop = loop_new_virtual(START);
    struct kube_auth *auth = kube_auth_new(loop, &c, NULL);
    struct seen s = {0};
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer one");
    uint64_t first = s.generation;
    /* Not read again before 50 seconds are over ... */
    scratch_put(state, "token", "two");
    loop_advance(loop, SEC(49));
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer one");
    loop_advance(loop, SEC(1));
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer two");
    assert_true(s.generation > first);
    /* ... unless the server refuses it. */
    uint64_t second = s.generation;
    assert_true(kube_auth_reject(auth, first)); /* there is a newer one already */
    assert_false(kube_auth_reject(auth, second));
    scratch_put(state, "token", "three");
    assert_true(kube_auth_reject(auth, second));
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer three");
    /* The same token again is no change. */
    uint64_t third = s.generation;
    scratch_put(state, "token", "three\n");
    loop_advance(loop, SEC(60));
    ask(loop, auth, &s);
    assert_int_equal(s.generation, third);
    kube_auth_free(auth);
    loop_free(loop);
    seen_done(&s);
}

static void token_file_vanishes(void **state) {
    int fd = memfd_create("log", MFD_CLOEXEC);
    struct log log = {.level = LOG_WARN, .fd = fd};
    _cleanup_free_ char *path = xstrdup(scratch_put(state, "token", "one"));
    struct kube_config c = {.token_file = path};
    struct loop *loop = loop_new_virtual(START);
    struct kube_auth *auth = kube_auth_new(loop, &c, &log);
    struct seen s = {0};
    ask(loop, auth, &s);
    unlink(path);
    assert_false(kube_auth_reject(auth, s.generation));
    for (int i = 0; i < 20; i++) {
        loop_advance(loop, SEC(10));
        ask(loop, auth, &s);
        assert_string_equal(s.authorization, "Bearer one");
    }
    /* Said once. */
    char buf[4096];
    ssize_t n = pread(fd, buf, sizeof buf - 1, 0);
    assert_true(n > 0);
    buf[n] = '\0';
    char *said = strstr(buf, "the last token is used on");
    assert_non_null(said);
    assert_null(strstr(said + 1, "the last token is used on"));
    /* It is back: seen within a second. */
    scratch_put(state, "token", "two");
    loop_advance(loop, SEC(1));
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer two");
    kube_auth_free(auth);
    close(fd);
    /* Never there: an error, or the fixed token until it is. */
    unlink(path);
    auth = kube_auth_new(loop, &c, NULL);
    ask(loop, auth, &s);
    assert_string_equal(
        s.err,
        scratch_expand(state, "cannot read the token file: DIR/token: No such file or directory"));
    assert_int_equal(s.code, ENOENT);
    scratch_put(state, "token", "late");
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer late");
    kube_auth_free(auth);
    unlink(path);
    c.token = text("fixed");
    auth = kube_auth_new(loop, &c, NULL);
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer fixed");
    scratch_put(state, "token", "file");
    loop_advance(loop, SEC(1));
    ask(loop, auth, &s);
    assert_string_equal(s.authorization, "Bearer file");
    kube_auth_free(auth);
    loop_free(loop);
    seen_done(&s);
}

static void certificate_files(void **state) {
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    struct kube_config c = {.cert.file = xstrdup(scratch_put(state, "c", a.cert)),
                            .key.file = xstrdup(scratch_put(state, "k", a.key))};
    struct loop *loop = loop_new_virtual(START);
    struct kube_auth *auth = kube_auth_new(loop, &c, NULL);
    struct seen s = {0};
    ask(loop, auth, &s);
    assert_string_equal(s.cert, a.cert);
    uint64_t first = s.generation;
    assert_false(kube_auth_reject(auth, first));
    scratch_put(state, "c", b.cert);
    ask(loop, auth, &s);
    assert_string_equal(s.cert, a.cert);
    assert_string_equal(s.key, a.key);
    assert_int_equal(s.generation, first);
    scratch_put(state, "k", b.key);
    ask(loop, auth, &s);
    assert_string_equal(s.cert, b.cert);
    assert_string_equal(s.key, b.key);
    assert_int_not_equal(s.generation, first);
    uint64_t second = s.generation;
    scratch_put(state, "c", a.cert);
    scratch_put(state, "k", a.key);
    assert_true(kube_auth_reject(auth, second));
    kube_auth_free(auth);
    loop_free(loop);
    seen_done(&s);
    free(c.cert.file);
    free(c.key.file);
    pair_done(&a);
    pair_done(&b);
}

/* --- plugins, simulated --- */

/* The plugin of these tests: counts its runs, answers after `delay`. */
static struct {
    int runs, cancels;
    int64_t delay;
    const char *token, *err; /* exactly one */
    const char *start_err;
    int64_t life; /* of the credentials; 0: no end */
    const struct pair *pair;
} plugin;

struct exec_run {
    struct loop *loop;
    struct loop_timer *timer;
    exec_fn *fn;
    void *arg;
};

static void plugin_ends(void *arg) {
    struct exec_run *r = arg;
    struct exec_cred cred = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    if (plugin.err) {
        err_set(&err, EPROTO, "%s", plugin.err);
    } else {
        cred.token = plugin.token ? xstrdup(plugin.token) : NULL;
        cred.expires = plugin.life ? loop_wall(r->loop) + plugin.life : 0;
        if (plugin.pair) {
            cred.cert_pem = xstrdup(plugin.pair->cert);
            cred.key_pem = xstrdup(plugin.pair->key);
        }
    }
    exec_fn *fn = r->fn;
    void *fn_arg = r->arg;
    loop_timer_free(r->timer);
    free(r);
    fn(fn_arg, plugin.err ? NULL : &cred, plugin.err ? &err : NULL);
    exec_cred_done(&cred);
}

static int plugin_start(struct loop *loop, const struct kube_config *config, const struct log *log,
                        exec_fn *fn, void *arg, struct exec_run **out, struct err *err) {
    (void)config;
    (void)log;
    plugin.runs++;
    if (plugin.start_err)
        return err_set(err, ENOENT, "%s", plugin.start_err);
    struct exec_run *r = xnew(struct exec_run);
    *r = (struct exec_run){loop, loop_timer_new(loop, plugin_ends, r), fn, arg};
    loop_timer_set(r->timer, plugin.delay);
    *out = r;
    return 0;
}

static void plugin_cancel(struct exec_run *r) {
    plugin.cancels++;
    loop_timer_free(r->timer);
    free(r);
}

static const struct exec_ops plugin_ops = {plugin_start, plugin_cancel};

struct fake {
    struct loop *loop;
    struct kube_auth *auth;
    struct seen s;
};

static struct kube_exec fake_exec = {.command = (char *)(uintptr_t) "p"};
static struct kube_config fake_config = {.exec = &fake_exec};

static struct fake fake_new(void) {
    struct fake f = {.loop = loop_new_virtual(START)};
    f.auth = kube_auth_new_with(f.loop, &fake_config, NULL, &plugin_ops);
    return f;
}

static void fake_done(struct fake *f) {
    kube_auth_free(f->auth);
    loop_free(f->loop);
    seen_done(&f->s);
    memset(&plugin, 0, sizeof plugin);
}

/* Asks and gives the plugin the time that it needs. */
static void ask_plugin(struct fake *f) {
    int before = f->s.calls;
    kube_auth_get(f->auth, on_auth, &f->s);
    loop_advance(f->loop, plugin.delay);
    assert_int_equal(f->s.calls, before + 1);
}

static void plugin_is_cached(void **state) {
    (void)state;
    plugin.token = "one";
    plugin.delay = MSEC(100);
    struct fake f = fake_new();
    ask_plugin(&f);
    assert_string_equal(f.s.authorization, "Bearer one");
    uint64_t generation = f.s.generation;
    plugin.token = "two";
    loop_advance(f.loop, SEC(1000000));
    ask_plugin(&f);
    assert_string_equal(f.s.authorization, "Bearer one");
    assert_int_equal(f.s.generation, generation);
    assert_int_equal(plugin.runs, 1);
    fake_done(&f);
}

static void plugin_expiry(void **state) {
    (void)state;
    plugin.token = "one";
    plugin.life = SEC(600);
    struct fake f = fake_new();
    ask_plugin(&f);
    loop_advance(f.loop, SEC(589));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 1);
    /* Ten seconds before the end. */
    loop_advance(f.loop, SEC(1));
    plugin.token = "two";
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    assert_string_equal(f.s.authorization, "Bearer two");
    /* A short life: a sixth of it. */
    plugin.life = SEC(6);
    loop_advance(f.loop, SEC(600));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 3);
    loop_advance(f.loop, SEC(5) - 1);
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 3);
    loop_advance(f.loop, 1);
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 4);
    fake_done(&f);
}

static void expired_on_arrival(void **state) {
    (void)state;
    plugin.token = "old";
    plugin.life = -SEC(10);
    struct fake f = fake_new();
    /* Used all the same (clocks differ), and not asked for again and again. */
    for (int i = 0; i < 50; i++) {
        ask_plugin(&f);
        assert_string_equal(f.s.authorization, "Bearer old");
        loop_advance(f.loop, MSEC(10));
    }
    assert_int_equal(plugin.runs, 1);
    loop_advance(f.loop, SEC(1));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    fake_done(&f);
}

static void one_run_for_all(void **state) {
    (void)state;
    plugin.token = "one";
    plugin.delay = SEC(1);
    struct fake f = fake_new();
    struct seen s[5] = {0};
    struct kube_auth_wait *w[5];
    for (int i = 0; i < 5; i++) {
        w[i] = kube_auth_get(f.auth, on_auth, &s[i]);
        loop_advance(f.loop, MSEC(100));
    }
    kube_auth_cancel(f.auth, w[1]);
    kube_auth_cancel(f.auth, w[4]);
    assert_int_equal(s[0].calls, 0);
    loop_advance(f.loop, SEC(2));
    assert_int_equal(plugin.runs, 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(s[i].calls, i != 1 && i != 4);
        seen_done(&s[i]);
    }
    /* Still works for the next one, after the last of the list was cancelled. */
    ask_plugin(&f);
    assert_string_equal(f.s.authorization, "Bearer one");
    fake_done(&f);
}

static void rejected(void **state) {
    (void)state;
    plugin.token = "one";
    struct fake f = fake_new();
    ask_plugin(&f);
    uint64_t first = f.s.generation;
    plugin.token = "two";
    assert_true(kube_auth_reject(f.auth, first));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    assert_string_equal(f.s.authorization, "Bearer two");
    assert_int_not_equal(f.s.generation, first);
    /* A late answer about the old ones does not cost another run. */
    assert_true(kube_auth_reject(f.auth, first));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    fake_done(&f);
}

/* A plugin whose credentials the server never accepts is run less and less often. */
static void rejected_again_and_again(void **state) {
    (void)state;
    plugin.token = "bad";
    struct fake f = fake_new();
    int hopes = 0;
    for (int ms = 0; ms < 600000; ms += 100) {
        ask_plugin(&f);
        assert_string_equal(f.s.authorization, "Bearer bad");
        hopes += kube_auth_reject(f.auth, f.s.generation);
        loop_advance(f.loop, MSEC(100));
    }
    /* 1+2+4+8+16+32 seconds, then one a minute: 6 + 9, and the first two. */
    assert_in_range(plugin.runs, 15, 19);
    /* Hope only the first time: after that the fresh ones were refused as well. */
    assert_int_equal(hopes, 1);
    /* Long after, it begins anew: refused once, run at once. */
    loop_advance(f.loop, SEC(3600));
    int before = plugin.runs;
    plugin.token = "good";
    assert_true(kube_auth_reject(f.auth, f.s.generation));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, before + 1);
    assert_string_equal(f.s.authorization, "Bearer good");
    fake_done(&f);
}

static void failing(void **state) {
    (void)state;
    plugin.err = "it failed";
    struct fake f = fake_new();
    ask_plugin(&f);
    assert_string_equal(f.s.err, "it failed");
    assert_int_equal(f.s.code, EPROTO);
    /* Not in a hot loop. */
    for (int i = 0; i < 9; i++) {
        loop_advance(f.loop, MSEC(100));
        ask_plugin(&f);
        assert_string_equal(f.s.err, "it failed");
    }
    assert_int_equal(plugin.runs, 1);
    loop_advance(f.loop, MSEC(100));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    for (int s = 0; s < 600; s++) {
        loop_advance(f.loop, SEC(1));
        ask_plugin(&f);
    }
    assert_in_range(plugin.runs, 13, 18);
    /* It recovers. */
    plugin.err = NULL;
    plugin.token = "ok";
    loop_advance(f.loop, SEC(60));
    ask_plugin(&f);
    assert_string_equal(f.s.authorization, "Bearer ok");
    fake_done(&f);
}

static void failing_to_start(void **state) {
    (void)state;
    plugin.start_err = "not installed";
    struct fake f = fake_new();
    for (int i = 0; i < 5; i++) {
        ask_plugin(&f);
        assert_string_equal(f.s.err, "not installed");
        assert_int_equal(f.s.code, ENOENT);
    }
    assert_int_equal(plugin.runs, 1);
    fake_done(&f);
}

static void failing_renewal(void **state) {
    (void)state;
    plugin.token = "one";
    plugin.life = SEC(600);
    struct fake f = fake_new();
    ask_plugin(&f);
    plugin.token = NULL;
    plugin.err = "it failed";
    loop_advance(f.loop, SEC(595));
    ask_plugin(&f); /* due, but not over */
    assert_int_equal(plugin.runs, 2);
    assert_string_equal(f.s.authorization, "Bearer one");
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    loop_advance(f.loop, SEC(5));
    ask_plugin(&f);
    assert_string_equal(f.s.err, "it failed");
    fake_done(&f);
    /* After a refusal the old ones are of no use. */
    plugin.token = "one";
    f = fake_new();
    ask_plugin(&f);
    plugin.token = NULL;
    plugin.err = "it failed";
    assert_true(kube_auth_reject(f.auth, f.s.generation));
    ask_plugin(&f);
    assert_string_equal(f.s.err, "it failed");
    fake_done(&f);
}

static void plugin_certificates(void **state) {
    (void)state;
    struct pair a = pair_new(3600, NULL), b = pair_new(3600, NULL);
    plugin.pair = &a;
    plugin.life = SEC(60);
    struct fake f = fake_new();
    ask_plugin(&f);
    assert_null(f.s.authorization);
    assert_string_equal(f.s.cert, a.cert);
    uint64_t first = f.s.generation;
    loop_advance(f.loop, SEC(60));
    ask_plugin(&f);
    assert_int_equal(plugin.runs, 2);
    assert_int_equal(f.s.generation, first); /* the same pair */
    plugin.pair = &b;
    loop_advance(f.loop, SEC(60));
    ask_plugin(&f);
    assert_string_equal(f.s.key, b.key);
    assert_int_not_equal(f.s.generation, first);
    fake_done(&f);
    pair_done(&a);
    pair_done(&b);
}

static void freed_while_it_runs(void **state) {
    (void)state;
    plugin.token = "one";
    plugin.delay = SEC(5);
    struct fake f = fake_new();
    kube_auth_get(f.auth, on_auth, &f.s);
    kube_auth_get(f.auth, on_auth, &f.s);
    loop_advance(f.loop, SEC(1));
    kube_auth_free(f.auth);
    f.auth = NULL;
    assert_int_equal(plugin.cancels, 1);
    loop_advance(f.loop, SEC(10));
    assert_int_equal(f.s.calls, 0);
    fake_done(&f);
}

/* --- callbacks that do things --- */

struct meddler {
    struct kube_auth *auth;
    struct kube_auth_wait *victim;
    struct seen again;
    int calls;
    bool free_it;
};

static void on_meddle(void *arg, const struct kube_credentials *cred, const struct err *err) {
    struct meddler *m = arg;
    (void)cred;
    (void)err;
    m->calls++;
    if (m->free_it) {
        kube_auth_free(m->auth);
        return;
    }
    kube_auth_cancel(m->auth, m->victim);
    kube_auth_get(m->auth, on_auth, &m->again);
    assert_int_equal(m->again.calls, 0);
}

static void callbacks_meddle(void **state) {
    (void)state;
    struct kube_config c = {.token = text("t")};
    struct loop *loop = loop_new_virtual(START);
    struct kube_auth *auth = kube_auth_new(loop, &c, NULL);
    struct meddler m = {.auth = auth};
    struct seen victim = {0}, other = {0};
    kube_auth_get(auth, on_meddle, &m);
    m.victim = kube_auth_get(auth, on_auth, &victim);
    kube_auth_get(auth, on_auth, &other);
    loop_advance(loop, 0);
    assert_int_equal(m.calls, 1);
    assert_int_equal(victim.calls, 0);
    assert_int_equal(other.calls, 1);
    loop_advance(loop, 0);
    assert_int_equal(m.again.calls, 1);
    m.free_it = true;
    kube_auth_get(auth, on_meddle, &m);
    kube_auth_get(auth, on_auth, &victim);
    loop_advance(loop, SEC(1));
    assert_int_equal(m.calls, 2);
    assert_int_equal(victim.calls, 0);
    seen_done(&m.again);
    seen_done(&other);
    loop_free(loop);
}

static void freed_in_the_answer_of_a_plugin(void **state) {
    (void)state;
    plugin.err = "it failed";
    plugin.delay = SEC(1);
    struct fake f = fake_new();
    struct meddler m = {.auth = f.auth, .free_it = true};
    kube_auth_get(f.auth, on_meddle, &m);
    kube_auth_get(f.auth, on_auth, &f.s);
    loop_advance(f.loop, SEC(2));
    assert_int_equal(m.calls, 1);
    assert_int_equal(f.s.calls, 0);
    f.auth = NULL;
    fake_done(&f);
}

/* --- a real one --- */

struct real {
    struct seen s;
    struct loop *loop;
};

static void on_real(void *arg, const struct kube_credentials *cred, const struct err *err) {
    struct real *r = arg;
    on_auth(&r->s, cred, err);
    loop_stop(r->loop);
}

static void on_stop(void *arg) {
    loop_stop(arg);
}

static void a_real_plugin(void **state) {
    _cleanup_free_ char *script = xasprintf(
        "#!/bin/sh\nn=$(cat %1$s/n 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >%1$s/n\n"
        "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
        "\"status\":{\"token\":\"run-'$n'\"}}'\n",
        ((struct scratch *)*state)->dir);
    static char *args[] = {NULL};
    struct kube_exec x = {.command = xstrdup(scratch_script(state, "p", script)),
                          .args = args,
                          .api_version = text("client.authentication.k8s.io/v1"),
                          .interactive = KUBE_EXEC_NEVER};
    struct kube_config c = {.server = text("https://h"), .exec = &x};
    struct real r = {0};
    assert_int_equal(loop_new(&r.loop, NULL), 0);
    struct kube_auth *auth = kube_auth_new(r.loop, &c, NULL);
    for (int i = 0; i < 3; i++) {
        kube_auth_get(auth, on_real, &r);
        loop_run(r.loop);
        assert_string_equal(r.s.authorization, "Bearer run-1");
    }
    assert_true(kube_auth_reject(auth, r.s.generation));
    kube_auth_get(auth, on_real, &r);
    loop_run(r.loop);
    assert_string_equal(r.s.authorization, "Bearer run-2");
    kube_auth_free(auth);
    scratch_script(state, "p", "#!/bin/sh\necho log in first >&2\nexit 1\n");
    auth = kube_auth_new(r.loop, &c, NULL);
    kube_auth_get(auth, on_real, &r);
    loop_run(r.loop);
    assert_string_equal(r.s.err, scratch_expand(state, "the credential plugin DIR/p failed with "
                                                       "exit status 1: log in first"));
    /* Freed while it runs: killed, nothing left. */
    kube_auth_free(auth);
    scratch_script(state, "p", "#!/bin/sh\nsleep 1000\n");
    auth = kube_auth_new(r.loop, &c, NULL);
    kube_auth_get(auth, on_real, &r);
    struct loop_timer *stop = loop_timer_new(r.loop, on_stop, r.loop);
    loop_timer_set(stop, MSEC(50));
    loop_run(r.loop);
    kube_auth_free(auth);
    loop_timer_free(stop);
    loop_free(r.loop);
    seen_done(&r.s);
    free(x.command);
    /* A virtual loop has no processes: an error, no crash. */
    struct loop *loop = loop_new_virtual(START);
    x.command = text("true");
    auth = kube_auth_new(loop, &c, NULL);
    struct seen s = {0};
    ask(loop, auth, &s);
    assert_non_null(s.err);
    kube_auth_free(auth);
    loop_free(loop);
    seen_done(&s);
}

static int setup(void **state) {
    memset(&plugin, 0, sizeof plugin);
    return scratch_setup(state);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(fixed),
        T(fixed_certificate),
        T(token_file),
        T(token_file_vanishes),
        T(certificate_files),
        T(plugin_is_cached),
        T(plugin_expiry),
        T(expired_on_arrival),
        T(one_run_for_all),
        T(rejected),
        T(rejected_again_and_again),
        T(failing),
        T(failing_to_start),
        T(failing_renewal),
        T(plugin_certificates),
        T(freed_while_it_runs),
        T(callbacks_meddle),
        T(freed_in_the_answer_of_a_plugin),
        T(a_real_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
