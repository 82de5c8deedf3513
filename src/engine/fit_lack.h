/* What a pod that fits nowhere lacks: how much more on which node would do, and whether a cordon
 * keeps it out. */
#ifndef ENGINE_FIT_LACK_H
#define ENGINE_FIT_LACK_H

#include "base/str.h"
#include "engine/fit.h"
#include "model/store.h"

struct fit_lack {
    const char *fits;    /* a node that has room for it after all, or NULL */
    size_t short_of;     /* nodes that lack resources and nothing else */
    const char *nearest; /* the one of them that lacks least, or NULL */
    struct str lack;     /* what it lacks: "500m cpu and 2Gi memory" */
    size_t cordoned;     /* nodes that would take it but for their cordon */
    const char *behind;  /* the first of them, or NULL */
    /* What other nodes that are in service have against it, as bits (1u << FIT_TAINT). */
    uint32_t codes;
    bool on_disk; /* a volume of it is on disks of certain nodes, and not in a zone */
};

/* Asks all nodes of the picture. `nodes`: the same as objects, for those that are cordoned (there
 * as well); NULL: cordons are not looked behind. `except`: a node that does not count, since it is
 * to be emptied, or NULL. Names are the picture's. */
void fit_lack_of(struct fit *fit, const struct store *nodes, const struct pod *pod,
                 const char *except, struct fit_lack *out);
void fit_lack_done(struct fit_lack *l);

/* What would make it fit where it is not resources that it lacks, in the order in which it should
 * be thought of; how many. Static texts. */
enum { FIT_HELPS = 3 };
size_t fit_lack_help(const struct fit_lack *l, const char *out[static FIT_HELPS]);

#endif
