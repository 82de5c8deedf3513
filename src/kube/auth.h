/* Who we are, at this moment: the credentials of a request.
 *
 * They may take time to get (an exec plugin is a child process), expire, rotate on disk, or be
 * refused by the server; all that is hidden here. kube_auth_get() answers through a callback from
 * the loop, never inside the call. Concurrent callers share one run of a plugin. */
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

/* Valid only during the callback. */
struct kube_credentials {
    const char *authorization;      /* value of the Authorization header, or NULL */
    const char *cert_pem, *key_pem; /* client certificate, or NULL */
    uint64_t generation;            /* changes whenever the credentials do */
};

/* `config` must outlive it. */
struct kube_auth *kube_auth_new(struct loop *loop, const struct kube_config *config,
                                const struct log *log);
void kube_auth_free(struct kube_auth *auth);

/* Exactly one of cred and err is not NULL. */
typedef void kube_auth_fn(void *arg, const struct kube_credentials *cred, const struct err *err);
struct kube_auth_wait *kube_auth_get(struct kube_auth *auth, kube_auth_fn *fn, void *arg);
/* Valid until fn was called; fn is not called afterwards. */
void kube_auth_cancel(struct kube_auth *auth, struct kube_auth_wait *wait);
/* The server answered 401 to credentials of this generation: forget them, so that the next
 * kube_auth_get() reads the token file or runs the plugin again. Returns true when there is hope
 * that asking again gives something else (a file or a plugin), false for a fixed token, password or
 * certificate. */
bool kube_auth_reject(struct kube_auth *auth, uint64_t generation);

#endif
