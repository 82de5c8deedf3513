/* Field selectors, and their combination with the rest. */
#include "sim/api/filter.h"

#include <errno.h>

#include "sim/api/label_words.h"

/* By which fields each resource can be selected, beside its name and namespace (the field label
 * conversions in Kubernetes' pkg/apis). */
struct fields {
    const char *group, *plural;
    const char *const *paths;
};

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})
static const struct fields known[] = {
    {"", "pods",
     PATHS("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
           "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs",
           "status.nominatedNodeName")},
    {"", "nodes", PATHS("spec.unschedulable")},
    {"", "namespaces", PATHS("status.phase")},
    {"", "secrets", PATHS("type")},
    {"", "services", PATHS("spec.clusterIP", "spec.type")},
    {"", "events",
     PATHS("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
           "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
           "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type")},
    {"batch", "jobs", PATHS("status.successful")},
};

static bool listed(const char *const *paths, const char *path) {
    for (size_t i = 0; paths && paths[i]; i++)
        if (streq(paths[i][0] == '.' ? paths[i] + 1 : paths[i], path))
            return true;
    return false;
}

static int check_path(const struct resource_info *res, const char *path,
                      const char *const *selectable, struct err *err) {
    if (streq(path, "metadata.name") || (res->namespaced && streq(path, "metadata.namespace")) ||
        listed(selectable, path))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (streq(known[i].plural, res->plural) && streq(known[i].group, res->group))
            return listed(known[i].paths, path) ? 0
                   : streq(res->kind, "Job")
                       ? err_set(err, EINVAL, "field label \"%s\" not supported for Job", path)
                       : err_set(err, EINVAL, "field label not supported: %s", path);
    /* The usual rule asks nobody whether there are namespaces. */
    if (!res->custom && streq(path, "metadata.namespace"))
        return 0;
    return res->custom ? err_set(err, EINVAL, "field label not supported: %s", path)
                       : err_set(err, EINVAL,
                                 "\"%s\" is not a known field selector: only \"metadata.name\", "
                                 "\"metadata.namespace\"",
                                 path);
}

/* The value of a term without its escapes, which are "\\", "\," and "\=". */
static int unescape(struct filter *f, struct view text, const char **out, struct err *err) {
    char *value = arena_alloc(&f->arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == ',' || c == '=')
            return err_set(err, EINVAL, "invalid field selector: unescaped character in value: %d",
                           c);
        if (c == '\\') {
            c = ++i < text.len ? text.p[i] : '\0';
            if (c != '\\' && c != ',' && c != '=') {
                size_t end = MIN_OF(i + 1, text.len); /* of the character, however long it is */
                while (end < text.len && (text.p[end] & 0xc0) == 0x80)
                    end++;
                return err_set(err, EINVAL, "invalid field selector: invalid escape sequence: %.*s",
                               (int)(end - i + 1), text.p + i - 1);
            }
        }
        value[n++] = c;
    }
    value[n] = '\0';
    *out = value;
    return 0;
}

/* A term: path, operator, value. One that asks for nothing of nothing asks for nothing. */
static int parse_term(struct filter *f, const char *text, struct view term, struct err *err) {
    const char *op = memchr(term.p, '=', term.len), *end = term.p + term.len;
    if (!op)
        return err_set(err, EINVAL, "invalid selector: '%s'; can't understand '%.*s'", text,
                       (int)term.len, term.p);
    struct field_term t = {.differs = op > term.p && op[-1] == '!'};
    const char *value = op + (!t.differs && op + 1 < end && op[1] == '=' ? 2 : 1);
    if (unescape(f, (struct view){value, (size_t)(end - value)}, &t.value, err))
        return -1;
    t.path = arena_strndup(&f->arena, term.p, (size_t)(op - term.p) - t.differs);
    if (*t.path || *t.value)
        *vec_push(&f->fields) = t;
    return 0;
}

static int by_text(const void *a, const void *b) {
    const struct view *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN_OF(x->len, y->len));
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* In the order of their text, which decides what is complained about first. */
static int parse_fields(struct filter *f, const char *text, struct err *err) {
    VEC(struct view) terms = VEC_INIT;
    const char *p = text;
    int rc = 0;
    while (*p) {
        const char *start = p;
        while (*p && *p != ',')
            p += *p == '\\' && p[1] ? 2 : 1;
        if (p > start)
            *vec_push(&terms) = (struct view){start, (size_t)(p - start)};
        p += *p == ',';
    }
    if (terms.len)
        qsort(terms.p, terms.len, sizeof *terms.p, by_text);
    for (size_t i = 0; !rc && i < terms.len; i++)
        rc = parse_term(f, text, terms.p[i], err);
    vec_done(&terms);
    return rc;
}

