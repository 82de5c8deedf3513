/* Reads what the checks decide by. */
#include "exec/checks_feed.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/reflector.h"
#include "model/own.h"

enum {
    PATIENCE = 30, /* seconds for everything together */
    TRIES = 4,     /* of what may succeed later */
    AGAIN_MS = 500,
    ASK_AGAIN = 10, /* seconds until discovery that came to nothing is tried once more */
    POLL = 5,       /* seconds between two lists, where watching is forbidden */
};

/* One source as it is being read. */
struct source {
    struct checks_feed *feed;
    const struct check_source *what;
    struct check_input in; /* what came of it; the world shows it as far as nodes are known */
    struct store *store;
    struct reflector *reflector; /* NULL: not begun */
    unsigned problems;           /* in a row */
    bool needed;
    bool pending; /* somebody waits for it */
};

/* One question to discovery. */
struct question {
    struct checks_feed *feed;
    const struct kind *kind; /* of which group; NULL: which groups there are */
    struct kube_op *op;
    struct loop_timer *again;
    unsigned problems;
    bool open; /* asked, and not answered for good */
};

struct checks_feed {
    struct kube_client *client;
    struct checks_feed_opts opts;
    struct check_world world;
    struct source sources[CHECK_SOURCES];
    struct source nodes;
    struct check_source nodes_source;
    struct question groups, versions[CHECK_SOURCES];
    size_t asked;   /* questions without an answer */
    size_t pending; /* sources that are being read */
    bool reading, ready;
    bool own; /* our own definitions are there */
    struct loop_timer *late;
    struct loop_timer *told;
    struct loop_timer *again; /* discovery is asked once more; NULL: it is not */
    struct arena arena;
};

static bool is_custom(const struct source *s) {
    return strchr(s->what->kind->group, '.'); /* Kubernetes has its own of these without */
}

static bool source_wanted(const struct checks_feed *f, size_t source) {
    return check_source_wanted((enum check_source_id)source, f->opts.skip, f->opts.remarks);
}

static bool is_unread(const struct checks_feed *f, size_t source) {
    return f->opts.unread && f->opts.unread[source];
}

/* --- reading --- */

static enum check_source_id source_id(const struct source *s) {
    return (enum check_source_id)(s - s->feed->sources);
}

static void on_told(void *arg) {
    struct checks_feed *f = arg;
    bool first = !f->ready;
    f->ready = true;
    f->world.unread = false;
    if (first)
        f->opts.ready(f->opts.arg);
    else if (f->opts.changed)
        f->opts.changed(f->opts.arg);
}

/* From the loop, and once for many changes. Nothing can be said of any system without the nodes. */
static void tell(struct checks_feed *f) {
    bool blind = f->nodes.needed && f->nodes.in.read != READ_DONE;
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        struct check_input *in = &f->world.inputs[i], before = *in;
        *in = f->sources[i].in;
        if (blind && in->read == READ_DONE)
            *in = (struct check_input){.read = READ_FAILED, .why = f->nodes.in.why};
        if (f->opts.input && (in->read != before.read || !str_same(in->why, before.why)))
            f->opts.input(f->opts.arg, (enum check_source_id)i, in);
    }
    loop_timer_set(f->told, 0);
}

static void set_input(struct source *s, enum check_read how, const char *why) {
    const char *of = s == &s->feed->nodes ? "nodes: " : "";
    /* The same again and again, while a server is away, takes no memory. */
    _cleanup_free_ char *text = why ? xasprintf("%s%s", of, why) : NULL;
    if (!str_same(s->in.why, text))
        s->in.why = text ? arena_printf(&s->feed->arena, "%s", text) : NULL;
    s->in.read = how;
    s->in.store = s->store;
}

/* What is known of it from now on: also after everything was read. */
static void end(struct source *s, enum check_read how, const char *why) {
    struct checks_feed *f = s->feed;
    bool was_pending = s->pending, news = s->in.read != how;
    if (!was_pending && f->opts.once)
        return; /* what was read once stays as it was */
    s->pending = false;
    set_input(s, how, why);
    f->pending -= was_pending;
    if (!f->pending)
        loop_timer_stop(f->late);
    if (f->ready ? news || was_pending : !f->pending)
        tell(f);
}

