/* Decoding of requests. */
#include "sim/api/body.h"

#include "sim/api/body_nul.h"
#include "sim/api/body_yaml.h"
#include "sim/api/doubled.h"
#include "sim/api/envelope.h"
#include "sim/api/media_type.h"
#include "sim/api/registry.h"
#include "sim/api/rules.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

/* How the real server's decoder begins when it cannot tell of what kind something is. */
#define UNREADABLE "couldn't get version/kind; json parse error: "
#define NO_STRUCT                                                                                  \
    UNREADABLE                                                                                     \
    "json: cannot unmarshal %s into Go value of type struct { APIVersion string "                  \
    "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"
/* Where the real server's table of kinds is made: its errors name it by that. */
#define SCHEME "pkg/api/legacyscheme/scheme.go:30"

const char *json_type_go(const json_t *v) {
    return json_is_string(v)    ? "string"
           : json_is_object(v)  ? "object"
           : json_is_array(v)   ? "array"
           : json_is_boolean(v) ? "bool"
                                : "number";
}

/* Of what kind the body should be. */
static const char *kind_wanted(const struct call *c) {
    struct subresource_info sub;
    if (!c->res)
        return "";
    return c->sub && resource_subresource(c->res->info, c->sub, &sub) ? sub.kind
                                                                      : c->res->info->kind;
}

enum { SUMMARY = 30 }; /* transformDecodeError's summarizeData */

/* transformDecodeError(), when not even a kind could be read. */
static int unrecognized(const struct call *c, const char *why, struct failure *f) {
    struct view body = c->req->body;
    size_t n = body.len < SUMMARY ? body.len : SUMMARY;
    _cleanup_str_ struct str shown = STR_INIT;
    if (!n)
        str_add(&shown, "<empty>");
    else if (*body.p == '{')
        str_addn(&shown, body.p, n);
    else
        for (size_t i = 0; i < n; i++)
            str_addf(&shown, "%02x", (unsigned char)body.p[i]);
    if (n < body.len)
        str_add(&shown, " ...");
    return fail_bad_request(f, "the object provided is unrecognized (must be of type %s): %s (%s)",
                            kind_wanted(c), why, str_get(&shown));
}

static const char *type_of(const struct call *c) {
    return str_empty(c->req->content_type) ? "application/json" : c->req->content_type;
}

