/* Defaults and checks of Slipway's own kinds: a walk through description and table together. */
#include "model/own_read.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/suggest.h"
#include "base/utf8.h"

const struct field *own_member(const struct type *type, const char *name) {
    for (uint16_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].json && streq(type->fields[i].json, name))
            return &type->fields[i];
    return NULL;
}

static void *at(const struct field *m, void *obj) {
    return (char *)obj + m->off;
}

/* --- defaults --- */

static void default_fields(const struct own_field *fields, const struct type *type,
                           struct pool *pool, void *obj);

static const char *intern(struct pool *pool, const char *text) {
    return pool_str(pool, text, strlen(text));
}

static const void *intern_list(struct pool *pool, const json_t *list) {
    size_t n = json_array_size(list);
    const char **texts = xcalloc(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = intern(pool, json_string_value(json_array_get(list, i)));
    const void *entry = pool_blob(pool, &type_strs, texts, n * sizeof *texts);
    free(texts);
    return entry;
}

/* An entry of the pool is shared: what is put in goes into a copy of it. */
static void default_entry(const struct own_field *f, const struct field *m, struct pool *pool,
                          const void **entry) {
    if (!*entry && !f->initial)
        return;
    void *copy = xcalloc(1, m->type->size);
    if (*entry) {
        memcpy(copy, *entry, m->type->size);
        type_retain(m->type, copy, NULL);
    } else {
        type_init(m->type, copy, NULL);
    }
    default_fields(f->fields, m->type, pool, copy);
    const void *made = pool_blob(pool, m->type, copy, m->type->size);
    pool_unref(pool, *entry); /* after that: where nothing was put in, it is the same one */
    *entry = made;
    free(copy);
}

/* Of a member that holds nothing. */
static void default_value(const struct own_field *f, const struct field *m, struct pool *pool,
                          void *p) {
    _cleanup_json_ json_t *v = json_loads(f->initial, JSON_DECODE_ANY, NULL);
    const char *text = json_string_value(v);
    switch ((enum field_kind)m->kind) {
    case FIELD_STR:
        if (!*(const char **)p)
            *(const char **)p = intern(pool, text);
        break;
    case FIELD_JSON:
        if (!*(const char **)p)
            *(const char **)p = intern(pool, f->initial);
        break;
    case FIELD_OPT_BOOL:
        if (*(int8_t *)p == ABSENT8)
            *(int8_t *)p = json_is_true(v);
        break;
    case FIELD_OPT_I32:
        if (*(int32_t *)p == ABSENT32)
            *(int32_t *)p = (int32_t)json_integer_value(v);
        break;
    case FIELD_INTSTR:
        if (!((struct intstr *)p)->set)
            *(struct intstr *)p = (struct intstr){.val = (int32_t)json_integer_value(v), .set = 1};
        break;
    case FIELD_STRS:
        if (!*(const void **)p)
            *(const void **)p = intern_list(pool, v);
        break;
    default: /* a test sees to it that no other kind of member has a default */
        break;
    }
}

static void default_fields(const struct own_field *fields, const struct type *type,
                           struct pool *pool, void *obj) {
    for (const struct own_field *f = fields; f && f->name; f++) {
        const struct field *m = own_member(type, f->name);
        if (!m)
            continue;
        if (m->kind == FIELD_MSG)
            default_fields(f->fields, m->type, pool, at(m, obj));
        else if (m->kind == FIELD_PTR)
            default_entry(f, m, pool, at(m, obj));
        else if (f->initial)
            default_value(f, m, pool, at(m, obj));
    }
}

void own_defaults(const struct own_resource *r, struct pool *pool, void *obj) {
    default_fields(r->fields, r->kind->type, pool, obj);
}

/* --- checks --- */

/* Where the walk is. */
struct place {
    const struct place *up;
    const char *name;
    size_t index; /* of an element, when there is no name */
};

static void add_path(struct str *out, const struct place *p) {
    if (!p)
        return;
    add_path(out, p->up);
    if (p->name)
        str_addf(out, "%s%s", out->len ? "." : "", p->name);
    else
        str_addf(out, "[%zu]", p->index);
}

static int bad(const struct place *p, struct err *err, const char *what) {
    _cleanup_str_ struct str path = STR_INIT;
    add_path(&path, p);
    return err_set(err, EINVAL, "%s %s", str_get(&path), what);
}

/* "404 or 423", "wait, release or stay". */
static void add_words(struct str *out, const char *const *words) {
    for (size_t i = 0; words[i]; i++)
        str_addf(out, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

static int bad_word(const struct own_field *f, const struct place *p, const char *text,
                    struct err *err) {
    _cleanup_str_ struct str what = STR_INIT, shown = STR_INIT;
    size_t n = 0;
    while (f->words[n])
        n++;
    /* Numbers that look alike need not be meant. */
    const char *near = f->type == OWN_STR ? suggest_nearest(text, f->words, n) : NULL;
    utf8_printable(&shown, text);
    str_addf(&what, "is %.80s; it must be ", str_get(&shown));
    add_words(&what, f->words);
    if (near)
        str_addf(&what, ": did you mean \"%s\"?", near);
    return bad(p, err, str_get(&what));
}

static bool among(const char *text, const char *const *words) {
    for (; *words; words++)
        if (streq(*words, text))
            return true;
    return false;
}

static int check_rules(const struct own_rule *rules, const struct place *p, const void *value,
                       struct err *err) {
    for (const struct own_rule *r = rules; r && r->message; r++) {
        if (!r->holds || r->holds(value))
            continue;
        _cleanup_str_ struct str what = STR_INIT;
        /* "spec.settle must be ..." is a sentence; others stand by themselves. */
        bool goes_on = str_starts(r->message, "must ");
        str_addf(&what, "%s%s", goes_on ? "" : "is not valid: ", r->message);
        return bad(p, err, str_get(&what));
    }
    return 0;
}

static int check_length(const struct own_field *f, const struct place *p, size_t n,
                        const char *unit, struct err *err) {
    if ((int64_t)n >= f->min && (!f->max || (int64_t)n <= f->max))
        return 0;
    _cleanup_str_ struct str what = STR_INIT;
    str_addf(&what, "has %zu %s; it must have ", n, unit);
    if (f->min)
        str_addf(&what, "at least %lld%s", (long long)f->min, f->max ? " and " : "");
    if (f->max)
        str_addf(&what, "at most %lld", (long long)f->max);
    return bad(p, err, str_get(&what));
}

static int check_text(const struct own_field *f, const struct place *p, const char *text,
                      struct err *err) {
    int rc = 0;
    if (f->words)
        return among(text, f->words) ? 0 : bad_word(f, p, text, err);
    if (f->min || f->max)
        rc = check_length(f, p, strlen(text), "characters", err);
    return rc ? rc : check_rules(f->rules, p, text, err);
}

static int check_int(const struct own_field *f, const struct place *p, int64_t n, struct err *err) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)n);
    if (f->words)
        return among(text, f->words) ? 0 : bad_word(f, p, text, err);
    if (f->min >= f->max || (n >= f->min && n <= f->max))
        return 0;
    _cleanup_str_ struct str what = STR_INIT;
    str_addf(&what, "is %s; it must be between %lld and %lld", text, (long long)f->min,
             (long long)f->max);
    return bad(p, err, str_get(&what));
}

