/* Quantities as Kubernetes' servers print them.
 *
 * apimachinery's resource.Quantity has two representations, int64 and arbitrary decimals, and
 * decides by the number of digits which one to parse into. The result is the same but for when the
 * given text is kept, so all is computed here on digits, and only that decision is taken over. */
#include "sim/schema/quantity_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum format { DECIMAL_SI, BINARY_SI, DECIMAL_EXPONENT };

static const char error_format[] = "quantities must match the regular expression "
                                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char error_suffix[] = "unable to parse quantity's suffix";
static const char error_numeric[] = "unable to parse numeric part of quantity";

static const struct {
    const char *text;
    int base, exponent;
} suffixes[] = {
    {"", 10, 0},   {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"k", 10, 3},  {"M", 10, 6},
    {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
};

/* What a quantity's text is made of. */
struct parts {
    bool negative;
    bool digits;          /* there are any */
    struct view num, den; /* digits before the point without leading zeros, and after it */
    struct view suffix;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t digits_from(struct view s, size_t pos) {
    while (pos < s.len && is_digit(s.p[pos]))
        pos++;
    return pos;
}

static struct view cut(struct view s, size_t from, size_t to) {
    return (struct view){s.p + from, to - from};
}

static bool read_parts(struct view s, struct parts *out) {
    struct parts p = {0};
    size_t pos = 0;
    if (s.len && (s.p[0] == '-' || s.p[0] == '+'))
        p.negative = s.p[pos++] == '-';
    while (pos < s.len && s.p[pos] == '0')
        pos++;
    p.num = VIEW("0");
    p.digits = pos == s.len || s.p[pos - (pos > 0)] == '0';
    size_t end = digits_from(s, pos);
    if (end > pos)
        p.num = cut(s, pos, end);
    p.digits = p.digits || end > pos;
    pos = end;
    if (pos < s.len && s.p[pos] == '.') {
        end = digits_from(s, pos + 1);
        p.den = cut(s, pos + 1, end);
        p.digits = p.digits || p.den.len;
        pos = end;
    }
    size_t start = pos;
    while (pos < s.len && s.p[pos] && strchr("eEinumkKMGTP", s.p[pos]))
        pos++;
    if (pos < s.len && (s.p[pos] == '-' || s.p[pos] == '+'))
        pos++;
    pos = digits_from(s, pos);
    if (pos < s.len)
        return false;
    p.suffix = cut(s, start, pos);
    *out = p;
    return true;
}

static bool read_exponent(struct view s, int32_t *out) {
    if (s.len < 2 || (s.p[0] != 'e' && s.p[0] != 'E'))
        return false;
    size_t i = 1;
    bool negative = s.p[i] == '-';
    if (s.p[i] == '-' || s.p[i] == '+')
        i++;
    if (i == s.len)
        return false;
    int64_t n = 0;
    for (; i < s.len; i++) {
        if (!is_digit(s.p[i]) || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, s.p[i] - '0', &n))
            return false;
    }
    n = negative ? -n : n;
    /* Go cuts it to 32 bits and computes on; what that gives is of no use to anybody. */
    if (n > 1000000 || n < -1000000)
        return false;
    *out = (int32_t)n;
    return true;
}

static bool read_suffix(struct view s, int *base, int32_t *exponent, enum format *format) {
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (view_eq(s, view_of(suffixes[i].text))) {
            *base = suffixes[i].base;
            *exponent = suffixes[i].exponent;
            *format = *base == 2 ? BINARY_SI : DECIMAL_SI;
            return true;
        }
    *base = 10;
    *format = DECIMAL_EXPONENT;
    return read_exponent(s, exponent);
}

/* A natural number in decimal digits, the least one first, without leading zeros, and a power of
 * ten. */
struct number {
    uint8_t digits[QUANTITY_TEXT_MOST + 32]; /* 2^60 has 19 digits */
    size_t len;
    int64_t exponent;
};

static void trim(struct number *n) {
    while (n->len && !n->digits[n->len - 1])
        n->len--;
}

static void multiply(struct number *n, uint64_t factor) {
    unsigned __int128 carry = 0;
    for (size_t i = 0; i < n->len || carry; i++) {
        carry += (unsigned __int128)factor * (i < n->len ? n->digits[i] : 0);
        n->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
        n->len = i < n->len ? n->len : i + 1;
    }
}

/* Without its lowest digits, rounded up. */
static void drop(struct number *n, uint64_t count) {
    bool exact = true;
    for (size_t i = 0; i < n->len && i < count; i++)
        exact = exact && !n->digits[i];
    if (count >= n->len) {
        n->len = 0;
    } else {
        memmove(n->digits, n->digits + count, n->len - count);
        n->len -= count;
    }
    n->exponent += (int64_t)count;
    if (exact)
        return;
    size_t i = 0;
    for (; i < n->len && n->digits[i] == 9; i++)
        n->digits[i] = 0;
    if (i == n->len)
        n->digits[n->len++] = 1;
    else
        n->digits[i]++;
}

static void set_digits(struct number *n, struct view num, struct view den) {
    n->len = 0;
    for (size_t i = den.len; i-- > 0;)
        n->digits[n->len++] = (uint8_t)(den.p[i] - '0');
    for (size_t i = num.len; i-- > 0;)
        n->digits[n->len++] = (uint8_t)(num.p[i] - '0');
    n->exponent = -(int64_t)den.len;
    trim(n);
}

static void strip_zeros(struct number *n) {
    size_t zeros = 0;
    while (zeros < n->len && !n->digits[zeros])
        zeros++;
    drop(n, zeros);
}

/* The whole part, unless it is 2^64 or more; `exact` when there is no other. */
static bool whole(const struct number *n, uint64_t *out, bool *exact) {
    uint64_t v = 0;
    size_t point = n->exponent < 0 ? (size_t)-n->exponent : 0;
    if ((int64_t)n->len + n->exponent > 20)
        return false;
    for (size_t i = n->len; i-- > point;)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, n->digits[i], &v))
            return false;
    for (int64_t i = 0; n->len && i < n->exponent; i++)
        if (__builtin_mul_overflow(v, 10, &v))
            return false;
    *exact = true;
    for (size_t i = 0; i < n->len && i < point; i++)
        *exact = *exact && !n->digits[i];
    *out = v;
    return true;
}

