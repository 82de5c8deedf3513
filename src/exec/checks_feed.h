/* Reads what the checks (engine/checks.h) decide by: which systems the server knows, by discovery,
 * and then the objects of those alone, once or for as long as somebody looks.
 *
 *     feed = checks_feed_new(client, &(struct checks_feed_opts){.ready = on_ready, .arg = x});
 *     ... on_ready: checks_run(checks_feed_world(feed), ...)
 *
 * In a cluster without any of the systems this is one request. A system that is installed later is
 * noticed with `again` only. What is there and cannot be read is told as such (READ_FAILED), never
 * left out, and so is what could be read and cannot any more; unless it is read once only, it is
 * tried again and again, and told when it comes. A kind that is deleted meanwhile is absent from
 * then on. */
#ifndef EXEC_CHECKS_FEED_H
#define EXEC_CHECKS_FEED_H

#include "engine/checks.h"
#include "kube/client.h"

struct checks_feed;

struct checks_feed_opts {
    bool once;    /* read, and no more: no watches */
    bool remarks; /* also for the checks that only ever remark */
    /* Whether the control plane's etcd matters: called when discovery is over; NULL: it does. It
     * is a question about nodes and pods that the caller may have read meanwhile. */
    bool (*etcd)(void *arg);
    unsigned skip; /* bit i: row i of the table of checks is not wanted */
    /* All nodes, kept current by the caller; NULL: they are read, if anything is looked at. */
    const struct store *nodes;
    int64_t again; /* microseconds after which discovery is asked once more; 0: it is not */
    int page;      /* objects a page; 0: the reflector's own */
    uint64_t seed; /* of the jitter */
    /* By source: why it cannot be read, as is known before, and so it is not tried. NULL: it is
     * not known, of one or of all. */
    const char *const *unread;
    /* Everything that is there was read, or cannot be. Called once, from the loop. */
    void (*ready)(void *arg);
    /* Something has changed after that; may be NULL. */
    void (*changed)(void *arg);
    /* For whoever keeps all that is read, with which another world would always be as this one (but
     * for `unread`, and for its nodes); NULL: nobody does. Each change of what was read of a
     * source, before it is made (store_tap()), and what the world says of the source from now on,
     * as far as that is not what it says from the beginning (check_world_begin()). */
    void (*store)(void *arg, enum check_source_id source, const struct store *s,
                  const struct store_change *change);
    void (*input)(void *arg, enum check_source_id source, const struct check_input *in);
    void *arg;
};

struct checks_feed *checks_feed_new(struct kube_client *client,
                                    const struct checks_feed_opts *opts);
void checks_feed_free(struct checks_feed *f); /* takes NULL; not inside a callback */

bool checks_feed_ready(const struct checks_feed *f);
/* What was read; nothing is, as far as it can be told, before it is ready. Valid as long as the
 * feed. */
const struct check_world *checks_feed_world(const struct checks_feed *f);
/* Tells `store` and `input` of everything, for a world that is only beginning. */
void checks_feed_retell(const struct checks_feed *f);
/* Whether discovery has found definitions of our own kinds (model/own.h). */
bool checks_feed_own(const struct checks_feed *f);
/* Whether there is anything to look at, or that cannot be looked at. */
bool checks_feed_any(const struct checks_feed *f);

#endif
