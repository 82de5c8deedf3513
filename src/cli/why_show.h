/* An answer of engine/why.h as people read it, and as a document. */
#ifndef CLI_WHY_SHOW_H
#define CLI_WHY_SHOW_H

#include <stdint.h>

#include "base/str.h"
#include "cli/term.h"
#include "engine/why.h"

#define WHY_SCHEMA "slipway.why/1.0" /* docs/why.md */

/* A few lines of at most TEXT_WIDTH columns, the worst first. Commands that are longer are broken
 * with a backslash, so that they can still be pasted. `now` is the wall clock. */
void why_print(struct term *out, const struct why *why, const char *prog, int64_t now);
/* All of it, as an indented jsonw document. */
void why_json(struct str *out, const struct why *why);

#endif
