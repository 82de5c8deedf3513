/* The head of an HTTP/1 request. */
#include "net/server_head.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

size_t http_head_blank(const char *p, size_t len) {
    size_t n = 0;
    while (n < len && (p[n] == '\n' || (p[n] == '\r' && n + 1 < len && p[n + 1] == '\n')))
        n += p[n] == '\n' ? 1 : 2;
    return n;
}

size_t http_head_end(const char *p, size_t len, size_t *scanned) {
    if (len == 1 && p[0] == '\r') /* maybe half of an empty line before it */
        return 0;
    for (size_t from = *scanned;;) {
        const char *nl = from < len ? memchr(p + from, '\n', len - from) : NULL;
        if (!nl) {
            *scanned = MAX_OF(from, len);
            return 0;
        }
        size_t at = (size_t)(nl - p), next = at + 1;
        if (next < len && p[next] == '\n')
            return next + 1;
        if (next + 1 < len && p[next] == '\r' && p[next + 1] == '\n')
            return next + 2;
        if (next == len || (next + 1 == len && p[next] == '\r')) {
            *scanned = at; /* what follows this line break decides */
            return 0;
        }
        from = next;
    }
}

/* --- characters --- */

static bool is_tchar(unsigned char c) {
    return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool http_is_token(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!is_tchar((unsigned char)s[i]))
            return false;
    return len > 0;
}

static bool is_value(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)s[i] < 0x20 && s[i] != '\t') || s[i] == 0x7f)
            return false;
    return true;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool http_list_has(const char *list, const char *token) {
    size_t want = strlen(token);
    for (const char *p = list; *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, ",");
        const char *next = p + len;
        while (len && is_blank(p[len - 1]))
            len--;
        if (len == want && !strncasecmp(p, token, len))
            return true;
        p = next;
    }
    return false;
}

/* --- the request line --- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Resolves %XX of `len` bytes into `out`, which has room for as many and a NUL. */
static bool unescape(const char *p, size_t len, char *out) {
    for (size_t i = 0; i < len; i++) {
        char c = p[i];
        if (c == '%') {
            int hi = i + 2 < len ? hex_digit(p[i + 1]) : -1;
            int lo = i + 2 < len ? hex_digit(p[i + 2]) : -1;
            if (hi < 0 || lo < 0 || (hi == 0 && lo == 0))
                return false;
            c = (char)(hi * 16 + lo);
            i += 2;
        }
        *out++ = c;
    }
    *out = '\0';
    return true;
}

/* Of "http://host/a" the "/a"; "/" when nothing follows the host. */
static const char *skip_authority(const char *target) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (strncasecmp(target, schemes[i], n) != 0)
            continue;
        const char *rest = target + n + strcspn(target + n, "/?");
        return *rest ? rest : "/";
    }
    return target;
}

static int parse_target(const char *target, struct http_head *out, const char **why) {
    size_t len = strlen(target);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)target[i] <= ' ' || target[i] == 0x7f) {
            *why = "the target has a blank or control character";
            return 400;
        }
    const char *t = skip_authority(target);
    if (*t != '/' && t == target && !(streq(t, "*") && streq(out->method, "OPTIONS"))) {
        *why = "the target is no path";
        return 400;
    }
    const char *query = strchr(t, '?');
    size_t path_len = query ? (size_t)(query - t) : strlen(t);
    char *decoded = xmalloc(path_len + 2);
    if (!unescape(t, path_len, decoded)) {
        free(decoded);
        *why = "the path has an invalid escape";
        return 400;
    }
    if (!*decoded) /* "http://host?query" */
        memcpy(decoded, "/", 2);
    out->target = t;
    out->path = decoded;
    out->query = query ? query + 1 : "";
    return 0;
}

static int parse_version(const char *v, struct http_head *out, const char **why) {
    if (!str_starts(v, "HTTP/") || !isdigit((unsigned char)v[5]) || v[6] != '.' ||
        !isdigit((unsigned char)v[7]) || v[8]) {
        *why = "the request line does not end with HTTP/1.1";
        return 400;
    }
    if (v[5] != '1') {
        *why = "only HTTP/1.1 and HTTP/1.0 are spoken here";
        return 505;
    }
    out->http10 = v[7] == '0';
    return 0;
}

static int parse_request_line(char *line, struct http_head *out, const char **why) {
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version) {
        *why = "the request line is not METHOD TARGET HTTP/1.1";
        return 400;
    }
    *target++ = '\0';
    *version++ = '\0';
    size_t len = strlen(line);
    if (!http_is_token(line, len)) {
        *why = "the method is no token";
        return 400;
    }
    if (len > HTTP_MAX_METHOD) {
        *why = "the method is unknown";
        return 501;
    }
    out->method = line;
    int code = parse_version(version, out, why);
    return code ? code : parse_target(target, out, why);
}

