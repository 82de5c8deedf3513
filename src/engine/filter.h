/* Which pods a drain touches: kubectl's filters in kubectl's order and words, with its faults
 * mended (a DaemonSet of any API group is one; a warning does not hide another). Pure: what has to
 * be known of owners is looked up in the cluster. */
#ifndef ENGINE_FILTER_H
#define ENGINE_FILTER_H

#include "engine/drain.h"

enum filter_verdict {
    FILTER_GO,
    FILTER_STAYS,   /* not touched; `why` for the line of warnings, or NULL */
    FILTER_REFUSED, /* an error: `why` */
    FILTER_UNKNOWN, /* something has to be read first */
};

struct filter {
    enum filter_verdict verdict;
    const char *why;        /* kubectl's words */
    enum blocker_code code; /* of FILTER_REFUSED */
};

/* `now`: wall clock, the server's. */
struct filter filter_pod(const struct drain_opts *opts, struct cluster *cluster, int64_t now,
                         const struct pod *pod);
/* Whether it is one of those that shall go at all (--pod-selector). */
bool filter_selects(const struct drain_opts *opts, const struct pod *pod);
/* Whether it keeps a node from being called empty that was drained before: it runs there, or ends
 * only just, and a drain would not leave it. Nothing is looked up: of a DaemonSet's pod it is
 * believed that its owner is still there. `opts` must have rules. */
bool filter_must_go(const struct drain_opts *opts, int64_t now, const struct pod *pod);
/* What creates the pod may name this node: then it comes back here for ever, and evicting it would
 * be of no use. KNOWN_THERE: it does; KNOWN_GONE: it does not; KNOWN_NEVER: the kind of its owner
 * does not say. There are many ReplicaSets, and few that name a node: they are looked up when there
 * is a reason. */
enum known filter_pinned(struct cluster *cluster, const struct pod *pod, const char *node,
                         bool replica_sets);

#endif
