/* The record of a policy's slots. */
#include "engine/slots.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/timefmt.h"
#include "engine/record.h"

enum {
    TEXT_MAX = 360, /* an id: "slot:", a namespace, a name of at most 253 characters, a number */
    WAIT_MAX = 600, /* of a sentence; objects have a namespace, too */
    WISH_MAX = 300, /* the same, of one who waits: there may be SLOTS_WAITING of them */
};

/* What each slot is given with. Tests build the release after this one, too, which knows more. */
#ifdef SLOTS_NEXT_RELEASE
static const char given[] = "{\"next\":{\"of\":[1,2]}}";
#else
static const char *const given = NULL;
#endif

static const char *const known_members[] = {"v", "fence", "slots", "waiting", NULL};
static const char *const known_of_slot[] = {"id",     "node", "uid",     "operation", "by",
                                            "state",  "boot", "since",   "asked",     "granted",
                                            "steady", "wait", "drained", "unsure",    NULL};
static const char *const known_of_wish[] = {"node",  "operation", "by",   "boot",
                                            "since", "asked",     "wait", NULL};

static const char *const state_words[SLOT_STATES] = {
    [SLOT_TAKEN] = "taken",   [SLOT_DRAINED] = "drained",   [SLOT_GRANTED] = "granted",
    [SLOT_STEADY] = "steady", [SLOT_RETURNED] = "returned",
};

const char *slot_state_word(enum slot_state state) {
    return state_words[state];
}

const struct slot_way slot_ways[] = {
    {SLOT_STATES, SLOT_TAKEN, "It is given out: fewer are held than may be."},
    {SLOT_TAKEN, SLOT_DRAINED, "The node is cordoned, and its pods are gone."},
    {SLOT_TAKEN, SLOT_RETURNED, "It is let go before the node was drained."},
    {SLOT_DRAINED, SLOT_TAKEN, "A pod has come to the node that must go."},
    {SLOT_DRAINED, SLOT_GRANTED, "Somebody asks who is told to go on next."},
    {SLOT_DRAINED, SLOT_RETURNED, "It is let go before anybody was told to go on."},
    {SLOT_GRANTED, SLOT_STEADY, "The node's client has reported that it is steady."},
    {SLOT_GRANTED, SLOT_RETURNED, "The node is back, or gone for good, or a human says so."},
    {SLOT_STEADY, SLOT_RETURNED, "The node is back, or has kept its boot for long enough."},
    {SLOT_RETURNED, SLOT_STATES, "The node is what it was."},
};
const size_t n_slot_ways = ARRAY_LEN(slot_ways);

bool slot_can(enum slot_state from, enum slot_state to) {
    for (size_t i = 0; i < n_slot_ways; i++)
        if (slot_ways[i].from == from && slot_ways[i].to == to)
            return true;
    return false;
}

static const char *dot_word(enum slot_state state) {
    return state == SLOT_STATES ? "none" : slot_state_word(state);
}

void slots_dot(struct str *out) {
    str_add(out,
            "digraph slot {\n  node [shape=box];\n  none [label=\"no slot\", style=rounded];\n");
    for (unsigned i = 0; i < SLOT_STATES; i++)
        str_addf(out, "  %s;\n", slot_state_word((enum slot_state)i));
    for (size_t i = 0; i < n_slot_ways; i++)
        str_addf(out, "  %s -> %s;\n", dot_word(slot_ways[i].from), dot_word(slot_ways[i].to));
    str_add(out, "}\n");
}

void slots_done(struct slots *s) {
    vec_done(&s->list);
    vec_done(&s->waiting);
}

/* --- finding --- */

/* Both lists are sorted by node: where that one is, or would be. */
#define PLACE(v, name)                                                                             \
    ({                                                                                             \
        size_t lo_ = 0, hi_ = (v)->len;                                                            \
        while (lo_ < hi_) {                                                                        \
            size_t mid_ = lo_ + (hi_ - lo_) / 2;                                                   \
            if (strcmp((v)->p[mid_].node, name) < 0)                                               \
                lo_ = mid_ + 1;                                                                    \
            else                                                                                   \
                hi_ = mid_;                                                                        \
        }                                                                                          \
        lo_;                                                                                       \
    })
#define IS_AT(v, i, name) ((i) < (v)->len && streq((v)->p[i].node, name))
#define INSERT(v, i)                                                                               \
    ({                                                                                             \
        (void)vec_push(v);                                                                         \
        memmove(&(v)->p[(i) + 1], &(v)->p[i], ((v)->len - 1 - (i)) * sizeof *(v)->p);              \
        &(v)->p[i];                                                                                \
    })
