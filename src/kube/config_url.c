/* The URLs of a kubeconfig. */
#include "kube/config_url.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

static const char letters_digits[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

static bool all_in(struct view v, const char *set, const char *more) {
    for (size_t i = 0; i < v.len; i++)
        if (!strchr(set, v.p[i]) && !strchr(more, v.p[i]))
            return false;
    return true;
}

static bool valid_port(struct view port) {
    int n = 0;
    if (port.len > 5 || !all_in(port, "0123456789", ""))
        return false;
    for (size_t i = 0; i < port.len; i++)
        n = n * 10 + (port.p[i] - '0');
    return n >= 1 && n <= 65535;
}

/* Splits host[:port] and says what is wrong with it; NULL when nothing is. */
static const char *parse_authority(struct view a, struct view *host, struct view *port) {
    *port = (struct view){0};
    const char *colon;
    if (a.len && a.p[0] == '[') {
        const char *close = memchr(a.p, ']', a.len);
        if (!close)
            return "a \"]\" is missing after the IPv6 address";
        *host = (struct view){a.p, (size_t)(close - a.p) + 1};
        struct view inner = {a.p + 1, host->len - 2};
        if (!memchr(inner.p, ':', inner.len) || !all_in(inner, letters_digits, ":.%-_"))
            return "what stands in brackets is no IPv6 address";
        if (host->len < a.len && *(close + 1) != ':')
            return "only a port may follow the IPv6 address";
        colon = host->len < a.len ? close + 1 : NULL;
    } else {
        colon = memchr(a.p, ':', a.len);
        size_t len = colon ? (size_t)(colon - a.p) : a.len;
        *host = (struct view){a.p, len};
        if (colon && memchr(colon + 1, ':', a.len - len - 1))
            return "an IPv6 address must stand in brackets: [::1]:6443";
        if (!len)
            return "the host is missing";
        if (!all_in(*host, letters_digits, ".-_"))
            return "the host has a character that no host name has";
    }
    if (!colon)
        return NULL;
    *port = (struct view){colon + 1, a.len - host->len - 1};
    /* "host:" is "host", as in Go. */
    if (port->len && !valid_port(*port))
        return "the port must be a number from 1 to 65535";
    return NULL;
}

/* The length of "scheme" in "scheme://...", or 0. */
static size_t scheme_len(const char *text) {
    const char *sep = strstr(text, "://");
    size_t n = strspn(text, letters_digits);
    return sep && n && text + n == sep ? n : 0;
}

static bool scheme_is(const char *text, size_t len, const char *name) {
    return strlen(name) == len && strncasecmp(text, name, len) == 0;
}

static int bad_server(const char *text, const char *why, struct err *err) {
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, text);
    return err_set(err, EINVAL, "\"%s\" is no server URL: %s", str_get(&shown), why);
}

int kube_url_server(const char *text, char **out, struct err *err) {
    size_t scheme = scheme_len(text);
    bool https = scheme_is(text, scheme, "https");
    if (scheme && !https && !scheme_is(text, scheme, "http"))
        return bad_server(text, "it must begin with https:// or http://", err);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return bad_server(text, "it has a blank or a control character in it", err);
    const char *rest = scheme ? text + scheme + 3 : text;
    struct view authority = {rest, strcspn(rest, "/?#")}, host, port;
    const char *tail = rest + authority.len;
    struct view path = {tail, strcspn(tail, "?#")};
    if (memchr(authority.p, '@', authority.len))
        /* Without the text: there is a password in it. */
        return err_set(err, EINVAL,
                       "a server URL must not hold a user name or password: use the user's "
                       "username and password instead");
    const char *why = parse_authority(authority, &host, &port);
    if (why)
        return bad_server(text, why, err);
    while (path.len && path.p[path.len - 1] == '/')
        path.len--;
    if (!scheme && path.len)
        return bad_server(text, "write https://host:port/path or host:port", err);
    _cleanup_str_ struct str s = STR_INIT;
    str_add(&s, https ? "https://" : "http://");
    str_addn(&s, host.p, host.len);
    if (port.len) {
        str_addc(&s, ':');
        str_addn(&s, port.p, port.len);
    }
    str_addn(&s, path.p, path.len);
    *out = str_take(&s);
    return 0;
}

int kube_url_proxy(const char *text, struct err *err) {
    static const char *const schemes[] = {"http", "https", "socks5"};
    size_t scheme = scheme_len(text), i = 0;
    while (i < ARRAY_LEN(schemes) && !scheme_is(text, scheme, schemes[i]))
        i++;
    if (i == ARRAY_LEN(schemes) && scheme)
        return err_set(err, EINVAL,
                       "the scheme \"%.*s\" is not supported: it must be http, https or socks5",
                       (int)MIN_OF(scheme, 40), text);
    if (i == ARRAY_LEN(schemes))
        return err_set(err, EINVAL, "it must begin with http://, https:// or socks5://");
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return err_set(err, EINVAL, "it has a blank or a control character in it");
    const char *rest = text + scheme + 3;
    struct view authority = {rest, strcspn(rest, "/?#")}, host, port;
    const char *at = memrchr(authority.p, '@', authority.len);
    if (at)
        authority = (struct view){at + 1, authority.len - (size_t)(at + 1 - authority.p)};
    const char *why = parse_authority(authority, &host, &port);
    return why ? err_set(err, EINVAL, "%s", why) : 0;
}

char *kube_url_join(const char *host, const char *port) {
    bool bare6 = strchr(host, ':') && *host != '[';
    return xasprintf(bare6 ? "[%s]:%s" : "%s:%s", host, port);
}
