/* Forms of answers. */
#include "sim/api/print.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "sim/schema/text.h"

static const unsigned char magic[4] = {'k', '8', 's', 0};

/* The type of Go's that the server has inside: "*core.PodList". */
static char *go_type(const struct resource_info *i, bool list) {
    if (i->custom)
        return xstrdup("*unstructured.UnstructuredList");
    return xasprintf("*%.*s.%s", *i->group ? (int)strcspn(i->group, ".") : 4,
                     *i->group ? i->group : "core", list ? i->list_kind : i->kind);
}

int printer_init(struct printer *p, struct call *c, enum printed what, struct failure *f) {
    *p = (struct printer){.res = c->res, .accept = c->accept, .now = c->api->world->clock.now};
    _cleanup_err_ struct err err = ERR_INIT;
    if (p->accept.as == ACCEPT_TABLE &&
        api_table_include_parse(query_get(&c->query, "includeObject"), &p->include, &err))
        return fail_bad_request(f, "%s", err_msg(&err));
    bool list = what == PRINT_LIST;
    if (p->accept.as != ACCEPT_PARTIAL || p->accept.list == list)
        return 0;
    if (what == PRINT_WATCH) { /* no event can be a list: they stay as they are */
        p->accept.as = ACCEPT_OBJECT;
        return 0;
    }
    if (c->res->info->custom && !list) /* whose Go type could be either */
        return fail(f, 500, "", "content is not a list");
    _cleanup_free_ char *type = go_type(c->res->info, list);
    return fail(f, 406, "NotAcceptable",
                "you requested PartialObjectMetadata%s, but the requested object is %s list (%s)",
                list ? "" : "List", list ? "a" : "not a", type);
}

void printer_done(struct printer *p) {
    print_table_drop(p);
    str_done(&p->scratch);
    str_done(&p->list);
}

const char *printer_type(const struct printer *p, bool stream) {
    if (p->accept.format == KUBE_PROTOBUF)
        return stream ? "application/vnd.kubernetes.protobuf;stream=watch"
                      : "application/vnd.kubernetes.protobuf";
    return "application/json";
}

/* --- text --- */

/* What follows kind and apiVersion: `"metadata":{...},...}`. */
static struct view rest_of(const struct record *r) {
    static const struct view key = VIEW("\"metadata\":");
    const char *at = memmem(r->json, r->len, key.p, key.len);
    assert(at);
    return (struct view){at, r->len - (size_t)(at - r->json)};
}

static void add_head(struct str *out, const char *group, const char *version, const char *kind) {
    str_addf(out, "{\"kind\":\"%s\",\"apiVersion\":\"", kind);
    group_version_add(out, group, version);
    str_add(out, "\",");
}

static void add_view(struct str *out, struct view v) {
    str_addn(out, v.p, v.len);
}

void print_text(const struct printer *p, const struct record *r, struct str *out) {
    const struct resource_info *i = p->res->info;
    add_head(out, i->group, i->version, i->kind);
    add_view(out, rest_of(r));
}

static const char *meta_version(const struct printer *p) {
    return p->accept.beta ? "v1beta1" : "v1";
}

static void text_partial(const struct printer *p, const struct record *r, struct str *out) {
    add_head(out, "meta.k8s.io", meta_version(p), "PartialObjectMetadata");
    struct view metadata = {0};
    struct codec c = {.pool = r->pool};
    if (codec_json_find(&c, record_text(r), &VIEW("metadata"), 1, &metadata, NULL))
        metadata = VIEW("{}");
    codec_done(&c);
    str_add(out, "\"metadata\":");
    partial_metadata(metadata, out);
    str_addc(out, '}');
}

/* --- protobuf --- */

static void add_varint(struct str *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        str_addc(out, (char)(v | 0x80));
    str_addc(out, (char)v);
}

static void add_bytes(struct str *out, unsigned field, const void *p, size_t len) {
    add_varint(out, field << 3 | 2);
    add_varint(out, len);
    str_addn(out, p, len);
}

/* The magic and runtime.Unknown around a message. */
static void add_envelope(struct str *out, const char *group, const char *version, const char *kind,
                         const struct str *message) {
    _cleanup_str_ struct str gv = STR_INIT, type = STR_INIT;
    group_version_add(&gv, group, version);
    add_bytes(&type, 1, str_get(&gv), gv.len);
    add_bytes(&type, 2, kind, strlen(kind));
    str_addn(out, magic, sizeof magic);
    add_bytes(out, 1, str_get(&type), type.len);
    add_bytes(out, 2, str_get(message), message->len);
    /* contentEncoding and contentType: Go writes them although they are empty. */
    str_addn(out, "\x1a\0\x22\0", 4);
}

/* The object's message, without envelope. */
static void message_of(struct printer *p, const struct record *r, struct str *out) {
    const struct schema *s = p->res->schema;
    struct view text = record_text(r);
    _cleanup_str_ struct str partial = STR_INIT;
    if (p->accept.as == ACCEPT_PARTIAL) {
        text_partial(p, r, &partial);
        text = (struct view){str_get(&partial), partial.len};
        s = schema_find("meta.k8s.io", "v1", "PartialObjectMetadata");
    }
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = schema_to_pb(s, text, out, &err);
    assert(rc == 0); /* what is stored is in canonical form */
    (void)rc;
}

