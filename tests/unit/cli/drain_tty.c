/* Tests of cli/drain_tty: golden files of the block at several widths, the order and the number of
 * rows, hostile text. */
#include "cli/drain_tty.h"

#include "drain_sample.h"

#include "base/utf8.h"

#define NOW (T0 + SEC(760))

/* As after ten nodes of four minutes and a bit. */
static void learn(struct eta *e) {
    for (int i = 1; i <= 10; i++)
        eta_add(&e->nodes, SEC(250 + i));
}

static size_t draw(const struct fleet *f, const struct screen *s, struct str *out) {
    struct eta eta = {0};
    learn(&eta);
    struct drain_picture p = {
        .nodes = fleet_nodes(f), .n = f->n, .now = NOW, .started = T0, .eta = &eta};
    return drain_tty_block(&p, s, out);
}

/* Splits off a line; its width may not reach the last column. */
static bool next_line(const char **p, int columns, struct str *line) {
    if (!**p)
        return false;
    const char *end = strchr(*p, '\n');
    assert_non_null(end);
    str_reset(line);
    str_addn(line, *p, (size_t)(end - *p));
    *p = end + 1;
    if (line->len)
        assert_int_not_equal(line->p[line->len - 1], ' ');
    if ((int)utf8_width(str_get(line)) >= columns)
        fail_msg("%zu columns on a screen of %d: %s", utf8_width(str_get(line)), columns,
                 str_get(line));
    return true;
}

static void check_lines(const struct str *text, int columns, size_t lines) {
    _cleanup_str_ struct str line = STR_INIT;
    const char *p = str_get(text);
    size_t n = 0;
    while (next_line(&p, columns, &line))
        n++;
    assert_int_equal(n, lines);
}

static void golden_widths(void **state) {
    (void)state;
    static const int widths[] = {40, 80, 120, 200};
    struct fleet f;
    fleet_sample(&f, NOW);
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        struct screen s = {.columns = widths[i], .rows = 50, .utf8 = true};
        size_t lines = draw(&f, &s, &out);
        check_lines(&out, widths[i], lines);
        _cleanup_free_ char *name = xasprintf("drain-tty-%d.txt", widths[i]);
        assert_golden(name, &out);
    }
    fleet_done(&f);
}

static void golden_color(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    _cleanup_str_ struct str out = STR_INIT;
    draw(&f, &(struct screen){.columns = 120, .rows = 50, .utf8 = true, .color = true}, &out);
    assert_golden("drain-tty-120-color.txt", &out);
    /* Without its styles it is the plain one. */
    _cleanup_str_ struct str bare = STR_INIT, plain = STR_INIT;
    for (const char *p = str_get(&out); *p; p++) {
        if (*p == '\033')
            p += strcspn(p, "m");
        else
            str_addc(&bare, *p);
    }
    draw(&f, &(struct screen){.columns = 120, .rows = 50, .utf8 = true}, &plain);
    assert_string_equal(str_get(&bare), str_get(&plain));
    fleet_done(&f);
}

static void golden_ascii(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    _cleanup_str_ struct str out = STR_INIT;
    draw(&f, &(struct screen){.columns = 80, .rows = 50}, &out);
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.p[i] < 0x80);
    assert_golden("drain-tty-80-ascii.txt", &out);
    fleet_done(&f);
}

/* The block leaves four rows of the screen, whatever there is to show. */
static void small_screens(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    for (int rows = 1; rows < 40; rows++) {
        for (int columns = 1; columns < 130; columns += 7) {
            _cleanup_str_ struct str out = STR_INIT;
            struct screen s = {.columns = columns, .rows = rows, .utf8 = true};
            size_t lines = draw(&f, &s, &out);
            assert_in_range(lines, 1, rows > 5 ? (unsigned)rows - 4 : 1);
            check_lines(&out, MAX_OF(columns, 2), lines);
        }
    }
    fleet_done(&f);
}

static void golden_few_rows(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    _cleanup_str_ struct str out = STR_INIT;
    draw(&f, &(struct screen){.columns = 120, .rows = 16, .utf8 = true}, &out);
    assert_golden("drain-tty-16-rows.txt", &out);
    fleet_done(&f);
}

