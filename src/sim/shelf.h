/* Where the objects of one resource stand: by namespace and name, with the history of their
 * changes.
 *
 * Every change takes the world's next version, is added to the history, and is told to the
 * listeners before the call returns. The history is what watches read; it reaches back
 * SHELF_MEMORY, or less when there is more than SHELF_HISTORY_BYTES of it: who asks for older gets
 * 410 Gone, as from a server whose etcd was compacted.
 *
 * Lists read a snapshot: all records in the order of their keys, immutable and shared by everybody
 * who asks between two changes. */
#ifndef SIM_SHELF_H
#define SIM_SHELF_H

#include "base/htab.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "sim/record.h"

struct world;

#define SHELF_MEMORY SEC(300) /* kube-apiserver compacts etcd every five minutes */
enum { SHELF_HISTORY_BYTES = 64 << 20 };

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
    enum change_type type;
    int64_t time;
    struct record *before; /* NULL when it was added */
    struct record
        *after; /* when it was deleted: the last state, with the version of the deletion */
};

/* All records of a shelf at one moment, by namespace, then name. */
struct snapshot {
    uint32_t refs;
    uint64_t version;
    size_t n;
    struct record *items[];
};

typedef void shelf_listener(void *arg, const struct change *change);

struct shelf;

struct shelf *shelf_new(struct world *w, const struct kind *kind);
void shelf_free(struct shelf *s);

const struct kind *shelf_kind(const struct shelf *s);
size_t shelf_len(const struct shelf *s);
/* NULL when there is none. `ns` is NULL or "" for what has no namespace. */
struct record *shelf_get(const struct shelf *s, const char *ns, const char *name);

/* Adds or replaces the object (by its metadata's namespace and name) and returns its new record,
 * which belongs to the shelf. The value gets its resourceVersion. NULL when it cannot be stored
 * (record_of()); nothing has changed then. */
struct record *shelf_put(struct shelf *s, json_t *value, struct err *err);
/* The same object with another status. */
struct record *shelf_put_status(struct shelf *s, struct record *old, struct view status,
                                struct err *err);
/* The same object with a piece of its text replaced: record_splice(). */
struct record *shelf_splice(struct shelf *s, struct record *old, size_t at, size_t len,
                            struct view text, struct err *err);
void shelf_remove(struct shelf *s, struct record *r);

/* In the order of registration. A listener may change this shelf or others. */
void shelf_listen(struct shelf *s, shelf_listener *fn, void *arg);
void shelf_unlisten(struct shelf *s, shelf_listener *fn, void *arg);

/* A new reference. */
struct snapshot *shelf_snapshot(struct shelf *s);
/* As it was at this version, or NULL when the history does not reach back so far: what a list in
 * pages is continued from. */
struct snapshot *shelf_snapshot_at(struct shelf *s, uint64_t version);
void snapshot_unref(struct snapshot *snap); /* takes NULL */
/* The first item not before this key. */
size_t snapshot_seek(const struct snapshot *snap, const char *ns, const char *name);

/* History by position: a position is valid while it is not less than shelf_first(). */
uint64_t shelf_first(const struct shelf *s);
uint64_t shelf_end(const struct shelf *s); /* where the next change will be */
const struct change *shelf_change(const struct shelf *s, uint64_t position);
/* The position after the change with this version; false when it is no longer known what followed
 * that version. */
bool shelf_position(const struct shelf *s, uint64_t version, uint64_t *position);
/* Forgets all history, as a compaction would. */
void shelf_compact(struct shelf *s);

#endif
