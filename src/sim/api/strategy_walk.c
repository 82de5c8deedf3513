/* Paths, complaints and common rules. */
#include "sim/api/strategy_walk.h"

#include <inttypes.h>
#include <stdarg.h>

#include "model/quantity.h"
#include "sim/api/gotext.h"
#include "sim/schema/goquote.h"

/* --- going down --- */

struct at at_root(const json_t *object) {
    return (struct at){.v = object};
}

struct at at_child(const struct at *up, const char *key) {
    return (struct at){.up = up, .key = key, .v = at_get(up, key)};
}

struct at at_index(const struct at *up, size_t i) {
    return (struct at){.up = up, .index = i, .v = json_array_get(up->v, i)};
}

struct at at_key(const struct at *up, const char *key) {
    return (struct at){.up = up, .key = key, .bracket = true, .v = at_get(up, key)};
}

struct at at_named(const struct at *up, const char *key, const json_t *v) {
    return (struct at){.up = up, .key = key, .v = v};
}

const json_t *at_get(const struct at *at, const char *key) {
    const json_t *v = json_object_get(at->v, key);
    return json_is_null(v) ? NULL : v;
}

const char *at_str(const struct at *at, const char *key) {
    const char *s = json_string_value(at_get(at, key));
    return s ? s : "";
}

int64_t at_int(const struct at *at, const char *key) {
    return json_integer_value(at_get(at, key));
}

bool at_bool(const struct at *at, const char *key) {
    return json_is_true(at_get(at, key));
}

size_t at_len(const struct at *at, const char *key) {
    const json_t *v = at_get(at, key);
    return json_is_object(v) ? json_object_size(v) : json_array_size(v);
}

void at_path(const struct at *at, const char *child, struct str *out) {
    bool root = !at->up;
    if (at->up) {
        at_path(at->up, NULL, out);
        if (!at->key)
            str_addf(out, "[%zu]", at->index);
        else if (at->bracket)
            str_addf(out, "[%s]", at->key);
        else
            str_addf(out, "%s%s", at->up->up ? "." : "", at->key);
    }
    if (!str_empty(child))
        str_addf(out, "%s%s", root ? "" : ".", child);
}

/* --- complaints --- */

static void complain(struct field_errors *e, enum field_error_type type, const struct at *at,
                     const char *child, const char *shown, const char *fmt, va_list ap)
    __attribute__((format(printf, 6, 0)));

static void complain(struct field_errors *e, enum field_error_type type, const struct at *at,
                     const char *child, const char *shown, const char *fmt, va_list ap) {
    _cleanup_str_ struct str path = STR_INIT, detail = STR_INIT;
    at_path(at, child, &path);
    str_addvf(&detail, fmt, ap);
    field_error_shown(e, type, str_get(&path), shown, "%s", str_get(&detail));
}

