/* From flags to a client. */
#include "kube/connect.h"

#include "base/str.h"
#include "model/type.h"

int kube_connect(struct loop *loop, const struct kube_config_flags *flags,
                 const struct kube_curl_options *opts, const struct log *log,
                 struct kube_connection *out, struct err *err) {
    struct kube_env env;
    struct kube_connection c = {0};
    kube_env_get(&env);
    int rc = kube_config_load(flags, &env, &c.config, err);
    if (rc)
        return rc;
    c.auth = kube_auth_new(loop, c.config, log);
    c.client = (struct kube_client){.loop = loop, .log = log};
    /* A wrong file is a mistake in the configuration; met in a request, it would look like trouble
     * with the server. */
    if (!str_starts(c.config->server, "http://"))
        rc = kube_auth_check(c.auth, err);
    if (!rc)
        rc = kube_transport_curl_new(loop, c.config, c.auth, opts, log, &c.client.transport, err);
    if (rc) {
        kube_connection_done(&c);
        return rc;
    }
    c.client.pool = pool_new(type_drop);
    *out = c;
    return 0;
}

void kube_connection_done(struct kube_connection *c) {
    kube_transport_free(c->client.transport);
    kube_auth_free(c->auth);
    kube_config_free(c->config);
    pool_free(c->client.pool);
    *c = (struct kube_connection){0};
}
