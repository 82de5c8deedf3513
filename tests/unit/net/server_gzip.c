/* Tests of net/server_gzip.c: what it makes is read by zlib's own inflate(). */
#include "net/server_gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"

static void test_wanted(void **state) {
    (void)state;
    static const char *const yes[] = {"gzip",       "GZIP",         "br, gzip", "gzip, deflate",
                                      "gzip;q=1.0", "gzip;q=0.5",   " gzip ",   "gzip ; q=0.001",
                                      "gzip;x=y",   "br;q=0, gzip", ",gzip"};
    static const char *const no[] = {"",        "br",      "identity", "gzip;q=0", "gzip; q=0.000",
                                     "x-gzip2", "gzipped", "*",        "gz ip",    "gzip;Q=0",
                                     "br;gzip", "gzip;q="};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        assert_true(http_gzip_wanted(yes[i]));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_false(http_gzip_wanted(no[i]));
    assert_false(http_gzip_wanted(NULL));
}

struct text {
    struct str bytes;
    size_t at, piece, fails_at;
    int released;
};

static ssize_t pull(void *arg, void *buf, size_t cap) {
    struct text *t = arg;
    if (t->fails_at && t->at >= t->fails_at)
        return -1;
    size_t n = MIN_OF(MIN_OF(cap, t->piece), t->bytes.len - t->at);
    if (n)
        memcpy(buf, t->bytes.p + t->at, n);
    t->at += n;
    return (ssize_t)n;
}

static void release(void *arg) {
    ((struct text *)arg)->released++;
}

/* Pulls all of it in pieces of `cap`; -1 when it fails. */
static int drain(struct http_source *src, size_t cap, struct str *out) {
    char *buf = xmalloc(cap);
    ssize_t n;
    while ((n = src->pull(src->arg, buf, cap)) > 0) {
        assert_true((size_t)n <= cap);
        str_addn(out, buf, (size_t)n);
    }
    if (n == 0)
        assert_int_equal(src->pull(src->arg, buf, cap), 0); /* and stays there */
    free(buf);
    return (int)n;
}

static void check(struct text *t, size_t cap) {
    _cleanup_str_ struct str zipped = STR_INIT;
    t->at = 0;
    t->released = 0;
    struct http_source src =
        http_gzip_source(&(struct http_source){(int64_t)t->bytes.len, pull, release, t});
    assert_int_equal(src.len, -1);
    assert_int_equal(drain(&src, cap, &zipped), 0);
    assert_int_equal(t->released, 0);
    src.release(src.arg);
    assert_int_equal(t->released, 1);
    z_stream z = {.next_in = (unsigned char *)zipped.p, .avail_in = (unsigned)zipped.len};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK); /* gzip's format and no other */
    unsigned char *back = xmalloc(t->bytes.len + 1);
    z.next_out = back;
    z.avail_out = (unsigned)t->bytes.len + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, t->bytes.len);
    if (t->bytes.len)
        assert_memory_equal(back, t->bytes.p, t->bytes.len);
    inflateEnd(&z);
    free(back);
}

static void test_round_trips(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 1000, 65536, 65537, 1000000};
    struct prng rng = {7};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        for (int kind = 0; kind < 3; kind++) { /* zeros, text, noise */
            struct text t = {.piece = kind == 1 ? 777 : SIZE_MAX};
            for (size_t k = 0; k < lengths[i]; k++)
                str_addc(&t.bytes, (char)(kind == 0   ? 0
                                          : kind == 1 ? "kubernetes "[k % 11]
                                                      : (char)prng_next(&rng)));
            check(&t, 65536);
            if (lengths[i] < 100000)
                check(&t, 1);
            check(&t, 1000);
            str_done(&t.bytes);
        }
}

static void test_a_source_that_fails(void **state) {
    (void)state;
    struct text t = {.piece = 1000, .fails_at = 100000};
    for (int i = 0; i < 200000; i++)
        str_addc(&t.bytes, (char)i);
    _cleanup_str_ struct str zipped = STR_INIT;
    struct http_source src = http_gzip_source(&(struct http_source){-1, pull, release, &t});
    assert_int_equal(drain(&src, 4096, &zipped), -1);
    src.release(src.arg);
    assert_int_equal(t.released, 1);
    /* Given up before it was used. */
    src = http_gzip_source(&(struct http_source){-1, pull, NULL, &t});
    src.release(src.arg);
    str_done(&t.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_a_source_that_fails),
    };
    return cmocka_run_group_tests_name("server_gzip", tests, NULL, NULL);
}
