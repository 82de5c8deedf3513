/* Tests of src/cli/tty.c: on a terminal that is ours, on one that is not read, and on none. */
#include "cli/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

struct pair {
    int master, slave;
};

static void pair_open(struct pair *p) {
    p->master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(p->master >= 0);
    assert_int_equal(grantpt(p->master), 0);
    assert_int_equal(unlockpt(p->master), 0);
    p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY);
    assert_true(p->slave >= 0);
}

static void pair_close(struct pair *p) {
    close(p->slave);
    close(p->master);
}

static bool has_noflsh(int fd) {
    struct termios t;
    return !tcgetattr(fd, &t) && t.c_lflag & NOFLSH;
}

/* A process whose terminal it is; its exit status says which step failed, 0: none. */
static int in_session(int (*run)(int fd, int master)) {
    struct pair p;
    int status;
    pair_open(&p);
    pid_t pid = fork();
    if (!pid) {
        setsid();
        _exit(ioctl(p.slave, TIOCSCTTY, 0) ? 99 : run(p.slave, p.master));
    }
    assert_true(waitpid(pid, &status, 0) == pid);
    pair_close(&p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int take_and_give_back(int fd, int master) {
    (void)master;
    struct termios before, after;
    tcgetattr(fd, &before);
    if (has_noflsh(fd) || tty_in_background(fd))
        return 1;
    if (tty_keep_output(fd) != TTY_TAKEN || !has_noflsh(fd))
        return 2;
    if (tty_keep_output(fd) != TTY_KEEPS) /* it is so by now */
        return 3;
    tty_keep_no_more(fd);
    tcgetattr(fd, &after);
    return before.c_lflag == after.c_lflag && before.c_iflag == after.c_iflag ? 0 : 4;
}

/* Keys are not turned into signals: nothing is thrown away, and nothing is to be changed. */
static int no_signals(int fd, int master) {
    (void)master;
    struct termios t;
    tcgetattr(fd, &t);
    t.c_lflag &= ~(tcflag_t)ISIG;
    tcsetattr(fd, TCSANOW, &t);
    return tty_keep_output(fd) == TTY_KEEPS && !has_noflsh(fd) ? 0 : 1;
}

/* It would stop us if it tried. */
static int in_background(int fd, int master) {
    (void)master;
    int status;
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        bool there = tty_in_background(fd);
        enum tty_keep keep = tty_keep_output(fd);
        tty_keep_no_more(fd);
        tty_drop_input(fd);
        _exit(there && keep == TTY_LOSES ? 0 : 1);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid)
        return 2;
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return 3;
    }
    return has_noflsh(fd) ? 4 : WEXITSTATUS(status);
}

/* Keys that were pressed before Ctrl-C are nobody's. */
static int typed_before(int fd, int master) {
    int there = 0;
    struct termios t;
    tcgetattr(fd, &t);
    t.c_lflag &= ~(tcflag_t)ICANON;
    tcsetattr(fd, TCSANOW, &t);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (write(master, "q", 1) != 1 || poll(&ready, 1, 10000) != 1)
        return 1;
    tty_drop_input(fd);
    return ioctl(fd, FIONREAD, &there) || there ? 2 : 0;
}

/* Whole lines, which the terminal shows. */
static int typed_lines(int fd, int master) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    struct termios t;
    if (tty_typed(fd) || write(master, "ab", 2) != 2 || write(master, "\n", 1) != 1 ||
        poll(&ready, 1, 10000) != 1)
        return 1;
    if (tty_typed(fd) != 3)
        return 2;
    tcgetattr(fd, &t);
    t.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(fd, TCSANOW, &t);
    return tty_typed(fd) ? 3 : 0;
}

static void a_terminal_of_ours(void **state) {
    (void)state;
    assert_int_equal(in_session(take_and_give_back), 0);
    assert_int_equal(in_session(no_signals), 0);
    assert_int_equal(in_session(in_background), 0);
    assert_int_equal(in_session(typed_before), 0);
    assert_int_equal(in_session(typed_lines), 0);
}

static void no_terminal(void **state) {
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    errno = 7;
    assert_int_equal(tty_keep_output(fds[1]), TTY_KEEPS);
    tty_keep_no_more(fds[1]);
    tty_drop_input(fds[1]);
    assert_int_equal(tty_typed(fds[1]), 0);
    assert_false(tty_in_background(fds[1]));
    tty_write_now(-1, "x", 1);
    assert_int_equal(errno, 7);
    close(fds[0]);
    close(fds[1]);
}

/* An alarm ends the test when it waits after all. */
static void writing_never_waits(void **state) {
    (void)state;
    static char much[1 << 20];
    struct pair p;
    int fds[2];
    memset(much, 'x', sizeof much);
    alarm(30);
    pair_open(&p);
    tty_write_now(p.slave, much, sizeof much);
    assert_int_equal(fcntl(p.slave, F_GETFL) & O_NONBLOCK, 0);
    char byte;
    assert_int_equal(read(p.master, &byte, 1), 1); /* something went */
    assert_int_equal(byte, 'x');
    pair_close(&p);

    assert_int_equal(pipe(fds), 0);
    tty_write_now(fds[1], much, sizeof much);
    tty_write_now(fds[1], "more", 4);
    int there = 0;
    assert_int_equal(ioctl(fds[0], FIONREAD, &there), 0);
    assert_in_range(there, 4096, sizeof much - 1);
    close(fds[0]);
    close(fds[1]);
    alarm(0);
}

static void all_that_goes_is_written(void **state) {
    (void)state;
    char got[32] = "", path[] = "/tmp/slipway-tty.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, "before ", 7), 7);
    tty_write_now(fd, "after", 5);
    assert_int_equal(pread(fd, got, sizeof got - 1, 0), 12);
    assert_string_equal(got, "before after");
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_of_ours),
        cmocka_unit_test(no_terminal),
        cmocka_unit_test(writing_never_waits),
        cmocka_unit_test(all_that_goes_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
