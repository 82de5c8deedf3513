/* Values that are no objects, as Go decodes them. */
#include <inttypes.h>

#include "base/base64.h"
#include "sim/schema/decoder.h"
#include "sim/schema/quantity_text.h"
#include "sim/schema/time_text.h"

static json_t *decode_string(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_string(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_element_type(f), false);
        return NULL;
    }
    if (!json_string_length(v) && !(f->flags & SCHEMA_POINTER))
        return NULL;
    return json_stringn_nocheck(json_string_value(v), json_string_length(v));
}

static json_t *decode_bool(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_boolean(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_element_type(f), false);
        return NULL;
    }
    return json_is_true(v) || f->flags & SCHEMA_POINTER ? json_boolean(json_is_true(v)) : NULL;
}

/* The text of a number is not kept in trees: this is the shortest that reads the same. */
static char *number_name(const json_t *v) {
    if (json_is_integer(v))
        return xasprintf("number %" JSON_INTEGER_FORMAT, json_integer_value(v));
    for (int digits = 1;; digits++) {
        _cleanup_free_ char *text = xasprintf("%.*g", digits, json_real_value(v));
        if (digits == 17 || strtod(text, NULL) == json_real_value(v))
            return xasprintf("number %s%s", text, strpbrk(text, ".e") ? "" : ".0");
    }
}

static bool in_range(json_int_t n, enum schema_kind kind) {
    return kind == SCHEMA_INT64 || (n >= INT32_MIN && n <= INT32_MAX);
}

static json_t *decode_int(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_number(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_element_type(f), false);
        return NULL;
    }
    if (!json_is_integer(v) || !in_range(json_integer_value(v), f->kind)) {
        decoder_wrong_type(d, number_name(v), decoder_element_type(f), false);
        return NULL;
    }
    json_int_t n = json_integer_value(v);
    return n || f->flags & SCHEMA_POINTER ? json_integer(n) : NULL;
}

/* Go prints doubles without a fraction as if they were integers. */
static json_t *decode_double(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_number(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_element_type(f), false);
        return NULL;
    }
    double n = json_number_value(v);
    if (n == 0 && !(f->flags & SCHEMA_POINTER))
        return NULL;
    if (n > -1e15 && n < 1e15 && n == (double)(json_int_t)n)
        return json_integer((json_int_t)n);
    return json_real(n);
}

static size_t skip_breaks(const char *s, size_t len, size_t i) {
    while (i < len && (s[i] == '\n' || s[i] == '\r'))
        i++;
    return i;
}

