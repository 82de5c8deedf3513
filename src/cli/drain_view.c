/* What somebody who drains sees while it goes on. */
#include "cli/drain_view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
#include "cli/tty.h"

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

#define CURSOR_HIDE "\033[?25l"
#define CURSOR_SHOW "\033[?25h"
#define ERASE_BELOW "\033[J"
#define ERASE_LINE  "\033[K"

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
    bool forced;                         /* its width was said by the user */
    bool shared;                         /* standard output is the same one */
    bool keeps, taken;                   /* it throws nothing away; by our doing */
    bool hides;                          /* the cursor */
    int typed;                           /* bytes of lines that were typed */
    size_t down;                         /* rows that the cursor was moved by that */
    struct str block;                    /* what is on the screen, "" when nothing */
    struct str above;                    /* what shall stay, not yet written */
    VEC(const struct drain_node *) done; /* since the last drawing */
    int64_t drawn;
};

/* --- life --- */

/* What the terminal itself says; false when it says nothing. */
static bool window(const struct term *t, struct winsize *size) {
    *size = (struct winsize){0};
    return ioctl(t->fd, TIOCGWINSZ, size) == 0 && size->ws_col && size->ws_row;
}

static bool same_terminal(int a, int b) {
    struct stat sa, sb;
    return isatty(a) && isatty(b) && !fstat(a, &sa) && !fstat(b, &sb) && sa.st_rdev == sb.st_rdev;
}

struct drain_view *drain_view_new(const struct drain_view_opts *opts) {
    struct drain_view *v = xnew(struct drain_view);
    struct winsize size;
    v->opts = *opts;
    v->opts.term->pager = NULL;
    if (opts->out)
        opts->out->pager = NULL;
    v->forced = !window(opts->term, &size) || size.ws_col != opts->term->columns;
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
    drain_view_suspend(v);
    drain_plain_done(&v->plain);
    str_done(&v->block);
    str_done(&v->above);
    vec_done(&v->done);
    vec_done(&v->released);
    free(v);
}

/* --- the screen --- */

static struct screen screen_of(const struct drain_view *v) {
    const struct term *t = v->opts.term;
    return (struct screen){t->columns, t->rows, t->color, t->utf8};
}

/* The size as it is at this moment: the signal that tells of another one may come after the next
 * drawing, which would then go back over lines that are not the block's. True when it has changed.
 */
static bool sync_size(struct drain_view *v) {
    struct winsize size;
    struct term *t = v->opts.term;
    if (v->opts.mode != PROGRESS_TTY || !window(t, &size))
        return false;
    int columns = v->forced ? t->columns : size.ws_col;
    bool other = t->columns != columns || t->rows != size.ws_row;
    t->columns = columns;
    t->rows = size.ws_row;
    return other;
}

/* Somebody presses Enter to see whether it is alive, and the cursor is a line further down. What
 * was typed cannot be looked at; but nobody presses it twice between two ticks. */
static void sync_typed(struct drain_view *v) {
    if (v->opts.mode != PROGRESS_TTY)
        return;
    int typed = tty_typed(v->opts.term->fd);
    if (typed > v->typed && v->block.len)
        v->down++;
    v->typed = typed;
}

/* To the first column of the block. */
static void to_top(struct drain_view *v, struct str *out) {
    size_t rows = line_rows(str_get(&v->block), v->opts.term->columns) + v->down;
    v->down = 0;
    /* What has scrolled off the top of the screen cannot be reached. */
    if (v->opts.term->rows > 0)
        rows = MIN_OF(rows, (size_t)v->opts.term->rows);
    str_addc(out, '\r');
    if (rows)
        str_addf(out, "\033[%zuA", rows);
}

/* Standard output's text comes before what shall stay. On the same screen it is drawn with the
 * block, in one write, so that nothing flickers. */
static void flush_beside(struct drain_view *v) {
    struct term *out = v->opts.out;
    if (!out || !out->buf.len)
        return;
    if (v->shared) {
        struct str above = v->above;
        v->above = out->buf;
        out->buf = STR_INIT;
        str_add(&v->above, str_get(&above));
        str_done(&above);
        return;
    }
    if (out->tty)
        drain_view_hide(v);
    term_flush(out);
}

/* In the background there is a prompt where the block would be, and somebody types: only what shall
 * stay is written, as by any other job. */
static void write_beside(struct drain_view *v) {
    struct term *t = v->opts.term;
    if (v->block.len)
        str_add(&t->buf, CURSOR_SHOW);
    str_reset(&v->block);
    v->down = 0;
    str_add(&t->buf, str_get(&v->above));
    str_reset(&v->above);
    term_flush(t);
    v->hides = false;
}

