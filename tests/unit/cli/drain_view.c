/* Tests of cli/drain_view: what reaches the screen, judged by a small terminal; every mode. */
#include "cli/drain_view.h"

#include "drain_sample.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- a terminal --- */

enum { ROWS = 30, COLUMNS = 60 };

/* Understands what we send and nothing else; bytes are ASCII here. The screen scrolls: what leaves
 * it at the top goes to `history`. */
struct tiny {
    char cells[ROWS][COLUMNS + 1];
    int row, column;
    bool hidden; /* the cursor */
    struct str history;
};

static void tiny_clear_line(struct tiny *t, int row, int from) {
    memset(t->cells[row] + from, ' ', (size_t)(COLUMNS - from));
}

static void tiny_init(struct tiny *t) {
    *t = (struct tiny){0};
    for (int i = 0; i < ROWS; i++)
        tiny_clear_line(t, i, 0);
}

static void add_trimmed(struct str *out, const char *line) {
    size_t n = COLUMNS;
    while (n && line[n - 1] == ' ')
        n--;
    str_addn(out, line, n);
    str_addc(out, '\n');
}

static void tiny_newline(struct tiny *t) {
    t->column = 0;
    if (++t->row < ROWS)
        return;
    add_trimmed(&t->history, t->cells[0]);
    memmove(t->cells[0], t->cells[1], sizeof t->cells[0] * (ROWS - 1));
    t->row = ROWS - 1;
    tiny_clear_line(t, t->row, 0);
}

static const char *tiny_escape(struct tiny *t, const char *p) {
    assert_int_equal(*p++, '[');
    bool private = *p == '?';
    p += private;
    long n = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (*p - '0');
    if (private) {
        assert_int_equal(n, 25);
        assert_true(*p == 'l' || *p == 'h');
        t->hidden = *p == 'l';
    } else if (*p == 'A') {
        t->row = MAX_OF(t->row - (int)n, 0);
    } else if (*p == 'K') {
        tiny_clear_line(t, t->row, t->column);
    } else if (*p == 'J') {
        tiny_clear_line(t, t->row, t->column);
        for (int i = t->row + 1; i < ROWS; i++)
            tiny_clear_line(t, i, 0);
    } else {
        /* Only the styles of cli/term.h. */
        assert_int_equal(*p, 'm');
        assert_true(n <= 2 || (n >= 31 && n <= 36));
    }
    return p + 1;
}

static void tiny_feed(struct tiny *t, const char *p) {
    while (*p) {
        char c = *p++;
        if (c == '\033') {
            p = tiny_escape(t, p);
        } else if (c == '\r') {
            t->column = 0;
        } else if (c == '\n') {
            tiny_newline(t);
        } else {
            assert_true((unsigned char)c >= 0x20 && (unsigned char)c < 0x7f);
            if (t->column == COLUMNS)
                tiny_newline(t);
            t->cells[t->row][t->column++] = c;
        }
    }
}

/* Everything that can be read, scrolled off or not, without the empty rows at the end. */
static void assert_screen(const struct tiny *t, const char *want) {
    _cleanup_str_ struct str got = STR_INIT;
    str_add(&got, str_get(&t->history));
    for (int i = 0; i < ROWS; i++)
        add_trimmed(&got, t->cells[i]);
    while (got.len > 1 && got.p[got.len - 2] == '\n')
        got.p[--got.len] = 0;
    assert_string_equal(str_get(&got), want);
}

/* --- a view that writes to it --- */

struct site {
    struct fleet f;
    struct term err, out;
    struct drain_view *v;
    struct tiny tiny;
    off_t read;
};

