/* How long pods take to stop and to start. */
#include "engine/durations.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/podrole.h"

/* A start that took longer was not one: the pod was unready later on. */
#define START_MAX SEC(3600)

struct owner_starts {
    const char *uid; /* a pool entry */
    VEC(int64_t) starts;
    int64_t middle;
};

struct durations {
    struct htab owners;
};

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}

static uint32_t owner_hash(const void *entry) {
    return uid_hash(((const struct owner_starts *)entry)->uid);
}

static bool owner_equal(const void *entry, const void *uid) {
    return streq(((const struct owner_starts *)entry)->uid, uid);
}

static const struct htab_ops owner_ops = {owner_hash, owner_equal};

static const char *owner_uid(const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    return o ? o->uid : NULL;
}

static struct owner_starts *owner_get(struct durations *t, const char *uid) {
    struct owner_starts *o = htab_find(&t->owners, uid_hash(uid), uid);
    if (o)
        return o;
    o = xnew(struct owner_starts);
    o->uid = uid;
    htab_insert(&t->owners, o);
    return o;
}

/* How long this one took to be ready, or -1. One whose containers were started again says nothing:
 * it was ready before. */
static int64_t start_of(const struct pod *pod) {
    const struct condition *ready = condition_find(pod->conditions, "Ready");
    if (!pod_ready(pod) || !ready || !ready->changed || !pod->meta.created)
        return -1;
    for (size_t i = 0; i < list_len(pod->containers); i++)
        if (pod->containers[i].restarts)
            return -1;
    int64_t took = ready->changed - pod->meta.created;
    return took >= 0 && took <= START_MAX ? took : -1;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct durations *durations_new(const struct store *pods) {
    struct durations *t = xnew(struct durations);
    const struct object *obj;
    htab_init(&t->owners, &owner_ops);
    for (uint32_t i = 0; (obj = store_next(pods, &i));) {
        const struct pod *pod = (const struct pod *)obj;
        const char *uid = owner_uid(pod);
        int64_t took = uid ? start_of(pod) : -1;
        if (took < 0)
            continue;
        *vec_push(&owner_get(t, uid)->starts) = took;
    }
    struct owner_starts *o;
    for (uint32_t i = 0; (o = htab_next(&t->owners, &i));) {
        qsort(o->starts.p, o->starts.len, sizeof *o->starts.p, compare);
        o->middle = o->starts.p[o->starts.len / 2];
    }
    return t;
}

void durations_free(struct durations *t) {
    struct owner_starts *o;
    if (!t)
        return;
    for (uint32_t i = 0; (o = htab_next(&t->owners, &i));) {
        vec_done(&o->starts);
        free(o);
    }
    htab_done(&t->owners);
    free(t);
}

struct pod_durations durations_of(const struct durations *t, const struct pod *pod) {
    const char *uid = owner_uid(pod);
    const struct owner_starts *o = uid ? htab_find(&t->owners, uid_hash(uid), uid) : NULL;
    bool given = pod->spec && pod->spec->grace != ABSENT64;
    /* The server takes any number: it is cut before it is multiplied. */
    int64_t grace = given ? MAX_OF(pod->spec->grace, 0) : ASSUMED_STOP / USEC_PER_SEC;
    return (struct pod_durations){.stop = SEC(MIN_OF(grace, ASSUMED_STOP / USEC_PER_SEC)),
                                  .start = o ? o->middle : ASSUMED_START,
                                  .seen = o != NULL};
}
