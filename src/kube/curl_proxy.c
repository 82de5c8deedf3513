/* Through which proxy the API server is reached, if any. */
#include "kube/curl_proxy.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

/* --- NO_PROXY --- */

struct address {
    int bits; /* 32, 128, or 0 when it is a name */
    unsigned char b[16];
};

static struct address address_of(const char *s) {
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct address a = {0};
    if (inet_pton(AF_INET, s, a.b) == 1) {
        a.bits = 32;
    } else if (inet_pton(AF_INET6, s, a.b) == 1) {
        a.bits = 128;
        if (memcmp(a.b, mapped, sizeof mapped) == 0) { /* ::ffff:10.0.0.1 is 10.0.0.1 */
            memmove(a.b, a.b + sizeof mapped, 4);
            a.bits = 32;
        }
    }
    return a;
}

static bool same_prefix(const struct address *a, const struct address *b, int bits) {
    int bytes = bits / 8, rest = bits % 8;
    return memcmp(a->b, b->b, (size_t)bytes) == 0 &&
           (!rest || (a->b[bytes] ^ b->b[bytes]) >> (8 - rest) == 0);
}

static bool names_block(const char *entry, const char *slash, const struct address *host) {
    _cleanup_free_ char *base = xstrndup(entry, (size_t)(slash - entry));
    struct address a = address_of(base);
    size_t digits = strspn(slash + 1, "0123456789");
    long bits = strtol(slash + 1, NULL, 10);
    return digits && !slash[1 + digits] && a.bits && a.bits == host->bits && bits <= a.bits &&
           same_prefix(&a, host, (int)bits);
}

/* "name" is the name itself and all below it; ".name" and "*.name" only what is below. */
static bool names_domain(const char *entry, const char *host) {
    if (str_starts(entry, "*."))
        entry++;
    size_t n = strlen(entry), h = strlen(host);
    if (*entry != '.' && !strcasecmp(host, entry))
        return true;
    return n && h > n && !strcasecmp(host + h - n, entry) &&
           (*entry == '.' || host[h - n - 1] == '.');
}

/* Cuts a port off "name:port", "address:port" or "[address]:port"; "" when there is none. An IPv6
 * address without brackets has none. */
static const char *cut_port(char **entry) {
    char *colon = strrchr(*entry, ':');
    if (!colon)
        return "";
    if (**entry == '[') {
        if (colon[-1] != ']')
            return "";
        colon[-1] = '\0';
        ++*entry;
    } else if (strchr(*entry, ':') != colon) {
        return "";
    }
    *colon = '\0';
    return colon + 1;
}

/* `entry` may be cut up. */
static bool names(char *entry, const char *host, const struct address *addr, int port) {
    if (streq(entry, "*"))
        return true;
    const char *slash = strchr(entry, '/');
    if (slash)
        return names_block(entry, slash, addr);
    const char *only = cut_port(&entry);
    char ours[16];
    snprintf(ours, sizeof ours, "%d", port);
    if (*only && !streq(only, ours))
        return false;
    struct address a = address_of(entry);
    if (a.bits || addr->bits)
        return a.bits == addr->bits && same_prefix(&a, addr, a.bits);
    return names_domain(entry, host);
}

bool no_proxy_names(const char *list, const char *host, int port) {
    static const char blank[] = " \t\r\n\v\f";
    struct address addr = address_of(host);
    for (const char *p = list; *(p += strspn(p, ","));) {
        size_t len = strcspn(p, ","), skip = MIN_OF(strspn(p, blank), len), end = len;
        while (end > skip && strchr(blank, p[end - 1]))
            end--;
        _cleanup_free_ char *entry = xstrndup(p + skip, end - skip);
        if (*entry && names(entry, host, &addr, port))
            return true;
        p += len;
    }
    return false;
}

/* --- the choice --- */

static bool loopback(const char *host) {
    struct address a = address_of(host);
    static const unsigned char one[16] = {[15] = 1};
    if (a.bits == 32)
        return a.b[0] == 127;
    if (a.bits == 128)
        return memcmp(a.b, one, sizeof one) == 0;
    return !strcasecmp(host, "localhost");
}

