/* Inside: the state of a decoding (canonical.c), its complaints, and its values that are no
 * objects.
 *
 * The model is sigs.k8s.io/json (a copy of Go's encoding/json that knows strictness). A value of
 * the wrong type is complained of and skipped, and the first complaint is the error in the end; but
 * a type with a decoder of its own (times, quantities, ...) ends the decoding at once with its
 * error. */
#ifndef SIM_SCHEMA_DECODER_H
#define SIM_SCHEMA_DECODER_H

#include "sim/schema/schema.h"

/* "json: cannot unmarshal <value> into Go struct field <holder>.<field> of type <type>", in pieces:
 * a decoder within a decoder has its field put behind that of the outer one. */
struct complaint {
    char *value, *field, *type;
    const struct schema *holder;
    char *text; /* instead of all that: an error that has no field */
};

struct decoder {
    struct schema_notes *notes; /* may be NULL */
    struct complaint first;
    bool complained, ended;
    const struct schema *holder; /* of the field that is decoded, NULL at the top */
    struct str stack;            /* "spec.containers.image": for complaints */
    struct str path;             /* "spec.containers[0].image": for notes */
    int depth;
    size_t elements; /* of all lists and maps */
};

void decoder_done(struct decoder *d);

/* Adds a name behind a dot, and takes it away again. */
void decoder_push(struct str *s, const char *name, size_t len);
void decoder_cut(struct str *s, size_t len);

/* Where decoding is right now, a value has the wrong type. `value` is what it is ("string", "number
 * 1.5"); both texts are taken over. */
void decoder_wrong_type(struct decoder *d, char *value, char *type, bool ends);
/* An error without a field; the text is taken over. */
void decoder_wrong(struct decoder *d, char *text, bool ends);
/* Notes a member that no field is for. The server keeps 100 and no one twice. */
void decoder_unknown(struct decoder *d, const char *key, size_t len);
/* Counts an element of a list or map; false, and the decoding ends, when there are too many. */
bool decoder_count(struct decoder *d);
/* What an inner decoder complained of, as the outer one's end. */
void decoder_adopt(struct decoder *d, struct decoder *inner);
/* The first complaint; only if there is one. */
int decoder_error(const struct decoder *d, struct err *err);

/* Names of types in Go, heap strings: of a field, and of an element where that is a list or map. */
char *decoder_whole_type(const struct schema_field *f);
char *decoder_element_type(const struct schema_field *f);
char *decoder_object_type(const struct schema *s);
/* "string", "number", "object", ...: a heap string. */
char *decoder_value_name(const json_t *v);
/* The last part of an OpenAPI name: "Pod". */
const char *decoder_short_name(const struct schema *s);

/* A value that is neither null, nor an object, nor something with JSON schemas in it. NULL is the
 * zero value, and what was complained of. */
json_t *scalar_decode(struct decoder *d, const struct schema_field *f, const json_t *v);
/* A list of strings that is no field; `type` is its name in Go. NULL when it is empty. */
json_t *scalar_strings(struct decoder *d, const json_t *v, const char *type);

#endif
