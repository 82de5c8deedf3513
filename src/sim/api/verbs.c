/* GET, POST, PUT, PATCH and DELETE of objects. */
#include <assert.h>
#include <strings.h>

#include "sim/api/body.h"
#include "sim/api/gotext.h"
#include "sim/api/list.h"
#include "sim/api/patch.h"
#include "sim/api/registry.h"
#include "sim/api/rules.h"
#include "sim/api/subresources.h"
#include "sim/schema/goquote.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

static struct write write_of(struct call *c, bool dry_run) {
    return (struct write){.api = c->api,
                          .res = c->res,
                          .ns = c->ns,
                          .name = c->name,
                          .sub = c->sub,
                          .dry_run = dry_run};
}

int api_answer(struct call *c, int code, const struct record *r, struct failure *f) {
    struct printer p;
    int rc = printer_init(&p, c, PRINT_OBJECT, f);
    if (!rc) {
        c->reply->code = code;
        c->reply->content_type = printer_type(&p, false);
        print_object(&p, r, &c->reply->body);
    }
    printer_done(&p);
    return rc;
}

int api_get(struct call *c, struct failure *f) {
    struct write w = write_of(c, false);
    struct record *r;
    uint64_t version = 0;
    if (version_parse(query_get(&c->query, "resourceVersion"), 500, &version, f))
        return -1;
    if (version > c->api->world->version)
        return fail_too_large(f, version, c->api->world->version);
    if (registry_get(&w, &r, f))
        return -1;
    if (c->sub && streq(c->sub, "scale"))
        return scale_get(c, r, f);
    return api_answer(c, 200, r, f);
}

int api_create(struct call *c, struct failure *f) {
    struct write_options o;
    if (body_check_type(c, c->res->schema, f) ||
        query_write_options(&c->query, "CreateOptions", &o, f))
        return -1;
    _cleanup_json_ json_t *obj = NULL;
    if (body_object(c, c->res, o.validation, &obj, f))
        return -1;
    struct write w = write_of(c, o.dry_run);
    struct record *r;
    if (registry_create(&w, &obj, &r, f))
        return -1;
    int rc = api_answer(c, 201, r, f);
    record_unref(r);
    return rc;
}

static int check_name(struct call *c, json_t *obj, struct failure *f) {
    const char *name = meta_str(obj, "name");
    if (str_empty(name)) {
        if (!c->sub || streq(c->sub, "status"))
            return fail_bad_request(f,
                                    "the name of the object (%s based on URL) was undeterminable: "
                                    "name must be provided",
                                    c->name);
        return 0;
    }
    if (!streq(name, c->name))
        return fail_bad_request(f,
                                "the name of the object (%s) does not match the name on the URL "
                                "(%s)",
                                name, c->name);
    return 0;
}

/* Clients send back what they have read from old servers; nothing keeps it. */
static void drop_self_link(json_t *obj) {
    json_object_del(json_object_get(obj, "metadata"), "selfLink");
}

int api_update(struct call *c, struct failure *f) {
    struct write_options o;
    if (query_write_options(&c->query, "UpdateOptions", &o, f))
        return -1;
    if (c->sub && streq(c->sub, "scale"))
        return scale_put(c, &o, f);
    _cleanup_json_ json_t *obj = NULL;
    if (body_object(c, c->res, o.validation, &obj, f) || check_name(c, obj, f))
        return -1;
    drop_self_link(obj);
    struct write w = write_of(c, o.dry_run);
    struct record *r;
    bool created;
    if (registry_update(&w, &obj, &r, &created, f))
        return -1;
    int rc = api_answer(c, created ? 201 : 200, r, f);
    record_unref(r);
    return rc;
}

/* --- PATCH --- */

