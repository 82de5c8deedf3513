/* From a path to what it is about. */
#ifndef SIM_API_ROUTE_H
#define SIM_API_ROUTE_H

#include "sim/api/api_internal.h"

enum route {
    ROUTE_NONE,      /* 404 page not found */
    ROUTE_RESOURCE,  /* call->res, ns, name, sub */
    ROUTE_UNKNOWN,   /* below a group that is served, but no resource of it */
    ROUTE_ROOT,      /* / */
    ROUTE_HEALTH,    /* /healthz, /livez, /readyz and what is below: path->check */
    ROUTE_VERSION,   /* /version */
    ROUTE_LEGACY,    /* /api */
    ROUTE_GROUPS,    /* /apis */
    ROUTE_GROUP,     /* /apis/GROUP: route->group */
    ROUTE_RESOURCES, /* /api/v1, /apis/GROUP/VERSION */
    ROUTE_OPENAPI,   /* /openapi/v3 */
    ROUTE_OPENAPI_GROUP,
    ROUTE_OPENAPI_V2, /* /openapi/v2 */
};

struct path {
    enum route route;
    const char *group, *version; /* of the last kinds */
    const char *check, *part;    /* "healthz", "ping" or NULL */
};

/* Splits the path of the call's request (decoded into its arena) and fills what the route says. */
void route_parse(struct call *c, struct path *out);

#endif
