/* Objects go through the rules, and the outcome is compared with what a real API server answered:
 * the files in cases/, written by tests/cluster/test_strategy.py. What is random or depends on the
 * time is left out on both sides. */
#ifndef STRATEGY_EXPECT_H
#define STRATEGY_EXPECT_H

#include "base/file.h"
#include "sim/api/strategy_kinds.h"
#include "sim/schema/schema.h"

/* cmocka has a macro fail(), and failure.h a function of that name */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct expect_world {
    const json_t *objects;
    struct prng random;
};

static inline const struct strategy *expect_strategy(const json_t *obj,
                                                     const struct schema **schema) {
    const char *version = strna(json_str(obj, "apiVersion")), *slash = strchr(version, '/');
    const char *kind = strna(json_str(obj, "kind"));
    _cleanup_free_ char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    if (schema)
        *schema = schema_find(group, slash ? slash + 1 : version, kind);
    return strategy_find(group, kind);
}

static inline json_t *expect_get(void *cookie, const char *plural, const char *ns,
                                 const char *name) {
    struct expect_world *w = cookie;
    size_t i;
    json_t *obj;
    json_array_foreach((json_t *)w->objects, i, obj) {
        const json_t *meta = json_object_get(obj, "metadata");
        if (streq(expect_strategy(obj, NULL)->plural, plural) &&
            str_same(json_str(meta, "name"), name) && str_same(json_str(meta, "namespace"), ns))
            return json_incref(obj);
    }
    return NULL;
}

static inline json_t *expect_list(void *cookie, const char *plural) {
    struct expect_world *w = cookie;
    json_t *list = json_array(), *obj;
    size_t i;
    json_array_foreach((json_t *)w->objects, i,
                       obj) if (streq(expect_strategy(obj, NULL)->plural, plural))
        json_array_append(list, obj);
    return list;
}

static inline int expect_allocate(void *cookie, json_t *service, const json_t *old,
                                  struct failure *f) {
    json_t *spec = json_object_get(service, "spec"), *port;
    const char *type = strna(json_str(spec, "type"));
    bool ports = streq(type, "NodePort") || streq(type, "LoadBalancer");
    size_t i;
    (void)cookie;
    (void)old;
    (void)f;
    if (!streq(type, "ExternalName") && str_empty(json_str(spec, "clusterIP"))) {
        json_object_set_new(spec, "clusterIP", json_string("10.0.0.99"));
        json_object_set_new(spec, "clusterIPs", json_pack("[s]", "10.0.0.99"));
    }
    json_array_foreach(ports ? json_object_get(spec, "ports") : NULL, i,
                       port) if (!json_integer_value(json_object_get(port, "nodePort")))
        json_object_set_new(port, "nodePort", json_integer(30000 + (json_int_t)i));
    if (streq(type, "LoadBalancer") && str_same(json_str(spec, "externalTrafficPolicy"), "Local") &&
        !json_integer_value(json_object_get(spec, "healthCheckNodePort")))
        json_object_set_new(spec, "healthCheckNodePort", json_integer(31999));
    return 0;
}

static inline struct strategy_context expect_context(struct expect_world *w) {
    return (struct strategy_context){.now = INT64_C(1800000000000000),
                                     .random = &w->random,
                                     .cookie = w,
                                     .get = expect_get,
                                     .list = expect_list,
                                     .allocate = expect_allocate};
}

/* --- leaving out --- */

static inline bool expect_is_uuid(const char *p) {
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? p[i] != '-' : !p[i] || !strchr("0123456789abcdef", p[i]))
            return false;
    }
    return true;
}

/* Any uid is UID, the suffix of a token's volume TOKEN, an empty list or map in a quoted object
 * null. */
