/* Plays a recording again. */
#include "controller/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "controller/replay_checks.h"
#include "controller/tape_object.h"

enum { LINE_MAX_BYTES = 64 << 20 }; /* far more than the largest object */

/* A node whose pods are a part, and what was last said of it. */
struct place {
    char *node;
    bool watched;
};

/* A request that waits for its answer: of the recording, or of the engine as it runs now. */
struct request {
    uint64_t id;
    char *verb, *object; /* "patch", "nodes /w1" */
};

struct requests {
    VEC(struct request) list;
};

struct replay {
    struct replay_opts opts;
    struct pool *pool;
    struct codec codec;
    struct core *core;
    struct replay_checks *checks; /* NULL: nobody has asked for them */
    struct tape_read first;       /* whose texts the head has */
    struct tape_head head;
    struct view left; /* of the file */
    size_t at;        /* number of the line that was read last */
    size_t played_at; /* of the input that is being played */
    bool torn;
    struct now now;
    size_t inputs;
    VEC(struct place *) places;
    VEC(struct view) then; /* what came of the input */
    size_t met;            /* of those */
    bool last;             /* nothing follows: more may have come than was written */
    struct requests asked_then, asked_now;
    struct actions actions;
};

/* --- lines --- */

/* False at the end. */
static bool peek(const struct replay *r, struct view *out) {
    const char *end = r->left.len ? memchr(r->left.p, '\n', r->left.len) : NULL;
    if (!end)
        return false;
    *out = (struct view){r->left.p, (size_t)(end - r->left.p)};
    return true;
}

static void skip(struct replay *r, struct view line) {
    r->left.p += line.len + 1;
    r->left.len -= line.len + 1;
    r->at++;
}

static int read_line(struct replay *r, struct view text, struct tape_read *out, struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    int rc = text.len > LINE_MAX_BYTES ? err_set(&why, EINVAL, "it is too long")
                                       : tape_read(&r->codec, text, out, &why);
    return rc ? err_set(err, EINVAL, "line %zu: %s", r->at, err_msg(&why)) : 0;
}

/* --- requests ---
 *
 * An answer belongs to a request, and numbers are not enough to tell which: an engine that takes
 * another course gives them to other requests, which are about objects of other kinds. */

static void request_done(struct request *q) {
    free(q->verb);
    free(q->object);
}

static void requests_done(struct requests *s) {
    for (size_t i = 0; i < s->list.len; i++)
        request_done(&s->list.p[i]);
    vec_done(&s->list);
}

static void request_add(struct requests *s, const struct tape_line *l) {
    *vec_push(&s->list) = (struct request){
        .id = (uint64_t)l->id,
        .verb = xstrdup(strna(l->verb)),
        .object = xasprintf("%s %s/%s", strna(l->kind), strna(l->ns), strna(l->name))};
}

/* Its texts are the caller's then. */
static bool request_take(struct requests *s, size_t i, struct request *out) {
    if (i == s->list.len)
        return false;
    *out = s->list.p[i];
    memmove(&s->list.p[i], &s->list.p[i + 1], (s->list.len - i - 1) * sizeof *out);
    s->list.len--;
    return true;
}

static size_t request_by_id(const struct requests *s, uint64_t id) {
    size_t i = 0;
    while (i < s->list.len && s->list.p[i].id != id)
        i++;
    return i;
}

/* The request of now that is what `then` was: of that number where it is about the same object, or
 * the first one that wants the same. */
static size_t request_alike(const struct requests *s, const struct request *then) {
    size_t i = request_by_id(s, then->id);
    if (i < s->list.len && streq(s->list.p[i].object, then->object))
        return i;
    for (i = 0; i < s->list.len; i++)
        if (streq(s->list.p[i].object, then->object) && streq(s->list.p[i].verb, then->verb))
            break;
    return i;
}

static bool is_about(const struct request *q, const struct kind *kind) {
    size_t len = strlen(kind->resource);
    return !strncmp(q->object, kind->resource, len) && q->object[len] == ' ';
}

/* --- comparing --- */

static bool is_watched_line(const struct replay *r, size_t i, const char *node, bool *yes) {
    struct tape_read line = {0};
    struct codec *codec = (struct codec *)&r->codec;
    if (i >= r->then.len || tape_read(codec, r->then.p[i], &line, NULL))
        return false;
    bool found = line.what == CORE_WATCHED && str_same(line.line.name, node);
    *yes = line.line.yes;
    tape_release(codec, &line);
    return found;
}

