/* Reads JSON as Kubernetes' servers read it. */
#include "sim/schema/text_read.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "base/utf8.h"
#include "sim/schema/escape.h"
#include "sim/schema/goquote.h"

enum { MOST_NOTES = 100 };

struct reader {
    const char *p, *end;
    struct schema_notes *notes;
    struct str path;  /* only kept when there are notes to make */
    struct str spare; /* strings that are not as they stand */
    int depth;
    size_t parts;
    char *too_big; /* the complaint about a number; about the syntax is told first, as by Go */
    struct err *err;
};

/* --- complaints --- */

/* About the next character. At the end Go looks at one more blank, and that may be wrong, too. */
static json_t *wrong(struct reader *r, const char *context) {
    _cleanup_str_ struct str quoted = STR_INIT;
    char rune[2] = {r->p < r->end ? *r->p : ' ', '\0'};
    size_t len = 1;
    if ((unsigned char)rune[0] >= 0x80) { /* a byte is taken for a character */
        rune[1] = (char)(0x80 | (rune[0] & 0x3f));
        rune[0] = (char)(0xc0 | (unsigned char)rune[0] >> 6);
        len = 2;
    }
    if (rune[0] == '\'' || rune[0] == '"') {
        str_add(&quoted, rune[0] == '"' ? "'\"'" : "'\\''");
    } else {
        goquote(&quoted, rune, len);
        quoted.p[0] = quoted.p[quoted.len - 1] = '\'';
    }
    err_set(r->err, EINVAL, "invalid character %s %s", str_get(&quoted), context);
    return NULL;
}

static json_t *ends(struct reader *r) {
    err_set(r->err, EINVAL, "unexpected end of JSON input");
    return NULL;
}

static json_t *unexpected(struct reader *r, const char *context) {
    return r->p < r->end ? wrong(r, context) : ends(r);
}

static void skip_blanks(struct reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
}

/* --- strings --- */

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind a backslash: is what follows an escape? Goes behind it. */
static bool pass_escape(struct reader *r) {
    char c = (char)(r->p < r->end ? *r->p : '\0');
    if (c && strchr("\"\\/bfnrt", c)) {
        r->p++;
        return true;
    }
    if (c != 'u')
        return wrong(r, "in string escape code"), false;
    r->p++;
    for (int i = 0; i < 4; i++, r->p++)
        if (r->p == r->end || !is_hex(*r->p))
            return wrong(r, "in \\u hexadecimal character escape"), false;
    return true;
}

/* What stands between the quotes; the reader is behind the first. Valid until the next one. */
static bool read_text(struct reader *r, struct view *out) {
    const char *start = r->p;
    bool escaped = false, wide = false;
    for (;;) {
        if (r->p == r->end)
            return ends(r), false;
        unsigned char c = (unsigned char)*r->p;
        if (c == '"')
            break;
        if (c < ' ')
            return wrong(r, "in string literal"), false;
        wide = wide || c >= 0x80;
        r->p++;
        if (c == '\\') {
            escaped = true;
            if (!pass_escape(r))
                return false;
        }
    }
    *out = (struct view){start, (size_t)(r->p++ - start)};
    if (!escaped && (!wide || utf8_valid(out->p, out->len)))
        return true;
    str_reset(&r->spare);
    escape_undo(&r->spare, *out);
    *out = (struct view){r->spare.p, r->spare.len};
    return true;
}

/* --- numbers --- */

static bool is_digit(const struct reader *r) {
    return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static bool pass_digits(struct reader *r, const char *context) {
    if (!is_digit(r))
        return wrong(r, context), false;
    while (is_digit(r))
        r->p++;
    return true;
}

static json_t *read_double(struct reader *r, const char *start) {
    char buf[64];
    size_t len = (size_t)(r->p - start);
    _cleanup_free_ char *heap = len < sizeof buf ? NULL : xstrndup(start, len);
    if (!heap) {
        memcpy(buf, start, len);
        buf[len] = '\0';
    }
    double v = strtod(heap ? heap : buf, NULL);
    if (isfinite(v))
        return json_real(v);
    if (!r->too_big)
        r->too_big = xasprintf("json: cannot unmarshal number %.*s into Go value of type float64",
                               (int)MIN_OF(len, (size_t)100), start);
    return json_real(0);
}

static json_t *read_number(struct reader *r) {
    const char *start = r->p;
    bool negative = *r->p == '-', is_int = true;
    uint64_t v = 0;
    r->p += negative;
    if (r->p < r->end && *r->p == '0')
        r->p++;
    else if (!pass_digits(r, "in numeric literal"))
        return NULL;
    for (const char *p = start + negative; p < r->p && is_int; p++)
        is_int = !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, *p - '0', &v);
    if (r->p < r->end && *r->p == '.') {
        is_int = false;
        r->p++;
        if (!pass_digits(r, "after decimal point in numeric literal"))
            return NULL;
    }
    if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
        is_int = false;
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        if (!pass_digits(r, "in exponent of numeric literal"))
            return NULL;
    }
    if (is_int && v <= (uint64_t)INT64_MAX + negative)
        return json_integer((json_int_t)(negative ? -v : v));
    return read_double(r, start);
}

