/* The shape of Kubernetes' built-in objects, complete: every field of every kind that the simulator
 * serves, with its JSON name, its protobuf number, and how patches merge it. One table (generated
 * into schema_data.c from Kubernetes' own Go types by tools/schema, and judged by Kubernetes' own
 * test data) drives strict decoding, the canonical form that objects are stored in, both directions
 * of protobuf, strategic merge patches and the OpenAPI documents.
 *
 * Unlike model/object.h, which keeps what Slipway decides by, nothing is left out here: a server
 * that forgot a field of a user's object would be no server.
 *
 * Inside the simulator an object is a jansson value while it is worked on, and text otherwise. */
#ifndef SIM_SCHEMA_SCHEMA_H
#define SIM_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

enum schema_kind {
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_DOUBLE,
    SCHEMA_BYTES,     /* base64 in JSON */
    SCHEMA_TIME,      /* RFC 3339, whole seconds */
    SCHEMA_MICROTIME, /* RFC 3339 with microseconds */
    SCHEMA_QUANTITY,
    SCHEMA_INTSTR,
    SCHEMA_RAW,     /* any JSON: RawExtension, FieldsV1, the JSON of a CRD's defaults and enums */
    SCHEMA_STRINGS, /* a list of strings that is a message of its own: ExtraValue */
    SCHEMA_OBJECT,  /* of another schema */
    /* A JSON schema (`of`) or something else; only in CustomResourceDefinitions. */
    SCHEMA_OR_BOOL,
    SCHEMA_OR_LIST,    /* of JSON schemas */
    SCHEMA_OR_STRINGS, /* a list of strings */
};

enum schema_flags {
    SCHEMA_LIST = 1,
    SCHEMA_MAP = 2,       /* string keys */
    SCHEMA_POINTER = 4,   /* present and empty differs from absent */
    SCHEMA_OMITEMPTY = 8, /* Go's encoder leaves the empty value out (its tag may say so and not do
                             it: omitempty means nothing for structs) */
    SCHEMA_INLINE = 16,   /* an object whose fields stand among ours in JSON (nested in protobuf) */
    SCHEMA_MERGE = 32,    /* patchStrategy=merge: lists by merge_key, or as a set of scalars */
    SCHEMA_RETAIN_KEYS = 64, /* patchStrategy=retainKeys */
    SCHEMA_REPLACE = 128,    /* patchStrategy=replace */
    SCHEMA_REQUIRED = 256,   /* in the OpenAPI documents; decoders do not ask for it */
};

struct schema {
    const char *name;                  /* as in OpenAPI: "io.k8s.api.core.v1.Pod" */
    const struct schema_field *fields; /* in the order in which Go prints them */
    const uint8_t *by_name;   /* indexes of those with a key, by its length, then its bytes */
    const uint8_t *by_number; /* indexes of those in the message, by number */
    uint8_t n_fields, n_names, n_numbers;
    uint8_t n_flat; /* keys in JSON: those of inlined objects are counted in */
};

struct schema_field {
    const char *json;        /* "" for SCHEMA_INLINE */
    const struct schema *of; /* of SCHEMA_OBJECT and SCHEMA_OR_... */
    const char *merge_key;   /* of SCHEMA_MERGE lists of objects, else NULL */
    const char *go; /* its type in Go, for errors, where it does not follow from the rest */
    uint16_t pb;    /* 0: not in the message (kind and apiVersion travel in the envelope) */
    uint16_t flags;
    uint8_t kind;
    uint8_t len; /* of `json` */
    uint8_t at;  /* place among the keys of its object, the first one's for SCHEMA_INLINE */
};

/* A kind by its group ("" for core), version and name, or NULL. */
const struct schema *schema_find(const char *group, const char *version, const char *kind);
/* The field that this JSON key names, looking through inlined objects, or NULL. */
const struct schema_field *schema_field(const struct schema *s, const char *key, size_t len);

/* What a decoder noticed beside errors: `unknown field "spec.foo"`. Texts as the real server words
 * them, without its prefix `strict decoding error: `; heap strings. */
struct schema_notes {
    VEC(char *) texts;
};
void schema_notes_done(struct schema_notes *n);

/* A value as the server would give it back: decoded into Go's types, written to its store as
 * protobuf, read from there, and printed. Unknown fields are dropped (and noted), nulls and empty
 * values of omitempty fields are dropped, zero values of the others written (and lists without
 * elements as null, since protobuf does not tell them from none), quantities and times in canonical
 * form, keys of structs in the table's order and of maps sorted. Returns a new value, which shares
 * nothing with the given one.
 *
 * -EINVAL with the text of Kubernetes' decoder when a value has the wrong type ("json: cannot
 * unmarshal string into Go struct field ..."). `notes` may be NULL; duplicate members are noted by
 * text_read() (text_read.h), since a value has none. */
int schema_canonical(const struct schema *s, const json_t *value, json_t **out,
                     struct schema_notes *notes, struct err *err);

/* One object's message (without magic and envelope), appended to `out`, from the text of an object
 * in canonical form as text_value() (text.h) prints it. Fast: no tree is built. -EINVAL, and
 * nothing appended, when the text is anything else. */
int schema_to_pb(const struct schema *s, struct view json, struct str *out, struct err *err);
/* The object in a message, in canonical form (without kind and apiVersion). Total: hostile bytes
 * give an error, -EBADMSG or -EINVAL. */
int schema_from_pb(const struct schema *s, struct view message, json_t **out, struct err *err);

#endif
