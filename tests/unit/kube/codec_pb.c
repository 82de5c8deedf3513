/* Tests of kube/codec_pb: every kind of field, everything that a message may be and may not be.
 * What is decoded is written by hand (support/pbwrite.h). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/decode.h"
#include "../support/pbwrite.h"
#include "base/timefmt.h"

/* --- helpers --- */

static struct view all(const struct str *s) {
    return (struct view){str_get(s), s->len};
}

static void decode(struct bench *b, const struct str *message, struct everything *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    memset(e, 0, sizeof *e);
    if (codec_pb(&b->codec, &type_everything, all(message), e, &err))
        fail_msg("%s", err_msg(&err));
}

static void release(struct bench *b, struct everything *e) {
    type_release(&type_everything, b->pool, e, e);
}

/* The message decodes to what prints as `expected`; the message is used up. */
static void good(struct bench *b, struct str *message, const char *expected) {
    struct everything e;
    decode(b, message, &e);
    _cleanup_free_ char *printed = everything_text(&e);
    assert_string_equal(printed, expected);
    release(b, &e);
    str_reset(message);
}

static void bad(struct bench *b, struct str *message, const char *text) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct everything e;
    memset(&e, 0, sizeof e);
    assert_int_equal(codec_pb(&b->codec, &type_everything, all(message), &e, &err), -EBADMSG);
    assert_string_equal(err_msg(&err), text);
    assert_true(is_zero(&e, sizeof e));
    assert_int_equal(pool_stats(b->pool).entries, 0);
    str_reset(message);
}

#define WITH(member) "{" member ",\"msg\":{},\"flat\":{}}"
#define AND(member)  "{\"msg\":{},\"flat\":{}," member "}"

static void part(struct str *s, uint32_t number, const char *name, int32_t n) {
    size_t at = pb_open(s, number);
    if (name)
        pb_text(s, 1, name);
    if (n)
        pb_num(s, 2, n);
    pb_close(s, at);
}

/* A message with all fields, and the same in JSON. */
static void write_full(struct str *s) {
    size_t at, in;
    pb_text(s, 1, "text");
    pb_num(s, 2, 1);
    pb_num(s, 3, -1);
    pb_num(s, 4, INT64_MAX);
    pb_num(s, 5, 0);
    pb_num(s, 6, -7);
    pb_time(s, 7, 1763193600, 999999999);
    pb_time(s, 8, 1763193600, 123456789);
    at = pb_open(s, 9);
    pb_num(s, 1, 1);
    pb_num(s, 2, 0);
    pb_text(s, 3, "50%");
    pb_close(s, at);
    pb_text(s, 10, "");
    at = pb_open(s, 11);
    pb_text(s, 1, "in");
    pb_num(s, 3, 5);
    pb_close(s, at);
    at = pb_open(s, 12);
    pb_text(s, 1, "flat");
    pb_num(s, 2, 6);
    pb_close(s, at);
    at = pb_open(s, 13);
    pb_text(s, 1, "us");
    pb_close(s, at);
    part(s, 14, "pointed", 0);
    part(s, 15, "a", 8);
    part(s, 15, NULL, 9);
    pb_text(s, 16, "x");
    pb_text(s, 16, "");
    pb_text(s, 16, "y");
    pb_pair(s, 17, "k", "v");
    pb_pair(s, 17, "l", "");
    pb_pair_qty(s, 18, "cpu", "1500m");
    pb_pair_qty(s, 18, "memory", "2Ki");
    at = pb_open(s, 19);
    pb_text(s, 1, "p1");
    in = pb_open(s, 2);
    pb_num(s, 1, 1);
    pb_close(s, in);
    pb_close(s, at);
    at = pb_open(s, 19);
    pb_text(s, 1, "p2");
    pb_text(s, 2, "");
    pb_close(s, at);
    part(s, 20, NULL, 1);
    part(s, 20, "even", 2);
    part(s, 20, NULL, 3);
    pb_pair(s, 21, "dropped", "x");
    pb_pair(s, 21, "kept", "1");
    pb_num(s, 22, 0);
    pb_num(s, 24, 5);
    pb_num(s, 24, (uint64_t)-6);
    at = pb_open(s, 300);
    pb_text(s, 1, "me");
    pb_text(s, 2, "w");
    pb_close(s, at);
}

