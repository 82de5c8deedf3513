/* Times as Kubernetes' printers show them: metav1.Time and duration.HumanDuration of apimachinery.
 */
#ifndef SIM_API_HUMAN_H
#define SIM_API_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/timefmt.h"

/* duration_format(), but 2 s and more in the future is "<invalid>" (clocks may differ by less), and
 * as Go's durations it ends at 292 years. */
const char *human_duration(int64_t usec, char buf[static TIMEFMT_LEN]);

/* The time that a JSON value holds. False for what Go calls the zero time: nothing, null, the first
 * second of year 1; and for what is no time. (1970 is a time here, unlike in base/timefmt.h.) */
bool human_time(const json_t *value, int64_t *usec);

/* How long ago that was; "<unknown>" for the zero time. */
const char *human_since(int64_t now, const json_t *value, char buf[static TIMEFMT_LEN]);

#endif
