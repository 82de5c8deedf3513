/* Addresses as text, and sockets that listen on them. */
#include "net/server_addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum {
    /* The kernel cuts it to net.core.somaxconn. */
    BACKLOG = 4096,
};

static int bad_address(const char *text, struct err *err) {
    return err_set(err, EINVAL,
                   "\"%s\" is no address to listen on: write ADDRESS:PORT as in 127.0.0.1:6443 or "
                   "[::1]:6443, or :6443 for all addresses",
                   text);
}

/* 0 to 65535, or -1. */
static int parse_port(const char *s) {
    int port = 0;
    if (!*s || strlen(s) > 5)
        return -1;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return -1;
        port = port * 10 + (*s - '0');
    }
    return port <= 65535 ? port : -1;
}

int http_addr_parse(const char *text, struct http_addr *out, struct err *err) {
    const char *colon = strrchr(text, ':');
    int port = colon ? parse_port(colon + 1) : -1;
    if (port < 0)
        return bad_address(text, err);
    struct http_addr addr = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&addr.sa;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr.sa;
    size_t len = (size_t)(colon - text);
    bool brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';
    char host[INET6_ADDRSTRLEN + 2];
    if (len >= sizeof host)
        return bad_address(text, err);
    memcpy(host, text + brackets, len - 2 * brackets);
    host[len - 2 * brackets] = '\0';
    addr.any = len == 0;
    if (brackets || addr.any) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        addr.len = sizeof *in6;
        if (!addr.any && inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
            return bad_address(text, err);
    } else {
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        addr.len = sizeof *in;
        if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
            return bad_address(text, err);
    }
    *out = addr;
    return 0;
}

const char *http_addr_format(const struct sockaddr *sa, char buf[static HTTP_ADDR_LEN]) {
    char host[INET6_ADDRSTRLEN];
    buf[0] = '\0';
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(buf, HTTP_ADDR_LEN, "%s:%d", host, ntohs(in->sin_port));
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
            inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host, sizeof host);
            snprintf(buf, HTTP_ADDR_LEN, "%s:%d", host, ntohs(in6->sin6_port));
        } else {
            inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
            snprintf(buf, HTTP_ADDR_LEN, "[%s]:%d", host, ntohs(in6->sin6_port));
        }
    }
    return buf;
}

int http_addr_port(const struct sockaddr *sa) {
    if (sa->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)sa)->sin_port);
    if (sa->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
    return 0;
}

/* What an operator can do about it. */
static int listen_error(const char *text, int code, const struct http_addr *addr, struct err *err) {
    int port = http_addr_port((const struct sockaddr *)&addr->sa);
    switch (code) {
    case EADDRINUSE:
        return err_set(err, code,
                       "cannot listen on %s: the port is in use by another program (`ss -ltnp "
                       "'sport = :%d'` shows which); stop it or choose another port",
                       text, port);
    case EADDRNOTAVAIL:
        return err_set(err, code,
                       "cannot listen on %s: this machine does not have that address (`ip "
                       "address` shows those it has)",
                       text);
    case EACCES:
        return err_set(err, code,
                       "cannot listen on %s: ports below 1024 need root or CAP_NET_BIND_SERVICE; "
                       "choose a higher port",
                       text);
    default:
        return err_errno(err, code, "cannot listen on %s", text);
    }
}

static int open_listener(const struct http_addr *addr) {
    int family = addr->sa.ss_family, on = 1;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* A server that was just restarted gets its port back. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) {
        int v6only = !addr->any;
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof v6only);
    }
    if (bind(fd, (const struct sockaddr *)&addr->sa, addr->len) < 0 || listen(fd, BACKLOG) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int http_addr_listen(const char *text, struct err *err) {
    struct http_addr addr;
    int r = http_addr_parse(text, &addr, err);
    if (r < 0)
        return r;
    int fd = open_listener(&addr);
    if (addr.any && (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)) {
        /* A machine without IPv6. */
        int port = http_addr_port((struct sockaddr *)&addr.sa);
        struct sockaddr_in *in = (struct sockaddr_in *)&addr.sa;
        addr.sa = (struct sockaddr_storage){0};
        *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        addr.len = sizeof *in;
        fd = open_listener(&addr);
    }
    return fd < 0 ? listen_error(text, -fd, &addr, err) : fd;
}
