/* What somebody who drains sees while it goes on. */
#include "cli/drain_view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_json.h"
#include "cli/drain_plain.h"
#include "cli/drain_summary.h"
#include "cli/drain_tty.h"
#include "cli/drain_words.h"
#include "cli/live.h"

enum {
    TICK_MS = 100,       /* ten times a second */
    PLAIN_TICK_MS = 500, /* nobody watches lines that closely */
    LARGE_TICK_MS = 1000,
    VAST_TICK_MS = 5000,
    LARGE = 20000, /* pods that are looked at with each tick; 150,000 take a tenth of a second */
    VAST = 100000,
    VERBOSE_REQUESTS = 4 /* the level of -v that logs every request */
};
#define HEARTBEAT SEC(600)

const char *const progress_words[] = {
    [PROGRESS_AUTO] = "auto", [PROGRESS_TTY] = "tty",     [PROGRESS_PLAIN] = "plain",
    [PROGRESS_JSON] = "json", [PROGRESS_QUIET] = "quiet", NULL};

enum progress progress_choose(enum progress wanted, const struct term *err, bool quiet, int verbose,
                              char *(*env)(const char *name)) {
    if (wanted != PROGRESS_AUTO)
        return wanted;
    if (quiet)
        return PROGRESS_QUIET;
    bool can = err->tty && !str_same(env("TERM"), "dumb") && str_empty(env("CI"));
    return can && verbose < VERBOSE_REQUESTS ? PROGRESS_TTY : PROGRESS_PLAIN;
}

struct drain_view {
    struct drain_view_opts opts;
    const struct drain_node *const *nodes;
    size_t n;
    struct eta eta;
    VEC(const struct drain_node *) released; /* uncordoned again */
    bool stopping, ended;
    int64_t beat; /* of events: the next sign of life */
    struct drain_plain plain;
    struct drain_json json;
    /* the terminal */
    struct live live;
    bool shared;                         /* standard output is the same one */
    VEC(const struct drain_node *) done; /* since the last drawing */
    int64_t now, drawn;                  /* the former: of the drawing under way */
};

/* --- life --- */

static bool same_terminal(int a, int b) {
    struct stat sa, sb;
    return isatty(a) && isatty(b) && !fstat(a, &sa) && !fstat(b, &sb) && sa.st_rdev == sb.st_rdev;
}

struct drain_view *drain_view_new(const struct drain_view_opts *opts) {
    struct drain_view *v = xnew(struct drain_view);
    v->opts = *opts;
    v->opts.term->pager = NULL;
    live_init(&v->live, opts->term);
    if (opts->out)
        opts->out->pager = NULL;
    v->shared = opts->out && same_terminal(opts->out->fd, opts->term->fd);
    v->beat = opts->now + HEARTBEAT;
    v->json.run = opts->run;
    drain_plain_init(&v->plain, opts->verbose, opts->now);
    if (opts->mode == PROGRESS_JSON) {
        drain_json_hello(&v->json, opts->now, opts->dry_run, &opts->term->buf);
        term_flush(opts->term);
    }
    return v;
}

void drain_view_free(struct drain_view *v) {
    if (!v)
        return;
    live_done(&v->live);
    drain_plain_done(&v->plain);
    vec_done(&v->done);
    vec_done(&v->released);
    free(v);
}

/* --- the screen --- */

/* Standard output's text comes before what shall stay. On the same screen it is drawn with the
 * block, in one write, so that nothing flickers. */
static void flush_beside(struct drain_view *v) {
    struct term *out = v->opts.out;
    if (!out || !out->buf.len)
        return;
    if (v->shared) {
        struct str above = v->live.above;
        v->live.above = out->buf;
        out->buf = STR_INIT;
        str_add(&v->live.above, str_get(&above));
        str_done(&above);
        return;
    }
    if (out->tty)
        drain_view_hide(v);
    term_flush(out);
}

static void make_block(void *arg, const struct screen *s, struct str *out) {
    const struct drain_view *v = arg;
    struct drain_picture picture = {.nodes = v->nodes,
                                    .n = v->n,
                                    .now = v->now,
                                    .started = v->opts.now,
                                    .eta = &v->eta,
                                    .stopping = v->stopping,
                                    .dry_run = v->opts.dry_run};
    drain_tty_block(&picture, s, out);
}

