/* The state of a decoding: where it is, and what it complains of. */
#include "sim/schema/decoder.h"

#include <errno.h>

#include "sim/schema/build.h"
#include "sim/schema/goquote.h"

enum { MOST_NOTES = 100 };

static void complaint_done(struct complaint *c) {
    free(c->value);
    free(c->field);
    free(c->type);
    free(c->text);
}

void decoder_done(struct decoder *d) {
    complaint_done(&d->first);
    str_done(&d->stack);
    str_done(&d->path);
}

void decoder_cut(struct str *s, size_t len) {
    if (s->len > len) {
        s->len = len;
        s->p[len] = '\0';
    }
}

void decoder_push(struct str *s, const char *name, size_t len) {
    if (s->len)
        str_addc(s, '.');
    str_addn(s, name, len);
}

/* What the first complaint is stays; only an end replaces it. */
static bool may_complain(struct decoder *d, bool ends) {
    if (d->ended || (d->complained && !ends))
        return false;
    complaint_done(&d->first);
    d->first = (struct complaint){0};
    d->complained = true;
    d->ended = ends;
    return true;
}

void decoder_wrong_type(struct decoder *d, char *value, char *type, bool ends) {
    if (may_complain(d, ends)) {
        d->first = (struct complaint){value, xstrdup(str_get(&d->stack)), type, d->holder, NULL};
        return;
    }
    free(value);
    free(type);
}

void decoder_wrong(struct decoder *d, char *text, bool ends) {
    if (may_complain(d, ends))
        d->first.text = text;
    else
        free(text);
}

void decoder_adopt(struct decoder *d, struct decoder *inner) {
    if (!inner->complained || !may_complain(d, true))
        return;
    struct complaint *c = &d->first;
    *c = inner->first;
    inner->first = (struct complaint){0};
    if (c->text)
        return;
    struct str field = STR_INIT;
    str_addn(&field, d->stack.p, d->stack.len);
    if (*c->field)
        decoder_push(&field, c->field, strlen(c->field));
    free(c->field);
    c->field = str_take(&field);
    c->holder = d->holder;
}

int decoder_error(const struct decoder *d, struct err *err) {
    const struct complaint *c = &d->first;
    if (c->text)
        return err_set(err, EINVAL, "%s", c->text);
    if (!c->holder)
        return err_set(err, EINVAL, "json: cannot unmarshal %s into Go value of type %s", c->value,
                       c->type);
    return err_set(err, EINVAL, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                   c->value, decoder_short_name(c->holder), c->field, c->type);
}

void decoder_unknown(struct decoder *d, const char *key, size_t len) {
    if (!d->notes || d->notes->texts.len >= MOST_NOTES)
        return;
    _cleanup_str_ struct str text = STR_INIT;
    size_t before = d->path.len;
    decoder_push(&d->path, key, len);
    str_add(&text, "unknown field ");
    goquote(&text, d->path.p, d->path.len);
    decoder_cut(&d->path, before);
    for (size_t i = 0; i < d->notes->texts.len; i++)
        if (streq(d->notes->texts.p[i], str_get(&text)))
            return;
    *vec_push(&d->notes->texts) = str_take(&text);
}

bool decoder_count(struct decoder *d) {
    if (d->elements++ < SCHEMA_MOST_ELEMENTS)
        return true;
    decoder_wrong(d, xstrdup(SCHEMA_TOO_MUCH), true);
    return false;
}

/* --- names --- */

const char *decoder_short_name(const struct schema *s) {
    const char *dot = strrchr(s->name, '.');
    return dot ? dot + 1 : s->name;
}

/* "v1.Pod": the last two parts of its name. */
static const char *go_name(const struct schema *s) {
    const char *p = decoder_short_name(s);
    for (p--; p > s->name && p[-1] != '.';)
        p--;
    return p;
}

char *decoder_object_type(const struct schema *s) {
    return xstrdup(go_name(s));
}

static const char *plain_type(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_BOOL:
        return "bool";
    case SCHEMA_INT32:
        return "int32";
    case SCHEMA_INT64:
        return "int64";
    case SCHEMA_DOUBLE:
        return "float64";
    case SCHEMA_BYTES:
        return "[]uint8";
    case SCHEMA_TIME:
        return "v1.Time";
    case SCHEMA_MICROTIME:
        return "v1.MicroTime";
    case SCHEMA_QUANTITY:
        return "resource.Quantity";
    case SCHEMA_INTSTR:
        return "intstr.IntOrString";
    case SCHEMA_RAW:
        return "v1.JSON";
    case SCHEMA_STRINGS:
        return "v1.ExtraValue";
    case SCHEMA_OR_BOOL:
        return "v1.JSONSchemaPropsOrBool";
    case SCHEMA_OR_LIST:
        return "v1.JSONSchemaPropsOrArray";
    case SCHEMA_OR_STRINGS:
        return "v1.JSONSchemaPropsOrStringArray";
    case SCHEMA_OBJECT:
        break;
    }
    return go_name(f->of);
}

char *decoder_whole_type(const struct schema_field *f) {
    if (f->go)
        return xstrdup(f->go);
    return xasprintf("%s%s",
                     f->flags & SCHEMA_LIST  ? "[]"
                     : f->flags & SCHEMA_MAP ? "map[string]"
                                             : "",
                     plain_type(f));
}

char *decoder_element_type(const struct schema_field *f) {
    if (!(f->flags & (SCHEMA_LIST | SCHEMA_MAP)))
        return decoder_whole_type(f);
    const char *bracket = f->go ? strchr(f->go, ']') : NULL;
    return xstrdup(bracket ? bracket + 1 : plain_type(f));
}

char *decoder_value_name(const json_t *v) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return xstrdup("object");
    case JSON_ARRAY:
        return xstrdup("array");
    case JSON_STRING:
        return xstrdup("string");
    case JSON_TRUE:
    case JSON_FALSE:
        return xstrdup("bool");
    case JSON_INTEGER:
    case JSON_REAL:
        return xstrdup("number");
    case JSON_NULL:
        break;
    }
    return xstrdup("null");
}
