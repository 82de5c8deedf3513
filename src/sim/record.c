/* Texts of objects: made, spliced, decoded. */
#include "sim/record.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

static const struct view version_key = VIEW("\"resourceVersion\":\"");

static void set_place(struct record *r, struct view part, uint32_t *at, uint32_t *len) {
    if (!part.p)
        return;
    *at = (uint32_t)(part.p - r->json);
    *len = (uint32_t)part.len;
}

/* Finds the places in a text that has the right version in it, and decodes it. Takes the record. */
static struct record *decode(struct codec *c, struct record *r, struct err *err) {
    const char *at = memmem(r->json, r->len, version_key.p, version_key.len);
    if (at) { /* what was never stored has none */
        r->version_at = (uint32_t)(at + version_key.len - r->json);
        r->version_len = (uint32_t)strspn(r->json + r->version_at, "0123456789");
    }
    const struct view keys[] = {VIEW("spec"), VIEW("status")};
    struct view parts[2] = {0};
    r->obj = object_new(r->kind);
    if (codec_json_find(c, record_text(r), keys, 2, parts, err) ||
        codec_json(c, r->kind->type, record_text(r), r->obj, err)) {
        record_unref(r);
        return NULL;
    }
    set_place(r, parts[0], &r->spec_at, &r->spec_len);
    set_place(r, parts[1], &r->status_at, &r->status_len);
    return r;
}

/* With room for a text of this length. */
static struct record *blank(struct codec *c, const struct kind *kind, size_t len,
                            uint64_t version) {
    struct record *r = xmalloc(sizeof *r + len + 1);
    *r = (struct record){
        .refs = 1, .len = (uint32_t)len, .version = version, .kind = kind, .pool = c->pool};
    r->json[len] = 0;
    return r;
}

/* In its canonical place: after the uid, before all else. */
static void set_version(json_t *value, const char *digits) {
    static const char *const before[] = {"name", "generateName", "namespace", "selfLink", "uid"};
    json_t *meta = json_object_get(value, "metadata");
    if (json_object_get(meta, "resourceVersion")) {
        json_object_set_new(meta, "resourceVersion", json_string(digits));
        return;
    }
    json_t *sorted = json_object();
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        json_t *v = json_object_get(meta, before[i]);
        if (v)
            json_object_set(sorted, before[i], v);
    }
    json_object_set_new(sorted, "resourceVersion", json_string(digits));
    json_object_update_missing(sorted, meta);
    json_object_set_new(value, "metadata", sorted);
}

/* Can it be read again? Patches may have made it larger and deeper than any body that came in. */
static bool readable(const json_t *v, int depth, size_t *parts) {
    const char *key;
    json_t *item;
    size_t i;
    if (!json_is_object(v) && !json_is_array(v))
        return true;
    if (depth >= TEXT_DEPTH || ++*parts > TEXT_MOST_PARTS)
        return false;
    json_object_foreach((json_t *)v, key, item) if (!readable(item, depth + 1, parts)) return false;
    json_array_foreach(v, i, item) if (!readable(item, depth + 1, parts)) return false;
    return true;
}

struct record *record_of(struct codec *c, const struct kind *kind, json_t *value, uint64_t version,
                         struct err *err) {
    char digits[24];
    size_t parts = 0;
    if (!readable(value, 0, &parts)) {
        err_set(err, EINVAL, "the object has more lists and objects in it than any object has");
        return NULL;
    }
    (void)snprintf(digits, sizeof digits, "%" PRIu64, version);
    if (version)
        set_version(value, digits);
    _cleanup_str_ struct str text = STR_INIT;
    text_value(value, &text);
    struct record *r = blank(c, kind, text.len, version);
    memcpy(r->json, str_get(&text), text.len);
    return decode(c, r, err);
}

static bool within(const struct record *r, size_t at, size_t len, uint32_t part_at,
                   uint32_t part_len) {
    return part_len && at >= part_at && at + len <= (size_t)part_at + part_len && r->version_len;
}

