/* Prints a JSON document, as jsonw wrote it, in one of the formats that are made from documents. */
#ifndef CLI_EMIT_H
#define CLI_EMIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "cli/output.h"

/* `json` is the text of an indented jsonw; a newline is added. output_is_document(f) must hold.
 *
 * Characters that would change how a terminal shows the rest (controls, direction overrides) are
 * escaped in JSON and YAML, where that changes nothing of the meaning. For the other formats
 * `printable` asks for it: set it for a terminal, clear it for a program that wants the bytes.
 *
 * custom-columns makes a line for each element of "items", or one for the document if there is no
 * such array. */
int emit_document(const char *json, size_t len, const struct output_format *f, bool no_headers,
                  bool printable, struct str *out, struct err *err);

/* Appends YAML in block style with the quoting that kubectl uses: a text is quoted where YAML 1.1
 * would read a bare one as something else. */
int emit_yaml(const json_t *value, struct str *out, struct err *err);

#endif
