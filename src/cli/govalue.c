/* Values of flags as Go reads them, and its words about those that it cannot read. */
#include "cli/govalue.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

void govalue_quote(struct str *out, const char *text) {
    static const char special[] = "\"\\\a\b\f\n\r\t\v", letters[] = "\"\\abfnrtv";
    str_addc(out, '"');
    for (const char *p = text; *p; p++) {
        const char *at = strchr(special, *p);
        if (at)
            str_addc(out, '\\');
        str_addc(out, at ? letters[at - special] : *p);
    }
    str_addc(out, '"');
}

static int fault(const char *text, const char *function, const char *why, struct err *err) {
    _cleanup_str_ struct str quoted = STR_INIT;
    govalue_quote(&quoted, text);
    return err_set(err, EINVAL, "strconv.%s: parsing %s: %s", function, str_get(&quoted), why);
}

int govalue_bool(const char *text, bool *out, struct err *err) {
    static const char *const words[] = {"0", "f", "F", "false", "FALSE", "False",
                                        "1", "t", "T", "true",  "TRUE",  "True"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (streq(text, words[i])) {
            *out = i >= ARRAY_LEN(words) / 2;
            return 0;
        }
    return fault(text, "ParseBool", "invalid syntax", err);
}

/* --- whole numbers --- */

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The base that the beginning of a number names; *p is moved behind it. */
static int base_of(const char **p) {
    const char *s = *p;
    if (s[0] != '0' || !s[1])
        return 10;
    char letter = (char)(s[1] | 0x20);
    int base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 0;
    *p += base ? 2 : 1;
    return base ? base : 8;
}

int govalue_int(const char *text, int64_t min, int64_t max, int64_t *out, struct err *err) {
    const char *p = text;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    const char *first = p;
    int base = base_of(&p);
    /* A prefix counts as a digit before an underscore, and a leading 0 is one. */
    bool digit_before = p > first, any = p == first + 1;
    __int128 v = 0;
    for (; *p; p++) {
        if (*p == '_' && digit_before && p[1]) {
            digit_before = false;
            continue;
        }
        int digit = digit_of(*p);
        if (digit < 0 || digit >= base)
            return fault(text, "ParseInt", "invalid syntax", err);
        any = digit_before = true;
        v = v * base + digit;
        if (v > UINT64_MAX) /* Go looks no further */
            return fault(text, "ParseInt", "value out of range", err);
    }
    if (!any)
        return fault(text, "ParseInt", "invalid syntax", err);
    if (negative)
        v = -v;
    if (v < min || v > max)
        return fault(text, "ParseInt", "value out of range", err);
    *out = (int64_t)v;
    return 0;
}

/* --- durations --- */

static int no_duration(const char *text, const char *why, struct err *err) {
    _cleanup_str_ struct str quoted = STR_INIT;
    govalue_quote(&quoted, text);
    return err_set(err, EINVAL, "time: %s %s", why, str_get(&quoted));
}

/* Finds the first thing that Go would stop at. */
static int explain_duration(const char *text, struct err *err) {
    static const char digits[] = "0123456789";
    static const char *const units[] = {"ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h"};
    const char *p = text + (*text == '-' || *text == '+');
    while (*p) {
        size_t before = strspn(p, digits), after = 0;
        p += before;
        if (*p == '.') {
            after = strspn(p + 1, digits);
            p += 1 + after;
        }
        if (!before && !after)
            break;
        size_t len = strcspn(p, ".0123456789");
        if (!len)
            return no_duration(text, "missing unit in duration", err);
        _cleanup_free_ char *unit = xstrndup(p, len);
        size_t i = 0;
        while (i < ARRAY_LEN(units) && !streq(units[i], unit))
            i++;
        if (i == ARRAY_LEN(units)) {
            _cleanup_str_ struct str why = STR_INIT;
            str_add(&why, "unknown unit ");
            govalue_quote(&why, unit);
            str_add(&why, " in duration");
            return no_duration(text, str_get(&why), err);
        }
        p += len;
    }
    return no_duration(text, "invalid duration", err);
}

int govalue_duration(const char *text, bool bare, int64_t *usec, struct err *err) {
    const char *digits = text + (*text == '+' || *text == '-');
    bool number = *digits && !digits[strspn(digits, "0123456789.")] && !streq(digits, "0");
    int64_t v;
    if ((number && !bare) || duration_parse(text, &v, NULL))
        return explain_duration(text, err);
    if (*text == '-' && strpbrk(text, "123456789"))
        return err_set(err, EINVAL, "it cannot be negative");
    *usec = v || !strpbrk(text, "123456789") ? v : 1;
    return 0;
}
