/* Which context, cluster and user apply, and what the flags change about them. */
#include "kube/config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/yamlread.h"
#include "kube/config_account.h"
#include "kube/config_file.h"
#include "kube/config_merge.h"
#include "kube/config_url.h"
#include "kube/config_user.h"
#include "kube/config_words.h"

void kube_env_get(struct kube_env *env) {
    *env = (struct kube_env){
        .kubeconfig = getenv("KUBECONFIG"),
        .home = getenv("HOME"),
        .service_host = getenv("KUBERNETES_SERVICE_HOST"),
        .service_port = getenv("KUBERNETES_SERVICE_PORT"),
        .account_dir = "/var/run/secrets/kubernetes.io/serviceaccount",
        .pod_namespace = getenv("POD_NAMESPACE"),
    };
}

static void pem_done(struct kube_pem *pem) {
    secret_free(pem->data);
    free(pem->file);
}

static void exec_free(struct kube_exec *x) {
    if (!x)
        return;
    for (char **a = x->args; a && *a; a++)
        secret_clear(a);
    for (size_t i = 0; i < x->n_env; i++) {
        free(x->env[i].name);
        secret_free(x->env[i].value);
    }
    free(x->args);
    free(x->env);
    free(x->command);
    free(x->api_version);
    free(x->install_hint);
    free(x->cluster_config);
    free(x);
}

void kube_config_free(struct kube_config *c) {
    if (!c)
        return;
    char *plain[] = {c->context, c->cluster,         c->user,       c->origin,
                     c->server,  c->tls_server_name, c->token_file, c->username,
                     c->as_user, c->as_uid,          c->ns};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        free(plain[i]);
    secret_free(c->proxy_url);
    secret_free(c->token);
    secret_free(c->password);
    pem_done(&c->ca);
    pem_done(&c->cert);
    pem_done(&c->key);
    exec_free(c->exec);
    yaml_strs_free(c->as_groups);
    for (size_t i = 0; i < c->n_as_extra; i++) {
        free(c->as_extra[i].key);
        free(c->as_extra[i].value);
    }
    free(c->as_extra);
    free(c);
}

/* --- which entries --- */

struct pick {
    const struct kubefile_context *context;
    const struct kubefile_cluster *cluster;
    const struct kubefile_user *user;
};

static const char *const kind_words[] = {
    [KUBEFILE_CLUSTER] = "cluster", [KUBEFILE_USER] = "user", [KUBEFILE_CONTEXT] = "context"};

/* `context "x" does not exist; there are: ...`, with those that look like it first. */
static int not_there(const struct kubefiles *set, enum kubefile_kind kind, const char *name,
                     struct err *err) {
    size_t n;
    char **names = kubefiles_names(set, kind, &n);
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT, origin = STR_INIT;
    utf8_printable(&shown, name);
    suggest_list(&list, name, (const char *const *)names, n);
    kubefiles_origin(set, &origin);
    kube_config_names_free(names);
    if (!origin.len)
        return err_set(err, EINVAL, "%s \"%s\" does not exist: there is no kubeconfig",
                       kind_words[kind], str_get(&shown));
    if (!n)
        return err_set(err, EINVAL, "%s \"%s\" does not exist: %s has no %ss", kind_words[kind],
                       str_get(&shown), str_get(&origin), kind_words[kind]);
    return err_set(err, EINVAL, "%s \"%s\" does not exist; there %s: %s", kind_words[kind],
                   str_get(&shown), n == 1 ? "is" : "are", str_get(&list));
}

/* The same at the key of an entry that names it. */
static int not_there_at(const struct kubefiles *set, enum kubefile_kind kind, const char *name,
                        const struct kubefile_entry *e, const char *key, struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    not_there(set, kind, name, &why);
    return kubefile_err(e, key, err, "%s", err_msg(&why));
}

