/* Keeps a store current. */
#include "kube/reflector.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/timefmt.h"
#include "kube/stream.h"
#include "model/version.h"

enum {
    PAGE_DEFAULT = 500,        /* client-go's */
    PAGE_EXCESS = 100,         /* times what was asked for: a page of so many is no page */
    OBJECTS_MAX = 10000000,    /* of one list: 60 times the pods that Kubernetes supports */
    REPEATS_MAX = 10,          /* objects that a list may have more than once */
    WATCH_MIN = 300,           /* seconds that a watch is asked to last, drawn from [min, 2 min) */
    WATCH_SLACK = 60,          /* seconds more until we end it ourselves */
    ERROR_BODY_MAX = 64 << 10, /* of an answer that is no list */
    SILENCE_DEFAULT = 100,     /* seconds; the server sends a bookmark about every 60, see below */
    CONFIRM_SILENCE = 15,      /* seconds without a byte within the list that follows a silence */
    LIST_TIMEOUT = 300,        /* seconds for a page: the server itself gives up after 60 */
    LIST_SILENCE = 60,         /* seconds without a byte within a list: the server's own limit */
    BACKOFF_FIRST_MS = 800,    /* client-go's figures */
    BACKOFF_MAX_MS = 30000,
    BACKOFF_RESET = 120, /* seconds without trouble */
    LIVED = 5,           /* seconds after which a stream counts as having worked */
    WATCH_AGAIN = 300,   /* seconds of polling until a watch is tried again */
    POLL_SOON_MS = 100,  /* a list that is wanted soon; others may want it, too */
    DEAF_MAX = 5,        /* watches in a row that brought nothing, not even a bookmark */
};

/* What the request under way is. */
enum state {
    R_PAUSE,      /* none: waiting for the timer */
    R_WATCH_LIST, /* a watch whose initial events are coming in */
    R_LIST,       /* a page of a list */
    R_WATCH,      /* a watch, or a WatchList past its initial events */
};

/* What to do next. */
enum next { NEXT_SYNC, NEXT_PAGE, NEXT_WATCH };

struct reflector {
    struct kube_client *client;
    struct store *store;
    struct store_part *part; /* what of it is ours */
    struct reflector_options opts;
    char *ns, *field_selector, *label_selector;
    struct prng prng;
    struct loop_timer *timer;

    enum state state;
    enum next next; /* when the timer fires */
    bool first_sync_told;
    bool troubled;      /* a problem was told, and nothing came since */
    bool silent;        /* no bookmarks came where there were some before: a list tells why */
    bool bookmarks;     /* the server sends them, as long as its version goes on */
    bool no_watch_list; /* the server does not have it */
    bool list_next;     /* a WatchList came to nothing: the next attempt is a list */
    bool unpaged;       /* a continue token expired: one list in one piece */
    bool any_version;   /* not even NotOlderThan could be served */
    bool rewind;        /* the server's data went back in time: take older objects too */
    bool restored;      /* another reflector of the store has found that out */
    bool went_back;     /* the listing under way has an object older than ours */
    bool polling;       /* watching is forbidden: lists, every opts.poll */
    char *polling_why;  /* the server's message, until it has been told */
    bool polling_told;
    int64_t watch_at;  /* when, of polling, a watch is tried again */
    bool hurry;        /* of polling: the next list comes soon */
    int64_t hurried;   /* when one was last made to */
    int64_t synced_at; /* when the last list was complete */
    char *token;       /* to continue a list with */
    int64_t listed;    /* objects in the pages of the list under way */
    char *newest;      /* the newest version that an unfinished listing has shown, or NULL */
    int deaf;          /* watches in a row that brought nothing */
    int64_t backoff;   /* the last pause without its jitter, microseconds; 0: none yet */
    int64_t trouble;   /* when the last pause ended */

    /* The call under way. */
    struct kube_call *call;
    int64_t started;
    int64_t objects; /* so far */
    bool got_event;
    int code;
    bool streaming;
    struct stream stream;
    struct kube_head head;
    char *content_type;
    struct str error_body;
    bool expired;      /* an ERROR event said so */
    struct err broken; /* why the stream was refused by us */
    /* Why the rest of the stream is of no use: an ERROR event, or a picture that we refuse. */
    enum kube_outcome event_outcome;
    char *event_message;
    int64_t event_retry;

