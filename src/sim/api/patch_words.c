/* Values as Go prints them, for the messages of patches: fmt's %v and %s over what a decoder
 * makes of JSON (map[string]interface{}, []interface{}, string, int64, float64, bool, nil). */
#include <stdio.h>

#include "sim/api/patch_internal.h"

/* The shortest digits that give the same number, with an exponent when it is less than -4 or at
 * least 6: strconv's 'g' with precision -1. */
static void add_real(struct str *out, double v) {
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*e", digits - 1, v);
    while (strtod(text, NULL) != v && ++digits <= 17);
    const char *e = strchr(text, 'e');
    long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (exponent >= -4 && exponent < 6)
        snprintf(text, sizeof text, "%.*f", (int)MAX_OF(digits - 1 - exponent, 0L), v);
    str_add(out, text);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add(struct str *out, const json_t *v, bool plain);

static void add_mapping(struct str *out, const json_t *v, bool plain) {
    /* fmt sorts the keys of maps */
    VEC(const char *) keys = VEC_INIT;
    const char *key;
    json_t *member;
    json_object_foreach(iterable(v), key, member) * vec_push(&keys) = key;
    if (keys.len)
        qsort(keys.p, keys.len, sizeof keys.p[0], by_text);
    str_add(out, "map[");
    for (size_t i = 0; i < keys.len; i++) {
        str_addf(out, "%s%s:", i ? " " : "", keys.p[i]);
        add(out, json_object_get(v, keys.p[i]), plain);
    }
    str_addc(out, ']');
    vec_done(&keys);
}

/* `plain`: %v; else %s, which says what it thinks of values that are no strings. */
static void add(struct str *out, const json_t *v, bool plain) {
    bool scalar = json_is_number(v) || json_is_boolean(v);
    if (!plain && scalar)
        str_addf(out, "%%!s(%s=", words_type(v));
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        add_mapping(out, v, plain);
        break;
    case JSON_ARRAY:
        str_addc(out, '[');
        for (size_t i = 0; i < json_array_size(v); i++) {
            if (i)
                str_addc(out, ' ');
            add(out, json_array_get(v, i), plain);
        }
        str_addc(out, ']');
        break;
    case JSON_STRING:
        str_addn(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        str_addf(out, "%lld", (long long)json_integer_value(v));
        break;
    case JSON_REAL:
        add_real(out, json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        str_add(out, json_is_true(v) ? "true" : "false");
        break;
    case JSON_NULL:
        str_add(out, "<nil>");
        break;
    }
    if (!plain && scalar)
        str_addc(out, ')');
}

void words_value(struct str *out, const json_t *v) {
    add(out, v, true);
}

void words_string(struct str *out, const json_t *v) {
    if (json_is_null(v))
        str_add(out, "%!s(<nil>)");
    else
        add(out, v, false);
}

const char *words_type(const json_t *v) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return TYPE_MAPPING;
    case JSON_ARRAY:
        return TYPE_LIST;
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "int64";
    case JSON_REAL:
        return "float64";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_NULL:
        break;
    }
    return "%!s(<nil>)"; /* there is no type of nil, and this is how fmt says it */
}

const char *words_json(const json_t *v) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_NULL:
        break;
    }
    return "null";
}
