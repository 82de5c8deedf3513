/* The fields of an object's metadata that belong to the server, for objects whose kind has no
 * strategy of its own (sim/api/strategy.h does the same for those that have): custom resources and
 * their definitions. */
#ifndef SIM_API_SYSTEM_FIELDS_H
#define SIM_API_SYSTEM_FIELDS_H

#include "sim/api/api_internal.h"

/* uid, creation time, a generated name; a deletion that the client made up is dropped. */
void system_fields_create(struct world *w, json_t *obj);
/* What may be left out is filled in from `old`; a deletion can be neither undone nor moved. 409
 * when the resourceVersion is another one, 422 when there is none and `unconditional` is false. */
int system_fields_update(const struct resource *res, json_t *obj, const json_t *old,
                         bool unconditional, struct failure *f);

#endif
