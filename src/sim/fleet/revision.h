/* ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had, numbered, so that
 * pods can be told to be of the present one. */
#ifndef SIM_FLEET_REVISION_H
#define SIM_FLEET_REVISION_H

#include "sim/fleet/fleet.h"

/* The revision of the owner's present template (a record of the caller's), made if there is none;
 * its number is raised when an older template comes back. NULL when it was refused. */
struct record *revision_current(struct fleet *f, const struct resource *res,
                                const struct record *owner, const json_t *template);
/* Those of an owner, by number; references of the caller's. */
struct revisions {
    VEC(struct record *) v;
};
void revisions_of(struct fleet *f, const struct record *owner, struct revisions *out);
void revisions_done(struct revisions *r);
/* The template that a revision has, with a "$patch" in it; NULL when there is none. */
const json_t *revision_template(struct record *revision);
/* Deletes the oldest beyond `limit` that are not `keep` (names, NULL-terminated). */
void revisions_trim(struct fleet *f, struct revisions *r, int64_t limit, const char *const *keep);

#endif
