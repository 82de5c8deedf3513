/* What drains tell about their nodes, for those who read it: in Events, "DrainBlocked" with
 * "PDBNoBudget shop/web: needs ...", and later "DrainUnblocked" with the code alone; and in the
 * condition DrainInProgress how they ended. */
#ifndef ENGINE_TOLD_H
#define ENGINE_TOLD_H

#include "base/str.h"
#include "engine/blocker.h"
#include "model/store.h"

#define TOLD_ENDED "SlipwayDrainEnded" /* reason of the condition: it did not get through */

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

/* How the last drain of a node that is still cordoned ended, if it did not get through; else NULL.
 */
const struct condition *told_end(const struct node *node);
/* Whether that says that an admission webhook or policy refused somebody, which nothing but trying
 * finds. */
bool told_denied(const struct condition *end);
/* The same of this pod: as many as a drain names, which is three. */
bool told_denied_pod(const struct condition *end, const struct pod *pod);

#endif
