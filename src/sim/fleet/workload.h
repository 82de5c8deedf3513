/* What the controllers of workloads have in common: pods of a template, whose pods they are, and
 * which of them count. */
#ifndef SIM_FLEET_WORKLOAD_H
#define SIM_FLEET_WORKLOAD_H

#include "engine/podrole.h"
#include "sim/fleet/fleet.h"
#include "sim/fleet/pod_index.h"

/* Neither ended nor being deleted. */
static inline bool pod_active(const struct pod *pod) {
    return !pod_finished(pod) && !pod->meta.deleted;
}
/* What controllers ask of every pod of a set at every turn, worked out once for each version. */
enum { MARK_KNOWN = 1, MARK_ACTIVE = 2, MARK_READY = 4 };
unsigned pod_marks_of(const struct pod *pod);
static inline unsigned pod_marks(struct record *r) {
    if (!r->marks)
        r->marks = (uint8_t)pod_marks_of(record_as(pod, r));
    return r->marks;
}
/* Ready for at least so many seconds. `again` (may be NULL) is lowered to how long it will take
 * until that changes. */
bool pod_available(const struct pod *pod, int32_t min_ready_seconds, int64_t now, int64_t *again);

/* A pod of a template (the JSON of a PodTemplateSpec), controlled by `owner`; with a name of its
 * own or one that begins with `prefix`. Not created yet. */
json_t *workload_pod(const json_t *template, const struct resource *res, const struct record *owner,
                     const char *name, const char *prefix);

/* A selector for many pods, most of which share their labels with others, at one address (pods of
 * one set in one zone): equal ones are matched once. {.selector = ...} to begin with. */
enum { MATCHER_SEEN = 16 };
struct matcher {
    const struct label_selector *selector;
    struct {
        const struct pair *labels;
        bool known, matches;
    } seen[MATCHER_SEEN];
};
bool matcher_match(struct matcher *m, const struct pair *labels);

/* Records with a reference each. */
struct pod_set {
    VEC(struct record *) v;
};
void pod_set_done(struct pod_set *s);
#define _cleanup_pod_set_ __attribute__((cleanup(pod_set_done)))

/* The pods that the owner controls after it has adopted those that match its selector and belong to
 * nobody, and let go of those that no longer match. `adopt` may be NULL: a test beyond the selector
 * (the names of a StatefulSet's pods). */
void workload_claim(struct fleet *f, const struct resource *res, const struct record *owner,
                    const struct label_selector *selector,
                    bool (*adopt)(void *, const struct pod *), void *arg, struct pod_set *out);

/* Sorts so that those that a scale-down takes first come first (controller.ActivePodsWithRanks). */
void pod_set_rank(struct pod_set *s, int64_t now);

/* An integer or a percentage of `total`; `up` rounds up. */
int64_t intstr_of(const struct intstr *v, int64_t total, bool up);

/* The uid of an object's controller, or NULL. */
const char *controller_uid(const struct meta *m);

#endif