static int check_fields(const struct own_field *fields, const struct type *type,
                        const struct place *up, const void *obj, struct err *err);

static int check_object(const struct own_field *f, const struct type *type, const struct place *p,
                        const void *obj, struct err *err) {
    int rc = check_fields(f->fields, type, p, obj, err);
    return rc ? rc : check_rules(f->rules, p, obj, err);
}

static int check_texts(const struct own_field *f, const struct place *p, const char *const *list,
                       struct err *err) {
    int rc = check_length(f, p, list_len(list), "elements", err);
    for (size_t i = 0; !rc && i < list_len(list); i++) {
        const struct place in = {p, NULL, i};
        rc = check_text(f->item, &in, strna(list[i]), err);
        for (size_t k = 0; !rc && f->set && k < i; k++)
            if (list[k] == list[i]) /* of the pool, where equal texts are one */
                rc = bad(&in, err, "is there twice");
    }
    return rc;
}

static int check_list(const struct own_field *f, const struct type *type, const struct place *p,
                      const char *list, struct err *err) {
    size_t n = pool_len(list) / type->size;
    int rc = check_length(f, p, n, "elements", err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = check_object(f->item, type, &(struct place){p, NULL, i}, list + i * type->size, err);
    return rc;
}

/* Whether the member holds something. */
static bool is_there(const struct field *m, const void *p) {
    switch ((enum field_kind)m->kind) {
    case FIELD_OPT_BOOL:
        return *(const int8_t *)p != ABSENT8;
    case FIELD_OPT_I32:
        return *(const int32_t *)p != ABSENT32;
    case FIELD_INTSTR:
        return ((const struct intstr *)p)->set;
    case FIELD_PRESENT:
        return *(const bool *)p;
    case FIELD_MSG:
        return true;
    default: /* entries of the pool; a test sees to it that a spec has nothing else */
        return *(const void *const *)p != NULL;
    }
}

static int check_value(const struct own_field *f, const struct field *m, const struct place *p,
                       const void *value, struct err *err) {
    const void *entry;
    switch ((enum field_kind)m->kind) {
    case FIELD_STR:
        return check_text(f, p, *(const char *const *)value, err);
    case FIELD_OPT_I32:
        return check_int(f, p, *(const int32_t *)value, err);
    case FIELD_INTSTR:
        return check_rules(f->rules, p, value, err);
    case FIELD_STRS:
        return check_texts(f, p, *(const char *const *const *)value, err);
    case FIELD_LIST:
        entry = *(const void *const *)value;
        return check_list(f, m->type, p, entry, err);
    case FIELD_PTR:
        entry = *(const void *const *)value;
        return check_object(f, m->type, p, entry, err);
    case FIELD_MSG:
        return check_object(f, m->type, p, value, err);
    default: /* whatever it holds is good */
        return 0;
    }
}

static int check_fields(const struct own_field *fields, const struct type *type,
                        const struct place *up, const void *obj, struct err *err) {
    int rc = 0;
    for (const struct own_field *f = fields; !rc && f && f->name; f++) {
        const struct field *m = own_member(type, f->name);
        const struct place p = {up, f->name, 0};
        const void *value = m ? (const char *)obj + m->off : NULL;
        if (value && is_there(m, value))
            rc = check_value(f, m, &p, value, err);
        else if (f->required)
            rc = bad(&p, err, "is missing");
    }
    return rc;
}

int own_check(const struct own_resource *r, const void *obj, struct err *err) {
    const struct own_field *spec = r->fields;
    const struct field *m = own_member(r->kind->type, spec->name);
    return check_object(spec, m->type, &(struct place){NULL, spec->name, 0},
                        (const char *)obj + m->off, err);
}

int own_complete(const struct own_resource *r, struct pool *pool, void *obj, struct err *err) {
    own_defaults(r, pool, obj);
    return own_check(r, obj, err);
}
