/* Gates: may this node go on to the next step of its life cycle (engine/maintenance.h)?
 *
 * A gate is one row of a table: a function that answers pass, wait or deny, with evidence. What it
 * says is the blocker of whoever waits. Pure: what it decides by is in the question.
 *
 *     struct gate_question q = {.at = CHECK_CORDON, .node = "w1", .checks = &found};
 *     if (gates_ask(&q, &arena, &answer) == MAINT_PASS) ... it gets a slot
 *
 * The steps are those of the checks: before the slot and its cordon, before the operation, and when
 * the node is back, before the next one goes. Windows, freezes and what else people want to have
 * asked become further rows. */
#ifndef ENGINE_GATE_H
#define ENGINE_GATE_H

#include "base/arena.h"
#include "engine/checks.h"
#include "engine/maintenance.h"

/* What a gate may look at. */
struct gate_question {
    enum check_when at;
    const char *node;
    bool operates;               /* something is done to the node once it is drained */
    const struct checks *checks; /* what they have found; NULL: nobody asks them */
    bool approval;               /* somebody has to approve of it */
    const char *approved;        /* who has; NULL: nobody */
    const char *subject;         /* what is to be approved: "maintenance/w1" */
    const char *unfit;           /* why nobody could carry it out; NULL: somebody could */
    const struct node *there;    /* the node; NULL: there is none, or nobody knows it */
};

enum { GATES_MAX = 16 }; /* rows of the table, at most */

/* What each of them has said, by its row. */
struct gate_each {
    unsigned asked; /* bits: the rows of that step */
    enum maint_gate verdicts[GATES_MAX];
};

struct gate_answer {
    enum maint_gate verdict;
    enum blocker_code code;       /* unless it passes */
    const char *object, *message; /* "" when it passes; the arena's */
    struct gate_each each;
};

struct gate {
    const char *name;    /* "checks"; stable */
    const char *meaning; /* a sentence */
    unsigned when;       /* bits of enum check_when */
    void (*ask)(const struct gate_question *q, struct arena *arena, struct gate_answer *out);
};
extern const struct gate gates_table[];
extern const size_t n_gates;

const char *gate_word(enum maint_gate verdict); /* "pass", "wait", "deny" */

/* All of that step: the first of those that deny, else of those that wait. */
enum maint_gate gates_ask(const struct gate_question *q, struct arena *arena,
                          struct gate_answer *out);

#endif
