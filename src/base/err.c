/* Errors: a code and a sentence. */
#define ERR_NO_HINTS /* the functions themselves, not the analyzer's view of them */
#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int err_vset(struct err *err, int code, const char *fmt, va_list ap) {
    if (err) {
        char *msg = xvasprintf(fmt, ap);
        free(err->msg);
        err->msg = msg;
        err->code = code;
    }
    return -code;
}

int err_set(struct err *err, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    err_vset(err, code, fmt, ap);
    va_end(ap);
    return -code;
}

int err_errno(struct err *err, int code, const char *fmt, ...) {
    va_list ap;
    char buf[256];
    if (!err)
        return -code;
    va_start(ap, fmt);
    err_vset(err, code, fmt, ap);
    va_end(ap);
    return err_set(err, code, "%s: %s", err->msg, strerror_r(code, buf, sizeof buf));
}

int err_wrap(struct err *err, const char *fmt, ...) {
    va_list ap;
    if (!err || !err->code)
        return -EIO;
    va_start(ap, fmt);
    char *context = xvasprintf(fmt, ap);
    va_end(ap);
    err_set(err, err->code, "%s: %s", context, err->msg);
    free(context);
    return -err->code;
}

const char *err_msg(const struct err *err) {
    return err && err->msg ? err->msg : "unknown error";
}

int err_move(struct err *to, struct err *from) {
    int code = from && from->code ? from->code : EIO;
    if (to && from) {
        free(to->msg);
        *to = *from;
        *from = ERR_INIT;
    } else {
        err_done(from);
    }
    return -code;
}

void err_done(struct err *err) {
    if (!err)
        return;
    free(err->msg);
    *err = ERR_INIT;
}