static inline char *expect_normal_text(const char *text) {
    struct str out = STR_INIT;
    for (const char *p = text; *p;) {
        size_t colon = str_starts(p, "\": ") ? 3 : str_starts(p, "\":") ? 2 : 0;
        if (expect_is_uuid(p)) {
            str_add(&out, "UID");
            p += 36;
        } else if (str_starts(p, "kube-api-access-") &&
                   strspn(p + 16, "abcdefghijklmnopqrstuvwxyz0123456789") >= 5) {
            str_add(&out, "kube-api-access-TOKEN");
            p += 21;
        } else if (colon && (str_starts(p + colon, "[]") || str_starts(p + colon, "{}")) &&
                   p[colon + 2] && strchr(",}\n", p[colon + 2])) {
            str_addn(&out, p, colon);
            str_add(&out, "null");
            p += colon + 2;
        } else {
            str_addc(&out, *p++);
        }
    }
    return str_take(&out);
}

static inline void expect_cut_times(json_t *v) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_array(v))
        json_array_foreach(v, i, member) expect_cut_times(member);
    json_object_foreach(v, key, member) {
        bool time = streq(key, "lastTransitionTime") || streq(key, "lastPhaseTransitionTime");
        if (time && json_is_string(member))
            json_string_set(member, "TIME");
        else
            expect_cut_times(member);
    }
}

static inline json_t *expect_normal(const json_t *obj) {
    static const char *const system[] = {"uid", "creationTimestamp", "resourceVersion",
                                         "managedFields", "selfLink"};
    static const char *const allocated[] = {"clusterIP", "clusterIPs", "healthCheckNodePort"};
    json_t *copy = json_deep_copy(obj), *meta = json_object_get(copy, "metadata"), *port;
    json_t *spec = json_object_get(copy, "spec");
    size_t i;
    for (i = 0; i < ARRAY_LEN(system); i++)
        json_object_del(meta, system[i]);
    if (str_same(json_str(copy, "kind"), "Service")) {
        for (i = 0; i < ARRAY_LEN(allocated); i++)
            json_object_del(spec, allocated[i]);
        json_array_foreach(json_object_get(spec, "ports"), i, port)
            json_object_del(port, "nodePort");
    }
    expect_cut_times(copy);
    char *text = json_dumps(copy, JSON_COMPACT);
    _cleanup_free_ char *normal = expect_normal_text(text);
    json_decref(copy);
    free(text);
    return json_loads(normal, 0, NULL);
}

/* --- one case --- */

static inline json_t *expect_changed(const json_t *base, const json_t *test) {
    json_t *obj = json_deep_copy(base), *parent = obj;
    const json_t *path = json_object_get(test, "path");
    const json_t *value = json_object_get(test, "value");
    size_t n = json_array_size(path);
    for (size_t i = 0; i + 1 < n; i++) {
        const json_t *step = json_array_get(path, i);
        parent = json_is_string(step) ? json_object_get(parent, json_string_value(step))
                                      : json_array_get(parent, (size_t)json_integer_value(step));
    }
    const json_t *last = json_array_get(path, n - 1);
    if (json_is_string(last) && value)
        json_object_set_new(parent, json_string_value(last), json_deep_copy(value));
    else if (json_is_string(last))
        json_object_del(parent, json_string_value(last));
    else if (last && value)
        json_array_set_new(parent, (size_t)json_integer_value(last), json_deep_copy(value));
    else if (last)
        json_array_remove(parent, (size_t)json_integer_value(last));
    return obj;
}

/* The causes of a refusal as the files have them; a name that was generated keeps its base. */
static inline json_t *expect_causes(const struct failure *f, const char *name,
                                    const char *generated) {
    json_t *list = json_array();
    for (size_t i = 0; i < f->causes.len; i++) {
        const struct cause *c = &f->causes.p[i];
        struct str message = STR_INIT;
        for (const char *p = c->message; *p;) {
            bool named = generated && str_starts(p, name);
            str_add(&message, named ? generated : "");
            if (!named)
                str_addc(&message, *p);
            p += named ? strlen(name) : 1;
        }
        _cleanup_free_ char *text = expect_normal_text(str_get(&message));
        json_array_append_new(list, json_pack("[s, s, s]", c->reason, text, c->field));
        str_done(&message);
    }
    return list;
}

static inline void expect_equal(const char *name, const json_t *got, const json_t *want) {
    if (json_equal(got, want))
        return;
    char *a = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);
    char *b = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
    fail_msg("%s\n  made: %s\n  want: %s", name, a, b);
}

