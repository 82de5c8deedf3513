/* What is posted and not stored: access reviews (the one user of the simulator may do everything)
 * and bindings. */
#include "sim/api/body.h"
#include "sim/api/doubled.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/rules.h"
#include "sim/api/strategy_walk.h"
#include "sim/api/subresources.h"
#include "sim/schema/text.h"

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

int posted_read(struct call *c, const struct posted *what, enum field_validation validation,
                json_t **out, struct failure *f) {
    _cleanup_json_ json_t *raw = NULL, *obj = NULL;
    if (body_read(c, what->schema, &raw, f))
        return -1;
    body_tame(c, raw);
    const char *version = what->version;
    _cleanup_str_ struct str own = STR_INIT;
    group_version_add(&own, what->group, what->version);
    if (what->older && str_same(json_str(raw, "apiVersion"), what->older)) {
        const char *slash = strchr(what->older, '/');
        version = slash ? slash + 1 : what->older;
        json_object_set_new(raw, "apiVersion", json_string(str_get(&own)));
    }
    if (body_check_kind(c, raw, what->group, what->version, what->kind, f))
        return -1;
    struct schema_notes notes = {0};
    if (c->doubled)
        doubled_fields(c->req->body, &notes);
    if (c->doubled_yaml)
        *vec_push(&notes.texts) = xstrdup(c->doubled_yaml);
    _cleanup_free_ char *prefix = body_prefix(version, what->kind);
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = schema_canonical(what->schema, raw, &obj, &notes, &err)
                 ? fail_bad_request(f, "%s%s", prefix, err_msg(&err))
                 : body_notes(c, prefix, validation, &notes, f);
    schema_notes_done(&notes);
    if (!rc)
        *out = TAKE_PTR(obj);
    return rc;
}

void posted_answer(struct call *c) {
    static const struct view ok = VIEW("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                       "\"status\":\"Success\",\"code\":201}");
    c->reply->code = 201;
    c->reply->content_type = c->accept.format == KUBE_PROTOBUF
                                 ? "application/vnd.kubernetes.protobuf"
                                 : "application/json";
    print_status(c->accept.format, ok, &c->reply->body);
}

/* --- access reviews --- */

static bool is_one(const char *op, const char *a, const char *b) {
    return streq(op, a) || streq(op, b);
}

/* As apimachinery's ValidateFieldSelectorRequirement and ValidateLabelSelectorRequirement, which
 * here allow operators that nobody knows: a newer client may. */
