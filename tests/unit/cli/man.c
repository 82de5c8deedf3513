/* Tests of cli/man: from rows to mdoc. (tests/cli asks mandoc about the real pages.) */
#include "cli/man.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/verb.h"

static const struct option_group own = {
    "Options",
    (const struct option[]){
        {.name = "loud", .letter = 'L', .kind = OPTION_FLAG, .help = "Be loud, not --quiet"},
        {.name = "name", .kind = OPTION_STRING, .arg = "NAME", .initial = "x", .help = "A name"},
        {.name = "dry", .kind = OPTION_STRING, .arg = "HOW", .implied = "a", .help = "Dry"},
        {.name = "secret", .kind = OPTION_FLAG, .hidden = true, .help = "Not shown"},
        {0}}};
static const struct verb sample = {
    .name = "sample",
    .summary = "Show how No macro is read",
    .args = "[NODE...]",
    .text = "First sentence. Second one\nwith \\ and {prog}.\n\n  .literal\n  'too\n\nLast.",
    .examples = {{"One", "sample No 'a\"b'"}, {"Two", "sample 2"}, {"Three", "sample 3"}},
    .options = (const struct verb_options[]){{&own, 0}, {0}},
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_DONE},
    .see_also = (const char *const[]){"version", "output", "completion", NULL},
};

static void assert_has(const struct str *s, const char *piece) {
    if (!strstr(str_get(s), piece))
        fail_msg("missing: %s\nin: %s", piece, str_get(s));
}

static void a_verb(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    man_verb(&sample, &s);
    assert_has(&s, ".Dt SLIPWAY-SAMPLE 1\n.Os\n.Sh NAME\n.Nm slipway-sample\n"
                   ".Nd show how \\&No macro is read\n");
    assert_has(&s, ".Sh SYNOPSIS\n.Nm slipway sample\n.Ar [NODE...]\n.Op Ar flags\n");
    assert_has(&s, ".Sh DESCRIPTION\nFirst sentence.\nSecond one with \\e and slipway.\n");
    assert_has(&s, ".Bd -literal\n  .literal\n  'too\n.Ed\n.Pp\nLast.\n");
    assert_has(&s, ".It Fl L , Fl -loud\nBe loud, not \\-\\-quiet.\n");
    assert_has(&s, ".It Fl -name Ns = Ns Ar NAME\nA name.\nThe default is x.\n");
    assert_has(&s, ".It Fl -dry Ns Op = Ns Ar HOW\n");
    assert_has(&s, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\n");
    assert_has(&s, ".It 3\nBlocked: ");
    assert_has(&s, ".Dl slipway sample \\&No 'a\\(dqb'\n");
    assert_has(&s, ".Xr slipway 1 ,\n.Xr slipway-completion 1 ,\n.Xr slipway-version 1\n");
    assert_null(strstr(str_get(&s), "secret"));
}

static void the_program(void **state) {
    (void)state;
    _cleanup_str_ struct str s = STR_INIT;
    man_program(&s);
    for (size_t i = 0; verbs[i]; i++) {
        _cleanup_str_ struct str item = STR_INIT;
        str_addf(&item, ".It Ic %s\n", verbs[i]->name);
        assert_int_equal(!verbs[i]->hidden, strstr(str_get(&s), str_get(&item)) != NULL);
    }
    assert_has(&s, ".It Ev KUBECONFIG\n");
    assert_has(&s, ".It Ev SLIPWAY_COLOR\nThe flag\n.Fl -color .\n");
    assert_has(&s, ".Sh EXIT STATUS\n");
    assert_null(strstr(str_get(&s), "{prog}"));
}

/* Builds repeat to the byte. */
static void no_trace_of_the_day(void **state) {
    (void)state;
    _cleanup_str_ struct str a = STR_INIT, b = STR_INIT;
    man_program(&a);
    man_program(&b);
    assert_string_equal(str_get(&a), str_get(&b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verb),
        cmocka_unit_test(the_program),
        cmocka_unit_test(no_trace_of_the_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
