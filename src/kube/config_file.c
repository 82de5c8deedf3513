/* One kubeconfig file: read, every key checked, nothing resolved yet. */
#include "kube/config_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/yamlread.h"

/* --- the keys; tools/clientcmd/api/v1/types.go of client-go is where they are defined --- */

struct top {
    char *kind, *api_version, *current_context;
    const json_t *clusters, *users, *contexts, *preferences, *extensions;
};

static const struct yaml_field top_fields[] = {
    YAML_FIELD("apiVersion", YAML_T_STR, struct top, api_version),
    YAML_FIELD("kind", YAML_T_STR, struct top, kind),
    YAML_FIELD("clusters", YAML_T_LIST, struct top, clusters),
    YAML_FIELD("users", YAML_T_LIST, struct top, users),
    YAML_FIELD("contexts", YAML_T_LIST, struct top, contexts),
    YAML_FIELD("current-context", YAML_T_STR, struct top, current_context),
    YAML_FIELD("preferences", YAML_T_OBJECT, struct top, preferences),
    YAML_FIELD("extensions", YAML_T_LIST, struct top, extensions),
};

struct preferences {
    bool colors;
    const json_t *extensions;
};

static const struct yaml_field preferences_fields[] = {
    YAML_FIELD("colors", YAML_T_BOOL, struct preferences, colors),
    YAML_FIELD("extensions", YAML_T_LIST, struct preferences, extensions),
};

struct extension {
    char *name;
};

static const struct yaml_field extension_fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct extension, name, .required = true),
    YAML_IGNORED("extension"),
};

struct named {
    char *name;
    const json_t *body;
};

static const struct yaml_field cluster_fields[] = {
    YAML_FIELD("server", YAML_T_STR, struct kubefile_cluster, server),
    YAML_FIELD("tls-server-name", YAML_T_STR, struct kubefile_cluster, tls_server_name),
    YAML_FIELD("insecure-skip-tls-verify", YAML_T_BOOL, struct kubefile_cluster, insecure),
    YAML_FIELD("certificate-authority", YAML_T_STR, struct kubefile_cluster, ca_file),
    YAML_FIELD("certificate-authority-data", YAML_T_STR, struct kubefile_cluster, ca_data),
    YAML_FIELD("proxy-url", YAML_T_STR, struct kubefile_cluster, proxy_url),
    YAML_FIELD("disable-compression", YAML_T_BOOL, struct kubefile_cluster, disable_compression),
    YAML_FIELD("extensions", YAML_T_LIST, struct kubefile_cluster, extensions),
};

struct user_extensions {
    struct kubefile_user user;
    const json_t *extensions;
};

static const struct yaml_field user_fields[] = {
    YAML_FIELD("client-certificate", YAML_T_STR, struct user_extensions, user.cert_file),
    YAML_FIELD("client-certificate-data", YAML_T_STR, struct user_extensions, user.cert_data),
    YAML_FIELD("client-key", YAML_T_STR, struct user_extensions, user.key_file),
    YAML_FIELD("client-key-data", YAML_T_STR, struct user_extensions, user.key_data),
    YAML_FIELD("token", YAML_T_STR, struct user_extensions, user.token),
    YAML_FIELD("tokenFile", YAML_T_STR, struct user_extensions, user.token_file),
    YAML_FIELD("as", YAML_T_STR, struct user_extensions, user.as_user),
    YAML_FIELD("as-uid", YAML_T_STR, struct user_extensions, user.as_uid),
    YAML_FIELD("as-groups", YAML_T_STRS, struct user_extensions, user.as_groups),
    YAML_FIELD("as-user-extra", YAML_T_OBJECT, struct user_extensions, user.as_extra),
    YAML_FIELD("username", YAML_T_STR, struct user_extensions, user.username),
    YAML_FIELD("password", YAML_T_STR, struct user_extensions, user.password),
    YAML_FIELD("auth-provider", YAML_T_ANY, struct user_extensions, user.auth_provider),
    YAML_FIELD("exec", YAML_T_OBJECT, struct user_extensions, user.exec_body),
    YAML_FIELD("extensions", YAML_T_LIST, struct user_extensions, extensions),
};

