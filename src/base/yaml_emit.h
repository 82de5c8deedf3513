/* Writes a jansson value as YAML in block style, with the quoting that kubectl uses: a text is
 * quoted where YAML 1.1 would read a bare one as something else. */
#ifndef BASE_YAML_EMIT_H
#define BASE_YAML_EMIT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* Appends it. With `ascii` everything else is escaped. */
int yaml_emit(const json_t *value, bool ascii, struct str *out, struct err *err);

#endif
