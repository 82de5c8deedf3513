/* The kubeconfig files that apply, merged by client-go's rules.
 *
 * Which files: --kubeconfig alone, or those of $KUBECONFIG (a list with ':'; empty parts and files
 * that do not exist are passed over, a path that comes twice is read once), or ~/.kube/config. The
 * first file that has a cluster, user or context of a name wins with the whole entry; the first
 * that sets current-context wins. */
#ifndef KUBE_CONFIG_MERGE_H
#define KUBE_CONFIG_MERGE_H

#include "base/str.h"
#include "kube/config.h"
#include "kube/config_file.h"

struct kubefiles {
    VEC(struct kubefile *) files;
    VEC(char *) missing; /* looked for, not there */
    bool explicit;       /* by --kubeconfig */
};

/* A file that --kubeconfig names must exist. No file at all is no error here. */
int kubefiles_load(const struct kube_config_flags *flags, const struct kube_env *env,
                   struct kubefiles *out, struct err *err);
void kubefiles_done(struct kubefiles *set);
#define _cleanup_kubefiles_ __attribute__((cleanup(kubefiles_done)))

/* NULL when there is none of that name. */
const struct kubefile_cluster *kubefiles_cluster(const struct kubefiles *set, const char *name);
const struct kubefile_user *kubefiles_user(const struct kubefiles *set, const char *name);
const struct kubefile_context *kubefiles_context(const struct kubefiles *set, const char *name);
/* The file whose current-context applies, or NULL. */
const struct kubefile *kubefiles_current(const struct kubefiles *set);

/* The names of all entries of one kind, each once, in the order of the files; NULL-terminated, to
 * be freed with kube_config_names_free(). */
enum kubefile_kind { KUBEFILE_CLUSTER, KUBEFILE_USER, KUBEFILE_CONTEXT };
char **kubefiles_names(const struct kubefiles *set, enum kubefile_kind kind, size_t *n);

/* The paths of the files that were read, joined with ':'. */
void kubefiles_origin(const struct kubefiles *set, struct str *out);

#endif
