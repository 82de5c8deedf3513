/* A drain against a simulated cluster in a unit test: world, loop and drain in one process, hours
 * in milliseconds, and a record of what the drain told.
 *
 *     struct drain_site s;
 *     drain_site_init(&s, 3);                       w0, w1, w2
 *     site_deployment(&s, "web", 3); site_budget(&s, "web", "'maxUnavailable':1");
 *     drain_site_start(&s, &opts, "w0", NULL);
 *     assert_true(drain_site_run(&s, SEC(600)));    until it is over
 *     drain_site_done(&s); */
#ifndef SUPPORT_DRAIN_SITE_H
#define SUPPORT_DRAIN_SITE_H

#include "support/sim_site.h"

#include "exec/drain_run.h"
#include "kube/transport_fault.h"
#include "sim/pace.h"
#include "sim/transport.h"

struct drain_site {
    struct sim_site sim;
    struct loop *loop;
    struct pace *pace;
    struct kube_transport *transport;
    struct kube_fault *fault;
    struct log log;
    struct kube_client client;
    struct drain_run *run;
    struct str told;    /* a line per note: "cordoned w0", "evicting default/web-1", ... */
    struct str remarks; /* a line each */
    struct str failure; /* "list pods: ..." */
    enum kube_outcome failed_with;
    bool over;
    bool selected; /* the names: by a selector */
    bool checks;   /* storage and quorums are asked */
};

/* With nodes w0, w1, ... that are ready. */
void drain_site_init(struct drain_site *s, unsigned nodes);
void drain_site_done(struct drain_site *s);

/* What kubectl drain does with --ignore-daemonsets, by "cli/test". */
struct drain_opts drain_site_opts(void);
/* Names of nodes, NULL-terminated. */
void drain_site_start(struct drain_site *s, const struct drain_opts *opts, ...)
    __attribute__((sentinel));
/* Until it is over or has failed to begin; false when that takes longer than `limit`. */
bool drain_site_run(struct drain_site *s, int64_t limit);
/* As if the process was killed. */
void drain_site_kill(struct drain_site *s);
void drain_site_pass(struct drain_site *s, int64_t usec);

/* In namespace default; single quotes for double ones. */
void site_post(struct drain_site *s, const char *target, const char *json);
void site_patch(struct drain_site *s, const char *target, const char *json); /* a merge patch */
void site_deployment(struct drain_site *s, const char *name, int replicas);
/* `rule`: "'maxUnavailable':1". Selects app=NAME. */
void site_budget(struct drain_site *s, const char *name, const char *rule);
/* `spec`: members besides containers and nodeName; NULL. */
void site_pod(struct drain_site *s, const char *name, const char *node, const char *spec);
/* Pods on the node that are not terminating, DaemonSets' included. */
unsigned site_pods_on(struct drain_site *s, const char *node);
const struct drain_node *site_node(struct drain_site *s, const char *name);
/* Whether a line was told. */
bool site_told(const struct drain_site *s, const char *line);
unsigned site_told_count(const struct drain_site *s, const char *prefix);

#endif