int body_check_type(const struct call *c, const struct schema *schema, struct failure *f) {
    const char *type = type_of(c);
    if (media_type_is(type, "application/json") || media_type_is(type, "application/yaml") ||
        (schema && media_type_is(type, "application/vnd.kubernetes.protobuf")))
        return 0;
    return fail(f, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}

/* Why a body cannot be read, with its kind or (of options) bare. */
static int unreadable(const struct call *c, const char *why, bool bare, struct failure *f) {
    return bare ? fail_bad_request(f, "%s", why) : unrecognized(c, why, f);
}

static int read_protobuf(struct call *c, const struct schema *schema, json_t **out, bool bare,
                         struct failure *f) {
    struct envelope e;
    _cleanup_str_ struct str why = STR_INIT;
    if (!envelope_read(c->req->body, &e, &why))
        return unreadable(c, str_get(&why), bare, f);
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *obj;
    if (schema_from_pb(schema, e.raw, &obj, &err)) {
        _cleanup_free_ char *prefix =
            bare || !c->res ? xstrdup("") : body_prefix(c->res->info->version, kind_wanted(c));
        return fail_bad_request(f, "%s%s", prefix, err_msg(&err));
    }
    json_t *version = json_stringn(strna(e.version.p), e.version.len);
    json_t *kind = json_stringn(strna(e.kind.p), e.kind.len);
    if (!version || !kind) {
        json_decref(version);
        json_decref(kind);
        json_decref(obj);
        return fail_bad_request(f, "string field contains invalid UTF-8");
    }
    json_object_set_new(obj, "apiVersion", version);
    json_object_set_new(obj, "kind", kind);
    *out = obj;
    return 0;
}

/* What was read must be an object; null is one without members to Go. */
static int expect_object(struct call *c, json_t **out, bool bare, struct failure *f) {
    if (json_is_object(*out))
        return 0;
    if (json_is_null(*out)) {
        *out = json_object();
        return 0;
    }
    _cleanup_free_ char *why = xasprintf(NO_STRUCT, json_type_go(*out));
    json_decref(*out);
    *out = NULL;
    return unreadable(c, why, bare, f);
}

static int read_body(struct call *c, const struct schema *schema, json_t **out, bool bare,
                     struct failure *f) {
    const char *type = type_of(c);
    struct view body = c->req->body;
    if (body_check_type(c, schema, f))
        return -1;
    if (media_type_is(type, "application/vnd.kubernetes.protobuf"))
        return read_protobuf(c, schema, out, bare, f);
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str why = STR_INIT;
    struct schema_notes notes = {0};
    int rc;
    if (media_type_is(type, "application/yaml")) {
        rc = body_yaml((struct view){strna(body.p), body.len}, &notes, out, &err);
        if (!rc && notes.texts.len)
            c->doubled_yaml = arena_strndup(&c->arena, notes.texts.p[0], strlen(notes.texts.p[0]));
    } else {
        rc = text_read((struct view){strna(body.p), body.len}, &notes, out, &err);
        c->doubled = !rc && notes.texts.len;
        if (rc)
            str_add(&why, UNREADABLE);
    }
    schema_notes_done(&notes);
    if (!rc)
        return expect_object(c, out, bare, f);
    str_add(&why, err_msg(&err));
    return unreadable(c, str_get(&why), bare, f);
}

int body_read(struct call *c, const struct schema *schema, json_t **out, struct failure *f) {
    return read_body(c, schema, out, false, f);
}

void body_tame(struct call *c, json_t *obj) {
    c->tamed |= body_nul_tame(obj);
}

/* --- kind and apiVersion --- */

/* Whether the decoder can tell of what kind the object is; else why not (SimpleMetaFactory). */
static bool has_kind(const json_t *obj, struct str *why) {
    static const char *const keys[] = {"apiVersion", "kind"};
    if (!json_is_object(obj)) {
        str_addf(why, NO_STRUCT, json_type_go(obj));
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *v = json_object_get(obj, keys[i]);
        if (v && !json_is_string(v) && !json_is_null(v)) {
            str_addf(why,
                     UNREADABLE "json: cannot unmarshal %s into Go struct field .%s of type string",
                     json_type_go(v), keys[i]);
            return false;
        }
    }
    const char *version = strna(json_str(obj, "apiVersion")), *slash = strchr(version, '/');
    if (slash && strchr(slash + 1, '/')) {
        str_addf(why, "unexpected GroupVersion string: %s", version);
        return false;
    }
    return true;
}

/* Kinds have lists; and each version knows those of the machinery. */
static bool in_scheme(const char *group, const char *version, const char *kind) {
    static const char *const common[] = {"List",          "Status",        "DeleteOptions",
                                         "CreateOptions", "UpdateOptions", "PatchOptions",
                                         "ListOptions",   "GetOptions",    "WatchEvent"};
    if (schema_find(group, version, kind))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        if (!*group && streq(version, "v1") && streq(kind, common[i]))
            return true;
    size_t n = strlen(kind);
    _cleanup_free_ char *item = xstrndup(kind, n > 4 && str_ends(kind, "List") ? n - 4 : 0);
    return *item && schema_find(group, version, item);
}

/* Whether it is of this kind, which is filled in when it is missing; else why not. */
static bool fits_kind(json_t *obj, const char *group, const char *version, const char *kind,
                      struct str *why) {
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, group, version);
    const char *k = strna(json_str(obj, "kind")), *v = strna(json_str(obj, "apiVersion"));
    k = *k ? k : kind;
    v = *v ? v : str_get(&gv);
    if (!streq(k, kind) || !streq(v, str_get(&gv))) {
        const char *slash = strchr(v, '/'), *bare = slash ? slash + 1 : v;
        _cleanup_free_ char *theirs = slash ? xstrndup(v, (size_t)(slash - v)) : xstrdup("");
        if (in_scheme(theirs, bare, k))
            /* into the type in the server's memory, which lives in a package of the group's name */
            str_addf(why, "converting (%s.%s) to (%.*s.%s): unknown conversion", bare, k,
                     (int)strcspn(*group ? group : "core", "."), *group ? group : "core", kind);
        else
            str_addf(why,
                     "no kind \"%s\" is registered for version \"%s\" in scheme \"" SCHEME "\"", k,
                     v);
        return false;
    }
    /* kind and apiVersion come first in everything we store. */
    json_object_set_new(obj, "kind", json_string(kind));
    json_object_set_new(obj, "apiVersion", json_string(str_get(&gv)));
    return true;
}

