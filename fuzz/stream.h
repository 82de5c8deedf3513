/* Streams, in either format: what comes out does not depend on how the bytes are cut into pieces.
 */
#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H

#include <errno.h>
#include <stdlib.h>

#include "base/prng.h"
#include "fuzz.h"
#include "kube/stream.h"

/* What a stream had to say: one line for each object, and the error. */
struct fuzz_log {
    const struct kind *kind;
    struct pool *pool;
    struct str text;
    uint64_t stop; /* after so many objects; 0: never */
    uint64_t seen;
};

static inline int fuzz_object(void *arg, enum watch_type type, struct object *obj) {
    struct fuzz_log *log = arg;
    struct jsonw w;
    str_addf(&log->text, "%d ", type);
    jsonw_init(&w, &log->text, false);
    object_print(log->kind, &w, obj);
    str_addc(&log->text, '\n');
    object_free(log->kind, log->pool, obj);
    return ++log->seen == log->stop ? -ECANCELED : 0;
}

static inline int fuzz_error(void *arg, const struct status *status) {
    struct fuzz_log *log = arg;
    struct jsonw w;
    jsonw_init(&w, &log->text, false);
    jsonw_begin(&w, '{');
    type_print(&type_status, &w, status, status);
    jsonw_end(&w);
    return ++log->seen == log->stop ? -ECANCELED : 0;
}

static inline int fuzz_unread(void *arg, enum watch_type type, struct object *obj,
                              const char *why) {
    if (!*why)
        abort();
    return fuzz_object(arg, type, obj);
}

/* cut: 0 whole, 1 byte by byte, else random pieces. Each piece is a copy that is gone afterwards.
 */
static inline void fuzz_feed(struct fuzz_log *log, enum kube_format format, enum stream_mode mode,
                             struct view body, uint64_t cut) {
    static const struct stream_handler handler = {fuzz_object, fuzz_error, fuzz_unread};
    _cleanup_err_ struct err err = ERR_INIT;
    struct prng r = {cut};
    struct stream s;
    int rc = 0;
    log->seen = 0;
    log->pool = pool_new(type_drop);
    stream_init(&s, log->kind, format, mode, log->pool, &handler, log);
    for (size_t at = 0; !rc && at < body.len;) {
        size_t left = body.len - at, n = cut == 0 ? left : 1;
        if (cut > 1)
            n = (size_t)prng_range(&r, 1, (int64_t)MIN_OF(left, (size_t)(cut % 61 + 1)) + 1);
        char *piece = xmemdup(body.p + at, n);
        rc = stream_feed(&s, piece, n, &err);
        free(piece);
        at += n;
    }
    if (!rc)
        rc = stream_end(&s, &err);
    str_addf(&log->text, "%d %s version=%s token=%s\n", rc, rc ? err_msg(&err) : "",
             strna(s.list.version), strna(s.list.token));
    stream_done(&s);
    FUZZ_CHECK(pool_stats(log->pool).entries == 0);
    pool_free(log->pool);
}

static inline int fuzz_stream(enum kube_format format, const uint8_t *data, size_t size) {
    char line[64], *rest = line;
    struct view body;
    fuzz_split(data, size, line, &body);
    const struct kind *kind = kind_find(strsep(&rest, " "));
    const char *mode = strna(strsep(&rest, " "));
    if (!kind || !rest)
        return 0;
    uint64_t cut = strtoul(rest, &rest, 10) % 1000 + 1, stop = strtoul(rest, NULL, 10);
    struct fuzz_log whole = {.kind = kind, .stop = stop}, pieces = {.kind = kind, .stop = stop};
    enum stream_mode m = streq(mode, "watch") ? STREAM_WATCH : STREAM_LIST;
    fuzz_feed(&whole, format, m, body, 0);
    fuzz_feed(&pieces, format, m, body, cut);
    FUZZ_CHECK(streq(str_get(&whole.text), str_get(&pieces.text)));
    str_done(&whole.text);
    str_done(&pieces.text);
    return 0;
}

#endif
