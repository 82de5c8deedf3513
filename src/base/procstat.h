/* What this process uses, as the kernel counts it. */
#ifndef BASE_PROCSTAT_H
#define BASE_PROCSTAT_H

#include <stdint.h>

/* What could not be found out is negative. */
struct procstat {
    double cpu;      /* seconds */
    int64_t memory;  /* bytes in use */
    int64_t fds;     /* open */
    int64_t max_fds; /* that may be */
    double start;    /* seconds since 1970 */
};

void procstat_read(struct procstat *out);

#endif
