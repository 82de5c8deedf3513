/* What the status of Slipway's own resources have in common, as JSON: times, conditions, and what
 * something waits for. */
#ifndef ENGINE_OWN_STATUS_H
#define ENGINE_OWN_STATUS_H

#include "base/jsonw.h"
#include "engine/blocker.h"
#include "model/own.h"

/* What something waits for. */
struct own_wait {
    enum blocker_code code;
    const char *object, *message;
    int64_t deadline; /* wall clock; 0: none */
    const char *then; /* what happens at it; NULL without one */
};

/* Without a deadline. */
static inline struct own_wait own_wait_for(enum blocker_code code, const char *object,
                                           const char *message) {
    return (struct own_wait){.code = code, .object = object, .message = message};
}

/* Begins a merge patch that is a compare-and-swap: {"metadata":{"resourceVersion":"7" */
void own_patch_begin(struct jsonw *w, struct str *body, const struct meta *meta);

void own_write_time(struct jsonw *w, const char *key, int64_t at);

/* One condition of a list; that it has not changed since is seen in `had`. */
struct own_said {
    const char *type;
    bool is;
    const char *reason, *message;
};
void own_write_condition(struct jsonw *w, const struct own_condition *had, int64_t generation,
                         int64_t now, const struct own_said *said);

/* "blocker":{...}, or null with `wait` NULL; `was` is what is written there. */
void own_write_blocker(struct jsonw *w, const struct own_blocker *was, const struct own_wait *wait,
                       int64_t now);
/* "PDBNoBudget shop/web: needs 2, has 2; at 2026-11-17T04:30:00Z the drain is given up" */
void own_blocker_text(const struct own_blocker *b, struct str *out);
/* Whether it is written there already. */
bool own_blocker_is(const struct own_blocker *was, const struct own_wait *wait);

/* Whether that finalizer is among them, and the whole list with or without it:
 * "finalizers":[...]. */
bool own_has_finalizer(const struct meta *meta, const char *finalizer);
void own_write_finalizers(struct jsonw *w, const struct meta *meta, const char *finalizer, bool on);

#endif
