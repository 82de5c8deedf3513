/* Who we are, at this moment: the credentials of a request. */
#include "kube/auth.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "kube/auth_files.h"
#include "kube/exec_plugin.h"

/* client-go takes a token from a file for good for a minute, less ten seconds; the kubelet replaces
 * it when a fifth of its life is left. */
#define TOKEN_AGE SEC(50)
/* A token file that cannot be read is tried again so soon. */
#define TOKEN_RETRY SEC(1)
/* Credentials of a plugin are renewed that long before their end, so that a request does not arrive
 * too late; less when they do not live for a minute. */
#define EXPIRY_LEEWAY SEC(10)
#define BACKOFF_MIN   SEC(1)
#define BACKOFF_MAX   SEC(60)
/* Trouble that long after the last has nothing to do with it. */
#define BACKOFF_FORGET SEC(600)

struct kube_auth_wait {
    struct kube_auth_wait *next;
    kube_auth_fn *fn;
    void *arg;
    uint64_t seq;
};

struct kube_auth {
    struct loop *loop;
    const struct kube_config *config;
    const struct log *log;
    const struct exec_ops *ops;

    /* What is handed out. cert_pem and key_pem belong to `pair` or `given`. */
    char *authorization;
    const char *cert_pem, *key_pem;
    uint64_t generation;

    int64_t token_due;   /* when the token file is to be read again; 0: at once */
    bool token_troubled; /* it could not be read the last time */
    struct auth_pair pair;
    bool have_pair; /* certificate and key are configured */

    /* The plugin. */
    struct exec_run *run;   /* under way */
    bool run_for_rejection; /* because the server refused the last ones */
    struct exec_cred given; /* the last credentials */
    bool have_given;
    bool rejected;      /* the server refused them */
    int64_t renew_at;   /* wall clock; 0: never */
    struct err failure; /* of the last run */
    int64_t next_run;   /* not before this */
    int64_t backoff;    /* what next_run is put off by the next time */

    struct kube_auth_wait *first, **last;
    uint64_t seq;
    struct loop_timer *timer;
    bool *freed; /* set when kube_auth_free() is called in a callback */
};

/* --- what is handed out --- */

static void set_authorization(struct kube_auth *a, char *value) {
    if (str_same(a->authorization, value)) {
        secret_free(value);
        return;
    }
    secret_free(a->authorization);
    a->authorization = value;
    a->generation++;
}

static void set_bearer(struct kube_auth *a, const char *token) {
    set_authorization(a, token ? xasprintf("Bearer %s", token) : NULL);
}

static void set_basic(struct kube_auth *a) {
    struct str s = STR_INIT;
    _cleanup_secret_ char *both = xasprintf("%s:%s", a->config->username, a->config->password);
    /* Room for all of it, so that growing leaves no copies behind. */
    str_reserve(&s, 8 + strlen(both) * 2);
    str_add(&s, "Basic ");
    base64_encode(&s, both, strlen(both));
    set_authorization(a, str_take(&s));
}

static void log_until(struct kube_auth *a, int64_t expires) {
    char when[TIMEFMT_LEN];
    if (expires)
        log_debug(a->log, "the credential plugin %s gave credentials until %s",
                  a->config->exec->command, time_format(expires, false, when));
    else
        log_debug(a->log, "the credential plugin %s gave credentials", a->config->exec->command);
}

/* --- files --- */

/* Fails only when there is no token at all. */
static int refresh_token(struct kube_auth *a, bool force, struct err *err) {
    const struct kube_config *c = a->config;
    int64_t now = loop_now(a->loop);
    if (a->token_due && now < a->token_due && !force)
        return 0;
    _cleanup_secret_ char *token = NULL;
    _cleanup_err_ struct err why = ERR_INIT;
    int ret = auth_read_token(c->token_file, &token, &why);
    if (ret >= 0) {
        set_bearer(a, token);
        a->token_due = now + TOKEN_AGE;
        a->token_troubled = false;
        return 0;
    }
    if (!a->authorization && !c->token)
        return err_move(err, &why);
    if (!a->token_troubled)
        log_warn(a->log, "%s; the %s is used on", err_msg(&why),
                 a->authorization ? "last token" : "token of the kubeconfig");
    if (!a->authorization)
        set_bearer(a, c->token);
    a->token_due = now + TOKEN_RETRY;
    a->token_troubled = true;
    return 0;
}