static const char full[] =
    "{\"str\":\"text\",\"yes\":true,\"i32\":-1,\"i64\":9223372036854775807,\"opt32\":0,"
    "\"opt64\":-7,\"time\":\"2025-11-15T08:00:00Z\",\"micro\":\"2025-11-15T08:00:00.123456Z\","
    "\"intstr\":\"50%\",\"present\":{},\"msg\":{\"text\":\"in\",\"opt\":5},"
    "\"flat\":{\"text\":\"flat\",\"opt\":6},\"among\":\"us\",\"ptr\":{\"name\":\"pointed\"},"
    "\"list\":[{\"name\":\"a\",\"n\":8},{\"n\":9}],\"strs\":[\"x\",\"\",\"y\"],"
    "\"map\":{\"k\":\"v\",\"l\":\"\"},\"qty\":{\"cpu\":\"1500m\",\"memory\":\"2048\"},"
    "\"times\":{\"p1\":\"1970-01-01T00:00:01Z\",\"p2\":null},\"odd\":[{\"n\":1},{\"n\":3}],"
    "\"some\":{\"kept\":\"1\"},\"maybe\":false,\"ints\":[5,-6],"
    "\"shared\":{\"owner\":\"me\",\"what\":\"w\"}}";

/* --- what is there --- */

static void every_kind_of_field(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    struct everything e;
    write_full(&s);
    decode(b, &s, &e);
    assert_string_equal(e.str, "text");
    assert_int_equal(e.i32, -1);
    assert_int_equal(e.micro, SEC(1763193600) + 123456);
    assert_true(e.intstr.set && e.intstr.is_str);
    assert_int_equal(e.intstr.val, 0);
    assert_int_equal(list_len(e.ptr), 1);
    assert_int_equal(list_len(e.list), 2);
    assert_int_equal(list_len(e.strs), 3);
    assert_int_equal(list_len(e.ints), 2);
    assert_int_equal(e.ints[1], -6);
    assert_null(e.strs[1]);
    assert_string_equal(e.owner, "me");
    release(b, &e);
    good(b, &s, full);
}

/* Both decoders, one result: the same bytes, because equal values have equal addresses. */
static void agrees_with_json(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    struct everything pb, json;
    write_full(&s);
    decode(b, &s, &pb);
    memset(&json, 0, sizeof json);
    assert_int_equal(codec_json(&b->codec, &type_everything, view_of(full), &json, NULL), 0);
    assert_memory_equal(&pb, &json, sizeof pb);
    release(b, &pb);
    release(b, &json);
}

static void empty(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    good(b, &s, NOTHING);
    struct everything e;
    memset(&e, 0, sizeof e);
    assert_int_equal(codec_pb(&b->codec, &type_everything, (struct view){NULL, 0}, &e, NULL), 0);
    assert_int_equal(e.opt32, ABSENT32);
    for (uint32_t number = 9; number <= 14; number++)
        pb_text(&s, number, "");
    good(b, &s, "{\"intstr\":0,\"present\":{},\"msg\":{},\"flat\":{},\"ptr\":{}}");
}

/* Fields in any order, the elements of lists scattered among them. */
static void any_order(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    pb_text(&s, 16, "x");
    part(&s, 15, "a", 1);
    pb_text(&s, 1, "first");
    pb_text(&s, 16, "y");
    pb_pair(&s, 17, "b", "2");
    part(&s, 15, "b", 2);
    pb_num(&s, 3, 7);
    pb_pair(&s, 17, "a", "1");
    pb_text(&s, 16, "z");
    pb_text(&s, 1, "last");
    good(b, &s,
         "{\"str\":\"last\",\"i32\":7,\"msg\":{},\"flat\":{},\"list\":[{\"name\":\"a\",\"n\":1},"
         "{\"name\":\"b\",\"n\":2}],\"strs\":[\"x\",\"y\",\"z\"],\"map\":{\"a\":\"1\",\"b\":\"2\"}"
         "}");
}

