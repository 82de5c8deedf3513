/* Tests of cli/complete: what follows which words. */
#include "cli/complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static const char *seen_context, *seen_prefix;

static void add_nodes(struct cli *cli, struct completion *c) {
    (void)cli;
    seen_context = c->connection->flags.context;
    seen_prefix = c->prefix;
    completion_add(c, "worker-1", "Ready");
    completion_add(c, "worker-2", "a\tb\nc");
    completion_add(c, "master", NULL);
    completion_add(c, "evil\nname", NULL);
    completion_add(c, "evil\033name", NULL);
}

static const struct completer fake = {
    .by_hint = {[HINT_CONTEXT] = add_nodes, [HINT_TOPIC] = add_nodes}};

static char answer[16384];

/* Words separated by blanks; a final blank begins an empty word. */
static const char *complete(const char *line) {
    struct cli cli = {.prog = "slipway", .completer = &fake, .env = no_env};
    static char buf[256]; /* what the hook has seen points into it */
    char *words[16];
    int argc = 0;
    strcpy(buf, line);
    for (char *p = buf; p; p = strchr(p, ' ')) {
        if (*p == ' ')
            *p++ = '\0';
        words[argc++] = p;
    }
    _cleanup_str_ struct str out = STR_INIT;
    complete_words(&cli, argc, words, &out);
    arena_done(&cli.arena);
    assert_true(out.len < sizeof answer);
    strcpy(answer, str_get(&out));
    return answer;
}

static void assert_has(const char *line, const char *piece) {
    if (!strstr(complete(line), piece))
        fail_msg("%s: no %s in\n%s", line, piece, answer);
}

static void assert_lacks(const char *line, const char *piece) {
    if (strstr(complete(line), piece))
        fail_msg("%s: %s in\n%s", line, piece, answer);
}

static void verbs_first(void **state) {
    (void)state;
    assert_has("", "version\tShow the version of this program, and of the server\n");
    assert_has("", ":4\n");
    assert_lacks("", "__");
    assert_string_equal(complete("vers"),
                        "version\tShow the version of this program, and of the server\n:4\n");
    assert_string_equal(complete("__"), ":4\n");
    /* Flags may come first. */
    assert_has("--context x ", "version\t");
    assert_has("-v ", "version\t");
    struct cli cli = {.prog = "slipway", .completer = &fake, .env = no_env};
    _cleanup_str_ struct str out = STR_INIT;
    complete_words(&cli, 0, NULL, &out);
    assert_non_null(strstr(str_get(&out), "help\t"));
}

static void flags(void **state) {
    (void)state;
    assert_has("version -", "--client\tOnly the version");
    assert_has("version -", "\n-o\tFormat: json");
    assert_string_equal(complete("version --quie"), "--quiet\tOnly errors on standard error\n:4\n");
    assert_lacks("version --", "\n-o\t");
    assert_lacks("version --", "--v\t");    /* hidden */
    assert_lacks("help --", "--context\t"); /* of no use there, but accepted */
    assert_string_equal(complete("help --context=m"), "master\n:4\n");
    assert_lacks("version --", "{prog}");
    assert_has("--", "--context\t");
    assert_lacks("--", "--selector\t");
    /* After "--" there are no flags. */
    assert_string_equal(complete("version -- -"), ":4\n");
}

static void values(void **state) {
    (void)state;
    assert_string_equal(complete("version -o "), "json\nyaml\njsonpath=\n:6\n");
    assert_string_equal(complete("version -o y"), "yaml\n:4\n");
    assert_string_equal(complete("version --output=y"), "yaml\n:4\n");
    assert_string_equal(complete("version -o=y"), "yaml\n:4\n");
    assert_string_equal(complete("version --color a"), "auto\nalways\n:4\n");
    assert_string_equal(complete("--color a"), "auto\nalways\n:4\n");
    assert_string_equal(complete("version --client=t"), "true\n:4\n");
    /* A file: the shell's business. */
    assert_string_equal(complete("--kubeconfig "), ":0\n");
    assert_string_equal(complete("--kubeconfig="), ":0\n");
    /* Anything goes. */
    assert_string_equal(complete("--user "), ":4\n");
    assert_string_equal(complete("version --nonsense="), ":4\n");
    /* An optional value is not awaited. */
    assert_has("--verbose ", "version\t");
}

static void from_the_hook(void **state) {
    (void)state;
    assert_string_equal(complete("--context "),
                        "worker-1\tReady\nworker-2\ta\\tb\\nc\nmaster\n:4\n");
    assert_string_equal(complete("--context wor"), "worker-1\tReady\nworker-2\ta\\tb\\nc\n:4\n");
    assert_string_equal(seen_prefix, "wor");
    assert_string_equal(complete("--context=m"), "master\n:4\n");
    assert_string_equal(seen_prefix, "m");
    complete("--context prod help ");
    assert_string_equal(seen_context, "prod");
    /* No hook for it: nothing. */
    assert_string_equal(complete("-n "), ":4\n");
}

static void arguments(void **state) {
    (void)state;
    assert_string_equal(complete("completion "), "bash\nzsh\nfish\n:4\n");
    assert_string_equal(complete("completion -q z"), "zsh\n:4\n");
    /* One is enough. */
    assert_string_equal(complete("completion bash "), ":4\n");
    assert_string_equal(complete("version "), ":4\n");
    assert_string_equal(complete("nonsense "), ":4\n");
    assert_string_equal(complete("__man "), ":4\n");
}

static void any_words(void **state) {
    (void)state;
    static const char *const lines[] = {" ",
                                        "- ",
                                        "-- ",
                                        "= ",
                                        "-= ",
                                        "--= ",
                                        "---",
                                        "--=",
                                        "-=",
                                        "version -o= -o=",
                                        "-- -- --",
                                        "-vvvv ",
                                        "-ovalue version -",
                                        "--color= "};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        complete(lines[i]);
        const char *last = strrchr(answer, ':');
        assert_non_null(last);
        assert_int_equal(last[strspn(last + 1, "0123456789") + 1], '\n');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verbs_first),   cmocka_unit_test(flags),     cmocka_unit_test(values),
        cmocka_unit_test(from_the_hook), cmocka_unit_test(arguments), cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