static int refresh_pair(struct kube_auth *a, bool force, struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    bool known = a->pair.bad; /* and logged */
    int ret = auth_pair_refresh(&a->pair, force, &why);
    a->cert_pem = a->pair.cert_pem;
    a->key_pem = a->pair.key_pem;
    if (ret > 0)
        a->generation++;
    if (ret >= 0)
        return 0;
    if (!a->cert_pem)
        return err_move(err, &why);
    if (!known)
        log_warn(a->log, "%s; the last client certificate is used on", err_msg(&why));
    return 0;
}

static int refresh_files(struct kube_auth *a, bool force, struct err *err) {
    int ret = a->have_pair ? refresh_pair(a, force, err) : 0;
    if (ret >= 0 && a->config->token_file)
        ret = refresh_token(a, force, err);
    return ret;
}

int kube_auth_check(struct kube_auth *a, struct err *err) {
    return a->have_pair ? refresh_pair(a, false, err) : 0;
}

/* --- the plugin --- */

static void put_off(struct kube_auth *a) {
    int64_t now = loop_now(a->loop);
    if (now > a->next_run + BACKOFF_FORGET)
        a->backoff = BACKOFF_MIN;
    a->next_run = now + a->backoff;
    a->backoff = MIN_OF(a->backoff * 2, BACKOFF_MAX);
}

static void adopt(struct kube_auth *a, struct exec_cred *cred) {
    int64_t wall = loop_wall(a->loop), life = cred->expires - wall;
    bool same_pair =
        str_same(a->given.cert_pem, cred->cert_pem) && str_same(a->given.key_pem, cred->key_pem);
    exec_cred_done(&a->given);
    a->given = *cred;
    *cred = (struct exec_cred){0};
    a->cert_pem = a->given.cert_pem;
    a->key_pem = a->given.key_pem;
    if (!same_pair)
        a->generation++;
    set_bearer(a, a->given.token);
    a->have_given = true;
    a->rejected = false;
    a->renew_at =
        a->given.expires ? a->given.expires - MIN_OF(EXPIRY_LEEWAY, MAX_OF(life, 0) / 6) : 0;
    err_done(&a->failure);
    log_until(a, a->given.expires);
    bool dead_on_arrival = a->given.expires && life <= 0;
    if (dead_on_arrival)
        log_warn(a->log,
                 "the credential plugin %s gave credentials that have expired already "
                 "(are the clocks right?)",
                 a->config->exec->command);
    if (a->run_for_rejection || dead_on_arrival) {
        put_off(a);
    } else {
        a->next_run = 0;
        a->backoff = BACKOFF_MIN;
    }
}

/* The last credentials can still be used: not refused, not past their end. */
static bool still_good(const struct kube_auth *a) {
    return a->have_given && !a->rejected &&
           (!a->given.expires || loop_wall(a->loop) < a->given.expires);
}

static void fail_run(struct kube_auth *a, const struct err *err) {
    err_set(&a->failure, err->code, "%s", err_msg(err));
    put_off(a);
    if (still_good(a))
        log_warn(a->log, "%s; the last credentials are used on", err_msg(err));
}

static void flush(struct kube_auth *a, const struct err *err);

static void on_run(void *arg, struct exec_cred *cred, const struct err *err) {
    struct kube_auth *a = arg;
    a->run = NULL;
    if (cred)
        adopt(a, cred);
    else
        fail_run(a, err);
    flush(a, cred || still_good(a) ? NULL : err);
}

/* True when there is an answer: credentials, or *err. False: wait for the plugin. */
static bool refresh_plugin(struct kube_auth *a, struct err *err) {
    if (a->run)
        return false;
    bool fresh =
        a->have_given && !a->rejected && (!a->renew_at || loop_wall(a->loop) < a->renew_at);
    if (fresh)
        return true;
    if (loop_now(a->loop) >= a->next_run) {
        _cleanup_err_ struct err why = ERR_INIT;
        a->run_for_rejection = a->rejected;
        if (a->ops->start(a->loop, a->config, a->log, on_run, a, &a->run, &why) == 0)
            return false;
        fail_run(a, &why);
    }
    /* Not now. The last credentials may do; when it was the server that refused fresh ones, it
     * may say so again. */
    if (a->failure.code && !still_good(a))
        err_set(err, a->failure.code, "%s", err_msg(&a->failure));
    return true;
}

