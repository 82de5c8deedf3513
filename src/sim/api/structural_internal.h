/* What a compiled schema is made of: between the files structural*.c. */
#ifndef SIM_API_STRUCTURAL_INTERNAL_H
#define SIM_API_STRUCTURAL_INTERNAL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "sim/api/field_error.h"
#include "sim/api/structural.h"
#include "sim/api/structural_pattern.h"
#include "sim/api/structural_runes.h"

/* --- paths --- */

/* Where something stands, in a schema or an object: links on the C stack, written out only when
 * there is an error. NULL is nowhere, which Go prints as <nil>. */
struct spath {
    const struct spath *up;
    enum { SPATH_NAME, SPATH_KEY, SPATH_INDEX } kind; /* ".name", "[name]", "[7]" */
    const char *name;
    size_t index;
};

#define SPATH_CHILD(up, name) (&(struct spath){(up), SPATH_NAME, (name), 0})
#define SPATH_KEYED(up, name) (&(struct spath){(up), SPATH_KEY, (name), 0})
#define SPATH_AT(up, index)   (&(struct spath){(up), SPATH_INDEX, NULL, (index)})

/* As apimachinery's field.Path prints it. */
void spath_print(struct str *out, const struct spath *path);
/* A field error there. */
void spath_error(struct field_errors *e, enum field_error_type type, const struct spath *path,
                 const json_t *value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void spath_error_shown(struct field_errors *e, enum field_error_type type, const struct spath *path,
                       const char *shown, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A value as field errors show it: as field_error() does, but the keys of maps in order, and
 * numbers as fmt's %v prints them. Appended. */
void structural_show(struct str *out, const json_t *value);
/* The same as encoding/json prints it. */
void structural_show_json(struct str *out, const json_t *value);
/* A copy whose objects have their keys in order: Go prints maps so. */
json_t *structural_sorted(const json_t *value);
/* A float as fmt's %v prints it ("1e+06"). */
void structural_float(struct str *out, double v);

/* --- nodes --- */

enum stype {
    STYPE_OBJECT = 1,
    STYPE_ARRAY = 2,
    STYPE_STRING = 4,
    STYPE_INTEGER = 8,
    STYPE_NUMBER = 16,
    STYPE_BOOLEAN = 32,
    STYPE_OTHER = 64, /* a name that is none of these: no value is of that type */
};

struct snode;

struct sproperty {
    const char *name;
    struct snode *node;
};

struct snodes {
    struct snode **p;
    size_t len;
};

struct slimit {
    bool set;
    int64_t value;
};

struct sbound {
    bool set, exclusive;
    double value;
};

/* A schema, or one of the clauses of allOf, anyOf, oneOf and not. */
struct snode {
    const json_t *json; /* what it was made of */
    /* what the value is made of */
    const char *type; /* as it was written; "" for none */
    bool nullable, preserves, embedded, int_or_string;
    struct snode *items;
    struct sproperty *properties; /* as in the schema */
    struct sproperty **by_name;   /* sorted */
    size_t n_properties;
    bool has_additional, allows_additional; /* additionalProperties, and whether it is not false */
    struct snode *additional;               /* NULL when it is true or false */
    const json_t *fallback;                 /* the default, or NULL */
    const char *list_type, *map_type;       /* NULL for none */
    const json_t *map_keys;                 /* NULL for none */
    bool has_rules;                         /* here, not further in */
    /* what is allowed */
    unsigned types;     /* of values: enum stype; 0 for any */
    const char *format; /* NULL for none, or for one that means nothing for this type */
    const char *raw_format;
    struct sbound maximum, minimum, multiple_of;
    struct slimit max_length, min_length, max_items, min_items, max_properties, min_properties;
    const char *pattern; /* NULL for none */
    struct pattern *matcher;
    const json_t *choices, *required; /* enum; NULL for none */
    struct snodes all_of, any_of, one_of;
    struct snode *not_of;
};

struct structural {
    struct arena arena;
    json_t *schema; /* ours */
    struct snode *root;
    bool has_rules;
    VEC(struct pattern *) patterns;
};

/* Members of a schema; NULL (or false) also for the empty values that Go's omitempty leaves out. */
const char *kw_text(const json_t *schema, const char *key);
const json_t *kw_list(const json_t *schema, const char *key);
const json_t *kw_map(const json_t *schema, const char *key);
bool kw_flag(const json_t *schema, const char *key);
/* Members that matter also when they are empty; NULL when absent or null. */
const json_t *kw_value(const json_t *schema, const char *key);
/* The schema of `items` when it is one, or NULL. */
const json_t *kw_items(const json_t *schema);

enum stype stype_of(const char *name);
/* "integer,string" of a set of types. */
const char *stype_names(unsigned set);
const struct snode *snode_property(const struct snode *n, const char *name);
/* The node for a member: its own, or that of additionalProperties, or NULL. */
const struct snode *snode_member(const struct snode *n, const char *name);

/* --- the parts of compiling --- */

/* Unchecked. On a keyword that structural schemas cannot have: NULL and its words. */
struct structural *structural_build(const json_t *schema, struct err *err);
/* structural_check.c: is it structural? Patterns are compiled on the way. */
void structural_check(struct structural *s, const struct spath *path, struct field_errors *e);
/* structural_openapi.c: what the API's validation says of it, whether or not it is structural. */
void structural_check_openapi(const json_t *schema, const struct spath *path,
                              struct field_errors *e);
/* structural_defaults.c: are the defaults good values? Metadata in them are brought into canonical
 * form in any case; without `judge` that is all. */
void structural_check_defaults(struct structural *s, bool judge, const struct spath *path,
                               struct field_errors *e);
/* structural_compile() of a schema that was judged when it came in: its defaults are not judged
 * again. (The server does not either, and a float that was stored as an integer might not pass.) */
struct structural *structural_compile_stored(const json_t *schema, const char *path,
                                             bool has_status, struct field_errors *e);
/* structural_dump.c: a schema as Go prints its internal type. */
void structural_dump(struct str *out, const json_t *schema);
/* The same for the value of `items`, a schema or a list of them. */
void structural_dump_items(struct str *out, const json_t *items);

/* --- the parts of looking at an object --- */

/* structural_validate.c: a default's value, which the server judges a little differently. Errors
 * stand under `path`. */
void snode_validate_default(const struct snode *n, const json_t *value, const struct spath *path,
                            struct field_errors *e);
/* structural_prune.c: unknown fields, not nulls; with `root` the value is a resource. */
void snode_prune(const struct snode *n, bool root, json_t *value, struct schema_notes *notes);
/* structural_meta.c: metadata in canonical form, a new value; unknown fields are noted below `path`
 * (which ends in metadata). */
int structural_meta(const json_t *metadata, const struct spath *path, json_t **out,
                    struct schema_notes *notes, struct err *err);
/* Metadata of embedded resources; with `root`, the value's own too. */
int snode_coerce(const struct snode *n, json_t *value, bool root, const struct spath *path,
                 struct schema_notes *notes, struct field_errors *e);
void snode_check_meta(const struct snode *n, const json_t *value, bool root,
                      const struct spath *path, struct field_errors *e);
/* structural_list.c: lists that are sets or maps. */
void snode_check_lists(const struct snode *n, const json_t *value, const struct spath *path,
                       struct field_errors *e);
/* structural_format.c */
/* Does the server know the format for texts? By itself, and for a value of this type ("" for any).
 */
bool format_known(const char *format);
bool format_useful(const char *type, const char *format);
bool format_matches(const char *format, const char *text, size_t len);
/* structural_time.c */
bool format_date(struct view text);
bool format_datetime(struct view text);
bool format_duration(struct view text);

#endif