int body_check_kind(const struct call *c, json_t *obj, const char *group, const char *version,
                    const char *kind, struct failure *f) {
    _cleanup_str_ struct str why = STR_INIT;
    if (!has_kind(obj, &why))
        return unrecognized(c, str_get(&why), f);
    if (fits_kind(obj, group, version, kind, &why))
        return 0;
    const char *k = json_str(obj, "kind"), *v = strna(json_str(obj, "apiVersion"));
    const char *slash = strchr(v, '/');
    v = slash ? slash + 1 : *v ? v : version;
    return fail_bad_request(f, "%s in version \"%s\" cannot be handled as a %s: %s",
                            str_empty(k) ? kind : k, v, kind, str_get(&why));
}

int body_check_patched(json_t *obj, const char *group, const char *version, const char *kind,
                       struct failure *f) {
    _cleanup_str_ struct str why = STR_INIT;
    if (has_kind(obj, &why) && fits_kind(obj, group, version, kind, &why))
        return 0;
    return fail_bad_request(f, "%s", str_get(&why));
}

int body_fill_kind(json_t *obj, const char *group, const char *version, const char *kind,
                   struct failure *f) {
    _cleanup_str_ struct str gv = STR_INIT;
    group_version_add(&gv, group, version);
    if (!json_object_get(obj, "kind"))
        json_object_set_new(obj, "kind", json_string(kind));
    const char *v = json_str(obj, "apiVersion");
    if (!json_object_get(obj, "apiVersion"))
        json_object_set_new(obj, "apiVersion", json_string(str_get(&gv)));
    else if (v && !streq(v, str_get(&gv)))
        return fail_bad_request(f,
                                "the API version in the data (%s) does not match the expected API "
                                "version (%s)",
                                v, str_get(&gv));
    return 0;
}

char *body_prefix(const char *version, const char *kind) {
    return xasprintf("%s in version \"%s\" cannot be handled as a %s: ", kind, version, kind);
}

/* A note of YAML's decoder has a line for each key (parseYAMLWarnings). */
static void add_warnings(struct api_reply *reply, const char *note) {
    static const char yaml[] = "yaml: unmarshal errors:\n";
    if (!str_starts(note, yaml)) {
        *vec_push(&reply->warnings) = xstrdup(note);
        return;
    }
    for (const char *p = note + strlen(yaml); *p;) {
        size_t n = strcspn(p, "\n"), blank = strspn(p, " ");
        *vec_push(&reply->warnings) = xstrndup(p + blank, n - blank);
        p += n + (p[n] == '\n');
    }
}

int body_notes(struct call *c, const char *prefix, enum field_validation validation,
               const struct schema_notes *notes, struct failure *f) {
    if (!notes->texts.len || validation == VALIDATE_IGNORE)
        return 0;
    if (validation == VALIDATE_WARN) {
        for (size_t i = 0; i < notes->texts.len; i++)
            add_warnings(c->reply, notes->texts.p[i]);
        return 0;
    }
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%sstrict decoding error: ", prefix);
    for (size_t i = 0; i < notes->texts.len; i++)
        str_addf(&text, "%s%s", i ? ", " : "", notes->texts.p[i]);
    return fail_bad_request(f, "%s", str_get(&text));
}

