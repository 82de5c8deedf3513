/* A command line at work with a server on loopback: the session, and what it says on either
 * stream. Each test brings the server's answers. */
#ifndef SUPPORT_DESK_H
#define SUPPORT_DESK_H

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
#include "cli/session.h"
#include "support/server.h"

#define DESK_JSON "Content-Type: application/json\r\n"

struct desk {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    int out[2], err[2];
    char said[4096], told[4096];
};

static inline char *desk_env(const char *name) {
    static char now[] = "2026-11-16T12:05:00Z";
    return streq(name, "SLIPWAY_FAKE_NOW") ? now : NULL;
}

static inline void desk_status(struct server_conn *c, int code, const char *reason) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                  "\"%s\",\"message\":\"it is so\",\"code\":%d}",
                  reason, code);
    server_reply(c, code, DESK_JSON, text);
}

/* `items`: JSON, without brackets. */
static inline void desk_list(struct server_conn *c, const char *kind, const char *version,
                             const char *items) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":"
                  "\"7\"},\"items\":[%s]}",
                  kind, version, items);
    server_reply(c, 200, DESK_JSON, text);
}

static inline void
desk_start(struct desk *d,
           void (*handle)(struct server_conn *, const struct server_request *, void *), void *arg) {
    memset(d, 0, sizeof *d);
    d->server = server_start(&(struct server_options){.handle = handle, .arg = arg});
    d->url = server_url(d->server, NULL);
    assert_int_equal(pipe2(d->out, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(d->err, O_NONBLOCK | O_CLOEXEC), 0);
    d->cli = (struct cli){
        .prog = "slipway", .env = desk_env, .out = {.fd = d->out[1]}, .err = {.fd = d->err[1]}};
    d->opts.flags.server = d->url;
    assert_int_equal(session_open(&d->cli, &d->opts, &d->session), 0);
}

static inline const char *desk_take(int fd, char *buf, size_t size) {
    ssize_t n = read(fd, buf, size - 1);
    buf[n > 0 ? n : 0] = '\0';
    return buf;
}

static inline const char *desk_said(struct desk *d) {
    return desk_take(d->out[0], d->said, sizeof d->said);
}

static inline const char *desk_told(struct desk *d) {
    return desk_take(d->err[0], d->told, sizeof d->told);
}

static inline void desk_end(struct desk *d) {
    session_close(&d->session);
    server_stop(d->server);
    free(d->url);
    str_done(&d->cli.out.buf);
    str_done(&d->cli.err.buf);
    arena_done(&d->cli.arena);
    for (int i = 0; i < 2; i++) {
        close(d->out[i]);
        close(d->err[i]);
    }
}

#endif
