/* A block of lines on a terminal that is drawn again and again in place, and lines above it that
 * stay.
 *
 *     live_init(&l, term);
 *     str_add(&l.above, "a line that stays\n");
 *     live_draw(&l, make, arg);         as often as is worth looking at
 *     live_suspend(&l);                 takes it off the screen
 *     live_done(&l);
 *
 * In the background nothing is drawn, and what shall stay is written as by any other job. The
 * cursor is hidden while there is a block, and the terminal keeps what Ctrl-C would make it throw
 * away (cli/tty.h): every way out of the program calls live_suspend() or, in a signal handler,
 * live_restore(). */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "cli/drain_line.h"
#include "cli/term.h"

struct live {
    struct term *term;
    struct str above; /* what shall stay, not yet written */
    /* its own */
    bool forced;       /* the width was said by the user */
    bool keeps, taken; /* the terminal throws nothing away; by our doing */
    bool hides;        /* the cursor */
    int typed;         /* bytes of lines that were typed */
    size_t down;       /* rows that the cursor was moved by that */
    struct str block;  /* what is on the screen, "" when nothing */
};

/* Makes the block for that screen; each line ends with a newline. */
typedef void live_fn(void *arg, const struct screen *s, struct str *out);

void live_init(struct live *l, struct term *term);
void live_done(struct live *l);

/* The screen as it is at this moment. */
struct screen live_screen(struct live *l);
/* What was typed is looked at; `above` goes out with the block, in one write. */
void live_draw(struct live *l, live_fn *make, void *arg);
/* Takes the block off the screen and gives the cursor back: before somebody else writes. The next
 * drawing brings it back. */
void live_hide(struct live *l);
/* The same, and the terminal is as it was before: before the process is stopped, or the end. */
void live_suspend(struct live *l);
/* Where the terminal may have thrown away a part of the block, that is left as it is and another
 * one drawn below. */
void live_interrupted(struct live *l);
/* A key that ends or stops us was pressed: what was typed before it is nobody's any more. Safe in a
 * signal handler. */
void live_key(struct live *l);
/* Gives the cursor and the terminal back and leaves the block, never waiting for anything. What is
 * written next begins a line below it. Safe in a signal handler; nothing may be drawn after it. */
void live_restore(const struct live *l);

#endif
