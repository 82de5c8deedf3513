/* Tests of src/cli/snapshot_file.c: what is written is read, and what is damaged is told. */
#include "cli/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define HEAD                                                                                       \
    "{\"slipway\":\"snapshot\",\"v\":1,\"taken\":\"2026-11-15T08:00:00Z\",\"server\":\"v1.36.3\"}"
#define TAIL "{\"slipway\":\"end\",\"objects\":{},\"unread\":[]}"

static int memory(void) {
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void line(struct snapshot_writer *w, const char *text) {
    assert_int_equal(snapshot_writer_line(w, text, strlen(text), NULL), 0);
}

/* A reader of these bytes; NULL when it was refused, with the message in `err`. */
static struct snapshot_reader *reader_of(const char *bytes, size_t len, struct err *err) {
    int fd = memory();
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    struct snapshot_reader *r = NULL;
    if (snapshot_reader_adopt(fd, "f", &r, err))
        assert_null(r);
    return r;
}

static void expect_object(struct snapshot_reader *r, const char *text) {
    struct view v;
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = snapshot_reader_next(r, &v, &err);
    if (rc != 1)
        fail_msg("%d instead of %s: %s", rc, text, err_msg(&err));
    assert_int_equal(v.len, strlen(text));
    assert_memory_equal(v.p, text, v.len);
}

static void round_trip(bool gzip) {
    int fd = memory();
    struct snapshot_writer *w = snapshot_writer_new(dup(fd), gzip);
    line(w, HEAD);
    assert_int_equal(snapshot_writer_mark(w, NULL), 0);
    line(w, "{\"kind\":\"Node\"}");
    assert_int_equal(snapshot_writer_mark(w, NULL), 0);
    /* this list is begun anew */
    char *big = xmalloc(3 << 20);
    memset(big, 'x', 3 << 20);
    assert_int_equal(snapshot_writer_line(w, big, 3 << 20, NULL), 0);
    assert_int_equal(snapshot_writer_back(w, NULL), 0);
    line(w, "{\"kind\":\"Pod\"}");
    assert_int_equal(snapshot_writer_line(w, big, 3 << 20, NULL), 0);
    line(w, TAIL);
    assert_int_equal(snapshot_writer_end(w, NULL), 0);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal((uint64_t)st.st_size, snapshot_writer_bytes(w));
    assert_true(gzip ? st.st_size < 100000 : st.st_size > 3 << 20);
    snapshot_writer_free(w);
    struct snapshot_reader *r;
    assert_int_equal(snapshot_reader_adopt(fd, "f", &r, NULL), 0);
    assert_int_equal(snapshot_reader_head(r)->taken, SEC(1794729600));
    assert_string_equal(snapshot_reader_head(r)->server, "v1.36.3");
    for (int pass = 0; pass < 2; pass++) {
        struct view v;
        expect_object(r, "{\"kind\":\"Node\"}");
        expect_object(r, "{\"kind\":\"Pod\"}");
        assert_int_equal(snapshot_reader_next(r, &v, NULL), 1);
        assert_int_equal(v.len, 3 << 20);
        assert_int_equal(snapshot_reader_next(r, &v, NULL), 0);
        assert_true(json_is_object(json_object_get(snapshot_reader_tail(r), "objects")));
        assert_int_equal(snapshot_reader_again(r, NULL), 0);
    }
    snapshot_reader_free(r);
    free(big);
}

static void test_plain(void **state) {
    (void)state;
    round_trip(false);
}
static void test_gzip(void **state) {
    (void)state;
    round_trip(true);
}

static void test_bad_heads(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"", "is no snapshot"},
        {"\n", "is no snapshot"},
        {"hello\n", "is no snapshot"},
        {"{\"kind\":\"Pod\"}\n", "is no snapshot"},
        {"{\"slipway\":\"end\"}\n", "is no snapshot"},
        {"{\"slipway\":\"snapshot\"}\n", "is no snapshot"},
        {"{\"slipway\":\"snapshot\",\"v\":\"1\",\"taken\":\"2026-11-15T08:00:00Z\"}\n",
         "is no snapshot"},
        {"{\"slipway\":\"snapshot\",\"v\":2}\n", "newer slipway: it is in format 2"},
        {"{\"slipway\":\"snapshot\",\"v\":1}\n", "\"taken\" is no time"},
        {"{\"slipway\":\"snapshot\",\"v\":1,\"taken\":\"yesterday\"}\n", "\"taken\" is no time"},
        {HEAD, "cut off in the middle of a line"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_null(reader_of(bad[i][0], strlen(bad[i][0]), &err));
        if (!strstr(err_msg(&err), bad[i][1]))
            fail_msg("\"%s\": %s", bad[i][0], err_msg(&err));
    }
}