    struct reflector_stats stats;
};

static const char *noun(const struct reflector *r) {
    return store_kind(r->store)->resource;
}

/* --- requests --- */

static void add_selectors(struct reflector *r, struct str *path) {
    if (r->field_selector) {
        str_add(path, "&fieldSelector=");
        str_add_url(path, r->field_selector);
    }
    if (r->label_selector) {
        str_add(path, "&labelSelector=");
        str_add_url(path, r->label_selector);
    }
}

/* What an unfinished listing showed must not disappear again because the next one comes from a
 * server that is behind: so not older than that either. */
static void add_not_older(struct reflector *r, struct str *path) {
    const char *version = store_part_version(r->part);
    if (version_compare(r->newest, version) > 0)
        version = r->newest;
    if (version && !r->any_version) {
        str_add(path, "&resourceVersion=");
        str_add_url(path, version);
    }
}

static int on_object(void *arg, enum watch_type type, struct object *obj);
static int on_error_event(void *arg, const struct status *status);
static int on_unread(void *arg, enum watch_type type, struct object *obj, const char *why);
static const struct stream_handler stream_handler = {on_object, on_error_event, NULL},
                                   patient_handler = {on_object, on_error_event, on_unread};
static const struct kube_handler call_handler;

static void start_call(struct reflector *r, enum state state, const char *path, int64_t idle,
                       int64_t timeout) {
    const char *accept =
        r->opts.json ? "application/json" : "application/vnd.kubernetes.protobuf,application/json";
    struct kube_request req = {
        .method = "GET",
        .path = path,
        .accept = accept,
        .lane = state == R_LIST ? KUBE_LANE_CALL : KUBE_LANE_WATCH,
        .idle = idle,
        .timeout = timeout,
    };
    r->state = state;
    r->objects = 0;
    r->started = loop_now(r->client->loop);
    r->got_event = r->expired = r->streaming = false;
    r->code = 0;
    r->head = (struct kube_head){.retry_after = -1};
    str_reset(&r->error_body);
    err_done(&r->broken);
    r->event_outcome = KUBE_OK;
    r->event_retry = -1;
    mem_clear(&r->event_message);
    r->call = kube_start(r->client->transport, &req, &call_handler, r);
}

/* Nobody hears of it. */
static void end_call(struct reflector *r) {
    kube_cancel(r->client->transport, r->call);
    r->call = NULL;
    if (r->streaming)
        stream_done(&r->stream);
    r->streaming = false;
}

static void begin_listing(struct reflector *r) {
    if (r->rewind)
        store_part_rewind(r->part);
    r->went_back = false;
    store_part_begin(r->part);
    r->stats.lists++;
}

