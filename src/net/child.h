/* A child process, run beside the loop.
 *
 * Its standard input is a given text, the terminal, or nothing; what it prints is collected up to a
 * limit; it is killed when it takes too long; and its end comes back as one callback from the loop.
 * Nothing of ours is inherited: no descriptor but 0, 1 and 2, no ignored or blocked signal. It is
 * always reaped, through its pidfd, so no SIGCHLD handler is involved; SIGCHLD must only not be
 * ignored (the parent's end status would be lost).
 *
 * The child leads a process group of its own, which is killed as a whole; except when it has our
 * standard input: then it stays in ours, because only the foreground group may read a terminal, and
 * only the child itself is killed.
 *
 * It ends when the process ends: grandchildren that keep its output open are not waited for. */
#ifndef NET_CHILD_H
#define NET_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct child;

struct child_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in $PATH unless it has a /,
                              * but never in relative parts of $PATH */
    const char *const
        *env;          /* NULL-terminated "NAME=value", on top of our environment; may be NULL */
    const void *input; /* standard input; copied */
    size_t input_len;
    bool inherit_stdin;  /* instead of `input`: ours */
    bool inherit_stdout; /* instead of collecting it: ours */
    bool inherit_stderr; /* the same */
    size_t max_stdout;   /* more than this kills it (EFBIG), unless it is dropped */
    bool drop_stdout;    /* what is beyond is dropped, as of standard error */
    size_t max_stderr;   /* what is beyond is dropped */
    int64_t timeout;     /* microseconds, then SIGKILL; 0: none */
    /* Called as standard error comes in, for those who show it; may be NULL. It must not cancel. */
    void (*on_stderr)(void *arg, const char *p, size_t len);
};

/* How it ended. The texts are NUL-terminated, valid during the callback, and wiped after it. */
struct child_end {
    int error;     /* 0: it ran to its end; -ETIMEDOUT, -EFBIG (too much output), or why its end is
                    * not known */
    int exit_code; /* -1 when a signal ended it */
    int signal;    /* 0 when it exited */
    char *out, *err_out;
    size_t out_len, err_len;
};

typedef void child_fn(void *arg, const struct child_end *end);

/* Starts it. A negative errno when it cannot be started: -ENOENT when there is no such program,
 * -EACCES when it may not be run, -ENOTSUP on a virtual loop, ...; `fn` is not called then. */
int child_start(struct loop *loop, const struct child_spec *spec, child_fn *fn, void *arg,
                struct child **out, struct err *err);
/* Kills it; fn is not called. Valid until fn was called; takes NULL. */
void child_cancel(struct child *child);

#endif
