/* What Slipway must be allowed to do in a cluster: one table, from which `doctor` asks the API
 * server and the documentation is made. */
#ifndef KUBE_PERMISSIONS_H
#define KUBE_PERMISSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct permission {
    const char *group, *resource, *subresource; /* "" and NULL when there is none */
    const char *verbs[5];                       /* NULL-terminated */
    const char *what_for;                       /* "to see the nodes" */
    bool optional;                              /* it can be done without */
    /* The API group of a system that not every cluster has: without it nobody needs this. NULL:
     * everywhere. */
    const char *where;
};

extern const struct permission permissions[];
extern const size_t n_permissions;

/* "poddisruptionbudgets.policy", "pods/eviction". */
void permission_name(const struct permission *p, struct str *out);
/* The body of a SelfSubjectAccessReview for one verb of it. */
void permission_review(const struct permission *p, const char *verb, struct str *out);

#endif
