/* probe call [METHOD PATH [BODY]]: raw requests and their outcomes, one line of JSON each. Without
 * arguments they are lines "METHOD PATH [BODY]" of standard input, sent one after the other over
 * the same connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "kube/client.h"
#include "probe.h"
#include "probe_cluster.h"

struct caller {
    struct probe probe;
    VEC(char *) waiting;
    struct kube_op *op;
    bool ended; /* no more will come */
};

static void next(struct caller *c);

static void on_reply(void *arg, struct kube_reply *reply) {
    struct caller *c = arg;
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "outcome", kube_outcome_row(reply->outcome)->name);
    jsonw_kint(&j, "code", reply->code);
    jsonw_kstr(&j, "message", reply->message);
    jsonw_kopt(&j, "warning", reply->warning);
    jsonw_kint(&j, "retryAfter", reply->retry_after);
    if (reply->body.p) {
        _cleanup_free_ char *body = xstrndup(reply->body.p, reply->body.len);
        jsonw_kstr(&j, "body", body);
    }
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
    c->op = NULL;
    next(c);
}

static void next(struct caller *c) {
    if (c->op)
        return;
    if (!c->waiting.len) {
        if (c->ended)
            loop_stop(c->probe.loop);
        return;
    }
    _cleanup_free_ char *line = c->waiting.p[0];
    memmove(c->waiting.p, c->waiting.p + 1, --c->waiting.len * sizeof *c->waiting.p);
    char *rest = line;
    const char *method = strsep(&rest, " ");
    struct kube_op_spec spec = {.method = method, .path = rest ? strsep(&rest, " ") : "/"};
    spec.body = rest;
    c->op = kube_op_start(&c->probe.conn.client, &spec, on_reply, c);
}

static void on_line(void *arg, char *line) {
    struct caller *c = arg;
    if (line)
        *vec_push(&c->waiting) = xstrdup(line);
    else
        c->ended = true;
    next(c);
}

int probe_call(int argc, char **argv) {
    struct caller c = {0};
    const char *timeout;
    probe_connect(&c.probe, &argc, argv);
    if ((timeout = probe_option(&argc, argv, "--timeout")))
        c.probe.conn.client.timeout = MSEC(atol(timeout));
    if (argc == 2 || argc > 4) {
        fprintf(stderr, "usage: probe call [METHOD PATH [BODY]]\n");
        return 64;
    }
    if (argc > 2) {
        *vec_push(&c.waiting) =
            xasprintf("%s %s%s%s", argv[1], argv[2], argc > 3 ? " " : "", argc > 3 ? argv[3] : "");
        c.ended = true;
        next(&c);
    } else {
        probe_stdin(&c.probe, on_line, &c);
    }
    loop_run(c.probe.loop);
    for (size_t i = 0; i < c.waiting.len; i++)
        free(c.waiting.p[i]);
    vec_done(&c.waiting);
    probe_disconnect(&c.probe);
    return 0;
}
