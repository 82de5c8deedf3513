/* Addresses of Services: the next free one of 10.96.0.0/16, and node ports from 30000. */
#ifndef SIM_API_SERVICES_H
#define SIM_API_SERVICES_H

#include "sim/api/api_internal.h"

/* As strategy.h wants it of `allocate`. */
int services_allocate(struct api *a, json_t *service, const json_t *old, struct failure *f);

#endif