#define REMOVE(v, i)                                                                               \
    do {                                                                                           \
        memmove(&(v)->p[i], &(v)->p[(i) + 1], ((v)->len - 1 - (i)) * sizeof *(v)->p);              \
        (v)->len--;                                                                                \
    } while (0)

const struct slot *slots_holder(const struct slots *s, const char *node) {
    size_t i = PLACE(&s->list, node);
    return IS_AT(&s->list, i, node) ? &s->list.p[i] : NULL;
}

const struct slot_wish *slots_waits(const struct slots *s, const char *node) {
    size_t i = PLACE(&s->waiting, node);
    return IS_AT(&s->waiting, i, node) ? &s->waiting.p[i] : NULL;
}

/* --- reading --- */

/* NULL when it is missing or cannot be what it should. */
static const char *text_of(struct arena *arena, const json_t *obj, const char *key, size_t max) {
    const char *s = json_str(obj, key);
    size_t len = s ? strlen(s) : 0;
    return len && len <= max ? arena_strndup(arena, s, len) : NULL;
}

static const char *text(struct arena *arena, const json_t *obj, const char *key) {
    return text_of(arena, obj, key, TEXT_MAX);
}

/* 0 when it is missing, -1 when it is no time. */
static int64_t moment(const json_t *obj, const char *key) {
    const json_t *v = json_object_get(obj, key);
    int64_t t;
    if (!v)
        return 0;
    return json_is_string(v) && time_parse(json_string_value(v), json_string_length(v), &t) ? t
                                                                                            : -1;
}

static enum slot_state state_of(const json_t *obj) {
    const char *word = json_str(obj, "state");
    for (unsigned i = 0; word && i < SLOT_STATES; i++)
        if (streq(word, state_words[i]))
            return (enum slot_state)i;
    return SLOT_STATES;
}

/* What cannot be read of it is left out, but not that somebody waits: that would be a grant. */
static struct slot_wait read_wait(const json_t *one, struct arena *arena) {
    const json_t *obj = json_object_get(one, "wait");
    struct slot_wait w = {.code = text(arena, obj, "code"),
                          .object = text_of(arena, obj, "object", WAIT_MAX),
                          .message = text_of(arena, obj, "message", WAIT_MAX),
                          .since = MAX_OF(moment(obj, "since"), 0)};
    if (!obj)
        return (struct slot_wait){0};
    if (!w.code)
        w.code = "-";
    if (!w.object)
        w.object = "";
    if (!w.message)
        w.message = "";
    return w;
}

/* What is wrong with it, or NULL. */
static const char *read_slot(const json_t *obj, struct arena *arena, struct slots *out) {
    struct slot s = {
        .id = text(arena, obj, "id"),
        .node = text(arena, obj, "node"),
        .uid = text(arena, obj, "uid"),
        .operation = text(arena, obj, "operation"),
        .by = text(arena, obj, "by"),
        .state = state_of(obj),
        .boot = text(arena, obj, "boot"),
        .since = moment(obj, "since"),
        .asked = moment(obj, "asked"),
        .granted = moment(obj, "granted"),
        .steady = moment(obj, "steady"),
        .drained = moment(obj, "drained"),
        .unsure = json_is_true(json_object_get(obj, "unsure")),
        .wait = read_wait(obj, arena),
        .rest = record_rest(obj, known_of_slot, arena),
    };
    if (!s.id || !s.node || !s.uid || !s.operation || !s.by)
        return "a slot does not say who holds it";
    if (s.state == SLOT_STATES)
        return "a slot is in a state that is not known";
    if (s.state > SLOT_TAKEN && s.state < SLOT_RETURNED && !s.boot)
        return "a slot is drained in no boot";
    if (s.since < 0 || s.asked < 0 || s.granted < 0 || s.steady < 0 || s.drained < 0)
        return "a slot has a time that is none";
    if (!s.boot)
        s.boot = "";
    size_t i = PLACE(&out->list, s.node);
    if (IS_AT(&out->list, i, s.node))
        return "a node holds two slots";
    *INSERT(&out->list, i) = s;
    return NULL;
}

