/* The OpenAPI v2 document of what the simulator serves, as far as kubectl reads it: the definitions
 * of all types, by which it checks the objects in a List before it sends any of them. There are no
 * paths in it; whoever asks for operations has /openapi/v3.
 *
 * It is made from the documents of version 3, with the differences that the real server makes:
 * references go to definitions, defaults and junctors (allOf, oneOf, ...) are left out, quantities
 * are strings, and what may hold unknown fields has no type. */
#ifndef SIM_API_OPENAPI_V2_H
#define SIM_API_OPENAPI_V2_H

#include "sim/schema/openapi.h"

/* The media type of an answer, or NULL when none of those accepted is known. */
const char *openapi_v2_negotiate(const char *accept);
/* Appends the document in a form that openapi_v2_negotiate() returned: JSON, or protobuf (gnostic's
 * openapi.v2.Document). */
void openapi_v2_document(const struct openapi_resource *resources, size_t n, const char *type,
                         struct str *out);

#endif
