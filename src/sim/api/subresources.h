/* What hangs below an object beside its status: scale, eviction, binding; and what is created
 * without being stored: access reviews. */
#ifndef SIM_API_SUBRESOURCES_H
#define SIM_API_SUBRESOURCES_H

#include "sim/api/api_internal.h"

int scale_get(struct call *c, const struct record *r, struct failure *f);
int scale_put(struct call *c, const struct write_options *o, struct failure *f);
int scale_patch(struct call *c, const struct write_options *o, struct failure *f);

/* POST .../eviction, by the real server's algorithm. */
int eviction_create(struct call *c, struct failure *f);
/* POST .../binding. */
int binding_create(struct call *c, struct failure *f);
/* POST of SelfSubjectAccessReview. */
int review_create(struct call *c, struct failure *f);

/* The condition DisruptionAllowed of a budget (policy/v1 of the controller and the eviction). */
void pdb_set_condition(json_t *status, int64_t now, int64_t generation, bool sufficient);
/* Sets a condition of a pod; its transition time moves only with its status. */
void pod_add_condition(json_t *obj, const char *type, const char *value, const char *reason,
                       const char *message, int64_t now);

/* Assigns a pod to a node, as a scheduler's binding does. */
int pod_bind(struct api *a, struct record *r, const char *node, struct failure *f);

/* What is posted without being stored. */
struct posted {
    const char *group, *version, *kind;
    const char *older; /* another apiVersion that its body may say, or NULL */
    const struct schema *schema;
};
/* The body as an object of this kind, in canonical form; unknown and doubled fields are refused or
 * warned of as fieldValidation has it. */
int posted_read(struct call *c, const struct posted *what, enum field_validation validation,
                json_t **out, struct failure *f);
/* Answers with a Status: 201, Success. */
void posted_answer(struct call *c);

/* --- shared by the verbs --- */

/* Answers with one object; fails where it cannot have the form that was asked for, which undoes
 * nothing. */
int api_answer(struct call *c, int code, const struct record *r, struct failure *f);
/* Answers with a value that is not stored, of the given kind. */
void api_answer_value(struct call *c, int code, const char *group, const char *version,
                      const char *kind, const json_t *value);
/* The body as a patch of `current`; `notes` gets what a strict reader has against the body. */
int api_patched(struct call *c, const struct write_options *o, const struct schema *schema,
                const json_t *current, json_t **out, struct schema_notes *notes, struct failure *f);
/* 422 with the decoder's words about what the patch has left. */
int api_patch_refused(struct call *c, const json_t *raw, const char *why, struct failure *f);
/* Gives a stored custom object the apiVersion of the version that is served here. */
void resource_relabel(const struct resource *res, json_t *obj);

#endif