static const char *read_wish(const json_t *obj, struct arena *arena, struct slots *out) {
    struct slot_wish w = {
        .node = text(arena, obj, "node"),
        .operation = text(arena, obj, "operation"),
        .by = text(arena, obj, "by"),
        .boot = text(arena, obj, "boot"),
        .since = moment(obj, "since"),
        .asked = moment(obj, "asked"),
        .wait = read_wait(obj, arena),
        .rest = record_rest(obj, known_of_wish, arena),
    };
    if (!w.boot)
        w.boot = "";
    if (!w.node || !w.operation || !w.by)
        return "it does not say who waits";
    if (w.since < 0 || w.asked < 0)
        return "one who waits has a time that is none";
    size_t i = PLACE(&out->waiting, w.node);
    if (IS_AT(&out->waiting, i, w.node))
        return "a node waits twice";
    *INSERT(&out->waiting, i) = w;
    return NULL;
}

static const char *read_all(const json_t *root, struct arena *arena, struct slots *out) {
    const json_t *slots = json_object_get(root, "slots"),
                 *waiting = json_object_get(root, "waiting"), *item,
                 *fence = json_object_get(root, "fence");
    const char *problem = NULL;
    size_t i;
    if (!json_is_integer(fence) || json_integer_value(fence) < 0 ||
        json_integer_value(fence) > INT32_MAX)
        return "it has no fence";
    if (!json_is_array(slots) || (waiting && !json_is_array(waiting)))
        return "it has no list of slots";
    out->fence = (int32_t)json_integer_value(fence);
    out->rest = record_rest(root, known_members, arena);
    json_array_foreach(slots, i, item) if (!problem) problem = read_slot(item, arena, out);
    json_array_foreach(waiting, i, item) if (!problem) problem = read_wish(item, arena, out);
    return problem;
}

int slots_parse(struct view json, struct arena *arena, struct slots *out, struct err *err) {
    *out = SLOTS_INIT;
    if (!json.len)
        return 0;
    _cleanup_json_ json_t *root = json_loadb(json.p, json.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *v = json_object_get(root, "v");
    if (!json_is_integer(v))
        return err_set(err, EINVAL, "this is no record of slots");
    if (json_integer_value(v) != SLOTS_VERSION)
        return err_set(err, ENOTSUP,
                       "the record of slots is of version %lld, this program knows version %d",
                       (long long)json_integer_value(v), SLOTS_VERSION);
    const char *problem = read_all(root, arena, out);
    if (!problem)
        return 0;
    slots_done(out);
    *out = SLOTS_INIT;
    return err_set(err, EINVAL, "the record of slots cannot be used: %s", problem);
}

/* --- writing --- */

static void write_time(struct jsonw *w, const char *key, int64_t at) {
    char buf[TIMEFMT_LEN];
    if (at)
        jsonw_kstr(w, key, time_format(at, false, buf));
}

static void write_wait(struct jsonw *w, const struct slot_wait *wait) {
    if (!wait->code)
        return;
    jsonw_kbegin(w, "wait", '{');
    jsonw_kstr(w, "code", wait->code);
    jsonw_kopt(w, "object", wait->object);
    jsonw_kopt(w, "message", wait->message);
    write_time(w, "since", wait->since);
    jsonw_end(w);
}

void slots_write(const struct slots *s, struct str *json) {
    struct jsonw w;
    jsonw_init(&w, json, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "v", SLOTS_VERSION);
    jsonw_kint(&w, "fence", s->fence);
    jsonw_kbegin(&w, "slots", '[');
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *one = &s->list.p[i];
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "id", one->id);
        jsonw_kstr(&w, "node", one->node);
        jsonw_kstr(&w, "uid", one->uid);
        jsonw_kstr(&w, "operation", one->operation);
        jsonw_kstr(&w, "by", one->by);
        jsonw_kstr(&w, "state", slot_state_word(one->state));
        jsonw_kopt(&w, "boot", one->boot);
        write_time(&w, "since", one->since);
        write_time(&w, "asked", one->asked);
        write_time(&w, "drained", one->drained);
        write_time(&w, "granted", one->granted);
        write_time(&w, "steady", one->steady);
        if (one->unsure)
            jsonw_kbool(&w, "unsure", true);
        write_wait(&w, &one->wait);
        record_write_rest(&w, one->rest);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_kbegin(&w, "waiting", '[');
    for (size_t i = 0; i < s->waiting.len; i++) {
        const struct slot_wish *one = &s->waiting.p[i];
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "node", one->node);
        jsonw_kstr(&w, "operation", one->operation);
        jsonw_kstr(&w, "by", one->by);
        jsonw_kopt(&w, "boot", one->boot);
        write_time(&w, "since", one->since);
        write_time(&w, "asked", one->asked);
        write_wait(&w, &one->wait);
        record_write_rest(&w, one->rest);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    record_write_rest(&w, s->rest);
    jsonw_end(&w);
}

/* --- changing --- */

