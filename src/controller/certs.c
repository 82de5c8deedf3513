/* The certificate of FleetLock over HTTPS. */
#include "controller/certs.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "net/authority.h"

enum {
    RETRY_FIRST_S = 1,
    RETRY_MAX_S = 60,
    WAITED_MAX_S = 15, /* the same, while there is none: nobody is served before */
    SAY_EVERY_S = 60,  /* what is the matter, in the same words */
    HASTE = 2,         /* writes in a row without a pause: the authority, and what it signs */
    ADDRESSES_MAX = 4, /* of a Service: there are two families */
    CN_MAX = 64,
};

#define WARN_BEFORE SEC(INT64_C(365) * 86400) /* the end of the authority: hosts take time */
#define WARN_EVERY  SEC(INT64_C(86400))

/* One of the two Secrets. */
struct kept {
    bool there, ours;
    char *version;
    struct cert_pair pair;
    char *ca; /* the member ca.crt */
};

/* What is read, one after the other. */
enum step { STEP_SERVICE, STEP_CA, STEP_TLS };

struct certs {
    struct kube_client *client;
    struct certs_opts opts;
    struct prng random;
    struct loop_timer *timer;
    struct kube_op *op;
    enum step step;
    VEC(char *) names; /* NULL at its end */
    struct kept ca, tls;
    char *given;     /* the certificate that was handed on last */
    int64_t warn_at; /* of the authority's end, not before */
    /* Since all was well: writes; what did not come of a look. And looks that have failed since one
     * has not: that they did says nothing of what comes after. */
    unsigned writes, tries, misses;
    char *trouble;  /* what is the matter; NULL: nothing is known to be */
    int64_t say_at; /* monotonic: the same again, not before */
};

/* --- texts --- */

static void kept_done(struct kept *k) {
    free(k->version);
    free(k->ca);
    cert_pair_done(&k->pair);
    *k = (struct kept){0};
}

static void names_done(struct certs *c) {
    for (size_t i = 0; i < c->names.len; i++)
        free(c->names.p[i]);
    c->names.len = 0;
}

static const char *const *names_of(const struct certs *c) {
    return (const char *const *)c->names.p;
}

static char *member(const json_t *data, const char *key) {
    const char *text = strna(json_str(data, key));
    char *out = NULL;
    size_t len;
    return base64_decode(text, strlen(text), &out, &len) ? out : NULL;
}

static void learn_secret(struct kept *k, struct view body) {
    json_t *root = json_loadb(body.p, body.len, 0, NULL);
    const json_t *meta = json_object_get(root, "metadata"), *data = json_object_get(root, "data");
    kept_done(k);
    k->there = true;
    k->ours = str_same(json_str(json_object_get(meta, "labels"), CERTS_LABEL), CERTS_OWNER);
    k->version = xstrdup(strna(json_str(meta, "resourceVersion")));
    k->pair.cert = member(data, "tls.crt");
    k->pair.key = member(data, "tls.key");
    k->ca = member(data, "ca.crt");
    json_wipe(root);
}

/* "10.96.0.7", and the names by which pods and hosts find the Service. */
static void learn_service(struct certs *c, struct view body) {
    _cleanup_json_ json_t *root = json_loadb(body.p, body.len, 0, NULL);
    const json_t *spec = json_object_get(root, "spec"), *one;
    size_t i;
    names_done(c);
    json_array_foreach(json_object_get(spec, "clusterIPs"), i, one) {
        const char *address = strna(json_string_value(one));
        if (i < ADDRESSES_MAX && *address && !streq(address, "None"))
            *vec_push(&c->names) = xstrdup(address);
    }
    static const char *const below[] = {"", ".svc", ".svc.cluster.local"};
    *vec_push(&c->names) = xstrdup(c->opts.service);
    for (i = 0; i < ARRAY_LEN(below); i++)
        *vec_push(&c->names) = xasprintf("%s.%s%s", c->opts.service, c->opts.ns, below[i]);
    *vec_push(&c->names) = NULL;
}

static void add_member(struct jsonw *w, const char *key, const char *text) {
    _cleanup_str_ struct str coded = STR_INIT;
    base64_encode(&coded, text, strlen(text));
    jsonw_kstr(w, key, str_get(&coded));
    mem_wipe(coded.p, coded.len);
}

static void add_secret(const struct certs *c, const char *name, const struct kept *was,
                       const struct cert_pair *pair, const char *ca, struct str *body) {
    struct jsonw w;
    jsonw_init(&w, body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "Secret");
    jsonw_kstr(&w, "type", "kubernetes.io/tls");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", name);
    jsonw_kstr(&w, "namespace", c->opts.ns);
    jsonw_kopt(&w, "resourceVersion", was->version);
    jsonw_kbegin(&w, "labels", '{');
    jsonw_kstr(&w, CERTS_LABEL, CERTS_OWNER);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_kbegin(&w, "data", '{');
    add_member(&w, "tls.crt", pair->cert);
    add_member(&w, "tls.key", pair->key);
    if (ca)
        add_member(&w, "ca.crt", ca);
    jsonw_end(&w);
    jsonw_end(&w);
}