/* Four hundred at work: the rows that fit, and how many there are besides. */
static void many(void **state) {
    (void)state;
    struct fleet f = {0};
    for (unsigned i = 0; i < 400; i++) {
        struct drain_node *n = fleet_add(&f, arena_printf(&f.arena, "w%03u", i),
                                         i < 300   ? DRAIN_EVICTING
                                         : i < 380 ? DRAIN_WAITING
                                                   : DRAIN_DONE);
        n->started = i < 300 ? NOW - SEC(i) : 0;
    }
    _cleanup_str_ struct str out = STR_INIT;
    size_t lines = draw(&f, &(struct screen){.columns = 80, .rows = 24, .utf8 = true}, &out);
    assert_int_equal(lines, 20);
    /* The one that has been at it longest comes first. */
    assert_non_null(strstr(str_get(&out), " \u25cf w299 "));
    assert_non_null(strstr(str_get(&out), " \u2026 282 more at work, 80 waiting, 20 done\n"));
    fleet_done(&f);
}

static void one_node(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    n->started = NOW - SEC(2);
    pods_fill(&f, n, 1, 2);
    _cleanup_str_ struct str out = STR_INIT;
    struct eta eta = {0};
    struct drain_picture p = {
        .nodes = fleet_nodes(&f), .n = 1, .now = NOW, .started = NOW - SEC(2), .eta = &eta};
    drain_tty_block(&p, &(struct screen){.columns = 80, .rows = 24, .utf8 = true}, &out);
    assert_string_equal(
        str_get(&out),
        "Draining 1 of 1 \u00b7 0 done \u00b7 0 failed \u00b7 2s \u00b7 ? left\n"
        " \u25cf w1  draining      "
        "\u2588\u2588\u2588\u2588\u2588\u2591\u2591\u2591\u2591\u2591  1/2 pods     2s\n");
    fleet_done(&f);
}

static void before_the_first_look(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct eta eta = {0};
    struct drain_picture p = {.now = NOW, .started = NOW - SEC(3), .eta = &eta};
    assert_int_equal(drain_tty_block(&p, &(struct screen){.columns = 80, .rows = 24}, &out), 1);
    assert_string_equal(str_get(&out), "Reading the cluster - 3s\n");
}

static void stopping_and_dry_run(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_CHECKING);
    n->started = NOW;
    _cleanup_str_ struct str out = STR_INIT;
    struct eta eta = {0};
    struct drain_picture p = {.nodes = fleet_nodes(&f),
                              .n = 1,
                              .now = NOW,
                              .started = NOW,
                              .eta = &eta,
                              .stopping = true,
                              .dry_run = true};
    drain_tty_block(&p, &(struct screen){.columns = 80, .rows = 24}, &out);
    assert_non_null(strstr(str_get(&out), "Dry run: Draining 1 of 1 - "));
    assert_non_null(strstr(str_get(&out), " - stopping\n"));
    fleet_done(&f);
}

/* Nothing that comes from a cluster reaches the terminal as it is. */
static void hostile(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1\033[2J", DRAIN_FAILED);
    n->error = "line\nline\r\033]0;title\007 \xff\xfe \u202e";
    n = fleet_add(&f, "w2", DRAIN_EVICTING);
    n->started = NOW - SEC(100);
    pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
              (struct drain_blocker){.code = BLOCKER_ADMISSION_DENIED,
                                     .kind = "Pod",
                                     .object = "a/\033[31mb",
                                     .message = "\x9b"
                                                "2J no",
                                     .since = NOW - SEC(60)});
    for (int columns = 10; columns < 200; columns += 10) {
        _cleanup_str_ struct str out = STR_INIT;
        size_t lines =
            draw(&f, &(struct screen){.columns = columns, .rows = 24, .utf8 = true}, &out);
        check_lines(&out, columns, lines);
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.p[i] >= 0x20 || out.p[i] == '\n');
        assert_true(utf8_valid(str_get(&out), out.len));
        assert_null(strstr(str_get(&out), "\u202e"));
    }
    fleet_done(&f);
}