/* The store has all there is. */
static void on_current(void *arg) {
    struct source *s = arg;
    s->problems = 0;
    end(s, READ_DONE, NULL);
}

/* What was read long ago is as good as unread, unless it is only a short trouble. */
static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct source *s = arg;
    (void)retry_in;
    if (outcome == KUBE_NOT_FOUND) /* deleted since we looked */
        end(s, READ_ABSENT, NULL);
    else if (!kube_outcome_row(outcome)->retry || ++s->problems >= TRIES)
        end(s, READ_FAILED, message);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct checks_feed *f = arg;
    (void)before, (void)after;
    if (f->ready)
        tell(f);
}

/* The object itself says so to the check, which judges the others. */
static void on_unread(void *arg, const char *name, const char *why) {
    (void)arg, (void)name, (void)why;
}

static void on_store(void *arg, const struct store *store, const struct store_change *change) {
    const struct source *s = arg;
    s->feed->opts.store(s->feed->opts.arg, source_id(s), store, change);
}

static void read_source(struct source *s) {
    struct checks_feed *f = s->feed;
    s->pending = true;
    f->pending++;
    set_input(s, READ_FAILED, "it has not been read yet");
    s->store = store_new(s->what->kind, f->client->pool);
    store_listen(s->store, on_change, f);
    if (f->opts.store && s != &f->nodes)
        store_tap(s->store, on_store, s);
    struct reflector_options opts = {
        .ns = s->what->ns,
        .field_selector = s->what->fields,
        .label_selector = s->what->labels,
        .once = f->opts.once,
        .page = f->opts.page,
        .poll = f->opts.once ? 0 : SEC(POLL),
        .seed = f->opts.seed + (uint64_t)(s - f->sources),
        .synced = on_current,
        .recovered = on_current,
        .problem = on_problem,
        /* One that nobody could find in the store would be taken for absent. */
        .unread = s->what->kind->unread ? on_unread : NULL,
        .arg = s,
    };
    s->reflector = reflector_new(f->client, s->store, &opts);
}

/* Kubernetes' own kinds, for the checks that have something to look at. */
static void need_own_kinds(struct checks_feed *f) {
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *c = &checks_table[i];
        struct source *first = &f->sources[c->reads[0].source];
        bool there = c->by_objects || first->needed;
        if (!there || !check_wanted(i, f->opts.skip, f->opts.remarks) ||
            (first == &f->sources[SOURCE_ETCD_PODS] && f->opts.etcd && !f->opts.etcd(f->opts.arg)))
            continue;
        for (unsigned k = 0; k < c->n_reads; k++)
            if (!is_custom(&f->sources[c->reads[k].source]))
                f->sources[c->reads[k].source].needed = true;
    }
}

static bool is_due(const struct source *s) {
    return s->needed && !s->reflector;
}

/* All that discovery has shown, as far as it is not being read. */
static void read_sources(struct checks_feed *f) {
    bool any = false;
    f->reading = true;
    need_own_kinds(f);
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        any = any || f->sources[i].needed || f->sources[i].in.read == READ_FAILED;
    f->nodes.needed = any && !f->opts.nodes;
    if (is_due(&f->nodes)) {
        read_source(&f->nodes);
        f->world.nodes = f->nodes.store;
    }
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (is_due(&f->sources[i]))
            read_source(&f->sources[i]);
    if (!f->pending)
        loop_timer_stop(f->late);
    if (!f->pending || f->ready)
        tell(f);
}

/* --- discovery, which everybody may read --- */

static const json_t *find_group(const json_t *groups, const char *name) {
    const json_t *list = json_object_get(groups, "groups");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *group = json_array_get(list, i);
        if (str_same(json_str(group, "name"), name))
            return group;
    }
    return NULL;
}

static bool has_entry(const json_t *list, const char *key, const char *value) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_str(json_array_get(list, i), key), value))
            return true;
    return false;
}

static bool same_group(const struct kind *a, const struct kind *b) {
    return streq(a->group, b->group) && streq(a->version, b->version);
}

