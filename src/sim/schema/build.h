/* Inside: objects in canonical form out of the values of their fields. Both decoders end here.
 *
 * A field's value is NULL when Go would have its type's zero value: nothing came, or a null, or
 * what an empty value is for a type without a pointer. */
#ifndef SIM_SCHEMA_BUILD_H
#define SIM_SCHEMA_BUILD_H

#include "sim/schema/schema.h"

/* Deeper ones are refused. Only JSON schemas (in CustomResourceDefinitions) are recursive, and the
 * deepest others have 12 levels. */
enum { SCHEMA_DEPTH = 200 };
enum { SCHEMA_MOST_KEYS = 250 };
/* Of all lists and maps of an object together: two bytes can say an element that takes a thousand
 * here. A server's objects have 1.5 MiB at most. */
enum { SCHEMA_MOST_ELEMENTS = 100000 };
#define SCHEMA_TOO_MUCH "more list elements than any object has"

/* Takes the values over: `s->n_flat` of them, by their place. NULL: all are. */
json_t *build_object(const struct schema *s, json_t **values);
void build_drop(const struct schema *s, json_t **values);
/* What stands for the zero value of an element of a list or map, or of a field without pointer. */
json_t *build_zero(const struct schema_field *f);
/* The same value with its keys sorted as Go sorts a map's. Takes the reference over. */
json_t *build_sorted(json_t *map);

#endif
