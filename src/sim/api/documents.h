/* The documents that say what the API is: discovery, OpenAPI, its version. */
#ifndef SIM_API_DOCUMENTS_H
#define SIM_API_DOCUMENTS_H

#include "sim/api/route.h"

int documents_serve(struct call *c, const struct path *path, struct failure *f);

#endif
