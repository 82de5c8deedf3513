/* Others that drain and reboot nodes. */
#include "engine/rivals.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

enum {
    LOCK_LEN = 256 * 1024, /* all annotations of an object have at most that many bytes */
    NAME_LEN = 253,        /* of a Node */
    NSEC_PER_USEC = 1000,
    KURED = 0, /* its row */
};

const struct rival_row rival_rows[] = {
    /* kured --annotate-nodes: the time, from before its drain until it is uncordoned. */
    [KURED] = {"kured", RIVAL_ANNOTATION, "weave.works/kured-reboot-in-progress", NULL,
               "reboots it", true},
    {"Flatcar's update operator", RIVAL_ANNOTATION,
     "flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress", "true", "reboots it", true},
    /* Of the Job that cordons, drains and upgrades. */
    {"system-upgrade-controller", RIVAL_POD, RIVAL_POD_LABEL, NULL, "upgrades it", false},
    {"the machine-config operator", RIVAL_ANNOTATION, "machineconfiguration.openshift.io/state",
     "Working", "updates it", false},
    {"the node maintenance operator", RIVAL_TAINT, "medik8s.io/drain", NULL, "drains it", false},
    {"cluster-autoscaler", RIVAL_TAINT, "ToBeDeletedByClusterAutoscaler", NULL, "removes it",
     false},
    {"Karpenter", RIVAL_TAINT, "karpenter.sh/disrupted", NULL, "replaces it", false},
};
const size_t n_rival_rows = ARRAY_LEN(rival_rows);

static bool is_it(const struct rival_row *row, const char *value) {
    return value && (!row->value || streq(value, row->value));
}

static bool has_taint(const struct node *node, const struct rival_row *row) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].key, row->key) && is_it(row, strna(node->taints[i].value)))
            return true;
    return false;
}

const struct rival_row *rival_on_node(const struct node *node) {
    for (size_t i = 0; i < n_rival_rows; i++) {
        const struct rival_row *row = &rival_rows[i];
        if (row->sign == RIVAL_ANNOTATION && is_it(row, map_get(node->meta.annotations, row->key)))
            return row;
        if (row->sign == RIVAL_TAINT && has_taint(node, row))
            return row;
    }
    return NULL;
}

/* Of one that has ended nothing is left but its name. */
const struct rival_row *rival_of_pod(const struct pod *pod) {
    if (str_same(pod->phase, "Succeeded") || str_same(pod->phase, "Failed"))
        return NULL;
    for (size_t i = 0; i < n_rival_rows; i++)
        if (rival_rows[i].sign == RIVAL_POD &&
            is_it(&rival_rows[i], map_get(pod->meta.labels, rival_rows[i].key)))
            return &rival_rows[i];
    return NULL;
}

/* --- kured's lock --- */

/* {"nodeID":"w1","metadata":{...},"created":"2026-11-18T03:00:00Z","TTL":0}; a TTL is in
 * nanoseconds, and 0 is for ever. */
static const char *holder_of(const json_t *lock, int64_t now) {
    const char *node = json_str(lock, "nodeID"), *created = json_str(lock, "created");
    const json_t *ttl = json_object_get(lock, "TTL");
    int64_t since, lasts = json_integer_value(ttl);
    if (str_empty(node) || strlen(node) > NAME_LEN || (ttl && !json_is_integer(ttl)))
        return NULL;
    if (lasts <= 0)
        return node;
    if (!created || !time_parse(created, strlen(created), &since))
        return NULL;
    return now - since < lasts / NSEC_PER_USEC ? node : NULL;
}

void rival_locks(const struct kured_lock *lock, int64_t now, rival_lock_fn *fn, void *arg) {
    const char *text = map_get(lock->meta.annotations, KURED_LOCK), *node;
    size_t len = text ? strlen(text) : 0, i;
    if (!len || len > LOCK_LEN)
        return;
    _cleanup_json_ json_t *doc = json_loadb(text, len, 0, NULL);
    const json_t *several = json_object_get(doc, "locks"), *one;
    if ((node = holder_of(doc, now)))
        fn(arg, node, &rival_rows[KURED]);
    json_array_foreach(several, i, one) {
        if ((node = holder_of(one, now)))
            fn(arg, node, &rival_rows[KURED]);
    }
}

struct wanted {
    const char *node;
    const struct rival_row *found;
};

static void on_lock(void *arg, const char *node, const struct rival_row *rival) {
    struct wanted *w = arg;
    if (streq(node, w->node))
        w->found = rival;
}

const struct rival_row *rival_of_lock(const struct kured_lock *lock, const char *node,
                                      int64_t now) {
    struct wanted w = {node, NULL};
    rival_locks(lock, now, on_lock, &w);
    return w.found;
}

static const char *lock_in(const struct object *obj) {
    return obj ? map_get(obj->meta.annotations, KURED_LOCK) : NULL;
}

bool rival_lock_changed(const struct object *before, const struct object *after) {
    return !str_same(lock_in(before), lock_in(after));
}

/* --- by any sign --- */

const struct rival_row *rival_by_lock(const struct rival_signs *signs, const char *node,
                                      int64_t now) {
    const struct rival_row *found = NULL;
    const struct object *obj;
    for (uint32_t i = 0; signs->locks && !found && (obj = store_next(signs->locks, &i));)
        found = rival_of_lock((const struct kured_lock *)obj, node, now);
    return found;
}

const struct rival_row *rival_at_work(const struct rival_signs *signs, const struct node *node,
                                      int64_t now) {
    const struct rival_row *found = rival_on_node(node);
    const struct object *obj;
    if (!found)
        found = rival_by_lock(signs, node->meta.name, now);
    for (uint32_t i = 0; signs->pods && !found && (obj = store_next(signs->pods, &i));)
        if (str_same(((const struct pod *)obj)->node_name, node->meta.name))
            found = rival_of_pod((const struct pod *)obj);
    return found;
}
