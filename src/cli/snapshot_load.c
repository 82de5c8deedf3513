/* Lines become objects. */
#include "cli/snapshot_load.h"

#include <stdio.h>

#include "sim/restore.h"

static int load(struct snapshot_reader *r, struct restore *to, struct err *err) {
    struct view line;
    int rc;
    while ((rc = snapshot_reader_next(r, &line, err)) == 1) {
        _cleanup_err_ struct err why = ERR_INIT;
        if (restore_object(to, line, &why))
            return snapshot_reader_fail(r, err, err_msg(&why));
    }
    return rc;
}

static void find_gaps(const struct restore *r, struct snapshot_gaps *out) {
    const char *why = NULL;
    *out =
        (struct snapshot_gaps){.unknown = restore_dropped(r), .invalid = restore_refused(r, &why)};
    (void)snprintf(out->first, sizeof out->first, "%s", strna(why));
}

int snapshot_load(struct snapshot_reader *r, const struct sim_options *opts, struct habits *habits,
                  bool learn, struct sim **out, struct snapshot_gaps *gaps, struct err *err) {
    int rc = snapshot_reader_again(r, err);
    if (rc)
        return rc;
    struct sim_options o = *opts;
    o.start = snapshot_reader_head(r)->taken;
    struct sim *sim = sim_new(&o);
    struct restore *to = restore_new(sim, habits, learn);
    rc = load(r, to, err);
    if (!rc)
        restore_end(to);
    if (!rc && gaps)
        find_gaps(to, gaps);
    restore_free(to);
    if (rc)
        sim_free(sim);
    else
        *out = sim;
    return rc;
}