/* Wide letters count two columns, and one is never cut in half. */
static void wide_letters(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_FAILED);
    n->error = "\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5"
               "\u672c\u8a9e";
    for (int columns = 10; columns < 60; columns++) {
        _cleanup_str_ struct str out = STR_INIT;
        size_t lines =
            draw(&f, &(struct screen){.columns = columns, .rows = 24, .utf8 = true}, &out);
        check_lines(&out, columns, lines);
        assert_true(utf8_valid(str_get(&out), out.len));
    }
    fleet_done(&f);
}

/* --- lines that stay --- */

static void done_lines(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    _cleanup_str_ struct str out = STR_INIT;
    struct screen s = {.columns = 80, .rows = 24, .utf8 = true};
    drain_tty_done(fleet_nodes(&f) + 1, 10, &s, &out);
    drain_tty_done(fleet_nodes(&f) + 1, 1, &s, &out);
    drain_tty_done(NULL, 0, &s, &out);
    assert_string_equal(str_get(&out),
                        " \u2713 nid[000002-000011]  drained in 4m15s (median), 50 pods gone\n"
                        " \u2713 nid000002  drained in 4m11s, 5 pods gone\n");
    fleet_done(&f);
}

static void notes(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    struct drain_pod *p = pod_add(&f, n, "web", "x", DRAIN_POD_LEAVING);
    struct screen s = {.columns = 20, .rows = 24, .utf8 = true};
    static const struct {
        enum drain_note_kind kind;
        const char *quiet, *verbose; /* NULL: nothing */
    } rows[] = {
        {NOTE_CORDONED, NULL, NULL},
        {NOTE_ALREADY_CORDONED, NULL, NULL},
        {NOTE_CORDON_FAILED, NULL, NULL},
        {NOTE_PHASE, NULL, NULL},
        {NOTE_BLOCKED, NULL, NULL},
        {NOTE_UNBLOCKED, NULL, NULL},
        {NOTE_UNCORDONED, " \u2013 w1  uncordoned\n", " \u2013 w1  uncordoned\n"},
        {NOTE_WARNINGS, " ! w1  why\n", " ! w1  why\n"},
        {NOTE_POD_EVICTING, NULL, " \u2013 w1  evicting pod web/x: why\n"},
        {NOTE_POD_GONE, NULL, " \u2013 w1  pod web/x is gone\n"},
        {NOTE_POD_LATE, " ! w1  pod web/x came after the cordon: why\n",
         " ! w1  pod web/x came after the cordon: why\n"},
        {NOTE_POD_FAILED, " \u2717 w1  pod web/x: why\n", " \u2717 w1  pod web/x: why\n"},
        {NOTE_SURGE, " \u2013 w1  pod web/x: why\n", " \u2013 w1  pod web/x: why\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str quiet = STR_INIT, verbose = STR_INIT;
        struct drain_note note = {
            .kind = rows[i].kind, .time = NOW, .node = n, .pod = p, .text = "why"};
        drain_tty_note(&note, false, &s, &quiet);
        drain_tty_note(&note, true, &s, &verbose);
        assert_string_equal(str_get(&quiet), strna(rows[i].quiet));
        assert_string_equal(str_get(&verbose), strna(rows[i].verbose));
    }
    _cleanup_str_ struct str out = STR_INIT;
    drain_tty_remark(LOG_WARN, NULL, "a\nb", &(struct screen){.color = true}, &out);
    assert_string_equal(str_get(&out), " \033[33m!\033[0m  a\\nb\n");
    fleet_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_widths),
        cmocka_unit_test(golden_color),
        cmocka_unit_test(golden_ascii),
        cmocka_unit_test(small_screens),
        cmocka_unit_test(golden_few_rows),
        cmocka_unit_test(many),
        cmocka_unit_test(one_node),
        cmocka_unit_test(before_the_first_look),
        cmocka_unit_test(stopping_and_dry_run),
        cmocka_unit_test(hostile),
        cmocka_unit_test(wide_letters),
        cmocka_unit_test(done_lines),
        cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, use_utf8, NULL);
}
