/* Times as Kubernetes' printers show them. */
#include "sim/api/human.h"

#include <stdio.h>

#include "base/mem.h"

/* Go's zero time, 0001-01-01T00:00:00Z, in microseconds since 1970. */
#define ZERO_TIME SEC(-62135596800)
/* A Go duration counts nanoseconds in 64 bits and stays at the last one. */
#define LONGEST (INT64_MAX / 1000)

const char *human_duration(int64_t usec, char buf[static TIMEFMT_LEN]) {
    if (usec / USEC_PER_SEC < -1) {
        snprintf(buf, TIMEFMT_LEN, "<invalid>");
        return buf;
    }
    return duration_format(MIN_OF(usec, LONGEST), buf);
}

bool human_time(const json_t *value, int64_t *usec) {
    int64_t t;
    if (!json_is_string(value) ||
        !time_parse(json_string_value(value), json_string_length(value), &t) || t == ZERO_TIME)
        return false;
    *usec = t;
    return true;
}

const char *human_since(int64_t now, const json_t *value, char buf[static TIMEFMT_LEN]) {
    int64_t t;
    if (human_time(value, &t))
        return human_duration(now - t, buf);
    snprintf(buf, TIMEFMT_LEN, "<unknown>");
    return buf;
}
