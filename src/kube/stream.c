/* Cuts objects out of a response while it arrives: what both formats share, and the JSON side. */
#include "kube/stream.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "kube/stream_internal.h"

enum { NAME_SHOWN = 253 }; /* of an object, in an error: longer ones no server accepts */

static const char *const type_names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};

void stream_init(struct stream *s, const struct kind *kind, enum kube_format format,
                 enum stream_mode mode, struct pool *pool, const struct stream_handler *handler,
                 void *arg) {
    *s = (struct stream){
        .kind = kind,
        .format = format,
        .mode = mode,
        .handler = handler,
        .arg = arg,
        .list = {.remaining = ABSENT64},
    };
    codec_init(&s->codec, pool);
}

void stream_done(struct stream *s) {
    if (!s->codec.pool)
        return;
    type_release(&type_list_meta, s->codec.pool, &s->list, NULL);
    codec_done(&s->codec);
    str_done(&s->part);
    str_done(&s->key);
    s->codec.pool = NULL;
}

int stream_watch_type(struct view name, enum watch_type *out, struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++) {
        if (view_eq(name, view_of(type_names[i]))) {
            *out = (enum watch_type)i;
            return 0;
        }
    }
    return err_set(err, EBADMSG, "the server sent a watch event of unknown type");
}

/* A JSON string without its quotes; what is in it matters to people only. */
static struct view unquoted(struct view v) {
    return v.p && v.len >= 2 && v.p[0] == '"' ? (struct view){v.p + 1, v.len - 2}
                                              : (struct view){"", 0};
}

/* Which object it is that cannot be read, as far as its metadata can, and which field of it. */
static int name_object(struct stream *s, struct view bytes, struct err *err) {
    const struct view keys[] = {VIEW("metadata")}, names[] = {VIEW("namespace"), VIEW("name")};
    struct view meta = {0}, found[2] = {0};
    if (s->format == KUBE_JSON && s->codec.where.len)
        err_wrap(err, "%s", str_get(&s->codec.where));
    if (s->format == KUBE_JSON && !codec_json_find(&s->codec, bytes, keys, 1, &meta, NULL) &&
        meta.p && !codec_json_find(&s->codec, meta, names, 2, found, NULL) && found[1].p) {
        struct view ns = unquoted(found[0]), name = unquoted(found[1]);
        return err_wrap(err, "cannot read %s %.*s%s%.*s", s->kind->name,
                        (int)MIN_OF(ns.len, (size_t)NAME_SHOWN), ns.p, ns.len ? "/" : "",
                        (int)MIN_OF(name.len, (size_t)NAME_SHOWN), name.p);
    }
    return err_wrap(err, "cannot read a %s", s->kind->name);
}

static int handed_on(int rc, struct err *err) {
    return rc ? err_set(err, -rc, "the receiver stopped the stream") : 0;
}

/* Metadata, and the status where it can be read: whoever knows its name can say what is wrong with
 * it, and the rest of the stream is of use. False: not even that. */
static bool read_rest(struct stream *s, struct view bytes, struct object *obj) {
    static const struct view keys[] = {VIEW("metadata"), VIEW("status")};
    struct view found[2] = {0};
    if (codec_json_find(&s->codec, bytes, keys, 2, found, NULL) || !found[0].p)
        return false;
    for (size_t n = found[1].p ? 2 : 1; n; n--) {
        int rc = 0;
        memset(obj, 0, s->kind->type->size);
        type_init(s->kind->type, obj, obj);
        for (size_t i = 0; i < n && !rc; i++)
            rc = codec_json_member(&s->codec, s->kind->type, keys[i], found[i], obj, NULL);
        if (!rc && obj->meta.name)
            return true;
        if (!rc)
            type_release(s->kind->type, s->codec.pool, obj, obj);
    }
    return false;
}

int stream_object(struct stream *s, enum watch_type type, struct view bytes, struct err *err) {
    struct object *obj = xcalloc(1, s->kind->type->size);
    _cleanup_err_ struct err why = ERR_INIT;
    int rc = s->format == KUBE_JSON ? codec_json(&s->codec, s->kind->type, bytes, obj, &why)
                                    : codec_pb(&s->codec, s->kind->type, bytes, obj, &why);
    if (!rc)
        return handed_on(s->handler->object(s->arg, type, obj), err);
    rc = name_object(s, bytes, &why);
    if (s->handler->unread && s->format == KUBE_JSON && read_rest(s, bytes, obj))
        return handed_on(s->handler->unread(s->arg, type, obj, err_msg(&why)), err);
    free(obj);
    return err_set(err, -rc, "%s", err_msg(&why));
}

