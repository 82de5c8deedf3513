/* How long a drain will still take, from what it has taken so far: the median of the nodes that are
 * done, and until there are three of them, of the pods that have left. Fewer than three samples
 * tell nothing, and the answer is that nobody knows. What is blocked counts for nothing, and how
 * many that were is said. Pure. */
#ifndef CLI_ETA_H
#define CLI_ETA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "engine/drain.h"

enum {
    ETA_ENOUGH = 3,  /* samples */
    ETA_KEPT = 1024, /* the newest samples; the pace of an hour ago is no longer true */
};

/* Durations, microseconds. All zero at first. */
struct eta_samples {
    int64_t kept[ETA_KEPT];
    size_t n; /* ever added */
};
/* Negative ones (clocks were set) are dropped. */
void eta_add(struct eta_samples *s, int64_t duration);
/* -1 as long as there are not enough. */
int64_t eta_median(const struct eta_samples *s);
/* The median of any durations, at least one; sorts them. */
int64_t eta_middle(int64_t *v, size_t n);

struct eta {
    struct eta_samples pods, nodes;
};

/* Takes what a note teaches: a pod that is gone, a node that is done. */
void eta_note(struct eta *e, const struct drain_note *note);

struct eta_left {
    int64_t usec;      /* -1: unknown */
    unsigned excluded; /* nodes that are blocked */
    bool stuck;        /* all that are left are */
    int64_t gives_up;  /* of those: until the last one's time is up; -1: never */
};
/* `now`: wall clock. */
struct eta_left eta_left(const struct eta *e, const struct drain_node *const *nodes, size_t n,
                         int64_t now);
/* "about 1h20m left", "almost done", "? left", "about 40s left (excluding 2 blocked)"; when nothing
 * moves any more, "gives up in 4m10s" or "waits without a limit". */
void eta_text(const struct eta_left *left, struct str *out);

#endif