static void draw(struct drain_view *v, int64_t now) {
    struct screen s = live_screen(&v->live);
    flush_beside(v);
    if (v->done.len) {
        drain_tty_done(v->done.p, v->done.len, &s, &v->live.above);
        v->done.len = 0;
    }
    v->now = now;
    live_draw(&v->live, make_block, v);
}

void drain_view_hide(struct drain_view *v) {
    live_hide(&v->live);
}

void drain_view_suspend(struct drain_view *v) {
    live_suspend(&v->live);
}

void drain_view_key(struct drain_view *v) {
    live_key(&v->live);
}

void drain_view_restore(const struct drain_view *v) {
    live_restore(&v->live);
}

void drain_view_resize(struct drain_view *v) {
    live_screen(&v->live);
    v->drawn = 0;
}

/* --- what happens --- */

void drain_view_nodes(struct drain_view *v, const struct drain_node *const *nodes, size_t n,
                      int64_t now) {
    v->nodes = nodes;
    v->n = n;
    if (v->opts.mode != PROGRESS_JSON)
        return;
    for (size_t i = 0; i < n; i++)
        drain_json_node(&v->json, nodes[i], now, &v->opts.term->buf);
    term_flush(v->opts.term);
}

/* "error: cannot drain node/w1: ..." */
static void say_error(struct drain_view *v, const char *node, const char *text) {
    struct term *t = v->opts.term;
    term_styled(t, STYLE_RED, "error");
    term_printf(t, ": ");
    if (node) {
        term_printf(t, "node/");
        term_text(t, node);
        term_printf(t, ": ");
    }
    term_text(t, text);
    term_printf(t, "\n");
    term_flush(t);
}

/* More than an eviction was done to a pod: whatever else is left out, this is not. */
static void say_escalated(struct term *t, const struct drain_note *note) {
    _cleanup_str_ struct str text = STR_INIT;
    drain_note_text(note, &text);
    term_styled(t, STYLE_YELLOW, "warning");
    term_printf(t, ": ");
    term_text(t, str_get(&text));
    term_printf(t, "\n");
    term_flush(t);
}

static void quiet_note(struct drain_view *v, const struct drain_note *note) {
    struct screen s = live_screen(&v->live);
    if (note->kind == NOTE_ESCALATED)
        say_escalated(v->opts.term, note);
    /* A node that cannot be cordoned fails, and says so then. */
    if (note->kind == NOTE_CORDON_FAILED || drain_note_level(note) != LOG_ERROR)
        return;
    _cleanup_str_ struct str text = STR_INIT;
    drain_note_text(note, &text);
    say_error(v, note->node ? note->node->name : NULL, str_get(&text));
    /* The error of a node that was refused names the pods. */
    if (note->kind == NOTE_PHASE && note->node && note->node->phase != DRAIN_REFUSED)
        drain_summary_pods(note->node, note->time, &s, &v->opts.term->buf);
    term_flush(v->opts.term);
}

void drain_view_note(struct drain_view *v, const struct drain_note *note) {
    struct screen s = live_screen(&v->live);
    eta_note(&v->eta, note);
    if (note->kind == NOTE_UNCORDONED && note->node)
        *vec_push(&v->released) = note->node;
    switch (v->opts.mode) {
    case PROGRESS_AUTO:
    case PROGRESS_TTY:
        if (note->kind == NOTE_PHASE && note->node && note->node->phase == DRAIN_DONE)
            *vec_push(&v->done) = note->node;
        /* kubectl's lines on the same screen say it of each pod. */
        drain_tty_note(note, v->opts.verbose && !(v->opts.out && v->opts.out->tty), &s,
                       &v->live.above);
        break;
    case PROGRESS_PLAIN:
        drain_plain_note(&v->plain, note, &v->opts.term->buf);
        term_flush(v->opts.term);
        break;
    case PROGRESS_JSON:
        drain_json_note(&v->json, note, &v->opts.term->buf);
        term_flush(v->opts.term);
        if (note->kind == NOTE_ESCALATED && v->opts.err)
            say_escalated(v->opts.err, note);
        break;
    case PROGRESS_QUIET:
        quiet_note(v, note);
        break;
    }
}

