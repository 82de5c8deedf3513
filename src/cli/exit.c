/* Exit codes. */
#include "cli/exit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

const struct exit_row exit_rows[] = {
    {EXIT_DONE, "done", "Done, or nothing to do."},
    {EXIT_FAILED, "failed", "Failed: the API server refused, a node failed, or output was lost."},
    {EXIT_CHANGES, "changes", "Changes are pending; only when asked for with a flag."},
    {EXIT_BLOCKED, "blocked", "Blocked: something stood in the way until the time was up."},
    {EXIT_ACCESS, "access", "Cannot connect, not authenticated, or not allowed."},
    {EXIT_REFUSED, "refused", "Refused by a safety guard, or a confirmation is missing."},
    {EXIT_PARTIAL, "partial", "Finished, but some nodes were skipped or failed within tolerance."},
    {EXIT_USAGE, "usage", "Usage error: a wrong verb, flag, value or file."},
    {EXIT_SIGINT, "interrupted", "Interrupted by Ctrl-C (SIGINT)."},
    {EXIT_SIGPIPE, "pipe", "The reader of the output went away (as in `| head`)."},
    {EXIT_SIGTERM, "terminated", "Terminated by SIGTERM."},
};
const size_t n_exit_rows = ARRAY_LEN(exit_rows);

enum exit_code exit_from_errno(int code) {
    switch (abs(code)) {
    case 0:
        return EXIT_DONE;
    case EINVAL:
    case EBADMSG:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EFBIG:
        return EXIT_USAGE;
    case EACCES:
    case EPERM:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case ENOTCONN:
    case EPROTO:
    case ETIMEDOUT:
        return EXIT_ACCESS;
    case ECANCELED:
    case EINTR:
        return EXIT_SIGINT;
    default:
        return EXIT_FAILED;
    }
}

int exit_graver(int a, int b) {
    static const int order[] = {EXIT_ACCESS, EXIT_FAILED, EXIT_REFUSED};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a ? a : b;
}
