/* What is wrong with an object, field by field, as Kubernetes' validation says it (apimachinery's
 * field.Error): a list of these becomes the message and the causes of a 422. */
#ifndef SIM_API_FIELD_ERROR_H
#define SIM_API_FIELD_ERROR_H

#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

enum field_error_type {
    FIELD_REQUIRED,
    FIELD_INVALID,
    FIELD_TYPE_INVALID,
    FIELD_NOT_SUPPORTED, /* detail: `supported values: "A", "B"` */
    FIELD_DUPLICATE,
    FIELD_FORBIDDEN,
    FIELD_TOO_LONG,
    FIELD_TOO_MANY,
    FIELD_NOT_FOUND,
    FIELD_INTERNAL, /* not the user's fault: a value that the server itself should have set */
};

struct field_error {
    enum field_error_type type;
    char *field; /* "spec.containers[0].name" */
    char *body;  /* what follows the field and a colon: `Invalid value: "x": must be ...` */
};

struct field_errors {
    VEC(struct field_error) v;
};

/* `value` is what was found there (NULL for none), printed as Go prints it; the detail may be "".
 * FIELD_REQUIRED, FIELD_FORBIDDEN, FIELD_TOO_LONG and FIELD_INTERNAL never show a value. */
void field_error(struct field_errors *e, enum field_error_type type, const char *field,
                 const json_t *value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same where the value is not a JSON value of ours: `shown` is printed as it stands. */
void field_error_shown(struct field_errors *e, enum field_error_type type, const char *field,
                       const char *shown, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* "FieldValueRequired", the reason of a cause. */
const char *field_error_reason(enum field_error_type type);
/* As utilerrors.Aggregate words the list: one alone bare, several as "[a, b]". Duplicate texts
 * once.
 */
void field_errors_text(const struct field_errors *e, struct str *out);
void field_errors_done(struct field_errors *e);

#endif
