/* Inside: the generated table (schema_data.c). */
#ifndef SIM_SCHEMA_SCHEMA_TABLE_H
#define SIM_SCHEMA_SCHEMA_TABLE_H

#include "sim/schema/schema.h"

struct schema_root {
    const char *kind, *group, *version;
    const struct schema *schema;
};

extern const struct schema schema_all[];
extern const size_t schema_n_all;
/* By kind, then by group. */
extern const struct schema_root schema_roots[];
extern const size_t schema_n_roots;

/* Where a key of an object belongs. */
struct schema_place {
    size_t at;                /* among all keys of the object */
    const struct schema *via; /* the inlined object that has it, or NULL; these nest no deeper */
};

/* schema_field() with the place. */
const struct schema_field *schema_locate(const struct schema *s, const char *key, size_t len,
                                         struct schema_place *place);

#endif
