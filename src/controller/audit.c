/* The audit log. */
#include "controller/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/timefmt.h"

enum {
    SAID_EVERY = 60, /* seconds between two lines about the same trouble */
    TEXT_MAX = 2048, /* bytes of a sentence; lines stay short enough to be written at once */
    MODE = 0640,
};

struct audit {
    struct audit_opts opts;
    char *path, *via;
    int fd;        /* -1: it could not be opened the last time */
    bool regular;  /* a file, whose size counts */
    int64_t len;   /* of it */
    bool torn;     /* the last line has no end */
    uint64_t lost; /* since the last one that was written */
    int64_t quiet; /* monotonic: no line about that before */
};

struct record {
    const char *kind, *actor, *action, *object;
    const char *policy, *maintenance, *operation, *slot;
    const char *before, *after, *reason;
    const char *result;
    int code;
    uint64_t lost;
};

/* --- the file --- */

/* Whoever reads a pipe is not waited for. */
static int open_it(struct audit *a, struct err *err) {
    struct stat st;
    if (streq(a->path, AUDIT_STDOUT))
        a->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        a->fd =
            open(a->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, MODE);
    if (a->fd < 0 || fstat(a->fd, &st) < 0)
        return err_set(err, errno, "%s: %s", a->path, strerror(errno));
    a->regular = S_ISREG(st.st_mode);
    a->len = a->regular ? st.st_size : 0;
    a->torn = false;
    return 0;
}

static void close_it(struct audit *a) {
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
}

int audit_new(const struct audit_opts *opts, struct audit **out, struct err *err) {
    struct audit *a = xnew(struct audit);
    a->opts = *opts;
    a->path = file_follow(opts->path); /* rotating moves the file, not a link to it */
    if (!a->path)
        a->path = xstrdup(opts->path);
    a->via = xstrdup(strna(opts->via));
    int rc = open_it(a, err);
    if (rc) {
        audit_free(a);
        return rc;
    }
    *out = a;
    return 0;
}

void audit_free(struct audit *a) {
    if (!a)
        return;
    close_it(a);
    free(a->path);
    free(a->via);
    free(a);
}

void audit_reopen(struct audit *a) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (!a)
        return;
    close_it(a);
    if (open_it(a, &err))
        log_warn(a->opts.log, "audit log: %s", err_msg(&err));
    else
        log_info(a->opts.log, "audit log: %s was opened anew", a->path);
}

/* One before it is kept, so that the two of them have a bounded size. */
static void rotate(struct audit *a) {
    _cleanup_free_ char *old = xasprintf("%s.1", a->path);
    _cleanup_err_ struct err err = ERR_INIT;
    if (rename(a->path, old) < 0) {
        log_warn(a->opts.log, "audit log: %s cannot be moved to %s: %s", a->path, old,
                 strerror(errno));
        a->len = 0; /* tried again after as much */
        return;
    }
    close_it(a);
    if (open_it(a, &err))
        log_warn(a->opts.log, "audit log: %s", err_msg(&err));
}

static bool can_take(const struct audit *a) {
    struct pollfd p = {.fd = a->fd, .events = POLLOUT};
    return a->regular || (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT));
}

/* 0, or the errno. */
static int put(struct audit *a, const struct str *line) {
    if (a->fd < 0 && open_it(a, NULL))
        return errno ? errno : EBADF;
    if (!can_take(a))
        return EAGAIN;
    ssize_t n = write(a->fd, str_get(line), line->len);
    if (n < 0)
        return errno;
    a->len += n;
    a->torn = (size_t)n < line->len;
    return a->torn ? ENOSPC : 0;
}

/* --- records --- */

static void add_line(const struct audit *a, const struct record *r, struct str *out) {
    char when[TIMEFMT_LEN];
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "ts", time_format(loop_wall(a->opts.loop), true, when));
    jsonw_kstr(&w, "via", a->via);
    jsonw_kstr(&w, "kind", r->kind);
    jsonw_kopt(&w, "actor", r->actor);
    jsonw_kstr(&w, "action", r->action);
    jsonw_kopt(&w, "object", r->object);
    jsonw_kopt(&w, "policy", r->policy);
    jsonw_kopt(&w, "maintenance", r->maintenance);
    jsonw_kopt(&w, "operation", r->operation);
    jsonw_kopt(&w, "slot", r->slot);
    jsonw_kopt(&w, "before", r->before);
    jsonw_kopt(&w, "after", r->after);
    if (!str_empty(r->reason))
        jsonw_kcut(&w, "reason", r->reason, TEXT_MAX);
    jsonw_kopt(&w, "result", r->result);
    if (r->code)
        jsonw_kint(&w, "code", r->code);
    if (r->lost)
        jsonw_kint(&w, "lost", (int64_t)r->lost);
    jsonw_end(&w);
    str_addc(out, '\n');
}

static void say_lost(struct audit *a, const struct record *r, int error) {
    int64_t now = loop_now(a->opts.loop);
    METRIC_ADD(a->opts.metrics, METRIC_AUDIT_RECORDS, 1, "lost", r->action);
    a->lost++;
    if (now < a->quiet)
        return;
    a->quiet = now + SEC(SAID_EVERY);
    log_warn(a->opts.log, "audit log: %s cannot be written: %s; %llu records are lost so far",
             a->path, error == EAGAIN ? "nobody reads it" : strerror(error),
             (unsigned long long)a->lost);
}

