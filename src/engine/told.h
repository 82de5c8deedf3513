/* What drains tell about their nodes in Events, for those who read them: "DrainBlocked" with
 * "PDBNoBudget shop/web: needs ...", and later "DrainUnblocked" with the code alone. */
#ifndef ENGINE_TOLD_H
#define ENGINE_TOLD_H

#include "base/str.h"
#include "engine/blocker.h"
#include "model/store.h"

struct told {
    enum blocker_code code;
    struct view object;  /* "shop/web"; empty for the node itself */
    const char *message; /* the rest */
    int64_t since, last; /* wall clock: told the first time, and the last */
};

/* The last time that it was told. */
int64_t told_last(const struct kube_event *e);
/* Whether the Event is of this reason and about this node. */
bool told_about(const struct kube_event *e, const struct node *node, const char *reason);
/* What a DrainBlocked says; false when no drain of ours has written it. Points into the Event. */
bool told_parse(const struct kube_event *e, struct told *out);
/* The drain has told later that this is over. */
bool told_over(const struct store *events, const struct node *node, const struct told *t);

#endif
