/* A child process, run beside the loop. */
#include "net/child.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    /* Even SIGKILL takes a moment, and a process in an uninterruptible wait outlives it; nobody
     * waits longer than this for one that was cancelled. */
    REAP_MSEC = 1000,
    CHUNK = 16 << 10,
};

/* One of its outputs. */
struct pipe_end {
    struct child *child;
    struct event *event; /* NULL when closed */
    int fd;
    char *p; /* may be a secret: wiped on growth and at the end */
    size_t len, cap, max;
    bool too_long;
};

struct child {
    struct loop *loop;
    child_fn *fn;
    void *arg;
    void (*on_stderr)(void *arg, const char *p, size_t len);
    pid_t pid;
    bool own_group, drop_stdout;
    int pidfd;
    struct event *exit_event;
    struct loop_timer *deadline;
    struct pipe_end out, err;
    int error; /* why we killed it */
};

/* --- collecting --- */

static void buffer_grow(struct pipe_end *e, size_t need) {
    if (need <= e->cap)
        return;
    size_t cap = MAX_OF(need, e->cap * 2);
    char *p = xmalloc(cap + 1);
    if (e->len)
        memcpy(p, e->p, e->len);
    mem_wipe(e->p, e->len);
    free(e->p);
    e->p = p;
    e->cap = cap;
}

static void buffer_add(struct pipe_end *e, const char *bytes, size_t len) {
    size_t room = e->max - e->len, n = MIN_OF(len, room);
    e->too_long |= n < len;
    if (!n)
        return;
    buffer_grow(e, e->len + n);
    memcpy(e->p + e->len, bytes, n);
    e->len += n;
}

static void pipe_close(struct pipe_end *e) {
    if (e->event)
        event_free(e->event);
    e->event = NULL;
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
}

static void child_kill(struct child *c) {
    /* Not reaped yet, so the number is still its own. */
    kill(c->own_group ? -c->pid : c->pid, SIGKILL);
}

static void child_give_up(struct child *c, int error) {
    if (!c->error)
        c->error = error;
    child_kill(c);
}

/* It has printed more than anybody can use. */
static bool is_too_much(const struct pipe_end *e) {
    return e == &e->child->out && e->too_long && !e->child->drop_stdout;
}

/* Reads what is there; false when there will be no more. */
static bool pipe_drain(struct pipe_end *e) {
    char chunk[CHUNK];
    struct child *c = e->child;
    bool more = true;
    /* Bounded, so that one that prints without end cannot hold up the loop. */
    for (int turns = 0; turns < 64; turns++) {
        ssize_t n = read(e->fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            more = n < 0 && errno == EAGAIN;
            break;
        }
        buffer_add(e, chunk, (size_t)n);
        if (e == &c->err && c->on_stderr)
            c->on_stderr(c->arg, chunk, (size_t)n);
        if (is_too_much(e))
            break;
    }
    mem_wipe(chunk, sizeof chunk);
    return more;
}

static void on_output(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    struct pipe_end *e = arg;
    bool more = pipe_drain(e);
    bool too_long = is_too_much(e);
    if (too_long)
        child_give_up(e->child, -EFBIG);
    if (!more || too_long)
        pipe_close(e);
}

/* --- the end --- */

static void child_free(struct child *c) {
    struct pipe_end *ends[] = {&c->out, &c->err};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        pipe_close(ends[i]);
        mem_wipe(ends[i]->p, ends[i]->len);
        free(ends[i]->p);
    }
    if (c->exit_event)
        event_free(c->exit_event);
    if (c->pidfd >= 0)
        close(c->pidfd);
    loop_timer_free(c->deadline);
    free(c);
}

/* A NUL-terminated text even when nothing came. */
static char *buffer_text(struct pipe_end *e) {
    buffer_grow(e, e->len + 1);
    e->p[e->len] = '\0';
    return e->p;
}

