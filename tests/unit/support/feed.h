/* For tests of kube/stream: feeds a body in pieces and writes down what comes out.
 *
 * Every piece is a copy of its own that is freed right after it was fed: a stream that keeps a
 * pointer into it is found by the address sanitizer. */
#ifndef SUPPORT_FEED_H
#define SUPPORT_FEED_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"
#include "kube/stream.h"

enum { FEED_WHOLE = 0, FEED_BYTES = 1 }; /* other numbers: random pieces from that seed */

struct feed {
    const struct kind *kind;
    enum kube_format format;
    enum stream_mode mode;
    int stop_after;    /* objects, then the handler fails with -ECANCELED; 0: never */
    size_t objects;    /* what was seen */
    struct str log;    /* one line for each of them, and for the list */
    struct pool *pool; /* NULL between two runs */
};

static inline int feed_object(void *arg, enum watch_type type, struct object *obj) {
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    struct feed *f = arg;
    struct jsonw w;
    str_addf(&f->log, "%s ", names[type]);
    jsonw_init(&w, &f->log, false);
    object_print(f->kind, &w, obj);
    str_addc(&f->log, '\n');
    object_free(f->kind, f->pool, obj);
    f->objects++;
    return f->stop_after && f->objects == (size_t)f->stop_after ? -ECANCELED : 0;
}

static inline int feed_error(void *arg, const struct status *status) {
    struct feed *f = arg;
    str_addf(&f->log, "ERROR %d %s: %s\n", status->code, strna(status->reason),
             strna(status->message));
    return f->stop_after < 0 ? -ECANCELED : 0;
}

/* The result of the feed that failed, or else of stream_end(). Fails the test when anything is left
 * in the pool. */
static inline int feed_run(struct feed *f, struct view body, uint64_t how, struct err *err) {
    static const struct stream_handler handler = {feed_object, feed_error, NULL};
    struct prng r = {how};
    struct stream s;
    int rc = 0;
    str_reset(&f->log);
    f->objects = 0;
    f->pool = pool_new(type_drop);
    stream_init(&s, f->kind, f->format, f->mode, f->pool, &handler, f);
    for (size_t at = 0; !rc && at < body.len;) {
        size_t left = body.len - at, n = left;
        if (how == FEED_BYTES)
            n = 1;
        else if (how != FEED_WHOLE)
            n = (size_t)prng_range(&r, 1,
                                   1 + (int64_t)MIN_OF(left, (size_t)(how % 7 * how % 90 + 2)));
        _cleanup_free_ char *piece = xmemdup(body.p + at, n);
        rc = stream_feed(&s, piece, n, err);
        at += n;
    }
    if (rc) {
        /* Once broken it stays so, and says nothing new. */
        size_t seen = f->objects;
        assert_int_not_equal(stream_feed(&s, " ", 1, NULL), 0);
        assert_int_not_equal(stream_end(&s, NULL), 0);
        assert_int_equal(f->objects, seen);
    } else {
        rc = stream_end(&s, err);
    }
    if (!rc && f->mode == STREAM_LIST) {
        str_addf(&f->log, "LIST version=%s", strna(s.list.version));
        if (s.list.token)
            str_addf(&f->log, " continue=%s", s.list.token);
        if (s.list.remaining != ABSENT64)
            str_addf(&f->log, " remaining=%lld", (long long)s.list.remaining);
        str_addc(&f->log, '\n');
    }
    stream_done(&s);
    stream_done(&s);
    assert_int_equal(pool_stats(f->pool).entries, 0);
    pool_free(f->pool);
    f->pool = NULL;
    return rc;
}

static const uint64_t feed_ways[] = {FEED_WHOLE, FEED_BYTES, 2, 3, 5, 8, 13, 21, 34};

/* Cut in whatever way: always this. */
static inline void feed_good(struct feed *f, struct view body, const char *log) {
    for (size_t i = 0; i < ARRAY_LEN(feed_ways); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        if (feed_run(f, body, feed_ways[i], &err))
            fail_msg("%s", err_msg(&err));
        assert_string_equal(str_get(&f->log), log);
    }
}

/* Cut in whatever way: always this error, after this. */
static inline void feed_bad(struct feed *f, struct view body, int code, const char *message,
                            const char *log) {
    for (size_t i = 0; i < ARRAY_LEN(feed_ways); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int rc = feed_run(f, body, feed_ways[i], &err);
        if (!rc)
            fail_msg("%.*s was taken", (int)body.len, body.p);
        assert_string_equal(err_msg(&err), message);
        assert_int_equal(rc, -code);
        assert_int_equal(err.code, code);
        assert_string_equal(str_get(&f->log), log);
    }
}

/* Whatever is missing at the end, it is noticed. whole(n): the first n bytes are complete. */
static inline void feed_truncated(struct feed *f, struct view body, bool (*whole)(size_t n)) {
    for (size_t n = 0; n < body.len; n++) {
        for (size_t i = 0; i < 3; i++) {
            int rc = feed_run(f, (struct view){body.p, n}, feed_ways[i], NULL);
            if (!rc != whole(n))
                fail_msg("%zu of %zu bytes: %d", n, body.len, rc);
        }
    }
}

static inline void feed_done(struct feed *f) {
    str_done(&f->log);
}
#define _cleanup_feed_ __attribute__((cleanup(feed_done)))

#endif
