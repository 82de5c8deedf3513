/* Tests of net/server_feed.c: pieces go into a buffer, here without a socket behind it. */
#include "net/server_feed.h"

#include <event2/buffer.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static void note_release(void *arg) {
    ++*(int *)arg;
}

/* Takes everything out of the buffer. */
static void take(struct evbuffer *buf, struct str *out) {
    size_t len = evbuffer_get_length(buf);
    str_reserve(out, len);
    evbuffer_remove(buf, out->p + out->len, len);
    out->len += len;
    out->p[out->len] = '\0';
}

static char *some_bytes(size_t len) {
    char *p = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        p[i] = (char)(i * 31 + i / 999);
    return p;
}

static void test_ref(void **state) {
    (void)state;
    static const size_t lengths[] = {
        0, 1, HTTP_FEED_PIECE, HTTP_FEED_PIECE + 1, HTTP_FEED_FULL, 3 * HTTP_FEED_FULL + 17};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        size_t len = lengths[i];
        char *bytes = some_bytes(len);
        int released = 0, r;
        struct evbuffer *buf = evbuffer_new();
        struct http_feed *f =
            http_feed_ref(&(struct http_ref){bytes, len, note_release, &released});
        _cleanup_str_ struct str out = STR_INIT;
        while ((r = http_feed_fill(f, buf)) == 1) {
            /* Bounded, and not copied: the buffer has the very bytes. */
            size_t queued = evbuffer_get_length(buf);
            assert_true(queued >= HTTP_FEED_FULL && queued < HTTP_FEED_FULL + HTTP_FEED_PIECE);
            struct evbuffer_iovec first;
            assert_true(evbuffer_peek(buf, -1, NULL, &first, 1) > 0);
            assert_ptr_equal(first.iov_base, bytes + out.len);
            assert_int_equal(http_feed_fill(f, buf), 1); /* full: nothing more */
            assert_int_equal(evbuffer_get_length(buf), queued);
            take(buf, &out);
            assert_int_equal(released, 0);
        }
        assert_int_equal(r, 0);
        http_feed_free(f);
        assert_int_equal(released, evbuffer_get_length(buf) == 0);
        take(buf, &out);
        assert_int_equal(released, 1);
        assert_int_equal(out.len, len);
        if (len)
            assert_memory_equal(out.p, bytes, len);
        evbuffer_free(buf);
        free(bytes);
    }
}

/* Given up with pieces in the buffer: released with the last of them. */
static void test_ref_given_up(void **state) {
    (void)state;
    char *bytes = some_bytes(1000000);
    int released = 0;
    struct evbuffer *buf = evbuffer_new();
    struct http_feed *f =
        http_feed_ref(&(struct http_ref){bytes, 1000000, note_release, &released});
    assert_int_equal(http_feed_fill(f, buf), 1);
    http_feed_free(f);
    assert_int_equal(released, 0);
    evbuffer_free(buf);
    assert_int_equal(released, 1);
    free(bytes);
    http_feed_free(NULL);
}

static void test_ref_add(void **state) {
    (void)state;
    int released = 0;
    struct evbuffer *buf = evbuffer_new();
    assert_int_equal(http_ref_add(buf, &(struct http_ref){"", 0, note_release, &released}), 0);
    assert_int_equal(released, 1);
    assert_int_equal(http_ref_add(buf, &(struct http_ref){"abc", 3, note_release, &released}), 0);
    assert_int_equal(http_ref_add(buf, &(struct http_ref){"def", 3, NULL, NULL}), 0);
    assert_int_equal(released, 1);
    evbuffer_drain(buf, 2);
    assert_int_equal(released, 1);
    evbuffer_drain(buf, 1);
    assert_int_equal(released, 2);
    evbuffer_free(buf);
}

struct text {
    const char *bytes;
    size_t len, at, piece;
    bool fails;
    int released;
};

static ssize_t pull(void *arg, void *buf, size_t cap) {
    struct text *t = arg;
    size_t n = MIN_OF(MIN_OF(cap, t->piece), t->len - t->at);
    if (n == 0 && t->fails)
        return -1;
    if (n)
        memcpy(buf, t->bytes + t->at, n);
    t->at += n;
    return (ssize_t)n;
}

