/* Tests of src/cli/drain_flags.c. */
#include "cli/drain_flags.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

/* Parses words that are separated by blanks; texts live in the arena. */
static int parse(const char *line, struct arena *arena, struct drain_flags *out, struct err *err) {
    char *words[16];
    int n = 0, args;
    char *text = arena_strndup(arena, line, strlen(line)), *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    struct option_set set = {0};
    *out = (struct drain_flags){0};
    option_set_add(&set, &drain_kubectl_options, out);
    option_set_add(&set, &drain_own_options, out);
    option_set_add(&set, &drain_history_options, out);
    option_set_add(&set, &drain_progress_options, out);
    return options_parse(&set, n, words, no_env, arena, &args, NULL, err);
}

/* Those of `kubectl drain --help`, 1.36.3, but for --ignore-daemonsets. */
static void defaults(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct drain_flags f;
    assert_int_equal(parse("", &arena, &f, NULL), 0);
    assert_false(f.force || f.delete_emptydir || f.disable_eviction);
    assert_true(f.ignore_daemonsets);
    assert_int_equal(f.grace, -1);
    assert_int_equal(f.skip_wait, 0);
    assert_int_equal(f.chunk, 500);
    assert_int_equal(f.timeout, 0);
    assert_null(f.pod_selector);
    assert_int_equal(f.parallel, 0);
    assert_int_equal(f.max_unavailable.value, 0);
    assert_true(f.rate == 20);
    assert_int_equal(f.detach_timeout, 0);
    assert_int_equal(f.progress, 0);
}

static void every_flag_goes_to_its_place(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct drain_flags f;
    assert_int_equal(parse("--force --ignore-daemonsets=false --delete-emptydir-data "
                           "--grace-period=30 --timeout=5m --pod-selector=a=b --disable-eviction "
                           "--skip-wait-for-delete-timeout 20 --chunk-size=0",
                           &arena, &f, NULL),
                     0);
    assert_true(f.force && !f.ignore_daemonsets && f.delete_emptydir && f.disable_eviction);
    assert_int_equal(f.grace, 30);
    assert_int_equal(f.timeout, SEC(300));
    assert_string_equal(f.pod_selector, "a=b");
    assert_int_equal(f.skip_wait, 20);
    assert_int_equal(f.chunk, 0);
    assert_int_equal(parse("--parallel 3 --max-zones 2 --max-unavailable 25% --eviction-rate 0.5 "
                           "--rules r.yaml --surge --wait-rescheduled --uncordon-on-abort "
                           "--volume-detach-timeout=90s --progress=plain --json",
                           &arena, &f, NULL),
                     0);
    assert_int_equal(f.parallel, 3);
    assert_int_equal(f.max_zones, 2);
    assert_int_equal(f.max_unavailable.value, 25);
    assert_true(f.max_unavailable.percent);
    assert_true(f.rate == 0.5);
    assert_string_equal(f.rules, "r.yaml");
    assert_true(f.surge && f.wait_rescheduled && f.uncordon_on_abort && f.json);
    assert_int_equal(f.detach_timeout, SEC(90));
    assert_int_equal(f.progress, PROGRESS_PLAIN + 1);
    assert_int_equal(parse("--delete-local-data --grace-period -5", &arena, &f, NULL), 0);
    assert_true(f.delete_emptydir);
    assert_int_equal(f.grace, -5);
}