static void complain_plain(struct field_errors *e, enum field_error_type type, const struct at *at,
                           const char *child, const char *shown, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

static void complain_plain(struct field_errors *e, enum field_error_type type, const struct at *at,
                           const char *child, const char *shown, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    complain(e, type, at, child, shown, fmt, ap);
    va_end(ap);
}

void bad_required(struct field_errors *e, const struct at *at, const char *child,
                  const char *detail) {
    complain_plain(e, FIELD_REQUIRED, at, child, NULL, "%s", detail);
}

void bad_forbidden(struct field_errors *e, const struct at *at, const char *child, const char *fmt,
                   ...) {
    va_list ap;
    va_start(ap, fmt);
    complain(e, FIELD_FORBIDDEN, at, child, NULL, fmt, ap);
    va_end(ap);
}

void bad_string(struct field_errors *e, const struct at *at, const char *child, const char *value,
                const char *fmt, ...) {
    _cleanup_str_ struct str shown = STR_INIT;
    goquote(&shown, value, strlen(value));
    va_list ap;
    va_start(ap, fmt);
    complain(e, FIELD_INVALID, at, child, str_get(&shown), fmt, ap);
    va_end(ap);
}

void bad_int(struct field_errors *e, const struct at *at, const char *child, int64_t value,
             const char *fmt, ...) {
    char shown[24];
    snprintf(shown, sizeof shown, "%" PRId64, value);
    va_list ap;
    va_start(ap, fmt);
    complain(e, FIELD_INVALID, at, child, shown, fmt, ap);
    va_end(ap);
}

void bad_value(struct field_errors *e, const struct at *at, const char *child, const json_t *value,
               const char *fmt, ...) {
    _cleanup_str_ struct str shown = STR_INIT;
    go_json(&shown, value);
    va_list ap;
    va_start(ap, fmt);
    complain(e, FIELD_INVALID, at, child, str_get(&shown), fmt, ap);
    va_end(ap);
}

void bad_struct(struct field_errors *e, const struct at *at, const char *child,
                const struct gotype *type, const json_t *value, const json_t *up, const char *fmt,
                ...) {
    _cleanup_str_ struct str shown = STR_INIT;
    _cleanup_json_ json_t *inner = value ? gotype_value(type, value, up) : json_null();
    go_json(&shown, inner);
    va_list ap;
    va_start(ap, fmt);
    complain(e, FIELD_INVALID, at, child, str_get(&shown), fmt, ap);
    va_end(ap);
}

void bad_omitted(struct field_errors *e, const struct at *at, const char *child,
                 const char *detail) {
    complain_plain(e, FIELD_INVALID, at, child, NULL, "%s", detail);
}

void bad_unsupported(struct field_errors *e, const struct at *at, const char *child,
                     const json_t *value, const char *const *allowed) {
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT;
    if (value)
        go_json(&shown, value);
    else
        str_add(&shown, "\"\"");
    for (size_t i = 0; allowed[i]; i++) {
        str_add(&list, i ? ", " : "supported values: ");
        goquote(&list, allowed[i], strlen(allowed[i]));
    }
    complain_plain(e, FIELD_NOT_SUPPORTED, at, child, str_get(&shown), "%s", str_get(&list));
}

void bad_duplicate(struct field_errors *e, const struct at *at, const char *child,
                   const char *value) {
    _cleanup_str_ struct str shown = STR_INIT;
    goquote(&shown, value, strlen(value));
    complain_plain(e, FIELD_DUPLICATE, at, child, str_get(&shown), "%s", "");
}

void bad_not_found(struct field_errors *e, const struct at *at, const char *child,
                   const char *value) {
    _cleanup_str_ struct str shown = STR_INIT;
    goquote(&shown, value, strlen(value));
    complain_plain(e, FIELD_NOT_FOUND, at, child, str_get(&shown), "%s", "");
}

void bad_too_long(struct field_errors *e, const struct at *at, const char *child, size_t max) {
    complain_plain(e, FIELD_TOO_LONG, at, child, NULL, "may not be more than %zu bytes", max);
}

void bad_too_many(struct field_errors *e, const struct at *at, const char *child, size_t n,
                  size_t max) {
    char shown[24];
    snprintf(shown, sizeof shown, "%zu", n);
    complain_plain(e, FIELD_TOO_MANY, at, child, shown, "must have at most %zu items", max);
}

/* --- rules --- */

void check_name(struct field_errors *e, const struct at *at, const char *child, const char *value,
                name_rule *rule) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    rule(value, &p);
    for (size_t i = 0; i < p.v.len; i++)
        bad_string(e, at, child, value, "%s", p.v.p[i]);
}

void check_not_negative(struct field_errors *e, const struct at *at, const char *child) {
    int64_t n = at_int(at, child);
    if (n < 0)
        bad_int(e, at, child, n, "must be greater than or equal to 0");
}

bool is_one_of(const char *value, const char *const *allowed) {
    for (size_t i = 0; allowed[i]; i++)
        if (streq(value, allowed[i]))
            return true;
    return false;
}

void check_one_of(struct field_errors *e, const struct at *at, const char *child,
                  const char *const *allowed) {
    if (!is_one_of(at_str(at, child), allowed))
        bad_unsupported(e, at, child, at_get(at, child), allowed);
}

void check_enum(struct field_errors *e, const struct at *at, const char *child,
                const char *const *allowed) {
    if (!*at_str(at, child))
        bad_required(e, at, child, "");
    else
        check_one_of(e, at, child, allowed);
}

int64_t int_or_percent(const json_t *v) {
    const char *text = json_string_value(v);
    if (!text)
        return json_integer_value(v);
    char *end;
    long long n = strtoll(text, &end, 10);
    return name_ok(name_percent, text) || !*end ? n : 0; /* strings that are no number count 0 */
}

void check_int_or_percent(struct field_errors *e, const struct at *at) {
    if (json_is_string(at->v))
        check_name(e, at, NULL, json_string_value(at->v), name_percent);
    else if (json_integer_value(at->v) < 0)
        bad_value(e, at, NULL, at->v, "must be greater than or equal to 0");
}

