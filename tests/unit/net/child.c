/* Tests of net/child: input and output, ends of every kind, what is inherited, what is left behind.
 */
#include "net/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

struct seen {
    struct loop *loop;
    int calls, error, exit_code, signal;
    struct str out, err, live;
};

static void on_end(void *arg, const struct child_end *end) {
    struct seen *s = arg;
    s->calls++;
    s->error = end->error;
    s->exit_code = end->exit_code;
    s->signal = end->signal;
    assert_int_equal(end->out[end->out_len], 0);
    assert_int_equal(end->err_out[end->err_len], 0);
    str_addn(&s->out, end->out, end->out_len);
    str_addn(&s->err, end->err_out, end->err_len);
    loop_stop(s->loop);
}

static void on_stderr(void *arg, const char *p, size_t len) {
    struct seen *s = arg;
    str_addn(&s->live, p, len);
}

static void seen_done(struct seen *s) {
    str_done(&s->out);
    str_done(&s->err);
    str_done(&s->live);
}

static int open_fds(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Each test begins with its own loop, and ends without a child and without a descriptor more. */
struct fixture {
    struct loop *loop;
    int fds;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    if (loop_new(&f->loop, NULL) < 0)
        return -1;
    f->fds = open_fds();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    int fds = open_fds();
    bool clean = fds == f->fds && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
    if (!clean)
        print_error("left behind: %d descriptors or a child\n", fds - f->fds);
    loop_free(f->loop);
    free(f);
    return clean ? 0 : -1;
}

static struct child_spec shell(const char *argv[4], const char *script) {
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = script;
    argv[3] = NULL;
    return (struct child_spec){.argv = argv, .max_stdout = 1 << 20, .max_stderr = 4096};
}

static void run(void **state, const struct child_spec *spec, struct seen *s) {
    struct fixture *f = *state;
    *s = (struct seen){.loop = f->loop};
    struct child *c;
    _cleanup_err_ struct err err = ERR_INIT;
    if (child_start(f->loop, spec, on_end, s, &c, &err) < 0)
        fail_msg("%s", err_msg(&err));
    assert_int_equal(s->calls, 0); /* never inside the call */
    loop_run(f->loop);
    assert_int_equal(s->calls, 1);
}

static void outputs(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "echo out; echo err >&2; exit 7");
    spec.on_stderr = on_stderr;
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.exit_code, 7);
    assert_int_equal(s.signal, 0);
    assert_string_equal(str_get(&s.out), "out\n");
    assert_string_equal(str_get(&s.err), "err\n");
    assert_string_equal(str_get(&s.live), "err\n");
    seen_done(&s);
}

static void no_output(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "exit 0");
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.exit_code, 0);
    assert_string_equal(str_get(&s.out), "");
    seen_done(&s);
}

static void input(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "cat /dev/stdin");
    struct seen s;
    size_t len = 300000; /* more than a pipe holds */
    char *big = xmalloc(len);
    for (size_t i = 0; i < len; i++)
        big[i] = (char)(i * 13);
    spec.input = big;
    spec.input_len = len;
    run(state, &spec, &s);
    assert_int_equal(s.out.len, len);
    assert_memory_equal(s.out.p, big, len);
    seen_done(&s);
    /* One that does not read it is no problem. */
    spec = shell(argv, "exit 3");
    spec.input = big;
    spec.input_len = len;
    run(state, &spec, &s);
    assert_int_equal(s.exit_code, 3);
    seen_done(&s);
    free(big);
    spec = shell(argv, "wc -c");
    run(state, &spec, &s);
    assert_int_equal(atoi(str_get(&s.out)), 0);
    seen_done(&s);
}

static void inherited_stdin(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "cat; cut -d' ' -f5 /proc/self/stat >&2");
    spec.inherit_stdin = true;
    int saved = dup(0), fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "typed", 5), 5);
    close(fds[1]);
    dup2(fds[0], 0);
    close(fds[0]);
    struct seen s;
    run(state, &spec, &s);
    dup2(saved, 0);
    close(saved);
    assert_string_equal(str_get(&s.out), "typed");
    assert_int_equal(atoi(str_get(&s.err)), getpgrp()); /* may read the terminal */
    seen_done(&s);
}

