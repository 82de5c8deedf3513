/* Status objects. */
#include "sim/api/failure.h"

#include <inttypes.h>
#include <stdarg.h>

#include "sim/schema/goquote.h"

void failure_done(struct failure *f) {
    free(f->message);
    free(f->name);
    free(f->group);
    free(f->kind);
    free(f->uid);
    free(f->token);
    for (size_t i = 0; i < f->causes.len; i++) {
        free(f->causes.p[i].message);
        free(f->causes.p[i].field);
    }
    vec_done(&f->causes);
    *f = FAILURE_INIT;
}

static int set(struct failure *f, int code, const char *reason, char *message) {
    failure_done(f);
    f->code = code;
    f->reason = reason;
    f->message = message;
    return -1;
}

static int about(struct failure *f, const char *name, const char *group, const char *kind) {
    f->details = true;
    f->name = xstrdup(name);
    f->group = xstrdup(group);
    f->kind = xstrdup(kind);
    return -1;
}

int fail(struct failure *f, int code, const char *reason, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    return set(f, code, reason, message);
}

int fail_bad_request(struct failure *f, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    return set(f, 400, "BadRequest", message);
}

/* `pods "a"`, `deployments.apps "a"`. */
static char *thing(const char *group, const char *plural, const char *name) {
    struct str out = STR_INIT;
    str_addf(&out, "%s%s%s ", plural, *group ? "." : "", group);
    goquote(&out, name, strlen(name)); /* it may come from a path, with anything in it */
    return str_take(&out);
}

int fail_not_found(struct failure *f, const char *group, const char *plural, const char *name) {
    _cleanup_free_ char *what = thing(group, plural, name);
    set(f, 404, "NotFound", xasprintf("%s not found", what));
    return about(f, name, group, plural);
}

int fail_exists(struct failure *f, const char *group, const char *plural, const char *name) {
    _cleanup_free_ char *what = thing(group, plural, name);
    set(f, 409, "AlreadyExists", xasprintf("%s already exists", what));
    return about(f, name, group, plural);
}

int fail_conflict(struct failure *f, const char *group, const char *plural, const char *name,
                  const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *why = xvasprintf(fmt, ap);
    va_end(ap);
    _cleanup_free_ char *what = thing(group, plural, name);
    set(f, 409, "Conflict", xasprintf("Operation cannot be fulfilled on %s: %s", what, why));
    return about(f, name, group, plural);
}

int fail_forbidden(struct failure *f, const char *group, const char *plural, const char *name,
                   const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *why = xvasprintf(fmt, ap);
    va_end(ap);
    char *message;
    if (*name) {
        _cleanup_free_ char *what = thing(group, plural, name);
        message = xasprintf("%s is forbidden: %s", what, why);
    } else if (*group) {
        message = xasprintf("%s.%s is forbidden: %s", plural, group, why);
    } else {
        message = xasprintf("%s is forbidden: %s", plural, why);
    }
    set(f, 403, "Forbidden", message);
    return about(f, name, group, plural);
}

int fail_invalid(struct failure *f, const char *group, const char *kind, const char *name,
                 const struct field_errors *errors) {
    _cleanup_str_ struct str text = STR_INIT;
    field_errors_text(errors, &text);
    _cleanup_free_ char *what = thing(group, kind, name);
    set(f, 422, "Invalid", xasprintf("%s is invalid: %s", what, str_get(&text)));
    about(f, name, group, kind);
    for (size_t i = 0; i < errors->v.len; i++) {
        const struct field_error *e = &errors->v.p[i];
        failure_cause(f, field_error_reason(e->type), e->body, e->field);
    }
    return -1;
}

int fail_no_resource(struct failure *f) {
    set(f, 404, "NotFound", xstrdup("the server could not find the requested resource"));
    f->details = true;
    return -1;
}

int fail_method(struct failure *f) {
    set(f, 405, "MethodNotAllowed",
        xstrdup("the server does not allow this method on the requested resource"));
    f->details = true;
    return -1;
}

int fail_too_large(struct failure *f, uint64_t version, uint64_t now) {
    set(f, 504, "Timeout",
        xasprintf("Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, version,
                  now));
    failure_cause(f, "ResourceVersionTooLarge", "Too large resource version", "");
    f->retry_after = 1;
    return -1;
}

void failure_cause(struct failure *f, const char *reason, const char *message, const char *field) {
    f->details = true;
    *vec_push(&f->causes) = (struct cause){reason, xstrdup(message), xstrdup(field)};
}

void failure_mend(struct failure *f, void (*mend)(char *text)) {
    mend(f->message);
    for (size_t i = 0; i < f->causes.len; i++) {
        mend(f->causes.p[i].message);
        mend(f->causes.p[i].field);
    }
}

static void head(struct jsonw *w, const char *status, const char *token) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "kind", "Status");
    jsonw_kstr(w, "apiVersion", "v1");
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kopt(w, "continue", token);
    jsonw_end(w);
    jsonw_kstr(w, "status", status);
}

void failure_print(const struct failure *f, struct jsonw *w) {
    head(w, "Failure", f->token);
    jsonw_kopt(w, "message", f->message);
    jsonw_kopt(w, "reason", f->reason);
    if (f->details || f->retry_after) {
        jsonw_kbegin(w, "details", '{');
        jsonw_kopt(w, "name", f->name);
        jsonw_kopt(w, "group", f->group);
        jsonw_kopt(w, "kind", f->kind);
        jsonw_kopt(w, "uid", f->uid);
        if (f->causes.len) {
            jsonw_kbegin(w, "causes", '[');
            for (size_t i = 0; i < f->causes.len; i++) {
                jsonw_begin(w, '{');
                jsonw_kopt(w, "reason", f->causes.p[i].reason);
                jsonw_kopt(w, "message", f->causes.p[i].message);
                jsonw_kopt(w, "field", f->causes.p[i].field);
                jsonw_end(w);
            }
            jsonw_end(w);
        }
        if (f->retry_after)
            jsonw_kint(w, "retryAfterSeconds", f->retry_after);
        jsonw_end(w);
    }
    jsonw_kint(w, "code", f->code);
    jsonw_end(w);
}

void success_print(struct jsonw *w, const char *group, const char *plural, const char *name,
                   const char *uid) {
    head(w, "Success", NULL);
    jsonw_kbegin(w, "details", '{');
    jsonw_kopt(w, "name", name);
    jsonw_kopt(w, "group", group);
    jsonw_kopt(w, "kind", plural);
    jsonw_kopt(w, "uid", uid);
    jsonw_end(w);
    jsonw_end(w);
}
