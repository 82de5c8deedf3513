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
        offset = (int64_t)sign * (oh * 3600 + om * 60);
    }
    if (p != end)
        return false;
    *usec = (days_of(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec - offset) * USEC_PER_SEC + frac;
    return true;
}

/* The date of a day since 1970: days_of() the other way round. */
static void date_of(int64_t day, int64_t *y, int *m, int *d) {
    int64_t z = day + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = yoe + era * 400 + (*m <= 2);
}

static char *put_digits(char *p, int64_t v, int n) {
    for (int i = n; i-- > 0; v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + n;
}

/* By hand: most of what a simulated cluster writes are times, and printf() takes fifty times as
 * long. */
const char *time_format(int64_t usec, bool micro, char buf[static TIMEFMT_LEN]) {
    int64_t sec = usec / USEC_PER_SEC, frac = usec % USEC_PER_SEC;
    if (frac < 0) {
        frac += USEC_PER_SEC;
        sec--;
    }
    int64_t day = sec / 86400, rest = sec % 86400;
    if (rest < 0) {
        rest += 86400;
        day--;
    }
    int64_t y;
    int mo, d;
    date_of(day, &y, &mo, &d);
    char *p = buf;
    if (y < 0 || y > 9999) /* no time that any API could have sent */
        p += snprintf(p, 8, "%04" PRId64, y);
    else
        p = put_digits(p, y, 4);
    *p++ = '-';
    p = put_digits(p, mo, 2);
    *p++ = '-';
    p = put_digits(p, d, 2);
    *p++ = 'T';
    p = put_digits(p, rest / 3600, 2);
    *p++ = ':';
    p = put_digits(p, rest / 60 % 60, 2);
    *p++ = ':';
    p = put_digits(p, rest % 60, 2);
    if (micro) {
        *p++ = '.';
        p = put_digits(p, frac, 6);
    }
    *p++ = 'Z';
    *p = 0;
    return buf;
}

/* By hand and not by strptime(), which reads names in the user's language and takes 31 February. */
bool time_parse_http(const char *s, int64_t *usec) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char days[] = "ThuFriSatSunMonTueWed"; /* 1 January 1970 was a Thursday */
    const char *end = s + strlen(s), *p = s + 5;
    int d, y, h, mi, sec, mo = 0;
    if (end - s != 29 || memcmp(s + 3, ", ", 2) != 0 || strcmp(s + 25, " GMT") != 0)
        return false;
    if (!digits(&p, end, 2, &d) || !lit(&p, end, ' '))
        return false;
    while (mo < 12 && memcmp(names + 3 * (size_t)mo, p, 3) != 0)
        mo++;
    p += 3;
    if (mo++ == 12 || !lit(&p, end, ' ') || !digits(&p, end, 4, &y) || !lit(&p, end, ' ') ||
        !digits(&p, end, 2, &h) || !lit(&p, end, ':') || !digits(&p, end, 2, &mi) ||
        !lit(&p, end, ':') || !digits(&p, end, 2, &sec))
        return false;
    if (d < 1 || d > days_in(y, mo) || h > 23 || mi > 59 || sec > 60)
        return false;
    int64_t day = days_of(y, mo, d);
    if (memcmp(days + 3 * ((day % 7 + 7) % 7), s, 3) != 0)
        return false;
    *usec = (day * 86400 + h * 3600 + mi * 60 + sec) * USEC_PER_SEC;
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

const char *duration_format_limit(int64_t usec, char buf[static TIMEFMT_LEN]) {
    if (usec <= 0 || usec >= USEC_PER_SEC)
        return duration_format(usec, buf);
    bool whole = usec % USEC_PER_MSEC == 0 || usec > 10 * USEC_PER_MSEC;
    snprintf(buf, TIMEFMT_LEN, "%d%s", (int)(whole ? usec / USEC_PER_MSEC : usec),
             whole ? "ms" : "us");
    return buf;
}

/* One "12.5h" of a duration: adds its nanoseconds to *total. False when it is none, or too much for
 * microseconds in 64 bits. A bare number means seconds. */
static bool parse_term(const char **p, bool may_be_bare, __int128 *total) {
    static const struct {
        const char *name;
        int64_t nsec;
    } units[] = {
        {"ns", 1},           {"us", 1000},
        {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000}, /* the two mu */
        {"ms", 1000000},     {"s", 1000000000},
        {"m", 60000000000},  {"h", 3600000000000},
    };
    const int64_t pico = 1000000000000; /* a fraction is read in these: enough for nanoseconds */
    int64_t whole = 0, part = 0, weight = pico;
    bool any = false;
    for (; isdigit((unsigned char)**p); (*p)++, any = true)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, **p - '0', &whole))
            return false;
    if (**p == '.')
        for ((*p)++; isdigit((unsigned char)**p); (*p)++, any = true)
            part += (**p - '0') * (weight /= 10);
    if (!any)
        return false;
    bool bare = may_be_bare && !**p;
    const char *unit = bare ? "s" : *p;
    size_t n = strcspn(unit, "0123456789.");
    if (!bare)
        *p += n;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) != n || memcmp(units[i].name, unit, n) != 0)
            continue;
        __int128 nsec = units[i].nsec;
        *total += whole * nsec + part * nsec / pico;
        return *total / 1000 <= INT64_MAX;
    }
    return false;
}

int duration_parse(const char *s, int64_t *usec, struct err *err) {
    const char *p = s;
    __int128 total = 0;
    bool good, negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    const char *first = p;
    do
        good = parse_term(&p, p == first, &total);
    while (good && *p);
    if (!good)
        return err_set(err, EINVAL, "\"%s\" is no duration: write for example 90s, 5m, 1h30m or 0",
                       s);
    *usec = (int64_t)(total / 1000) * (negative ? -1 : 1);
    return 0;
}

/* Without zeros at its end, and without the point then. */
static void trim_fraction(char *text) {
    char *point = strchr(text, '.');
    size_t len = strlen(text);
    if (!point)
        return;
    while (text[len - 1] == '0')
        text[--len] = '\0';
    if (text[len - 1] == '.')
        text[len - 1] = '\0';
}

const char *duration_format_go(int64_t usec, char buf[static TIMEFMT_LEN]) {
    char number[24];
    const char *sign = usec < 0 ? "-" : "";
    uint64_t u = usec < 0 ? -(uint64_t)usec : (uint64_t)usec;
    uint64_t s = u / USEC_PER_SEC;
    if (u && u < USEC_PER_MSEC) {
        snprintf(buf, TIMEFMT_LEN, "%s%" PRIu64 "\302\265s", sign, u);
        return buf;
    }
    if (u && u < USEC_PER_SEC) {
        snprintf(number, sizeof number, "%" PRIu64 ".%03" PRIu64, u / 1000, u % 1000);
        trim_fraction(number);
        snprintf(buf, TIMEFMT_LEN, "%s%sms", sign, number);
        return buf;
    }
    snprintf(number, sizeof number, "%" PRIu64 ".%06" PRIu64, s % 60, u % USEC_PER_SEC);
    trim_fraction(number);
    if (s >= 3600)
        snprintf(buf, TIMEFMT_LEN, "%s%" PRIu64 "h%" PRIu64 "m%ss", sign, s / 3600, s / 60 % 60,
                 number);
    else if (s >= 60)
        snprintf(buf, TIMEFMT_LEN, "%s%" PRIu64 "m%ss", sign, s / 60, number);
    else
        snprintf(buf, TIMEFMT_LEN, "%s%ss", sign, number);
    return buf;
}
