/* The configuration of airlock, another FleetLock service, as Policies: its groups and their slots.
 *
 * airlock knows groups and no nodes: a client says of which group it is. Here a Policy says which
 * nodes it has, so that with several groups each selects its nodes by the label AIRLOCK_LABEL,
 * which somebody has to put on them. */
#ifndef CLI_AIRLOCK_H
#define CLI_AIRLOCK_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

#define AIRLOCK_LABEL "slipway.dev/fleetlock-group"

/* `toml` is the text of the file `name`. A list of Policies; what was not carried over, and what is
 * left to do, in `notes`, a line each. -EINVAL: it is no such file, or a group cannot be a Policy.
 */
int airlock_import(const char *name, const char *toml, json_t **out, struct str *notes,
                   struct err *err);

#endif
