/* A small real HTTP(S) server for tests. */
#include "support/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

enum { HEAD_MAX = 1024 * 1024 };

struct server_conn {
    struct server *s;
    int number, fd;
    SSL *ssl;
    pthread_t thread;
    struct str in; /* read, not used yet */
    char sni[256], peer[256];
    bool close, reset;
};

struct server {
    struct server_options opts;
    int fd, port;
    SSL_CTX *tls;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock: */
    bool stopping;
    int steps, handshakes;
    VEC(struct server_conn *) conns;
    VEC(struct server_request *) requests;
};

static void die(const char *what) {
    fprintf(stderr, "test server: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    abort();
}

/* --- bytes --- */

static ssize_t get(struct server_conn *c, void *p, size_t len) {
    if (c->ssl)
        return SSL_read(c->ssl, p, (int)len);
    ssize_t n;
    do
        n = recv(c->fd, p, len, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

size_t server_read(struct server_conn *c, void *p, size_t len) {
    if (c->in.len) {
        size_t n = MIN_OF(len, c->in.len);
        memcpy(p, c->in.p, n);
        str_drop(&c->in, n);
        return n;
    }
    ssize_t n = get(c, p, len);
    return n > 0 ? (size_t)n : 0;
}

bool server_write(struct server_conn *c, const void *p, size_t len) {
    const char *at = p;
    while (len) {
        ssize_t n = c->ssl ? SSL_write(c->ssl, at, (int)MIN_OF(len, 1 << 20))
                           : send(c->fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && !c->ssl && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

bool server_puts(struct server_conn *c, const char *text) {
    return server_write(c, text, strlen(text));
}

/* --- answers --- */

static void head(struct server_conn *c, int code, const char *headers, const char *framing) {
    _cleanup_free_ char *text =
        xasprintf("HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\n%s%s\r\n", code,
                  strna(headers), framing);
    server_puts(c, text);
}

void server_reply(struct server_conn *c, int code, const char *headers, const char *body) {
    char framing[64];
    snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", strlen(body));
    head(c, code, headers, framing);
    server_puts(c, body);
}

void server_begin(struct server_conn *c, int code, const char *headers) {
    head(c, code, headers, "Transfer-Encoding: chunked\r\n");
}

void server_chunk(struct server_conn *c, const char *text) {
    _cleanup_free_ char *chunk = xasprintf("%zx\r\n%s\r\n", strlen(text), text);
    server_puts(c, chunk);
}

void server_end(struct server_conn *c) {
    server_puts(c, "0\r\n\r\n");
}

void server_close(struct server_conn *c) {
    c->close = true;
}

void server_reset(struct server_conn *c) {
    c->close = c->reset = true;
}

int server_conn_number(const struct server_conn *c) {
    return c->number;
}

int server_conn_fd(const struct server_conn *c) {
    return c->fd;
}

/* --- requests --- */

/* Fills c->in until it holds a whole head; returns its length, 0 at the end. */
static size_t read_head(struct server_conn *c) {
    for (;;) {
        char *end = c->in.p ? memmem(c->in.p, c->in.len, "\r\n\r\n", 4) : NULL;
        if (end)
            return (size_t)(end - c->in.p) + 4;
        char buf[4096];
        ssize_t n = c->in.len < HEAD_MAX ? get(c, buf, sizeof buf) : 0;
        if (n <= 0)
            return 0;
        str_addn(&c->in, buf, (size_t)n);
    }
}

static struct server_request *read_request(struct server_conn *c) {
    size_t len = read_head(c);
    if (!len)
        return NULL;
    _cleanup_free_ char *text = xstrndup(c->in.p, len);
    str_drop(&c->in, len);
    char *line = strstr(text, "\r\n"), *path = strchr(text, ' ');
    char *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || version > line) {
        server_puts(c, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent something else.\n");
        return NULL;
    }
    struct server_request *req = xnew(struct server_request);
    req->method = xstrndup(text, (size_t)(path - text));
    req->path = xstrndup(path + 1, (size_t)(version - path - 1));
    req->headers = xstrdup(line + 2);
    req->conn = c->number;
    req->sni = xstrdup(c->sni);
    req->peer = xstrdup(c->peer);
    _cleanup_free_ char *length = server_header(req, "Content-Length");
    req->body_len = length ? strtoul(length, NULL, 10) : 0;
    req->body = xcalloc(1, req->body_len + 1);
    for (size_t at = 0, n; at < req->body_len; at += n) {
        n = server_read(c, req->body + at, req->body_len - at);
        if (!n)
            break;
    }
    return req;
}

static void request_free(struct server_request *req) {
    free(req->method);
    free(req->path);
    free(req->headers);
    free(req->body);
    free(req->sni);
    free(req->peer);
    free(req);
}

char *server_header(const struct server_request *req, const char *name) {
    size_t n = strlen(name);
    for (const char *p = req->headers; p && *p; p = strstr(p, "\r\n"), p = p ? p + 2 : NULL)
        if (!strncasecmp(p, name, n) && p[n] == ':') {
            p += n + 1 + strspn(p + n + 1, " ");
            return xstrndup(p, strcspn(p, "\r"));
        }
    return NULL;
}

/* --- connections --- */

static bool handshake(struct server_conn *c) {
    if (!c->s->tls)
        return true;
    pthread_mutex_lock(&c->s->lock);
    c->ssl = SSL_new(c->s->tls);
    pthread_mutex_unlock(&c->s->lock);
    SSL_set_fd(c->ssl, c->fd);
    if (SSL_accept(c->ssl) <= 0) {
        /* Closing now would reset the connection, and our alert could get lost. */
        char rest[4096];
        shutdown(c->fd, SHUT_WR);
        while (recv(c->fd, rest, sizeof rest, 0) > 0)
            ;
        return false;
    }
    const char *sni = SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name);
    snprintf(c->sni, sizeof c->sni, "%s", strna(sni));
    X509 *peer = SSL_get0_peer_certificate(c->ssl);
    if (peer)
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, c->peer,
                                  sizeof c->peer);
    pthread_mutex_lock(&c->s->lock);
    c->s->handshakes += !SSL_session_reused(c->ssl);
    pthread_mutex_unlock(&c->s->lock);
    return true;
}

static void serve(struct server_conn *c) {
    struct server *s = c->s;
    if (!handshake(c))
        return;
    if (s->opts.raw) {
        s->opts.raw(c, s->opts.arg);
        return;
    }
    while (!c->close) {
        struct server_request *req = read_request(c);
        if (!req)
            return;
        pthread_mutex_lock(&s->lock);
        *vec_push(&s->requests) = req;
        pthread_mutex_unlock(&s->lock);
        s->opts.handle(c, req, s->opts.arg);
    }
}

static void *connection(void *arg) {
    struct server_conn *c = arg;
    serve(c);
    if (c->ssl && !c->reset)
        SSL_shutdown(c->ssl);
    pthread_mutex_lock(&c->s->lock);
    if (c->reset) {
        struct linger now = {1, 0};
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&c->s->lock);
    SSL_free(c->ssl);
    c->ssl = NULL;
    str_done(&c->in);
    ERR_clear_error();
    return NULL;
}

static void *acceptor(void *arg) {
    struct server *s = arg;
    for (;;) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return NULL;
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct server_conn *c = xnew(struct server_conn);
        c->s = s;
        c->fd = fd;
        pthread_mutex_lock(&s->lock);
        if (s->stopping) {
            close(fd);
            free(c);
        } else {
            *vec_push(&s->conns) = c;
            c->number = (int)s->conns.len;
            if (pthread_create(&c->thread, NULL, connection, c))
                die("pthread_create");
        }
        pthread_mutex_unlock(&s->lock);
    }
}

/* --- life --- */

static void load(SSL_CTX *tls, const char *cert_pem, const char *key_pem) {
    BIO *bio = BIO_new_mem_buf(cert_pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    bio = BIO_new_mem_buf(key_pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    if (SSL_CTX_use_certificate(tls, cert) <= 0 || SSL_CTX_use_PrivateKey(tls, key) <= 0)
        die("certificate");
    X509_free(cert);
    EVP_PKEY_free(key);
}

static SSL_CTX *make_tls(const struct server_options *opts) {
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    load(tls, opts->cert, opts->key);
    SSL_CTX_set_session_id_context(tls, (const unsigned char *)"test", 4);
    if (opts->tls12)
        SSL_CTX_set_max_proto_version(tls, TLS1_2_VERSION);
    if (opts->client_ca) {
        BIO *bio = BIO_new_mem_buf(opts->client_ca, -1);
        X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        BIO_free(bio);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), ca);
        SSL_CTX_add_client_CA(tls, ca);
        X509_free(ca);
        SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return tls;
}

struct server *server_start(const struct server_options *opts) {
    struct server *s = xnew(struct server);
    s->opts = *opts;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (opts->cert)
        s->tls = make_tls(opts);
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&addr, len) < 0 || listen(s->fd, 64) < 0 ||
        getsockname(s->fd, (struct sockaddr *)&addr, &len) < 0)
        die("listen");
    s->port = ntohs(addr.sin_port);
    /* OpenSSL writes without MSG_NOSIGNAL. Blocked only in the server's threads: the client under
     * test has to do without. */
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    if (pthread_create(&s->thread, NULL, acceptor, s))
        die("pthread_create");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s;
}

static void drop_locked(struct server *s) {
    for (size_t i = 0; i < s->conns.len; i++)
        if (s->conns.p[i]->fd >= 0)
            shutdown(s->conns.p[i]->fd, SHUT_RDWR);
}

void server_drop(struct server *s) {
    pthread_mutex_lock(&s->lock);
    drop_locked(s);
    pthread_mutex_unlock(&s->lock);
}

void server_stop(struct server *s) {
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    drop_locked(s);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    for (size_t i = 0; i < s->conns.len; i++) {
        pthread_join(s->conns.p[i]->thread, NULL);
        free(s->conns.p[i]);
    }
    vec_done(&s->conns);
    for (size_t i = 0; i < s->requests.len; i++)
        request_free(s->requests.p[i]);
    vec_done(&s->requests);
    SSL_CTX_free(s->tls);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void server_use(struct server *s, const char *cert, const char *key) {
    struct server_options opts = s->opts;
    opts.cert = cert;
    opts.key = key;
    SSL_CTX *tls = make_tls(&opts);
    pthread_mutex_lock(&s->lock);
    SSL_CTX_free(s->tls);
    s->tls = tls;
    pthread_mutex_unlock(&s->lock);
}

int server_port(const struct server *s) {
    return s->port;
}

char *server_url(const struct server *s, const char *host) {
    return xasprintf("%s://%s:%d", s->tls ? "https" : "http", host ? host : "127.0.0.1", s->port);
}

/* --- looking --- */

int server_connections(struct server *s) {
    pthread_mutex_lock(&s->lock);
    int n = (int)s->conns.len;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int server_handshakes(struct server *s) {
    pthread_mutex_lock(&s->lock);
    int n = s->handshakes;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int server_requests(struct server *s) {
    pthread_mutex_lock(&s->lock);
    int n = (int)s->requests.len;
    pthread_mutex_unlock(&s->lock);
    return n;
}

const struct server_request *server_request(struct server *s, int i) {
    pthread_mutex_lock(&s->lock);
    const struct server_request *req = (size_t)i < s->requests.len ? s->requests.p[i] : NULL;
    pthread_mutex_unlock(&s->lock);
    if (!req)
        die("no such request");
    return req;
}

void server_step(struct server *s) {
    pthread_mutex_lock(&s->lock);
    s->steps++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool server_await(struct server_conn *c, int n) {
    struct server *s = c->s;
    pthread_mutex_lock(&s->lock);
    while (s->steps < n && !s->stopping)
        pthread_cond_wait(&s->changed, &s->lock);
    bool stopping = s->stopping;
    pthread_mutex_unlock(&s->lock);
    return !stopping;
}
