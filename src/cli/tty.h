/* What a program that draws on a terminal, and may be ended there by a key, asks of it beyond text.
 *
 * Ctrl-C makes the terminal throw away what it was sent and has not shown yet. Whoever counts the
 * lines of a block and goes back over them would then go back too far, over lines that are not its
 * own; and what was thrown away is lost. NOFLSH prevents both. It is a setting of the terminal, not
 * of a process: it is changed only in the foreground (in the background the attempt would stop us,
 * and the terminal is somebody else's), that bit alone, and must be given back.
 *
 * All of these are safe in a signal handler, take what is no terminal and leave errno as it was. */
#ifndef CLI_TTY_H
#define CLI_TTY_H

#include <stdbool.h>
#include <stddef.h>

enum tty_keep {
    TTY_LOSES, /* what is not shown yet may be thrown away */
    TTY_KEEPS, /* it is not: the setting was so, or this is no terminal */
    TTY_TAKEN, /* it is not from now on: tty_keep_no_more() is due */
};
/* To be called before each drawing: others change the setting, too (fg in a shell). */
enum tty_keep tty_keep_output(int fd);
void tty_keep_no_more(int fd);
/* Our terminal, and somebody else has it at the moment: a shell, after "&" or bg. */
bool tty_in_background(int fd);
/* What was typed and not read: Ctrl-C forgets that as well, which NOFLSH prevents. */
void tty_drop_input(int fd);

/* How many bytes of whole lines were typed and not read by anybody; 0 in the background. Each has
 * moved the cursor down a line, for the terminal shows what is typed. */
int tty_typed(int fd);

/* Writes as much as goes without waiting for a reader. */
void tty_write_now(int fd, const char *p, size_t len);

#endif
