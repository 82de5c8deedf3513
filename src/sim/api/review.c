/* Access reviews: the one user of the simulator may do everything. */
#include "sim/api/body.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/rules.h"
#include "sim/api/subresources.h"
#include "sim/schema/text.h"

/* Who the bearer of the kubeconfig's token is. */
#define USER "slipway-sim-admin"

void api_answer_value(struct call *c, int code, const char *group, const char *version,
                      const char *kind, const json_t *value) {
    struct resource_info info = {.group = group, .version = version, .kind = kind};
    struct resource res = {.info = &info, .schema = schema_find(group, version, kind)};
    _cleanup_str_ struct str text = STR_INIT;
    text_value(value, &text);
    c->reply->code = code;
    if (c->accept.format == KUBE_PROTOBUF && res.schema) {
        c->reply->content_type = "application/vnd.kubernetes.protobuf";
        print_encoded(&info, res.schema, (struct view){str_get(&text), text.len}, &c->reply->body);
        return;
    }
    c->reply->content_type = "application/json";
    str_addn(&c->reply->body, str_get(&text), text.len);
    str_addc(&c->reply->body, '\n');
}

int review_create(struct call *c, struct failure *f) {
    const struct resource_info *i = c->res->info;
    struct write_options o;
    _cleanup_json_ json_t *raw = NULL, *obj = NULL;
    if (body_check_type(c, c->res->schema, f) ||
        query_write_options(&c->query, "CreateOptions", &o, f) ||
        body_read(c, c->res->schema, &raw, f) ||
        body_check_kind(c, raw, i->group, i->version, i->kind, f))
        return -1;
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(c->res->schema, raw, &obj, NULL, &err))
        return fail_bad_request(f, "%s in version \"%s\" cannot be handled as a %s: %s", i->kind,
                                i->version, i->kind, err_msg(&err));
    if (streq(i->kind, "SelfSubjectAccessReview")) {
        const json_t *spec = json_object_get(obj, "spec");
        bool resource = json_object_get(spec, "resourceAttributes") != NULL,
             other = json_object_get(spec, "nonResourceAttributes") != NULL;
        if (resource == other) {
            struct field_errors e = {0};
            json_t *given = resource ? json_object_get(spec, "resourceAttributes") : json_null();
            field_error(&e, FIELD_INVALID,
                        resource ? "spec.nonResourceAttributes" : "spec.resourceAttributes", given,
                        resource
                            ? "cannot be specified in combination with resourceAttributes"
                            : "exactly one of nonResourceAttributes or resourceAttributes must "
                              "be specified");
            fail_invalid(f, i->group, i->kind, "", &e);
            field_errors_done(&e);
            return -1;
        }
        json_object_set_new(obj, "status", json_pack("{s:b}", "allowed", 1));
    } else {
        json_object_set_new(obj, "status",
                            json_pack("{s:{s:s, s:[s, s]}}", "userInfo", "username", USER, "groups",
                                      "system:masters", "system:authenticated"));
    }
    if (!json_object_get(obj, "metadata"))
        json_object_set_new(obj, "metadata", json_object());
    _cleanup_json_ json_t *answer = NULL;
    if (schema_canonical(c->res->schema, obj, &answer, NULL, &err))
        return fail(f, 500, "InternalError", "Internal error occurred: %s", err_msg(&err));
    api_answer_value(c, 201, i->group, i->version, i->kind, answer);
    return 0;
}

/* What a binding says of labels and annotations becomes the pod's. */
static void merge_pairs(json_t *obj, const char *map, json_t *more) {
    json_t *pairs = json_object_get(meta_of(obj), map);
    if (!json_object_size(more))
        return;
    if (pairs)
        json_object_update(pairs, more);
    else
        json_object_set(meta_of(obj), map, more);
}

