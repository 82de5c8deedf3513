/* The groups of options that verbs share, and the structs that they fill. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/term.h"
#include "kube/config.h"

/* Every verb has these. */
struct general_opts {
    int color;   /* enum color_when */
    int verbose; /* 0 to 10, kubectl's levels */
    bool quiet, help, version;
};
extern const struct option_group general_options;

/* Verbs that talk to a cluster. */
struct connection_opts {
    struct kube_config_flags flags;
    int64_t request_timeout; /* microseconds, 0: none */
};
extern const struct option_group connection_options;

/* Verbs that print a result: json, yaml, jsonpath and so on, without rows. */
struct document_opts {
    struct output_format format;
};
extern const struct option_group document_options;

/* Verbs that print rows. */
struct output_opts {
    struct output_format format;
    const char *selector;
    bool no_headers, watch, utc;
};
extern const struct option_group output_options;

/* -v as a level of the log: 1 to 3 info, 4 to 7 debug, 8 and more trace. */
int general_log_level(const struct general_opts *o);

#endif
