/* Tests of src/cli/drain_args.c: flags become options, files and selectors that are wrong are
 * refused before anything is read, and flags come out again as they went in. */
#include "cli/drain_args.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/verb.h"

struct fixture {
    struct cli cli;
    struct drain_flags flags;
    struct drain_args args;
    struct drain_opts opts;
    int err[2];
    char said[4096];
    char path[64];
};

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .verb = verb_find("plan"), .env = no_env, .err = {.fd = f->err[1]}};
    snprintf(f->path, sizeof f->path, "/tmp/slipway-args-XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    unlink(f->path);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
    free(f);
    return 0;
}

static const char *said(struct fixture *f) {
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

/* Flags as they are written, separated by blanks. */
static void flags_of(struct fixture *f, const char *line, struct drain_flags *out) {
    char *words[32];
    int n = 0, args;
    char *text = arena_strndup(&f->cli.arena, line, strlen(line)), *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    struct option_set set = {0};
    *out = (struct drain_flags){0};
    option_set_add(&set, &drain_kubectl_options, out);
    option_set_add(&set, &drain_own_options, out);
    option_set_add(&set, &target_options, &out->target);
    _cleanup_err_ struct err err = ERR_INIT;
    if (options_parse(&set, n, words, no_env, &f->cli.arena, &args, NULL, &err))
        fail_msg("%s", err_msg(&err));
}

/* 0, or the exit code; then there is nothing to give back. */
static int parse(struct fixture *f, const char *flags, const char *names) {
    char *words[8];
    int n = 0;
    flags_of(f, flags, &f->flags);
    char *text = arena_strndup(&f->cli.arena, names, strlen(names)), *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    int rc = drain_args_parse(&f->cli, &f->flags, n, words, &f->args);
    if (!rc)
        drain_args_opts(&f->flags, &f->args, &f->opts);
    return rc;
}

static void put(struct fixture *f, const char *text) {
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void by_themselves(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, "", "w1 w2 w1"), 0);
    assert_int_equal(f->args.target.names.len, 2);
    const struct drain_opts *o = &f->opts;
    assert_false(o->force || o->delete_emptydir || o->disable_eviction || o->surge || o->in_order);
    assert_true(o->ignore_daemonsets);
    assert_true(o->keep_record);
    assert_int_equal(o->grace, -1);
    assert_int_equal(o->timeout, 0);
    assert_int_equal(o->skip_wait, 0);
    assert_null(o->pod_selector);
    assert_null(o->rules);
    assert_int_equal(o->max_unavailable.value, 0);
    assert_int_equal(o->parallel, 0);
    assert_true(o->rate == 20);
    assert_string_equal(said(f), "");
    drain_args_done(&f->args);
}

static void every_flag_arrives(void **state) {
    struct fixture *f = *state;
    put(f, "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n- {name: x, match: "
           "{namespaces: [a]}, action: skip}\n");
    _cleanup_free_ char *flags = xasprintf(
        "--force --ignore-daemonsets=false --delete-emptydir-data --disable-eviction "
        "--grace-period=7 --timeout=5m --skip-wait-for-delete-timeout=20 --pod-selector=app=web "
        "--max-unavailable=25%% --parallel=3 --max-zones=2 --eviction-rate=0.5 --rules=%s --surge "
        "--wait-rescheduled --volume-detach-timeout=90s --uncordon-on-abort --dry-run=client",
        f->path);
    assert_int_equal(parse(f, flags, "w1"), 0);
    const struct drain_opts *o = &f->opts;
    assert_true(o->force && !o->ignore_daemonsets && o->delete_emptydir && o->disable_eviction);
    assert_int_equal(o->grace, 7);
    assert_int_equal(o->timeout, SEC(300));
    assert_int_equal(o->skip_wait, 20);
    assert_int_equal(o->max_unavailable.value, 25);
    assert_true(o->max_unavailable.percent);
    assert_int_equal(o->parallel, 3);
    assert_int_equal(o->max_zones, 2);
    assert_true(o->rate == 0.5);
    assert_true(o->surge && o->wait_rescheduled && o->uncordon_on_abort);
    assert_int_equal(o->detach_timeout, SEC(90));
    assert_int_equal(o->dry_run, DRY_RUN_CLIENT);
    assert_false(o->keep_record); /* a dry run leaves nothing behind */
    assert_non_null(o->rules);
    assert_int_equal(list_len(o->pod_selector), 1);
    drain_args_done(&f->args);
}

