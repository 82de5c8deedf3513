/* Tests of src/cli/selected.c: which nodes a selector takes, and what is said of the others. */
#include "cli/selected.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/make.h"

enum { NODES = 4 };

/* cp1 and cp2 are of the control plane, old1 as well, in the words of old; w1 is not. */
static const char *const names[NODES] = {"cp1", "cp2", "old1", "w1"};

/* The names of those that are taken, and what is said. */
static void take(const char *selector, bool include, bool quiet, struct str *taken,
                 struct str *said) {
    int fd[2];
    char text[256];
    static const char *const labels[NODES][2] = {{"node-role.kubernetes.io/control-plane", ""},
                                                 {"node-role.kubernetes.io/control-plane", "true"},
                                                 {"node-role.kubernetes.io/master", ""},
                                                 {"node-role.kubernetes.io/worker", ""}};
    struct selected s;
    struct pool *pool = pool_new(type_drop);
    assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
    struct cli cli = {.prog = "slipway", .env = getenv, .err = {.fd = fd[1]}};
    cli.general.quiet = quiet;
    selected_init(&s, selector, include);
    for (size_t i = 0; i < NODES; i++) {
        struct node node = {
            .meta = {.name = names[i], .labels = make_map(pool, labels[i][0], labels[i][1], NULL)}};
        if (selected_takes(&s, &node))
            str_addf(taken, "%s%s", taken->len ? " " : "", names[i]);
        pool_unref(pool, node.meta.labels);
    }
    selected_end(&s, &cli);
    ssize_t n = read(fd[0], text, sizeof text);
    str_addn(said, text, n > 0 ? (size_t)n : 0);
    str_done(&cli.err.buf);
    arena_done(&cli.arena);
    pool_free(pool);
    close(fd[0]);
    close(fd[1]);
}

#define ROLE "node-role.kubernetes.io/control-plane"
#define SAID "cp[1-2],old1 are left out, being of the control plane: --include-control-plane\n"

static void the_control_plane_is_taken_by_who_asks_for_it(void **state) {
    static const struct {
        const char *selector;
        bool include, all;
    } cases[] = {
        {"zone=a", false, false}, {"zone=a", true, true},
        {NULL, false, false},     {"!!", false, false},
        {ROLE, false, true},      {ROLE "=,zone=a", false, true},
        {"", false, false},       {"zone=control", false, false},
        {ROLE "x", false, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str taken = STR_INIT, said = STR_INIT;
        take(cases[i].selector, cases[i].include, false, &taken, &said);
        assert_string_equal(str_get(&taken), cases[i].all ? "cp1 cp2 old1 w1" : "w1");
        assert_string_equal(str_get(&said), cases[i].all ? "" : SAID);
    }
}

static void quietly(void **state) {
    _cleanup_str_ struct str taken = STR_INIT, said = STR_INIT;
    (void)state;
    take("zone=a", false, true, &taken, &said);
    assert_string_equal(str_get(&taken), "w1");
    assert_string_equal(str_get(&said), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_control_plane_is_taken_by_who_asks_for_it),
        cmocka_unit_test(quietly),
    };
    return cmocka_run_group_tests_name("cli/selected", tests, NULL, NULL);
}