/* --- time --- */

static int64_t wall(const struct certs *c) {
    return loop_wall(c->client->loop);
}

static void again_in(struct certs *c, int64_t delay) {
    loop_timer_set(c->timer, delay + prng_range(&c->random, 0, delay / 4));
}

static void back_off(struct certs *c, unsigned *tries) {
    int64_t delay = SEC(RETRY_FIRST_S), max = c->given ? SEC(RETRY_MAX_S) : SEC(WAITED_MAX_S);
    for (unsigned i = 0; i < *tries && delay < max; i++)
        delay *= 2;
    ++*tries;
    again_in(c, MIN_OF(delay, max));
}

/* Something did not work, or was written, and is to be looked at again. */
static void again(struct certs *c) {
    back_off(c, &c->tries);
}

static void say(struct certs *c, const char *what, const char *why) {
    int64_t now = loop_now(c->client->loop);
    _cleanup_free_ char *text = xasprintf("%s: %s", what, why);
    if (!str_same(text, c->trouble) || now >= c->say_at) {
        log_warn(c->opts.log, "HTTPS: %s", text);
        c->say_at = now + SEC(SAY_EVERY_S);
    }
    str_replace(&c->trouble, text);
}

static void failed(struct certs *c, const char *what, const char *why) {
    say(c, what, why);
    again(c);
}

static void unread(struct certs *c, const char *what, const char *why) {
    say(c, what, why);
    back_off(c, &c->misses);
}

/* --- writing --- */

static void on_written(void *arg, struct kube_reply *reply) {
    struct certs *c = arg;
    c->op = NULL;
    if (reply->outcome == KUBE_OK && c->writes++ < HASTE)
        loop_timer_set(c->timer, 0);
    else if (reply->outcome == KUBE_OK || reply->outcome == KUBE_CONFLICT ||
             reply->outcome == KUBE_EXISTS)
        again(c); /* what is there now is read: ours, or that of one who was faster */
    else
        failed(c, "the certificate cannot be stored", reply->message);
}

static void write_secret(struct certs *c, const char *name, const struct kept *was,
                         const struct cert_pair *pair, const char *ca) {
    _cleanup_str_ struct str body = STR_INIT;
    _cleanup_free_ char *path = xasprintf("/api/v1/namespaces/%s/secrets%s%s", c->opts.ns,
                                          was->there ? "/" : "", was->there ? name : "");
    add_secret(c, name, was, pair, ca, &body);
    c->op = kube_op_start(c->client,
                          &(struct kube_op_spec){.method = was->there ? "PUT" : "POST",
                                                 .path = path,
                                                 .body = str_get(&body)},
                          on_written, c);
    mem_wipe(body.p, body.len);
}

static void make_authority(struct certs *c) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_cert_pair_ struct cert_pair ca = {0};
    struct cert_spec spec = {
        .cn = "Slipway FleetLock", .names = names_of(c), .now = wall(c), .lasts = CERTS_CA_LASTS};
    if (authority_make(&spec, &ca, &err)) {
        failed(c, "no authority can be made", err_msg(&err));
        return;
    }
    log_info(c->opts.log, "HTTPS: makes an authority, Secret %s: hosts have to trust it", CERTS_CA);
    write_secret(c, CERTS_CA, &c->ca, &ca, NULL);
}

/* --- deciding --- */

/* Hands on what is stored. False: it cannot be used. */
static bool hand_on(struct certs *c) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct httpd_tls tls = {c->tls.pair.cert, c->tls.pair.key};
    int64_t end = 0;
    char buf[TIMEFMT_LEN];
    if (str_same(c->given, tls.cert))
        return true;
    if (!tls.cert || !tls.key || cert_ends(tls.cert, &end, &err) ||
        c->opts.have(c->opts.arg, &tls, &err) < 0) {
        say(c, "Secret " CERTS_TLS " cannot be used",
            err.code ? err_msg(&err) : "tls.crt or tls.key is missing");
        return false;
    }
    str_replace(&c->given, tls.cert);
    log_info(c->opts.log, "HTTPS: has a certificate for %s%s, until %s", c->names.p[0],
             c->names.len > 2 ? " and other names of the Service" : "",
             time_format(end, false, buf));
    return true;
}

static void rest(struct certs *c) {
    c->writes = c->tries = 0;
    mem_clear(&c->trouble);
    again_in(c, c->opts.every);
}

