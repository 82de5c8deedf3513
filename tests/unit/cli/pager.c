/* Tests of cli/pager: what the pager gets, and when there is none. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char path[] = "/tmp/slipway-pager-XXXXXX";

static int set_up(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

static char *contents(void) {
    static char buf[1 << 17];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    buf[fread(buf, 1, sizeof buf - 1, f)] = '\0';
    fclose(f);
    return buf;
}

/* Lets `command`, whose output goes to the file, page the text. */
static int show(const char *command, const char *text) {
    _cleanup_free_ char *line = xasprintf("%s >%s", command, path);
    return pager_show(line, text, strlen(text));
}

static void gets_the_text(void **state) {
    (void)state;
    assert_int_equal(show("cat", "one\ntwo\n"), 0);
    assert_string_equal(contents(), "one\ntwo\n");
    /* More than a pipe holds. */
    _cleanup_free_ char *large = xmalloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    assert_int_equal(show("cat", large), 0);
    assert_int_equal(strlen(contents()), 100000);
}

static void less_options(void **state) {
    (void)state;
    unsetenv("LESS");
    assert_int_equal(show("printenv LESS", ""), 0);
    assert_string_equal(contents(), "FRX\n");
    assert_null(getenv("LESS"));
    setenv("LESS", "S", 1);
    assert_int_equal(show("printenv LESS", ""), 0);
    assert_string_equal(contents(), "S\n");
    unsetenv("LESS");
}

static void no_such_pager(void **state) {
    (void)state;
    /* The shell's complaint is not for the terminal of the tests. */
    int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    int r = pager_show("slipway-no-such-pager", "text", 4);
    int r2 = pager_show("/", "text", 4);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(null);
    assert_int_equal(r, -ENOENT);
    assert_int_equal(r2, -ENOENT);
}

static void closing_early_is_fine(void **state) {
    (void)state;
    struct sigaction before, after;
    signal(SIGINT, SIG_DFL);
    sigaction(SIGINT, NULL, &before);
    _cleanup_free_ char *large = xmalloc(1 << 20);
    memset(large, 'x', 1 << 20);
    assert_int_equal(pager_show("exec true", large, 1 << 20), 0);
    assert_int_equal(pager_show("exit 3", large, 1 << 20), 0);
    sigaction(SIGINT, NULL, &after);
    assert_ptr_equal(before.sa_handler, after.sa_handler);
}

static void signals_are_the_pagers(void **state) {
    (void)state;
    /* Our own SIG_IGN for SIGPIPE must not reach it: ignored signals are inherited. */
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(show("grep SigIgn /proc/self/status", ""), 0);
    unsigned long long mask = strtoull(strchr(contents(), ':') + 1, NULL, 16);
    assert_false(mask >> (SIGPIPE - 1) & 1);
    assert_false(mask >> (SIGINT - 1) & 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_the_text),          cmocka_unit_test(less_options),
        cmocka_unit_test(no_such_pager),          cmocka_unit_test(closing_early_is_fine),
        cmocka_unit_test(signals_are_the_pagers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