static int pick_context(const struct kubefiles *set, const struct kube_config_flags *flags,
                        struct pick *p, struct err *err) {
    if (!str_empty(flags->context)) {
        p->context = kubefiles_context(set, flags->context);
        return p->context ? 0 : not_there(set, KUBEFILE_CONTEXT, flags->context, err);
    }
    const struct kubefile *f = kubefiles_current(set);
    if (!f)
        return 0;
    p->context = kubefiles_context(set, f->current_context);
    if (p->context)
        return 0;
    _cleanup_err_ struct err why = ERR_INIT;
    not_there(set, KUBEFILE_CONTEXT, f->current_context, &why);
    return yaml_err(f->doc, yaml_value_pos(f->doc, yaml_root(f->doc), "current-context"), err,
                    "current-context: %s", err_msg(&why));
}

static int pick_entries(const struct kubefiles *set, const struct kube_config_flags *flags,
                        struct pick *p, struct err *err) {
    int ret = pick_context(set, flags, p, err);
    if (ret < 0)
        return ret;
    const char *cluster = p->context ? p->context->cluster : NULL;
    const char *user = p->context ? p->context->user : NULL;
    if (!str_empty(flags->cluster)) {
        p->cluster = kubefiles_cluster(set, flags->cluster);
        if (!p->cluster)
            return not_there(set, KUBEFILE_CLUSTER, flags->cluster, err);
    } else if (!str_empty(cluster)) {
        p->cluster = kubefiles_cluster(set, cluster);
        if (!p->cluster && str_empty(flags->server))
            return not_there_at(set, KUBEFILE_CLUSTER, cluster, &p->context->e, "cluster", err);
    }
    if (!str_empty(flags->user)) {
        p->user = kubefiles_user(set, flags->user);
        if (!p->user)
            return not_there(set, KUBEFILE_USER, flags->user, err);
    } else if (!str_empty(user)) {
        p->user = kubefiles_user(set, user);
        if (!p->user && !kube_flags_identify(flags))
            return not_there_at(set, KUBEFILE_USER, user, &p->context->e, "user", err);
    }
    return 0;
}

/* Nothing names a server. */
static int no_server(const struct kubefiles *set, const struct pick *p, const struct kube_env *env,
                     struct err *err) {
    if (p->context)
        return kubefile_err(&p->context->e, "cluster", err,
                            "context \"%s\" names no cluster: choose one with --cluster",
                            p->context->e.name);
    size_t n;
    char **names = kubefiles_names(set, KUBEFILE_CONTEXT, &n);
    _cleanup_str_ struct str list = STR_INIT, origin = STR_INIT, missing = STR_INIT;
    suggest_list(&list, NULL, (const char *const *)names, n);
    kube_config_names_free(names);
    kubefiles_origin(set, &origin);
    if (n)
        return err_set(
            err, EINVAL,
            "no context is chosen: %s has no current-context; choose one with --context: "
            "%s",
            str_get(&origin), str_get(&list));
    if (origin.len)
        return err_set(err, EINVAL,
                       "%s names no cluster; give another file with --kubeconfig, or a "
                       "server with --server",
                       str_get(&origin));
    for (size_t i = 0; i < set->missing.len; i++)
        str_addf(&missing, "%s%s", i ? ", " : "", set->missing.p[i]);
    if (!missing.len)
        str_add(&missing, str_empty(env->kubeconfig) ? "HOME is not set" : "KUBECONFIG is empty");
    else
        str_add(&missing, set->missing.len == 1 ? " does not exist" : " do not exist");
    return err_set(err, ENOENT,
                   "there is no kubeconfig (%s) and this is no pod; give one with --kubeconfig or "
                   "KUBECONFIG",
                   str_get(&missing));
}

/* --- the cluster --- */

static bool is_tls(const struct kube_config *c) {
    return str_starts(c->server, "https://");
}

/* Of a file that cannot be read: kubectl's sentence, and where it is named unless that is a flag.
 * It opens directories. */
static int check_authority(const struct kubefile_cluster *k, const struct kube_config *c,
                           struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    int ret = file_check(c->ca.file, &why);
    if (ret >= 0)
        return ret;
    _cleanup_str_ struct str words = STR_INIT;
    kube_words_unreadable(&words, "certificate-authority", c->ca.file, c->cluster, -ret);
    bool directory = ret == -EISDIR;
    if (k)
        kubefile_err(&k->e, "certificate-authority", err, "certificate-authority: %s",
                     err_msg(&why));
    else if (directory)
        err_set(err, -ret, "--certificate-authority: %s", err_msg(&why));
    else
        return err_set(err, -ret, "%s", str_get(&words));
    if (err)
        err->code = -ret;
    if (!directory)
        kube_words_first(err, "%s", str_get(&words));
    return ret;
}