static void on_exit_event(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    struct child *c = arg;
    siginfo_t info = {0};
    int ret = waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG);
    if (ret == 0 && !info.si_pid)
        return; /* not yet */
    if (ret < 0 && !c->error)
        c->error = -errno;
    event_free(c->exit_event);
    c->exit_event = NULL;
    loop_timer_stop(c->deadline);
    /* What it wrote before its end is in the pipes by now. */
    struct pipe_end *ends[] = {&c->out, &c->err};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (ends[i]->event)
            pipe_drain(ends[i]);
        pipe_close(ends[i]);
    }
    if (is_too_much(&c->out) && !c->error)
        c->error = -EFBIG;
    bool exited = ret == 0 && info.si_code == CLD_EXITED;
    struct child_end end = {
        .error = c->error,
        .exit_code = exited ? info.si_status : -1,
        .signal = ret == 0 && !exited ? info.si_status : 0,
        .out = buffer_text(&c->out),
        .out_len = c->out.len,
        .err_out = buffer_text(&c->err),
        .err_len = c->err.len,
    };
    c->fn(c->arg, &end);
    child_free(c);
}

static void on_deadline(void *arg) {
    child_give_up(arg, -ETIMEDOUT);
}

void child_cancel(struct child *c) {
    if (!c)
        return;
    child_kill(c);
    struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
    int ret;
    do
        ret = poll(&p, 1, REAP_MSEC);
    while (ret < 0 && errno == EINTR);
    siginfo_t info;
    waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG);
    child_free(c);
}

/* --- the start --- */

/* Our environment with `more` on top; the array is the caller's, the strings are not. */
static char **environment(const char *const *more) {
    VEC(char *) env = VEC_INIT;
    size_t n_more = 0;
    while (more && more[n_more])
        n_more++;
    for (char **e = environ; e && *e; e++) {
        size_t name = strcspn(*e, "=") + 1;
        bool replaced = false;
        for (size_t i = 0; i < n_more; i++)
            replaced |= strncmp(*e, more[i], name) == 0;
        if (!replaced)
            *vec_push(&env) = *e;
    }
    for (size_t i = 0; i < n_more; i++) {
        size_t name = strcspn(more[i], "=") + 1;
        bool replaced = false;
        for (size_t j = i + 1; j < n_more; j++)
            replaced |= strncmp(more[i], more[j], name) == 0;
        if (!replaced)
            *vec_push(&env) = (char *)(uintptr_t)more[i];
    }
    *vec_push(&env) = NULL;
    return env.p;
}

/* A descriptor from which the child reads `input`. In memory and complete before it starts, so that
 * nothing is left to be written, and nothing can break, while it runs. */
