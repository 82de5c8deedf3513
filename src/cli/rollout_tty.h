/* A rollout on a terminal: the block of lines that is drawn again and again (cli/live.h), and the
 * lines that stay above it. Pure: objects, a screen and a time make text. */
#ifndef CLI_ROLLOUT_TTY_H
#define CLI_ROLLOUT_TTY_H

#include "base/str.h"
#include "cli/drain_line.h"
#include "model/own.h"

struct rollout_picture {
    const struct rollout *rollout;
    const struct maintenance *const *nodes; /* its Maintenances, in the order of their nodes */
    size_t n;
    int64_t now; /* wall clock */
};

/* Appends the block: a heading with how far it is, what it waits for, then the nodes under way,
 * those first that wait for somebody's help; what has no room is counted. */
void rollout_tty_block(const struct rollout_picture *p, const struct screen *s, struct str *out);
/* Appends the line that stays for a node that is done, or was given up. */
void rollout_tty_done(const struct maintenance *m, const struct screen *s, struct str *out);

#endif
