/* Shows a long text through the user's pager. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

/* The environment with LESS=FRX in it. Only the array is new. */
static char **pager_environ(char *less) {
    VEC(char *) env = VEC_INIT;
    for (char **e = environ; *e; e++)
        *vec_push(&env) = *e;
    if (!getenv("LESS"))
        *vec_push(&env) = less;
    *vec_push(&env) = NULL;
    return env.p;
}

/* The parent ignores SIGPIPE and, while it waits, SIGINT; the pager must not. */
static void reset_signals(posix_spawnattr_t *attr) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGQUIT);
    posix_spawnattr_setsigdefault(attr, &set);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const char *command, int in, pid_t *pid) {
    char less[] = "LESS=FRX";
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)command, NULL};
    _cleanup_free_ char **env = pager_environ(less);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawnattr_init(&attr);
    reset_signals(&attr);
    int r = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* All of it, or as much as the pager wanted to read. */
static void feed(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

int pager_show(const char *command, const char *text, size_t len) {
    int pipe_fds[2];
    pid_t pid;
    if (pipe2(pipe_fds, O_CLOEXEC))
        return -errno;
    int r = spawn(command, pipe_fds[0], &pid);
    close(pipe_fds[0]);
    if (r) {
        close(pipe_fds[1]);
        return r;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit, old_pipe;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    sigaction(SIGPIPE, &ignore, &old_pipe);
    feed(pipe_fds[1], text, len);
    close(pipe_fds[1]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
    /* The shell's answers for "not found" and "cannot be executed". */
    bool missing = WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126);
    return missing ? -ENOENT : 0;
}
