/* Quantities as Kubernetes' servers print them: "1000m" is "1", "0.5" is "500m", "1024Mi" is "1Gi",
 * "1.5Gi" is "1536Mi". The text of a quantity in whichever of the three notations it was given
 * (decimal suffixes, binary suffixes, exponents), of any size, with Kubernetes' habits: what has a
 * canonical look is kept as it is ("05", "+1"), more than nanos are rounded up, and numbers past
 * the greatest suffix lose it.
 *
 * model/quantity.h has the numbers to decide by; this is the text to give back. */
#ifndef SIM_SCHEMA_QUANTITY_TEXT_H
#define SIM_SCHEMA_QUANTITY_TEXT_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* Longer ones are refused: Kubernetes has no limit, and nobody has such quantities. */
enum { QUANTITY_TEXT_MOST = 1024 };

/* Appends the canonical text to `out`. -EINVAL with Kubernetes' error when it is no quantity. */
int quantity_text(const char *s, size_t len, struct str *out, struct err *err);

#endif