static void site_open(struct site *s, enum progress mode) {
    *s = (struct site){0};
    tiny_init(&s->tiny);
    int fd = memfd_create("terminal", 0);
    assert_true(fd >= 0);
    s->err =
        (struct term){.fd = fd, .tty = true, .columns = COLUMNS, .rows = ROWS, .pager = "less"};
    /* Standard output is the same terminal. */
    s->out =
        (struct term){.fd = fd, .tty = true, .columns = COLUMNS, .rows = ROWS, .pager = "less"};
    s->v = drain_view_new(&(struct drain_view_opts){.mode = mode,
                                                    .term = &s->err,
                                                    .out = &s->out,
                                                    .undo = "slipway uncordon",
                                                    .run = "r1",
                                                    .now = T0});
    assert_null(s->err.pager);
    assert_null(s->out.pager);
}

/* What was written since the last time. */
static void site_read(struct site *s, struct str *out) {
    char buf[4096];
    for (ssize_t n; (n = pread(s->err.fd, buf, sizeof buf, s->read)) > 0; s->read += n)
        str_addn(out, buf, (size_t)n);
}

static void site_show(struct site *s) {
    _cleanup_str_ struct str text = STR_INIT;
    site_read(s, &text);
    tiny_feed(&s->tiny, str_get(&text));
}

static void site_close(struct site *s) {
    drain_view_free(s->v);
    close(s->err.fd);
    str_done(&s->err.buf);
    str_done(&s->out.buf);
    str_done(&s->tiny.history);
    fleet_done(&s->f);
}

static struct drain_node *start_node(struct site *s, const char *name, unsigned pods) {
    struct drain_node *n = fleet_add(&s->f, name, DRAIN_EVICTING);
    n->started = T0;
    pods_fill(&s->f, n, 0, pods);
    return n;
}

static void end_node(struct site *s, struct drain_node *n, int64_t now) {
    n->phase = DRAIN_DONE;
    n->ended = now;
    n->gone = n->total;
    n->cordoned_by_us = true;
    for (size_t i = 0; i < n->n_pods; i++) {
        n->pods[i]->state = DRAIN_POD_GONE;
        n->pods[i]->first_try = n->started;
        n->pods[i]->gone = now;
    }
    struct drain_note note = {.kind = NOTE_PHASE, .node = n, .before = DRAIN_EVICTING, .time = now};
    drain_view_note(s->v, &note);
}

/* --- tests --- */

static void block_is_drawn_in_place(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    drain_view_tick(s.v, T0);
    site_show(&s);
    assert_screen(&s.tiny, "Reading the cluster - 0s\n");
    assert_true(s.tiny.hidden);
    struct drain_node *w1 = start_node(&s, "w1", 2), *w2 = start_node(&s, "w2", 4);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(1));
    site_show(&s);
    assert_screen(&s.tiny, "Draining 2 of 2 - 0 done - 0 failed - 1s - ? left\n"
                           " .. w1  draining      ..........  0/2 pods     1s\n"
                           " .. w2  draining      ..........  0/4 pods     1s\n");
    /* Lines become shorter. */
    w1->deadline = T0 + SEC(600);
    drain_view_tick(s.v, T0 + SEC(2));
    w1->deadline = 0;
    drain_view_tick(s.v, T0 + SEC(3));
    site_show(&s);
    assert_screen(&s.tiny, "Draining 2 of 2 - 0 done - 0 failed - 3s - ? left\n"
                           " .. w1  draining      ..........  0/2 pods     3s\n"
                           " .. w2  draining      ..........  0/4 pods     3s\n");
    /* A node that is done goes up and stays; the block becomes shorter. */
    end_node(&s, w1, T0 + SEC(5));
    drain_view_tick(s.v, T0 + SEC(5));
    site_show(&s);
    assert_screen(&s.tiny, " ok w1  drained in 5s, 2 pods gone\n"
                           "Draining 1 of 2 - 1 done - 0 failed - 5s - ? left\n"
                           " .. w2  draining      ..........  0/4 pods     5s\n");
    end_node(&s, w2, T0 + SEC(9));
    drain_view_end(s.v, 0, T0 + SEC(9));
    site_show(&s);
    assert_screen(&s.tiny, " ok w1  drained in 5s, 2 pods gone\n"
                           "Drained 2 nodes in 9s: 6 pods evicted\n"
                           " ok w[1-2]  drained in 7s (median)\n"
                           "To put the nodes back into service:  slipway uncordon 'w[1-2\n"
                           "]'\n");
    assert_false(s.tiny.hidden);
    /* Nothing after the end. */
    drain_view_tick(s.v, T0 + SEC(10));
    drain_view_end(s.v, 0, T0 + SEC(10));
    _cleanup_str_ struct str more = STR_INIT;
    site_read(&s, &more);
    assert_int_equal(more.len, 0);
    site_close(&s);
}

