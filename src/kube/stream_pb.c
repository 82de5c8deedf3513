/* The protobuf side of kube/stream.h: envelopes, frames, and the items of a list as they arrive. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kube/stream_internal.h"

static const char magic[4] = {'k', '8', 's', 0};

enum { P_MAGIC, P_ENVELOPE };

enum { HEADER_MAX = 4096 }; /* type names, encodings: anything longer is hostile */

static int fail(struct err *err, const char *what) {
    return err_set(err, EBADMSG, "bad protobuf from the server: %s", what);
}

static int too_large(struct err *err) {
    return err_set(err, EMSGSIZE, "the server sent an object of more than %d MiB",
                   STREAM_OBJECT_MAX >> 20);
}

/* A varint at `at` of the bytes; 0 when it is not complete yet, -1 when it never will be. */
static int varint(const unsigned char *b, size_t len, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        if (i == 9 && b[i] > 1)
            return -1;
        v |= (uint64_t)(b[i] & 0x7f) << (7 * i);
        if (!(b[i] & 0x80)) {
            *out = v;
            return (int)i + 1;
        }
    }
    return len >= 10 ? -1 : 0;
}

/* The tag of the next field and its number or length; same result as varint(). */
static int parse_head(const unsigned char *b, size_t len, uint64_t *tag, uint64_t *n) {
    int a = varint(b, len, tag);
    if (a <= 0)
        return a;
    if ((*tag & 7) != 0 && (*tag & 7) != 2)
        return -1; /* envelopes and lists have no fields of other wire types */
    if (*tag >> 3 == 0 || *tag >> 3 > 0x1fffffff)
        return -1; /* no such field numbers */
    int c = varint(b + a, len - (size_t)a, n);
    return c <= 0 ? c : a + c;
}

/* n bytes in one piece, or {NULL, 0} when they are not all there yet: then what there is has been
 * kept. */
static struct view take(struct stream *s, const char **p, const char *end, size_t n) {
    size_t have = (size_t)(end - *p);
    struct view v = {NULL, 0};
    if (!s->part.len && have >= n) {
        v = (struct view){*p, n};
        *p += n;
        return v;
    }
    size_t more = MIN_OF(n - s->part.len, have);
    str_addn(&s->part, *p, more);
    *p += more;
    if (s->part.len == n)
        v = (struct view){s->part.p, n};
    return v;
}

/* Looks into a message for its length-delimited fields 1 and 2. */
static int find_two(struct view in, struct view *one, struct view *two, struct err *err) {
    while (in.len) {
        uint64_t tag, n;
        int used = parse_head((const unsigned char *)in.p, in.len, &tag, &n);
        if (used <= 0)
            return fail(err, "broken tag");
        in.p += used;
        in.len -= (size_t)used;
        if ((tag & 7) != 2)
            continue;
        if (n > in.len)
            return fail(err, "it ends too early");
        struct view v = {in.p, (size_t)n};
        if (tag >> 3 == 1)
            *one = v;
        else if (tag >> 3 == 2 && two)
            *two = v;
        in.p += n;
        in.len -= (size_t)n;
    }
    return 0;
}

int stream_pb_open(struct view body, struct view kind[2], struct view *message, struct err *err) {
    struct view meta = {"", 0};
    *message = (struct view){NULL, 0};
    kind[0] = kind[1] = (struct view){"", 0};
    if (body.len < sizeof magic || memcmp(body.p, magic, sizeof magic) != 0)
        return fail(err, "the magic bytes are missing");
    struct view in = {body.p + sizeof magic, body.len - sizeof magic};
    int rc = find_two(in, &meta, message, err);
    if (rc)
        return rc;
    if (!message->p)
        return fail(err, "an envelope with nothing in it");
    return find_two(meta, &kind[1], &kind[0], err);
}

static int pb_event(struct stream *s, struct view frame, struct err *err) {
    struct view name = {"", 0}, extension = {"", 0}, raw = {"", 0}, kind[2], message;
    enum watch_type type;
    int rc = find_two(frame, &name, &extension, err);
    if (rc || (rc = stream_watch_type(name, &type, err)))
        return rc;
    if ((rc = find_two(extension, &raw, NULL, err)) ||
        (rc = stream_pb_open(raw, kind, &message, err)))
        return rc;
    if (type == WATCH_ERROR)
        return view_eq(kind[0], VIEW("Status")) ? stream_status(s, message, err)
                                                : fail(err, "an ERROR event without a Status");
    if (!view_eq(kind[0], view_of(s->kind->name)))
        return err_set(err, EBADMSG, "a watch of %s brought another kind of object",
                       s->kind->resource);
    return stream_object(s, type, message, err);
}