static void start_watch(struct reflector *r, bool initial) {
    _cleanup_str_ struct str path = STR_INIT;
    int64_t seconds = prng_range(&r->prng, WATCH_MIN, 2 * WATCH_MIN);
    kube_path(&path, store_kind(r->store), r->ns, NULL, NULL);
    str_addf(&path, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%" PRId64, seconds);
    if (initial) {
        str_add(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        add_not_older(r, &path);
        begin_listing(r);
    } else {
        str_add(&path, "&resourceVersion=");
        str_add_url(&path, strna(store_part_version(r->part)));
    }
    add_selectors(r, &path);
    r->stats.watches++;
    int64_t silence = r->opts.silence ? r->opts.silence : SEC(SILENCE_DEFAULT);
    start_call(r, initial ? R_WATCH_LIST : R_WATCH, str_get(&path), silence,
               SEC(seconds + WATCH_SLACK));
}

static void start_page(struct reflector *r) {
    _cleanup_str_ struct str path = STR_INIT;
    kube_path(&path, store_kind(r->store), r->ns, NULL, NULL);
    /* No limit is a limit of 0. */
    int page = r->opts.page ? r->opts.page : PAGE_DEFAULT;
    str_addf(&path, "?limit=%d", r->unpaged ? 0 : page);
    if (r->token) {
        str_add(&path, "&continue=");
        str_add_url(&path, r->token);
    } else {
        r->listed = 0;
        r->list_next = false;
        begin_listing(r);
    }
    add_selectors(r, &path);
    int64_t silence = r->opts.silence ? r->opts.silence : SEC(LIST_SILENCE);
    if (r->silent) /* a server that had fallen silent is given less time, once */
        silence = MIN_OF(silence, SEC(CONFIRM_SILENCE));
    r->silent = false;
    int64_t timeout = r->client->timeout ? r->client->timeout : SEC(LIST_TIMEOUT);
    start_call(r, R_LIST, str_get(&path), silence, timeout);
}

static void proceed(struct reflector *r, enum next next) {
    switch (next) {
    case NEXT_SYNC:
        mem_clear(&r->token);
        if (r->no_watch_list || r->opts.no_watch_list || r->opts.once || r->list_next || r->polling)
            start_page(r);
        else
            start_watch(r, true);
        break;
    case NEXT_PAGE:
        start_page(r);
        break;
    case NEXT_WATCH:
        start_watch(r, false);
        break;
    }
}

static void tell_recovery(struct reflector *r) {
    if (!r->troubled)
        return;
    r->troubled = false;
    if (r->opts.recovered)
        r->opts.recovered(r->opts.arg);
}

static void on_timer(void *arg) {
    struct reflector *r = arg;
    if (r->restored) {
        r->restored = false;
        end_call(r);
        r->rewind = r->any_version = true;
        r->next = NEXT_SYNC;
    } else if (r->state != R_PAUSE) {
        /* Nothing happens, and nothing needs to. */
        if (r->state == R_WATCH && r->streaming)
            tell_recovery(r);
        return;
    }
    proceed(r, r->next);
}

/* Not at once: another reflector is at work. */
static void on_restored(void *arg) {
    struct reflector *r = arg;
    r->restored = true;
    if (r->state != R_PAUSE)
        loop_timer_set(r->timer, 0);
}

static void pause_before(struct reflector *r, enum next next, int64_t delay) {
    r->state = R_PAUSE;
    r->next = next;
    loop_timer_set(r->timer, delay);
}

/* Until the next list. */
static void pause_polling(struct reflector *r, int64_t delay) {
    pause_before(r, NEXT_SYNC, r->hurry ? MIN_OF(delay, MSEC(POLL_SOON_MS)) : delay);
    r->hurry = false;
}

/* How long to wait now: doubling as long as there is trouble. */
static int64_t next_delay(struct reflector *r) {
    int64_t now = loop_now(r->client->loop);
    if (now - r->trouble >= SEC(BACKOFF_RESET))
        r->backoff = 0;
    r->backoff = r->backoff ? MIN_OF(r->backoff * 2, MSEC(BACKOFF_MAX_MS)) : MSEC(BACKOFF_FIRST_MS);
    return prng_range(&r->prng, r->backoff, 2 * r->backoff);
}

static void tell_problem(struct reflector *r, enum kube_outcome outcome, const char *message,
                         int64_t delay) {
    r->troubled = true;
    if (r->opts.problem)
        r->opts.problem(r->opts.arg, outcome, message, delay);
}

/* Tries again later, and says so, but not about what a healthy server does now and then (`usual`)
 * unless it does it again and again. `retry_after` is what the server asked for, seconds, or -1. */
static void back_off(struct reflector *r, enum next next, enum kube_outcome outcome,
                     const char *message, int64_t retry_after, bool usual) {
    int64_t delay = next_delay(r);
    if (retry_after > 0)
        delay = MAX_OF(delay, SEC(MIN_OF(retry_after, (int64_t)600)));
    r->trouble = loop_now(r->client->loop) + delay;
    r->stats.failures++;
    log_debug(r->client->log, "watching %s: %s; next try in %.1f s", noun(r), message,
              (double)delay / USEC_PER_SEC);
    pause_before(r, next, delay);
    if (!usual || r->backoff > MSEC(BACKOFF_FIRST_MS))
        tell_problem(r, outcome, message, delay);
}

/* --- the stream --- */

/* Why a listing that is complete cannot be believed, or NULL. */
static const char *doubt(struct reflector *r, const char *version) {
    if (!version_valid(version))
        return "the list has no resourceVersion";
    bool older = r->went_back || version_compare(version, store_part_version(r->part)) < 0;
    if (r->rewind || !older)
        return NULL;
    /* We asked for the most recent, or for nothing older than what we have: it is no server that is
     * merely behind. Seen twice, it is believed. */
    r->rewind = r->any_version = true;
    return "the server's data is older than what it sent before: if it was restored from a backup, "
           "it is read anew";
}

static void tell_polling(struct reflector *r) {
    if (!r->polling || r->polling_told)
        return;
    r->polling_told = true;
    log_debug(r->client->log, "watching %s is forbidden: listed every %g s instead", noun(r),
              (double)r->opts.poll / USEC_PER_SEC);
    if (r->opts.polling)
        r->opts.polling(r->opts.arg, strna(r->polling_why));
}

static void synced(struct reflector *r, const char *version) {
    store_part_end(r->part, version);
    r->synced_at = loop_now(r->client->loop);
    tell_polling(r);
    r->unpaged = r->any_version = r->rewind = r->list_next = false;
    r->deaf = 0;
    mem_clear(&r->newest);
    tell_recovery(r);
    if (!r->first_sync_told) {
        r->first_sync_told = true;
        if (r->opts.synced)
            r->opts.synced(r->opts.arg);
    }
}

/* Ends the stream: what it brought cannot be used. */
static int give_up(struct reflector *r, const char *why) {
    r->event_outcome = KUBE_NOT_KUBERNETES;
    str_replace(&r->event_message, why);
    return -ECANCELED;
}

static int64_t most_objects(const struct reflector *r) {
    if (r->state != R_LIST || r->unpaged)
        return OBJECTS_MAX;
    return (int64_t)PAGE_EXCESS * (r->opts.page ? r->opts.page : PAGE_DEFAULT);
}

/* The end of the initial events: from here on it is an ordinary watch. */
static int on_initial_end(struct reflector *r, const char *version) {
    const char *why = doubt(r, version);
    if (why)
        return give_up(r, why);
    r->state = R_WATCH;
    r->started = loop_now(r->client->loop);
    r->got_event = false;
    synced(r, version);
    return 0;
}

static int on_object(void *arg, enum watch_type type, struct object *obj) {
    struct reflector *r = arg;
    const struct kind *kind = store_kind(r->store);
    int rc = 0;
    r->got_event = true;
    r->stats.events++;
    if (r->state != R_WATCH && ++r->objects > most_objects(r)) {
        r->unpaged = true; /* a server may ignore the limit: then it gets a list in one piece */
        rc = give_up(r, "the list does not end");
        goto out;
    }
    /* Initial events come in no order: only the bookmark that ends them has a version to go on
     * from. */
    if (r->state != R_WATCH) {
        const struct object *ours = store_part_synced(r->part)
                                        ? store_part_get(r->part, obj->meta.ns, obj->meta.name)
                                        : NULL;
        if (ours && version_compare(obj->meta.version, ours->meta.version) < 0)
            r->went_back = true;
        if (version_compare(obj->meta.version, r->newest) > 0)
            str_replace(&r->newest, obj->meta.version);
    } else if (version_valid(obj->meta.version)) {
        tell_recovery(r);
        /* Later than our version or, when etcd changed several at once, the same: anything else
         * would bring back what is gone. */
        if (version_compare(obj->meta.version, store_part_version(r->part)) < 0)
            goto out;
        store_part_set_version(r->part, obj->meta.version);
    }
    if (type == WATCH_BOOKMARK) {
        const char *end = map_get(obj->meta.annotations, "k8s.io/initial-events-end");
        if (r->state == R_WATCH)
            r->bookmarks = true;
        else if (r->state == R_WATCH_LIST && end && streq(end, "true"))
            rc = on_initial_end(r, obj->meta.version);
    } else if (type == WATCH_DELETED) {
        store_part_remove(r->part, obj->meta.ns, obj->meta.name, obj->meta.version);
    } else {
        store_part_put(r->part, obj);
        return 0;
    }
out:
    object_free(kind, store_pool(r->store), obj);
    return rc;
}

/* What it was before must not be taken for what it is. */
static int on_unread(void *arg, enum watch_type type, struct object *obj, const char *why) {
    struct reflector *r = arg;
    const struct kind *kind = store_kind(r->store);
    if (type == WATCH_DELETED || type == WATCH_BOOKMARK)
        return on_object(arg, type, obj);
    r->opts.unread(r->opts.arg, obj->meta.name, why);
    if (!kind->unread)
        return on_object(arg, WATCH_DELETED, obj);
    *(const char **)((char *)obj + kind->unread) = pool_str(store_pool(r->store), why, strlen(why));
    return on_object(arg, type, obj);
}

static int on_error_event(void *arg, const struct status *status) {
    struct reflector *r = arg;
    r->event_outcome = kube_outcome_of(status->code ? status->code : 500, NULL, status, true);
    r->event_retry = kube_retry_after(NULL, status);
    str_replace(&r->event_message, status->message ? status->message : "error event");
    r->expired = r->event_outcome == KUBE_EXPIRED || str_same(status->reason, "Expired") ||
                 str_same(status->reason, "Gone");
    return -ECANCELED; /* nothing useful follows */
}

static void on_head(void *arg, const struct kube_head *head) {
    struct reflector *r = arg;
    enum kube_format format;
    r->code = head->code;
    kube_client_heard(r->client, head);
    r->head = *head;
    str_replace(&r->content_type, head->content_type);
    r->head.content_type = r->content_type;
    r->head.warning = NULL;
    if (head->code != 200)
        return;
    if (!kube_format_of(head->content_type, &format)) {
        err_set(&r->broken, EBADMSG,
                "the answer is \"%s\", not a Kubernetes list: is this an API server?",
                head->content_type);
        return;
    }
    stream_init(&r->stream, store_kind(r->store), format,
                r->state == R_LIST ? STREAM_LIST : STREAM_WATCH, store_pool(r->store),
                r->opts.unread ? &patient_handler : &stream_handler, r);
    r->streaming = true;
    if (r->state != R_LIST)
        r->polling = false;
    if (r->state == R_WATCH && r->troubled && !r->restored)
        loop_timer_set(r->timer, SEC(LIVED));
}

static int on_data(void *arg, const char *p, size_t len) {
    struct reflector *r = arg;
    r->stats.bytes += len;
    if (r->streaming)
        return stream_feed(&r->stream, p, len, &r->broken);
    if (r->broken.code || r->error_body.len + len > ERROR_BODY_MAX)
        return -EMSGSIZE;
    str_addn(&r->error_body, p, len);
    return 0;
}

/* --- the end of a call --- */

/* The watch is forbidden; the list may not be. */
static void begin_polling(struct reflector *r, enum state state, const char *why) {
    int64_t now = loop_now(r->client->loop);
    r->polling = true;
    r->watch_at = now + SEC(WATCH_AGAIN);
    str_replace(&r->polling_why, why);
    if (state == R_WATCH_LIST) {
        proceed(r, NEXT_SYNC);
        return;
    }
    tell_polling(r);
    pause_before(r, NEXT_SYNC, MAX_OF(r->synced_at + r->opts.poll - now, (int64_t)0));
}

/* The server answered with an error code. */
static void on_refusal(struct reflector *r, enum state state) {
    struct codec codec;
    struct status status = {0};
    enum kube_format format;
    struct view body = {str_get(&r->error_body), r->error_body.len};
    codec_init(&codec, store_pool(r->store));
    bool is_status = kube_format_of(strna(r->content_type), &format) &&
                     kube_decode_status(&codec, format, body, &status, NULL) == 0;
    enum kube_outcome outcome = kube_outcome_of(r->code, &r->head, &status, is_status);
    int64_t retry_after = kube_retry_after(&r->head, is_status ? &status : NULL);
    /* Something else than Kubernetes may say what it is. */
    _cleanup_free_ char *part =
        outcome == KUBE_NOT_KUBERNETES ? kube_snippet(&r->error_body) : xstrdup("");
    _cleanup_free_ char *text =
        is_status && status.message
            ? xstrdup(status.message)
            : xasprintf("HTTP %d: %s", r->code, *part ? part : kube_outcome_row(outcome)->meaning);
    type_release(&type_status, store_pool(r->store), &status, NULL);
    codec_done(&codec);

    bool refused = outcome == KUBE_INVALID || outcome == KUBE_UNSUPPORTED;
    bool too_new = outcome == KUBE_TOO_NEW;
    enum next next = NEXT_SYNC;
    if (state == R_WATCH_LIST && refused) {
        log_debug(r->client->log, "watching %s: no WatchList here (%s), listing instead", noun(r),
                  text);
        r->no_watch_list = true;
        proceed(r, NEXT_SYNC);
        return;
    }
    if (outcome == KUBE_FORBIDDEN && state != R_LIST && r->opts.poll) {
        begin_polling(r, state, text);
        return;
    }
    if (outcome == KUBE_EXPIRED && state == R_LIST && r->token && !r->unpaged) {
        r->unpaged = true; /* the continue token is too old: everything at once */
        mem_clear(&r->token);
        start_page(r);
        return;
    }
    if (outcome == KUBE_EXPIRED)
        r->stats.relists++;
    /* A watch that the server cannot serve for long is one of versions that it does not know. */
    else if (state == R_WATCH && !refused && !(too_new && ++r->deaf >= DEAF_MAX))
        next = NEXT_WATCH;
    if (next == NEXT_SYNC && (too_new || outcome == KUBE_EXPIRED) && state != R_WATCH)
        r->any_version = true;
    if (outcome == KUBE_OK)
        outcome = KUBE_NOT_KUBERNETES; /* a success, but not the one that was asked for */
    back_off(r, next, outcome, text, retry_after, outcome == KUBE_EXPIRED);
}

/* A page arrived in full. */
static void on_page(struct reflector *r, const char *token, const char *version) {
    r->listed += r->objects;
    if (token) {
        /* Each object is in a list once, and by now in the store: what is far more repeats. */
        bool repeats = r->listed > 2 * (int64_t)store_len(r->store) + REPEATS_MAX;
        if (repeats || r->listed > OBJECTS_MAX || (r->token && streq(r->token, token))) {
            back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, "the list does not end", -1, false);
            return;
        }
        str_replace(&r->token, token);
        if (r->got_event)
            proceed(r, NEXT_PAGE);
        else
            back_off(r, NEXT_PAGE, KUBE_NOT_KUBERNETES, "a page of the list is empty", -1, true);
        return;
    }
    mem_clear(&r->token);
    const char *why = doubt(r, version);
    if (why) {
        back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, why, -1, false);
        return;
    }
    r->state = R_PAUSE;
    synced(r, version);
    if (r->polling && loop_now(r->client->loop) < r->watch_at)
        pause_polling(r, r->opts.poll);
    else if (!r->opts.once)
        proceed(r, NEXT_WATCH);
}

