/* The stop of everything as verbs show it. */
#include "cli/stops.h"

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/locks.h"

void stops_take(const struct store *maps, struct arena *arena, struct stops *out) {
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(maps, &n);
    struct stops_row *rows = arena_alloc(arena, (n + 1) * sizeof *rows);
    *out = (struct stops){.rows = rows};
    for (size_t i = 0; i < n; i++) {
        const struct config_map *map = (const struct config_map *)all[i];
        if (!stop_is(map))
            continue;
        struct stops_row *row = &rows[out->n++];
        *row = (struct stops_row){.ns = strna(map->meta.ns), .uid = strna(map->meta.uid)};
        row->readable = stop_read(map, arena, &row->stop);
    }
}

void stops_text(const struct stops_row *row, const char *prog, int64_t now, struct str *out) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct stop *stop = &row->stop;
    str_add(out, "Everything is paused");
    if (row->readable)
        str_addf(out, " by %s", stop->by);
    if (stop->since)
        str_addf(out, " since %s", locks_clock(stop->since, now, &arena));
    str_addf(out, ", in namespace %s", row->ns);
    if (!row->readable)
        str_add(out, ": by whom and why cannot be read from its ConfigMap " STOP_MAP);
    else if (*stop->reason)
        str_addf(out, ": %s", stop->reason);
    str_addf(out, "; '%s resume --all' ends it", prog);
}

void stops_write(struct jsonw *w, const struct stops *s) {
    char since[TIMEFMT_LEN];
    jsonw_kbegin(w, "paused", '[');
    for (size_t i = 0; i < s->n; i++) {
        const struct stops_row *row = &s->rows[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "namespace", row->ns);
        jsonw_kopt(w, "by", row->stop.by);
        jsonw_kopt(w, "reason", row->stop.reason);
        if (row->stop.since)
            jsonw_kstr(w, "since", time_format(row->stop.since, false, since));
        jsonw_end(w);
    }
    jsonw_end(w);
}
