/* Exec credential plugins: one run of one. */
#include "kube/exec_plugin.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/yaml.h"
#include "kube/keypair.h"
#include "net/child.h"

enum {
    OUTPUT_MAX = 1 << 20,  /* a chain of certificates is a few thousand bytes */
    STDERR_MAX = 64 << 10, /* only its first line is used */
    LINE_MAX_SHOWN = 300,  /* of standard error, in a message */
    LINE_MAX_LOGGED = 4096,
    LINES_MAX_LOGGED = 50, /* more than any instructions for a browser */
    CA_MAX = 1 << 20,
    TIMEOUT_SEC = 180,             /* kubelogin gives a person that long at the browser */
    INTERACTIVE_TIMEOUT_SEC = 900, /* somebody looks for a hardware token */
    SAY_SO_SEC = 5,                /* longer than this is worth a word */
};

void exec_cred_done(struct exec_cred *c) {
    secret_clear(&c->token);
    secret_clear(&c->cert_pem);
    secret_clear(&c->key_pem);
    c->expires = 0;
}

/* --- what it is told --- */

static int add_cluster(struct jsonw *w, const struct kube_config *c, struct err *err) {
    _cleanup_secret_ char *ca = NULL;
    size_t len = c->ca.data ? strlen(c->ca.data) : 0;
    if (!c->ca.data && c->ca.file) {
        int ret = file_read(c->ca.file, CA_MAX, &ca, &len, err);
        if (ret < 0) {
            err_wrap(err, "cannot tell the credential plugin about the cluster");
            return ret;
        }
    }
    jsonw_kbegin(w, "cluster", '{');
    jsonw_kstr(w, "server", c->server);
    jsonw_kopt(w, "tls-server-name", c->tls_server_name);
    if (c->insecure)
        jsonw_kbool(w, "insecure-skip-tls-verify", true);
    if (len) {
        _cleanup_str_ struct str coded = STR_INIT;
        base64_encode(&coded, ca ? ca : c->ca.data, len);
        jsonw_kstr(w, "certificate-authority-data", str_get(&coded));
    }
    jsonw_kopt(w, "proxy-url", c->proxy_url);
    if (c->disable_compression)
        jsonw_kbool(w, "disable-compression", true);
    if (c->exec->cluster_config) {
        jsonw_key(w, "config");
        jsonw_raw(w, c->exec->cluster_config);
    }
    jsonw_end(w);
    return 0;
}

int exec_plugin_info(const struct kube_config *config, bool interactive, char **out,
                     struct err *err) {
    _cleanup_str_ struct str s = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &s, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "ExecCredential");
    jsonw_kstr(&w, "apiVersion", config->exec->api_version);
    jsonw_kbegin(&w, "spec", '{');
    int ret = config->exec->provide_cluster_info ? add_cluster(&w, config, err) : 0;
    if (ret < 0)
        return ret;
    jsonw_kbool(&w, "interactive", interactive);
    jsonw_end(&w);
    jsonw_end(&w);
    *out = str_take(&s);
    return 0;
}

/* --- what it says --- */