/* The first of two that is set and not empty. */
static const char *env_first(curl_getenv_fn *env, const char *upper, const char *lower,
                             const char **which) {
    const char *v = env(*which = upper);
    if (str_empty(v))
        v = env(*which = lower);
    return str_empty(v) ? NULL : v;
}

/* *out is NULL when there is none for this server. */
static int from_env(bool https, const char *host, int port, curl_getenv_fn *env, const char **out,
                    const char **which, struct err *err) {
    const char *no_which, *no = env_first(env, "NO_PROXY", "no_proxy", &no_which);
    const char *text = https ? env_first(env, "HTTPS_PROXY", "https_proxy", which)
                             : env_first(env, "HTTP_PROXY", "http_proxy", which);
    *out = NULL;
    if (!text)
        return 0;
    if (!https && !str_empty(env("REQUEST_METHOD")))
        return err_set(err, EINVAL,
                       "%s is not trusted in a CGI program (REQUEST_METHOD is set): whoever sends "
                       "the request can set it; use proxy-url in the kubeconfig",
                       *which);
    if (!loopback(host) && !(no && no_proxy_names(no, host, port)))
        *out = text;
    return 0;
}

static const struct {
    const char *scheme, *curl; /* as it is written, and what it means to libcurl */
} kinds[] = {
    {"http", "http"},
    {"https", "https"},
    /* The proxy looks up the name: client-go's meaning, which libcurl calls socks5h. */
    {"socks5", "socks5h"},
    {"socks5h", "socks5h"},
};

/* Does not quote it: there may be a password in it. */
static int not_a_url(const char *which, struct err *err) {
    return err_set(err, EINVAL, "%s is not a URL like http://host:port", which);
}

int curl_proxy_choose(const char *proxy_url, bool https, const char *host, int port,
                      curl_getenv_fn *env, struct curl_proxy *out, struct err *err) {
    const char *which = "proxy-url", *text = proxy_url;
    int r = 0;
    if (str_empty(proxy_url))
        r = from_env(https, host, port, env, &text, &which, err);
    if (r < 0)
        return r;
    if (!text) {
        *out = (struct curl_proxy){.url = xstrdup("")};
        return 0;
    }
    CURLU *u = curl_url();
    char *scheme = NULL, *url = NULL, *shown = NULL;
    /* "proxy:3128" is common in the environment. */
    CURLUcode bad = curl_url_set(u, CURLUPART_URL, text,
                                 strstr(text, "://") ? CURLU_NON_SUPPORT_SCHEME
                                                     : CURLU_DEFAULT_SCHEME | CURLU_GUESS_SCHEME);
    if (!bad && !strstr(text, "://"))
        bad = curl_url_set(u, CURLUPART_SCHEME, "http", 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_SCHEME, &scheme, 0);
    const char *kind = NULL;
    for (size_t i = 0; !bad && i < ARRAY_LEN(kinds); i++)
        if (!strcasecmp(scheme, kinds[i].scheme))
            kind = kinds[i].curl;
    if (bad) {
        r = not_a_url(which, err);
    } else if (!kind) {
        r = err_set(err, EINVAL, "%s: unknown kind of proxy \"%s\" (known: http, https, socks5)",
                    which, scheme);
    } else {
        curl_url_set(u, CURLUPART_SCHEME, kind, CURLU_NON_SUPPORT_SCHEME);
        curl_url_set(u, CURLUPART_PATH, NULL, 0);
        bad = curl_url_get(u, CURLUPART_URL, &url, 0);
        curl_url_set(u, CURLUPART_USER, NULL, 0);
        curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
        curl_url_set(u, CURLUPART_SCHEME, scheme, CURLU_NON_SUPPORT_SCHEME);
        if (!bad)
            bad = curl_url_get(u, CURLUPART_URL, &shown, 0);
        if (bad) {
            r = not_a_url(which, err);
        } else {
            *out = (struct curl_proxy){.url = xstrdup(url), .shown = xstrdup(shown)};
            size_t n = strlen(out->shown);
            if (n && out->shown[n - 1] == '/')
                out->shown[n - 1] = '\0';
        }
    }
    curl_free(scheme);
    curl_free(url);
    curl_free(shown);
    curl_url_cleanup(u);
    return r;
}

void curl_proxy_done(struct curl_proxy *p) {
    mem_clear(&p->url);
    mem_clear(&p->shown);
}