/* It has something to tell about this source. */
static bool is_about(const struct question *q, size_t source) {
    const struct source *s = &q->feed->sources[source];
    return is_custom(s) && source_wanted(q->feed, source) && !is_unread(q->feed, source) &&
           (!q->kind || same_group(q->kind, s->what->kind));
}

/* What this question was to tell cannot be known. */
static void give_up(struct question *q, const char *why) {
    struct checks_feed *f = q->feed;
    _cleanup_free_ char *text = xasprintf("discovery: %s", why);
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (is_about(q, i) && !f->sources[i].needed)
            set_input(&f->sources[i], READ_FAILED, text);
    /* Somebody who waits for it is to go on when it comes. */
    if (!f->opts.once)
        loop_timer_set(q->again, SEC(ASK_AGAIN));
}

static void ask(struct question *q);

static void question_over(struct question *q) {
    q->feed->asked -= q->open;
    q->open = false;
    q->problems = 0;
}

static void on_resources(struct question *q, const json_t *resources) {
    const json_t *list = json_object_get(resources, "resources");
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        struct source *s = &q->feed->sources[i];
        if (!is_about(q, i) || s->needed)
            continue;
        s->needed = has_entry(list, "name", s->what->kind->resource);
        if (!s->needed)
            set_input(s, READ_ABSENT, NULL);
    }
}

static void ask_version(struct checks_feed *f, size_t source) {
    const struct kind *kind = f->sources[source].what->kind;
    struct question *q = &f->versions[source];
    for (size_t k = 0; k < source; k++)
        if (f->versions[k].kind && same_group(f->versions[k].kind, kind)) {
            q = &f->versions[k];
            break;
        }
    if (q->open)
        return;
    q->kind = kind;
    ask(q);
}

static void on_groups(struct checks_feed *f, const json_t *groups) {
    f->own = find_group(groups, OWN_GROUP);
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        struct source *s = &f->sources[i];
        const struct kind *kind = s->what->kind;
        if (!is_about(&f->groups, i) || s->needed)
            continue;
        const json_t *group = find_group(groups, kind->group);
        if (!group) {
            set_input(s, READ_ABSENT, NULL);
        } else if (!has_entry(json_object_get(group, "versions"), "version", kind->version)) {
            char gv[64];
            _cleanup_free_ char *why =
                xasprintf("the server does not have it as %s", kind_api_version(kind, gv));
            set_input(s, READ_FAILED, why);
        } else {
            ask_version(f, i);
        }
    }
}

/* NULL: it is no answer to this question; `why` says why. */
static json_t *parse_reply(const struct question *q, const struct kube_reply *reply,
                           const char **why) {
    const char *list = q->kind ? "resources" : "groups";
    *why = reply->message;
    if (reply->outcome == KUBE_NOT_FOUND && q->kind)
        return json_object(); /* deleted since we looked */
    if (reply->outcome != KUBE_OK)
        return NULL;
    json_t *said = json_loadb(reply->body.p, reply->body.len, 0, NULL);
    *why = said ? "the answer is no list of API groups" : "the answer is no JSON";
    if (json_is_array(json_object_get(said, list)))
        return said;
    json_decref(said);
    return NULL;
}

static void on_reply(void *arg, struct kube_reply *reply) {
    struct question *q = arg;
    struct checks_feed *f = q->feed;
    const char *why;
    q->op = NULL;
    if (kube_outcome_row(reply->outcome)->retry && ++q->problems < TRIES) {
        loop_timer_set(q->again, MSEC(AGAIN_MS) << q->problems);
        return;
    }
    json_t *said = parse_reply(q, reply, &why);
    if (!said)
        give_up(q, why);
    else if (q->kind)
        on_resources(q, said);
    else
        on_groups(f, said);
    json_decref(said);
    question_over(q);
    if (f->asked)
        return;
    if (f->again)
        loop_timer_set(f->again, f->opts.again);
    read_sources(f);
}

static void question_send(void *arg) {
    struct question *q = arg;
    char gv[64];
    _cleanup_free_ char *path =
        q->kind ? xasprintf("/apis/%s", kind_api_version(q->kind, gv)) : xstrdup("/apis");
    struct kube_op_spec spec = {.path = path, .timeout = SEC(PATIENCE)};
    q->op = kube_op_start(q->feed->client, &spec, on_reply, q);
}

