/* The body of a request: from bytes to a value. */
#ifndef SIM_API_BODY_H
#define SIM_API_BODY_H

#include "sim/api/api_internal.h"

/* As Go's decoder names a value's type. */
const char *json_type_go(const json_t *v);

/* 415 unless the body is of a type that can be read; a POST is refused for this before anything
 * else. `schema` as below. */
int body_check_type(const struct call *c, const struct schema *schema, struct failure *f);

/* Reads the body as JSON, YAML or protobuf, by its Content-Type (JSON when there is none; 415 for
 * any other). `schema` decodes protobuf; NULL when there is none, then protobuf is a 415. */
int body_read(struct call *c, const struct schema *schema, json_t **out, struct failure *f);

/* Puts a stand-in for NUL where C's strings would end at it; what is said about it names NUL all
 * the same. For every object that comes from outside, a patched one too. */
void body_tame(struct call *c, json_t *obj);

/* Checks kind and apiVersion of the body, which should be an object of this kind, filling them in
 * when they are missing. */
int body_check_kind(const struct call *c, json_t *obj, const char *group, const char *version,
                    const char *kind, struct failure *f);
/* The same for what a patch has left; the message is the decoder's alone, without the handler's. */
int body_check_patched(json_t *obj, const char *group, const char *version, const char *kind,
                       struct failure *f);

/* Fills in what is missing; another kind is left to the validation, another version is a 400: of
 * custom resources. */
int body_fill_kind(json_t *obj, const char *group, const char *version, const char *kind,
                   struct failure *f);

/* body_read(), body_check_kind() and rules_decode(), and what fieldValidation makes of unknown
 * fields: 400, a warning, or nothing. */
int body_object(struct call *c, const struct resource *res, enum field_validation validation,
                json_t **out, struct failure *f);
/* What the handler puts before a decoder's complaint about an object of this kind; heap. */
char *body_prefix(const char *version, const char *kind);
/* What the notes of a decoder mean under this validation. */
int body_notes(struct call *c, const char *prefix, enum field_validation validation,
               const struct schema_notes *notes, struct failure *f);

/* DeleteOptions from the body or the query. */
struct delete_options;
int body_delete_options(struct call *c, struct delete_options *out, bool *dry_run,
                        struct failure *f);
int delete_options_of(struct call *c, const json_t *value, struct delete_options *out,
                      bool *dry_run, struct failure *f);

#endif
