/* The flight recorder. */
#include "controller/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "controller/tape.h"

enum {
    FLUSH_MS = 500,      /* what a crash may lose */
    BUFFER = 256 * 1024, /* bytes that are worth a write before that */
    MODE = 0600,         /* it says much of the cluster */
    /* A restart has the engine ask for everything anew, and what comes of that may be as much as
     * makes the file full again. */
    LAST_S = 10, /* so long a file lasts at least, */
    TIMES = 8,   /* as far as it is not so many times as large as at its beginning */
};

struct recorder {
    struct core *core;
    struct recorder_opts opts;
    char *path, *before;
    int fd; /* -1: recording has ended */
    int64_t len;
    int64_t begun; /* bytes of the stores as they were at the beginning */
    int64_t since; /* monotonic: when that was */
    struct str buffer;
    struct loop_timer *timer;
};

/* --- the file --- */

static int open_it(struct recorder *r, struct err *err) {
    struct stat st;
    if (stat(r->path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, EINVAL, "%s: is no regular file", r->path);
    if (rename(r->path, r->before) < 0 && errno != ENOENT)
        return err_set(err, errno, "%s: cannot become %s: %s", r->path, r->before, strerror(errno));
    r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, MODE);
    if (r->fd < 0)
        return err_set(err, errno, "%s: %s", r->path, strerror(errno));
    r->len = 0;
    return 0;
}

static void end(struct recorder *r, const char *why) {
    log_warn(r->opts.log, "recording ends: %s cannot be written: %s", r->path, why);
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    str_done(&r->buffer);
    r->buffer = STR_INIT;
    core_listen(r->core, NULL, NULL);
}

static void flush(void *arg) {
    struct recorder *r = arg;
    const char *p = str_get(&r->buffer);
    size_t left = r->buffer.len;
    while (left && r->fd >= 0) {
        ssize_t n = write(r->fd, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            end(r, strerror(errno));
            return;
        }
        p += n;
        left -= (size_t)n;
        r->len += n;
    }
    str_reset(&r->buffer);
}

/* --- what is recorded --- */

static void added(struct recorder *r) {
    if (r->buffer.len >= BUFFER)
        flush(r);
    else if (r->buffer.len && !loop_timer_pending(r->timer))
        loop_timer_set(r->timer, MSEC(FLUSH_MS));
}

static void on_store(void *arg, const struct store *s, const struct store_change *change) {
    struct recorder *r = arg;
    tape_write(&r->buffer, &(struct core_event){.what = CORE_STORE, .store = s, .change = change});
    added(r);
}

static void begin(struct recorder *r) {
    size_t n;
    int32_t fence;
    struct store *const *all = core_all_stores(r->core, &n);
    tape_write_head(&r->buffer, &(struct tape_head){.build = r->opts.build,
                                                    .identity = r->opts.identity,
                                                    .ns = r->opts.ns,
                                                    .seed = r->opts.seed,
                                                    .no_commands = r->opts.no_commands,
                                                    .no_hooks = r->opts.no_hooks,
                                                    .rate = r->opts.rate,
                                                    .actions = core_cluster(r->core)->actions});
    for (size_t i = 0; i < n; i++)
        store_retell(all[i], on_store, r);
    if (r->opts.retell)
        r->opts.retell(r->opts.arg);
    if (core_is_blind(r->core))
        tape_write(&r->buffer,
                   &(struct core_event){.what = CORE_BLIND, .text = core_is_blind(r->core)});
    if (core_is_ready(r->core))
        tape_write(&r->buffer, &(struct core_event){.what = CORE_READY});
    if (core_leads(r->core, &fence))
        tape_write(&r->buffer, &(struct core_event){.what = CORE_LEAD, .fence = fence});
    r->begun = r->len + (int64_t)r->buffer.len;
    r->since = loop_now(r->opts.loop);
    added(r);
}

static void begin_anew(struct recorder *r) {
    _cleanup_err_ struct err err = ERR_INIT;
    flush(r);
    if (r->fd < 0)
        return;
    close(r->fd);
    r->fd = -1;
    if (open_it(r, &err))
        end(r, err_msg(&err));
    else
        begin(r);
}

static void on_event(void *arg, const struct core_event *e) {
    struct recorder *r = arg;
    if (e->what == CORE_BEGIN) {
        begin_anew(r);
        return;
    }
    tape_write(&r->buffer, e);
    added(r);
}

/* --- its size --- */

static bool nobody_holds(const struct recorder *r) {
    const struct policies *p = core_policies(r->core);
    for (size_t i = 0; i < policies_len(p); i++) {
        const struct keeper *k = policies_at(p, i)->keeper;
        const struct slots *s = k ? keeper_slots(k) : NULL;
        if (s && s->list.len)
            return false;
    }
    return true;
}

bool recorder_wants_restart(const struct recorder *r) {
    if (!r || r->fd < 0)
        return false;
    /* Whatever the limit: a core that is restarted again and again gets nothing done. */
    int64_t len = r->len + (int64_t)r->buffer.len, half = MAX_OF(r->opts.max / 2, 2 * r->begun);
    if (loop_now(r->opts.loop) - r->since < SEC(LAST_S))
        return len >= MAX_OF(r->opts.max / 2, TIMES * r->begun);
    return len >= half || (len >= half / 4 * 3 && nobody_holds(r));
}

/* --- life --- */

int recorder_new(struct core *core, const struct recorder_opts *opts, struct recorder **out,
                 struct err *err) {
    struct recorder *r = xnew(struct recorder);
    r->core = core;
    r->opts = *opts;
    r->path = file_follow(opts->path); /* a link stays one */
    if (!r->path)
        r->path = xstrdup(opts->path);
    r->before = xasprintf("%s.1", r->path);
    r->fd = -1;
    r->buffer = STR_INIT;
    r->timer = loop_timer_new(opts->loop, flush, r);
    int rc = open_it(r, err);
    if (rc) {
        recorder_free(r);
        return rc;
    }
    core_listen(core, on_event, r);
    begin(r);
    *out = r;
    return 0;
}

void recorder_free(struct recorder *r) {
    if (!r)
        return;
    if (r->fd >= 0) {
        core_listen(r->core, NULL, NULL);
        flush(r);
    }
    if (r->fd >= 0)
        close(r->fd);
    loop_timer_free(r->timer);
    str_done(&r->buffer);
    free(r->path);
    free(r->before);
    free(r);
}
