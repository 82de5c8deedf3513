/* The scale subresource: of Deployments, ReplicaSets, StatefulSets, and of custom resources that
 * declare one. */
#include "sim/api/body.h"
#include "sim/api/custom.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/subresources.h"
#include "sim/schema/text.h"

/* A selector in the words of -l, as status.selector wants it. */
static char *selector_text(const json_t *selector) {
    _cleanup_str_ struct str out = STR_INIT;
    const char *key;
    json_t *v;
    json_t *labels = json_object_get(selector, "matchLabels");
    json_object_foreach(labels, key, v)
        str_addf(&out, "%s%s=%s", out.len ? "," : "", key, strna(json_string_value(v)));
    size_t i;
    json_t *expr;
    json_array_foreach(json_object_get(selector, "matchExpressions"), i, expr) {
        const char *op = strna(json_str(expr, "operator")), *k = strna(json_str(expr, "key"));
        str_add(&out, out.len ? "," : "");
        if (streq(op, "Exists") || streq(op, "DoesNotExist")) {
            str_addf(&out, "%s%s", streq(op, "Exists") ? "" : "!", k);
            continue;
        }
        str_addf(&out, "%s %s (", k, streq(op, "In") ? "in" : "notin");
        size_t j;
        json_t *value;
        json_array_foreach(json_object_get(expr, "values"), j, value)
            str_addf(&out, "%s%s", j ? "," : "", strna(json_string_value(value)));
        str_addc(&out, ')');
    }
    return str_take(&out);
}

static int scale_of(const struct resource *res, const json_t *obj, bool to_change, json_t **out,
                    struct failure *f) {
    if (res->info->custom)
        return to_change ? custom_scale_to_change(res, obj, out, f)
                         : custom_scale(res, obj, out, f);
    const json_t *spec = json_object_get(obj, "spec"), *status = json_object_get(obj, "status");
    _cleanup_free_ char *selector = selector_text(json_object_get(spec, "selector"));
    const json_t *want = json_object_get(spec, "replicas"),
                 *now = json_object_get(status, "replicas");
    const char *uid = strna(meta_str(obj, "uid"));
    *out = json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}, s:{s:I}, s:{s:I}}", "kind", "Scale",
                     "apiVersion", "autoscaling/v1", "metadata", "name",
                     strna(meta_str(obj, "name")), "namespace", strna(meta_str(obj, "namespace")),
                     "uid", uid, "resourceVersion", strna(meta_str(obj, "resourceVersion")),
                     "creationTimestamp", strna(meta_str(obj, "creationTimestamp")), "spec",
                     "replicas", (json_int_t)json_integer_value(want), "status", "replicas",
                     (json_int_t)json_integer_value(now));
    if (*selector)
        json_object_set_new(json_object_get(*out, "status"), "selector", json_string(selector));
    if (!json_integer_value(want)) /* as Go leaves zeros out */
        json_object_del(json_object_get(*out, "spec"), "replicas");
    return 0;
}

/* With a Scale, or with its Table. */
static int answer(struct call *c, const json_t *scale, struct failure *f) {
    if (c->accept.as != ACCEPT_TABLE) {
        api_answer_value(c, 200, "autoscaling", "v1", "Scale", scale);
        return 0;
    }
    struct api_table_options o = {.version = c->accept.beta ? "v1beta1" : "v1",
                                  .now = c->api->world->clock.now};
    _cleanup_err_ struct err err = ERR_INIT;
    if (api_table_include_parse(query_get(&c->query, "includeObject"), &o.include, &err))
        return fail_bad_request(f, "%s", err_msg(&err));
    const struct api_table_kind *columns =
        c->res->custom ? custom_scale_columns(c->res) : api_table_find("autoscaling", "Scale");
    _cleanup_str_ struct str text = STR_INIT;
    text_value(scale, &text);
    c->reply->code = 200;
    c->reply->content_type = "application/json";
    api_table_object(columns, &o, scale, (struct view){text.p, text.len}, &c->reply->body);
    str_addc(&c->reply->body, '\n');
    return 0;
}

int scale_get(struct call *c, const struct record *r, struct failure *f) {
    _cleanup_json_ json_t *obj = record_json(r), *scale = NULL;
    if (scale_of(c->res, obj, false, &scale, f))
        return -1;
    return answer(c, scale, f);
}

