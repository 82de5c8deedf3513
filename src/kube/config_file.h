/* One kubeconfig file: read, every key checked, nothing resolved yet.
 *
 * Every key of every entry, used or not, is either known or refused with its place, and so is every
 * wrong type. What an entry means (base64, URLs, which of several credentials) is looked at when it
 * is used: a broken entry that nobody uses harms nobody. */
#ifndef KUBE_CONFIG_FILE_H
#define KUBE_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "base/yaml.h"

struct kubefile;

/* What all entries have. `body` is the mapping below "cluster:", "user:" or "context:" (or null),
 * for asking where a key stands. */
struct kubefile_entry {
    const struct kubefile *file;
    char *name;
    struct yaml_pos pos;
    const json_t *body;
};

struct kubefile_cluster {
    struct kubefile_entry e; /* first in all three, so that they can be searched alike */
    char *server, *tls_server_name, *proxy_url;
    char *ca_file, *ca_data;
    bool insecure, disable_compression;
    const json_t *extensions;
};

struct kubefile_exec {
    char *command, *api_version, *install_hint, *interactive_mode;
    char **args;
    const json_t *env; /* a list of {name, value}, checked */
    bool provide_cluster_info;
};

struct kubefile_user {
    struct kubefile_entry e;
    char *cert_file, *cert_data, *key_file, *key_data;
    char *token, *token_file, *username, *password;
    char *as_user, *as_uid;
    char **as_groups;
    const json_t *as_extra; /* a mapping of lists of strings, checked */
    const json_t *auth_provider;
    const json_t *exec_body; /* NULL: no exec */
    struct kubefile_exec exec;
};

struct kubefile_context {
    struct kubefile_entry e;
    char *cluster, *user, *ns;
};

struct kubefile {
    struct yaml_doc *doc;
    char *path; /* as given */
    char *dir;  /* absolute: what relative paths in it are relative to */
    char *current_context;
    VEC(struct kubefile_cluster *) clusters;
    VEC(struct kubefile_user *) users;
    VEC(struct kubefile_context *) contexts;
};

/* An empty file, or one with the document null, is a kubeconfig with nothing in it. -ENOENT when
 * there is no such file. */
int kubefile_load(const char *path, struct kubefile **out, struct err *err);
void kubefile_free(struct kubefile *file);

/* A path of the file, made absolute. */
char *kubefile_path(const struct kubefile *file, const char *path);

/* "FILE:LINE:COL: ..." at the value of `key` in the entry's body (or at the entry, when the body
 * has no such key). Returns -EINVAL. */
int kubefile_err(const struct kubefile_entry *e, const char *key, struct err *err, const char *fmt,
                 ...) __attribute__((format(printf, 4, 5)));

#endif