/* A watch that had begun is over, and its version can be gone on from. */
static void on_watch_end(struct reflector *r, const struct kube_done *done, const char *message) {
    bool lived = loop_now(r->client->loop) - r->started >= SEC(LIVED);
    if (r->got_event)
        r->deaf = 0;
    else if (done->error == -ETIMEDOUT)
        r->deaf++;
    if (r->deaf >= DEAF_MAX) {
        /* Not even bookmarks: is what we watch for a version that the server has never had? */
        r->deaf = 0;
        r->stats.relists++;
        back_off(r, NEXT_SYNC, KUBE_UNREACHABLE, "the watch brings nothing", -1, true);
    } else if (lived && done->error == -ETIMEDOUT && r->bookmarks) {
        /* How a server that hangs looks, and one of whose kind nothing has changed: it sends no
         * bookmark for a version that the watch began with, and where etcd is asked about its
         * progress every ten minutes only, as it is by default, there is none after it for so long.
         * A list tells one from the other. */
        r->silent = r->list_next = true; /* a WatchList would go on with the same limit */
        r->stats.relists++;
        proceed(r, NEXT_SYNC);
    } else if (lived) {
        proceed(r, NEXT_WATCH);
    } else {
        back_off(r, NEXT_WATCH, KUBE_UNREACHABLE, message, -1, true);
    }
}

