/* field.Error of apimachinery: the words of a 422. */
#include "sim/api/field_error.h"

#include <stdarg.h>

#include "sim/api/gotext.h"
#include "sim/schema/goquote.h"

static const struct {
    const char *reason, *title;
    bool hides_value;
} types[] = {
    [FIELD_REQUIRED] = {"FieldValueRequired", "Required value", true},
    [FIELD_INVALID] = {"FieldValueInvalid", "Invalid value", false},
    [FIELD_TYPE_INVALID] = {"FieldValueTypeInvalid", "Invalid value", false},
    [FIELD_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value", false},
    [FIELD_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value", false},
    [FIELD_FORBIDDEN] = {"FieldValueForbidden", "Forbidden", true},
    [FIELD_TOO_LONG] = {"FieldValueTooLong", "Too long", true},
    [FIELD_TOO_MANY] = {"FieldValueTooMany", "Too many", false},
    [FIELD_NOT_FOUND] = {"FieldValueNotFound", "Not found", false},
    [FIELD_INTERNAL] = {"InternalError", "Internal error", true},
};

static void add(struct field_errors *e, enum field_error_type type, const char *field,
                const char *shown, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));

static void add(struct field_errors *e, enum field_error_type type, const char *field,
                const char *shown, const char *fmt, va_list ap) {
    struct str body = STR_INIT;
    str_add(&body, types[type].title);
    if (shown && !types[type].hides_value)
        str_addf(&body, ": %s", shown);
    size_t before = body.len;
    str_add(&body, ": ");
    size_t start = body.len;
    str_addvf(&body, fmt, ap);
    if (body.len == start) {
        body.p[before] = '\0';
        body.len = before;
    }
    *vec_push(&e->v) = (struct field_error){type, xstrdup(field), str_take(&body)};
}

void field_error(struct field_errors *e, enum field_error_type type, const char *field,
                 const json_t *value, const char *fmt, ...) {
    _cleanup_str_ struct str shown = STR_INIT;
    if (json_is_string(value))
        goquote(&shown, json_string_value(value), strlen(json_string_value(value)));
    else if (value)
        go_json(&shown, value);
    va_list ap;
    va_start(ap, fmt);
    add(e, type, field, value ? str_get(&shown) : NULL, fmt, ap);
    va_end(ap);
}

void field_error_shown(struct field_errors *e, enum field_error_type type, const char *field,
                       const char *shown, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(e, type, field, shown, fmt, ap);
    va_end(ap);
}

const char *field_error_reason(enum field_error_type type) {
    return types[type].reason;
}

static int same_text(const struct field_error *a, const struct field_error *b) {
    int c = strcmp(a->field, b->field);
    return c ? c : strcmp(a->body, b->body);
}

/* By their texts; of equal ones in the order of the list. */
static int by_text(const void *a, const void *b) {
    const struct field_error *const *x = a, *const *y = b;
    int c = same_text(*x, *y);
    return c ? c : (*x > *y) - (*x < *y);
}

/* Which of them repeat an earlier one. A request can be wrong in a hundred thousand ways: comparing
 * each with each would take minutes. */
static bool *find_repeated(const struct field_errors *e) {
    bool *repeated = xcalloc(e->v.len + 1, sizeof *repeated);
    const struct field_error **sorted = xcalloc(e->v.len + 1, sizeof *sorted);
    for (size_t i = 0; i < e->v.len; i++)
        sorted[i] = &e->v.p[i];
    qsort(sorted, e->v.len, sizeof *sorted, by_text);
    for (size_t i = 1; i < e->v.len; i++)
        repeated[sorted[i] - e->v.p] = same_text(sorted[i - 1], sorted[i]) == 0;
    free(sorted);
    return repeated;
}

void field_errors_text(const struct field_errors *e, struct str *out) {
    _cleanup_str_ struct str list = STR_INIT;
    _cleanup_free_ bool *repeated = find_repeated(e);
    size_t n = 0;
    for (size_t i = 0; i < e->v.len; i++) {
        if (repeated[i])
            continue;
        str_addf(&list, "%s%s: %s", n++ ? ", " : "", e->v.p[i].field, e->v.p[i].body);
    }
    str_addf(out, "%s%s%s", n > 1 ? "[" : "", str_get(&list), n > 1 ? "]" : "");
}

void field_errors_done(struct field_errors *e) {
    for (size_t i = 0; i < e->v.len; i++) {
        free(e->v.p[i].field);
        free(e->v.p[i].body);
    }
    vec_done(&e->v);
}