/* --- headers --- */

static int parse_header(char *line, size_t len, struct http_head *out, const char **why) {
    if (is_blank(*line)) {
        *why = "a header line is folded";
        return 400;
    }
    char *colon = memchr(line, ':', len);
    if (!colon || !http_is_token(line, (size_t)(colon - line))) {
        *why = "a header line is not NAME: VALUE";
        return 400;
    }
    *colon = '\0';
    char *value = colon + 1, *end = line + len;
    while (value < end && is_blank(*value))
        value++;
    while (end > value && is_blank(end[-1]))
        end--;
    *end = '\0';
    if (!is_value(value, (size_t)(end - value))) {
        *why = "a header has a control character";
        return 400;
    }
    if (out->n_headers == HTTP_MAX_HEADERS) {
        *why = "there are too many headers";
        return 431;
    }
    /* Grows at 8, 16, 32, ... */
    size_t n = out->n_headers;
    if (n == 0 || (n >= 8 && (n & (n - 1)) == 0))
        out->headers = xrealloc(out->headers, n ? n * 2 : 8, sizeof *out->headers);
    out->headers[out->n_headers++] = (struct http_header){line, value};
    return 0;
}

static int parse_length(const char *s, int64_t *out) {
    int64_t n = 0;
    if (!*s)
        return -1;
    for (; *s; s++)
        if (!isdigit((unsigned char)*s) || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, *s - '0', &n))
            return -1;
    *out = n;
    return 0;
}

/* What the headers say about the connection and the body. */
static int parse_framing(struct http_head *out, const char **why) {
    int hosts = 0, encodings = 0;
    bool has_length = false;
    for (size_t i = 0; i < out->n_headers; i++) {
        const char *name = out->headers[i].name, *value = out->headers[i].value;
        int64_t length = 0;
        if (!strcasecmp(name, "Host")) {
            hosts++;
        } else if (!strcasecmp(name, "Connection")) {
            out->close = out->close || http_list_has(value, "close");
        } else if (!strcasecmp(name, "Content-Length")) {
            if (parse_length(value, &length) < 0 || (has_length && length != out->length)) {
                *why = "Content-Length is not one number";
                return 400;
            }
            has_length = true;
            out->length = length;
        } else if (!strcasecmp(name, "Transfer-Encoding")) {
            if (strcasecmp(value, "chunked") != 0 || encodings++) {
                *why = "of the transfer encodings only \"chunked\" is known here";
                return 501;
            }
        } else if (!strcasecmp(name, "Expect")) {
            if (strcasecmp(value, "100-continue") != 0) {
                *why = "nothing but \"100-continue\" can be expected here";
                return 417;
            }
            out->expect_continue = !out->http10;
        }
    }
    if (hosts > 1 || (hosts == 0 && !out->http10)) {
        *why = hosts ? "there are several Host headers" : "the Host header is missing";
        return 400;
    }
    if (encodings && (has_length || out->http10)) {
        *why = has_length ? "there are both Content-Length and Transfer-Encoding"
                          : "Transfer-Encoding is not known in HTTP/1.0";
        return 400;
    }
    if (encodings)
        out->length = -1;
    /* A 1.0 client could ask to keep the connection; none that matters does. */
    out->close = out->close || out->http10;
    return 0;
}

static int parse_lines(char *text, size_t len, struct http_head *out, const char **why) {
    char *p = text, *end = text + len;
    bool first = true;
    text[len] = '\0';
    while (p < end) {
        char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) {
            *why = "the head does not end with a line break";
            return 400;
        }
        char *stop = nl > p && nl[-1] == '\r' ? nl - 1 : nl;
        size_t line_len = (size_t)(stop - p);
        *stop = '\0';
        if (line_len == 0)
            break;
        if (memchr(p, '\0', line_len) || memchr(p, '\r', line_len)) {
            *why = "the head has a control character";
            return 400;
        }
        int code = first ? parse_request_line(p, out, why) : parse_header(p, line_len, out, why);
        if (code)
            return code;
        first = false;
        p = nl + 1;
    }
    if (first) {
        *why = "the request is empty";
        return 400;
    }
    return parse_framing(out, why);
}

int http_head_parse(char *text, size_t len, struct http_head *out, const char **why) {
    struct http_head head = {0};
    int code = parse_lines(text, len, &head, why);
    if (code) {
        http_head_done(&head);
        return code;
    }
    *out = head;
    return 0;
}

void http_head_done(struct http_head *head) {
    free(head->path);
    free(head->headers);
    *head = (struct http_head){0};
}

const char *http_head_get(const struct http_head *head, const char *name) {
    for (size_t i = 0; i < head->n_headers; i++)
        if (!strcasecmp(head->headers[i].name, name))
            return head->headers[i].value;
    return NULL;
}
