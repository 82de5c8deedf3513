/* Compressing a body while it is sent. */
#include "net/server_gzip.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/mem.h"

enum {
    LEVEL = 1,          /* kube-apiserver's defaultGzipContentEncodingLevel */
    WINDOW = MAX_WBITS, /* zlib's default */
    GZIP_FORMAT = 16,   /* added to the window: a gzip header instead of zlib's */
    MEMORY = 8,         /* zlib's default */
    PIECE = 64 << 10,   /* read at once */
};

/* Is a weight (";q=0.5", or nothing) more than 0? */
static bool is_weighted(const char *params, size_t len) {
    for (size_t i = 0; i + 1 < len; i++)
        if ((params[i] == 'q' || params[i] == 'Q') && params[i + 1] == '=') {
            for (i += 2; i < len && strchr("0. \t", params[i]); i++)
                ;
            return i < len && params[i] >= '1' && params[i] <= '9';
        }
    return true;
}

bool http_gzip_wanted(const char *list) {
    for (const char *p = strna(list); *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, ","), word = strcspn(p, ",; \t");
        if (word == 4 && !strncasecmp(p, "gzip", 4))
            return is_weighted(p + word, len - word);
        p += len;
    }
    return false;
}

struct gzip {
    struct http_source in;
    z_stream z;
    bool all_in, done;
    unsigned char piece[PIECE];
};

static ssize_t gzip_pull(void *arg, void *buf, size_t cap) {
    struct gzip *g = arg;
    g->z.next_out = buf;
    g->z.avail_out = (uInt)MIN_OF(cap, (size_t)PIECE);
    uInt room = g->z.avail_out;
    while (!g->done && g->z.avail_out == room) {
        if (!g->z.avail_in && !g->all_in) {
            ssize_t n = g->in.pull(g->in.arg, g->piece, sizeof g->piece);
            if (n < 0)
                return -1;
            g->all_in = n == 0;
            g->z.next_in = g->piece;
            g->z.avail_in = (uInt)n;
        }
        int r = deflate(&g->z, g->all_in ? Z_FINISH : Z_NO_FLUSH);
        if (r == Z_STREAM_ERROR)
            return -1;
        g->done = r == Z_STREAM_END;
    }
    return (ssize_t)(room - g->z.avail_out);
}

static void gzip_release(void *arg) {
    struct gzip *g = arg;
    deflateEnd(&g->z);
    if (g->in.release)
        g->in.release(g->in.arg);
    free(g);
}

struct http_source http_gzip_source(const struct http_source *in) {
    struct gzip *g = xnew(struct gzip);
    g->in = *in;
    /* It fails only for want of memory, which ends the process as everywhere. */
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW + GZIP_FORMAT, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        abort();
    return (struct http_source){-1, gzip_pull, gzip_release, g};
}
