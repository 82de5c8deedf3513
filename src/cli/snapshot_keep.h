/* The members of objects that a snapshot has: a list of what is kept, so that what nobody thought
 * of is left out, and so is what a later version of Kubernetes adds.
 *
 * A rule has the members of one JSON object. Of one with rules of its own these members are kept,
 * of each item where it is a list; of one without, all that is in it. */
#ifndef CLI_SNAPSHOT_KEEP_H
#define CLI_SNAPSHOT_KEEP_H

#include "base/json.h"

struct keep {
    const char *key; /* NULL: the end */
    const struct keep *below;
};

/* Takes everything out of the object, or of each object in the list, that has no rule. */
void keep_only(json_t *value, const struct keep *rules);

/* The rules of an object of that kind, without its metadata; NULL: of an unknown one. */
const struct keep *keep_of_kind(const char *kind);
extern const struct keep keep_meta[], keep_template_meta[];

#endif
