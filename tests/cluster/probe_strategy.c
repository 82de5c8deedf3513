/* A program for tests that shows what the simulated API server makes of objects. It reads one
 * request a line from standard input and answers each with one line, both JSON:
 *
 *     {"world": [OBJECT, ...]}            what else there is: service accounts, classes, nodes
 *     {"create": OBJECT}                  -> {"code": 201, "object": OBJECT}
 *     {"update": OBJECT, "old": OBJECT, "part": "status"}
 *                                         -> {"code": 200, "object": ...}, {"code": 422, "status":
 * ...}
 *
 * The clock stands still and randomness begins with the same seed in every run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/api/strategy.h"
#include "sim/schema/schema.h"

struct world {
    json_t *objects;
};

static const char *plural_of(const json_t *obj) {
    const char *version = json_str(obj, "apiVersion"),
               *slash = version ? strchr(version, '/') : NULL;
    _cleanup_free_ char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    const struct strategy *s = strategy_find(group, strna(json_str(obj, "kind")));
    return s ? s->plural : "";
}

static json_t *world_get(void *cookie, const char *plural, const char *ns, const char *name) {
    struct world *w = cookie;
    size_t i;
    json_t *obj;
    json_array_foreach(w->objects, i, obj) {
        const json_t *meta = json_object_get(obj, "metadata");
        if (streq(plural_of(obj), plural) && str_same(json_str(meta, "name"), name) &&
            str_same(json_str(meta, "namespace"), ns))
            return json_incref(obj);
    }
    return NULL;
}

static json_t *world_list(void *cookie, const char *plural) {
    struct world *w = cookie;
    json_t *list = json_array(), *obj;
    size_t i;
    json_array_foreach(w->objects, i, obj) if (streq(plural_of(obj), plural))
        json_array_append(list, obj);
    return list;
}

static bool is(const json_t *spec, const char *key, const char *value) {
    return str_same(json_str(spec, key), value);
}

/* Any address and ports will do: the test does not compare them. */
static int world_allocate(void *cookie, json_t *service, const json_t *old, struct failure *f) {
    json_t *spec = json_object_get(service, "spec"), *port;
    size_t i;
    (void)cookie;
    (void)old;
    (void)f;
    if (!is(spec, "type", "ExternalName") && str_empty(json_str(spec, "clusterIP"))) {
        json_object_set_new(spec, "clusterIP", json_string("10.0.0.99"));
        json_object_set_new(spec, "clusterIPs", json_pack("[s]", "10.0.0.99"));
    }
    if (is(spec, "type", "NodePort") || is(spec, "type", "LoadBalancer"))
        json_array_foreach(json_object_get(spec, "ports"), i,
                           port) if (!json_integer_value(json_object_get(port, "nodePort")))
            json_object_set_new(port, "nodePort", json_integer(30000 + (json_int_t)i));
    if (is(spec, "type", "LoadBalancer") && is(spec, "externalTrafficPolicy", "Local") &&
        !json_integer_value(json_object_get(spec, "healthCheckNodePort")))
        json_object_set_new(spec, "healthCheckNodePort", json_integer(31999));
    return 0;
}

static json_t *refusal(const struct failure *f) {
    struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    failure_print(f, &w);
    json_t *status = json_loads(str_get(&text), 0, NULL);
    str_done(&text);
    return json_pack("{s:i, s:o}", "code", f->code, "status", status);
}

static json_t *answer(struct world *w, struct prng *random, const json_t *request) {
    struct strategy_context ctx = {.now = INT64_C(1800000000000000),
                                   .random = random,
                                   .cookie = w,
                                   .get = world_get,
                                   .list = world_list,
                                   .allocate = world_allocate};
    const json_t *sent = json_object_get(request, "create"), *old = json_object_get(request, "old");
    bool create = sent;
    if (!sent)
        sent = json_object_get(request, "update");
    const char *version = strna(json_str(sent, "apiVersion")), *slash = strchr(version, '/');
    const char *kind = strna(json_str(sent, "kind")), *part = strna(json_str(request, "part"));
    _cleanup_free_ char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    const struct schema *schema = schema_find(group, slash ? slash + 1 : version, kind);
    const struct strategy *s = strategy_find(group, kind);
    if (!schema || !s)
        return json_pack("{s:i, s:s}", "code", 404, "message", "no such kind");
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    _cleanup_json_ json_t *obj = NULL, *old_obj = NULL, *done = NULL;
    if (schema_canonical(schema, sent, &obj, NULL, &err) < 0 ||
        (old && schema_canonical(schema, old, &old_obj, NULL, &err) < 0))
        return json_pack("{s:i, s:s}", "code", 400, "message", err_msg(&err));
    strategy_default(s, obj);
    int rc = create ? strategy_create(s, &ctx, obj, &f)
                    : strategy_update(s, &ctx,
                                      streq(part, "status")     ? STRATEGY_STATUS
                                      : streq(part, "finalize") ? STRATEGY_FINALIZE
                                                                : STRATEGY_MAIN,
                                      obj, old_obj, &f);
    if (rc < 0)
        return refusal(&f);
    if (schema_canonical(schema, obj, &done, NULL, &err) < 0)
        return json_pack("{s:i, s:s}", "code", 500, "message", err_msg(&err));
    return json_pack("{s:i, s:O}", "code", create ? 201 : 200, "object", done);
}

int main(void) {
    struct world w = {json_array()};
    struct prng random = {1};
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    while ((len = getline(&line, &cap, stdin)) > 0) {
        json_error_t why;
        json_t *request = json_loadb(line, (size_t)len, 0, &why), *reply;
        const json_t *world = json_object_get(request, "world");
        if (!request)
            reply = json_pack("{s:i, s:s}", "code", 400, "message", why.text);
        else if (world) {
            json_array_clear(w.objects);
            json_array_extend(w.objects, (json_t *)world);
            reply = json_pack("{s:i}", "code", 200);
        } else {
            reply = answer(&w, &random, request);
        }
        json_dumpf(reply, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(reply);
        json_decref(request);
    }
    free(line);
    json_decref(w.objects);
    return 0;
}
