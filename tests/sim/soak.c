/* The seeded soak: random clusters, random drains, a network that does harm, an oracle.
 *
 *     soak [--seeds N] [--first SEED] [--jobs N] [--stop-after N] [--trace] [--table]
 *
 * A seed that fails prints what was broken and the command that plays it again; `--trace` tells
 * everything that happened. At the end: how many failed, and what was covered. Exit status 0 when
 * no seed failed. */
#include "soak.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
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
    TWIN_EVERY = 8, /* of the clusters without trouble, every so many is drained undisturbed, too */
    WANTED = 100,   /* of each fault at each kind of write, in a long run */
};

/* What a worker leaves behind, in memory that all share. */
struct share {
    uint64_t seed; /* at work on it */
    uint64_t done, failed, kills, stops, events, requests, twins, simulated;
    struct chaos_counts counts;
};

struct options {
    uint64_t first, seeds;
    unsigned jobs, stop_after;
    bool trace, table;
    const char *program;
};

static void report(const struct options *o, uint64_t seed, const char *what) {
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "FAILED seed %" PRIu64 "\n", seed);
    for (const char *p = what; *p;) {
        size_t n = strcspn(p, "\n");
        str_addf(&text, "  %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
    str_addf(&text, "  again: %s --first %" PRIu64 " --seeds 1 --trace\n", o->program, seed);
    fflush(stdout);
    if (write(STDOUT_FILENO, str_get(&text), text.len) < 0)
        _exit(2);
}

static bool depends_on_time(enum drain_phase p) {
    return p == DRAIN_TIMED_OUT || p == DRAIN_REFUSED;
}

/* The same without faults must end the same way. */
static char *twin(uint64_t seed, const struct soak_result *bad, struct share *s) {
    static struct chaos_counts unused;
    struct soak_result good;
    soak_run(seed, &(struct soak_options){.calm = true, .counts = &unused}, &good);
    s->twins++;
    char *what = NULL;
    if (good.violations) {
        what = xasprintf("undisturbed: %s", good.violations);
    } else if (good.n_nodes == bad->n_nodes) {
        for (size_t i = 0; i < good.n_nodes && !what; i++)
            /* A timeout is of its time, and so is a refusal: the pod in question may finish. */
            if (good.phases[i] != bad->phases[i] && !depends_on_time(good.phases[i]) &&
                !depends_on_time(bad->phases[i]))
                what = xasprintf(
                    "promise 4: node %zu of the targets ended as %s, undisturbed as %s", i,
                    drain_phase_word(bad->phases[i]), drain_phase_word(good.phases[i]));
    }
    free(good.violations);
    return what;
}

static void one(const struct options *o, uint64_t seed, struct share *s) {
    struct soak_result result;
    s->seed = seed;
    alarm(SEED_LIMIT);
    soak_run(seed, &(struct soak_options){.trace = o->trace, .counts = &s->counts}, &result);
    if (!result.violations && result.benign && result.n_nodes && seed % TWIN_EVERY == 0)
        result.violations = twin(seed, &result, s);
    if (result.violations) {
        report(o, seed, result.violations);
        s->failed++;
    }
    if (o->trace)
        fprintf(stderr, "digest %016" PRIx64 ", %" PRIu64 " requests, %.1f simulated seconds\n",
                result.digest, result.requests, (double)result.took / 1e6);
    free(result.violations);
    s->done++;
    s->kills += result.kills;
    s->stops += result.stops;
    s->events += result.events;
    s->requests += result.requests;
    s->simulated += (uint64_t)result.took / 1000000;
}

static void work(const struct options *o, unsigned job, uint64_t from, struct share *s) {
    for (uint64_t seed = from; seed < o->first + o->seeds; seed += o->jobs) {
        (void)job;
        one(o, seed, s);
        if (o->stop_after && s->failed >= o->stop_after)
            break;
    }
    exit(0);
}

/* --- the table --- */

static bool print_table(const struct chaos_counts *c) {
    bool complete = true;
    printf("\n%-18s", "carried out/lost");
    for (int f = 0; f < CHAOS_FAULTS; f++)
        printf(" %11s", chaos_fault_word(f));
    printf("\n");
    for (int k = 0; k < CHAOS_KINDS; k++) {
        if (!c->calls[k])
            continue;
        printf("%-18s", chaos_kind_word(k));
        for (int f = 0; f < CHAOS_FAULTS; f++) {
            char text[32] = "-";
            bool can1 = chaos_possible(k, f, true), can0 = chaos_possible(k, f, false);
            const uint64_t *n = c->faults[k][f];
            if (can1 && can0)
                (void)snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, n[1], n[0]);
            else if (can1)
                (void)snprintf(text, sizeof text, "%" PRIu64 "/-", n[1]);
            else if (can0)
                (void)snprintf(text, sizeof text, k < CHAOS_WRITES ? "-/%" PRIu64 : "%" PRIu64,
                               n[0]);
            printf(" %11s", text);
            complete &= k >= CHAOS_WRITES || k == CHAOS_OTHER ||
                        ((!can1 || n[1] >= WANTED) && (!can0 || n[0] >= WANTED));
        }
        printf("   of %" PRIu64 "\n", c->calls[k]);
    }
    printf("every fault at every kind of write %d times or more: %s\n", WANTED,
           complete ? "yes" : "no");
    return complete;
}

