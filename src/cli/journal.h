/* What the journal of a Maintenance tells: which phases it was in, and for how long each. Pure. */
#ifndef CLI_JOURNAL_H
#define CLI_JOURNAL_H

#include "base/arena.h"
#include "base/jsonw.h"
#include "model/own.h"

struct journal_span {
    const char *phase;
    int64_t began, ended; /* wall clock; ended 0: it is there still */
};

/* In their order, without the end (Complete, Failed, Cancelled). The journal keeps the last
 * transitions alone: what was before the first is not known, unless that is the beginning. */
size_t journal_spans(const struct maintenance *m, struct arena *arena,
                     const struct journal_span **out);
/* When it was over; 0: it is not. */
int64_t journal_ended(const struct maintenance *m);

/* "Draining 4m, Operating 2m10s", those of a second and more; `now` for the last. */
void journal_text(const struct maintenance *m, int64_t now, struct str *out);
/* "phases":[...] */
void journal_write(struct jsonw *w, const struct maintenance *m, int64_t now);

#endif
