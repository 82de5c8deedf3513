/* Who we are, at this moment: the credentials of a request.
 *
 * They may take time to get (an exec plugin is a child process), expire, rotate on disk, or be
 * refused by the server; all that is hidden here. kube_auth_get() answers through a callback from
 * the loop, never inside the call. Concurrent callers share one run of a plugin.
 *
 *  - A token file is read again when what was read is 50 seconds old, as client-go does; while it
 *    cannot be read, the last token (or the fixed one) is used on.
 *  - Certificate and key files are read again when either has changed; while the two do not belong
 *    together (one was replaced, the other not yet) the last pair is used on.
 *  - A plugin is run when its credentials expire, shortly before that, or when the server refused
 *    them. One that fails, or whose fresh credentials are refused again, is not run again for a
 *    second, then two, four, ... at most a minute: until then the failure (or the same credentials)
 *    is the answer. */
#ifndef KUBE_AUTH_H
#define KUBE_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "kube/config.h"
#include "net/loop.h"

struct kube_auth;
struct kube_auth_wait;

/* Valid only during the callback, and not after a kube_auth_reject() inside it. */
struct kube_credentials {
    const char *authorization;      /* value of the Authorization header, or NULL */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    uint64_t generation;            /* changes whenever the credentials do; never 0 */
};

/* `config` must outlive it. */
struct kube_auth *kube_auth_new(struct loop *loop, const struct kube_config *config,
                                const struct log *log);
/* Reads a configured client certificate and its key now: 0, also when there are none, or why they
 * cannot be used (-EINVAL when they do not belong together). */
int kube_auth_check(struct kube_auth *auth, struct err *err);
/* Kills a plugin that is running; those who wait are forgotten. May be called in a callback. */
void kube_auth_free(struct kube_auth *auth);

/* Exactly one of cred and err is not NULL. */
typedef void kube_auth_fn(void *arg, const struct kube_credentials *cred, const struct err *err);
struct kube_auth_wait *kube_auth_get(struct kube_auth *auth, kube_auth_fn *fn, void *arg);
/* Valid until fn was called; fn is not called afterwards. */
void kube_auth_cancel(struct kube_auth *auth, struct kube_auth_wait *wait);
/* The server answered 401 to credentials of this generation. Returns true when asking again gives
 * something else: there are newer ones already, or the files have changed, or the plugin will be
 * run. False when it does not: a fixed token, password or certificate, files that are still the
 * same, a plugin that was run for that reason a moment ago. */
bool kube_auth_reject(struct kube_auth *auth, uint64_t generation);

/* The same with another way to run plugins; for tests. */
struct exec_ops;
struct kube_auth *kube_auth_new_with(struct loop *loop, const struct kube_config *config,
                                     const struct log *log, const struct exec_ops *ops);

#endif