static void pb_object(struct printer *p, const struct record *r, struct str *out) {
    str_reset(&p->scratch);
    message_of(p, r, &p->scratch);
    const struct resource_info *i = p->res->info;
    if (p->accept.as == ACCEPT_PARTIAL)
        add_envelope(out, "meta.k8s.io", meta_version(p), "PartialObjectMetadata", &p->scratch);
    else
        add_envelope(out, i->group, i->version, i->kind, &p->scratch);
}

void print_status(enum kube_format format, struct view json, struct str *out) {
    if (format == KUBE_JSON) {
        add_view(out, json);
        str_addc(out, '\n');
        return;
    }
    _cleanup_str_ struct str message = STR_INIT;
    int rc = schema_to_pb(schema_find("", "v1", "Status"), json, &message, NULL);
    assert(rc == 0);
    (void)rc;
    add_envelope(out, "", "v1", "Status", &message);
}

void print_encoded(const struct resource_info *info, const struct schema *schema, struct view json,
                   struct str *out) {
    _cleanup_str_ struct str message = STR_INIT;
    int rc = schema_to_pb(schema, json, &message, NULL);
    assert(rc == 0);
    (void)rc;
    add_envelope(out, info->group, info->version, info->kind, &message);
}

/* --- objects --- */

/* Without a final newline. */
static void print_one(struct printer *p, const struct record *r, struct str *out) {
    if (p->accept.format == KUBE_PROTOBUF)
        pb_object(p, r, out);
    else if (p->accept.as == ACCEPT_TABLE)
        print_table(p, r, out);
    else if (p->accept.as == ACCEPT_PARTIAL)
        text_partial(p, r, out);
    else
        print_text(p, r, out);
}

void print_object(struct printer *p, const struct record *r, struct str *out) {
    print_one(p, r, out);
    if (p->accept.format == KUBE_JSON)
        str_addc(out, '\n');
}

/* --- lists --- */

static void list_kind(const struct printer *p, const char **group, const char **version,
                      const char **kind) {
    const struct resource_info *i = p->res->info;
    bool partial = p->accept.as == ACCEPT_PARTIAL;
    *group = partial ? "meta.k8s.io" : i->group;
    *version = partial ? meta_version(p) : i->version;
    *kind = partial ? "PartialObjectMetadataList" : i->list_kind;
}