void drain_view_remark(struct drain_view *v, enum log_level level, const char *text, int64_t now) {
    struct screen s = live_screen(&v->live);
    switch (v->opts.mode) {
    case PROGRESS_AUTO:
    case PROGRESS_TTY:
        drain_tty_remark(level, NULL, text, &s, &v->live.above);
        break;
    case PROGRESS_PLAIN:
        drain_plain_say(level, NULL, NULL, text, now, &v->opts.term->buf);
        term_flush(v->opts.term);
        break;
    case PROGRESS_JSON:
        drain_json_log(&v->json, level, text, now, &v->opts.term->buf);
        term_flush(v->opts.term);
        break;
    case PROGRESS_QUIET:
        if (level == LOG_ERROR)
            say_error(v, NULL, text);
        break;
    }
}

void drain_view_stopping(struct drain_view *v) {
    v->stopping = true;
    v->drawn = 0;
    live_interrupted(&v->live);
}

/* --- time --- */

int64_t drain_view_interval(const struct drain_view *v) {
    size_t pods = 0;
    for (size_t i = 0; i < v->n; i++)
        if (v->nodes[i]->phase != DRAIN_WAITING && !drain_ended(v->nodes[i]->phase))
            pods += v->nodes[i]->n_pods;
    return MSEC(pods > VAST                    ? VAST_TICK_MS
                : pods > LARGE                 ? LARGE_TICK_MS
                : v->opts.mode == PROGRESS_TTY ? TICK_MS
                                               : PLAIN_TICK_MS);
}

static void json_tick(struct drain_view *v, int64_t now) {
    if (v->beat - now > HEARTBEAT) /* the clock was set back */
        v->beat = now + HEARTBEAT;
    if (now < v->beat || !v->nodes)
        return;
    v->beat = now + HEARTBEAT;
    _cleanup_str_ struct str text = STR_INIT;
    drain_headline(v->nodes, v->n, &v->eta, now, v->opts.now, &text);
    drain_json_log(&v->json, LOG_INFO, str_get(&text), now, &v->opts.term->buf);
}

void drain_view_tick(struct drain_view *v, int64_t now) {
    bool soon = v->drawn && now > v->drawn && now - v->drawn < MSEC(TICK_MS) * 9 / 10;
    if (v->ended)
        return;
    switch (v->opts.mode) {
    case PROGRESS_AUTO:
    case PROGRESS_TTY:
        /* Who calls more often is not followed; but timers come a little early. */
        if (soon)
            return;
        draw(v, now);
        v->drawn = now;
        return;
    case PROGRESS_PLAIN:
        if (v->nodes)
            drain_plain_tick(&v->plain, v->nodes, v->n, &v->eta, now, &v->opts.term->buf);
        break;
    case PROGRESS_JSON:
        json_tick(v, now);
        break;
    case PROGRESS_QUIET:
        break;
    }
    if (v->opts.out)
        term_flush(v->opts.out);
    term_flush(v->opts.term);
}

/* --- the end --- */

void drain_view_error(struct drain_view *v, const char *text) {
    v->json.error = text;
}

void drain_view_end(struct drain_view *v, int exit_code, int64_t now) {
    struct term *t = v->opts.term;
    struct screen s = live_screen(&v->live);
    if (v->ended)
        return;
    v->ended = true;
    drain_view_hide(v);
    if (v->opts.out)
        term_flush(v->opts.out);
    if (v->opts.mode == PROGRESS_JSON) {
        drain_json_summary(&v->json, v->nodes, v->n, exit_code, v->opts.now, now, &t->buf);
    } else if (v->opts.mode != PROGRESS_QUIET) {
        str_add(&t->buf, str_get(&v->live.above));
        struct drain_summary summary = {.nodes = v->nodes,
                                        .n = v->n,
                                        .now = now,
                                        .started = v->opts.now,
                                        .undo = v->opts.undo,
                                        .again = v->opts.again,
                                        .released = v->released.p,
                                        .n_released = v->released.len,
                                        .dry_run = v->opts.dry_run};
        if (v->nodes)
            drain_summary_text(&summary, &s, &t->buf);
    }
    term_flush(t);
}