static int fill_trust(const struct kubefile_cluster *k, const struct kube_config_flags *flags,
                      struct kube_config *c, struct err *err) {
    bool flag_ca = !str_empty(flags->certificate_authority);
    if (flags->insecure || flag_ca) {
        mem_clear(&c->ca.file); /* of the service account */
        c->insecure = flags->insecure;
        c->ca.file = flag_ca ? xstrdup(flags->certificate_authority) : NULL;
        if (flags->insecure && flag_ca)
            return err_set(err, EINVAL,
                           "--insecure-skip-tls-verify and --certificate-authority exclude each "
                           "other");
        return flag_ca ? check_authority(NULL, c, err) : 0;
    }
    if (!k)
        return 0;
    c->insecure = k->insecure;
    bool data = !str_empty(k->ca_data), file = !str_empty(k->ca_file);
    if (k->insecure && (data || file) && is_tls(c))
        return kubefile_err(&k->e, "insecure-skip-tls-verify", err,
                            "insecure-skip-tls-verify and %s exclude each other",
                            data ? "certificate-authority-data" : "certificate-authority");
    if (data)
        return kube_pem_decode(&k->e, "certificate-authority-data", k->ca_data, &c->ca.data, err);
    if (!file)
        return 0;
    c->ca.file = kubefile_path(k->e.file, k->ca_file);
    return check_authority(k, c, err);
}

/* Wraps an error at the key of the cluster, or at the flag when that is where the value is from. */
static int wrap_cluster(const struct kubefile_cluster *k, bool from_flag, const char *key,
                        const char *flag, struct err *err) {
    if (from_flag || !k)
        return err_wrap(err, "%s", flag);
    _cleanup_err_ struct err why = ERR_INIT;
    err_move(&why, err);
    return kubefile_err(&k->e, key, err, "%s: %s", key, err_msg(&why));
}

static int fill_cluster(const struct kubefile_cluster *k, const struct kube_config_flags *flags,
                        struct kube_config *c, struct err *err) {
    bool flag_server = !str_empty(flags->server), flag_proxy = !str_empty(flags->proxy_url);
    const char *server = flag_server ? flags->server : k ? k->server : c->server;
    _cleanup_err_ struct err why = ERR_INIT;
    char *url;
    /* Without a cluster there is a flag, or the service account has filled it in. */
    assert(k || !str_empty(server));
    if (str_empty(server))
        return kubefile_err(&k->e, "server", err, "cluster \"%s\" has no server", k->e.name);
    int ret = kube_url_server(server, &url, &why);
    if (ret < 0) {
        wrap_cluster(k, flag_server, "server", "--server", &why);
        /* A password must not be shown; and kubectl tries any scheme before it says so. */
        if (!strchr(server, '@') && !strstr(err_msg(&why), "must begin with"))
            kube_words_first(&why, "host must be a URL or a host:port pair: \"%s\"", server);
        return err_move(err, &why);
    }
    free(c->server);
    c->server = url;
    if (!str_empty(flags->tls_server_name))
        c->tls_server_name = xstrdup(flags->tls_server_name);
    else if (!flag_server && k && !str_empty(k->tls_server_name))
        c->tls_server_name = xstrdup(k->tls_server_name);
    const char *proxy = flag_proxy ? flags->proxy_url : k ? k->proxy_url : NULL;
    if (!str_empty(proxy)) {
        ret = kube_url_proxy(proxy, &why);
        if (ret < 0) {
            wrap_cluster(k, flag_proxy, "proxy-url", "--proxy-url", &why);
            return err_move(err, &why);
        }
        c->proxy_url = xstrdup(proxy);
    }
    c->disable_compression = flags->disable_compression || (k && k->disable_compression);
    return fill_trust(k, flags, c, err);
}

/* --- the namespace --- */