int body_object(struct call *c, const struct resource *res, enum field_validation validation,
                json_t **out, struct failure *f) {
    _cleanup_json_ json_t *raw = NULL;
    _cleanup_str_ struct str why = STR_INIT;
    const struct resource_info *i = res->info;
    if (body_read(c, res->schema, &raw, f))
        return -1;
    body_tame(c, raw);
    if (res->custom && has_kind(raw, &why) && str_empty(json_str(raw, "kind")))
        str_addf(&why, "Object 'Kind' is missing in '%.*s'", (int)c->req->body.len,
                 strna(c->req->body.p));
    if (why.len)
        return unrecognized(c, str_get(&why), f);
    if (res->custom && str_empty(json_str(raw, "apiVersion")))
        json_object_set_new(raw, "apiVersion", json_string(""));
    if (res->custom ? body_fill_kind(raw, i->group, i->version, i->kind, f)
                    : body_check_kind(c, raw, i->group, i->version, i->kind, f))
        return -1;
    struct schema_notes notes = {0};
    if (c->doubled)
        doubled_fields(c->req->body, &notes);
    if (c->doubled_yaml)
        *vec_push(&notes.texts) = xstrdup(c->doubled_yaml);
    int rc = rules_decode(c->api, res, raw, out, &notes, f);
    if (!rc) {
        _cleanup_free_ char *prefix = body_prefix(i->version, i->kind);
        rc = body_notes(c, prefix, validation, &notes, f);
        if (rc) {
            json_decref(*out);
            *out = NULL;
        }
    }
    schema_notes_done(&notes);
    return rc;
}

/* --- DeleteOptions --- */

static int wrong_in(struct failure *f, const char *of, const char *field, const json_t *v,
                    const char *want) {
    _cleanup_str_ struct str number = STR_INIT;
    if (json_is_real(v) && streq(want, "int64")) { /* it says which, if it is a number after all */
        str_addc(&number, ' ');
        text_value(v, &number);
    }
    return fail_bad_request(f, "json: cannot unmarshal %s%s into Go struct field %s.%s of type %s",
                            json_type_go(v), str_get(&number), of, field, want);
}

static int wrong(struct failure *f, const char *field, const json_t *v, const char *want) {
    return wrong_in(f, "DeleteOptions", field, v, want);
}

static bool given(const json_t *v) {
    return v && !json_is_null(v);
}

