/* What the checks (engine/checks.h) say to a drain of each node by itself, for `doctor`: equal
 * findings about several nodes are one. Pure. */
#ifndef CLI_DOCTOR_CHECKS_H
#define CLI_DOCTOR_CHECKS_H

#include "base/arena.h"
#include "engine/checks.h"

struct doctor_check {
    const struct check_finding *finding; /* the first of them */
    const char *const *nodes;
    size_t n_nodes;
};

struct doctor_checks {
    const struct doctor_check *list; /* those that deny first */
    size_t n;
    const char *quiet; /* titles of those that are there and have nothing against it; "" */
};

/* Only what stands in the way of a drain, or of what the node is drained for. Everything lives in
 * the arena, or as long as `found`. */
void doctor_checks_fold(const struct checks *found, struct arena *arena, struct doctor_checks *out);
/* Whether a drain does not begin, or does not end, because of it. */
bool doctor_check_blocks(const struct doctor_check *c);
/* Whether it is in the way only when the pods are gone: of the end, or of what comes after it. */
bool doctor_check_ends(const struct doctor_check *c);

#endif
