/* Kubernetes quantities. */
#include "model/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* number * 10^exp10 * 2^exp2, in thousandths. */
struct suffix {
    const char *text;
    int exp10, exp2;
};

static const struct suffix suffixes[] = {
    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The rest of the text after the digits: a suffix or an exponent. */
static bool parse_suffix(const char *s, size_t len, int *exp10, int *exp2) {
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strlen(suffixes[i].text) == len && !memcmp(suffixes[i].text, s, len)) {
            *exp10 = suffixes[i].exp10;
            *exp2 = suffixes[i].exp2;
            return true;
        }
    }
    if (len < 2 || (s[0] != 'e' && s[0] != 'E'))
        return false;
    size_t i = 1;
    bool negative = s[i] == '-';
    if (s[i] == '-' || s[i] == '+')
        i++;
    if (i == len)
        return false;
    int e = 0;
    for (; i < len; i++) {
        if (!is_digit(s[i]))
            return false;
        e = e < 1000 ? e * 10 + (s[i] - '0') : e;
    }
    *exp10 = negative ? -e : e;
    *exp2 = 0;
    return true;
}

bool quantity_parse(const char *s, size_t len, int64_t *milli) {
    size_t i = 0;
    bool negative = false, any = false, point = false, lost = false;
    if (i < len && (s[i] == '+' || s[i] == '-'))
        negative = s[i++] == '-';
    /* Digits up to a value that leaves room for the multiplications below; later ones only count.
     */
    unsigned __int128 v = 0;
    int exp10 = 0;
    for (; i < len && (is_digit(s[i]) || (s[i] == '.' && !point)); i++) {
        if (s[i] == '.') {
            point = true;
            continue;
        }
        any = true;
        if (v < (unsigned __int128)1 << 63) {
            v = v * 10 + (unsigned)(s[i] - '0');
            exp10 -= point;
        } else {
            lost |= s[i] != '0';
            exp10 += !point;
        }
    }
    int suffix10, exp2;
    if (!any || !parse_suffix(s + i, len - i, &suffix10, &exp2))
        return false;
    exp10 += suffix10 + 3;
    /* v is below 10 * 2^63, so that even the largest binary suffix leaves it below this. */
    const unsigned __int128 limit = (unsigned __int128)1 << 127;
    bool big = false;
    v <<= exp2;
    for (; exp10 > 0 && v && !big; exp10--) {
        if (v >= limit / 10)
            big = true;
        else
            v *= 10;
    }
    for (; exp10 < 0 && (v || lost); exp10++) {
        lost |= v % 10 != 0;
        v /= 10;
        if (!v && exp10 < -40)
            break;
    }
    v += lost;
    if (big || v > (unsigned __int128)INT64_MAX)
        v = INT64_MAX;
    *milli = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

const char *quantity_format(int64_t milli, char buf[static QUANTITY_LEN]) {
    if (milli % 1000 == 0)
        snprintf(buf, QUANTITY_LEN, "%" PRId64, milli / 1000);
    else
        snprintf(buf, QUANTITY_LEN, "%" PRId64 "m", milli);
    return buf;
}
