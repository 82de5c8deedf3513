/* The head of a reply as bytes. */
#include "net/server_reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "net/server_head.h"

const char *http_date(int64_t usec, char buf[static HTTP_DATE_LEN]) {
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t t = (time_t)(usec / USEC_PER_SEC);
    struct tm tm = {0};
    gmtime_r(&t, &tm);
    /* strftime() would speak the language of the environment. */
    snprintf(buf, HTTP_DATE_LEN, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
             tm.tm_mday % 100, months + 3 * tm.tm_mon, (tm.tm_year + 1900) % 10000,
             tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
    return buf;
}

const char *http_reason(int code) {
    static const struct {
        int code;
        const char *name;
    } table[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Request Entity Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Entity"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    static const char *const classes[] = {"OK", "Redirect", "Client Error", "Server Error"};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].code == code)
            return table[i].name;
    return classes[code >= 200 && code < 600 ? code / 100 - 2 : 3];
}

/* Those that say where the reply ends: two of them would be two opinions. */
static bool is_ours(const char *name) {
    static const char *const ours[] = {"Content-Length", "Transfer-Encoding", "Connection", "Date"};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (!strcasecmp(name, ours[i]))
            return true;
    return false;
}

static void add_header(struct str *out, const struct http_header *h) {
    if (!http_is_token(h->name, strlen(h->name)) || is_ours(h->name))
        return;
    str_add(out, h->name);
    str_add(out, ": ");
    for (const char *p = strna(h->value); *p; p++)
        str_addc(out, ((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f ? ' ' : *p);
    str_add(out, "\r\n");
}

void http_reply_head(struct str *out, const struct http_reply *reply, int64_t length, bool gzip,
                     bool close, const char *date) {
    int code = reply->code >= 200 && reply->code < 600 ? reply->code : 500;
    str_addf(out, "HTTP/1.1 %d %s\r\n", code, http_reason(code));
    for (size_t i = 0; i < reply->n_headers; i++)
        add_header(out, &reply->headers[i]);
    if (gzip)
        str_add(out, "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n");
    str_add(out, "Date: ");
    str_add(out, date);
    str_add(out, "\r\n");
    if (length >= 0)
        str_addf(out, "Content-Length: %lld\r\n", (long long)length);
    else if (length == HTTP_CHUNKED)
        str_add(out, "Transfer-Encoding: chunked\r\n");
    str_add(out, close ? "Connection: close\r\n\r\n" : "\r\n");
}
