/* A type and its parameters. */
#include "sim/api/media_type.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

static const char *skip_space(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    return p;
}

/* RFC 2045's characters of a token. */
static size_t token_len(const char *p) {
    size_t n = 0;
    while (p[n] > ' ' && p[n] < 0x7f && !strchr("()<>@,;:\\\"/[]?=", p[n]))
        n++;
    return n;
}

/* A value, in quotes or not: where it ends, or NULL. */
static const char *skip_value(const char *p) {
    if (*p != '"') {
        size_t n = token_len(p);
        return n ? p + n : NULL;
    }
    for (p++; *p && *p != '"'; p++) {
        if (*p == '\r' || *p == '\n')
            return NULL;
        if (*p == '\\' && p[1])
            p++;
    }
    return *p == '"' ? p + 1 : NULL;
}

/* Whether a parameter of this name stands before `end`. */
static bool named_before(const char *from, const char *end, const char *name, size_t len) {
    for (const char *p = from; (p = skip_space(p)) < end;) {
        p = skip_space(p + 1);
        size_t n = token_len(p);
        if (p < end && n == len && strncasecmp(p, name, n) == 0)
            return true;
        p = skip_value(skip_space(skip_space(p + n) + 1));
        if (!p)
            return false;
    }
    return false;
}

/* "; charset=utf-8": each is whole and named once; a semicolon alone may be the last. */
static bool parameters_ok(const char *text) {
    const char *p = skip_space(text);
    while (*p) {
        const char *start = p;
        if (*p != ';')
            return false;
        p = skip_space(p + 1);
        if (!*p)
            return true;
        size_t n = token_len(p);
        const char *name = p;
        p = skip_space(p + n);
        if (!n || *p != '=')
            return false;
        p = skip_value(skip_space(p + 1));
        if (!p || named_before(text, start, name, n))
            return false;
        p = skip_space(p);
    }
    return true;
}

bool media_type_is(const char *header, const char *type) {
    const char *p = skip_space(header);
    size_t n = strcspn(p, ";"), end = n;
    while (n && isspace((unsigned char)p[n - 1]))
        n--;
    return n == strlen(type) && strncasecmp(p, type, n) == 0 && parameters_ok(p + end);
}
