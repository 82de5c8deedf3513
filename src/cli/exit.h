/* Exit codes: one table from which the help topic and the manual pages are made, and the one place
 * that decides which code an error ends in. */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <stddef.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_CHANGES = 2,
    EXIT_BLOCKED = 3,
    EXIT_ACCESS = 4,
    EXIT_REFUSED = 5,
    EXIT_PARTIAL = 6,
    EXIT_USAGE = 64,    /* EX_USAGE of sysexits.h: apart from 2, which means "changes" */
    EXIT_SIGINT = 130,  /* 128 + signal, as shells count */
    EXIT_SIGPIPE = 141, /* the reader of our output went away */
    EXIT_SIGTERM = 143,
};

struct exit_row {
    enum exit_code code;
    const char *name;    /* one word, stable, for programs */
    const char *meaning; /* for people */
};

extern const struct exit_row exit_rows[];
extern const size_t n_exit_rows;

/* The exit code for an error of the error contract; `code` is a positive or negative errno. What
 * kept us from the API server (network, TLS, credentials, permission) is EXIT_ACCESS, a value or a
 * file that makes no sense is EXIT_USAGE, everything else EXIT_FAILED. */
enum exit_code exit_from_errno(int code);

/* The one of two to end with: what happened to one object must not hide what happened to
 * another. */
int exit_graver(int a, int b);

#endif
