/* What somebody who drains sees while it goes on: a block on a terminal, plain lines, events, or
 * nothing but errors (with the pods that are left of a node that ended badly) and escalations,
 * which are told in every mode. Reads the engine (its nodes and notes), never changes it.
 *
 *     view = drain_view_new(&opts);
 *     drain_view_note(), drain_view_remark()     as things happen
 *     drain_view_nodes()                         once, when the engine has its nodes
 *     drain_view_tick()                          every drain_view_interval()
 *     drain_view_end()                           the summary
 *     drain_view_free()
 *
 * On a terminal the block is drawn again in place, at most ten times a second, and not at all in
 * the background. Lines above it stay: nodes that are done, what was noted. Whoever else writes to
 * that terminal calls drain_view_hide() before; standard output may be left to the view (opts.out).
 * The cursor is hidden while there is a block, and the terminal keeps what Ctrl-C would make it
 * throw away (cli/tty.h): every way out of the program calls drain_view_free() or, in a signal
 * handler, drain_view_restore(). */
#ifndef CLI_DRAIN_VIEW_H
#define CLI_DRAIN_VIEW_H

#include "base/log.h"
#include "cli/term.h"
#include "engine/drain.h"

enum progress { PROGRESS_AUTO, PROGRESS_TTY, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_QUIET };
/* "auto", "tty", "plain", "json", "quiet"; NULL-terminated. */
extern const char *const progress_words[];

/* What --progress=auto becomes: quiet when asked for; the block on a terminal that can move its
 * cursor; else plain lines, also when every request is logged (`verbose` is -v's level) and in a CI
 * job. `env` is getenv(). */
enum progress progress_choose(enum progress wanted, const struct term *err, bool quiet, int verbose,
                              char *(*env)(const char *name));

struct drain_view_opts {
    enum progress mode; /* not AUTO */
    struct term *term;  /* where to: standard error; standard output for --json */
    struct term *err;   /* with --json: where escalations are told as well; may be NULL */
    struct term *out;   /* standard output when somebody else writes to it, or NULL: it is flushed
                           with each tick, so that the two do not disturb each other */
    const char *undo;   /* the command that undoes it, without the nodes */
    const char *again;  /* the command that goes on with it, for the summary; NULL: in words */
    const char *run;    /* name of this run, for events */
    bool verbose;       /* each pod */
    bool dry_run;
    int64_t now; /* wall clock, as all times here */
};

struct drain_view;

/* Texts of the options must outlive it. The terms no longer use a pager. */
struct drain_view *drain_view_new(const struct drain_view_opts *opts);
void drain_view_free(struct drain_view *v);

/* As drain_nodes() gives them; they must stay. Until then nothing is known of the nodes. */
void drain_view_nodes(struct drain_view *v, const struct drain_node *const *nodes, size_t n,
                      int64_t now);
void drain_view_note(struct drain_view *v, const struct drain_note *note);
/* A sentence of the program itself. */
void drain_view_remark(struct drain_view *v, enum log_level level, const char *text, int64_t now);
/* Nothing more is begun: somebody has interrupted it. Where the terminal may have thrown away a
 * part of the block, that is left as it is and another one drawn below. */
void drain_view_stopping(struct drain_view *v);

/* Draws what has changed. */
void drain_view_tick(struct drain_view *v, int64_t now);
/* Microseconds to the next tick. Longer in a very large drain, which takes time to look at. */
int64_t drain_view_interval(const struct drain_view *v);

/* The terminal has another size (SIGWINCH). */
void drain_view_resize(struct drain_view *v);
/* Takes the block off the screen and gives the cursor back: before somebody else writes. The next
 * tick draws it again. */
void drain_view_hide(struct drain_view *v);
/* The same, and the terminal is as it was before: before the process is stopped (SIGTSTP). */
void drain_view_suspend(struct drain_view *v);
/* A key that ends or stops us was pressed: what was typed before it is nobody's any more, as on a
 * terminal that does not keep what it was sent. Safe in a signal handler. */
void drain_view_key(struct drain_view *v);
/* Gives the cursor and the terminal back and leaves the block, never waiting for anything. What is
 * written next begins a line below it. Safe in a signal handler; nothing may be drawn after it. */
void drain_view_restore(const struct drain_view *v);

/* What ended it before it began, for the event; it must outlive the view. It was told already. */
void drain_view_error(struct drain_view *v, const char *text);
/* The last word: the summary, or the event of that name with the exit code. */
void drain_view_end(struct drain_view *v, int exit_code, int64_t now);

#endif
