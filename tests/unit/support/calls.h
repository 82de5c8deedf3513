/* Calls through a kube_transport, written down, and the loop run until something is so.
 *
 * Nothing here waits longer than half a minute: then the test fails and says what it waited for. */
#ifndef SUPPORT_CALLS_H
#define SUPPORT_CALLS_H

#include <stdbool.h>

#include "base/str.h"
#include "kube/transport.h"
#include "net/loop.h"

struct tcall;
typedef void tcall_fn(struct tcall *tc);

/* All zero at first, but for the hooks. */
struct tcall {
    /* hooks, after the event was written down; they may cancel, start, free */
    tcall_fn *on_head, *on_data, *on_done;
    int (*refuse)(struct tcall *tc); /* what the data callback returns */
    void *arg;

    struct kube_transport *t;
    struct kube_call *call; /* NULL when it is over */
    struct loop *loop;
    /* what happened */
    int heads, datas, dones;
    struct kube_head head; /* content_type and warning are ours */
    struct str body;
    size_t last_len; /* of the last piece of data */
    struct kube_done end;
    char *msg; /* of the end, or NULL */
};

void tcall_start(struct tcall *tc, struct loop *loop, struct kube_transport *t,
                 const struct kube_request *req);
/* A GET of `path` on the CALL lane. */
void tcall_get(struct tcall *tc, struct loop *loop, struct kube_transport *t, const char *path);
void tcall_cancel(struct tcall *tc);
/* Runs the loop until it is over. */
void tcall_wait(struct tcall *tc);
/* It ended well, with this answer. */
void tcall_succeeds(const struct tcall *tc, int code, const char *body);
/* It ended with -error and these words, in which each @ stands for the server's URL. */
void tcall_fails(const struct tcall *tc, int error, bool sent, const char *msg, const char *url);
void tcall_done(struct tcall *tc);

typedef bool until_fn(void *arg);
#define run_until(loop, fn, arg) run_until_((loop), (fn), (arg), #fn, __FILE__, __LINE__)
void run_until_(struct loop *loop, until_fn *fn, void *arg, const char *what, const char *file,
                int line);
/* Lets the loop turn for so long: to see that nothing happens. */
void run_for(struct loop *loop, int64_t usec);

#endif