static void ask(struct question *q) {
    q->feed->asked++;
    q->open = true;
    if (!q->again)
        q->again = loop_timer_new(q->feed->client->loop, question_send, q);
    question_send(q);
}

/* --- life --- */

static void question_stop(struct question *q) {
    if (q->op)
        kube_op_cancel(q->op);
    q->op = NULL;
    loop_timer_free(q->again);
    q->again = NULL;
}

static void give_up_late(struct question *q, const char *why) {
    if (!q->open)
        return;
    if (q->op)
        kube_op_cancel(q->op);
    q->op = NULL;
    loop_timer_stop(q->again);
    give_up(q, why);
    question_over(q);
}

/* Of what Kubernetes has itself more may be known than of the rest. */
static void on_late(void *arg) {
    struct checks_feed *f = arg;
    static const char why[] = "no answer in time";
    if (!f->reading) {
        give_up_late(&f->groups, why);
        for (size_t i = 0; i < CHECK_SOURCES; i++)
            give_up_late(&f->versions[i], why);
        loop_timer_set(f->late, SEC(PATIENCE));
        read_sources(f);
        return;
    }
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (f->sources[i].pending)
            end(&f->sources[i], READ_FAILED, why);
    if (f->nodes.pending)
        end(&f->nodes, READ_FAILED, why);
}

/* Kinds may have come; those that are being read are left alone. */
static void on_again(void *arg) {
    struct checks_feed *f = arg;
    if (!f->asked)
        ask(&f->groups);
}

struct checks_feed *checks_feed_new(struct kube_client *client,
                                    const struct checks_feed_opts *opts) {
    struct checks_feed *f = xnew(struct checks_feed);
    f->client = client;
    f->opts = *opts;
    f->arena = (struct arena)ARENA_INIT;
    f->world.nodes = opts->nodes;
    f->nodes_source = (struct check_source){.kind = &kind_node};
    f->nodes = (struct source){.feed = f, .what = &f->nodes_source};
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        f->sources[i] = (struct source){.feed = f, .what = &check_sources[i]};
        f->versions[i].feed = f;
        if (is_unread(f, i) && source_wanted(f, i))
            set_input(&f->sources[i], READ_FAILED, opts->unread[i]);
    }
    check_world_begin(&f->world, opts->skip, opts->remarks);
    f->groups.feed = f;
    f->told = loop_timer_new(client->loop, on_told, f);
    f->late = loop_timer_new(client->loop, on_late, f);
    loop_timer_set(f->late, SEC(PATIENCE));
    if (opts->again)
        f->again = loop_timer_new(client->loop, on_again, f);
    ask(&f->groups);
    return f;
}

void checks_feed_free(struct checks_feed *f) {
    if (!f)
        return;
    question_stop(&f->groups);
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        question_stop(&f->versions[i]);
        reflector_free(f->sources[i].reflector);
        store_free(f->sources[i].store);
    }
    reflector_free(f->nodes.reflector);
    store_free(f->nodes.store);
    loop_timer_free(f->late);
    loop_timer_free(f->told);
    loop_timer_free(f->again);
    arena_done(&f->arena);
    free(f);
}

bool checks_feed_ready(const struct checks_feed *f) {
    return f->ready;
}

const struct check_world *checks_feed_world(const struct checks_feed *f) {
    return &f->world;
}

void checks_feed_retell(const struct checks_feed *f) {
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (f->sources[i].store && f->opts.store)
            store_retell(f->sources[i].store, on_store, (void *)&f->sources[i]);
    for (size_t i = 0; i < CHECK_SOURCES && f->opts.input; i++)
        f->opts.input(f->opts.arg, (enum check_source_id)i, &f->world.inputs[i]);
}

bool checks_feed_own(const struct checks_feed *f) {
    return f->own;
}

bool checks_feed_any(const struct checks_feed *f) {
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (f->world.inputs[i].read != READ_ABSENT)
            return true;
    return false;
}