/* The same picture is not sent again, and nobody gets more than ten a second. */
static void sparing(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    start_node(&s, "w1", 2);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    _cleanup_str_ struct str text = STR_INIT;
    drain_view_tick(s.v, T0 + SEC(1));
    site_read(&s, &text);
    size_t first = text.len;
    assert_true(first > 0);
    drain_view_tick(s.v, T0 + SEC(1) + MSEC(500));
    site_read(&s, &text);
    assert_int_equal(text.len, first);
    s.f.nodes[0]->gone = 1;
    drain_view_tick(s.v, T0 + SEC(1) + MSEC(550)); /* too soon */
    site_read(&s, &text);
    assert_int_equal(text.len, first);
    drain_view_tick(s.v, T0 + SEC(1) + MSEC(600));
    site_read(&s, &text);
    assert_true(text.len > first);
    assert_int_equal(drain_view_interval(s.v), MSEC(100));
    site_close(&s);
}

/* Standard output shares the screen: its lines come in order and destroy nothing. */
static void beside(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    start_node(&s, "w1", 2);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(1));
    term_printf(&s.out, "node/w1 cordoned\nevicting pod web/p-00\n");
    drain_view_remark(s.v, LOG_WARN, "something is odd", T0 + SEC(2));
    drain_view_tick(s.v, T0 + SEC(2));
    site_show(&s);
    assert_screen(&s.tiny, "node/w1 cordoned\n"
                           "evicting pod web/p-00\n"
                           " !  something is odd\n"
                           "Draining 1 of 1 - 0 done - 0 failed - 2s - ? left\n"
                           " .. w1  draining      ..........  0/2 pods     2s\n");
    site_close(&s);
}

/* Standard output is a file: the block is left alone. */
static void not_beside(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    s.out.tty = false;
    start_node(&s, "w1", 2);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(1));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    str_reset(&text);
    term_printf(&s.out, "line\n");
    drain_view_tick(s.v, T0 + SEC(1));
    site_read(&s, &text);
    assert_string_equal(str_get(&text), "line\n");
    site_close(&s);
}

/* Before somebody else writes, or the process stops: as if nothing had been there. */
static void hiding(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    start_node(&s, "w1", 2);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(1));
    drain_view_hide(s.v);
    drain_view_hide(s.v);
    site_show(&s);
    assert_screen(&s.tiny, "\n");
    assert_false(s.tiny.hidden);
    tiny_feed(&s.tiny, "$ fg\n");
    drain_view_tick(s.v, T0 + SEC(2));
    site_show(&s);
    assert_screen(&s.tiny, "$ fg\n"
                           "Draining 1 of 1 - 0 done - 0 failed - 2s - ? left\n"
                           " .. w1  draining      ..........  0/2 pods     2s\n");
    assert_true(s.tiny.hidden);
    /* A way out that forgets it all. */
    drain_view_restore(s.v);
    site_show(&s);
    assert_false(s.tiny.hidden);
    site_close(&s);
}