static void duplicates(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    pb_text(&s, 1, "a");
    pb_text(&s, 1, "");
    pb_num(&s, 3, 1);
    pb_num(&s, 3, 2);
    good(b, &s, WITH("\"i32\":2"));
    part(&s, 14, "a", 0);
    part(&s, 14, NULL, 1);
    good(b, &s, AND("\"ptr\":{\"n\":1}"));
    /* A message that lies in the struct is added to. */
    size_t at = pb_open(&s, 11);
    pb_text(&s, 1, "a");
    pb_close(&s, at);
    at = pb_open(&s, 11);
    pb_num(&s, 3, 4);
    pb_close(&s, at);
    good(b, &s, "{\"msg\":{\"text\":\"a\",\"opt\":4},\"flat\":{}}");
    for (const char *v = "123"; *v; v++)
        pb_pair(&s, 17, "a", v);
    good(b, &s, AND("\"map\":{\"a\":\"3\"}"));
}

static void maps(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    size_t at;
    static const char *const keys[] = {"c", "a", "b", "", "a"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        pb_pair(&s, 17, keys[i], keys[i]);
    good(b, &s, AND("\"map\":{\"\":\"\",\"a\":\"a\",\"b\":\"b\",\"c\":\"c\"}"));
    /* Key and value may be missing, come in any order, or among unknown fields. */
    pb_text(&s, 17, "");
    at = pb_open(&s, 17);
    pb_text(&s, 2, "v");
    pb_num(&s, 9, 1);
    pb_text(&s, 1, "k");
    pb_num(&s, 1, 1); /* of another wire type: not the key */
    pb_close(&s, at);
    good(b, &s, AND("\"map\":{\"\":\"\",\"k\":\"v\"}"));
    at = pb_open(&s, 18);
    pb_text(&s, 1, "cpu");
    pb_close(&s, at);
    good(b, &s, AND("\"qty\":{\"cpu\":\"0\"}"));
    at = pb_open(&s, 17);
    str_add(&s, "\x0a\x05x");
    pb_close(&s, at);
    bad(b, &s, "bad protobuf: it ends too early");
    pb_pair_qty(&s, 18, "a", "1");
    pb_pair_qty(&s, 18, "b", "lots");
    bad(b, &s, "bad protobuf: broken quantity");
    pb_pair_qty(&s, 18, "a", "");
    good(b, &s, AND("\"qty\":{\"a\":\"0\"}"));
}

static void filters(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    part(&s, 20, "even", 2);
    pb_pair(&s, 21, "drop", "x");
    good(b, &s, NOTHING);
    part(&s, 20, "even", 0);
    part(&s, 20, "odd", 1);
    pb_pair(&s, 21, "dropped", "x");
    pb_pair(&s, 21, "a", "1");
    good(b, &s, AND("\"odd\":[{\"name\":\"odd\",\"n\":1}],\"some\":{\"a\":\"1\"}"));
}

/* --- values --- */

static void strings(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    static const struct {
        struct view bytes;
        const char *text;
    } cases[] = {
#define R "\xef\xbf\xbd"
        {VIEW("a\0b"), "a" R "b"},
        {VIEW("\0"), R},
        {VIEW("\xff"), R},
        {VIEW("\xc3"), R},
        {VIEW("\xc3\xa9\xed\xa0\x80"), "\xc3\xa9" R R R},
        {VIEW("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80"},
#undef R
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct everything e;
        pb_bytes(&s, 1, cases[i].bytes.p, cases[i].bytes.len);
        decode(b, &s, &e);
        assert_string_equal(e.str, cases[i].text);
        release(b, &e);
        str_reset(&s);
    }
}

static void numbers(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    pb_num(&s, 2, 2);
    pb_num(&s, 3, INT32_MIN);
    pb_num(&s, 4, INT64_MIN);
    good(b, &s, WITH("\"yes\":true,\"i32\":-2147483648,\"i64\":-9223372036854775808"));
    pb_num(&s, 5, INT32_MIN);
    pb_num(&s, 6, INT64_MIN);
    good(b, &s, NOTHING);
    /* As gogo does: what is too long for an int32 loses its upper half. */
    pb_num(&s, 3, INT64_C(0x100000005));
    good(b, &s, WITH("\"i32\":5"));
    /* Numbers may be longer than they need to be, up to ten bytes. */
    str_add(&s, "\x18\x85\x80\x80\x80\x80\x80\x80\x80\x80");
    str_addc(&s, 0);
    good(b, &s, WITH("\"i32\":5"));
    str_add(&s, "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    good(b, &s, WITH("\"i32\":-1"));
    str_add(&s, "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    bad(b, &s, "bad protobuf: broken number");
    str_add(&s, "\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    bad(b, &s, "bad protobuf: broken number");
    str_add(&s, "\x18\x80");
    bad(b, &s, "bad protobuf: broken number");
    str_add(&s, "\x18");
    bad(b, &s, "bad protobuf: broken number");
}

static void times(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    /* Go writes nothing into a zero time. */
    pb_text(&s, 7, "");
    pb_text(&s, 8, "");
    good(b, &s, NOTHING);
    /* 1970 is what we mean by "not set". */
    pb_time(&s, 7, 0, 999999999);
    pb_time(&s, 8, 0, 999);
    good(b, &s, NOTHING);
    pb_time(&s, 7, -62135596800, 0);
    pb_time(&s, 8, 253402300799, 999999999);
    good(b, &s,
         WITH("\"time\":\"0001-01-01T00:00:00Z\",\"micro\":\"9999-12-31T23:59:59.999999Z\""));
    pb_time(&s, 7, -2, 500000000);
    pb_time(&s, 8, -2, 500000000);
    good(b, &s,
         WITH("\"time\":\"1969-12-31T23:59:58Z\",\"micro\":\"1969-12-31T23:59:58.500000Z\""));
    size_t at = pb_open(&s, 7);
    pb_text(&s, 9, "unknown");
    pb_text(&s, 1, "no number");
    pb_num(&s, 1, 5);
    pb_close(&s, at);
    good(b, &s, WITH("\"time\":\"1970-01-01T00:00:05Z\""));
    static const struct {
        int64_t seconds, nanos;
    } wrong[] = {{-62135596801, 0}, {253402300800, 0}, {INT64_MIN, 0},
                 {INT64_MAX, 0},    {1, -1},           {1, 1000000000}};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        pb_time(&s, 7, wrong[i].seconds, wrong[i].nanos);
        bad(b, &s, "bad protobuf: time out of range");
        pb_time(&s, 8, wrong[i].seconds, wrong[i].nanos);
        bad(b, &s, "bad protobuf: time out of range");
    }
    pb_text(&s, 7, "\x08");
    bad(b, &s, "bad protobuf: broken number");
}

static void int_or_string(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    static const struct {
        int type, val;
        const char *str, *printed;
    } cases[] = {
        {0, 5, "", WITH("\"intstr\":5")},          {0, -5, "ignored", WITH("\"intstr\":-5")},
        {1, 5, "10%", WITH("\"intstr\":\"10%\"")}, {1, 0, "", WITH("\"intstr\":\"\"")},
        {7, 5, "x", WITH("\"intstr\":5")},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t at = pb_open(&s, 9);
        pb_num(&s, 1, cases[i].type);
        pb_num(&s, 2, cases[i].val);
        pb_text(&s, 3, cases[i].str);
        pb_close(&s, at);
        good(b, &s, cases[i].printed);
    }
    /* A later one replaces an earlier one, string and all. */
    for (size_t i = 2; i < 4; i++) {
        size_t at = pb_open(&s, 9);
        pb_num(&s, 1, i == 2);
        pb_num(&s, 2, 8);
        pb_text(&s, 3, "a string");
        pb_close(&s, at);
    }
    good(b, &s, WITH("\"intstr\":8"));
}

/* --- what is skipped, what is refused --- */

static void unknown_fields(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    static const uint32_t numbers[] = {25, 26, 299, 301, 1000, 0x1fffffff};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        pb_num(&s, numbers[i], -1);
        pb_tag(&s, numbers[i], 1);
        str_add(&s, "12345678");
        pb_text(&s, numbers[i], "\x0a\xff\xff garbage");
        pb_tag(&s, numbers[i], 5);
        str_add(&s, "1234");
    }
    pb_text(&s, 1, "seen");
    pb_text(&s, 10, "\xff\xff\xff"); /* what is only asked for its presence is not looked into */
    good(b, &s, WITH("\"str\":\"seen\",\"present\":{}"));
}

static void wrong_wire_types(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t i = 0; i < type_everything.n_fields; i++) {
        const struct field *f = &type_everything.fields[i];
        if (f->flags & FIELD_OWNED)
            continue;
        bool number = f->kind == FIELD_BOOL || f->kind == FIELD_OPT_BOOL || f->kind == FIELD_I32 ||
                      f->kind == FIELD_I64 || f->kind == FIELD_OPT_I32 ||
                      f->kind == FIELD_OPT_I64 || f->kind == FIELD_INTS;
        if (number)
            pb_text(&s, f->pb, "");
        else
            pb_num(&s, f->pb, 1);
        bad(b, &s, "bad protobuf: field of the wrong wire type");
        pb_tag(&s, f->pb, 1);
        str_add(&s, "12345678");
        bad(b, &s, "bad protobuf: field of the wrong wire type");
        pb_tag(&s, f->pb, 5);
        str_add(&s, "1234");
        bad(b, &s, "bad protobuf: field of the wrong wire type");
    }
    pb_text(&s, 23, "{}");
    bad(b, &s, "bad protobuf: what is kept as JSON has no protobuf");
    /* Also when the list has begun well. */
    pb_text(&s, 16, "a");
    pb_num(&s, 16, 1);
    bad(b, &s, "bad protobuf: field of the wrong wire type");
}