static bool is_letter64(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* Where Go says that base64 goes wrong. */
static size_t base64_fault(const char *s, size_t len) {
    size_t letters = 0; /* of a group of four */
    for (size_t i = 0; i < len;) {
        char c = s[i++];
        if (c == '\n' || c == '\r')
            continue;
        if (is_letter64(c)) {
            letters = (letters + 1) % 4;
            continue;
        }
        if (c != '=' || letters < 2)
            return i - 1;
        i = skip_breaks(s, len, i);
        if (letters == 3)
            return i; /* what stands behind the end */
        if (i == len)
            return len;
        return s[i] == '=' ? skip_breaks(s, len, i + 1) : i - 1;
    }
    return len - letters;
}

static char *base64_error(const char *s, size_t len) {
    return xasprintf("illegal base64 data at input byte %zu", base64_fault(s, len));
}

/* To Go bytes are a list too. */
static json_t *decode_byte_list(struct decoder *d, const json_t *v) {
    _cleanup_str_ struct str bytes = STR_INIT, text = STR_INIT;
    for (size_t i = 0; i < json_array_size(v); i++) {
        const json_t *e = json_array_get(v, i);
        json_int_t n = json_integer_value(e);
        if (!json_is_null(e) && (!json_is_integer(e) || n < 0 || n > UINT8_MAX))
            decoder_wrong_type(d, json_is_number(e) ? number_name(e) : decoder_value_name(e),
                               xstrdup("uint8"), false);
        str_addc(&bytes, (char)n);
    }
    base64_encode(&text, str_get(&bytes), bytes.len);
    return json_stringn_nocheck(str_get(&text), text.len);
}

static json_t *decode_bytes(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (json_is_array(v))
        return json_array_size(v) ? decode_byte_list(d, v) : NULL;
    if (!json_is_string(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_element_type(f), false);
        return NULL;
    }
    _cleanup_free_ char *bytes = NULL;
    _cleanup_str_ struct str text = STR_INIT;
    size_t len;
    if (!base64_decode(json_string_value(v), json_string_length(v), &bytes, &len)) {
        decoder_wrong(d, base64_error(json_string_value(v), json_string_length(v)), false);
        return NULL;
    }
    if (!len)
        return NULL;
    base64_encode(&text, bytes, len);
    return json_stringn_nocheck(text.p, text.len);
}

static json_t *decode_time(struct decoder *d, const struct schema_field *f, const json_t *v) {
    _cleanup_err_ struct err err = ERR_INIT;
    char text[TIME_TEXT_LEN];
    bool micro = f->kind == SCHEMA_MICROTIME;
    int64_t t;
    if (!json_is_string(v)) {
        decoder_wrong_type(d, decoder_value_name(v), xstrdup("string"), true);
        return NULL;
    }
    if (time_text_parse(json_string_value(v), json_string_length(v), micro, &t, &err)) {
        decoder_wrong(d, xstrdup(err_msg(&err)), true);
        return NULL;
    }
    if (t == TIME_TEXT_ZERO)
        return f->flags & SCHEMA_POINTER ? json_null() : NULL;
    return json_string_nocheck(time_text_format(t, micro, text));
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text of a quantity as the decoder sees it: a number is one, and so are brackets and words,
 * which then are bad ones. */
static int quantity_of(const json_t *v, struct str *out, struct err *err) {
    if (json_is_string(v)) {
        const char *p = json_string_value(v), *end = p + json_string_length(v);
        while (p < end && is_blank(*p))
            p++;
        while (p < end && is_blank(end[-1]))
            end--;
        return quantity_text(p, (size_t)(end - p), out, err);
    }
    if (json_is_number(v)) {
        _cleanup_free_ char *name = number_name(v);
        const char *number = name + strlen("number ");
        return quantity_text(number, strlen(number), out, err);
    }
    return quantity_text("{}", 2, out, err);
}

static json_t *decode_quantity(struct decoder *d, const json_t *v) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str text = STR_INIT;
    if (quantity_of(v, &text, &err)) {
        decoder_wrong(d, xstrdup(err_msg(&err)), true);
        return NULL;
    }
    return json_stringn_nocheck(text.p, text.len);
}

static json_t *decode_intstr(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (json_is_string(v))
        return json_stringn_nocheck(json_string_value(v), json_string_length(v));
    if (!json_is_number(v)) {
        decoder_wrong_type(d, decoder_value_name(v), xstrdup("int32"), true);
        return NULL;
    }
    if (!json_is_integer(v) || !in_range(json_integer_value(v), SCHEMA_INT32)) {
        decoder_wrong_type(d, number_name(v), xstrdup("int32"), true);
        return NULL;
    }
    json_int_t n = json_integer_value(v);
    return n || f->flags & SCHEMA_POINTER ? json_integer(n) : NULL;
}

json_t *scalar_strings(struct decoder *d, const json_t *v, const char *type) {
    static const struct schema_field element = {.json = "", .kind = SCHEMA_STRING};
    if (!json_is_array(v)) {
        decoder_wrong_type(d, decoder_value_name(v), xstrdup(type), false);
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(v) && decoder_count(d); i++) {
        const json_t *e = json_array_get(v, i);
        json_t *text = json_is_null(e) ? NULL : decode_string(d, &element, e);
        json_array_append_new(list, text ? text : json_string(""));
    }
    if (json_array_size(list))
        return list;
    json_decref(list);
    return NULL;
}

json_t *scalar_decode(struct decoder *d, const struct schema_field *f, const json_t *v) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
        return decode_string(d, f, v);
    case SCHEMA_BOOL:
        return decode_bool(d, f, v);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return decode_int(d, f, v);
    case SCHEMA_DOUBLE:
        return decode_double(d, f, v);
    case SCHEMA_BYTES:
        return decode_bytes(d, f, v);
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
        return decode_time(d, f, v);
    case SCHEMA_QUANTITY:
        return decode_quantity(d, v);
    case SCHEMA_INTSTR:
        return decode_intstr(d, f, v);
    case SCHEMA_RAW:
        return json_deep_copy(v);
    case SCHEMA_STRINGS:
        return scalar_strings(d, v, "v1.ExtraValue");
    case SCHEMA_OBJECT:
    case SCHEMA_OR_BOOL:
    case SCHEMA_OR_LIST:
    case SCHEMA_OR_STRINGS:
        break;
    }
    return NULL;
}
