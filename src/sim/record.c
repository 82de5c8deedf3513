/* Texts of objects: made, spliced, decoded. */
#include "sim/record.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static int add_text(const char *p, size_t len, void *out) {
    str_addn(out, p, len);
    return 0;
}

void json_dump_text(const json_t *value, struct str *out) {
    json_dump_callback(value, add_text, out, JSON_COMPACT | JSON_ENCODE_ANY);
}

static const struct view version_key = VIEW("\"resourceVersion\":\"");

/* Takes a text with the right version in it, and finds its places. */
static struct record *make(struct codec *c, const struct kind *kind, const struct str *text,
                           uint64_t version, struct err *err) {
    struct record *r = xmalloc(sizeof *r + text->len + 1);
    *r = (struct record){
        .refs = 1,
        .len = (uint32_t)text->len,
        .version = version,
        .kind = kind,
        .pool = c->pool,
        .obj = object_new(kind),
    };
    memcpy(r->json, str_get(text), text->len + 1);
    const char *at = memmem(r->json, r->len, version_key.p, version_key.len);
    if (at) { /* what was never stored has none */
        r->version_at = (uint32_t)(at + version_key.len - r->json);
        r->version_len = (uint32_t)strspn(r->json + r->version_at, "0123456789");
    }
    struct view status = {0};
    if (codec_json_find(c, record_text(r), &VIEW("status"), 1, &status, err) ||
        codec_json(c, kind->type, record_text(r), r->obj, err)) {
        record_unref(r);
        return NULL;
    }
    if (status.p) {
        r->status_at = (uint32_t)(status.p - r->json);
        r->status_len = (uint32_t)status.len;
    }
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

struct record *record_of(struct codec *c, const struct kind *kind, json_t *value, uint64_t version,
                         struct err *err) {
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, version);
    if (version)
        set_version(value, digits);
    _cleanup_str_ struct str text = STR_INIT;
    json_dump_text(value, &text);
    return make(c, kind, &text, version, err);
}

struct record *record_splice(struct codec *c, const struct record *old, size_t at, size_t len,
                             struct view with, uint64_t version, struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    size_t rest = old->version_at + old->version_len;
    assert(at >= rest && at + len <= old->len);
    str_reserve(&text, old->len + with.len + 32);
    str_addn(&text, old->json, old->version_at);
    str_addf(&text, "%" PRIu64, version);
    str_addn(&text, old->json + rest, at - rest);
    str_addn(&text, with.p, with.len);
    str_addn(&text, old->json + at + len, old->len - at - len);
    return make(c, old->kind, &text, version, err);
}

struct record *record_with_status(struct codec *c, const struct record *old, struct view status,
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

void record_unref(struct record *r) {
    if (!r || --r->refs)
        return;
    object_free(r->kind, r->pool, r->obj);
    free(r);
}

json_t *record_json(const struct record *r) {
    json_t *v = json_loadb(r->json, r->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert(v);
    return v;
}
