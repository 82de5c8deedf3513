/* What the API server does to a built-in object between decoding it and storing it: defaults, the
 * admission plug-ins that are on by default, what a kind's strategy sets and keeps, and validation
 * with the server's own words. The judge is Kubernetes 1.36.3 (pkg/apis, pkg/registry,
 * plugin/pkg/admission; feature gates as they are by default); tests/cluster/test_strategy.py
 * compares with the real server, object by object.
 *
 * Pure: time, randomness and other objects come through struct strategy_context. Objects are
 * jansson values in canonical form (schema/schema.h). What is added to one stands behind what was
 * there: pass the result through schema_canonical() before it is printed or stored.
 *
 *     schema_canonical(...)                       what the client sent, decoded
 *     strategy_default(s, obj)
 *     strategy_create(s, ctx, obj, f)             or strategy_update(s, ctx, part, obj, old, f)
 *     schema_canonical(...)
 *
 * The caller has seen to the request before: the namespace exists, is not ending and is the one in
 * the path; names in the path and in the object agree.
 *
 * What is not done: PodSecurity (namespaces enforce nothing unless labelled), RuntimeClass,
 * LimitRanger and ResourceQuota (their kinds are not served), warnings, managedFields; the
 * subresources ephemeralcontainers and resize of pods; rules for user names and gMSA of Windows,
 * for annotations of schedulers of old, for allocatedResourcesStatus of claims. Words differ where
 * a message quotes an empty list or map that a client sent (we show null), and in complaints about
 * the JSON in a Secret with registry passwords. */
#ifndef SIM_API_STRATEGY_H
#define SIM_API_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/prng.h"
#include "sim/api/failure.h"

/* What DELETE does to dependents when it is not told. */
enum strategy_dependents {
    STRATEGY_BACKGROUND,
    STRATEGY_ORPHAN, /* jobs of batch/v1 */
    STRATEGY_NO_GC,  /* events: options about it have no effect */
};

struct strategy_ops;

/* One row per kind. */
struct strategy {
    const char *group, *kind, *plural;
    bool namespaced;
    bool has_status;
    bool unconditional_update; /* a PUT without resourceVersion is accepted */
    bool create_on_update;     /* a PUT to a name that is not there creates it */
    enum strategy_dependents dependents;
    const struct strategy_ops *ops; /* inside */
};

struct strategy_context {
    int64_t now; /* microseconds since 1970 */
    struct prng *random;
    void *cookie; /* of the functions below */
    /* Another object: a new reference, or NULL when there is none. Asked for: serviceaccounts,
     * priorityclasses, storageclasses, nodes. `ns` is "" for what has no namespace. */
    json_t *(*get)(void *cookie, const char *plural, const char *ns, const char *name);
    /* All objects of a resource without namespaces, as a new list: priorityclasses (is one of them
     * the default?), storageclasses. */
    json_t *(*list)(void *cookie, const char *plural);
    /* Gives a Service what it has none of and needs: spec.clusterIP and spec.clusterIPs, nodePort
     * of its ports, healthCheckNodePort. `old` is NULL on creation. Called before validation, as by
     * the server. NULL: Services get nothing. */
    int (*allocate)(void *cookie, json_t *service, const json_t *old, struct failure *f);
};

/* Which part of an object a request is about. */
enum strategy_part {
    STRATEGY_MAIN,
    STRATEGY_STATUS,
    STRATEGY_FINALIZE, /* of namespaces */
};

/* NULL: no built-in kind. `group` is "" for core. */
const struct strategy *strategy_find(const char *group, const char *kind);

/* Defaults, and what the way through the server's inner version changes: both spellings of a field
 * (serviceAccount, podCIDR, podIP) get the same value, a Secret's stringData becomes data. */
void strategy_default(const struct strategy *s, json_t *obj);

/* Makes `obj` what is stored: system fields (uid, creationTimestamp) are set, a name is generated
 * from generateName. 0, or -1 and why not (403, 422); `obj` is then of no use. When the generated
 * name turns out to be taken, the server tries again with a copy of what was sent, up to 8 times.
 */
int strategy_create(const struct strategy *s, const struct strategy_context *ctx, json_t *obj,
                    struct failure *f);

/* The same for a new version of `old`, which has all that was stored. Refuses another
 * resourceVersion than that of `old` (409), and none where the kind wants one (422); where it does
 * not, `obj` gets that of `old`. What the part does not cover comes from `old`; generation is
 * raised as the kind does. */
int strategy_update(const struct strategy *s, const struct strategy_context *ctx,
                    enum strategy_part part, json_t *obj, const json_t *old, struct failure *f);

/* The same object from the other group that has it: core/v1 Events and events.k8s.io/v1 Events are
 * one resource with two faces. The server stores the former. Returns a new value in canonical form
 * but for the order of its members, without apiVersion and kind. */
json_t *strategy_event_to_core(const json_t *event);
json_t *strategy_event_from_core(const json_t *event);

#endif
