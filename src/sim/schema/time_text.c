/* Points in time as Kubernetes' servers read and print them. */
#include "sim/schema/time_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "base/utf8.h"

/* Years 0 to 9999. */
#define FIRST (INT64_C(-62167219200) * USEC_PER_SEC)
#define END   (INT64_C(253402300800) * USEC_PER_SEC)

enum element { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, ZONE, N_ELEMENTS };

/* The layout as Go takes it apart: each element with what stands before it. */
static const struct {
    const char *before, *text;
} layout[N_ELEMENTS] = {
    [YEAR] = {"", "2006"},   [MONTH] = {"-", "01"},        [DAY] = {"-", "02"},
    [HOUR] = {"T", "15"},    [MINUTE] = {":", "04"},       [SECOND] = {":", "05"},
    [ZONE] = {"", "Z07:00"}, [FRACTION] = {"", ".000000"},
};

struct reader {
    struct view all, rest;
    bool micro;
    int value[N_ELEMENTS];
    int64_t offset; /* seconds */
};

static bool is_digit(struct view v, size_t i) {
    return i < v.len && v.p[i] >= '0' && v.p[i] <= '9';
}

static bool is_mark(struct view v) {
    return v.len && (v.p[0] == '.' || v.p[0] == ',');
}

static void advance(struct view *v, size_t n) {
    v->p += n;
    v->len -= n;
}

/* Go's package time quotes in a way of its own. */
static void quote(struct str *out, struct view v) {
    str_addc(out, '"');
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.p[i];
        if (c < ' ' || c >= 0x80) {
            str_addf(out, "\\x%02x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            str_addc(out, '\\');
        str_addc(out, (char)c);
    }
    str_addc(out, '"');
}

static int bad_element(const struct reader *r, struct view at, const char *text, struct err *err) {
    _cleanup_str_ struct str value = STR_INIT, rest = STR_INIT;
    quote(&value, r->all);
    quote(&rest, at);
    return err_set(err, EINVAL,
                   "parsing time %s as \"2006-01-02T15:04:05%sZ07:00\": cannot parse %s as \"%s\"",
                   str_get(&value), r->micro ? ".000000" : "", str_get(&rest), text);
}

static int bad_range(const struct reader *r, const char *what, struct err *err) {
    _cleanup_str_ struct str value = STR_INIT;
    quote(&value, r->all);
    return err_set(err, EINVAL, "parsing time %s: %s out of range", str_get(&value), what);
}

/* Two digits, or one where Go does not insist. */
static bool take_number(struct reader *r, bool fixed, int *out) {
    if (!is_digit(r->rest, 0) || (fixed && !is_digit(r->rest, 1)))
        return false;
    size_t n = is_digit(r->rest, 1) ? 2 : 1;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out * 10 + (r->rest.p[i] - '0');
    advance(&r->rest, n);
    return true;
}

/* A mark and digits; more than nanoseconds are not looked at. Microseconds. */
static bool take_fraction(struct reader *r, size_t bytes) {
    if (!is_mark(r->rest))
        return false;
    int micros = 0, unit = 100000;
    for (size_t i = 1; i < bytes && i < 10; i++, unit /= 10) {
        if (!is_digit(r->rest, i))
            return false;
        micros += (r->rest.p[i] - '0') * unit;
    }
    advance(&r->rest, bytes);
    r->value[FRACTION] = micros;
    return true;
}

static bool take_year(struct reader *r) {
    int year = 0;
    if (r->rest.len < 4)
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!is_digit(r->rest, i))
            return false;
        year = year * 10 + (r->rest.p[i] - '0');
    }
    advance(&r->rest, 4);
    r->value[YEAR] = year;
    return true;
}

static bool take_zone(struct reader *r, const char **out_of_range) {
    if (r->rest.len && r->rest.p[0] == 'Z') {
        advance(&r->rest, 1);
        return true;
    }
    if (r->rest.len < 6 || r->rest.p[3] != ':')
        return false;
    char sign = r->rest.p[0];
    int hours = 0, minutes = 0;
    struct reader part = {.rest = {r->rest.p + 1, 2}};
    bool ok = take_number(&part, true, &hours);
    part.rest = (struct view){r->rest.p + 4, 2};
    ok = ok && take_number(&part, true, &minutes);
    /* Some write offsets of 24 hours or 60 minutes, and Go lets them. */
    if (ok && minutes > 60)
        *out_of_range = "time zone offset minute";
    else if (hours > 24)
        *out_of_range = "time zone offset hour";
    r->offset = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
    advance(&r->rest, 6);
    return ok && (sign == '+' || sign == '-');
}

