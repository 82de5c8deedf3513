/* Tests of src/cli/live.c: what is written to a terminal, byte by byte. What it looks like there is
 * in tests/cli/test_drain_view.py. */
#include "cli/live.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/checks.h"

struct stage {
    struct term term;
    struct live live;
    FILE *file;
    const char *text;
    int made;
};

static void make(void *arg, const struct screen *s, struct str *out) {
    struct stage *st = arg;
    assert_int_equal(s->columns, 40);
    st->made++;
    str_add(out, st->text);
}

static int set_up(void **state) {
    struct stage *st = xnew(struct stage);
    st->file = tmpfile();
    assert_non_null(st->file);
    st->term = (struct term){.fd = fileno(st->file), .columns = 40, .rows = 20, .buf = STR_INIT};
    live_init(&st->live, &st->term);
    *state = st;
    return 0;
}

static int tear_down(void **state) {
    struct stage *st = *state;
    live_done(&st->live);
    str_done(&st->term.buf);
    fclose(st->file);
    free(st);
    return 0;
}

/* What was written since the last time. */
static void assert_written(struct stage *st, const char *wanted) {
    char buf[512];
    static long from;
    if (!st->made)
        from = 0;
    fseek(st->file, 0, SEEK_END);
    long end = ftell(st->file);
    from = end < from ? 0 : from;
    ssize_t n = pread(st->term.fd, buf, sizeof buf - 1, from);
    assert_true(n >= 0);
    buf[n] = 0;
    from = end;
    assert_string_equal(buf, wanted);
}

static void it_is_drawn_over_itself(void **state) {
    struct stage *st = *state;
    assert_written(st, "");
    st->text = "one\ntwo\n";
    live_draw(&st->live, make, st);
    assert_written(st, "\033[?25lone\033[K\ntwo\033[K\n\033[J");
    live_draw(&st->live, make, st); /* nothing has changed */
    assert_int_equal(st->made, 2);
    assert_written(st, "");
    st->text = "three\n";
    live_draw(&st->live, make, st);
    assert_written(st, "\r\033[2Athree\033[K\n\033[J");
}

static void what_stays_is_above_it(void **state) {
    struct stage *st = *state;
    assert_written(st, "");
    st->text = "one\n";
    live_draw(&st->live, make, st);
    assert_written(st, "\033[?25lone\033[K\n\033[J");
    str_add(&st->live.above, "done\n");
    live_draw(&st->live, make, st); /* the same block, one line further down */
    assert_written(st, "\r\033[1A\033[Jdone\none\033[K\n\033[J");
    assert_int_equal(st->live.above.len, 0);
}

static void it_leaves_no_trace(void **state) {
    struct stage *st = *state;
    assert_written(st, "");
    live_hide(&st->live); /* there is nothing yet */
    st->text = "one\n";
    live_draw(&st->live, make, st);
    assert_written(st, "\033[?25lone\033[K\n\033[J");
    live_suspend(&st->live);
    assert_written(st, "\r\033[1A\033[J\033[?25h");
    live_draw(&st->live, make, st);
    assert_written(st, "\033[?25lone\033[K\n\033[J");
    live_restore(&st->live); /* in a signal handler: the block stays */
    assert_written(st, "\r\033[J\033[?25h");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_drawn_over_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stays_is_above_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_leaves_no_trace, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
