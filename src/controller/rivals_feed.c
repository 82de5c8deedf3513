/* The signs of others. */
#include "controller/rivals_feed.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/reflector.h"

enum {
    SAID_EVERY = 3600, /* seconds between two lines about what may not be read */
    POLL = 60,         /* between two lists where watching is forbidden */
    SOURCES = 2,
};

struct source {
    struct rivals_feed *feed;
    struct store *store;
    struct reflector *reflector;
    bool troubled; /* and a line has said it */
    int64_t said;  /* monotonic: the last time */
};

struct rivals_feed {
    struct kube_client *client;
    const struct log *log;
    struct source sources[SOURCES]; /* the locks, the pods */
};

static void on_synced(void *arg) {
    (void)arg;
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct source *s = arg;
    int64_t now = loop_now(s->feed->client->loop);
    (void)outcome, (void)retry_in;
    if (s->troubled && now - s->said < SEC(SAID_EVERY))
        return;
    s->troubled = true;
    s->said = now;
    log_warn(s->feed->log,
             "cannot watch %s: %s; whether another manager is at work is not known from them",
             store_kind(s->store)->resource, message);
}

static void on_recovered(void *arg) {
    struct source *s = arg;
    if (s->troubled)
        log_info(s->feed->log, "watching %s for other managers works again",
                 store_kind(s->store)->resource);
    s->troubled = false;
}

static void begin(struct rivals_feed *f, size_t i, const struct kind *kind,
                  struct reflector_options opts, store_changed_fn *changed, void *arg) {
    struct source *s = &f->sources[i];
    s->feed = f;
    s->store = store_new(kind, f->client->pool);
    store_listen(s->store, changed, arg);
    opts.seed += i;
    opts.poll = SEC(POLL);
    opts.synced = on_synced;
    opts.problem = on_problem;
    opts.recovered = on_recovered;
    opts.arg = s;
    s->reflector = reflector_new(f->client, s->store, &opts);
}

struct rivals_feed *rivals_feed_new(struct kube_client *client,
                                    const struct rivals_feed_opts *opts) {
    struct rivals_feed *f = xnew(struct rivals_feed);
    f->client = client;
    f->log = opts->log;
    begin(f, 0, &kind_kured_lock, (struct reflector_options){.seed = opts->seed},
          opts->lock_changed, opts->arg);
    begin(f, 1, &kind_pod,
          (struct reflector_options){.label_selector = RIVAL_POD_LABEL, .seed = opts->seed},
          opts->pod_changed, opts->arg);
    return f;
}

void rivals_feed_free(struct rivals_feed *f) {
    if (!f)
        return;
    for (size_t i = 0; i < SOURCES; i++) {
        reflector_free(f->sources[i].reflector);
        store_free(f->sources[i].store);
    }
    free(f);
}

struct rival_signs rivals_feed_signs(const struct rivals_feed *f) {
    return f ? (struct rival_signs){f->sources[0].store, f->sources[1].store}
             : (struct rival_signs){0};
}
