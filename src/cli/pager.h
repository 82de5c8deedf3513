/* Shows a long text through the user's pager. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stddef.h>

/* Runs `command` through the shell with the text on its standard input and waits for it. $LESS is
 * FRX unless the user has set it: quit if it fits, keep colours, leave the text on the screen.
 * Returns 0, or a negative errno when there is no such pager and nothing was shown (-ENOENT) or it
 * cannot be run; then the caller shows the text itself. That the user closes the pager early is no
 * error. Interrupts are the pager's while it runs. */
int pager_show(const char *command, const char *text, size_t len);

#endif
