/* One request: from its path to the verb, and from what went wrong to a Status. */
#include "sim/api/api.h"

#include <assert.h>
#include <inttypes.h>

#include "base/yaml_emit.h"
#include "sim/api/body_nul.h"
#include "sim/api/custom.h"
#include "sim/api/documents.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/route.h"
#include "sim/api/rules.h"
#include "sim/api/subresources.h"

/* --- the resources --- */

struct resource *api_resource(const struct api *a, const char *group, const char *version,
                              const char *plural) {
    for (size_t i = 0; i < a->resources.len; i++) {
        const struct resource_info *r = a->resources.p[i]->info;
        if (streq(r->plural, plural) && streq(r->group, group) && streq(r->version, version))
            return a->resources.p[i];
    }
    return NULL;
}

struct resource *api_resource_of_kind(const struct api *a, const char *api_version,
                                      const char *kind) {
    const char *slash = strchr(api_version, '/');
    size_t group = slash ? (size_t)(slash - api_version) : 0;
    const char *version = slash ? slash + 1 : api_version;
    struct resource *other = NULL;
    for (size_t i = 0; i < a->resources.len; i++) {
        const struct resource_info *r = a->resources.p[i]->info;
        if (!streq(r->kind, kind) || strlen(r->group) != group ||
            strncmp(r->group, api_version, group) != 0)
            continue;
        if (streq(r->version, version))
            return a->resources.p[i];
        other = a->resources.p[i];
    }
    return other;
}

void resource_relabel(const struct resource *res, json_t *obj) {
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, res->info->group, res->info->version);
    json_object_set_new(obj, "apiVersion", json_string(str_get(&gv)));
}

static const struct kind *typed_kind(const struct resource_info *info) {
    const struct kind *k = kind_find(info->kind);
    return k && streq(k->group, info->group) ? k : &kind_any;
}

static void crd_changed(void *arg, const struct change *change) {
    custom_changed(arg, change);
}

/* An object that every cluster has, created as its own controllers would. */
static void furnish(struct api *a, struct resource *res, const char *ns, json_t *raw) {
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    json_t *obj = NULL;
    struct record *r = NULL;
    struct write w = {.api = a, .res = res, .ns = ns};
    int rc = rules_decode(a, res, raw, &obj, NULL, &f);
    if (!rc)
        rc = registry_create(&w, &obj, &r, &f);
    assert(rc == 0);
    (void)rc;
    record_unref(r);
    json_decref(obj);
    json_decref(raw);
}