static int patch_kind_of(struct call *c, enum patch_kind *out, struct failure *f) {
    static const struct {
        const char *type;
        enum patch_kind kind;
    } types[] = {
        {"application/json-patch+json", PATCH_JSON},
        {"application/merge-patch+json", PATCH_MERGE},
        {"application/strategic-merge-patch+json", PATCH_STRATEGIC},
    };
    const char *given = strna(c->req->content_type);
    size_t n = strcspn(given, ";");
    while (n && given[n - 1] == ' ')
        n--;
    bool custom = c->res->info->custom;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (n == strlen(types[i].type) && strncasecmp(given, types[i].type, n) == 0 &&
            !(custom && types[i].kind == PATCH_STRATEGIC)) {
            *out = types[i].kind;
            return 0;
        }
    static const char apply[] = "application/apply-patch+yaml";
    if (n == strlen(apply) && strncasecmp(given, apply, n) == 0)
        return fail(f, 415, "UnsupportedMediaType",
                    "server-side apply is not simulated; use client-side apply (kubectl apply "
                    "--server-side=false) or a JSON, merge or strategic merge patch");
    if (custom)
        return fail(f, 415, "UnsupportedMediaType",
                    "the body of the request was in an unknown format - accepted media types "
                    "include: application/json-patch+json, application/merge-patch+json, "
                    "application/apply-patch+yaml");
    fail(f, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
    f->details = true;
    return -1;
}

int api_nameless(struct call *c, struct failure *f) {
    enum patch_kind kind;
    if (streq(c->req->method, "PATCH") && patch_kind_of(c, &kind, f))
        return -1;
    return fail_bad_request(f, "name must be provided");
}

/* What the body is refused with when it is no JSON: each kind of patch has a reader of its own. */
static int no_json(const struct patch *p, const struct err *err, struct failure *f) {
    if (p->kind == PATCH_MERGE && p->unchecked)
        return fail_bad_request(f, "Invalid JSON Patch");
    bool bare = p->kind == PATCH_STRATEGIC || p->unchecked;
    return fail_bad_request(f, "%s%s", bare ? "" : "error decoding patch: ", err_msg(err));
}

int api_patched(struct call *c, const struct write_options *o, const struct schema *schema,
                const json_t *current, json_t **out, struct schema_notes *notes,
                struct failure *f) {
    struct patch p = {.schema = schema, .unchecked = o->validation == VALIDATE_IGNORE};
    _cleanup_json_ json_t *body = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (patch_kind_of(c, &p.kind, f))
        return -1;
    p.text = (struct view){strna(c->req->body.p), c->req->body.len};
    if (text_read(p.text, p.kind == PATCH_JSON ? NULL : notes, &body, &err))
        return no_json(&p, &err, f);
    p.body = body;
    return patch_apply(&p, current, out, notes, f, NULL);
}

/* As Go's %v prints a value that was read from JSON. */
static void go_value(struct str *out, const json_t *v) {
    if (json_is_object(v)) {
        _cleanup_json_ json_t *sorted = go_sorted(v);
        const char *key, *blank = "";
        json_t *item;
        str_add(out, "map[");
        json_object_foreach(sorted, key, item) {
            str_addf(out, "%s%s:", blank, key);
            go_value(out, item);
            blank = " ";
        }
        str_addc(out, ']');
    } else if (json_is_array(v)) {
        size_t i;
        json_t *item;
        str_addc(out, '[');
        json_array_foreach(v, i, item) {
            str_add(out, i ? " " : "");
            go_value(out, item);
        }
        str_addc(out, ']');
    } else if (json_is_string(v)) {
        str_addn(out, json_string_value(v), json_string_length(v));
    } else if (json_is_null(v)) {
        str_add(out, "<nil>");
    } else {
        go_json(out, v);
    }
}

/* How the converter of strategic patches words what the decoder of JSON says as "json: cannot
 * unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"
 * (fromUnstructured in apimachinery's pkg/runtime/converter.go). The decoder does not say whether a
 * named type is a struct or a word: the first is assumed unless what was given would be one. */
static char *converters_words(const char *why) {
    static const char begin[] = "json: cannot unmarshal ";
    const char *given = strstr(why, begin), *type = strstr(why, " of type ");
    if (!given || !type)
        return xasprintf(
            "%s%s", strncmp(why, "illegal base64", 14) ? "" : "error decoding from json: ", why);
    given += strlen(begin);
    type += strlen(" of type ");
    bool number = strncmp(given, "number", 6) == 0, object = strncmp(given, "object", 6) == 0;
    /* "number 1.5 into", but "number into" of an integer */
    size_t digits = number && given[6] == ' ' ? strcspn(given + 7, " ") : 0;
    bool broken = digits && strcspn(given + 7, ".") < digits;
    const char *from = number                            ? (broken ? "float64" : "int64")
                       : strncmp(given, "bool", 4) == 0  ? "bool"
                       : strncmp(given, "array", 5) == 0 ? "slice"
                       : object                          ? "map"
                                                         : "string";
    if (strncmp(type, "map[", 4) == 0)
        return xasprintf("cannot restore map from %s", from);
    if (strncmp(type, "[]", 2) == 0)
        return xasprintf("cannot restore slice from %s", from);
    bool named = strchr(type, '.') != NULL;
    if (named && !object)
        return xasprintf("cannot restore struct from: %s", from);
    /* Go converts numbers to other numbers and, as characters, to strings; the server does not. */
    if (number && !streq(type, "bool") && !(broken && streq(type, "string")))
        return xasprintf("cannot convert %s to %s", from, type);
    return xasprintf("unrecognized type: %s", named ? "string" : type);
}

int api_patch_refused(struct call *c, const json_t *raw, const char *why, struct failure *f) {
    enum patch_kind kind;
    if (patch_kind_of(c, &kind, f))
        return -1;
    struct field_errors e = {0};
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_free_ char *words = kind == PATCH_STRATEGIC ? converters_words(why) : xstrdup(why);
    if (kind == PATCH_STRATEGIC) {
        _cleanup_json_ json_t *body = NULL;
        text_read((struct view){strna(c->req->body.p), c->req->body.len}, NULL, &body, NULL);
        go_value(&text, body);
    } else {
        text_value(raw, &text);
    }
    json_t *given = json_stringn(text.p, text.len);
    field_error(&e, FIELD_INVALID, "patch", given, "%s", words);
    fail_invalid(f, "", "", "", &e);
    json_decref(given);
    field_errors_done(&e);
    return -1;
}

static bool has_version(const json_t *raw) {
    const json_t *v = json_object_get(raw, "apiVersion");
    return v && !json_is_null(v) && (!json_is_string(v) || json_string_length(v));
}

/* What has lost its apiVersion is decoded into the type in the server's memory, where the members
 * of metadata stand at the top and all others have Go's names, which nobody writes: those are
 * unknown (DecodeInto() in apimachinery's pkg/runtime/codec.go, into an object that is of no
 * version). */
static json_t *decode_bare(const json_t *raw, struct schema_notes *notes) {
    const struct schema *metadata = schema_find("", "v1", "ConfigMap");
    metadata = schema_field(metadata, "metadata", strlen("metadata"))->of;
    json_t *meta = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)raw, key, value) {
        if (schema_field(metadata, key, strlen(key))) {
            json_object_set(meta, key, value);
        } else if (!streq(key, "kind") && !streq(key, "apiVersion")) {
            _cleanup_str_ struct str quoted = STR_INIT;
            goquote(&quoted, key, strlen(key));
            *vec_push(&notes->texts) = xasprintf("unknown field %s", str_get(&quoted));
        }
    }
    return json_pack("{s:o}", "metadata", meta);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The patched object, decoded; what the decoder says of it is told without the handler's words. */
