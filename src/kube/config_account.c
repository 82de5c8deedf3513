/* The service account of the pod that we run in. */
#include "kube/config_account.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/config_url.h"

enum { NAMESPACE_MAX = 4096 }; /* bytes of the namespace file; a name has at most 63 */

bool kube_account_present(const struct kube_env *env) {
    return !str_empty(env->service_host) && !str_empty(env->service_port);
}

/* $POD_NAMESPACE, else the file beside the token; NULL when neither says anything. */
static char *account_namespace(const struct kube_env *env) {
    if (!str_empty(env->pod_namespace))
        return xstrdup(env->pod_namespace);
    _cleanup_free_ char *path = xasprintf("%s/namespace", env->account_dir), *text = NULL;
    size_t len;
    if (file_read(path, NAMESPACE_MAX, &text, &len, NULL) < 0)
        return NULL;
    const char *p = text;
    while (isspace((unsigned char)*p))
        p++;
    len = strcspn(p, " \t\r\n");
    return len ? xstrndup(p, len) : NULL;
}

int kube_account_fill(const struct kube_env *env, struct kube_config *config, struct err *err) {
    _cleanup_free_ char *token = xasprintf("%s/token", env->account_dir);
    _cleanup_free_ char *ca = xasprintf("%s/ca.crt", env->account_dir);
    _cleanup_err_ struct err why = ERR_INIT;
    if (file_check(token, &why) < 0)
        return err_set(err, why.code,
                       "this is a pod (KUBERNETES_SERVICE_HOST is set) without a service account "
                       "token: %s; is automountServiceAccountToken false?",
                       err_msg(&why));
    int ret = file_check(ca, &why);
    if (ret < 0 && ret != -ENOENT) {
        err_move(err, &why);
        err_wrap(err, "cannot read the service account's CA");
        return ret;
    }
    _cleanup_free_ char *authority = kube_url_join(env->service_host, env->service_port);
    _cleanup_free_ char *url = xasprintf("https://%s", authority), *server = NULL;
    int bad = kube_url_server(url, &server, err);
    if (bad < 0) {
        err_wrap(err, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");
        return bad;
    }
    config->server = TAKE_PTR(server);
    config->token_file = TAKE_PTR(token);
    config->ca.file = ret < 0 ? NULL : TAKE_PTR(ca);
    config->ns = account_namespace(env);
    config->origin = xstrdup("in-cluster");
    config->in_cluster = true;
    return 0;
}