/* What kubectl 1.36.3 takes and refuses. */
static void times_and_pages_as_kubectl_takes_them(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    static const struct {
        const char *flag;
        int64_t timeout; /* -1: refused */
        int chunk;
        const char *piece; /* of the message */
    } cases[] = {
        {"--timeout=0", 0, 500, NULL},
        {"--timeout=0s", 0, 500, NULL},
        {"--timeout=1m30s", SEC(90), 500, NULL},
        {"--timeout=1.5s", MSEC(1500), 500, NULL},
        {"--timeout=5", -1, 0, "time: missing unit in duration \"5\""},
        {"--timeout=1.5", -1, 0, "time: missing unit in duration \"1.5\""},
        {"--timeout=00", -1, 0, "time: missing unit in duration \"00\""},
        {"--timeout=-5", -1, 0, "time: missing unit in duration \"-5\""},
        {"--timeout=x", -1, 0,
         "invalid argument \"x\" for \"--timeout\" flag: time: invalid duration \"x\""},
        {"--timeout=", -1, 0,
         "invalid argument \"\" for \"--timeout\" flag: time: invalid duration \"\""},
        {"--timeout=5d", -1, 0, "time: unknown unit \"d\" in duration \"5d\""},
        {"--timeout=1ns", 1, 500, NULL},
        {"--chunk-size=-1", 0, 0, NULL},
        {"--chunk-size=-9223372036854775808", 0, 0, NULL},
        {"--chunk-size=99999999999", 0, INT_MAX, NULL},
        {"--chunk-size=7", 0, 7, NULL},
        {"--chunk-size=0x1_0", 0, 16, NULL},
        {"--chunk-size=x", -1, 0,
         "invalid argument \"x\" for \"--chunk-size\" flag: strconv.ParseInt: parsing \"x\": "
         "invalid syntax"},
        {"--chunk-size=9223372036854775808", -1, 0, "\": value out of range"},
        {"--chunk-size=", -1, 0, "--chunk-size"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_flags f;
        _cleanup_err_ struct err err = ERR_INIT;
        int rc = parse(cases[i].flag, &arena, &f, &err);
        if ((rc != 0) != (cases[i].timeout < 0))
            fail_msg("%s: %d", cases[i].flag, rc);
        if (rc) {
            assert_non_null(strstr(err_msg(&err), cases[i].piece));
            continue;
        }
        assert_int_equal(f.timeout, cases[i].timeout);
        assert_int_equal(f.chunk, cases[i].chunk);
    }
}

static void numbers_of_nodes(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    static const struct {
        const char *text;
        int value; /* -1: refused */
        bool percent;
    } cases[] = {{"1", 1, false},
                 {"40", 40, false},
                 {"1%", 1, true},
                 {"100%", 100, true},
                 {"0", -1, false},
                 {"0%", -1, false},
                 {"101%", -1, false},
                 {"-1", -1, false},
                 {"", -1, false},
                 {"x", -1, false},
                 {"10%%", -1, false},
                 {"10 %", -1, false},
                 {"+1", -1, false},
                 {" 1", -1, false},
                 {"1.5", -1, false},
                 {"%", -1, false},
                 {"99999999999999999999", -1, false},
                 {"4294967297", -1, false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_flags f;
        _cleanup_err_ struct err err = ERR_INIT;
        char *words[1];
        int args;
        struct option_set set = {0};
        words[0] = arena_printf(&arena, "--max-unavailable=%s", cases[i].text);
        f = (struct drain_flags){0};
        option_set_add(&set, &drain_own_options, &f);
        int rc = options_parse(&set, 1, words, no_env, &arena, &args, NULL, &err);
        assert_int_equal(rc, cases[i].value < 0 ? -EINVAL : 0);
        if (cases[i].value < 0) {
            assert_non_null(strstr(err_msg(&err), "--max-unavailable"));
            continue;
        }
        assert_int_equal(f.max_unavailable.value, cases[i].value);
        assert_int_equal(f.max_unavailable.percent, cases[i].percent);
    }
}

static unsigned bit(const char *check) {
    const struct check *c = check_find(check);
    assert_non_null(c);
    return 1u << (c - checks_table);
}

/* The words are those of the table, in its order: bit i is row i. */
static void checks_by_their_names(void **state) {
    (void)state;
    for (size_t i = 0; i < n_checks; i++)
        assert_string_equal(drain_check_words[i], checks_table[i].name);
    assert_string_equal(drain_check_words[n_checks], "all");
    assert_null(drain_check_words[n_checks + 1]);
}

static void checks_that_are_skipped(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    static const char *const bad[] = {"",      "Longhorn",       "long",         "longhornx",
                                      ",",     "longhorn,",      ",longhorn",    "longhorn,,etcd",
                                      "al",    "longhorn, etcd", "all,nonesuch", "etcd-",
                                      "--etcd"};
    struct drain_flags f;
    assert_int_equal(parse("", &arena, &f, NULL), 0);
    assert_int_equal(f.skip_checks, 0);
    for (size_t i = 0; i < n_checks; i++) {
        const char *line = arena_printf(&arena, "--skip-check=%s", checks_table[i].name);
        assert_int_equal(parse(line, &arena, &f, NULL), 0);
        assert_int_equal(f.skip_checks, 1u << i);
    }
    assert_int_equal(parse("--skip-check longhorn,etcd --skip-check=cnpg", &arena, &f, NULL), 0);
    assert_int_equal(f.skip_checks, bit("longhorn") | bit("etcd") | bit("cnpg"));
    /* One is the beginning of the other. */
    assert_int_equal(parse("--skip-check=etcd-operator", &arena, &f, NULL), 0);
    assert_int_equal(f.skip_checks, bit("etcd-operator"));
    assert_int_equal(parse("--skip-check=etcd,etcd", &arena, &f, NULL), 0);
    assert_int_equal(f.skip_checks, bit("etcd"));
    assert_int_equal(parse("--skip-check=all", &arena, &f, NULL), 0);
    assert_int_equal(f.skip_checks, (1u << n_checks) - 1);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        char *words[] = {arena_printf(&arena, "--skip-check=%s", bad[i])};
        int args;
        struct option_set set = {0};
        f = (struct drain_flags){0};
        option_set_add(&set, &drain_own_options, &f);
        assert_int_equal(options_parse(&set, 1, words, no_env, &arena, &args, NULL, &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "--skip-check"));
        assert_non_null(strstr(err_msg(&err), "longhorn, rook-ceph, kubevirt, cnpg, zalando, "
                                              "etcd-operator, etcd, statefulset, all"));
    }
}

static void rates(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    static const char *const bad[] = {"-1", "nan", "inf", "1e7", "0x10", "1x", ".5", "1e999"};
    struct drain_flags f;
    assert_int_equal(parse("--eviction-rate=0", &arena, &f, NULL), 0);
    assert_true(f.rate == 0);
    assert_int_equal(parse("--eviction-rate=1000000", &arena, &f, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        const char *line = arena_printf(&arena, "--eviction-rate=%s", bad[i]);
        assert_int_equal(parse(line, &arena, &f, &err), -EINVAL);
    }
}

static char *plain_env(const char *name) {
    return streq(name, "TERM") ? (char *)"xterm" : NULL;
}

static void what_is_shown(void **state) {
    (void)state;
    struct term pipe = {.tty = false}, tty = {.tty = true, .columns = 80, .rows = 24};
    static const struct {
        const char *line;
        bool tty, quiet;
        enum progress want;
    } cases[] = {
        {"", false, false, PROGRESS_AUTO},
        {"", false, true, PROGRESS_QUIET},
        {"", true, false, PROGRESS_TTY},
        {"", true, true, PROGRESS_QUIET},
        {"--progress=auto", false, false, PROGRESS_PLAIN},
        {"--progress=auto", true, false, PROGRESS_TTY},
        {"--progress=plain", true, false, PROGRESS_PLAIN},
        {"--progress=tty", false, false, PROGRESS_TTY},
        {"--progress=quiet", false, false, PROGRESS_QUIET},
        {"--progress=json", true, false, PROGRESS_JSON},
        {"--json", true, false, PROGRESS_JSON},
        {"--json --progress=plain", false, false, PROGRESS_JSON},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct drain_flags f;
        assert_int_equal(parse(cases[i].line, &arena, &f, NULL), 0);
        assert_int_equal(
            drain_flags_progress(&f, cases[i].tty ? &tty : &pipe, cases[i].quiet, 0, plain_env),
            cases[i].want);
    }
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct drain_flags f;
    assert_int_equal(parse("--progress=loud", &arena, &f, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "auto, tty, plain, json, quiet"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_flag_goes_to_its_place),
        cmocka_unit_test(times_and_pages_as_kubectl_takes_them),
        cmocka_unit_test(numbers_of_nodes),
        cmocka_unit_test(rates),
        cmocka_unit_test(checks_by_their_names),
        cmocka_unit_test(checks_that_are_skipped),
        cmocka_unit_test(what_is_shown),
    };
    return cmocka_run_group_tests_name("cli/drain_flags", tests, NULL, NULL);
}
