/* Where the API server is and who we are to it: kubeconfig files, flags and the in-cluster service
 * account, resolved to one struct.
 *
 * Search as kubectl does: --kubeconfig, else the files of $KUBECONFIG merged (the first that sets a
 * value wins), else ~/.kube/config, else the service account of the pod we run in. Every key of a
 * kubeconfig either works or is refused with file, line and column. Relative paths are relative to
 * the file they stand in.
 *
 * Flags as kubectl's: --cluster and --user pick other entries; --server replaces the server and
 * drops the entry's tls-server-name; --certificate-authority and --insecure-skip-tls-verify replace
 * all that the entry says about trust; --token and --token-file replace the user's token, password
 * and plugin (with kubectl, a tokenFile of the kubeconfig wins over --token: not here). --username
 * and --password replace the user's, and are refused beside a token, as with kubectl;
 * --as-user-extra replaces the values of those keys, and without a "=" it is nothing.
 *
 * What kubectl refuses, too, is said in its sentence first (kube/config_words.h).
 *
 * As in client-go, no credentials go to a server without TLS: for an http:// server (and one
 * without any scheme is http://) certificates, tokens, passwords and plugins are left out. */
#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* PEM bytes from inline data, or a file that is read anew each time (they rotate). Both NULL: not
 * given. */
struct kube_pem {
    char *data; /* NUL-terminated */
    char *file;
};

struct kube_exec_env {
    char *name, *value;
};

/* An exec credential plugin. */
struct kube_exec {
    char *command; /* resolved against the kubeconfig's directory when it has a slash */
    char **args;   /* NULL-terminated, without the command */
    struct kube_exec_env *env;
    size_t n_env;
    char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    char *install_hint;
    bool provide_cluster_info;
    enum { KUBE_EXEC_IF_AVAILABLE, KUBE_EXEC_NEVER, KUBE_EXEC_ALWAYS } interactive;
    char *cluster_config; /* JSON of extension client.authentication.k8s.io/exec, or NULL */
};

struct kube_extra {
    char *key, *value; /* one entry per value; keys may repeat */
};

struct kube_config {
    char *context, *cluster, *user; /* names, for messages; may be NULL */
    char *origin;                   /* the file(s) or "in-cluster", for messages */
    char *server;                   /* https://host:port[/prefix], no final slash */
    char *tls_server_name;
    char *proxy_url; /* http, https or socks5, which as in Go lets the proxy look names up (libcurl
                      * calls that socks5h); NULL: the environment decides */
    bool insecure;   /* do not verify the server's certificate */
    bool disable_compression;
    struct kube_pem ca, cert, key; /* cert and key: both or none */
    char *token;
    char *token_file; /* wins over token as long as it can be read; read anew */
    char *username, *password;
    struct kube_exec *exec; /* NULL when anything above identifies us already */
    char *as_user, *as_uid;
    char **as_groups; /* NULL-terminated or NULL */
    struct kube_extra *as_extra;
    size_t n_as_extra;
    char *ns; /* default namespace, "default" when nothing says otherwise */
    bool in_cluster;
};

/* What the command line says; every member may be NULL. */
struct kube_config_flags {
    const char *kubeconfig, *context, *cluster, *user, *ns;
    const char *server, *token, *token_file, *as_user, *as_uid;
    const char *username, *password;
    const char *const *as_groups; /* NULL-terminated */
    const char *const *as_extra;  /* "key=value", NULL-terminated */
    const char *certificate_authority, *client_certificate, *client_key, *tls_server_name,
        *proxy_url;
    bool insecure;
    bool disable_compression;
};

/* What the environment says, so that tests need not change their own. kube_env_get() fills it. */
struct kube_env {
    const char *kubeconfig;    /* $KUBECONFIG */
    const char *home;          /* $HOME */
    const char *service_host;  /* $KUBERNETES_SERVICE_HOST */
    const char *service_port;  /* $KUBERNETES_SERVICE_PORT */
    const char *account_dir;   /* /var/run/secrets/kubernetes.io/serviceaccount */
    const char *pod_namespace; /* $POD_NAMESPACE: the namespace in a pod, before the account's */
};
void kube_env_get(struct kube_env *env);

int kube_config_load(const struct kube_config_flags *flags, const struct kube_env *env,
                     struct kube_config **out, struct err *err);
void kube_config_free(struct kube_config *config);

/* The names of all contexts of the merged files (for completion), NULL-terminated; free with
 * kube_config_names_free(). */
int kube_config_contexts(const struct kube_config_flags *flags, const struct kube_env *env,
                         char ***out, struct err *err);
void kube_config_names_free(char **names);

#endif
