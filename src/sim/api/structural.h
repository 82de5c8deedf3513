/* The structural schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1), as the real server
 * applies them to custom resources. Pure, on jansson values.
 *
 * A schema is compiled once, when its definition is accepted; compiling is also what refuses bad
 * ones, with the server's field errors. What then happens to an object, in the server's order:
 *
 *     structural_prune()      on decoding: drops what the schema does not know (and says so), and
 *                             nulls where there may be none and no default replaces them
 *     structural_coerce()     on decoding: the metadata of resources embedded in it
 *     structural_default()    on decoding: fills in defaults
 *     structural_validate...  before storing: every rule of the schema
 *
 * crd.h does all of it in order for a whole request; this is the part that knows schemas.
 *
 * Not evaluated are CEL rules (x-kubernetes-validations): they are checked for their form and kept,
 * no expression is compiled or run. Everything else of apiextensions 1.36 is done, ratcheting
 * included (what was wrong before an update and is unchanged by it does not refuse the update).
 *
 * Schemas come as schema_canonical() gives them: without nulls and without empty lists, members of
 * the right types. Members of a wrong type count as absent. Depth is bounded by the parser's (2048
 * levels): functions here recurse with schema and value.
 *
 * Limits of ours: at most STRUCTURAL_MAX_ERRORS errors are reported for one object (the real server
 * has no limit), and those of structural_pattern.h. */
#ifndef SIM_API_STRUCTURAL_H
#define SIM_API_STRUCTURAL_H

#include <stdbool.h>

#include "base/json.h"
#include "sim/api/field_error.h"
#include "sim/schema/schema.h"

#define STRUCTURAL_MAX_ERRORS 1000

struct structural;

/* --- schemas --- */

/* `schema` is an openAPIV3Schema, `path` where it stands ("spec.validation.openAPIV3Schema"), which
 * the errors begin with. With the status subresource only some keywords may stand at the root. NULL
 * when errors were added. */
struct structural *structural_compile(const json_t *schema, const char *path, bool has_status,
                                      struct field_errors *e);
void structural_free(struct structural *s);

/* The formats in a schema that mean nothing to the server, in the order it comes upon them: each is
 * a warning `unrecognized format "x"` to whoever writes the definition. The strings are the
 * schema's. */
struct structural_formats {
    VEC(const char *) v;
};
void structural_unknown_formats(const json_t *schema, struct structural_formats *out);

/* What a path of plain names (".spec.replicas") leads to in the schema, for selectableFields. 0, or
 * -EINVAL with the server's words ("does not refer to a valid field"). `type` gets the type there
 * ("string"; "" for none), `name` the path as the server writes it; the caller frees that. With
 * `brackets` also ['name'] is understood (fieldPath of CEL rules). */
int structural_find(const struct structural *s, const char *path, bool brackets, const char **type,
                    char **name, struct err *err);

/* --- objects: on decoding --- */

/* Removes unknown fields and useless nulls, in place. apiVersion, kind and metadata at the root
 * stay. `notes` (may be NULL) gets `unknown field "spec.foo"`, sorted by path. */
void structural_prune(const struct structural *s, json_t *obj, struct schema_notes *notes);
/* Brings the metadata of embedded resources (x-kubernetes-embedded-resource) into canonical form,
 * in place; not the root's. 0, or -EINVAL with the text that the server answers 400 with. */
int structural_coerce(const struct structural *s, json_t *obj, struct schema_notes *notes,
                      struct err *err);
/* Fills in defaults, in place, also where a null stands that may not. */
void structural_default(const struct structural *s, json_t *obj);

/* --- objects: before storing --- */

/* What the schema's keywords say of the object; `old` is what it replaces (NULL on creation), to
 * ratchet by. Field paths begin at the object's root. */
void structural_validate(const struct structural *s, const json_t *obj, const json_t *old,
                         struct field_errors *e);
/* The same when only the status is written. */
void structural_validate_status(const struct structural *s, const json_t *obj, const json_t *old,
                                struct field_errors *e);
/* apiVersion, kind and metadata of embedded resources. */
void structural_validate_embedded(const struct structural *s, const json_t *obj,
                                  struct field_errors *e);
/* Lists that are sets or maps must have nothing twice, unless they had before. */
void structural_validate_lists(const struct structural *s, const json_t *obj, const json_t *old,
                               struct field_errors *e);
/* Where the schema has CEL rules and there are errors of the graver kinds, from the given one on,
 * one more says that the rules were not run. It comes last. */
void structural_note_rules(const struct structural *s, size_t from, struct field_errors *e);

#endif
