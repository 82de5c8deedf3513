/* Numbers against a schema: bounds, multiples and ranges, with the oddities of Go's types
 * (kube-openapi pkg/validation/validate: numberValidator and values.go). */
#ifndef SIM_API_STRUCTURAL_NUMBER_H
#define SIM_API_STRUCTURAL_NUMBER_H

#include "sim/api/structural_result.h"

/* Does the float count as a whole number? Rounding errors are forgiven. */
bool number_is_whole(double v);
/* Conversions as Go makes them on amd64, where C would leave them undefined. */
int64_t number_to_int(double v);
/* `type` is the schema's if it has exactly one, else 0; `format` one that is meant for it, or NULL.
 */
void number_validate(const struct snode *n, unsigned type, const char *format, const json_t *value,
                     const struct spath *path, struct vresult *out);

#endif
