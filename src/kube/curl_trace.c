/* What goes over the wire, in kubectl's words. */
#include "kube/curl_trace.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"

enum {
    LEVEL_TIMING = 6, /* client-go: levelsV6 to levelsV9 */
    LEVEL_HEADERS = 7,
    LEVEL_BODIES = 8,
    LEVEL_CURL = 9,
    LEVEL_WHOLE = 10,
    BODY_8 = 1024, /* client-go's truncateBody() */
    BODY_9 = 10240,
    BODY_10 = 16 << 20, /* ours: no more is kept in memory for a log */
    DUMP_BYTES = 16,    /* of a line of a hex dump */
    DUMP_LINE = 79,     /* characters of it */
};

/* Where client-go says these things. Of a body it names the caller, which is the typed client. */
#define AT_REQUEST    "round_trippers.go:527"
#define AT_DNS        "round_trippers.go:547"
#define AT_DIAL_ERROR "round_trippers.go:560"
#define AT_DIAL       "round_trippers.go:562"
#define AT_RESPONSE   "round_trippers.go:632"

static const char *body_place(const struct curl_exchange *x) {
    static const struct {
        const char *method, *place;
    } places[] = {{"GET", "type.go:165"},
                  {"POST", "type.go:213"},
                  {"PUT", "type.go:228"},
                  {"DELETE", "type.go:257"},
                  {"PATCH", "type.go:289"}};
    if (x->watch)
        return "type.go:201";
    if (streq(x->method, "GET") && strstr(x->url, "limit="))
        return "type.go:183";
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (streq(x->method, places[i].method))
            return places[i].place;
    return places[0].place;
}

/* --- an entry --- */

static int64_t time_of_day(const struct curl_trace *t) {
    if (t->now)
        return t->now();
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return SEC(ts.tv_sec) + ts.tv_nsec / 1000;
}

/* klog's header, in local time: "I1115 15:49:00.123456    1234 file.go:12] " */
static void begin(const struct curl_trace *t, struct str *out, const char *place,
                  const char *message) {
    int64_t now = time_of_day(t);
    time_t seconds = (time_t)(now / USEC_PER_SEC);
    struct tm tm = {0};
    localtime_r(&seconds, &tm);
    str_addf(out, "I%02d%02d %02d:%02d:%02d.%06" PRId64 " %7" PRId64 " %s] \"%s\"", tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now % USEC_PER_SEC,
             t->pid ? t->pid : (int64_t)getpid(), place, message);
}

static void end(const struct curl_trace *t, struct str *out) {
    str_addc(out, '\n');
    size_t done = 0;
    while (done < out->len) {
        ssize_t n = write(t->fd, out->p + done, out->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a log that cannot be written is no reason to fail */
        done += (size_t)n;
    }
}

/* --- values --- */

/* Blanks but the plain one, what has no width, private and tag characters: Go does not print them.
 */
static bool is_printed(uint32_t c) {
    return !utf8_unsafe(c) && c != 0xa0 && c != 0xad && !(c >= 0x2000 && c <= 0x200f) &&
           c != 0x202f && !(c >= 0x205f && c <= 0x206f) && c != 0x3000 &&
           !(c >= 0xe000 && c <= 0xf8ff) && c < 0xe0000;
}

/* As Go's strconv.Quote(). */
static void add_quoted(struct str *out, const char *s, size_t n) {
    static const char letters[] = "abtnvfr"; /* of 7 to 13 */
    str_addc(out, '"');
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(s + i, n - i);
        unsigned char byte = (unsigned char)s[i];
        uint32_t c = len ? utf8_decode(s + i, len) : byte;
        if (c == '"' || c == '\\')
            str_addf(out, "\\%c", (int)c);
        else if (len && c >= 7 && c <= 13)
            str_addf(out, "\\%c", letters[c - 7]);
        else if (!len || c < ' ' || c == 0x7f)
            str_addf(out, "\\x%02x", byte);
        else if (!is_printed(c))
            str_addf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
        else
            str_addn(out, s + i, len);
        i += len ? len : 1;
    }
    str_addc(out, '"');
}