static void add(struct audit *a, const struct record *r) {
    _cleanup_str_ struct str line = STR_INIT;
    uint64_t lost = a->lost;
    if (a->opts.size && a->regular && a->len >= a->opts.size)
        rotate(a);
    if (a->torn)
        str_addc(&line, '\n');
    if (lost) {
        struct record gap = {.kind = "gap", .action = "lost", .lost = lost};
        add_line(a, &gap, &line);
    }
    add_line(a, r, &line);
    int error = put(a, &line);
    if (error) {
        say_lost(a, r, error);
        return;
    }
    METRIC_ADD(a->opts.metrics, METRIC_AUDIT_RECORDS, 1, "written", r->action);
    if (lost)
        log_info(a->opts.log, "audit log: %s is written again; %llu records were lost", a->path,
                 (unsigned long long)lost);
    a->lost = 0;
    a->quiet = 0;
}

void audit_note(struct audit *a, const struct keeper_note *n) {
    if (!a)
        return;
    _cleanup_free_ char *object = xasprintf("nodes/%s", n->node);
    add(a, &(struct record){.kind = "decision",
                            .actor = n->by,
                            .action = n->reason,
                            .object = object,
                            .policy = n->policy,
                            .maintenance = n->maintenance,
                            .operation = n->operation,
                            .slot = n->slot ? n->slot->id : NULL,
                            .before = n->moves ? maint_phases[n->from].word : NULL,
                            .after = n->moves ? maint_phases[n->to].word : NULL,
                            .reason = n->text});
}

void audit_rollout(struct audit *a, const struct rollout_note *n) {
    if (!a)
        return;
    _cleanup_free_ char *object = xasprintf("%s/%s", kind_rollout.resource, n->rollout);
    add(a, &(struct record){
               .kind = "decision", .action = n->reason, .object = object, .reason = n->text});
}

void audit_action(struct audit *a, const char *actor, const struct action *action,
                  const struct answer *answer) {
    static const char *const verbs[] = {
        [ACTION_EVICT] = "evict",
        [ACTION_DELETE] = "delete",
        [ACTION_PATCH] = "patch",
        [ACTION_CREATE] = "create",
    };
    if (!a || action->minor || action->dry_run || action->verb > ACTION_CREATE)
        return;
    bool ok = answer->outcome == KUBE_OK;
    _cleanup_free_ char *object =
        xasprintf("%s/%s%s%s%s%s", action->kind->resource, strna(action->ns), action->ns ? "/" : "",
                  strna(action->name), action->subresource ? "/" : "", strna(action->subresource));
    add(a, &(struct record){.kind = "write",
                            .actor = actor,
                            .action = verbs[action->verb],
                            .object = object,
                            .result = ok ? "ok" : kube_outcome_row(answer->outcome)->name,
                            .code = answer->code,
                            .reason = ok ? NULL : answer->message});
}

void audit_answer(struct audit *a, const char *actor, const char *action, const char *node,
                  const char *text) {
    if (!a)
        return;
    _cleanup_free_ char *object = xasprintf("nodes/%s", node);
    add(a, &(struct record){.kind = "answer",
                            .actor = actor,
                            .action = action,
                            .object = object,
                            .reason = text,
                            .result = "ok"});
}

/* Who asks a service may have to show a password, or a token: in what is before the host, or behind
 * the path. */
static void add_url(struct str *out, const char *url) {
    size_t len = strcspn(url, "?#");
    const char *host = strstr(url, "://"), *path, *at = NULL;
    host = host && host < url + len ? host + strlen("://") : url;
    path = host + strcspn(host, "/?#");
    for (const char *c = host; c < path; c++)
        at = *c == '@' ? c : at;
    str_addn(out, url, (size_t)(host - url));
    host = at ? at + 1 : host;
    str_addn(out, host, (size_t)(url + len - host));
}

/* What is done: the command, as one would type it, or the address. */
static void add_means(struct str *out, const struct own_executor *e) {
    if (e && e->exec)
        for (size_t i = 0; i < list_len(e->exec->command); i++) {
            str_add(out, i ? " " : "");
            shell_add(out, strna(e->exec->command[i]));
        }
    else if (e && e->http)
        add_url(out, strna(e->http->url));
    else if (e && e->sim)
        str_add(out, "the simulator's machine is asked");
}

void audit_operate(struct audit *a, const struct maintenance *m) {
    _cleanup_str_ struct str means = STR_INIT;
    if (!a)
        return;
    _cleanup_free_ char *object = xasprintf("nodes/%s", strna(m->node)),
                        *actor = xasprintf(KEEPER_BY_MAINTENANCE "%s", m->meta.name);
    add_means(&means, m->executor);
    add(a, &(struct record){.kind = "operation",
                            .actor = actor,
                            .action = "begin",
                            .object = object,
                            .maintenance = m->meta.name,
                            .operation = m->operation,
                            .slot = m->slot,
                            .reason = str_get(&means)});
}

void audit_operated(struct audit *a, const char *maintenance, const char *failure) {
    if (!a)
        return;
    _cleanup_free_ char *actor = xasprintf(KEEPER_BY_MAINTENANCE "%s", maintenance);
    add(a, &(struct record){.kind = "operation",
                            .actor = actor,
                            .action = "end",
                            .maintenance = maintenance,
                            .result = failure ? "failed" : "ok",
                            .reason = failure});
}
