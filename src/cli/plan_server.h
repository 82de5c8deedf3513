/* What the API server says about each eviction of a plan: dry runs, which admission webhooks see,
 * too. */
#ifndef CLI_PLAN_SERVER_H
#define CLI_PLAN_SERVER_H

#include "cli/session.h"
#include "engine/plan.h"

/* The plan is corrected where the server knows better. 0, or the exit code after having said why:
 * no answers at all are an error, an answer about a pod is none. */
int plan_ask_server(struct session *s, const struct drain_opts *opts, struct plan *plan,
                    struct arena *arena);
/* What an answer makes of a pod; PLAN_VERDICTS: nothing. */
enum plan_verdict plan_server_verdict(enum plan_verdict planned, enum kube_outcome outcome,
                                      enum blocker_code *code);

#endif
