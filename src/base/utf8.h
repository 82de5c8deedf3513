/* UTF-8: what is valid, how wide it is, and how to show foreign text safely on a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length of the valid sequence at s (1 to 4), or 0: overlong forms, surrogates and values past
 * U+10FFFF are not valid. */
size_t utf8_len(const char *s, size_t n);
bool utf8_valid(const char *s, size_t n);
/* The same with invalid bytes and NULs replaced by U+FFFD. */
void utf8_clean(struct str *out, const char *s, size_t n);
/* Columns that `s` takes on a terminal; control and combining characters count 0. */
size_t utf8_width(const char *s);
/* The character of a valid sequence; `len` is what utf8_len() said. */
uint32_t utf8_decode(const char *s, size_t len);
/* Must a terminal not get this character? Those are the control characters (C1 too: one of them
 * begins escape sequences), the marks and overrides of direction, the line separators, the BOM. */
bool utf8_unsafe(uint32_t c);
/* Appends `s` for a terminal or a log line: what is unsafe or not UTF-8 is shown as \xNN or
 * \u{...}, never sent. Newlines become `\n` in two characters. */
void utf8_printable(struct str *out, const char *s);

#endif
