/* A small real HTTP(S) server on the loopback interface, whose behaviour is a C function.
 *
 * A thread accepts, and each connection has a thread of its own, in which the function runs: it may
 * block, wait for the test (server_await), answer, say nonsense or hang up. The test looks at what
 * the server has seen afterwards. server_stop() ends everything, whatever it waits for.
 *
 * It is meant for tests only: anything that goes wrong in the server itself ends the program. */
#ifndef SUPPORT_SERVER_H
#define SUPPORT_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct server;
struct server_conn;

/* A request as it came. */
struct server_request {
    char *method, *path;
    char *headers; /* the lines after the request line, as they came */
    char *body;
    size_t body_len;
    int conn;   /* number of the connection, from 1 */
    char *sni;  /* name asked for in the TLS handshake, or "" */
    char *peer; /* CN of the client's certificate, or "" */
};

typedef void server_fn(struct server_conn *c, const struct server_request *req, void *arg);
typedef void server_raw_fn(struct server_conn *c, void *arg);

struct server_options {
    const char *cert, *key; /* PEM; NULL: no TLS */
    const char *client_ca;  /* PEM: clients must show a certificate signed by it */
    bool tls12;             /* no TLS 1.3 */
    server_fn *handle;      /* each request of a connection that is kept open */
    server_raw_fn *raw;     /* or: the whole connection, after the handshake */
    void *arg;
};

struct server *server_start(const struct server_options *opts);
void server_stop(struct server *s);
int server_port(const struct server *s);
/* "https://127.0.0.1:4711", for another host name when given. */
char *server_url(const struct server *s, const char *host);
/* From now on new connections get this certificate. */
void server_use(struct server *s, const char *cert, const char *key);

/* What it has seen so far. */
int server_connections(struct server *s);
int server_handshakes(struct server *s); /* full ones, without resumed sessions */
int server_requests(struct server *s);
/* Request number i, from 0; valid until server_stop(). */
const struct server_request *server_request(struct server *s, int i);
/* The value of a header (copied), or NULL. */
char *server_header(const struct server_request *req, const char *name);
/* Closes all connections, at once and without a word. */
void server_drop(struct server *s);

/* Steps, by which test and server wait for each other: the test takes one, the function waits until
 * at least `n` were taken. False when the server is being stopped. */
void server_step(struct server *s);
bool server_await(struct server_conn *c, int n);

/* In the function: */
int server_conn_number(const struct server_conn *c);
int server_conn_fd(const struct server_conn *c);
/* A whole answer with Content-Length. `headers` are lines that end with \r\n, or NULL. */
void server_reply(struct server_conn *c, int code, const char *headers, const char *body);
/* An answer in chunks: the head, pieces, the end. */
void server_begin(struct server_conn *c, int code, const char *headers);
void server_chunk(struct server_conn *c, const char *text);
void server_end(struct server_conn *c);
/* Bytes as they are. False when the client is gone. */
bool server_write(struct server_conn *c, const void *p, size_t len);
bool server_puts(struct server_conn *c, const char *text);
/* At most len bytes; 0 at the end. */
size_t server_read(struct server_conn *c, void *p, size_t len);
/* Hangs up after the function has returned: in order, or by a reset. */
void server_close(struct server_conn *c);
void server_reset(struct server_conn *c);

#endif