static void broken_tags(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    for (unsigned wire = 3; wire <= 7; wire++) {
        if (wire == 5)
            continue;
        pb_text(&s, 1, "good");
        pb_tag(&s, 22, wire);
        bad(b, &s, "bad protobuf: unknown wire type");
        pb_tag(&s, 1, wire);
        bad(b, &s, "bad protobuf: unknown wire type");
    }
    str_addc(&s, 0);
    bad(b, &s, "bad protobuf: broken tag");
    pb_varint(&s, UINT64_C(0x20000000) << 3);
    bad(b, &s, "bad protobuf: broken tag");
    pb_varint(&s, UINT64_MAX);
    bad(b, &s, "bad protobuf: broken tag");
    str_add(&s, "\x80");
    bad(b, &s, "bad protobuf: broken tag");
}

static void broken_lengths(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    static const uint64_t lengths[] = {
        4, 127, 128, 1u << 31, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (uint32_t number = 1; number <= 22; number++) {
            if (number >= 2 && number <= 6)
                continue;
            pb_tag(&s, number, 2);
            pb_varint(&s, lengths[i]);
            str_add(&s, "\x0a\x01x");
            bad(b, &s, "bad protobuf: it ends too early");
        }
    }
    str_add(&s, "\x0a\x80");
    bad(b, &s, "bad protobuf: broken length");
    str_add(&s, "\x0a");
    bad(b, &s, "bad protobuf: broken length");
    pb_tag(&s, 22, 1);
    str_add(&s, "1234567");
    bad(b, &s, "bad protobuf: it ends too early");
    pb_tag(&s, 22, 5);
    str_add(&s, "123");
    bad(b, &s, "bad protobuf: it ends too early");
}