struct record *record_splice(struct codec *c, const struct record *old, size_t at, size_t len,
                             struct view with, uint64_t version, struct err *err) {
    char digits[24];
    size_t rest = old->version_at + old->version_len;
    uint32_t n = (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, version);
    assert(at >= rest && at + len <= old->len);
    struct record *r =
        blank(c, old->kind, old->len - old->version_len + n - len + with.len, version);
    char *p = r->json;
    p = mempcpy(p, old->json, old->version_at);
    p = mempcpy(p, digits, n);
    p = mempcpy(p, old->json + rest, at - rest);
    p = with.len ? mempcpy(p, with.p, with.len) : p;
    memcpy(p, old->json + at + len, old->len - at - len);

    bool in_spec = within(old, at, len, old->spec_at, old->spec_len);
    bool in_status = within(old, at, len, old->status_at, old->status_len);
    if (!in_spec && !in_status)
        return decode(c, r, err);
    /* Unsigned arithmetic: what shrinks wraps around and back. */
    uint32_t shift = n - old->version_len, grown = (uint32_t)with.len - (uint32_t)len;
    r->version_at = old->version_at;
    r->version_len = n;
    r->spec_at = old->spec_at + (old->spec_len ? shift : 0);
    r->spec_len = old->spec_len + (in_spec ? grown : 0);
    r->status_at = old->status_at + (old->status_len ? shift : 0);
    r->status_len = old->status_len + (in_status ? grown : 0);
    if (in_spec && old->status_at > old->spec_at)
        r->status_at += grown;
    if (in_status && old->spec_at > old->status_at)
        r->spec_at += grown;
    struct view key = in_spec ? VIEW("spec") : VIEW("status");
    struct view part = in_spec ? (struct view){r->json + r->spec_at, r->spec_len}
                               : (struct view){r->json + r->status_at, r->status_len};
    r->obj = object_copy(r->kind, old->obj);
    codec_set(c, &r->obj->meta.version, pool_str(c->pool, digits, n));
    int rc = codec_json_member(c, r->kind->type, key, part, r->obj, err);
    if (rc == -ENOENT) {
        object_free(r->kind, r->pool, r->obj);
        return decode(c, r, err);
    }
    if (rc) {
        record_unref(r);
        return NULL;
    }
    return r;
}

static struct record *splice_status(struct codec *c, const struct record *old, struct view status,
                                    uint64_t version, struct err *err) {
    if (!status.len)
        return record_splice(c, old, old->len, 0, status, version, err);
    if (old->status_len)
        return record_splice(c, old, old->status_at, old->status_len, status, version, err);
    _cleanup_str_ struct str member = STR_INIT;
    str_add(&member, ",\"status\":");
    str_addn(&member, status.p, status.len);
    return record_splice(c, old, old->len - 1, 0, (struct view){member.p, member.len}, version,
                         err);
}

struct record *record_with_status(struct codec *c, const struct record *old, struct view status,
                                  uint64_t version, struct err *err) {
    struct record *r = splice_status(c, old, status, version, err);
    if (r)
        r->body = json_incref(old->body);
    return r;
}

void record_unref(struct record *r) {
    if (!r || --r->refs)
        return;
    json_decref(r->body);
    object_free(r->kind, r->pool, r->obj);
    free(r);
}

static json_t *load(const char *text, size_t len) {
    json_t *v = NULL;
    /* What stands here was read by the same reader, or is smaller than what was. */
    int rc = text_read((struct view){text, len}, NULL, &v, NULL);
    assert(rc == 0 && v);
    (void)rc;
    return v;
}

json_t *record_json(const struct record *r) {
    return load(r->json, r->len);
}

json_t *record_status(const struct record *r) {
    return r->status_len ? load(r->json + r->status_at, r->status_len) : json_object();
}

struct view record_status_member(struct codec *c, const struct record *r, const char *key) {
    struct view found = {0}, wanted = view_of(key);
    if (r->status_len)
        (void)codec_json_find(c, (struct view){r->json + r->status_at, r->status_len}, &wanted, 1,
                              &found, NULL);
    return found;
}

const json_t *record_body(struct record *r) {
    if (!r->body) {
        r->body = record_json(r);
        json_object_del(r->body, "metadata");
        json_object_del(r->body, "status");
    }
    return r->body;
}

const json_t *record_spec(struct record *r) {
    return json_object_get(record_body(r), "spec");
}
