/* Who has cordoned a node: the record that Slipway keeps in the annotation slipway.dev/cordon, and
 * the marks that others leave.
 *
 *     {"v":1,"before":false,"holders":[{"id":"...","by":"...","reason":"...","since":"2026-11-15T08:00:00Z"}]}
 *
 * A record of a newer version is not read at all (CORDON_UNREADABLE): misreading it could uncordon
 * a node that somebody needs cordoned.
 *
 * A record may be of an earlier cordon: `kubectl uncordon` and a later `kubectl cordon` leave it as
 * it was, and whoever relied on it would lift the cordon of somebody else. Kubernetes itself tells
 * when a node was cordoned: the node lifecycle controller sets the taint
 * node.kubernetes.io/unschedulable with its time. When that is more than CORDON_MARGIN after the
 * `since` of every holder, none of them has cordoned the node as it is now: the cordon is somebody
 * else's, and the record counts for nothing (cordon_judge()).
 *
 * The margin is for the clocks (the taint has the controller's, `since` is of the machine that
 * cordoned) and for the controller, which comes after us. A taint from the future proves nothing
 * but that the clocks differ. Where they are further apart, or the controller was away for longer,
 * one's own cordon can look like somebody else's: it is then not lifted without being told to,
 * which is the safe way to be wrong. A cordon that was lifted and set again within the margin is
 * not seen; nor is it where nobody sets the taint, or where a holder has no time. */
#ifndef ENGINE_CORDON_H
#define ENGINE_CORDON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/object.h"

#define CORDON_ANNOTATION "slipway.dev/cordon"
enum { CORDON_VERSION = 1 };
#define CORDON_MARGIN (INT64_C(60) * 1000000) /* microseconds */

struct cordon_holder {
    const char *id, *by, *reason; /* "" when absent */
    int64_t since;
    const char *boot; /* of the node when it was taken for a slot: what is left of that when the
                       * record of slots is lost; "" when absent */
    const char *rest; /* of a newer release: engine/record.h */
};

enum cordon_owner {
    CORDON_NONE,       /* not cordoned */
    CORDON_SLIPWAY,    /* the record says who */
    CORDON_OTHER,      /* somebody who left no mark, kubectl cordon for instance */
    CORDON_AUTOSCALER, /* cluster-autoscaler is removing the node */
    CORDON_KARPENTER,  /* karpenter is */
    CORDON_UNREADABLE, /* there is a record, but not one that we understand */
};

struct cordon {
    enum cordon_owner owner;
    bool before;   /* it was cordoned by somebody else before Slipway */
    bool earlier;  /* cordon_judge(): the record is of an earlier cordon */
    int64_t since; /* when the node was cordoned, by the taint; 0 when unknown */
    const struct cordon_holder *holders; /* of the record, whatever it is worth */
    size_t n_holders;
    const char *rest;    /* as above */
    const char *problem; /* of CORDON_UNREADABLE: what is wrong with it */
};

/* Everything lives in the arena. */
void cordon_of(const struct node *node, struct arena *arena, struct cordon *out);
/* Whether `id` is one of the record's holders, whatever that is worth. */
bool cordon_names(const struct node *node, const char *id);
/* Whether the record is of an earlier cordon; then the owner is another. `now` is the wall clock.
 * For those who have not watched the node since it was cordoned. */
void cordon_judge(const struct node *node, int64_t now, struct cordon *c);

/* --- changing it --- */

enum cordon_change {
    CORDON_WRITE,   /* `patch` is to be sent */
    CORDON_NOTHING, /* it is so already */
    CORDON_REFUSED, /* see the error */
};

/* The merge patch (compare-and-swap: it has the node's resourceVersion) that makes `holder` one of
 * those who hold the node cordoned; its `since` is the present. A holder of the same id stays, with
 * its `since`; a new reason replaces the old one. What was cordoned before by somebody without a
 * record is remembered (`before`), also where the record is of an earlier cordon: a new one is
 * begun then. Refused when there is a record that we do not understand. */
enum cordon_change cordon_take(const struct node *node, const struct cordon_holder *holder,
                               struct str *patch, struct err *err);

/* The patch that takes holder `id` out; the node becomes schedulable when it was the last one and
 * the node was not cordoned before. `any`: all holders leave, and whoever cordoned it, it becomes
 * schedulable. Refused, with who holds it in the error, when `id` holds nothing and the node is
 * cordoned. `*stays` tells whether it stays cordoned after the patch, and the error then says by
 * whom. */
enum cordon_change cordon_release(const struct node *node, const char *id, bool any,
                                  struct str *patch, bool *stays, struct err *err);
/* The same for those who have not watched the node since they took it: refused, unless `any`, also
 * where the record is of an earlier cordon. */
enum cordon_change cordon_release_later(const struct node *node, const char *id, bool any,
                                        int64_t now, struct str *patch, bool *stays,
                                        struct err *err);

/* Somebody has lifted the cordon that holder `id` has on the node, and nobody has noted that. */
bool cordon_is_lifted(const struct node *node, const char *id);
/* The patch that notes it: if the node is cordoned again, somebody else has done so (`before`), and
 * it stays so when the holders leave. */
enum cordon_change cordon_disown(const struct node *node, const char *id, struct str *patch);

/* "alice: kernel update", "cluster-autoscaler", "somebody else"; "" when not cordoned. */
const char *cordon_text(const struct cordon *cordon, struct arena *arena);

#endif
