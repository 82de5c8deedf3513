/* The lines of a recording. */
#include "controller/tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/tape_object.h"
#include "model/table.h"

#define L(json, number, kind, member) F(json, number, kind, tape_line, member)
static const struct field line_fields[] = {
    L("in", 1, STR, in),
    L("out", 2, STR, out),
    L("format", 3, STR, format),
    L("build", 4, STR, build),
    L("identity", 5, STR, identity),
    L("seed", 6, STR, seed),
    L("actions", 7, I64, actions),
    L("mono", 8, I64, mono),
    L("wall", 9, I64, wall),
    L("id", 10, I64, id),
    L("verb", 11, STR, verb),
    L("kind", 12, STR, kind),
    L("part", 13, STR, part),
    L("namespace", 14, STR, ns),
    L("name", 15, STR, name),
    L("version", 16, STR, version),
    L("question", 17, STR, question),
    L("outcome", 18, STR, outcome),
    L("code", 19, I32, code),
    L("message", 20, STR, message),
    L("cause", 21, STR, cause),
    L("retryAfter", 22, OPT_I64, retry_after),
    L("date", 23, I64, date),
    L("uid", 24, STR, uid),
    L("subresource", 25, STR, subresource),
    L("grace", 26, OPT_I64, grace),
    L("body", 27, STR, body),
    L("strategic", 28, BOOL, strategic),
    L("dryRun", 29, BOOL, dry_run),
    L("minor", 30, BOOL, minor),
    L("policy", 31, STR, policy),
    L("node", 32, STR, node),
    L("maintenance", 33, STR, maintenance),
    L("by", 34, STR, by),
    L("operation", 35, STR, operation),
    L("from", 36, STR, from),
    L("to", 37, STR, to),
    L("reason", 38, STR, reason),
    L("text", 39, STR, text),
    L("warning", 40, BOOL, warning),
    L("since", 41, I64, since),
    L("fence", 42, I32, fence),
    L("yes", 43, BOOL, yes),
    L("source", 44, STR, source),
    L("evictionRate", 45, STR, rate),
};
#undef L
const struct type type_tape_line = {
    .name = "Line",
    .size = sizeof(struct tape_line),
    .n_fields = ARRAY_LEN(line_fields),
    .fields = line_fields,
};

/* --- words --- */

static const char *const whats[CORE_WHATS] = {
    [CORE_BEGIN] = "begin",      [CORE_STORE] = NULL, /* by its operation */
    [CORE_READY] = "ready",      [CORE_POKE] = "poke",         [CORE_LOOK] = "look",
    [CORE_STEP] = "step",        [CORE_ANSWER] = "answer",     [CORE_ASK] = "ask",
    [CORE_CANCEL] = "cancel",    [CORE_OPERATED] = "operated", [CORE_LEAD] = "lead",
    [CORE_FOLLOW] = "follow",    [CORE_HOLD] = "hold",         [CORE_CHECKS] = "checks",
    [CORE_BLIND] = "blind",      [CORE_CHECK_STORE] = NULL, /* as of the others */
    [CORE_CHECK_INPUT] = "read", [CORE_WATCHED] = "watched",   [CORE_ACTION] = "action",
    [CORE_NOTE] = "note",        [CORE_DRAIN] = "drain",       [CORE_ROLLOUT] = "rollout",
    [CORE_REPLY] = "reply",      [CORE_OPERATE] = "operate",   [CORE_DEPOSED] = "deposed",
};

static const char *const ops[] = {
    [STORE_PUT] = "put",     [STORE_SAME] = "same",       [STORE_REMOVE] = "remove",
    [STORE_PART] = "part",   [STORE_BEGIN] = "list",      [STORE_END] = "listed",
    [STORE_REWIND] = "back", [STORE_VERSION] = "version", [STORE_DROP] = "drop",
    [STORE_WROTE] = "wrote",
};

static const char *const questions[] = {
    [KEEPER_MAY_GO] = "pre-reboot", [KEEPER_STEADY] = "steady-state"};