static const char *copy(struct arena *arena, const char *s) {
    return arena_strndup(arena, s, strlen(s));
}

int slots_adopt(struct slots *s, int32_t fence, struct err *err) {
    if (s->fence > fence)
        return err_set(err, ESTALE, "somebody else leads: its term is %d, this one's is %d",
                       s->fence, fence);
    if (s->fence == fence)
        return 1;
    s->fence = fence;
    return 0;
}

int slots_ask(struct slots *s, const struct slot_wish *wish, int64_t refresh, struct arena *arena) {
    size_t i = PLACE(&s->list, wish->node);
    struct slot *held = IS_AT(&s->list, i, wish->node) ? &s->list.p[i] : NULL;
    if (held && held->state < SLOT_GRANTED) {
        bool own = streq(strna(wish->by), held->by) || streq(strna(wish->by), SLOTS_BY_CLIENT);
        if (!own || wish->asked - held->asked < refresh)
            return 1;
        held->asked = wish->asked;
        return 0;
    }
    if (held && held->state == SLOT_GRANTED)
        return 1;
    i = PLACE(&s->waiting, wish->node);
    if (IS_AT(&s->waiting, i, wish->node)) {
        struct slot_wish *known = &s->waiting.p[i];
        if (wish->asked - known->asked < refresh && str_same(wish->boot, known->boot))
            return 1;
        known->asked = wish->asked;
        known->boot = copy(arena, strna(wish->boot));
        return 0;
    }
    if (s->waiting.len >= SLOTS_WAITING) {
        if (i >= SLOTS_WAITING)
            return 1; /* it asks again */
        s->waiting.len = SLOTS_WAITING - 1;
    }
    *INSERT(&s->waiting, i) = (struct slot_wish){
        .node = copy(arena, wish->node),
        .operation = copy(arena, wish->operation),
        .by = copy(arena, wish->by),
        .boot = copy(arena, strna(wish->boot)),
        .since = wish->since,
        .asked = wish->asked,
    };
    return 0;
}

int slots_forget(struct slots *s, int64_t before) {
    size_t kept = 0, had = s->waiting.len;
    for (size_t i = 0; i < had; i++)
        if (s->waiting.p[i].asked >= before)
            s->waiting.p[kept++] = s->waiting.p[i];
    s->waiting.len = kept;
    return kept == had;
}

/* As much of a text as fits, not cut within a character. */
static const char *copy_cut(struct arena *arena, const char *s, size_t max) {
    size_t len = strlen(s);
    if (len > max)
        for (len = max; len && ((unsigned char)s[len] & 0xc0) == 0x80;)
            len--;
    return arena_strndup(arena, s, len);
}

static struct slot_wait *wait_of(struct slots *s, const char *node) {
    size_t i = PLACE(&s->list, node);
    if (IS_AT(&s->list, i, node))
        return &s->list.p[i].wait;
    i = PLACE(&s->waiting, node);
    return IS_AT(&s->waiting, i, node) ? &s->waiting.p[i].wait : NULL;
}

int slots_gate(struct slots *s, const char *node, const struct slot_wait *wait,
               struct arena *arena) {
    struct slot_wait *had = wait_of(s, node);
    if (!had || (!wait && !had->code))
        return 1;
    if (!wait) {
        *had = (struct slot_wait){0};
        return 0;
    }
    size_t max = slots_holder(s, node) ? WAIT_MAX : WISH_MAX;
    struct slot_wait is = {.code = copy(arena, wait->code),
                           .object = copy_cut(arena, strna(wait->object), max),
                           .message = copy_cut(arena, strna(wait->message), max),
                           .since = wait->since};
    bool same = str_same(had->code, is.code) && str_same(had->object, is.object);
    if (same && str_same(had->message, is.message))
        return 1;
    if (same)
        is.since = had->since;
    *had = is;
    return 0;
}

int slots_withdraw(struct slots *s, const char *node) {
    size_t i = PLACE(&s->waiting, node);
    if (!IS_AT(&s->waiting, i, node))
        return 1;
    REMOVE(&s->waiting, i);
    return 0;
}

