/* What is installed into a cluster so that the controller runs there, as Kubernetes objects: the
 * one description from which `slipway install` prints, and from which kubernetes/deployment.yaml
 * and deploy/ are made.
 *
 * It comes in two forms. That of the reboot manager has its names, so that it can be applied over
 * it and clients find the same Service; it serves FleetLock with the built-in policy, and has no
 * definitions. Where somebody has installed them it obeys Policies as the other one does, but for
 * the deletion of pods. That of Slipway has the definitions.
 *
 * The service account may do what the controller does and no more: a test runs it that way, and
 * finds rules that nobody needs (tests/cluster/test_install.py). */
#ifndef CONTROLLER_MANIFESTS_H
#define CONTROLLER_MANIFESTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

enum manifest_form { FORM_SLIPWAY, FORM_REBOOT_MANAGER, FORM_COUNT };

struct manifest_names {
    const char *form; /* as it is called on the command line */
    const char *ns;   /* unless another one is wanted */
    const char *name; /* of everything but: */
    const char *service;
    bool definitions; /* of the custom resources: it has them */
    bool deletes;     /* it may delete pods, which a Policy may ask for */
};
extern const struct manifest_names manifest_names[FORM_COUNT];

/* In the order in which they have to be there. */
enum manifest_part {
    PART_RBAC = 1,       /* the namespace, the service account, and what it may do */
    PART_CRDS = 2,       /* definitions of custom resources */
    PART_CONTROLLER = 4, /* the Deployment, what protects it, the Service */
    PART_FLOW_SCHEMA = 8 /* its share of a busy API server; nobody needs it on a calm one */
};

enum { REPLICAS_MAX = 3 }; /* one leads; more would only wait */

/* Two, so that one can be drained with its node and the other goes on. */
#define MANIFEST_REPLICAS "2"
/* Of this version. There is no registry that has it: whoever builds it gives it that name, or says
 * another. Podman calls an image so that was built on the machine. */
#define MANIFEST_IMAGE "localhost/slipway:" SLIPWAY_VERSION

struct manifest_opts {
    enum manifest_form form;
    unsigned parts; /* of enum manifest_part; those that the form does not have are left out */
    const char *ns;
    const char *image;
    int replicas;
};

/* A list of objects, in the order in which they are to be made. -EINVAL: the namespace cannot be
 * one, or the image. */
int manifests_make(const struct manifest_opts *opts, json_t **out, struct err *err);

#endif
