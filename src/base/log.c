/* Log lines. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/utf8.h"

static const char *const level_names[] = {"error", "warning", "info", "debug", "trace"};

void log_at(const struct log *log, enum log_level level, const char *fmt, ...) {
    if (!log_enabled(log, level))
        return;
    _cleanup_str_ struct str line = STR_INIT;
    char when[TIMEFMT_LEN];
    if (log->timestamps && log->now)
        str_addf(&line, "%s ", time_format(log->now(log->now_arg), false, when));
    str_addf(&line, "%s: ", level_names[level]);
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    utf8_printable(&line, text);
    str_addc(&line, '\n');
    /* A log that cannot be written is no reason to fail. */
    ssize_t n = write(log->fd, line.p, line.len);
    (void)n;
}