int delete_options_of(struct call *c, const json_t *v, struct delete_options *o, bool *dry_run,
                      struct failure *f) {
    const json_t *grace = json_object_get(v, "gracePeriodSeconds");
    const json_t *pre = json_object_get(v, "preconditions");
    const json_t *policy = json_object_get(v, "propagationPolicy");
    const json_t *orphan = json_object_get(v, "orphanDependents");
    const json_t *dry = json_object_get(v, "dryRun");
    if (grace && !json_is_null(grace)) {
        if (!json_is_integer(grace))
            return wrong(f, "gracePeriodSeconds", grace, "int64");
        o->grace = json_integer_value(grace);
    }
    if (pre && !json_is_null(pre)) {
        if (!json_is_object(pre))
            return wrong(f, "preconditions", pre, "v1.Preconditions");
        static const struct {
            const char *key, *type;
        } parts[] = {{"uid", "types.UID"}, {"resourceVersion", "string"}};
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
            const json_t *part = json_object_get(pre, parts[i].key);
            _cleanup_free_ char *path = xasprintf("preconditions.%s", parts[i].key);
            if (given(part) && !json_is_string(part))
                return wrong_in(f, "Preconditions", path, part, parts[i].type);
        }
        o->uid = json_str(pre, "uid");
        o->version = json_str(pre, "resourceVersion");
        /* The strings must outlive the value. */
        if (o->uid)
            o->uid = arena_strndup(&c->arena, o->uid, strlen(o->uid));
        if (o->version)
            o->version = arena_strndup(&c->arena, o->version, strlen(o->version));
    }
    if (given(dry) && !json_is_array(dry))
        return wrong(f, "dryRun", dry, "[]string");
    struct field_errors e = {0};
    if (orphan && !json_is_null(orphan)) {
        if (!json_is_boolean(orphan))
            return wrong(f, "orphanDependents", orphan, "bool");
        o->orphan_set = true;
        o->orphan = json_is_true(orphan);
    }
    if (policy && !json_is_null(policy)) {
        const char *p = json_string_value(policy);
        if (!p)
            return wrong(f, "propagationPolicy", policy, "v1.DeletionPropagation");
        if (o->orphan_set)
            field_error(&e, FIELD_INVALID, "propagationPolicy", policy,
                        "orphanDependents and deletionPropagation cannot be both set");
        o->propagation = streq(p, "Background")   ? "Background"
                         : streq(p, "Foreground") ? "Foreground"
                         : streq(p, "Orphan")     ? "Orphan"
                                                  : NULL;
        if (!o->propagation)
            field_error(&e, FIELD_NOT_SUPPORTED, "propagationPolicy", policy,
                        "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
    }
    size_t i;
    json_t *item;
    json_array_foreach(dry, i, item) {
        if (streq(strna(json_string_value(item)), "All"))
            *dry_run = true;
        else
            field_error(&e, FIELD_NOT_SUPPORTED, "dryRun", dry, "supported values: \"All\"");
    }
    int rc = 0;
    if (e.v.len)
        rc = fail_invalid(f, "meta.k8s.io", "DeleteOptions", "", &e);
    field_errors_done(&e);
    return rc;
}

int body_delete_options(struct call *c, struct delete_options *o, bool *dry_run,
                        struct failure *f) {
    *o = DELETE_OPTIONS_INIT;
    *dry_run = false;
    if (c->req->body.len) {
        _cleanup_json_ json_t *v = NULL;
        if (read_body(c, schema_find("", "v1", "DeleteOptions"), &v, true, f))
            return -1;
        _cleanup_str_ struct str why = STR_INIT;
        body_tame(c, v);
        if (!has_kind(v, &why))
            return fail_bad_request(f, "%s", str_get(&why));
        const char *kind = json_str(v, "kind"), *version = json_str(v, "apiVersion");
        if (!str_empty(kind) && streq(kind, "Status") && (!version || streq(version, "v1")))
            return fail_bad_request(
                f, "converting (v1.Status) to (v1.DeleteOptions): unknown conversion");
        if (!str_empty(kind) && !streq(kind, "DeleteOptions"))
            return fail_bad_request(
                f, "no kind \"%s\" is registered for version \"%s\" in scheme \"%s\"", kind,
                str_empty(version) ? "meta.k8s.io/v1" : version, "pkg/runtime/scheme.go:111");
        return delete_options_of(c, v, o, dry_run, f);
    }
    _cleanup_json_ json_t *v = json_object();
    const char *grace = query_get(&c->query, "gracePeriodSeconds");
    if (grace) {
        char *end;
        long long n = strtoll(grace, &end, 10);
        if (!*grace || *end)
            return fail_bad_request(f, "strconv.ParseInt: parsing \"%s\": invalid syntax", grace);
        json_object_set_new(v, "gracePeriodSeconds", json_integer(n));
    }
    const char *policy = query_get(&c->query, "propagationPolicy");
    if (policy)
        json_object_set_new(v, "propagationPolicy", json_string(policy));
    const char *orphan = query_get(&c->query, "orphanDependents");
    if (orphan)
        json_object_set_new(v, "orphanDependents",
                            json_boolean(!streq(orphan, "false") && !streq(orphan, "0")));
    const char *dry = query_get(&c->query, "dryRun");
    if (dry)
        json_object_set_new(v, "dryRun", json_pack("[s]", dry));
    return delete_options_of(c, v, o, dry_run, f);
}