static void print_digits(const struct number *n, struct str *out) {
    for (size_t i = n->len; i-- > 0;)
        str_addc(out, (char)('0' + n->digits[i]));
}

static void print_decimal(struct number *n, enum format format, struct str *out) {
    strip_zeros(n);
    while (n->exponent % 3) {
        memmove(n->digits + 1, n->digits, n->len++);
        n->digits[0] = 0;
        n->exponent--;
    }
    print_digits(n, out);
    if (format == DECIMAL_EXPONENT) {
        if (n->exponent)
            str_addf(out, "e%lld", (long long)n->exponent);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (suffixes[i].base == 10 && suffixes[i].exponent == n->exponent)
            str_add(out, suffixes[i].text);
}

static void print_binary(uint64_t v, struct str *out) {
    int exponent = 0;
    for (; v % 1024 == 0; exponent += 10)
        v /= 1024;
    str_addf(out, "%llu", (unsigned long long)v);
    for (size_t i = 0; exponent && i < ARRAY_LEN(suffixes); i++)
        if (suffixes[i].base == 2 && suffixes[i].exponent == exponent)
            str_add(out, suffixes[i].text);
}

/* Would Kubernetes parse it into an int64 and a power of ten? */
static bool is_small(const struct parts *p, enum format format, int32_t exponent) {
    if (format == BINARY_SI)
        return !p->den.len && 15 - (int)p->num.len - (int)((float)exponent * 3 / 10) - 1 >= 0;
    return p->num.len + p->den.len <= 18 && exponent - (int64_t)p->den.len >= -9;
}

/* A small one that looks canonical is printed as it was given. */
static bool is_kept(const struct parts *p, enum format format, int32_t exponent) {
    if (format == BINARY_SI) {
        /* The last three bits are those of the last three digits: 8 divides 1000. */
        unsigned low = 0;
        for (size_t i = p->num.len > 3 ? p->num.len - 3 : 0; i < p->num.len; i++)
            low = low * 10 + (unsigned)(p->num.p[i] - '0');
        return low % 8 != 0;
    }
    size_t zeros = 0;
    while (zeros < p->den.len && p->den.p[p->den.len - 1 - zeros] == '0')
        zeros++;
    if (zeros == p->den.len)
        while (zeros - p->den.len < p->num.len &&
               p->num.p[p->num.len - 1 - (zeros - p->den.len)] == '0')
            zeros++;
    return (exponent - (int)p->den.len) % 3 == 0 && zeros < 3 && p->num.p[0] != '0';
}

static void print(const struct parts *p, int base, int32_t exponent, enum format format,
                  struct str *out) {
    struct number n;
    uint64_t v = 0;
    bool exact = false;
    set_digits(&n, p->num, p->den);
    if (base == 2)
        multiply(&n, UINT64_C(1) << exponent);
    else
        n.exponent += exponent;
    trim(&n);
    if (n.exponent < -9)
        drop(&n, (uint64_t)(-9 - n.exponent));
    if (!n.len) {
        str_addc(out, '0');
        return;
    }
    if (p->negative)
        str_addc(out, '-');
    if (format == BINARY_SI) {
        if (!whole(&n, &v, &exact) || v >= INT64_MAX)
            v = INT64_MAX, exact = true; /* the most that this notation can say */
        if (v >= 1024 && exact) {
            print_binary(v, out);
            return;
        }
        format = DECIMAL_SI; /* loses nothing */
    }
    print_decimal(&n, format, out);
}

int quantity_text(const char *s, size_t len, struct str *out, struct err *err) {
    struct parts p;
    int base;
    int32_t exponent;
    enum format format;
    if (len == 0 || len > QUANTITY_TEXT_MOST || !read_parts((struct view){s, len}, &p))
        return err_set(err, EINVAL, "%s", error_format);
    if (!read_suffix(p.suffix, &base, &exponent, &format))
        return err_set(err, EINVAL, "%s", error_suffix);
    bool small = is_small(&p, format, exponent);
    if (!small && !p.digits)
        return err_set(err, EINVAL, "%s", error_numeric);
    if (small && is_kept(&p, format, exponent)) {
        str_addn(out, s, len);
        return 0;
    }
    print(&p, base, exponent, format, out);
    return 0;
}
