/* A question that somebody on a terminal answers with yes or no. */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "cli/cli.h"

/* Whether there is somebody to ask: keys and screen are both a terminal. */
bool question_possible(const struct cli *cli);

/* "TEXT [y/N] " on standard error, and a line from `fd`. True for y and yes; everything else, the
 * end of input too, is no. */
bool question_ask(struct cli *cli, int fd, const char *text);

#endif
