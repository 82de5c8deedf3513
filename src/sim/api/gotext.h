/* Values as Go's encoding/json prints them: Kubernetes' messages quote what they complain about so,
 * unless it is a plain string (schema/goquote.h).
 *
 * Objects are printed in the order in which they stand in the value. Go prints structs in the order
 * of their fields and maps by key: canonical objects (schema.h) stand so already. */
#ifndef SIM_API_GOTEXT_H
#define SIM_API_GOTEXT_H

#include "base/json.h"
#include "base/str.h"

/* Marshal(); NULL is null. In strings <, > and & are escaped. */
void go_json(struct str *out, const json_t *value);
/* MarshalIndent() with one blank a level. */
void go_json_pretty(struct str *out, const json_t *value);

/* The same members by key, as Go prints a map: a new object. */
json_t *go_sorted(const json_t *map);

#endif
