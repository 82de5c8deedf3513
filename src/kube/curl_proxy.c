/* Through which proxy the API server is reached, if any. */
#include "kube/curl_proxy.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
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
    struct address a = {0};
    if (inet_pton(AF_INET, s, a.b) == 1)
        a.bits = 32;
    else if (inet_pton(AF_INET6, s, a.b) == 1)
        a.bits = 128;
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
    char *end;
    errno = 0;
    long bits = strtol(slash + 1, &end, 10);
    return end != slash + 1 && !*end && a.bits && a.bits == host->bits && bits >= 0 &&
           bits <= a.bits && same_prefix(&a, host, (int)bits);
}

/* The host is the name itself or below it. */
static bool names_domain(const char *entry, const char *host) {
    if (*entry == '.')
        entry++;
    size_t n = strlen(entry), h = strlen(host);
    if (n && entry[n - 1] == '.')
        n--;
    if (h && host[h - 1] == '.')
        h--;
    return n && h >= n && !strncasecmp(host + h - n, entry, n) &&
           (h == n || host[h - n - 1] == '.');
}

/* `entry` may be cut up. */
static bool names(char *entry, const char *host, const struct address *addr, int port) {
    if (streq(entry, "*"))
        return true;
    const char *slash = strchr(entry, '/');
    if (slash)
        return names_block(entry, slash, addr);
    char *close = *entry == '[' ? strchr(entry, ']') : NULL, *colon = strrchr(entry, ':');
    if (close) {
        *close = '\0';
        entry++;
        colon = close[1] == ':' ? close + 1 : NULL;
    } else if (colon && strchr(entry, ':') != colon) {
        colon = NULL; /* an IPv6 address */
    }
    if (colon) {
        *colon = '\0';
        if (strtol(colon + 1, NULL, 10) != port)
            return false;
    }
    struct address a = address_of(entry);
    if (a.bits || addr->bits)
        return a.bits == addr->bits && same_prefix(&a, addr, a.bits);
    return names_domain(entry, host);
}

bool no_proxy_names(const char *list, const char *host, int port) {
    struct address addr = address_of(host);
    for (const char *p = list; *(p += strspn(p, ", \t"));) {
        size_t len = strcspn(p, ", \t");
        _cleanup_free_ char *entry = xstrndup(p, len);
        if (names(entry, host, &addr, port))
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

/* The first that is set and not empty. */
static const char *env_first(curl_getenv_fn *env, const char *const *names_) {
    for (; *names_; names_++) {
        const char *v = env(*names_);
        if (!str_empty(v))
            return v;
    }
    return NULL;
}

static const char *from_env(bool https, const char *host, int port, curl_getenv_fn *env,
                            const char **which) {
    static const char *const https_vars[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                                             NULL};
    static const char *const http_vars[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    static const char *const no_vars[] = {"no_proxy", "NO_PROXY", NULL};
    *which = https ? "HTTPS_PROXY" : "http_proxy";
    const char *no = env_first(env, no_vars);
    if (loopback(host) || (no && no_proxy_names(no, host, port)))
        return NULL;
    return env_first(env, https ? https_vars : http_vars);
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
    const char *which = "proxy-url";
    const char *text = str_empty(proxy_url) ? from_env(https, host, port, env, &which) : proxy_url;
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
    int r = 0;
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