static void add(struct chaos_counts *to, const struct chaos_counts *from) {
    for (int k = 0; k < CHAOS_KINDS; k++) {
        to->calls[k] += from->calls[k];
        for (int f = 0; f < CHAOS_FAULTS; f++)
            for (int a = 0; a < 2; a++)
                to->faults[k][f][a] += from->faults[k][f][a];
    }
}

/* --- workers --- */

static pid_t spawn(const struct options *o, unsigned job, uint64_t from, struct share *s) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (!pid)
        work(o, job, from, s);
    return pid;
}

/* A worker has died of a seed: that one failed, and the rest is somebody else's. */
static pid_t bury(const struct options *o, unsigned job, int status, struct share *s) {
    _cleanup_free_ char *what =
        !WIFSIGNALED(status) ? xasprintf("ended with status %d", WEXITSTATUS(status))
        : WTERMSIG(status) == SIGALRM
            ? xasprintf("took longer than %d s", SEED_LIMIT)
            : xasprintf("died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    report(o, s->seed, what);
    s->failed++;
    s->done++;
    uint64_t next = s->seed + o->jobs;
    bool more = next < o->first + o->seeds && (!o->stop_after || s->failed < o->stop_after);
    return more ? spawn(o, job, next, s) : 0;
}

static int run(const struct options *o) {
    struct share *shares = mmap(NULL, sizeof *shares * o->jobs, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shares == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    pid_t pids[JOBS_MAX] = {0};
    unsigned running = 0;
    for (unsigned j = 0; j < o->jobs && j < o->seeds; j++, running++)
        pids[j] = spawn(o, j, o->first + j, &shares[j]);
    while (running) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0)
            break;
        for (unsigned j = 0; j < o->jobs; j++) {
            if (pids[j] != pid)
                continue;
            pids[j] = status ? bury(o, j, status, &shares[j]) : 0;
            running -= !pids[j];
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    struct share sum = {0};
    for (unsigned j = 0; j < o->jobs; j++) {
        const struct share *s = &shares[j];
        sum.done += s->done;
        sum.failed += s->failed;
        sum.kills += s->kills;
        sum.stops += s->stops;
        sum.events += s->events;
        sum.requests += s->requests;
        sum.twins += s->twins;
        sum.simulated += s->simulated;
        add(&sum.counts, &s->counts);
    }
    if (o->table)
        (void)print_table(&sum.counts);
    printf("%" PRIu64 " seeds, %" PRIu64 " failed; %" PRIu64 " requests, %" PRIu64
           " processes killed, %" PRIu64 " stopped, %" PRIu64 " events, %" PRIu64
           " undisturbed twins, %.1f simulated hours in %.1f s\n",
           sum.done, sum.failed, sum.requests, sum.kills, sum.stops, sum.events, sum.twins,
           (double)sum.simulated / 3600,
           (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9);
    return sum.failed ? 1 : 0;
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    if (!*text || *end) {
        fprintf(stderr, "soak: %s is not a number\n", text);
        exit(64);
    }
    return n;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'},
        {"first", required_argument, NULL, 'f'},
        {"jobs", required_argument, NULL, 'j'},
        {"trace", no_argument, NULL, 't'},
        {"stop-after", required_argument, NULL, 'x'},
        {"table", no_argument, NULL, 'T'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.first = 1, .seeds = 100, .jobs = 2, .program = argv[0]};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            o.seeds = number(optarg);
        else if (c == 'f')
            o.first = number(optarg);
        else if (c == 'j')
            o.jobs = (unsigned)MIN_OF(MAX_OF(number(optarg), UINT64_C(1)), (uint64_t)JOBS_MAX);
        else if (c == 'x')
            o.stop_after = (unsigned)number(optarg);
        else if (c == 't')
            o.trace = true;
        else if (c == 'T')
            o.table = true;
        else
            return 64;
    }
    if (o.trace)
        o.jobs = 1;
    return run(&o);
}