int slots_take(struct slots *s, const struct slot *slot, size_t limit, struct arena *arena,
               struct err *err) {
    size_t i = PLACE(&s->list, slot->node);
    if (IS_AT(&s->list, i, slot->node))
        return err_set(err, EBUSY, "node %s holds a slot already", slot->node);
    if (s->list.len >= limit)
        return err_set(err, EBUSY, "all %zu slots are held", limit);
    *INSERT(&s->list, i) = (struct slot){
        .id = copy(arena, slot->id),
        .node = copy(arena, slot->node),
        .uid = copy(arena, slot->uid),
        .operation = copy(arena, slot->operation),
        .by = copy(arena, slot->by),
        .state = SLOT_TAKEN,
        .boot = "",
        .since = slot->since,
        .asked = slot->since,
        .rest = given,
    };
    i = PLACE(&s->waiting, slot->node);
    if (IS_AT(&s->waiting, i, slot->node))
        REMOVE(&s->waiting, i);
    return 0;
}

static struct slot *held(struct slots *s, const char *id, struct err *err) {
    for (size_t i = 0; i < s->list.len; i++)
        if (streq(s->list.p[i].id, id))
            return &s->list.p[i];
    err_set(err, ENOENT, "holding %s is over", id);
    return NULL;
}

static int wrong_state(const struct slot *slot, const char *what, struct err *err) {
    return err_set(err, EINVAL, "the slot of node %s is %s: it cannot be %s", slot->node,
                   slot_state_word(slot->state), what);
}

int slots_drained(struct slots *s, const char *id, const char *boot, int64_t now,
                  struct arena *arena, struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (slot->state == SLOT_DRAINED && streq(slot->boot, boot))
        return 1;
    if (!slot_can(slot->state, SLOT_DRAINED) || str_empty(boot))
        return wrong_state(slot, "drained", err);
    slot->state = SLOT_DRAINED;
    slot->boot = copy(arena, boot);
    slot->drained = now;
    return 0;
}

int slots_drain_again(struct slots *s, const char *id, struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (slot->state == SLOT_TAKEN)
        return 1;
    if (!slot_can(slot->state, SLOT_TAKEN))
        return wrong_state(slot, "drained again", err);
    slot->state = SLOT_TAKEN;
    slot->boot = slot->unsure ? slot->boot : "";
    slot->drained = 0;
    slot->wait = (struct slot_wait){0};
    return 0;
}

int slots_grant(struct slots *s, const char *id, int64_t now, struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (slot->state == SLOT_GRANTED)
        return 1;
    if (!slot_can(slot->state, SLOT_GRANTED))
        return wrong_state(slot, "granted", err);
    if (slot->wait.code)
        return err_set(err, EBUSY, "node %s waits: %s: %s", slot->node, slot->wait.code,
                       slot->wait.message);
    slot->state = SLOT_GRANTED;
    slot->granted = now;
    slot->unsure = false;
    return 0;
}

int slots_doubt(struct slots *s, const char *id, const char *boot, struct arena *arena,
                struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (slot->unsure || slot->state >= SLOT_GRANTED)
        return 1;
    slot->unsure = true;
    slot->boot = copy(arena, boot);
    return 0;
}

int slots_return(struct slots *s, const char *id, struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (slot->state == SLOT_RETURNED)
        return 1;
    slot->state = SLOT_RETURNED;
    slot->wait = (struct slot_wait){0};
    return 0;
}

int slots_free(struct slots *s, const char *id, struct err *err) {
    struct slot *slot = held(s, id, err);
    if (!slot)
        return -ENOENT;
    if (!slot_can(slot->state, SLOT_STATES))
        return wrong_state(slot, "freed", err);
    REMOVE(&s->list, (size_t)(slot - s->list.p));
    return 0;
}

int slots_report(struct slots *s, const char *node, int64_t now) {
    size_t i = PLACE(&s->list, node);
    struct slot *held = IS_AT(&s->list, i, node) ? &s->list.p[i] : NULL;
    i = PLACE(&s->waiting, node);
    bool waits = IS_AT(&s->waiting, i, node) && streq(s->waiting.p[i].by, SLOTS_BY_CLIENT);
    if (waits)
        REMOVE(&s->waiting, i); /* what it gets now, nobody would come for */
    if (!held || held->state == SLOT_STEADY || held->state == SLOT_RETURNED)
        return !waits;
    if (held->unsure) { /* as if it had been told, and has not gone: it may still */
        held->state = SLOT_GRANTED;
        held->granted = now;
        held->unsure = false;
    }
    held->state = slot_can(held->state, SLOT_STEADY) ? SLOT_STEADY : SLOT_RETURNED;
    held->steady = now;
    return 0;
}

bool slots_may_go(const struct slots *s, const char *node, const char *uid, const char *boot) {
    const struct slot *slot = slots_holder(s, node);
    return slot && slot->state == SLOT_GRANTED && streq(slot->uid, uid) && !str_empty(boot) &&
           streq(slot->boot, boot);
}