/* --- attacks --- */

/* A message may end between any two fields: then it is a smaller one, and complete. Elsewhere it is
 * an error. In neither case is anything left behind. */
static void truncated(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    write_full(&s);
    size_t whole = 0, broken = 0;
    for (size_t n = 0; n < s.len; n++) {
        _cleanup_free_ char *copy = xmemdup(s.p, n);
        struct everything e;
        memset(&e, 0, sizeof e);
        int rc = codec_pb(&b->codec, &type_everything, (struct view){copy, n}, &e, NULL);
        if (rc) {
            assert_true(is_zero(&e, sizeof e));
            broken++;
        } else {
            /* Complete: it prints, and means the same in JSON. */
            _cleanup_free_ char *printed = everything_text(&e);
            struct everything json;
            memset(&json, 0, sizeof json);
            assert_int_equal(codec_json(&b->codec, &type_everything, view_of(printed), &json, NULL),
                             0);
            assert_memory_equal(&e, &json, sizeof e);
            release(b, &json);
            release(b, &e);
            whole++;
        }
        assert_int_equal(pool_stats(b->pool).entries, 0);
    }
    assert_int_equal(whole, 34); /* the fields of write_full() */
    assert_int_equal(broken, s.len - 34);
}

static void changed(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    static const unsigned char to[] = {0, 1, 2, 8, 10, 0x12, 0x1a, 0x7f, 0x80, 0xff};
    size_t taken = 0, refused = 0;
    write_full(&s);
    for (size_t i = 0; i < s.len; i++) {
        for (size_t k = 0; k < sizeof to; k++) {
            _cleanup_free_ char *copy = xmemdup(s.p, s.len);
            struct everything e;
            memset(&e, 0, sizeof e);
            copy[i] = (char)to[k];
            if (codec_pb(&b->codec, &type_everything, (struct view){copy, s.len}, &e, NULL)) {
                refused++;
                assert_true(is_zero(&e, sizeof e));
            } else {
                taken++;
            }
            release(b, &e);
            assert_int_equal(pool_stats(b->pool).entries, 0);
        }
    }
    assert_true(taken > 100 && refused > 100);
}

