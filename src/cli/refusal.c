/* What kubectl says when the API server refuses something or cannot be reached. */
#include "cli/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "kube/config_words.h"

/* The reasons of Kubernetes' Status (StatusReason) where an outcome leaves no choice. */
static const char *reason_of(enum kube_outcome outcome) {
    switch (outcome) {
    case KUBE_NOT_FOUND:
        return "NotFound";
    case KUBE_FORBIDDEN:
        return "Forbidden";
    case KUBE_INVALID:
        return "BadRequest";
    case KUBE_UNSUPPORTED:
        return "MethodNotAllowed";
    case KUBE_NOT_YET:
    case KUBE_THROTTLED:
        return "TooManyRequests";
    case KUBE_EXPIRED:
        return "Expired";
    case KUBE_TOO_NEW:
    case KUBE_TIMED_OUT:
        return "Timeout";
    default:
        return NULL;
    }
}

static bool from_server(struct session *s, enum kube_outcome outcome, const char *reason,
                        const char *message) {
    const struct kube_config *config = s->conn.config;
    const char *why = reason ? reason : reason_of(outcome);
    if (!why)
        return false;
    cli_refuse(s->cli, session_code(outcome), "Error from server%s%s%s: %s", *why ? " (" : "", why,
               *why ? ")" : "", message);
    /* Since Kubernetes 1.19 API servers do not even look at a password. */
    if (outcome == KUBE_FORBIDDEN && config->username && strstr(message, "system:anonymous"))
        cli_advise(s->cli, "%s takes no username and password, which are all that there is%s%s",
                   config->server, config->user ? " for user " : "", strna(config->user));
    return true;
}

static void unauthorized(struct session *s, const char *message) {
    _cleanup_free_ char *who = session_credentials(s);
    cli_fail(s->cli, EXIT_ACCESS, "You must be logged in to the server (%s)", message);
    cli_advise(s->cli, "%s does not accept %s", s->conn.config->server, who);
}

/* "127.0.0.1:6443" of "https://127.0.0.1:6443/path". */
static char *host_of(const char *server) {
    const char *host = strstr(server, "://");
    host = host ? host + strlen("://") : server;
    return xstrndup(host, strcspn(host, "/?#"));
}

static void unreachable(struct session *s, const char *message) {
    /* kubectl looks for the same words of the system's. */
    if (!strstr(message, "connection refused")) {
        cli_refuse(s->cli, EXIT_ACCESS, "Unable to connect to the server: %s", message);
        return;
    }
    _cleanup_free_ char *host = host_of(s->conn.config->server);
    cli_refuse(s->cli, EXIT_ACCESS,
               "The connection to the server %s was refused - did you specify the right host or "
               "port?",
               host);
    if (strstr(message, "proxy")) /* it was not even the server */
        cli_advise(s->cli, "%s", message);
}

bool refusal_say(struct session *s, enum kube_outcome outcome, const char *reason,
                 const char *message) {
    switch (outcome) {
    case KUBE_UNAUTHORIZED:
        unauthorized(s, message);
        return true;
    case KUBE_UNREACHABLE:
    case KUBE_UNKNOWN:
        unreachable(s, message);
        return true;
    case KUBE_NO_CREDENTIALS:
        cli_refuse(s->cli, EXIT_ACCESS, "Unable to connect to the server: getting credentials: %s",
                   message);
        return true;
    case KUBE_NOT_KUBERNETES:
        return false;
    default:
        return from_server(s, outcome, reason, message);
    }
}

/* --- answers that are no Status --- */

/* NewGenericServerResponse() of apimachinery. A page that is not found is most likely no API
 * server's, which we have better words for. */
