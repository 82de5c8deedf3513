/* Schemas from JSON to nodes, and back to words: building, looking up, paths. */
#include "sim/api/structural.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/api/gotext.h"
#include "sim/api/structural_internal.h"
#include "sim/schema/goquote.h"

/* --- paths and values in words --- */

void spath_print(struct str *out, const struct spath *path) {
    if (!path) {
        str_add(out, "<nil>");
        return;
    }
    if (path->up)
        spath_print(out, path->up);
    if (path->kind == SPATH_INDEX)
        str_addf(out, "[%zu]", path->index);
    else if (path->kind == SPATH_NAME && *path->name)
        str_addf(out, "%s%s", path->up ? "." : "", path->name);
    else
        str_addf(out, "[%s]", path->name);
}

void spath_error_shown(struct field_errors *e, enum field_error_type type, const struct spath *path,
                       const char *shown, const char *fmt, ...) {
    _cleanup_str_ struct str field = STR_INIT, detail = STR_INIT;
    va_list ap;
    if (e->v.len >= STRUCTURAL_MAX_ERRORS)
        return;
    spath_print(&field, path);
    va_start(ap, fmt);
    str_addvf(&detail, fmt, ap);
    va_end(ap);
    field_error_shown(e, type, str_get(&field), shown, "%s", str_get(&detail));
}

void spath_error(struct field_errors *e, enum field_error_type type, const struct spath *path,
                 const json_t *value, const char *fmt, ...) {
    _cleanup_str_ struct str shown = STR_INIT, detail = STR_INIT;
    va_list ap;
    if (value)
        structural_show(&shown, value);
    va_start(ap, fmt);
    str_addvf(&detail, fmt, ap);
    va_end(ap);
    spath_error_shown(e, type, path, value ? str_get(&shown) : NULL, "%s", str_get(&detail));
}

void structural_float(struct str *out, double v) {
    char text[40];
    int precision = 1;
    do
        snprintf(text, sizeof text, "%.*e", precision - 1, v);
    while (strtod(text, NULL) != v && precision++ < 17);
    /* %v is %g with as many digits as it takes, where an exponent is written from 1e+06 on. */
    long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        str_add(out, text);
    else
        str_addf(out, "%.*f", (int)MAX_OF(precision - 1 - exponent, 0L), v);
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *structural_sorted(const json_t *v) {
    if (json_is_array(v)) {
        json_t *out = json_array();
        for (size_t i = 0; i < json_array_size(v); i++)
            json_array_append_new(out, structural_sorted(json_array_get(v, i)));
        return out;
    }
    if (!json_is_object(v))
        return json_deep_copy(v);
    size_t n = 0;
    const char **keys = xcalloc(json_object_size(v) + 1, sizeof *keys);
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)v, key, member) keys[n++] = key;
    qsort(keys, n, sizeof *keys, compare_keys);
    json_t *out = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_set_new_nocheck(out, keys[i], structural_sorted(json_object_get(v, keys[i])));
    free(keys);
    return out;
}

void structural_show_json(struct str *out, const json_t *value) {
    _cleanup_json_ json_t *copy = structural_sorted(value);
    go_json(out, copy);
}

void structural_show(struct str *out, const json_t *value) {
    if (json_is_string(value)) {
        goquote(out, json_string_value(value), json_string_length(value));
    } else if (json_is_real(value)) {
        structural_float(out, json_real_value(value));
    } else {
        structural_show_json(out, value);
    }
}

/* --- keywords --- */

const json_t *kw_value(const json_t *schema, const char *key) {
    const json_t *v = json_object_get(schema, key);
    return json_is_null(v) ? NULL : v;
}

const char *kw_text(const json_t *schema, const char *key) {
    const char *text = json_string_value(json_object_get(schema, key));
    return str_empty(text) ? NULL : text;
}

const json_t *kw_list(const json_t *schema, const char *key) {
    const json_t *v = json_object_get(schema, key);
    return json_array_size(v) ? v : NULL;
}

const json_t *kw_map(const json_t *schema, const char *key) {
    const json_t *v = json_object_get(schema, key);
    return json_object_size(v) ? v : NULL;
}

