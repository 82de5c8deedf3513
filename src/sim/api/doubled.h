/* Keys that stand twice in one object of a JSON text. jansson keeps the last of them, as Go does;
 * the server tells the client all the same. */
#ifndef SIM_API_DOUBLED_H
#define SIM_API_DOUBLED_H

#include "sim/schema/schema.h"

/* Adds `duplicate field "metadata.name"` for each, in the order of the text, which must be valid
 * JSON. */
void doubled_fields(struct view text, struct schema_notes *notes);

#endif