static const struct {
    int code;
    const char *reason, *text; /* NULL: what the server sent */
} generic[] = {
    {403, "Forbidden", NULL},
    {429, "TooManyRequests",
     "the server has received too many requests and has asked us to try again later"},
    {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    {504, "Timeout",
     "the server was unable to return a response in the time allotted, but may still be processing "
     "the request"},
};

/* What the server sent, at the end of "GET /api/v1/nodes/w1: HTTP 500: boom" (kube/client.h). */
static const char *sent(const struct patient *p) {
    char mark[32];
    snprintf(mark, sizeof mark, "HTTP %d", p->code);
    const char *at = strstr(p->message, mark);
    at = at ? at + strlen(mark) : "";
    return at + strspn(at, ": ");
}

char *refusal_words(const struct patient *p, const char *verb, const char *resource,
                    const char *name, const char **reason) {
    _cleanup_str_ struct str text = STR_INIT;
    size_t i = 0;
    if (p->reason || p->code < 400)
        return NULL;
    while (i < ARRAY_LEN(generic) && generic[i].code != p->code)
        i++;
    if (i < ARRAY_LEN(generic)) {
        *reason = generic[i].reason;
        str_add(&text, generic[i].text ? generic[i].text : sent(p));
    } else if (p->code >= 500) {
        *reason = "InternalError";
        str_add(&text, "an error on the server (\"");
        for (const char *c = sent(p); *c; c++) /* as Go's %q */
            str_addf(&text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        str_add(&text, "\") has prevented the request from succeeding");
    } else {
        return NULL;
    }
    str_addf(&text, " (%s %s%s%s)", verb, resource, name ? " " : "", strna(name));
    return str_take(&text);
}

bool refusal_of_request(struct session *s, const struct patient *p, const char *verb,
                        const char *resource, const char *name) {
    const char *reason = NULL;
    _cleanup_free_ char *words = refusal_words(p, verb, resource, name, &reason);
    if (!words)
        return p->reason && refusal_say(s, p->outcome, p->reason, p->message);
    cli_refuse(s->cli, session_code(p->outcome), "Error from server (%s): %s", reason, words);
    if (*sent(p) && p->code != 403 && !streq(reason, "InternalError")) /* they leave it out */
        cli_advise(s->cli, "%s", p->message);
    return true;
}

/* --- configuration --- */

/* `KIND "NAME" does not exist; there is: ...` of kube/config.h: kubectl ends it before the
 * semicolon and has another word for users. */
static bool no_such_entry(struct cli *cli, const char *message) {
    static const char *const words[][2] = {
        {"context \"", "context"}, {"cluster \"", "cluster"}, {"user \"", "auth info"}};
    static const char middle[] = "\" does not exist";
    const char *stop = strstr(message, middle);
    for (size_t i = 0; stop && i < ARRAY_LEN(words); i++) {
        if (!str_starts(message, words[i][0]))
            continue;
        const char *name = message + strlen(words[i][0]);
        cli_fail(cli, EXIT_USAGE, "%s \"%.*s\" does not exist", words[i][1], (int)(stop - name),
                 name);
        const char *more = stop + strlen(middle);
        if (*more)
            cli_advise(cli, "%s", more + strspn(more, ";: "));
        return true;
    }
    return false;
}

/* kubectl's sentences at the beginning of the message: one as an error, several as a list; ours
 * below. False when there are none. */
static bool say_words(struct cli *cli, enum exit_code code, const char *message) {
    const char *next, *more;
    size_t len = kube_words_take(message, &next);
    if (!len)
        return false;
    if (!kube_words_take(next, &more)) {
        cli_fail(cli, code, "%.*s", (int)len, message);
    } else {
        cli_advise(cli, "Error in configuration: ");
        for (next = message; (len = kube_words_take(next, &more)); next = more) {
            _cleanup_free_ char *words = xstrndup(next, len);
            cli_advise(cli, "* %s", words);
            cli_keep_error(cli, words);
        }
    }
    if (*next)
        cli_advise(cli, "%s", next);
    return true;
}

int refusal_of_config(struct cli *cli, const struct kube_config_flags *flags,
                      const struct err *err) {
    const char *message = err_msg(err);
    enum exit_code code = exit_from_errno(err->code ? err->code : EIO);
    struct stat st;
    if (no_such_entry(cli, message))
        return EXIT_USAGE;
    if (say_words(cli, code, message))
        return (int)code;
    if (flags->kubeconfig && stat(flags->kubeconfig, &st) && errno == ENOENT)
        cli_fail(cli, code, "stat %s: no such file or directory", flags->kubeconfig);
    else if (flags->insecure && flags->certificate_authority &&
             strstr(message, "exclude each other"))
        cli_fail(cli, code,
                 "specifying a root certificates file with the insecure flag is not allowed");
    else if (str_starts(message, "certificate-authority") && strstr(message, "no valid PEM"))
        cli_fail(cli, code, "unable to load root certificates: unable to parse bytes as PEM block");
    else
        return cli_error(cli, err);
    cli_advise(cli, "%s", message);
    return (int)code;
}