static void inherited_stderr(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "echo shown >&2");
    spec.inherit_stderr = true;
    int saved = dup(2), fds[2];
    assert_int_equal(pipe(fds), 0);
    dup2(fds[1], 2);
    close(fds[1]);
    struct seen s;
    run(state, &spec, &s);
    dup2(saved, 2);
    close(saved);
    char buf[32] = "";
    assert_int_equal(read(fds[0], buf, sizeof buf - 1), 6);
    close(fds[0]);
    assert_string_equal(buf, "shown\n");
    assert_string_equal(str_get(&s.err), "");
    seen_done(&s);
}

static void environments(void **state) {
    static const char *const env[] = {"CHILD_A=first", "CHILD_B=b=c", "CHILD_A=last", NULL};
    const char *argv[4];
    struct child_spec spec =
        shell(argv, "echo \"$CHILD_A,$CHILD_B,$CHILD_C\"; env | grep -c '^CHILD_A='");
    spec.env = env;
    setenv("CHILD_A", "old", 1);
    setenv("CHILD_C", "kept", 1);
    struct seen s;
    run(state, &spec, &s);
    assert_string_equal(str_get(&s.out), "last,b=c,kept\n1\n");
    seen_done(&s);
    unsetenv("CHILD_A");
    unsetenv("CHILD_C");
}

static void ended_by_a_signal(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "echo before; kill -TERM $$");
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.exit_code, -1);
    assert_int_equal(s.signal, SIGTERM);
    assert_string_equal(str_get(&s.out), "before\n");
    seen_done(&s);
}

static void cannot_start(void **state) {
    struct fixture *f = *state;
    char path[] = "/tmp/slipway-child-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const char *argv[] = {"/nonexistent/program", NULL};
    struct child_spec spec = {.argv = argv, .max_stdout = 1};
    struct child *c = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(child_start(f->loop, &spec, on_end, NULL, &c, &err), -ENOENT);
    assert_string_equal(err_msg(&err),
                        "cannot run /nonexistent/program: No such file or directory");
    argv[0] = "no-such-program-in-the-path";
    assert_int_equal(child_start(f->loop, &spec, on_end, NULL, &c, &err), -ENOENT);
    argv[0] = path;
    assert_int_equal(child_start(f->loop, &spec, on_end, NULL, &c, &err), -EACCES);
    argv[0] = "";
    assert_int_equal(child_start(f->loop, &spec, on_end, NULL, &c, &err), -ENOENT);
    assert_null(c);
    unlink(path);
    struct loop *virtual = loop_new_virtual(0);
    argv[0] = "true";
    assert_int_equal(child_start(virtual, &spec, on_end, NULL, &c, &err), -ENOTSUP);
    loop_free(virtual);
}

