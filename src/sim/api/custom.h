/* Custom resources: definitions in force, and the rules for their objects. */
#ifndef SIM_API_CUSTOM_H
#define SIM_API_CUSTOM_H

#include "sim/api/api_internal.h"

/* Called when a CustomResourceDefinition has been created, changed or removed: serves its versions,
 * or stops to. */
void custom_changed(struct api *a, const struct change *change);
void custom_free(struct custom *c);
/* What the controllers of definitions would do in a moment, now. */
void custom_settle(struct api *a);

/* What a definition has cost so far: a change of one must cost the others nothing, or a cluster
 * with hundreds of them stands still. */
struct custom_work {
    uint64_t settled;  /* how often it was decoded, to see to its names and conditions */
    uint64_t checked;  /* how often its schemas were looked at for that */
    uint64_t compiled; /* how often they were compiled, to be served */
};
/* All 0 when there is no such definition. */
struct custom_work custom_work(const struct api *a, const char *name);

/* As sim/api/rules.h; the resource is a custom one. */
int custom_decode(const struct resource *res, const json_t *raw, json_t **out,
                  struct schema_notes *notes, struct failure *f);
int custom_create(struct api *a, const struct resource *res, json_t **obj, struct failure *f);
int custom_update(struct api *a, const struct resource *res, const char *sub, json_t **obj,
                  const json_t *old, struct failure *f);

/* The Scale of an object, and the object with another number. Where there is no number there is no
 * Scale but one to change, with a mark in it that custom_set_scale() refuses. */
int custom_scale(const struct resource *res, const json_t *obj, json_t **out, struct failure *f);
int custom_scale_to_change(const struct resource *res, const json_t *obj, json_t **out,
                           struct failure *f);
int custom_set_scale(const struct resource *res, json_t *obj, int64_t replicas, struct failure *f);

/* The definitions themselves: as sim/api/rules.h. */
int definition_decode(const struct resource *res, const json_t *raw, json_t **out,
                      struct schema_notes *notes, struct failure *f);
int definition_create(struct api *a, const struct resource *res, json_t *obj, struct failure *f);
int definition_update(struct api *a, const struct resource *res, const char *sub, json_t *obj,
                      const json_t *old, struct failure *f);
/* The first step of a definition's deletion: its objects must go before it. */
void definition_terminate(json_t *obj, int64_t now);

/* The openAPIV3Schema of its version. */
const json_t *custom_schema(const struct resource *res);
/* What users of a deprecated version are told, or NULL. */
const char *custom_deprecation(const struct resource *res);
/* The columns of its Table. */
struct api_table_kind;
const struct api_table_kind *custom_columns(const struct resource *res);
const struct api_table_kind *custom_scale_columns(const struct resource *res);

#endif
