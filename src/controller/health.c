/* The listener for machines that look after the controller. */
#include "controller/health.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"

enum {
    CONNS_MAX = 64, /* a few Prometheis and kubelets */
    HEAD_MAX = 16 << 10,
    BODY_MAX = 1 << 10, /* nobody has anything to say here */
    SLOW = 10,          /* seconds */
};

struct health {
    struct health_opts opts;
    struct httpd *httpd;
    struct httpd_listener *listener;
};

static int readiness(const struct health_opts *o, struct str *body) {
    int code = 200;
    for (const struct health_check *c = o->checks; c->name; c++) {
        const char *problem = c->problem(o->arg);
        str_addf(body, "[%c]%s %s\n", problem ? '-' : '+', c->name, problem ? problem : "ok");
        if (problem && !c->minor)
            code = 503;
    }
    str_add(body, code == 200 ? "readyz check passed\n" : "readyz check failed\n");
    return code;
}

int health_answer(const struct health_opts *o, const char *method, const char *path,
                  const char *accept, const char **type, struct str *body) {
    *type = "text/plain; charset=utf-8";
    if (!streq(method, "GET") && !streq(method, "HEAD")) {
        str_add(body, "only GET and HEAD\n");
        return 405;
    }
    if (streq(path, "/healthz")) {
        str_add(body, "ok\n");
        return 200;
    }
    if (streq(path, "/readyz"))
        return readiness(o, body);
    if (streq(path, "/metrics")) {
        bool open = exposition_wants_open(accept);
        *type = open ? EXPOSITION_OPEN : EXPOSITION_TEXT;
        o->gauges(o->arg);
        metrics_write(o->metrics, open, body);
        return 200;
    }
    str_add(body, "not found; there are /metrics, /healthz and /readyz\n");
    return 404;
}

static void handle(void *arg, struct exchange *x) {
    const struct health *h = arg;
    _cleanup_str_ struct str body = STR_INIT;
    const char *type;
    int code = health_answer(&h->opts, exchange_method(x), exchange_path(x),
                             exchange_header(x, "accept"), &type, &body);
    const struct http_header headers[] = {{"Content-Type", type},
                                          {"X-Content-Type-Options", "nosniff"},
                                          {"Cache-Control", "no-store"},
                                          {"Allow", "GET, HEAD"}};
    exchange_reply(x,
                   &(struct http_reply){.code = code,
                                        .headers = headers,
                                        .n_headers = ARRAY_LEN(headers) - (code != 405),
                                        .gzip = true},
                   str_get(&body), body.len);
}

int health_new(struct loop *loop, const char *address, const struct health_opts *opts,
               struct health **out, struct err *err) {
    struct health *h = xnew(struct health);
    h->opts = *opts;
    int rc = httpd_new(loop,
                       &(struct httpd_options){.handle = handle,
                                               .arg = h,
                                               .limits = {.max_head = HEAD_MAX,
                                                          .max_body = BODY_MAX,
                                                          .max_conns = CONNS_MAX,
                                                          .head_timeout = SEC(SLOW),
                                                          .body_timeout = SEC(SLOW),
                                                          .write_timeout = SEC(SLOW),
                                                          .reply_timeout = SEC(SLOW)},
                                               .crowds_give_way = true,
                                               .log = opts->log},
                       &h->httpd, err);
    if (!rc)
        rc = httpd_listen(h->httpd, address, NULL, &h->listener, err);
    if (rc) {
        health_free(h);
        return rc;
    }
    *out = h;
    return 0;
}

void health_free(struct health *h) {
    if (!h)
        return;
    httpd_free(h->httpd);
    free(h);
}

const char *health_address(const struct health *h) {
    return httpd_listener_address(h->listener);
}
