/* The formats of texts that apiextensions 1.36 knows (apiserver/validation/formats.go), as
 * kube-openapi's strfmt checks them. Dashes in their names do not matter. */
#include <ctype.h>

#include "base/utf8.h"
#include "sim/api/structural_address.h"
#include "sim/api/structural_internal.h"

/* --- by pattern --- */

/* strfmt's patterns, with upper and lower case written out where they are matched without regard to
 * it. */
#define HEX "[0-9a-fA-F]"
static const struct {
    const char *name, *pattern;
} patterns[] = {
    {"bsonobjectid", "^" HEX "{24}$"},
    {"uuid", "^" HEX "{8}-?" HEX "{4}-?" HEX "{4}-?" HEX "{4}-?" HEX "{12}$"},
    {"uuid3", "^" HEX "{8}-?" HEX "{4}-?3" HEX "{3}-?" HEX "{4}-?" HEX "{12}$"},
    {"uuid4", "^" HEX "{8}-?" HEX "{4}-?4" HEX "{3}-?[89abAB]" HEX "{3}-?" HEX "{12}$"},
    {"uuid5", "^" HEX "{8}-?" HEX "{4}-?5" HEX "{3}-?[89abAB]" HEX "{3}-?" HEX "{12}$"},
    {"hexcolor", "^#?(" HEX "{3}|" HEX "{6})$"},
    {"rgbcolor",
     "^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|"
     "25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$"},
    {"byte", "^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|"
             "[A-Za-z0-9+\\/]{4})$"},
};

static bool matches(const char *pattern, struct view text) {
    struct pattern *p;
    if (pattern_compile(pattern, &p, NULL))
        return false;
    bool match = pattern_match(p, text) > 0;
    pattern_free(p);
    return match;
}

/* --- numbers that have check digits --- */

/* Digits (and X) with blanks and dashes taken out; false when there are other characters or too
 * many. */
static bool isbn_digits(struct view text, char *out, size_t want) {
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] && strchr(" \t\n\f\r-", text.p[i]))
            continue;
        if (n == want)
            return false;
        out[n++] = text.p[i];
    }
    return n == want;
}

static bool is_isbn10(struct view text) {
    char d[10];
    int sum = 0;
    if (!isbn_digits(text, d, 10))
        return false;
    for (int i = 0; i < 10; i++) {
        bool x = i == 9 && d[i] == 'X';
        if (!x && !isdigit((unsigned char)d[i]))
            return false;
        sum += (i + 1) * (x ? 10 : d[i] - '0');
    }
    return sum % 11 == 0;
}

static bool is_isbn13(struct view text) {
    char d[13];
    int sum = 0;
    if (!isbn_digits(text, d, 13))
        return false;
    for (int i = 0; i < 13; i++) {
        if (!isdigit((unsigned char)d[i]))
            return false;
        if (i < 12)
            sum += (i % 2 ? 3 : 1) * (d[i] - '0');
    }
    return d[12] - '0' == (10 - sum % 10) % 10;
}

static bool is_isbn(struct view text) {
    return is_isbn10(text) || is_isbn13(text);
}

static bool is_creditcard(struct view text) {
    static const char kinds[] =
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
        "3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$";
    char d[20];
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.p[i]))
            continue;
        if (n == sizeof d)
            return false;
        d[n++] = text.p[i];
    }
    int sum = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = d[n - 1 - i] - '0';
        if (i % 2)
            digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
        sum += digit;
    }
    return matches(kinds, (struct view){d, n}) && sum % 10 == 0;
}

static bool is_ssn(struct view text) {
    return text.len == 11 && matches("^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$", text);
}

/* --- hosts --- */

/* [a-zA-Z0-9\p{S}\p{L}] */
static bool is_label_rune(uint32_t c) {
    return c < 0x80 ? isalnum((int)c) || rune_in(c, 'S') : rune_in(c, 'L') || rune_in(c, 'S');
}

/* The runes of a text up to a dot: how many, and of what kinds. */
struct label {
    size_t len, runes;
    bool edges_good, middle_good, letters;
};

static struct label next_label(struct view v) {
    struct label l = {.edges_good = true, .middle_good = true, .letters = true};
    bool last_good = true;
    while (l.len < v.len && v.p[l.len] != '.') {
        size_t n = utf8_len(v.p + l.len, v.len - l.len);
        uint32_t c = n ? utf8_decode(v.p + l.len, n) : 0xfffd;
        last_good = is_label_rune(c);
        if (!l.runes)
            l.edges_good = last_good;
        l.middle_good &= last_good || c == '-';
        l.letters &= c < 0x80 ? isalpha((int)c) != 0 : rune_in(c, 'L');
        l.len += n ? n : 1;
        l.runes++;
    }
    l.edges_good &= last_good && l.runes;
    return l;
}

