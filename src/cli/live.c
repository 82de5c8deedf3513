/* A block of lines on a terminal that is drawn again and again. */
#include "cli/live.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/mem.h"
#include "cli/tty.h"

#define CURSOR_HIDE "\033[?25l"
#define CURSOR_SHOW "\033[?25h"
#define ERASE_BELOW "\033[J"
#define ERASE_LINE  "\033[K"

/* What the terminal itself says; false when it says nothing. */
static bool window(const struct term *t, struct winsize *size) {
    *size = (struct winsize){0};
    return ioctl(t->fd, TIOCGWINSZ, size) == 0 && size->ws_col && size->ws_row;
}

void live_init(struct live *l, struct term *term) {
    struct winsize size;
    *l = (struct live){.term = term, .above = STR_INIT, .block = STR_INIT};
    l->forced = !window(term, &size) || size.ws_col != term->columns;
}

void live_done(struct live *l) {
    live_suspend(l);
    str_done(&l->block);
    str_done(&l->above);
}

/* The size as it is at this moment: the signal that tells of another one may come after the next
 * drawing, which would then go back over lines that are not the block's. True when it has changed.
 */
static bool sync_size(struct live *l) {
    struct winsize size;
    struct term *t = l->term;
    if (!window(t, &size))
        return false;
    int columns = l->forced ? t->columns : size.ws_col;
    bool other = t->columns != columns || t->rows != size.ws_row;
    t->columns = columns;
    t->rows = size.ws_row;
    return other;
}

struct screen live_screen(struct live *l) {
    sync_size(l);
    return (struct screen){l->term->columns, l->term->rows, l->term->color, l->term->utf8};
}

/* Somebody presses Enter to see whether it is alive, and the cursor is a line further down. What
 * was typed cannot be looked at; but nobody presses it twice between two drawings. */
static void sync_typed(struct live *l) {
    int typed = tty_typed(l->term->fd);
    if (typed > l->typed && l->block.len)
        l->down++;
    l->typed = typed;
}

/* To the first column of the block. */
static void to_top(struct live *l, struct str *out) {
    size_t rows = line_rows(str_get(&l->block), l->term->columns) + l->down;
    l->down = 0;
    /* What has scrolled off the top of the screen cannot be reached. */
    if (l->term->rows > 0)
        rows = MIN_OF(rows, (size_t)l->term->rows);
    str_addc(out, '\r');
    if (rows)
        str_addf(out, "\033[%zuA", rows);
}

/* In the background there is a prompt where the block would be, and somebody types: only what shall
 * stay is written, as by any other job. */
static void write_beside(struct live *l) {
    struct term *t = l->term;
    if (l->block.len)
        str_add(&t->buf, CURSOR_SHOW);
    str_reset(&l->block);
    l->down = 0;
    str_add(&t->buf, str_get(&l->above));
    str_reset(&l->above);
    term_flush(t);
    l->hides = false;
}

/* One write: what is under way is never seen. Lines are written over the old ones and their ends
 * erased, so that nothing flickers. */
static void write_block(struct live *l, const struct str *block) {
    struct term *t = l->term;
    if (l->block.len)
        to_top(l, &t->buf);
    else
        str_add(&t->buf, CURSOR_HIDE);
    if (l->above.len) {
        /* Its lines may be of any length. */
        str_add(&t->buf, ERASE_BELOW);
        str_add(&t->buf, str_get(&l->above));
    }
    for (const char *p = str_get(block); *p;) {
        size_t len = strcspn(p, "\n");
        str_addn(&t->buf, p, len);
        str_add(&t->buf, ERASE_LINE "\n");
        p += len + (p[len] == '\n');
    }
    str_add(&t->buf, ERASE_BELOW);
    str_reset(&l->above);
    str_reset(&l->block);
    str_add(&l->block, str_get(block));
    term_flush(t);
}

void live_draw(struct live *l, live_fn *make, void *arg) {
    struct screen s = live_screen(l);
    sync_typed(l);
    if (tty_in_background(l->term->fd)) {
        write_beside(l);
        return;
    }
    _cleanup_str_ struct str block = STR_INIT;
    make(arg, &s, &block);
    if (sync_size(l)) {
        s = live_screen(l);
        str_reset(&block);
        make(arg, &s, &block);
    }
    if (!l->above.len && !l->down && l->block.len && streq(str_get(&block), str_get(&l->block)))
        return;
    enum tty_keep keep = tty_keep_output(l->term->fd);
    l->keeps = keep != TTY_LOSES;
    l->taken |= keep == TTY_TAKEN;
    l->hides = true;
    write_block(l, &block);
}

void live_hide(struct live *l) {
    if (!l->block.len)
        return;
    sync_size(l);
    sync_typed(l);
    to_top(l, &l->term->buf);
    str_add(&l->term->buf, ERASE_BELOW CURSOR_SHOW);
    str_reset(&l->block);
    term_flush(l->term);
    l->hides = false;
}

void live_suspend(struct live *l) {
    live_hide(l);
    if (l->taken)
        tty_keep_no_more(l->term->fd);
    l->taken = false;
}

void live_interrupted(struct live *l) {
    if (!l->block.len || l->keeps)
        return;
    str_reset(&l->block);
    l->down = 0;
    str_addc(&l->above, '\n'); /* wherever the cursor is */
}

void live_key(struct live *l) {
    if (!l->taken)
        return;
    sync_typed(l);
    tty_drop_input(l->term->fd);
    l->typed = 0;
}

void live_restore(const struct live *l) {
    static const char give[] = "\r" ERASE_BELOW CURSOR_SHOW;
    if (l->hides)
        tty_write_now(l->term->fd, give, sizeof give - 1);
    if (l->taken)
        tty_keep_no_more(l->term->fd);
}
