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
    WATCH_MIN = 300,           /* seconds that a watch is asked to last, drawn from [min, 2 min) */
    ERROR_BODY_MAX = 64 << 10, /* of an answer that is no list */
    SILENCE_DEFAULT = 100,     /* seconds; the server sends a bookmark about every 60 */
    LIST_SILENCE = 60,         /* seconds without a byte within a list: the server's own limit */
    BACKOFF_FIRST_MS = 800,    /* client-go's figures */
    BACKOFF_MAX_MS = 30000,
    LIVED = 5,            /* seconds after which a stream counts as having worked */
    SHORT_PAUSE_MS = 200, /* after a stream that brought something but ended early */
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
    struct reflector_options opts;
    char *ns, *field_selector, *label_selector;
    struct prng prng;
    struct loop_timer *timer;

    enum state state;
    enum next next; /* when the timer fires */
    bool first_sync_told;
    bool no_watch_list; /* the server does not have it */
    bool unpaged;       /* a continue token expired: one list in one piece */
    bool any_version;   /* not even NotOlderThan could be served */
    char *token;        /* to continue a list with */
    int64_t backoff;    /* microseconds; 0: none yet */

    /* The call under way. */
    struct kube_call *call;
    int64_t started;
    bool got_event;
    int code;
    bool streaming;
    struct stream stream;
    struct kube_head head;
    char *content_type;
    struct str error_body;
    bool expired;      /* an ERROR event said so */
    struct err broken; /* why the stream was refused by us */
    enum kube_outcome event_outcome;
    char *event_message;

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

static void add_not_older(struct reflector *r, struct str *path) {
    const char *version = store_version(r->store);
    if (version && !r->any_version) {
        str_add(path, "&resourceVersion=");
        str_add_url(path, version);
    }
}

static int on_object(void *arg, enum watch_type type, struct object *obj);
static int on_error_event(void *arg, const struct status *status);
static const struct stream_handler stream_handler = {on_object, on_error_event};
static const struct kube_handler call_handler;

static void start_call(struct reflector *r, enum state state, const char *path, int64_t idle) {
    const char *accept =
        r->opts.json ? "application/json" : "application/vnd.kubernetes.protobuf,application/json";
    struct kube_request req = {
        .method = "GET",
        .path = path,
        .accept = accept,
        .lane = state == R_LIST ? KUBE_LANE_CALL : KUBE_LANE_WATCH,
        .idle = idle,
    };
    r->state = state;
    r->started = loop_now(r->client->loop);
    r->got_event = r->expired = r->streaming = false;
    r->code = 0;
    r->head = (struct kube_head){.retry_after = -1};
    str_reset(&r->error_body);
    err_done(&r->broken);
    r->event_outcome = KUBE_OK;
    mem_clear(&r->event_message);
    r->call = kube_start(r->client->transport, &req, &call_handler, r);
}

