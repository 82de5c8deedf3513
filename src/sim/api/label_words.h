/* What Kubernetes' own parser says about a label selector that it refuses (apimachinery's
 * pkg/labels). model/selector.h reads selectors; its messages are for people who type them, these
 * are for clients that compare. */
#ifndef SIM_API_LABEL_WORDS_H
#define SIM_API_LABEL_WORDS_H

#include <stdbool.h>

#include "base/str.h"

/* Appends the message and returns true when the server would refuse the selector. */
bool label_refusal(const char *selector, struct str *out);

#endif
