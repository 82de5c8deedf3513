/* What a drain that was killed may have left behind (engine/survey_sum.h), in words and with the
 * command that removes it: for `status` and `doctor`. */
#ifndef CLI_LEFT_BEHIND_H
#define CLI_LEFT_BEHIND_H

#include "base/str.h"
#include "engine/survey_sum.h"

/* "w[2-3]: the mark slipway.dev/next is on them, though nothing is being drained": without full
 * stop. */
void left_text(const struct survey_sum_left *l, int64_t now, struct str *out);
/* "slipway uncordon 'w[2-3]'": to be run only by who knows that the drain is over. */
void left_command(const struct survey_sum_left *l, const char *prog, struct str *out);
/* "mark", "drain": for documents. */
const char *left_word(const struct survey_sum_left *l);

#endif