static void text_release(void *arg) {
    ((struct text *)arg)->released++;
}

/* Fills and empties until it ends, and returns how. */
static int run(struct text *t, int64_t len, bool chunked, struct str *out) {
    struct evbuffer *buf = evbuffer_new();
    struct http_feed *f =
        http_feed_pull(&(struct http_source){len, pull, text_release, t}, chunked);
    int r;
    while ((r = http_feed_fill(f, buf)) == 1) {
        assert_true(evbuffer_get_length(buf) < HTTP_FEED_MADE + HTTP_FEED_PIECE);
        take(buf, out);
    }
    take(buf, out);
    assert_int_equal(t->released, 0);
    http_feed_free(f);
    assert_int_equal(t->released, 1);
    evbuffer_free(buf);
    return r;
}

static void test_pull(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 5000, 3000000}, pieces[] = {1, 4096, 4097, SIZE_MAX};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        for (size_t k = lengths[i] > 100000 ? 1 : 0; k < ARRAY_LEN(pieces); k++) {
            char *bytes = some_bytes(lengths[i]);
            for (int chunked = 0; chunked < 2; chunked++) {
                _cleanup_str_ struct str out = STR_INIT;
                struct text t = {.bytes = bytes, .len = lengths[i], .piece = pieces[k]};
                assert_int_equal(run(&t, chunked ? -1 : (int64_t)lengths[i], chunked, &out), 0);
                if (chunked) {
                    /* Put together again. */
                    size_t at = 0, n, sum = 0;
                    do {
                        assert_true(at + 5 <= out.len);
                        char *end;
                        n = strtoul(out.p + at, &end, 16);
                        assert_memory_equal(end, "\r\n", 2);
                        at = (size_t)(end + 2 - out.p);
                        assert_true(at + n + 2 <= out.len);
                        if (n)
                            assert_memory_equal(out.p + at, bytes + sum, n);
                        assert_memory_equal(out.p + at + n, "\r\n", 2);
                        at += n + 2;
                        sum += n;
                    } while (n);
                    assert_int_equal(at, out.len);
                    assert_int_equal(sum, lengths[i]);
                } else {
                    assert_int_equal(out.len, lengths[i]);
                    if (out.len)
                        assert_memory_equal(out.p, bytes, out.len);
                }
            }
            free(bytes);
        }
}

static void test_pull_fails(void **state) {
    (void)state;
    char *bytes = some_bytes(10000);
    for (int chunked = 0; chunked < 2; chunked++) {
        _cleanup_str_ struct str out = STR_INIT, short_out = STR_INIT, long_out = STR_INIT;
        struct text t = {.bytes = bytes, .len = 10000, .piece = 1000, .fails = true};
        assert_int_equal(run(&t, chunked ? -1 : 20000, chunked, &out), -1);
        /* One that ends before its length has failed; one that has more is not asked for it. */
        struct text early = {.bytes = bytes, .len = 9999, .piece = 1000};
        assert_int_equal(run(&early, 10000, chunked, &short_out), -1);
        struct text late = {.bytes = bytes, .len = 10000, .piece = 1000};
        assert_int_equal(run(&late, 9999, false, &long_out), 0);
        assert_int_equal(late.at, 9999);
    }
    free(bytes);
}

static void test_ref_source(void **state) {
    (void)state;
    int released = 0;
    struct http_source src =
        http_ref_source(&(struct http_ref){"hello", 5, note_release, &released});
    char buf[4];
    assert_int_equal(src.len, 5);
    assert_int_equal(src.pull(src.arg, buf, 4), 4);
    assert_memory_equal(buf, "hell", 4);
    assert_int_equal(src.pull(src.arg, buf, 4), 1);
    assert_int_equal(buf[0], 'o');
    assert_int_equal(src.pull(src.arg, buf, 4), 0);
    assert_int_equal(released, 0);
    src.release(src.arg);
    assert_int_equal(released, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ref),        cmocka_unit_test(test_ref_given_up),
        cmocka_unit_test(test_ref_add),    cmocka_unit_test(test_pull),
        cmocka_unit_test(test_pull_fails), cmocka_unit_test(test_ref_source),
    };
    return cmocka_run_group_tests_name("server_feed", tests, NULL, NULL);
}
