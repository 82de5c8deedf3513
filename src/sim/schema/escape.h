/* The escapes of JSON strings, undone. */
#ifndef SIM_SCHEMA_ESCAPE_H
#define SIM_SCHEMA_ESCAPE_H

#include <stdbool.h>

#include "base/str.h"

/* Appends what stands for the bytes between two quotes: escapes are undone, halves of surrogate
 * pairs and bytes that are not UTF-8 become U+FFFD. Never longer than three times the input. False
 * when there is an escape that is none; then what was appended is worth nothing. */
bool escape_undo(struct str *out, struct view v);

#endif