/* A line of a text that is shown as it is, but for what a terminal must not get. */
static void add_line(struct str *out, const char *s, size_t n) {
    str_addc(out, '\t');
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(s + i, n - i);
        uint32_t c = len ? utf8_decode(s + i, len) : 0;
        if (len && (c == '\t' || !utf8_unsafe(c)))
            str_addn(out, s + i, len);
        else
            for (size_t k = 0; k < MAX_OF(len, (size_t)1); k++)
                str_addf(out, "\\x%02x", (unsigned char)s[i + k]);
        i += len ? len : 1;
    }
    str_addc(out, '\n');
}

/* klog's way with a text: quoted, or over several lines between < and >. */
static void add_text(struct str *out, const char *key, const char *s, size_t n) {
    str_addf(out, " %s=", key);
    if (!memchr(s, '\n', n)) {
        add_quoted(out, s, n);
        return;
    }
    str_add(out, "<\n");
    while (n) {
        const char *newline = memchr(s, '\n', n);
        size_t len = newline ? (size_t)(newline - s) : n;
        add_line(out, s, len);
        s += len + (newline ? 1 : 0);
        n -= len + (newline ? 1 : 0);
    }
    str_add(out, " >");
}

static void add_word(struct str *out, const char *key, const char *s) {
    add_text(out, key, s, strlen(s));
}

static void add_msec(struct str *out, const char *key, int64_t usec) {
    str_addf(out, " %s=%" PRId64, key, usec / USEC_PER_MSEC);
}

/* --- headers --- */

/* "authorization" -> "Authorization", as Go keeps the names of headers. */
static char *canonical(const char *name, size_t len) {
    char *s = xstrndup(name, len);
    bool upper = true;
    for (char *p = s; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("!#$%&'*+-.^_`|~", *p)) {
            memcpy(s, name, len); /* no name of a header: left alone */
            break;
        }
        *p = (char)(upper ? toupper((unsigned char)*p) : tolower((unsigned char)*p));
        upper = *p == '-';
    }
    return s;
}

/* client-go's maskValue() */
static void add_masked(struct str *out, const char *name, const char *value) {
    size_t type = strcspn(value, " ");
    if (strcasecmp(name, "Authorization") != 0 || !*value) {
        str_add(out, value);
        return;
    }
    bool known = (type == 6 && !strncasecmp(value, "bearer", type)) ||
                 (type == 5 && !strncasecmp(value, "basic", type)) ||
                 (type == 9 && !strncasecmp(value, "negotiate", type));
    if (!known) {
        str_add(out, "<masked>");
        return;
    }
    str_addn(out, value, type);
    if (strlen(value) > type + 1)
        str_add(out, " <masked>");
}

/* "Name: value" with a canonical name and without secrets; NULL when it is none or has no value. */
static char *show_header(const char *line, size_t len, bool empty_too) {
    const char *colon = memchr(line, ':', len);
    if (!colon || colon == line)
        return NULL;
    const char *value = colon + 1, *stop = line + len;
    while (value < stop && (*value == ' ' || *value == '\t'))
        value++;
    while (stop > value && strchr(" \t\r\n", stop[-1]))
        stop--;
    if (value == stop && !empty_too)
        return NULL;
    _cleanup_free_ char *name = canonical(line, (size_t)(colon - line));
    _cleanup_str_ struct str out = STR_INIT;
    char *copy = xstrndup(value, (size_t)(stop - value));
    str_addf(&out, "%s: ", name);
    add_masked(&out, name, copy);
    mem_wipe(copy, strlen(copy));
    free(copy);
    return str_take(&out);
}

static int compare_names(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t nx = strcspn(x, ":"), ny = strcspn(y, ":");
    int c = memcmp(x, y, MIN_OF(nx, ny));
    return c ? c : nx < ny ? -1 : nx > ny;
}

/* Sorted by name; those of one name in the order in which they came. */
static void sort_headers(char **headers, size_t n) {
    for (size_t i = 1; i < n; i++) {
        char *h = headers[i];
        size_t k = i;
        for (; k && compare_names(&headers[k - 1], &h) > 0; k--)
            headers[k] = headers[k - 1];
        headers[k] = h;
    }
}

static void add_headers(struct str *out, char *const *headers, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < n; i++)
        str_addf(&text, "%s\n", headers[i]);
    add_text(out, "headers", str_get(&text), text.len);
}

/* --- bodies --- */

static size_t body_limit(const struct curl_trace *t) {
    return t->level >= LEVEL_WHOLE ? BODY_10 : t->level == LEVEL_CURL ? BODY_9 : BODY_8;
}

static bool is_binary(const char *p, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)p[i] < '\n')
            return true;
    return false;
}

