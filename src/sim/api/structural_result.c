/* Results of validating values. */
#include "sim/api/structural_result.h"

#include <stdarg.h>

void vpath_print(struct str *out, const struct spath *path) {
    if (!path)
        return;
    vpath_print(out, path->up);
    if (path->kind == SPATH_INDEX)
        str_addf(out, "[%zu]", path->index);
    else
        str_addf(out, "%s%s", out->len || path->kind == SPATH_KEY ? "." : "", path->name);
}

static void verror_done(struct verror *e) {
    free(e->name);
    free(e->shown);
    free(e->detail);
    free(e->message);
}

void vresult_add(struct vresult *r, struct verror error) {
    bool known = r->errors.len >= STRUCTURAL_MAX_ERRORS;
    for (size_t i = 0; i < r->errors.len && !known; i++)
        known = streq(r->errors.p[i].message, error.message);
    if (known)
        verror_done(&error);
    else
        *vec_push(&r->errors) = error;
}

void vresult_merge(struct vresult *r, struct vresult *from) {
    r->matches += from->matches;
    if (!r->errors.len) {
        vec_done(&r->errors);
        r->errors.p = from->errors.p;
        r->errors.len = from->errors.len;
        r->errors.cap = from->errors.cap;
    } else {
        for (size_t i = 0; i < from->errors.len; i++)
            vresult_add(r, from->errors.p[i]);
        vec_done(&from->errors);
    }
    *from = VRESULT_INIT;
}

void vresult_forgive(struct vresult *r) {
    for (size_t i = 0; i < r->errors.len; i++)
        verror_done(&r->errors.p[i]);
    vec_done(&r->errors);
}

void vresult_done(struct vresult *r) {
    vresult_forgive(r);
    r->matches = 0;
}

void vresult_report(const struct vresult *r, const struct spath *path, struct field_errors *e) {
    for (size_t i = 0; i < r->errors.len; i++) {
        const struct verror *v = &r->errors.p[i];
        const char *name = strna(v->name);
        if (*name == '.')
            name++;
        spath_error_shown(e, v->type, *name ? SPATH_CHILD(path, name) : path, v->shown, "%s",
                          v->detail);
    }
}

void verror_about(struct vresult *r, enum field_error_type type, const struct spath *path,
                  const char *shown, const char *detail, const char *fmt, ...) {
    struct str name = STR_INIT, message = STR_INIT;
    va_list ap;
    vpath_print(&name, path);
    str_addf(&message, "%s in body ", str_get(&name));
    va_start(ap, fmt);
    str_addvf(&message, fmt, ap);
    va_end(ap);
    char *words = str_take(&message);
    vresult_add(r, (struct verror){type, str_take(&name), xstrdup(shown ? shown : "\"\""),
                                   xstrdup(detail ? detail : words), words});
}

void verror_plain(struct vresult *r, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *words = xvasprintf(fmt, ap);
    va_end(ap);
    vresult_add(r, (struct verror){FIELD_INVALID, NULL, xstrdup("\"\""), xstrdup(words), words});
}
