/* Tests of cli/options: every spelling, every kind of value, every mistake. */
#include "cli/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

struct opts {
    bool watch, quiet, help;
    const char *name;
    int level, color, dry;
    int64_t wait;
    const char *const *groups;
    char parsed[16];
};

static int parse_upper(const char *value, struct arena *arena, void *field, struct err *err) {
    (void)arena;
    if (strlen(value) > 3)
        return err_set(err, EINVAL, "\"%s\" is too long", value);
    strcpy(field, value);
    return 0;
}

static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const places[] = {"none", "client", "server", NULL};
#define FIELD(m) offsetof(struct opts, m)
static const struct option rows[] = {
    {.name = "watch", .letter = 'w', .kind = OPTION_FLAG, .offset = FIELD(watch)},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = FIELD(quiet), .env = "T_QUIET"},
    {.name = "help", .letter = 'h', .kind = OPTION_FLAG, .offset = FIELD(help), .stops = true},
    {.name = "name",
     .letter = 'n',
     .kind = OPTION_STRING,
     .offset = FIELD(name),
     .arg = "NAME",
     .env = "T_NAME"},
    {.name = "out", .kind = OPTION_STRING, .offset = FIELD(name), .filled = true},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_INT,
     .offset = FIELD(level),
     .implied = "1",
     .env = "T_LEVEL",
     .max = 10},
    {.name = "v",
     .kind = OPTION_INT,
     .offset = FIELD(level),
     .implied = "1",
     .called = "-v, --v",
     .max = 10,
     .hidden = true},
    {.name = "color",
     .kind = OPTION_ENUM,
     .offset = FIELD(color),
     .words = colors,
     .initial = "never",
     .env = "T_COLOR"},
    {.name = "dry-run",
     .kind = OPTION_ENUM,
     .offset = FIELD(dry),
     .words = places,
     .implied = "client"},
    {.name = "wait", .kind = OPTION_DURATION, .offset = FIELD(wait), .initial = "30s"},
    {.name = "as-group",
     .kind = OPTION_LIST,
     .offset = FIELD(groups),
     .env = "T_GROUP",
     .arg = "GROUP"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_PARSED,
     .offset = FIELD(parsed),
     .parse = parse_upper},
    {.name = "late",
     .kind = OPTION_PARSED,
     .offset = FIELD(parsed),
     .late = true,
     .advice = "Three letters.",
     .parse = parse_upper},
    {0}};
static const struct option_group group = {"Options", rows};

static const char *env_name, *env_value; /* of the one variable that is set */
static char *fake_env(const char *name) {
    return env_name && streq(name, env_name) ? (char *)env_value : NULL;
}

static struct opts o;
static char *words[16];
static int n_args;
static struct err err;
static struct arena arena;
static struct options_fault fault;

static int reset(void **state) {
    (void)state;
    err_done(&err);
    arena_done(&arena);
    arena = ARENA_INIT;
    o = (struct opts){0};
    env_name = env_value = NULL;
    return 0;
}

