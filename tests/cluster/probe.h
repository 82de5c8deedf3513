/* The probe: a program for tests that shows what the Kubernetes client sees and does, as JSON on
 * standard output. One file per group of commands. */
#ifndef PROBE_H
#define PROBE_H

#include <stddef.h>

/* Each gets its own name as argv[0] and returns the exit status. */
int probe_tables(int argc, char **argv); /* the tables of all kinds */
int probe_decode(int argc, char **argv); /* KIND json|pb FILE: a file of one object */
int probe_fit(int argc, char **argv);    /* which nodes a pod fits; reads standard input */
int probe_own(int argc, char **argv);    /* KIND: one of Slipway's own; reads standard input */

int probe_watch(int argc, char **argv); /* KIND: a reflector; reads commands from standard input */
int probe_write(int argc, char **argv); /* one write, its outcome */
int probe_lease(int argc, char **argv); /* a candidate for a Lease */
int probe_call(int argc, char **argv);  /* raw requests */

#endif
