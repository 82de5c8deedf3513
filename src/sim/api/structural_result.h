/* What validating a value has found: errors, and how much was right, by which the best of several
 * failed alternatives is chosen (kube-openapi pkg/validation/validate: Result).
 *
 * Two errors with the same message are one. At most STRUCTURAL_MAX_ERRORS are kept. */
#ifndef SIM_API_STRUCTURAL_RESULT_H
#define SIM_API_STRUCTURAL_RESULT_H

#include "sim/api/structural_internal.h"

struct verror {
    enum field_error_type type;
    char *name; /* the path, or NULL: the error belongs to no field */
    char *shown, *detail;
    char *message; /* what makes it different from others */
};

struct vresult {
    VEC(struct verror) errors;
    unsigned matches;
};

#define VRESULT_INIT ((struct vresult){0})

/* Paths of values: "spec.list[0].key", relative to where validation began, which is NULL. Names of
 * properties are SPATH_NAME, keys of maps SPATH_KEY: these have a dot in front even at the root. */
void vpath_print(struct str *out, const struct spath *path);

/* Takes over the strings. Frees them when that was said before. */
void vresult_add(struct vresult *r, struct verror error);
/* Moves everything; `from` is empty afterwards. */
void vresult_merge(struct vresult *r, struct vresult *from);
static inline bool vresult_ok(const struct vresult *r) {
    return !r->errors.len;
}
/* Forgets the errors, not the matches. */
void vresult_forgive(struct vresult *r);
void vresult_done(struct vresult *r);

/* As field errors below `path`, which may be NULL. */
void vresult_report(const struct vresult *r, const struct spath *path, struct field_errors *e);

/* An error about the value at `path`, which appears in it as `shown` (NULL: as ""). Its message is
 * "<path> in body <fmt>"; `detail` is what is told of it instead, or NULL. */
void verror_about(struct vresult *r, enum field_error_type type, const struct spath *path,
                  const char *shown, const char *detail, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* One that belongs to no field. */
void verror_plain(struct vresult *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
