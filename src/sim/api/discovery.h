/* Discovery: the documents that tell a client what the API serves (GET /api, /apis, /api/v1,
 * /apis/GROUP, /apis/GROUP/VERSION, /version), and the aggregated form of 1.30 and later, in which
 * one answer holds it all.
 *
 * Everything is made from the rows of the resources (sim/api/resource.h), in whatever order they
 * are given: built-in groups come in the order of their first rows, custom ones after them,
 * versions by Kubernetes' rule (v2, v1, v1beta1, v1alpha1), resources by name. Each function
 * appends one document, compact and without a newline.
 *
 * What the server says to paths that lead nowhere: to an unknown group, and to an unknown version
 * of a custom one, 404 with the plain text "404 page not found"; to an unknown version of a
 * built-in group 404 with a Status. */
#ifndef SIM_API_DISCOVERY_H
#define SIM_API_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "sim/api/resource.h"

/* The type of the aggregated documents. Any other version of them is not served (406). */
#define DISCOVERY_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

struct discovery {
    const struct resource_info *const *rows;
    size_t n;
};

/* GET /api: the versions of the core group. `address` is this server's "127.0.0.1:6443"; NULL where
 * it has none. */
void discovery_core(const struct discovery *d, const char *address, struct str *out);
/* GET /apis: all groups but the core one. */
void discovery_groups(const struct discovery *d, struct str *out);
/* GET /apis/GROUP; false when there is none. */
bool discovery_group(const struct discovery *d, const char *group, struct str *out);
/* GET /api/v1 (`group` is "") and /apis/GROUP/VERSION; false when there is none. */
bool discovery_resources(const struct discovery *d, const char *group, const char *version,
                         struct str *out);

/* GET /api (`core`) or /apis as DISCOVERY_TYPE. */
void discovery_aggregated(const struct discovery *d, bool core, struct str *out);

/* GET /version. */
void discovery_version(struct str *out);

/* Versions as Kubernetes sorts them, the preferred one first: negative when `a` goes before `b`. */
int discovery_compare_versions(const char *a, const char *b);

#endif