/* --- those who wait --- */

/* Answers those who wait now; not those who come meanwhile. */
static void flush(struct kube_auth *a, const struct err *err) {
    _cleanup_err_ struct err copy = ERR_INIT;
    bool freed = false, *outer = a->freed;
    uint64_t end = a->seq;
    if (err)
        err_set(&copy, err->code, "%s", err_msg(err));
    a->freed = &freed;
    while (!freed && a->first && a->first->seq < end) {
        struct kube_auth_wait *w = a->first;
        a->first = w->next;
        if (!a->first)
            a->last = &a->first;
        struct kube_credentials cred = {
            .authorization = a->authorization,
            .cert_pem = a->cert_pem,
            .key_pem = a->key_pem,
            .generation = a->generation,
        };
        w->fn(w->arg, err ? NULL : &cred, err ? &copy : NULL);
        free(w);
    }
    if (!freed)
        a->freed = outer;
    else if (outer)
        *outer = true;
}

static void on_timer(void *arg) {
    struct kube_auth *a = arg;
    _cleanup_err_ struct err err = ERR_INIT;
    if (a->config->exec) {
        if (!refresh_plugin(a, &err))
            return;
    } else {
        refresh_files(a, false, &err);
    }
    flush(a, err.code ? &err : NULL);
}

struct kube_auth_wait *kube_auth_get(struct kube_auth *a, kube_auth_fn *fn, void *arg) {
    struct kube_auth_wait *w = xnew(struct kube_auth_wait);
    *w = (struct kube_auth_wait){.fn = fn, .arg = arg, .seq = a->seq++};
    *a->last = w;
    a->last = &w->next;
    if (!loop_timer_pending(a->timer))
        loop_timer_set(a->timer, 0);
    return w;
}

void kube_auth_cancel(struct kube_auth *a, struct kube_auth_wait *wait) {
    struct kube_auth_wait **link = &a->first;
    while (*link && *link != wait)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = wait->next;
    if (!*link)
        a->last = link;
    free(wait);
}

bool kube_auth_reject(struct kube_auth *a, uint64_t generation) {
    if (generation != a->generation)
        return true;
    if (a->config->exec) {
        a->rejected = true;
        return a->run || loop_now(a->loop) >= a->next_run;
    }
    refresh_files(a, true, NULL);
    return a->generation != generation;
}

/* --- life --- */

struct kube_auth *kube_auth_new_with(struct loop *loop, const struct kube_config *config,
                                     const struct log *log, const struct exec_ops *ops) {
    struct kube_auth *a = xnew(struct kube_auth);
    *a = (struct kube_auth){.loop = loop,
                            .config = config,
                            .log = log,
                            .ops = ops,
                            .generation = 1,
                            .backoff = BACKOFF_MIN,
                            .have_pair = config->cert.data || config->cert.file};
    a->last = &a->first;
    a->timer = loop_timer_new(loop, on_timer, a);
    auth_pair_init(&a->pair, &config->cert, &config->key);
    /* A file is read when it is asked for. */
    if (config->token && !config->token_file)
        set_bearer(a, config->token);
    else if (config->username)
        set_basic(a);
    return a;
}

struct kube_auth *kube_auth_new(struct loop *loop, const struct kube_config *config,
                                const struct log *log) {
    return kube_auth_new_with(loop, config, log, &exec_plugin_ops);
}

void kube_auth_free(struct kube_auth *a) {
    if (!a)
        return;
    if (a->freed)
        *a->freed = true;
    if (a->run)
        a->ops->cancel(a->run);
    while (a->first) {
        struct kube_auth_wait *w = a->first;
        a->first = w->next;
        free(w);
    }
    loop_timer_free(a->timer);
    secret_free(a->authorization);
    auth_pair_done(&a->pair);
    exec_cred_done(&a->given);
    err_done(&a->failure);
    free(a);
}