static void draw(struct drain_view *v, int64_t now) {
    struct term *t = v->opts.term;
    bool beside = tty_in_background(t->fd);
    sync_size(v);
    sync_typed(v);
    struct screen s = screen_of(v);
    flush_beside(v);
    if (v->done.len) {
        drain_tty_done(v->done.p, v->done.len, &s, &v->above);
        v->done.len = 0;
    }
    if (beside) {
        write_beside(v);
        return;
    }
    struct drain_picture picture = {.nodes = v->nodes,
                                    .n = v->n,
                                    .now = now,
                                    .started = v->opts.now,
                                    .eta = &v->eta,
                                    .stopping = v->stopping,
                                    .dry_run = v->opts.dry_run};
    _cleanup_str_ struct str block = STR_INIT;
    drain_tty_block(&picture, &s, &block);
    if (sync_size(v)) {
        s = screen_of(v);
        str_reset(&block);
        drain_tty_block(&picture, &s, &block);
    }
    if (!v->above.len && !v->down && v->block.len && streq(str_get(&block), str_get(&v->block)))
        return;
    enum tty_keep keep = tty_keep_output(t->fd);
    v->keeps = keep != TTY_LOSES;
    v->taken |= keep == TTY_TAKEN;
    v->hides = true;
    /* One write: what is under way is never seen. Lines are written over the old ones and their
     * ends erased, so that nothing flickers. */
    if (v->block.len)
        to_top(v, &t->buf);
    else
        str_add(&t->buf, CURSOR_HIDE);
    if (v->above.len) {
        /* Its lines may be of any length. */
        str_add(&t->buf, ERASE_BELOW);
        str_add(&t->buf, str_get(&v->above));
    }
    for (const char *p = str_get(&block); *p;) {
        size_t len = strcspn(p, "\n");
        str_addn(&t->buf, p, len);
        str_add(&t->buf, ERASE_LINE "\n");
        p += len + (p[len] == '\n');
    }
    str_add(&t->buf, ERASE_BELOW);
    str_reset(&v->above);
    str_reset(&v->block);
    str_add(&v->block, str_get(&block));
    term_flush(t);
}

void drain_view_hide(struct drain_view *v) {
    if (!v->block.len)
        return;
    sync_size(v);
    sync_typed(v);
    to_top(v, &v->opts.term->buf);
    str_add(&v->opts.term->buf, ERASE_BELOW CURSOR_SHOW);
    str_reset(&v->block);
    term_flush(v->opts.term);
    v->hides = false;
}

void drain_view_suspend(struct drain_view *v) {
    drain_view_hide(v);
    if (v->taken)
        tty_keep_no_more(v->opts.term->fd);
    v->taken = false;
}

void drain_view_key(struct drain_view *v) {
    if (!v->taken)
        return;
    sync_typed(v);
    tty_drop_input(v->opts.term->fd);
    v->typed = 0;
}

void drain_view_restore(const struct drain_view *v) {
    static const char give[] = "\r" ERASE_BELOW CURSOR_SHOW;
    if (v->hides)
        tty_write_now(v->opts.term->fd, give, sizeof give - 1);
    if (v->taken)
        tty_keep_no_more(v->opts.term->fd);
}

void drain_view_resize(struct drain_view *v) {
    sync_size(v);
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
    struct screen s = screen_of(v);
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
    struct screen s = screen_of(v);
    eta_note(&v->eta, note);
    if (note->kind == NOTE_UNCORDONED && note->node)
        *vec_push(&v->released) = note->node;
    switch (v->opts.mode) {
    case PROGRESS_AUTO:
    case PROGRESS_TTY:
        if (note->kind == NOTE_PHASE && note->node && note->node->phase == DRAIN_DONE)
            *vec_push(&v->done) = note->node;
        /* kubectl's lines on the same screen say it of each pod. */
        drain_tty_note(note, v->opts.verbose && !(v->opts.out && v->opts.out->tty), &s, &v->above);
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
    struct screen s = screen_of(v);
    switch (v->opts.mode) {
    case PROGRESS_AUTO:
    case PROGRESS_TTY:
        drain_tty_remark(level, NULL, text, &s, &v->above);
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
    if (v->block.len && !v->keeps) {
        str_reset(&v->block);
        v->down = 0;
        str_addc(&v->above, '\n'); /* wherever the cursor is */
    }
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
    struct screen s = screen_of(v);
    if (v->ended)
        return;
    v->ended = true;
    drain_view_hide(v);
    if (v->opts.out)
        term_flush(v->opts.out);
    if (v->opts.mode == PROGRESS_JSON) {
        drain_json_summary(&v->json, v->nodes, v->n, exit_code, v->opts.now, now, &t->buf);
    } else if (v->opts.mode != PROGRESS_QUIET) {
        str_add(&t->buf, str_get(&v->above));
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
