/* A growing byte string. */
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

void str_done(struct str *s) {
    if (!s)
        return;
    free(s->p);
    *s = STR_INIT;
}

char *str_take(struct str *s) {
    char *p = s->p ? s->p : xstrdup("");
    *s = STR_INIT;
    return p;
}

void str_reset(struct str *s) {
    s->len = 0;
    if (s->p)
        s->p[0] = '\0';
}

void str_reserve(struct str *s, size_t more) {
    size_t need = s->len + more + 1;
    if (need <= s->cap)
        return;
    size_t cap = s->cap ? s->cap : 32;
    while (cap < need)
        cap += cap / 2 + 16;
    s->p = xrealloc(s->p, cap, 1);
    s->cap = cap;
    s->p[s->len] = '\0';
}

void str_addn(struct str *s, const void *bytes, size_t len) {
    str_reserve(s, len);
    if (len)
        memcpy(s->p + s->len, bytes, len);
    s->len += len;
    s->p[s->len] = '\0';
}

void str_add(struct str *s, const char *text) {
    str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c) {
    str_addn(s, &c, 1);
}

void str_addvf(struct str *s, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n > 0) {
        str_reserve(s, (size_t)n);
        vsnprintf(s->p + s->len, (size_t)n + 1, fmt, again);
        s->len += (size_t)n;
    }
    va_end(again);
}

void str_addf(struct str *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    str_addvf(s, fmt, ap);
    va_end(ap);
}

void str_add_url(struct str *s, const char *text) {
    static const char hex[] = "0123456789ABCDEF";
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
            strchr("-._~", *c)) {
            str_addc(s, (char)*c);
        } else {
            char esc[3] = {'%', hex[*c >> 4], hex[*c & 15]};
            str_addn(s, esc, 3);
        }
    }
}

void str_drop(struct str *s, size_t n) {
    if (n > s->len)
        n = s->len;
    if (!n)
        return;
    memmove(s->p, s->p + n, s->len - n + 1);
    s->len -= n;
}

bool str_ends(const char *s, const char *suffix) {
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}
