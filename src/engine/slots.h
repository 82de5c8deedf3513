/* Slots: the right to be out of service. Who holds those of a policy, and who waits for one, is one
 * record in one object (the ConfigMap slipway-slots-<policy>), changed by compare-and-swap only, so
 * that no clock and no leader is needed for "never more than N":
 *
 *     {"v":1,"fence":7,
 *      "slots":[{"id":"6f0c...","node":"w1","uid":"...","operation":"Reboot","by":"fleetlock",
 *                "state":"granted","boot":"...","since":"2026-11-16T08:00:00Z","asked":"...",
 *                "drained":"...","granted":"..."}],
 *      "waiting":[{"node":"w2","operation":"Reboot","by":"fleetlock","boot":"...","since":"...",
 *                  "asked":"..."}]}
 *
 * A holding goes through
 *
 *     taken -> drained -> granted -> steady -> returned -> (gone)
 *
 * and may leave out steady (it came back by itself), or all between taken and returned (it was let
 * go before anybody was told to go on). From `drained` it is `taken` again when a pod comes that
 * must go: whoever is about to be told lists the node's pods first. It becomes `granted` when
 * somebody asks who is about to be told, and only then, and only in the boot that it was drained
 * in, may a node be told to reboot. Nothing leads back from `granted` by time.
 *
 * The rules of proofs/slots.pml that bind those who use this:
 *  - what a client reports is written (slots_report()) before it is answered;
 *  - a Node is changed for a slot in this order: read the Node, read the slots again from the
 *    quorum, write the Node on the version that was read;
 *  - a cordon carries the `id` of the holding, and one of another id is somebody else's.
 *
 * Whoever leads writes the number of its term (`fence`) before anything else, which makes every
 * write of an earlier leader fail, and refuses to go on where a later one has been.
 *
 * Pure. A record of a newer version is refused, never misread; what a newer release has added to
 * one of this version is kept. */
#ifndef ENGINE_SLOTS_H
#define ENGINE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    SLOTS_VERSION = 1,
    /* Who waits is written of so many, the first by name, who are the next to get a slot. A
     * ConfigMap has 1 MiB: whoever waits takes 1.5 KiB of it at most, so that there is always room
     * for those who hold. The others ask again. */
    SLOTS_WAITING = 400,
};

/* Who asks for its own node: a client on it. */
#define SLOTS_BY_CLIENT "fleetlock"

enum slot_state {
    SLOT_TAKEN,    /* the node is being cordoned and drained */
    SLOT_DRAINED,  /* it is, and may be told to go when it asks */
    SLOT_GRANTED,  /* it may go */
    SLOT_STEADY,   /* it has reported that it is steady; nobody is told to go any more */
    SLOT_RETURNED, /* what was changed is being put back */
    SLOT_STATES,
};

/* What somebody waits for who could go on otherwise, as whoever leads has seen it: a gate that is
 * shut (engine/gate.h). Here, so that every replica can say it, and none grants against it. */
struct slot_wait {
    const char *code;             /* of engine/blocker.h; NULL: nothing */
    const char *object, *message; /* "" where there is nothing to say */
    int64_t since;
};

struct slot {
    const char *id; /* of the holding: another one each time */
    const char *node, *uid;
    const char *operation, *by; /* what for, and who asked */
    enum slot_state state;
    const char *boot;                      /* that it was drained in; "" before, if it is sure */
    int64_t since, asked, granted, steady; /* wall clock; 0: not yet */
    int64_t drained; /* the same, for people; 0 also where an earlier release has drained it */
    bool unsure;     /* it may have been granted before, in a record that was lost */
    struct slot_wait wait; /* it is not granted before this is over */
    const char *rest;      /* of a newer release: engine/record.h */
};

struct slot_wish {
    const char *node, *operation, *by;
    const char *boot;     /* in which it has asked; "" where that does not matter */
    int64_t since, asked; /* for the first and for the last time */
    struct slot_wait wait;
    const char *rest; /* as above */
};