/* As this program writes it: another one may know fewer members. */
static char *normal(const struct replay *r, struct view text) {
    struct tape_read line = {0};
    struct str out = STR_INIT;
    struct codec *codec = (struct codec *)&r->codec;
    if (tape_read(codec, text, &line, NULL))
        return xstrndup(text.p, text.len);
    tape_print(&out, &line.line);
    tape_release(codec, &line);
    out.len -= out.len > 0; /* its end */
    char *made = xstrndup(str_get(&out), out.len);
    str_done(&out);
    return made;
}

static void differs(const struct replay *r, const char *then, const char *now) {
    r->opts.differs(r->opts.arg, then, now, r->played_at);
}

static void compare(struct replay *r, const char *now) {
    if (r->met == r->then.len) {
        if (!r->last)
            differs(r, NULL, now);
        return;
    }
    _cleanup_free_ char *then = normal(r, r->then.p[r->met++]);
    if (!streq(then, now))
        differs(r, then, now);
}

static void on_event(void *arg, const struct core_event *e) {
    struct replay *r = arg;
    _cleanup_str_ struct str text = STR_INIT;
    struct tape_read line = {0};
    if (tape_is_input(e->what))
        return;
    tape_write(&text, e);
    _cleanup_free_ char *now = xstrndup(str_get(&text), text.len - 1);
    compare(r, now);
    if (!tape_read(&r->codec, view_of(now), &line, NULL)) {
        if (line.what == CORE_ACTION)
            request_add(&r->asked_now, &line.line);
        r->opts.out(r->opts.arg, &line.line, r->now, r->played_at);
    }
    tape_release(&r->codec, &line);
}

/* --- what the core asks for --- */

static struct place *place_of(struct replay *r, const char *node) {
    for (size_t i = 0; i < r->places.len; i++)
        if (streq(r->places.p[i]->node, node))
            return r->places.p[i];
    struct place *p = xnew(struct place);
    p->node = xstrdup(node);
    *vec_push(&r->places) = p;
    return p;
}

/* As it was said then: the next that came then is that it had changed, or it had not. */
static bool on_watched(void *arg, const char *node) {
    struct replay *r = arg;
    struct place *p = place_of(r, node);
    bool yes;
    if (is_watched_line(r, r->met, node, &yes))
        p->watched = yes;
    return p->watched;
}

static struct replay_checks *checks_of(struct replay *r) {
    if (!r->checks)
        r->checks = replay_checks_new(r->pool, core_cluster(r->core)->nodes);
    return r->checks;
}

/* Where what they went by is not in the recording, nobody asks them. */
static const struct check_world *on_checks(void *arg) {
    struct replay *r = arg;
    return r->head.unchecked ? NULL : replay_checks_world(checks_of(r));
}

static void on_note(void *arg, const struct keeper_note *note) {
    (void)arg, (void)note; /* on_event() hears of it */
}
static void on_drain_note(void *arg, const struct drain_note *note) {
    (void)arg, (void)note;
}
static void on_rollout_note(void *arg, const struct rollout_note *note) {
    (void)arg, (void)note;
}
static void on_reply(void *arg, const struct keeper_reply *reply) {
    (void)arg, (void)reply;
}
static void on_operate(void *arg, const struct maintenance *m) {
    (void)arg, (void)m;
}
static void on_replaced(void *arg, const struct keeper *k) {
    (void)arg, (void)k; /* that it was asked again is in the recording */
}
static void on_deposed(void *arg, const char *why, int32_t fence) {
    (void)arg, (void)why, (void)fence;
}

/* --- playing --- */

static bool is_on_node(const struct object *obj, const void *arg) {
    return str_same(((const struct pod *)obj)->node_name, arg);
}

static struct store *find_store(const struct replay *r, const char *resource) {
    size_t n;
    struct store *const *all = core_all_stores(r->core, &n);
    for (size_t i = 0; i < n; i++)
        if (str_same(store_kind(all[i])->resource, resource))
            return all[i];
    return NULL;
}

static int change(struct replay *r, const struct tape_read *in, struct store *s, struct err *err) {
    const struct tape_line *l = &in->line;
    struct object *obj = NULL;
    enum store_op op = (enum store_op)tape_store_op(in);
    if (l->part && (store_kind(s) != &kind_pod || l->source))
        return err_set(err, EINVAL, "%s are not in parts", l->source ? l->source : l->kind);
    bool named = op == STORE_SAME || op == STORE_REMOVE || op == STORE_WROTE;
    if (named && !l->name)
        return err_set(err, EINVAL, "the name of what was changed is missing");
    int rc =
        op == STORE_PUT ? tape_object_read(&r->codec, store_kind(s), in->object, &obj, err) : 0;
    if (rc)
        return rc;
    struct store_scope scope = {0};
    if (l->part)
        scope = (struct store_scope){is_on_node, place_of(r, l->part)->node};
    store_apply(s, &(struct store_change){.op = op,
                                          .scope = scope,
                                          .obj = obj,
                                          .ns = l->ns,
                                          .name = l->name,
                                          .version = l->version});
    object_free(store_kind(s), r->pool, obj);
    return 0;
}