/* When the stored one must still be good: it is renewed before. */
static int64_t due_at(struct certs *c) {
    int64_t end, at = wall(c) + CERTS_RENEW;
    if (cert_ends(c->ca.pair.cert, &end, NULL))
        return at;
    if (end - wall(c) < WARN_BEFORE && wall(c) >= c->warn_at) {
        char buf[TIMEFMT_LEN];
        c->warn_at = wall(c) + WARN_EVERY;
        log_warn(c->opts.log,
                 "HTTPS: the authority ends at %s: delete Secret %s in good time, and have the "
                 "hosts trust the new one",
                 time_format(end, false, buf), CERTS_CA);
    }
    return MIN_OF(at, MAX_OF(end - SEC(3600), wall(c)));
}

static void renew(struct certs *c) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_cert_pair_ struct cert_pair pair = {0};
    struct cert_spec spec = {.cn = strlen(c->opts.service) < CN_MAX ? c->opts.service : "slipway",
                             .names = names_of(c),
                             .now = wall(c),
                             .lasts = CERTS_LASTS};
    if (!c->ca.there) {
        make_authority(c);
        return;
    }
    if (!authority_issue(&c->ca.pair, &spec, &pair, &err)) {
        write_secret(c, CERTS_TLS, &c->tls, &pair, c->ca.pair.cert);
        return;
    }
    say(c, "the authority in Secret " CERTS_CA " is of no use", err_msg(&err));
    if (c->ca.ours) {
        make_authority(c);
        return;
    }
    if (c->tls.there)
        hand_on(c); /* as long as it lasts */
    again(c);
}

static void decide(struct certs *c) {
    _cleanup_err_ struct err err = ERR_INIT;
    bool foreign = c->tls.there && !c->tls.ours;
    bool good = c->tls.there && c->ca.there && c->ca.pair.cert && c->tls.pair.cert &&
                c->tls.pair.key && str_same(c->tls.ca, c->ca.pair.cert) &&
                !authority_check(c->ca.pair.cert, &c->tls.pair, names_of(c), due_at(c), &err);
    if (!foreign && !good) {
        if (c->tls.there)
            log_info(c->opts.log, "HTTPS: renews the certificate: %s",
                     err.code ? err_msg(&err) : "it is not that of the authority");
        renew(c);
        return;
    }
    if (hand_on(c))
        rest(c);
    else
        again(c);
}

/* --- reading --- */

static void read_next(struct certs *c);

static void on_read(void *arg, struct kube_reply *reply) {
    struct certs *c = arg;
    bool there = reply->outcome == KUBE_OK;
    c->op = NULL;
    if (!there && reply->outcome != KUBE_NOT_FOUND) {
        unread(c, "Service and Secrets cannot be read", reply->message);
        return;
    }
    if (c->step == STEP_SERVICE && !there) {
        unread(c, "nobody knows what the certificate is for", reply->message);
        return;
    }
    struct kept *k = c->step == STEP_CA ? &c->ca : &c->tls;
    if (c->step == STEP_SERVICE)
        learn_service(c, reply->body);
    else if (there)
        learn_secret(k, reply->body);
    else
        kept_done(k);
    if (c->step == STEP_TLS) {
        c->misses = 0;
        decide(c);
        return;
    }
    c->step++;
    read_next(c);
}

static void read_next(struct certs *c) {
    static const char *const secrets[] = {[STEP_CA] = CERTS_CA, [STEP_TLS] = CERTS_TLS};
    bool service = c->step == STEP_SERVICE;
    _cleanup_free_ char *path =
        xasprintf("/api/v1/namespaces/%s/%s/%s", c->opts.ns, service ? "services" : "secrets",
                  service ? c->opts.service : secrets[c->step]);
    c->op = kube_op_start(c->client, &(struct kube_op_spec){.path = path}, on_read, c);
}

static void on_timer(void *arg) {
    struct certs *c = arg;
    c->step = STEP_SERVICE;
    read_next(c);
}

/* --- life --- */

const char *certs_trouble(const struct certs *c) {
    return c->trouble;
}

struct certs *certs_new(struct kube_client *client, const struct certs_opts *opts) {
    struct certs *c = xnew(struct certs);
    c->client = client;
    c->opts = *opts;
    c->opts.every = opts->every ? opts->every : CERTS_EVERY;
    c->random.state = opts->seed;
    c->timer = loop_timer_new(client->loop, on_timer, c);
    loop_timer_set(c->timer, 0);
    return c;
}

void certs_free(struct certs *c) {
    if (!c)
        return;
    if (c->op)
        kube_op_cancel(c->op);
    loop_timer_free(c->timer);
    names_done(c);
    vec_done(&c->names);
    kept_done(&c->ca);
    kept_done(&c->tls);
    free(c->given);
    free(c->trouble);
    free(c);
}
