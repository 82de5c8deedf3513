/* Records that two releases share (slots, cordons): members that this one does not know were
 * written by a newer one of the same version, and are written again as they were. What a newer
 * release means differently has a newer version, and its records are left alone. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include <jansson.h>

#include "base/arena.h"
#include "base/jsonw.h"

/* The members of the object that are not among the known ones (NULL ends them), as a JSON object;
 * NULL: there are none. */
const char *record_rest(const json_t *obj, const char *const *known, struct arena *arena);
/* Adds them to the object that is being written; nothing when `rest` is NULL. */
void record_write_rest(struct jsonw *w, const char *rest);

#endif