static const char *const says[] = {
    [KEEPER_GO] = "go",           [KEEPER_NOTED] = "noted",
    [KEEPER_FULL] = "full",       [KEEPER_DRAINING] = "draining",
    [KEEPER_BLOCKED] = "blocked", [KEEPER_UNREADY] = "unready",
    [KEEPER_TROUBLE] = "trouble",
};

static const char *const verbs[] = {
    [ACTION_EVICT] = "evict",   [ACTION_DELETE] = "delete", [ACTION_PATCH] = "patch",
    [ACTION_CREATE] = "create", [ACTION_READ] = "read",     [ACTION_CONFIRM] = "confirm",
};

static const char *const drain_notes[] = {
    [NOTE_CORDONED] = "cordoned",
    [NOTE_ALREADY_CORDONED] = "already-cordoned",
    [NOTE_CORDON_FAILED] = "cordon-failed",
    [NOTE_UNCORDONED] = "uncordoned",
    [NOTE_PHASE] = "phase",
    [NOTE_WARNINGS] = "warnings",
    [NOTE_POD_EVICTING] = "evicting",
    [NOTE_POD_DELETING] = "deleting",
    [NOTE_POD_GONE] = "gone",
    [NOTE_POD_LATE] = "late",
    [NOTE_POD_SKIPPED_WAIT] = "skipped-wait",
    [NOTE_POD_FAILED] = "pod-failed",
    [NOTE_BLOCKED] = "blocked",
    [NOTE_UNBLOCKED] = "unblocked",
    [NOTE_ESCALATED] = "escalated",
    [NOTE_SURGE] = "surge",
    [NOTE_REMARK] = "remark",
};

static const char *const reads[] = {
    [READ_ABSENT] = "absent",
    [READ_DONE] = "done",
    [READ_FAILED] = "failed",
};

static int find(const char *const *words, size_t n, const char *word) {
    for (size_t i = 0; word && i < n; i++)
        if (words[i] && streq(words[i], word))
            return (int)i;
    return -1;
}

int tape_store_op(const struct tape_read *r) {
    return find(ops, ARRAY_LEN(ops), r->line.in);
}

int tape_question(const char *word) {
    return find(questions, ARRAY_LEN(questions), word);
}

int tape_outcome(const char *word) {
    for (int i = 0; word && i <= KUBE_NO_CREDENTIALS; i++)
        if (streq(kube_outcome_row((enum kube_outcome)i)->name, word))
            return i;
    return -1;
}

int tape_check_source(const char *word) {
    for (int i = 0; word && i < CHECK_SOURCES; i++)
        if (streq(check_sources[i].word, word))
            return i;
    return -1;
}

int tape_check_read(const char *word) {
    return find(reads, ARRAY_LEN(reads), word);
}

bool tape_is_input(enum core_what what) {
    return what < CORE_WATCHED;
}

/* --- writing --- */

struct with {
    const struct kind *kind;
    struct pool *pool;
    const struct object *obj;
};

/* What is kept of an object as it came (FIELD_JSON) may have line ends between its tokens. */
static void join(struct str *out, size_t from) {
    for (char *p; (p = memchr(out->p + from, '\n', out->len - from)); from = (size_t)(p - out->p))
        *p = ' ';
}

static void print(struct str *out, const struct tape_line *line, const struct with *with) {
    struct jsonw w;
    size_t from = out->len;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    type_print(&type_tape_line, &w, line, line);
    if (with && with->obj) {
        jsonw_key(&w, "object");
        tape_object_print(with->kind, with->pool, &w, with->obj);
    }
    jsonw_end(&w);
    join(out, from);
    str_addc(out, '\n');
}

void tape_print(struct str *out, const struct tape_line *line) {
    print(out, line, NULL);
}

/* What the controller did not do for anybody. */
static const char *const refusals[2][2] = {{NULL, "no hooks"},
                                           {"no commands", "no commands, no hooks"}};

