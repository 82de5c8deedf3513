/* Writes JSON. */
#include "base/jsonw.h"

#include <assert.h>
#include <stdint.h>

#include "base/utf8.h"

void jsonw_init(struct jsonw *w, struct str *out, bool pretty) {
    *w = (struct jsonw){.out = out, .pretty = pretty};
}

static void newline(struct jsonw *w) {
    if (!w->pretty)
        return;
    str_addc(w->out, '\n');
    for (int i = 0; i < w->depth; i++)
        str_add(w->out, "  ");
}

/* What stands between the last thing and the next value. */
static void before_value(struct jsonw *w) {
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (!w->depth)
        return;
    if (w->any[w->depth - 1])
        str_addc(w->out, ',');
    w->any[w->depth - 1] = true;
    newline(w);
}

void jsonw_begin(struct jsonw *w, char open) {
    assert(w->depth < JSONW_DEPTH);
    before_value(w);
    str_addc(w->out, open);
    w->close[w->depth] = open == '{' ? '}' : ']';
    w->any[w->depth] = false;
    w->depth++;
}

void jsonw_end(struct jsonw *w) {
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    if (w->any[w->depth])
        newline(w);
    str_addc(w->out, w->close[w->depth]);
}

void jsonw_key(struct jsonw *w, const char *key) {
    assert(w->depth > 0 && w->close[w->depth - 1] == '}' && !w->after_key);
    before_value(w);
    json_quote(w->out, key, strlen(key));
    str_add(w->out, w->pretty ? ": " : ":");
    w->after_key = true;
}

void jsonw_strn(struct jsonw *w, const char *s, size_t len) {
    before_value(w);
    json_quote(w->out, s, len);
}

void jsonw_str(struct jsonw *w, const char *s) {
    if (s)
        jsonw_strn(w, s, strlen(s));
    else
        jsonw_null(w);
}

/* By hand: printf() takes most of the time of those who write many numbers. */
void jsonw_int(struct jsonw *w, int64_t v) {
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    before_value(w);
    do {
        *--p = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (v < 0)
        *--p = '-';
    str_addn(w->out, p, (size_t)(digits + sizeof digits - p));
}

void jsonw_bool(struct jsonw *w, bool v) {
    jsonw_raw(w, v ? "true" : "false");
}

void jsonw_null(struct jsonw *w) {
    jsonw_raw(w, "null");
}

void jsonw_raw(struct jsonw *w, const char *json) {
    before_value(w);
    str_add(w->out, json);
}

void jsonw_kstr(struct jsonw *w, const char *key, const char *s) {
    jsonw_key(w, key);
    jsonw_str(w, s);
}

void jsonw_kint(struct jsonw *w, const char *key, int64_t v) {
    jsonw_key(w, key);
    jsonw_int(w, v);
}

void jsonw_kbool(struct jsonw *w, const char *key, bool v) {
    jsonw_key(w, key);
    jsonw_bool(w, v);
}

void jsonw_kopt(struct jsonw *w, const char *key, const char *s) {
    if (!str_empty(s))
        jsonw_kstr(w, key, s);
}

/* Bytes that are no characters become longer ones, so it is cut afterwards. */
void jsonw_kcut(struct jsonw *w, const char *key, const char *s, size_t max) {
    _cleanup_str_ struct str clean = STR_INIT;
    size_t len = 0, n;
    utf8_clean(&clean, strna(s), strnlen(strna(s), max));
    while (len < clean.len && (n = utf8_len(str_get(&clean) + len, clean.len - len)) &&
           len + n <= max)
        len += n;
    jsonw_key(w, key);
    jsonw_strn(w, str_get(&clean), len);
}

void jsonw_kbegin(struct jsonw *w, const char *key, char open) {
    jsonw_key(w, key);
    jsonw_begin(w, open);
}

void json_quote(struct str *out, const char *s, size_t len) {
    str_addc(out, '"');
    size_t start = 0;
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)s[i];
        size_t n = c < 0x80 ? 1 : utf8_len(s + i, len - i);
        if (n && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            i += n;
            continue;
        }
        str_addn(out, s + start, i - start);
        if (!n)
            str_add(out, UTF8_REPLACEMENT);
        else if (c == '"' || c == '\\')
            str_addf(out, "\\%c", c);
        else if (c == '\n')
            str_add(out, "\\n");
        else if (c == '\t')
            str_add(out, "\\t");
        else if (c == '\r')
            str_add(out, "\\r");
        else
            str_addf(out, "\\u%04x", c);
        start = ++i;
    }
    str_addn(out, s + start, len - start);
    str_addc(out, '"');
}
