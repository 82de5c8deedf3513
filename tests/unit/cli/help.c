/* Tests of cli/help: from rows to text. */
#include "cli/help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/topics.h"
#include "cli/verb.h"

struct opts {
    bool loud;
    const char *name;
    int64_t wait;
};

static const char *const colors[] = {"red", "blue", NULL};
static const struct option_group own = {
    "Options",
    (const struct option[]){
        {.name = "loud", .letter = 'L', .kind = OPTION_FLAG, .help = "Be loud"},
        {.name = "name",
         .kind = OPTION_STRING,
         .offset = offsetof(struct opts, name),
         .arg = "NAME",
         .help = "A name; '{prog} help output' has more about names than anybody needs to know"},
        {.name = "colour-of-the-shed",
         .kind = OPTION_ENUM,
         .words = colors,
         .arg = "COLOUR",
         .implied = "red",
         .initial = "blue",
         .help = "The colour"},
        {.name = "secret", .kind = OPTION_FLAG, .hidden = true, .help = "Not shown"},
        {0}}};
static const struct verb sample = {
    .name = "sample",
    .summary = "Show how it is done",
    .args = "[NODE...]",
    .text = "About {prog}.\n\n  literal",
    .examples = {{"One", "sample 1"}, {"Two", "sample 2"}, {"Three", "sample 3"}},
    .options = (const struct verb_options[]){{&own, 0}, {0}},
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_DONE},
    .see_also = (const char *const[]){"version", "output", NULL},
};

static void a_verb(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    help_verb("kubectl slipway", &sample, &s);
    static const char want[] =
        "Show how it is done\n"
        "\n"
        "Examples:\n"
        "  # One\n"
        "  kubectl slipway sample 1\n"
        "  # Two\n"
        "  kubectl slipway sample 2\n"
        "  # Three\n"
        "  kubectl slipway sample 3\n"
        "\n"
        "Usage:\n"
        "  kubectl slipway sample [NODE...] [flags]\n"
        "\n"
        "About kubectl slipway.\n"
        "\n"
        "  literal\n"
        "\n"
        "Options:\n"
        "  -L, --loud                  Be loud\n"
        "      --name=NAME             A name; 'kubectl slipway help output' has more\n"
        "                              about names than anybody needs to know\n"
        "      --colour-of-the-shed[=COLOUR]\n"
        "                              The colour (default blue)\n"
        "\n"
        "General options:\n";
    assert_int_equal(strncmp(str_get(&s), want, strlen(want)), 0);
    assert_non_null(strstr(str_get(&s), "\n    3   Blocked: "));
    assert_null(strstr(str_get(&s), "\n    5   "));
    assert_null(strstr(str_get(&s), "secret"));
    assert_true(str_ends(str_get(&s), "\nSee also: 'kubectl slipway version', "
                                      "'kubectl slipway help output'\n"));
}

static void assert_tidy(const char *text) {
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        if (len > 80)
            fail_msg("too wide: %.*s", (int)len, line);
        if (len && line[len - 1] == ' ')
            fail_msg("blank at the end: %.*s", (int)len, line);
        assert_int_equal(line[len], '\n');
        line += len + 1;
    }
    assert_null(strstr(text, "\n\n\n"));
    assert_null(strstr(text, "{prog}"));
}

/* Under the longer of its names. */
static void everything_is_tidy(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden) {
            str_reset(&s);
            help_verb("kubectl slipway", verbs[i], &s);
            assert_tidy(str_get(&s));
        }
    for (size_t i = 0; i < n_topics; i++) {
        str_reset(&s);
        help_topic("kubectl slipway", &topics[i], &s);
        assert_tidy(str_get(&s));
    }
    str_reset(&s);
    help_index("kubectl slipway", &s);
    assert_tidy(str_get(&s));
}

static void overview_is_short(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    help_overview("kubectl slipway", &s);
    assert_tidy(str_get(&s));
    size_t lines = 0;
    for (const char *p = str_get(&s); (p = strchr(p, '\n')); p++)
        lines++;
    assert_in_range(lines, 6, 13);
    for (size_t i = 0; verbs[i]; i++)
        assert_int_equal(verbs[i]->common, strstr(str_get(&s), verbs[i]->summary) != NULL);
}

static void index_has_everything(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    help_index("slipway", &s);
    for (size_t i = 0; verbs[i]; i++)
        assert_int_equal(!verbs[i]->hidden, strstr(str_get(&s), verbs[i]->summary) != NULL);
    for (size_t i = 0; i < n_topics; i++)
        assert_non_null(strstr(str_get(&s), topics[i].summary));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verb),
        cmocka_unit_test(everything_is_tidy),
        cmocka_unit_test(overview_is_short),
        cmocka_unit_test(index_has_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
