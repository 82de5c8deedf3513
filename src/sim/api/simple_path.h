/* Simple JSON paths, as definitions of custom resources have them: ".spec.replicas",
 * ".status.conditions[?(@.type==\"Ready\")].status", ".metadata.labels['app.kubernetes.io/name']",
 * ".spec.ports[0].port", ".spec.list[*].name", ".metadata.annotations.a\.b".
 *
 * That is what printer columns and selectable fields use of client-go's JSONPath, of which the
 * first value found is all that is looked at; `-o jsonpath` has all of it (cli/jsonpath.h).
 * Understood are names, quoted names in brackets, indexes (negative from the end), [*] and .*,
 * ranges [1:3], and filters that compare a path below @ with a text, a number or true and false by
 * ==, !=, <, <=, > and >=, or ask for its existence. Refused: .. and unions. */
#ifndef SIM_API_SIMPLE_PATH_H
#define SIM_API_SIMPLE_PATH_H

#include "base/err.h"
#include "base/json.h"

struct simple_path;

/* The path may be in braces. -EINVAL with the column and what is wrong there. */
int simple_path_compile(const char *text, struct simple_path **out, struct err *err);
/* The first value that it leads to, or NULL; belongs to `obj`. */
const json_t *simple_path_find(const struct simple_path *p, const json_t *obj);
void simple_path_free(struct simple_path *p);

#endif
