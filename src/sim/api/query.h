/* The part of a request's target behind the question mark: pairs, percent-decoded, and the options
 * that Kubernetes' verbs read from it. */
#ifndef SIM_API_QUERY_H
#define SIM_API_QUERY_H

#include "base/arena.h"
#include "base/vec.h"
#include "sim/api/failure.h"

struct query_pair {
    const char *key, *value;
};

struct query {
    struct arena arena;
    VEC(struct query_pair) pairs;
};

#define _cleanup_query_ __attribute__((cleanup(query_done)))
void query_parse(struct query *q, const char *text);
void query_done(struct query *q);
/* The first value, or NULL. */
const char *query_get(const struct query *q, const char *key);

/* Percent-decodes `len` bytes; false when an escape is malformed. NUL is refused too, or (of
 * queries, where `plus` is a blank) becomes another character that nothing may contain. */
bool url_decode(struct arena *arena, const char *p, size_t len, bool plus, char **out);

enum version_match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER };

/* metav1.ListOptions. Strings belong to the query; NULL when absent. */
struct list_options {
    const char *labels, *fields;
    bool watch, bookmarks, initial_events, initial_events_set;
    const char *version; /* resourceVersion */
    enum version_match match;
    int64_t timeout; /* seconds; ABSENT64: not given */
    int64_t limit;
    const char *token; /* continue */
};
/* Parses and checks the combination, with the server's words (400, 422). `kind` and `group` name
 * the list for the message of a 422. */
int query_list_options(const struct query *q, struct list_options *out, struct failure *f);

/* A resourceVersion: 0 for NULL, "" and "0". When it is no number, a failure with this code: the
 * server answers 400 to lists and 500 to the rest. */
int version_parse(const char *text, int code, uint64_t *out, struct failure *f);

/* What writes have in common. */
enum field_validation { VALIDATE_WARN, VALIDATE_IGNORE, VALIDATE_STRICT };
struct write_options {
    bool dry_run;
    size_t n_dry_run; /* how often it was given */
    enum field_validation validation;
};
/* `kind` is "CreateOptions", "UpdateOptions" or "PatchOptions": of the message. */
int query_write_options(const struct query *q, const char *kind, struct write_options *out,
                        struct failure *f);

#endif