/* A name without dots may have a dash as its second character and no other: so the pattern says. */
static bool is_single_label(struct view v) {
    size_t runes = 0;
    for (size_t i = 0; i < v.len; runes++) {
        size_t n = utf8_len(v.p + i, v.len - i);
        uint32_t c = n ? utf8_decode(v.p + i, n) : 0xfffd;
        bool dash = runes == 1 && c == '-';
        if (!is_label_rune(c) && !dash)
            return false;
        i += n ? n : 1;
    }
    bool dash = runes > 1 && v.len > utf8_len(v.p, v.len) && v.p[utf8_len(v.p, v.len)] == '-';
    return runes && runes <= (dash ? 64 : 63);
}

static bool is_domain(struct view v) {
    for (size_t labels = 0;; labels++) {
        struct label l = next_label(v);
        if (l.len == v.len)
            return labels && l.letters && l.runes >= 2 && l.runes <= 63;
        if (!l.edges_good || !l.middle_good || l.runes > 63)
            return false;
        v.p += l.len + 1;
        v.len -= l.len + 1;
    }
}

static bool is_hostname(struct view text) {
    if (text.len > 255 || (!is_single_label(text) && !is_domain(text)))
        return false;
    size_t run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.p[i] == '.' ? 0 : run + 1;
        if (run > 63)
            return false;
    }
    return true;
}

static bool is_short_name_of(struct view v) {
    for (size_t i = 0; i < v.len; i++) {
        bool edge = i == 0 || i == v.len - 1;
        if (!islower((unsigned char)v.p[i]) && !isdigit((unsigned char)v.p[i]) &&
            (edge || v.p[i] != '-'))
            return false;
    }
    return v.len > 0;
}

static bool is_short_name(struct view text) {
    return text.len <= 63 && is_short_name_of(text);
}

static bool is_long_name(struct view text) {
    if (text.len > 253)
        return false;
    for (;;) {
        const char *dot = text.len ? memchr(text.p, '.', text.len) : NULL;
        if (!is_short_name_of((struct view){text.p, dot ? (size_t)(dot - text.p) : text.len}))
            return false;
        if (!dot)
            return true;
        text.len -= (size_t)(dot + 1 - text.p);
        text.p = dot + 1;
    }
}

static bool is_ipv4(struct view text) {
    return address_ip(text, true) && memchr(text.p, '.', text.len);
}

static bool is_ipv6(struct view text) {
    return address_ip(text, false) == 6;
}

static bool is_uri(struct view text) {
    return address_uri(text, false);
}

static bool is_password(struct view text) {
    (void)text;
    return true;
}

/* --- the table --- */

static const struct {
    const char *name;
    bool (*check)(struct view text);
} checks[] = {
    {"uri", is_uri},
    {"email", address_mail},
    {"hostname", is_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"cidr", address_cidr},
    {"mac", address_mac},
    {"isbn", is_isbn},
    {"isbn10", is_isbn10},
    {"isbn13", is_isbn13},
    {"creditcard", is_creditcard},
    {"ssn", is_ssn},
    {"password", is_password},
    {"date", format_date},
    {"duration", format_duration},
    {"datetime", format_datetime},
    {"k8sshortname", is_short_name},
    {"k8slongname", is_long_name},
};

/* Without dashes. */
static bool named(const char *format, const char *name) {
    for (;; format++, name++) {
        while (*format == '-')
            format++;
        if (*format != *name)
            return false;
        if (!*name)
            return true;
    }
}

bool format_known(const char *format) {
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        known |= named(format, patterns[i].name);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        known |= named(format, checks[i].name);
    return known;
}

bool format_useful(const char *type, const char *format) {
    if (!*type || streq(type, "string"))
        return format_known(format);
    if (streq(type, "integer"))
        return streq(format, "int32") || streq(format, "int64");
    return streq(type, "number") && (streq(format, "float") || streq(format, "double"));
}

bool format_matches(const char *format, const char *text, size_t len) {
    struct view v = {text, len};
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (named(format, patterns[i].name))
            return matches(patterns[i].pattern, v);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (named(format, checks[i].name))
            return checks[i].check(v);
    return true;
}
