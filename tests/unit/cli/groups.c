/* Tests of cli/groups: the shared options land where the rest of the program looks for them. */
#include "cli/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static struct arena arena;

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    arena = ARENA_INIT;
    return 0;
}

static void parse(const struct option_group *group, void *base, int argc, const char *const *argv) {
    struct option_set set = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    char *words[32];
    int n;
    for (int i = 0; i < argc; i++)
        words[i] = (char *)argv[i];
    option_set_add(&set, group, base);
    if (options_parse(&set, argc, words, no_env, &arena, &n, NULL, &err))
        fail_msg("%s", err_msg(&err));
    assert_int_equal(n, 0);
}

static void connection(void **state) {
    (void)state;
    struct connection_opts o = {0};
    static const char *const argv[] = {"--kubeconfig=1",
                                       "--context=2",
                                       "--cluster=3",
                                       "--user=4",
                                       "-n5",
                                       "-s6",
                                       "--token=7",
                                       "--token-file=8",
                                       "--as=9",
                                       "--as-uid=10",
                                       "--as-group=11",
                                       "--as-group=12",
                                       "--certificate-authority=13",
                                       "--client-certificate=14",
                                       "--client-key=15",
                                       "--tls-server-name=16",
                                       "--insecure-skip-tls-verify",
                                       "--request-timeout=17s",
                                       "--disable-compression",
                                       "--username=18",
                                       "--password=19",
                                       "--as-user-extra=a=20",
                                       "--as-user-extra=a=21",
                                       "--warnings-as-errors"};
    parse(&connection_options, &o, ARRAY_LEN(argv), argv);
    assert_string_equal(o.flags.kubeconfig, "1");
    assert_string_equal(o.flags.context, "2");
    assert_string_equal(o.flags.cluster, "3");
    assert_string_equal(o.flags.user, "4");
    assert_string_equal(o.flags.ns, "5");
    assert_string_equal(o.flags.server, "6");
    assert_string_equal(o.flags.token, "7");
    assert_string_equal(o.flags.token_file, "8");
    assert_string_equal(o.flags.as_user, "9");
    assert_string_equal(o.flags.as_uid, "10");
    assert_string_equal(o.flags.as_groups[0], "11");
    assert_string_equal(o.flags.as_groups[1], "12");
    assert_null(o.flags.as_groups[2]);
    assert_string_equal(o.flags.certificate_authority, "13");
    assert_string_equal(o.flags.client_certificate, "14");
    assert_string_equal(o.flags.client_key, "15");
    assert_string_equal(o.flags.tls_server_name, "16");
    assert_true(o.flags.insecure);
    assert_int_equal(o.request_timeout, SEC(17));
    assert_true(o.flags.disable_compression);
    assert_string_equal(o.flags.username, "18");
    assert_string_equal(o.flags.password, "19");
    assert_string_equal(o.flags.as_extra[0], "a=20");
    assert_string_equal(o.flags.as_extra[1], "a=21");
    assert_null(o.flags.as_extra[2]);
    assert_true(o.warnings_as_errors);
}

/* `kubectl options` of kubectl 1.36.3, with a value that kubectl takes. */
static const char *const kubectl_options[] = {
    "--as=u",
    "--as-group=g",
    "--as-uid=1",
    "--as-user-extra=k=v",
    "--cache-dir=/tmp/cache",
    "--certificate-authority=f",
    "--client-certificate=f",
    "--client-key=f",
    "--cluster=c",
    "--context=c",
    "--disable-compression=false",
    "--insecure-skip-tls-verify=false",
    "--kubeconfig=f",
    "--kuberc=f",
    "--log-flush-frequency=5s",
    "--match-server-version=false",
    "-n=x",
    "--namespace=x",
    "--password=p",
    "--profile=none",
    "--profile-output=profile.pprof",
    "--request-timeout=0",
    "-s=https://h",
    "--server=https://h",
    "--tls-server-name=n",
    "--token=t",
    "--user=u",
    "--username=u",
    "-v=0",
    "--v=0",
    "--vmodule=a=1,b=2",
    "--warnings-as-errors=false",
};