static void start_watch(struct reflector *r, bool initial) {
    _cleanup_str_ struct str path = STR_INIT;
    int64_t seconds = prng_range(&r->prng, WATCH_MIN, 2 * WATCH_MIN);
    kube_path(&path, store_kind(r->store), r->ns, NULL, NULL);
    str_addf(&path, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%" PRId64, seconds);
    if (initial) {
        str_add(&path, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        add_not_older(r, &path);
        store_replace_begin(r->store);
        r->stats.lists++;
    } else {
        str_add(&path, "&resourceVersion=");
        str_add_url(&path, strna(store_version(r->store)));
    }
    add_selectors(r, &path);
    r->stats.watches++;
    int64_t silence = r->opts.silence ? r->opts.silence : SEC(SILENCE_DEFAULT);
    start_call(r, initial ? R_WATCH_LIST : R_WATCH, str_get(&path), silence);
}

static void start_page(struct reflector *r) {
    _cleanup_str_ struct str path = STR_INIT;
    kube_path(&path, store_kind(r->store), r->ns, NULL, NULL);
    str_add(&path, "?");
    if (!r->unpaged)
        str_addf(&path, "limit=%d", r->opts.page ? r->opts.page : PAGE_DEFAULT);
    if (r->token) {
        str_add(&path, "&continue=");
        str_add_url(&path, r->token);
    } else {
        store_replace_begin(r->store);
        r->stats.lists++;
    }
    add_selectors(r, &path);
    int64_t silence = r->opts.silence ? r->opts.silence : SEC(LIST_SILENCE);
    start_call(r, R_LIST, str_get(&path), silence);
}

static void proceed(struct reflector *r, enum next next) {
    switch (next) {
    case NEXT_SYNC:
        mem_clear(&r->token);
        if (r->no_watch_list || r->opts.no_watch_list || r->opts.once)
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

static void on_timer(void *arg) {
    struct reflector *r = arg;
    proceed(r, r->next);
}

static void pause_before(struct reflector *r, enum next next, int64_t delay) {
    r->state = R_PAUSE;
    r->next = next;
    loop_timer_set(r->timer, delay);
}

/* Tries again later, and says so. `retry_after` is what the server asked for, seconds, or -1. */
static void back_off(struct reflector *r, enum next next, enum kube_outcome outcome,
                     const char *message, int64_t retry_after) {
    r->backoff = r->backoff ? MIN_OF(r->backoff * 2, MSEC(BACKOFF_MAX_MS)) : MSEC(BACKOFF_FIRST_MS);
    int64_t delay = prng_range(&r->prng, r->backoff, 2 * r->backoff);
    if (retry_after > 0)
        delay = MAX_OF(delay, SEC(MIN_OF(retry_after, (int64_t)600)));
    r->stats.failures++;
    log_debug(r->client->log, "watching %s: %s; next try in %.1f s", noun(r), message,
              (double)delay / USEC_PER_SEC);
    pause_before(r, next, delay);
    if (r->opts.problem)
        r->opts.problem(r->opts.arg, outcome, message, delay);
}

/* --- the stream --- */

static void synced(struct reflector *r, const char *version) {
    store_replace_end(r->store, version);
    r->unpaged = r->any_version = false;
    r->backoff = 0;
    if (!r->first_sync_told) {
        r->first_sync_told = true;
        if (r->opts.synced)
            r->opts.synced(r->opts.arg);
    }
}

static int on_object(void *arg, enum watch_type type, struct object *obj) {
    struct reflector *r = arg;
    const struct kind *kind = store_kind(r->store);
    r->got_event = true;
    r->stats.events++;
    if (r->state == R_LIST) {
        store_put(r->store, obj);
        return 0;
    }
    /* Initial events come in no order: only the bookmark that ends them has a version to go on
     * from. */
    if (r->state == R_WATCH && version_valid(obj->meta.version))
        store_set_version(r->store, obj->meta.version);
    if (type == WATCH_BOOKMARK) {
        const char *end = map_get(obj->meta.annotations, "k8s.io/initial-events-end");
        if (r->state == R_WATCH_LIST && end && streq(end, "true")) {
            r->state = R_WATCH;
            synced(r, obj->meta.version);
        }
        object_free(kind, store_pool(r->store), obj);
    } else if (type == WATCH_DELETED) {
        store_remove(r->store, obj->meta.ns, obj->meta.name, obj->meta.version);
        object_free(kind, store_pool(r->store), obj);
    } else {
        store_put(r->store, obj);
    }
    return 0;
}

static int on_error_event(void *arg, const struct status *status) {
    struct reflector *r = arg;
    r->event_outcome = kube_outcome_of(status->code ? status->code : 500, NULL, status, true);
    str_replace(&r->event_message, status->message ? status->message : "error event");
    r->expired = r->event_outcome == KUBE_EXPIRED || str_same(status->reason, "Expired") ||
                 str_same(status->reason, "Gone");
    return -ECANCELED; /* nothing useful follows */
}

static void on_head(void *arg, const struct kube_head *head) {
    struct reflector *r = arg;
    enum kube_format format;
    r->code = head->code;
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
                &stream_handler, r);
    r->streaming = true;
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
    _cleanup_free_ char *text =
        is_status && status.message
            ? xstrdup(status.message)
            : xasprintf("HTTP %d: %s", r->code, kube_outcome_row(outcome)->meaning);
    type_release(&type_status, store_pool(r->store), &status, NULL);
    codec_done(&codec);

    if (state == R_WATCH_LIST && (outcome == KUBE_INVALID || outcome == KUBE_UNSUPPORTED)) {
        log_debug(r->client->log, "watching %s: no WatchList here (%s), listing instead", noun(r),
                  text);
        r->no_watch_list = true;
        proceed(r, NEXT_SYNC);
    } else if (outcome == KUBE_EXPIRED && state == R_LIST && r->token) {
        r->unpaged = true; /* the continue token is too old: everything at once */
        proceed(r, NEXT_SYNC);
    } else if (outcome == KUBE_EXPIRED) {
        r->stats.relists++;
        back_off(r, NEXT_SYNC, outcome, text, retry_after);
    } else if (outcome == KUBE_TOO_NEW && state != R_WATCH) {
        r->any_version = true;
        back_off(r, NEXT_SYNC, outcome, text, retry_after);
    } else {
        enum next next = state == R_WATCH ? NEXT_WATCH : NEXT_SYNC;
        back_off(r, next, outcome, text, retry_after);
    }
}

/* A stream or page that began well has ended; `error` is 0 or why it broke off. */
static void on_stream_end(struct reflector *r, enum state state, const struct kube_done *done) {
    struct err err = ERR_INIT;
    bool lived = loop_now(r->client->loop) - r->started >= SEC(LIVED);
    if (!done->error && !r->broken.code)
        stream_end(&r->stream, &r->broken);
    _cleanup_free_ char *token =
        state == R_LIST && r->stream.list.token ? xstrdup(r->stream.list.token) : NULL;
    _cleanup_free_ char *version = r->stream.list.version ? xstrdup(r->stream.list.version) : NULL;
    stream_done(&r->stream);
    r->streaming = false;
    err_move(&err, &r->broken);
    if (lived && state == R_WATCH)
        r->backoff = 0;

    if (r->expired && lived) {
        r->stats.relists++;
        proceed(r, NEXT_SYNC);
    } else if (r->event_message) {
        r->stats.relists++;
        back_off(r, NEXT_SYNC, r->event_outcome, r->event_message, -1);
    } else if (err.code && err.code != EPIPE) {
        r->stats.relists++;
        back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, err.msg, -1);
    } else if (state == R_LIST && !done->error && !err.code) {
        if (token) {
            str_replace(&r->token, token);
            proceed(r, NEXT_PAGE);
        } else {
            mem_clear(&r->token);
            r->state = R_WATCH;
            synced(r, version);
            if (!r->opts.once)
                proceed(r, NEXT_WATCH);
        }
    } else if (state == R_WATCH && lived) {
        proceed(r, NEXT_WATCH);
    } else if (state == R_WATCH && r->got_event) {
        pause_before(r, NEXT_WATCH, MSEC(SHORT_PAUSE_MS));
    } else {
        const char *msg = done->error && done->msg ? done->msg
                          : err.code               ? err.msg
                                                   : "the server ended the watch at once";
        back_off(r, state == R_WATCH ? NEXT_WATCH : NEXT_SYNC, KUBE_UNREACHABLE, msg, -1);
    }
    err_done(&err);
}

static void on_done(void *arg, const struct kube_done *done) {
    struct reflector *r = arg;
    enum state state = r->state;
    r->call = NULL;
    if (r->streaming) {
        on_stream_end(r, state, done);
    } else if (r->broken.code) {
        struct err err = ERR_INIT;
        err_move(&err, &r->broken);
        back_off(r, NEXT_SYNC, KUBE_NOT_KUBERNETES, err.msg, -1);
        err_done(&err);
    } else if (r->code && !done->error) {
        on_refusal(r, state);
    } else {
        enum kube_outcome outcome = kube_outcome_of_failure(done);
        back_off(r, state == R_WATCH ? NEXT_WATCH : NEXT_SYNC, outcome,
                 done->msg ? done->msg : strerror(-done->error), -1);
    }
}

static const struct kube_handler call_handler = {on_head, on_data, on_done};

/* --- life cycle --- */

struct reflector *reflector_new(struct kube_client *client, struct store *store,
                                const struct reflector_options *opts) {
    struct reflector *r = xnew(struct reflector);
    r->client = client;
    r->store = store;
    r->opts = *opts;
    r->ns = opts->ns ? xstrdup(opts->ns) : NULL;
    r->field_selector = opts->field_selector ? xstrdup(opts->field_selector) : NULL;
    r->label_selector = opts->label_selector ? xstrdup(opts->label_selector) : NULL;
    r->prng.state = opts->seed;
    r->timer = loop_timer_new(client->loop, on_timer, r);
    proceed(r, NEXT_SYNC);
    return r;
}

void reflector_free(struct reflector *r) {
    if (!r)
        return;
    kube_cancel(r->client->transport, r->call);
    if (r->streaming)
        stream_done(&r->stream);
    loop_timer_free(r->timer);
    free(r->ns);
    free(r->field_selector);
    free(r->label_selector);
    free(r->token);
    free(r->content_type);
    free(r->event_message);
    str_done(&r->error_body);
    err_done(&r->broken);
    free(r);
}

struct reflector_stats reflector_stats(const struct reflector *r) {
    return r->stats;
}
