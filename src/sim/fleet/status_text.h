/* Statuses as text, member by member in their canonical order: what changes all the time is not
 * worth the way through a tree.
 *
 *     str_addc(&out, '{');
 *     member_count(&out, "readyReplicas", 3);
 *     member_raw(&out, "conditions", old_conditions);
 *     str_addc(&out, '}');
 *     fleet_put_status_text(f, res, r, &out); */
#ifndef SIM_FLEET_STATUS_TEXT_H
#define SIM_FLEET_STATUS_TEXT_H

#include "base/json.h"
#include "base/str.h"

/* A comma if something stands before it, and "key": */
void member_key(struct str *out, const char *key);
void member_number(struct str *out, const char *key, int64_t n);
/* Left out when 0, as most numbers of statuses are. */
void member_count(struct str *out, const char *key, int64_t n);
void member_bool(struct str *out, const char *key, bool v);
/* Left out when NULL or empty. */
void member_str(struct str *out, const char *key, const char *text);
/* Microseconds since 1970. */
void member_time(struct str *out, const char *key, int64_t t);
/* A value as it stands in another text; left out when empty. */
void member_raw(struct str *out, const char *key, struct view text);
void member_value(struct str *out, const char *key, const json_t *value);

#endif
