/* What kubectl says when the API server refuses something or cannot be reached, for the verbs whose
 * callers know kubectl's lines (drain, cordon, uncordon). Where its line leaves out what an
 * operator needs, ours follows it. */
#ifndef CLI_REFUSAL_H
#define CLI_REFUSAL_H

#include "cli/patient.h"
#include "cli/session.h"

/* Says on standard error why a request that was to be carried out was not. `reason` is that of the
 * Status ("Forbidden"; "": it has none); NULL: it follows from the outcome. Returns false, and has
 * said nothing, when kubectl has no words of its own for it: when the answer was not one of an API
 * server, or an error of which no reason is known. */
bool refusal_say(struct session *s, enum kube_outcome outcome, const char *reason,
                 const char *message);

/* The same for a request of one's own. An answer that is no Status is put into the words that
 * kubectl has for it, which name the request: "get", "nodes" and `name` (NULL: a list). */
bool refusal_of_request(struct session *s, const struct patient *p, const char *verb,
                        const char *resource, const char *name);
/* These words, to be freed; NULL when it was a Status, or kubectl has none that help. `*reason` is
 * that of the Status that it should have been. */
char *refusal_words(const struct patient *p, const char *verb, const char *resource,
                    const char *name, const char **reason);

/* Says what is wrong with a configuration: kubectl's sentence, and below it what ours says more.
 * Returns the exit code. */
int refusal_of_config(struct cli *cli, const struct kube_config_flags *flags,
                      const struct err *err);

#endif
