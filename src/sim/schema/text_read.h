/* Reads JSON as Kubernetes' servers read it, from a text to a value: Go's complaints about what is
 * no JSON, numbers that are integers as long as they look like it and fit, bad UTF-8 and halves of
 * surrogate pairs as U+FFFD, NULs kept. Three times as fast as jansson's own reader.
 *
 * Everything is bounded: depth (TEXT_DEPTH; the server has 10,000), and the number of lists and
 * objects (TEXT_MOST_PARTS), since two bytes of text can make hundreds of memory. */
#ifndef SIM_SCHEMA_TEXT_READ_H
#define SIM_SCHEMA_TEXT_READ_H

#include "base/err.h"
#include "base/json.h"
#include "sim/schema/schema.h"

enum { TEXT_DEPTH = 1000, TEXT_MOST_PARTS = 250000 };

/* The value that is the whole text. Of members that come twice the last one counts, and `notes`
 * (may be NULL) gets `duplicate field "spec.replicas"`, as the server's strict decoders word it;
 * theirs does not look into fields that it does not know. -EINVAL with Go's error. */
int text_read(struct view text, struct schema_notes *notes, json_t **out, struct err *err);

#endif
