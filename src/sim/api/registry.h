/* Writing objects by the rules of the API, for requests from outside and for the simulated
 * controllers alike: names and uids, optimistic concurrency, preconditions, generations,
 * finalizers, grace periods, dry runs. (Kubernetes calls the same thing the generic registry
 * store.)
 *
 * Every function returns 0 or -1 with the failure filled. A record that is returned is a reference
 * of the caller's, also for dry runs, where it was never stored. */
#ifndef SIM_API_REGISTRY_H
#define SIM_API_REGISTRY_H

#include "sim/api/api_internal.h"

struct write {
    struct api *api;
    struct resource *res;
    const char *ns, *name; /* as the path says; name NULL to create */
    const char *sub;       /* NULL, "status", ... */
    bool dry_run;
    bool patch; /* the uid in the object is no precondition */
};

/* The object is what rules_decode() made; it is changed or replaced, and stays the caller's. */
int registry_create(const struct write *w, json_t **obj, struct record **out, struct failure *f);
/* 409 about a uid that is not the object's (NULL: there is none), in the words of the real server's
 * storage. */
int registry_fail_uid(const struct write *w, const char *given, const char *found,
                      struct failure *f);
/* Replaces. *created when the resource allows that and there was none. */
int registry_update(const struct write *w, json_t **obj, struct record **out, bool *created,
                    struct failure *f);

struct delete_options {
    int64_t grace;             /* seconds; ABSENT64: the object's own */
    const char *uid, *version; /* preconditions; NULL: none */
    const char *propagation;   /* NULL, "Background", "Foreground", "Orphan" */
    bool orphan_set, orphan;   /* orphanDependents, of old clients */
};
#define DELETE_OPTIONS_INIT ((struct delete_options){.grace = ABSENT64})
/* *gone: it is no longer stored; else it waits for its grace period or its finalizers. */
int registry_delete(const struct write *w, const struct delete_options *o, struct record **out,
                    bool *gone, struct failure *f);

/* The namespace exists, and is not on its way out (the NamespaceLifecycle plug-in): 404, 403.
 * `name` is that of the object, for the message. */
int registry_check_namespace(const struct write *w, const char *name, struct failure *f);
/* The current object; 404 when there is none. Not a new reference. */
int registry_get(const struct write *w, struct record **out, struct failure *f);

/* Shorthands for a value's metadata. */
json_t *meta_of(json_t *obj);
const char *meta_str(const json_t *obj, const char *key);
int64_t meta_int(const json_t *obj, const char *key, int64_t absent);
void meta_set_str(json_t *obj, const char *key, const char *value);
void meta_set_time(json_t *obj, const char *key, int64_t time);
/* Puts the metadata's members in the order of the schema. */
void meta_order(json_t *obj);

#endif
