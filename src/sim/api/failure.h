/* Why a request was refused: what becomes the Status of the answer, in the words of Kubernetes' own
 * server (apimachinery's api/errors), because kubectl and controllers read them.
 *
 * The makers fill a failure and return -1, so that `return fail_conflict(...)` works. A resource is
 * named by its group ("" for core) and plural, a kind by its group and name. */
#ifndef SIM_API_FAILURE_H
#define SIM_API_FAILURE_H

#include <stdint.h>

#include "base/jsonw.h"
#include "sim/api/field_error.h"

struct cause {
    const char *reason; /* static */
    char *message, *field;
};

struct failure {
    int code;           /* HTTP; 0: none */
    const char *reason; /* static; "" is possible */
    char *message;
    bool details; /* there is a "details" member */
    char *name, *group, *kind, *uid;
    VEC(struct cause) causes;
    int retry_after; /* seconds; 0: not said */
    char *token;     /* to continue a list with all the same; NULL: none */
};

#define FAILURE_INIT      ((struct failure){0})
#define _cleanup_failure_ __attribute__((cleanup(failure_done)))
void failure_done(struct failure *f);

/* Anything, without details. */
int fail(struct failure *f, int code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* 400 BadRequest. */
int fail_bad_request(struct failure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 404, 409, 409, 403, about one object of a resource. */
int fail_not_found(struct failure *f, const char *group, const char *plural, const char *name);
int fail_exists(struct failure *f, const char *group, const char *plural, const char *name);
int fail_conflict(struct failure *f, const char *group, const char *plural, const char *name,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int fail_forbidden(struct failure *f, const char *group, const char *plural, const char *name,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* 422 about an object of a kind. */
int fail_invalid(struct failure *f, const char *group, const char *kind, const char *name,
                 const struct field_errors *errors);
/* 404 and 405 about a path. */
int fail_no_resource(struct failure *f);
int fail_method(struct failure *f);
/* 504: the client knows a version that we do not. */
int fail_too_large(struct failure *f, uint64_t version, uint64_t now);
/* Adds a cause; the strings are copied, `reason` is static. */
void failure_cause(struct failure *f, const char *reason, const char *message, const char *field);

/* Has a function change its texts in place, which keep their lengths. */
void failure_mend(struct failure *f, void (*mend)(char *text));

/* The Status object. */
void failure_print(const struct failure *f, struct jsonw *w);
/* A Status of success about an object, as DELETE answers. */
void success_print(struct jsonw *w, const char *group, const char *plural, const char *name,
                   const char *uid);

#endif
