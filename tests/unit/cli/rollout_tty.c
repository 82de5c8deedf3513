/* Tests of src/cli/rollout_tty.c: what the block says, in which order, and that it fits the screen.
 */
#include "cli/rollout_tty.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "support/checks.h"

#define T0 SEC(1000)

static const struct screen wide = {.columns = 100, .rows = 24};

static const struct own_blocker budget = {
    .code = "PDBNoBudget", .object = "shop/web", .message = "needs 2, has 2"};
static const struct own_blocker slots = {.code = "MaxUnavailableReached",
                                         .message = "7 nodes wait"};
static const struct own_blocker held = {.code = "ManualHold", .message = "spec.paused is true"};

static struct rollout rollout(const struct own_blocker *b) {
    return (struct rollout){.meta = {.name = "kernel", .created = T0},
                            .operation = "Reboot",
                            .phase = b == &held ? "Paused" : "Progressing",
                            .blocker = b,
                            .counts = {.total = 10, .waiting = 7, .current = 2, .complete = 1}};
}

static struct maintenance node(const char *name, const char *phase, const struct own_blocker *b) {
    return (struct maintenance){.meta = {.name = name, .created = T0},
                                .node = name,
                                .phase = phase,
                                .since = T0 + SEC(10),
                                .blocker = b};
}

static void draw(const struct rollout *r, const struct maintenance *const *nodes, size_t n,
                 const struct screen *s, struct str *out) {
    rollout_tty_block(
        &(struct rollout_picture){.rollout = r, .nodes = nodes, .n = n, .now = T0 + SEC(75)}, s,
        out);
}

static void those_that_wait_come_first(void **state) {
    (void)state;
    const struct maintenance a = node("w1", "Complete", NULL), b = node("w2", "Operating", NULL),
                             c = node("w3", "Draining", &budget), d = node("w4", "Halted", NULL);
    const struct maintenance *const all[] = {&a, &b, &c, &d};
    const struct rollout r = rollout(&slots);
    _cleanup_str_ struct str out = STR_INIT;
    draw(&r, all, 4, &wide, &out);
    assert_string_equal(str_get(&out),
                        "Reboot kernel ##.................. 1 of 10 done - 7 waiting - 1m15s\n"
                        " x  w4    Halted       1m05s\n"
                        " !  w3    Draining     1m05s  PDBNoBudget shop/web: needs 2, has 2\n"
                        " .. w2    Operating    1m05s\n");
}

static void what_holds_up_the_whole_is_said(void **state) {
    (void)state;
    const struct rollout r = rollout(&held);
    _cleanup_str_ struct str out = STR_INIT;
    draw(&r, NULL, 0, &wide, &out);
    assert_non_null(strstr(str_get(&out), "Paused: ManualHold: spec.paused is true\n"));
}

/* However many there are, and however narrow it is. */
static void it_fits(void **state) {
    (void)state;
    struct maintenance nodes[40];
    const struct maintenance *all[40];
    char names[40][300];
    for (size_t i = 0; i < 40; i++) {
        memset(names[i], 'x', sizeof names[i] - 1);
        names[i][sizeof names[i] - 1] = 0;
        nodes[i] = node(names[i], "Draining", &budget);
        all[i] = &nodes[i];
    }
    const struct rollout r = rollout(&held);
    for (int columns = 20; columns <= 200; columns += 20) {
        const struct screen s = {.columns = columns, .rows = 20, .utf8 = columns % 40 == 0};
        _cleanup_str_ struct str out = STR_INIT;
        size_t lines = 0;
        draw(&r, all, 40, &s, &out);
        for (const char *p = str_get(&out); *p; lines++) {
            const char *end = strchr(p, '\n');
            assert_non_null(end);
            _cleanup_free_ char *line = xstrndup(p, (size_t)(end - p));
            assert_true((int)utf8_width(line) < columns);
            p = end + 1;
        }
        assert_true(lines <= 16);
        assert_non_null(strstr(str_get(&out), "and 28"));
    }
}

static void what_stays(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    const struct maintenance a = node("w1", "Complete", NULL), b = node("w2", "Failed", NULL);
    rollout_tty_done(&a, &wide, &out);
    rollout_tty_done(&b, &wide, &out);
    assert_string_equal(str_get(&out), " ok w1 done after 10s\n x  w2 Failed after 10s\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_wait_come_first),
        cmocka_unit_test(what_holds_up_the_whole_is_said),
        cmocka_unit_test(it_fits),
        cmocka_unit_test(what_stays),
    };
    return cmocka_run_group_tests_name("rollout_tty", tests, NULL, NULL);
}
