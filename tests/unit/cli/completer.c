/* Tests of cli/completer: contexts from files, topics from tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/complete.h"

static const char *ask(enum hint hint, const char *prefix, const char *kubeconfig) {
    static char answer[8192];
    struct cli cli = {.prog = "slipway", .completer = &completer, .env = getenv};
    struct connection_opts connection = {.flags.kubeconfig = kubeconfig};
    struct completion c = {.prefix = prefix, .connection = &connection};
    assert_non_null(completer.by_hint[hint]);
    completer.by_hint[hint](&cli, &c);
    assert_true(c.out.len < sizeof answer);
    strcpy(answer, str_get(&c.out));
    str_done(&c.out);
    return answer;
}

static void topics_and_verbs(void **state) {
    (void)state;
    assert_string_equal(ask(HINT_TOPIC, "exi", NULL), "exit-codes\tWhat the exit codes mean\n");
    assert_string_equal(ask(HINT_TOPIC, "versi", NULL),
                        "version\tShow the version of this program, and of the server\n");
    assert_string_equal(ask(HINT_TOPIC, "__", NULL), "");
}

static void contexts(void **state) {
    (void)state;
    char path[] = "/tmp/slipway-completer-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "apiVersion: v1\nkind: Config\ncontexts:\n"
                            "- name: prod\n  context: {cluster: c, user: u}\n"
                            "- name: arn:aws:eks:x/test\n  context: {cluster: c, user: u}\n"
                            "- name: \"bad\\nname\"\n  context: {cluster: c, user: u}\n") > 0);
    close(fd);
    assert_string_equal(ask(HINT_CONTEXT, "pr", path), "prod\n");
    assert_string_equal(ask(HINT_CONTEXT, "arn:aws", path), "arn:aws:eks:x/test\n");
    assert_null(strstr(ask(HINT_CONTEXT, "", path), "bad"));
    unlink(path);
    /* A file that is not there, or that is none: nothing to offer, nothing said. */
    assert_string_equal(ask(HINT_CONTEXT, "", path), "");
    assert_string_equal(ask(HINT_CONTEXT, "", "/dev/null"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topics_and_verbs),
        cmocka_unit_test(contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