/* kubectl takes a negative one, and means none by it. */
static void a_negative_wait_is_none(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, "--skip-wait-for-delete-timeout=-5", "w1"), 0);
    assert_int_equal(f->opts.skip_wait, 0);
    drain_args_done(&f->args);
}

static void a_bad_selector_is_refused_in_kubectls_words(void **state) {
    struct fixture *f = *state;
    static const char *const bad[] = {"a=b=c", "a in b", "=x", "!", "a,,b"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        f->flags = (struct drain_flags){.pod_selector = bad[i]};
        char *names[] = {(char *)"w1"};
        assert_int_equal(drain_args_parse(&f->cli, &f->flags, 1, names, &f->args), EXIT_USAGE);
        assert_string_equal(
            said(f), "error: --pod-selector=<pod_selector> must be a valid label selector\n");
    }
}

/* What, where, why; and no node has been looked at. */
static void a_bad_file_of_rules_is_refused(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *piece;
    } cases[] = {
        {"apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrulez: []\n", ":3:1: "},
        {"apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n- {name: x, action: kill}\n",
         ":4:"},
        {"not: [closed", ": "},
        {"", ": "},
    };
    _cleanup_free_ char *flag = xasprintf("--rules=%s", f->path);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put(f, cases[i].text);
        assert_int_equal(parse(f, flag, "w1"), EXIT_USAGE);
        said(f);
        _cleanup_free_ char *head = xasprintf("error: --rules: %s", f->path);
        assert_ptr_equal(strstr(f->said, head), f->said);
        assert_non_null(strstr(f->said + strlen(head), cases[i].piece));
    }
    assert_int_equal(parse(f, "--rules=/nonexistent/rules.yaml", "w1"), EXIT_USAGE);
    assert_string_equal(said(f),
                        "error: --rules: /nonexistent/rules.yaml: No such file or directory\n");
}

/* More than a megabyte is no file of rules. */
static void a_file_without_end_is_refused(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, "--rules=/dev/zero", "w1"), EXIT_USAGE);
    assert_non_null(strstr(said(f), "longer than the"));
}

static void nodes_that_make_no_sense_are_refused_first(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parse(f, "--rules=/nonexistent", "pods/x"), EXIT_USAGE);
    assert_null(strstr(said(f), "--rules"));
}

/* To do without a check is a decision, and somebody will ask for the reason. */
static void a_check_is_skipped_for_a_reason(void **state) {
    struct fixture *f = *state;
    char *names[] = {(char *)"w1"};
    static const char *const none[] = {NULL, "", " ", " \t\n "};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        flags_of(f, "--skip-check=longhorn", &f->flags);
        f->flags.target.reason = none[i];
        assert_int_equal(drain_args_parse(&f->cli, &f->flags, 1, names, &f->args), EXIT_USAGE);
        assert_non_null(strstr(said(f), "--skip-check needs --reason"));
    }
    assert_int_equal(parse(f, "--skip-check=longhorn,etcd --reason=CHG-1", "w1"), 0);
    assert_int_equal(f->opts.skip_checks, 1u << (check_find("longhorn") - checks_table) |
                                              1u << (check_find("etcd") - checks_table));
    assert_string_equal(said(f), "");
    drain_args_done(&f->args);
    assert_int_equal(parse(f, "--reason=CHG-1", "w1"), 0);
    assert_int_equal(f->opts.skip_checks, 0);
    drain_args_done(&f->args);
}

static bool has_word(const struct drain_args_list *words, const char *word) {
    for (size_t i = 0; i < words->len; i++)
        if (streq(words->p[i], word))
            return true;
    return false;
}

