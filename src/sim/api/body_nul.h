/* NUL in objects from outside. JSON and protobuf allow it in any text; names, keys and labels are C
 * strings here, and "a\0b" must not pass for "a".
 *
 * In keys, and in the texts of metadata (but of annotations, which may hold anything), kind and
 * apiVersion it is replaced by a control character that is forbidden in the same places, so that
 * the rules refuse it as they refuse NUL. What they say is mended when it is told. */
#ifndef SIM_API_BODY_NUL_H
#define SIM_API_BODY_NUL_H

#include <stdbool.h>

#include "base/json.h"

/* Whether there was any. */
bool body_nul_tame(json_t *obj);
/* In a message that quotes the stand-in as Go would: "\x01" becomes "\x00". */
void body_nul_mend(char *message);

#endif
