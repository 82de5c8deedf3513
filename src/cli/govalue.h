/* Values of flags as Go reads them for kubectl, and what it says about those that it cannot read:
 * scripts that look at the messages of kubectl find the same ones here. */
#ifndef CLI_GOVALUE_H
#define CLI_GOVALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Appends the text in double quotes, as %q prints it: quotes, backslashes and the control
 * characters that have a letter are escaped. Other control characters are left to the terminal's
 * own care (cli/term.h). */
void govalue_quote(struct str *out, const char *text);

/* strconv.ParseBool: 1, t, T, true, TRUE, True and their opposites. */
int govalue_bool(const char *text, bool *out, struct err *err);
/* strconv.ParseInt with base 0: decimal, 0x, 0o or 0, 0b, and underscores between digits. What is
 * not within `min` and `max` is out of range. */
int govalue_int(const char *text, int64_t min, int64_t max, int64_t *out, struct err *err);
/* time.ParseDuration, in microseconds; what is less than one of them is one, for 0 means something
 * else to most flags. With `bare` a number alone is a number of seconds. Negative ones are
 * refused, which kubectl does not. */
int govalue_duration(const char *text, bool bare, int64_t *usec, struct err *err);

#endif
