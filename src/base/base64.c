/* Base64. */
#include "base/base64.h"

#include <stdint.h>

#include "base/mem.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct str *out, const void *bytes, size_t len) {
    const unsigned char *p = bytes;
    str_reserve(out, (len + 2) / 3 * 4);
    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16;
        v |= i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0;
        v |= i + 2 < len ? p[i + 2] : 0;
        char quad[4] = {alphabet[v >> 18], alphabet[v >> 12 & 63],
                        i + 1 < len ? alphabet[v >> 6 & 63] : '=',
                        i + 2 < len ? alphabet[v & 63] : '='};
        str_addn(out, quad, 4);
    }
}

static int value_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(const char *text, size_t text_len, char **out, size_t *len) {
    size_t cap = text_len / 4 * 3 + 4, n = 0;
    char *buf = xmalloc(cap);
    uint32_t v = 0;
    int letters = 0, padding = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < text_len; i++) {
        char c = text[i];
        if (c == '\n' || c == '\r')
            continue;
        if (c == '=') {
            /* Padding only fills up the last group of four, from its third letter on. */
            ok = letters >= 2 && letters + ++padding <= 4;
            continue;
        }
        int d = value_of(c);
        if (d < 0 || padding) {
            ok = false;
            break;
        }
        v = v << 6 | (uint32_t)d;
        if (++letters < 4)
            continue;
        buf[n++] = (char)(v >> 16);
        buf[n++] = (char)(v >> 8);
        buf[n++] = (char)v;
        letters = 0;
        v = 0;
    }
    if (ok && (letters || padding)) {
        ok = letters + padding == 4;
        if (ok)
            buf[n++] = (char)(letters == 2 ? v >> 4 : v >> 10);
        if (ok && letters == 3)
            buf[n++] = (char)(v >> 2);
    }
    if (!ok) {
        mem_wipe(buf, n);
        free(buf);
        return false;
    }
    buf[n] = '\0';
    *out = buf;
    *len = n;
    return true;
}