static void check_requirement(struct field_errors *e, const struct at *r, bool labels) {
    const char *op = at_str(r, "operator"), *key = at_str(r, "key");
    size_t n = at_len(r, "values");
    if (!labels && !*key)
        bad_required(e, r, "key", "must be specified");
    if (is_one(op, "In", "NotIn") && n == 0)
        bad_required(e, r, "values", "must be specified when `operator` is 'In' or 'NotIn'");
    if (is_one(op, "Exists", "DoesNotExist") && n > 0)
        bad_forbidden(e, r, "values",
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    if (!labels)
        return;
    check_name(e, r, "key", key, name_label_key);
    struct at values = at_child(r, "values");
    at_each(value, &values)
        check_name(e, &value, NULL, strna(json_string_value(value.v)), name_label_value);
}

static void check_selector(struct field_errors *e, const struct at *attributes, const char *key) {
    struct at selector = at_child(attributes, key), list = at_child(&selector, "requirements");
    if (!selector.v)
        return;
    const char *raw = at_str(&selector, "rawSelector");
    size_t n = json_array_size(list.v);
    if (*raw && n)
        bad_string(e, &selector, "rawSelector", raw,
                   "may not specified at the same time as requirements");
    if (!*raw && !n) {
        _cleanup_str_ struct str path = STR_INIT;
        at_path(&selector, NULL, &path);
        _cleanup_free_ char *why = xasprintf(
            "when %s is specified, requirements or rawSelector is required", str_get(&path));
        bad_required(e, &selector, "requirements", why);
    }
    at_each(r, &list) check_requirement(e, &r, streq(key, "labelSelector"));
}

/* What the server does not keep of a client's metadata, whatever it is of: the namespace of what
 * has none, and its own fields. */
static void wipe_metadata(json_t *obj) {
    static const char *const wiped[] = {
        "namespace", "creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds",
        "selfLink",  "managedFields",
    };
    for (size_t i = 0; i < ARRAY_LEN(wiped); i++)
        json_object_del(meta_of(obj), wiped[i]);
}

/* ValidateSelfSubjectAccessReview() in pkg/apis/authorization/validation. */
static int check_review(const struct resource_info *i, const json_t *obj, struct failure *f) {
    struct field_errors e = {0};
    struct at root = at_root(obj), spec = at_child(&root, "spec");
    struct at resource = at_child(&spec, "resourceAttributes");
    struct at other = at_child(&spec, "nonResourceAttributes");
    if (resource.v && other.v) { /* shown as it is in the server's memory */
        _cleanup_json_ json_t *shown =
            json_pack("{s:s, s:s}", "Path", at_str(&other, "path"), "Verb", at_str(&other, "verb"));
        bad_value(&e, &other, NULL, shown,
                  "cannot be specified in combination with resourceAttributes");
    }
    if (!resource.v && !other.v)
        bad_value(&e, &resource, NULL, NULL,
                  "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    check_selector(&e, &resource, "fieldSelector");
    check_selector(&e, &resource, "labelSelector");
    const json_t *meta = at_get(&root, "metadata");
    if (json_object_size(meta))
        bad_value(&e, &root, "metadata", meta, "must be empty");
    int rc = 0;
    if (e.v.len) /* the object in the server's memory does not say its kind */
        rc = fail_invalid(f, i->group, "", "", &e);
    field_errors_done(&e);
    return rc;
}

/* What an authorizer cannot use of a selector that is valid (pkg/registry/authorization/util). */
static void note_ignored(const struct at *attributes, const char *key, struct str *out) {
    struct at selector = at_child(attributes, key), list = at_child(&selector, "requirements");
    bool labels = streq(key, "labelSelector");
    const char *raw = at_str(&selector, "rawSelector");
    size_t used = 0, ignored = 0;
    _cleanup_failure_ struct failure why = FAILURE_INIT;
    if (*raw && filter_check(labels ? raw : NULL, labels ? NULL : raw, &why))
        ignored++;
    at_each(r, &list) {
        const char *op = at_str(&r, "operator");
        bool known = is_one(op, "In", "NotIn") || is_one(op, "Exists", "DoesNotExist");
        bool usable = labels ? known : is_one(op, "In", "NotIn") && at_len(&r, "values") == 1;
        *(usable ? &used : &ignored) += 1;
    }
    if (ignored)
        str_addf(out, "%sspec.resourceAttributes.%s %signored due to parse error",
                 out->len ? "; " : "", key, used ? "partially " : "");
}

int review_create(struct call *c, struct failure *f) {
    const struct resource_info *i = c->res->info;
    const struct posted review = {i->group, i->version, i->kind, NULL, c->res->schema};
    struct write_options o;
    _cleanup_json_ json_t *obj = NULL, *answer = NULL;
    if (body_check_type(c, review.schema, f) ||
        query_write_options(&c->query, "CreateOptions", &o, f) ||
        posted_read(c, &review, o.validation, &obj, f))
        return -1;
    wipe_metadata(obj);
    if (check_review(i, obj, f))
        return -1;
    struct at root = at_root(obj), spec = at_child(&root, "spec");
    struct at resource = at_child(&spec, "resourceAttributes");
    _cleanup_str_ struct str ignored = STR_INIT;
    note_ignored(&resource, "fieldSelector", &ignored);
    note_ignored(&resource, "labelSelector", &ignored);
    json_t *status = json_pack("{s:b}", "allowed", 1);
    if (ignored.len)
        json_object_set_new(status, "evaluationError", json_string(str_get(&ignored)));
    json_object_set_new(obj, "status", status);
    _cleanup_err_ struct err err = ERR_INIT;
    if (schema_canonical(c->res->schema, obj, &answer, NULL, &err))
        return fail(f, 500, "InternalError", "Internal error occurred: %s", err_msg(&err));
    api_answer_value(c, 201, i->group, i->version, i->kind, answer);
    return 0;
}

/* --- bindings --- */

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

/* The kind Binding, which is no resource of its own: metadata and a reference, as an Event has. */
struct binding_schema {
    struct schema_field fields[3];
    struct schema schema;
};

static void binding_schema_init(struct binding_schema *b) {
    static const uint8_t by_name[] = {2, 1}, by_number[] = {1, 2}; /* "target", "metadata" */
    const struct schema *event = schema_find("", "v1", "Event");
    b->fields[0] = event->fields[0]; /* kind and apiVersion, inlined */
    b->fields[1] = *schema_field(event, "metadata", strlen("metadata"));
    b->fields[2] = *schema_field(event, "involvedObject", strlen("involvedObject"));
    b->fields[2].json = "target";
    b->fields[2].len = (uint8_t)strlen("target");
    b->schema = (struct schema){
        .name = "io.k8s.api.core.v1.Binding",
        .fields = b->fields,
        .by_name = by_name,
        .by_number = by_number,
        .n_fields = 3,
        .n_names = 2,
        .n_numbers = 2,
        .n_flat = event->fields[0].of->n_flat + 2,
    };
}

int binding_create(struct call *c, struct failure *f) {
    struct write_options o;
    struct binding_schema schema;
    binding_schema_init(&schema);
    const struct posted binding = {"", "v1", "Binding", NULL, &schema.schema};
    _cleanup_json_ json_t *raw = NULL;
    if (body_check_type(c, binding.schema, f) ||
        query_write_options(&c->query, "CreateOptions", &o, f) ||
        posted_read(c, &binding, o.validation, &raw, f))
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
    posted_answer(c);
    return 0;
}
