/* Children that rehearse. */
#include "cli/rehearse_many.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/rehearse_pack.h"

enum {
    CHILDREN_MAX = 16,
    CHUNK = 64 << 10,
};

struct child_run {
    pid_t pid; /* 0: this place is free */
    int fd;
    size_t number;
    struct str in;
};

struct many {
    const struct rehearse_many *m;
    struct rehearsal *out;
    struct rehearse_drawn *drawn;
    struct child_run children[CHILDREN_MAX];
    size_t places, next, done;
    bool *filled; /* which of `out` */
    struct err *err;
};

/* --- in the child --- */

static void write_all(int fd, const struct str *s) {
    for (size_t done = 0; done < s->len;) {
        ssize_t n = write(fd, s->p + done, s->len - done);
        if (n < 0 && errno != EINTR)
            return; /* nobody listens any more */
        done += n > 0 ? (size_t)n : 0;
    }
}

static void play(const struct rehearse_many *m, size_t number, int fd) {
    struct rehearse_opts opts = m->opts;
    struct rehearsal result;
    _cleanup_err_ struct err err = ERR_INIT;
    struct str out = STR_INIT;
    opts.seed += number;
    /* Not the seed itself, as restore.h says. */
    struct prng first = {opts.seed};
    sim_world(m->sim)->random = (struct prng){prng_next(&first)};
    habits_begin(m->habits, opts.seed);
    if (rehearse_run(m->sim, &opts, &result, &err)) {
        str_addc(&out, '!');
        str_add(&out, err_msg(&err));
    } else {
        struct rehearse_drawn drawn = {habits_basis(m->habits, HABIT_START),
                                       habits_basis(m->habits, HABIT_STOP)};
        str_addc(&out, '.');
        str_addn(&out, &drawn, sizeof drawn);
        rehearsal_pack(&result, &out);
    }
    write_all(fd, &out);
}

/* --- in the parent --- */

static int start(struct many *s, struct child_run *c) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        return err_set(s->err, errno, "cannot start a run: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would hear of it */
        play(s->m, s->next, fds[1]);
        _exit(0); /* nothing of the parent's is ours to end */
    }
    (void)close(fds[1]);
    if (pid < 0) {
        int rc = err_set(s->err, errno, "cannot start a run: %s", strerror(errno));
        (void)close(fds[0]);
        return rc;
    }
    *c = (struct child_run){.pid = pid, .fd = fds[0], .number = s->next++};
    return 0;
}

static int wait_for(const struct child_run *c) {
    int status = 0;
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void more(size_t *a, size_t b) {
    *a = MAX_OF(*a, b);
}

static void add_drawn(struct many *s, const struct rehearse_drawn *d) {
    more(&s->drawn->start.workloads, d->start.workloads);
    more(&s->drawn->start.assumed, d->start.assumed);
    more(&s->drawn->stop.workloads, d->stop.workloads);
    more(&s->drawn->stop.assumed, d->stop.assumed);
    s->drawn->start.others |= d->start.others;
    s->drawn->stop.others |= d->stop.others;
}

/* All of it has come, or all that ever will. */
static int take(struct many *s, struct child_run *c) {
    int status = wait_for(c), rc = 0;
    struct rehearse_drawn drawn;
    struct view bytes = {str_get(&c->in), c->in.len};
    if (bytes.len && *bytes.p == '!') {
        rc = err_set(s->err, EIO, "%s", bytes.p + 1);
    } else if (bytes.len > 1 + sizeof drawn &&
               rehearsal_unpack(
                   (struct view){bytes.p + 1 + sizeof drawn, bytes.len - 1 - sizeof drawn},
                   &s->out[c->number])) {
        memcpy(&drawn, bytes.p + 1, sizeof drawn);
        add_drawn(s, &drawn);
        s->filled[c->number] = true;
        s->done++;
    } else if (WIFSIGNALED(status)) {
        rc = err_set(s->err, EIO, "a run was ended by signal %d (%s)%s", WTERMSIG(status),
                     strsignal(WTERMSIG(status)),
                     WTERMSIG(status) == SIGKILL ? ": there may be too little memory" : "");
    } else {
        rc = err_set(s->err, EIO, "a run ended without a result");
    }
    (void)close(c->fd);
    str_done(&c->in);
    c->pid = 0;
    if (!rc && s->m->told)
        s->m->told(s->m->arg, s->done);
    return rc;
}

/* What a child has to say; *end when it has said it all. */
static int listen_to(struct many *s, struct child_run *c, bool *end) {
    str_reserve(&c->in, CHUNK);
    ssize_t n = read(c->fd, c->in.p + c->in.len, CHUNK);
    *end = n == 0;
    if (n < 0 && errno != EINTR)
        return err_set(s->err, errno, "cannot hear from a run: %s", strerror(errno));
    c->in.len += n > 0 ? (size_t)n : 0;
    c->in.p[c->in.len] = '\0';
    return 0;
}

static int turn(struct many *s) {
    struct pollfd fds[CHILDREN_MAX];
    int rc = 0;
    for (size_t i = 0; i < s->places && !rc; i++) {
        if (!s->children[i].pid && s->next < s->m->runs)
            rc = start(s, &s->children[i]);
        fds[i] =
            (struct pollfd){.fd = s->children[i].pid ? s->children[i].fd : -1, .events = POLLIN};
    }
    if (rc || (poll(fds, s->places, -1) < 0 && errno != EINTR))
        return rc ? rc : err_set(s->err, errno, "cannot wait for a run: %s", strerror(errno));
    for (size_t i = 0; i < s->places && !rc; i++) {
        bool end = false;
        if (s->children[i].pid && fds[i].revents)
            rc = listen_to(s, &s->children[i], &end);
        if (!rc && end)
            rc = take(s, &s->children[i]);
    }
    return rc;
}

static void give_up(struct many *s) {
    for (size_t i = 0; i < s->places; i++) {
        struct child_run *c = &s->children[i];
        if (!c->pid)
            continue;
        (void)kill(c->pid, SIGKILL);
        (void)wait_for(c);
        (void)close(c->fd);
        str_done(&c->in);
    }
    for (size_t i = 0; i < s->m->runs; i++)
        if (s->filled[i])
            rehearsal_done(&s->out[i]);
}

int rehearse_many(const struct rehearse_many *m, struct rehearsal *out,
                  struct rehearse_drawn *drawn, struct err *err) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct many s = {.m = m, .out = out, .drawn = drawn, .err = err};
    s.places = (size_t)MIN_OF(MAX_OF(processors, 1), (long)CHILDREN_MAX);
    _cleanup_free_ bool *filled = xcalloc(m->runs, sizeof *filled);
    s.filled = filled;
    *drawn = (struct rehearse_drawn){0};
    int rc = 0;
    while (s.done < m->runs && !rc)
        rc = turn(&s);
    if (rc)
        give_up(&s);
    return rc;
}
