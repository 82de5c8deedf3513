/* Prints Tables, PartialObjectMetadata and discovery as the simulator would, for comparison with
 * the real server (test_tables.py).
 *
 * Reads one JSON document, {"now": RFC 3339, "requests": [...]}, from standard input, and writes
 * one line for each request: {"group", "kind", "list" or "object", "include"?, "noHeaders"?,
 * "columns"? (of a custom resource), "scale"?, "partial"?, "text"? (give the object as text)}; or
 * {"discovery": path, "aggregated"?, "definitions": CRDs beside the built-in resources}. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/jsonpath.h"
#include "sim/api/discovery.h"
#include "sim/api/partial.h"
#include "sim/api/table_internal.h"

/* The paths of custom columns, followed by the same JSONPath that `-o jsonpath` uses. */
struct path {
    struct arena arena;
    const struct jsonpath *compiled;
};

static void *path_compile(const char *text) {
    struct path *p = xnew(struct path);
    _cleanup_free_ char *braced = xasprintf("{%s}", text);
    if (jsonpath_parse(braced, &p->arena, &p->compiled, NULL)) {
        arena_done(&p->arena);
        free(p);
        return NULL;
    }
    return p;
}

static const json_t *path_find(const void *path, const json_t *object) {
    const struct path *p = path;
    struct jsonpath_values values = {0};
    jsonpath_values(p->compiled, (json_t *)object, &values);
    const json_t *first = values.len ? values.p[0] : NULL;
    vec_done(&values);
    return first;
}

static void path_free(void *path) {
    struct path *p = path;
    arena_done(&p->arena);
    free(p);
}

static const struct api_table_paths paths = {path_compile, path_find, path_free};

static _Noreturn void fail(const char *what, const char *why) {
    fprintf(stderr, "probe_tables: %s: %s\n", what, why);
    exit(64);
}

static struct list_meta meta_of(const json_t *list) {
    const json_t *meta = json_object_get(list, "metadata");
    const json_t *remaining = json_object_get(meta, "remainingItemCount");
    return (struct list_meta){
        .version = json_str(meta, "resourceVersion"),
        .token = json_str(meta, "continue"),
        .remaining = remaining ? json_integer_value(remaining) : ABSENT64,
    };
}

/* As a value or as text, as the request says. */
struct item {
    json_t *value;
    char *text;
    struct view view;
};

static struct item item_of(const json_t *request, json_t *object) {
    struct item it = {.value = object};
    if (json_is_true(json_object_get(request, "text"))) {
        it.text = json_dumps(object, JSON_COMPACT);
        it.view = view_of(it.text);
        it.value = NULL;
    }
    return it;
}

static void print_partial(const json_t *request, struct str *out) {
    const json_t *list = json_object_get(request, "list");
    json_t *object;
    size_t i;
    if (!list) {
        struct jsonw w;
        jsonw_init(&w, out, false);
        struct item it = item_of(request, json_object_get(request, "object"));
        partial_write(&w, "v1", it.value, it.view);
        free(it.text);
        return;
    }
    struct partial_list l;
    struct list_meta meta = meta_of(list);
    partial_list_begin(&l, "v1", &meta, out);
    json_array_foreach(json_object_get(list, "items"), i, object) {
        struct item it = item_of(request, object);
        partial_list_item(&l, it.value, it.view, out);
        free(it.text);
    }
    partial_list_end(&l, out);
}

static void print_table(const json_t *request, int64_t now, struct str *out) {
    const char *kind = json_str(request, "kind");
    struct api_table_kind *custom = NULL;
    struct api_table_options options = {.version = "v1", .now = now};
    _cleanup_err_ struct err err = ERR_INIT;
    if (api_table_include_parse(json_str(request, "include"), &options.include, &err))
        fail("include", err_msg(&err));
    options.no_headers = json_is_true(json_object_get(request, "noHeaders"));
    if (json_is_true(json_object_get(request, "scale")))
        custom = api_table_custom_scale(&paths);
    else if (json_object_get(request, "columns"))
        custom = api_table_custom(json_object_get(request, "columns"), &paths);
    const struct api_table_kind *k =
        custom ? custom : api_table_find(strna(json_str(request, "group")), strna(kind));
    if (!k)
        fail(strna(kind), "no such kind");
    const json_t *list = json_object_get(request, "list");
    if (list) {
        struct api_table t;
        struct list_meta meta = meta_of(list);
        json_t *object;
        size_t i;
        api_table_begin(&t, k, &options, &meta, out);
        json_array_foreach(json_object_get(list, "items"), i, object) {
            struct item it = item_of(request, object);
            api_table_row(&t, it.value, it.view, out);
            free(it.text);
        }
        api_table_end(&t, out);
    } else {
        struct item it = item_of(request, json_object_get(request, "object"));
        api_table_object(k, &options, it.value, it.view, out);
        free(it.text);
    }
    api_table_kind_free(custom);
}