/* More than the screen holds: the block stays whole at its end, history scrolls. */
static void scrolling(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    for (unsigned i = 0; i < 60; i++)
        start_node(&s, arena_printf(&s.f.arena, "w%02u", i), 1);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    for (unsigned i = 0; i < 59; i++) {
        drain_view_tick(s.v, T0 + SEC(i));
        end_node(&s, s.f.nodes[i], T0 + SEC(i));
        site_show(&s);
    }
    drain_view_tick(s.v, T0 + SEC(60));
    site_show(&s);
    _cleanup_str_ struct str want = STR_INIT;
    for (unsigned i = 0; i < 59; i++)
        str_addf(&want, " ok w%02u  drained in %us, 1 pod gone\n", i, i);
    str_add(&want, "Draining 1 of 60 - 59 done - 0 failed - 1m00s - almost done\n"
                   " .. w59  draining      ..........  0/1 pod      1m00s\n");
    assert_screen(&s.tiny, str_get(&want));
    site_close(&s);
}

static void stopping(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    start_node(&s, "w1", 2);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(1));
    drain_view_stopping(s.v);
    drain_view_tick(s.v, T0 + SEC(1)); /* at once */
    site_show(&s);
    assert_screen(&s.tiny, "Draining 1 of 1 - 0 done - 0 failed - 1s - stopping\n"
                           " .. w1  draining      ..........  0/2 pods     1s\n");
    site_close(&s);
}

/* --- a real terminal --- */

struct pty {
    int master, slave;
};

static void pty_open(struct pty *p, unsigned short columns) {
    p->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(p->master >= 0 && grantpt(p->master) == 0 && unlockpt(p->master) == 0);
    p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY);
    assert_true(p->slave >= 0);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(p->slave, TIOCSWINSZ, &size), 0);
}

/* What was written by now. */
static void pty_read(struct pty *p, struct str *out) {
    char buf[4096];
    str_reset(out);
    for (ssize_t n; (n = read(p->master, buf, sizeof buf)) > 0;)
        str_addn(out, buf, (size_t)n);
    assert_true(out->len > 0);
}

static void pty_close(struct pty *p) {
    close(p->slave);
    close(p->master);
}

static void one_busy_node(struct fleet *f) {
    struct drain_node *n = fleet_add(f, "w1", DRAIN_EVICTING);
    n->started = T0;
    pods_fill(f, n, 0, 2);
}

/* A terminal that may have thrown a part of the block away: here it is nobody's, so that its
 * settings are left alone. What is there is not gone over again. */
static void what_may_be_lost_is_left(void **state) {
    (void)state;
    struct pty p;
    struct fleet f = {0};
    _cleanup_str_ struct str text = STR_INIT;
    pty_open(&p, 60);
    one_busy_node(&f);
    struct term t = {.fd = p.slave, .tty = true, .columns = 60, .rows = 24};
    struct drain_view *v = drain_view_new(&(struct drain_view_opts){
        .mode = PROGRESS_TTY, .term = &t, .undo = "slipway uncordon", .now = T0});
    drain_view_nodes(v, fleet_nodes(&f), f.n, T0);
    drain_view_tick(v, T0 + SEC(1));
    pty_read(&p, &text);
    drain_view_stopping(v);
    drain_view_tick(v, T0 + SEC(1));
    pty_read(&p, &text);
    assert_null(strstr(str_get(&text), "A"));
    assert_non_null(strstr(str_get(&text), "\r\nDraining 1 of 1"));
    /* From here on there is a block again. */
    drain_view_tick(v, T0 + SEC(2));
    pty_read(&p, &text);
    assert_true(str_starts(str_get(&text), "\r\033[2A"));
    drain_view_free(v);
    str_done(&t.buf);
    fleet_done(&f);
    pty_close(&p);
}

