/* Objects of Slipway's own kinds, once they are decoded: the defaults that the API server would
 * have put in (an object may come from a file, or be older than a field), and everything that their
 * description (model/own_fields.h) says about values. Errors name the field and say what it must
 * be: "spec.fleetlock.denyStatus is 200; it must be 404 or 423". */
#ifndef MODEL_OWN_READ_H
#define MODEL_OWN_READ_H

#include "base/err.h"
#include "base/pool.h"
#include "model/own_fields.h"

/* For an object that nobody else has seen yet; its references are `pool`'s. What has a value keeps
 * it. Nothing is filled into the drain rules of a Policy: who reads them knows what is meant. */
void own_defaults(const struct own_resource *r, struct pool *pool, void *obj);

/* 0 or -EINVAL. Looks at the spec; a status is ours, and is taken as it is. The drain rules of a
 * Policy are checked where they are read (policy_drain_rules()). */
int own_check(const struct own_resource *r, const void *obj, struct err *err);

/* Both. */
int own_complete(const struct own_resource *r, struct pool *pool, void *obj, struct err *err);

/* The member of a type that a field of the description is kept in; NULL when there is none. */
const struct field *own_member(const struct type *type, const char *name);

#endif
