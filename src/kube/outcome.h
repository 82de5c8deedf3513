/* What an answer of the API server means.
 *
 * HTTP codes are ambiguous: 429 alone has four origins, 403 three, 500 two. This tells them apart
 * by the causes, the content type and, where Kubernetes gives nothing better, the message, so that
 * nobody else has to. The outcomes themselves are in model/outcome.h. */
#ifndef KUBE_OUTCOME_H
#define KUBE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/transport.h"
#include "model/object.h"
#include "model/outcome.h"

/* An answer: its HTTP code and head, and its Status (all NULL when the body was none). `is_status`
 * tells whether the body was a Kubernetes Status. */
enum kube_outcome kube_outcome_of(int code, const struct kube_head *head,
                                  const struct status *status, bool is_status);
/* A call that ended without a complete answer. */
enum kube_outcome kube_outcome_of_failure(const struct kube_done *done);
/* Seconds after which the server wants to be asked again, -1 when it says nothing. */
int64_t kube_retry_after(const struct kube_head *head, const struct status *status);

#endif
