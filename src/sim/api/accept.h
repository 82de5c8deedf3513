/* In which form a client wants its answer: the Accept header, by its weights (q=) and then in the
 * client's order. */
#ifndef SIM_API_ACCEPT_H
#define SIM_API_ACCEPT_H

#include "kube/codec.h"
#include "sim/api/failure.h"

enum accept_as { ACCEPT_OBJECT, ACCEPT_TABLE, ACCEPT_PARTIAL, ACCEPT_DISCOVERY };

struct accept {
    enum kube_format format;
    enum accept_as as;
    bool list; /* of ACCEPT_PARTIAL: a PartialObjectMetadataList was asked for */
    bool beta; /* of a Table or metadata: in meta.k8s.io/v1beta1 */
    bool yaml;
    bool pretty;
};

/* What an endpoint can do. */
enum {
    OFFER_PROTOBUF = 1,
    OFFER_TABLE = 2, /* and PartialObjectMetadata */
    OFFER_DISCOVERY = 4,
    OFFER_CUSTOM = 8,  /* it is a custom resource: its handler has no routes before it */
    OFFER_STREAM = 16, /* a collection that is read: it could be watched as well */
};

/* 406 when nothing that is offered is accepted. NULL or "" accepts anything. */
int accept_parse(const char *header, unsigned offer, struct accept *out, struct failure *f);

#endif
