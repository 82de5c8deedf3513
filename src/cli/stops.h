/* The stop of everything (engine/stop.h) as verbs show it: who has paused, where, since when, why,
 * and what ends it. There is one for each namespace with a controller at the most. */
#ifndef CLI_STOPS_H
#define CLI_STOPS_H

#include "base/jsonw.h"
#include "engine/stop.h"
#include "model/store.h"

struct stops_row {
    const char *ns, *uid;
    bool readable; /* else nothing is known of who and why */
    struct stop stop;
};
struct stops {
    const struct stops_row *rows; /* by namespace */
    size_t n;
};

/* `maps`: ConfigMaps, those with SLOTS_LABEL among them. Texts are the arena's or the store's. */
void stops_take(const struct store *maps, struct arena *arena, struct stops *out);

/* "Everything is paused by alice@ops since 12:03 UTC, in namespace slipway-system: storage is red;
 * 'slipway resume --all' ends it", without a newline. */
void stops_text(const struct stops_row *row, const char *prog, int64_t now, struct str *out);

/* "paused": an array; empty when nothing is. */
void stops_write(struct jsonw *w, const struct stops *s);

#endif
