/* What a plain scalar means: the core schema of YAML 1.2. */
#include "base/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static bool one_of(const char *s, const char *const *words) {
    while (*words && !streq(s, *words))
        words++;
    return *words != NULL;
}

static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
static const char *const trues[] = {"true", "True", "TRUE", NULL};
static const char *const falses[] = {"false", "False", "FALSE", NULL};
static const char *const no_numbers[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                         "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                         ".NaN",  ".NAN",  NULL};

/* 0: no integer. Else its base, and where its digits begin. */
static int integer_base(const char *s, const char **digits) {
    const char *d = s + (*s == '-' || *s == '+');
    const char *set = "0123456789";
    int base = 10;
    if (str_starts(s, "0o") || str_starts(s, "0x")) {
        base = s[1] == 'o' ? 8 : 16;
        set = base == 8 ? "01234567" : "0123456789abcdefABCDEF";
        d = s + 2;
    }
    *digits = d;
    return *d && d[strspn(d, set)] == '\0' ? base : 0;
}

static bool is_float(const char *s) {
    const char *digits = "0123456789";
    s += *s == '-' || *s == '+';
    size_t whole = strspn(s, digits), part = 0;
    s += whole;
    if (*s == '.') {
        part = strspn(++s, digits);
        s += part;
    }
    if (!whole && !part)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        size_t n = strspn(s, digits);
        if (!n)
            return false;
        s += n;
    }
    return !*s;
}

enum yaml_scalar yaml_scalar_kind(const char *s) {
    const char *digits;
    if (one_of(s, nulls))
        return YAML_SCALAR_NULL;
    if (one_of(s, trues))
        return YAML_SCALAR_TRUE;
    if (one_of(s, falses))
        return YAML_SCALAR_FALSE;
    if (integer_base(s, &digits))
        return YAML_SCALAR_INT;
    if (is_float(s) || one_of(s, no_numbers))
        return YAML_SCALAR_FLOAT;
    return YAML_SCALAR_STR;
}

json_t *yaml_scalar_number(const char *s) {
    const char *digits;
    int base = integer_base(s, &digits);
    if (base) {
        errno = 0;
        long long v = strtoll(base == 10 ? s : digits, NULL, base);
        return errno ? NULL : json_integer(v);
    }
    double v = one_of(s, no_numbers) ? HUGE_VAL : strtod(s, NULL);
    return isfinite(v) ? json_real(v) : NULL;
}