void check_at_most_100_percent(struct field_errors *e, const struct at *at) {
    const char *text = json_string_value(at->v);
    if (text && name_ok(name_percent, text) && int_or_percent(at->v) > 100)
        bad_string(e, at, NULL, text, "must not be greater than 100%%");
}

/* --- equality --- */

bool seen_before(json_t *set, const json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    bool seen = json_object_get(set, text);
    set_bool(set, text, true);
    free(text);
    return seen;
}

static bool is_empty(const json_t *v) {
    return !v || json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0);
}

/* Members whose strings (or whose members' strings) are quantities. */
static bool holds_quantities(const char *key) {
    static const char *const keys[] = {"requests", "limits",    "capacity", "allocatable",
                                       "overhead", "sizeLimit", "divisor",  "allocatedResources",
                                       NULL};
    return is_one_of(key, keys);
}

/* Canonical texts below thousandths, which we do not count, end in u or n: those are the same only
 * where they look the same. */
static bool same_quantity(const char *a, const char *b) {
    int64_t x, y;
    bool fine = str_ends(a, "u") || str_ends(a, "n") || str_ends(b, "u") || str_ends(b, "n");
    return !fine && quantity_parse(a, strlen(a), &x) && quantity_parse(b, strlen(b), &y) && x == y;
}

static bool same(const json_t *a, const json_t *b, bool quantities) {
    if (a == b)
        return true;
    if (is_empty(a) || is_empty(b)) {
        /* an empty object that is there may mean something (emptyDir: {}); only lists and maps that
         * are left out equal empty ones, and canonical form drops those */
        return is_empty(a) && is_empty(b) && json_is_object(a) == json_is_object(b);
    }
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_string(a))
        return streq(json_string_value(a), json_string_value(b)) ||
               (quantities && same_quantity(json_string_value(a), json_string_value(b)));
    if (json_is_array(a)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!same(json_array_get(a, i), json_array_get(b, i), false))
                return false;
        return true;
    }
    if (!json_is_object(a))
        return json_equal(a, b);
    if (json_object_size(a) != json_object_size(b))
        return false;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)a, key, member) {
        const json_t *other = json_object_get(b, key);
        if (!other || !same(member, other, quantities || holds_quantities(key)))
            return false;
    }
    return true;
}

bool same_value(const json_t *a, const json_t *b) {
    return same(a, b, false);
}

void check_immutable(struct field_errors *e, const struct at *at, const json_t *old,
                     const struct gotype *type) {
    if (same_value(at->v, old))
        return;
    if (type)
        bad_struct(e, at, NULL, type, at->v, NULL, "field is immutable");
    else
        bad_value(e, at, NULL, at->v, "field is immutable");
}

/* --- changing objects --- */

json_t *object_at(json_t *parent, const char *key) {
    json_t *o = json_object_get(parent, key);
    if (!json_is_object(o)) {
        o = json_object();
        json_object_set_new(parent, key, o);
    }
    return o;
}

json_t *array_at(json_t *parent, const char *key) {
    json_t *a = json_object_get(parent, key);
    if (!json_is_array(a)) {
        a = json_array();
        json_object_set_new(parent, key, a);
    }
    return a;
}

void set_string(json_t *obj, const char *key, const char *value) {
    json_object_set_new(obj, key, json_string(value));
}

void set_int(json_t *obj, const char *key, int64_t value) {
    json_object_set_new(obj, key, json_integer(value));
}

void set_bool(json_t *obj, const char *key, bool value) {
    json_object_set_new(obj, key, json_boolean(value));
}

static bool is_missing(const json_t *obj, const char *key) {
    const json_t *v = json_object_get(obj, key);
    return !v || json_is_null(v);
}

void default_string(json_t *obj, const char *key, const char *value) {
    const char *s = json_string_value(json_object_get(obj, key));
    if (str_empty(s))
        set_string(obj, key, value);
}

void default_int(json_t *obj, const char *key, int64_t value) {
    if (is_missing(obj, key))
        set_int(obj, key, value);
}

void default_bool(json_t *obj, const char *key, bool value) {
    if (is_missing(obj, key))
        set_bool(obj, key, value);
}

void copy_member(json_t *to, const json_t *from, const char *key) {
    const json_t *v = json_object_get(from, key);
    if (v)
        json_object_set_new(to, key, json_deep_copy(v));
    else
        json_object_del(to, key);
}

int64_t quantity_of(const json_t *text) {
    int64_t milli = 0;
    const char *s = json_string_value(text);
    if (s)
        quantity_parse(s, strlen(s), &milli);
    return milli;
}