static int bind(struct api *a, struct record *r, const char *node, json_t *labels,
                json_t *annotations, struct failure *f) {
    _cleanup_json_ json_t *obj = record_json(r), *sorted = NULL;
    merge_pairs(obj, "labels", labels);
    merge_pairs(obj, "annotations", annotations);
    _cleanup_err_ struct err err = ERR_INIT;
    json_object_set_new(json_object_get(obj, "spec"), "nodeName", json_string(node));
    pod_add_condition(obj, "PodScheduled", "True", NULL, NULL, a->world->clock.now);
    if (schema_canonical(a->pods->schema, obj, &sorted, NULL, &err) ||
        !shelf_put(a->pods->shelf, sorted, &err))
        return fail(f, 500, "InternalError", "Internal error occurred: %s", err_msg(&err));
    return 0;
}

int pod_bind(struct api *a, struct record *r, const char *node, struct failure *f) {
    _cleanup_json_ json_t *labels = json_object();
    rules_topology_labels(a, node, labels);
    return bind(a, r, node, labels, NULL, f);
}

int binding_create(struct call *c, struct failure *f) {
    struct write_options o;
    _cleanup_json_ json_t *raw = NULL;
    if (body_check_type(c, NULL, f) || query_write_options(&c->query, "CreateOptions", &o, f) ||
        body_read(c, NULL, &raw, f) || body_check_kind(c, raw, "", "v1", "Binding", f))
        return -1;
    if (!str_same(strna(meta_str(raw, "name")), c->name))
        return fail_bad_request(f, "name in URL does not match name in Binding object");
    const json_t *target = json_object_get(raw, "target");
    const char *node = json_str(target, "name"), *kind = json_str(target, "kind");
    struct field_errors e = {0};
    if (!str_empty(kind) && !streq(kind, "Node"))
        field_error(&e, FIELD_NOT_SUPPORTED, "target.kind", json_object_get(target, "kind"),
                    "supported values: \"Node\", \"<empty>\"");
    if (str_empty(node))
        field_error(&e, FIELD_REQUIRED, "target.name", NULL, "%s", "");
    if (e.v.len) { /* the real server forgets to make a Status of it */
        _cleanup_str_ struct str why = STR_INIT;
        field_errors_text(&e, &why);
        field_errors_done(&e);
        return fail(f, 500, "", "%s", str_get(&why));
    }
    struct write w = {.api = c->api,
                      .res = c->res,
                      .ns = c->ns,
                      .name = c->name,
                      .sub = NULL,
                      .dry_run = o.dry_run};
    struct record *r;
    if (registry_get(&w, &r, f))
        return -1;
    const struct pod *pod = record_as(pod, r);
    if (pod->meta.deleted)
        return fail_conflict(f, "", "pods/binding", c->name,
                             "pod %s is being deleted, cannot be assigned to a host", c->name);
    if (!str_empty(pod->node_name))
        return fail_conflict(f, "", "pods/binding", c->name,
                             "pod %s is already assigned to node \"%s\"", c->name, pod->node_name);
    _cleanup_json_ json_t *obj = record_json(r);
    if (json_array_size(json_object_get(json_object_get(obj, "spec"), "schedulingGates")))
        return fail_conflict(f, "", "pods/binding", c->name,
                             "pod %s has non-empty .spec.schedulingGates", c->name);
    _cleanup_json_ json_t *labels = json_object();
    json_t *given = json_object_get(meta_of(raw), "labels");
    if (json_is_object(given))
        json_object_update(labels, given);
    if (!str_empty(kind))
        rules_topology_labels(c->api, node, labels);
    if (!o.dry_run &&
        bind(c->api, r, node, labels, json_object_get(meta_of(raw), "annotations"), f))
        return -1;
    static const struct view ok = VIEW("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                       "\"status\":\"Success\",\"code\":201}");
    c->reply->code = 201;
    c->reply->content_type = "application/json";
    print_status(KUBE_JSON, ok, &c->reply->body);
    return 0;
}
