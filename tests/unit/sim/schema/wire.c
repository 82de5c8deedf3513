/* Tests of schema/wire: the bytes are those of the protobuf specification's encoding. */
#include "sim/schema/wire.h"

#include "../../support/pbwrite.h"
#include "schema_test.h"

static void is(const struct str *s, const char *bytes, size_t len) {
    assert_int_equal(s->len, len);
    assert_memory_equal(s->p, bytes, len);
    assert_int_equal(s->p[s->len], '\0');
}

static void numbers(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    wire_number(&s, 1, 150);
    is(&s, "\x08\x96\x01", 3);
    str_reset(&s);
    wire_number(&s, 16, 0);
    is(&s, "\x80\x01\0", 3);
    str_reset(&s);
    wire_number(&s, 2, (uint64_t)-1);
    is(&s, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void texts(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    wire_text(&s, 2, VIEW("testing"));
    is(&s,
       "\x12\x07"
       "testing",
       9);
    str_reset(&s);
    wire_text(&s, 3, (struct view){0});
    is(&s, "\x1a\0", 2);
}

/* Lengths of one, two and three bytes, one in another; compared with a writer that copies. */
static void messages(void **state) {
    (void)state;
    static const size_t sizes[] = {0,   1,   120,   121,   122,   123,   124,   125,   126,  127,
                                   128, 129, 16379, 16380, 16381, 16382, 16383, 16384, 70000};
    char *bytes = xcalloc(1, 70000);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        _cleanup_str_ struct str ours = STR_INIT, other = STR_INIT;
        str_add(&ours, "before");
        str_add(&other, "before");
        size_t outer = wire_open(&ours, 1), inner = wire_open(&ours, 100);
        size_t other_outer = pb_open(&other, 1), other_inner = pb_open(&other, 100);
        wire_text(&ours, 2, (struct view){bytes, sizes[i]});
        pb_bytes(&other, 2, bytes, sizes[i]);
        wire_close(&ours, inner);
        pb_close(&other, other_inner);
        wire_number(&ours, 3, 5);
        pb_num(&other, 3, 5);
        wire_close(&ours, outer);
        pb_close(&other, other_outer);
        is(&ours, other.p, other.len);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(texts),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