static int open_input(const struct child_spec *spec) {
    if (!spec->input_len)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    const char *p = spec->input;
    size_t left = spec->input_len;
    while (left) {
        ssize_t n = write(fd, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int code = errno;
            close(fd);
            errno = code;
            return -1;
        }
        p += n;
        left -= (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Which descriptor becomes 0, 1 and 2 of the child; -1: ours. All are past 2 (see fd_past_2), so
 * that no dup2 overwrites one that is still needed. */
struct wiring {
    int in, out, err;
};

static void wiring_done(struct wiring *w) {
    int fds[] = {w->in, w->out, w->err};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* A process that was started with its standard descriptors closed gets 0, 1 or 2 for its own. */
static int fd_past_2(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int code = errno;
    close(fd);
    errno = code;
    return moved;
}

static int open_pipe(struct pipe_end *e, int *child_end) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    e->fd = fd_past_2(fds[0]);
    *child_end = fd_past_2(fds[1]);
    if (e->fd < 0 || *child_end < 0)
        return -1;
    return fcntl(e->fd, F_SETFL, O_NONBLOCK);
}

/* The file of a program without a slash, or NULL. Not left to posix_spawnp(), which says
 * "permission denied" about a program that does not exist when a directory of $PATH may not be
 * searched, and which takes programs from the current directory when $PATH has a relative or empty
 * part. */
static char *find_program(const char *name) {
    const char *path = getenv("PATH");
    if (!*name)
        return NULL;
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin";;) {
        size_t len = strcspn(p, ":");
        _cleanup_free_ char *file = xasprintf("%.*s/%s", (int)len, p, name);
        struct stat st;
        if (*p == '/' && stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
            faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) == 0)
            return TAKE_PTR(file);
        if (!p[len])
            return NULL;
        p += len + 1;
    }
}

static int spawn(struct child *c, const struct child_spec *spec, const struct wiring *w) {
    const char *name = spec->argv[0];
    _cleanup_free_ char *file = strchr(name, '/') ? xstrdup(name) : find_program(name);
    if (!file)
        return ENOENT;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t all, none;
    int from[] = {w->in, w->out, w->err};
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    posix_spawnattr_init(&attr);
    int code = 0;
    for (int i = 0; i < 3 && !code; i++)
        if (from[i] >= 0)
            code = posix_spawn_file_actions_adddup2(&actions, from[i], i);
    /* Libraries open descriptors of their own, not all of them close-on-exec. */
    if (!code)
        code = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                            (c->own_group ? POSIX_SPAWN_SETPGROUP : 0)));
    char **env = environment(spec->env);
    if (!code)
        code =
            posix_spawn(&c->pid, file, &actions, &attr, (char *const *)(uintptr_t)spec->argv, env);
    free(env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int watch(struct child *c) {
    struct event_base *base = loop_base(c->loop);
    c->exit_event = event_new(base, c->pidfd, EV_READ | EV_PERSIST, on_exit_event, c);
    bool ok = c->exit_event && event_add(c->exit_event, NULL) == 0;
    struct pipe_end *ends[] = {&c->out, &c->err};
    for (size_t i = 0; ok && i < ARRAY_LEN(ends); i++) {
        if (ends[i]->fd < 0)
            continue;
        ends[i]->event = event_new(base, ends[i]->fd, EV_READ | EV_PERSIST, on_output, ends[i]);
        ok = ends[i]->event && event_add(ends[i]->event, NULL) == 0;
    }
    return ok ? 0 : ENOMEM;
}

int child_start(struct loop *loop, const struct child_spec *spec, child_fn *fn, void *arg,
                struct child **out, struct err *err) {
    const char *name = spec->argv[0];
    if (!loop_base(loop))
        return err_set(err, ENOTSUP, "cannot run %s: a virtual loop has no processes", name);
    struct child *c = xnew(struct child);
    *c = (struct child){
        .loop = loop,
        .fn = fn,
        .arg = arg,
        .on_stderr = spec->on_stderr,
        .own_group = !spec->inherit_stdin,
        .drop_stdout = spec->drop_stdout,
        .pidfd = -1,
        .out = {.child = c, .fd = -1, .max = spec->max_stdout},
        .err = {.child = c, .fd = -1, .max = spec->max_stderr},
    };
    struct wiring w = {-1, -1, -1};
    int code = 0;
    if (!spec->inherit_stdin) {
        w.in = fd_past_2(open_input(spec));
        code = w.in < 0 ? errno : 0;
    }
    if (!code && !spec->inherit_stdout && open_pipe(&c->out, &w.out) < 0)
        code = errno;
    if (!code && !spec->inherit_stderr && open_pipe(&c->err, &w.err) < 0)
        code = errno;
    bool ready = !code;
    if (!code)
        code = spawn(c, spec, &w);
    wiring_done(&w);
    if (code) {
        child_free(c);
        return err_errno(err, code, ready ? "cannot run %s" : "cannot prepare to run %s", name);
    }
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    code = c->pidfd < 0 ? errno : watch(c);
    if (code) {
        child_kill(c);
        waitpid(c->pid, NULL, 0);
        child_free(c);
        return err_errno(err, code, "cannot watch over %s", name);
    }
    if (spec->timeout > 0) {
        c->deadline = loop_timer_new(loop, on_deadline, c);
        loop_timer_set(c->deadline, spec->timeout);
    }
    *out = c;
    return 0;
}
