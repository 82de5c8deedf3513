/* The body of a whole reply on its way out. */
#include "net/server_feed.h"

#include <assert.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    FRAME = 10,         /* "0000ffff\r\n" before a chunk */
    END = 2,            /* "\r\n" after it */
    SMALL_PIECE = 4096, /* is copied, so that the block can be used again */
};

/* Bytes that several pieces in the buffer refer to. */
struct shared {
    struct http_ref ref;
    unsigned users;
};

struct http_feed {
    struct shared *shared; /* NULL: it is a source */
    size_t at;             /* of the shared bytes */
    struct http_source src;
    bool chunked;
    int64_t left; /* of a source of known length */
    char *block;  /* of HTTP_FEED_PIECE bytes: the source writes between FRAME and END */
};

static struct shared *shared_new(const struct http_ref *ref) {
    struct shared *s = xnew(struct shared);
    *s = (struct shared){*ref, 1};
    return s;
}

static void shared_drop(struct shared *s) {
    if (--s->users)
        return;
    if (s->ref.release)
        s->ref.release(s->ref.arg);
    free(s);
}

static void piece_sent(const void *p, size_t len, void *arg) {
    (void)p;
    (void)len;
    shared_drop(arg);
}

/* Part of the shared bytes: nothing is copied. */
static int shared_add(struct shared *s, size_t at, size_t len, struct evbuffer *out) {
    s->users++;
    int r = evbuffer_add_reference(out, (const char *)s->ref.p + at, len, piece_sent, s);
    if (r < 0)
        s->users--;
    return r;
}

int http_ref_add(struct evbuffer *out, const struct http_ref *ref) {
    struct shared *s = shared_new(ref);
    int r = ref->len ? shared_add(s, 0, ref->len, out) : 0;
    shared_drop(s);
    return r;
}

struct http_feed *http_feed_ref(const struct http_ref *ref) {
    struct http_feed *f = xnew(struct http_feed);
    f->shared = shared_new(ref);
    return f;
}

struct http_feed *http_feed_pull(const struct http_source *src, bool chunked) {
    struct http_feed *f = xnew(struct http_feed);
    f->src = *src;
    f->chunked = chunked;
    f->left = src->len;
    return f;
}

static int fill_shared(struct http_feed *f, struct evbuffer *out) {
    size_t len = f->shared->ref.len;
    while (f->at < len && evbuffer_get_length(out) < HTTP_FEED_FULL) {
        size_t n = MIN_OF(len - f->at, (size_t)HTTP_FEED_PIECE);
        if (shared_add(f->shared, f->at, n, out) < 0)
            return -1;
        f->at += n;
    }
    return f->at < len;
}

static void block_sent(const void *p, size_t len, void *arg) {
    (void)p;
    (void)len;
    free(arg);
}

/* Adds what the source wrote to the block: `n` bytes after the room for the frame. */
static int add_piece(struct http_feed *f, size_t n, struct evbuffer *out) {
    char *from = f->block + FRAME;
    size_t len = n;
    if (f->chunked) {
        char frame[FRAME + 1];
        snprintf(frame, sizeof frame, "%08x\r\n", (unsigned)n);
        from = memcpy(f->block, frame, FRAME);
        memcpy(f->block + FRAME + n, "\r\n", END);
        len = FRAME + n + END;
    }
    if (n <= SMALL_PIECE)
        return evbuffer_add(out, from, len);
    int r = evbuffer_add_reference(out, from, len, block_sent, f->block);
    if (r == 0)
        f->block = NULL;
    return r;
}

static int fill_pulled(struct http_feed *f, struct evbuffer *out) {
    bool known = f->src.len >= 0;
    while (evbuffer_get_length(out) < HTTP_FEED_MADE) {
        size_t cap = HTTP_FEED_PIECE - FRAME - END;
        if (known && f->left == 0)
            return 0;
        if (known && f->left < (int64_t)cap)
            cap = (size_t)f->left;
        if (!f->block)
            f->block = xmalloc(HTTP_FEED_PIECE);
        ssize_t n = f->src.pull(f->src.arg, f->block + FRAME, cap);
        assert(n <= (ssize_t)cap);
        if (n < 0 || (n == 0 && known))
            return -1;
        if (n == 0)
            return f->chunked ? evbuffer_add(out, "0\r\n\r\n", 5) : 0;
        f->left -= n;
        if (add_piece(f, (size_t)n, out) < 0)
            return -1;
    }
    return 1;
}

int http_feed_fill(struct http_feed *f, struct evbuffer *out) {
    return f->shared ? fill_shared(f, out) : fill_pulled(f, out);
}

void http_feed_free(struct http_feed *f) {
    if (!f)
        return;
    if (f->shared)
        shared_drop(f->shared);
    else if (f->src.release)
        f->src.release(f->src.arg);
    free(f->block);
    free(f);
}

/* --- a ref as a source --- */

static ssize_t ref_pull(void *arg, void *buf, size_t cap) {
    struct http_feed *f = arg;
    size_t n = MIN_OF(cap, f->shared->ref.len - f->at);
    if (n)
        memcpy(buf, (const char *)f->shared->ref.p + f->at, n);
    f->at += n;
    return (ssize_t)n;
}

static void ref_release(void *arg) {
    http_feed_free(arg);
}

struct http_source http_ref_source(const struct http_ref *ref) {
    return (struct http_source){(int64_t)ref->len, ref_pull, ref_release, http_feed_ref(ref)};
}