static void path_search(void **state) {
    struct fixture *f = *state;
    char dir[] = "/tmp/slipway-child-XXXXXX", name[128], *cwd = getcwd(NULL, 0);
    _cleanup_free_ char *old = xstrdup(getenv("PATH"));
    assert_non_null(mkdtemp(dir));
    static const char *const subs[] = {"no", "dir", "yes"};
    for (size_t i = 0; i < ARRAY_LEN(subs); i++) {
        snprintf(name, sizeof name, "%s/%s", dir, subs[i]);
        assert_int_equal(mkdir(name, 0755), 0);
        snprintf(name, sizeof name, "%s/%s/slipway-prog", dir, subs[i]);
        if (i == 1) {
            assert_int_equal(mkdir(name, 0755), 0);
            continue;
        }
        FILE *file = fopen(name, "we");
        fputs("#!/bin/sh\necho \"$0\"\n", file);
        fclose(file);
        chmod(name, i == 2 ? 0755 : 0644);
    }
    /* What is not executable, or no file, is passed over. */
    _cleanup_free_ char *path = xasprintf("/proc/1/root:%1$s/nix:%1$s/no:%1$s/dir:%1$s/yes", dir);
    setenv("PATH", path, 1);
    const char *argv[] = {"slipway-prog", NULL};
    struct child_spec spec = {.argv = argv, .max_stdout = 4096};
    struct seen s;
    run(state, &spec, &s);
    snprintf(name, sizeof name, "%s/yes/slipway-prog\n", dir);
    assert_string_equal(str_get(&s.out), name);
    seen_done(&s);
    /* The current directory is none of $PATH's business. */
    snprintf(name, sizeof name, "%s/yes", dir);
    assert_int_equal(chdir(name), 0);
    static const char *const here[] = {
        "", ".", ":/nonexistent", "/nonexistent:", "/proc/1/root:.", "../yes"};
    struct child *c;
    for (size_t i = 0; i < ARRAY_LEN(here); i++) {
        setenv("PATH", here[i], 1);
        assert_int_equal(child_start(f->loop, &spec, on_end, NULL, &c, NULL), -ENOENT);
    }
    argv[0] = "./slipway-prog";
    run(state, &spec, &s);
    assert_string_equal(str_get(&s.out), "./slipway-prog\n");
    seen_done(&s);
    assert_int_equal(chdir(cwd), 0);
    free(cwd);
    setenv("PATH", old, 1);
    for (size_t i = 0; i < ARRAY_LEN(subs); i++) {
        snprintf(name, sizeof name, "%s/%s/slipway-prog", dir, subs[i]);
        remove(name);
        snprintf(name, sizeof name, "%s/%s", dir, subs[i]);
        rmdir(name);
    }
    rmdir(dir);
}

static void too_much_output(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "echo 12345");
    struct seen s;
    spec.max_stdout = 6;
    run(state, &spec, &s);
    assert_int_equal(s.error, 0);
    seen_done(&s);
    spec.max_stdout = 5;
    run(state, &spec, &s);
    assert_int_equal(s.error, -EFBIG);
    assert_string_equal(str_get(&s.out), "12345");
    seen_done(&s);
    spec = shell(argv, "exec yes");
    run(state, &spec, &s);
    assert_int_equal(s.error, -EFBIG);
    assert_int_equal(s.signal, SIGKILL);
    assert_int_equal(s.out.len, 1 << 20);
    seen_done(&s);
    /* Too much on standard error is only cut off. */
    spec = shell(argv, "yes | head -c 500000 >&2; exit 4");
    run(state, &spec, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.exit_code, 4);
    assert_int_equal(s.err.len, 4096);
    seen_done(&s);
}

static char fifo[64];
static int writer;

/* A FIFO that the child opens. We have it open for writing as well until we ask who is alive,
 * because a FIFO that nobody has opened yet does not report its end. */
static int make_fifo(void) {
    snprintf(fifo, sizeof fifo, "/tmp/slipway-child-fifo-%d", (int)getpid());
    unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    writer = open(fifo, O_WRONLY | O_CLOEXEC);
    assert_true(writer >= 0);
    return fd;
}

/* Everybody who had the FIFO open for writing is dead: no process number needed to know it. */
static void assert_all_dead(int fd) {
    char c;
    close(writer);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    do {
        assert_int_equal(poll(&p, 1, 20000), 1);
    } while (read(fd, &c, 1) > 0);
    assert_true(p.revents & POLLHUP);
    close(fd);
    unlink(fifo);
}

static void timeout_kills_the_group(void **state) {
    int fd = make_fifo();
    const char *argv[4];
    _cleanup_free_ char *script =
        xasprintf("trap '' TERM; exec 3>%s; sleep 1000 & echo up; wait", fifo);
    struct child_spec spec = shell(argv, script);
    spec.timeout = MSEC(300);
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.error, -ETIMEDOUT);
    assert_int_equal(s.signal, SIGKILL);
    seen_done(&s);
    assert_all_dead(fd);
}

