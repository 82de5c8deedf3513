/* Patterns: Go's regular expressions, which is how the real server reads a schema's `pattern`.
 *
 * All of Go's syntax is understood, and what Go refuses is refused with its words ("error parsing
 * regexp: missing closing ): `(a`"), so that a definition is accepted here if and only if a real
 * server accepts it. Whether something matches does not depend on who is greedy; captures are
 * therefore parsed and forgotten.
 *
 * Patterns and texts come from outside. Matching follows all alternatives at once: its time is at
 * most pattern times text, its memory that of the pattern. (That is why it is written here. Go's
 * syntax had to be parsed anyhow to tell what is valid; libc's regexec() keeps every set of states
 * it has been in, 410 MB for ^(a|b)*a(a|b){800}c$ and 20 KB of a and b; PCRE backtracks, and
 * a limit on that would make verdicts depend on it.)
 *
 * Two limits are ours: a pattern of more than PATTERN_MAX_SIZE instructions, with its repetitions
 * written out, is refused as "expression too large" (Go's own limit is 33 times that), and a match
 * that has not come to an end after PATTERN_MAX_STEPS is given up: about a second. */
#ifndef SIM_API_STRUCTURAL_PATTERN_H
#define SIM_API_STRUCTURAL_PATTERN_H

#include "base/err.h"
#include "base/str.h"

#define PATTERN_MAX_SIZE  100000
#define PATTERN_MAX_STEPS 100000000

struct pattern;

/* -EINVAL with Go's message. */
int pattern_compile(const char *text, struct pattern **out, struct err *err);
/* Does any part of the text match? 1, 0, or -E2BIG when it was given up. */
int pattern_match(const struct pattern *p, struct view text);
void pattern_free(struct pattern *p);

#endif
