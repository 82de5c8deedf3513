/* From a user entry and the flags to credentials. */
#include "kube/config_user.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/yamlread.h"
#include "kube/config_words.h"

#define EXEC_GROUP     "client.authentication.k8s.io/"
#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

bool kube_flags_identify(const struct kube_config_flags *flags) {
    return !str_empty(flags->token) || !str_empty(flags->token_file) ||
           !str_empty(flags->client_certificate) || !str_empty(flags->username);
}

/* At the key of the entry if it stands there, else naming the flag it came from. */
static int complain(const struct kubefile_entry *e, const char *key, const char *flag,
                    struct err *err, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static int complain(const struct kubefile_entry *e, const char *key, const char *flag,
                    struct err *err, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *what = xvasprintf(fmt, ap);
    va_end(ap);
    if (e && json_object_get(e->body, key))
        return kubefile_err(e, key, err, "%s: %s", key, what);
    return err_set(err, EINVAL, "%s: %s", flag ? flag : key, what);
}

int kube_header_check(const struct kubefile_entry *e, const char *key, const char *flag,
                      const char *text, struct err *err) {
    for (const char *c = strna(text); *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return complain(e, key, flag, err, "it has %s in it",
                            *c == '\n' || *c == '\r' ? "a line break" : "a control character");
    return 0;
}

int kube_pem_decode(const struct kubefile_entry *e, const char *key, const char *text, char **out,
                    struct err *err) {
    _cleanup_secret_ char *pem = NULL;
    size_t len;
    if (!base64_decode(text, strlen(text), &pem, &len))
        return kubefile_err(e, key, err, "%s is not base64", key);
    if (memchr(pem, '\0', len) || !strstr(pem, "-----BEGIN "))
        return kubefile_err(e, key, err,
                            "%s is not PEM (after base64 there should stand -----BEGIN)", key);
    *out = TAKE_PTR(pem);
    return 0;
}

/* --- certificate and key --- */

/* What is said of a file that cannot be read is added to `words` as kubectl says it; it opens
 * directories. */
static int fill_pem(const struct kubefile_entry *e, const char *key, const char *data,
                    const char *file, const char *flag, const char *flag_value,
                    struct kube_pem *out, struct str *words, const char *user, struct err *err) {
    _cleanup_free_ char *data_key = xasprintf("%s-data", key);
    if (!str_empty(flag_value)) {
        out->file = xstrdup(flag_value);
    } else if (!str_empty(data)) {
        return kube_pem_decode(e, data_key, data, &out->data, err);
    } else if (!str_empty(file)) {
        out->file = kubefile_path(e->file, file);
    }
    _cleanup_err_ struct err why = ERR_INIT;
    if (out->file && file_check(out->file, &why) < 0) {
        complain(str_empty(flag_value) ? e : NULL, key, flag, err, "%s", err_msg(&why));
        err->code = why.code;
        if (why.code != EISDIR)
            kube_words_unreadable(words, streq(key, "client-key") ? key : "client-cert", out->file,
                                  user, why.code);
        return -why.code;
    }
    return 0;
}

static int half_a_pair(const struct kubefile_entry *e, const struct kube_config *c, bool cert,
                       struct err *err) {
    const char *have = cert ? c->cert.data ? "client-certificate-data" : "client-certificate"
                       : c->key.data ? "client-key-data"
                                     : "client-key";
    return complain(e, have, cert ? "--client-certificate" : "--client-key", err,
                    "a client %s needs its %s as well (%s or %s-data)",
                    cert ? "certificate" : "key", cert ? "key" : "certificate",
                    cert ? "client-key" : "client-certificate",
                    cert ? "client-key" : "client-certificate");
}

static int fill_certificate(const struct kubefile_user *u, const struct kube_config_flags *flags,
                            struct kube_config *c, struct err *err) {
    const struct kubefile_entry *e = u ? &u->e : NULL;
    _cleanup_err_ struct err no_cert = ERR_INIT, no_key = ERR_INIT;
    _cleanup_str_ struct str words = STR_INIT;
    fill_pem(e, "client-certificate", u ? u->cert_data : NULL, u ? u->cert_file : NULL,
             "--client-certificate", flags->client_certificate, &c->cert, &words, c->user,
             &no_cert);
    /* What is wrong with data has no words of kubectl's. */
    bool cert = c->cert.data || c->cert.file;
    if (no_cert.code && !cert)
        return err_move(err, &no_cert);
    fill_pem(e, "client-key", u ? u->key_data : NULL, u ? u->key_file : NULL, "--client-key",
             flags->client_key, &c->key, &words, c->user, &no_key);
    bool key = c->key.data || c->key.file;
    if (no_key.code && !key)
        return err_move(err, &no_key);
    struct err *first = no_cert.code ? &no_cert : &no_key;
    if (!first->code && cert != key)
        half_a_pair(e, c, cert, first);
    if (!first->code)
        return 0;
    const char *flag = no_cert.code ? flags->client_certificate : flags->client_key;
    if (cert && words.len && !str_empty(flag)) /* there is no more to say about it */
        err_set(first, first->code, "%s", str_get(&words));
    else if (cert && words.len)
        kube_words_first(first, "%s", str_get(&words));
    if (cert && !key)
        kube_words_first(first,
                         "client-key-data or client-key must be specified for %s to use the "
                         "clientCert authentication method.",
                         strna(c->user));
    return err_move(err, first);
}

/* --- token and password --- */

static int fill_token(const struct kubefile_user *u, const struct kube_config_flags *flags,
                      struct kube_config *c, struct err *err) {
    const struct kubefile_entry *e = u ? &u->e : NULL;
    bool flag_token = !str_empty(flags->token), flag_file = !str_empty(flags->token_file);
    if (flag_token && flag_file)
        return err_set(err, EINVAL, "--token and --token-file exclude each other");
    if (flag_token) {
        c->token = xstrdup(flags->token);
    } else if (flag_file) {
        c->token_file = xstrdup(flags->token_file);
    } else if (u) {
        c->token = str_empty(u->token) ? NULL : xstrdup(u->token);
        c->token_file = str_empty(u->token_file) ? NULL : kubefile_path(u->e.file, u->token_file);
    }
    int ret = kube_header_check(flag_token ? NULL : e, "token", "--token", c->token, err);
    if (ret < 0)
        return ret;
    _cleanup_err_ struct err why = ERR_INIT;
    /* With a token to fall back on, the file may come later. */
    if (c->token_file && !c->token && file_check(c->token_file, &why) < 0) {
        complain(flag_file ? NULL : e, "tokenFile", "--token-file", err, "%s", err_msg(&why));
        if (err)
            err->code = why.code;
        return -why.code;
    }
    return 0;
}

/* Where the user name or password stands: in the entry, unless a flag says it. */
static int complain_password(const struct kubefile_user *u, const struct kube_config_flags *flags,
                             bool password, struct err *err, const char *what) {
    bool flag = !str_empty(password ? flags->password : flags->username);
    const char *key = password ? "password" : "username";
    if (flag || !u)
        return err_set(err, EINVAL, "--%s: %s", key, what);
    return kubefile_err(&u->e, key, err, "%s", what);
}

/* As kubectl puts it, which does not look into a file for a token. */
static int two_methods(const struct kube_config *c, struct err *err) {
    return kube_words_first(err,
                            "more than one authentication method found for %s; found [token "
                            "basicAuth], only one is allowed",
                            strna(c->user));
}

static int fill_password(const struct kubefile_user *u, const struct kube_config_flags *flags,
                         struct kube_config *c, struct err *err) {
    bool flag_name = !str_empty(flags->username), flag_password = !str_empty(flags->password);
    if (!str_empty(flags->token) || !str_empty(flags->token_file)) {
        if (!flag_name && !flag_password)
            return 0;
        int ret = err_set(err, EINVAL, "%s and %s exclude each other",
                          str_empty(flags->token) ? "--token-file" : "--token",
                          flag_name ? "--username" : "--password");
        return str_empty(flags->token) ? ret : two_methods(c, err);
    }
    const char *name = flag_name ? flags->username : u ? u->username : NULL;
    const char *password = flag_password ? flags->password : u ? u->password : NULL;
    if (str_empty(name) && str_empty(password))
        return 0;
    if (str_empty(name))
        return complain_password(u, flags, true, err, "a password needs a username as well");
    if (c->token || c->token_file) {
        int ret =
            complain_password(u, flags, !flag_name && flag_password, err,
                              "a user has either a token or a username and password, not both");
        return c->token ? two_methods(c, err) : ret;
    }
    if (strchr(name, ':'))
        return complain_password(u, flags, false, err, "a username cannot have a \":\" in it");
    const struct kubefile_entry *e = u ? &u->e : NULL;
    int ret = kube_header_check(flag_name ? NULL : e, "username", "--username", name, err);
    if (ret >= 0)
        ret = kube_header_check(flag_password ? NULL : e, "password", "--password", password, err);
    if (ret < 0)
        return ret;
    c->username = xstrdup(name);
    c->password = xstrdup(strna(password));
    return 0;
}

/* --- impersonation --- */

static bool flag_has_key(const char *const *flags, const char *key) {
    size_t n = strlen(key);
    for (; flags && *flags; flags++)
        if (!strncmp(*flags, key, n) && (*flags)[n] == '=')
            return true;
    return false;
}

/* A key that the flags name has only the values that they give it. */
static int fill_extra(const struct kubefile_user *u, const char *const *flags,
                      struct kube_config *c, struct err *err) {
    VEC(struct kube_extra) all = VEC_INIT;
    const char *key;
    json_t *list, *item;
    size_t i;
    int ret = 0;
    if (u && u->as_extra) {
        json_object_foreach((json_t *)(uintptr_t)u->as_extra, key, list) {
            if (flag_has_key(flags, key))
                continue;
            json_array_foreach(list, i, item) * vec_push(&all) =
                (struct kube_extra){xstrdup(key), xstrdup(json_string_value(item))};
        }
    }
    size_t n_entry = all.len;
    for (; flags && *flags && ret >= 0; flags++) {
        const char *equals = strchr(*flags, '=');
        if (!equals) /* kubectl takes it and does nothing with it */
            continue;
        if (equals == *flags)
            ret = err_set(err, EINVAL, "--as-user-extra: \"%s\" is not KEY=VALUE", *flags);
        else
            *vec_push(&all) = (struct kube_extra){xstrndup(*flags, (size_t)(equals - *flags)),
                                                  xstrdup(equals + 1)};
    }
    c->as_extra = all.p;
    c->n_as_extra = all.len;
    for (size_t k = 0; ret >= 0 && k < all.len; k++)
        ret = kube_header_check(k < n_entry ? &u->e : NULL, "as-user-extra", "--as-user-extra",
                                all.p[k].value, err);
    return ret;
}

static char **copy_strings(const char *const *from) {
    size_t n = 0;
    while (from[n])
        n++;
    char **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(from[i]);
    return copy;
}

static int fill_impersonation(const struct kubefile_user *u, const struct kube_config_flags *flags,
                              struct kube_config *c, struct err *err) {
    const struct kubefile_entry *e = u ? &u->e : NULL;
    const char *as = !str_empty(flags->as_user) ? flags->as_user : u ? u->as_user : NULL;
    const char *uid = !str_empty(flags->as_uid) ? flags->as_uid : u ? u->as_uid : NULL;
    const char *const *groups = flags->as_groups && *flags->as_groups ? flags->as_groups
                                : u ? (const char *const *)u->as_groups
                                    : NULL;
    c->as_user = str_empty(as) ? NULL : xstrdup(as);
    c->as_uid = str_empty(uid) ? NULL : xstrdup(uid);
    c->as_groups = groups && *groups ? copy_strings(groups) : NULL;
    int ret = kube_header_check(as == flags->as_user ? NULL : e, "as", "--as", as, err);
    if (ret >= 0)
        ret = kube_header_check(uid == flags->as_uid ? NULL : e, "as-uid", "--as-uid", uid, err);
    for (char **g = c->as_groups; ret >= 0 && g && *g; g++)
        ret = kube_header_check(groups == flags->as_groups ? NULL : e, "as-groups", "--as-group",
                                *g, err);
    if (ret >= 0)
        ret = fill_extra(u, flags->as_extra, c, err);
    if (ret < 0 || c->as_user)
        return ret;
    static const char advice[] = "it is of no use without whom to impersonate (as, or --as)";
    if (c->as_uid)
        ret = complain(e, "as-uid", "--as-uid", err, "%s", advice);
    else if (c->as_groups)
        ret = complain(e, "as-groups", "--as-group", err, "%s", advice);
    else if (c->n_as_extra)
        ret = complain(e, "as-user-extra", "--as-user-extra", err, "%s", advice);
    if (ret < 0)
        kube_words_first(err,
                         "requesting uid, groups or user-extra for %s without impersonating a user",
                         strna(c->user));
    return ret;
}

/* --- plugins --- */

static int exec_err(const struct kubefile_user *u, const char *key, struct err *err,
                    const char *what) {
    const struct yaml_doc *doc = u->e.file->doc;
    struct yaml_pos pos = yaml_value_pos(doc, u->exec_body, key);
    if (!pos.line)
        pos = yaml_value_pos(doc, u->e.body, "exec");
    return yaml_err(doc, pos, err, "exec: %s", what);
}

static int exec_version(const struct kubefile_user *u, struct err *err) {
    static const char *const versions[] = {EXEC_GROUP "v1", EXEC_GROUP "v1beta1"};
    const char *v = u->exec.api_version;
    if (str_empty(v))
        return exec_err(u, "apiVersion", err, "apiVersion is missing: " EXEC_GROUP "v1 or v1beta1");
    if (streq(v, versions[0]) || streq(v, versions[1]))
        return 0;
    if (streq(v, EXEC_GROUP "v1alpha1"))
        return exec_err(u, "apiVersion", err,
                        EXEC_GROUP "v1alpha1 was removed in Kubernetes 1.24: update the plugin and "
                                   "let it write this entry anew, with v1 or v1beta1");
    struct yaml_pos pos = yaml_value_pos(u->e.file->doc, u->exec_body, "apiVersion");
    return yaml_bad_word(u->e.file->doc, pos, "apiVersion of an exec plugin", v, versions,
                         ARRAY_LEN(versions), err);
}

static int exec_mode(const struct kubefile_user *u, struct kube_exec *x, struct err *err) {
    static const char *const modes[] = {[KUBE_EXEC_IF_AVAILABLE] = "IfAvailable",
                                        [KUBE_EXEC_NEVER] = "Never",
                                        [KUBE_EXEC_ALWAYS] = "Always"};
    const char *mode = u->exec.interactive_mode;
    if (str_empty(mode)) {
        if (str_ends(u->exec.api_version, "/v1beta1"))
            return 0; /* defaults to IfAvailable */
        return exec_err(u, "interactiveMode", err,
                        "interactiveMode is missing: Never, IfAvailable or Always");
    }
    for (unsigned i = 0; i < ARRAY_LEN(modes); i++) {
        if (streq(mode, modes[i])) {
            x->interactive = i;
            return 0;
        }
    }
    struct yaml_pos pos = yaml_value_pos(u->e.file->doc, u->exec_body, "interactiveMode");
    return yaml_bad_word(u->e.file->doc, pos, "interactiveMode", mode, modes, ARRAY_LEN(modes),
                         err);
}

static int exec_env(const struct kubefile_user *u, struct kube_exec *x, struct err *err) {
    size_t i, n = json_array_size(u->exec.env);
    json_t *item;
    x->env = xcalloc(n, sizeof *x->env);
    json_array_foreach(u->exec.env, i, item) {
        const char *name = json_str(item, "name"), *value = json_str(item, "value");
        if (!*name || strchr(name, '='))
            return yaml_err(u->e.file->doc, yaml_value_pos(u->e.file->doc, item, "name"), err,
                            "exec: \"%s\" is no name of an environment variable", name);
        x->env[x->n_env++] = (struct kube_exec_env){xstrdup(name), xstrdup(strna(value))};
    }
    return 0;
}

/* What the cluster has to say to the plugin, as JSON. */
static char *exec_cluster_config(const struct kubefile_cluster *cluster) {
    size_t i;
    json_t *item;
    if (!cluster)
        return NULL;
    json_array_foreach(cluster->extensions, i, item) {
        json_t *config = json_object_get(item, "extension");
        if (config && streq(json_str(item, "name"), EXEC_EXTENSION))
            return json_dumps(config, JSON_COMPACT | JSON_ENCODE_ANY);
    }
    return NULL;
}

static int fill_exec(const struct kubefile_user *u, const struct kubefile_cluster *cluster,
                     struct kube_config *c, struct err *err) {
    struct kube_exec *x = c->exec = xnew(struct kube_exec);
    if (str_empty(u->exec.command))
        return exec_err(u, "command", err, "command is missing");
    int ret = exec_version(u, err);
    if (ret >= 0)
        ret = exec_mode(u, x, err);
    if (ret >= 0)
        ret = exec_env(u, x, err);
    if (ret < 0)
        return ret;
    x->command = strchr(u->exec.command, '/') ? kubefile_path(u->e.file, u->exec.command)
                                              : xstrdup(u->exec.command);
    static const char *const no_args[] = {NULL};
    x->args = copy_strings(u->exec.args ? (const char *const *)u->exec.args : no_args);
    x->api_version = xstrdup(u->exec.api_version);
    x->install_hint = str_empty(u->exec.install_hint) ? NULL : xstrdup(u->exec.install_hint);
    x->provide_cluster_info = u->exec.provide_cluster_info;
    x->cluster_config = exec_cluster_config(cluster);
    return 0;
}

static int refuse_auth_provider(const struct kubefile_user *u, struct err *err) {
    static const struct {
        const char *name, *instead;
    } known[] = {{"gcp", "gke-gcloud-auth-plugin"},
                 {"azure", "kubelogin"},
                 {"oidc", "kubectl oidc-login, also called kubelogin"}};
    const char *name = json_str(u->auth_provider, "name");
    const char *instead = NULL;
    for (size_t i = 0; name && i < ARRAY_LEN(known); i++)
        if (streq(name, known[i].name))
            instead = known[i].instead;
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, strna(name));
    return kubefile_err(&u->e, "auth-provider", err,
                        "slipway does not support auth-provider \"%s\": give this user a "
                        "credential plugin (exec) instead%s%s",
                        str_get(&shown), instead ? ", such as " : "", strna(instead));
}

int kube_user_fill(const struct kubefile_user *u, const struct kubefile_cluster *cluster,
                   const struct kube_config_flags *flags, struct kube_config *c, struct err *err) {
    if (u && u->auth_provider && !kube_flags_identify(flags))
        return refuse_auth_provider(u, err);
    int ret = fill_impersonation(u, flags, c, err);
    if (ret >= 0)
        ret = fill_certificate(u, flags, c, err);
    if (ret >= 0)
        ret = fill_token(u, flags, c, err);
    if (ret >= 0)
        ret = fill_password(u, flags, c, err);
    /* As in client-go, anything that says who we are spares us the plugin. */
    bool known = c->token || c->token_file || c->username || c->cert.data || c->cert.file;
    if (ret >= 0 && u && u->exec_body && !known)
        ret = fill_exec(u, cluster, c, err);
    return ret;
}
