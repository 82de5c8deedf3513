/* Chunked bodies, taken apart. */
#include "net/server_chunk.h"

#include "base/mem.h"

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A letter of the line with the size. */
static enum http_chunk_result feed_size(struct http_chunks *c, char ch) {
    int digit = hex_value(ch);
    if (digit >= 0) {
        c->digits = true;
        /* Leading zeros are without limit otherwise. */
        if (c->left == 0 && digit == 0 && ++c->extra > HTTP_CHUNK_EXTRA)
            return HTTP_CHUNK_BAD;
        if (__builtin_mul_overflow(c->left, 16, &c->left))
            return HTTP_CHUNK_TOO_LARGE;
        c->left += (size_t)digit;
        return HTTP_CHUNK_MORE;
    }
    if (!c->digits)
        return HTTP_CHUNK_BAD;
    if (ch == '\r')
        c->state = HTTP_CHUNK_SIZE_LF;
    else if (ch == ';' || ch == ' ' || ch == '\t')
        c->state = HTTP_CHUNK_EXT;
    else
        return HTTP_CHUNK_BAD;
    return HTTP_CHUNK_MORE;
}

/* A letter that is skipped: of an extension or a trailer, until the line ends. */
static enum http_chunk_result feed_extra(struct http_chunks *c, char ch,
                                         enum http_chunk_state at_cr) {
    if (ch == '\r')
        c->state = at_cr;
    else if (ch == '\n' || ch == '\0' || ++c->extra > HTTP_CHUNK_EXTRA)
        return HTTP_CHUNK_BAD;
    return HTTP_CHUNK_MORE;
}

static enum http_chunk_result feed_char(struct http_chunks *c, char ch, enum http_chunk_state next,
                                        char want) {
    if (ch != want)
        return HTTP_CHUNK_BAD;
    c->state = next;
    return HTTP_CHUNK_MORE;
}

/* Any letter but data. */
static enum http_chunk_result feed_letter(struct http_chunks *c, char ch, size_t body, size_t max) {
    switch (c->state) {
    case HTTP_CHUNK_SIZE:
        return feed_size(c, ch);
    case HTTP_CHUNK_EXT:
        return feed_extra(c, ch, HTTP_CHUNK_SIZE_LF);
    case HTTP_CHUNK_SIZE_LF:
        if (c->left > max - body)
            return HTTP_CHUNK_TOO_LARGE;
        c->digits = false;
        return feed_char(c, ch, c->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER, '\n');
    case HTTP_CHUNK_DATA_CR:
        return feed_char(c, ch, HTTP_CHUNK_DATA_LF, '\r');
    case HTTP_CHUNK_DATA_LF:
        return feed_char(c, ch, HTTP_CHUNK_SIZE, '\n');
    case HTTP_CHUNK_TRAILER:
        if (ch == '\r') {
            c->state = HTTP_CHUNK_END_LF;
            return HTTP_CHUNK_MORE;
        }
        c->state = HTTP_CHUNK_TRAILER_IN;
        return feed_extra(c, ch, HTTP_CHUNK_TRAILER_LF);
    case HTTP_CHUNK_TRAILER_IN:
        return feed_extra(c, ch, HTTP_CHUNK_TRAILER_LF);
    case HTTP_CHUNK_TRAILER_LF:
        return feed_char(c, ch, HTTP_CHUNK_TRAILER, '\n');
    case HTTP_CHUNK_END_LF:
        return feed_char(c, ch, HTTP_CHUNK_END, '\n');
    case HTTP_CHUNK_DATA:
    case HTTP_CHUNK_END:
        break;
    }
    return HTTP_CHUNK_BAD;
}

enum http_chunk_result http_chunks_feed(struct http_chunks *c, const char *p, size_t len,
                                        struct str *body, size_t max, size_t *used) {
    size_t at = 0;
    enum http_chunk_result r = HTTP_CHUNK_MORE;
    while (at < len && r == HTTP_CHUNK_MORE && c->state != HTTP_CHUNK_END) {
        if (c->state != HTTP_CHUNK_DATA) {
            r = feed_letter(c, p[at++], body->len, max);
            continue;
        }
        size_t n = MIN_OF(c->left, len - at);
        str_addn(body, p + at, n);
        at += n;
        c->left -= n;
        if (!c->left)
            c->state = HTTP_CHUNK_DATA_CR;
    }
    *used = at;
    return r == HTTP_CHUNK_MORE && c->state == HTTP_CHUNK_END ? HTTP_CHUNK_DONE : r;
}