static inline void expect_case(const json_t *file, const json_t *test, struct expect_world *w) {
    const json_t *objects = json_object_get(file, "objects");
    const char *name = json_str(test, "name"), *part = strna(json_str(test, "part"));
    const json_t *stored = json_object_get(objects, strna(json_str(test, "old")));
    _cleanup_json_ json_t *sent =
        expect_changed(json_object_get(objects, json_str(test, "of")), test);
    const struct schema *schema;
    const struct strategy *s = expect_strategy(sent, &schema);
    _cleanup_json_ json_t *obj = NULL, *old = NULL, *done = NULL;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    struct strategy_context ctx = expect_context(w);
    if (schema_canonical(schema, sent, &obj, NULL, &err) < 0 ||
        (stored && schema_canonical(schema, stored, &old, NULL, &err) < 0))
        fail_msg("%s: %s", name, err_msg(&err));
    strategy_default(s, obj);
    int rc = stored ? strategy_update(s, &ctx,
                                      streq(part, "status")     ? STRATEGY_STATUS
                                      : streq(part, "finalize") ? STRATEGY_FINALIZE
                                                                : STRATEGY_MAIN,
                                      obj, old, &f)
                    : strategy_create(s, &ctx, obj, &f);
    json_t *meta = json_object_get(obj, "metadata");
    const json_t *sent_meta = json_object_get(sent, "metadata");
    const char *base = json_str(sent_meta, "generateName");
    bool generated = !str_empty(base) && str_empty(json_str(sent_meta, "name"));
    _cleanup_free_ char *shown = generated ? xasprintf("%.58sGENERATED", base) : NULL;
    json_int_t code = json_integer_value(json_object_get(test, "code"));
    const json_t *want = json_object_get(test, "object");
    if (want || code < 300) {
        if (rc < 0)
            fail_msg("%s: refused: %s", name, f.message);
        if (generated)
            json_object_set_new(meta, "name", json_string(shown));
        assert_int_equal(schema_canonical(schema, obj, &done, NULL, NULL), 0);
        _cleanup_json_ json_t *got = expect_normal(done),
                              *wanted = want ? expect_normal(want) : NULL;
        if (want)
            expect_equal(name, got, wanted);
        return;
    }
    if (rc == 0)
        fail_msg("%s: not refused", name);
    if (f.code != code)
        fail_msg("%s: %d %s", name, f.code, f.message);
    const json_t *causes = json_object_get(test, "causes");
    if (causes) {
        _cleanup_json_ json_t *got = expect_causes(&f, strna(json_str(meta, "name")), shown);
        char *wanted = json_dumps(causes, JSON_COMPACT);
        _cleanup_free_ char *normal = expect_normal_text(wanted);
        _cleanup_json_ json_t *want_causes = json_loads(normal, 0, NULL);
        free(wanted);
        expect_equal(name, got, want_causes);
    } else {
        _cleanup_free_ char *text = expect_normal_text(f.message);
        assert_string_equal(text, json_str(test, "message"));
    }
}

/* Runs the cases of cases/SUBJECT.json. */
static inline void expect_recorded(const char *subject) {
    _cleanup_free_ char *path = xasprintf("%s/%s.json", STRATEGY_CASES, subject);
    json_error_t why;
    _cleanup_json_ json_t *file = json_load_file(path, 0, &why);
    if (!file)
        fail_msg("%s: %s", path, why.text);
    struct expect_world w = {json_object_get(file, "world"), {1}};
    const json_t *cases = json_object_get(file, "cases");
    assert_true(json_array_size(cases) >= 10);
    for (size_t i = 0; i < json_array_size(cases); i++)
        expect_case(file, json_array_get(cases, i), &w);
}

/* --- by hand; texts are JSON with ' for " --- */

static inline json_t *expect_json(const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    json_error_t why;
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *v = json_loads(copy, JSON_DECODE_ANY, &why);
    if (!v)
        fail_msg("%s: %s", text, why.text);
    return v;
}

