/* The report of `doctor`: as people read it, as a table, and as a document. */
#ifndef CLI_DOCTOR_SHOW_H
#define CLI_DOCTOR_SHOW_H

#include "cli/doctor_checks.h"
#include "cli/doctor_server.h"
#include "engine/lint.h"

struct doctor_report {
    const struct doctor_findings *findings; /* about the server and what drains have left behind */
    const struct lint *lint;                /* NULL: could not be looked at */
    const struct doctor_checks *checks;     /* NULL: not looked at */
    const char *const *unread;              /* resources that could not be listed */
    size_t n_unread;
    bool all;       /* in text: however many there are */
    bool only_lint; /* in text: no sum of the findings */
};

/* Lines of TEXT_WIDTH columns, but for commands: these are not broken, so that they can be pasted.
 * Without `all` the first few of each group, and how many more there are. */
void doctor_text(const struct doctor_report *r, const char *prog, struct term *out);
/* A row for each finding of the lint and of the checks; the name is KIND/NAMESPACE/NAME. */
struct table *doctor_table(const struct doctor_report *r);
/* schema slipway.doctor/1.3 (docs/doctor.md). */
void doctor_json(const struct doctor_report *r, struct str *out);

#endif