bool kw_flag(const json_t *schema, const char *key) {
    return json_is_true(json_object_get(schema, key));
}

const json_t *kw_items(const json_t *schema) {
    const json_t *v = json_object_get(schema, "items");
    return json_is_object(v) ? v : NULL;
}

/* --- types --- */

static const struct {
    enum stype type;
    const char *name;
} types[] = {
    {STYPE_OBJECT, "object"},   {STYPE_ARRAY, "array"},   {STYPE_STRING, "string"},
    {STYPE_INTEGER, "integer"}, {STYPE_NUMBER, "number"}, {STYPE_BOOLEAN, "boolean"},
};

enum stype stype_of(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (streq(types[i].name, name))
            return types[i].type;
    return 0;
}

const char *stype_names(unsigned set) {
    if (set == (STYPE_INTEGER | STYPE_STRING))
        return "integer,string";
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == set)
            return types[i].name;
    return "";
}

/* --- building --- */

static struct slimit limit_of(const json_t *schema, const char *key) {
    const json_t *v = kw_value(schema, key);
    return (struct slimit){json_is_integer(v), json_integer_value(v)};
}

static struct sbound bound_of(const json_t *schema, const char *key, const char *exclusive) {
    const json_t *v = kw_value(schema, key);
    return (struct sbound){json_is_number(v), exclusive && kw_flag(schema, exclusive),
                           json_number_value(v)};
}

/* A format means something for texts (those that strfmt knows) and for numbers; the server forgets
 * every other one when it validates. */
static const char *useful_format(const struct snode *n) {
    if (!n->raw_format)
        return NULL;
    return format_useful(n->int_or_string ? "" : n->type, n->raw_format) ? n->raw_format : NULL;
}