static int answer_err(const struct kube_exec *x, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int answer_err(const struct kube_exec *x, struct err *err, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *what = xvasprintf(fmt, ap);
    va_end(ap);
    return err_set(err, EPROTO, "the credential plugin %s %s", x->command, what);
}

/* A string of the status; absent and empty are NULL. */
static int status_string(const struct kube_exec *x, const json_t *status, const char *key,
                         const char **out, struct err *err) {
    const json_t *v = json_object_get(status, key);
    if (v && !json_is_null(v) && !json_is_string(v))
        return answer_err(x, err, "gave %s as %s instead of a string", key, json_type_words(v));
    const char *s = json_string_value(v);
    *out = str_empty(s) ? NULL : s;
    return 0;
}

static int check_head(const struct kube_exec *x, const json_t *root, struct err *err) {
    const char *kind = json_str(root, "kind"), *version = json_str(root, "apiVersion");
    _cleanup_str_ struct str shown = STR_INIT;
    if (!kind || !streq(kind, "ExecCredential")) {
        utf8_printable(&shown, kind ? kind : "nothing");
        return answer_err(x, err, "did not print an ExecCredential (kind is %s)", str_get(&shown));
    }
    if (!version || !streq(version, x->api_version)) {
        utf8_printable(&shown, version ? version : "nothing");
        return answer_err(x, err,
                          "answers with apiVersion %s where the kubeconfig says %s: let the two "
                          "agree",
                          str_get(&shown), x->api_version);
    }
    return 0;
}

static int read_status(const struct kube_exec *x, const json_t *status, struct exec_cred *out,
                       struct err *err) {
    const char *token = NULL, *cert = NULL, *key = NULL, *until = NULL;
    int ret = status_string(x, status, "token", &token, err);
    if (ret >= 0)
        ret = status_string(x, status, "clientCertificateData", &cert, err);
    if (ret >= 0)
        ret = status_string(x, status, "clientKeyData", &key, err);
    if (ret >= 0)
        ret = status_string(x, status, "expirationTimestamp", &until, err);
    if (ret < 0)
        return ret;
    if (!token && !cert && !key)
        return answer_err(x, err, "gave neither a token nor a certificate");
    if (!cert != !key)
        return answer_err(x, err, "gave a %s without its %s", cert ? "certificate" : "key",
                          cert ? "key" : "certificate");
    for (const char *c = strna(token); *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return answer_err(x, err, "gave a token with a blank or a control character in it");
    int64_t expires = 0, not_after = 0;
    if (until && !time_parse(until, strlen(until), &expires)) {
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, until);
        return answer_err(x, err, "gave the expirationTimestamp \"%.60s\", which is no time",
                          str_get(&shown));
    }
    _cleanup_err_ struct err why = ERR_INIT;
    if (cert && keypair_check(cert, key, &not_after, &why) < 0)
        return answer_err(x, err, "gave a certificate that cannot be used: %s", err_msg(&why));
    *out = (struct exec_cred){
        .token = token ? xstrdup(token) : NULL,
        .cert_pem = cert ? xstrdup(cert) : NULL,
        .key_pem = key ? xstrdup(key) : NULL,
        /* No certificate is good for longer than it says itself. */
        .expires = !expires || (not_after && not_after < expires) ? not_after : expires,
    };
    return 0;
}

int exec_plugin_parse(const struct kube_exec *x, const char *text, size_t len,
                      struct exec_cred *out, struct err *err) {
    /* YAML as well as JSON, as client-go. */
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    _cleanup_err_ struct err why = ERR_INIT;
    if (!len)
        return answer_err(x, err, "printed nothing");
    if (yaml_load("its output", text, len, &doc, &why) < 0)
        return answer_err(x, err, "did not print an ExecCredential: %s", err_msg(&why));
    const json_t *root = yaml_root(doc);
    if (!json_is_object(root))
        return answer_err(x, err, "did not print an ExecCredential but %s", json_type_words(root));
    int ret = check_head(x, root, err);
    if (ret < 0)
        return ret;
    const json_t *status = json_object_get(root, "status");
    if (!json_is_object(status))
        return answer_err(x, err, "printed an ExecCredential without a status");
    return read_status(x, status, out, err);
}

/* --- a run --- */

struct exec_run {
    const struct kube_config *config;
    const struct log *log;
    exec_fn *fn;
    void *arg;
    struct child *child;
    struct loop_timer *say_so;
    struct str line; /* of standard error, not complete yet */
    int lines;       /* of it, logged */
    int64_t timeout;
};

static void run_free(struct exec_run *run) {
    loop_timer_free(run->say_so);
    str_done(&run->line);
    free(run);
}

static void log_line(struct exec_run *run) {
    while (run->line.len && strchr("\r\n", run->line.p[run->line.len - 1]))
        run->line.p[--run->line.len] = '\0';
    if (run->line.len && run->lines < LINES_MAX_LOGGED)
        log_warn(run->log, "%s: %s", run->config->exec->command, str_get(&run->line));
    else if (run->line.len && run->lines == LINES_MAX_LOGGED)
        log_warn(run->log, "%s: more than %d lines; the rest is not shown",
                 run->config->exec->command, LINES_MAX_LOGGED);
    if (run->line.len && run->lines <= LINES_MAX_LOGGED)
        run->lines++;
    str_reset(&run->line);
}

static void on_stderr(void *arg, const char *p, size_t len) {
    struct exec_run *run = arg;
    for (size_t i = 0; i < len; i++) {
        if (p[i] == '\n')
            log_line(run);
        else if (p[i] && run->line.len < LINE_MAX_LOGGED)
            str_addc(&run->line, p[i]);
    }
}

static void on_say_so(void *arg) {
    struct exec_run *run = arg;
    char most[TIMEFMT_LEN];
    log_warn(run->log, "waiting for the credential plugin %s (at most %s)",
             run->config->exec->command, duration_format_limit(run->timeout, most));
}

/* ": <first line of standard error>", made fit to be shown. */
static void add_first_line(struct str *out, const char *text) {
    text += strspn(text, " \t\r\n");
    size_t len = strcspn(text, "\r\n");
    if (!len)
        return;
    _cleanup_free_ char *line = xstrndup(text, MIN_OF(len, (size_t)LINE_MAX_SHOWN));
    str_add(out, ": ");
    utf8_printable(out, line);
    if (len > LINE_MAX_SHOWN)
        str_add(out, "...");
}

static int end_err(const struct exec_run *run, const struct child_end *end, struct err *err) {
    const struct kube_exec *x = run->config->exec;
    _cleanup_str_ struct str tail = STR_INIT;
    char most[TIMEFMT_LEN];
    /* Not twice: what was logged stands right above the message. */
    if (!log_enabled(run->log, LOG_WARN))
        add_first_line(&tail, end->err_out);
    if (end->error == -ETIMEDOUT)
        return err_set(err, ETIMEDOUT, "the credential plugin %s did not end within %s%s",
                       x->command, duration_format_limit(run->timeout, most), str_get(&tail));
    if (end->error == -EFBIG)
        return err_set(err, EFBIG, "the credential plugin %s printed more than %d bytes%s",
                       x->command, OUTPUT_MAX, str_get(&tail));
    if (end->error)
        return err_errno(err, -end->error, "cannot wait for the credential plugin %s", x->command);
    if (end->signal)
        return err_set(err, EPROTO, "the credential plugin %s was ended by signal %d (%s)%s",
                       x->command, end->signal, strsignal(end->signal), str_get(&tail));
    if (end->exit_code)
        return err_set(err, EPROTO, "the credential plugin %s failed with exit status %d%s",
                       x->command, end->exit_code, str_get(&tail));
    return 0;
}

static void on_end(void *arg, const struct child_end *end) {
    struct exec_run *run = arg;
    _cleanup_err_ struct err err = ERR_INIT;
    struct exec_cred cred = {0};
    log_line(run);
    int ret = end_err(run, end, &err);
    if (ret >= 0)
        ret = exec_plugin_parse(run->config->exec, end->out, end->out_len, &cred, &err);
    run->child = NULL;
    exec_fn *fn = run->fn;
    void *fn_arg = run->arg;
    run_free(run);
    fn(fn_arg, ret < 0 ? NULL : &cred, ret < 0 ? &err : NULL);
    exec_cred_done(&cred);
}

/* Whether it gets our standard input. */
static int decide_interactive(const struct kube_exec *x, bool *out, struct err *err) {
    bool terminal = isatty(STDIN_FILENO);
    if (x->interactive == KUBE_EXEC_ALWAYS && !terminal)
        return err_set(err, ENOTTY,
                       "the credential plugin %s must be able to ask (interactiveMode is Always), "
                       "but standard input is no terminal",
                       x->command);
    *out = terminal && x->interactive != KUBE_EXEC_NEVER;
    return 0;
}

/* Why it could not be started, and what to do. */
static int start_err(const struct kube_exec *x, int code, struct err *err) {
    _cleanup_str_ struct str hint = STR_INIT;
    bool path = strchr(x->command, '/') != NULL;
    if (x->install_hint) {
        /* On one line. */
        _cleanup_free_ char *flat = xstrdup(x->install_hint);
        size_t n = 0;
        for (char *c = flat; *c; c++)
            if (!strchr(" \t\r\n", *c))
                flat[n++] = *c;
            else if (n && flat[n - 1] != ' ')
                flat[n++] = ' ';
        flat[n - (n && flat[n - 1] == ' ')] = '\0';
        str_add(&hint, ": ");
        utf8_printable(&hint, flat);
    }
    if (code == ENOENT && path && access(x->command, F_OK) == 0)
        return err_set(err, ENOENT,
                       "the credential plugin %s cannot run: the interpreter that its first line "
                       "names does not exist",
                       x->command);
    if (code == ENOENT && path)
        return err_set(err, ENOENT, "the credential plugin %s does not exist%s", x->command,
                       str_get(&hint));
    if (code == ENOENT)
        return err_set(err, ENOENT, "the credential plugin %s is not installed (not in PATH)%s",
                       x->command, str_get(&hint));
    if (code == E2BIG)
        return err_set(err, E2BIG,
                       "the credential plugin %s cannot run: what it is to know about the cluster "
                       "(provideClusterInfo) is too long for an environment variable",
                       x->command);
    return err_errno(err, code, "the credential plugin %s cannot run", x->command);
}

static int start_child(struct exec_run *run, struct loop *loop, bool interactive, char *info,
                       struct err *err) {
    const struct kube_exec *x = run->config->exec;
    VEC(const char *) argv = VEC_INIT;
    VEC(char *) env = VEC_INIT;
    *vec_push(&argv) = x->command;
    for (char **a = x->args; *a; a++)
        *vec_push(&argv) = *a;
    *vec_push(&argv) = NULL;
    for (size_t i = 0; i < x->n_env; i++)
        *vec_push(&env) = xasprintf("%s=%s", x->env[i].name, x->env[i].value);
    *vec_push(&env) = xasprintf("KUBERNETES_EXEC_INFO=%s", info);
    *vec_push(&env) = NULL;
    struct child_spec spec = {
        .argv = argv.p,
        .env = (const char *const *)env.p,
        .inherit_stdin = interactive,
        .inherit_stderr = interactive,
        .max_stdout = OUTPUT_MAX,
        .max_stderr = STDERR_MAX,
        .timeout = run->timeout,
        .on_stderr = on_stderr,
    };
    _cleanup_err_ struct err why = ERR_INIT;
    int ret = child_start(loop, &spec, on_end, run, &run->child, &why);
    for (size_t i = 0; i + 1 < env.len; i++)
        secret_free(env.p[i]);
    vec_done(&env);
    vec_done(&argv);
    return ret < 0 ? start_err(x, -ret, err) : 0;
}

static int start(struct loop *loop, const struct kube_config *config, const struct log *log,
                 exec_fn *fn, void *arg, struct exec_run **out, struct err *err) {
    bool interactive = false;
    _cleanup_free_ char *info = NULL;
    int ret = decide_interactive(config->exec, &interactive, err);
    if (ret >= 0)
        ret = exec_plugin_info(config, interactive, &info, err);
    if (ret < 0)
        return ret;
    struct exec_run *run = xnew(struct exec_run);
    *run = (struct exec_run){.config = config, .log = log, .fn = fn, .arg = arg};
    run->timeout = SEC(interactive ? INTERACTIVE_TIMEOUT_SEC : TIMEOUT_SEC);
    ret = start_child(run, loop, interactive, info, err);
    if (ret < 0) {
        run_free(run);
        return ret;
    }
    log_debug(log, "running the credential plugin %s", config->exec->command);
    run->say_so = loop_timer_new(loop, on_say_so, run);
    if (!interactive)
        loop_timer_set(run->say_so, SEC(SAY_SO_SEC));
    *out = run;
    return 0;
}

static void cancel(struct exec_run *run) {
    if (!run)
        return;
    child_cancel(run->child);
    run_free(run);
}

const struct exec_ops exec_plugin_ops = {start, cancel};