void print_list_begin(struct printer *p, const struct list_head *head, struct str *out) {
    const char *group, *version, *kind;
    list_kind(p, &group, &version, &kind);
    p->n = 0;
    if (p->accept.format == KUBE_PROTOBUF) {
        _cleanup_str_ struct str meta = STR_INIT;
        char digits[24];
        (void)snprintf(digits, sizeof digits, "%" PRIu64, head->version);
        /* selfLink, as Go writes it; then resourceVersion, continue, remainingItemCount */
        add_bytes(&meta, 1, "", 0);
        add_bytes(&meta, 2, digits, strlen(digits));
        add_bytes(&meta, 3, strna(head->token), strlen(strna(head->token)));
        if (head->remaining != ABSENT64) {
            str_addc(&meta, 4 << 3);
            add_varint(&meta, (uint64_t)head->remaining);
        }
        str_reset(&p->list);
        add_bytes(&p->list, 1, str_get(&meta), meta.len);
        return;
    }
    if (p->accept.as == ACCEPT_TABLE) {
        print_table_begin(p, head, out);
        return;
    }
    add_head(out, group, version, kind);
    str_addf(out, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", head->version);
    if (head->token) {
        str_add(out, ",\"continue\":");
        json_quote(out, head->token, strlen(head->token));
    }
    if (head->remaining != ABSENT64)
        str_addf(out, ",\"remainingItemCount\":%" PRId64, head->remaining);
    str_add(out, "},\"items\":");
    if (p->accept.as != ACCEPT_PARTIAL)
        str_addc(out, '[');
}

void print_list_item(struct printer *p, const struct record *r, struct str *out) {
    if (p->accept.format == KUBE_PROTOBUF) {
        str_reset(&p->scratch);
        message_of(p, r, &p->scratch);
        add_bytes(&p->list, 2, str_get(&p->scratch), p->scratch.len);
        return;
    }
    if (p->accept.as == ACCEPT_TABLE) {
        print_table_row(p, r, out);
        return;
    }
    if (p->n++)
        str_addc(out, ',');
    else if (p->accept.as == ACCEPT_PARTIAL)
        str_addc(out, '[');
    if (p->accept.as == ACCEPT_PARTIAL) {
        text_partial(p, r, out);
    } else if (p->res->info->custom) {
        print_text(p, r, out);
    } else { /* the items of typed lists do not repeat their kind */
        str_addc(out, '{');
        add_view(out, rest_of(r));
    }
}

void print_list_end(struct printer *p, struct str *out) {
    if (p->accept.format == KUBE_PROTOBUF) {
        const char *group, *version, *kind;
        list_kind(p, &group, &version, &kind);
        add_envelope(out, group, version, kind, &p->list);
    } else if (p->accept.as == ACCEPT_TABLE) {
        print_table_end(p, out);
    } else {
        /* an empty list of metadata is none, as Go has it: the others are given one */
        str_add(out, p->accept.as == ACCEPT_PARTIAL && !p->n ? "null}\n" : "]}\n");
    }
}

/* --- events --- */

/* metav1.WatchEvent in a frame of its length. */
static void add_frame(struct str *out, const char *type, const struct str *object) {
    _cleanup_str_ struct str raw = STR_INIT, event = STR_INIT;
    add_bytes(&raw, 1, str_get(object), object->len);
    add_bytes(&event, 1, type, strlen(type));
    add_bytes(&event, 2, str_get(&raw), raw.len);
    size_t n = event.len;
    char size[4] = {(char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
    str_addn(out, size, 4);
    str_addn(out, str_get(&event), n);
}

static void add_event(const struct printer *p, const char *type, const struct str *object,
                      struct str *out) {
    if (p->accept.format == KUBE_PROTOBUF) {
        add_frame(out, type, object);
        return;
    }
    str_addf(out, "{\"type\":\"%s\",\"object\":", type);
    str_addn(out, str_get(object), object->len);
    str_add(out, "}\n");
}

void print_event(struct printer *p, const char *type, const struct record *r, struct str *out) {
    if (p->accept.format == KUBE_JSON) { /* straight into the answer */
        str_addf(out, "{\"type\":\"%s\",\"object\":", type);
        print_one(p, r, out);
        str_add(out, "}\n");
        return;
    }
    _cleanup_str_ struct str object = STR_INIT;
    print_one(p, r, &object);
    add_event(p, type, &object, out);
}

/* Steals the value. */
static void put_first(json_t *obj, const char *in, const char *key, json_t *value) {
    json_t *first = json_object();
    json_object_set_new(first, key, value);
    json_object_update_missing(first, json_object_get(obj, in));
    json_object_set_new(obj, in, first);
}

/* What Go prints of an object beside the members that have a value. */
static void add_zeros(const struct resource *res, struct str *text) {
    _cleanup_json_ json_t *sent = json_loadb(str_get(text), text->len, 0, NULL), *whole = NULL;
    if (schema_canonical(res->schema, sent, &whole, NULL, NULL))
        return;
    struct subresource_info scale;
    if (resource_subresource(res->info, "scale", &scale)) /* inside, the number is always there */
        put_first(whole, "spec", "replicas", json_integer(0));
    if (streq(res->info->kind, "DaemonSet")) /* and so is what it makes an annotation of */
        put_first(json_object_get(whole, "metadata"), "annotations",
                  "deprecated.daemonset.template.generation", json_string("0"));
    str_reset(text);
    text_value(whole, text);
}

void print_bookmark(struct printer *p, uint64_t version, bool initial_end, struct str *out) {
    _cleanup_str_ struct str text = STR_INIT, object = STR_INIT;
    const struct resource_info *i = p->res->info;
    bool partial = p->accept.as == ACCEPT_PARTIAL;
    if (partial)
        add_head(&text, "meta.k8s.io", meta_version(p), "PartialObjectMetadata");
    else
        add_head(&text, i->group, i->version, i->kind);
    str_addf(&text, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", version);
    if (initial_end)
        str_add(&text, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
    str_add(&text, "}}");
    if (p->accept.as == ACCEPT_OBJECT && p->res->schema)
        add_zeros(p->res, &text);
    if (p->accept.as == ACCEPT_TABLE) {
        print_table_bookmark(p, (struct view){text.p, text.len}, &object);
        add_event(p, "BOOKMARK", &object, out);
        return;
    }
    if (p->accept.format == KUBE_JSON) {
        add_event(p, "BOOKMARK", &text, out);
        return;
    }
    _cleanup_str_ struct str message = STR_INIT;
    const struct schema *s =
        partial ? schema_find("meta.k8s.io", "v1", "PartialObjectMetadata") : p->res->schema;
    int rc = schema_to_pb(s, (struct view){str_get(&text), text.len}, &message, NULL);
    assert(rc == 0);
    (void)rc;
    if (partial)
        add_envelope(&object, "meta.k8s.io", meta_version(p), "PartialObjectMetadata", &message);
    else
        add_envelope(&object, i->group, i->version, i->kind, &message);
    add_event(p, "BOOKMARK", &object, out);
}

void print_error_event(struct printer *p, const struct failure *f, struct str *out) {
    _cleanup_str_ struct str text = STR_INIT, object = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    failure_print(f, &w);
    print_status(p->accept.format, (struct view){str_get(&text), text.len}, &object);
    if (p->accept.format == KUBE_JSON && object.len)
        object.p[--object.len] = 0; /* print_status() ends with a newline */
    add_event(p, "ERROR", &object, out);
}