static const struct yaml_field exec_fields[] = {
    YAML_FIELD("command", YAML_T_STR, struct kubefile_exec, command),
    YAML_FIELD("args", YAML_T_STRS, struct kubefile_exec, args),
    YAML_FIELD("env", YAML_T_LIST, struct kubefile_exec, env),
    YAML_FIELD("apiVersion", YAML_T_STR, struct kubefile_exec, api_version),
    YAML_FIELD("installHint", YAML_T_STR, struct kubefile_exec, install_hint),
    YAML_FIELD("provideClusterInfo", YAML_T_BOOL, struct kubefile_exec, provide_cluster_info),
    YAML_FIELD("interactiveMode", YAML_T_STR, struct kubefile_exec, interactive_mode),
};

struct exec_env {
    char *name, *value;
};

static const struct yaml_field exec_env_fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct exec_env, name, .required = true),
    YAML_FIELD("value", YAML_T_STR, struct exec_env, value),
};

struct context_extensions {
    struct kubefile_context context;
    const json_t *extensions;
};

static const struct yaml_field context_fields[] = {
    YAML_FIELD("cluster", YAML_T_STR, struct context_extensions, context.cluster),
    YAML_FIELD("user", YAML_T_STR, struct context_extensions, context.user),
    YAML_FIELD("namespace", YAML_T_STR, struct context_extensions, context.ns),
    YAML_FIELD("extensions", YAML_T_LIST, struct context_extensions, extensions),
};

/* --- freeing --- */

static void cluster_free(struct kubefile_cluster *c) {
    char *strings[] = {c->e.name,  c->server,  c->tls_server_name,
                       c->ca_file, c->ca_data, c->proxy_url /* may hold a password */};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        secret_free(strings[i]);
    free(c);
}

static void user_free(struct kubefile_user *u) {
    char *strings[] = {u->e.name,
                       u->cert_file,
                       u->cert_data,
                       u->key_file,
                       u->key_data,
                       u->token,
                       u->token_file,
                       u->username,
                       u->password,
                       u->as_user,
                       u->as_uid,
                       u->exec.command,
                       u->exec.api_version,
                       u->exec.install_hint,
                       u->exec.interactive_mode};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        secret_free(strings[i]);
    yaml_strs_free(u->as_groups);
    for (char **a = u->exec.args; a && *a; a++)
        mem_wipe(*a, strlen(*a)); /* some pass secrets so */
    yaml_strs_free(u->exec.args);
    free(u);
}

static void context_free(struct kubefile_context *c) {
    free(c->e.name);
    free(c->cluster);
    free(c->user);
    free(c->ns);
    free(c);
}

void kubefile_free(struct kubefile *f) {
    if (!f)
        return;
    for (size_t i = 0; i < f->clusters.len; i++)
        cluster_free(f->clusters.p[i]);
    for (size_t i = 0; i < f->users.len; i++)
        user_free(f->users.p[i]);
    for (size_t i = 0; i < f->contexts.len; i++)
        context_free(f->contexts.p[i]);
    vec_done(&f->clusters);
    vec_done(&f->users);
    vec_done(&f->contexts);
    yaml_doc_free(f->doc);
    free(f->path);
    free(f->dir);
    free(f->current_context);
    free(f);
}

/* --- reading --- */

static int check_extensions(const struct yaml_doc *doc, const json_t *list, struct err *err) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        struct extension x = {0};
        int ret = yaml_read(doc, item, yaml_item_pos(doc, list, i), "extension", extension_fields,
                            ARRAY_LEN(extension_fields), &x, err);
        free(x.name);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int read_cluster(struct kubefile *f, const struct kubefile_entry *e, struct yaml_pos pos,
                        struct err *err) {
    struct kubefile_cluster *c = xnew(struct kubefile_cluster);
    c->e = *e;
    *vec_push(&f->clusters) = c;
    int ret = yaml_read(f->doc, e->body, pos, "cluster", cluster_fields, ARRAY_LEN(cluster_fields),
                        c, err);
    return ret < 0 ? ret : check_extensions(f->doc, c->extensions, err);
}

