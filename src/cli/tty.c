/* A terminal's settings, and writing that never waits. */
#include "cli/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static bool in_foreground(int fd) {
    return tcgetpgrp(fd) == getpgrp();
}

bool tty_in_background(int fd) {
    int before = errno;
    pid_t group = tcgetpgrp(fd);
    errno = before;
    return group > 0 && group != getpgrp();
}

enum tty_keep tty_keep_output(int fd) {
    int before = errno;
    struct termios t;
    enum tty_keep keep = TTY_LOSES;
    if (tcgetattr(fd, &t) || t.c_lflag & NOFLSH || !(t.c_lflag & ISIG)) {
        keep = TTY_KEEPS;
    } else if (in_foreground(fd)) {
        t.c_lflag |= NOFLSH;
        keep = tcsetattr(fd, TCSANOW, &t) ? TTY_LOSES : TTY_TAKEN;
    }
    errno = before;
    return keep;
}

void tty_keep_no_more(int fd) {
    int before = errno;
    struct termios t;
    if (in_foreground(fd) && !tcgetattr(fd, &t) && t.c_lflag & NOFLSH) {
        t.c_lflag &= ~(tcflag_t)NOFLSH;
        tcsetattr(fd, TCSANOW, &t);
    }
    errno = before;
}

void tty_drop_input(int fd) {
    int before = errno;
    if (in_foreground(fd))
        tcflush(fd, TCIFLUSH);
    errno = before;
}

int tty_typed(int fd) {
    int before = errno, n = 0;
    struct termios t;
    bool shown = !tcgetattr(fd, &t) && t.c_lflag & ICANON && t.c_lflag & (ECHO | ECHONL);
    if (!shown || !in_foreground(fd) || ioctl(fd, FIONREAD, &n))
        n = 0;
    errno = before;
    return n;
}

void tty_write_now(int fd, const char *p, size_t len) {
    int before = errno, flags = fcntl(fd, F_GETFL);
    /* A terminal that says that it is ready takes a few bytes and makes us wait with the rest. The
     * flag is shared with whoever else has the terminal open: only for this moment. */
    bool set = flags >= 0 && !(flags & O_NONBLOCK) && !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n <= 0)
            break;
        p += n;
        len -= (size_t)n;
    }
    if (set)
        fcntl(fd, F_SETFL, flags);
    errno = before;
}
