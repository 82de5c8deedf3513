/* A world for tests of the checks: objects from JSON (single quotes for double ones) as each source
 * would bring them, and questions about the findings. */
#ifndef SUPPORT_CHECKS_H
#define SUPPORT_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/checks.h"
#include "kube/codec.h"
#include "kube/stream.h"

#define NOW SEC(1794729600) /* 2026-11-15T08:00:00Z */

/* What a pod's status says when it is Ready, and when it is not. */
#define READY   "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}"
#define UNREADY "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'False'}]}"

enum { SITE_NAMES = 8 };

struct site {
    struct pool *pool;
    struct store *nodes, *stores[CHECK_SOURCES];
    struct check_world world;
    struct check_request req;
    const char *going[SITE_NAMES], *out[SITE_NAMES], *back[SITE_NAMES];
    struct arena arena;
    struct checks result;
};

static inline struct object *site_decode(struct site *s, const struct kind *kind,
                                         const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = xcalloc(1, kind->type->size);
    struct codec codec;
    struct err err = ERR_INIT;
    codec_init(&codec, s->pool);
    if (codec_json(&codec, kind->type, view_of(text), obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    return obj;
}

static inline void site_add(struct site *s, enum check_source_id source, const char *json) {
    assert_true(store_put(s->stores[source], site_decode(s, check_sources[source].kind, json)));
}

__attribute__((format(printf, 3, 4))) static inline void
site_addf(struct site *s, enum check_source_id source, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *json = xvasprintf(fmt, ap);
    va_end(ap);
    site_add(s, source, json);
}

static inline int site_take_read(void *arg, enum watch_type type, struct object *obj) {
    (void)arg, (void)type;
    fail_msg("%s can be read", obj->meta.name);
    return 0;
}

static inline int site_take_unread(void *arg, enum watch_type type, struct object *obj,
                                   const char *why) {
    struct store *store = arg;
    (void)type;
    assert_int_not_equal(store_kind(store)->unread, 0);
    *(const char **)((char *)obj + store_kind(store)->unread) =
        pool_str(store_pool(store), why, strlen(why));
    assert_true(store_put(store, obj));
    return 0;
}

/* An object that cannot be read, as a reflector brings it. */
static inline void site_add_odd(struct site *s, enum check_source_id source, const char *json) {
    static const struct stream_handler handler = {.object = site_take_read,
                                                  .unread = site_take_unread};
    const struct kind *kind = check_sources[source].kind;
    char version[64];
    _cleanup_free_ char *text =
        xasprintf("{'apiVersion':'%s','kind':'%sList','metadata':{},'items':[%s]}",
                  kind_api_version(kind, version), kind->name, json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct stream stream;
    struct err err = ERR_INIT;
    stream_init(&stream, kind, KUBE_JSON, STREAM_LIST, s->pool, &handler, s->stores[source]);
    if (stream_feed(&stream, text, strlen(text), &err) || stream_end(&stream, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    stream_done(&stream);
}

/* A node that is Ready, with more in its spec ("'unschedulable':true") or "". */
static inline void site_node(struct site *s, const char *name, const char *spec) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'spec':{%s},'status':{'conditions':[{'type':'Ready',"
                  "'status':'True'}]}}",
                  name, spec);
    store_put(s->nodes, site_decode(s, &kind_node, json));
}

/* All sources that a check reads are there, and empty; those of the others do not exist. Nodes w1
 * to w5 are Ready. */
static inline void site_init(struct site *s, const char *check) {
    *s = (struct site){.pool = pool_new(type_drop), .arena = ARENA_INIT};
    s->nodes = store_new(&kind_node, s->pool);
    const struct check *c = check_find(check);
    assert_non_null(c);
    for (unsigned i = 0; i < c->n_reads; i++) {
        enum check_source_id id = c->reads[i].source;
        s->stores[id] = store_new(check_sources[id].kind, s->pool);
        s->world.inputs[id] = (struct check_input){.read = READ_DONE, .store = s->stores[id]};
    }
    s->world.nodes = s->nodes;
    s->req.now = NOW;
    for (int i = 1; i <= 5; i++) {
        char name[8] = {'w', (char)('0' + i), 0};
        site_node(s, name, "");
    }
}

static inline void site_done(struct site *s) {
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (s->stores[i])
            store_free(s->stores[i]);
    store_free(s->nodes);
    arena_done(&s->arena);
    assert_int_equal(pool_stats(s->pool).entries, 0);
    pool_free(s->pool);
}

static inline size_t site_names(const char *text, const char **names, struct arena *arena) {
    size_t n = 0;
    while (text && *text) {
        size_t len = strcspn(text, " ");
        assert_true(n < SITE_NAMES);
        names[n++] = arena_strndup(arena, text, len);
        text += len + (text[len] == ' ');
    }
    return n;
}

/* Names separated by blanks; NULL: none. */
static inline void site_run(struct site *s, const char *going, const char *out, const char *back) {
    s->req.going = s->going;
    s->req.n_going = site_names(going, s->going, &s->arena);
    s->req.out = s->out;
    s->req.n_out = site_names(out, s->out, &s->arena);
    s->req.back = s->back;
    s->req.n_back = site_names(back, s->back, &s->arena);
    checks_run(&s->world, &s->req, &s->arena, &s->result);
}

/* All findings as lines: "wait CO LastReplica w1 Volume/x: evidence". */
static inline const char *site_text(struct site *s) {
    struct str text = STR_INIT;
    for (size_t i = 0; i < s->result.n; i++) {
        const struct check_finding *f = &s->result.list[i];
        str_addf(&text, "%s %s%s%s %s %s%s%s: %s\n", check_verdict_name(f->verdict),
                 f->when & CHECK_CORDON ? "C" : "", f->when & CHECK_OPERATION ? "O" : "",
                 f->when & CHECK_RETURN ? "R" : "",
                 f->code == BLOCKER_CODES ? "-" : blocker_row(f->code)->name, strna(f->node),
                 f->name ? " " : "", strna(f->name), f->evidence);
        /* Whatever does not pass says what to do and when it is over. */
        if (f->verdict != CHECK_PASS && (str_empty(f->hint) || str_empty(f->ends)))
            fail_msg("no hint or end: %s", f->evidence);
        if (f->hint && strstr(f->hint, "--skip-check"))
            fail_msg("a consent, and no cure: %s", f->hint);
        if (f->verdict == CHECK_PASS && (f->hint || f->ends))
            fail_msg("a pass with a hint: %s", f->evidence);
    }
    char *copy = arena_strndup(&s->arena, str_get(&text), text.len);
    str_done(&text);
    return copy;
}

#define site_expect(s, going, out, back, want)                                                     \
    do {                                                                                           \
        site_run(s, going, out, back);                                                             \
        assert_string_equal(site_text(s), want);                                                   \
    } while (0)

#endif
