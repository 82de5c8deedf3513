/* URIs as net/url reads those of requests. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/api/structural_address.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return isxdigit((unsigned char)c);
}

enum uri_part { URI_PATH, URI_USER, URI_HOST, URI_ZONE };

/* What may stand in a host as it is: Go is generous. */
static bool host_char(unsigned char c) {
    return isalnum(c) || (c && c < 0x80 && strchr("-_.~!$&'()*+,;=:[]<>\"", c));
}

/* Percent signs are followed by two digits, and hosts have no strange characters. */
static bool uri_escapes(struct view v, enum uri_part part) {
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.p[i];
        if (c != '%') {
            if ((part == URI_HOST || part == URI_ZONE) && c < 0x80 && !host_char(c))
                return false;
            continue;
        }
        if (i + 2 >= v.len || !is_hex(v.p[i + 1]) || !is_hex(v.p[i + 2]))
            return false;
        bool percent = v.p[i + 1] == '2' && v.p[i + 2] == '5';
        char digits[] = {v.p[i + 1], v.p[i + 2], 0};
        unsigned char value = (unsigned char)strtoul(digits, NULL, 16);
        if (part == URI_HOST && value < 0x80 && !percent)
            return false;
        if (part == URI_ZONE && !percent && value != ' ' && !host_char(value))
            return false;
        i += 2;
    }
    return true;
}

static bool uri_port(struct view v) {
    if (v.len && *v.p != ':')
        return false;
    for (size_t i = 1; i < v.len; i++)
        if (!is_digit(v.p[i]))
            return false;
    return true;
}

/* "[fe80::1%25eth0]:80" */
static bool uri_ip_literal(struct view host) {
    const char *close = view_rfind(host, ']');
    if (!close)
        return false;
    struct view port = view_from(host, close + 1), name = view_upto(view_skip(host, 1), close);
    const char *zone = name.len ? memmem(name.p, name.len, "%25", 3) : NULL;
    struct view address = zone ? view_upto(name, zone) : name;
    if (!uri_port(port) || !uri_escapes(address, URI_HOST) ||
        (zone && !uri_escapes(view_from(name, zone), URI_ZONE)))
        return false;
    /* A zone must not be empty. */
    if (zone && name.len == address.len + 3)
        return false;
    return !view_find(address, '%') && address_ip(address, false) == 6;
}

static bool uri_host(struct view host, bool http) {
    const char *open = view_rfind(host, '[');
    if (open)
        return open == host.p && uri_ip_literal(host);
    /* Some schemes have lists of hosts with ports; only the web's are strict. */
    const char *colon = http ? view_find(host, ':') : view_rfind(host, ':');
    if (colon && !uri_port(view_from(host, colon)))
        return false;
    return uri_escapes(host, URI_HOST);
}

static bool uri_user(struct view user) {
    for (size_t i = 0; i < user.len; i++) {
        unsigned char c = (unsigned char)user.p[i];
        if (!isalnum(c) && !(c && strchr("-._:~!$&'()*+,;=%@", c)))
            return false;
    }
    return uri_escapes(user, URI_USER);
}

static bool uri_authority(struct view authority, bool http, bool *has_host) {
    const char *at = view_rfind(authority, '@');
    struct view host = at ? view_from(authority, at + 1) : authority;
    *has_host = host.len > 0;
    return uri_host(host, http) && (!at || uri_user(view_upto(authority, at)));
}

/* The length of "http" in "http:..."; 0 when there is no scheme, -1 when it is empty. */
static int uri_scheme(struct view v) {
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.p[i];
        if (c == ':')
            return i ? (int)MIN_OF(i, (size_t)INT_MAX) : -1;
        if (!isalpha(c) && !(i && (isdigit(c) || c == '+' || c == '-' || c == '.')))
            return 0;
    }
    return 0;
}

static bool is_web(struct view scheme) {
    return (scheme.len == 4 && !strncasecmp(scheme.p, "http", 4)) ||
           (scheme.len == 5 && !strncasecmp(scheme.p, "https", 5));
}

bool address_uri(struct view text, bool authority) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return false;
    if (!text.len || (text.len == 1 && *text.p == '*'))
        return text.len && !authority;
    int scheme = uri_scheme(text);
    if (scheme < 0)
        return false;
    struct view rest = scheme ? view_skip(text, (size_t)scheme + 1) : text;
    const char *query = view_find(rest, '?');
    if (query)
        rest = view_upto(rest, query);
    if (!rest.len || *rest.p != '/')
        return scheme && !authority;
    bool has_host = false;
    if (scheme && rest.len >= 2 && rest.p[1] == '/') {
        struct view host = view_skip(rest, 2);
        const char *slash = view_find(host, '/');
        rest = slash ? view_from(host, slash) : (struct view){"", 0};
        if (slash)
            host = view_upto(host, slash);
        if (!uri_authority(host, is_web((struct view){text.p, (size_t)scheme}), &has_host))
            return false;
    }
    return uri_escapes(rest, URI_PATH) && (has_host || !authority);
}
