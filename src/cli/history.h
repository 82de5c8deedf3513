/* What earlier drains have seen of pods, for rehearsals: a file to which drain adds a line of JSON
 * for each pod (docs/rehearse.md).
 *
 *     {"v":1,"time":"2026-11-15T08:00:00Z","workload":"shop/Deployment/web","pod":"web-6c9d-x2x",
 *      "node":"w1","stop":12.4}
 *
 * `workload` is what model/workload.h calls it; `stop` the seconds from the moment at which the
 * server accepted the eviction (or deletion) until the pod was gone; `up` the seconds from the
 * creation of a pod until it was ready. A line has at least one of the two. Members that are not
 * known are left alone; a line of a newer version is refused. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "base/err.h"
#include "engine/drain.h"
#include "sim/fleet/habits.h"

enum {
    HISTORY_VERSION = 1,
    HISTORY_MAX = 256 << 20, /* bytes of a file: two million pods */
};

struct history_seen {
    size_t observations;
    size_t cut; /* lines that are whole JSON no more */
};

/* Reads all of it. What a drain that was killed has left in the middle of a line does not count,
 * unless there is nothing else. -EINVAL with "FILE:LINE: why". */
int history_read(const char *path, struct habits *to, struct history_seen *seen, struct err *err);

/* The line of a pod that is gone, with its end; nothing when the time it took is not known: it was
 * not asked to go, or went by itself. */
void history_line(const struct drain_node *node, const struct drain_pod *pod, int64_t now,
                  struct str *out);

#endif
