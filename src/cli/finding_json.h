/* What a check found (engine/checks.h), for documents. */
#ifndef CLI_FINDING_JSON_H
#define CLI_FINDING_JSON_H

#include "base/jsonw.h"
#include "engine/checks.h"

/* "cordon", "operation", "next": what a finding stands in the way of; NULL: there is none of that
 * number. */
const char *finding_gate(size_t i, enum check_when *when);
/* The same but for the node: what is told once, with all nodes that it is about. */
bool finding_same(const struct check_finding *a, const struct check_finding *b);
/* An object, as docs/checks.md has it. */
void finding_json(struct jsonw *w, const struct check_finding *f);

#endif
