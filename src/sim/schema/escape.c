/* The escapes of JSON strings, undone. */
#include "sim/schema/escape.h"

#include "base/utf8.h"
#include "sim/schema/wire.h"

static int hex4(const char *p, const char *end) {
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static char *put_utf8(char *p, unsigned c) {
    if (c < 0x80) {
        *p++ = (char)c;
        return p;
    }
    if (c < 0x800) {
        *p++ = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *p++ = (char)(0xe0 | c >> 12);
        *p++ = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        *p++ = (char)(0xf0 | c >> 18);
        *p++ = (char)(0x80 | (c >> 12 & 0x3f));
        *p++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *p++ = (char)(0x80 | (c & 0x3f));
    return p;
}

/* \uXXXX, at its first digit. Returns where it ends, or NULL. */
static const char *take_rune(const char *p, const char *end, unsigned *out) {
    int high = hex4(p, end), low;
    if (high < 0)
        return NULL;
    p += 4;
    *out = (unsigned)high;
    if (high < 0xd800 || high > 0xdfff)
        return p;
    *out = 0xfffd;
    if (high < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        (low = hex4(p + 2, end)) >= 0xdc00 && low <= 0xdfff) {
        *out = 0x10000 + (((unsigned)high - 0xd800) << 10) + ((unsigned)low - 0xdc00);
        p += 6;
    }
    return p;
}

/* A sequence of UTF-8 or a byte that is none. */
static const char *copy_wide(const char *p, const char *end, char **to) {
    size_t n = utf8_len(p, (size_t)(end - p));
    if (!n) {
        *to = put_utf8(*to, 0xfffd);
        return p + 1;
    }
    memcpy(*to, p, n);
    *to += n;
    return p + n;
}

bool escape_undo(struct str *out, struct view v) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *p = v.p, *end = v.p + v.len;
    char *to = wire_room(out, 3 * v.len);
    while (p < end) {
        if (*p != '\\') {
            if ((unsigned char)*p < 0x80)
                *to++ = *p++;
            else
                p = copy_wide(p, end, &to);
            continue;
        }
        unsigned rune;
        if (++p == end)
            return wire_end(out, to), false;
        const char *letter = *p ? strchr(letters, *p) : NULL;
        if (letter) {
            *to++ = meanings[letter - letters];
            p++;
        } else if (*p == 'u' && (p = take_rune(p + 1, end, &rune))) {
            to = put_utf8(to, rune);
        } else {
            return wire_end(out, to), false;
        }
    }
    wire_end(out, to);
    return true;
}
