/* Questions on a terminal. */
#include "cli/question.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/str.h"

enum { ANSWER_MAX = 80 }; /* more is no answer to such a question */

bool question_possible(const struct cli *cli) {
    return cli->err.tty && isatty(STDIN_FILENO);
}

/* Up to the end of the line; what is too long is read to its end, and comes back as "". */
static void read_line(int fd, char line[static ANSWER_MAX]) {
    size_t len = 0;
    char c;
    ssize_t n;
    while ((n = read(fd, &c, 1)) == 1 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        if (c == '\n')
            break;
        if (len < ANSWER_MAX)
            line[len] = c;
        len++;
    }
    line[n == 1 && len < ANSWER_MAX ? len : 0] = '\0';
}

bool question_ask(struct cli *cli, int fd, const char *text) {
    char line[ANSWER_MAX];
    term_text(&cli->err, text);
    term_printf(&cli->err, " [y/N] ");
    term_flush(&cli->err);
    read_line(fd, line);
    return !strcasecmp(line, "y") || !strcasecmp(line, "yes");
}