/* A terminal that becomes narrower breaks the lines that are there; all of them are replaced. */
static void resizing(void **state) {
    (void)state;
    struct pty p;
    struct fleet f = {0};
    _cleanup_str_ struct str text = STR_INIT;
    pty_open(&p, 60);
    one_busy_node(&f);
    struct term t = {.fd = p.slave, .tty = true, .columns = 60, .rows = 24};
    struct drain_view *v = drain_view_new(&(struct drain_view_opts){
        .mode = PROGRESS_TTY, .term = &t, .undo = "slipway uncordon", .now = T0});
    drain_view_nodes(v, fleet_nodes(&f), f.n, T0);
    drain_view_tick(v, T0 + SEC(1));
    pty_read(&p, &text);
    struct winsize size = {.ws_row = 40, .ws_col = 20};
    assert_int_equal(ioctl(p.slave, TIOCSWINSZ, &size), 0);
    drain_view_resize(v);
    assert_int_equal(t.columns, 20);
    assert_int_equal(t.rows, 40);
    drain_view_tick(v, T0 + SEC(1)); /* at once */
    pty_read(&p, &text);
    /* 49 and 48 columns of text were two lines and are six now. */
    assert_true(str_starts(str_get(&text), "\r\033[6A"));
    assert_non_null(strstr(str_get(&text), "Draining 1 of 1 ..."));
    drain_view_free(v);
    /* A width that the user has said stays. */
    t.columns = 50;
    v = drain_view_new(&(struct drain_view_opts){
        .mode = PROGRESS_TTY, .term = &t, .undo = "slipway uncordon", .now = T0});
    drain_view_resize(v);
    assert_int_equal(t.columns, 50);
    drain_view_free(v);
    str_done(&t.buf);
    pty_close(&p);
    fleet_done(&f);
}

/* Both streams are the same terminal: one write, and the block is never away. */
static void in_one_piece(void **state) {
    (void)state;
    struct pty p;
    struct fleet f = {0};
    _cleanup_str_ struct str text = STR_INIT;
    pty_open(&p, 60);
    one_busy_node(&f);
    struct term err = {.fd = p.slave, .tty = true, .columns = 60, .rows = 24};
    struct term out = {.fd = dup(p.slave), .tty = true, .columns = 60, .rows = 24};
    struct drain_view *v = drain_view_new(&(struct drain_view_opts){
        .mode = PROGRESS_TTY, .term = &err, .out = &out, .undo = "slipway uncordon", .now = T0});
    drain_view_nodes(v, fleet_nodes(&f), f.n, T0);
    drain_view_tick(v, T0 + SEC(1));
    pty_read(&p, &text);
    term_printf(&out, "node/w1 cordoned\n");
    drain_view_remark(v, LOG_WARN, "odd", T0 + SEC(1));
    drain_view_tick(v, T0 + SEC(2));
    pty_read(&p, &text);
    assert_true(str_starts(str_get(&text), "\r\033[2A\033[Jnode/w1 cordoned\r\n !  odd\r\n"
                                           "Draining 1 of 1 "));
    assert_null(strstr(str_get(&text), "\033[?25"));
    /* What is left at the end comes before the summary. */
    term_printf(&out, "node/w1 drained\n");
    drain_view_end(v, 0, T0 + SEC(3));
    pty_read(&p, &text);
    assert_true(str_starts(str_get(&text), "\r\033[2A\033[J\033[?25hnode/w1 drained\r\n"
                                           "Drained 0 of 1 node "));
    drain_view_free(v);
    str_done(&err.buf);
    str_done(&out.buf);
    close(out.fd);
    pty_close(&p);
    fleet_done(&f);
}

/* --- the other modes --- */

static void plain(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_PLAIN);
    struct drain_node *n = start_node(&s, "w1", 1);
    drain_view_tick(s.v, T0);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_remark(s.v, LOG_WARN, "odd", T0 + SEC(1));
    pod_block(n, n->pods[0], PDB_BLOCKER(T0, 1));
    drain_view_tick(s.v, T0 + SEC(2));
    n->pods[0]->blocked = false;
    n->blocked_pods = 0;
    end_node(&s, n, T0 + SEC(3));
    drain_view_end(s.v, 0, T0 + SEC(3));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    assert_string_equal(
        str_get(&text),
        "2026-11-15T08:00:01Z warn - - odd\n"
        "2026-11-15T08:00:02Z warn w1 draining waits: PDBNoBudget web/frontend: needs 3 healthy "
        "pods, has 2 of 3; 1 pod, 1 try; wait until its pods are healthy again, or look at why "
        "they are not\n"
        "2026-11-15T08:00:03Z info w1 drained done in 3s, 1 pod gone\n"
        "Drained 1 node in 3s: 1 pod evicted\n"
        " ok w1  drained in 3s\n"
        "To put the node back into service:  slipway uncordon w1\n");
    assert_int_equal(drain_view_interval(s.v), MSEC(500));
    site_close(&s);
}

