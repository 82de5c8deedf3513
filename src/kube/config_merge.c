/* The kubeconfig files that apply, merged by client-go's rules. */
#include "kube/config_merge.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

static int add_file(struct kubefiles *set, const char *path, bool must_exist, struct err *err) {
    struct kubefile *file;
    _cleanup_err_ struct err why = ERR_INIT;
    int ret = kubefile_load(path, &file, &why);
    if (ret >= 0) {
        *vec_push(&set->files) = file;
        return 0;
    }
    /* HOME=/dev/null is what some daemons are started with. */
    if (!must_exist && (ret == -ENOENT || ret == -ENOTDIR)) {
        *vec_push(&set->missing) = xstrdup(path);
        return 0;
    }
    err_move(err, &why);
    /* Mistakes in the file begin with the file's name and place: leave them so. */
    if (ret != -EINVAL)
        err_wrap(err, "cannot read the kubeconfig");
    return ret;
}

static bool seen_before(const char *list, const char *part, size_t len) {
    for (const char *p = list; p < part; p += strcspn(p, ":") + 1)
        if (strcspn(p, ":") == len && strncmp(p, part, len) == 0)
            return true;
    return false;
}

static int add_list(struct kubefiles *set, const char *list, struct err *err) {
    for (const char *p = list;;) {
        size_t len = strcspn(p, ":");
        if (len && !seen_before(list, p, len)) {
            _cleanup_free_ char *path = xstrndup(p, len);
            int ret = add_file(set, path, false, err);
            if (ret < 0)
                return ret;
        }
        if (!p[len])
            return 0;
        p += len + 1;
    }
}

int kubefiles_load(const struct kube_config_flags *flags, const struct kube_env *env,
                   struct kubefiles *out, struct err *err) {
    struct kubefiles set = {.explicit = !str_empty(flags->kubeconfig)};
    int ret = 0;
    if (set.explicit) {
        ret = add_file(&set, flags->kubeconfig, true, err);
    } else if (!str_empty(env->kubeconfig)) {
        ret = add_list(&set, env->kubeconfig, err);
    } else if (!str_empty(env->home)) {
        _cleanup_free_ char *path = xasprintf("%s/.kube/config", env->home);
        ret = add_file(&set, path, false, err);
    }
    if (ret < 0) {
        kubefiles_done(&set);
        return ret;
    }
    *out = set;
    return 0;
}

void kubefiles_done(struct kubefiles *set) {
    for (size_t i = 0; i < set->files.len; i++)
        kubefile_free(set->files.p[i]);
    for (size_t i = 0; i < set->missing.len; i++)
        free(set->missing.p[i]);
    vec_done(&set->files);
    vec_done(&set->missing);
}

/* --- looking up --- */

/* The entries of one kind of a file; the three element types begin with their kubefile_entry. */
static size_t entries(const struct kubefile *f, enum kubefile_kind kind,
                      const struct kubefile_entry *const **out) {
    switch (kind) {
    case KUBEFILE_CLUSTER:
        *out = (const void *)f->clusters.p;
        return f->clusters.len;
    case KUBEFILE_USER:
        *out = (const void *)f->users.p;
        return f->users.len;
    case KUBEFILE_CONTEXT:
        break;
    }
    *out = (const void *)f->contexts.p;
    return f->contexts.len;
}

static const struct kubefile_entry *find(const struct kubefiles *set, enum kubefile_kind kind,
                                         const char *name) {
    for (size_t i = 0; i < set->files.len; i++) {
        const struct kubefile_entry *const *list;
        size_t n = entries(set->files.p[i], kind, &list);
        for (size_t j = 0; j < n; j++)
            if (streq(list[j]->name, name))
                return list[j];
    }
    return NULL;
}

const struct kubefile_cluster *kubefiles_cluster(const struct kubefiles *set, const char *name) {
    return (const struct kubefile_cluster *)find(set, KUBEFILE_CLUSTER, name);
}

const struct kubefile_user *kubefiles_user(const struct kubefiles *set, const char *name) {
    return (const struct kubefile_user *)find(set, KUBEFILE_USER, name);
}

const struct kubefile_context *kubefiles_context(const struct kubefiles *set, const char *name) {
    return (const struct kubefile_context *)find(set, KUBEFILE_CONTEXT, name);
}

const struct kubefile *kubefiles_current(const struct kubefiles *set) {
    for (size_t i = 0; i < set->files.len; i++)
        if (set->files.p[i]->current_context)
            return set->files.p[i];
    return NULL;
}

char **kubefiles_names(const struct kubefiles *set, enum kubefile_kind kind, size_t *n) {
    VEC(char *) names = VEC_INIT;
    for (size_t i = 0; i < set->files.len; i++) {
        const struct kubefile_entry *const *list;
        size_t len = entries(set->files.p[i], kind, &list);
        for (size_t j = 0; j < len; j++)
            if (find(set, kind, list[j]->name) == list[j]) /* else an earlier file has it */
                *vec_push(&names) = xstrdup(list[j]->name);
    }
    if (n)
        *n = names.len;
    *vec_push(&names) = NULL;
    return names.p;
}

void kubefiles_origin(const struct kubefiles *set, struct str *out) {
    for (size_t i = 0; i < set->files.len; i++) {
        if (i)
            str_addc(out, ':');
        str_add(out, set->files.p[i]->path);
    }
}