/* Parses a line whose words are separated by blanks; "_" stands for an empty word. */
static int parse(const char *line) {
    static char buf[512];
    reset(NULL);
    int argc = 0;
    strcpy(buf, line);
    for (char *save, *w = strtok_r(buf, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words[argc++] = streq(w, "_") ? w + 1 : w;
    struct option_set set = {0};
    option_set_add(&set, &group, &o);
    return options_parse(&set, argc, words, fake_env, &arena, &n_args, &fault, &err);
}

static void assert_args(int n, const char *const *want) {
    assert_int_equal(n_args, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(words[i], want[i]);
}

static void defaults(void **state) {
    (void)state;
    assert_int_equal(parse(""), 0);
    assert_int_equal(n_args, 0);
    assert_int_equal(o.color, 2);
    assert_int_equal(o.wait, SEC(30));
    assert_null(o.name);
    assert_null(o.groups);
    assert_false(o.watch);
}

static void any_order(void **state) {
    (void)state;
    assert_int_equal(parse("a --name x b -w c --color=auto d"), 0);
    assert_args(4, (const char *const[]){"a", "b", "c", "d"});
    assert_string_equal(o.name, "x");
    assert_true(o.watch);
    assert_int_equal(o.color, 0);
}

static void ways_to_give_a_value(void **state) {
    (void)state;
    static const char *const lines[] = {"--name=x", "--name x", "-nx",  "-n x",
                                        "-n=x",     "-wn x",    "-wqnx"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(parse(lines[i]), 0);
        assert_string_equal(o.name, "x");
        assert_int_equal(n_args, 0);
    }
    assert_int_equal(parse("--name=a=b"), 0);
    assert_string_equal(o.name, "a=b");
    /* The last one wins, and what looks like a flag is still the value. */
    assert_int_equal(parse("--name a --name --watch"), 0);
    assert_string_equal(o.name, "--watch");
    assert_false(o.watch);
    assert_int_equal(parse("-oab"), 0);
    assert_string_equal(o.parsed, "ab");
}

static void dashes_end_the_flags(void **state) {
    (void)state;
    assert_int_equal(parse("-w -- --name -x --"), 0);
    assert_args(3, (const char *const[]){"--name", "-x", "--"});
    assert_null(o.name);
    assert_int_equal(parse("- a"), 0);
    assert_args(2, (const char *const[]){"-", "a"});
    assert_int_equal(parse("_ -w _"), 0);
    assert_args(2, (const char *const[]){"", ""});
}

static void booleans(void **state) {
    (void)state;
    assert_int_equal(parse("--watch --watch=false"), 0);
    assert_false(o.watch);
    assert_int_equal(parse("--watch=T"), 0);
    assert_true(o.watch);
    assert_int_equal(parse("-w=0 -q=1"), 0);
    assert_false(o.watch);
    assert_true(o.quiet);
    /* A word after a flag is an argument. */
    assert_int_equal(parse("--watch false"), 0);
    assert_true(o.watch);
    assert_args(1, (const char *const[]){"false"});
    assert_int_equal(parse("--watch=maybe"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"maybe\" for \"-w, --watch\" flag: "
                                       "strconv.ParseBool: parsing \"maybe\": invalid syntax");
    assert_string_equal(fault.advice, "It must be true or false.");
    assert_int_equal(parse("--watch="), -EINVAL);
}

static void optional_values(void **state) {
    (void)state;
    assert_int_equal(parse("--dry-run node"), 0);
    assert_int_equal(o.dry, 1);
    assert_args(1, (const char *const[]){"node"});
    assert_int_equal(parse("--dry-run=server"), 0);
    assert_int_equal(o.dry, 2);
    /* A word is not the value of an optional one, except for a number after a numeric one. */
    assert_int_equal(parse("--dry-run server"), 0);
    assert_int_equal(o.dry, 1);
    static const char *const sixes[] = {"-v 6", "-v=6", "-v6", "--v=6", "--v 6", "--verbose 6"};
    for (size_t i = 0; i < ARRAY_LEN(sixes); i++) {
        assert_int_equal(parse(sixes[i]), 0);
        assert_int_equal(o.level, 6);
        assert_int_equal(n_args, 0);
    }
    assert_int_equal(parse("-v node6"), 0);
    assert_int_equal(o.level, 1);
    assert_args(1, (const char *const[]){"node6"});
    assert_int_equal(parse("-vw"), 0);
    assert_int_equal(o.level, 1);
    assert_true(o.watch);
}

static void numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"-v=11", "-v=-1", "-v=x",
                                      "-v=",   "-v=1x", "-v=99999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(parse(bad[i]), -EINVAL);
    assert_int_equal(parse("-v=11"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"11\" for \"-v, --verbose\" flag: "
                                       "strconv.ParseInt: parsing \"11\": value out of range");
    assert_string_equal(fault.advice, "It must be a whole number from 0 to 10.");
    assert_int_equal(parse("--v=1.5"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"1.5\" for \"-v, --v\" flag: "
                                       "strconv.ParseInt: parsing \"1.5\": invalid syntax");
    assert_int_equal(parse("-v=0x0a"), 0);
    assert_int_equal(o.level, 10);
}

static void durations(void **state) {
    (void)state;
    assert_int_equal(parse("--wait 1m30s"), 0);
    assert_int_equal(o.wait, SEC(90));
    assert_int_equal(parse("--wait=5"), 0);
    assert_int_equal(o.wait, SEC(5));
    assert_int_equal(parse("--wait=-5s"), -EINVAL);
    assert_string_equal(err_msg(&err),
                        "invalid argument \"-5s\" for \"--wait\" flag: it cannot be negative");
    assert_int_equal(parse("--wait=soon"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"soon\" for \"--wait\" flag: time: "
                                       "invalid duration \"soon\"");
    assert_string_equal(fault.advice, "Write for example 90s, 5m, 1h30m or 0.");
}

static void words_of_an_enum(void **state) {
    (void)state;
    assert_int_equal(parse("--color alway"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"alway\" for \"--color\" flag: must be "
                                       "auto, always or never");
    assert_string_equal(fault.advice, "Did you mean \"always\"?");
    assert_int_equal(parse("--color=mauve-ish"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"mauve-ish\" for \"--color\" flag: must "
                                       "be auto, always or never");
    assert_null(fault.advice);
    assert_false(fault.late);
}

static void lists(void **state) {
    (void)state;
    assert_int_equal(parse("--as-group a --as-group=b,c"), 0);
    assert_string_equal(o.groups[0], "a");
    assert_string_equal(o.groups[1], "b,c"); /* no splitting: kubectl does not */
    assert_null(o.groups[2]);
}

/* The messages of pflag, which kubectl prints. */
static void unknown_flags(void **state) {
    (void)state;
    static const struct {
        const char *line, *msg, *advice;
    } t[] = {
        {"--wathc", "unknown flag: --wathc", "Did you mean \"--watch\"?"},
        {"--colour=never", "unknown flag: --colour", "Did you mean \"--color\"?"},
        {"-xatch", "unknown shorthand flag: 'x' in -xatch", "Did you mean \"--watch\"?"},
        {"-watch", "unknown shorthand flag: 'a' in -atch", "Did you mean \"--watch\"?"},
        {"-wabcdefgh", "unknown shorthand flag: 'a' in -abcdefgh", NULL},
        {"-x", "unknown shorthand flag: 'x' in -x", NULL},
        {"-wx", "unknown shorthand flag: 'x' in -x", NULL},
        {"-xyz=1", "unknown shorthand flag: 'x' in -xyz=1", NULL},
        {"-=", "unknown shorthand flag: '=' in -=", NULL},
        {"--as_goup", "unknown flag: --as_goup", "Did you mean \"--as-group\"?"},
        {"--zebra-crossing", "unknown flag: --zebra-crossing", NULL},
        {"---watch", "bad flag syntax: ---watch", "Did you mean \"--watch\"?"},
        {"--=x", "bad flag syntax: --=x", NULL},
        /* -o with the value "utput", which is too long: as kubectl reads it */
        {"-output", "invalid argument \"utput\" for \"-o, --output\" flag: \"utput\" is too long",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        assert_int_equal(parse(t[i].line), -EINVAL);
        assert_string_equal(err_msg(&err), t[i].msg);
        if (!str_same(fault.advice, t[i].advice))
            fail_msg("%s: %s", t[i].line, strna(fault.advice));
    }
    /* A hidden one is understood but not suggested. */
    assert_int_equal(parse("--vv"), -EINVAL);
    assert_false(str_same(fault.advice, "Did you mean \"--v\"?"));
}

static void missing_values(void **state) {
    (void)state;
    assert_int_equal(parse("--name"), -EINVAL);
    assert_string_equal(err_msg(&err), "flag needs an argument: --name");
    assert_int_equal(parse("a -wn"), -EINVAL);
    assert_string_equal(err_msg(&err), "flag needs an argument: 'n' in -n");
    assert_null(fault.advice);
}

static void what_is_said_later_stands_alone(void **state) {
    (void)state;
    assert_int_equal(parse("--late abcd"), -EINVAL);
    assert_string_equal(err_msg(&err), "\"abcd\" is too long");
    assert_true(fault.late);
    assert_string_equal(fault.advice, "Three letters.");
    assert_int_equal(parse("--late abc"), 0);
    assert_false(fault.late);
}

static bool is_long(const char *word) {
    return strlen(word) > 3;
}

static const struct option bare_rows[] = {{.name = "name",
                                           .kind = OPTION_ENUM,
                                           .offset = FIELD(dry),
                                           .words = places,
                                           .implied = "server",
                                           .bare_unless = is_long},
                                          {0}};
static const struct option_group bare_group = {"Bare", bare_rows};

static int parse_bare(int from, int argc, const char *const argv[]) {
    reset(NULL);
    for (int i = 0; i < argc; i++)
        words[i] = (char *)argv[i];
    struct option_set set = {.bare_from = from};
    option_set_add(&set, &group, &o);
    option_set_add(&set, &bare_group, &o);
    assert_ptr_equal(options_find(&set, "name", 4, NULL), &rows[3]);
    return options_parse(&set, argc, words, fake_env, &arena, &n_args, &fault, &err);
}

/* The bare flag is another than the one with a value. */
static void bare_flags(void **state) {
    (void)state;
    static const struct {
        const char *argv[4];
        int argc, from, dry, n_args;
        const char *name;
    } cases[] = {
        {{"a", "--name"}, 2, 0, 2, 1, NULL},
        {{"--name", "a"}, 2, 0, 2, 1, NULL},
        {{"--name", "-w"}, 2, 0, 2, 0, NULL},
        {{"--name", "--", "a"}, 3, 0, 2, 1, NULL},
        {{"--name", "long"}, 2, 0, 0, 0, "long"},
        {{"--name=a"}, 1, 0, 0, 0, "a"},
        {{"--name="}, 1, 0, 0, 0, NULL},
        {{"-n", "a"}, 2, 0, 0, 0, "a"},
        {{"--name", "long", "--name", "a"}, 4, 0, 2, 1, "long"},
        {{"--name", "a", "--name"}, 3, 1, 2, 0, "a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse_bare(cases[i].from, cases[i].argc, cases[i].argv), 0);
        assert_int_equal(o.dry, cases[i].dry);
        assert_int_equal(n_args, cases[i].n_args);
        if (cases[i].name)
            assert_string_equal(o.name, cases[i].name);
        else
            assert_null(o.name);
    }
    assert_int_equal(parse_bare(2, 2, (const char *const[]){"a", "--name"}), -EINVAL);
}

static void help_stops(void **state) {
    (void)state;
    assert_int_equal(parse("a --help --nonsense --color=mauve"), 0);
    assert_true(o.help);
    assert_int_equal(n_args, 1);
    assert_int_equal(parse("--nonsense --help"), -EINVAL);
}

static int parse_env(const char *line, const char *name, const char *value) {
    static char buf[64];
    reset(NULL);
    env_name = name;
    env_value = value;
    int argc = 0;
    strcpy(buf, line);
    if (*buf)
        words[argc++] = buf;
    struct option_set set = {0};
    option_set_add(&set, &group, &o);
    return options_parse(&set, argc, words, fake_env, &arena, &n_args, &fault, &err);
}

static void environment(void **state) {
    (void)state;
    assert_int_equal(parse_env("", "T_NAME", "env"), 0);
    assert_string_equal(o.name, "env");
    assert_int_equal(parse_env("--name=flag", "T_NAME", "env"), 0);
    assert_string_equal(o.name, "flag");
    /* An empty flag hides the variable. */
    assert_int_equal(parse_env("--name=", "T_NAME", "env"), 0);
    assert_null(o.name);
    assert_int_equal(parse_env("", "T_COLOR", ""), 0);
    assert_int_equal(o.color, 2);
    assert_int_equal(parse_env("", "T_COLOR", "always"), 0);
    assert_int_equal(o.color, 1);
    assert_int_equal(parse_env("", "T_COLOR", "mauve"), -EINVAL);
    assert_string_equal(err_msg(&err), "environment variable T_COLOR: invalid value \"mauve\": "
                                       "must be auto, always or never");
    /* A wrong variable does not matter when the flag is there. */
    assert_int_equal(parse_env("--color=auto", "T_COLOR", "mauve"), 0);
    assert_int_equal(parse_env("", "T_GROUP", "g"), 0);
    assert_string_equal(o.groups[0], "g");
    assert_int_equal(parse_env("--as-group=h", "T_GROUP", "g"), 0);
    assert_string_equal(o.groups[0], "h");
    assert_null(o.groups[1]);
    /* --v fills the same field as --verbose: its variable is hidden too. */
    assert_int_equal(parse_env("--v=3", "T_LEVEL", "9"), 0);
    assert_int_equal(o.level, 3);
    assert_int_equal(parse_env("", "T_QUIET", "nonsense"), -EINVAL);
}

static void parsers_of_ones_own(void **state) {
    (void)state;
    assert_int_equal(parse("-o abcd"), -EINVAL);
    assert_string_equal(
        err_msg(&err), "invalid argument \"abcd\" for \"-o, --output\" flag: \"abcd\" is too long");
    assert_int_equal(parse("--output=abcd"), -EINVAL);
    assert_string_equal(
        err_msg(&err), "invalid argument \"abcd\" for \"-o, --output\" flag: \"abcd\" is too long");
}

/* "--out $FILE" of a variable that is not set is a mistake, and not the same as no flag. */
static void some_texts_must_not_be_empty(void **state) {
    (void)state;
    assert_int_equal(parse("--out f"), 0);
    assert_string_equal(o.name, "f");
    assert_int_equal(parse("--out _"), -EINVAL);
    assert_string_equal(err_msg(&err), "invalid argument \"\" for \"--out\" flag: it is empty");
    assert_int_equal(parse("--out="), -EINVAL);
    assert_int_equal(parse("--name="), 0);
    assert_null(o.name);
}

static void accepted_and_dropped(void **state) {
    (void)state;
    reset(NULL);
    struct option_set set = {0};
    option_set_add(&set, &group, NULL);
    env_name = "T_COLOR";
    env_value = "mauve"; /* of no concern */
    char *argv[] = {(char *)"--name", (char *)"x", (char *)"a", (char *)"--color=mauve"};
    assert_int_equal(
        options_parse(&set, ARRAY_LEN(argv), argv, fake_env, &arena, &n_args, &fault, &err), 0);
    assert_int_equal(n_args, 1);
    assert_string_equal(argv[0], "a");
    char *bad[] = {(char *)"--nam"};
    assert_int_equal(options_parse(&set, 1, bad, fake_env, &arena, &n_args, &fault, &err), -EINVAL);
}

static void walking(void **state) {
    (void)state;
    reset(NULL);
    struct option_set set = {0};
    option_set_add(&set, &group, &o);
    char *argv[] = {(char *)"-wn", (char *)"x", (char *)"arg", (char *)"--bogus", (char *)"--name"};
    struct options_walk w = options_walk(&set, ARRAY_LEN(argv), argv);
    struct option_token t = options_next(&w);
    assert_int_equal(t.kind, TOKEN_OPTION);
    assert_string_equal(t.row->name, "watch");
    assert_null(t.value);
    t = options_next(&w);
    assert_string_equal(t.row->name, "name");
    assert_string_equal(t.value, "x");
    t = options_next(&w);
    assert_int_equal(t.kind, TOKEN_ARG);
    assert_int_equal(t.index, 2);
    t = options_next(&w);
    assert_int_equal(t.kind, TOKEN_UNKNOWN);
    assert_int_equal(t.index, 3);
    t = options_next(&w);
    assert_int_equal(t.kind, TOKEN_NEEDS_VALUE);
    assert_string_equal(t.row->name, "name");
    assert_int_equal(options_next(&w).kind, TOKEN_END);
    assert_int_equal(options_next(&w).kind, TOKEN_END);
}

static void guessing(void **state) {
    (void)state;
    reset(NULL);
    struct option_set set = {0};
    option_set_add(&set, &group, &o);
    char *argv[] = {(char *)"--bogus", (char *)"--color=mauve", (char *)"-n", (char *)"x",
                    (char *)"--wait"};
    env_name = "T_GROUP";
    env_value = "g";
    options_guess(&set, ARRAY_LEN(argv), argv, fake_env, &arena);
    assert_string_equal(o.name, "x");
    assert_string_equal(o.groups[0], "g");
    assert_int_equal(o.color, 0); /* no default */
    assert_string_equal(argv[0], "--bogus");
}

static void groups_that_are_shown(void **state) {
    static const struct option hidden[] = {{.name = "a", .hidden = true}, {0}};
    static const struct option one[] = {{.name = "a", .hidden = true}, {.name = "b"}, {0}};
    (void)state;
    assert_false(option_group_shown(&(struct option_group){"None", hidden}));
    assert_true(option_group_shown(&(struct option_group){"One", one}));
    assert_true(option_group_shown(&group));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(defaults, reset),
        cmocka_unit_test_teardown(any_order, reset),
        cmocka_unit_test_teardown(ways_to_give_a_value, reset),
        cmocka_unit_test_teardown(dashes_end_the_flags, reset),
        cmocka_unit_test_teardown(booleans, reset),
        cmocka_unit_test_teardown(optional_values, reset),
        cmocka_unit_test_teardown(numbers, reset),
        cmocka_unit_test_teardown(durations, reset),
        cmocka_unit_test_teardown(words_of_an_enum, reset),
        cmocka_unit_test_teardown(lists, reset),
        cmocka_unit_test_teardown(unknown_flags, reset),
        cmocka_unit_test_teardown(missing_values, reset),
        cmocka_unit_test_teardown(what_is_said_later_stands_alone, reset),
        cmocka_unit_test_teardown(bare_flags, reset),
        cmocka_unit_test_teardown(help_stops, reset),
        cmocka_unit_test_teardown(environment, reset),
        cmocka_unit_test_teardown(parsers_of_ones_own, reset),
        cmocka_unit_test_teardown(some_texts_must_not_be_empty, reset),
        cmocka_unit_test_teardown(accepted_and_dropped, reset),
        cmocka_unit_test_teardown(walking, reset),
        cmocka_unit_test_teardown(guessing, reset),
        cmocka_unit_test(groups_that_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