/* Few bytes that want to become much memory. */
static void bombs(void **state) {
    struct bench *b = *state;
    static const struct {
        uint32_t number;
        size_t size;
    } lists[] = {{15, sizeof(struct part)},      {16, sizeof(char *)},
                 {17, sizeof(struct pair)},      {18, sizeof(struct pair_qty)},
                 {19, sizeof(struct pair_time)}, {20, sizeof(struct part)}};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        _cleanup_str_ struct str s = STR_INIT;
        struct everything e;
        for (size_t n = 0; n < CODEC_ROOM / lists[i].size; n++)
            pb_text(&s, lists[i].number, "");
        decode(b, &s, &e);
        release(b, &e);
        pb_text(&s, lists[i].number, "");
        bad(b, &s, "bad protobuf: more list elements than any object has");
    }
    /* A pointer again and again. */
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t n = 0; n <= CODEC_ROOM / sizeof(struct part); n++)
        pb_text(&s, 14, "");
    bad(b, &s, "bad protobuf: more list elements than any object has");
    write_full(&s);
    good(b, &s, full);
}

/* --- sharing --- */

static void root_fields(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    struct everything e[2];
    for (int i = 0; i < 2; i++) {
        size_t at = pb_open(&s, 300);
        pb_text(&s, 1, i ? "two" : "one");
        pb_text(&s, 2, "same");
        pb_close(&s, at);
        decode(b, &s, &e[i]);
        str_reset(&s);
    }
    assert_ptr_equal(e[0].shared, e[1].shared);
    assert_string_equal(e[0].owner, "one");
    assert_string_equal(e[1].owner, "two");
    release(b, &e[0]);
    assert_string_equal(e[1].shared->what, "same");
    release(b, &e[1]);
    /* Filled, and then it fails: in the same message, and after it. */
    size_t at = pb_open(&s, 300);
    pb_text(&s, 1, "one");
    pb_num(&s, 2, 1);
    pb_close(&s, at);
    bad(b, &s, "bad protobuf: field of the wrong wire type");
    at = pb_open(&s, 300);
    pb_text(&s, 1, "one");
    pb_close(&s, at);
    pb_num(&s, 1, 1);
    bad(b, &s, "bad protobuf: field of the wrong wire type");
}

/* --- real kinds --- */

/* metadata, spec with a node name and a toleration, status with a phase. */
static void write_pod(struct str *s, const char *name, const char *node) {
    size_t at = pb_open(s, 1), in;
    pb_text(s, 1, name);
    pb_text(s, 3, "ns");
    pb_pair(s, 11, "app", "web");
    pb_pair(s, 12, "checksum/x", name);
    pb_pair(s, 12, "slipway.dev/y", "z");
    pb_text(s, 17, "managed fields");
    pb_close(s, at);
    at = pb_open(s, 2);
    in = pb_open(s, 1); /* volume: secret */
    pb_text(s, 1, name);
    size_t source = pb_open(s, 2);
    pb_text(s, 6, "");
    pb_close(s, source);
    pb_close(s, in);
    in = pb_open(s, 1); /* volume: emptyDir */
    pb_text(s, 1, "scratch");
    source = pb_open(s, 2);
    pb_text(s, 2, "");
    pb_close(s, source);
    pb_close(s, in);
    in = pb_open(s, 2); /* container with two ports */
    pb_text(s, 1, "c");
    for (int port = 0; port <= 80; port += 80) {
        size_t p = pb_open(s, 6);
        pb_num(s, 2, port);
        pb_num(s, 3, 80);
        pb_close(s, p);
    }
    pb_close(s, in);
    pb_text(s, 10, node);
    in = pb_open(s, 22);
    pb_text(s, 1, "key");
    pb_num(s, 5, 300);
    pb_close(s, in);
    pb_close(s, at);
    at = pb_open(s, 3);
    pb_text(s, 1, "Running");
    for (int i = 0; i < 3; i++) {
        static const char *const types[] = {"Initialized", "Ready", "ContainersReady"};
        in = pb_open(s, 2);
        pb_text(s, 1, types[i]);
        pb_text(s, 2, "True");
        pb_close(s, in);
    }
    pb_close(s, at);
}