/* What structural schemas have no place for, in the server's order. */
static int check_supported(const json_t *schema, struct err *err) {
    static const char *const texts[] = {"id", "$schema", "$ref"};
    static const char *const maps[] = {"patternProperties", "dependencies"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (kw_text(schema, texts[i]))
            return err_set(err, EINVAL, "OpenAPIV3Schema '%s' is not supported",
                           streq(texts[i], "$schema") ? "schema" : texts[i]);
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        if (kw_map(schema, maps[i]))
            return err_set(err, EINVAL, "OpenAPIV3Schema '%s' is not supported", maps[i]);
    if (kw_value(schema, "additionalItems"))
        return err_set(err, EINVAL, "OpenAPIV3Schema 'additionalItems' is not supported");
    if (kw_map(schema, "definitions"))
        return err_set(err, EINVAL, "OpenAPIV3Schema 'definitions' is not supported");
    if (json_is_false(json_object_get(schema, "x-kubernetes-preserve-unknown-fields")))
        return err_set(err, EINVAL,
                       "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or "
                       "undefined");
    if (kw_list(schema, "items"))
        return err_set(err, EINVAL, "OpenAPIV3Schema 'items' must be a schema, but is an array");
    return 0;
}

static int build(struct structural *s, const json_t *schema, struct snode **out, struct err *err);

static int build_list(struct structural *s, const json_t *schema, const char *key,
                      struct snodes *out, struct err *err) {
    const json_t *list = kw_list(schema, key);
    out->len = json_array_size(list);
    out->p = arena_alloc(&s->arena, (out->len + 1) * sizeof *out->p);
    for (size_t i = 0; i < out->len; i++) {
        int rc = build(s, json_array_get(list, i), &out->p[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

static int compare_properties(const void *a, const void *b) {
    return strcmp((*(struct sproperty *const *)a)->name, (*(struct sproperty *const *)b)->name);
}

static int build_properties(struct structural *s, const json_t *schema, struct snode *n,
                            struct err *err) {
    const json_t *map = kw_map(schema, "properties");
    const char *name;
    json_t *sub;
    n->properties = arena_alloc(&s->arena, (json_object_size(map) + 1) * sizeof *n->properties);
    n->by_name = arena_alloc(&s->arena, (json_object_size(map) + 1) * sizeof(void *));
    json_object_foreach((json_t *)map, name, sub) {
        struct sproperty *p = &n->properties[n->n_properties];
        p->name = name;
        n->by_name[n->n_properties++] = p;
        int rc = build(s, sub, &p->node, err);
        if (rc)
            return rc;
    }
    qsort(n->by_name, n->n_properties, sizeof(void *), compare_properties);
    return 0;
}

static int build(struct structural *s, const json_t *schema, struct snode **out, struct err *err) {
    struct snode *n = arena_new(&s->arena, struct snode);
    int rc = check_supported(schema, err);
    if (rc)
        return rc;
    *n = (struct snode){
        .json = schema,
        .type = strna(kw_text(schema, "type")),
        .nullable = kw_flag(schema, "nullable"),
        .preserves = kw_flag(schema, "x-kubernetes-preserve-unknown-fields"),
        .embedded = kw_flag(schema, "x-kubernetes-embedded-resource"),
        .int_or_string = kw_flag(schema, "x-kubernetes-int-or-string"),
        .fallback = kw_value(schema, "default"),
        .list_type = json_string_value(json_object_get(schema, "x-kubernetes-list-type")),
        .map_type = json_string_value(json_object_get(schema, "x-kubernetes-map-type")),
        .map_keys = kw_list(schema, "x-kubernetes-list-map-keys"),
        .has_rules = kw_list(schema, "x-kubernetes-validations") != NULL,
        .raw_format = kw_text(schema, "format"),
        .maximum = bound_of(schema, "maximum", "exclusiveMaximum"),
        .minimum = bound_of(schema, "minimum", "exclusiveMinimum"),
        .multiple_of = bound_of(schema, "multipleOf", NULL),
        .max_length = limit_of(schema, "maxLength"),
        .min_length = limit_of(schema, "minLength"),
        .max_items = limit_of(schema, "maxItems"),
        .min_items = limit_of(schema, "minItems"),
        .max_properties = limit_of(schema, "maxProperties"),
        .min_properties = limit_of(schema, "minProperties"),
        .pattern = kw_text(schema, "pattern"),
        .choices = kw_list(schema, "enum"),
        .required = kw_list(schema, "required"),
    };
    n->types = n->int_or_string ? STYPE_INTEGER | STYPE_STRING : stype_of(n->type);
    n->format = useful_format(n);
    s->has_rules |= n->has_rules;

    const json_t *additional = kw_value(schema, "additionalProperties");
    n->has_additional = additional != NULL;
    n->allows_additional = !json_is_false(additional);
    const json_t *items = kw_items(schema), *not_of = kw_value(schema, "not");
    if (items && (rc = build(s, items, &n->items, err)))
        return rc;
    if ((rc = build_properties(s, schema, n, err)) ||
        (json_is_object(additional) && (rc = build(s, additional, &n->additional, err))) ||
        (rc = build_list(s, schema, "allOf", &n->all_of, err)) ||
        (rc = build_list(s, schema, "anyOf", &n->any_of, err)) ||
        (rc = build_list(s, schema, "oneOf", &n->one_of, err)) ||
        (json_is_object(not_of) && (rc = build(s, not_of, &n->not_of, err))))
        return rc;
    *out = n;
    return 0;
}

struct structural *structural_build(const json_t *schema, struct err *err) {
    struct structural *s = xnew(struct structural);
    s->schema = json_deep_copy(schema);
    if (build(s, s->schema, &s->root, err)) {
        structural_free(s);
        return NULL;
    }
    return s;
}

void structural_free(struct structural *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->patterns.len; i++)
        pattern_free(s->patterns.p[i]);
    vec_done(&s->patterns);
    arena_done(&s->arena);
    json_decref(s->schema);
    free(s);
}

/* --- looking up --- */

static int compare_name(const void *name, const void *p) {
    return strcmp(name, (*(struct sproperty *const *)p)->name);
}

const struct snode *snode_property(const struct snode *n, const char *name) {
    struct sproperty **found =
        n->n_properties ? bsearch(name, n->by_name, n->n_properties, sizeof(void *), compare_name)
                        : NULL;
    return found ? (*found)->node : NULL;
}

const struct snode *snode_member(const struct snode *n, const char *name) {
    const struct snode *found = snode_property(n, name);
    return found ? found : n->additional;
}
