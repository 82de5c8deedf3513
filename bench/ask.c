/* Asks a FleetLock server as a fleet does: many ids, a new connection for each request, several at
 * a time. Prints how many a second, how long they took, and the answers, as one line of JSON.
 *
 *     ask http|https PORT pre-reboot|steady-state IDS REQUESTS AT-A-TIME
 *
 * IDS is a file with an id on each line. Over HTTPS nothing is resumed and no certificate is
 * checked: what is measured is the server. */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, IDS_MAX = 100000, ID_LEN = 64, CODES = 600 };

static struct {
    int port;
    const char *api;
    char (*ids)[ID_LEN];
    unsigned n_ids, total, threads;
    SSL_CTX *tls; /* NULL: plain */
    double *took; /* seconds */
    atomic_uint next;
    atomic_uint codes[CODES]; /* 0: no answer */
} run;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int open_connection(void) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)run.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The status of the answer, 0 when there is none. */
static unsigned status_of(const char *answer, size_t len) {
    unsigned code = len > 12 ? (unsigned)strtoul(answer + 9, NULL, 10) : 0;
    return code < CODES ? code : 0;
}

static unsigned ask_plain(int fd, const char *request, size_t len) {
    char answer[4096];
    size_t got = 0;
    ssize_t n;
    if (send(fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
        return 0;
    while (got < sizeof answer && (n = recv(fd, answer + got, sizeof answer - got, 0)) > 0)
        got += (size_t)n;
    return status_of(answer, got);
}

static unsigned ask_tls(int fd, const char *request, size_t len) {
    char answer[4096];
    size_t got = 0;
    int n;
    SSL *ssl = SSL_new(run.tls);
    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, request, (int)len) == (int)len)
        while (got < sizeof answer &&
               (n = SSL_read(ssl, answer + got, (int)(sizeof answer - got))) > 0)
            got += (size_t)n;
    SSL_free(ssl);
    return status_of(answer, got);
}

static unsigned ask(const char *id) {
    char body[160], request[512];
    int len = snprintf(body, sizeof body,
                       "{\"client_params\":{\"id\":\"%s\",\"group\":\"default\"}}", id);
    int all = snprintf(request, sizeof request,
                       "POST /v1/%s HTTP/1.1\r\nHost: localhost\r\nfleet-lock-protocol: true\r\n"
                       "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                       run.api, len, body);
    int fd = open_connection();
    if (fd < 0)
        return 0;
    unsigned code =
        run.tls ? ask_tls(fd, request, (size_t)all) : ask_plain(fd, request, (size_t)all);
    close(fd);
    return code;
}

static void *work(void *arg) {
    unsigned i;
    (void)arg;
    while ((i = atomic_fetch_add(&run.next, 1)) < run.total) {
        double begun = now();
        atomic_fetch_add(&run.codes[ask(run.ids[i % run.n_ids])], 1);
        run.took[i] = now() - begun;
    }
    return NULL;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_ids(const char *path) {
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    run.ids = calloc(IDS_MAX, sizeof *run.ids);
    while (run.ids && run.n_ids < IDS_MAX && fscanf(f, "%63s", run.ids[run.n_ids]) == 1)
        run.n_ids++;
    fclose(f);
    return run.n_ids ? 0 : -1;
}

static void print(double seconds) {
    const char *comma = "";
    qsort(run.took, run.total, sizeof *run.took, by_time);
    printf("{\"rate\":%.1f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"codes\":{",
           run.total / seconds, run.took[run.total / 2] * 1e3,
           run.took[(size_t)run.total * 99 / 100] * 1e3, run.took[run.total - 1] * 1e3);
    for (unsigned i = 0; i < CODES; i++) {
        if (run.codes[i])
            printf("%s\"%u\":%u", comma, i, run.codes[i]);
        comma = run.codes[i] ? "," : comma;
    }
    puts("}}");
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS_MAX];
    if (argc != 7 || read_ids(argv[4])) {
        fprintf(stderr,
                "usage: ask http|https PORT pre-reboot|steady-state IDS REQUESTS AT-A-TIME\n");
        return 64;
    }
    if (strcmp(argv[1], "https") == 0)
        run.tls = SSL_CTX_new(TLS_client_method());
    run.port = (int)strtol(argv[2], NULL, 10);
    run.api = argv[3];
    run.total = (unsigned)strtoul(argv[5], NULL, 10);
    run.threads = (unsigned)strtoul(argv[6], NULL, 10);
    run.took = calloc(run.total + 1, sizeof *run.took);
    if (!run.took || !run.total || !run.threads || run.threads > THREADS_MAX)
        return 64;
    double begun = now();
    for (unsigned i = 0; i < run.threads; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (unsigned i = 0; i < run.threads; i++)
        pthread_join(threads[i], NULL);
    print(now() - begun);
    return 0;
}