/* A node that was uncordoned again needs no command for it. */
static void uncordoned(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_PLAIN);
    struct drain_node *n = start_node(&s, "w1", 0);
    n->cordoned_by_us = true;
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    n->phase = DRAIN_STOPPED;
    struct drain_note note = {.kind = NOTE_UNCORDONED, .node = n, .time = T0};
    drain_view_note(s.v, &note);
    drain_view_end(s.v, 130, T0 + SEC(3));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    assert_string_equal(str_get(&text), "2026-11-15T08:00:00Z info w1 stopped uncordoned\n"
                                        "Drained 0 of 1 node in 3s\n"
                                        " -  w1  stopped\n"
                                        "To go on, run the same command again.\n");
    site_close(&s);
}

/* The stream has its first and its last line whatever happens in between. */
static void json(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_JSON);
    drain_view_tick(s.v, T0 + SEC(1));
    drain_view_remark(s.v, LOG_ERROR, "no \"connection\"", T0 + SEC(1));
    drain_view_end(s.v, 4, T0 + SEC(2));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    static const char *const begins[] = {
        "{\"type\":\"hello\",\"seq\":1,\"ts\":\"2026-11-15T08:00:00.000000Z\",\"run\":\"r1\","
        "\"schema\":\"slipway.events/1.0\",",
        "{\"type\":\"log\",\"seq\":2,\"ts\":\"2026-11-15T08:00:01.000000Z\",\"run\":\"r1\","
        "\"level\":\"error\",\"msg\":\"no \\\"connection\\\"\"}\n",
        "{\"type\":\"summary\",\"seq\":3,\"ts\":\"2026-11-15T08:00:02.000000Z\",\"run\":\"r1\","
        "\"exit\":4,\"result\":\"access\","};
    const char *p = str_get(&text);
    for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
        if (strncmp(p, begins[i], strlen(begins[i])) != 0)
            fail_msg("%s", p);
        p += strcspn(p, "\n") + 1;
    }
    assert_string_equal(p, "");
    site_close(&s);
}

/* What was done beyond an eviction is an event, and told to people as well. */
static void json_escalation(void **state) {
    (void)state;
    char buf[256];
    struct term out = {.fd = memfd_create("out", 0)}, err = {.fd = memfd_create("err", 0)};
    struct drain_view *v = drain_view_new(&(struct drain_view_opts){.mode = PROGRESS_JSON,
                                                                    .term = &out,
                                                                    .err = &err,
                                                                    .undo = "slipway uncordon",
                                                                    .run = "r",
                                                                    .now = T0});
    struct drain_node n = {.name = "w1"};
    struct drain_pod p = {.ns = "web", .name = "a"};
    drain_view_note(v, &(struct drain_note){.kind = NOTE_POD_LATE, .node = &n, .pod = &p});
    drain_view_note(
        v, &(struct drain_note){.kind = NOTE_ESCALATED, .node = &n, .pod = &p, .text = "forced"});
    drain_view_error(v, "no way");
    drain_view_end(v, 1, T0);
    drain_view_free(v);
    ssize_t len = pread(err.fd, buf, sizeof buf - 1, 0);
    assert_true(len >= 0);
    buf[len] = '\0';
    assert_string_equal(buf, "warning: pod web/a: forced\n");
    _cleanup_str_ struct str text = STR_INIT;
    for (off_t at = 0; (len = pread(out.fd, buf, sizeof buf, at)) > 0; at += len)
        str_addn(&text, buf, (size_t)len);
    assert_non_null(strstr(str_get(&text), "\"event\":\"escalated\""));
    assert_non_null(strstr(str_get(&text), "\"result\":\"failed\",\"error\":\"no way\","));
    str_done(&out.buf);
    str_done(&err.buf);
    close(out.fd);
    close(err.fd);
}

