/* The text of a JSON value as Kubernetes' servers write it: compact, keys in the value's order,
 * Go's escapes (also of <, > and &, as Go does for the sake of web pages) and Go's doubles: the
 * shortest digits that read the same. jansson's own writer has neither of the last two, and is
 * slower. */
#ifndef SIM_SCHEMA_TEXT_H
#define SIM_SCHEMA_TEXT_H

#include "base/json.h"
#include "base/str.h"

/* Appends the value. */
void text_value(const json_t *v, struct str *out);
/* Appends a string with its quotes. What is not UTF-8 becomes U+FFFD. */
void text_string(const char *s, size_t len, struct str *out);
/* Appends a finite number as Go prints a float64. */
void text_double(double v, struct str *out);

#endif