/* As Go's hex.Dump(). */
static void dump(struct str *out, const char *p, size_t len) {
    for (size_t at = 0; at < len; at += DUMP_BYTES) {
        size_t n = MIN_OF(len - at, (size_t)DUMP_BYTES);
        str_addf(out, "%08zx ", at);
        for (size_t i = 0; i < DUMP_BYTES; i++) {
            str_add(out, i == DUMP_BYTES / 2 ? "  " : " ");
            if (i < n)
                str_addf(out, "%02x", (unsigned char)p[at + i]);
            else
                str_add(out, "  ");
        }
        str_add(out, "  |");
        for (size_t i = 0; i < n; i++)
            str_addc(out, p[at + i] >= ' ' && p[at + i] <= '~' ? p[at + i] : '.');
        str_add(out, "|\n");
    }
}

static uint64_t dump_len(uint64_t len) {
    uint64_t rest = len % DUMP_BYTES;
    return len / DUMP_BYTES * DUMP_LINE + (rest ? DUMP_LINE - (DUMP_BYTES - rest) : 0);
}

/* Keys of ours are among them, and logs are kept; client-go shows them. */
static bool is_secret(const struct curl_exchange *x) {
    return strstr(strna(x->url), "/secrets");
}

/* `p` is the beginning of a body of `total` bytes, as much of it as could be shown. */
static void add_body(const struct curl_trace *t, const struct curl_exchange *x, struct str *out,
                     const char *p, size_t len, uint64_t total, bool binary) {
    size_t limit = body_limit(t);
    _cleanup_str_ struct str text = STR_INIT;
    if (is_secret(x)) {
        str_addf(&text, "<masked: %" PRIu64 " bytes of Secrets>", total);
        add_text(out, "body", str_get(&text), text.len);
        return;
    }
    uint64_t all = binary ? dump_len(total) : total;
    if (binary)
        dump(&text, p, MIN_OF(len, limit / DUMP_LINE * DUMP_BYTES + DUMP_BYTES));
    else
        str_addn(&text, p, len);
    if (all > limit) {
        text.len = MIN_OF(text.len, limit);
        str_addf(&text, " [truncated %" PRIu64 " chars]", all - text.len);
    }
    add_text(out, "body", str_get(&text), text.len);
}

/* --- entries --- */

void curl_exchange_done(struct curl_exchange *x) {
    for (size_t i = 0; i < x->headers.len; i++)
        free(x->headers.p[i]);
    vec_done(&x->headers);
    str_done(&x->body);
    *x = (struct curl_exchange){0};
}

static void add_curl(struct str *out, const struct curl_exchange *x, char *const *headers,
                     size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "curl -v -X%s ", x->method);
    for (size_t i = 0; i < n; i++) {
        str_add(&text, " -H ");
        add_quoted(&text, headers[i], strlen(headers[i]));
    }
    str_addf(&text, " '%s'\n", x->url);
    add_text(out, "curlCommand", str_get(&text), text.len);
}

void curl_trace_request(const struct curl_trace *t, const struct curl_exchange *x,
                        const struct curl_slist *headers, const void *body, size_t body_len) {
    _cleanup_str_ struct str out = STR_INIT;
    if (t->level < LEVEL_HEADERS)
        return;
    if (t->level >= LEVEL_BODIES) {
        begin(t, &out, body_place(x), "Request Body");
        add_body(t, x, &out, body ? body : "", body_len, body_len, is_binary(body, body_len));
        end(t, &out);
        str_reset(&out);
    }
    VEC(char *) shown = VEC_INIT;
    for (const struct curl_slist *h = headers; h; h = h->next) {
        char *line = show_header(h->data, strlen(h->data), false);
        if (line)
            *vec_push(&shown) = line;
    }
    sort_headers(shown.p, shown.len);
    begin(t, &out, AT_REQUEST, "Request");
    if (t->level >= LEVEL_CURL) {
        add_curl(&out, x, shown.p, shown.len);
    } else {
        add_word(&out, "verb", x->method);
        add_word(&out, "url", x->url);
        add_headers(&out, shown.p, shown.len);
    }
    end(t, &out);
    for (size_t i = 0; i < shown.len; i++)
        free(shown.p[i]);
    vec_done(&shown);
}

