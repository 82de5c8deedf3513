/* The text of a JSON value as Kubernetes' servers write it. */
#include "sim/schema/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/utf8.h"

/* Bytes that stand for themselves; the others are escaped or belong to longer characters. */
static bool is_plain(unsigned char c) {
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void add_special(struct str *out, unsigned char c) {
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char escape[8];
    if (c == '"' || c == '\\')
        snprintf(escape, sizeof escape, "\\%c", c);
    else if (c < sizeof letters && letters[c])
        snprintf(escape, sizeof escape, "\\%c", letters[c]);
    else
        snprintf(escape, sizeof escape, "\\u%04x", c);
    str_add(out, escape);
}

/* One character beyond ASCII; the line separators would end a line of JavaScript. */
static size_t add_wide(struct str *out, const char *s, size_t len) {
    size_t n = utf8_len(s, len);
    if (!n) {
        str_add(out, UTF8_REPLACEMENT);
        return 1;
    }
    uint32_t c = utf8_decode(s, n);
    if (c == 0x2028 || c == 0x2029)
        str_addf(out, "\\u%04x", c);
    else
        str_addn(out, s, n);
    return n;
}

void text_string(const char *s, size_t len, struct str *out) {
    str_reserve(out, len + 2);
    str_addc(out, '"');
    for (size_t i = 0, from = 0;; i = from) {
        while (i < len && is_plain((unsigned char)s[i]))
            i++;
        str_addn(out, s + from, i - from);
        if (i == len)
            break;
        if ((unsigned char)s[i] >= 0x80) {
            from = i + add_wide(out, s + i, len - i);
        } else {
            add_special(out, (unsigned char)s[i]);
            from = i + 1;
        }
    }
    str_addc(out, '"');
}

/* The shortest digits that read the same as v, "d.ddde-XX". */
static void shortest(double v, char *buf, size_t size) {
    for (int precision = 0; precision <= 17; precision++) {
        snprintf(buf, size, "%.*e", precision, v);
        if (strtod(buf, NULL) == v)
            return;
    }
}

void text_double(double v, struct str *out) {
    char digits[32];
    shortest(v, digits, sizeof digits);
    char *e = strchr(digits, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    if (v != 0 && (exponent < -6 || exponent >= 21)) {
        /* Go leaves out the zero of e-07, and C and Go agree on the rest. */
        if (e[2] == '0')
            memmove(e + 2, e + 3, strlen(e + 3) + 1);
        str_add(out, digits);
        return;
    }
    const char *p = digits;
    if (*p == '-')
        str_addc(out, *p++);
    if (exponent < 0)
        str_add(out, "0.");
    for (int i = -1; i > exponent; i--)
        str_addc(out, '0');
    /* The digits, with the point where it belongs, and zeros up to it. */
    for (int place = exponent; p < e || place >= 0; place--) {
        if (*p == '.')
            p++;
        if (place == -1 && exponent >= 0)
            str_addc(out, '.');
        str_addc(out, p < e ? *p++ : '0');
    }
}

static void add_integer(json_int_t v, struct str *out) {
    char digits[24], *p = digits + sizeof digits;
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--p = '-';
    str_addn(out, p, (size_t)(digits + sizeof digits - p));
}

static void add_array(const json_t *v, struct str *out) {
    str_addc(out, '[');
    for (size_t i = 0; i < json_array_size(v); i++) {
        if (i)
            str_addc(out, ',');
        text_value(json_array_get(v, i), out);
    }
    str_addc(out, ']');
}

static void add_object(const json_t *v, struct str *out) {
    json_t *object = (json_t *)v;
    bool first = true;
    str_addc(out, '{');
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
        if (!first)
            str_addc(out, ',');
        first = false;
        text_string(json_object_iter_key(i), json_object_iter_key_len(i), out);
        str_addc(out, ':');
        text_value(json_object_iter_value(i), out);
    }
    str_addc(out, '}');
}

void text_value(const json_t *v, struct str *out) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        add_object(v, out);
        break;
    case JSON_ARRAY:
        add_array(v, out);
        break;
    case JSON_STRING:
        text_string(json_string_value(v), json_string_length(v), out);
        break;
    case JSON_INTEGER:
        add_integer(json_integer_value(v), out);
        break;
    case JSON_REAL:
        text_double(json_real_value(v), out);
        break;
    case JSON_TRUE:
        str_add(out, "true");
        break;
    case JSON_FALSE:
        str_add(out, "false");
        break;
    case JSON_NULL:
        str_add(out, "null");
        break;
    }
}
