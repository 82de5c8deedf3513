/* GET, POST, PUT, PATCH and DELETE of objects. */
#include <assert.h>
#include <strings.h>

#include "sim/api/body.h"
#include "sim/api/patch.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/rules.h"
#include "sim/api/subresources.h"

static struct write write_of(struct call *c, bool dry_run) {
    return (struct write){.api = c->api,
                          .res = c->res,
                          .ns = c->ns,
                          .name = c->name,
                          .sub = c->sub,
                          .dry_run = dry_run};
}

void api_answer(struct call *c, int code, const struct record *r) {
    struct printer p;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    if (printer_init(&p, c, &f)) /* the write has happened: answer in the usual form */
        p.include = API_TABLE_METADATA;
    c->reply->code = code;
    c->reply->content_type = printer_type(&p, false);
    print_object(&p, r, &c->reply->body);
    printer_done(&p);
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
    struct printer p;
    int rc = printer_init(&p, c, f);
    printer_done(&p);
    if (rc)
        return -1;
    api_answer(c, 200, r);
    return 0;
}

int api_create(struct call *c, struct failure *f) {
    struct write_options o;
    if (query_write_options(&c->query, "CreateOptions", &o, f))
        return -1;
    _cleanup_json_ json_t *obj = NULL;
    if (body_object(c, c->res, o.validation, &obj, f))
        return -1;
    struct write w = write_of(c, o.dry_run);
    struct record *r;
    if (registry_create(&w, &obj, &r, f))
        return -1;
    api_answer(c, 201, r);
    record_unref(r);
    return 0;
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

int api_update(struct call *c, struct failure *f) {
    struct write_options o;
    if (query_write_options(&c->query, "UpdateOptions", &o, f))
        return -1;
    if (c->sub && streq(c->sub, "scale"))
        return scale_put(c, &o, f);
    _cleanup_json_ json_t *obj = NULL;
    if (body_object(c, c->res, o.validation, &obj, f) || check_name(c, obj, f))
        return -1;
    struct write w = write_of(c, o.dry_run);
    struct record *r;
    bool created;
    if (registry_update(&w, &obj, &r, &created, f))
        return -1;
    api_answer(c, created ? 201 : 200, r);
    record_unref(r);
    return 0;
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

/* The patch itself is JSON, or YAML that is read as such. */
static int read_patch(struct call *c, json_t **out, struct failure *f) {
    json_error_t error;
    *out = json_loadb(strna(c->req->body.p), c->req->body.len, JSON_DECODE_ANY, &error);
    if (!*out)
        return fail_bad_request(f, "error decoding patch: %s", error.text);
    return 0;
}

int api_patched(struct call *c, const struct write_options *o, const struct schema *schema,
                const json_t *current, json_t **out, struct failure *f) {
    struct patch p = {.schema = schema, .unchecked = o->validation == VALIDATE_IGNORE};
    _cleanup_json_ json_t *body = NULL;
    if (patch_kind_of(c, &p.kind, f) || read_patch(c, &body, f))
        return -1;
    p.body = body;
    struct schema_notes notes = {0};
    int rc = patch_apply(&p, current, out, &notes, f, NULL);
    if (!rc && body_notes(c, "", o->validation, &notes, f)) {
        json_decref(*out);
        *out = NULL;
        rc = -1;
    }
    schema_notes_done(&notes);
    return rc;
}

/* What the patched object is refused with when it cannot be decoded. */
static int invalid_patch(const json_t *raw, const char *why, struct failure *f) {
    struct field_errors e = {0};
    _cleanup_str_ struct str text = STR_INIT;
    json_dump_text(raw, &text);
    json_t *given = json_stringn(text.p, text.len);
    field_error(&e, FIELD_INVALID, "patch", given, "%s", why);
    fail_invalid(f, "", "", "", &e);
    json_decref(given);
    field_errors_done(&e);
    return -1;
}

int api_patch(struct call *c, struct failure *f) {
    struct write_options o;
    if (query_write_options(&c->query, "PatchOptions", &o, f))
        return -1;
    if (c->sub && streq(c->sub, "scale"))
        return scale_patch(c, &o, f);
    struct write w = write_of(c, o.dry_run);
    struct record *current;
    enum patch_kind kind;
    if (patch_kind_of(c, &kind, f) || registry_get(&w, &current, f))
        return -1;
    _cleanup_json_ json_t *old = record_json(current), *raw = NULL, *obj = NULL;
    if (c->res->info->custom) /* in the version that was asked for */
        resource_relabel(c->res, old);
    if (api_patched(c, &o, c->res->schema, old, &raw, f))
        return -1;
    const struct resource_info *i = c->res->info;
    _cleanup_failure_ struct failure why = FAILURE_INIT;
    if (!json_is_object(raw))
        return invalid_patch(raw, "the patch does not leave an object", f);
    if ((c->res->custom ? body_fill_kind(raw, i->group, i->version, i->kind, &why)
                        : body_check_kind(raw, i->group, i->version, i->kind, &why)) ||
        body_decode(c, c->res, o.validation, raw, &obj, &why))
        return invalid_patch(raw, why.message, f);
    if (check_name(c, obj, f))
        return -1;
    w.patch = true;
    struct record *r;
    bool created;
    if (registry_update(&w, &obj, &r, &created, f))
        return -1;
    api_answer(c, 200, r);
    record_unref(r);
    return 0;
}

/* --- DELETE --- */

static void answer_deleted(struct call *c, const struct record *r, bool gone, int code) {
    if (!gone || rules_return_deleted(c->res)) {
        api_answer(c, code, r);
        return;
    }
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
}

int api_delete(struct call *c, struct failure *f) {
    struct delete_options o;
    bool dry_run, gone;
    if (body_delete_options(c, &o, &dry_run, f))
        return -1;
    struct write w = write_of(c, dry_run);
    struct record *r;
    if (registry_delete(&w, &o, &r, &gone, f))
        return -1;
    answer_deleted(c, r, gone, !gone && o.orphan_set && !o.orphan ? 202 : 200);
    record_unref(r);
    return 0;
}

int api_delete_collection(struct call *c, struct failure *f) {
    struct list_options lo;
    struct delete_options o;
    bool dry_run;
    if (query_list_options(&c->query, &lo, f) || body_delete_options(c, &o, &dry_run, f))
        return -1;
    _cleanup_filter_ struct filter filter;
    if (filter_init(&filter, c->res->info, c->ns, lo.labels, lo.fields, resource_selectable(c->res),
                    f))
        return -1;
    struct printer p;
    if (printer_init(&p, c, f))
        return -1;
    struct snapshot *snap = shelf_snapshot(c->res->shelf);
    struct list_head head = {.version = c->api->world->version, .remaining = ABSENT64};
    /* Which, and where the next page would begin. */
    VEC(struct record *) chosen = VEC_INIT;
    for (size_t i = 0; i < snap->n; i++) {
        if (!filter_match(&filter, snap->items[i]))
            continue;
        if (lo.limit > 0 && chosen.len == (size_t)lo.limit) {
            head.token = list_token(snap->version, chosen.p[chosen.len - 1], c->ns);
            break;
        }
        *vec_push(&chosen) = snap->items[i];
    }
    print_list_begin(&p, &head, &c->reply->body);
    int rc = 0;
    for (size_t i = 0; i < chosen.len && !rc; i++) {
        const struct meta *m = &chosen.p[i]->obj->meta;
        if (!shelf_get(c->res->shelf, m->ns, m->name))
            continue;
        struct write w = {
            .api = c->api, .res = c->res, .ns = m->ns, .name = m->name, .dry_run = dry_run};
        struct record *r;
        bool gone;
        struct delete_options each = o;
        rc = registry_delete(&w, &each, &r, &gone, f);
        if (rc)
            break;
        print_list_item(&p, r, &c->reply->body);
        record_unref(r);
    }
    vec_done(&chosen);
    free((void *)head.token);
    snapshot_unref(snap);
    if (rc) {
        str_reset(&c->reply->body);
    } else {
        print_list_end(&p, &c->reply->body);
        c->reply->code = 200;
        c->reply->content_type = printer_type(&p, false);
    }
    printer_done(&p);
    return rc;
}
