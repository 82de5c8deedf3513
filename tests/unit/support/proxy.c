/* Proxies for tests. */
#include "support/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static int dial(int port) {
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                               .sin_port = htons((unsigned short)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Bytes in both directions until one side is done; the client's side is not TLS. */
static void relay(struct server_conn *c, int to) {
    struct pollfd p[2] = {{.fd = server_conn_fd(c), .events = POLLIN},
                          {.fd = to, .events = POLLIN}};
    char buf[16384];
    while (poll(p, 2, -1) > 0) {
        if (p[0].revents) {
            size_t n = server_read(c, buf, sizeof buf);
            if (!n || send(to, buf, n, MSG_NOSIGNAL) < 0)
                return;
        }
        if (p[1].revents) {
            ssize_t n = recv(to, buf, sizeof buf, 0);
            if (n <= 0 || !server_write(c, buf, (size_t)n))
                return;
        }
    }
}

static void connect_through(struct server_conn *c, int port, const char *yes, size_t yes_len) {
    int fd = dial(port);
    if (fd < 0)
        return;
    if (server_write(c, yes, yes_len))
        relay(c, fd);
    close(fd);
}

void proxy_http(struct server_conn *c, void *arg) {
    struct proxy *p = arg;
    char head[4096] = "";
    size_t len = 0;
    while (!strstr(head, "\r\n\r\n")) {
        size_t n = server_read(c, head + len, sizeof head - 1 - len);
        if (!n)
            return;
        len += n;
        head[len] = '\0';
    }
    const char *auth = strcasestr(head, "\r\nProxy-Authorization: ");
    snprintf(p->auth, sizeof p->auth, "%.*s", auth ? (int)strcspn(auth + 23, "\r") : 0,
             auth ? auth + 23 : "");
    if (sscanf(head, "CONNECT %299s HTTP/1.1\r\n", p->target) != 1)
        return;
    if (p->status) {
        char no[100];
        snprintf(no, sizeof no, "HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n", p->status);
        server_puts(c, no);
        return;
    }
    static const char yes[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    connect_through(c, atoi(strrchr(p->target, ':') + 1), yes, sizeof yes - 1);
}

static bool read_all(struct server_conn *c, unsigned char *p, size_t len) {
    for (size_t n; len; p += n, len -= n) {
        n = server_read(c, p, len);
        if (!n)
            return false;
    }
    return true;
}

/* RFC 1928, without authentication. */
void proxy_socks5(struct server_conn *c, void *arg) {
    struct proxy *p = arg;
    unsigned char b[300], port[2];
    char host[260] = "";
    if (!read_all(c, b, 2) || b[0] != 5 || !read_all(c, b + 2, b[1]))
        return;
    server_write(c, "\5\0", 2);
    if (!read_all(c, b, 4) || b[0] != 5 || b[1] != 1)
        return;
    if (b[3] == 1 && read_all(c, b, 4)) {
        inet_ntop(AF_INET, b, host, sizeof host);
    } else if (b[3] == 3 && read_all(c, b, 1)) {
        size_t n = b[0];
        if (!read_all(c, (unsigned char *)host, n))
            return;
    }
    if (!read_all(c, port, 2))
        return;
    snprintf(p->target, sizeof p->target, "%s:%d", host, port[0] << 8 | port[1]);
    static const char yes[] = {5, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    connect_through(c, port[0] << 8 | port[1], yes, sizeof yes);
}
