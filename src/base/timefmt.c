/* Points in time and durations as text. */
#include "base/timefmt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Days since 1970 of a date of the proleptic Gregorian calendar (March-based year, so that the leap
 * day is the last one). */
static int64_t days_of(int64_t y, int m, int d) {
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static bool digits(const char **p, const char *end, int n, int *out) {
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (*p == end || **p < '0' || **p > '9')
            return false;
        v = v * 10 + (*(*p)++ - '0');
    }
    *out = v;
    return true;
}

static bool lit(const char **p, const char *end, char c) {
    if (*p == end || **p != c)
        return false;
    (*p)++;
    return true;
}

static int days_in(int y, int m) {
    static const int n[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return n[m - 1] + (m == 2 && leap);
}

bool time_parse(const char *s, size_t len, int64_t *usec) {
    const char *p = s, *end = s + len;
    int y, mo, d, h, mi, sec;
    if (!digits(&p, end, 4, &y) || !lit(&p, end, '-') || !digits(&p, end, 2, &mo) ||
        !lit(&p, end, '-') || !digits(&p, end, 2, &d))
        return false;
    if (p == end || (*p != 'T' && *p != 't'))
        return false;
    p++;
    if (!digits(&p, end, 2, &h) || !lit(&p, end, ':') || !digits(&p, end, 2, &mi) ||
        !lit(&p, end, ':') || !digits(&p, end, 2, &sec))
        return false;
    if (mo < 1 || mo > 12 || d < 1 || d > days_in(y, mo) || h > 23 || mi > 59 || sec > 60)
        return false;
    int64_t frac = 0;
    if (p < end && *p == '.') {
        int64_t unit = 100000;
        if (++p == end || !isdigit((unsigned char)*p))
            return false;
        for (; p < end && isdigit((unsigned char)*p); p++, unit /= 10)
            frac += (*p - '0') * unit;
    }
    int64_t offset = 0;
    if (p < end && (*p == 'Z' || *p == 'z')) {
        p++;
    } else {
        int oh, om;
        if (p == end || (*p != '+' && *p != '-'))
            return false;
        int sign = *p++ == '-' ? -1 : 1;
        if (!digits(&p, end, 2, &oh) || !lit(&p, end, ':') || !digits(&p, end, 2, &om) || oh > 23 ||
            om > 59)
            return false;
        offset = sign * (oh * 3600 + om * 60);
    }
    if (p != end)
        return false;
    *usec = (days_of(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec - offset) * USEC_PER_SEC + frac;
    return true;
}

const char *time_format(int64_t usec, bool micro, char buf[static TIMEFMT_LEN]) {
    int64_t sec = usec / USEC_PER_SEC, frac = usec % USEC_PER_SEC;
    if (frac < 0) {
        frac += USEC_PER_SEC;
        sec--;
    }
    struct tm tm;
    time_t t = (time_t)sec;
    gmtime_r(&t, &tm);
    size_t n = strftime(buf, TIMEFMT_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buf + n, TIMEFMT_LEN - n, micro ? ".%06dZ" : "Z", (int)frac);
    return buf;
}

bool time_parse_http(const char *s, int64_t *usec) {
    struct tm tm = {0};
    const char *end = strptime(s, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (!end || *end)
        return false;
    *usec = (int64_t)timegm(&tm) * USEC_PER_SEC;
    return true;
}

const char *duration_format(int64_t usec, char buf[static TIMEFMT_LEN]) {
    int64_t s = usec / USEC_PER_SEC;
    if (s < 0)
        s = 0;
    int64_t m = s / 60, h = m / 60, d = h / 24, y = d / 365;
    /* The steps at which kubectl drops the smaller unit. */
    struct {
        int64_t big, small;
        const char *big_unit, *small_unit;
    } f;
    if (s < 120)
        f = (typeof(f)){s, 0, "s", ""};
    else if (m < 10)
        f = (typeof(f)){m, s % 60, "m", "s"};
    else if (h < 3)
        f = (typeof(f)){m, 0, "m", ""};
    else if (h < 8)
        f = (typeof(f)){h, m % 60, "h", "m"};
    else if (h < 48)
        f = (typeof(f)){h, 0, "h", ""};
    else if (d < 8)
        f = (typeof(f)){d, h % 24, "d", "h"};
    else if (d < 2 * 365)
        f = (typeof(f)){d, 0, "d", ""};
    else if (y < 8)
        f = (typeof(f)){y, d % 365, "y", "d"};
    else
        f = (typeof(f)){y, 0, "y", ""};
    if (f.small)
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "%s%" PRId64 "%s", f.big, f.big_unit, f.small,
                 f.small_unit);
    else
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "%s", f.big, f.big_unit);
    return buf;
}

int duration_parse(const char *s, int64_t *usec, struct err *err) {
    static const struct {
        const char *name;
        double usec;
    } units[] = {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}};
    const char *p = s;
    double total = 0;
    int terms = 0;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    while (*p) {
        char *end;
        if (!isdigit((unsigned char)*p) && *p != '.')
            break;
        double v = strtod(p, &end);
        if (end == p || memchr(p, 'x', (size_t)(end - p)) || memchr(p, 'e', (size_t)(end - p)))
            break;
        size_t n = strspn(end, "numsh");
        const char *unit = n ? end : terms ? NULL : "s";
        size_t unit_len = n ? n : 1;
        if (!n && *end)
            unit = NULL;
        size_t i = 0;
        for (; unit && i < sizeof units / sizeof units[0]; i++)
            if (strlen(units[i].name) == unit_len && !memcmp(units[i].name, unit, unit_len))
                break;
        if (!unit || i == sizeof units / sizeof units[0])
            return err_set(err, EINVAL,
                           "\"%s\" is no duration: write for example 90s, 5m, 1h30m or 0", s);
        total += v * units[i].usec;
        p = end + n;
        terms++;
    }
    if (!terms || *p || total > 9e18)
        return err_set(err, EINVAL, "\"%s\" is no duration: write for example 90s, 5m, 1h30m or 0",
                       s);
    *usec = (int64_t)(negative ? -total : total);
    return 0;
}