static void json_nodes_and_life(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_JSON);
    struct drain_node *n = start_node(&s, "w1", 1);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_tick(s.v, T0 + SEC(599));
    drain_view_tick(s.v, T0 + SEC(600));
    drain_view_tick(s.v, T0 + SEC(601));
    end_node(&s, n, T0 + SEC(602));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    const char *p = strstr(str_get(&text), "\"event\":\"state\",\"node\":\"w1\"");
    assert_non_null(p);
    p = strstr(
        p, "\"msg\":\"1 of 1 draining, 0 done, 0 failed, 10m00s, ? left\"}\n{\"type\":\"node\"");
    assert_non_null(p);
    assert_non_null(strstr(p, "\"phase\":\"drained\",\"prev\":\"draining\""));
    site_close(&s);
}

static void quiet(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_QUIET);
    struct drain_node *n = start_node(&s, "w1", 1), *bad = start_node(&s, "w2", 1);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    drain_view_remark(s.v, LOG_WARN, "odd", T0);
    drain_view_tick(s.v, T0 + SEC(1000));
    end_node(&s, n, T0 + SEC(3));
    bad->error = "E\033";
    struct drain_note note = {.kind = NOTE_CORDON_FAILED, .node = bad, .text = "E"};
    drain_view_note(s.v, &note);
    bad->phase = DRAIN_FAILED;
    note.kind = NOTE_PHASE;
    drain_view_note(s.v, &note);
    drain_view_remark(s.v, LOG_ERROR, "really", T0);
    drain_view_end(s.v, 1, T0 + SEC(3));
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    assert_string_equal(str_get(&text),
                        "error: node/w2: E\\x1b\n     1 pod whose turn had not come\n"
                        "error: really\n");
    site_close(&s);
}

/* Whatever is left out, which pods are left and why is not. */
static void quiet_names_the_pods_that_are_left(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_QUIET);
    struct drain_pod held = {.ns = "web",
                             .name = "a\033",
                             .state = DRAIN_POD_BLOCKED,
                             .blocked = true,
                             .blocker = {.code = BLOCKER_PDB_NO_BUDGET,
                                         .object = "web/front",
                                         .message = "needs 1 healthy, has 1",
                                         .since = T0}};
    struct drain_pod gone = {.ns = "web", .name = "b", .state = DRAIN_POD_GONE};
    struct drain_pod *pods[] = {&held, &gone};
    struct drain_node n = {.name = "w1", .error = "too late", .pods = pods, .n_pods = 2};
    struct drain_note note = {.kind = NOTE_PHASE, .node = &n, .time = T0 + SEC(60)};
    n.phase = DRAIN_TIMED_OUT;
    drain_view_note(s.v, &note);
    n.phase = DRAIN_REFUSED; /* its error names them */
    drain_view_note(s.v, &note);
    note = (struct drain_note){.kind = NOTE_ESCALATED, .node = &n, .pod = &held, .text = "forced"};
    drain_view_note(s.v, &note);
    _cleanup_str_ struct str text = STR_INIT;
    site_read(&s, &text);
    assert_string_equal(
        str_get(&text),
        "error: node/w1: too late\n"
        "     web/a\\x1b: PDBNoBudget web/front: needs 1 healthy, has 1, for 1m00s\n"
        "       -> wait until its pods are healthy again, or look at why they are "
        "not\n"
        "error: node/w1: too late\n"
        "warning: pod web/a\\x1b: forced\n");
    site_close(&s);
}