/* A stream or page that began well has ended. */
static void on_stream_end(struct reflector *r, enum state state, const struct kube_done *done) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (!done->error && !r->broken.code)
        stream_end(&r->stream, &r->broken);
    _cleanup_free_ char *token =
        state == R_LIST && r->stream.list.token ? xstrdup(r->stream.list.token) : NULL;
    _cleanup_free_ char *version = r->stream.list.version ? xstrdup(r->stream.list.version) : NULL;
    stream_done(&r->stream);
    r->streaming = false;
    err_move(&err, &r->broken);
    r->list_next = state == R_WATCH_LIST;

    const char *message = done->error && done->msg ? done->msg
                          : err.code               ? err.msg
                                                   : "the server ended the watch at once";
    if (r->event_message) {
        r->stats.relists++;
        back_off(r, NEXT_SYNC, r->event_outcome, r->event_message, r->event_retry, r->expired);
    } else if (err.code && err.code != EPIPE) {
        r->stats.relists++;
        back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, err.msg, -1, false);
    } else if (state == R_LIST && !done->error && !err.code) {
        on_page(r, token, version);
    } else if (state == R_WATCH) {
        on_watch_end(r, done, message);
    } else {
        back_off(r, NEXT_SYNC, KUBE_UNKNOWN, message, -1, false);
    }
}

