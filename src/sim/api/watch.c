/* WATCH: what a client is told of a shelf's changes.
 *
 * A watch holds a position in the shelf's history and is pulled from, so that it costs nothing
 * while its client does not read. When the history moves on without it, it ends, as the real server
 * closes watches whose clients are too slow. */
#include "sim/api/api_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/api/print.h"

enum { PIECE = 64 << 10 };

/* About every minute, as the real server's watch cache. */
#define BOOKMARK_EVERY SEC(60)
/* Without timeoutSeconds a watch lasts 30 to 60 minutes (--min-request-timeout). */
#define TIMEOUT_MIN SEC(1800)

struct watch {
    struct api_stream stream;
    struct api *api;
    struct printer printer;
    struct filter filter;
    struct shelf *shelf; /* NULL: gone */
    /* First the objects that existed, if the client asked for them, ... */
    struct snapshot *snap;
    size_t at;
    bool mark_initial_end;
    /* ... then what changes. */
    uint64_t position;
    uint64_t version; /* of the last thing seen, for bookmarks */
    bool bookmark_due, timed_out;
    uint64_t not_before;    /* the client knows this version: older ones are no news */
    bool waiting;           /* the puller was told to wait */
    struct failure failure; /* the one event that this watch is */
    struct alarm bookmark, timeout;
};

static void wake(struct watch *w) {
    if (w->waiting && w->stream.wake) {
        w->waiting = false;
        w->stream.wake(w->stream.wake_arg);
    }
}

/* The history has moved on without it. What it still had to tell is not kept for it: one that is
 * not read would hold on to objects that are long gone. */
static bool left_behind(struct watch *w) {
    if (w->shelf && w->position >= shelf_first(w->shelf))
        return false;
    snapshot_unref(w->snap);
    w->snap = NULL;
    return true;
}

static void changed(void *arg, const struct change *change) {
    (void)change;
    (void)left_behind(arg);
    wake(arg);
}

static void watch_free(struct api_stream *stream) {
    struct watch *w = CONTAINER_OF(stream, struct watch, stream);
    struct api *a = w->api;
    for (size_t i = 0; i < a->watches.len; i++)
        if (a->watches.p[i] == w) {
            a->watches.p[i] = a->watches.p[--a->watches.len];
            break;
        }
    if (w->shelf)
        shelf_unlisten(w->shelf, changed, w);
    clock_stop(&a->world->clock, &w->bookmark);
    clock_stop(&a->world->clock, &w->timeout);
    printer_done(&w->printer);
    filter_done(&w->filter);
    snapshot_unref(w->snap);
    failure_done(&w->failure);
    free(w);
}

/* With a selector, what begins or ceases to match arrives as added or deleted. */
static void tell(struct watch *w, const struct change *c, struct str *out) {
    bool was = c->before && c->type != CHANGE_ADDED && filter_match(&w->filter, c->before);
    bool is = c->type != CHANGE_DELETED && filter_match(&w->filter, c->after);
    if (c->type == CHANGE_DELETED && !was)
        return;
    if (is && was)
        print_event(&w->printer, "MODIFIED", c->after, out);
    else if (is)
        print_event(&w->printer, "ADDED", c->after, out);
    else if (was && c->type == CHANGE_DELETED)
        print_event(&w->printer, "DELETED", c->after, out);
    else if (was) {
        /* Its last state that matched, with the version of the change. */
        struct record *last = record_with_status(&w->api->world->codec, c->before, (struct view){0},
                                                 c->after->version, NULL);
        assert(last);
        print_event(&w->printer, "DELETED", last, out);
        record_unref(last);
    }
}

static enum api_pull watch_pull(struct api_stream *stream, struct str *out) {
    struct watch *w = CONTAINER_OF(stream, struct watch, stream);
    size_t start = out->len;
    if (w->failure.code) {
        print_error_event(&w->printer, &w->failure, out);
        return API_END;
    }
    w->printer.now = w->api->world->clock.now;
    if (left_behind(w))
        return API_END;
    while (w->snap && w->at < w->snap->n) {
        const struct record *r = w->snap->items[w->at++];
        if (filter_match(&w->filter, r))
            print_event(&w->printer, "ADDED", r, out);
        if (out->len - start >= PIECE)
            return API_MORE;
    }
    if (w->snap) {
        if (w->mark_initial_end)
            print_bookmark(&w->printer, w->snap->version, true, out);
        snapshot_unref(w->snap);
        w->snap = NULL;
    }
    while (w->position < shelf_end(w->shelf)) {
        const struct change *c = shelf_change(w->shelf, w->position++);
        w->version = c->after->version;
        if (w->version > w->not_before)
            tell(w, c, out);
        if (out->len - start >= PIECE)
            return API_MORE;
    }
    /* Other resources' changes are behind us too. */
    w->version = w->api->world->version;
    if (w->bookmark_due && w->version >= w->not_before) {
        w->bookmark_due = false;
        print_bookmark(&w->printer, w->version, false, out);
    }
    if (w->timed_out)
        return API_END;
    w->waiting = true;
    return API_WAIT;
}

