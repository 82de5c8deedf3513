/* UTF-8. */
#include "base/utf8.h"

#include <wchar.h>

size_t utf8_len(const char *s, size_t n) {
    const unsigned char *u = (const unsigned char *)s;
    if (!n)
        return 0;
    if (u[0] < 0x80)
        return 1;
    if (u[0] < 0xc2)
        return 0;
    size_t len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
    if (!len || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return len;
}

bool utf8_valid(const char *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        uint64_t w;
        if (n - i >= 8) {
            memcpy(&w, s + i, 8);
            if (!(w & 0x8080808080808080u)) {
                i += 8;
                continue;
            }
        }
        size_t len = utf8_len(s + i, n - i);
        if (!len)
            return false;
        i += len;
    }
    return true;
}

void utf8_clean(struct str *out, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t len = s[i] ? utf8_len(s + i, n - i) : 0;
        if (len)
            str_addn(out, s + i, len);
        else
            str_add(out, UTF8_REPLACEMENT);
        i += len ? len : 1;
    }
}

uint32_t utf8_decode(const char *s, size_t len) {
    const unsigned char *u = (const unsigned char *)s;
    uint32_t c = len == 1 ? u[0] : u[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (u[i] & 0x3f);
    return c;
}

size_t utf8_width(const char *s) {
    size_t width = 0, n = strlen(s);
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(s + i, n - i);
        uint32_t c = len ? utf8_decode(s + i, len) : 0xfffd;
        /* wcwidth() knows only what the locale knows; in the C locale it answers -1 for all but
         * ASCII. */
        int w = c < 0x20 || (c >= 0x7f && c < 0xa0) ? 0 : c < 0x7f ? 1 : wcwidth((wchar_t)c);
        width += w < 0 ? 1 : (size_t)w;
        i += len ? len : 1;
    }
    return width;
}

bool utf8_unsafe(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void utf8_printable(struct str *out, const char *s) {
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(s + i, n - i);
        uint32_t c = len ? utf8_decode(s + i, len) : 0;
        if (!len)
            str_addf(out, "\\x%02x", (unsigned char)s[i]);
        else if (c == '\n')
            str_add(out, "\\n");
        else if (c == '\t')
            str_add(out, "\\t");
        else if (utf8_unsafe(c))
            str_addf(out, c < 0x80 ? "\\x%02x" : "\\u{%x}", c);
        else
            str_addn(out, s + i, len);
        i += len ? len : 1;
    }
}
