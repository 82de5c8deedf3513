/* Runs a drain against an API server: watches what it needs, hands changes to the engine, carries
 * out what the engine wants and brings back the answers. No decision is made here.
 *
 * Reads only what it needs: the nodes by name, the pods of those nodes (a watch for each while they
 * are few, all pods when they are many), the PodDisruptionBudgets, the VolumeAttachments, and the
 * objects of storage systems and databases that are installed (exec/checks_feed.h); for somebody
 * who wants to know how long pods take to start, those that come elsewhere (exec/starts.h). Where
 * watching is forbidden but listing is not, it lists every few seconds and says so.
 *
 *     run = drain_run_new(&client, &opts);     starts reading
 *     loop_run()                               until opts.over is called
 *     drain_run_free(run) */
#ifndef EXEC_DRAIN_RUN_H
#define EXEC_DRAIN_RUN_H

#include "engine/drain.h"
#include "exec/starts.h"
#include "kube/client.h"

struct drain_run;

struct drain_run_opts {
    struct drain_opts drain;
    const char *const *names; /* of the nodes; copied */
    size_t n_names;
    bool checks;                      /* storage and quorums are asked: drain.checks is filled in */
    const char *const *checks_unread; /* what of it cannot be read: see checks_feed.h */
    bool selected; /* by a selector: one that is gone by now is left out, and said */
    int page;      /* objects a page of a list; 500 when 0 */
    uint64_t seed;
    drain_note_fn *note; /* each transition */
    /* What cannot be read or written, as long as there is hope: one sentence. */
    void (*remark)(void *arg, const char *text);
    /* The first picture cannot be had: nothing was done. */
    void (*failed)(void *arg, const char *what, enum kube_outcome outcome, const char *message);
    /* A pod that has started meanwhile, on any node; NULL: nobody looks at those. */
    void (*started)(void *arg, const struct start_seen *start);
    void (*over)(void *arg); /* drain_over(); called once, from the loop */
    void *arg;
};

struct drain_run *drain_run_new(struct kube_client *client, const struct drain_run_opts *opts);
void drain_run_free(struct drain_run *r);
/* NULL until the first picture is complete. */
struct drain *drain_run_engine(struct drain_run *r);
void drain_run_stop(struct drain_run *r, const char *why);

#endif