static const struct api_stream_ops watch_ops = {watch_pull, watch_free};

static void on_bookmark(void *arg) {
    struct watch *w = arg;
    w->bookmark_due = true;
    clock_set(&w->api->world->clock, &w->bookmark,
              w->api->world->clock.now + (int64_t)((double)BOOKMARK_EVERY * w->api->speed),
              on_bookmark, w);
    wake(w);
}

static void on_timeout(void *arg) {
    struct watch *w = arg;
    w->timed_out = true;
    wake(w);
}

void watches_close(struct api *a, const struct shelf *shelf) {
    for (size_t i = 0; i < a->watches.len; i++) {
        struct watch *w = a->watches.p[i];
        if (w->shelf != shelf)
            continue;
        shelf_unlisten(w->shelf, changed, w);
        w->shelf = NULL;
        wake(w);
    }
}

/* Where the watch begins: with the objects that exist, or after a version. */
static int begin(struct watch *w, const struct list_options *o, struct failure *f) {
    uint64_t version = 0, now = w->api->world->version;
    if (version_parse(o->version, 500, &version, f))
        return -1;
    if (version > now) {
        if (o->initial_events_set) { /* the real server waits for three seconds first */
            fail_too_large(&w->failure, version, now);
            return 0;
        }
        w->not_before = version;
        w->position = shelf_end(w->shelf);
        w->version = now;
        return 0;
    }
    bool list_first = o->initial_events_set ? o->initial_events : version == 0;
    if (list_first) {
        w->snap = shelf_snapshot(w->shelf);
        w->at = 0;
        w->position = shelf_end(w->shelf);
        w->version = w->snap->version;
        w->mark_initial_end = o->initial_events && o->bookmarks;
        return 0;
    }
    if (version == 0) {
        w->position = shelf_end(w->shelf);
        w->version = now;
        return 0;
    }
    w->version = version;
    if (!shelf_position(w->shelf, version, &w->position))
        fail(&w->failure, 410, "Expired", "too old resource version: %llu (%llu)",
             (unsigned long long)version, (unsigned long long)now);
    return 0;
}

int api_watch(struct call *c, const struct list_options *o, struct failure *f) {
    struct world *world = c->api->world;
    if (c->accept.yaml) /* there is no stream of it */
        return fail(f, 406, "NotAcceptable",
                    "only the following media types are accepted: application/json;stream=watch, "
                    "application/vnd.kubernetes.protobuf;stream=watch");
    struct watch *w = xnew(struct watch);
    w->stream.ops = &watch_ops;
    w->api = c->api;
    w->shelf = c->res->shelf;
    shelf_listen(w->shelf, changed, w);
    *vec_push(&c->api->watches) = w;
    const char *name = c->name;
    _cleanup_free_ char *fields = NULL;
    if (name) /* a watch of one object: GET .../name?watch=1 */
        fields = xasprintf("metadata.name=%s%s%s", name, str_empty(o->fields) ? "" : ",",
                           strna(o->fields));
    if (printer_init(&w->printer, c, PRINT_WATCH, f) ||
        filter_init(&w->filter, c->res->info, c->ns, o->labels, fields ? fields : o->fields,
                    resource_selectable(c->res), f) ||
        begin(w, o, f)) {
        watch_free(&w->stream);
        return -1;
    }
    int64_t timeout = o->timeout != ABSENT64 && o->timeout > 0
                          ? (o->timeout < 1 << 30 ? SEC(o->timeout) : SEC(1 << 30))
                          : TIMEOUT_MIN + prng_range(&world->random, 0, TIMEOUT_MIN);
    clock_set(&world->clock, &w->timeout,
              world->clock.now + (int64_t)((double)timeout * c->api->speed), on_timeout, w);
    /* One comes two seconds before the end at the latest, if there is that much time. */
    int64_t first = MIN_OF(BOOKMARK_EVERY, timeout - SEC(2));
    if (o->bookmarks && first > 0)
        clock_set(&world->clock, &w->bookmark,
                  world->clock.now + (int64_t)((double)first * c->api->speed), on_bookmark, w);
    c->reply->code = 200;
    c->reply->content_type = printer_type(&w->printer, true);
    c->reply->stream = &w->stream;
    c->reply->watch = true;
    return 0;
}
