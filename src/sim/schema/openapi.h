/* OpenAPI v3 documents of what the simulator serves, as far as kubectl reads them: which parameters
 * an operation knows (server-side validation and dry run depend on that), how patches merge, and
 * the fields and types that `kubectl explain` shows. Types, names, required fields, defaults and
 * patch rules are those of the real server's documents; descriptions, and what only server-side
 * apply reads, are left out.
 *
 * A client gets the index from /openapi/v3 and a document from /openapi/v3/<path>, with a hash that
 * changes with its contents. */
#ifndef SIM_SCHEMA_OPENAPI_H
#define SIM_SCHEMA_OPENAPI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

enum openapi_verbs {
    OPENAPI_GET = 1,
    OPENAPI_LIST = 2,
    OPENAPI_CREATE = 4,
    OPENAPI_UPDATE = 8,
    OPENAPI_PATCH = 16,
    OPENAPI_DELETE = 32,
    OPENAPI_DELETE_COLLECTION = 64,
    OPENAPI_ALL = 127,
};

struct openapi_resource {
    const char *group, *version, *kind, *plural;
    bool namespaced, has_status, has_scale;
    unsigned verbs;
    /* Of a custom resource: the openAPIV3Schema of its version, not NULL. A built-in kind that has
     * no schema (schema_find()) is an object of which nothing is known. */
    const json_t *custom;
};

/* Appends the index of all groups and versions among the resources. */
void openapi_index(const struct openapi_resource *resources, size_t n, struct str *out);
/* Appends the document of one group and version; resources of others are passed over. False, and
 * nothing is appended, when there is none of it. */
bool openapi_document(const char *group, const char *version,
                      const struct openapi_resource *resources, size_t n, struct str *out);

#endif