static void on_done(void *arg, const struct kube_done *done) {
    struct reflector *r = arg;
    enum state state = r->state;
    r->call = NULL;
    if (r->streaming) {
        on_stream_end(r, state, done);
    } else if (r->broken.code) {
        _cleanup_err_ struct err err = ERR_INIT;
        err_move(&err, &r->broken);
        back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, err.msg, -1, false);
    } else if (r->code && (!done->error || r->code != 200)) {
        on_refusal(r, state); /* the code says enough, even if the rest did not come */
    } else {
        enum kube_outcome outcome = kube_outcome_of_failure(done);
        back_off(r, state == R_WATCH ? NEXT_WATCH : NEXT_SYNC, outcome,
                 done->msg ? done->msg : strerror(-done->error), -1, false);
    }
}

static const struct kube_handler call_handler = {on_head, on_data, on_done};

/* --- life cycle --- */

struct reflector *reflector_new(struct kube_client *client, struct store *store,
                                const struct reflector_options *opts) {
    struct reflector *r = xnew(struct reflector);
    r->client = client;
    r->store = store;
    r->part = store_part(store, opts->scope);
    r->opts = *opts;
    r->ns = opts->ns ? xstrdup(opts->ns) : NULL;
    r->field_selector = opts->field_selector ? xstrdup(opts->field_selector) : NULL;
    r->label_selector = opts->label_selector ? xstrdup(opts->label_selector) : NULL;
    r->prng.state = opts->seed;
    r->timer = loop_timer_new(client->loop, on_timer, r);
    store_part_on_restored(r->part, on_restored, r);
    proceed(r, NEXT_SYNC);
    return r;
}

