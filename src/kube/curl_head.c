/* The head of an HTTP response, put together line by line. */
#include "kube/curl_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

static void forget_fields(struct curl_head *h) {
    mem_clear(&h->content_type);
    for (size_t i = 0; i < h->warnings.len; i++)
        free(h->warnings.p[i]);
    vec_done(&h->warnings);
    mem_clear(&h->retry_after);
    h->date = 0;
    h->priority = false;
}

void curl_head_done(struct curl_head *h) {
    forget_fields(h);
    *h = (struct curl_head){0};
}

/* "HTTP/1.1 200 OK", "HTTP/2 200" */
static int status_line(struct curl_head *h, const char *s) {
    const char *p = strchr(s, ' ');
    if (!str_starts(s, "HTTP/") || !p)
        return -EPROTO;
    while (*p == ' ')
        p++;
    int code = 0;
    for (int i = 0; i < 3; i++, p++) {
        if (*p < '0' || *p > '9')
            return -EPROTO;
        code = code * 10 + (*p - '0');
    }
    if (code < 100 || (*p && *p != ' '))
        return -EPROTO;
    forget_fields(h);
    h->code = code;
    h->open = true;
    return 0;
}

/* The text of `299 - "the text"`, NULL for other warnings. */
static char *warning_text(const char *s) {
    if (!str_starts(s, "299 "))
        return NULL;
    s = strchr(s + 4, '"');
    if (!s)
        return NULL;
    _cleanup_str_ struct str text = STR_INIT;
    for (s++; *s && *s != '"'; s++) {
        if (*s == '\\' && s[1])
            s++;
        str_addc(&text, *s);
    }
    return *s == '"' ? str_take(&text) : NULL;
}

static void field(struct curl_head *h, const char *name, const char *value) {
    if (!strcasecmp(name, "Content-Type")) {
        str_replace(&h->content_type, value);
    } else if (!strcasecmp(name, "Retry-After")) {
        str_replace(&h->retry_after, value);
    } else if (!strcasecmp(name, "Date")) {
        if (!time_parse_http(value, &h->date))
            h->date = 0;
    } else if (!strcasecmp(name, "Warning")) {
        char *text = warning_text(value);
        if (text)
            *vec_push(&h->warnings) = text;
    } else if (!strncasecmp(name, "X-Kubernetes-PF-", 16)) {
        h->priority = true;
    }
}

int curl_head_line(struct curl_head *h, const char *line, size_t len) {
    h->bytes += len;
    if (h->bytes > CURL_HEAD_MAX_BYTES || ++h->lines > CURL_HEAD_MAX_LINES)
        return -E2BIG;
    if (h->complete)
        return 0;
    while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (memchr(line, '\0', len))
        return -EPROTO;
    _cleanup_free_ char *s = xstrndup(line, len);
    if (!h->open)
        return status_line(h, s);
    if (!len) {
        h->open = false;
        h->complete = h->code >= 200;
        return h->complete;
    }
    char *colon = strchr(s, ':');
    if (!colon || colon == s || *s == ' ' || *s == '\t')
        return 0; /* nothing that we know of looks like that */
    *colon++ = '\0';
    colon += strspn(colon, " \t");
    for (size_t n = strlen(colon); n && strchr(" \t", colon[n - 1]); n--)
        colon[n - 1] = '\0';
    field(h, s, colon);
    return 0;
}

/* Seconds, or a date, which counts from the server's own clock. */
static int64_t seconds(const char *s, int64_t date) {
    if (!s)
        return -1;
    size_t digits = strspn(s, "0123456789");
    int64_t when, wait = 0;
    if (digits && !s[digits]) {
        for (size_t i = 0; i < digits && wait < INT32_MAX; i++)
            wait = wait * 10 + (s[i] - '0');
        return MIN_OF(wait, INT32_MAX);
    }
    if (!date || !time_parse_http(s, &when))
        return -1;
    return when > date ? (when - date) / USEC_PER_SEC : 0;
}

void curl_head_show(const struct curl_head *h, struct kube_head *out) {
    *out = (struct kube_head){
        .code = h->code,
        .content_type = strna(h->content_type),
        .retry_after = seconds(h->retry_after, h->date),
        .date = h->date,
        .warning = h->warnings.len ? h->warnings.p[0] : NULL,
        /* The API server marks every answer with the flow schema; only a refusal by the flow
         * control itself is plain text, while one for a disruption budget is a Status object. */
        .api_server = h->priority,
        .flow_control =
            h->code == 429 && h->priority && !strncasecmp(strna(h->content_type), "text/plain", 10),
    };
}

static const struct {
    int code;
    const char *text;
} status_texts[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Request Entity Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

const char *http_status_text(int code) {
    for (size_t i = 0; i < ARRAY_LEN(status_texts); i++)
        if (status_texts[i].code == code)
            return status_texts[i].text;
    return "";
}
