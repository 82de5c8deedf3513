/* What policies say of FleetLock clients: by which ids they may know their nodes, from where they
 * may ask, and how often. What the command line says holds where there is no Policy. */
#ifndef CONTROLLER_CLIENTS_H
#define CONTROLLER_CLIENTS_H

#include "controller/policies.h"
#include "fleetlock/roster.h"
#include "fleetlock/server.h"

/* The roster knows nodes by all ids that any of the policies allows, and by these, of the built-in
 * one. */
void clients_learn(struct roster *r, const struct policies *policies,
                   const struct roster_options *builtin);
/* Whether it is one of those that the node's own policy allows. */
bool clients_may_use(const struct policy_rules *rules, const struct roster_options *builtin,
                     const struct node *node, const char *id);

struct fleetlock_terms clients_terms(const struct policy_rules *rules,
                                     const struct fleetlock_terms *builtin);

#endif
