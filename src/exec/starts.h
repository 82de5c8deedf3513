/* Sees how long pods take to start while something goes on in a cluster: those that replace what a
 * drain evicts, for the next rehearsal. It only looks, and nothing waits for it.
 *
 *     s = starts_new(client, &(struct starts_opts){.seen = on_seen, .arg = x});
 *     starts_watch(s, "shop");               pods of this namespace, from now on
 *     ... on_seen: pod, 3.2 s from its binding until it was ready
 *
 * Only what happens before our eyes counts, by our clock: a pod that had a node when it was first
 * seen, or that is not ready when we stop looking, is not told. */
#ifndef EXEC_STARTS_H
#define EXEC_STARTS_H

#include "kube/client.h"
#include "model/store.h"

struct start_seen {
    const struct pod *pod; /* ready */
    int64_t up;            /* microseconds from the moment at which it had a node */
    /* Microseconds from the moment at which a pod of the same workload began to leave (of a
     * StatefulSet: was gone) until this one had a node: what controllers and scheduler take. -1:
     * it replaces none, or there was no room for it. */
    int64_t place;
};

struct starts_opts {
    int page; /* objects a page of a list; 0: the reflector's own */
    uint64_t seed;
    void (*seen)(void *arg, const struct start_seen *start);
    /* What cannot be looked at: one sentence, once. */
    void (*remark)(void *arg, const char *text);
    void *arg;
};

struct starts;

struct starts *starts_new(struct kube_client *client, const struct starts_opts *opts);
/* The pods of a namespace; of all, once there are many. A second time is nothing new. */
void starts_watch(struct starts *s, const char *ns);
/* The pods of a store that somebody else fills, and that is there as long as this. */
void starts_listen(struct starts *s, struct store *pods);
void starts_free(struct starts *s); /* takes NULL; not inside a callback */

#endif