int stream_status(struct stream *s, struct view bytes, struct err *err) {
    struct status status = {0};
    int rc = s->format == KUBE_JSON ? codec_json(&s->codec, &type_status, bytes, &status, err)
                                    : codec_pb(&s->codec, &type_status, bytes, &status, err);
    if (rc)
        return err_wrap(err, "cannot read the Status of an ERROR event");
    rc = s->handler->error(s->arg, &status);
    type_release(&type_status, s->codec.pool, &status, NULL);
    return rc ? err_set(err, -rc, "the receiver stopped the stream") : 0;
}

int stream_list_meta(struct stream *s, struct view bytes, struct err *err) {
    struct list_meta meta = {0};
    int rc = s->format == KUBE_JSON ? codec_json(&s->codec, &type_list_meta, bytes, &meta, err)
                                    : codec_pb(&s->codec, &type_list_meta, bytes, &meta, err);
    if (rc)
        return err_wrap(err, "cannot read the metadata of a list");
    type_release(&type_list_meta, s->codec.pool, &s->list, NULL);
    s->list = meta;
    return 0;
}

int stream_check_list_kind(struct stream *s, struct view kind, struct err *err) {
    size_t n = strlen(s->kind->name);
    if (kind.len == n + 4 && !memcmp(kind.p, s->kind->name, n) && !memcmp(kind.p + n, "List", 4))
        return 0;
    return err_set(err, EBADMSG, "expected a %sList, the server sent a \"%.*s\"", s->kind->name,
                   (int)MIN_OF(kind.len, (size_t)64), kind.p);
}

/* --- JSON --- */

/* What comes next: L_FIRST an item or the end of the items, L_ITEM an item, L_NEXT a comma or the
 * end of the items, L_AFTER what follows a member. */
enum { L_OPEN, L_KEY, L_COLON, L_VALUE, L_FIRST, L_ITEM, L_NEXT, L_AFTER, L_END };

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* How many bytes of p belong to the value that is being scanned; *done when it ends there. The
 * value's inside is checked by the decoder, here only its extent is found. */
static size_t scan_value(struct stream *s, const char *p, size_t len, bool *done) {
    size_t i = 0;
    *done = false;
    if (!s->scan.started) {
        s->scan.started = true;
        s->scan.scalar = *p != '{' && *p != '[' && *p != '"';
    }
    while (i < len) {
        if (s->scan.text) {
            if (s->scan.escape) {
                s->scan.escape = false;
                i++;
                continue;
            }
            while (i < len && p[i] != '"' && p[i] != '\\')
                i++;
            if (i == len)
                break;
            if (p[i++] == '\\') {
                s->scan.escape = true;
                continue;
            }
            s->scan.text = false;
            if (!s->scan.depth) {
                *done = true;
                break;
            }
            continue;
        }
        char c = p[i];
        if (s->scan.scalar) {
            if (c == ',' || c == '}' || c == ']' || is_space(c)) {
                *done = true;
                break;
            }
        } else if (c == '"') {
            s->scan.text = true;
        } else if (c == '{' || c == '[') {
            s->scan.depth++;
        } else if (c == '}' || c == ']') {
            if (!--s->scan.depth) {
                i++;
                *done = true;
                break;
            }
        }
        i++;
    }
    if (*done)
        memset(&s->scan, 0, sizeof s->scan);
    return i;
}

/* Collects one value: *out is set when it is complete, else it goes on with the next bytes. */
static int collect(struct stream *s, const char **p, const char *end, bool *done, struct view *out,
                   struct err *err) {
    size_t n = scan_value(s, *p, (size_t)(end - *p), done);
    if (s->part.len + n > STREAM_OBJECT_MAX)
        return err_set(err, EMSGSIZE, "the server sent an object of more than %d MiB",
                       STREAM_OBJECT_MAX >> 20);
    *out = (struct view){*p, n};
    if (!*done || s->part.len) {
        str_addn(&s->part, *p, n);
        *out = (struct view){s->part.p, s->part.len};
    }
    *p += n;
    return 0;
}

static struct view unquote(struct view text) {
    if (text.len >= 2 && text.p[0] == '"')
        return (struct view){text.p + 1, text.len - 2};
    return text;
}

