/* For the tests of crd*.c: definitions in a line. */
#ifndef UNIT_SIM_API_CRD_TEST_H
#define UNIT_SIM_API_CRD_TEST_H

#include "sim/api/crd.h"
#include "structural_test.h"

#define CRD_SPEC                                                                                   \
    "'group':'test.dev','scope':'Namespaced','names':{'plural':'things','kind':'Thing'}"
#define CRD_VERSION(name, storage, rest)                                                           \
    "{'name':'" name "','served':true,'storage':" storage rest "}"
#define CRD_SCHEMA(properties)                                                                     \
    ",'schema':{'openAPIV3Schema':{'type':'object','properties':{" properties "}}}"
/* A definition of things.test.dev with these versions. */
#define CRD(versions)                                                                              \
    "{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/"                       \
    "v1','metadata':{'name':"                                                                      \
    "'things.test.dev'},'spec':{" CRD_SPEC ",'versions':[" versions "]}}"

/* Decoded, with defaults, as one that is being created. */
static inline json_t *crd_new(const char *text) {
    _cleanup_json_ json_t *raw = J(text);
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *crd = NULL;
    if (schema_canonical(schema_find("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), raw,
                         &crd, NULL, &err))
        fail_msg("%s", err_msg(&err));
    crd_default(crd);
    crd_prepare_create(crd);
    return crd;
}

/* One in force. */
static inline struct crd *crd_serve(const char *text) {
    _cleanup_json_ json_t *json = crd_new(text);
    struct field_errors e = {0};
    struct crd *crd = NULL;
    crd_settle(json, NULL, 0, 1);
    if (crd_accept(json, &crd, &e)) {
        _cleanup_free_ char *why = errors_take(&e);
        fail_msg("%s", why);
    }
    return crd;
}

static inline void crd_cleanup_(struct crd **crd) {
    crd_free(*crd);
}
#define _cleanup_crd_ __attribute__((cleanup(crd_cleanup_)))

#endif