void tape_write_head(struct str *out, const struct tape_head *head) {
    _cleanup_free_ char *seed = xasprintf("%016llx", (unsigned long long)head->seed);
    _cleanup_free_ char *rate = head->rate > 0 ? xasprintf("%.17g", head->rate) : NULL;
    tape_print(out, &(struct tape_line){.in = whats[CORE_BEGIN],
                                        .format = TAPE_FORMAT,
                                        .build = head->build,
                                        .identity = head->identity,
                                        .ns = head->ns,
                                        .seed = seed,
                                        .rate = rate,
                                        .actions = (int64_t)head->actions,
                                        .text = refusals[head->no_commands][head->no_hooks],
                                        .retry_after = ABSENT64,
                                        .grace = ABSENT64});
}

static void fill_action(struct tape_line *l, const struct action *a) {
    l->id = (int64_t)a->id;
    l->verb = verbs[a->verb];
    l->kind = a->kind ? a->kind->resource : NULL;
    l->ns = a->ns;
    l->name = a->name;
    l->uid = a->uid;
    l->subresource = a->subresource;
    l->grace = a->grace;
    l->strategic = a->strategic;
    l->dry_run = a->dry_run;
    l->minor = a->minor;
}

static void fill_answer(struct tape_line *l, const struct answer *a) {
    l->outcome = kube_outcome_row(a->outcome)->name;
    l->code = a->code;
    l->message = a->message;
    l->cause = a->cause;
    l->retry_after = a->retry_after;
    l->date = a->date;
    l->kind = a->obj && a->kind ? a->kind->resource : NULL;
}

static void fill_note(struct tape_line *l, const struct keeper_note *n) {
    l->policy = n->policy;
    l->node = n->node;
    l->maintenance = n->maintenance;
    l->by = n->by;
    l->operation = n->operation;
    l->reason = n->reason;
    l->text = n->text;
    l->warning = n->warning;
    l->since = n->since;
    if (n->moves) {
        l->from = maint_phases[n->from].word;
        l->to = maint_phases[n->to].word;
    }
}

static void fill_drain(struct tape_line *l, const struct drain_note *n) {
    l->node = n->node ? n->node->name : NULL;
    l->ns = n->pod ? n->pod->ns : NULL;
    l->name = n->pod ? n->pod->name : NULL;
    l->reason = drain_notes[n->kind];
    l->text = n->text;
    if (n->kind == NOTE_PHASE && n->node) {
        l->from = drain_phase_word(n->before);
        l->to = drain_phase_word(n->node->phase);
        l->text = n->node->error;
    } else if (n->blocker) {
        l->message = n->blocker->message;
        l->by = blocker_row(n->blocker->code)->name;
    }
}

static void fill_change(struct tape_line *l, const struct store *s, const struct store_change *c) {
    l->in = ops[c->op];
    l->kind = store_kind(s)->resource;
    l->part = c->scope.has ? c->scope.arg : NULL; /* the node whose pods they are */
    l->version = c->version;
    if (c->op == STORE_PUT)
        return;
    l->ns = c->ns;
    l->name = c->name;
}

static void fill_rollout(struct tape_line *l, const struct rollout_note *n) {
    l->name = n->rollout;
    l->reason = n->reason;
    l->text = n->text;
    l->warning = n->warning;
}

static void fill(struct tape_line *l, const struct core_event *e) {
    *l = (struct tape_line){.mono = e->now.mono,
                            .wall = e->now.wall,
                            .id = (int64_t)e->id,
                            .name = e->name,
                            .text = e->text,
                            .fence = e->fence,
                            .yes = e->yes,
                            .retry_after = ABSENT64,
                            .grace = ABSENT64};
    if (tape_is_input(e->what))
        l->in = whats[e->what];
    else
        l->out = whats[e->what];
    if (e->change)
        fill_change(l, e->store, e->change);
    if (e->what == CORE_CHECK_STORE || e->what == CORE_CHECK_INPUT)
        l->source = check_sources[e->source].word;
    if (e->input) {
        l->outcome = reads[e->input->read];
        l->message = e->input->why;
    }
    if (e->what == CORE_ASK)
        l->question = questions[e->question];
    if (e->answer)
        fill_answer(l, e->answer);
    if (e->action)
        fill_action(l, e->action);
    if (e->note)
        fill_note(l, e->note);
    if (e->drain)
        fill_drain(l, e->drain);
    if (e->rollout)
        fill_rollout(l, e->rollout);
    if (e->reply) {
        l->id = (int64_t)e->reply->ticket;
        l->reason = says[e->reply->say];
        l->text = e->reply->text;
    }
}