static int json_member(struct stream *s, struct view value, struct err *err) {
    if (streq(str_get(&s->key), "metadata"))
        return stream_list_meta(s, value, err);
    if (streq(str_get(&s->key), "kind")) {
        s->saw_kind = true;
        return stream_check_list_kind(s, unquote(value), err);
    }
    if (streq(str_get(&s->key), "items")) {
        s->saw_items = true;
        if (!view_eq(value, VIEW("null")))
            return err_set(err, EBADMSG, "the items of a list are no array");
    }
    return 0;
}

static int unexpected(struct err *err) {
    return err_set(err, EBADMSG, "the server's answer is not the JSON of a list");
}

/* One character that is no part of a value: the skeleton of the list. */
static int json_skeleton(struct stream *s, char c, bool *value, struct err *err) {
    *value = false;
    if (is_space(c))
        return 0;
    switch (s->state) {
    case L_OPEN:
        s->state = L_KEY;
        return c == '{' ? 0 : unexpected(err);
    case L_KEY:
        if (c == '}' && !s->comma) {
            s->state = L_END;
            return 0;
        }
        *value = true;
        return c == '"' ? 0 : unexpected(err);
    case L_COLON:
        s->state = L_VALUE;
        return c == ':' ? 0 : unexpected(err);
    case L_VALUE:
        if (c == '[' && streq(str_get(&s->key), "items")) {
            s->saw_items = true;
            s->state = L_FIRST;
            return 0;
        }
        *value = true;
        return c != ',' && c != '}' && c != ']' ? 0 : unexpected(err);
    case L_FIRST:
    case L_ITEM:
        if (c == ']' && s->state == L_FIRST) {
            s->state = L_AFTER;
            return 0;
        }
        *value = true;
        return c == '{' ? 0 : unexpected(err);
    case L_NEXT:
        s->state = c == ',' ? L_ITEM : L_AFTER;
        return c == ',' || c == ']' ? 0 : unexpected(err);
    case L_AFTER:
        s->comma = c == ',';
        s->state = c == ',' ? L_KEY : L_END;
        return c == ',' || c == '}' ? 0 : unexpected(err);
    default:
        return err_set(err, EBADMSG, "something follows the list");
    }
}

static int json_value(struct stream *s, struct view value, struct err *err) {
    int rc = 0;
    switch (s->state) {
    case L_KEY:
        str_reset(&s->key);
        value = unquote(value);
        str_addn(&s->key, value.p, MIN_OF(value.len, (size_t)64));
        s->state = L_COLON;
        break;
    case L_VALUE:
        rc = json_member(s, value, err);
        s->state = L_AFTER;
        break;
    case L_FIRST:
    case L_ITEM:
        s->state = L_NEXT;
        rc = stream_object(s, WATCH_ADDED, value, err);
        break;
    }
    str_reset(&s->part);
    return rc;
}

static int json_list(struct stream *s, const char *p, const char *end, struct err *err) {
    while (p < end) {
        bool value = s->scan.started;
        int rc;
        if (!value) {
            if ((rc = json_skeleton(s, *p, &value, err)))
                return rc;
            if (!value) {
                p++;
                continue;
            }
        }
        struct view v;
        bool done;
        if ((rc = collect(s, &p, end, &done, &v, err)) || (done && (rc = json_value(s, v, err))))
            return rc;
    }
    return 0;
}

static int json_event(struct stream *s, struct view text, struct err *err) {
    static const struct view keys[] = {VIEW("type"), VIEW("object")};
    static const struct view kind_keys[] = {VIEW("kind")};
    struct view v[2], kind;
    enum watch_type type;
    int rc = codec_json_find(&s->codec, text, keys, 2, v, err);
    if (rc || (rc = stream_watch_type(unquote(v[0]), &type, err)))
        return rc;
    if (!v[1].p)
        return err_set(err, EBADMSG, "the server sent a watch event without an object");
    if (type == WATCH_ERROR)
        return stream_status(s, v[1], err);
    if ((rc = codec_json_find(&s->codec, v[1], kind_keys, 1, &kind, err)))
        return rc;
    if (!view_eq(unquote(kind), view_of(s->kind->name)))
        return err_set(err, EBADMSG, "a watch of %s brought another kind of object",
                       s->kind->resource);
    return stream_object(s, type, v[1], err);
}

