/* resourceVersions of one resource compare as decimal numbers of any length (Kubernetes 1.35 made
 * that part of the API; earlier servers behave so). They are never turned into integers. */
#ifndef MODEL_VERSION_H
#define MODEL_VERSION_H

#include <stdbool.h>

/* Digits without a leading zero. */
bool version_valid(const char *v);
/* Negative, 0 or positive as a is older than, the same as or newer than b. NULL and what is no
 * version are older than every version. */
int version_compare(const char *a, const char *b);

#endif
