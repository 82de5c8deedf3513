/* The resources that the simulated API serves: what path and kind each has, what may be done to it,
 * and by what other names kubectl knows it. One row per resource and version; discovery, routing
 * and storage all read the same rows.
 *
 * The built-in rows are those of Kubernetes 1.36.3 (pkg/registry), less the subresources that the
 * simulator does not serve. A custom resource gets a row of its own from its definition, with
 * `custom` set; whoever makes that row owns its strings and keeps them as long as the row is used.
 *
 * A row with no `list_kind` is not stored (access reviews): it is created and answered at once. */
#ifndef SIM_API_RESOURCE_H
#define SIM_API_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* In the order in which the server names them: by alphabet. */
enum api_verb {
    VERB_CREATE = 1 << 0,
    VERB_DELETE = 1 << 1,
    VERB_DELETECOLLECTION = 1 << 2,
    VERB_GET = 1 << 3,
    VERB_LIST = 1 << 4,
    VERB_PATCH = 1 << 5,
    VERB_UPDATE = 1 << 6,
    VERB_WATCH = 1 << 7,
};
enum {
    VERB_COUNT = 8,
    VERBS_ALL = (1 << VERB_COUNT) - 1,
    VERBS_PART = VERB_GET | VERB_PATCH | VERB_UPDATE, /* of /status and /scale */
};

struct subresource_info {
    const char *name;            /* "eviction" */
    const char *group, *version; /* of the kind; NULL: those of the resource */
    const char *kind;            /* of what is sent and answered */
    unsigned verbs;              /* enum api_verb */
};

struct resource_info {
    const char *group;   /* "" is the core group */
    const char *version; /* "v1" */
    const char *kind, *list_kind;
    const char *plural, *singular;
    const char *const *short_names; /* NULL-terminated; NULL when there are none */
    const char *const *categories;  /* the same */
    bool namespaced;
    bool has_status, has_scale;
    bool custom;                                 /* from a CustomResourceDefinition */
    const char *stored;                          /* version; NULL: this one; "": one not served */
    unsigned verbs;                              /* enum api_verb */
    const struct subresource_info *subresources; /* but status and scale; by name; NULL: none */
    size_t n_subresources;
};

/* The built-in rows: groups in the order of /apis, resources by plural within one. */
const struct resource_info *resource_builtin(size_t *n);

/* A built-in row by its path, or by its kind; NULL when there is none. */
const struct resource_info *resource_find(const char *group, const char *version,
                                          const char *plural);
const struct resource_info *resource_find_kind(const char *group, const char *version,
                                               const char *kind);

/* All subresources, status and scale among them, in the order in which the server names them (by
 * name; of a custom resource status first): fills `out`, which has room for n_subresources + 2, and
 * returns how many. */
size_t resource_subresources(const struct resource_info *r, struct subresource_info *out);
/* One of them by name; false when the resource has no such subresource. */
bool resource_subresource(const struct resource_info *r, const char *name,
                          struct subresource_info *out);

/* "create", ...; `verb` is one bit. */
const char *api_verb_name(enum api_verb verb);
/* "v1", "apps/v1": appended. */
void group_version_add(struct str *out, const char *group, const char *version);

#endif
