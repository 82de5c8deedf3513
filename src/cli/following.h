/* Follows a Maintenance or a Rollout until it is over: a line on standard error for each change of
 * what it does or waits for. Reading alone: whoever stops looking stops nothing. */
#ifndef CLI_FOLLOWING_H
#define CLI_FOLLOWING_H

#include "cli/session.h"
#include "model/own.h"

/* "w1 Draining: PDBNoBudget shop/web: needs 2, has 2", without a newline. */
void following_maintenance(const struct maintenance *m, struct str *out);
/* "kernel Progressing: 1 of 3 nodes done, 1 under way, 1 waiting: ..." */
void following_rollout(const struct rollout *r, struct str *out);

/* The exit code with which it is over, or stands still until somebody helps; -1: it goes on. */
int following_code(const struct kind *kind, const struct object *obj);

/* The object that was just made. Says how it ended; the exit code. */
int following_run(struct session *s, const struct kind *kind, const char *name);

#endif