static void pods_of_one_template(void **state) {
    struct bench *b = *state;
    struct pod *p[2];
    for (int i = 0; i < 2; i++) {
        _cleanup_str_ struct str s = STR_INIT;
        write_pod(&s, i ? "p1" : "p0", i ? "n1" : "n0");
        p[i] = bench_object(b, &kind_pod, KUBE_PROTOBUF, all(&s));
    }
    assert_ptr_equal(p[0]->spec, p[1]->spec);
    assert_ptr_equal(p[0]->meta.labels, p[1]->meta.labels);
    assert_ptr_equal(p[0]->meta.annotations, p[1]->meta.annotations);
    assert_ptr_equal(p[0]->conditions, p[1]->conditions);
    assert_string_equal(p[0]->node_name, "n0");
    assert_string_equal(p[1]->node_name, "n1");
    assert_null(p[0]->spec->node_name);
    assert_int_equal(p[0]->spec->grace, ABSENT64);
    assert_int_equal(p[0]->spec->tolerations[0].seconds, 300);
    assert_int_equal(list_len(p[0]->spec->volumes), 1);
    assert_true(p[0]->spec->volumes[0].empty_dir);
    assert_int_equal(list_len(p[0]->spec->containers[0].ports), 1);
    assert_int_equal(list_len(p[0]->conditions), 1);
    assert_int_equal(list_len(p[0]->meta.annotations), 1);

    /* The same pod from JSON is the same to the byte. */
    struct pod *json = bench_object(
        b, &kind_pod, KUBE_JSON,
        VIEW("{\"metadata\":{\"name\":\"p0\",\"namespace\":\"ns\",\"labels\":{\"app\":\"web\"},"
             "\"annotations\":{\"slipway.dev/"
             "y\":\"z\"}},\"spec\":{\"volumes\":[{\"name\":\"scratch\","
             "\"emptyDir\":{}}],\"containers\":[{\"name\":\"c\",\"ports\":[{\"hostPort\":80}]}],"
             "\"nodeName\":\"n0\",\"tolerations\":[{\"key\":\"key\",\"tolerationSeconds\":300}]},"
             "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
             "\"True\"}]}}"));
    assert_memory_equal(p[0], json, sizeof *json);
    object_free(&kind_pod, b->pool, (struct object *)p[0]);
    object_free(&kind_pod, b->pool, (struct object *)json);
    assert_string_equal(p[1]->spec->volumes[0].name, "scratch");
    object_free(&kind_pod, b->pool, (struct object *)p[1]);
}

static void template_node_name(void **state) {
    struct bench *b = *state;
    _cleanup_str_ struct str s = STR_INIT;
    size_t spec = pb_open(&s, 2), template = pb_open(&s, 2), meta = pb_open(&s, 1);
    pb_pair(&s, 11, "a", "b");
    pb_close(&s, meta);
    size_t pod = pb_open(&s, 2);
    pb_text(&s, 10, "n1");
    pb_close(&s, pod);
    pb_close(&s, template);
    pb_close(&s, spec);
    struct daemon_set *d = bench_object(b, &kind_daemon_set, KUBE_PROTOBUF, all(&s));
    assert_string_equal(d->template->spec.node_name, "n1");
    assert_string_equal(map_get(d->template->labels, "a"), "b");
    assert_int_equal(d->template->spec.priority, ABSENT32);
    object_free(&kind_daemon_set, b->pool, (struct object *)d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BENCH_TEST(every_kind_of_field),
        BENCH_TEST(agrees_with_json),
        BENCH_TEST(empty),
        BENCH_TEST(any_order),
        BENCH_TEST(duplicates),
        BENCH_TEST(maps),
        BENCH_TEST(filters),
        BENCH_TEST(strings),
        BENCH_TEST(numbers),
        BENCH_TEST(times),
        BENCH_TEST(int_or_string),
        BENCH_TEST(unknown_fields),
        BENCH_TEST(wrong_wire_types),
        BENCH_TEST(broken_tags),
        BENCH_TEST(broken_lengths),
        BENCH_TEST(truncated),
        BENCH_TEST(changed),
        BENCH_TEST(bombs),
        BENCH_TEST(root_fields),
        BENCH_TEST(pods_of_one_template),
        BENCH_TEST(template_node_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