/* One by one and by their names: "all" would be more after an update. */
static void checks_that_are_skipped_as_words(void **state) {
    struct fixture *f = *state;
    struct drain_args_list words = VEC_INIT;
    flags_of(f, "--skip-check=all --reason=CHG-1", &f->flags);
    drain_args_words(&f->flags, &words);
    for (size_t i = 0; i < n_checks; i++) {
        _cleanup_free_ char *word = xasprintf("--skip-check=%s", checks_table[i].name);
        assert_true(has_word(&words, word));
    }
    assert_false(has_word(&words, "--skip-check=all"));
    drain_args_list_done(&words);
}

/* What is given again must mean the same: through words and back. */
static void words_mean_the_same_again(void **state) {
    struct fixture *f = *state;
    static const char *const lines[] = {
        "",
        "--force --delete-emptydir-data --disable-eviction --ignore-daemonsets=false",
        "--grace-period=0 --timeout=1h30m --skip-wait-for-delete-timeout=5 --pod-selector=a!=b",
        "--max-unavailable=3 --parallel=2 --max-zones=1 --eviction-rate=0",
        "--max-unavailable=33% --eviction-rate=2.5 --rules=some/file --surge --wait-rescheduled",
        "--volume-detach-timeout=1.5s --uncordon-on-abort --reason=CHG-1 --holder=me",
        "--skip-check=zalando,etcd-operator --reason=CHG-2",
        "--skip-check=all --reason=CHG-3",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct drain_flags first, again;
        struct drain_args_list words = VEC_INIT;
        _cleanup_str_ struct str line = STR_INIT;
        flags_of(f, lines[i], &first);
        drain_args_words(&first, &words);
        for (size_t k = 0; k < words.len; k++)
            str_addf(&line, "%s ", words.p[k]);
        drain_args_list_done(&words);
        flags_of(f, str_get(&line), &again);
        assert_int_equal(again.force, first.force);
        assert_int_equal(again.ignore_daemonsets, first.ignore_daemonsets);
        assert_int_equal(again.delete_emptydir, first.delete_emptydir);
        assert_int_equal(again.disable_eviction, first.disable_eviction);
        assert_int_equal(again.grace, first.grace);
        assert_int_equal(again.timeout, first.timeout);
        assert_int_equal(again.skip_wait, first.skip_wait);
        assert_string_equal(strna(again.pod_selector), strna(first.pod_selector));
        assert_int_equal(again.max_unavailable.value, first.max_unavailable.value);
        assert_int_equal(again.max_unavailable.percent, first.max_unavailable.percent);
        assert_int_equal(again.parallel, first.parallel);
        assert_int_equal(again.max_zones, first.max_zones);
        assert_true(again.rate == first.rate);
        assert_string_equal(strna(again.rules), strna(first.rules));
        assert_int_equal(again.surge, first.surge);
        assert_int_equal(again.wait_rescheduled, first.wait_rescheduled);
        assert_int_equal(again.detach_timeout, first.detach_timeout);
        assert_int_equal(again.uncordon_on_abort, first.uncordon_on_abort);
        assert_int_equal(again.skip_checks, first.skip_checks);
        assert_string_equal(strna(again.target.reason), strna(first.target.reason));
        assert_string_equal(strna(again.target.holder), strna(first.target.holder));
    }
}

#define ARGS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ARGS_TEST(by_themselves),
        ARGS_TEST(every_flag_arrives),
        ARGS_TEST(a_negative_wait_is_none),
        ARGS_TEST(a_bad_selector_is_refused_in_kubectls_words),
        ARGS_TEST(a_bad_file_of_rules_is_refused),
        ARGS_TEST(a_file_without_end_is_refused),
        ARGS_TEST(nodes_that_make_no_sense_are_refused_first),
        ARGS_TEST(a_check_is_skipped_for_a_reason),
        ARGS_TEST(checks_that_are_skipped_as_words),
        ARGS_TEST(words_mean_the_same_again),
    };
    return cmocka_run_group_tests_name("cli/drain_args", tests, NULL, NULL);
}
