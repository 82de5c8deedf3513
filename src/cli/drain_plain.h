/* A drain in plain lines, for logs: time (RFC 3339, UTC), level, node, phase, text, a blank between
 * them and "-" for a node or phase that there is none of.
 *
 *     2026-11-15T08:00:09Z warn w[1-3] draining waits: PDBNoBudget web/frontend: needs 3 ...
 *
 * One line for each change. What blocks is told when it has lasted a second, once for all nodes
 * that it holds up, and again after 1, 5, 15, 30, 60 minutes and then every hour. Every ten minutes
 * a line says how far it is: some who run programs end those that are silent. Pure: text is
 * appended to what the caller hands over. */
#ifndef CLI_DRAIN_PLAIN_H
#define CLI_DRAIN_PLAIN_H

#include "base/htab.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/eta.h"
#include "engine/drain.h"

struct drain_plain {
    bool verbose;
    int64_t started, beat; /* wall clock; of the next sign of life */
    struct htab told;      /* blockers, as they were told last */
    unsigned round;
};

void drain_plain_init(struct drain_plain *p, bool verbose, int64_t now);
void drain_plain_done(struct drain_plain *p);

void drain_plain_note(struct drain_plain *p, const struct drain_note *note, struct str *out);
/* Any sentence. `node` may be NULL. */
void drain_plain_say(enum log_level level, const char *node, const char *phase, const char *text,
                     int64_t now, struct str *out);
/* What time brings: blockers that begin, last and end, and the sign of life. Called every second or
 * so; always with the same nodes. */
void drain_plain_tick(struct drain_plain *p, const struct drain_node *const *nodes, size_t n,
                      const struct eta *eta, int64_t now, struct str *out);

/* "3 of 40 draining, 11 done, 0 failed, 12m40s, about 1h20m left". */
void drain_headline(const struct drain_node *const *nodes, size_t n, const struct eta *eta,
                    int64_t now, int64_t started, struct str *out);

#endif