void reflector_hurry(struct reflector *r) {
    int64_t now = loop_now(r->client->loop);
    if (!r->polling)
        return;
    /* A list that is under way may have been made before; one that is due soon is soon enough. */
    if (r->state != R_PAUSE || r->troubled)
        r->hurry = true;
    else if (!r->hurried || now - r->hurried >= MSEC(POLL_SOON_MS)) {
        r->hurried = now;
        loop_timer_set(r->timer, MSEC(POLL_SOON_MS));
    }
}

void reflector_look(struct reflector *r) {
    if (r->state == R_PAUSE && r->troubled)
        loop_timer_set(r->timer, 0);
}

void reflector_retry(struct reflector *r) {
    if (r->state != R_PAUSE || !r->troubled)
        return;
    r->backoff = 0;
    loop_timer_set(r->timer, 0);
}

void reflector_free(struct reflector *r) {
    if (!r)
        return;
    end_call(r);
    store_part_on_restored(r->part, NULL, NULL);
    loop_timer_free(r->timer);
    free(r->ns);
    free(r->field_selector);
    free(r->label_selector);
    free(r->polling_why);
    free(r->token);
    free(r->newest);
    free(r->content_type);
    free(r->event_message);
    str_done(&r->error_body);
    err_done(&r->broken);
    free(r);
}

struct reflector_stats reflector_stats(const struct reflector *r) {
    return r->stats;
}
