/* In which form a client wants its answer: the Accept header, in the client's order. */
#ifndef SIM_API_ACCEPT_H
#define SIM_API_ACCEPT_H

#include "kube/codec.h"
#include "sim/api/failure.h"

enum accept_as { ACCEPT_OBJECT, ACCEPT_TABLE, ACCEPT_PARTIAL, ACCEPT_DISCOVERY };

struct accept {
    enum kube_format format;
    enum accept_as as;
    bool yaml;
    bool pretty;
};

/* What an endpoint can do. */
enum {
    OFFER_PROTOBUF = 1,
    OFFER_TABLE = 2, /* and PartialObjectMetadata */
    OFFER_DISCOVERY = 4,
    OFFER_LIST = 8, /* the answer is a list, and not a watch of one */
};

/* 406 when nothing that is offered is accepted. NULL or "" accepts anything. */
int accept_parse(const char *header, unsigned offer, struct accept *out, struct failure *f);

#endif
