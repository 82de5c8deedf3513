/* Points in time and durations as text.
 *
 * Times are int64_t microseconds since 1970 (UTC); 0 means "not set". Durations are int64_t
 * microseconds. */
#ifndef BASE_TIMEFMT_H
#define BASE_TIMEFMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define USEC_PER_SEC  INT64_C(1000000)
#define USEC_PER_MSEC INT64_C(1000)
#define SEC(n)        ((int64_t)(n)*USEC_PER_SEC)
#define MSEC(n)       ((int64_t)(n)*USEC_PER_MSEC)

enum { TIMEFMT_LEN = 40 };

/* RFC 3339, any offset, any number of fraction digits; false when it is not one. */
bool time_parse(const char *s, size_t len, int64_t *usec);
/* "2026-11-15T08:00:00Z"; with `micro` six fraction digits, as Kubernetes' MicroTime. */
const char *time_format(int64_t usec, bool micro, char buf[static TIMEFMT_LEN]);
/* An HTTP date ("Sun, 15 Nov 2026 08:00:00 GMT"). */
bool time_parse_http(const char *s, int64_t *usec);

/* As kubectl shows ages: "45s", "4m12s", "31m", "3h31m", "2d4h", "17d", "2y38d". What lies in the
 * future (clocks differ) is "0s". */
const char *duration_format(int64_t usec, char buf[static TIMEFMT_LEN]);
/* The same for limits, where "0s" would be no limit: less than a second is "500ms" or "20us". */
const char *duration_format_limit(int64_t usec, char buf[static TIMEFMT_LEN]);
/* As Go prints a time.Duration: "1m0s", "1h0m0s", "1.5s", "250ms". For lines that are kubectl's. */
const char *duration_format_go(int64_t usec, char buf[static TIMEFMT_LEN]);
/* Go's notation ("1h30m", "500ms", "-1.5h", "0"), and a bare number means seconds. Less than a
 * microsecond is cut off. */
int duration_parse(const char *s, int64_t *usec, struct err *err);

#endif
