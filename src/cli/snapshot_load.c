/* Lines become objects. */
#include "cli/snapshot_load.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/snapshot_strip.h"
#include "cli/snapshot_take.h"
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

static const struct snapshot_kind *custom_kind(const char *resource) {
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++)
        if (snapshot_kinds[i].custom && streq(snapshot_kinds[i].resource, resource))
            return &snapshot_kinds[i];
    return NULL;
}

/* It is defined, so that one can see that it is there, and withheld. */
static void withhold(struct sim *sim, struct restore *to, const struct kind *kind,
                     const char *why) {
    _cleanup_json_ json_t *definition = snapshot_definition(kind);
    _cleanup_free_ char *line = json_dumps(definition, JSON_COMPACT);
    _cleanup_free_ char *text =
        xasprintf("it was not read when the snapshot was taken%s%s", *why ? ": " : "", why);
    if (!restore_object(to, (struct view){line, strlen(line)}, NULL))
        api_withhold(sim_api(sim), kind->group, kind->resource, text);
}

/* Of built-in kinds there is nothing to tell: what simulates the cluster needs them. */
static void withhold_unread(struct snapshot_reader *r, struct sim *sim, struct restore *to) {
    const json_t *list = json_object_get(snapshot_reader_tail(r), "unread");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *u = json_array_get(list, i);
        const struct snapshot_kind *k = custom_kind(strna(json_str(u, "resource")));
        if (k)
            withhold(sim, to, k->custom, strna(json_str(u, "why")));
    }
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
    if (!rc) {
        withhold_unread(r, sim, to);
        restore_end(to);
    }
    if (!rc && gaps)
        find_gaps(to, gaps);
    restore_free(to);
    if (rc)
        sim_free(sim);
    else
        *out = sim;
    return rc;
}
