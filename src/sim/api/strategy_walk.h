/* Walking through an object while remembering where: the value of a member together with its path,
 * and complaints about it in the words of Kubernetes' field errors. For the files strategy_*.c.
 *
 * A `struct at` lives on the stack and refers to the one above it; the path becomes text only when
 * something is wrong. Nothing there is a value, too: getters of what is missing (or of another
 * type) give "", 0, false, as Go's zero values do. Objects are in canonical form (schema.h), so a
 * member that is there has the type that its kind says. */
#ifndef SIM_API_STRATEGY_WALK_H
#define SIM_API_STRATEGY_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "sim/api/field_error.h"
#include "sim/api/gotypes.h"
#include "sim/api/names.h"

struct at {
    const struct at *up;
    const char *key; /* NULL: an element of a list */
    size_t index;
    bool bracket; /* "[key]" instead of ".key" */
    const json_t *v;
};

/* Going down. at_root() is the whole object; its path is empty. */
struct at at_root(const json_t *object);
struct at at_child(const struct at *up, const char *key);
struct at at_index(const struct at *up, size_t i);
/* The member `key` of a map: "limits[cpu]". */
struct at at_key(const struct at *up, const char *key);
/* Another value there, or a place that has no value. */
struct at at_named(const struct at *up, const char *key, const json_t *v);

/* for (struct at item, ...): every element of a list. */
#define at_each(item, list)                                                                        \
    for (size_t i_##item = 0; i_##item < json_array_size((list)->v); i_##item++)                   \
        for (struct at item = at_index(list, i_##item), *once_##item = &(item); once_##item;       \
             once_##item = NULL)

/* Members. */
const json_t *at_get(const struct at *at, const char *key); /* NULL: not there */
const char *at_str(const struct at *at, const char *key);
int64_t at_int(const struct at *at, const char *key);
bool at_bool(const struct at *at, const char *key);
size_t at_len(const struct at *at, const char *key); /* of a list or map */
static inline bool at_has(const struct at *at, const char *key) {
    return at_get(at, key);
}

/* "spec.containers[0].name", and of a member of it ("" or NULL: of itself). */
void at_path(const struct at *at, const char *child, struct str *out);

/* Complaints about the member `child` of `at` (NULL: about `at` itself; "a.b" is possible). */
void bad_required(struct field_errors *e, const struct at *at, const char *child,
                  const char *detail);
void bad_forbidden(struct field_errors *e, const struct at *at, const char *child, const char *fmt,
                   ...) __attribute__((format(printf, 4, 5)));
void bad_string(struct field_errors *e, const struct at *at, const char *child, const char *value,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void bad_int(struct field_errors *e, const struct at *at, const char *child, int64_t value,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A value that Go prints as JSON: lists, maps, and strings with a type of their own. NULL is null.
 */
void bad_value(struct field_errors *e, const struct at *at, const char *child, const json_t *value,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A value of one of the server's inner types; `value` as in gotype_value(). */
void bad_struct(struct field_errors *e, const struct at *at, const char *child,
                const struct gotype *type, const json_t *value, const json_t *up, const char *fmt,
                ...) __attribute__((format(printf, 7, 8)));
/* No value is shown: field.OmitValueType. */
void bad_omitted(struct field_errors *e, const struct at *at, const char *child,
                 const char *detail);
/* `allowed` ends with NULL and is printed in its order. */
void bad_unsupported(struct field_errors *e, const struct at *at, const char *child,
                     const json_t *value, const char *const *allowed);
void bad_duplicate(struct field_errors *e, const struct at *at, const char *child,
                   const char *value);
void bad_not_found(struct field_errors *e, const struct at *at, const char *child,
                   const char *value);
void bad_too_long(struct field_errors *e, const struct at *at, const char *child, size_t max);
void bad_too_many(struct field_errors *e, const struct at *at, const char *child, size_t n,
                  size_t max);

/* Common rules; they look at the member `child` of `at`. */

/* Every problem that the rule finds. */
void check_name(struct field_errors *e, const struct at *at, const char *child, const char *value,
                name_rule *rule);
void check_not_negative(struct field_errors *e, const struct at *at, const char *child);
/* A string (missing: "") that must be one of a list. */
void check_one_of(struct field_errors *e, const struct at *at, const char *child,
                  const char *const *allowed);
/* The same where "" has a complaint of its own: required. */
void check_enum(struct field_errors *e, const struct at *at, const char *child,
                const char *const *allowed);
bool is_one_of(const char *value, const char *const *allowed);
/* The same value was asked for with the same `set` before, which is an object that begins empty. */
bool seen_before(json_t *set, const json_t *value);

/* A number not below 0, or a percentage. */
void check_int_or_percent(struct field_errors *e, const struct at *at);
void check_at_most_100_percent(struct field_errors *e, const struct at *at);
/* The number in one, without the percent sign. */
int64_t int_or_percent(const json_t *v);

/* Equal as Kubernetes sees it: quantities by what they are worth ("1Gi" and "1073741824"), nothing
 * and an empty list alike. An empty object is something: `emptyDir: {}`. */
bool same_value(const json_t *a, const json_t *b);
/* Complains `field is immutable` about the new value. */
void check_immutable(struct field_errors *e, const struct at *at, const json_t *old,
                     const struct gotype *type);

/* Changing objects. */
json_t *object_at(json_t *parent, const char *key); /* made if it is not there */
json_t *array_at(json_t *parent, const char *key);
void set_string(json_t *obj, const char *key, const char *value);
void set_int(json_t *obj, const char *key, int64_t value);
void set_bool(json_t *obj, const char *key, bool value);
/* Only if it is not there. */
void default_string(json_t *obj, const char *key, const char *value);
void default_int(json_t *obj, const char *key, int64_t value);
void default_bool(json_t *obj, const char *key, bool value);
/* Takes the member over from another object; removes it if it is not there. */
void copy_member(json_t *to, const json_t *from, const char *key);
/* The number in a quantity's text, in thousandths; 0 when there is none. */
int64_t quantity_of(const json_t *text);

#endif