/* --- discovery --- */

/* The strings of a list, borrowed, with a NULL after them. */
static const char *const *names_of(const json_t *list) {
    size_t n = json_array_size(list);
    const char **names = xcalloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = json_string_value(json_array_get(list, i));
    return names;
}

static struct resource_info *row_of(const json_t *definition, const json_t *version) {
    const json_t *spec = json_object_get(definition, "spec");
    const json_t *names = json_object_get(json_object_get(definition, "status"), "acceptedNames");
    const json_t *parts = json_object_get(version, "subresources");
    const char *stored = "";
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(spec, "versions"), i,
                       v) if (json_is_true(json_object_get(v, "storage")) &&
                              json_is_true(json_object_get(v, "served"))) stored =
        json_str(v, "name");
    struct resource_info *row = xnew(struct resource_info);
    *row = (struct resource_info){
        .group = json_str(spec, "group"),
        .version = json_str(version, "name"),
        .kind = json_str(names, "kind"),
        .list_kind = json_str(names, "listKind"),
        .plural = json_str(names, "plural"),
        .singular = json_str(names, "singular"),
        .short_names = names_of(json_object_get(names, "shortNames")),
        .categories = names_of(json_object_get(names, "categories")),
        .namespaced = streq(strna(json_str(spec, "scope")), "Namespaced"),
        .has_status = json_object_get(parts, "status"),
        .has_scale = json_object_get(parts, "scale"),
        .custom = true,
        .stored = stored,
        .verbs = VERBS_ALL,
    };
    return row;
}

static bool discover(const struct discovery *d, const char *path, bool aggregated,
                     struct str *out) {
    bool core = streq(path, "/api");
    _cleanup_free_ char *copy = xstrdup(path);
    char *rest = copy, *part[4];
    size_t n = 0;
    for (strsep(&rest, "/"); rest && n < ARRAY_LEN(part);)
        part[n++] = strsep(&rest, "/");
    if (streq(path, "/version"))
        discovery_version(out);
    else if (aggregated && (core || streq(path, "/apis")))
        discovery_aggregated(d, core, out);
    else if (core)
        discovery_core(d, "127.0.0.1:6443", out);
    else if (streq(path, "/apis"))
        discovery_groups(d, out);
    else if (n == 2 && streq(part[0], "apis"))
        return discovery_group(d, part[1], out);
    else if (n == 2)
        return discovery_resources(d, "", part[1], out);
    else
        return n == 3 && discovery_resources(d, part[1], part[2], out);
    return true;
}

static void print_discovery(const json_t *request, struct str *out) {
    VEC(const struct resource_info *) rows = VEC_INIT;
    size_t n, i, k;
    json_t *definition, *version;
    const struct resource_info *builtin = resource_builtin(&n);
    for (i = 0; i < n; i++)
        *vec_push(&rows) = &builtin[i];
    json_array_foreach(json_object_get(request, "definitions"), i, definition) {
        json_array_foreach(json_at(definition, "spec.versions"), k, version) {
            *vec_push(&rows) = row_of(definition, version);
        }
    }
    struct discovery d = {rows.p, rows.len};
    const char *path = strna(json_str(request, "discovery"));
    if (!discover(&d, path, json_is_true(json_object_get(request, "aggregated")), out))
        str_add(out, "null");
    for (i = n; i < rows.len; i++) {
        free((void *)rows.p[i]->short_names);
        free((void *)rows.p[i]->categories);
        free((void *)rows.p[i]);
    }
    vec_done(&rows);
}

int main(void) {
    json_error_t error;
    _cleanup_json_ json_t *input = json_loadf(stdin, 0, &error);
    const char *text = input ? strna(json_str(input, "now")) : "";
    int64_t now;
    json_t *request;
    size_t i;
    if (!input)
        fail("standard input", error.text);
    if (!time_parse(text, strlen(text), &now))
        fail("now", "no time");
    json_array_foreach(json_object_get(input, "requests"), i, request) {
        _cleanup_str_ struct str out = STR_INIT;
        if (json_object_get(request, "discovery"))
            print_discovery(request, &out);
        else if (json_is_true(json_object_get(request, "partial")))
            print_partial(request, &out);
        else
            print_table(request, now, &out);
        puts(str_get(&out));
    }
    return 0;
}
