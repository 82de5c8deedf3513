/* Keeps a store (model/store.h), or a part of one, current: list, watch, and everything that can go
 * wrong with them.
 *
 * The first picture comes from a watch with initial events (WatchList), one stream that then simply
 * goes on; a server that does not know it is asked for pages and then watched. Either way the first
 * picture is the most recent one (a quorum read), never an API server's possibly old cache.
 *
 * What happens when                                   what is done
 *  - the server ends the stream                        watch again from the last version, at once
 *  - it ends it within 5 s, answers 429 or 5xx,        the same after a pause
 *    or cannot be reached
 *  - 410 or an ERROR event: the version is gone        list again, not older than what we have
 *  - the answer cannot be read                         list again after a pause
 *  - nothing comes, not even bookmarks                 the stream is cut and listed again, which
 *                                                      must begin within 15 s; of a server that was
 *                                                      never seen to send one, watched again, and
 *                                                      listed the fifth time in a row
 *  - WatchList is refused                              pages from then on
 *  - WatchList brings no end of its initial events     pages the next time
 *  - a continue token is too old                       one list in one piece
 *  - a complete list is older than what we have        read once more, then believed: the server's
 *                                                      data was restored from a backup
 *  - 401, 403, 404                                     reported as `problem`, and tried again after
 *                                                      a pause
 *  - 403 for the watch, but not for the list           with `poll`: listed again and again; every
 *                                                      five minutes a watch is tried
 *
 * Pauses double from 0.8 s to 30 s, with jitter up to twice as long, and start over after two
 * minutes without trouble; a longer Retry-After is honoured (up to 10 minutes). Whatever happens,
 * the store neither loses an object nor keeps one that is gone, and never shows an older state
 * again (but for a restored backup). */
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include <stdint.h>

#include "kube/client.h"
#include "model/store.h"

struct reflector;

struct reflector_options {
    const char *ns;             /* NULL: all namespaces */
    const char *field_selector; /* "spec.nodeName=n1", or NULL */
    const char *label_selector; /* or NULL */
    /* Which objects of the store are this reflector's: those that the selectors above select. For
     * several reflectors that fill one store, each its own part (model/store.h); without a function
     * all objects are. */
    struct store_scope scope;
    bool json;          /* ask for JSON, also for kinds that have protobuf */
    bool no_watch_list; /* list and watch, never WatchList */
    bool once;          /* one list in pages, then nothing more: no watch */
    int page;           /* objects a page; 500 when 0 */
    int64_t poll;       /* microseconds between two lists where watching is forbidden; 0: never */
    int64_t silence;    /* microseconds without a byte until a stream is dead; 100 s when 0 */
    uint64_t seed;      /* of the jitter */
    /* The first picture is complete (called once), or nothing came of an attempt (each time, but
     * for what healthy servers do now and then: 410, streams that end early). The reflector must
     * not be freed inside. */
    void (*synced)(void *arg);
    void (*problem)(void *arg, enum kube_outcome outcome, const char *message, int64_t retry_in);
    /* After a problem: something comes in again, or the watch has stood for 5 s, though nothing has
     * happened yet; may be NULL. */
    void (*recovered)(void *arg);
    /* Told once, with the server's words: changes are seen late, since all that is allowed is to
     * list. May be NULL. */
    void (*polling)(void *arg, const char *message);
    /* An object cannot be read, and why, each time that it comes. The rest is kept current all the
     * same; that one is not in the store, or, where its kind has a text for it (struct kind), with
     * that. NULL: one such object is a problem of the whole. */
    void (*unread)(void *arg, const char *name, const char *why);
    void *arg;
};

/* Counts, for tests and metrics. */
struct reflector_stats {
    uint64_t lists, watches, events, relists, failures, bytes;
};

/* Starts at once. `store` gets what comes. */
struct reflector *reflector_new(struct kube_client *client, struct store *store,
                                const struct reflector_options *opts);
/* Something has changed, we know it: when watching is forbidden, the next list comes soon. Whoever
 * writes a lot is answered by a few lists. */
void reflector_hurry(struct reflector *r);
/* What it was refused for is no longer so, we know it: one that pauses tries again now. */
void reflector_retry(struct reflector *r);
/* It may be, we do not know it: the same, but when it is in vain the pauses go on growing. */
void reflector_look(struct reflector *r);
/* What it brought stays in the store; store_drop_scope() afterwards removes it. */
void reflector_free(struct reflector *r);
struct reflector_stats reflector_stats(const struct reflector *r);

#endif