/* Reads to the end; what is wrong. */
static char *trouble(const char *bytes, size_t len) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct snapshot_reader *r = reader_of(bytes, len, &err);
    struct view v;
    int rc = 1;
    while (r && (rc = snapshot_reader_next(r, &v, &err)) == 1)
        ;
    snapshot_reader_free(r);
    return r && rc == 0 ? NULL : xstrdup(err_msg(&err));
}

static void expect_trouble(const char *text, const char *what) {
    _cleanup_free_ char *why = trouble(text, strlen(text));
    if (!why || !strstr(why, what))
        fail_msg("\"%s\": %s", text, why ? why : "nothing");
}

static void test_damaged(void **state) {
    (void)state;
    expect_trouble(HEAD "\n{}\n", "is not whole: its last line is missing");
    expect_trouble(HEAD "\n{\"a\":1}\n{\"b\"", "f:3: the file is cut off in the middle of a line");
    expect_trouble(HEAD "\n" TAIL "\n{}\n", "there is more after the last line");
    expect_trouble(HEAD "\n{\"slipway\":\"x\"}\n", "f:2: this is neither an object nor the last");
    expect_trouble(HEAD "\n" HEAD "\n", "neither an object");
    _cleanup_free_ char *fine = trouble(HEAD "\n{}\n" TAIL "\n", strlen(HEAD "\n{}\n" TAIL "\n"));
    assert_null(fine);
}

static void test_long_line(void **state) {
    (void)state;
    size_t len = SNAPSHOT_LINE_MAX + (1 << 20);
    char *text = xmalloc(len);
    memset(text, ' ', len);
    memcpy(text, HEAD "\n", strlen(HEAD) + 1);
    _cleanup_free_ char *why = trouble(text, len);
    assert_non_null(why);
    assert_non_null(strstr(why, "the line is longer than any object"));
    free(text);
}

/* Every way to cut a compressed file off is noticed. */
static void test_cut_gzip(void **state) {
    (void)state;
    int fd = memory();
    struct snapshot_writer *w = snapshot_writer_new(dup(fd), true);
    line(w, HEAD);
    assert_int_equal(snapshot_writer_mark(w, NULL), 0);
    for (int i = 0; i < 20; i++)
        line(w, "{\"kind\":\"Pod\"}");
    line(w, TAIL);
    assert_int_equal(snapshot_writer_end(w, NULL), 0);
    size_t len = (size_t)snapshot_writer_bytes(w);
    snapshot_writer_free(w);
    char *all = xmalloc(len);
    assert_int_equal(pread(fd, all, len, 0), (ssize_t)len);
    close(fd);
    for (size_t n = 0; n < len; n++) {
        _cleanup_free_ char *why = trouble(all, n);
        if (!why)
            fail_msg("the first %zu of %zu bytes are taken for the whole", n, len);
    }
    /* and flipped bytes do no more than that */
    for (size_t i = 0; i < len; i++) {
        all[i] = (char)(all[i] ^ 0x55);
        free(trouble(all, len));
        all[i] = (char)(all[i] ^ 0x55);
    }
    free(all);
}

static void test_files(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct snapshot_reader *r = NULL;
    assert_int_equal(snapshot_reader_open("/nonexistent/x", &r, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "/nonexistent/x"));
    assert_int_equal(snapshot_reader_open("/dev/null", &r, NULL), -EINVAL);
    assert_int_equal(snapshot_reader_open("/", &r, NULL), -EINVAL);
    snapshot_reader_free(NULL);
    snapshot_writer_free(NULL);
}

/* A full disk is told. */
static void test_full(void **state) {
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    _cleanup_err_ struct err err = ERR_INIT;
    struct snapshot_writer *w = snapshot_writer_new(fd, true);
    line(w, HEAD);
    assert_int_equal(snapshot_writer_end(w, &err), -ENOSPC);
    assert_non_null(strstr(err_msg(&err), "No space left"));
    snapshot_writer_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_bad_heads), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_long_line), cmocka_unit_test(test_cut_gzip),
        cmocka_unit_test(test_files),     cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