static int play_store(struct replay *r, const struct tape_read *in, struct err *err) {
    struct store *s = find_store(r, in->line.kind);
    return s ? change(r, in, s, err)
             : err_set(err, EINVAL, "there are no \"%s\"", strna(in->line.kind));
}

static int play_check(struct replay *r, const struct tape_read *in, struct err *err) {
    const struct tape_line *l = &in->line;
    int source = tape_check_source(l->source), read = tape_check_read(l->outcome);
    if (source < 0)
        return err_set(err, EINVAL, "no check reads \"%s\"", strna(l->source));
    enum check_source_id id = (enum check_source_id)source;
    if (in->what == CORE_CHECK_STORE)
        return change(r, in, replay_checks_store(checks_of(r), id), err);
    if (read < 0)
        return err_set(err, EINVAL, "how %s were read cannot be understood", l->source);
    replay_checks_input(checks_of(r), id, (enum check_read)read, l->message);
    return 0;
}

static void play_follow(struct replay *r) {
    core_follow(r->core);
    replay_checks_free(r->checks);
    r->checks = NULL;
}

/* The number that the request has now which this answers. False: none that waits is what it was
 * then, or it wanted something else. */
static bool find_request(struct replay *r, const struct tape_line *l, const struct kind *kind,
                         uint64_t *id) {
    struct request then, now;
    if (!request_take(&r->asked_then, request_by_id(&r->asked_then, (uint64_t)l->id), &then))
        return false; /* sent before the recording began: the engine does not know of it */
    bool found = request_take(&r->asked_now, request_alike(&r->asked_now, &then), &now);
    bool fits = found && (!kind || is_about(&now, kind));
    if (!fits) {
        _cleanup_free_ char *text = xasprintf("the answer to request %lld, %s %s", (long long)l->id,
                                              then.verb, then.object);
        differs(r, text,
                found ? "the object in it is of another kind" : "no such request waits for one");
    }
    request_done(&then);
    if (found) {
        *id = now.id;
        request_done(&now);
    }
    return fits;
}

static int play_answer(struct replay *r, const struct tape_read *in, struct err *err) {
    const struct tape_line *l = &in->line;
    const struct kind *kind = l->kind ? tape_kind(l->kind) : NULL;
    struct object *obj = NULL;
    int outcome = tape_outcome(l->outcome);
    uint64_t id;
    if (outcome < 0 || (l->kind && !kind))
        return err_set(err, EINVAL, "an answer that cannot be understood");
    int rc = kind ? tape_object_read(&r->codec, kind, in->object, &obj, err) : 0;
    if (rc)
        return rc;
    if (find_request(r, l, kind, &id))
        core_answer(
            r->core, id,
            &(struct answer){.outcome = (enum kube_outcome)outcome,
                             .code = l->code,
                             .message = strna(l->message),
                             .cause = l->cause,
                             .retry_after = l->retry_after == ABSENT64 ? -1 : l->retry_after,
                             .date = l->date,
                             .obj = obj,
                             .kind = kind},
            r->now);
    if (kind)
        object_free(kind, r->pool, obj);
    return 0;
}

static int play_ask(struct replay *r, const struct tape_read *in, struct err *err) {
    int question = tape_question(in->line.question);
    if (question < 0 || !in->line.name)
        return err_set(err, EINVAL, "a question that cannot be understood");
    core_ask(r->core, (uint64_t)in->line.id, in->line.name, (enum keeper_question)question, r->now);
    return 0;
}

static int play(struct replay *r, const struct tape_read *in, struct err *err) {
    const struct tape_line *l = &in->line;
    if (l->mono)
        r->now = (struct now){l->mono, l->wall};
    switch (in->what) {
    case CORE_STORE:
        return play_store(r, in, err);
    case CORE_READY:
        core_ready(r->core);
        return 0;
    case CORE_POKE:
        core_poke(r->core);
        return 0;
    case CORE_LOOK:
        core_look(r->core);
        return 0;
    case CORE_STEP:
        actions_reset(&r->actions);
        core_step(r->core, r->now, &r->actions);
        return 0;
    case CORE_ANSWER:
        return play_answer(r, in, err);
    case CORE_ASK:
        return play_ask(r, in, err);
    case CORE_CANCEL:
        core_cancel(r->core, (uint64_t)l->id);
        return 0;
    case CORE_OPERATED:
        core_operated(r->core, strna(l->name), l->text);
        return 0;
    case CORE_LEAD:
        core_lead(r->core, l->fence);
        return 0;
    case CORE_FOLLOW:
        play_follow(r);
        return 0;
    case CORE_CHECK_STORE:
    case CORE_CHECK_INPUT:
        return play_check(r, in, err);
    case CORE_CHECKS:
        replay_checks_told(checks_of(r));
        core_checks_changed(r->core);
        return 0;
    case CORE_BLIND:
        core_blind(r->core, l->text);
        return 0;
    case CORE_HOLD:
        core_hold(r->core);
        return 0;
    default:
        return err_set(err, EINVAL, "what comes there cannot be played");
    }
}

