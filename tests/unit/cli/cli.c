/* Tests of cli/cli: how verbs speak and what their results look like. The program as a whole is
 * driven by tests/cli. */
#include "cli/cli.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/verb.h"

static const char *fake_now;
static char *env(const char *name) {
    return streq(name, "SLIPWAY_FAKE_NOW") ? (char *)fake_now : NULL;
}

static struct cli cli;

static int set_up(void **state) {
    (void)state;
    cli = (struct cli){.prog = "slipway", .env = env};
    fake_now = NULL;
    term_open(&cli.out, memfd_create("out", 0), COLOR_NEVER, &(struct term_env){0});
    term_open(&cli.err, memfd_create("err", 0), COLOR_NEVER, &(struct term_env){0});
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    term_close(&cli.out, NULL);
    term_close(&cli.err, NULL);
    arena_done(&cli.arena);
    return 0;
}

static const char *written(struct term *t) {
    static char buf[4096];
    term_flush(t);
    ssize_t n = pread(t->fd, buf, sizeof buf - 1, 0);
    assert_true(n >= 0);
    buf[n] = '\0';
    return buf;
}

static void errors(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, ECONNREFUSED, "cannot reach \033[31m https://x: refused");
    assert_int_equal(cli_error(&cli, &err), EXIT_ACCESS);
    assert_string_equal(written(&cli.err), "error: cannot reach \\x1b[31m https://x: refused\n");
    assert_string_equal(written(&cli.out), "");
    err_done(&err);
    assert_int_equal(cli_error(&cli, &err), EXIT_FAILED); /* no code: still an error */
}

static void usage(void **state) {
    (void)state;
    assert_int_equal(cli_usage(&cli, "no %s", "verb"), EXIT_USAGE);
    assert_string_equal(written(&cli.err), "error: no verb\nSee 'slipway --help' for usage.\n");
}

static void usage_of_a_verb(void **state) {
    (void)state;
    cli.verb = verb_find("version");
    cli.prog = "kubectl slipway";
    assert_int_equal(cli_usage(&cli, "no"), EXIT_USAGE);
    assert_string_equal(written(&cli.err),
                        "error: no\nSee 'kubectl slipway version --help' for usage.\n");
}

static void refusals_and_advice(void **state) {
    (void)state;
    cli.general.quiet = true; /* of no concern to errors */
    assert_int_equal(cli_refuse(&cli, EXIT_ACCESS, "Error from server (%s): \033", "Forbidden"),
                     EXIT_ACCESS);
    cli_advise(&cli, "ask %s", "somebody");
    assert_string_equal(written(&cli.err), "Error from server (Forbidden): \\x1b\nask somebody\n");
    assert_string_equal(cli.errors, "Error from server (Forbidden): \033");
}

static void notes(void **state) {
    (void)state;
    cli_note(&cli, "found %d", 3);
    cli.general.quiet = true;
    cli_note(&cli, "silent");
    assert_string_equal(written(&cli.err), "found 3\n");
}

static void the_result_comes_before_the_error(void **state) {
    (void)state;
    term_printf(&cli.out, "result\n");
    cli_fail(&cli, EXIT_BLOCKED, "blocked");
    assert_int_equal(cli.out.buf.len, 0);
    assert_string_equal(written(&cli.out), "result\n");
}

static void now(void **state) {
    (void)state;
    int64_t a = cli_now(&cli);
    assert_true(a > SEC(1700000000));
    fake_now = "2026-11-15T08:00:00Z";
    assert_int_equal(cli_now(&cli), SEC(1794729600));
    fake_now = "yesterday";
    assert_true(cli_now(&cli) >= a);
}

static struct table *sample(void) {
    static const struct table_column columns[] = {{"NAME", false}, {"AGE", false}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    table_row(t, "node/a");
    table_str(t, "a");
    table_time(t, SEC(1794729600 - 60));
    return t;
}

static void assert_table(const char *format, bool utc, const char *want) {
    set_up(NULL);
    fake_now = "2026-11-15T08:00:00Z";
    _cleanup_table_ struct table *t = sample();
    struct output_opts o = {.utc = utc};
    assert_int_equal(output_parse(format, &cli.arena, &o.format, NULL), 0);
    assert_int_equal(cli_print_table(&cli, t, &o, cli_now(&cli)), EXIT_DONE);
    assert_string_equal(written(&cli.out), want);
    tear_down(NULL);
}

static void tables(void **state) {
    (void)state;
    assert_table("", false, "NAME   AGE\na      60s\n");
    assert_table("", true, "NAME   AGE\na      2026-11-15T07:59:00Z\n");
    assert_table("wide", false, "NAME   AGE\na      2026-11-15T07:59:00Z\n");
    assert_table("name", false, "node/a\n");
}

static void assert_document(const char *format, const char *want) {
    set_up(NULL);
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", "slipway.test/1.0");
    jsonw_kbegin(&w, "items", '[');
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "name", "a");
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    struct output_format f;
    assert_int_equal(output_parse(format, &cli.arena, &f, NULL), 0);
    assert_int_equal(cli_print_document(&cli, &json, &f, false), EXIT_DONE);
    assert_string_equal(written(&cli.out), want);
    tear_down(NULL);
}

static void documents(void **state) {
    (void)state;
    assert_document("json", "{\n  \"schema\": \"slipway.test/1.0\",\n  \"items\": [\n    {\n"
                            "      \"name\": \"a\"\n    }\n  ]\n}\n");
    assert_document("yaml", "schema: slipway.test/1.0\nitems:\n- name: a\n");
    assert_document("jsonpath={.items[0].name}", "a");
    assert_document("custom-columns=N:.name", "N\na\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(usage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(usage_of_a_verb, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_and_advice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_result_comes_before_the_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(now, set_up, tear_down),
        cmocka_unit_test(tables),
        cmocka_unit_test(documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