/* Each of them is accepted, in both forms in which a value can be given. */
static void kubectl_flags(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kubectl_options); i++) {
        for (int apart = 0; apart < 2; apart++) {
            struct connection_opts connection = {0};
            struct general_opts general = {0};
            struct option_set set = {0};
            _cleanup_err_ struct err err = ERR_INIT;
            _cleanup_free_ char *word = xstrdup(kubectl_options[i]);
            char *value = strchr(word, '=') + 1;
            char *argv[] = {word, value};
            int n_args;
            if (apart && (streq(value, "false")))
                continue; /* "--flag false" is an argument "false", for kubectl too */
            if (apart)
                value[-1] = '\0';
            option_set_add(&set, &general_options, &general);
            option_set_add(&set, &connection_options, &connection);
            if (options_parse(&set, 1 + apart, argv, no_env, &arena, &n_args, NULL, &err))
                fail_msg("%s: %s", kubectl_options[i], err_msg(&err));
            assert_int_equal(n_args, 0);
        }
    }
}

/* What means nothing here is not offered to anybody. */
static void ignored_are_hidden(void **state) {
    (void)state;
    static const char *const ignored[] = {
        "cache-dir", "kuberc", "profile", "profile-output", "log-flush-frequency", "vmodule"};
    struct option_set set = {0};
    option_set_add(&set, &connection_options, NULL);
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
        const struct option *o = options_find(&set, ignored[i], strlen(ignored[i]), NULL);
        assert_non_null(o);
        assert_true(o->hidden);
        assert_null(o->env);
    }
}

static void output(void **state) {
    (void)state;
    struct output_opts o = {0};
    static const char *const argv[] = {"-ojson", "--no-headers", "-l", "a=b", "-w", "--utc"};
    parse(&output_options, &o, ARRAY_LEN(argv), argv);
    assert_int_equal(o.format.kind, OUTPUT_JSON);
    assert_true(o.no_headers && o.watch && o.utc);
    assert_string_equal(o.selector, "a=b");
}

static void general(void **state) {
    (void)state;
    struct general_opts o = {0};
    static const char *const argv[] = {"--color=never", "-v", "6", "-q"};
    parse(&general_options, &o, ARRAY_LEN(argv), argv);
    assert_int_equal(o.color, COLOR_NEVER);
    assert_int_equal(o.verbose, 6);
    assert_true(o.quiet);
}

static void levels(void **state) {
    (void)state;
    static const enum log_level want[] = {LOG_WARN,  LOG_INFO,  LOG_INFO,  LOG_INFO,
                                          LOG_DEBUG, LOG_DEBUG, LOG_DEBUG, LOG_DEBUG,
                                          LOG_TRACE, LOG_TRACE, LOG_TRACE};
    for (int i = 0; i <= 10; i++)
        assert_int_equal(general_log_level(&(struct general_opts){.verbose = i}), want[i]);
    /* kubectl takes any number. */
    assert_int_equal(general_log_level(&(struct general_opts){.verbose = 99}), LOG_TRACE);
    assert_int_equal(general_log_level(&(struct general_opts){.verbose = -1}), LOG_WARN);
    assert_int_equal(general_log_level(&(struct general_opts){.verbose = 9, .quiet = true}),
                     LOG_ERROR);
}

/* Names of variables are guessable: SLIPWAY_ and the flag in capitals. */
static void variables(void **state) {
    (void)state;
    const struct option_group *const groups[] = {&general_options, &connection_options,
                                                 &output_options, &document_options};
    for (size_t g = 0; g < ARRAY_LEN(groups); g++)
        for (const struct option *o = groups[g]->rows; o->name; o++) {
            if (!o->env)
                continue;
            _cleanup_str_ struct str want = STR_INIT;
            str_addf(&want, "SLIPWAY_%s", o->name);
            for (char *p = want.p; *p; p++)
                *p = *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
            assert_string_equal(o->env, str_get(&want));
        }
}

/* A variable that outlives the shell it was set in must not choose what is acted upon. */
static void no_variable_for_targets(void **state) {
    (void)state;
    for (const struct option *o = output_options.rows; o->name; o++)
        if (streq(o->name, "selector") || streq(o->name, "watch"))
            assert_null(o->env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(connection, tear_down),
        cmocka_unit_test_teardown(kubectl_flags, tear_down),
        cmocka_unit_test(ignored_are_hidden),
        cmocka_unit_test_teardown(output, tear_down),
        cmocka_unit_test_teardown(general, tear_down),
        cmocka_unit_test(levels),
        cmocka_unit_test(variables),
        cmocka_unit_test(no_variable_for_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
