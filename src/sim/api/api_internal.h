/* What the parts of the API share: the served resources, and the state of one request. */
#ifndef SIM_API_API_INTERNAL_H
#define SIM_API_API_INTERNAL_H

#include "sim/api/accept.h"
#include "sim/api/api.h"
#include "sim/api/failure.h"
#include "sim/api/filter.h"
#include "sim/api/query.h"
#include "sim/api/resource.h"
#include "sim/schema/schema.h"

struct custom; /* a custom resource definition in force (sim/api/custom.h) */

/* One served version of one resource. Versions of a custom resource share a shelf. */
struct resource {
    const struct resource_info *info;
    struct shelf *shelf;         /* NULL of what is not stored */
    const struct schema *schema; /* NULL of custom resources */
    struct custom *custom;       /* NULL of built-in ones */
    size_t custom_version;       /* which of its versions */
};

/* What nobody may touch. */
struct withheld {
    char *group, *plural, *why;
};

struct api {
    struct world *world;
    double speed;
    VEC(struct resource *) resources;                 /* in the order of discovery */
    struct resource *namespaces, *pods, *pdbs, *crds; /* those that rules of their own hang on */
    VEC(struct custom *) customs;
    VEC(struct custom *) retired; /* no longer served; watches may still hold on to them */
    struct alarm settle;          /* of definitions: sim/api/custom.c */
    VEC(struct watch *) watches;  /* open ones */
    VEC(struct withheld) withheld;
};

/* By path; NULL when there is none. */
struct resource *api_resource(const struct api *a, const char *group, const char *version,
                              const char *plural);
/* By kind, in any version; NULL when there is none. */
/* The fields that a custom resource can be selected by, NULL-terminated, or NULL. */
const char *const *resource_selectable(const struct resource *res);
struct resource *api_resource_of_kind(const struct api *a, const char *api_version,
                                      const char *kind);

/* A request, once its path is understood. */
struct call {
    struct api *api;
    const struct api_request *req;
    struct api_reply *reply;
    struct resource *res;
    const char *ns, *name, *sub; /* NULL when absent */
    struct query query;
    struct accept accept;
    bool doubled;             /* the body has a key twice */
    const char *doubled_yaml; /* the same of YAML, in its decoder's words; NULL: none */
    bool tamed;               /* it had a NUL where C's strings end at one: body_tame() */
    struct arena arena;
};

/* The verbs: fill the reply or the failure. */
int api_get(struct call *c, struct failure *f);
int api_list(struct call *c, struct failure *f);
int api_watch(struct call *c, const struct list_options *o, struct failure *f);
int api_create(struct call *c, struct failure *f);
int api_update(struct call *c, struct failure *f);
int api_patch(struct call *c, struct failure *f);
/* PUT and PATCH without a name: what is said first. */
int api_nameless(struct call *c, struct failure *f);
int api_delete(struct call *c, struct failure *f);
int api_delete_collection(struct call *c, struct failure *f);

/* Watches of resources that are no longer served end. */
void watches_close(struct api *a, const struct shelf *shelf);

#endif
