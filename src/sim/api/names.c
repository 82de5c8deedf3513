/* Name rules. */
#include "sim/api/names.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"

#define LABEL_FMT      "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_FMT_     "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_FMT  LABEL_FMT "(\\." LABEL_FMT ")*"
#define SUBDOMAIN_FMT_ LABEL_FMT_ "(\\." LABEL_FMT_ ")*"
#define KEY_FMT        "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

#define REGEX(fmt) "regex used for validation is '" fmt "')"

void problems_done(struct problems *p) {
    for (size_t i = 0; i < p->v.len; i++)
        free(p->v.p[i]);
    vec_done(&p->v);
}

void problems_add(struct problems *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    *vec_push(&p->v) = xvasprintf(fmt, ap);
    va_end(ap);
}

char *problems_join(const struct problems *p, const char *between) {
    struct str all = STR_INIT;
    for (size_t i = 0; i < p->v.len; i++)
        str_addf(&all, "%s%s", i ? between : "", p->v.p[i]);
    return str_take(&all);
}

bool name_ok(name_rule *rule, const char *value) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    rule(value, &p);
    return p.v.len == 0;
}

/* ASCII only, whatever the locale. */
static bool is_lower_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_in(char c, const char *set) {
    return c && strchr(set, c);
}

/* Characters of a DNS label: it begins and ends with a letter or digit. */
static bool is_label(const char *p, size_t len, const char *inner) {
    if (len == 0 || !is_lower_alnum(p[0]) || !is_lower_alnum(p[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_lower_alnum(p[i]) && !is_in(p[i], inner))
            return false;
    return true;
}

static bool is_subdomain(const char *s, bool underscore) {
    for (;;) {
        size_t len = strcspn(s, ".");
        const char *p = s;
        size_t n = len;
        if (underscore && n > 0 && *p == '_') {
            p++;
            n--;
        }
        if (!is_label(p, n, underscore ? "-_" : "-"))
            return false;
        if (!s[len])
            return true;
        s += len + 1;
    }
}

static void max_length(const char *value, size_t max, struct problems *out) {
    if (strlen(value) > max)
        problems_add(out, "must be no more than %zu characters", max);
}

/* The same in the words of pkg/api/validate/content. */
static void max_bytes(size_t len, size_t max, const char *part, struct problems *out) {
    if (len > max)
        problems_add(out, "%smust be no more than %zu bytes", part, max);
}

void name_dns1123_label(const char *value, struct problems *out) {
    max_length(value, 63, out);
    if (is_label(value, strlen(value), "-"))
        return;
    if (is_subdomain(value, false))
        problems_add(out, "must not contain dots");
    else
        problems_add(out, "a lowercase RFC 1123 label must consist of lower case alphanumeric "
                          "characters or '-', and must start and end with an alphanumeric "
                          "character (e.g. 'my-name',  or '123-abc', " REGEX(LABEL_FMT));
}

#define SUBDOMAIN_TEXT                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, %s'-' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', %s"

void name_dns1123_subdomain(const char *value, struct problems *out) {
    max_length(value, 253, out);
    if (!is_subdomain(value, false))
        problems_add(out, SUBDOMAIN_TEXT, "", REGEX(SUBDOMAIN_FMT));
}

void name_dns1123_subdomain_underscore(const char *value, struct problems *out) {
    max_length(value, 253, out);
    if (!is_subdomain(value, true))
        problems_add(out, SUBDOMAIN_TEXT, "'_', ", REGEX(SUBDOMAIN_FMT_));
}

void name_dns1035_label(const char *value, struct problems *out) {
    max_length(value, 63, out);
    if (!is_label(value, strlen(value), "-") || !(value[0] >= 'a' && value[0] <= 'z'))
        problems_add(
            out, "a DNS-1035 label must consist of lower case alphanumeric characters or "
                 "'-', start with an alphabetic character, and end with an alphanumeric "
                 "character (e.g. 'my-name',  or 'abc-123', " REGEX("[a-z]([-a-z0-9]*[a-z0-9])?"));
}

/* Letters, digits and -_. with a letter or digit at both ends. */
static bool is_key(const char *p) {
    size_t len = strlen(p);
    if (len == 0 || !is_alnum(p[0]) || !is_alnum(p[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_alnum(p[i]) && !is_in(p[i], "-_."))
            return false;
    return true;
}

#define KEY_TEXT                                                                                   \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', " REGEX(KEY_FMT)

void name_label_key(const char *value, struct problems *out) {
    const char *slash = strchr(value, '/');
    const char *name = slash ? slash + 1 : value;
    if (slash && strchr(name, '/')) {
        problems_add(out, "a valid label key " KEY_TEXT
                          " with an optional DNS subdomain prefix and '/' (e.g. "
                          "'example.com/MyName')");
        return;
    }
    if (slash == value) {
        problems_add(out, "prefix part must be non-empty");
    } else if (slash) {
        _cleanup_free_ char *prefix = xstrndup(value, (size_t)(slash - value));
        max_bytes(strlen(prefix), 253, "prefix part ", out);
        if (!is_subdomain(prefix, false))
            problems_add(out, "prefix part " SUBDOMAIN_TEXT, "", REGEX(SUBDOMAIN_FMT));
    }
    if (!*name)
        problems_add(out, "name part must be non-empty");
    else
        max_bytes(strlen(name), 63, "name part ", out);
    if (!is_key(name))
        problems_add(out, "name part " KEY_TEXT);
}

void name_label_value(const char *value, struct problems *out) {
    max_bytes(strlen(value), 63, "", out);
    if (*value && !is_key(value))
        problems_add(out,
                     "a valid label must be an empty string or consist of alphanumeric "
                     "characters, '-', '_' or '.', and must start and end with an "
                     "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', " REGEX(
                         "(" KEY_FMT ")?"));
}

void name_path_segment_prefix(const char *value, struct problems *out) {
    if (strchr(value, '/'))
        problems_add(out, "may not contain '/'");
    if (strchr(value, '%'))
        problems_add(out, "may not contain '%%'");
}

void name_path_segment(const char *value, struct problems *out) {
    if (streq(value, ".") || streq(value, ".."))
        problems_add(out, "may not be '%s'", value);
    else
        name_path_segment_prefix(value, out);
}

void name_port(const char *value, struct problems *out) {
    size_t len = strlen(value);
    bool letter = false, clean = len > 0;
    for (size_t i = 0; i < len; i++) {
        letter |= value[i] >= 'a' && value[i] <= 'z';
        clean &= is_lower_alnum(value[i]) || value[i] == '-';
    }
    max_length(value, 15, out);
    if (!clean)
        problems_add(out, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        problems_add(out, "must contain at least one letter (a-z)");
    if (strstr(value, "--"))
        problems_add(out, "must not contain consecutive hyphens");
    if (len > 0 && (value[0] == '-' || value[len - 1] == '-'))
        problems_add(out, "must not begin or end with a hyphen");
}

void name_config_key(const char *value, struct problems *out) {
    bool clean = *value;
    for (const char *p = value; *p; p++)
        clean &= is_alnum(*p) || is_in(*p, "-._");
    max_length(value, 253, out);
    if (!clean)
        problems_add(
            out, "a valid config key must consist of alphanumeric characters, '-', '_' or "
                 "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', " REGEX("[-._a-zA-Z0-9]+"));
    if (streq(value, ".") || streq(value, ".."))
        problems_add(out, "must not be '%s'", value);
    else if (str_starts(value, ".."))
        problems_add(out, "must not start with '..'");
}

void name_env_var(const char *value, struct problems *out) {
    if (!*value)
        problems_add(out, "environment variable name must be non-empty");
    for (const char *p = value; *p; p++) {
        if (*p < 0x20 || *p > 0x7e || *p == '=') {
            problems_add(out, "a valid environment variable name must consist only of printable "
                              "ASCII characters other than '='");
            return;
        }
    }
}

void name_http_header(const char *value, struct problems *out) {
    bool clean = *value;
    for (const char *p = value; *p; p++)
        clean &= is_alnum(*p) || *p == '-';
    if (!clean)
        problems_add(out,
                     "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                     "'X-Header-Name', " REGEX("[-A-Za-z0-9]+"));
}

void name_percent(const char *value, struct problems *out) {
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || !streq(value + digits, "%"))
        problems_add(out,
                     "a valid percent string must be a numeric string followed by an ending '%%' "
                     "(e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
}

void name_prefix(name_rule *rule, const char *base, struct problems *out) {
    size_t len = strlen(base);
    if (len <= 1 || base[len - 1] != '-') {
        rule(base, out);
        return;
    }
    _cleanup_free_ char *masked = xasprintf("%.*sa", (int)(len - 2), base);
    rule(masked, out);
}

char *name_generate(const char *base, struct prng *random) {
    /* no vowels, and nothing that looks like another: apimachinery's util/rand */
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    struct str name = STR_INIT;
    str_addf(&name, "%.*s", NAME_GENERATED_BASE, base);
    for (int i = 0; i < NAME_GENERATED_SUFFIX; i++)
        str_addc(&name, alphabet[prng_range(random, 0, sizeof alphabet - 1)]);
    return str_take(&name);
}
