/* Text in quotes as Go writes it. */
#include "sim/schema/goquote.h"

#include "base/utf8.h"

static const char *escape_of(unsigned char c) {
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\a':
        return "\\a";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\v':
        return "\\v";
    default:
        return NULL;
    }
}

void goquote(struct str *out, const char *s, size_t len) {
    str_addc(out, '"');
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)s[i];
        const char *escape = escape_of(c);
        size_t n = utf8_len(s + i, len - i);
        uint32_t rune = n ? utf8_decode(s + i, n) : 0;
        if (escape)
            str_add(out, escape);
        else if (n == 0 || c < ' ' || c == 0x7f)
            str_addf(out, "\\x%02x", c);
        else if (utf8_unsafe(rune))
            str_addf(out, rune > 0xffff ? "\\U%08x" : "\\u%04x", rune);
        else
            str_addn(out, s + i, n);
        i += n ? n : 1;
    }
    str_addc(out, '"');
}
