/* The envelope of objects in protobuf: four bytes of magic and a runtime.Unknown, read as
 * Kubernetes' own decoder reads it, and refused in its words (apimachinery's
 * runtime/serializer/protobuf; the messages of the code that gogo generates). */
#ifndef SIM_API_ENVELOPE_H
#define SIM_API_ENVELOPE_H

#include <stdbool.h>

#include "base/str.h"

struct envelope {
    struct view version, kind; /* of its TypeMeta; any bytes; empty when absent */
    struct view raw;           /* the message */
};

/* The views are of `body`. False when it is none: `why` gets the reason. */
bool envelope_read(struct view body, struct envelope *out, struct str *why);

#endif
