/* Seeds shared out to processes. */
#include "workers.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum {
    JOBS_MAX = 16,
    SEED_LIMIT = 120, /* seconds of the wall clock for one seed: it takes a fraction of one */
};

/* What a process leaves behind, in memory that all share. */
struct desk {
    uint64_t seed; /* at work on it */
    uint64_t done, failed;
};

static void *shared(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return p;
}

static void report(const struct workers *w, uint64_t seed, const char *what) {
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "FAILED seed %" PRIu64 "\n", seed);
    for (const char *p = what; *p;) {
        size_t n = strcspn(p, "\n");
        str_addf(&text, "  %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
    str_addf(&text, "  again: %s --first %" PRIu64 " --seeds 1 --trace\n", w->program, seed);
    fflush(stdout);
    if (write(STDOUT_FILENO, str_get(&text), text.len) < 0)
        _exit(2);
}

static void work(const struct workers *w, uint64_t from, struct desk *d, void *share) {
    for (uint64_t seed = from; seed < w->first + w->seeds; seed += w->jobs) {
        d->seed = seed;
        alarm(SEED_LIMIT);
        _cleanup_free_ char *broken = w->play(w, seed, share);
        if (broken) {
            report(w, seed, broken);
            d->failed++;
        }
        d->done++;
        if (w->stop_after && d->failed >= w->stop_after)
            break;
    }
    exit(0);
}

static pid_t spawn(const struct workers *w, uint64_t from, struct desk *d, void *share) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (!pid)
        work(w, from, d, share);
    return pid;
}

/* A process has died of a seed: that one failed, and the rest is somebody else's. */
static pid_t bury(const struct workers *w, int status, struct desk *d, void *share) {
    _cleanup_free_ char *what =
        !WIFSIGNALED(status) ? xasprintf("ended with status %d", WEXITSTATUS(status))
        : WTERMSIG(status) == SIGALRM
            ? xasprintf("took longer than %d s", SEED_LIMIT)
            : xasprintf("died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    report(w, d->seed, what);
    d->failed++;
    d->done++;
    uint64_t next = d->seed + w->jobs;
    bool more = next < w->first + w->seeds && (!w->stop_after || d->failed < w->stop_after);
    return more ? spawn(w, next, d, share) : 0;
}

void workers_run(const struct workers *w, struct worked *out) {
    struct desk *desks = shared(sizeof *desks * w->jobs);
    char *shares = shared(w->share * w->jobs);
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    pid_t pids[JOBS_MAX] = {0};
    unsigned running = 0;
    for (unsigned j = 0; j < w->jobs && j < w->seeds; j++, running++)
        pids[j] = spawn(w, w->first + j, &desks[j], shares + j * w->share);
    while (running) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0)
            break;
        for (unsigned j = 0; j < w->jobs; j++) {
            if (pids[j] != pid)
                continue;
            pids[j] = status ? bury(w, status, &desks[j], shares + j * w->share) : 0;
            running -= !pids[j];
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    *out = (struct worked){.shares = shares,
                           .seconds = (double)(t1.tv_sec - t0.tv_sec) +
                                      (double)(t1.tv_nsec - t0.tv_nsec) / 1e9};
    for (unsigned j = 0; j < w->jobs; j++) {
        out->done += desks[j].done;
        out->failed += desks[j].failed;
    }
}

static uint64_t number(const struct workers *w, const char *text) {
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    if (!*text || *end) {
        fprintf(stderr, "%s: %s is not a number\n", w->program, text);
        exit(64);
    }
    return n;
}

void workers_options(struct workers *w, int argc, char **argv) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'},
        {"first", required_argument, NULL, 'f'},
        {"jobs", required_argument, NULL, 'j'},
        {"trace", no_argument, NULL, 't'},
        {"stop-after", required_argument, NULL, 'x'},
        {"table", no_argument, NULL, 'T'},
        {NULL, 0, NULL, 0},
    };
    w->program = argv[0];
    w->first = 1;
    w->seeds = 100;
    w->jobs = 2;
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            w->seeds = number(w, optarg);
        else if (c == 'f')
            w->first = number(w, optarg);
        else if (c == 'j')
            w->jobs = (unsigned)MIN_OF(MAX_OF(number(w, optarg), UINT64_C(1)), (uint64_t)JOBS_MAX);
        else if (c == 'x')
            w->stop_after = (unsigned)number(w, optarg);
        else if (c == 't')
            w->trace = true;
        else if (c == 'T')
            w->table = true;
        else
            exit(64);
    }
    if (w->trace)
        w->jobs = 1;
}
