/* Kubernetes quantities ("500m", "1.5Gi", "2e3") as int64_t thousandths.
 *
 * Scheduling compares whole bytes and thousandths of a CPU, both rounded up, so thousandths rounded
 * away from zero lose nothing that a decision needs. Values past 9.2e15 saturate. */
#ifndef MODEL_QUANTITY_H
#define MODEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUANTITY_LEN = 32 };

bool quantity_parse(const char *s, size_t len, int64_t *milli);
/* "2", "1500m": the shortest exact form without suffixes other than m. */
const char *quantity_format(int64_t milli, char buf[static QUANTITY_LEN]);

#endif
