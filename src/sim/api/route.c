/* Paths of the API. */
#include "sim/api/route.h"

enum { PARTS = 10 };

/* /healthz/ping and the like answer too. */
static bool is_health(const char *part) {
    return streq(part, "healthz") || streq(part, "livez") || streq(part, "readyz");
}

static bool group_served(const struct api *a, const char *group, const char *version) {
    for (size_t i = 0; i < a->resources.len; i++) {
        const struct resource_info *r = a->resources.p[i]->info;
        if (streq(r->group, group) && (!version || streq(r->version, version)))
            return true;
    }
    return false;
}

static bool group_built_in(const char *group) {
    size_t n;
    const struct resource_info *rows = resource_builtin(&n);
    for (size_t i = 0; i < n; i++)
        if (streq(rows[i].group, group))
            return true;
    return false;
}

/* What follows the version. */
static enum route resource_path(struct call *c, const char *group, const char *version,
                                char *const *part, size_t n) {
    struct subresource_info sub;
    if (n >= 3 && streq(part[0], "namespaces") &&
        !(n == 3 && c->api->namespaces &&
          resource_subresource(c->api->namespaces->info, part[2], &sub) && !*group)) {
        c->ns = *part[1] ? part[1] : NULL; /* an empty one is all of them */
        part += 2;
        n -= 2;
    }
    c->res = api_resource(c->api, group, version, part[0]);
    if (!c->res || n > 3 || (c->ns && !c->res->info->namespaced))
        return ROUTE_UNKNOWN;
    if (n > 1)
        c->name = part[1];
    if (n > 2) {
        c->sub = part[2];
        if (!resource_subresource(c->res->info, c->sub, &sub))
            return ROUTE_UNKNOWN;
    }
    /* A namespaced object has no path outside its namespace. */
    if (c->name && c->res->info->namespaced && !c->ns)
        return ROUTE_UNKNOWN;
    return ROUTE_RESOURCE;
}

void route_parse(struct call *c, struct path *out) {
    *out = (struct path){.route = ROUTE_NONE};
    char *part[PARTS], *p;
    size_t n = 0;
    /* Decoded first, as Go's server does: "%2F" is a slash like any other. */
    const char *target = c->req->target;
    if (*target != '/' || !url_decode(&c->arena, target, strcspn(target, "?"), false, &p))
        return;
    size_t end = strlen(p);
    bool slash = end > 1 && p[end - 1] == '/';
    while (end && p[end - 1] == '/')
        p[--end] = 0;
    /* Of more parts than any path has only the number matters. */
    while (*p == '/') {
        char *start = p + 1;
        p = start + strcspn(start, "/");
        if (n < PARTS)
            part[n] = arena_strndup(&c->arena, start, (size_t)(p - start));
        n++;
    }
    if (n == 0 || (n == 1 && streq(part[0], "index.html"))) {
        out->route = ROUTE_ROOT;
        return;
    }
    if (is_health(part[0]) && n <= 2 && !slash) {
        out->route = ROUTE_HEALTH;
        out->check = part[0];
        out->part = n > 1 ? part[1] : NULL;
    } else if (streq(part[0], "version")) {
        out->route = n == 1 ? ROUTE_VERSION : ROUTE_UNKNOWN;
    } else if (streq(part[0], "openapi")) {
        if (n == 2 && streq(part[1], "v3")) {
            out->route = ROUTE_OPENAPI;
        } else if (n == 2 && streq(part[1], "v2")) {
            out->route = ROUTE_OPENAPI_V2;
        } else if (n == 4 && streq(part[1], "v3") && streq(part[2], "api")) {
            out->group = "";
            out->version = part[3];
        } else if (n == 5 && streq(part[1], "v3") && streq(part[2], "apis")) {
            out->group = part[3];
            out->version = part[4];
        }
        if (out->group && group_served(c->api, out->group, out->version))
            out->route = ROUTE_OPENAPI_GROUP;
    } else if (streq(part[0], "api")) {
        out->group = "";
        out->version = n > 1 ? part[1] : NULL;
        if (n == 1)
            out->route = ROUTE_LEGACY;
        else if (!group_served(c->api, "", part[1]))
            out->route = ROUTE_UNKNOWN;
        else if (n == 2)
            out->route = ROUTE_RESOURCES;
        else
            out->route = resource_path(c, "", part[1], part + 2, n - 2);
    } else if (streq(part[0], "apis")) {
        out->group = n > 1 ? part[1] : NULL;
        out->version = n > 2 ? part[2] : NULL;
        if (n == 1)
            out->route = ROUTE_GROUPS;
        else if (!*part[1] || !group_served(c->api, part[1], NULL))
            out->route = ROUTE_NONE;
        else if (out->version && !group_served(c->api, part[1], out->version))
            out->route = group_built_in(part[1]) ? ROUTE_UNKNOWN : ROUTE_NONE;
        else if (n == 2)
            out->route = ROUTE_GROUP;
        else if (n == 3)
            out->route = ROUTE_RESOURCES;
        else
            out->route = resource_path(c, part[1], part[2], part + 3, n - 3);
    }
}