static int filter_parse(struct filter *out, const char *labels, const char *fields,
                        struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str why = STR_INIT;
    if (label_refusal(strna(labels), &why) || selector_parse(strna(labels), &out->labels, &err))
        return fail_bad_request(f, "%s", why.len ? str_get(&why) : err_msg(&err));
    if (parse_fields(out, strna(fields), &err))
        return fail_bad_request(f, "%s", err_msg(&err));
    return 0;
}

int filter_init(struct filter *out, const struct resource_info *res, const char *ns,
                const char *labels, const char *fields, const char *const *selectable,
                struct failure *f) {
    *out = (struct filter){.ns = NULL};
    if (!str_empty(ns))
        out->ns = arena_strndup(&out->arena, ns, strlen(ns));
    _cleanup_err_ struct err err = ERR_INIT;
    if (filter_parse(out, labels, fields, f)) {
        filter_done(out);
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; !rc && i < out->fields.len; i++)
        rc = check_path(res, out->fields.p[i].path, selectable, &err);
    if (rc) {
        fail_bad_request(f, "%s", err_msg(&err));
        filter_done(out);
        return -1;
    }
    return 0;
}

int filter_check(const char *labels, const char *fields, struct failure *f) {
    _cleanup_filter_ struct filter unwanted = {.ns = NULL};
    return filter_parse(&unwanted, labels, fields, f);
}

void filter_done(struct filter *f) {
    arena_done(&f->arena);
    selector_done(&f->labels);
    vec_done(&f->fields);
    *f = (struct filter){0};
}

/* The value at a path of the text, as a selector sees it: "" when absent. */
static struct view value_at(const struct record *r, const char *path) {
    struct arena none = ARENA_INIT;
    struct codec c = {.pool = r->pool, .scratch = none};
    struct view at = record_text(r);
    while (at.len && *path) {
        size_t n = strcspn(path, ".");
        struct view value = {0};
        if (*at.p != '{' || codec_json_find(&c, at, &(struct view){path, n}, 1, &value, NULL))
            value = (struct view){0};
        at = value;
        path += n;
        path += *path == '.';
    }
    codec_done(&c);
    if (at.len >= 2 && *at.p == '"') {
        at.p++;
        at.len -= 2;
    }
    return at;
}

static bool field_match(const struct field_term *t, const struct record *r) {
    const struct meta *m = &r->obj->meta;
    bool same;
    const char *path = t->path;
    if (streq(path, "metadata.name") || streq(path, "name")) {
        same = str_same(m->name, t->value);
    } else if (streq(path, "metadata.namespace")) {
        same = str_same(m->ns, t->value);
    } else if (r->kind == &kind_pod && streq(path, "spec.nodeName")) {
        same = str_same(record_as(pod, r)->node_name, t->value);
    } else if (r->kind == &kind_pod && streq(path, "status.phase")) {
        same = str_same(record_as(pod, r)->phase, t->value);
    } else {
        if (streq(path, "source"))
            path = "source.component";
        else if (streq(path, "status.successful"))
            path = "status.succeeded";
        struct view v = value_at(r, path);
        /* Go prints the zero value of what is absent. */
        if (!v.len && (streq(path, "spec.unschedulable") || streq(path, "spec.hostNetwork")))
            v = VIEW("false");
        else if (!v.len && (streq(path, "status.replicas") || streq(path, "status.succeeded")))
            v = VIEW("0");
        same = view_eq(v, view_of(t->value));
    }
    return same != t->differs;
}

bool filter_match(const struct filter *f, const struct record *r) {
    const struct meta *m = &r->obj->meta;
    if (f->ns && !str_same(m->ns, f->ns))
        return false;
    for (size_t i = 0; i < f->fields.len; i++)
        if (!field_match(&f->fields.p[i], r))
            return false;
    return requirements_match(f->labels.list, m->labels);
}

const char *filter_name(const struct filter *f) {
    for (size_t i = 0; i < f->fields.len; i++)
        if (streq(f->fields.p[i].path, "metadata.name") && !f->fields.p[i].differs)
            return f->fields.p[i].value;
    return NULL;
}