static int json_watch(struct stream *s, const char *p, const char *end, struct err *err) {
    while (p < end) {
        if (!s->scan.started && is_space(*p)) {
            p++;
            continue;
        }
        if (!s->scan.started && *p != '{')
            return err_set(err, EBADMSG, "the server's answer is not a JSON watch stream");
        struct view v;
        bool done;
        int rc = collect(s, &p, end, &done, &v, err);
        if (rc || !done)
            return rc;
        rc = json_event(s, v, err);
        str_reset(&s->part);
        if (rc)
            return rc;
    }
    return 0;
}

static int json_end(struct stream *s, struct err *err) {
    if (s->mode == STREAM_WATCH)
        return s->scan.started ? err_set(err, EPIPE, "the watch broke off within an event") : 0;
    if (s->state != L_END)
        return err_set(err, EPIPE, "the list broke off before its end");
    if (!s->saw_items || !s->saw_kind)
        return err_set(err, EBADMSG, "the server's answer is not a Kubernetes list");
    return 0;
}

/* --- both --- */

int stream_feed(struct stream *s, const char *p, size_t len, struct err *err) {
    if (s->broken)
        return err_set(err, EBADMSG, "the stream is broken");
    int rc;
    if (s->format == KUBE_PROTOBUF)
        rc = stream_pb_feed(s, p, len, err);
    else if (s->mode == STREAM_LIST)
        rc = json_list(s, p, p + len, err);
    else
        rc = json_watch(s, p, p + len, err);
    s->broken = rc != 0;
    return rc;
}

int stream_end(struct stream *s, struct err *err) {
    if (s->broken)
        return err_set(err, EBADMSG, "the stream is broken");
    return s->format == KUBE_PROTOBUF ? stream_pb_end(s, err) : json_end(s, err);
}

bool kube_format_of(const char *content_type, enum kube_format *format) {
    size_t n = strcspn(content_type, "; \t");
    if (n == strlen("application/json") && !strncasecmp(content_type, "application/json", n))
        *format = KUBE_JSON;
    else if (n == strlen("application/vnd.kubernetes.protobuf") &&
             !strncasecmp(content_type, "application/vnd.kubernetes.protobuf", n))
        *format = KUBE_PROTOBUF;
    else
        return false;
    return true;
}

/* Checks the kind and apiVersion of a body and finds the bytes of the object itself. */
static int open_body(struct codec *c, enum kube_format format, struct view body,
                     struct view kind[2], struct view *message, struct err *err) {
    static const struct view keys[] = {VIEW("kind"), VIEW("apiVersion")};
    if (format == KUBE_PROTOBUF)
        return stream_pb_open(body, kind, message, err);
    *message = body;
    int rc = codec_json_find(c, body, keys, 2, kind, err);
    kind[0] = unquote(kind[0]);
    kind[1] = unquote(kind[1]);
    return rc;
}

int kube_decode(struct codec *c, const struct kind *kind, enum kube_format format, struct view body,
                struct object **out, struct err *err) {
    struct view have[2], message;
    char version[64];
    int rc = open_body(c, format, body, have, &message, err);
    if (rc)
        return rc;
    kind_api_version(kind, version);
    if (!view_eq(have[0], view_of(kind->name)) || !view_eq(have[1], view_of(version)))
        return err_set(err, EBADMSG, "expected a %s of %s, the server sent a \"%.*s\" of \"%.*s\"",
                       kind->name, version, (int)MIN_OF(have[0].len, (size_t)64), strna(have[0].p),
                       (int)MIN_OF(have[1].len, (size_t)64), strna(have[1].p));
    struct object *obj = xcalloc(1, kind->type->size);
    rc = format == KUBE_JSON ? codec_json(c, kind->type, message, obj, err)
                             : codec_pb(c, kind->type, message, obj, err);
    if (rc) {
        free(obj);
        return err_wrap(err, "cannot read a %s%s%s", kind->name,
                        format == KUBE_JSON && c->where.len ? ": " : "",
                        format == KUBE_JSON ? str_get(&c->where) : "");
    }
    *out = obj;
    return 0;
}

int kube_decode_status(struct codec *c, enum kube_format format, struct view body,
                       struct status *out, struct err *err) {
    struct view have[2], message;
    *out = (struct status){0};
    if (open_body(c, format, body, have, &message, NULL) || !view_eq(have[0], VIEW("Status")))
        return err_set(err, ENOMSG, "the server's answer is no Kubernetes Status");
    return format == KUBE_JSON ? codec_json(c, &type_status, message, out, err)
                               : codec_pb(c, &type_status, message, out, err);
}