struct api *api_new(struct world *w, double speed) {
    struct api *a = xnew(struct api);
    a->world = w;
    a->speed = speed;
    size_t n;
    const struct resource_info *rows = resource_builtin(&n);
    for (size_t i = 0; i < n; i++) {
        struct resource *r = xnew(struct resource);
        r->info = &rows[i];
        r->schema = schema_find(rows[i].group, rows[i].version, rows[i].kind);
        assert(r->schema);
        if (rows[i].list_kind)
            r->shelf = shelf_new(w, typed_kind(&rows[i]));
        *vec_push(&a->resources) = r;
    }
    a->namespaces = api_resource(a, "", "v1", "namespaces");
    a->pods = api_resource(a, "", "v1", "pods");
    a->pdbs = api_resource(a, "policy", "v1", "poddisruptionbudgets");
    a->crds = api_resource(a, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
    shelf_listen(a->crds->shelf, crd_changed, a);
    static const char *const names[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        furnish(a, a->namespaces, NULL,
                json_pack("{s:s, s:s, s:{s:s}}", "kind", "Namespace", "apiVersion", "v1",
                          "metadata", "name", names[i]));
    furnish(a, api_resource(a, "", "v1", "services"), "default",
            json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:{s:s, s:[{s:s, s:i, s:i}]}}",
                      "kind", "Service", "apiVersion", "v1", "metadata", "name", "kubernetes",
                      "namespace", "default", "labels", "component", "apiserver", "provider",
                      "kubernetes", "spec", "clusterIP", "10.96.0.1", "ports", "name", "https",
                      "port", 443, "targetPort", 6443));
    static const struct {
        const char *name, *description;
        int value;
    } classes[] = {
        {"system-cluster-critical",
         "Used for system critical pods that must run in the cluster, but can be moved to another "
         "node if necessary.",
         2000000000},
        {"system-node-critical",
         "Used for system critical pods that must not be moved from their current node.",
         2000001000},
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        furnish(a, api_resource(a, "scheduling.k8s.io", "v1", "priorityclasses"), NULL,
                json_pack("{s:s, s:s, s:{s:s}, s:i, s:s}", "kind", "PriorityClass", "apiVersion",
                          "scheduling.k8s.io/v1", "metadata", "name", classes[i].name, "value",
                          classes[i].value, "description", classes[i].description));
    return a;
}

void api_free(struct api *a) {
    if (!a)
        return;
    assert(a->watches.len == 0);
    for (size_t i = 0; i < a->resources.len; i++)
        if (!a->resources.p[i]->custom) {
            shelf_free(a->resources.p[i]->shelf);
            free(a->resources.p[i]);
        }
    for (size_t i = 0; i < a->customs.len; i++)
        custom_free(a->customs.p[i]);
    for (size_t i = 0; i < a->retired.len; i++)
        custom_free(a->retired.p[i]);
    clock_stop(&a->world->clock, &a->settle);
    vec_done(&a->customs);
    vec_done(&a->retired);
    vec_done(&a->resources);
    vec_done(&a->watches);
    for (size_t i = 0; i < a->withheld.len; i++) {
        free(a->withheld.p[i].group);
        free(a->withheld.p[i].plural);
        free(a->withheld.p[i].why);
    }
    vec_done(&a->withheld);
    free(a);
}

void api_withhold(struct api *a, const char *group, const char *plural, const char *why) {
    *vec_push(&a->withheld) = (struct withheld){xstrdup(group), xstrdup(plural), xstrdup(why)};
}

/* NULL: it is for everybody. */
static const char *why_withheld(const struct api *a, const struct resource_info *i) {
    for (size_t k = 0; k < a->withheld.len; k++)
        if (streq(a->withheld.p[k].group, i->group) && streq(a->withheld.p[k].plural, i->plural))
            return a->withheld.p[k].why;
    return NULL;
}

/* --- one request --- */

void api_reply_done(struct api_reply *r) {
    str_done(&r->body);
    api_stream_free(r->stream);
    for (size_t i = 0; i < r->warnings.len; i++)
        free(r->warnings.p[i]);
    vec_done(&r->warnings);
    *r = (struct api_reply){0};
}

static void answer_text(struct call *c, int code, const char *text) {
    c->reply->code = code;
    c->reply->content_type = "text/plain; charset=utf-8";
    str_add(&c->reply->body, text);
}

static bool method_is(const struct call *c, const char *method) {
    return streq(c->req->method, method);
}

/* What a method means on a path; 0 when nothing. */
static unsigned verb_of(const struct call *c) {
    /* The routes of built-in resources know no HEAD; custom ones have none. */
    if (method_is(c, "GET") || (method_is(c, "HEAD") && c->res->info->custom))
        return c->name ? VERB_GET : VERB_LIST;
    if (method_is(c, "POST"))
        return VERB_CREATE;
    if (method_is(c, "PUT"))
        return c->name ? VERB_UPDATE : 0;
    if (method_is(c, "PATCH"))
        return c->name ? VERB_PATCH : 0;
    if (method_is(c, "DELETE"))
        return c->name ? VERB_DELETE : VERB_DELETECOLLECTION;
    return 0;
}

/* What somebody without credentials is told. */
static int fail_anonymous(struct call *c, const struct path *path, struct failure *f) {
    static const char who[] = "User \"system:anonymous\" cannot";
    if (path->route != ROUTE_RESOURCE) {
        size_t n = strcspn(c->req->target, "?");
        fail(f, 403, "Forbidden", "forbidden: %s %s path \"%.*s\"", who,
             method_is(c, "GET") ? "get" : "post", (int)n, c->req->target);
        f->details = true;
        return -1;
    }
    const struct resource_info *i = c->res->info;
    unsigned verb = verb_of(c);
    const char *word = verb ? api_verb_name((enum api_verb)verb) : c->req->method;
    const char *sub = c->sub ? c->sub : "", *slash = c->sub ? "/" : "";
    if (c->ns)
        return fail_forbidden(f, i->group, i->plural, strna(c->name),
                              "%s %s resource \"%s%s%s\" in API group \"%s\" in the namespace "
                              "\"%s\"",
                              who, word, i->plural, slash, sub, i->group, c->ns);
    return fail_forbidden(f, i->group, i->plural, strna(c->name),
                          "%s %s resource \"%s%s%s\" in API group \"%s\" at the cluster scope", who,
                          word, i->plural, slash, sub, i->group);
}

static int serve_sub(struct call *c, unsigned verb, struct failure *f) {
    struct subresource_info sub;
    bool known = resource_subresource(c->res->info, c->sub, &sub);
    assert(known);
    (void)known;
    if (!(sub.verbs & verb))
        return fail_method(f);
    if (streq(c->sub, "eviction"))
        return eviction_create(c, f);
    if (streq(c->sub, "binding"))
        return binding_create(c, f);
    return verb == VERB_GET      ? api_get(c, f)
           : verb == VERB_UPDATE ? api_update(c, f)
           : verb == VERB_PATCH  ? api_patch(c, f)
                                 : fail_method(f);
}

static int serve_resource(struct call *c, struct failure *f) {
    unsigned verb = verb_of(c);
    bool custom = c->res->info->custom;
    if (custom && custom_deprecation(c->res)) /* even if the request fails */
        *vec_push(&c->reply->warnings) = xstrdup(custom_deprecation(c->res));
    if (accept_parse(c->req->accept,
                     OFFER_TABLE | (custom ? OFFER_CUSTOM : OFFER_PROTOBUF) |
                         (verb == VERB_LIST ? OFFER_STREAM : 0),
                     &c->accept, f))
        return -1;
    const char *withheld = why_withheld(c->api, c->res->info);
    if (withheld)
        return fail_forbidden(f, c->res->info->group, c->res->info->plural, strna(c->name), "%s",
                              withheld);
    if (c->sub)
        return serve_sub(c, verb, f);
    /* The handler of custom resources routes by verb alone, and then misses the name. */
    if (custom && !c->name && (method_is(c, "PUT") || method_is(c, "PATCH")))
        return api_nameless(c, f);
    /* And it knows nothing of a path that lacks the namespace, but for reading all of them. */
    if (custom && c->res->info->namespaced && !c->ns && verb != VERB_LIST && verb != VERB_WATCH) {
        answer_text(c, 404, "404 page not found\n");
        return 0;
    }
    /* On a path with a name nothing can be created, but for that handler; what is not in a
     * namespace has no collection to write to. */
    if (!verb || !(c->res->info->verbs & verb) || (verb == VERB_CREATE && c->name && !custom) ||
        (c->res->info->namespaced && !c->ns &&
         (verb == VERB_CREATE || verb == VERB_DELETECOLLECTION)))
        return fail_method(f);
    if (!c->res->shelf)
        return review_create(c, f);
    switch (verb) {
    case VERB_GET: /* of one object there is no watch but by a field selector of the collection */
        return api_get(c, f);
    case VERB_LIST:
        return api_list(c, f);
    case VERB_CREATE:
        return api_create(c, f);
    case VERB_UPDATE:
        return api_update(c, f);
    case VERB_PATCH:
        return api_patch(c, f);
    case VERB_DELETE:
        return api_delete(c, f);
    default:
        return api_delete_collection(c, f);
    }
}

/* There is one check, and it is that this answer comes. */
static void answer_health(struct call *c, const struct path *path) {
    if (path->part && !streq(path->part, "ping")) {
        answer_text(c, 404, "404 page not found\n");
        return;
    }
    answer_text(c, 200, "");
    if (path->part || !query_get(&c->query, "verbose"))
        str_add(&c->reply->body, "ok");
    else
        str_addf(&c->reply->body, "[+]ping ok\n%s check passed\n", path->check);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* GET /: the paths that there are. */
static void answer_root(struct call *c) {
    static const char *const fixed[] = {"/api",     "/apis",       "/healthz",   "/healthz/ping",
                                        "/livez",   "/livez/ping", "/readyz",    "/readyz/ping",
                                        "/version", "/openapi/v2", "/openapi/v3"};
    VEC(char *) list = VEC_INIT;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        *vec_push(&list) = xstrdup(fixed[i]);
    for (size_t i = 0; i < c->api->resources.len; i++) {
        const struct resource_info *r = c->api->resources.p[i]->info;
        if (!*r->group) {
            *vec_push(&list) = xasprintf("/api/%s", r->version);
        } else {
            *vec_push(&list) = xasprintf("/apis/%s", r->group);
            *vec_push(&list) = xasprintf("/apis/%s/%s", r->group, r->version);
        }
    }
    qsort(list.p, list.len, sizeof *list.p, by_text);
    struct jsonw w;
    jsonw_init(&w, &c->reply->body, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "paths", '[');
    for (size_t i = 0; i < list.len; i++)
        if (!i || !streq(list.p[i - 1], list.p[i]))
            jsonw_str(&w, list.p[i]);
    jsonw_end(&w);
    jsonw_end(&w);
    for (size_t i = 0; i < list.len; i++)
        free(list.p[i]);
    vec_done(&list);
    c->reply->code = 200;
    c->reply->content_type = "application/json";
}

static int serve_path(struct call *c, struct failure *f) {
    struct path path;
    if (c->req->body.len > API_BODY_MAX)
        return fail(f, 413, "RequestEntityTooLarge", "Request entity too large: limit is %d",
                    API_BODY_MAX);
    route_parse(c, &path);
    if (c->req->anonymous && path.route != ROUTE_HEALTH && path.route != ROUTE_VERSION)
        return fail_anonymous(c, &path, f);
    switch (path.route) {
    case ROUTE_RESOURCE:
        return serve_resource(c, f);
    case ROUTE_UNKNOWN:
        accept_parse(c->req->accept, OFFER_PROTOBUF, &c->accept, f);
        if (c->res && c->res->custom && c->sub) /* no such part of a custom object */
            return fail_not_found(f, c->res->info->group, c->res->info->plural, c->name);
        return fail_no_resource(f);
    case ROUTE_NONE:
        answer_text(c, 404, "404 page not found\n");
        return 0;
    case ROUTE_HEALTH:
        answer_health(c, &path);
        return 0;
    case ROUTE_ROOT:
        answer_root(c);
        return 0;
    case ROUTE_LEGACY:
    case ROUTE_RESOURCES:
    case ROUTE_VERSION: /* the others answer to any method */
        if (!method_is(c, "GET"))
            return fail_method(f);
        return documents_serve(c, &path, f);
    default:
        return documents_serve(c, &path, f);
    }
}

/* With the keys of all objects in order, as out of Go's maps. */
static json_t *sorted_json(struct view text) {
    json_t *v = json_loadb(text.p, text.len, JSON_ALLOW_NUL, NULL);
    _cleanup_free_ char *sorted = v ? json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(v);
    return sorted ? json_loads(sorted, JSON_ALLOW_NUL, NULL) : NULL;
}

/* The whole answer once more as YAML. */
static void to_yaml(struct api_reply *r) {
    while (r->stream && api_stream_pull(r->stream, &r->body) == API_MORE)
        ;
    api_stream_free(r->stream);
    r->stream = NULL;
    json_t *v = sorted_json((struct view){str_get(&r->body), r->body.len});
    _cleanup_str_ struct str text = STR_INIT;
    if (v && yaml_emit(v, false, &text, NULL) == 0) {
        str_reset(&r->body);
        str_addn(&r->body, text.p, text.len);
        r->content_type = "application/yaml";
    }
    json_decref(v);
}

void api_serve(struct api *a, const struct api_request *req, struct api_reply *out) {
    *out = (struct api_reply){0};
    struct call c = {.api = a, .req = req, .reply = out};
    const char *question = strchr(req->target, '?');
    query_parse(&c.query, question ? question + 1 : NULL);
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    if (serve_path(&c, &f)) {
        str_reset(&out->body);
        _cleanup_str_ struct str text = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &text, false);
        if (c.tamed)
            failure_mend(&f, body_nul_mend);
        failure_print(&f, &w);
        out->code = f.code;
        out->retry_after = f.retry_after;
        out->content_type = c.accept.format == KUBE_PROTOBUF ? "application/vnd.kubernetes.protobuf"
                                                             : "application/json";
        print_status(c.accept.format, (struct view){str_get(&text), text.len}, &out->body);
    }
    if (c.accept.yaml && out->content_type && streq(out->content_type, "application/json"))
        to_yaml(out);
    query_done(&c.query);
    arena_done(&c.arena);
}