static void cancel_kills_the_group(void **state) {
    struct fixture *f = *state;
    int fd = make_fifo();
    const char *argv[4];
    _cleanup_free_ char *script = xasprintf("exec 3>%s; echo up >&3; sleep 1000 & wait", fifo);
    struct child_spec spec = shell(argv, script);
    struct seen s = {.loop = f->loop};
    struct child *c;
    assert_int_equal(child_start(f->loop, &spec, on_end, &s, &c, NULL), 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char up[3];
    do
        assert_int_equal(poll(&p, 1, 20000), 1);
    while (read(fd, up, 3) != 3);
    child_cancel(c);
    assert_int_equal(s.calls, 0);
    assert_all_dead(fd);
    child_cancel(NULL);
}

static void grandchildren_are_not_waited_for(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "sleep 1000 & echo $!");
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.error, 0);
    assert_int_equal(s.exit_code, 0);
    int pid = atoi(str_get(&s.out));
    assert_true(pid > 1);
    kill(pid, SIGKILL);
    seen_done(&s);
}

static void output_closed_early(void **state) {
    const char *argv[4];
    struct child_spec spec = shell(argv, "echo x; exec >&- 2>&-; sleep 0.1; exit 5");
    struct seen s;
    run(state, &spec, &s);
    assert_int_equal(s.exit_code, 5);
    assert_string_equal(str_get(&s.out), "x\n");
    seen_done(&s);
}

static void nothing_is_inherited(void **state) {
    int leak = open("/dev/null", O_RDONLY); /* not close-on-exec, as some libraries do */
    signal(SIGPIPE, SIG_IGN);
    sigset_t usr, old;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr, &old);
    const char *argv[4];
    struct child_spec spec =
        shell(argv, "ls /proc/self/fd | wc -l; "
                    "grep -cE 'Sig(Ign|Blk):.[0-9a-f]{8}[08]0{7}$' /proc/self/status");
    struct seen s;
    run(state, &spec, &s);
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGPIPE, SIG_DFL);
    close(leak);
    /* 0, 1, 2 and the directory that ls reads; both signal sets empty but for 32 and 33, which are
     * glibc's own. */
    assert_string_equal(str_get(&s.out), "4\n2\n");
    seen_done(&s);
}

/* A daemon may have been started with 0, 1 and 2 closed: then the pipes themselves get these
 * numbers. */
static void works_with_closed_standard_descriptors(void **state) {
    (void)state;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        close(0);
        close(1);
        close(2);
        struct loop *loop;
        struct seen s = {0};
        const char *argv[4];
        struct child_spec spec = shell(argv, "cat; echo err >&2");
        spec.input = "in";
        spec.input_len = 2;
        struct child *c;
        if (loop_new(&loop, NULL) < 0)
            _exit(1);
        s.loop = loop;
        if (child_start(loop, &spec, on_end, &s, &c, NULL) < 0)
            _exit(2);
        loop_run(loop);
        _exit(!streq(str_get(&s.out), "in") ? 3 : !streq(str_get(&s.err), "err\n") ? 4 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void many_at_once(void **state) {
    struct fixture *f = *state;
    enum { N = 20 };
    struct seen s[N];
    struct child *c[N];
    const char *argv[4];
    struct child_spec spec = shell(argv, "read x; echo $x; exit $x");
    for (int i = 0; i < N; i++) {
        char in[16];
        s[i] = (struct seen){.loop = f->loop};
        spec.input = in;
        spec.input_len = (size_t)snprintf(in, sizeof in, "%d\n", i);
        assert_int_equal(child_start(f->loop, &spec, on_end, &s[i], &c[i], NULL), 0);
    }
    for (int done = 0; done < N;) {
        loop_run(f->loop);
        done = 0;
        for (int i = 0; i < N; i++)
            done += s[i].calls;
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(s[i].calls, 1);
        assert_int_equal(s[i].exit_code, i);
        assert_int_equal(atoi(str_get(&s[i].out)), i);
        seen_done(&s[i]);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(outputs),
        T(no_output),
        T(input),
        T(inherited_stdin),
        T(inherited_stderr),
        T(environments),
        T(ended_by_a_signal),
        T(cannot_start),
        T(path_search),
        T(too_much_output),
        T(timeout_kills_the_group),
        T(cancel_kills_the_group),
        T(grandchildren_are_not_waited_for),
        T(output_closed_early),
        T(nothing_is_inherited),
        T(works_with_closed_standard_descriptors),
        T(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