/* A field of the envelope or, inside of it, of the list; its bytes are complete. */
static int pb_field(struct stream *s, struct view v, struct err *err) {
    struct view version = {"", 0}, kind = {"", 0};
    if (s->in_raw)
        return s->number == 1 ? stream_list_meta(s, v, err) : stream_object(s, WATCH_ADDED, v, err);
    if (s->number == 1) {
        int rc = find_two(v, &version, &kind, err);
        s->saw_kind = true;
        return rc ? rc : stream_check_list_kind(s, kind, err);
    }
    /* 3 is contentEncoding: nobody uses it, and we could not read what it says. */
    return v.len ? fail(err, "an encoding that is not understood") : 0;
}

/* The head of a field has been read: what to do with its bytes. */
static int pb_enter(struct stream *s, uint64_t tag, uint64_t n, struct err *err) {
    s->number = (uint32_t)(tag >> 3);
    s->want = s->skip = 0;
    bool bytes = (tag & 7) == 2;
    if (s->in_raw) {
        uint64_t more = bytes ? n : 0;
        if (s->head_len > s->raw_left || more > s->raw_left - s->head_len)
            return fail(err, "an item is longer than its list");
        s->raw_left -= s->head_len + more;
    }
    if (!bytes)
        return 0;
    if (!s->in_raw && s->number == 2) {
        if (s->saw_raw)
            return fail(err, "two lists in one answer");
        if (!s->saw_kind)
            return fail(err, "a list that does not say of what");
        s->saw_raw = true;
        s->in_raw = n > 0;
        s->raw_left = n;
        return 0;
    }
    bool wanted = s->in_raw ? s->number <= 2 : s->number == 1 || s->number == 3;
    if (!wanted) {
        s->skip = n;
        return 0;
    }
    if (!n)
        return pb_field(s, (struct view){"", 0}, err);
    if (n > (s->in_raw ? (uint64_t)STREAM_OBJECT_MAX : (uint64_t)HEADER_MAX))
        return s->in_raw ? too_large(err) : fail(err, "a header is too long");
    s->want = (size_t)n;
    return 0;
}

static int pb_list(struct stream *s, const char *p, const char *end, struct err *err) {
    int rc;
    while (p < end) {
        if (s->state == P_MAGIC) {
            struct view v = take(s, &p, end, sizeof magic);
            if (!v.p)
                return 0;
            if (memcmp(v.p, magic, sizeof magic) != 0)
                return fail(err, "the magic bytes are missing");
            str_reset(&s->part);
            s->state = P_ENVELOPE;
            continue;
        }
        if (s->skip) {
            size_t n = MIN_OF(s->skip, (size_t)(end - p));
            s->skip -= n;
            p += n;
        } else if (s->want) {
            struct view v = take(s, &p, end, s->want);
            if (!v.p)
                return 0;
            rc = pb_field(s, v, err);
            str_reset(&s->part);
            s->want = 0;
            if (rc)
                return rc;
        } else {
            uint64_t tag, n;
            s->head[s->head_len++] = (unsigned char)*p++;
            int used = parse_head(s->head, s->head_len, &tag, &n);
            if (used < 0 || (used == 0 && s->head_len == sizeof s->head))
                return fail(err, "broken tag");
            if (used == 0)
                continue;
            rc = pb_enter(s, tag, n, err);
            s->head_len = 0;
            if (rc)
                return rc;
        }
        if (s->in_raw && !s->raw_left && !s->want && !s->skip && !s->head_len)
            s->in_raw = false;
    }
    return 0;
}

static int pb_watch(struct stream *s, const char *p, const char *end, struct err *err) {
    while (p < end) {
        if (!s->want) {
            struct view v = take(s, &p, end, 4);
            if (!v.p)
                return 0;
            const unsigned char *b = (const unsigned char *)v.p;
            uint32_t n = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
            str_reset(&s->part);
            if (!n)
                return fail(err, "an empty frame");
            if (n > STREAM_OBJECT_MAX)
                return too_large(err);
            s->want = n;
            continue;
        }
        struct view v = take(s, &p, end, s->want);
        if (!v.p)
            return 0;
        int rc = pb_event(s, v, err);
        str_reset(&s->part);
        s->want = 0;
        if (rc)
            return rc;
    }
    return 0;
}

int stream_pb_feed(struct stream *s, const char *p, size_t len, struct err *err) {
    return s->mode == STREAM_LIST ? pb_list(s, p, p + len, err) : pb_watch(s, p, p + len, err);
}

int stream_pb_end(struct stream *s, struct err *err) {
    bool between = !s->want && !s->skip && !s->head_len && !s->part.len && !s->in_raw;
    if (s->mode == STREAM_WATCH)
        return between ? 0 : err_set(err, EPIPE, "the watch broke off within an event");
    if (s->state == P_MAGIC || !between)
        return err_set(err, EPIPE, "the list broke off before its end");
    return s->saw_raw ? 0 : fail(err, "the answer holds no list");
}
