/* Base64 with the standard alphabet and padding (RFC 4648 section 4). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Appends the encoding of `len` bytes to `out`. */
void base64_encode(struct str *out, const void *bytes, size_t len);

/* Decodes into a new buffer with a NUL after its last byte (not counted in `len`). As Go, and
 * therefore every Kubernetes client, does: line breaks are skipped, padding is required, other
 * characters are errors, the unused bits of the last letter are ignored. On failure returns false
 * and leaves no decoded byte behind in memory, since these are often keys. */
bool base64_decode(const char *text, size_t text_len, char **out, size_t *len);

#endif