/* In order of the nodes' names, each node at most once in either. Texts are the arena's. */
struct slots {
    int32_t fence;
    const char *rest; /* as above */
    VEC(struct slot) list;
    VEC(struct slot_wish) waiting;
};
#define SLOTS_INIT ((struct slots){0})
void slots_done(struct slots *s);

/* -EINVAL when it is no such record, -ENOTSUP when it is of a newer version; nothing is in `out`
 * then. "" is an empty one. */
int slots_parse(struct view json, struct arena *arena, struct slots *out, struct err *err);
void slots_write(const struct slots *s, struct str *json);

const char *slot_state_word(enum slot_state state); /* "granted" */

/* The ways between states; SLOT_STATES is where there is no slot. No holding goes another one. */
struct slot_way {
    enum slot_state from, to;
    const char *meaning; /* a sentence */
};
extern const struct slot_way slot_ways[];
extern const size_t n_slot_ways;
bool slot_can(enum slot_state from, enum slot_state to);
/* The graph for dot(1). */
void slots_dot(struct str *out);

/* NULL: it holds none, does not wait. Valid until the next change. */
const struct slot *slots_holder(const struct slots *s, const char *node);
const struct slot_wish *slots_waits(const struct slots *s, const char *node);

/* --- changing a copy of it, which is then written by compare-and-swap ---
 *
 * 0: it has changed and is to be written. 1: there is nothing to write. Negative: it may not be,
 * and is as it was. */

/* -ESTALE when a later leader has been here. */
int slots_adopt(struct slots *s, int32_t fence, struct err *err);

/* Of one who asks, again and again, in one boot: that it still does is written once in `refresh`,
 * also of one who holds a slot that nobody has granted yet, if it is not another one who asks for
 * that node. 1 of one to whom it is granted, and of
 * one for whom there is no place among SLOTS_WAITING. */
int slots_ask(struct slots *s, const struct slot_wish *wish, int64_t refresh, struct arena *arena);
/* Those who have not asked since `before` wait no longer. */
int slots_forget(struct slots *s, int64_t before);
/* Of the one who holds a slot for that node, else of the one who waits for one: a gate is shut for
 * it, or (`wait` NULL) is no longer. 1 also when there is nobody. */
int slots_gate(struct slots *s, const char *node, const struct slot_wait *wait,
               struct arena *arena);
/* This one waits no longer; 1 when it did not. */
int slots_withdraw(struct slots *s, const char *node);

/* -EBUSY when `limit` are held already, or the node holds one. Its wish ends. */
int slots_take(struct slots *s, const struct slot *slot, size_t limit, struct arena *arena,
               struct err *err);
/* All five: -ENOENT when the holding of that id is not there (any more), -EINVAL when it is not
 * in a state from which that is possible; -EBUSY when it is to be granted and a gate is shut. */
int slots_drained(struct slots *s, const char *id, const char *boot, int64_t now,
                  struct arena *arena, struct err *err);
/* A pod has come to it that must go. */
int slots_drain_again(struct slots *s, const char *id, struct err *err);
int slots_grant(struct slots *s, const char *id, int64_t now, struct err *err);
/* Nobody knows whether it was, in that boot, so that it is not given back by time. */
int slots_doubt(struct slots *s, const char *id, const char *boot, struct arena *arena,
                struct err *err);
int slots_return(struct slots *s, const char *id, struct err *err);
int slots_free(struct slots *s, const char *id, struct err *err);

/* A client has reported that its node is steady. What was not granted to it is let go at once, and
 * it waits no longer (what others wish for its node is theirs); 1 where it holds nothing, or has
 * reported already, and does not wait. */
int slots_report(struct slots *s, const char *node, int64_t now);

/* Whether this node, in this boot, may go. */
bool slots_may_go(const struct slots *s, const char *node, const char *uid, const char *boot);

#endif
