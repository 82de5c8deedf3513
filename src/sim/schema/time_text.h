/* Points in time as Kubernetes' servers read and print them: metav1.Time (RFC 3339, whole seconds)
 * and metav1.MicroTime (exactly six digits of a fraction). base/timefmt.h reads more than a server
 * does; here what a server refuses is refused, in its words.
 *
 * A time is int64_t microseconds since 1970, in the years 0 to 9999. TIME_TEXT_ZERO is Go's zero
 * time, which is printed as null and means "not set". */
#ifndef SIM_SCHEMA_TIME_TEXT_H
#define SIM_SCHEMA_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* 0001-01-01T00:00:00Z. */
#define TIME_TEXT_ZERO (INT64_C(-62135596800) * 1000000)

enum { TIME_TEXT_LEN = 32 };

/* As Go's time.Parse() with the layout of the type. -EINVAL with its error. A Time's fraction of a
 * second is cut off, as it is when the time is printed. */
int time_text_parse(const char *s, size_t len, bool micro, int64_t *usec, struct err *err);
/* Is the time one that can be printed? */
bool time_text_valid(int64_t usec);
/* In UTC. */
const char *time_text_format(int64_t usec, bool micro, char buf[static TIME_TEXT_LEN]);

#endif
