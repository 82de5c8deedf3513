/* One version of one object, as the simulated server keeps it: its JSON text, and the struct of
 * model/object.h that the text decodes to (metadata alone for kinds without a table). Immutable and
 * counted: the store, its history, snapshots and watches share one copy.
 *
 * The text is compact and begins with kind, apiVersion and metadata, in whose canonical form
 * the first "resourceVersion" is the object's own; so a new version with another status is a
 * splice, not a serialization, and only what was replaced is decoded anew. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/codec.h"
#include "model/object.h"

struct record {
    uint32_t refs;
    uint32_t len;
    uint32_t version_at, version_len; /* the digits of the resourceVersion in the text */
    uint32_t spec_at, spec_len;       /* the value of .spec; 0, 0 when there is none */
    uint32_t status_at, status_len;   /* the same of .status */
    uint64_t version;
    uint8_t marks; /* of pods: sim/fleet/workload.h; 0 until somebody asks */
    const struct kind *kind;
    struct pool *pool;
    struct object *obj; /* its metadata for any kind: obj->meta */
    json_t *body;       /* see record_body(); NULL until somebody asks */
    char json[];
};

/* A record of an object that is a jansson value: sets its metadata.resourceVersion to `version`.
 * The metadata must be in canonical form. Version 0 leaves it out (of dry runs). NULL when the
 * object does not decode: it has more list elements than CODEC_ROOM, or nobody has checked its
 * types. */
struct record *record_of(struct codec *c, const struct kind *kind, json_t *value, uint64_t version,
                         struct err *err);
/* The same object with another status (the text of a JSON value; an empty view removes nothing and
 * keeps the old one) and another version. */
struct record *record_with_status(struct codec *c, const struct record *old, struct view status,
                                  uint64_t version, struct err *err);
/* The same object with `len` bytes of its text at `at`, behind the resourceVersion, replaced. */
struct record *record_splice(struct codec *c, const struct record *old, size_t at, size_t len,
                             struct view with, uint64_t version, struct err *err);
static inline struct record *record_ref(struct record *r) {
    r->refs++;
    return r;
}
void record_unref(struct record *r); /* takes NULL */

static inline struct view record_text(const struct record *r) {
    return (struct view){r->json, r->len};
}
/* A fresh jansson value of the object. */
json_t *record_json(const struct record *r);
/* A fresh jansson value of its status; an empty object when it has none. */
json_t *record_status(const struct record *r);
/* Empty when it has none. */
static inline struct view record_status_text(const struct record *r) {
    return r->status_len ? (struct view){r->json + r->status_at, r->status_len} : (struct view){0};
}
/* The text of a member of its status; empty when there is none. */
struct view record_status_member(struct codec *c, const struct record *r, const char *key);
/* All but metadata and status, to read only. It is made once, and versions that differ in nothing
 * but their status share it: for those who look at an object often, and at few of them. */
const json_t *record_body(struct record *r);
/* body.spec: NULL when there is none. */
const json_t *record_spec(struct record *r);

#define record_as(type, r) ((const struct type *)(r)->obj)

#endif