/* Takes the number from a scale and updates the object with it. */
static int apply(struct call *c, const struct write_options *o, const json_t *scale,
                 struct failure *f) {
    struct write w = {.api = c->api,
                      .res = c->res,
                      .ns = c->ns,
                      .name = c->name,
                      .sub = NULL,
                      .dry_run = o->dry_run};
    struct record *r;
    if (registry_get(&w, &r, f))
        return -1;
    const char *name = meta_str(scale, "name"), *ns = meta_str(scale, "namespace");
    if (!str_empty(name) && !streq(name, c->name))
        return fail_bad_request(
            f, "the name of the object (%s) does not match the name on the URL (%s)", name,
            c->name);
    if (!str_empty(ns) && !str_same(ns, c->ns))
        return fail_bad_request(f, "the namespace of the provided object does not match the "
                                   "namespace sent on the request");
    const json_t *replicas = json_object_get(json_object_get(scale, "spec"), "replicas");
    json_int_t n = json_integer_value(replicas);
    if (n < 0 && !c->res->info->custom) { /* custom objects are checked as a whole, below */
        struct field_errors e = {0};
        field_error(&e, FIELD_INVALID, "spec.replicas", replicas,
                    "must be greater than or equal to 0");
        fail_invalid(f, "autoscaling", "Scale", c->name, &e);
        field_errors_done(&e);
        return -1;
    }
    _cleanup_json_ json_t *obj = record_json(r);
    const char *version = meta_str(scale, "resourceVersion"), *uid = meta_str(scale, "uid");
    if (!str_empty(uid) && !str_same(uid, meta_str(obj, "uid")))
        return registry_fail_uid(&w, uid, meta_str(obj, "uid"), f);
    if (!str_empty(version))
        meta_set_str(obj, "resourceVersion", version);
    if (c->res->info->custom) {
        _cleanup_json_ json_t *was = NULL; /* what has no Scale gets none by this */
        resource_relabel(c->res, obj);
        if (custom_scale_to_change(c->res, obj, &was, f) || custom_set_scale(c->res, obj, n, f))
            return -1;
    } else {
        json_object_set_new(json_object_get(obj, "spec"), "replicas", json_integer(n));
    }
    bool created;
    if (registry_update(&w, &obj, &r, &created, f))
        return -1;
    _cleanup_json_ json_t *now = record_json(r), *set = NULL;
    record_unref(r);
    if (scale_of(c->res, now, false, &set, f))
        return -1;
    return answer(c, set, f);
}

/* A Scale from the client; `prefix` comes before the decoder's words. */
static int read_scale(struct call *c, const struct write_options *o, const char *prefix,
                      const json_t *raw, struct schema_notes *notes, json_t **out,
                      struct failure *f) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(schema_find("autoscaling", "v1", "Scale"), raw, out, notes, &err))
        return fail_bad_request(f, "%s%s", prefix, err_msg(&err));
    return body_notes(c, prefix, o->validation, notes, f);
}

int scale_put(struct call *c, const struct write_options *o, struct failure *f) {
    _cleanup_json_ json_t *raw = NULL, *scale = NULL;
    _cleanup_free_ char *prefix = body_prefix("v1", "Scale");
    if (body_read(c, schema_find("autoscaling", "v1", "Scale"), &raw, f) ||
        body_check_kind(c, raw, "autoscaling", "v1", "Scale", f))
        return -1;
    struct schema_notes notes = {0};
    int rc = read_scale(c, o, prefix, raw, &notes, &scale, f);
    schema_notes_done(&notes);
    if (rc)
        return -1;
    return apply(c, o, scale, f);
}

int scale_patch(struct call *c, const struct write_options *o, struct failure *f) {
    struct write w = {.api = c->api,
                      .res = c->res,
                      .ns = c->ns,
                      .name = c->name,
                      .sub = NULL,
                      .dry_run = o->dry_run};
    struct record *r;
    if (registry_get(&w, &r, f))
        return -1;
    _cleanup_json_ json_t *obj = record_json(r), *now = NULL, *raw = NULL, *scale = NULL;
    if (scale_of(c->res, obj, true, &now, f))
        return -1;
    struct schema_notes notes = {0};
    _cleanup_failure_ struct failure why = FAILURE_INIT;
    int rc = api_patched(c, o, schema_find("autoscaling", "v1", "Scale"), now, &raw, &notes, f);
    if (!rc && (body_check_patched(raw, "autoscaling", "v1", "Scale", &why) ||
                read_scale(c, o, "", raw, &notes, &scale, &why)))
        rc = api_patch_refused(c, raw, why.message, f);
    schema_notes_done(&notes);
    if (rc)
        return -1;
    return apply(c, o, scale, f);
}