/* Objects that all others live among. */
#define EXPECT_WORLD                                                                               \
    "[{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'default','namespace':'d'}}]"

/* As the server takes it: NULL and why, or what it stores. */
static inline json_t *expect_way(const json_t *sent, const json_t *old, enum strategy_part part,
                                 const char *world, struct failure *f) {
    _cleanup_json_ json_t *objects = expect_json(world), *obj = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    struct expect_world w = {objects, {1}};
    struct strategy_context ctx = expect_context(&w);
    const struct schema *schema;
    const struct strategy *s = expect_strategy(sent, &schema);
    json_t *done;
    if (schema_canonical(schema, sent, &obj, NULL, &err) < 0)
        fail_msg("%s", err_msg(&err));
    strategy_default(s, obj);
    if (old ? strategy_update(s, &ctx, part, obj, old, f) < 0
            : strategy_create(s, &ctx, obj, f) < 0)
        return NULL;
    assert_int_equal(schema_canonical(schema, obj, &done, NULL, NULL), 0);
    return done;
}

/* The object that is stored, as version 7. */
static inline json_t *expect_taken(const char *text) {
    _cleanup_json_ json_t *sent = expect_json(text);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    json_t *done = expect_way(sent, NULL, STRATEGY_MAIN, EXPECT_WORLD, &f);
    if (!done)
        fail_msg("%s", f.message);
    json_object_set_new(json_object_get(done, "metadata"), "resourceVersion", json_string("7"));
    return done;
}

static inline void expect_refused(const char *text, const char *message) {
    _cleanup_json_ json_t *sent = expect_json(text);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done = expect_way(sent, NULL, STRATEGY_MAIN, EXPECT_WORLD, &f);
    assert_null(done);
    assert_string_equal(f.message, message);
}

/* Members of `change` replace those of `to`; null removes. */
static inline void expect_merge(json_t *to, const json_t *change) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)change, key, v) {
        json_t *have = json_object_get(to, key);
        if (json_is_null(v))
            json_object_del(to, key);
        else if (json_is_object(v) && json_is_object(have))
            expect_merge(have, v);
        else
            json_object_set(to, key, v);
    }
}

/* What `old` becomes with a change; NULL and why. */
static inline json_t *expect_change(const json_t *old, enum strategy_part part, const char *change,
                                    struct failure *f) {
    _cleanup_json_ json_t *sent = json_deep_copy(old), *v = expect_json(change);
    expect_merge(sent, v);
    return expect_way(sent, old, part, EXPECT_WORLD, f);
}

static inline json_t *expect_change_taken(const json_t *old, enum strategy_part part,
                                          const char *change) {
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    json_t *done = expect_change(old, part, change, &f);
    if (!done)
        fail_msg("%s", f.message);
    return done;
}

static inline void expect_change_refused(const json_t *old, enum strategy_part part,
                                         const char *change, const char *message) {
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *done = expect_change(old, part, change, &f);
    assert_null(done);
    assert_string_equal(f.message, message);
}

/* "spec/containers/0/name" has this value; NULL: is not there. */
static inline void expect_member(const json_t *obj, const char *path, const char *text) {
    _cleanup_free_ char *copy = xstrdup(path);
    char *rest = copy, *step;
    const json_t *v = obj;
    while ((step = strsep(&rest, "/")))
        v = json_is_array(v) ? json_array_get(v, strtoul(step, NULL, 10))
                             : json_object_get(v, step);
    if (!text) {
        assert_null(v);
        return;
    }
    _cleanup_json_ json_t *want = expect_json(text);
    if (!v)
        fail_msg("%s is not there", path);
    expect_equal(path, v, want);
}

/* The complaints, in any number, each in its line; they are forgotten. */
static inline void expect_errors(struct field_errors *e, const char *text) {
    _cleanup_str_ struct str all = STR_INIT;
    for (size_t i = 0; i < e->v.len; i++)
        str_addf(&all, "%s%s: %s", i ? "\n" : "", e->v.p[i].field, e->v.p[i].body);
    field_errors_done(e);
    *e = (struct field_errors){0};
    assert_string_equal(str_get(&all), text);
}

#endif
