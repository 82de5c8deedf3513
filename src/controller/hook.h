/* HTTP hooks: a service outside of the cluster is asked to do something, by one POST of a JSON
 * document.
 *
 * An answer of 2xx means that it was taken; everything else is a failure, also a redirect, which is
 * not followed: what comes after it has the method and the body of somebody else's choice. The name
 * in the URL and the certificate are checked with what the machine trusts. Proxies are those of the
 * environment, as every program takes them. */
#ifndef CONTROLLER_HOOK_H
#define CONTROLLER_HOOK_H

#include "base/err.h"
#include "net/loop.h"

struct hooks;
struct hook;

/* `failure`: why, NULL: it was taken. The hook is gone then. */
typedef void hook_fn(void *arg, const char *failure);

int hooks_new(struct loop *loop, struct hooks **out, struct err *err);
/* All hooks must have ended or been cancelled. Takes NULL. */
void hooks_free(struct hooks *h);

/* From the loop, once: `fn` is called, unless it is cancelled. */
int hook_start(struct hooks *h, const char *url, const char *body, hook_fn *fn, void *arg,
               struct hook **out, struct err *err);
/* Takes NULL. */
void hook_cancel(struct hook *x);

#endif