static int decode_patched(struct call *c, const struct write_options *o, json_t *raw,
                          struct schema_notes *notes, json_t **out, struct failure *f) {
    const struct resource_info *i = c->res->info;
    _cleanup_failure_ struct failure why = FAILURE_INIT;
    if (!json_is_object(raw)) {
        body_check_patched(raw, i->group, i->version, i->kind, &why);
        return api_patch_refused(c, raw, why.message, f);
    }
    body_tame(c, raw);
    enum patch_kind kind;
    if (patch_kind_of(c, &kind, f))
        return -1;
    static const char *const names[] = {"kind", "apiVersion"};
    for (size_t n = 0; kind == PATCH_STRATEGIC && n < ARRAY_LEN(names); n++)
        if (json_is_string(json_object_get(raw, names[n]))) /* nobody looks at them */
            json_object_del(raw, names[n]);
    size_t before = notes->texts.len;
    _cleanup_json_ json_t *bare = NULL;
    json_t *given = raw;
    if (kind != PATCH_STRATEGIC && !c->res->custom && !has_version(raw)) {
        const json_t *named = json_object_get(raw, "kind");
        const char *text = strna(json_string_value(named));
        if (*text && !schema_find(i->group, i->version, text)) {
            _cleanup_free_ char *words = xasprintf(
                "no kind \"%s\" is registered for the internal version of group \"%s\" in "
                "scheme \"pkg/runtime/scheme.go:111\"",
                text, i->group);
            return api_patch_refused(c, raw, words, f);
        }
        bool typed = named && !json_is_null(named) && !json_is_string(named);
        if (!typed && (!*text || streq(text, i->kind))) {
            bare = decode_bare(raw, notes);
            given = bare;
        }
    }
    int rc = c->res->custom ? body_fill_kind(given, i->group, i->version, i->kind, &why)
                            : body_check_patched(given, i->group, i->version, i->kind, &why);
    if (!rc)
        rc = rules_decode(c->api, c->res, given, out, notes, &why);
    if (!rc && kind == PATCH_STRATEGIC &&
        notes->texts.len > before) /* its converter walks a map and sorts what it found */
        qsort(notes->texts.p + before, notes->texts.len - before, sizeof *notes->texts.p, by_text);
    if (!rc) {
        rc = body_notes(c, "", o->validation, notes, &why);
        if (rc) {
            json_decref(*out);
            *out = NULL;
        }
    }
    if (!rc)
        return 0;
    _cleanup_free_ char *prefix = body_prefix(i->version, i->kind);
    size_t n = strncmp(why.message, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    return api_patch_refused(c, raw, why.message + n, f);
}

int api_patch(struct call *c, struct failure *f) {
    struct write_options o;
    enum patch_kind kind;
    if (patch_kind_of(c, &kind, f) || query_write_options(&c->query, "PatchOptions", &o, f))
        return -1;
    if (c->sub && streq(c->sub, "scale"))
        return scale_patch(c, &o, f);
    struct write w = write_of(c, o.dry_run);
    struct record *current;
    if (registry_get(&w, &current, f))
        return -1;
    _cleanup_json_ json_t *old = record_json(current), *raw = NULL, *obj = NULL;
    if (c->res->info->custom) /* in the version that was asked for */
        resource_relabel(c->res, old);
    struct schema_notes notes = {0};
    int rc = api_patched(c, &o, c->res->schema, old, &raw, &notes, f);
    if (!rc)
        rc = decode_patched(c, &o, raw, &notes, &obj, f);
    schema_notes_done(&notes);
    if (rc || check_name(c, obj, f))
        return -1;
    drop_self_link(obj);
    w.patch = true;
    struct record *r;
    bool created;
    if (registry_update(&w, &obj, &r, &created, f))
        return -1;
    rc = api_answer(c, 200, r, f);
    record_unref(r);
    return rc;
}

/* --- DELETE --- */

static int answer_deleted(struct call *c, const struct record *r, bool gone, int code,
                          struct failure *f) {
    if (!gone || rules_return_deleted(c->res))
        return api_answer(c, code, r, f);
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    success_print(&w, c->res->info->group, c->res->info->plural, r->obj->meta.name,
                  r->obj->meta.uid);
    c->reply->code = code;
    c->reply->content_type = c->accept.format == KUBE_PROTOBUF
                                 ? "application/vnd.kubernetes.protobuf"
                                 : "application/json";
    print_status(c->accept.format, (struct view){str_get(&text), text.len}, &c->reply->body);
    return 0;
}

/* A query may name what the object must be, as preconditions in a body would; a body alone counts
 * (Convert_url_Values_To_v1_DeleteOptions in apimachinery's pkg/apis/meta/v1/conversion.go). */
static int read_delete_options(struct call *c, struct delete_options *o, bool *dry_run,
                               struct failure *f) {
    if (body_delete_options(c, o, dry_run, f))
        return -1;
    if (!c->req->body.len) {
        o->uid = query_get(&c->query, "uid");
        o->version = query_get(&c->query, "resourceVersion");
        o->uid = str_empty(o->uid) ? NULL : o->uid;
        o->version = str_empty(o->version) ? NULL : o->version;
    }
    return 0;
}

/* Classes that pods of the system are of. Who deletes all at once may, on the real server too. */
static int check_kept(const struct call *c, struct failure *f) {
    static const char *const kept[] = {"system-node-critical", "system-cluster-critical"};
    const struct resource_info *i = c->res->info;
    if (!streq(i->group, "scheduling.k8s.io") || !streq(i->plural, "priorityclasses"))
        return 0;
    for (size_t n = 0; n < ARRAY_LEN(kept); n++)
        if (streq(c->name, kept[n]))
            return fail_forbidden(f, i->group, i->plural, c->name,
                                  "this is a system priority class and cannot be deleted");
    return 0;
}

int api_delete(struct call *c, struct failure *f) {
    struct delete_options o;
    bool dry_run, gone;
    if (read_delete_options(c, &o, &dry_run, f) || check_kept(c, f))
        return -1;
    struct write w = write_of(c, dry_run);
    struct record *r;
    if (registry_delete(&w, &o, &r, &gone, f))
        return -1;
    int rc = answer_deleted(c, r, gone, !gone && o.orphan_set && !o.orphan ? 202 : 200, f);
    record_unref(r);
    return rc;
}

/* Deletes what a list with the same options would show, and answers with it as it was found: also
 * with what has gone since the version that the list is of. */
static int delete_page(struct call *c, struct list_page *page, const struct delete_options *o,
                       bool dry_run, struct printer *p, struct failure *f) {
    struct list_head head = page->head;
    if (!head.token && c->res->info->custom && p->accept.as == ACCEPT_OBJECT) /* as in lists */
        head.token = "";
    print_list_begin(p, &head, &c->reply->body);
    for (size_t i = page->at; i < page->end; i++) {
        const struct record *found = page->snap->items[i];
        const struct meta *m = &found->obj->meta;
        if (!filter_match(&page->filter, found))
            continue;
        print_list_item(p, found, &c->reply->body);
        if (!shelf_get(c->res->shelf, m->ns, m->name))
            continue;
        struct write w = {
            .api = c->api, .res = c->res, .ns = m->ns, .name = m->name, .dry_run = dry_run};
        struct record *r;
        bool gone;
        if (registry_delete(&w, o, &r, &gone, f))
            return -1;
        record_unref(r);
    }
    print_list_end(p, &c->reply->body);
    return 0;
}

int api_delete_collection(struct call *c, struct failure *f) {
    struct list_options lo;
    struct delete_options o;
    bool dry_run;
    if (query_list_options(&c->query, &lo, f) || read_delete_options(c, &o, &dry_run, f))
        return -1;
    struct list_page page;
    if (list_page_init(&page, c, &lo, f))
        return -1;
    struct printer p;
    int rc = printer_init(&p, c, PRINT_LIST, f);
    if (!rc)
        rc = delete_page(c, &page, &o, dry_run, &p, f);
    if (rc) {
        str_reset(&c->reply->body);
    } else {
        c->reply->code = 200;
        c->reply->content_type = printer_type(&p, false);
    }
    printer_done(&p);
    list_page_done(&page);
    return rc;
}
