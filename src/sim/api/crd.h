/* CustomResourceDefinitions (apiextensions.k8s.io/v1): accepting them, the status they get, and
 * what happens to the objects of the kinds that they define. Pure, on jansson values in canonical
 * form (schema.h); the words are those of Kubernetes 1.36.3, compared with the real server by
 * tests/cluster/test_structural.py.
 *
 * A definition on its way in:
 *
 *     schema_canonical()                      types; unknown fields dropped
 *     crd_default()
 *     crd_prepare_create(), _update()         status and generation are the server's
 *     crd_validate_create(), _update()        field errors for the 422
 *     crd_store()                             numbers as they are printed
 *     ... stored; then, since no controller runs:
 *     crd_settle_schemas(), crd_settle()      names accepted, conditions, Established
 *     crd_accept()                            the compiled form, to serve its objects by
 *
 * An object of it: crd_decode(), crd_object_prepare_...(), crd_object_validate_...(),
 * crd_object_settle().
 *
 * Not served: conversion by webhooks, which is refused with an error on spec.conversion.strategy.
 * Versions differ by their schemas alone; an object is stored as it was written. CEL rules are
 * checked for their form and not evaluated (structural.h). */
#ifndef SIM_API_CRD_H
#define SIM_API_CRD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "sim/api/field_error.h"
#include "sim/api/structural.h"
#include "sim/schema/schema.h"

/* --- definitions --- */

/* Names from names, no conversion. */
void crd_default(json_t *crd);
/* Nothing of the status is the client's; generation is 1, or one more when the spec changed. */
void crd_prepare_create(json_t *crd);
void crd_prepare_update(json_t *crd, const json_t *old);
/* What is written through /status: the spec stays. */
void crd_prepare_status(json_t *crd, const json_t *old);
/* Metadata, spec and status. */
void crd_validate_create(const json_t *crd, struct field_errors *e);
void crd_validate_update(const json_t *crd, const json_t *old, struct field_errors *e);
void crd_validate_status(const json_t *crd, const json_t *old, struct field_errors *e);
/* The form that is stored, once it is valid: whole floats in defaults and enums become integers. */
void crd_store(json_t *crd);
/* Texts for Warning headers: `unrecognized format "x"`. `old` is NULL on creation. */
void crd_warnings(const json_t *crd, const json_t *old, struct schema_notes *out);

/* The status that the server's controllers bring about: status.acceptedNames, and the conditions
 * NamesAccepted, Established and KubernetesAPIApprovalPolicyConformant. `taken` are the
 * status.acceptedNames of all definitions of the same group: a name in them is refused, unless it
 * has it for the same purpose. False when nothing changed. */
bool crd_settle(json_t *crd, const json_t *const *taken, size_t n_taken, int64_t now);
/* Before it, the condition NonStructuralSchema (of schemas stored before they had to be
 * structural): by far the most work, and needed once per generation. */
bool crd_settle_schemas(json_t *crd, int64_t now);
/* The first step of its deletion: the finalizer, and the condition Terminating. */
void crd_terminate(json_t *crd, int64_t now);
#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"
/* Is this condition True? */
bool crd_condition(const json_t *crd, const char *type);

/* --- a definition in force --- */

struct crd_version {
    const struct crd *crd;
    const char *name; /* "v1" */
    bool served, storage;
    const char *deprecation; /* the text to warn with on each use, or NULL */
    struct structural *schema;
    bool has_status, has_scale;
    /* ".spec.replicas", ".status.replicas", ".status.selector"; the last may be NULL */
    const char *spec_replicas, *status_replicas, *label_selector;
    const json_t *columns;         /* additionalPrinterColumns; NULL for none */
    const char *const *selectable; /* ".spec.color"; NULL-terminated, NULL for none */
};

struct crd {
    json_t *json; /* the definition */
    const char *name, *group, *plural, *singular, *kind, *list_kind;
    const char *const *short_names, *const *categories; /* NULL-terminated; NULL for none */
    bool namespaced;
    struct crd_version *versions; /* as in the definition */
    size_t n_versions;
};

/* Compiles a definition; names are those that were accepted, where there are any. -EINVAL with
 * errors when it is not valid, also when nobody has asked crd_validate_create() before; only the
 * values of defaults are not judged again. */
int crd_accept(const json_t *definition, struct crd **out, struct field_errors *e);
void crd_free(struct crd *crd);
/* NULL when there is no such version. */
const struct crd_version *crd_version(const struct crd *crd, const char *name);
/* As Kubernetes ranks versions: v2 above v1 above v1beta2 above v1alpha1, above all other names.
 * Positive when `a` is the better one. */
int crd_compare_versions(const char *a, const char *b);

/* --- objects --- */

/* From a client's value to the form that is worked on, a new value: metadata in canonical form,
 * unknown fields dropped and noted (`unknown field "spec.foo"`; `notes` may be NULL), nulls
 * dropped, defaults filled in. kind and apiVersion must be there. -EINVAL with the text of the
 * decoder's 400.
 */
int crd_decode(const struct crd_version *v, const json_t *raw, json_t **out,
               struct schema_notes *notes, struct err *err);

/* Which part of an object a request is about. */
enum crd_part { CRD_MAIN, CRD_STATUS };

/* With the status subresource nobody creates a status, an update leaves it alone, and an update of
 * it leaves all else alone. Generation is 1, and one more when anything but metadata (and a status
 * that is a subresource) changes. */
void crd_object_prepare_create(const struct crd_version *v, json_t *obj);
void crd_object_prepare_update(const struct crd_version *v, enum crd_part part, json_t *obj,
                               const json_t *old);
/* Type, metadata, schema, scale paths, embedded resources, lists. The name must have been generated
 * before. */
void crd_object_validate_create(const struct crd_version *v, const json_t *obj,
                                struct field_errors *e);
void crd_object_validate_update(const struct crd_version *v, enum crd_part part, const json_t *obj,
                                const json_t *old, struct field_errors *e);
/* Texts for Warning headers, about finalizers that were added. */
void crd_object_warnings(const json_t *obj, const json_t *old, struct schema_notes *out);
/* The form that is stored: whole floats become integers, as they do when Go prints and reads them,
 * and below the root, metadata left alone, keys are in order. */
void crd_object_settle(json_t *obj);

/* The scale subresource. -EINVAL with the server's words when a value there is of the wrong type.
 */
struct crd_scale {
    bool has_replicas; /* at spec_replicas; without, GET is a 500 and PUT a 400 */
    int64_t replicas, status_replicas;
    const char *selector; /* "" for none; belongs to the object */
};
int crd_object_scale(const struct crd_version *v, const json_t *obj, struct crd_scale *out,
                     struct err *err);
int crd_object_set_replicas(const struct crd_version *v, json_t *obj, int64_t replicas,
                            struct err *err);

/* The text that a field selector is compared with; `path` is one of `selectable`. Appended. */
void crd_object_field(const json_t *obj, const char *path, struct str *out);

#endif
