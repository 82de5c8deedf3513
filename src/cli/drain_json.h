/* A drain as events, one JSON object a line: the schema slipway.events/1.0, docs/events-stream.md.
 *
 * The first line is of type hello, the last one of type summary. Every line has type, seq (from 1,
 * without gaps), ts (which never goes back) and run. Texts are what they are, whatever bytes they
 * come with; a line is always valid JSON and never contains a newline. Pure: lines are appended. */
#ifndef CLI_DRAIN_JSON_H
#define CLI_DRAIN_JSON_H

#include "base/log.h"
#include "base/str.h"
#include "engine/drain.h"

#define EVENTS_SCHEMA "slipway.events/1.0"

struct drain_json {
    const char *run;   /* the name of this run; the caller's */
    uint64_t seq;      /* of the last line */
    int64_t last;      /* time of the last line */
    const char *error; /* for the summary: what ended it before it began; "" or NULL */
};

void drain_json_hello(struct drain_json *j, int64_t now, bool dry_run, struct str *out);
/* A node as it is, without a transition. */
void drain_json_node(struct drain_json *j, const struct drain_node *n, int64_t now,
                     struct str *out);
void drain_json_note(struct drain_json *j, const struct drain_note *note, struct str *out);
void drain_json_log(struct drain_json *j, enum log_level level, const char *text, int64_t now,
                    struct str *out);
void drain_json_summary(struct drain_json *j, const struct drain_node *const *nodes, size_t n,
                        int exit_code, int64_t started, int64_t now, struct str *out);

#endif
