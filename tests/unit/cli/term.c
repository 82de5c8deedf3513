/* Tests of cli/term: the decisions for every stream, and what happens to output. */
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void color(void **state) {
    (void)state;
    /* Columns: flag, NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM, terminal, answer. */
    static const struct {
        enum color_when when;
        const char *no, *clicolor, *force, *term;
        bool tty, want;
    } t[] = {
        {COLOR_AUTO, NULL, NULL, NULL, "xterm", true, true},
        {COLOR_AUTO, NULL, NULL, NULL, "xterm", false, false},
        {COLOR_AUTO, NULL, NULL, NULL, "dumb", true, false},
        {COLOR_AUTO, NULL, NULL, NULL, NULL, true, true},
        {COLOR_AUTO, "1", NULL, NULL, "xterm", true, false},
        {COLOR_AUTO, "0", NULL, NULL, "xterm", true, false}, /* its value does not matter */
        {COLOR_AUTO, "", NULL, NULL, "xterm", true, true},   /* unless it is empty */
        {COLOR_AUTO, NULL, "1", NULL, "xterm", false, true},
        {COLOR_AUTO, NULL, NULL, "1", "xterm", false, true},
        {COLOR_AUTO, NULL, NULL, "1", "dumb", true, true},
        {COLOR_AUTO, NULL, "", "", "xterm", false, false},
        {COLOR_AUTO, "1", "1", "1", "xterm", true, false},
        {COLOR_ALWAYS, "1", NULL, NULL, "dumb", false, true},
        {COLOR_NEVER, NULL, "1", "1", "xterm", true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct term_env env = {.no_color = t[i].no,
                               .clicolor_force = t[i].clicolor,
                               .force_color = t[i].force,
                               .term = t[i].term};
        assert_int_equal(term_wants_color(t[i].when, &env, t[i].tty), t[i].want);
    }
}

static void width(void **state) {
    (void)state;
    static const struct {
        const char *force, *columns;
        int found, want;
    } t[] = {
        {NULL, NULL, 0, 80},      {NULL, NULL, 120, 120},  {NULL, "100", 120, 100},
        {"200", "100", 120, 200}, {"1", NULL, 120, 120},   {"yes", NULL, 0, 80},
        {NULL, "x", 0, 80},       {NULL, "-5", 0, 80},     {NULL, "999999", 90, 90},
        {"", "", 70, 70},         {NULL, "80x24", 60, 60},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct term_env env = {.force_tty = t[i].force, .columns = t[i].columns};
        assert_int_equal(term_columns(&env, t[i].found), t[i].want);
    }
}

static void codeset(void **state) {
    (void)state;
    assert_true(term_is_utf8(&(struct term_env){.codeset = "UTF-8"}));
    assert_true(term_is_utf8(&(struct term_env){.codeset = "utf8"}));
    assert_false(term_is_utf8(&(struct term_env){.codeset = "ANSI_X3.4-1968"}));
    assert_false(term_is_utf8(&(struct term_env){0}));
}

static void pager(void **state) {
    (void)state;
    assert_string_equal(term_pager(&(struct term_env){0}), "less");
    assert_string_equal(term_pager(&(struct term_env){.pager = "more -s"}), "more -s");
    assert_null(term_pager(&(struct term_env){.pager = ""}));
    assert_null(term_pager(&(struct term_env){.pager = "cat"}));
}

static const char *wanted_name;
static char *one_variable(const char *name) {
    return strcmp(name, wanted_name) ? NULL : (char *)"value";
}

static void variables(void **state) {
    (void)state;
    struct term_env env;
    wanted_name = "NO_COLOR";
    term_env_get(&env, one_variable);
    assert_string_equal(env.no_color, "value");
    assert_null(env.force_color);
    assert_non_null(env.codeset);
    wanted_name = "PAGER";
    term_env_get(&env, one_variable);
    assert_string_equal(env.pager, "value");
    wanted_name = "SLIPWAY_PAGER";
    term_env_get(&env, one_variable);
    assert_string_equal(env.pager, "value");
}

static void only_harmless_escapes(void **state) {
    (void)state;
    assert_string_equal(term_sgr(STYLE_NONE), "");
    for (int style = STYLE_BOLD; style <= STYLE_CYAN; style++) {
        const char *s = term_sgr((enum style)style);
        assert_int_equal(strncmp(s, "\033[", 2), 0);
        long code = strtol(s + 2, NULL, 10);
        assert_true(code == 1 || code == 2 || (code >= 31 && code <= 36));
        assert_int_equal(s[strlen(s) - 1], 'm');
    }
    for (int glyph = GLYPH_NONE; glyph <= GLYPH_BAD; glyph++)
        for (const char *p = term_glyph((enum glyph)glyph, false); *p; p++)
            assert_in_range(*p, ' ' + 1, '~');
    assert_string_equal(term_glyph(GLYPH_OK, true), "\xe2\x9c\x93");
}

static int open_memory(void) {
    int fd = memfd_create("test", 0);
    assert_true(fd > 2);
    return fd;
}

static void assert_written(int fd, const char *want) {
    char buf[4096] = "";
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    ssize_t n = read(fd, buf, sizeof buf - 1);
    assert_true(n >= 0);
    assert_string_equal(buf, want);
}

static void printing(void **state) {
    (void)state;
    struct term t;
    int fd = open_memory(), copy = dup(fd);
    term_open(&t, fd, COLOR_AUTO, &(struct term_env){.term = "xterm", .codeset = "UTF-8"});
    assert_false(t.tty);
    assert_false(t.color);
    assert_null(t.pager); /* not a terminal */
    assert_int_equal(t.columns, 80);
    term_printf(&t, "%d ", 1);
    term_text(&t, "a\033[31mb\n");
    term_styled(&t, STYLE_RED, " red");
    assert_written(copy, "");
    term_flush(&t);
    assert_written(copy, "1 a\\x1b[31mb\\n red");
    assert_int_equal(term_close(&t, NULL), 0);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    close(copy);
}

static void styles_with_color(void **state) {
    (void)state;
    struct term t;
    int fd = open_memory(), copy = dup(fd);
    term_open(&t, fd, COLOR_ALWAYS, &(struct term_env){0});
    term_styled(&t, STYLE_GREEN, "x\033y");
    term_styled(&t, STYLE_NONE, "z");
    assert_int_equal(term_close(&t, NULL), 0);
    assert_written(copy, "\033[32mx\\x1by\033[0mz");
    close(copy);
}

static void forced_terminal(void **state) {
    (void)state;
    struct term t;
    int fd = open_memory();
    term_open(&t, fd, COLOR_AUTO, &(struct term_env){.force_tty = "132", .term = "xterm"});
    assert_true(t.tty);
    assert_true(t.color);
    assert_int_equal(t.columns, 132);
    assert_null(t.pager); /* there is nobody to page for */
    assert_int_equal(term_close(&t, NULL), 0);
}

static void large_output_does_not_wait(void **state) {
    (void)state;
    struct term t;
    int fd = open_memory(), copy = dup(fd);
    term_open(&t, fd, COLOR_NEVER, &(struct term_env){0});
    for (int i = 0; i < 5000; i++)
        term_printf(&t, "%s", "thirty-two characters per line..");
    assert_true(t.buf.len < 1 << 16);
    assert_true(lseek(copy, 0, SEEK_END) >= 1 << 16);
    assert_int_equal(term_close(&t, NULL), 0);
    assert_int_equal(lseek(copy, 0, SEEK_END), 5000 * 32);
    close(copy);
}

static void full_disk(void **state) {
    (void)state;
    struct term t;
    struct err err = ERR_INIT;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd > 2);
    term_open(&t, fd, COLOR_NEVER, &(struct term_env){0});
    term_printf(&t, "text");
    assert_int_equal(term_close(&t, &err), -ENOSPC);
    assert_string_equal(err_msg(&err), "cannot write to standard output: No space left on device");
    err_done(&err);
}

