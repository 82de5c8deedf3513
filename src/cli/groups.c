/* The groups of options that verbs share. */
#include "cli/groups.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "cli/govalue.h"

static const char *const color_words[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

#define FIELD(member) offsetof(struct general_opts, member)
const struct option_group general_options = {
    "General options",
    (const struct option[]){
        {.name = "color",
         .kind = OPTION_ENUM,
         .offset = FIELD(color),
         .arg = "WHEN",
         .initial = "auto",
         .env = "SLIPWAY_COLOR",
         .words = color_words,
         .hint = HINT_WORDS,
         .help = "Colour: auto, always or never. auto is: on a terminal, unless NO_COLOR is set"},
        {.name = "verbose",
         .letter = 'v',
         .kind = OPTION_INT,
         .offset = FIELD(verbose),
         .arg = "N",
         .implied = "1",
         .called = "-v, --v",
         .env = "SLIPWAY_VERBOSE",
         .min = INT_MIN,
         .max = INT_MAX,
         .help = "Say more on standard error: 1 what is done, 4 every request; 6 to 10 show "
                 "requests as kubectl does, from 8 on with everything that is sent"},
        {.name = "v",
         .kind = OPTION_INT,
         .offset = FIELD(verbose),
         .arg = "N",
         .implied = "1",
         .called = "-v, --v",
         .min = INT_MIN,
         .max = INT_MAX,
         .hidden = true,
         .help = "The same as --verbose, as kubectl spells it"},
        {.name = "quiet",
         .letter = 'q',
         .kind = OPTION_FLAG,
         .offset = FIELD(quiet),
         .env = "SLIPWAY_QUIET",
         .help = "Only errors on standard error"},
        {.name = "help",
         .letter = 'h',
         .kind = OPTION_FLAG,
         .offset = FIELD(help),
         .stops = true,
         .help = "Explain the verb and its flags"},
        {.name = "version",
         .kind = OPTION_FLAG,
         .offset = FIELD(version),
         .stops = true,
         .help = "Print the version of the program"},
        {0}}};
#undef FIELD

/* kubectl's own words, whatever is wrong with it. */
static int parse_request_timeout(const char *text, struct arena *arena, void *field,
                                 struct err *err) {
    (void)arena;
    if (!govalue_duration(text, true, field, NULL))
        return 0;
    return err_set(err, EINVAL,
                   "Invalid timeout value. Timeout must be a single integer in seconds, or an "
                   "integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)");
}

bool connection_is_address(const char *word) {
    const char *colon = strrchr(word, ':');
    if (!*word || strstr(word, "://"))
        return true;
    return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

#define FIELD(member) offsetof(struct connection_opts, member)
#define IGNORED(name_, kind_, member)                                                              \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .offset = FIELD(ignored.member),                         \
        .arg = (kind_) == OPTION_FLAG ? NULL : "VALUE", .hidden = true,                            \
        .help = "Accepted because kubectl has it; it means nothing here"                           \
    }
const struct option_group connection_options = {
    "Connection options",
    (const struct option[]){
        {.name = "kubeconfig",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.kubeconfig),
         .arg = "FILE",
         .env = "SLIPWAY_KUBECONFIG",
         .hint = HINT_FILE,
         .help = "Read this kubeconfig instead of the files in KUBECONFIG or ~/.kube/config"},
        {.name = "context",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.context),
         .arg = "NAME",
         .env = "SLIPWAY_CONTEXT",
         .hint = HINT_CONTEXT,
         .help = "Use this context of the kubeconfig"},
        {.name = "cluster",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.cluster),
         .arg = "NAME",
         .env = "SLIPWAY_CLUSTER",
         .help = "Use this cluster of the kubeconfig"},
        {.name = "user",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.user),
         .arg = "NAME",
         .env = "SLIPWAY_USER",
         .help = "Use this user of the kubeconfig"},
        {.name = "namespace",
         .letter = 'n',
         .kind = OPTION_STRING,
         .offset = FIELD(flags.ns),
         .arg = "NAME",
         .env = "SLIPWAY_NAMESPACE",
         .hint = HINT_NAMESPACE,
         .help = "The namespace, where one is needed"},
        {.name = "server",
         .letter = 's',
         .kind = OPTION_STRING,
         .offset = FIELD(flags.server),
         .arg = "URL",
         .env = "SLIPWAY_SERVER",
         .advice = "It is the address of the API server: https://HOST:PORT or HOST:PORT. Its dry "
                   "run is --dry-run=server, of 'plan' and of the verbs that change something.",
         .help = "Address of the API server"},
        {.name = "token",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.token),
         .arg = "TOKEN",
         .env = "SLIPWAY_TOKEN",
         .help = "Bearer token. Others on this machine can see it; prefer --token-file"},
        {.name = "token-file",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.token_file),
         .arg = "FILE",
         .env = "SLIPWAY_TOKEN_FILE",
         .hint = HINT_FILE,
         .help = "Bearer token from a file, which is read again when it changes"},
        {.name = "username",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.username),
         .arg = "NAME",
         .env = "SLIPWAY_USERNAME",
         .help = "User name for basic authentication"},
        {.name = "password",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.password),
         .arg = "PASSWORD",
         .env = "SLIPWAY_PASSWORD",
         .help = "Password for basic authentication. Others on this machine can see it"},
        {.name = "as",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.as_user),
         .arg = "USER",
         .env = "SLIPWAY_AS",
         .help = "Act as this user (impersonation)"},
        {.name = "as-uid",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.as_uid),
         .arg = "UID",
         .env = "SLIPWAY_AS_UID",
         .help = "Act with this UID"},
        {.name = "as-group",
         .kind = OPTION_LIST,
         .offset = FIELD(flags.as_groups),
         .arg = "GROUP",
         .env = "SLIPWAY_AS_GROUP",
         .help = "Act as a member of this group; may be given several times"},
        {.name = "as-user-extra",
         .kind = OPTION_LIST,
         .offset = FIELD(flags.as_extra),
         .arg = "KEY=VALUE",
         .env = "SLIPWAY_AS_USER_EXTRA",
         .help = "Act with this extra attribute; may be given several times"},
        {.name = "certificate-authority",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.certificate_authority),
         .arg = "FILE",
         .env = "SLIPWAY_CERTIFICATE_AUTHORITY",
         .hint = HINT_FILE,
         .help = "Certificate authority that the server's certificate must come from"},
        {.name = "client-certificate",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.client_certificate),
         .arg = "FILE",
         .env = "SLIPWAY_CLIENT_CERTIFICATE",
         .hint = HINT_FILE,
         .help = "Client certificate"},
        {.name = "client-key",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.client_key),
         .arg = "FILE",
         .env = "SLIPWAY_CLIENT_KEY",
         .hint = HINT_FILE,
         .help = "Key of the client certificate"},
        {.name = "tls-server-name",
         .kind = OPTION_STRING,
         .offset = FIELD(flags.tls_server_name),
         .arg = "NAME",
         .env = "SLIPWAY_TLS_SERVER_NAME",
         .help = "Name that the server's certificate must have, if not that of its address"},
        {.name = "insecure-skip-tls-verify",
         .kind = OPTION_FLAG,
         .offset = FIELD(flags.insecure),
         .env = "SLIPWAY_INSECURE_SKIP_TLS_VERIFY",
         .help = "Do not check the server's certificate. Whoever is in between can read and change "
                 "everything"},
        {.name = "request-timeout",
         .kind = OPTION_PARSED,
         .offset = FIELD(request_timeout),
         .arg = "DURATION",
         .initial = "0",
         .env = "SLIPWAY_REQUEST_TIMEOUT",
         .late = true,
         .parse = parse_request_timeout,
         .help = "Give up on a single request after this long (1s, 2m); 0 is never"},
        {.name = "disable-compression",
         .kind = OPTION_FLAG,
         .offset = FIELD(flags.disable_compression),
         .env = "SLIPWAY_DISABLE_COMPRESSION",
         .help = "Accepted because kubectl has it; compressed answers are never asked for"},
        {.name = "warnings-as-errors",
         .kind = OPTION_FLAG,
         .offset = FIELD(warnings_as_errors),
         .env = "SLIPWAY_WARNINGS_AS_ERRORS",
         .help = "Fail in the end when the server has sent a warning"},
        /* kubectl asks for its own version to the letter, which no other program can have. */
        {.name = "match-server-version",
         .kind = OPTION_FLAG,
         .offset = FIELD(match_version),
         .help = "Do nothing unless the server's version is one of those that this program was "
                 "tested with ('{prog} doctor' names them)"},
        /* What kubectl keeps on disk, how it is measured, and how klog writes. */
        IGNORED("cache-dir", OPTION_STRING, text),
        IGNORED("kuberc", OPTION_STRING, text),
        IGNORED("profile", OPTION_STRING, text),
        IGNORED("profile-output", OPTION_STRING, text),
        IGNORED("log-flush-frequency", OPTION_DURATION, time),
        IGNORED("vmodule", OPTION_STRING, text),
        {0}}};