static json_t *read_word(struct reader *r, const char *word, json_t *value) {
    for (size_t i = 0; word[i]; i++, r->p++) {
        if (r->p < r->end && *r->p == word[i])
            continue;
        char context[64];
        snprintf(context, sizeof context, "in literal %s (expecting '%c')", word, word[i]);
        return wrong(r, context);
    }
    return value;
}

/* --- lists and objects --- */

static json_t *read_value(struct reader *r);

static bool enter(struct reader *r) {
    if (r->depth++ >= TEXT_DEPTH)
        return wrong(r, "exceeded max depth"), false;
    if (r->parts++ < TEXT_MOST_PARTS)
        return true;
    err_set(r->err, EINVAL, "more lists and objects than any object has");
    return false;
}

static void leave_path(struct reader *r, size_t len) {
    if (r->path.len > len) {
        r->path.len = len;
        r->path.p[len] = '\0';
    }
}

static json_t *read_list(struct reader *r) {
    _cleanup_json_ json_t *list = json_array();
    size_t before = r->path.len;
    if (!enter(r))
        return NULL;
    r->p++;
    skip_blanks(r);
    if (r->p < r->end && *r->p == ']') {
        r->p++;
        r->depth--;
        return TAKE_PTR(list);
    }
    for (;;) {
        if (r->notes)
            str_addf(&r->path, "[%zu]", json_array_size(list));
        json_t *value = read_value(r);
        if (!value)
            return NULL;
        json_array_append_new(list, value);
        leave_path(r, before);
        skip_blanks(r);
        if (r->p == r->end || (*r->p != ',' && *r->p != ']'))
            return unexpected(r, "after array element");
        if (*r->p++ == ']')
            break;
    }
    r->depth--;
    return TAKE_PTR(list);
}

/* The path ends with the member. */
static void note_duplicate(struct reader *r) {
    _cleanup_str_ struct str text = STR_INIT;
    if (r->notes->texts.len >= MOST_NOTES)
        return;
    str_add(&text, "duplicate field ");
    goquote(&text, str_get(&r->path), r->path.len);
    for (size_t i = 0; i < r->notes->texts.len; i++)
        if (streq(r->notes->texts.p[i], str_get(&text)))
            return;
    *vec_push(&r->notes->texts) = str_take(&text);
}

static bool read_member(struct reader *r, json_t *object) {
    struct view key;
    size_t before = r->path.len;
    if (r->p == r->end || *r->p != '"')
        return unexpected(r, "looking for beginning of object key string"), false;
    r->p++;
    if (!read_text(r, &key))
        return false;
    /* The key lies in `spare` when it had escapes, and the value may need that. */
    _cleanup_free_ char *copy = key.p == r->spare.p ? xmemdup(key.p, key.len) : NULL;
    if (copy)
        key.p = copy;
    skip_blanks(r);
    if (r->p == r->end || *r->p != ':')
        return unexpected(r, "after object key"), false;
    r->p++;
    if (r->notes) {
        if (r->depth > 1)
            str_addc(&r->path, '.');
        str_addn(&r->path, key.p, key.len);
        if (json_object_getn(object, key.p, key.len))
            note_duplicate(r);
    }
    json_t *value = read_value(r);
    if (!value)
        return false;
    json_object_setn_new_nocheck(object, key.p, key.len, value);
    leave_path(r, before);
    return true;
}

static json_t *read_object(struct reader *r) {
    _cleanup_json_ json_t *object = json_object();
    if (!enter(r))
        return NULL;
    r->p++;
    skip_blanks(r);
    if (r->p < r->end && *r->p == '}') {
        r->p++;
        r->depth--;
        return TAKE_PTR(object);
    }
    for (;;) {
        if (!read_member(r, object))
            return NULL;
        skip_blanks(r);
        if (r->p == r->end || (*r->p != ',' && *r->p != '}'))
            return unexpected(r, "after object key:value pair");
        if (*r->p++ == '}')
            break;
        skip_blanks(r);
    }
    r->depth--;
    return TAKE_PTR(object);
}

static json_t *read_value(struct reader *r) {
    struct view text;
    skip_blanks(r);
    if (r->p == r->end)
        return ends(r);
    switch (*r->p) {
    case '{':
        return read_object(r);
    case '[':
        return read_list(r);
    case '"':
        r->p++;
        return read_text(r, &text) ? json_stringn_nocheck(text.p, text.len) : NULL;
    case 't':
        return read_word(r, "true", json_true());
    case 'f':
        return read_word(r, "false", json_false());
    case 'n':
        return read_word(r, "null", json_null());
    default:
        if (*r->p == '-' || is_digit(r))
            return read_number(r);
        return wrong(r, "looking for beginning of value");
    }
}

int text_read(struct view text, struct schema_notes *notes, json_t **out, struct err *err) {
    struct reader r = {.p = text.p, .end = text.p + text.len, .notes = notes, .err = err};
    _cleanup_err_ struct err unwanted = ERR_INIT;
    if (!err)
        r.err = &unwanted;
    json_t *found = read_value(&r);
    if (found) {
        skip_blanks(&r);
        if (r.p < r.end)
            wrong(&r, "after top-level value");
        else if (r.too_big)
            err_set(r.err, EINVAL, "%s", r.too_big);
        if (r.p < r.end || r.too_big) {
            json_decref(found);
            found = NULL;
        }
    }
    free(r.too_big);
    str_done(&r.path);
    str_done(&r.spare);
    if (!found)
        return -EINVAL;
    *out = found;
    return 0;
}
