/* Inside: the schemas of an OpenAPI document ("components"). */
#ifndef SIM_SCHEMA_OPENAPI_SCHEMA_H
#define SIM_SCHEMA_OPENAPI_SCHEMA_H

#include "base/jsonw.h"
#include "sim/schema/openapi.h"

/* The name of a resource's type, and of the list of it. A heap string. */
char *openapi_type_name(const struct openapi_resource *r);
char *openapi_list_name(const struct openapi_resource *r);
/* {"group":...,"version":...,"kind":...} */
void openapi_gvk(struct jsonw *w, const char *group, const char *version, const char *kind);
/* {"$ref":"#/components/schemas/<name>"} */
void openapi_ref(struct jsonw *w, const char *name);
/* The object of all schemas that the resources lead to; all are of one group and version. */
void openapi_schemas(struct jsonw *w, const struct openapi_resource *const *resources, size_t n);

#endif
