/* A drain in kubectl's words: the lines that scripts read, each once, made from the notes of the
 * engine. Pure. Text from the cluster is made printable.
 *
 * Standard output gets what kubectl drain prints there: node/N cordoned, evicting pod NS/P, pod/P
 * evicted, node/N drained. Standard error gets its warnings and refusals, and besides, instead of a
 * line for each try, one line when something begins to wait, with the reason, and what to do where
 * it does not end by itself. The pods that a node
 * was left with are listed as "NS/POD  REASON  SINCE". */
#ifndef CLI_DRAIN_LINES_H
#define CLI_DRAIN_LINES_H

#include "base/str.h"
#include "cli/exit.h"
#include "engine/drain.h"

struct drain_lines {
    enum dry_run dry_run;
    int64_t skip_wait; /* seconds, for the line that says so */
    bool started;      /* also say when an eviction is asked for: kubectl's -v=2 */
    bool told_turn;    /* that nodes wait for their turn was said */
};

/* Appends what a note means to `out` (standard output) and `err` (standard error). */
void drain_lines_note(struct drain_lines *l, const struct drain_note *note, struct str *out,
                      struct str *err);
/* The end: which nodes are left, and why. Nothing when all are drained. */
void drain_lines_end(const struct drain_node *const *nodes, size_t n, struct str *err);
/* Nothing could be begun on any of these nodes: what kubectl says of several; of one it ends with
 * the server's refusal, which is left to the caller. */
void drain_lines_refused(const char *const *names, size_t n, const char *error, struct str *err);
/* After an interruption: what was done, and the commands to go on (`again`) and to undo what is
 * still cordoned. */
void drain_lines_stopped(const struct drain_node *const *nodes, size_t n, const char *undo,
                         const char *again, struct str *err);
/* One line for an end without any waiting: what may still be cordoned, and the command that undoes
 * it. `soon`: nodes whose turn has not come count as well. */
void drain_lines_at_once(const struct drain_node *const *nodes, size_t n, bool soon,
                         const char *undo, struct str *err);

/* All drained: 0. EXIT_BLOCKED when all that are not ran out of time, whether others are drained or
 * not. Else EXIT_PARTIAL when some are drained; EXIT_ACCESS when we could not get at one of them,
 * and EXIT_FAILED. */
enum exit_code drain_exit_code(const struct drain_node *const *nodes, size_t n);

#endif
