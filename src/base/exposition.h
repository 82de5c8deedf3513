/* Metrics as text, in the two forms that Prometheus and its like read: the plain one (0.0.4) and
 * OpenMetrics 1.0.
 *
 *     exposition_family(&e, "slipway_leader", EXPOSE_GAUGE, "Whether this replica leads.");
 *     exposition_sample(&e, "", labels, n_labels, 1);
 *     ...
 *     exposition_end(&e);
 *
 * All samples of a family follow it. Values of labels may be anything; names are the caller's, and
 * are right. What differs between the two forms is the writer's business. */
#ifndef BASE_EXPOSITION_H
#define BASE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define EXPOSITION_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define EXPOSITION_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum exposition_type {
    EXPOSE_GAUGE,
    EXPOSE_COUNTER, /* its name ends with _total */
    EXPOSE_HISTOGRAM,
    EXPOSE_UNKNOWN, /* names of others, which follow no rule */
};

struct exposition {
    struct str *out;
    bool open; /* OpenMetrics */
    const char *name;
};

struct exposition_label {
    const char *name, *value;
};

void exposition_init(struct exposition *e, struct str *out, bool open);
void exposition_family(struct exposition *e, const char *name, enum exposition_type type,
                       const char *help);
/* `suffix`: "_bucket", "_sum" and "_count" of a histogram, else "". */
void exposition_sample(struct exposition *e, const char *suffix,
                       const struct exposition_label *labels, size_t n, double value);
void exposition_end(struct exposition *e);

/* A bound as it is written in the label `le`. */
void exposition_number(const struct exposition *e, double value, struct str *out);

/* Whether a client that sends this Accept wants OpenMetrics; NULL: it has sent none. */
bool exposition_wants_open(const char *accept);

#endif