/* A DNS label (RFC 1123): it becomes a part of URLs. */
static bool valid_namespace(const char *ns) {
    size_t len = strlen(ns);
    return len >= 1 && len <= 63 && strspn(ns, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
           ns[0] != '-' && ns[len - 1] != '-';
}

static int fill_namespace(const struct kubefile_context *context,
                          const struct kube_config_flags *flags, struct kube_config *c,
                          struct err *err) {
    bool from_context = context && !str_empty(context->ns);
    if (!str_empty(flags->ns))
        str_replace(&c->ns, flags->ns);
    else if (from_context)
        str_replace(&c->ns, context->ns);
    else if (str_empty(c->ns))
        str_replace(&c->ns, "default");
    if (valid_namespace(c->ns))
        return 0;
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, c->ns);
    static const char rule[] = "it must be at most 63 small letters, digits and \"-\"";
    if (str_empty(flags->ns) && from_context)
        return kubefile_err(&context->e, "namespace", err, "\"%s\" is no valid namespace: %s",
                            str_get(&shown), rule);
    return err_set(err, EINVAL, "\"%s\" is no valid namespace: %s", str_get(&shown), rule);
}

/* --- all together --- */

/* Nothing secret goes over a connection that anybody can read. What is dropped was checked before,
 * so that a mistake shows whatever the server is. */
static void drop_credentials(struct kube_config *c) {
    pem_done(&c->ca);
    pem_done(&c->cert);
    pem_done(&c->key);
    c->ca = c->cert = c->key = (struct kube_pem){0};
    secret_clear(&c->token);
    secret_clear(&c->password);
    mem_clear(&c->token_file);
    mem_clear(&c->username);
    mem_clear(&c->tls_server_name);
    exec_free(c->exec);
    c->exec = NULL;
    c->insecure = false;
}

static int resolve(const struct kubefiles *set, const struct kube_config_flags *flags,
                   const struct kube_env *env, struct kube_config *c, struct err *err) {
    struct pick p = {0};
    int ret = pick_entries(set, flags, &p, err);
    if (ret < 0)
        return ret;
    if (!p.cluster && str_empty(flags->server)) {
        if (p.context || set->explicit || !kube_account_present(env))
            return no_server(set, &p, env, err);
        ret = kube_account_fill(env, c, err);
        if (ret < 0)
            return ret;
        /* Flags that say who we are replace the account. */
        if (kube_flags_identify(flags))
            mem_clear(&c->token_file);
    }
    _cleanup_str_ struct str origin = STR_INIT;
    kubefiles_origin(set, &origin);
    if (!c->origin)
        c->origin = origin.len ? str_take(&origin) : xstrdup("the command line");
    c->context = p.context ? xstrdup(p.context->e.name) : NULL;
    c->cluster = p.cluster ? xstrdup(p.cluster->e.name) : NULL;
    c->user = p.user ? xstrdup(p.user->e.name) : NULL;
    ret = fill_cluster(p.cluster, flags, c, err);
    if (ret >= 0)
        ret = kube_user_fill(p.user, p.cluster, flags, c, err);
    if (ret >= 0 && !is_tls(c))
        drop_credentials(c);
    if (ret >= 0)
        ret = fill_namespace(p.context, flags, c, err);
    return ret;
}

int kube_config_load(const struct kube_config_flags *flags, const struct kube_env *env,
                     struct kube_config **out, struct err *err) {
    _cleanup_kubefiles_ struct kubefiles set = {0};
    int ret = kubefiles_load(flags, env, &set, err);
    if (ret < 0)
        return ret;
    struct kube_config *c = xnew(struct kube_config);
    ret = resolve(&set, flags, env, c, err);
    if (ret < 0) {
        kube_config_free(c);
        return ret;
    }
    *out = c;
    return 0;
}

int kube_config_contexts(const struct kube_config_flags *flags, const struct kube_env *env,
                         char ***out, struct err *err) {
    _cleanup_kubefiles_ struct kubefiles set = {0};
    int ret = kubefiles_load(flags, env, &set, err);
    if (ret < 0)
        return ret;
    *out = kubefiles_names(&set, KUBEFILE_CONTEXT, NULL);
    return 0;
}

void kube_config_names_free(char **names) {
    yaml_strs_free(names);
}
