/* The formats of times: dates, points in time, durations, as strfmt reads them. */
#include <ctype.h>
#include <stdint.h>

#include "base/utf8.h"
#include "sim/api/structural_internal.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool digits(struct view v, size_t at, size_t n, int *out) {
    int value = 0;
    for (size_t i = at; i < at + n; i++) {
        if (i >= v.len || !is_digit(v.p[i]))
            return false;
        value = value * 10 + (v.p[i] - '0');
    }
    *out = value;
    return true;
}

bool format_date(struct view v) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (v.len != 10 || v.p[4] != '-' || v.p[7] != '-' || !digits(v, 0, 4, &year) ||
        !digits(v, 5, 2, &month) || !digits(v, 8, 2, &day) || month < 1 || month > 12)
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

static bool is_zone(struct view v) {
    int hours, minutes;
    if (v.len == 1)
        return v.p[0] == 'z' || v.p[0] == 'Z';
    return v.len == 6 && (v.p[0] == '+' || v.p[0] == '-') && digits(v, 1, 2, &hours) &&
           v.p[3] == ':' && digits(v, 4, 2, &minutes);
}

/* "12:30:00", a fraction that may begin with any character, and a zone. */
static bool is_time(struct view v) {
    int hours, minutes, seconds;
    if (!digits(v, 0, 2, &hours) || !digits(v, 3, 2, &minutes) || !digits(v, 6, 2, &seconds) ||
        v.p[2] != ':' || v.p[5] != ':' || hours > 23 || minutes > 59 || seconds > 59)
        return false;
    v.p += 8;
    v.len -= 8;
    if (is_zone(v))
        return true;
    size_t n = v.len && v.p[0] != '\n' ? utf8_len(v.p, v.len) : 0, begin = n;
    while (n && n < v.len && is_digit(v.p[n]))
        n++;
    return n > begin && is_zone((struct view){v.p + n, v.len - n});
}

/* Whatever stands behind a second T is not looked at. */
bool format_datetime(struct view v) {
    size_t t = 0, end;
    while (t < v.len && v.p[t] != 't' && v.p[t] != 'T')
        t++;
    for (end = t + 1; end < v.len && v.p[end] != 't' && v.p[end] != 'T'; end++)
        ;
    return t < v.len && format_date((struct view){v.p, t}) &&
           is_time((struct view){v.p + t + 1, MIN_OF(end, v.len) - t - 1});
}

/* --- durations --- */

#define MAX_DURATION (UINT64_C(1) << 63)

/* Takes "1h", "1.5h" or the like off the beginning; nanoseconds. */
static bool take_go_part(struct view *v, uint64_t *out) {
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {
        {"ns", 1},           {"us", 1000},      {"\xc2\xb5s", 1000}, /* U+00B5 */
        {"\xce\xbcs", 1000},                                         /* U+03BC */
        {"ms", 1000000},     {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000},
    };
    uint64_t whole = 0, fraction = 0;
    double scale = 1;
    size_t n = 0, unit = 0, count = 0;
    for (; n < v->len && is_digit(v->p[n]); n++, count++) {
        if (whole > MAX_DURATION / 10)
            return false;
        whole = whole * 10 + (uint64_t)(v->p[n] - '0');
        if (whole > MAX_DURATION)
            return false;
    }
    if (n < v->len && v->p[n] == '.') {
        for (n++; n < v->len && is_digit(v->p[n]); n++, count++) {
            if (fraction > (MAX_DURATION - 1) / 10)
                continue;
            fraction = fraction * 10 + (uint64_t)(v->p[n] - '0');
            scale *= 10;
        }
    }
    while (n + unit < v->len && v->p[n + unit] != '.' && !is_digit(v->p[n + unit]))
        unit++;
    for (size_t i = 0; i < ARRAY_LEN(units) && count; i++) {
        if (!view_eq((struct view){v->p + n, unit}, view_of(units[i].name)))
            continue;
        if (whole > MAX_DURATION / units[i].nanoseconds)
            return false;
        *out = whole * units[i].nanoseconds +
               (uint64_t)((double)fraction * ((double)units[i].nanoseconds / scale));
        v->p += n + unit;
        v->len -= n + unit;
        return *out <= MAX_DURATION;
    }
    return false;
}

static bool is_go_duration(struct view v) {
    bool negative = v.len && v.p[0] == '-';
    uint64_t sum = 0;
    if (v.len && (negative || v.p[0] == '+')) {
        v.p++;
        v.len--;
    }
    if (v.len == 1 && v.p[0] == '0')
        return true;
    if (!v.len)
        return false;
    while (v.len) {
        uint64_t part;
        if (!take_go_part(&v, &part) || (sum += part) > MAX_DURATION)
            return false;
    }
    return negative || sum < MAX_DURATION;
}

/* A unit of Scala's durations. The last name of a list may go on: "sec", "seconds". */
static bool is_scala_unit(struct view unit) {
    static const char *const lists[][4] = {
        {"ns", "nano"}, {"us", "\xc2\xb5s", "micro"}, {"ms", "milli"}, {"s", "sec"},
        {"m", "min"},   {"h", "hr", "hour"},          {"d", "day"},    {"w", "wk", "week"},
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < 4 && lists[i][k]; k++) {
            size_t len = strlen(lists[i][k]);
            bool last = !lists[i][k + 1];
            if ((last ? unit.len >= len : unit.len == len) &&
                !strncasecmp(unit.p, lists[i][k], len))
                return true;
        }
    return false;
}

/* Anywhere in the text: a number, blanks, a word. One with a unit is enough, unless a number is too
 * big. */
static bool is_scala_duration(struct view v) {
    bool any = false;
    for (size_t i = 0; i < v.len;) {
        size_t end = i, word;
        uint64_t number = 0;
        bool big = false;
        for (; end < v.len && is_digit(v.p[end]); end++) {
            big |= number > (uint64_t)INT64_MAX / 10;
            number = number * 10 + (uint64_t)(v.p[end] - '0');
            big |= number > INT64_MAX;
        }
        if (end == i) {
            i++;
            continue;
        }
        while (end < v.len && v.p[end] && strchr(" \t\n\f\r", v.p[end]))
            end++;
        for (word = end; word < v.len; word++) {
            bool micro = word + 1 < v.len && !memcmp(v.p + word, "\xc2\xb5", 2);
            if (!isalpha((unsigned char)v.p[word]) && !micro)
                break;
            word += micro;
        }
        if (word > end && big)
            return false;
        any |= word > end && is_scala_unit((struct view){v.p + end, word - end});
        i = word;
    }
    return any;
}

bool format_duration(struct view text) {
    return is_go_duration(text) || is_scala_duration(text);
}