static int read_exec(const struct yaml_doc *doc, struct kubefile_user *u, struct err *err) {
    int ret = yaml_read(doc, u->exec_body, yaml_value_pos(doc, u->e.body, "exec"), "exec",
                        exec_fields, ARRAY_LEN(exec_fields), &u->exec, err);
    size_t i;
    json_t *item;
    if (ret < 0)
        return ret;
    json_array_foreach(u->exec.env, i, item) {
        struct exec_env env = {0};
        ret = yaml_read(doc, item, yaml_item_pos(doc, u->exec.env, i), "exec env", exec_env_fields,
                        ARRAY_LEN(exec_env_fields), &env, err);
        secret_free(env.name);
        secret_free(env.value);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int check_extra(const struct yaml_doc *doc, const json_t *extra, struct err *err) {
    const char *key;
    json_t *list, *item;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)extra, key, list) {
        if (!json_is_array(list) && !json_is_null(list))
            return yaml_err(doc, yaml_value_pos(doc, extra, key), err,
                            "as-user-extra: each value must be a list of strings, not %s",
                            json_type_words(list));
        json_array_foreach(list, i, item) {
            if (!json_is_string(item))
                return yaml_err(doc, yaml_item_pos(doc, list, i), err,
                                "as-user-extra: each value must be a list of strings, not of %s",
                                json_is_number(item) ? "numbers: put them in quotes"
                                                     : json_type_words(item));
        }
    }
    return 0;
}

static int read_user(struct kubefile *f, const struct kubefile_entry *e, struct yaml_pos pos,
                     struct err *err) {
    struct user_extensions both = {.user.e = *e};
    int ret =
        yaml_read(f->doc, e->body, pos, "user", user_fields, ARRAY_LEN(user_fields), &both, err);
    struct kubefile_user *u = xmemdup(&both.user, sizeof both.user);
    *vec_push(&f->users) = u;
    if (ret >= 0)
        ret = check_extensions(f->doc, both.extensions, err);
    if (ret >= 0)
        ret = check_extra(f->doc, u->as_extra, err);
    if (ret >= 0 && u->exec_body)
        ret = read_exec(f->doc, u, err);
    return ret;
}

static int read_context(struct kubefile *f, const struct kubefile_entry *e, struct yaml_pos pos,
                        struct err *err) {
    struct context_extensions both = {.context.e = *e};
    int ret = yaml_read(f->doc, e->body, pos, "context", context_fields, ARRAY_LEN(context_fields),
                        &both, err);
    *vec_push(&f->contexts) = xmemdup(&both.context, sizeof both.context);
    return ret < 0 ? ret : check_extensions(f->doc, both.extensions, err);
}

/* One of the three lists. Its elements are {name: ..., <what>: {...}}. */
static int read_list(struct kubefile *f, const json_t *list, const char *what,
                     int (*read)(struct kubefile *f, const struct kubefile_entry *e,
                                 struct yaml_pos pos, struct err *err),
                     struct err *err) {
    const struct yaml_field fields[] = {
        YAML_FIELD("name", YAML_T_STR, struct named, name, .required = true),
        YAML_FIELD(what, YAML_T_OBJECT, struct named, body),
    };
    _cleanup_free_ char *entry = xasprintf("entry of %ss", what);
    /* Names that were there; the values are their lines. */
    _cleanup_json_ json_t *seen = json_object();
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        struct named n = {0};
        struct yaml_pos pos = yaml_item_pos(f->doc, list, i);
        int ret = yaml_read(f->doc, item, pos, entry, fields, ARRAY_LEN(fields), &n, err);
        if (ret >= 0 && !*n.name)
            ret = yaml_err(f->doc, yaml_value_pos(f->doc, item, "name"), err, "%s: name is empty",
                           entry);
        json_t *before = ret < 0 ? NULL : json_object_get(seen, n.name);
        if (before) {
            _cleanup_str_ struct str shown = STR_INIT;
            utf8_printable(&shown, n.name);
            ret = yaml_err(f->doc, pos, err, "a second %s named \"%s\" (the first is in line %d)",
                           what, str_get(&shown), (int)json_integer_value(before));
        }
        if (ret < 0) {
            free(n.name);
            return ret;
        }
        json_object_set_new_nocheck(seen, n.name, json_integer(pos.line));
        struct kubefile_entry e = {f, n.name, pos, n.body ? n.body : json_null()};
        struct yaml_pos body_pos = n.body ? yaml_value_pos(f->doc, item, what) : pos;
        ret = read(f, &e, body_pos, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int check_kind(const struct yaml_doc *doc, const struct top *top, struct err *err) {
    const json_t *root = yaml_root(doc);
    const struct {
        const char *key, *value, *want;
    } checks[] = {{"apiVersion", top->api_version, "v1"}, {"kind", top->kind, "Config"}};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (str_empty(checks[i].value) || streq(checks[i].value, checks[i].want))
            continue;
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, checks[i].value);
        return yaml_err(doc, yaml_value_pos(doc, root, checks[i].key), err,
                        "this is no kubeconfig: %s is \"%s\", not \"%s\"", checks[i].key,
                        str_get(&shown), checks[i].want);
    }
    return 0;
}

