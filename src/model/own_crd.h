/* The definitions (CustomResourceDefinition, apiextensions.k8s.io/v1) of Slipway's own custom
 * resources, made from their description (model/own_fields.h): structural schemas in which every
 * field has a type and a description, defaults, rules in CEL whose messages are sentences, a status
 * of its own, columns for kubectl get, a short name, the category "slipway". */
#ifndef MODEL_OWN_CRD_H
#define MODEL_OWN_CRD_H

#include "base/jsonw.h"
#include "model/own_fields.h"

/* kubectl get slipway. */
#define OWN_CATEGORY "slipway"

/* One object. */
void own_crd(const struct own_resource *r, struct jsonw *w);

#endif