static void nothing_written_is_no_error(void **state) {
    (void)state;
    struct term t;
    term_open(&t, open("/dev/full", O_WRONLY), COLOR_NEVER, &(struct term_env){0});
    assert_int_equal(term_close(&t, NULL), 0);
}

static void reader_gone(void **state) {
    (void)state;
    struct term t;
    struct err err = ERR_INIT;
    int fds[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    term_open(&t, fds[1], COLOR_NEVER, &(struct term_env){0});
    term_printf(&t, "text");
    term_flush(&t);
    assert_int_equal(t.error, EPIPE);
    /* Later output goes nowhere and costs nothing. */
    term_printf(&t, "more");
    assert_int_equal(term_close(&t, &err), -EPIPE);
    err_done(&err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(color),           cmocka_unit_test(width),
        cmocka_unit_test(codeset),         cmocka_unit_test(pager),
        cmocka_unit_test(variables),       cmocka_unit_test(only_harmless_escapes),
        cmocka_unit_test(printing),        cmocka_unit_test(styles_with_color),
        cmocka_unit_test(forced_terminal), cmocka_unit_test(large_output_does_not_wait),
        cmocka_unit_test(full_disk),       cmocka_unit_test(nothing_written_is_no_error),
        cmocka_unit_test(reader_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