#undef IGNORED
#undef FIELD

const struct option_group document_options = {
    "Output options", (const struct option[]){{.name = "output",
                                               .letter = 'o',
                                               .kind = OPTION_PARSED,
                                               .offset = offsetof(struct document_opts, format),
                                               .arg = "FORMAT",
                                               .words = output_document_words,
                                               .hint = HINT_WORDS,
                                               .parse = output_parse_document,
                                               .help = "Format: json, yaml or jsonpath=TEMPLATE"},
                                              {0}}};

#define FIELD(member) offsetof(struct output_opts, member)
const struct option_group output_options = {
    "Output options",
    (const struct option[]){
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_PARSED,
         .offset = FIELD(format),
         .arg = "FORMAT",
         .env = "SLIPWAY_OUTPUT",
         .words = output_words,
         .hint = HINT_WORDS,
         .parse = output_parse,
         .help = "Format: wide, name, json, yaml, jsonpath=TEMPLATE or custom-columns=SPEC; "
                 "'{prog} help output' explains them"},
        {.name = "no-headers",
         .kind = OPTION_FLAG,
         .offset = FIELD(no_headers),
         .env = "SLIPWAY_NO_HEADERS",
         .help = "Leave out the headings of the table"},
        {.name = "selector",
         .letter = 'l',
         .kind = OPTION_STRING,
         .offset = FIELD(selector),
         .arg = "SELECTOR",
         .help = "Only what has these labels: key=value,key!=value,key in (a,b),!key"},
        {.name = "watch",
         .letter = 'w',
         .kind = OPTION_FLAG,
         .offset = FIELD(watch),
         .help = "Stay and print what changes"},
        {.name = "utc",
         .kind = OPTION_FLAG,
         .offset = FIELD(utc),
         .env = "SLIPWAY_UTC",
         .help = "Times of day in UTC instead of ages"},
        {0}}};
#undef FIELD

int general_log_level(const struct general_opts *o) {
    if (o->quiet)
        return LOG_ERROR;
    return o->verbose >= 8   ? LOG_TRACE
           : o->verbose >= 4 ? LOG_DEBUG
           : o->verbose > 0  ? LOG_INFO
                             : LOG_WARN;
}
