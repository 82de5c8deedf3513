/* Tests of src/cli/again.c: commands that do what they say when they are copied. */
#include "cli/again.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Words with | between them. */
static void check(const char *words, const char *again, const char *uncordon) {
    char line[512];
    size_t len = strlen(words) + 1;
    assert_true(len <= sizeof line);
    memcpy(line, words, len);
    for (size_t i = 0; i < len; i++)
        if (line[i] == '|')
            line[i] = '\0';
    _cleanup_str_ struct str a = STR_INIT, b = STR_INIT;
    again_command("slipway", line, len, &a);
    again_uncordon("slipway", line, len, &b);
    assert_string_equal(str_get(&a), again);
    assert_string_equal(str_get(&b), uncordon);
}

static void as_it_was_typed(void **state) {
    (void)state;
    check("/usr/bin/slipway|drain|w1", "slipway drain w1", "slipway uncordon");
    check("slipway|drain|w[1-3]|--reason|it's time",
          "slipway drain 'w[1-3]' --reason 'it'\\''s time'", "slipway uncordon");
    check("slipway|drain|", "slipway drain ''", "slipway uncordon");
    check("slipway", "slipway", "slipway uncordon");
}

/* Copied, it must not act on another cluster, nor as somebody else. */
static void the_same_cluster_and_the_same_holder(void **state) {
    (void)state;
    check("slipway|drain|w1|--kubeconfig|/tmp/a "
          "b|--timeout=5s|--context=prod|-s|https://x:1|--holder|canary",
          "slipway drain w1 --kubeconfig '/tmp/a b' --timeout=5s --context=prod -s https://x:1 "
          "--holder canary",
          "slipway uncordon --kubeconfig '/tmp/a b' --context=prod -s https://x:1 --holder canary");
    check("slipway|--as=jo|drain|--as-group|a|--as-group=b|w1|--insecure-skip-tls-verify",
          "slipway --as=jo drain --as-group a --as-group=b w1 --insecure-skip-tls-verify",
          "slipway uncordon --as=jo --as-group a --as-group=b --insecure-skip-tls-verify");
    check("slipway|drain|w1|-shttps://x:1|--as_group|a|--client_key=k|--selector=a",
          "slipway drain w1 -shttps://x:1 --as_group a --client_key=k --selector=a",
          "slipway uncordon -shttps://x:1 --as_group a --client_key=k");
    check("slipway|drain|--|--context", "slipway drain -- --context", "slipway uncordon");
    check("slipway|drain|w1|--context", "slipway drain w1 --context", "slipway uncordon --context");
}

/* Copied, it must not wait for what nobody types. */
static void rules_that_cannot_be_read_again(void **state) {
    (void)state;
#define SAVE(from) "  # the rules came from " from ": save them in FILE"
    check("slipway|drain|w2|--rules|-|--force",
          "slipway drain w2 --rules FILE --force" SAVE("standard input"), "slipway uncordon");
    check("slipway|drain|--rules=-|w2", "slipway drain --rules=FILE w2" SAVE("standard input"),
          "slipway uncordon");
    check("slipway|drain|--rules|/dev/stdin|w2",
          "slipway drain --rules FILE w2" SAVE("standard input"), "slipway uncordon");
    check("slipway|drain|w2|--rules|/dev/fd/63", "slipway drain w2 --rules FILE" SAVE("a pipe"),
          "slipway uncordon");
    check("slipway|drain|w2|--rules|-file.yaml", "slipway drain w2 --rules -file.yaml",
          "slipway uncordon");
    check("slipway|drain|--token|--rules|-", "slipway drain --token ... -",
          "slipway uncordon --token ...");
    check("slipway|drain|--|--rules=-", "slipway drain -- --rules=-", "slipway uncordon");
    check("slipway|drain|w2|--rules", "slipway drain w2 --rules", "slipway uncordon");
}

static void secrets_are_not_shown(void **state) {
    (void)state;
    check("slipway|drain|w1|--token|abc|--password=x",
          "slipway drain w1 --token ... --password=...",
          "slipway uncordon --token ... --password=...");
    check("slipway|drain|w1|--token", "slipway drain w1 --token", "slipway uncordon --token");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_was_typed),
        cmocka_unit_test(the_same_cluster_and_the_same_holder),
        cmocka_unit_test(rules_that_cannot_be_read_again),
        cmocka_unit_test(secrets_are_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
