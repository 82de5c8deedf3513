/* The error contract of the whole program (docs/errors.md).
 *
 * A function that can fail is `int f(..., struct err *err)`: it returns 0, or a negative errno and
 * has filled `err` with a sentence that says what, why and, where possible, what to do. On success
 * `err` is untouched. `err` may be NULL when the caller does not want the words. Library code
 * reports; only the edges (src/cli, the daemons' main loops) print.
 *
 * Messages are one sentence without a final full stop and without a newline, so that they can be
 * wrapped: err_wrap() puts "context: " in front. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

struct err {
    int code;  /* positive errno, 0 when unset */
    char *msg; /* owned */
};

#define ERR_INIT      ((struct err){0})
#define _cleanup_err_ __attribute__((cleanup(err_done)))

/* Replaces whatever is in `err` and returns -code, so that `return err_set(err, EINVAL, ...)`
 * works. The arguments may refer to the old message. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, int code, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
/* err_set() with ": <strerror>" appended. */
int err_errno(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "<context>: " in front of the message; returns -err->code (or -EIO when `err` is NULL or
 * unset). */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The message, never NULL. */
const char *err_msg(const struct err *err);
/* Moves `from` into `to` (either may be NULL) and leaves `from` empty. Returns -from->code. */
int err_move(struct err *to, struct err *from);
void err_done(struct err *err);

#if defined __clang_analyzer__ && !defined ERR_NO_HINTS
/* The analyzer sees one file at a time; without this it follows paths on which these succeed. */
#define err_fails_(call)                                                                           \
    ({                                                                                             \
        int fails_ = (call);                                                                       \
        if (fails_ >= 0)                                                                           \
            __builtin_unreachable();                                                               \
        fails_;                                                                                    \
    })
#define err_set(...)   err_fails_((err_set)(__VA_ARGS__))
#define err_vset(...)  err_fails_((err_vset)(__VA_ARGS__))
#define err_errno(...) err_fails_((err_errno)(__VA_ARGS__))
#define err_wrap(...)  err_fails_((err_wrap)(__VA_ARGS__))
#define err_move(...)  err_fails_((err_move)(__VA_ARGS__))
#endif

#endif
