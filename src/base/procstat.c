/* What this process uses. */
#include "base/procstat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { STAT_MAX = 4096 }; /* bytes of /proc/self/stat */

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int64_t count_fds(void) {
    DIR *dir = opendir("/proc/self/fd");
    int64_t n = 0;
    if (!dir)
        return -1;
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n - 1; /* without the one that was just open for this */
}

static double now_minus_uptime(void) {
    struct timespec wall, boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (double)(wall.tv_sec - boot.tv_sec) + (double)(wall.tv_nsec - boot.tv_nsec) / 1e9;
}

/* Fields 22 and 24 of proc(5): when it began, in ticks since the machine did, and its pages. The
 * second field is its name, in brackets, and may hold anything. */
static void read_stat(struct procstat *out) {
    _cleanup_free_ char *text = NULL;
    size_t len;
    unsigned long long start;
    long pages;
    if (file_read("/proc/self/stat", STAT_MAX, &text, &len, NULL))
        return;
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest, /* NOLINT(cert-err34-c): the kernel's own numbers */
                        ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                        "%*d %*d %llu %*u %ld",
                        &start, &pages) != 2)
        return;
    out->memory = (int64_t)pages * sysconf(_SC_PAGESIZE);
    out->start = now_minus_uptime() + (double)start / (double)sysconf(_SC_CLK_TCK);
}

void procstat_read(struct procstat *out) {
    struct rusage use;
    struct rlimit limit;
    *out = (struct procstat){.cpu = -1, .memory = -1, .max_fds = -1, .start = -1};
    if (!getrusage(RUSAGE_SELF, &use))
        out->cpu = seconds(use.ru_utime) + seconds(use.ru_stime);
    if (!getrlimit(RLIMIT_NOFILE, &limit))
        out->max_fds = (int64_t)limit.rlim_cur;
    out->fds = count_fds();
    read_stat(out);
}