/* Interrupted before anything was known: no summary of nothing. */
static void nothing_known(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    drain_view_tick(s.v, T0 + SEC(1));
    drain_view_remark(s.v, LOG_ERROR, "bad", T0 + SEC(1));
    drain_view_end(s.v, 130, T0 + SEC(2));
    site_show(&s);
    assert_screen(&s.tiny, " x  bad\n");
    assert_false(s.tiny.hidden);
    site_close(&s);
}

/* --- which one --- */

static const char *fake_term, *fake_ci;

static char *fake_env(const char *name) {
    const char *value = streq(name, "TERM") ? fake_term : streq(name, "CI") ? fake_ci : NULL;
    return (char *)value;
}

static void choosing(void **state) {
    (void)state;
    static const struct {
        enum progress wanted;
        bool tty, quiet;
        int verbose;
        const char *term, *ci;
        enum progress want;
    } rows[] = {
        {PROGRESS_AUTO, true, false, 0, "xterm", NULL, PROGRESS_TTY},
        {PROGRESS_AUTO, true, false, 0, NULL, "", PROGRESS_TTY},
        {PROGRESS_AUTO, true, false, 3, "xterm", NULL, PROGRESS_TTY},
        {PROGRESS_AUTO, true, false, 4, "xterm", NULL, PROGRESS_PLAIN},
        {PROGRESS_AUTO, true, false, 0, "dumb", NULL, PROGRESS_PLAIN},
        {PROGRESS_AUTO, true, false, 0, "xterm", "true", PROGRESS_PLAIN},
        {PROGRESS_AUTO, false, false, 0, "xterm", NULL, PROGRESS_PLAIN},
        {PROGRESS_AUTO, true, true, 0, "xterm", NULL, PROGRESS_QUIET},
        {PROGRESS_PLAIN, true, true, 0, "xterm", NULL, PROGRESS_PLAIN},
        {PROGRESS_TTY, false, false, 9, "dumb", "1", PROGRESS_TTY},
        {PROGRESS_JSON, true, true, 0, "xterm", NULL, PROGRESS_JSON},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct term t = {.tty = rows[i].tty};
        fake_term = rows[i].term;
        fake_ci = rows[i].ci;
        assert_int_equal(
            progress_choose(rows[i].wanted, &t, rows[i].quiet, rows[i].verbose, fake_env),
            rows[i].want);
    }
    assert_string_equal(progress_words[PROGRESS_QUIET], "quiet");
    assert_null(progress_words[PROGRESS_QUIET + 1]);
}

/* A drain of a large fleet is looked at less often. */
static void large(void **state) {
    (void)state;
    struct site s;
    site_open(&s, PROGRESS_TTY);
    struct drain_node *n = start_node(&s, "w1", 1);
    drain_view_nodes(s.v, fleet_nodes(&s.f), s.f.n, T0);
    n->n_pods = 20001; /* only counted here */
    assert_int_equal(drain_view_interval(s.v), SEC(1));
    n->n_pods = 100001;
    assert_int_equal(drain_view_interval(s.v), SEC(5));
    n->phase = DRAIN_DONE;
    assert_int_equal(drain_view_interval(s.v), MSEC(100));
    drain_view_free(NULL);
    site_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_is_drawn_in_place),
        cmocka_unit_test(sparing),
        cmocka_unit_test(beside),
        cmocka_unit_test(not_beside),
        cmocka_unit_test(hiding),
        cmocka_unit_test(scrolling),
        cmocka_unit_test(stopping),
        cmocka_unit_test(what_may_be_lost_is_left),
        cmocka_unit_test(resizing),
        cmocka_unit_test(in_one_piece),
        cmocka_unit_test(plain),
        cmocka_unit_test(uncordoned),
        cmocka_unit_test(json),
        cmocka_unit_test(json_escalation),
        cmocka_unit_test(json_nodes_and_life),
        cmocka_unit_test(quiet),
        cmocka_unit_test(quiet_names_the_pods_that_are_left),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(choosing),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