void curl_trace_dialled(const struct curl_trace *t, const char *host, const char *address,
                        int port) {
    _cleanup_str_ struct str out = STR_INIT;
    if (t->level < LEVEL_CURL)
        return;
    if (host) {
        begin(t, &out, AT_DNS, "HTTP Trace: DNS Lookup resolved");
        add_word(&out, "host", host);
        str_addf(&out, " address=[{\"IP\":\"%s\",\"Zone\":\"\"}]", address);
        end(t, &out);
        str_reset(&out);
    }
    bool v6 = strchr(address, ':') != NULL;
    begin(t, &out, AT_DIAL, "HTTP Trace: Dial succeed");
    str_addf(&out, " network=\"tcp\" address=\"%s%s%s:%d\"", v6 ? "[" : "", address, v6 ? "]" : "",
             port);
    end(t, &out);
}

void curl_trace_dial_failed(const struct curl_trace *t, const char *address, int error) {
    _cleanup_str_ struct str out = STR_INIT;
    if (t->level < LEVEL_CURL)
        return;
    /* Go's words for an errno are the C library's without the capital. */
    _cleanup_free_ char *words = xstrdup(strerror(error));
    *words = (char)tolower((unsigned char)*words);
    _cleanup_free_ char *why = xasprintf("dial tcp %s: connect: %s", address, words);
    begin(t, &out, AT_DIAL_ERROR, "HTTP Trace: Dial failed");
    add_word(&out, "network", "tcp");
    add_word(&out, "address", address);
    add_word(&out, "err", why);
    end(t, &out);
}

void curl_trace_head_line(const struct curl_trace *t, struct curl_exchange *x, const char *line,
                          size_t len) {
    if (t->level < LEVEL_BODIES)
        return;
    if (len >= 5 && !memcmp(line, "HTTP/", 5)) { /* the head before was an interim one */
        for (size_t i = 0; i < x->headers.len; i++)
            free(x->headers.p[i]);
        x->headers.len = 0;
        return;
    }
    char *shown = show_header(line, len, true);
    /* Go takes this one out: it is about the connection. */
    if (shown && str_starts(shown, "Transfer-Encoding:"))
        mem_clear(&shown);
    if (shown)
        *vec_push(&x->headers) = shown;
}

void curl_trace_response(const struct curl_trace *t, const struct curl_exchange *x, int code,
                         const char *status, const struct curl_times *times) {
    _cleanup_str_ struct str out = STR_INIT;
    if (t->level < LEVEL_TIMING)
        return;
    _cleanup_free_ char *text =
        code ? xasprintf("%d%s%s", code, *status ? " " : "", status) : xstrdup("");
    begin(t, &out, AT_RESPONSE, "Response");
    if (t->level == LEVEL_TIMING || t->level >= LEVEL_CURL) {
        add_word(&out, "verb", x->method);
        add_word(&out, "url", x->url);
    }
    add_word(&out, "status", text);
    if (t->level >= LEVEL_BODIES) {
        sort_headers(x->headers.p, x->headers.len);
        add_headers(&out, x->headers.p, x->headers.len);
    }
    add_msec(&out, "milliseconds", times->total);
    if (t->level >= LEVEL_CURL) {
        if (times->reused) {
            add_msec(&out, "getConnectionMilliseconds", times->connection);
        } else {
            add_msec(&out, "dnsLookupMilliseconds", times->dns);
            add_msec(&out, "dialMilliseconds", times->dial);
            add_msec(&out, "tlsHandshakeMilliseconds", times->tls);
        }
        if (code)
            add_msec(&out, "serverProcessingMilliseconds", times->server);
    }
    end(t, &out);
}

void curl_trace_data(const struct curl_trace *t, struct curl_exchange *x, const char *p,
                     size_t len) {
    if (t->level < LEVEL_BODIES || x->watch)
        return;
    size_t room = body_limit(t) - MIN_OF(x->body.len, body_limit(t));
    x->binary = x->binary || is_binary(p, len);
    x->body_len += len;
    str_addn(&x->body, p, MIN_OF(len, room));
}

void curl_trace_body(const struct curl_trace *t, const struct curl_exchange *x) {
    _cleanup_str_ struct str out = STR_INIT;
    if (t->level < LEVEL_BODIES || x->watch)
        return;
    begin(t, &out, body_place(x), "Response Body");
    add_body(t, x, &out, str_get(&x->body), x->body.len, x->body_len, x->binary);
    end(t, &out);
}
