/* Members of JSON objects, written. */
#include "sim/fleet/status_text.h"

#include "base/timefmt.h"
#include "sim/schema/text.h"

void member_key(struct str *out, const char *key) {
    if (out->len && out->p[out->len - 1] != '{' && out->p[out->len - 1] != '[')
        str_addc(out, ',');
    str_addc(out, '"');
    str_add(out, key);
    str_addn(out, "\":", 2);
}

void member_number(struct str *out, const char *key, int64_t n) {
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--p = '-';
    member_key(out, key);
    str_addn(out, p, (size_t)(digits + sizeof digits - p));
}

void member_count(struct str *out, const char *key, int64_t n) {
    if (n)
        member_number(out, key, n);
}

void member_bool(struct str *out, const char *key, bool v) {
    member_raw(out, key, v ? VIEW("true") : VIEW("false"));
}

void member_str(struct str *out, const char *key, const char *text) {
    if (str_empty(text))
        return;
    member_key(out, key);
    text_string(text, strlen(text), out);
}

void member_time(struct str *out, const char *key, int64_t t) {
    char text[TIMEFMT_LEN];
    member_str(out, key, time_format(t, false, text));
}

void member_raw(struct str *out, const char *key, struct view text) {
    if (!text.len)
        return;
    member_key(out, key);
    str_addn(out, text.p, text.len);
}

void member_value(struct str *out, const char *key, const json_t *value) {
    member_key(out, key);
    text_value(value, out);
}