static bool begins(struct view line, const char *with) {
    return line.len > strlen(with) && !strncmp(line.p, with, strlen(with));
}

/* What came of it, up to the next that came in. */
static void collect(struct replay *r) {
    struct view line;
    r->then.len = r->met = 0;
    while (peek(r, &line) && begins(line, "{\"out\":")) {
        struct tape_read read = {0};
        *vec_push(&r->then) = line;
        skip(r, line);
        if (!begins(line, "{\"out\":\"action\"") || tape_read(&r->codec, line, &read, NULL))
            continue;
        request_add(&r->asked_then, &read.line);
        tape_release(&r->codec, &read);
    }
    r->last = !peek(r, &line);
}

int replay_next(struct replay *r, struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    struct tape_read in = {0};
    struct view line;
    if (!peek(r, &line)) {
        r->torn = r->left.len > 0;
        return 0;
    }
    skip(r, line);
    r->played_at = r->at;
    int rc = read_line(r, line, &in, err);
    if (rc)
        return rc;
    collect(r);
    rc = play(r, &in, &why);
    tape_release(&r->codec, &in);
    if (rc)
        return err_set(err, EINVAL, "line %zu: %s", r->played_at, err_msg(&why));
    r->inputs++;
    while (r->met < r->then.len) {
        _cleanup_free_ char *then = normal(r, r->then.p[r->met++]);
        differs(r, then, NULL);
    }
    return 1;
}

/* --- life --- */

static int begin(struct replay *r, struct err *err) {
    struct view line;
    if (!peek(r, &line))
        return err_set(err, EINVAL, "this is no recording (%s) of a controller", TAPE_FORMAT);
    skip(r, line);
    int rc = read_line(r, line, &r->first, err);
    if (!rc)
        rc = tape_head(&r->first, &r->head, err);
    if (rc)
        return rc;
    r->core = core_new(&(struct core_opts){.ns = r->head.ns,
                                           .pool = r->pool,
                                           .seed = r->head.seed,
                                           .no_commands = r->head.no_commands,
                                           .no_hooks = r->head.no_hooks,
                                           .rate = r->head.rate,
                                           .note = on_note,
                                           .drain_note = on_drain_note,
                                           .rollout_note = on_rollout_note,
                                           .reply = on_reply,
                                           .operate = on_operate,
                                           .replaced = on_replaced,
                                           .deposed = on_deposed,
                                           .watched = on_watched,
                                           .checks = on_checks,
                                           .arg = r});
    core_cluster(r->core)->actions = r->head.actions;
    core_listen(r->core, on_event, r);
    return 0;
}

int replay_new(struct view text, const struct replay_opts *opts, struct replay **out,
               struct err *err) {
    struct replay *r = xnew(struct replay);
    r->opts = *opts;
    r->left = text;
    r->actions = ACTIONS_INIT;
    r->pool = pool_new(type_drop);
    codec_init(&r->codec, r->pool);
    int rc = begin(r, err);
    if (rc) {
        replay_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void replay_free(struct replay *r) {
    if (!r)
        return;
    core_free(r->core);
    replay_checks_free(r->checks);
    tape_release(&r->codec, &r->first);
    for (size_t i = 0; i < r->places.len; i++) {
        free(r->places.p[i]->node);
        free(r->places.p[i]);
    }
    vec_done(&r->places);
    vec_done(&r->then);
    requests_done(&r->asked_then);
    requests_done(&r->asked_now);
    actions_done(&r->actions);
    codec_done(&r->codec);
    pool_free(r->pool);
    free(r);
}

const struct tape_head *replay_head(const struct replay *r) {
    return &r->head;
}

struct core *replay_core(struct replay *r) {
    return r->core;
}

struct now replay_now(const struct replay *r) {
    return r->now;
}

bool replay_is_torn(const struct replay *r) {
    return r->torn;
}

size_t replay_inputs(const struct replay *r) {
    return r->inputs;
}
