/* A drain on a terminal: the block of lines that is drawn again and again, and the lines that stay
 * above it. Pure: a state, a width and a time make text; cli/drain_view.h brings it to the screen.
 *
 * No line is wider than the screen less one column (some terminals go to the next line by
 * themselves after the last one), and the block leaves four rows free. Only the styles of
 * cli/term.h are used, and each line reads as well without them. */
#ifndef CLI_DRAIN_TTY_H
#define CLI_DRAIN_TTY_H

#include "base/log.h"
#include "base/str.h"
#include "cli/drain_line.h"
#include "cli/eta.h"
#include "engine/drain.h"

struct drain_picture {
    const struct drain_node *const *nodes; /* NULL: not known yet */
    size_t n;
    int64_t now, started; /* wall clock */
    const struct eta *eta;
    bool stopping; /* nothing more is begun */
    bool dry_run;
};

/* Appends the block: a heading, then nodes, the worst first: failed, blocked, at work; the others
 * are counted. Returns the number of lines, each of which ends with a newline. */
size_t drain_tty_block(const struct drain_picture *p, const struct screen *s, struct str *out);
/* Appends the line that stays for nodes that are done. */
void drain_tty_done(const struct drain_node *const *nodes, size_t n, const struct screen *s,
                    struct str *out);
/* Appends the line that stays for a note; what the block shows anyway makes none. */
void drain_tty_note(const struct drain_note *note, bool verbose, const struct screen *s,
                    struct str *out);
/* Appends a sentence that stays. `node` may be NULL. */
void drain_tty_remark(enum log_level level, const char *node, const char *text,
                      const struct screen *s, struct str *out);

#endif
