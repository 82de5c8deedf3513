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
    int verbose; /* kubectl's levels: of use are 0 to 10 */
    bool quiet, help, version;
};
extern const struct option_group general_options;

/* Verbs that talk to a cluster: all of kubectl's global flags (`kubectl options`, 1.36), and ours.
 * Those that mean nothing here are accepted, so that a script that uses them goes on working, and
 * hidden. */
struct connection_opts {
    struct kube_config_flags flags;
    int64_t request_timeout; /* microseconds, 0: none */
    bool warnings_as_errors;
    bool match_version; /* --match-server-version */
    struct {
        const char *text;
        int64_t time;
    } ignored; /* flags of kubectl's that mean nothing here */
};
extern const struct option_group connection_options;
/* Whether the word can only be the address of a server, and no node's name: it has a scheme or a
 * port, or is the empty text that hides the environment's. */
bool connection_is_address(const char *word);

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

/* -v as a level of the log: 1 to 3 info, 4 to 7 debug, 8 and more trace. What goes over the wire is
 * traced in kubectl's words from 6 on (kube/curl_trace.h). */
int general_log_level(const struct general_opts *o);

#endif
