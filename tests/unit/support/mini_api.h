/* A tiny Kubernetes API for one kind, pods, on the virtual loop: one store of revisions (etcd) and
 * one or more API servers in front of it, which may be behind. It lists in pages, watches with
 * bookmarks, does WatchList, forgets old revisions, and breaks in every way that a network or a
 * server can, all by one seed.
 *
 * What it promises is what Kubernetes promises, and no more: a read without a resourceVersion is
 * the most recent; one with NotOlderThan may be as old as that, or fails when the server is behind;
 * a watch brings every change after its version, in order, or says 410. */
#ifndef SUPPORT_MINI_API_H
#define SUPPORT_MINI_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/transport.h"
#include "net/loop.h"
#include "support/mini_wire.h"

struct mini_api;

struct mini_options {
    uint64_t seed;
    int pods;           /* how many may exist; numbers 0, 1, ... */
    int nodes, apps;    /* node 0 and app 0 are none */
    int servers;        /* API servers; all but the first may be behind */
    int64_t lag;        /* by at most so much, microseconds */
    bool no_watch_list; /* refused with 422 */
    bool no_bookmarks;  /* but for the end of initial events */
    int64_t patience;   /* streams end after at most so long, microseconds; 0: when asked to */
    int faults;         /* of a thousand calls so many go wrong */
};

struct mini_api *mini_api_new(struct loop *loop, const struct mini_options *opts);
/* To be used, and freed, as any other; frees the API with it. */
struct kube_transport *mini_api_transport(struct mini_api *api);

/* A random change of a random pod; returns its number. `version` is that of the change. */
int mini_api_change(struct mini_api *api, uint64_t *version);
/* Forgets all revisions but the newest `keep`. */
void mini_api_compact(struct mini_api *api, uint64_t keep);
/* From now on nothing goes wrong any more; streams that hang already go on hanging. */
void mini_api_calm(struct mini_api *api);
/* Goes back to an older revision, as after the restore of a backup, and cuts every connection. */
void mini_api_restore(struct mini_api *api, uint64_t version);

uint64_t mini_api_version(const struct mini_api *api);
/* All pods as they were at a version; `out` has room for opts.pods. */
void mini_api_at(const struct mini_api *api, uint64_t version, struct mini_pod *out);
/* At some version in [since, now] the pod did not exist, or was not on `node` (-1: any). */
bool mini_api_absent(const struct mini_api *api, int pod, int node, uint64_t since);
/* The pod as it became at exactly this version, or NULL when it did not change then. */
const struct mini_pod *mini_api_pod(const struct mini_api *api, int pod, uint64_t version);

struct mini_stats {
    uint64_t calls, changes;
    uint64_t faults;  /* that were planned; some calls end before */
    uint64_t expired; /* 410, for a version or a continue token */
    uint64_t tokens;  /* of these: for a continue token */
    uint64_t behind;  /* 504: a server has not got that far */
};
struct mini_stats mini_api_stats(const struct mini_api *api);

#endif
