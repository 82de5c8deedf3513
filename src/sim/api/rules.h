/* What happens to an object between decoding and storing: built-in kinds go by sim/api/strategy.h,
 * custom ones by their definition. */
#ifndef SIM_API_RULES_H
#define SIM_API_RULES_H

#include "sim/api/api_internal.h"

/* From a client's value to the form it is worked on in: types checked, unknown fields dropped and
 * noted, defaults set; kind, apiVersion and metadata first. The failure is the server's 400 (or 422
 * for custom resources). */
int rules_decode(struct api *a, const struct resource *res, const json_t *raw, json_t **out,
                 struct schema_notes *notes, struct failure *f);

/* Makes of a decoded object what is stored: admission, system fields, a generated name, validation.
 * *obj may be replaced. `sub` is NULL, or "status" when a write of that creates it. */
int rules_create(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                 struct failure *f);
/* The same for a new version of `old`; `sub` is NULL or the subresource that is written. */
int rules_update(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                 const json_t *old, struct failure *f);

/* Whether an object of a built-in kind that is stored as it is could be written as it is. */
int rules_check(struct api *a, const struct resource *res, const char *sub, const json_t *obj,
                struct failure *f);

/* Adds the labels that a pod gets from this node (which there may not be) to `labels`. */
void rules_topology_labels(struct api *a, const char *node, json_t *labels);

bool rules_create_on_update(const struct resource *res);
/* Whether a deletion that says nothing about dependents leaves them alone. */
bool rules_orphans(const struct resource *res);
/* Owner references and propagation mean something: not for events. */
bool rules_collects_garbage(const struct resource *res);
/* DELETE answers with the object, not with a Status. */
bool rules_return_deleted(const struct resource *res);

#endif
