/* Between paths and the makers of documents. */
#include "sim/api/documents.h"

#include <stdio.h>

#include "base/htab.h"
#include "sim/api/custom.h"
#include "sim/api/discovery.h"
#include "sim/api/openapi_v2.h"
#include "sim/schema/openapi.h"

static unsigned openapi_verbs(unsigned verbs) {
    static const struct {
        unsigned from, to;
    } same[] = {
        {VERB_GET, OPENAPI_GET},
        {VERB_LIST, OPENAPI_LIST},
        {VERB_CREATE, OPENAPI_CREATE},
        {VERB_UPDATE, OPENAPI_UPDATE},
        {VERB_PATCH, OPENAPI_PATCH},
        {VERB_DELETE, OPENAPI_DELETE},
        {VERB_DELETECOLLECTION, OPENAPI_DELETE_COLLECTION},
    };
    unsigned out = 0;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (verbs & same[i].from)
            out |= same[i].to;
    return out;
}

/* Gives the answer a tag; true when the client has the same already, and needs no body. */
static bool is_known(struct call *c) {
    struct str *out = &c->reply->body;
    (void)snprintf(c->reply->etag, sizeof c->reply->etag, "\"%08x%08x\"",
                   (unsigned)hash_bytes(out->p, out->len), (unsigned)out->len);
    if (!c->req->if_none_match || !streq(c->req->if_none_match, c->reply->etag))
        return false;
    c->reply->code = 304;
    str_reset(out);
    return true;
}

static int openapi(struct call *c, const struct path *path, struct failure *f) {
    const struct api *a = c->api;
    const char *type = openapi_v2_negotiate(c->req->accept);
    if (path->route == ROUTE_OPENAPI_V2 && !type) { /* the real server says no more */
        c->reply->code = 406;
        c->reply->content_type = "text/plain; charset=utf-8";
        return 0;
    }
    struct openapi_resource *list = xcalloc(a->resources.len, sizeof *list);
    for (size_t i = 0; i < a->resources.len; i++) {
        const struct resource *r = a->resources.p[i];
        list[i] = (struct openapi_resource){
            .group = r->info->group,
            .version = r->info->version,
            .kind = r->info->kind,
            .plural = r->info->plural,
            .namespaced = r->info->namespaced,
            .has_status = r->info->has_status,
            .has_scale = r->info->has_scale,
            .verbs = openapi_verbs(r->info->verbs),
            .custom = r->custom ? custom_schema(r) : NULL,
        };
    }
    bool known = true;
    c->reply->content_type = "application/json";
    if (path->route == ROUTE_OPENAPI_V2) {
        c->reply->content_type = type;
        openapi_v2_document(list, a->resources.len, type, &c->reply->body);
    } else if (path->route == ROUTE_OPENAPI) {
        openapi_index(list, a->resources.len, &c->reply->body);
    } else {
        known =
            openapi_document(path->group, path->version, list, a->resources.len, &c->reply->body);
    }
    free(list);
    c->reply->code = 200;
    if (path->route == ROUTE_OPENAPI_V2)
        (void)is_known(c);
    return known ? 0 : fail_no_resource(f);
}

int documents_serve(struct call *c, const struct path *path, struct failure *f) {
    const struct api *a = c->api;
    struct str *out = &c->reply->body;
    if (path->route == ROUTE_OPENAPI || path->route == ROUTE_OPENAPI_GROUP ||
        path->route == ROUTE_OPENAPI_V2)
        return openapi(c, path, f);
    bool roots = path->route == ROUTE_LEGACY || path->route == ROUTE_GROUPS;
    if (accept_parse(c->req->accept, roots ? OFFER_DISCOVERY : 0, &c->accept, f))
        return -1;
    const struct resource_info **rows = xcalloc(a->resources.len, sizeof(void *));
    for (size_t i = 0; i < a->resources.len; i++)
        rows[i] = a->resources.p[i]->info;
    struct discovery d = {rows, a->resources.len};
    bool known = true;
    c->reply->code = 200;
    c->reply->content_type = "application/json";
    if (c->accept.as == ACCEPT_DISCOVERY) {
        c->reply->content_type = DISCOVERY_TYPE;
        discovery_aggregated(&d, path->route == ROUTE_LEGACY, out);
        if (is_known(c)) {
            free(rows);
            return 0;
        }
    } else {
        switch (path->route) {
        case ROUTE_LEGACY:
            discovery_core(&d, NULL, out);
            break;
        case ROUTE_GROUPS:
            discovery_groups(&d, out);
            break;
        case ROUTE_GROUP:
            known = discovery_group(&d, path->group, out);
            break;
        case ROUTE_RESOURCES:
            known = discovery_resources(&d, path->group, path->version, out);
            break;
        default:
            discovery_version(out);
        }
    }
    str_addc(out, '\n');
    free(rows);
    return known ? 0 : fail_no_resource(f);
}
