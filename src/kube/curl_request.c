/* A request of ours on a libcurl handle. */
#include "kube/curl_request.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

enum {
    /* A path that is dead is noticed within about half a minute, as client-go does with its HTTP/2
     * pings (30 s idle, 15 s for the answer). */
    USER_TIMEOUT_MS = 30000,
    KEEPALIVE_IDLE_S = 30,
    KEEPALIVE_INTERVAL_S = 10,
    KEEPALIVE_COUNT = 3,
    /* libcurl would take 64 KiB for each write; our bodies are small. */
    UPLOAD_BUFFER = 16 * 1024,
};

const char *curl_request_check(const char *method, const char *path) {
    if (!*method || method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
        return "its method is not one";
    if (!request_path_valid(path))
        return "its path is not one";
    return NULL;
}

/* --- the way --- */

static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose) {
    (void)arg;
    (void)purpose;
    /* Credential plugins and hooks are children of ours. */
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    int ms = USER_TIMEOUT_MS, count = KEEPALIVE_COUNT;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    return CURL_SOCKOPT_OK;
}

static void set_way(CURL *easy, const struct curl_target *target, const struct curl_request *req) {
    _cleanup_free_ char *url = xasprintf("%s%s", target->base, req->path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, target->connect_to);
    curl_easy_setopt(easy, CURLOPT_PROXY, target->proxy.url);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, ""); /* decided in curl_proxy */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     (long)(req->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)req->http2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(req->connect_timeout / USEC_PER_MSEC));
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Without this, giving up a call waits for its DNS look-up, and everything with it. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
}

/* --- method and body --- */

static void set_method(CURL *easy, const struct curl_request *req) {
    bool writes =
        streq(req->method, "POST") || streq(req->method, "PUT") || streq(req->method, "PATCH");
    if (streq(req->method, "HEAD")) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    if (req->body_len || writes) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, req->body_len ? req->body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)req->body_len);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, req->method);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
}

/* --- headers --- */

static int append(struct curl_slist **headers, const char *line, struct err *err) {
    struct curl_slist *longer = curl_slist_append(*headers, line);
    if (!longer)
        return err_set(err, ENOMEM, "out of memory");
    *headers = longer;
    return 0;
}

/* An empty value keeps libcurl from sending a header of its own. */
static int add(struct curl_slist **headers, const char *name, const char *value, struct err *err) {
    if (!header_value_valid(value))
        return err_set(err, EINVAL, "the value for the header %s has control characters in it",
                       name);
    char *line = xasprintf("%s:%s%s", name, *value ? " " : "", value);
    int r = append(headers, line, err);
    mem_wipe(line, strlen(line));
    free(line);
    return r;
}

static int make_headers(const struct curl_target *target, const struct curl_request *req,
                        struct curl_slist **headers, struct err *err) {
    int r = 0;
    for (struct curl_slist *h = target->headers; h && !r; h = h->next)
        r = append(headers, h->data, err);
    if (!r)
        r = add(headers, "Accept", req->accept ? req->accept : "*/*", err);
    if (!r)
        r = add(headers, "Content-Type", strna(req->content_type), err);
    if (!r)
        r = add(headers, "User-Agent", req->user_agent, err);
    if (!r)
        r = add(headers, "Expect", "", err);
    if (!r && !req->compress)
        r = add(headers, "Accept-Encoding", "", err);
    if (!r && req->authorization)
        r = add(headers, "Authorization", req->authorization, err);
    return r;
}

void curl_request_headers_free(struct curl_slist *headers) {
    for (struct curl_slist *h = headers; h; h = h->next)
        mem_wipe(h->data, strlen(h->data));
    curl_slist_free_all(headers);
}

int curl_request_apply(CURL *easy, const struct curl_target *target, const struct curl_request *req,
                       struct curl_slist **headers, struct err *err) {
    *headers = NULL;
    set_way(easy, target, req);
    set_method(easy, req);
    /* Decodes what comes; the empty header above keeps us from asking for it. (libcurl's receive
     * buffer stays at its 16 KiB: a TLS record is no longer, it hands out no more at once, and 64
     * or 256 KiB made no difference on lists of 12 MB.) */
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    int r = make_headers(target, req, headers, err);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    return r;
}