void tape_write(struct str *out, const struct core_event *e) {
    struct tape_line l;
    struct with with = {0};
    if (e->what == CORE_BEGIN)
        return;
    fill(&l, e);
    _cleanup_free_ char *body = e->action ? tape_body(e->action) : NULL;
    l.body = body;
    if (e->change && e->change->op == STORE_PUT)
        with = (struct with){store_kind(e->store), store_pool(e->store), e->change->obj};
    if (e->answer && e->answer->kind)
        with = (struct with){e->answer->kind, e->pool, e->answer->obj};
    print(out, &l, &with);
}

/* --- reading --- */

static int find_what(const struct tape_line *l, enum core_what *out) {
    int i = find(whats, CORE_WHATS, l->in ? l->in : l->out);
    if (i < 0 && find(ops, ARRAY_LEN(ops), l->in) >= 0)
        i = l->source ? CORE_CHECK_STORE : CORE_STORE;
    if (i < 0 || tape_is_input((enum core_what)i) != (l->in != NULL))
        return -1;
    *out = (enum core_what)i;
    return 0;
}

int tape_read(struct codec *codec, struct view text, struct tape_read *out, struct err *err) {
    const struct view key = VIEW("object");
    int rc = codec_json(codec, &type_tape_line, text, &out->line, err);
    if (rc)
        return rc;
    if (find_what(&out->line, &out->what)) {
        rc = err_set(err, EINVAL, "\"%s\" is nothing that this version of Slipway knows",
                     strna(out->line.in ? out->line.in : out->line.out));
        tape_release(codec, out);
        return rc;
    }
    rc = codec_json_find(codec, text, &key, 1, &out->object, err);
    if (rc)
        tape_release(codec, out);
    return rc;
}

void tape_release(struct codec *codec, struct tape_read *r) {
    type_release(&type_tape_line, codec->pool, &r->line, &r->line);
    *r = (struct tape_read){0};
}

/* Those that are played. */
static const char *const formats[] = {TAPE_FORMAT, "slipway.record/1.2", "slipway.record/1.1",
                                      TAPE_FORMAT_FIRST};

int tape_head(const struct tape_read *r, struct tape_head *out, struct err *err) {
    const struct tape_line *l = &r->line;
    char none[] = "", *end = NULL, *rated = none;
    if (r->what != CORE_BEGIN || find(formats, ARRAY_LEN(formats), l->format) < 0)
        return err_set(err, EINVAL, "this is no recording (%s) of a controller", TAPE_FORMAT);
    errno = 0;
    uint64_t seed = strtoull(strna(l->seed), &end, 16);
    double rate = str_empty(l->rate) ? 0 : strtod(l->rate, &rated);
    if (str_empty(l->seed) || *end || *rated || errno || l->actions < 0 || !(rate >= 0))
        return err_set(err, EINVAL, "the beginning of the recording is damaged");
    *out = (struct tape_head){.build = strna(l->build),
                              .identity = strna(l->identity),
                              .ns = strna(l->ns),
                              .seed = seed,
                              .actions = (uint64_t)l->actions,
                              .unchecked = streq(l->format, TAPE_FORMAT_FIRST),
                              .rate = rate,
                              .no_commands = strstr(strna(l->text), refusals[1][0]),
                              .no_hooks = strstr(strna(l->text), refusals[0][1])};
    return 0;
}