static bool take(struct reader *r, enum element e, const char **out_of_range) {
    bool ok;
    switch (e) {
    case YEAR:
        return take_year(r);
    case MONTH:
        ok = take_number(r, true, &r->value[e]);
        if (ok && (r->value[e] < 1 || r->value[e] > 12))
            *out_of_range = "month";
        return ok;
    case DAY:
        return take_number(r, true, &r->value[e]);
    case HOUR:
        ok = take_number(r, false, &r->value[e]);
        if (r->value[e] > 23)
            *out_of_range = "hour";
        return ok;
    case MINUTE:
        ok = take_number(r, true, &r->value[e]);
        if (r->value[e] > 59)
            *out_of_range = "minute";
        return ok;
    case SECOND:
        ok = take_number(r, true, &r->value[e]);
        if (r->value[e] > 59)
            *out_of_range = "second";
        if (!ok || *out_of_range || r->micro || !is_mark(r->rest) || !is_digit(r->rest, 1))
            return ok;
        size_t n = 2;
        while (is_digit(r->rest, n))
            n++;
        return take_fraction(r, n);
    case FRACTION:
        return !r->micro || (r->rest.len >= 7 && take_fraction(r, 7));
    case ZONE:
        return take_zone(r, out_of_range);
    case N_ELEMENTS:
        break;
    }
    return false;
}

static int days_in(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970, counted from March so that a leap day is a year's last. */
static int64_t days_since(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int time_text_parse(const char *s, size_t len, bool micro, int64_t *usec, struct err *err) {
    struct reader r = {.all = {s, len}, .rest = {s, len}, .micro = micro};
    for (enum element e = 0; e < N_ELEMENTS; e++) {
        const char *out_of_range = NULL;
        if (*layout[e].before) {
            if (!r.rest.len || r.rest.p[0] != *layout[e].before)
                return bad_element(&r, r.rest, layout[e].before, err);
            advance(&r.rest, 1);
        }
        struct view hold = r.rest;
        bool ok = take(&r, e, &out_of_range);
        if (out_of_range)
            return bad_range(&r, out_of_range, err);
        if (!ok)
            return bad_element(&r, hold, layout[e].text, err);
    }
    if (r.rest.len) {
        _cleanup_str_ struct str value = STR_INIT, rest = STR_INIT;
        quote(&value, r.all);
        quote(&rest, r.rest);
        return err_set(err, EINVAL, "parsing time %s: extra text: %s", str_get(&value),
                       str_get(&rest));
    }
    const int *v = r.value;
    if (v[DAY] < 1 || v[DAY] > days_in(v[YEAR], v[MONTH]))
        return bad_range(&r, "day", err);
    int64_t seconds = days_since(v[YEAR], v[MONTH], v[DAY]) * 86400 + v[HOUR] * 3600 +
                      v[MINUTE] * 60 + v[SECOND] - r.offset;
    int64_t found = seconds * USEC_PER_SEC + (micro ? v[FRACTION] : 0);
    /* Only by its zone: the server takes it and cannot print it so that it is read again. */
    if (!time_text_valid(found))
        return bad_range(&r, "year", err);
    *usec = found;
    return 0;
}

bool time_text_valid(int64_t usec) {
    return usec >= FIRST && usec < END;
}

/* Two digits. */
static char *put2(char *p, unsigned n) {
    *p++ = (char)('0' + n / 10);
    *p++ = (char)('0' + n % 10);
    return p;
}

const char *time_text_format(int64_t usec, bool micro, char buf[static TIME_TEXT_LEN]) {
    int64_t since = usec - FIRST; /* from year 0 on, so that all are positive */
    int64_t days = since / (86400 * USEC_PER_SEC), of_day = since % (86400 * USEC_PER_SEC);
    /* March-based: day 0 is 0000-03-01 of the era before. */
    int64_t z = days + 146097 - 60;
    int64_t era = z / 146097, of_era = z % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    unsigned day = (unsigned)(of_year - (153 * month + 2) / 5 + 1);
    month += month < 10 ? 3 : -9;
    year += (era - 1) * 400 + (month <= 2);
    unsigned seconds = (unsigned)(of_day / USEC_PER_SEC),
             micros = (unsigned)(of_day % USEC_PER_SEC);
    char *p = put2(put2(buf, (unsigned)(year / 100)), (unsigned)(year % 100));
    *p++ = '-';
    p = put2(p, (unsigned)month);
    *p++ = '-';
    p = put2(p, day);
    *p++ = 'T';
    p = put2(p, seconds / 3600);
    *p++ = ':';
    p = put2(p, seconds / 60 % 60);
    *p++ = ':';
    p = put2(p, seconds % 60);
    if (micro) {
        *p++ = '.';
        p = put2(put2(put2(p, micros / 10000), micros / 100 % 100), micros % 100);
    }
    *p++ = 'Z';
    *p = '\0';
    return buf;
}
