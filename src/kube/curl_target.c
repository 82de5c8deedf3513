/* What is the same in every request to a server. */
#include "kube/curl_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

bool header_value_valid(const char *s) {
    for (; *s; s++)
        if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
            return false;
    return true;
}

bool request_path_valid(const char *s) {
    if (*s != '/')
        return false;
    for (; *s; s++)
        if (*s <= ' ' || *s >= 0x7f || *s == '#')
            return false;
    return true;
}

/* --- the address --- */

struct address {
    char *scheme, *host, *port, *path, *user, *query;
};

static void address_done(struct address *a) {
    curl_free(a->scheme);
    curl_free(a->host);
    curl_free(a->port);
    curl_free(a->path);
    curl_free(a->user);
    curl_free(a->query);
}

static int address_parse(const char *server, struct address *a, struct err *err) {
    CURLU *u = curl_url();
    CURLUcode bad = curl_url_set(u, CURLUPART_URL, server, CURLU_NON_SUPPORT_SCHEME);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_SCHEME, &a->scheme, 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_HOST, &a->host, 0);
    if (!bad)
        bad = curl_url_get(u, CURLUPART_PATH, &a->path, 0);
    if (!bad) {
        curl_url_get(u, CURLUPART_PORT, &a->port, CURLU_DEFAULT_PORT);
        curl_url_get(u, CURLUPART_USER, &a->user, 0);
        curl_url_get(u, CURLUPART_QUERY, &a->query, 0);
    }
    curl_url_cleanup(u);
    if (bad || !a->scheme)
        return err_set(err, EINVAL, "server \"%s\" is not a URL like https://host:port", server);
    if (!streq(a->scheme, "https") && !streq(a->scheme, "http"))
        return err_set(err, EINVAL,
                       "server \"%s\": a URL with https:// is needed (http:// works, "
                       "too), not %s://",
                       server, a->scheme);
    if (a->user)
        return err_set(err, EINVAL,
                       "the server's URL must not hold a user name (put it into the user's entry)");
    if (a->query || !request_path_valid(a->path))
        return err_set(err, EINVAL, "server \"%s\": only a path may follow the host", server);
    return 0;
}

/* "[::1]" -> "::1"; a zone is left out. */
static char *bare_host(const char *host) {
    if (*host != '[')
        return xstrdup(host);
    return xstrndup(host + 1, strcspn(host + 1, "%]"));
}

/* As it stands in a URL. */
static char *url_host(const char *name) {
    unsigned char ip[16];
    return inet_pton(AF_INET6, name, ip) == 1 ? xasprintf("[%s]", name) : xstrdup(name);
}

/* --- headers --- */

static int add_header(struct curl_slist **list, const char *name, const char *value,
                      struct err *err) {
    if (str_empty(value))
        return 0;
    if (!header_value_valid(value))
        return err_set(err, EINVAL, "the value for %s has control characters in it", name);
    _cleanup_free_ char *line = xasprintf("%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (!longer)
        return err_set(err, ENOMEM, "out of memory");
    *list = longer;
    return 0;
}

/* Keys of as-user-extra may be any text; header names may not. The same escapes as client-go. */
static char *escape_key(const char *key) {
    static const char legal[] = "!#$&'*+-.^_`|~0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct str s = STR_INIT;
    for (; *key; key++) {
        if (strchr(legal, *key))
            str_addc(&s, *key);
        else
            str_addf(&s, "%%%02X", (unsigned char)*key);
    }
    return str_take(&s);
}

static int impersonation(struct curl_slist **list, const struct kube_config *config,
                         struct err *err) {
    int r = add_header(list, "Impersonate-User", config->as_user, err);
    if (!r)
        r = add_header(list, "Impersonate-Uid", config->as_uid, err);
    for (char **g = config->as_groups; !r && g && *g; g++)
        r = add_header(list, "Impersonate-Group", *g, err);
    for (size_t i = 0; !r && i < config->n_as_extra; i++) {
        _cleanup_free_ char *key = escape_key(config->as_extra[i].key);
        _cleanup_free_ char *name = xasprintf("Impersonate-Extra-%s", key);
        r = add_header(list, name, config->as_extra[i].value, err);
    }
    return r;
}

/* --- all of it --- */

/* A DNS name or an address, so that it can stand in a URL. */
static bool name_valid(const char *s) {
    return s[strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-_:")] ==
           '\0';
}

static int fill(struct curl_target *t, const struct kube_config *config, const struct address *a,
                curl_getenv_fn *env, struct err *err) {
    bool https = streq(a->scheme, "https");
    t->host = bare_host(a->host);
    int r = curl_proxy_choose(config->proxy_url, https, t->host,
                              (int)strtol(strna(a->port), NULL, 10), env, &t->proxy, err);
    if (r < 0)
        return r;
    t->server = xstrdup(config->server);
    for (size_t n = strlen(t->server); n && t->server[n - 1] == '/'; n--)
        t->server[n - 1] = '\0';
    if (https && !str_empty(config->tls_server_name)) {
        if (!name_valid(config->tls_server_name))
            return err_set(err, EINVAL, "tls-server-name \"%s\" is not a host name",
                           config->tls_server_name);
        size_t path_len = strlen(a->path);
        while (path_len && a->path[path_len - 1] == '/')
            path_len--;
        _cleanup_free_ char *name = url_host(config->tls_server_name);
        t->name = xstrdup(config->tls_server_name);
        t->base = xasprintf("https://%s:%s%.*s", name, a->port, (int)path_len, a->path);
        _cleanup_free_ char *to = xasprintf("::%s:%s", a->host, a->port);
        t->connect_to = curl_slist_append(NULL, to);
        _cleanup_free_ char *h =
            streq(a->port, "443") ? xstrdup(a->host) : xasprintf("%s:%s", a->host, a->port);
        r = add_header(&t->headers, "Host", h, err);
    } else {
        t->name = xstrdup(t->host);
        t->base = xstrdup(t->server);
    }
    return r < 0 ? r : impersonation(&t->headers, config, err);
}

int curl_target_init(struct curl_target *t, const struct kube_config *config, curl_getenv_fn *env,
                     struct err *err) {
    *t = (struct curl_target){0};
    struct address a = {0};
    int r = address_parse(strna(config->server), &a, err);
    if (!r)
        r = fill(t, config, &a, env, err);
    address_done(&a);
    if (r < 0)
        curl_target_done(t);
    return r;
}

void curl_target_done(struct curl_target *t) {
    free(t->server);
    free(t->base);
    free(t->host);
    free(t->name);
    curl_slist_free_all(t->connect_to);
    curl_proxy_done(&t->proxy);
    curl_slist_free_all(t->headers);
    *t = (struct curl_target){0};
}