static int read_top(struct kubefile *f, struct top *top, struct err *err) {
    const struct yaml_doc *doc = f->doc;
    const json_t *root = yaml_root(doc);
    int ret = yaml_read(doc, root, yaml_root_pos(doc), "kubeconfig", top_fields,
                        ARRAY_LEN(top_fields), top, err);
    if (ret >= 0)
        ret = check_kind(doc, top, err);
    if (ret >= 0 && top->preferences) {
        struct preferences p = {0};
        ret = yaml_read(doc, top->preferences, yaml_value_pos(doc, root, "preferences"),
                        "preferences", preferences_fields, ARRAY_LEN(preferences_fields), &p, err);
        if (ret >= 0)
            ret = check_extensions(doc, p.extensions, err);
    }
    if (ret >= 0)
        ret = check_extensions(doc, top->extensions, err);
    if (ret >= 0)
        ret = read_list(f, top->clusters, "cluster", read_cluster, err);
    if (ret >= 0)
        ret = read_list(f, top->users, "user", read_user, err);
    if (ret >= 0)
        ret = read_list(f, top->contexts, "context", read_context, err);
    if (ret >= 0 && !str_empty(top->current_context))
        f->current_context = TAKE_PTR(top->current_context);
    return ret;
}

/* The absolute directory of a path. Nothing is resolved: ".." and symbolic links stay. */
static char *dir_of(const char *path) {
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *dir =
        slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    if (dir && *dir == '/')
        return TAKE_PTR(dir);
    char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return xstrdup(dir ? dir : ".");
    if (!dir)
        return cwd;
    char *joined = xasprintf("%s/%s", cwd, dir);
    free(cwd);
    return joined;
}

int kubefile_load(const char *path, struct kubefile **out, struct err *err) {
    struct yaml_doc *doc;
    int ret = yaml_load_file(path, &doc, err);
    if (ret < 0)
        return ret;
    struct kubefile *f = xnew(struct kubefile);
    f->doc = doc;
    f->path = xstrdup(path);
    f->dir = dir_of(path);
    struct top top = {0};
    ret = read_top(f, &top, err);
    free(top.kind);
    free(top.api_version);
    free(top.current_context);
    if (ret < 0) {
        kubefile_free(f);
        return ret;
    }
    *out = f;
    return 0;
}

char *kubefile_path(const struct kubefile *f, const char *path) {
    return *path == '/' ? xstrdup(path) : xasprintf("%s/%s", f->dir, path);
}

int kubefile_err(const struct kubefile_entry *e, const char *key, struct err *err, const char *fmt,
                 ...) {
    struct yaml_pos pos = yaml_value_pos(e->file->doc, e->body, key);
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *what = xvasprintf(fmt, ap);
    va_end(ap);
    return yaml_err(e->file->doc, pos.line ? pos : e->pos, err, "%s", what);
}
