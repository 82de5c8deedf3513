/* Everything between a command line and a client that can be used, put together: configuration,
 * credentials, transport, pool, client. */
#ifndef KUBE_CONNECT_H
#define KUBE_CONNECT_H

#include "base/log.h"
#include "kube/auth.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/transport_curl.h"

struct kube_connection {
    struct kube_config *config;
    struct kube_auth *auth;
    struct kube_client client; /* its loop is not ours */
};

/* Reads the configuration; nothing is sent yet. A client certificate that its key does not belong
 * to fails here (-EINVAL). */
int kube_connect(struct loop *loop, const struct kube_config_flags *flags,
                 const struct kube_curl_options *opts, const struct log *log,
                 struct kube_connection *out, struct err *err);
void kube_connection_done(struct kube_connection *c);

#endif
